// The surrogate of what a search was told: kriging through the values, scaled to mean 0 and deviation 1; in one
// variable a spline as well. Samples that failed are in neither: they lower the chance of success around them instead,
// since a wall of made-up values would spoil the lengths of a smooth function.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/surrogate.h"

double carom_search_least(const carom_search *s) {
  double least = INFINITY;
  for (int i = 0; i < s->count; i++)
    if (s->state[i] == CAROM_SAMPLE_GOOD) least = fmin(least, s->value[i]);
  return least;
}

double carom_search_spread(const carom_search *s) {
  double least = INFINITY, most = -INFINITY;
  for (int i = 0; i < s->count; i++)
    if (s->state[i] == CAROM_SAMPLE_GOOD) least = fmin(least, s->value[i]), most = fmax(most, s->value[i]);
  return most >= least ? most - least : 0;
}

double carom_search_apart(const carom_search *s, const double *u) {
  double apart = INFINITY;
  for (int k = 0; k < s->count; k++) {
    double largest = 0;
    for (int i = 0; i < s->region.d; i++) largest = fmax(largest, fabs(u[i] - s->u[k * s->region.d + i]));
    apart = fmin(apart, largest);
  }
  return apart;
}

// Two opinions in one: the nearest decide (weights 1/distance^4, after Shepard 1968), and where many failed around, one
// more that did not is not believed.
double carom_search_chance(const carom_search *s, const double *u) {
  const double around = 0.1;
  double near[2] = {0}, about[2] = {1, 0};  // good, bad
  int d = s->region.d;
  for (int k = 0; k < s->count; k++) {
    double dd = 0;
    if (s->state[k] == CAROM_SAMPLE_ASKED) continue;
    for (int i = 0; i < d; i++) dd += (u[i] - s->u[k * d + i]) * (u[i] - s->u[k * d + i]);
    near[s->state[k] == CAROM_SAMPLE_FAILED] += 1 / (dd * dd + 1e-40);
    about[s->state[k] == CAROM_SAMPLE_FAILED] += exp(-dd / (2 * d * around * around));
  }
  if (!(near[0] > 0 && near[1] > 0)) return 1;  // where none came to a value, anywhere is as good
  return near[0] / (near[0] + near[1]) * about[0] / (about[0] + about[1]);
}

// From so many times the distance from the least value to the median on, values are drawn in.
#define KNEE 3.0

// ---- kriging --------------------------------------------------------------------------------------------------------

static void put(carom_search *s, int k, double value) {
  int d = s->region.d;
  memcpy(s->fit_u + s->fitted * d, s->u + k * d, (size_t)d * sizeof *s->u);
  s->fit_y[s->fitted++] = carom_search_to_surrogate(s, value);
}

static double draw_in(const carom_search *s, double value) {
  return value <= s->knee ? value : s->knee + s->tail * log1p((value - s->knee) / s->tail);
}

double carom_search_to_surrogate(const carom_search *s, double value) {
  return (draw_in(s, value) - s->shift) / s->unit;
}

double carom_search_from_surrogate(const carom_search *s, double y) {
  double value = s->shift + s->unit * y;
  return value <= s->knee ? value : s->knee + s->tail * expm1((value - s->knee) / s->tail);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Poles, and answers of inner problems that went astray, would spoil the lengths for all others.
static void set_knee(carom_search *s) {
  int n = 0;
  for (int k = 0; k < s->count; k++)
    if (s->state[k] == CAROM_SAMPLE_GOOD) s->fit_y[n++] = s->value[k];
  qsort(s->fit_y, (size_t)n, sizeof *s->fit_y, ascending);
  double half = n > 0 ? s->fit_y[n / 2] - s->fit_y[0] : 0;
  s->tail = KNEE * half;
  s->knee = s->tail > 0 ? s->fit_y[0] + s->tail : INFINITY;
}

static void scale_values(carom_search *s) {
  double sum = 0, squares = 0;
  int n = 0;
  set_knee(s);
  for (int k = 0; k < s->count; k++)
    if (s->state[k] == CAROM_SAMPLE_GOOD) sum += draw_in(s, s->value[k]), n++;
  s->shift = n > 0 ? sum / n : 0;
  for (int k = 0; k < s->count; k++)
    if (s->state[k] == CAROM_SAMPLE_GOOD) squares += pow(draw_in(s, s->value[k]) - s->shift, 2);
  s->unit = n > 1 && squares > 0 ? sqrt(squares / n) : 1;
}

carom_status carom_search_model(carom_search *s) {
  carom_kriging_info known = carom_kriging_describe(s->kriging);
  double least = carom_search_least(s);
  s->fitted = 0;
  scale_values(s);
  for (int k = 0; k < s->count; k++)
    if (s->state[k] == CAROM_SAMPLE_GOOD) put(s, k, s->value[k]);
  int good = s->fitted;
  if (good < 2) return s->fitted = 0, CAROM_OK;
  if (!s->fresh) {
    carom_status status = carom_kriging_samples(s->kriging, good, s->fit_u, s->fit_y, NULL);
    if (status == CAROM_OK) status = carom_kriging_fit(s->kriging, true);
    if (status != CAROM_OK) return s->fitted = 0, status;
    known = carom_kriging_describe(s->kriging);
    s->fresh = true;
  }
  for (int k = 0; k < s->count; k++)
    if (s->state[k] == CAROM_SAMPLE_ASKED) put(s, k, least);
  carom_kriging_samples(s->kriging, s->fitted, s->fit_u, s->fit_y, NULL);
  carom_status status = carom_kriging_set(s->kriging, known.kernel, known.lengths, known.nugget);
  if (status != CAROM_OK) s->fitted = 0;
  return status;
}

// ---- the spline -----------------------------------------------------------------------------------------------------

bool carom_search_spline(carom_search *s) {
  int n = 0;
  for (int k = 0; k < s->count; k++) {
    if (s->state[k] != CAROM_SAMPLE_GOOD) continue;
    int at = n++;
    for (; at > 0 && s->knot_x[at - 1] > s->u[k]; at--)
      s->knot_x[at] = s->knot_x[at - 1], s->knot_y[at] = s->knot_y[at - 1];
    s->knot_x[at] = s->u[k], s->knot_y[at] = s->value[k];
  }
  s->knots = n;
  carom_spline spline = {n, s->knot_x, s->knot_y, s->second};
  return n >= 2 && carom_spline_fit(&spline, CAROM_SPLINE_NOT_A_KNOT, s->work) == CAROM_OK;
}
