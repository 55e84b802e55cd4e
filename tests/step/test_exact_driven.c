// The integrator `exact` with driven bodies.
#include "exact_fixture.h"

static const double G = 9.81;

// A shape above a table that is driven.
static world above_table(carom_drive_def drive, const carom_shape *shape, double height, double e, double mu) {
  carom_builder *b = new_builder();
  int wood = add_material(b, "wood", 500, e, mu);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  const carom_shape *top = box_shape(20, 2, 0.2);
  carom_part table = part_of(top), part = part_of(shape);
  carom_body_def def = solid(&table, wood, cm_vec3(0, 0, -0.1));
  def.fixed = true;
  drive.body = carom_builder_add_body(b, &def);
  carom_builder_add_drive(b, &drive);
  def = solid(&part, wood, cm_vec3(0, 0, height));
  carom_builder_add_body(b, &def);
  carom_shape_release(top);
  carom_shape_release(shape);
  return finish_world(b);
}

static const carom_shape *ball(void) {
  const carom_shape *shape = NULL;
  if (carom_shape_create_sphere(0.1, NULL, &shape, NULL) != CAROM_OK) abort();
  return shape;
}

// A table that rises at v under a falling ball: they meet when g t^2/2 + v t = H, and part with e times the speed.
TEST(ball_meets_a_rising_table) {
  for (int k = 0; k < 2; k++) {
    double v = 0.7, H = 0.4, e = k == 0 ? 1 : 0.5, t = (sqrt(v * v + 2 * G * H) - v) / G;
    carom_drive_def drive = carom_drive_default();
    drive.velocity = cm_vec3(0, 0, v);
    world w = above_table(drive, ball(), H + 0.1, e, 0);
    carom_stepper *stepper = exact_stepper(&w, 1e-2, CAROM_IMPACT_GENERALIZED);
    double start = carom_kinetic_energy(w.model, w.state) + carom_potential_energy(w.model, w.state), work = 0,
           loss = 0;
    double hit = NAN;
    carom_error error = {0};
    for (int i = 0; i < 35; i++) {
      carom_step_report report = {0};
      REQUIRE(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_OK);
      for (int n = 0; n < report.event_count; n++) hit = report.events[n].time;
      work += report.work, loss += report.restitution_loss;
      CHECK_AT_MOST(report.penetration, 1e-9);
    }
    CHECK_NEAR(hit, t, 1e-9);
    double up = v + e * (v + G * t), after = 0.35 - t;
    CHECK_NEAR(carom_state_velocity(w.model, w.state, 1).z, up - G * after, 1e-8);
    CHECK_NEAR(w.state->x[0].z, -0.1 + 0.35 * v, 1e-12);
    double end = carom_kinetic_energy(w.model, w.state) + carom_potential_energy(w.model, w.state);
    CHECK_NEAR(end, start + work - loss, 1e-8 * start);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}

// A box on a belt at 1 m/s: Coulomb's acceleration, then at rest on the belt. The belt's work is m v^2, half of it
// lost.
TEST(belt_drags_a_box) {
  carom_drive_def drive = carom_drive_default();
  drive.velocity = cm_vec3(1, 0, 0);
  world w = above_table(drive, box_shape(0.2, 0.2, 0.2), 0.1, 0, 0.3);
  carom_stepper *stepper = exact_stepper(&w, 1e-3, CAROM_IMPACT_GENERALIZED);
  double m = w.model->bodies[1].mass, a = 0.3 * G, work = 0, loss = 0;
  carom_error error = {0};
  for (int i = 0; i < 1000; i++) {
    carom_step_report report = {0};
    REQUIRE(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_OK);
    work += report.work, loss += report.friction_loss;
    if (i == 199) CHECK_NEAR(carom_state_velocity(w.model, w.state, 1).x, 0.2 * a, 1e-3);
  }
  CHECK_NEAR(carom_state_velocity(w.model, w.state, 1).x, 1, 1e-9);
  CHECK_NEAR(w.state->x[1].x, 1 - 0.5 / a, 2e-3);
  CHECK_NEAR(work, m, 1e-2 * m);
  CHECK_NEAR(loss, 0.5 * m, 1e-2 * m);
  carom_stepper_destroy(stepper);
  free_world(&w);
}
