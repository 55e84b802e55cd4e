// Control in the loop: inputs by every integrator, channels against what is known otherwise, controllers, memory.
#include "running.h"

static const char *const jointed[] = {"variational", "exact", "dcr", "potential", "moreau", "cone", "index2", "index3"};
enum { JOINTED = sizeof jointed / sizeof *jointed };

// ---- inputs ---------------------------------------------------------------------------------------------------------

// A box pushed by a held force and torque about a principal axis moves as in a textbook, whoever steps it.
static const char pushed[] =
    "carom: 1\n"
    "contacts: ignore\n"
    "bodies: [{name: box, shape: {box: [0.4, 0.2, 0.1]}, mass: 2}]\n"
    "sensors: [{name: at, pose: box}, {name: going, velocity: box}]\n"
    "controllers: [{name: push, body: box, force: [3, 0, 1 + 1], torque: [0, 0, 0.01]}]\n"
    "integrator: {step: 1 ms}\n"
    "duration: 1 s\n";

TEST(a_held_wrench_moves_a_body_as_in_textbooks) {
  const char *by[] = {"variational", "exact", "dcr", "potential", "newmark", "moreau", "cone"};
  for (int i = 0; i < 7; i++) {
    running r = run_by(pushed, by[i]);
    bool first_order = strcmp(by[i], "cone") == 0;  // moves by the velocity at the end of the step
    REQUIRE(go_on(&r, 1000));
    CHECK_NEAR(channel(&r, "going.vx"), 1.5, 1e-12);
    CHECK_NEAR(channel(&r, "going.vz"), 1, 1e-12);
    CHECK_NEAR(channel(&r, "at.x"), 0.75, first_order ? 1e-3 : 1e-11);
    double inertia = 2 * (0.4 * 0.4 + 0.2 * 0.2) / 12;
    CHECK_NEAR(channel(&r, "going.wz"), 0.01 / inertia, 1e-12);
    CHECK_NEAR(channel(&r, "at.heading"), 0.5 * 0.01 / inertia, first_order ? 3e-4 : 1e-7);
    CHECK_NEAR(channel(&r, "box.thrust_x"), 3, 0);
    check_verdict(&r);
    stop_running(&r);
  }
}

// Forces that were not booked must not pass: the inputs change the motion, the audit is told of a motion without them.
TEST(work_of_inputs_that_is_not_booked_is_found) {
  running r = run_by(pushed, "variational");
  carom_error error;
  for (int i = 0; i < 1000; i++) {
    REQUIRE(carom_stepper_step(r.stepper, r.state, &r.report, &error) == CAROM_OK);
    r.report.work = 0;
    carom_audit_step(r.audit, r.state, &r.report);
  }
  CHECK(carom_audit_judge(r.audit, NULL).outcome == CAROM_VERDICT_FAIL);
  stop_running(&r);
}

// ---- reactions ------------------------------------------------------------------------------------------------------

static const char pendulum[] =
    "carom: 1\n"
    "contacts: ignore\n"
    "bodies: [{name: arm, shape: {box: [0.6, 0.05, 0.05]}, mass: 1.5, position: [0.3, 0, 0]}]\n"
    "joints: [{name: hinge, kind: revolute, between: [world, arm], at: [0, 0, 0], axis: [0, 1, 0]}]\n"
    "forces: {gravity: 9.81}\n"
    "integrator: {step: 0.5 ms}\n"
    "duration: 1 s\n";

// Of a swinging rod about a pivot at its end: along it m (g sin + w^2 L/2), across it m (g cos - w' L/2).
TEST(a_swinging_rod_pulls_at_its_pivot_as_in_textbooks) {
  for (int i = 0; i < JOINTED; i++) {
    running r = run_by(pendulum, jointed[i]);
    double m = 1.5, L = 0.6, g = 9.81;
    double I = m * (L * L + 0.05 * 0.05) / 12 + m * L * L / 4, worst = 0;
    for (int k = 0; k < 1500; k++) {
      double before = channel(&r, "hinge.angle"), rate_before = channel(&r, "hinge.rate");
      REQUIRE(go_on(&r, 1));
      double angle = 0.5 * (before + channel(&r, "hinge.angle")),
             rate = 0.5 * (rate_before + channel(&r, "hinge.rate"));
      double w_rate = m * g * cos(angle) * L / 2 / I;
      carom_vec3 along = cm_vec3(-cos(angle), 0, sin(angle)), across = cm_vec3(sin(angle), 0, cos(angle));
      carom_vec3 expected = cm_add(cm_scale(m * (g * sin(angle) + rate * rate * L / 2), along),
                                   cm_scale(m * (g * cos(angle) - w_rate * L / 2), across));
      carom_vec3 got = cm_vec3(channel(&r, "hinge.fx"), channel(&r, "hinge.fy"), channel(&r, "hinge.fz"));
      worst = fmax(worst, cm_norm(cm_sub(got, expected)));
    }
    // Methods of first order are off by the step.
    bool rough = strcmp(jointed[i], "cone") == 0 || strcmp(jointed[i], "moreau") == 0;
    CHECK_AT_MOST(worst, rough ? 0.02 * m * g : 1e-3);
    stop_running(&r);
  }
}

// Two rods that lean against each other, hinged at the ground and at the top: a closed loop. H = W cot(a)/2.
TEST(an_a_frame_pushes_its_feet_apart) {
  static const char frame[] =
      "carom: 1\n"
      "contacts: ignore\n"
      "bodies:\n"
      "  - {name: left, shape: {box: [1, 0.02, 0.02]}, mass: 3, position: [-0.25, 0, 0.25*sqrt(3)],\n"
      "     rotation: {axis: [0, 1, 0], angle: -60 deg}}\n"
      "  - {name: right, shape: {box: [1, 0.02, 0.02]}, mass: 3, position: [0.25, 0, 0.25*sqrt(3)],\n"
      "     rotation: {axis: [0, 1, 0], angle: 60 deg}}\n"
      "joints:\n"
      "  - {name: foot_l, kind: revolute, between: [world, left], at: [-0.5, 0, 0], axis: [0, 1, 0]}\n"
      "  - {name: foot_r, kind: spherical, between: [world, right], at: [0.5, 0, 0]}\n"
      "  - {name: top, kind: spherical, between: [left, right], at: [0, 0, 0.5*sqrt(3)]}\n"
      "forces: {gravity: 9.81}\n"
      "integrator: {step: 1 ms}\n"
      "duration: 1 s\n";
  for (int i = 0; i < 2; i++) {
    running r = run_by(frame, i == 0 ? "variational" : "moreau");
    double W = 3 * 9.81, H = W / (2 * tan(60 * 3.14159265358979323846 / 180));
    REQUIRE(go_on(&r, 50));
    CHECK_NEAR(channel(&r, "foot_l.fz"), W, 1e-6);
    CHECK_NEAR(channel(&r, "foot_r.fz"), W, 1e-6);
    CHECK_NEAR(channel(&r, "foot_l.fx"), H, 1e-6);
    CHECK_NEAR(channel(&r, "foot_r.fx"), -H, 1e-6);
    CHECK_NEAR(channel(&r, "top.fx"), H, 1e-6);
    stop_running(&r);
  }
}

// A motor's torque goes through the joint; and a weight that hangs on a limit hangs on the joint.
TEST(motors_and_limits_load_their_joint) {
  static const char held[] =
      "carom: 1\n"
      "contacts: ignore\n"
      "bodies: [{name: arm, shape: {box: [0.6, 0.05, 0.05]}, mass: 1.5, position: [0.3, 0, 0]}]\n"
      "joints: [{name: hinge, kind: revolute, between: [world, arm], at: [0, 0, 0], axis: [0, 1, 0],\n"
      "          turn: {upper: 0}}]\n"
      "forces: {gravity: 9.81}\n"
      "integrator: {name: moreau, step: 1 ms}\n"
      "duration: 1 s\n";
  running r = run_text(held);
  REQUIRE(go_on(&r, 50));
  CHECK_NEAR(channel(&r, "hinge.fz"), 1.5 * 9.81, 1e-6);
  CHECK_NEAR(channel(&r, "hinge.my"), -1.5 * 9.81 * 0.3, 1e-5);
  stop_running(&r);
}

// ---- sensors --------------------------------------------------------------------------------------------------------

static const char resting[] =
    "carom: 1\n"
    "materials: {stone: {friction: 0.6, restitution: 0, density: 500}}\n"
    "bodies:\n"
    "  - {name: floor, shape: {box: [4, 4, 1]}, position: [0, 0, -0.5], fixed: true, material: stone}\n"
    "  - {name: low, shape: {box: [0.4, 0.4, 0.4]}, position: [0, 0, 0.2], material: stone}\n"
    "  - {name: high, shape: {box: [0.2, 0.2, 0.2]}, position: [0, 0, 0.5], material: stone}\n"
    "sensors:\n"
    "  - {name: below, contact: low, with: floor}\n"
    "  - {name: all, contact: low}\n"
    "  - {name: top, contact: high, with: low}\n"
    "  - {name: apart, gap: [high, floor]}\n"
    "  - {name: seen, pose: high, from: low, point: [0.1, 0, 0]}\n"
    "forces: {gravity: 10}\n"
    "integrator: {step: 1 ms}\n"
    "duration: 1 s\n";

TEST(contact_forces_of_a_stack_carry_its_weight) {
  const char *by[] = {"dcr", "moreau", "cone"};
  for (int i = 0; i < 3; i++) {
    running r = run_by(resting, by[i]);
    double low = 500 * 0.064 * 10, high = 500 * 0.008 * 10;
    REQUIRE(go_on(&r, 200));
    CHECK_NEAR(channel(&r, "below.fz"), low + high, 1e-3 * low);
    CHECK_NEAR(channel(&r, "top.fz"), high, 1e-3 * low);
    CHECK_NEAR(channel(&r, "all.fz"), low, 1e-3 * low);
    CHECK(channel(&r, "top.touches") >= 1);
    CHECK_NEAR(channel(&r, "apart.gap"), 0.4, 1e-3);
    CHECK_NEAR(channel(&r, "seen.x"), 0.1, 1e-6);
    CHECK_NEAR(channel(&r, "seen.z"), 0.3, 1e-3);
    stop_running(&r);
  }
}

// Two bodies tumble; what one sees of the other moves as the velocities say, by differences over a step.
TEST(velocities_are_the_rates_of_poses) {
  static const char tumbling[] =
      "carom: 1\n"
      "contacts: ignore\n"
      "bodies:\n"
      "  - {name: a, shape: {box: [0.3, 0.2, 0.1]}, position: [1, 2, 0], velocity: [0.3, -1, 0.2], angular_velocity: "
      "[1, 2, -0.5]}\n"
      "  - {name: b, shape: {box: [0.1, 0.5, 0.2]}, position: [0, 0, 1], velocity: [-0.2, 0, 1], angular_velocity: "
      "[-0.3, 0.2, 1.7]}\n"
      "sensors:\n"
      "  - {name: p, pose: a, from: b, point: [0.3, -0.2, 0.1]}\n"
      "  - {name: v, velocity: a, from: b, point: [0.3, -0.2, 0.1]}\n"
      "  - {name: world, velocity: a, point: [0.3, -0.2, 0.1]}\n"
      "  - {name: place, pose: a, point: [0.3, -0.2, 0.1]}\n"
      "integrator: {name: variational, step: 0.1 ms}\n"
      "duration: 1 s\n";
  running r = run_text(tumbling);
  const char *p[] = {"p.x", "p.y", "p.z", "place.x", "place.y", "place.z"};
  const char *v[] = {"v.vx", "v.vy", "v.vz", "world.vx", "world.vy", "world.vz"};
  REQUIRE(go_on(&r, 500));
  double before[6], rate[6], h = 1e-4;
  for (int k = 0; k < 6; k++) before[k] = channel(&r, p[k]);
  REQUIRE(go_on(&r, 1));
  for (int k = 0; k < 6; k++) rate[k] = channel(&r, v[k]);
  REQUIRE(go_on(&r, 1));
  for (int k = 0; k < 6; k++) CHECK_NEAR((channel(&r, p[k]) - before[k]) / (2 * h), rate[k], 1e-6);
  stop_running(&r);
}

// ---- controllers ----------------------------------------------------------------------------------------------------

// u = x + 1 of a body that moves at 1 m/s, sampled every 3 steps and done 4 steps later.
TEST(samples_are_held_and_delays_kept) {
  static const char slow[] =
      "carom: 1\n"
      "contacts: ignore\n"
      "bodies: [{name: box, shape: {box: [1, 1, 1]}, mass: 1e12, velocity: [1, 0, 0]}]\n"
      "sensors: [{name: at, pose: box}]\n"
      "controllers: [{name: push, body: box, force: [at.x + 1, 0, 0], sample: 3 ms, delay: 4 ms}]\n"
      "integrator: {name: variational, step: 1 ms}\n"
      "duration: 1 s\n";
  running r = run_text(slow);
  for (int k = 0; k < 40; k++) {
    REQUIRE(go_on(&r, 1));
    int sampled = (k - 4) / 3 * 3;
    double expected = k < 4 ? 0 : 1 + 1e-3 * sampled;
    CHECK_NEAR(channel(&r, "box.thrust_x"), expected, 1e-9);
  }
  stop_running(&r);
}

TEST(limits_shorten_forces_and_schedules_scale_them) {
  static const char strong[] =
      "carom: 1\n"
      "contacts: ignore\n"
      "bodies: [{name: box, shape: {box: [1, 1, 1]}}]\n"
      "controllers:\n"
      "  - {name: push, body: box, force: [30, 40, 0], torque: [0, 0, -7], force_limit: 10, torque_limit: 2,\n"
      "     schedule: [[0, 0], [1 ms, 0], [2 ms, 1]]}\n"
      "integrator: {name: variational, step: 1 ms}\n"
      "duration: 1 s\n";
  running r = run_text(strong);
  REQUIRE(go_on(&r, 1));
  CHECK_NEAR(channel(&r, "box.thrust_x"), 0, 0);
  REQUIRE(go_on(&r, 3));
  CHECK_NEAR(channel(&r, "box.thrust_x"), 6, 1e-12);
  CHECK_NEAR(channel(&r, "box.thrust_y"), 8, 1e-12);
  CHECK_NEAR(channel(&r, "box.torque_z"), -2, 1e-12);
  check_verdict(&r);
  stop_running(&r);
}

// An arm of yaw, shoulder and elbow whose hand goes round a circle: targets by inverse kinematics, as formulas of time.
#define X "(0.45 + 0.05*sqrt(2)*sin(pi*t))"
#define Y "(0.1 + 0.1*cos(pi*t))"
#define Z "(0.15 + 0.05*sqrt(2)*sin(pi*t))"
#define R "hypot(" X ", " Y ")"
#define COSINE "((" R "^2 + " Z "^2 - 0.32)/0.32)"
static const char arm[] =
    "carom: 1\n"
    "contacts: ignore\n"
    "bodies:\n"
    "  - {name: post, shape: {box: [0.1, 0.1, 0.2]}, position: [0, 0, 0.1]}\n"
    "  - {name: upper, shape: {box: [0.4, 0.06, 0.06]}, position: [0.2, 0, 0.2]}\n"
    "  - {name: lower, shape: {box: [0.4, 0.05, 0.05]}, position: [0.6, 0, 0.2]}\n"
    "joints:\n"
    "  - {name: yaw, kind: revolute, between: [world, post], at: [0, 0, 0], axis: [0, 0, 1]}\n"
    "  - {name: shoulder, kind: revolute, between: [post, upper], at: [0, 0, 0.2], axis: [0, -1, 0]}\n"
    "  - {name: elbow, kind: revolute, between: [upper, lower], at: [0.4, 0, 0.2], axis: [0, -1, 0]}\n"
    "forces: {gravity: 9.81}\n"
    "sensors: [{name: hand, pose: lower, point: [0.2, 0, 0]}]\n"
    "controllers:\n"
    "  - joint: yaw\n"
    "    servo: {target: 'atan2(" Y ", " X
    ")', stiffness: 40, damping: 4, feed_forward: true}\n"
    "  - joint: shoulder\n"
    "    servo: {target: 'atan2(" Z ", " R ") + acos(0.5*sqrt((" R "^2 + " Z
    "^2)/0.16))', stiffness: 400, damping: 40, feed_forward: true}\n"
    "  - joint: elbow\n"
    "    servo: {target: '-acos(" COSINE
    ")', stiffness: 200, damping: 20, feed_forward: true}\n"
    "integrator: {name: variational, step: 1 ms}\n"
    "duration: 4 s\n";

static double miss(const running *r) {
  double t = r->state->time, pi = 3.14159265358979323846;
  double x = 0.45 + 0.05 * sqrt(2) * sin(pi * t), y = 0.1 + 0.1 * cos(pi * t), z = 0.35 + 0.05 * sqrt(2) * sin(pi * t);
  return cm_norm(cm_vec3(channel(r, "hand.x") - x, channel(r, "hand.y") - y, channel(r, "hand.z") - z));
}

TEST(an_arm_that_starts_elsewhere_comes_to_a_circle_and_follows_it) {
  running r = run_text(arm);
  double worst = 0;
  REQUIRE(go_on(&r, 2000));
  for (int i = 0; i < 2000; i++) {
    REQUIRE(go_on(&r, 1));
    worst = fmax(worst, miss(&r));
  }
  CHECK_AT_MOST(worst, 1e-3);
  CHECK_AT_MOST(worst, 5e-5);  // what it comes to
  check_verdict(&r);
  stop_running(&r);
}

// Put where it should be, moving as it should, the arm is driven by inverse dynamics alone.
TEST(torques_without_an_error_are_those_of_inverse_dynamics) {
  running r = run_text(arm);
  double e = 1e-4, q[5][3], rates[3], accelerations[3], torques[3];
  carom_mechanism *m;
  // Targets by an independent way: the same kinematics in C, differences of order 4.
  for (int k = 0; k < 5; k++) {
    double t = (k - 2) * e + 0.3, pi = 3.14159265358979323846;
    double x = 0.45 + 0.05 * sqrt(2) * sin(pi * t), y = 0.1 + 0.1 * cos(pi * t),
           z = 0.15 + 0.05 * sqrt(2) * sin(pi * t);
    double reach = hypot(x, y), far = hypot(reach, z);
    q[k][0] = atan2(y, x), q[k][1] = atan2(z, reach) + acos(far / 0.8), q[k][2] = -2 * acos(far / 0.8);
  }
  for (int j = 0; j < 3; j++) {
    rates[j] = (q[0][j] - 8 * q[1][j] + 8 * q[3][j] - q[4][j]) / (12 * e);
    accelerations[j] = (-q[0][j] + 16 * q[1][j] - 30 * q[2][j] + 16 * q[3][j] - q[4][j]) / (12 * e * e);
  }
  REQUIRE(carom_mechanism_create(r.scene->model, NULL, &m, NULL) == CAROM_OK);
  REQUIRE(carom_mechanism_update(m, r.state, NULL) == CAROM_OK);
  carom_mechanism_move(m, q[2], r.state);
  r.state->time = 0.3;
  carom_mechanism_update(m, r.state, NULL);
  carom_mechanism_set_velocities(m, rates, r.state);
  carom_mechanism_update(m, r.state, NULL);
  carom_mechanism_inverse(m, accelerations, torques, NULL);
  REQUIRE(go_on(&r, 1));
  const char *names[] = {"yaw.torque", "shoulder.torque", "elbow.torque"};
  for (int j = 0; j < 3; j++) CHECK_NEAR(channel(&r, names[j]), torques[j], 2e-6 + 1e-6 * fabs(torques[j]));
  carom_mechanism_destroy(m);
  stop_running(&r);
}

// The same to the last digits: what the servo says where its error is zero is what carom_mechanism_inverse says.
TEST(a_servo_at_rest_on_its_target_asks_for_inverse_dynamics_to_round_off) {
  static const char bent[] =
      "carom: 1\n"
      "contacts: ignore\n"
      "bodies:\n"
      "  - {name: one, shape: {box: [0.4, 0.06, 0.06]}, position: [0.2, 0, 0]}\n"
      "  - {name: two, shape: {box: [0.4, 0.05, 0.05]}, position: [0.6, 0, 0]}\n"
      "joints:\n"
      "  - {name: a, kind: revolute, between: [world, one], at: [0, 0, 0], axis: [0, 1, 0]}\n"
      "  - {name: b, kind: revolute, between: [one, two], at: [0.4, 0, 0], axis: [0, 0, 1]}\n"
      "forces: {gravity: 9.81}\n"
      "controllers:\n"
      "  - {joint: a, servo: {target: 0.7*t*t, stiffness: 100, damping: 9, feed_forward: true}}\n"
      "  - {joint: b, servo: {target: -1.1*t*t, stiffness: 100, damping: 9, feed_forward: true}}\n"
      "integrator: {name: variational, step: 1 ms}\n"
      "duration: 1 s\n";
  running r = run_text(bent);
  carom_mechanism *m;
  double torques[2], accelerations[2] = {1.4, -2.2};
  REQUIRE(carom_mechanism_create(r.scene->model, NULL, &m, NULL) == CAROM_OK);
  REQUIRE(carom_mechanism_update(m, r.state, NULL) == CAROM_OK);
  carom_mechanism_inverse(m, accelerations, torques, NULL);
  REQUIRE(go_on(&r, 1));
  CHECK_NEAR(channel(&r, "a.torque"), torques[0], 1e-9);
  CHECK_NEAR(channel(&r, "b.torque"), torques[1], 1e-9);
  carom_mechanism_destroy(m);
  stop_running(&r);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

static const char remembered[] =
    "carom: 1\n"
    "materials: {ball: {restitution: 0.5, friction: 0.4}}\n"
    "bodies:\n"
    "  - {name: floor, shape: {box: [4, 4, 1]}, position: [0, 0, -0.5], fixed: true, material: ball}\n"
    "  - {name: hopper, shape: {box: [0.2, 0.2, 0.2]}, position: [0, 0, 0.15], material: ball}\n"
    "  - {name: craft, shape: {box: [0.3, 0.1, 0.1]}, position: [1, 0.3, 1], rotation: {axis: [1, 1, 0], angle: 100 "
    "deg}}\n"
    "sensors: [{name: foot, contact: hopper}, {name: high, pose: hopper}]\n"
    "controllers:\n"
    "  - {name: hop, body: hopper, force: [0, 0, 'if(foot.touches > 0, 200, 20*(0.2 - high.z))'], sample: 5 ms, delay: "
    "12 ms}\n"
    "  - {name: fly, body: craft, track: {cancel_weight: true, dock: {center: [0, 0, 1], speed: 0.2, rotation: {axis: "
    "[0, 0, 1], angle: 180 deg}}}}\n"
    "forces: {gravity: 9.81}\n"
    "integrator: {name: dcr, step: 1 ms}\n"
    "duration: 2 s\n";

TEST(a_run_with_controllers_goes_on_bit_for_bit) {
  running whole = run_text(remembered), first = run_text(remembered), second = run_text(remembered);
  REQUIRE(go_on(&whole, 700));
  REQUIRE(go_on(&first, 313));
  size_t size = carom_stepper_memory(first.stepper, NULL, 0);
  void *memory = malloc(size);
  REQUIRE(memory != NULL);
  carom_stepper_memory(first.stepper, memory, size);
  carom_state_copy(second.state, first.state);
  REQUIRE(carom_stepper_recall(second.stepper, memory, size, NULL) == CAROM_OK);
  int count = carom_loop_channel_count(first.loop);
  CHECK(memcmp(carom_loop_values(first.loop), carom_loop_values(second.loop), (size_t)count * sizeof(double)) == 0);
  REQUIRE(go_on(&second, 700 - 313));
  CHECK(carom_state_hash(whole.state) == carom_state_hash(second.state));
  CHECK(memcmp(carom_loop_values(whole.loop), carom_loop_values(second.loop), (size_t)count * sizeof(double)) == 0);
  free(memory);
  stop_running(&whole);
  stop_running(&first);
  stop_running(&second);
}

// A controller of the caller's own that fails at its third step, and one whose numbers are none.
typedef struct stubborn {
  int calls, fail_at;
  double value;
} stubborn;

static carom_status act_stubbornly(void *context, const carom_control_view *view, double *inputs, carom_error *error) {
  stubborn *s = context;
  s->calls++;
  inputs[0] = s->value;
  CHECK(view->step == 1e-3);
  CHECK((view->last == NULL) == (s->calls == 1));
  if (s->calls != s->fail_at) return CAROM_OK;
  if (error) snprintf(error->message, sizeof error->message, "no more");
  return CAROM_NOT_CONVERGED;
}

TEST(what_a_failed_controller_did_is_undone) {
  running r = run_text(pushed);
  stubborn own = {.fail_at = 3, .value = 5};
  carom_control control = {.act = act_stubbornly, .context = &own, .memory = &own, .memory_size = sizeof own};
  REQUIRE(carom_stepper_set_control(r.stepper, &control, NULL) == CAROM_OK);
  carom_error error;
  CHECK(carom_stepper_step(r.stepper, r.state, NULL, &error) == CAROM_OK);
  CHECK(carom_stepper_step(r.stepper, r.state, NULL, &error) == CAROM_OK);
  uint64_t hash = carom_state_hash(r.state);
  own.value = 7;
  CHECK(carom_stepper_step(r.stepper, r.state, NULL, &error) == CAROM_NOT_CONVERGED);
  CHECK_TEXT(error.message, "no more");
  CHECK(carom_state_hash(r.state) == hash);
  CHECK(own.calls == 2 && own.value == 7);
  own.value = NAN, own.fail_at = 0;
  CHECK(carom_stepper_step(r.stepper, r.state, NULL, &error) == CAROM_ERR_NUMBER);
  CHECK(strstr(error.message, "input 'box'") != NULL);
  CHECK(carom_state_hash(r.state) == hash);
  stop_running(&r);
}

// ---- messages -------------------------------------------------------------------------------------------------------

TEST(plans_refuse_scenes_with_controllers) {
  carom_scene *scene = scene_of(pushed, NULL, 0);
  carom_plan *plan;
  carom_error error;
  CHECK(carom_plan_create(scene->model, scene->state, NULL, NULL, &plan, &error) == CAROM_ERR_UNSUPPORTED);
  CHECK(strstr(error.message, "input 'box'") != NULL);
  carom_scene_destroy(scene);
}

TEST(mistakes_of_loops_are_told_with_names) {
  carom_scene *scene = scene_of(pushed, NULL, 0);
  carom_loop_def *def;
  carom_loop *loop;
  carom_error error;
  carom_controller_def c = carom_controller_default();
  REQUIRE(carom_loop_def_create(NULL, &def, NULL) == CAROM_OK);
  c.name = "own", c.formula[2] = "1/wind";
  carom_loop_add_controller(def, &c);
  CHECK(carom_loop_create(def, scene->model, 1e-3, NULL, &loop, &error) == CAROM_ERR_ARGUMENT);
  CHECK(strstr(error.message, "controller 'own': '1/wind': unknown name 'wind'") != NULL);
  CHECK(carom_loop_create(def, scene->model, 0, NULL, &loop, &error) == CAROM_ERR_NUMBER);
  carom_loop_def_destroy(def);
  REQUIRE(carom_loop_def_create(NULL, &def, NULL) == CAROM_OK);
  c.kind = CAROM_CONTROLLER_SERVO;
  carom_loop_add_controller(def, &c);
  CHECK(carom_loop_create(def, scene->model, 1e-3, NULL, &loop, &error) == CAROM_ERR_ARGUMENT);
  CHECK(strstr(error.message, "needs an input along a joint") != NULL);
  carom_loop_def_destroy(def);
  carom_scene_destroy(scene);
}
