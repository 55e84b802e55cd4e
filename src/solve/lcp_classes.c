// Which class a small matrix belongs to, and a condition for solutions. All checks go through all subsets of rows.
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "solve/lcp_kernels.h"
#include "solve/lcp_pattern.h"
#include "solve/lcp_problem.h"

enum { MOST = CAROM_LCP_CHECK_MAX };

static carom_status check(int n, const double *M, double tolerance, carom_error *error) {
  if (n < 1 || n > MOST || !M || !(tolerance >= 0))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "matrix check: n = %d, expected 1 to %d, and a tolerance >= 0", n,
                      MOST);
  for (int i = 0; i < n * n; i++)
    if (!isfinite(M[i])) return carom_fail(error, CAROM_ERR_NUMBER, "matrix check: M[%d] is %g", i, M[i]);
  return CAROM_OK;
}

// ---- copositivity --------------------------------------------------------------------------------------------------

// The smallest value of x'Mx on the simplex is taken inside some face alpha, where S x = lambda e holds for the
// symmetric part S; on the smallest such face S is nonsingular if lambda is not zero. So M fails to be copositive
// exactly when, for some alpha, the solution of S_aa y = e is negative: then lambda = 1 / e'y < 0 and x = y / e'y.
static double value_on_face(int n, const double *M, unsigned alpha, double *x, int *list) {
  double S[MOST * MOST], y[MOST], sum = 0;
  int k = 0, pivot[MOST];
  for (int i = 0; i < n; i++)
    if (alpha >> i & 1) list[k++] = i;
  for (int a = 0; a < k; a++) {
    y[a] = 1;
    for (int b = 0; b < k; b++) S[b + a * k] = (M[list[b] + list[a] * n] + M[list[a] + list[b] * n]) / 2;
  }
  if (carom_small_lu(k, S, k, pivot) != CAROM_OK) return 0;
  carom_small_lu_solve(k, S, k, pivot, y);
  for (int a = 0; a < k; a++) {
    if (!(y[a] < 0)) return 0;
    sum += y[a];
  }
  for (int a = 0; a < k; a++) x[a] = y[a] / sum;
  return 1 / sum;
}

carom_status carom_lcp_is_copositive(int n, const double *M, double tolerance, bool *yes, double *witness,
                                     carom_error *error) {
  carom_status status = check(n, M, tolerance, error);
  if (status != CAROM_OK) return status;
  double bound = -tolerance * carom_lcp_largest(n * n, M), x[MOST];
  int list[MOST];
  *yes = true;
  for (unsigned alpha = 1; alpha < 1u << n && *yes; alpha++) {
    *yes = !(value_on_face(n, M, alpha, x, list) < bound);
    if (*yes || !witness) continue;
    memset(witness, 0, sizeof(double) * (size_t)n);
    for (int i = 0, a = 0; i < n; i++)
      if (alpha >> i & 1) witness[i] = x[a++];
  }
  return CAROM_OK;
}

// ---- P-matrices ----------------------------------------------------------------------------------------------------

// Tsatsomeros and Li (2000): M is a P-matrix when its first entry is positive and both M without its first row and
// column, and the Schur complement of the first entry, are P-matrices. `chosen` records the way to a failure: the rows
// pivoted on, and the last, make up a principal minor that is not positive.
static bool is_p(int n, const double *A, double least, unsigned chosen, int first, unsigned *failure) {
  double B[MOST * MOST];
  int m = n - 1;
  *failure = chosen | 1u << first;
  if (!(A[0] > least)) return false;
  if (m <= 0) return true;
  for (int j = 0; j < m; j++)
    for (int i = 0; i < m; i++) B[i + j * m] = A[i + 1 + (j + 1) * n];
  if (!is_p(m, B, least, chosen, first + 1, failure)) return false;
  for (int j = 0; j < m; j++)
    for (int i = 0; i < m; i++) B[i + j * m] -= A[i + 1] * A[(j + 1) * n] / A[0];
  return is_p(m, B, least, chosen | 1u << first, first + 1, failure);
}

carom_status carom_lcp_is_p_matrix(int n, const double *M, double tolerance, bool *yes, unsigned char *witness,
                                   carom_error *error) {
  carom_status status = check(n, M, tolerance, error);
  if (status != CAROM_OK) return status;
  unsigned failure = 0;
  *yes = is_p(n, M, tolerance * carom_lcp_largest(n * n, M), 0, 0, &failure);
  for (int i = 0; witness && i < n; i++) witness[i] = !*yes && (failure >> i & 1);
  return CAROM_OK;
}

// ---- a condition for solutions -------------------------------------------------------------------------------------

// M and q divided by their largest entries. v >= 0 with M v >= 0 and v'M v = 0
// is complementary to M v, so that it lies in some cone of the homogeneous problem. Whether q'v < 0 there is a linear
// program.
typedef struct homogeneous {
  int n;
  double M[MOST * MOST], q[MOST];
} homogeneous;

static void normalize(homogeneous *h, const carom_lcp_problem *problem) {
  int n = h->n = problem->n;
  double sizes[2] = {carom_lcp_largest(n * n, problem->M), carom_lcp_largest(n, problem->q)};
  for (int i = 0; i < n * n; i++) h->M[i] = problem->M[i] / (sizes[0] > 0 ? sizes[0] : 1);
  for (int i = 0; i < n; i++) h->q[i] = problem->q[i] / (sizes[1] > 0 ? sizes[1] : 1);
}

// Looks for such a v; *undecided tells that one may have been missed.
static bool find_falling_ray(const homogeneous *h, double *v, bool *undecided) {
  unsigned char alpha[MOST];
  *undecided = false;
  for (unsigned set = 1; set < 1u << h->n; set++) {
    for (int i = 0; i < h->n; i++) alpha[i] = set >> i & 1;
    carom_lcp_pattern cone = {h->n, h->M, h->q, alpha, true};
    carom_lcp_pattern_answer answer = carom_lcp_pattern_solve(&cone, v);
    for (int i = 0; i < h->n; i++) v[i] = alpha[i] ? v[i] : 0;
    if (answer == CAROM_LCP_PATTERN_FOUND) return true;
    *undecided |= answer == CAROM_LCP_PATTERN_UNDECIDED;
  }
  return false;
}

static void give_witness(int n, const double *v, double *witness) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += v[i];
  for (int i = 0; witness && i < n; i++) witness[i] = v[i] / sum;
}

carom_status carom_lcp_meets_condition(const carom_lcp_problem *problem, double tolerance, carom_lcp_condition *answer,
                                       carom_error *error) {
  homogeneous h;
  double v[MOST];
  bool undecided;
  if (!problem || !answer || !problem->M || !problem->q)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "carom_lcp_meets_condition: give M (dense), q and an answer");
  carom_status status =
      carom_lcp_is_copositive(problem->n, problem->M, tolerance, &answer->copositive, answer->witness, error);
  answer->holds = false;
  if (status == CAROM_OK) status = carom_lcp_check(problem, error);
  if (status != CAROM_OK || !answer->copositive) return status;
  normalize(&h, problem);
  answer->holds = !find_falling_ray(&h, v, &undecided);
  if (!answer->holds) give_witness(h.n, v, answer->witness);
  if (!answer->holds || !undecided) return CAROM_OK;
  answer->holds = false;
  return carom_fail(error, CAROM_NOT_CONVERGED, "carom_lcp_meets_condition: round-off hides the answer");
}
