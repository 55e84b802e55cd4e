// The inside of the reader of problem files.
#ifndef CAROM_SRC_SWEEP_FILE_H
#define CAROM_SRC_SWEEP_FILE_H

#include "scene/problem.h"
#include "sweep/program.h"

typedef struct carom_sweep_reader {
  carom_reader r;
  carom_sweep *sweep;
  carom_loop *loop;                  // of the scene, for the names of its channels
  const carom_node **setting_nodes;  // (setting_count) where each setting stands; in the pool
  int setting_node_capacity;
  int outcome_count;     // whose formulas are compiled
  bool plans;            // cases are plans
  bool designs;          // a problem of design: axes are called variables
  const char *words[2];  // "axes", "an axis"
} carom_sweep_reader;

// ---- file.c: what sweeps and designs share ----
// Reads a file by `read_body`, which is given the reader with the tree in it and returns false when out of memory.
typedef bool carom_sweep_body(carom_sweep_reader *s, void *context);
typedef struct carom_sweep_input {
  const char *path;
  const carom_scene_options *options;
  const carom_allocator *allocator;
  bool designs;
} carom_sweep_input;
carom_status carom_sweep_read_by(const carom_sweep_input *input, carom_sweep_body *read_body, void *context,
                                 carom_sweep **sweep, carom_diagnostics *diagnostics);
// The scene or the plan that cases are of; false after a report.
bool carom_sweep_read_inner(carom_sweep_reader *s, const carom_node *scene, const carom_node *plan);
bool carom_sweep_read_title(carom_sweep_reader *s, const carom_node *node);  // false when out of memory
// Digest and columns, when all is read without errors; false when out of memory.
bool carom_sweep_complete(carom_sweep_reader *s);
bool carom_sweep_has_errors(const carom_sweep_reader *s);

// From what plans begin; `tacit` where the problem does not say.
void carom_sweep_read_warm(carom_sweep_reader *s, const carom_node *node, carom_sweep_warm tacit);

// ---- axes.c ----
void carom_sweep_read_axes(carom_sweep_reader *s, const carom_node *list);
void carom_sweep_read_design(carom_sweep_reader *s, const carom_node *design, const carom_node *count,
                             const carom_node *seed);
// Whether axes and outcomes may be called so; false after a report.
bool carom_sweep_check_name(carom_sweep_reader *s, const char *name, carom_place place, const char *what);

// ---- settings.c: what the cases change in the scene ----
// A text or a list of them, of an axis or (-1) of all cases alike.
void carom_sweep_read_settings(carom_sweep_reader *s, const carom_node *node, int axis);
// Tries some cases: a setting that the scene or the plan refuses in all of them is a mistake of the problem.
void carom_sweep_try_settings(carom_sweep_reader *s);
// A formula of the axes alone, of which begin .. end is the text, within that of a node. False after a report.
bool carom_sweep_axis_formula(carom_sweep_reader *s, const carom_node *node, const char *begin, const char *end,
                              carom_formula **formula);
// The fixed settings of the problem as overrides of its scene.
bool carom_sweep_fixed_overrides(carom_sweep_reader *s, carom_overrides *overrides);

// ---- outcomes.c: formulas ----
// Takes a formula that stands by itself as one more outcome; the names that it may use are those of outcomes.
void carom_sweep_add_outcome(carom_sweep_reader *s, const carom_node *node, const char *name);
void carom_sweep_read_outcomes(carom_sweep_reader *s, const carom_node *map);
void carom_sweep_read_classes(carom_sweep_reader *s, const carom_node *map);
// Of plans: the outcome `cost` and the class `solved` where the problem names none.
void carom_sweep_read_plan_formulas(carom_sweep_reader *s, const carom_node *outcomes, const carom_node *classes);
void carom_sweep_read_until(carom_sweep_reader *s, const carom_node *node);

#endif
