// Points of Student's t distribution, through the incomplete beta function.
#include <float.h>
#include <math.h>

#include "carom/saa.h"

// The continued fraction of I_x(a, b) by the method of Lentz (Abramowitz and Stegun 1964, 26.5.8), for x below
// (a + 1)/(a + b + 2).
static double beta_fraction(double a, double b, double x) {
  double c = 1, d = 1 - (a + b) * x / (a + 1), h;
  d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
  h = d;
  for (int k = 1; k < 400; k++) {
    double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k)),
           odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1)), before = h;
    d = 1 / (1 + even * d), c = 1 + even / c, h *= d * c;
    d = 1 / (1 + odd * d), c = 1 + odd / c, h *= d * c;
    if (fabs(h - before) < 1e-16 * fabs(h)) break;
  }
  return h;
}

static double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// The share above t >= 0.
static double tail(double t, int degrees) {
  return 0.5 * incomplete_beta(0.5 * degrees, 0.5, degrees / (degrees + t * t));
}

double carom_student_point(double p, int degrees) {
  if (!(p > 0 && p < 1) || degrees < 1) return NAN;
  double above = fmin(p, 1 - p), low = 0, high = 1;
  while (tail(high, degrees) > above && high < 1e300) high *= 2;
  for (int k = 0; k < 200 && high - low > 1e-15 * high; k++) {
    double middle = 0.5 * (low + high);
    if (tail(middle, degrees) > above)
      low = middle;
    else
      high = middle;
  }
  return p < 0.5 ? -high : high;
}
