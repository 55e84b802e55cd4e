// Worlds with contacts for the tests of `dcr`, `potential` and `newmark`.
#ifndef CAROM_TESTS_TEST_DCR_H
#define CAROM_TESTS_TEST_DCR_H

#include "fixtures.h"

static inline int add_material(carom_builder *b, const char *name, double density, double e, double mu) {
  carom_material_def m = carom_material_default();
  m.name = name;
  m.density = density;
  m.restitution = e;
  m.friction = mu;
  return carom_builder_add_material(b, &m);
}

// Adds a body of one part and gives the shape away.
static inline int add_shape(carom_builder *b, carom_body_def def, const carom_shape *shape) {
  return put_shape(b, def, shape);
}

// The half-space z <= 0 (turned by q), fixed.
static inline int add_floor(carom_builder *b, carom_quat q) {
  carom_body_def def = carom_body_default();
  def.fixed = true;
  def.pose.q = q;
  return add_shape(b, def, floor_shape());
}

static inline carom_body_def body_at(double x, double y, double z) {
  carom_body_def def = carom_body_default();
  def.pose.p = cm_vec3(x, y, z);
  return def;
}

// A stepper with its audit, and the worst of what the steps reported.
typedef struct run {
  world w;
  carom_stepper *stepper;
  carom_audit *audit;
  double penetration, complementarity, restitution_loss, friction_loss, projection_energy, work;
  carom_vec3 projection_angular_momentum;
  int collisions, iterations;
} run;

static inline run start_run_with(world w, carom_step_options options) {
  run r = {.w = w};
  carom_error error = {0};
  if (carom_stepper_create(w.model, &options, NULL, &r.stepper, &error) != CAROM_OK ||
      carom_audit_create(w.model, w.state, NULL, &r.audit, &error) != CAROM_OK) {
    fprintf(stderr, "stepper: %s\n", error.message);
    exit(1);
  }
  return r;
}

static inline run start_run(world w, const char *integrator, double h) {
  carom_step_options options = carom_step_default_options();
  options.integrator = integrator;
  options.step = h;
  return start_run_with(w, options);
}

// One step; false when it failed.
static inline bool try_step(run *r, carom_error *error) {
  carom_step_report report;
  if (carom_stepper_step(r->stepper, r->w.state, &report, error) != CAROM_OK) return false;
  carom_audit_step(r->audit, r->w.state, &report);
  r->penetration = fmax(r->penetration, report.penetration);
  r->complementarity = fmax(r->complementarity, report.complementarity);
  r->restitution_loss += report.restitution_loss;
  r->friction_loss += report.friction_loss;
  r->projection_energy += report.projection_energy;
  r->projection_angular_momentum = cm_add(r->projection_angular_momentum, report.projection_angular_momentum);
  r->work += report.work;
  r->collisions += report.collisions;
  if (report.iterations > r->iterations) r->iterations = report.iterations;
  return true;
}

static inline bool run_step(run *r) {
  carom_error error = {0};
  bool taken = try_step(r, &error);
  if (!taken) test_fail(__FILE__, __LINE__, "step: %s", error.message);
  return taken;
}

static inline bool run_for(run *r, int steps) {
  for (int i = 0; i < steps; i++)
    if (!run_step(r)) return false;
  return true;
}

static inline void end_run(run *r) {
  carom_audit_destroy(r->audit);
  carom_stepper_destroy(r->stepper);
  free_world(&r->w);
}

static inline void show_run(const char *label, const run *r) {
  carom_audit_sample s = carom_audit_latest(r->audit);
  printf(
      "%s: t %.4g K %.6g E %.9g error %.2e p %.2e L %.2e | penetration %.2e residual %.2e sweeps %d collisions %d "
      "losses %.4g + %.4g projection %.3g\n",
      label, s.time, s.kinetic, s.energy, s.claimed_energy_error, s.momentum_error, s.claimed_angular_momentum_error,
      r->penetration, r->complementarity, r->iterations, r->collisions, r->restitution_loss, r->friction_loss,
      r->projection_energy);
}

#endif
