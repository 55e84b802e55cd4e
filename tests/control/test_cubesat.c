// The CubeSat of Johnson 2012, 4.5.6: docks by the tracking law along a field line, blind to contact.
#include "running.h"

#define SCENE CAROM_EXAMPLES "/cubesat/scene.yaml"

static carom_scene *scene_with(const char *const *overrides, int count) {
  carom_scene *scene = NULL;
  carom_diagnostics d;
  carom_scene_options options = carom_scene_default_options();
  options.overrides = overrides, options.override_count = count;
  carom_scene_read(SCENE, &options, NULL, &scene, &d);
  carom_diagnostics_release(&d);
  if (!scene) abort();
  return scene;
}

static const double SEAT = 0.1153, DEGREE = 3.14159265358979323846 / 180;

static double off_seat(const running *r) {
  return cm_norm(cm_vec3(channel(r, "seen.x") - SEAT, channel(r, "seen.y"), channel(r, "seen.z")));
}

static bool is_aligned(const running *r) { return off_seat(r) < 1e-3 && channel(r, "seen.angle") > 179 * DEGREE; }

// h (|f|^2 + |tau|^2) of the last step.
static double effort_of(const running *r) {
  const char *names[] = {"male.thrust_x", "male.thrust_y", "male.thrust_z",
                         "male.torque_x", "male.torque_y", "male.torque_z"};
  double sum = 0;
  for (int k = 0; k < 6; k++) sum += channel(r, names[k]) * channel(r, names[k]);
  return 1e-3 * sum;
}

// Published: aligned at about 6.2 s, effort 0.25781 until then, first touch misaligned.
TEST(the_cubesat_docks_in_6_2_s) {
  running r = start_running(scene_with(NULL, 0));
  double effort = 0, touched = 0, askew = 0;
  while (r.state->time < 7 && !is_aligned(&r)) {
    REQUIRE(go_on(&r, 1));
    effort += effort_of(&r);
    if (touched == 0 && channel(&r, "touch.touches") > 0)
      touched = r.state->time, askew = 180 * DEGREE - channel(&r, "seen.angle");
  }
  CHECK_NEAR(r.state->time, 6.2, 0.3);
  CHECK(effort > 0.25781 / 1.5 && effort < 0.25781 * 1.5);
  CHECK(touched > 0 && touched < r.state->time && askew > 5 * DEGREE);
  check_verdict(&r);
  stop_running(&r);
}

TEST(without_control_it_passes_by) {
  const char *nobody[] = {"constants.thrust=0", "integrator.step=10 ms"};
  running r = start_running(scene_with(nobody, 2));
  for (int i = 0; i < 10000; i++) {
    REQUIRE(go_on(&r, 1));
    CHECK(channel(&r, "touch.touches") == 0);
  }
  CHECK(off_seat(&r) > 0.4);
  check_verdict(&r);
  stop_running(&r);
}

// Starts to the other side, from above and from below, turned far: against its reference the craft turns by no more
// than half a turn.
TEST(it_docks_from_elsewhere_without_unwinding) {
  const char *starts[][5] = {{"constants.bearing=-35 deg", "constants.elevation=20 deg", "constants.heading=-70 deg",
                              "constants.roll=80 deg", "constants.distance=0.4"},
                             {"constants.bearing=15 deg", "constants.elevation=-38 deg", "constants.heading=85 deg",
                              "constants.roll=-60 deg", "constants.distance=0.5"}};
  for (int i = 0; i < 2; i++) {
    running r = start_running(scene_with(starts[i], 5));
    double turned = 0;  // against the reference, in flight
    bool touched = false;
    carom_track_answer answer;
    while (r.state->time < 15 && !is_aligned(&r)) {
      REQUIRE(go_on(&r, 1));
      if (!touched && carom_loop_tracked(r.loop, 0, &answer)) turned += 1e-3 * cm_norm(answer.spin_error);
      touched = touched || channel(&r, "touch.touches") > 0;
    }
    CHECK(is_aligned(&r));
    CHECK_AT_MOST(turned, 180 * DEGREE + 0.1);
    stop_running(&r);
  }
}
