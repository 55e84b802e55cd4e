// Universal kriging (Jones, Schonlau and Welch 1998; Rasmussen and Williams 2006, 2.7). With C = R + nugget I = L L'
// and the trend's columns F,
//   b = (F' C^-1 F)^-1 F' C^-1 y,     s^2 = (y - F b)' C^-1 (y - F b)/n,
//   mean(x) = f' b + r' C^-1 (y - F b),
//   var(x)  = s^2 n/(n - p) (1 - r' C^-1 r + u' (F' C^-1 F)^-1 u),   u = f - F' C^-1 r.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "carom/surrogate.h"
#include "math/dense.h"
#include "solve/box_minimum.h"

enum { MOST_TREND = CAROM_KRIGING_MOST_VARIABLES + 1 };

struct carom_kriging {
  int d, most, n, p;                  // variables, room, samples, columns of the trend
  double *x, *y;                      // (most x d), (most)
  double *L;                          // (n x n) of C, lower triangle
  double *inverse;                    // (n x n) C^-1, for slopes of the likelihood
  double *LF;                         // (n x p) L^-1 F
  double *alpha;                      // (n) C^-1 (y - F b)
  double *r;                          // (n) scratch
  double S[MOST_TREND * MOST_TREND];  // (p x p) Cholesky factor of F' C^-1 F
  double half_log_det;
  carom_kriging_info info;
  carom_allocator allocator;
};

// ---- beginning and end ----------------------------------------------------------------------------------------------

carom_status carom_kriging_create(int dimension, int most, carom_trend trend, const carom_allocator *allocator,
                                  carom_kriging **kriging, carom_error *error) {
  *kriging = NULL;
  if (dimension < 1 || dimension > CAROM_KRIGING_MOST_VARIABLES || most < 1)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "kriging is for 1 to %d variables and at least one sample",
                      CAROM_KRIGING_MOST_VARIABLES);
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_kriging *k = CAROM_NEW(&a, carom_kriging, 1);
  if (!k) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for kriging");
  k->d = dimension, k->most = most, k->allocator = a;
  k->p = trend == CAROM_TREND_LINEAR ? dimension + 1 : 1;
  size_t m = (size_t)most;
  if (CAROM_NEW_ALL(&a, CAROM_ROOM(k->x, m * (size_t)dimension), CAROM_ROOM(k->y, m), CAROM_ROOM(k->L, m * m),
                    CAROM_ROOM(k->inverse, m * m), CAROM_ROOM(k->LF, m * (size_t)k->p), CAROM_ROOM(k->alpha, m),
                    CAROM_ROOM(k->r, m))) {
    *kriging = k;
    return CAROM_OK;
  }
  carom_kriging_destroy(k);
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for kriging through %d samples", most);
}

void carom_kriging_destroy(carom_kriging *k) {
  if (!k) return;
  carom_allocator a = k->allocator;
  CAROM_RELEASE_ALL(&a, k->x, k->y, k->L, k->inverse, k->LF, k->alpha, k->r, k);
}

carom_status carom_kriging_samples(carom_kriging *k, int count, const double *points, const double *values,
                                   carom_error *error) {
  if (count < 1 || count > k->most)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "kriging has room for 1 to %d samples, got %d", k->most, count);
  for (int i = 0; i < count * k->d; i++)
    if (!isfinite(points[i])) return carom_fail(error, CAROM_ERR_NUMBER, "sample %d is not finite", i / k->d);
  for (int i = 0; i < count; i++)
    if (!isfinite(values[i])) return carom_fail(error, CAROM_ERR_NUMBER, "the value of sample %d is not finite", i);
  k->n = count;
  memcpy(k->x, points, (size_t)(count * k->d) * sizeof *points);
  memcpy(k->y, values, (size_t)count * sizeof *values);
  return CAROM_OK;
}

// ---- the correlation ------------------------------------------------------------------------------------------------

static double distance2(const carom_kriging *k, const double *a, const double *b) {
  double rr = 0;
  for (int i = 0; i < k->d; i++) {
    double t = (a[i] - b[i]) / k->info.lengths[i];
    rr += t * t;
  }
  return rr;
}

static double correlation(carom_kernel kernel, double rr) {
  if (kernel == CAROM_KERNEL_GAUSS) return exp(-rr / 2);
  double t = sqrt(5 * rr);
  return (1 + t + t * t / 3) * exp(-t);
}

// d correlation / d ln l_i = this times ((x_i - x'_i)/l_i)^2, for both kernels.
static double correlation_slope(carom_kernel kernel, double rr) {
  if (kernel == CAROM_KERNEL_GAUSS) return exp(-rr / 2);
  double t = sqrt(5 * rr);
  return 5.0 / 3 * (1 + t) * exp(-t);
}

static double trend_term(const double *x, int column) { return column == 0 ? 1 : x[column - 1]; }

// b := L^-1 b
static void forward(const carom_kriging *k, double *b) {
  int n = k->n;
  for (int j = 0; j < n; j++) {
    const double *column = k->L + (size_t)j * (size_t)n;
    b[j] /= column[j];
    for (int i = j + 1; i < n; i++) b[i] -= column[i] * b[j];
  }
}

// ---- setting --------------------------------------------------------------------------------------------------------

static carom_status factor(carom_kriging *k) {
  int n = k->n;
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++)
      k->L[i + j * n] = correlation(k->info.kernel, distance2(k, k->x + i * k->d, k->x + j * k->d));
  for (int j = 0; j < n; j++) k->L[j + j * n] += k->info.nugget;
  if (carom_small_cholesky(n, k->L, n) != CAROM_OK) return CAROM_ERR_SINGULAR;
  k->half_log_det = 0;
  for (int j = 0; j < n; j++) k->half_log_det += log(k->L[j + j * n]);
  return CAROM_OK;
}

static double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// b by generalised least squares, over L^-1 F and L^-1 y.
static carom_status fit_trend(carom_kriging *k) {
  int n = k->n, p = k->p;
  memcpy(k->r, k->y, (size_t)n * sizeof *k->r);
  forward(k, k->r);
  for (int c = 0; c < p; c++) {
    for (int i = 0; i < n; i++) k->LF[i + c * n] = trend_term(k->x + i * k->d, c);
    forward(k, k->LF + c * n);
    k->info.trend[c] = dot(k->LF + c * n, k->r, n);
  }
  for (int a = 0; a < p; a++)
    for (int b = 0; b < p; b++) k->S[a + b * p] = dot(k->LF + a * n, k->LF + b * n, n);
  if (carom_small_cholesky(p, k->S, p) != CAROM_OK) return CAROM_ERR_SINGULAR;
  carom_small_cholesky_solve(p, k->S, p, k->info.trend);
  return CAROM_OK;
}

carom_status carom_kriging_set(carom_kriging *k, carom_kernel kernel, const double *lengths, double nugget) {
  k->info.kernel = kernel;
  k->info.nugget = nugget;
  memcpy(k->info.lengths, lengths, (size_t)k->d * sizeof *lengths);
  if (factor(k) != CAROM_OK || fit_trend(k) != CAROM_OK) return CAROM_ERR_SINGULAR;
  for (int i = 0; i < k->n; i++) {
    k->r[i] = k->y[i];
    for (int c = 0; c < k->p; c++) k->r[i] -= k->info.trend[c] * trend_term(k->x + i * k->d, c);
    k->alpha[i] = k->r[i];
  }
  carom_small_cholesky_solve(k->n, k->L, k->n, k->alpha);
  k->info.variance = dot(k->alpha, k->r, k->n) / k->n;
  return CAROM_OK;
}

carom_kriging_info carom_kriging_describe(const carom_kriging *k) { return k->info; }

// ---- the likelihood -------------------------------------------------------------------------------------------------

static void invert(carom_kriging *k) {
  int n = k->n;
  memset(k->inverse, 0, (size_t)n * (size_t)n * sizeof *k->inverse);
  for (int j = 0; j < n; j++) {
    k->inverse[j + j * n] = 1;
    carom_small_cholesky_solve(n, k->L, n, k->inverse + (size_t)j * (size_t)n);
  }
}

// d/dt = sum over a, b of (alpha_a alpha_b/s^2 - C^-1_ab) dC_ab/dt / 2
static void likelihood_slopes(carom_kriging *k, double *slopes) {
  int n = k->n, d = k->d;
  double s2 = k->info.variance;
  invert(k);
  for (int i = 0; i <= d; i++) slopes[i] = 0;
  for (int b = 0; b < n; b++) {
    for (int a = b + 1; a < n; a++) {
      const double *xa = k->x + a * d, *xb = k->x + b * d;
      double weight = (k->alpha[a] * k->alpha[b] / s2 - k->inverse[a + b * n]) *
                      correlation_slope(k->info.kernel, distance2(k, xa, xb));
      for (int i = 0; i < d; i++) {
        double t = (xa[i] - xb[i]) / k->info.lengths[i];
        slopes[i] += weight * t * t;
      }
    }
    slopes[d] += 0.5 * k->info.nugget * (k->alpha[b] * k->alpha[b] / s2 - k->inverse[b + b * n]);
  }
}

double carom_kriging_likelihood(carom_kriging *k, double *slopes) {
  const double ln_2pi = 1.8378770664093453;
  if (slopes) likelihood_slopes(k, slopes);
  return -0.5 * k->n * (ln_2pi + log(k->info.variance) + 1) - k->half_log_det;
}

// ---- fitting --------------------------------------------------------------------------------------------------------
// What little data leave open is decided by a weak prior: ln(length/spread) normal about ln(1/2), and a factor
// nugget^-NUGGET_POWER. docs/design.md tells how the constants were chosen.

#define LENGTH_MEDIAN 0.5
#define LENGTH_DEVIATION 1.0
#define NUGGET_POWER 0.4
#define NUGGET_LEAST 1e-12
#define NUGGET_MOST 1.0

typedef struct fitting {
  carom_kriging *k;
  carom_kernel kernel;
  double spread[CAROM_KRIGING_MOST_VARIABLES];
  bool noisy;
} fitting;

// Over t = ln(length/spread), then ln nugget.
static carom_status set_at(const fitting *f, const double *t) {
  double lengths[CAROM_KRIGING_MOST_VARIABLES];
  for (int i = 0; i < f->k->d; i++) lengths[i] = f->spread[i] * exp(t[i]);
  return carom_kriging_set(f->k, f->kernel, lengths, f->noisy ? exp(t[f->k->d]) : NUGGET_LEAST);
}

static double unlikelihood(void *context, const double *t, double *slopes) {
  fitting *f = context;
  int d = f->k->d;
  double own[CAROM_KRIGING_MOST_VARIABLES + 1];
  if (set_at(f, t) != CAROM_OK || !(f->k->info.variance > 0)) return INFINITY;
  double value = -carom_kriging_likelihood(f->k, own);
  for (int i = 0; i < d; i++) {
    double z = (t[i] - log(LENGTH_MEDIAN)) / LENGTH_DEVIATION;
    value += z * z / 2;
    slopes[i] = z / LENGTH_DEVIATION - own[i];
  }
  if (!f->noisy) return value;
  value += NUGGET_POWER * (t[d] - log(NUGGET_LEAST));
  slopes[d] = NUGGET_POWER - own[d];
  return value;
}

static void measure_spread(fitting *f) {
  const carom_kriging *k = f->k;
  for (int i = 0; i < k->d; i++) {
    double low = INFINITY, high = -INFINITY;
    for (int a = 0; a < k->n; a++) low = fmin(low, k->x[a * k->d + i]), high = fmax(high, k->x[a * k->d + i]);
    f->spread[i] = high > low ? high - low : 1;
  }
}

carom_status carom_kriging_fit(carom_kriging *k, bool noisy) {
  static const double starts[][2] = {{0.3, 1e-8}, {1.2, 1e-8}, {0.3, 1e-2}};
  fitting f = {.k = k, .noisy = noisy};
  double low[CAROM_BOX_MOST], high[CAROM_BOX_MOST], t[CAROM_BOX_MOST], best_t[CAROM_BOX_MOST], best = INFINITY;
  int d = k->d;
  carom_kernel best_kernel = CAROM_KERNEL_MATERN;
  measure_spread(&f);
  for (int i = 0; i < d; i++) low[i] = log(0.01), high[i] = log(20), best_t[i] = log(LENGTH_MEDIAN);
  low[d] = log(NUGGET_LEAST), high[d] = log(NUGGET_MOST), best_t[d] = low[d];
  const carom_box box = {d + noisy, low, high, unlikelihood, &f, 60, 1e-4};
  for (int kernel = 0; kernel < 2; kernel++)
    for (int s = 0; s < (noisy ? 3 : 2); s++) {
      f.kernel = (carom_kernel)kernel;
      for (int i = 0; i < d; i++) t[i] = log(starts[s][0]);
      t[d] = log(starts[s][1]);
      double value = carom_box_minimum(&box, t);
      if (!(value < best)) continue;
      best = value, best_kernel = f.kernel;
      memcpy(best_t, t, sizeof t);
    }
  f.kernel = best_kernel;
  return set_at(&f, best_t);
}

// ---- prediction -----------------------------------------------------------------------------------------------------

void carom_kriging_predict(carom_kriging *k, const double *point, double *mean, double *deviation) {
  int n = k->n, p = k->p;
  double u[MOST_TREND], v[MOST_TREND], m = 0;
  for (int i = 0; i < n; i++) {
    k->r[i] = correlation(k->info.kernel, distance2(k, point, k->x + i * k->d));
    m += k->r[i] * k->alpha[i];
  }
  forward(k, k->r);
  double variance = 1 - dot(k->r, k->r, n);
  for (int c = 0; c < p; c++) {
    m += k->info.trend[c] * trend_term(point, c);
    v[c] = u[c] = trend_term(point, c) - dot(k->LF + c * n, k->r, n);
  }
  carom_small_cholesky_solve(p, k->S, p, v);
  variance += dot(u, v, p);
  double scale = k->info.variance * n / (n > p ? n - p : 1);
  *mean = m;
  *deviation = variance > 0 ? sqrt(scale * variance) : 0;
}

// With z = (best - mean)/deviation the improvement is deviation (phi(z) + z Phi(z)). Far below zero both terms cancel;
// there Mills' ratio M(t) = Phi(-t)/phi(t) by its continued fraction gives phi (1 - t M(t)).
static double log_tail(double t) {
  double below = t;
  for (int k = 60; k >= 2; k--) below = t + k / below;  // 1/M(t) = t + 1/(t + 2/(t + 3/(t + ...)))
  double rest = 1 / below;
  return log(rest / (t + rest)) - t * t / 2 - 0.9189385332046727;
}

double carom_log_improvement(double mean, double deviation, double best) {
  if (!(deviation > 0)) return mean < best ? log(best - mean) : -INFINITY;
  double z = (best - mean) / deviation;
  if (z < -3) return log(deviation) + log_tail(-z);
  double phi = exp(-z * z / 2 - 0.9189385332046727), Phi = 0.5 * erfc(-z * 0.70710678118654752);
  return log(deviation) + log(phi + z * Phi);
}
