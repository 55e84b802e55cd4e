// Quadratic and linear programs over Y*, the weights of equal gap. They have four rows and, in practice, four to a
// dozen columns, so dense arrays on the stack do.
#include <float.h>
#include <math.h>
#include <string.h>

#include "collide/optimal_set.h"

enum { ROWS = CAROM_OPTIMAL_ROWS, COLUMNS = CAROM_OPTIMAL_COLUMNS };

static const double RIGHT_SIDE[ROWS] = {1, 1, 0, 0};
static const double RANK_TOLERANCE = 1e-10;  // of a row's length, when it depends on the others
static const double TINY = 1e-13;            // a weight or a price that counts as zero

// ---- least norm ----------------------------------------------------------------------------------------------------

static double free_dot(int n, const bool *is_free, const double *x, const double *y) {
  double s = 0;
  for (int i = 0; i < n; i++) s += is_free[i] ? x[i] * y[i] : 0;
  return s;
}

// Takes the part along earlier rows out of row k, twice, since once leaves round-off along them.
static void orthogonalize(int n, const bool *is_free, double Q[ROWS][COLUMNS], double *g, int k) {
  for (int pass = 0; pass < 2; pass++)
    for (int j = 0; j < k; j++) {
      double s = free_dot(n, is_free, Q[k], Q[j]);
      for (int i = 0; i < n; i++) Q[k][i] -= s * Q[j][i];
      g[k] -= s * g[j];
    }
}

// z = E' lambda with E z = f over the free columns: the least-norm solution there and, on the other columns, minus
// their multipliers. Gram-Schmidt over the rows, whose inner products see free columns only; rows that depend on the
// earlier ones fall away.
static void solve_free(const carom_weight_rows *rows, const bool *is_free, double *z) {
  int n = rows->count, rank = 0;
  double Q[ROWS][COLUMNS], g[ROWS];
  memset(z, 0, sizeof(double) * (size_t)n);
  for (int r = 0; r < ROWS; r++) {
    memcpy(Q[rank], rows->E[r], sizeof(double) * (size_t)n);
    g[rank] = RIGHT_SIDE[r];
    double before = sqrt(free_dot(n, is_free, Q[rank], Q[rank]));
    orthogonalize(n, is_free, Q, g, rank);
    double after = sqrt(free_dot(n, is_free, Q[rank], Q[rank]));
    if (!(after > RANK_TOLERANCE * fmax(before, 1))) continue;
    for (int i = 0; i < n; i++) Q[rank][i] /= after;
    g[rank] /= after;
    for (int i = 0; i < n; i++) z[i] += g[rank] * Q[rank][i];
    rank++;
  }
}

static double least_free(int n, const bool *is_free, const double *z) {
  double least = DBL_MAX;
  for (int i = 0; i < n; i++)
    if (is_free[i]) least = fmin(least, z[i]);
  return least;
}

// From y towards z until a weight vanishes; that column is no longer free.
static void step_towards(int n, bool *is_free, double *y, const double *z) {
  int block = -1;
  double t = 1;
  for (int i = 0; i < n; i++) {
    if (!is_free[i] || !(z[i] < -TINY)) continue;
    double limit = y[i] / (y[i] - z[i]);
    if (limit < t || block < 0) t = fmin(t, limit), block = i;
  }
  for (int i = 0; i < n; i++)
    if (is_free[i]) y[i] = fmax(0, y[i] + t * (z[i] - y[i]));
  if (block >= 0) is_free[block] = false, y[block] = 0;
}

// Primal active set: min |y|^2 over Y* from a feasible y (Nocedal and Wright 2006, algorithm 16.3). The norm falls with
// every change of the free set, so that it ends; the limit guards against round-off alone.
static void solve_program(const carom_weight_rows *rows, double *y) {
  int n = rows->count;
  bool is_free[COLUMNS];
  double z[COLUMNS];
  for (int i = 0; i < COLUMNS; i++) is_free[i] = i < n && y[i] > 0;
  for (int round = 0; round < 8 * COLUMNS; round++) {
    solve_free(rows, is_free, z);
    if (least_free(n, is_free, z) < -TINY) {
      step_towards(n, is_free, y, z);
      continue;
    }
    int enter = -1;
    for (int i = 0; i < n; i++) {
      if (is_free[i]) y[i] = fmax(0, z[i]);
      if (!is_free[i] && z[i] > TINY && (enter < 0 || z[i] > z[enter])) enter = i;
    }
    if (enter < 0) return;
    is_free[enter] = true;
  }
}

void carom_weights_least_norm(const carom_weight_rows *rows, double *y) {
  bool is_free[COLUMNS];
  double z[COLUMNS];
  memset(is_free, true, sizeof is_free);
  solve_free(rows, is_free, z);
  if (least_free(rows->count, is_free, z) < -TINY) {
    solve_program(rows, y);
    return;
  }
  for (int i = 0; i < rows->count; i++) y[i] = fmax(0, z[i]);
}

// ---- linear program ------------------------------------------------------------------------------------------------

// Simplex tableau: ROWS constraints, right sides in the last column; a basis entry >= n is an artificial variable.
typedef struct tableau {
  int n, basis[ROWS];
  double T[ROWS][COLUMNS + 1];
  double cost[COLUMNS];
} tableau;

static void eliminate(tableau *s, int row, int column) {
  double pivot = s->T[row][column];
  for (int j = 0; j <= s->n; j++) s->T[row][j] /= pivot;
  for (int i = 0; i < ROWS; i++) {
    double f = i == row ? 0 : s->T[i][column];
    if (f == 0) continue;
    for (int j = 0; j <= s->n; j++) s->T[i][j] -= f * s->T[row][j];
    s->T[i][column] = 0;
  }
  double f = s->cost[column];
  for (int j = 0; j < s->n; j++) s->cost[j] -= f * s->T[row][j];
  s->cost[column] = 0;
  s->basis[row] = column;
}

// An artificial variable at zero leaves as soon as it would move either way; among real ones Bland's rule.
static int leaving_row(const tableau *s, int column) {
  int best = -1;
  double least = DBL_MAX;
  for (int i = 0; i < ROWS; i++) {
    double p = s->T[i][column], right = fmax(0, s->T[i][s->n]);
    if (s->basis[i] >= s->n && right <= TINY && fabs(p) > 1e-9) return i;
    if (!(p > 1e-9)) continue;
    double ratio = right / p;
    if (ratio < least - TINY || (ratio <= least + TINY && best >= 0 && s->basis[i] < s->basis[best]))
      best = i, least = fmin(ratio, least);
  }
  return best;
}

static void simplex(tableau *s) {
  for (int pivots = 0; pivots < 4 * COLUMNS; pivots++) {
    int column = 0;
    while (column < s->n && !(s->cost[column] < -1e-11)) column++;
    int row = column < s->n ? leaving_row(s, column) : -1;
    if (row < 0) return;
    eliminate(s, row, column);
  }
}

// Phase one: the sum of the artificial variables.
static bool find_feasible(tableau *s) {
  for (int j = 0; j < s->n; j++) {
    s->cost[j] = 0;
    for (int i = 0; i < ROWS; i++) s->cost[j] -= s->T[i][j];
  }
  simplex(s);
  double left = 0;
  for (int i = 0; i < ROWS; i++) left += s->basis[i] >= s->n ? fabs(s->T[i][s->n]) : 0;
  return left < 1e-7;  // rows hold to the tolerance of the active vertices, or to sqrt(eps) on curved surfaces
}

static void set_costs(tableau *s, const double *c) {
  double scale = DBL_MIN;
  for (int j = 0; j < s->n; j++) scale = fmax(scale, fabs(c[j]));
  for (int j = 0; j < s->n; j++) {
    s->cost[j] = c[j] / scale;
    for (int i = 0; i < ROWS; i++)
      if (s->basis[i] < s->n) s->cost[j] -= c[s->basis[i]] / scale * s->T[i][j];
  }
}

bool carom_weights_minimize(const carom_weight_rows *rows, const double *c, double *y) {
  tableau s = {.n = rows->count};
  for (int i = 0; i < ROWS; i++) {
    memcpy(s.T[i], rows->E[i], sizeof(double) * (size_t)s.n);
    s.T[i][s.n] = RIGHT_SIDE[i];
    s.basis[i] = s.n + i;
  }
  if (!find_feasible(&s)) return false;
  set_costs(&s, c);
  simplex(&s);
  memset(y, 0, sizeof(double) * (size_t)s.n);
  for (int i = 0; i < ROWS; i++)
    if (s.basis[i] < s.n) y[s.basis[i]] = fmax(0, s.T[i][s.n]);
  return true;
}
