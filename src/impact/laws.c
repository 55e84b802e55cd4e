// The laws along the normals. Each takes the velocities u before the impact and gives impulses P >= 0.
#include <float.h>
#include <math.h>
#include <string.h>

#include "impact/work.h"

enum { MAX_REFLECTIONS = 1000000, MAX_PASSES = 100, MAX_SUMS = 2000 };

// An approach this slow, relative to the fastest before the impact, has ended.
static const double ENDED = 1e-13;

void carom_impact_add_product(int n, const double *A, const double *x, double *v) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n && x[j] != 0; i++) v[i] += A[i + j * n] * x[j];
}

bool carom_impact_compress(carom_impact_work *k, int n, const double *N, const double *b, double *P) {
  for (int i = 0; i < n; i++) {  // powers of two, which cost no digits
    int exponent = 0;
    if (N[i + i * n] > 0) frexp(N[i + i * n], &exponent);
    k->unit[i] = ldexp(1, -exponent / 2);
  }
  for (int j = 0; j < n; j++) {
    k->even_b[j] = k->unit[j] * b[j];
    for (int i = 0; i < n; i++) k->even_N[i + j * n] = k->unit[i] * k->unit[j] * N[i + j * n];
  }
  bool solved = carom_normal_solve(&k->friction, n, k->even_N, k->even_b, P);
  for (int i = 0; i < n; i++) P[i] *= k->unit[i];
  return solved;
}

static double fastest(int n, const double *u) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(u[i]));
  return most;
}

// Lists the contacts that approach.
static int list_approaching(carom_impact_work *k, int n, double threshold) {
  int m = 0;
  for (int i = 0; i < n; i++)
    if (k->now[i] < -threshold) k->list[m++] = i;
  return m;
}

static void begin(carom_impact_work *k, int n) {
  memset(k->law, 0, (size_t)n * sizeof *k->law);
  memcpy(k->now, k->u, (size_t)n * sizeof *k->now);
}

// Adds the impulse P at contact i.
static void push(carom_impact_work *k, int n, int i, double P) {
  k->law[i] += P;
  for (int j = 0; j < n; j++) k->now[j] += P * k->N[j + i * n];
}

// The plastic impulses of the listed contacts alone, in sub_P.
static bool compress(carom_impact_work *k, int n, int m) {
  for (int c = 0; c < m; c++) {
    k->sub_b[c] = k->now[k->list[c]];
    for (int r = 0; r < m; r++) k->sub_N[r + c * m] = k->N[k->list[r] + k->list[c] * n];
  }
  return carom_impact_compress(k, m, k->sub_N, k->sub_b, k->sub_P);
}

// Generalised reflections (Smith, Kaufman, Vouga, Tamstorf and Grinspun 2012, section 5): as long as contacts approach,
// reflect the velocity about the plastic one of just those. With P the plastic impulses and u + W P their velocities,
// P'(u + W P) = 0, so that twice P keeps the energy: (2P)'u + (2P)'W(2P)/2 = 2 P'(u + W P) = 0. With `all`, about that
// of all contacts: the laws of Newton and of Poisson with e = 1, made again where contacts that parted approach by it
// (and after many times by the former).
bool carom_impact_reflect(carom_impact_work *k, int n, bool all, int *iterations) {
  double threshold = ENDED * fastest(n, k->u);
  begin(k, n);
  for (*iterations = 0; *iterations < MAX_REFLECTIONS; ++*iterations) {
    int m = list_approaching(k, n, threshold);
    if (m == 0) return true;
    if (all && *iterations < MAX_PASSES)
      for (m = 0; m < n; m++) k->list[m] = m;
    if (!compress(k, n, m)) return false;
    for (int c = 0; c < m; c++) push(k, n, k->list[c], 2 * k->sub_P[c]);
  }
  return false;
}

// One impulse for all contacts along the sum of their gradients (Johnson 2012, 3.5.4.2, "Multiple Collisions"): g = sum
// of g_i, u_s = sum of u_i, P = -(1 + e) u_s / (1'N 1). Contacts that still approach are reflected again. Of different
// restitutions the smallest holds for the group.
bool carom_impact_sum(carom_impact_work *k, int n, const double *e, int *iterations) {
  double threshold = ENDED * fastest(n, k->u);
  begin(k, n);
  for (*iterations = 0; *iterations < MAX_SUMS; ++*iterations) {
    int m = list_approaching(k, n, threshold);
    if (m == 0) return true;
    double us = 0, Ns = 0, least = 1;
    for (int c = 0; c < m; c++) {
      us += k->now[k->list[c]];
      least = fmin(least, e[k->list[c]]);
      for (int r = 0; r < m; r++) Ns += k->N[k->list[r] + k->list[c] * n];
    }
    if (!(Ns > 0)) return false;
    for (int c = 0; c < m; c++) push(k, n, k->list[c], -(1 + least) * us / Ns);
  }
  return false;
}

// 0 <= P  _|_  u+ + e u- >= 0 (Moreau 1988): an approaching contact parts with e times its speed, or faster.
bool carom_impact_newton(carom_impact_work *k, int n, const double *e, int *iterations) {
  *iterations = 1;
  for (int i = 0; i < n; i++) k->now[i] = (1 + e[i]) * k->u[i];
  return carom_impact_compress(k, n, k->N, k->now, k->law);
}

// Compression to rest, then decompression with at least e times the impulse of compression: 0 <= P - e P_c  _|_  u+ >=
// 0 (Pfeiffer and Glocker 1996, 8.3).
bool carom_impact_poisson(carom_impact_work *k, int n, const double *e, int *iterations) {
  *iterations = 2;
  for (int i = 0; i < n; i++) k->sub_b[i] = (1 + e[i]) * k->plastic[i];
  memcpy(k->now, k->u, (size_t)n * sizeof *k->now);
  carom_impact_add_product(n, k->N, k->sub_b, k->now);
  if (!carom_impact_compress(k, n, k->N, k->now, k->law)) return false;
  for (int i = 0; i < n; i++) k->law[i] += k->sub_b[i];
  return true;
}
