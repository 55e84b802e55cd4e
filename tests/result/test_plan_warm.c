// Warm starts: an earlier answer, out of its file, is an answer again at once; on other grids it is a good guess; files
// that are none are told so.
#include "control/plan.h"
#include "failing_allocator.h"
#include "fixtures.h"
#include "plans.h"
#include "result_fixture.h"

static void record(const carom_plan_file *file, const carom_plan_report *report, const char *path) {
  carom_error error = {0};
  carom_verdict verdict = carom_plan_judge(report, NULL);
  carom_recorder_options options = {.overwrite = true};
  if (carom_plan_record(file, report, &verdict, path, &options, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
}

static carom_plan_report solve(carom_plan_file *file) {
  carom_plan_report report = {0};
  carom_error error = {0};
  if (carom_plan_solve(file->plan, &file->options, &report, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return report;
}

// Solves an example with these settings and keeps the answer.
static carom_plan_report keep_answer(const char *name, const char *const *settings, int count, const char *path) {
  carom_plan_file *file = read_example(name, settings, count);
  if (!file) exit(1);
  carom_plan_report report = solve(file);
  check_solved(&report);
  record(file, &report, path);
  carom_plan_file_destroy(file);
  return report;
}

static carom_plan_report solve_warm(const char *name, const char *const *settings, int count, const char *path) {
  carom_plan_file *file = read_example(name, settings, count);
  carom_error error = {0};
  if (!file) exit(1);
  if (carom_plan_warm(file->plan, path, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  file->options.guess = CAROM_GUESS_MOTION;
  carom_plan_report report = solve(file);
  if (report.outcome == CAROM_PLAN_SOLVED) check_plan(file->plan, &report);
  CHECK(report.guess == CAROM_GUESS_MOTION);
  carom_plan_file_destroy(file);
  return report;
}

// ---- its own answer ------------------------------------------------------------------------------------------------

static void check_own(const char *name, const char *const *settings, int count) {
  char path[256];
  snprintf(path, sizeof path, "%s", fixture_path("warm-own.h5"));
  carom_plan_report cold = keep_answer(name, settings, count, path);
  carom_plan_report warm = solve_warm(name, settings, count, path);
  check_solved(&warm);
  CHECK_AT_MOST(warm.iterations, 5);
  CHECK_NEAR(warm.cost, cold.cost, 1e-8 * cold.cost);
  CHECK(warm.variables == cold.variables && warm.constraints == cold.constraints);
  unlink(path);
}

TEST(own_answer_with_a_contact) { check_own("plan-wall", NULL, 0); }
TEST(own_answer_with_two_contacts) { check_own("plan-two-cubes", NULL, 0); }
TEST(own_answer_with_joints_and_planes_long) { check_own("plan-manipulator", NULL, 0); }
TEST(own_answer_with_nested_gaps_long) { check_own("plan-satellites", NULL, 0); }

// Nodes that were added are there again, with the contacts and conditions where they belong.
TEST(own_answer_with_refined_steps) {
  const char *const settings[] = {"solver.refinements=0", "horizon.intervals=12", "contacts.0.node=4",
                                  "horizon.step=0.0625 s"};
  const char *const finer[] = {"solver.refinements=1", "horizon.intervals=12", "contacts.0.node=4",
                               "horizon.step=0.0625 s"};
  char path[256];
  snprintf(path, sizeof path, "%s", fixture_path("warm-refined.h5"));
  carom_plan_report fine = keep_answer("plan-wall", finer, 4, path);
  carom_plan_file *file = read_example("plan-wall", settings, 4);
  REQUIRE(file && carom_plan_warm(file->plan, path, NULL) == CAROM_OK);
  file->options.guess = CAROM_GUESS_MOTION;
  carom_plan_report again = solve(file);
  check_plan(file->plan, &again);
  CHECK(carom_plan_node_count(file->plan) == 25 && carom_plan_contact_node(file->plan, 0) == 8);
  CHECK_NEAR(again.cost, fine.cost, 1e-8 * fine.cost);
  CHECK_AT_MOST(again.iterations, 5);
  carom_plan_file_destroy(file);
  unlink(path);
}

// ---- other grids and other values ----------------------------------------------------------------------------------

// As good as, and sooner than, from the guess of the problem.
static void check_elsewhere(const char *name, const char *const *settings, int count) {
  char path[256];
  snprintf(path, sizeof path, "%s", fixture_path("warm-elsewhere.h5"));
  keep_answer(name, NULL, 0, path);
  carom_plan_file *file = read_example(name, settings, count);
  REQUIRE(file);
  carom_plan_report cold = solve(file), warm = solve_warm(name, settings, count, path);
  check_solved(&cold);
  check_solved(&warm);
  CHECK(warm.iterations < cold.iterations);
  CHECK_NEAR(warm.cost, cold.cost, 1e-5 * cold.cost);
  carom_plan_file_destroy(file);
  unlink(path);
}

TEST(finer_grid) {
  const char *const settings[] = {"horizon.intervals=43", "horizon.step=0.75 s/43", "contacts.0.node=13"};
  check_elsewhere("plan-wall", settings, 3);
}
TEST(coarser_grid) {
  const char *const settings[] = {"horizon.intervals=20", "horizon.step=0.0375 s", "contacts.0.node=6"};
  check_elsewhere("plan-wall", settings, 3);
}
TEST(finer_grid_with_two_contacts) {
  const char *const settings[] = {"horizon.intervals=60", "horizon.step=0.5 s/60", "contacts.0.node=24",
                                  "contacts.1.node=47"};
  check_elsewhere("plan-two-cubes", settings, 4);
}
TEST(contact_at_another_node) {
  const char *const settings[] = {"contacts.1.node=38"};
  check_elsewhere("plan-two-cubes", settings, 1);
}
TEST(another_target) {
  const char *const settings[] = {"conditions.0.position=[0, 0.221, 0]"};
  check_elsewhere("plan-wall", settings, 1);
}

// ---- laying a motion on a grid -------------------------------------------------------------------------------------

// Two bodies, one of them fixed; the model outlives the plan.
static world make_world(void) {
  carom_builder *b = new_builder();
  carom_body_def def = carom_body_default();
  def.name = "box", def.mass = 0.3;
  put_shape(b, def, box_shape(0.1, 0.2, 0.3));
  def.name = "rock", def.fixed = true, def.pose.p = cm_vec3(3, 0, 0);
  put_shape(b, def, box_shape(0.1, 0.1, 0.1));
  return finish_world(b);
}

static carom_plan *make_plan(const world *w, int intervals, const int *contacts, int count) {
  carom_plan *plan = NULL;
  carom_plan_def def = carom_plan_default();
  def.intervals = intervals, def.step = 1.0 / intervals, def.scale_low = 0.01, def.scale_high = 100;
  carom_actuator_def wrench = carom_actuator_default();
  if (carom_plan_create(w->model, w->state, &def, NULL, &plan, NULL) != CAROM_OK) exit(1);
  carom_plan_add_actuator(plan, &wrench);
  for (int i = 0; i < count; i++) {
    carom_planned_contact_def c = carom_planned_contact_default();
    c.node = contacts[i], c.body[1] = 1;
    CHECK(carom_plan_add_contact(plan, &c) >= 0);
  }
  return plan;
}

// A parabola in each stretch, with another velocity after each event; forces are linear in each. The cubics reproduce
// the first and the linear rule the second, on whatever grid.
typedef struct pieces {
  int count;
  double begin[4], c[4][4];  // position a + b t + c t^2, force d + c t
} pieces;

static double position(const pieces *p, int i, double t) {
  double s = t - p->begin[i];
  return p->c[i][0] + s * (p->c[i][1] + s * p->c[i][2]);
}
static double force(const pieces *p, int i, double t) { return p->c[i][3] + p->c[i][2] * (t - p->begin[i]); }

static pieces draw_pieces(carom_random *random) {
  pieces p = {.count = 1 + (int)carom_random_below(random, 3)};
  double t = 0;
  for (int i = 0; i < p.count; i++) {
    p.begin[i] = t;
    for (int j = 0; j < 4; j++) p.c[i][j] = carom_random_between(random, -1, 1);
    if (i > 0) p.c[i][0] = position(&p, i - 1, t);
    t += carom_random_between(random, 0.2, 1);
  }
  p.begin[p.count] = t;
  return p;
}

enum { MOST = 60 };
typedef struct sampled {
  double times[MOST], forces[6 * MOST];
  carom_pose poses[2 * MOST];
  int events[3];
  carom_plan_motion motion;
} sampled;

static void sample(carom_random *random, const pieces *p, sampled *s) {
  int k = 0;
  *s = (sampled){0};
  for (int i = 0; i < p->count; i++) {
    int steps = 4 + (int)carom_random_below(random, 8);
    for (int j = 0; j < steps + (i == p->count - 1); j++, k++) {
      double span = p->begin[i + 1] - p->begin[i], off = j % steps ? carom_random_between(random, -0.2, 0.2) : 0;
      s->times[k] = p->begin[i] + span * (j + off) / steps;
      s->poses[2 * k] = cm_pose(cm_vec3(position(p, i, s->times[k]), 1, 2), cm_quat(1, 0, 0, 0));
      s->poses[2 * k + 1] = cm_pose_identity();
    }
    s->events[i] = k;
  }
  for (int j = 0, i = 0; j + 1 < k; j++) {
    if (i + 1 < p->count && j == s->events[i]) i++;
    s->forces[6 * (size_t)j] = force(p, i, 0.5 * (s->times[j] + s->times[j + 1]));
  }
  s->motion = (carom_plan_motion){.nodes = k,
                                  .times = s->times,
                                  .poses = s->poses,
                                  .forces = s->forces,
                                  .event_count = p->count - 1,
                                  .events = s->events};
}

static void check_laid(const carom_plan *plan, const pieces *p) {
  double T = p->begin[p->count], t = 0;
  for (int k = 0; k <= plan->path.K; k++) {
    int i = carom_plan_segment(plan, k < plan->path.K ? k : k - 1);
    double step = k < plan->path.K ? carom_plan_step(plan, k) : 0;
    CHECK_NEAR(plan->path.x[2 * (size_t)k].x, position(p, i, t * T), 1e-12);
    // At the ends of a stretch the force is that of the nearest interval.
    int first = i ? plan->contacts[i - 1].def.node : 0,
        last = i < plan->contact_count ? plan->contacts[i].def.node : plan->path.K;
    bool inside = (k - first) * 4 > last - first && (last - k) * 4 > last - first;
    if (k < plan->path.K && inside) CHECK_NEAR(plan->path.tau[6 * (size_t)k], force(p, i, (t + 0.5 * step) * T), 1e-12);
    t += step;
  }
  CHECK_NEAR(t, 1, 1e-12);
  CHECK(plan->path.x[1].x == 3);  // a fixed body is where the scene has it
}

// The plan takes 1 s whatever the motion took.
TEST(random_motions_on_random_grids) {
  world w = make_world();
  for (int trial = 0; trial < 300; trial++) {
    carom_random random = carom_random_make(7, (uint64_t)trial);
    pieces p = draw_pieces(&random);
    sampled s;
    sample(&random, &p, &s);
    int nodes[3], node = 0;
    for (int i = 0; i + 1 < p.count; i++) nodes[i] = node += 12 + (int)carom_random_below(&random, 20);
    carom_plan *plan = make_plan(&w, node + 12 + (int)carom_random_below(&random, 20), nodes, p.count - 1);
    REQUIRE(carom_plan_set_motion(plan, &s.motion) == 0);
    carom_guess_kind kind = CAROM_GUESS_MOTION;
    CHECK(carom_guess_make(plan, &kind, 1, NULL) == CAROM_OK);
    check_laid(plan, &p);
    carom_plan_destroy(plan);
  }
  free_world(&w);
}

// Without as many contacts the motion is laid on the whole grid, and its nodes are met exactly where they coincide.
TEST(motions_with_other_contacts) {
  world w = make_world();
  carom_random random = carom_random_make(8, 0);
  pieces p = draw_pieces(&random);
  sampled s;
  sample(&random, &p, &s);
  int node = 5, K = s.motion.nodes - 1;
  carom_plan *plan = make_plan(&w, 20, &node, p.count == 2 ? 0 : 1);
  carom_guess_kind kind = CAROM_GUESS_MOTION;
  REQUIRE(carom_plan_set_motion(plan, &s.motion) == 0);
  CHECK(carom_guess_make(plan, &kind, 1, NULL) == CAROM_OK);
  CHECK(plan->path.x[0].x == s.poses[0].p.x);
  CHECK_NEAR(plan->path.x[2 * 20].x, s.poses[2 * K].p.x, 1e-14);
  carom_plan_destroy(plan);
  free_world(&w);
}

// ---- files that are no answers -------------------------------------------------------------------------------------

static void check_refused(const char *example, const char *path, carom_status expected, const char *words) {
  carom_plan_file *file = read_example(example, NULL, 0);
  carom_error error = {0};
  REQUIRE(file);
  carom_status status = carom_plan_warm(file->plan, path, &error);
  if (status != expected || !strstr(error.message, words))
    test_fail(__FILE__, __LINE__, "%d, expected %d and '%s': %s", status, expected, words, error.message);
  CHECK(carom_plan_check(file->plan, NULL) == CAROM_OK);
  carom_plan_file_destroy(file);
}

TEST(files_of_other_kinds_are_refused) {
  char path[256];
  snprintf(path, sizeof path, "%s", fixture_path("warm-other.h5"));
  keep_answer("plan-wall", NULL, 0, path);
  check_refused("plan-two-cubes", path, CAROM_ERR_ARGUMENT, "has no body 'blue'");
  check_refused("plan-wall", "/nowhere/at-all.h5", CAROM_ERR_IO, "at-all.h5");
  check_refused("plan-wall", CAROM_EXAMPLES "/plan-wall/problem.yaml", CAROM_ERR_FORMAT, "problem.yaml");
  unlink(path);
  fixture_write(path, 3);
  check_refused("plan-wall", path, CAROM_ERR_ARGUMENT, "of a run, not of a plan");
  unlink(path);
}

TEST(motions_that_are_none_are_refused) {
  world w = make_world();
  double times[3] = {0, 1, 1};
  carom_pose poses[6];
  int events[1] = {2};
  for (int i = 0; i < 6; i++) poses[i] = cm_pose_identity();
  const carom_plan_motion motions[] = {
      {.nodes = 3, .times = times, .poses = poses},
      {.nodes = 1, .times = times, .poses = poses},
      {.nodes = 2, .times = times, .poses = poses, .event_count = 1, .events = events}};
  for (size_t i = 0; i < sizeof motions / sizeof *motions; i++) {
    carom_plan *plan = make_plan(&w, 5, NULL, 0);
    CHECK(carom_plan_set_motion(plan, &motions[i]) == -1 && carom_plan_check(plan, NULL) == CAROM_ERR_ARGUMENT);
    carom_plan_destroy(plan);
  }
  carom_plan *plan = make_plan(&w, 5, NULL, 0);
  carom_plan_options options = carom_plan_default_options();
  carom_error error = {0};
  options.guess = CAROM_GUESS_MOTION;
  CHECK(carom_plan_solve(plan, &options, NULL, &error) == CAROM_ERR_ARGUMENT && strstr(error.message, "none was set"));
  carom_plan_destroy(plan);
  free_world(&w);
}

// ---- lack of memory ------------------------------------------------------------------------------------------------

// Every request is refused once: the message is about memory, and nothing is lost.
TEST(warm_starts_without_memory) {
  char path[256], problem[512];
  snprintf(path, sizeof path, "%s", fixture_path("warm-memory.h5"));
  snprintf(problem, sizeof problem, "%s/plan-wall/problem.yaml", CAROM_EXAMPLES);
  keep_answer("plan-wall", NULL, 0, path);
  carom_status status = CAROM_ERR_MEMORY;
  for (int n = 0; status == CAROM_ERR_MEMORY && n < 5000; n++) {
    failing_allocator f = {.allowed = -1};
    carom_allocator a = failing_allocator_of(&f);
    carom_diagnostics found = {0};
    carom_plan_file *file = NULL;
    carom_error error = {0};
    REQUIRE(carom_plan_read(problem, NULL, &a, &file, &found) == CAROM_OK);
    carom_diagnostics_release(&found);
    f.allowed = f.calls + n;
    status = carom_plan_warm(file->plan, path, &error);
    CHECK(status == CAROM_OK || (status == CAROM_ERR_MEMORY && *error.message));
    f.allowed = -1;
    carom_plan_file_destroy(file);
    CHECK(f.live == 0);
  }
  CHECK(status == CAROM_OK);
  unlink(path);
}
