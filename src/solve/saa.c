// Two-stage stochastic programs: one solve from problem to answer.
#include "carom/saa.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "solve/saa_terms.h"
#include "solve/saa_work.h"

carom_saa_options carom_saa_default_options(void) {
  return (carom_saa_options){.max_iterations = 200, .tolerance = 1e-10};
}

const char *carom_saa_outcome_name(carom_saa_outcome outcome) {
  static const char *const names[] = {"solved", "infeasible", "unbounded", "limit"};
  return (unsigned)outcome < sizeof names / sizeof *names ? names[outcome] : "unknown";
}

void carom_saa_scenario_name(const carom_saa_set *set, int number, char *text, size_t size) {
  snprintf(text, size, "scenario %d", number + 1);
  if (set->name && number >= 0) set->name(set->context, number, text, size);
}

// ---- room -----------------------------------------------------------------------------------------------------------

enum { MOST_CHUNKS = 64, FEWEST_CHUNKS = 16, CHUNK_NUMBERS = 1 << 22 };

// As many as keep their sums together within some memory, and never fewer than sixteen.
static int choose_chunks(const carom_saa_work *w) {
  int most = CHUNK_NUMBERS / w->widest;
  most = most > MOST_CHUNKS ? MOST_CHUNKS : most < FEWEST_CHUNKS ? FEWEST_CHUNKS : most;
  return w->count < most ? w->count : most;
}

// As many as asked for; by default as many as have work enough not to wait for each other most of the time.
static int choose_threads(const carom_saa_work *w) {
  const carom_saa_layout *l = &w->layout;
  const double worth = 1e6;  // numbers touched in a pass
  double work = (double)w->held * (l->factor_size + l->element_count + 10.0 * l->size);
  int most = carom_thread_count(w->options.threads);
  if (w->options.threads > 0 || work > worth * most) return most;
  return 1 + (int)(work / worth);
}

static void share_out(carom_saa_work *w) {
  const carom_saa_layout *l = &w->layout;
  const carom_saa_ranks *r = &w->options.ranks;
  carom_team ranks = {r->count > 1 ? r->count : 1, r->count > 1 ? r->rank : 0};
  int border = l->border * (l->border + 1) / 2 + 2 * l->border + CAROM_SAA_SUMS + CAROM_SAA_MAXIMA;
  w->widest = border > l->root_mean_count + 2 ? border : l->root_mean_count + 2;
  w->count = w->set->count;
  w->chunks = choose_chunks(w);
  w->chunk_first = carom_team_share(ranks, w->chunks);
  w->chunk_end = carom_team_share_end(ranks, w->chunks);
  w->first = carom_team_share((carom_team){w->chunks, w->chunk_first}, w->count);
  w->held = carom_team_share((carom_team){w->chunks, w->chunk_end}, w->count) - w->first;
  w->threads = choose_threads(w);
  if (w->threads > w->chunk_end - w->chunk_first) w->threads = w->chunk_end - w->chunk_first;
  if (w->threads < 1) w->threads = 1;
  w->stride = 8 * (size_t)l->boxes + 2 * (size_t)l->rows + 4 * (size_t)l->size;
}

static bool make_scratch(carom_saa_work *w) {
  const carom_saa_layout *l = &w->layout;
  size_t all = (size_t)l->size + (size_t)l->border;
  if (!CAROM_NEW_ALL(&w->allocator, CAROM_ROOM(w->scratch, w->threads))) return false;
  for (int k = 0; k < w->threads; k++) {
    carom_saa_scratch *s = &w->scratch[k];
    if (!CAROM_NEW_ALL(&w->allocator, CAROM_ROOM(s->data, l->data_size), CAROM_ROOM(s->u, all), CAROM_ROOM(s->g, all),
                       CAROM_ROOM(s->t, all), CAROM_ROOM(s->masked, all)))
      return false;
  }
  return true;
}

static void lay_out_root(carom_saa_work *w) {
  const carom_saa_layout *l = &w->layout;
  size_t n0 = (size_t)l->root_boxes;
  carom_saa_boxes *b = &w->boxes;
  double *at = w->root_memory;
  double **const fields[] = {&b->v,  &b->tl, &b->tu,   &b->zl,       &b->zu,    &b->cl,       &b->cu,
                             &b->dv, &b->w,  &b->side, &b->diagonal, &b->right, &b->solution, &b->error};
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) *fields[k] = at, at += n0;
}

static bool make_room(carom_saa_work *w) {
  const carom_saa_layout *l = &w->layout;
  size_t n0 = (size_t)l->root_boxes, held = (size_t)w->held,
         ranks = (size_t)(w->options.ranks.count > 1 ? w->options.ranks.count : 1);
  bool good = CAROM_NEW_ALL(
      &w->allocator, CAROM_ROOM(w->probability, w->count), CAROM_ROOM(w->random, held * (size_t)l->random_count),
      CAROM_ROOM(w->state, held * w->stride), CAROM_ROOM(w->factors, held * (size_t)(l->factor_size + l->size)),
      CAROM_ROOM(w->sums, (size_t)w->chunks * (size_t)w->widest), CAROM_ROOM(w->total, w->widest),
      CAROM_ROOM(w->exchange_start, ranks + 1), CAROM_ROOM(w->root, l->root_size), CAROM_ROOM(w->root_memory, 14 * n0),
      CAROM_ROOM(w->matrix, n0 * n0), CAROM_ROOM(w->z, n0), CAROM_ROOM(w->masked, n0),
      CAROM_ROOM(w->forward, l->border));
  if (!good || !make_scratch(w)) return false;
  lay_out_root(w);
  return true;
}

static void release(carom_saa_work *w) {
  const carom_allocator *a = &w->allocator;
  for (int k = 0; w->scratch && k < w->threads; k++) {
    carom_saa_scratch *s = &w->scratch[k];
    CAROM_RELEASE_ALL(a, s->data, s->u, s->g, s->t, s->masked);
  }
  CAROM_RELEASE_ALL(a, w->scratch, w->probability, w->random, w->state, w->factors, w->sums, w->total,
                    w->exchange_start, w->root, w->root_memory, w->matrix, w->z, w->masked, w->forward);
  carom_saa_layout_destroy(&w->layout, a);
}

// ---- scenarios ------------------------------------------------------------------------------------------------------

static carom_status ask_scenario(carom_saa_work *w, int i, carom_error *error) {
  double *values = w->random + (size_t)i * (size_t)w->layout.random_count, p = 0;
  char name[120];
  carom_status status = w->set->scenario(w->set->context, w->first + i, values, &p, error);
  if (status != CAROM_OK) return status;
  w->probability[w->first + i] = p;
  if (!(p > 0) || !isfinite(p)) {
    carom_saa_scenario_name(w->set, w->first + i, name, sizeof name);
    return carom_fail(error, CAROM_ERR_NUMBER, "saa: the probability of %s is %g; it must be greater than 0", name, p);
  }
  for (int k = 0; k < w->layout.random_count; k++) {
    if (isfinite(values[k])) continue;
    carom_saa_scenario_name(w->set, w->first + i, name, sizeof name);
    return carom_fail(error, CAROM_ERR_NUMBER, "saa: random number %d of %s is %g", k, name, values[k]);
  }
  return CAROM_OK;
}

static carom_status ask_all(carom_saa_work *w, carom_error *error) {
  for (int i = 0; i < w->held; i++) {
    carom_status status = ask_scenario(w, i, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

enum { MOST_RANKS = 4096 };

// Asks the heap for nothing, since what has failed may be that.
carom_status carom_saa_agree(const carom_saa_ranks *r, carom_status own, carom_error *error) {
  double values[MOST_RANKS];
  size_t start[MOST_RANKS + 1];
  if (r->count <= 1) return own;
  for (int k = 0; k <= r->count; k++) start[k] = (size_t)k;
  values[r->rank] = (double)own;
  carom_status status = r->exchange(r->context, start, values, own == CAROM_OK ? error : NULL);
  if (own != CAROM_OK || status != CAROM_OK) return own != CAROM_OK ? own : status;
  for (int k = 0; k < r->count; k++)
    if (values[k] < 0 || values[k] > 0)
      return carom_fail(error, (carom_status)(int)values[k], "rank %d stops since rank %d has failed: %s", r->rank, k,
                        carom_status_text((carom_status)(int)values[k]));
  return CAROM_OK;
}

static carom_status share_probabilities(carom_saa_work *w, carom_error *error) {
  const carom_saa_ranks *r = &w->options.ranks;
  double sum = 0;
  if (r->count > 1) {
    for (int k = 0; k <= r->count; k++)
      w->exchange_start[k] = (size_t)carom_team_share(
          (carom_team){w->chunks, carom_team_share((carom_team){r->count, k}, w->chunks)}, w->count);
    carom_status status = r->exchange(r->context, w->exchange_start, w->probability, error);
    if (status != CAROM_OK) return status;
  }
  for (int i = 0; i < w->count; i++) sum += w->probability[i];
  for (int i = 0; i < w->count; i++) w->probability[i] /= sum;
  return CAROM_OK;
}

// ---- the root's data ------------------------------------------------------------------------------------------------

// Means of what is random in the root, and the first scenario whose sides cross.
static void average(carom_saa_work *w, int i, carom_saa_scratch *s, double *sums, double *maxima) {
  const carom_saa_layout *l = &w->layout;
  const double *random = w->random + (size_t)i * (size_t)l->random_count;
  double p = w->probability[w->first + i];
  for (int k = 0; k < l->root_mean_count; k++) sums[k] += p * l->root_means[k].scale * random[l->root_means[k].random];
  carom_saa_load(w, i, s);
  const double *low = carom_saa_low(l, s->data), *high = carom_saa_high(l, s->data);
  for (int k = 0; k < l->boxes; k++)
    if (low[k] > high[k]) maxima[0] = fmax(maxima[0], w->count - w->first - i);
}

static carom_status fill_root(carom_saa_work *w, int *crossed, carom_error *error) {
  const carom_saa_layout *l = &w->layout;
  size_t n0 = (size_t)l->root_boxes;
  carom_status status = carom_saa_pass(w, average, l->root_mean_count, 1, error);
  if (status != CAROM_OK) return status;
  memcpy(w->root, l->root_base, l->root_size * sizeof *w->root);
  for (int k = 0; k < l->root_mean_count; k++) {
    const carom_saa_target *t = &l->root_means[k];
    w->root[t->at] = t->set ? w->total[k] : w->root[t->at] + w->total[k];
  }
  double *low = w->root + l->n, *high = low + n0;
  for (int k = 0; w->options.x && k < l->n; k++) low[k] = high[k] = w->options.x[k] / l->x_scale[k];
  *crossed = w->total[l->root_mean_count] > 0 ? w->count - (int)w->total[l->root_mean_count] : -1;
  for (size_t k = 0; k < n0 && *crossed < 0; k++)
    if (low[k] > high[k]) *crossed = -2 - (int)k;
  return CAROM_OK;
}

static bool is_quadratic(const carom_saa_problem *p) {
  for (int k = 0; k < p->entry_count; k++) {
    const carom_saa_entry *e = &p->entries[k];
    bool square = e->part == CAROM_SAA_XX || e->part == CAROM_SAA_YY || e->part == CAROM_SAA_YX;
    if (square && (e->random >= 0 || e->value < 0 || e->value > 0)) return true;
  }
  return false;
}

// The factor of the cost's own matrix has only positive pivots if it is convex.
static carom_status check_convex(carom_saa_work *w, carom_error *error) {
  char name[120];
  if (!w->quadratic) return CAROM_OK;
  w->rows_off = true;
  carom_status status = carom_saa_refresh(w, error);
  w->rows_off = false;
  if (status != CAROM_OK || w->wrong == -1) return status;
  if (w->wrong == -2)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "saa: the quadratic cost of the first stage is not convex");
  carom_saa_scenario_name(w->set, w->wrong, name, sizeof name);
  return carom_fail(error, CAROM_ERR_ARGUMENT, "saa: the quadratic cost of %s is not convex", name);
}

// ---- the answer -----------------------------------------------------------------------------------------------------

static carom_saa_answer *new_answer(const carom_saa_work *w) {
  const carom_saa_layout *l = &w->layout;
  carom_saa_answer *s = CAROM_NEW(&w->allocator, carom_saa_answer, 1);
  if (!s) return NULL;
  *s = (carom_saa_answer){.outcome = CAROM_SAA_LIMIT,
                          .n = l->n,
                          .m = l->m,
                          .rows = l->rows,
                          .count = w->count,
                          .first = w->first,
                          .held = w->held,
                          .reason.scenario = -1,
                          .allocator = w->allocator};
  if (CAROM_NEW_ALL(&w->allocator, CAROM_ROOM(s->x, l->n), CAROM_ROOM(s->x_price, l->n),
                    CAROM_ROOM(s->first_price, l->first_rows), CAROM_ROOM(s->mean_price, l->mean_rows),
                    CAROM_ROOM(s->cost, w->count), CAROM_ROOM(s->probability, w->count),
                    CAROM_ROOM(s->y, (size_t)w->held * (size_t)l->m),
                    CAROM_ROOM(s->price, (size_t)w->held * (size_t)l->rows)))
    return s;
  carom_saa_answer_destroy(s);
  return NULL;
}

void carom_saa_answer_destroy(carom_saa_answer *answer) {
  if (!answer) return;
  carom_allocator a = answer->allocator;
  CAROM_RELEASE_ALL(&a, answer->x, answer->x_price, answer->first_price, answer->mean_price, answer->cost,
                    answer->probability, answer->y, answer->price, answer);
}

static void unscale_root(const carom_saa_work *w, carom_saa_answer *s) {
  const carom_saa_layout *l = &w->layout;
  const carom_saa_boxes *b = &w->boxes;
  double c = l->cost_scale;
  for (int k = 0; k < l->n; k++) s->x[k] = b->v[k] * l->x_scale[k];
  for (int k = 0; k < l->n; k++) s->x_price[k] = (b->zl[k] - b->zu[k]) / (l->x_scale[k] * c);
  for (int r = 0; r < l->first_rows; r++) s->first_price[r] = -b->w[r] * l->first_scale[r] / c;
  for (int r = 0; r < l->mean_rows; r++) s->mean_price[r] = -b->w[l->first_rows + r] * l->mean_scale[r] / c;
  if (w->options.x) memcpy(s->x, w->options.x, (size_t)l->n * sizeof *s->x);
}

static void unscale_scenario(const carom_saa_work *w, int i, carom_saa_answer *s) {
  const carom_saa_layout *l = &w->layout;
  carom_saa_boxes b = carom_saa_boxes_of(w, i);
  double *y = s->y + (size_t)i * (size_t)l->m, *price = s->price + (size_t)i * (size_t)l->rows;
  for (int k = 0; k < l->m; k++) y[k] = b.v[k] * l->y_scale[k];
  for (int r = 0; r < l->rows; r++) price[r] = -b.w[r] * l->row_scale[r] / l->cost_scale;
  s->cost[w->first + i] = carom_saa_scenario_cost(w->problem, w->random + (size_t)i * (size_t)l->random_count, s->x, y);
}

static carom_status fill_answer(carom_saa_work *w, carom_saa_answer *s, carom_error *error) {
  const carom_saa_ranks *r = &w->options.ranks;
  unscale_root(w, s);
  memcpy(s->probability, w->probability, (size_t)w->count * sizeof *s->probability);
  for (int i = 0; i < w->held; i++) unscale_scenario(w, i, s);
  if (r->count > 1) {
    for (int k = 0; k <= r->count; k++)
      w->exchange_start[k] = (size_t)carom_team_share(
          (carom_team){w->chunks, carom_team_share((carom_team){r->count, k}, w->chunks)}, w->count);
    carom_status status = r->exchange(r->context, w->exchange_start, s->cost, error);
    if (status != CAROM_OK) return status;
  }
  s->objective = carom_saa_certain_cost(w->problem, s->x);
  for (int i = 0; i < w->count; i++) s->objective += w->probability[i] * s->cost[i];
  s->dual_objective = s->objective - (w->now.primal - w->now.dual) / w->layout.cost_scale;
  s->residual = fmax(w->now.primal_off, w->now.dual_off);
  if (r->count > 1 || w->options.x) return CAROM_OK;
  return carom_saa_residual(w->problem, w->set, s, &w->allocator, &s->residual, error);
}

// ---- one solve ------------------------------------------------------------------------------------------------------

static carom_status check_options(const carom_saa_set *set, const carom_saa_options *o, carom_error *error) {
  if (set->count < 1 || !set->scenario)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "saa: %d scenarios: at least 1 is needed", set->count);
  if (o->max_iterations < 1 || !(o->tolerance > 0) || !(o->tolerance < 1))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "saa: max_iterations is %d and tolerance %g; both must be positive",
                      o->max_iterations, o->tolerance);
  return CAROM_OK;
}

static carom_status check_ranks(const carom_saa_ranks *r, carom_error *error) {
  if (r->count <= 1 || (r->exchange && r->rank >= 0 && r->rank < r->count && r->count <= MOST_RANKS)) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_ARGUMENT, "saa: rank %d of %d: an exchange is needed, and %d ranks are the most",
                    r->rank, r->count, MOST_RANKS);
}

static carom_status prepare(carom_saa_work *w, carom_saa_answer **answer, carom_error *error) {
  carom_status status = check_options(w->set, &w->options, error);
  if (status == CAROM_OK) status = carom_saa_layout_create(&w->layout, w->problem, &w->allocator, error);
  if (status != CAROM_OK) return status;
  share_out(w);
  if (!make_room(w) || !(*answer = new_answer(w)))
    return carom_fail(error, CAROM_ERR_MEMORY, "saa: out of memory for %d scenarios", w->held);
  w->quadratic = is_quadratic(w->problem);
  return ask_all(w, error);
}

// Sides that cross need no solve to be told.
static void tell_crossed(const carom_saa_work *w, int crossed, carom_saa_answer *s) {
  s->outcome = CAROM_SAA_INFEASIBLE;
  s->reason.scenario = crossed >= 0 ? crossed : -1;
  s->reason.alone = crossed >= 0;
  carom_saa_tell_crossed(w, crossed, &s->reason);
}

static carom_status solve(carom_saa_work *w, carom_saa_answer *s, carom_error *error) {
  int crossed = -1;
  carom_status status = share_probabilities(w, error);
  if (status == CAROM_OK) status = fill_root(w, &crossed, error);
  if (status != CAROM_OK) return status;
  if (crossed != -1) return tell_crossed(w, crossed, s), CAROM_OK;
  status = check_convex(w, error);
  if (status == CAROM_OK) status = carom_saa_interior(w, s, error);
  return status == CAROM_OK ? fill_answer(w, s, error) : status;
}

carom_status carom_saa_solve(const carom_saa_problem *problem, const carom_saa_set *set,
                             const carom_saa_options *options, const carom_allocator *allocator,
                             carom_saa_answer **answer, carom_error *error) {
  carom_saa_work w = {.allocator = carom_allocator_or_default(allocator), .problem = problem, .set = set};
  w.options = options ? *options : carom_saa_default_options();
  *answer = NULL;
  carom_status status = check_ranks(&w.options.ranks, error);
  if (status == CAROM_OK) status = carom_saa_agree(&w.options.ranks, prepare(&w, answer, error), error);
  if (status == CAROM_OK) status = solve(&w, *answer, error);
  release(&w);
  bool unsolved = status == CAROM_OK && (*answer)->outcome == CAROM_SAA_LIMIT;
  if (unsolved && !w.options.skip_certificate)
    status = carom_saa_explain(problem, set, &w.options, &w.allocator, *answer, error);
  if (status == CAROM_OK) return status;
  carom_saa_answer_destroy(*answer);
  *answer = NULL;
  return status;
}
