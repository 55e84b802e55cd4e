// What verbs are asked in a pushing problem: how pushes are planned, and what is fitted to those that were recorded.
#include <string.h>

#include "base/memory.h"
#include "scene/problem.h"
#include "scene/push_reader.h"

typedef const carom_node *slots[CAROM_PUSH_MOST_KEYS];

static void read_seed(carom_push_reader *p, const carom_node *node, uint64_t *seed) {
  double value = 1;
  if (node && carom_read_integer(&p->r, node, 0, 9007199254740992.0, &value)) *seed = (uint64_t)value;
}

// ---- plan ----------------------------------------------------------------------------------------------------------

enum {
  PLAN_SPEED,
  PLAN_PROBES,
  PLAN_ROBUST,
  PLAN_STARTS,
  PLAN_SEED,
  PLAN_EXPANSIONS,
  PLAN_PUSHES,
  PLAN_LONGEST,
  PLAN_REACH,
  PLAN_TURN_LENGTH,
  PLAN_GOAL_BIAS,
  PLAN_SHORTEN,
};
static const char *const plan_keys[] = {"speed",      "probes",  "robust",  "starts", "seed",
                                        "expansions", "pushes",  "longest", "reach",  "turn_length",
                                        "goal_bias",  "shorten", NULL};

static void read_bias(carom_push_reader *p, const carom_node *node, double *bias) {
  double value = *bias;
  if (!node || !carom_read_number(&p->r, node, CAROM_NUMBER, CAROM_NOT_NEGATIVE, &value)) return;
  if (value > 1)
    carom_report(&p->r.reporter, node->place, NULL, "'%s' must be at most 1, got %g", node->key, value);
  else
    *bias = value;
}

static void complete_plan(carom_push_reader *p) {
  carom_push_file *file = p->file;
  file->plan.pusher = file->def;
  file->plan.start = file->scene->state;
  file->plan.box = file->box;
  file->plan.box.body = file->def.goal.body;
}

void carom_push_read_plan(carom_push_reader *p, const carom_node *node) {
  static const char *const robust[] = {"nominal", "box", "modes", NULL};
  slots f;
  carom_push_plan_def *d = &p->file->plan;
  int robustness = (int)d->robustness;
  complete_plan(p);
  if (!node || !carom_problem_fields(&p->r, node, plan_keys, "plan", f)) return;
  p->file->plans = true;
  if (!p->goal && !carom_push_has_errors(p)) carom_require(&p->r, p->r.root, NULL, "goal", "a problem with 'plan'");
  if (carom_require(&p->r, node, f[PLAN_SPEED], "speed", "plan"))
    carom_read_number(&p->r, f[PLAN_SPEED], CAROM_VELOCITY, CAROM_POSITIVE, &d->speed);
  carom_read_int(&p->r, f[PLAN_PROBES], 1, CAROM_PUSH_PROBES, &d->most_probes);
  if (carom_read_choice(&p->r, f[PLAN_ROBUST], robust, &robustness)) d->robustness = (carom_push_robustness)robustness;
  carom_read_int(&p->r, f[PLAN_STARTS], 1, 10000, &d->seeds);
  read_seed(p, f[PLAN_SEED], &d->seed);
  carom_read_int(&p->r, f[PLAN_EXPANSIONS], 1, 1000000, &d->budget);
  carom_read_int(&p->r, f[PLAN_PUSHES], 1, CAROM_PUSH_MOST, &d->most_pushes);
  carom_read_number(&p->r, f[PLAN_LONGEST], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &d->longest);
  carom_read_number(&p->r, f[PLAN_REACH], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &d->reach);
  carom_read_number(&p->r, f[PLAN_TURN_LENGTH], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &d->turn_length);
  read_bias(p, f[PLAN_GOAL_BIAS], &d->goal_bias);
  carom_read_bool(&p->r, f[PLAN_SHORTEN], &d->shorten);
}

// ---- fit -----------------------------------------------------------------------------------------------------------

enum {
  FIT_RECORDS,
  FIT_BODY,
  FIT_SUPPORT,
  FIT_POINTS,
  FIT_FRICTION,
  FIT_LENGTH,
  FIT_STARTS,
  FIT_BUDGET,
  FIT_REPLICATES,
  FIT_REPLICATE_BUDGET,
  FIT_CONFIDENCE,
  FIT_SEED,
};
static const char *const fit_keys[] = {"records",    "body",   "support", "points",     "friction",
                                       "length",     "starts", "budget",  "replicates", "replicate_budget",
                                       "confidence", "seed",   NULL};

static void read_spots(carom_push_reader *p, const carom_node *list, carom_push_fit_def *d) {
  if (!carom_read_list(&p->r, list, "points")) return;
  if (list->count < 2 || list->count > CAROM_PUSH_FIT_POINTS) {
    carom_report(&p->r.reporter, list->place, NULL, "'points' expects 2 to %d points, got %d", CAROM_PUSH_FIT_POINTS,
                 list->count);
    return;
  }
  carom_vec3 *spots = CAROM_POOL_ARRAY(&p->file->tables->pool, carom_vec3, list->count);
  if (!spots) return;
  int n = 0;
  for (const carom_node *c = list->first; c; c = c->next) carom_push_read_point(p, c, &spots[n++]);
  d->points = spots, d->point_count = n;
}

static void read_group(carom_push_reader *p, const carom_node *node, carom_push_surface *group) {
  static const char *const keys[] = {"name", "bodies", NULL};
  slots f;
  const char *name = NULL;
  carom_pool *pool = &p->file->tables->pool;
  if (!carom_problem_fields(&p->r, node, keys, "friction", f)) return;
  if (carom_read_text(&p->r, f[0], &name) && name) group->name = carom_pool_text(pool, name, strlen(name));
  if (!carom_require(&p->r, node, f[1], "bodies", "friction") || !carom_read_list(&p->r, f[1], "names of bodies"))
    return;
  int *bodies = CAROM_POOL_ARRAY(pool, int, f[1]->count + 1);
  for (const carom_node *c = bodies ? f[1]->first : NULL; c; c = c->next) {
    int body = carom_push_read_body(p, c);
    if (body >= 0) bodies[group->body_count++] = body;
  }
  group->bodies = bodies;
  if (f[1]->count == 0) carom_report(&p->r.reporter, f[1]->place, NULL, "'bodies' is empty: against which bodies?");
}

static void read_groups(carom_push_reader *p, const carom_node *list, carom_push_fit_def *d) {
  if (!list || !carom_read_list(&p->r, list, "mappings")) return;
  if (list->count > CAROM_PUSH_FIT_GROUPS) {
    carom_report(&p->r.reporter, list->place, NULL, "at most %d frictions, got %d", CAROM_PUSH_FIT_GROUPS, list->count);
    return;
  }
  carom_push_surface *groups = CAROM_POOL_ARRAY(&p->file->tables->pool, carom_push_surface, list->count + 1);
  if (!groups) return;
  for (const carom_node *c = list->first; c; c = c->next) read_group(p, c, &groups[d->group_count++]);
  d->groups = groups;
}

static void read_confidence(carom_push_reader *p, const carom_node *node, double *confidence) {
  double value = *confidence;
  if (!node || !carom_read_number(&p->r, node, CAROM_NUMBER, CAROM_POSITIVE, &value)) return;
  if (value >= 1)
    carom_report(&p->r.reporter, node->place, NULL, "'confidence' must be less than 1, got %g", value);
  else
    *confidence = value;
}

static void read_support(carom_push_reader *p, const carom_node *at, const slots f, carom_push_fit_def *d) {
  static const char *const supports[] = {"isotropic", "diagonal", "points", "given", NULL};
  int support = f[FIT_POINTS] ? CAROM_PUSH_SUPPORT_POINTS : (int)d->support;
  if (carom_read_choice(&p->r, f[FIT_SUPPORT], supports, &support)) d->support = (carom_push_support)support;
  if (d->support == CAROM_PUSH_SUPPORT_POINTS)
    carom_require(&p->r, at, f[FIT_POINTS], "points", "fit (where does the part rest?)");
  else if (f[FIT_POINTS])
    carom_report(&p->r.reporter, f[FIT_POINTS]->key_at, NULL, "'points' belong to 'support: points'");
  if (f[FIT_POINTS] && d->support == CAROM_PUSH_SUPPORT_POINTS) read_spots(p, f[FIT_POINTS], d);
}

void carom_push_read_fit(carom_push_reader *p, const carom_node *node) {
  slots f;
  carom_push_fit_def *d = &p->file->fit;
  if (!node || !carom_problem_fields(&p->r, node, fit_keys, "fit", f)) return;
  p->file->fits = true;
  d->pusher = p->file->def;
  d->start = p->file->scene->state;
  carom_push_read_part(p, node, f[FIT_BODY], &d->body);
  read_support(p, node, f, d);
  read_groups(p, f[FIT_FRICTION], d);
  carom_read_number(&p->r, f[FIT_LENGTH], CAROM_LENGTH, CAROM_POSITIVE, &d->length);
  carom_read_int(&p->r, f[FIT_STARTS], 0, 10000, &d->starts);
  carom_read_int(&p->r, f[FIT_BUDGET], 1, 100000000, &d->budget);
  carom_read_int(&p->r, f[FIT_REPLICATES], 0, 100000, &d->replicates);
  carom_read_int(&p->r, f[FIT_REPLICATE_BUDGET], 1, 100000000, &d->replicate_budget);
  read_confidence(p, f[FIT_CONFIDENCE], &d->confidence);
  read_seed(p, f[FIT_SEED], &d->seed);
  if (carom_require(&p->r, node, f[FIT_RECORDS], "records", "fit")) carom_push_read_records(p, f[FIT_RECORDS]);
}
