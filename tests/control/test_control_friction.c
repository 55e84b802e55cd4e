// Friction at planned contacts that stops the point or lets it slide, as Coulomb's law has it at the blow: against the
// impact laws, closed formulas, and replays by the forward integrator.
#include "blows.h"

static const char *const wall =
    "  - {name: wall, fixed: true, shape: halfspace, rotation: {axis: [1, 0, 0], angle: -90 deg}}\n"
    "integrator: {step: 0.02 s}\nduration: 1 s\n";

// ---- blows that leave nothing to choose: the plan must come to what the law says ------------------------------------

typedef struct throw {
  const char *shape;
  carom_vec3 axis, velocity, spin, target;
  double angle, height, e, mu;
}
throw;

static carom_plan_file *read_throw(const throw *t, const char *mode, const char *guess) {
  char scene[1000], problem[900];
  snprintf(scene, sizeof scene,
           "carom: 1\nbodies:\n  - {name: body, density: 100, shape: {%s}, position: [0, %.17g, 0], rotation: {axis: "
           "[%.17g, %.17g, %.17g], angle: %.17g rad}, velocity: [%.17g, %.17g, %.17g], angular_velocity: [%.17g, "
           "%.17g, %.17g]}\n%s",
           t->shape, t->height, CAROM_XYZ(t->axis), t->angle, CAROM_XYZ(t->velocity), CAROM_XYZ(t->spin), wall);
  snprintf(problem, sizeof problem,
           "carom-plan: 1\nscene: test_friction_throw_scene.yaml\nhorizon: {intervals: 12, duration: 0.6 s}\n"
           "actuators: [{body: body, torque: false}]\ncosts: [{effort: 1}]\n"
           "conditions: [{body: body, position: [%.17g, %.17g, %.17g]}]\navoid: {pairs: [[body, wall]]}\n"
           "contacts: [{node: 6, bodies: [body, wall], restitution: %.17g, friction: %.17g, friction_mode: %s}]\n"
           "guess: {kind: %s}\n",
           CAROM_XYZ(t->target), t->e, t->mu, mode, guess);
  return read_texts("test_friction_throw", scene, problem);
}

// Whether a program of a choice is solved from one start hangs on round-off in a case of a hundred: then from more.
static bool solve_surely(carom_plan_file *file, carom_plan_report *report) {
  if (!solve(file->plan, &file->options, report)) return false;
  if (report->outcome == CAROM_PLAN_SOLVED) return true;
  file->options.starts = 6, file->options.threads = 1;
  return solve(file->plan, &file->options, report);
}

// 1: stopped, 0: slides on, -1: no answer.
static int check_throw(const throw *t) {
  carom_plan_file *file = read_throw(t, "choose", "forward");
  carom_plan_report report;
  if (!file || !solve_surely(file, &report)) return -1;
  const carom_plan *plan = file->plan;
  if (report.outcome != CAROM_PLAN_SOLVED) {
    carom_plan_file_destroy(file);
    return -1;
  }
  check_plan(plan, &report);
  CHECK_AT_MOST(report.complementarity, 1e-8);
  int k = carom_plan_contact_node(plan, 0);
  carom_vec3 arm = turn_of(plan, k, 0, plan->contacts[0].features.point);
  side b = side_of(plan, k, 0, false), a = side_of(plan, k, 0, true);
  carom_vec3 push = cm_sub(a.p, b.p), slip = speed_at(&a, arm);
  double law[3], size = cm_norm(push);
  impact_by_law(plan, k, arm, &b, (double[]){t->e, t->mu}, law);
  CHECK_NEAR(push.y, law[0], 1e-7 * size);
  CHECK_NEAR(push.x, law[1], 1e-7 * size);
  CHECK_NEAR(push.z, law[2], 1e-7 * size);
  CHECK_AT_MOST(hypot(push.x, push.z), t->mu * push.y * (1 + 1e-9) + 1e-15);
  CHECK_NEAR(slip.y, -t->e * speed_at(&b, arm).y, 1e-9);
  carom_plan_file_destroy(file);
  return hypot(slip.x, slip.z) < 1e-9;
}

static carom_vec3 draw3(carom_random *random, double size) {
  double x = carom_random_normal(random), y = carom_random_normal(random), z = carom_random_normal(random);
  return cm_scale(size, cm_vec3(x, y, z));
}

TEST(random_blows_obey_coulombs_law_long) {
  static const char *const shapes[] = {"box: {size: [0.1, 0.1, 0.1]}", "box: {size: [0.02, 0.5, 0.03]}",
                                       "octahedron: {edge: 0.2}", "tetrahedron: {edge: 0.3}",
                                       "prism: {sides: 5, radius: 0.1, height: 0.3}"};
  carom_random random = carom_random_make(20261118, 0);
  int counts[3] = {0};
  for (int i = 0; i < 60; i++) {
    throw t = {.shape = shapes[i % 5], .axis = draw3(&random, 1), .spin = draw3(&random, 1.5)};
    t.angle = carom_random_between(&random, 0.2, 3);
    t.velocity = draw3(&random, 0.7);
    t.velocity.y = carom_random_between(&random, -2, -1);
    t.height = 0.25 - 0.25 * t.velocity.y;
    t.e = i % 4 == 0 ? 0 : carom_random_between(&random, 0, 1);
    t.mu = exp(carom_random_between(&random, log(0.05), log(1.5)));
    t.target = draw3(&random, 0.2);
    t.target.y = carom_random_between(&random, 0.3, 0.5);
    counts[check_throw(&t) + 1]++;
  }
  // Over other seeds 2 of 1020 have no answer from any of six starts; which ones they are hangs on round-off.
  CHECK(counts[1] >= 15 && counts[2] >= 15 && counts[0] <= 1);
}

// ---- closed formulas -----------------------------------------------------------------------------------------------

// A ball without spin about y: friction mu (1 + e) m v_n takes from the slip at the rate 7/2 of what it takes from the
// speed, until the ball rolls: |u_t| <= 7/2 mu (1 + e) v_n (Routh 1905, sec. 182).
static bool check_ball(double mu, double e, double speed) {
  throw t = {.shape = "sphere: {radius: 0.08}", .axis = {0, 0, 1}, .velocity = {speed, -1, 0.1}};
  t.spin = cm_vec3(0.4, 0.2, -0.7), t.height = 0.4, t.target = cm_vec3(0.6 * speed, 0.35, 0.05), t.mu = mu, t.e = e;
  carom_plan_file *file = read_throw(&t, "choose", "forward");
  carom_plan_report report;
  if (!file || !solve(file->plan, &file->options, &report)) return false;
  const carom_plan *plan = file->plan;
  check_plan(plan, &report);
  CHECK_AT_MOST(report.complementarity, 1e-8);
  int k = carom_plan_contact_node(plan, 0);
  side b = side_of(plan, k, 0, false), a = side_of(plan, k, 0, true);
  carom_vec3 arm = cm_vec3(0, -0.08, 0), before = speed_at(&b, arm), after = speed_at(&a, arm);
  double m = plan->model->bodies[0].mass, N = -(1 + e) * m * before.y, slip = hypot(before.x, before.z);
  CHECK(before.y < -0.1);
  double Lt = fmin(mu * N, 2 * m * slip / 7);
  carom_vec3 push = cm_vec3(-Lt * before.x / slip, N, -Lt * before.z / slip);
  CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(a.p, b.p), push)), 1e-8 * m);
  CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(a.l, b.l), cm_cross(arm, push))), 1e-9 * m);
  CHECK_NEAR(position(plan, k, 0).y, 0.08, 1e-9);
  bool rolls = 2 * slip / 7 < mu * (1 + e) * -before.y;
  CHECK((hypot(after.x, after.z) < 1e-8) == rolls);
  carom_plan_file_destroy(file);
  return rolls;
}

TEST(a_ball_slips_or_rolls_off) {
  int rolling = 0, count = 0;
  for (double speed = 0.3; speed < 2.1; speed += 0.6)
    for (double mu = 0.04; mu < 0.7; mu *= 2) rolling += check_ball(mu, count % 2 ? 0.6 : 0.2, speed), count++;
  CHECK(rolling >= 4 && count - rolling >= 4);
}

// A thin rod with its tips in the plane z = 0, normal y: with W from closed formulas, the impulse that stops the point
// is W^-1 (-u_t, -(1 + e) u_n); if it leaves the cone, Lambda = N (-s mu, 1) with s the sign of the slip that is left.
static void rod_impulse(const double W[3], const double u[2], const double law[2], double L[2]) {
  double xx = W[0], xy = W[1], yy = W[2], det = xx * yy - xy * xy, gx = -u[0], gy = -(1 + law[0]) * u[1];
  L[0] = (yy * gx - xy * gy) / det, L[1] = (xx * gy - xy * gx) / det;
  for (int i = 0; i < 2 && fabs(L[0]) > law[1] * L[1]; i++) {
    double s = i == 0 ? 1 : -1, N = gy / (yy - s * law[1] * xy), slip = u[0] + N * (xy - s * law[1] * xx);
    if (N > 0 && s * slip >= 0) L[1] = N, L[0] = -s * law[1] * N;
  }
}

static bool check_rod(double mu, double e, double angle) {
  throw t = {.shape = "hull: [[0.2, 0, 0], [-0.2, 0, 0], [0, 0.02, 0], [0, -0.02, 0], [0, 0, 0.03], [0, 0, -0.03]]",
             .axis = {0, 0, 1},
             .velocity = {0.5, -1.2, 0}};
  t.angle = angle, t.height = 0.5, t.mu = mu, t.e = e, t.target = cm_vec3(0.4, 0.4, 0), t.spin = cm_vec3(0, 0, 0.5);
  carom_plan_file *file = read_throw(&t, "choose", "forward");
  carom_plan_report report;
  if (!file || !solve(file->plan, &file->options, &report)) return false;
  const carom_plan *plan = file->plan;
  check_plan(plan, &report);
  CHECK_AT_MOST(report.complementarity, 1e-8);
  int k = carom_plan_contact_node(plan, 0);
  side b = side_of(plan, k, 0, false), a = side_of(plan, k, 0, true);
  carom_vec3 r = turn_of(plan, k, 0, plan->contacts[0].features.point), u = speed_at(&b, r), push = cm_sub(a.p, b.p);
  const carom_body *rod = &plan->model->bodies[0];
  double m = rod->mass, J = m * (0.2 * 0.2 + 0.02 * 0.02) / 10, L[2];  // of a bipyramid
  CHECK_AT_MOST(fabs(r.z) + fabs(u.z), 1e-7);
  double W[3] = {1 / m + r.y * r.y / J, -r.x * r.y / J, 1 / m + r.x * r.x / J};
  rod_impulse(W, (double[]){u.x, u.y}, (double[]){e, mu}, L);
  CHECK_NEAR(push.x, L[0], 1e-8 * m);
  CHECK_NEAR(push.y, L[1], 1e-8 * m);
  carom_plan_file_destroy(file);
  return fabs(L[0]) < 0.999999 * mu * L[1];
}

TEST(a_rod_sticks_with_its_end_or_slides) {
  int sticking = 0, count = 0;
  for (double mu = 0.05; mu < 1.3; mu *= 1.7)
    for (double angle = 0.3; angle < 1.3; angle += 0.4) sticking += check_rod(mu, count % 3 * 0.3, angle), count++;
  CHECK(sticking >= 4 && count - sticking >= 4);
}

// ---- joints, and two bodies that move ------------------------------------------------------------------------------

static void energy_of(const carom_plan *plan, int node, bool after, double *energy) {
  *energy = 0;
  for (int i = 0; i < plan->model->body_count; i++) {
    if (plan->model->bodies[i].fixed) continue;
    side s = side_of(plan, node, i, after);
    *energy += 0.5 * cm_dot(s.p, s.v) + 0.5 * cm_dot(s.l, s.omega);
  }
}

// Whatever the joints: along the normal by e, in the cone, opposite to the slip that is left, or no slip; no energy
// comes of it. The replay goes by the impact law itself, with what the joints make of W.
static bool check_blow(const carom_plan *plan, carom_vec3 push, carom_vec3 before, carom_vec3 after) {
  const carom_planned_contact_def *d = &plan->contacts[0].def;
  const double *x = plan->program.x + plan->contacts[0].normal;
  carom_vec3 n = cm_unit(cm_vec3(x[0], x[1], x[2]));
  double N = cm_dot(n, push), un = cm_dot(n, after), kinetic[2];
  carom_vec3 friction = cm_axpy(push, -N, n), slip = cm_axpy(after, -un, n);
  CHECK_NEAR(un, -d->restitution * cm_dot(n, before), 1e-9);
  CHECK(N > 0 && cm_norm(friction) <= d->friction * N * (1 + 1e-8));
  CHECK_NEAR(cm_dot(friction, slip), -cm_norm(friction) * cm_norm(slip), 1e-9 * N);
  bool stops = cm_norm(slip) < 1e-8;
  if (!stops) CHECK_NEAR(cm_norm(friction), d->friction * N, 1e-8 * N);
  for (int i = 0; i < 2; i++) energy_of(plan, d->node, i == 1, &kinetic[i]);
  CHECK(kinetic[1] <= kinetic[0] * (1 + 1e-9));
  return stops;
}

static bool strike_on_a_hinge(double mu) {
  char problem[800];
  snprintf(problem, sizeof problem,
           "carom-plan: 1\nscene: test_friction_hinge_scene.yaml\nhorizon: {intervals: 20, duration: 1 s}\n"
           "actuators: [{body: far}]\nconditions: [{body: far, position: [0.5, 0.60, 0]}]\ncosts: [{effort: 1}]\n"
           "contacts: [{node: 8, bodies: [near, wall], restitution: 0.3, friction: %g, friction_mode: choose}]\n"
           "avoid: {pairs: [[near, wall], [far, wall]]}\nguess: {kind: forward}\n",
           mu);
  carom_plan_file *file = read_texts(
      "test_friction_hinge",
      "carom: 1\nbodies:\n"
      "  - {name: near, density: 200, shape: {box: {size: [0.05, 0.2, 0.07]}}, position: [0, 0.35, 0], "
      "rotation: {axis: [1, 0.3, 0.4], angle: 0.5 rad}, velocity: [0.3, -0.6, 0.1]}\n"
      "  - {name: far, density: 70, shape: {box: {size: [0.08, 0.2, 0.06]}}, "
      "position: [-0.03127174819310104, 0.5450072558355385, 0.09692392860609872], "
      "rotation: {axis: [1, 0.3, 0.4], angle: 0.5 rad}, velocity: [0.3, -0.6, 0.1]}\n"
      "  - {name: wall, fixed: true, shape: halfspace, rotation: {axis: [1, 0, 0], angle: -90 deg}}\n"
      "joints:\n  - {name: elbow, kind: revolute, between: [near, far], points: [[0, 0.11, 0], [0, -0.11, 0]], "
      "axes: [[0, 0, 1], [0, 0, 1]]}\nintegrator: {step: 0.02 s}\nduration: 1 s\n",
      problem);
  carom_plan_report report;
  if (!file || !solve(file->plan, &file->options, &report)) return false;
  const carom_plan *plan = file->plan;
  check_plan(plan, &report);
  CHECK_AT_MOST(report.complementarity, 1e-8);
  enum { NEAR, FAR };
  int k = carom_plan_contact_node(plan, 0);
  carom_vec3 corner = turn_of(plan, k, NEAR, plan->contacts[0].features.point);
  side b[2] = {side_of(plan, k, NEAR, false), side_of(plan, k, FAR, false)};
  side a[2] = {side_of(plan, k, NEAR, true), side_of(plan, k, FAR, true)};
  carom_vec3 push = cm_sub(cm_add(a[0].p, a[1].p), cm_add(b[0].p, b[1].p));
  bool stops = check_blow(plan, push, speed_at(&b[0], corner), speed_at(&a[0], corner));
  carom_plan_file_destroy(file);
  return stops;
}

TEST(a_bar_on_a_hinge_slides_or_stops) {
  CHECK(!strike_on_a_hinge(0.05));
  CHECK(strike_on_a_hinge(1.2));
}

// A gem strikes another that floats; all that changes hands is one impulse.
static bool strike_a_floating_one(double mu, const char *mode) {
  char problem[800];
  snprintf(problem, sizeof problem,
           "carom-plan: 1\nscene: test_friction_pair_scene.yaml\nhorizon: {intervals: 20, duration: 0.8 s}\n"
           "actuators: [{body: gem}]\nconditions: [{body: block, low: [0.12, -1, -1], high: [0.12, 1, 1]}]\ncosts: "
           "[{effort: 1}]\n"
           "contacts: [{node: 7, bodies: [gem, block], restitution: 0.5, friction: %g, friction_mode: %s}]\n"
           "avoid: {pairs: [[gem, block]]}\nguess: {kind: forward}\n",
           mu, mode);
  carom_plan_file *file =
      read_texts("test_friction_pair",
                 "carom: 1\nbodies:\n"
                 "  - {name: gem, density: 300, shape: {octahedron: {edge: 0.08}}, position: [-0.25, 0.01, 0.02], "
                 "rotation: {axis: [0.3, 1, 0.2], angle: 0.15 rad}, velocity: [0.6, 0.15, -0.1]}\n"
                 "  - {name: block, density: 150, shape: {box: {size: [0.1, 0.3, 0.25]}}, velocity: [0, 0.05, 0]}\n"
                 "integrator: {step: 0.02 s}\nduration: 1 s\n",
                 problem);
  carom_plan_report report;
  if (!file || !solve(file->plan, &file->options, &report)) return false;
  const carom_plan *plan = file->plan;
  check_plan(plan, &report);
  int k = carom_plan_contact_node(plan, 0);
  side b[2] = {side_of(plan, k, 0, false), side_of(plan, k, 1, false)};
  side a[2] = {side_of(plan, k, 0, true), side_of(plan, k, 1, true)};
  carom_vec3 push = cm_sub(a[0].p, b[0].p), arm[2] = {turn_of(plan, k, 0, plan->contacts[0].features.point)};
  arm[1] = cm_sub(cm_add(position(plan, k, 0), arm[0]), position(plan, k, 1));
  CHECK_AT_MOST(cm_norm(cm_add(cm_sub(a[1].p, b[1].p), push)), 1e-10);
  CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(a[0].l, b[0].l), cm_cross(arm[0], push))), 1e-10);
  CHECK_AT_MOST(cm_norm(cm_add(cm_sub(a[1].l, b[1].l), cm_cross(arm[1], push))), 1e-10);
  bool stops = check_blow(plan, push, cm_sub(speed_at(&b[0], arm[0]), speed_at(&b[1], arm[1])),
                          cm_sub(speed_at(&a[0], arm[0]), speed_at(&a[1], arm[1])));
  carom_plan_file_destroy(file);
  return stops;
}

TEST(a_gem_strikes_a_block_that_floats) {
  CHECK(!strike_a_floating_one(0.02, "choose"));
  CHECK(strike_a_floating_one(0.9, "choose"));
  CHECK(strike_a_floating_one(0.5, "stop"));
}
