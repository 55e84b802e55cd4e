// Control through the public headers: the program of docs/control.md, and that a controller in the loop asks the heap
// for nothing.
#include "carom/carom.h"
#include "heap_counter.h"
#include "test.h"

static carom_model *craft_model(carom_state **state) {
  const carom_shape *box = NULL;
  carom_builder *builder = NULL;
  carom_model *model = NULL;
  if (carom_shape_create_box(cm_vec3(0.3, 0.1, 0.1), NULL, &box, NULL) != CAROM_OK) abort();
  if (carom_builder_create(NULL, &builder, NULL) != CAROM_OK) abort();
  carom_part part = {.shape = box, .pose = cm_pose_identity()};
  carom_body_def craft = carom_body_default();
  craft.parts = &part, craft.part_count = 1, craft.mass = 1.2;
  craft.pose = cm_pose(cm_vec3(-0.7, 0.3, 0.1), cm_axis_angle(cm_vec3(1, 1, 0), 2.8));
  craft.velocity = cm_vec3(-1e-3, 5e-3, 0), craft.angular_velocity = cm_vec3(-1e-3, 5e-3, 0);
  carom_builder_add_body(builder, &craft);
  if (carom_builder_finish(builder, &model, state, NULL) != CAROM_OK) abort();
  carom_builder_destroy(builder);
  carom_shape_release(box);
  return model;
}

static void push(carom_state *state, const carom_track_answer *u, carom_quat rotation, double time) {
  state->p[0] = cm_axpy(state->p[0], time, u->force);
  state->l[0] = cm_axpy(state->l[0], time, cm_rotate(rotation, u->torque_body));
}

TEST(a_craft_docks_along_a_field_line) {
  carom_state *state = NULL;
  carom_model *model = craft_model(&state);
  carom_error error = {0};
  carom_step_options options = carom_step_default_options();
  carom_stepper *stepper = NULL;
  REQUIRE(carom_stepper_create(model, &options, NULL, &stepper, &error) == CAROM_OK);

  carom_field_line line = carom_field_line_default();  // a port at the origin that is met along +x
  carom_guide guide = {.line = &line};
  carom_plant plant = carom_plant_of(model, 0);
  carom_track_gains gains = carom_track_default_gains();
  REQUIRE(carom_track_check(&plant, &gains, &error) == CAROM_OK);
  carom_guide_memory guided = {0};
  carom_track_memory memory = {0};
  carom_track_answer u = {0};
  long calls = 0;
  for (int i = 0; i < 30000; i++) {
    if (i == 10) calls = heap_calls;
    carom_rigid_motion motion = carom_state_motion(model, state, 0);
    carom_reference reference;
    REQUIRE(carom_guide_at(&guide, state->time, motion.position, &guided, &reference, &error) == CAROM_OK);
    u = carom_track(&plant, &motion, &reference, &gains, &memory);
    push(state, &u, motion.rotation, options.step / 2);
    REQUIRE(carom_stepper_step(stepper, state, NULL, &error) == CAROM_OK);
    push(state, &u, carom_state_motion(model, state, 0).rotation, options.step / 2);
  }
  CHECK(heap_calls == calls);
  CHECK_AT_MOST(cm_norm(u.position_error), 5e-3);
  CHECK_AT_MOST(u.angle, 1e-6);
  carom_stepper_destroy(stepper);
  carom_state_destroy(state);
  carom_model_destroy(model);
}

TEST(a_mechanism_asks_the_heap_for_nothing) {
  carom_state *state = NULL;
  carom_model *model = craft_model(&state);
  carom_mechanism *m = NULL;
  double M[36], J[36], force[6], rate[6];
  REQUIRE(carom_mechanism_create(model, NULL, &m, NULL) == CAROM_OK);
  CHECK(carom_mechanism_update(m, state, NULL) == CAROM_OK);
  CHECK(carom_mechanism_forward(m, NULL, rate, NULL) == CAROM_OK);  // makes room for its matrix
  long calls = heap_calls;
  CHECK(carom_mechanism_update(m, state, NULL) == CAROM_OK);
  carom_mechanism_mass(m, M);
  carom_mechanism_jacobian(m, 0, cm_vec3(0.15, 0, 0), J);
  carom_mechanism_inverse(m, NULL, force, NULL);
  CHECK(carom_mechanism_forward(m, force, rate, NULL) == CAROM_OK);
  CHECK(heap_calls == calls);
  CHECK_NEAR(M[0], 1.2, 1e-15);
  CHECK_AT_MOST(fabs(rate[0]) + fabs(rate[5]), 1e-15);
  carom_mechanism_destroy(m);
  carom_state_destroy(state);
  carom_model_destroy(model);
}
