// Scenes that nobody chose. The overlap that an integrator reports is not believed: it is measured.
#include "strangers.h"

static const double OVERLAP = 1e-6;  // of the size of the bodies, at the end of any step

static double duration(const stranger *s) { return fmin(0.6, 3 * sqrt(2 * s->size * s->count / 9.81)); }

static void show(const char *by, const stranger *s, const hindsight *o) {
  if (!getenv("CAROM_TEST_VERBOSE")) return;
  printf(
      "%s %3d: n %2d size %.2g h %.2g e %g mu %g: %st %.2g overlap %.1e (%.1e) row %.1e gained %.1e kept %.1e residual "
      "%.1e\n",
      by, (int)s->seed, s->count, s->size, s->step, s->restitution, s->friction, o->died ? "DIED " : "", o->time,
      o->overlap / s->size, o->claimed / s->size, o->energy_row, o->gained, o->kept, o->residual);
}

// `gained` is of the largest kinetic energy, at any time.
static void run_strangers(const char *by, uint64_t from, uint64_t to, double gained) {
  for (uint64_t seed = from; seed < to; seed++) {
    stranger s = draw_stranger(seed);
    hindsight o = look_back(make_stranger(&s), by, s.step, duration(&s));
    show(by, &s, &o);
    CHECK(!o.died);
    CHECK_AT_MOST(o.overlap, OVERLAP * s.size);
    CHECK_AT_MOST(o.gained, gained);
    CHECK_AT_MOST(o.energy_row, gained);
  }
}

TEST(dcr_moves_strangers) { run_strangers("dcr", 20, 36, 2e-3); }
TEST(dcr_moves_strangers_long) { run_strangers("dcr", 100, 200, 1e-2); }

TEST(cone_moves_strangers) { run_strangers("cone", 23, 33, 1e-3); }
TEST(cone_moves_strangers_long) { run_strangers("cone", 100, 200, 5e-2); }
