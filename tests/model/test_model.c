// The builder and the state: mistakes, mass and frames, names, colours, charges, springs, and memory that runs out.
#include "failing_allocator.h"
#include "fixtures.h"
#include "model/model.h"

static double distance(carom_vec3 a, carom_vec3 b) { return cm_norm(cm_sub(a, b)); }
static double turn_between(carom_quat a, carom_quat b) { return cm_norm(cm_log(cm_qmul(cm_qconj(a), b))); }

static carom_body_def shaped(const carom_part *parts, int count) {
  carom_body_def def = carom_body_default();
  def.parts = parts, def.part_count = count;
  return def;
}

// ---- mistakes --------------------------------------------------------------------------------------------------

// The builder must have latched this status and message, and finish must repeat them.
static void check_latched(carom_builder *b, int index, carom_status status, const char *message) {
  carom_error error = {0};
  carom_model *model = NULL;
  carom_state *state = NULL;
  CHECK(index == -1);
  CHECK(carom_builder_status(b, &error) == status);
  CHECK_CONTAINS(error.message, message);
  carom_error again = {0};
  CHECK(carom_builder_finish(b, &model, &state, &again) == status);
  CHECK_TEXT(again.message, error.message);
  CHECK(model == NULL && state == NULL);
  carom_builder_destroy(b);
}

static void check_bad_body(carom_body_def def, carom_status status, const char *message) {
  carom_builder *b = new_builder();
  def.name = "culprit";
  int index = carom_builder_add_body(b, &def);
  carom_error error = {0};
  carom_builder_status(b, &error);
  CHECK_CONTAINS(error.message, "culprit");
  check_latched(b, index, status, message);
}

TEST(the_first_mistake_is_kept) {
  carom_builder *b = new_builder();
  CHECK(carom_builder_status(b, NULL) == CAROM_OK);
  carom_body_def good = inert_body(1, cm_vec3(1, 1, 1)), bad = good;
  bad.name = "first", bad.mass = -1;
  CHECK(carom_builder_add_body(b, &good) == 0);
  CHECK(carom_builder_add_body(b, &bad) == -1);
  bad.name = "second", bad.mass = NAN;
  CHECK(carom_builder_add_body(b, &bad) == -1);
  CHECK(carom_builder_add_body(b, &good) == -1);  // nothing is added after a mistake
  CHECK(carom_builder_add_charge_set(b, 1, 0) == -1);
  CHECK(carom_builder_add_charge(b, 0, 0, cm_zero3(), 1) == -1);
  carom_spring_def spring = carom_spring_default();
  CHECK(carom_builder_add_spring(b, &spring) == -1);
  carom_force_def force = carom_force_default();
  CHECK(carom_builder_add_force(b, &force) == -1);
  carom_material_def material = carom_material_default();
  CHECK(carom_builder_add_material(b, &material) == -1);
  carom_builder_set_gravity(b, cm_vec3(NAN, 0, 0));
  check_latched(b, -1, CAROM_ERR_NUMBER, "'first'");
}

TEST(bad_numbers_of_a_body_are_named) {
  carom_body_def good = inert_body(2, cm_vec3(1, 2, 2.5)), d;
  d = good, d.pose.p.y = INFINITY, check_bad_body(d, CAROM_ERR_NUMBER, "pose is not finite");
  d = good, d.pose.q.x = NAN, check_bad_body(d, CAROM_ERR_NUMBER, "pose is not finite");
  d = good, d.pose.q = cm_quat(0, 0, 0, 0), check_bad_body(d, CAROM_ERR_NUMBER, "zero quaternion");
  d = good, d.velocity.z = NAN, check_bad_body(d, CAROM_ERR_NUMBER, "velocity is not finite");
  d = good, d.angular_velocity.x = INFINITY, check_bad_body(d, CAROM_ERR_NUMBER, "velocity is not finite");
  d = good, d.fixed = true, d.velocity.x = 1, check_bad_body(d, CAROM_ERR_ARGUMENT, "fixed and cannot have a velocity");
  d = good, d.fixed = true, d.angular_velocity.z = 1, check_bad_body(d, CAROM_ERR_ARGUMENT, "fixed and cannot");
  d = good, d.mass = -2, check_bad_body(d, CAROM_ERR_NUMBER, "mass is -2 kg");
  d = good, d.mass = NAN, check_bad_body(d, CAROM_ERR_NUMBER, "mass is");
  d = good, d.mass = INFINITY, check_bad_body(d, CAROM_ERR_NUMBER, "mass is inf");
  d = good, d.density = -1, check_bad_body(d, CAROM_ERR_NUMBER, "density is -1");
  d = good, d.density = INFINITY, check_bad_body(d, CAROM_ERR_NUMBER, "density is inf");
  d = carom_body_default(), check_bad_body(d, CAROM_ERR_ARGUMENT, "neither a shape nor a mass");
  d = good, d.mass = 0, check_bad_body(d, CAROM_ERR_ARGUMENT, "neither a shape nor a mass");
  d = good, d.inertia.m[1][2] = NAN, check_bad_body(d, CAROM_ERR_NUMBER, "inertia is not finite");
  d = good, d.center.x = NAN, check_bad_body(d, CAROM_ERR_NUMBER, "inertia is not finite");
  d = good, d.inertia = cm_diag3(1, 2, 0), check_bad_body(d, CAROM_ERR_NUMBER, "must be positive");
  d = good, d.inertia = cm_diag3(1, -2, 2), check_bad_body(d, CAROM_ERR_NUMBER, "must be positive");
  d = good, d.inertia = cm_diag3(1, 2, 3.1), check_bad_body(d, CAROM_ERR_NUMBER, "largest exceeds the sum");
  d = good, d.material = 1, check_bad_body(d, CAROM_ERR_ARGUMENT, "material index 1, but there are 1 materials");
  d = good, d.material = -1, check_bad_body(d, CAROM_ERR_ARGUMENT, "material index -1");
}

TEST(bad_parts_are_named) {
  const carom_shape *box = box_shape(1, 1, 1), *half = NULL;
  REQUIRE(carom_shape_create_halfspace(NULL, &half, NULL) == CAROM_OK);
  carom_part good[2] = {{box, cm_pose_identity(), 0}, {box, cm_pose_identity(), 0}}, p[2];
  memcpy(p, good, sizeof p), p[1].shape = NULL;
  check_bad_body(shaped(p, 2), CAROM_ERR_ARGUMENT, "part 1 has no shape");
  memcpy(p, good, sizeof p), p[0].pose.p.z = NAN;
  check_bad_body(shaped(p, 2), CAROM_ERR_NUMBER, "pose of part 0 is not finite");
  memcpy(p, good, sizeof p), p[1].density = -5;
  check_bad_body(shaped(p, 2), CAROM_ERR_NUMBER, "density of part 1 is -5");
  memcpy(p, good, sizeof p), p[1].density = INFINITY;
  check_bad_body(shaped(p, 2), CAROM_ERR_NUMBER, "density of part 1 is inf");
  memcpy(p, good, sizeof p), p[1].shape = half;
  check_bad_body(shaped(p, 2), CAROM_ERR_GEOMETRY, "half-space has no mass");
  carom_body_def no_mass = shaped(good, 1);
  no_mass.has_inertia = true, no_mass.inertia = cm_diag3(1, 1, 1);
  check_bad_body(no_mass, CAROM_ERR_ARGUMENT, "needs a mass");
  carom_shape_release(box);
  carom_shape_release(half);
}

TEST(two_bodies_cannot_share_a_name) {
  carom_builder *b = new_builder();
  carom_body_def def = inert_body(1, cm_vec3(1, 1, 1));
  def.name = "twin";
  CHECK(carom_builder_add_body(b, &def) == 0);
  check_latched(b, carom_builder_add_body(b, &def), CAROM_ERR_ARGUMENT, "two bodies are named 'twin'");
}

static void check_bad_material(carom_material_def def, carom_status status, const char *message) {
  carom_builder *b = new_builder();
  def.name = "mud";
  check_latched(b, carom_builder_add_material(b, &def), status, message);
}

TEST(bad_materials_are_named) {
  carom_material_def good = carom_material_default(), d;
  d = good, d.density = 0, check_bad_material(d, CAROM_ERR_NUMBER, "'mud': the density is 0");
  d = good, d.density = NAN, check_bad_material(d, CAROM_ERR_NUMBER, "density");
  d = good, d.restitution = 1.5, check_bad_material(d, CAROM_ERR_NUMBER, "'mud': the restitution is 1.5");
  d = good, d.restitution = -0.1, check_bad_material(d, CAROM_ERR_NUMBER, "restitution is -0.1");
  d = good, d.friction = -1, check_bad_material(d, CAROM_ERR_NUMBER, "'mud': the friction is -1");
  d = good, d.friction = INFINITY, check_bad_material(d, CAROM_ERR_NUMBER, "friction is inf");
  carom_builder *b = new_builder();
  d = good, d.name = "ice";
  CHECK(carom_builder_add_material(b, &d) == 0);
  check_latched(b, carom_builder_add_material(b, &d), CAROM_ERR_ARGUMENT, "material 'ice' is there already");
}

static carom_builder *builder_with_bodies(int n) {
  carom_builder *b = new_builder();
  carom_body_def def = inert_body(1, cm_vec3(1, 1, 1));
  for (int i = 0; i < n; i++) carom_builder_add_body(b, &def);
  return b;
}

static void check_bad_charge(int set, int body, double x, double charge, carom_status status, const char *message) {
  carom_builder *b = builder_with_bodies(2);
  carom_builder_add_charge_set(b, 1, 0);
  check_latched(b, carom_builder_add_charge(b, set, body, cm_vec3(x, 0, 0), charge), status, message);
}

TEST(bad_charges_are_named) {
  carom_builder *b = builder_with_bodies(1);
  check_latched(b, carom_builder_add_charge_set(b, NAN, 0), CAROM_ERR_NUMBER, "constant nan");
  b = builder_with_bodies(1);
  check_latched(b, carom_builder_add_charge_set(b, 1, -1), CAROM_ERR_NUMBER, "softening -1");
  check_bad_charge(1, 0, 0, 1, CAROM_ERR_ARGUMENT, "set 1 of 1");
  check_bad_charge(-1, 0, 0, 1, CAROM_ERR_ARGUMENT, "set -1 of 1");
  check_bad_charge(0, 2, 0, 1, CAROM_ERR_ARGUMENT, "charge: body index 2, but there are 2 bodies");
  check_bad_charge(0, -2, 0, 1, CAROM_ERR_ARGUMENT, "body index -2");
  check_bad_charge(0, 0, NAN, 1, CAROM_ERR_ARGUMENT, "must be finite");
  check_bad_charge(0, 0, 0, INFINITY, CAROM_ERR_ARGUMENT, "must be finite");
}

static void check_bad_spring(carom_spring_def def, carom_status status, const char *message) {
  carom_builder *b = builder_with_bodies(2);
  check_latched(b, carom_builder_add_spring(b, &def), status, message);
}

TEST(bad_springs_are_named) {
  carom_spring_def good = carom_spring_default(), d;
  good.body[0] = 0, good.body[1] = 1, good.stiffness = 1;
  d = good, d.body[1] = 0, check_bad_spring(d, CAROM_ERR_ARGUMENT, "spring 0 joins a body (or the world) to itself");
  check_bad_spring(carom_spring_default(), CAROM_ERR_ARGUMENT, "to itself");
  d = good, d.body[1] = 2, check_bad_spring(d, CAROM_ERR_ARGUMENT, "spring: body index 2");
  d = good, d.stiffness = -1, check_bad_spring(d, CAROM_ERR_NUMBER, "stiffness -1");
  d = good, d.damping = NAN, check_bad_spring(d, CAROM_ERR_NUMBER, "damping");
  d = good, d.rest_length = NAN, check_bad_spring(d, CAROM_ERR_NUMBER, "rest length");
  d = good, d.point[1].x = INFINITY, check_bad_spring(d, CAROM_ERR_NUMBER, "end points must be finite");
}

static void check_bad_force(carom_force_def def, carom_status status, const char *message) {
  carom_builder *b = builder_with_bodies(2);
  check_latched(b, carom_builder_add_force(b, &def), status, message);
}

TEST(bad_forces_and_gravity_are_named) {
  carom_force_def good = carom_force_default(), d;
  good.body = 0;
  check_bad_force(carom_force_default(), CAROM_ERR_ARGUMENT, "force: body index -1");
  d = good, d.body = 2, check_bad_force(d, CAROM_ERR_ARGUMENT, "force: body index 2");
  d = good, d.torque.x = NAN, check_bad_force(d, CAROM_ERR_NUMBER, "force 0: point, force and torque must be finite");
  carom_knot same[] = {{0, 1}, {1, 1}, {1, 0}}, infinite[] = {{0, 1}, {1, INFINITY}};
  d = good, d.knots = same, d.knot_count = 3, check_bad_force(d, CAROM_ERR_ARGUMENT, "must ascend (knot 2)");
  d = good, d.knots = infinite, d.knot_count = 2, check_bad_force(d, CAROM_ERR_NUMBER, "knot 1 of the schedule");
  carom_builder *b = builder_with_bodies(1);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -INFINITY));
  check_latched(b, -1, CAROM_ERR_NUMBER, "gravity is not finite");
}

TEST(a_builder_finishes_once) {
  carom_builder *b = builder_with_bodies(2);
  carom_model *model = NULL;
  carom_state *state = NULL;
  carom_error error = {0};
  REQUIRE(carom_builder_finish(b, &model, &state, &error) == CAROM_OK);
  carom_model *again = model;
  carom_state *start = state;
  CHECK(carom_builder_finish(b, &again, &start, &error) == CAROM_ERR_ARGUMENT);
  CHECK(!again && !start);
  CHECK_CONTAINS(error.message, "finished already");
  carom_body_def def = inert_body(1, cm_vec3(1, 1, 1));
  CHECK(carom_builder_add_body(b, &def) == -1);
  carom_builder_set_gravity(b, cm_vec3(1, 0, 0));
  CHECK(model->body_count == 2 && model->gravity.x == 0);
  carom_builder_destroy(b);
  carom_state_destroy(state);
  carom_model_destroy(model);
}

TEST(an_empty_model_is_a_model) {
  world w = finish_world(new_builder());
  CHECK(w.model->body_count == 0 && w.state->body_count == 0 && w.model->moving_count == 0);
  CHECK(carom_model_find_body(w.model, "anything") == -1);
  free_world(&w);
  carom_model_destroy(NULL);
  carom_state_destroy(NULL);
  carom_builder_destroy(NULL);
}

// ---- mass and frames -------------------------------------------------------------------------------------------

// A random body of boxes and balls, with the integrals done once more by hand: sums over parts about the body origin.
typedef struct compound {
  carom_part parts[4];
  int count;
  double mass;
  carom_vec3 center;
  carom_mat3 about_origin;
} compound;

static carom_mat3 steiner(carom_vec3 d) {
  double d2 = cm_norm2(d);
  return cm_msub(cm_diag3(d2, d2, d2), cm_outer(d, d));
}

static compound random_compound(carom_random *r) {
  compound c = {.count = 1 + (int)carom_random_below(r, 4)};
  for (int i = 0; i < c.count; i++) {
    carom_pose pose = cm_pose(random_vector(r, 1), random_rotation(r));
    double density = carom_random_between(r, 100, 3000), a = carom_random_between(r, 0.1, 1);
    double m;
    carom_mat3 J;
    if (carom_random_below(r, 2)) {
      double b = carom_random_between(r, 0.1, 1), d = carom_random_between(r, 0.1, 1);
      c.parts[i] = (carom_part){box_shape(a, b, d), pose, density};
      m = density * a * b * d;
      J = cm_mscale(m / 12, cm_diag3(b * b + d * d, a * a + d * d, a * a + b * b));
    } else {
      c.parts[i] = (carom_part){sphere_shape(a), pose, density};
      m = density * 4 / 3 * acos(-1) * a * a * a;
      J = cm_mscale(0.4 * m * a * a, cm_identity3());
    }
    carom_mat3 R = cm_rotation(pose.q);
    c.about_origin = cm_madd(c.about_origin, cm_mmul(R, cm_mmul(J, cm_transpose(R))));
    c.about_origin = cm_madd(c.about_origin, cm_mscale(m, steiner(pose.p)));
    c.mass += m;
    c.center = cm_axpy(c.center, m, pose.p);
  }
  c.center = cm_scale(1 / c.mass, c.center);
  return c;
}

static void release_compound(compound *c) {
  for (int i = 0; i < c->count; i++) carom_shape_release(c->parts[i].shape);
}

static double entry_distance(carom_mat3 A, carom_mat3 B) {
  double worst = 0;
  for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(A.m[i / 3][i % 3] - B.m[i / 3][i % 3]));
  return worst;
}

// What the model says of the body, back in the user's frame at the user's origin.
static carom_mat3 inertia_about_user_origin(const carom_body *body) {
  carom_pose principal = cm_pose_inverse(body->frame);
  carom_mat3 R = cm_rotation(principal.q), J = cm_diag3(body->inertia.x, body->inertia.y, body->inertia.z);
  return cm_madd(cm_mmul(R, cm_mmul(J, cm_transpose(R))), cm_mscale(body->mass, steiner(principal.p)));
}

TEST(compound_bodies_have_the_mass_of_their_parts) {
  carom_random r = carom_random_make(21, 0);
  for (int trial = 0; trial < 200; trial++) {
    compound c = random_compound(&r);
    carom_builder *b = new_builder();
    carom_body_def def = shaped(c.parts, c.count);
    double given = trial % 2 ? carom_random_between(&r, 0.1, 10) : 0;
    def.mass = given;
    carom_builder_add_body(b, &def);
    release_compound(&c);  // the model keeps its own references
    world w = finish_world(b);
    const carom_body *body = &w.model->bodies[0];
    double scale = given > 0 ? given / c.mass : 1, size = cm_trace(c.about_origin) * scale;
    CHECK_NEAR(body->mass, c.mass * scale, 1e-13 * c.mass * scale);
    CHECK_NEAR(body->inverse_mass * body->mass, 1, 1e-15);
    CHECK_AT_MOST(distance(cm_pose_inverse(body->frame).p, c.center), 1e-13);
    CHECK_AT_MOST(entry_distance(inertia_about_user_origin(body), cm_mscale(scale, c.about_origin)), 1e-13 * size);
    for (int i = 0; i < w.model->part_count; i++) {  // parts sit where they sat, and within the bounding sphere
      carom_pose back = cm_compose(cm_pose_inverse(body->frame), w.model->parts[i].pose);
      CHECK_AT_MOST(distance(back.p, c.parts[i].pose.p), 1e-14);
      CHECK_AT_MOST(turn_between(back.q, c.parts[i].pose.q), 1e-14);
      double reach = cm_norm(w.model->parts[i].pose.p) + carom_shape_bounding_radius(w.model->parts[i].shape);
      CHECK(reach <= body->bounding_radius * (1 + 1e-14));
    }
    free_world(&w);
  }
}

TEST(poses_and_velocities_come_back_as_given) {
  carom_random r = carom_random_make(22, 0);
  for (int trial = 0; trial < 200; trial++) {
    compound c = random_compound(&r);
    carom_builder *b = new_builder();
    carom_body_def def = shaped(c.parts, c.count);
    def.pose = cm_pose(random_vector(&r, 10), random_rotation(&r));
    def.velocity = random_vector(&r, 3), def.angular_velocity = random_vector(&r, 3);
    carom_pose unit = def.pose;
    if (trial % 3 == 0) {  // quaternions need not be normalised by the user
      def.pose.q = cm_quat(3 * unit.q.w, 3 * unit.q.x, 3 * unit.q.y, 3 * unit.q.z);
    }
    carom_builder_add_body(b, &def);
    world w = finish_world(b);
    carom_pose pose = carom_state_pose(w.model, w.state, 0);
    CHECK_AT_MOST(distance(pose.p, unit.p), 1e-13);
    CHECK_AT_MOST(turn_between(pose.q, unit.q), 1e-14);
    CHECK_AT_MOST(distance(carom_state_velocity(w.model, w.state, 0), def.velocity), 1e-14);
    CHECK_AT_MOST(distance(carom_state_angular_velocity(w.model, w.state, 0), def.angular_velocity), 1e-13);
    CHECK_AT_MOST(distance(w.state->x[0], cm_transform(unit, c.center)), 1e-13);
    // Kinetic energy in the user's terms: m/2 v.v + w.(I w)/2 with I turned to the world.
    carom_mat3 R = cm_rotation(unit.q), J = cm_msub(c.about_origin, cm_mscale(c.mass, steiner(c.center)));
    carom_vec3 omega = cm_tmulv(R, def.angular_velocity);
    double T = 0.5 * c.mass * cm_norm2(def.velocity) + 0.5 * cm_dot(omega, cm_mulv(J, omega));
    CHECK_NEAR(carom_kinetic_energy(w.model, w.state), T, 1e-12 * T);
    release_compound(&c);
    free_world(&w);
  }
}

TEST(states_can_be_set) {
  carom_random r = carom_random_make(23, 0);
  for (int trial = 0; trial < 100; trial++) {
    compound c = random_compound(&r);
    carom_builder *b = new_builder();
    carom_body_def def = shaped(c.parts, c.count);
    carom_builder_add_body(b, &def);
    world w = finish_world(b);
    release_compound(&c);
    carom_pose pose = cm_pose(random_vector(&r, 3), random_rotation(&r));
    carom_vec3 v = random_vector(&r, 1), omega = random_vector(&r, 1);
    carom_state_set_velocity(w.model, w.state, 0, v, omega);
    carom_vec3 p = w.state->p[0], l = w.state->l[0];
    carom_pose scaled = cm_pose(pose.p, cm_quat(2 * pose.q.w, 2 * pose.q.x, 2 * pose.q.y, 2 * pose.q.z));
    carom_state_set_pose(w.model, w.state, 0, trial % 2 ? scaled : pose);
    CHECK(distance(w.state->p[0], p) == 0 && distance(w.state->l[0], l) == 0);
    carom_pose back = carom_state_pose(w.model, w.state, 0);
    CHECK_AT_MOST(distance(back.p, pose.p), 1e-13);
    CHECK_AT_MOST(turn_between(back.q, pose.q), 1e-14);
    carom_state_set_velocity(w.model, w.state, 0, v, omega);
    CHECK_AT_MOST(distance(carom_state_velocity(w.model, w.state, 0), v), 1e-15);
    CHECK_AT_MOST(distance(carom_state_angular_velocity(w.model, w.state, 0), omega), 1e-13);
    free_world(&w);
  }
}

TEST(a_given_inertia_replaces_that_of_the_parts) {
  const carom_shape *box = box_shape(1, 2, 3);
  carom_part part = {box, cm_pose_identity(), 0};
  carom_body_def def = shaped(&part, 1);
  def.mass = 5, def.has_inertia = true, def.inertia = cm_diag3(3, 1, 2.5), def.center = cm_vec3(0.1, 0, 0);
  carom_builder *b = new_builder();
  carom_builder_add_body(b, &def);
  carom_shape_release(box);
  world w = finish_world(b);
  const carom_body *body = &w.model->bodies[0];
  CHECK(body->mass == 5 && body->inertia.x == 3 && body->inertia.y == 1 && body->inertia.z == 2.5);
  CHECK_AT_MOST(distance(w.state->x[0], def.center), 0);
  free_world(&w);
}

TEST(densities_fall_back_from_part_to_body_to_material) {
  const carom_shape *box = box_shape(1, 1, 1);
  carom_builder *b = new_builder();
  carom_material_def material = carom_material_default();
  material.density = 7;
  carom_builder_add_material(b, &material);
  carom_part part = {box, cm_pose_identity(), 0};
  carom_body_def def = shaped(&part, 1);
  carom_builder_add_body(b, &def);
  def.density = 11;
  carom_builder_add_body(b, &def);
  part.density = 13;
  carom_builder_add_body(b, &def);
  carom_shape_release(box);
  world w = finish_world(b);
  CHECK_NEAR(w.model->bodies[0].mass, 7, 1e-13);
  CHECK_NEAR(w.model->bodies[1].mass, 11, 1e-13);
  CHECK_NEAR(w.model->bodies[2].mass, 13, 1e-13);
  free_world(&w);
}

TEST(fixed_bodies_are_immovable) {
  const carom_shape *half = NULL;
  REQUIRE(carom_shape_create_halfspace(NULL, &half, NULL) == CAROM_OK);
  carom_part part = {half, cm_pose_identity(), 0};
  carom_body_def def = shaped(&part, 1);
  def.fixed = true;
  def.pose = cm_pose(cm_vec3(1, 2, 3), cm_axis_angle(cm_vec3(1, 0, 0), 0.3));
  carom_builder *b = new_builder();
  carom_builder_add_body(b, &def);
  carom_body_def moving = inert_body(1, cm_vec3(1, 1, 1));
  carom_builder_add_body(b, &moving);
  carom_shape_release(half);
  world w = finish_world(b);
  const carom_body *body = &w.model->bodies[0];
  CHECK(isinf(body->mass) && body->inverse_mass == 0 && isinf(body->inertia.y) && body->inverse_inertia.y == 0);
  CHECK(w.model->moving_count == 1 && body->fixed && isinf(body->bounding_radius));
  carom_state_set_velocity(w.model, w.state, 0, cm_vec3(1, 1, 1), cm_vec3(1, 1, 1));
  CHECK(cm_norm(w.state->p[0]) == 0 && cm_norm(w.state->l[0]) == 0);
  carom_pose pose = carom_state_pose(w.model, w.state, 0);
  CHECK(distance(pose.p, def.pose.p) == 0);
  CHECK_AT_MOST(turn_between(pose.q, def.pose.q), 1e-15);
  CHECK(carom_kinetic_energy(w.model, w.state) == 0);
  free_world(&w);
}

TEST(point_like_bodies_move_and_do_not_turn) {
  carom_builder *b = new_builder();
  carom_body_def def = carom_body_default();
  def.mass = 2, def.velocity = cm_vec3(1, 0, 0), def.angular_velocity = cm_vec3(0, 0, 5);
  def.inertia = cm_diag3(1, 1, 1);  // counts only with has_inertia
  carom_builder_add_body(b, &def);
  world w = finish_world(b);
  CHECK(cm_norm(w.model->bodies[0].inverse_inertia) == 0);
  CHECK(cm_norm(w.state->l[0]) == 0);
  CHECK(w.state->p[0].x == 2);
  CHECK(carom_kinetic_energy(w.model, w.state) == 1);
  carom_stepper *stepper = new_stepper(&w, 0.5, CAROM_QUADRATURE_ENDPOINT);
  run_steps(stepper, w.state, 4);
  CHECK(w.state->x[0].x == 2 && w.state->q[0].w == 1);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- names, colours, charges, springs ---------------------------------------------------------------------------

TEST(bodies_are_found_by_name) {
  carom_builder *b = new_builder();
  char name[16] = "mutable";
  carom_body_def def = inert_body(1, cm_vec3(1, 1, 1));
  def.name = name;
  carom_builder_add_body(b, &def);
  strcpy(name, "changed");  // the model keeps its own copy
  def.name = NULL;
  for (int i = 1; i < 1000; i++) carom_builder_add_body(b, &def);
  world w = finish_world(b);
  CHECK(carom_model_find_body(w.model, "mutable") == 0);
  CHECK(carom_model_find_body(w.model, "changed") == -1);
  CHECK(carom_model_find_body(w.model, "body0") == -1);
  CHECK(carom_model_find_body(w.model, "body999") == 999);
  CHECK_TEXT(w.model->bodies[7].name, "body7");
  CHECK_TEXT(w.model->materials[0].name, "default");
  free_world(&w);
}

TEST(colors_come_from_body_then_material_then_palette) {
  carom_builder *b = new_builder();
  carom_material_def plain = carom_material_default(), red = plain;
  red.color = 0xFF0000;
  CHECK(carom_builder_add_material(b, &plain) == 0 && carom_builder_add_material(b, &red) == 1);
  carom_body_def def = inert_body(1, cm_vec3(1, 1, 1));
  for (int i = 0; i < 7; i++) carom_builder_add_body(b, &def);
  def.material = 1;
  carom_builder_add_body(b, &def);
  def.color = 0x123456;
  carom_builder_add_body(b, &def);
  def.color = 0;  // black is a colour
  carom_builder_add_body(b, &def);
  carom_body_def fixed = carom_body_default();
  fixed.fixed = true;
  carom_builder_add_body(b, &fixed);
  world w = finish_world(b);
  const carom_body *body = w.model->bodies;
  for (int i = 1; i < 6; i++) CHECK(body[i].color != body[i - 1].color && body[i].color <= 0xFFFFFF);
  CHECK(body[6].color == body[0].color);
  CHECK(body[7].color == 0xFF0000 && body[8].color == 0x123456 && body[9].color == 0);
  CHECK(body[10].color <= 0xFFFFFF && body[10].color != body[4].color);
  CHECK_TEXT(w.model->materials[1].name, "material1");
  free_world(&w);
}

TEST(charges_are_grouped_by_set_in_their_order) {
  carom_random r = carom_random_make(24, 0);
  carom_builder *b = builder_with_bodies(3);
  for (int i = 0; i < 4; i++) carom_builder_add_charge_set(b, i, 0.1 * i);
  for (int i = 0; i < 50; i++) {
    int set = (int)carom_random_below(&r, 3);  // the last set stays empty
    CHECK(carom_builder_add_charge(b, set, i % 3, cm_vec3(i, 0, 0), i) == i);
  }
  world w = finish_world(b);
  int seen = 0;
  for (int s = 0; s < 4; s++) {
    const carom_charge_set *set = &w.model->charge_sets[s];
    CHECK(set->constant == s && set->charge_start == seen);
    for (int i = 0; i < set->charge_count; i++) {
      const carom_charge *c = &w.model->charges[set->charge_start + i];
      CHECK(c->set == s && c->point.x == c->charge && c->body == (int)c->charge % 3);
      CHECK(i == 0 || c->charge > c[-1].charge);
    }
    seen += set->charge_count;
  }
  CHECK(seen == 50 && w.model->charge_count == 50 && w.model->charge_sets[3].charge_count == 0);
  free_world(&w);
}

TEST(springs_rest_where_they_start_unless_told) {
  carom_builder *b = new_builder();
  carom_body_def def = inert_body(1, cm_vec3(1, 2, 2.5));
  def.pose = cm_pose(cm_vec3(3, 0, 0), cm_axis_angle(cm_vec3(0, 0, 1), acos(-1) / 2));
  def.center = cm_vec3(0.2, 0.1, 0);
  carom_builder_add_body(b, &def);
  carom_spring_def s = carom_spring_default();
  s.body[0] = 0, s.point[0] = cm_vec3(4, 0, 0), s.stiffness = 1;  // in the world at (3, 4, 0)
  CHECK(carom_builder_add_spring(b, &s) == 0);
  s.rest_length = 0;
  CHECK(carom_builder_add_spring(b, &s) == 1);
  s.rest_length = 0.25;
  CHECK(carom_builder_add_spring(b, &s) == 2);
  world w = finish_world(b);
  CHECK_NEAR(w.model->springs[0].rest_length, 5, 1e-14);
  CHECK(w.model->springs[1].rest_length == 0 && w.model->springs[2].rest_length == 0.25);
  CHECK_NEAR(carom_potential_energy(w.model, w.state), 0.5 * (25 + 4.75 * 4.75), 1e-13);
  free_world(&w);
}

TEST(applied_forces_are_turned_to_principal_axes) {
  carom_random r = carom_random_make(25, 0);
  compound c = random_compound(&r);
  carom_builder *b = new_builder();
  carom_body_def def = shaped(c.parts, c.count);
  carom_builder_add_body(b, &def);
  release_compound(&c);
  carom_knot knots[] = {{0, 1}, {1, 0}};
  carom_force_def f = carom_force_default();
  f.body = 0, f.point = cm_vec3(1, 2, 3), f.force = cm_vec3(0, 1, 0), f.torque = cm_vec3(1, 0, 0);
  carom_builder_add_force(b, &f);
  f.body_axes = true, f.knots = knots, f.knot_count = 2;
  carom_builder_add_force(b, &f);
  world w = finish_world(b);
  const carom_force *forces = w.model->forces;
  carom_pose frame = w.model->bodies[0].frame;
  CHECK_AT_MOST(distance(cm_untransform(frame, forces[0].point), f.point), 1e-14);
  CHECK(distance(forces[0].force, f.force) == 0);
  CHECK_AT_MOST(distance(cm_unrotate(frame.q, forces[1].force), f.force), 1e-14);
  CHECK_AT_MOST(distance(cm_unrotate(frame.q, forces[1].torque), f.torque), 1e-14);
  CHECK(forces[0].knot_count == 0 && forces[1].knot_count == 2 && w.model->knots[forces[1].knot_start + 1].time == 1);
  free_world(&w);
}

// ---- states ------------------------------------------------------------------------------------------------------

TEST(hashes_see_every_bit_of_the_state) {
  world w = random_cloud(5, 3);
  carom_state *clone = NULL;
  REQUIRE(carom_state_clone(w.state, NULL, &clone, NULL) == CAROM_OK);
  uint64_t hash = carom_state_hash(w.state);
  CHECK(carom_state_hash(clone) == hash);
  double *fields[] = {&clone->time, &clone->x[4].z, &clone->q[2].w, &clone->p[0].x, &clone->l[4].z};
  for (int i = 0; i < 5; i++) {
    double kept = *fields[i];
    *fields[i] = nextafter(kept, 1e9);
    CHECK(carom_state_hash(clone) != hash);
    *fields[i] = kept;
    CHECK(carom_state_hash(clone) == hash);
  }
  clone->x[1] = cm_vec3(9, 9, 9), clone->time = 7, clone->step = 70;
  carom_state_copy(w.state, clone);
  CHECK(carom_state_hash(w.state) == carom_state_hash(clone) && w.state->step == 70 && w.state->x != clone->x);
  carom_state_destroy(clone);
  free_world(&w);
}

// ---- memory that runs out ------------------------------------------------------------------------------------------

// A model with one of everything, through `allocator`. Returns the first status that is not a success.
static carom_status build_everything(const carom_allocator *a, const carom_part *parts) {
  carom_builder *b = NULL;
  carom_error error = {0};
  carom_status status = carom_builder_create(a, &b, &error);
  if (status != CAROM_OK) return status;
  carom_material_def material = carom_material_default();
  carom_builder_add_material(b, &material);
  carom_body_def def = shaped(parts, 2);
  for (int i = 0; i < 20; i++) carom_builder_add_body(b, &def);  // enough for every array to grow twice
  int set = carom_builder_add_charge_set(b, 1, 0);
  for (int i = 0; i < 10; i++) carom_builder_add_charge(b, set, i, cm_zero3(), 1);
  carom_spring_def spring = carom_spring_default();
  spring.body[0] = 0;
  carom_builder_add_spring(b, &spring);
  carom_knot knots[10];
  for (int i = 0; i < 10; i++) knots[i] = (carom_knot){i, 1};
  carom_force_def force = carom_force_default();
  force.body = 0, force.knots = knots, force.knot_count = 10;
  carom_builder_add_force(b, &force);
  carom_model *model = NULL;
  carom_state *state = NULL, *clone = NULL;
  status = carom_builder_finish(b, &model, &state, &error);
  carom_builder_destroy(b);
  if (status == CAROM_OK) status = carom_state_clone(state, a, &clone, &error);
  carom_stepper *stepper = NULL;
  if (status == CAROM_OK) status = carom_stepper_create(model, NULL, a, &stepper, &error);
  carom_audit *audit = NULL;
  if (status == CAROM_OK) status = carom_audit_create(model, state, a, &audit, &error);
  if (status != CAROM_OK) CHECK_CONTAINS(error.message, "out of memory");
  carom_audit_destroy(audit);
  carom_stepper_destroy(stepper);
  carom_state_destroy(clone);
  carom_state_destroy(state);
  carom_model_destroy(model);
  return status;
}

TEST(memory_may_run_out_at_any_call) {
  const carom_shape *box = box_shape(1, 2, 3);
  carom_part parts[2] = {{box, cm_pose_identity(), 0}, {box, cm_pose(cm_vec3(1, 0, 0), cm_qidentity()), 0}};
  int call = 0;
  for (; call < 1000; call++) {
    failing_allocator f = {.allowed = call};
    carom_allocator a = failing_allocator_of(&f);
    carom_status status = build_everything(&a, parts);
    CHECK(f.live == 0);  // nothing is leaked
    if (status == CAROM_OK) break;
    CHECK(status == CAROM_ERR_MEMORY);
  }
  CHECK(call > 30 && call < 1000);
  carom_shape_release(box);
}
