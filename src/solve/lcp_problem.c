// Reading a problem: is it sound, what is w, how far is z from solving it.
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "solve/lcp_kernels.h"
#include "solve/lcp_problem.h"

// ---- soundness -----------------------------------------------------------------------------------------------------

CAROM_SIMD_CLONES static bool all_finite(const double *x, size_t count) {
  double sum[8] = {0};  // of zeros, NaN as soon as one entry is not finite; eight side by side, for vectors
  size_t whole = count & ~(size_t)7;
  for (size_t i = 0; i < whole; i += 8)
    for (size_t l = 0; l < 8; l++) sum[l] += x[i + l] * 0.0;
  for (size_t i = whole; i < count; i++) sum[0] += x[i] * 0.0;
  for (size_t l = 1; l < 8; l++) sum[0] += sum[l];
  return sum[0] == 0;
}

static carom_status check_numbers(const char *name, const double *x, size_t count, carom_error *error) {
  if (all_finite(x, count)) return CAROM_OK;
  size_t i = 0;
  while (isfinite(x[i])) i++;
  return carom_fail(error, CAROM_ERR_NUMBER, "complementarity problem: %s[%zu] is %g; all entries must be finite", name,
                    i, x[i]);
}

static carom_status bad_blocks(carom_error *error, int row, const char *what) {
  return carom_fail(error, CAROM_ERR_ARGUMENT, "complementarity problem: block row %d: %s", row, what);
}

static carom_status check_block_row(const carom_lcp_blocks *b, int I, carom_error *error) {
  if (b->start[I + 1] <= b->start[I]) return bad_blocks(error, I, "blocks need at least one unknown; check `start`");
  if (b->row_start[I + 1] < b->row_start[I]) return bad_blocks(error, I, "`row_start` must not fall");
  for (int p = b->row_start[I]; p < b->row_start[I + 1]; p++) {
    if (b->column[p] < 0 || b->column[p] >= b->block_count) return bad_blocks(error, I, "no such block column");
    if (p > b->row_start[I] && b->column[p] <= b->column[p - 1])
      return bad_blocks(error, I, "block columns must ascend");
  }
  return CAROM_OK;
}

static carom_status check_blocks(const carom_lcp_blocks *b, int n, carom_error *error) {
  if (b->block_count < 0 || !b->start || !b->row_start || b->start[0] != 0 || b->row_start[0] != 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "complementarity problem: `start` and `row_start` must begin with 0");
  for (int I = 0; I < b->block_count; I++) {
    carom_status status = check_block_row(b, I, error);
    if (status != CAROM_OK) return status;
  }
  if (b->start[b->block_count] != n)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "complementarity problem: the blocks have %d unknowns, n is %d",
                      b->start[b->block_count], n);
  return check_numbers("blocks", b->value, carom_lcp_blocks_entries(b), error);
}

size_t carom_lcp_blocks_entries(const carom_lcp_blocks *b) {
  size_t count = 0;
  for (int I = 0; I < b->block_count; I++)
    for (int p = b->row_start[I]; p < b->row_start[I + 1]; p++)
      count += (size_t)(b->start[I + 1] - b->start[I]) * (size_t)(b->start[b->column[p] + 1] - b->start[b->column[p]]);
  return count;
}

carom_status carom_lcp_check(const carom_lcp_problem *problem, carom_error *error) {
  size_t n = (size_t)problem->n;
  if (problem->n < 0 || (problem->n > 0 && !problem->q) || (problem->n > 0 && !problem->M == !problem->blocks))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "complementarity problem: n = %d; give q and either M or blocks",
                      problem->n);
  if (problem->n == 0) return CAROM_OK;
  carom_status status =
      problem->M ? check_numbers("M", problem->M, n * n, error) : check_blocks(problem->blocks, problem->n, error);
  return status == CAROM_OK ? check_numbers("q", problem->q, n, error) : status;
}

// ---- w and the residual --------------------------------------------------------------------------------------------

static void add_blocks(const carom_lcp_blocks *b, const double *z, double *w) {
  const double *value = b->value;
  for (int I = 0; I < b->block_count; I++) {
    int height = b->start[I + 1] - b->start[I];
    for (int p = b->row_start[I]; p < b->row_start[I + 1]; p++) {
      int first = b->start[b->column[p]], width = b->start[b->column[p] + 1] - first;
      carom_lcp_combine(height, width, value, height, NULL, z + first, w + b->start[I]);
      value += (size_t)height * (size_t)width;
    }
  }
}

void carom_lcp_evaluate(const carom_lcp_problem *problem, const double *z, double *w) {
  if (problem->n == 0) return;
  memcpy(w, problem->q, sizeof(double) * (size_t)problem->n);
  if (problem->M)
    carom_lcp_combine(problem->n, problem->n, problem->M, problem->n, NULL, z, w);
  else
    add_blocks(problem->blocks, z, w);
}

static void add_block_terms(const carom_lcp_blocks *b, const double *z, double *sum) {
  const double *value = b->value;
  for (int I = 0; I < b->block_count; I++)
    for (int p = b->row_start[I]; p < b->row_start[I + 1]; p++)
      for (int j = b->start[b->column[p]]; j < b->start[b->column[p] + 1]; j++)
        for (int i = b->start[I]; i < b->start[I + 1]; i++) sum[i] += fabs(*value++ * z[j]);
}

double carom_lcp_largest_terms(const carom_lcp_problem *problem, const double *z, double *sum) {
  int n = problem->n;
  memset(sum, 0, sizeof(double) * (size_t)n);
  for (int j = 0; problem->M && j < n; j++) {
    const double *column = problem->M + (size_t)j * (size_t)n;
    for (int i = 0; z[j] != 0 && i < n; i++) sum[i] += fabs(column[i] * z[j]);
  }
  if (!problem->M && n > 0) add_block_terms(problem->blocks, z, sum);
  return carom_lcp_largest(n, sum);
}

double carom_lcp_min_norm(int n, const double *z, const double *w) {
  double residual = 0;
  for (int i = 0; i < n; i++) {
    double r = fabs(z[i] < w[i] ? z[i] : w[i]);
    if (!(r <= DBL_MAX) || !(fabs(z[i]) <= DBL_MAX)) return INFINITY;
    if (r > residual) residual = r;
  }
  return residual;
}

// One row of a dense M at a time would stride; a few rows at a time fit on the stack.
enum { STRIP = 64 };

static double dense_residual(const carom_lcp_problem *problem, const double *z) {
  double w[STRIP], residual = 0;
  for (int i = 0; i < problem->n; i += STRIP) {
    int rows = problem->n - i < STRIP ? problem->n - i : STRIP;
    memcpy(w, problem->q + i, sizeof(double) * (size_t)rows);
    carom_lcp_combine(rows, problem->n, problem->M + i, problem->n, NULL, z, w);
    residual = fmax(residual, carom_lcp_min_norm(rows, z + i, w));
  }
  return residual;
}

static double row_residual(const carom_lcp_blocks *b, int I, int r, const double *value, const double *z, double q) {
  int height = b->start[I + 1] - b->start[I], i = b->start[I] + r;
  double w = q;
  for (int p = b->row_start[I]; p < b->row_start[I + 1]; p++)
    for (int j = b->start[b->column[p]]; j < b->start[b->column[p] + 1]; j++, value += height) w += value[r] * z[j];
  return carom_lcp_min_norm(1, z + i, &w);
}

static double block_residual(const carom_lcp_problem *problem, const double *z) {
  const carom_lcp_blocks *b = problem->blocks;
  const double *value = b->value;
  double residual = 0;
  for (int I = 0; I < b->block_count; I++) {
    int height = b->start[I + 1] - b->start[I];
    for (int r = 0; r < height; r++)
      residual = fmax(residual, row_residual(b, I, r, value, z, problem->q[b->start[I] + r]));
    for (int p = b->row_start[I]; p < b->row_start[I + 1]; p++)
      value += (size_t)height * (size_t)(b->start[b->column[p] + 1] - b->start[b->column[p]]);
  }
  return residual;
}

double carom_lcp_residual(const carom_lcp_problem *problem, const double *z) {
  if (problem->n == 0) return 0;
  return problem->M ? dense_residual(problem, z) : block_residual(problem, z);
}
