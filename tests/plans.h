// Plans of the examples, and what every good plan shows. Public headers only.
#ifndef CAROM_TESTS_PLANS_H
#define CAROM_TESTS_PLANS_H

#include "carom/plan.h"
#include "test.h"

static inline carom_plan_file *read_example(const char *name, const char *const *overrides, int count) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s/problem.yaml", CAROM_EXAMPLES, name);
  carom_scene_options options = carom_scene_default_options();
  options.overrides = overrides, options.override_count = count;
  carom_diagnostics found = {0};
  carom_plan_file *file = NULL;
  if (!carom_plan_available()) test_skip("built without Ipopt");
  if (carom_plan_read(path, &options, NULL, &file, &found) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s: %s", path, found.count ? found.items[0].message : "memory");
  carom_diagnostics_release(&found);
  return file;
}

// Feasible, consistent and clear, also between the nodes.
static inline void check_solved(const carom_plan_report *report) {
  if (report->outcome != CAROM_PLAN_SOLVED) test_fail(__FILE__, __LINE__, "not solved: %s", report->message);
  CHECK_AT_MOST(report->violation, 1e-9);
  CHECK_AT_MOST(report->momentum_defect, 1e-8);
  CHECK(report->swept_gap > -1e-9);
}

// And replayed by the forward integrator.
static inline void check_plan(const carom_plan *plan, const carom_plan_report *report) {
  carom_replay_report replay;
  carom_error error = {0};
  check_solved(report);
  if (carom_plan_replay(plan, &replay, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  CHECK_AT_MOST(replay.position, 1e-6);
  CHECK_AT_MOST(replay.rotation, 1e-6);
  CHECK(carom_plan_judge(report, &replay).pass);
}

// Of plan-satellites. Were the bodies not in each other's way, one of m = 81 g would go d = sqrt(2) 0.1 m in T = 0.3 s
// from rest to rest for 12 m^2 d^2 / T^3; nothing is cheaper. From the given guess the way around costs 0.179 with 30
// intervals and 0.180 with 16. The guess itself costs 735 and 107, and says nothing about the plan.
static inline void check_satellites_effort(const carom_plan_report *report) {
  double m = 0.081, d = 0.1 * sqrt(2), T = 0.3;
  CHECK(report->cost > 12 * m * m * d * d / (T * T * T));
  CHECK_AT_MOST(report->cost, 0.185);
}

#endif
