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
} throw;

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

// 1: stopped, 0: slides on, -1: no plan.
static int check_throw(const throw *t) {
  carom_plan_file *file = read_throw(t, "choose", "forward");
  carom_plan_report report;
  if (!file || !solve(file->plan, &file->options, &report)) return -1;
  const carom_plan *plan = file->plan;
  if (report.outcome != CAROM_PLAN_SOLVED) {
    printf("%s %s e %g mu %g\n", report.message, t->shape, t->e, t->mu);
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
  CHECK_AT_MOST(hypot(push.x, push.z), t->mu * push.y * (1 + 1e-9));
  CHECK_NEAR(slip.y, -t->e * speed_at(&b, arm).y, 1e-9);
  carom_plan_file_destroy(file);
  return hypot(slip.x, slip.z) < 1e-9;
}

static carom_vec3 draw3(carom_random *random, double size) {
  double x = carom_random_normal(random), y = carom_random_normal(random), z = carom_random_normal(random);
  return cm_scale(size, cm_vec3(x, y, z));
}

TEST(random_blows_obey_coulombs_law) {
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
  printf("none %d slide %d stop %d\n", counts[0], counts[1], counts[2]);
  CHECK(counts[1] >= 15 && counts[2] >= 15 && counts[0] == 0);
}
