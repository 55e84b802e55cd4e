// The door to LAPACKE: status codes instead of info numbers, and a look at the room for OpenBLAS before it is called.
// MAP_ANONYMOUS is no part of POSIX.
#define _DEFAULT_SOURCE

#include <lapacke.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "math/dense.h"

// OpenBLAS maps a buffer at its first call, 128 MB and a page or two on all 64-bit processors, and keeps it. Where that
// is refused (ulimit -v, or memory that must not be promised twice) it asks again, for ever. So it is asked only where
// there is room for a buffer, until a call has come back and it has one.
enum { ROOM_MB = 129 };
static atomic_bool awake;

static carom_status look_for_room(void) {
  const size_t buffer = (size_t)ROOM_MB << 20;
  if (atomic_load_explicit(&awake, memory_order_relaxed)) return CAROM_OK;
  void *room = mmap(NULL, buffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return CAROM_ERR_MEMORY;
  munmap(room, buffer);
  return CAROM_OK;
}

carom_status carom_dense_fail_room(carom_error *error, const char *what) {
  return carom_fail(error, CAROM_ERR_MEMORY,
                    "out of memory: the linear algebra of %s works in %d MB of its own; raise the limit on memory "
                    "(ulimit -v) by that",
                    what, ROOM_MB);
}

// After a call. LAPACKE: 0 success, negative a bad argument (or no memory for its scratch), positive a numerical
// failure.
static carom_status status_of(lapack_int info, carom_status numerical) {
  atomic_store_explicit(&awake, true, memory_order_relaxed);
  if (info == 0) return CAROM_OK;
  if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR) return CAROM_ERR_MEMORY;
  return info < 0 ? CAROM_ERR_NUMBER : numerical;  // LAPACKE reports NaN input as a bad argument
}

carom_status carom_dense_lu(int n, double *A, int lda, int *pivot) {
  if (look_for_room() != CAROM_OK) return CAROM_ERR_MEMORY;
  return status_of(LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, A, lda, pivot), CAROM_ERR_SINGULAR);
}

carom_status carom_dense_lu_solve(int n, const double *LU, int lda, const int *pivot, double *b) {
  if (look_for_room() != CAROM_OK) return CAROM_ERR_MEMORY;
  return status_of(LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'N', n, 1, LU, lda, pivot, b, n), CAROM_ERR_SINGULAR);
}

carom_status carom_dense_least_squares(int m, int n, double *A, double *b, double rcond, int *rank) {
  double singular_values[512];
  if ((m < n ? m : n) > 512) return CAROM_ERR_LIMIT;
  if (look_for_room() != CAROM_OK) return CAROM_ERR_MEMORY;
  lapack_int found = 0;
  lapack_int info = LAPACKE_dgelsd(LAPACK_COL_MAJOR, m, n, 1, A, m, b, m > n ? m : n, singular_values, rcond, &found);
  *rank = (int)found;
  return status_of(info, CAROM_NOT_CONVERGED);
}

// Rows of V' beyond the rank span the null space.
carom_status carom_dense_null_space(int m, int n, double *A, double rcond, double *B, int *count) {
  double singular_values[512], unused[512];
  *count = 0;
  if ((m < n ? m : n) > 512 || n > 512) return CAROM_ERR_LIMIT;
  if (m == 0) {  // nothing is asked: all of the space, which LAPACK would leave as it is
    *count = n;
    for (int i = 0; i < n * n; i++) B[i] = i % (n + 1) == 0;
    return CAROM_OK;
  }
  if (look_for_room() != CAROM_OK) return CAROM_ERR_MEMORY;
  lapack_int info = LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', 'A', m, n, A, m, singular_values, NULL, 1, B, n, unused);
  carom_status status = status_of(info, CAROM_NOT_CONVERGED);
  if (status != CAROM_OK) return status;
  int rank = 0;
  while (rank < (m < n ? m : n) && singular_values[rank] > rcond * singular_values[0]) rank++;
  *count = n - rank;
  for (int i = 0; i < n; i++)  // transpose in place
    for (int j = 0; j < i; j++) {
      double kept = B[i + j * n];
      B[i + j * n] = B[j + i * n], B[j + i * n] = kept;
    }
  for (int j = 0; j < *count; j++)
    for (int i = 0; i < n; i++) B[i + j * n] = B[i + (rank + j) * n];
  return CAROM_OK;
}

carom_status carom_dense_eigenvalues(int n, double *A, double *real, double *imaginary) {
  if (look_for_room() != CAROM_OK) return CAROM_ERR_MEMORY;
  lapack_int info = LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', n, A, n, real, imaginary, NULL, 1, NULL, 1);
  return status_of(info, CAROM_NOT_CONVERGED);
}

carom_status carom_dense_wake(void) {
  double one = 1;
  int pivot;
  return carom_dense_lu(1, &one, 1, &pivot);
}
