// A step in given modes: one linear system for the forces of contacts that carry,
//
//     u_n = 0 where a contact carries,   u_t = 0 where it sticks,   P_t = -+ mu P_n where it slides,
//
// and how far all that from a change is: complementary cone and basis of Gavrea 2008, 2.4 (the loop after (2.4.21)).
// Contacts that share forces in several ways make the system singular though motions are unique: of all solutions the
// one is taken whose forces are farthest from a change.
#include <math.h>
#include <string.h>

#include "step/quasistatic/parts.h"

static const double RANK = 1e-11;       // pivots over the largest
static const double CONSISTENT = 1e-9;  // right-hand sides over the largest, where there is no pivot
static const double STRAINS_MET = 1e-10;
enum { PASSES_MAX = 1000, SWEEPS = 4, CORNERS_MAX = 40 };

// The system, scaled to a unit diagonal: A (n x n, column-major), b, and the solutions x + N c.
typedef struct linear {
  int n, rank;
  double *A, *b, *x, *N;
  double *scale;      // (n) of rows, and of the unknowns
  int *row, *column;  // (n) pivots
  int *item, *k;      // (n) which force it is: of an item along its row k
} linear;

// ---- the system -----------------------------------------------------------------------------------------------------

static bool carries(carom_contact_mode mode) { return mode != CAROM_MODE_OPEN; }

static bool slides(const carom_quasi_item *item, carom_contact_mode mode) {
  return item->tangents > 0 && (mode == CAROM_MODE_FORWARD || mode == CAROM_MODE_BACKWARD);
}

static int rows_of(const carom_quasi_item *item, carom_contact_mode mode) {
  if (!carries(mode)) return 0;
  return mode == CAROM_MODE_STICK ? 1 + item->tangents : 1;
}

// Friction over pressure of what slides.
static double drag_of(const carom_quasi_item *item, carom_contact_mode mode) {
  if (!slides(item, mode)) return 0;
  return mode == CAROM_MODE_FORWARD ? -item->mu : item->mu;
}

static carom_status lay_out(carom_quasi *s, const carom_contact_mode *modes, linear *l, carom_error *error) {
  int n = 0;
  for (int i = 0; i < s->count; i++) n += rows_of(&s->items[i], modes[i]);
  carom_status status = carom_quasi_room(s, 2 * n * n + 3 * n + 1, 4 * n + 1, error);
  if (status != CAROM_OK) return status;
  *l = (linear){.n = n, .A = s->dense};
  l->N = l->A + n * n, l->b = l->N + n * n, l->x = l->b + n, l->scale = l->x + n;
  l->row = s->choice, l->column = l->row + n, l->item = l->column + n, l->k = l->item + n;
  for (int i = 0, r = 0; i < s->count; i++)
    for (int k = 0; k < rows_of(&s->items[i], modes[i]); k++, r++) l->item[r] = i, l->k[r] = k;
  return CAROM_OK;
}

// Number of an unknown among the rows of the whole problem.
static size_t place_of(const carom_system *q, const linear *l, int unknown) {
  int row = q->blocks[l->item[unknown]].first + l->k[unknown];
  return (size_t)row;
}

static void fill(const carom_quasi *s, const carom_contact_mode *modes, linear *l) {
  const carom_system *q = &s->solver->whole;
  for (int r = 0; r < l->n; r++) {
    size_t own = place_of(q, l, r);
    l->scale[r] = sqrt(q->W[own * ((size_t)q->rows + 1)]);
    l->b[r] = -q->u0[own] / l->scale[r];
  }
  for (int c = 0; c < l->n; c++) {
    size_t by = place_of(q, l, c);
    double drag = l->k[c] == 0 ? drag_of(&s->items[l->item[c]], modes[l->item[c]]) : 0;
    for (int r = 0; r < l->n; r++) {
      size_t at = place_of(q, l, r);
      double a = q->W[at + by * (size_t)q->rows];
      if (drag != 0) a += drag * q->W[at + (by + 1) * (size_t)q->rows];
      l->A[r + c * l->n] = a / (l->scale[r] * l->scale[c]);
    }
  }
}

// ---- all solutions --------------------------------------------------------------------------------------------------

static void swap_int(int *a, int *b) {
  int t = *a;
  *a = *b, *b = t;
}

static void bring_pivot(linear *l, int step, int row, int column) {
  int n = l->n;
  for (int c = 0; c < n; c++) {
    double t = l->A[step + c * n];
    l->A[step + c * n] = l->A[row + c * n], l->A[row + c * n] = t;
  }
  for (int r = 0; r < n; r++) {
    double t = l->A[r + step * n];
    l->A[r + step * n] = l->A[r + column * n], l->A[r + column * n] = t;
  }
  double t = l->b[step];
  l->b[step] = l->b[row], l->b[row] = t;
  swap_int(&l->column[step], &l->column[column]);
}

// Complete pivoting; the rank is where pivots end.
static void eliminate(linear *l) {
  int n = l->n;
  double first = 0;
  for (int c = 0; c < n; c++) l->column[c] = c;
  for (l->rank = 0; l->rank < n; l->rank++) {
    int p = l->rank, row = p, column = p;
    for (int c = p; c < n; c++)
      for (int r = p; r < n; r++)
        if (fabs(l->A[r + c * n]) > fabs(l->A[row + column * n])) row = r, column = c;
    double pivot = fabs(l->A[row + column * n]);
    if (p == 0) first = pivot;
    if (!(pivot > RANK * first)) return;
    bring_pivot(l, p, row, column);
    for (int r = p + 1; r < n; r++) {
      double f = l->A[r + p * n] / l->A[p + p * n];
      for (int c = p; c < n && f != 0; c++) l->A[r + c * n] -= f * l->A[p + c * n];
      l->b[r] -= f * l->b[p];
    }
  }
}

// The unknowns that have pivots, from the triangle; `free` (or -1) is one that has none and is 1.
static void back(const linear *l, int free, double *x) {
  int n = l->n;
  memset(x, 0, (size_t)n * sizeof *x);
  if (free >= 0) x[l->column[free]] = 1;
  for (int r = l->rank - 1; r >= 0; r--) {
    double sum = free >= 0 ? -l->A[r + free * n] : l->b[r];
    for (int c = r + 1; c < l->rank; c++) sum -= l->A[r + c * n] * x[l->column[c]];
    x[l->column[r]] = sum / l->A[r + r * n];
  }
}

static bool solve_all(linear *l) {
  double most = 0;
  for (int r = 0; r < l->n; r++) most = fmax(most, fabs(l->b[r]));
  eliminate(l);
  for (int r = l->rank; r < l->n; r++)
    if (!(fabs(l->b[r]) <= CONSISTENT * most)) return false;
  back(l, -1, l->x);
  for (int f = l->rank; f < l->n; f++) back(l, f, l->N + (f - l->rank) * l->n);
  for (int i = 0; i < l->n; i++) {  // forces from now on
    l->x[i] /= l->scale[i];
    for (int f = 0; f < l->n - l->rank; f++) l->N[i + f * l->n] /= l->scale[i];
  }
  return true;
}

// ---- forces ---------------------------------------------------------------------------------------------------------

// What must not be negative of unknown r, P_n or what friction has left to either side, for forces x.
static int slacks_of(const carom_quasi *s, const linear *l, int r, const double *x, double slack[2]) {
  const carom_quasi_item *item = &s->items[l->item[r]];
  if (l->k[r] == 0) {
    slack[0] = x[r];
    return 1;
  }
  double most = item->mu * x[r - l->k[r]];
  slack[0] = most - x[r], slack[1] = most + x[r];
  return 2;
}

static void least_at(const carom_quasi *s, const linear *l, const double *along, double c, double *value,
                     double *slope) {
  double v[2], d[2];
  *value = INFINITY, *slope = 0;
  for (int r = 0; r < l->n; r++) {
    int count = slacks_of(s, l, r, l->x, v);
    slacks_of(s, l, r, along, d);
    for (int k = 0; k < count; k++)
      if (v[k] + c * d[k] < *value) *value = v[k] + c * d[k], *slope = d[k];
  }
}

// The highest point of the least slack along one direction: lines to its left rise, lines to its right fall.
static void share_along(const carom_quasi *s, linear *l, const double *along) {
  double c = 0, value, slope, size = 0, force = 0;
  double left[2] = {NAN, 0}, right[2] = {NAN, 0};  // value at 0 and slope
  for (int r = 0; r < l->n; r++) size = fmax(size, fabs(along[r])), force = fmax(force, fabs(l->x[r]));
  if (!(size > 0) || !(force > 0)) return;
  for (int i = 0; i < CORNERS_MAX; i++) {
    least_at(s, l, along, c, &value, &slope);
    if (slope == 0) break;
    double *side = slope > 0 ? left : right, at_zero = value - c * slope;
    if (side[0] == at_zero && side[1] == slope) break;
    side[0] = at_zero, side[1] = slope;
    double next = (right[0] - left[0]) / (left[1] - right[1]);
    if (isnan(left[0])) next = c - 4 * force / size;
    if (isnan(right[0])) next = c + 4 * force / size;
    if (fabs(next - c) <= 1e-12 * force / size) break;
    c = next;
  }
  for (int r = 0; r < l->n; r++) l->x[r] += c * along[r];
}

static void share(const carom_quasi *s, linear *l) {
  int free = l->n - l->rank;
  for (int sweep = 0; sweep < (free > 1 ? SWEEPS : free); sweep++)
    for (int f = 0; f < free; f++) share_along(s, l, l->N + f * l->n);
}

// ---- margins --------------------------------------------------------------------------------------------------------

static void note(carom_quasi_margin *margin, double value, int item, carom_contact_mode instead) {
  if (value < margin->least) *margin = (carom_quasi_margin){value, item, instead};
}

static void note_forces(const carom_quasi *s, const linear *l, carom_quasi_margin *margin) {
  double most = 0, slack[2];
  for (int r = 0; r < l->n; r++)
    if (l->k[r] == 0) most = fmax(most, fabs(l->x[r]));
  for (int r = 0; r < l->n; r++) {
    int count = slacks_of(s, l, r, l->x, slack);
    for (int k = 0; k < count; k++) {
      carom_contact_mode instead = CAROM_MODE_OPEN;
      if (count == 2) instead = k == 0 ? CAROM_MODE_BACKWARD : CAROM_MODE_FORWARD;
      note(margin, most > 0 ? slack[k] / most : 0, l->item[r], instead);
    }
  }
}

static carom_contact_mode closing_mode(const carom_quasi *s, const carom_quasi_item *item) {
  if (item->tangents == 0) return CAROM_MODE_FORWARD;
  if (fabs(item->rate[1]) <= 1e-9 * s->fastest) return CAROM_MODE_STICK;
  return item->rate[1] > 0 ? CAROM_MODE_FORWARD : CAROM_MODE_BACKWARD;
}

static void note_rates(const carom_quasi *s, const carom_contact_mode *modes, carom_quasi_margin *margin) {
  double scale = s->fastest > 0 ? s->fastest : 1;
  for (int i = 0; i < s->count; i++) {
    const carom_quasi_item *item = &s->items[i];
    if (!carries(modes[i]))
      note(margin, (item->rate[0] + carom_quasi_bias(s, item)) / scale, i, closing_mode(s, item));
    else if (slides(item, modes[i]))
      note(margin, (modes[i] == CAROM_MODE_FORWARD ? item->rate[1] : -item->rate[1]) / scale, i, CAROM_MODE_STICK);
  }
}

// ---- the step in given modes ----------------------------------------------------------------------------------------

static void apply(carom_quasi *s, const carom_contact_mode *modes, const linear *l) {
  double *P = s->solver->whole.P;
  memset(P, 0, (size_t)s->solver->whole.rows * sizeof *P);
  for (int r = 0; r < l->n; r++) {
    int first = s->solver->whole.blocks[l->item[r]].first;
    P[first + l->k[r]] = l->x[r];
    if (slides(&s->items[l->item[r]], modes[l->item[r]]))
      P[first + 1] = drag_of(&s->items[l->item[r]], modes[l->item[r]]) * l->x[r];
  }
  carom_quasi_apply(s, P, false);
  for (int i = 0; i < s->count; i++) s->items[i].mode = modes[i];
}

// False: the system has no solution.
static carom_status solve_once(carom_quasi *s, const carom_contact_mode *modes, linear *l, bool *solved,
                               carom_error *error) {
  carom_status status = carom_quasi_assemble(s, error);
  if (status == CAROM_OK) status = lay_out(s, modes, l, error);
  if (status != CAROM_OK) return status;
  fill(s, modes, l);
  *solved = solve_all(l);
  if (!*solved) return CAROM_OK;
  share(s, l);
  apply(s, modes, l);
  return CAROM_OK;
}

carom_status carom_quasi_solve_in(carom_quasi *s, const carom_contact_mode *modes, carom_quasi_margin *margin,
                                  carom_error *error) {
  const carom_quasi_margin lost = {-INFINITY, -1, CAROM_MODE_OPEN};
  linear l;
  double off = INFINITY;
  bool solved = true;
  *margin = (carom_quasi_margin){INFINITY, -1, CAROM_MODE_OPEN};
  if (!s->model->planar)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED, "steps in given modes are for planar models: slips have no sign");
  for (int i = 0; i < PASSES_MAX && solved && off > STRAINS_MET; i++, off = carom_quasi_has_dry(s) ? off : 0) {
    carom_status status = solve_once(s, modes, &l, &solved, error);
    if (status == CAROM_OK && solved && carom_quasi_has_dry(s))
      status = carom_quasi_strain(s, i, STRAINS_MET, &off, error);
    if (status != CAROM_OK) return status;
  }
  if (!solved || carom_quasi_escaped(s)) {
    *margin = lost;
    return CAROM_OK;
  }
  note_forces(s, &l, margin);
  note_rates(s, modes, margin);
  return CAROM_OK;
}
