// First guesses that given forces drive: against formulas, and where they lead the solver.
#include "blows.h"

// ---- the guess itself ----------------------------------------------------------------------------------------------

// A cube falls under gravity while a thrust grows, a(t) = -g + (F0 + (F1 - F0) t/T)/m, strikes the floor with a corner
// (at the height c of its centre), and goes on with half the speed. Contact time by Newton's method on the cubic.
static double fall_time(double height, double a0, double rate) {
  double t = sqrt(2 * height / -a0);
  for (int i = 0; i < 50; i++) t -= (height + 0.5 * a0 * t * t + rate * t * t * t / 6) / (a0 * t + 0.5 * rate * t * t);
  return t;
}

static carom_plan_file *read_fall(void) {
  return read_texts(
      "test_given_fall",
      "carom: 1\nforces: {gravity: 9.81}\nbodies:\n"
      "  - {name: cube, density: 500, shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0, 0, 0.6], "
      "rotation: {axis: [1, -1, 0], angle: 0.9553166181245092 rad}}\n"
      "  - {name: floor, fixed: true, shape: halfspace}\n"
      "integrator: {step: 0.02 s}\nduration: 1 s\n",
      "carom-plan: 1\nscene: test_given_fall_scene.yaml\nhorizon: {intervals: 30, duration: 0.6 s}\n"
      "actuators:\n  - {body: cube, name: spare, force: false}\n  - {body: cube, name: jet, torque: false}\n"
      "costs: [{effort: 1}]\ncontacts: [{node: 15, bodies: [cube, floor], restitution: 0.5}]\n"
      "conditions: [{body: cube, position: [0.1, 0, 0.5]}]\n"
      "guess: {kind: forward, forces: [{actuator: jet, through: [{time: 0 s, force: [0, 0, 1.5]}, "
      "{time: 0.6 s, force: [0, 0, 0.3]}]}]}\n");
}

TEST(a_cube_falls_as_given_forces_say) {
  carom_plan_file *file = read_fall();
  REQUIRE(file != NULL);
  carom_plan *plan = file->plan;
  carom_guess_kind kind = CAROM_GUESS_FORWARD;
  REQUIRE(carom_guess_make(plan, &kind, 1, NULL) == CAROM_OK);
  double m = 0.5, corner = 0.05 * sqrt(3), a0 = -9.81 + 1.5 / m, rate = (0.3 - 1.5) / m / 0.6;
  double t = fall_time(0.6 - corner, a0, rate), v = a0 * t + 0.5 * rate * t * t;
  CHECK_NEAR(carom_plan_time(plan, 15), t, 1e-4);
  CHECK_NEAR(position(plan, 15, 0).z, corner, 2e-3);  // steps are longer here than where the time was searched
  CHECK_NEAR((position(plan, 16, 0).z - position(plan, 15, 0).z) / carom_plan_step(plan, 15), -0.5 * v, 0.15);
  for (int k = 0; k < 30; k++) {
    double tau[3], middle = 0.5 * (carom_plan_time(plan, k) + carom_plan_time(plan, k + 1));
    carom_plan_forces(plan, k, 1, tau);
    CHECK_NEAR(tau[2], 1.5 - 2 * middle, 1e-12);
    CHECK(tau[0] == 0 && tau[1] == 0);
    carom_plan_forces(plan, k, 0, tau);
    CHECK(tau[0] == 0 && tau[1] == 0 && tau[2] == 0);
  }
  carom_plan_report report;
  REQUIRE(solve(plan, &file->options, &report));
  check_plan(plan, &report);
  CHECK(report.guess == CAROM_GUESS_FORWARD);
  carom_plan_file_destroy(file);
}

// Samples of any spacing: straight in between, constant outside.
TEST(given_forces_are_straight_between_their_times) {
  carom_plan_file *file = read_fall();
  REQUIRE(file != NULL);
  double times[3] = {0.1, 0.15, 0.4}, values[9] = {1, 2, 3, -1, 0, 5, 4, 4, 4}, tau[6];
  CHECK(carom_plan_set_guess_forces(file->plan, 1, 3, times, values) == 1);
  carom_guess_given(file->plan, 0, tau);
  CHECK(tau[0] == 0 && tau[3] == 1 && tau[4] == 2 && tau[5] == 3);
  carom_guess_given(file->plan, 0.125, tau);
  CHECK_NEAR(tau[3], 0, 1e-12);
  CHECK_NEAR(tau[5], 4, 1e-12);
  carom_guess_given(file->plan, 0.3, tau);
  CHECK_NEAR(tau[3], -1 + 5 * 0.6, 1e-12);
  carom_guess_given(file->plan, 7, tau);
  CHECK(tau[3] == 4 && tau[5] == 4);
  carom_error error = {0};
  CHECK(carom_plan_set_guess_forces(file->plan, 1, 2, (double[]){0.2, 0.2}, values) == -1);
  CHECK(carom_plan_check(file->plan, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "'jet'");
  carom_plan_file_destroy(file);
}

// ---- where it leads ------------------------------------------------------------------------------------------------

// A rod hangs on a hinge whose torque is a third of what would hold it level. Straight up there is no plan; forces that
// rock it find one.
static carom_plan_report swing_up(const char *guess) {
  char problem[1000];
  snprintf(problem, sizeof problem,
           "carom-plan: 1\nscene: test_given_rod_scene.yaml\nhorizon: {intervals: 60, duration: 2.7 s}\n"
           "actuators: [{joint: pivot, name: motor, torque_bound: 1.3}]\ncosts: [{effort: 1}]\n"
           "conditions: [{body: rod, rotation: {axis: [0, 1, 0], angle: 180 deg}, rest: true}]\n"
           "guess: {%s}\nsolver: {max_iterations: 400}\n",
           guess);
  carom_plan_file *file = read_texts(
      "test_given_rod",
      "carom: 1\nforces: {gravity: 9.81}\nbodies:\n"
      "  - {name: rod, density: 1000, shape: {box: {size: [0.03, 0.04, 0.8]}}, position: [0, 0, -0.4]}\n"
      "  - {name: post, fixed: true, shape: {box: {size: [0.02, 0.02, 0.02]}}, position: [0, 0.2, 0]}\n"
      "joints:\n  - {name: pivot, kind: revolute, between: [post, rod], points: [[0, -0.2, 0], [0, 0, 0.4]], "
      "axes: [[0, 1, 0], [0, 1, 0]]}\nintegrator: {step: 0.02 s}\nduration: 1 s\n",
      problem);
  carom_plan_report report = {.outcome = CAROM_PLAN_FAILED};
  if (file && solve(file->plan, &file->options, &report) && report.outcome == CAROM_PLAN_SOLVED)
    check_plan(file->plan, &report);
  carom_plan_file_destroy(file);
  return report;
}

TEST(rocking_forces_swing_a_rod_up) {
  carom_plan_report straight = swing_up("kind: path");
  carom_plan_report rocked = swing_up(
      "kind: forward, forces: [{actuator: motor, through: [{time: 0 s, torque: 1.15}, {time: 0.74 s, torque: 1.15}, "
      "{time: 0.78 s, torque: -1.15}, {time: 1.55 s, torque: -1.15}, {time: 1.59 s, torque: 1.15}, {time: 2.7 s, "
      "torque: 1.15}]}]");
  if (rocked.outcome != CAROM_PLAN_SOLVED) test_fail(__FILE__, __LINE__, "no plan: %s", rocked.message);
  CHECK(straight.outcome != CAROM_PLAN_SOLVED || straight.cost > 1.05 * rocked.cost);
}

// ---- mistakes ------------------------------------------------------------------------------------------------------

static void check_mistake(const char *contact, const char *guess, const char *message) {
  char problem[1000];
  snprintf(problem, sizeof problem,
           "carom-plan: 1\nscene: test_given_bad_scene.yaml\nhorizon: {intervals: 6, duration: 0.6 s}\n"
           "actuators:\n  - {body: cube, name: jet, torque: false}\n  - {body: cube, name: wheel, force: false}\n"
           "contacts: [{node: 3, bodies: [cube, floor]%s}]\nguess: {%s}\n",
           contact, guess);
  carom_diagnostics found = {0};
  carom_plan_file *file = NULL;
  write_text("test_given_bad_scene.yaml",
             "carom: 1\nbodies:\n  - {name: cube, shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0, 0, 0.6]}\n"
             "  - {name: floor, fixed: true, shape: halfspace}\nintegrator: {step: 0.02 s}\nduration: 1 s\n");
  write_text("test_given_bad.yaml", problem);
  CHECK(carom_plan_read("test_given_bad.yaml", NULL, NULL, &file, &found) == CAROM_ERR_SCENE);
  CHECK_CONTAINS(found.count ? found.items[0].message : "none", message);
  CHECK(found.count == 1 && found.items[0].line > 1);
  carom_diagnostics_release(&found);
  carom_plan_file_destroy(file);
  remove("test_given_bad.yaml"), remove("test_given_bad_scene.yaml");
}

TEST(mistakes_are_told_where_they_are) {
  check_mistake("", "kind: forward, forces: [{actuator: yet, through: [{time: 0, force: [0, 0, 1]}]}]",
                "there is no actuator 'yet'");
  check_mistake("", "kind: forward, forces: [{actuator: jet, through: [{time: 0, torque: [0, 0, 1]}]}]",
                "actuator 'jet' has no torque");
  check_mistake("", "kind: forward, forces: [{actuator: wheel, through: [{time: 0, force: [0, 0, 1]}]}]",
                "actuator 'wheel' has no force");
  check_mistake("", "kind: path, forces: [{actuator: jet, through: [{time: 0, force: [0, 0, 1]}]}]",
                "'forces' are for a first guess of kind forward");
  check_mistake("", "kind: forward, forces: [{actuator: jet, through: [{time: 1 s}, {time: 0.5 s}]}]",
                "the forces of actuator 'jet' in the first guess must be finite and in the order of time");
  check_mistake(", friction: 0.3, flat: true", "kind: forward",
                "a flat contact of 'cube' and 'floor' reflects without");
  check_mistake(", friction_mode: stop", "kind: forward", "friction stops nothing where mu is 0");
  check_mistake(", friction: 0.3, friction_mode: glide", "kind: forward", "glide");
  check_mistake("",
                "kind: forward}\nconditions: [{body: cube, position: [0, 0, 0], touching: true}]\nsolver: {starts: 1",
                "'touching' needs 'relative_to'");
  check_mistake(", friction: 0.3, stick: true, friction_mode: choose", "kind: forward", "has no choice about friction");
}
