// Latches that close only where their bodies are seated.
#include "test_dcr.h"

static const char *const INTEGRATORS[] = {"exact", "dcr"};

typedef struct meeting {
  double offset;  // across the way, m
  double angle;   // about the way, rad
  double speed;   // m/s
} meeting;

// A cube of 0.2 m that flies at another one along x; their seat is face to face, within 1 cm and 2 degrees and 1.5 m/s.
static world cubes(meeting m) {
  carom_builder *b = new_builder();
  add_material(b, "cube", 500, 1, 0);
  for (int i = 0; i < 2; i++) {
    carom_body_def def = body_at(-0.3 * i, m.offset * i, 0);
    def.pose.q = cm_axis_angle(cm_vec3(1, 0, 0), m.angle * i);
    def.velocity.x = m.speed * i;
    add_shape(b, def, box_shape(0.2, 0.2, 0.2));
  }
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_FIXED;
  joint.body[1] = 1, joint.body[0] = 0;
  joint.latch = true;
  joint.seat = (carom_seat){cm_pose(cm_vec3(-0.2, 0, 0), cm_qidentity()), 0.01, 2 * 0.017453292519943295, 1.5};
  carom_builder_add_joint(b, &joint);
  return finish_world(b);
}

static bool latches(meeting m, const char *integrator) {
  run r = start_run(cubes(m), integrator, 1e-3);
  bool ran = run_for(&r, 400);
  CHECK(ran);
  bool closed = r.w.state->joints[0].active == 1;
  double v[2] = {carom_state_velocity(r.w.model, r.w.state, 0).x, carom_state_velocity(r.w.model, r.w.state, 1).x};
  CHECK_NEAR(v[0], closed ? m.speed / 2 : v[0], 0.01 * m.speed);  // off the middle it turns a little
  CHECK_NEAR(v[1], closed ? m.speed / 2 : v[1], 0.01 * m.speed);
  CHECK(closed || v[0] > 0.5 * m.speed);  // it bounced, and handed on most of its momentum
  end_run(&r);
  return closed;
}

TEST(a_seat_within_its_tolerances_closes) {
  for (int i = 0; i < 2; i++) {
    CHECK(latches((meeting){0, 0, 1}, INTEGRATORS[i]));
    CHECK(latches((meeting){0.009, 0.03, 1.4}, INTEGRATORS[i]));
  }
}

TEST(a_seat_that_is_missed_does_not) {
  for (int i = 0; i < 2; i++) {
    CHECK(!latches((meeting){0.011, 0, 1}, INTEGRATORS[i]));
    CHECK(!latches((meeting){0, 0.04, 1}, INTEGRATORS[i]));
    CHECK(!latches((meeting){0, 0, 1.6}, INTEGRATORS[i]));
  }
}

// A cube falls on a table, bounces, and is held once it comes down slowly enough; what it weighs stays booked.
TEST(what_bounces_is_caught_when_it_is_slow) {
  for (int i = 0; i < 2; i++) {
    carom_builder *b = new_builder();
    add_material(b, "cube", 500, 0.5, 0.3);
    carom_builder_set_gravity(b, cm_vec3(0, 0, -9.81));
    carom_body_def table = body_at(0, 0, -0.1), cube = body_at(0, 0, 0.2);
    table.fixed = true;
    add_shape(b, table, box_shape(1, 1, 0.2));
    add_shape(b, cube, box_shape(0.2, 0.2, 0.2));
    carom_joint_def joint = carom_joint_default();
    joint.kind = CAROM_JOINT_FIXED;
    joint.body[0] = 0, joint.body[1] = 1;
    joint.latch = true;
    joint.seat = (carom_seat){cm_pose(cm_vec3(0, 0, 0.2), cm_qidentity()), 1e-3, 0.01, 0.3};
    carom_builder_add_joint(b, &joint);
    run r = start_run(finish_world(b), INTEGRATORS[i], 1e-3);
    REQUIRE(run_for(&r, 1000));
    CHECK(r.w.state->joints[0].active == 1);
    CHECK(r.collisions >= 2);  // at 1.4, 0.7 and 0.35 m/s it still bounced
    CHECK_NEAR(r.w.state->x[1].z, 0.1, 1e-3);
    CHECK_AT_MOST(cm_norm(carom_state_velocity(r.w.model, r.w.state, 1)), 1e-9);
    carom_audit_bounds bounds = carom_audit_bounds_of(INTEGRATORS[i], r.w.model);
    CHECK(carom_audit_judge(r.audit, &bounds).outcome == CAROM_VERDICT_PASS);
    end_run(&r);
  }
}

static void refuse(carom_seat seat, carom_joint_kind kind, bool latch, const char *message) {
  carom_builder *b = new_builder();
  for (int i = 0; i < 2; i++) add_shape(b, body_at(i, 0, 0), box_shape(0.2, 0.2, 0.2));
  carom_joint_def joint = carom_joint_default();
  joint.kind = kind;
  joint.body[0] = 0, joint.body[1] = 1;
  joint.latch = latch;
  joint.at_start = true;
  joint.seat = seat;
  carom_error error = {0};
  CHECK(carom_builder_add_joint(b, &joint) == -1);
  CHECK(carom_builder_status(b, &error) < 0);
  CHECK_CONTAINS(error.message, message);
  carom_builder_destroy(b);
}

TEST(seats_that_cannot_be_are_refused) {
  carom_seat seat = {cm_pose_identity(), 1e-3, 0.1, 1}, bad = seat;
  refuse(seat, CAROM_JOINT_FIXED, false, "only fixed joints that latch have a seat");
  refuse(seat, CAROM_JOINT_SPHERICAL, true, "only fixed joints that latch have a seat");
  bad.position = -1;
  refuse(bad, CAROM_JOINT_FIXED, true, "expected 0 or more");
  bad = seat, bad.pose.q.w = 2;
  refuse(bad, CAROM_JOINT_FIXED, true, "its quaternion unit");
}
