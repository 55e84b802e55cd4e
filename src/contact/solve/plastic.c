// One contact has a closed form but for a root: for a normal impulse N the tangential one is the minimum over the disc
// of radius mu N, and N is the root of the normal velocity. Several are for Newton's method.
#include "contact/solve/plastic.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "contact/solve/disc.h"
#include "solve/lcp_kernels.h"

enum { MAX_DOUBLINGS = 60, MAX_BISECTIONS = 200 };

static const double CONVERGED = 1e-14;  // residual over the largest velocity

// ---- one contact -------------------------------------------------------------------------------------------------

typedef struct contact {
  double nn, nt[2], tt[3];  // the block of W
  double b[3], mu;
} contact;

// Normal velocity under the normal impulse N and the friction that goes with it.
static double normal_velocity(const contact *k, double N, double P[3]) {
  double c[2] = {k->b[1] + k->nt[0] * N, k->b[2] + k->nt[1] * N};
  P[0] = N;
  carom_disc_minimum(k->tt, c, k->mu * N, P + 1);
  return k->b[0] + k->nn * N + k->nt[0] * P[1] + k->nt[1] * P[2];
}

// The root between lo (velocity < 0) and hi (>= 0): regula falsi that halves the weight of an end that stays
// (Illinois).
static void find_root(const contact *k, double lo, double f_lo, double hi, double f_hi, double P[3]) {
  for (int i = 0; i < MAX_BISECTIONS && hi - lo > 2 * DBL_EPSILON * hi; i++) {
    double N = i % 4 == 3 ? 0.5 * (lo + hi) : (lo * f_hi - hi * f_lo) / (f_hi - f_lo);
    if (!(N > lo && N < hi)) N = 0.5 * (lo + hi);
    double f = normal_velocity(k, N, P);
    if (f == 0) return;
    if (f > 0) {
      hi = N, f_hi = f, f_lo *= 0.5;
    } else {
      lo = N, f_lo = f, f_hi *= 0.5;
    }
  }
  normal_velocity(k, hi, P);
}

bool carom_plastic_contact(const double *A, int lda, const double b[3], double mu, double P[3]) {
  contact k = {A[0], {A[1], A[2]}, {A[1 + lda], A[2 + lda], A[2 + 2 * lda]}, {b[0], b[1], b[2]}, mu};
  P[0] = P[1] = P[2] = 0;
  if (!(b[0] < 0)) return true;
  if (!(k.nn > 0)) return false;
  double hi = -b[0] / k.nn, f = mu > 0 ? normal_velocity(&k, hi, P) : 0;
  if (f == 0) {
    P[0] = hi;
    return true;
  }
  double lo = 0, f_lo = b[0];
  for (int i = 0; i < MAX_DOUBLINGS && f < 0; i++) {
    lo = hi, f_lo = f;
    hi *= 2;
    f = normal_velocity(&k, hi, P);
  }
  if (f < 0) {
    P[0] = P[1] = P[2] = 0;
    return false;
  }
  find_root(&k, lo, f_lo, hi, f, P);
  return true;
}

// ---- all contacts ------------------------------------------------------------------------------------------------

carom_plastic_info carom_plastic_solve(carom_plastic_work *work, const carom_plastic_problem *q, double *P, double *v) {
  carom_plastic_info info = {.converged = true};
  int n = q->n, m = 3 * n;
  double size = carom_lcp_largest(m, q->b), tiny = fmax(CONVERGED * size, q->noise);
  carom_assembled problem = {.count = n, .rows = m, .blocks = work->blocks, .W = q->W, .u0 = q->b};
  for (int i = 0; i < n; i++) work->blocks[i] = (carom_block){.first = 3 * i, .width = 3, .mu = q->mu[i]};
  if (size == 0) memset(P, 0, (size_t)m * sizeof *P);
  if (n == 1) info.converged = carom_plastic_contact(q->W, 3, q->b, q->mu[0], P);
  carom_assembled_velocity(&problem, P, v);
  if (n == 1 || size == 0) return info;
  carom_newton_goal goal = {.good = tiny, .wanted = 10 * tiny, .accepted = 100 * tiny};
  info.change = carom_newton_solve(work->newton, &problem, &goal, P, v, &info.sweeps) / size;
  info.converged = info.change * size <= fmax(1e-12 * size, q->noise);
  return info;
}

bool carom_normal_solve(carom_plastic_work *work, int n, const double *A, const double *b, double *P) {
  double size = carom_lcp_largest(n, b), tiny = DBL_EPSILON * size;
  carom_assembled problem = {.count = n, .rows = n, .blocks = work->blocks, .W = A, .u0 = b};
  carom_newton_goal goal = {.good = 2 * tiny, .wanted = 2 * tiny, .accepted = 1e-13 * size};
  int steps = 0;
  for (int i = 0; i < n; i++) work->blocks[i] = (carom_block){.first = i, .width = 1};
  memset(P, 0, (size_t)n * sizeof *P);
  return carom_newton_solve(work->newton, &problem, &goal, P, work->u, &steps) <= 1e-9 * size;
}

void carom_plastic_work_push(carom_plastic_work *work, int n, carom_arena *arena) {
  work->blocks = CAROM_PUSH(arena, carom_block, n);
  work->u = CAROM_PUSH(arena, double, 3 * n);
  work->newton = carom_newton_push(3 * n, 0, arena);
}
