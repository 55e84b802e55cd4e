// The docking examples: what the two designs do from the same start, mirrored starts, and who passes by.
#include "carom/carom.h"
#include "test.h"

typedef struct example {
  carom_scene *scene;
  carom_stepper *stepper;
  int female, male;
} example;

static example open_example(const char *name, const char *const *overrides, int count) {
  example x = {0};
  char path[512];
  carom_scene_options options = carom_scene_default_options();
  carom_diagnostics diagnostics;
  carom_error error = {0};
  options.overrides = overrides;
  options.override_count = count;
  snprintf(path, sizeof path, "%s/%s/scene.yaml", CAROM_EXAMPLES, name);
  if (carom_scene_read(path, &options, NULL, &x.scene, &diagnostics) != CAROM_OK ||
      carom_stepper_create(x.scene->model, &x.scene->step, NULL, &x.stepper, &error) != CAROM_OK) {
    fprintf(stderr, "%s: %s\n", name, error.message);
    exit(1);
  }
  carom_diagnostics_release(&diagnostics);
  x.female = carom_model_find_body(x.scene->model, "female");
  x.male = carom_model_find_body(x.scene->model, "male");
  return x;
}

static void close_example(example *x) {
  carom_stepper_destroy(x->stepper);
  carom_scene_destroy(x->scene);
}

// How the male craft stands and moves as seen from the female one.
typedef struct relative {
  carom_pose pose;
  double speed;  // of its centre, m/s
} relative;

static relative relative_of(const example *x) {
  const carom_model *m = x->scene->model;
  const carom_state *s = x->scene->state;
  carom_pose female = carom_state_pose(m, s, x->female), male = carom_state_pose(m, s, x->male);
  carom_vec3 arm = cm_sub(male.p, female.p), spin = carom_state_angular_velocity(m, s, x->female);
  carom_vec3 v = cm_sub(carom_state_velocity(m, s, x->male), carom_state_velocity(m, s, x->female));
  return (relative){cm_compose(cm_pose_inverse(female), male), cm_norm(cm_sub(v, cm_cross(spin, arm)))};
}

static double angle_of(carom_quat q) { return 2 * atan2(cm_norm(cm_vec3(q.x, q.y, q.z)), fabs(q.w)); }

typedef enum ending { DOCKED, JAMMED, UNDECIDED } ending;

// Within 1 mm and 1 degree of the seat, or at rest elsewhere near it, for a second.
static ending run_example(example *x, double seat) {
  double docked = 0, still = 0, h = x->scene->step.step;
  carom_error error = {0};
  while (x->scene->state->time < x->scene->duration) {
    if (carom_stepper_step(x->stepper, x->scene->state, NULL, &error) != CAROM_OK) {
      test_fail(__FILE__, __LINE__, "%s", error.message);
      return UNDECIDED;
    }
    relative r = relative_of(x);
    bool seated = cm_norm(cm_sub(r.pose.p, cm_vec3(seat, 0, 0))) < 1e-3 && angle_of(r.pose.q) < 0.0174;
    docked = seated && r.speed < 1e-3 ? docked + h : 0;
    still = !seated && r.speed < 1e-6 && cm_norm(r.pose.p) < 1.4 * seat ? still + h : 0;
    if (docked > 1 || still > 1) return docked > 1 ? DOCKED : JAMMED;
  }
  return UNDECIDED;
}

static ending end_of(const char *name, double seat, const char *const *overrides, int count) {
  example x = open_example(name, overrides, count);
  ending end = run_example(&x, seat);
  close_example(&x);
  return end;
}

static const double FIRST = 0.1205, IMPROVED = 0.1255, OFFSET = 0.1113;  // seats, m

TEST(where_the_first_design_jams_the_improved_one_docks) {
  CHECK(end_of("docking-first", FIRST, NULL, 0) == JAMMED);
  CHECK(end_of("docking-improved", IMPROVED, NULL, 0) == DOCKED);
}

TEST(in_line_the_first_design_docks) {
  const char *overrides[] = {"constants.y=0"};
  CHECK(end_of("docking-first", FIRST, overrides, 1) == DOCKED);
}

TEST(half_the_step_ends_alike) {
  const char *overrides[] = {"integrator.step=0.5 ms"};
  CHECK(end_of("docking-first", FIRST, overrides, 1) == JAMMED);
  CHECK(end_of("docking-improved", IMPROVED, overrides, 1) == DOCKED);
}

TEST(cups_that_overlap_let_nothing_in) {
  const char *overrides[] = {"constants.spacing=35 mm"};
  CHECK(end_of("docking-improved", IMPROVED, overrides, 1) == JAMMED);
}

// The same way, mirrored, until they touch: to the last bit but for sums that run in another order.
static void check_mirrored(const char *name, const char *y, const char *minus_y) {
  const char *left[] = {"constants.x=0.16", y}, *right[] = {"constants.x=0.16", minus_y};
  example a = open_example(name, left, 2), b = open_example(name, right, 2);
  carom_error error = {0};
  for (int i = 0; i < 5000; i++) {
    REQUIRE(carom_stepper_step(a.stepper, a.scene->state, NULL, &error) == CAROM_OK);
    REQUIRE(carom_stepper_step(b.stepper, b.scene->state, NULL, &error) == CAROM_OK);
  }
  carom_pose p = relative_of(&a).pose, q = relative_of(&b).pose;
  CHECK_NEAR(p.p.x, q.p.x, 1e-14);
  CHECK_NEAR(p.p.y, -q.p.y, 1e-14);
  CHECK_NEAR(p.q.z, -q.q.z, 1e-13);
  CHECK(run_example(&a, FIRST) == run_example(&b, FIRST));
  close_example(&a);
  close_example(&b);
}

TEST(mirrored_starts_have_mirrored_ends) {
  check_mirrored("docking-first", "constants.y=0.08", "constants.y=-0.08");
  check_mirrored("docking-improved", "constants.y=0.08", "constants.y=-0.08");
}

TEST(ports_out_of_the_plane_dock_in_space_long) {
  const char *plain[] = {"constants.offset=0"};
  CHECK(end_of("docking-offset", OFFSET, NULL, 0) == DOCKED);
  CHECK(end_of("docking-offset", OFFSET, plain, 1) == DOCKED);
}

TEST(a_cubesat_that_nobody_steers_passes_by) {
  const char *overrides[] = {"constants.thrust=0"};
  example x = open_example("cubesat", overrides, 1);
  CHECK(x.scene->model->bodies[x.male].part_count == 7);
  CHECK(x.scene->model->bodies[x.female].part_count == 41);
  carom_error error = {0};
  carom_vec3 v = carom_state_velocity(x.scene->model, x.scene->state, x.male);
  for (int i = 0; i < 10000; i++) REQUIRE(carom_stepper_step(x.stepper, x.scene->state, NULL, &error) == CAROM_OK);
  CHECK_NEAR(cm_norm(cm_sub(carom_state_velocity(x.scene->model, x.scene->state, x.male), v)), 0, 1e-15);
  close_example(&x);
}

// Docked, the craft touch and do not overlap: the scene is taken as a start, and one nearer by 0.1 mm is not.
TEST(a_docked_cubesat_touches) {
  const char *near[] = {"constants.bearing=0", "constants.heading=0", "constants.distance=0.1153"};
  example x = open_example("cubesat", near, 3);
  carom_overlap overlaps[4];
  int count = 0;
  carom_error error = {0};
  CHECK(carom_start_overlaps(x.scene->model, x.scene->state, 4, overlaps, &count, &error) == CAROM_OK);
  CHECK(count == 0);
  carom_pose pose = carom_state_pose(x.scene->model, x.scene->state, x.male);
  pose.p.x -= 1e-4;
  carom_state_set_pose(x.scene->model, x.scene->state, x.male, pose);
  CHECK(carom_start_overlaps(x.scene->model, x.scene->state, 4, overlaps, &count, &error) == CAROM_OK);
  CHECK(count == 1);
  close_example(&x);
}
