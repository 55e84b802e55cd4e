// Robust pushes (Gavrea 2008, 2.4): modes found by one problem and kept by linear systems, against problems in all
// steps.
#include "heap_counter.h"
#include "pushing.h"

static const double QUARTER = 1.5707963267948966;

// A part in the corner of two walls' reach, walls below and to the left.
static push_scene corner_scene(int probes) {
  push_scene s = push_scene_default();
  s.probes = probes, s.walls = 2;
  const double walls[2][4] = {{-3, -1.5, 3, -1.2}, {-2.0, -1.2, -1.7, 1.5}};
  memcpy(s.wall, walls, sizeof walls);
  return s;
}

// From a point beside the part's side, onto it within 55 degrees.
static carom_push_probe random_way(carom_random *r, const push_bench *b, const double pose[3]) {
  int side = (int)carom_random_below(r, 4);
  double share = carom_random_between(r, -0.95, 0.95), gap = carom_random_between(r, 0.0135, 0.03);
  double x = side < 2 ? share * 0.8 : (side == 2 ? -1 : 1) * (0.8 + gap);
  double y = side < 2 ? (side == 0 ? -1 : 1) * (0.4 + gap) : share * 0.4;
  double inward = side == 0 ? QUARTER : side == 1 ? -QUARTER : side == 2 ? 0 : 2 * QUARTER;
  double c = cos(pose[2]), s = sin(pose[2]);
  return push_way(b, pose[0] + c * x - s * y, pose[1] + s * x + c * y,
                  pose[2] + inward + carom_random_between(r, -0.96, 0.96), carom_random_between(r, 0.02, 0.06));
}

static carom_push random_push(carom_random *r, const push_bench *b, const double pose[3], int probes) {
  carom_push push = {.duration = carom_random_between(r, 0.5, 3), .probe_count = probes};
  for (int i = 0; i < probes; i++) push.probe[i] = random_way(r, b, pose);
  return push;
}

typedef struct tally {
  int robust, rejected, other, broken, kept, elsewhere, systems, problems;
} tally;

static bool is_kept(const carom_push_result *r) { return r->ending == CAROM_PUSH_DONE || r->ending == CAROM_PUSH_GOAL; }

static bool same_change(const carom_push_change *a, const carom_push_change *b) {
  return fabs(a->time - b->time) < 1e-9 && a->body_a == b->body_a && a->body_b == b->body_b && a->from == b->from &&
         a->to == b->to;
}

// One push, checked and run.
static void compare(push_bench *b, const carom_push *push, const double pose[3], tally *t) {
  carom_state *checked = NULL, *ran = NULL;
  CHECK(carom_state_clone(b->w.state, NULL, &checked, NULL) == CAROM_OK);
  push_place(b, checked, pose[0], pose[1], pose[2]);
  CHECK(carom_state_clone(checked, NULL, &ran, NULL) == CAROM_OK);
  carom_push_result c, r;
  carom_error error;
  if (carom_pusher_check(b->pusher, push, checked, &c, &error) == CAROM_OK && isfinite(c.touch)) {
    r = push_run(b, push, ran, false);
    t->systems += c.systems, t->problems += c.problems;
    if (is_kept(&c)) {
      t->robust++;
      t->broken += r.changes > 0 || !is_kept(&r);
      double a[3], d[3];
      carom_push_pose(b->w.model, checked, PART, a), carom_push_pose(b->w.model, ran, PART, d);
      double off = hypot(a[0] - d[0], a[1] - d[1]) / b->unit + fabs(remainder(a[2] - d[2], 4 * QUARTER));
      t->elsewhere += !(off < 1e-7);
    } else if (c.ending == CAROM_PUSH_SWITCH) {
      t->rejected++;
      t->kept += r.changes == 0;
      t->elsewhere += r.changes > 0 && !same_change(&c.change, &r.change);
    } else {
      t->other++;
      t->elsewhere += r.ending != c.ending;
    }
  } else if (carom_pusher_check(b->pusher, push, checked, &c, &error) != CAROM_OK &&
             error.status != CAROM_ERR_GEOMETRY) {
    test_fail(__FILE__, __LINE__, "%s", error.message);
  }
  carom_state_destroy(checked), carom_state_destroy(ran);
}

static tally many(int wanted, int probes, double settle, double unit, uint64_t stream) {
  push_scene s = corner_scene(2);
  s.settle = settle, s.unit = unit;
  push_bench b = push_bench_make(&s);
  carom_random random = carom_random_make(11, stream);
  tally t = {0};
  for (int i = 0; t.robust < wanted && i < 40 * wanted; i++) {
    double pose[3] = {carom_random_between(&random, -0.6, 1.2), carom_random_between(&random, -0.2, 1.2),
                      carom_random_between(&random, -3, 3)};
    if (i % 3 == 0) pose[1] = -0.8 + 1e-4, pose[2] = 0;  // along the wall
    carom_push push = random_push(&random, &b, pose, probes);
    compare(&b, &push, pose, &t);
  }
  push_bench_end(&b);
  return t;
}

TEST(robust_pushes_keep_their_modes_and_others_do_not) {
  tally one = many(700, 1, 0, 1e-3, 1), two = many(300, 2, 0.3, 1e-3, 2);
  CHECK(one.robust == 700 && two.robust == 300 && one.rejected > 80 && two.rejected > 80);
  CHECK(one.broken + two.broken == 0 && one.kept + two.kept == 0);
  CHECK(one.elsewhere + two.elsewhere == 0);
}

// ---- boxes ----------------------------------------------------------------------------------------------------------

typedef struct last_modes {
  int count, body[16], at;
  carom_contact_mode mode[16];
  double from;  // s: from when on the modes are to stay as they are
  bool changed;
} last_modes;

static carom_status watch(void *context, const carom_push_step *step, carom_error *error) {
  last_modes *m = context, now = {.from = m->from, .changed = m->changed, .at = m->at};
  (void)error;
  for (int i = 0; i < step->contact_count && now.count < 16; i++) {
    if (step->contacts[i].mode == CAROM_MODE_OPEN) continue;
    now.body[now.count] = step->contacts[i].body_b, now.mode[now.count++] = step->contacts[i].mode;
  }
  // The step that ends with the first touch counts as open or as touching: it carries nothing.
  double begun = step->time - step->step - m->from;
  if (begun >= 0.02 - 1e-9 || (begun >= -1e-9 && now.count > 0) || m->at > 0) {
    bool same = now.count == m->count && memcmp(now.body, m->body, sizeof(int) * (size_t)now.count) == 0 &&
                memcmp(now.mode, m->mode, sizeof *now.mode * (size_t)now.count) == 0;
    now.changed |= m->at > 0 && !same;
    now.at++;
  }
  *m = now;
  return CAROM_OK;
}

static bool same_modes(const last_modes *a, const last_modes *b) {
  bool same = a->count == b->count;
  for (int i = 0; same && i < a->count; i++) same = a->body[i] == b->body[i] && a->mode[i] == b->mode[i];
  return same;
}

// A push from one start with a problem each step, its modes from half of its time on.
static carom_push_result run_from(push_bench *b, const carom_push *push, const carom_push_start *start, double end[3],
                                  last_modes *modes) {
  carom_state *state = NULL;
  carom_push_result r = {.ending = CAROM_PUSH_FAILED};
  carom_error error;
  CHECK(carom_state_clone(b->w.state, NULL, &state, NULL) == CAROM_OK);
  carom_push_set_pose(b->w.model, state, PART, start->pose);
  *modes = (last_modes){.from = 0.5 * push->duration};
  carom_pusher_listen(b->pusher, &(carom_push_listener){modes, watch});
  carom_pusher_set_friction(b->pusher, start->friction, NULL);
  carom_status status = carom_pusher_run(b->pusher, push, state, &r, &error);
  if (status != CAROM_OK && status != CAROM_ERR_GEOMETRY) test_fail(__FILE__, __LINE__, "%s", error.message);
  carom_push_pose(b->w.model, state, PART, end);
  carom_pusher_listen(b->pusher, NULL);
  carom_pusher_set_friction(b->pusher, 1, NULL);
  carom_state_destroy(state);
  return r;
}

// Whether the push keeps the modes of the nominal one from each corner; `ends` are compared where it does.
static bool keeps_from_all(push_bench *b, const carom_push *push, const carom_push_starts *starts,
                           const carom_push_starts *ends) {
  carom_push_start nominal = {.friction = 1};
  last_modes expected, modes;
  double end[3];
  bool kept = true;
  carom_push_pose(b->w.model, b->w.state, PART, nominal.pose);
  run_from(b, push, &nominal, end, &expected);
  for (int i = 0; kept && i < starts->count; i++) {
    carom_push_result r = run_from(b, push, &starts->start[i], end, &modes);
    kept = is_kept(&r) && !modes.changed && same_modes(&modes, &expected);
    if (!kept || !ends) continue;
    const double *told = ends->start[i].pose;
    CHECK_AT_MOST(hypot(told[0] - end[0], told[1] - end[1]) / b->unit, 1e-7);
    CHECK_NEAR(remainder(told[2] - end[2], 4 * QUARTER), 0, 1e-7);
  }
  return kept;
}

// +-20 um, +-1 degree, mu +-20 percent.
TEST(boxes_are_judged_as_runs_from_their_corners) {
  push_scene s = corner_scene(1);
  s.settle = 0.5;
  push_bench b = push_bench_make(&s);
  carom_random random = carom_random_make(12, 0);
  int robust = 0, rejected = 0, wrong = 0;
  for (int i = 0; i < 450; i++) {
    double pose[3] = {carom_random_between(&random, -0.6, 1.2), carom_random_between(&random, -0.2, 1.2),
                      carom_random_between(&random, -3, 3)};
    push_place(&b, b.w.state, pose[0], pose[1], pose[2]);
    carom_push push = {.duration = 3, .probe_count = 1, .probe = {random_way(&random, &b, pose)}};
    push.probe[0].at.x -= 0.04 * b.unit * cos(push.probe[0].heading);
    push.probe[0].at.y -= 0.04 * b.unit * sin(push.probe[0].heading);
    carom_push_box box = {.body = PART, .half = {0.02 * b.unit, 0.02 * b.unit, 0.0175}, .friction = 0.2};
    carom_push_starts starts = carom_push_corners(b.w.model, b.w.state, &box), ends = starts;
    carom_push_verdict v;
    carom_state *state = NULL;
    carom_error error;
    CHECK(starts.count == 16);
    CHECK(carom_state_clone(b.w.state, NULL, &state, NULL) == CAROM_OK);
    carom_status status = carom_pusher_check_all(b.pusher, &push, state, &ends, &v, &error);
    carom_state_destroy(state);
    if (status == CAROM_ERR_GEOMETRY || (status == CAROM_OK && !is_kept(&v.nominal))) continue;
    CHECK(status == CAROM_OK);
    bool kept = keeps_from_all(&b, &push, &starts, v.robust ? &ends : NULL);
    robust += v.robust, rejected += !v.robust, wrong += v.robust != kept;
    if (!v.robust) CHECK(v.start >= 0 && v.start < 16 && !is_kept(&v.other));
    if (!v.robust && v.other.ending == CAROM_PUSH_SWITCH)
      CHECK(v.other.changes == 1 && v.other.change.from != v.other.change.to && v.other.change.time > 1.5);
  }
  push_bench_end(&b);
  CHECK(wrong == 0);
  CHECK(robust > 20 && rejected > 50);
}

TEST(corners_of_a_box) {
  push_scene s = push_scene_default();
  push_bench b = push_bench_make(&s);
  carom_push_box box = {.body = PART, .half = {0.1, 0, 0.2}};
  push_place(&b, b.w.state, 1e3, 2e3, 0.5);
  carom_push_starts c = carom_push_corners(b.w.model, b.w.state, &box);
  CHECK(c.count == 4 && c.body == PART);
  for (int i = 0; i < 4; i++) {
    CHECK_NEAR(fabs(c.start[i].pose[0] - 1), 0.1, 1e-12);
    CHECK_NEAR(c.start[i].pose[1], 2, 1e-12);
    CHECK_NEAR(fabs(c.start[i].pose[2] - 0.5), 0.2, 1e-12);
    CHECK(c.start[i].friction == 1);
    for (int j = 0; j < i; j++) CHECK(memcmp(&c.start[i], &c.start[j], sizeof c.start[i]) != 0);
  }
  box = (carom_push_box){.body = PART};
  c = carom_push_corners(b.w.model, b.w.state, &box);
  CHECK(c.count == 1);
  carom_push_verdict v;
  carom_error error;
  carom_push push = {.duration = 1, .probe_count = 1, .probe = {push_way(&b, 0, -3, QUARTER, 0.05)}};
  c.body = 1;
  CHECK(carom_pusher_check_all(b.pusher, &push, b.w.state, &c, &v, &error) == CAROM_ERR_ARGUMENT);
  c.body = PART, c.count = 17;
  CHECK(carom_pusher_check_all(b.pusher, &push, b.w.state, &c, &v, &error) == CAROM_ERR_ARGUMENT);
  c.count = 1, c.start[0].pose[2] = NAN;
  CHECK(carom_pusher_check_all(b.pusher, &push, b.w.state, &c, &v, &error) == CAROM_ERR_NUMBER);
  c.count = 0;  // no others: the push touches nothing and is robust
  CHECK(carom_pusher_check_all(b.pusher, &push, b.w.state, &c, &v, &error) == CAROM_OK && v.robust);
  CHECK(isinf(v.nominal.touch) && v.start == -1);
  push_bench_end(&b);
}

// From a start where the probe would begin inside the part, the push is not robust.
TEST(a_start_within_the_probe_is_not_robust) {
  push_scene s = push_scene_default();
  push_bench b = push_bench_make(&s);
  carom_push push = {.duration = 1, .probe_count = 1, .probe = {push_way(&b, 0, -0.413, QUARTER, 0.05)}};
  carom_push_box box = {.body = PART, .half = {0, 0.01 * b.unit, 0}};
  carom_push_starts c = carom_push_corners(b.w.model, b.w.state, &box);
  carom_push_verdict v;
  CHECK(carom_pusher_check_all(b.pusher, &push, b.w.state, &c, &v, NULL) == CAROM_OK);
  CHECK(!v.robust && v.start == 0 && v.other.ending == CAROM_PUSH_FAILED && v.other.steps == 0);
  push_bench_end(&b);
}

// ---- the same bits, and no memory -----------------------------------------------------------------------------------

// What a pusher did before does not change what it does next.
TEST(pushes_do_not_depend_on_pushes_before) {
  push_scene s = corner_scene(2);
  push_bench used = push_bench_make(&s);
  carom_random random = carom_random_make(13, 0);
  for (int i = 0; i < 60; i++) {
    double pose[3] = {carom_random_between(&random, -0.6, 0.6), carom_random_between(&random, -0.6, 0.6), 0.1};
    push_bench fresh = push_bench_make(&s);
    carom_push push = random_push(&random, &fresh, pose, 1 + i % 2);
    carom_state *state = NULL;
    CHECK(carom_state_clone(fresh.w.state, NULL, &state, NULL) == CAROM_OK);
    push_place(&fresh, fresh.w.state, pose[0], pose[1], pose[2]);
    push_place(&used, state, pose[0], pose[1], pose[2]);
    carom_push_result a, b;
    carom_status first = carom_pusher_check(fresh.pusher, &push, fresh.w.state, &a, NULL);
    CHECK(carom_pusher_check(used.pusher, &push, state, &b, NULL) == first);
    CHECK(carom_state_hash(state) == carom_state_hash(fresh.w.state));
    CHECK(first != CAROM_OK || (a.ending == b.ending && a.margin == b.margin));
    carom_state_destroy(state);
    push_bench_end(&fresh);
  }
  push_bench_end(&used);
}

TEST(pushes_ask_for_no_memory) {
  if (!MALLOC_COUNTED) test_skip("the heap is not counted here");
  push_scene s = corner_scene(2);
  push_bench b = push_bench_make(&s);
  carom_random random = carom_random_make(14, 0);
  carom_push_box box = {.body = PART, .half = {1e-5, 1e-5, 0.01}};
  carom_push_result r;
  carom_push_verdict v;
  for (int round = 0; round < 2; round++) {
    carom_random again = random;
    long before = heap_calls;
    for (int i = 0; i < 100; i++) {
      double pose[3] = {carom_random_between(&again, -0.6, 0.6), -0.79, 0};
      carom_push push = random_push(&again, &b, pose, 1 + i % 2);
      push_place(&b, b.w.state, pose[0], pose[1], pose[2]);
      carom_push_starts starts = carom_push_corners(b.w.model, b.w.state, &box);
      carom_pusher_run(b.pusher, &push, b.w.state, &r, NULL);
      push_place(&b, b.w.state, pose[0], pose[1], pose[2]);
      carom_pusher_check_all(b.pusher, &push, b.w.state, &starts, &v, NULL);
    }
    if (round > 0) CHECK(heap_calls == before);
  }
  push_bench_end(&b);
}

// Friction and supports of others than the model, and those of the model again.
TEST(friction_and_supports_can_be_set) {
  push_scene s = push_scene_default(), slippery = s;
  slippery.mu_probe = 0.15;
  push_bench a = push_bench_make(&s), b = push_bench_make(&slippery);
  carom_push push = {.duration = 2, .probe_count = 1, .probe = {push_way(&a, 0.5, -0.4325, 1.0, 0.05)}};
  carom_state *start = NULL;
  CHECK(carom_state_clone(a.w.state, NULL, &start, NULL) == CAROM_OK);
  double here[3], there[3];
  CHECK(carom_pusher_set_friction(a.pusher, 0.5, NULL) == CAROM_OK);
  push_run(&a, &push, a.w.state, false), push_run(&b, &push, b.w.state, false);
  carom_push_pose(a.w.model, a.w.state, PART, here), carom_push_pose(b.w.model, b.w.state, PART, there);
  for (int i = 0; i < 3; i++) CHECK_NEAR(here[i], there[i], 1e-9 * (i < 2 ? 1e-3 : 1));
  carom_support support = b.w.model->supports[PART];
  support.matrix[5][5] *= 4;  // harder to turn
  CHECK(carom_pusher_set_support(a.pusher, PART, &support, NULL) == CAROM_OK);
  carom_state_copy(a.w.state, start);
  push_run(&a, &push, a.w.state, false);
  carom_push_pose(a.w.model, a.w.state, PART, here);
  CHECK(fabs(here[2]) < 0.6 * fabs(there[2]));
  CHECK(carom_pusher_set_support(a.pusher, PART, NULL, NULL) == CAROM_OK);
  carom_state_copy(a.w.state, start);
  push_run(&a, &push, a.w.state, false);
  carom_push_pose(a.w.model, a.w.state, PART, here);
  CHECK_NEAR(here[2], there[2], 1e-9);
  carom_state_destroy(start);
  push_bench_end(&a), push_bench_end(&b);
}
