// Many bodies at once: stacks, piles, and bodies so fast that they could pass through walls.
#include "strangers.h"

static const double G = 9.81;

// Ten boxes on each other, the whole leaning by `angle`, its lower edge on the floor.
static world stack(int count, double angle, double mu) {
  carom_builder *b = new_builder();
  add_material(b, "box", 500, 0.2, mu);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  add_floor(b, cm_qidentity());
  carom_quat tilt = cm_axis_angle(cm_vec3(0, 1, 0), angle);
  for (int i = 0; i < count; i++) {
    carom_body_def def = carom_body_default();
    carom_vec3 center = cm_vec3(-0.2, 0, 0.1 + 0.2 * i);  // about the edge x = 0, z = 0
    def.pose = cm_pose(cm_rotate(tilt, center), tilt);
    add_shape(b, def, box_shape(0.4, 0.3, 0.2));
  }
  return finish_world(b);
}

// Energy plus losses less what the projections gave must never rise: the audit explains every joule.
static void check_books(const run *r, double bound) {
  carom_audit_sample s = carom_audit_latest(r->audit);
  CHECK_AT_MOST(fabs(s.claimed_energy_error), bound);
  CHECK_AT_MOST(s.momentum_error, 1e-9);
  CHECK_AT_MOST(s.claimed_angular_momentum_error, 1e-9);
}

TEST(stack_stands) {
  run r = start_run(stack(10, 0, 0.6), "dcr", 1e-3);
  carom_vec3 top = r.w.state->x[10];
  REQUIRE(run_for(&r, 2000));
  show_run("stack", &r);
  CHECK_AT_MOST(cm_norm(cm_sub(r.w.state->x[10], top)), 1e-8);
  CHECK_AT_MOST(r.penetration, 1e-9);
  end_run(&r);
}

TEST(tilted_stack_rocks_but_does_not_explode) {
  run r = start_run(stack(10, 0.04, 0.6), "dcr", 1e-3);
  for (int i = 0; i < 2; i++) {
    REQUIRE(run_for(&r, 500));
    show_run("tilted stack", &r);
  }
  CHECK_AT_MOST(r.penetration, 1e-4 * 0.25);
  check_books(&r, 1e-3);
  end_run(&r);
}

// Until it stands still or lies on the floor.
TEST(tilted_stack_comes_to_rest_long) {
  run r = start_run(stack(10, 0.04, 0.6), "dcr", 1e-3);
  double start = carom_audit_latest(r.audit).energy, highest = 0;
  for (int i = 0; i < 10; i++) {
    REQUIRE(run_for(&r, 1000));
    show_run("tilted stack", &r);
    highest = fmax(highest, carom_audit_latest(r.audit).energy - r.projection_energy);
  }
  double kinetic = carom_kinetic_energy(r.w.model, r.w.state);
  if (getenv("CAROM_TEST_VERBOSE")) printf("top at %g m, kinetic energy %.2g J\n", r.w.state->x[10].z, kinetic);
  CHECK_AT_MOST(kinetic, 1e-6);
  CHECK_AT_MOST(highest, start);
  CHECK_AT_MOST(r.penetration, 1e-4 * 0.25);
  check_books(&r, 1e-3);
  end_run(&r);
}

static const carom_shape *mixed_shape(int i) {
  switch (i % 4) {
    case 0:
      return box_shape(0.1, 0.08, 0.06);
    case 1:
      return prism_shape(6, 0.05, 0.08);
    case 2:
      return pyramid_shape(4, 0.06, 0.1);
    default:
      return prism_shape(8, 0.04, 0.07);
  }
}

static int add_wall(carom_builder *b, carom_vec3 p, carom_vec3 size) {
  carom_body_def def = body_at(p.x, p.y, p.z);
  def.fixed = true;
  return add_shape(b, def, box_shape(size.x, size.y, size.z));
}

// Polyhedra poured into a box with walls, from a loose column above it.
static world pour(int count, double inner) {
  carom_random random = carom_random_make(11, 0);
  carom_builder *b = new_builder();
  add_material(b, "grain", 1000, 0.3, 0.5);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  double wall = 0.1, high = 4;
  add_wall(b, cm_vec3(0, 0, -wall / 2), cm_vec3(inner + 2 * wall, inner + 2 * wall, wall));
  for (int k = 0; k < 2; k++) {
    double side = (k == 0 ? 1 : -1) * (inner + wall) / 2;
    add_wall(b, cm_vec3(side, 0, high / 2), cm_vec3(wall, inner + 2 * wall, high));
    add_wall(b, cm_vec3(0, side, high / 2), cm_vec3(inner + 2 * wall, wall, high));
  }
  int per_row = (int)(inner / 0.14);
  for (int i = 0; i < count; i++) {
    int layer = i / (per_row * per_row), row = i / per_row % per_row, column = i % per_row;
    double step = inner / per_row;
    carom_vec3 p = cm_vec3((column + 0.5) * step - inner / 2, (row + 0.5) * step - inner / 2, 0.1 + 0.15 * layer);
    carom_body_def def = carom_body_default();
    def.pose = cm_pose(cm_add(p, random_vector(&random, 0.005)), random_rotation(&random));
    def.velocity = random_vector(&random, 0.1);
    add_shape(b, def, mixed_shape(i));
  }
  return finish_world(b);
}

static void check_inside(const run *r, double inner, double high) {
  for (int i = 0; i < r->w.model->body_count; i++) {
    if (r->w.model->bodies[i].fixed) continue;
    carom_vec3 x = r->w.state->x[i];
    CHECK_AT_MOST(fmax(fabs(x.x), fabs(x.y)), inner / 2);
    CHECK(x.z > 0 && x.z < high);
  }
}

static void run_pile(int count, double inner, int steps, double h) {
  run r = start_run(pour(count, inner), "dcr", h);
  double start = carom_audit_latest(r.audit).energy, overlap = 0;
  for (int i = 0; i < steps; i++) {
    if (!run_step(&r)) break;
    overlap = fmax(overlap, deepest_overlap(&r.w));
    if (i % 200 == 199) show_run("pile", &r);
  }
  show_run("pile", &r);
  CHECK_AT_MOST(overlap, 1e-4 * 0.05);
  check_inside(&r, inner, 4);
  CHECK_AT_MOST(r.penetration, 1e-4 * 0.05);
  CHECK_AT_MOST(carom_audit_latest(r.audit).energy, start + r.projection_energy);
  check_books(&r, 1e-2);
  end_run(&r);
}

TEST(forty_polyhedra_in_a_box) { run_pile(40, 0.3, 250, 2e-3); }
TEST(two_hundred_polyhedra_in_a_box_long) { run_pile(200, 0.5, 600, 2e-3); }

// A thin plate, and a cube that covers ten times the plate's thickness in one step.
TEST(fast_cube_does_not_pass_a_thin_plate) {
  carom_builder *b = new_builder();
  add_material(b, "cube", 1000, 0.5, 0);
  add_wall(b, cm_vec3(0, 0, 0), cm_vec3(1, 1, 0.01));
  carom_body_def def = body_at(0, 0, 0.333);
  def.velocity = cm_vec3(0, 0, -100);
  add_shape(b, def, box_shape(0.05, 0.05, 0.05));
  run r = start_run(finish_world(b), "dcr", 1e-3);
  REQUIRE(run_for(&r, 5));
  show_run("bullet", &r);
  CHECK_NEAR(carom_state_velocity(r.w.model, r.w.state, 1).z, 50, 1e-9);
  // 0.333 - 0.03 down at 100 m/s, the rest of 5 ms up at 50 m/s
  double impact = 0.303 / 100;
  CHECK_NEAR(r.w.state->x[1].z, 0.03 + 50 * (5e-3 - impact), 2e-3);
  CHECK(r.collisions == 1);
  end_run(&r);
}
