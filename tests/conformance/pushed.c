// Bodies without inertia, pushed and pulled: motions known in closed form, or by equations that are integrated apart.
#include <math.h>

#include "families.h"

static const double A = 1.6, B = 0.8, RADIUS = 0.1;  // of the scene

static double gyration(void) { return (A * A + B * B) / 12; }

static double angle_of(const cell *c, const char *name, double t) {
  return cm_log(cm_qmul(point_at(c, name, t)->q, cm_qconj(point_at(c, name, 0)->q))).z;
}

// A probe below the part's middle pushes it straight ahead, whatever rubs.
static void ahead(cell *c) {
  double t = duration(c), way = parameter(c, "v") * t;
  expect_vector(c, "place", point_at(c, "part", t)->x, cm_vec3(0, way, 0), 1e-9);
  expect_at_most(c, "turn, rad", tilt_at(c, "part", t), 1e-9);
}

// Without friction: the speed v_n of the probe along the part's normal gives w = v_n r/(l^2 + r^2), r its arm.
static void part_rates(const double *y, const double *parameters, double *dy) {
  double l2 = gyration(), c = cos(y[2]), s = sin(y[2]);
  double dx = parameters[0] + parameters[1] * y[3] - y[0], dz = -B / 2 - RADIUS + parameters[2] * y[3] - y[1];
  double r = c * dx + s * dz, vn = -s * parameters[1] + c * parameters[2], v = vn * l2 / (l2 + r * r);
  dy[0] = -s * v, dy[1] = c * v, dy[2] = vn * r / (l2 + r * r), dy[3] = 1;
}

static void aside(cell *c) {
  double y[4] = {0}, parameters[3] = {parameter(c, "x"), parameter(c, "u"), parameter(c, "v")}, t = duration(c);
  integrate(part_rates, parameters, 4, t, y);
  double off = 0.2 * c->h * parameter(c, "v") * t + 1e-8;  // of first order
  expect_vector(c, "place", point_at(c, "part", t)->x, cm_vec3(y[0], y[1], 0), off);
  expect(c, "angle", angle_of(c, "part", t), y[2], off);
}

// v = F/c, w = M/(c l^2).
static void pulled(cell *c) {
  double t = duration(c), damping = parameter(c, "c");
  expect_vector(c, "place", point_at(c, "part", t)->x, cm_vec3(t * parameter(c, "force") / damping, 0, 0), 1e-9);
  expect(c, "angle", angle_of(c, "part", t), t * parameter(c, "torque") / (damping * gyration()), 1e-9);
}

const conformance_scene pushed_scenes[] = {
    {"probe-pushes-ahead", "without inertia", "pushed", "x=0 u=0 v=0.05 mu=0.5 c=2", {4e-2, 1e-2}, ahead, SCENE_DRIVEN},
    {"probe-pushes-aside",
     "without inertia",
     "pushed",
     "x=0.4 u=0.01 v=0.05 mu=0 c=2",
     {4e-2, 1e-2},
     aside,
     SCENE_DRIVEN},
    {"oil-gives-way",
     "without inertia",
     "pulled-over-oil",
     "c=2 force=0.3 torque=0.1",
     {4e-2, 1e-2},
     pulled,
     SCENE_DRIVEN},
    {0}};
