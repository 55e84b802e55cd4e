// The integrator `exact` on scenes with closed forms: Newton's cradle, a bouncing ball, a falling cube.
#include "exact_fixture.h"

// ---- Newton's cradle (Johnson 2012, 3.3.5, 3.4.3) ------------------------------------------------------------------

static const double SIDE = 0.28284271247461900976;  // 0.2 sqrt(2) m

// Cubes of 270 kg/m3 along x with the given gaps and velocities.
static world cradle(int count, const double *gap, const double *velocity, double e) {
  carom_builder *builder = new_builder();
  int wood = add_material(builder, "wood", 270, e, 0);
  const carom_shape *cube = box_shape(SIDE, SIDE, SIDE);
  carom_part part = part_of(cube);
  double x = 0;
  for (int i = 0; i < count; i++) {
    if (i > 0) x += SIDE + gap[i - 1];
    carom_body_def def = solid(&part, wood, cm_vec3(x, 0, 0));
    def.velocity = cm_vec3(velocity[i], 0, 0);
    carom_builder_add_body(builder, &def);
  }
  carom_shape_release(cube);
  return finish_world(builder);
}

static double fastest_turn(const world *w) {
  double most = 0;
  for (int i = 0; i < w->state->body_count; i++)
    most = fmax(most, cm_norm(carom_state_angular_velocity(w->model, w->state, i)));
  return most;
}

TEST(cradle_one) {
  double v = 0.105, gap[4] = {SIDE / 2, SIDE / 10, SIDE / 10, SIDE / 10}, velocity[5] = {v};
  world w = cradle(5, gap, velocity, 1);
  carom_stepper *stepper = exact_stepper(&w, 0.01, CAROM_IMPACT_GENERALIZED);
  tally t = run_exact(&w, stepper, 400);
  REQUIRE(t.impacts == 4);
  double expected = 0;
  for (int i = 0; i < 4; i++) {
    expected += gap[i] / v;
    CHECK_NEAR(t.times[i], expected, 1e-9);
    CHECK_NEAR(carom_state_velocity(w.model, w.state, i).x, 0, 1e-10);
  }
  carom_vec3 last = carom_state_velocity(w.model, w.state, 4);
  CHECK_NEAR(last.x, v, 1e-10);
  CHECK_AT_MOST(hypot(last.y, last.z), 1e-12);
  CHECK_AT_MOST(fastest_turn(&w), 1e-10);
  CHECK_AT_MOST(t.energy_error, 1e-12);
  CHECK_AT_MOST(t.penetration, 1e-12);
  CHECK_AT_MOST(t.momentum_error, 1e-13);
  CHECK_AT_MOST(cm_norm(carom_angular_momentum(w.model, w.state)), 1e-14);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// From both sides at once: the middle cube is hit by its neighbours at one moment, and no step is split.
TEST(cradle_two) {
  double v = 0.105, gap[4] = {SIDE / 2, SIDE / 100, SIDE / 100, SIDE / 2}, velocity[5] = {v, 0, 0, 0, -v};
  world w = cradle(5, gap, velocity, 1);
  carom_stepper *stepper = exact_stepper(&w, 0.01, CAROM_IMPACT_GENERALIZED);
  tally t = run_exact(&w, stepper, 400);
  CHECK(t.impacts == 6);  // 1-2 and 4-5, then 2-3 and 3-4 together, then 1-2 and 4-5
  CHECK_NEAR(carom_state_velocity(w.model, w.state, 0).x, -v, 1e-10);
  CHECK_NEAR(carom_state_velocity(w.model, w.state, 4).x, v, 1e-10);
  for (int i = 1; i < 4; i++) CHECK_NEAR(carom_state_velocity(w.model, w.state, i).x, 0, 1e-10);
  CHECK_AT_MOST(fastest_turn(&w), 1e-10);
  CHECK_AT_MOST(t.energy_error, 1e-12);
  CHECK_AT_MOST(t.penetration, 1e-12);
  CHECK_AT_MOST(cm_norm(carom_angular_momentum(w.model, w.state)), 1e-14);
  double first = gap[0] / v;
  CHECK_NEAR(t.times[0], first, 1e-9);
  CHECK_NEAR(t.times[2], first + gap[1] / v, 1e-9);
  CHECK_NEAR(t.times[4], first + 2 * gap[1] / v, 1e-9);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// Johnson 2012, 3.5.6: one cube runs into another and sticks; two meet head-on and stop.
TEST(plastic_pair) {
  double gap[1] = {0.1}, one[2] = {0.5, 0}, both[2] = {0.5, -0.5};
  for (int k = 0; k < 2; k++) {
    world w = cradle(2, gap, k == 0 ? one : both, 0);
    carom_stepper *stepper = exact_stepper(&w, 0.01, CAROM_IMPACT_GENERALIZED);
    tally t = run_exact(&w, stepper, 100);
    CHECK(t.impacts == 1);
    for (int i = 0; i < 2; i++) CHECK_NEAR(carom_state_velocity(w.model, w.state, i).x, k == 0 ? 0.25 : 0, 1e-14);
    CHECK_AT_MOST(t.energy_error, 1e-13);
    CHECK_AT_MOST(fastest_turn(&w), 1e-12);
    CHECK_AT_MOST(t.penetration, 1e-12);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}

// ---- a bouncing ball -----------------------------------------------------------------------------------------------

static world ball_above_floor(double height, double e) {
  carom_builder *builder = new_builder();
  int rubber = add_material(builder, "rubber", 1000, e, 0);
  const carom_shape *ball = NULL;
  carom_shape_create_sphere(0.1, NULL, &ball, NULL);
  carom_part part = part_of(ball);
  carom_body_def def = solid(&part, rubber, cm_vec3(0, 0, height + 0.1));
  carom_builder_add_body(builder, &def);
  add_floor(builder, rubber);
  carom_builder_set_gravity(builder, cm_vec3(0, 0, -9.81));
  carom_shape_release(ball);
  return finish_world(builder);
}

TEST(bouncing_ball) {
  double g = 9.81, height = 1, e = 0.8;
  world w = ball_above_floor(height, e);
  carom_stepper *stepper = exact_stepper(&w, 1e-3, CAROM_IMPACT_GENERALIZED);
  tally t = run_exact(&w, stepper, 6000);
  double u = sqrt(2 * g * height), time = u / g, end = time + 2 * u * e / (g * (1 - e));
  CHECK(t.impacts > 50);
  for (int i = 0; i < t.impacts; i++) {
    CHECK_NEAR(t.times[i], time, 1e-6);
    u *= e;
    time += 2 * u / g;
  }
  CHECK_NEAR(t.times[t.impacts - 1], end, 2e-5);  // where bounces are as high as bodies can be told apart
  CHECK(t.zeno == 1);
  CHECK_NEAR(w.state->x[0].z, 0.1, 1e-11);
  CHECK_NEAR(w.state->p[0].z, 0, 1e-12);
  CHECK_AT_MOST(t.energy_error, 1e-10);
  CHECK_AT_MOST(t.penetration, 1e-12);
  CHECK_AT_MOST(t.momentum_error, 1e-12);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// With the discrete energy condition and intervals a before and b after the impact, E_d = H - m g^2 h^2 / 8, so that H
// changes by m g^2 (b^2 - a^2) / 8.
TEST(discrete_energy_condition) {
  double g = 9.81, height = 1, h = 0.01;
  world w = ball_above_floor(height, 1);
  carom_step_options options = carom_step_default_options();
  options.integrator = "exact", options.step = h, options.energy_condition = CAROM_ENERGY_DISCRETE;
  carom_stepper *stepper = NULL;
  REQUIRE(carom_stepper_create(w.model, &options, NULL, &stepper, NULL) == CAROM_OK);
  double m = w.model->bodies[0].mass, start = m * g * (height + 0.1), hit = sqrt(2 * height / g);
  tally t = run_exact(&w, stepper, 60);
  REQUIRE(t.impacts == 1);
  CHECK_NEAR(t.times[0], hit, 1e-9);
  double a = fmod(hit, h), b = h - a;
  double end = carom_kinetic_energy(w.model, w.state) + carom_potential_energy(w.model, w.state);
  CHECK_NEAR(end - start, m * g * g * (b * b - a * a) / 8, 1e-10 * start);
  CHECK(fabs(end - start) > 1e-6);
  CHECK_AT_MOST(t.momentum_error, 1e-12);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- a falling cube ------------------------------------------------------------------------------------------------

static world falling_cube(carom_quat attitude, double e, double mu) {
  carom_builder *builder = new_builder();
  int wood = add_material(builder, "wood", 270, e, mu);
  const carom_shape *cube = box_shape(0.2, 0.2, 0.2);
  carom_part part = part_of(cube);
  carom_body_def def = solid(&part, wood, cm_vec3(0, 0, 0.8));
  def.pose.q = attitude;
  carom_builder_add_body(builder, &def);
  add_floor(builder, wood);
  carom_builder_set_gravity(builder, cm_vec3(0, 0, -9.81));
  carom_shape_release(cube);
  return finish_world(builder);
}

TEST(falling_cube_23_poses) {
  carom_random r = carom_random_make(2012, 0);
  for (int pose = 0; pose < 23; pose++) {
    world w = falling_cube(random_rotation(&r), 1, 0);
    carom_stepper *stepper = exact_stepper(&w, 1e-3, CAROM_IMPACT_GENERALIZED);
    double start = carom_kinetic_energy(w.model, w.state) + carom_potential_energy(w.model, w.state);
    tally t = run_exact(&w, stepper, 2000);
    double end = carom_kinetic_energy(w.model, w.state) + carom_potential_energy(w.model, w.state);
    CHECK(t.impacts >= 2);
    CHECK(t.zeno == 0);
    CHECK_NEAR(end, start, 1e-9 * start);
    CHECK_AT_MOST(t.energy_error, 1e-9);
    CHECK_AT_MOST(t.penetration, 1e-9);
    CHECK_AT_MOST(fabs(carom_angular_momentum(w.model, w.state).z), 1e-12);
    if (getenv("CAROM_TEST_VERBOSE"))
      printf("pose %2d: %4d impacts, energy %.2g, penetration %.2g m\n", pose, t.impacts, t.energy_error,
             t.penetration);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}
