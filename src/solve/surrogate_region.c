// Bounds and linear constraints.
#include <math.h>

#include "base/memory.h"
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

// ---- the nearest point that is allowed ------------------------------------------------------------------------------
// min |v - u|^2/2 with G v <= h, where G are the rows, -I and I: v = u - G'z with 0 <= z complementary to
// G G'z + h - G u >= 0.

static double row_entry(const carom_region *r, int c, int i) {
  if (c < r->count) return r->rows[c * r->d + i];
  int bound = c - r->count;
  return bound % r->d != i ? 0 : bound < r->d ? -1 : 1;
}

static double row_limit(const carom_region *r, int c) {
  if (c < r->count) return r->most[c];
  return c - r->count < r->d ? 0 : 1;
}

carom_status carom_region_prepare(carom_region *r, const carom_allocator *a, carom_error *error) {
  int n = r->pairs = r->count > 0 ? r->count + 2 * r->d : 0;
  if (n == 0) return CAROM_OK;
  if (!CAROM_NEW_ALL(a, CAROM_ROOM(r->M, n * n), CAROM_ROOM(r->q, n), CAROM_ROOM(r->z, n), CAROM_ROOM(r->w, n)))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the constraints of a search");
  for (int b = 0; b < n; b++)
    for (int c = 0; c < n; c++)
      for (int i = 0; i < r->d; i++) r->M[c + b * n] += row_entry(r, c, i) * row_entry(r, b, i);
  return carom_lcp_work_create(n, a, &r->work, error);
}

void carom_region_release(carom_region *r, const carom_allocator *a) {
  carom_lcp_work_destroy(r->work);
  CAROM_RELEASE_ALL(a, r->rows, r->most, r->M, r->q, r->z, r->w);
}

static void nearest_allowed(const carom_region *r, double *v) {
  const carom_lcp_problem problem = {.n = r->pairs, .M = r->M, .q = r->q};
  carom_lcp_solution solution = {r->z, r->w, NULL};
  carom_lcp_info info;
  for (int c = 0; c < r->pairs; c++) {
    r->q[c] = row_limit(r, c);
    for (int i = 0; i < r->d; i++) r->q[c] -= row_entry(r, c, i) * v[i];
  }
  if (carom_lcp_solve(r->work, &problem, NULL, &solution, &info, NULL) != CAROM_OK) return;
  for (int c = 0; c < r->pairs; c++)
    for (int i = 0; i < r->d; i++) v[i] -= r->z[c] * row_entry(r, c, i);
}

bool carom_region_project(const carom_region *r, double *u) {
  double v[CAROM_SEARCH_DIM];
  for (int i = 0; i < r->d; i++) u[i] = fmin(fmax(u[i], 0), 1);
  if (r->count == 0 || carom_region_allows(r, u, 0)) return true;
  for (int i = 0; i < r->d; i++) v[i] = to_linear(r, i, u[i]);
  nearest_allowed(r, v);
  for (int i = 0; i < r->d; i++) u[i] = fmin(fmax(from_linear(r, i, v[i]), 0), 1);
  return carom_region_allows(r, u, 1e-9);
}
