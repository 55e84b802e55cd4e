// The inside of the problem reader. It borrows the scene reader's machinery: tree, typed values, expressions, findings.
#ifndef CAROM_SRC_SCENE_PLAN_READER_H
#define CAROM_SRC_SCENE_PLAN_READER_H

#include "carom/plan.h"
#include "scene/reader.h"

typedef struct carom_plan_reader {
  carom_reader r;
  carom_plan_file *file;
  carom_plan_def def;
  bool no_time;  // the horizon is zero: nothing is written wrongly, but there is no such motion
  carom_names joint_names, actuator_names;
  double penalty;  // > 0: stiffness of the potential between all pairs that would be avoided
} carom_plan_reader;

enum { CAROM_PLAN_MOST_KEYS = 24 };

// Sorts the children of a map by `keys` (ends with null) into slots, and reports unknown ones.
bool carom_plan_fields(carom_plan_reader *p, const carom_node *node, const char *const *keys, const char *label,
                       const carom_node **slots);
// A body by name; -1 after a report, or when the node is null.
int carom_plan_read_body(carom_plan_reader *p, const carom_node *node);
// Two names.
bool carom_plan_read_bodies(carom_plan_reader *p, const carom_node *node, int body[2]);
bool carom_plan_read_pose(carom_plan_reader *p, const carom_node *position, const carom_node *rotation,
                          carom_pose *pose);
bool carom_plan_read_node(carom_plan_reader *p, const carom_node *node, int *number);
// Reports what the plan refused at `node`.
void carom_plan_check_at(carom_plan_reader *p, const carom_node *node);

// ---- plan_parts.c: the lists of a problem ----
void carom_plan_read_joints(carom_plan_reader *p, const carom_node *list);
void carom_plan_read_actuators(carom_plan_reader *p, const carom_node *list);
void carom_plan_read_starts(carom_plan_reader *p, const carom_node *list);
void carom_plan_read_events(carom_plan_reader *p, const carom_node *list);
void carom_plan_read_periodic(carom_plan_reader *p, const carom_node *node);
void carom_plan_read_clearances(carom_plan_reader *p, const carom_node *list);
void carom_plan_read_contacts(carom_plan_reader *p, const carom_node *node);
void carom_plan_read_avoidance(carom_plan_reader *p, const carom_node *node);
void carom_plan_read_guess(carom_plan_reader *p, const carom_node *node);
// ---- plan_goals.c ----
void carom_plan_read_conditions(carom_plan_reader *p, const carom_node *list);
void carom_plan_read_costs(carom_plan_reader *p, const carom_node *list);

#endif
