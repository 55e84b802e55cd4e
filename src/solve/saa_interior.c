// Mehrotra's predictor-corrector method (1992) on a two-stage problem, from an infeasible start.
#include <math.h>
#include <string.h>

#include "solve/saa_work.h"

// ---- the start ------------------------------------------------------------------------------------------------------

static double inside(double low, double high) { return fmax(fmin(0, high), low); }

static void start_boxes(carom_saa_boxes *b, int boxes, const double *low, const double *high) {
  for (int k = 0; k < boxes; k++) {
    b->v[k] = inside(low[k], high[k]);
    double apart = isfinite(low[k]) && isfinite(high[k]) ? fmax(1e-3, fmin(1, high[k] - low[k])) : 1;
    b->tl[k] = isfinite(low[k]) ? fmax(b->v[k] - low[k], apart) : 1;
    b->tu[k] = isfinite(high[k]) ? fmax(high[k] - b->v[k], apart) : 1;
    b->zl[k] = isfinite(low[k]) ? 1 : 0;
    b->zu[k] = isfinite(high[k]) ? 1 : 0;
  }
}

static void start_scenario(carom_saa_work *w, int i, carom_saa_scratch *s, double *sums, double *maxima) {
  const carom_saa_layout *l = &w->layout;
  carom_saa_boxes b = carom_saa_boxes_of(w, i);
  (void)sums, (void)maxima;
  carom_saa_load(w, i, s);
  start_boxes(&b, l->boxes, carom_saa_low(l, s->data), carom_saa_high(l, s->data));
  memset(b.w, 0, (size_t)l->rows * sizeof *b.w);
}

static carom_status start(carom_saa_work *w, carom_error *error) {
  const carom_saa_layout *l = &w->layout;
  const double *low = w->root + l->n;
  start_boxes(&w->boxes, l->root_boxes, low, low + l->root_boxes);
  memset(w->boxes.w, 0, (size_t)(l->first_rows + l->mean_rows) * sizeof *w->boxes.w);
  return carom_saa_pass(w, start_scenario, 0, 0, error);
}

// ---- along a step ---------------------------------------------------------------------------------------------------

// Changes of a slack and its multiplier. What a box is off comes first: added to v, the change of a slack near zero
// would drown in v's rounding.
typedef struct change {
  double dt, dz;
} change;

static change below(const carom_saa_boxes *b, int k, double low, double target) {
  double dt = b->dv[k] + (b->v[k] - low - b->tl[k]);
  return (change){dt, (target - b->cl[k] - b->zl[k] * dt) / b->tl[k] - b->zl[k]};
}

static change above(const carom_saa_boxes *b, int k, double high, double target) {
  double dt = (high - b->v[k] - b->tu[k]) - b->dv[k];
  return (change){dt, (target - b->cu[k] - b->zu[k] * dt) / b->tu[k] - b->zu[k]};
}

// Of unknowns the solution itself; of rows what their activities do.
static void find_changes(carom_saa_boxes *b, int unknowns, int rows) {
  for (int k = 0; k < unknowns; k++) b->dv[k] = b->solution[k];
  for (int r = 0; r < rows; r++) {
    int k = unknowns + r;
    b->dv[k] = b->diagonal[k] < 0 ? -b->diagonal[k] * (b->side[r] + b->solution[k]) : 0;
  }
}

enum { TZ, T_DZ, DT_Z, DT_DZ, STEP_SUMS };  // sums of products
enum { PRIMAL_RATIO, DUAL_RATIO, STEP_MAXIMA };

static void measure(change c, double t, double z, double p, double *sums, double *maxima) {
  sums[TZ] += p * t * z, sums[T_DZ] += p * t * c.dz, sums[DT_Z] += p * c.dt * z, sums[DT_DZ] += p * c.dt * c.dz;
  maxima[PRIMAL_RATIO] = fmax(maxima[PRIMAL_RATIO], -c.dt / t);
  maxima[DUAL_RATIO] = fmax(maxima[DUAL_RATIO], -c.dz / z);
}

static void look(const carom_saa_work *w, carom_saa_boxes *b, const carom_saa_span *s, double *sums, double *maxima) {
  for (int k = 0; k < s->unknowns + s->rows; k++) {
    double low = s->low[k], high = s->high[k];
    change down = {0, 0}, up = {0, 0};
    if (carom_saa_is_pinned(low, high)) continue;
    if (isfinite(low)) down = below(b, k, low, w->target), measure(down, b->tl[k], b->zl[k], s->weight, sums, maxima);
    if (isfinite(high)) up = above(b, k, high, w->target), measure(up, b->tu[k], b->zu[k], s->weight, sums, maxima);
    if (w->predicting) b->cl[k] = down.dt * down.dz, b->cu[k] = up.dt * up.dz;
  }
}

static void look_at_scenario(carom_saa_work *w, int i, carom_saa_scratch *s, double *sums, double *maxima) {
  carom_saa_boxes b = carom_saa_boxes_of(w, i);
  carom_saa_load(w, i, s);
  const carom_saa_span span = carom_saa_span_of(w, i, s);
  find_changes(&b, span.unknowns, span.rows);
  look(w, &b, &span, sums, maxima);
}

static carom_status look_ahead(carom_saa_work *w, bool predicting, carom_error *error) {
  const carom_saa_span span = carom_saa_root_span(w);
  w->predicting = predicting;
  carom_status status = carom_saa_pass(w, look_at_scenario, STEP_SUMS, STEP_MAXIMA, error);
  if (status != CAROM_OK) return status;
  find_changes(&w->boxes, span.unknowns, span.rows);
  look(w, &w->boxes, &span, w->total, w->total + STEP_SUMS);
  return CAROM_OK;
}

// The longest steps that keep slacks and multipliers from zero by the share 1 - keep; one for both in quadratic
// programs, whose dual residual depends on x.
static void choose_steps(carom_saa_work *w, double keep) {
  const double *ratio = w->total + STEP_SUMS;
  w->alpha_primal = ratio[PRIMAL_RATIO] > keep ? keep / ratio[PRIMAL_RATIO] : 1;
  w->alpha_dual = ratio[DUAL_RATIO] > keep ? keep / ratio[DUAL_RATIO] : 1;
  if (w->quadratic) w->alpha_primal = w->alpha_dual = fmin(w->alpha_primal, w->alpha_dual);
}

static void move(const carom_saa_work *w, carom_saa_boxes *b, const carom_saa_span *s) {
  for (int k = 0; k < s->unknowns + s->rows; k++) {
    double low = s->low[k], high = s->high[k];
    bool box = !carom_saa_is_pinned(low, high);
    change down = {0, 0}, up = {0, 0};
    if (box && isfinite(low)) down = below(b, k, low, w->target);
    if (box && isfinite(high)) up = above(b, k, high, w->target);
    b->tl[k] += w->alpha_primal * down.dt, b->zl[k] += w->alpha_dual * down.dz;
    b->tu[k] += w->alpha_primal * up.dt, b->zu[k] += w->alpha_dual * up.dz;
    b->v[k] += w->alpha_primal * b->dv[k];
  }
  for (int r = 0; r < s->rows; r++) b->w[r] += w->alpha_dual * b->solution[s->unknowns + r];
}

static void move_scenario(carom_saa_work *w, int i, carom_saa_scratch *s, double *sums, double *maxima) {
  carom_saa_boxes b = carom_saa_boxes_of(w, i);
  (void)sums, (void)maxima;
  carom_saa_load(w, i, s);
  const carom_saa_span span = carom_saa_span_of(w, i, s);
  move(w, &b, &span);
}

static carom_status step(carom_saa_work *w, carom_error *error) {
  const carom_saa_span span = carom_saa_root_span(w);
  move(w, &w->boxes, &span);
  return carom_saa_pass(w, move_scenario, 0, 0, error);
}

// ---- an iteration ---------------------------------------------------------------------------------------------------

static double centrality(const carom_saa_work *w) { return w->now.count > 0 ? w->now.product / w->now.count : 0; }

// sigma mu = mu (mu_affine / mu)^3, Mehrotra's rule.
static void choose_target(carom_saa_work *w) {
  const double *s = w->total;
  double mu = centrality(w), ap = w->alpha_primal, ad = w->alpha_dual;
  double affine = w->now.count > 0 ? (s[TZ] + ad * s[T_DZ] + ap * s[DT_Z] + ap * ad * s[DT_DZ]) / w->now.count : 0;
  double ratio = mu > 0 ? fmin(fmax(affine, 0) / mu, 1) : 0;
  w->target = mu * ratio * ratio * ratio;
}

static carom_status iterate(carom_saa_work *w, carom_error *error) {
  double mu = centrality(w);
  w->target = 0;
  carom_status status = carom_saa_newton(w, false, error);
  if (status == CAROM_OK) status = look_ahead(w, true, error);
  if (status != CAROM_OK) return status;
  choose_steps(w, 1);
  choose_target(w);
  status = carom_saa_newton(w, true, error);
  if (status == CAROM_OK) status = look_ahead(w, false, error);
  if (status != CAROM_OK) return status;
  choose_steps(w, fmin(fmax(0.99, 1 - mu), 0.99999));
  bool number = w->alpha_primal > 0 && w->alpha_dual > 0;  // the system may have no digit left
  return number ? step(w, error) : CAROM_OK;
}

static double merit(const carom_saa_state *s) {
  double gap = fabs(s->primal - s->dual) / (1 + fabs(s->primal));
  double worst = fmax(fmax(s->primal_off, s->dual_off), fmax(gap, s->open));
  return isfinite(s->primal) && isfinite(s->dual) ? worst : INFINITY;
}

// All ranks hear of a request to stop in the same iteration, since it is the first that is asked.
static bool goes_on(const carom_saa_work *w, int iteration) {
  const carom_progress *p = &w->options.progress;
  return !p->report || p->report(p->context, iteration, w->options.max_iterations);
}

enum { SHORT_STEPS = 6 };
static const double FINEST = 1e-24;  // products below which slacks are lost in the rounding of what they are slacks of

carom_status carom_saa_interior(carom_saa_work *w, carom_saa_answer *answer, carom_error *error) {
  double before = INFINITY;
  int small = 0, iteration = 0;
  carom_status status = start(w, error);
  answer->outcome = CAROM_SAA_LIMIT;
  for (; status == CAROM_OK; iteration++) {
    status = carom_saa_refresh(w, error);
    if (status != CAROM_OK) break;
    double now = merit(&w->now), tolerance = w->options.tolerance;
    answer->outcome = now <= tolerance ? CAROM_SAA_SOLVED : CAROM_SAA_LIMIT;
    if (now <= tolerance && (centrality(w) < FINEST || !(now < 0.1 * before))) break;  // no more digits to be had
    before = now;
    if (!isfinite(now) || iteration >= w->options.max_iterations || small >= SHORT_STEPS) break;
    if (!goes_on(w, iteration)) return carom_fail(error, CAROM_INTERRUPTED, "saa: stopped");
    status = iterate(w, error);
    small = !(fmin(w->alpha_primal, w->alpha_dual) > 0)   ? SHORT_STEPS
            : fmax(w->alpha_primal, w->alpha_dual) < 1e-4 ? small + 1
                                                          : 0;
  }
  answer->iterations = iteration;
  return status;
}
