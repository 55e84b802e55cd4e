// `moreau` with joints: order against an independent integration in minimal coordinates, joint impulses in collisions.
#include "double_pendulum.h"
#include "test.h"

static double order(const char *integrator, double alpha, double until, double wall, double e, double h) {
  double coarse = pendulum_error(integrator, alpha, h, until, wall, e);
  double fine = pendulum_error(integrator, alpha, h / 4, until, wall, e);
  double p = log(coarse / fine) / log(4);
  printf("%s alpha %g: %.3g -> %.3g, order %.2f\n", integrator, alpha, coarse, fine, p);
  return p;
}

TEST(first_order_with_alpha_1) { CHECK_NEAR(order("moreau", 1, 0.6, INFINITY, 0, 2e-3), 1, 0.1); }
TEST(second_order_with_alpha_half) { CHECK_NEAR(order("moreau", 0.5, 0.6, INFINITY, 0, 4e-3), 2, 0.1); }
TEST(index_2_is_of_second_order_with_alpha_half) { CHECK_NEAR(order("index2", 0.5, 0.6, INFINITY, 0, 4e-3), 2, 0.1); }
TEST(index_3_is_of_second_order_with_alpha_half) { CHECK_NEAR(order("index3", 0.5, 0.6, INFINITY, 0, 4e-3), 2, 0.1); }
TEST(index_3_is_of_first_order_with_alpha_1) { CHECK_NEAR(order("index3", 1, 0.6, INFINITY, 0, 2e-3), 1, 0.1); }

// The tip hits the wall at 0.80 s and rebounds. The moment is found by interpolation, so that alpha = 1/2 stays of
// second order; alpha = 1 is of first order with a factor that depends on where in its step the hit falls.
TEST(the_tip_hits_the_wall) {
  angles start = {{-1.2, -0.4}, {0, 0}};
  CHECK(tip(reference(start, 1, INFINITY, 0)) > 1);
  CHECK(tip(reference(start, 1, 0.5, 0.5)) < 0.1);
}

TEST(first_order_through_an_impact) {
  for (int i = 0; i < 5; i++) {
    double h = 4e-3 / (1 << i);
    CHECK_AT_MOST(pendulum_error("moreau", 1, h, 1, 0.5, 0.5), 15 * h);
  }
}

TEST(second_order_through_an_impact) { CHECK_NEAR(order("moreau", 0.5, 1, 0.5, 0.5, 4e-3), 2, 0.25); }
// Without care alpha = 1/2 would turn a plastic impact into an elastic one.
TEST(second_order_through_a_plastic_impact) { CHECK_NEAR(order("moreau", 0.5, 1, 0.5, 0, 4e-3), 2, 0.25); }
TEST(an_impact_of_a_jointed_tip_is_right) { CHECK_AT_MOST(pendulum_error("moreau", 0.5, 1e-3, 1, 0.5, 0.5), 5e-6); }

// ---- a rod of two particles falls on a table (Gavrea 2006, Figure 2.1) ---------------------------------------------

// One end strikes first: the normal impulse at it goes through the rod and moves the other end, too. Without the joint
// the second particle would not notice.
TEST(impulses_go_through_a_rod) {
  carom_builder *b = new_builder();
  put_material(b, 0, 0);
  put_shape(b, fixed_body(cm_zero3(), cm_qidentity()), floor_shape());
  double angle = 0.7, r = 0.05;
  int low = add_ball(b, r, cm_vec3(0, 0, r + 1e-3)),
      high = add_ball(b, r, cm_add(cm_vec3(0, 0, r + 1e-3), cm_vec3(cos(angle), 0, sin(angle))));
  add_link(b, low, high, cm_zero3());
  world w = finish_world(b);
  for (int i = low; i <= high; i++) carom_state_set_velocity(w.model, w.state, i, cm_vec3(0, 0, -1), cm_zero3());
  carom_step_options options = carom_step_default_options();
  options.integrator = "moreau";
  options.step = 2e-3;
  carom_stepper *stepper = NULL;
  REQUIRE(carom_stepper_create(w.model, &options, NULL, &stepper, NULL) == CAROM_OK);
  carom_step_report report;
  for (int i = 0; i < 2; i++) REQUIRE(carom_stepper_step(stepper, w.state, &report, NULL) == CAROM_OK);
  // By hand: p on the low end, s along the rod u. low: v = (0, -1) + p z - s u, high: v = (0, -1) + s u;
  // low.z = 0, u.(high - low) = 0  =>  2 s = p sin, p (1 - sin^2/2) = 1.
  double n = sin(angle), p = 1 / (1 - n * n / 2), s = p * n / 2;
  carom_vec3 v = carom_state_velocity(w.model, w.state, high);
  // from the impact at 1 ms on the rod's pull towards its middle, v^2/2 of the relative velocity, lifts the low end
  double pull = 0.5 * (4 * s * s * cos(angle) * cos(angle) + (s * n - 1) * (s * n - 1));
  CHECK_NEAR(carom_state_velocity(w.model, w.state, low).z, pull * n * 3e-3, pull * n * 1.1e-3);  // within a step
  CHECK_NEAR(v.x, s * cos(angle), 2e-3);  // the rod has turned by a step since
  CHECK_NEAR(v.z, -1 + s * n, 2e-3);
  CHECK(fabs(v.x) > 0.2);
  CHECK_AT_MOST(report.constraint, options.step * options.step);  // what one step may leave
  carom_stepper_destroy(stepper);
  free_world(&w);
}
