// Three classical experiments with balls, measured with the public interface alone: the weight on the bottom of a silo
// (Janssen 1895), the flow through an outlet (Beverloo 1961), the angle of repose in a slowly turning drum.
#ifndef CAROM_SAMPLES_GRANULAR_PHYSICS_H
#define CAROM_SAMPLES_GRANULAR_PHYSICS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "carom/carom.h"

static const double GP_G = 9.81, GP_PI = 3.141592653589793, GP_DENSITY = 2500;

typedef struct gp_world {
  carom_builder *builder;
  carom_model *model;
  carom_state *state;
  carom_stepper *stepper;
  int grains;   // bodies 0 ... grains - 1
  double mass;  // of one grain
} gp_world;

static inline void gp_must(carom_status status, const carom_error *error) {
  if (status == CAROM_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

// Material 0 has friction mu; material 1 none.
static inline gp_world gp_begin(double mu) {
  gp_world w = {0};
  carom_error error = {0};
  gp_must(carom_builder_create(NULL, &w.builder, &error), &error);
  carom_material_def m = carom_material_default();
  m.name = "grain", m.density = GP_DENSITY, m.friction = mu, m.restitution = 0;
  carom_builder_add_material(w.builder, &m);
  m.name = "smooth", m.friction = 0;
  carom_builder_add_material(w.builder, &m);
  carom_builder_set_gravity(w.builder, cm_vec3(0, 0, -GP_G));
  return w;
}

static inline void gp_add_ball(gp_world *w, const carom_shape *ball, carom_vec3 x) {
  carom_part part = {.shape = ball, .pose = cm_pose_identity()};
  carom_body_def def = carom_body_default();
  def.parts = &part, def.part_count = 1, def.pose.p = x;
  carom_builder_add_body(w->builder, &def);
  w->grains++;
}

// A slightly disordered lattice in the upright cylinder of radius R above `bottom`, layer by layer.
static inline void gp_fill(gp_world *w, int count, double r, double R, double bottom, uint64_t seed) {
  carom_random random = carom_random_make(seed, 0);
  const carom_shape *ball = NULL;
  carom_error error = {0};
  gp_must(carom_shape_create_sphere(r, NULL, &ball, &error), &error);
  w->mass = GP_DENSITY * 4 / 3 * GP_PI * r * r * r;
  int side = (int)(R / (2.2 * r)) + 1;
  for (int layer = 0; w->grains < count; layer++)
    for (int i = -side; i <= side; i++)
      for (int j = -side; j <= side && w->grains < count; j++) {
        double e = 0.09 * r, dx = carom_random_between(&random, -e, e), dy = carom_random_between(&random, -e, e);
        carom_vec3 p = cm_vec3(2.2 * r * i + dx, 2.2 * r * j + dy, bottom + r * (1.2 + 2.2 * layer));
        if (hypot(p.x, p.y) <= R - 1.1 * r) gp_add_ball(w, ball, p);
      }
  carom_shape_release(ball);
}

// A fixed body that a drive moves; speeds up from 0 between `begin` and `begin` + 0.1 s.
static inline int gp_driven(gp_world *w, carom_drive_def drive, double begin) {
  const carom_knot knots[] = {{begin, 0}, {begin + 0.1, 1}};
  carom_body_def def = carom_body_default();
  def.fixed = true;
  drive.body = carom_builder_add_body(w->builder, &def);
  drive.knots = knots, drive.knot_count = 2;
  carom_builder_add_drive(w->builder, &drive);
  return drive.body;
}

static inline void gp_profile(gp_world *w, const double (*profile)[2], int count) {
  carom_boundary_def def = carom_boundary_default();
  def.kind = CAROM_BOUNDARY_REVOLUTION, def.profile = profile, def.profile_count = count;
  carom_builder_add_boundary(w->builder, &def);
}

static inline void gp_plane(gp_world *w, carom_vec3 p, carom_quat q, int body, int material) {
  carom_boundary_def def = carom_boundary_default();
  def.pose = cm_pose(p, q), def.body = body, def.material = material;
  carom_builder_add_boundary(w->builder, &def);
}

static inline void gp_finish(gp_world *w, double h) {
  carom_error error = {0};
  gp_must(carom_builder_finish(w->builder, &w->model, &w->state, &error), &error);
  carom_builder_destroy(w->builder);
  carom_step_options o = carom_step_default_options();
  o.integrator = "cone", o.step = h, o.friction_directions = 0;
  gp_must(carom_stepper_create(w->model, &o, NULL, &w->stepper, &error), &error);
}

static inline void gp_step(gp_world *w, carom_step_report *report) {
  carom_error error = {0};
  gp_must(carom_stepper_step(w->stepper, w->state, report, &error), &error);
}

static inline void gp_end(gp_world *w) {
  carom_stepper_destroy(w->stepper);
  carom_state_destroy(w->state);
  carom_model_destroy(w->model);
}

// ---- Janssen -------------------------------------------------------------------------------------------------------

typedef struct gp_silo {
  int count;    // grains
  double r, R;  // m, of grain and cylinder
  double mu, h;
  double speed;  // m/s, of the bottom, downwards: mobilises friction at the wall, as Janssen's moving bottom did
  double settle, measure;  // s
  uint64_t seed;
} gp_silo;

// Mass that the bottom feels: the power of its drive is -F speed, with F the force on it (walls do not move and take no
// part in the work).
static inline double gp_weigh(const gp_silo *s) {
  gp_world w = gp_begin(s->mu);
  const double wall[2][2] = {{s->R, -1}, {s->R, 9}};
  gp_fill(&w, s->count, s->r, s->R, 0, s->seed);
  carom_drive_def drive = carom_drive_default();
  drive.velocity = cm_vec3(0, 0, -s->speed);
  int bottom = gp_driven(&w, drive, s->settle);
  gp_plane(&w, cm_zero3(), cm_qidentity(), bottom, 0);
  gp_profile(&w, wall, 2);
  gp_finish(&w, s->h);
  double work = 0, time = 0;
  while (w.state->time < s->settle + s->measure) {
    carom_step_report report;
    gp_step(&w, &report);
    if (w.state->time < s->settle + 0.1 + s->measure / 4) continue;
    work += report.work, time += s->h;
  }
  gp_end(&w);
  return -work / (time * s->speed * GP_G);
}

typedef double (*gp_silo_law)(double mass, double saturation);

static inline double gp_janssen(double M, double S) { return S * (1 - exp(-M / S)); }
// No law of silos, but one with the same limits: M of little, S of much.
static inline double gp_hyperbola(double M, double S) { return M * S / (M + S); }

// The saturation mass with which the law fits best, by relative error, and the largest relative deviation.
static inline double gp_silo_fit(gp_silo_law law, const double *M, const double *m, int count, double *worst) {
  double best = INFINITY, mass = 0;
  for (double log_s = log(M[0] / 10); log_s < log(M[count - 1] * 10); log_s += 1e-3) {
    double sum = 0, most = 0, s = exp(log_s);
    for (int i = 0; i < count; i++) {
      double e = m[i] / law(M[i], s) - 1;
      sum += e * e, most = fmax(most, fabs(e));
    }
    if (sum < best) best = sum, mass = s, *worst = most;
  }
  return mass;
}

// ---- Beverloo ------------------------------------------------------------------------------------------------------

typedef struct gp_outlet {
  int count;
  double r, R, D;  // m, of grain, cylinder; diameter of the outlet in its flat bottom
  double mu, h;
  double begin, end;  // s, of the count
  uint64_t seed;
} gp_outlet;

// Grains a second through the outlet; they come back on top, so that the flow is steady.
static inline double gp_discharge(const gp_outlet *o) {
  gp_world w = gp_begin(o->mu);
  const double silo[3][2] = {{o->D / 2, 0}, {o->R, 0}, {o->R, 9}};
  double top = o->count * 2.2 * 2.2 * 2.2 * o->r * o->r * o->r / (GP_PI * o->R * o->R) * 1.1;
  gp_fill(&w, o->count, o->r, o->R, 0, o->seed);
  gp_profile(&w, silo, 3);
  carom_recirculation_def back = carom_recirculation_default();
  double side = (o->R - 1.5 * o->r) / sqrt(2);
  back.outlet_low = cm_vec3(-9, -9, -9), back.outlet_high = cm_vec3(9, 9, -6 * o->r);
  back.inlet_low = cm_vec3(-side, -side, top), back.inlet_high = cm_vec3(side, side, top + 20 * o->r);
  back.velocity = cm_vec3(0, 0, -1);
  carom_builder_add_recirculation(w.builder, &back);
  gp_finish(&w, o->h);
  int through = 0;
  while (w.state->time < o->end) {
    carom_step_report report;
    gp_step(&w, &report);
    for (int k = 0; w.state->time > o->begin && k < report.event_count; k++)
      through += report.events[k].kind == CAROM_EVENT_RECIRCULATED;
  }
  gp_end(&w);
  return through / (o->end - o->begin);
}

// Slope of log W over log(D - k d), by least squares.
static inline double gp_beverloo_exponent(const double *D, const double *W, int count, double k_d) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (int i = 0; i < count; i++) {
    double a = log(D[i] - k_d), b = log(W[i]);
    x += a, y += b, xx += a * a, xy += a * b;
  }
  return (count * xy - x * y) / (count * xx - x * x);
}

// ---- angle of repose -----------------------------------------------------------------------------------------------

typedef struct gp_drum {
  int count;
  double r, R, width;
  double mu, h;
  double speed;  // rad/s
  double settle, measure;
  uint64_t seed;
} gp_drum;

static inline gp_drum gp_large_drum(void) {
  return (gp_drum){.count = 500,
                   .r = 0.01,
                   .R = 0.16,
                   .width = 0.08,
                   .h = 0.002,
                   .speed = 0.5,
                   .settle = 0.4,
                   .measure = 3,
                   .seed = 5};
}

typedef struct gp_repose {
  double surface;  // degrees, from the direction of the bed's centre of mass as seen from the axis
  double torque;   // degrees, from the power of the drive: P = M g |c| sin(angle) speed, at the same |c|
} gp_repose;

// The bed between smooth end plates; axis y. A bed symmetric about the normal of its surface has its centre of mass on
// that normal through the axis, so that its direction tells the slope.
static inline gp_repose gp_tumble(const gp_drum *d) {
  gp_world w = gp_begin(d->mu);
  const double shell[2][2] = {{d->R, -d->width}, {d->R, d->width}};
  const carom_shape *ball = NULL;
  carom_error error = {0};
  gp_must(carom_shape_create_sphere(d->r, NULL, &ball, &error), &error);
  carom_random random = carom_random_make(d->seed, 0);
  int columns = (int)(d->width / (2.2 * d->r)), side = (int)(d->R / (2.2 * d->r));
  w.mass = GP_DENSITY * 4 / 3 * GP_PI * d->r * d->r * d->r;
  for (int k = -side; k <= side; k++)
    for (int i = -side; i <= side; i++)
      for (int j = 0; j < columns && w.grains < d->count; j++) {
        double e = 0.09 * d->r, dx = carom_random_between(&random, -e, e), dz = carom_random_between(&random, -e, e);
        carom_vec3 p = cm_vec3(2.2 * d->r * i + dx, (j + 0.5) * d->width / columns - d->width / 2, 2.2 * d->r * k + dz);
        if (hypot(p.x, p.z) <= d->R - 1.1 * d->r) gp_add_ball(&w, ball, p);
      }
  carom_shape_release(ball);
  carom_drive_def drive = carom_drive_default();
  drive.axis = cm_vec3(0, 1, 0), drive.angular_velocity = d->speed;
  int body = gp_driven(&w, drive, d->settle);
  carom_boundary_def def = carom_boundary_default();
  def.kind = CAROM_BOUNDARY_REVOLUTION, def.profile = shell, def.profile_count = 2, def.body = body;
  def.pose.q = cm_axis_angle(cm_vec3(1, 0, 0), -GP_PI / 2);
  carom_builder_add_boundary(w.builder, &def);
  gp_plane(&w, cm_vec3(0, -d->width / 2, 0), cm_axis_angle(cm_vec3(1, 0, 0), -GP_PI / 2), CAROM_WORLD, 1);
  gp_plane(&w, cm_vec3(0, d->width / 2, 0), cm_axis_angle(cm_vec3(1, 0, 0), GP_PI / 2), CAROM_WORLD, 1);
  gp_finish(&w, d->h);
  double work = 0, x = 0, z = 0;
  int steps = 0;
  while (w.state->time < d->settle + d->measure) {
    carom_step_report report;
    gp_step(&w, &report);
    if (w.state->time < d->settle + d->measure / 2) continue;
    for (int i = 0; i < w.grains; i++) x += w.state->x[i].x / w.grains, z += w.state->x[i].z / w.grains;
    work += report.work, steps++;
  }
  x /= steps, z /= steps;
  double degrees = 180 / GP_PI, power = work / (steps * d->h);
  gp_repose angle = {degrees * atan2(fabs(x), -z),
                     degrees * asin(power / (w.grains * w.mass * GP_G * hypot(x, z) * d->speed))};
  gp_end(&w);
  return angle;
}

#endif
