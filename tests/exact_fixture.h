// Scenes and helpers for the tests of the integrator `exact`.
#ifndef CAROM_TESTS_EXACT_FIXTURE_H
#define CAROM_TESTS_EXACT_FIXTURE_H

#include "fixtures.h"

static inline int add_material(carom_builder *builder, const char *name, double density, double e, double mu) {
  carom_material_def m = carom_material_default();
  m.name = name;
  m.density = density;
  m.restitution = e;
  m.friction = mu;
  return carom_builder_add_material(builder, &m);
}

// A body of one part that fills its frame.
static inline carom_body_def solid(const carom_part *part, int material, carom_vec3 position) {
  carom_body_def def = carom_body_default();
  def.parts = part;
  def.part_count = 1;
  def.material = material;
  def.pose = cm_pose(position, cm_qidentity());
  return def;
}

static inline carom_part part_of(const carom_shape *shape) {
  return (carom_part){.shape = shape, .pose = cm_pose_identity()};
}

static inline void add_floor(carom_builder *builder, int material) {
  carom_body_def def = fixed_body(cm_zero3(), cm_qidentity());
  def.material = material;
  put_shape(builder, def, floor_shape());
}

static inline carom_stepper *exact_stepper_with(const world *w, double h, carom_impact_law law, int order) {
  carom_step_options options = carom_step_default_options();
  options.integrator = "exact";
  options.step = h;
  options.law = law;
  options.order = order;
  return stepper_by(w, &options);
}

static inline carom_stepper *exact_stepper(const world *w, double h, carom_impact_law law) {
  return exact_stepper_with(w, h, law, 2);
}

static inline carom_stepper *exact_stepper_of_order(const world *w, double h, int order) {
  return exact_stepper_with(w, h, CAROM_IMPACT_GENERALIZED, order);
}

// What a run adds up to.
typedef struct tally {
  int impacts;  // events of that kind
  int zeno;
  double times[4096];  // of the impacts
  int bodies[4096][2];
  double penetration, energy_error, momentum_error, angular_momentum_error;  // worst, as the audit says
  double restitution_loss, friction_loss;
  double collisions;
} tally;

static inline void tally_step(tally *t, const carom_step_report *report, const carom_audit *audit) {
  for (int i = 0; i < report->event_count; i++) {
    const carom_contact_event *event = &report->events[i];
    if (event->kind == CAROM_EVENT_ZENO) t->zeno++;
    if (event->kind != CAROM_EVENT_IMPACT || t->impacts == 4096) continue;
    t->bodies[t->impacts][0] = event->body_a, t->bodies[t->impacts][1] = event->body_b;
    t->times[t->impacts++] = event->time;
  }
  carom_audit_sample s = carom_audit_latest(audit);
  t->collisions += report->collisions;
  t->penetration = fmax(t->penetration, report->penetration);
  t->energy_error = fmax(t->energy_error, fabs(s.energy_error));
  t->momentum_error = fmax(t->momentum_error, s.momentum_error);
  t->angular_momentum_error = fmax(t->angular_momentum_error, s.angular_momentum_error);
  t->restitution_loss = s.restitution_loss, t->friction_loss = s.friction_loss;
}

static inline tally run_exact(const world *w, carom_stepper *stepper, int steps) {
  static tally t;
  t = (tally){0};
  carom_audit *audit = NULL;
  carom_error error = {0};
  if (carom_audit_create(w->model, w->state, NULL, &audit, NULL) != CAROM_OK) abort();
  for (int i = 0; i < steps; i++) {
    carom_step_report report = {0};
    if (carom_stepper_step(stepper, w->state, &report, &error) != CAROM_OK) {
      test_fail(__FILE__, __LINE__, "step %d: %s", i, error.message);
      break;
    }
    carom_audit_step(audit, w->state, &report);
    tally_step(&t, &report, audit);
  }
  carom_audit_destroy(audit);
  return t;
}

#endif
