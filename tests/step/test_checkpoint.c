// Runs that are stopped and continued are the same, bit for bit, as runs that go through.
#include "fixtures.h"

static world charged_world(void) {
  carom_random r = carom_random_make(5, 0);
  carom_builder *b = new_builder();
  int set = carom_builder_add_charge_set(b, 0.5, 0.1);
  for (int i = 0; i < 6; i++) {
    carom_body_def def = inert_body(1, random_moments(&r));
    def.pose = cm_pose(random_vector(&r, 2), random_rotation(&r));
    def.velocity = random_vector(&r, 0.5);
    def.angular_velocity = random_vector(&r, 2);
    int body = carom_builder_add_body(b, &def);
    carom_builder_add_charge(b, set, body, random_vector(&r, 0.1), i % 2 ? 1 : -1);
  }
  return finish_world(b);
}

// A chain on dampers and springs.
static world damped_world(void) {
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -9.81));
  for (int i = 0; i < 3; i++) {
    carom_body_def def = inert_body(1, cm_vec3(0.02, 0.03, 0.04));
    def.pose.p = cm_vec3(0.5 * i + 0.25, 0, 0);
    int body = carom_builder_add_body(b, &def);
    carom_joint_def joint = carom_joint_default();
    joint.kind = CAROM_JOINT_REVOLUTE;
    joint.body[0] = i == 0 ? CAROM_WORLD : body - 1;
    joint.body[1] = body;
    joint.at_start = true;
    joint.point[0] = cm_vec3(0.5 * i, 0, 0);
    joint.axis[0] = cm_vec3(0.1, 1, 0);
    joint.turn.damping = 0.05;
    joint.turn.stiffness = 0.5;
    carom_builder_add_joint(b, &joint);
  }
  return finish_world(b);
}

// Boxes that fall on a table, rock and come to rest; two of them are joined.
static world falling_world(bool joint) {
  carom_random r = carom_random_make(9, 0);
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -9.81));
  put_box(b, cm_vec3(4, 4, 0.2), cm_pose(cm_vec3(0, 0, -0.1), cm_qidentity()), true);
  for (int i = 0; i < 4; i++)
    put_box(b, cm_vec3(0.2, 0.3, 0.25), cm_pose(cm_vec3(0.5 * i - 0.75, 0, 0.3), random_rotation(&r)), false);
  if (joint) {
    carom_joint_def def = carom_joint_default();
    def.kind = CAROM_JOINT_SPHERICAL;
    def.body[0] = 1;
    def.body[1] = 2;
    def.at_start = true;
    def.point[0] = cm_vec3(-0.5, 0, 0.3);
    carom_builder_add_joint(b, &def);
  }
  return finish_world(b);
}

// Charged boxes that fall together and on a table.
static world sticky_world(void) {
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -9.81));
  int set = carom_builder_add_charge_set(b, 1, 0.1);
  put_box(b, cm_vec3(4, 4, 0.2), cm_pose(cm_vec3(0, 0, -0.1), cm_qidentity()), true);
  for (int i = 0; i < 2; i++) {
    carom_quat q = cm_axis_angle(cm_vec3(1, 2, 3), 0.3 * i);
    int body = put_box(b, cm_vec3(0.2, 0.2, 0.2), cm_pose(cm_vec3(0.3 * i, 0.02 * i, 0.2), q), false);
    carom_builder_add_charge(b, set, body, cm_vec3(0, 0.02, 0), i % 2 ? 1 : -1);
  }
  return finish_world(b);
}

static carom_step_options options_of(const char *integrator, carom_quadrature quadrature) {
  carom_step_options options = carom_step_default_options();
  options.integrator = integrator;
  options.quadrature = quadrature;
  options.step = 2e-3;
  options.nothing_meets = strcmp(integrator, "variational") == 0;
  if (strcmp(integrator, "potential") == 0 || strcmp(integrator, "newmark") == 0) options.penetration = 0.03;
  return options;
}

// A stepper's memory and the state that goes with it.
typedef struct checkpoint {
  void *memory;
  size_t size;
  carom_state *state;
} checkpoint;

static checkpoint take_checkpoint(const carom_stepper *stepper, const carom_state *state) {
  checkpoint c = {.size = carom_stepper_memory(stepper, NULL, 0)};
  c.memory = malloc(c.size);
  CHECK(carom_stepper_memory(stepper, c.memory, c.size) == c.size);
  if (carom_state_clone(state, NULL, &c.state, NULL) != CAROM_OK) abort();
  return c;
}

static void free_checkpoint(checkpoint *c) {
  free(c->memory);
  carom_state_destroy(c->state);
}

// Continues with a new stepper and compares with the state that the whole run came to. Bytes that are cut off must be
// refused, and leave no trace once the whole of them is recalled.
static void check_continued(const world *w, const carom_step_options *options, checkpoint *c, int steps, uint64_t hash,
                            const char *what) {
  carom_stepper *second = stepper_by(w, options);
  carom_error error = {0};
  if (carom_stepper_recall(second, c->memory, c->size, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s: %s", what, error.message);
  CHECK(carom_stepper_recall(second, c->memory, c->size - 1, &error) == CAROM_ERR_FORMAT);
  REQUIRE(carom_stepper_recall(second, c->memory, c->size, &error) == CAROM_OK);
  run_steps(second, c->state, steps);
  if (carom_state_hash(c->state) != hash)
    test_fail(__FILE__, __LINE__, "%s goes another way in the last %d steps", what, steps);
  carom_stepper_destroy(second);
}

enum { SPLITS = 5 };

// One run through all `steps`, and others that begin at SPLITS points of it. Returns the kinetic energy at the end.
static double check_splits(world w, carom_step_options options, int steps) {
  carom_stepper *whole = stepper_by(&w, &options);
  checkpoint kept[SPLITS];
  int at[SPLITS], done = 0;
  for (int i = 0; i < SPLITS; i++) {
    at[i] = (i + 1) * steps / (SPLITS + 1) + i % 2;
    run_steps(whole, w.state, at[i] - done);
    done = at[i];
    kept[i] = take_checkpoint(whole, w.state);
  }
  run_steps(whole, w.state, steps - done);
  uint64_t hash = carom_state_hash(w.state);
  double energy = carom_kinetic_energy(w.model, w.state);
  for (int i = 0; i < SPLITS; i++) {
    check_continued(&w, &options, &kept[i], steps - at[i], hash, options.integrator);
    free_checkpoint(&kept[i]);
  }
  carom_stepper_destroy(whole);
  free_world(&w);
  return energy;
}

static void check_split(world w, const char *integrator, carom_quadrature quadrature, int steps) {
  check_splits(w, options_of(integrator, quadrature), steps);
}

// Until the boxes lie still, and beyond.
static void check_rest(bool joint, const char *integrator, int steps) {
  double energy = check_splits(falling_world(joint), options_of(integrator, CAROM_QUADRATURE_ENDPOINT), steps);
  if (getenv("CAROM_TEST_VERBOSE")) printf("%s: kinetic energy %.2g J at the end\n", integrator, energy);
  CHECK_AT_MOST(energy, 1e-3);
}

TEST(variational_endpoint) { check_split(charged_world(), "variational", CAROM_QUADRATURE_ENDPOINT, 300); }
TEST(variational_midpoint) { check_split(charged_world(), "variational", CAROM_QUADRATURE_MIDPOINT, 300); }
TEST(variational_joints) { check_split(falling_world(true), "variational", CAROM_QUADRATURE_ENDPOINT, 300); }
TEST(variational_damped_joints) { check_split(damped_world(), "variational", CAROM_QUADRATURE_ENDPOINT, 300); }
TEST(variational_midpoint_joints) { check_split(damped_world(), "variational", CAROM_QUADRATURE_MIDPOINT, 300); }
TEST(moreau) { check_split(falling_world(false), "moreau", CAROM_QUADRATURE_ENDPOINT, 300); }
TEST(moreau_with_joints) { check_split(falling_world(true), "moreau", CAROM_QUADRATURE_ENDPOINT, 300); }
TEST(moreau_with_fields) { check_split(sticky_world(), "moreau", CAROM_QUADRATURE_ENDPOINT, 300); }
TEST(exact) { check_split(falling_world(false), "exact", CAROM_QUADRATURE_ENDPOINT, 300); }
TEST(exact_with_joints) { check_split(falling_world(true), "exact", CAROM_QUADRATURE_ENDPOINT, 120); }
TEST(exact_with_fields) { check_split(sticky_world(), "exact", CAROM_QUADRATURE_MIDPOINT, 100); }
TEST(exact_at_rest) { check_rest(false, "exact", 1000); }
TEST(dcr) { check_split(falling_world(false), "dcr", CAROM_QUADRATURE_ENDPOINT, 300); }
TEST(dcr_with_joints) { check_split(falling_world(true), "dcr", CAROM_QUADRATURE_ENDPOINT, 300); }
TEST(dcr_with_fields) { check_split(sticky_world(), "dcr", CAROM_QUADRATURE_MIDPOINT, 300); }
TEST(dcr_at_rest) { check_rest(false, "dcr", 1000); }
TEST(potential) { check_split(falling_world(false), "potential", CAROM_QUADRATURE_ENDPOINT, 600); }
TEST(potential_with_fields) { check_split(sticky_world(), "potential", CAROM_QUADRATURE_MIDPOINT, 300); }
TEST(newmark) { check_split(falling_world(false), "newmark", CAROM_QUADRATURE_ENDPOINT, 600); }
TEST(cone) { check_split(falling_world(false), "cone", CAROM_QUADRATURE_ENDPOINT, 300); }
TEST(cone_with_joints) { check_split(falling_world(true), "cone", CAROM_QUADRATURE_ENDPOINT, 300); }

// No number in the place of any eight bytes that begin at a multiple of four: a stepper refuses such a memory, or goes
// on from it to numbers.
static void check_poisoned(const char *integrator, int numbers) {
  world w = falling_world(true);
  carom_step_options options = options_of(integrator, CAROM_QUADRATURE_ENDPOINT);
  carom_stepper *stepper = stepper_by(&w, &options);
  const double poison = NAN;
  int refused = 0;
  run_steps(stepper, w.state, 150);
  checkpoint c = take_checkpoint(stepper, w.state);
  for (size_t at = 0; at + sizeof poison <= c.size; at += 4) {
    unsigned char *place = (unsigned char *)c.memory + at, kept[sizeof poison];
    carom_state *state = NULL;
    carom_step_report report;
    memcpy(kept, place, sizeof kept);
    memcpy(place, &poison, sizeof poison);
    REQUIRE(carom_state_clone(c.state, NULL, &state, NULL) == CAROM_OK);
    if (carom_stepper_recall(stepper, c.memory, c.size, NULL) != CAROM_OK)
      refused++;
    else if (carom_stepper_step(stepper, state, &report, NULL) == CAROM_OK)
      for (int i = 0; i < w.model->body_count; i++) CHECK(cm_finite(state->x[i]) && cm_finite(state->p[i]));
    memcpy(place, kept, sizeof kept);
    carom_state_destroy(state);
  }
  if (getenv("CAROM_TEST_VERBOSE")) printf("%s: %d of %zu refused\n", integrator, refused, c.size / 4);
  CHECK(refused >= numbers);  // there are so many that a step may begin from
  free_checkpoint(&c);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(poisoned_moreau) { check_poisoned("moreau", 140); }
TEST(poisoned_dcr) { check_poisoned("dcr", 90); }
TEST(poisoned_cone) { check_poisoned("cone", 80); }
TEST(poisoned_exact) { check_poisoned("exact", 60); }

// The clock in front of a memory: a step that no run comes to, and a time that is none.
TEST(a_clock_beyond_all_steps_is_refused) {
  static const int64_t steps[] = {INT64_MIN, -1, INT64_MAX};
  enum { BASE_TIME = 40, BASE_STEP = 56 };  // where they are in the memory
  world w = falling_world(false);
  carom_step_options options = options_of("moreau", CAROM_QUADRATURE_ENDPOINT);
  carom_stepper *stepper = stepper_by(&w, &options);
  run_steps(stepper, w.state, 3);
  checkpoint c = take_checkpoint(stepper, w.state);
  carom_error error = {0};
  int64_t step;
  memcpy(&step, (char *)c.memory + BASE_STEP, sizeof step);
  CHECK(step == 0);
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    memcpy((char *)c.memory + BASE_STEP, &steps[i], sizeof steps[i]);
    CHECK(carom_stepper_recall(stepper, c.memory, c.size, &error) == CAROM_ERR_FORMAT);
    CHECK(strstr(error.message, "clock"));
  }
  memcpy((char *)c.memory + BASE_STEP, &step, sizeof step);
  memcpy((char *)c.memory + BASE_TIME, &(double){INFINITY}, sizeof(double));
  CHECK(carom_stepper_recall(stepper, c.memory, c.size, &error) == CAROM_ERR_FORMAT);
  free_checkpoint(&c);
  carom_stepper_destroy(stepper);
  free_world(&w);
}
