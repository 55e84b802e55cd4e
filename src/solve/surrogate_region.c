// Bounds and linear constraints.
#include <math.h>

#include "solve/surrogate.h"

double carom_region_to_unit(const carom_region *r, int i, double x) {
  if (r->logarithmic[i]) return log(x / r->low[i]) / log(r->high[i] / r->low[i]);
  return (x - r->low[i]) / (r->high[i] - r->low[i]);
}

// The ends themselves come out to the last bit.
double carom_region_from_unit(const carom_region *r, int i, double u) {
  if (u <= 0) return r->low[i];
  if (u >= 1) return r->high[i];
  if (r->logarithmic[i]) return r->low[i] * pow(r->high[i] / r->low[i], u);
  return r->low[i] + u * (r->high[i] - r->low[i]);
}

// Constraints are linear in x, of which v = (x - low)/(high - low).
static double to_linear(const carom_region *r, int i, double u) {
  return r->logarithmic[i] ? (carom_region_from_unit(r, i, u) - r->low[i]) / (r->high[i] - r->low[i]) : u;
}

static double from_linear(const carom_region *r, int i, double v) {
  return r->logarithmic[i] ? carom_region_to_unit(r, i, r->low[i] + v * (r->high[i] - r->low[i])) : v;
}

static double excess(const carom_region *r, int c, const double *v) {
  double sum = -r->most[c];
  for (int i = 0; i < r->d; i++) sum += r->rows[c * r->d + i] * v[i];
  return sum;
}

bool carom_region_allows(const carom_region *r, const double *u, double slack) {
  double v[CAROM_SEARCH_DIM];
  for (int i = 0; i < r->d; i++) {
    if (!(u[i] >= -slack && u[i] <= 1 + slack)) return false;
    v[i] = to_linear(r, i, u[i]);
  }
  for (int c = 0; c < r->count; c++)
    if (!(excess(r, c, v) <= slack)) return false;
  return true;
}

// Projections on the half-spaces in turn, a little beyond each so that it ends (Agmon 1954; Motzkin and Schoenberg
// 1954).
static double sweep(const carom_region *r, double *v, double beyond) {
  double worst = 0;
  for (int c = 0; c < r->count; c++) {
    double e = excess(r, c, v);
    worst = fmax(worst, e);
    for (int i = 0; e > 0 && i < r->d; i++) v[i] -= (e + beyond) * r->rows[c * r->d + i];
  }
  for (int i = 0; i < r->d; i++) v[i] = fmin(fmax(v[i], 0), 1);
  return worst;
}

bool carom_region_project(const carom_region *r, double *u) {
  enum { SWEEPS = 4000 };
  double v[CAROM_SEARCH_DIM];
  for (int i = 0; i < r->d; i++) {
    u[i] = fmin(fmax(u[i], 0), 1);
    v[i] = to_linear(r, i, u[i]);
  }
  if (r->count == 0) return true;
  for (int k = 0; k < SWEEPS; k++)
    if (sweep(r, v, k < SWEEPS / 2 ? 1e-12 : 0) <= 0) break;
  for (int i = 0; i < r->d; i++) u[i] = fmin(fmax(from_linear(r, i, v[i]), 0), 1);
  return carom_region_allows(r, u, 1e-9);
}
