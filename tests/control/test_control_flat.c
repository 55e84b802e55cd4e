// Faces that meet at planned contacts, with all corners at once: against the impact laws of the library, conservation
// laws and closed formulas; free bodies and bodies on joints.
#include "blows.h"
#include "carom/result.h"

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

TEST(random_bodies_land_flat_long) {
  static const char *const shapes[] = {"box: {size: [0.3, 0.05, 0.02]}", "box: {size: [0.05, 0.05, 0.4]}",
                                       "prism: {sides: 5, radius: 0.1, height: 0.2}",
                                       ("hull: [[0.03, 0.02, -0.1], [-0.04, 0.02, -0.1], [0, -0.04, -0.1], [0.2, 0.3, "
                                        "0.1], [-0.3, 0.3, 0.12], [0, -0.3, "
                                        "0.1]]")};
  carom_random random = carom_random_make(77, 0);
  int parts = 0, count = 0;
  for (int i = 0; i < 16; i++) {
    landing t = {.shape = shapes[i % 4], .rotation = "axis: [0, 0, 1], angle: 1.1 rad"};
    t.velocity = draw3(&random, 0.2), t.spin = draw3(&random, i < 8 ? 0.5 : 1.5), t.target = draw3(&random, 0.1);
    t.velocity.z = carom_random_between(&random, -1.5, -0.7), t.height = 0.2 - 0.3 * t.velocity.z;
    t.target.z = carom_random_between(&random, 0.3, 0.5), t.e = carom_random_uniform(&random);
    int pushed = check_landing(&t);
    parts += pushed > 0 && pushed<3, count += pushed> 0;
  }
  CHECK(count == 16 && parts >= 4);  // both kinds: with all corners, and with those of one side
}

// ---- two bodies that float, and bodies on joints --------------------------------------------------------------------

typedef struct corners {
  int count;
  carom_vec3 at[CAROM_FLAT_CORNERS], n;  // world
  double push[CAROM_FLAT_CORNERS];
} corners;

static corners corners_of(const carom_plan *plan, int contact) {
  const carom_plan_contact *c = &plan->contacts[contact];
  int k = c->def.node, first = c->features.form == CAROM_FORM_VERTEX_A ? 0 : 1;
  int v = c->def.body[first], f = c->def.body[1 - first];
  corners out = {.count = c->features.corner_count, .n = turn_of(plan, k, f, c->features.normal)};
  for (int i = 0; i < out.count; i++) {
    out.at[i] = cm_add(position(plan, k, v), turn_of(plan, k, v, c->features.corners[i]));
    out.push[i] = plan->program.x[c->corners[i].a];
    carom_vec3 seen = cm_sub(out.at[i], position(plan, k, f));
    CHECK_NEAR(cm_dot(out.n, seen), c->features.offset, 1e-9);
  }
  if (first == 1) out.n = cm_neg(out.n);
  return out;
}

static carom_vec3 speed_of_point(const carom_plan *plan, int node, int body, bool after, carom_vec3 at) {
  if (plan->model->bodies[body].fixed) return cm_zero3();
  side s = side_of(plan, node, body, after);
  return speed_at(&s, cm_sub(at, position(plan, node, body)));
}

// Newton's law at every corner, and no energy from it.
static void check_corners(const carom_plan *plan, double e) {
  const int *body = plan->contacts[0].def.body;
  int k = plan->contacts[0].def.node;
  corners c = corners_of(plan, 0);
  for (int i = 0; i < c.count; i++) {
    double u[2];
    for (int after = 0; after < 2; after++)
      u[after] = cm_dot(c.n, cm_sub(speed_of_point(plan, k, body[0], after == 1, c.at[i]),
                                    speed_of_point(plan, k, body[1], after == 1, c.at[i])));
    CHECK(c.push[i] >= 0 && u[0] < 1e-8 && u[1] >= -e * u[0] - 1e-8);
    CHECK_AT_MOST(c.push[i] * (u[1] + e * u[0]), 1e-9);
  }
  double energy[2] = {0};
  for (int i = 0; i < plan->model->body_count; i++)
    for (int after = 0; after < 2 && !plan->model->bodies[i].fixed; after++) {
      side s = side_of(plan, k, i, after == 1);
      energy[after] += cm_dot(s.p, s.v) + cm_dot(s.l, s.omega);
    }
  CHECK(energy[1] <= energy[0] * (1 + 1e-9));
}

// What all bodies together gain at the contact: linear, and about the origin.
static void gained(const carom_plan *plan, carom_vec3 *p, carom_vec3 *l) {
  int k = plan->contacts[0].def.node;
  *p = *l = cm_zero3();
  for (int i = 0; i < plan->model->body_count; i++) {
    if (plan->model->bodies[i].fixed) continue;
    side a = side_of(plan, k, i, true), b = side_of(plan, k, i, false);
    carom_vec3 dp = cm_sub(a.p, b.p), dl = cm_sub(a.l, b.l);
    *p = cm_add(*p, dp), *l = cm_add(*l, cm_add(dl, cm_cross(position(plan, k, i), dp)));
  }
}

static carom_plan_file *solve_texts(const char *name, const char *scene, const char *problem) {
  carom_plan_file *file = read_texts(name, scene, problem);
  carom_plan_report report;
  if (!file || !solve(file->plan, &file->options, &report)) return file;
  check_plan(file->plan, &report);
  CHECK_AT_MOST(report.complementarity, 1e-8);
  return file;
}

TEST(a_die_meets_a_tile_that_floats) {
  carom_plan_file *file = solve_texts(
      "test_flat_pair",
      "carom: 1\nbodies:\n"
      "  - {name: tile, density: 200, shape: {box: {size: [0.4, 0.3, 0.04]}}, velocity: [0, 0, 0.05], "
      "angular_velocity: [0.1, 0, 0]}\n"
      "  - {name: die, density: 300, shape: {box: {size: [0.1, 0.08, 0.09]}}, position: [0.05, 0.02, 0.4], "
      "rotation: {axis: [0, 0, 1], angle: 0.6 rad}, velocity: [0, 0, -0.7], angular_velocity: [0.2, -0.2, 0.4]}\n"
      "integrator: {step: 0.02 s}\nduration: 1 s\n",
      "carom-plan: 1\nscene: test_flat_pair_scene.yaml\nhorizon: {intervals: 16, duration: 0.8 s}\n"
      "actuators: [{body: die}]\ncosts: [{effort: 1}]\nconditions: [{body: tile, low: [-1, -1, -0.1], high: [1, 1, "
      "-0.1]}]\n"
      "contacts: [{node: 8, bodies: [tile, die], restitution: 0.4, flat: true}]\navoid: {pairs: [[die, tile]]}\n"
      "guess: {kind: forward}\n");
  REQUIRE(file != NULL);
  check_corners(file->plan, 0.4);
  carom_vec3 p, l;
  gained(file->plan, &p, &l);
  CHECK_AT_MOST(cm_norm(p) + cm_norm(l), 1e-10);
  carom_plan_file_destroy(file);
}

// As it is recorded: one event, at the middle of what the corners push.
static void check_event(carom_plan_file *file, carom_vec3 pushed, carom_vec3 moment) {
  carom_plan_report report = {0};
  carom_verdict verdict = {0};
  carom_result *r = NULL;
  carom_recorder_options options = {.overwrite = true};
  REQUIRE(carom_plan_record(file, &report, &verdict, "test_flat.h5", &options, NULL) == CAROM_OK);
  REQUIRE(carom_result_open("test_flat.h5", NULL, &r, NULL) == CAROM_OK && r->event_count == 1);
  const carom_contact_event *e = &r->events[0];
  CHECK_AT_MOST(cm_norm(cm_sub(cm_cross(e->point, pushed), moment)) + cm_norm(cm_sub(e->normal, cm_unit(pushed))),
                1e-10);
  CHECK_NEAR(e->time, carom_plan_time(file->plan, carom_plan_contact_node(file->plan, 0)), 1e-12);
  carom_result_close(r);
  remove("test_flat.h5");
}

// Two planks on a hinge; the lower one lands flat. The floor pushes straight up; what the upper one gets comes by the
// hinge.
TEST(a_plank_on_a_hinge_lands_flat) {
  carom_plan_file *file = solve_texts(
      "test_flat_chain",
      "carom: 1\nbodies:\n"
      "  - {name: foot, density: 300, shape: {box: {size: [0.3, 0.12, 0.04]}}, position: [0, 0, 0.3], velocity: [0.1, "
      "0, -0.6]}\n"
      "  - {name: leg, density: 200, shape: {box: {size: [0.05, 0.06, 0.3]}}, position: [0.1, 0, 0.5], velocity: [0.1, "
      "0, -0.6]}\n"
      "  - {name: floor, fixed: true, shape: halfspace}\n"
      "joints:\n  - {name: ankle, kind: revolute, between: [foot, leg], points: [[0.1, 0, 0.04], [0, 0, -0.16]], "
      "axes: [[0, 1, 0], [0, 1, 0]]}\nintegrator: {step: 0.02 s}\nduration: 1 s\n",
      "carom-plan: 1\nscene: test_flat_chain_scene.yaml\nhorizon: {intervals: 16, duration: 0.8 s}\n"
      "actuators: [{body: leg}, {joint: ankle}]\ncosts: [{effort: 1}]\n"
      "conditions: [{body: foot, low: [0, -1, 0.15], high: [0.2, 1, 0.2]}]\n"
      "contacts: [{node: 8, bodies: [foot, floor], restitution: 0.3, flat: true}]\n"
      "avoid: {pairs: [[foot, floor], [leg, floor]]}\nguess: {kind: forward}\n");
  REQUIRE(file != NULL);
  const carom_plan *plan = file->plan;
  check_corners(plan, 0.3);
  carom_vec3 p, l, pushed = cm_zero3(), moment = cm_zero3();
  gained(plan, &p, &l);
  corners c = corners_of(plan, 0);
  for (int i = 0; i < c.count; i++) {
    pushed = cm_axpy(pushed, c.push[i], c.n);
    moment = cm_axpy(moment, c.push[i], cm_cross(c.at[i], c.n));
  }
  CHECK(pushed.z > 0.1);
  check_event(file, pushed, moment);
  CHECK_AT_MOST(cm_norm(cm_sub(p, pushed)) + cm_norm(cm_sub(l, moment)), 1e-10);
  carom_vec3 ankle = cm_add(position(plan, 8, 0), turn_of(plan, 8, 0, plan->joints[0].point[0]));
  for (int after = 0; after < 2; after++)
    CHECK_AT_MOST(
        cm_norm(cm_sub(speed_of_point(plan, 8, 0, after == 1, ankle), speed_of_point(plan, 8, 1, after == 1, ankle))),
        1e-9);
  carom_plan_file_destroy(file);
}

// Two bars with a hinge at the common edge of their ends, as of a folding rule, which shuts: the ends meet face to
// face, and the rate at which it shuts is reflected. Corners at the hinge are the hinge's.
TEST(a_folding_rule_shuts) {
  carom_plan_file *file = solve_texts(
      "test_flat_rule",
      "carom: 1\nbodies:\n"
      "  - {name: left, density: 300, shape: {box: {size: [0.3, 0.06, 0.04]}}, position: [-0.15, 0, 0]}\n"
      "  - {name: right, density: 200, shape: {box: {size: [0.2, 0.06, 0.04]}}, "
      "position: [0.09874402091749229, 0, 0.04548761136406948], rotation: {axis: [0, 1, 0], angle: -0.45 rad}}\n"
      "joints:\n  - {name: edge, kind: revolute, between: [left, right], points: [[0.15, 0, 0.02], [-0.1, 0, 0.02]], "
      "axes: [[0, 1, 0], [0, 1, 0]]}\nintegrator: {step: 0.02 s}\nduration: 1 s\n",
      "carom-plan: 1\nscene: test_flat_rule_scene.yaml\nhorizon: {intervals: 16, duration: 0.8 s}\n"
      "actuators: [{joint: edge, name: motor}]\ncosts: [{effort: 1}]\n"
      "contacts: [{node: 8, bodies: [left, right], restitution: 0.6, flat: true}]\n"
      "conditions: [{body: right, relative_to: left, rotation: {axis: [0, 1, 0], angle: -20 deg}}]\n"
      "guess: {kind: forward, forces: [{actuator: motor, through: [{time: 0 s, torque: 0.006}]}]}\n");
  REQUIRE(file != NULL);
  const carom_plan *plan = file->plan;
  side b[2] = {side_of(plan, 8, 0, false), side_of(plan, 8, 1, false)};
  side a[2] = {side_of(plan, 8, 0, true), side_of(plan, 8, 1, true)};
  double before = b[1].omega.y - b[0].omega.y, after = a[1].omega.y - a[0].omega.y;
  CHECK(plan->contacts[0].features.corner_count == 2 && before > 0.1);
  CHECK_NEAR(after, -0.6 * before, 1e-8);
  check_corners(plan, 0.6);
  carom_vec3 p, l;
  gained(plan, &p, &l);
  CHECK_AT_MOST(cm_norm(p) + cm_norm(l), 1e-10);
  carom_plan_file_destroy(file);
}

// ---- faces that lie on each other at the end, without a blow -------------------------------------------------------

// The die comes to rest on the plate, face on face: there is no plane with room on both sides of it at the last node,
// and `touching` says that none is needed. They stay apart on the way.
TEST(a_die_docks_face_to_face) {
  carom_plan_file *file = solve_texts(
      "test_flat_dock",
      "carom: 1\nbodies:\n"
      "  - {name: plate, density: 200, shape: {box: {size: [0.4, 0.3, 0.04]}}, velocity: [0, 0, 0.05]}\n"
      "  - {name: die, density: 300, shape: {box: {size: [0.1, 0.08, 0.09]}}, position: [0.3, 0.02, 0.4], "
      "rotation: {axis: [0, 1, 0.3], angle: 0.9 rad}}\nintegrator: {step: 0.02 s}\nduration: 1 s\n",
      "carom-plan: 1\nscene: test_flat_dock_scene.yaml\nhorizon: {intervals: 16, duration: 0.8 s}\n"
      "actuators: [{body: die}, {body: plate}]\ncosts: [{effort: 1}]\navoid: {pairs: [[die, plate]]}\n"
      "conditions: [{body: die, relative_to: plate, position: [0.05, 0.03, 0.065], rotation: {axis: [0, 0, 1], angle: "
      "0.2 rad}, at_rest_with: plate, touching: true}]\n");
  REQUIRE(file != NULL);
  const carom_plan *plan = file->plan;
  for (int k = 1; k < 16; k++) {
    carom_pose pose[2];
    for (int i = 0; i < 2; i++) pose[i] = cm_pose(position(plan, k, i), plan->path.q[2 * k + i]);
    CHECK(carom_plan_gap(plan, 0, pose[0], 1, pose[1]) > 0);
  }
  carom_plan_file_destroy(file);
}

// The same of bodies on a hinge of their own, 2 mm above the edge: folded open by 0.9 rad, and shut at the end.
TEST(a_folding_rule_is_shut_gently) {
  carom_plan_file *file = solve_texts(
      "test_flat_shut",
      "carom: 1\nbodies:\n  - {name: left, density: 300, shape: {box: {size: [0.3, 0.06, 0.04]}}, position: [-0.15, 0, "
      "0]}\n"
      "  - {name: right, density: 200, shape: {box: {size: [0.2, 0.06, 0.04]}}, rotation: {axis: [0, 1, 0], angle: "
      "-0.9 "
      "rad}, position: [0.07939418883887107, 0, 0.08665727166079373]}\n"
      "joints:\n  - {name: edge, kind: revolute, between: [left, right], points: [[0.15, 0, 0.022], [-0.1, 0, 0.022]], "
      "axes: [[0, 1, 0], [0, 1, 0]]}\nintegrator: {step: 0.02 s}\nduration: 1 s\n",
      "carom-plan: 1\nscene: test_flat_shut_scene.yaml\nhorizon: {intervals: 20, duration: 0.8 s}\n"
      "actuators: [{joint: edge}]\ncosts: [{effort: 1}]\navoid: {pairs: [[left, right]]}\n"
      "conditions:\n  - {body: right, relative_to: left, rotation: {axis: [0, 1, 0], angle: 0 deg}, touching: true}\n"
      "  - {body: right, rest: true}\n");
  REQUIRE(file != NULL);
  const carom_plan *plan = file->plan;
  carom_vec3 faces = cm_sub(position(plan, 20, 1), position(plan, 20, 0));
  CHECK_NEAR(cm_norm(faces), 0.25, 1e-9);  // half of both lengths
  carom_plan_file_destroy(file);
}
