// Pushes: how they go, how they end, and in any unit of length.
#include "pushing.h"

static const double QUARTER = 1.5707963267948966;

// A probe at the middle of a side pushes straight, after a free way of 0.02: the part goes as far as the probe pushes.
TEST(a_push_through_the_middle_goes_straight) {
  push_scene s = push_scene_default();
  for (s.unit = 1e-6; s.unit < 2; s.unit *= 1e3) {
    push_bench b = push_bench_make(&s);
    carom_push push = {.duration = 4, .probe_count = 1, .probe = {push_way(&b, 0, -0.4325, QUARTER, 0.05)}};
    carom_push_result r = push_run(&b, &push, b.w.state, false);
    double pose[3];
    carom_push_pose(b.w.model, b.w.state, PART, pose);
    CHECK(r.ending == CAROM_PUSH_DONE && r.changes == 0);
    CHECK_NEAR(r.time, 4, 1e-12);
    CHECK_NEAR(r.touch, 0.4, 1e-9);
    CHECK_NEAR(pose[1] / b.unit, 0.18, 1e-9);
    CHECK_NEAR(pose[0] / b.unit, 0, 1e-9);
    CHECK_NEAR(pose[2], 0, 1e-9);
    CHECK_NEAR(r.work / (1e-3 * b.unit * b.unit), 0.05 * 0.18, 1e-9);
    CHECK_NEAR(r.damping / r.work, 1, 1e-9);
    push_bench_end(&b);
  }
}

// ---- endings --------------------------------------------------------------------------------------------------------

// Forces of a certificate lie in their cones, cancel out with their moments, and have normal parts that sum to 1.
static void check_certificate(const carom_push_result *r, double mu) {
  carom_vec3 sum = cm_zero3(), moment = cm_zero3();
  double normal = 0, reach = 0;
  for (int i = 0; i < r->force_count; i++) {
    const carom_push_force *f = &r->forces[i];
    double along = cm_dot(f->force, f->normal);
    carom_vec3 arm = cm_sub(f->point, r->forces[0].point);
    reach = fmax(reach, cm_norm(arm));
    sum = cm_add(sum, f->force);
    moment = cm_add(moment, cm_cross(arm, f->force));
    normal += along;
    CHECK(along > 0);
    CHECK_AT_MOST(cm_norm(cm_axpy(f->force, -along, f->normal)), mu * along + 1e-12);
  }
  CHECK_NEAR(normal, 1, 1e-12);
  CHECK_AT_MOST(cm_norm(sum), 1e-12);
  CHECK_AT_MOST(cm_norm(moment) / reach, 1e-9);
  CHECK_AT_MOST(r->cancel, 1e-12);
}

static bool names(const carom_push_result *r, int body) {
  for (int i = 0; i < r->force_count; i++)
    if (r->forces[i].body_b == body) return true;
  return false;
}

static push_scene wall_above(double height) {
  push_scene s = push_scene_default();
  const double wall[4] = {-3, height, 3, height + 0.5};
  s.walls = 1;
  memcpy(s.wall[0], wall, sizeof wall);
  return s;
}

// Figure 2.8 (a): pushed against a wall, the part is stuck; the probe has come as far as the wall lets it.
TEST(a_part_between_probe_and_wall_jams) {
  push_scene s = wall_above(0.5);
  for (s.unit = 1e-6; s.unit < 2; s.unit *= 1e3) {
    push_bench b = push_bench_make(&s);
    carom_push push = {.duration = 6, .probe_count = 1, .probe = {push_way(&b, 0.1, -0.4325, QUARTER, 0.05)}};
    carom_push_result r = push_run(&b, &push, b.w.state, false);
    CHECK(r.ending == CAROM_PUSH_JAM);
    CHECK(names(&r, 1) && names(&r, 2));
    check_certificate(&r, 0.3);
    CHECK(r.time > 2 && r.time < 3);  // 0.1 m are left, and a turn before that
    CHECK_AT_MOST(r.overlap / b.unit, 1e-3);
    push_bench_end(&b);
  }
}

// Figure 2.8 (b): two probes at (d, L) and (-d, -L), mu 0.3. The part turns where d/L > mu; for a moment, since it may
// turn into the cones.
static carom_push_result squeeze(double ratio, double unit) {
  push_scene s = push_scene_default();
  s.probes = 2, s.unit = unit;
  push_bench b = push_bench_make(&s);
  double d = 0.4 * ratio;
  carom_push push = {.duration = 0.004,
                     .probe_count = 2,
                     .probe = {push_way(&b, d, 0.4126, -QUARTER, 0.05), push_way(&b, -d, -0.4126, QUARTER, 0.05)}};
  carom_push_result r = push_run(&b, &push, b.w.state, false);
  push_bench_end(&b);
  return r;
}

TEST(two_probes_damage_a_part_that_friction_holds) {
  for (double unit = 1e-6; unit < 2; unit *= 1e3) {
    const double within[] = {0.01, 0.2, 0.295}, beyond[] = {0.305, 0.5, 0.9};
    for (int i = 0; i < 3; i++) {
      carom_push_result r = squeeze(within[i], unit);
      CHECK(r.ending == CAROM_PUSH_DAMAGE && names(&r, 1) && names(&r, 2) && r.force_count == 2);
      check_certificate(&r, 0.3);
      r = squeeze(beyond[i], unit);
      CHECK(r.ending == CAROM_PUSH_DONE && r.force_count == 0);
    }
  }
}

// A probe that stands still is in the way: what another pushes against it cannot go on.
TEST(a_passive_probe_blocks) {
  push_scene s = push_scene_default();
  s.probes = 2;
  push_bench b = push_bench_make(&s);
  carom_push push = {
      .duration = 4, .probe_count = 2, .probe = {push_way(&b, 0, -0.4325, QUARTER, 0.05), push_way(&b, 0, 0.5, 0, 0)}};
  carom_push_result r = push_run(&b, &push, b.w.state, false);
  CHECK(r.ending == CAROM_PUSH_DAMAGE && names(&r, 1) && names(&r, 2));
  check_certificate(&r, 0.3);
  CHECK_NEAR(r.time, 0.4 + (0.1 - 0.0125) / 0.05, 0.021);
  push.probe_count = 1;  // without it the part goes on
  carom_state_copy(b.w.state, b.w.state);
  push_place(&b, b.w.state, 0, 0, 0);
  CHECK(push_run(&b, &push, b.w.state, false).ending == CAROM_PUSH_DONE);
  push_bench_end(&b);
}

// Walls on both sides make the cone less than pointed all the way, and hinder nothing; at the end of the slot it jams.
TEST(a_part_slides_through_a_slot_and_jams_at_its_end) {
  push_scene s = push_scene_default();
  const double walls[3][4] = {{-1, 0.42, 4, 0.8}, {-1, -0.8, 4, -0.42}, {2, -0.42, 4, 0.42}};
  s.walls = 3;
  memcpy(s.wall, walls, sizeof walls);
  push_bench b = push_bench_make(&s);
  carom_push push = {.duration = 30, .probe_count = 1, .probe = {push_way(&b, -0.83, 0.05, 0, 0.05)}};
  carom_push_result r = push_run(&b, &push, b.w.state, false);
  double pose[3];
  carom_push_pose(b.w.model, b.w.state, PART, pose);
  CHECK(r.ending == CAROM_PUSH_JAM && names(&r, 1) && names(&r, 4));
  check_certificate(&r, 0.3);
  CHECK_NEAR(pose[0] / b.unit, 1.2, 0.01);
  push_bench_end(&b);
}

// Forces beyond a limit end a push only where they can cancel out.
TEST(a_force_limit_is_for_forces_that_cancel_out) {
  push_scene s = push_scene_default();
  push_bench b = push_bench_make(&s);
  carom_pusher_def def = *carom_pusher_definition(b.pusher);
  carom_pusher_destroy(b.pusher);
  def.force_limit = 1e-12;
  REQUIRE(carom_pusher_create(&def, NULL, &b.pusher, NULL) == CAROM_OK);
  carom_push push = {.duration = 1, .probe_count = 1, .probe = {push_way(&b, 0.1, -0.4325, QUARTER, 0.05)}};
  carom_push_result r = push_run(&b, &push, b.w.state, false);
  CHECK(r.ending == CAROM_PUSH_DONE && r.largest_force > 1e-9);
  push_bench_end(&b);
}

// ---- angles, goals, what is told ------------------------------------------------------------------------------------

TEST(angles_wrap) {
  push_scene s = push_scene_default();
  push_bench b = push_bench_make(&s);
  double pose[3], before = 3.1;
  push_place(&b, b.w.state, 0, 0, 3.1 + 4 * QUARTER);
  carom_push_pose(b.w.model, b.w.state, PART, pose);
  CHECK_NEAR(pose[2], 3.1, 1e-12);
  // Upside down, and turned on: the probe comes from above at the part's right.
  carom_push push = {.duration = 3, .probe_count = 1, .probe = {push_way(&b, -0.6, 0.48, -QUARTER, 0.05)}};
  carom_push_goal goal = {.body = PART, .distance = INFINITY, .angle = -3.1 - 4 * QUARTER, .turn = 0.25};
  carom_pusher_set_goal(b.pusher, &goal);
  carom_push_result r = push_run(&b, &push, b.w.state, false);
  carom_push_pose(b.w.model, b.w.state, PART, pose);
  CHECK(pose[2] < 0 && remainder(pose[2] - before, 4 * QUARTER) > 0.05);
  CHECK(r.ending == CAROM_PUSH_GOAL);
  goal.turn = 1e-4;
  CHECK(!carom_push_goal_met(b.w.model, b.w.state, &goal) && !carom_push_goal_met(b.w.model, b.w.state, NULL));
  push_bench_end(&b);
}

typedef struct push_log {
  int steps, contacts, fail_at;
  double time, way, force;
} push_log;

static carom_status note_step(void *context, const carom_push_step *step, carom_error *error) {
  push_log *l = context;
  l->steps++;
  l->time = step->time;
  l->way += step->step;
  for (int i = 0; i < step->contact_count; i++) {
    l->contacts += step->contacts[i].mode != CAROM_MODE_OPEN;
    l->force = fmax(l->force, cm_norm(step->contacts[i].force));
  }
  return l->steps == l->fail_at ? carom_fail(error, CAROM_INTERRUPTED, "enough") : CAROM_OK;
}

TEST(listeners_see_each_step) {
  push_scene s = push_scene_default();
  push_bench b = push_bench_make(&s);
  carom_push push = {.duration = 1.013, .probe_count = 1, .probe = {push_way(&b, 0.3, -0.4325, 1.4, 0.05)}};
  push_log l = {0};
  carom_pusher_listen(b.pusher, &(carom_push_listener){&l, note_step});
  double time = b.w.state->time;
  carom_push_result r = push_run(&b, &push, b.w.state, false);
  CHECK(l.steps == r.steps && l.contacts > 20);
  CHECK_NEAR(l.time, 1.013, 1e-12);
  CHECK_NEAR(l.way, 1.013, 1e-12);
  CHECK_NEAR(b.w.state->time - time, 1.013, 1e-12);
  CHECK_NEAR(l.force, r.largest_force, 1e-12 * l.force);
  CHECK_NEAR(b.w.state->x[1].x / b.unit, 0.3 + 1.013 * 0.05 * cos(1.4), 1e-12);
  carom_error error;
  l = (push_log){.fail_at = 3};
  push_place(&b, b.w.state, 0, 0, 0);
  CHECK(carom_pusher_run(b.pusher, &push, b.w.state, &r, &error) == CAROM_INTERRUPTED && l.steps == 3);
  CHECK_TEXT(error.message, "enough");
  carom_pusher_listen(b.pusher, NULL);
  push_place(&b, b.w.state, 0, 0, 0);
  CHECK(carom_pusher_run(b.pusher, &push, b.w.state, &r, &error) == CAROM_OK && l.steps == 3);
  push_bench_end(&b);
}

// What probes give, supports and friction take, each measured by itself.
TEST(work_is_what_supports_and_friction_take) {
  push_scene s = wall_above(0.41);
  push_bench b = push_bench_make(&s);
  carom_push push = {.duration = 8, .probe_count = 1, .probe = {push_way(&b, -0.83, 0.1, 0.3, 0.05)}};
  carom_push_result r = push_run(&b, &push, b.w.state, false);
  CHECK(r.work > 0 && r.friction > 0.01 * r.work && r.damping > 0);
  CHECK_NEAR((r.damping + r.friction) / r.work, 1, 1e-7);
  push_bench_end(&b);
}

// ---- units ----------------------------------------------------------------------------------------------------------

TEST(pushes_are_the_same_in_any_unit) {
  const double units[] = {1e-6, 1e-3, 1};
  double ends[3][3];
  carom_push_result r[3];
  for (int k = 0; k < 3; k++) {
    push_scene s = wall_above(0.7);
    s.unit = units[k];
    push_bench b = push_bench_make(&s);
    carom_push push = {.duration = 9, .probe_count = 1, .probe = {push_way(&b, -0.5, -0.4325, 1.3, 0.05)}};
    r[k] = push_run(&b, &push, b.w.state, false);
    carom_push_pose(b.w.model, b.w.state, PART, ends[k]);
    push_bench_end(&b);
    CHECK(r[k].ending == r[0].ending && r[k].steps == r[0].steps && r[k].changes == r[0].changes && r[0].changes > 0);
    CHECK_NEAR(r[k].change.time, r[0].change.time, 1e-9);
    for (int i = 0; i < 3; i++)
      CHECK_NEAR(ends[k][i] / (i < 2 ? units[k] : 1), ends[0][i] / (i < 2 ? units[0] : 1), 1e-7);
  }
}

// ---- what is no push ------------------------------------------------------------------------------------------------

static void refuse(push_bench *b, const carom_push *push, carom_status expected, const char *part) {
  carom_error error = {0};
  carom_push_result r;
  uint64_t before = carom_state_hash(b->w.state);
  CHECK(carom_pusher_run(b->pusher, push, b->w.state, &r, &error) == expected);
  CHECK_CONTAINS(error.message, part);
  error.message[0] = 0;
  CHECK(carom_pusher_check(b->pusher, push, b->w.state, &r, &error) == expected);
  CHECK_CONTAINS(error.message, part);
  CHECK(carom_state_hash(b->w.state) == before);
}

TEST(pushes_that_make_no_sense_are_refused) {
  push_scene s = push_scene_default();
  s.probes = 2;
  push_bench b = push_bench_make(&s);
  carom_push good = {.duration = 1, .probe_count = 1, .probe = {push_way(&b, 0, -0.45, QUARTER, 0.05)}}, bad = good;
  bad.duration = 0, refuse(&b, &bad, CAROM_ERR_ARGUMENT, "duration is 0 s");
  bad.duration = -1, refuse(&b, &bad, CAROM_ERR_ARGUMENT, "duration is -1 s");
  bad.duration = NAN, refuse(&b, &bad, CAROM_ERR_NUMBER, "duration");
  bad = good, bad.duration = 1e9, refuse(&b, &bad, CAROM_ERR_ARGUMENT, "ten million steps");
  bad = good, bad.probe_count = 0, refuse(&b, &bad, CAROM_ERR_ARGUMENT, "by 0 probes");
  bad = good, bad.probe_count = 3, refuse(&b, &bad, CAROM_ERR_ARGUMENT, "expected 1 to 2");
  bad = good, bad.probe[0].speed = -0.1, refuse(&b, &bad, CAROM_ERR_ARGUMENT, "'probe' has the speed -0.1");
  bad = good, bad.probe[0].heading = INFINITY, refuse(&b, &bad, CAROM_ERR_NUMBER, "'probe' is not finite");
  bad = good, bad.probe[0].at.x = NAN, refuse(&b, &bad, CAROM_ERR_NUMBER, "'probe' is not finite");
  bad = good, bad.probe[0] = push_way(&b, 0.2, 0.1, 0, 0.05);
  refuse(&b, &bad, CAROM_ERR_GEOMETRY, "probe 'probe' begins inside body 'part'");
  bad = good, bad.probe_count = 2, bad.probe[1] = push_way(&b, 0.01, -0.45, 0, 0);
  refuse(&b, &bad, CAROM_ERR_GEOMETRY, "begins inside body 'second'");
  push_bench_end(&b);
}

static void refuse_def(const carom_pusher_def *def, carom_status expected, const char *part) {
  carom_pusher *pusher = NULL;
  carom_error error = {0};
  CHECK(carom_pusher_create(def, NULL, &pusher, &error) == expected && !pusher);
  CHECK_CONTAINS(error.message, part);
}

TEST(pushers_that_make_no_sense_are_refused) {
  push_scene s = push_scene_default();
  push_bench b = push_bench_make(&s);
  carom_pusher_def good = *carom_pusher_definition(b.pusher), bad = good;
  bad.step = 0, refuse_def(&bad, CAROM_ERR_ARGUMENT, "step is 0 s");
  bad = good, bad.settle = 1, refuse_def(&bad, CAROM_ERR_ARGUMENT, "settle is 1");
  bad = good, bad.force_limit = -1, refuse_def(&bad, CAROM_ERR_ARGUMENT, "force limit");
  bad = good, bad.probe_count = 0, refuse_def(&bad, CAROM_ERR_ARGUMENT, "0 probes");
  bad = good, bad.probes[0] = 7, refuse_def(&bad, CAROM_ERR_ARGUMENT, "body 7");
  bad = good, bad.probes[0] = PART, refuse_def(&bad, CAROM_ERR_ARGUMENT, "'part' moves freely");
  bad = good, bad.probe_count = 2, bad.probes[1] = 1, refuse_def(&bad, CAROM_ERR_ARGUMENT, "'probe' is named twice");
  carom_error error;
  carom_support none = {0};
  CHECK(carom_pusher_set_friction(b.pusher, -1, &error) == CAROM_ERR_ARGUMENT);
  CHECK(carom_pusher_set_support(b.pusher, 1, &none, &error) == CAROM_ERR_ARGUMENT);
  CHECK(carom_pusher_set_support(b.pusher, PART, &none, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "'part' is not positive definite");
  push_bench_end(&b);
}

TEST(a_part_without_support_is_refused) {
  carom_builder *builder = new_builder();
  carom_pusher_def def = carom_pusher_default();
  carom_builder_set_planar(builder, true);
  put_box(builder, cm_vec3(1, 1, 1), cm_pose_identity(), false);
  put_box(builder, cm_vec3(0.1, 0.1, 1), cm_pose(cm_vec3(0, 2, 0), cm_qidentity()), true);
  world w = finish_world(builder);
  def.model = w.model, def.probe_count = 1, def.probes[0] = 1;
  refuse_def(&def, CAROM_ERR_ARGUMENT, "has no support");
  def.model = NULL, refuse_def(&def, CAROM_ERR_ARGUMENT, "a model is missing");
  free_world(&w);
}
