// Gaits when memory runs out: a status, and nothing left behind.
#include "bipeds.h"
#include "failing_allocator.h"

static void ask_for_more(carom_plan *plan) {
  carom_clearance_def clear = carom_clearance_default();
  clear.body = SWING_SHANK;
  carom_plan_add_clearance(plan, &clear);
  add_cost(plan, CAROM_COST_TRANSPORT, CAROM_POWER_JOINTS, 1);
  add_cost(plan, CAROM_COST_WORK, CAROM_POWER_TOTAL, 1);
  add_cost(plan, CAROM_COST_PEAK, 0, 1);
}

// A step in three intervals, which the solver only begins, and its multipliers.
static carom_status walk(biped *b, const carom_allocator *allocator) {
  carom_plan_def def = carom_plan_default();
  def.intervals = 3, def.step = 0.3;
  carom_error error = {0};
  carom_status status = carom_plan_create(b->w.model, b->w.state, &def, allocator, &b->plan, &error);
  if (status != CAROM_OK) return status;
  ask_knees(b);
  ask_for_more(b->plan);
  carom_plan_options options = carom_plan_default_options();
  options.max_iterations = 1;
  carom_plan_report report;
  status = carom_plan_solve(b->plan, &options, &report, &error);
  double re[60], im[60];
  int count = 0;
  if (status == CAROM_OK) status = carom_plan_find_multipliers(b->plan, 60, re, im, &count, &error);
  return status;
}

TEST(gaits_survive_lack_of_memory) {
  if (!carom_plan_available()) test_skip("built without Ipopt");
  biped b = knees_on((stage){.turn = {1, 0, 0, 0}, .planar = true, .gravity = {0, -9.81, 0}});
  carom_status status = CAROM_ERR_MEMORY;
  int allowed = 0;
  for (; status == CAROM_ERR_MEMORY && allowed < 1000; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    b.plan = NULL;
    status = walk(&b, &a);
    carom_plan_destroy(b.plan);
    CHECK(f.live == 0);
  }
  CHECK(status == CAROM_OK);
  CHECK(allowed > 50);
  free_world(&b.w);
}
