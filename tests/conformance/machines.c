// Mechanisms, satellites and toys, as people who meet Carom for the first time build them.
#include <math.h>

#include "families.h"

static const double G = 9.81;

// What a step may be late by, of a speed.
static double late(const cell *c, double acceleration) { return 3 * acceleration * (c->accuracy.late + c->h) + 1e-6; }

// A ball falls on a plank that turns about its centre: J = (1 + e) v / (1/m + a^2/I).
static void seesaw(cell *c) {
  double e = parameter(c, "e"), arm = parameter(c, "arm"), v = sqrt(2 * G * parameter(c, "z0")), t = duration(c);
  const carom_body *ball = &c->track->model->bodies[body(c, "ball")];
  double inertia = 6 * (4 + 0.0025) / 12, j = (1 + e) * v / (1 / ball->mass + arm * arm / inertia);
  expect(c, "spin of the plank", point_at(c, "plank", t)->w.y, j * arm / inertia, late(c, G * arm / inertia) + 0.01);
  expect(c, "speed of the ball", point_at(c, "ball", t)->v.z, j / ball->mass - G * t, late(c, G) + 0.01);
  expect_at_most(c, "way of the plank's centre", cm_norm(point_at(c, "plank", t)->x), 1e-5);
}

// Torque between a satellite and its wheel: each gets its own.
static void reaction_wheel(cell *c) {
  double torque = parameter(c, "torque"), t = duration(c);
  expect(c, "satellite", point_at(c, "satellite", t)->w.z, -torque * t / 10, 1e-4 * torque * t + torque * c->h);
  expect(c, "wheel", point_at(c, "wheel", t)->w.z, torque * t / 0.1, 1e-3 * torque * t / 0.1);
}

static void slider_crank(cell *c) {
  for (int n = 1; n <= 4; n++) {
    double t = frame_at(c, n * duration(c) / 4) * c->h, angle = parameter(c, "rate") * t, across = 0.2 * sin(angle);
    expect(c, "piston", point_at(c, "piston", t)->x.x, 0.2 * cos(angle) + sqrt(0.36 - across * across),
           c->accuracy.order == 1 ? c->h : 1e-5);
  }
}

static void screw(cell *c) {
  double lead = 0.05 / (2 * 3.14159265358979323846), m = 2, t = duration(c);
  double a = (parameter(c, "torque") - m * G * lead) / (0.01 + m * lead * lead);
  expect(c, "rate", point_at(c, "nut", t)->w.z, a * t, 1e-3 * fabs(a) * t + fabs(a) * c->h);
  double height = 0.5 * a * t * t * lead, angle = a * t * c->h;  // sin(angle) is turned by, or the like
  expect(c, "height", point_at(c, "nut", t)->x.z, height, drift(c, a * lead, t, 0) + height * angle * angle / 6 + 1e-5);
}

// Two cubes that meet off their centres and stay together: momentum and angular momentum say the rest.
static void docking(cell *c) {
  double m = 10, v = parameter(c, "v"), d = parameter(c, "offset"), t = duration(c);
  double inertia = 2 * m / 6 + m / 2 * (1 + d * d), spin = m / 2 * v * d / inertia;
  carom_vec3 a = point_at(c, "a", t)->v, b = point_at(c, "b", t)->v;
  expect(c, "spin of a", point_at(c, "a", t)->w.z, spin, 1e-2 * spin);
  expect(c, "spin of b", point_at(c, "b", t)->w.z, spin, 1e-2 * spin);
  expect_vector(c, "centre of mass", cm_scale(0.5, cm_add(a, b)), cm_vec3(-v / 2, 0, 0), 1e-8);
}

// Slides off a dome without friction and leaves it at cos = (2 + v^2/(g R))/3.
static void dome(cell *c) {
  double R = 1.1, v = parameter(c, "v"), cosine = (2 + v * v / (G * R)) / 3;
  double along = sqrt(v * v + 2 * G * R * (1 - cosine)) * cosine, t = duration(c);
  expect(c, "speed along", point_at(c, "ball", t)->v.x, along, 2 * G * c->h + 1e-3);
}

// Two sliders on crossed rails, joined by a link of length 1: the angle obeys th'' = -g cos th.
static void trammel_rates(const double *y, const double *parameters, double *dy) {
  (void)parameters;
  dy[0] = y[1];
  dy[1] = -G * cos(y[0]);
}
static void trammel(cell *c) {
  double y[2] = {parameter(c, "start"), 0}, t = duration(c), off = 5 * drift(c, G, t, 4) + 1e-5;
  integrate(trammel_rates, NULL, 2, t, y);
  expect(c, "lower slider", point_at(c, "across", t)->x.x, cos(y[0]), off);
  expect(c, "upper slider", point_at(c, "up", t)->x.z, sin(y[0]), off);
}

// Two satellites on a line turn about their middle for ever.
static void tether(cell *c) {
  double v = parameter(c, "v"), t = duration(c);
  carom_vec3 x = point_at(c, "b", t)->x;
  expect_vector(c, "place", x, cm_vec3(cos(v * t), sin(v * t), 0), 5 * drift(c, v * v, t, v) + 1e-5);
  expect(c, "length", 2 * cm_norm(x), 2, 1e-4);
}

// A block slides down a wedge that slides away under it.
static void free_wedge(cell *c) {
  double angle = parameter(c, "angle"), M = 2, m = 1, t = duration(c), s = sin(angle);
  double a = m * G * s * cos(angle) / (M + m * s * s);
  carom_vec3 wedge = point_at(c, "wedge", t)->v, block = point_at(c, "block", t)->v;
  expect(c, "wedge", wedge.x, -a * t, 2 * a * c->h + 1e-3 * a * t);
  expect(c, "momentum", M * wedge.x + m * block.x, 0, 1e-8);
}

// A chain let go at one end whips. What holds: energy and that nothing leaves the plane.
static void whip(cell *c) {
  const track *k = c->track;
  double energy = track_energy(k, k->frames - 1) - track_energy(k, 0), lifted = 0;
  for (int i = 0; i < k->model->body_count; i++) lifted = fmax(lifted, fabs(track_at(k, k->frames - 1, i)->x.y));
  expect(c, "energy", energy, 0, (c->accuracy.order == 1 ? 0.1 : 0.02) * 0.1 * k->model->body_count * G);
  expect_at_most(c, "out of the plane", lifted, 1e-6);
}

// Down a straight wall of 45 degrees.
static void cone_wall(cell *c) {
  double t = duration(c), a = G / sqrt(2), way = 0.5 * a * t * t / sqrt(2);
  carom_vec3 d = cm_sub(point_at(c, "ball", t)->x, point_at(c, "ball", 0)->x);
  expect_vector(c, "way", d, cm_vec3(-way, 0, -way), drift(c, a, t, 0) + 2 * c->h * a * t + 1e-6);
}

// Integrators that let the places of joints drift (index2) have rows of their own.
const conformance_scene machine_scenes[] = {
    {"see-saw-is-hit", "machines", "see-saw", "e=0.5 arm=0.9 z0=0.5 T=0.36", {2e-3, 0.5e-3}, seesaw, 0},
    {"reaction-wheel",
     "machines",
     "reaction-wheel",
     "torque=0.5 T=4",
     {4e-3, 1e-3},
     reaction_wheel,
     SCENE_FREE | SCENE_DRIVEN},
    {"slider-crank",
     "machines",
     "slider-crank",
     "rate=6.283185307179586 T=0.8",
     {4e-3, 1e-3},
     slider_crank,
     SCENE_DRIVEN},
    {"screw-lifts", "machines", "screw", "torque=0.5 T=1", {4e-3, 1e-3}, screw, SCENE_DRIVEN},
    {"docking-off-centre", "limits and latches", "docking", "v=0.2 offset=0.4 T=4", {4e-3, 1e-3}, docking, 0},
    {"ball-leaves-dome", "slide and stick", "dome", "v=0.5 T=0.8", {4e-3, 1e-3}, dome, 0},
    {"trammel", "machines", "trammel", "start=1 T=0.5", {4e-3, 1e-3}, trammel, 0},
    {"tether", "machines", "tether", "v=1 T=3", {4e-3, 1e-3}, tether, 0},
    {"wedge-slides-away", "slide and stick", "wedge", "angle=0.5 T=0.4", {4e-3, 1e-3}, free_wedge, 0},
    {"chain-whips", "machines", "whip", "T=1.2", {2e-3, 1e-3}, whip, 0},
    {"ball-down-a-funnel", "funnels", "cone-wall", "r=0.05 start=0.6 T=0.3", {4e-3, 1e-3}, cone_wall, 0},
    {0}};
