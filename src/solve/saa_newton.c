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

// What one box adds to the sums: complementarity, how many, its part of the dual objective; how far it is off, and the
// smaller one of slack and multiplier.
typedef struct tally {
  double product, count, dual, off, open;
} tally;

static void count_box(const carom_saa_boxes *b, int k, double low, double high, double p, tally *t) {
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

// Boxes `first` on of unknowns: g has the gradient of the Lagrangian without bounds. Gives diagonal and right side.
static void set_unknowns(carom_saa_boxes *b, int count, const double *g, const double *low, const double *high,
                         bool *masked, double p, tally *t, double *dual_off) {
  for (int k = 0; k < count; k++) {
    b->cl[k] = b->cu[k] = 0;
    masked[k] = carom_saa_is_pinned(low[k], high[k]);
    if (masked[k]) {
      b->diagonal[k] = 1, b->right[k] = 0;
      b->zl[k] = fmax(g[k], 0), b->zu[k] = fmax(-g[k], 0);
      t->dual += p * b->v[k] * g[k];
      continue;
    }
    condensed c = condense(b, k, low[k], high[k], 0);
    double rd = g[k] - (isfinite(low[k]) ? b->zl[k] : 0) + (isfinite(high[k]) ? b->zu[k] : 0);
    b->diagonal[k] = c.D;
    b->right[k] = -rd - c.g;
    *dual_off = fmax(*dual_off, fabs(rd));
    count_box(b, k, low[k], high[k], p, t);
  }
}

// The same of rows, whose boxes come after `unknowns` others; g has what they come to.
static void set_rows(carom_saa_boxes *b, int unknowns, int rows, const double *g, const double *low, const double *high,
                     bool *masked, double p, tally *t, double *dual_off, double *primal_off) {
  for (int r = 0; r < rows; r++) {
    int k = unknowns + r;
    bool pinned = carom_saa_is_pinned(low[k], high[k]), open = !isfinite(low[k]) && !isfinite(high[k]);
    b->cl[k] = b->cu[k] = 0;
    masked[k] = open;
    b->side[r] = 0;
    if (open) {
      b->v[k] = g[k], b->w[r] = 0;
      b->diagonal[k] = -1, b->right[k] = 0;
      continue;
    }
    if (pinned) b->v[k] = low[k];
    double rp = g[k] - b->v[k];
    *primal_off = fmax(*primal_off, fabs(rp));
    b->diagonal[k] = 0, b->right[k] = -rp;
    if (pinned) {
      t->dual -= p * low[k] * b->w[r];
      continue;
    }
    condensed c = condense(b, k, low[k], high[k], 0);
    double rd = -b->w[r] - (isfinite(low[k]) ? b->zl[k] : 0) + (isfinite(high[k]) ? b->zu[k] : 0);
    b->side[r] = -rd - c.g;
    b->diagonal[k] = -1 / c.D;
    b->right[k] += b->side[r] / c.D;
    *dual_off = fmax(*dual_off, fabs(rd));
    count_box(b, k, low[k], high[k], p, t);
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

static void refresh(carom_saa_work *w, int i, carom_saa_scratch *s, double *sums, double *maxima) {
  const carom_saa_layout *l = &w->layout;
  carom_saa_boxes b = carom_saa_boxes_of(w, i);
  double p = w->probability[w->first + i], *schur = sums + CAROM_SAA_SUMS + l->border;
  tally t = {0};
  carom_saa_load(w, i, s);
  const double *low = carom_saa_low(l, s->data), *high = carom_saa_high(l, s->data);
  for (int k = 0; k < l->m; k++) {
    if (carom_saa_is_pinned(low[k], high[k])) b.v[k] = low[k];
    s->u[k] = b.v[k];
  }
  for (int r = 0; r < l->rows; r++) s->u[l->m + r] = b.w[r];
  gather_border(w, s);
  carom_saa_product(l, s, false);
  double linear = 0, quadratic = w->quadratic ? quadratic_cost(l, s) : 0;
  for (int k = 0; k < l->m; k++) linear += s->data[k] * b.v[k], s->g[k] += s->data[k];
  for (int k = 0; k < l->border; k++) sums[CAROM_SAA_SUMS + k] += p * s->g[l->size + k];
  set_unknowns(&b, l->m, s->g, low, high, s->masked, p, &t, &maxima[DUAL_OFF]);
  set_rows(&b, l->m, l->rows, s->g, low, high, s->masked, p, &t, &maxima[DUAL_OFF], &maxima[PRIMAL_OFF]);
  sums[PRODUCT] += t.product, sums[COUNT] += t.count, sums[DUAL] += t.dual;
  sums[LINEAR] += p * linear, sums[QUADRATIC] += p * quadratic;
  maxima[BOUND_OFF] = fmax(maxima[BOUND_OFF], t.off), maxima[OPEN] = fmax(maxima[OPEN], t.open);
  for (int k = 0; w->rows_off && k < l->size; k++) {
    s->masked[k] = k >= l->m;
    b.diagonal[k] = k < l->m ? 0 : -1;
  }
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

carom_status carom_saa_refresh(carom_saa_work *w, carom_error *error) {
  const carom_saa_layout *l = &w->layout;
  carom_saa_boxes *b = &w->boxes;
  int n = l->n, rows = l->first_rows + l->mean_rows, half = l->border * (l->border + 1) / 2;
  size_t n0 = (size_t)l->root_boxes;
  const double *c = w->root, *low = c + n, *high = low + n0;
  for (int k = 0; k < n; k++) {
    w->masked[k] = carom_saa_is_pinned(low[k], high[k]);
    if (w->masked[k]) b->v[k] = low[k];
  }
  for (int k = n; k < l->root_boxes; k++) w->masked[k] = w->rows_off || (!isfinite(low[k]) && !isfinite(high[k]));
  carom_status status = carom_saa_pass(w, refresh, CAROM_SAA_SUMS + 2 * l->border + half, CAROM_SAA_MAXIMA, error);
  if (status != CAROM_OK) return status;
  double *sums = w->total, *schur = sums + CAROM_SAA_SUMS + l->border, *forward = schur + half;
  double *maxima = forward + l->border, *u = b->solution, *g = b->error;
  memcpy(u, b->v, (size_t)n * sizeof *u);
  memcpy(u + n, b->w, (size_t)rows * sizeof *u);
  carom_saa_root_product(w, u, g, false);
  for (int k = 0; k < n; k++) sums[LINEAR] += c[k] * b->v[k];
  for (int j = 0; j < n; j++) {  // the cost's own part of K_0 x is what rows add nothing to: X is the block above them
    const double *K = high + n0 + 1 + (size_t)j * n0;
    for (int i = j; i < n; i++) sums[QUADRATIC] += (i == j ? 0.5 : 1) * K[i] * b->v[i] * b->v[j];
  }
  add_border(l, sums + CAROM_SAA_SUMS, g);
  for (int k = 0; k < n; k++) g[k] += c[k];
  tally t = {0};
  set_unknowns(b, n, g, low, high, w->masked, 1, &t, &maxima[DUAL_OFF]);
  set_rows(b, n, rows, g, low, high, w->masked, 1, &t, &maxima[DUAL_OFF], &maxima[PRIMAL_OFF]);
  sums[PRODUCT] += t.product, sums[COUNT] += t.count, sums[DUAL] += t.dual;
  maxima[BOUND_OFF] = fmax(maxima[BOUND_OFF], t.off), maxima[OPEN] = fmax(maxima[OPEN], t.open);
  for (int k = 0; w->rows_off && k < l->root_boxes; k++) {
    w->masked[k] = k >= n || w->masked[k];
    b->diagonal[k] = k >= n ? -1 : w->masked[k] ? 1 : 0;
  }
  bool root = factor_root(w, schur);
  w->wrong = maxima[WRONG] > 0 ? w->count - (int)maxima[WRONG] : root ? -1 : -2;
  double state[] = {sums[PRODUCT], sums[COUNT], sums[LINEAR], sums[QUADRATIC], sums[DUAL]};
  double off[] = {maxima[PRIMAL_OFF], maxima[DUAL_OFF], maxima[BOUND_OFF], 0, maxima[OPEN]};
  w->now = (carom_saa_state){.product = state[PRODUCT],
                             .count = state[COUNT],
                             .primal = state[LINEAR] + state[QUADRATIC],
                             .dual = state[DUAL] - state[QUADRATIC],
                             .primal_off = fmax(off[PRIMAL_OFF], off[BOUND_OFF]),
                             .dual_off = off[DUAL_OFF],
                             .open = off[OPEN]};
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

static void correct(carom_saa_boxes *b, int unknowns, int rows, const double *low, const double *high, double target) {
  for (int k = 0; k < unknowns; k++)
    if (!carom_saa_is_pinned(low[k], high[k])) b->right[k] -= gain(b, k, low[k], high[k], target);
  for (int r = 0; r < rows; r++) {
    int k = unknowns + r;
    if (b->diagonal[k] >= 0 || (!isfinite(low[k]) && !isfinite(high[k]))) continue;
    double g = gain(b, k, low[k], high[k], target);
    b->side[r] -= g;
    b->right[k] += g * b->diagonal[k];
  }
}

static void correct_scenario(carom_saa_work *w, int i, carom_saa_scratch *s, double *sums, double *maxima) {
  const carom_saa_layout *l = &w->layout;
  carom_saa_boxes b = carom_saa_boxes_of(w, i);
  (void)maxima;
  carom_saa_load(w, i, s);
  correct(&b, l->m, l->rows, carom_saa_low(l, s->data), carom_saa_high(l, s->data), w->target);
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
    const double *low = w->root + l->n, *high = low + l->root_boxes;
    correct(&w->boxes, l->n, l->first_rows + l->mean_rows, low, high, w->target);
    status = carom_saa_pass(w, correct_scenario, l->border, 0, error);
    forward = w->total;
  }
  if (status == CAROM_OK) status = solve_root(w, w->boxes.right, forward, false, error);
  return status == CAROM_OK ? refine(w, error) : status;
}
