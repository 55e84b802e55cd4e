// Steps do not ask for memory once their contacts have been as many as they will be: in the second second of a pile no
// integrator calls the heap, nor does a library beneath it. Counted per step, by every call of malloc in the process.
#include "failing_allocator.h"
#include "fixtures.h"
#include "heap_counter.h"
#include "pushes.h"

// ---- worlds --------------------------------------------------------------------------------------------------------

static const double SIZE = 0.1;  // of a body, m

// Layers of bodies, each a little askew, fall a little way between four walls and come to rest on the floor and on each
// other.
static world pile(int side, int layers, const carom_shape *(*shape)(int)) {
  carom_random r = carom_random_make(77, 0);
  carom_builder *b = new_builder();
  put_material(b, 0.2, 0.4);
  carom_body_def ground = carom_body_default();
  ground.fixed = true;
  put_shape(b, ground, floor_shape());
  double reach = 0.5 * side * 1.1 * SIZE, height = 1, thick = SIZE;
  for (int k = 0; k < 4; k++) {
    double angle = k * acos(0), away = reach + thick / 2;
    carom_pose pose =
        cm_pose(cm_vec3(away * cos(angle), away * sin(angle), height / 2), cm_axis_angle(cm_vec3(0, 0, 1), angle));
    put_box(b, cm_vec3(thick, 4 * reach, height), pose, true);
  }
  for (int i = 0; i < side * side * layers; i++) {
    carom_body_def def = carom_body_default();
    int x = i % side, y = i / side % side, z = i / side / side;
    carom_vec3 place = cm_vec3(x - 0.5 * (side - 1), y - 0.5 * (side - 1), z + 0.55);
    def.pose = cm_pose(cm_add(cm_scale(1.08 * SIZE, place), random_vector(&r, 0.002)), cm_exp(random_vector(&r, 0.03)));
    put_shape(b, def, shape(i));
  }
  carom_builder_set_gravity(b, cm_vec3(0, 0, -9.81));
  return finish_world(b);
}

static const carom_shape *ball(int i) { return (void)i, sphere_shape(SIZE / 2); }

static const carom_shape *block(int i) {
  return i % 3 == 1 ? prism_shape(6, SIZE / 2, SIZE) : box_shape(SIZE, SIZE, i % 3 ? 0.7 * SIZE : SIZE);
}

static world balls(void) { return pile(2, 2, ball); }
static world few_balls(void) { return pile(2, 1, ball); }
static world blocks(void) { return pile(2, 2, block); }
static world tower(void) { return pile(1, 3, block); }

// A chain of rods from the world that closes on itself, swinging.
static world loop(void) {
  enum { RODS = 5 };
  carom_builder *b = new_builder();
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_SPHERICAL, joint.at_start = true;
  for (int i = 0; i < RODS; i++) {
    double angle = acos(-1) / RODS * (i + 0.5), x = -cos(angle), z = -sin(angle);
    double next = acos(-1) / RODS * (i + 1), before = acos(-1) / RODS * i;
    int body =
        put_box(b, cm_vec3(0.05, 0.05, 0.4), cm_pose(cm_vec3(x, 0, z), cm_axis_angle(cm_vec3(0, 1, 0), angle)), false);
    joint.body[0] = i ? body - 1 : CAROM_WORLD, joint.body[1] = body;
    joint.point[0] = cm_vec3(-cos(before), 0, -sin(before));
    carom_builder_add_joint(b, &joint);
    if (i + 1 < RODS) continue;
    joint.body[0] = CAROM_WORLD, joint.point[0] = cm_vec3(-cos(next), 0, -sin(next));
    carom_builder_add_joint(b, &joint);
  }
  carom_builder_set_gravity(b, cm_vec3(0.5, 1, -9.81));
  return finish_world(b);
}

// A part that is pushed off its middle for as long as the trials are.
static world pushed(void) {
  push_world p = push_world_default();
  p.probes = 2;
  p.x[0] = 0.1, p.y[0] = -0.4 - p.radius, p.v[0] = 0.1;
  p.x[1] = -0.3, p.y[1] = -0.42 - p.radius, p.v[1] = 0.09;
  return push_world_make(&p);
}

// ---- counting ------------------------------------------------------------------------------------------------------

typedef struct trial {
  const char *integrator;
  world (*make)(void);
  double step;         // s
  double penetration;  // m; of soft contacts
  const char *solver;
  double tolerance;  // of the solver
  int threads;
} trial;

typedef struct subject {
  world world;
  carom_stepper *stepper;
  int steps;   // in a second
  int events;  // so far
} subject;

static carom_step_options options_of(const trial *t) {
  carom_step_options o = carom_step_default_options();
  o.integrator = t->integrator, o.step = t->step, o.solver = t->solver;
  o.nothing_meets = !carom_integrator_honours(carom_integrator_find(t->integrator), CAROM_TRAIT_CONTACTS);
  if (t->tolerance > 0) o.solver_tolerance = t->tolerance;
  if (t->threads) o.threads = t->threads;
  if (t->penetration > 0) o.penetration = t->penetration;
  return o;
}

static subject begin(const trial *t) {
  carom_step_options o = options_of(t);
  subject s = {.world = t->make(), .steps = (int)lround(1 / t->step)};
  s.stepper = stepper_by(&s.world, &o);
  return s;
}

// Calls of the heap in the steps of a second.
static long calls_in_a_second(subject *s) {
  long before = heap_calls;
  for (int i = 0; i < s->steps; i++) {
    carom_step_report report;
    carom_error error = {0};
    if (carom_stepper_step(s->stepper, s->world.state, &report, &error) != CAROM_OK) {
      test_fail(__FILE__, __LINE__, "%s", error.message);
      break;
    }
    s->events += report.event_count;
  }
  return heap_calls - before;
}

// A second to warm up, and one in which nothing may be asked for. Then the first second once more by the same stepper,
// which has room for all of its contacts by now: nothing may be asked for from the first step on. It takes the same
// way, bit for bit, however much room there is.
static void check(trial t) {
  if (!MALLOC_COUNTED) test_skip("malloc cannot be counted in this build");
  subject s = begin(&t);
  carom_state *start = NULL;
  size_t size = carom_stepper_memory(s.stepper, NULL, 0);
  void *memory = malloc(size);
  REQUIRE(memory && carom_state_clone(s.world.state, NULL, &start, NULL) == CAROM_OK);
  long before = heap_calls;
  CHECK(carom_stepper_memory(s.stepper, memory, size) == size && heap_calls == before);
  calls_in_a_second(&s);
  uint64_t hash = carom_state_hash(s.world.state);
  CHECK((s.events > 0) == (t.make != loop));
  CHECK(calls_in_a_second(&s) == 0);
  carom_state_copy(s.world.state, start);
  REQUIRE(carom_stepper_recall(s.stepper, memory, size, NULL) == CAROM_OK);
  CHECK(calls_in_a_second(&s) == 0);
  CHECK(carom_state_hash(s.world.state) == hash);
  free(memory);
  carom_state_destroy(start);
  carom_stepper_destroy(s.stepper);
  free_world(&s.world);
}

// ---- refusals ------------------------------------------------------------------------------------------------------

// The same trial with a heap that refuses the first request, then the second, and so on, in set-up and in each step.
// What cannot be had is told as such, leaves the state as it was, bit for bit, and the step that is taken then is that
// of a run that was never disturbed.
typedef struct refused {
  const trial *trial;
  world world;
  carom_stepper *stepper;
  carom_state *before;
  failing_allocator heap;
  bool process;  // the heap of the whole process refuses instead, in steps: the libraries beneath feel it, too
  int refusals;
} refused;

static carom_status step_with(refused *r, int served, carom_step_report *report, carom_error *error) {
  r->heap.allowed = r->process ? -1 : r->heap.calls + served;
  heap_left = r->process ? served : LONG_MAX;
  carom_status status = carom_stepper_step(r->stepper, r->world.state, report, error);
  heap_left = LONG_MAX;
  return status;
}

static void create_refused(refused *r) {
  carom_allocator allocator = failing_allocator_of(&r->heap);
  carom_step_options o = options_of(r->trial);
  carom_status status = CAROM_ERR_MEMORY;
  for (int k = 0; status != CAROM_OK && k < 10000; k++) {
    carom_error error = {0};
    r->heap = (failing_allocator){.allowed = k};
    status = carom_stepper_create(r->world.model, &o, &allocator, &r->stepper, &error);
    if (status == CAROM_OK) break;
    CHECK(status == CAROM_ERR_MEMORY && error.status == CAROM_ERR_MEMORY && !r->stepper && r->heap.live == 0);
    r->refusals++;
  }
  REQUIRE(status == CAROM_OK);
}

static void step_refused(refused *r) {
  carom_status status = CAROM_ERR_MEMORY;
  carom_state_copy(r->before, r->world.state);
  for (int k = 0; status == CAROM_ERR_MEMORY && k < 10000; k++) {
    carom_error error = {0};
    carom_step_report report;
    status = step_with(r, k, &report, &error);
    CHECK(status == report.status && (status == CAROM_OK || error.message[0]));
    if (status == CAROM_OK) break;
    CHECK(carom_state_hash(r->world.state) == carom_state_hash(r->before));
    if (status != CAROM_ERR_MEMORY) test_fail(__FILE__, __LINE__, "refusal %d was told as: %s", k, error.message);
    r->refusals++;
  }
}

static void check_refusals_of(trial t, bool process) {
  subject whole = begin(&t);
  refused r = {.trial = &t, .world = t.make(), .process = process};
  int refusals_of_set_up, steps = whole.steps / 16;
  REQUIRE(carom_state_clone(r.world.state, NULL, &r.before, NULL) == CAROM_OK);
  create_refused(&r);
  refusals_of_set_up = r.refusals;
  for (int i = 0; i < steps && test_failures == 0; i++) {
    carom_stepper_step(whole.stepper, whole.world.state, NULL, NULL);
    step_refused(&r);
    CHECK(carom_state_hash(r.world.state) == carom_state_hash(whole.world.state));
  }
  CHECK(refusals_of_set_up > 0 && (r.refusals > refusals_of_set_up || t.make == loop));
  carom_stepper_destroy(r.stepper);
  CHECK(r.heap.live == 0);
  carom_state_destroy(r.before);
  free_world(&r.world);
  carom_stepper_destroy(whole.stepper);
  free_world(&whole.world);
}

static void check_refusals(trial t) {
  check_refusals_of(t, false);
  if (MALLOC_COUNTED) check_refusals_of(t, true);
}

// ---- cases ---------------------------------------------------------------------------------------------------------

TEST(the_counter_counts) {
  if (!MALLOC_COUNTED) test_skip("malloc cannot be counted in this build");
  long before = heap_calls;
  void *volatile block = malloc(10);
  block = realloc(block, 20);
  free(block);
  block = calloc(2, 10);
  free(block);
  block = aligned_alloc(64, 64);
  free(block);
  CHECK(heap_calls == before + 4);
}

TEST(variational) {
  check((trial){"variational", loop, .step = 2e-3});
  check((trial){"variational", loop, .step = 2e-3, .threads = 2});
}
TEST(index2) { check((trial){"index2", loop, .step = 2e-3}); }
TEST(index3) { check((trial){"index3", loop, .step = 2e-3}); }

TEST(exact_balls) { check((trial){"exact", few_balls, .step = 2e-3}); }
TEST(exact_tower) { check((trial){"exact", tower, .step = 2e-3}); }
TEST(exact_joints) { check((trial){"exact", loop, .step = 2e-3}); }

TEST(dcr_balls) { check((trial){"dcr", balls, .step = 2e-3}); }
TEST(dcr_blocks) { check((trial){"dcr", blocks, .step = 2e-3}); }
TEST(dcr_joints) { check((trial){"dcr", loop, .step = 2e-3}); }

TEST(potential_balls) { check((trial){"potential", balls, .step = 1e-4, .penetration = 3e-3}); }
TEST(potential_tower) { check((trial){"potential", tower, .step = 1e-4, .penetration = 3e-3}); }
TEST(potential_joints) { check((trial){"potential", loop, .step = 2e-4, .penetration = 3e-2}); }

TEST(newmark_balls) { check((trial){"newmark", balls, .step = 1e-4, .penetration = 3e-3}); }
TEST(newmark_tower) { check((trial){"newmark", tower, .step = 1e-4, .penetration = 3e-3}); }

TEST(moreau_balls) { check((trial){"moreau", balls, .step = 2e-3}); }
TEST(moreau_blocks) { check((trial){"moreau", blocks, .step = 2e-3}); }
TEST(moreau_joints) { check((trial){"moreau", loop, .step = 2e-3}); }
TEST(moreau_solvers) {
  static const char *const solvers[] = {"lemke", "pgs", "newton"};
  for (int i = 0; i < 3; i++) check((trial){"moreau", tower, .step = 2e-3, .solver = solvers[i], .tolerance = 1e-3});
}

TEST(cone_balls) {
  check((trial){"cone", balls, .step = 2e-3});
  check((trial){"cone", balls, .step = 2e-3, .threads = 2});
}
TEST(cone_blocks) { check((trial){"cone", blocks, .step = 2e-3}); }
TEST(cone_joints) { check((trial){"cone", loop, .step = 2e-3}); }
TEST(cone_solvers) {
  static const char *const solvers[] = {"pgs", "apgd", "spg"};
  for (int i = 0; i < 3; i++) check((trial){"cone", tower, .step = 2e-3, .solver = solvers[i]});
}

TEST(quasistatic) { check((trial){"quasistatic", pushed, .step = 2e-3}); }

TEST(refusals_exact) {
  check_refusals((trial){"exact", balls, .step = 2e-3});
  check_refusals((trial){"exact", tower, .step = 2e-3});
}
TEST(refusals_dcr) {
  check_refusals((trial){"dcr", balls, .step = 2e-3});
  check_refusals((trial){"dcr", blocks, .step = 2e-3});
  check_refusals((trial){"dcr", loop, .step = 2e-3});
}
TEST(refusals_potential) { check_refusals((trial){"potential", tower, .step = 1e-4, .penetration = 3e-3}); }
TEST(refusals_newmark) { check_refusals((trial){"newmark", balls, .step = 1e-4, .penetration = 3e-3}); }
TEST(refusals_moreau) {
  static const char *const solvers[] = {"lemke", "pgs", "newton"};
  check_refusals((trial){"moreau", blocks, .step = 2e-3});
  for (int i = 0; i < 3; i++)
    check_refusals((trial){"moreau", tower, .step = 2e-3, .solver = solvers[i], .tolerance = 1e-3});
}
TEST(refusals_cone) {
  check_refusals((trial){"cone", balls, .step = 2e-3});
  check_refusals((trial){"cone", blocks, .step = 2e-3, .threads = 2});
  check_refusals((trial){"cone", loop, .step = 2e-3});
}
TEST(refusals_quasistatic) { check_refusals((trial){"quasistatic", pushed, .step = 2e-3}); }
TEST(refusals_without_contacts) {
  check_refusals((trial){"variational", loop, .step = 2e-3});
  check_refusals((trial){"index2", loop, .step = 2e-3});
  check_refusals((trial){"index3", loop, .step = 2e-3});
}

// An integrator that is added gets its cases here, too.
TEST(every_integrator_has_a_case) {
  static const char *const counted[] = {"variational", "exact",  "dcr",    "potential",   "newmark", "moreau",
                                        "cone",        "index2", "index3", "quasistatic", NULL};
  for (int i = 0; carom_integrator_name(i); i++) {
    const char *const *name = counted;
    while (*name && strcmp(*name, carom_integrator_name(i)) != 0) name++;
    if (!*name) test_fail(__FILE__, __LINE__, "no case counts the allocations of '%s'", carom_integrator_name(i));
  }
}
