// The first phase of the simplex method (Dantzig 1963, chapter 5): rows are given signs s that make the right-hand side
// positive, an artificial variable each where w_i does not serve, and the sum of the artificials is made as small as it
// can be. If it is zero, x is found. If not, the multipliers y of the optimum say why: y'C <= 0 and y'q > 0 (Farkas).
#include "solve/lcp_pattern.h"

#include <math.h>
#include <string.h>

enum { MOST = CAROM_LCP_ENUMERATE_MAX + 1, PIVOTS_PER_ROW = 50, GREEDY_PER_ROW = 10 };
static const double ZERO = 1e-11;   // entries and reduced costs below this, of a tableau of order one, are none
static const double PROOF = 1e-10;  // y'C at most this times y'q: a solution would have to be as large as 1 / PROOF
static const double CLEAR = 1e-12;  // and y'q above this times the sum of its terms, so that it is no round-off

// Columns: x (n), artificials (rows), the right-hand side. Those of artificials hold the inverse of the basis.
typedef struct phase {
  const carom_lcp_pattern *of;
  int n, rows;
  int basic[MOST];  // (rows) x_j = j, artificials n + i
  double sign[MOST];
  double T[MOST][2 * MOST + 1];
} phase;

static double entry_of(const carom_lcp_pattern *of, int i, int j) {
  if (i == of->n) return of->alpha[j] ? of->q[j] : 0;
  return of->alpha[j] ? -of->M[(size_t)i + (size_t)j * (size_t)of->n] : i == j;
}

static double right_of(const carom_lcp_pattern *of, int i) { return !of->falls ? of->q[i] : i == of->n ? -1 : 0; }

static double value_of(const phase *p, int i) { return p->T[i][p->n + p->rows]; }

static void fill(phase *p, const carom_lcp_pattern *of) {
  int n = of->n, rows = n + of->falls;
  p->of = of, p->n = n, p->rows = rows;
  memset(p->T, 0, sizeof p->T);
  for (int i = 0; i < rows; i++) {
    double b = right_of(of, i);
    p->sign[i] = b < 0 ? -1 : 1;
    for (int j = 0; j < n; j++) p->T[i][j] = p->sign[i] * entry_of(of, i, j);
    p->T[i][n + i] = 1;
    p->T[i][n + rows] = fabs(b);
    p->basic[i] = i < n && !of->alpha[i] && b >= 0 ? i : n + i;
  }
}

// The rate at which the sum of the artificials falls as column j rises.
static double fall_of(const phase *p, int j) {
  double fall = 0;
  for (int i = 0; i < p->rows; i++)
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
static bool goes_before(const phase *p, int i, int row) {
  bool artificial = p->basic[i] >= p->n, other = p->basic[row] >= p->n;
  return artificial != other ? artificial : p->basic[i] < p->basic[row];
}

static int choose_row(const phase *p, int entering) {
  int row = -1;
  double least = INFINITY;
  for (int i = 0; i < p->rows; i++) {
    if (!(p->T[i][entering] > ZERO)) continue;
    double ratio = fmax(value_of(p, i), 0) / p->T[i][entering];
    if (row >= 0 && !(ratio < least) && !(ratio == least && goes_before(p, i, row))) continue;
    least = ratio, row = i;
  }
  return row;
}

static void pivot(phase *p, int row, int entering) {
  int width = p->n + p->rows + 1;
  double *r = p->T[row], divisor = r[entering];
  for (int j = 0; j < width; j++) r[j] /= divisor;
  for (int i = 0; i < p->rows; i++) {
    double factor = p->T[i][entering];
    if (i == row || factor == 0) continue;
    for (int j = 0; j < width; j++) p->T[i][j] -= factor * r[j];
    p->T[i][entering] = 0;
  }
  p->basic[row] = entering;
}

static bool minimize(phase *p) {
  for (int count = 0; count < PIVOTS_PER_ROW * p->rows; count++) {
    int entering = choose_entering(p, count > GREEDY_PER_ROW * p->rows);
    if (entering < 0) return true;
    int row = choose_row(p, entering);
    if (row < 0) return false;  // the sum of artificials cannot fall for ever: digits are lost
    pivot(p, row, entering);
  }
  return false;
}

// By the multipliers of the rows as they were given, measured with the numbers given: what the tableau has lost does
// not count.
static bool proves_empty(const phase *p) {
  double y[MOST], fall = 0, terms = 0, height = 0;
  for (int i = 0; i < p->rows; i++) {
    y[i] = p->sign[i] * fall_of(p, p->n + i);
    fall += y[i] * right_of(p->of, i), terms += fabs(y[i] * right_of(p->of, i));
  }
  for (int j = 0; j < p->n; j++) {
    double rate = 0;
    for (int i = 0; i < p->rows; i++) rate += y[i] * entry_of(p->of, i, j);
    height = fmax(height, rate);
  }
  return fall > CLEAR * terms && height <= PROOF * fall;
}

carom_lcp_pattern_answer carom_lcp_pattern_solve(const carom_lcp_pattern *pattern, double *x) {
  phase p;
  fill(&p, pattern);
  bool done = minimize(&p);
  memset(x, 0, sizeof(double) * (size_t)p.n);
  for (int i = 0; i < p.rows; i++)
    if (p.basic[i] < p.n) x[p.basic[i]] = fmax(value_of(&p, i), 0);
  if (done && fall_of(&p, p.n + p.rows) <= ZERO) return CAROM_LCP_PATTERN_FOUND;
  return proves_empty(&p) ? CAROM_LCP_PATTERN_EMPTY : CAROM_LCP_PATTERN_UNDECIDED;
}
