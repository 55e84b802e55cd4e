// Joints: frames on both bodies, checks that they fit the start, and the records they begin with.
#include <math.h>
#include <stdio.h>

#include "model/builder.h"
#include "model/joint_system.h"

static const double MEETING_TOLERANCE = 1e-6;  // relative to the bodies' distance and size, and in radians

int carom_model_find_joint(const carom_model *model, const char *name) {
  return carom_names_find(&((const carom_model_full *)model)->joint_names, name);
}

// ---- checks of the definition --------------------------------------------------------------------------------------

static bool has_axis(carom_joint_kind kind) { return kind != CAROM_JOINT_SPHERICAL && kind != CAROM_JOINT_DISTANCE; }

static bool is_free(const carom_coordinate_def *c) {
  return c->stiffness == 0 && c->damping == 0 && c->lower == -INFINITY && c->upper == INFINITY &&
         c->motor == CAROM_MOTOR_NONE;
}

static carom_status check_knots(const carom_coordinate_def *c, const char *name, carom_error *error) {
  if (c->knot_count < 0 || (c->knot_count > 0 && !c->knots))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "joint '%s': %d knots, but no array of them", name, c->knot_count);
  for (int i = 0; i < c->knot_count; i++) {
    if (!isfinite(c->knots[i].time) || !isfinite(c->knots[i].factor))
      return carom_fail(error, CAROM_ERR_NUMBER, "joint '%s': knot %d of the schedule is not finite", name, i);
    if (i > 0 && !(c->knots[i].time > c->knots[i - 1].time))
      return carom_fail(error, CAROM_ERR_ARGUMENT, "joint '%s': the times of the schedule must ascend (knot %d)", name,
                        i);
  }
  return CAROM_OK;
}

static carom_status check_coordinate(const carom_coordinate_def *c, bool has, const char *what, const char *name,
                                     carom_error *error) {
  if (!has && !is_free(c))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "joint '%s': a joint of this kind has no free %s to act on", name,
                      what);
  if (!(c->stiffness >= 0) || isinf(c->stiffness) || !(c->damping >= 0) || isinf(c->damping) || !isfinite(c->rest))
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "joint '%s': stiffness %g and damping %g of the %s must be 0 or more, its rest %g finite", name,
                      c->stiffness, c->damping, what, c->rest);
  if (!(c->lower <= c->upper))
    return carom_fail(error, CAROM_ERR_NUMBER, "joint '%s': the lower limit %g of the %s is above the upper one, %g",
                      name, c->lower, what, c->upper);
  if (!(c->restitution >= 0 && c->restitution <= 1))
    return carom_fail(error, CAROM_ERR_NUMBER, "joint '%s': the restitution is %g, expected 0 to 1", name,
                      c->restitution);
  if (c->motor < CAROM_MOTOR_NONE || c->motor > CAROM_MOTOR_POSITION || !isfinite(c->motor_value))
    return carom_fail(error, CAROM_ERR_NUMBER, "joint '%s': the motor of the %s is unknown or not finite", name, what);
  return check_knots(c, name, error);
}

static carom_status check_bodies(const carom_builder *b, const carom_joint_def *def, const char *name,
                                 carom_error *error) {
  const carom_body *bodies = b->model->bodies;
  bool moves = false;
  if (def->body[1] == CAROM_WORLD || def->body[0] == def->body[1])
    return carom_fail(error, CAROM_ERR_ARGUMENT, "joint '%s' must join two bodies, or the world (first) and a body",
                      name);
  for (int end = 0; end < 2; end++) {
    if (def->body[end] == CAROM_WORLD || bodies[def->body[end]].fixed) continue;
    const carom_body *body = &bodies[def->body[end]];
    moves = true;
    if (body->inverse_inertia.x > 0) continue;
    if (has_axis(def->kind))
      return carom_fail(error, CAROM_ERR_ARGUMENT,
                        "joint '%s': body '%s' is a point and does not turn, only spherical and distance joints "
                        "can hold it",
                        name, body->name);
  }
  if (!moves) return carom_fail(error, CAROM_ERR_ARGUMENT, "joint '%s' joins bodies that are both fixed", name);
  return CAROM_OK;
}

static carom_status check_seat(const carom_joint_def *def, const char *name, carom_error *error) {
  const carom_seat *seat = &def->seat;
  if (!(seat->position >= 0) || isinf(seat->position) || !(seat->angle >= 0) || !(seat->speed >= 0))
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "joint '%s': the seat is within %g m, %g rad and %g m/s; expected 0 or more", name,
                      seat->position, seat->angle, seat->speed);
  double norm = sqrt(cm_qdot(seat->pose.q, seat->pose.q));
  if (seat->position == 0) return CAROM_OK;
  if (!def->latch || def->kind != CAROM_JOINT_FIXED)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "joint '%s': only fixed joints that latch have a seat", name);
  if (!cm_finite(seat->pose.p) || !(fabs(norm - 1) <= 1e-9))
    return carom_fail(error, CAROM_ERR_NUMBER, "joint '%s': the pose of the seat must be finite, its quaternion unit",
                      name);
  return CAROM_OK;
}

static carom_status check_latch(const carom_joint_def *def, const char *name, carom_error *error) {
  bool can = def->kind == CAROM_JOINT_FIXED || def->kind == CAROM_JOINT_SPHERICAL || def->kind == CAROM_JOINT_REVOLUTE;
  if (def->latch && !can)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "joint '%s': only spherical, revolute and fixed joints can latch",
                      name);
  if (def->latch && def->body[0] == CAROM_WORLD)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "joint '%s' latches when two bodies collide, so it needs two; the world cannot be hit", name);
  if (def->latch && (carom_motor_prescribes(def->turn.motor)))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "joint '%s': a latch cannot have a prescribed motor", name);
  if (def->releases >= 0 && !def->latch)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "joint '%s' releases another one but is no latch", name);
  return CAROM_OK;
}

static carom_status check_joint(const carom_builder *b, const carom_joint_def *def, const char *name,
                                carom_error *error) {
  if (def->kind < CAROM_JOINT_SPHERICAL || def->kind > CAROM_JOINT_DISTANCE)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "joint '%s': there is no kind %d", name, (int)def->kind);
  if (carom_names_find(&b->model->joint_names, name) >= 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "two joints are named '%s'", name);
  if (!cm_finite(def->point[0]) || !cm_finite(def->point[1]) || !cm_finite(def->axis[0]) || !cm_finite(def->axis[1]) ||
      !isfinite(def->pitch) || !isfinite(def->length))
    return carom_fail(error, CAROM_ERR_NUMBER, "joint '%s': points, axes, pitch and length must be finite", name);
  if (has_axis(def->kind) && cm_norm(def->axis[0]) == 0)
    return carom_fail(error, CAROM_ERR_NUMBER, "joint '%s': the axis is zero", name);
  carom_status status = check_bodies(b, def, name, error);
  if (status == CAROM_OK) status = check_coordinate(&def->slide, carom_joint_slides(def->kind), "slide", name, error);
  if (status == CAROM_OK) status = check_coordinate(&def->turn, carom_joint_turns(def->kind), "turn", name, error);
  if (status == CAROM_OK) status = check_latch(def, name, error);
  return status == CAROM_OK ? check_seat(def, name, error) : status;
}

// ---- frames --------------------------------------------------------------------------------------------------------

// Where the joint is at the start, in the world, as each body has it.
typedef struct meeting {
  carom_pose body[2];  // principal frames
  carom_vec3 r[2], n[2];
  double scale;
} meeting;

static carom_vec3 builder_direction(const carom_builder *b, int body, carom_vec3 axis) {
  return body == CAROM_WORLD ? axis : cm_rotate(b->model->bodies[body].frame.q, axis);
}

static meeting meeting_of(const carom_builder *b, const carom_joint_def *def) {
  meeting m = {.scale = 0};
  for (int end = 0; end < 2; end++) {
    int body = def->body[end];
    m.body[end] = body == CAROM_WORLD ? cm_pose_identity() : b->poses[body];
    m.r[end] = cm_transform(m.body[end], carom_builder_point(b, body, def->point[end]));
    m.n[end] = cm_unit(cm_rotate(m.body[end].q, builder_direction(b, body, def->axis[end])));
    if (def->at_start) m.r[end] = def->point[0], m.n[end] = cm_unit(def->axis[0]);
    if (body == CAROM_WORLD) continue;
    m.scale += cm_norm(cm_sub(m.r[end], m.body[end].p)) + b->model->bodies[body].bounding_radius;
  }
  if (cm_norm(m.n[0]) == 0) m.n[0] = cm_vec3(0, 0, 1);
  if (cm_norm(m.n[1]) == 0) m.n[1] = m.n[0];
  m.scale += cm_norm(cm_sub(m.body[1].p, def->body[0] == CAROM_WORLD ? m.r[0] : m.body[0].p));
  return m;
}

// The part of r1 - r0 that the joint forbids.
static carom_vec3 forbidden(carom_joint_kind kind, const meeting *m) {
  carom_vec3 d = cm_sub(m->r[1], m->r[0]), along = cm_scale(cm_dot(m->n[0], d), m->n[0]);
  if (kind == CAROM_JOINT_DISTANCE) return cm_zero3();
  if (kind == CAROM_JOINT_PLANAR) return along;
  bool slides = carom_joint_slides(kind) || kind == CAROM_JOINT_SCREW;
  return slides ? cm_sub(d, along) : d;
}

static carom_status check_length(const carom_joint_def *def, const meeting *m, const char *name, double *length,
                                 carom_error *error) {
  if (def->kind != CAROM_JOINT_DISTANCE) return CAROM_OK;
  double start = cm_norm(cm_sub(m->r[1], m->r[0]));
  *length = def->length < 0 ? start : def->length;
  if (!(*length > MEETING_TOLERANCE * m->scale))
    return carom_fail(
        error, CAROM_ERR_NUMBER,
        "joint '%s': the link's length is %g m, expected more than 0; for points that stay together take a "
        "spherical joint",
        name, *length);
  if (fabs(start - *length) > MEETING_TOLERANCE * m->scale)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "joint '%s': the link is %.9g m long, but its ends are %.9g m apart at the start, %.3g m "
                      "off: move the bodies or change the length",
                      name, *length, start, fabs(start - *length));
  return CAROM_OK;
}

static carom_status check_meeting(const carom_joint_def *def, const meeting *m, const char *name, carom_error *error) {
  if (def->latch && !def->engaged) return CAROM_OK;
  double apart = cm_norm(forbidden(def->kind, m));
  if (apart > MEETING_TOLERANCE * m->scale)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "joint '%s': its points are %.3g m apart at the start where they should meet: move the bodies or "
                      "the points",
                      name, apart);
  double angle = atan2(cm_norm(cm_cross(m->n[0], m->n[1])), cm_dot(m->n[0], m->n[1]));
  if (has_axis(def->kind) && angle > MEETING_TOLERANCE)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "joint '%s': its axes differ by %.3g rad at the start where they should agree", name, angle);
  return CAROM_OK;
}

// Points on bodies that do not turn stay at the centre: elsewhere a force would have a moment with nothing to turn.
static carom_status check_points(const carom_builder *b, const carom_joint_def *def, const meeting *m, const char *name,
                                 carom_error *error) {
  for (int end = 0; end < 2; end++) {
    if (def->body[end] == CAROM_WORLD) continue;
    const carom_body *body = &b->model->bodies[def->body[end]];
    double arm = cm_norm(cm_sub(m->r[end], m->body[end].p));
    if (!body->fixed && body->inverse_inertia.x == 0 && arm > MEETING_TOLERANCE * m->scale)
      return carom_fail(error, CAROM_ERR_ARGUMENT, "joint '%s': body '%s' is a point, but the joint is %.3g m off it",
                        name, body->name, arm);
  }
  return CAROM_OK;
}

static carom_quat frame_about(carom_vec3 n) {
  carom_vec3 u, v;
  cm_frame(n, &u, &v);
  carom_mat3 A = {{{u.x, v.x, n.x}, {u.y, v.y, n.y}, {u.z, v.z, n.z}}};
  return cm_quat_of(A);
}

// One frame for both at the start; body 1's point is moved to meet exactly.
static void set_frames(const carom_joint_def *def, const meeting *m, carom_joint *joint) {
  carom_quat q = frame_about(m->n[0]);
  carom_vec3 r1 = def->latch && !def->engaged ? m->r[1] : cm_sub(m->r[1], forbidden(def->kind, m));
  carom_pose world[2] = {cm_pose(m->r[0], q), cm_pose(r1, q)};
  for (int end = 0; end < 2; end++) {
    carom_pose seen = cm_compose(cm_pose_inverse(m->body[end]), world[end]);
    joint->frame[end] = cm_pose(seen.p, cm_qunit(seen.q));
  }
}

// ---- adding --------------------------------------------------------------------------------------------------------

static carom_coordinate coordinate_of(const carom_coordinate_def *c, int knot_start) {
  return (carom_coordinate){.input = -1,
                            .stiffness = c->stiffness,
                            .rest = c->rest,
                            .damping = c->damping,
                            .lower = c->lower,
                            .upper = c->upper,
                            .restitution = c->restitution,
                            .motor = c->motor,
                            .motor_value = c->motor_value,
                            .knot_start = knot_start,
                            .knot_count = c->knot_count};
}

// A prescribed coordinate must be where the joint is at the start.
static carom_status check_motor(const carom_coordinate_def *c, double start, const char *what, const char *name,
                                carom_error *error) {
  if (c->motor != CAROM_MOTOR_POSITION) return CAROM_OK;
  double asked = c->motor_value * carom_schedule_value(c->knots, c->knot_count, 0);
  if (fabs(asked - start) <= MEETING_TOLERANCE * fmax(1, fabs(start))) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_ARGUMENT,
                    "joint '%s': its motor prescribes a %s of %.9g at the start, but it is %.9g there", name, what,
                    asked, start);
}

static carom_status place_joint(const carom_builder *b, const carom_joint_def *def, const char *name,
                                carom_joint *joint, carom_error *error) {
  static const double TURN = 6.283185307179586476925;
  meeting m = meeting_of(b, def);
  *joint = (carom_joint){.kind = def->kind,
                         .body = {def->body[0], def->body[1]},
                         .pitch = def->pitch / TURN,
                         .collide = def->collide,
                         .latch = def->latch,
                         .seat = def->seat,
                         .engaged = def->engaged,
                         .releases = def->releases};
  carom_status status = check_points(b, def, &m, name, error);
  if (status == CAROM_OK) status = check_length(def, &m, name, &joint->length, error);
  if (status == CAROM_OK) status = check_meeting(def, &m, name, error);
  double slide = cm_dot(m.n[0], cm_sub(m.r[1], m.r[0]));
  if (status == CAROM_OK) status = check_motor(&def->slide, slide, "slide", name, error);
  if (status == CAROM_OK) status = check_motor(&def->turn, 0, "turn", name, error);
  if (status == CAROM_OK) set_frames(def, &m, joint);
  joint->slide.start = slide;
  return status;
}

static int append_joint(carom_builder *b, const carom_joint_def *def, carom_joint joint, const char *name) {
  carom_model *m = &b->model->view;
  double slide = joint.slide.start;
  joint.slide = coordinate_of(&def->slide, m->knot_count);
  joint.slide.start = slide;
  joint.turn = coordinate_of(&def->turn, m->knot_count + def->slide.knot_count);
  char *copy = carom_copy_text(&b->allocator, name);
  if (!copy || !CAROM_BUILDER_GROW(b, b->model->joints, m->joint_count, b->joint_capacity) ||
      !carom_builder_append_knots(b, def->slide.knots, def->slide.knot_count) ||
      !carom_builder_append_knots(b, def->turn.knots, def->turn.knot_count) ||
      !carom_names_add(&b->model->joint_names, copy, m->joint_count)) {
    carom_release(&b->allocator, copy);
    return carom_builder_out_of_memory(b);
  }
  joint.name = copy;
  b->model->joints[m->joint_count] = joint;
  return m->joint_count++;
}

int carom_builder_add_joint(carom_builder *builder, const carom_joint_def *def) {
  if (!carom_builder_sound(builder) || !carom_builder_knows_body(builder, def->body[0], true, "joint") ||
      !carom_builder_knows_body(builder, def->body[1], true, "joint"))
    return -1;
  char fallback[32];
  snprintf(fallback, sizeof fallback, "joint%d", builder->model->view.joint_count);
  const char *name = def->name ? def->name : fallback;
  carom_joint joint;
  if (check_joint(builder, def, name, &builder->error) != CAROM_OK ||
      place_joint(builder, def, name, &joint, &builder->error) != CAROM_OK)
    return -1;
  int index = append_joint(builder, def, joint, name);
  if (index >= 0 && !def->collide && !def->latch && def->body[0] != CAROM_WORLD)
    carom_builder_set_apart(builder, def->body[0], def->body[1]);
  return carom_builder_sound(builder) ? index : -1;
}

// ---- finish --------------------------------------------------------------------------------------------------------

static carom_status start_joint(carom_model_full *model, int index, bool active, carom_state *state,
                                carom_error *error) {
  carom_joint *joint = &model->joints[index];
  carom_joint_state *record = &state->joints[index];
  *record = (carom_joint_state){.frame = {joint->frame[0], joint->frame[1]}, .active = active};
  carom_joint_place place = carom_joint_placed(joint, record, state);
  record->slide = joint->kind == CAROM_JOINT_SCREW ? carom_joint_slide(&place) : 0;
  for (int i = 0; i < model->view.drive_count; i++) {
    int driven = model->drives[i].body;
    if (driven == joint->body[0] || driven == joint->body[1])
      return carom_fail(error, CAROM_ERR_ARGUMENT,
                        "joint '%s' holds body '%s', which is driven: let a motor move it against the world instead",
                        joint->name, model->bodies[driven].name);
  }
  if (joint->releases >= model->view.joint_count || joint->releases == index)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "joint '%s' releases joint %d, but there are %d joints", joint->name,
                      joint->releases, model->view.joint_count);
  return CAROM_OK;
}

static bool is_prescribed(const carom_joint *joint) {
  return joint->slide.motor > CAROM_MOTOR_FORCE || joint->turn.motor > CAROM_MOTOR_FORCE;
}

static bool share_a_body(const carom_joint *a, const carom_joint *b) {
  for (int i = 0; i < 2; i++)
    if (a->body[i] != CAROM_WORLD && (a->body[i] == b->body[0] || a->body[i] == b->body[1])) return true;
  return false;
}

// A motor whose rate the joints around it do not allow; of several the one nearest to where they break.
static int find_contradiction(const carom_model *m, int broken) {
  int motor = is_prescribed(&m->joints[broken]) ? broken : -1;
  for (int i = 0; i < m->joint_count && motor < 0; i++)
    if (is_prescribed(&m->joints[i]) && share_a_body(&m->joints[i], &m->joints[broken])) motor = i;
  for (int i = 0; i < m->joint_count && motor < 0; i++)
    if (is_prescribed(&m->joints[i])) motor = i;
  return motor;
}

// Motors that prescribe what other joints, or other motors, forbid: no velocities fit them.
static carom_status check_motors(const carom_model *m, carom_joint_system *system, const carom_state *state,
                                 const double *rates, carom_error *error) {
  double fastest = 0, missed;
  for (int i = 0; i < m->joint_count * CAROM_JOINT_ROWS; i++) fastest = fmax(fastest, fabs(rates[i]));
  int broken = carom_joint_system_missed(system, state, rates, &missed);
  if (fastest == 0 || broken < 0 || missed <= 1e-6 * fastest) return CAROM_OK;
  int motor = find_contradiction(m, broken), other = broken;
  for (int i = 0; i < m->joint_count && other == motor; i++)
    if (i != motor && share_a_body(&m->joints[i], &m->joints[motor])) other = i;
  return carom_fail(
      error, CAROM_ERR_ARGUMENT,
      "joint '%s': its motor prescribes a motion that joint '%s' does not allow at the start (%.2g of the "
      "rate is missed): remove one of them, or prescribe a force or torque",
      m->joints[motor].name, m->joints[other].name, missed / fastest);
}

// Velocities that the joints forbid are taken out by joint impulses; those that motors prescribe are put in.
static carom_status project_start(carom_builder *builder, carom_state *state, carom_error *error) {
  const carom_model *m = &builder->model->view;
  carom_joint_system *system = NULL;
  double *rates = CAROM_NEW(&builder->allocator, double, m->joint_count *CAROM_JOINT_ROWS);
  if (!rates) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d joints", m->joint_count);
  for (int i = 0; i < m->joint_count; i++) carom_joint_rates(m, &m->joints[i], 0, rates + i * CAROM_JOINT_ROWS);
  carom_status status = carom_joint_system_create(m, &builder->allocator, &system, error);
  if (status == CAROM_OK) builder->model->view.loop_rows = carom_joint_system_most_loop_rows(system);
  if (status == CAROM_OK) status = carom_joint_system_prepare(system, state, error);
  if (status == CAROM_OK) carom_joint_system_project(system, state, rates, state->p, state->l, NULL);
  if (status == CAROM_OK) status = check_motors(m, system, state, rates, error);
  carom_joint_system_destroy(system);
  carom_release(&builder->allocator, rates);
  return status;
}

carom_status carom_builder_finish_joints(carom_builder *builder, carom_state *state, carom_error *error) {
  carom_model_full *model = builder->model;
  carom_status status = CAROM_OK;
  for (int i = 0; i < model->view.joint_count && status == CAROM_OK; i++)
    status = start_joint(model, i, !model->joints[i].latch || model->joints[i].engaged, state, error);
  if (status != CAROM_OK || model->view.joint_count == 0) return status;
  return project_start(builder, state, error);
}
