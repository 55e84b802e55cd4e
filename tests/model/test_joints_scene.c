// Joints in scene files: every key arrives in the model, and mistakes and missing memory leave nothing behind.
#include "carom/result.h"
#include "failing_allocator.h"
#include "fixtures.h"
#include "model/joints.h"

#define SCENE CAROM_TEST_DATA "/scenes/joints.yaml"

static carom_scene *read_scene(void) {
  carom_scene *scene = NULL;
  carom_diagnostics diagnostics;
  carom_status status = carom_scene_read(SCENE, NULL, NULL, &scene, &diagnostics);
  for (int i = 0; i < diagnostics.count; i++) {
    char line[1000];
    carom_diagnostic_format(&diagnostics.items[i], line, sizeof line);
    fprintf(stderr, "%s\n", line);
  }
  carom_diagnostics_release(&diagnostics);
  return status == CAROM_OK ? scene : NULL;
}

static const carom_joint *find(const carom_model *m, const char *name) {
  int i = carom_model_find_joint(m, name);
  return i >= 0 ? &m->joints[i] : NULL;
}

TEST(all_keys_of_joints) {
  carom_scene *scene = read_scene();
  REQUIRE(scene);
  const carom_model *m = scene->model;
  REQUIRE(m->joint_count == 14);
  const carom_joint *hinge = find(m, "hinge"), *pin = find(m, "pin"), *wrist = find(m, "wrist");
  const carom_joint *guide = find(m, "guide"), *thread = find(m, "thread"), *axle = find(m, "axle");
  const carom_joint *grip = find(m, "grip"), *glue = find(m, "glue"), *link = find(m, "string_3");
  REQUIRE(hinge && pin && wrist && guide && thread && axle && grip && glue && link && find(m, "ice"));
  CHECK(hinge->kind == CAROM_JOINT_REVOLUTE && hinge->body[0] == CAROM_WORLD);
  CHECK(hinge->turn.motor == CAROM_MOTOR_RATE && hinge->turn.motor_value == 2 && hinge->turn.knot_count == 2);
  CHECK(m->knots[hinge->turn.knot_start + 1].factor == 1);
  CHECK(pin->kind == CAROM_JOINT_SPHERICAL && pin->body[0] == carom_model_find_body(m, "crank"));
  CHECK(wrist->collide && !pin->collide);
  CHECK(guide->slide.stiffness == 20 && guide->slide.rest == 0.01 && guide->slide.damping == 0.3);
  CHECK_NEAR(thread->pitch, -0.002 / (2 * M_PI), 1e-18);
  CHECK(thread->turn.damping == 0.1);
  CHECK(axle->slide.lower == -1 && axle->slide.upper == 0.5 && axle->slide.restitution == 0.5);
  CHECK(axle->turn.stiffness == 2 && axle->turn.motor == CAROM_MOTOR_FORCE && axle->turn.motor_value == 0.1);
  CHECK(grip->latch && grip->releases == (int)(glue - m->joints) && glue->engaged);
  CHECK(link->kind == CAROM_JOINT_DISTANCE && link->body[1] == carom_model_find_body(m, "bead_4"));
  CHECK(scene->state->joints[grip - m->joints].active == 0 && scene->state->joints[glue - m->joints].active == 1);
  int steel = m->bodies[carom_model_find_body(m, "crank")].material;
  CHECK(m->surface_count == 1 && m->surfaces[0].material[0] == steel && m->surfaces[0].surface.friction == 0.9);
  CHECK_AT_MOST(carom_joints_drift(m, scene->state), 1e-14);
  carom_scene_destroy(scene);
}

// The piston's start velocity is across its guide: the joints take it out. A slider-crank at its dead centre moves on.
TEST(joints_scene_runs) {
  carom_scene *scene = read_scene();
  REQUIRE(scene);
  int piston = carom_model_find_body(scene->model, "piston");
  CHECK_AT_MOST(cm_norm(scene->state->p[piston]), 1e-13);
  carom_stepper *stepper = NULL;
  carom_error error = {0};
  REQUIRE(carom_stepper_create(scene->model, &scene->step, NULL, &stepper, &error) == CAROM_OK);
  run_steps(stepper, scene->state, 1000);
  double angle = scene->state->joints[0].turn;  // about y: down
  CHECK_NEAR(angle, 1, 1e-12);
  double x = 0.4 * cos(angle) + sqrt(1 - 0.16 * sin(angle) * sin(angle)) + 0.1;
  CHECK_NEAR(scene->state->x[piston].x, x, 1e-11);
  carom_stepper_destroy(stepper);
  carom_scene_destroy(scene);
}

TEST(memory_runs_out_in_joints) {
  for (int allowed = 0; allowed < 100000; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    carom_scene *scene = NULL;
    carom_diagnostics diagnostics;
    carom_status status = carom_scene_read(SCENE, NULL, &a, &scene, &diagnostics);
    carom_diagnostics_release(&diagnostics);
    carom_scene_destroy(scene);
    if (f.live != 0) test_fail(__FILE__, __LINE__, "%d blocks left after %d requests", f.live, allowed);
    if (status == CAROM_OK) return;
    if (status != CAROM_ERR_MEMORY) test_fail(__FILE__, __LINE__, "status %d after %d requests", status, allowed);
  }
  test_fail(__FILE__, __LINE__, "never succeeded");
}
