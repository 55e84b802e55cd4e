// The passive compass on a slope (Goswami, Thuilot and Espiau 1998) against shooting with equations of its own: two
// angles in closed form, Runge-Kutta, the instant of the step by Newton, the blow by conservation of angular momentum.
#include "walkers.h"

static const double degree = 0.017453292519943295;

typedef struct compass {
  double m, mH, a, b, slope, g;  // masses of leg and hip, from foot to mass and from there to the hip
} compass;

// ---- shooting ------------------------------------------------------------------------------------------------------
// s and n are the angles of the stance and the swing leg against the normal of the slope, the hip at l (-sin s, cos s)
// from the foot; z = (s, n, s', n').

static void rate(const compass *c, const double z[4], double out[4]) {
  double l = c->a + c->b, A = c->m * c->a * c->a + (c->mH + c->m) * l * l, B = c->m * c->b * c->b, C = c->m * l * c->b;
  double D = c->m * c->a + (c->mH + c->m) * l, d = z[0] - z[1], gx = c->g * sin(c->slope), gy = c->g * cos(c->slope);
  // A s'' - C cos d n'' = fs, -C cos d s'' + B n'' = fn; V = gx (D sin s - m b sin n) + gy (D cos s - m b cos n)
  double fs = C * sin(d) * z[3] * z[3] - D * (gx * cos(z[0]) - gy * sin(z[0]));
  double fn = -C * sin(d) * z[2] * z[2] + c->m * c->b * (gx * cos(z[1]) - gy * sin(z[1]));
  double k = -C * cos(d), det = A * B - k * k;
  out[0] = z[2], out[1] = z[3], out[2] = (B * fs - k * fn) / det, out[3] = (A * fn - k * fs) / det;
}

static void fly(const compass *c, double T, double z[4]) {
  enum { STEPS = 2000 };
  for (int i = 0; i < STEPS; i++) {
    double h = T / STEPS, k[4][4], y[4];
    rate(c, z, k[0]);
    for (int s = 1; s < 4; s++) {
      for (int j = 0; j < 4; j++) y[j] = z[j] + (s == 3 ? h : h / 2) * k[s - 1][j];
      rate(c, y, k[s]);
    }
    for (int j = 0; j < 4; j++) z[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
  }
}

typedef struct point {
  double x, y, u, v;  // place and velocity of a mass
} point;

// Places and velocities against the foot that stands: masses of the standing leg, the hip and the other leg.
static void place(const compass *c, const double z[4], point p[3]) {
  double l = c->a + c->b;
  p[0] = (point){-c->a * sin(z[0]), c->a * cos(z[0]), -c->a * cos(z[0]) * z[2], -c->a * sin(z[0]) * z[2]};
  p[1] = (point){-l * sin(z[0]), l * cos(z[0]), -l * cos(z[0]) * z[2], -l * sin(z[0]) * z[2]};
  p[2] = (point){p[1].x + c->b * sin(z[1]), p[1].y - c->b * cos(z[1]), p[1].u + c->b * cos(z[1]) * z[3],
                 p[1].v + c->b * sin(z[1]) * z[3]};
}

static double spin(point p, double x, double y) { return (p.x - x) * p.v - (p.y - y) * p.u; }

// Angular momenta of all about (x, y), and of the mass number `leg` about the hip.
static void spins(const compass *c, const point p[3], double x, double y, int leg, double out[2]) {
  out[0] = c->m * spin(p[0], x, y) + c->mH * spin(p[1], x, y) + c->m * spin(p[2], x, y);
  out[1] = c->m * spin(p[leg], p[1].x, p[1].y);
}

static void strike(const compass *c, double z[4]) {
  double l = c->a + c->b, before[2], column[2][2], after[4] = {z[1], z[0], 0, 0};
  point p[3];
  place(c, z, p);
  spins(c, p, p[1].x + l * sin(z[1]), p[1].y - l * cos(z[1]), 0, before);
  for (int i = 0; i < 2; i++) {
    after[2] = i == 0, after[3] = i == 1;
    place(c, after, p);
    spins(c, p, 0, 0, 2, column[i]);
  }
  double det = column[0][0] * column[1][1] - column[1][0] * column[0][1];
  z[0] = after[0], z[1] = after[1];
  z[2] = (before[0] * column[1][1] - before[1] * column[1][0]) / det;
  z[3] = (column[0][0] * before[1] - column[0][1] * before[0]) / det;
}

// From after one blow to after the next: (half angle, s', n') and the time, which is corrected.
static void step(const compass *c, double w[3], double *T) {
  double z[4], r[4];
  for (int i = 0; i < 20; i++) {
    z[0] = w[0], z[1] = -w[0], z[2] = w[1], z[3] = w[2];
    fly(c, *T, z);
    rate(c, z, r);
    double dt = -(z[0] + z[1]) / (r[0] + r[1]);
    *T += dt;
    if (fabs(dt) < 1e-13) break;
  }
  strike(c, z);
  w[0] = z[0], w[1] = z[2], w[2] = z[3];
}

static void differentiate(const compass *c, const double w[3], double T, double D[3][3]) {
  double h = 1e-5;
  for (int j = 0; j < 3; j++) {
    double up[3], down[3], t = T;
    memcpy(up, w, sizeof up), memcpy(down, w, sizeof down);
    up[j] += h, down[j] -= h;
    step(c, up, &t), t = T, step(c, down, &t);
    for (int i = 0; i < 3; i++) D[i][j] = (up[i] - down[i]) / (2 * h);
  }
}

static double det3(double A[3][3]) {
  return A[0][0] * (A[1][1] * A[2][2] - A[1][2] * A[2][1]) - A[0][1] * (A[1][0] * A[2][2] - A[1][2] * A[2][0]) +
         A[0][2] * (A[1][0] * A[2][1] - A[1][1] * A[2][0]);
}

// A fixed point by Newton's method, by Cramer's rule; the derivative D at the end.
static void find_cycle(const compass *c, double w[3], double *T, double D[3][3]) {
  for (int k = 0; k < 30; k++) {
    double f[3], A[3][3], size = 0;
    memcpy(f, w, sizeof f);
    step(c, f, T);
    differentiate(c, w, *T, D);
    for (int i = 0; i < 3; i++) {
      f[i] -= w[i], size = fmax(size, fabs(f[i]));
      for (int j = 0; j < 3; j++) A[i][j] = (i == j) - D[i][j];
    }
    if (size < 1e-12) return;
    double det = det3(A), dw[3];
    for (int j = 0; j < 3; j++) {
      double B[3][3];
      memcpy(B, A, sizeof B);
      for (int i = 0; i < 3; i++) B[i][j] = f[i];
      dw[j] = det3(B) / det;
    }
    for (int j = 0; j < 3; j++) w[j] += dw[j];
  }
  test_fail(__FILE__, __LINE__, "shooting found no cycle");
}

// ---- planning ------------------------------------------------------------------------------------------------------

typedef struct answer {
  double half, T, length, sums[3];  // sums: trace, of the principal minors, determinant of the step's map
} answer;

static const compass goswami = {5, 10, 0.5, 0.5, 3 * 0.017453292519943295, 9.81};

static double part(double from, double to, double share) { return from + share * (to - from); }

// In ten stages from the compass whose cycle is known.
static answer by_shooting(const compass *c) {
  double D[3][3], l = c->a + c->b, w[3] = {0.271, -1.09, -0.38}, T = 0.734;
  for (int i = 0; i <= 10; i++) {
    double x = i / 10.0;
    const compass *o = &goswami;
    compass now = {part(o->m, c->m, x), part(o->mH, c->mH, x),       part(o->a, c->a, x),
                   part(o->b, c->b, x), part(o->slope, c->slope, x), o->g};
    find_cycle(&now, w, &T, D);
  }
  double faster = sqrt(c->g / goswami.g);  // all motions scale with gravity
  w[1] *= faster, w[2] *= faster, T /= faster;
  find_cycle(c, w, &T, D);
  answer out = {w[0], T, 2 * l * sin(w[0]), {D[0][0] + D[1][1] + D[2][2], 0, det3(D)}};
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3;
    out.sums[1] += D[i][i] * D[j][j] - D[i][j] * D[j][i];
  }
  return out;
}

// The symmetric functions of the largest three; what is left must be nothing.
static void add_multipliers(const carom_plan *plan, answer *out) {
  double re[40], im[40];
  int count = 0;
  carom_error error = {0};
  if (carom_plan_find_multipliers(plan, 40, re, im, &count, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  CHECK(count >= 3);
  for (int i = 3; i < count; i++) CHECK_AT_MOST(hypot(re[i], im[i]), 1e-6);
  out->sums[0] = re[0] + re[1] + re[2];
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3;
    out->sums[1] += re[i] * re[j] - im[i] * im[j];
  }
  double x = re[0] * re[1] - im[0] * im[1], y = re[0] * im[1] + im[0] * re[1];
  out->sums[2] = x * re[2] - y * im[2];
}

// A leg carries half of the hip. The guess is a step of another length in another time, without velocities.
static answer by_plan(const compass *c, const stage *s, int K, const answer *near) {
  double l = c->a + c->b, M = c->m + c->mH / 2, at = (c->m * c->a + c->mH / 2 * l) / M, half = 1.04 * near->half;
  double J = c->m * (at - c->a) * (at - c->a) + c->mH / 2 * (l - at) * (l - at);
  stage leaning = *s;
  leaning.gravity = cm_vec3(c->g * sin(c->slope), -c->g * cos(c->slope), 0);
  carom_builder *b = begin_stage(&leaning);
  put_link(b, &leaning, "stance", M, cm_vec3(1.1 * J, 0.3 * J, J), at, cm_vec3(0, 0, half));
  put_link(b, &leaning, "swing", M, cm_vec3(1.1 * J, 0.3 * J, J), at, cm_vec3(-2 * l * sin(half), 0, -half));
  world w = finish_world(b);
  carom_plan_def def = carom_plan_default();
  def.intervals = K, def.step = 0.97 * near->T / K, def.free_time = true;
  carom_plan *plan = begin_plan(&w, def);
  double length = 2 * l * sin(half);
  int legs[2] = {1, 2};
  add_hinge(plan, "hip", legs, l, l);
  int stands = add_foot(plan, &leaning, "stands", 1, cm_vec3(0, 0, 0));
  int lands = add_foot(plan, &leaning, "lands", 2, cm_vec3(length, 0.5, 0));
  add_swap(plan, lands, stands);
  static const int swap[1][2] = {{1, 2}};
  carom_periodic_def period = carom_periodic_default();
  period.swap_count = 1, period.swap = swap, period.map.p = on_stage(s, length, 0, 0);
  carom_vec3 along = on_stage(s, 0.5, 0, 0);
  period.reach = cm_vec3(round(2 * fabs(along.x)) / 2, round(2 * fabs(along.y)) / 2, round(2 * fabs(along.z)) / 2);
  carom_plan_set_periodic(plan, &period);
  solve_plan(plan);
  answer out = {.T = carom_plan_time(plan, K), .length = cm_norm(carom_plan_shift(plan))};
  out.half = asin(out.length / (2 * l));
  add_multipliers(plan, &out);
  carom_plan_destroy(plan);
  free_world(&w);
  return out;
}

// Errors are even powers of the step.
static double extrapolated(double coarse, double middle, double fine) {
  double a = middle + (middle - coarse) / 3, b = fine + (fine - middle) / 3;
  return b + (b - a) / 15;
}

static void compare(const compass *c, const stage *s, const answer *shot) {
  answer p[3];
  for (int i = 0; i < 3; i++) p[i] = by_plan(c, s, 40 << i, shot);
  CHECK_NEAR(extrapolated(p[0].half, p[1].half, p[2].half), shot->half, 1e-6 * shot->half);
  CHECK_NEAR(extrapolated(p[0].T, p[1].T, p[2].T), shot->T, 1e-6 * shot->T);
  CHECK_NEAR(extrapolated(p[0].length, p[1].length, p[2].length), shot->length, 1e-6 * shot->length);
  for (int i = 0; i < 3; i++)
    CHECK_NEAR(extrapolated(p[0].sums[i], p[1].sums[i], p[2].sums[i]), shot->sums[i], 1e-4);
  // Second order: what is left falls by four when the step is halved.
  double off[3] = {p[0].T - shot->T, p[1].T - shot->T, p[2].T - shot->T};
  CHECK_NEAR(off[0] / off[1], 4, 0.2);
  CHECK_NEAR(off[1] / off[2], 4, 0.1);
  CHECK_NEAR((p[0].length - shot->length) / (p[1].length - shot->length), 4, 0.2);
}

static const stage flat = {.turn = {1, 0, 0, 0}, .planar = true};

// Forward is -y, up is z, hinges lie along -x, and the plane of the motion is no matter of course.
static stage in_space(void) {
  carom_quat turn = cm_qmul(cm_axis_angle(cm_vec3(0, 0, 1), -90 * degree), cm_axis_angle(cm_vec3(1, 0, 0), 90 * degree));
  return (stage){.turn = turn};
}

TEST(compass_of_goswami) {
  compass c = goswami;
  answer shot = by_shooting(&c);
  CHECK_NEAR(shot.half, 0.27102868, 1e-8);  // published to fewer digits
  CHECK_NEAR(shot.T, 0.73434639, 1e-8);
  CHECK_NEAR(shot.length, 0.53544542, 1e-8);
  double re = -0.199726, im = 0.544476, lone = 0.131573;
  CHECK_NEAR(shot.sums[0], 2 * re + lone, 1e-5);
  CHECK_NEAR(shot.sums[2], (re * re + im * im) * lone, 1e-5);
  compare(&c, &flat, &shot);
}

// A light hip, masses low on the legs, on the moon.
TEST(compass_of_other_make) {
  compass c = {4, 6, 0.55, 0.4, 2 * degree, 1.62};
  answer shot = by_shooting(&c);
  compare(&c, &flat, &shot);
}

TEST(compass_in_space) {
  compass c = {3, 9, 0.45, 0.6, 2.5 * degree, 9.81};
  answer shot = by_shooting(&c);
  stage s = in_space();
  answer a = by_plan(&c, &flat, 40, &shot), b = by_plan(&c, &s, 40, &shot);
  CHECK_NEAR(a.T, b.T, 1e-9);
  CHECK_NEAR(a.length, b.length, 1e-9);
  for (int i = 0; i < 3; i++) CHECK_NEAR(a.sums[i], b.sums[i], 1e-6);
  compare(&c, &flat, &shot);
}
