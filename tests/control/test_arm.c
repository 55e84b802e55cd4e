// A three-joint arm in the loop: computed torque over the mechanism of the model, under the library's own integrator.
#include "fixtures.h"
#include "model/joints.h"

enum { JOINTS = 3 };
static const double G = 9.81, SIDE = 0.4, H = 1e-3;

// A yaw joint that carries a shoulder and an elbow; the hand is the end of the last link.
static world arm_world(void) {
  carom_builder *builder = new_builder();
  carom_builder_set_gravity(builder, cm_vec3(0, 0, -G));
  carom_builder_ignore_contacts(builder, true);
  const carom_vec3 size[JOINTS] = {{0.1, 0.1, 0.2}, {SIDE, 0.06, 0.06}, {SIDE, 0.05, 0.05}};
  const carom_vec3 at[JOINTS] = {{0, 0, 0.1}, {SIDE / 2, 0, 0.2}, {1.5 * SIDE, 0, 0.2}};
  const carom_vec3 pivot[JOINTS] = {{0, 0, 0}, {0, 0, 0.2}, {SIDE, 0, 0.2}},
                   axis[JOINTS] = {{0, 0, 1}, {0, 1, 0}, {0, 1, 0}};
  for (int i = 0; i < JOINTS; i++) {
    put_box(builder, size[i], cm_pose(at[i], cm_qidentity()), false);
    carom_joint_def joint = carom_joint_default();
    joint.kind = CAROM_JOINT_REVOLUTE, joint.body[0] = i - 1, joint.body[1] = i, joint.at_start = true;
    joint.point[0] = pivot[i], joint.axis[0] = axis[i];
    carom_builder_add_joint(builder, &joint);
  }
  return finish_world(builder);
}

static const carom_vec3 HAND = {SIDE / 2, 0, 0};  // in the frame of the last link

// Place, velocity and acceleration on a circle of 0.1 m in a slanted plane, once round in 2 s.
typedef struct target {
  carom_vec3 x, v, a;
} target;

static target circle_at(double t) {
  double w = 3.14159265358979323846, r = 0.1, c = cos(w * t), s = sin(w * t);
  carom_vec3 center = cm_vec3(0.45, 0.1, 0.35), u = cm_vec3(0, 1, 0), v = cm_unit(cm_vec3(1, 0, 1));
  return (target){cm_add(center, cm_add(cm_scale(r * c, u), cm_scale(r * s, v))),
                  cm_add(cm_scale(-r * w * s, u), cm_scale(r * w * c, v)),
                  cm_add(cm_scale(-r * w * w * c, u), cm_scale(-r * w * w * s, v))};
}

typedef struct robot {
  world w;
  carom_mechanism *real, *wanted;
  carom_state *at;  // where the arm should be
  carom_joints *joints;
} robot;

static carom_vec3 hand_of(const robot *r, const carom_state *state) {
  return cm_transform(carom_state_pose(r->w.model, state, JOINTS - 1), HAND);
}

// J^-1 of the hand's velocity.
static void joint_rates(const carom_mechanism *m, carom_vec3 velocity, double *nu) {
  double J[6 * JOINTS];
  carom_mechanism_jacobian(m, JOINTS - 1, HAND, J);
  carom_mat3 A = {{{J[0], J[6], J[12]}, {J[1], J[7], J[13]}, {J[2], J[8], J[14]}}};
  carom_vec3 x;
  CHECK(cm_solve3(A, velocity, &x));
  nu[0] = x.x, nu[1] = x.y, nu[2] = x.z;
}

// Newton's method for the joint angles, then the rates.
static void reach(robot *r, double t, double *nu) {
  double step[JOINTS];
  for (int i = 0; i < 20; i++) {
    carom_mechanism_update(r->wanted, r->at, NULL);
    carom_vec3 miss = cm_sub(circle_at(t).x, hand_of(r, r->at));
    joint_rates(r->wanted, miss, step);
    if (cm_norm(miss) < 1e-14) break;
    carom_mechanism_move(r->wanted, step, r->at);
  }
  carom_mechanism_update(r->wanted, r->at, NULL);
  joint_rates(r->wanted, circle_at(t).v, nu);
}

static double angle_of(const robot *r, const carom_state *state, int joint) {
  return carom_state_joint(r->w.model, state, joint).turn;
}

// Accelerations of the joints on the circle, by differences of order 4.
static void wanted_accelerations(robot *r, double t, double *rates) {
  const double e = 2e-3, node[4] = {-2, -1, 1, 2}, weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
  for (int j = 0; j < JOINTS; j++) rates[j] = 0;
  for (int i = 0; i < 4; i++) {
    double nu[JOINTS];
    reach(r, t + node[i] * e, nu);
    for (int j = 0; j < JOINTS; j++) rates[j] += weight[i] / e * nu[j];
  }
}

// What joint torques do to momenta in a time: the moment of a revolute joint, and its opposite; joints answer at once.
static void drive(const robot *r, const double *torques, double time) {
  const carom_model *model = r->w.model;
  for (int j = 0; j < JOINTS; j++) {
    carom_quat q = cm_qmul(r->w.state->q[j], r->w.state->joints[j].frame[1].q);
    carom_vec3 moment = cm_scale(time * torques[j], cm_rotate(q, cm_vec3(0, 0, 1)));
    r->w.state->l[j] = cm_add(r->w.state->l[j], moment);
    if (model->joints[j].body[0] != CAROM_WORLD) r->w.state->l[j - 1] = cm_sub(r->w.state->l[j - 1], moment);
  }
  CHECK(carom_joints_project(r->joints, r->w.state, r->w.state->p, r->w.state->l, NULL, NULL) == CAROM_OK);
}

static void control(robot *r, double t, double *torques) {
  double nu_d[JOINTS], nu[JOINTS], rates[JOINTS];
  wanted_accelerations(r, t, rates);
  reach(r, t, nu_d);
  carom_mechanism_update(r->real, r->w.state, NULL);
  carom_mechanism_velocities(r->real, nu);
  for (int j = 0; j < JOINTS; j++)
    rates[j] -= 400 * (angle_of(r, r->w.state, j) - angle_of(r, r->at, j)) + 40 * (nu[j] - nu_d[j]);
  carom_mechanism_inverse(r->real, rates, torques, NULL);
}

static robot start_robot(void) {
  robot r = {.w = arm_world()};
  double bent[JOINTS] = {0.1, -0.9, 1.5}, nu[JOINTS];
  if (carom_mechanism_create(r.w.model, NULL, &r.real, NULL) != CAROM_OK) abort();
  if (carom_mechanism_create(r.w.model, NULL, &r.wanted, NULL) != CAROM_OK) abort();
  if (carom_joints_create(r.w.model, NULL, &r.joints, NULL) != CAROM_OK) abort();
  carom_mechanism_update(r.real, r.w.state, NULL);
  carom_mechanism_move(r.real, bent, r.w.state);
  carom_state_clone(r.w.state, NULL, &r.at, NULL);
  reach(&r, 0, nu);
  carom_state_copy(r.w.state, r.at);
  carom_mechanism_set_velocities(r.wanted, nu, r.w.state);
  return r;
}

static void end_robot(robot *r) {
  carom_mechanism_destroy(r->real);
  carom_mechanism_destroy(r->wanted);
  carom_joints_destroy(r->joints);
  carom_state_destroy(r->at);
  free_world(&r->w);
}

// Twice round the circle; torques are held for a step, and act half at either end of it as forces do.
TEST(an_arm_follows_a_circle) {
  robot r = start_robot();
  carom_stepper *stepper = new_stepper(&r.w, H, CAROM_QUADRATURE_ENDPOINT);
  double worst = 0, torques[JOINTS];
  for (int i = 0; i < 4000; i++) {
    control(&r, r.w.state->time, torques);
    drive(&r, torques, H / 2);
    run_steps(stepper, r.w.state, 1);
    drive(&r, torques, H / 2);
    worst = fmax(worst, cm_norm(cm_sub(hand_of(&r, r.w.state), circle_at(r.w.state->time).x)));
  }
  CHECK_AT_MOST(worst, 2e-5);
  carom_stepper_destroy(stepper);
  end_robot(&r);
}

// On the circle, with no error, the torques are those of inverse dynamics; their power is the rate of the energy.
TEST(without_an_error_torques_are_those_of_inverse_dynamics) {
  robot r = start_robot();
  for (double t = 0; t < 2; t += 0.1) {
    double nu[JOINTS], rates[JOINTS], expected[JOINTS], torques[JOINTS], M[JOINTS * JOINTS];
    wanted_accelerations(&r, t, rates);
    reach(&r, t, nu);
    carom_state_copy(r.w.state, r.at);
    carom_mechanism_set_velocities(r.wanted, nu, r.w.state);
    carom_mechanism_update(r.real, r.w.state, NULL);
    carom_mechanism_inverse(r.real, rates, expected, NULL);
    control(&r, t, torques);
    for (int j = 0; j < JOINTS; j++) CHECK_NEAR(torques[j], expected[j], 1e-9);
    double power = 0, kinetic[2], height[2], e = 1e-4;
    for (int j = 0; j < JOINTS; j++) power += torques[j] * nu[j];
    for (int side = 0; side < 2; side++) {
      reach(&r, t + (side ? e : -e), nu);
      carom_mechanism_mass(r.wanted, M);
      kinetic[side] = height[side] = 0;
      for (int i = 0; i < JOINTS; i++)
        for (int j = 0; j < JOINTS; j++) kinetic[side] += 0.5 * nu[i] * M[i + JOINTS * j] * nu[j];
      for (int b = 0; b < JOINTS; b++) height[side] += r.w.model->bodies[b].mass * G * r.at->x[b].z;
    }
    CHECK_NEAR(power, (kinetic[1] + height[1] - kinetic[0] - height[0]) / (2 * e), 1e-6);
  }
  end_robot(&r);
}
