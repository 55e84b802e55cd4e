// The contact solvers at their edges: empty, degenerate and wrong problems, and memory that runs out.
#include "contact_problems.h"
#include "failing_allocator.h"
#include "test.h"

static const carom_contact_method all_methods[] = {CAROM_CONTACT_PGS, CAROM_CONTACT_APGD, CAROM_CONTACT_SPG,
                                                   CAROM_CONTACT_INTERIOR};
enum { METHODS = sizeof all_methods / sizeof *all_methods };

static carom_status try_solve(contact_case *q, const carom_contact_options *o, carom_contact_info *info,
                              carom_error *error) {
  carom_contact_work *w;
  if (carom_contact_work_create(NULL, &w, error)) abort();
  carom_status status = carom_contact_solve(w, &q->problem, o, &q->solution, info, error);
  carom_contact_work_destroy(w);
  return status;
}

static carom_contact_info solve_with(contact_case *q, carom_contact_method method, carom_contact_cone cone,
                                     double tolerance) {
  carom_contact_options o = carom_contact_default_options();
  carom_contact_info info = {.outcome = CAROM_CONTACT_LIMIT};
  carom_error error = {0};
  o.method = method, o.cone = cone, o.tolerance = tolerance;
  if (method != CAROM_CONTACT_INTERIOR) o.max_iterations = 100000;
  carom_status status = try_solve(q, &o, &info, &error);
  if (status) test_fail(__FILE__, __LINE__, "%s: %s", carom_contact_method_name(method), error.message);
  return info;
}

static void expect_solved(contact_case *q, carom_contact_cone cone, double tolerance) {
  for (int i = 0; i < METHODS; i++) {
    carom_contact_info info = solve_with(q, all_methods[i], cone, tolerance);
    if (info.outcome != CAROM_CONTACT_SOLVED)
      test_fail(__FILE__, __LINE__, "%s: outcome %d, residual %g of %g after %d",
                carom_contact_method_name(all_methods[i]), (int)info.outcome, info.residual, info.velocity_scale,
                info.iterations);
    for (int c = 0; c < q->problem.contact_count; c++) CHECK(cm_finite(q->impulses[c]));
    for (int b = 0; b < q->problem.body_count; b++) CHECK(cm_finite(q->velocities[b]) && cm_finite(q->spins[b]));
  }
}

// ---- small and degenerate ---------------------------------------------------------------------

TEST(nothing_at_all) {
  contact_case *q = contact_case_create();
  expect_solved(q, CAROM_CONTACT_CIRCULAR, 1e-9);
  expect_solved(q, CAROM_CONTACT_GENERATORS, 1e-9);
  free(q);
}

TEST(bodies_without_contacts_keep_their_velocities) {
  contact_case *q = contact_case_create();
  carom_random random = carom_random_make(1, 1);
  contact_add_body(q, 0.1, true, cm_vec3(1, 2, 3), &random);
  q->bodies[0].spin = cm_vec3(4, 5, 6);
  for (int i = 0; i < METHODS; i++) {
    carom_contact_info info = solve_with(q, all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-9);
    CHECK(info.outcome == CAROM_CONTACT_SOLVED && info.residual == 0 && info.relative_gap == 0);
    CHECK(q->velocities[0].x == 1 && q->velocities[0].z == 3 && q->spins[0].y == 5);
  }
  free(q);
}

TEST(contacts_that_stay_open_get_no_impulse) {
  contact_case *q = contact_pile_case(3, 3, 3, 0.5, 1);
  for (int c = 0; c < q->problem.contact_count; c++) q->contacts[c].bias = 10;
  for (int i = 0; i < METHODS; i++) {
    carom_contact_info info = solve_with(q, all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-9);
    CHECK(info.outcome == CAROM_CONTACT_SOLVED && info.iterations == 0);
    for (int c = 0; c < q->problem.contact_count; c++) CHECK(cm_norm(q->impulses[c]) == 0);
  }
  free(q);
}

// A wall that cannot move meets another: nothing to solve, whatever the overlap.
TEST(two_bodies_that_cannot_move_are_left_out) {
  contact_case *q = contact_pile_case(2, 2, 2, 0.5, 1);
  int wall = q->problem.body_count++, contact = q->problem.contact_count;
  q->bodies[wall] = (carom_contact_body){.velocity = {0, 0, 1}};
  contact_add_contact(q, wall, CAROM_CONTACT_WORLD, cm_vec3(0, 0, -1), cm_zero3(), cm_zero3(), 0.5, -3);
  expect_solved(q, CAROM_CONTACT_CIRCULAR, 1e-7);
  expect_solved(q, CAROM_CONTACT_GENERATORS, 1e-7);
  CHECK(cm_norm(q->impulses[contact]) == 0);
  CHECK(q->velocities[wall].z == 1);
  free(q);
}

// A rising floor lifts the ball at its own speed and is not slowed.
TEST(a_moving_wall_pushes) {
  contact_case *q = contact_case_create();
  carom_random random = carom_random_make(1, 1);
  int ball = contact_add_body(q, 0.05, false, cm_vec3(0, 0, -1), &random), floor = q->problem.body_count++;
  q->bodies[floor] = (carom_contact_body){.velocity = {0, 0, 2}};
  contact_add_contact(q, ball, floor, cm_vec3(0, 0, 1), cm_vec3(0, 0, -0.05), cm_vec3(0.3, 0, 0), 0.5, 0);
  for (int i = 0; i < METHODS; i++) {
    solve_with(q, all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-10);
    CHECK_NEAR(q->velocities[ball].z, 2, 1e-8);
    CHECK(q->velocities[floor].z == 2);
  }
  free(q);
}

TEST(without_friction_impulses_are_normal) {
  contact_case *q = contact_pile_case(4, 4, 4, 0, 3);
  for (int cone = 0; cone < 2; cone++) {
    expect_solved(q, (carom_contact_cone)cone, 1e-7);
    for (int c = 0; c < q->problem.contact_count; c++)
      CHECK_NEAR(cm_norm(cm_cross(q->impulses[c], q->contacts[c].normal)), 0, 1e-12);
  }
  free(q);
}

TEST(tiny_and_huge_friction) {
  for (double mu = 1e-6; mu <= 2e6; mu *= 1e12) {
    contact_case *q = contact_pile_case(3, 3, 3, mu, 3);
    expect_solved(q, CAROM_CONTACT_CIRCULAR, 1e-6);
    if (mu < 1) expect_solved(q, CAROM_CONTACT_GENERATORS, 1e-6);
    free(q);
  }
}

// Each contact five times over: N is singular, impulses are not unique, velocities are.
TEST(repeated_contacts_do_not_change_the_motion) {
  contact_case *once = contact_pile_case(3, 3, 3, 0.4, 7);
  solve_with(once, CAROM_CONTACT_PGS, CAROM_CONTACT_CIRCULAR, 1e-9);
  for (int i = 0; i < METHODS; i++) {
    contact_case *q = contact_pile_case(3, 3, 3, 0.4, 7);
    int contacts = q->problem.contact_count;
    for (int k = 0; k < 4 * contacts; k++) q->contacts[q->problem.contact_count++] = q->contacts[k % contacts];
    carom_contact_info info = solve_with(q, all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-8);
    CHECK(info.outcome == CAROM_CONTACT_SOLVED);
    for (int b = 0; b < q->problem.body_count; b++)
      CHECK_NEAR(cm_norm(cm_sub(q->velocities[b], once->velocities[b])), 0, 1e-5);
    free(q);
  }
  free(once);
}

// The same joint twice over: its rows are redundant and consistent.
TEST(redundant_rows_share_the_load) {
  contact_case *q = contact_case_create();
  carom_random random = carom_random_make(1, 1);
  contact_add_body(q, 0.05, true, cm_vec3(0, 0, -0.1), &random);
  for (int i = 0; i < 6; i++)
    q->rows[q->problem.row_count++] = (carom_contact_row){.a = 0,
                                                          .b = CAROM_CONTACT_WORLD,
                                                          .jacobian_a = {i % 3 == 0, i % 3 == 1, i % 3 == 2, 0, 0, 0},
                                                          .lower = -INFINITY,
                                                          .upper = INFINITY};
  expect_solved(q, CAROM_CONTACT_CIRCULAR, 1e-9);
  for (int i = 0; i < METHODS; i++) {
    solve_with(q, all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-9);
    CHECK_NEAR(q->velocities[0].z, 0, 1e-9);
    CHECK_NEAR((q->multipliers[2] + q->multipliers[5]) * q->bodies[0].inverse_mass, 0.1, 1e-8);
  }
  free(q);
}

// A motor that is switched off has bounds [0, 0]; a stop has one bound, and may be of either sign.
TEST(rows_with_one_bound_or_none) {
  const double bounds[4][2] = {{0, 0}, {0, INFINITY}, {-INFINITY, 0}, {-INFINITY, INFINITY}};
  const double expected[4] = {3, 3, 1, 1};  // spin 3 is to be slowed to 1, which takes a negative multiplier
  for (int i = 0; i < METHODS; i++)
    for (int k = 0; k < 4; k++) {
      contact_case *q = contact_case_create();
      carom_random random = carom_random_make(1, 1);
      contact_add_body(q, 0.05, false, cm_zero3(), &random);
      q->bodies[0].spin = cm_vec3(0, 0, 3);
      q->rows[q->problem.row_count++] = (carom_contact_row){.a = 0,
                                                            .b = CAROM_CONTACT_WORLD,
                                                            .jacobian_a = {0, 0, 0, 0, 0, 1},
                                                            .bias = -1,
                                                            .lower = bounds[k][0],
                                                            .upper = bounds[k][1]};
      carom_contact_info info = solve_with(q, all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-9);
      CHECK(info.outcome == CAROM_CONTACT_SOLVED);
      CHECK_NEAR(q->spins[0].z, expected[k], 1e-8);
      free(q);
    }
}

// A body that may turn about one axis only, and not move: M^-1 is singular.
TEST(a_body_with_one_axis) {
  contact_case *q = contact_case_create();
  carom_random random = carom_random_make(1, 1);
  int wheel = q->problem.body_count++, ball = contact_add_body(q, 0.05, false, cm_vec3(0, 0, -1), &random);
  q->bodies[wheel] = (carom_contact_body){.inverse_inertia = {0, 2, 0, 0, 0, 0}};
  contact_add_contact(q, ball, wheel, cm_vec3(0, 0, 1), cm_vec3(0, 0, -0.05), cm_vec3(0.5, 0, 0), 0.3, 0);
  expect_solved(q, CAROM_CONTACT_CIRCULAR, 1e-9);
  double m = 1 / q->bodies[ball].inverse_mass, along = 1 / m + 0.25 * 2;
  for (int i = 0; i < METHODS; i++) {
    solve_with(q, all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-9);
    CHECK_NEAR(q->velocities[wheel].z, 0, 0);
    CHECK_NEAR(q->impulses[0].z * along, 1, 1e-6);
    CHECK_NEAR(q->velocities[ball].z + 0.5 * q->spins[wheel].y, 0, 1e-6);
  }
  free(q);
}

// Masses from a grain of sand to a ship.
TEST(mass_ratios_of_a_million) {
  contact_case *q = contact_case_create();
  carom_random random = carom_random_make(2, 2);
  for (int i = 0; i < 4; i++) {
    double r = 0.001 * pow(10, i % 2 ? 2 : 0);
    contact_add_body(q, r, false, cm_vec3(0.01, 0, -0.1), &random);
    contact_add_contact(q, i, i - 1, cm_vec3(0, 0, 1), cm_vec3(0, 0, -r), cm_vec3(0, 0, i ? 0.1 : 0), 0.5, 0.001 * i);
  }
  for (int i = 0; i < METHODS; i++) {
    carom_contact_info info = solve_with(q, all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-4);
    // Simple gradients see a condition number of 1e6 here; they may stop at their limit, with an honest residual.
    bool must = all_methods[i] == CAROM_CONTACT_PGS || all_methods[i] == CAROM_CONTACT_INTERIOR;
    if (must && info.outcome != CAROM_CONTACT_SOLVED)
      test_fail(__FILE__, __LINE__, "%s: residual %g of %g after %d", carom_contact_method_name(all_methods[i]),
                info.residual, info.velocity_scale, info.iterations);
    CHECK(info.outcome != CAROM_CONTACT_SOLVED || info.residual <= 1e-4 * info.velocity_scale);
  }
  free(q);
}

// A limit is an answer: impulses in their cones, residual told.
TEST(a_limit_is_told) {
  contact_case *q = contact_pile_case(6, 6, 6, 0.5, 3);
  for (int i = 0; i < METHODS; i++) {
    carom_contact_options o = carom_contact_default_options();
    carom_contact_info info;
    o.method = all_methods[i], o.max_iterations = 2;
    CHECK(try_solve(q, &o, &info, NULL) == CAROM_OK);
    CHECK(info.outcome == CAROM_CONTACT_LIMIT && info.iterations == 2);
    CHECK(info.residual > 1e-6 * info.velocity_scale && info.gap > 0);
    for (int c = 0; c < q->problem.contact_count; c++) {
      double normal = cm_dot(q->impulses[c], q->contacts[c].normal);
      CHECK(cm_norm(cm_axpy(q->impulses[c], -normal, q->contacts[c].normal)) <= 0.5 * normal + 1e-12);
    }
  }
  free(q);
}

// Bodies wedged into overlap that no velocity can undo: the program has no feasible point, the impulses grow without
// bound, and the solver says so by its outcome instead of running off into infinity.
TEST(an_infeasible_wedge_is_not_called_solved) {
  contact_case *q = contact_case_create();
  carom_random random = carom_random_make(2, 2);
  contact_add_body(q, 0.05, false, cm_zero3(), &random);
  contact_add_contact(q, 0, CAROM_CONTACT_WORLD, cm_vec3(0, 0, 1), cm_vec3(0, 0, -0.05), cm_zero3(), 0.5, -1);
  contact_add_contact(q, 0, CAROM_CONTACT_WORLD, cm_vec3(0, 0, -1), cm_vec3(0, 0, 0.05), cm_zero3(), 0.5, -1);
  for (int i = 0; i < METHODS; i++) {
    carom_contact_options o = carom_contact_default_options();
    carom_contact_info info;
    o.method = all_methods[i], o.max_iterations = 50;
    CHECK(try_solve(q, &o, &info, NULL) == CAROM_OK);
    if (info.outcome == CAROM_CONTACT_SOLVED)
      test_fail(__FILE__, __LINE__, "%s calls a wedge solved, residual %g", carom_contact_method_name(o.method),
                info.residual);
    CHECK(info.infeasibility > 0.5);
    CHECK(cm_finite(q->impulses[0]) && cm_finite(q->velocities[0]));
  }
  free(q);
}

// ---- wrong problems ---------------------------------------------------------------------------

static void expect_refused(contact_case *q, const carom_contact_options *o, carom_status expected, const char *words) {
  carom_error error = {0};
  carom_contact_info info;
  CHECK(try_solve(q, o, &info, &error) == expected);
  CHECK_CONTAINS(error.message, words);
}

TEST(wrong_numbers_are_named) {
  contact_case *q = contact_pile_case(2, 2, 2, 0.5, 1), *good = contact_pile_case(2, 2, 2, 0.5, 1);
  q->contacts[5].bias = NAN;
  expect_refused(q, NULL, CAROM_ERR_NUMBER, "contact 5");
  q->contacts[5] = good->contacts[5];
  q->contacts[3].normal = cm_vec3(0, 0, 2);
  expect_refused(q, NULL, CAROM_ERR_NUMBER, "contact 3 (bodies");
  q->contacts[3] = good->contacts[3];
  q->contacts[2].friction = -0.1;
  expect_refused(q, NULL, CAROM_ERR_NUMBER, "friction -0.1");
  q->contacts[2] = good->contacts[2];
  q->contacts[1].a = 8;
  expect_refused(q, NULL, CAROM_ERR_ARGUMENT, "bodies 8 and");
  q->contacts[1] = good->contacts[1];
  q->contacts[1].a = q->contacts[1].b = 3;
  expect_refused(q, NULL, CAROM_ERR_ARGUMENT, "to itself");
  q->contacts[1] = good->contacts[1];
  q->bodies[6].spin.y = INFINITY;
  expect_refused(q, NULL, CAROM_ERR_NUMBER, "body 6");
  q->bodies[6] = good->bodies[6];
  q->bodies[4].inverse_mass = -1;
  expect_refused(q, NULL, CAROM_ERR_NUMBER, "body 4");
  q->bodies[4] = good->bodies[4];
  q->problem.row_count = 1;
  q->rows[0] = (carom_contact_row){.a = 0, .b = 1, .lower = 1, .upper = 2};
  expect_refused(q, NULL, CAROM_ERR_NUMBER, "row 0 is bounded by [1, 2]");
  q->problem.row_count = 0;
  carom_contact_options o = carom_contact_default_options();
  o.warm_start = true;
  q->impulses[2].z = NAN;
  expect_refused(q, &o, CAROM_ERR_NUMBER, "first guess of contact 2");
  free(q), free(good);
}

TEST(wrong_options_are_named) {
  contact_case *q = contact_pile_case(2, 2, 2, 0.5, 1);
  carom_contact_options good = carom_contact_default_options(), o = good;
  o.generators = 2;
  expect_refused(q, &o, CAROM_ERR_ARGUMENT, "generators is 2");
  o = good, o.threads = -1;
  expect_refused(q, &o, CAROM_ERR_ARGUMENT, "threads is -1");
  o = good, o.tolerance = NAN;
  expect_refused(q, &o, CAROM_ERR_ARGUMENT, "tolerance");
  o = good, o.max_iterations = -3;
  expect_refused(q, &o, CAROM_ERR_ARGUMENT, "max_iterations is -3");
  o = good, o.method = (carom_contact_method)99;
  expect_refused(q, &o, CAROM_ERR_ARGUMENT, "99");
  q->solution.impulses = NULL;
  expect_refused(q, &good, CAROM_ERR_ARGUMENT, "no room");
  free(q);
}

TEST(methods_have_names) {
  carom_contact_method method;
  for (int i = 0; i < CAROM_CONTACT_METHOD_COUNT; i++) {
    const char *name = carom_contact_method_name((carom_contact_method)i);
    CHECK(name && carom_contact_method_by_name(name, &method) && (int)method == i);
  }
  CHECK(!carom_contact_method_name(CAROM_CONTACT_METHOD_COUNT));
  CHECK(!carom_contact_method_by_name("gauss", &method) && !carom_contact_method_by_name(NULL, &method));
}

// ---- memory -----------------------------------------------------------------------------------

TEST(running_out_of_memory_is_told_and_leaks_nothing) {
  contact_case *q = contact_pile_case(3, 3, 3, 0.5, 1);
  for (int i = 0; i < METHODS; i++)
    for (int allowed = 0;; allowed++) {
      failing_allocator f = {.allowed = allowed};
      carom_allocator a = failing_allocator_of(&f);
      carom_contact_work *w = NULL;
      carom_contact_options o = carom_contact_default_options();
      carom_error error = {0};
      o.method = all_methods[i];
      carom_status status = carom_contact_work_create(&a, &w, &error);
      if (!status) status = carom_contact_solve(w, &q->problem, &o, &q->solution, NULL, &error);
      carom_contact_work_destroy(w);
      CHECK(f.live == 0);
      CHECK(status == CAROM_OK || (status == CAROM_ERR_MEMORY && strstr(error.message, "memory")));
      REQUIRE(allowed < 50);
      if (!status) break;
    }
  free(q);
}

TEST(a_second_solve_does_not_allocate) {
  for (int i = 0; i < 3; i++) {
    contact_case *large = contact_pile_case(5, 5, 5, 0.5, 1), *small = contact_pile_case(4, 4, 4, 0.5, 1);
    failing_allocator f = {.allowed = -1};
    carom_allocator a = failing_allocator_of(&f);
    carom_contact_work *w;
    carom_contact_options o = carom_contact_default_options();
    o.method = all_methods[i];
    REQUIRE(carom_contact_work_create(&a, &w, NULL) == CAROM_OK);
    REQUIRE(carom_contact_work_reserve(w, 125, large->problem.contact_count, 0, &o, NULL) == CAROM_OK);
    int calls = f.calls;
    CHECK(carom_contact_solve(w, &large->problem, &o, &large->solution, NULL, NULL) == CAROM_OK);
    CHECK(carom_contact_solve(w, &small->problem, &o, &small->solution, NULL, NULL) == CAROM_OK);
    CHECK(f.calls == calls);
    CHECK(carom_contact_work_bytes(w) > 0);
    carom_contact_work_destroy(w);
    free(large), free(small);
  }
}

TEST(absurd_sizes_are_refused) {
  carom_contact_work *w;
  carom_error error = {0};
  REQUIRE(carom_contact_work_create(NULL, &w, NULL) == CAROM_OK);
  CHECK(carom_contact_work_reserve(w, 1, 2000000000, 0, NULL, &error) == CAROM_ERR_LIMIT);
  CHECK_CONTAINS(error.message, "2000000000 contacts");
  CHECK(carom_contact_work_reserve(w, -1, 0, 0, NULL, &error) == CAROM_ERR_ARGUMENT);
  carom_contact_work_destroy(w);
}

// What one work was used for before does not change the next answer.
TEST(a_used_work_gives_the_same_bits) {
  contact_case *a = contact_pile_case(5, 5, 5, 0.5, 1), *b = contact_pile_case(5, 5, 5, 0.5, 1);
  contact_case *other = contact_random_case(3, 100, 200, true, 0.3);
  carom_contact_work *w;
  carom_contact_options o = carom_contact_default_options();
  REQUIRE(carom_contact_work_create(NULL, &w, NULL) == CAROM_OK);
  for (int i = 0; i < METHODS; i++) {
    o.method = all_methods[i], o.max_iterations = 20;
    REQUIRE(carom_contact_solve(w, &other->problem, &o, &other->solution, NULL, NULL) == CAROM_OK);
    REQUIRE(carom_contact_solve(w, &a->problem, &o, &a->solution, NULL, NULL) == CAROM_OK);
    try_solve(b, &o, NULL, NULL);
    CHECK(memcmp(a->impulses, b->impulses, sizeof a->impulses) == 0);
    CHECK(memcmp(a->velocities, b->velocities, sizeof a->velocities) == 0);
  }
  carom_contact_work_destroy(w);
  free(a), free(b), free(other);
}
