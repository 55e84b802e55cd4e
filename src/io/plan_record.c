// A plan as a result file and as a table; its verdict.
#include <math.h>
#include <stdio.h>

#include "carom/plan.h"
#include "io/atomic_file.h"
#include "io/text_buffer.h"

static void add_row(carom_verdict *v, const char *key, const char *label, const char *note, double value,
                    double bound) {
  bool pass = value <= bound;
  v->rows[v->count++] = (carom_verdict_row){key, label, note, value, bound, pass};
  v->pass = v->pass && pass;
}

carom_verdict carom_plan_judge(const carom_plan_report *report, const carom_replay_report *replay) {
  carom_verdict v = {.pass = true};
  add_row(&v, "violation", "Constraints", "largest violation, SI", report->violation, 1e-9);
  add_row(&v, "momentum_defect", "Momentum consistency", "largest |Delta_k|", report->momentum_defect, 1e-8);
  if (isfinite(report->swept_gap))
    add_row(&v, "overlap", "Overlap", "at and between nodes, m", fmax(0, -report->swept_gap), 1e-9);
  if (replay) {
    add_row(&v, "replay_position", "Replay, position", "open loop, m", replay->position, 1e-6);
    add_row(&v, "replay_rotation", "Replay, rotation", "open loop, rad", replay->rotation, 1e-6);
  }
  return v;
}

static carom_status record_nodes(const carom_plan_file *file, carom_recorder *recorder, carom_error *error) {
  carom_state *state = NULL;
  carom_status status = carom_state_clone(file->scene->state, &file->allocator, &state, error);
  for (int k = 0; k < carom_plan_node_count(file->plan) && status == CAROM_OK; k++) {
    carom_plan_state(file->plan, k, true, state);
    status = carom_recorder_frame(recorder, state, NULL, error);
  }
  carom_state_destroy(state);
  return status;
}

carom_status carom_plan_record(const carom_plan_file *file, const carom_plan_report *report,
                               const carom_verdict *verdict, const char *path, bool overwrite,
                               const carom_provenance *provenance, carom_error *error) {
  carom_recorder *recorder = NULL;
  char ending[450];
  bool solved = report->outcome == CAROM_PLAN_SOLVED;
  snprintf(ending, sizeof ending,
           solved                                  ? "complete"
           : report->outcome == CAROM_PLAN_STOPPED ? "interrupted"
                                                   : "failed: %s",
           report->message);
  carom_status status =
      carom_recorder_create(path, overwrite, file->scene, provenance, &file->allocator, &recorder, error);
  if (status == CAROM_OK) status = record_nodes(file, recorder, error);
  if (status == CAROM_OK) status = carom_recorder_finish(recorder, verdict, ending, error);
  carom_recorder_destroy(recorder);
  return status;
}

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
