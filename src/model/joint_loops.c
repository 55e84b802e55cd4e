#include "model/joint_loops.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

// Relative to a row's pivot without the tree: well above round-off, well below what a real freedom leaves.
static const double RANK_TOLERANCE = 1e-10;

bool carom_joint_loops_create(carom_joint_loops *loops, int most, const carom_allocator *allocator) {
  size_t n = (size_t)most;
  *loops = (carom_joint_loops){.allocator = *allocator};
  bool ok = CAROM_NEW_ALL(allocator, CAROM_ROOM(loops->K, n * n), CAROM_ROOM(loops->scale, n), CAROM_ROOM(loops->x, n),
                          CAROM_ROOM(loops->work, n), CAROM_ROOM(loops->row, n), CAROM_ROOM(loops->column, n));
  if (!ok) carom_joint_loops_destroy(loops);
  return ok;
}

void carom_joint_loops_destroy(carom_joint_loops *loops) {
  CAROM_RELEASE_ALL(&loops->allocator, loops->K, loops->scale, loops->x, loops->work, loops->row, loops->column);
  *loops = (carom_joint_loops){.allocator = loops->allocator};
}

void carom_joint_loops_begin(carom_joint_loops *loops, int n) {
  loops->n = n;
  loops->rank = 0;
}

// Lengths and angles, light and heavy bodies: each row and column to its own scale, so that pivots compare.
static void equilibrate(carom_joint_loops *loops) {
  int n = loops->n;
  for (int i = 0; i < n; i++) loops->scale[i] = loops->scale[i] > 0 ? sqrt(loops->scale[i]) : 1;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) loops->K[i + j * n] /= loops->scale[i] * loops->scale[j];
}

static double find_pivot(const carom_joint_loops *loops, int k, int *row, int *column) {
  int n = loops->n;
  double largest = 0;
  for (int j = k; j < n; j++)
    for (int i = k; i < n; i++)
      if (fabs(loops->K[i + j * n]) > largest) largest = fabs(loops->K[i + j * n]), *row = i, *column = j;
  return largest;
}

static void swap(double *a, double *b) {
  double t = *a;
  *a = *b, *b = t;
}

static void swap_index(int *a, int *b) {
  int t = *a;
  *a = *b, *b = t;
}

static void move_pivot(carom_joint_loops *loops, int k, int row, int column) {
  int n = loops->n;
  double *K = loops->K;
  for (int j = 0; j < n && row != k; j++) swap(&K[k + j * n], &K[row + j * n]);
  for (int i = 0; i < n && column != k; i++) swap(&K[i + k * n], &K[i + column * n]);
  swap_index(&loops->row[k], &loops->row[row]);
  swap_index(&loops->column[k], &loops->column[column]);
}

void carom_joint_loops_factor(carom_joint_loops *loops) {
  int n = loops->n, k = 0;
  double *K = loops->K;
  equilibrate(loops);
  for (int i = 0; i < n; i++) loops->row[i] = loops->column[i] = i;
  for (; k < n; k++) {
    int row = k, column = k;
    if (!(find_pivot(loops, k, &row, &column) > RANK_TOLERANCE)) break;
    move_pivot(loops, k, row, column);
    for (int i = k + 1; i < n; i++) K[i + k * n] /= K[k + k * n];
    for (int j = k + 1; j < n; j++)
      for (int i = k + 1; i < n; i++) K[i + j * n] -= K[i + k * n] * K[k + j * n];
  }
  loops->rank = k;
}

// Rows past the rank follow from the others; their multipliers are set to 0.
void carom_joint_loops_solve(carom_joint_loops *loops) {
  int n = loops->n, rank = loops->rank;
  const double *K = loops->K;
  double *y = loops->work;
  for (int i = 0; i < rank; i++) {
    y[i] = loops->x[loops->row[i]] / loops->scale[loops->row[i]];
    for (int k = 0; k < i; k++) y[i] -= K[i + k * n] * y[k];
  }
  for (int i = rank - 1; i >= 0; i--) {
    for (int k = i + 1; k < rank; k++) y[i] -= K[i + k * n] * y[k];
    y[i] /= K[i + i * n];
  }
  memset(loops->x, 0, (size_t)n * sizeof *loops->x);
  for (int i = 0; i < rank; i++) loops->x[loops->column[i]] = y[i] / loops->scale[loops->column[i]];
}
