// The free-body step as an equation: does F solve it, is it reversible, does it depend on neighbours?
#include "fixtures.h"
#include "step/variational/dmv.h"

static carom_mat3 euler_tensor(carom_vec3 J) {
  double half = 0.5 * (J.x + J.y + J.z);
  return cm_diag3(half - J.x, half - J.y, half - J.z);
}

// |h hat(Pi) - (F E - E F')| / |h Pi|, straight from Moser and Veselov, in matrices.
static double matrix_residual(carom_vec3 J, carom_vec3 Pi, carom_mat3 F, double h) {
  carom_mat3 E = euler_tensor(J);
  carom_mat3 right = cm_msub(cm_mmul(F, E), cm_mmul(E, cm_transpose(F)));
  carom_vec3 defect = cm_sub(cm_scale(0.5, cm_axial(right)), cm_scale(h, Pi));
  return cm_norm(defect) / (h * cm_norm(Pi));
}

TEST(solves_the_matrix_equation) {
  carom_random r = carom_random_make(1, 0);
  double worst = 0;
  for (int trial = 0; trial < 300; trial++) {
    world w = random_cloud(1, 1000 + (uint64_t)trial);
    double h = pow(10, carom_random_between(&r, -6, -1.3));
    carom_quat before = w.state->q[0];
    carom_stepper *stepper = new_stepper(&w, h, CAROM_QUADRATURE_ENDPOINT);
    run_steps(stepper, w.state, 1);
    carom_mat3 F = cm_mmul(cm_transpose(cm_rotation(before)), cm_rotation(w.state->q[0]));
    carom_vec3 Pi = cm_unrotate(before, w.state->l[0]);
    // F is known to an epsilon, so the relative defect is an epsilon over the angle.
    double angle = h * cm_norm(Pi) / w.model->bodies[0].inertia.x;
    worst = fmax(worst, matrix_residual(w.model->bodies[0].inertia, Pi, F, h) * fmin(angle, 1));
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
  CHECK_AT_MOST(worst, 2e-14);
}

TEST(reported_residual_is_round_off) {
  world w = random_cloud(1000, 3);
  carom_stepper *stepper = new_stepper(&w, 0.02, CAROM_QUADRATURE_ENDPOINT);
  carom_step_report report;
  carom_error error;
  REQUIRE(carom_stepper_step(stepper, w.state, &report, &error) == CAROM_OK);
  CHECK_AT_MOST(report.residual, 1e-15);
  CHECK(report.residual > 0);
  CHECK(report.iterations >= 1 && report.iterations <= 4);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(a_body_does_not_feel_its_neighbours) {
  world all = random_cloud(19, 7);
  carom_stepper *stepper = new_stepper(&all, 0.05, CAROM_QUADRATURE_ENDPOINT);
  carom_state *start = NULL;
  REQUIRE(carom_state_clone(all.state, NULL, &start, NULL) == CAROM_OK);
  run_steps(stepper, all.state, 50);
  for (int i = 0; i < 19; i++) {
    carom_builder *builder = new_builder();
    carom_body_def def = inert_body(all.model->bodies[i].mass, all.model->bodies[i].inertia);
    carom_builder_add_body(builder, &def);
    world alone = finish_world(builder);
    alone.state->x[0] = start->x[i], alone.state->q[0] = start->q[i];
    alone.state->p[0] = start->p[i], alone.state->l[0] = start->l[i];
    carom_stepper *own = new_stepper(&alone, 0.05, CAROM_QUADRATURE_ENDPOINT);
    run_steps(own, alone.state, 50);
    CHECK(memcmp(&alone.state->q[0], &all.state->q[i], sizeof(carom_quat)) == 0);
    CHECK(memcmp(&alone.state->x[0], &all.state->x[i], sizeof(carom_vec3)) == 0);
    carom_stepper_destroy(own);
    free_world(&alone);
  }
  carom_state_destroy(start);
  carom_stepper_destroy(stepper);
  free_world(&all);
}

TEST(is_time_reversible) {
  world w = random_cloud(16, 11);
  carom_state *start = NULL;
  REQUIRE(carom_state_clone(w.state, NULL, &start, NULL) == CAROM_OK);
  carom_stepper *stepper = new_stepper(&w, 0.05, CAROM_QUADRATURE_ENDPOINT);
  run_steps(stepper, w.state, 200);
  for (int i = 0; i < 16; i++) {
    w.state->p[i] = cm_neg(w.state->p[i]);
    w.state->l[i] = cm_neg(w.state->l[i]);
  }
  run_steps(stepper, w.state, 200);
  for (int i = 0; i < 16; i++) {
    CHECK_AT_MOST(cm_norm(cm_sub(w.state->x[i], start->x[i])), 1e-12);
    CHECK_AT_MOST(1 - fabs(cm_qdot(w.state->q[i], start->q[i])), 1e-13);
  }
  carom_state_destroy(start);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// A sphere turns by exactly asin(h omega) a step; with h omega above 1 there is no solution, so it is turned in parts.
TEST(a_fast_sphere_is_turned_in_parts) {
  double h = 0.1, omega = 40;  // 4 rad a step
  carom_builder *builder = new_builder();
  carom_body_def def = inert_body(1, cm_vec3(2, 2, 2));
  def.angular_velocity = cm_vec3(0, 0, omega);
  carom_builder_add_body(builder, &def);
  world w = finish_world(builder);
  carom_stepper *stepper = new_stepper(&w, h, CAROM_QUADRATURE_ENDPOINT);
  run_steps(stepper, w.state, 1);
  double angle = 8 * asin(h / 8 * omega);  // 8 parts of half a radian are the first that work
  double turned = 2 * atan2(w.state->q[0].z, w.state->q[0].w);
  CHECK_NEAR(remainder(turned - angle, 2 * acos(-1)), 0, 1e-13);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// Round its axis of symmetry a body turns by a constant angle in every part: of 2^10 parts of 0.586 rad here.
TEST(a_turn_of_many_rounds_is_followed) {
  carom_builder *builder = new_builder();
  double omega = 6000, h = 0.1;
  carom_body_def def = inert_body(1, cm_vec3(2, 2, 1));
  def.angular_velocity = cm_vec3(0, 0, omega);
  carom_builder_add_body(builder, &def);
  world w = finish_world(builder);
  carom_stepper *stepper = new_stepper(&w, h, CAROM_QUADRATURE_ENDPOINT);
  run_steps(stepper, w.state, 1);
  double angle = 2 * atan2(w.state->q[0].z, w.state->q[0].w), parts = 0;
  for (double n = 1024; n <= 4096 && parts == 0; n *= 2)
    if (fabs(remainder(angle - n * asin(h * omega / n), 2 * acos(-1))) < 1e-9) parts = n;
  CHECK(parts > 0);
  CHECK_NEAR(cm_norm(cm_sub(carom_state_angular_velocity(w.model, w.state, 0), cm_vec3(0, 0, omega))), 0, 1e-9);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(a_hopeless_turn_fails_with_advice_and_leaves_the_state) {
  carom_builder *builder = new_builder();
  carom_body_def def = inert_body(1, cm_vec3(1, 2, 2.5));
  def.name = "dervish";
  def.angular_velocity = cm_vec3(0, 1e7, 1);
  carom_builder_add_body(builder, &def);
  world w = finish_world(builder);
  uint64_t before = carom_state_hash(w.state);
  carom_stepper *stepper = new_stepper(&w, 0.1, CAROM_QUADRATURE_ENDPOINT);
  carom_error error = {0};
  CHECK(carom_stepper_step(stepper, w.state, NULL, &error) < 0);
  CHECK_CONTAINS(error.message, "dervish");
  CHECK_CONTAINS(error.message, "use a step below");
  CHECK(carom_state_hash(w.state) == before);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(a_state_that_is_not_finite_is_named) {
  world w = random_cloud(12, 5);
  w.state->l[9].y = NAN;
  carom_stepper *stepper = new_stepper(&w, 0.01, CAROM_QUADRATURE_ENDPOINT);
  carom_error error = {0};
  CHECK(carom_stepper_step(stepper, w.state, NULL, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "body9");
  w.state->l[9].y = 0;
  w.state->p[4].x = INFINITY;
  CHECK(carom_stepper_step(stepper, w.state, NULL, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "body4");
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// Below the safe turn the solver must always converge, for any inertia: the fast path takes no copy of the state.
TEST(below_the_safe_turn_nothing_fails) {
  carom_random r = carom_random_make(2, 0);
  for (int trial = 0; trial < 2000; trial++) {
    carom_vec3 J = random_moments(&r);
    if (trial % 4 == 0) J = cm_vec3(1e-4, 1, 1 + 1e-5);  // a needle
    if (trial % 4 == 1) J = cm_vec3(1, 1, 2 - 1e-6);     // a disc
    carom_builder *builder = new_builder();
    carom_body_def def = inert_body(1, J);
    carom_builder_add_body(builder, &def);
    world w = finish_world(builder);
    const carom_body *body = &w.model->bodies[0];
    double smallest = fmin(body->inertia.x, fmin(body->inertia.y, body->inertia.z)), h = 0.01;
    w.state->l[0] = cm_scale(0.999 * CAROM_DMV_SAFE_TURN * smallest / h, cm_unit(random_vector(&r, 1)));
    carom_stepper *stepper = new_stepper(&w, h, CAROM_QUADRATURE_ENDPOINT);
    carom_step_report report;
    CHECK(carom_stepper_step(stepper, w.state, &report, NULL) == CAROM_OK);
    CHECK_AT_MOST(report.residual, 1e-14);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}
