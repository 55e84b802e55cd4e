// The contact solvers as a user meets them: public headers and the shared library only.
#include "carom/carom.h"
#include "test.h"

// A block on three feet on a slope, one step of gravity at a time: it stays put exactly as long as mu >= tan(angle), as
// Coulomb says. Gaps are taken as zero throughout, so that sliding shows the convex law's lift-off, not Coulomb's
// speed.
static double speed_after(double mu, double angle, int steps, double h, carom_contact_method method) {
  carom_contact_work *work;
  carom_vec3 v = {0, 0, 0}, w = {0, 0, 0}, impulses[3] = {{0, 0, 0}};
  if (carom_contact_work_create(NULL, &work, NULL)) return NAN;
  carom_contact_options options = carom_contact_default_options();
  options.method = method, options.tolerance = 1e-10, options.max_iterations = 20000, options.warm_start = true;
  for (int i = 0; i < steps; i++) {
    v = cm_add(v, cm_vec3(9.81 * h * sin(angle), 0, -9.81 * h * cos(angle)));
    carom_contact_body body = {1, {6, 6, 6, 0, 0, 0}, v, w};
    carom_contact_point contacts[3];
    for (int k = 0; k < 3; k++)
      contacts[k] = (carom_contact_point){.a = 0,
                                          .b = CAROM_CONTACT_WORLD,
                                          .friction = mu,
                                          .normal = {0, 0, 1},
                                          .arm_a = {0.5 * cos(2.1 * k), 0.5 * sin(2.1 * k), -0.05}};
    carom_contact_problem problem = {.body_count = 1, .contact_count = 3, .bodies = &body, .contacts = contacts};
    carom_contact_solution solution = {.impulses = impulses, .velocities = &v, .spins = &w};
    carom_contact_info info;
    carom_error error = {0};
    if (carom_contact_solve(work, &problem, &options, &solution, &info, &error)) {
      test_fail(__FILE__, __LINE__, "%s", error.message);
      break;
    }
    CHECK(info.outcome == CAROM_CONTACT_SOLVED);
  }
  carom_contact_work_destroy(work);
  return v.x;
}

TEST(a_block_sticks_below_the_angle_of_friction) {
  for (int method = CAROM_CONTACT_PGS; method <= CAROM_CONTACT_INTERIOR; method++) {
    double below = speed_after(0.5, atan(0.499), 20, 1e-3, (carom_contact_method)method);
    double above = speed_after(0.5, atan(0.6), 20, 1e-3, (carom_contact_method)method);
    CHECK_NEAR(below, 0, 1e-8);
    CHECK(above > 0);
  }
}

TEST(the_header_alone_is_enough_to_choose_a_method) {
  carom_contact_method method = CAROM_CONTACT_METHOD_COUNT;
  CHECK(carom_contact_method_by_name("apgd", &method) && method == CAROM_CONTACT_APGD);
  CHECK(carom_contact_method_available(method));
  CHECK_TEXT(carom_contact_method_name(CAROM_CONTACT_TRON), "tao-tron");
}
