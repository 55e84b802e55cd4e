// The problem: what was added, checked as it comes in.
#include "control/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"

carom_plan_def carom_plan_default(void) {
  return (carom_plan_def){.intervals = 30, .step = 0.01, .scale_low = 0.2, .scale_high = 5};
}
carom_plan_joint_def carom_plan_joint_default(void) {
  return (carom_plan_joint_def){
      .axis = {0, 0, 1}, .zero = {1, 0, 0, 0}, .lower = -INFINITY, .upper = INFINITY, .friction = INFINITY};
}
carom_actuator_def carom_actuator_default(void) {
  return (carom_actuator_def){
      .force_bound = INFINITY, .torque_bound = INFINITY, .direction = {0, 0, 1}, .high = INFINITY};
}
carom_condition_def carom_condition_default(void) {
  return (carom_condition_def){.node = CAROM_LAST_NODE,
                               .pose = cm_pose_identity(),
                               .other = CAROM_WORLD,
                               .low = {-INFINITY, -INFINITY, -INFINITY},
                               .high = {INFINITY, INFINITY, INFINITY},
                               .axis = {0, 0, 1},
                               .direction = {0, 0, 1}};
}
carom_cost_def carom_cost_default(void) {
  return (carom_cost_def){.weight = 1, .body = CAROM_WORLD, .axis = {0, 0, 1}, .direction = {0, 0, 1}};
}
carom_planned_contact_def carom_planned_contact_default(void) { return (carom_planned_contact_def){.restitution = 1}; }

// ---- small questions -----------------------------------------------------------------------------------------------

int carom_plan_refuse(carom_plan *plan, carom_status status, const char *format, ...) {
  if (plan->refused) return -1;
  plan->refused = true;
  plan->mistake.status = status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(plan->mistake.message, sizeof plan->mistake.message, format, arguments);
  va_end(arguments);
  return -1;
}

carom_status carom_plan_check(const carom_plan *plan, carom_error *error) {
  if (!plan->refused) return CAROM_OK;
  return carom_fail(error, plan->mistake.status, "%s", plan->mistake.message);
}

int carom_plan_segment(const carom_plan *plan, int interval) {
  int segment = 0;
  for (int i = 0; i < plan->contact_count; i++) segment += plan->contacts[i].def.node <= interval;
  for (int i = 0; i < plan->event_count; i++) segment += !plan->events[i].last && plan->events[i].node <= interval;
  return segment;
}

int carom_plan_segments(const carom_plan *plan) {
  int count = plan->contact_count + 1;
  for (int i = 0; i < plan->event_count; i++) count += !plan->events[i].last;
  return count;
}

int carom_event_node(const carom_plan *plan, const carom_plan_event *e) { return e->last ? plan->path.K : e->node; }

bool carom_joint_holds(const carom_plan *plan, const carom_plan_joint *j, int interval) {
  bool begun = j->caught < 0 || carom_event_node(plan, &plan->events[j->caught]) <= interval;
  bool over = j->released >= 0 && carom_event_node(plan, &plan->events[j->released]) <= interval;
  return begun && !over;
}

bool carom_plan_are_joined(const carom_plan *plan, const int body[2], int interval) {
  for (int i = 0; i < plan->joint_count; i++) {
    const int *other = plan->joints[i].body;
    bool same = (other[0] == body[0] && other[1] == body[1]) || (other[0] == body[1] && other[1] == body[0]);
    if (same && carom_joint_holds(plan, &plan->joints[i], interval)) return true;
  }
  return false;
}

int carom_plan_components(const carom_plan *plan) {
  int count = 0;
  for (int i = 0; i < plan->actuator_count; i++) count += plan->actuators[i].components;
  return count;
}

int carom_plan_part_pairs(const carom_plan *plan) {
  int count = 0;
  for (int i = 0; i < plan->avoided_count; i++) {
    const int *body = plan->avoided[i].body;
    count += plan->model->bodies[body[0]].part_count * plan->model->bodies[body[1]].part_count;
  }
  return count;
}

int carom_plan_multipliers(const carom_plan *plan) {
  int count = 0;
  for (int i = 0; i < plan->joint_count; i++) count += plan->joints[i].rows;
  return count;
}

double carom_plan_step(const carom_plan *plan, int interval) {
  return plan->path.h[interval] * plan->path.sigma[carom_plan_segment(plan, interval)];
}

int carom_plan_resolve_node(const carom_plan *plan, int node) { return node == CAROM_LAST_NODE ? plan->path.K : node; }

bool carom_joint_lands(const carom_plan_joint *j) { return j->caught >= 0 && cm_norm(j->normal) > 0; }

bool carom_stretch_ends_by_itself(const carom_plan *plan, int segment) {
  for (int i = 0; i < plan->joint_count; i++) {
    const carom_plan_joint *j = &plan->joints[i];
    if (!carom_joint_lands(j)) continue;
    int node = carom_event_node(plan, &plan->events[j->caught]);
    if (carom_plan_segment(plan, node - 1) == segment) return true;
  }
  return false;
}

bool carom_plan_contact_at(const carom_plan *plan, int node) {
  for (int i = 0; i < plan->contact_count; i++)
    if (plan->contacts[i].def.node == node) return true;
  return false;
}

const carom_plan_event *carom_plan_event_at(const carom_plan *plan, int node) {
  for (int i = 0; i < plan->event_count; i++)
    if (carom_event_node(plan, &plan->events[i]) == node) return &plan->events[i];
  return NULL;
}

bool carom_plan_breaks_at(const carom_plan *plan, int node) {
  return carom_plan_contact_at(plan, node) || carom_plan_event_at(plan, node);
}

static bool touches_at(const carom_plan *plan, int node, int a, int b) {
  for (int i = 0; i < plan->condition_count; i++) {
    const carom_condition_def *c = &plan->conditions[i];
    bool same = (c->body == a && c->other == b) || (c->body == b && c->other == a);
    if (c->touching && same && carom_plan_resolve_node(plan, c->node) == node) return true;
  }
  return false;
}

bool carom_plan_meets_at(const carom_plan *plan, int node, int a, int b) {
  for (int i = 0; i < plan->contact_count; i++) {
    const carom_planned_contact_def *c = &plan->contacts[i].def;
    bool same = (c->body[0] == a && c->body[1] == b) || (c->body[0] == b && c->body[1] == a);
    // What sticks stays in touch.
    if (same && (c->node == node || (c->impact == CAROM_PLANNED_STICK && node > c->node))) return true;
  }
  return touches_at(plan, node, a, b);
}

carom_pose carom_principal_pose(const carom_model *model, int body, carom_pose user) {
  return cm_compose(user, cm_pose_inverse(model->bodies[body].frame));
}

// ---- beginning and end ---------------------------------------------------------------------------------------------

static carom_status check_def(const carom_model *model, const carom_plan_def *def, carom_error *error) {
  if (!(def->step > 0) || isinf(def->step) || def->intervals == 0)
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "the horizon is %g s: no body can leave its start at node 0; expected more than 0 s",
                      def->intervals == 0 ? 0 : def->step * def->intervals);
  if (def->intervals < 2 || def->intervals > 100000)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a plan of %d intervals: expected 2 to 100000", def->intervals);
  if (!(def->scale_low > 0) || !(def->scale_high >= 1) || def->scale_low > 1)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the step scales must be allowed to be 1: got %g to %g",
                      def->scale_low, def->scale_high);
  if (def->free_time && def->shortest > 0 && def->longest > 0 && def->shortest > def->longest)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a duration of %g s at least and %g s at most: that leaves nothing",
                      def->shortest, def->longest);
  if (model->moving_count == 0) return carom_fail(error, CAROM_ERR_ARGUMENT, "no body of this model can move");
  if (model->spring_count || model->charge_count || model->force_count || model->electromagnet_count)
    return carom_fail(
        error, CAROM_ERR_UNSUPPORTED,
        "plans know gravity but no springs, charges, electromagnets or scheduled forces: take them out of the scene");
  if (model->input_count > 0)
    return carom_fail(
        error, CAROM_ERR_UNSUPPORTED,
        "plans choose their own forces: take the controllers (input '%.80s') out of the scene, and give the "
        "plan actuators",
        model->inputs[0].name);
  if (model->solid_count > 0)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                      "plans know rigid bodies alone: take the solids ('%.80s') out of the scene",
                      model->solids[0].name);
  if (model->drive_count || model->boundary_count || model->recirculation_count)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                      "plans know no driven bodies, boundaries or recirculation: take them out of the scene");
  for (int i = 0; i < model->body_count; i++)
    if (!model->bodies[i].fixed && !(model->bodies[i].inertia.x > 0))
      return carom_fail(error, CAROM_ERR_UNSUPPORTED, "body '%s' has no inertia: plans need bodies with extent",
                        model->bodies[i].name);
  return CAROM_OK;
}

// Typical sizes, by which the solver measures what is small.
static void find_scales(carom_plan *plan) {
  double mass = 0, length = 0;
  for (int i = 0; i < plan->model->body_count; i++) {
    const carom_body *b = &plan->model->bodies[i];
    if (b->fixed) continue;
    mass += b->mass / plan->model->moving_count;
    length = fmax(length, isfinite(b->bounding_radius) && b->bounding_radius > 0 ? b->bounding_radius
                                                                                 : sqrt(b->inertia.x / b->mass));
  }
  plan->mass_scale = mass, plan->length_scale = length;
  plan->time_scale = plan->def.step * plan->def.intervals;
}

static void number_bodies(carom_plan *plan) {
  int moving = 0, fixed = 0;
  for (int i = 0; i < plan->model->body_count; i++) plan->slot[i] = plan->model->bodies[i].fixed ? fixed++ : moving++;
}

carom_status carom_plan_create(const carom_model *model, const carom_state *start, const carom_plan_def *def,
                               const carom_allocator *allocator, carom_plan **out, carom_error *error) {
  *out = NULL;
  carom_plan_def d = def ? *def : carom_plan_default();
  carom_status status = check_def(model, &d, error);
  if (status != CAROM_OK) return status;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_plan *plan = CAROM_NEW(&a, carom_plan, 1);
  if (!plan) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan");
  plan->allocator = a;
  plan->model = model;
  plan->def = d;
  carom_program_create(&plan->program, &a);
  bool enough =
      CAROM_NEW_ALL(&a, CAROM_ROOM(plan->free_starts, model->body_count),
                    CAROM_ROOM(plan->waypoints, model->body_count), CAROM_ROOM(plan->slot, model->body_count),
                    CAROM_ROOM(plan->partner, model->body_count), CAROM_ROOM(plan->placed, model->body_count));
  status = carom_state_clone(start, &a, &plan->start, error);
  if (status == CAROM_OK) status = carom_state_clone(start, &a, &plan->scratch, error);
  if (status == CAROM_OK && !enough) status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan");
  if (status != CAROM_OK) {
    carom_plan_destroy(plan);
    return status;
  }
  number_bodies(plan);
  find_scales(plan);
  *out = plan;
  return CAROM_OK;
}

void carom_plan_destroy(carom_plan *plan) {
  if (!plan) return;
  carom_allocator a = plan->allocator;
  for (int i = 0; plan->waypoints && i < plan->model->body_count; i++) {
    CAROM_RELEASE_ALL(&a, plan->waypoints[i].times, plan->waypoints[i].poses);
  }
  carom_avoidance_release(plan);
  carom_layout_destroy(plan);
  carom_program_destroy(&plan->program);
  carom_path_destroy(plan, &plan->path);
  carom_path_destroy(plan, &plan->first);
  carom_warm_release(plan);
  carom_state_destroy(plan->start);
  carom_state_destroy(plan->scratch);
  CAROM_RELEASE_ALL(&a, plan->events, plan->clearances, plan->partner, plan->placed);
  CAROM_RELEASE_ALL(&a, plan->joints, plan->actuators, plan->conditions, plan->costs, plan->contacts, plan->avoided,
                    plan->free_starts, plan->waypoints, plan->slot, plan->history, plan->penalties, plan->potentials,
                    plan->givens, plan->duals, plan);
}

// ---- adding --------------------------------------------------------------------------------------------------------

#define GROW(plan, what)                                                                                     \
  (carom_grow(&(plan)->allocator, (void **)&(plan)->what##s, (plan)->what##_count, &(plan)->what##_capacity, \
              sizeof *(plan)->what##s)                                                                       \
       ? true                                                                                                \
       : (carom_plan_refuse((plan), CAROM_ERR_MEMORY, "out of memory for a plan"), false))

static bool check_body(carom_plan *plan, int body, const char *what) {
  if (body >= 0 && body < plan->model->body_count) return true;
  carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "%s names body %d, but there are %d", what, body,
                    plan->model->body_count);
  return false;
}

static bool check_moving(carom_plan *plan, int body, const char *what) {
  if (!check_body(plan, body, what)) return false;
  if (!plan->model->bodies[body].fixed) return true;
  carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "%s is about body '%s', which is fixed", what,
                    plan->model->bodies[body].name);
  return false;
}

static bool check_two(carom_plan *plan, const int body[2], const char *what) {
  if (!check_body(plan, body[0], what) || !check_body(plan, body[1], what)) return false;
  const carom_body *bodies = plan->model->bodies;
  if (body[0] != body[1] && !(bodies[body[0]].fixed && bodies[body[1]].fixed)) return true;
  carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "%s needs two different bodies of which one can move, got '%s' and '%s'",
                    what, bodies[body[0]].name, bodies[body[1]].name);
  return false;
}

static void copy_name(char *name, const char *given, const char *kind, int number) {
  if (given)
    snprintf(name, CAROM_PLAN_NAME, "%s", given);
  else
    snprintf(name, CAROM_PLAN_NAME, "%s %d", kind, number);
}

static bool check_range(carom_plan *plan, const carom_plan_joint_def *def) {
  bool limited = def->lower > -INFINITY || def->upper < INFINITY;
  const char *wrong = NULL;
  if (limited && def->kind != CAROM_PLAN_REVOLUTE) wrong = "only revolute joints have an angle";
  if (limited && !(def->lower < def->upper)) wrong = "it leaves nothing";
  if (limited && !(def->upper - def->lower < 6.28)) wrong = "give both ends, less than a turn apart";
  if (!(def->friction >= 0)) wrong = "friction must not be negative";
  if (!(def->reach.x >= 0 && def->reach.y >= 0 && def->reach.z >= 0)) wrong = "its reach must not be negative";
  if (!wrong) return true;
  carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "joint '%.60s' with the range %g to %g rad and friction %g: %s",
                    def->name ? def->name : "", def->lower, def->upper, def->friction, wrong);
  return false;
}

int carom_plan_add_joint(carom_plan *plan, const carom_plan_joint_def *def) {
  if (!check_two(plan, def->body, "a joint") || !GROW(plan, joint)) return -1;
  if (def->kind == CAROM_PLAN_REVOLUTE && cm_norm(def->axis) == 0)
    return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "a revolute joint needs an axis");
  if (!check_range(plan, def)) return -1;
  carom_plan_joint *j = &plan->joints[plan->joint_count];
  *j = (carom_plan_joint){.kind = def->kind, .body = {def->body[0], def->body[1]}};
  copy_name(j->name, def->name, "joint", plan->joint_count);
  const carom_body *bodies = plan->model->bodies;
  for (int i = 0; i < 2; i++) j->point[i] = cm_transform(bodies[def->body[i]].frame, def->point[i]);
  j->axis = cm_unit(cm_rotate(plan->model->bodies[def->body[0]].frame.q, def->axis));
  carom_vec3 in_b = cm_unrotate(plan->start->q[j->body[1]], cm_rotate(plan->start->q[j->body[0]], j->axis));
  cm_frame(cm_unit(in_b), &j->cross[0], &j->cross[1]);
  j->rows = def->kind == CAROM_PLAN_REVOLUTE ? 5 : 3;
  j->offset = carom_plan_multipliers(plan);
  j->caught = j->released = j->grip = -1;
  j->found = j->point[0];
  j->reach = def->reach, j->lower = def->lower, j->upper = def->upper, j->friction = def->friction;
  j->zero = cm_qmul(cm_qmul(bodies[def->body[0]].frame.q, def->zero), cm_qconj(bodies[def->body[1]].frame.q));
  if (cm_norm(def->normal) > 0) j->normal = cm_unit(def->normal);
  return plan->joint_count++;
}

static int components_of(carom_plan *plan, const carom_actuator_def *def) {
  if (def->kind == CAROM_ACTUATOR_THRUSTER) return 1;
  if (def->kind == CAROM_ACTUATOR_JOINT) return plan->joints[def->joint].kind == CAROM_PLAN_REVOLUTE ? 1 : 3;
  return (def->no_force ? 0 : 3) + (def->no_torque ? 0 : 3);
}

static bool check_actuator(carom_plan *plan, const carom_actuator_def *def) {
  if (def->kind == CAROM_ACTUATOR_JOINT && (def->joint < 0 || def->joint >= plan->joint_count)) {
    carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "an actuator names joint %d, but there are %d", def->joint,
                      plan->joint_count);
    return false;
  }
  if (def->kind != CAROM_ACTUATOR_JOINT && !check_moving(plan, def->body, "an actuator")) return false;
  if (!(def->force_bound > 0) || !(def->torque_bound > 0) || !(def->low <= def->high)) {
    carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "an actuator's bounds leave nothing: |force| <= %g, |torque| <= %g",
                      def->force_bound, def->torque_bound);
    return false;
  }
  return true;
}

int carom_plan_add_actuator(carom_plan *plan, const carom_actuator_def *def) {
  if (!check_actuator(plan, def) || !GROW(plan, actuator)) return -1;
  carom_plan_actuator *u = &plan->actuators[plan->actuator_count];
  *u = (carom_plan_actuator){.def = *def};
  copy_name(u->name, def->name, "actuator", plan->actuator_count);
  u->def.name = NULL;
  u->components = components_of(plan, def);
  u->offset = carom_plan_components(plan);
  if (def->kind != CAROM_ACTUATOR_JOINT) {
    carom_pose frame = plan->model->bodies[def->body].frame;
    u->def.point = def->has_point ? cm_transform(frame, def->point) : cm_zero3();
    u->def.direction = cm_unit(cm_rotate(frame.q, def->direction));
  }
  return plan->actuator_count++;
}

int carom_plan_add_condition(carom_plan *plan, const carom_condition_def *def) {
  if (!check_moving(plan, def->body, "a condition")) return -1;
  bool relative = def->kind == CAROM_CONDITION_RELATIVE_POSE || def->kind == CAROM_CONDITION_RELATIVE_ROTATION ||
                  def->kind == CAROM_CONDITION_RELATIVE_REST;
  if (relative && (!check_moving(plan, def->other, "a relative condition"))) return -1;
  if (relative && def->other == def->body)
    return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "a relative condition of body '%s' on itself",
                             plan->model->bodies[def->body].name);
  if (def->node != CAROM_LAST_NODE && (def->node < 0 || def->node > plan->def.intervals))
    return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "a condition at node %d, but the last one is %d", def->node,
                             plan->def.intervals);
  if (!GROW(plan, condition)) return -1;
  plan->conditions[plan->condition_count] = *def;
  return plan->condition_count++;
}

int carom_plan_add_cost(carom_plan *plan, const carom_cost_def *def) {
  bool about_body = def->kind != CAROM_COST_EFFORT && def->kind != CAROM_COST_TIME && def->kind < CAROM_COST_WORK;
  if (about_body && !check_moving(plan, def->body, "a cost")) return -1;
  if (!GROW(plan, cost)) return -1;
  plan->costs[plan->cost_count] = *def;
  return plan->cost_count++;
}

int carom_plan_add_contact(carom_plan *plan, const carom_planned_contact_def *def) {
  if (!check_two(plan, def->body, "a planned contact")) return -1;
  int after = plan->contact_count ? plan->contacts[plan->contact_count - 1].def.node : 0;
  if (def->node <= after || def->node >= plan->def.intervals)
    return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT,
                             "a contact at node %d: expected between %d and %d, in ascending order", def->node,
                             after + 1, plan->def.intervals - 1);
  if (carom_plan_event_at(plan, def->node))
    return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "a contact and an event at node %d: put them at different nodes",
                             def->node);
  if (def->restitution < 0 || def->restitution > 1 || !(def->friction >= 0))
    return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "a contact with restitution %g and friction %g",
                             def->restitution, def->friction);
  if (def->friction == 0 && def->friction_mode == CAROM_FRICTION_STOP)
    return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT,
                             "friction stops nothing where mu is 0: give the contact of '%s' and '%s' a 'friction'",
                             plan->model->bodies[def->body[0]].name, plan->model->bodies[def->body[1]].name);
  if (def->impact == CAROM_PLANNED_STICK && def->friction_mode != CAROM_FRICTION_SLIDE)
    return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT,
                             "a contact that sticks for good has no choice about friction: take out 'stick' or "
                             "'friction_mode'");
  if (def->flat && (def->impact != CAROM_PLANNED_REFLECT || def->friction > 0))
    return carom_plan_refuse(plan, CAROM_ERR_UNSUPPORTED,
                             "a flat contact of '%s' and '%s' reflects without friction: take out 'stick' and "
                             "'friction', or 'flat'",
                             plan->model->bodies[def->body[0]].name, plan->model->bodies[def->body[1]].name);
  if (!GROW(plan, contact)) return -1;
  carom_plan_contact *c = &plan->contacts[plan->contact_count];
  *c = (carom_plan_contact){.def = *def};
  // The first body is one that moves.
  if (plan->model->bodies[def->body[0]].fixed) c->def.body[0] = def->body[1], c->def.body[1] = def->body[0];
  return plan->contact_count++;
}

int carom_plan_add_avoidance(carom_plan *plan, int body_a, int body_b) {
  int body[2] = {body_a, body_b};
  if (!check_two(plan, body, "an avoidance")) return -1;
  if (!carom_grow(&plan->allocator, (void **)&plan->avoided, plan->avoided_count, &plan->avoided_capacity,
                  sizeof *plan->avoided))
    return carom_plan_refuse(plan, CAROM_ERR_MEMORY, "out of memory for a plan");
  plan->avoided[plan->avoided_count] = (carom_avoided_pair){{body_a, body_b}};
  return plan->avoided_count++;
}

static bool has_only_polytopes(const carom_model *model, int body) {
  const carom_body *b = &model->bodies[body];
  for (int i = b->part_start; i < b->part_start + b->part_count; i++) {
    const carom_shape *s = model->parts[i].shape;
    bool corners = carom_shape_get_kind(s) == CAROM_SHAPE_POLYTOPE && carom_shape_radius(s) == 0;
    if (!corners && carom_shape_get_kind(s) != CAROM_SHAPE_HALFSPACE) return false;
  }
  return true;
}

int carom_plan_add_penalty(carom_plan *plan, int body_a, int body_b, double stiffness) {
  int body[2] = {body_a, body_b};
  if (!check_two(plan, body, "a contact potential")) return -1;
  if (!(stiffness > 0) || isinf(stiffness))
    return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "a contact potential of stiffness %g: expected more than 0 N/m",
                             stiffness);
  for (int i = 0; i < 2; i++)
    if (!has_only_polytopes(plan->model, body[i]))
      return carom_plan_refuse(plan, CAROM_ERR_UNSUPPORTED,
                               "a contact potential needs polytopes or half-spaces, unlike '%s'",
                               plan->model->bodies[body[i]].name);
  if (!carom_grow(&plan->allocator, (void **)&plan->penalties, plan->penalty_count, &plan->penalty_capacity,
                  sizeof *plan->penalties))
    return carom_plan_refuse(plan, CAROM_ERR_MEMORY, "out of memory for a plan");
  // The parabola at the beginning is a tenth as wide as a typical overlap v sqrt(m/C) is deep.
  double speed = plan->length_scale / plan->time_scale;
  plan->penalties[plan->penalty_count] =
      (carom_plan_penalty){{body_a, body_b}, stiffness, 0.1 * speed * sqrt(plan->mass_scale / stiffness)};
  return plan->penalty_count++;
}

int carom_plan_free_start(carom_plan *plan, int body, carom_vec3 position, bool rotation, carom_vec3 velocity,
                          carom_vec3 angular_velocity) {
  if (!check_moving(plan, body, "a free start")) return -1;
  plan->free_starts[body] = (carom_free_start){true, rotation, position, velocity, angular_velocity};
  return body;
}

int carom_plan_set_waypoints(carom_plan *plan, int body, int count, const double *times, const carom_pose *poses) {
  if (!check_moving(plan, body, "a way")) return -1;
  for (int i = 1; i < count; i++)
    if (!(times[i] > times[i - 1]))
      return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "the waypoints of body '%s' are not in the order of time",
                               plan->model->bodies[body].name);
  carom_waypoints *w = &plan->waypoints[body];
  CAROM_RELEASE_ALL(&plan->allocator, w->times, w->poses);
  *w = (carom_waypoints){.count = count, .times = CAROM_NEW(&plan->allocator, double, count + 1)};
  w->poses = CAROM_NEW(&plan->allocator, carom_pose, count + 1);
  if (!w->times || !w->poses) return carom_plan_refuse(plan, CAROM_ERR_MEMORY, "out of memory for a plan");
  for (int i = 0; i < count; i++) {
    w->times[i] = times[i];
    w->poses[i] = carom_principal_pose(plan->model, body, poses[i]);
  }
  return body;
}

static void drop_givens(carom_plan *plan, int actuator) {
  int kept = 0;
  for (int i = 0; i < plan->given_count; i++)
    if (plan->givens[i].actuator != actuator) plan->givens[kept++] = plan->givens[i];
  plan->given_count = kept;
}

int carom_plan_set_guess_forces(carom_plan *plan, int actuator, int count, const double *times, const double *values) {
  if (actuator < 0 || actuator >= plan->actuator_count)
    return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT, "forces of a first guess name actuator %d, but there are %d",
                             actuator, plan->actuator_count);
  const carom_plan_actuator *u = &plan->actuators[actuator];
  drop_givens(plan, actuator);
  for (int i = 0; i < count; i++) {
    carom_given_force given = {.actuator = actuator, .time = times[i]};
    memcpy(given.value, values + (size_t)i * (size_t)u->components, (size_t)u->components * sizeof *values);
    bool finite = isfinite(given.time);
    for (int j = 0; j < u->components; j++) finite = finite && isfinite(given.value[j]);
    if (!finite || (i > 0 && !(times[i] > times[i - 1])))
      return carom_plan_refuse(plan, CAROM_ERR_ARGUMENT,
                               "the forces of actuator '%s' in the first guess must be finite and in the order of time",
                               u->name);
    if (!GROW(plan, given)) return -1;
    plan->givens[plan->given_count++] = given;
  }
  return actuator;
}

// ---- the answer ----------------------------------------------------------------------------------------------------

int carom_plan_node_count(const carom_plan *plan) { return plan->path.K + 1; }

double carom_plan_time(const carom_plan *plan, int node) {
  double t = plan->start->time;
  for (int k = 0; k < node && k < plan->path.K; k++) t += carom_plan_step(plan, k);
  return t;
}

int carom_plan_actuator_count(const carom_plan *plan) { return plan->actuator_count; }
int carom_plan_component_count(const carom_plan *plan, int actuator) { return plan->actuators[actuator].components; }

void carom_plan_forces(const carom_plan *plan, int node, int actuator, double *components) {
  const carom_plan_actuator *u = &plan->actuators[actuator];
  const double *tau = plan->path.tau + (size_t)node * (size_t)carom_plan_components(plan) + u->offset;
  memcpy(components, tau, (size_t)u->components * sizeof *tau);
}

int carom_plan_scale_count(const carom_plan *plan) { return carom_plan_segments(plan); }
double carom_plan_scale(const carom_plan *plan, int index) { return plan->path.sigma[index]; }
int carom_plan_contact_count(const carom_plan *plan) { return plan->contact_count; }
int carom_plan_contact_node(const carom_plan *plan, int contact) { return plan->contacts[contact].def.node; }

int carom_plan_reaction_count(const carom_plan *plan) { return carom_plan_multipliers(plan); }

void carom_plan_reactions(const carom_plan *plan, int node, double *reactions) {
  size_t m = (size_t)carom_plan_multipliers(plan);
  memcpy(reactions, plan->path.lambda + (size_t)node * m, m * sizeof *reactions);
}

bool carom_plan_node_added(const carom_plan *plan, int node) { return plan->path.added[node]; }
int carom_plan_pair_count(const carom_plan *plan) { return carom_plan_part_pairs(plan); }
bool carom_plan_watched(const carom_plan *plan, int node, int pair) {
  return plan->path.watched[(size_t)node * (size_t)carom_plan_part_pairs(plan) + (size_t)pair];
}
double carom_plan_margin(const carom_plan *plan) { return plan->extra_margin; }

const carom_plan_iterate *carom_plan_history(const carom_plan *plan, int *count) {
  *count = plan->history_count;
  return plan->history;
}
