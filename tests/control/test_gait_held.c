// Gaits in the loop: curves over the phase against the motion they were made of, strikes and swapped legs, torques of
// plans; and a biped that walks by them over contacts that nobody planned.
#include <unistd.h>

#include "control/gait.h"
#include "plans.h"
#include "result_fixture.h"
#include "running.h"

// ---- a motion in closed form ----------------------------------------------------------------------------------------
// Two legs on a hip that goes ahead unevenly; the second one swings by. Frames are in the hip, legs hang along -y.

static const double T = 0.8, LEG = 0.6;

static const char legs[] =
    "carom: 1\n"
    "planar: true\n"
    "contacts: ignore\n"
    "bodies:\n"
    "  - {name: ground, fixed: true, shape: {box: [9, 0.1, 1]}, position: [0, -0.65, 0]}\n"
    "  - {name: left, shape: {box: [0.1, 0.2, 0.1]}}\n"
    "  - {name: right, shape: {box: [0.1, 0.2, 0.1]}}\n"
    "joints: [{name: hip, kind: revolute, between: [left, right], at: [0, 0, 0], axis: [0, 0, 1]}]\n"
    "integrator: {name: variational, step: 1 ms}\n"
    "duration: 1 s\n";

typedef struct moment {
  double v, d;
} moment;

static moment left_angle(double t) {
  return (moment){0.3 - 0.6 * t / T + 0.04 * sin(5 * t), -0.6 / T + 0.2 * cos(5 * t)};
}
static moment right_angle(double t) { return (moment){-0.3 + 0.5 * sin(2 * t), cos(2 * t)}; }
static moment hip_place(double t) { return (moment){0.5 * t + 0.03 * sin(7 * t), 0.5 + 0.21 * cos(7 * t)}; }

static carom_pose leg_at(double t, bool right) {
  double angle = right ? right_angle(t).v : left_angle(t).v;
  return cm_pose(cm_vec3(hip_place(t).v, 0, 0), cm_quat(cos(angle / 2), 0, 0, sin(angle / 2)));
}

static carom_gait_motion *motion_of(const carom_model *model, int nodes) {
  carom_pose *poses = calloc(3 * (size_t)nodes, sizeof *poses);
  double *times = calloc((size_t)nodes, sizeof *times), *torques = calloc((size_t)nodes, sizeof *torques);
  carom_gait_motion *motion = NULL;
  carom_error error = {0};
  for (int k = 0; k < nodes; k++) {
    times[k] = 3 + T * k / (nodes - 1), torques[k] = 10 + k;
    poses[3 * k] = cm_pose_identity();
    for (int i = 1; i < 3; i++) poses[3 * k + i] = leg_at(times[k] - 3, i == 2);
  }
  carom_gait_motion_def def = {nodes, times, poses, torques};
  if (carom_gait_motion_create(&def, model, NULL, &motion, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  free(poses), free(times), free(torques);
  return motion;
}

static const int both[1][2] = {{1, 2}};

static carom_gait gait_of(const carom_gait_motion *motion, bool by_length) {
  carom_gait gait = carom_gait_default();
  gait.motion = motion, gait.swap = both, gait.swap_count = 1, gait.foot = 2, gait.ground = 0;
  gait.by_length = by_length, gait.body = 1, gait.from = 1, gait.origin = cm_vec3(0, -LEG, 0);
  return gait;
}

typedef struct following {
  carom_scene *scene;
  carom_gait_motion *motion;
  carom_loop_def *def;
  carom_loop *loop;
  carom_state *state;
} following;

static following follow(int nodes, bool by_length) {
  following f = {.scene = scene_of(legs, NULL, 0)};
  carom_error error = {0};
  f.motion = motion_of(f.scene->model, nodes);
  carom_gait gait = gait_of(f.motion, by_length);
  carom_sensor_def sensor = carom_sensor_default();
  sensor.name = "gait", sensor.kind = CAROM_SENSOR_GAIT, sensor.gait = &gait;
  CHECK(carom_loop_def_create(NULL, &f.def, &error) == CAROM_OK && carom_loop_add_sensor(f.def, &sensor) == 0);
  if (carom_loop_create(f.def, f.scene->model, 1e-3, NULL, &f.loop, &error) != CAROM_OK ||
      carom_state_clone(f.scene->state, NULL, &f.state, &error) != CAROM_OK ||
      carom_loop_begin(f.loop, f.state, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message), abort();
  return f;
}

static void end_following(following *f) {
  carom_state_destroy(f->state);
  carom_loop_destroy(f->loop);
  carom_loop_def_destroy(f->def);
  carom_gait_motion_destroy(f->motion);
  carom_scene_destroy(f->scene);
}

static double told(const following *f, const char *name) {
  int index = carom_loop_find_channel(f->loop, name);
  if (index < 0) test_fail(__FILE__, __LINE__, "there is no channel '%s'", name), abort();
  return carom_loop_values(f->loop)[index];
}

// The state of the motion at t, in a run that has come to a time, `pace` times as fast, legs swapped or not.
static void put(following *f, double t, double time, double pace, bool swapped) {
  const carom_model *m = f->scene->model;
  f->state->time = time;
  for (int i = 1; i < 3; i++) {
    bool right = (i == 2) != swapped;
    double spin = right ? right_angle(t).d : left_angle(t).d;
    carom_state_set_pose(m, f->state, i, leg_at(t, right));
    carom_state_set_velocity(m, f->state, i, cm_vec3(pace * hip_place(t).d, 0, 0), cm_vec3(0, 0, pace * spin));
  }
}

static void sense(following *f, const carom_step_report *report) {
  carom_error error = {0};
  if (carom_loop_sense(f->loop, f->state, report, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
}

// Largest errors of angle and rate at random moments.
static moment errors_of(int nodes, bool by_length) {
  following f = follow(nodes, by_length);
  moment worst = {0, 0};
  carom_random random = carom_random_make(7, 0);
  for (int i = 0; i < 300; i++) {
    double t = T * carom_random_uniform(&random), pace = by_length ? 0.5 + carom_random_uniform(&random) : 1;
    put(&f, t, t, pace, false);
    sense(&f, NULL);
    double angle = right_angle(t).v - left_angle(t).v, rate = right_angle(t).d - left_angle(t).d;
    worst.v = fmax(worst.v, fabs(told(&f, "gait.hip.angle") - angle));
    worst.d = fmax(worst.d, fabs(told(&f, "gait.hip.rate") - pace * rate));
    CHECK_NEAR(told(&f, "gait.time"), t, 1e-3);
    int interval = (int)fmin(told(&f, "gait.time") / T * (nodes - 1), nodes - 2);
    if (!by_length) CHECK_NEAR(told(&f, "gait.hip.torque"), 10 + interval, 1e-12);
  }
  end_following(&f);
  return worst;
}

// Cubics through slopes of parabolas: order 3 in the angle, 2 in the rate.
TEST(curves_are_those_of_the_motion) {
  for (int by_length = 0; by_length < 2; by_length++) {
    moment coarse = errors_of(41, by_length), fine = errors_of(161, by_length);
    CHECK_AT_MOST(coarse.v, 1e-5);
    CHECK_AT_MOST(coarse.d, 2e-3);
    CHECK_AT_MOST(fine.v, coarse.v / 30);
    CHECK_AT_MOST(fine.d, coarse.d / 10);
  }
}

// ---- strikes --------------------------------------------------------------------------------------------------------

static carom_step_report struck(carom_contact_event *event, int foot) {
  *event = (carom_contact_event){.body_a = foot, .body_b = 0, .impulse = {0, 1, 0}};
  return (carom_step_report){.step = 1e-3, .events = event, .event_count = 1};
}

static void check_strikes(bool by_length) {
  following f = follow(81, by_length);
  carom_contact_event event;
  carom_step_report of_right = struck(&event, 2);
  put(&f, 0.2, 0.2, 1, false), sense(&f, &of_right);
  CHECK_NEAR(told(&f, "gait.step"), 0, 0);  // a scuff
  put(&f, 0.75, 0.75, 1, false), sense(&f, NULL);
  CHECK_NEAR(told(&f, "gait.step"), 0, 0);
  sense(&f, &of_right);
  CHECK_NEAR(told(&f, "gait.step"), 1, 0);
  CHECK_NEAR(told(&f, "gait.began"), 0.75, 0);
  put(&f, 0.1, 0.85, 1, true), sense(&f, &of_right);  // the new stance foot goes on touching
  CHECK_NEAR(told(&f, "gait.step"), 1, 0);
  CHECK_NEAR(told(&f, "gait.time"), 0.1, 1e-5);
  CHECK_NEAR(told(&f, "gait.hip.angle"), left_angle(0.1).v - right_angle(0.1).v, 1e-5);
  CHECK_NEAR(told(&f, "gait.hip.rate"), left_angle(0.1).d - right_angle(0.1).d, 1e-3);
  CHECK_NEAR(told(&f, "gait.hip.torque"), -(10 + 10), 1.0001);
  put(&f, 0.7, 1.45, 1, true), sense(&f, &of_right);
  CHECK_NEAR(told(&f, "gait.step"), 1, 0);
  carom_step_report of_left = struck(&event, 1);
  sense(&f, &of_left);
  CHECK_NEAR(told(&f, "gait.step"), 2, 0);
  end_following(&f);
}

TEST(strikes_begin_a_step_with_swapped_legs) {
  check_strikes(false);
  check_strikes(true);
}

// A late foot is asked to go straight on, for a quarter of the period.
TEST(late_steps_go_on) {
  following f = follow(81, false);
  double slope = right_angle(T).d - left_angle(T).d, end = right_angle(T).v - left_angle(T).v;
  put(&f, T, T + 0.1, 1, false), sense(&f, NULL);
  CHECK_NEAR(told(&f, "gait.hip.angle"), end + 0.1 * slope, 1e-4);
  put(&f, T, T + 5, 1, false), sense(&f, NULL);
  CHECK_NEAR(told(&f, "gait.hip.angle"), end + 0.25 * T * slope, 1e-4);
  CHECK_NEAR(told(&f, "gait.hip.rate"), 0, 0);
  end_following(&f);
}

// ---- mistakes -------------------------------------------------------------------------------------------------------

static void check_refused(const carom_model *model, const carom_gait *gait, const char *part) {
  carom_gait_table *table = NULL;
  carom_error error = {0};
  CHECK(carom_gait_table_create(gait, model, NULL, &table, &error) != CAROM_OK && !table);
  if (!strstr(error.message, part)) test_fail(__FILE__, __LINE__, "'%s' has no '%s'", error.message, part);
}

TEST(gaits_that_make_no_sense_are_refused) {
  carom_scene *scene = scene_of(legs, NULL, 0);
  carom_gait_motion *motion = motion_of(scene->model, 41);
  carom_gait good = gait_of(motion, true), bad = good;
  bad.along = cm_vec3(-1, 0, 0);
  check_refused(scene->model, &bad, "the phase does not ascend");
  bad = good, bad.along = cm_zero3();
  check_refused(scene->model, &bad, "not zero");
  bad = good, bad.after = 1;
  check_refused(scene->model, &bad, "'after' is 1");
  bad = good, bad.foot = 9;
  check_refused(scene->model, &bad, "none of the 3");
  const int twice[2][2] = {{1, 2}, {2, 1}}, fixed[1][2] = {{0, 1}};
  bad = good, bad.swap = twice, bad.swap_count = 2;
  check_refused(scene->model, &bad, "swapped once");
  bad = good, bad.swap = fixed;
  check_refused(scene->model, &bad, "both must move");
  bad = good, bad.motion = NULL;
  check_refused(scene->model, &bad, "not one of this model");
  carom_gait_motion_destroy(motion);
  carom_scene_destroy(scene);
}

TEST(motions_that_are_none_are_refused) {
  carom_scene *scene = scene_of(legs, NULL, 0);
  carom_pose poses[6];
  double times[2] = {0, 1}, torques[1] = {NAN};
  for (int i = 0; i < 6; i++) poses[i] = cm_pose_identity();
  carom_gait_motion *motion = NULL;
  carom_gait_motion_def one = {1, times, poses, NULL}, torque = {2, times, poses, torques},
                        back = {2, times, poses, NULL};
  CHECK(carom_gait_motion_create(&one, scene->model, NULL, &motion, NULL) == CAROM_ERR_ARGUMENT);
  CHECK(carom_gait_motion_create(&torque, scene->model, NULL, &motion, NULL) == CAROM_ERR_NUMBER);
  times[1] = 0;
  CHECK(carom_gait_motion_create(&back, scene->model, NULL, &motion, NULL) == CAROM_ERR_ARGUMENT);
  times[1] = 1, poses[4].q = cm_quat(2, 0, 0, 0);
  CHECK(carom_gait_motion_create(&back, scene->model, NULL, &motion, NULL) == CAROM_ERR_NUMBER && !motion);
  carom_scene_destroy(scene);
}

// ---- a biped --------------------------------------------------------------------------------------------------------

// Scenes see files from their own folder.
static void whole_path(const char *name, char *path, size_t size) {
  char folder[512];
  if (!getcwd(folder, sizeof folder)) abort();
  snprintf(path, size, "%s/%s", folder, fixture_path(name));
}

// The planned step of gait-underactuated, kept in a file; returns its forces in interval 20.
static void plan_step(const char *path, double tau[3]) {
  carom_plan_file *file = read_example("gait-underactuated", NULL, 0);
  carom_plan_report report = {0};
  carom_error error = {0};
  if (!file) exit(1);
  if (carom_plan_solve(file->plan, &file->options, &report, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  check_plan(file->plan, &report);
  carom_verdict verdict = carom_plan_judge(&report, NULL);
  carom_recorder_options options = {.overwrite = true};
  if (carom_plan_record(file, &report, &verdict, path, &options, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  for (int i = 0; i < 3; i++) carom_plan_forces(file->plan, 20, i, &tau[i]);
  carom_plan_file_destroy(file);
}

static carom_scene *read_walk(const char *gait, const char *const *more, int count) {
  char file[900];
  const char *overrides[8] = {file};
  snprintf(file, sizeof file, "sensors.gait.gait.file=%s", gait);
  for (int i = 0; i < count; i++) overrides[1 + i] = more[i];
  carom_scene_options options = carom_scene_default_options();
  options.overrides = overrides, options.override_count = 1 + count;
  options.read_motion = carom_gait_motion_read;
  carom_scene *scene = NULL;
  carom_diagnostics d;
  carom_scene_read(CAROM_EXAMPLES "/gait-held/walk.yaml", &options, NULL, &scene, &d);
  if (!scene) test_fail(__FILE__, __LINE__, "%s", d.count ? d.items[0].message : "memory"), abort();
  carom_diagnostics_release(&d);
  return scene;
}

// Torques and angles are told along the joints as the scene has them, whichever of their bodies comes first.
TEST(torques_are_those_of_the_plan) {
  char path[800];
  double tau[3];
  whole_path("gait-torques.h5", path, sizeof path);
  plan_step(path, tau);
  const char *const turned[] = {"joints.knee2.between=[thigh2, shank2]",
                                "joints.knee2.points=[[0, -L2/2, 0], [0, L1/2, 0]]"};
  for (int turn = 0; turn < 2; turn++) {
    carom_scene *scene = read_walk(path, turned, 2 * turn);
    carom_gait_motion *motion = NULL;
    carom_error error = {0};
    if (carom_gait_motion_read(path, scene->model, NULL, &motion, &error) != CAROM_OK)
      test_fail(__FILE__, __LINE__, "%s", error.message), abort();
    const double sign[3] = {1, 1, turn ? -1 : 1};
    for (int j = 0; j < 3; j++) CHECK_NEAR(motion->torques[20 * 3 + j], sign[j] * tau[j], 1e-12 * fabs(tau[j]));
    carom_gait_motion_destroy(motion);
    carom_scene_destroy(scene);
  }
  unlink(path);
}

enum { MOST_STEPS = 64 };

typedef struct walk {
  int steps;
  double began[MOST_STEPS];  // when step i began
  double foot[MOST_STEPS];   // where
  double lowest;             // of the hip
} walk;

static walk walk_for(running *r, double duration) {
  walk w = {.lowest = INFINITY};
  while (r->state->time < duration - 1e-9 && w.steps + 1 < MOST_STEPS && go_on(r, 1)) {
    int step = (int)channel(r, "gait.step");
    w.lowest = fmin(w.lowest, channel(r, "top.y"));
    if (step <= w.steps) continue;
    w.steps = step;
    w.began[step] = channel(r, "gait.began");
    w.foot[step] = channel(r, step % 2 ? "foot2.x" : "foot1.x");
  }
  return w;
}

static double mean_over_last(const double *values, int last, int count) {
  return (values[last] - values[last - count]) / count;
}

// From speeds that are 3 percent too high and 5 too low: at least 18 steps in 12 s, after ten of them at the plan's
// period of 0.6 s and length of 0.4 m, and no error of the speed that grows.
static void check_walk(const char *path, const char *push) {
  const char *const more[] = {push};
  running r = start_running(read_walk(path, more, 1));
  walk w = walk_for(&r, 12);
  if (w.steps < 18) test_fail(__FILE__, __LINE__, "%s: only %d steps", push, w.steps);
  CHECK(w.lowest > 0.9);
  for (int i = 1; i <= w.steps; i++) CHECK_NEAR(w.began[i] - w.began[i - 1], 0.6, i <= 10 ? 0.08 : 0.012);
  for (int i = 2; i <= w.steps; i++) CHECK_NEAR(w.foot[i] - w.foot[i - 1], 0.4, i <= 10 ? 0.01 : 0.004);
  CHECK_NEAR(mean_over_last(w.began, w.steps, 6), 0.6, 0.006);
  CHECK_NEAR(mean_over_last(w.foot, w.steps, 6), 0.4, 0.004);
  check_verdict(&r);
  stop_running(&r);
}

TEST(a_biped_without_ankles_walks_over_found_contacts_long) {
  char path[800];
  double tau[3];
  whole_path("gait-held.h5", path, sizeof path);
  plan_step(path, tau);
  check_walk(path, "constants.push=1.03");
  check_walk(path, "constants.push=0.95");
  unlink(path);
}

// The planned torques alone, undisturbed; and servos along the planned angles by the clock instead of by the phase.
TEST(without_feedback_it_falls_long) {
  char path[800], clock[1000];
  double tau[3];
  whole_path("gait-open.h5", path, sizeof path);
  snprintf(clock, sizeof clock,
           "sensors.gait.gait={file: %s, swap: [[shank1, shank2], [thigh1, thigh2]], strike: [shank2, ground]}", path);
  plan_step(path, tau);
  const char *const open[] = {clock, "constants.push=1", "constants.kp=0", "constants.kd=0"};
  running r = start_running(read_walk(path, open, 4));
  walk w = walk_for(&r, 3);
  CHECK_AT_MOST(w.lowest, 0.5);
  stop_running(&r);
  r = start_running(read_walk(path, open, 2));
  w = walk_for(&r, 5);
  CHECK_AT_MOST(w.lowest, 0.5);
  stop_running(&r);
  unlink(path);
}
