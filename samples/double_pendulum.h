// A double pendulum that may hit a wall: by an integrator, and by an independent integration in minimal coordinates.
#ifndef CAROM_SAMPLES_DOUBLE_PENDULUM_H
#define CAROM_SAMPLES_DOUBLE_PENDULUM_H

#include "worlds.h"

static const double g0 = 9.81;

static inline int add_ball(carom_builder *b, double radius, carom_vec3 at) {
  carom_body_def def = carom_body_default();
  def.mass = 1;
  def.pose.p = at;
  return put_shape(b, def, sphere_shape(radius));
}

static inline void add_link(carom_builder *b, int from, int to, carom_vec3 anchor) {
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_DISTANCE;
  joint.body[0] = from;
  joint.body[1] = to;
  joint.point[0] = anchor;
  carom_builder_add_joint(b, &joint);
}

// ---- a double pendulum of two unit masses on unit links, in the plane of x and z ----------------------------------

typedef struct angles {
  double a[2], w[2];
} angles;

static inline angles pendulum_rates(angles s) {
  double d = s.a[0] - s.a[1], c = cos(d), n = sin(d);
  // [2 c; c 1] (w1', w2') = (-w2^2 n - 2 g sin a1, w1^2 n - g sin a2)
  double f0 = -s.w[1] * s.w[1] * n - 2 * g0 * sin(s.a[0]), f1 = s.w[0] * s.w[0] * n - g0 * sin(s.a[1]);
  double det = 2 - c * c;
  return (angles){{s.w[0], s.w[1]}, {(f0 - c * f1) / det, (2 * f1 - c * f0) / det}};
}

static inline angles mix(angles s, double h, angles r) {
  for (int i = 0; i < 2; i++) s.a[i] += h * r.a[i], s.w[i] += h * r.w[i];
  return s;
}

static inline angles runge_kutta(angles s, double h) {
  angles k1 = pendulum_rates(s), k2 = pendulum_rates(mix(s, h / 2, k1)), k3 = pendulum_rates(mix(s, h / 2, k2));
  angles k4 = pendulum_rates(mix(s, h, k3));
  return mix(mix(mix(mix(s, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4);
}

static inline double tip(angles s) { return sin(s.a[0]) + sin(s.a[1]); }

// At the wall x = const: M (w+ - w-) = J' r with J = (cos a1, cos a2) and J w+ = -e J w-.
static inline angles hit_wall(angles s, double e) {
  double c = cos(s.a[0] - s.a[1]), det = 2 - c * c, j0 = cos(s.a[0]), j1 = cos(s.a[1]);
  double y0 = (j0 - c * j1) / det, y1 = (2 * j1 - c * j0) / det;  // M^-1 J'
  double r = -(1 + e) * (j0 * s.w[0] + j1 * s.w[1]) / (j0 * y0 + j1 * y1);
  s.w[0] += r * y0;
  s.w[1] += r * y1;
  return s;
}

// With the wall at `wall` (none: infinity); impacts by bisection on the step.
static inline angles reference(angles s, double until, double wall, double e) {
  const double dt = 1e-4;
  double t = 0;
  while (t < until - 1e-12) {
    double h = fmin(dt, until - t);
    angles next = runge_kutta(s, h);
    if (tip(next) > wall && tip(s) < wall) {
      double low = 0, high = h;
      for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (tip(runge_kutta(s, middle)) > wall)
          high = middle;
        else
          low = middle;
      }
      s = hit_wall(runge_kutta(s, low), e);
      t += low;
    } else {
      s = next;
      t += h;
    }
  }
  return s;
}

static inline carom_vec3 place(double angle) { return cm_vec3(sin(angle), 0, -cos(angle)); }

// How far the tip is from where it should be after a time.
static inline double pendulum_error(const char *integrator, double alpha, double h, double until, double wall,
                                    double e) {
  const double r = 0.05;
  angles start = {{-1.2, -0.4}, {0, 0}};
  carom_builder *b = new_builder();
  put_material(b, e, 0);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -g0));
  carom_vec3 p = place(start.a[0]), q = cm_add(p, place(start.a[1]));
  int first = add_ball(b, r, p), second = add_ball(b, r, q);
  add_link(b, CAROM_WORLD, first, cm_zero3());
  add_link(b, first, second, cm_zero3());
  if (isfinite(wall)) {
    put_shape(b, fixed_body(cm_vec3(wall + r, 0, 0), cm_axis_angle(cm_vec3(0, 1, 0), -1.5707963267948966)),
              floor_shape());
    carom_builder_set_apart(b, first, 2);  // only the tip meets the wall
  }
  world w = finish_world(b);
  carom_step_options options = carom_step_default_options();
  options.integrator = integrator;
  options.alpha = alpha;
  options.step = h;
  carom_stepper *stepper = stepper_by(&w, &options);
  run_steps(stepper, w.state, (int)lround(until / h));
  angles end = reference(start, until, wall, e);
  carom_vec3 expected = cm_add(place(end.a[0]), place(end.a[1]));
  double off = cm_norm(cm_sub(w.state->x[second], expected));
  carom_stepper_destroy(stepper);
  free_world(&w);
  return off;
}

#endif
