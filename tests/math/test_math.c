// Values and maps of carom/vec.h: identities on random input, series in long double, finite differences.
#include <float.h>

#include "fixtures.h"
#include "math/sum.h"

enum { TRIALS = 2000 };

static double entry_distance(carom_mat3 A, carom_mat3 B) {
  double worst = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double d = fabs(A.m[i][j] - B.m[i][j]);
      worst = d <= worst ? worst : d;  // a NaN gets through
    }
  return worst;
}

static double distance(carom_vec3 a, carom_vec3 b) { return cm_norm(cm_sub(a, b)); }

static double quat_distance(carom_quat a, carom_quat b) {
  carom_quat d = {a.w - b.w, a.x - b.x, a.y - b.y, a.z - b.z};
  return sqrt(cm_qdot(d, d));
}

static carom_mat3 random_matrix(carom_random *r) {
  carom_mat3 A;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A.m[i][j] = carom_random_normal(r);
  return A;
}

static carom_vec3 random_direction(carom_random *r) {
  double x = carom_random_normal(r), y = carom_random_normal(r);
  return cm_unit(cm_vec3(x, y, carom_random_normal(r)));
}

// ---- vectors and matrices ------------------------------------------------------------------------------------

TEST(vector_identities) {
  carom_random r = carom_random_make(1, 0);
  for (int i = 0; i < TRIALS; i++) {
    carom_vec3 a = random_vector(&r, 2), b = random_vector(&r, 2), c = random_vector(&r, 2);
    CHECK_NEAR(cm_dot(a, cm_cross(a, b)), 0, 1e-14);
    CHECK_AT_MOST(distance(cm_cross(a, cm_cross(b, c)), cm_sub(cm_scale(cm_dot(a, c), b), cm_scale(cm_dot(a, b), c))),
                  2e-14);
    CHECK_AT_MOST(distance(cm_mulv(cm_hat(a), b), cm_cross(a, b)), 0);
    CHECK_AT_MOST(distance(cm_mulv(cm_outer(a, b), c), cm_scale(cm_dot(b, c), a)), 2e-14);
    CHECK_AT_MOST(distance(cm_axial(cm_hat(a)), cm_scale(2, a)), 0);
    CHECK_AT_MOST(distance(cm_axial(cm_outer(b, a)), cm_cross(a, b)), 0);  // sum of a x f over A = sum of f a'
    CHECK_NEAR(cm_norm(cm_unit(a)), 1, 4e-16);
    CHECK_AT_MOST(distance(cm_lerp(a, b, 0.5), cm_scale(0.5, cm_add(a, b))), 1e-15);
    CHECK_AT_MOST(distance(cm_axpy(a, -2, b), cm_sub(a, cm_add(b, b))), 1e-15);
  }
  CHECK(cm_norm(cm_unit(cm_zero3())) == 0);
  CHECK(!cm_finite(cm_vec3(0, NAN, 0)) && !cm_finite(cm_vec3(0, 0, -INFINITY)) && cm_finite(cm_vec3(1, 2, 3)));
}

TEST(matrix_identities) {
  carom_random r = carom_random_make(2, 0);
  for (int i = 0; i < TRIALS; i++) {
    carom_mat3 A = random_matrix(&r), B = random_matrix(&r);
    carom_vec3 x = random_vector(&r, 1);
    CHECK_AT_MOST(distance(cm_mulv(cm_mmul(A, B), x), cm_mulv(A, cm_mulv(B, x))), 1e-13);
    CHECK_AT_MOST(distance(cm_tmulv(A, x), cm_mulv(cm_transpose(A), x)), 0);
    CHECK_NEAR(cm_det(cm_mmul(A, B)), cm_det(A) * cm_det(B), 1e-12);
    CHECK_NEAR(cm_trace(cm_mmul(A, B)), cm_trace(cm_mmul(B, A)), 1e-13);
    carom_mat3 twice = cm_msub(cm_madd(A, cm_mscale(2, B)), cm_madd(B, B));
    CHECK_AT_MOST(entry_distance(twice, A), 4e-15);
  }
  CHECK(cm_det(cm_diag3(2, 3, 4)) == 24);
}

TEST(frames_are_right_handed_in_every_direction) {
  carom_random r = carom_random_make(3, 0);
  for (int i = 0; i < TRIALS + 8; i++) {
    carom_vec3 n = random_direction(&r), u, v;
    if (i < 6) {
      double axis[3] = {0, 0, 0};
      axis[i % 3] = i < 3 ? 1 : -1;
      n = cm_vec3(axis[0], axis[1], axis[2]);
    }
    if (i == 6) n = cm_unit(cm_vec3(1e-9, -1e-9, -1));  // where the older formula of Frisvad loses all digits
    if (i == 7) n = cm_vec3(1, 0, -0.0);
    cm_frame(n, &u, &v);
    CHECK_AT_MOST(distance(cm_cross(u, v), n), 1e-15);
    CHECK_NEAR(cm_norm(u), 1, 1e-15);
    CHECK_NEAR(cm_norm(v), 1, 1e-15);
    CHECK_NEAR(cm_dot(u, v), 0, 1e-15);
    CHECK_NEAR(cm_dot(u, n), 0, 1e-15);
  }
}

// The error of elimination is bounded by the condition number |A| |A^-1|; random matrices have moderate ones.
TEST(solve3_and_inverse3_invert) {
  carom_random r = carom_random_make(4, 0);
  for (int i = 0; i < TRIALS; i++) {
    carom_mat3 A = random_matrix(&r), inverse;
    if (i % 2) A.m[0][0] = 0;  // needs a pivot
    double scale = pow(10, carom_random_between(&r, -100, 100));
    A = cm_mscale(scale, A);
    carom_vec3 x = random_vector(&r, 1), got;
    REQUIRE(cm_inverse3(A, &inverse));
    double size = 0, inverse_size = 0;
    for (int k = 0; k < 9; k++)
      size = fmax(size, fabs(A.m[k / 3][k % 3])), inverse_size = fmax(inverse_size, fabs(inverse.m[k / 3][k % 3]));
    double condition = size * inverse_size;
    REQUIRE(cm_solve3(A, cm_mulv(A, x), &got));
    CHECK_AT_MOST(distance(got, x), 30 * DBL_EPSILON * condition);
    CHECK_AT_MOST(entry_distance(cm_mmul(A, inverse), cm_identity3()), 30 * DBL_EPSILON * condition);
  }
}

static carom_vec3 random_integers(carom_random *r) {
  double x = (int)carom_random_below(r, 19) - 9, y = (int)carom_random_below(r, 19) - 9;
  return cm_vec3(x, y, (int)carom_random_below(r, 19) - 9);
}

TEST(singular_matrices_are_refused) {
  carom_random r = carom_random_make(5, 0);
  carom_mat3 untouched = cm_diag3(7, 7, 7), inverse = untouched;
  carom_vec3 x = cm_vec3(1, 2, 3);
  int slipped = 0;
  for (int i = 0; i < 10 * TRIALS; i++) {
    carom_vec3 a = random_integers(&r), b = random_integers(&r), c = random_integers(&r), d = random_integers(&r);
    carom_mat3 A = cm_madd(cm_outer(a, b), cm_outer(c, d));  // rank two, without rounding
    carom_mat3 own;
    carom_vec3 own_x;
    slipped += cm_inverse3(A, &own) || cm_solve3(A, a, &own_x);
  }
  // The last pivot is judged, not the condition number, and row pivoting alone does not bound it when the one before is
  // small: about one in a thousand slips through with a condition number of 1e16.
  CHECK(slipped <= 10 * TRIALS / 400);
  CHECK(!cm_inverse3(cm_diag3(0, 0, 0), &inverse));
  CHECK(!cm_inverse3(cm_diag3(1, 0, 1), &inverse));
  CHECK(entry_distance(inverse, untouched) == 0 && x.x == 1 && x.y == 2 && x.z == 3);
  for (int k = 0; k < 9; k++) {
    carom_mat3 A = random_matrix(&r);
    A.m[k / 3][k % 3] = NAN;
    CHECK(!cm_inverse3(A, &inverse));
  }
}

// ---- eigenvalues -----------------------------------------------------------------------------------------------

static void check_eigen(carom_mat3 A, double tolerance) {
  carom_vec3 d;
  carom_mat3 V;
  cm_eigen3(A, &d, &V);
  CHECK(d.x <= d.y && d.y <= d.z);
  CHECK_AT_MOST(entry_distance(cm_mmul(cm_transpose(V), V), cm_identity3()), 4e-15);
  CHECK_NEAR(cm_det(V), 1, 1e-14);
  CHECK_AT_MOST(entry_distance(cm_mmul(A, V), cm_mmul(V, cm_diag3(d.x, d.y, d.z))), tolerance);
}

TEST(eigen3_takes_any_symmetric_matrix) {
  carom_random r = carom_random_make(6, 0);
  for (int i = 0; i < TRIALS; i++) {
    carom_mat3 R = cm_rotation(random_rotation(&r));
    carom_vec3 d = random_vector(&r, 1);
    if (i % 5 == 1) d.y = d.x;                         // two alike
    if (i % 5 == 2) d.y = d.x, d.z = d.x;              // all alike
    if (i % 5 == 3) d.y = d.x * (1 + 1e-14);           // nearly
    if (i % 5 == 4) d.x = 1e-12, d.y = 1e-6, d.z = 1;  // far apart
    carom_mat3 A = cm_mmul(R, cm_mmul(cm_diag3(d.x, d.y, d.z), cm_transpose(R)));
    A = cm_mscale(0.5, cm_madd(A, cm_transpose(A)));
    check_eigen(A, 3e-15);
    carom_vec3 found;
    carom_mat3 V;
    cm_eigen3(A, &found, &V);
    CHECK_NEAR(found.x, fmin(d.x, fmin(d.y, d.z)), 3e-15);
    CHECK_NEAR(found.z, fmax(d.x, fmax(d.y, d.z)), 3e-15);
  }
  check_eigen(cm_diag3(0, 0, 0), 0);
  carom_mat3 tiny_coupling = {{{1, 1e-300, 0}, {1e-300, 1, 0}, {0, 0, 2}}};
  check_eigen(tiny_coupling, 1e-15);
  carom_mat3 ones = {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}};
  check_eigen(ones, 3e-15);
}

TEST(eigen3_keeps_the_axes_of_a_diagonal_matrix) {
  carom_vec3 d;
  carom_mat3 V;
  cm_eigen3(cm_diag3(1, 2, 3), &d, &V);
  CHECK(entry_distance(V, cm_identity3()) == 0 && d.x == 1 && d.y == 2 && d.z == 3);
  cm_eigen3(cm_diag3(2, 2, 2), &d, &V);
  CHECK(entry_distance(V, cm_identity3()) == 0);
  static const int orders[6][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};
  for (int k = 0; k < 6; k++) {
    carom_mat3 A = cm_diag3(orders[k][0], orders[k][1], orders[k][2]);
    check_eigen(A, 0);
    cm_eigen3(A, &d, &V);
    CHECK(d.x == 1 && d.y == 2 && d.z == 3);
    for (int i = 0; i < 9; i++) {
      double e = fabs(V.m[i / 3][i % 3]);
      CHECK(e == 0 || e == 1);  // permuted only
    }
  }
}

// ---- quaternions and poses ---------------------------------------------------------------------------------------

TEST(quaternions_rotate_as_their_matrices) {
  carom_random r = carom_random_make(7, 0);
  for (int i = 0; i < TRIALS; i++) {
    carom_quat a = random_rotation(&r), b = random_rotation(&r);
    carom_mat3 A = cm_rotation(a), B = cm_rotation(b);
    carom_vec3 v = random_vector(&r, 1);
    CHECK_AT_MOST(distance(cm_rotate(a, v), cm_mulv(A, v)), 2e-15);
    CHECK_AT_MOST(distance(cm_unrotate(a, v), cm_tmulv(A, v)), 2e-15);
    CHECK_AT_MOST(entry_distance(cm_rotation(cm_qmul(a, b)), cm_mmul(A, B)), 3e-15);
    CHECK_AT_MOST(entry_distance(cm_mmul(A, cm_transpose(A)), cm_identity3()), 3e-15);
    CHECK_NEAR(cm_det(A), 1, 3e-15);
    CHECK_AT_MOST(quat_distance(cm_qmul(a, cm_qconj(a)), cm_qidentity()), 1e-15);
    carom_quat sandwich = cm_qmul(cm_qmul(a, cm_quat(0, v.x, v.y, v.z)), cm_qconj(a));
    CHECK_AT_MOST(distance(cm_rotate(a, v), cm_vec3(sandwich.x, sandwich.y, sandwich.z)), 2e-15);
  }
  CHECK(quat_distance(cm_qunit(cm_quat(0, 0, 0, 0)), cm_qidentity()) == 0);
  CHECK_AT_MOST(distance(cm_rotate(cm_axis_angle(cm_vec3(0, 0, 5), acos(-1) / 2), cm_vec3(1, 0, 0)), cm_vec3(0, 1, 0)),
                1e-15);
}

// Shepperd's method must lose nothing whichever component is the largest, and near a half-turn above all.
TEST(quat_of_inverts_rotation) {
  carom_random r = carom_random_make(8, 0);
  double pi = acos(-1);
  for (int i = 0; i < 10 * TRIALS; i++) {
    carom_quat q = random_rotation(&r);
    double angles[] = {pi, pi - 1e-15, pi - 1e-12, pi - 1e-8, pi - 1e-4, 1e-9, 1e-4, 2 * pi / 3};
    if (i % 2) q = cm_axis_angle(random_direction(&r), angles[i / 2 % 8]);
    if (i % 32 < 6) q = cm_axis_angle(cm_vec3(i % 3 == 0, i % 3 == 1, i % 3 == 2), i % 32 < 3 ? pi : pi - 1e-10);
    carom_quat back = cm_quat_of(cm_rotation(q));
    CHECK(back.w >= 0);
    CHECK_NEAR(cm_qdot(back, back), 1, 1e-15);
    CHECK_AT_MOST(fmin(quat_distance(back, q), quat_distance(cm_quat(-back.w, -back.x, -back.y, -back.z), q)), 2e-15);
  }
  CHECK(quat_distance(cm_quat_of(cm_identity3()), cm_qidentity()) == 0);
}

TEST(poses_compose_and_invert) {
  carom_random r = carom_random_make(9, 0);
  for (int i = 0; i < TRIALS; i++) {
    carom_pose A = cm_pose(random_vector(&r, 2), random_rotation(&r)),
               B = cm_pose(random_vector(&r, 2), random_rotation(&r));
    carom_vec3 v = random_vector(&r, 1);
    CHECK_AT_MOST(distance(cm_transform(cm_compose(A, B), v), cm_transform(A, cm_transform(B, v))), 1e-14);
    CHECK_AT_MOST(distance(cm_untransform(A, cm_transform(A, v)), v), 1e-14);
    CHECK_AT_MOST(distance(cm_transform(cm_pose_inverse(A), v), cm_untransform(A, v)), 1e-14);
    carom_pose one = cm_compose(A, cm_pose_inverse(A));
    CHECK_AT_MOST(cm_norm(one.p), 1e-14);
    CHECK_AT_MOST(quat_distance(one.q, cm_qidentity()), 1e-15);
  }
}

// ---- exponential and logarithm -------------------------------------------------------------------------------------

// exp of the quaternion (0, w/2) by its power series: the scalar part is sum (-s)^k/(2k)!, the vector part
// w/2 sum (-s)^k/(2k+1)!, with s = |w/2|^2.
static carom_quat exp_series(carom_vec3 w) {
  long double x = w.x, y = w.y, z = w.z, s = (x * x + y * y + z * z) / 4, even = 1, odd = 1, c = 0, v = 0;
  for (int k = 0; k < 60; k++) {
    c += even, v += odd;
    even *= -s / ((2.0L * k + 1) * (2.0L * k + 2));
    odd *= -s / ((2.0L * k + 2) * (2.0L * k + 3));
  }
  return cm_quat((double)c, (double)(v * x / 2), (double)(v * y / 2), (double)(v * z / 2));
}

TEST(exp_is_its_power_series) {
  carom_random r = carom_random_make(10, 0);
  for (int i = 0; i < 10 * TRIALS; i++) {
    double size = i % 2 ? carom_random_between(&r, 0, 2 * acos(-1)) : pow(10, carom_random_between(&r, -20, 0));
    if (i % 10 == 1) size = sqrt(1e-3) * (1 + carom_random_between(&r, -1e-3, 1e-3));  // where the series takes over
    carom_vec3 w = cm_scale(size, random_direction(&r));
    carom_quat exact = exp_series(w), q = cm_exp(w);
    CHECK_AT_MOST(fabs(q.w - exact.w), 5e-16);
    carom_vec3 d = cm_sub(cm_vec3(q.x, q.y, q.z), cm_vec3(exact.x, exact.y, exact.z));
    // The vector part is small for small angles and right relative to itself.
    CHECK_AT_MOST(cm_norm(d), 5e-16 * fmin(size, 1) + 5e-16 * size * fabs(q.w));
  }
}

TEST(log_undoes_exp_at_every_angle) {
  carom_random r = carom_random_make(11, 0);
  double pi = acos(-1);
  for (int i = 0; i < 10 * TRIALS; i++) {
    double angle = i % 3 == 0   ? pow(10, carom_random_between(&r, -300, -8))
                   : i % 3 == 1 ? carom_random_between(&r, 0, pi - 1e-9)
                                : pi - pow(10, carom_random_between(&r, -12, -1));
    carom_vec3 w = cm_scale(angle, random_direction(&r)), back = cm_log(cm_exp(w));
    // Division first: the square of 1e-300 is zero.
    CHECK_AT_MOST(distance(cm_scale(1 / angle, back), cm_scale(1 / angle, w)), 4e-15);
    carom_quat q = random_rotation(&r);
    carom_quat again = cm_exp(cm_log(q));
    CHECK_AT_MOST(fmin(quat_distance(again, q), quat_distance(cm_quat(-again.w, -again.x, -again.y, -again.z), q)),
                  2e-15);
    CHECK_AT_MOST(cm_norm(cm_log(q)), pi * (1 + 1e-15));
  }
  CHECK(cm_norm(cm_log(cm_qidentity())) == 0 && cm_norm(cm_log(cm_quat(-1, 0, 0, 0))) == 0);
  CHECK_NEAR(cm_log(cm_quat(0, 0, 1, 0)).y, pi, 1e-15);
  carom_quat still = cm_exp(cm_zero3());
  CHECK(quat_distance(still, cm_qidentity()) == 0);
}

// ---- tangents ------------------------------------------------------------------------------------------------------

typedef carom_quat map(carom_vec3 w);
typedef carom_mat3 tangent(carom_vec3 w);

// d/dt R(w + t e) = hat(T e) R, so that log(R(w + t e) R(w - t e)') = 2 t T e + O(t^3).
static carom_vec3 difference(map *f, carom_vec3 w, carom_vec3 e, double t) {
  carom_quat relative = cm_qmul(f(cm_axpy(w, t, e)), cm_qconj(f(cm_axpy(w, -t, e))));
  return cm_scale(0.5 / t, cm_log(relative));
}

static void check_tangent(map *f, tangent *T, tangent *inverse, double largest) {
  carom_random r = carom_random_make(12, 0);
  for (int i = 0; i < TRIALS; i++) {
    double size = i % 2 ? carom_random_between(&r, 0, largest) : pow(10, carom_random_between(&r, -12, 0));
    if (i % 10 == 1) size = sqrt(1e-3) * (1 + carom_random_between(&r, -1e-2, 1e-2));
    carom_vec3 w = cm_scale(size, random_direction(&r)), e = random_direction(&r);
    // Richardson: two central differences cancel the t^2 error.
    carom_vec3 fine = difference(f, w, e, 1e-3), coarse = difference(f, w, e, 2e-3);
    carom_vec3 limit = cm_axpy(fine, 1.0 / 3, cm_sub(fine, coarse));
    CHECK_AT_MOST(distance(cm_mulv(T(w), e), limit), 2e-11);
    double scale = 1;
    for (int k = 0; k < 9; k++) scale = fmax(scale, fabs(inverse(w).m[k / 3][k % 3]));
    CHECK_AT_MOST(entry_distance(cm_mmul(T(w), inverse(w)), cm_identity3()), 5e-15 * scale);
    CHECK_AT_MOST(entry_distance(cm_mmul(inverse(w), T(w)), cm_identity3()), 5e-15 * scale);
  }
  CHECK(entry_distance(T(cm_zero3()), cm_identity3()) == 0);
  CHECK(entry_distance(inverse(cm_zero3()), cm_identity3()) == 0);
}

TEST(exp_tangent_is_the_derivative) { check_tangent(cm_exp, cm_exp_tangent, cm_exp_tangent_inverse, 5.5); }
TEST(cayley_tangent_is_the_derivative) { check_tangent(cm_cayley, cm_cayley_tangent, cm_cayley_tangent_inverse, 20); }

// T = sum hat^k/(k+1)!, in long double.
TEST(exp_tangent_is_its_power_series) {
  carom_random r = carom_random_make(13, 0);
  for (int i = 0; i < TRIALS; i++) {
    double size = i % 2 ? carom_random_between(&r, 0, 6) : pow(10, carom_random_between(&r, -8, 0));
    carom_vec3 w = cm_scale(size, random_direction(&r));
    long double H[3][3], term[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, sum[3][3] = {{0}};
    for (int k = 0; k < 9; k++) H[k / 3][k % 3] = cm_hat(w).m[k / 3][k % 3];
    for (int n = 0; n < 60; n++) {
      long double next[3][3] = {{0}};
      for (int k = 0; k < 9; k++) sum[k / 3][k % 3] += term[k / 3][k % 3];
      for (int k = 0; k < 27; k++) next[k / 9][k % 3] += term[k / 9][k / 3 % 3] * H[k / 3 % 3][k % 3] / (n + 2);
      memcpy(term, next, sizeof term);
    }
    carom_mat3 exact;
    for (int k = 0; k < 9; k++) exact.m[k / 3][k % 3] = (double)sum[k / 3][k % 3];
    CHECK_AT_MOST(entry_distance(cm_exp_tangent(w), exact), 2e-15);
  }
}

// (I - hat/2) R = I + hat/2, by definition; and the angle is 2 atan(|w|/2).
TEST(cayley_is_its_definition) {
  carom_random r = carom_random_make(14, 0);
  for (int i = 0; i < TRIALS; i++) {
    carom_vec3 w = cm_scale(pow(10, carom_random_between(&r, -8, 2)), random_direction(&r));
    carom_mat3 half = cm_mscale(0.5, cm_hat(w)), I = cm_identity3();
    carom_quat q = cm_cayley(w);
    CHECK_AT_MOST(entry_distance(cm_mmul(cm_msub(I, half), cm_rotation(q)), cm_madd(I, half)),
                  3e-15 * (1 + cm_norm(w)));
    CHECK_NEAR(cm_norm(cm_log(q)), 2 * atan(cm_norm(w) / 2), 3e-15);
    carom_vec3 back;
    REQUIRE(cm_cayley_log(q, &back));
    CHECK_AT_MOST(distance(back, w), 3e-15 * cm_norm(w) * (1 + cm_norm(w)));
    REQUIRE(cm_cayley_log(cm_quat(-q.w, -q.x, -q.y, -q.z), &back));
    CHECK_AT_MOST(distance(back, w), 3e-15 * cm_norm(w) * (1 + cm_norm(w)));
  }
  carom_vec3 w;
  CHECK(!cm_cayley_log(cm_quat(0, 0, 0.6, 0.8), &w));
  CHECK(cm_finite(w) && cm_norm(cm_scale(1e-150, w)) > 1);
}

// ---- sums ----------------------------------------------------------------------------------------------------------

TEST(compensated_sums_lose_nothing) {
  carom_sum s = {0};
  double naive = 0;
  carom_sum_add(&s, 1e16);
  naive += 1e16;
  for (int i = 0; i < 100000; i++) carom_sum_add(&s, 0.1), naive += 0.1;
  carom_sum_add(&s, -1e16);
  naive -= 1e16;
  CHECK_NEAR(carom_sum_value(&s), 1e4, 1e-7);
  CHECK(fabs(naive - 1e4) > 1);  // so that the case tells the two apart
  carom_sum large_last = {0};    // Neumaier's own example, where Kahan's sum gives 0
  double terms[] = {1, 1e100, 1, -1e100};
  for (int i = 0; i < 4; i++) carom_sum_add(&large_last, terms[i]);
  CHECK(carom_sum_value(&large_last) == 2);
}
