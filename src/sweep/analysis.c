// What the table of a sweep tells: rates, curves over one axis, slopes, shares of variance.
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "carom/sweep.h"

int64_t carom_cases_count(const carom_cases *cases, const carom_sweep *sweep, int64_t *counts) {
  int64_t run = 0;
  for (int i = 0; i < sweep->class_count; i++) counts[i] = 0;
  for (int64_t i = 0; i < cases->count; i++) {
    if (cases->classes[i] < 0) continue;
    counts[cases->classes[i]]++;
    run++;
  }
  return run;
}

// ---- curves ---------------------------------------------------------------------------------------------------------

static bool has_points(const carom_sweep *sweep, int axis) {
  return sweep->axes[axis].values || sweep->sampling.design == CAROM_DESIGN_GRID;
}

int carom_curve_size(const carom_sweep *sweep, int axis) {
  return has_points(sweep, axis) ? sweep->axes[axis].count : CAROM_CURVE_BINS;
}

// How far along the axis a value is, from 0 to 1.
static double share(const carom_axis *a, double value) {
  if (a->logarithmic) return log(value / a->from) / log(a->to / a->from);
  return a->to > a->from ? (value - a->from) / (a->to - a->from) : 0;
}

static int nearest_value(const carom_axis *a, double value) {
  int best = 0;
  for (int i = 1; i < a->count; i++)
    if (fabs(a->values[i] - value) < fabs(a->values[best] - value)) best = i;
  return best;
}

static int bin_of(const carom_sweep *sweep, int axis, double value, int bins) {
  const carom_axis *a = &sweep->axes[axis];
  if (a->values) return nearest_value(a, value);
  double u = share(a, value);
  int bin = (int)floor(has_points(sweep, axis) ? u * (bins - 1) + 0.5 : u * bins);
  return bin < 0 ? 0 : bin < bins ? bin : bins - 1;
}

static double bin_middle(const carom_sweep *sweep, int axis, int bin, int bins) {
  const carom_axis *a = &sweep->axes[axis];
  if (a->values) return a->values[bin];
  return carom_axis_value(a, has_points(sweep, axis) ? (bins > 1 ? bin / (bins - 1.0) : 0) : (bin + 0.5) / bins);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// The values of a column in the bin of each point, one bin after the other, by its own room.
static void fill_bands(const carom_cases *cases, const carom_sweep *sweep, int axis, int column,
                       carom_curve_point *points, double *sorted) {
  int bins = carom_curve_size(sweep, axis);
  for (int bin = 0; bin < bins; bin++) {
    int64_t n = 0;
    for (int64_t i = 0; i < cases->count; i++) {
      const double *values = cases->values + (size_t)i * (size_t)cases->column_count;
      if (cases->classes[i] < 0 || bin_of(sweep, axis, values[axis], bins) != bin) continue;
      if (column >= 0 && isfinite(values[column])) sorted[n++] = values[column];
    }
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    points[bin].low = carom_quantile(sorted, n, 0.1);
    points[bin].median = carom_quantile(sorted, n, 0.5);
    points[bin].high = carom_quantile(sorted, n, 0.9);
  }
}

static void count_hits(const carom_cases *cases, const carom_sweep *sweep, int axis, int class_index,
                       carom_curve_point *points) {
  int bins = carom_curve_size(sweep, axis);
  for (int i = 0; i < bins; i++) points[i] = (carom_curve_point){.at = bin_middle(sweep, axis, i, bins)};
  for (int64_t i = 0; i < cases->count; i++) {
    if (cases->classes[i] < 0) continue;
    carom_curve_point *p =
        &points[bin_of(sweep, axis, cases->values[(size_t)i * (size_t)cases->column_count + (size_t)axis], bins)];
    p->trials++;
    p->hits += cases->classes[i] == class_index;
  }
  for (int i = 0; i < bins; i++) points[i].interval = carom_wilson(points[i].hits, points[i].trials, CAROM_Z95);
}

carom_status carom_cases_curve(const carom_cases *cases, const carom_sweep *sweep, int axis, int class_index,
                               int column, carom_curve_point *points) {
  double *sorted = CAROM_NEW(&cases->allocator, double, cases->count + 1);
  if (!sorted) return CAROM_ERR_MEMORY;
  count_hits(cases, sweep, axis, class_index, points);
  fill_bands(cases, sweep, axis, column, points, sorted);
  carom_release(&cases->allocator, sorted);
  return CAROM_OK;
}

// ---- slopes and shares ----------------------------------------------------------------------------------------------

// A column of a case, or whether it was a success; NaN where it was not run or failed.
static double output(const carom_cases *cases, const carom_sweep *sweep, int column, int64_t number) {
  int class_index = number < cases->count ? cases->classes[number] : -1;
  if (class_index < 0 || class_index == sweep->class_count - 1) return NAN;
  if (column < 0) return class_index == sweep->success;
  return cases->values[(size_t)number * (size_t)cases->column_count + (size_t)column];
}

void carom_cases_slopes(const carom_cases *cases, const carom_sweep *sweep, int column, double *slopes) {
  for (int i = 0; i < sweep->sampling.axis_count; i++) {
    int64_t below = 2 * i + 1, above = 2 * i + 2;
    slopes[i] = NAN;
    if (above >= cases->count) continue;
    double x[2] = {carom_cases_get(cases, below).values[i], carom_cases_get(cases, above).values[i]};
    slopes[i] = (output(cases, sweep, column, above) - output(cases, sweep, column, below)) / (x[1] - x[0]);
  }
}

carom_status carom_cases_sobol(const carom_cases *cases, const carom_sweep *sweep, int column,
                               carom_sobol_index *indices, int64_t *used) {
  int axes = sweep->sampling.axis_count;
  double *outputs = CAROM_NEW(&cases->allocator, double, cases->count + 1);
  if (!outputs) return CAROM_ERR_MEMORY;
  for (int64_t i = 0; i < cases->count; i++) outputs[i] = output(cases, sweep, column, i);
  carom_status status = carom_sobol(outputs, cases->count / (axes + 2), axes, sweep->sampling.seed, indices, used);
  carom_release(&cases->allocator, outputs);
  return status;
}
