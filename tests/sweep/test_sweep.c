// Sweeps as a whole: problems that are read, cases whose answers are known, tables, borders, and mistakes with their
// places.
#include <unistd.h>

#include "carom/carom.h"
#include "failing_allocator.h"
#include "test.h"

// A ball that is thrown over a floor it never reaches: all is known in closed form.
static const char scene_text[] =
    "carom: 1\n"
    "title: thrown\n"
    "bodies:\n"
    "  - {name: ball, shape: {sphere: {radius: 0.1}}, density: 1000, position: [0, 0, 0], velocity: [1, 0, 2]}\n"
    "forces: {gravity: 10}\n"
    "integrator: {name: variational, step: 1 ms}\n"
    "duration: 1 s\n";

static char folder[] = "/tmp/carom-sweep-XXXXXX", problem_path[200], scene_path[200];

static void write_text(const char *path, const char *text) {
  FILE *out = fopen(path, "w");
  if (!out || fputs(text, out) < 0 || fclose(out) != 0) test_fail(__FILE__, __LINE__, "cannot write %s", path);
}

static void write_problem(const char *text) {
  static bool there;
  if (!there && !mkdtemp(folder)) test_fail(__FILE__, __LINE__, "no folder");
  there = true;
  snprintf(problem_path, sizeof problem_path, "%s/problem.yaml", folder);
  snprintf(scene_path, sizeof scene_path, "%s/scene.yaml", folder);
  write_text(scene_path, scene_text);
  write_text(problem_path, text);
}

static carom_sweep *read_problem(const char *text) {
  carom_sweep *sweep = NULL;
  carom_diagnostics found = {0};
  write_problem(text);
  if (carom_sweep_read(problem_path, NULL, NULL, &sweep, &found) != CAROM_OK)
    for (int i = 0; i < found.count; i++) {
      char line[1000];
      carom_diagnostic_format(&found.items[i], line, sizeof line);
      test_fail(__FILE__, __LINE__, "%s", line);
    }
  carom_diagnostics_release(&found);
  return sweep;
}

#define HEAD "carom-sweep: 1\nscene: scene.yaml\n"
#define AXIS "axes:\n  - {name: up, from: 1 m/s, to: 3 m/s, count: 5, set: bodies.ball.velocity.2}\n"

static carom_cases *run_all(const carom_sweep *sweep) {
  carom_cases *cases = NULL;
  carom_error error = {0};
  if (carom_cases_create(sweep, sweep->sampling.count, NULL, &cases, &error) != CAROM_OK) return NULL;
  for (int64_t i = 0; i < cases->count; i++) {
    carom_case c = carom_cases_get(cases, i);
    CHECK(carom_sweep_run(sweep, NULL, &c, &error) == CAROM_OK);
    CHECK(carom_cases_put(cases, &c, &error) == CAROM_OK);
  }
  return cases;
}

static double value(const carom_sweep *sweep, const carom_cases *cases, int64_t number, const char *column) {
  for (int k = 0; k < sweep->column_count; k++)
    if (strcmp(sweep->columns[k], column) == 0) return carom_cases_get(cases, number).values[k];
  test_fail(__FILE__, __LINE__, "no column %s", column);
  return NAN;
}

// ---- reducers -------------------------------------------------------------------------------------------------------

TEST(reducers_see_all_of_a_run) {
  carom_sweep *sweep = read_problem(HEAD AXIS
                                    "outcomes:\n"
                                    "  top: most(ball.z)\n"
                                    "  bottom: least(ball.z)\n"
                                    "  middle: mean(ball.x)\n"
                                    "  end: ball.z\n"
                                    "  same: final(ball.z)\n"
                                    "  falls: first(ball.vz < 0)\n"
                                    "  never: first(ball.vz > 100)\n"
                                    "  falling: held(ball.vz < 0)\n"
                                    "  was_up: ever(ball.z > 0.3)\n"
                                    "  nested: ever(held(ball.vz < 0) > 0.75 s)\n"
                                    "  of_axis: up^2\n"
                                    "  earlier: top - bottom\n"
                                    "classes: {high: top > 0.3, low: top > 0.1}\n");
  REQUIRE(sweep);
  carom_cases *cases = run_all(sweep);
  REQUIRE(cases && cases->count == 5);
  for (int64_t i = 0; i < 5; i++) {
    double v = 1 + 0.5 * (double)i, end = v - 5, top = v * v / 20;
    CHECK(value(sweep, cases, i, "up") == v);
    CHECK_NEAR(value(sweep, cases, i, "top"), top, 1e-5);
    CHECK_NEAR(value(sweep, cases, i, "end"), end, 1e-9);
    CHECK(value(sweep, cases, i, "same") == value(sweep, cases, i, "end"));
    CHECK_NEAR(value(sweep, cases, i, "bottom"), end, 1e-9);
    CHECK_NEAR(value(sweep, cases, i, "middle"), 0.5, 1e-9);  // of x = t, by trapezia
    CHECK_NEAR(value(sweep, cases, i, "falls"), v / 10, 2e-3);
    CHECK(value(sweep, cases, i, "never") == INFINITY);
    CHECK_NEAR(value(sweep, cases, i, "falling"), 1 - v / 10, 2e-3);
    CHECK(value(sweep, cases, i, "was_up") == (top > 0.3));
    CHECK(value(sweep, cases, i, "nested") == (1 - v / 10 > 0.75 + 1e-3));
    CHECK_NEAR(value(sweep, cases, i, "of_axis"), v * v, 1e-12);
    CHECK(value(sweep, cases, i, "earlier") == value(sweep, cases, i, "top") - value(sweep, cases, i, "bottom"));
    CHECK(value(sweep, cases, i, "passed") == 1 && value(sweep, cases, i, "steps") == 1000);
    CHECK_TEXT(sweep->classes[cases->classes[i]], top > 0.3 ? "high" : top > 0.1 ? "low" : "other");
  }
  carom_cases_destroy(cases);
  carom_sweep_destroy(sweep);
}

TEST(until_ends_a_run) {
  carom_sweep *sweep = read_problem(HEAD AXIS
                                    "until: ball.vz < 0\n"
                                    "outcomes: {length: t, early: stopped}\n"
                                    "classes: {success: stopped and passed, timeout: t >= duration}\n");
  REQUIRE(sweep);
  carom_cases *cases = run_all(sweep);
  for (int64_t i = 0; i < 5; i++) {
    CHECK_NEAR(value(sweep, cases, i, "length"), (1 + 0.5 * (double)i) / 10, 2e-3);
    CHECK(cases->classes[i] == 0 && value(sweep, cases, i, "early") == 1);
  }
  carom_cases_destroy(cases);
  carom_sweep_destroy(sweep);
}

// ---- channels -------------------------------------------------------------------------------------------------------

// Sensors and controllers of the scene, and a joint, by their names: a damped servo holds a hinge where the axis says.
TEST(formulas_read_the_channels_of_the_loop) {
  write_problem(HEAD
                "axes: [{name: aim, from: 0.1, to: 0.5, count: 3, set: [\"constants.aim={value}\"]}]\n"
                "outcomes:\n"
                "  angle: hinge.angle\n"
                "  sensed: tip.x\n"
                "  strongest: most(abs(hinge.torque))\n"
                "  settles: first(held(abs(hinge.angle - aim) < 1e-3) > 0.2)\n"
                "classes: {success: settles < 3}\n");
  write_text(scene_path,
             "carom: 1\n"
             "constants: {aim: 0}\n"
             "bodies:\n"
             "  - {name: rod, shape: {box: [1, 0.1, 0.1]}, mass: 1, position: [0.5, 0, 0]}\n"
             "joints:\n"
             "  - {name: hinge, kind: revolute, between: [world, rod], at: [0, 0, 0], axis: [0, 0, 1]}\n"
             "sensors: [{name: tip, pose: rod, point: [0.5, 0, 0]}]\n"
             "controllers: [{joint: hinge, torque: -20*(hinge.angle - aim) - 6*hinge.rate}]\n"
             "forces: {gravity: 0}\n"
             "integrator: {step: 2 ms}\n"
             "duration: 3 s\n");
  carom_sweep *sweep = NULL;
  carom_diagnostics found = {0};
  if (carom_sweep_read(problem_path, NULL, NULL, &sweep, &found) != CAROM_OK)
    for (int i = 0; i < found.count; i++)
      test_fail(__FILE__, __LINE__, "%s: %s", found.items[i].file, found.items[i].message);
  carom_diagnostics_release(&found);
  REQUIRE(sweep);
  carom_cases *cases = run_all(sweep);
  for (int64_t i = 0; i < 3; i++) {
    double aim = 0.1 + 0.2 * (double)i;
    CHECK_NEAR(value(sweep, cases, i, "angle"), aim, 1e-3);
    CHECK_NEAR(value(sweep, cases, i, "sensed"), cos(value(sweep, cases, i, "angle")), 1e-6);
    CHECK_NEAR(value(sweep, cases, i, "strongest"), 20 * aim, 1e-6 + 1e-9);
    CHECK(cases->classes[i] == 0);
  }
  carom_cases_destroy(cases);
  carom_sweep_destroy(sweep);
}

// ---- settings -------------------------------------------------------------------------------------------------------

TEST(settings_are_formulas_of_axes) {
  carom_sweep *sweep = read_problem(
      HEAD
      "constants: {half: 0.5}\n"
      "axes:\n"
      "  - {name: speed, from: 1, to: 2, count: 2, set: \"bodies.ball.velocity=[{speed*cos(angle)}, 0, "
      "{half*value}]\"}\n"
      "  - {name: angle, values: [0, 90 deg], set: [\"title=case {case}\", \"bodies.ball.position.1={2*value}\"]}\n"
      "set: [duration=0.1, \"output={{interval: {0.02 + 0*case}}}\"]\n"
      "outcomes: {vx: ball.vx, y: ball.y}\n");
  REQUIRE(sweep && sweep->sampling.count == 4);
  CHECK_TEXT(sweep->axes[1].unit, "rad");
  CHECK_TEXT(sweep->axes[0].unit, "");
  carom_overrides o;
  double inputs[2];
  carom_sampling_inputs(&sweep->sampling, 2, inputs);
  REQUIRE(carom_sweep_overrides(sweep, 2, inputs, NULL, &o) == CAROM_OK && o.count == 5);
  CHECK_TEXT(o.items[0], "duration=0.1");
  CHECK_TEXT(o.items[1], "output={interval: 0.02}");
  CHECK_TEXT(o.items[2], "bodies.ball.velocity=[2, 0, 1]");
  CHECK_TEXT(o.items[3], "title=case 2");
  CHECK_TEXT(o.items[4], "bodies.ball.position.1=0");
  carom_overrides_release(&o);
  carom_cases *cases = run_all(sweep);
  CHECK_NEAR(value(sweep, cases, 3, "vx"), 0, 1e-15);
  CHECK_NEAR(value(sweep, cases, 3, "y"), 3.14159265358979, 1e-12);
  CHECK(value(sweep, cases, 3, "steps") == 100);
  carom_cases_destroy(cases);
  carom_sweep_destroy(sweep);
}

// A case that the scene refuses is a failed one with the reason; the others are none the worse.
TEST(failed_cases_keep_their_reason) {
  carom_sweep *sweep =
      read_problem(HEAD
                   "axes: [{name: size, values: [0.1, -0.1, 0.2], set: bodies.ball.shape.sphere.radius}]\n"
                   "set: duration=0.01\n"
                   "outcomes: {z: ball.z}\n");
  REQUIRE(sweep);
  carom_cases *cases = run_all(sweep);
  carom_case c = carom_cases_get(cases, 1);
  CHECK(c.class_index == sweep->class_count - 1);
  CHECK_CONTAINS(c.reason, "radius");
  CHECK(isnan(value(sweep, cases, 1, "z")) && value(sweep, cases, 1, "size") == -0.1);
  CHECK(cases->classes[0] == sweep->class_count - 2 && cases->classes[2] == sweep->class_count - 2);
  int64_t counts[2];
  CHECK(carom_cases_count(cases, sweep, counts) == 3 && counts[0] == 2 && counts[1] == 1);
  carom_cases_destroy(cases);
  carom_sweep_destroy(sweep);
}

// ---- tables ---------------------------------------------------------------------------------------------------------

TEST(tables_are_read_as_they_were_written) {
  carom_sweep *sweep = read_problem(HEAD AXIS "outcomes: {z: ball.z, never: first(t > 9)}\nset: duration=0.01\n");
  REQUIRE(sweep);
  carom_cases *cases = run_all(sweep), *again = NULL;
  carom_error error = {0};
  char path[250];
  carom_case bad = carom_cases_get(cases, 2);
  carom_case_fail(sweep, "because, \"so\"", &bad);
  CHECK(carom_cases_put(cases, &bad, &error) == CAROM_OK);
  snprintf(path, sizeof path, "%s/table.h5", folder);
  REQUIRE(carom_cases_write(cases, sweep, path, &error) == CAROM_OK);
  REQUIRE(carom_cases_read(sweep, path, NULL, &again, &error) == CAROM_OK);
  CHECK(again->count == 5 && memcmp(again->classes, cases->classes, 5 * sizeof(int)) == 0);
  CHECK(memcmp(again->values, cases->values, sizeof(double) * 5 * (size_t)cases->column_count) == 0);
  CHECK_TEXT(again->reasons[2], "because, \"so\"");
  sweep->digest++;
  carom_cases *other = NULL;
  CHECK(carom_cases_read(sweep, path, NULL, &other, &error) == CAROM_ERR_ARGUMENT && !other);
  CHECK(carom_cases_read(sweep, scene_path, NULL, &other, &error) != CAROM_OK && !other);
  snprintf(path, sizeof path, "%s/table.csv", folder);
  CHECK(carom_cases_write_csv(cases, sweep, path, &error) == CAROM_OK);
  char line[600];
  FILE *in = fopen(path, "r");
  REQUIRE(in && fgets(line, sizeof line, in));
  CHECK_TEXT(line, "case,up (m/s),class,z,never,time (s),steps,collisions,energy_error,passed,reason\r\n");
  for (int i = 0; i < 3; i++) REQUIRE(fgets(line, sizeof line, in));
  CHECK_TEXT(line, "2,2,failed,,,,,,,,\"because, \"\"so\"\"\"\r\n");
  fclose(in);
  carom_cases_destroy(again);
  carom_cases_destroy(cases);
  carom_sweep_destroy(sweep);
}

TEST(curves_and_slopes) {
  carom_sweep *sweep = read_problem(HEAD
                                    "axes:\n"
                                    "  - {name: up, from: 1 m/s, to: 3 m/s, count: 5, set: bodies.ball.velocity.2}\n"
                                    "  - {name: along, from: 0 m/s, to: 4 m/s, count: 3, set: bodies.ball.velocity.0}\n"
                                    "outcomes: {range: ball.x, top: ball.z}\n"
                                    "classes: {success: ball.z > -3.2}\n"
                                    "set: duration=1\n");
  REQUIRE(sweep);
  carom_cases *cases = run_all(sweep);
  carom_curve_point p[5];
  REQUIRE(carom_curve_size(sweep, 0) == 5 && carom_cases_curve(cases, sweep, 0, 0, 2, p) == CAROM_OK);
  for (int i = 0; i < 5; i++) {
    CHECK_NEAR(p[i].at, 1 + 0.5 * i, 1e-12);
    CHECK(p[i].trials == 3 && p[i].hits == (i >= 2 ? 3 : 0));
    CHECK_NEAR(p[i].median, 2, 1e-9);  // ranges 0, 2, 4
    CHECK_NEAR(p[i].low, 0.4, 1e-9);
    CHECK_NEAR(p[i].high, 3.6, 1e-9);
  }
  carom_cases_destroy(cases);
  REQUIRE(carom_sweep_redesign(sweep, CAROM_DESIGN_STAR, 0, NULL) == CAROM_OK);
  cases = run_all(sweep);
  double slopes[2];
  carom_cases_slopes(cases, sweep, 2, slopes);
  CHECK_NEAR(slopes[0], 0, 1e-9);
  CHECK_NEAR(slopes[1], 1, 1e-9);  // range = speed times 1 s
  carom_cases_slopes(cases, sweep, 3, slopes);
  CHECK_NEAR(slopes[0], 1, 1e-9);
  carom_cases_destroy(cases);
  carom_sweep_destroy(sweep);
}

// ---- borders --------------------------------------------------------------------------------------------------------

TEST(bisection_finds_both_borders) {
  carom_sweep *sweep = read_problem(HEAD
                                    "axes:\n"
                                    "  - {name: up, from: 1 m/s, to: 3 m/s, count: 6, set: bodies.ball.velocity.2}\n"
                                    "  - {name: along, values: [0, 1], set: bodies.ball.velocity.0}\n"
                                    "outcomes: {top: most(ball.z)}\n"
                                    "classes: {success: ball.z > -3.3 - along/5 and ball.z < -2.7}\n");
  REQUIRE(sweep);
  carom_border *border = NULL;
  carom_error error = {0};
  REQUIRE(carom_border_create(sweep, 0, 1e-4, NULL, &border, &error) == CAROM_OK);
  int64_t run = 0;
  for (int64_t count; (count = carom_border_next(border)) > 0;)
    for (int64_t i = 0; i < count; i++, run++) {
      carom_case c = carom_cases_get(carom_border_cases(border), carom_border_first(border) + i);
      CHECK(c.number == run);  // in order, without gaps
      CHECK(carom_sweep_run(sweep, NULL, &c, &error) == CAROM_OK);
      CHECK(carom_cases_put(carom_border_cases(border), &c, &error) == CAROM_OK);
    }
  REQUIRE(carom_border_count(border) == 4);
  const double where[] = {1.7, 2.3, 1.5, 2.3};
  for (int k = 0; k < 4; k++) {
    const carom_border_crossing *x = carom_border_at(border, k);
    CHECK(x->line == k / 2 && x->enters == (k % 2 == 0));
    CHECK(x->low <= where[k] + 1e-9 && where[k] - 1e-9 <= x->high && x->high - x->low <= 2e-4 + 1e-12);
  }
  carom_border_destroy(border);
  CHECK(carom_border_create(sweep, 1, 1e-4, NULL, &border, &error) == CAROM_ERR_ARGUMENT && !border);
  carom_sweep_destroy(sweep);
}

TEST(a_case_is_recorded_when_asked_to) {
  carom_sweep *sweep = read_problem(HEAD AXIS "outcomes: {z: ball.z}\nuntil: t >= 0.1\n");
  REQUIRE(sweep);
  double values[16];
  char path[250];
  carom_case c = {.number = 3, .values = values};
  carom_case_options options = {.result = path, .record = {.command = "test"}};
  carom_error error = {0};
  carom_result *result = NULL;
  snprintf(path, sizeof path, "%s/case.h5", folder);
  carom_sampling_inputs(&sweep->sampling, 3, values);
  REQUIRE(carom_sweep_run(sweep, &options, &c, &error) == CAROM_OK);
  REQUIRE(carom_result_open(path, NULL, &result, &error) == CAROM_OK);
  CHECK(result->complete && result->verdict.pass);
  CHECK_NEAR(result->times[result->frame_count - 1], 0.1, 1.5e-3);
  carom_result_close(result);
  CHECK(carom_sweep_run(sweep, &options, &c, &error) == CAROM_ERR_IO);  // is there already
  carom_sweep_destroy(sweep);
}

// ---- mistakes -------------------------------------------------------------------------------------------------------

static void check_mistake(const char *text, int line, const char *message, int at) {
  carom_sweep *sweep = NULL;
  carom_diagnostics found = {0};
  write_problem(text);
  carom_status status = carom_sweep_read(problem_path, NULL, NULL, &sweep, &found);
  bool told = false;
  for (int i = 0; i < found.count; i++)
    told = told || ((line == 0 || found.items[i].line == line) &&
                    (strstr(found.items[i].message, message) || strstr(found.items[i].hint, message)));
  if (status != CAROM_ERR_SCENE || sweep || !told || found.error_count != 1) {
    test_fail(__FILE__, at, "expected \"%s\" at line %d, got %d findings:", message, line, found.count);
    for (int i = 0; i < found.count; i++)
      fprintf(stderr, "  %d:%d: %s (%s)\n", found.items[i].line, found.items[i].column, found.items[i].message,
              found.items[i].hint);
  }
  carom_diagnostics_release(&found);
  carom_sweep_destroy(sweep);
}
#define CHECK_MISTAKE(text, line, message) check_mistake(text, line, message, __LINE__)
#define OUT "outcomes: {z: ball.z}\n"
#define AXIS_OF(rest) "axes: [{name: up, set: bodies.ball.velocity.2, " rest "}]\n"

TEST(mistakes_have_their_place) {
  CHECK_MISTAKE("scene: scene.yaml\n" AXIS OUT, 1, "missing key 'carom-sweep'");
  CHECK_MISTAKE("carom-sweep: 2\nscene: scene.yaml\n" AXIS OUT, 1, "version 1");
  CHECK_MISTAKE("carom-sweep: 1\n" AXIS OUT, 1, "scene");
  CHECK_MISTAKE("carom-sweep: 1\nscene: nowhere.yaml\n" AXIS OUT, 0, "cannot");
  CHECK_MISTAKE(HEAD AXIS OUT "desgin: grid\n", 6, "did you mean 'design'?");
  CHECK_MISTAKE(HEAD OUT, 1, "missing key 'axes'");
  CHECK_MISTAKE(HEAD "axes: []\n" OUT, 3, "1 to 16 axes");
  CHECK_MISTAKE(HEAD AXIS_OF("from: 1, to: 1, count: 3") OUT, 3, "'from' and 'to' are the same");
  CHECK_MISTAKE(HEAD AXIS_OF("from: 2, to: 1, count: 3") OUT, 3, "'to' must be greater than 'from'");
  CHECK_MISTAKE(HEAD AXIS_OF("from: 1, to: 2, count: 0") OUT, 3, "count");
  CHECK_MISTAKE(HEAD AXIS_OF("from: 1, to: 2") OUT, 3, "an axis of a grid needs 'count'");
  CHECK_MISTAKE(HEAD AXIS_OF("from: 1 m, to: 2 s, count: 3") OUT, 3, "must be alike");
  CHECK_MISTAKE(HEAD AXIS_OF("from: 0, to: 2, count: 3, scale: log") OUT, 3, "begin above 0");
  CHECK_MISTAKE(HEAD AXIS_OF("from: 0, to: 2, count: 3, scale: cubic") OUT, 3, "scale");
  CHECK_MISTAKE(HEAD AXIS_OF("values: []") OUT, 3, "at least one number");
  CHECK_MISTAKE(HEAD AXIS_OF("values: [1], count: 2") OUT, 3, "not by both");
  CHECK_MISTAKE(HEAD AXIS_OF("from: 1, to: 2, cuont: 2, count: 3") OUT, 3, "did you mean 'count'?");
  CHECK_MISTAKE(HEAD AXIS OUT "count: 4\n", 6, "a grid has no 'count'");
  CHECK_MISTAKE(HEAD AXIS OUT "design: random\n", 1, "count");
  CHECK_MISTAKE(HEAD AXIS OUT "design: random\ncount: 0\n", 7, "count");
  CHECK_MISTAKE(HEAD AXIS OUT "design: rnadom\ncount: 3\n", 6, "did you mean 'random'?");
  CHECK_MISTAKE(HEAD "axes: [{name: t, from: 1, to: 2, count: 3, set: bodies.ball.velocity.2}]\n" OUT, 3,
                "meaning of its own");
  CHECK_MISTAKE(HEAD "axes: [{name: up, from: 1, to: 2, count: 3}]\n" OUT, 3, "set");
}

TEST(mistakes_in_settings_and_formulas_have_their_place) {
  CHECK_MISTAKE(HEAD "axes: [{name: up, from: 1, to: 2, count: 3, set: bodies.bal.velocity.2}]\n" OUT, 3,
                "did you mean 'ball'?");
  CHECK_MISTAKE(HEAD "axes: [{name: up, from: 1, to: 2, count: 3, set: bodies.ball.velocty}]\n" OUT, 3,
                "did you mean 'velocity'?");
  CHECK_MISTAKE(HEAD "axes: [{name: up, from: 1, to: 2, count: 3, set: \"duration={upp}\"}]\n" OUT, 3,
                "did you mean 'up'?");
  CHECK_MISTAKE(HEAD "axes: [{name: up, from: 1, to: 2, count: 3, set: \"duration={up\"}]\n" OUT, 3, "'}' is missing");
  CHECK_MISTAKE(HEAD AXIS OUT "set: duration\n", 6, "path.to.key=value");
  CHECK_MISTAKE(HEAD AXIS "outcomes:\n  z: ball.z\n  y: bal.z + 1\n", 7, "did you mean 'ball.z'?");
  CHECK_MISTAKE(HEAD AXIS "outcomes:\n  z: ball.z +\n", 6, "ends where a number is expected");
  CHECK_MISTAKE(HEAD AXIS "outcomes: {z: mots(ball.z)}\n", 5, "did you mean 'most'?");
  CHECK_MISTAKE(HEAD AXIS "outcomes: {up: ball.z}\n", 5, "name of an axis already");
  CHECK_MISTAKE(HEAD AXIS "outcomes: {if: ball.z}\n", 5, "meaning of its own");
  CHECK_MISTAKE(HEAD AXIS "outcomes: [1]\n", 5, "mapping from names to formulas");
  CHECK_MISTAKE(HEAD AXIS "classes: {failed: ball.z}\n", 5, "always");
  CHECK_MISTAKE(HEAD AXIS, 1, "needs 'outcomes' or 'classes'");
  CHECK_MISTAKE(HEAD AXIS OUT "until: ball.q > 1\n", 6, "unknown name 'ball.q'");
  CHECK_MISTAKE("carom-sweep: 1\nscene: plan.yaml\n" AXIS OUT, 0, "cannot");
  char plan[250];
  snprintf(plan, sizeof plan, "%s/plan.yaml", folder);
  write_text(plan, "carom-plan: 1\nscene: scene.yaml\n");
  CHECK_MISTAKE("carom-sweep: 1\nscene: plan.yaml\n" AXIS OUT, 2, "is a planning problem");
}

// Whatever request of memory is refused, reading ends with a status, and nothing stays behind.
TEST(reading_without_memory) {
  write_problem(HEAD AXIS OUT "classes: {success: ever(ball.z > 1)}\nset: duration=0.01\n");
  bool done = false;
  for (int allowed = 0; !done && allowed < 20000; allowed += allowed < 400 ? 1 : 37) {
    failing_allocator failing = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&failing);
    carom_sweep *sweep = NULL;
    carom_diagnostics found = {0};
    carom_status status = carom_sweep_read(problem_path, NULL, &a, &sweep, &found);
    done = status == CAROM_OK;
    CHECK(done || (status == CAROM_ERR_MEMORY && !sweep));
    carom_sweep_destroy(sweep);
    carom_diagnostics_release(&found);
    CHECK(failing.live == 0);
  }
  CHECK(done);
}
