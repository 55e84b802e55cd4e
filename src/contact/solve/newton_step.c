#include "contact/solve/newton_step.h"

#include <string.h>

#include "math/dense.h"
#include "solve/lcp_inverse.h"
#include "solve/lcp_kernels.h"

// ---- by row ---------------------------------------------------------------------------------------------------------

// (r + D (W + eps - r)) dP = -r F over the rows that are not open; those that are go to zero at once.
static bool factor_rows(carom_newton *n, const carom_assembled *a) {
  n->k = 0;
  for (int i = 0; i < a->count; i++)
    if (n->D[i].m[0][0] != 0)
      for (int r = 0; r < a->blocks[i].width; r++) n->active[n->k++] = a->blocks[i].first + r;
  for (int j = 0; j < n->k; j++) {
    const double *column = a->W + (size_t)n->active[j] * (size_t)a->rows;
    double *to = n->K + (size_t)j * (size_t)n->k;
    int row = 0;
    for (int i = 0; i < a->count; i++) {
      const carom_block *b = &a->blocks[i];
      if (n->D[i].m[0][0] == 0) continue;
      for (int r = 0; r < b->width; r++, row++) {
        to[row] = row == j ? n->own[i] : 0;
        for (int q = 0; q < b->width; q++) to[row] += n->D[i].m[r][q] * column[b->first + q];
        int q = n->active[j] - b->first;
        if (q >= 0 && q < b->width) to[row] += n->D[i].m[r][q] * (n->eps[i] - n->own[i]);
      }
    }
  }
  return carom_lcp_inverse(n->k, n->K, n->k, n->panel, n->swaps) == CAROM_OK;
}

// The step from F, with what the open rows' own steps do to the others, into `x` (rows).
static void find_step_by_row(carom_newton *n, const carom_assembled *a) {
  memset(n->x, 0, (size_t)a->rows * sizeof *n->x);
  for (int i = 0; i < a->count; i++)
    for (int r = a->blocks[i].first; r < a->blocks[i].first + a->blocks[i].width && n->D[i].m[0][0] == 0; r++)
      n->x[r] = -n->F[r];
  memset(n->v, 0, (size_t)a->rows * sizeof *n->v);
  carom_lcp_combine(a->rows, a->rows, a->W, a->rows, NULL, n->x, n->v);
  int row = 0;
  for (int i = 0; i < a->count; i++) {
    const carom_block *b = &a->blocks[i];
    if (n->D[i].m[0][0] == 0) continue;
    for (int r = 0; r < b->width; r++, row++) {
      n->rhs[row] = -n->own[i] * n->F[b->first + r];
      for (int q = 0; q < b->width; q++) n->rhs[row] -= n->D[i].m[r][q] * n->v[b->first + q];
    }
  }
  double *dP = n->trial;
  memset(dP, 0, (size_t)n->k * sizeof *dP);
  carom_lcp_combine(n->k, n->k, n->K, n->k, NULL, n->rhs, dP);
  for (int j = 0; j < n->k; j++) n->x[n->active[j]] = dP[j];
}

// ---- by body --------------------------------------------------------------------------------------------------------
// With dV = S J' dP, B = r + D (eps - r), Y = B^-1 r and C = B^-1 D the same equations are, block by block,
//
//     dP = -(Y F + C J dV),       (1 + S J' C J) dV = -S J' Y F.

static bool invert_block(carom_newton *n, int i) {
  double r = n->own[i];
  n->Y[i] = cm_identity3(), n->C[i] = (carom_mat3){0};
  if (n->D[i].m[0][0] == 0) return true;
  carom_mat3 B = cm_madd(cm_mscale(n->eps[i] - r, n->D[i]), cm_mscale(r, cm_identity3()));
  if (!cm_inverse3(B, &n->Y[i])) return false;
  n->C[i] = cm_mmul(n->Y[i], n->D[i]);
  n->Y[i] = cm_mscale(r, n->Y[i]);
  return true;
}

static void add_outer(double *K, int order, const double a[6], const double b[6]) {
  for (int j = 0; j < 6; j++)
    for (int i = 0; i < 6; i++) K[i + j * order] += a[i] * b[j];
}

// S J' C J of a block, whose rows have the same bodies.
static void add_block(const carom_newton *n, const carom_assembled *a, int i) {
  const carom_lever *rows = &a->levers[a->blocks[i].first];
  for (int r = 0; r < a->blocks[i].width; r++) {
    double CJ[2][6] = {0};
    for (int q = 0; q < a->blocks[i].width; q++)
      for (int k = 0; k < 12; k++) CJ[k / 6][k % 6] += n->C[i].m[r][q] * rows[q].J[k / 6][k % 6];
    for (int p = 0; p < 4; p++) {
      int to = rows->body[p / 2], from = rows->body[p % 2];
      if (to >= 0 && from >= 0)
        add_outer(n->K + 6 * to + (size_t)(6 * from) * (size_t)n->k, n->k, rows[r].SJ[p / 2], CJ[p % 2]);
    }
  }
}

static bool factor_bodies(carom_newton *n, const carom_assembled *a) {
  n->k = 6 * a->bodies;
  memset(n->K, 0, (size_t)n->k * (size_t)n->k * sizeof *n->K);
  for (int i = 0; i < n->k; i++) n->K[(size_t)i * ((size_t)n->k + 1)] = 1;
  for (int i = 0; i < a->count; i++) {
    if (!invert_block(n, i)) return false;
    if (n->D[i].m[0][0] != 0) add_block(n, a, i);
  }
  return carom_small_lu(n->k, n->K, n->k, n->swaps) == CAROM_OK;
}

// y (rows) += s A x, block by block.
static void add_blocks(const carom_assembled *a, double s, const carom_mat3 *A, const double *x, double *y) {
  for (int i = 0; i < a->count; i++)
    for (int r = 0; r < a->blocks[i].width; r++)
      for (int q = 0; q < a->blocks[i].width; q++)
        y[a->blocks[i].first + r] += s * A[i].m[r][q] * x[a->blocks[i].first + q];
}

static void find_step_by_body(carom_newton *n, const carom_assembled *a) {
  memset(n->x, 0, (size_t)a->rows * sizeof *n->x);
  add_blocks(a, -1, n->Y, n->F, n->x);
  carom_levers_push(a, n->x);
  carom_small_lu_solve(n->k, n->K, n->k, n->swaps, a->V);
  for (int r = 0; r < a->rows; r++) n->v[r] = carom_lever_rate(&a->levers[r], a->V);
  add_blocks(a, -1, n->C, n->v, n->x);
}

// ---- either ---------------------------------------------------------------------------------------------------------

bool carom_newton_factor(carom_newton *n, const carom_assembled *a) {
  if (a->sparse) return carom_newton_factor_blocks(n, a);
  return a->W ? factor_rows(n, a) : factor_bodies(n, a);
}

void carom_newton_find_step(carom_newton *n, const carom_assembled *a) {
  if (a->sparse)
    carom_newton_find_step_by_blocks(n, a);
  else if (a->W)
    find_step_by_row(n, a);
  else
    find_step_by_body(n, a);
}
