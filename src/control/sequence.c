// A search over sequences of contacts (the papers leave it open): how many, between whom, at which nodes.
#include <string.h>

#include "base/memory.h"
#include "control/plan.h"

enum { MOST_CONTACTS = 8 };

typedef struct sequence {
  int count;
  int pair[MOST_CONTACTS], node[MOST_CONTACTS];
} sequence;

typedef struct search {
  carom_plan *plan;
  carom_plan_options options;
  carom_planned_contact_def pattern;
  sequence best;
  double best_cost;
  bool found, stopped;
  int intervals;  // K as asked for
} search;

static carom_status set_contacts(search *s, const sequence *q) {
  carom_plan *plan = s->plan;
  plan->contact_count = 0;
  for (int i = 0; i < q->count; i++) {
    carom_planned_contact_def def = s->pattern;
    def.node = q->node[i];
    memcpy(def.body, plan->avoided[q->pair[i]].body, sizeof def.body);
    if (carom_plan_add_contact(plan, &def) < 0) return plan->mistake.status;
  }
  return CAROM_OK;
}

static carom_status try_sequence(search *s, const sequence *q, carom_plan_report *report, carom_error *error) {
  carom_status status = set_contacts(s, q);
  if (status != CAROM_OK) return carom_plan_check(s->plan, error);
  s->options.guess = q->count ? CAROM_GUESS_FORWARD : CAROM_GUESS_PATH;
  status = carom_plan_solve(s->plan, &s->options, report, error);
  if (status != CAROM_OK) return status == CAROM_ERR_MEMORY ? status : CAROM_OK;  // that sequence is none
  s->stopped = s->stopped || report->outcome == CAROM_PLAN_STOPPED;
  if (report->outcome == CAROM_PLAN_SOLVED && !(s->found && report->cost >= s->best_cost * (1 - 1e-6)))
    s->best = *q, s->best_cost = report->cost, s->found = true;
  return CAROM_OK;
}

static void space_evenly(const search *s, sequence *q) {
  for (int i = 0; i < q->count; i++) {
    q->node[i] = (int)lround((double)s->intervals * (i + 1) / (q->count + 1));
    if (i > 0 && q->node[i] <= q->node[i - 1]) q->node[i] = q->node[i - 1] + 1;
  }
}

// To where the steps are all about equally long.
static bool move_nodes(const search *s, sequence *q) {
  bool moved = false;
  double h = s->plan->def.step;
  for (int i = 0; i < q->count; i++) {
    double t = carom_plan_time(s->plan, s->plan->contacts[i].def.node) - s->plan->start->time;
    int node = (int)lround(t / h), low = i > 0 ? q->node[i - 1] + 1 : 1, high = s->intervals - (q->count - i);
    node = node < low ? low : node > high ? high : node;
    moved = moved || node != q->node[i];
    q->node[i] = node;
  }
  return moved;
}

// All sequences of `count` contacts, numbered in the base of the number of pairs.
static carom_status try_all(search *s, int count, carom_plan_report *report, carom_error *error) {
  int total = 1;
  for (int i = 0; i < count; i++) total *= s->plan->avoided_count;
  for (int number = 0; number < total && !s->stopped; number++) {
    sequence q = {.count = count};
    for (int i = 0, rest = number; i < count; i++, rest /= s->plan->avoided_count)
      q.pair[i] = rest % s->plan->avoided_count;
    space_evenly(s, &q);
    carom_status status = try_sequence(s, &q, report, error);
    if (status != CAROM_OK) return status;
    if (report->outcome == CAROM_PLAN_SOLVED && move_nodes(s, &q)) status = try_sequence(s, &q, report, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

carom_status carom_plan_search_contacts(carom_plan *plan, int most, const carom_plan_options *options,
                                        carom_plan_report *report, carom_error *error) {
  search s = {.plan = plan, .options = options ? *options : carom_plan_default_options()};
  carom_plan_report own;
  if (!report) report = &own;
  if (most < 0 || most > MOST_CONTACTS)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a search for %d contacts: expected 0 to %d", most, MOST_CONTACTS);
  s.pattern = plan->contact_count ? plan->contacts[0].def : carom_planned_contact_default();
  s.intervals = plan->def.intervals;
  double begin = carom_clock();
  carom_status status = CAROM_OK;
  for (int count = 0; count <= most && status == CAROM_OK && !s.stopped; count++)
    status = try_all(&s, count, report, error);
  if (status != CAROM_OK) return status;
  if (s.found) status = try_sequence(&s, &s.best, report, error);  // once more, so that the answer is the plan's
  report->seconds = carom_clock() - begin;
  return status;
}
