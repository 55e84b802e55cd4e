// Three ways, from the fast to the sure. Sweeps of projected Gauss-Seidel tell which contacts are open, which stick and
// which slide; from there Newton's method takes a few steps to round-off (polish). Where that fails, Gauss-Seidel goes
// on with each contact solved exactly in turn (Jourdan, Alart and Jean 1998): for a normal impulse N the tangential one
// is the minimum over the disc of radius mu N, and N is the root of the normal velocity.
#include "contact/solve/friction.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "contact/solve/disc.h"
#include "math/dense.h"

enum { MAX_BLOCKS = 30, BLOCK = 20, MAX_POLISH = 12, MAX_STALLED = 4 };  // quick sweeps, between attempts to polish
enum { MAX_SWEEPS = 120, CYCLING = 60 };                                 // sure ones
enum { MAX_DOUBLINGS = 60, MAX_BISECTIONS = 200 };

static const double CONVERGED = 1e-14;  // change of a velocity in a sweep, relative

static double length(double x, double y) { return sqrt(x * x + y * y); }

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

static void add_column(int m, const double *W, int column, double s, double *v) {
  for (int i = 0; i < m && s != 0; i++) v[i] += s * W[i + column * m];
}

static void evaluate(int m, const double *W, const double *b, const double *P, double *v) {
  memcpy(v, b, (size_t)m * sizeof *v);
  for (int j = 0; j < m; j++) add_column(m, W, j, P[j], v);
}

// Solves contact i with all others held and goes `part` of the way there; returns how much its velocity changed by
// that.
static double relax(int m, const double *W, int i, double mu, double part, double *P, double *v, bool *possible) {
  const double *A = W + 3 * i + 3 * i * m;
  double own[3], b[3], change = 0;
  for (int r = 0; r < 3; r++)
    b[r] = v[3 * i + r] - A[r] * P[3 * i] - A[r + m] * P[3 * i + 1] - A[r + 2 * m] * P[3 * i + 2];
  if (!carom_friction_contact(A, m, b, mu, own)) *possible = false;
  for (int r = 0; r < 3; r++) {
    double step = part * (own[r] - P[3 * i + r]);
    change = fmax(change, fabs(step) * A[r + r * m]);
    add_column(m, W, 3 * i + r, step, v);
    P[3 * i + r] += step;
  }
  return change;
}

// ---- quick sweeps ------------------------------------------------------------------------------------------------

static double nudge(int m, const double *W, int row, double step, double *P, double *v) {
  P[row] += step;
  add_column(m, W, row, step, v);
  return fabs(step) * W[row + row * m];
}

// One projected step along the normal, one along the tangents.
static double sweep_contact(int m, const double *W, int i, double mu, double *P, double *v) {
  const double *A = W + 3 * i + 3 * i * m;
  double *own = P + 3 * i, change = 0;
  if (A[0] > 0) change = nudge(m, W, 3 * i, fmax(-own[0], -v[3 * i] / A[0]), P, v);
  double mean = 0.5 * (A[1 + m] + A[2 + 2 * m]), steep = mean + length(0.5 * (A[1 + m] - A[2 + 2 * m]), A[2 + m]);
  if (!(steep > 0)) return change;
  double t[2] = {own[1] - v[3 * i + 1] / steep, own[2] - v[3 * i + 2] / steep};
  double size = length(t[0], t[1]), most = mu * own[0], part = size > most ? most / size : 1;
  change = fmax(change, nudge(m, W, 3 * i + 1, part * t[0] - own[1], P, v));
  return fmax(change, nudge(m, W, 3 * i + 2, part * t[1] - own[2], P, v));
}

// ---- polish ------------------------------------------------------------------------------------------------------

size_t carom_friction_work_size(int n) {
  size_t m = 3 * (size_t)n;
  return (m * m + 5 * m) * sizeof(double) + 2 * m * sizeof(int);
}

void carom_friction_work_place(carom_friction_work *work, int n, void *memory) {
  size_t m = 3 * (size_t)n;
  double *next = memory;
  work->A = next, next += m * m;
  work->z = next, next += m;
  work->rhs = next, next += m;
  work->last = next, next += m;
  work->P = next, next += m;
  work->v = next, next += m;
  work->index = (int *)next;
  work->pivot = work->index + m;
}

// The laws as equations F(P) = 0 (Alart and Curnier 1991), in units of velocity, with s the steepest response:
//
//     open    s P = 0                                  where P_n - v_n / s <= 0, else  v_n = 0 and
//     sticks  v_t = 0                                  where |y| <= mu P_n,  y = P_t - v_t / s, else
//     slides  s (P_t - mu P_n y / |y|) = 0
static void put_row(double *A, int m, int row, const double *W, double factor) {
  for (int j = 0; j < m; j++) A[row + j * m] += factor * W[row + j * m];
}

// Rows of a contact that slides, and its residual. With c = mu P_n / |y| and D = 1 - yy'/|y|^2:
// dF = s (dP_t - mu dP_n y/|y| - c D (dP_t - dv_t / s)).
static void put_sliding(carom_friction_work *k, int m, int i, const double *W, double mu, double s, const double y[2],
                        double size) {
  const double *P = k->P + 3 * i;
  double e[2] = {y[0] / size, y[1] / size}, c = mu * P[0] / size;
  double D[2][2] = {{1 - e[0] * e[0], -e[0] * e[1]}, {-e[0] * e[1], 1 - e[1] * e[1]}};
  for (int r = 0; r < 2; r++) {
    int row = 3 * i + 1 + r;
    for (int j = 0; j < m; j++)
      k->A[row + j * m] += c * (D[r][0] * W[3 * i + 1 + j * m] + D[r][1] * W[3 * i + 2 + j * m]);
    for (int q = 0; q < 2; q++) k->A[row + (3 * i + 1 + q) * m] += s * ((r == q) - c * D[r][q]);
    k->A[row + 3 * i * m] -= s * mu * e[r];
    k->z[row] = -s * (P[1 + r] - mu * P[0] * e[r]);
  }
}

static void put_contact(carom_friction_work *k, int m, int i, const double *W, double mu, double s) {
  const double *P = k->P + 3 * i, *v = k->v + 3 * i;
  double y[2] = {P[1] - v[1] / s, P[2] - v[2] / s}, size = length(y[0], y[1]);
  bool open = !(P[0] - v[0] / s > 0), sticks = !open && size <= mu * P[0];
  for (int r = 0; r < 3; r++) {
    int row = 3 * i + r;
    bool velocity = !open && (r == 0 || sticks);
    if (velocity) put_row(k->A, m, row, W, 1), k->A[row + row * m] += 1e-8 * s, k->z[row] = -v[r];
    if (open) k->A[row + row * m] = s, k->z[row] = -s * P[r];
  }
  if (!open && !sticks) put_sliding(k, m, i, W, mu, s, y, size);
}

// Do impulses and velocities obey the laws, in the modes that were assumed?
static bool agrees(const carom_friction_work *k, int n, const double *mu, double tiny_v, double tiny_P) {
  for (int i = 0; i < n; i++) {
    const double *P = k->P + 3 * i, *v = k->v + 3 * i;
    double t = length(P[1], P[2]), slip = length(v[1], v[2]);
    if (P[0] < 0 || v[0] < -tiny_v || (P[0] > tiny_P && v[0] > tiny_v)) return false;
    if (t > mu[i] * P[0] * (1 + 1e-12)) return false;
    if (P[0] == 0 || slip <= tiny_v || mu[i] == 0) continue;
    if (t < mu[i] * P[0] * (1 - 1e-9)) return false;
    if (P[1] * v[1] + P[2] * v[2] > fmax(1e-9 * slip, tiny_v) * t - t * slip) return false;
  }
  return true;
}

// Newton's method on F from P, which must be close; P and v are replaced on success only. Redundant contacts make the
// matrix singular: a small diagonal takes care of that and slows the convergence but little.
static bool polish(carom_friction_work *k, int n, const double *W, const double *b, const double *mu, double tiny,
                   double *P, double *v) {
  int m = 3 * n;
  double s = 0;
  for (int i = 0; i < m; i++) s = fmax(s, W[i + i * m]);
  memcpy(k->P, P, (size_t)m * sizeof *P);
  memcpy(k->v, v, (size_t)m * sizeof *v);
  for (int round = 0; round < MAX_POLISH; round++) {
    memset(k->A, 0, (size_t)m * (size_t)m * sizeof *k->A);
    for (int i = 0; i < n; i++) put_contact(k, m, i, W, mu[i], s);
    if (carom_small_lu(m, k->A, m, k->pivot) != CAROM_OK) return false;
    carom_small_lu_solve(m, k->A, m, k->pivot, k->z);
    for (int i = 0; i < m; i++) k->P[i] += k->z[i];
    for (int i = 0; i < n; i++)
      if (k->P[3 * i] <= 0) k->P[3 * i] = k->P[3 * i + 1] = k->P[3 * i + 2] = 0;
    evaluate(m, W, b, k->P, k->v);
    if (!agrees(k, n, mu, tiny, tiny / s)) continue;
    memcpy(P, k->P, (size_t)m * sizeof *P);
    memcpy(v, k->v, (size_t)m * sizeof *v);
    return true;
  }
  return false;
}

// Weighted least norm: impulses z of closed contacts with W z = -b and the least sum of |P_i|^2 / N_i, which loads
// every contact in proportion to its pressure N, so that none leaves its cone while another has room. Proximal rounds
// from 0.
static bool solve_sticking(carom_friction_work *k, int m, int count, const double *W, const double *b,
                           const double *pressure) {
  double steep = 0, most = 0;
  for (int c = 0; c < count; c++) {
    steep = fmax(steep, W[k->index[c] + k->index[c] * m]);
    most = fmax(most, pressure[k->index[c] - k->index[c] % 3]);
  }
  for (int c = 0; c < count; c++) {
    double share = pressure[k->index[c] - k->index[c] % 3] / most;
    for (int r = 0; r < count; r++) k->A[r + c * count] = W[k->index[r] + k->index[c] * m];
    k->last[c] = 1e-5 * steep / fmax(share, 1e-4);  // the proximal term
    k->A[c + c * count] += k->last[c];
    k->z[c] = 0;
  }
  if (!(most > 0) || carom_small_cholesky(count, k->A, count) != CAROM_OK) return false;
  for (int round = 0; round < MAX_POLISH; round++) {
    for (int c = 0; c < count; c++) k->z[c] = k->last[c] * k->z[c] - b[k->index[c]];
    carom_small_cholesky_solve(count, k->A, count, k->z);
  }
  memset(k->P, 0, (size_t)m * sizeof *k->P);
  for (int c = 0; c < count; c++) k->P[k->index[c]] = k->z[c];
  return true;
}

// Do all contacts that press stick? Most of those that last do.
static bool try_sticking(carom_friction_work *k, int n, const double *W, const double *b, const double *mu, double tiny,
                         double *P, double *v) {
  int m = 3 * n, count = 0;
  double steep = 0;
  for (int i = 0; i < m; i++) steep = fmax(steep, W[i + i * m]);
  for (int i = 0; i < m; i++)
    if (P[i - i % 3] > 0 && W[i + i * m] > 0) k->index[count++] = i;
  if (count == 0) return false;
  memcpy(k->P, P, (size_t)m * sizeof *P);
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < m; i++) k->rhs[i] = fmax(k->P[i], 0);
    if (!solve_sticking(k, m, count, W, b, k->rhs)) return false;
    evaluate(m, W, b, k->P, k->v);
    if (!agrees(k, n, mu, 4 * tiny, tiny / steep)) continue;
    memcpy(P, k->P, (size_t)m * sizeof *P);
    memcpy(v, k->v, (size_t)m * sizeof *v);
    return true;
  }
  return false;
}

// ---- the solver --------------------------------------------------------------------------------------------------

static double size_of(int m, const double *b) {
  double size = 0;
  for (int i = 0; i < m; i++) size = fmax(size, fabs(b[i]));
  return size;
}

static bool solve_quickly(carom_friction_work *k, int n, const double *W, const double *b, const double *mu,
                          double tiny, double size, double *P, double *v, carom_friction_info *info) {
  int m = 3 * n;
  double least = INFINITY;
  for (int block = 0, stalled = 0; block < MAX_BLOCKS && stalled < MAX_STALLED; block++) {
    double change = 0;
    for (int sweep = 0; sweep < BLOCK; sweep++) {
      change = 0;
      for (int i = 0; i < n; i++) change = fmax(change, sweep_contact(m, W, i, mu[i], P, v));
      info->sweeps++;
      if (change <= 1e-6 * size) break;
    }
    evaluate(m, W, b, P, v);
    info->change = change / size;
    if (change <= tiny) return true;
    if (polish(k, n, W, b, mu, tiny, P, v)) {
      info->change = 0;
      return true;
    }
    stalled = change > 0.5 * least ? stalled + 1 : 0;
    least = fmin(least, change);
  }
  return false;
}

carom_friction_info carom_friction_solve(carom_friction_work *work, int n, const double *W, const double *b,
                                         const double *mu, double noise, double *P, double *v) {
  carom_friction_info info = {.converged = true};
  int m = 3 * n;
  double size = size_of(m, b);
  if (size == 0) memset(P, 0, (size_t)m * sizeof *P);
  evaluate(m, W, b, P, v);
  if (size == 0) return info;
  double tiny = fmax(CONVERGED * size, noise);
  if (n > 1 && try_sticking(work, n, W, b, mu, tiny, P, v)) return info;
  if (n > 1 && solve_quickly(work, n, W, b, mu, tiny, size, P, v, &info)) return info;
  for (int sweep = 1; sweep <= MAX_SWEEPS; sweep++) {
    double change = 0, part = sweep > CYCLING ? 0.3 : 1;  // large friction can make whole steps go in circles
    bool possible = true;
    for (int i = 0; i < n; i++) change = fmax(change, relax(m, W, i, mu[i], part, P, v, &possible));
    info.sweeps++;
    info.change = n > 1 ? change / size : 0;  // one contact is exact at once
    info.converged = possible && (change <= tiny || n == 1);
    if (info.converged || n == 1) break;
    if (sweep % 50 == 0) evaluate(m, W, b, P, v);  // sheds the round-off of many small updates
  }
  evaluate(m, W, b, P, v);
  return info;
}
