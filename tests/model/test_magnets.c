// Magnets as pairs of charges: pull at contact, dipole far away; electromagnets as a field: momenta kept, work booked.
#include "model/fields.h"
#include "test_dcr.h"

static const double K = 4.6e-4;  // J m, for magnets of unit charge: docs/docking.md

static carom_magnet_def magnet(double charge, double thickness, double recess) {
  carom_magnet_def def = carom_magnet_default();
  def.charge = charge;
  def.thickness = thickness;
  def.recess = recess;
  return def;
}

// Two magnets, the second turned towards the first, whose faces are `gap` apart on x.
static world two_magnets(carom_magnet_def def, double gap, carom_quat turn) {
  carom_builder *b = new_builder();
  int set = carom_builder_add_charge_set(b, K, 0);
  for (int i = 0; i < 2; i++) {
    carom_body_def body = inert_body(1, cm_vec3(1, 1, 1));
    body.pose = i ? cm_pose(cm_vec3(gap, 0, 0), turn) : cm_pose_identity();
    carom_builder_add_body(b, &body);
    CHECK(carom_builder_add_magnet(b, set, i, &def) == 2 * i);
    def.charge = -def.charge;
  }
  return finish_world(b);
}

// Force and torque on body 0 by one evaluation of the fields.
static carom_vec3 load_on_first(const world *w, carom_vec3 *torque) {
  carom_vec3 f[3], t[3], points[4], forces[4];
  carom_mat3 g[3], d[2] = {cm_rotation(w->state->q[0]), cm_rotation(w->state->q[1])};
  carom_configuration c = {.x = w->state->x, .d = d};
  carom_loads loads = {f, g, t, points, forces};
  carom_fields_evaluate(w->model, &c, &loads);
  *torque = carom_director_torque(g[0], d[0]);
  return f[0];
}

static const carom_quat FACING = {0, 0, 0, 1};

// Of two magnets with faces at distance s along one axis: four pairs of poles.
static double pull(double s, double charge, double thickness, double recess) {
  double a = s + 2 * recess, b = a + thickness, c = b + thickness;
  return K * charge * charge * (1 / (a * a) - 2 / (b * b) + 1 / (c * c));
}

TEST(magnets_pull_as_rated_at_contact) {
  carom_vec3 torque;
  world large = two_magnets(magnet(1, 2.5e-3, 3.6e-3), 0, FACING);
  CHECK_NEAR(load_on_first(&large, &torque).x, 2.2, 0.03);  // 0.5 lb
  CHECK_NEAR(load_on_first(&large, &torque).x, pull(0, 1, 2.5e-3, 3.6e-3), 1e-12);
  double pole = pow(5 / 9.5, 2);
  world small = two_magnets(magnet(pole, 2.5e-3, 2.06e-3), 0, FACING);
  CHECK_NEAR(load_on_first(&small, &torque).x, 0.89, 0.02);  // 0.2 lb
  CHECK_NEAR(load_on_first(&small, &torque).x, pull(0, pole, 2.5e-3, 2.06e-3), 1e-12);
  free_world(&large);
  free_world(&small);
}

// The constant of unit charges stands for a remanence of 1.2 T: mu0/(4 pi) (m/t)^2 with the moment m = Br V/mu0.
TEST(the_constant_is_that_of_alnico) {
  double mu0 = 4e-7 * 3.14159265358979323846, t = 2.5e-3, radius = 9.5e-3 / 2;
  double moment = 1.2 * 3.14159265358979323846 * radius * radius * t / mu0;
  CHECK_NEAR(moment, 0.169, 0.001);
  CHECK_NEAR(1e-7 * pow(moment / t, 2), K, 0.01 * K);
}

// Force and torque of dipole m2 at r on dipole m1 at the origin (Jackson 1999, 5.7; constant k instead of mu0/(4 pi)).
static void dipoles(carom_vec3 m1, carom_vec3 m2, carom_vec3 r2, carom_vec3 *force, carom_vec3 *torque) {
  double d = cm_norm(r2);
  carom_vec3 r = cm_scale(-1 / d, r2);  // unit, from 2 to 1
  double a = cm_dot(m1, r), b = cm_dot(m2, r), c = cm_dot(m1, m2);
  carom_vec3 sum = cm_add(cm_add(cm_scale(a, m2), cm_scale(b, m1)), cm_scale(c - 5 * a * b, r));
  *force = cm_scale(3 * K / pow(d, 4), sum);
  carom_vec3 field = cm_scale(K / pow(d, 3), cm_sub(cm_scale(3 * b, r), m2));
  *torque = cm_cross(m1, field);
}

// Far away, from every side, it is a dipole of charge x thickness; the error falls with the square of the distance.
TEST(far_away_magnets_are_dipoles) {
  carom_random random = carom_random_make(3, 0);
  double t = 2.5e-3;
  for (int i = 0; i < 50; i++) {
    carom_builder *b = new_builder();
    int set = carom_builder_add_charge_set(b, K, 0);
    carom_magnet_def def = magnet(1, t, 0);
    def.position = cm_vec3(t / 2, 0, 0);  // its middle at the origin of the body
    carom_pose poses[2] = {cm_pose_identity(), cm_pose(random_vector(&random, 0.2), random_rotation(&random))};
    poses[1].p.x += 0.4;
    for (int k = 0; k < 2; k++) {
      carom_body_def body = inert_body(1, cm_vec3(1, 1, 1));
      body.pose = poses[k];
      carom_builder_add_body(b, &body);
      carom_builder_add_magnet(b, set, k, &def);
    }
    world w = finish_world(b);
    carom_vec3 torque, force = load_on_first(&w, &torque), far_force, far_torque;
    dipoles(cm_vec3(t, 0, 0), cm_rotate(poses[1].q, cm_vec3(t, 0, 0)), poses[1].p, &far_force, &far_torque);
    double d = cm_norm(poses[1].p), size = K * t * t / pow(d, 3), error = 20 * t * t / (d * d);
    CHECK_AT_MOST(cm_norm(cm_sub(force, far_force)), error * size / d);
    CHECK_AT_MOST(cm_norm(cm_sub(torque, far_torque)), error * size);
    free_world(&w);
  }
}

TEST(magnets_that_cannot_be_are_refused) {
  const carom_magnet_def bad[] = {magnet(1, 0, 0), magnet(1, 1e-3, -1), magnet(NAN, 1e-3, 0), magnet(1, NAN, 0)};
  const char *messages[] = {"thickness is 0", "recess is -1", "must be finite", "thickness is nan"};
  for (int i = 0; i < 4; i++) {
    carom_builder *b = new_builder();
    carom_builder_add_charge_set(b, K, 0);
    carom_body_def body = inert_body(1, cm_vec3(1, 1, 1));
    carom_builder_add_body(b, &body);
    carom_error error = {0};
    CHECK(carom_builder_add_magnet(b, 0, 0, &bad[i]) == -1);
    CHECK(carom_builder_status(b, &error) < 0);
    CHECK_CONTAINS(error.message, messages[i]);
    carom_builder_destroy(b);
  }
}

// ---- electromagnets ---------------------------------------------------------------------------------

static world two_electromagnets(double angle, bool fixed) {
  carom_builder *b = new_builder();
  carom_builder_set_planar(b, true);
  for (int i = 0; i < 2; i++) {
    carom_body_def body = inert_body(1.2, cm_vec3(0.01, 0.01, 0.002));
    body.pose = cm_pose(cm_vec3(0.3 * i, 0.05 * i, 0), cm_axis_angle(cm_vec3(0, 0, 1), i * angle));
    body.fixed = fixed && i == 0;
    if (!body.fixed) body.velocity = cm_vec3(0.01, -0.02 * i, 0), body.angular_velocity = cm_vec3(0, 0, 0.1);
    carom_builder_add_body(b, &body);
  }
  carom_electromagnet_def def = carom_electromagnet_default();
  def.body[0] = 1, def.body[1] = 0;
  def.point[0] = cm_vec3(-0.02, 0.01, 0);
  def.axis[0] = cm_vec3(-1, 0, 0), def.axis[1] = cm_vec3(1, 0, 0);
  CHECK(carom_builder_add_electromagnets(b, &def) == 0);
  return finish_world(b);
}

// What pulls and turns two bodies adds up to nothing, and all its work is in the books.
static void check_books(bool fixed, carom_quadrature quadrature, const char *integrator) {
  carom_step_options options = carom_step_default_options();
  options.integrator = integrator;
  options.step = 1e-3;
  options.quadrature = quadrature;
  run r = start_run_with(two_electromagnets(0.2, fixed), options);
  const world *w = &r.w;
  double before = carom_kinetic_energy(w->model, w->state);
  carom_vec3 p = carom_linear_momentum(w->model, w->state), l = carom_angular_momentum(w->model, w->state);
  REQUIRE(run_for(&r, 3000));
  double gained = carom_kinetic_energy(w->model, w->state) - before;
  CHECK(fabs(gained) > 1e-6);
  CHECK_NEAR(gained, r.work, 1e-3 * fabs(gained));
  if (!fixed) {
    CHECK_AT_MOST(cm_norm(cm_sub(carom_linear_momentum(w->model, w->state), p)), 1e-15);
    CHECK_AT_MOST(cm_norm(cm_sub(carom_angular_momentum(w->model, w->state), l)), 1e-15);
  }
  carom_audit_bounds bounds = carom_audit_bounds_of(integrator, w->model);
  carom_verdict verdict = carom_audit_judge(r.audit, &bounds);
  CHECK(verdict.outcome == CAROM_VERDICT_PASS);
  end_run(&r);
}

TEST(the_work_of_electromagnets_is_booked) {
  const char *names[] = {"variational", "dcr", "newmark", "moreau"};
  for (int i = 0; i < 4; i++)
    for (int fixed = 0; fixed < 2; fixed++) check_books(fixed, CAROM_QUADRATURE_ENDPOINT, names[i]);
  for (int fixed = 0; fixed < 2; fixed++) check_books(fixed, CAROM_QUADRATURE_MIDPOINT, "variational");
}

// In line, they pull as the law says: along x, and with no torque but what is left of the fit.
TEST(electromagnets_follow_the_law) {
  world w = two_electromagnets(0, false);
  double distance, bearing, attitude;
  CHECK(carom_electromagnet_range(w.model, w.state, 0, &distance, &bearing, &attitude));
  CHECK_NEAR(distance, hypot(0.28, 0.06), 1e-12);
  CHECK_NEAR(bearing, atan2(0.06, 0.28), 1e-12);
  CHECK_NEAR(attitude, 0, 1e-12);
  carom_magnet_load law;
  carom_electromagnet_pair(distance, -attitude, -bearing, &law);
  carom_vec3 f[3], t[3];
  carom_mat3 g[3], d[2] = {cm_rotation(w.state->q[0]), cm_rotation(w.state->q[1])};
  carom_configuration c = {.x = w.state->x, .d = d};
  carom_fields_evaluate(w.model, &c, &(carom_loads){f, g, t, NULL, NULL});
  CHECK_NEAR(f[1].x, -law.force_x, 1e-15);  // magnet 1 looks along -x
  CHECK_NEAR(f[1].y, -law.force_y, 1e-15);
  CHECK_NEAR(t[1].z, law.torque, 1e-15);
  CHECK_NEAR(cm_norm(cm_add(f[0], f[1])), 0, 1e-18);
  free_world(&w);
}

static void refuse(carom_electromagnet_def def, bool planar, const char *message) {
  carom_builder *b = new_builder();
  carom_builder_set_planar(b, planar);
  carom_body_def body = inert_body(1, cm_vec3(1, 1, 1));
  carom_builder_add_body(b, &body);
  def.body[0] = 0;
  carom_builder_add_electromagnets(b, &def);
  carom_error error = {0};
  carom_model *model;
  carom_state *state;
  CHECK(carom_builder_finish(b, &model, &state, &error) < 0);
  CHECK_CONTAINS(error.message, message);
  carom_builder_destroy(b);
}

TEST(electromagnets_that_cannot_be_are_refused) {
  carom_electromagnet_def def = carom_electromagnet_default(), bad = def;
  refuse(def, false, "planar scenes only");
  bad.axis[0] = cm_vec3(1, 0, 1);
  refuse(bad, true, "axis 0 points out of the plane");
  bad.axis[0] = cm_zero3();
  refuse(bad, true, "axis 0 is zero");
  bad = def, bad.strength = INFINITY;
  refuse(bad, true, "the strength must be finite");
  bad = def, bad.body[1] = 0;
  refuse(bad, true, "both are on one body");
}
