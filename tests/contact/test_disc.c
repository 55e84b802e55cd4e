// The friction disc: the least 1/2 t'A t + c't with |t| <= R, judged by what defines it and by trying every direction.
#include "carom/base.h"
#include "contact/solve/disc.h"
#include "test.h"

typedef struct disc {
  double A[3], c[2], R;
} disc;

static double value(const disc *d, const double t[2]) {
  double At[2] = {d->A[0] * t[0] + d->A[1] * t[1], d->A[1] * t[0] + d->A[2] * t[1]};
  return 0.5 * (t[0] * At[0] + t[1] * At[1]) + d->c[0] * t[0] + d->c[1] * t[1];
}

// Inside, the slip A t + c is gone; on the rim it is against t.
static void check_minimum(const disc *d) {
  double t[2];
  carom_disc_minimum(d->A, d->c, d->R, t);
  double size = hypot(t[0], t[1]), scale = hypot(d->c[0], d->c[1]);
  double slip[2] = {d->A[0] * t[0] + d->A[1] * t[1] + d->c[0], d->A[1] * t[0] + d->A[2] * t[1] + d->c[1]};
  CHECK_AT_MOST(size, d->R * (1 + 1e-14));
  if (size < d->R * (1 - 1e-12)) {
    CHECK_AT_MOST(hypot(slip[0], slip[1]), 1e-12 * scale);
  } else {
    CHECK_AT_MOST(fabs(slip[0] * t[1] - slip[1] * t[0]), 1e-12 * scale * size);
    CHECK_AT_MOST(slip[0] * t[0] + slip[1] * t[1], 1e-12 * scale * size);
  }
  double own = value(d, t), round_off = 1e-13 * (scale * d->R + (d->A[0] + d->A[2]) * d->R * d->R);
  for (int k = 0; k < 720; k++) {
    double angle = k * 3.14159265358979323846 / 360, part = (k % 4 + 1) / 4.0;
    double other[2] = {part * d->R * cos(angle), part * d->R * sin(angle)};
    CHECK_AT_MOST(own, value(d, other) + round_off);
  }
}

// Matrices turned by any angle, whose two eigenvalues differ by up to `spread`.
static disc random_disc(carom_random *random, double spread) {
  double angle = carom_random_between(random, 0, 6.3), C = cos(angle), S = sin(angle);
  double a = exp(carom_random_between(random, -7, 7)), b = a * pow(spread, -carom_random_between(random, 0, 1));
  double turn = carom_random_between(random, 0, 6.3), c = exp(carom_random_between(random, -7, 7));
  return (disc){.A = {a * C * C + b * S * S, (a - b) * C * S, a * S * S + b * C * C},
                .c = {c * cos(turn), c * sin(turn)},
                .R = c / a * exp(carom_random_between(random, -5, 5))};
}

TEST(minimum_is_where_the_slip_is_gone_or_against_the_impulse) {
  carom_random random = carom_random_make(3, 0);
  static const double spreads[] = {1, 10, 1e4};
  for (int k = 0; k < 300; k++) {
    disc d = random_disc(&random, spreads[k % 3]);
    check_minimum(&d);
  }
}

// One direction that does not yield at all: the impulse goes to the rim as long as there is any slip that way.
TEST(singular_matrices_are_taken) {
  disc d = {.A = {1, 1, 1}, .c = {1, 0.5}, .R = 3};
  double t[2];
  carom_disc_minimum(d.A, d.c, d.R, t);
  CHECK_NEAR(hypot(t[0], t[1]), 3, 1e-14);
  check_minimum(&d);
}

TEST(nothing_slips_or_nothing_holds) {
  static const disc still = {.A = {2, 0.5, 1}, .R = 1}, loose = {.A = {2, 0.5, 1}, .c = {1, 1}},
                    rigid = {.c = {1, 1}, .R = 1};
  const disc *cases[] = {&still, &loose, &rigid};
  for (int i = 0; i < 3; i++) {
    double t[2] = {7, 7};
    carom_disc_minimum(cases[i]->A, cases[i]->c, cases[i]->R, t);
    CHECK(t[0] == 0 && t[1] == 0);
  }
}
