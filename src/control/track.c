// The tracking law (Johnson 2012, 4.5.3 and 4.5.4).
//
// An error of rotation by the angle phi about n has the energy U(phi), and the law pulls by U'(phi) n, since phi' =
// -n.e_w. Both of Johnson's maps are of this form: exp with U = k_R phi^2/2, and Cayley with U = 2 k_R tan^2(phi/2),
// whose pull is k_R e_R + G(e_R), e_R = 2 tan(phi/2) n. Beyond the limit U goes on in a straight line. Thus V' is what
// the paper says for any of them, up to a half-turn and beyond.
#include "carom/track.h"

#include <math.h>

carom_track_gains carom_track_default_gains(void) {
  return (carom_track_gains){.map = CAROM_TRACK_EXPONENTIAL,
                             .rotation = 1.0,
                             .spin = 0.3,
                             .position = 1.2,
                             .velocity = 9.6,
                             .cayley_limit = 1.57079632679489661923,
                             .hysteresis = 0.1};
}

// ---- checks
// ----------------------------------------------------------------------------------------------------------

typedef struct number {
  const char *name, *unit;
  double value, most;
} number;

static carom_status check_gains(const carom_track_gains *g, carom_error *error) {
  const double half_turn = 3.14159265358979323846;
  const number numbers[] = {
      {"rotation", "N m", g->rotation, INFINITY},          {"spin", "N m s", g->spin, INFINITY},
      {"position", "N/m", g->position, INFINITY},          {"velocity", "N s/m", g->velocity, INFINITY},
      {"cayley_limit", "rad", g->cayley_limit, half_turn}, {"hysteresis", "rad", g->hysteresis, half_turn}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    const number *n = &numbers[i];
    if (!(n->value > 0) || !(n->value < n->most))
      return carom_fail(error, CAROM_ERR_NUMBER, "gain '%s' is %g %s: it must be positive and below %g", n->name,
                        n->value, n->unit, n->most);
  }
  return CAROM_OK;
}

// Positive definite, by its leading minors.
static bool is_inertia(carom_mat3 J) {
  double minor = J.m[0][0] * J.m[1][1] - J.m[0][1] * J.m[1][0];
  bool symmetric = true;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++) symmetric = symmetric && fabs(J.m[i][j] - J.m[j][i]) <= 1e-9 * cm_trace(J);
  return symmetric && J.m[0][0] > 0 && minor > 0 && cm_det(J) > 0 && isfinite(cm_trace(J));
}

carom_status carom_track_check(const carom_plant *plant, const carom_track_gains *gains, carom_error *error) {
  if (!(plant->mass > 0) || !isfinite(plant->mass))
    return carom_fail(
        error, CAROM_ERR_NUMBER,
        "the mass to be moved is %g kg: it must be positive and finite; fixed bodies cannot be controlled",
        plant->mass);
  if (!is_inertia(plant->inertia))
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "the inertia to be turned is not symmetric and positive: give the body a shape or an inertia");
  if (!cm_finite(plant->external_force) || !cm_finite(plant->external_torque_body))
    return carom_fail(error, CAROM_ERR_NUMBER, "the external force or torque on the plant is not finite");
  return check_gains(gains, error);
}

// ---- the error of rotation
// -------------------------------------------------------------------------------------------

// q and -q are one rotation, by the angles phi and 2 pi - phi. The shorter one is taken; past a half-turn the side is
// kept until the other is shorter by twice the hysteresis, so that noise at a half-turn does not make the law dither.
static carom_quat choose_side(carom_quat q, double hysteresis, carom_track_memory *memory) {
  bool known = cm_qdot(memory->error, memory->error) > 0;
  bool flip = known ? cm_qdot(q, memory->error) < 0 : q.w < 0;
  if (flip) q = cm_quat(-q.w, -q.x, -q.y, -q.z);
  if (q.w < -sin(hysteresis / 2)) q = cm_quat(-q.w, -q.x, -q.y, -q.z);
  memory->error = q;
  return q;
}

typedef struct pull {
  carom_vec3 error;   // e_R
  carom_vec3 torque;  // U'(phi) n
  double energy;      // U(phi)
} pull;

static pull exponential_pull(double k, double angle, carom_vec3 axis) {
  carom_vec3 error = cm_scale(angle, axis);
  return (pull){error, cm_scale(k, error), 0.5 * k * angle * angle};
}

static pull cayley_pull(double k, double limit, double angle, carom_vec3 axis) {
  double taken = fmin(angle, limit), tangent = tan(taken / 2), strength = 2 * k * tangent * (1 + tangent * tangent);
  return (pull){cm_scale(2 * tangent, axis), cm_scale(strength, axis),
                2 * k * tangent * tangent + strength * (angle - taken)};
}

// ---- the law
// ---------------------------------------------------------------------------------------------------------

carom_track_answer carom_track(const carom_plant *plant, const carom_rigid_motion *motion,
                               const carom_reference *reference, const carom_track_gains *gains,
                               carom_track_memory *memory) {
  carom_quat q_e = cm_qunit(cm_qmul(cm_qconj(motion->rotation), reference->rotation));
  carom_quat q = choose_side(q_e, gains->hysteresis, memory);
  carom_vec3 w = motion->angular_velocity_body, w_d = cm_rotate(q, reference->angular_velocity_body);
  carom_vec3 sine = cm_vec3(q.x, q.y, q.z), axis = cm_unit(sine);
  carom_track_answer a = {.angle = 2 * atan2(cm_norm(sine), q.w)};
  a.position_error = cm_sub(motion->position, reference->position);
  a.velocity_error = cm_sub(motion->velocity, reference->velocity);
  a.spin_error = cm_sub(w, w_d);
  pull turn = gains->map == CAROM_TRACK_CAYLEY ? cayley_pull(gains->rotation, gains->cayley_limit, a.angle, axis)
                                               : exponential_pull(gains->rotation, a.angle, axis);
  a.rotation_error = turn.error;
  carom_vec3 w_d_rate = cm_sub(cm_rotate(q, reference->angular_acceleration_body), cm_cross(w, w_d));
  carom_vec3 gyration = cm_cross(cm_mulv(plant->inertia, w), w), feed = cm_mulv(plant->inertia, w_d_rate);
  a.torque_body = cm_axpy(turn.torque, -gains->spin, a.spin_error);
  a.torque_body = cm_add(a.torque_body, cm_sub(cm_sub(feed, gyration), plant->external_torque_body));
  a.force = cm_axpy(cm_scale(-gains->position, a.position_error), -gains->velocity, a.velocity_error);
  a.force = cm_axpy(cm_sub(a.force, plant->external_force), plant->mass, reference->acceleration);
  a.lyapunov =
      turn.energy + 0.5 * (cm_dot(a.spin_error, cm_mulv(plant->inertia, a.spin_error)) +
                           plant->mass * cm_norm2(a.velocity_error) + gains->position * cm_norm2(a.position_error));
  a.lyapunov_rate = -gains->spin * cm_norm2(a.spin_error) - gains->velocity * cm_norm2(a.velocity_error);
  return a;
}

// ---- plants and references
// -------------------------------------------------------------------------------------------

carom_plant carom_plant_of(const carom_model *model, int body) {
  const carom_body *b = &model->bodies[body];
  carom_mat3 R = cm_rotation(b->frame.q), J = cm_diag3(b->inertia.x, b->inertia.y, b->inertia.z);
  return (carom_plant){.mass = b->mass, .inertia = cm_mmul(cm_transpose(R), cm_mmul(J, R))};
}

carom_rigid_motion carom_state_motion(const carom_model *model, const carom_state *state, int body) {
  carom_quat q = cm_qmul(state->q[body], model->bodies[body].frame.q);
  return (carom_rigid_motion){
      .position = state->x[body],
      .rotation = q,
      .velocity = carom_state_velocity(model, state, body),
      .angular_velocity_body = cm_unrotate(q, carom_state_angular_velocity(model, state, body)),
  };
}

carom_reference carom_reference_rest(carom_pose pose) {
  return (carom_reference){.position = pose.p, .rotation = pose.q};
}

carom_reference carom_reference_at(const carom_reference *reference, carom_vec3 offset) {
  carom_reference r = *reference;
  carom_vec3 w = r.angular_velocity_body, speed = cm_cross(w, offset);
  carom_vec3 change = cm_add(cm_cross(r.angular_acceleration_body, offset), cm_cross(w, speed));
  r.position = cm_add(r.position, cm_rotate(r.rotation, offset));
  r.velocity = cm_add(r.velocity, cm_rotate(r.rotation, speed));
  r.acceleration = cm_add(r.acceleration, cm_rotate(r.rotation, change));
  return r;
}

carom_status carom_reference_check(const carom_reference *r, carom_error *error) {
  double length = sqrt(cm_qdot(r->rotation, r->rotation));
  if (!(fabs(length - 1) <= 1e-6))
    return carom_fail(
        error, CAROM_ERR_NUMBER,
        "the reference's rotation (%g, %g, %g, %g) has the length %g: give a unit quaternion (w, x, y, z)",
        r->rotation.w, r->rotation.x, r->rotation.y, r->rotation.z, length);
  if (!cm_finite(r->position) || !cm_finite(r->velocity) || !cm_finite(r->acceleration) ||
      !cm_finite(r->angular_velocity_body) || !cm_finite(r->angular_acceleration_body))
    return carom_fail(error, CAROM_ERR_NUMBER, "the reference's position, velocities or accelerations are not finite");
  return CAROM_OK;
}
