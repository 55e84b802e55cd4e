// The integrator `exact` on falling bodies: seven polyhedra, bodies that come to rest, friction on an incline.
#include "exact_fixture.h"
#include "failing_allocator.h"

// ---- seven polyhedra (Johnson 2012, 3.3.5, 3.4.3) ------------------------------------------------------------------

typedef struct shapes {
  const carom_shape *cube, *pyramid, *prism;
} shapes;

static shapes make_shapes(void) {
  shapes s = {0};
  double side = 0.2 * sqrt(3);
  s.cube = box_shape(0.2, 0.2, 0.2);
  carom_shape_create_pyramid(4, 0.1 * sqrt(2), 0.4, NULL, &s.pyramid, NULL);
  carom_shape_create_prism(8, side / (2 * sin(M_PI / 8)), side, NULL, &s.prism, NULL);
  return s;
}

static void release_shapes(shapes s) {
  carom_shape_release(s.cube);
  carom_shape_release(s.pyramid);
  carom_shape_release(s.prism);
}

// A cube in the middle of six bodies on a ring of 0.9 m, all 0.8 m above the floor, with random velocities of 0.01 m/s.
static world seven_polyhedra(double e, double mu) {
  carom_builder *builder = new_builder();
  carom_random r = carom_random_make(7, 0);
  int wood = add_material(builder, "wood", 270, e, mu);
  shapes s = make_shapes();
  const carom_shape *ring[6] = {s.prism, s.cube, s.pyramid, s.prism, s.cube, s.pyramid};
  for (int i = 0; i < 7; i++) {
    carom_part part = part_of(i == 0 ? s.cube : ring[i - 1]);
    double angle = M_PI / 3 * i, radius = i == 0 ? 0 : 0.9;
    carom_body_def def = solid(&part, wood, cm_vec3(radius * cos(angle), radius * sin(angle), 0.8));
    def.pose.q = cm_axis_angle(cm_vec3(cos(angle), sin(angle), 0.3), 0.2 + 0.1 * i);
    def.velocity = random_vector(&r, 0.01);
    carom_builder_add_body(builder, &def);
  }
  add_floor(builder, wood);
  carom_builder_set_gravity(builder, cm_vec3(0, 0, -9.81));
  release_shapes(s);
  return finish_world(builder);
}

TEST(seven_polyhedra_elastic) {
  world w = seven_polyhedra(1, 0);
  carom_stepper *stepper = exact_stepper(&w, 1e-3, CAROM_IMPACT_GENERALIZED);
  double start = carom_kinetic_energy(w.model, w.state) + carom_potential_energy(w.model, w.state);
  double L3 = carom_angular_momentum(w.model, w.state).z;
  tally t = run_exact(&w, stepper, 3000);
  double end = carom_kinetic_energy(w.model, w.state) + carom_potential_energy(w.model, w.state);
  double L3_end = carom_angular_momentum(w.model, w.state).z;
  if (getenv("CAROM_TEST_VERBOSE"))
    printf("seven polyhedra: %d impacts, energy %.2g, L3 off by %.2g, penetration %.2g\n", t.impacts, t.energy_error,
           L3_end - L3, t.penetration);
  CHECK(t.impacts > 50 && t.impacts < 150);  // 76: each is found and solved once, and none is chattered away
  CHECK_NEAR(L3_end, L3, 1e-8);
  CHECK_NEAR(end, start, 1e-9 * start);
  CHECK_AT_MOST(t.penetration, 1e-9);
  CHECK_AT_MOST(t.angular_momentum_error, 1e-9);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- coming to rest ------------------------------------------------------------------------------------------------

static world tilted_cube(double e, double mu) {
  carom_builder *builder = new_builder();
  int wood = add_material(builder, "wood", 270, e, mu);
  const carom_shape *cube = box_shape(0.2, 0.2, 0.2);
  carom_part part = part_of(cube);
  carom_body_def def = solid(&part, wood, cm_vec3(0, 0, 0.5));
  def.pose.q = cm_axis_angle(cm_vec3(1, 2, 0.5), 0.7);
  def.velocity = cm_vec3(0.3, 0, 0);
  carom_builder_add_body(builder, &def);
  add_floor(builder, wood);
  carom_builder_set_gravity(builder, cm_vec3(0, 0, -9.81));
  carom_shape_release(cube);
  return finish_world(builder);
}

// Comes to rest within 5 s and does not creep in the steps after that.
static void rest_cube(int steps) {
  world w = tilted_cube(0.6, 0.8);
  carom_stepper *stepper = exact_stepper(&w, 1e-3, CAROM_IMPACT_GENERALIZED);
  tally t = run_exact(&w, stepper, 5000);
  carom_vec3 place = w.state->x[0];
  if (getenv("CAROM_TEST_VERBOSE"))
    printf("cube: %d impacts, %d zeno, energy %.2g, penetration %.2g, z %.17g, v %.2g, w %.2g\n", t.impacts, t.zeno,
           t.energy_error, t.penetration, w.state->x[0].z, cm_norm(carom_state_velocity(w.model, w.state, 0)),
           cm_norm(carom_state_angular_velocity(w.model, w.state, 0)));
  CHECK(t.zeno > 0);
  CHECK_NEAR(w.state->x[0].z, 0.1, 1e-9);
  CHECK_AT_MOST(cm_norm(carom_state_velocity(w.model, w.state, 0)), 1e-6);
  CHECK_AT_MOST(t.penetration, 1e-9);
  CHECK_AT_MOST(t.energy_error, 1e-3);
  CHECK_AT_MOST(t.momentum_error, 1e-9);
  double creep = 0;
  carom_error error = {0};
  for (int i = 0; i < steps; i++) {
    carom_step_report report = {0};
    REQUIRE(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_OK);
    creep = fmax(creep, cm_norm(carom_state_velocity(w.model, w.state, 0)));
  }
  CHECK_AT_MOST(creep, 1e-12);
  CHECK_AT_MOST(cm_norm(cm_sub(w.state->x[0], place)), 1e-10);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(cube_comes_to_rest_and_stays) { rest_cube(10000); }
TEST(cube_rests_for_a_minute_long) { rest_cube(60000); }

// A block on an incline (gravity is tilted): it sticks below the angle of friction and slides above it.
TEST(incline_sticks_and_slides) {
  for (int k = 0; k < 2; k++) {
    double mu = 0.5, angle = atan(mu * (k == 0 ? 0.99 : 1.01)), g = 9.81;
    carom_builder *builder = new_builder();
    int wood = add_material(builder, "wood", 270, 0.3, mu);
    const carom_shape *block = box_shape(0.3, 0.2, 0.1);
    carom_part part = part_of(block);
    carom_body_def def = solid(&part, wood, cm_vec3(0, 0, 0.05));
    carom_builder_add_body(builder, &def);
    add_floor(builder, wood);
    carom_builder_set_gravity(builder, cm_vec3(g * sin(angle), 0, -g * cos(angle)));
    carom_shape_release(block);
    world w = finish_world(builder);
    carom_stepper *stepper = exact_stepper(&w, 1e-3, CAROM_IMPACT_GENERALIZED);
    tally t = run_exact(&w, stepper, 1000);
    double v = carom_state_velocity(w.model, w.state, 0).x, a = g * (sin(angle) - mu * cos(angle));
    if (getenv("CAROM_TEST_VERBOSE"))
      printf("incline %d: v %.17g, x %.17g, expected v %.17g, energy %.2g\n", k, v, w.state->x[0].x, k ? a : 0,
             t.energy_error);
    CHECK_NEAR(v, k == 0 ? 0 : a, k == 0 ? 1e-9 : 1e-6);
    CHECK_NEAR(w.state->x[0].x, k == 0 ? 0 : 0.5 * a, k == 0 ? 1e-9 : 1e-5);
    CHECK_AT_MOST(t.penetration, 1e-9);
    CHECK_AT_MOST(t.energy_error, 1e-6);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}

// ---- memory and repeatability --------------------------------------------------------------------------------------

// Whatever allocation fails, at set-up or in a step, it is reported, nothing leaks, and the state is left as it was.
TEST(memory_failures) {
  world w = seven_polyhedra(0.5, 0.3);
  carom_step_options options = carom_step_default_options();
  options.integrator = "exact";
  bool done = false;
  for (int allowed = 0; !done && allowed < 400; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    carom_stepper *stepper = NULL;
    carom_state *state = NULL;
    carom_error error = {0};
    REQUIRE(carom_state_clone(w.state, NULL, &state, NULL) == CAROM_OK);
    carom_status status = carom_stepper_create(w.model, &options, &a, &stepper, &error);
    for (int i = 0; i < 700 && status == CAROM_OK; i++) {
      uint64_t before = carom_state_hash(state);
      status = carom_stepper_step(stepper, state, NULL, &error);
      if (status != CAROM_OK) CHECK(carom_state_hash(state) == before);
    }
    if (status != CAROM_OK) CHECK(status == CAROM_ERR_MEMORY);
    done = status == CAROM_OK;
    if (stepper) carom_stepper_destroy(stepper);
    CHECK(f.live == 0);
    carom_state_destroy(state);
  }
  CHECK(done);
  free_world(&w);
}

TEST(runs_repeat_bit_for_bit) {
  uint64_t hash[3];
  for (int k = 0; k < 3; k++) {
    world w = seven_polyhedra(0.7, 0.2);
    carom_step_options options = carom_step_default_options();
    options.integrator = "exact";
    options.threads = k + 1;
    carom_stepper *stepper = NULL;
    REQUIRE(carom_stepper_create(w.model, &options, NULL, &stepper, NULL) == CAROM_OK);
    run_steps(stepper, w.state, 1500);
    hash[k] = carom_state_hash(w.state);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
  CHECK(hash[0] == hash[1]);
  CHECK(hash[0] == hash[2]);
}

// Seven polyhedra with friction come to rest on the floor, and the books balance.
TEST(seven_polyhedra_come_to_rest) {
  world w = seven_polyhedra(0.5, 0.5);
  carom_stepper *stepper = exact_stepper(&w, 1e-3, CAROM_IMPACT_GENERALIZED);
  double start = carom_kinetic_energy(w.model, w.state) + carom_potential_energy(w.model, w.state);
  tally t = run_exact(&w, stepper, 2000);
  double kinetic = carom_kinetic_energy(w.model, w.state);
  if (getenv("CAROM_TEST_VERBOSE"))
    printf("at rest: %d impacts, %d zeno, energy %.2g, penetration %.2g, kinetic %.2g of %.2g\n", t.impacts, t.zeno,
           t.energy_error, t.penetration, kinetic, start);
  CHECK_AT_MOST(kinetic, 1e-3 * start);
  CHECK_AT_MOST(t.energy_error, 1e-3);
  CHECK_AT_MOST(t.penetration, 1e-6);
  CHECK_AT_MOST(t.momentum_error, 1e-9);
  carom_stepper_destroy(stepper);
  free_world(&w);
}
