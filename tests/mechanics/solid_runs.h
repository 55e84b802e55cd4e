// Solids that move by themselves, step by step under the eyes of the audit.
#ifndef CAROM_TESTS_SOLID_RUNS_H
#define CAROM_TESTS_SOLID_RUNS_H

#include "fixtures.h"

// What happens behind the stepper's back between a step and its audit.
typedef struct seen_step {
  const carom_model *model;
  const carom_state *before;
  carom_state *state;
  carom_step_report report;
  carom_contact_event event;  // room for one that is made up
  int step;
} seen_step;
typedef void solid_mutation(seen_step *s);

static inline carom_tets box_mesh(carom_vec3 size, int nx, int ny, int nz) {
  carom_tets mesh = {0};
  carom_tets_box box = carom_tets_box_default();
  carom_error error = {0};
  box.size = size;
  box.cells[0] = nx, box.cells[1] = ny, box.cells[2] = nz;
  if (carom_tets_init_box(&box, NULL, &mesh, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  return mesh;
}

static inline carom_solid_def rubber(const carom_tets *mesh, const char *name) {
  carom_solid_def def = carom_solid_default();
  def.name = name, def.mesh = mesh;
  def.lambda = 1.5e4, def.mu = 1e4, def.density = 1000;
  return def;
}

// How a run is done.
typedef struct solid_run {
  const char *integrator;
  double step;
  int steps;
  carom_quadrature quadrature;
  int threads;
  double stiffness;  // of contacts of rigid bodies; 0: from the overlap
  bool frames;       // the audit sees frames alone
  solid_mutation *mutate;
} solid_run;

static inline carom_verdict audit_run(world *w, const solid_run *run) {
  carom_error error = {0};
  carom_stepper *stepper = NULL;
  carom_audit *audit = NULL;
  carom_step_options options = carom_step_default_options();
  options.integrator = run->integrator ? run->integrator : "variational";
  options.step = run->step, options.quadrature = run->quadrature;
  options.stiffness = run->stiffness;
  options.threads = run->threads > 0 ? run->threads : 1;
  options.nothing_meets = !strcmp(options.integrator, "variational");
  seen_step s = {.model = w->model};
  carom_state *before = NULL, *state = NULL;
  carom_state_clone(w->state, NULL, &before, &error);
  carom_state_clone(w->state, NULL, &state, &error);
  s.before = before, s.state = state;
  carom_audit_bounds bounds = carom_audit_bounds_of(run->frames ? NULL : options.integrator, w->model);
  carom_verdict verdict = {0};
  if (carom_stepper_create(w->model, &options, NULL, &stepper, &error) != CAROM_OK ||
      carom_audit_create(w->model, state, NULL, &audit, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  for (s.step = 0; audit && s.step < run->steps; s.step++) {
    carom_state_copy(before, state);
    if (carom_stepper_step(stepper, state, &s.report, &error) != CAROM_OK) {
      test_fail(__FILE__, __LINE__, "%s", error.message);
      break;
    }
    if (run->mutate) run->mutate(&s);
    if (run->frames)
      carom_audit_motion(audit, state);
    else
      carom_audit_step(audit, state, &s.report);
  }
  if (audit) verdict = carom_audit_judge(audit, &bounds);
  carom_state_copy(w->state, state);
  carom_audit_destroy(audit);
  carom_stepper_destroy(stepper);
  carom_state_destroy(before);
  carom_state_destroy(state);
  return verdict;
}

static inline const carom_verdict_row *row_of(const carom_verdict *v, const char *key) {
  for (int i = 0; i < v->count; i++)
    if (strcmp(v->rows[i].key, key) == 0) return &v->rows[i];
  return NULL;
}

static inline void print_verdict(const carom_verdict *v) {
  for (int i = 0; i < v->count; i++)
    fprintf(stderr, "  %-20s %.3g / %.3g %s\n", v->rows[i].key, v->rows[i].value, v->rows[i].bound, v->rows[i].where);
}

#endif
