// What grains do in bulk, against laws and figures that are known; and the boundaries and drives that such scenes use.
#include "contact/boundary.h"
#include "fixtures.h"

static const double G = 9.81, PI = 3.141592653589793;

static carom_builder *granular_builder(double friction) {
  carom_builder *b = new_builder();
  carom_material_def m = carom_material_default();
  m.friction = friction;
  m.restitution = 0;
  carom_builder_add_material(b, &m);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  return b;
}

static void add_profile(carom_builder *b, const double (*profile)[2], int count, int body) {
  carom_boundary_def def = carom_boundary_default();
  def.kind = CAROM_BOUNDARY_REVOLUTION, def.profile = profile, def.profile_count = count, def.body = body;
  carom_builder_add_boundary(b, &def);
}

static carom_stepper *cone_stepper(const world *w, double h) {
  carom_step_options o = carom_step_default_options();
  o.integrator = "cone", o.step = h;
  carom_stepper *stepper = NULL;
  carom_error error = {0};
  if (carom_stepper_create(w->model, &o, NULL, &stepper, &error) != CAROM_OK) {
    fprintf(stderr, "stepper: %s\n", error.message);
    exit(1);
  }
  return stepper;
}

// Balls on a disordered square lattice inside a circle, layer by layer.
static int fill_cylinder(carom_vec3 *x, int most, double r, double radius, double bottom) {
  carom_random random = carom_random_make(5, 0);
  int count = 0, side = (int)(radius / (2.2 * r)) + 1;
  for (int layer = 0; count < most; layer++)
    for (int i = -side; i <= side; i++)
      for (int j = -side; j <= side && count < most; j++) {
        carom_vec3 p = cm_vec3(2.2 * r * i, 2.2 * r * j, bottom + 2.2 * r * layer);
        if (hypot(p.x, p.y) > radius - 1.2 * r) continue;
        x[count++] = cm_add(p, random_vector(&random, 0.09 * r));
      }
  return count;
}

// ---- boundaries -----------------------------------------------------------------------------------------------------

// Against the nearest of many points on the surface.
TEST(distance_to_a_surface_of_revolution_is_that_to_its_points) {
  static const double profile[4][2] = {{0.1, -0.4}, {0.1, 0}, {0.5, 0.3}, {0.5, 1}};
  carom_builder *b = granular_builder(0.5);
  add_profile(b, profile, 4, CAROM_WORLD);
  world w = finish_world(b);
  carom_random random = carom_random_make(1, 0);
  for (int k = 0; k < 60; k++) {
    carom_vec3 c = cm_add(random_vector(&random, 0.6), cm_vec3(0, 0, 0.3));
    double least = INFINITY, nearest = INFINITY;
    for (int s = 0; s < 3; s++)
      for (int i = 0; i <= 200; i++)
        for (int j = 0; j < 360; j++) {
          double t = i / 200.0, a = 2 * PI * j / 360, rho = profile[s][0] + t * (profile[s + 1][0] - profile[s][0]);
          double z = profile[s][1] + t * (profile[s + 1][1] - profile[s][1]);
          least = fmin(least, cm_norm(cm_sub(c, cm_vec3(rho * cos(a), rho * sin(a), z))));
        }
    carom_grain ball = {c, 0.05, 10};
    carom_touch touches[CAROM_TOUCH_MAX];
    int count = carom_boundary_touch(w.model, &w.model->boundaries[0], w.model->boundaries[0].pose, &ball, touches);
    for (int i = 0; i < count; i++) nearest = fmin(nearest, touches[i].gap);
    CHECK_NEAR(nearest + 0.05, least, 5e-3);
    CHECK(nearest + 0.05 <= least + 1e-12);
  }
  free_world(&w);
}

TEST(a_profile_in_error_is_refused) {
  static const double negative[2][2] = {{-0.1, 0}, {0.1, 1}};
  carom_builder *b = granular_builder(0.5);
  carom_error error = {0};
  add_profile(b, negative, 2, CAROM_WORLD);
  CHECK(carom_builder_status(b, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "rho >= 0");
  carom_builder_destroy(b);
}

// ---- drives ---------------------------------------------------------------------------------------------------------

TEST(a_drive_is_a_function_of_time) {
  carom_builder *b = new_builder();
  carom_body_def def = carom_body_default();
  def.fixed = true, def.pose.p = cm_vec3(1, 0, 0);
  int body = carom_builder_add_body(b, &def);
  const carom_knot knots[] = {{0, 0}, {2, 1}};  // integral t^2 / 4 up to 2 s, then 1 + (t - 2)
  carom_drive_def drive = carom_drive_default();
  drive.body = body, drive.velocity = cm_vec3(0, 0, 2), drive.angular_velocity = PI / 2;
  drive.knots = knots, drive.knot_count = 2;
  carom_builder_add_drive(b, &drive);
  carom_builder_add_drive(b, &drive);
  carom_error error = {0};
  CHECK(carom_builder_status(b, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "driven twice");
  carom_builder_destroy(b);
  b = new_builder();
  carom_builder_add_body(b, &def);
  carom_builder_add_drive(b, &drive);
  world w = finish_world(b);
  carom_pose pose = carom_drive_pose(w.model, 0, 2);
  CHECK_NEAR(cm_norm(cm_sub(pose.p, cm_vec3(0, 1, 2))), 0, 1e-12);  // a quarter turn about z, and 2 m up
  carom_vec3 v, spin;
  carom_model_motion(w.model, body, 2.5, 0.5, &v, &spin);
  CHECK_NEAR(spin.z, PI / 2, 1e-12);
  CHECK_NEAR(v.z, 2, 1e-12);
  free_world(&w);
}

// ---- bulk -----------------------------------------------------------------------------------------------------------

// A poured bed of equal balls fills 58 to 64 % away from its walls and its surface.
TEST(a_poured_bed_is_loosely_packed) {
  enum { COUNT = 900 };
  static carom_vec3 x[COUNT];
  static const double vessel[3][2] = {{0, 0}, {0.27, 0}, {0.27, 4}};
  double r = 0.03, R = 0.27;
  carom_builder *b = granular_builder(0.2);
  fill_cylinder(x, COUNT, r, R, 1.2 * r);
  put_balls(b, r, x, COUNT);
  add_profile(b, vessel, 3, CAROM_WORLD);
  world w = finish_world(b);
  carom_stepper *stepper = cone_stepper(&w, 0.01);
  run_steps(stepper, w.state, 120);
  // By the share of sample points that lie in a ball, two diameters from the walls and the floor.
  carom_random random = carom_random_make(9, 0);
  double top = 0;
  for (int i = 0; i < COUNT; i++) top = fmax(top, w.state->x[i].z);
  int inside = 0, samples = 20000;
  for (int k = 0; k < samples; k++) {
    double rho = (R - 4 * r) * sqrt(carom_random_uniform(&random)), a = carom_random_between(&random, 0, 2 * PI);
    carom_vec3 p = cm_vec3(rho * cos(a), rho * sin(a), carom_random_between(&random, 4 * r, top - 5 * r));
    for (int i = 0; i < COUNT; i++)
      if (cm_norm2(cm_sub(p, w.state->x[i])) < r * r) {
        inside++;
        break;
      }
  }
  double fraction = (double)inside / samples;
  printf("packing fraction %.3f\n", fraction);
  CHECK(fraction > 0.58 && fraction < 0.64);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// Half-width of the heap over its height after a column has collapsed.
static double heap_slope(double mu) {
  enum { COUNT = 300 };
  static carom_vec3 x[COUNT];
  double r = 0.02;
  carom_builder *b = granular_builder(mu);
  carom_boundary_def floor = carom_boundary_default();
  fill_cylinder(x, COUNT, r, 0.13, 1.2 * r);
  put_balls(b, r, x, COUNT);
  carom_builder_add_boundary(b, &floor);
  world w = finish_world(b);
  carom_stepper *stepper = cone_stepper(&w, 0.005);
  run_steps(stepper, w.state, 240);
  double spread = 0, height = 0;
  for (int i = 0; i < COUNT; i++) {
    spread += hypot(w.state->x[i].x, w.state->x[i].y) / COUNT;
    height += w.state->x[i].z / COUNT;
  }
  carom_stepper_destroy(stepper);
  free_world(&w);
  return height / spread;
}

TEST(heaps_are_steeper_with_more_friction) {
  double low = heap_slope(0.1), middle = heap_slope(0.3), high = heap_slope(0.7);
  printf("height over radius: %.3f %.3f %.3f\n", low, middle, high);
  CHECK(low < middle && middle < high);
}

// Through a hole of a flat-bottomed silo: what comes back is counted, momentum and energy are booked.
static double recirculate(double h) {
  enum { COUNT = 120 };
  static carom_vec3 x[COUNT];
  static const double funnel[3][2] = {{0.09, 0}, {0.2, 0.1}, {0.2, 3}};
  double r = 0.02;
  carom_builder *b = granular_builder(0.3);
  fill_cylinder(x, COUNT, r, 0.18, 0.15);
  put_balls(b, r, x, COUNT);
  add_profile(b, funnel, 3, CAROM_WORLD);
  carom_recirculation_def back = carom_recirculation_default();
  back.outlet_low = cm_vec3(-9, -9, -9), back.outlet_high = cm_vec3(9, 9, -0.3);
  back.inlet_low = cm_vec3(-0.1, -0.1, 0.8), back.inlet_high = cm_vec3(0.1, 0.1, 1.5);
  carom_builder_add_recirculation(b, &back);
  world w = finish_world(b);
  carom_stepper *stepper = cone_stepper(&w, h);
  carom_audit *audit = NULL;
  carom_error error = {0};
  if (carom_audit_create(w.model, w.state, NULL, &audit, &error) != CAROM_OK) abort();
  int returned = 0;
  for (int i = 0; i < lround(1.5 / h); i++) {
    carom_step_report report;
    CHECK(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_OK);
    carom_audit_step(audit, w.state, &report);
    for (int k = 0; k < report.event_count; k++) returned += report.events[k].kind == CAROM_EVENT_RECIRCULATED;
  }
  CHECK(returned > 190 && returned < 250);  // 222 and 220
  for (int i = 0; i < COUNT; i++) CHECK(w.state->x[i].z > -1.2);
  carom_audit_sample s = carom_audit_latest(audit);
  CHECK_AT_MOST(s.momentum_error, 1e-11);
  CHECK_AT_MOST(s.angular_momentum_error, 1e-11);
  carom_audit_destroy(audit);
  carom_stepper_destroy(stepper);
  free_world(&w);
  return s.energy_error;
}

// The step is of first order: -3.5e-3 and -1.2e-3 of the energy are missing, where nothing else than the length of the
// steps tells what grains that fall, rub and are lifted back have cost.
TEST(grains_that_leave_come_back_and_are_booked) {
  CHECK_AT_MOST(fabs(recirculate(0.01)), 8e-3);
  CHECK_AT_MOST(fabs(recirculate(0.005)), 4e-3);
}
