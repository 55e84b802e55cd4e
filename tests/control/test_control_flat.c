// Faces that meet at planned contacts, with all corners at once: against the impact laws of the library, conservation
// laws and closed formulas; free bodies and bodies on joints.
#include "blows.h"

// ---- a body on a floor ---------------------------------------------------------------------------------------------

// Velocities and impulses at the corners of body 0 on a fixed floor, normal z, by Newton's law for several contacts.
static void law_of_corners(const carom_plan *plan, int node, double e, carom_vec3 *p, carom_vec3 *l) {
  static const carom_vec3 axis[3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
  const carom_contact_features *f = &plan->contacts[0].features;
  enum { MOST = 3 * CAROM_FLAT_CORNERS };
  double W[MOST * MOST], u[MOST], impulse[MOST] = {0}, restitution[CAROM_FLAT_CORNERS], friction[CAROM_FLAT_CORNERS];
  const carom_body *b = &plan->model->bodies[0];
  carom_quat q = plan->path.q[(size_t)node * (size_t)plan->model->body_count];
  side before = side_of(plan, node, 0, false);
  int n = 3 * f->corner_count;
  for (int i = 0; i < n; i++) {
    carom_vec3 ri = turn_of(plan, node, 0, f->corners[i / 3]), ti = cm_cross(ri, axis[i % 3]);
    u[i] = cm_dot(axis[i % 3], speed_at(&before, ri));
    restitution[i / 3] = e, friction[i / 3] = 0;
    for (int j = 0; j < n; j++) {
      carom_vec3 rj = turn_of(plan, node, 0, f->corners[j / 3]), tj = cm_cross(rj, axis[j % 3]);
      carom_vec3 omega = cm_rotate(q, cm_mul_diag(b->inverse_inertia, cm_unrotate(q, tj)));
      W[i * n + j] = b->inverse_mass * cm_dot(axis[i % 3], axis[j % 3]) + cm_dot(ti, omega);
    }
  }
  carom_impact_problem problem = {f->corner_count, W, u, restitution, friction};
  carom_impact_work *work;
  REQUIRE(carom_impact_work_create(f->corner_count, NULL, &work, NULL) == CAROM_OK);
  CHECK(carom_impact_solve(work, &problem, CAROM_IMPACT_NEWTON, &(carom_impact_solution){impulse, NULL}, NULL, NULL) ==
        CAROM_OK);
  carom_impact_work_destroy(work);
  *p = before.p, *l = before.l;
  for (int i = 0; i < n; i++) {
    *p = cm_axpy(*p, impulse[i], axis[i % 3]);
    *l = cm_axpy(*l, impulse[i], cm_cross(turn_of(plan, node, 0, f->corners[i / 3]), axis[i % 3]));
  }
}

typedef struct landing {
  const char *shape, *rotation;
  carom_vec3 velocity, spin, target;
  double height, e;
} landing;

// How many corners are pushed; -1 without an answer.
static int check_landing(const landing *t) {
  char scene[1200], problem[900];
  snprintf(scene, sizeof scene,
           "carom: 1\nbodies:\n  - {name: body, density: 100, shape: {%s}, position: [0, 0, %.17g], rotation: {%s}, "
           "velocity: [%.17g, %.17g, %.17g], angular_velocity: [%.17g, %.17g, %.17g]}\n"
           "  - {name: floor, fixed: true, shape: halfspace}\nintegrator: {step: 0.02 s}\nduration: 1 s\n",
           t->shape, t->height, t->rotation, CAROM_XYZ(t->velocity), CAROM_XYZ(t->spin));
  snprintf(problem, sizeof problem,
           "carom-plan: 1\nscene: test_flat_landing_scene.yaml\nhorizon: {intervals: 12, duration: 0.6 s}\n"
           "actuators: [{body: body}]\ncosts: [{effort: 1}]\n"
           "conditions: [{body: body, position: [%.17g, %.17g, %.17g]}]\navoid: {pairs: [[body, floor]]}\n"
           "contacts: [{node: 6, bodies: [body, floor], restitution: %.17g, flat: true}]\nguess: {kind: forward}\n",
           CAROM_XYZ(t->target), t->e);
  carom_plan_file *file = read_texts("test_flat_landing", scene, problem);
  carom_plan_report report;
  if (!file || !solve(file->plan, &file->options, &report)) return -1;
  const carom_plan *plan = file->plan;
  check_plan(plan, &report);
  CHECK_AT_MOST(report.complementarity, 1e-8);
  const carom_plan_contact *c = &plan->contacts[0];
  int k = carom_plan_contact_node(plan, 0), pushed = 0;
  side b = side_of(plan, k, 0, false), a = side_of(plan, k, 0, true);
  for (int i = 0; i < c->features.corner_count; i++) {
    carom_vec3 arm = turn_of(plan, k, 0, c->features.corners[i]);
    double N = plan->program.x[c->corners[i].a], before = speed_at(&b, arm).z, after = speed_at(&a, arm).z;
    CHECK_NEAR(cm_add(position(plan, k, 0), arm).z, 0, 1e-9);
    CHECK(N >= 0 && before <= 1e-8 && after >= -t->e * before - 1e-8);
    CHECK_AT_MOST(N * (after + t->e * before), 1e-9);
    pushed += after + t->e * before < 1e-7;
  }
  carom_vec3 p = a.p, l = a.l;
  law_of_corners(plan, k, t->e, &p, &l);
  double size = cm_norm(cm_sub(a.p, b.p));
  CHECK_AT_MOST(cm_norm(cm_sub(a.p, p)), 1e-6 * size);
  CHECK_AT_MOST(cm_norm(cm_sub(a.l, l)), 1e-6 * size);
  CHECK(cm_dot(a.p, a.v) + cm_dot(a.l, a.omega) <= (cm_dot(b.p, b.v) + cm_dot(b.l, b.omega)) * (1 + 1e-9));
  carom_plan_file_destroy(file);
  return pushed;
}

TEST(bricks_land_flat) {
  landing t = {.shape = "box: {size: [0.2, 0.1, 0.06]}", .rotation = "axis: [0, 0, 1], angle: 0.3 rad"};
  t.velocity = cm_vec3(0.2, 0.1, -0.8), t.spin = cm_vec3(0.3, -0.4, 0.5), t.height = 0.3;
  t.target = cm_vec3(0.1, 0.1, 0.25);
  for (double e = 0; e < 1.1; e += 0.5) {
    t.e = e;
    CHECK(check_landing(&t) == 4);
  }
  t.shape = "prism: {sides: 6, radius: 0.1, height: 0.05}", t.e = 0.7;
  CHECK(check_landing(&t) == 6);
  t.shape = "tetrahedron: {edge: 0.2}", t.rotation = "axis: [0.02, 0.01, 1], angle: 0.7 rad", t.e = 0.2;
  CHECK(check_landing(&t) >= 1);
}

static carom_vec3 draw3(carom_random *random, double size) {
  double x = carom_random_normal(random), y = carom_random_normal(random), z = carom_random_normal(random);
  return cm_scale(size, cm_vec3(x, y, z));
}

TEST(random_bodies_land_flat) {
  static const char *const shapes[] = {
      "box: {size: [0.3, 0.05, 0.02]}", "box: {size: [0.05, 0.05, 0.4]}", "prism: {sides: 5, radius: 0.1, height: 0.2}",
      "hull: [[0.03, 0.02, -0.1], [-0.04, 0.02, -0.1], [0, -0.04, -0.1], [0.2, 0.3, 0.1], [-0.3, 0.3, 0.12], [0, -0.3, "
      "0.1]]"};
  carom_random random = carom_random_make(77, 0);
  int parts = 0, count = 0;
  for (int i = 0; i < 16; i++) {
    landing t = {.shape = shapes[i % 4], .rotation = "axis: [0, 0, 1], angle: 1.1 rad"};
    t.velocity = draw3(&random, 0.2), t.spin = draw3(&random, i < 8 ? 0.5 : 1.5), t.target = draw3(&random, 0.1);
    t.velocity.z = carom_random_between(&random, -1.5, -0.7), t.height = 0.2 - 0.3 * t.velocity.z;
    t.target.z = carom_random_between(&random, 0.3, 0.5), t.e = carom_random_uniform(&random);
    int pushed = check_landing(&t);
    parts += pushed > 0 && pushed < 3, count += pushed > 0;
  }
  CHECK(count == 16 && parts >= 4);  // both kinds: with all corners, and with those of one side
}
