// Derivatives of the gap against differences of the gap itself: central ones where it is smooth, one-sided ones at
// ties.
#include "test_gap_pair.h"

static pair random_pair(carom_random *r, bool moves) {
  pair p = {.moves = moves};
  p.a = (carom_placed){random_polytope(r, 10), random_pose(r, 2)};
  p.b = (carom_placed){random_polytope(r, 10), random_pose(r, 1)};
  carom_vec3 beta = random_direction(r);
  if (!moves) {
    carom_ssh_result c = solved(&p.a, &p.b, NULL);
    beta = cm_axpy(c.beta, 0.2, beta);
  }
  p.o = along(beta.x, beta.y, beta.z);
  return p;
}

// ---- gradient ------------------------------------------------------------------------------------------------------

static void check_gradients(bool moves) {
  carom_random random = carom_random_make(40, moves);
  int checked = 0;
  for (int i = 0; i < 150; i++) {
    pair p = random_pair(&random, moves);
    carom_gap_gradient g = gradient_of(&p);
    double list[12];
    as_list(&g, list);
    for (int k = 0; k < 12; k++) {
      carom_vec3 ta[2], tb[2];
      unit_twists(k, ta, tb);
      if (!is_smooth(&p, ta, tb, 2e-3)) continue;
      checked++;
      CHECK_NEAR(list[k], central(&p, ta, tb, 1e-3), 1e-8);
      CHECK_NEAR(derivative_of(&p, ta, tb), list[k], 1e-10);
    }
    release_pair(&p);
  }
  CHECK(checked > 1000);
}

TEST(gradient_when_beta_moves) { check_gradients(true); }
TEST(gradient_when_beta_stays) { check_gradients(false); }

// Translating or turning everything changes nothing, so the twelve numbers satisfy six equations.
TEST(gradient_knows_rigid_motions) {
  carom_random random = carom_random_make(41, 0);
  for (int i = 0; i < 200; i++) {
    pair p = random_pair(&random, true);
    carom_gap_gradient g = gradient_of(&p);
    carom_vec3 force = cm_add(g.a.linear, g.b.linear);
    carom_vec3 torque = cm_add(cm_add(g.a.angular, g.b.angular),
                               cm_add(cm_cross(p.a.pose.p, g.a.linear), cm_cross(p.b.pose.p, g.b.linear)));
    double size = 1 + cm_norm(g.a.linear);
    CHECK_NEAR(cm_norm(force), 0, 1e-13 * size);
    CHECK_NEAR(cm_norm(torque), 0, 1e-12 * size);
    release_pair(&p);
  }
}

// In redundant coordinates: a twist moves the directors by w x d.
TEST(gradient_in_redundant_coordinates) {
  carom_random random = carom_random_make(42, 0);
  for (int i = 0; i < 200; i++) {
    pair p = random_pair(&random, i % 2);
    carom_gap_gradient g = gradient_of(&p);
    const carom_gap_gradient_body *bodies[2] = {&g.a, &g.b};
    const carom_placed *placed[2] = {&p.a, &p.b};
    for (int k = 0; k < 2; k++) {
      carom_mat3 R = cm_rotation(placed[k]->pose.q);
      carom_vec3 torque = cm_zero3();
      for (int c = 0; c < 3; c++)
        torque = cm_add(torque, cm_cross(cm_vec3(R.m[0][c], R.m[1][c], R.m[2][c]), bodies[k]->director[c]));
      CHECK_NEAR(cm_norm(cm_sub(torque, bodies[k]->angular)), 0, 1e-12 * (1 + cm_norm(torque)));
      CHECK_NEAR(cm_norm(cm_sub(bodies[k]->position, bodies[k]->linear)), 0, 0);
    }
    release_pair(&p);
  }
}

// Directors that stretch: a deformed body is a hull of moved vertices, which the oracle can be asked about.
TEST(gradient_in_directors_that_stretch) {
  carom_random random = carom_random_make(43, 0);
  int checked = 0;
  for (int i = 0; i < 60; i++) {
    pair p = random_pair(&random, false);
    carom_gap_gradient g = gradient_of(&p);
    carom_ssh_result here = query(&p);
    carom_mat3 F = {{{0}}};
    for (int j = 0; j < 9; j++) F.m[j / 3][j % 3] = carom_random_between(&random, -1, 1);
    double expected = 0, gap[2], h = 1e-6;  // d_k moves by column k of F
    for (int c = 0; c < 3; c++) expected += cm_dot(g.a.director[c], cm_vec3(F.m[0][c], F.m[1][c], F.m[2][c]));
    bool smooth = true;
    for (int side = 0; side < 2; side++) {
      const carom_polytope *poly = carom_shape_polytope(p.a.shape);
      carom_vec3 points[16];
      for (int v = 0; v < poly->vertex_count; v++)
        points[v] = cm_axpy(world_vertex(&p.a, v), side ? h : -h, cm_mulv(F, poly->vertices[v]));
      pair q = p;
      q.a = (carom_placed){hull_of(points, poly->vertex_count), cm_pose_identity()};
      carom_ssh_result r = query(&q);
      gap[side] = r.gap;
      smooth = smooth && same_basis(&r, &here) && r.outcome == CAROM_SSH_SOLVED && cm_norm(r.alpha) < 5;
      carom_shape_release(q.a.shape);
    }
    if (smooth) CHECK_NEAR((gap[1] - gap[0]) / (2 * h), expected, 1e-6);
    checked += smooth;
    release_pair(&p);
  }
  CHECK(checked > 30);
}

TEST(gradient_in_the_columns) {
  carom_random random = carom_random_make(44, 0);
  for (int i = 0; i < 100; i++) {
    pair p = random_pair(&random, false);
    carom_ssh_result r = query(&p);
    carom_gap_gradient g = gradient_of(&p);
    carom_vec3 sum = cm_zero3();
    for (int k = 0; k < 3; k++) {
      sum = cm_add(sum, g.column_a[k]);
      CHECK_NEAR(cm_norm(cm_add(g.column_a[k], g.column_b[k])), 0, 0);
      if (k < r.column_count) CHECK_NEAR(cm_norm(cm_sub(g.column_a[k], cm_scale(r.weight[k], r.alpha))), 0, 1e-15);
    }
    CHECK_NEAR(cm_norm(cm_sub(sum, r.alpha)), 0, 1e-13 * cm_norm(r.alpha));
    release_pair(&p);
  }
}

// ---- one-sided derivatives -----------------------------------------------------------------------------------------

static pair grid_pair(carom_random *random, bool moves, bool turned) {
  pair p = {.moves = moves};
  const carom_shape *a = grid_polytope(random), *b = grid_polytope(random);
  double x = (int)carom_random_below(random, 3) - 1, y = (int)carom_random_below(random, 3) - 1;
  p.a = placed_plain(a, x, y, 1 + (int)carom_random_below(random, 3));
  p.b = placed_plain(b, 0, 0, 0);
  carom_vec3 beta = cm_vec3((int)carom_random_below(random, 2), 0, 1);
  if (turned) {
    carom_pose by = random_pose(random, 1);
    carry(&p.a, &p.b, by);
    beta = cm_rotate(by.q, beta);
  }
  p.o = along(beta.x, beta.y, beta.z);
  return p;
}

// All differences seen along beta: is the origin safely inside their hull? Otherwise the gap is not even continuous.
static bool well_inside(const pair *p, carom_vec3 beta) {
  carom_vec3 e1, e2;
  cm_frame(beta, &e1, &e2);
  for (int k = 0; k < 64; k++) {
    double angle = 6.283185307179586 * k / 64, high = -1e300, low = 1e300;
    carom_vec3 d = cm_add(cm_scale(cos(angle), e1), cm_scale(sin(angle), e2));
    for (int i = 0; i < carom_shape_polytope(p->a.shape)->vertex_count; i++)
      high = fmax(high, cm_dot(d, world_vertex(&p->a, i)));
    for (int i = 0; i < carom_shape_polytope(p->b.shape)->vertex_count; i++)
      low = fmin(low, cm_dot(d, world_vertex(&p->b, i)));
    if (high - low < 0.25) return false;
  }
  return true;
}

static void check_grid(bool moves) {
  carom_random random = carom_random_make(50, moves);
  int seen[4] = {0};
  for (int i = 0; i < 1500; i++) {
    pair p = grid_pair(&random, moves, i % 2);
    carom_ssh_result r = query(&p);
    if (r.outcome == CAROM_SSH_SOLVED && cm_norm(r.alpha) < 10 && well_inside(&p, r.beta)) {
      carom_ssh_optimum o;
      CHECK(carom_ssh_resolve(&p.a, &p.b, &r, 0, &o) == CAROM_OK);
      seen[(o.primal_degenerate ? 1 : 0) + (o.dual_degenerate ? 2 : 0)]++;
      check_one_sided(&p, &random, 4, 1e-7);
      if (test_failures) printf("case %d\n", i);
    }
    release_pair(&p);
    if (test_failures) return;
  }
  for (int k = 0; k < 4; k++) CHECK(seen[k] > 20);
}

TEST(one_sided_at_grid_ties_when_beta_moves) { check_grid(true); }
TEST(one_sided_at_grid_ties_when_beta_stays) { check_grid(false); }

// The gradient at a tie is an element of the subdifferential: for a cube face to face, where the gap is a minimum of
// smooth pieces, one_sided <= gradient . direction.
TEST(gradient_at_a_face_lies_in_the_subdifferential) {
  const carom_shape *cube = box_of(1, 1, 1);
  pair p = {.a = placed_plain(cube, 0.1, 0.2, 1.1), .b = placed_plain(cube, 0, 0, 0), .o = along(0, 0, 1)};
  carom_random random = carom_random_make(51, 0);
  carom_gap_gradient g = gradient_of(&p);
  for (int i = 0; i < 200; i++) {
    carom_vec3 ta[2], tb[2];
    random_twists(&random, ta, tb);
    double d = derivative_of(&p, ta, tb);
    CHECK_AT_MOST(d - along_twists(&g, ta, tb), 1e-12);
    CHECK_NEAR(d, one_sided(&p, ta, tb, 1e-5), 1e-6);
  }
  carom_vec3 tilt[2] = {{0, 0, 0}, {0, 1, 0}}, rest[2] = {{0, 0, 0}, {0, 0, 0}};
  p.a.pose.p = cm_vec3(0, 0, 1.1);  // turning about an axis through the centre lowers one edge: at half the side
  CHECK_NEAR(derivative_of(&p, tilt, rest), -0.5, 1e-12);
  CHECK_NEAR(derivative_of(&p, rest, tilt), -0.5, 1e-12);
  carom_shape_release(cube);
}

TEST(one_sided_for_half_spaces) {
  const carom_shape *cube = box_of(1, 2, 1), *plane = NULL;
  CHECK(carom_shape_create_halfspace(NULL, &plane, NULL) == CAROM_OK);
  carom_random random = carom_random_make(52, 0);
  for (int i = 0; i < 40; i++) {
    pair p = {.a = placed_plain(cube, 0.3, 0.2, 0.6), .b = placed_plain(plane, 0.1, 0, 0), .moves = i % 2};
    p.o = along(0.2, 0.1, 1);
    carom_pose by = random_pose(&random, 1);
    carry(&p.a, &p.b, by);
    p.o.beta = cm_rotate(by.q, p.o.beta);
    if (i % 4 > 1) {
      carom_placed swap = p.a;
      p.a = p.b, p.b = swap;
      p.o.beta = cm_neg(p.o.beta);
    }
    check_one_sided(&p, &random, 5, 1e-6);
  }
  // Beta along the plane is reset to the normal, which follows the plane.
  pair p = {.a = placed_plain(cube, 0.3, 0.2, 0.6), .b = placed_plain(plane, 0.1, 0, 0), .o = along(1, 0, -0.1)};
  CHECK(query(&p).outcome == CAROM_SSH_RESET);
  check_one_sided(&p, &random, 20, 1e-6);
  carom_shape_release(cube), carom_shape_release(plane);
}

TEST(one_sided_for_curved_shapes) {
  const carom_shape *shapes[7] = {NULL}, *cube = box_of(2, 2, 2);
  CHECK(carom_shape_create_sphere(0.5, NULL, &shapes[0], NULL) == CAROM_OK);
  CHECK(carom_shape_create_capsule(0.4, 1, NULL, &shapes[1], NULL) == CAROM_OK);
  CHECK(carom_shape_create_ellipsoid(cm_vec3(0.5, 0.7, 0.9), NULL, &shapes[2], NULL) == CAROM_OK);
  CHECK(carom_shape_create_cylinder(0.5, 1, NULL, &shapes[3], NULL) == CAROM_OK);
  CHECK(carom_shape_create_cone(0.5, 1, NULL, &shapes[4], NULL) == CAROM_OK);
  CHECK(carom_shape_create_rounded(cube, 0.1, NULL, &shapes[5], NULL) == CAROM_OK);
  shapes[6] = cube;
  carom_random random = carom_random_make(53, 0);
  for (int i = 0; i < 120; i++) {
    pair p = {.moves = i % 2};
    p.a = (carom_placed){shapes[i % 5], random_pose(&random, 0.3)};
    p.b = (carom_placed){shapes[i / 5 % 5], random_pose(&random, 0.3)};
    p.a.pose.p.z += 2.2;
    p.o = along(0.1, 0, 1);
    if (query(&p).outcome == CAROM_SSH_SOLVED && cm_norm(query(&p).alpha) < 3) check_one_sided(&p, &random, 3, 3e-6);
  }
  // Lying on a face: which end sinks depends on the motion.
  pair p = {.b = placed_plain(cube, 0, 0, 0), .o = along(0, 0, 1)};
  p.a = placed_at(shapes[1], cm_vec3(0.1, 0, 1.4), cm_axis_angle(cm_vec3(0, 1, 0), 1.5707963267948966));
  carom_vec3 tilt[2] = {{0, 0, 0}, {0, 1, 0}}, rest[2] = {{0, 0, 0}, {0, 0, 0}};
  CHECK_NEAR(derivative_of(&p, tilt, rest), -0.5, 1e-6);
  p.a = placed_plain(shapes[3], 0.1, 0, 1.5);  // a drum on its cap: its rim, to the polygon that stands for it
  CHECK_NEAR(derivative_of(&p, tilt, rest), -0.5, 0.002);
  for (int i = 0; i < 7; i++) carom_shape_release(shapes[i]);
}

// ---- Hessian -------------------------------------------------------------------------------------------------------

TEST(hessian_when_beta_moves) { check_hessians(random_pair, 60, true); }
TEST(hessian_when_beta_stays) { check_hessians(random_pair, 60, false); }

// Every kind against every other: corners, edges and faces, fattened ones, rims and apexes, eggs, and half-spaces.
TEST(hessian_of_curved_shapes) {
  const carom_shape *s[8] = {NULL};
  s[0] = box_of(1, 1.2, 1.4);
  CHECK(carom_shape_create_sphere(0.5, NULL, &s[1], NULL) == CAROM_OK);
  CHECK(carom_shape_create_capsule(0.4, 1, NULL, &s[2], NULL) == CAROM_OK);
  CHECK(carom_shape_create_rounded(s[0], 0.1, NULL, &s[3], NULL) == CAROM_OK);
  CHECK(carom_shape_create_ellipsoid(cm_vec3(0.5, 0.7, 0.9), NULL, &s[4], NULL) == CAROM_OK);
  CHECK(carom_shape_create_cylinder(0.5, 1, NULL, &s[5], NULL) == CAROM_OK);
  CHECK(carom_shape_create_cone(0.5, 1, NULL, &s[6], NULL) == CAROM_OK);
  CHECK(carom_shape_create_halfspace(NULL, &s[7], NULL) == CAROM_OK);
  carom_random random = carom_random_make(61, 0);
  int checked[8][8] = {{0}};
  double worst = 0;
  for (int i = 0; i < 7 * 8 * 4; i++) {
    int ka = i % 7, kb = i / 7 % 8;
    pair p = {.moves = i % 2, .a = {s[ka], random_pose(&random, 0.3)}, .b = {s[kb], random_pose(&random, 0.3)}};
    if (kb == 7) p.b.pose.q = cm_axis_angle(random_vec(&random), 0.3);
    p.a.pose.p.z += 2.2;
    p.o = along(0.1, 0.05, 1);
    double H[144];
    carom_ssh_result r = query(&p);
    if (r.outcome != CAROM_SSH_SOLVED || cm_norm(r.alpha) > 2) continue;
    if (carom_ssh_hessian(&p.a, &p.b, &r, p.moves, H) == CAROM_OK)
      checked[ka][kb] += check_squares(&p, H, &random, &worst);
  }
  for (int ka = 0; ka < 7; ka++)
    for (int kb = 0; kb < 8; kb++)
      if (ka == 4 || kb == 4 || (ka > 0 && kb > 0)) CHECK(checked[ka][kb] > 0);
  printf("worst error %.1e\n", worst);
  for (int i = 0; i < 8; i++) carom_shape_release(s[i]);
}

// Where corners meet corners the gap has a kink, and no second derivative.
TEST(hessian_refuses_kinks) {
  const carom_vec3 tip[4] = {{0, 0, 0}, {1, 0, -1}, {-0.5, 0.8, -1}, {-0.5, -0.8, -1}};
  const carom_shape *b = hull_of(tip, 4), *round = NULL;
  CHECK(carom_shape_create_cylinder(0.5, 1, NULL, &round, NULL) == CAROM_OK);
  carom_placed B = placed_plain(b, 0, 0, 0);
  carom_placed A = placed_at(b, cm_vec3(0, 0, 0.1), cm_axis_angle(cm_vec3(1, 0, 0), 3.1415926535897931));
  carom_ssh_options up = along(0, 0, 1);
  carom_ssh_result r = solved(&A, &B, &up), nothing = {0};
  double H[144];
  CHECK(carom_ssh_hessian(&A, &B, &r, false, H) == CAROM_ERR_SINGULAR);
  CHECK(carom_ssh_hessian(&A, &B, &nothing, false, H) == CAROM_ERR_NUMBER);
  carom_gap_gradient g;
  CHECK(carom_ssh_gradient(&A, &B, &nothing, false, &g) == CAROM_ERR_NUMBER);
  carom_placed drum = placed_plain(round, 0.1, 0, 0.6);  // its flat end on a corner: a face, which turns with it
  r = solved(&drum, &B, &up);
  CHECK(carom_ssh_hessian(&drum, &B, &r, false, H) == CAROM_ERR_SINGULAR);
  carom_shape_release(b), carom_shape_release(round);
}
