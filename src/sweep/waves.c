// Plans that begin from the answers of others: in which order, and from which.
#include <math.h>
#include <stdlib.h>

#include "sweep/program.h"

// How many steps along the axes a case of a grid is away from its middle.
static int steps_from_middle(const carom_sampling *s, int64_t number) {
  int64_t steps = 0;
  for (int i = s->axis_count - 1; i >= 0; i--) {
    int64_t n = s->axes[i].count;
    steps += llabs(number % n - (n - 1) / 2);
    number /= n;
  }
  return (int)steps;
}

int carom_sweep_wave(const carom_sweep *sweep, int64_t number) {
  if (sweep->sampling.design == CAROM_DESIGN_GRID) return steps_from_middle(&sweep->sampling, number);
  int wave = 0;
  for (; number > 0; number /= 2) wave++;
  return wave;
}

// ---- the nearest ----------------------------------------------------------------------------------------------------

static double along(const carom_axis *a, double value) {
  if (a->to == a->from) return 0;
  return a->logarithmic ? log(value / a->from) / log(a->to / a->from) : (value - a->from) / (a->to - a->from);
}

double carom_cases_distance(const carom_cases *cases, const carom_sweep *sweep, int64_t a, int64_t b) {
  const double *x = cases->values + a * cases->column_count, *y = cases->values + b * cases->column_count;
  double sum = 0;
  for (int i = 0; i < sweep->sampling.axis_count; i++) {
    double d = along(&sweep->axes[i], x[i]) - along(&sweep->axes[i], y[i]);
    sum += d * d;
  }
  return sum;
}

static bool is_solved(const carom_cases *cases, const carom_sweep *sweep, int64_t number) {
  int class_index = cases->classes[number];
  return (class_index >= 0 && class_index < sweep->program->formula_count) || class_index == sweep->class_count - 2;
}

int64_t carom_cases_neighbour(const carom_cases *cases, const carom_sweep *sweep, int64_t number, int64_t before) {
  int64_t found = -1, end = before >= 0 && before < cases->count ? before : cases->count;
  int wave = before >= 0 ? 0 : carom_sweep_wave(sweep, number);
  double least = INFINITY;
  for (int64_t i = 0; i < end; i++) {
    if (!is_solved(cases, sweep, i) || (before < 0 && carom_sweep_wave(sweep, i) >= wave)) continue;
    double d = carom_cases_distance(cases, sweep, i, number);
    if (d < least) least = d, found = i;
  }
  return found;
}
