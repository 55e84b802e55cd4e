// Plans through the public headers: the examples' problem files against published figures, and problems that have no
// answer.
#include "carom/carom.h"
#include "plans.h"
#include "test.h"

static bool solve(carom_plan_file *file, carom_plan_report *report) {
  carom_error error = {0};
  if (file && carom_plan_solve(file->plan, &file->options, report, &error) == CAROM_OK) return true;
  test_fail(__FILE__, __LINE__, "%s", error.message);
  return false;
}

static double contact_time(const carom_plan *plan, int contact) {
  return carom_plan_time(plan, carom_plan_contact_node(plan, contact));
}

// Published (Leyendecker, Johnson and Ortiz 2012, table 1): contact at 0.2180, 0.2172, 0.2165 s for nodes 4, 9 and 14.
TEST(wall_contact_does_not_depend_on_its_node) {
  static const char *const nodes[] = {"contacts.0.node=4", "contacts.0.node=9", "contacts.0.node=14"};
  double time[3], cost[3];
  for (int i = 0; i < 3; i++) {
    carom_plan_file *file = read_example("plan-wall", &nodes[i], 1);
    carom_plan_report report;
    REQUIRE(file && solve(file, &report));
    check_plan(file->plan, &report);
    time[i] = contact_time(file->plan, 0), cost[i] = report.cost;
    for (int s = 0; s < 2; s++) CHECK(carom_plan_scale(file->plan, s) > 0.25 && carom_plan_scale(file->plan, s) < 4);
    carom_plan_file_destroy(file);
  }
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(time[i], 0.2172, 0.003);
    CHECK_NEAR(time[i], time[0], 0.003);
    CHECK_NEAR(cost[i] / cost[0], 1, 0.03);
    CHECK_NEAR(cost[i], 1.02e-6, 0.03e-6);
  }
}

// The reflection keeps the kinetic energy, and the wall takes momentum along its normal only.
TEST(wall_reflection_keeps_energy) {
  carom_plan_file *file = read_example("plan-wall", NULL, 0);
  carom_plan_report report;
  REQUIRE(file && solve(file, &report));
  int node = carom_plan_contact_node(file->plan, 0);
  carom_state *before, *after;
  REQUIRE(carom_state_clone(file->scene->state, NULL, &before, NULL) == CAROM_OK);
  REQUIRE(carom_state_clone(file->scene->state, NULL, &after, NULL) == CAROM_OK);
  carom_plan_state(file->plan, node, false, before);
  carom_plan_state(file->plan, node, true, after);
  double energy = carom_kinetic_energy(file->scene->model, before);
  CHECK_NEAR(carom_kinetic_energy(file->scene->model, after) / energy, 1, 1e-9);
  carom_vec3 push = cm_sub(after->p[0], before->p[0]);
  CHECK(push.y > 0.01);
  CHECK_AT_MOST(fabs(push.x) + fabs(push.z), 1e-9 * push.y);
  carom_state_destroy(before);
  carom_state_destroy(after);
  carom_plan_file_destroy(file);
}

TEST(search_finds_the_single_contact) {
  static const char *const search[] = {"contacts={at_most: 1}"};
  carom_plan_file *file = read_example("plan-wall", search, 1);
  carom_plan_report report;
  carom_error error = {0};
  REQUIRE(file && file->most_contacts == 1);
  REQUIRE(carom_plan_search_contacts(file->plan, 1, &file->options, &report, &error) == CAROM_OK);
  check_plan(file->plan, &report);
  CHECK(carom_plan_scale_count(file->plan) == 2);
  CHECK_NEAR(contact_time(file->plan, 0), 0.2172, 0.003);
  carom_plan_file_destroy(file);
}

// Published: contacts at 0.1975 s and 0.3900 s.
TEST(two_cubes_collide_twice) {
  carom_plan_file *file = read_example("plan-two-cubes", NULL, 0);
  carom_plan_report report;
  REQUIRE(file && solve(file, &report));
  check_plan(file->plan, &report);
  CHECK_NEAR(contact_time(file->plan, 0), 0.1975, 0.002);
  CHECK_NEAR(contact_time(file->plan, 1), 0.3900, 0.004);
  carom_plan_file_destroy(file);
}

// Johnson (2012, 4.4.3): two blows at the wall and a landing. His throw is not published, so neither can his sigma be
// compared: they must be inside their bounds, which would otherwise have decided the contact times.
TEST(die_lands_with_its_face_up) {
  carom_plan_file *file = read_example("plan-dice", NULL, 0);
  carom_plan_report report;
  REQUIRE(file && solve(file, &report));
  check_plan(file->plan, &report);
  carom_state *last;
  REQUIRE(carom_state_clone(file->scene->state, NULL, &last, NULL) == CAROM_OK);
  carom_plan_state(file->plan, carom_plan_node_count(file->plan) - 1, false, last);
  CHECK(cm_rotate(carom_state_pose(file->scene->model, last, 0).q, cm_vec3(0, 0, 1)).z > 0.98);
  REQUIRE(carom_plan_scale_count(file->plan) == 4);
  for (int i = 0; i < 4; i++) CHECK(carom_plan_scale(file->plan, i) > 0.51 && carom_plan_scale(file->plan, i) < 1.99);
  CHECK_AT_MOST(report.cost, 4e-4);  // 3.6e-4, of 0.13 for the guess
  carom_state_destroy(last);
  carom_plan_file_destroy(file);
}

// A joint that is let go; the optimum is known in closed form (examples/plan-throw/README.md). Off by the square of the
// step.
TEST(an_arm_throws_a_ball) {
  carom_plan_file *file = read_example("plan-throw", NULL, 0);
  carom_plan_report report;
  REQUIRE(file && solve(file, &report));
  check_plan(file->plan, &report);
  CHECK_NEAR(report.cost, 0.31341, 1e-3);
  CHECK_NEAR(carom_plan_time(file->plan, carom_plan_event_node(file->plan, 0)), 1 - sqrt(2 * 1.17 / 9.81), 1e-8);
  carom_plan_file_destroy(file);
}

// The whole problems take up to minutes and are in bench/plan.c; these are their coarse or partial siblings.
TEST(satellites_change_their_docking_pairs_long) {
  static const char *const coarse[] = {"horizon={intervals: 16, duration: 0.3 s}", "solver.tolerance=1e-6"};
  carom_plan_file *file = read_example("plan-satellites", coarse, 2);
  carom_plan_report report;
  REQUIRE(file && solve(file, &report));
  check_plan(file->plan, &report);
  check_satellites_effort(&report);
  carom_plan_file_destroy(file);
}

// Two of the three pieces: the red one floats and is not watched.
TEST(two_pieces_of_the_burr_are_put_together_long) {
  static const char *const two[] = {"actuators=[{body: blue}, {body: green}]",
                                    ("conditions=[{body: green, relative_to: blue, position: [0, 0, 0], rotation: "
                                     "{axis: [0, 0, 1], angle: 0 deg}, at_rest_with: blue}]"),
                                    "avoid.pairs=[[blue, green]]", "horizon={intervals: 20, duration: 0.29 s}",
                                    "solver.tolerance=1e-6"};
  carom_plan_file *file = read_example("plan-burr", two, 5);
  carom_plan_report report;
  REQUIRE(file && solve(file, &report));
  check_plan(file->plan, &report);
  CHECK(report.cost < report.guess_cost / 200);  // 1348 is published for all three
  carom_plan_file_destroy(file);
}

// ---- what cannot be ------------------------------------------------------------------------------------------------

TEST(bounds_too_tight_are_named) {
  static const char *const tight[] = {"actuators.0.force_bound=1e-6", "actuators.0.torque_bound=1e-6",
                                      "solver.max_iterations=150"};
  carom_plan_file *file = read_example("plan-wall", tight, 3);
  carom_plan_report report;
  REQUIRE(file && solve(file, &report));
  CHECK(report.outcome == CAROM_PLAN_INFEASIBLE || report.outcome == CAROM_PLAN_LIMIT);
  CHECK(report.violation > 1e-6);
  CHECK_CONTAINS(report.message, "node");
  CHECK_CONTAINS(report.message, "cube");
  CHECK(carom_plan_node_count(file->plan) == 31);  // the best iterate is there to look at
  carom_plan_file_destroy(file);
}

TEST(a_target_inside_an_obstacle_is_named) {
  static const char *const inside[] = {"contacts=[]", "conditions.0.position=[0, 0.02, 0]", "guess.kind=path"};
  carom_plan_file *file = read_example("plan-wall", inside, 3);
  carom_plan_report report;
  REQUIRE(file && solve(file, &report));
  CHECK(report.outcome == CAROM_PLAN_INFEASIBLE);
  CHECK_CONTAINS(report.message, "'cube' and 'wall' overlap by 0.03 m at node 30");
  carom_plan_file_destroy(file);
}

static bool stop_soon(void *context, const carom_plan_iterate *it) {
  *(int *)context = it->iteration;
  return it->iteration < 3;
}

TEST(a_stop_keeps_the_iterate) {
  carom_plan_file *file = read_example("plan-wall", NULL, 0);
  carom_plan_report report;
  int seen = -1;
  REQUIRE(file);
  file->options.context = &seen, file->options.progress = stop_soon;
  REQUIRE(solve(file, &report));
  CHECK(report.outcome == CAROM_PLAN_STOPPED);
  CHECK(seen == 3);
  CHECK(carom_plan_node_count(file->plan) == 31);
  carom_plan_file_destroy(file);
}

// ---- files ---------------------------------------------------------------------------------------------------------

TEST(mistakes_in_a_problem_are_told_with_their_place) {
  static const char *const wrong[] = {"conditions.0.body=cubb", "horizon.stepp=0.1", "actuators.0.force_bound=-1 N"};
  carom_scene_options options = carom_scene_default_options();
  options.overrides = wrong, options.override_count = 3;
  carom_diagnostics found = {0};
  carom_plan_file *file = NULL;
  CHECK(carom_plan_read(CAROM_EXAMPLES "/plan-wall/problem.yaml", &options, NULL, &file, &found) == CAROM_ERR_SCENE);
  CHECK(file == NULL);
  CHECK(found.error_count == 3);
  bool body = false, key = false, bound = false;
  for (int i = 0; i < found.count; i++) {
    body = body || (strstr(found.items[i].message, "no body 'cubb'") && strstr(found.items[i].hint, "cube"));
    key = key || (strstr(found.items[i].message, "unknown key 'stepp'") && strstr(found.items[i].hint, "step"));
    bound = bound || strstr(found.items[i].message, "force_bound");
  }
  CHECK(body && key && bound);
  carom_diagnostics_release(&found);
}

TEST(a_zero_horizon_is_refused) {
  carom_plan_file *file = read_example("plan-wall", NULL, 0);
  carom_plan_def def = carom_plan_default();
  carom_plan *plan = NULL;
  carom_error error = {0};
  REQUIRE(file);
  def.step = 0;
  CHECK(carom_plan_create(file->scene->model, file->scene->state, &def, NULL, &plan, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "horizon");
  carom_plan_file_destroy(file);
}

// Well written, but no such motion: told apart from mistakes, whichever way the zero comes about.
TEST(a_zero_horizon_in_a_file_has_a_status_of_its_own) {
  static const char *const zero[] = {"horizon.step=0", "horizon={intervals: 30, duration: 0 s}", "horizon.intervals=0"};
  carom_scene_options options = carom_scene_default_options();
  options.override_count = 1;
  for (int i = 0; i < 3; i++) {
    carom_diagnostics found = {0};
    carom_plan_file *file = NULL;
    options.overrides = &zero[i];
    CHECK(carom_plan_read(CAROM_EXAMPLES "/plan-wall/problem.yaml", &options, NULL, &file, &found) == CAROM_ERR_NUMBER);
    CHECK(file == NULL && found.error_count == 1);
    CHECK_CONTAINS(found.items[0].message, "the horizon is 0 s");
    carom_diagnostics_release(&found);
  }
}

static void write_text(const char *path, const char *text) {
  FILE *out = fopen(path, "w");
  REQUIRE(out != NULL);
  fputs(text, out);
  fclose(out);
}

// A pendulum on a fixed body, its hinge described in the scene alone: the motor turns it, the hinge holds.
TEST(joints_of_the_scene_hold_in_the_plan) {
  if (!carom_plan_available()) test_skip("built without Ipopt");
  write_text("api_control_hinge_scene.yaml",
             "carom: 1\nbodies:\n"
             "  - {name: base, fixed: true, shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0, 0, 1]}\n"
             "  - {name: arm, density: 100, shape: {box: {size: [0.1, 0.1, 0.4]}}, position: [0, 0, 0.7]}\n"
             "joints:\n  - {name: hinge, kind: revolute, between: [base, arm], points: [[0, 0, -0.1], [0, 0, 0.2]], "
             "axes: [[0, 1, 0], [0, 1, 0]]}\nintegrator: {step: 0.02 s}\nduration: 0.4 s\n");
  write_text("api_control_hinge.yaml",
             "carom-plan: 1\nscene: api_control_hinge_scene.yaml\nhorizon: {intervals: 20, step: 0.02 s}\n"
             "actuators: [{joint: hinge}]\nconditions:\n  - {body: arm, axis: [1, 0, 0], direction: [0, 0, 1], "
             "at_least: 0.5}\ncosts: [{effort: 1}]\n");
  carom_diagnostics found = {0};
  carom_plan_file *file = NULL;
  if (carom_plan_read("api_control_hinge.yaml", NULL, NULL, &file, &found) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", found.count ? found.items[0].message : "memory");
  carom_diagnostics_release(&found);
  carom_plan_report report;
  REQUIRE(file && solve(file, &report));
  check_plan(file->plan, &report);
  carom_state *s;
  REQUIRE(carom_state_clone(file->scene->state, NULL, &s, NULL) == CAROM_OK);
  for (int k = 0; k < carom_plan_node_count(file->plan); k++) {
    carom_plan_state(file->plan, k, true, s);
    carom_pose arm = carom_state_pose(file->scene->model, s, 1);
    carom_vec3 pin = cm_transform(arm, cm_vec3(0, 0, 0.2));
    CHECK_NEAR(cm_norm(cm_sub(pin, cm_vec3(0, 0, 0.9))), 0, 1e-9);
    CHECK_NEAR(cm_rotate(arm.q, cm_vec3(0, 1, 0)).y, 1, 1e-9);
  }
  carom_state_destroy(s);
  carom_plan_file_destroy(file);
  remove("api_control_hinge.yaml");
  remove("api_control_hinge_scene.yaml");
}

TEST(a_plan_becomes_a_result_file) {
  carom_plan_file *file = read_example("plan-wall", NULL, 0);
  carom_plan_report report;
  REQUIRE(file && solve(file, &report));
  carom_verdict verdict = carom_plan_judge(&report, NULL);
  carom_recorder_options options = {.overwrite = true, .command = "test"};
  carom_error error = {0};
  const char *path = "api_control_result.h5";
  REQUIRE(carom_plan_record(file, &report, &verdict, path, &options, &error) == CAROM_OK);
  carom_result *result;
  REQUIRE(carom_result_open(path, NULL, &result, &error) == CAROM_OK);
  CHECK(result->frame_count == 31);
  CHECK_NEAR(result->times[30], 0.75, 1e-9);
  CHECK(result->complete);
  carom_frame frame;
  REQUIRE(carom_frame_init(result, &frame, &error) == CAROM_OK);
  REQUIRE(carom_result_read_frame(result, 30, &frame, &error) == CAROM_OK);
  CHECK_NEAR(frame.poses[0].p.y, 0.22, 1e-6);
  CHECK_NEAR(frame.velocities[0].y, 0.25, 1e-6);
  carom_frame_release(&frame);
  carom_result_close(result);
  CHECK(carom_plan_export_forces(file->plan, "api_control_forces.csv", &error) == CAROM_OK);
  remove(path);
  remove("api_control_forces.csv");
  carom_plan_file_destroy(file);
}

TEST(arm_forms_a_hook_pairs_long) {
  static const char *const loose[] = {"solver.tolerance=1e-6"};
  carom_plan_file *file = read_example("plan-manipulator", loose, 1);
  carom_plan_report report;
  REQUIRE(file && solve(file, &report));
  check_plan(file->plan, &report);
  CHECK(report.cost < report.guess_cost / 705);
  carom_plan_file_destroy(file);
}
