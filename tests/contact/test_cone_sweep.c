// Balls in number: the grid of cells against brute force, and sweeps in blocks that give the same bits however many
// threads share them.
#include <math.h>

#include "fixtures.h"
#include "contact/grains.h"

// ---- the grid -------------------------------------------------------------------------------------------------------

static int pairs_by_brute_force(const carom_grain *balls, int count) {
  int pairs = 0;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++) {
      double d = balls[i].radius + balls[j].radius + balls[i].reach + balls[j].reach;
      pairs += cm_norm2(cm_sub(balls[i].x, balls[j].x)) <= d * d;
    }
  return pairs;
}

static void check_grid(carom_vec3 size, uint64_t seed) {
  enum { COUNT = 600 };
  carom_grain_grid grid;
  carom_error error = {0};
  carom_allocator allocator = carom_allocator_default();
  carom_random random = carom_random_make(seed, 0);
  REQUIRE(carom_grain_grid_create(&grid, COUNT, &allocator, &error) == CAROM_OK);
  for (int i = 0; i < COUNT; i++) {
    carom_vec3 x = cm_vec3(carom_random_between(&random, 0, size.x), carom_random_between(&random, 0, size.y),
                           carom_random_between(&random, 0, size.z));
    grid.balls[i] = (carom_grain){
        .x = x, .radius = carom_random_between(&random, 0.02, 0.05), .reach = carom_random_between(&random, 0, 0.02)};
  }
  int wanted = pairs_by_brute_force(grid.balls, COUNT);
  for (int up = 0; up < 3; up++)
    for (int threads = 1; threads <= 3; threads += 2) {
      int found = 0;
      carom_grain_grid_sort(&grid, up, threads);
      REQUIRE(carom_grain_grid_pair(&grid, threads, &error) == CAROM_OK);
      for (int i = 0; i < COUNT; i++) found += grid.partner_count[i];
      CHECK(found == wanted);
    }
  carom_grain_grid_destroy(&grid);
}

TEST(the_grid_finds_every_pair_once) {
  check_grid(cm_vec3(1, 1, 1), 1);
  check_grid(cm_vec3(8, 0.5, 0.2), 2);  // long ones are sorted along themselves, whatever is up
  check_grid(cm_vec3(0.3, 5, 4), 3);
  check_grid(cm_vec3(1e-3, 1e-3, 20), 4);
}

// ---- sweeps ---------------------------------------------------------------------------------------------------------

static void add_ball(carom_builder *b, double r, carom_vec3 x, carom_vec3 v) {
  const carom_shape *ball = NULL;
  if (carom_shape_create_sphere(r, NULL, &ball, NULL) != CAROM_OK) abort();
  carom_part part = {.shape = ball, .pose = cm_pose_identity()};
  carom_body_def def = carom_body_default();
  def.parts = &part, def.part_count = 1, def.pose.p = x, def.velocity = v;
  carom_builder_add_body(b, &def);
  carom_shape_release(ball);
}

static carom_builder *inelastic_builder(carom_vec3 gravity) {
  carom_builder *b = new_builder();
  carom_material_def m = carom_material_default();
  m.friction = 0.5, m.restitution = 0;
  carom_builder_add_material(b, &m);
  carom_builder_set_gravity(b, gravity);
  return b;
}

// Balls that nearly touch, one above the other, on a floor: they slip off each other at once.
static world lattice(const int n[3], double r) {
  carom_builder *b = inelastic_builder(cm_vec3(0, 0, -9.81));
  carom_boundary_def floor = carom_boundary_default();
  carom_random random = carom_random_make(11, 0);
  for (int i = 0; i < n[0] * n[1] * n[2]; i++) {
    carom_vec3 x = cm_vec3(i % n[0], i / n[0] % n[1], i / n[0] / n[1] + 0.5);
    add_ball(b, r, cm_add(cm_scale(2.1 * r, x), random_vector(&random, 0.04 * r)), cm_zero3());
  }
  carom_builder_add_boundary(b, &floor);
  return finish_world(b);
}

static bool run(const world *w, int threads, int steps, carom_step_report *last) {
  carom_step_options o = carom_step_default_options();
  carom_stepper *stepper = NULL;
  carom_error error = {0};
  o.integrator = "cone", o.step = 0.01, o.threads = threads;
  bool fine = carom_stepper_create(w->model, &o, NULL, &stepper, &error) == CAROM_OK;
  for (int i = 0; i < steps && fine; i++) fine = carom_stepper_step(stepper, w->state, last, &error) == CAROM_OK;
  if (!fine) fprintf(stderr, "%s\n", error.message);
  carom_stepper_destroy(stepper);
  return fine;
}

static void check_threads(const int n[3], int steps) {
  uint64_t hash[2];
  for (int k = 0; k < 2; k++) {
    carom_step_report report;
    world w = lattice(n, 0.05);
    REQUIRE(run(&w, 1 + 2 * k, steps, &report));
    hash[k] = carom_state_hash(w.state);
    CHECK(report.iterations > 1);  // it did sweep
    CHECK_AT_MOST(report.penetration, 1e-2 * 0.05);
    free_world(&w);
  }
  CHECK(hash[0] == hash[1]);
}

// More than two blocks of balls: sweeps of even and odd ones run side by side.
TEST(blocks_of_a_column_change_no_bit) { check_threads((const int[]){9, 9, 22}, 9); }
TEST(blocks_of_a_flat_bed_change_no_bit) { check_threads((const int[]){90, 9, 2}, 12); }

// More contacts on one ball than there are colours: small balls fall upon a large one from all sides.
static world shell(int count, double R, double r, double speed) {
  carom_builder *b = inelastic_builder(cm_zero3());
  add_ball(b, R, cm_zero3(), cm_zero3());
  for (int i = 0; i < count; i++) {  // points of a golden spiral are far from each other
    double z = 1 - (2 * i + 1.0) / count, rho = sqrt(1 - z * z), angle = 2.399963229728653 * i;
    carom_vec3 n = cm_vec3(rho * cos(angle), rho * sin(angle), z);
    add_ball(b, r, cm_scale(R + 1.01 * r, n), cm_scale(-speed, n));
  }
  return finish_world(b);
}

static carom_vec3 momentum_of(const world *w) {
  carom_vec3 p = cm_zero3();
  for (int i = 0; i < w->state->body_count; i++) p = cm_add(p, w->state->p[i]);
  return p;
}

TEST(a_ball_may_have_more_contacts_than_colors) {
  enum { COUNT = 200 };
  double R = 0.5, r = 0.05, speed = 1;
  uint64_t hash[2];
  for (int k = 0; k < 2; k++) {
    carom_step_report report;
    world w = shell(COUNT, R, r, speed);
    double before = carom_kinetic_energy(w.model, w.state);
    carom_vec3 p = momentum_of(&w);
    REQUIRE(run(&w, k + 1, 2, &report));
    hash[k] = carom_state_hash(w.state);
    CHECK_AT_MOST(cm_norm(cm_sub(momentum_of(&w), p)), 1e-10);
    for (int i = 1; i <= COUNT; i++)
      CHECK_NEAR(cm_norm(cm_sub(w.state->x[i], w.state->x[0])), R + r, 1e-2 * r);  // all have arrived, none is inside
    CHECK_AT_MOST(carom_kinetic_energy(w.model, w.state), 1e-3 * before);
    free_world(&w);
  }
  CHECK(hash[0] == hash[1]);
}
