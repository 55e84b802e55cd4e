// The conditions of optimality at hand, and Newton's step for them: boxes condensed into a diagonal, scenarios into the
// root, and the solution corrected by the residual of the whole system.
//
// With dtl = dv + rl, rl = v - low - tl, and tl dzl + zl dtl = target - tl zl - cl (likewise above), a box gives
//
//     -dzl + dzu = D dv + g,   D = zl/tl + zu/tu,   g = (zl rl - target + cl)/tl + zl - (zu ru - target + cu)/tu - zu.
//
// A row's activity s has no other terms: w' = -pi' = -(dual residual) - D_s ds - g, so that ds = (side + dw)/D_s.
#include <math.h>
#include <string.h>

#include "solve/saa_work.h"

// ---- boxes ----------------------------------------------------------------------------------------------------------

typedef struct condensed {
  double D, g;
} condensed;

static condensed condense(const carom_saa_boxes *b, int k, double low, double high, double target) {
  condensed c = {0, 0};
  if (isfinite(low)) {
    c.D += b->zl[k] / b->tl[k];
    c.g += (b->zl[k] * (b->v[k] - low - b->tl[k]) - target + b->cl[k]) / b->tl[k] + b->zl[k];
  }
  if (isfinite(high)) {
    c.D += b->zu[k] / b->tu[k];
    c.g -= (b->zu[k] * (high - b->v[k] - b->tu[k]) - target + b->cu[k]) / b->tu[k] + b->zu[k];
  }
  return c;
}

// What boxes add to the sums: complementarity, how many, their part of the dual objective; how far they are off, the
// smaller one of slack and multiplier, and residuals of rows and of the gradient.
typedef struct tally {
  double product, count, dual, off, open, primal_off, dual_off;
} tally;

static void count_box(const carom_saa_boxes *b, int k, const carom_saa_span *s, tally *t) {
  double p = s->weight, low = s->low[k], high = s->high[k];
  if (isfinite(low)) {
    t->product += p * b->tl[k] * b->zl[k], t->count += p, t->dual += p * low * b->zl[k];
    t->off = fmax(t->off, fabs(b->v[k] - low - b->tl[k]));
    t->open = fmax(t->open, fmin(b->tl[k], b->zl[k]));
  }
  if (isfinite(high)) {
    t->product += p * b->tu[k] * b->zu[k], t->count += p, t->dual -= p * high * b->zu[k];
    t->off = fmax(t->off, fabs(high - b->v[k] - b->tu[k]));
    t->open = fmax(t->open, fmin(b->tu[k], b->zu[k]));
  }
}

// The gradient of the Lagrangian by a box, of which g is what no bound has part in.
static double dual_residual(const carom_saa_boxes *b, int k, const carom_saa_span *s, double g) {
  return g - (isfinite(s->low[k]) ? b->zl[k] : 0) + (isfinite(s->high[k]) ? b->zu[k] : 0);
}

// Unknowns: g has the gradient of the Lagrangian without bounds. Gives diagonal and right side.
static void set_unknowns(carom_saa_boxes *b, const carom_saa_span *s, const double *g, bool *masked, tally *t) {
  for (int k = 0; k < s->unknowns; k++) {
    b->cl[k] = b->cu[k] = 0;
    masked[k] = carom_saa_is_pinned(s->low[k], s->high[k]);
    if (masked[k]) {
      b->diagonal[k] = 1, b->right[k] = 0;
      b->zl[k] = fmax(g[k], 0), b->zu[k] = fmax(-g[k], 0);
      t->dual += s->weight * b->v[k] * g[k];
      continue;
    }
    condensed c = condense(b, k, s->low[k], s->high[k], 0);
    double rd = dual_residual(b, k, s, g[k]);
    b->diagonal[k] = c.D;
    b->right[k] = -rd - c.g;
    t->dual_off = fmax(t->dual_off, fabs(rd));
    count_box(b, k, s, t);
  }
}

// A row with room between its sides.
static void set_range(carom_saa_boxes *b, int r, const carom_saa_span *s, tally *t) {
  int k = s->unknowns + r;
  condensed c = condense(b, k, s->low[k], s->high[k], 0);
  double rd = dual_residual(b, k, s, -b->w[r]);
  b->side[r] = -rd - c.g;
  b->diagonal[k] = -1 / c.D;
  b->right[k] += b->side[r] / c.D;
  t->dual_off = fmax(t->dual_off, fabs(rd));
  count_box(b, k, s, t);
}

// The same of rows; g has what they come to.
static void set_rows(carom_saa_boxes *b, const carom_saa_span *s, const double *g, bool *masked, tally *t) {
  for (int r = 0; r < s->rows; r++) {
    int k = s->unknowns + r;
    bool pinned = carom_saa_is_pinned(s->low[k], s->high[k]), open = !isfinite(s->low[k]) && !isfinite(s->high[k]);
    b->cl[k] = b->cu[k] = 0;
    masked[k] = open;
    b->side[r] = 0;
    if (open) {
      b->v[k] = g[k], b->w[r] = 0;
      b->diagonal[k] = -1, b->right[k] = 0;
      continue;
    }
    if (pinned) b->v[k] = s->low[k];
    double rp = g[k] - b->v[k];
    t->primal_off = fmax(t->primal_off, fabs(rp));
    b->diagonal[k] = 0, b->right[k] = -rp;
    if (pinned)
      t->dual -= s->weight * s->low[k] * b->w[r];
    else
      set_range(b, r, s, t);
  }
}

// Where only the cost counts: rows off, and no bounds.
static void leave_cost(const carom_saa_span *s, double *diagonal, bool *masked) {
  for (int k = 0; k < s->unknowns + s->rows; k++) {
    masked[k] = k >= s->unknowns;
    diagonal[k] = masked[k] ? -1 : 0;
  }
}

// ---- refreshing -----------------------------------------------------------------------------------------------------

static void gather_border(const carom_saa_work *w, carom_saa_scratch *s) {
  const carom_saa_layout *l = &w->layout;
  for (int b = 0; b < l->border; b++) {
    int at = l->border_at[b];
    s->u[l->size + b] = at < l->n ? w->boxes.v[at] : w->boxes.w[at - l->n];
    s->masked[l->size + b] = w->masked[at];
  }
}

// u'(cost part of M)u / 2, that of the border's own unknowns apart, which the root has.
static double quadratic_cost(const carom_saa_layout *l, const carom_saa_scratch *s) {
  double sum = 0;
  for (int k = 0; k < l->element_count; k++) {
    const carom_saa_element *e = &l->elements[k];
    if (e->cost) sum += (e->i == e->j ? 0.5 : 1) * s->data[e->source] * s->u[e->i] * s->u[e->j];
  }
  return sum;
}

enum { PRODUCT, COUNT, LINEAR, QUADRATIC, DUAL };       // sums, then those of the border
enum { PRIMAL_OFF, DUAL_OFF, BOUND_OFF, WRONG, OPEN };  // maxima

static void add_tally(const tally *t, double *sums, double *maxima) {
  sums[PRODUCT] += t->product, sums[COUNT] += t->count, sums[DUAL] += t->dual;
  maxima[PRIMAL_OFF] = fmax(maxima[PRIMAL_OFF], t->primal_off);
  maxima[DUAL_OFF] = fmax(maxima[DUAL_OFF], t->dual_off);
  maxima[BOUND_OFF] = fmax(maxima[BOUND_OFF], t->off);
  maxima[OPEN] = fmax(maxima[OPEN], t->open);
}

static void gather_unknowns(const carom_saa_boxes *b, const carom_saa_span *span, double *u) {
  for (int k = 0; k < span->unknowns; k++) {
    if (carom_saa_is_pinned(span->low[k], span->high[k])) b->v[k] = span->low[k];
    u[k] = b->v[k];
  }
  memcpy(u + span->unknowns, b->w, (size_t)span->rows * sizeof *u);
}

static void refresh(carom_saa_work *w, int i, carom_saa_scratch *s, double *sums, double *maxima) {
  const carom_saa_layout *l = &w->layout;
  carom_saa_boxes b = carom_saa_boxes_of(w, i);
  double p = w->probability[w->first + i], *schur = sums + CAROM_SAA_SUMS + l->border, linear = 0;
  tally t = {0};
  carom_saa_load(w, i, s);
  const carom_saa_span span = carom_saa_span_of(w, i, s);
  gather_unknowns(&b, &span, s->u);
  gather_border(w, s);
  carom_saa_product(l, s, false);
  for (int k = 0; k < l->m; k++) linear += s->data[k] * b.v[k], s->g[k] += s->data[k];
  for (int k = 0; k < l->border; k++) sums[CAROM_SAA_SUMS + k] += p * s->g[l->size + k];
  sums[LINEAR] += p * linear, sums[QUADRATIC] += p * (w->quadratic ? quadratic_cost(l, s) : 0);
  set_unknowns(&b, &span, s->g, s->masked, &t);
  set_rows(&b, &span, s->g, s->masked, &t);
  add_tally(&t, sums, maxima);
  if (w->rows_off) leave_cost(&span, b.diagonal, s->masked);
  if (!carom_saa_factor(w, i, s, b.diagonal, schur)) maxima[WRONG] = fmax(maxima[WRONG], w->count - w->first - i);
  carom_saa_forward(w, i, s, b.right, b.error, schur + l->border * (l->border + 1) / 2);
}

// K_0 less what the scenarios take off, and its factor.
static bool factor_root(carom_saa_work *w, const double *schur) {
  const carom_saa_layout *l = &w->layout;
  size_t n = (size_t)l->root_boxes;
  memcpy(w->matrix, w->root + l->n + 2 * n + 1, n * n * sizeof *w->matrix);
  for (int b = 0; b < l->border; b++)
    for (int c = 0; c <= b; c++) w->matrix[(size_t)l->border_at[b] + (size_t)l->border_at[c] * n] += *schur++;
  return carom_saa_root_factor(w, w->boxes.diagonal);
}

static void add_border(const carom_saa_layout *l, const double *border, double *x) {
  for (int b = 0; b < l->border; b++) x[l->border_at[b]] += border[b];
}

// c'x + x'X x / 2: X is the block of K_0 that no row adds to.
static void add_root_cost(const carom_saa_work *w, double *sums) {
  const carom_saa_layout *l = &w->layout;
  size_t n = (size_t)l->n, n0 = (size_t)l->root_boxes;
  const double *v = w->boxes.v, *K = w->root + n + 2 * n0 + 1;
  for (size_t j = 0; j < n; j++) {
    sums[LINEAR] += w->root[j] * v[j];
    for (size_t i = j; i < n; i++) sums[QUADRATIC] += (i == j ? 0.5 : 1) * K[i + j * n0] * v[i] * v[j];
  }
}

// The root's conditions, to which scenarios have added `border`.
static void refresh_root(carom_saa_work *w, const double *border, double *sums, double *maxima) {
  const carom_saa_layout *l = &w->layout;
  carom_saa_boxes *b = &w->boxes;
  const carom_saa_span span = carom_saa_root_span(w);
  double *u = b->solution, *g = b->error;
  tally t = {0};
  gather_unknowns(b, &span, u);
  carom_saa_root_product(w, u, g, false);
  add_root_cost(w, sums);
  add_border(l, border, g);
  for (int k = 0; k < l->n; k++) g[k] += w->root[k];
  set_unknowns(b, &span, g, w->masked, &t);
  set_rows(b, &span, g, w->masked, &t);
  add_tally(&t, sums, maxima);
  if (w->rows_off) leave_cost(&span, b->diagonal, w->masked);
}

// Which unknowns of the root take part, before scenarios ask.
static void mask_root(carom_saa_work *w) {
  const carom_saa_span s = carom_saa_root_span(w);
  for (int k = 0; k < s.unknowns; k++) {
    w->masked[k] = !w->rows_off && carom_saa_is_pinned(s.low[k], s.high[k]);
    if (carom_saa_is_pinned(s.low[k], s.high[k])) w->boxes.v[k] = s.low[k];
  }
  for (int k = s.unknowns; k < s.unknowns + s.rows; k++)
    w->masked[k] = w->rows_off || (!isfinite(s.low[k]) && !isfinite(s.high[k]));
}

carom_status carom_saa_refresh(carom_saa_work *w, carom_error *error) {
  const carom_saa_layout *l = &w->layout;
  int half = l->border * (l->border + 1) / 2;
  mask_root(w);
  carom_status status = carom_saa_pass(w, refresh, CAROM_SAA_SUMS + 2 * l->border + half, CAROM_SAA_MAXIMA, error);
  if (status != CAROM_OK) return status;
  double *sums = w->total, *border = sums + CAROM_SAA_SUMS, *schur = border + l->border, *forward = schur + half;
  double *maxima = forward + l->border;
  refresh_root(w, border, sums, maxima);
  bool root = factor_root(w, schur);
  w->wrong = maxima[WRONG] > 0 ? w->count - (int)maxima[WRONG] : root ? -1 : -2;
  w->now = (carom_saa_state){.product = sums[PRODUCT],
                             .count = sums[COUNT],
                             .primal = sums[LINEAR] + sums[QUADRATIC],
                             .dual = sums[DUAL] - sums[QUADRATIC],
                             .primal_off = fmax(maxima[PRIMAL_OFF], maxima[BOUND_OFF]),
                             .dual_off = maxima[DUAL_OFF],
                             .open = maxima[OPEN]};
  memcpy(w->forward, forward, (size_t)l->border * sizeof *forward);
  return CAROM_OK;
}

// ---- solving --------------------------------------------------------------------------------------------------------

// The corrector's right side from the predictor's: what g gains, by box.
static double gain(const carom_saa_boxes *b, int k, double low, double high, double target) {
  double g = 0;
  if (isfinite(low)) g -= (target - b->cl[k]) / b->tl[k];
  if (isfinite(high)) g += (target - b->cu[k]) / b->tu[k];
  return g;
}

static void correct(carom_saa_boxes *b, const carom_saa_span *s, double target) {
  for (int k = 0; k < s->unknowns; k++)
    if (!carom_saa_is_pinned(s->low[k], s->high[k])) b->right[k] -= gain(b, k, s->low[k], s->high[k], target);
  for (int r = 0; r < s->rows; r++) {
    int k = s->unknowns + r;
    if (b->diagonal[k] >= 0 || (!isfinite(s->low[k]) && !isfinite(s->high[k]))) continue;
    double g = gain(b, k, s->low[k], s->high[k], target);
    b->side[r] -= g;
    b->right[k] += g * b->diagonal[k];
  }
}

static void correct_scenario(carom_saa_work *w, int i, carom_saa_scratch *s, double *sums, double *maxima) {
  carom_saa_boxes b = carom_saa_boxes_of(w, i);
  (void)maxima;
  carom_saa_load(w, i, s);
  const carom_saa_span span = carom_saa_span_of(w, i, s);
  correct(&b, &span, w->target);
  carom_saa_forward(w, i, s, b.right, b.error, sums);
}

static void solve_back(carom_saa_work *w, int i, carom_saa_scratch *s, double *sums, double *maxima) {
  carom_saa_boxes b = carom_saa_boxes_of(w, i);
  (void)sums, (void)maxima;
  carom_saa_backward(w, i, s, b.error, b.solution, w->adding);
}

static void set_masks(const carom_saa_work *w, carom_saa_scratch *s) {
  const carom_saa_layout *l = &w->layout;
  const double *low = carom_saa_low(l, s->data), *high = carom_saa_high(l, s->data);
  for (int k = 0; k < l->m; k++) s->masked[k] = carom_saa_is_pinned(low[k], high[k]);
  for (int k = l->m; k < l->size; k++) s->masked[k] = !isfinite(low[k]) && !isfinite(high[k]);
  for (int b = 0; b < l->border; b++) s->masked[l->size + b] = w->masked[l->border_at[b]];
}

// What the system lacks at the solution so far, and the first half of the solve for that.
static void lacks(carom_saa_work *w, int i, carom_saa_scratch *s, double *sums, double *maxima) {
  const carom_saa_layout *l = &w->layout;
  carom_saa_boxes b = carom_saa_boxes_of(w, i);
  double p = w->probability[w->first + i];
  carom_saa_load(w, i, s);
  set_masks(w, s);
  memcpy(s->u, b.solution, (size_t)l->size * sizeof *s->u);
  for (int k = 0; k < l->border; k++) s->u[l->size + k] = w->boxes.solution[l->border_at[k]];
  carom_saa_product(l, s, true);
  for (int k = 0; k < l->size; k++) {
    b.error[k] = b.right[k] - s->g[k] - b.diagonal[k] * b.solution[k];
    maxima[0] = fmax(maxima[0], fabs(b.error[k]));
    maxima[1] = fmax(maxima[1], fabs(b.right[k]));
  }
  for (int k = 0; k < l->border; k++) sums[l->border + k] += p * s->g[l->size + k];
  carom_saa_forward(w, i, s, b.error, b.error, sums);
}

// Solves for the root from its right side and what scenarios pass to it, then for the scenarios.
static carom_status solve_root(carom_saa_work *w, const double *right, const double *forward, bool add,
                               carom_error *error) {
  const carom_saa_layout *l = &w->layout;
  carom_saa_boxes *b = &w->boxes;
  size_t n = (size_t)l->root_boxes;
  memcpy(w->z, right, n * sizeof *w->z);
  for (int k = 0; k < l->border; k++)
    if (!w->masked[l->border_at[k]]) w->z[l->border_at[k]] += forward[k];
  carom_saa_root_solve(w, w->z);
  for (size_t k = 0; k < n; k++) b->solution[k] = add ? b->solution[k] + w->z[k] : w->z[k];
  w->adding = add;
  return carom_saa_pass(w, solve_back, 0, 0, error);
}

enum { REFINEMENTS = 6 };

// As long as it helps.
static carom_status refine(carom_saa_work *w, carom_error *error) {
  const carom_saa_layout *l = &w->layout;
  carom_saa_boxes *b = &w->boxes;
  double before = INFINITY;
  carom_status status = CAROM_OK;
  for (int round = 0; round < REFINEMENTS && status == CAROM_OK; round++) {
    status = carom_saa_pass(w, lacks, 2 * l->border, 2, error);
    if (status != CAROM_OK) return status;
    const double *forward = w->total, *border = forward + l->border, *maxima = border + l->border;
    double worst = maxima[0], size = maxima[1];
    carom_saa_root_product(w, b->solution, b->error, true);
    for (int k = 0; k < l->border; k++)
      if (!w->masked[l->border_at[k]]) b->error[l->border_at[k]] += border[k];
    for (int k = 0; k < l->root_boxes; k++) {
      b->error[k] = b->right[k] - b->error[k] - b->diagonal[k] * b->solution[k];
      worst = fmax(worst, fabs(b->error[k])), size = fmax(size, fabs(b->right[k]));
    }
    if (!(worst > 1e-14 * size) || !(worst < 0.5 * before)) break;
    before = worst;
    status = solve_root(w, b->error, forward, true, error);
  }
  return status;
}

carom_status carom_saa_newton(carom_saa_work *w, bool corrector, carom_error *error) {
  const carom_saa_layout *l = &w->layout;
  const double *forward = w->forward;
  carom_status status = CAROM_OK;
  if (corrector) {
    const carom_saa_span span = carom_saa_root_span(w);
    correct(&w->boxes, &span, w->target);
    status = carom_saa_pass(w, correct_scenario, l->border, 0, error);
    forward = w->total;
  }
  if (status == CAROM_OK) status = solve_root(w, w->boxes.right, forward, false, error);
  return status == CAROM_OK ? refine(w, error) : status;
}
