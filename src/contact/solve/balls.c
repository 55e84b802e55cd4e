#include "contact/solve/balls.h"

#include <math.h>

#include "base/memory.h"
#include "base/threads.h"

enum { LEAST_BLOCK = 512 };       // balls: smaller blocks leave too many packs half empty
static const double SETBACK = 2;  // growth of the energy of sweeps that drops the momentum

// ---- memory -------------------------------------------------------------------------------------------------------

static void lay_out(void *owner, carom_arena *arena) {
  carom_balls *s = owner;
  s->twists = CAROM_PUSH(arena, carom_balls_twist, s->ball_count);
  s->own = CAROM_PUSH(arena, int, s->ball_count + 1);
  s->others = CAROM_PUSH(arena, int, s->ball_count + 2);
  for (int i = 0; i < 2; i++) s->used[i] = CAROM_PUSH(arena, uint64_t, s->ball_count);
  s->blocks = CAROM_PUSH(arena, carom_balls_block, s->ball_count / LEAST_BLOCK + 1);
}

carom_status carom_balls_create(carom_balls *s, int ball_count, const carom_allocator *allocator, carom_error *error) {
  const carom_arena empty = {.allocator = *allocator};
  *s = (carom_balls){.ball_count = ball_count, .enough = -1, .arena = empty, .pack_arena = empty, .body_arena = empty};
  return carom_arena_lay_out(&s->arena, lay_out, s, error);
}

void carom_balls_destroy(carom_balls *s) {
  carom_arena_destroy(&s->pack_arena);
  carom_arena_destroy(&s->body_arena);
  if (s->arena.memory) CAROM_RELEASE_ALL(&s->arena.allocator, s->as_b, s->links);
  carom_arena_destroy(&s->arena);
  *s = (carom_balls){0};
}

// ---- sweeps -------------------------------------------------------------------------------------------------------
// Called by all threads of a team at once, or by one that has no team: libgomp would ask the heap for one.

typedef struct swept {
  carom_balls *s;
  carom_team team;
  bool begun;
} swept;

// Bodies follow the extrapolation of the contacts.
static void extrapolate(carom_balls *s, carom_team team, float beta) {
  int first = carom_team_share(team, s->ball_count), end = carom_team_share_end(team, s->ball_count);
  carom_balls_extrapolate(s->bodies, s->before, first, end, beta);
  carom_team_wait(team);
}

static carom_sweep_tally sweep_once(void *context, double beta) {
  swept *w = context;
  carom_balls *s = w->s;
  if (w->begun) extrapolate(s, w->team, (float)beta);
  w->begun = true;
  for (int parity = 0; parity < 2; parity++) {
    int count = (s->block_count + 1 - parity) / 2;
    for (int k = carom_team_share(w->team, count); k < carom_team_share_end(w->team, count); k++) {
      carom_balls_block *b = &s->blocks[2 * k + parity];
      b->change =
          carom_balls_visit(s->packs, b->first_pack[0], b->first_pack[CAROM_BALLS_COLORS + 1], (float)beta, s->bodies);
    }
    carom_team_wait(w->team);
  }
  carom_balls_change total = {0};
  for (int k = 0; k < s->block_count; k++) {
    carom_sweep_add(&total.tally, &s->blocks[k].change.tally);
    total.deepest = s->blocks[k].change.deepest > total.deepest ? s->blocks[k].change.deepest : total.deepest;
  }
  if (total.deepest <= s->enough) total.tally.most = 0;  // nothing that matters is left to do
  return total.tally;
}

static int run_sweeps(carom_balls *s, carom_team team, const carom_contact_options *o) {
  swept w = {s, team, false};
  double enough = 0.5 * o->tolerance * o->velocity_scale;  // a sweep changes less than it leaves
  bool solved;
  return carom_sweeps_run(&(carom_sweeps){&w, sweep_once, NULL, enough, SETBACK, o->max_iterations}, &solved);
}

static int sweep_all(carom_balls *s, const carom_contact_options *o) {
  if (s->threads == 1 || s->block_count < 2) return run_sweeps(s, (carom_team){1, 0}, o);
  int sweeps = 0;
#pragma omp parallel num_threads(s->threads)
  {
    carom_team team = carom_team_here();
    int count = run_sweeps(s, team, o);
    if (team.me == 0) sweeps = count;
  }
  return sweeps;
}

// ---- the solve ----------------------------------------------------------------------------------------------------

// With the spin times the radius of gyration, a ball's inverse mass and what turns it are of one size.
static carom_balls_body swept_body(const carom_balls_twist *t) {
  double r = t->inverse_inertia > 0 ? sqrt(t->inverse_mass / t->inverse_inertia) : 0;
  return (carom_balls_body){{(float)t->v.x, (float)t->v.y, (float)t->v.z, (float)t->inverse_mass, (float)(r * t->w.x),
                             (float)(r * t->w.y), (float)(r * t->w.z), (float)(r * r * t->inverse_inertia)}};
}

static void fill_bodies(carom_balls *s) {
  CAROM_PARALLEL_FOR(s->threads, schedule(static),
                     for (int i = 0; i < s->ball_count; i++) s->bodies[i] = s->before[i] = swept_body(&s->twists[i]));
  s->bodies[s->ball_count] = (carom_balls_body){0};
}

// Blocks of at least as many balls as lie between any two that meet.
static void cut_blocks(carom_balls *s, int farthest) {
  s->block_size = farthest > LEAST_BLOCK ? farthest : LEAST_BLOCK;
  s->block_count = (s->ball_count + s->block_size - 1) / s->block_size;
}

static void give_velocities(const carom_balls *s, carom_contact_solution *solution) {
  if (!solution->velocities || !solution->spins) return;
  CAROM_PARALLEL_FOR(
      s->threads, schedule(static), for (int i = 0; i < s->problem->body_count; i++) {
        bool ball = i < s->ball_count;
        solution->velocities[i] = ball ? s->twists[i].v : s->problem->bodies[i].velocity;
        solution->spins[i] = ball ? s->twists[i].w : s->problem->bodies[i].spin;
      });
}

carom_status carom_balls_solve(carom_balls *s, const carom_contact_problem *problem,
                               const carom_contact_options *options, carom_contact_solution *solution,
                               carom_contact_info *info, carom_error *error) {
  int farthest;
  s->problem = problem, s->impulses = solution->impulses, s->threads = options->threads;
  carom_status status = carom_balls_link_up(s, &farthest, error);
  if (status != CAROM_OK) return status;
  cut_blocks(s, farthest);
  carom_balls_set_velocities(s);
  fill_bodies(s);
  if ((status = carom_balls_pack_up(s, error)) != CAROM_OK) return status;
  *info = (carom_contact_info){.velocity_scale = options->velocity_scale};
  info->iterations = sweep_all(s, options);
  carom_balls_take_impulses(s);
  carom_balls_set_velocities(s);
  give_velocities(s, solution);
  info->residual = carom_balls_residual(s);
  info->outcome = info->iterations < options->max_iterations ? CAROM_CONTACT_SOLVED : CAROM_CONTACT_LIMIT;
  return CAROM_OK;
}
