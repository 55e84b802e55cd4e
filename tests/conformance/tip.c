// Tipping and rocking: a block about its edge is a pendulum, and loses at the change of edge what Housner (1963) found.
#include <math.h>
#include <stdio.h>

#include "families.h"

static const double G = 9.81;

// y: tilt and its rate; p: m g R / I, and the tilt at which the centre stands over the edge.
static void about_edge(const double *y, const double *p, double *dy) {
  dy[0] = y[1];
  dy[1] = p[0] * sin(y[0] - p[1]);
}

typedef struct edge {
  double pull, balance;  // 1/s2, rad
} edge;

static edge edge_of(double b, double h) {
  double r = 0.5 * hypot(b, h);
  return (edge){G * r / ((b * b + h * h) / 3), atan2(b, h)};
}

// How far rates may be off after a time: one step of what pulls, for what happens late, and growth by it.
static double rate_error(const cell *c, const edge *e, double t) {
  return 4 * e->pull * e->balance * (c->accuracy.late + c->h) * cosh(sqrt(e->pull) * t) + 1e-4;
}

static void nudge(cell *c) {
  edge e = edge_of(parameter(c, "b"), parameter(c, "hh"));
  double spin = parameter(c, "spin"), most = 2 * e.pull * (1 - cos(e.balance)), largest = 0;
  bool topples = spin * spin > most;
  for (int f = 0; f < c->track->frames; f++) largest = fmax(largest, tilt_at(c, "block", f * c->h));
  if (topples) {
    expect(c, "tilt in the end, rad", tilt_at(c, "block", duration(c)), 2 * atan(1), 0.02);
  } else {
    double top = e.balance - acos(cos(e.balance) + spin * spin / (2 * e.pull));
    expect(c, "largest tilt, rad", largest, top, 0.05 * top + 4 * spin * c->h);
    expect_at_most(c, "tilt in the end, rad", tilt_at(c, "block", duration(c)), top);
  }
}

// Released leaning over, it falls back and goes on about the other edge with 1 - 3/2 sin^2 of its rate.
static void housner(cell *c) {
  edge e = edge_of(parameter(c, "b"), parameter(c, "hh"));
  double y[2] = {parameter(c, "tilt"), 0}, p[2] = {e.pull, e.balance}, low = 0, high = 2, t = duration(c);
  for (int i = 0; i < 40; i++) {
    double z[2] = {y[0], 0}, middle = 0.5 * (low + high);
    integrate(about_edge, p, 2, middle, z);
    *(z[0] > 0 ? &low : &high) = middle;
  }
  integrate(about_edge, p, 2, low, y);
  double after = -y[1] * (1 - 1.5 * pow(sin(e.balance), 2)), z[2] = {0, after}, off = rate_error(c, &e, t);
  integrate(about_edge, p, 2, t - low, z);
  expect(c, "rate after the change of edge", -point_at(c, "block", t)->w.y, z[1], off);
  carom_vec3 up = cm_rotate(pose_at(c, "block", t).q, cm_vec3(0, 0, 1));
  expect(c, "tilt after the change of edge", -atan2(up.x, up.z), z[0], off * t + c->accuracy.late * after);
}

static void tips_on_incline(cell *c) {
  edge e = edge_of(parameter(c, "a"), parameter(c, "c"));
  double p[2] = {e.pull, e.balance - parameter(c, "angle")}, y[2] = {0, 0}, t = duration(c);
  integrate(about_edge, p, 2, t, y);
  expect(c, "tilt", tilt_at(c, "block", t), y[0], 0.05 * y[0] + rate_error(c, &e, t) * t);
  expect(c, "rate", point_at(c, "block", t)->w.y, y[1], 0.05 * y[1] + rate_error(c, &e, t));
}

static void stands(cell *c) { expect_rest(c, 1e-4 * thinnest_side(c->track->model->parts[1].shape)); }

// p: m g b / (2 I), m g h / (2 I), and the push over I, with b and h.
static void pushed(const double *y, const double *p, double *dy) {
  dy[0] = y[1];
  dy[1] = p[2] * (0.5 * p[3] * sin(y[0]) + p[4] * cos(y[0])) - p[0] * cos(y[0]) + p[1] * sin(y[0]);
}

static void push_top(cell *c) {
  double b = parameter(c, "b"), h = parameter(c, "hh"), load = parameter(c, "load"), i = (b * b + h * h) / 3;
  if (load < 1) {
    expect_rest(c, 1e-4 * b);
    return;
  }
  double p[5] = {G * b / 2 / i, G * h / 2 / i, load * G * b / (2 * h) / i, b, h}, y[2] = {0, 0}, t = duration(c);
  edge e = edge_of(b, h);
  integrate(pushed, p, 2, t, y);
  expect(c, "tilt", tilt_at(c, "block", t), y[0], 0.05 * y[0] + rate_error(c, &e, t) * t);
}

// ---- rods -----------------------------------------------------------------------------------------------------------

// p: I / (m l^2) and g / l; l is half the length.
static void smooth_floor(const double *y, const double *p, double *dy) {
  double s = sin(y[0]), k = cos(y[0]);
  dy[0] = y[1];
  dy[1] = (p[1] * s - s * k * y[1] * y[1]) / (p[0] + s * s);
}

static void smooth_floor_and_wall(const double *y, const double *p, double *dy) {
  dy[0] = y[1];
  dy[1] = p[1] * sin(y[0]) / (p[0] + 1);
}

static void rod(cell *c, rates *f) {
  const carom_body *b = &c->track->model->bodies[body(c, "rod")];
  double l = parameter(c, "length") / 2, across = fmax(b->inertia.x, b->inertia.z), t = duration(c);
  double p[2] = {across / (b->mass * l * l), G / l}, y[2] = {parameter(c, "lean"), 0};
  integrate(f, p, 2, t, y);
  carom_vec3 along = cm_rotate(pose_at(c, "rod", t).q, cm_vec3(0, 1, 0));
  double rate = sqrt(p[1]), off = c->h * rate * cosh(rate * t) + 1e-4;  // contacts that last are of first order
  expect(c, "lean", atan2(fabs(along.x), along.y), y[0], off);
  expect(c, "rate", fabs(point_at(c, "rod", t)->w.z), y[1], off * rate * 2);
  expect(c, "height", point_at(c, "rod", t)->x.y, parameter(c, "r") + l * cos(y[0]), l * off);
}

static void rod_falls(cell *c) {
  rod(c, smooth_floor);
  expect_at_most(c, "sideways", fabs(point_at(c, "rod", duration(c))->x.x), 1e-6);
}

static void ladder(cell *c) { rod(c, smooth_floor_and_wall); }

// It ends flat on the floor, whatever the friction.
static void falls_flat(cell *c) {
  expect(c, "height in the end", point_at(c, "rod", duration(c))->x.y, parameter(c, "r"), 0.02 * parameter(c, "r"));
  expect_at_most(c, "speed in the end", fabs(point_at(c, "rod", duration(c))->v.y), 1e-3);
}

const conformance_scene tip_scenes[] = {
    {"nudge-rocks", "tip and rock", "tip", "b=0.2 hh=0.6 spin=1.2 tilt=0 T=1.2", {4e-3, 1e-3}, nudge, 0},
    {"nudge-topples", "tip and rock", "tip", "b=0.2 hh=0.6 spin=1.8 tilt=0 T=2", {4e-3, 1e-3}, nudge, 0},
    {"rocks-to-other-edge", "tip and rock", "tip", "b=0.2 hh=0.6 spin=0 tilt=0.2 T=0.5", {2e-3, 0.5e-3}, housner, 0},
    {"steep-stands", "tip and rock", "incline", "a=0.1 b=0.1 c=0.2 angle=0.35 mu=1.5 T=0.6", {4e-3, 1e-3}, stands, 0},
    {"steep-tips",
     "tip and rock",
     "incline",
     "a=0.1 b=0.1 c=0.4 angle=0.35 mu=1.5 T=0.4",
     {4e-3, 1e-3},
     tips_on_incline,
     0},
    {"push-top-stands",
     "tip and rock",
     "push-top",
     "b=0.2 hh=0.5 load=0.95 T=0.5",
     {4e-3, 1e-3},
     push_top,
     SCENE_DRIVEN},
    {"push-top-tips", "tip and rock", "push-top", "b=0.2 hh=0.5 load=1.3 T=0.4", {4e-3, 1e-3}, push_top, SCENE_DRIVEN},
    {"rod-falls-smooth",
     "tip and rock",
     "rod-falls",
     "r=0.01 length=1 lean=0.4 mu=0 T=0.4",
     {2e-3, 0.5e-3},
     rod_falls,
     0},
    {"rod-falls-flat-smooth",
     "thin and long",
     "rod-falls",
     "r=0.01 length=1 lean=0.4 mu=0 T=1",
     {2e-3, 0.5e-3},
     falls_flat,
     0},
    {"rod-falls-flat-rough",
     "thin and long",
     "rod-falls",
     "r=0.01 length=1 lean=0.6 mu=0.7 T=1",
     {2e-3, 0.5e-3},
     falls_flat,
     0},
    {"ladder-slides",
     "tip and rock",
     "ladder",
     "r=0.01 length=2 lean=0.4 muf=0 muw=0 T=0.35",
     {2e-3, 0.5e-3},
     ladder,
     0},
    {0}};
