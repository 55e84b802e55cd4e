// The integrator `cone` asks for memory as long as contacts become more than ever before, and not afterwards.
#include "failing_allocator.h"
#include "fixtures.h"
#include "heap_counter.h"

static carom_builder *builder_with_floor(double restitution) {
  carom_builder *b = new_builder();
  put_material(b, restitution, 0.5);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -9.81));
  carom_boundary_def floor = carom_boundary_default();
  carom_builder_add_boundary(b, &floor);
  return b;
}

static carom_vec3 place(int i, double pitch, carom_random *random) {
  carom_vec3 x = cm_vec3(i % 4, i / 4 % 4, i / 16 + 0.55);
  return cm_add(cm_scale(pitch, x), random_vector(random, 0.01 * pitch));
}

static world balls(void) {
  carom_builder *b = builder_with_floor(0.3);
  carom_random random = carom_random_make(4, 0);
  carom_vec3 x[128];
  for (int i = 0; i < 128; i++) x[i] = place(i, 0.11, &random);
  put_balls(b, 0.05, x, 128);
  return finish_world(b);
}

// Boxes, a slab that is fixed, and a chain of balls that hangs into them: every kind of contact and of row.
static world boxes_and_a_chain(void) {
  carom_builder *b = builder_with_floor(0);
  carom_random random = carom_random_make(4, 0);
  put_box(b, cm_vec3(2, 0.1, 2), cm_pose(cm_vec3(0, -0.25, 0), cm_qidentity()), true);
  for (int i = 0; i < 20; i++)
    put_box(b, cm_vec3(0.1, 0.1, 0.1), cm_pose(place(i, 0.13, &random), random_rotation(&random)), false);
  carom_vec3 links[3] = {{0.2, 0.2, 0.6}, {0.3, 0.2, 0.6}, {0.4, 0.2, 0.6}};
  put_balls(b, 0.03, links, 3);
  for (int i = 0; i < 3; i++) {
    carom_joint_def def = carom_joint_default();
    def.kind = CAROM_JOINT_SPHERICAL, def.at_start = true;
    def.body[0] = i == 0 ? CAROM_WORLD : 21 + i - 1, def.body[1] = 21 + i;
    def.point[0] = cm_vec3(0.15 + 0.1 * i, 0.2, 0.6);
    carom_builder_add_joint(b, &def);
  }
  return finish_world(b);
}

static void check_heap(world w, int threads, int settling) {
  carom_step_options o = carom_step_default_options();
  failing_allocator counting = {.allowed = -1};
  carom_allocator a = failing_allocator_of(&counting);
  carom_stepper *stepper = NULL;
  o.integrator = "cone", o.step = 0.005, o.threads = threads;
  REQUIRE(carom_stepper_create(w.model, &o, &a, &stepper, NULL) == CAROM_OK);
  run_steps(stepper, w.state, settling);
  long heap = heap_calls;
  int own = counting.calls;
  run_steps(stepper, w.state, 50);
  CHECK(counting.calls == own);
  CHECK(heap_calls == heap);
  carom_stepper_destroy(stepper);
  CHECK(counting.live == 0);
  free_world(&w);
}

TEST(a_pile_of_balls_needs_no_heap) {
  check_heap(balls(), 1, 200);
  check_heap(balls(), 2, 200);
}

TEST(a_pile_of_boxes_needs_no_heap) {
  check_heap(boxes_and_a_chain(), 1, 200);
  check_heap(boxes_and_a_chain(), 2, 200);
}
