// Fast bodies, pendulums, joints, motors, springs, drives, funnels: closed forms and event-driven references.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "families.h"

static const double G = 9.81;

static double joint_at(const cell *c, const char *name, double t) {
  int j = carom_model_find_joint(c->track->model, name);
  return c->track->turns[(size_t)frame_at(c, t) * (size_t)c->track->model->joint_count + (size_t)j];
}

// ---- fast ----------------------------------------------------------------------------------------------------------

static void bullet(cell *c) {
  double e = parameter(c, "e"), v = parameter(c, "v"), m = 0.01, plate = parameter(c, "mass"), t = duration(c);
  expect(c, "speed of the bullet", point_at(c, "bullet", t)->v.z, -v + (1 + e) * v * plate / (m + plate), 1e-8 * v);
  expect(c, "speed of the plate", point_at(c, "plate", t)->v.z, -(1 + e) * v * m / (m + plate), 1e-8 * v);
  expect_at_most(c, "turn of the plate, rad", tilt_at(c, "plate", t), 1e-6);
  expect_at_most(c, "plate above bullet, m", point_at(c, "plate", t)->x.z - point_at(c, "bullet", t)->x.z + 0.004,
                 1e-9);
}

static void bullet_wall(cell *c) {
  double v = parameter(c, "v"), e = parameter(c, "e");
  for (int f = 0; f < c->track->frames; f++) {
    const track_point *p = track_at(c->track, f, body(c, "bullet"));
    expect_at_most(c, "beyond a wall, m", fabs(p->x.x) - (0.5 - 0.0005 - 0.005), 1e-5);
    if (e == 1) expect(c, "speed", fabs(p->v.x), v, 1e-8 * v);
  }
  if (e == 0) expect(c, "place in the end", point_at(c, "bullet", duration(c))->x.x, 0.5 - 0.0005 - 0.005, 1e-5);
}

// The light one leaves with twice the speed, but for a millionth.
static void heavy_hits_light(cell *c) {
  double v = parameter(c, "v"), ratio = parameter(c, "ratio"), t = duration(c);
  expect(c, "speed of the light one", point_at(c, "ball_0", t)->v.x, 2 * v / (1 + ratio), 1e-8);
  expect(c, "speed of the heavy one", point_at(c, "cue", t)->v.x, v * (1 - ratio) / (1 + ratio), 1e-8);
}

const conformance_scene fast_scenes[] = {
    {"bullet-at-plate-half",
     "fast bodies",
     "bullet",
     "e=0.5 v=1000 thick=0.002 mass=15 T=0.01",
     {1e-3, 0.25e-3},
     bullet,
     0},
    {"bullet-at-plate-elastic",
     "fast bodies",
     "bullet",
     "e=1 v=500 thick=0.001 mass=2 T=0.01",
     {1e-3, 0.25e-3},
     bullet,
     0},
    {"bullet-at-plate-dead",
     "fast bodies",
     "bullet",
     "e=0 v=200 thick=0.005 mass=1 T=0.01",
     {1e-3, 0.25e-3},
     bullet,
     0},
    {"bullet-between-walls", "fast bodies", "bullet-wall", "e=1 v=300 T=0.02", {1e-3, 0.25e-3}, bullet_wall, 0},
    {"bullet-stopped", "fast bodies", "bullet-wall", "e=0 v=300 T=0.02", {1e-3, 0.25e-3}, bullet_wall, 0},
    {"heavy-hits-light",
     "mass ratios",
     "row",
     "balls=1 gap=0 e=1 ratio=1e-6 v=2 T=0.1",
     {2e-3, 0.5e-3},
     heavy_hits_light,
     0},
    {0}};

// ---- pendulums -----------------------------------------------------------------------------------------------------

// y: angles and rates of two equal rods of length p[0] with moment p[1] per mass about their centres.
static void two_rods(const double *y, const double *p, double *dy) {
  double l = p[0], i = p[1], s = sin(y[0] - y[1]), k = cos(y[0] - y[1]);
  double a = i + 1.25 * l * l, b = 0.5 * l * l * k, d = i + 0.25 * l * l;
  double f = -1.5 * G * l * sin(y[0]) - 0.5 * l * l * s * y[3] * y[3],
         g = -0.5 * G * l * sin(y[1]) + 0.5 * l * l * s * y[2] * y[2];
  dy[0] = y[2], dy[1] = y[3];
  dy[2] = (d * f - b * g) / (a * d - b * b);
  dy[3] = (a * g - b * f) / (a * d - b * b);
}

static void double_pendulum(cell *c) {
  double p[2] = {0.6, (0.36 + 0.0025) / 12}, y[4] = {2 * atan(1), 0, 0, 0}, t = duration(c), rate = 10;
  integrate(two_rods, p, 4, t, y);
  double off = (c->accuracy.order == 1 ? 3 * rate * c->h : 3 * rate * rate * c->h * c->h) * exp(2 * t) + 1e-6;
  expect(c, "upper angle", 2 * atan(1) + joint_at(c, "hinge", t), y[0], off);
  expect(c, "lower angle", 2 * atan(1) + joint_at(c, "hinge", t) + joint_at(c, "elbow", t) - 2 * atan(1), y[1], off);
}

static double smooth_error(const cell *c, double amplitude, double rate, double t) {
  double wh = rate * c->h;
  return amplitude * (c->accuracy.order == 1 ? wh : wh * wh) * (1 + rate * t) + 1e-8;
}

// Begun at its largest angle a: sin(theta/2) = k cd(w t), k = sin(a/2).
static void pendulum(cell *c) {
  double l = parameter(c, "length"), a = parameter(c, "start"), i = (l * l + 0.0025) / 12 + l * l / 4;
  double w = sqrt(G * l / 2 / i), k = sin(a / 2), sn, cn, dn;
  for (int n = 1; n <= 4; n++) {
    double t = frame_at(c, n * duration(c) / 4) * c->h;
    jacobi(w * t, k, &sn, &cn, &dn);
    expect(c, "angle", a + joint_at(c, "hinge", t), 2 * asin(k * cn / dn), smooth_error(c, a, w, t));
  }
}

// Impacts at the lowest point: each leaves e of the rate, so that k becomes e k; between them half a period, 2 K / w.
static void pendulum_wall(cell *c) {
  double a = parameter(c, "start"), e = parameter(c, "e"), w = sqrt(2 * G * 0.5 / 0.7), k = sin(a / 2), sn, cn, dn;
  double first = complete_elliptic(k) / w, t = duration(c), since = t - first, lost = 1;
  for (; since > 0; lost++) {
    k *= e;
    if (k < 1e-6 || since < 2 * complete_elliptic(k) / w) break;
    since -= 2 * complete_elliptic(k) / w;
  }
  jacobi(w * since, k, &sn, &cn, &dn);
  double truth = k < 1e-6 ? 0 : 2 * asin(k * sn), speed = a * w;
  expect(c, "angle", a + joint_at(c, "hinge", t), truth,
         2 * lost * speed * c->accuracy.late * (1 + w * t) + smooth_error(c, a, w, t) + 1e-5);
}

static void conical(cell *c) {
  double l = parameter(c, "length"), a = parameter(c, "lean"), w = sqrt(G / (l * cos(a))), t = duration(c),
         r = l * sin(a);
  const track_point *p = point_at(c, "bob", t);
  expect_vector(c, "place", p->x, cm_vec3(r * cos(w * t), r * sin(w * t), -l * cos(a)), smooth_error(c, r, w, t));
  expect(c, "length of the thread", cm_norm(p->x), l, 1e-6 * l);
}

const conformance_scene pendulum_scenes[] = {
    {"pendulum-small", "pendulums", "pendulum", "length=1 start=0.2 T=1.5", {4e-3, 1e-3}, pendulum, SCENE_FREE},
    {"pendulum-large", "pendulums", "pendulum", "length=1 start=2.5 T=1.5", {4e-3, 1e-3}, pendulum, SCENE_FREE},
    {"double-pendulum", "pendulums", "double-pendulum", "T=0.8", {4e-3, 1e-3}, double_pendulum, SCENE_FREE},
    {"conical-pendulum", "pendulums", "conical", "length=1 lean=0.6 T=1.5", {4e-3, 1e-3}, conical, SCENE_FREE},
    {"pendulum-wall-elastic",
     "pendulums on walls",
     "pendulum-wall",
     "length=1 start=1 e=1 T=2",
     {4e-3, 1e-3},
     pendulum_wall,
     0},
    {"pendulum-wall-half",
     "pendulums on walls",
     "pendulum-wall",
     "length=1 start=1 e=0.5 T=2",
     {4e-3, 1e-3},
     pendulum_wall,
     0},
    {"pendulum-wall-dead",
     "pendulums on walls",
     "pendulum-wall",
     "length=1 start=1 e=0 T=1.2",
     {4e-3, 1e-3},
     pendulum_wall,
     0},
    {0}};

// ---- limits, latches, motors ---------------------------------------------------------------------------------------

static void slider(cell *c) {
  double v = parameter(c, "v"), e = parameter(c, "e"), stop[2] = {parameter(c, "upper"), parameter(c, "lower")};
  double x = 0, left = duration(c);
  int hits = 0;
  for (; hits < 100 && fabs(v) > 1e-12; hits++) {
    double way = (stop[hits % 2] - x) / v;
    if (way > left) break;
    left -= way, x = stop[hits % 2], v *= -e;
  }
  double off = 2 * hits * parameter(c, "v") * c->accuracy.late + 1e-8;
  expect(c, "slide", joint_at(c, "rail", duration(c)), x + v * left, off);
  expect(c, "speed", point_at(c, "block", duration(c))->v.x, v, 1e-8);
}

static void stop(cell *c) {
  expect(c, "turn in the end", joint_at(c, "hinge", duration(c)), parameter(c, "stop"), 1e-6);
  expect_at_most(c, "rate in the end", fabs(point_at(c, "rod", duration(c))->w.y), 1e-6);
}

static void latch(cell *c) {
  double v = parameter(c, "v") / 4, t = duration(c), hit = 0.8 / parameter(c, "v");
  expect_vector(c, "left", point_at(c, "left", t)->v, cm_vec3(v, 0, 0), 1e-8);
  expect_vector(c, "right", point_at(c, "right", t)->v, cm_vec3(v, 0, 0), 1e-8);
  expect(c, "place of the right", point_at(c, "right", t)->x.x, 0.5 + v * (t - hit), 4 * v * c->accuracy.late + 1e-8);
}

// The integral of a schedule of straight pieces up to t, and its value there.
typedef struct piece {
  double time, factor;
} piece;

static double value_of(const piece *s, int n, double t) {
  for (int i = 0; i + 1 < n; i++)
    if (t < s[i + 1].time)
      return s[i].factor + (s[i + 1].factor - s[i].factor) * (t - s[i].time) / (s[i + 1].time - s[i].time);
  return s[n - 1].factor;
}

static double integral_of(const piece *s, int n, double t) {
  double sum = 0;
  for (int i = 0; i + 1 < n && s[i].time < t; i++) {
    double end = fmin(t, s[i + 1].time);
    sum += 0.5 * (value_of(s, n, s[i].time) + value_of(s, n, end - 1e-15)) * (end - s[i].time);
  }
  return sum;
}

static void motor_rate(cell *c) {
  for (int n = 1; n <= 5; n++) {
    double t = frame_at(c, n * duration(c) / 5) * c->h;
    expect(c, "turn", joint_at(c, "hinge", t), 2 * t, 1e-6);
  }
}

static void motor_rate_kinks(cell *c) {
  static const piece s[] = {{0, 0}, {0.2, 1}, {0.5, 1}, {0.6, -1}, {1, 0}};
  for (int n = 1; n <= 5; n++) {
    double t = frame_at(c, n * duration(c) / 5) * c->h;
    expect(c, "turn", joint_at(c, "hinge", t), 2 * integral_of(s, 5, t),
           (c->accuracy.order == 1 ? 2 * c->h : 10 * c->h * c->h) + 1e-8);
  }
}

static void motor_position(cell *c) {
  static const piece s[] = {{0, 0}, {0.2, 0}, {0.6, 1}, {0.8, 1}, {1, 0.5}};
  for (int n = 1; n <= 10; n++) {
    double t = frame_at(c, n * duration(c) / 10) * c->h;
    expect(c, "turn", joint_at(c, "hinge", t), 1.2 * value_of(s, 5, t), 1e-6);
  }
}

static void motor_torque(cell *c) {
  double i = 3 * (1.01 / 12 + 0.25), t = duration(c);
  expect(c, "turn", joint_at(c, "hinge", t), 0.5 * 2 / i * t * t, drift(c, 2 / i, t, 0) + 1e-5);
  expect(c, "rate", -point_at(c, "rod", t)->w.y, 2 / i * t, 1e-5 + c->h * (c->accuracy.order == 1) * 0.1);
}

static void motor_torque_kinks(cell *c) {
  static const piece s[] = {{0, 0}, {0.25, 1}, {0.5, 1}, {0.6, -1}, {1, 0}};
  double i = 3 * (1.01 / 12 + 0.25), t = duration(c);
  expect(c, "rate", -point_at(c, "rod", t)->w.y, 5 / i * integral_of(s, 5, t), 5 / i * c->h + 1e-5);
}

static void lift(cell *c) {
  static const piece s[] = {{0, 0}, {0.3, 1}, {0.7, 1}, {1, 0}};
  for (int n = 1; n <= 5; n++) {
    double t = frame_at(c, n * duration(c) / 5) * c->h, z = 0.5 * integral_of(s, 4, t);
    expect(c, "height of the crate", point_at(c, "crate", t)->x.z, 0.1 + z, 0.5 * c->h + 1e-6);
    expect(c, "crate above the platform", point_at(c, "crate", t)->x.z - point_at(c, "platform", t)->x.z, 0.15,
           1e-5 + G * c->h * c->h);
  }
}

static void force_motor(cell *c) {
  double a = parameter(c, "push") / 2, t = duration(c);
  expect(c, "slide", joint_at(c, "rail", t), 0.5 * a * t * t, drift(c, a, t, 0) + 1e-8);
  expect(c, "speed", point_at(c, "block", t)->v.x, a * t, 1e-8);
}

const conformance_scene joint_scenes[] = {
    {"slider-stop-dead", "limits and latches", "slider", "v=1 e=0 lower=-0.3 upper=0.2 T=0.6", {4e-3, 1e-3}, slider, 0},
    {"slider-stop-half", "limits and latches", "slider", "v=1 e=0.5 lower=-0.3 upper=0.2 T=1", {4e-3, 1e-3}, slider, 0},
    {"slider-stop-elastic",
     "limits and latches",
     "slider",
     "v=1 e=1 lower=-0.3 upper=0.2 T=1.6",
     {4e-3, 1e-3},
     slider,
     0},
    {"rod-on-its-stop", "limits and latches", "stop", "stop=-0.5 T=0.8", {4e-3, 1e-3}, stop, 0},
    {"latch-holds", "limits and latches", "latch", "v=2 T=0.8", {4e-3, 1e-3}, latch, 0},
    {"motor-rate", "motors", "motor", "weight=9.81 T=0.8", {4e-3, 1e-3}, motor_rate, SCENE_FREE | SCENE_DRIVEN},
    {"motor-rate-kinks",
     "motors",
     "motor-rate-kinks",
     "weight=9.81 T=1",
     {4e-3, 1e-3},
     motor_rate_kinks,
     SCENE_FREE | SCENE_DRIVEN},
    {"motor-position-kinks",
     "motors",
     "motor-position",
     "weight=9.81 T=1",
     {4e-3, 1e-3},
     motor_position,
     SCENE_FREE | SCENE_DRIVEN},
    {"motor-torque", "motors", "motor-torque", "weight=0 T=0.8", {4e-3, 1e-3}, motor_torque, SCENE_FREE | SCENE_DRIVEN},
    {"motor-torque-kinks",
     "motors",
     "motor-torque-kinks",
     "weight=0 T=1",
     {4e-3, 1e-3},
     motor_torque_kinks,
     SCENE_FREE | SCENE_DRIVEN},
    {"motor-force", "motors", "force-motor", "push=3 T=0.8", {4e-3, 1e-3}, force_motor, SCENE_FREE | SCENE_DRIVEN},
    {"lift-with-crate", "motors", "lift", "T=1", {4e-3, 1e-3}, lift, SCENE_DRIVEN},
    {0}};

// ---- springs -------------------------------------------------------------------------------------------------------

// m x'' + d x' + k x = 0 with m = 1, begun at rest at s.
static double oscillation(double k, double d, double s, double t) {
  double a = d / 2, under = k - a * a;
  if (under > 0) return s * exp(-a * t) * (cos(sqrt(under) * t) + a / sqrt(under) * sin(sqrt(under) * t));
  double r = sqrt(-under), slow = -k / (a + r), fast = -a - r;
  return s * (fast * exp(slow * t) - slow * exp(fast * t)) / (fast - slow);
}

static void spring(cell *c) {
  double k = parameter(c, "stiff"), d = parameter(c, "d"), s = parameter(c, "stretch"), t = duration(c);
  double rate = fmin(sqrt(k), d > 0 ? 2 * k / d : INFINITY);
  expect(c, "stretch", point_at(c, "block", t)->x.x - 1, oscillation(k, d, s, t),
         smooth_error(c, s, rate, t) + 1e-3 * s);
}

// Too stiff for the step to be followed: it must stay bounded.
static void stiff_spring(cell *c) {
  double s = parameter(c, "stretch"), most = 0;
  for (int f = 0; f < c->track->frames; f++) most = fmax(most, fabs(track_at(c->track, f, body(c, "block"))->x.x - 1));
  expect_at_most(c, "largest stretch", most, 1.02 * s);
}

static void torsion(cell *c) {
  double i = 3 * (1.01 / 12 + 0.25), w = sqrt(parameter(c, "stiff") / i), a = parameter(c, "start"), t = duration(c);
  expect(c, "turn", joint_at(c, "hinge", t), a * (1 - cos(w * t)), smooth_error(c, a, w, t));
}

static void spring_floor(cell *c) { expect_rest(c, 1e-5); }

const conformance_scene spring_scenes[] = {
    {"spring-soft", "springs", "spring", "stiff=100 d=0 stretch=0.1 T=1", {4e-3, 1e-3}, spring, SCENE_FREE},
    {"spring-damped", "springs", "spring", "stiff=100 d=2 stretch=0.1 T=1", {4e-3, 1e-3}, spring, SCENE_FREE},
    {"spring-overdamped",
     "springs",
     "spring",
     "stiff=1000 d=25000 stretch=0.1 T=0.5",
     {4e-3, 1e-3},
     spring,
     SCENE_FREE},
    {"spring-stiff-1",
     "springs",
     "spring",
     "stiff=62500 d=0 stretch=0.1 T=0.4",
     {4e-3, 1e-3},
     stiff_spring,
     SCENE_FREE},
    {"spring-stiff-100",
     "springs",
     "spring",
     "stiff=6.25e6 d=0 stretch=0.01 T=0.4",
     {4e-3, 1e-3},
     stiff_spring,
     SCENE_FREE},
    {"torsion-spring", "springs", "torsion", "stiff=5 d=0 start=0.5 T=1", {4e-3, 1e-3}, torsion, SCENE_FREE},
    {"spring-presses", "springs", "spring-floor", "stiff=1000 T=0.4", {4e-3, 1e-3}, spring_floor, 0},
    {0}};

// ---- drives --------------------------------------------------------------------------------------------------------

static void shaker(cell *c) {
  double a = parameter(c, "amplitude"), w = 8 * atan(1) * parameter(c, "frequency"), t = duration(c),
         leaves = asin(fmin(1, G / (a * w * w))) / w;
  if (a * w * w < G) {
    expect(c, "height", point_at(c, "block", t)->x.z, 0.05 + a * sin(w * t), a * w * c->h + 1e-6);
    return;
  }
  double s = t - leaves, z = a * sin(w * leaves) + a * w * cos(w * leaves) * s - 0.5 * G * s * s;
  expect(c, "height in flight", point_at(c, "block", t)->x.z, 0.05 + z,
         2 * a * w * w * c->h * s + a * w * c->h + drift(c, G, s, 0));
}

static void piston(cell *c) {
  double v = parameter(c, "speed"), t = duration(c);
  expect(c, "place", point_at(c, "block", t)->x.x, v * t - 0.05, 1e-5);
  expect(c, "speed", point_at(c, "block", t)->v.x, v, 1e-5);
}

const conformance_scene drive_scenes[] = {
    {"shaker-carries", "drives", "shaker", "amplitude=0.01 frequency=3 T=0.8", {4e-3, 1e-3}, shaker, SCENE_DRIVEN},
    {"shaker-throws", "drives", "shaker", "amplitude=0.02 frequency=5 T=0.1", {2e-3, 0.5e-3}, shaker, SCENE_DRIVEN},
    {"piston", "drives", "piston", "speed=0.5 mu=0.2 T=0.5", {4e-3, 1e-3}, piston, SCENE_DRIVEN},
    {0}};

// ---- many ----------------------------------------------------------------------------------------------------------

static void settled(cell *c, double low, double high) {
  const carom_model *m = c->track->model;
  for (int i = 0; i < m->body_count; i++) {
    if (m->bodies[i].fixed) continue;
    const track_point *p = track_at(c->track, c->track->frames - 1, i);
    char what[100];
    snprintf(what, sizeof what, "speed of '%s' in the end", m->bodies[i].name);
    expect_at_most(c, what, cm_norm(p->v), 0.02);
    snprintf(what, sizeof what, "height of '%s' in the end", m->bodies[i].name);
    expect(c, what, p->x.z, 0.5 * (low + high), 0.5 * (high - low));
  }
}

static void funnel(cell *c) { settled(c, 0.05, 0.6); }
static void tray(cell *c) { settled(c, 0.0299, 0.35); }
static void rain(cell *c) { settled(c, 0.05 - 5e-5, 0.05 + 5e-5); }

const conformance_scene funnel_scenes[] = {
    {"funnel-of-4", "funnels", "funnel", "angle=0.7 levels=1 T=1.2", {4e-3, 1e-3}, funnel, 0},
    {"tray-of-8", "funnels", "tray", "T=2", {4e-3, 1e-3}, tray, 0},
    {"rain-of-200", "funnels", "rain", "T=0.35", {4e-3, 1e-3}, rain, 0},
    {0}};
