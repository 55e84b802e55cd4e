// Contacts of balls made ready for sweeps: who meets whom, colours, and packs of eight.
#include <string.h>

#include "base/memory.h"
#include "step/cone/cone.h"

enum { LANES = CAROM_SWEEP_LANES, COLORS = CAROM_SWEEP_COLORS };

// ---- room ---------------------------------------------------------------------------------------------------------

// Aligned for vector loads; what was there is lost.
static void *aligned_room(carom_arena *arena, const carom_allocator *allocator, void *array, int *capacity, int count,
                          size_t size) {
  if (count <= *capacity) return array;
  int wanted = count + count / 4 + 64;
  carom_arena larger;
  if (carom_arena_create(&larger, carom_arena_cost((size_t)wanted * size), allocator, NULL) != CAROM_OK) return NULL;
  carom_arena_destroy(arena);
  *arena = larger;
  *capacity = wanted;
  return carom_arena_push(arena, (size_t)wanted * size);
}

static bool room_for_contacts(carom_cone *cone) {
  carom_sweep *s = &cone->sweep;
  const carom_allocator *m = &cone->allocator;
  int n = cone->active_count;
  return carom_cone_room(m, (void **)&s->ends, &s->end_capacity, n, sizeof *s->ends) &&
         carom_cone_room(m, (void **)&s->links, &s->link_capacity, n, sizeof *s->links) &&
         carom_cone_room(m, (void **)&s->lane, &s->lane_capacity, n, sizeof *s->lane) &&
         carom_cone_room(m, (void **)&s->color, &s->color_capacity, n, sizeof *s->color);
}

static bool room_for_bodies(carom_cone *cone) {
  carom_sweep *s = &cone->sweep;
  carom_sweep_body *bodies = aligned_room(&s->body_memory, &cone->allocator, s->before, &s->body_capacity,
                                          2 * s->movers + 1 + s->driven, sizeof *s->bodies);
  if (!bodies) return false;
  s->before = bodies;
  s->bodies = bodies + s->movers;
  return true;
}

static bool room_for_packs(carom_cone *cone) {
  carom_sweep *s = &cone->sweep;
  void *packs =
      aligned_room(&s->pack_memory, &cone->allocator, s->packs, &s->pack_capacity, s->pack_count, sizeof *s->packs);
  if (packs) s->packs = packs;
  return packs || s->pack_count == 0;
}

// ---- who meets whom -----------------------------------------------------------------------------------------------

enum { DRIVEN = -1 };

static void find_ends(carom_cone *cone) {
  carom_sweep *s = &cone->sweep;
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < cone->active_count; i++) {
    const carom_near *near = &cone->near[cone->active[i]];
    int b = near->b == CAROM_WORLD ? -1 : cone->rank[near->b];
    s->ends[i] = (carom_sweep_ends){cone->rank[near->a], b < 0 ? s->movers : b < s->movers ? b : DRIVEN};
  }
}

// Where a driven surface is touched, it is a body of its own that keeps its velocity.
static void number_driven(carom_cone *cone) {
  carom_sweep *s = &cone->sweep;
  s->driven = 0;
  if (cone->model->drive_count == 0) return;
  for (int i = 0; i < cone->active_count; i++)
    if (s->ends[i].b == DRIVEN) s->ends[i].b = s->movers + 1 + s->driven++;
}

// Contacts come in the order of their first balls. One thread does this: it reads eight bytes for each.
carom_status carom_sweep_link(carom_cone *cone, int *farthest, carom_error *error) {
  carom_sweep *s = &cone->sweep;
  if (!room_for_contacts(cone)) return carom_sweep_no_room(cone, error);
  find_ends(cone);
  number_driven(cone);
  if (!room_for_bodies(cone)) return carom_sweep_no_room(cone, error);
  int ball = 0, apart = 0;
  memset(s->others, 0, ((size_t)s->movers + 2) * sizeof *s->others);
  for (int i = 0; i < cone->active_count; i++) {
    carom_sweep_ends e = s->ends[i];
    while (ball <= e.a) s->own[ball++] = i;
    if (e.b >= s->movers) continue;
    s->others[e.b + 2]++;
    apart = e.b - e.a > apart ? e.b - e.a : apart;
  }
  while (ball <= s->movers) s->own[ball++] = cone->active_count;
  for (int i = 0; i < s->movers; i++) s->others[i + 2] += s->others[i + 1];
  for (int i = 0; i < cone->active_count; i++)  // others[b + 1] moves from the beginning of b to that of b + 1
    if (s->ends[i].b < s->movers) s->links[s->others[s->ends[i].b + 1]++] = i;
  *farthest = apart;
  return CAROM_OK;
}

// ---- colours ------------------------------------------------------------------------------------------------------

static int first_ball(const carom_sweep *s, int block) {
  int64_t ball = (int64_t)block * s->block_size;
  return ball < s->movers ? (int)ball : s->movers;
}

// Greedy, in the order of the contacts. Blocks two apart share no ball, so that two sets of marks are enough.
static void color_block(carom_sweep *s, int block, int count[COLORS + 1]) {
  uint64_t *used = s->used[block % 2];
  int first = first_ball(s, block), next = first_ball(s, block + 1), last = first_ball(s, block + 2);
  memset(used + first, 0, (size_t)(last - first) * sizeof *used);
  for (int i = s->own[first]; i < s->own[next]; i++) {
    carom_sweep_ends e = s->ends[i];
    uint64_t *a = &used[e.a], *b = e.b < s->movers ? &used[e.b] : a;
    uint64_t taken = *a | *b;
    int color = taken == UINT64_MAX ? COLORS : __builtin_ctzll(~taken);
    if (color < COLORS) *a |= (uint64_t)1 << color, *b |= (uint64_t)1 << color;
    s->color[i] = (unsigned char)color;
    s->lane[i] = count[color]++;
  }
}

// Packs of each colour, counted from the first of the block.
static void color_contacts(carom_cone *cone) {
  carom_sweep *s = &cone->sweep;
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int k = 0; k < s->block_count; k++) {
    int count[COLORS + 1] = {0}, *first = s->blocks[k].first_pack;
    color_block(s, k, count);
    first[0] = 0;
    for (int c = 0; c < COLORS; c++) first[c + 1] = first[c] + (count[c] + LANES - 1) / LANES;
    first[COLORS + 1] = first[COLORS] + count[COLORS];  // one to a pack
  }
  s->pack_count = 0;
  for (int k = 0; k < s->block_count; k++) {
    int *first = s->blocks[k].first_pack, own = first[COLORS + 1];
    for (int c = 0; c <= COLORS + 1; c++) first[c] += s->pack_count;
    s->pack_count += own;
  }
}

// ---- packs --------------------------------------------------------------------------------------------------------

static void fill_padding(carom_sweep_pack *pack, int lane, int world) {
  for (int k = 0; k < 3; k++) pack->n[k][lane] = pack->g[k][lane] = pack->before[k][lane] = 0;
  pack->n[2][lane] = pack->bias[lane] = 1;
  pack->mu[lane] = pack->arm_a[lane] = pack->arm_b[lane] = 0;
  pack->a[lane] = pack->b[lane] = world;
}

// The last packs of each colour, and all of the last colour: contacts are put over it.
static void fill_paddings(carom_sweep *s, const carom_sweep_block *block) {
  for (int c = 0; c <= COLORS; c++) {
    int first = block->first_pack[c], last = block->first_pack[c + 1];
    for (int i = c < COLORS && first < last ? last - 1 : first; i < last; i++)
      for (int k = 0; k < LANES; k++) fill_padding(&s->packs[i], k, s->movers);
  }
}

static double arm_over_radius(carom_vec3 arm, const carom_grain *ball) { return cm_norm(arm) / ball->radius; }

static void fill_lane(carom_cone *cone, int i, double h) {
  carom_sweep *s = &cone->sweep;
  carom_sweep_pack *pack = &s->packs[s->lane[i] / LANES];
  int lane = s->lane[i] % LANES, candidate = cone->active[i];
  const carom_near *near = &cone->near[candidate];
  carom_vec3 n = near->normal, g = cone->impulses[candidate];
  carom_sweep_ends e = s->ends[i];
  pack->n[0][lane] = (float)n.x, pack->n[1][lane] = (float)n.y, pack->n[2][lane] = (float)n.z;
  pack->g[0][lane] = (float)g.x, pack->g[1][lane] = (float)g.y, pack->g[2][lane] = (float)g.z;
  for (int k = 0; k < 3; k++) pack->before[k][lane] = pack->g[k][lane];
  pack->bias[lane] = (float)carom_cone_bias(cone, candidate, h), pack->mu[lane] = (float)near->friction;
  pack->arm_a[lane] = (float)arm_over_radius(near->arm_a, &cone->grid.grains[e.a]);
  pack->arm_b[lane] = e.b < s->movers ? (float)arm_over_radius(near->arm_b, &cone->grid.grains[e.b]) : 0;
  pack->a[lane] = e.a, pack->b[lane] = e.b;
  if (e.b <= s->movers) return;
  carom_vec3 u = cm_add(cone->v_free[near->b], cm_cross(cone->w_free[near->b], near->arm_b));
  s->bodies[e.b] = (carom_sweep_body){.v = {(float)u.x, (float)u.y, (float)u.z}};
}

static void fill_block(carom_cone *cone, int block, double h) {
  carom_sweep *s = &cone->sweep;
  const int *first_pack = s->blocks[block].first_pack;
  fill_paddings(s, &s->blocks[block]);
  for (int i = s->own[first_ball(s, block)]; i < s->own[first_ball(s, block + 1)]; i++) {
    int c = s->color[i];
    s->lane[i] = LANES * first_pack[c] + (c < COLORS ? s->lane[i] : LANES * s->lane[i]);
    fill_lane(cone, i, h);
  }
}

carom_status carom_sweep_pack_up(carom_cone *cone, double h, carom_error *error) {
  color_contacts(cone);
  if (!room_for_packs(cone)) return carom_sweep_no_room(cone, error);
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int k = 0; k < cone->sweep.block_count; k++) fill_block(cone, k, h);
  return CAROM_OK;
}
