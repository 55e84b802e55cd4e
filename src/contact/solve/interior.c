// Primal-dual interior point with predictor and corrector (Mehrotra 1992) on the bodies' matrix: what OOQP with CHOLMOD
// did for the published pebble beds (Gavrea 2.3), here for circular cones as well.
#include "contact/solve/interior.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "solve/front_factor.h"

typedef carom_interior state;

enum { POLISHING = 1000 };  // most gradient steps after the last Newton step

static void push(state *m, const carom_contact_system *s, carom_arena *arena) {
  size_t bodies = (size_t)s->problem.body_count, rows = (size_t)s->problem.row_count;
  size_t units = (size_t)s->problem.contact_count + rows, entries = carom_interior_entries(&s->problem);
  m->units = CAROM_PUSH(arena, carom_cone_unit, units);
  double **const vectors[] = {&m->x,  &m->slack,    &m->r,        &m->lambda, &m->dx,
                              &m->ds, &m->affine_x, &m->affine_s, &m->c,      &m->residual_s};
  carom_contact_push_vectors(arena, s, vectors, sizeof vectors / sizeof *vectors);
  m->z = CAROM_PUSH(arena, double, 6 * bodies);
  m->dz = CAROM_PUSH(arena, double, 6 * bodies);
  m->factor = CAROM_PUSH(arena, double, 9 * bodies);
  m->block = CAROM_PUSH(arena, int, bodies);
  m->column = CAROM_PUSH(arena, int, 6 * bodies + 1);
  m->row = CAROM_PUSH(arena, int, entries);
  m->value = CAROM_PUSH(arena, double, entries);
  m->neighbor_start = CAROM_PUSH(arena, int, bodies + 1);
  m->neighbor = CAROM_PUSH(arena, int, units + 1);
}

static int unit_count(const state *m) { return m->s->problem.contact_count + m->s->problem.row_count; }

// ---- start ------------------------------------------------------------------------------------

// Friction below this is none: the second-order cone would be a needle.
static const double LEAST_FRICTION = 1e-8;

static void define_unit(state *m, int i) {
  carom_contact_system *s = m->s;
  carom_cone_unit *u = &m->units[i];
  bool contact = i < s->problem.contact_count, circular = s->options.cone == CAROM_CONTACT_CIRCULAR;
  *u = (carom_cone_unit){.kind = CAROM_CONTACT_SKIPPED, .at = (int)carom_contact_offset(s, i)};
  const carom_contact_row *row = contact ? NULL : &s->problem.rows[i - s->problem.contact_count];
  if (!(s->rho[i] > 0) || (row && row->lower == row->upper)) return;
  bool second = contact && circular && s->problem.contacts[i].friction > LEAST_FRICTION;
  u->kind = !contact ? CAROM_CONTACT_BOX : second ? CAROM_CONTACT_SECOND : CAROM_CONTACT_ORTHANT;
  u->count = !contact ? 1 : second ? 3 : circular ? 1 : s->width;
  const double *r = s->r + u->at;
  if (contact && circular)
    carom_cone_unit_components(m, i, cm_vec3(r[0], r[1], r[2]), m->r);
  else
    memcpy(m->r + u->at, r, (size_t)u->count * sizeof *r);
}

// What stops a body of mean mass at the scale of velocities: heavy bodies count most, as what carries them must.
static double start_impulse(const carom_contact_system *s) {
  double mass = 0;
  int count = 0;
  for (int i = 0; i < s->problem.body_count; i++)
    if (s->problem.bodies[i].inverse_mass > 0) mass += 1 / s->problem.bodies[i].inverse_mass, count++;
  return s->scale * (count ? mass / count : 1);
}

// Well inside, and with the same product of impulse and slack everywhere, which is where the central path runs.
static void start_unit(state *m, int i, double impulse) {
  carom_contact_system *s = m->s;
  carom_cone_unit *u = &m->units[i];
  double speed = s->scale;
  for (int k = u->at; k < u->at + u->count; k++) {
    bool inner = u->kind == CAROM_CONTACT_ORTHANT || k == u->at;
    m->x[k] = inner ? impulse : 0, m->slack[k] = inner ? speed : 0;
  }
  if (u->kind != CAROM_CONTACT_BOX) return;
  const carom_contact_row *row = &s->problem.rows[i - s->problem.contact_count];
  bool low = isfinite(row->lower), high = isfinite(row->upper);
  m->x[u->at] = low && high ? (row->lower + row->upper) / 2 : 0;
  if (low && !high) m->x[u->at] = row->lower + impulse;
  if (high && !low) m->x[u->at] = row->upper - impulse;
  u->side[0] = low ? speed : 0, u->side[1] = high ? speed : 0;
  m->slack[u->at] = u->side[0] - u->side[1];
}

static void start(state *m) {
  carom_interior_factor_bodies(m);
  carom_interior_pattern(m);
  memset(m->z, 0, 6 * (size_t)m->blocks * sizeof(double));
  double impulse = start_impulse(m->s);
  for (int i = 0; i < unit_count(m); i++) {
    define_unit(m, i);
    start_unit(m, i, impulse);
  }
}

// ---- one iteration ----------------------------------------------------------------------------

static double mean_product(const state *m) {
  double sum = 0;
  int degree = 0;
  for (int i = 0; i < unit_count(m); i++) {
    degree += carom_cone_unit_degree(m, i);
    sum += carom_cone_unit_product(m, i);
  }
  return degree > 0 ? sum / degree : 0;
}

static void slack_residuals(state *m) {
  for (int i = 0; i < unit_count(m); i++) {
    const carom_cone_unit *u = &m->units[i];
    if (u->kind == CAROM_CONTACT_SKIPPED) continue;
    carom_cone_unit_components(m, i, carom_interior_read(m, i, m->z), m->residual_s);
    for (int k = u->at; k < u->at + u->count; k++) m->residual_s[k] += m->r[k] - m->slack[k];
  }
}

// dx for given ds, in place of ds itself: so that one function serves the right-hand side and the step.
static void finish_with(state *m, int i, const double *ds) {
  const carom_cone_unit *u = &m->units[i];
  memcpy(m->ds + u->at, ds + u->at, (size_t)u->count * sizeof *ds);
  carom_cone_unit_finish(m, i);
}

// (I + H B theta B' H') dz = -(z - H B x) + H B (c - theta residual_s), then ds and dx.
static void solve_step(state *m, carom_factor *solver, double target, bool corrector) {
  size_t dofs = 6 * (size_t)m->blocks;
  for (size_t k = 0; k < dofs; k++) m->dz[k] = -m->z[k];
  for (int i = 0; i < unit_count(m); i++) {
    const carom_cone_unit *u = &m->units[i];
    if (u->kind == CAROM_CONTACT_SKIPPED) continue;
    carom_cone_unit_target(m, i, target, corrector);
    finish_with(m, i, m->residual_s);  // dx = c - theta residual_s
    for (int k = u->at; k < u->at + u->count; k++) m->dx[k] += m->x[k];
    carom_interior_push(m, i, carom_cone_unit_impulse(m, i, m->dx), m->dz);
  }
  carom_factor_solve(solver, m->dz);
  for (int i = 0; i < unit_count(m); i++) {
    const carom_cone_unit *u = &m->units[i];
    if (u->kind == CAROM_CONTACT_SKIPPED) continue;
    carom_cone_unit_components(m, i, carom_interior_read(m, i, m->dz), m->ds);
    for (int k = u->at; k < u->at + u->count; k++) m->ds[k] += m->residual_s[k];
    carom_cone_unit_target(m, i, target, corrector);
    carom_cone_unit_finish(m, i);
  }
}

static double longest_step(const state *m) {
  double alpha = INFINITY;
  for (int i = 0; i < unit_count(m); i++) alpha = fmin(alpha, carom_cone_unit_step(m, i));
  return alpha;
}

static void move(state *m, double alpha) {
  for (int i = 0; i < unit_count(m); i++) carom_cone_unit_move(m, i, alpha);
  for (int k = 0; k < 6 * m->blocks; k++) m->z[k] += alpha * m->dz[k];
}

// What the mean of x's would be after the predictor: (1 - alpha) of it, up to second order, to the third power.
static double centering(double alpha) {
  double left = 1 - fmin(1, alpha);
  return left * left * left;
}

// Returns the length of the step, 0 when there is none in double precision.
static double iterate(state *m, carom_factor *solver) {
  for (int i = 0; i < unit_count(m); i++) carom_cone_unit_scale(m, i);
  carom_interior_assemble(m);
  carom_sparse A = carom_interior_matrix(m);
  if (carom_factor_compute(solver, &A)) return 0;
  slack_residuals(m);
  solve_step(m, solver, 0, false);
  double alpha = longest_step(m), mean = mean_product(m);
  memcpy(m->affine_x, m->dx, (size_t)m->s->n * sizeof(double));
  memcpy(m->affine_s, m->ds, (size_t)m->s->n * sizeof(double));
  solve_step(m, solver, centering(alpha) * mean, true);
  alpha = fmin(1, 0.99 * longest_step(m));
  if (!(alpha > 1e-12)) return 0;
  move(m, alpha);
  return alpha;
}

// ---- answer -----------------------------------------------------------------------------------

static void answer(state *m) {
  carom_contact_system *s = m->s;
  memset(s->x, 0, (size_t)s->n * sizeof(double));
  for (int i = 0; i < unit_count(m); i++) {
    const carom_cone_unit *u = &m->units[i];
    if (u->kind == CAROM_CONTACT_SKIPPED) continue;
    if (i < s->problem.contact_count && s->options.cone == CAROM_CONTACT_CIRCULAR) {
      carom_vec3 f = carom_cone_unit_impulse(m, i, m->x);
      s->x[u->at] = f.x, s->x[u->at + 1] = f.y, s->x[u->at + 2] = f.z;
    } else {
      memcpy(s->x + u->at, m->x + u->at, (size_t)u->count * sizeof(double));
    }
  }
}

static void run(state *m, carom_factor *solver, carom_contact_info *info) {
  carom_contact_system *s = m->s;
  info->outcome = CAROM_CONTACT_LIMIT;
  while (info->iterations < s->options.max_iterations) {
    double alpha = iterate(m, solver);
    info->iterations++;
    answer(m);
    carom_contact_refresh(s, info);
    info->products++;
    if (carom_contact_good_enough(s, info) || alpha == 0) {
      info->outcome = alpha == 0 ? CAROM_CONTACT_STALLED : CAROM_CONTACT_SOLVED;
      return;
    }
  }
}

// Near the end the matrix holds numbers sixteen orders apart and impulses are right to half the digits only. Where that
// is not enough, gradient steps from there end on the right faces of the cones within a few dozen products.
static carom_status polish(carom_contact_system *s, carom_arena *arena, carom_contact_info *info, carom_error *error) {
  int newton = info->iterations, asked = s->options.max_iterations;
  info->iterations = 0;
  s->options.max_iterations = POLISHING;
  s->fresh = false;
  carom_status status = carom_contact_apgd(s, arena, info, error);
  s->options.max_iterations = asked;
  info->iterations = newton;
  if (info->outcome == CAROM_CONTACT_LIMIT) info->outcome = CAROM_CONTACT_STALLED;
  return status;
}

carom_status carom_contact_interior(carom_contact_system *s, carom_arena *arena, carom_contact_info *info,
                                    carom_error *error) {
  if (carom_interior_entries(&s->problem) > INT_MAX)
    return carom_fail(error, CAROM_ERR_LIMIT, "%d contacts are too many for the interior point; use pgs or apgd",
                      s->problem.contact_count);
  state m = {.s = s};
  double begin = carom_clock();
  push(&m, s, arena);
  if (!arena->memory) return carom_contact_apgd(s, arena, NULL, NULL);  // polishes
  start(&m);
  carom_factor *solver;
  const carom_block_pattern pattern = {CAROM_FRONT_BLOCK, m.blocks, m.neighbor_start, m.neighbor};
  if (carom_factor_create(&pattern, &arena->allocator, &solver) != CAROM_OK)
    return carom_fail(error, CAROM_ERR_MEMORY,
                      "out of memory for the interior point with %d bodies; use the solver pgs or apgd", m.blocks);
  info->setup_seconds += carom_clock() - begin;
  run(&m, solver, info);
  carom_factor_destroy(solver);
  return info->outcome == CAROM_CONTACT_STALLED ? polish(s, arena, info, error) : CAROM_OK;
}
