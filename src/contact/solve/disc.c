#include "contact/solve/disc.h"

#include <float.h>
#include <math.h>

enum { MAX_NEWTON = 50 };

static double length(double x, double y) { return sqrt(x * x + y * y); }

// (A + nu) t = -c with |t| = radius: Newton's method on 1/|t| - 1/radius, which is nearly linear in nu (More and
// Sorensen 1983), from the nu that is right when A is the same along both axes, and never too large.
static void on_circle(const double a[2], const double c[2], double radius, double t[2]) {
  double nu = fmax(0, length(c[0], c[1]) / radius - a[0]);
  for (int i = 0; i < MAX_NEWTON; i++) {
    double p = 1 / (a[0] + nu), q = 1 / (a[1] + nu);
    t[0] = -c[0] * p, t[1] = -c[1] * q;
    double square = t[0] * t[0] + t[1] * t[1], size = sqrt(square);
    double step = (size - radius) * square / (radius * (t[0] * t[0] * p + t[1] * t[1] * q));
    nu = fmax(0, nu + step);
    if (fabs(step) <= 2 * DBL_EPSILON * (nu + a[0])) break;
  }
  double size = length(t[0], t[1]);
  t[0] *= radius / size, t[1] *= radius / size;
}

void carom_disc_minimum_in_axes(const double a[2], const double c[2], double radius, double t[2]) {
  t[0] = t[1] = 0;
  if (!(radius > 0)) return;
  t[0] = -c[0] / a[0], t[1] = -c[1] / a[1];
  if (t[0] * t[0] + t[1] * t[1] > radius * radius) on_circle(a, c, radius, t);
}

// Cosine and sine of half the angle of (half, off), whose length is `spread`; the larger one first, for accuracy.
static void half_angle(double half, double off, double spread, double axis[2]) {
  if (half >= 0) {
    axis[0] = sqrt(0.5 * (1 + half / spread));
    axis[1] = 0.5 * off / (spread * axis[0]);
  } else {
    axis[1] = sqrt(0.5 * (1 - half / spread));
    axis[0] = 0.5 * off / (spread * axis[1]);
  }
}

bool carom_disc_axes(const double A[3], double a[2], double axis[2]) {
  double mean = 0.5 * (A[0] + A[2]), half = 0.5 * (A[0] - A[2]), spread = length(half, A[1]);
  a[0] = mean + spread, a[1] = fmax(mean - spread, 4 * DBL_EPSILON * mean);
  axis[0] = 1, axis[1] = 0;
  if (spread > 0) half_angle(half, A[1], spread, axis);
  return mean > 0;
}

void carom_disc_minimum(const double A[3], const double c[2], double radius, double t[2]) {
  double a[2], axis[2], s[2];
  t[0] = t[1] = 0;
  if (!carom_disc_axes(A, a, axis)) return;
  double d[2] = {axis[0] * c[0] + axis[1] * c[1], -axis[1] * c[0] + axis[0] * c[1]};
  carom_disc_minimum_in_axes(a, d, radius, s);
  t[0] = axis[0] * s[0] - axis[1] * s[1], t[1] = axis[1] * s[0] + axis[0] * s[1];
}
