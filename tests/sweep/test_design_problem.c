// Problems of design by the library alone: what is read, rounds and their order, designs that are planned again, and
// what happens without memory.
#include <unistd.h>

#include "carom/carom.h"
#include "failing_allocator.h"
#include "test.h"

static const char scene_text[] =
    "carom: 1\n"
    "title: thrown\n"
    "constants: {angle: 0.5, speed: 4}\n"
    "bodies:\n"
    "  - {name: ball, shape: {sphere: {radius: 0.1}}, density: 1000, velocity: [speed*cos(angle), 0, "
    "speed*sin(angle)]}\n"
    "forces: {gravity: 10}\n"
    "integrator: {name: variational, step: 1 ms}\n"
    "duration: 2 s\n";
#define HEAD "carom-design: 1\nscene: scene.yaml\n"
#define ANGLE "variables:\n  - {name: angle, from: 10 deg, to: 80 deg, set: constants.angle}\n"
#define RANGE "outcomes: {range: ball.x - ball.vx*ball.z/ball.vz}\nuntil: ball.z < 0\nmaximize: range\n"

static char folder[] = "/tmp/carom-design-XXXXXX", path[200];

static void write_text(const char *name, const char *text) {
  char at[250];
  snprintf(at, sizeof at, "%s/%s", folder, name);
  FILE *out = fopen(at, "w");
  if (!out || fputs(text, out) < 0 || fclose(out) != 0) test_fail(__FILE__, __LINE__, "cannot write %s", at);
}

static void write_files(const char *text) {
  static bool there;
  if (!there && !mkdtemp(folder)) test_fail(__FILE__, __LINE__, "no folder");
  there = true;
  snprintf(path, sizeof path, "%s/problem.yaml", folder);
  write_text("scene.yaml", scene_text);
  write_text("problem.yaml", text);
}

static carom_design_problem *read_problem(const char *text) {
  carom_design_problem *problem = NULL;
  carom_diagnostics found = {0};
  write_files(text);
  if (carom_design_read(path, NULL, NULL, &problem, &found) != CAROM_OK)
    for (int i = 0; i < found.count; i++) {
      char line[1000];
      carom_diagnostic_format(&found.items[i], line, sizeof line);
      test_fail(__FILE__, __LINE__, "%s", line);
    }
  carom_diagnostics_release(&found);
  return problem;
}

// The cases of a round, forwards or backwards: nothing may depend on it.
static void run_round(const carom_design_work *work, const carom_sweep *sweep, int64_t count, bool backwards) {
  carom_error error = {0};
  for (int64_t k = 0; k < count; k++) {
    int64_t number = carom_design_first(work) + (backwards ? count - 1 - k : k);
    carom_case c = carom_cases_get(carom_design_cases(work), number);
    CHECK(carom_sweep_run(sweep, NULL, &c, &error) == CAROM_OK);
    CHECK(carom_cases_put(carom_design_cases(work), &c, &error) == CAROM_OK);
  }
}

static carom_design_work *run_all(const carom_design_problem *problem, bool backwards) {
  carom_design_work *work = NULL;
  int64_t count;
  if (carom_design_work_create(problem, NULL, &work, NULL) != CAROM_OK) return NULL;
  while ((count = carom_design_next(work)) > 0) run_round(work, problem->sweep, count, backwards);
  CHECK(count == 0);
  return work;
}

TEST(a_problem_is_read_as_it_is_written) {
  carom_design_problem *p =
      read_problem(HEAD
                   "variables:\n  - {name: angle, from: 10 deg, to: 80 deg, set: constants.angle}\n"
                   "  - {name: fast, from: 1 m/s, to: 100 m/s, scale: log, set: constants.speed}\n"
                   "constraints: ['fast <= 50*angle', '2*angle - fast/10 >= -3 + angle']\n"
                   "begin: [[0.5, 4], [0.6, 5]]\nmethod: kriging\nbudget: 17\nbatch: 3\ntolerance: 1e-4\nresolution: "
                   "1e-3\nseed: 9\n" RANGE);
  REQUIRE(p);
  const carom_search_def *d = &p->search;
  CHECK(d->variable_count == 2 && d->method == CAROM_SEARCH_KRIGING && d->budget == 17 && p->batch == 3 &&
        d->seed == 9);
  CHECK(p->maximize && p->objective == 3 && p->revisits == 0);
  CHECK_TEXT(p->formula, "range");
  CHECK_NEAR(d->low[0], 10 * 3.141592653589793 / 180, 1e-15);
  CHECK_NEAR(d->high[1], 100, 0);
  CHECK(!d->logarithmic[0] && d->logarithmic[1]);
  CHECK_NEAR(d->tolerance, 1e-4, 0);
  CHECK_NEAR(d->resolution, 1e-3, 0);
  const double rows[4] = {-50, 1, -1, 0.1}, most[2] = {0, 3}, starts[4] = {0.5, 4, 0.6, 5};
  REQUIRE(d->constraint_count == 2 && d->start_count == 2);
  for (int i = 0; i < 4; i++) CHECK_NEAR(d->rows[i], rows[i], 1e-12);
  for (int i = 0; i < 2; i++) CHECK_NEAR(d->most[i], most[i], 1e-12);
  for (int i = 0; i < 4; i++) CHECK_NEAR(d->starts[i], starts[i], 0);
  carom_design_problem_destroy(p);
}

TEST(the_widest_throw_on_level_ground_is_at_45_degrees) {
  carom_design_problem *p = read_problem(HEAD ANGLE RANGE "budget: 9\n");
  REQUIRE(p);
  carom_design_work *work = run_all(p, false);
  REQUIRE(work && carom_design_best(work) >= 0);
  CHECK_NEAR(carom_design_cases(work)->values[carom_design_best(work) * p->sweep->column_count], 3.141592653589793 / 4,
             5e-3);
  CHECK_NEAR(carom_design_value(work, carom_design_best(work)), 1.6, 1e-4);
  CHECK(carom_design_cases(work)->count <= 9);
  carom_design_work_destroy(work);
  carom_design_problem_destroy(p);
}

TEST(the_order_within_a_round_does_not_matter) {
  carom_design_problem *p = read_problem(HEAD ANGLE RANGE "budget: 14\nbatch: 4\n");
  REQUIRE(p);
  carom_design_work *a = run_all(p, false), *b = run_all(p, true);
  REQUIRE(a && b);
  const carom_cases *x = carom_design_cases(a), *y = carom_design_cases(b);
  CHECK(x->count == y->count && carom_design_best(a) == carom_design_best(b));
  CHECK(memcmp(x->values, y->values, (size_t)(x->count * x->column_count) * sizeof *x->values) == 0);
  carom_design_work_destroy(a);
  carom_design_work_destroy(b);
  carom_design_problem_destroy(p);
}

// ---- once more, from a better one -----------------------------------------------------------------------------------

// As if plans were caught at 1 + (x - 0.3)^2 below 0.6, unless they begin from an answer that is not.
static double pretend(const carom_design_work *work, double x, int64_t warm) {
  bool free = x > 0.6 || (warm >= 0 && carom_design_value(work, warm) < 1);
  return (x - 0.3) * (x - 0.3) + (free ? 0 : 1);
}

TEST(designs_are_planned_again_from_a_better_one) {
  carom_design_problem *p = read_problem(HEAD
                                         "variables:\n  - {name: angle, from: 0, to: 1, set: constants.angle}\n"
                                         "minimize: ball.x\nbudget: 20\n");
  REQUIRE(p);
  p->revisits = 2;
  p->sweep->warm = CAROM_WARM_NEIGHBOUR;
  carom_design_work *work = NULL;
  REQUIRE(carom_design_work_create(p, NULL, &work, NULL) == CAROM_OK);
  int64_t count;
  int again = 0;
  while ((count = carom_design_next(work)) > 0) {
    carom_cases *cases = carom_design_cases(work);
    for (int64_t n = carom_design_first(work); n < cases->count; n++) {
      carom_case c = carom_cases_get(cases, n);
      int64_t warm = carom_design_warm_case(work, n);
      CHECK(warm < carom_design_first(work));
      again += carom_design_is_revisit(work, n);
      if (carom_design_is_revisit(work, n)) CHECK(warm == carom_design_best(work));
      c.values[p->objective] = pretend(work, c.values[0], warm);
      c.class_index = p->sweep->success;
      carom_cases_put(cases, &c, NULL);
    }
    CHECK(cases->count <= 20);
  }
  CHECK(again > 0);
  CHECK_NEAR(carom_design_value(work, carom_design_best(work)), 0, 1e-4);
  carom_design_work_destroy(work);
  carom_design_problem_destroy(p);
}

// ---- mistakes and lack of memory ------------------------------------------------------------------------------------

static void check_mistake(int line, const char *text, int at, const char *part) {
  carom_design_problem *p = NULL;
  carom_diagnostics found = {0};
  write_files(text);
  CHECK(carom_design_read(path, NULL, NULL, &p, &found) == CAROM_ERR_SCENE && !p);
  bool there = false;
  for (int i = 0; i < found.count; i++)
    there = there || (found.items[i].line == at && strstr(found.items[i].message, part));
  if (!there)
    test_fail(__FILE__, line, "expected \"%s\" at line %d, got \"%s\" at %d", part, at,
              found.count ? found.items[0].message : "", found.count ? found.items[0].line : 0);
  carom_diagnostics_release(&found);
}
#define CHECK_MISTAKE(text, at, part) check_mistake(__LINE__, text, at, part)

TEST(mistakes_have_their_place) {
  CHECK_MISTAKE("carom-design: 2\nscene: scene.yaml\n" ANGLE RANGE, 1, "version 1");
  CHECK_MISTAKE(HEAD RANGE, 1, "missing key 'variables'");
  CHECK_MISTAKE(HEAD "variables: []\n" RANGE, 3, "1 to 16 variables");
  CHECK_MISTAKE(HEAD "variables: [{name: a, from: 2, to: 1, set: constants.angle}]\n" RANGE, 3, "'to' must be greater");
  CHECK_MISTAKE(HEAD "variables: [{name: a, from: 0, to: 1, set: constants.angel.x}]\n" RANGE, 3, "'set'");
  CHECK_MISTAKE(HEAD "variables: [{name: a, from: 0, to: 1, count: 3, set: []}]\n" RANGE, 3, "has no 'count'");
  CHECK_MISTAKE(HEAD ANGLE RANGE "method: simplex\n", 8, "'method'");
  CHECK_MISTAKE(HEAD ANGLE RANGE "budget: -1\n", 8, "'budget'");
  CHECK_MISTAKE(HEAD ANGLE RANGE "begin: [0.3, 9]\n", 8, "'angle' is 9, outside its bounds");
  CHECK_MISTAKE(HEAD ANGLE RANGE "constraints: [angle >= 3]\n", 8, "leave nothing");
  CHECK_MISTAKE(HEAD ANGLE RANGE "constraints: [angle == 3]\n", 8, "expects '... <= ...'");
  CHECK_MISTAKE(HEAD ANGLE RANGE "constraints: [sin(angle) <= 0.5]\n", 8, "linear");
  // What bends between the bounds is not linear, be it straight around 0 and 1.
  CHECK_MISTAKE(HEAD ANGLE RANGE "constraints: [abs(angle - 1.2) <= 0.1]\n", 8, "linear");
  // Mistakes of several kinds come together.
  CHECK_MISTAKE(HEAD ANGLE RANGE "batch: 0\nconstraints: [angle^2 <= 1]\n", 9, "linear");
  CHECK_MISTAKE(HEAD ANGLE RANGE "constraints: [angle <= 1]\nbegin: [9]\nbatch: 0\n", 9, "outside its bounds");
  CHECK_MISTAKE(HEAD ANGLE RANGE "revisit: 3\n", 8, "is for plans");
  CHECK_MISTAKE(HEAD ANGLE RANGE "minimize: ball.y\n", 7, "minimize and maximize");
  CHECK_MISTAKE(HEAD ANGLE "maximize: [1]\n", 5, "expects a formula");
  CHECK_MISTAKE(HEAD "plan: x.yaml\n" ANGLE RANGE, 3, "scene and plan");
}

// Whatever request of memory is refused, reading ends with a status, and nothing stays behind.
TEST(lack_of_memory_is_told) {
  write_files(HEAD ANGLE "constraints: [angle <= 1]\nbegin: [0.3]\n" RANGE);
  for (int allowed = 0;; allowed++) {
    failing_allocator failing = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&failing);
    carom_design_problem *p = NULL;
    carom_diagnostics found = {0};
    carom_status status = carom_design_read(path, NULL, &a, &p, &found);
    if (status == CAROM_OK) {
      carom_design_problem_destroy(p);
      carom_diagnostics_release(&found);
      CHECK(failing.live == 0);
      break;
    }
    CHECK(status == CAROM_ERR_MEMORY && !p);
    carom_diagnostics_release(&found);
    CHECK(failing.live == 0);
    REQUIRE(allowed < 100000);
  }
}
