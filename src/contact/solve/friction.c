// One contact has a closed form but for a root: for a normal impulse N the tangential one is the minimum over the disc
// of radius mu N, and N is the root of the normal velocity. Several are for Newton's method.
#include "contact/solve/friction.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { MAX_DOUBLINGS = 60, MAX_BISECTIONS = 200, MAX_NEWTON = 50 };

static const double CONVERGED = 1e-14;  // residual over the largest velocity

// ---- the disc ----------------------------------------------------------------------------------------------------

static double length(double x, double y) { return sqrt(x * x + y * y); }

// (A + nu) t = -c with |t| = radius: Newton's method on 1/|t| - 1/radius, which is nearly linear in nu (More and
// Sorensen 1983), in the axes of A, whose eigenvalues are a[0] >= a[1] >= 0.
static void on_circle(const double a[2], const double c[2], double radius, double t[2]) {
  double nu = fmax(0, length(c[0], c[1]) / radius - a[0]);
  for (int i = 0; i < MAX_NEWTON; i++) {
    t[0] = -c[0] / (a[0] + nu), t[1] = -c[1] / (a[1] + nu);
    double size = length(t[0], t[1]), slope = (t[0] * t[0] / (a[0] + nu) + t[1] * t[1] / (a[1] + nu)) / size;
    double step = (size - radius) * size / (radius * slope);
    nu = fmax(0, nu + step);
    if (fabs(step) <= 2 * DBL_EPSILON * (nu + a[0])) break;
  }
  double size = length(t[0], t[1]);
  t[0] *= radius / size, t[1] *= radius / size;
}

// Cosine and sine of half the angle of (half, off), whose length is `spread`; the larger one first, for accuracy.
static void turn_to_axes(double half, double off, double spread, double *C, double *S) {
  if (half >= 0) {
    *C = sqrt(0.5 * (1 + half / spread));
    *S = 0.5 * off / (spread * *C);
  } else {
    *S = sqrt(0.5 * (1 - half / spread));
    *C = 0.5 * off / (spread * *S);
  }
}

void carom_friction_disc(const double A[3], const double c[2], double radius, double t[2]) {
  t[0] = t[1] = 0;
  if (!(radius > 0) || (c[0] == 0 && c[1] == 0)) return;
  double mean = 0.5 * (A[0] + A[2]), half = 0.5 * (A[0] - A[2]), spread = length(half, A[1]);
  if (!(mean > 0)) return;
  double a[2] = {mean + spread, fmax(mean - spread, 4 * DBL_EPSILON * mean)};
  double C = 1, S = 0;
  if (spread > 0) turn_to_axes(half, A[1], spread, &C, &S);
  double d[2] = {C * c[0] + S * c[1], -S * c[0] + C * c[1]};
  double s[2] = {-d[0] / a[0], -d[1] / a[1]};
  if (length(s[0], s[1]) > radius) on_circle(a, d, radius, s);
  t[0] = C * s[0] - S * s[1], t[1] = S * s[0] + C * s[1];
}

// ---- one contact -------------------------------------------------------------------------------------------------

typedef struct contact {
  double nn, nt[2], tt[3];  // the block of W
  double b[3], mu;
} contact;

// Normal velocity under the normal impulse N and the friction that goes with it.
static double normal_velocity(const contact *k, double N, double P[3]) {
  double c[2] = {k->b[1] + k->nt[0] * N, k->b[2] + k->nt[1] * N};
  P[0] = N;
  carom_friction_disc(k->tt, c, k->mu * N, P + 1);
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

bool carom_friction_contact(const double *A, int lda, const double b[3], double mu, double P[3]) {
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

static double size_of(int m, const double *b) {
  double size = 0;
  for (int i = 0; i < m; i++) size = fmax(size, fabs(b[i]));
  return size;
}

carom_friction_info carom_friction_solve(carom_friction_work *work, int n, const double *W, const double *b,
                                         const double *mu, double noise, double *P, double *v) {
  carom_friction_info info = {.converged = true};
  int m = 3 * n;
  double size = size_of(m, b), tiny = fmax(CONVERGED * size, noise);
  carom_assembled problem = {n, m, work->blocks, W, b};
  for (int i = 0; i < n; i++) work->blocks[i] = (carom_block){.first = 3 * i, .width = 3, .mu = mu[i]};
  if (size == 0) memset(P, 0, (size_t)m * sizeof *P);
  if (n == 1) info.converged = carom_friction_contact(W, 3, b, mu[0], P);
  carom_assembled_velocity(&problem, P, v);
  if (n == 1 || size == 0) return info;
  carom_newton_goal goal = {tiny, 10 * tiny, 100 * tiny};
  info.change = carom_newton_solve(work->newton, &problem, &goal, P, v, &info.sweeps) / size;
  info.converged = info.change * size <= fmax(1e-12 * size, noise);
  return info;
}

carom_status carom_friction_work_create(int n, const carom_allocator *allocator, carom_friction_work *work,
                                        carom_error *error) {
  work->blocks = CAROM_NEW(allocator, carom_block, n);
  if (!work->blocks) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for an impact of %d contacts", n);
  return carom_newton_create(3 * n, allocator, &work->newton, error);
}

void carom_friction_work_destroy(const carom_allocator *allocator, carom_friction_work *work) {
  carom_release(allocator, work->blocks);
  carom_newton_destroy(work->newton);
}
