// Pebbles fall into a vessel and come to rest, the contacts solved by every method: one curve of kinetic energy, and at
// every step a duality gap within the tolerance asked for (Gavrea 2.3, figure 2.5).
#include "pebbles.h"
#include "test.h"

enum { PEBBLES = 80 };
static const double SECONDS = 0.3;

static pebble_run fall(const char *solver, double h, double tolerance) {
  pebble_job job = {PEBBLES, (int)lround(SECONDS / h), solver, tolerance, h, INFINITY};
  pebble_run run;
  if (!pebbles_fall(&job, &run)) {
    fprintf(stderr, "%s: %s\n", solver, run.message);
    exit(1);
  }
  CHECK_AT_MOST(run.gap, tolerance);
  CHECK(run.gap > 0);
  return run;
}

static void check_curve(const char *solver, double h, double tolerance, double bound) {
  carom_contact_method method;
  REQUIRE(carom_contact_method_by_name(solver, &method));
  if (!carom_contact_method_available(method)) test_skip("this solver is not in this build");
  pebble_run base = fall("pgs", h, tolerance), run = fall(solver, h, tolerance);
  CHECK(pebbles_stop(&base, h, 0.1) <= SECONDS + 1e-9);  // the pile stops within the run
  CHECK_AT_MOST(pebbles_difference(&run, &base, 0.1), bound);
  free(base.energy), free(run.energy);
}

TEST(apgd_gives_the_curve_of_pgs) { check_curve("apgd", 0.01, 1e-4, 1e-3); }
TEST(spg_gives_the_curve_of_pgs) { check_curve("spg", 0.01, 1e-4, 1e-3); }
TEST(interior_gives_the_curve_of_pgs) { check_curve("interior", 0.01, 1e-4, 1e-3); }
TEST(blmvm_gives_the_curve_of_pgs) { check_curve("tao-blmvm", 0.01, 1e-4, 1e-3); }
TEST(tron_gives_the_curve_of_pgs) { check_curve("tao-tron", 0.01, 1e-4, 1e-3); }

TEST(long_steps_give_one_curve_too) {
  check_curve("apgd", 0.05, 1e-5, 1e-3);
  check_curve("interior", 0.05, 1e-5, 1e-3);
}

// While nothing touches, the energy is that of free fall with the step's own velocities, v = g t: an answer that no
// solver had a hand in.
TEST(the_curve_begins_as_free_fall) {
  pebble_run run = fall("pgs", 0.01, 1e-4);
  double mass = 1700 * 4.0 / 3 * 3.14159265358979323846 * 0.03 * 0.03 * 0.03, v = 9.81 * 0.03;
  CHECK_NEAR(run.energy[2], PEBBLES * 0.5 * mass * v * v, 1e-9);
  free(run.energy);
}
