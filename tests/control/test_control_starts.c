// Several first guesses: the best plan is kept, whatever the number of threads.
#include "control/plan.h"
#include "failing_allocator.h"
#include "fixtures.h"

// A block that is to turn, and something far from it.
static world make_world(void) {
  carom_builder *b = new_builder();
  carom_body_def def = carom_body_default();
  def.name = "box", def.mass = 0.1;
  put_shape(b, def, box_shape(0.1, 0.1, 0.1));
  def.name = "other", def.fixed = true, def.pose.p = cm_vec3(1, 0, 0);
  put_shape(b, def, box_shape(0.1, 0.1, 0.1));
  return finish_world(b);
}

static const double turn = 2;

static carom_pose turned(double angle) { return cm_pose(cm_zero3(), cm_axis_angle(cm_vec3(0, 0, 1), angle)); }

// To a rotation, at rest on both ends; the way that is given leads there the long way round.
static carom_plan *turning(const world *w, const carom_allocator *allocator) {
  carom_plan *plan = NULL;
  carom_plan_def def = carom_plan_default();
  def.intervals = 20, def.step = 0.05;
  if (carom_plan_create(w->model, w->state, &def, allocator, &plan, NULL) != CAROM_OK) return NULL;
  carom_actuator_def wrench = carom_actuator_default();
  carom_condition_def pose = carom_condition_default(), rest = carom_condition_default();
  carom_cost_def effort = carom_cost_default();
  pose.kind = CAROM_CONDITION_POSE, pose.pose = turned(turn);
  rest.kind = CAROM_CONDITION_VELOCITY;
  carom_plan_add_actuator(plan, &wrench);
  carom_plan_add_condition(plan, &pose);
  carom_plan_add_condition(plan, &rest);
  carom_plan_add_cost(plan, &effort);
  carom_plan_add_avoidance(plan, 0, 1);
  double times[4] = {0, 0.35, 0.65, 1};
  carom_pose way[4] = {turned(0), turned(-1.4), turned(-2.8), turned(turn)};
  carom_plan_set_waypoints(plan, 0, 4, times, way);
  return plan;
}

static carom_plan_options quick(int starts, int threads) {
  carom_plan_options o = carom_plan_default_options();
  o.starts = starts, o.threads = threads, o.tolerance = 1e-6;
  return o;
}

static bool solve(carom_plan *plan, carom_plan_options o, carom_plan_report *report) {
  carom_error error = {0};
  if (carom_plan_solve(plan, &o, report, &error) == CAROM_OK) return true;
  test_fail(__FILE__, __LINE__, "%s", error.message);
  return false;
}

// Each start by itself; the best of the first N is what N starts give, bit for bit, and never worse than the first.
TEST(best_of_several_starts_is_kept) {
  enum { N = 4 };
  if (!carom_plan_available()) test_skip("built without Ipopt");
  world w = make_world();
  double cost[N], best = INFINITY;
  int winner = -1;
  for (int i = 0; i < N; i++) {
    carom_plan *plan = turning(&w, NULL);
    carom_plan_options o = quick(1, 1);
    carom_plan_report report;
    o.first_start = i;
    REQUIRE(plan && solve(plan, o, &report));
    CHECK(report.start == i);
    cost[i] = report.outcome == CAROM_PLAN_SOLVED && report.swept_gap > -1e-9 ? report.cost : INFINITY;
    if (cost[i] < best) best = cost[i], winner = i;
    carom_plan_destroy(plan);
  }
  CHECK(isfinite(cost[0]));
  CHECK(winner > 0);  // a sampled way is the short one
  // The cost of a turn grows with the square of its angle.
  double long_way = 2 * 3.14159265358979323846 - turn;
  CHECK_NEAR(cost[0] / best, long_way * long_way / (turn * turn), 0.15);
  for (int threads = 1; threads <= 3; threads += 2) {
    carom_plan *plan = turning(&w, NULL);
    carom_plan_report report;
    carom_replay_report replay;
    REQUIRE(plan && solve(plan, quick(N, threads), &report));
    CHECK(report.start == winner && report.starts == N && report.solved_starts >= 2);
    CHECK(report.cost == best);  // bit for bit
    CHECK(report.cost <= cost[0]);
    REQUIRE(carom_plan_replay(plan, &replay, NULL) == CAROM_OK);  // the answer is in the plan that was asked
    CHECK_AT_MOST(replay.position, 1e-6);
    CHECK(carom_plan_node_count(plan) == 21 + report.added_nodes);
    carom_plan_destroy(plan);
  }
  free_world(&w);
}

// Which guess a start has depends on the seed and its number; another seed means other guesses.
TEST(starts_follow_from_the_seed) {
  world w = make_world();
  carom_vec3 seen[3];
  for (int i = 0; i < 3; i++) {
    carom_plan *plan = turning(&w, NULL);
    carom_guess_kind kind = CAROM_GUESS_PATH;
    REQUIRE(plan != NULL);
    plan->variation = 2;
    REQUIRE(carom_guess_make(plan, &kind, i == 2 ? 8 : 7, NULL) == CAROM_OK);
    CHECK(kind == CAROM_GUESS_PATH);
    seen[i] = plan->path.x[10 * 2];
    CHECK(cm_norm(plan->path.x[0]) == 0);  // the ends stay
    CHECK_NEAR(fabs(cm_qdot(plan->path.q[20 * 2], turned(turn).q)), 1, 1e-12);
    carom_plan_destroy(plan);
  }
  CHECK(cm_norm(cm_sub(seen[0], seen[1])) == 0);
  CHECK(cm_norm(cm_sub(seen[0], seen[2])) > 1e-3);
  CHECK(cm_norm(seen[0]) > 1e-3);
  free_world(&w);
}

// When memory runs out while the problem is copied, nothing leaks and the status tells.
TEST(starts_survive_failing_allocations) {
  if (!carom_plan_available()) test_skip("built without Ipopt");
  world w = make_world();
  bool done = false;
  for (int allowed = 0; allowed < 4000 && !done; allowed += allowed < 60 ? 1 : 23) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    carom_plan *plan = turning(&w, &a);
    carom_status status = CAROM_ERR_MEMORY;
    if (plan) {
      carom_plan_options o = quick(2, 1);
      carom_plan_report report;
      o.max_iterations = 1, o.max_sweeps = 0;
      status = carom_plan_solve(plan, &o, &report, NULL);
    }
    carom_plan_destroy(plan);
    CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY);
    CHECK(f.live == 0);
    done = status == CAROM_OK;
  }
  CHECK(done);
  free_world(&w);
}
