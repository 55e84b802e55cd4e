// The complementarity problem of a step (2.1.8), with velocities and joints eliminated: for every item
//
//     0 <= c_n    _|_   n'(alpha v' + (1 - alpha) v) + bias      >= 0
//     0 <= beta   _|_   D'(alpha v' + (1 - alpha) v) + lambda e  >= 0
//     0 <= lambda _|_   mu c_n - e' beta                         >= 0
//
// with v' = v_free + S (n c_n + D beta). Newton's method on the contact laws begins with the impulses of the last
// step and mostly ends at once; where it does not, Lemke's method solves the problem of pairs, and Newton's gives
// its answer the last digits. The exact cone is reached by turning the directions: when one of them lies along the
// friction impulse (or against the sliding), the polygon is as good as the circle, so solve and turn until they do.
#include <math.h>
#include <string.h>

#include "step/moreau/moreau.h"

enum { TURNS_MAX = 30, SWEEPS_MAX = 20000, PIVOTS_PER_PAIR = 4 };

static const double pi = 3.14159265358979323846;

// Residuals over the largest velocity.
static const double SAME = 1e-12;      // impulses that are this good are left alone
static const double WANTED = 1e-11;    // no further steps are made
static const double ACCEPTED = 1e-10;  // no great effort is made
static const double SOLVED = 1e-9;     // what counts as a solution, unless asked otherwise

// ---- the LCP --------------------------------------------------------------------------------------------------------

// The friction directions of all pairs: (0, 0) for those that are none.
static void fill_directions(carom_moreau *m) {
  memset(m->g, 0, 2 * (size_t)m->n * sizeof *m->g);
  for (int i = 0; i < m->item_count; i++)
    for (int a = 0; a < carom_moreau_directions(m, &m->items[i]); a++)
      carom_moreau_direction(m, &m->items[i], a, m->g + 2 * (m->pair_start[i] + 1 + a));
}

static bool coupled(const carom_moreau *m, const double *W, int rows, int columns) {
  for (int l = 0; l < columns; l++)
    for (int k = 0; k < rows; k++)
      if (W[(size_t)k + (size_t)l * (size_t)m->rows] != 0) return true;
  return false;
}

static void fill_block(carom_moreau *m, int i, int j) {
  int ka = 1 + m->items[i].tangents, kb = 1 + m->items[j].tangents;
  int da = carom_moreau_directions(m, &m->items[i]), db = carom_moreau_directions(m, &m->items[j]);
  const double *W = m->W + (size_t)m->row_start[i] + (size_t)m->row_start[j] * (size_t)m->rows;
  if (!coupled(m, W, ka, kb)) return;
  for (int q = 0; q <= db; q++) {
    const double *g = m->g + 2 * (m->pair_start[j] + q);
    double gb[3] = {q == 0, g[0], g[1]}, Wg[3] = {0};
    for (int l = 0; l < kb; l++)
      for (int k = 0; k < ka; k++) Wg[k] += m->alpha * W[(size_t)k + (size_t)l * (size_t)m->rows] * gb[l];
    double *column = m->A + (size_t)m->pair_start[i] + (size_t)(m->pair_start[j] + q) * (size_t)m->n;
    column[0] = Wg[0];
    for (int p = 1; p <= da; p++) {
      const double *ga = m->g + 2 * (m->pair_start[i] + p);
      column[p] = ga[0] * Wg[1] + ga[1] * Wg[2];
    }
  }
}

static void fill_cone(carom_moreau *m, int i) {
  const carom_moreau_item *item = &m->items[i];
  int d = carom_moreau_directions(m, item), first = m->pair_start[i], last = first + d + 1;
  if (d == 0) return;
  size_t n = (size_t)m->n;
  m->A[(size_t)last + (size_t)first * n] = item->mu;
  for (int a = 1; a <= d; a++) {
    m->A[(size_t)(first + a) + (size_t)last * n] = 1;
    m->A[(size_t)last + (size_t)(first + a) * n] = -1;
  }
}

static void fill_right_hand_side(carom_moreau *m) {
  memset(m->q, 0, (size_t)m->n * sizeof *m->q);
  for (int i = 0; i < m->item_count; i++) {
    const double *u = m->u0 + m->row_start[i];
    int first = m->pair_start[i], tangents = m->items[i].tangents;
    m->q[first] = u[0];
    for (int a = 1; a <= carom_moreau_directions(m, &m->items[i]); a++) {
      const double *g = m->g + 2 * (first + a);
      m->q[first + a] = g[0] * u[1] + (tangents == 2 ? g[1] * u[2] : 0);
    }
  }
}

static void fill_problem(carom_moreau *m) {
  memset(m->A, 0, (size_t)m->n * (size_t)m->n * sizeof *m->A);
  for (int j = 0; j < m->item_count; j++) {
    for (int i = 0; i < m->item_count; i++) fill_block(m, i, j);
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

static void solve_by_newton(carom_moreau *m, attempt *a) {
  a->method = "newton";
  double wanted = fmin(WANTED * a->scale, a->accepted);
  a->residual = carom_moreau_newton_solve(m, SAME * a->scale, wanted, a->accepted, &a->iterations);
}

static void solve_by_sweeps(carom_moreau *m, attempt *a) {
  int limit = m->options->solver_iterations;
  a->method = "pgs";
  a->residual = carom_moreau_sweep(m, a->accepted, limit > 0 ? limit : SWEEPS_MAX, &a->iterations);
}

static void set_impulses(carom_moreau *m) {
  for (int i = 0; i < m->item_count; i++) {
    double *P = m->P + m->row_start[i];
    const double *z = m->z + m->pair_start[i], *g = m->g + 2 * m->pair_start[i];
    P[0] = z[0];
    for (int l = 1; l <= m->items[i].tangents; l++) P[l] = 0;
    for (int a = 1; a <= carom_moreau_directions(m, &m->items[i]); a++)
      for (int l = 1; l <= m->items[i].tangents; l++) P[l] += g[2 * a + l - 1] * z[a];
  }
  carom_moreau_evaluate(m);
}

// From the basis near to the impulses at hand. The last digits are Newton's: Lemke's bases of redundant contacts are
// nearly singular.
static carom_status solve_by_pivots(carom_moreau *m, attempt *a, carom_error *error) {
  carom_lcp_problem problem = {.n = m->n, .M = m->A, .q = m->q};
  carom_lcp_options options = carom_lcp_default_options();
  carom_lcp_info info;
  int polishing = 0;
  fill_problem(m);
  carom_moreau_residual(m);  // fills z
  options.method = CAROM_LCP_LEMKE;
  options.start = m->last_count > 0 ? CAROM_LCP_START_Z : CAROM_LCP_START_COLD;
  options.max_iterations = m->options->solver_iterations;
  if (options.max_iterations == 0 && !m->options->solver) options.max_iterations = PIVOTS_PER_PAIR * m->n + 100;
  carom_status status =
      carom_lcp_solve(m->work, &problem, &options, &(carom_lcp_solution){m->z, m->w, m->basis}, &info, error);
  if (status != CAROM_OK) return status;
  a->iterations += info.iterations;
  a->method = "lemke";
  set_impulses(m);
  a->residual = carom_moreau_newton_solve(m, SAME * a->scale, INFINITY, INFINITY, &polishing);
  return CAROM_OK;
}

static void dump(carom_moreau *m, double time) {
  carom_lcp_problem problem = {.n = m->n, .M = m->A, .q = m->q};
  if (!m->options->problem_sink) return;
  fill_problem(m);
  m->options->problem_sink(m->options->sink_context, time, &problem);
}

static carom_status solve_by(carom_moreau *m, const char *solver, attempt *a, carom_error *error) {
  if (solver && strcmp(solver, "pgs") == 0)
    solve_by_sweeps(m, a);
  else if (!solver || strcmp(solver, "newton") == 0)
    solve_by_newton(m, a);
  if (a->residual <= a->solved || (solver && strcmp(solver, "lemke") != 0)) return CAROM_OK;
  return solve_by_pivots(m, a, error);
}

static void read_impulses(carom_moreau *m) {
  for (int i = 0; i < m->item_count; i++)
    for (int k = 0; k < 3; k++) m->items[i].impulse[k] = k <= m->items[i].tangents ? m->P[m->row_start[i] + k] : 0;
}

static carom_status solve_once(carom_moreau *m, double time, carom_step_report *report, carom_error *error) {
  double asked = m->options->solver_tolerance;
  attempt a = {.scale = carom_moreau_scale(m), .residual = INFINITY, .method = "lemke"};
  a.accepted = (asked > 0 ? asked : ACCEPTED) * a.scale;
  a.solved = (asked > 0 ? asked : SOLVED) * a.scale;
  fill_directions(m);
  carom_moreau_evaluate(m);
  dump(m, time);
  carom_status status = solve_by(m, m->options->solver, &a, error);
  if (status != CAROM_OK) return status;
  if (a.iterations > report->iterations) report->iterations = a.iterations;
  report->complementarity = fmax(report->complementarity, a.residual / fmax(a.scale, 1e-300));
  read_impulses(m);
  if (a.residual <= a.solved) return CAROM_OK;
  m->last_count = 0;
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "the contact problem of %d contacts at t = %.9g s was not "
                    "solved (residual %.2g after %d iterations "
                    "of %s): use a smaller step or another solver",
                    m->item_count, time, a.residual, a.iterations, a.method);
}

// Turns the directions towards the friction impulses, or against the sliding where there is none; how far, at most.
static double turn_directions(carom_moreau *m) {
  double most = 0;
  carom_moreau_apply(m);
  for (int i = 0; i < m->item_count; i++) {
    carom_moreau_item *item = &m->items[i];
    if (item->tangents < 2 || item->impulse[0] <= 0) continue;
    double x = item->impulse[1], y = item->impulse[2];
    if (hypot(x, y) <= 1e-12 * item->impulse[0]) continue;
    // The impulse of a polygon leans towards its corners; sliding tells the direction better.
    double sx = -m->alpha * carom_moreau_rate(m->model, &item->row[1], m->v_new) - (1 - m->alpha) * item->before[1] +
                item->surface[1];
    double sy = -m->alpha * carom_moreau_rate(m->model, &item->row[2], m->v_new) - (1 - m->alpha) * item->before[2] +
                item->surface[2];
    bool slides = hypot(x, y) > (1 - 1e-9) * item->mu * item->impulse[0] * 0.7 && hypot(sx, sy) > 1e-10;
    double angle = slides ? atan2(sy, sx) : atan2(y, x), change = remainder(angle - item->turn, pi / 2);
    item->turn += change;
    most = fmax(most, fabs(change));
  }
  return most;
}

carom_status carom_moreau_solve(carom_moreau *m, const double *bias, double time, carom_step_report *report,
                                carom_error *error) {
  if (m->item_count == 0) {
    m->last_count = 0;
    return CAROM_OK;
  }
  carom_moreau_fill_rows(m, bias);
  carom_moreau_first_guess(m);
  carom_status status = solve_once(m, time, report, error);
  bool exact = m->options->friction_directions == 0;
  for (int round = 0; exact && round < TURNS_MAX && status == CAROM_OK && turn_directions(m) > 1e-11; round++)
    status = solve_once(m, time, report, error);
  if (status == CAROM_OK && !carom_moreau_note_impulses(m))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the impulses of a step");
  return status;
}
