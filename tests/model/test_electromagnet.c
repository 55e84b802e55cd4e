// The electromagnet pair law: limits, what symmetry it has, its range; and two pairs of poles as another derivation.
#include "fixtures.h"

static carom_magnet_load load_at(double r, double a, double b) {
  carom_magnet_load load;
  CHECK(carom_electromagnet_pair(r, a, b, &load));
  return load;
}

// Cores of 10 cm with a pole of strength +-1 at each end, in line.
static double poles(double r) {
  double L = 0.1;
  return 1 / ((r - L) * (r - L)) + 1 / ((r + L) * (r + L)) - 2 / (r * r);
}

TEST(along_the_axis_it_is_two_pairs_of_poles) {
  double strength = load_at(0.4, 0, 0).force_x / poles(0.4);
  CHECK_NEAR(strength, 1.9e-4, 0.1e-4);  // N m2; a core of 1 cm at 1 T has 3.9e-4
  for (double r = 0.15; r <= 0.55; r += 0.01)
    CHECK_NEAR(load_at(r, 0, 0).force_x / poles(r), strength, 0.08 * strength);
}

TEST(far_away_it_falls_as_a_dipole) {
  carom_magnet_load load;
  CHECK(!carom_electromagnet_pair(10, 0, 0, &load));
  CHECK_NEAR(load.force_x * pow(10, 4), 0.12094e-4, 1e-9);
  double before = INFINITY;
  for (double r = 0.1; r < 0.55; r += 0.01) {
    double now = load_at(r, 0, 0).force_x;
    CHECK(now > 0 && now < before);
    before = now;
  }
}

// Mirrored angles: the force along the axis is even and the one across odd, as far as the fit goes.
TEST(it_is_nearly_symmetric_at_small_angles) {
  for (double a = -0.2; a <= 0.2; a += 0.1)
    for (double b = -0.2; b <= 0.2; b += 0.1) {
      carom_magnet_load one = load_at(0.25, a, b), other = load_at(0.25, -a, -b);
      double size = load_at(0.25, 0, 0).force_x;
      CHECK_NEAR(one.force_x, other.force_x, 0.2 * size);  // either may be 10 percent off
      CHECK_NEAR(one.force_y, -other.force_y, 0.2 * size);
    }
  CHECK_AT_MOST(fabs(load_at(0.25, 0, 0).force_y), 0.05 * load_at(0.25, 0, 0).force_x);
}

TEST(its_range_is_told) {
  carom_magnet_load in, out;
  CHECK(carom_electromagnet_pair(0.1, 0.6, -0.6, &in));
  CHECK(!carom_electromagnet_pair(0.05, 0.6, -0.6, &out));
  CHECK(in.force_x == out.force_x && in.torque == out.torque);
  CHECK(!carom_electromagnet_pair(0.3, 0.7, 0, &out));
  CHECK(!carom_electromagnet_pair(0.6, 0, 0, &out));
}
