// Events in a plan that are no steps: what is let go flies, what is caught turns about the place where it was caught;
// and mistakes in all that belongs to phases.
#include "walkers.h"

static const stage level = {.turn = {1, 0, 0, 0}, .gravity = {0.4, -9.81, 0.3}};

static carom_plan_def exactly(int K, double T) {
  carom_plan_def def = carom_plan_default();
  def.intervals = K, def.step = T / K, def.scale_low = def.scale_high = 1;  // time goes as it goes
  return def;
}

static carom_state *state_at(const world *w, const carom_plan *plan, int node, bool after) {
  carom_state *s = NULL;
  if (carom_state_clone(w->state, NULL, &s, NULL) != CAROM_OK) exit(1);
  carom_plan_state(plan, node, after, s);
  return s;
}

static void check_same(carom_vec3 a, carom_vec3 b, double tolerance) {
  CHECK_AT_MOST(cm_norm(cm_sub(a, b)), tolerance);
}

static carom_plan_joint_def ball(const int body[2], carom_vec3 p, carom_vec3 q) {
  carom_plan_joint_def def = carom_plan_joint_default();
  def.body[0] = body[0], def.body[1] = body[1], def.point[0] = p, def.point[1] = q;
  return def;
}

// ---- letting go ----------------------------------------------------------------------------------------------------

// A club swings from a pivot in space and is let go at node 9 of 20.
TEST(what_is_let_go_flies) {
  enum { K = 20, LET = 9 };
  const double T = 0.6, c = -0.3;
  carom_builder *b = begin_stage(&level);
  carom_body_def def = inert_body(1.7, cm_vec3(0.05, 0.02, 0.045));
  def.name = "club", def.center = cm_vec3(0, c, 0);
  def.angular_velocity = cm_vec3(1.1, 0.4, 2.3);
  def.velocity = cm_cross(def.angular_velocity, def.center);  // about the pivot in the origin
  carom_builder_add_body(b, &def);
  world w = finish_world(b);
  carom_plan *plan = begin_plan(&w, exactly(K, T));
  carom_plan_joint_def pivot = ball((int[]){0, 1}, cm_zero3(), cm_zero3());
  pivot.name = "pivot";
  int joint = carom_plan_add_joint(plan, &pivot);
  carom_plan_event_def let = {LET, 0, NULL, 1, &joint};
  REQUIRE(carom_plan_add_event(plan, &let) == 0);
  solve_plan(plan);
  carom_state *gone = state_at(&w, plan, LET, true), *held = state_at(&w, plan, LET, false);
  check_same(gone->p[1], held->p[1], 1e-10);  // letting go is no blow
  check_same(gone->l[1], held->l[1], 1e-10);
  CHECK_AT_MOST(cm_norm(cm_add(held->x[1], cm_rotate(held->q[1], cm_vec3(0, -c, 0)))), 1e-9);
  for (int k = LET; k <= K; k++) {
    carom_state *s = state_at(&w, plan, k, true);
    double t = T / K * (k - LET);
    carom_vec3 v = cm_scale(1 / 1.7, gone->p[1]);
    check_same(s->x[1], cm_axpy(cm_axpy(gone->x[1], t, v), 0.5 * t * t, level.gravity), 1e-9);
    check_same(s->l[1], gone->l[1], 1e-9);  // nothing turns it any more
    if (k > LET) check_same(carom_plan_joint_force(plan, k, joint), cm_zero3(), 0);
    carom_state_destroy(s);
  }
  CHECK(cm_norm(carom_plan_joint_force(plan, LET - 1, joint)) > 1);
  CHECK_AT_MOST(fabs(carom_plan_find_work(plan).loss), 1e-9);
  carom_replay_report replay;
  CHECK(carom_plan_replay(plan, &replay, NULL) == CAROM_OK);
  CHECK_AT_MOST(replay.position, 1e-7);
  carom_state_destroy(gone), carom_state_destroy(held);
  carom_plan_destroy(plan);
  free_world(&w);
}

// ---- catching ------------------------------------------------------------------------------------------------------

// A stick flies past and is caught by its end, wherever that is then. About the hook its angular momentum is kept,
// which says what is left of the motion; from then on the end stays where it was caught.
TEST(what_is_caught_turns_about_the_place) {
  enum { K = 24, CATCH = 10 };
  const carom_vec3 moments = {0.12, 0.03, 0.1}, end = {0, 0.5, 0};
  const double m = 1.4, T = 0.5;
  carom_builder *b = begin_stage(&level);
  carom_body_def def = inert_body(m, moments);
  def.name = "stick", def.pose.p = cm_vec3(0.2, 1, -0.3);
  def.velocity = cm_vec3(2, 1.5, -0.5), def.angular_velocity = cm_vec3(0.3, -0.6, -1.5);
  carom_builder_add_body(b, &def);
  world w = finish_world(b);
  carom_plan *plan = begin_plan(&w, exactly(K, T));
  carom_plan_joint_def hook = ball((int[]){0, 1}, cm_vec3(0.5, 1.6, 0), end);
  hook.reach = cm_vec3(2, 2, 2);
  int joint = carom_plan_add_joint(plan, &hook);
  carom_plan_event_def caught = {CATCH, 1, &joint, 0, NULL};
  REQUIRE(carom_plan_add_event(plan, &caught) == 0);
  solve_plan(plan);
  carom_state *before = state_at(&w, plan, CATCH, false), *after = state_at(&w, plan, CATCH, true);
  carom_vec3 arm = cm_rotate(after->q[1], end), at = cm_add(after->x[1], arm);
  // (J - m hat(r)^2) omega = L about the hook, r from the hook to the centre
  carom_vec3 r = cm_neg(arm), L = cm_add(before->l[1], cm_cross(r, before->p[1]));
  carom_vec3 omega = carom_state_angular_velocity(w.model, after, 1);
  carom_vec3 spin = cm_rotate(after->q[1], cm_mul_diag(w.model->bodies[1].inertia, cm_unrotate(after->q[1], omega)));
  check_same(cm_add(spin, cm_scale(m, cm_cross(r, cm_cross(omega, r)))), L, 1e-9);
  check_same(after->p[1], cm_scale(m, cm_cross(omega, r)), 1e-9);
  check_same(carom_plan_event_impulse(plan, 0, joint), cm_sub(after->p[1], before->p[1]), 1e-10);
  CHECK(carom_plan_find_work(plan).loss > 0.1);
  for (int k = CATCH; k <= K; k++) {
    carom_state *s = state_at(&w, plan, k, true);
    check_same(cm_add(s->x[1], cm_rotate(s->q[1], end)), at, 1e-9);
    carom_state_destroy(s);
  }
  double t = T / K * CATCH;  // until then it flew freely
  check_same(before->x[1], cm_axpy(cm_axpy(def.pose.p, t, def.velocity), 0.5 * t * t, level.gravity), 1e-9);
  carom_replay_report replay;
  CHECK(carom_plan_replay(plan, &replay, NULL) == CAROM_OK);
  CHECK_AT_MOST(replay.position, 1e-7);
  carom_state_destroy(before), carom_state_destroy(after);
  carom_plan_destroy(plan);
  free_world(&w);
}

// Caught on the way and let go again; a reach that does not reach is told by the joint's name.
TEST(caught_and_let_go) {
  carom_builder *b = begin_stage(&level);
  carom_body_def def = inert_body(0.8, cm_vec3(0.02, 0.02, 0.02));
  def.name = "ball", def.velocity = cm_vec3(1, 3, 0);
  carom_builder_add_body(b, &def);
  world w = finish_world(b);
  for (int reachable = 0; reachable < 2; reachable++) {
    carom_plan *plan = begin_plan(&w, exactly(18, 0.45));
    carom_plan_joint_def hook = ball((int[]){0, 1}, cm_vec3(0.2, 0.4, 0), cm_vec3(0.3, 0, 0.1));
    hook.name = "hook", hook.reach = cm_vec3(1, reachable ? 1 : 0.001, 1);
    int joint = carom_plan_add_joint(plan, &hook);
    carom_plan_event_def events[2] = {{6, 1, &joint, 0, NULL}, {12, 0, NULL, 1, &joint}};
    for (int i = 0; i < 2; i++) REQUIRE(carom_plan_add_event(plan, &events[i]) == i);
    carom_plan_report report;
    REQUIRE(carom_plan_solve(plan, NULL, &report, NULL) == CAROM_OK);
    CHECK(report.outcome == (reachable ? CAROM_PLAN_SOLVED : CAROM_PLAN_INFEASIBLE));
    if (!reachable) CHECK(report.message[0] != '\0');
    carom_state *s = state_at(&w, plan, 12, true), *end = state_at(&w, plan, 18, true);
    carom_vec3 v = cm_scale(1 / 0.8, s->p[1]);
    double t = 6 * 0.45 / 18;
    if (reachable) check_same(end->x[1], cm_axpy(cm_axpy(s->x[1], t, v), 0.5 * t * t, level.gravity), 1e-9);
    carom_state_destroy(s), carom_state_destroy(end);
    carom_plan_destroy(plan);
  }
  free_world(&w);
}

// ---- mistakes ------------------------------------------------------------------------------------------------------

typedef struct pair_of_legs {
  world w;
  carom_plan *plan;
} pair_of_legs;

// Two alike, one heavier, one leaning to the side with its centre.
static pair_of_legs legs(void) {
  stage s = level;
  carom_builder *b = begin_stage(&s);
  for (int i = 0; i < 4; i++) {
    static const char *const names[] = {"a", "b", "heavy", "bent"};
    carom_body_def def = inert_body(i == 2 ? 2.1 : 2, cm_vec3(0.1, 0.02, 0.1));
    def.name = names[i], def.pose.p = cm_vec3(i, 0, 0), def.center = cm_vec3(i == 3 ? 0.03 : 0, 0.4, 0);
    carom_builder_add_body(b, &def);
  }
  pair_of_legs out = {.w = finish_world(b)};
  out.plan = begin_plan(&out.w, exactly(10, 1));
  return out;
}

static void check_refused(pair_of_legs *l, int index, const char *message) {
  carom_error error = {0};
  carom_plan_report report;
  CHECK(index == -1);
  CHECK(carom_plan_check(l->plan, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, message);
  CHECK(carom_plan_solve(l->plan, NULL, &report, &error) == CAROM_ERR_ARGUMENT);
  carom_plan_destroy(l->plan);
  free_world(&l->w);
}

static void refuse_swap(const int (*swap)[2], int count, int mirror, const char *message) {
  pair_of_legs l = legs();
  carom_periodic_def def = carom_periodic_default();
  def.swap = swap, def.swap_count = count, def.mirror = mirror;
  check_refused(&l, carom_plan_set_periodic(l.plan, &def), message);
}

TEST(odd_swaps_are_refused) {
  refuse_swap((const int[][2]){{1, 3}}, 1, -1, "body 'a' takes the place of 'heavy' but is not like it: their masses");
  refuse_swap((const int[][2]){{1, 4}}, 1, -1, "body 'a' takes the place of 'bent' but is not like it");
  refuse_swap((const int[][2]){{1, 2}}, 1, 0, "body 'bent' takes the place of 'bent' but is not like it (mirrored)");
  refuse_swap((const int[][2]){{1, 2}, {2, 1}}, 2, -1, "body 'b' is swapped twice");
  refuse_swap((const int[][2]){{1, 1}}, 1, -1, "body 'a' is swapped twice");
  refuse_swap((const int[][2]){{0, 1}}, 1, -1, "a swap of body 'ground', which does not move");
  refuse_swap((const int[][2]){{1, 9}}, 1, -1, "a swap names body 9, but there are 5");
  refuse_swap((const int[][2]){{-1, 2}}, 1, -1, "a swap names body -1");
  refuse_swap(NULL, 0, 3, "the mirror is x, y, z or none");
}

TEST(odd_maps_are_refused) {
  for (int i = 0; i < 4; i++) {
    static const char *const messages[] = {"reach must not be negative", "needs numbers", "needs numbers",
                                           "one way only"};
    pair_of_legs l = legs();
    carom_periodic_def def = carom_periodic_default();
    if (i == 3) CHECK(carom_plan_set_periodic(l.plan, &def) == 0);
    if (i == 0) def.reach = cm_vec3(0.1, -0.1, 0);
    if (i == 1) def.map.q = cm_quat(0, 0, 0, 0);
    if (i == 2) def.map.p.y = INFINITY;
    check_refused(&l, carom_plan_set_periodic(l.plan, &def), messages[i]);
  }
}

typedef struct odd_event {
  int node, caught, released;  // -1: none
  const char *message;
} odd_event;

TEST(odd_events_are_refused) {
  static const odd_event odd[] = {{0, 0, -1, "an event at node 0: expected nodes in ascending order"},
                                  {11, 0, -1, "an event at node 11"},
                                  {-5, 0, -1, "an event at node -5"},
                                  {4, -1, -1, "it neither catches nor releases"},
                                  {4, 7, -1, "an event names joint 7, but there are 2"},
                                  {4, -1, 2, "an event names joint 2, but there are 2"},
                                  {4, 0, 0, "joint 'one' is caught and released at once, at node 4"}};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    pair_of_legs l = legs();
    add_hinge(l.plan, "one", (int[]){0, 1}, 0, 0), add_hinge(l.plan, "two", (int[]){1, 2}, 0, 0);
    carom_plan_event_def def = {odd[i].node, odd[i].caught >= 0, &odd[i].caught, odd[i].released >= 0,
                                &odd[i].released};
    check_refused(&l, carom_plan_add_event(l.plan, &def), odd[i].message);
  }
}

// One after the other.
TEST(events_out_of_turn_are_refused) {
  static const odd_event odd[][2] = {{{4, 0, -1, ""}, {4, 1, -1, "an event at node 4"}},
                                     {{4, 0, -1, ""}, {3, 1, -1, "an event at node 3"}},
                                     {{4, 0, -1, ""}, {6, 0, -1, "joint 'one' is caught twice"}},
                                     {{4, -1, 0, ""}, {6, -1, 0, "joint 'one' is released twice"}},
                                     {{4, -1, 0, ""}, {6, 0, -1, "joint 'one' is released before it is caught"}},
                                     {{-1, 0, -1, ""}, {10, 1, -1, "an event at node 10"}}};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    pair_of_legs l = legs();
    add_hinge(l.plan, "one", (int[]){0, 1}, 0, 0), add_hinge(l.plan, "two", (int[]){1, 2}, 0, 0);
    int index = 0;
    for (int k = 0; k < 2; k++) {
      const odd_event *o = &odd[i][k];
      carom_plan_event_def def = {o->node, o->caught >= 0, &o->caught, o->released >= 0, &o->released};
      CHECK(index == 0);
      index = carom_plan_add_event(l.plan, &def);
    }
    check_refused(&l, index, odd[i][1].message);
  }
}

TEST(odd_joints_are_refused) {
  for (int i = 0; i < 6; i++) {
    static const char *const messages[] = {"it leaves nothing",        "less than a turn apart", "only revolute",
                                           "friction must not be neg", "reach must not be neg",  "needs an axis"};
    pair_of_legs l = legs();
    carom_plan_joint_def def = ball((int[]){0, 1}, cm_zero3(), cm_zero3());
    def.name = "odd", def.kind = CAROM_PLAN_REVOLUTE;
    if (i == 0) def.lower = 1, def.upper = 0.5;
    if (i == 1) def.lower = 1;
    if (i == 2) def.kind = CAROM_PLAN_SPHERICAL, def.lower = -1, def.upper = 1;
    if (i == 3) def.friction = -0.1;
    if (i == 4) def.reach.z = -1;
    if (i == 5) def.axis = cm_zero3();
    check_refused(&l, carom_plan_add_joint(l.plan, &def), messages[i]);
  }
}

TEST(odd_clearances_are_refused) {
  for (int i = 0; i < 6; i++) {
    static const char *const messages[] = {"a body that moves", "a body that moves", "needs a normal",
                                           "needs a normal",    "from node 4 to 4",  "from node 0 to 11"};
    pair_of_legs l = legs();
    carom_clearance_def def = carom_clearance_default();
    def.body = i == 0 ? 0 : i == 1 ? 12 : 1;
    if (i == 2) def.normal = cm_zero3();
    if (i == 3) def.bump = NAN;
    if (i == 4) def.from = def.until = 4;
    if (i == 5) def.until = 11;
    check_refused(&l, carom_plan_add_clearance(l.plan, &def), messages[i]);
  }
}

TEST(odd_horizons_are_refused) {
  pair_of_legs l = legs();
  for (int i = 0; i < 4; i++) {
    static const char *const messages[] = {"the horizon is", "the horizon is", "that leaves nothing",
                                           "allowed to be 1"};
    carom_plan_def def = exactly(10, i == 0 ? -1 : i == 1 ? 0 : 1);
    if (i == 2) def.free_time = true, def.shortest = 2, def.longest = 1;
    if (i == 3) def.scale_low = 1.5;
    carom_plan *plan = NULL;
    carom_error error = {0};
    CHECK(carom_plan_create(l.w.model, l.w.state, &def, NULL, &plan, &error) != CAROM_OK);
    CHECK_CONTAINS(error.message, messages[i]);
    CHECK(!plan);
  }
  carom_plan_destroy(l.plan);
  free_world(&l.w);
}

// Work over weight and way asks for both.
TEST(transport_without_a_way_is_refused) {
  for (int i = 0; i < 2; i++) {
    pair_of_legs l = legs();
    carom_periodic_def def = carom_periodic_default();
    if (i == 1) CHECK(carom_plan_set_periodic(l.plan, &def) == 0);
    add_cost(l.plan, CAROM_COST_TRANSPORT, CAROM_POWER_NET, 1);
    carom_plan_report report;
    carom_error error = {0};
    CHECK(carom_plan_solve(l.plan, NULL, &report, &error) == CAROM_ERR_ARGUMENT);
    CHECK_CONTAINS(error.message, "a periodic motion with a shift");
    carom_plan_destroy(l.plan);
    free_world(&l.w);
  }
}

TEST(multipliers_without_a_period_are_refused) {
  pair_of_legs l = legs();
  double re[4], im[4];
  int count = 7;
  carom_error error = {0};
  CHECK(carom_plan_find_multipliers(l.plan, 4, re, im, &count, &error) == CAROM_ERR_ARGUMENT && count == 0);
  CHECK_CONTAINS(error.message, "there is no plan yet");
  solve_plan(l.plan);
  CHECK(carom_plan_find_multipliers(l.plan, 4, re, im, &count, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "only a periodic motion");
  carom_plan_destroy(l.plan);
  free_world(&l.w);
}
