// Newton's method for the midpoint rule and for equilibria. The matrix is the exact stiffness where that is positive
// definite, else one whose tetrahedra were made so. The line search goes by slopes, not energies: those of pressure on
// open surfaces and of contacts need not exist, and differences of energies lose half the digits near the end.
#include <float.h>
#include <string.h>

#include "solid/stepper.h"

enum { LANES = CAROM_SOLID_LANES, MOST_CUTS = 40 };

// Forces of contacts jump a little where other features meet: after so many iterations a residual is taken that is so
// many times the tolerance.
enum { PATIENCE = 12 };
static const double NEAR = 1e7;

static const double OVERSHOOT = 0.9;  // of the first slope, that the last may have with the other sign

static carom_solid_failure fine(void) { return (carom_solid_failure){.kind = CAROM_SOLID_FINE}; }

static carom_solid_failure stalled(const carom_solid_newton *n) {
  return (carom_solid_failure){
      .kind = CAROM_SOLID_STALLED, .tet = n->least_tet, .J = n->least_J, .residual = n->residual};
}

// ---- forces at a place ----------------------------------------------------------------------------------------------

static void note_least(carom_solid_newton *n, const carom_solid_sum *sum) {
  n->least_J = sum->least_J, n->least_tet = sum->least_tet;
}

static void find_rates(const carom_solid_newton *n, const carom_vec3 *x) {
  for (int i = 0; i < n->s->elastic->node_count; i++)
    n->s->rate[i] = n->before ? cm_scale(2 / n->h, cm_sub(x[i], n->before[i])) : cm_zero3();
}

// Whether the end of the step, 2 x - before, is free of inversions.
static bool end_is_sound(carom_solid_newton *n, const carom_vec3 *x, carom_solid_failure *failure) {
  carom_elastic_stepper *s = n->s;
  if (!n->before || !carom_solid_has_pole(s->elastic->law)) return true;
  for (int i = 0; i < s->elastic->node_count; i++) s->end[i] = cm_axpy(cm_scale(2, x[i]), -1, n->before[i]);
  carom_solid_sum sum = carom_solid_jacobians(s->elastic, s->end);
  if (carom_solid_sound(s->elastic, &sum)) return true;
  *failure = (carom_solid_failure){.kind = CAROM_SOLID_INVERTED, .tet = sum.least_tet, .J = sum.least_J};
  return false;
}

// s->f: what is not balanced at x, f - inertia M (x - target), zero at pins. Inversions are failures, at x and at the
// end.
static carom_solid_failure unbalanced(carom_solid_newton *n, const carom_vec3 *x) {
  carom_elastic_stepper *s = n->s;
  carom_elastic *e = s->elastic;
  carom_solid_failure failure = fine();
  if (!end_is_sound(n, x, &failure)) return failure;
  find_rates(n, x);
  carom_solid_sum sum = carom_solid_evaluate(e, x, n->before ? s->rate : NULL, false);
  if (!carom_solid_sound(e, &sum))
    return (carom_solid_failure){.kind = CAROM_SOLID_INVERTED, .tet = sum.least_tet, .J = sum.least_J};
  note_least(n, &sum);
  s->now2 = sum.stiffest;
  carom_solid_gather(e, s->f);
  failure.stopped = carom_solid_add_loads(e, &n->at, x, s->rate, s->f, s->extra, s->K);
  for (int i = 0; i < e->node_count; i++) {
    if (n->inertia > 0) s->f[i] = cm_axpy(s->f[i], -n->inertia * e->mass[i], cm_sub(x[i], s->target[i]));
    if (s->pinned[i]) s->f[i] = cm_zero3();
  }
  return failure;
}

// ---- how good a place is --------------------------------------------------------------------------------------------

static double largest(int count, const carom_vec3 *f) {
  double most = 0;
  for (int i = 0; i < count; i++) most = fmax(most, fmax(fabs(f[i].x), fmax(fabs(f[i].y), fabs(f[i].z))));
  return most;
}

static double largest_corner(const carom_elastic *e) {
  double most = 0;
  for (size_t i = 0; i < (size_t)e->block_count * CAROM_SOLID_CORNERS; i++) most = fmax(most, fabs(e->corners[i]));
  return most;
}

// The forces at play: of corners, inertia, gravity, the caller's.
static double forces_at_play(const carom_solid_newton *n) {
  const carom_elastic_stepper *s = n->s;
  const carom_elastic *e = s->elastic;
  const carom_elastic_loads *loads = n->at.loads;
  double most = largest_corner(e), g = n->at.share * cm_norm(loads->gravity);
  for (int i = 0; i < e->node_count; i++) {
    double inertia = n->inertia > 0 ? n->inertia * cm_norm(cm_sub(s->target[i], n->before[i])) : 0;
    most = fmax(most, e->mass[i] * fmax(g, inertia));
  }
  if (loads->force) most = fmax(most, n->at.share * largest(e->node_count, loads->force));
  return loads->extra ? fmax(most, largest(e->node_count, s->extra)) : most;
}

// What positions leave open that are rounded to eps |x|: that times the largest entry of the matrix.
static double rounding(const carom_solid_newton *n) {
  const carom_elastic_stepper *s = n->s;
  int count = s->elastic->node_count;
  double stiffest = s->elastic->stiffest * fmax(1, s->now2 / s->stiff2), most = 0;
  for (int i = 0; i < count; i++) {
    double own = n->inertia * s->elastic->mass[i];
    if (n->at.loads->extra) own += fmax(s->K[i].m[0][0], fmax(s->K[i].m[1][1], s->K[i].m[2][2]));
    most = fmax(most, own);
  }
  return 4 * DBL_EPSILON * (stiffest + most) * largest(count, s->middle);
}

static bool good_enough(carom_solid_newton *n, double tolerance) {
  double left = largest(n->s->elastic->node_count, n->s->f), at_play = forces_at_play(n);
  n->residual = at_play > 0 ? left / at_play : 0;
  return left <= fmax(tolerance * at_play, rounding(n));
}

// ---- one iteration --------------------------------------------------------------------------------------------------

static void fill_matrix(carom_solid_newton *n, carom_elastic_stiffness which) {
  carom_elastic_stepper *s = n->s;
  carom_elastic_matrix *m = s->matrix;
  carom_solid_request request = {.x = s->middle, .which = which, .before = n->before, .h = n->h};
  carom_solid_matrix_fill(m, &request);
  carom_solid_stiffen(m, &n->at, s->middle);
  for (int i = 0; i < s->elastic->node_count; i++) {
    carom_mat3 *block = &m->blocks[m->diagonal[i]];
    double inertia = n->inertia * s->elastic->mass[i];
    *block = cm_madd(cm_madd(*block, s->K[i]), cm_diag3(inertia, inertia, inertia));
  }
}

// y = A u: the matrix, with what `extra` says of its own part in the place of K.
static void times(const carom_solid_newton *n, const carom_vec3 *u, carom_vec3 *y) {
  const carom_elastic_stepper *s = n->s;
  const carom_elastic_loads *loads = n->at.loads;
  carom_elastic_matrix_times(s->matrix, u, y);
  if (!loads->extra_times) return;
  for (int i = 0; i < s->elastic->node_count; i++) y[i] = cm_sub(y[i], cm_mulv(s->K[i], u[i]));
  loads->extra_times(loads->context, u, y);
}

static void clear_pins(const carom_elastic_stepper *s, carom_vec3 *y) {
  for (int i = 0; i < s->elastic->node_count; i++)
    if (s->pinned[i]) y[i] = cm_zero3();
}

enum { MOST_GRADIENTS = 200 };
static const double SETTLED = 1e-4;  // of the first residual: Newton's method takes the rest in its next iteration

// Conjugate gradients (Hestenes and Stiefel 1952) from s->direction on, with the factors as preconditioner: those of a
// matrix that is no less than A, and not much more.
static void settle_contacts(carom_solid_newton *n) {
  carom_elastic_stepper *s = n->s;
  int count = s->elastic->node_count;
  carom_vec3 *r = s->residual, *p = s->search, *q = s->image, *z = s->preconditioned, *d = s->direction;
  double before = 0, first = carom_solid_dot(count, s->f, s->f);
  times(n, d, q);
  for (int i = 0; i < count; i++) r[i] = cm_sub(s->f[i], q[i]);
  clear_pins(s, r);
  for (int k = 0; k < MOST_GRADIENTS && carom_solid_dot(count, r, r) > SETTLED * SETTLED * first; k++) {
    memcpy(z, r, (size_t)count * sizeof *z);
    carom_solid_factor_solve(s->factor, z);
    clear_pins(s, z);
    double now = carom_solid_dot(count, r, z);
    for (int i = 0; i < count; i++) p[i] = k == 0 ? z[i] : cm_axpy(z[i], now / before, p[i]);
    times(n, p, q);
    clear_pins(s, q);
    double curvature = carom_solid_dot(count, p, q);
    if (!(curvature > 0)) return;
    for (int i = 0; i < count; i++) {
      d[i] = cm_axpy(d[i], now / curvature, p[i]);
      r[i] = cm_axpy(r[i], -now / curvature, q[i]);
    }
    before = now;
  }
}

// s->direction: A d = f with d given at pins, where they are to go.
static bool solve_with(carom_solid_newton *n, carom_elastic_stiffness which) {
  carom_elastic_stepper *s = n->s;
  int count = s->elastic->node_count;
  fill_matrix(n, which);
  if (carom_solid_factor_compute(s->factor, s->pinned)) return false;
  for (int i = 0; i < count; i++) s->trial[i] = s->pinned[i] ? cm_sub(s->target[i], s->middle[i]) : cm_zero3();
  times(n, s->trial, s->direction);
  for (int i = 0; i < count; i++) s->direction[i] = s->pinned[i] ? s->trial[i] : cm_sub(s->f[i], s->direction[i]);
  carom_solid_factor_solve(s->factor, s->direction);
  if (n->at.loads->extra_times) settle_contacts(n);
  return true;
}

static bool find_direction(carom_solid_newton *n) {
  return solve_with(n, CAROM_ELASTIC_EXACT) || solve_with(n, CAROM_ELASTIC_POSITIVE);
}

static bool pins_are_there(const carom_solid_newton *n) {
  const carom_elastic_stepper *s = n->s;
  for (int i = 0; i < s->elastic->node_count; i++)
    if (s->pinned[i] && cm_norm2(cm_sub(s->target[i], s->middle[i])) > 0) return false;
  return true;
}

// Where pins land they land exactly.
static void move(carom_solid_newton *n, double share) {
  carom_elastic_stepper *s = n->s;
  for (int i = 0; i < s->elastic->node_count; i++)
    s->trial[i] = s->pinned[i] ? s->target[i] : cm_axpy(s->middle[i], share, s->direction[i]);
}

static void accept(carom_elastic_stepper *s) {
  carom_vec3 *middle = s->middle;
  s->middle = s->trial;
  s->trial = middle;
}

// While pins are on their way the whole way must be taken: a failure then asks for a shorter step.
static carom_solid_failure search_line(carom_solid_newton *n, bool whole) {
  carom_elastic_stepper *s = n->s;
  int count = s->elastic->node_count;
  double first = carom_solid_dot(count, s->f, s->direction), share = 1;
  carom_solid_failure failure = fine();
  for (int cut = 0; cut < MOST_CUTS; cut++) {
    move(n, share);
    failure = unbalanced(n, s->trial);
    if (failure.stopped || (failure.kind && whole)) return failure;
    double last = failure.kind ? 0 : carom_solid_dot(count, s->f, s->direction);
    if (!failure.kind && (whole || last >= -OVERSHOOT * fabs(first))) {
      accept(s);
      return failure;
    }
    share *= failure.kind ? 0.5 : fmax(0.1, first / (first - last));
  }
  return failure.kind ? failure : stalled(n);
}

carom_solid_failure carom_solid_newton_solve(carom_solid_newton *n) {
  carom_elastic_stepper *s = n->s;
  carom_solid_failure failure = unbalanced(n, s->middle);
  if (failure.kind || failure.stopped) return failure;
  bool whole = !pins_are_there(n);
  while (whole || !good_enough(n, s->options.tolerance)) {
    if (n->iterations >= PATIENCE && n->at.loads->extra && good_enough(n, NEAR * s->options.tolerance)) return fine();
    if (n->iterations++ >= s->options.max_iterations) return stalled(n);
    if (!find_direction(n)) return (carom_solid_failure){.kind = CAROM_SOLID_LOOSE};
    failure = search_line(n, whole);
    if (failure.stopped) return failure;
    if (failure.kind) {  // round-off may be all that is left
      bool was = unbalanced(n, s->middle).kind == CAROM_SOLID_FINE && good_enough(n, 1e3 * s->options.tolerance);
      return was && !whole ? fine() : failure;
    }
    whole = false;
  }
  return failure;
}
