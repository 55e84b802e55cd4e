// Clusters of touching elastic bodies: whatever the law, the count and the masses, no energy is lost, and none is
// booked as lost by restitution.
#include "exact_fixture.h"

static const carom_impact_law KEEPING[] = {CAROM_IMPACT_GENERALIZED, CAROM_IMPACT_SUM, CAROM_IMPACT_NEWTON,
                                           CAROM_IMPACT_POISSON};

// Beads or boxes on each other, the lowest 5 cm above the floor; masses go up and down by `ratio`.
static world column(int count, bool beads, double ratio) {
  carom_builder *builder = new_builder();
  int steel = add_material(builder, "steel", 7800, 1, 0);
  const carom_shape *shape = NULL;
  if (beads)
    carom_shape_create_sphere(0.005, NULL, &shape, NULL);
  else
    shape = box_shape(0.02, 0.03, 0.01);
  carom_part part = part_of(shape);
  for (int i = 0; i < count; i++) {
    carom_body_def def = solid(&part, steel, cm_vec3(0, 0, 0.055 + 0.01 * i));
    def.mass = 0.01 * pow(ratio, (double)(i * 7 % 3) / 2);
    carom_builder_add_body(builder, &def);
  }
  add_floor(builder, steel);
  carom_builder_set_gravity(builder, cm_vec3(0, 0, -9.81));
  carom_shape_release(shape);
  return finish_world(builder);
}

static void check_kept(world w, carom_impact_law law, int steps, double bound) {
  carom_stepper *stepper = exact_stepper(&w, 1e-3, law);
  double before = carom_kinetic_energy(w.model, w.state) + carom_potential_energy(w.model, w.state);
  tally t = run_exact(&w, stepper, steps);
  double after = carom_kinetic_energy(w.model, w.state) + carom_potential_energy(w.model, w.state);
  CHECK(t.collisions > 0);
  CHECK_NEAR(after / before, 1, bound);
  CHECK_AT_MOST(fabs(t.restitution_loss), bound * before);
  CHECK_AT_MOST(t.momentum_error, 1e-12);
  CHECK_AT_MOST(t.penetration, 1e-10);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(columns_keep_their_energy) {
  for (int count = 2; count <= 10; count++)
    for (int k = 0; k < 8; k++) check_kept(column(count, k % 2 == 0, 1), KEEPING[k / 2], 400, 1e-12);
}

TEST(columns_of_unlike_masses_keep_their_energy) {
  for (int count = 2; count <= 6; count++)
    for (int k = 0; k < 8; k++) check_kept(column(count, k % 2 == 0, 1e3), KEEPING[k / 2], 250, 1e-11);
}

// A pyramid of balls in a vertical plane falls on the floor.
TEST(pyramid_of_balls_keeps_its_energy) {
  for (size_t k = 0; k < sizeof KEEPING / sizeof *KEEPING; k++) {
    carom_builder *builder = new_builder();
    int steel = add_material(builder, "steel", 7800, 1, 0);
    const carom_shape *ball = NULL;
    carom_shape_create_sphere(0.01, NULL, &ball, NULL);
    carom_part part = part_of(ball);
    for (int row = 0; row < 4; row++)
      for (int i = 0; i < 4 - row; i++) {
        carom_body_def def = solid(&part, steel, cm_vec3(0.01 * (2 * i + row), 0, 0.05 + 0.01 * sqrt(3) * row));
        carom_builder_add_body(builder, &def);
      }
    add_floor(builder, steel);
    carom_builder_set_gravity(builder, cm_vec3(0, 0, -9.81));
    carom_shape_release(ball);
    check_kept(finish_world(builder), KEEPING[k], 400, 1e-12);
  }
}

// One that rests with e = 1 stays, and is hit and parts like any other.
TEST(elastic_box_at_rest_stays_until_it_is_hit_long) {
  carom_builder *builder = new_builder();
  int steel = add_material(builder, "steel", 7800, 1, 0);
  const carom_shape *cube = box_shape(0.1, 0.1, 0.1), *ball = NULL;
  carom_shape_create_sphere(0.05, NULL, &ball, NULL);
  carom_part cube_part = part_of(cube), ball_part = part_of(ball);
  carom_body_def rests = solid(&cube_part, steel, cm_vec3(0, 0, 0.05)),
                 falls = solid(&ball_part, steel, cm_vec3(0, 0, 0.5));
  carom_builder_add_body(builder, &rests);
  carom_builder_add_body(builder, &falls);
  add_floor(builder, steel);
  carom_builder_set_gravity(builder, cm_vec3(0, 0, -9.81));
  carom_shape_release(cube);
  carom_shape_release(ball);
  check_kept(finish_world(builder), CAROM_IMPACT_GENERALIZED, 1500, 1e-11);
}

// Round logs side by side on the floor touch it and each other from the start, and stay.
TEST(logs_that_touch_stay) {
  for (int k = 0; k < 4; k++) {
    carom_builder *builder = new_builder();
    int wood = add_material(builder, "wood", 700, k % 2 ? 0.5 : 0, 0.3);
    const carom_shape *log = NULL;
    carom_shape_create_cylinder(0.1, 0.3, NULL, &log, NULL);
    carom_part part = part_of(log);
    for (int i = 0; i < 2 + k; i++) {
      carom_body_def def = solid(&part, wood, cm_vec3(0.2 * i, 0, 0.1));
      def.pose.q = cm_axis_angle(cm_vec3(1, 0, 0), acos(0));
      carom_builder_add_body(builder, &def);
    }
    add_floor(builder, wood);
    carom_builder_set_gravity(builder, cm_vec3(0, 0, -9.81));
    carom_shape_release(log);
    world w = finish_world(builder);
    carom_stepper *stepper = exact_stepper(&w, 2e-3, CAROM_IMPACT_GENERALIZED);
    tally t = run_exact(&w, stepper, 40);
    CHECK_AT_MOST(t.penetration, 1e-9);
    for (int i = 0; i < 2 + k; i++) CHECK_AT_MOST(cm_norm(cm_sub(w.state->x[i], cm_vec3(0.2 * i, 0, 0.1))), 1e-7);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}
