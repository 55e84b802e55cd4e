// The same bits from any number of threads, from one run or two halves; and a step that never asks for memory.
#include "failing_allocator.h"
#include "fixtures.h"
#include "heap_counter.h"

enum { STEPS = 200 };
static const double STEP = 0x1p-9;  // a power of two, so that the clock is the same however it is added up

// ---- worlds --------------------------------------------------------------------------------------------------------

// An odd number of bodies, so that the last block of lanes is not full and threads get unequal shares.
static world falling_cloud(void) {
  carom_random r = carom_random_make(31, 0);
  carom_builder *b = new_builder();
  for (int i = 0; i < 1003; i++) {
    carom_body_def def = inert_body(carom_random_between(&r, 0.5, 2), random_moments(&r));
    def.pose = cm_pose(random_vector(&r, 5), random_rotation(&r));
    def.velocity = random_vector(&r, 1),
    def.angular_velocity = random_vector(&r, i % 10 ? 3 : 300);  // some turn in parts
    def.fixed = i % 17 == 3;
    if (def.fixed) def.velocity = def.angular_velocity = cm_zero3();
    carom_builder_add_body(b, &def);
  }
  carom_builder_set_gravity(b, cm_vec3(0.1, 0, -9.81));
  return finish_world(b);
}

// A net of bodies with springs, dampers, charges and a scheduled force.
static world net(void) {
  carom_random r = carom_random_make(32, 0);
  carom_builder *b = new_builder();
  enum { BODIES = 37 };
  for (int i = 0; i < BODIES; i++) {
    carom_body_def def = inert_body(carom_random_between(&r, 0.5, 2), random_moments(&r));
    def.pose = cm_pose(random_vector(&r, 3), random_rotation(&r));
    def.angular_velocity = random_vector(&r, 1);
    carom_builder_add_body(b, &def);
  }
  int set = carom_builder_add_charge_set(b, 0.2, 0.3);
  for (int i = 0; i < BODIES; i++) {
    carom_builder_add_charge(b, set, i, random_vector(&r, 0.2), carom_random_normal(&r));
    carom_spring_def s = carom_spring_default();
    s.body[0] = i, s.body[1] = i ? i - 1 : CAROM_WORLD, s.stiffness = 5, s.damping = i % 3 ? 0 : 0.1;
    s.point[0] = random_vector(&r, 0.2), s.point[1] = random_vector(&r, 0.2);
    carom_builder_add_spring(b, &s);
  }
  static const carom_knot knots[] = {{0, 0}, {0.2, 1}, {0.3, 0}};
  carom_force_def f = carom_force_default();
  f.body = 3, f.force = cm_vec3(1, 2, 3), f.point = cm_vec3(0.1, 0, 0), f.knots = knots, f.knot_count = 3;
  carom_builder_add_force(b, &f);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -1));
  return finish_world(b);
}

static carom_stepper *threaded_stepper(const world *w, carom_quadrature quadrature, int threads) {
  carom_step_options options = carom_step_default_options();
  options.integrator = "variational", options.nothing_meets = true;
  options.step = STEP, options.quadrature = quadrature, options.threads = threads;
  carom_stepper *stepper = NULL;
  if (carom_stepper_create(w->model, &options, NULL, &stepper, NULL) != CAROM_OK) abort();
  return stepper;
}

// ---- determinism ---------------------------------------------------------------------------------------------------

typedef struct outcome {
  uint64_t state, reports;
} outcome;

static uint64_t mix(uint64_t hash, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
  return hash;
}

// Hashes of the state after STEPS steps and of all that the stepper reported on the way.
static outcome run(world (*make)(void), carom_quadrature quadrature, int threads) {
  world w = make();
  carom_stepper *stepper = threaded_stepper(&w, quadrature, threads);
  outcome o = {0, 0xcbf29ce484222325u};
  for (int i = 0; i < STEPS; i++) {
    carom_step_report r;
    if (carom_stepper_step(stepper, w.state, &r, NULL) != CAROM_OK) abort();
    double figures[] = {r.residual,  r.iterations,        r.halvings,          r.impulse.x,         r.impulse.y,
                        r.impulse.z, r.angular_impulse.x, r.angular_impulse.y, r.angular_impulse.z, r.work};
    o.reports = mix(o.reports, figures, sizeof figures);
  }
  o.state = carom_state_hash(w.state);
  carom_stepper_destroy(stepper);
  free_world(&w);
  return o;
}

static void check_threads(world (*make)(void), carom_quadrature quadrature) {
  static const int threads[] = {2, 3, 7};
  outcome one = run(make, quadrature, 1);
  for (int i = 0; i < 3; i++) {
    outcome other = run(make, quadrature, threads[i]);
    CHECK(other.state == one.state);
    CHECK(other.reports == one.reports);
  }
}

TEST(free_bodies_do_not_depend_on_threads) { check_threads(falling_cloud, CAROM_QUADRATURE_ENDPOINT); }
TEST(fields_do_not_depend_on_threads_endpoint) { check_threads(net, CAROM_QUADRATURE_ENDPOINT); }
TEST(fields_do_not_depend_on_threads_midpoint) { check_threads(net, CAROM_QUADRATURE_MIDPOINT); }

// ---- in the caller's own threads

// Balls that fall on each other and on the floor.
static world falling_balls(void) {
  carom_builder *b = new_builder();
  carom_random r = carom_random_make(33, 0);
  carom_vec3 x[60];
  for (int i = 0; i < 60; i++)
    x[i] = cm_add(cm_scale(0.105, cm_vec3(i % 4, i / 4 % 4, i / 16 + 0.6)), random_vector(&r, 0.002));
  put_balls(b, 0.05, x, 60);
  put_shape(b, fixed_body(cm_zero3(), cm_qidentity()), floor_shape());
  carom_builder_set_gravity(b, cm_vec3(0, 0, -9.81));
  return finish_world(b);
}

static uint64_t hash_of_a_run(const char *integrator) {
  world w = falling_balls();
  carom_step_options options = carom_step_default_options();
  options.integrator = integrator, options.step = 2e-3;
  options.nothing_meets = strcmp(integrator, "variational") == 0;
  carom_stepper *stepper = stepper_by(&w, &options);
  run_steps(stepper, w.state, 100);
  uint64_t hash = carom_state_hash(w.state);
  carom_stepper_destroy(stepper);
  free_world(&w);
  return hash;
}

// Steppers of one thread each, in a parallel region of the caller: none may share its loops out to the others.
TEST(steppers_run_in_a_callers_own_team) {
  static const char *const names[] = {"variational", "cone", "dcr"};
  for (int k = 0; k < 3; k++) {
    uint64_t alone = hash_of_a_run(names[k]), together[3] = {0};
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < 3; i++) together[i] = hash_of_a_run(names[k]);
    for (int i = 0; i < 3; i++) CHECK(together[i] == alone);
  }
}

TEST(two_halves_make_a_whole) {
  world whole = falling_cloud(), halves = falling_cloud();
  carom_stepper *one = threaded_stepper(&whole, CAROM_QUADRATURE_ENDPOINT, 2);
  run_steps(one, whole.state, STEPS);
  for (int half = 0; half < 2; half++) {
    carom_stepper *fresh = threaded_stepper(&halves, CAROM_QUADRATURE_ENDPOINT, 1);
    run_steps(fresh, halves.state, STEPS / 2);
    carom_stepper_destroy(fresh);
  }
  CHECK(carom_state_hash(whole.state) == carom_state_hash(halves.state));
  CHECK(whole.state->step == STEPS && halves.state->step == STEPS);
  carom_stepper_destroy(one);
  free_world(&whole);
  free_world(&halves);
}

// A clock that is added up would be off by 1e-9 s after 1e6 steps; each reading here is one product.
TEST(the_clock_gathers_no_round_off) {
  world w = random_cloud(1, 1);
  carom_stepper *stepper = new_stepper(&w, 1e-3, CAROM_QUADRATURE_ENDPOINT);
  for (int i = 1; i <= 100000; i++) {
    run_steps(stepper, w.state, 1);
    if (w.state->time != i * 1e-3) {
      CHECK_NEAR(w.state->time, i * 1e-3, 0);
      break;
    }
  }
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(bad_options_are_refused) {
  world w = random_cloud(1, 1);
  carom_stepper *stepper = NULL;
  carom_step_options good = carom_step_default_options(), o;
  carom_error e = {0};
#define REFUSED(change, text)                                         \
  do {                                                                \
    o = good;                                                         \
    change;                                                           \
    CHECK(carom_stepper_create(w.model, &o, NULL, &stepper, &e) < 0); \
    CHECK_CONTAINS(e.message, text);                                  \
    CHECK(stepper == NULL);                                           \
  } while (0)
  REFUSED(o.integrator = "euler", "no integrator is named 'euler'");
  REFUSED(o.integrator = NULL, "no integrator is named");
  REFUSED(o.step = 0, "'step' must be greater than 0, got 0 s");
  REFUSED(o.step = NAN, "got nan s");
  REFUSED(o.step = INFINITY, "got inf s");
  REFUSED(o.tolerance = 0, "tolerance");
  REFUSED(o.max_iterations = 0, "max_iterations");
  REFUSED(o.max_halvings = -1, "'max_halvings' must be a whole number from 0 to 20, got -1");
  REFUSED(o.max_halvings = 21, "got 21");
  REFUSED(o.threads = -1, "got -1");
#undef REFUSED
  CHECK_TEXT(carom_integrator_name(0), "variational");
  CHECK(carom_integrator_name(-1) == NULL && carom_integrator_summary(1000) == NULL);
  world two = random_cloud(2, 1);
  REQUIRE(carom_stepper_create(w.model, NULL, NULL, &stepper, &e) == CAROM_OK);
  CHECK(carom_stepper_step(stepper, two.state, NULL, &e) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(e.message, "the state has 2 bodies, the model 1");
  carom_stepper_destroy(stepper);
  free_world(&two);
  free_world(&w);
}

// ---- allocations ---------------------------------------------------------------------------------------------------

static void check_allocations(world (*make)(void), carom_quadrature quadrature, int threads) {
  world w = make();
  failing_allocator counting = {.allowed = -1};
  carom_allocator a = failing_allocator_of(&counting);
  carom_step_options options = carom_step_default_options();
  options.integrator = "variational", options.nothing_meets = true;
  options.quadrature = quadrature, options.threads = threads;
  carom_stepper *stepper = NULL;
  REQUIRE(carom_stepper_create(w.model, &options, &a, &stepper, NULL) == CAROM_OK);
  CHECK(counting.calls > 0);
  int own = counting.calls;
  run_steps(stepper, w.state, 1);  // the OpenMP runtime sets up its team once per thread count
  long heap = heap_calls;
  run_steps(stepper, w.state, 50);
  CHECK(heap_calls == heap);
  CHECK(counting.calls == own);
  carom_stepper_destroy(stepper);
  CHECK(counting.live == 0);
  free_world(&w);
}

TEST(the_heap_counter_counts) {
  if (!MALLOC_COUNTED) test_skip("malloc cannot be counted in this build");
  long before = heap_calls;
  void *volatile block = malloc(10);
  free(block);
  CHECK(heap_calls == before + 1);
}

TEST(steps_of_free_bodies_never_allocate) {
  check_allocations(falling_cloud, CAROM_QUADRATURE_ENDPOINT, 1);
  check_allocations(falling_cloud, CAROM_QUADRATURE_ENDPOINT, 2);
}

TEST(steps_under_fields_never_allocate) {
  for (int threads = 1; threads <= 2; threads++) {
    check_allocations(net, CAROM_QUADRATURE_ENDPOINT, threads);
    check_allocations(net, CAROM_QUADRATURE_MIDPOINT, threads);
  }
}

TEST(the_audit_never_allocates) {
  world w = net();
  carom_stepper *stepper = new_stepper(&w, 1e-3, CAROM_QUADRATURE_ENDPOINT);
  carom_audit *audit = NULL;
  REQUIRE(carom_audit_create(w.model, w.state, NULL, &audit, NULL) == CAROM_OK);
  run_steps(stepper, w.state, 1);
  long heap = heap_calls;
  for (int i = 0; i < 20; i++) {
    carom_step_report report;
    REQUIRE(carom_stepper_step(stepper, w.state, &report, NULL) == CAROM_OK);
    carom_audit_step(audit, w.state, &report);
  }
  carom_audit_judge(audit, NULL);
  CHECK(heap_calls == heap);
  carom_audit_destroy(audit);
  carom_stepper_destroy(stepper);
  free_world(&w);
}
