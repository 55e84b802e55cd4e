// Bounces: heights after any number of them, what laws of impact say of velocities, and what columns of touching beads
// must keep whatever the law.
#include <math.h>
#include <stdio.h>

#include "families.h"

static const double G = 9.81;

// Height of a point that is dropped from z0 and keeps e of its speed, and how many bounces that were.
static double height(double z0, double e, double t, int *bounces) {
  double fall = sqrt(2 * z0 / G), v = G * fall;
  *bounces = 0;
  if (t < fall) return z0 - 0.5 * G * t * t;
  t -= fall;
  for (*bounces = 1; *bounces < 1000; ++*bounces) {
    v *= e;
    double flight = 2 * v / G;
    if (flight < 1e-9) return 0;
    if (t < flight) return v * t - 0.5 * G * t * t;
    t -= flight;
  }
  return 0;
}

static void expect_bounces(cell *c, const char *name, double rest) {
  double z0 = parameter(c, "z0"), e = parameter(c, "e"), v = sqrt(2 * G * z0);
  for (int k = 1; k <= 20; k++) {
    double t = frame_at(c, k * duration(c) / 20) * c->h;
    int bounces = 0;
    double truth = height(z0, e, t, &bounces), speed = 0;
    for (int b = 0; b < bounces; b++) speed += v * pow(e, b) * (1 + e);
    // A bounce that is late by d leaves the body (1 + e) v d lower or higher, and g d slower or faster for the rest.
    double off = c->accuracy.late * (speed + bounces * G * (1 + e) * t) + drift(c, G, t, 0) + 1e-9 * (1 + z0);
    char what[60];
    snprintf(what, sizeof what, "height at t = %.4g s after %d bounces", t, bounces);
    expect(c, what, point_at(c, name, t)->x.z - rest, truth, off + 1e-4 * rest);
  }
}

static void ball(cell *c) {
  expect_bounces(c, "ball", parameter(c, "r"));
  expect_at_most(c, "sideways", fabs(point_at(c, "ball", duration(c))->x.x), 1e-9);
}

static void cube(cell *c) {
  expect_bounces(c, "ball", parameter(c, "side") / 2);
  expect_at_most(c, "turn, rad", tilt_at(c, "ball", duration(c)), 1e-6);
}

static double momentum_along_x(const cell *c, int frame) {
  double sum = 0;
  for (int i = 0; i < c->track->model->body_count; i++)
    if (!c->track->model->bodies[i].fixed) sum += c->track->model->bodies[i].mass * track_at(c->track, frame, i)->v.x;
  return sum;
}

// Elastic beads keep their energy, however many touch at once. What a late impact costs is m g v late.
static void elastic_column(cell *c) {
  double z0 = parameter(c, "z0"), v = sqrt(2 * G * z0), kinetic = 0;
  for (int i = 0; i < c->track->model->body_count; i++)
    kinetic += c->track->model->bodies[i].fixed ? 0 : c->track->model->bodies[i].mass * G * z0;
  double bounces = 2 + duration(c) / (2 * v / G),
         off = bounces * 2 * G * c->accuracy.late / v + c->h * (c->accuracy.order == 1) * G / v * 4;
  expect(c, "energy, of that at the impact",
         (track_energy(c->track, c->track->frames - 1) - track_energy(c->track, 0)) / kinetic, 0, fmax(1e-9, off));
  for (int i = 1; i < c->track->model->body_count; i++)
    expect_at_most(c, "sideways", fabs(track_at(c->track, c->track->frames - 1, i)->x.x), 1e-6);
}

static void dead_column(cell *c) {
  double r = parameter(c, "r");
  for (int i = 0; i < (int)parameter(c, "beads"); i++) {
    char name[20];
    snprintf(name, sizeof name, "bead_%d", i);
    expect(c, name, point_at(c, name, duration(c))->x.z, r * (2 * i + 1), 2e-3 * r);
    expect_at_most(c, "speed", cm_norm(point_at(c, name, duration(c))->v), 2 * G * c->h);
  }
}

// A row of touching balls: momentum and energy, whatever the law shares out.
static void cradle(cell *c) {
  int last = c->track->frames - 1;
  double p = momentum_along_x(c, 0), k = track_energy(c->track, 0);
  expect(c, "momentum", momentum_along_x(c, last), p, 1e-9 * p);
  expect(c, "energy", track_energy(c->track, last), k, 1e-9 * k);
}

// A row with gaps: one impact after the other, each with v2 = m1 (1 + e) v / (m1 + m2).
static void chain(cell *c) {
  double e = parameter(c, "e"), ratio = parameter(c, "ratio"), v = parameter(c, "v");
  for (int i = 0; i <= (int)parameter(c, "balls"); i++) {
    char name[20];
    double after = i == (int)parameter(c, "balls") ? v : v * (1 - ratio * (1 + e) / (1 + ratio));
    snprintf(name, sizeof name, i ? "ball_%d" : "cue", i - 1);
    expect_vector(c, name, point_at(c, name, duration(c))->v, cm_vec3(after, 0, 0), 1e-9 * v);
    v *= (1 + e) / (1 + ratio);
  }
}

static void oblique(cell *c) {
  double r = parameter(c, "r"), e = parameter(c, "e"), offset = parameter(c, "offset"), v = parameter(c, "v");
  double across = offset / (2 * r), along = sqrt(1 - across * across), j = 2.0 / 3 * (1 + e) * v * along;
  carom_vec3 n = cm_vec3(along, 0.6 * across, 0.8 * across);  // from cue to ball; masses 2 and 1
  double off = 1e-9 + 4 * v * c->accuracy.late * v / (2 * r) / along;
  expect_vector(c, "cue", point_at(c, "cue", duration(c))->v, cm_axpy(cm_vec3(v, 0, 0), -j / 2, n), off);
  expect_vector(c, "ball", point_at(c, "ball", duration(c))->v, cm_scale(j, n), off);
}

// One rough impact of a ball: Coulomb's law with the impulse of the normal (slides), or until it rolls (sticks).
static void rough(cell *c) {
  double r = parameter(c, "r"), z0 = parameter(c, "z0"), e = parameter(c, "e"), mu = parameter(c, "mu");
  double vx = parameter(c, "vx"), wy = parameter(c, "wy"), down = sqrt(2 * G * z0), t = duration(c);
  double slip = vx - r * wy, stick = 2.0 / 7 * slip, most = mu * (1 + e) * down;
  double change = fabs(stick) < most ? stick : copysign(most, slip), off = 2 * mu * G * c->accuracy.late + 1e-8;
  expect(c, "speed along the floor", point_at(c, "ball", t)->v.x, vx - change, off);
  expect(c, "spin", point_at(c, "ball", t)->w.y, wy + 2.5 * change / r, 2.5 * off / r);
}

// J = (1 + e) v / (1/m + r^2/I), r the arm of the end.
static void rod_end(cell *c) {
  double e = parameter(c, "e"), z0 = parameter(c, "z0"), v = sqrt(2 * G * z0), t0 = sqrt(2 * z0 / G), t = duration(c);
  const carom_body *b = &c->track->model->bodies[body(c, "rod")];
  double arm = 0.5 * parameter(c, "length") * cos(parameter(c, "angle")),
         across = b->inertia.x > b->inertia.z ? b->inertia.x : b->inertia.z;
  double j = (1 + e) * v / (1 / b->mass + arm * arm / across), off = 3 * G * c->accuracy.late + 1e-6 * v;
  expect(c, "speed of the centre", point_at(c, "rod", t)->v.z, -G * t + j / b->mass, off);
  expect(c, "spin", point_at(c, "rod", t)->w.y, -j * arm / across, off / arm * 2);
  expect_at_most(c, "time of the impact", t0, t);
}

static void corner(cell *c) {
  double v = parameter(c, "v") * parameter(c, "e");
  expect_vector(c, "velocity", point_at(c, "ball", duration(c))->v, cm_vec3(v, v, v), 1e-9);
  expect(c, "energy", track_energy(c->track, c->track->frames - 1) / track_energy(c->track, 0),
         pow(parameter(c, "e"), 2), 1e-9);
}

static void blocks_meet(cell *c) {
  double e = parameter(c, "e"), m = parameter(c, "ratio"), v = parameter(c, "v"), approach = 1.5 * v,
         j = (1 + e) * approach * m / (1 + m);
  expect_vector(c, "left", point_at(c, "left", duration(c))->v, cm_vec3(v - j, 0, 0), 1e-8);
  expect_vector(c, "right", point_at(c, "right", duration(c))->v, cm_vec3(-v / 2 + j / m, 0, 0), 1e-8);
  expect_at_most(c, "turn, rad", tilt_at(c, "left", duration(c)), 1e-6);
}

static void mirror(cell *c) {
  for (int k = 1; k <= 10; k++) {
    const track_point *a = point_at(c, "left", k * duration(c) / 10), *b = point_at(c, "right", k * duration(c) / 10);
    expect_vector(c, "place of the image", cm_vec3(-b->x.x, b->x.y, b->x.z), a->x, 1e-7);
    expect_vector(c, "spin of the image", cm_vec3(b->w.x, -b->w.y, -b->w.z), a->w, 1e-5);
  }
}

const conformance_scene bounce_scenes[] = {
    {"ball-dead", "bounce", "ball", "r=0.1 z0=0.5 e=0 T=1", {4e-3, 1e-3}, ball, 0},
    {"ball-half", "bounce", "ball", "r=0.1 z0=0.5 e=0.5 T=1.5", {4e-3, 1e-3}, ball, 0},
    {"ball-elastic", "bounce", "ball", "r=0.1 z0=0.5 e=1 T=2", {4e-3, 1e-3}, ball, 0},
    {"ball-millimetre", "bounce", "ball", "r=0.001 z0=0.005 e=0.5 T=0.15", {0.4e-3, 0.1e-3}, ball, 0},
    {"ball-twenty-metres", "bounce", "ball", "r=10 z0=50 e=0.8 T=12", {20e-3, 5e-3}, ball, 0},
    {"cube-flat-dead", "bounce", "cube", "side=0.2 z0=0.3 e=0 T=0.8", {4e-3, 1e-3}, cube, 0},
    {"cube-flat-half", "bounce", "cube", "side=0.2 z0=0.3 e=0.5 T=0.8", {4e-3, 1e-3}, cube, 0},
    {"cube-flat-elastic", "bounce", "cube", "side=0.2 z0=0.3 e=1 T=0.8", {4e-3, 1e-3}, cube, 0},
    {"column-2-elastic", "bounce", "column", "beads=2 r=0.005 z0=0.05 e=1 T=0.3", {2e-3, 0.5e-3}, elastic_column, 0},
    {"column-3-elastic", "bounce", "column", "beads=3 r=0.005 z0=0.05 e=1 T=0.3", {2e-3, 0.5e-3}, elastic_column, 0},
    {"column-5-elastic", "bounce", "column", "beads=5 r=0.005 z0=0.05 e=1 T=0.3", {2e-3, 0.5e-3}, elastic_column, 0},
    {"column-10-elastic", "bounce", "column", "beads=10 r=0.005 z0=0.05 e=1 T=0.2", {2e-3, 0.5e-3}, elastic_column, 0},
    {"column-5-dead", "bounce", "column", "beads=5 r=0.005 z0=0.05 e=0 T=0.3", {2e-3, 0.5e-3}, dead_column, 0},
    {"cradle-5", "bounce", "row", "balls=4 gap=0 e=1 ratio=1 v=2 T=0.2", {2e-3, 0.5e-3}, cradle, 0},
    {"cradle-9-masses", "bounce", "row", "balls=8 gap=0 e=1 ratio=0.7 v=2 T=0.2", {2e-3, 0.5e-3}, cradle, 0},
    {"pair-half", "bounce", "row", "balls=1 gap=0 e=0.5 ratio=3 v=2 T=0.2", {2e-3, 0.5e-3}, chain, 0},
    {"chain-of-impacts", "bounce", "row", "balls=3 gap=0.05 e=1 ratio=0.5 v=2 T=0.2", {2e-3, 0.5e-3}, chain, 0},
    {"oblique-pair", "bounce", "oblique", "r=0.1 e=0.8 offset=0.1 v=1 T=0.8", {2e-3, 0.5e-3}, oblique, 0},
    {"rough-slips", "bounce", "rough", "r=0.1 z0=0.3 e=0.5 mu=0.1 vx=3 wy=-10 T=0.35", {2e-3, 0.5e-3}, rough, 0},
    {"rough-rolls", "bounce", "rough", "r=0.1 z0=0.3 e=0.5 mu=0.6 vx=1 wy=5 T=0.35", {2e-3, 0.5e-3}, rough, 0},
    {"rod-end-half", "bounce", "rod-end", "r=0.02 length=1 angle=0.6 z0=0.2 e=0.5 T=0.25", {2e-3, 0.5e-3}, rod_end, 0},
    {"rod-end-elastic", "bounce", "rod-end", "r=0.02 length=1 angle=0.9 z0=0.2 e=1 T=0.25", {2e-3, 0.5e-3}, rod_end, 0},
    {"corner-elastic", "bounce", "corner", "e=1 v=1 T=1.2", {4e-3, 1e-3}, corner, 0},
    {"blocks-meet", "bounce", "blocks-meet", "e=0.5 ratio=3 v=2 T=0.5", {2e-3, 0.5e-3}, blocks_meet, 0},
    {"mirror-image", "symmetry", "mirror", "T=0.5", {4e-3, 1e-3}, mirror, 0},
    {0}};
