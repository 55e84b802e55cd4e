#include "math/sparse.h"

#include <cholmod.h>
#include <klu.h>
#include <string.h>

#include "base/memory.h"

struct carom_sparse_solver {
  carom_sparse_kind kind;
  int n;
  carom_allocator allocator;
  cholmod_common cholmod;
  cholmod_factor *factor;
  klu_common klu;
  klu_symbolic *symbolic;
  klu_numeric *numeric;
};

// CHOLMOD's view of our arrays; it does not write through it.
static cholmod_sparse cholmod_view(const carom_sparse *A) {
  return (cholmod_sparse){.nrow = (size_t)A->n,
                          .ncol = (size_t)A->n,
                          .nzmax = (size_t)A->column_start[A->n],
                          .p = (void *)A->column_start,
                          .i = (void *)A->row,
                          .x = (void *)A->value,
                          .stype = -1,
                          .itype = CHOLMOD_INT,
                          .xtype = CHOLMOD_REAL,
                          .dtype = CHOLMOD_DOUBLE,
                          .sorted = 1,
                          .packed = 1};
}

static void analyse_positive_definite(carom_sparse_solver *solver, const carom_sparse *A) {
  cholmod_start(&solver->cholmod);
  solver->cholmod.supernodal = CHOLMOD_SIMPLICIAL;  // the supernodal module is GPL, and unused
  solver->cholmod.print = 0;
  solver->cholmod.error_handler = NULL;
  solver->cholmod.quick_return_if_not_posdef = 1;
  // Minimum degree only: METIS pays off for systems far larger than ours and is not always there.
  solver->cholmod.nmethods = 1;
  solver->cholmod.method[0].ordering = CHOLMOD_AMD;
  cholmod_sparse view = cholmod_view(A);
  solver->factor = cholmod_analyze(&view, &solver->cholmod);
}

static void analyse_general(carom_sparse_solver *solver, const carom_sparse *A) {
  klu_defaults(&solver->klu);
  solver->klu.tol = 0.1;  // its default of 0.001 suits circuits; residuals suffer on other matrices
  solver->symbolic = klu_analyze(A->n, (int *)A->column_start, (int *)A->row, &solver->klu);
}

carom_status carom_sparse_solver_create(carom_sparse_kind kind, const carom_sparse *A, const carom_allocator *allocator,
                                        carom_sparse_solver **solver, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_sparse_solver *s = CAROM_NEW(&a, carom_sparse_solver, 1);
  if (!s) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a sparse solver");
  s->kind = kind;
  s->n = A->n;
  s->allocator = a;
  if (kind == CAROM_SPARSE_POSITIVE_DEFINITE)
    analyse_positive_definite(s, A);
  else
    analyse_general(s, A);
  if (!s->factor && !s->symbolic) {
    carom_sparse_solver_destroy(s);
    return carom_fail(error, CAROM_ERR_SINGULAR, "the sparse matrix (n = %d) cannot be ordered: a malformed pattern",
                      A->n);
  }
  *solver = s;
  return CAROM_OK;
}

void carom_sparse_solver_destroy(carom_sparse_solver *solver) {
  if (!solver) return;
  if (solver->kind == CAROM_SPARSE_POSITIVE_DEFINITE) {
    cholmod_free_factor(&solver->factor, &solver->cholmod);
    cholmod_finish(&solver->cholmod);
  } else {
    if (solver->numeric) klu_free_numeric(&solver->numeric, &solver->klu);
    if (solver->symbolic) klu_free_symbolic(&solver->symbolic, &solver->klu);
  }
  carom_release(&solver->allocator, solver);
}

static carom_status factor_general(carom_sparse_solver *s, const carom_sparse *A) {
  int *start = (int *)A->column_start, *row = (int *)A->row;
  double *value = (double *)A->value;
  if (s->numeric) klu_free_numeric(&s->numeric, &s->klu);
  s->numeric = klu_factor(start, row, value, s->symbolic, &s->klu);
  if (s->numeric) klu_rcond(s->symbolic, s->numeric, &s->klu);  // marks NaN pivots as singular; klu_factor does not
  return s->numeric && s->klu.status == KLU_OK ? CAROM_OK : CAROM_ERR_SINGULAR;
}

carom_status carom_sparse_factor(carom_sparse_solver *solver, const carom_sparse *A) {
  if (A->n != solver->n) return CAROM_ERR_ARGUMENT;
  if (solver->kind == CAROM_SPARSE_GENERAL) return factor_general(solver, A);
  cholmod_sparse view = cholmod_view(A);
  int ok = cholmod_factorize(&view, solver->factor, &solver->cholmod);
  if (!ok) return solver->cholmod.status == CHOLMOD_OUT_OF_MEMORY ? CAROM_ERR_MEMORY : CAROM_ERR_SINGULAR;
  // An LDL' exists for many indefinite matrices too; the caller asked for a positive definite one.
  const int *start = solver->factor->p;
  const double *entry = solver->factor->x;
  if (solver->cholmod.status != CHOLMOD_OK || solver->factor->minor < (size_t)solver->n) return CAROM_ERR_SINGULAR;
  if (!solver->factor->is_ll)
    for (int j = 0; j < solver->n; j++)
      if (!(entry[start[j]] > 0)) return CAROM_ERR_SINGULAR;
  return CAROM_OK;
}

carom_status carom_sparse_solve(carom_sparse_solver *solver, double *b) {
  size_t n = (size_t)solver->n;
  if (solver->kind == CAROM_SPARSE_GENERAL)
    return klu_solve(solver->symbolic, solver->numeric, solver->n, 1, b, &solver->klu) ? CAROM_OK : CAROM_ERR_SINGULAR;
  // CHOLMOD would report a factor that was never computed as an odd kind of failure, or solve with an incomplete one.
  if (solver->factor->xtype == CHOLMOD_PATTERN || solver->factor->minor < n) return CAROM_ERR_SINGULAR;
  cholmod_dense right = {
      .nrow = n, .ncol = 1, .nzmax = n, .d = n, .x = b, .xtype = CHOLMOD_REAL, .dtype = CHOLMOD_DOUBLE};
  cholmod_dense *x = cholmod_solve(CHOLMOD_A, solver->factor, &right, &solver->cholmod);
  if (!x) return CAROM_ERR_MEMORY;
  memcpy(b, x->x, n * sizeof *b);
  cholmod_free_dense(&x, &solver->cholmod);
  return CAROM_OK;
}

void carom_sparse_multiply(carom_sparse_kind kind, const carom_sparse *A, const double *x, double *y) {
  memset(y, 0, (size_t)A->n * sizeof *y);
  for (int j = 0; j < A->n; j++)
    for (int k = A->column_start[j]; k < A->column_start[j + 1]; k++) {
      int i = A->row[k];
      y[i] += A->value[k] * x[j];
      if (kind == CAROM_SPARSE_POSITIVE_DEFINITE && i != j) y[j] += A->value[k] * x[i];
    }
}
