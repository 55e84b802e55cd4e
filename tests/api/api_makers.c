// What every header promises of functions that make an object: on failure null is left in its place, and nothing leaks.
#include "carom/carom.h"
#include "failing_allocator.h"
#include "test.h"

// Whatever was in the place before a call.
static void *const old = (void *)&old;

#define PLACE(type, name) type *name = old

// No memory at all.
static failing_allocator none;

static carom_allocator refusing(void) { return none = (failing_allocator){0}, failing_allocator_of(&none); }

TEST(shapes_leave_null) {
  carom_allocator a = refusing();
  const carom_vec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, one = {1, 1, 1};
  PLACE(const carom_shape, s);
#define LEAVES_NULL(...) CHECK((s = old, __VA_ARGS__) == CAROM_ERR_MEMORY && !s)
  LEAVES_NULL(carom_shape_create_hull(points, 4, &a, &s, NULL));
  LEAVES_NULL(carom_shape_create_box(one, &a, &s, NULL));
  LEAVES_NULL(carom_shape_create_prism(5, 1, 1, &a, &s, NULL));
  LEAVES_NULL(carom_shape_create_pyramid(5, 1, 1, &a, &s, NULL));
  LEAVES_NULL(carom_shape_create_tetrahedron(1, &a, &s, NULL));
  LEAVES_NULL(carom_shape_create_octahedron(1, &a, &s, NULL));
  LEAVES_NULL(carom_shape_create_sphere(1, &a, &s, NULL));
  LEAVES_NULL(carom_shape_create_capsule(1, 1, &a, &s, NULL));
  LEAVES_NULL(carom_shape_create_halfspace(&a, &s, NULL));
  LEAVES_NULL(carom_shape_create_ellipsoid(one, &a, &s, NULL));
  LEAVES_NULL(carom_shape_create_cylinder(1, 1, &a, &s, NULL));
  LEAVES_NULL(carom_shape_create_cone(1, 1, &a, &s, NULL));
#undef LEAVES_NULL
  CHECK((s = old, carom_shape_create_sphere(-1, NULL, &s, NULL)) == CAROM_ERR_ARGUMENT && !s);
  CHECK((s = old, carom_shape_create_mesh(&(carom_mesh){0}, NULL, NULL, &s, NULL)) == CAROM_ERR_ARGUMENT && !s);
  CHECK(none.live == 0);
}

TEST(scratch_leaves_null) {
  carom_allocator a = refusing();
  PLACE(carom_lcp_work, lcp);
  PLACE(carom_mlcp_work, mlcp);
  PLACE(carom_ncp_work, ncp);
  PLACE(carom_contact_work, solver);
  PLACE(carom_impact_work, impact);
  CHECK(carom_lcp_work_create(3, &a, &lcp, NULL) == CAROM_ERR_MEMORY && !lcp);
  CHECK(carom_mlcp_work_create(3, &a, &mlcp, NULL) == CAROM_ERR_MEMORY && !mlcp);
  CHECK(carom_ncp_work_create(3, &a, &ncp, NULL) == CAROM_ERR_MEMORY && !ncp);
  CHECK(carom_contact_work_create(&a, &solver, NULL) == CAROM_ERR_MEMORY && !solver);
  CHECK(carom_impact_work_create(3, &a, &impact, NULL) == CAROM_ERR_MEMORY && !impact);
  CHECK(none.live == 0);
}

TEST(files_leave_null) {
  carom_allocator a = refusing();
  carom_diagnostics found = {0};
  PLACE(carom_scene, scene);
  PLACE(carom_plan_file, plan);
  PLACE(carom_result, result);
  PLACE(carom_lcp_set, set);
  PLACE(carom_recorder, recorder);
  CHECK(carom_scene_read("no/such.yaml", NULL, NULL, &scene, &found) == CAROM_ERR_SCENE && !scene);
  carom_diagnostics_release(&found);
  CHECK(carom_plan_read("no/such.yaml", NULL, NULL, &plan, &found) == CAROM_ERR_SCENE && !plan);
  carom_diagnostics_release(&found);
  CHECK(carom_result_open("no/such.h5", NULL, &result, NULL) == CAROM_ERR_IO && !result);
  CHECK(carom_lcp_set_read("no/such.txt", NULL, &set, NULL) == CAROM_ERR_IO && !set);
  CHECK((set = old, carom_lcp_set_parse(&(carom_bytes){"a", "1", 1}, &a, &set, NULL)) == CAROM_ERR_MEMORY && !set);
  CHECK(carom_recorder_open("", NULL, NULL, NULL, &recorder, NULL) == CAROM_ERR_ARGUMENT && !recorder);
  CHECK(none.live == 0);
}

static void make_ball(carom_model **model, carom_state **state) {
  carom_builder *b = NULL;
  const carom_shape *ball = NULL;
  REQUIRE(carom_builder_create(NULL, &b, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_sphere(0.1, NULL, &ball, NULL) == CAROM_OK);
  carom_part part = {.shape = ball, .pose = cm_pose_identity()};
  carom_body_def def = carom_body_default();
  def.parts = &part, def.part_count = 1;
  carom_builder_add_body(b, &def);
  REQUIRE(carom_builder_finish(b, model, state, NULL) == CAROM_OK);
  carom_shape_release(ball);
  carom_builder_destroy(b);
}

TEST(what_stands_on_a_model_leaves_null) {
  carom_allocator a = refusing();
  carom_model *model = NULL;
  carom_state *state = NULL;
  make_ball(&model, &state);
  PLACE(carom_stepper, stepper);
  PLACE(carom_audit, audit);
  PLACE(carom_plan, plan);
  PLACE(carom_state, clone);
  PLACE(carom_broadphase, broadphase);
  CHECK(carom_stepper_create(model, NULL, &a, &stepper, NULL) == CAROM_ERR_MEMORY && !stepper);
  carom_step_options wrong = carom_step_default_options();
  wrong.integrator = "nobody";
  CHECK((stepper = old, carom_stepper_create(model, &wrong, NULL, &stepper, NULL)) == CAROM_ERR_ARGUMENT && !stepper);
  CHECK(carom_audit_create(model, state, &a, &audit, NULL) == CAROM_ERR_MEMORY && !audit);
  CHECK(carom_plan_create(model, state, NULL, &a, &plan, NULL) == CAROM_ERR_MEMORY && !plan);
  CHECK(carom_state_clone(state, &a, &clone, NULL) == CAROM_ERR_MEMORY && !clone);
  CHECK(carom_broadphase_create(NULL, &a, &broadphase, NULL) == CAROM_ERR_MEMORY && !broadphase);
  carom_state_destroy(state);
  carom_model_destroy(model);
  CHECK(none.live == 0);
}

TEST(builders_leave_null) {
  carom_allocator a = refusing();
  PLACE(carom_builder, builder);
  PLACE(carom_model, model);
  PLACE(carom_state, state);
  CHECK(carom_builder_create(&a, &builder, NULL) == CAROM_ERR_MEMORY && !builder);
  REQUIRE(carom_builder_create(NULL, &builder, NULL) == CAROM_OK);
  carom_builder_set_gravity(builder, cm_vec3(NAN, 0, 0));
  CHECK(carom_builder_finish(builder, &model, &state, NULL) == CAROM_ERR_NUMBER && !model && !state);
  carom_builder_destroy(builder);
  CHECK(none.live == 0);
}
