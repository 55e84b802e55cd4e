// Mixed problems, reduced to linear ones.
//
// Free unknowns u are eliminated by Gauss-Jordan steps with complete pivoting within their own block: what is left is
// the Schur complement of that block (Gavrea 2008, (1.2.11)). Where the block is singular, a free unknown and an
// equation E = 0 remain; as u = u+ - u- with  0 <= u+  complementary to  E >= 0  and  0 <= u-  to  -E >= 0  they are
// ordinary pairs. Which equation goes with which unknown, and its sign, is ours to choose: so that the matrix becomes
// bisymmetric if it can, on which Lemke's method is sure. A box takes a second pair:  with z = lower + y,
//
//     0 <= y  complementary to  w + s >= 0,      0 <= s  complementary to  (upper - lower) - y >= 0.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/lcp_kernels.h"
#include "solve/lcp_problem.h"
#include "solve/lcp_work.h"

static const double ROUND_OFF = 1e-12;  // over the largest entry of M
static const double SINGULAR = 1e-13;   // pivots below this, over the largest entry of the free block

// One unknown y of the linear problem: z[column] = shift + sign y, paired with row_sign w[row].
typedef struct pair {
  int row, column, sign, row_sign;
  int slack;  // the pair of the upper bound, or -1; for that pair itself, minus the number of its partner minus 2
} pair;

struct carom_mlcp_work {
  carom_work_head head;
  carom_lcp_work *linear;                    // for 2 n_max pairs
  double *T, *t;                             // (n_max^2), (n_max): the system after elimination
  double *shift;                             // (n_max)
  double *M, *q, *y, *w;                     // of the linear problem
  unsigned char *basis;                      // (2 n_max)
  unsigned char *is_free, *row_of, *column;  // (n_max) free; used up by elimination
  int *pivot_row;                            // (n_max) for an eliminated column, the row that gives it, else -1
  pair *pairs;                               // (2 n_max)
  int pair_count;
};

static double lower_of(const carom_mlcp_problem *p, int i) { return p->lower ? p->lower[i] : 0; }
static double upper_of(const carom_mlcp_problem *p, int i) { return p->upper ? p->upper[i] : INFINITY; }

// ---- the scratch ---------------------------------------------------------------------------------------------------

static bool fill_work(void *scratch, carom_error *error) {
  carom_mlcp_work *work = scratch;
  const carom_allocator *a = &work->head.allocator;
  size_t n = (size_t)work->head.n_max;
  return CAROM_NEW_ALL(a, CAROM_ROOM(work->T, n * n), CAROM_ROOM(work->t, n), CAROM_ROOM(work->shift, n),
                       CAROM_ROOM(work->M, 4 * n * n), CAROM_ROOM(work->q, 2 * n), CAROM_ROOM(work->y, 2 * n),
                       CAROM_ROOM(work->w, 2 * n), CAROM_ROOM(work->basis, 2 * n), CAROM_ROOM(work->is_free, n),
                       CAROM_ROOM(work->row_of, n), CAROM_ROOM(work->column, n), CAROM_ROOM(work->pivot_row, n),
                       CAROM_ROOM(work->pairs, 2 * n)) &&
         carom_lcp_work_create(2 * work->head.n_max, a, &work->linear, error) == CAROM_OK;
}

static void destroy_work(void *work) { carom_mlcp_work_destroy(work); }
static const carom_work_kind kind = {"carom_mlcp_work_create", "unknowns", 10000,
                                     sizeof(carom_mlcp_work),  fill_work,  destroy_work};

carom_status carom_mlcp_work_create(int n_max, const carom_allocator *allocator, carom_mlcp_work **work,
                                    carom_error *error) {
  return carom_work_create(&kind, n_max, allocator, (void **)work, error);
}

void carom_mlcp_work_destroy(carom_mlcp_work *work) {
  if (!work) return;
  carom_allocator a = work->head.allocator;
  carom_lcp_work_destroy(work->linear);
  CAROM_RELEASE_ALL(&a, work->T, work->t, work->shift, work->M, work->q, work->y, work->w, work->basis, work->is_free,
                    work->row_of, work->column, work->pivot_row, work->pairs, work);
}

// ---- elimination of free unknowns ----------------------------------------------------------------------------------

static double *entry(const carom_mlcp_work *work, int n, int i, int j) {
  return work->T + (size_t)i + (size_t)j * (size_t)n;
}

static double find_pivot(const carom_mlcp_work *work, int n, int *row, int *column) {
  double largest = 0;
  for (int j = 0; j < n; j++) {
    if (!work->is_free[j] || work->column[j]) continue;
    for (int i = 0; i < n; i++) {
      if (!work->is_free[i] || work->row_of[i] || !(fabs(*entry(work, n, i, j)) > largest)) continue;
      largest = fabs(*entry(work, n, i, j)), *row = i, *column = j;
    }
  }
  return largest;
}

// Row r gives z_c = -(t_r + sum of T_rj z_j) after division by the pivot; put into every other row.
static void eliminate(carom_mlcp_work *work, int n, int r, int c) {
  double *x = entry(work, n, 0, c), pivot = x[r];
  x[r] = 0;
  for (int j = 0; j <= n; j++) {
    double *a = j < n ? entry(work, n, 0, j) : work->t;
    if (j == c) continue;
    a[r] /= pivot;
    double minus = -a[r];
    carom_lcp_combine(n, 1, x, n, NULL, &minus, a);
  }
  work->row_of[r] = work->column[c] = 1;
  work->pivot_row[c] = r;
}

static void eliminate_free(carom_mlcp_work *work, const carom_mlcp_problem *problem) {
  int n = problem->n, row = 0, column = 0;
  double first = 0;
  if (n == 0) return;  // a problem without unknowns has no arrays either
  memcpy(work->T, problem->M, sizeof(double) * (size_t)n * (size_t)n);
  memcpy(work->t, problem->q, sizeof(double) * (size_t)n);
  for (int i = 0; i < n; i++) {
    work->is_free[i] = isinf(lower_of(problem, i)) && isinf(upper_of(problem, i));
    work->row_of[i] = work->column[i] = 0;
    work->pivot_row[i] = -1;
  }
  for (;;) {
    double pivot = find_pivot(work, n, &row, &column);
    if (first == 0) first = pivot;
    if (!(pivot > SINGULAR * first)) return;
    eliminate(work, n, row, column);
  }
}

// ---- the linear problem --------------------------------------------------------------------------------------------

static int add_pair(carom_mlcp_work *work, int row, int column, int sign) {
  work->pairs[work->pair_count] = (pair){row, column, sign, sign, -1};
  return work->pair_count++;
}

static void add_bounded(carom_mlcp_work *work, const carom_mlcp_problem *problem, int i) {
  double low = lower_of(problem, i), high = upper_of(problem, i);
  work->shift[i] = isfinite(low) ? low : high;
  if (low == high) return;  // nothing to choose
  int own = add_pair(work, i, i, isfinite(low) ? 1 : -1);
  if (!isfinite(low) || !isfinite(high)) return;
  work->pairs[own].slack = work->pair_count;
  work->pairs[add_pair(work, i, i, 1)].slack = -2 - own;
}

// How the leftover equation i and unknown j look upon the bounded unknowns: minus one when they are each other's
// transpose with opposite sign, as in a bisymmetric matrix.
static double kinship(const carom_mlcp_work *work, int n, int i, int j) {
  double product = 0, row = 0, column = 0;
  for (int l = 0; l < n; l++) {
    if (work->is_free[l]) continue;
    double c = *entry(work, n, i, l), d = *entry(work, n, l, j);
    product += c * d, row += c * c, column += d * d;
  }
  return row > 0 && column > 0 ? product / sqrt(row * column) : 0;
}

// Neither does the equation ask for anything nor does anything depend on the unknown.
static bool says_nothing(const carom_mlcp_work *work, int n, int i, int j) {
  bool nothing = work->t[i] == 0;
  for (int l = 0; l < n; l++) {
    nothing &= *entry(work, n, i, l) == 0 || (work->is_free[l] && work->column[l]);
    nothing &= *entry(work, n, l, j) == 0;
  }
  return nothing;
}

static void add_leftover(carom_mlcp_work *work, int n, int j) {
  int row = -1;
  for (int i = 0; i < n; i++)
    if (work->is_free[i] && !work->row_of[i] &&
        (row < 0 || fabs(kinship(work, n, i, j)) > fabs(kinship(work, n, row, j))))
      row = i;
  int sign = kinship(work, n, row, j) > 0 ? -1 : 1;
  work->row_of[row] = 1;
  if (says_nothing(work, n, row, j)) return;
  work->pairs[add_pair(work, row, j, 1)].row_sign = sign;
  work->pairs[add_pair(work, row, j, -1)].row_sign = -sign;
}

// Elimination leaves round-off where there is nothing: an equation that repeats others, an unknown that none needs.
static void clear_round_off(carom_mlcp_work *work, const carom_mlcp_problem *problem, double tolerance) {
  int n = problem->n;
  double size = ROUND_OFF * carom_lcp_largest(n * n, problem->M);
  for (int i = 0; i < n; i++) {
    if (!work->is_free[i]) continue;
    if (!work->row_of[i] && fabs(work->t[i]) <= tolerance) work->t[i] = 0;
    for (int j = 0; j < n; j++) {
      double *row = entry(work, n, i, j), *column = entry(work, n, j, i);
      if (!work->row_of[i] && fabs(*row) <= size) *row = 0;
      if (!work->column[i] && fabs(*column) <= size) *column = 0;
    }
  }
}

static void list_pairs(carom_mlcp_work *work, const carom_mlcp_problem *problem) {
  int n = problem->n;
  work->pair_count = 0;
  for (int i = 0; i < n; i++) {
    work->shift[i] = 0;
    if (!work->is_free[i]) add_bounded(work, problem, i);
  }
  for (int j = 0; j < n; j++)
    if (work->is_free[j] && !work->column[j]) add_leftover(work, n, j);
}

static void fill_linear(carom_mlcp_work *work, const carom_mlcp_problem *problem) {
  int n = problem->n, m = work->pair_count;
  for (int j = 0; j < n; j++)  // bounds that are not zero
    if (work->shift[j] != 0) carom_lcp_combine(n, 1, entry(work, n, 0, j), n, NULL, work->shift + j, work->t);
  for (int b = 0; b < m; b++) {
    const pair *pb = work->pairs + b;
    double *column = work->M + (size_t)b * (size_t)m;
    bool slack = pb->slack <= -2;
    for (int a = 0; a < m; a++) {
      const pair *pa = work->pairs + a;
      column[a] = slack || pa->slack <= -2 ? 0 : pa->row_sign * pb->sign * *entry(work, n, pa->row, pb->column);
    }
    work->q[b] = slack ? upper_of(problem, pb->row) - lower_of(problem, pb->row) : pb->row_sign * work->t[pb->row];
    if (slack) column[-2 - pb->slack] = 1;
    if (pb->slack >= 0) column[pb->slack] = -1;
  }
}

static void start_basis(carom_mlcp_work *work, const unsigned char *state) {
  for (int a = 0; a < work->pair_count; a++) {
    const pair *p = work->pairs + a;
    int s = work->is_free[p->column] ? 0 : state[p->column];
    bool slack = p->slack <= -2, boxed = p->slack >= 0;
    work->basis[a] = slack ? s == CAROM_MLCP_UPPER : s == CAROM_MLCP_BETWEEN || (boxed && s == CAROM_MLCP_UPPER);
  }
}

// ---- the answer ----------------------------------------------------------------------------------------------------

static void read_answer(const carom_mlcp_work *work, const carom_mlcp_problem *problem, double *z) {
  int n = problem->n;
  memcpy(z, work->shift, sizeof(double) * (size_t)n);
  for (int a = 0; a < work->pair_count; a++) {
    const pair *p = work->pairs + a;
    if (p->slack > -2) z[p->column] += p->sign * work->y[a];
  }
  for (int c = 0; c < n; c++) {
    int r = work->pivot_row[c];
    if (r < 0) continue;
    double value = work->t[r];  // with the bounds in it
    for (int a = 0; a < work->pair_count; a++) {
      const pair *p = work->pairs + a;
      if (p->slack > -2) value += *entry(work, n, r, p->column) * p->sign * work->y[a];
    }
    z[c] = -value;
  }
  for (int i = 0; i < n; i++) z[i] = fmin(fmax(z[i], lower_of(problem, i)), upper_of(problem, i));
}

static void read_state(const carom_mlcp_work *work, const carom_mlcp_problem *problem, unsigned char *state) {
  for (int i = 0; i < problem->n; i++) state[i] = work->is_free[i] ? CAROM_MLCP_BETWEEN : CAROM_MLCP_LOWER;
  for (int a = 0; a < work->pair_count; a++) {
    const pair *p = work->pairs + a;
    if (work->is_free[p->column]) continue;
    if (p->slack <= -2) {
      if (work->basis[a]) state[p->column] = CAROM_MLCP_UPPER;
    } else {
      state[p->column] = work->basis[a] ? CAROM_MLCP_BETWEEN : p->sign > 0 ? CAROM_MLCP_LOWER : CAROM_MLCP_UPPER;
    }
  }
}

static double natural(const carom_mlcp_problem *p, int i, double z, double w) {
  double r = fabs(z - fmin(fmax(z - w, lower_of(p, i)), upper_of(p, i)));
  return isfinite(z) && isfinite(w) ? r : INFINITY;
}

double carom_mlcp_residual(const carom_mlcp_problem *problem, const double *z) {
  double residual = 0;
  for (int i = 0; i < problem->n; i++) {
    double w = problem->q[i];
    for (int j = 0; j < problem->n; j++) w += problem->M[(size_t)i + (size_t)j * (size_t)problem->n] * z[j];
    residual = fmax(residual, natural(problem, i, z[i], w));
  }
  return residual;
}

// ---- the call ------------------------------------------------------------------------------------------------------

static carom_status check(const carom_mlcp_work *work, const carom_mlcp_problem *problem,
                          const carom_lcp_options *options, const unsigned char *state, carom_error *error) {
  carom_lcp_problem linear = {.n = problem->n, .M = problem->M, .q = problem->q};
  carom_status status = carom_lcp_check(&linear, error);
  if (status != CAROM_OK) return status;
  if (problem->n > work->head.n_max)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "carom_mlcp_solve: n = %d, but the work was made for up to %d",
                      problem->n, work->head.n_max);
  if (options && options->start != CAROM_LCP_START_COLD && !state)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "carom_mlcp_solve: a start needs the states to begin with");
  if (options && options->covering)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "carom_mlcp_solve: mixed problems choose their covering vector");
  for (int i = 0; i < problem->n; i++)
    if (!(lower_of(problem, i) <= upper_of(problem, i)) || lower_of(problem, i) == INFINITY ||
        upper_of(problem, i) == -INFINITY)
      return carom_fail(error, CAROM_ERR_ARGUMENT, "carom_mlcp_solve: bounds of unknown %d: [%g, %g]", i,
                        lower_of(problem, i), upper_of(problem, i));
  return CAROM_OK;
}

carom_status carom_mlcp_solve(carom_mlcp_work *work, const carom_mlcp_problem *problem,
                              const carom_lcp_options *options, carom_mlcp_solution *solution, carom_lcp_info *info,
                              carom_error *error) {
  if (!work || !problem || !solution || !solution->z || !solution->w || !info)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "carom_mlcp_solve: work, problem, z, w and info must not be null");
  double *z = solution->z, *w = solution->w;
  unsigned char *state = solution->state;
  carom_status status = check(work, problem, options, state, error);
  if (status != CAROM_OK) return status;
  carom_lcp_options o = options ? *options : carom_lcp_default_options();
  double tolerance = o.tolerance * fmax(1, carom_lcp_largest(problem->n, problem->q));
  eliminate_free(work, problem);
  clear_round_off(work, problem, tolerance);
  list_pairs(work, problem);
  fill_linear(work, problem);
  if (o.start != CAROM_LCP_START_COLD) {
    o.start = CAROM_LCP_START_BASIS;
    start_basis(work, state);
  }
  carom_lcp_problem linear = {.n = work->pair_count, .M = work->M, .q = work->q};
  status =
      carom_lcp_solve(work->linear, &linear, &o, &(carom_lcp_solution){work->y, work->w, work->basis}, info, error);
  if (status != CAROM_OK) return status;
  read_answer(work, problem, z);
  if (state) read_state(work, problem, state);
  carom_lcp_problem whole = {.n = problem->n, .M = problem->M, .q = problem->q};
  carom_lcp_evaluate(&whole, z, w);
  info->residual = 0;
  for (int i = 0; i < problem->n; i++) info->residual = fmax(info->residual, natural(problem, i, z[i], w[i]));
  if (info->outcome == CAROM_LCP_SOLVED && !(info->residual <= tolerance)) info->outcome = CAROM_LCP_STALLED;
  return CAROM_OK;
}
