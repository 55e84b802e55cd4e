// Jacobian and Hessian of every kind of element against central differences at random points.
#include "control/kinds.h"
#include "control/nested.h"
#include "test.h"

typedef struct sample {
  const carom_element_kind *kind;
  int variables, rows, constants;
} sample;

static const sample samples[] = {
    {&carom_kind_translation, 7, 6, 5},
    {&carom_kind_rotation, 9, 6, 4},
    {&carom_kind_rotation_plain, 9, 6, 4},
    {&carom_kind_unit, 4, 1, 0},
    {&carom_kind_wrench, 15, 12, 5},
    {&carom_kind_thruster, 10, 12, 7},
    {&carom_kind_motor, 10, 12, 4},
    {&carom_kind_ball_motor, 4, 12, 1},
    {&carom_kind_link3, 3, 3, 1},
    {&carom_kind_link6, 6, 6, 1},
    {&carom_kind_pin, 14, 3, 6},
    {&carom_kind_hinge, 8, 2, 9},
    {&carom_kind_pin_force, 11, 12, 6},
    {&carom_kind_hinge_force, 10, 6, 9},
    {&carom_kind_point, 7, 3, 3},
    {&carom_kind_direction, 4, 1, 6},
    {&carom_kind_spin, 7, 3, 6},
    {&carom_kind_relative_position, 10, 3, 3},
    {&carom_kind_relative_rotation, 8, 3, 4},
    {&carom_kind_relative_angle, 8, 1, 7},
    {&carom_kind_relative_rest, 26, 6, 8},
    {&carom_kind_periodic_pose, 17, 6, 15},
    {&carom_kind_periodic_momentum, 12, 6, 7},
    {&carom_kind_angle, 8, 1, 9},
    {&carom_kind_cone, 3, 2, 4},
    {&carom_kind_above_plane, 7, 1, 6},
    {&carom_kind_above_plane_between, 14, 1, 6},
    {&carom_kind_parting, 10, 1, 11},
    {&carom_kind_swing, 18, 1, 4},
    {&carom_kind_swing3, 20, 3, 1},
    {&carom_kind_hinge_rate, 11, 1, 7},
    {&carom_kind_own_rate, 7, 1, 7},
    {&carom_kind_turn_rate, 7, 3, 4},
    {&carom_kind_work, 6, 1, 2},
    {&carom_kind_energy, 15, 1, 8},
    {&carom_kind_node_energy, 13, 1, 7},
    {&carom_kind_per_shift, 4, 1, 1},
    {&carom_kind_arm, 7, 3, 3},
    {&carom_kind_edge_normal, 11, 3, 6},
    {&carom_kind_edge_arm, 8, 3, 6},
    {&carom_kind_meet, 12, 3, 0},
    {&carom_kind_height, 6, 1, 0},
    {&carom_kind_impulse, 18, 6, 1},
    {&carom_kind_velocity, 13, 3, 5},
    {&carom_kind_restitution, 9, 1, 1},
    {&carom_kind_slide, 10, 3, 1},
    {&carom_kind_sliding, 9, 1, 0},
    {&carom_kind_coulomb, 14, 4, 1},
    {&carom_kind_blow_cone, 8, 1, 1},
    {&carom_kind_blow_work, 9, 1, 0},
    {&carom_kind_product, 3, 1, 2},
    {&carom_kind_flat_push, 15, 12, 7},
    {&carom_kind_flat_speed, 26, 1, 14},
    {&carom_kind_above, 14, 1, 6},
    {&carom_kind_inside, 7, 1, 3},
    {&carom_kind_grip, 10, 3, 0},
    {&carom_kind_hold, 20, 3, 0},
    {&carom_kind_hold_force, 17, 12, 0},
    {&carom_kind_hold_speed, 13, 3, 5},
    {&carom_kind_pin_speed, 10, 3, 8},
    {&carom_kind_hinge_speed, 11, 2, 13},
    {&carom_kind_plane_length, 3, 1, 0},
    {&carom_kind_effort, 2, 1, 2},
    {&carom_kind_square, 1, 1, 2},
    {&carom_kind_alignment, 4, 1, 7},
    {&carom_kind_linear, 1, 1, 1},
    {&carom_kind_turn, 8, 1, 0},
};

enum { N = CAROM_ELEMENT_VARIABLES, M = CAROM_ELEMENT_ROWS };

static void make(carom_program *P, const carom_element_kind *kind, void *object, int variables, int rows) {
  carom_program_create(P, NULL);
  int x = carom_program_variables(P, variables, -1, 1, 1);
  int row = carom_program_rows(P, rows, 0, 0, 1, (carom_row_label){0});
  carom_program_element(P, kind, object);
  carom_element_variables(P, x, variables);
  carom_element_rows(P, row, rows);
}

// Largest error relative to the largest entry.
static double jacobian_error(const carom_program *P, double *x) {
  const carom_element *e = &P->elements[0];
  int n = e->variable_count, m = e->row_count;
  double J[M * N], r0[M], r1[M], worst = 0, size = 1e-3;
  CHECK(carom_element_evaluate(P, e, x, NULL, &(carom_derivatives){.J = J}));
  for (int i = 0; i < n * m; i++) size = fmax(size, fabs(J[i]));
  for (int j = 0; j < n; j++) {
    double h = 1e-5, keep = x[j];
    x[j] = keep - h, carom_element_evaluate(P, e, x, NULL, &(carom_derivatives){.r = r0});
    x[j] = keep + h, carom_element_evaluate(P, e, x, NULL, &(carom_derivatives){.r = r1});
    x[j] = keep;
    for (int i = 0; i < m; i++) worst = fmax(worst, fabs((r1[i] - r0[i]) / (2 * h) - J[i * n + j]));
  }
  return worst / size;
}

static double hessian_error(const carom_program *P, double *x, const double *w) {
  const carom_element *e = &P->elements[0];
  int n = e->variable_count, m = e->row_count;
  double H[N * N], J0[M * N], J1[M * N], worst = 0, size = 1e-3;
  memset(H, 0, sizeof H);
  CHECK(carom_element_evaluate(P, e, x, w, &(carom_derivatives){.H = H}));
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) size = fmax(size, fabs(H[i * n + j]));
  for (int i = 0; i < n; i++) {
    double h = 1e-5, keep = x[i];
    x[i] = keep - h, carom_element_evaluate(P, e, x, NULL, &(carom_derivatives){.J = J0});
    x[i] = keep + h, carom_element_evaluate(P, e, x, NULL, &(carom_derivatives){.J = J1});
    x[i] = keep;
    for (int j = 0; j <= i; j++) {
      double difference = 0;
      for (int k = 0; k < m; k++) difference += w[k] * (J1[k * n + j] - J0[k * n + j]) / (2 * h);
      worst = fmax(worst, fabs(difference - H[i * n + j]));
    }
  }
  return worst / size;
}

// Two quaternions that are nearly opposite have no middle.
static void keep_apart(const carom_element_kind *kind, double *x) {
  double *p = x + 3, *q = x + 10, cosine = 0;
  if (kind != &carom_kind_above_plane_between) return;
  for (int i = 0; i < 4; i++) cosine += p[i] * q[i];
  for (int i = 0; i < 4 && cosine < 0; i++) q[i] = -q[i];
}

TEST(every_kind_agrees_with_differences) {
  carom_random random = carom_random_make(6, 0);
  for (size_t s = 0; s < sizeof samples / sizeof *samples; s++)
    for (int trial = 0; trial < 5; trial++) {
      carom_program P;
      make(&P, samples[s].kind, NULL, samples[s].variables, samples[s].rows);
      for (int i = 0; i < samples[s].constants; i++)
        carom_element_constants(&P, (double[]){carom_random_between(&random, 0.3, 1.5)}, 1);
      carom_error error = {0};
      REQUIRE(carom_program_seal(&P, &error) == CAROM_OK);  // so that the pattern is tested too
      double x[N], w[M];
      for (int i = 0; i < P.n; i++)
        x[i] = carom_random_between(&random, 0.4, 1.4) * (carom_random_below(&random, 2) ? 1 : -1);
      if (samples[s].kind == &carom_kind_translation) x[6] = fabs(x[6]);
      keep_apart(samples[s].kind, x);
      if (samples[s].kind == &carom_kind_rotation || samples[s].kind == &carom_kind_rotation_plain) x[8] = fabs(x[8]);
      for (int i = 0; i < P.m; i++) w[i] = carom_random_between(&random, -1, 1);
      double dj = jacobian_error(&P, x), dh = hessian_error(&P, x, w);
      if (!(dj < 1e-6) || !(dh < 1e-6))
        test_fail(__FILE__, __LINE__, "%s: Jacobian off by %.3g, Hessian by %.3g", samples[s].kind->name, dj, dh);
      carom_program_destroy(&P);
    }
}

// Nothing outside the pattern: what the solver sees of a dense derivative is all of it.
TEST(patterns_hold_every_entry_that_is_not_zero) {
  carom_random random = carom_random_make(7, 0);
  for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
    carom_program P;
    make(&P, samples[s].kind, NULL, samples[s].variables, samples[s].rows);
    for (int i = 0; i < samples[s].constants; i++)
      carom_element_constants(&P, (double[]){carom_random_between(&random, 0.3, 1.5)}, 1);
    REQUIRE(carom_program_seal(&P, NULL) == CAROM_OK);
    double x[N], J[M * N];
    for (int i = 0; i < P.n; i++) x[i] = carom_random_between(&random, -2, 2);
    carom_element_evaluate(&P, &P.elements[0], x, NULL, &(carom_derivatives){.J = J});
    int shown = 0, there = 0;
    for (int i = 0; i < P.n * P.m; i++) there += J[i] != 0;
    for (int i = 0; i < P.jacobian_count; i++) shown += J[P.places[i]] != 0;
    CHECK(shown == there);
    carom_program_destroy(&P);
  }
}

TEST(plane_sides_agree_with_differences) {
  carom_random random = carom_random_make(8, 0);
  carom_program P;
  make(&P, &carom_kind_plane_side, NULL, 11, 8);
  carom_element_constants(&P, (double[]){-1, 8}, 2);
  for (int i = 0; i < 24; i++) carom_element_constants(&P, (double[]){carom_random_between(&random, -1, 1)}, 1);
  REQUIRE(carom_program_seal(&P, NULL) == CAROM_OK);
  for (int trial = 0; trial < 20; trial++) {
    double x[N], w[M];
    for (int i = 0; i < P.n; i++) x[i] = carom_random_between(&random, -1, 1);
    for (int i = 0; i < P.m; i++) w[i] = carom_random_between(&random, -1, 1);
    CHECK_AT_MOST(jacobian_error(&P, x), 1e-6);
    CHECK_AT_MOST(hessian_error(&P, x, w), 1e-6);
  }
  carom_program_destroy(&P);
}

// The derivatives by hand and those in hyperdual numbers are two ways to one answer.
TEST(rotation_by_hand_agrees_with_hyperdual_numbers) {
  carom_random random = carom_random_make(9, 0);
  carom_program A, B;
  make(&A, &carom_kind_rotation, NULL, 9, 6);
  make(&B, &carom_kind_rotation_plain, NULL, 9, 6);
  for (int i = 0; i < 4; i++) {
    double c = carom_random_between(&random, 0.3, 1.5);
    carom_element_constants(&A, (double[]){c}, 1);
    carom_element_constants(&B, (double[]){c}, 1);
  }
  for (int trial = 0; trial < 20; trial++) {
    double x[9], w[6], Ja[54], Jb[54], Ha[81] = {0}, Hb[81] = {0};
    for (int i = 0; i < 9; i++) x[i] = carom_random_between(&random, 0.2, 1);
    for (int i = 0; i < 6; i++) w[i] = carom_random_between(&random, -1, 1);
    carom_element_evaluate(&A, &A.elements[0], x, w, &(carom_derivatives){.J = Ja, .H = Ha});
    carom_element_evaluate(&B, &B.elements[0], x, w, &(carom_derivatives){.J = Jb, .H = Hb});
    for (int i = 0; i < 54; i++) CHECK_NEAR(Ja[i], Jb[i], 1e-12);
    for (int i = 0; i < 9; i++)
      for (int j = 0; j <= i; j++) CHECK_NEAR(Ha[i * 9 + j], Hb[i * 9 + j], 1e-12);
  }
  carom_program_destroy(&A);
  carom_program_destroy(&B);
}

// The nested gap in positions and quaternions (unit or not), with parts away from their bodies' centres.
TEST(nested_gap_agrees_with_differences) {
  carom_random random = carom_random_make(10, 0);
  const carom_shape *box, *other;
  REQUIRE(carom_shape_create_box(cm_vec3(0.2, 0.3, 0.25), NULL, &box, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_tetrahedron(0.4, NULL, &other, NULL) == CAROM_OK);
  int judged = 0;
  for (int trial = 0; trial < 60; trial++) {
    carom_nested_pair pair = {.a = box, .b = other, .offset_a = cm_pose_identity(), .offset_b = cm_pose_identity()};
    pair.offset_a.p = cm_vec3(0.1, -0.05, 0.2), pair.offset_b.p = cm_vec3(-0.1, 0.15, 0);
    pair.offset_b.q = cm_axis_angle(cm_vec3(1, 1, 0), 0.7);
    carom_program P;
    make(&P, &carom_kind_nested, &pair, 14, 1);
    double x[N], w[1] = {1};
    for (int i = 0; i < 14; i++) x[i] = carom_random_between(&random, -1, 1);
    for (int i = 0; i < 3; i++) x[7 + i] = x[i] + carom_random_between(&random, -0.6, 0.6);
    double dj = jacobian_error(&P, x), dh = hessian_error(&P, x, w);
    // A kink within the reach of the differences spoils them; most points have none.
    if (dj < 1e-6 && dh < 1e-6) judged++;
    carom_program_destroy(&P);
  }
  if (judged < 55) test_fail(__FILE__, __LINE__, "only %d of 60 points agree to 1e-6", judged);
  carom_shape_release(box);
  carom_shape_release(other);
}
