// The first program of docs/first-program.md, as a user would write it: public headers and the shared library only.
// A box is thrown spinning about its middle axis; it tumbles, and the audit says how well the run did.
#include <carom/carom.h>
#include <stdio.h>

#include "test.h"

static int first_program(FILE *out) {
  carom_error error = {0};

  // A shape, and a body made of it.
  const carom_shape *box = NULL;
  if (carom_shape_create_box(cm_vec3(0.2, 0.3, 0.4), NULL, &box, &error) != CAROM_OK) goto failed;
  carom_part part = {.shape = box, .pose = cm_pose_identity()};
  carom_body_def brick = carom_body_default();
  brick.name = "brick";
  brick.parts = &part;
  brick.part_count = 1;
  brick.velocity = cm_vec3(1, 0, 5);
  brick.angular_velocity = cm_vec3(0.01, 6, 0);

  // The builder makes a constant model and the state to start from. Mistakes are reported by finish.
  carom_builder *builder = NULL;
  carom_model *model = NULL;
  carom_state *state = NULL;
  if (carom_builder_create(NULL, &builder, &error) != CAROM_OK) goto failed;
  carom_builder_add_body(builder, &brick);
  carom_builder_set_gravity(builder, cm_vec3(0, 0, -9.81));
  carom_status status = carom_builder_finish(builder, &model, &state, &error);
  carom_builder_destroy(builder);
  carom_shape_release(box);
  if (status != CAROM_OK) goto failed;

  // Step for a second, and audit every step.
  carom_step_options options = carom_step_default_options();
  options.step = 1e-3;
  carom_stepper *stepper = NULL;
  carom_audit *audit = NULL;
  if (carom_stepper_create(model, &options, NULL, &stepper, &error) != CAROM_OK) goto failed;
  if (carom_audit_create(model, state, NULL, &audit, &error) != CAROM_OK) goto failed;
  for (int i = 0; i < 1000; i++) {
    carom_step_report report;
    if (carom_stepper_step(stepper, state, &report, &error) != CAROM_OK) goto failed;
    carom_audit_step(audit, state, &report);
  }

  // Where is it, and how well did it go?
  int index = carom_model_find_body(model, "brick");
  carom_pose pose = carom_state_pose(model, state, index);
  fprintf(out, "t = %.3f s: brick at (%.4f, %.4f, %.4f) m\n", state->time, pose.p.x, pose.p.y, pose.p.z);
  carom_verdict verdict = carom_audit_judge(audit, NULL);
  for (int i = 0; i < verdict.count; i++)
    fprintf(out, "%-24s %9.2e  bound %7.0e  %s\n", verdict.rows[i].label, verdict.rows[i].value, verdict.rows[i].bound,
            verdict.rows[i].pass ? "pass" : "FAIL");

  carom_audit_destroy(audit);
  carom_stepper_destroy(stepper);
  carom_state_destroy(state);
  carom_model_destroy(model);
  return verdict.pass ? 0 : 3;

failed:
  fprintf(stderr, "carom %s: %s\n", carom_version(), error.message);
  return 1;
}

TEST(the_first_program_runs_and_passes_its_audit) {
  char text[2000] = "";
  FILE *out = tmpfile();
  REQUIRE(out);
  CHECK(first_program(out) == 0);
  rewind(out);
  size_t length = fread(text, 1, sizeof text - 1, out);
  text[length] = 0;
  fclose(out);
  printf("%s", text);
  // Thrown from the origin with (1, 0, 5): after a second at (1, 0, 5 - 9.81/2), exactly for this integrator.
  CHECK_CONTAINS(text, "t = 1.000 s: brick at (1.0000, ");
  CHECK_CONTAINS(text, ", 0.0950) m");
  CHECK_CONTAINS(text, "Energy drift");
  CHECK(strstr(text, "FAIL") == NULL);
}

TEST(the_version_of_the_library_is_that_of_the_headers) {
  char expected[40];
  snprintf(expected, sizeof expected, "%d.%d.%d", CAROM_VERSION_MAJOR, CAROM_VERSION_MINOR, CAROM_VERSION_PATCH);
  CHECK_TEXT(carom_version(), expected);
}

// Every function of the headers must be exported: a missing CAROM_API shows up here as a link error.
TEST(the_maps_of_vec_h_are_exported) {
  carom_vec3 w = cm_vec3(0.1, 0.2, 0.3), u, v, x, d;
  carom_mat3 inverse, V;
  cm_frame(cm_vec3(0, 0, 1), &u, &v);
  CHECK(cm_solve3(cm_exp_tangent(w), cm_mulv(cm_exp_tangent(w), w), &x) && cm_inverse3(cm_cayley_tangent(w), &inverse));
  CHECK_NEAR(cm_norm(cm_sub(x, w)), 0, 1e-15);
  CHECK_NEAR(cm_det(cm_mmul(cm_exp_tangent(w), cm_exp_tangent_inverse(w))), 1, 1e-14);
  CHECK_NEAR(cm_det(cm_mmul(cm_cayley_tangent(w), cm_cayley_tangent_inverse(w))), 1, 1e-14);
  CHECK(cm_cayley_log(cm_cayley(w), &x));
  cm_eigen3(cm_diag3(1, 2, 3), &d, &V);
  CHECK(d.z == 3);
  CHECK_NEAR(cm_norm(cm_sub(cm_log(cm_quat_of(cm_rotation(cm_exp(w)))), w)), 0, 1e-15);
  CHECK_NEAR(cm_axis_angle(w, 0).w, 1, 0);
}
