// What holds along the way of a gait (ranges, cones, clearances), several steps in a plan, and finer grids.
#include "bipeds.h"
#include "control/plan.h"

static const stage level = {.turn = {1, 0, 0, 0}, .planar = true, .gravity = {0, -3.7, 0}};

static carom_pose pose_at(const biped *b, int node, int body) {
  carom_state *s = NULL;
  carom_state_clone(b->w.state, NULL, &s, NULL);
  carom_plan_state(b->plan, node, true, s);
  carom_pose pose = carom_state_pose(b->w.model, s, body);
  carom_state_destroy(s);
  return pose;
}

static double angle_between(const biped *b, int node, int first, int second) {
  carom_quat q = cm_qmul(cm_qconj(pose_at(b, node, first).q), pose_at(b, node, second).q);
  return 2 * atan2(q.w < 0 ? -q.z : q.z, fabs(q.w));
}

static int last_node(const biped *b) { return carom_plan_node_count(b->plan) - 1; }

// ---- ranges --------------------------------------------------------------------------------------------------------

static void limit(biped *b, const char *name, double lower, double upper) {
  for (int i = 0; i < b->plan->joint_count; i++)
    if (strcmp(b->plan->joints[i].name, name) == 0) b->plan->joints[i].lower = lower, b->plan->joints[i].upper = upper;
}

// Largest angle of the swing knee over the nodes; at the last one in *end.
static double straightest(const biped *b, double *end) {
  double most = -INFINITY;
  for (int k = 0; k <= last_node(b); k++) most = fmax(most, *end = angle_between(b, k, SWING_THIGH, SWING_SHANK));
  return most;
}

TEST(ranges_hold_at_all_nodes) {
  biped free = begin_knees(level, 14, 0.9), both = begin_knees(level, 14, 0.9), one = begin_knees(level, 14, 0.9);
  limit(&both, "knee", 0.55, 2), limit(&both, "swing knee", -2, -0.55);
  limit(&one, "swing knee", -2, -0.55);
  biped *all[3] = {&free, &both, &one};
  double most[3], end[3];
  for (int i = 0; i < 3; i++) {
    add_cost(all[i]->plan, CAROM_COST_EFFORT, 0, 1);
    solve_plan(all[i]->plan);
    most[i] = straightest(all[i], &end[i]);
  }
  CHECK(most[0] > -0.54 && end[0] > -0.54);  // so that the range matters, also at the end
  for (int i = 1; i < 3; i++) CHECK_NEAR(most[i], -0.55, 1e-6);
  // The last node is left to the counterpart only where that has the same range.
  const carom_plan_joint *knee = &both.plan->joints[0], *alone = &one.plan->joints[2];
  CHECK(carom_joint_counterpart(both.plan, knee) == &both.plan->joints[2]);
  CHECK(carom_range_repeats(both.plan, knee) && !carom_range_repeats(one.plan, alone));
  CHECK_AT_MOST(end[2], -0.55 + 1e-7);
  CHECK_AT_MOST(end[1], -0.55 + 1e-7);
  for (int i = 0; i < 3; i++) end_biped(all[i]);
}

// ---- cones ---------------------------------------------------------------------------------------------------------

static double lean_of(carom_vec3 force) { return hypot(force.x, force.z) / force.y; }

TEST(feet_keep_within_narrow_cones) {
  biped wide = begin_knees(level, 14, 0.9), narrow = begin_knees(level, 14, 0.9);
  for (int i = 0; i < 2; i++) narrow.plan->joints[i == 0 ? narrow.stands : narrow.lands].friction = 0.16;
  biped *all[2] = {&wide, &narrow};
  double steepest[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    add_cost(all[i]->plan, CAROM_COST_EFFORT, 0, 1);
    solve_plan(all[i]->plan);
    for (int k = 0; k <= last_node(all[i]); k++) {
      carom_vec3 force = carom_plan_joint_force(all[i]->plan, k, all[i]->stands);
      CHECK(force.y > 0);
      steepest[i] = fmax(steepest[i], lean_of(force));
    }
    steepest[i] = fmax(steepest[i], lean_of(carom_plan_event_impulse(all[i]->plan, 0, all[i]->lands)));
  }
  CHECK(steepest[0] > 0.2);
  CHECK_NEAR(steepest[1], 0.16, 1e-6);
  end_biped(&wide);
  end_biped(&narrow);
}

// A pole on a foot is swung to and fro by its ankle: no event, and the foot pushes at the last node as at the first.
static carom_plan *swung(world *w, double mu) {
  stage s = {.turn = {1, 0, 0, 0}, .planar = true, .gravity = {0, -9.81, 0}};
  carom_builder *b = begin_stage(&s);
  put_link(b, &s, "pole", 3, cm_vec3(0.06, 0.01, 0.055), 0.4, cm_vec3(0, 0, -0.1));
  *w = finish_world(b);
  carom_plan_def def = carom_plan_default();
  def.intervals = 20, def.step = 0.05;
  carom_plan *plan = begin_plan(w, def);
  add_torque(plan, add_foot(plan, &s, "foot", 1, cm_vec3(0, 0, mu)));
  carom_periodic_def period = carom_periodic_default();
  carom_plan_set_periodic(plan, &period);
  carom_condition_def there = carom_condition_default();
  there.kind = CAROM_CONDITION_ROTATION, there.body = 1, there.node = 10;
  there.pose.q = cm_axis_angle(cm_vec3(0, 0, 1), 0.2);
  carom_plan_add_condition(plan, &there);
  there.node = 0, there.pose.q = cm_axis_angle(cm_vec3(0, 0, 1), -0.15);
  carom_plan_add_condition(plan, &there);
  add_cost(plan, CAROM_COST_EFFORT, 0, 1);
  return plan;
}

TEST(a_foot_pushes_at_the_last_node_too) {
  double lean[2], push[2];
  for (int i = 0; i < 2; i++) {
    world w;
    carom_plan *plan = swung(&w, i == 0 ? 0 : 0.25);
    solve_plan(plan);
    carom_vec3 first = carom_plan_joint_force(plan, 0, 0), last = carom_plan_joint_force(plan, 20, 0);
    lean[i] = lean_of(last), push[i] = last.y;
    CHECK(last.y > 0 && first.y > 0);
    CHECK_AT_MOST(lean_of(last), i == 0 ? INFINITY : 0.25 * (1 + 1e-7));
    CHECK_AT_MOST(lean_of(first), i == 0 ? INFINITY : 0.25 * (1 + 1e-7));
    // An upright pole falls over; forces that do not know of it keep volumes in phase space (Liouville).
    double re[2], im[2];
    int count = 0;
    CHECK(carom_plan_find_multipliers(plan, 2, re, im, &count, NULL) == CAROM_OK && count == 2);
    CHECK(re[0] > 10 && im[0] == 0);
    CHECK_NEAR(re[0] * re[1], 1, 1e-7);
    CHECK(carom_plan_find_multipliers(plan, 1, re, im, &count, NULL) == CAROM_ERR_LIMIT && count == 0);
    carom_plan_destroy(plan);
    free_world(&w);
  }
  CHECK(lean[0] > 0.3);  // so that the cone matters there
  CHECK(push[1] > 0);
}

// A wheel that turns once a period comes back with the other sign of its quaternion. Its angle grows with a disturbance
// of the rate, linearly: both multipliers are one.
TEST(multipliers_of_a_full_turn) {
  enum { K = 24 };
  stage s = {.turn = {1, 0, 0, 0}};
  carom_builder *b = begin_stage(&s);
  put_link(b, &s, "wheel", 3, cm_vec3(0.06, 0.04, 0.055), 0, cm_vec3(0, 0, 0.3));
  world w = finish_world(b);
  carom_plan_def def = carom_plan_default();
  def.intervals = K, def.step = 2.0 / K;
  carom_plan *plan = begin_plan(&w, def);
  add_hinge(plan, "axle", (int[]){0, 1}, 0, 0);
  carom_periodic_def period = carom_periodic_default();
  carom_plan_set_periodic(plan, &period);
  double times[K + 1], re[2], im[2];
  carom_pose poses[K + 1];
  for (int k = 0; k <= K; k++)
    times[k] = def.step * k,
    poses[k] = cm_pose(cm_zero3(), cm_axis_angle(cm_vec3(0, 0, 1), 0.3 + 6.283185307179586 * k / K));
  carom_plan_set_waypoints(plan, 1, K + 1, times, poses);
  solve_plan(plan);
  CHECK(cm_qdot(plan->path.q[1], plan->path.q[2 * K + 1]) < -0.99);
  int count = 0;
  CHECK(carom_plan_find_multipliers(plan, 2, re, im, &count, NULL) == CAROM_OK && count == 2);
  for (int i = 0; i < 2; i++) CHECK_AT_MOST(hypot(re[i] - 1, im[i]), 1e-5);
  carom_plan_destroy(plan);
  free_world(&w);
}

// ---- clearances ----------------------------------------------------------------------------------------------------

// The foot end of a body, halfway between nodes too.
static double height_at(const biped *b, int k, bool halfway) {
  carom_pose p = pose_at(b, k, SWING_SHANK), q = pose_at(b, halfway ? k + 1 : k, SWING_SHANK);
  // The frame turns about the centre of mass, which goes straight.
  carom_vec3 c = cm_vec3(0, 0.45 * shank_length, 0);
  carom_vec3 middle = cm_lerp(cm_transform(p, c), cm_transform(q, c), 0.5);
  carom_quat turn = cm_quat(p.q.w + q.q.w, p.q.x + q.q.x, p.q.y + q.q.y, p.q.z + q.q.z);
  return cm_sub(middle, cm_rotate(cm_qunit(turn), c)).y;
}

static void check_clearance(int K, double bump) {
  const double offset = -0.002;
  biped b = begin_knees(level, K, 0.9), low = begin_knees(level, K, 0.9);
  carom_clearance_def clear = carom_clearance_default();
  clear.body = SWING_SHANK, clear.bump = bump, clear.offset = offset, clear.from = 1, clear.normal = cm_vec3(0, 2, 0);
  CHECK(carom_plan_add_clearance(b.plan, &clear) == 0);
  biped *all[2] = {&b, &low};
  double least[2][2] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}};  // at nodes and between
  for (int i = 0; i < 2; i++) {
    add_cost(all[i]->plan, CAROM_COST_EFFORT, 0, 1);
    solve_plan(all[i]->plan);
    for (int k = 1; k < K; k++)
      for (int half = 0; half < 2; half++) {
        if (k == 1 && half == 0) continue;
        double share = (k + 0.5 * half - 1) / (K - 1);
        double over = height_at(all[i], k, half == 1) - offset - bump * sin(3.14159265358979323846 * share);
        least[i][half] = fmin(least[i][half], over);
      }
  }
  CHECK(least[1][0] < -0.01 && least[1][1] < -0.01);  // the bump matters
  CHECK_NEAR(fmin(least[0][0], least[0][1]), 0, 1e-8);
  if (K < 10) CHECK_NEAR(least[0][1], 0, 1e-8);         // it is in between that it does
  carom_plan_feet feet = carom_plan_find_feet(b.plan);  // at eight places an interval
  CHECK(feet.clearance <= 1e-8 && feet.clearance > -0.1 * bump);
  CHECK(isinf(carom_plan_find_feet(low.plan).clearance));
  end_biped(&b);
  end_biped(&low);
}

TEST(swing_feet_clear_the_ground_between_nodes_too) {
  check_clearance(13, 0.06);
  check_clearance(7, 0.1);
}

// ---- several steps -------------------------------------------------------------------------------------------------

// Two steps in one plan, the second with the legs in each other's places, are twice the one step. Both take as long as
// they like; the sum is given.
TEST(two_steps_are_twice_one) {
  enum { K = 12 };
  biped one = begin_knees(level, K, 0.8);
  add_cost(one.plan, CAROM_COST_EFFORT, 0, 1);
  carom_plan_report single = solve_plan(one.plan);
  world w = finish_world(knee_bodies(&level, NULL));
  carom_plan_def def = carom_plan_default();
  def.intervals = 2 * K, def.step = 0.8 / K;
  biped two = {.w = w, .plan = begin_plan(&w, def)};
  int joints[5] = {add_hinge(two.plan, "knee", (int[]){SHANK, THIGH}, shank_length, 0),
                   add_hinge(two.plan, "hip", (int[]){THIGH, SWING_THIGH}, thigh_length, thigh_length),
                   add_hinge(two.plan, "swing knee", (int[]){SWING_THIGH, SWING_SHANK}, 0, shank_length)};
  int first = joints[3] = add_foot(two.plan, &level, "first", SHANK, cm_vec3(0, 0, 0.7));
  int second = joints[4] = add_foot(two.plan, &level, "second", SWING_SHANK, cm_vec3(stride, 0, 0.7));
  int third = add_foot(two.plan, &level, "third", SHANK, cm_vec3(2 * stride, 0, 0.7));
  for (int i = 0; i < 5; i++) add_torque(two.plan, joints[i]);
  carom_plan_event_def middle = {K, 1, &second, 1, &first};
  CHECK(carom_plan_add_event(two.plan, &middle) == 0);
  CHECK(add_swap(two.plan, third, second) == 1);
  carom_periodic_def period = carom_periodic_default();
  period.map.p = cm_vec3(2 * stride, 0, 0);
  CHECK(carom_plan_set_periodic(two.plan, &period) == 0);
  add_cost(two.plan, CAROM_COST_EFFORT, 0, 1);
  for (int i = SHANK; i <= SWING_SHANK; i++) {
    double times[2 * K + 1];
    carom_pose poses[2 * K + 1];
    for (int k = 0; k <= 2 * K; k++) {
      int body = k <= K ? i : 5 - i;
      poses[k] = pose_at(&one, k <= K ? k : k - K, body), times[k] = 0.8 / K * k;
      if (k > K) poses[k].p.x += stride;
    }
    carom_plan_set_waypoints(two.plan, i, 2 * K + 1, times, poses);
  }
  carom_plan_report both = solve_plan(two.plan);
  CHECK_NEAR(both.cost, 2 * single.cost, 1e-6 * both.cost);
  CHECK(carom_plan_scale_count(two.plan) == 2 && carom_plan_event_node(two.plan, 0) == K);
  CHECK_NEAR(carom_plan_scale(two.plan, 0), 1, 1e-4);
  carom_plan_work work = carom_plan_find_work(two.plan), before = carom_plan_find_work(one.plan);
  CHECK_NEAR(work.loss, 2 * before.loss, 1e-4 * work.loss);
  CHECK_NEAR(work.kinds[CAROM_POWER_NET], work.loss, 1e-8);
  CHECK_NEAR(work.change, work.loss, 1e-8);
  for (int e = 0; e < 2; e++) {
    carom_vec3 lands = carom_plan_event_impulse(two.plan, e, e == 0 ? second : third);
    CHECK_AT_MOST(cm_norm(cm_sub(lands, carom_plan_event_impulse(one.plan, 0, one.lands))), 1e-3);
    CHECK(cm_norm(carom_plan_event_impulse(two.plan, e, e == 0 ? third : second)) == 0);
  }
  carom_replay_report replay;
  CHECK(carom_plan_replay(two.plan, &replay, NULL) == CAROM_OK);
  CHECK_AT_MOST(replay.position, 1e-6);
  end_biped(&one);
  end_biped(&two);
}

// ---- finer grids ---------------------------------------------------------------------------------------------------

TEST(errors_fall_with_the_square_of_the_step_long) {
  double cost[4], loss[4];
  for (int i = 0; i < 4; i++) {
    biped b = begin_knees(level, 20 << i, 0.9);
    add_cost(b.plan, CAROM_COST_EFFORT, 0, 1);
    cost[i] = solve_plan(b.plan).cost, loss[i] = carom_plan_find_work(b.plan).loss;
    end_biped(&b);
  }
  CHECK_NEAR((cost[0] - cost[1]) / (cost[1] - cost[2]), 4, 0.5);
  CHECK_NEAR((cost[1] - cost[2]) / (cost[2] - cost[3]), 4, 0.25);
  CHECK_NEAR((loss[0] - loss[1]) / (loss[1] - loss[2]), 4, 0.25);
  CHECK_NEAR((loss[1] - loss[2]) / (loss[2] - loss[3]), 4, 0.1);
}

// ---- places that cannot be -----------------------------------------------------------------------------------------

static void move_landing(biped *b, double by, double shift_by) {
  carom_plan_joint *j = &b->plan->joints[b->lands];
  j->point[0].x += by, j->found.x += by;
  b->plan->periodic.def.map.p.x += shift_by, b->plan->periodic.found.x += shift_by;
}

static void check_impossible(biped *b, const char *message) {
  carom_plan_report report;
  add_cost(b->plan, CAROM_COST_EFFORT, 0, 1);
  REQUIRE(carom_plan_solve(b->plan, NULL, &report, NULL) == CAROM_OK);
  CHECK(report.outcome == CAROM_PLAN_INFEASIBLE && report.iterations == 0 && report.violation > 0);
  CHECK_CONTAINS(report.message, message);
  end_biped(b);
}

// Legs of 2 x 0.89 m.
TEST(steps_longer_than_the_legs_are_told) {
  biped far = begin_knees(level, 8, 0.9), nearly = begin_knees(level, 8, 0.9);
  move_landing(&far, 1.5, 1.5);
  check_impossible(&far,
                   "at node 8 joints 'stands' and 'lands' are 1.86 m apart, but the bodies between them reach 1.78 m");
  move_landing(&nearly, 1.41, 1.41);
  carom_plan_report report;
  carom_plan_options options = carom_plan_default_options();
  options.max_iterations = 3;
  CHECK(carom_plan_solve(nearly.plan, &options, &report, NULL) == CAROM_OK && report.iterations > 0);
  end_biped(&nearly);
}

TEST(landings_against_the_shift_are_told) {
  biped b = begin_knees(level, 8, 0.9), c = begin_knees(level, 8, 0.9);
  move_landing(&b, 0.1, 0);
  check_impossible(&b, "joint 'lands' at the last node is 0.1 m away from where the next period begins with 'stands'");
  move_landing(&c, 0.1, 0);
  c.plan->periodic.def.reach.x = 0.04;  // not enough
  check_impossible(&c, "is 0.06 m away");
}

// Where the shift may be chosen but not the landing, and where both may: the foot comes down where its joint is.
TEST(landings_hold_where_the_shift_is_free) {
  for (int i = 0; i < 2; i++) {
    biped b = begin_knees(level, 10, 0.9);
    carom_plan_joint *lands = &b.plan->joints[b.lands];
    b.plan->periodic.def.reach.x = 0.2;
    if (i == 1) lands->reach.x = 0.05;
    add_cost(b.plan, CAROM_COST_EFFORT, 0, 1);
    solve_plan(b.plan);
    double foot = pose_at(&b, 10, SWING_SHANK).p.x, shift = carom_plan_shift(b.plan).x;
    CHECK_NEAR(foot, lands->found.x, 1e-9);
    CHECK_NEAR(shift, foot, 1e-9);
    CHECK_NEAR(shift, i == 0 ? stride : stride - 0.05, 1e-7);  // the shorter the cheaper
    end_biped(&b);
  }
}

// ---- the whole program ---------------------------------------------------------------------------------------------

typedef struct derivatives {
  carom_nlp nlp;
  double *x, *y, *g[2], *df, *dg[2], *dL[2], *values;
} derivatives;

// dL = w df + J' y
static void lagrangian_gradient(const derivatives *d, double w, double *out) {
  const carom_nlp *n = &d->nlp;
  CHECK(n->gradient(n->context, d->x, d->df) && n->jacobian(n->context, d->x, d->values));
  for (int i = 0; i < n->n; i++) out[i] = w * d->df[i];
  for (int i = 0; i < n->jacobian_count; i++) out[n->jacobian_column[i]] += d->values[i] * d->y[n->jacobian_row[i]];
}

static double *room(int count) { return calloc((size_t)count + 1, sizeof(double)); }

// Along random directions in the free variables: cost and constraints by central differences against the gradient and
// the Jacobian, the gradient of the Lagrangian against the Hessian.
static void check_program(carom_plan *plan, uint64_t seed) {
  carom_program *P = &plan->program;
  derivatives d = {.nlp = carom_program_nlp(P)};
  int n = d.nlp.n, m = d.nlp.m;
  carom_random random = carom_random_make(seed, 0);
  d.x = room(n), d.y = room(m), d.df = room(n), d.values = room(d.nlp.jacobian_count);
  double *v = room(n), *H = room(d.nlp.hessian_count), *Hv = room(n), *J = room(d.nlp.jacobian_count), *Jv = room(m),
         f[2];
  for (int i = 0; i < 2; i++) d.g[i] = room(m), d.dL[i] = room(n);
  for (int i = 0; i < m; i++) d.y[i] = carom_random_between(&random, -1, 1);
  for (int i = 0; i < n; i++) {
    bool fixed = P->x_low[i] == P->x_high[i];
    d.x[i] = P->x[i] + (fixed ? 0 : P->x_scale[i] * carom_random_between(&random, -0.05, 0.05));
    v[i] = fixed ? 0 : P->x_scale[i] * carom_random_between(&random, -1, 1);
  }
  double h = 1e-6, w = 0.7, slope = 0;
  CHECK(d.nlp.gradient(d.nlp.context, d.x, d.df) && d.nlp.jacobian(d.nlp.context, d.x, J));
  CHECK(d.nlp.hessian(d.nlp.context, d.x, w, d.y, H));
  for (int i = 0; i < n; i++) slope += d.df[i] * v[i];
  for (int i = 0; i < d.nlp.jacobian_count; i++) Jv[d.nlp.jacobian_row[i]] += J[i] * v[d.nlp.jacobian_column[i]];
  for (int i = 0; i < d.nlp.hessian_count; i++) {
    int r = d.nlp.hessian_row[i], c = d.nlp.hessian_column[i];
    Hv[r] += H[i] * v[c];
    if (r != c) Hv[c] += H[i] * v[r];
  }
  for (int side = 0; side < 2; side++) {
    for (int i = 0; i < n; i++) d.x[i] += (side == 0 ? -h : 2 * h) * v[i];
    CHECK(d.nlp.constraints(d.nlp.context, d.x, d.g[side]) && d.nlp.objective(d.nlp.context, d.x, &f[side]));
    lagrangian_gradient(&d, w, d.dL[side]);
  }
  CHECK_NEAR((f[1] - f[0]) / (2 * h), slope, 1e-6 * (1 + fabs(slope)));
  double size = 1e-3, off = 0, size2 = 1e-3, off2 = 0;
  for (int i = 0; i < m; i++)
    size = fmax(size, fabs(Jv[i])), off = fmax(off, fabs((d.g[1][i] - d.g[0][i]) / (2 * h) - Jv[i]));
  for (int i = 0; i < n; i++) {
    if (P->x_low[i] == P->x_high[i]) continue;  // not the solver's
    size2 = fmax(size2, fabs(Hv[i])), off2 = fmax(off2, fabs((d.dL[1][i] - d.dL[0][i]) / (2 * h) - Hv[i]));
  }
  CHECK_AT_MOST(off, 1e-7 * size);
  CHECK_AT_MOST(off2, 1e-6 * size2);
  double *all[] = {d.x, d.y, d.df, d.values, v, H, Hv, J, Jv, d.g[0], d.g[1], d.dL[0], d.dL[1]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

// All that a gait can be asked for at once.
static void ask_for_all(biped *b, int swings) {
  carom_clearance_def clear = carom_clearance_default();
  clear.body = swings, clear.bump = 0.02, clear.normal = b->mirror < 0 ? cm_vec3(0.1, 1, 0) : cm_vec3(0, 0.1, 1);
  carom_plan_add_clearance(b->plan, &clear);
  b->plan->periodic.def.reach = cm_scale(0.3, b->shift);
  b->plan->joints[b->lands].reach = cm_scale(0.2, b->shift);
  add_cost(b->plan, CAROM_COST_EFFORT, 0, 0.3);
  add_cost(b->plan, CAROM_COST_PEAK, 0, 0.2);
  for (int power = CAROM_POWER_TOTAL; power <= CAROM_POWER_NET; power++) {
    add_cost(b->plan, CAROM_COST_WORK, (carom_power)power, 1 + power);
    add_cost(b->plan, CAROM_COST_TRANSPORT, (carom_power)power, 2 + power);
  }
}

TEST(derivatives_of_whole_programs) {
  for (int i = 0; i < 3; i++) {
    stage tilted = {.turn = cm_axis_angle(cm_vec3(0.3, 1, 0.2), 0.7), .gravity = {0, -3.7, 0}};
    biped b = i == 2 ? begin_sway(5, 0.6) : begin_knees(i == 0 ? level : tilted, 6, 0.9);
    if (i < 2) limit(&b, "knee", 0.1, 2);
    ask_for_all(&b, i == 2 ? RIGHT : SWING_SHANK);
    carom_guess_kind kind = CAROM_GUESS_PATH;
    REQUIRE(carom_guess_make(b.plan, &kind, 1, NULL) == CAROM_OK && carom_guess_forces(b.plan, NULL) == CAROM_OK);
    REQUIRE(carom_transcribe(b.plan, NULL) == CAROM_OK);
    for (uint64_t seed = 1; seed <= 5; seed++) check_program(b.plan, seed);
    end_biped(&b);
  }
}
