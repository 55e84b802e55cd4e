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

static int add_box(carom_builder *b, carom_vec3 size, carom_pose pose, bool fixed) {
  const carom_shape *shape = NULL;
  if (carom_shape_create_box(size, NULL, &shape, NULL) != CAROM_OK) abort();
  carom_part part = {.shape = shape, .pose = cm_pose_identity()};
  carom_body_def def = carom_body_default();
  def.parts = &part;
  def.part_count = 1;
  def.pose = pose;
  def.fixed = fixed;
  int index = carom_builder_add_body(b, &def);
  carom_shape_release(shape);
  return index;
}

// Boxes that fall on a table, rock and come to rest; two of them are joined.
static world falling_world(bool joint) {
  carom_random r = carom_random_make(9, 0);
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -9.81));
  add_box(b, cm_vec3(4, 4, 0.2), cm_pose(cm_vec3(0, 0, -0.1), cm_qidentity()), true);
  for (int i = 0; i < 4; i++)
    add_box(b, cm_vec3(0.2, 0.3, 0.25), cm_pose(cm_vec3(0.5 * i - 0.75, 0, 0.3), random_rotation(&r)), false);
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

static carom_stepper *stepper_of(const world *w, const carom_step_options *options) {
  carom_stepper *stepper = NULL;
  carom_error error = {0};
  if (carom_stepper_create(w->model, options, NULL, &stepper, &error) != CAROM_OK) {
    fprintf(stderr, "stepper: %s\n", error.message);
    exit(1);
  }
  return stepper;
}

static void check_split(world w, const char *integrator, carom_quadrature quadrature, int steps) {
  carom_step_options options = carom_step_default_options();
  options.integrator = integrator;
  options.quadrature = quadrature;
  options.step = 2e-3;
  options.stiffness = 1e5;  // of the potential
  carom_stepper *whole = stepper_of(&w, &options);
  run_steps(whole, w.state, steps);
  size_t size = carom_stepper_memory(whole, NULL, 0);
  void *memory = malloc(size);
  CHECK(carom_stepper_memory(whole, memory, size) == size);
  carom_state *copy = NULL;
  REQUIRE(carom_state_clone(w.state, NULL, &copy, NULL) == CAROM_OK);
  run_steps(whole, w.state, steps);
  carom_stepper *second = stepper_of(&w, &options);
  carom_error error = {0};
  if (carom_stepper_recall(second, memory, size, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s: %s", integrator, error.message);
  CHECK(carom_stepper_recall(second, memory, size - 1, &error) == CAROM_ERR_FORMAT);
  REQUIRE(carom_stepper_recall(second, memory, size, &error) == CAROM_OK);
  run_steps(second, copy, steps);
  if (carom_state_hash(copy) != carom_state_hash(w.state))
    test_fail(__FILE__, __LINE__, "%s goes another way", integrator);
  free(memory);
  carom_stepper_destroy(whole);
  carom_stepper_destroy(second);
  carom_state_destroy(copy);
  free_world(&w);
}

TEST(variational_endpoint) { check_split(charged_world(), "variational", CAROM_QUADRATURE_ENDPOINT, 137); }
TEST(variational_midpoint) { check_split(charged_world(), "variational", CAROM_QUADRATURE_MIDPOINT, 137); }
TEST(moreau) { check_split(falling_world(false), "moreau", CAROM_QUADRATURE_ENDPOINT, 137); }
TEST(moreau_with_joints) { check_split(falling_world(true), "moreau", CAROM_QUADRATURE_ENDPOINT, 137); }
TEST(exact) { check_split(falling_world(false), "exact", CAROM_QUADRATURE_ENDPOINT, 137); }
TEST(dcr) { check_split(falling_world(false), "dcr", CAROM_QUADRATURE_ENDPOINT, 137); }
TEST(potential) { check_split(falling_world(false), "potential", CAROM_QUADRATURE_ENDPOINT, 137); }
TEST(newmark) { check_split(falling_world(false), "newmark", CAROM_QUADRATURE_ENDPOINT, 137); }
TEST(cone) { check_split(falling_world(false), "cone", CAROM_QUADRATURE_ENDPOINT, 137); }
TEST(joints_by_variational) { check_split(falling_world(true), "variational", CAROM_QUADRATURE_ENDPOINT, 137); }
