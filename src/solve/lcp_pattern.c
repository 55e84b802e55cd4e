// The first phase of the simplex method (Dantzig 1963, chapter 5): rows are given signs s that make q positive, an
// artificial variable each where w_i does not serve, and the sum of the artificials is made as small as it can be. If
// it is zero, x is found. If not, the multipliers y of the optimum say why: y'C <= 0 and y'q > 0 (Farkas).
#include "solve/lcp_pattern.h"

#include <math.h>
#include <string.h>

#include "solve/lcp_kernels.h"

enum { MOST = CAROM_LCP_ENUMERATE_MAX, PIVOTS_PER_ROW = 50, GREEDY_PER_ROW = 10 };
static const double ZERO = 1e-11;   // entries and reduced costs below this, of a tableau of order one, are none
static const double PROOF = 1e-10;  // y'C at most this times y'q: a solution would have to be as large as 1 / PROOF
static const double CLEAR = 1e-12;  // and y'q above this times the sum of its terms, so that it is no round-off

// Columns: x (n), artificials (n), the right-hand side. Those of artificials hold the inverse of the basis.
typedef struct phase {
  int n;
  int basic[MOST];  // (n) x_j = j, artificials n + i
  double sign[MOST];
  double T[MOST][2 * MOST + 1];
} phase;

static double entry_of(const carom_lcp_matrix *matrix, const unsigned char *alpha, int i, int j) {
  return alpha[j] ? -matrix->dense[(size_t)i + (size_t)j * (size_t)matrix->n] : i == j;
}

static void fill(phase *p, const carom_lcp_matrix *matrix, const double *q, const unsigned char *alpha) {
  int n = p->n = matrix->n;
  memset(p->T, 0, sizeof p->T);
  for (int i = 0; i < n; i++) {
    p->sign[i] = q[i] < 0 ? -1 : 1;
    for (int j = 0; j < n; j++) p->T[i][j] = p->sign[i] * entry_of(matrix, alpha, i, j);
    p->T[i][n + i] = 1;
    p->T[i][2 * n] = fabs(q[i]);
    p->basic[i] = !alpha[i] && p->sign[i] > 0 ? i : n + i;
  }
}

// The rate at which the sum of the artificials falls as x_j rises.
static double fall_of(const phase *p, int j) {
  double fall = 0;
  for (int i = 0; i < p->n; i++)
    if (p->basic[i] >= p->n) fall += p->T[i][j];
  return fall;
}

// The steepest fall, or the first (Bland 1977), which cannot go round in circles; -1 at the optimum.
static int choose_entering(const phase *p, bool first) {
  int entering = -1;
  double most = ZERO;
  for (int j = 0; j < p->n; j++) {
    double fall = fall_of(p, j);
    if (!(fall > most)) continue;
    most = fall, entering = j;
    if (first) break;
  }
  return entering;
}

// Of the smallest ratios, an artificial variable before the others, then the first.
static int choose_row(const phase *p, int entering) {
  int row = -1;
  double least = INFINITY;
  for (int i = 0; i < p->n; i++) {
    if (!(p->T[i][entering] > ZERO)) continue;
    double ratio = fmax(p->T[i][2 * p->n], 0) / p->T[i][entering];
    bool tie = row >= 0 && ratio == least, artificial = p->basic[i] >= p->n;
    if (row >= 0 && !(ratio < least) && !(tie && artificial && p->basic[row] < p->n) &&
        !(tie && artificial == (p->basic[row] >= p->n) && p->basic[i] < p->basic[row]))
      continue;
    least = ratio, row = i;
  }
  return row;
}

static void pivot(phase *p, int row, int entering) {
  int width = 2 * p->n + 1;
  double *r = p->T[row], divisor = r[entering];
  for (int j = 0; j < width; j++) r[j] /= divisor;
  for (int i = 0; i < p->n; i++) {
    double factor = p->T[i][entering];
    if (i == row || factor == 0) continue;
    for (int j = 0; j < width; j++) p->T[i][j] -= factor * r[j];
    p->T[i][entering] = 0;
  }
  p->basic[row] = entering;
}

static bool minimize(phase *p) {
  for (int count = 0; count < PIVOTS_PER_ROW * p->n; count++) {
    int entering = choose_entering(p, count > GREEDY_PER_ROW * p->n);
    if (entering < 0) return true;
    int row = choose_row(p, entering);
    if (row < 0) return false;  // the sum of artificials cannot fall for ever: digits are lost
    pivot(p, row, entering);
  }
  return false;
}

// The multipliers of the rows as they were given.
static void read_multipliers(const phase *p, double *y) {
  for (int i = 0; i < p->n; i++) y[i] = p->sign[i] * fall_of(p, p->n + i);
}

// Measured with the numbers given: what the tableau has lost does not count.
static bool proves_empty(const carom_lcp_matrix *matrix, const double *q, const unsigned char *alpha, const double *y) {
  double fall = 0, terms = 0, height = 0;
  for (int i = 0; i < matrix->n; i++) fall += y[i] * q[i], terms += fabs(y[i] * q[i]);
  for (int j = 0; j < matrix->n; j++) {
    double rate = 0;
    for (int i = 0; i < matrix->n; i++) rate += y[i] * entry_of(matrix, alpha, i, j);
    height = fmax(height, rate);
  }
  return fall > CLEAR * terms && height <= PROOF * fall;
}

static void read_solution(const phase *p, double *x) {
  memset(x, 0, sizeof(double) * (size_t)p->n);
  for (int i = 0; i < p->n; i++)
    if (p->basic[i] < p->n) x[p->basic[i]] = fmax(p->T[i][2 * p->n], 0);
}

static double sum_of_artificials(const phase *p) { return fall_of(p, 2 * p->n); }

carom_lcp_pattern carom_lcp_pattern_solve(const carom_lcp_matrix *matrix, const double *q, const unsigned char *alpha,
                                          double *x) {
  phase p;
  double y[MOST];
  fill(&p, matrix, q, alpha);
  bool done = minimize(&p);
  read_multipliers(&p, y);
  read_solution(&p, x);
  if (done && sum_of_artificials(&p) <= ZERO) return CAROM_LCP_PATTERN_FOUND;
  return proves_empty(matrix, q, alpha, y) ? CAROM_LCP_PATTERN_EMPTY : CAROM_LCP_PATTERN_UNDECIDED;
}
