// Quantiles and Sobol indices of numbers that are there already; docs/sweep.md derives them.
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "carom/sweep.h"

double carom_quantile(const double *sorted, int64_t count, double q) {
  if (count <= 0) return NAN;
  double at = q * (double)(count - 1);
  int64_t i = (int64_t)floor(at);
  if (i >= count - 1) return sorted[count - 1];
  return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

// ---- Sobol indices --------------------------------------------------------------------------------------------------

enum { RESAMPLES = 400, MOST = CAROM_MOST_SOBOL_AXES };

typedef struct sums {
  double y, yy;                     // over A and B
  double first[MOST], total[MOST];  // of squared differences
} sums;

static void add_row(const double *row, int axes, double centre, sums *s) {
  double a = row[0] - centre, b = row[1] - centre;
  s->y += a + b;
  s->yy += a * a + b * b;
  for (int i = 0; i < axes; i++) {
    double m = row[2 + i] - centre;
    s->first[i] += (b - m) * (b - m);
    s->total[i] += (a - m) * (a - m);
  }
}

// Jansen (1999), as in Saltelli et al. (2010), table 2, (b) and (f): with V the variance,
//   S_i = 1 - sum (f(B) - f(A_B^i))^2 / (2 N V),   T_i = sum (f(A) - f(A_B^i))^2 / (2 N V).
static void estimate(const sums *s, int axes, double n, double *first, double *total) {
  double mean = s->y / (2 * n), variance = s->yy / (2 * n) - mean * mean;
  bool varies = variance > 1e-14 * s->yy / (2 * n);
  for (int i = 0; i < axes; i++) {
    first[i] = varies ? 1 - s->first[i] / (2 * n * variance) : NAN;
    total[i] = varies ? s->total[i] / (2 * n * variance) : NAN;
  }
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static carom_interval percentiles(double *values, int count) {
  int good = 0;
  for (int i = 0; i < count; i++)
    if (isfinite(values[i])) values[good++] = values[i];
  qsort(values, (size_t)good, sizeof *values, ascending);
  return (carom_interval){carom_quantile(values, good, 0.025), carom_quantile(values, good, 0.975)};
}

// Rows are drawn again with replacement: a point stays together with all its neighbours.
static void resample(const double *const *rows, int64_t n, int axes, uint64_t seed, double centre, double *drawn) {
  double first[MOST], total[MOST];
  for (int r = 0; r < RESAMPLES; r++) {
    carom_random random = carom_random_make(seed, (uint64_t)r);
    sums s = {0};
    for (int64_t i = 0; i < n; i++)
      add_row(rows[(int64_t)(carom_random_uniform(&random) * (double)n)], axes, centre, &s);
    estimate(&s, axes, (double)n, first, total);
    for (int i = 0; i < axes; i++) {
      drawn[i * RESAMPLES + r] = first[i];
      drawn[(axes + i) * RESAMPLES + r] = total[i];
    }
  }
}

static bool is_whole(const double *row, int axes) {
  for (int i = 0; i < axes + 2; i++)
    if (!isfinite(row[i])) return false;
  return true;
}

static int64_t choose(const double *outputs, int64_t points, int axes, const double **rows) {
  int64_t n = 0;
  for (int64_t i = 0; i < points; i++)
    if (is_whole(outputs + i * (axes + 2), axes)) rows[n++] = outputs + i * (axes + 2);
  return n;
}

static void find_indices(const double *const *rows, int64_t n, int axes, uint64_t seed, double *drawn,
                         carom_sobol_index *indices) {
  double centre = 0, s_first[MOST], s_total[MOST];
  for (int64_t i = 0; i < n; i++) centre += (rows[i][0] + rows[i][1]) / (2 * (double)n);
  sums s = {0};
  for (int64_t i = 0; i < n; i++) add_row(rows[i], axes, centre, &s);
  estimate(&s, axes, (double)n, s_first, s_total);
  resample(rows, n, axes, seed, centre, drawn);
  for (int i = 0; i < axes; i++) {
    carom_interval own = percentiles(&drawn[i * RESAMPLES], RESAMPLES);
    indices[i] =
        (carom_sobol_index){s_first[i], s_total[i], own, percentiles(&drawn[(axes + i) * RESAMPLES], RESAMPLES)};
  }
}

carom_status carom_sobol(const double *outputs, int64_t points, int axes, uint64_t seed, carom_sobol_index *indices,
                         int64_t *used) {
  carom_allocator a = carom_allocator_or_default(NULL);
  const double **rows = CAROM_NEW(&a, const double *, points > 0 ? points : 1);
  double *drawn = CAROM_NEW(&a, double, 2 * axes * RESAMPLES);
  *used = rows && drawn ? choose(outputs, points, axes, rows) : 0;
  if (rows && drawn) find_indices(rows, *used, axes, seed, drawn, indices);
  carom_status status = rows && drawn ? CAROM_OK : CAROM_ERR_MEMORY;
  CAROM_RELEASE_ALL(&a, (void *)rows, drawn);
  return status;
}
