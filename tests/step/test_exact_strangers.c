// `exact` on scenes that nobody chose (strangers.h): runs to the end, no overlap, no energy from nowhere.
#include "strangers.h"

TEST(strangers_dropped_on_a_floor) {
  for (uint64_t seed = 1; seed <= 16; seed++) {
    stranger s = draw_stranger(seed);
    if (s.restitution == 1 && s.friction > 0) s.restitution = 0.9;  // bounces for ever otherwise
    hindsight h = look_back(make_stranger(&s), "exact", s.step, fmin(1.5, 8 * sqrt(s.size)));
    if (h.died) test_fail(__FILE__, __LINE__, "seed %d died at t = %g s", (int)seed, h.time);
    CHECK_AT_MOST(h.overlap, 1e-7 * s.size);
    CHECK_AT_MOST(h.gained, 1e-5);
    CHECK_AT_MOST(h.energy_row, 1e-5);
  }
}
