// Coulomb's law: answers against what defines them, whatever solves them.
#include "coulomb.h"

static const carom_contact_method methods[] = {CAROM_CONTACT_PGS, CAROM_CONTACT_NEWTON};

static carom_contact_options coulomb(carom_contact_method method) {
  carom_contact_options o = carom_contact_default_options();
  o.method = method, o.law = CAROM_CONTACT_COULOMB, o.tolerance = 1e-10;
  if (method == CAROM_CONTACT_PGS) o.max_iterations = 20000;
  return o;
}

// A ball that slides: the normal impulse does not know of the slip, where the convex law makes it fly off.
TEST(a_sliding_ball_does_not_rise) {
  for (int i = 0; i < 2; i++) {
    contact_case *q = contact_case_create();
    carom_random random = carom_random_make(1, 1);
    double mu = 0.3, speed = 4;
    contact_add_body(q, 0.05, false, cm_vec3(speed, 0, -0.1), &random);
    contact_add_contact(q, 0, CAROM_CONTACT_WORLD, cm_vec3(0, 0, 1), cm_vec3(0, 0, -0.05), cm_zero3(), mu, 0);
    carom_contact_options o = coulomb(methods[i]);
    o.tolerance = 1e-13;
    CHECK(contact_solve(q, &o).outcome == CAROM_CONTACT_SOLVED);
    double m = 1 / q->bodies[0].inverse_mass;
    CHECK_NEAR(q->velocities[0].z, 0, 1e-12);
    CHECK_NEAR(q->impulses[0].z, 0.1 * m, 1e-12 * m);
    CHECK_NEAR(q->velocities[0].x, speed - mu * 0.1, 1e-12);
    free(q);
  }
}

// A heap of general bodies on the ground, each touching the next; spheres when not general.
static contact_case *heap(uint64_t seed, int bodies, bool general, double mu) {
  contact_case *q = contact_case_create();
  carom_random random = carom_random_make(seed, 3);
  for (int i = 0; i < bodies; i++) {
    contact_add_body(q, 0.05, general, contact_random_vector(&random), &random);
    q->bodies[i].spin = cm_scale(3, contact_random_vector(&random));
  }
  for (int i = 0; i < 2 * bodies; i++) {
    int a = i % bodies, b = i < bodies ? CAROM_CONTACT_WORLD : (a + 1) % bodies;
    carom_vec3 n = i < bodies ? cm_vec3(0, 0, 1) : cm_unit(contact_random_vector(&random));
    carom_vec3 arm_a = cm_scale(-0.05, n), arm_b = cm_scale(0.05, n);
    if (general) arm_a = cm_axpy(arm_a, 0.01, contact_random_vector(&random));
    if (general) arm_b = cm_axpy(arm_b, 0.01, contact_random_vector(&random));
    contact_add_contact(q, a, b, n, arm_a, arm_b, mu, 0.1 * (i % 3));
  }
  return q;
}

TEST(answers_obey_the_law) {
  for (int trial = 0; trial < 60; trial++) {
    int bodies = 2 + trial % 7;
    contact_case *q = heap((uint64_t)trial, bodies, trial % 2, 0.1 * (trial % 6));
    carom_contact_options o = coulomb(CAROM_CONTACT_PGS);
    carom_contact_info info = contact_solve(q, &o);
    if (info.outcome != CAROM_CONTACT_SOLVED)
      test_fail(__FILE__, __LINE__, "trial %d: residual %g of %g", trial, info.residual, info.velocity_scale);
    check_law(q, 1e-8);
    free(q);
  }
}

// From a few sweeps Newton's method goes on to the same accuracy.
TEST(newton_obeys_the_law) {
  for (int trial = 0; trial < 60; trial++) {
    contact_case *q = heap((uint64_t)trial, 2 + trial % 7, trial % 2, 0.1 * (trial % 6));
    carom_contact_options few = coulomb(CAROM_CONTACT_PGS), o = coulomb(CAROM_CONTACT_NEWTON);
    few.max_iterations = 20;
    o.warm_start = true;
    contact_solve(q, &few);
    carom_contact_info info = contact_solve(q, &o);
    if (info.outcome != CAROM_CONTACT_SOLVED)
      test_fail(__FILE__, __LINE__, "trial %d: residual %g of %g", trial, info.residual, info.velocity_scale);
    check_law(q, 1e-8);
    free(q);
  }
}

// Joints, a motor that gives in and stops hold together with the contacts.
TEST(rows_hold_with_contacts) {
  for (int i = 0; i < 2; i++) {
    contact_case *q = heap(5, 4, true, 0.4);
    for (int k = 0; k < 5; k++) {
      carom_contact_row *row = &q->rows[q->problem.row_count++];
      *row = (carom_contact_row){.a = 0, .b = 2, .lower = -INFINITY, .upper = INFINITY};
      row->jacobian_a[k % 3] = 1, row->jacobian_b[k % 3] = -1;
      if (k == 3) row->lower = 0, row->jacobian_a[4] = 0.05, row->jacobian_a[0] = 0;
      if (k == 4)
        row->lower = -0.01, row->upper = 0.01, row->bias = 3, row->jacobian_b[5] = 0.05, row->jacobian_b[1] = 0;
    }
    carom_contact_options few = coulomb(CAROM_CONTACT_PGS), o = coulomb(methods[i]);
    few.max_iterations = 20;
    o.warm_start = true;
    contact_solve(q, &few);
    carom_contact_info info = contact_solve(q, &o);
    CHECK(info.outcome == CAROM_CONTACT_SOLVED);
    check_law(q, 1e-8);
    free(q);
  }
}

// Without friction the two laws are one.
TEST(without_friction_both_laws_agree) {
  contact_case *q[2];
  for (int i = 0; i < 2; i++) {
    q[i] = heap(11, 6, true, 0);
    carom_contact_options o = coulomb(CAROM_CONTACT_PGS);
    o.law = i ? CAROM_CONTACT_CONVEX : CAROM_CONTACT_COULOMB;
    CHECK(contact_solve(q[i], &o).outcome == CAROM_CONTACT_SOLVED);
  }
  for (int i = 0; i < 6; i++) CHECK_AT_MOST(cm_norm(cm_sub(q[0]->velocities[i], q[1]->velocities[i])), 1e-8);
  free(q[0]), free(q[1]);
}

TEST(solvers_without_the_law_say_who_has_it) {
  contact_case *q = heap(1, 2, true, 0.3);
  carom_contact_work *w;
  REQUIRE(carom_contact_work_create(NULL, &w, NULL) == CAROM_OK);
  for (int i = 0; i < CAROM_CONTACT_METHOD_COUNT; i++) {
    for (int law = 0; law < 2; law++) {
      carom_error error = {0};
      carom_contact_options o = coulomb((carom_contact_method)i);
      o.law = (carom_contact_law)law;
      if (carom_contact_method_takes(o.method, o.law)) continue;
      CHECK(carom_contact_solve(w, &q->problem, &o, &q->solution, NULL, &error) == CAROM_ERR_UNSUPPORTED);
      CHECK_CONTAINS(error.message, carom_contact_method_name(o.method));
      CHECK_CONTAINS(error.message, "pgs");
      if (law == CAROM_CONTACT_COULOMB) CHECK_CONTAINS(error.message, "newton");
    }
  }
  carom_error error = {0};
  carom_contact_options o = coulomb(CAROM_CONTACT_PGS);
  o.cone = CAROM_CONTACT_GENERATORS;
  CHECK(carom_contact_solve(w, &q->problem, &o, &q->solution, NULL, &error) == CAROM_ERR_UNSUPPORTED);
  carom_contact_work_destroy(w);
  free(q);
}
