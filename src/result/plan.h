// What a plan's result file holds besides the motion: how the cost came down, the forces, the separating planes, and
// the first guess beside the optimum.
#ifndef CAROM_SRC_RESULT_PLAN_H
#define CAROM_SRC_RESULT_PLAN_H

#include "carom/control.h"
#include "carom/result.h"
#include "result/h5.h"

typedef struct carom_result_actuator {
  const char *name;
  carom_actuator_kind kind;
  int body, reaction;  // the one that is pushed; the one that the opposite acts on, or -1
  int axes;            // the body along whose axes force and torque are told, or CAROM_WORLD
  carom_vec3 point;    // in the frame of `body`
} carom_result_actuator;

typedef struct carom_result_plane {
  int node, body[2];
  int span;                  // 1: it parts the bodies up to the next node, 0: at its node only
  carom_vec3 normal, point;  // from body[1] to body[0]
} carom_result_plane;

typedef struct carom_result_figure {
  const char *label, *unit;
  double guess, optimum;
} carom_result_figure;

typedef struct carom_result_hold {
  const char *name;  // of a joint
} carom_result_hold;

typedef struct carom_result_node {
  int event, added;  // 1 or 0
} carom_result_node;

typedef struct carom_result_plan {
  int iterate_count, interval_count, actuator_count, plane_count, figure_count;
  carom_plan_iterate *iterates;      // (iterate_count)
  carom_result_actuator *actuators;  // (actuator_count)
  double *times;                     // (interval_count + 1) of the nodes
  carom_vec3 *forces, *torques;      // (interval_count x actuator_count)
  carom_result_plane *planes;        // (plane_count)
  carom_result_figure *figures;      // (figure_count)
  // what a warm start needs; null and 0 in older files
  int node_count, reaction_count, pair_count, variable_count, constraint_count;
  int hold_count;
  carom_result_hold *holds;  // (hold_count) joints
  carom_vec3 *hold_forces;   // (interval_count + 1 x hold_count)
  carom_result_node *nodes;  // (node_count) 0, or interval_count + 1
  double *reactions;         // (node_count x reaction_count)
  int *watched;              // (interval_count x pair_count) 1 or 0
  double margin, make;       // added to the problem's; of the program, see carom_plan_point
  double *variables;         // (variable_count x 3) and the multipliers of their bounds
  double *multipliers;       // (constraint_count)
  char *texts[4];            // that names, labels and units point into, if they are the reader's
} carom_result_plan;

void carom_result_write_plan(carom_h5_file *file, const carom_result_plan *plan);
// Leaves carom_result.plan null when the file has no plan.
void carom_result_read_plan(carom_h5_file *file, carom_result *result);
void carom_result_plan_release(carom_result_plan *plan, const carom_allocator *allocator);  // what it points to

#endif
