// Conditions and costs of a problem.
#include "scene/plan_reader.h"

static const char *const keys[] = {
    "body",      "node",     "position", "rotation",         "low",  "high",        "axis",
    "direction", "at_least", "velocity", "angular_velocity", "rest", "relative_to", "at_rest_with",
    "periodic",  "touching", NULL};
enum {
  BODY,
  NODE,
  POSITION,
  ROTATION,
  LOW,
  HIGH,
  AXIS,
  DIRECTION,
  AT_LEAST,
  VELOCITY,
  SPIN,
  REST,
  RELATIVE,
  REST_WITH,
  PERIODIC,
  TOUCHING
};

typedef const carom_node *slots[CAROM_PLAN_MOST_KEYS];

static void add(carom_plan_reader *p, const carom_node *item, carom_condition_def def, carom_condition_kind kind) {
  def.kind = kind;
  carom_plan_add_condition(p->file->plan, &def);
  carom_plan_check_at(p, item);
}

static void add_place(carom_plan_reader *p, const carom_node *item, const slots f, carom_condition_def def) {
  bool relative = f[RELATIVE] != NULL;
  carom_read_bool(&p->r, f[TOUCHING], &def.touching);
  if (f[TOUCHING] && !relative)
    carom_report(&p->r.reporter, f[TOUCHING]->place, NULL, "'touching' needs 'relative_to': which body is touched?");
  if (relative && (def.other = carom_plan_read_body(p, f[RELATIVE])) < 0) return;
  if (!carom_plan_read_pose(p, f[POSITION], f[ROTATION], &def.pose)) return;
  if (relative)
    add(p, item, def, f[POSITION] ? CAROM_CONDITION_RELATIVE_POSE : CAROM_CONDITION_RELATIVE_ROTATION);
  else if (f[POSITION] && f[ROTATION])
    add(p, item, def, CAROM_CONDITION_POSE);
  else if (f[ROTATION])
    add(p, item, def, CAROM_CONDITION_ROTATION);
  else {
    def.low = def.high = def.pose.p;
    add(p, item, def, CAROM_CONDITION_POSITION);
  }
}

static void add_motion(carom_plan_reader *p, const carom_node *item, const slots f, carom_condition_def def) {
  bool rest = false;
  carom_read_bool(&p->r, f[REST], &rest);
  carom_read_vector(&p->r, f[VELOCITY], CAROM_VELOCITY, &def.velocity);
  carom_read_vector(&p->r, f[SPIN], CAROM_ANGULAR_VELOCITY, &def.angular_velocity);
  if (rest || f[VELOCITY] || f[SPIN]) add(p, item, def, CAROM_CONDITION_VELOCITY);
}

static void read_condition(carom_plan_reader *p, const carom_node *item) {
  slots f;
  carom_condition_def def = carom_condition_default();
  if (!carom_plan_fields(p, item, keys, "condition", f) || !carom_require(&p->r, item, f[BODY], "body", "condition"))
    return;
  def.body = carom_plan_read_body(p, f[BODY]);
  if (def.body < 0 || !carom_plan_read_node(p, f[NODE], &def.node)) return;
  bool periodic = false;
  carom_read_bool(&p->r, f[PERIODIC], &periodic);
  if (periodic) {
    if (carom_plan_read_pose(p, f[POSITION], f[ROTATION], &def.pose)) add(p, item, def, CAROM_CONDITION_PERIODIC);
    return;
  }
  if (f[POSITION] || f[ROTATION] || f[RELATIVE]) add_place(p, item, f, def);
  if (f[LOW] || f[HIGH]) {
    carom_read_vector(&p->r, f[LOW], CAROM_LENGTH, &def.low);
    carom_read_vector(&p->r, f[HIGH], CAROM_LENGTH, &def.high);
    add(p, item, def, CAROM_CONDITION_POSITION);
  }
  if (f[AT_LEAST]) {
    carom_read_vector(&p->r, f[AXIS], CAROM_NUMBER, &def.axis);
    carom_read_vector(&p->r, f[DIRECTION], CAROM_NUMBER, &def.direction);
    carom_read_number(&p->r, f[AT_LEAST], CAROM_NUMBER, CAROM_ANY, &def.at_least);
    add(p, item, def, CAROM_CONDITION_DIRECTION);
  }
  add_motion(p, item, f, def);
  if (f[REST_WITH] && (def.other = carom_plan_read_body(p, f[REST_WITH])) >= 0)
    add(p, item, def, CAROM_CONDITION_RELATIVE_REST);
}

void carom_plan_read_conditions(carom_plan_reader *p, const carom_node *list) {
  if (!list || !carom_read_list(&p->r, list, "conditions")) return;
  for (const carom_node *item = list->first; item; item = item->next) read_condition(p, item);
}

enum { COST_KINDS = 8 };

// What is said of a cost must be of use to it, or is not what was meant.
static void check_cost(carom_plan_reader *p, const carom_node *item, const char *const *words, const carom_node **f) {
  static const struct {
    int kinds;  // bits of those that it is for
    const char *names;
  } uses[] = {
      {1 << CAROM_COST_EFFORT | 1 << CAROM_COST_MOMENTUM | 1 << CAROM_COST_DIRECTION | 1 << CAROM_COST_POSITION,
       "effort, momentum, alignment and distance"},
      {1 << CAROM_COST_DIRECTION, "alignment"},
      {1 << CAROM_COST_DIRECTION, "alignment"},
      {1 << CAROM_COST_POSITION, "distance"},
      {1 << CAROM_COST_WORK | 1 << CAROM_COST_TRANSPORT, "work and transport"},
  };
  int given = 0;
  for (int i = 0; i < COST_KINDS; i++) given |= f[i] ? 1 << i : 0;
  if (!given)
    carom_report(&p->r.reporter, item->place, NULL,
                 "a cost needs one of effort, time, momentum, alignment, distance, work, transport and peak");
  for (size_t i = 0; given && i < sizeof uses / sizeof *uses; i++)
    if (f[COST_KINDS + i] && !(uses[i].kinds & given))
      carom_report(&p->r.reporter, f[COST_KINDS + i]->key_at, NULL, "'%s' is for costs of %s", words[COST_KINDS + i],
                   uses[i].names);
}

static void read_cost(carom_plan_reader *p, const carom_node *item) {
  static const char *const cost_keys[] = {"effort", "time", "momentum", "alignment", "distance", "work",  "transport",
                                          "peak",   "body", "axis",     "direction", "target",   "power", NULL};
  static const char *const powers[] = {"total", "joints", "positive", "net", NULL};
  int power = 0;
  slots f;
  carom_cost_def def = carom_cost_default();
  if (!carom_plan_fields(p, item, cost_keys, "cost", f)) return;
  check_cost(p, item, cost_keys, f);
  if (f[COST_KINDS] && (def.body = carom_plan_read_body(p, f[COST_KINDS])) < 0) return;
  carom_read_vector(&p->r, f[COST_KINDS + 1], CAROM_NUMBER, &def.axis);
  carom_read_vector(&p->r, f[COST_KINDS + 2], CAROM_NUMBER, &def.direction);
  carom_read_vector(&p->r, f[COST_KINDS + 3], CAROM_LENGTH, &def.target);
  if (carom_read_choice(&p->r, f[COST_KINDS + 4], powers, &power)) def.power = (carom_power)power;
  for (int i = 0; i < COST_KINDS; i++) {
    if (!f[i] || !carom_read_number(&p->r, f[i], CAROM_NUMBER, CAROM_NOT_NEGATIVE, &def.weight)) continue;
    def.kind = (carom_cost_kind)i;
    carom_plan_add_cost(p->file->plan, &def);
    carom_plan_check_at(p, item);
  }
}

void carom_plan_read_costs(carom_plan_reader *p, const carom_node *list) {
  if (!list || !carom_read_list(&p->r, list, "costs")) return;
  for (const carom_node *item = list->first; item; item = item->next) read_cost(p, item);
}
