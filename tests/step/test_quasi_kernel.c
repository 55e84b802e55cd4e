// Steps without inertia, one by one: motions known in closed form, modes, friction cones, supports.
#include "fixtures.h"
#include "pushes.h"
#include "step/quasistatic/quasistatic.h"

static carom_quasi *kernel_of(const world *w) {
  carom_quasi *quasi = NULL;
  carom_error error = {0};
  if (carom_quasi_create(w->model, NULL, &quasi, &error) != CAROM_OK) {
    fprintf(stderr, "kernel: %s\n", error.message);
    exit(1);
  }
  return quasi;
}

static bool solve(carom_quasi *quasi, const world *w, double h) {
  carom_error error = {0};
  carom_quasi_outcome outcome;
  if (carom_quasi_gather(quasi, w->state, h, NULL, &error) != CAROM_OK ||
      carom_quasi_solve(quasi, &outcome, &error) != CAROM_OK) {
    fprintf(stderr, "kernel: %s\n", error.message);
    exit(1);
  }
  return outcome.solved;
}

// ---- one probe ------------------------------------------------------------------------------------------------------

// E = c diag(1, 1, l^2) and a force f n at r: v = f n/c, w = f (r x n)/(c l^2), so that with v_n of the probe
// w = v_n r_p/(l^2 + r_p^2) and v = v_n l^2/(l^2 + r_p^2) n.
TEST(a_frictionless_probe_turns_a_part_as_the_closed_form_says) {
  for (int scale = 0; scale < 3; scale++) {
    push_world p = push_world_default();
    p.unit = (double[]){1e-6, 1e-3, 1}[scale];
    p.mu = 0, p.probes = 1;
    p.x[0] = 0.5, p.y[0] = -0.4 - p.radius, p.v[0] = 0.05;
    world w = push_world_make(&p);
    carom_quasi *quasi = kernel_of(&w);
    CHECK(solve(quasi, &w, 0.02));
    double l2 = (p.a * p.a + p.b * p.b) / 12, r = 0.5, vn = 0.05;
    CHECK_NEAR(quasi->found.w[0].z, vn * r / (l2 + r * r), 1e-9);
    CHECK_NEAR(quasi->found.v[0].y / p.unit, vn * l2 / (l2 + r * r), 1e-9);
    CHECK_NEAR(quasi->found.v[0].x / p.unit, 0, 1e-9);
    carom_quasi_destroy(quasi);
    free_world(&w);
  }
}

// A probe that sticks: u = (I + r_t r_t'/l^2) f/c with r_t = z x r, which is solved for f.
TEST(a_probe_that_sticks_takes_the_point_along) {
  push_world p = push_world_default();
  p.mu = 1, p.probes = 1;
  p.x[0] = 0.3, p.y[0] = -0.4 - p.radius, p.u[0] = 0.01, p.v[0] = 0.05;
  world w = push_world_make(&p);
  carom_quasi *quasi = kernel_of(&w);
  CHECK(solve(quasi, &w, 0.02));
  double l2 = (p.a * p.a + p.b * p.b) / 12, t[2] = {0.4, 0.3};  // z x r of r = (0.3, -0.4)
  double A[2][2] = {{1 + t[0] * t[0] / l2, t[0] * t[1] / l2}, {t[0] * t[1] / l2, 1 + t[1] * t[1] / l2}};
  double det = A[0][0] * A[1][1] - A[0][1] * A[1][0];
  double f[2] = {(A[1][1] * 0.01 - A[0][1] * 0.05) / det, (A[0][0] * 0.05 - A[1][0] * 0.01) / det};
  REQUIRE(fabs(f[0]) < f[1]);  // within the cone
  CHECK_NEAR(quasi->found.v[0].x / p.unit, f[0], 1e-9);
  CHECK_NEAR(quasi->found.v[0].y / p.unit, f[1], 1e-9);
  CHECK_NEAR(quasi->found.w[0].z, (t[0] * f[0] + t[1] * f[1]) / l2, 1e-8);
  CHECK(quasi->items[0].mode == CAROM_MODE_STICK);
  carom_quasi_destroy(quasi);
  free_world(&w);
}

// ---- modes ----------------------------------------------------------------------------------------------------------

static void put_modes(const carom_quasi *quasi, carom_contact_mode *modes) {
  for (int i = 0; i < quasi->count; i++) modes[i] = quasi->items[i].mode;
}

static push_world random_push(carom_random *r) {
  push_world p = push_world_default();
  p.mu = carom_random_between(r, 0, 1) < 0.2 ? 0 : carom_random_between(r, 0.05, 0.9);
  p.probes = 1 + (int)carom_random_below(r, 2);
  for (int i = 0; i < p.probes; i++) {
    double side = i == 0 ? -1 : carom_random_between(r, -1, 1) < 0 ? -1 : 1;
    bool below = i == 0 || carom_random_between(r, -1, 1) < 0;
    double along = carom_random_between(r, -0.9, 0.9), gap = carom_random_between(r, 0, 1e-3);
    p.x[i] = below ? along * 0.8 : side * (0.8 + p.radius + gap);
    p.y[i] = below ? -(0.4 + p.radius + gap) : along * 0.4;
    p.u[i] = carom_random_between(r, -0.05, 0.05), p.v[i] = carom_random_between(r, 0, 0.05);
  }
  return p;
}

TEST(a_step_in_the_modes_that_were_found_is_the_same_step) {
  carom_random r = carom_random_make(7, 0);
  int solved = 0;
  for (int k = 0; k < 500; k++) {
    push_world p = random_push(&r);
    world w = push_world_make(&p);
    carom_quasi *quasi = kernel_of(&w);
    carom_contact_mode modes[32];
    carom_quasi_margin margin;
    carom_error error = {0};
    if (solve(quasi, &w, 0.02) && quasi->count > 0) {
      carom_vec3 v = quasi->found.v[0], spin = quasi->found.w[0];
      put_modes(quasi, modes);
      REQUIRE(carom_quasi_solve_in(quasi, modes, &margin, &error) == CAROM_OK);
      CHECK(margin.least > -1e-7);
      double size = p.unit * 0.05;
      CHECK_AT_MOST(cm_norm(cm_sub(v, quasi->found.v[0])), 1e-7 * size);
      CHECK_AT_MOST(cm_norm(cm_sub(spin, quasi->found.w[0])), 1e-7);
      solved++;
    }
    carom_quasi_destroy(quasi);
    free_world(&w);
  }
  CHECK(solved > 400);
}

TEST(modes_that_do_not_hold_are_told) {
  push_world p = push_world_default();
  p.mu = 0.5, p.probes = 1;
  p.x[0] = 0.3, p.y[0] = -0.4 - p.radius, p.v[0] = 0.05;
  world w = push_world_make(&p);
  carom_quasi *quasi = kernel_of(&w);
  carom_error error = {0};
  static const carom_contact_mode wrong[] = {CAROM_MODE_OPEN, CAROM_MODE_FORWARD, CAROM_MODE_BACKWARD};
  REQUIRE(solve(quasi, &w, 0.02) && quasi->count == 1);
  CHECK(quasi->items[0].mode == CAROM_MODE_STICK);
  for (int k = 0; k < 3; k++) {
    carom_quasi_margin margin;
    REQUIRE(carom_quasi_solve_in(quasi, &wrong[k], &margin, &error) == CAROM_OK);
    if (k != 2) CHECK(margin.least < 0 && margin.item == 0);
    if (k == 0) CHECK(margin.instead != CAROM_MODE_OPEN);
    if (k == 1) CHECK(margin.instead == CAROM_MODE_STICK || margin.instead == CAROM_MODE_OPEN);
  }
  carom_quasi_destroy(quasi);
  free_world(&w);
}

// Two corners of a face that stick make a singular system: how they share the friction does not matter, what moves
// does.
TEST(faces_that_stick_share_their_forces) {
  push_world p = push_world_default();
  p.mu = 0.5, p.probes = 1;
  p.x[0] = -0.8 - p.radius, p.y[0] = 0.05, p.u[0] = 0.05;
  carom_builder *b = push_builder(&p);
  for (int k = 0; k < 2; k++)
    put_damping(b, put_part(b, &p, cm_pose(cm_vec3(1.6 * k * p.unit, 0, 0), cm_qidentity())), p.c);
  put_probes(b, &p);
  world w = finish_world(b);
  carom_quasi *quasi = kernel_of(&w);
  carom_contact_mode modes[32];
  carom_quasi_margin margin;
  carom_error error = {0};
  REQUIRE(solve(quasi, &w, 0.02));
  REQUIRE(quasi->count == 3);
  put_modes(quasi, modes);
  carom_vec3 v[2] = {quasi->found.v[0], quasi->found.v[1]};
  int sticking = 0;
  for (int i = 0; i < quasi->count; i++)
    if (quasi->items[i].contact.body_b != 2) sticking += modes[i] == CAROM_MODE_STICK;
  CHECK(sticking == 2);
  REQUIRE(carom_quasi_solve_in(quasi, modes, &margin, &error) == CAROM_OK);
  CHECK(margin.least > 1e-3);
  for (int k = 0; k < 2; k++) CHECK_AT_MOST(cm_norm(cm_sub(v[k], quasi->found.v[k])), 1e-8 * 0.05 * p.unit);
  carom_quasi_destroy(quasi);
  free_world(&w);
}

// ---- cones ----------------------------------------------------------------------------------------------------------

// Two probes on opposite sides, d apart from the middle line each: not pointed where d/L <= mu (Gavrea 2008,
// figure 2.8b).
TEST(the_cone_of_two_probes_is_pointed_beyond_mu) {
  static const double ratios[] = {0, 0.1, 0.29, 0.31, 0.6};
  for (int k = 0; k < 5; k++) {
    push_world p = push_world_default();
    p.probes = 2, p.mu = 0.3;
    for (int i = 0; i < 2; i++)
      p.x[i] = (i ? 1 : -1) * ratios[k] * 0.4, p.y[i] = (i ? 1 : -1) * (0.4 + p.radius), p.v[i] = i ? -0.05 : 0.05;
    world w = push_world_make(&p);
    carom_quasi *quasi = kernel_of(&w);
    carom_friction_cone cone;
    carom_friction_cone_answer answer = {0};
    carom_error error = {0};
    int members[16];
    REQUIRE(carom_quasi_gather(quasi, w.state, 0.02, NULL, &error) == CAROM_OK);
    REQUIRE(quasi->count == 2 && carom_quasi_cone(quasi, 1e-9, &cone, members, &error) == CAROM_OK);
    CHECK(cone.rows == 3 && cone.contacts == 2 && cone.directions == 2);
    REQUIRE(carom_friction_cone_pointed(&cone, NULL, &answer, &error) == CAROM_OK);
    CHECK(answer.pointed == (ratios[k] > 0.3));
    CHECK(carom_quasi_cone(quasi, -1, &cone, members, &error) == CAROM_OK && cone.contacts == 0);
    carom_quasi_destroy(quasi);
    free_world(&w);
  }
}
