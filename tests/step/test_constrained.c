// The constrained variational step: conserved quantities of free chains, every joint against an analytic motion,
// springs, dampers and motors, and what the audit sees of it all.
#include "failing_allocator.h"
#include "fixtures.h"
#include "model/joints.h"
#include "step/variational/constrained.h"

static const double G = 9.81;

static carom_joint_def joint_at(carom_joint_kind kind, int a, int b, carom_vec3 point, carom_vec3 axis) {
  carom_joint_def def = carom_joint_default();
  def.kind = kind;
  def.body[0] = a, def.body[1] = b;
  def.at_start = true;
  def.point[0] = point;
  def.axis[0] = axis;
  return def;
}

static carom_joint_def link_between(int a, int b) {
  carom_joint_def def = carom_joint_default();
  def.kind = CAROM_JOINT_DISTANCE;
  def.body[0] = a, def.body[1] = b;
  return def;
}

// One body of random inertia whose centre is at `center`, turned at random; moments by the caller when axis matters.
static carom_body_def body_at(carom_vec3 center, carom_vec3 moments) {
  carom_body_def def = inert_body(1.7, moments);
  def.pose = cm_pose(center, cm_qunit(cm_quat(0.3, -0.5, 0.7, 0.2)));
  return def;
}

static const carom_vec3 MOMENTS = {0.21, 0.34, 0.47};

// n R J R' n: the moment about an axis through the centre.
static double moment_about(const world *w, int body, carom_vec3 n) {
  carom_vec3 N = cm_unrotate(w->state->q[body], cm_unit(n));
  return cm_dot(N, cm_mul_diag(w->model->bodies[body].inertia, N));
}

// Steps with the audit looking on.
static carom_audit_sample audited(const world *w, double h, int steps, carom_quadrature quadrature, double *drift) {
  carom_stepper *stepper = new_stepper(w, h, quadrature);
  carom_audit *audit = NULL;
  carom_error error = {0};
  carom_step_report report;
  carom_audit_sample worst = {0};
  if (carom_audit_create(w->model, w->state, NULL, &audit, &error) != CAROM_OK) abort();
  for (int i = 0; i < steps; i++) {
    if (carom_stepper_step(stepper, w->state, &report, &error) != CAROM_OK) {
      test_fail(__FILE__, __LINE__, "step %d: %s", i, error.message);
      break;
    }
    carom_audit_step(audit, w->state, &report);
    if (drift) *drift = fmax(*drift, report.constraint);
    carom_audit_sample now = carom_audit_latest(audit);
    worst.energy_error = fmax(worst.energy_error, fabs(now.energy_error));
    worst.momentum_error = fmax(worst.momentum_error, now.momentum_error);
    worst.angular_momentum_error = fmax(worst.angular_momentum_error, now.angular_momentum_error);
    worst.work = now.work;
    worst.energy = now.energy_error;  // the last one
    worst.kinetic = now.kinetic;
  }
  carom_audit_destroy(audit);
  carom_stepper_destroy(stepper);
  return worst;
}

// ---- conserved quantities ------------------------------------------------------------------------------------------

// Free chain of bodies with joints of many kinds, tumbling.
static world free_chain(int n, bool mixed) {
  carom_random r = carom_random_make(3, 1);
  carom_builder *b = new_builder();
  static const carom_joint_kind kinds[] = {CAROM_JOINT_SPHERICAL, CAROM_JOINT_REVOLUTE, CAROM_JOINT_SCREW,
                                           CAROM_JOINT_FIXED,     CAROM_JOINT_DISTANCE, CAROM_JOINT_CYLINDRICAL};
  for (int i = 0; i < n; i++) {
    carom_body_def def = inert_body(carom_random_between(&r, 0.5, 1.5), cm_scale(0.02, random_moments(&r)));
    def.pose = cm_pose(cm_vec3(i, 0.2 * (i % 2), 0), random_rotation(&r));
    def.velocity = cm_add(cm_vec3(0.1, 0.2, -0.1), cm_cross(cm_vec3(0, 0.2, 0.5), def.pose.p));
    def.angular_velocity = cm_add(cm_vec3(0, 0.2, 0.5), random_vector(&r, 0.5));
    carom_builder_add_body(b, &def);
    if (i == 0) continue;
    carom_joint_kind kind = mixed ? kinds[i % 6] : CAROM_JOINT_SPHERICAL;
    carom_joint_def j = joint_at(kind, i - 1, i, cm_vec3(i - 0.5, 0.1, 0), random_vector(&r, 1));
    j.pitch = 1;
    if (kind == CAROM_JOINT_DISTANCE) j = link_between(i - 1, i), j.point[1] = cm_vec3(0.1, 0.2, 0);
    carom_builder_add_joint(b, &j);
  }
  return finish_world(b);
}

TEST(free_chain_keeps_momenta) {
  world w = free_chain(8, true);
  double drift = 0;
  carom_audit_sample worst = audited(&w, 2e-3, 3000, CAROM_QUADRATURE_ENDPOINT, &drift);
  printf("free chain: energy %.2g, momentum %.2g, angular momentum %.2g, drift %.2g m\n", worst.energy_error,
         worst.momentum_error, worst.angular_momentum_error, drift);
  CHECK_AT_MOST(worst.momentum_error, 1e-12);
  CHECK_AT_MOST(worst.angular_momentum_error, 1e-12);
  CHECK_AT_MOST(worst.energy_error, 1e-4);
  CHECK_AT_MOST(drift, 1e-12);
  free_world(&w);
}

// Pendulum chain under gravity: no secular change of energy, no drift of the joints.
TEST(hanging_chain_1e4_steps) {
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  for (int i = 0; i < 4; i++) {
    carom_body_def def = body_at(cm_vec3(0.5 + i, 0, 0.1 * i), cm_scale(0.3, MOMENTS));
    carom_builder_add_body(b, &def);
    carom_joint_def j = joint_at(i % 2 ? CAROM_JOINT_REVOLUTE : CAROM_JOINT_SPHERICAL, i - 1, i,
                                 cm_vec3(i, 0, 0.1 * i - 0.05), cm_vec3(0, 1, 0.2));
    carom_builder_add_joint(b, &j);
  }
  world w = finish_world(b);
  double drift = 0;
  carom_audit_sample worst = audited(&w, 1e-3, 10000, CAROM_QUADRATURE_ENDPOINT, &drift);
  printf("hanging chain: energy %.2g, momentum %.2g, angular momentum %.2g, drift %.2g m\n", worst.energy_error,
         worst.momentum_error, worst.angular_momentum_error, drift);
  CHECK_AT_MOST(worst.energy_error, 1e-3);
  CHECK_AT_MOST(worst.momentum_error, 1e-10);
  CHECK_AT_MOST(worst.angular_momentum_error, 1e-10);
  CHECK_AT_MOST(drift, 1e-12);
  free_world(&w);
}

// Point masses on rigid links: a bead chain, free in space.
TEST(bead_chain) {
  carom_builder *b = new_builder();
  carom_random r = carom_random_make(11, 0);
  for (int i = 0; i < 6; i++) {
    carom_body_def def = carom_body_default();
    def.mass = 1 + 0.1 * i;
    def.pose.p = cm_vec3(i, (i % 2), 0.3 * i);
    def.velocity = random_vector(&r, 1);
    carom_builder_add_body(b, &def);
    carom_joint_def j = link_between(i - 1, i);
    if (i > 0) carom_builder_add_joint(b, &j);
  }
  world w = finish_world(b);
  double drift = 0, length = sqrt(1 + 1 + 0.09);
  carom_audit_sample worst = audited(&w, 5e-3, 4000, CAROM_QUADRATURE_ENDPOINT, &drift);
  CHECK_AT_MOST(worst.momentum_error, 1e-12);
  CHECK_AT_MOST(worst.angular_momentum_error, 1e-12);
  CHECK_AT_MOST(worst.energy_error, 1e-3);
  for (int i = 1; i < 6; i++) CHECK_NEAR(cm_norm(cm_sub(w.state->x[i], w.state->x[i - 1])), length, 1e-12);
  free_world(&w);
}

// ---- joints against analytic motions -------------------------------------------------------------------------------

// Ratio of errors under halving, for what is not exact.
static void check_second_order(double (*error)(int steps), int steps, double bound) {
  double e1 = error(steps), e2 = error(2 * steps);
  printf("errors %.3g %.3g, order %.3f\n", e1, e2, log2(e1 / e2));
  CHECK_AT_MOST(e2, bound);
  CHECK_NEAR(log2(e1 / e2), 2, 0.1);
}

// Slides down an inclined axis, whatever its inertia: a parabola, which the scheme hits exactly.
TEST(prismatic_slides_down) {
  carom_vec3 n = cm_unit(cm_vec3(1, 0.5, -1));
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  carom_body_def def = body_at(cm_vec3(0.2, 0.1, 3), MOMENTS);
  def.velocity = cm_scale(0.4, n);
  carom_builder_add_body(b, &def);
  carom_joint_def j = joint_at(CAROM_JOINT_PRISMATIC, CAROM_WORLD, 0, cm_vec3(0.3, -0.4, 2), n);
  carom_builder_add_joint(b, &j);
  world w = finish_world(b);
  carom_vec3 start = w.state->x[0];
  carom_quat q = w.state->q[0];
  carom_audit_sample worst = audited(&w, 0.01, 100, CAROM_QUADRATURE_ENDPOINT, NULL);
  double s = 0.4 - 0.5 * G * n.z;
  CHECK_AT_MOST(cm_norm(cm_sub(w.state->x[0], cm_axpy(start, s, n))), 1e-12);
  CHECK_NEAR(fabs(cm_qdot(q, w.state->q[0])), 1, 1e-14);
  CHECK_AT_MOST(worst.energy_error, 1e-12);
  CHECK_AT_MOST(worst.momentum_error, 1e-12);
  free_world(&w);
}

static const carom_vec3 UP = {0, 0, 1};

// Falls along a vertical axis through its centre and spins on about it.
static double cylindrical_error(int steps) {
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  carom_body_def def = body_at(cm_zero3(), MOMENTS);
  def.angular_velocity = cm_vec3(0, 0, 2);
  carom_builder_add_body(b, &def);
  carom_joint_def j = joint_at(CAROM_JOINT_CYLINDRICAL, CAROM_WORLD, 0, cm_zero3(), UP);
  carom_builder_add_joint(b, &j);
  world w = finish_world(b);
  audited(&w, 1.0 / steps, steps, CAROM_QUADRATURE_ENDPOINT, NULL);
  CHECK_NEAR(w.state->x[0].z, -0.5 * G, 1e-12);
  double e = w.state->joints[0].turn - 2;
  free_world(&w);
  return fabs(e);
}

TEST(cylindrical_falls_and_spins) { check_second_order(cylindrical_error, 50, 1e-3); }

// On an inclined frictionless plane, off-centre joint point: the centre of mass slides as on the plane when the point
// is the centre; here it is, and the spin about the normal stays.
static double planar_error(int steps) {
  carom_vec3 n = cm_unit(cm_vec3(0.3, 0, 1));
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  carom_body_def def = body_at(cm_vec3(1, 2, 0.5), MOMENTS);
  def.angular_velocity = cm_scale(1.5, n);
  def.velocity = cm_vec3(0, 0.7, 0);
  carom_builder_add_body(b, &def);
  carom_joint_def j = joint_at(CAROM_JOINT_PLANAR, CAROM_WORLD, 0, cm_vec3(1, 2, 0.5), n);
  carom_builder_add_joint(b, &j);
  world w = finish_world(b);
  audited(&w, 1.0 / steps, steps, CAROM_QUADRATURE_ENDPOINT, NULL);
  carom_vec3 g = cm_vec3(0, 0, -G), a = cm_axpy(g, -cm_dot(g, n), n);
  carom_vec3 x = cm_axpy(cm_add(cm_vec3(1, 2, 0.5), cm_vec3(0, 0.7, 0)), 0.5, a);
  CHECK_AT_MOST(cm_norm(cm_sub(w.state->x[0], x)), 1e-12);
  carom_joint_place place = carom_joint_placed(w.model->joints, w.state->joints, w.state);
  double turn = carom_joint_turn(&place, 1.5);
  free_world(&w);
  return fabs(turn - 1.5);
}

TEST(planar_slides_and_spins) { check_second_order(planar_error, 50, 1e-3); }

// A nut on a vertical screw: (J + m c^2) theta'' = -m g c.
static double screw_error(int steps) {
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  carom_body_def def = body_at(cm_vec3(0, 0, 1), MOMENTS);
  carom_builder_add_body(b, &def);
  carom_joint_def j = joint_at(CAROM_JOINT_SCREW, CAROM_WORLD, 0, cm_vec3(0, 0, 0.3), UP);
  j.pitch = 1.3;
  carom_builder_add_joint(b, &j);
  world w = finish_world(b);
  double c = 1.3 / (2 * M_PI), J = moment_about(&w, 0, UP), m = w.model->bodies[0].mass, T = 3;
  double turn = -0.5 * T * T * m * G * c / (J + m * c * c);
  carom_audit_sample worst = audited(&w, T / steps, steps, CAROM_QUADRATURE_ENDPOINT, NULL);
  CHECK_NEAR(w.state->x[0].z, 1 + c * w.state->joints[0].turn, 1e-12);  // over several turns
  CHECK_AT_MOST(worst.momentum_error, 1e-11);
  double e = w.state->joints[0].turn - turn;
  CHECK_AT_MOST(2 * M_PI, fabs(turn));
  free_world(&w);
  return fabs(e);
}

TEST(screw_runs_down) { check_second_order(screw_error, 1200, 1e-2); }

// Fixed to the world: it does not move, and the joint carries its weight and the moment of that.
TEST(fixed_holds) {
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  carom_body_def def = body_at(cm_vec3(1, 0, 0), MOMENTS);
  carom_builder_add_body(b, &def);
  carom_joint_def j = joint_at(CAROM_JOINT_FIXED, CAROM_WORLD, 0, cm_zero3(), UP);
  carom_builder_add_joint(b, &j);
  world w = finish_world(b);
  carom_vec3 x = w.state->x[0];
  carom_quat q = w.state->q[0];
  double drift = 0;
  audited(&w, 0.01, 1000, CAROM_QUADRATURE_ENDPOINT, &drift);
  CHECK_AT_MOST(cm_norm(cm_sub(w.state->x[0], x)), 1e-13);
  CHECK_NEAR(fabs(cm_qdot(q, w.state->q[0])), 1, 1e-14);
  carom_joints *joints = NULL;
  carom_error error;
  REQUIRE(carom_joints_create(w.model, NULL, &joints, &error) == CAROM_OK);
  double m = w.model->bodies[0].mass;
  for (int k = 0; k < 2; k++) {  // what the steps themselves find
    carom_stepper *stepper = new_stepper(&w, 0.01, (carom_quadrature)k);
    run_steps(stepper, w.state, 2);
    const carom_constrained *held = carom_variational_joints(stepper);
    CHECK_AT_MOST(cm_norm(cm_sub(held->force[0], cm_vec3(0, 0, m * G))), 1e-10);
    CHECK_AT_MOST(cm_norm(cm_sub(held->torque[0], cm_vec3(0, -m * G, 0))), 1e-10);
    carom_stepper_destroy(stepper);
  }
  double impulses[CAROM_JOINT_ROWS];
  carom_vec3 p = cm_vec3(0, 0, -m * G), l = cm_zero3();  // a second's weight
  REQUIRE(carom_joints_project(joints, w.state, &p, &l, impulses, &error) == CAROM_OK);
  carom_joint_impulse reaction = carom_joints_reaction(w.model, w.state, 0, impulses);
  CHECK_AT_MOST(cm_norm(cm_sub(reaction.linear, cm_vec3(0, 0, m * G))), 1e-12);
  CHECK_AT_MOST(cm_norm(cm_sub(reaction.angular, cm_vec3(0, -m * G, 0))), 1e-12);
  carom_joints_destroy(joints);
  free_world(&w);
}

// Two bodies fixed together tumble as the one body that they make.
static double compound_error(int steps) {
  double m = 1.3, arm = 0.6;
  carom_vec3 J = cm_vec3(0.2, 0.3, 0.25), spin = cm_vec3(0.3, 0.9, 0.4);
  carom_builder *b = new_builder();
  for (int i = 0; i < 2; i++) {
    carom_body_def def = inert_body(m, J);
    def.pose.p = cm_vec3(i ? arm : -arm, 0, 0);
    def.angular_velocity = spin;
    def.velocity = cm_cross(spin, def.pose.p);
    carom_builder_add_body(b, &def);
  }
  carom_joint_def j = joint_at(CAROM_JOINT_FIXED, 0, 1, cm_vec3(0.1, 0.2, -0.3), cm_vec3(1, 2, 3));
  carom_builder_add_joint(b, &j);
  world two = finish_world(b);
  b = new_builder();
  double across = 2 * m * arm * arm;
  carom_body_def def = inert_body(2 * m, cm_vec3(2 * J.x, 2 * J.y + across, 2 * J.z + across));
  def.angular_velocity = spin;
  carom_builder_add_body(b, &def);
  world one = finish_world(b);
  carom_stepper *stepper = new_stepper(&one, 1e-4, CAROM_QUADRATURE_ENDPOINT);
  run_steps(stepper, one.state, 20000);
  audited(&two, 2.0 / steps, steps, CAROM_QUADRATURE_ENDPOINT, NULL);
  carom_quat a = carom_state_pose(one.model, one.state, 0).q, c = carom_state_pose(two.model, two.state, 1).q;
  double e = cm_norm(cm_log(cm_qmul(c, cm_qconj(a))));
  carom_stepper_destroy(stepper);
  free_world(&one);
  free_world(&two);
  return e;
}

TEST(fixed_pair_is_one_body) { check_second_order(compound_error, 100, 1e-3); }

// Conical pendulum: a point on a link circles at omega^2 = g / (L cos alpha).
static double conical_error(int steps) {
  double L = 1.5, alpha = 0.6, omega = sqrt(G / (L * cos(alpha))), radius = L * sin(alpha), T = 2;
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  carom_body_def def = carom_body_default();
  def.mass = 0.8;
  def.pose.p = cm_vec3(radius, 0, -L * cos(alpha));
  def.velocity = cm_vec3(0, omega * radius, 0);
  carom_builder_add_body(b, &def);
  carom_joint_def j = link_between(CAROM_WORLD, 0);
  carom_builder_add_joint(b, &j);
  world w = finish_world(b);
  audited(&w, T / steps, steps, CAROM_QUADRATURE_ENDPOINT, NULL);
  carom_vec3 x = cm_vec3(radius * cos(omega * T), radius * sin(omega * T), -L * cos(alpha));
  double e = cm_norm(cm_sub(w.state->x[0], x));
  free_world(&w);
  return e;
}

TEST(distance_conical_pendulum) { check_second_order(conical_error, 200, 1e-3); }

// Lagrange's top in steady precession: its axis keeps the angle t and goes round at Omega, where
// A cos(t) Omega^2 - J3 w3 Omega + m g arm = 0 with the moment A across the axis at the fixed point.
static double top_error(int steps) {
  double m = 1, arm = 0.4, J1 = 0.05, J3 = 0.08, tilt = 0.5, w3 = 40, T = 1;
  double A = (J1 + m * arm * arm) * cos(tilt), B = J3 * w3, C = m * G * arm;
  double Omega = (B - sqrt(B * B - 4 * A * C)) / (2 * A);
  carom_vec3 e3 = cm_vec3(sin(tilt), 0, cos(tilt)), spin = cm_scale(Omega, UP);
  spin = cm_axpy(spin, w3 - Omega * cos(tilt), e3);  // w3 is the whole spin along the axis
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  carom_body_def def = inert_body(m, cm_vec3(J1, J1, J3));
  def.pose = cm_pose(cm_scale(arm, e3), cm_axis_angle(cm_vec3(0, 1, 0), tilt));
  def.angular_velocity = spin;
  def.velocity = cm_cross(spin, def.pose.p);
  carom_builder_add_body(b, &def);
  carom_joint_def j = joint_at(CAROM_JOINT_SPHERICAL, CAROM_WORLD, 0, cm_zero3(), UP);
  carom_builder_add_joint(b, &j);
  world w = finish_world(b);
  audited(&w, T / steps, steps, CAROM_QUADRATURE_ENDPOINT, NULL);
  carom_vec3 expected = cm_scale(arm, cm_rotate(cm_axis_angle(UP, Omega * T), e3));
  double e = cm_norm(cm_sub(w.state->x[0], expected));
  free_world(&w);
  return e;
}

TEST(spherical_steady_top) { check_second_order(top_error, 1000, 1e-3); }

// ---- springs, dampers, motors --------------------------------------------------------------------------------------

// A body on a vertical hinge through its centre.
static world hinge(carom_coordinate_def turn, double rate) {
  carom_builder *b = new_builder();
  carom_body_def def = body_at(cm_vec3(0.3, 0.1, -0.2), MOMENTS);
  def.angular_velocity = cm_vec3(0, 0, rate);
  carom_builder_add_body(b, &def);
  carom_joint_def j = joint_at(CAROM_JOINT_REVOLUTE, CAROM_WORLD, 0, cm_vec3(0.3, 0.1, 0.5), UP);
  j.turn = turn;
  carom_builder_add_joint(b, &j);
  return finish_world(b);
}

static carom_quadrature chosen;  // by the test

static double torsion_error(int steps) {
  carom_coordinate_def turn = carom_coordinate_default();
  turn.stiffness = 3;
  turn.rest = 2;
  world w = hinge(turn, 0);
  double omega = sqrt(3 / moment_about(&w, 0, UP)), T = 2;
  carom_audit_sample worst = audited(&w, T / steps, steps, chosen, NULL);
  CHECK_AT_MOST(worst.angular_momentum_error, 1e-12);
  CHECK_AT_MOST(worst.energy_error, 2e-2);
  double e = w.state->joints[0].turn - 2 * (1 - cos(omega * T));  // swings through nearly two thirds of a turn
  free_world(&w);
  return fabs(e);
}

TEST(turn_spring_oscillates) {
  for (int q = 0; q < 2; q++) chosen = (carom_quadrature)q, check_second_order(torsion_error, 200, 1e-3);
}

static double turn_damper_error(int steps) {
  carom_coordinate_def turn = carom_coordinate_default();
  turn.damping = 0.5;
  world w = hinge(turn, 2);
  double rate = 0.5 / moment_about(&w, 0, UP), T = 1;
  carom_audit_sample worst = audited(&w, T / steps, steps, chosen, NULL);
  CHECK_AT_MOST(worst.energy_error, 1e-3);
  double e = w.state->joints[0].turn - 2 / rate * (1 - exp(-rate * T));
  free_world(&w);
  return fabs(e);
}

TEST(turn_damper_slows) {
  for (int q = 0; q < 2; q++) chosen = (carom_quadrature)q, check_second_order(turn_damper_error, 100, 1e-4);
}

// Spring and damper along a slide between two free bodies: the reduced mass swings, damped.
static double slide_error(int steps) {
  double m1 = 1.3, m2 = 0.9, k = 20, c = 0.8, T = 1.5;
  carom_vec3 n = cm_unit(cm_vec3(1, 1, 0.4));
  carom_builder *b = new_builder();
  carom_body_def def = inert_body(m1, MOMENTS);
  carom_builder_add_body(b, &def);
  def = inert_body(m2, MOMENTS);
  def.pose.p = cm_scale(1.2, n);
  carom_builder_add_body(b, &def);
  carom_joint_def j = carom_joint_default();
  j.kind = CAROM_JOINT_CYLINDRICAL;
  j.body[0] = 0, j.body[1] = 1;
  j.axis[0] = n;
  j.slide.stiffness = k, j.slide.damping = c, j.slide.rest = 0.9;
  carom_builder_add_joint(b, &j);
  world w = finish_world(b);
  double m = m1 * m2 / (m1 + m2), beta = c / (2 * m), omega = sqrt(k / m - beta * beta);
  carom_audit_sample worst = audited(&w, T / steps, steps, chosen, NULL);
  CHECK_AT_MOST(worst.momentum_error, 1e-12);
  carom_joint_place place = carom_joint_placed(w.model->joints, w.state->joints, w.state);
  double s = 0.9 + 0.3 * exp(-beta * T) * (cos(omega * T) + beta / omega * sin(omega * T));
  double e = carom_joint_slide(&place) - s;
  free_world(&w);
  return fabs(e);
}

TEST(slide_spring_and_damper) {
  for (int q = 0; q < 2; q++) chosen = (carom_quadrature)q, check_second_order(slide_error, 200, 1e-3);
}

// Between two tumbling bodies, turn springs and dampers keep both momenta.
TEST(joint_springs_keep_momenta) {
  for (int q = 0; q < 2; q++) {
    carom_builder *b = new_builder();
    for (int i = 0; i < 2; i++) {
      carom_body_def def = body_at(cm_vec3(i, 0, 0), MOMENTS);
      def.angular_velocity = cm_vec3(0.5, 1 - 2 * i, 0.3);
      def.velocity = cm_vec3(0, i, 0);
      carom_builder_add_body(b, &def);
    }
    carom_joint_def j = joint_at(CAROM_JOINT_CYLINDRICAL, 0, 1, cm_vec3(0.5, 0.2, 0), cm_vec3(1, 0.2, 0.3));
    j.turn.stiffness = 5, j.turn.rest = 0.4, j.slide.stiffness = 30, j.turn.damping = 0.1;
    carom_builder_add_joint(b, &j);
    world w = finish_world(b);
    double drift = 0;
    carom_audit_sample worst = audited(&w, 2e-3, 2000, (carom_quadrature)q, &drift);
    CHECK_AT_MOST(worst.momentum_error, 1e-12);
    CHECK_AT_MOST(worst.angular_momentum_error, 1e-12);
    CHECK_AT_MOST(worst.energy_error, 1e-3);
    CHECK_AT_MOST(drift, 1e-12);
    free_world(&w);
  }
}

static double torque_error(int steps) {
  carom_coordinate_def turn = carom_coordinate_default();
  carom_knot ramp[] = {{0, 0}, {2, 1}};
  turn.motor = CAROM_MOTOR_FORCE;
  turn.motor_value = 1.5;
  turn.knots = ramp, turn.knot_count = 2;
  world w = hinge(turn, 0);
  double J = moment_about(&w, 0, UP), T = 2;  // torque 1.5 t/2
  carom_audit_sample worst = audited(&w, T / steps, steps, CAROM_QUADRATURE_ENDPOINT, NULL);
  CHECK_AT_MOST(fabs(worst.energy), 1e-4);
  double e = w.state->joints[0].turn - 1.5 / 2 * T * T * T / (6 * J);
  free_world(&w);
  return fabs(e);
}

TEST(force_motor_speeds_up) { check_second_order(torque_error, 200, 1e-3); }

// A prescribed rate that rises: the turn is its integral to round-off, the motor's work is the kinetic energy.
TEST(rate_motor) {
  carom_coordinate_def turn = carom_coordinate_default();
  carom_knot ramp[] = {{0, 0}, {1, 1}};
  turn.motor = CAROM_MOTOR_RATE;
  turn.motor_value = 8;
  turn.knots = ramp, turn.knot_count = 2;
  world w = hinge(turn, 3);  // the start's own rate gives way to the motor's
  CHECK_AT_MOST(cm_norm(w.state->l[0]), 1e-14);
  double J = moment_about(&w, 0, UP), drift = 0;
  carom_audit_sample worst = audited(&w, 1e-3, 2000, CAROM_QUADRATURE_ENDPOINT, &drift);
  CHECK_NEAR(w.state->joints[0].turn, 4 + 8, 1e-12);
  CHECK_NEAR(carom_state_angular_velocity(w.model, w.state, 0).z, 8, 1e-12);
  CHECK_NEAR(worst.work, 0.5 * J * 64, 1e-4 * J * 64);
  CHECK_AT_MOST(worst.energy_error, 1e-4);
  CHECK_AT_MOST(worst.angular_momentum_error, 1e-12);
  CHECK_AT_MOST(drift, 1e-12);
  free_world(&w);
}

TEST(position_motor) {
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  carom_body_def def = body_at(cm_vec3(0, 0, 0.25), MOMENTS);
  carom_builder_add_body(b, &def);
  carom_joint_def j = joint_at(CAROM_JOINT_PRISMATIC, CAROM_WORLD, 0, cm_zero3(), UP);
  carom_knot knots[] = {{0, 0}, {1, 2}};
  j.slide.motor = CAROM_MOTOR_POSITION, j.slide.motor_value = 0.5, j.slide.knots = knots, j.slide.knot_count = 2;
  carom_builder_add_joint(b, &j);
  world w = finish_world(b);
  CHECK_NEAR(w.state->p[0].z, w.model->bodies[0].mass, 1e-13);  // 1 m/s from the start on
  carom_audit_sample worst = audited(&w, 0.01, 50, CAROM_QUADRATURE_ENDPOINT, NULL);
  CHECK_NEAR(w.state->x[0].z, 0.75, 1e-13);
  CHECK_NEAR(worst.work, w.model->bodies[0].mass * G * 0.5, 1e-11);  // the lift's work against gravity
  CHECK_AT_MOST(worst.energy_error, 1e-11);
  CHECK_AT_MOST(worst.momentum_error, 1e-12);
  free_world(&w);
}

// A lift that starts, runs backwards and stops at once: at every kink the motor gives or takes kinetic energy by an
// impulse, between kinks it works against gravity alone. Kinks fall on the ends of steps or within them.
TEST(kinks_of_position_motors_are_work) {
  double steps[] = {0.01, 0.007, 0.0123};
  for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
    carom_builder *b = new_builder();
    carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
    carom_body_def def = body_at(cm_vec3(0, 0, 0.25), MOMENTS);
    carom_builder_add_body(b, &def);
    carom_joint_def j = joint_at(CAROM_JOINT_PRISMATIC, CAROM_WORLD, 0, cm_zero3(), UP);
    carom_knot knots[] = {{0.1, 0}, {0.3, 1}, {0.4, 0.2}};
    j.slide.motor = CAROM_MOTOR_POSITION, j.slide.motor_value = 0.5, j.slide.knots = knots, j.slide.knot_count = 3;
    carom_builder_add_joint(b, &j);
    world w = finish_world(b);
    double m = w.model->bodies[0].mass, drift = 0;
    carom_audit_sample worst = audited(&w, steps[k], (int)(0.6 / steps[k]), CAROM_QUADRATURE_ENDPOINT, &drift);
    CHECK_NEAR(w.state->x[0].z, 0.25 + 0.1, 1e-13);
    CHECK_AT_MOST(cm_norm(w.state->p[0]), 1e-12);
    CHECK_NEAR(worst.work, m * G * 0.1, 1e-10);
    CHECK_AT_MOST(worst.energy_error, 1e-11);
    CHECK_AT_MOST(worst.momentum_error, 1e-12);
    CHECK_AT_MOST(drift, 1e-12);
    free_world(&w);
  }
}

// ---- limits of the method ------------------------------------------------------------------------------------------

// A fast spinning chain and steps that are too long: the stepper halves, or says which joint could not be held.
TEST(long_steps_are_halved_or_refused) {
  world w = free_chain(4, true);
  for (int i = 0; i < 4; i++) w.state->l[i] = cm_scale(20, w.state->l[i]);
  carom_stepper *stepper = new_stepper(&w, 0.1, CAROM_QUADRATURE_ENDPOINT);
  uint64_t before = carom_state_hash(w.state);
  carom_error error = {0};
  carom_step_report report;
  carom_status status = carom_stepper_step(stepper, w.state, &report, &error);
  CHECK(status == CAROM_OK || carom_state_hash(w.state) == before);
  if (status == CAROM_OK) CHECK_AT_MOST(report.constraint, 1e-12);
  if (status != CAROM_OK) CHECK_CONTAINS(error.message, "t = 0");
  printf("long step: status %d, %d halvings, %s\n", (int)status, report.halvings, error.message);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// Same motion for any number of threads.
TEST(joints_do_not_depend_on_threads) {
  uint64_t hash[2];
  for (int k = 0; k < 2; k++) {
    world w = free_chain(30, true);
    carom_step_options options = carom_step_default_options();
    options.integrator = "variational";
    options.step = 2e-3;
    options.threads = k ? 3 : 1;
    carom_stepper *stepper = NULL;
    carom_error error;
    REQUIRE(carom_stepper_create(w.model, &options, NULL, &stepper, &error) == CAROM_OK);
    run_steps(stepper, w.state, 50);
    hash[k] = carom_state_hash(w.state);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
  CHECK(hash[0] == hash[1]);
}

typedef struct chain_work {
  double bytes;        // of the stepper
  int64_t iterations;  // of Newton's method, in all
} chain_work;

static chain_work work_of_chain(int links) {
  enum { STEPS = 12 };
  world w = free_chain(links, false);
  failing_allocator counted = {.allowed = -1};
  carom_allocator allocator = failing_allocator_of(&counted);
  carom_step_options options = carom_step_default_options();
  options.integrator = "variational";
  options.step = 1e-4;
  carom_stepper *stepper = NULL;
  carom_error error = {0};
  chain_work work = {0};
  if (carom_stepper_create(w.model, &options, &allocator, &stepper, &error) != CAROM_OK) abort();
  for (int i = 0; i < STEPS; i++) {
    carom_step_report report = {0};
    CHECK(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_OK);
    work.iterations += report.iterations;
  }
  work.bytes = (double)counted.bytes;
  carom_stepper_destroy(stepper);
  free_world(&w);
  return work;
}

// Four times the links should cost four times as much. The factors are all that is stored, and each block of them is
// passed a fixed number of times in an iteration, so that bytes times iterations tell the work; a dense factor would
// take 16 times the bytes.
TEST(cost_is_linear_in_links) {
  chain_work few = work_of_chain(100), many = work_of_chain(400);
  printf("100 links %.3g MB, 400 links %.3g MB: ratio %.3f; %d and %d iterations\n", few.bytes / 1e6, many.bytes / 1e6,
         many.bytes / few.bytes, (int)few.iterations, (int)many.iterations);
  CHECK_AT_MOST(many.bytes / few.bytes, 4);
  CHECK(many.iterations <= few.iterations);
}

// A star of many arms on one hub is a tree, too.
TEST(star_of_arms) {
  enum { ARMS = 40 };
  carom_builder *b = new_builder();
  carom_body_def hub = inert_body(5, cm_vec3(1, 1.2, 1.4));
  hub.angular_velocity = cm_vec3(0.1, 0.2, 0.5);
  carom_builder_add_body(b, &hub);
  for (int i = 0; i < ARMS; i++) {
    carom_vec3 n = cm_vec3(cos(0.2 * i), sin(0.2 * i), 0.1 * (i % 5));
    carom_body_def arm = body_at(cm_scale(1.5, n), cm_scale(0.1, MOMENTS));
    carom_builder_add_body(b, &arm);
    carom_joint_def j = joint_at(CAROM_JOINT_SPHERICAL, i % 2 ? 0 : i + 1, i % 2 ? i + 1 : 0, n, UP);
    carom_builder_add_joint(b, &j);
  }
  world w = finish_world(b);
  double drift = 0;
  carom_audit_sample worst = audited(&w, 2e-3, 200, CAROM_QUADRATURE_ENDPOINT, &drift);
  CHECK_AT_MOST(worst.angular_momentum_error, 1e-12);
  CHECK_AT_MOST(drift, 1e-12);
  free_world(&w);
}

// A ring of bodies: a loop of spherical joints floating in space.
TEST(floating_loop) {
  enum { N = 8 };
  carom_builder *b = new_builder();
  for (int i = 0; i < N; i++) {
    double a = 2 * M_PI * i / N;
    carom_body_def def = body_at(cm_vec3(cos(a), sin(a), 0.1 * (i % 3)), cm_scale(0.05, MOMENTS));
    def.velocity = cm_vec3(0.3 * sin(3 * a), 0.2, 0.4 * cos(2 * a));
    def.angular_velocity = cm_vec3(0.2, -0.4, 0.3 * i);
    carom_builder_add_body(b, &def);
  }
  for (int i = 0; i < N; i++) {
    double a = 2 * M_PI * (i + 0.5) / N;
    carom_joint_def j = joint_at(CAROM_JOINT_SPHERICAL, i, (i + 1) % N, cm_vec3(cos(a), sin(a), 0), UP);
    carom_builder_add_joint(b, &j);
  }
  world w = finish_world(b);
  double drift = 0;
  carom_audit_sample worst = audited(&w, 1e-3, 2000, CAROM_QUADRATURE_ENDPOINT, &drift);
  printf("floating loop: energy %.2g, angular momentum %.2g, drift %.2g\n", worst.energy_error,
         worst.angular_momentum_error, drift);
  CHECK_AT_MOST(worst.momentum_error, 1e-12);
  CHECK_AT_MOST(worst.angular_momentum_error, 1e-12);
  CHECK_AT_MOST(worst.energy_error, 1e-3);
  CHECK_AT_MOST(drift, 1e-12);
  free_world(&w);
}

// A door on two hinges: the second one's equations all follow from the first's.
TEST(door_on_two_hinges) {
  carom_vec3 x[2];
  for (int hinges = 1; hinges <= 2; hinges++) {
    carom_builder *b = new_builder();
    carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
    carom_body_def def = body_at(cm_vec3(0.5, 0, 1), MOMENTS);
    def.angular_velocity = cm_vec3(0.3, 0.1, 1);
    carom_builder_add_body(b, &def);
    for (int k = 0; k < hinges; k++) {
      carom_joint_def j =
          joint_at(CAROM_JOINT_REVOLUTE, CAROM_WORLD, 0, cm_vec3(0.2 * k, 0, 2 * k), cm_vec3(0.2, 0, 2));
      carom_builder_add_joint(b, &j);
    }
    world w = finish_world(b);
    double drift = 0;
    carom_audit_sample worst = audited(&w, 5e-3, 400, CAROM_QUADRATURE_ENDPOINT, &drift);
    CHECK_AT_MOST(drift, 1e-12);
    CHECK_AT_MOST(worst.angular_momentum_error, 1e-12);
    x[hinges - 1] = w.state->x[0];
    free_world(&w);
  }
  CHECK_AT_MOST(cm_norm(cm_sub(x[0], x[1])), 1e-11);
  CHECK_AT_MOST(0.1, cm_norm(cm_sub(x[0], cm_vec3(0.5, 0, 1))));  // it swung
}

// A fifth of a radian in a step, and twice that where the chain whips: the exact derivative of the drift takes over
// where the matrix of q_k is too slow.
TEST(fast_turns_converge) {
  carom_builder *b = new_builder();
  carom_vec3 spin = cm_vec3(2, 12, 15);
  for (int i = 0; i < 3; i++) {
    carom_body_def def = body_at(cm_vec3(i - 1, 0.1 * i, 0), cm_scale(0.2, MOMENTS));
    def.angular_velocity = spin;
    def.velocity = cm_cross(spin, def.pose.p);
    carom_builder_add_body(b, &def);
    carom_joint_def j = joint_at(i == 1 ? CAROM_JOINT_SPHERICAL : CAROM_JOINT_REVOLUTE, i - 1, i,
                                 cm_vec3(i - 1.5, 0.1, 0.1), cm_vec3(1, 2, 3));
    if (i > 0) carom_builder_add_joint(b, &j);
  }
  world w = finish_world(b);
  carom_stepper *stepper = new_stepper(&w, 0.01, CAROM_QUADRATURE_ENDPOINT);
  carom_error error = {0};
  carom_step_report report;
  int most = 0;
  for (int i = 0; i < 100; i++) {
    REQUIRE(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_OK);
    CHECK(report.halvings == 0);
    CHECK_AT_MOST(report.constraint, 1e-12);
    most = report.iterations > most ? report.iterations : most;
  }
  printf("fast turns: at most %d iterations\n", most);
  CHECK(most <= 8);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(steps_do_not_allocate) {
  failing_allocator f = {.allowed = -1};
  carom_allocator a = failing_allocator_of(&f);
  world w = free_chain(6, true);
  carom_step_options options = carom_step_default_options();
  options.integrator = "variational";
  carom_stepper *stepper = NULL;
  carom_error error;
  REQUIRE(carom_stepper_create(w.model, &options, &a, &stepper, &error) == CAROM_OK);
  int calls = f.calls;
  run_steps(stepper, w.state, 10);
  CHECK(f.calls == calls);
  carom_stepper_destroy(stepper);
  CHECK(f.live == 0);
  for (int allowed = 0; allowed < calls; allowed++) {
    failing_allocator g = {.allowed = allowed};
    carom_allocator failing = failing_allocator_of(&g);
    CHECK(carom_stepper_create(w.model, &options, &failing, &stepper, &error) == CAROM_ERR_MEMORY);
    CHECK(g.live == 0);
  }
  free_world(&w);
}

// ---- the order of the motion ---------------------------------------------------------------------------------------

TEST(orders_that_are_not_there_are_refused) {
  world w = finish_world(new_builder());
  for (int order = -1; order <= 8; order++) {
    carom_step_options options = carom_step_default_options();
    options.integrator = "variational";
    carom_stepper *stepper = NULL;
    carom_error error = {0};
    options.order = order;
    bool there = order == 2 || order == 4 || order == 6;
    CHECK((carom_stepper_create(w.model, &options, NULL, &stepper, &error) == CAROM_OK) == there);
    if (!there) CHECK_CONTAINS(error.message, "must be 2, 4 or 6");
    carom_stepper_destroy(stepper);
    options.integrator = "exact";
    options.energy_condition = CAROM_ENERGY_DISCRETE;
    stepper = NULL;
    CHECK((carom_stepper_create(w.model, &options, NULL, &stepper, &error) == CAROM_OK) == (order == 2));
    carom_stepper_destroy(stepper);
  }
  free_world(&w);
}
