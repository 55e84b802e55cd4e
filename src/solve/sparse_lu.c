#include "solve/sparse_lu.h"

#include <klu.h>

#include "base/memory.h"

// Compressed columns. Entries of one place stay apart, which KLU would not forgive: they are added up.
typedef struct columns {
  int *start, *row;
  double *value;
} columns;

static void count_columns(const carom_triplets *A, columns *c) {
  for (int i = 0; i < A->count; i++) c->start[A->column[i] + 1]++;
  for (int j = 0; j < A->n; j++) c->start[j + 1] += c->start[j];
}

static void scatter(const carom_triplets *A, columns *c, int *next) {
  for (int j = 0; j < A->n; j++) next[j] = c->start[j];
  for (int i = 0; i < A->count; i++) {
    int at = next[A->column[i]]++;
    c->row[at] = A->row[i], c->value[at] = A->values[i];
  }
}

static void add_up(int n, columns *c, int *seen) {
  int kept = 0;
  for (int i = 0; i < n; i++) seen[i] = -1;
  for (int j = 0; j < n; j++) {
    int begin = kept, from = c->start[j], to = c->start[j + 1];
    c->start[j] = begin;
    for (int i = from; i < to; i++) {
      int row = c->row[i];
      if (seen[row] >= begin) {
        c->value[seen[row]] += c->value[i];
        continue;
      }
      seen[row] = kept, c->row[kept] = row, c->value[kept++] = c->value[i];
    }
  }
  c->start[n] = kept;
}

static carom_status solve(int n, const columns *c, int right_sides, double *B, carom_error *error) {
  klu_common common;
  klu_defaults(&common);
  common.tol = 0.1;  // KLU holds on to diagonals a thousand times smaller than others, and loses digits by it
  klu_symbolic *symbolic = klu_analyze(n, c->start, c->row, &common);
  klu_numeric *numeric = symbolic ? klu_factor(c->start, c->row, c->value, symbolic, &common) : NULL;
  bool solved = numeric && klu_solve(symbolic, numeric, n, right_sides, B, &common) == 1;
  bool memory = common.status == KLU_OUT_OF_MEMORY;
  klu_free_numeric(&numeric, &common);
  klu_free_symbolic(&symbolic, &common);
  if (solved) return CAROM_OK;
  if (memory) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a linear system of %d unknowns", n);
  return carom_fail(error, CAROM_ERR_SINGULAR, "a linear system of %d unknowns has no unique solution", n);
}

carom_status carom_sparse_solve(const carom_triplets *A, const carom_allocator *allocator, int right_sides, double *B,
                                carom_error *error) {
  columns c = {0};
  int *scratch = NULL;
  bool enough = CAROM_NEW_ALL(allocator, CAROM_ROOM(c.start, A->n + 1), CAROM_ROOM(c.row, A->count + 1),
                              CAROM_ROOM(c.value, A->count + 1), CAROM_ROOM(scratch, A->n + 1));
  carom_status status = CAROM_ERR_MEMORY;
  if (enough) {
    count_columns(A, &c);
    scatter(A, &c, scratch);
    add_up(A->n, &c, scratch);
    status = solve(A->n, &c, right_sides, B, error);
  } else {
    carom_fail(error, status, "out of memory for a linear system of %d unknowns", A->n);
  }
  CAROM_RELEASE_ALL(allocator, c.start, c.row, c.value, scratch);
  return status;
}
