// A plan's result file: history, forces, planes and table come back, and mean what they say.
#include "control/forces.h"
#include "control/plan.h"
#include "export/export.h"
#include "failing_allocator.h"
#include "plans.h"
#include "result/h5.h"
#include "result/plan.h"
#include "result_fixture.h"

// ---- small problems ------------------------------------------------------------------------------------------------

// A body whose centre of mass and principal axes are not those of its frame passes a box; there is no gravity.
static const char scene_text[] =
    "carom: 1\n"
    "title: scene\n"
    "bodies:\n"
    "  - {name: craft, position: [0, 0.02, 0], rotation: {axis: [1, 2, 3], angle: 0.4}, density: 100, parts: [\n"
    "      {shape: {box: [0.1, 0.2, 0.3]}, position: [0.1, 0.05, 0]},\n"
    "      {shape: {box: [0.2, 0.1, 0.1]}, position: [0.2, -0.05, 0.1], rotation: {axis: [0, 0, 1], angle: 0.5}}]}\n"
    "  - {name: rock, fixed: true, shape: {box: [0.3, 0.3, 0.3]}, position: [1, -0.25, 0]}\n"
    "  - {name: egg, fixed: true, shape: {ellipsoid: [0.15, 0.2, 0.15]}, position: [1, -0.25, 0]}\n"
    "  - {name: tail, shape: {box: [0.1, 0.1, 0.1]}, density: 100, position: [-1, 0, 0]}\n"
    "integrator: {step: 0.1 s}\n";

static const char problem_head[] =
    "carom-plan: 1\n"
    "title: problem\n"
    "scene: SCENE\n"
    "horizon: {intervals: 10, step: 0.1 s}\n"
    "conditions: [{body: craft, position: [2, 0, 0.1], rest: true}]\n"
    "costs: [{effort: 1}]\n";

typedef struct problem {
  carom_plan_file *file;
  carom_plan_report report;
} problem;

static void write_text(const char *path, const char *text) {
  FILE *out = fopen(path, "w");
  if (!out) exit(1);
  fputs(text, out);
  fclose(out);
}

// `rest` is the remainder of the problem file.
static bool solve_problem(const char *rest, problem *p) {
  if (!carom_plan_available()) test_skip("built without Ipopt");
  char scene[256], path[256], text[4000];
  snprintf(scene, sizeof scene, "%s", fixture_path("plan-scene.yaml"));
  snprintf(path, sizeof path, "%s", fixture_path("plan-problem.yaml"));
  write_text(scene, scene_text);
  const char *place = strstr(problem_head, "SCENE");
  snprintf(text, sizeof text, "%.*s%s%s%s", (int)(place - problem_head), problem_head, scene, place + 5, rest);
  write_text(path, text);
  carom_diagnostics found = {0};
  carom_error error = {CAROM_OK, ""};
  *p = (problem){0};
  carom_status status = carom_plan_read(path, NULL, NULL, &p->file, &found);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", found.count ? found.items[0].message : "memory");
  carom_diagnostics_release(&found);
  unlink(scene);
  unlink(path);
  if (status == CAROM_OK) status = carom_plan_solve(p->file->plan, &p->file->options, &p->report, &error);
  if (status != CAROM_OK || p->report.outcome != CAROM_PLAN_SOLVED)
    test_fail(__FILE__, __LINE__, "%s%s", error.message, p->report.message);
  return status == CAROM_OK && p->report.outcome == CAROM_PLAN_SOLVED;
}

static carom_status record(const problem *p, const char *path, carom_error *error) {
  carom_verdict verdict = carom_plan_judge(&p->report, NULL);
  return carom_plan_record(p->file, &p->report, &verdict, path, &(carom_recorder_options){.overwrite = true}, error);
}

static carom_result *record_and_open(const problem *p) {
  const char *path = fixture_path("plan.h5");
  carom_error error = {CAROM_OK, ""};
  if (record(p, path, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  carom_result *r = fixture_open(path);
  unlink(path);
  return r;
}

// ---- history and table ---------------------------------------------------------------------------------------------

static const carom_result_figure *find_figure(const carom_result_plan *plan, const char *label) {
  for (int i = 0; i < plan->figure_count; i++)
    if (strcmp(plan->figures[i].label, label) == 0) return &plan->figures[i];
  test_fail(__FILE__, __LINE__, "no figure %s", label);
  exit(1);
}

TEST(history_and_table_come_back) {
  problem p;
  REQUIRE(solve_problem("actuators: [{body: craft}]\navoid: {pairs: [[craft, rock]]}\n", &p));
  carom_result *r = record_and_open(&p);
  REQUIRE(r && r->plan);
  CHECK_TEXT(r->title, "problem");
  CHECK_NEAR(r->step, 0.1, 1e-12);
  const carom_result_plan *plan = r->plan;
  int count;
  const carom_plan_iterate *history = carom_plan_history(p.file->plan, &count);
  REQUIRE(plan->iterate_count == count && count > 1);
  for (int i = 0; i < count; i++) {
    const carom_plan_iterate *it = &plan->iterates[i];
    CHECK(it->cost == history[i].cost && it->infeasibility == history[i].infeasibility);
    CHECK(it->solve == history[i].solve && it->iteration == history[i].iteration);
    CHECK(i == 0 || it->solve >= plan->iterates[i - 1].solve);
    CHECK(i == 0 || it->iteration == plan->iterates[i - 1].iteration + (it->solve == plan->iterates[i - 1].solve));
  }
  CHECK(plan->iterates[count - 1].iteration == p.report.iterations);
  CHECK_NEAR(plan->iterates[count - 1].cost / p.report.cost, 1, 1e-6);
  CHECK_AT_MOST(plan->iterates[count - 1].infeasibility, 1e-8);
  const carom_result_figure *cost = find_figure(plan, "Cost (effort)"), *duration = find_figure(plan, "Duration");
  CHECK(cost->guess == p.report.guess_cost && cost->optimum == p.report.cost);
  CHECK_NEAR(duration->guess, 1, 1e-12);
  CHECK_NEAR(duration->optimum, 1, 1e-12);
  CHECK_TEXT(duration->unit, "s");
  CHECK(find_figure(plan, "Smallest gap")->optimum > -1e-9);
  // The audit of the nodes: kinetic energy from the velocities, which start and end at rest.
  CHECK_NEAR(r->audit[0], 0, 1e-9);
  double most = 0;
  for (int f = 0; f < r->frame_count; f++) most = fmax(most, r->audit[f]);
  CHECK(most > 1e-3);
  carom_result_close(r);
  carom_plan_file_destroy(p.file);
}

// ---- layout --------------------------------------------------------------------------------------------------------

typedef struct dataset_layout {
  const char *path, *unit;
  H5T_class_t type;
  int rank;
  hsize_t size[3];
} dataset_layout;

static void check_dataset(hid_t file, const dataset_layout *d) {
  hid_t data = H5Dopen2(file, d->path, H5P_DEFAULT);
  if (data < 0) {
    test_fail(__FILE__, __LINE__, "no %s", d->path);
    return;
  }
  hsize_t size[3] = {0};
  hid_t space = H5Dget_space(data), type = H5Dget_type(data), unit = H5Aopen(data, "units", H5P_DEFAULT);
  hid_t text = H5Aget_type(unit);
  char units[32] = "";
  H5Aread(unit, text, units);
  bool right = H5Sget_simple_extent_ndims(space) == d->rank && H5Tget_class(type) == d->type &&
               strcmp(units, d->unit) == 0 && H5Aexists(data, "description") > 0;
  if (right) H5Sget_simple_extent_dims(space, size, NULL);
  for (int i = 0; i < d->rank; i++) right = right && size[i] == d->size[i];
  if (!right) test_fail(__FILE__, __LINE__, "%s is not as documented (unit %s)", d->path, units);
  H5Tclose(text);
  H5Aclose(unit);
  H5Tclose(type);
  H5Sclose(space);
  H5Dclose(data);
}

// docs/result-format.md, row by row.
TEST(layout_of_a_plan) {
  problem p;
  REQUIRE(solve_problem("actuators: [{body: craft}, {body: tail}]\navoid: {pairs: [[craft, rock]]}\n", &p));
  const char *path = fixture_path("plan-layout.h5");
  REQUIRE(record(&p, path, NULL) == CAROM_OK);
  carom_result *r = fixture_open(path);
  REQUIRE(r && r->plan);
  const H5T_class_t I = H5T_INTEGER, F = H5T_FLOAT, S = H5T_STRING;
  hsize_t N = (hsize_t)r->plan->iterate_count, K = 10, A = 2, P = (hsize_t)r->plan->plane_count;
  hsize_t rows = (hsize_t)r->plan->figure_count, W = 2;  // the craft's parts with the rock
  hsize_t variables = (hsize_t)p.report.variables, constraints = (hsize_t)p.report.constraints;
  carom_result_close(r);
  const dataset_layout layout[] = {
      {"/plan/history/solve", "1", I, 1, {N}},
      {"/plan/history/iteration", "1", I, 1, {N}},
      {"/plan/history/cost", "1", F, 1, {N}},
      {"/plan/history/infeasibility", "1", F, 1, {N}},
      {"/plan/forces/name", "1", S, 1, {A}},
      {"/plan/forces/kind", "1", I, 1, {A}},
      {"/plan/forces/body", "1", I, 2, {A, 2}},
      {"/plan/forces/axes", "1", I, 1, {A}},
      {"/plan/forces/point", "m", F, 2, {A, 3}},
      {"/plan/forces/time", "s", F, 1, {K + 1}},
      {"/plan/forces/force", "N", F, 3, {K, A, 3}},
      {"/plan/forces/torque", "N m", F, 3, {K, A, 3}},
      {"/plan/planes/node", "1", I, 1, {P}},
      {"/plan/planes/span", "1", I, 1, {P}},
      {"/plan/planes/body", "1", I, 2, {P, 2}},
      {"/plan/planes/normal", "1", F, 2, {P, 3}},
      {"/plan/planes/point", "m", F, 2, {P, 3}},
      {"/plan/table/label", "1", S, 1, {rows}},
      {"/plan/table/unit", "1", S, 1, {rows}},
      {"/plan/table/guess", "1", F, 1, {rows}},
      {"/plan/table/optimum", "1", F, 1, {rows}},
      {"/plan/nodes/event", "1", I, 1, {K + 1}},
      {"/plan/nodes/added", "1", I, 1, {K + 1}},
      {"/plan/nodes/watched", "1", I, 2, {K, W}},
      {"/plan/nodes/reaction", "N s", F, 2, {K + 1, 0}},
      {"/plan/solver/margin", "m", F, 1, {1}},
      {"/plan/solver/make", "1", F, 1, {1}},
      {"/plan/solver/variable", "1", F, 2, {variables, 3}},
      {"/plan/solver/multiplier", "1", F, 1, {constraints}},
      {"/plan/joints/name", "1", S, 1, {0}},
      {"/plan/joints/force", "N", F, 3, {K + 1, 0, 3}},
  };
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  for (size_t i = 0; i < sizeof layout / sizeof *layout; i++) check_dataset(file, &layout[i]);
  H5Fclose(file);
  unlink(path);
  carom_plan_file_destroy(p.file);
}

// ---- forces --------------------------------------------------------------------------------------------------------

// By Newton's second law the impulses of the file, turned by the poses of the file, give the momenta of the file; half
// of each acts at either end of its interval (Johnson 2012, eq. 4.5). Angular momentum about the world's origin.
static void check_impulses(carom_result *r, const carom_result_plan *plan, int body, double tolerance) {
  carom_frame a, b;
  carom_vec3 p = cm_zero3(), l = cm_zero3();
  REQUIRE(carom_frame_init(r, &a, NULL) == CAROM_OK && carom_frame_init(r, &b, NULL) == CAROM_OK);
  double largest = 0;
  for (int k = 0; k < plan->interval_count; k++) {
    double h = plan->times[k + 1] - plan->times[k];
    REQUIRE(carom_result_read_frame(r, k, &a, NULL) == CAROM_OK);
    REQUIRE(carom_result_read_frame(r, k + 1, &b, NULL) == CAROM_OK);
    for (int i = 0; i < plan->actuator_count; i++)
      for (int end = 0; end < 2; end++) {
        const carom_result_actuator *u = &plan->actuators[i];
        if (u->body != body) continue;
        const carom_frame *f = end == 0 ? &a : &b;
        carom_quat q = u->axes == CAROM_WORLD ? cm_qidentity() : f->poses[u->axes].q;
        size_t at = (size_t)k * (size_t)plan->actuator_count + (size_t)i;
        carom_vec3 force = cm_rotate(q, plan->forces[at]), torque = cm_rotate(q, plan->torques[at]);
        p = cm_axpy(p, h / 2, force);
        carom_vec3 arm = cm_transform(f->poses[body], u->point);
        l = cm_axpy(l, h / 2, cm_add(torque, cm_cross(arm, force)));
        largest = fmax(largest, cm_norm(force));
      }
  }
  // At rest at the end, so all impulses cancel.
  CHECK(largest > 1e-3);
  CHECK_AT_MOST(cm_norm(p), tolerance);
  CHECK_AT_MOST(cm_norm(l), tolerance);
  carom_frame_release(&a);
  carom_frame_release(&b);
}

TEST(wrench_at_a_point_along_world_axes) {
  problem p;
  REQUIRE(solve_problem("actuators: [{body: craft, point: [0.1, 0.2, 0.3]}]\n", &p));
  carom_result *r = record_and_open(&p);
  REQUIRE(r && r->plan && r->plan->actuator_count == 1 && r->plan->interval_count == 10);
  const carom_result_actuator *u = &r->plan->actuators[0];
  CHECK_TEXT(u->name, "craft");
  CHECK(u->axes == CAROM_WORLD && u->reaction == -1);
  CHECK_AT_MOST(fixture_distance(u->point, cm_vec3(0.1, 0.2, 0.3)), 1e-14);
  for (int k = 0; k < 10; k++) {
    double tau[6];
    carom_plan_forces(p.file->plan, k, 0, tau);
    CHECK_AT_MOST(fixture_distance(r->plan->forces[k], cm_vec3(tau[0], tau[1], tau[2])), 1e-14);
    CHECK_AT_MOST(fixture_distance(r->plan->torques[k], cm_vec3(tau[3], tau[4], tau[5])), 1e-14);
  }
  check_impulses(r, r->plan, 0, 1e-8);
  carom_result_close(r);
  carom_plan_file_destroy(p.file);
}

TEST(thrusters_turn_with_their_body) {
  problem p;
  REQUIRE(
      solve_problem("actuators:\n"
                    "  - {body: craft, point: [0, 0, 0.2], direction: [1, 0, 0], low: -100}\n"
                    "  - {body: craft, axes: body, point: [0.1, 0, 0]}\n"
                    "  - {name: nozzle, body: craft, direction: [0, 1, 0.5], low: -100}\n",
                    &p));
  carom_result *r = record_and_open(&p);
  REQUIRE(r && r->plan && r->plan->actuator_count == 3);
  CHECK_TEXT(r->plan->actuators[0].name, "actuator 0");  // one of three on this body
  CHECK_TEXT(r->plan->actuators[2].name, "nozzle");
  carom_vec3 direction = cm_unit(cm_vec3(0, 1, 0.5));
  for (int k = 0; k < 10; k++) {
    carom_vec3 f = r->plan->forces[3 * k + 2];
    CHECK_AT_MOST(cm_norm(cm_cross(f, direction)), 1e-12 * (1 + cm_norm(f)));
  }
  for (int i = 0; i < 3; i++) CHECK(r->plan->actuators[i].axes == 0);
  check_impulses(r, r->plan, 0, 1e-8);
  carom_result_close(r);
  carom_plan_file_destroy(p.file);
}

// ---- planes --------------------------------------------------------------------------------------------------------

static double height(const carom_result_plane *plane, carom_vec3 r) {
  return cm_dot(plane->normal, cm_sub(r, plane->point));
}

// How far a body is on its side of the plane (`sign` 1: above), over the vertices of the parts that the plane is for;
// which they are is not told, so the best part counts.
static double clearance(const carom_result *r, const carom_result_plane *plane, int side, const carom_frame *frame) {
  const carom_result_body *body = &r->bodies[plane->body[side]];
  double best = -INFINITY;
  if (strcmp(body->name, "egg") == 0) {  // reaches sqrt(sum (half axis . n)^2) from its centre
    carom_vec3 n = plane->normal;
    return -height(plane, cm_vec3(1, -0.25, 0)) - cm_norm(cm_vec3(0.15 * n.x, 0.2 * n.y, 0.15 * n.z));
  }
  for (int i = body->part_start; i < body->part_start + body->part_count; i++) {
    carom_pose pose = cm_compose(frame->poses[plane->body[side]], r->parts[i].pose);
    const carom_polytope *polytope = carom_shape_polytope(r->shapes[r->parts[i].shape]);
    double lowest = INFINITY;
    for (int v = 0; v < polytope->vertex_count; v++)
      lowest = fmin(lowest, (side == 0 ? 1 : -1) * height(plane, cm_transform(pose, polytope->vertices[v])));
    best = fmax(best, lowest);
  }
  return best;
}

static void check_planes(const char *method, const char *other, bool span) {
  problem p;
  char rest[300];
  snprintf(rest, sizeof rest, "actuators: [{body: craft}]\navoid: {pairs: [[craft, %s]], method: %s}\n", other, method);
  REQUIRE(solve_problem(rest, &p));
  carom_result *r = record_and_open(&p);
  REQUIRE(r && r->plan && r->plan->plane_count > 3);
  carom_frame frame;
  REQUIRE(carom_frame_init(r, &frame, NULL) == CAROM_OK);
  for (int i = 0; i < r->plan->plane_count; i++) {
    const carom_result_plane *plane = &r->plan->planes[i];
    CHECK(plane->span == span && plane->body[0] == 0 && strcmp(r->bodies[plane->body[1]].name, other) == 0);
    CHECK_NEAR(cm_norm(plane->normal), 1, 1e-8);
    CHECK_AT_MOST(fixture_distance(plane->point, cm_vec3(1, -0.25, 0)), 2);
    for (int node = plane->node; node <= plane->node + span; node++) {
      REQUIRE(carom_result_read_frame(r, node, &frame, NULL) == CAROM_OK);
      for (int side = 0; side < 2; side++) CHECK(clearance(r, plane, side, &frame) > -1e-7);
    }
  }
  carom_frame_release(&frame);
  carom_result_close(r);
  carom_plan_file_destroy(p.file);
}

TEST(lifted_planes_part_the_bodies_over_their_interval) { check_planes("lifted", "rock", true); }
TEST(nested_planes_part_the_bodies_at_their_node) { check_planes("nested", "egg", false); }

// ---- joints and contacts -------------------------------------------------------------------------------------------

// The cube meets the wall y = 0 at a node: an event there, with the impulse that turns its velocity.
TEST(planned_contact_is_an_event) {
  problem p = {.file = read_example("plan-wall", NULL, 0)};
  REQUIRE(p.file && carom_plan_solve(p.file->plan, &p.file->options, &p.report, NULL) == CAROM_OK);
  carom_result *r = record_and_open(&p);
  REQUIRE(r && r->event_count == 1);
  const carom_contact_event *e = &r->events[0];
  int node = carom_plan_contact_node(p.file->plan, 0);
  CHECK(e->kind == CAROM_EVENT_IMPACT && e->body_a == 0 && e->body_b == 1);
  CHECK_NEAR(e->time, r->times[node], 1e-12);
  CHECK_NEAR(e->point.y, 0, 1e-9);
  CHECK_AT_MOST(fixture_distance(e->normal, cm_vec3(0, 1, 0)), 1e-9);
  CHECK(e->impulse.y > 0 && fabs(e->impulse.x) + fabs(e->impulse.z) < 1e-9 * e->impulse.y);
  // The corner that touches: its speed along the normal is reversed (restitution 1), by the frames before and at it.
  carom_frame at;
  REQUIRE(carom_frame_init(r, &at, NULL) == CAROM_OK);
  REQUIRE(carom_result_read_frame(r, node, &at, NULL) == CAROM_OK);
  carom_vec3 arm = cm_sub(e->point, at.poses[0].p);
  double after = cm_add(at.velocities[0], cm_cross(at.angular_velocities[0], arm)).y;
  double m = r->bodies[0].mass, J = m * 0.01 / 6;  // of a cube with sides of 0.1 m
  carom_vec3 turn = cm_scale(1 / J, cm_cross(arm, e->impulse));
  double before = after - e->impulse.y / m - cm_cross(turn, arm).y;
  CHECK_NEAR(after, -before, 1e-8);
  CHECK(after > 0.01);
  carom_frame_release(&at);
  carom_result_close(r);
  carom_plan_file_destroy(p.file);
}

// What is followed is the same from the plan and from its file, through the bounce; in the file velocities before it
// come from the event's impulse.
TEST(a_recorded_plan_is_followed_as_the_plan_itself) {
  problem p = {.file = read_example("plan-wall", NULL, 0)};
  REQUIRE(p.file && carom_plan_solve(p.file->plan, &p.file->options, &p.report, NULL) == CAROM_OK);
  carom_result *r = record_and_open(&p);
  carom_trajectory *planned = NULL, *recorded = NULL;
  carom_error error = {CAROM_OK, ""};
  REQUIRE(r && carom_trajectory_create_plan(p.file->plan, 0, NULL, &planned, &error) == CAROM_OK);
  REQUIRE(carom_trajectory_create_result(r, 0, NULL, &recorded, &error) == CAROM_OK);
  double end = carom_trajectory_end(planned), bounce = r->events[0].time;
  CHECK_NEAR(carom_trajectory_end(recorded), end, 1e-12);
  for (int i = 0; i <= 1000; i++) {
    carom_reference a = carom_trajectory_at(planned, end * i / 1000), b = carom_trajectory_at(recorded, end * i / 1000);
    CHECK_AT_MOST(fixture_distance(a.position, b.position), 1e-9);
    CHECK_AT_MOST(fixture_distance(a.velocity, b.velocity), 1e-7);
    CHECK_AT_MOST(fixture_distance(a.angular_velocity_body, b.angular_velocity_body), 1e-6);
  }
  carom_vec3 before = carom_trajectory_at(recorded, bounce - 1e-9).velocity;
  carom_vec3 after = carom_trajectory_at(recorded, bounce + 1e-9).velocity;
  CHECK(before.y < -0.01 && after.y > 0.01);
  carom_vec3 jump = cm_scale(r->bodies[0].mass, cm_sub(after, before));
  CHECK_AT_MOST(fixture_distance(jump, r->events[0].impulse), 1e-6);
  CHECK(carom_trajectory_create_result(r, 1, NULL, &(carom_trajectory *){NULL}, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "is fixed");
  carom_trajectory_destroy(planned);
  carom_trajectory_destroy(recorded);
  carom_result_close(r);
  carom_plan_file_destroy(p.file);
}

// The last arm is moved by the last hinge alone: the integrator's own kick gives it that angular momentum, and no
// other.
static void check_motor(const problem *p, const carom_result *r) {
  const carom_plan *plan = p->file->plan;
  carom_vec3 push[5] = {{0}}, twist[5] = {{0}};
  carom_plan_kick(plan, plan->path.tau, 0.5, &(carom_kicked){plan->path.x, plan->path.q, push, twist});
  const carom_result_actuator *u = &r->plan->actuators[3];
  carom_pose first = carom_state_pose(p->file->scene->model, p->file->scene->state, u->axes);
  carom_vec3 torque = cm_rotate(first.q, r->plan->torques[3]);
  CHECK(cm_norm(torque) > 0);
  CHECK_AT_MOST(fixture_distance(cm_scale(0.5, torque), twist[3]), 1e-12 * cm_norm(torque));
}

// Joints of the problem are in the file though the scene has none. One iteration is enough.
TEST(joints_of_the_problem_are_recorded) {
  static const char *const overrides[] = {"solver.max_iterations=1"};
  problem p = {.file = read_example("plan-manipulator", overrides, 1)};
  REQUIRE(p.file && carom_plan_solve(p.file->plan, &p.file->options, &p.report, NULL) == CAROM_OK);
  carom_result *r = record_and_open(&p);
  REQUIRE(r && r->joint_count == 3 && r->plan && r->plan->actuator_count == 4);
  static const char *const names[] = {"R1", "S", "R3"};
  for (int i = 0; i < 3; i++) {
    const carom_result_joint *j = &r->joints[i];
    CHECK_TEXT(j->name, names[i]);
    CHECK(j->kind == (i == 1 ? CAROM_JOINT_SPHERICAL : CAROM_JOINT_REVOLUTE));
    CHECK(j->body[0] == i && j->body[1] == i + 1);
    CHECK_AT_MOST(fixture_distance(j->frame[0].p, cm_vec3(0, -0.035, 0)), 1e-12);
    CHECK_AT_MOST(fixture_distance(j->frame[1].p, cm_vec3(0, 0.035, 0)), 1e-12);
    if (i == 1) continue;
    for (int side = 0; side < 2; side++)
      CHECK_AT_MOST(fixture_distance(cm_rotate(j->frame[side].q, cm_vec3(0, 0, 1)), cm_vec3(1, 0, 0)), 1e-12);
  }
  check_motor(&p, r);
  for (int i = 1; i < 4; i++) {
    const carom_result_actuator *u = &r->plan->actuators[i];
    CHECK_TEXT(u->name, names[i - 1]);
    CHECK(u->kind == CAROM_ACTUATOR_JOINT && u->body == i && u->reaction == i - 1);
    CHECK(u->axes == (i == 2 ? CAROM_WORLD : i - 1));
    CHECK_AT_MOST(fixture_distance(u->point, cm_vec3(0, 0.035, 0)), 1e-12);
    CHECK(cm_norm(r->plan->forces[i]) == 0);
    if (i != 2) CHECK(r->plan->torques[i].y == 0 && r->plan->torques[i].z == 0);  // about the hinge's axis
  }
  carom_result_close(r);
  carom_plan_file_destroy(p.file);
}

// Each stretch between events has a scale of its own, and all of them together the time that was asked for.
TEST(duration_is_that_of_all_stretches) {
  problem p;
  REQUIRE(
      solve_problem("actuators: [{body: craft}]\n"
                    "joints: [{name: tie, bodies: [craft, tail], points: [[0, 0, 0], [1, 0.02, 0]]}]\n"
                    "events: [{node: 4, release: tie}]\n",
                    &p));
  CHECK(fabs(carom_plan_scale(p.file->plan, 0) - 1) > 0.1);
  carom_result *r = record_and_open(&p);
  REQUIRE(r);
  const carom_result_figure *duration = find_figure(r->plan, "Duration");
  CHECK_NEAR(duration->guess, 1, 1e-12);
  CHECK_NEAR(duration->optimum, 1, 1e-9);
  carom_result_close(r);
  carom_plan_file_destroy(p.file);
}

// ---- the page and failures -----------------------------------------------------------------------------------------

TEST(plan_is_in_the_page) {
  problem p;
  REQUIRE(solve_problem("actuators: [{body: craft}]\navoid: {pairs: [[craft, rock]]}\n", &p));
  carom_result *r = record_and_open(&p);
  REQUIRE(r);
  carom_text_buffer text = carom_text_buffer_make(NULL);
  CHECK(carom_replay_elements(r, NULL, &text, NULL) == CAROM_OK);
  carom_text_buffer_add_n(&text, "", 1);
  CHECK_CONTAINS(text.data, "\"plan\":{\"history\":{\"solve\":[0,");
  CHECK_CONTAINS(text.data,
                 "{\"name\":\"craft\",\"kind\":\"wrench\",\"body\":0,\"reaction\":-1,\"axes\":-1,\"point\":[");
  CHECK_CONTAINS(text.data, "\"planes\":[{\"node\":");
  CHECK_CONTAINS(text.data, "{\"label\":\"Duration\",\"unit\":\"s\",\"guess\":1,");
  CHECK(!strstr(text.data, "nan") && !strstr(text.data, "inf,"));
  carom_text_buffer_release(&text);
  carom_result_close(r);
  carom_plan_file_destroy(p.file);
}

// A plan that no solver saw (its ends overlap) is recorded too, without history and planes.
TEST(unsolved_plan_is_recorded) {
  static const char *const overrides[] = {"conditions.0.position=[0, 0, 0]"};
  problem p = {.file = read_example("plan-wall", overrides, 1)};
  REQUIRE(p.file && carom_plan_solve(p.file->plan, &p.file->options, &p.report, NULL) == CAROM_OK);
  CHECK(p.report.outcome == CAROM_PLAN_INFEASIBLE);
  carom_result *r = record_and_open(&p);
  REQUIRE(r && r->plan);
  CHECK(!r->complete && r->frame_count == 31);
  CHECK(r->plan->interval_count == 30 && r->plan->plane_count == 0);
  CHECK(r->plan->iterate_count > 0 || isnan(find_figure(r->plan, "Cost (effort)")->optimum));
  carom_result_close(r);
  carom_plan_file_destroy(p.file);
}

static void spoil(const char *path, const char *dataset, double value) {
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), data = H5Dopen2(file, dataset, H5P_DEFAULT);
  hid_t space = H5Dget_space(data);
  size_t count = (size_t)H5Sget_simple_extent_npoints(space);
  double *values = calloc(count, sizeof *values);
  H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  values[0] = value;
  H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  free(values);
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(file);
}

TEST(spoilt_plans_are_refused) {
  const struct {
    const char *dataset;
    double value;
  } edits[] = {{"/plan/forces/body", 9},       {"/plan/forces/body", -1},
               {"/plan/forces/axes", 77},      {"/plan/forces/kind", 3},
               {"/plan/forces/time", 5},       {"/plan/planes/node", 11},
               {"/plan/planes/body", -1},      {"/plan/planes/node", -1},
               {"/plan/forces/force", NAN},    {"/plan/planes/point", NAN},
               {"/plan/solver/margin", -1},    {"/plan/solver/make", NAN},
               {"/plan/solver/variable", NAN}, {"/plan/solver/multiplier", INFINITY}};
  problem p;
  REQUIRE(solve_problem("actuators: [{body: craft}]\navoid: {pairs: [[craft, rock]]}\n", &p));
  const char *path = fixture_path("spoilt-plan.h5");
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    carom_error error = {CAROM_OK, ""};
    carom_result *r = NULL;
    REQUIRE(record(&p, path, NULL) == CAROM_OK);
    spoil(path, edits[i].dataset, edits[i].value);
    if (carom_result_open(path, NULL, &r, &error) != CAROM_ERR_FORMAT)
      test_fail(__FILE__, __LINE__, "%s with %g was read", edits[i].dataset, edits[i].value);
    CHECK_CONTAINS(error.message, "/plan");
    carom_result_close(r);
  }
  REQUIRE(record(&p, path, NULL) == CAROM_OK);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "/plan/table/optimum", H5P_DEFAULT);
  H5Fclose(file);
  carom_error error = {CAROM_OK, ""};
  carom_result *r = NULL;
  CHECK(carom_result_open(path, NULL, &r, &error) == CAROM_ERR_FORMAT);
  CHECK_CONTAINS(error.message, "/plan/table/optimum");
  unlink(path);
  carom_plan_file_destroy(p.file);
}

TEST(plan_files_without_memory) {
  problem p;
  REQUIRE(solve_problem("actuators: [{body: craft}]\navoid: {pairs: [[craft, rock]]}\n", &p));
  const char *path = fixture_path("plan-memory.h5");
  const carom_allocator usual = p.file->allocator;
  for (int reading = 0; reading < 2; reading++) {
    carom_status status = CAROM_ERR_MEMORY;
    for (int n = 0; status == CAROM_ERR_MEMORY && n < 2000; n++) {
      failing_allocator f = {.allowed = n};
      carom_allocator a = failing_allocator_of(&f);
      carom_error error = {CAROM_OK, ""};
      carom_result *r = NULL;
      p.file->allocator = a;
      status = reading ? carom_result_open(path, &a, &r, &error) : record(&p, path, &error);
      p.file->allocator = usual;
      carom_result_close(r);
      CHECK(f.live == 0);
      CHECK(status == CAROM_OK || *error.message);
    }
    CHECK(status == CAROM_OK);
  }
  unlink(path);
  carom_plan_file_destroy(p.file);
}
