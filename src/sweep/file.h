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
  int outcome_count;  // whose formulas are compiled
} carom_sweep_reader;

// ---- axes.c ----
void carom_sweep_read_axes(carom_sweep_reader *s, const carom_node *list);
void carom_sweep_read_design(carom_sweep_reader *s, const carom_node *design, const carom_node *count,
                             const carom_node *seed);
// Whether axes and outcomes may be called so; false after a report.
bool carom_sweep_check_name(carom_sweep_reader *s, const char *name, carom_place place, const char *what);

// ---- settings.c: what the cases change in the scene ----
// A text or a list of them, of an axis or (-1) of all cases alike.
void carom_sweep_read_settings(carom_sweep_reader *s, const carom_node *node, int axis);
// Tries some cases: a setting that the scene refuses in all of them is a mistake of the problem.
void carom_sweep_try_settings(carom_sweep_reader *s, const char *scene_path);
// The fixed settings of the problem as overrides of its scene.
bool carom_sweep_fixed_overrides(carom_sweep_reader *s, carom_overrides *overrides);

// ---- outcomes.c: formulas ----
void carom_sweep_read_outcomes(carom_sweep_reader *s, const carom_node *map);
void carom_sweep_read_classes(carom_sweep_reader *s, const carom_node *map);
void carom_sweep_read_until(carom_sweep_reader *s, const carom_node *node);

#endif
