// Impulses by Newton's method on the contact laws themselves, three rows a contact instead of a pair for each
// friction direction. The laws as projections (Alart and Curnier 1991), with friction within a polygon K of corners
// d_a:
//
//     c_n = max(0, c_n - rho u_n),      t = project(t - rho u_t) onto mu c_n K.
//
// Where the arguments lie tells the phase of every block; with phases held, the laws are linear equations. Redundant
// contacts make those singular: any of many impulses will do. We take the one nearest to the impulses at hand, by
// proximal steps  (C + eps I) dx = -r:  what rests keeps the impulses that it has.
#include <math.h>
#include <string.h>

#include "solve/lcp_inverse.h"
#include "solve/lcp_kernels.h"
#include "step/moreau/solver.h"

// eps over the largest diagonal entry of W: close to a solution, far from it, and at the end. Far from a solution a
// small eps is of no use, since phases that contradict each other then have huge impulses: the problem is solved with a
// large one first, and again with smaller ones.
static const double NOISE = 1e-12;  // velocities over the largest that are as good as none: they open and close nothing
static const double LAST_EPS = 1e-6, FIRST_EPS = 1e-2, FALL = 1e-1, FINISH_EPS = 1e-3, NEAR_EPS = 1e-4;
enum { PROXIMAL_STEPS = 30, NEAR_STEPS = 5, FAR_STEPS = 10, FAR_STEPS_MAX = 80, QUICK = 3 };

// ---- phases ---------------------------------------------------------------------------------------------------------

// Where t (outside) is projected to on the polygon of that radius: a corner or an edge.
static carom_moreau_phase nearest_side(const carom_moreau_solver *m, int i, const double t[2], double radius,
                                       double side[2][2]) {
  int d = carom_moreau_directions(m, i);
  if (carom_moreau_tangents(m, i) == 1) {
    side[0][0] = t[0] < 0 ? -1 : 1, side[0][1] = 0;
    return CAROM_MOREAU_CORNER;
  }
  double step = 2 * acos(-1) / d, angle = atan2(t[1], t[0]) - m->heading[i];
  int a = (int)floor(angle / step);
  carom_moreau_direction(m, i, (a % d + d) % d, side[0]);
  carom_moreau_direction(m, i, ((a + 1) % d + d) % d, side[1]);
  double edge[2] = {side[1][0] - side[0][0], side[1][1] - side[0][1]};
  double along = (t[0] - radius * side[0][0]) * edge[0] + (t[1] - radius * side[0][1]) * edge[1];
  double whole = radius * (edge[0] * edge[0] + edge[1] * edge[1]);
  if (along > 0 && along < whole) return CAROM_MOREAU_EDGE;
  if (along >= whole) memcpy(side[0], side[1], sizeof side[0]);
  return CAROM_MOREAU_CORNER;
}

// The sum of beta that a friction impulse takes, over all supports of the polygon.
static double gauge(const carom_moreau_solver *m, int i, const double t[2]) {
  if (carom_moreau_tangents(m, i) == 1) return fabs(t[0]);
  double step = 2 * acos(-1) / carom_moreau_directions(m, i), angle = atan2(t[1], t[0]) - m->heading[i];
  double into = angle - step * floor(angle / step);
  return hypot(t[0], t[1]) * cos(into - step / 2) / cos(step / 2);
}

// u + eps (P - P0)
static void proximal_velocity(const carom_moreau_solver *m, int i, double u[3]) {
  int first = m->start[i];
  for (int l = first; l < m->start[i + 1]; l++) u[l - first] = m->u[l] + m->newton.eps * (m->P[l] - m->newton.P0[l]);
}

static carom_moreau_phase phase_of(carom_moreau_solver *m, int i) {
  const double *P = m->P + m->start[i];
  double u[3];
  proximal_velocity(m, i, u);
  const double *W = m->W + (size_t)m->start[i] * ((size_t)m->rows + 1);
  double own = W[0], n = P[0] - u[0] / own;
  if (!(own > 0) || !(n > m->newton.noise / own)) return CAROM_MOREAU_OPEN;
  if (carom_moreau_tangents(m, i) == 0) return CAROM_MOREAU_STICK;
  double across = carom_moreau_tangents(m, i) == 1 ? W[m->rows + 1] : 0.5 * (W[m->rows + 1] + W[2 * m->rows + 2]);
  double t[2] = {P[1] - u[1] / across, 0};
  if (carom_moreau_tangents(m, i) == 2) t[1] = P[2] - u[2] / across;
  if (gauge(m, i, t) <= m->mu[i] * n + m->newton.noise / across) return CAROM_MOREAU_STICK;
  return nearest_side(m, i, t, m->mu[i] * n, m->newton.side[i]);
}

// Tells whether any is another than before.
static bool choose_phases(carom_moreau_solver *m) {
  bool changed = false;
  for (int i = 0; i < m->count; i++) {
    carom_moreau_newton *s = &m->newton;
    double before[2][2];
    memcpy(before, s->side[i], sizeof before);
    carom_moreau_phase phase = phase_of(m, i);
    bool slides = phase >= CAROM_MOREAU_CORNER;
    bool turned = before[0][0] != s->side[i][0][0] || before[0][1] != s->side[i][0][1];
    changed = changed || phase != s->phase[i] || (slides && turned);
    s->phase[i] = phase;
  }
  return changed;
}

// ---- the linear system of the phases --------------------------------------------------------------------------------

static void add_unknown(carom_moreau_solver *m, int *k, int block, const double generator[3], const double test[3]) {
  carom_moreau_newton *s = &m->newton;
  s->unknown_block[*k] = block;
  memcpy(s->generator[*k], generator, sizeof s->generator[*k]);
  memcpy(s->test[*k], test, sizeof s->test[*k]);
  ++*k;
}

// The unknowns of a block, and its impulse put where its phase allows.
static void add_unknowns(carom_moreau_solver *m, int i, int *k) {
  static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  double(*side)[2] = m->newton.side[i];
  double *P = m->P + m->start[i], edge[3] = {0, side[1][0] - side[0][0], side[1][1] - side[0][1]};
  double slide[3] = {1, m->mu[i] * side[0][0], m->mu[i] * side[0][1]};
  switch (m->newton.phase[i]) {
    case CAROM_MOREAU_OPEN:
      memset(P, 0, (size_t)(1 + carom_moreau_tangents(m, i)) * sizeof *P);
      return;
    case CAROM_MOREAU_STICK:
      for (int l = 0; l <= carom_moreau_tangents(m, i); l++) add_unknown(m, k, i, unit[l], unit[l]);
      return;
    case CAROM_MOREAU_CORNER:
      for (int l = 1; l <= carom_moreau_tangents(m, i); l++) P[l] = slide[l] * P[0];
      add_unknown(m, k, i, slide, unit[0]);
      return;
    case CAROM_MOREAU_EDGE: {
      double along = (P[1] - slide[1] * P[0]) * edge[1] + (P[2] - slide[2] * P[0]) * edge[2];
      along /= edge[1] * edge[1] + edge[2] * edge[2];
      for (int l = 1; l <= 2; l++) P[l] = slide[l] * P[0] + along * edge[l];
      add_unknown(m, k, i, slide, unit[0]);
      add_unknown(m, k, i, edge, edge);
      return;
    }
  }
}

static int collect_unknowns(carom_moreau_solver *m) {
  int k = 0;
  for (int i = 0; i < m->count; i++) add_unknowns(m, i, &k);
  return k;
}

static double dot_rows(const carom_moreau_solver *m, int unknown, const double *rows) {
  int i = m->newton.unknown_block[unknown];
  const double *test = m->newton.test[unknown], *x = rows + m->start[i];
  double sum = test[0] * x[0];
  for (int l = 1; l <= carom_moreau_tangents(m, i); l++) sum += test[l] * x[l];
  return sum;
}

// The test of one unknown times the generator of another, if they are of the same block.
static double same_block(const carom_moreau_solver *m, int i, int j) {
  const carom_moreau_newton *s = &m->newton;
  if (s->unknown_block[i] != s->unknown_block[j]) return 0;
  const double *test = s->test[i], *g = s->generator[j];
  return test[0] * g[0] + test[1] * g[1] + test[2] * g[2];
}

// K = T'(W + eps I) G, inverted.
static carom_status factor(carom_moreau_solver *m, int k) {
  carom_moreau_newton *s = &m->newton;
  for (int j = 0; j < k; j++) {
    int block = s->unknown_block[j];
    memset(s->column, 0, (size_t)m->rows * sizeof *s->column);
    carom_lcp_combine(m->rows, 1 + carom_moreau_tangents(m, block), m->W + (size_t)m->start[block] * (size_t)m->rows,
                      m->rows, NULL, s->generator[j], s->column);
    double *column = s->K + (size_t)j * (size_t)k;
    for (int i = 0; i < k; i++) column[i] = dot_rows(m, i, s->column) + s->eps * same_block(m, i, j);
  }
  return carom_lcp_inverse(k, s->K, k, s->panel, s->swaps);
}

// Minus the velocities that are to vanish, in r; returns the largest.
static double linear_residual(carom_moreau_solver *m, int k) {
  carom_moreau_newton *s = &m->newton;
  carom_moreau_evaluate(m);
  for (int j = 0; j < k; j++) {
    double u[3] = {0};
    proximal_velocity(m, s->unknown_block[j], u);
    s->r[j] = -(s->test[j][0] * u[0] + s->test[j][1] * u[1] + s->test[j][2] * u[2]);
  }
  return carom_lcp_largest(k, s->r);
}

static void move_impulses(carom_moreau_solver *m, int k) {
  carom_moreau_newton *s = &m->newton;
  memset(s->x, 0, (size_t)k * sizeof *s->x);
  carom_lcp_combine(k, k, s->K, k, NULL, s->r, s->x);
  for (int j = 0; j < k; j++) {
    int i = s->unknown_block[j];
    for (int l = 0; l <= carom_moreau_tangents(m, i); l++) m->P[m->start[i] + l] += s->generator[j][l] * s->x[j];
  }
}

static bool solve_phases(carom_moreau_solver *m) {
  m->newton.k = collect_unknowns(m);
  linear_residual(m, m->newton.k);
  if (factor(m, m->newton.k) != CAROM_OK) return false;
  move_impulses(m, m->newton.k);
  return isfinite(linear_residual(m, m->newton.k));
}

// ---- Newton's method ------------------------------------------------------------------------------------------------

static void hold(carom_moreau_solver *m) { memcpy(m->newton.P0, m->P, (size_t)m->rows * sizeof *m->P); }

// Proximal steps with the phases and the inverse at hand, as long as they help: velocities that are to vanish do.
static double finish(carom_moreau_solver *m) {
  double missed = INFINITY;
  for (int round = 0; round < PROXIMAL_STEPS; round++) {
    double before = missed;
    hold(m);
    missed = linear_residual(m, m->newton.k);
    if (!(missed < 0.5 * before) || missed == 0) break;
    move_impulses(m, m->newton.k);
  }
  carom_moreau_evaluate(m);
  return carom_moreau_residual(m, NULL);
}

static double diagonal(const carom_moreau_solver *m) {
  double largest = 0;
  for (int r = 0; r < m->rows; r++) largest = fmax(largest, m->W[(size_t)r * (size_t)(m->rows + 1)]);
  return largest;
}

// What has been reached.
typedef struct search {
  double good, wanted, accepted;  // residuals to leave alone, to stop at, and not to go far for
  double least;                   // the best so far, of newton.best
  int steps;
} search;

static void keep(carom_moreau_solver *m, double residual, search *s) {
  if (!(residual < s->least)) return;
  s->least = residual;
  memcpy(m->newton.best, m->P, (size_t)m->rows * sizeof *m->P);
}

static void go_back(carom_moreau_solver *m, const double *P) {
  memcpy(m->P, P, (size_t)m->rows * sizeof *m->P);
  carom_moreau_evaluate(m);
}

// The problem with the present eps and P0. True when the phases came to rest.
static bool iterate(carom_moreau_solver *m, int max_steps, search *s) {
  for (int step = 0; step < max_steps && s->least > s->good; step++) {
    bool changed = choose_phases(m);
    if (step > 0 && !changed) return true;
    if (!solve_phases(m)) return false;
    s->steps++;
    keep(m, carom_moreau_residual(m, NULL), s);
  }
  return false;
}

// From impulses that are nearly right.
static void solve_near(carom_moreau_solver *m, search *s) {
  keep(m, carom_moreau_residual(m, NULL), s);
  m->newton.eps = NEAR_EPS * diagonal(m);
  hold(m);
  if (iterate(m, NEAR_STEPS, s)) keep(m, finish(m), s);
}

// From any. eps falls as long as phases come to rest within a few steps, and rises when they do not.
static void solve_far(carom_moreau_solver *m, search *s) {
  double scale = diagonal(m), eps = FIRST_EPS, fall = FALL;
  int last = s->steps + (s->least > s->accepted ? FAR_STEPS_MAX : FAR_STEPS);
  while (s->least > s->wanted && s->steps < last) {
    int before = s->steps;
    m->newton.eps = eps * scale;
    hold(m);
    if (iterate(m, FAR_STEPS, s)) {
      if (eps <= FINISH_EPS) keep(m, finish(m), s);
      fall = s->steps - before <= QUICK ? fmax(0.1 * fall, 1e-3) : fall;
      eps = fmax(eps * fall, LAST_EPS);
    } else {
      go_back(m, m->newton.P0);
      eps = fmin(eps / sqrt(fall), 1);
      fall = sqrt(sqrt(fall));
    }
  }
}

double carom_moreau_newton_solve(carom_moreau_solver *m, double good, double wanted, double accepted, int *steps) {
  search s = {good, wanted, accepted, INFINITY, 0};
  m->newton.noise = NOISE * carom_moreau_scale(m);
  solve_near(m, &s);
  go_back(m, m->newton.best);
  solve_far(m, &s);
  go_back(m, m->newton.best);
  *steps += s.steps;
  return carom_moreau_residual(m, NULL);
}

// ---- sweeps ---------------------------------------------------------------------------------------------------------

// The projection itself, of one block, with all others held.
static void project(carom_moreau_solver *m, int i, double change[3]) {
  const double *W = m->W + (size_t)m->start[i] * ((size_t)m->rows + 1);
  double *P = m->P + m->start[i], *u = m->u + m->start[i], side[2][2], t[2] = {0};
  double n = fmax(P[0] - u[0] / (W[0]), 0);
  change[0] = n - P[0];
  P[0] = n;
  for (int l = 1; l <= carom_moreau_tangents(m, i); l++) {  // velocities after the normal's change
    double across = carom_moreau_tangents(m, i) == 1 ? W[m->rows + 1] : 0.5 * (W[m->rows + 1] + W[2 * m->rows + 2]);
    t[l - 1] = P[l] - (u[l] + W[l] * change[0]) / across;
  }
  if (carom_moreau_tangents(m, i) > 0 && gauge(m, i, t) > m->mu[i] * n) {
    double radius = m->mu[i] * n;
    if (nearest_side(m, i, t, radius, side) == CAROM_MOREAU_CORNER) {
      for (int l = 0; l < 2; l++) t[l] = radius * side[0][l];
    } else {
      double edge[2] = {side[1][0] - side[0][0], side[1][1] - side[0][1]};
      double along = (t[0] - radius * side[0][0]) * edge[0] + (t[1] - radius * side[0][1]) * edge[1];
      along /= edge[0] * edge[0] + edge[1] * edge[1];
      for (int l = 0; l < 2; l++) t[l] = radius * side[0][l] + along * edge[l];
    }
  }
  for (int l = 1; l <= carom_moreau_tangents(m, i); l++) change[l] = t[l - 1] - P[l], P[l] = t[l - 1];
}

double carom_moreau_sweep(carom_moreau_solver *m, double good, int sweeps, int *done) {
  double residual = carom_moreau_residual(m, NULL);
  for (int round = 0; round < sweeps && residual > good; round++, ++*done) {
    for (int i = 0; i < m->count; i++) {
      double change[3];
      project(m, i, change);
      carom_lcp_combine(m->rows, 1 + carom_moreau_tangents(m, i), m->W + (size_t)m->start[i] * (size_t)m->rows, m->rows,
                        NULL, change, m->u);
    }
    if (round % 8 == 7 || round + 1 == sweeps) {
      carom_moreau_evaluate(m);
      residual = carom_moreau_residual(m, NULL);
    }
  }
  return residual;
}
