// The complementarity problem of a step (2.1.8), with velocities and joints eliminated: for every block
//
//     0 <= c_n    _|_   u_n              >= 0
//     0 <= beta   _|_   D'u + lambda e   >= 0
//     0 <= lambda _|_   mu c_n - e' beta >= 0
//
// with u = u0 + W (n c_n + D beta). Newton's method on the contact laws begins with the impulses of the last
// step and mostly ends at once; where it does not, Lemke's method solves the problem of pairs, and Newton's gives
// its answer the last digits. The exact cone is reached by turning the directions: when one of them lies along the
// friction impulse (or against the sliding), the polygon is as good as the circle, so solve and turn until they do.
#include <math.h>
#include <string.h>

#include "solve/lcp_kernels.h"
#include "step/moreau/solver.h"

enum { TURNS_MAX = 30, SWEEPS_MAX = 20000, PIVOTS_PER_PAIR = 4 };

static const double pi = 3.14159265358979323846;

// Residuals over the largest velocity.
static const double SAME = 1e-12;      // impulses that are this good are left alone
static const double WANTED = 1e-11;    // no further steps are made
static const double ACCEPTED = 1e-10;  // no great effort is made
static const double SOLVED = 1e-9;     // what counts as a solution, unless asked otherwise

// ---- the LCP --------------------------------------------------------------------------------------------------------

// The friction directions of all pairs: (0, 0) for those that are none.
static void fill_directions(carom_moreau_solver *m) {
  memset(m->pairs.g, 0, 2 * (size_t)m->pairs.n * sizeof *m->pairs.g);
  for (int i = 0; i < m->count; i++)
    for (int a = 0; a < carom_moreau_directions(m, i); a++)
      carom_moreau_direction(m, i, a, m->pairs.g + 2 * (m->pairs.start[i] + 1 + a));
}

static bool coupled(const carom_moreau_solver *m, const double *W, int rows, int columns) {
  for (int l = 0; l < columns; l++)
    for (int k = 0; k < rows; k++)
      if (W[(size_t)k + (size_t)l * (size_t)m->rows] != 0) return true;
  return false;
}

static void fill_block(carom_moreau_solver *m, int i, int j) {
  int ka = 1 + carom_moreau_tangents(m, i), kb = 1 + carom_moreau_tangents(m, j);
  int da = carom_moreau_directions(m, i), db = carom_moreau_directions(m, j);
  const double *W = m->W + (size_t)m->start[i] + (size_t)m->start[j] * (size_t)m->rows;
  if (!coupled(m, W, ka, kb)) return;
  for (int q = 0; q <= db; q++) {
    const double *g = m->pairs.g + 2 * (m->pairs.start[j] + q);
    double gb[3] = {q == 0, g[0], g[1]}, Wg[3] = {0};
    for (int l = 0; l < kb; l++)
      for (int k = 0; k < ka; k++) Wg[k] += W[(size_t)k + (size_t)l * (size_t)m->rows] * gb[l];
    double *column = m->pairs.A + (size_t)m->pairs.start[i] + (size_t)(m->pairs.start[j] + q) * (size_t)m->pairs.n;
    column[0] = Wg[0];
    for (int p = 1; p <= da; p++) {
      const double *ga = m->pairs.g + 2 * (m->pairs.start[i] + p);
      column[p] = ga[0] * Wg[1] + ga[1] * Wg[2];
    }
  }
}

static void fill_cone(carom_moreau_solver *m, int i) {
  int d = carom_moreau_directions(m, i), first = m->pairs.start[i], last = first + d + 1;
  if (d == 0) return;
  size_t n = (size_t)m->pairs.n;
  m->pairs.A[(size_t)last + (size_t)first * n] = m->mu[i];
  for (int a = 1; a <= d; a++) {
    m->pairs.A[(size_t)(first + a) + (size_t)last * n] = 1;
    m->pairs.A[(size_t)last + (size_t)(first + a) * n] = -1;
  }
}

static void fill_right_hand_side(carom_moreau_solver *m) {
  memset(m->pairs.q, 0, (size_t)m->pairs.n * sizeof *m->pairs.q);
  for (int i = 0; i < m->count; i++) {
    const double *u = m->u0 + m->start[i];
    int first = m->pairs.start[i], tangents = carom_moreau_tangents(m, i);
    m->pairs.q[first] = u[0];
    for (int a = 1; a <= carom_moreau_directions(m, i); a++) {
      const double *g = m->pairs.g + 2 * (first + a);
      m->pairs.q[first + a] = g[0] * u[1] + (tangents == 2 ? g[1] * u[2] : 0);
    }
  }
}

static void fill_problem(carom_moreau_solver *m) {
  memset(m->pairs.A, 0, (size_t)m->pairs.n * (size_t)m->pairs.n * sizeof *m->pairs.A);
  for (int j = 0; j < m->count; j++) {
    for (int i = 0; i < m->count; i++) fill_block(m, i, j);
    fill_cone(m, j);
  }
  fill_right_hand_side(m);
}

// ---- solving --------------------------------------------------------------------------------------------------------

// How a problem is being solved.
typedef struct attempt {
  double scale;             // the largest velocity
  double accepted, solved;  // residuals at which no great effort is made any more, and no further attempt
  double residual;          // of P
  int iterations;
  const char *method;
} attempt;

static void solve_by_newton(carom_moreau_solver *m, attempt *a) {
  a->method = "newton";
  double wanted = fmin(WANTED * a->scale, a->accepted);
  a->residual = carom_moreau_newton_solve(m, SAME * a->scale, wanted, a->accepted, &a->iterations);
}

static void solve_by_sweeps(carom_moreau_solver *m, attempt *a) {
  int limit = m->options->solver_iterations;
  a->method = "pgs";
  a->residual = carom_moreau_sweep(m, a->accepted, limit > 0 ? limit : SWEEPS_MAX, &a->iterations);
}

static void set_impulses(carom_moreau_solver *m) {
  for (int i = 0; i < m->count; i++) {
    double *P = m->P + m->start[i];
    const double *z = m->pairs.z + m->pairs.start[i], *g = m->pairs.g + 2 * m->pairs.start[i];
    P[0] = z[0];
    for (int l = 1; l <= carom_moreau_tangents(m, i); l++) P[l] = 0;
    for (int a = 1; a <= carom_moreau_directions(m, i); a++)
      for (int l = 1; l <= carom_moreau_tangents(m, i); l++) P[l] += g[2 * a + l - 1] * z[a];
  }
  carom_moreau_evaluate(m);
}

// From the basis near to the impulses at hand. The last digits are Newton's: Lemke's bases of redundant contacts are
// nearly singular.
static carom_status solve_by_pivots(carom_moreau_solver *m, attempt *a, carom_error *error) {
  carom_lcp_problem problem = {.n = m->pairs.n, .M = m->pairs.A, .q = m->pairs.q};
  carom_lcp_options options = carom_lcp_default_options();
  carom_lcp_solution solution = {m->pairs.z, m->pairs.w, m->pairs.basis};
  carom_lcp_info info;
  int polishing = 0;
  fill_problem(m);
  carom_moreau_residual(m, NULL);  // fills z
  options.method = CAROM_LCP_LEMKE;
  options.start = carom_lcp_largest(m->rows, m->P) > 0 ? CAROM_LCP_START_Z : CAROM_LCP_START_COLD;
  options.max_iterations = m->options->solver_iterations;
  if (options.max_iterations == 0 && !m->options->solver) options.max_iterations = PIVOTS_PER_PAIR * m->pairs.n + 100;
  carom_status status = carom_lcp_solve(m->pairs.work, &problem, &options, &solution, &info, error);
  if (status != CAROM_OK) return status;
  a->iterations += info.iterations;
  a->method = "lemke";
  set_impulses(m);
  a->residual = carom_moreau_newton_solve(m, SAME * a->scale, INFINITY, INFINITY, &polishing);
  return CAROM_OK;
}

static void dump(carom_moreau_solver *m, double time) {
  carom_lcp_problem problem = {.n = m->pairs.n, .M = m->pairs.A, .q = m->pairs.q};
  if (!m->options->problem_sink) return;
  fill_problem(m);
  m->options->problem_sink(m->options->sink_context, time, &problem);
}

static carom_status solve_by(carom_moreau_solver *m, const char *solver, attempt *a, carom_error *error) {
  if (solver && strcmp(solver, "pgs") == 0)
    solve_by_sweeps(m, a);
  else if (!solver || strcmp(solver, "newton") == 0)
    solve_by_newton(m, a);
  if (a->residual <= a->solved || (solver && strcmp(solver, "lemke") != 0)) return CAROM_OK;
  return solve_by_pivots(m, a, error);
}

static carom_status solve_once(carom_moreau_solver *m, double time, carom_moreau_outcome *outcome, carom_error *error) {
  double asked = m->options->solver_tolerance;
  attempt a = {.scale = carom_moreau_scale(m), .residual = INFINITY, .method = "lemke"};
  a.accepted = (asked > 0 ? asked : ACCEPTED) * a.scale;
  a.solved = (asked > 0 ? asked : SOLVED) * a.scale;
  fill_directions(m);
  carom_moreau_evaluate(m);
  dump(m, time);
  carom_status status = solve_by(m, m->options->solver, &a, error);
  outcome->solved = a.residual <= a.solved;
  outcome->method = a.method;
  if (a.iterations > outcome->iterations) outcome->iterations = a.iterations;
  outcome->residual = fmax(outcome->residual, a.residual / fmax(a.scale, 1e-300));
  return status;
}

// Turns the directions towards the friction impulses, or against the sliding where there is none; how far, at most.
static double turn_directions(carom_moreau_solver *m) {
  double most = 0;
  for (int i = 0; i < m->count; i++) {
    const double *P = m->P + m->start[i], *u = m->u + m->start[i];
    if (carom_moreau_tangents(m, i) < 2 || P[0] <= 0 || hypot(P[1], P[2]) <= 1e-12 * P[0]) continue;
    // The impulse of a polygon leans towards its corners; sliding tells the direction better.
    bool slides = hypot(P[1], P[2]) > (1 - 1e-9) * m->mu[i] * P[0] * 0.7 && hypot(u[1], u[2]) > 1e-10;
    double angle = slides ? atan2(-u[2], -u[1]) : atan2(P[2], P[1]), change = remainder(angle - m->heading[i], pi / 2);
    m->heading[i] += change;
    most = fmax(most, fabs(change));
  }
  return most;
}

carom_status carom_moreau_solver_run(carom_moreau_solver *m, double time, carom_moreau_outcome *outcome,
                                     carom_error *error) {
  *outcome = (carom_moreau_outcome){.worst = -1};
  bool exact = m->options->friction_directions == 0;
  carom_status status = solve_once(m, time, outcome, error);
  for (int round = 0; exact && round < TURNS_MAX && status == CAROM_OK && outcome->solved; round++) {
    if (turn_directions(m) <= 1e-11) break;
    status = solve_once(m, time, outcome, error);
  }
  if (status == CAROM_OK && !outcome->solved) carom_moreau_residual(m, &outcome->worst);
  return status;
}
