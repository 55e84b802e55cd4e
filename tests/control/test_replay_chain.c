// Plans replayed one after the other: each begins where the periodic map puts the end of the one before.
#include "fixtures.h"
#include "plans.h"

// A box that hops in free fall would be periodic by itself; this one is pushed along, turned, and comes to the same
// velocity again, a stride further, with the two boxes in each other's places.
static carom_plan *striding(const world *w, bool periodic) {
  carom_plan *plan = NULL;
  carom_plan_def def = carom_plan_default();
  def.intervals = 12, def.step = 0.05;
  if (carom_plan_create(w->model, w->state, &def, NULL, &plan, NULL) != CAROM_OK) exit(1);
  carom_cost_def effort = carom_cost_default();
  carom_plan_add_cost(plan, &effort);
  for (int i = 0; i < 2; i++) {
    carom_actuator_def wrench = carom_actuator_default();
    carom_condition_def middle = carom_condition_default();
    wrench.body = i;
    middle.kind = CAROM_CONDITION_POSITION, middle.body = i, middle.node = 5;
    middle.low = middle.high = cm_vec3(0.3 * i + 0.05, 0.1, 0.02);
    carom_plan_add_actuator(plan, &wrench);
    carom_plan_add_condition(plan, &middle);
  }
  static const int swap[1][2] = {{0, 1}};
  carom_periodic_def again = carom_periodic_default();
  again.swap_count = 1, again.swap = swap, again.map.p = cm_vec3(0.25, 0, 0), again.mirror = 2;
  carom_condition_def there = carom_condition_default();
  there.pose.p = cm_vec3(1, 0, 0);
  if (periodic)
    carom_plan_set_periodic(plan, &again);
  else
    carom_plan_add_condition(plan, &there);
  return plan;
}

static world two_boxes(void) {
  carom_builder *b = new_builder();
  carom_body_def def = carom_body_default();
  def.name = "left", def.mass = 0.2;
  put_shape(b, def, box_shape(0.1, 0.1, 0.1));
  def.name = "right", def.pose.p = cm_vec3(0.3, 0, 0);
  put_shape(b, def, box_shape(0.1, 0.1, 0.1));
  return finish_world(b);
}

static void solve(carom_plan *plan) {
  carom_plan_report report;
  carom_error error = {0};
  if (!carom_plan_available()) test_skip("built without Ipopt");
  if (carom_plan_solve(plan, NULL, &report, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  if (report.outcome != CAROM_PLAN_SOLVED) test_fail(__FILE__, __LINE__, "%s", report.message);
}

// Free bodies are neither stable nor unstable: a deviation of a velocity makes one of position that grows by time.
TEST(twenty_periods_stay_on_the_plan) {
  enum { N = 20 };
  world w = two_boxes();
  carom_plan *plan = striding(&w, true);
  carom_replay_report anchored[N], carried[N], one;
  solve(plan);
  REQUIRE(carom_plan_replay(plan, &one, NULL) == CAROM_OK);
  REQUIRE(carom_plan_replay_chain(plan, N, true, anchored, NULL) == CAROM_OK);
  REQUIRE(carom_plan_replay_chain(plan, N, false, carried, NULL) == CAROM_OK);
  for (int i = 0; i < N; i++) {
    CHECK(anchored[i].position >= one.position && anchored[i].position == anchored[0].position);
    CHECK_AT_MOST(anchored[i].position, 1e-9);
    CHECK_AT_MOST(carried[i].position, 1e-6);
    CHECK_AT_MOST(carried[i].rotation, 1e-6);
  }
  CHECK(carried[0].position == anchored[0].position);
  carom_plan_destroy(plan);
  free_world(&w);
}

TEST(plans_that_end_elsewhere_are_not_chained) {
  world w = two_boxes();
  carom_plan *plan = striding(&w, false);
  carom_replay_report reports[2];
  carom_error error = {0};
  CHECK(carom_plan_replay_chain(plan, 2, true, reports, &error) == CAROM_ERR_ARGUMENT);  // before it is solved
  solve(plan);
  CHECK(carom_plan_replay_chain(plan, 2, true, reports, &error) == CAROM_ERR_ARGUMENT);
  CHECK(strstr(error.message, "body 'left' ends 1 m") != NULL);
  carom_plan_destroy(plan);
  free_world(&w);
}
