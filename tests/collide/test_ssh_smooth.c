// Curved bodies in the separation oracle: closed forms, and support functions against them.
#include "carom/collide.h"
#include "fixtures.h"

static carom_placed put(const carom_shape *shape, carom_vec3 p, carom_quat q) { return (carom_placed){shape, {p, q}}; }

TEST(spheres_have_a_closed_form) {
  const carom_shape *large = NULL, *small = NULL;
  REQUIRE(carom_shape_create_sphere(0.7, NULL, &large, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_sphere(0.2, NULL, &small, NULL) == CAROM_OK);
  carom_random r = carom_random_make(1, 0);
  for (int i = 0; i < 1000; i++) {
    carom_placed a = put(large, random_vector(&r, 2), random_rotation(&r)),
                 b = put(small, random_vector(&r, 2), random_rotation(&r));
    carom_ssh_result s;
    REQUIRE(carom_ssh(&a, &b, NULL, NULL, &s) == CAROM_OK);
    CHECK_NEAR(s.gap, cm_norm(cm_sub(a.pose.p, b.pose.p)) - 0.9, 1e-14);
    CHECK_AT_MOST(cm_norm(cm_sub(s.normal, cm_unit(cm_sub(a.pose.p, b.pose.p)))), 1e-14);
    CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(s.point_a, s.point_b), cm_scale(s.gap, s.beta))), 1e-14);
    carom_ssh_options slanted = carom_ssh_default_options();
    slanted.given_beta = true;
    slanted.beta = cm_add(s.beta, random_vector(&r, 0.3));
    REQUIRE(carom_ssh(&a, &b, &slanted, NULL, &s) == CAROM_OK);
    CHECK_NEAR(cm_dot(s.alpha, s.beta), 1, 1e-14 * (1 + cm_norm2(s.alpha)));
    CHECK_NEAR(cm_norm(cm_sub(s.point_a, a.pose.p)), 0.7, 1e-13);
    CHECK_NEAR(s.a1 - s.a2, s.gap, 1e-12 * (1 + fabs(s.gap)) * cm_norm(s.alpha));
  }
  carom_shape_release(large);
  carom_shape_release(small);
}

// A sphere beside a box face, edge and corner; a capsule along a face: the line between the centres decides the plane,
// and the Euclidean distance is what the plane separation cannot exceed.
TEST(a_ball_against_a_box) {
  const carom_shape *box = NULL, *ball = NULL;
  REQUIRE(carom_shape_create_box(cm_vec3(2, 2, 2), NULL, &box, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_sphere(0.5, NULL, &ball, NULL) == CAROM_OK);
  carom_placed b = put(box, cm_zero3(), cm_qidentity()), face = put(ball, cm_vec3(0, 0, 2), cm_qidentity());
  carom_placed corner = put(ball, cm_vec3(2, 2, 2), cm_qidentity());
  carom_ssh_result s;
  REQUIRE(carom_ssh(&face, &b, NULL, NULL, &s) == CAROM_OK);
  CHECK_NEAR(s.gap, 0.5, 1e-14);
  REQUIRE(carom_ssh(&corner, &b, NULL, NULL, &s) == CAROM_OK);
  CHECK_NEAR(s.gap, sqrt(3) - 0.5, 1e-13);
  CHECK_AT_MOST(s.duality_gap, 1e-12);
  carom_shape_release(box);
  carom_shape_release(ball);
}

TEST(half_spaces_need_one_query) {
  const carom_shape *ground = NULL, *box = NULL;
  REQUIRE(carom_shape_create_halfspace(NULL, &ground, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_box(cm_vec3(1, 1, 1), NULL, &box, NULL) == CAROM_OK);
  carom_random r = carom_random_make(2, 0);
  for (int i = 0; i < 300; i++) {
    carom_placed a = put(box, random_vector(&r, 3), random_rotation(&r)),
                 g = put(ground, random_vector(&r, 1), random_rotation(&r));
    carom_vec3 up = cm_rotate(g.pose.q, cm_vec3(0, 0, 1));
    double height = INFINITY;
    for (int k = 0; k < 8; k++) {
      carom_vec3 x = cm_transform(a.pose, carom_shape_polytope(box)->vertices[k]);
      height = fmin(height, cm_dot(up, cm_sub(x, g.pose.p)));
    }
    carom_ssh_result s, t;
    REQUIRE(carom_ssh(&a, &g, NULL, NULL, &s) == CAROM_OK);
    REQUIRE(carom_ssh(&g, &a, NULL, NULL, &t) == CAROM_OK);
    CHECK_NEAR(s.gap * cm_dot(s.beta, s.normal), height, 1e-13);
    CHECK_NEAR(t.gap * cm_dot(t.beta, t.normal), height, 1e-13);
    CHECK_AT_MOST(cm_norm(cm_add(s.normal, t.normal)), 1e-15);
  }
  carom_placed g = put(ground, cm_zero3(), cm_qidentity());
  carom_ssh_result s;
  CHECK(carom_ssh(&g, &g, NULL, NULL, &s) == CAROM_ERR_GEOMETRY);
  carom_shape_release(ground);
  carom_shape_release(box);
}

// A vertex of a rounded body answers with many points; taking them for one column ended the descent early, with a
// duality gap of 1e-2.
TEST(rounded_bodies_are_solved_to_the_end) {
  const carom_shape *box = NULL, *rounded = NULL;
  REQUIRE(carom_shape_create_box(cm_vec3(1, 1.2, 1.4), NULL, &box, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_rounded(box, 0.1, NULL, &rounded, NULL) == CAROM_OK);
  carom_random r = carom_random_make(4, 0);
  carom_ssh_cache cache = {0};
  for (int i = 0; i < 500; i++) {
    carom_placed a = put(rounded, random_vector(&r, 2), random_rotation(&r));
    carom_placed b = put(rounded, random_vector(&r, 2), random_rotation(&r));
    carom_ssh_result cold, warm;
    REQUIRE(carom_ssh(&a, &b, NULL, NULL, &cold) == CAROM_OK);
    REQUIRE(carom_ssh(&a, &b, NULL, &cache, &warm) == CAROM_OK);
    CHECK(cold.outcome == CAROM_SSH_SOLVED);
    CHECK_AT_MOST(cold.duality_gap, 1e-12);
    CHECK_NEAR(warm.gap, cold.gap, 1e-11);
  }
  carom_shape_release(rounded);
  carom_shape_release(box);
}
