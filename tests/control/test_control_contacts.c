// Contacts in plans: by a potential, with joints, between moving bodies, with friction. Every answer is checked against
// impact laws, conservation laws or solutions found on another way.
#include "blows.h"
#include "carom/plan.h"
#include "control/kinds.h"
#include "control/penalty.h"
#include "control/plan.h"
#include "failing_allocator.h"

// ---- the contact potential: derivatives ----------------------------------------------------------------------------

enum { N = 15, M = 12 };

static void make_penalty(carom_program *P, carom_penalty_pair *pair) {
  carom_program_create(P, NULL);
  int x = carom_program_variables(P, N, -1, 1, 1);
  int row = carom_program_rows(P, M, 0, 0, 1, (carom_row_label){0});
  carom_program_element(P, &carom_kind_penalty, pair);
  carom_element_variables(P, x, N);
  carom_element_rows(P, row, M);
  carom_element_constants(P, (double[]){0.7}, 1);
}

static double worst_jacobian(const carom_program *P, double *x) {
  double J[M * N], r0[M], r1[M], worst = 0, size = 1e-3;
  CHECK(carom_element_evaluate(P, &P->elements[0], x, NULL, &(carom_derivatives){.J = J}));
  for (int i = 0; i < M * N; i++) size = fmax(size, fabs(J[i]));
  for (int j = 0; j < N; j++) {
    double h = 1e-6, keep = x[j];
    x[j] = keep - h, carom_element_evaluate(P, &P->elements[0], x, NULL, &(carom_derivatives){.r = r0});
    x[j] = keep + h, carom_element_evaluate(P, &P->elements[0], x, NULL, &(carom_derivatives){.r = r1});
    x[j] = keep;
    for (int i = 0; i < M; i++) worst = fmax(worst, fabs((r1[i] - r0[i]) / (2 * h) - J[i * N + j]));
  }
  return worst / size;
}

static double worst_hessian(const carom_program *P, double *x, const double *w) {
  double H[N * N], J0[M * N], J1[M * N], worst = 0, size = 1e-3;
  CHECK(carom_element_evaluate(P, &P->elements[0], x, w, &(carom_derivatives){.H = H}));
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) size = fmax(size, fabs(H[i * N + j]));
  for (int i = 0; i < N; i++) {
    double h = 1e-6, keep = x[i];
    x[i] = keep - h, carom_element_evaluate(P, &P->elements[0], x, NULL, &(carom_derivatives){.J = J0});
    x[i] = keep + h, carom_element_evaluate(P, &P->elements[0], x, NULL, &(carom_derivatives){.J = J1});
    x[i] = keep;
    for (int j = 0; j <= i; j++) {
      double difference = 0;
      for (int k = 0; k < M; k++) difference += w[k] * (J1[k * N + j] - J0[k * N + j]) / (2 * h);
      worst = fmax(worst, fabs(difference - H[i * N + j]));
    }
  }
  return worst / size;
}

static void draw_unit(carom_random *random, double *q) {
  double size = 0;
  for (int i = 0; i < 4; i++) q[i] = carom_random_normal(random), size += q[i] * q[i];
  for (int i = 0; i < 4; i++) q[i] /= sqrt(size);
}

// The impulse is sigma h times the force that follows from the oracle's own gradient, and pulls nobody by himself.
static void check_force(const carom_program *P, const carom_penalty_pair *pair, const double *x) {
  double r[M], gap, scale = 0.7 * x[14];
  carom_vec3 f, t[2];
  carom_pose a = cm_pose(cm_vec3(x[0], x[1], x[2]), cm_quat(x[3], x[4], x[5], x[6]));
  carom_pose b = cm_pose(cm_vec3(x[7], x[8], x[9]), cm_quat(x[10], x[11], x[12], x[13]));
  CHECK(carom_element_evaluate(P, &P->elements[0], x, NULL, &(carom_derivatives){.r = r}));
  if (!carom_penalty_force(pair, a, b, &gap, &f, t)) f = t[0] = t[1] = cm_zero3();
  double expected[M] = {f.x, f.y, f.z, t[0].x, t[0].y, t[0].z, -f.x, -f.y, -f.z, t[1].x, t[1].y, t[1].z};
  for (int i = 0; i < M; i++) CHECK_NEAR(r[i], scale * expected[i], 1e-11 * pair->stiffness);
  carom_vec3 moment = cm_add(cm_add(t[0], t[1]), cm_cross(cm_sub(a.p, b.p), f));
  CHECK_AT_MOST(cm_norm(moment), 1e-12 * pair->stiffness);
}

static void check_penalty(carom_penalty_pair *pair, double reach, uint64_t seed) {
  carom_random random = carom_random_make(seed, 0);
  int judged = 0, touched = 0;
  for (int trial = 0; trial < 60; trial++) {
    carom_program P;
    double x[N], w[M], r[M], size = 0;
    make_penalty(&P, pair);
    REQUIRE(carom_program_seal(&P, NULL) == CAROM_OK);
    for (int i = 0; i < 3; i++) x[7 + i] = carom_random_between(&random, -1, 1);
    for (int i = 0; i < 3; i++) x[i] = x[7 + i] + carom_random_between(&random, -reach, reach);
    draw_unit(&random, x + 3);
    draw_unit(&random, x + 10);
    x[14] = carom_random_between(&random, 0.5, 2);
    for (int i = 0; i < M; i++) w[i] = carom_random_between(&random, -1, 1);
    check_force(&P, pair, x);
    carom_element_evaluate(&P, &P.elements[0], x, NULL, &(carom_derivatives){.r = r});
    for (int i = 0; i < M; i++) size = fmax(size, fabs(r[i]));
    touched += size > 0;
    // A kink within the reach of the differences spoils them; most points have none.
    judged += worst_jacobian(&P, x) < 1e-6 && worst_hessian(&P, x, w) < 1e-6;
    carom_program_destroy(&P);
  }
  if (judged < 57) test_fail(__FILE__, __LINE__, "only %d of 60 points agree to 1e-6", judged);
  CHECK(touched > 15 && touched < 60);
}

TEST(potential_of_polytopes_agrees_with_differences) {
  const carom_shape *box, *other;
  REQUIRE(carom_shape_create_box(cm_vec3(0.2, 0.3, 0.25), NULL, &box, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_tetrahedron(0.4, NULL, &other, NULL) == CAROM_OK);
  carom_penalty_pair pair = {.shape = {box, other}, .stiffness = 20, .width = 0.01};
  pair.offset[0] = cm_pose(cm_vec3(0.1, -0.05, 0.2), cm_qidentity());
  pair.offset[1] = cm_pose(cm_vec3(-0.1, 0.15, 0), cm_axis_angle(cm_vec3(1, 1, 0), 0.7));
  check_penalty(&pair, 0.35, 21);
  carom_shape_release(box);
  carom_shape_release(other);
}

TEST(potential_of_a_half_space_agrees_with_differences) {
  const carom_shape *box, *plane;
  REQUIRE(carom_shape_create_box(cm_vec3(0.2, 0.3, 0.25), NULL, &box, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_halfspace(NULL, &plane, NULL) == CAROM_OK);
  for (int way = 0; way < 2; way++) {
    carom_penalty_pair pair = {.stiffness = 20, .width = 0.01};
    pair.shape[way] = plane, pair.shape[1 - way] = box;
    pair.offset[way] = cm_pose(cm_vec3(0.1, 0.05, -0.1), cm_axis_angle(cm_vec3(1, 1, 0), 0.7));
    pair.offset[1 - way] = cm_pose(cm_vec3(-0.1, 0.15, 0), cm_qidentity());
    check_penalty(&pair, 0.4, 22 + (uint64_t)way);
  }
  carom_shape_release(box);
  carom_shape_release(plane);
}

// ---- the contact potential: the wall -------------------------------------------------------------------------------

#define OPEN_END "conditions=[{body: cube, rotation: {quaternion: [1, 0, 0, 0]}, velocity: [0, 0.25, 0]}]"

// Begin and middle of the time in which the bodies overlap.
static void overlap_times(const carom_plan *plan, double *first, double *middle) {
  int from = -1, to = -1;
  for (int k = 0; k < carom_plan_node_count(plan); k++)
    if (carom_plan_overlap(plan, k) > 0) from = from < 0 ? k : from, to = k;
  *first = carom_plan_time(plan, from), *middle = 0.5 * (*first + carom_plan_time(plan, to));
}

// With growing stiffness the plan by the potential tends to that of the planned contact: the cube is in touch for about
// pi sqrt(m/C), half as long for four times the stiffness, and so much is lost.
TEST(wall_by_the_potential_tends_to_the_planned_contact_long) {
  static const char *const planned[] = {OPEN_END};
  static const char *const stiff[3][3] = {
      {OPEN_END, "contacts={way: penalty, stiffness: 80 N/m}", "horizon={intervals: 100, duration: 0.75 s}"},
      {OPEN_END, "contacts={way: penalty, stiffness: 320 N/m}", "horizon={intervals: 200, duration: 0.75 s}"},
      {OPEN_END, "contacts={way: penalty, stiffness: 1280 N/m}", "horizon={intervals: 400, duration: 0.75 s}"}};
  carom_plan_report report;
  carom_plan_file *file = read_example("plan-wall", planned, 1);
  REQUIRE(file && solve(file->plan, &file->options, &report));
  check_plan(file->plan, &report);
  double time = carom_plan_time(file->plan, carom_plan_contact_node(file->plan, 0)), cost = report.cost;
  CHECK(report.overlap == 0);
  carom_plan_file_destroy(file);
  double excess = INFINITY, late = INFINITY, depth = INFINITY;
  for (int i = 0; i < 3; i++) {
    file = read_example("plan-wall", stiff[i], 3);
    REQUIRE(file && solve(file->plan, &file->options, &report));
    check_plan(file->plan, &report);
    double first, middle;
    overlap_times(file->plan, &first, &middle);
    CHECK_NEAR(first, time, 0.01);
    CHECK(report.cost - cost < 0.5 * excess && report.cost > cost);
    CHECK(middle - time < 0.7 * late && middle > time);
    CHECK(report.overlap < 0.6 * depth);
    excess = report.cost - cost, late = middle - time, depth = report.overlap;
    carom_plan_file_destroy(file);
  }
  CHECK_AT_MOST(excess / cost, 0.1);
  // Half the time in touch of a mass of 0.088 kg, and a step.
  CHECK_AT_MOST(late, 1.5708 * sqrt(0.088 / 1280) + 0.75 / 400);
}

// ---- what acts along joints of the scene ---------------------------------------------------------------------------

static void write_hinge(const char *turn) {
  char text[1000];
  snprintf(text, sizeof text,
           "carom: 1\nbodies:\n"
           "  - {name: base, fixed: true, shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0, 0, 1]}\n"
           "  - {name: arm, density: 100, shape: {box: {size: [0.1, 0.1, 0.4]}}, position: [0, 0, 0.7]}\n"
           "joints:\n  - {name: elbow, kind: revolute, between: [base, arm], points: [[0, 0, -0.1], [0, 0, 0.2]], "
           "axes: [[0, 1, 0], [0, 1, 0]]%s}\nintegrator: {step: 0.02 s}\nduration: 0.4 s\n",
           turn);
  write_text("test_contacts_scene.yaml", text);
}

// They used to be dropped without a word.
TEST(springs_and_motors_of_scene_joints_are_refused_by_name) {
  static const char *const turns[][2] = {{", turn: {stiffness: 2 N m/rad}", "a spring"},
                                         {", turn: {damping: 0.1 N m s/rad}", "damping"},
                                         {", turn: {motor: {torque: 0.1 N m}}", "a motor"},
                                         {", turn: {lower: -1 rad}", "limits"},
                                         {"", NULL}};
  write_text("test_contacts.yaml",
             "carom-plan: 1\nscene: test_contacts_scene.yaml\nhorizon: {intervals: 20, step: 0.02 s}\n"
             "actuators: [{joint: elbow}]\ncosts: [{effort: 1}]\n");
  for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
    write_hinge(turns[i][0]);
    carom_diagnostics found = {0};
    carom_plan_file *file = NULL;
    carom_status status = carom_plan_read("test_contacts.yaml", NULL, NULL, &file, &found);
    bool told = false;
    for (int k = 0; k < found.count && turns[i][1]; k++)
      told = told || (strstr(found.items[k].message, "joint 'elbow' of the scene has") &&
                      strstr(found.items[k].message, turns[i][1]));
    if (told != (turns[i][1] != NULL) || (status == CAROM_OK) != !turns[i][1])
      test_fail(__FILE__, __LINE__, "with '%s': %s", turns[i][0], found.count ? found.items[0].message : "no message");
    carom_diagnostics_release(&found);
    carom_plan_file_destroy(file);
  }
  remove("test_contacts.yaml");
  remove("test_contacts_scene.yaml");
}

// ---- joints at impacts, sticking between moving bodies -------------------------------------------------------------

// Two bars on a hinge; the near one strikes the wall with a corner, the far one is moved. What the blow is follows from
// this alone: the wall pushes along its normal at the corner, the hinge pushes both bars by opposite forces in its
// point and lets them turn about its axis, velocities agree with it before and after, and the corner's is reflected.
TEST(a_bar_on_a_hinge_strikes_a_wall) {
  carom_plan_file *file = read_texts(
      "test_contacts_hinge",
      "carom: 1\nbodies:\n"
      "  - {name: near, density: 100, shape: {box: {size: [0.06, 0.2, 0.08]}}, position: [0, 0.35, 0], "
      "rotation: {axis: [1, 0.3, 0.4], angle: 0.5 rad}, velocity: [0, -0.5, 0]}\n"
      "  - {name: far, density: 100, shape: {box: {size: [0.08, 0.2, 0.06]}}, "
      "position: [-0.03127174819310104, 0.5450072558355385, 0.09692392860609872], "
      "rotation: {axis: [1, 0.3, 0.4], angle: 0.5 rad}, velocity: [0, -0.5, 0]}\n"
      "  - {name: wall, fixed: true, shape: halfspace, rotation: {axis: [1, 0, 0], angle: -90 deg}}\n"
      "joints:\n  - {name: elbow, kind: revolute, between: [near, far], points: [[0, 0.11, 0], [0, -0.11, 0]], "
      "axes: [[0, 0, 1], [0, 0, 1]]}\nintegrator: {step: 0.02 s}\nduration: 1 s\n",
      "carom-plan: 1\nscene: test_contacts_hinge_scene.yaml\nhorizon: {intervals: 20, duration: 1 s}\n"
      "actuators: [{body: far}]\nconditions: [{body: far, position: [0, 0.60, 0]}]\ncosts: [{effort: 1}]\n"
      "contacts: [{node: 8, bodies: [near, wall], restitution: 0.5}]\n"
      "avoid: {pairs: [[near, wall], [far, wall]]}\nguess: {kind: forward}\n");
  carom_plan_report report;
  REQUIRE(file && solve(file->plan, &file->options, &report));
  const carom_plan *plan = file->plan;
  check_plan(plan, &report);
  enum { NEAR, FAR };
  int k = carom_plan_contact_node(plan, 0);
  const carom_plan_joint *j = &plan->joints[0];
  carom_vec3 at_near = turn_of(plan, k, NEAR, j->point[0]), at_far = turn_of(plan, k, FAR, j->point[1]);
  carom_vec3 axis = turn_of(plan, k, NEAR, j->axis), corner = turn_of(plan, k, NEAR, plan->contacts[0].features.point);
  side b[2] = {side_of(plan, k, NEAR, false), side_of(plan, k, FAR, false)};
  side a[2] = {side_of(plan, k, NEAR, true), side_of(plan, k, FAR, true)};
  for (int i = 0; i < 2; i++) {  // velocities agree with the hinge before and after
    const side *s = i == 0 ? b : a;
    CHECK_AT_MOST(cm_norm(cm_sub(speed_at(&s[0], at_near), speed_at(&s[1], at_far))), 1e-9);
    CHECK_AT_MOST(cm_norm(cm_cross(axis, cm_sub(s[0].omega, s[1].omega))), 1e-8);
  }
  CHECK_NEAR(cm_add(position(plan, k, NEAR), corner).y, 0, 1e-9);
  double before = speed_at(&b[0], corner).y, after = speed_at(&a[0], corner).y;
  CHECK(before < -0.1);
  CHECK_NEAR(after, -0.5 * before, 1e-9);
  carom_vec3 push = cm_sub(cm_add(a[0].p, a[1].p), cm_add(b[0].p, b[1].p)), f = cm_sub(a[1].p, b[1].p);
  CHECK(push.y > 0.01 && cm_norm(f) > 0.001);
  CHECK_AT_MOST(fabs(push.x) + fabs(push.z), 1e-10);
  carom_vec3 couple = cm_sub(cm_sub(a[1].l, b[1].l), cm_cross(at_far, f));
  CHECK_AT_MOST(fabs(cm_dot(couple, axis)), 1e-11);
  carom_vec3 back = cm_sub(cm_cross(corner, push), cm_add(couple, cm_cross(at_near, f)));
  CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(a[0].l, b[0].l), back)), 1e-11);
  carom_plan_file_destroy(file);
}

// A cube flies to another that floats, and holds on to it. Nothing but the force on the first one changes the momentum
// of the two, and from the contact on they turn about the point where they met.
TEST(a_cube_sticks_to_one_that_moves) {
  carom_plan_file *file = read_texts(
      "test_contacts_stick",
      "carom: 1\nbodies:\n"
      "  - {name: blue, density: 100, shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [-0.25, 0.01, 0.02], "
      "rotation: {quaternion: [0.958033, 0.088102, 0.120706, 0.244626]}, velocity: [0.5, 0, 0]}\n"
      "  - {name: green, density: 150, shape: {box: {size: [0.1, 0.12, 0.1]}}, velocity: [0, 0.05, 0]}\n"
      "integrator: {step: 0.02 s}\nduration: 1 s\n",
      "carom-plan: 1\nscene: test_contacts_stick_scene.yaml\nhorizon: {intervals: 20, duration: 0.8 s}\n"
      "actuators: [{body: blue}]\nconditions: [{body: green, position: [0.15, 0.05, 0]}]\ncosts: [{effort: 1}]\n"
      "contacts: [{node: 7, bodies: [blue, green], stick: true}]\n"
      "avoid: {pairs: [[blue, green]]}\nguess: {kind: forward}\n");
  carom_plan_report report;
  REQUIRE(file && solve(file->plan, &file->options, &report));
  const carom_plan *plan = file->plan;
  check_plan(plan, &report);
  enum { BLUE, GREEN };
  int k = carom_plan_contact_node(plan, 0), K = carom_plan_node_count(plan) - 1;
  const double *grip[2] = {plan->program.x + plan->contacts[0].grip[0], plan->program.x + plan->contacts[0].grip[1]};
  carom_vec3 at[2];
  for (int i = 0; i < 2; i++) at[i] = cm_vec3(grip[i][0], grip[i][1], grip[i][2]);
  for (int n = k; n <= K; n++) {
    carom_vec3 blue = cm_add(position(plan, n, BLUE), turn_of(plan, n, BLUE, at[0]));
    carom_vec3 green = cm_add(position(plan, n, GREEN), turn_of(plan, n, GREEN, at[1]));
    CHECK_AT_MOST(cm_norm(cm_sub(blue, green)), 1e-9);
  }
  side b[2] = {side_of(plan, k, BLUE, false), side_of(plan, k, GREEN, false)};
  side a[2] = {side_of(plan, k, BLUE, true), side_of(plan, k, GREEN, true)};
  carom_vec3 arm[2] = {turn_of(plan, k, BLUE, at[0]), turn_of(plan, k, GREEN, at[1])};
  CHECK_AT_MOST(cm_norm(cm_sub(speed_at(&a[0], arm[0]), speed_at(&a[1], arm[1]))), 1e-9);
  CHECK(cm_norm(cm_sub(speed_at(&b[0], arm[0]), speed_at(&b[1], arm[1]))) > 0.1);
  carom_vec3 f = cm_sub(a[1].p, b[1].p);
  CHECK_AT_MOST(cm_norm(cm_add(cm_sub(a[0].p, b[0].p), f)), 1e-11);  // momentum is kept
  CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(a[1].l, b[1].l), cm_cross(arm[1], f))), 1e-11);
  CHECK_AT_MOST(cm_norm(cm_add(cm_sub(a[0].l, b[0].l), cm_cross(arm[0], f))), 1e-11);
  // Over the whole motion: last momentum less the first is what the force brought.
  side last[2] = {side_of(plan, K, BLUE, false), side_of(plan, K, GREEN, false)};
  side first[2] = {side_of(plan, 0, BLUE, true), side_of(plan, 0, GREEN, true)};
  carom_vec3 brought = cm_zero3();
  for (int n = 0; n < K; n++) {
    double tau[6];
    carom_plan_forces(plan, n, 0, tau);
    brought =
        cm_axpy(brought, carom_plan_time(plan, n + 1) - carom_plan_time(plan, n), cm_vec3(tau[0], tau[1], tau[2]));
  }
  carom_vec3 gained = cm_sub(cm_add(last[0].p, last[1].p), cm_add(first[0].p, first[1].p));
  CHECK_AT_MOST(cm_norm(cm_sub(gained, brought)), 1e-10);
  carom_plan_file_destroy(file);
}

// ---- sliding friction ----------------------------------------------------------------------------------------------

// An octahedron strikes a wall with a corner and slides on along x. In the plane the blow is a formula: with u the
// velocity of the corner, r its arm and s the sign of u_x,
//     Lambda_y = -(1 + e) u_y / (1/m + r_x^2/J + mu s r_x r_y/J),   Lambda_x = -mu s Lambda_y.
static void check_slide(const char *contacts, double e) {
  static const char *const scene =
      "carom: 1\nbodies:\n"
      "  - {name: gem, density: 100, shape: {octahedron: {edge: 0.2}}, position: [0, 0.3, 0], "
      "rotation: {axis: [0, 0, 1], angle: 0.25 rad}, velocity: [0.4, -0.5, 0], angular_velocity: [0, 0, 0.3]}\n"
      "  - {name: wall, fixed: true, shape: halfspace, rotation: {axis: [1, 0, 0], angle: -90 deg}}\n"
      "integrator: {step: 0.02 s}\nduration: 1 s\n";
  char problem[800];
  snprintf(problem, sizeof problem,
           "carom-plan: 1\nscene: test_contacts_slide_scene.yaml\nhorizon: {intervals: 24, duration: 0.8 s}\n"
           "actuators: [{body: gem, torque: false}]\nconditions: [{body: gem, position: [0.3, 0.25, 0]}]\ncosts: "
           "[{effort: 1}]\n"
           "contacts: [%s]\navoid: {pairs: [[gem, wall]]}\nguess: {kind: forward}\n",
           contacts);
  carom_plan_file *file = read_texts("test_contacts_slide", scene, problem);
  carom_plan_report report;
  REQUIRE(file && solve(file->plan, &file->options, &report));
  const carom_plan *plan = file->plan;
  check_plan(plan, &report);
  double mu = 0.2, s = 1;
  int k = carom_plan_contact_node(plan, 0);
  side b = side_of(plan, k, 0, false), a = side_of(plan, k, 0, true);
  const carom_body *body = &plan->model->bodies[0];
  carom_vec3 r = turn_of(plan, k, 0, plan->contacts[0].features.point);
  carom_vec3 u = speed_at(&b, r), push = cm_sub(a.p, b.p), after = speed_at(&a, r);
  CHECK_AT_MOST(fabs(r.z) + fabs(u.z) + fabs(push.z), 1e-7);
  CHECK(u.x > 0.1 && after.x > 0.01 && u.y < -0.1);
  double J = body->inertia.x, m = body->mass;  // an octahedron has one moment of inertia
  double Ly = -(1 + e) * u.y / (1 / m + r.x * r.x / J + mu * s * r.x * r.y / J);
  CHECK_NEAR(push.y, Ly, 1e-9);
  CHECK_NEAR(push.x, -mu * s * Ly, 1e-9);
  CHECK_NEAR(a.l.z - b.l.z, r.x * Ly + mu * s * r.y * Ly, 1e-9);
  CHECK_NEAR(after.y, -e * u.y, 1e-9);
  double law[3];
  impact_by_law(plan, k, r, &b, (double[]){0, mu}, law);
  for (int i = 0; i < 2 && e == 0; i++) CHECK_NEAR(i == 0 ? push.y : push.x, law[i], 1e-8);
  carom_plan_file_destroy(file);
}

TEST(an_octahedron_slides_along_a_wall) {
  check_slide("{node: 10, bodies: [gem, wall], restitution: 0.6, friction: 0.2}", 0.6);
  check_slide("{node: 10, bodies: [gem, wall], restitution: 0, friction: 0.2}", 0);
}

// ---- lack of memory ------------------------------------------------------------------------------------------------

// A pair on a joint that slides or stops, sticks to something and lands flat, forces of a guess, and a potential:
// whatever fails, nothing is left behind.
static carom_status plan_with_everything(const carom_plan_file *file, const carom_allocator *a) {
  carom_plan *plan = NULL;
  carom_plan_def def = carom_plan_default();
  def.intervals = 4, def.step = 0.1;
  carom_status status = carom_plan_create(file->scene->model, file->scene->state, &def, a, &plan, NULL);
  if (status != CAROM_OK) return status;
  carom_plan_joint_def joint = carom_plan_joint_default();
  joint.body[0] = 0, joint.body[1] = 1;
  joint.point[0] = cm_vec3(0, 0.15, 0), joint.point[1] = cm_vec3(0, -0.15, 0);
  carom_actuator_def wrench = carom_actuator_default();
  carom_planned_contact_def contact = carom_planned_contact_default();
  contact.node = 2, contact.body[0] = 0, contact.body[1] = 2, contact.impact = CAROM_PLANNED_STICK;
  carom_cost_def effort = carom_cost_default();
  carom_plan_add_joint(plan, &joint);
  carom_plan_add_actuator(plan, &wrench);
  carom_planned_contact_def rough = carom_planned_contact_default(), flat = rough;
  rough.node = 1, rough.body[0] = 0, rough.body[1] = 2, rough.friction = 0.3,
  rough.friction_mode = CAROM_FRICTION_CHOOSE;
  flat.node = 3, flat.body[0] = 1, flat.body[1] = 2, flat.flat = true;
  carom_plan_add_contact(plan, &rough);
  carom_plan_add_contact(plan, &contact);
  carom_plan_add_contact(plan, &flat);
  carom_plan_set_guess_forces(plan, 0, 1, (double[]){0}, (double[]){0.1, 0, 0, 0, 0, 0});
  carom_plan_add_penalty(plan, 1, 2, 100);
  carom_plan_add_cost(plan, &effort);
  carom_plan_options o = carom_plan_default_options();
  carom_plan_report report;
  o.max_iterations = 1, o.guess = CAROM_GUESS_FORWARD;
  status = carom_plan_solve(plan, &o, &report, NULL);
  carom_plan_destroy(plan);
  return status;
}

TEST(contacts_survive_lack_of_memory) {
  carom_plan_file *file =
      read_texts("test_contacts_memory",
                 "carom: 1\nbodies:\n"
                 "  - {name: near, density: 100, shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0, 0.25, 0], "
                 "rotation: {axis: [1, 0, 0], angle: 0}, velocity: [0, -0.5, 0]}\n"
                 "  - {name: far, density: 100, shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0, 0.55, 0], "
                 "velocity: [0, -0.5, 0]}\n"
                 "  - {name: wall, fixed: true, shape: halfspace, rotation: {axis: [1, 0, 0.2], angle: -80 deg}}\n"
                 "integrator: {step: 0.02 s}\nduration: 1 s\n",
                 "carom-plan: 1\nscene: test_contacts_memory_scene.yaml\nhorizon: {intervals: 4, step: 0.1 s}\n");
  REQUIRE(file != NULL);
  bool done = false;
  for (int allowed = 0; !done && allowed < 1000; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    carom_status status = plan_with_everything(file, &a);
    CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY);
    CHECK(f.live == 0);
    done = status == CAROM_OK;
  }
  CHECK(done);
  carom_plan_file_destroy(file);
}

// What a potential is not for is told by name.
TEST(potentials_of_round_bodies_are_refused) {
  carom_plan_file *file =
      read_texts("test_contacts_round",
                 "carom: 1\nbodies:\n"
                 "  - {name: ball, density: 100, shape: {sphere: {radius: 0.1}}, position: [0, 0, 1]}\n"
                 "  - {name: floor, fixed: true, shape: halfspace}\n"
                 "integrator: {step: 0.02 s}\nduration: 1 s\n",
                 "carom-plan: 1\nscene: test_contacts_round_scene.yaml\n");
  carom_error error = {0};
  REQUIRE(file != NULL);
  CHECK(carom_plan_add_penalty(file->plan, 0, 1, 20) == -1);
  CHECK(carom_plan_check(file->plan, &error) == CAROM_ERR_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "'ball'");
  carom_plan_file_destroy(file);
}
