// Sample averages of growing size, with bounds on how far the decision is from the best one (Mak, Morton and Wood
// 1999).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "carom/saa.h"
#include "solve/saa_terms.h"

carom_saa_sampling carom_saa_default_sampling(void) {
  return (carom_saa_sampling){
      .scenarios = 1000, .replications = 10, .seed = 1, .confidence = 0.95, .solve = carom_saa_default_options()};
}

// ---- samples --------------------------------------------------------------------------------------------------------

enum { DRAWS = 20 };  // a scenario may draw 2^20 numbers before it meets those of the next

typedef struct sample {
  const carom_saa_model *model;
  uint64_t seed;
  int replication;
} sample;

static carom_status draw_scenario(void *context, int number, double *values, double *probability, carom_error *error) {
  const sample *s = context;
  carom_random random = carom_random_make(s->seed, (uint64_t)s->replication);
  (void)error;
  random.index = (uint64_t)number << DRAWS;
  s->model->draw(s->model->context, &random, values);
  *probability = 1;
  return CAROM_OK;
}

static void name_draw(void *context, int number, char *text, size_t size) {
  const sample *s = context;
  snprintf(text, size, "draw %d of replication %d", number + 1, s->replication);
}

// ---- expectation rows at a price ------------------------------------------------------------------------------------

// The problem without them, whose random numbers are the model's own, and each of those again that stands in such a
// row, times its price.
typedef struct priced {
  const carom_saa_model *model;
  carom_saa_model own;  // what is solved
  carom_saa_entry *entries;
  int count;
  double *factor;  // (own.problem.random_count) of the numbers behind the model's own,
  int *source;     // and which those are
} priced;

static void draw_priced(void *context, carom_random *random, double *values) {
  const priced *q = context;
  q->model->draw(q->model->context, random, values);
  for (int k = q->model->problem.random_count; k < q->own.problem.random_count; k++)
    values[k] = q->factor[k] * values[q->source[k]];
}

static void put_priced(priced *q, const carom_saa_entry *e, carom_saa_part part, int row, double factor) {
  carom_saa_entry *to = &q->entries[q->count++];
  *to = (carom_saa_entry){part, row, 0, factor * e->value, -1};
  if (e->random < 0) return;
  int k = to->random = q->own.problem.random_count++;
  q->factor[k] = factor, q->source[k] = e->random;
}

// price (side - row): the side is the low one where the price is positive.
static void price_entry(priced *q, const carom_saa_entry *e, const double *price) {
  double p = price[e->row];
  if (e->part == CAROM_SAA_MEAN_X) put_priced(q, e, CAROM_SAA_X_COST, e->column, -p);
  if (e->part == CAROM_SAA_MEAN_Y) put_priced(q, e, CAROM_SAA_Y_COST, e->column, -p);
  bool active = (e->part == CAROM_SAA_MEAN_LOW && p > 0) || (e->part == CAROM_SAA_MEAN_HIGH && p < 0);
  if (active && isfinite(e->value)) put_priced(q, e, CAROM_SAA_CONSTANT, 0, p);
}

static bool is_mean(const carom_saa_entry *e) {
  return e->part == CAROM_SAA_MEAN_X || e->part == CAROM_SAA_MEAN_Y || e->part == CAROM_SAA_MEAN_LOW ||
         e->part == CAROM_SAA_MEAN_HIGH;
}

static void set_prices(priced *q, const double *price) {
  const carom_saa_problem *p = &q->model->problem;
  q->own = (carom_saa_model){*p, q, draw_priced};
  q->own.problem.mean_rows = 0, q->own.problem.mean_names = NULL;
  q->count = 0;
  for (int k = 0; k < p->entry_count; k++)
    if (is_mean(&p->entries[k]))
      price_entry(q, &p->entries[k], price);
    else
      q->entries[q->count++] = p->entries[k];
  q->own.problem.entries = q->entries, q->own.problem.entry_count = q->count;
}

static bool make_priced(priced *q, const carom_saa_model *model, const carom_allocator *a) {
  const carom_saa_problem *p = &model->problem;
  size_t most = (size_t)p->random_count + (size_t)p->entry_count + 1;
  q->model = model;
  return CAROM_NEW_ALL(a, CAROM_ROOM(q->entries, p->entry_count + 1), CAROM_ROOM(q->factor, most),
                       CAROM_ROOM(q->source, most));
}

// ---- the loop -------------------------------------------------------------------------------------------------------

typedef struct loop {
  const carom_saa_model *model;
  const carom_saa_sampling *sampling;
  carom_allocator a;
  carom_saa_report *report;
  priced priced;
  double *optimal, *candidate;  // (replications) costs on the same samples
  int solves;                   // that will be made if all sizes are
  size_t *start;                // (ranks + 1) for exchanges,
  double *firsts;               // and the first scenarios of ranks
  carom_error *error;
} loop;

static bool tell(void *context, double done, double total) {
  const loop *l = context;
  const carom_progress *p = &l->sampling->solve.progress;
  return p->report(p->context, l->report->solves + fmin(done / total, 1), l->solves);
}

// One solve on a sample, with x given or not.
static carom_status solve(loop *l, int replication, int count, const double *x, carom_saa_answer **answer) {
  bool as_it_is = replication == 0 || l->model->problem.mean_rows == 0;
  const carom_saa_model *model = as_it_is ? l->model : &l->priced.own;
  sample context = {model, l->sampling->seed, replication};
  const carom_saa_set set = {count, &context, draw_scenario, name_draw};
  carom_saa_options options = l->sampling->solve;
  options.x = x;
  if (options.progress.report) options.progress = (carom_progress){l, tell};
  carom_status status = carom_saa_solve(&model->problem, &set, &options, &l->a, answer, l->error);
  l->report->solves++;
  return status;
}

// The cost of a solve; the loop ends with the reason where there is none.
static carom_status cost_of(loop *l, int replication, int count, const double *x, double *cost, bool *good) {
  carom_saa_answer *answer = NULL;
  carom_status status = solve(l, replication, count, x, &answer);
  if (status != CAROM_OK) return status;
  *good = answer->outcome == CAROM_SAA_SOLVED;
  *cost = answer->objective;
  if (!*good && !x) {
    l->report->outcome = answer->outcome;
    carom_saa_answer_destroy(l->report->answer);
    l->report->answer = answer;
    return CAROM_OK;
  }
  if (!*good) l->report->doubt = answer->reason, *cost = INFINITY, *good = answer->outcome == CAROM_SAA_INFEASIBLE;
  carom_saa_answer_destroy(answer);
  return CAROM_OK;
}

static void moments(const double *v, int count, double *mean, double *variance) {
  double sum = 0, squares = 0;
  for (int k = 0; k < count; k++) sum += v[k];
  *mean = sum / count;
  for (int k = 0; k < count; k++) squares += (v[k] - *mean) * (v[k] - *mean);
  *variance = count > 1 ? squares / (count - 1) : 0;
}

static carom_interval about(double mean, double variance, int count, double confidence) {
  double half = carom_student_point(0.5 + 0.5 * confidence, count - 1) * sqrt(variance / count);
  return (carom_interval){mean - half, mean + half};
}

static void summarise(const loop *l, int scenarios, carom_saa_size *s) {
  int m = l->sampling->replications;
  double variance, c = l->sampling->confidence;
  *s = (carom_saa_size){.scenarios = scenarios, .replications = m};
  moments(l->optimal, m, &s->mean, &s->variance);
  s->lower = about(s->mean, s->variance, m, c);
  moments(l->candidate, m, &s->upper, &variance);
  s->upper_in = about(s->upper, variance, m, c);
  for (int k = 0; k < m; k++) l->candidate[k] = fmax(0, l->candidate[k] - l->optimal[k]);  // below zero by rounding
  moments(l->candidate, m, &s->gap, &variance);
  s->gap_deviation = sqrt(variance);
  s->gap_high = s->gap + carom_student_point(c, m - 1) * s->gap_deviation / sqrt(m);
  if (!isfinite(s->upper))
    s->upper = s->gap = s->gap_high = INFINITY, s->gap_deviation = 0, s->upper_in = (carom_interval){s->mean, INFINITY};
}

static carom_status run_size(loop *l, int scenarios, bool *good) {
  carom_saa_report *r = l->report;
  carom_saa_answer *candidate = NULL;
  carom_status status = solve(l, 0, scenarios, NULL, &candidate);
  if (status != CAROM_OK) return status;
  carom_saa_answer_destroy(r->answer);
  r->answer = candidate;
  r->outcome = candidate->outcome;
  *good = candidate->outcome == CAROM_SAA_SOLVED;
  if (*good) set_prices(&l->priced, candidate->mean_price);
  for (int k = 0; k < l->sampling->replications && *good && status == CAROM_OK; k++) {
    status = cost_of(l, k + 1, scenarios, NULL, &l->optimal[k], good);
    if (status == CAROM_OK && *good) status = cost_of(l, k + 1, scenarios, candidate->x, &l->candidate[k], good);
  }
  if (status == CAROM_OK && *good) summarise(l, scenarios, &r->sizes[r->size_count++]);
  return status;
}

static bool is_near(const loop *l) {
  const carom_saa_size *s = &l->report->sizes[l->report->size_count - 1];
  double size = l->sampling->relative ? fmax(1, fabs(s->mean)) : 1;
  return s->gap_high <= l->sampling->gap * size && l->sampling->gap > 0;
}

// ---- the decision's own cost ----------------------------------------------------------------------------------------

enum { MOST_VALUED = 100000 };

static int count_valued(const carom_saa_sampling *s) {
  int64_t most = s->scenarios > MOST_VALUED ? s->scenarios : MOST_VALUED, asked = 10 * (int64_t)s->scenarios;
  return s->evaluation > 0 ? s->evaluation : (int)(asked < most ? asked : most);
}

// Numbers of all scenarios on all ranks, from those of the scenarios that each holds; room for (ranks + 1) of each.
static carom_status share(const loop *l, const carom_saa_answer *s, double *values) {
  const carom_saa_ranks *r = &l->sampling->solve.ranks;
  if (r->count <= 1) return CAROM_OK;
  for (int k = 0; k <= r->count; k++) l->start[k] = (size_t)k;
  l->firsts[r->rank] = s->first;
  carom_status status = r->exchange(r->context, l->start, l->firsts, l->error);
  for (int k = 0; k < r->count; k++) l->start[k] = (size_t)l->firsts[k];
  l->start[r->count] = (size_t)s->count;
  return status == CAROM_OK ? r->exchange(r->context, l->start, values, l->error) : status;
}

// What row `row` is less its side in one scenario; its cost for row -1.
static double figure(const loop *l, const carom_saa_answer *s, int row, const double *random, const double *y) {
  const carom_saa_problem *p = &l->model->problem;
  double sum = row < 0 ? carom_saa_scenario_cost(p, random, s->x, y) + carom_saa_certain_cost(p, s->x) : 0;
  double price = row < 0 ? 0 : l->report->answer->mean_price[row];
  for (int k = 0; k < p->entry_count && row >= 0; k++) {
    const carom_saa_entry *e = &p->entries[k];
    if (!is_mean(e) || e->row != row) continue;
    double value = e->random >= 0 ? random[e->random] : e->value;
    if (e->part == CAROM_SAA_MEAN_X) sum += value * s->x[e->column];
    if (e->part == CAROM_SAA_MEAN_Y) sum += value * y[e->column];
    bool side = e->part == CAROM_SAA_MEAN_LOW ? price > 0 : e->part == CAROM_SAA_MEAN_HIGH && !(price > 0);
    if (side && isfinite(value)) sum -= value;
  }
  return sum;
}

// Costs and expectations of the decision in the problem itself, from the priced one's answer.
static carom_status judge(loop *l, const carom_saa_answer *s) {
  carom_saa_report *r = l->report;
  int rows = l->model->problem.mean_rows;
  double variance, *random = NULL, *values = NULL;
  carom_status status = CAROM_OK;
  sample context = {l->model, l->sampling->seed, l->sampling->replications + 1};
  bool room = CAROM_NEW_ALL(&l->a, CAROM_ROOM(random, l->model->problem.random_count), CAROM_ROOM(values, s->count),
                            CAROM_ROOM(r->expectations, rows), CAROM_ROOM(r->costs, s->count));
  if (!room) status = carom_fail(l->error, CAROM_ERR_MEMORY, "saa: out of memory for %d scenarios", s->count);
  status = carom_saa_agree(&l->sampling->solve.ranks, status, l->error);
  r->mean_count = rows, r->cost_count = s->count;
  for (int row = -1; row < rows && status == CAROM_OK; row++) {
    double *to = row < 0 ? r->costs : values, mean, ignored;
    for (int i = s->first; i < s->first + s->held; i++) {
      draw_scenario(&context, i, random, &ignored, NULL);
      to[i] = figure(l, s, row, random, s->y + (size_t)(i - s->first) * (size_t)s->m);
    }
    status = share(l, s, to);
    moments(to, s->count, &mean, &variance);
    carom_interval in =
        s->count > 1 ? about(mean, variance, s->count, l->sampling->confidence) : (carom_interval){mean, mean};
    if (row < 0)
      r->value = mean, r->value_in = in;
    else
      r->expectations[row] = (carom_saa_expectation){mean, in};
  }
  CAROM_RELEASE_ALL(&l->a, random, values);
  return status;
}

static carom_status value(loop *l) {
  carom_saa_report *r = l->report;
  carom_saa_answer *answer = NULL;
  carom_status status = solve(l, l->sampling->replications + 1, count_valued(l->sampling), r->answer->x, &answer);
  if (status != CAROM_OK) return status;
  r->valued = answer->outcome == CAROM_SAA_SOLVED;
  if (r->valued)
    status = judge(l, answer);
  else
    r->doubt = answer->reason;
  carom_saa_answer_destroy(answer);
  return status;
}

// ---- beginning and end ----------------------------------------------------------------------------------------------

static carom_status check(const carom_saa_sampling *s, carom_error *error) {
  if (s->scenarios < 1 || s->scenarios > 10000000 || s->first < 0 || s->first > s->scenarios)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "saa: %d scenarios from %d on: 1 to 10000000 are allowed, growing",
                      s->scenarios, s->first);
  if (s->replications < 2 || s->replications > 100000)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "saa: %d replications: 2 to 100000 are allowed", s->replications);
  if (!(s->confidence > 0 && s->confidence < 1) || !(s->gap >= 0) || s->evaluation < 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "saa: confidence %g must be within 0 and 1, gap %g not negative",
                      s->confidence, s->gap);
  return CAROM_OK;
}

static int first_size(const carom_saa_sampling *s) {
  int first = s->first > 0 ? s->first : s->scenarios / 8;
  return first > 0 ? first : 1;
}

static int next_size(int size, int last) { return size > last * 3.0 / 8 ? last : 2 * size; }

static int count_sizes(const carom_saa_sampling *s) {
  int count = 1;
  for (int size = first_size(s); size < s->scenarios; size = next_size(size, s->scenarios)) count++;
  return count;
}

static carom_status run(loop *l) {
  const carom_saa_sampling *s = l->sampling;
  carom_status status = CAROM_OK;
  for (int size = first_size(s);; size = next_size(size, s->scenarios)) {
    bool good = false;
    status = run_size(l, size, &good);
    if (status != CAROM_OK || !good) return status;
    l->report->reached = is_near(l);
    if (l->report->reached || size >= s->scenarios) break;
  }
  return value(l);
}

static bool make_room(loop *l) {
  int ranks = l->sampling->solve.ranks.count > 1 ? l->sampling->solve.ranks.count : 1;
  return make_priced(&l->priced, l->model, &l->a) &&
         CAROM_NEW_ALL(&l->a, CAROM_ROOM(l->report->sizes, count_sizes(l->sampling)),
                       CAROM_ROOM(l->optimal, l->sampling->replications),
                       CAROM_ROOM(l->candidate, l->sampling->replications), CAROM_ROOM(l->start, ranks + 1),
                       CAROM_ROOM(l->firsts, ranks + 1));
}

carom_status carom_saa_approximate(const carom_saa_model *model, const carom_saa_sampling *sampling,
                                   const carom_allocator *allocator, carom_saa_report **report, carom_error *error) {
  const carom_saa_sampling usual = carom_saa_default_sampling(), *s = sampling ? sampling : &usual;
  loop l = {.model = model, .sampling = s, .a = carom_allocator_or_default(allocator), .error = error};
  *report = NULL;
  carom_status status = check(s, error);
  if (status != CAROM_OK) return status;
  l.solves = count_sizes(s) * (1 + 2 * s->replications) + 1;
  carom_saa_report *r = l.report = CAROM_NEW(&l.a, carom_saa_report, 1);
  if (r) r->allocator = l.a, r->doubt.scenario = -1;
  bool room = r && make_room(&l);
  if (!room) status = carom_fail(error, CAROM_ERR_MEMORY, "saa: out of memory for %d replications", s->replications);
  status = carom_saa_agree(&s->solve.ranks, status, error);
  if (status == CAROM_OK) status = run(&l);
  CAROM_RELEASE_ALL(&l.a, l.optimal, l.candidate, l.priced.entries, l.priced.factor, l.priced.source, l.start,
                    l.firsts);
  if (status == CAROM_OK)
    *report = r;
  else
    carom_saa_report_destroy(r);
  return status;
}

void carom_saa_report_destroy(carom_saa_report *report) {
  if (!report) return;
  carom_allocator a = report->allocator;
  carom_saa_answer_destroy(report->answer);
  CAROM_RELEASE_ALL(&a, report->sizes, report->costs, report->expectations, report);
}
