// How long explicit steps may be.
//
// Newmark's method with beta = 0 and velocities v + h a for damping multiplies a mode of angular frequency w, with K
// and C = tau K, by the roots of  z^3 + (s - 2 + 3d/2) z^2 + (1 - 2d) z + d/2,  s = (h w)^2, d = h tau w^2, which lie
// in the unit circle while  s + 4 d < 4  (docs/solids.md): h < 2 sqrt(tau^2 + 1/w^2) - 2 tau.
#include <string.h>

#include "solid/stepper.h"

enum { MOST_PRODUCTS = 300, LEAST_PRODUCTS = 12 };

static const double CLOSE = 1e-3;  // of the largest eigenvalue, relative

// Without cancellation where damping is strong.
static double stable_step(double w2, double tau) {
  return w2 > 0 ? 2 / (w2 * (tau + sqrt(tau * tau + 1 / w2))) : (double)INFINITY;
}

// ---- Lanczos' method ------------------------------------------------------------------------------------------------
// On M^-1/2 K M^-1/2 without keeping its vectors: what their loss of orthogonality brings are copies of eigenvalues,
// and only the largest is asked for.

typedef struct tridiagonal {
  int n;
  double alpha[MOST_PRODUCTS], beta[MOST_PRODUCTS + 1];  // beta[k] couples k - 1 and k
} tridiagonal;

// How many eigenvalues are above x: signs of the pivots of x - T.
static int count_above(const tridiagonal *T, double x) {
  int count = 0;
  double pivot = 1;
  for (int k = 0; k < T->n; k++) {
    pivot = x - T->alpha[k] - (k > 0 ? T->beta[k] * T->beta[k] / pivot : 0);
    if (pivot == 0) pivot = 1e-300;
    count += pivot < 0;
  }
  return count;
}

static double largest_eigenvalue(const tridiagonal *T) {
  double low = T->alpha[0], high = 0;
  for (int k = 0; k < T->n; k++) high = fmax(high, T->alpha[k] + T->beta[k] + (k + 1 < T->n ? T->beta[k + 1] : 0));
  for (int i = 0; i < 60 && high - low > 1e-12 * high; i++) {
    double middle = 0.5 * (low + high);
    *(count_above(T, middle) > 0 ? &low : &high) = middle;
  }
  return high;
}

// The last component of its unit eigenvector, times the coupling to what comes next: how far from an eigenvalue of the
// whole matrix it may be.
static double distance(const tridiagonal *T, double eigenvalue) {
  double before = 0, here = 1, size2 = 1;
  for (int k = 0; k + 1 < T->n; k++) {
    double next = ((eigenvalue - T->alpha[k]) * here - (k > 0 ? T->beta[k] * before : 0)) / T->beta[k + 1];
    before = here, here = next, size2 += next * next;
    if (size2 > 1e200) before *= 1e-100, here *= 1e-100, size2 *= 1e-200;
  }
  return T->beta[T->n] * fabs(here) / sqrt(size2);
}

static void random_start(const carom_elastic *e, carom_vec3 *q) {
  carom_random random = carom_random_make(1, 0);
  double size2 = 0;
  for (int i = 0; i < e->node_count; i++) {
    q[i].x = carom_random_normal(&random), q[i].y = carom_random_normal(&random), q[i].z = carom_random_normal(&random);
    size2 += cm_norm2(q[i]);
  }
  for (int i = 0; i < e->node_count; i++) q[i] = cm_scale(1 / sqrt(size2), q[i]);
}

// w = M^-1/2 K M^-1/2 q
static void scaled_product(carom_elastic_stepper *s, const carom_vec3 *x, const carom_vec3 *q, carom_vec3 *w) {
  carom_elastic *e = s->elastic;
  for (int i = 0; i < e->node_count; i++) s->rate[i] = cm_scale(1 / sqrt(e->mass[i]), q[i]);
  carom_elastic_stiffness_times(e, x, s->rate, w);
  for (int i = 0; i < e->node_count; i++) w[i] = cm_scale(1 / sqrt(e->mass[i]), w[i]);
}

// An upper estimate of the largest eigenvalue, within CLOSE.
static double largest_frequency2(carom_elastic_stepper *s, const carom_vec3 *x, int *products) {
  int n = s->elastic->node_count;
  tridiagonal T = {.n = 0};
  carom_vec3 *before = s->trial, *q = s->direction, *w = s->f;
  memset(before, 0, (size_t)n * sizeof *before);
  random_start(s->elastic, q);
  double estimate = 0;
  while (T.n < MOST_PRODUCTS && T.n < 3 * n) {
    int k = T.n++;
    scaled_product(s, x, q, w);
    T.alpha[k] = carom_solid_dot(n, q, w);
    for (int i = 0; i < n; i++) w[i] = cm_axpy(cm_axpy(w[i], -T.alpha[k], q[i]), -T.beta[k], before[i]);
    T.beta[T.n] = sqrt(carom_solid_dot(n, w, w));
    double largest = largest_eigenvalue(&T), off = distance(&T, largest);
    estimate = largest + off;
    if ((T.n >= LEAST_PRODUCTS && off <= CLOSE * largest) || T.beta[T.n] <= 1e-12 * largest) break;
    for (int i = 0; i < n; i++) {
      before[i] = q[i];
      q[i] = cm_scale(1 / T.beta[T.n], w[i]);
    }
  }
  *products = T.n;
  return estimate;
}

// ---- the two answers ------------------------------------------------------------------------------------------------

void carom_elastic_critical_step(carom_elastic_stepper *s, const carom_vec3 *x, carom_elastic_limit *limit) {
  carom_elastic *e = s->elastic;
  s->known = false;  // its scratch is used
  carom_solid_sum sum = carom_solid_evaluate(e, x, NULL, false);
  double w2 = largest_frequency2(s, x, &limit->products);
  limit->bound = stable_step(sum.stiffest, e->most_damping);
  limit->tet = sum.stiffest_tet;
  limit->sharp = fmax(limit->bound, stable_step(w2, e->most_damping));
  limit->frequency = sqrt(fmin(w2, sum.stiffest));
}

// The largest eigenvalue now: as at rest, times the square of what the bound has grown by, but no more than the bound.
// (By the growth itself it would be if what the bound overstates stayed the same.)
double carom_solid_stable_step(const carom_elastic_stepper *s) {
  double growth = fmax(1, s->now2 / s->stiff2);
  double w2 = fmin(fmax(s->now2, s->sharp2), s->sharp2 * growth * growth), faster = w2 / s->sharp2;
  if (s->options.rest_step > 0) return s->options.rest_step / (s->elastic->damped ? faster : sqrt(faster));
  return stable_step(w2, s->elastic->most_damping);
}
