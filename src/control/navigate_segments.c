// Robust segments (Gavrea 2008, 2.4: the algorithm at its end, here for contacts without friction). The rows of a step
// are all contacts of cages that are near and all bounds of speeds; which of them carry is a complementary basis
// C(alpha). It serves as long as C(alpha) x = q has x >= 0, one linear system a step. The vehicles are moved by that x.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "control/navigate.h"

enum { MOST_ROWS = 600, MOST_STEPS = 2000 };
static const double HOLDS = -1e-9;  // m/s: coordinates above this are none but round-off
static const double CURVED = 1.5;   // spreads count so much: they are measured at the ends of straight lines

typedef struct row {
  int a, b;  // b: -1 - side for a bound
  double normal[2], bias;
} row;

// What a step of the segment as it is said to go knows of a row: its coordinate, and how far others differ.
typedef struct entry {
  int a, b;
  double x, spread;
} entry;

typedef struct study {
  carom_navigate *s;
  const carom_navigate_segment *segment;
  carom_navigate_fate *fate;
  int n, steps, settle;
  row *rows;  // (MOST_ROWS) of the step at hand
  int count;
  double *M, *q, *x, *w;  // (MOST_ROWS square), (MOST_ROWS)
  unsigned char *basis;   // (MOST_ROWS)
  carom_lcp_work *work;
  row *carrying;  // (MOST_ROWS) the basis that shall hold
  int carrying_count;
  bool settled;
  entry *entries;  // of all steps after the settling
  int entry_count, entry_capacity;
  int *entry_start;    // (steps + 1)
  double (*begin)[3];  // (n)
} study;

// ---- rows -----------------------------------------------------------------------------------------------------------

static bool gather_rows(study *t) {
  carom_navigate *s = t->s;
  carom_nav_bound bounds[CAROM_NAV_SIDES];
  t->count = 0;
  if (s->pair_count + CAROM_NAV_SIDES * s->n > MOST_ROWS) return false;
  for (int i = 0; i < s->pair_count; i++) {
    const carom_nav_pair *p = &s->pairs[i];
    t->rows[t->count++] = (row){p->a, p->b, {p->normal[0], p->normal[1]}, carom_nav_bias(s, p)};
  }
  for (int i = 0; i < s->n; i++) {
    int sides = carom_nav_bounds(s, i, bounds);
    for (int k = 0; k < sides; k++)
      t->rows[t->count++] = (row){i, -1 - k, {bounds[k].normal[0], bounds[k].normal[1]}, bounds[k].most};
  }
  return true;
}

// What row i feels of a unit impulse on a vehicle's side of row k.
static double felt(const carom_navigate *s, const row *i, const row *k) {
  double along = i->normal[0] * k->normal[0] + i->normal[1] * k->normal[1], sum = 0;
  if (i->a == k->a) sum += 1 / s->vehicles[i->a].mass;
  if (i->b == k->a) sum -= 1 / s->vehicles[k->a].mass;
  if (k->b == i->a) sum -= 1 / s->vehicles[i->a].mass;
  if (i->b >= 0 && i->b < s->n && i->b == k->b) sum += 1 / s->vehicles[i->b].mass;
  return sum * along;
}

static carom_lcp_problem assemble(study *t) {
  const carom_navigate *s = t->s;
  for (int k = 0; k < t->count; k++)
    for (int i = 0; i < t->count; i++) t->M[k * t->count + i] = felt(s, &t->rows[i], &t->rows[k]);
  for (int i = 0; i < t->count; i++) {
    const row *r = &t->rows[i];
    t->q[i] = r->bias + r->normal[0] * s->wish[r->a][0] + r->normal[1] * s->wish[r->a][1];
    if (r->b >= 0 && r->b < s->n) t->q[i] -= r->normal[0] * s->wish[r->b][0] + r->normal[1] * s->wish[r->b][1];
  }
  return (carom_lcp_problem){.n = t->count, .M = t->M, .q = t->q};
}

static bool same_row(const row *p, const row *q) { return p->a == q->a && p->b == q->b; }

// The basis that shall hold, among the rows of this step; false when one of them is not near any more.
static bool mark_basis(study *t) {
  int found = 0;
  for (int i = 0; i < t->count; i++) {
    t->basis[i] = 0;
    for (int k = 0; k < t->carrying_count; k++) t->basis[i] |= same_row(&t->rows[i], &t->carrying[k]);
    found += t->basis[i];
  }
  return found == t->carrying_count;
}

static void keep_basis(study *t) {
  t->carrying_count = 0;
  t->fate->basis = 1469598103934665603u;  // FNV-1a over the user's numbers would depend on their order; these do not
  for (int i = 0; i < t->count; i++) {
    if (!t->basis[i]) continue;
    t->carrying[t->carrying_count++] = t->rows[i];
    t->fate->basis = (t->fate->basis ^ (uint64_t)(t->rows[i].a * 100003 + t->rows[i].b + 50)) * 1099511628211u;
  }
  t->fate->carrying = t->carrying_count;
  t->settled = true;
}

static bool is_kept(const study *t) {
  int carrying = 0;
  for (int i = 0; i < t->count; i++) {
    if (!t->basis[i]) continue;
    bool known = false;
    for (int k = 0; k < t->carrying_count; k++) known |= same_row(&t->rows[i], &t->carrying[k]);
    if (!known) return false;
    carrying++;
  }
  return carrying == t->carrying_count;
}

// ---- steps ----------------------------------------------------------------------------------------------------------

static void apply(study *t) {
  carom_navigate *s = t->s;
  memcpy(s->velocity, s->wish, (size_t)s->n * sizeof *s->velocity);
  for (int i = 0; i < t->count; i++) {
    const row *r = &t->rows[i];
    if (!t->basis[i]) continue;
    for (int k = 0; k < 2; k++) {
      s->velocity[r->a][k] += r->normal[k] * t->x[i] / s->vehicles[r->a].mass;
      if (r->b >= 0 && r->b < s->n) s->velocity[r->b][k] -= r->normal[k] * t->x[i] / s->vehicles[r->b].mass;
    }
  }
  carom_nav_move(s);
}

static carom_status look_around(study *t, carom_error *error) {
  carom_nav_wish(t->s);
  carom_status status = carom_nav_find_pairs(t->s, error);
  if (status != CAROM_OK) return status;
  carom_nav_limit_turns(t->s);
  if (gather_rows(t)) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_LIMIT, "navigation: more than %d contacts and bounds in a segment", MOST_ROWS);
}

// By a problem.
static carom_status solve_step(study *t, carom_error *error) {
  carom_lcp_problem p = assemble(t);
  carom_lcp_solution solution = {t->x, t->w, t->basis};
  carom_lcp_info info;
  carom_status status = carom_lcp_solve(t->work, &p, NULL, &solution, &info, error);
  t->fate->problems++;
  if (status != CAROM_OK) return status;
  if (info.outcome != CAROM_LCP_SOLVED)
    return carom_fail(error, CAROM_NOT_CONVERGED, "navigation: the contacts of a segment were not solved at %g s",
                      t->s->time);
  for (int i = 0; i < t->count; i++)
    if (!t->basis[i]) t->x[i] = t->w[i];
  return CAROM_OK;
}

// By a linear system in the basis that shall hold; false: it does not.
static bool keep_step(study *t, double *least) {
  carom_lcp_problem p = assemble(t);
  *least = -INFINITY;
  if (!mark_basis(t)) return false;
  t->fate->systems++;
  if (carom_lcp_cone_coordinates(t->work, &p, t->basis, t->x, least, NULL) != CAROM_OK)
    return *least = -INFINITY, false;
  return *least >= HOLDS;
}

// A coordinate as a speed: impulses over the masses that feel them.
static double as_speed(const study *t, int i) { return t->basis[i] ? t->x[i] * t->M[i * t->count + i] : t->x[i]; }

static bool note_step(study *t, int step) {
  t->entry_start[step] = t->entry_count;
  for (int i = 0; i < t->count; i++) {
    if (!carom_grow(&t->s->arena.allocator, (void **)&t->entries, t->entry_count, &t->entry_capacity,
                    sizeof *t->entries))
      return false;
    t->entries[t->entry_count++] = (entry){t->rows[i].a, t->rows[i].b, as_speed(t, i), 0};
  }
  t->entry_start[step + 1] = t->entry_count;
  return true;
}

static double refuse(study *t, int step, double least) {
  t->fate->robust = false, t->fate->switches = 1;
  t->fate->time = fmin(t->fate->time, step * t->s->def.step);
  return fmin(t->fate->margin, fmin(least, 0));
}

// As it is said to go.
static carom_status go_as_said(study *t, carom_error *error) {
  carom_status status = CAROM_OK;
  for (int k = 0; k < t->steps && status == CAROM_OK; k++) {
    double least = 0;
    bool kept = true;
    status = look_around(t, error);
    if (status != CAROM_OK) return status;
    t->entry_start[k + 1] = t->entry_start[k] = t->entry_count;
    if (k <= t->settle)
      status = solve_step(t, error);
    else
      kept = keep_step(t, &least);
    if (status != CAROM_OK) return status;
    if (k == t->settle) keep_basis(t);
    if (!kept) {
      t->fate->margin = refuse(t, k, least);
      return CAROM_OK;
    }
    if (k >= t->settle && !note_step(t, k)) return carom_nav_memory(error);
    apply(t);
  }
  return status;
}

// ---- other starts ---------------------------------------------------------------------------------------------------

// How far the coordinates of this start are from those of the step as it is said to go; the larger of two ways.
static void note_spread(study *t, int step, double *larger) {
  for (int e = t->entry_start[step]; e < t->entry_start[step + 1]; e++)
    for (int i = 0; i < t->count; i++) {
      if (t->rows[i].a != t->entries[e].a || t->rows[i].b != t->entries[e].b) continue;
      larger[e] = fmax(larger[e], fabs(as_speed(t, i) - t->entries[e].x));
      break;
    }
}

static carom_status go_from_elsewhere(study *t, double *larger, carom_error *error) {
  carom_status status = CAROM_OK;
  for (int k = 0; k < t->steps && t->fate->robust; k++) {
    double least = 0;
    bool kept = true;
    status = look_around(t, error);
    if (status != CAROM_OK) return status;
    if (k < t->settle)
      status = solve_step(t, error);
    else
      kept = keep_step(t, &least);
    if (status != CAROM_OK) return status;
    if (!kept) {
      t->fate->margin = refuse(t, k, least);
      return CAROM_OK;
    }
    if (k >= t->settle) note_spread(t, k, larger);
    apply(t);
  }
  return status;
}

static void put_back(study *t, int moved, int axis, double by) {
  carom_navigate *s = t->s;
  memcpy(s->place, t->begin, (size_t)s->n * sizeof *s->place);
  s->place[moved][axis] += by;
  s->pair_count = s->before_count = 0;
}

static carom_status try_others(study *t, double half, carom_error *error) {
  double *larger = CAROM_NEW(&t->s->arena.allocator, double, t->entry_count);
  carom_status status = larger ? CAROM_OK : carom_nav_memory(error);
  for (int j = 0; j < 2 * t->n && status == CAROM_OK && t->fate->robust; j++) {
    memset(larger, 0, (size_t)t->entry_count * sizeof *larger);
    for (int sign = -1; sign <= 1 && status == CAROM_OK && t->fate->robust; sign += 2) {
      put_back(t, j / 2, j % 2, sign * half);
      status = go_from_elsewhere(t, larger, error);
    }
    for (int e = 0; e < t->entry_count; e++) t->entries[e].spread += larger[e];
  }
  carom_release(&t->s->arena.allocator, larger);
  return status;
}

static void weigh(study *t) {
  for (int k = t->settle; k < t->steps; k++)
    for (int e = t->entry_start[k]; e < t->entry_start[k + 1]; e++) {
      double left = t->entries[e].x - CURVED * t->entries[e].spread;
      t->fate->margin = fmin(t->fate->margin, left);
      if (left <= 0) refuse(t, k, left);
    }
}

// ---- beginning and end ----------------------------------------------------------------------------------------------

static carom_status check_kind(const carom_navigate *s, const carom_navigate_segment *segment, carom_error *error) {
  if (s->n > CAROM_NAVIGATE_SMALL)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED, "segments: at most %d vehicles, got %d", CAROM_NAVIGATE_SMALL,
                      s->n);
  for (int i = 0; i < s->n; i++) {
    const carom_navigate_vehicle *v = &s->vehicles[i];
    if (v->steering != CAROM_STEER_SLIDE || v->rail >= 0 || isfinite(v->gain))
      return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                        "segments: %s must slide, off rails and without a gain: steering, rail and gain as by default",
                        s->items[i].name);
    if (!isfinite(segment->velocities[s->items[i].number][0]) || !isfinite(segment->velocities[s->items[i].number][1]))
      return carom_fail(error, CAROM_ERR_NUMBER, "segments: the velocity of %s is not finite", s->items[i].name);
  }
  for (int i = s->n; i < s->n + s->m; i++)
    if (!s->items[i].rests)
      return carom_fail(error, CAROM_ERR_UNSUPPORTED, "segments: %s moves; obstacles must stay", s->items[i].name);
  if (!(segment->duration > 0 && segment->duration <= MOST_STEPS * s->def.step))
    return carom_fail(error, CAROM_ERR_NUMBER, "segments: the duration must be positive and at most %g s, got %g",
                      MOST_STEPS * s->def.step, segment->duration);
  if (!(segment->settle >= 0 && segment->settle < 1))
    return carom_fail(error, CAROM_ERR_NUMBER, "segments: the settling must lie in [0, 1), got %g", segment->settle);
  return CAROM_OK;
}

static carom_status open_study(study *t, carom_error *error) {
  carom_navigate *s = t->s;
  const carom_allocator *heap = &s->arena.allocator;
  t->n = s->n;
  t->steps = (int)fmax(1, round(t->segment->duration / s->def.step));
  t->settle = (int)(t->segment->settle * t->steps);
  *t->fate = (carom_navigate_fate){.robust = true, .margin = INFINITY, .time = INFINITY, .steps = t->steps};
  if (!CAROM_NEW_ALL(heap, CAROM_ROOM(t->rows, MOST_ROWS), CAROM_ROOM(t->M, MOST_ROWS * MOST_ROWS),
                     CAROM_ROOM(t->q, MOST_ROWS), CAROM_ROOM(t->x, MOST_ROWS), CAROM_ROOM(t->w, MOST_ROWS),
                     CAROM_ROOM(t->basis, MOST_ROWS), CAROM_ROOM(t->carrying, MOST_ROWS),
                     CAROM_ROOM(t->entry_start, t->steps + 1), CAROM_ROOM(t->begin, s->n)))
    return carom_nav_memory(error);
  memcpy(t->begin, s->place, (size_t)s->n * sizeof *s->place);
  s->command = &t->segment->velocities[0][0];
  return carom_lcp_work_create(MOST_ROWS, heap, &t->work, error);
}

static void close_study(study *t) {
  t->s->command = NULL;
  carom_lcp_work_destroy(t->work);
  CAROM_RELEASE_ALL(&t->s->arena.allocator, t->rows, t->M, t->q, t->x, t->w, t->basis, t->carrying, t->entries,
                    t->entry_start, t->begin);
}

// Where the vehicles are in the end, as users count them.
static carom_status finish(study *t, double time, const double (*end)[3], carom_error *error) {
  carom_navigate *s = t->s;
  memmove(s->place, end, (size_t)s->n * sizeof *s->place);
  double(*places)[3] = carom_allocate(&s->arena.allocator, (size_t)s->n, sizeof *places);
  if (!places) return carom_nav_memory(error);
  for (int i = 0; i < s->n; i++) memcpy(places[s->items[i].number], s->place[i], sizeof s->place[i]);
  carom_status status = carom_navigate_put(s, time, &places[0][0], error);
  carom_release(&s->arena.allocator, places);
  return status;
}

static carom_status check(study *t, double half, carom_error *error) {
  carom_navigate *s = t->s;
  double(*end)[3] = carom_allocate(&s->arena.allocator, (size_t)s->n, sizeof *end);
  if (!end) return carom_nav_memory(error);
  carom_status status = go_as_said(t, error);
  double time = s->time;
  memcpy(end, s->place, (size_t)s->n * sizeof *end);
  if (status == CAROM_OK && t->fate->robust && half > 0) status = try_others(t, half, error);
  if (status == CAROM_OK && t->fate->robust) weigh(t);
  if (status == CAROM_OK) status = finish(t, time, (const double(*)[3])end, error);
  carom_release(&s->arena.allocator, end);
  return status;
}

carom_status carom_navigate_check_segment(carom_navigate *s, const carom_navigate_segment *segment, double half,
                                          carom_navigate_fate *fate, carom_error *error) {
  study t = {.s = s, .segment = segment, .fate = fate};
  if (!(half >= 0 && half <= 1e6))
    return carom_fail(error, CAROM_ERR_NUMBER, "segments: the box of starts must not be negative, got %g", half);
  carom_status status = check_kind(s, segment, error);
  if (status != CAROM_OK) return status;
  status = open_study(&t, error);
  if (status == CAROM_OK) status = check(&t, half, error);
  close_study(&t);
  return status;
}

static carom_status run(study *t, carom_error *error) {
  for (int k = 0; k < t->steps; k++) {
    carom_status status = look_around(t, error);
    if (status == CAROM_OK) status = solve_step(t, error);
    if (status != CAROM_OK) return status;
    if (k == t->settle) keep_basis(t);
    if (k > t->settle && !is_kept(t)) {
      t->fate->switches++;
      t->fate->time = fmin(t->fate->time, k * t->s->def.step);
    }
    apply(t);
  }
  t->fate->robust = t->fate->switches == 0;
  t->fate->margin = 0;
  return finish(t, t->s->time, (const double(*)[3])t->s->place, error);
}

carom_status carom_navigate_run_segment(carom_navigate *s, const carom_navigate_segment *segment,
                                        carom_navigate_fate *fate, carom_error *error) {
  study t = {.s = s, .segment = segment, .fate = fate};
  carom_status status = check_kind(s, segment, error);
  if (status != CAROM_OK) return status;
  status = open_study(&t, error);
  if (status == CAROM_OK) status = run(&t, error);
  close_study(&t);
  return status;
}
