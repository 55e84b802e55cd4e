// The integrator `exact` with joints: the metronome, four beads in a box, the wedge.
#include "exact_fixture.h"

// ---- the metronome (Johnson 2012, 3.4.3) ---------------------------------------------------------------------------

// Two octagonal prisms of side 0.2 sqrt(3) m, the second above the first and turned by pi/4 + pi/8 about the axis so
// that an edge of it meets a face of the first; a ball joint between top and bottom.
static world metronome(double e) {
  carom_builder *builder = new_builder();
  int wood = add_material(builder, "wood", 270, e, 0);
  double side = 0.2 * sqrt(3), height = side, radius = side / (2 * sin(M_PI / 8));
  const carom_shape *prism = NULL;
  carom_shape_create_prism(8, radius, height, NULL, &prism, NULL);
  carom_part part = part_of(prism);
  carom_body_def def = solid(&part, wood, cm_vec3(0, 0, 0));
  def.pose.q = cm_axis_angle(cm_vec3(0, 0, 1), M_PI / 8);  // a face towards +x
  def.angular_velocity = cm_vec3(0, 1, 0);
  int low = carom_builder_add_body(builder, &def);
  def.pose = cm_pose(cm_vec3(0, 0, height + 0.1), cm_qidentity());  // an edge towards +x
  def.angular_velocity = cm_vec3(0, -1, 0);
  int high = carom_builder_add_body(builder, &def);
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_SPHERICAL;
  joint.body[0] = low, joint.body[1] = high;
  joint.point[0] = cm_vec3(0, 0, 0.5 * (height + 0.1));
  joint.at_start = true;
  joint.collide = true;
  carom_builder_add_joint(builder, &joint);
  carom_shape_release(prism);
  return finish_world(builder);
}

typedef struct beat {
  int collisions;
  double energy, trend, L, spin, drift, depth;  // worst; trend: mean energy of the last quarter less that of the first
} beat;

static beat beat_metronome(double h, int steps, int order) {
  world w = metronome(1);
  carom_stepper *stepper = exact_stepper_of_order(&w, h, order);
  double start = carom_kinetic_energy(w.model, w.state);
  beat b = {0};
  carom_error error = {0};
  for (int i = 0; i < steps; i++) {
    carom_step_report report = {0};
    if (carom_stepper_step(stepper, w.state, &report, &error) != CAROM_OK) {
      test_fail(__FILE__, __LINE__, "%s", error.message);
      break;
    }
    double energy = carom_kinetic_energy(w.model, w.state) / start - 1;
    b.collisions += report.collisions;
    b.energy = fmax(b.energy, fabs(energy));
    if (i < steps / 4) b.trend -= energy / (steps / 4);
    if (i >= steps - steps / 4) b.trend += energy / (steps / 4);
    b.L = fmax(b.L, cm_norm(carom_angular_momentum(w.model, w.state)));
    for (int k = 0; k < 2; k++) {
      carom_vec3 omega = carom_state_angular_velocity(w.model, w.state, k);
      b.spin = fmax(b.spin, hypot(omega.x, omega.z));
    }
    b.drift = fmax(b.drift, report.constraint);
    b.depth = fmax(b.depth, report.penetration);
  }
  if (getenv("CAROM_TEST_VERBOSE"))
    printf(
        "metronome, h = %g, order %d: %d collisions, energy %.2g, trend %.2g, L %.2g, spin %.2g, drift %.2g, "
        "penetration %.2g\n",
        h, order, b.collisions, b.energy, b.trend, b.L, b.spin, b.drift, b.depth);
  carom_stepper_destroy(stepper);
  free_world(&w);
  return b;
}

// The published step. The discrete Hamiltonian of a chain oscillates with the square of the step (Johnson 2012, figure
// 3.44) and does not drift; the impacts themselves keep it.
TEST(metronome_200_collisions) {
  beat b = beat_metronome(0.015, 3200, 2);
  CHECK(b.collisions >= 200);
  CHECK_AT_MOST(b.energy, 2e-6);
  CHECK_AT_MOST(fabs(b.trend), 1e-7);
  CHECK_AT_MOST(b.L, 1e-9);
  CHECK_AT_MOST(b.spin, 1e-9);
  CHECK_AT_MOST(b.drift, 1e-12);
  CHECK_AT_MOST(b.depth, 1e-9);
}

// The same with smooth motion of fourth and sixth order: the bound on the energy at the published step.
TEST(metronome_200_collisions_higher_order_long) {
  for (int order = 4; order <= 6; order += 2) {
    beat b = beat_metronome(0.015, 3200, order);
    CHECK(b.collisions >= 200);
    CHECK_AT_MOST(b.energy, 1e-9);
    CHECK_AT_MOST(fabs(b.trend), 1e-10);
    CHECK_AT_MOST(b.L, 1e-9);
    CHECK_AT_MOST(b.spin, 1e-9);
    CHECK_AT_MOST(b.drift, 1e-12);
    CHECK_AT_MOST(b.depth, 1e-9);
  }
}

TEST(metronome_small_step) {
  beat coarse = beat_metronome(1.2e-3, 4000, 2), fine = beat_metronome(4e-4, 12000, 2);
  CHECK(fine.collisions >= 20);
  CHECK_AT_MOST(fine.energy, 1e-9);
  CHECK_NEAR(coarse.energy / fine.energy, 9, 1);  // second order
  CHECK_AT_MOST(fine.L, 1e-9);
}

TEST(metronome_200_collisions_small_step_long) {
  beat b = beat_metronome(4e-4, 120000, 2);
  CHECK(b.collisions >= 200);
  CHECK_AT_MOST(b.energy, 1e-9);
  CHECK_AT_MOST(fabs(b.trend), 1e-10);
  CHECK_AT_MOST(b.L, 1e-9);
  CHECK_AT_MOST(b.spin, 1e-9);
}

// ---- four beads in a box (Leyendecker, Hartmann and Koch, 3.3) -----------------------------------------------------

static void add_wall(carom_builder *builder, int material, carom_vec3 point, carom_vec3 inward) {
  const carom_shape *shape = NULL;
  carom_shape_create_halfspace(NULL, &shape, NULL);
  carom_part part = part_of(shape);
  carom_body_def def = solid(&part, material, point);
  carom_vec3 u, v;
  cm_frame(inward, &u, &v);
  carom_mat3 R = {{{u.x, v.x, inward.x}, {u.y, v.y, inward.y}, {u.z, v.z, inward.z}}};
  def.pose.q = cm_quat_of(R);
  def.fixed = true;
  carom_builder_add_body(builder, &def);
  carom_shape_release(shape);
}

// The published start. The box is 8 x 10 x 14 "relative to the bead size": in diameters, with the longest side along x,
// where the chain of three links of 1 m lies at the start.
static world beads(void) {
  carom_builder *builder = new_builder();
  int glass = add_material(builder, "glass", 1000, 1, 0);
  const carom_shape *ball = NULL;
  carom_shape_create_sphere(0.1, NULL, &ball, NULL);
  carom_part part = part_of(ball);
  double c = 1 / (2 * sqrt(2));
  carom_vec3 place[4] = {{-3 * c, -c, 0}, {-c, c, 0}, {c, -c, 0}, {3 * c, c, 0}};
  for (int i = 0; i < 4; i++) {
    carom_body_def def = solid(&part, glass, place[i]);
    def.mass = 1;
    if (i == 0) def.velocity = cm_vec3(-0.1, 0.1, -0.1);
    carom_builder_add_body(builder, &def);
  }
  for (int i = 0; i < 3; i++) {
    carom_joint_def joint = carom_joint_default();
    joint.kind = CAROM_JOINT_DISTANCE;
    joint.body[0] = i, joint.body[1] = i + 1;
    joint.collide = true;
    carom_builder_add_joint(builder, &joint);
  }
  double half[3] = {7 * 0.2, 5 * 0.2, 4 * 0.2};
  for (int axis = 0; axis < 3; axis++)
    for (int s = -1; s <= 1; s += 2) {
      carom_vec3 d = cm_vec3(axis == 0, axis == 1, axis == 2);
      add_wall(builder, glass, cm_scale(s * half[axis], d), cm_scale(-s, d));
    }
  carom_shape_release(ball);
  return finish_world(builder);
}

TEST(four_beads_1000_collisions_long) {
  world w = beads();
  carom_stepper *stepper = exact_stepper(&w, 0.1, CAROM_IMPACT_GENERALIZED);
  double start = carom_kinetic_energy(w.model, w.state), worst = 0, drift = 0, deep = 0;
  int collisions = 0, several = 0, i = 0;
  carom_error error = {0};
  for (; i < 60000 && collisions < 1000; i++) {
    carom_step_report report = {0};
    carom_status status = carom_stepper_step(stepper, w.state, &report, &error);
    if (status != CAROM_OK) printf("%s\n", error.message);
    REQUIRE(status == CAROM_OK);
    collisions += report.collisions;
    several += report.collisions > 1;
    worst = fmax(worst, fabs(carom_kinetic_energy(w.model, w.state) / start - 1));
    drift = fmax(drift, report.constraint);
    deep = fmax(deep, report.penetration);
  }
  double end = carom_kinetic_energy(w.model, w.state) / start - 1;
  if (getenv("CAROM_TEST_VERBOSE"))
    printf("beads: %d collisions in %d steps (%d with several), energy %.2g (end %.2g), drift %.2g, penetration %.2g\n",
           collisions, i, several, worst, end, drift, deep);
  CHECK(collisions >= 1000);
  CHECK(several > 0);
  CHECK_AT_MOST(worst, 1e-3);
  CHECK_AT_MOST(fabs(end), 1e-3);
  CHECK_AT_MOST(drift, 1e-10);
  CHECK_AT_MOST(deep, 1e-9);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- the wedge (Pekarek 2010, 3.5.1) -------------------------------------------------------------------------------

// Two feet 0.2 m apart, 2 kg, J = 13/48 m L^2, centre half-way between the feet and sqrt(3)/4 L above them. It turns
// about its left foot until the right one hits the floor; that foot is then held and the left one let go.
static world wedge(double spin) {
  carom_builder *builder = new_builder();
  int wood = add_material(builder, "wood", 270, 0, 0);
  double L = 0.2, m = 2, h = sqrt(3) / 4 * L, w = 0.05, J = 13.0 / 48 * m * L * L;
  carom_vec3 corners[6] = {{0, -w, 0}, {0, w, 0}, {L / 2, -w, -h}, {L / 2, w, -h}, {0, -w, h}, {0, w, h}};
  const carom_shape *shape = NULL;  // the right leg alone: the left foot is where the joint is
  carom_shape_create_hull(corners, 6, NULL, &shape, NULL);
  carom_part part = part_of(shape);
  add_floor(builder, wood);
  double tilt = 0.2;
  carom_quat q = cm_axis_angle(cm_vec3(0, 1, 0), -tilt);  // the right foot is up
  carom_body_def def = solid(&part, wood, cm_neg(cm_rotate(q, cm_vec3(-L / 2, 0, -h))));
  def.pose.q = q;
  def.mass = m, def.has_inertia = true, def.inertia = cm_diag3(J, J, J);
  def.angular_velocity = cm_vec3(0, spin, 0);
  def.velocity = cm_cross(def.angular_velocity, def.pose.p);
  int body = carom_builder_add_body(builder, &def);
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_REVOLUTE;
  joint.body[0] = 0, joint.body[1] = body;
  joint.axis[0] = cm_vec3(0, 1, 0);
  joint.at_start = true;  // at the origin, where the left foot is
  joint.collide = true;
  int left = carom_builder_add_joint(builder, &joint);
  joint.name = "right foot";
  joint.at_start = false;
  joint.point[1] = cm_vec3(L / 2, 0, -h), joint.axis[1] = cm_vec3(0, 1, 0);
  joint.collide = false, joint.latch = true, joint.releases = left;
  carom_builder_add_joint(builder, &joint);
  carom_shape_release(shape);
  return finish_world(builder);
}

TEST(wedge_changes_feet) {
  world w = wedge(1);
  carom_stepper *stepper = exact_stepper(&w, 1e-2, CAROM_IMPACT_GENERALIZED);
  carom_error error = {0};
  double before = 0, after = 0, loss = 0, energy = carom_kinetic_energy(w.model, w.state), time = 0;
  for (int i = 0; i < 40; i++) {
    carom_step_report report = {0};
    double spin = carom_state_angular_velocity(w.model, w.state, 1).y;
    carom_status status = carom_stepper_step(stepper, w.state, &report, &error);
    if (status != CAROM_OK) printf("%s\n", error.message);
    REQUIRE(status == CAROM_OK);
    for (int k = 0; k < report.event_count; k++) {
      if (report.events[k].kind != CAROM_EVENT_STICK) continue;
      before = spin, after = carom_state_angular_velocity(w.model, w.state, 1).y;
      time = report.events[k].time;
    }
    loss += report.restitution_loss;
  }
  CHECK_NEAR(time, 0.2, 1e-3);  // 0.2 rad at 1 rad/s; the discrete turn is a little slower
  CHECK_NEAR(after / before, 10.0 / 34, 1e-10);
  CHECK_NEAR(carom_kinetic_energy(w.model, w.state), energy - loss, 1e-14);
  CHECK(w.state->joints[0].active == 0);
  CHECK(w.state->joints[1].active == 1);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- jointed bodies that come to rest on a floor -------------------------------------------------------------------

// Two arms on a hinge with stops fall on a rough floor, and a ball on them: nothing overlaps, energy is accounted for,
// and all comes to rest.
TEST(hinged_arms_fall_on_a_floor) {
  double e[] = {0, 0.4, 0.8};
  for (int k = 0; k < 3; k++) {
    carom_builder *builder = new_builder();
    int any = add_material(builder, "any", 1000, e[k], 0.6);
    for (int i = 0; i < 2; i++) {
      carom_body_def def = carom_body_default();
      def.material = any;
      def.pose.p = cm_vec3(0.2 + 0.4 * i, 0, 0.4);
      def.angular_velocity = cm_vec3(0.1, 0.5 - i, 0);
      put_shape(builder, def, box_shape(0.36, 0.05, 0.06));
    }
    carom_body_def ball = carom_body_default();
    ball.material = any;
    ball.pose.p = cm_vec3(0.5, 0.01, 0.55);
    put_shape(builder, ball, sphere_shape(0.05));
    add_floor(builder, any);
    carom_joint_def joint = carom_joint_default();
    joint.kind = CAROM_JOINT_REVOLUTE;
    joint.body[0] = 0, joint.body[1] = 1;
    joint.point[0] = cm_vec3(0.4, 0, 0.4), joint.axis[0] = cm_vec3(0, 1, 0);
    joint.at_start = true;
    joint.turn.lower = -0.4, joint.turn.upper = 0.7, joint.turn.restitution = 0.5;
    carom_builder_add_joint(builder, &joint);
    carom_builder_set_gravity(builder, cm_vec3(0, 0, -9.81));
    world w = finish_world(builder);
    carom_stepper *stepper = exact_stepper(&w, 1e-3, CAROM_IMPACT_GENERALIZED);
    tally t = run_exact(&w, stepper, 1500);
    CHECK_AT_MOST(t.penetration, 1e-8);
    CHECK_AT_MOST(t.energy_error, 1e-4);
    CHECK_AT_MOST(t.angular_momentum_error, 1e-11);
    for (int i = 0; i < 2; i++) CHECK_AT_MOST(cm_norm(carom_state_velocity(w.model, w.state, i)), 0.2);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}
