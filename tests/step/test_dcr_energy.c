// Energy under `dcr`, from the states alone: what projections lift, impacts pay for; what joints hold, they hold for
// free.
#include "strangers.h"

static const double G = 9.81;

// The furthest that energy strays from its start, and the largest kinetic energy.
typedef struct stray {
  double energy, kinetic;
} stray;

static stray follow(world w, double h, double time) {
  run r = start_run(w, "dcr", h);
  double start = carom_audit_latest(r.audit).energy;
  stray s = {0};
  for (int i = 0; i < (int)(time / h) && run_step(&r); i++) {
    s.kinetic = fmax(s.kinetic, carom_kinetic_energy(r.w.model, r.w.state));
    s.energy = fmax(s.energy, fabs(carom_audit_latest(r.audit).energy - start));
  }
  CHECK_AT_MOST(fabs(r.projection_energy), 0);
  CHECK_AT_MOST(fabs(r.restitution_loss), 1e-9 * s.kinetic);
  CHECK_AT_MOST(deepest_overlap(&r.w), 1e-9);
  end_run(&r);
  return s;
}

static world column(int count, bool boxes, double gap) {
  carom_builder *b = new_builder();
  add_material(b, "elastic", 2000, 1, 0);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  add_floor(b, cm_qidentity());
  for (int i = 0; i < count; i++) {
    carom_body_def def = body_at(0, 0, 0.3 + (0.1 + gap) * i);
    add_shape(b, def, boxes ? box_shape(0.12, 0.1, 0.1) : sphere_shape(0.05));
  }
  return finish_world(b);
}

// The projection used to add m g times the overlap to every bounce, and touching bodies to take half their energy away.
TEST(elastic_columns_keep_their_energy_long) {
  for (int count = 1; count <= 8; count += count < 4 ? 1 : 4)
    for (int k = 0; k < 4; k++) {
      double h = k < 2 ? 1e-3 : 4e-3, gap = k % 2 ? 0.003 : 0;
      stray beads = follow(column(count, false, gap), h, 2), boxes = follow(column(count, true, gap), h, 2);
      CHECK_AT_MOST(beads.energy, 1e-6 * beads.kinetic);
      CHECK_AT_MOST(boxes.energy, 1e-6 * boxes.kinetic);
    }
}

// A ball that begins 1 cm too low is put on the floor; what that gave it, it pays for when it bounces.
TEST(overlap_at_the_start_makes_no_energy) {
  for (int k = 0; k < 3; k++) {
    carom_builder *b = new_builder();
    add_material(b, "any", 1000, 0.5 * k, 0.3);
    carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
    add_floor(b, cm_qidentity());
    add_shape(b, body_at(0, 0, 0.04), sphere_shape(0.05));
    run r = start_run(finish_world(b), "dcr", 1e-3);
    double highest = 0;
    for (int i = 0; i < 500 && run_step(&r); i++) highest = fmax(highest, r.w.state->x[1].z);
    CHECK_AT_MOST(highest, 0.05 + 1e-9);
    CHECK_AT_MOST(carom_kinetic_energy(r.w.model, r.w.state), 1e-6);
    end_run(&r);
  }
}

static const char *ARM =
    "carom: 1\n"
    "materials: {alu: {density: 2700, friction: 0.5, restitution: 0.1}}\n"
    "bodies:\n"
    "  - {name: arm, material: alu, shape: {box: [0.6, 0.1, 0.03]}, position: [0.3, 0, 0.5]}\n"
    "  - {name: tray, material: alu, shape: {box: [0.2, 0.2, 0.02]}, position: [0.6, 0, 0.54]}\n"
    "  - {name: cargo, material: alu, shape: {box: [0.05, 0.06, 0.04]}, position: [0.6, 0, 0.57]}\n"
    "joints:\n"
    "  - {name: shoulder, kind: revolute, between: [world, arm], at: [0, 0, 0.5], axis: [0, -1, 0],\n"
    "     turn: {motor: {torque: 30 N m}, damping: 4}}\n"
    "  - {name: glue, kind: fixed, between: [arm, tray], at: [0.6, 0, 0.53]}\n"
    "apart: [[arm, tray]]\n"
    "forces: {gravity: 9.81}\n";

// Contacts that rest on jointed bodies once took what the joints did about the motor for their own: 3 percent of the
// energy of such an arm was nobody's at 1 ms.
TEST(motors_that_carry_cargo_do_the_work_that_they_do) {
  carom_scene *scene = NULL;
  carom_diagnostics diagnostics = {0};
  REQUIRE(carom_scene_parse(&(carom_bytes){"arm", ARM, strlen(ARM)}, NULL, NULL, &scene, &diagnostics) == CAROM_OK);
  carom_step_options options = carom_step_default_options();
  carom_stepper *stepper = NULL;
  carom_audit *audit = NULL;
  options.integrator = "dcr";
  REQUIRE(carom_stepper_create(scene->model, &options, NULL, &stepper, NULL) == CAROM_OK);
  REQUIRE(carom_audit_create(scene->model, scene->state, NULL, &audit, NULL) == CAROM_OK);
  double worst = 0;
  int held = 0;
  for (int i = 0; i < 300; i++) {
    carom_step_report report;
    REQUIRE(carom_stepper_step(stepper, scene->state, &report, NULL) == CAROM_OK);
    carom_audit_step(audit, scene->state, &report);
    worst = fmax(worst, fabs(carom_audit_latest(audit).energy_error));
    held += report.event_count > 0;
  }
  CHECK(held > 200);
  CHECK_AT_MOST(worst, 1e-3);
  carom_audit_destroy(audit);
  carom_stepper_destroy(stepper);
  carom_scene_destroy(scene);
  carom_diagnostics_release(&diagnostics);
}
