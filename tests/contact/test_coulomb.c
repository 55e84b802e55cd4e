// Coulomb's law: answers against what defines them, whatever solves them.
#include "coulomb.h"

static const carom_qp_method methods[] = {CAROM_QP_PGS, CAROM_QP_NEWTON};

static carom_qp_options coulomb(carom_qp_method method) {
  carom_qp_options o = carom_qp_default_options();
  o.method = method, o.law = CAROM_QP_COULOMB, o.tolerance = 1e-10;
  if (method == CAROM_QP_PGS) o.max_iterations = 20000;
  return o;
}

static carom_qp_info solve(qp_case *q, const carom_qp_options *o) {
  carom_qp_work *w;
  carom_qp_info info = {.outcome = CAROM_QP_LIMIT};
  carom_error error = {0};
  if (carom_qp_work_create(NULL, &w, &error)) abort();
  carom_status status = carom_qp_solve(w, &q->problem, o, &q->solution, &info, &error);
  if (status) test_fail(__FILE__, __LINE__, "%s: %s", carom_qp_method_name(o->method), error.message);
  carom_qp_work_destroy(w);
  return info;
}

// A ball that slides: the normal impulse does not know of the slip, where the convex law makes it fly off.
TEST(a_sliding_ball_does_not_rise) {
  for (int i = 0; i < 2; i++) {
    qp_case *q = qp_case_create();
    carom_random random = carom_random_make(1, 1);
    double mu = 0.3, speed = 4;
    qp_add_body(q, 0.05, false, cm_vec3(speed, 0, -0.1), &random);
    qp_add_contact(q, 0, CAROM_QP_WORLD, cm_vec3(0, 0, 1), cm_vec3(0, 0, -0.05), cm_zero3(), mu, 0);
    carom_qp_options o = coulomb(methods[i]);
    o.tolerance = 1e-13;
    CHECK(solve(q, &o).outcome == CAROM_QP_SOLVED);
    double m = 1 / q->bodies[0].inverse_mass;
    CHECK_NEAR(q->velocities[0].z, 0, 1e-12);
    CHECK_NEAR(q->impulses[0].z, 0.1 * m, 1e-12 * m);
    CHECK_NEAR(q->velocities[0].x, speed - mu * 0.1, 1e-12);
    free(q);
  }
}

// A heap of general bodies on the ground, each touching the next; spheres when not general.
static qp_case *heap(uint64_t seed, int bodies, bool general, double mu) {
  qp_case *q = qp_case_create();
  carom_random random = carom_random_make(seed, 3);
  for (int i = 0; i < bodies; i++) {
    qp_add_body(q, 0.05, general, qp_random_vector(&random), &random);
    q->bodies[i].spin = cm_scale(3, qp_random_vector(&random));
  }
  for (int i = 0; i < 2 * bodies; i++) {
    int a = i % bodies, b = i < bodies ? CAROM_QP_WORLD : (a + 1) % bodies;
    carom_vec3 n = i < bodies ? cm_vec3(0, 0, 1) : cm_unit(qp_random_vector(&random));
    carom_vec3 arm_a = cm_scale(-0.05, n), arm_b = cm_scale(0.05, n);
    if (general) arm_a = cm_axpy(arm_a, 0.01, qp_random_vector(&random));
    if (general) arm_b = cm_axpy(arm_b, 0.01, qp_random_vector(&random));
    qp_add_contact(q, a, b, n, arm_a, arm_b, mu, 0.1 * (i % 3));
  }
  return q;
}

TEST(answers_obey_the_law) {
  for (int trial = 0; trial < 60; trial++) {
    int bodies = 2 + trial % 7;
    qp_case *q = heap((uint64_t)trial, bodies, trial % 2, 0.1 * (trial % 6));
    carom_qp_options o = coulomb(CAROM_QP_PGS);
    carom_qp_info info = solve(q, &o);
    if (info.outcome != CAROM_QP_SOLVED)
      test_fail(__FILE__, __LINE__, "trial %d: residual %g of %g", trial, info.residual, info.velocity_scale);
    check_law(q, 1e-8);
    free(q);
  }
}

// From a few sweeps Newton's method goes on to the same accuracy.
TEST(newton_obeys_the_law) {
  for (int trial = 0; trial < 60; trial++) {
    qp_case *q = heap((uint64_t)trial, 2 + trial % 7, trial % 2, 0.1 * (trial % 6));
    carom_qp_options few = coulomb(CAROM_QP_PGS), o = coulomb(CAROM_QP_NEWTON);
    few.max_iterations = 20;
    o.warm_start = true;
    solve(q, &few);
    carom_qp_info info = solve(q, &o);
    if (info.outcome != CAROM_QP_SOLVED)
      test_fail(__FILE__, __LINE__, "trial %d: residual %g of %g", trial, info.residual, info.velocity_scale);
    check_law(q, 1e-8);
    free(q);
  }
}

// Joints, a motor that gives in and stops hold together with the contacts.
TEST(rows_hold_with_contacts) {
  for (int i = 0; i < 2; i++) {
    qp_case *q = heap(5, 4, true, 0.4);
    for (int k = 0; k < 5; k++) {
      carom_qp_row *row = &q->rows[q->problem.row_count++];
      *row = (carom_qp_row){.a = 0, .b = 2, .lower = -INFINITY, .upper = INFINITY};
      row->jacobian_a[k % 3] = 1, row->jacobian_b[k % 3] = -1;
      if (k == 3) row->lower = 0, row->jacobian_a[4] = 0.05, row->jacobian_a[0] = 0;
      if (k == 4)
        row->lower = -0.01, row->upper = 0.01, row->bias = 3, row->jacobian_b[5] = 0.05, row->jacobian_b[1] = 0;
    }
    carom_qp_options few = coulomb(CAROM_QP_PGS), o = coulomb(methods[i]);
    few.max_iterations = 20;
    o.warm_start = true;
    solve(q, &few);
    carom_qp_info info = solve(q, &o);
    CHECK(info.outcome == CAROM_QP_SOLVED);
    check_law(q, 1e-8);
    free(q);
  }
}

// Without friction the two laws are one.
TEST(without_friction_both_laws_agree) {
  qp_case *q[2];
  for (int i = 0; i < 2; i++) {
    q[i] = heap(11, 6, true, 0);
    carom_qp_options o = coulomb(CAROM_QP_PGS);
    o.law = i ? CAROM_QP_CONVEX : CAROM_QP_COULOMB;
    CHECK(solve(q[i], &o).outcome == CAROM_QP_SOLVED);
  }
  for (int i = 0; i < 6; i++) CHECK_AT_MOST(cm_norm(cm_sub(q[0]->velocities[i], q[1]->velocities[i])), 1e-8);
  free(q[0]), free(q[1]);
}

TEST(solvers_without_the_law_say_who_has_it) {
  qp_case *q = heap(1, 2, true, 0.3);
  carom_qp_work *w;
  REQUIRE(carom_qp_work_create(NULL, &w, NULL) == CAROM_OK);
  for (int i = 0; i < CAROM_QP_METHOD_COUNT; i++) {
    for (int law = 0; law < 2; law++) {
      carom_error error = {0};
      carom_qp_options o = coulomb((carom_qp_method)i);
      o.law = (carom_qp_law)law;
      if (carom_qp_method_takes(o.method, o.law)) continue;
      CHECK(carom_qp_solve(w, &q->problem, &o, &q->solution, NULL, &error) == CAROM_ERR_UNSUPPORTED);
      CHECK_CONTAINS(error.message, carom_qp_method_name(o.method));
      CHECK_CONTAINS(error.message, "pgs");
      if (law == CAROM_QP_COULOMB) CHECK_CONTAINS(error.message, "newton");
    }
  }
  carom_error error = {0};
  carom_qp_options o = coulomb(CAROM_QP_PGS);
  o.cone = CAROM_QP_GENERATORS;
  CHECK(carom_qp_solve(w, &q->problem, &o, &q->solution, NULL, &error) == CAROM_ERR_UNSUPPORTED);
  carom_qp_work_destroy(w);
  free(q);
}
