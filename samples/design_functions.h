// Functions with a known least value, for searches. Two sets: constants of the search were chosen on `design_training`
// alone; tests and benchmarks report on `design_reported`.
#ifndef CAROM_SAMPLES_DESIGN_FUNCTIONS_H
#define CAROM_SAMPLES_DESIGN_FUNCTIONS_H

#include <math.h>
#include <stddef.h>

enum { DESIGN_DIM = 4 };

typedef struct design_function {
  const char *name;
  int dimension;
  double low[DESIGN_DIM], high[DESIGN_DIM];
  double (*value)(const double *x);
} design_function;

// ---- training -------------------------------------------------------------------------------------------------------

static double training_parabola(const double *x) { return (x[0] - 0.37) * (x[0] - 0.37); }
static double training_quartic(const double *x) { return pow(x[0] - 0.62, 4) + 0.2 * pow(x[0] - 0.62, 2); }
static double training_exponential(const double *x) { return exp(-3 * x[0]) + 0.8 * x[0] * x[0]; }
static double training_gramacy(const double *x) {
  return sin(10 * 3.14159265358979 * x[0]) / (2 * x[0]) + pow(x[0] - 1, 4);
}
static double training_log(const double *x) { return log(1 + 25 * (x[0] - 0.3) * (x[0] - 0.3)); }
static double training_kink(const double *x) { return fabs(x[0] - 0.41); }
static double training_pole(const double *x) { return 1 / x[0] + 4 * x[0] * x[0]; }
static double training_waves(const double *x) { return cos(9 * x[0]) + 0.5 * x[0] + sin(4 * x[0]); }
static double training_hat(const double *x) { return -x[0] * exp(-2 * x[0] * x[0]); }
static double training_root(const double *x) { return x[0] - 1.3 * sqrt(x[0]); }

static double training_bowl(const double *x) {
  double a = x[0] + x[1] - 0.9, b = x[0] - x[1] + 0.1;
  return a * a + 4 * b * b;
}
static double training_valley(const double *x) {
  double a = 1 - x[0], b = x[1] - x[0] * x[0];
  return a * a + 5 * b * b;
}
static double training_cosines(const double *x) {
  return x[0] * x[0] + 2 * x[1] * x[1] - 0.3 * cos(5 * x[0]) - 0.4 * cos(6 * x[1]) + 0.5 * x[0] * x[1];
}
static double training_bowl3(const double *x) {
  return pow(x[0] - 0.3, 2) + 2 * pow(x[1] - 0.6, 2) + 0.5 * pow(x[2] - 0.5, 2) + x[0] * x[1] * x[2];
}
static double training_log4(const double *x) {
  double sum = 0;
  for (int i = 0; i < 4; i++) sum += (i + 1) * (x[i] - 0.2 - 0.15 * i) * (x[i] - 0.2 - 0.15 * i);
  return log(1 + 2 * sum);
}

static const design_function design_training[] = {
    {"parabola", 1, {0}, {1}, training_parabola},
    {"quartic", 1, {0}, {1}, training_quartic},
    {"exponential", 1, {0}, {2}, training_exponential},
    {"Gramacy and Lee", 1, {0.5}, {2.5}, training_gramacy},
    {"logarithm", 1, {0}, {1}, training_log},
    {"kink", 1, {0}, {1}, training_kink},
    {"pole", 1, {0.1}, {2}, training_pole},
    {"waves", 1, {0}, {2}, training_waves},
    {"hat", 1, {0}, {3}, training_hat},
    {"root", 1, {0}, {1}, training_root},
    {"bowl", 2, {0, 0}, {1, 1}, training_bowl},
    {"valley", 2, {-1, -1}, {2, 3}, training_valley},
    {"cosines", 2, {-1, -1.2}, {1.5, 1}, training_cosines},
    {"bowl of three", 3, {0, 0, 0}, {1, 1, 1}, training_bowl3},
    {"logarithm of four", 4, {0, 0, 0, 0}, {1, 1, 1, 1}, training_log4},
};
enum { DESIGN_TRAINING = sizeof design_training / sizeof *design_training };

// ---- reported -------------------------------------------------------------------------------------------------------

static double reported_drag(const double *x) { return x[0] * x[0] + 2 / x[0]; }
static double reported_forrester(const double *x) { return pow(6 * x[0] - 2, 2) * sin(12 * x[0] - 4); }
static double reported_catenary(const double *x) { return cosh(x[0]) + 0.6 * x[0]; }
static double reported_tangent(const double *x) { return exp(x[0]) - 4 * x[0]; }
static double reported_morse(const double *x) { return pow(1 - exp(-1.5 * (x[0] - 1)), 2); }
static double reported_hyperbola(const double *x) { return sqrt(1 + 25 * (x[0] - 0.55) * (x[0] - 0.55)); }
static double reported_power(const double *x) { return pow(x[0], x[0]); }
static double reported_witch(const double *x) { return -1 / (1 + 9 * (x[0] - 0.66) * (x[0] - 0.66)) - 0.1 * x[0]; }
static double reported_throw(const double *x) {  // range of a throw from 0.7 of the height, by the angle
  double s = sin(x[0]), c = cos(x[0]);
  return -c * (s + sqrt(s * s + 0.7));
}
static double reported_two_sines(const double *x) { return sin(x[0]) + sin(10 * x[0] / 3); }

static double reported_branin(const double *x) {
  double a = x[1] - 5.1 / (4 * 9.86960440108936) * x[0] * x[0] + 5 / 3.14159265358979 * x[0] - 6;
  return a * a + 10 * (1 - 1 / (8 * 3.14159265358979)) * cos(x[0]) + 10;
}
static double reported_booth(const double *x) {
  double a = x[0] + 2 * x[1] - 7, b = 2 * x[0] + x[1] - 5;
  return a * a + b * b;
}
static double reported_mccormick(const double *x) {
  return sin(x[0] + x[1]) + (x[0] - x[1]) * (x[0] - x[1]) - 1.5 * x[0] + 2.5 * x[1] + 1;
}
static double reported_hartmann(const double *x) {
  static const double alpha[4] = {1, 1.2, 3, 3.2};
  static const double A[4][3] = {{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}};
  static const double P[4][3] = {
      {0.3689, 0.1170, 0.2673}, {0.4699, 0.4387, 0.7470}, {0.1091, 0.8732, 0.5547}, {0.0381, 0.5743, 0.8828}};
  double sum = 0;
  for (int i = 0; i < 4; i++) {
    double e = 0;
    for (int j = 0; j < 3; j++) e += A[i][j] * (x[j] - P[i][j]) * (x[j] - P[i][j]);
    sum -= alpha[i] * exp(-e);
  }
  return sum;
}
static double reported_chain(const double *x) {  // height of a hanging chain of four springs
  double e = 0, at = 0;
  for (int i = 0; i < 4; i++) e += 3 * pow(x[i] - at, 2) + 0.4 * (i + 1) * cos(x[i]), at = x[i];
  return e + exp(0.5 * (1 - at));
}

static const design_function design_reported[] = {
    {"drag", 1, {0.3}, {4}, reported_drag},
    {"Forrester", 1, {0}, {1}, reported_forrester},
    {"catenary", 1, {-2}, {1.5}, reported_catenary},
    {"tangent", 1, {0}, {3}, reported_tangent},
    {"Morse", 1, {0.5}, {4}, reported_morse},
    {"hyperbola", 1, {0}, {1}, reported_hyperbola},
    {"power", 1, {0.05}, {1.5}, reported_power},
    {"witch", 1, {0}, {1}, reported_witch},
    {"throw", 1, {0.1}, {1.5}, reported_throw},
    {"two sines", 1, {2.7}, {7.5}, reported_two_sines},
    {"Branin", 2, {-5, 0}, {10, 15}, reported_branin},
    {"Booth", 2, {-10, -10}, {10, 10}, reported_booth},
    {"McCormick", 2, {-1.5, -3}, {4, 4}, reported_mccormick},
    {"Hartmann", 3, {0, 0, 0}, {1, 1, 1}, reported_hartmann},
    {"chain", 4, {-1, -1, -1, -1}, {3, 3, 3, 3}, reported_chain},
};
enum { DESIGN_REPORTED = sizeof design_reported / sizeof *design_reported };

// ---- the truth ------------------------------------------------------------------------------------------------------

typedef struct design_truth {
  double least, most;
} design_truth;

// By points of a fine grid, and from the best of them downhill in ever smaller steps.
static design_truth design_find_truth(const design_function *f) {
  int d = f->dimension, side = d == 1 ? 20001 : d == 2 ? 301 : d == 3 ? 61 : 21, all = 1;
  design_truth t = {INFINITY, -INFINITY};
  double best[DESIGN_DIM] = {0}, x[DESIGN_DIM];
  for (int i = 0; i < d; i++) all *= side;
  for (int k = 0; k < all; k++) {
    for (int i = 0, rest = k; i < d; i++, rest /= side)
      x[i] = f->low[i] + (f->high[i] - f->low[i]) * (rest % side) / (side - 1);
    double value = f->value(x);
    if (value > t.most) t.most = value;
    if (!(value < t.least)) continue;
    t.least = value;
    for (int i = 0; i < d; i++) best[i] = x[i];
  }
  for (double step = 0.1; step > 1e-12;) {
    int better = 0;
    for (int i = 0; i < 2 * d; i++) {
      for (int j = 0; j < d; j++) x[j] = best[j];
      x[i / 2] += (i % 2 ? -step : step) * (f->high[i / 2] - f->low[i / 2]);
      x[i / 2] = fmin(fmax(x[i / 2], f->low[i / 2]), f->high[i / 2]);
      double value = f->value(x);
      if (!(value < t.least)) continue;
      t.least = value, best[i / 2] = x[i / 2], better = 1;
    }
    if (!better) step /= 2;
  }
  return t;
}

#endif
