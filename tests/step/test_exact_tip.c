// Bodies that tip over and rock on a floor, against closed forms.
#include "exact_fixture.h"

static const double G = 9.81;

// In the plane z = 0 on a floor y <= 0.
static world planar_world(const carom_shape *shape, double e, double mu, carom_vec3 x, double angle) {
  carom_builder *builder = new_builder();
  int any = add_material(builder, "any", 1000, e, mu);
  carom_part part = {.shape = shape, .pose = cm_pose(cm_zero3(), cm_axis_angle(cm_vec3(0, 1, 0), M_PI / 2))};
  carom_body_def def = solid(&part, any, x);
  def.pose.q = cm_axis_angle(cm_vec3(0, 0, 1), angle);
  carom_builder_add_body(builder, &def);
  carom_body_def floor = fixed_body(cm_zero3(), cm_axis_angle(cm_vec3(1, 0, 0), -M_PI / 2));
  floor.material = any;
  put_shape(builder, floor, floor_shape());
  carom_builder_set_gravity(builder, cm_vec3(0, -G, 0));
  carom_builder_set_planar(builder, true);
  carom_shape_release(shape);
  return finish_world(builder);
}

static double total_energy(const world *w) {
  return carom_kinetic_energy(w->model, w->state) + carom_potential_energy(w->model, w->state);
}

// A capsule of half length a slides down without friction: its centre falls straight, y = r + a sin(theta), and energy
// gives the rate, (m a^2 cos^2 + J) rate^2 / 2 = m g a (sin(theta_0) - sin(theta)).
TEST(smooth_rod_slides_down_as_energy_says) {
  double a = 1, r = 0.01, theta0 = 60 * M_PI / 180;
  const carom_shape *rod = NULL;
  carom_shape_create_capsule(r, 2 * a, NULL, &rod, NULL);
  world w = planar_world(rod, 0, 0, cm_vec3(0, r + a * sin(theta0), 0), theta0);
  const carom_body *body = &w.model->bodies[0];
  double J = fmax(body->inertia.x, fmax(body->inertia.y, body->inertia.z));
  carom_stepper *stepper = exact_stepper(&w, 1e-3, CAROM_IMPACT_GENERALIZED);
  carom_error error;
  for (int i = 0; i < 500; i++) {
    REQUIRE(carom_stepper_step(stepper, w.state, NULL, &error) == CAROM_OK);
    double sine = (w.state->x[0].y - r) / a, rate = carom_state_angular_velocity(w.model, w.state, 0).z;
    if (sine < 0.05) break;  // about to land
    double expected =
        sqrt(2 * body->mass * G * a * fmax(0, sin(theta0) - sine) / (body->mass * a * a * (1 - sine * sine) + J));
    CHECK_NEAR(-rate, expected, 2e-5);
    CHECK_AT_MOST(fabs(w.state->x[0].x), 1e-12);
  }
  tally t = run_exact(&w, stepper, 1500);
  CHECK_NEAR(w.state->x[0].y, r, 1e-9);  // lies flat
  CHECK_AT_MOST(cm_norm(carom_state_velocity(w.model, w.state, 0)), 1e-9);
  CHECK_AT_MOST(t.penetration, 1e-8);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// At any friction a rod ends flat at rest, and no energy comes from nowhere.
TEST(rough_rods_fall_over) {
  double mu[] = {0.05, 0.3, 1, 2}, e[] = {0, 0.5};
  for (int k = 0; k < 8; k++) {
    double theta0 = (50 + 5 * k) * M_PI / 180;
    const carom_shape *rod = NULL;
    carom_shape_create_capsule(0.01, 2, NULL, &rod, NULL);
    world w = planar_world(rod, e[k % 2], mu[k / 2], cm_vec3(0, 0.01 + sin(theta0), 0), theta0);
    carom_stepper *stepper = exact_stepper(&w, 1e-3, CAROM_IMPACT_GENERALIZED);
    double energy = total_energy(&w), lowest = energy, gained = 0;
    for (int i = 0; i < 300; i++) {
      run_exact(&w, stepper, 10);
      gained = fmax(gained, (total_energy(&w) - lowest) / energy);
      lowest = fmin(lowest, total_energy(&w));
    }
    CHECK_AT_MOST(gained, 1e-6);
    CHECK_NEAR(w.state->x[0].y, 0.01, 1e-6);
    CHECK_AT_MOST(cm_norm(carom_state_angular_velocity(w.model, w.state, 0)), 1e-6);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}

// Housner (1963): a slender block that rocks without slip or bounce keeps 1 - 3/2 sin^2(alpha) of its angular velocity
// when it changes corners, tan(alpha) being its width over its height.
TEST(rocking_block_changes_corners_as_housner_says) {
  double b = 0.1, h = 0.5, alpha = atan2(b, h), R = hypot(b, h), tilt = 0.3 * alpha;
  const carom_shape *block = box_shape(2 * h, 2 * h, 2 * b);  // turned by the part: 2b along x
  double up = R * cos(alpha - tilt), along = R * sin(alpha - tilt);
  world w = planar_world(block, 0, 2, cm_vec3(-along, up, 0), tilt);
  carom_stepper *stepper = exact_stepper(&w, 5e-4, CAROM_IMPACT_GENERALIZED);
  double fastest = 0, before = 0, after = 0;
  for (int i = 0; i < 4000 && after == 0; i++) {
    run_exact(&w, stepper, 1);
    double rate = fabs(carom_state_angular_velocity(w.model, w.state, 0).z);
    if (rate < 0.97 * fastest) before = fastest, after = rate;
    fastest = fmax(fastest, rate);
  }
  CHECK_NEAR(after / before, 1 - 1.5 * sin(alpha) * sin(alpha), 5e-3);
  tally t = run_exact(&w, stepper, 20000);
  CHECK_AT_MOST(fabs(carom_state_angular_velocity(w.model, w.state, 0).z), 1e-9);  // stands
  CHECK_NEAR(w.state->x[0].y, h, 1e-8);
  CHECK_AT_MOST(t.penetration, 1e-8);
  carom_stepper_destroy(stepper);
  free_world(&w);
}
