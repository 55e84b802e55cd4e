// Cubic splines by their second derivatives M (de Boor 1978, chapter IV): between x_i and x_(i+1), with h = x_(i+1) -
// x_i and d = (y_(i+1) - y_i)/h,
//   h_(i-1) M_(i-1) + 2 (h_(i-1) + h_i) M_i + h_i M_(i+1) = 6 (d_i - d_(i-1)).
#include <math.h>

#include "carom/surrogate.h"

static bool ascends(const carom_spline *s) {
  for (int i = 1; i < s->count; i++)
    if (!(s->x[i] > s->x[i - 1])) return false;
  return s->count >= 2;
}

static double width(const carom_spline *s, int i) { return s->x[i + 1] - s->x[i]; }
static double chord(const carom_spline *s, int i) { return (s->y[i + 1] - s->y[i]) / width(s, i); }

// Not a knot: the third derivative goes on across x_1, so that M_0 = ((h_0 + h_1) M_1 - h_0 M_2)/h_1; at the end
// likewise.
static double end_value(double near, double far, double m_near, double m_far) {
  return ((near + far) * m_near - near * m_far) / far;
}

typedef struct row {
  double below, diagonal, above, right;
} row;

static row make_row(const carom_spline *s, int i, carom_spline_end end) {
  double a = width(s, i - 1), b = width(s, i);
  row r = {a, 2 * (a + b), b, 6 * (chord(s, i) - chord(s, i - 1))};
  if (end == CAROM_SPLINE_NATURAL) return r;
  if (i == 1) r.diagonal += a * (a + b) / b, r.above -= a * a / b;
  if (i == s->count - 2) r.diagonal += b * (a + b) / a, r.below -= b * b / a;
  return r;
}

// Gauss without pivots: the rows are diagonally dominant.
static void solve_rows(const carom_spline *s, carom_spline_end end, double *above, double *right) {
  int n = s->count;
  for (int i = 1; i < n - 1; i++) {
    row r = make_row(s, i, end);
    double pivot = r.diagonal - (i > 1 ? r.below * above[i - 1] : 0);
    above[i] = r.above / pivot;
    right[i] = (r.right - (i > 1 ? r.below * right[i - 1] : 0)) / pivot;
  }
  for (int i = n - 2; i >= 1; i--) s->second[i] = right[i] - (i < n - 2 ? above[i] * s->second[i + 1] : 0);
}

carom_status carom_spline_fit(const carom_spline *s, carom_spline_end end, double *work) {
  int n = s->count;
  if (!ascends(s)) return CAROM_ERR_ARGUMENT;
  s->second[0] = s->second[n - 1] = 0;
  if (n == 2) return CAROM_OK;
  if (n == 3 && end == CAROM_SPLINE_NOT_A_KNOT) {
    double second = 2 * (chord(s, 1) - chord(s, 0)) / (s->x[2] - s->x[0]);
    for (int i = 0; i < 3; i++) s->second[i] = second;
    return CAROM_OK;
  }
  solve_rows(s, end, work, work + n);
  if (end == CAROM_SPLINE_NATURAL) return CAROM_OK;
  s->second[0] = end_value(width(s, 0), width(s, 1), s->second[1], s->second[2]);
  s->second[n - 1] = end_value(width(s, n - 2), width(s, n - 3), s->second[n - 2], s->second[n - 3]);
  return CAROM_OK;
}

// The piece that x is in; beyond the ends the first or the last.
static int piece_of(const carom_spline *s, double x) {
  int low = 0, high = s->count - 1;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (x < s->x[middle])
      high = middle;
    else
      low = middle;
  }
  return low;
}

// Slope, half the curvature and a sixth of the third derivative at the left end of a piece.
static void coefficients(const carom_spline *s, int i, double c[3]) {
  double h = width(s, i);
  c[0] = chord(s, i) - h * (2 * s->second[i] + s->second[i + 1]) / 6;
  c[1] = s->second[i] / 2;
  c[2] = (s->second[i + 1] - s->second[i]) / (6 * h);
}

double carom_spline_value(const carom_spline *s, double x, double *slope) {
  int i = piece_of(s, x);
  double c[3], t = x - s->x[i];
  coefficients(s, i, c);
  if (slope) *slope = c[0] + t * (2 * c[1] + 3 * t * c[2]);
  return s->y[i] + t * (c[0] + t * (c[1] + t * c[2]));
}

// Where the cubic of a piece has its minimum: the root of c0 + 2 c1 t + 3 c2 t^2 at which the curvature is not
// negative, in the form that does not cancel.
static bool minimum_of(const double c[3], double *t) {
  double discriminant = c[1] * c[1] - 3 * c[0] * c[2];
  if (!(discriminant > 0)) return false;
  double root = sqrt(discriminant);
  *t = c[1] >= 0 ? -c[0] / (c[1] + root) : (root - c[1]) / (3 * c[2]);
  return isfinite(*t);
}

static void try_at(const carom_spline *s, double x, double *least, double *at) {
  double value = carom_spline_value(s, x, NULL);
  if (value < *least) *least = value, *at = x;
}

double carom_spline_least(const carom_spline *s, double low, double high, double *at) {
  double least = INFINITY;
  *at = low;
  try_at(s, low, &least, at);
  try_at(s, high, &least, at);
  for (int i = 0; i < s->count - 1; i++) {
    double c[3], t, from = i == 0 ? low : s->x[i], to = i == s->count - 2 ? high : s->x[i + 1];
    if (s->x[i] > low && s->x[i] < high) try_at(s, s->x[i], &least, at);
    coefficients(s, i, c);
    if (!minimum_of(c, &t)) continue;
    double x = s->x[i] + t;
    if (x > fmax(from, low) && x < fmin(to, high)) try_at(s, x, &least, at);
  }
  return least;
}
