// Sensors and controllers. Controllers make the inputs that they need: one along a joint, one at the centre of mass of
// a body, shared by all who drive them.
#include <stdio.h>
#include <string.h>

#include "control/loop.h"
#include "model/builder.h"
#include "model/joint_rows.h"
#include "scene/reader.h"

typedef struct carom_control_nodes {
  const carom_node *item, *formula[6];
} control_nodes;

// ---- sensors --------------------------------------------------------------------------------------------------------

static const int sensor_keys[] = {
    [CAROM_SENSOR_POSE] = KEY_SENSOR_POSE,       [CAROM_SENSOR_VELOCITY] = KEY_SENSOR_VELOCITY,
    [CAROM_SENSOR_JOINT] = KEY_SENSOR_JOINT,     [CAROM_SENSOR_REACTION] = KEY_SENSOR_REACTION,
    [CAROM_SENSOR_CONTACT] = KEY_SENSOR_CONTACT, [CAROM_SENSOR_GAP] = KEY_SENSOR_GAP,
    [CAROM_SENSOR_GAIT] = KEY_SENSOR_GAIT};

// Exactly one of the kinds is named.
static bool read_sensor_kind(carom_reader *r, const carom_node *node, const carom_node *const *f,
                             carom_sensor_def *def) {
  int named = 0;
  for (int kind = CAROM_SENSOR_POSE; kind <= CAROM_SENSOR_GAIT; kind++)
    if (f[sensor_keys[kind]]) def->kind = (carom_sensor_kind)kind, named++;
  if (named == 1) return true;
  return carom_report(&r->reporter, node->place, NULL,
                      "a sensor needs %s of 'pose', 'velocity', 'joint', 'reaction', 'contact', 'gap' and 'gait'",
                      named > 1 ? "only one" : "one");
}

static bool read_gap(carom_reader *r, const carom_node *node, carom_sensor_def *def) {
  if (node->kind != CAROM_NODE_LIST || node->count != 2)
    return carom_report(&r->reporter, node->place, NULL, "'gap' expects two bodies: [a, b]");
  bool good = carom_find_body(r, node->first, &def->body);
  return carom_find_body(r, node->last, &def->other) && good;
}

static bool read_sensor_of(carom_reader *r, const carom_node *node, carom_sensor_def *def) {
  if (def->kind == CAROM_SENSOR_GAP) return read_gap(r, node, def);
  if (def->kind == CAROM_SENSOR_GAIT) return carom_read_gait(r, node, &def->gait);
  if (def->kind == CAROM_SENSOR_JOINT || def->kind == CAROM_SENSOR_REACTION)
    return carom_find_joint(r, node, &def->joint);
  return carom_find_body(r, node, &def->body);
}

// Keys that go with some kinds only.
static bool check_belongs(carom_reader *r, const carom_node *node, bool fits, const char *to) {
  if (!node || fits) return true;
  return carom_report(&r->reporter, node->key_at, NULL, "'%s' belongs to %s", node->key, to);
}

static void read_sensor(carom_reader *r, const carom_node *node) {
  const carom_node *f[CAROM_MOST_KEYS];
  carom_sensor_def def = carom_sensor_default();
  if (!carom_read_fields(r, node, CAROM_SECTION_SENSOR, "sensor", f)) return;
  bool good = carom_require(r, node, f[KEY_SENSOR_NAME], "name", "sensor");
  good = carom_read_text(r, f[KEY_SENSOR_NAME], &def.name) && good;
  if (!read_sensor_kind(r, node, f, &def)) return;
  bool moves = def.kind == CAROM_SENSOR_POSE || def.kind == CAROM_SENSOR_VELOCITY;
  good = read_sensor_of(r, f[sensor_keys[def.kind]], &def) && good;
  good = check_belongs(r, f[KEY_SENSOR_POINT], moves, "'pose' and 'velocity'") && good;
  good = check_belongs(r, f[KEY_SENSOR_FROM], moves, "'pose' and 'velocity'") && good;
  good = check_belongs(r, f[KEY_SENSOR_WITH], def.kind == CAROM_SENSOR_CONTACT, "'contact'") && good;
  good = carom_read_vector(r, f[KEY_SENSOR_POINT], CAROM_LENGTH, &def.point) && good;
  const carom_node *other = f[KEY_SENSOR_FROM] ? f[KEY_SENSOR_FROM] : f[KEY_SENSOR_WITH];
  good = (!other || carom_find_body(r, other, &def.other)) && good;
  if (good && carom_loop_add_sensor(r->scene->loop, &def) < 0) r->pool.failed = true;
}

// ---- inputs ---------------------------------------------------------------------------------------------------------

// The input of that name, made if it is not there yet.
static bool ensure_input(carom_reader *r, const carom_node *node, const carom_input_def *input, int *index) {
  *index = carom_names_find(&r->input_names, input->name);
  if (*index >= 0) return true;
  *index = carom_builder_add_input(r->builder, input);
  if (*index < 0) {
    carom_check_builder(r, node);
    return false;
  }
  const char *kept = r->builder->model->inputs[*index].name;
  if (!carom_names_add(&r->input_names, kept, *index)) r->pool.failed = true;
  return true;
}

// What a controller drives, as the scene says.
typedef struct driven {
  carom_input_def input;
  char name[300];
} driven;

static void name_input(driven *d, const char *of, const char *suffix) {
  snprintf(d->name, sizeof d->name, "%.250s%s", of, suffix);
  d->input.name = d->name;
}

static const carom_joint *joint_of(const carom_reader *r, int joint) { return &r->builder->model->joints[joint]; }

// Along a joint: the turn if it has one, unless the force is asked for, or the slide is.
static void drive_joint(carom_reader *r, bool slide, int joint, driven *d) {
  bool turns = carom_joint_turns(joint_of(r, joint)->kind);
  d->input.joint = joint;
  d->input.kind = turns && !slide ? CAROM_INPUT_TURN : CAROM_INPUT_SLIDE;
  bool both = turns && carom_joint_slides(joint_of(r, joint)->kind);
  name_input(d, joint_of(r, joint)->name, both && slide ? "-slide" : "");
}

static bool drive_body(carom_reader *r, const carom_node *const *f, const char *controller, driven *d) {
  static const char *const axes[] = {"world", "body", NULL};
  int in_body = 0;
  bool good = carom_find_body(r, f[KEY_CONTROLLER_BODY], &d->input.body);
  good = carom_read_choice(r, f[KEY_CONTROLLER_AXES], axes, &in_body) && good;
  good = carom_read_vector(r, f[KEY_CONTROLLER_POINT], CAROM_LENGTH, &d->input.point) && good;
  if (!good) return false;
  d->input.body_axes = in_body == 1;
  d->input.at_center = f[KEY_CONTROLLER_POINT] == NULL;
  bool shared = d->input.at_center && !d->input.body_axes;
  name_input(d, shared ? r->builder->model->bodies[d->input.body].name : controller, "");
  return true;
}

// ---- controllers ----------------------------------------------------------------------------------------------------

static bool note_formula(carom_reader *r, const carom_node *node, int k, carom_controller_def *def,
                         control_nodes *nodes) {
  if (!node) return true;
  if (node->kind != CAROM_NODE_SCALAR || carom_node_is_null(node))
    return carom_refuse(r, node, NULL, "a number of a controller is a formula");
  nodes->formula[k] = node;
  def->formula[k] = node->text;
  return true;
}

static bool note_formulas(carom_reader *r, const carom_node *list, int first, carom_controller_def *def,
                          control_nodes *nodes) {
  bool good = true;
  int k = first;
  if (!list) return true;
  if (list->kind != CAROM_NODE_LIST || list->count != 3)
    return carom_refuse(r, list, NULL, "'%s' of a body expects three formulas", list->key);
  for (const carom_node *c = list->first; c; c = c->next) good = note_formula(r, c, k++, def, nodes) && good;
  return good;
}

static bool read_servo(carom_reader *r, const carom_node *node, bool turns, carom_controller_def *def,
                       control_nodes *nodes) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!carom_read_fields(r, node, CAROM_SECTION_SERVO, "servo", f)) return false;
  carom_dimension k = turns ? CAROM_TORSION : CAROM_STIFFNESS, d = turns ? CAROM_TORSION_DAMPING : CAROM_DAMPING;
  bool good = carom_require(r, node, f[KEY_SERVO_TARGET], "target", "servo");
  good = note_formula(r, f[KEY_SERVO_TARGET], 0, def, nodes) && good;
  good = carom_read_number(r, f[KEY_SERVO_STIFFNESS], k, CAROM_NOT_NEGATIVE, &def->stiffness) && good;
  good = carom_read_number(r, f[KEY_SERVO_DAMPING], d, CAROM_NOT_NEGATIVE, &def->damping) && good;
  def->kind = CAROM_CONTROLLER_SERVO;
  return carom_read_bool(r, f[KEY_SERVO_FEED_FORWARD], &def->feed_forward) && good;
}

static bool servo_slides(carom_reader *r, const carom_node *servo) {
  static const char *const words[] = {"turn", "slide", NULL};
  const carom_node *node = servo->kind == CAROM_NODE_MAP ? carom_node_find(servo, "coordinate", 10) : NULL;
  int slide = 0;
  return node && carom_read_choice(r, node, words, &slide) && slide == 1;
}

static bool read_joint_law(carom_reader *r, const carom_node *const *f, carom_controller_def *def, driven *d,
                           control_nodes *nodes) {
  const carom_node *servo = f[KEY_CONTROLLER_SERVO], *force = f[KEY_CONTROLLER_FORCE],
                   *torque = f[KEY_CONTROLLER_TORQUE];
  int joint = -1;
  if (!carom_find_joint(r, f[KEY_CONTROLLER_JOINT], &joint)) return false;
  bool good = check_belongs(r, f[KEY_CONTROLLER_TRACK], false, "controllers of a body");
  good = check_belongs(r, f[KEY_CONTROLLER_AXES], false, "controllers of a body") && good;
  good = check_belongs(r, f[KEY_CONTROLLER_POINT], false, "controllers of a body") && good;
  if (!good || (servo != NULL) + (force != NULL) + (torque != NULL) != 1)
    return good && carom_report(&r->reporter, nodes->item->place, NULL,
                                "a controller of a joint needs one of 'torque', 'force' and 'servo'");
  drive_joint(r, force || (servo && servo_slides(r, servo)), joint, d);
  if (torque && d->input.kind != CAROM_INPUT_TURN)
    return carom_report(&r->reporter, torque->key_at, "a slide takes a 'force'",
                        "joint '%.80s' does not turn about an axis", joint_of(r, joint)->name);
  if (servo) return read_servo(r, servo, d->input.kind == CAROM_INPUT_TURN, def, nodes);
  return note_formula(r, force ? force : torque, 0, def, nodes);
}

static bool read_body_law(carom_reader *r, const carom_node *const *f, carom_controller_def *def, driven *d,
                          control_nodes *nodes) {
  const carom_node *track = f[KEY_CONTROLLER_TRACK];
  bool formulas = f[KEY_CONTROLLER_FORCE] || f[KEY_CONTROLLER_TORQUE];
  bool good = check_belongs(r, f[KEY_CONTROLLER_SERVO], false, "controllers of a joint");
  if (good && (track != NULL) == formulas)
    return carom_report(&r->reporter, nodes->item->place, NULL,
                        "a controller of a body needs 'force', 'torque' or both, or 'track'");
  good = check_belongs(r, f[KEY_CONTROLLER_AXES], !track, "controllers by formulas") && good;
  good = check_belongs(r, f[KEY_CONTROLLER_POINT], !track, "controllers by formulas") && good;
  good = drive_body(r, f, def->name, d) && good;
  if (!good) return false;
  def->guide.offset = cm_pose_inverse(r->builder->model->bodies[d->input.body].frame).p;
  if (track) return carom_read_track(r, track, def, r->builder->model->bodies[d->input.body].name);
  good = note_formulas(r, f[KEY_CONTROLLER_FORCE], 0, def, nodes);
  return note_formulas(r, f[KEY_CONTROLLER_TORQUE], 3, def, nodes) && good;
}

static bool read_timing(carom_reader *r, const carom_node *const *f, carom_controller_def *def) {
  bool good = carom_read_number(r, f[KEY_CONTROLLER_FORCE_LIMIT], CAROM_FORCE, CAROM_POSITIVE, &def->force_limit);
  good = carom_read_number(r, f[KEY_CONTROLLER_TORQUE_LIMIT], CAROM_TORQUE, CAROM_POSITIVE, &def->torque_limit) && good;
  good = carom_read_number(r, f[KEY_CONTROLLER_SAMPLE], CAROM_TIME, CAROM_POSITIVE, &def->sample) && good;
  good = carom_read_number(r, f[KEY_CONTROLLER_DELAY], CAROM_TIME, CAROM_NOT_NEGATIVE, &def->delay) && good;
  return carom_read_schedule(r, f[KEY_CONTROLLER_SCHEDULE], &def->knots, &def->knot_count) && good;
}

static void keep_controller(carom_reader *r, const carom_controller_def *def, const control_nodes *nodes) {
  void *controls = r->controls;
  int count = carom_loop_controller_count(r->scene->loop);
  bool room = carom_pool_grow(&r->pool, &controls, count, &r->control_capacity, sizeof *r->controls);
  r->controls = controls;
  if (room) r->controls[count] = *nodes;
  if (!room || carom_loop_add_controller(r->scene->loop, def) < 0) r->pool.failed = true;
}

static void read_controller(carom_reader *r, const carom_node *node) {
  const carom_node *f[CAROM_MOST_KEYS];
  carom_controller_def def = carom_controller_default();
  control_nodes nodes = {.item = node};
  driven d = {.input = carom_input_default()};
  char fallback[40];
  if (!carom_read_fields(r, node, CAROM_SECTION_CONTROLLER, "controller", f)) return;
  snprintf(fallback, sizeof fallback, "controller%d", carom_loop_controller_count(r->scene->loop));
  def.name = fallback;
  bool good = carom_read_text(r, f[KEY_CONTROLLER_NAME], &def.name);
  good = read_timing(r, f, &def) && good;
  if (!carom_one_of(r, node, f[KEY_CONTROLLER_BODY], f[KEY_CONTROLLER_JOINT], "body and joint", "controller")) return;
  if (!carom_reader_building(r)) return;  // numbers of bodies and joints would not be theirs
  good = (f[KEY_CONTROLLER_JOINT] ? read_joint_law : read_body_law)(r, f, &def, &d, &nodes) && good;
  if (good && ensure_input(r, node, &d.input, &def.input)) keep_controller(r, &def, &nodes);
}

static void keep_constants(carom_reader *r) {
  const carom_node *map = r->top[KEY_SCENE_CONSTANTS];
  if (!map || map->kind != CAROM_NODE_MAP || !r->constants) return;
  for (const carom_node *c = map->first; c; c = c->next) {
    int index = carom_names_find(&r->constant_names, c->key);
    if (index < 0 || r->constants[index].state != CAROM_CONSTANT_READY) continue;
    if (carom_loop_add_constant(r->scene->loop, c->key, r->constants[index].value.value) < 0) r->pool.failed = true;
  }
}

static const carom_node *items(carom_reader *r, int key, const char *what) {
  const carom_node *list = r->top[key];
  return list && carom_read_list(r, list, what) ? list->first : NULL;
}

void carom_read_control(carom_reader *r) {
  const carom_node *c;
  for (c = items(r, KEY_SCENE_SENSORS, "sensors"); c && !carom_reader_failed(r); c = c->next) read_sensor(r, c);
  for (c = items(r, KEY_SCENE_CONTROLLERS, "controllers"); c && !carom_reader_failed(r); c = c->next)
    read_controller(r, c);
  keep_constants(r);
}

// ---- once the model is built ----------------------------------------------------------------------------------------

// Names in formulas are known only now.
void carom_check_control(carom_reader *r) {
  const carom_scene *s = r->scene;
  carom_loop_fault fault;
  carom_error error;
  carom_status status = carom_loop_find_fault(s->loop, s->model, s->state, s->step.step, &fault, &error);
  if (status == CAROM_OK) return;
  if (status == CAROM_ERR_MEMORY) r->pool.failed = true;
  const control_nodes *nodes = fault.controller >= 0 ? &r->controls[fault.controller] : NULL;
  const carom_node *formula = nodes && fault.formula >= 0 ? nodes->formula[fault.formula] : NULL;
  const carom_node *section = r->top[KEY_SCENE_SENSORS];
  carom_place place = formula   ? carom_value_place(formula, fault.offset)
                      : nodes   ? nodes->item->place
                      : section ? section->place
                                : r->root->place;
  carom_report(&r->reporter, place, formula ? fault.hint : NULL, "%s", formula ? fault.message : error.message);
}
