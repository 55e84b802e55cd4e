// Energies, forces, stiffness and stresses of hyperelastic tetrahedra, against formulas in long double, differences,
// and what invariance demands.
#include "heap_counter.h"
#include "solid_fixture.h"

static const solid_box SMALL = {.cells = {2, 3, 2}, .size = {0.2, 0.3, 0.2}, .disorder = 0.25, .seed = 3};
static const solid_box SIX = {.cells = {3, 2, 3}, .size = {1, 1, 2}, .six = true, .disorder = 0.2, .seed = 4};

// ---- the laws, from the header, in long double ----------------------------------------------------------------------

typedef struct long3x3 {
  long double m[3][3];
} long3x3;

static long double long_det(const long3x3 *F) {
  const long double(*m)[3] = F->m;
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

static long double long_law(carom_elastic_law law, const carom_elastic_material *m, const long3x3 *F) {
  long double trace = 0, J = long_det(F), mu = (long double)m->mu, lambda = (long double)m->lambda;
  for (int i = 0; i < 9; i++) trace += F->m[i / 3][i % 3] * F->m[i / 3][i % 3];
  long double W = mu / 2 * (trace - 3);
  if (law == CAROM_ELASTIC_STABLE) return W - mu * (J - 1) + (lambda + mu) / 2 * (J - 1) * (J - 1);
  if (law == CAROM_ELASTIC_CIARLET) return W - mu * logl(J) + lambda / 4 * (J * J - 1 - 2 * logl(J));
  return W - mu * logl(J) + lambda / 2 * logl(J) * logl(J);
}

static long3x3 long_matrix(const carom_mat3 *A) {
  long3x3 F;
  for (int i = 0; i < 9; i++) F.m[i / 3][i % 3] = (long double)A->m[i / 3][i % 3];
  return F;
}

// The energy of one tetrahedron, the unit one, that is deformed by F.
static double energy_of(carom_elastic_law law, const carom_elastic_material *m, const carom_mat3 *F) {
  const carom_vec3 nodes[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const int tets[1][4] = {{0, 1, 2, 3}};
  carom_vec3 x[4];
  carom_elastic_def def = carom_elastic_default_def();
  def.node_count = 4, def.nodes = nodes, def.tet_count = 1, def.tets = tets, def.law = law;
  def.material_count = 1, def.materials = m;
  carom_elastic *e = solid_of(&def);
  carom_elastic_sample sample;
  solid_map(F, 4, nodes, x);
  carom_elastic_measure(e, x, NULL, &sample);
  carom_elastic_destroy(e);
  return sample.energy;
}

TEST(energies_are_those_of_the_formulas) {
  carom_random r = carom_random_make(1, 0);
  for (carom_elastic_law law = 0; law < CAROM_ELASTIC_LAWS; law++)
    for (int i = 0; i < 3000; i++) {
      carom_mat3 F = solid_random_matrix(&r, exp(carom_random_between(&r, log(1e-7), log(3))));
      long3x3 G = long_matrix(&F);
      if (long_det(&G) < 1e-3L) continue;
      double expected = (double)(long_law(law, &RUBBER, &G) / 6);
      // Strains are known to eps, and W ~ E^2; the formula itself loses long double's digits.
      double bound = 1e-13 * expected + 1e-15 * sqrt(1e4 * expected) + 3e-15;
      CHECK_NEAR(energy_of(law, &RUBBER, &F), expected, bound);
    }
}

TEST(energies_hold_from_almost_nothing_to_a_thousandfold_volume) {
  for (carom_elastic_law law = 0; law < CAROM_ELASTIC_LAWS; law++)
    for (double J = 1e-9; J < 2e3; J *= 1.7) {
      carom_mat3 F = cm_diag3(cbrt(J), cbrt(J), cbrt(J));
      long3x3 G = long_matrix(&F);
      double expected = (double)(long_law(law, &RUBBER, &G) / 6);
      CHECK_NEAR(energy_of(law, &RUBBER, &F), expected, 8e-15 * expected);
    }
}

TEST(small_strains_have_the_moduli_that_were_asked_for) {
  carom_elastic_material m;
  REQUIRE(carom_elastic_material_of(3e5, 0.3, 1200, &m, NULL) == CAROM_OK);
  CHECK_NEAR(m.mu * (3 * m.lambda + 2 * m.mu) / (m.lambda + m.mu), 3e5, 1e-9);
  for (carom_elastic_law law = 0; law < CAROM_ELASTIC_LAWS; law++)
    for (double strain = 1e-6; strain < 2e-3; strain *= 10) {
      carom_mat3 F = cm_diag3(1 + strain, 1 - 0.3 * strain, 1 - 0.3 * strain);
      double W = 6 * energy_of(law, &m, &F);
      CHECK_NEAR(2 * W / (strain * strain), 3e5, 3e5 * (5 * strain + 1e-8));
      carom_mat3 shear = cm_identity3();
      shear.m[0][1] = strain;
      CHECK_NEAR(2 * 6 * energy_of(law, &m, &shear) / (strain * strain), m.mu, m.mu * (5 * strain + 1e-8));
    }
}

TEST(every_tetrahedron_has_its_own_material) {
  enum { MATERIALS = 5 };
  solid_mesh m = solid_box_make(&SMALL);
  carom_elastic_material materials[MATERIALS];
  int *which = calloc((size_t)m.tet_count, sizeof *which);
  carom_vec3 *x = solid_vectors(m.node_count);
  carom_random r = carom_random_make(21, 0);
  carom_mat3 F = solid_random_matrix(&r, 0.2);
  long3x3 G = long_matrix(&F);
  double energy = 0, mass = 0, total = 0;
  for (int i = 0; i < MATERIALS; i++)
    materials[i] = (carom_elastic_material){.density = 100 * (i + 1), .lambda = 1e3 * (i - 0.5), .mu = 1e3 * (i + 1)};
  for (int i = 0; i < m.tet_count; i++) {  // runs of one material longer and shorter than a block
    which[i] = i < 17 ? 2 : (int)carom_random_below(&r, MATERIALS);
    double volume = solid_volume6(&m, m.tets[i]) / 6;
    energy += volume * (double)long_law(CAROM_ELASTIC_NEO_HOOKE, &materials[which[i]], &G);
    mass += volume * materials[which[i]].density;
  }
  carom_elastic_def def = solid_def(&m, materials);
  def.material_count = MATERIALS, def.material_of = which;
  carom_elastic *e = solid_of(&def);
  carom_elastic_sample sample;
  solid_map(&F, m.node_count, m.nodes, x);
  carom_elastic_measure(e, x, NULL, &sample);
  CHECK_NEAR(sample.energy, energy, 1e-13 * energy);
  for (int i = 0; i < m.node_count; i++) total += carom_elastic_masses(e)[i];
  CHECK_NEAR(total, mass, 1e-14 * mass);
  CHECK(carom_elastic_tet_count(e) == m.tet_count && carom_elastic_node_count(e) == m.node_count);
  CHECK(memcmp(carom_elastic_rest(e), m.nodes, (size_t)m.node_count * sizeof *m.nodes) == 0);
  carom_elastic_destroy(e);
  free(which), free(x);
  solid_mesh_free(&m);
}

// ---- homogeneous deformation ----------------------------------------------------------------------------------------

static bool is_inner(const solid_box *b, int node) {
  int nx = b->cells[0] + 1, ny = b->cells[1] + 1, i = node % nx, j = node / nx % ny, k = node / nx / ny;
  return i > 0 && i < nx - 1 && j > 0 && j < ny - 1 && k > 0 && k < b->cells[2];
}

static void check_patch(const solid_box *box, carom_elastic_law law) {
  solid_sample s = solid_sample_make(box, law, &RUBBER);
  int n = s.mesh.node_count, inner = 0;
  carom_vec3 *x = solid_vectors(n), *f = solid_vectors(n);
  carom_random r = carom_random_make(7, (uint64_t)law);
  for (int trial = 0; trial < 20; trial++) {
    carom_mat3 F = solid_random_matrix(&r, 0.3);
    carom_elastic_sample sample;
    long3x3 G = long_matrix(&F);
    solid_map(&F, n, s.mesh.nodes, x);
    REQUIRE(carom_elastic_forces(s.elastic, x, NULL, f, &sample, NULL) == CAROM_OK);
    double volume = box->size.x * box->size.y * box->size.z, energy = volume * (double)long_law(law, &RUBBER, &G);
    CHECK_NEAR(sample.energy, energy, 1e-13 * energy);
    CHECK_NEAR(sample.least_J, (double)long_det(&G), 1e-13);
    for (int i = 0; i < n; i++)
      if (is_inner(box, i)) {
        CHECK_AT_MOST(cm_norm(f[i]), 1e-13 * solid_largest(n, f));
        inner++;
      }
  }
  CHECK(inner >= 40);
  free(x), free(f);
  solid_sample_free(&s);
}

TEST(homogeneous_deformation_is_in_equilibrium_inside) {
  for (carom_elastic_law law = 0; law < CAROM_ELASTIC_LAWS; law++) check_patch(&SMALL, law), check_patch(&SIX, law);
}

TEST(stress_of_homogeneous_deformation_is_that_of_its_energy) {
  carom_random r = carom_random_make(8, 0);
  for (carom_elastic_law law = 0; law < CAROM_ELASTIC_LAWS; law++) {
    solid_sample s = solid_sample_make(&SMALL, law, &RUBBER);
    int n = s.mesh.node_count;
    carom_vec3 *x = solid_vectors(n);
    carom_mat3 F = solid_random_matrix(&r, 0.3), *stress = calloc((size_t)s.mesh.tet_count, sizeof *stress);
    double *mises = calloc((size_t)s.mesh.tet_count, sizeof *mises), J = cm_det(F);
    solid_map(&F, n, s.mesh.nodes, x);
    carom_elastic_stress(s.elastic, x, NULL, stress, mises);
    carom_mat3 P, sigma;
    for (int i = 0; i < 9; i++) {  // dW/dF by differences
      long3x3 up = long_matrix(&F), down = up;
      up.m[i / 3][i % 3] += 1e-5L, down.m[i / 3][i % 3] -= 1e-5L;
      P.m[i / 3][i % 3] = (double)((long_law(law, &RUBBER, &up) - long_law(law, &RUBBER, &down)) / 2e-5L);
    }
    sigma = cm_mscale(1 / J, cm_mmul(P, cm_transpose(F)));
    carom_mat3 deviator = sigma;
    for (int i = 0; i < 3; i++) deviator.m[i][i] -= cm_trace(sigma) / 3;
    double size2 = 0;
    for (int i = 0; i < 9; i++) size2 += deviator.m[i / 3][i % 3] * deviator.m[i / 3][i % 3];
    for (int t = 0; t < s.mesh.tet_count; t++) {
      for (int i = 0; i < 9; i++) CHECK_NEAR(stress[t].m[i / 3][i % 3], sigma.m[i / 3][i % 3], 1e-4);
      CHECK_NEAR(mises[t], sqrt(1.5 * size2), 1e-3);
    }
    free(x), free(stress), free(mises);
    solid_sample_free(&s);
  }
}

// ---- derivatives ----------------------------------------------------------------------------------------------------

static void shake(carom_random *r, double size, int n, const carom_vec3 *from, carom_vec3 *to) {
  carom_mat3 F = solid_random_matrix(r, 0.2);
  for (int i = 0; i < n; i++) to[i] = cm_axpy(cm_mulv(F, from[i]), size, solid_noise3(r));
}

static double *component(carom_vec3 *x, int k) {
  return k % 3 == 0 ? &x[k / 3].x : k % 3 == 1 ? &x[k / 3].y : &x[k / 3].z;
}

static double energy_at(carom_elastic *e, const carom_vec3 *x) {
  carom_elastic_sample sample;
  carom_elastic_measure(e, x, NULL, &sample);
  return sample.energy;
}

// Five points: the error is h^4.
static double slope(carom_elastic *e, carom_vec3 *x, int k, double h) {
  double at = *component(x, k), E[4];
  const double steps[4] = {-2, -1, 1, 2};
  for (int i = 0; i < 4; i++) *component(x, k) = at + steps[i] * h, E[i] = energy_at(e, x);
  *component(x, k) = at;
  return (E[0] - 8 * E[1] + 8 * E[2] - E[3]) / (12 * h);
}

TEST(forces_are_slopes_of_the_energy) {
  for (carom_elastic_law law = 0; law < CAROM_ELASTIC_LAWS; law++) {
    solid_sample s = solid_sample_make(&SMALL, law, &RUBBER);
    int n = s.mesh.node_count;
    carom_vec3 *x = solid_vectors(n), *f = solid_vectors(n);
    carom_random r = carom_random_make(9, (uint64_t)law);
    shake(&r, 0.01, n, s.mesh.nodes, x);
    REQUIRE(carom_elastic_forces(s.elastic, x, NULL, f, NULL, NULL) == CAROM_OK);
    double size = solid_largest(n, f);
    for (int k = 0; k < 3 * n; k++) CHECK_NEAR(*component(f, k), -slope(s.elastic, x, k, 3e-5), 1e-8 * size);
    free(x), free(f);
    solid_sample_free(&s);
  }
}

TEST(the_law_without_a_pole_has_forces_when_inverted_and_the_others_say_so) {
  for (carom_elastic_law law = 0; law < CAROM_ELASTIC_LAWS; law++) {
    solid_sample s = solid_sample_make(&SMALL, law, &RUBBER);
    int n = s.mesh.node_count;
    carom_vec3 *x = solid_vectors(n), *f = solid_vectors(n);
    carom_random r = carom_random_make(10, 0);
    carom_error error = {0};
    carom_elastic_sample sample;
    shake(&r, 0.1, n, s.mesh.nodes, x);
    carom_status status = carom_elastic_forces(s.elastic, x, NULL, f, &sample, &error);
    CHECK(sample.least_J < 0);
    CHECK(status == (law == CAROM_ELASTIC_STABLE ? CAROM_OK : CAROM_ERR_GEOMETRY));
    CHECK(isfinite(sample.energy) == (law == CAROM_ELASTIC_STABLE));
    double size = solid_largest(n, f);
    if (status == CAROM_OK)
      for (int k = 0; k < 3 * n; k++) CHECK_NEAR(*component(f, k), -slope(s.elastic, x, k, 3e-5), 1e-8 * size);
    char expected[100];
    snprintf(expected, sizeof expected, "tetrahedron %d is inverted (J = ", sample.least_tet);
    if (status) CHECK_CONTAINS(error.message, expected);
    free(x), free(f);
    solid_sample_free(&s);
  }
}

static double total_difference(int n, const carom_vec3 *a, const carom_vec3 *b) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, cm_norm(cm_sub(a[i], b[i])));
  return most;
}

TEST(stiffness_is_the_slope_of_forces_by_both_ways) {
  for (carom_elastic_law law = 0; law < CAROM_ELASTIC_LAWS; law++) {
    solid_sample s = solid_sample_make(&SIX, law, &RUBBER);
    int n = s.mesh.node_count;
    carom_vec3 *x = solid_vectors(n), *u = solid_vectors(n), *y = solid_vectors(n), *z = solid_vectors(n);
    carom_vec3 *f[4];
    carom_elastic_matrix *K;
    carom_random r = carom_random_make(11, (uint64_t)law);
    REQUIRE(carom_elastic_matrix_create(s.elastic, NULL, &K, NULL) == CAROM_OK);
    shake(&r, 0.05, n, s.mesh.nodes, x);
    for (int i = 0; i < n; i++) u[i] = solid_noise3(&r);
    const double steps[4] = {-2, -1, 1, 2}, h = 1e-5;
    for (int k = 0; k < 4; k++) {
      f[k] = solid_vectors(n);
      for (int i = 0; i < n; i++) z[i] = cm_axpy(x[i], steps[k] * h, u[i]);
      REQUIRE(carom_elastic_forces(s.elastic, z, NULL, f[k], NULL, NULL) == CAROM_OK);
    }
    for (int i = 0; i < n; i++)
      z[i] = cm_scale(-1 / (12 * h), cm_sub(cm_axpy(f[0][i], -8, f[1][i]), cm_axpy(f[3][i], -8, f[2][i])));
    carom_elastic_stiffness_times(s.elastic, x, u, y);
    double size = solid_largest(n, y);
    CHECK_AT_MOST(total_difference(n, y, z), 1e-9 * size);
    carom_elastic_matrix_fill(K, x, CAROM_ELASTIC_EXACT);
    carom_elastic_matrix_times(K, u, z);
    CHECK_AT_MOST(total_difference(n, y, z), 1e-13 * size);
    carom_elastic_blocks b = carom_elastic_matrix_blocks(K);
    CHECK(b.node_count == n && b.start[n] > 7 * n);
    for (int k = 0; k < 4; k++) free(f[k]);
    free(x), free(u), free(y), free(z);
    carom_elastic_matrix_destroy(K);
    solid_sample_free(&s);
  }
}

// ---- the positive stiffness, against a dense eigenvalue problem
// -------------------------------------------------------

enum { ONE = 12 };

static void dense_of(carom_elastic_matrix *K, carom_mat3 *A) {
  carom_elastic_blocks b = carom_elastic_matrix_blocks(K);
  for (int i = 0; i < b.node_count; i++)
    for (int k = b.start[i]; k < b.start[i + 1]; k++) A[i * b.node_count + b.column[k]] = b.blocks[k];
}

// Jacobi rotations: eigenvalues of a symmetric matrix, in place on the diagonal; V gets the vectors.
static void jacobi(double A[ONE][ONE], double V[ONE][ONE]) {
  for (int i = 0; i < ONE; i++)
    for (int j = 0; j < ONE; j++) V[i][j] = i == j;
  for (int sweep = 0; sweep < 30; sweep++)
    for (int p = 0; p < ONE; p++)
      for (int q = p + 1; q < ONE; q++) {
        if (A[p][q] == 0) continue;
        double angle = 0.5 * atan2(2 * A[p][q], A[q][q] - A[p][p]), c = cos(angle), s = sin(angle);
        for (int k = 0; k < ONE; k++) {
          double x = A[k][p], y = A[k][q];
          A[k][p] = c * x - s * y, A[k][q] = s * x + c * y;
        }
        for (int k = 0; k < ONE; k++) {
          double x = A[p][k], y = A[q][k], v = V[k][p], w = V[k][q];
          A[p][k] = c * x - s * y, A[q][k] = s * x + c * y;
          V[k][p] = c * v - s * w, V[k][q] = s * v + c * w;
        }
      }
}

// A regular tetrahedron has gradients with G = sum g g' = multiple of 1, so that clamping d2W/dF2 clamps the
// eigenvalues of K: the truth is a dense one.
TEST(the_positive_stiffness_has_the_negative_eigenvalues_made_zero) {
  const carom_vec3 nodes[4] = {{1, 1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, 1}};
  const int tets[1][4] = {{0, 1, 2, 3}};
  carom_random r = carom_random_make(12, 0);
  int changed = 0, same = 0;
  for (int trial = 0; trial < 300; trial++) {
    carom_elastic_def def = carom_elastic_default_def();
    def.node_count = 4, def.nodes = nodes, def.tet_count = 1, def.tets = tets, def.law = (carom_elastic_law)(trial % 3);
    def.material_count = 1, def.materials = &RUBBER;
    carom_elastic *e = solid_of(&def);
    carom_elastic_matrix *K;
    REQUIRE(carom_elastic_matrix_create(e, NULL, &K, NULL) == CAROM_OK);
    carom_mat3 F = solid_random_matrix(&r, 0.6), exact[16], clamped[16];
    carom_vec3 x[4];
    if (cm_det(F) < 0.02 && def.law != CAROM_ELASTIC_STABLE) F = cm_diag3(0.7, 0.6, 0.9);
    solid_map(&F, 4, nodes, x);
    carom_elastic_matrix_fill(K, x, CAROM_ELASTIC_EXACT);
    dense_of(K, exact);
    carom_elastic_matrix_fill(K, x, CAROM_ELASTIC_POSITIVE);
    dense_of(K, clamped);
    double A[ONE][ONE], V[ONE][ONE], size = 0, least = 0, off = 0;
    for (int i = 0; i < ONE; i++)
      for (int j = 0; j < ONE; j++) A[i][j] = exact[i / 3 * 4 + j / 3].m[i % 3][j % 3];
    jacobi(A, V);
    for (int k = 0; k < ONE; k++) size = fmax(size, fabs(A[k][k])), least = fmin(least, A[k][k]);
    for (int i = 0; i < ONE; i++)
      for (int j = 0; j < ONE; j++) {
        double expected = 0;
        for (int k = 0; k < ONE; k++) expected += fmax(0, A[k][k]) * V[i][k] * V[j][k];
        off = fmax(off, fabs(clamped[i / 3 * 4 + j / 3].m[i % 3][j % 3] - expected));
      }
    CHECK_AT_MOST(off, 1e-10 * size);
    *(least < -1e-6 * size ? &changed : &same) += 1;
    carom_elastic_matrix_destroy(K);
    carom_elastic_destroy(e);
  }
  CHECK(changed > 50 && same > 20);
}

// ---- invariance -----------------------------------------------------------------------------------------------------

static carom_mat3 random_rotation(carom_random *r) {
  carom_mat3 values = solid_random_matrix(r, 1), Q;
  carom_vec3 ignored;
  cm_eigen3(cm_mmul(cm_transpose(values), values), &ignored, &Q);
  return Q;
}

TEST(rigid_motion_changes_nothing) {
  for (carom_elastic_law law = 0; law < CAROM_ELASTIC_LAWS; law++) {
    solid_sample s = solid_sample_make(&SMALL, law, &RUBBER);
    int n = s.mesh.node_count;
    carom_vec3 *x = solid_vectors(n), *y = solid_vectors(n), *f = solid_vectors(n), *g = solid_vectors(n);
    carom_random r = carom_random_make(13, 0);
    for (int trial = 0; trial < 20; trial++) {
      carom_mat3 Q = random_rotation(&r);
      carom_vec3 shift = solid_noise3(&r), force = cm_zero3(), torque = cm_zero3();
      carom_elastic_sample a, b;
      shake(&r, 0.01, n, s.mesh.nodes, x);
      for (int i = 0; i < n; i++) y[i] = cm_add(cm_mulv(Q, x[i]), shift);
      REQUIRE(carom_elastic_forces(s.elastic, x, NULL, f, &a, NULL) == CAROM_OK);
      REQUIRE(carom_elastic_forces(s.elastic, y, NULL, g, &b, NULL) == CAROM_OK);
      CHECK_NEAR(b.energy, a.energy, 1e-13 * a.energy);
      double size = solid_largest(n, f);
      for (int i = 0; i < n; i++) {
        CHECK_AT_MOST(cm_norm(cm_sub(cm_mulv(Q, f[i]), g[i])), 1e-13 * size);
        force = cm_add(force, f[i]), torque = cm_add(torque, cm_cross(x[i], f[i]));
      }
      CHECK_AT_MOST(cm_norm(force), 1e-14 * size);
      CHECK_AT_MOST(cm_norm(torque), 1e-14 * size);
    }
    for (int i = 0; i < n; i++)
      y[i] = cm_add(cm_mulv(random_rotation(&(carom_random){1, 2, 3}), s.mesh.nodes[i]), cm_vec3(9, 8, 7));
    CHECK_AT_MOST(energy_at(s.elastic, y), 1e-22);
    free(x), free(y), free(f), free(g);
    solid_sample_free(&s);
  }
}

// ---- damping --------------------------------------------------------------------------------------------------------

TEST(damping_takes_energy_and_neither_momentum) {
  carom_elastic_material sticky = RUBBER;
  sticky.damping = 0.01;
  solid_sample s = solid_sample_make(&SMALL, CAROM_ELASTIC_NEO_HOOKE, &sticky);
  int n = s.mesh.node_count;
  carom_vec3 *x = solid_vectors(n), *v = solid_vectors(n), *f = solid_vectors(n), *g = solid_vectors(n);
  carom_random r = carom_random_make(14, 0);
  for (int trial = 0; trial < 50; trial++) {
    carom_vec3 force = cm_zero3(), torque = cm_zero3(), w = solid_noise3(&r), u = solid_noise3(&r);
    carom_elastic_sample sample, rigid;
    double power = 0;
    shake(&r, 0.01, n, s.mesh.nodes, x);
    for (int i = 0; i < n; i++) v[i] = solid_noise3(&r);
    REQUIRE(carom_elastic_forces(s.elastic, x, NULL, f, NULL, NULL) == CAROM_OK);
    REQUIRE(carom_elastic_forces(s.elastic, x, v, g, &sample, NULL) == CAROM_OK);
    for (int i = 0; i < n; i++) {
      g[i] = cm_sub(g[i], f[i]);
      force = cm_add(force, g[i]), torque = cm_add(torque, cm_cross(x[i], g[i])), power -= cm_dot(g[i], v[i]);
    }
    double size = solid_largest(n, g);
    CHECK(sample.dissipation > 0);
    CHECK_NEAR(power, sample.dissipation, 1e-12 * power);
    CHECK_AT_MOST(cm_norm(force), 1e-13 * size);
    CHECK_AT_MOST(cm_norm(torque), 1e-13 * size);
    for (int i = 0; i < n; i++) v[i] = cm_add(u, cm_cross(w, x[i]));
    carom_elastic_measure(s.elastic, x, v, &rigid);
    CHECK_AT_MOST(rigid.dissipation, 1e-25 * sample.dissipation);
  }
  free(x), free(v), free(f), free(g);
  solid_sample_free(&s);
}

// ---- pressure -------------------------------------------------------------------------------------------------------

TEST(the_volume_that_a_skin_encloses_is_that_of_the_solid) {
  solid_mesh m = solid_box_make(&SIX);
  carom_vec3 *x = solid_vectors(m.node_count);
  carom_random r = carom_random_make(15, 0);
  carom_mat3 F = solid_random_matrix(&r, 0.5);
  solid_map(&F, m.node_count, m.nodes, x);
  carom_elastic_loads loads = {.triangle_count = m.skin_count, .triangles = (const int(*)[3])m.skin};
  CHECK_NEAR(carom_elastic_enclosed_volume(&loads, x), 2 * cm_det(F), 1e-14);
  free(x);
  solid_mesh_free(&m);
}

// ---- the same bits --------------------------------------------------------------------------------------------------

TEST(any_number_of_threads_gives_the_same_bits) {
  solid_box box = {.cells = {14, 15, 13}, .size = {1, 1, 1}, .disorder = 0.2, .seed = 1};
  carom_elastic_material m = RUBBER;
  m.damping = 0.01;
  solid_mesh mesh = solid_box_make(&box);
  int n = mesh.node_count;
  carom_vec3 *x = solid_vectors(n), *v = solid_vectors(n), *f[4], *y[4];
  carom_elastic_sample samples[4];
  carom_random r = carom_random_make(16, 0);
  shake(&r, 0.005, n, mesh.nodes, x);
  for (int i = 0; i < n; i++) v[i] = solid_noise3(&r);
  for (int k = 0; k < 4; k++) {
    carom_elastic_def def = solid_def(&mesh, &m);
    carom_elastic_matrix *K;
    def.threads = k + 1;
    carom_elastic *e = solid_of(&def);
    f[k] = solid_vectors(n), y[k] = solid_vectors(n);
    REQUIRE(carom_elastic_forces(e, x, v, f[k], &samples[k], NULL) == CAROM_OK);
    REQUIRE(carom_elastic_matrix_create(e, NULL, &K, NULL) == CAROM_OK);
    carom_elastic_matrix_fill(K, x, CAROM_ELASTIC_POSITIVE);
    carom_elastic_matrix_times(K, v, y[k]);
    CHECK(memcmp(f[0], f[k], (size_t)n * sizeof *f[0]) == 0);
    CHECK(memcmp(y[0], y[k], (size_t)n * sizeof *y[0]) == 0);
    CHECK(samples[0].energy == samples[k].energy && samples[0].dissipation == samples[k].dissipation);
    CHECK(samples[0].least_J == samples[k].least_J && samples[0].least_tet == samples[k].least_tet);
    carom_elastic_matrix_destroy(K);
    carom_elastic_destroy(e);
  }
  for (int k = 0; k < 4; k++) free(f[k]), free(y[k]);
  free(x), free(v);
  solid_mesh_free(&mesh);
}

TEST(evaluations_ask_the_heap_for_nothing) {
  if (!MALLOC_COUNTED) test_skip("requests of the heap cannot be counted here");
  solid_sample s = solid_sample_make(&SMALL, CAROM_ELASTIC_NEO_HOOKE, &RUBBER);
  carom_elastic_matrix *K;
  carom_vec3 *f = solid_vectors(s.mesh.node_count), *g = solid_vectors(s.mesh.node_count);
  REQUIRE(carom_elastic_matrix_create(s.elastic, NULL, &K, NULL) == CAROM_OK);
  long before = heap_calls;
  carom_elastic_sample sample;
  carom_elastic_forces(s.elastic, s.mesh.nodes, NULL, f, &sample, NULL);
  carom_elastic_stiffness_times(s.elastic, s.mesh.nodes, f, g);
  carom_elastic_matrix_fill(K, s.mesh.nodes, CAROM_ELASTIC_POSITIVE);
  carom_elastic_matrix_times(K, f, g);
  CHECK(heap_calls == before);
  free(f), free(g);
  carom_elastic_matrix_destroy(K);
  solid_sample_free(&s);
}
