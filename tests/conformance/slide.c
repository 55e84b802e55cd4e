// Sliding, sticking and rolling by Coulomb's law, in closed form.
#include <math.h>
#include <stdio.h>

#include "families.h"

static const double G = 9.81;

// Way down the incline.
static double way(const cell *c, double t) {
  double angle = parameter(c, "angle");
  carom_vec3 d = cm_sub(point_at(c, "block", t)->x, point_at(c, "block", 0)->x);
  return d.x * cos(angle) - d.z * sin(angle);
}

static double speed(const cell *c, double t) {
  carom_vec3 v = point_at(c, "block", t)->v;
  return v.x * cos(parameter(c, "angle")) - v.z * sin(parameter(c, "angle"));
}

static void stick(cell *c) { expect_rest(c, 1e-4 * thinnest_side(c->track->model->parts[1].shape)); }

// A change of sign of the friction force within a step moves it by a step.
static void expect_way(cell *c, double t, double truth, double v, double a) {
  expect(c, "way", way(c, t), truth, drift(c, a, t, 0) + c->h * fabs(a) * t + 1e-7 * (1 + fabs(truth)));
  expect(c, "speed", speed(c, t), v, fabs(a) * c->h * 1.01 + 1e-8);
}

static void slide(cell *c) {
  double angle = parameter(c, "angle"), a = G * (sin(angle) - parameter(c, "mu") * cos(angle)), t = duration(c);
  expect_way(c, t, 0.5 * a * t * t, a * t, a);
  expect_at_most(c, "turn, rad", tilt_at(c, "block", t), 1e-4);
}

static void stop(cell *c) {
  double v = parameter(c, "v"), a = parameter(c, "mu") * G, t = duration(c);
  expect(c, "way until it stops", way(c, t), v * v / (2 * a), v * c->h * 1.01 + 1e-8);
  expect(c, "speed at half the time", speed(c, 0.5 * v / a), v - a * frame_at(c, 0.5 * v / a) * c->h, 1.01 * a * c->h);
  expect_at_most(c, "speed at the end", cm_norm(point_at(c, "block", t)->v), 1e-6);
}

// A ball that slides until it rolls, at 5/7 of its speed.
static void slide_roll(cell *c) {
  double v = parameter(c, "v"), a = parameter(c, "mu") * G, t = duration(c), rolls = 2 * v / (7 * a);
  double truth = v * rolls - 0.5 * a * rolls * rolls + 5 * v / 7 * (t - rolls);
  expect(c, "speed", speed(c, t), 5 * v / 7, a * c->h + 1e-8);
  expect(c, "spin times radius", point_at(c, "block", t)->w.y * parameter(c, "r"), 5 * v / 7, a * c->h * 2.5 + 1e-8);
  expect(c, "way", way(c, t), truth, a * c->h * t + v * c->h + 1e-8);
}

static void roll_by(cell *c, double factor) {
  double a = factor * G * sin(parameter(c, "angle")), t = duration(c);
  expect_way(c, t, 0.5 * a * t * t, a * t, a);
  expect(c, "spin times radius", point_at(c, "block", t)->w.y * parameter(c, "r"), a * t, 2 * a * c->h + 1e-6 * a * t);
}

static void roll_ball(cell *c) { roll_by(c, 5.0 / 7); }
static void roll_cylinder(cell *c) { roll_by(c, 2.0 / 3); }

static void belt(cell *c) {
  double a = parameter(c, "mu") * G, v = parameter(c, "speed"), t = duration(c), caught = v / a;
  expect(c, "speed at half the time", point_at(c, "block", caught / 2)->v.x, a * frame_at(c, caught / 2) * c->h,
         1.01 * a * c->h);
  expect(c, "speed at the end", point_at(c, "block", t)->v.x, v, 1e-6);
  expect(c, "way", point_at(c, "block", t)->x.x, v * t - v * caught / 2, v * c->h * 1.5 + 1e-8);
}

// Three feet carry a third of the weight each, so that the torque is mu m g R.
static void tripod(cell *c) {
  double a = parameter(c, "mu") * 3 * G * parameter(c, "radius") / 0.08, w = parameter(c, "spin"), t = duration(c),
         half = w / a / 2;
  expect(c, "spin at half the time", point_at(c, "plate", half)->w.z, w - a * frame_at(c, half) * c->h, 1.1 * a * c->h);
  expect_at_most(c, "spin at the end", fabs(point_at(c, "plate", t)->w.z), 1e-5);
  carom_vec3 x = carom_model_find_body(c->track->model, "plate") < 0
                     ? cm_zero3()
                     : cm_rotate(pose_at(c, "plate", t).q, cm_vec3(1, 0, 0));
  double turned = w * w / (2 * a);
  expect(c, "turn", cos(turned - atan2(x.y, x.x)), 1, 0.5 * pow(w * c->h * 1.5 + 1e-6, 2));
}

// Holds until F = mu m g, then m dv/dt = F(t) - mu m g.
static void push(cell *c) {
  double mu = parameter(c, "mu"), ramp = parameter(c, "ramp"), t = duration(c), s = t - ramp;
  double rate = mu * G / ramp;
  expect_at_most(c, "way before it slides", fabs(point_at(c, "block", ramp - c->h)->x.x), 1e-6);
  expect(c, "speed", point_at(c, "block", t)->v.x, 0.5 * rate * s * s, 2 * rate * c->h * s + 1e-6);
}

static void pull_pair(cell *c) {
  double mu = parameter(c, "mu"), f = parameter(c, "force"), t = duration(c), together = f / 3 - mu * G;
  double upper = fmin(together, mu * G), lower = together <= mu * G ? together : (f - mu * G * 3 - mu * G) / 2;
  expect(c, "speed of the upper", point_at(c, "upper", t)->v.x, upper * t, 1e-6 + 2 * G * mu * c->h);
  expect(c, "speed of the lower", point_at(c, "lower", t)->v.x, lower * t, 1e-6 + 2 * G * mu * c->h);
}

// Rides along while w^2 r < mu g.
static void turntable(cell *c) {
  double w = parameter(c, "spin"), r = parameter(c, "radius"), t = duration(c), off = w * w * r * c->h * t * 2;
  expect_vector(c, "place", point_at(c, "block", t)->x, cm_vec3(r * cos(w * t), r * sin(w * t), 0.02), off);
  expect(c, "spin", point_at(c, "block", t)->w.z, w, w * w * c->h + 1e-6);
}

static void keeps_spinning(cell *c) {
  double t = duration(c);
  expect(c, "spin about the vertical", point_at(c, "ball", t)->w.z, point_at(c, "ball", 0)->w.z, 1e-9);
  expect_at_most(c, "way", cm_norm(cm_sub(point_at(c, "ball", t)->x, point_at(c, "ball", 0)->x)), 1e-6);
}

const conformance_scene slide_scenes[] = {
    {"incline-sticks", "slide and stick", "incline", "a=0.2 b=0.2 c=0.1 angle=0.35 mu=0.5 T=1", {4e-3, 1e-3}, stick, 0},
    {"incline-slides",
     "slide and stick",
     "incline",
     "a=0.2 b=0.2 c=0.1 angle=0.5 mu=0.3 T=0.8",
     {4e-3, 1e-3},
     slide,
     0},
    {"incline-frictionless",
     "slide and stick",
     "incline",
     "a=0.2 b=0.2 c=0.1 angle=0.5 mu=0 T=0.8",
     {4e-3, 1e-3},
     slide,
     0},
    {"incline-plate-slides",
     "thin and long",
     "incline",
     "a=1 b=1 c=0.01 angle=0.5 mu=0.3 T=0.8",
     {4e-3, 1e-3},
     slide,
     0},
    {"incline-millimetre",
     "slide and stick",
     "incline",
     "a=0.002 b=0.002 c=0.001 angle=0.35 mu=0.5 T=0.2",
     {1e-3, 0.25e-3},
     stick,
     0},
    {"incline-twenty-metres",
     "slide and stick",
     "incline",
     "a=20 b=20 c=10 angle=0.5 mu=0.3 T=4",
     {20e-3, 5e-3},
     slide,
     0},
    {"block-stops", "slide and stick", "incline", "a=0.2 b=0.2 c=0.05 angle=0 mu=0.5 v=3 T=1", {4e-3, 1e-3}, stop, 0},
    {"ball-slides-and-rolls", "slide and stick", "roll", "r=0.1 angle=0 mu=0.2 v=3 T=0.8", {4e-3, 1e-3}, slide_roll, 0},
    {"ball-rolls-down", "slide and stick", "roll", "r=0.1 angle=0.35 mu=0.5 T=0.8", {4e-3, 1e-3}, roll_ball, 0},
    {"cylinder-rolls-down",
     "slide and stick",
     "cylinder",
     "r=0.1 angle=0.35 mu=0.5 T=0.8",
     {4e-3, 1e-3},
     roll_cylinder,
     0},
    {"belt", "drives", "belt", "mu=0.3 speed=1 T=0.6", {4e-3, 1e-3}, belt, SCENE_DRIVEN},
    {"tripod-spins", "slide and stick", "tripod", "mu=0.3 spin=10 radius=0.2 T=0.8", {4e-3, 1e-3}, tripod, 0},
    {"push-until-it-slides", "slide and stick", "push", "mu=0.4 ramp=0.3 T=0.6", {4e-3, 1e-3}, push, SCENE_DRIVEN},
    {"pulled-pair-sticks",
     "slide and stick",
     "pull-pair",
     "mu=0.3 force=12 T=0.4",
     {4e-3, 1e-3},
     pull_pair,
     SCENE_DRIVEN},
    {"pulled-pair-slips",
     "slide and stick",
     "pull-pair",
     "mu=0.3 force=30 T=0.25",
     {4e-3, 1e-3},
     pull_pair,
     SCENE_DRIVEN},
    {"turntable", "drives", "turntable", "mu=0.5 spin=2 radius=0.4 T=0.8", {4e-3, 1e-3}, turntable, SCENE_DRIVEN},
    {"ball-spins-on-the-spot", "slide and stick", "spin", "T=0.5", {4e-3, 1e-3}, keeps_spinning, 0},
    {0}};
