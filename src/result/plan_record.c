// A plan as a result file and as a table; its verdict.
#include <math.h>
#include <stdio.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "base/text_buffer.h"
#include "carom/plan.h"
#include "result/plan_results.h"
#include "result/recorder_head.h"

static void add_row(carom_verdict *v, const char *key, const char *label, const char *note, double value,
                    double bound) {
  carom_verdict_add(v, &(carom_verdict_row){key, label, note, value, bound, false, ""}, NULL);
}

carom_verdict carom_plan_judge(const carom_plan_report *report, const carom_replay_report *replay) {
  carom_verdict v = {0};
  add_row(&v, "violation", "Constraints", "largest violation, SI", report->violation, 1e-9);
  add_row(&v, "momentum_defect", "Momentum consistency", "largest |Delta_k|", report->momentum_defect, 1e-8);
  if (report->complementarity > 0)
    add_row(&v, "complementarity", "Choices of contacts", "product of what is left, relative", report->complementarity,
            1e-8);
  if (isfinite(report->swept_gap))
    add_row(&v, "overlap", "Overlap", "at and between nodes, m", fmax(0, -report->swept_gap), 1e-9);
  if (replay) {
    add_row(&v, "replay_position", "Replay, position", "open loop, m", replay->position, 1e-6);
    add_row(&v, "replay_rotation", "Replay, rotation", "open loop, rad", replay->rotation, 1e-6);
  }
  return v;
}

// ---- the result file -----------------------------------------------------------------------------------------------

// What can be told of a single node. Work and errors belong to a run, not to a plan.
static carom_audit_sample sample_of(const carom_model *model, const carom_state *state) {
  carom_audit_sample s = {.time = state->time, .work = NAN, .energy_error = NAN, .momentum_error = NAN};
  s.kinetic = carom_kinetic_energy(model, state);
  s.potential = carom_potential_energy(model, state);
  s.energy = s.kinetic + s.potential;
  s.momentum = carom_linear_momentum(model, state);
  s.angular_momentum = carom_angular_momentum(model, state);
  s.angular_momentum_error = s.restitution_loss = s.friction_loss = s.projection_energy = NAN;
  s.projection_angular_momentum = s.penetration = s.complementarity = s.constraint = NAN;
  return s;
}

static carom_status record_contacts(const carom_plan *plan, int node, carom_recorder *recorder, carom_state *scratch,
                                    carom_error *error) {
  carom_status status = CAROM_OK;
  for (int i = 0; i < carom_plan_contact_count(plan) && status == CAROM_OK; i++) {
    carom_contact_event event;
    if (carom_plan_contact_node(plan, i) == node && carom_plan_contact_event(plan, i, scratch, &event))
      status = carom_recorder_events(recorder, &event, 1, error);
  }
  return status;
}

static carom_status record_nodes(const carom_plan_file *file, carom_recorder *recorder, carom_error *error) {
  carom_state *state = NULL;
  carom_status status = carom_state_clone(file->scene->state, &file->allocator, &state, error);
  for (int k = 0; k < carom_plan_node_count(file->plan) && status == CAROM_OK; k++) {
    status = record_contacts(file->plan, k, recorder, state, error);
    if (status != CAROM_OK) break;
    carom_plan_state(file->plan, k, true, state);
    carom_audit_sample sample = sample_of(file->scene->model, state);
    status = carom_recorder_frame(recorder, state, &sample, error);
  }
  carom_state_destroy(state);
  return status;
}

static void write_plan(carom_h5_file *file, const void *plan) { carom_result_write_plan(file, plan); }

// The scene under the problem's title, with the plan's own steps.
static carom_scene planned_scene(const carom_plan_file *file) {
  carom_scene scene = *file->scene;
  int last = carom_plan_node_count(file->plan) - 1;
  if (file->title[0]) scene.title = file->title;
  scene.duration = carom_plan_time(file->plan, last) - carom_plan_time(file->plan, 0);
  if (last > 0) scene.step.step = scene.frame_interval = scene.duration / last;
  return scene;
}

static carom_status record(const carom_plan_file *file, const carom_verdict *verdict, const char *ending,
                           carom_recording *what, carom_error *error) {
  carom_recorder *recorder = NULL;
  carom_scene scene = planned_scene(file);
  what->scene = &scene;
  carom_status status = carom_recorder_open_with(what, &file->allocator, &recorder, error);
  if (status == CAROM_OK) status = record_nodes(file, recorder, error);
  if (status == CAROM_OK) status = carom_recorder_finish(recorder, verdict, ending, error);
  carom_recorder_close(recorder);
  return status;
}

carom_status carom_plan_record(const carom_plan_file *file, const carom_plan_report *report,
                               const carom_verdict *verdict, const char *path, const carom_recorder_options *options,
                               carom_error *error) {
  char ending[450];
  bool solved = report->outcome == CAROM_PLAN_SOLVED;
  snprintf(ending, sizeof ending,
           solved                                  ? "complete"
           : report->outcome == CAROM_PLAN_STOPPED ? "interrupted"
                                                   : "failed: %s",
           report->message);
  carom_result_plan plan;
  carom_status status = carom_plan_collect(file->plan, report, &file->allocator, &plan, error);
  if (status != CAROM_OK) return status;
  carom_head_extra extra = {.write = write_plan, .context = &plan};
  carom_result_joint *joints = carom_plan_collect_joints(file->plan, &file->allocator, &extra.joint_count);
  extra.joints = joints;
  carom_recording what = {.path = path, .options = options, .extra = &extra};
  status = joints ? record(file, verdict, ending, &what, error)
                  : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the joints of a plan");
  carom_release(&file->allocator, joints);
  carom_result_plan_release(&plan, &file->allocator);
  return status;
}

// ---- the table of forces -------------------------------------------------------------------------------------------

static void add_heading(const carom_plan *plan, carom_text_buffer *text) {
  carom_text_buffer_add(text, "interval,time (s),step (s)");
  for (int i = 0; i < carom_plan_actuator_count(plan); i++)
    for (int c = 0; c < carom_plan_component_count(plan, i); c++)
      carom_text_buffer_print(text, ",tau%d_%d", i + 1, c + 1);
  carom_text_buffer_add(text, "\n");
}

static void add_interval(const carom_plan *plan, int k, carom_text_buffer *text) {
  enum { DIGITS = 17 };
  double t = carom_plan_time(plan, k), tau[6];
  carom_text_buffer_print(text, "%d,", k);
  carom_text_buffer_number(text, t, DIGITS);
  carom_text_buffer_add(text, ",");
  carom_text_buffer_number(text, carom_plan_time(plan, k + 1) - t, DIGITS);
  for (int i = 0; i < carom_plan_actuator_count(plan); i++) {
    carom_plan_forces(plan, k, i, tau);
    for (int c = 0; c < carom_plan_component_count(plan, i); c++) {
      carom_text_buffer_add(text, ",");
      carom_text_buffer_number(text, tau[c], DIGITS);
    }
  }
  carom_text_buffer_add(text, "\n");
}

carom_status carom_plan_export_forces(const carom_plan *plan, const char *path, carom_error *error) {
  carom_allocator a = carom_allocator_default();
  carom_atomic_file file;
  carom_status status = carom_atomic_file_open(&file, path, &a, error);
  if (status != CAROM_OK) return status;
  carom_text_buffer text = carom_text_buffer_make(&a);
  add_heading(plan, &text);
  for (int k = 0; k + 1 < carom_plan_node_count(plan); k++) add_interval(plan, k, &text);
  if (text.failed) status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the table of forces");
  if (status == CAROM_OK) status = carom_atomic_file_write(&file, text.data, text.length, error);
  if (status == CAROM_OK)
    status = carom_atomic_file_commit(&file, error);
  else
    carom_atomic_file_abandon(&file);
  carom_text_buffer_release(&text);
  return status;
}
