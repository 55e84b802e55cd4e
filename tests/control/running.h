// A scene at work with its loop, out of a text.
#ifndef CAROM_TESTS_RUNNING_H
#define CAROM_TESTS_RUNNING_H

#include "fixtures.h"

typedef struct running {
  carom_scene *scene;
  carom_state *state;
  carom_stepper *stepper;
  carom_loop *loop;
  carom_audit *audit;
  carom_step_report report;
} running;

static inline carom_scene *scene_of(const char *text, const char *const *overrides, int count) {
  carom_scene *scene = NULL;
  carom_diagnostics d;
  carom_scene_options options = carom_scene_default_options();
  options.overrides = overrides, options.override_count = count;
  carom_scene_parse(&(carom_bytes){"text.yaml", text, strlen(text)}, &options, NULL, &scene, &d);
  for (int i = 0; i < d.count; i++) {
    char line[1000];
    carom_diagnostic_format(&d.items[i], line, sizeof line);
    if (!scene) test_fail(__FILE__, __LINE__, "%s", line);
  }
  carom_diagnostics_release(&d);
  if (!scene) abort();
  return scene;
}

static inline running start_running(carom_scene *scene) {
  running r = {.scene = scene};
  carom_error error = {0};
  carom_status status = carom_state_clone(scene->state, NULL, &r.state, &error);
  if (status == CAROM_OK) status = carom_stepper_create(scene->model, &scene->step, NULL, &r.stepper, &error);
  if (status == CAROM_OK)
    status = carom_loop_create(scene->loop, scene->model, scene->step.step, NULL, &r.loop, &error);
  if (status == CAROM_OK) status = carom_loop_begin(r.loop, r.state, &error);
  if (status == CAROM_OK) status = carom_loop_attach(r.loop, r.stepper, &error);
  if (status == CAROM_OK) status = carom_audit_create(scene->model, r.state, NULL, &r.audit, &error);
  if (status != CAROM_OK) {
    test_fail(__FILE__, __LINE__, "%s", error.message);
    abort();
  }
  return r;
}

static inline running run_text(const char *text) { return start_running(scene_of(text, NULL, 0)); }

static inline running run_by(const char *text, const char *integrator) {
  char word[80];
  snprintf(word, sizeof word, "integrator.name=%s", integrator);
  const char *overrides[] = {word};
  return start_running(scene_of(text, overrides, 1));
}

static inline bool go_on(running *r, int steps) {
  carom_error error = {0};
  for (int i = 0; i < steps; i++) {
    carom_status status = carom_stepper_step(r->stepper, r->state, &r->report, &error);
    if (status == CAROM_OK) status = carom_loop_sense(r->loop, r->state, &r->report, &error);
    if (status != CAROM_OK) return test_fail(__FILE__, __LINE__, "%s", error.message), false;
    carom_audit_step(r->audit, r->state, &r->report);
  }
  return true;
}

static inline double channel(const running *r, const char *name) {
  int index = carom_loop_find_channel(r->loop, name);
  if (index < 0) test_fail(__FILE__, __LINE__, "there is no channel '%s'", name);
  return index < 0 ? NAN : carom_loop_values(r->loop)[index];
}

static inline void check_verdict(running *r) {
  carom_verdict v = carom_audit_judge(r->audit, &r->scene->bounds);
  if (!v.pass) test_fail(__FILE__, __LINE__, "%s: %s", r->scene->step.integrator, v.reason);
}

static inline void stop_running(running *r) {
  carom_audit_destroy(r->audit);
  carom_stepper_destroy(r->stepper);
  carom_loop_destroy(r->loop);
  carom_state_destroy(r->state);
  carom_scene_destroy(r->scene);
}

#endif
