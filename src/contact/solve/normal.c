// Contacts are often redundant (a box on a floor has four corners), so A is singular and the impulses are not unique,
// while the velocities are. A proximal term makes the problem definite:
//
//     P_k+1 solves  0 <= P  _|_  (A + eps) P + b - eps P_k >= 0,      P_0 = 0,
//
// which converges to a solution of the original problem close to that of least norm (Rockafellar 1976). Each definite
// problem is solved by block principal pivoting, with Murty's least-index rule where blocks cycle (Judice and Pires
// 1994). Once the set of pressing contacts is settled, a round is one step of iterative refinement.
#include "contact/solve/normal.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/dense.h"

enum { MAX_ROUNDS = 60, PATIENCE = 8 };

static const double PROXIMITY = 1e-5;  // eps over the largest diagonal entry

void carom_normal_work_push(carom_normal_work *work, int n, carom_arena *arena) {
  size_t m = (size_t)n;
  work->L = CAROM_PUSH(arena, double, m *m);
  work->x = CAROM_PUSH(arena, double, m);
  work->w = CAROM_PUSH(arena, double, m);
  work->previous = CAROM_PUSH(arena, double, m);
  work->rhs = CAROM_PUSH(arena, double, m);
  work->free_set = CAROM_PUSH(arena, int, m);
  work->is_free = CAROM_PUSH(arena, bool, m);
}

static double largest_diagonal(int n, const double *A) {
  double largest = 0;
  for (int i = 0; i < n; i++) largest = fmax(largest, A[i + i * n]);
  return largest;
}

// Solves for the impulses of the free contacts; the others carry none.
static bool solve_free(carom_normal_work *k, int n, const double *A, const double *b, double eps) {
  int m = 0;
  for (int i = 0; i < n; i++)
    if (k->is_free[i]) k->free_set[m++] = i;
  for (int c = 0; c < m; c++) {
    for (int r = 0; r < m; r++) k->L[r + c * m] = A[k->free_set[r] + k->free_set[c] * n];
    k->L[c + c * m] += eps;
    k->rhs[c] = -b[k->free_set[c]];
  }
  if (carom_small_cholesky(m, k->L, m > 0 ? m : 1) != CAROM_OK) return false;
  carom_small_cholesky_solve(m, k->L, m > 0 ? m : 1, k->rhs);
  memset(k->x, 0, (size_t)n * sizeof *k->x);
  for (int c = 0; c < m; c++) k->x[k->free_set[c]] = k->rhs[c];
  return true;
}

// w = (A + eps) x + b.
static void evaluate(carom_normal_work *k, int n, const double *A, const double *b, double eps) {
  for (int i = 0; i < n; i++) k->w[i] = b[i] + eps * k->x[i];
  for (int j = 0; j < n; j++)
    if (k->x[j] != 0)
      for (int i = 0; i < n; i++) k->w[i] += A[i + j * n] * k->x[j];
}

static bool is_wrong(const carom_normal_work *k, int i, double tiny_x, double tiny_w) {
  return k->is_free[i] ? k->x[i] < -tiny_x : k->w[i] < -tiny_w;
}

// The definite problem with the vector b. Exchanges all wrong contacts at once while their number falls, else one.
static bool pivot(carom_normal_work *k, int n, const double *A, const double *b, double eps, double tiny_x,
                  double tiny_w) {
  int least = n + 1, patience = PATIENCE, limit = 20 * n + 100;
  for (int round = 0; round < limit; round++) {
    if (!solve_free(k, n, A, b, eps)) return false;
    evaluate(k, n, A, b, eps);
    int wrong = 0, last = -1;
    for (int i = 0; i < n; i++)
      if (is_wrong(k, i, tiny_x, tiny_w)) wrong++, last = i;
    if (wrong == 0) return true;
    bool all = wrong < least || patience-- > 0;
    if (wrong < least) least = wrong, patience = PATIENCE;
    if (!all) k->is_free[last] = !k->is_free[last];
    for (int i = 0; i < n && all; i++)
      if (is_wrong(k, i, tiny_x, tiny_w)) k->is_free[i] = !k->is_free[i];
  }
  return false;
}

static double natural_residual(carom_normal_work *k, int n, const double *A, const double *b, const double *P,
                               double scale) {
  memcpy(k->x, P, (size_t)n * sizeof *P);
  evaluate(k, n, A, b, 0);
  double worst = 0;
  for (int i = 0; i < n; i++) worst = fmax(worst, fabs(fmin(scale * P[i], k->w[i])));
  return worst;
}

bool carom_normal_solve(carom_normal_work *k, int n, const double *A, const double *b, double *P) {
  double size = 0, scale = largest_diagonal(n, A), least = INFINITY;
  for (int i = 0; i < n; i++) size = fmax(size, fabs(b[i])), k->is_free[i] = b[i] < 0;
  memset(P, 0, (size_t)n * sizeof *P);
  if (size == 0 || scale == 0) return size == 0;
  double eps = PROXIMITY * scale, tiny_w = 4 * DBL_EPSILON * size, tiny_x = tiny_w / scale;
  double *shifted = k->previous;
  for (int round = 0; round < MAX_ROUNDS; round++) {
    for (int i = 0; i < n; i++) shifted[i] = b[i] - eps * P[i];
    if (!pivot(k, n, A, shifted, eps, tiny_x, tiny_w)) return false;
    for (int i = 0; i < n; i++) P[i] = fmax(k->x[i], 0);
    double residual = natural_residual(k, n, A, b, P, scale);
    if (residual <= 2 * DBL_EPSILON * size || (residual >= 0.5 * least && residual <= 1e-13 * size)) return true;
    least = fmin(least, residual);
  }
  return least <= 1e-9 * size;
}
