// What a solved plan gives to its result file besides the motion.
#ifndef CAROM_SRC_RESULT_PLAN_RESULTS_H
#define CAROM_SRC_RESULT_PLAN_RESULTS_H

#include "carom/plan.h"
#include "result/plan.h"

// Release with carom_result_plan_release. Names point into `plan`, which must outlive it.
carom_status carom_plan_collect(const carom_plan *plan, const carom_plan_report *report,
                                const carom_allocator *allocator, carom_result_plan *out, carom_error *error);
// Joints that the plan has and its scene has not; null when out of memory.
carom_result_joint *carom_plan_collect_joints(const carom_plan *plan, const carom_allocator *allocator, int *count);
// A planned contact as an event; false when the plan has no values for it.
bool carom_plan_contact_event(const carom_plan *plan, int contact, carom_state *scratch, carom_contact_event *event);

// ---- plan_planes.c ----
// Separating planes: the plan's own variables where it has them (lifted), else those of the oracle (nested). The caller
// releases *planes.
carom_status carom_plan_collect_planes(const carom_plan *plan, const carom_allocator *allocator,
                                       carom_result_plane **planes, int *count, carom_error *error);

#endif
