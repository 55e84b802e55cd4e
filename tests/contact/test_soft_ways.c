// What contact of solids does in a stepper: it touches itself, is not passed through, goes on from a checkpoint, with
// any number of threads, from states that somebody edited, and without the heap.
#include "heap_counter.h"
#include "soft_runs.h"

static const double G = 9.81;

// ---- a world of everything ------------------------------------------------------------------------------------------

// Two blocks and a ball on a floor, askew.
static carom_builder *heap_of_things(double e, double mu) {
  carom_builder *b = new_builder();
  soft_block block = soft_cube(0.1, 2);
  carom_body_def ball = carom_body_default();
  put_material(b, e, mu);
  put_floor(b);
  block.at.z = 0.051, block.velocity.x = 0.1;
  put_soft(b, &block);
  block.at = cm_vec3(0.03, 0.02, 0.153), block.turn = cm_axis_angle(cm_vec3(0, 0, 1), 0.3), block.velocity.x = 0;
  put_soft(b, &block);
  ball.pose.p = cm_vec3(0.02, 0, 0.24), ball.velocity.x = 0.1;
  int put = put_shape(b, ball, sphere_shape(0.03));
  carom_builder_set_apart(b, 0, put);  // rigid against rigid needs shorter steps
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  return b;
}

// ---- itself ---------------------------------------------------------------------------------------------------------

static const double BEND = 0.03;  // radius, m

// A strip as a U that is open towards x: s along it, z through it.
static carom_vec3 as_a_u(carom_vec3 s) {
  double angle = s.x / BEND, quarter = acos(0);
  if (fabs(angle) < quarter) return cm_vec3(-(BEND + s.z) * cos(angle), s.y, (BEND + s.z) * sin(angle));
  return cm_vec3(fabs(s.x) - quarter * BEND, s.y, copysign(BEND + s.z, s.x));
}

static carom_vec3 closing(carom_vec3 x) { return cm_vec3(0, 0, copysign(fmax(0, x.x) / 0.1, -x.z)); }

// How far apart the insides of both ends are at the closest, m. They pass each other where that is less than nothing.
static double clap(const soft_method *method, bool self_contact) {
  carom_builder *b = new_builder();
  soft_block strip = soft_cube(0.1, 1);
  strip.size = cm_vec3(0.3, 0.02, 0.012);
  strip.cells[0] = 45, strip.cells[1] = 3, strip.cells[2] = 2;
  strip.bend = as_a_u, strip.flow = closing, strip.self_contact = self_contact;
  put_material(b, 1, 0);
  put_soft(b, &strip);
  soft_run r = soft_begin(b, method, 5e-4);
  double closest = INFINITY;
  for (int i = 0; i < 200 && soft_steps(&r, 1); i++) {
    double low = INFINITY, high = -INFINITY;
    for (int n = 0; n < r.world.model->node_count; n++) {
      carom_vec3 rest = r.world.model->rest[n];
      if (rest.x < 0.09) continue;
      if (rest.z > 0) low = fmin(low, r.world.state->nodes[n].z);
      if (rest.z < 0) high = fmax(high, r.world.state->nodes[n].z);
    }
    closest = fmin(closest, low - high);
  }
  CHECK((r.events > 0) == self_contact);
  soft_end(&r);
  return closest;
}

TEST(a_strip_that_closes_touches_itself_when_asked_to_long) {
  for (int k = 0; k < SOFT_METHODS; k++) {
    CHECK(clap(&soft_methods[k], true) > -3e-3);
    CHECK(clap(&soft_methods[k], false) < -0.02);
  }
}

// ---- through thin shells --------------------------------------------------------------------------------------------

// A ball at a plate: it comes back, or the step that would let it through is refused.
static void shoot(const soft_method *method, double speed) {
  carom_builder *b = new_builder();
  soft_block plate = soft_cube(0.1, 1);
  carom_body_def ball = carom_body_default();
  plate.size = cm_vec3(0.1, 0.1, 0.003), plate.young = 1e6;
  plate.cells[0] = plate.cells[1] = 8;
  put_material(b, 0.5, 0.3);
  put_soft(b, &plate);
  ball.pose.p = cm_vec3(0.004, 0.002, 0.02), ball.velocity.z = -speed;
  put_shape(b, ball, sphere_shape(0.01));
  soft_run r = soft_begin(b, method, 2.5e-4);
  bool said = false, through = false;
  while (r.world.state->time < 0.05 / fmin(speed, 10) && !said && !through) {
    said = !soft_try(&r);
    through = r.world.state->x[0].z < soft_center(&r, 0).z;
  }
  if (through) test_fail(__FILE__, __LINE__, "%s: a ball of %g m/s goes through", method->name, speed);
  if (said) CHECK(r.status == CAROM_NOT_CONVERGED);
  if (said) CHECK_CONTAINS(r.error.message, "use ");
  CHECK(said || r.events > 0);
  soft_end(&r);
}

TEST(no_ball_goes_through_a_thin_shell_unsaid_long) {
  for (int k = 0; k < SOFT_METHODS; k++)
    for (double speed = 0.5; speed < 200; speed *= 4) shoot(&soft_methods[k], speed);
}

// ---- checkpoints ----------------------------------------------------------------------------------------------------

TEST(a_run_goes_on_with_the_same_bits_long) {
  for (int k = 0; k < SOFT_METHODS; k++) {
    soft_run r = soft_begin(heap_of_things(0.5, 0.5), &soft_methods[k], 5e-4);
    soft_steps(&r, 150);
    CHECK(r.report.event_count > 0);
    carom_step_options options = soft_options(&soft_methods[k], 5e-4);
    carom_stepper *other = stepper_by(&r.world, &options);
    carom_state *state = NULL;
    size_t size = carom_stepper_memory(r.stepper, NULL, 0);
    void *memory = malloc(size);
    REQUIRE(carom_stepper_memory(r.stepper, memory, size) == size);
    REQUIRE(carom_state_clone(r.world.state, NULL, &state, NULL) == CAROM_OK);
    REQUIRE(carom_stepper_recall(other, memory, size, NULL) == CAROM_OK);
    for (int i = 0; i < 100; i++) {
      carom_step_report report;
      soft_steps(&r, 1);
      CHECK(carom_stepper_step(other, state, &report, NULL) == CAROM_OK);
      CHECK(carom_state_hash(state) == carom_state_hash(r.world.state));
      CHECK(report.event_count == r.report.event_count && report.stored == r.report.stored);
    }
    carom_state_destroy(state);
    carom_stepper_destroy(other);
    free(memory);
    soft_end(&r);
  }
}

TEST(a_broken_memory_is_refused) {
  soft_run r = soft_begin(heap_of_things(0.5, 0.5), &soft_methods[1], 5e-4);
  soft_steps(&r, 150);
  size_t size = carom_stepper_memory(r.stepper, NULL, 0);
  void *memory = malloc(size);
  REQUIRE(carom_stepper_memory(r.stepper, memory, size) == size);
  for (size_t cut = 1; cut < size; cut += size / 40)
    CHECK(carom_stepper_recall(r.stepper, memory, size - cut, NULL) != CAROM_OK);
  CHECK(carom_stepper_recall(r.stepper, memory, size, NULL) == CAROM_OK);
  soft_steps(&r, 5);
  free(memory);
  soft_end(&r);
}

// ---- threads --------------------------------------------------------------------------------------------------------

static uint64_t hash_with(const soft_method *method, int threads) {
  carom_step_options options = soft_options(method, 5e-4);
  options.threads = threads;
  soft_run r = soft_begin_with(heap_of_things(0.5, 0.5), &options);
  soft_steps(&r, 200);
  CHECK(r.events > 0);
  uint64_t hash = carom_state_hash(r.world.state);
  soft_end(&r);
  return hash;
}

TEST(any_number_of_threads_gives_the_same_bits_long) {
  for (int k = 0; k < SOFT_METHODS; k++) {
    uint64_t one = hash_with(&soft_methods[k], 1);
    CHECK(hash_with(&soft_methods[k], 2) == one);
    CHECK(hash_with(&soft_methods[k], 4) == one);
  }
}

// ---- edited states --------------------------------------------------------------------------------------------------

typedef enum edit { LIFT_NODES, PUSH_NODE, SPEED_NODES, MOVE_BODY, EDITS } edit;

static void edit_state(const soft_run *r, edit what) {
  carom_state *s = r->world.state;
  const carom_solid *solid = &r->world.model->solids[1];
  carom_pose pose = carom_state_pose(r->world.model, s, 1);
  for (int i = solid->node_start; i < solid->node_start + solid->node_count; i++) {
    if (what == LIFT_NODES) s->nodes[i].z += 0.02;
    if (what == SPEED_NODES) s->node_velocities[i].z -= 0.1;
  }
  if (what == PUSH_NODE) s->nodes[0].z += 0.004;
  pose.p.x += 0.003;
  if (what == MOVE_BODY) carom_state_set_pose(r->world.model, s, 1, pose);
}

// Without friction a stepper remembers nothing that another one would not find.
TEST(states_that_were_edited_are_taken_as_they_are) {
  for (int k = 0; k < SOFT_METHODS; k++)
    for (int what = 0; what < EDITS; what++) {
      double e = what == SPEED_NODES ? 1 : 0.5;
      soft_run r = soft_begin(heap_of_things(e, 0), &soft_methods[k], 5e-4);
      carom_step_options options = soft_options(&soft_methods[k], 5e-4);
      soft_steps(&r, 150);
      edit_state(&r, (edit)what);
      carom_state *state = NULL;
      REQUIRE(carom_state_clone(r.world.state, NULL, &state, NULL) == CAROM_OK);
      carom_stepper *fresh = stepper_by(&r.world, &options);
      for (int i = 0; i < 3; i++) {
        soft_steps(&r, 1);
        CHECK(carom_stepper_step(fresh, state, NULL, NULL) == CAROM_OK);
        CHECK(carom_state_hash(state) == carom_state_hash(r.world.state));
      }
      carom_stepper_destroy(fresh);
      carom_state_destroy(state);
      soft_end(&r);
    }
}

// ---- pushed by what is driven ---------------------------------------------------------------------------------------

TEST(a_driven_body_pushes_through_a_solid_that_it_holds) {
  for (int k = 0; k < SOFT_METHODS; k++) {
    carom_builder *b = new_builder();
    soft_block pad = soft_cube(0.1, 2);
    carom_body_def body = carom_body_default();
    carom_drive_def drive = carom_drive_default();
    put_material(b, 1, 0);
    int pusher = put_box(b, cm_vec3(0.1, 0.2, 0.2), cm_pose(cm_vec3(-0.1, 0, 0), cm_qidentity()), true);
    pad.velocity.x = 0.5;
    drive.body = pusher, drive.velocity = cm_vec3(0.5, 0, 0);
    carom_builder_add_drive(b, &drive);
    pin_soft(b, put_soft(b, &pad), &pad, pusher, at_the_back);
    body.pose.p = cm_vec3(0.12, 0.01, 0.005);
    int pushed = put_shape(b, body, box_shape(0.1, 0.08, 0.08));
    soft_run r = soft_begin(b, &soft_methods[k], 5e-4);
    soft_steps(&r, 600);
    carom_vec3 v = carom_state_velocity(r.world.model, r.world.state, pushed);
    CHECK(v.x > 0.5);
    CHECK(r.work > 0.05);
    CHECK_AT_MOST(soft_swing(&r), 0.02 * r.work);
    CHECK_AT_MOST(cm_norm(soft_momentum_drift(&r)), 1e-12);
    soft_end(&r);
  }
}

// ---- steel ----------------------------------------------------------------------------------------------------------

static soft_run steel(double e, double z, double v, int steps) {
  carom_builder *b = new_builder();
  soft_block block = soft_cube(0.1, 2);
  block.young = 2e11, block.density = 7800, block.at.z = 0.05 + z, block.velocity.z = v;
  put_material(b, e, 0.5);
  put_floor(b);
  put_soft(b, &block);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  soft_run r = soft_begin(b, &soft_methods[2], 1e-3);
  soft_steps(&r, steps);
  return r;
}

TEST(steel_rests_in_long_steps) {
  soft_run r = steel(0.5, 0.001, 0, 500);
  CHECK_NEAR(soft_center(&r, 0).z, 0.05, 1e-4);
  CHECK_AT_MOST(cm_norm(soft_velocity(&r, 0)), 1e-3);
  soft_end(&r);
}

TEST(steel_bounces_in_long_steps) {
  soft_run r = steel(1, 0.01, -1, 30);
  double as_fast_as_it_came = sqrt(1 + 2 * G * (0.06 - soft_center(&r, 0).z));
  CHECK_NEAR(soft_velocity(&r, 0).z, as_fast_as_it_came, 2e-3);
  CHECK_AT_MOST(soft_swing(&r) / r.energy, 1e-3);
  soft_end(&r);
}

// ---- the heap -------------------------------------------------------------------------------------------------------

static long calls_in(carom_stepper *stepper, carom_state *state, int steps) {
  long before = heap_calls;
  for (int i = 0; i < steps; i++)
    if (carom_stepper_step(stepper, state, NULL, NULL) != CAROM_OK) test_fail(__FILE__, __LINE__, "step %d failed", i);
  return heap_calls - before;
}

// The same way once more, with room for all the contacts that it has.
TEST(steps_do_not_ask_for_memory_long) {
  if (!MALLOC_COUNTED) test_skip("malloc cannot be counted in this build");
  for (int k = 0; k < SOFT_METHODS; k++) {
    soft_run r = soft_begin(heap_of_things(0.5, 0.5), &soft_methods[k], 5e-4);
    carom_state *start = NULL;
    size_t size = carom_stepper_memory(r.stepper, NULL, 0);
    void *memory = malloc(size);
    REQUIRE(memory && carom_state_clone(r.world.state, NULL, &start, NULL) == CAROM_OK);
    REQUIRE(carom_stepper_memory(r.stepper, memory, size) == size);
    CHECK(calls_in(r.stepper, r.world.state, 400) > 0);
    carom_state_copy(r.world.state, start);
    REQUIRE(carom_stepper_recall(r.stepper, memory, size, NULL) == CAROM_OK);
    CHECK(calls_in(r.stepper, r.world.state, 400) == 0);
    free(memory);
    carom_state_destroy(start);
    soft_end(&r);
  }
}
