// Contacts of balls made ready for sweeps: who meets whom, colours, and packs of eight.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "contact/solve/balls.h"

enum { LANES = CAROM_BALLS_LANES, COLORS = CAROM_BALLS_COLORS };

// ---- room ---------------------------------------------------------------------------------------------------------

static bool room_for_contacts(carom_balls *s) {
  int n = s->problem->contact_count;
  return carom_reserve(&s->arena.allocator, (void **)&s->links, &s->link_capacity, n, sizeof *s->links) &&
         carom_reserve(&s->arena.allocator, (void **)&s->as_b, &s->as_b_capacity, n, sizeof *s->as_b);
}

// Arenas are aligned for vector loads.
static void lay_out_bodies(void *owner, carom_arena *arena) {
  carom_balls *s = owner;
  s->before = CAROM_PUSH(arena, carom_balls_body, 2 * s->ball_count + 1 + s->touched_count);
  s->bodies = s->before ? s->before + s->ball_count : NULL;
}

static void lay_out_packs(void *owner, carom_arena *arena) {
  carom_balls *s = owner;
  s->packs = CAROM_PUSH(arena, carom_balls_pack, s->pack_count);
}

// ---- who meets whom -----------------------------------------------------------------------------------------------

enum { UNNUMBERED = -1 };

static void find_ends(carom_balls *s) {
  CAROM_PARALLEL_FOR(
      s->threads, schedule(static), for (int i = 0; i < s->problem->contact_count; i++) {
        const carom_contact_point *c = &s->problem->contacts[i];
        s->links[i].a = c->a;
        s->links[i].b = c->b == CAROM_CONTACT_WORLD ? s->ball_count : c->b < s->ball_count ? c->b : UNNUMBERED;
      });
}

// Where a body that does not move is touched, it is a body of its own that keeps its velocity.
static void number_touched(carom_balls *s) {
  s->touched_count = 0;
  if (s->problem->body_count == s->ball_count) return;
  for (int i = 0; i < s->problem->contact_count; i++)
    if (s->links[i].b == UNNUMBERED) s->links[i].b = s->ball_count + 1 + s->touched_count++;
}

// One thread does this: it reads sixteen bytes for each contact.
carom_status carom_balls_link_up(carom_balls *s, int *farthest, carom_error *error) {
  int ball = 0, apart = 0, count = s->problem->contact_count;
  if (!room_for_contacts(s))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a program of %d contacts", count);
  find_ends(s);
  number_touched(s);
  carom_status status = carom_arena_lay_out(&s->body_arena, lay_out_bodies, s, error);
  if (status != CAROM_OK) return status;
  memset(s->others, 0, ((size_t)s->ball_count + 2) * sizeof *s->others);
  for (int i = 0; i < count; i++) {
    const carom_balls_link *link = &s->links[i];
    while (ball <= link->a) s->own[ball++] = i;
    if (link->b >= s->ball_count) continue;
    s->others[link->b + 2]++;
    apart = link->b - link->a > apart ? link->b - link->a : apart;
  }
  while (ball <= s->ball_count) s->own[ball++] = count;
  for (int i = 0; i < s->ball_count; i++) s->others[i + 2] += s->others[i + 1];
  for (int i = 0; i < count; i++)  // others[b + 1] moves from the beginning of b to that of b + 1
    if (s->links[i].b < s->ball_count) s->as_b[s->others[s->links[i].b + 1]++] = i;
  *farthest = apart;
  return CAROM_OK;
}

// ---- colours ------------------------------------------------------------------------------------------------------

static int first_ball(const carom_balls *s, int block) {
  int64_t ball = (int64_t)block * s->block_size;
  return ball < s->ball_count ? (int)ball : s->ball_count;
}

// Greedy, in the order of the contacts. Blocks two apart share no ball, so that two sets of marks are enough.
static void color_block(carom_balls *s, int block, int count[COLORS + 1]) {
  uint64_t *used = s->used[block % 2];
  int first = first_ball(s, block), next = first_ball(s, block + 1), last = first_ball(s, block + 2);
  memset(used + first, 0, (size_t)(last - first) * sizeof *used);
  for (int i = s->own[first]; i < s->own[next]; i++) {
    carom_balls_link *link = &s->links[i];
    uint64_t *a = &used[link->a], *b = link->b < s->ball_count ? &used[link->b] : a;
    uint64_t taken = *a | *b;
    link->color = taken == UINT64_MAX ? COLORS : __builtin_ctzll(~taken);
    if (link->color < COLORS) *a |= (uint64_t)1 << link->color, *b |= (uint64_t)1 << link->color;
    link->lane = count[link->color]++;
  }
}

// Packs of each colour, counted from the first of the block.
static void color_contacts(carom_balls *s) {
  CAROM_PARALLEL_FOR(
      s->threads, schedule(static), for (int k = 0; k < s->block_count; k++) {
        int count[COLORS + 1] = {0}, *first = s->blocks[k].first_pack;
        color_block(s, k, count);
        first[0] = 0;
        for (int c = 0; c < COLORS; c++) first[c + 1] = first[c] + (count[c] + LANES - 1) / LANES;
        first[COLORS + 1] = first[COLORS] + count[COLORS];  // one to a pack
      });
  s->pack_count = 0;
  for (int k = 0; k < s->block_count; k++) {
    int *first = s->blocks[k].first_pack, own = first[COLORS + 1];
    for (int c = 0; c <= COLORS + 1; c++) first[c] += s->pack_count;
    s->pack_count += own;
  }
}

// ---- packs --------------------------------------------------------------------------------------------------------

static void fill_padding(carom_balls_pack *pack, int lane, int world) {
  for (int k = 0; k < 3; k++) pack->n[k][lane] = pack->g[k][lane] = pack->before[k][lane] = 0;
  pack->n[2][lane] = pack->bias[lane] = 1;
  pack->mu[lane] = pack->arm_a[lane] = pack->arm_b[lane] = 0;
  pack->a[lane] = pack->b[lane] = world;
}

// The last packs of each colour, and all of the last colour: contacts are put over it.
static void fill_paddings(carom_balls *s, const carom_balls_block *block) {
  for (int c = 0; c <= COLORS; c++) {
    int first = block->first_pack[c], last = block->first_pack[c + 1];
    for (int i = c < COLORS && first < last ? last - 1 : first; i < last; i++)
      for (int k = 0; k < LANES; k++) fill_padding(&s->packs[i], k, s->ball_count);
  }
}

static float arm_over_gyration(carom_vec3 arm, const carom_balls_twist *ball) {
  return (float)sqrt(cm_norm2(arm) * ball->inverse_inertia / ball->inverse_mass);
}

static void fill_lane(carom_balls *s, int i) {
  const carom_contact_point *c = &s->problem->contacts[i];
  const carom_balls_link *link = &s->links[i];
  carom_balls_pack *pack = &s->packs[link->lane / LANES];
  int lane = link->lane % LANES;
  carom_vec3 n = c->normal, g = s->impulses[i];
  pack->n[0][lane] = (float)n.x, pack->n[1][lane] = (float)n.y, pack->n[2][lane] = (float)n.z;
  pack->g[0][lane] = (float)g.x, pack->g[1][lane] = (float)g.y, pack->g[2][lane] = (float)g.z;
  for (int k = 0; k < 3; k++) pack->before[k][lane] = pack->g[k][lane];
  pack->bias[lane] = (float)c->bias, pack->mu[lane] = (float)c->friction;
  pack->arm_a[lane] = arm_over_gyration(c->arm_a, &s->twists[link->a]);
  pack->arm_b[lane] = link->b < s->ball_count ? arm_over_gyration(c->arm_b, &s->twists[link->b]) : 0;
  pack->a[lane] = link->a, pack->b[lane] = link->b;
  if (link->b <= s->ball_count) return;
  const carom_contact_body *other = &s->problem->bodies[c->b];
  carom_vec3 u = cm_add(other->velocity, cm_cross(other->spin, c->arm_b));
  s->bodies[link->b] = (carom_balls_body){.v = {(float)u.x, (float)u.y, (float)u.z}};
}

static void fill_block(carom_balls *s, int block) {
  const int *first_pack = s->blocks[block].first_pack;
  fill_paddings(s, &s->blocks[block]);
  for (int i = s->own[first_ball(s, block)]; i < s->own[first_ball(s, block + 1)]; i++) {
    carom_balls_link *link = &s->links[i];
    link->lane = LANES * first_pack[link->color] + (link->color < COLORS ? link->lane : LANES * link->lane);
    fill_lane(s, i);
  }
}

carom_status carom_balls_pack_up(carom_balls *s, carom_error *error) {
  color_contacts(s);
  carom_status status = carom_arena_lay_out(&s->pack_arena, lay_out_packs, s, error);
  if (status != CAROM_OK) return status;
  CAROM_PARALLEL_FOR(s->threads, schedule(static), for (int k = 0; k < s->block_count; k++) fill_block(s, k));
  return CAROM_OK;
}
