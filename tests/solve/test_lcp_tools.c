// Classes of matrices, complementary cones, basis changes, pointed friction cones.
#include "lcp_samples.h"
#include "test.h"

#include "carom/lcp.h"

static double quadratic(int n, const double *M, const double *x) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) s += x[i] * M[i + j * n] * x[j];
  return s;
}

static bool copositive(int n, const double *M, double *witness) {
  bool yes = false;
  CHECK(carom_lcp_is_copositive(n, M, 1e-12, &yes, witness, NULL) == CAROM_OK);
  return yes;
}

// Horn's form is copositive, yet neither semidefinite nor the sum of a semidefinite and a nonnegative matrix.
TEST(copositive_by_example) {
  const double horn[25] = {1, -1, 1, 1, -1, -1, 1, -1, 1, 1, 1, -1, 1, -1, 1, 1, 1, -1, 1, -1, -1, 1, 1, -1, 1};
  double less[25], x[5];
  CHECK(copositive(5, horn, NULL));
  memcpy(less, horn, sizeof less);
  less[0] -= 0.01;
  CHECK(!copositive(5, less, x));
  CHECK(quadratic(5, less, x) < 0);
  for (int i = 0; i < 5; i++) CHECK(x[i] >= 0);
  const double skew[4] = {0, 1, -1, 0}, minus[1] = {-1}, off[4] = {1, -2, -2, 1};
  CHECK(copositive(2, skew, NULL) && !copositive(1, minus, x) && !copositive(2, off, x));
  CHECK_NEAR(x[0], 0.5, 1e-12);
}

// A frictional matrix is copositive (Stewart and Trinkle 1996), whatever the contacts.
TEST(contact_matrices_are_copositive) {
  for (uint64_t seed = 0; seed < 3; seed++) {
    lcp_sample s = lcp_sample_stack((lcp_stack){1, 2, 0.5, 0.01, 1, seed});
    CHECK(s.n == 16 && copositive(s.n, s.M, NULL));
    *lcp_sample_at(&s, 2, 2) = -0.1;
    CHECK(!copositive(s.n, s.M, NULL));
    lcp_sample_free(&s);
  }
}

// Random search as referee: what is called copositive never shows a negative value.
TEST(copositive_against_random_search) {
  int yes = 0, no = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    carom_random random = carom_random_make(seed, 0);
    double M[16], x[4];
    for (int i = 0; i < 16; i++) M[i] = carom_random_between(&random, -1, 0.8) + (i % 5 == 0);
    if (!copositive(4, M, x)) {
      CHECK(quadratic(4, M, x) < 0);
      no++;
      continue;
    }
    yes++;
    for (int k = 0; k < 2000; k++) {
      for (int i = 0; i < 4; i++) x[i] = carom_random_below(&random, 3) ? carom_random_uniform(&random) : 0;
      CHECK(quadratic(4, M, x) >= -1e-9);
    }
  }
  CHECK(yes > 10 && no > 3);
}

static double minor_of(int n, const double *M, unsigned set) {
  int list[5], k = 0;
  for (int i = 0; i < n; i++)
    if (set >> i & 1) list[k++] = i;
  if (k == 0) return 1;
  double det = 0;  // expansion along the first row
  for (int c = 0; c < k; c++) {
    double A[16];
    int m = k - 1;
    for (int i = 0; i < m; i++)
      for (int j = 0; j < m; j++) A[i + j * m] = M[list[i + 1] + list[j < c ? j : j + 1] * n];
    det += (c % 2 ? -1 : 1) * M[list[0] + list[c] * n] * (m ? minor_of(m, A, (1u << m) - 1) : 1);
  }
  return det;
}

TEST(p_matrices_against_all_minors) {
  int yes = 0, no = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    int n = 1 + (int)(seed % 5);
    carom_random random = carom_random_make(seed, 1);
    double M[25];
    unsigned char witness[5];
    bool expected = true, is;
    for (int i = 0; i < n * n; i++) M[i] = carom_random_between(&random, -1, 1) + (i % (n + 1) == 0 ? 1 : 0);
    for (unsigned set = 1; set < 1u << n; set++) expected &= minor_of(n, M, set) > 0;
    CHECK(carom_lcp_is_p_matrix(n, M, 0, &is, witness, NULL) == CAROM_OK && is == expected);
    expected ? yes++ : no++;
    if (is) continue;
    unsigned set = 0;
    for (int i = 0; i < n; i++) set |= (unsigned)witness[i] << i;
    CHECK(set && minor_of(n, M, set) <= 0);
  }
  CHECK(yes > 50 && no > 50);
}

TEST(checks_refuse_what_they_cannot_do) {
  const double M[1] = {NAN};
  bool yes;
  CHECK(carom_lcp_is_p_matrix(21, M, 0, &yes, NULL, NULL) == CAROM_ERR_ARGUMENT);
  CHECK(carom_lcp_is_copositive(0, M, 0, &yes, NULL, NULL) == CAROM_ERR_ARGUMENT);
  CHECK(carom_lcp_is_copositive(1, M, 0, &yes, NULL, NULL) == CAROM_ERR_NUMBER);
}

// For a P-matrix every q lies in exactly one complementary cone, but for boundaries (Samelson, Thrall and Wesler 1958).
TEST(cones_of_a_p_matrix_divide_space) {
  const double M[9] = {2, 1, 0, -1, 2, 1, 0.5, -1, 2};
  carom_lcp_work *work;
  REQUIRE(carom_lcp_work_create(3, NULL, &work, NULL) == CAROM_OK);
  for (uint64_t seed = 0; seed < 100; seed++) {
    carom_random random = carom_random_make(seed, 2);
    double q[3], x[3], least;
    int inside = 0;
    for (int i = 0; i < 3; i++) q[i] = carom_random_normal(&random);
    carom_lcp_problem problem = {.n = 3, .M = M, .q = q};
    for (unsigned set = 0; set < 8; set++) {
      unsigned char basis[3] = {set & 1, set >> 1 & 1, set >> 2 & 1};
      CHECK(carom_lcp_cone_coordinates(work, &problem, basis, x, &least, NULL) == CAROM_OK);
      inside += least >= 0;
      for (int i = 0; i < 3; i++) {  // C(alpha) x = q
        double s = -q[i];
        for (int j = 0; j < 3; j++) s += basis[j] ? -M[i + 3 * j] * x[j] : (i == j) * x[j];
        CHECK_NEAR(s, 0, 1e-12);
      }
    }
    CHECK(inside == 1);
  }
  const double zero[9] = {0}, q[3] = {1, 1, 1};
  const unsigned char all[3] = {1, 1, 1};
  double x[3], least;
  carom_lcp_problem singular = {.n = 3, .M = zero, .q = q};
  CHECK(carom_lcp_cone_coordinates(work, &singular, all, x, &least, NULL) == CAROM_ERR_SINGULAR);
  carom_lcp_work_destroy(work);
}

// A particle on the ground pushed harder and harder sticks until the push exceeds mu times its weight.
typedef struct push {
  double M[16], q[4];
} push;

static carom_status evaluate_push(void *context, double force, carom_lcp_problem *problem) {
  push *p = context;
  const double mu = 0.5, M[16] = {1, 0, 0, mu, 0, 1, -1, -1, 0, -1, 1, -1, 0, 1, 1, 0};
  memcpy(p->M, M, sizeof M);
  p->q[0] = -1, p->q[1] = -force, p->q[2] = force, p->q[3] = 0;
  *problem = (carom_lcp_problem){.n = 4, .M = p->M, .q = p->q};
  return CAROM_OK;
}

TEST(sticking_ends_where_the_basis_changes) {
  push p;
  carom_lcp_family family = {&p, evaluate_push};
  carom_lcp_switch found;
  carom_lcp_work *work;
  unsigned char basis[4];
  REQUIRE(carom_lcp_work_create(4, NULL, &work, NULL) == CAROM_OK);
  CHECK(carom_lcp_find_switch(work, &family, &(carom_lcp_steps){0.105, 0.01, 30, 1e-12}, basis, &found, NULL) ==
        CAROM_OK);
  CHECK(!found.switched);
  CHECK(carom_lcp_find_switch(work, &family, &(carom_lcp_steps){0.105, 0.01, 60, 1e-12}, basis, &found, NULL) ==
        CAROM_OK);
  CHECK(found.switched && found.step == 40 && found.value < 0);
  CHECK_NEAR(found.t, 0.505, 1e-12);
  CHECK(found.index == 3);  // mu c - beta, the room within the cone
  carom_lcp_work_destroy(work);
}

// Gavrea (2008), figure 2.8 b: a peg of half width L held by two probes at distance d from its middle, on opposite
// sides; the cone is pointed unless d / L <= mu.
static bool peg_is_free(double d, double L, double mu, double *impulse, double *velocity) {
  const double N[6] = {0, 1, d, 0, -1, d}, D[12] = {1, 0, L, -1, 0, -L, 1, 0, -L, -1, 0, L}, m[2] = {mu, mu};
  carom_friction_cone cone = {.rows = 3, .contacts = 2, .directions = 2, .N = N, .D = D, .mu = m};
  carom_friction_cone_answer answer = {.margin = -1, .impulse = impulse, .velocity = velocity};
  carom_error error;
  if (carom_friction_cone_pointed(&cone, NULL, &answer, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  CHECK((answer.margin > 0) == answer.pointed);
  if (!answer.pointed) {  // the certificate cancels, within the cones
    for (int i = 0; i < 3; i++) {
      double s = N[i] * impulse[0] + N[3 + i] * impulse[1];
      for (int k = 0; k < 4; k++) s += D[3 * k + i] * impulse[2 + k];
      CHECK_NEAR(s, 0, 1e-10);
    }
    CHECK_NEAR(impulse[0] + impulse[1], 1, 1e-12);
    for (int c = 0; c < 2; c++) CHECK_AT_MOST(impulse[2 + 2 * c] + impulse[3 + 2 * c], mu * impulse[c] + 1e-12);
  } else {
    for (int c = 0; c < 2; c++)
      for (int k = 0; k < 2; k++) {
        double rate = 0;
        for (int i = 0; i < 3; i++) rate += (N[3 * c + i] + mu * D[3 * (2 * c + k) + i]) * velocity[i];
        CHECK(rate > 0);
      }
  }
  return answer.pointed;
}

TEST(a_peg_between_probes_jams_when_friction_holds) {
  double impulse[6], velocity[3];
  CHECK(peg_is_free(0.5, 1, 0.4, impulse, velocity));
  CHECK(!peg_is_free(0.5, 1, 0.6, impulse, velocity));
  CHECK(peg_is_free(0.5, 1, 0.499, impulse, velocity));
  CHECK(!peg_is_free(0.5, 1, 0.501, impulse, velocity));
  CHECK(!peg_is_free(0, 1, 0.1, impulse, velocity));
}

// Figure 2.8 a: squeezed between opposite normals; a joint that carries the load jams as well.
TEST(opposite_normals_and_joints_are_not_pointed) {
  const double N[2] = {1, -1}, one[1] = {1}, F[1] = {1};
  double impulse[3];
  carom_friction_cone_answer answer = {.pointed = true, .impulse = impulse};
  carom_friction_cone cone = {.rows = 1, .contacts = 2, .N = N};
  CHECK(carom_friction_cone_pointed(&cone, NULL, &answer, NULL) == CAROM_OK && !answer.pointed);
  CHECK_NEAR(impulse[0], 0.5, 1e-12);
  cone.contacts = 1, cone.N = one;
  CHECK(carom_friction_cone_pointed(&cone, NULL, &answer, NULL) == CAROM_OK && answer.pointed);
  cone.joints = 1, cone.F = F;
  CHECK(carom_friction_cone_pointed(&cone, NULL, &answer, NULL) == CAROM_OK && !answer.pointed);
  CHECK_NEAR(impulse[1], -1, 1e-12);
  cone.rows = 0;
  CHECK(carom_friction_cone_pointed(&cone, NULL, &answer, NULL) == CAROM_ERR_ARGUMENT);
}
