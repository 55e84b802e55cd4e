// Balls in number: the grid of cells against brute force, the sweeps against the general solver, and that sweeps in
// blocks give the same bits however many threads share them.
#include <math.h>

#include "contact/grains.h"
#include "contact/solve/balls.h"
#include "fixtures.h"

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

// ---- the backend ----------------------------------------------------------------------------------------------------

enum { SIDE = 6, BALLS = SIDE * SIDE * SIDE, MOST = 4 * BALLS };

typedef struct lattice_problem {
  carom_contact_body bodies[BALLS + 1];
  carom_contact_point contacts[MOST];
  int count;
} lattice_problem;

static void touch(lattice_problem *p, int a, int b, carom_vec3 normal, carom_random *random) {
  carom_contact_point *c = &p->contacts[p->count++];
  *c = (carom_contact_point){.a = a, .b = b, .friction = 0.4, .normal = normal};
  c->bias = carom_random_between(random, -0.01, 0.02);
  c->arm_a = cm_scale(-0.05, normal), c->arm_b = b < BALLS ? cm_scale(0.05, normal) : cm_vec3(1, 2, 3);
}

// Balls that fall at random on a floor, half of which is a belt, and against each other along the axes.
static lattice_problem *new_lattice(void) {
  lattice_problem *p = calloc(1, sizeof *p);
  carom_random random = carom_random_make(5, 0);
  const int next[3] = {1, SIDE, SIDE * SIDE};
  if (!p) abort();
  for (int i = 0; i < BALLS; i++) {
    int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
    double mass = carom_random_between(&random, 0.5, 2), inertia = 0.4 * mass * 0.05 * 0.05;
    p->bodies[i] = (carom_contact_body){.inverse_mass = 1 / mass,
                                        .inverse_inertia = {1 / inertia, 1 / inertia, 1 / inertia},
                                        .velocity = cm_add(cm_vec3(0, 0, -0.1), random_vector(&random, 0.5)),
                                        .spin = random_vector(&random, 3)};
    if (at[2] == 0) touch(p, i, at[0] % 2 ? BALLS : CAROM_CONTACT_WORLD, cm_vec3(0, 0, 1), &random);
    for (int k = 0; k < 3; k++)
      if (at[k] + 1 < SIDE) touch(p, i, i + next[k], cm_vec3(-(k == 0), -(k == 1), -(k == 2)), &random);
  }
  p->bodies[BALLS] = (carom_contact_body){.velocity = cm_vec3(0.3, 0, 0), .spin = cm_vec3(0, 0, 0.2)};
  return p;
}

// One problem, two backends, one answer: velocities are unique. Single precision is what tells them apart.
TEST(sweeps_of_balls_solve_the_problem_of_the_general_solver) {
  lattice_problem *p = new_lattice();
  carom_contact_problem problem = {
      .body_count = BALLS + 1, .contact_count = p->count, .bodies = p->bodies, .contacts = p->contacts};
  carom_allocator allocator = carom_allocator_default();
  carom_balls balls;
  carom_contact_work *work = NULL;
  carom_contact_info info, general;
  carom_error error = {0};
  static carom_vec3 impulses[2][MOST], v[2][BALLS + 1], w[2][BALLS + 1];
  carom_contact_solution solution[2];
  for (int k = 0; k < 2; k++)
    solution[k] = (carom_contact_solution){.impulses = impulses[k], .velocities = v[k], .spins = w[k]};
  REQUIRE(carom_balls_create(&balls, BALLS, &allocator, &error) == CAROM_OK);
  REQUIRE(carom_contact_work_create(NULL, &work, &error) == CAROM_OK);
  carom_contact_options loose = {.max_iterations = 2000, .tolerance = 1e-5, .velocity_scale = 1, .threads = 1};
  REQUIRE(carom_balls_solve(&balls, &problem, &loose, &solution[0], &info, &error) == CAROM_OK);
  CHECK(info.outcome == CAROM_CONTACT_SOLVED && info.iterations < 2000);
  CHECK_AT_MOST(info.residual, 1e-4);
  carom_contact_options exact = carom_contact_default_options();
  exact.tolerance = 1e-10, exact.max_iterations = 100000;
  REQUIRE(carom_contact_solve(work, &problem, &exact, &solution[1], &general, &error) == CAROM_OK);
  REQUIRE(general.outcome == CAROM_CONTACT_SOLVED);
  for (int i = 0; i <= BALLS; i++) {
    CHECK_NEAR(cm_norm(cm_sub(v[0][i], v[1][i])), 0, 1e-4);
    CHECK_NEAR(0.05 * cm_norm(cm_sub(w[0][i], w[1][i])), 0, 1e-4);
  }
  double told = info.residual;  // and the judge of the general solver finds the residual that the sweeps told of
  exact.velocity_scale = 1;
  REQUIRE(carom_contact_evaluate(work, &problem, &exact, &solution[0], &general, &error) == CAROM_OK);
  CHECK_NEAR(general.residual, told, 1e-12);
  carom_contact_work_destroy(work);
  carom_balls_destroy(&balls);
  free(p);
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
