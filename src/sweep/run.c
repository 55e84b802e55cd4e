// One case: scene with overrides -> stepper, loop, audit -> (step, sense, look) ... -> outcomes and class.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sweep/program.h"

typedef struct run {
  const carom_sweep *sweep;
  const carom_case_options *options;
  carom_case *c;
  carom_scene *scene;
  carom_state *state;
  carom_stepper *stepper;
  carom_loop *loop;
  carom_audit *audit;
  carom_recorder *recorder;  // null: nothing is written
  carom_observer observer;
  int64_t steps, steps_per_frame;
  double figures[CAROM_FIGURE_COUNT], last_frame;
} run;

void carom_case_fail(const carom_sweep *sweep, const char *reason, carom_case *c) {
  c->class_index = sweep->class_count - 1;
  snprintf(c->reason, sizeof c->reason, "%s", reason);
  for (int i = sweep->sampling.axis_count; i < sweep->column_count; i++) c->values[i] = NAN;
}

// ---- beginning ------------------------------------------------------------------------------------------------------

void carom_case_refuse(const carom_sweep *sweep, const carom_diagnostics *found, carom_case *c) {
  char text[400] = "the scene is refused";
  for (int i = found->count - 1; i >= 0; i--)
    if (!found->items[i].warning) carom_diagnostic_format(&found->items[i], text, sizeof text);
  carom_case_fail(sweep, text, c);
}

static carom_status read_scene(run *r, carom_error *error) {
  carom_overrides o;
  carom_diagnostics found = {0};
  carom_status status = carom_sweep_overrides(r->sweep, r->c->number, r->c->values, NULL, &o);
  carom_scene_options options = r->sweep->program->scene_options;
  options.overrides = (const char *const *)o.items;
  options.override_count = o.count;
  if (status == CAROM_OK) status = carom_scene_read(r->sweep->scene->path, &options, NULL, &r->scene, &found);
  if (status == CAROM_ERR_SCENE) carom_case_refuse(r->sweep, &found, r->c);
  if (status == CAROM_ERR_MEMORY) carom_fail(error, status, "out of memory for the scene of a case");
  if (r->scene) r->scene->step.threads = 1;  // a case has one processor; results do not depend on it
  carom_diagnostics_release(&found);
  carom_overrides_release(&o);
  return status;
}

static carom_status set_up(run *r, carom_error *error) {
  const carom_scene *scene = r->scene;
  carom_status status = carom_state_clone(scene->state, NULL, &r->state, error);
  if (status == CAROM_OK) status = carom_stepper_create(scene->model, &scene->step, NULL, &r->stepper, error);
  if (status == CAROM_OK)
    status = carom_loop_create(scene->loop, scene->model, scene->step.step, NULL, &r->loop, error);
  if (status == CAROM_OK) status = carom_loop_begin(r->loop, r->state, error);
  if (status == CAROM_OK) status = carom_loop_attach(r->loop, r->stepper, error);
  if (status == CAROM_OK) status = carom_audit_create(scene->model, r->state, NULL, &r->audit, error);
  if (status == CAROM_OK)
    status = carom_observer_create(r->sweep->program, scene->model, r->loop, NULL, &r->observer, error);
  r->steps = (int64_t)llround(scene->duration / scene->step.step);
  r->steps_per_frame = (int64_t)llround(scene->frame_interval / scene->step.step);
  if (r->steps_per_frame < 1) r->steps_per_frame = 1;
  return status;
}

// ---- the record -----------------------------------------------------------------------------------------------------

static carom_status record_frame(run *r, carom_error *error) {
  if (!r->recorder) return CAROM_OK;
  carom_audit_frame(r->audit);
  carom_audit_sample sample = carom_audit_latest(r->audit);
  r->last_frame = r->state->time;
  carom_status status = carom_recorder_channels(r->recorder, carom_loop_values(r->loop) + 1, error);
  return status == CAROM_OK ? carom_recorder_frame(r->recorder, r->state, &sample, error) : status;
}

static carom_status record_step(run *r, const carom_step_report *report, carom_error *error) {
  if (!r->recorder) return CAROM_OK;
  bool due = r->state->step % r->steps_per_frame == 0;
  carom_status status = CAROM_OK;
  for (int i = 0; i < report->event_count && status == CAROM_OK; i++)
    if (due || report->events[i].kind != CAROM_EVENT_CONTACT)
      status = carom_recorder_events(r->recorder, &report->events[i], 1, error);
  return status == CAROM_OK && due ? record_frame(r, error) : status;
}

static carom_status open_record(run *r, carom_error *error) {
  if (!r->options->result) return CAROM_OK;
  carom_recorder_options options = r->options->record;
  options.channels = carom_loop_channels(r->loop) + 1;  // frames have the time anyway
  options.channel_count = carom_loop_channel_count(r->loop) - 1;
  carom_status status = carom_recorder_open(r->options->result, r->scene, &options, NULL, &r->recorder, error);
  return status == CAROM_OK ? record_frame(r, error) : status;
}

static carom_status close_record(run *r, const carom_verdict *verdict, const char *ending, carom_error *error) {
  if (!r->recorder) return CAROM_OK;
  carom_status status = r->last_frame < r->state->time ? record_frame(r, error) : CAROM_OK;
  return status == CAROM_OK ? carom_recorder_finish(r->recorder, verdict, ending, error) : status;
}

// ---- steps ----------------------------------------------------------------------------------------------------------

static void note_audit(run *r) {
  carom_audit_sample s = carom_audit_latest(r->audit);
  r->figures[CAROM_FIGURE_COLLISIONS] = (double)s.collisions;
  r->figures[CAROM_FIGURE_KINETIC] = s.kinetic;
  r->figures[CAROM_FIGURE_POTENTIAL] = s.potential;
  r->figures[CAROM_FIGURE_ENERGY] = s.energy;
  r->figures[CAROM_FIGURE_ENERGY_ERROR] = s.energy_error;
  r->figures[CAROM_FIGURE_MOMENTUM_ERROR] = s.momentum_error;
  r->figures[CAROM_FIGURE_PENETRATION] = s.penetration;
}

static void look(run *r) {
  r->figures[CAROM_FIGURE_TIME] = r->state->time;
  r->figures[CAROM_FIGURE_STEPS] = (double)r->state->step;
  r->figures[CAROM_FIGURE_DURATION] = r->scene->duration;
  if (r->observer.asks_audit) note_audit(r);
  carom_observer_figures(&r->observer, r->figures, r->c->values);
  carom_observer_sample(&r->observer, r->state);
  int until = r->sweep->program->until;
  if (until >= 0 && carom_is_true(r->observer.slots[until])) r->figures[CAROM_FIGURE_STOPPED] = 1;
}

// What goes wrong in `one_step` is a failure of the case; in the record, of the sweep.
static carom_status one_step(run *r, carom_step_report *report, carom_error *error) {
  carom_status status = carom_stepper_step(r->stepper, r->state, report, error);
  if (status != CAROM_OK) return status;
  status = carom_loop_sense(r->loop, r->state, report, error);
  if (status == CAROM_OK) carom_audit_step(r->audit, r->state, report);
  return status;
}

static carom_status march(run *r, carom_status *recorded, carom_error *error) {
  carom_status status = CAROM_OK;
  look(r);
  while (status == CAROM_OK && r->state->step < r->steps && r->figures[CAROM_FIGURE_STOPPED] == 0) {
    carom_step_report report;
    status = one_step(r, &report, error);
    if (status == CAROM_OK) *recorded = record_step(r, &report, error);
    if (*recorded != CAROM_OK) return status;
    if (status == CAROM_OK) look(r);
    if (r->options->stop && r->options->stop(r->options->context))
      return carom_fail(error, CAROM_INTERRUPTED, "interrupted");
  }
  return status;
}

// ---- the end --------------------------------------------------------------------------------------------------------

static int classify(const carom_sweep *sweep, const carom_observer *o) {
  for (int i = 0; i < sweep->program->formula_count; i++)
    if (carom_is_true(o->slots[sweep->program->classes[i]])) return i;
  return sweep->class_count - 2;
}

void carom_case_conclude(const carom_sweep *sweep, carom_observer *o, const double *figures, carom_case *c) {
  double *values = c->values + sweep->sampling.axis_count;
  carom_observer_figures(o, figures, c->values);
  carom_observer_finish(o);
  for (int i = 0; i < sweep->outcome_count; i++) values[i] = o->slots[sweep->program->outcomes[i]];
  c->class_index = classify(sweep, o);
}

static void fill_figures(run *r) {
  double *values = r->c->values + r->sweep->sampling.axis_count + r->sweep->outcome_count;
  values[0] = r->state->time;
  values[1] = (double)r->state->step;
  values[2] = r->figures[CAROM_FIGURE_COLLISIONS];
  values[3] = r->figures[CAROM_FIGURE_ENERGY_ERROR];
  values[4] = r->figures[CAROM_FIGURE_PASSED];
}

static carom_status finish(run *r, carom_status status, carom_error *error) {
  char ending[500] = "complete";
  if (status != CAROM_OK) snprintf(ending, sizeof ending, "failed: %.400s", error->message);
  carom_verdict verdict = carom_audit_judge(r->audit, &r->scene->bounds);
  if (status != CAROM_OK) carom_verdict_cut_short(&verdict, ending);
  note_audit(r);
  r->figures[CAROM_FIGURE_PASSED] = verdict.pass;
  if (status != CAROM_OK) carom_case_fail(r->sweep, error->message, r->c);
  if (status == CAROM_OK) carom_case_conclude(r->sweep, &r->observer, r->figures, r->c);
  fill_figures(r);
  return close_record(r, &verdict, ending, error);
}

static void tear_down(run *r) {
  carom_recorder_close(r->recorder);
  carom_observer_release(&r->observer);
  carom_audit_destroy(r->audit);
  carom_stepper_destroy(r->stepper);
  carom_loop_destroy(r->loop);
  carom_state_destroy(r->state);
  carom_scene_destroy(r->scene);
}

static bool is_ours(carom_status status) { return status == CAROM_ERR_MEMORY || status == CAROM_INTERRUPTED; }

static carom_status run_scene(run *r, carom_error *error) {
  carom_status recorded = CAROM_OK, status = set_up(r, error);
  if (status != CAROM_OK && !is_ours(status)) {
    carom_case_fail(r->sweep, error->message, r->c);
    return CAROM_OK;
  }
  if (status == CAROM_OK) status = recorded = open_record(r, error);
  if (status == CAROM_OK) status = march(r, &recorded, error);
  if (recorded != CAROM_OK) return recorded;
  return is_ours(status) ? status : finish(r, status, error);
}

carom_status carom_sweep_run(const carom_sweep *sweep, const carom_case_options *options, carom_case *c,
                             carom_error *error) {
  static const carom_case_options defaults;
  carom_error ignored = {0};
  run r = {.sweep = sweep, .options = options ? options : &defaults, .c = c};
  c->class_index = -1;
  c->reason[0] = '\0';
  if (!error) error = &ignored;
  if (sweep->plan) return carom_sweep_solve(sweep, r.options, c, error);
  carom_status status = read_scene(&r, error);
  if (status == CAROM_OK) status = run_scene(&r, error);
  tear_down(&r);
  return status == CAROM_ERR_SCENE ? CAROM_OK : status;
}
