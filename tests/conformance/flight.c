// Free flight: parabolas; Euler's equations by elliptic functions and by Runge-Kutta; energy and angular momentum.
#include <math.h>
#include <stdio.h>

#include "families.h"

static const double G = 9.81;

// y: quaternion, body rates; parameters: principal moments.
static void euler(const double *y, const double *p, double *dy) {
  double w1 = y[4], w2 = y[5], w3 = y[6];
  dy[0] = -0.5 * (y[1] * w1 + y[2] * w2 + y[3] * w3);
  dy[1] = 0.5 * (y[0] * w1 + y[2] * w3 - y[3] * w2);
  dy[2] = 0.5 * (y[0] * w2 + y[3] * w1 - y[1] * w3);
  dy[3] = 0.5 * (y[0] * w3 + y[1] * w2 - y[2] * w1);
  dy[4] = (p[1] - p[2]) * w2 * w3 / p[0];
  dy[5] = (p[2] - p[0]) * w3 * w1 / p[1];
  dy[6] = (p[0] - p[1]) * w1 * w2 / p[2];
}

static carom_vec3 momentum_of(const carom_body *b, const track_point *p) {
  return cm_rotate(p->q, cm_mul_diag(b->inertia, cm_unrotate(p->q, p->w)));
}

static double spin_energy(const carom_body *b, const track_point *p) { return 0.5 * cm_dot(p->w, momentum_of(b, p)); }

// How far rates may be off by the end, relative: the order of the method, times the turns made. What grows where a turn
// is unstable grows with it.
static double turning_error(const cell *c, double w, double time) {
  double wh = w * c->h, growth = exp(fmin(w * time, 4));
  return fmax(1e-9, growth * pow(wh, c->accuracy.order));
}

static void expect_spin(cell *c, const char *name, double time) {
  int i = body(c, name);
  const carom_body *b = &c->track->model->bodies[i];
  const track_point *start = track_at(c->track, 0, i), *end = point_at(c, name, time);
  double w = cm_norm(start->w), off = turning_error(c, w, time), l = cm_norm(momentum_of(b, start));
  expect_vector(c, "angular momentum", momentum_of(b, end), momentum_of(b, start), l * fmax(1e-8, 0.1 * off));
  expect(c, "energy of rotation", spin_energy(b, end), spin_energy(b, start), spin_energy(b, start) * off);
}

static void expect_euler(cell *c, const char *name, double time) {
  int i = body(c, name);
  const carom_body *b = &c->track->model->bodies[i];
  const track_point *start = track_at(c->track, 0, i), *end = point_at(c, name, time);
  carom_vec3 w0 = cm_unrotate(start->q, start->w), w = cm_unrotate(end->q, end->w);
  double y[7] = {start->q.w, start->q.x, start->q.y, start->q.z, w0.x, w0.y, w0.z};
  double moments[3] = {b->inertia.x, b->inertia.y, b->inertia.z};
  integrate(euler, moments, 7, frame_at(c, time) * c->h, y);
  double size = cm_norm(w0), off = turning_error(c, size, time);
  expect_vector(c, "body rates", w, cm_vec3(y[4], y[5], y[6]), size * off);
  double same = fabs(cm_qdot(end->q, cm_quat(y[0], y[1], y[2], y[3])));
  expect(c, "orientation, rad", 2 * acos(fmin(1, same)), 0, fmax(1e-7, off * (1 + size * time)));
}

static void flight(cell *c) {
  double time = duration(c);
  const track_point *start = point_at(c, "brick", 0), *end = point_at(c, "brick", time);
  carom_vec3 at = cm_axpy(cm_axpy(start->x, time, start->v), -0.5 * G * time * time, cm_vec3(0, 0, 1));
  double size = c->track->model->bodies[0].bounding_radius;
  expect_vector(c, "place", end->x, at, 1e-9 * (size + cm_norm(at)) + drift(c, G, time, 0));
  expect_vector(c, "velocity", end->v, cm_axpy(start->v, -G * time, cm_vec3(0, 0, 1)), 1e-9 * (1 + G * time));
  expect_spin(c, "brick", time);
  expect_euler(c, "brick", time);
}

// Begun without a rate about the middle axis (Landau and Lifshitz 1976, 37): with moments A > B > C along the axes and
// rates (p, 0, r), r > 0, the rate about the middle axis is a sine amplitude.
static void elliptic(cell *c) {
  flight(c);
  const carom_body *b = &c->track->model->bodies[0];
  const track_point *start = point_at(c, "brick", 0);
  carom_vec3 w = cm_unrotate(start->q, start->w);
  double order[3][2] = {{b->inertia.x, w.x}, {b->inertia.y, w.y}, {b->inertia.z, w.z}};
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < 2; i++)
      if (order[i][0] < order[i + 1][0])
        for (int k = 0; k < 2; k++) {
          double swap = order[i][k];
          order[i][k] = order[i + 1][k], order[i + 1][k] = swap;
        }
  double A = order[0][0], B = order[1][0], C = order[2][0], p = order[0][1], r = order[2][1];
  double small = C * (B - C) * r * r, large = A * (A - B) * p * p;  // which axis the spin goes about
  double k2 = fmin(small, large) / fmax(small, large);
  double top =
      small < large ? sqrt(C * (A - C) / (B * (A - B))) * fabs(r) : sqrt(A * (A - C) / (B * (B - C))) * fabs(p);
  double rate =
      small < large ? sqrt((A - B) * (A - C) / (B * C)) * fabs(p) : sqrt((A - C) * (B - C) / (A * B)) * fabs(r);
  double time = duration(c), sn, cn, dn;
  jacobi(rate * time, sqrt(k2), &sn, &cn, &dn);
  const track_point *end = point_at(c, "brick", time);
  carom_vec3 now = cm_unrotate(end->q, end->w);
  double middle = b->inertia.x == B ? now.x : b->inertia.y == B ? now.y : now.z, size = cm_norm(w);
  expect(c, "rate about the middle axis", fabs(middle), fabs(top * sn), size * turning_error(c, size, time));
}

// A symmetric top precesses: body rates turn about the axis at (1 - I3/I1) w3.
static void symmetric(cell *c) {
  flight(c);
  double time = duration(c);
  const track_point *start = point_at(c, "brick", 0), *end = point_at(c, "brick", time);
  const carom_body *b = &c->track->model->bodies[0];
  carom_vec3 m = b->inertia, w = cm_unrotate(start->q, start->w), now = cm_unrotate(end->q, end->w);
  bool along_x = fabs(m.y - m.z) < 1e-9 * m.y;
  double axis = along_x ? w.x : w.z, ratio = along_x ? m.x / m.y : m.z / m.x;
  double angle = (1 - ratio) * axis * time, u = along_x ? w.y : w.x, v = along_x ? w.z : w.y;
  double size = cm_norm(w), off = size * turning_error(c, size, time);
  expect(c, "first rate across the axis", along_x ? now.y : now.x, u * cos(angle) + v * sin(angle), off);
  expect(c, "rate about the axis", along_x ? now.x : now.z, axis, off);
}

static void swarm(cell *c) {
  for (int i = 0; i < c->track->model->body_count; i += 7) {
    const char *name = c->track->model->bodies[i].name;
    const track_point *start = point_at(c, name, 0), *end = point_at(c, name, duration(c));
    double t = duration(c);
    carom_vec3 at = cm_axpy(cm_axpy(start->x, t, start->v), -0.5 * G * t * t, cm_vec3(0, 0, 1));
    expect_vector(c, "place", end->x, at, 1e-8 + drift(c, G, t, 0));
    expect_spin(c, name, t);
  }
}

const conformance_scene flight_scenes[] = {
    {"flight-brick", "free flight", "flight", "a=0.3 b=0.2 c=0.1 wx=1 wy=5 wz=2 T=1", {4e-3, 1e-3}, flight, SCENE_FREE},
    {"flight-elliptic",
     "free flight",
     "flight",
     "a=0.3 b=0.2 c=0.1 wx=3 wy=0 wz=2 T=1",
     {4e-3, 1e-3},
     elliptic,
     SCENE_FREE},
    {"flight-top",
     "free flight",
     "flight",
     "a=0.2 b=0.2 c=0.4 wx=2 wy=0 wz=8 T=1",
     {4e-3, 1e-3},
     symmetric,
     SCENE_FREE},
    {"flight-racket",
     "free flight",
     "flight",
     "a=0.3 b=0.2 c=0.02 wx=0.5 wy=6 wz=0.1 T=0.8",
     {4e-3, 1e-3},
     flight,
     SCENE_FREE},
    {"flight-thin-plate",
     "free flight",
     "flight",
     "a=1 b=1 c=0.005 wx=20 wy=5 wz=10 T=0.4",
     {2e-3, 0.5e-3},
     flight,
     SCENE_FREE},
    {"flight-millimetre",
     "free flight",
     "flight",
     "a=0.003 b=0.002 c=0.001 wx=20 wy=90 wz=40 T=0.1",
     {0.5e-3, 0.1e-3},
     flight,
     SCENE_FREE},
    {"flight-hundred-metres",
     "free flight",
     "flight",
     "a=100 b=20 c=10 wx=0.05 wy=0.1 wz=0.02 speed=40 T=8",
     {40e-3, 10e-3},
     flight,
     SCENE_FREE},
    {"flight-swarm", "free flight", "swarm", "T=0.2", {4e-3, 1e-3}, swarm, SCENE_FREE},
    {0}};
