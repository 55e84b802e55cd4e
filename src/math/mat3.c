// 3x3 linear algebra that is too long to be inline.
#include <float.h>

#include "carom/vec.h"

// Scaled by a power of two, so that nothing is lost.
carom_vec3 cm_unit_extreme(carom_vec3 a) {
  double x = fabs(a.x), y = fabs(a.y), z = fabs(a.z), largest = x > y ? x : y;
  largest = largest > z ? largest : z;
  if (!(largest > 0) || !cm_finite(a)) return cm_zero3();
  int exponent;
  frexp(largest, &exponent);
  carom_vec3 b = cm_vec3(ldexp(a.x, -exponent), ldexp(a.y, -exponent), ldexp(a.z, -exponent));
  return cm_scale(1 / cm_norm(b), b);
}

// Duff, Burgess, Christensen, Hery, Kensler, Liani, Villemin (2017), "Building an orthonormal basis, revisited".
void cm_frame(carom_vec3 n, carom_vec3 *u, carom_vec3 *v) {
  double sign = copysign(1.0, n.z);
  double a = -1 / (sign + n.z), b = n.x * n.y * a;
  *u = cm_vec3(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
  *v = cm_vec3(b, sign + n.y * n.y * a, -n.y);
}

double cm_det(carom_mat3 A) {
  carom_vec3 r0 = cm_vec3(A.m[0][0], A.m[0][1], A.m[0][2]), r1 = cm_vec3(A.m[1][0], A.m[1][1], A.m[1][2]);
  carom_vec3 r2 = cm_vec3(A.m[2][0], A.m[2][1], A.m[2][2]);
  return cm_dot(r0, cm_cross(r1, r2));
}

static double largest_entry(const carom_mat3 *A) {
  double largest = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) largest = fmax(largest, fabs(A->m[i][j]));
  return largest;
}

static void swap_rows(carom_mat3 *A, carom_mat3 *B, int i, int j) {
  for (int k = 0; k < 3; k++) {
    double a = A->m[i][k], b = B->m[i][k];
    A->m[i][k] = A->m[j][k], A->m[j][k] = a;
    B->m[i][k] = B->m[j][k], B->m[j][k] = b;
  }
}

// Gauss-Jordan with row pivoting on [A | B]; leaves A^-1 B in B.
static bool eliminate(carom_mat3 A, carom_mat3 *B) {
  double tiny = 8 * DBL_EPSILON * largest_entry(&A);
  for (int k = 0; k < 3; k++) {
    int pivot = k;
    for (int i = k + 1; i < 3; i++)
      if (fabs(A.m[i][k]) > fabs(A.m[pivot][k])) pivot = i;
    if (!(fabs(A.m[pivot][k]) > tiny)) return false;
    swap_rows(&A, B, k, pivot);
    for (int i = 0; i < 3; i++) {
      if (i == k) continue;
      double factor = A.m[i][k] / A.m[k][k];
      for (int j = 0; j < 3; j++) {
        A.m[i][j] -= factor * A.m[k][j];
        B->m[i][j] -= factor * B->m[k][j];
      }
    }
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) B->m[i][j] /= A.m[i][i];
  return true;
}

bool cm_solve3(carom_mat3 A, carom_vec3 b, carom_vec3 *x) {
  carom_mat3 B = {{{b.x, 0, 0}, {b.y, 0, 0}, {b.z, 0, 0}}};
  if (!eliminate(A, &B)) return false;
  *x = cm_vec3(B.m[0][0], B.m[1][0], B.m[2][0]);
  return true;
}

bool cm_inverse3(carom_mat3 A, carom_mat3 *inverse) {
  carom_mat3 B = cm_identity3();
  if (!eliminate(A, &B)) return false;
  *inverse = B;
  return true;
}

// One Jacobi rotation that annihilates A[p][q] (Golub and Van Loan 2013, algorithm 8.5.1).
static void jacobi_rotate(carom_mat3 *A, carom_mat3 *V, int p, int q) {
  double apq = A->m[p][q];
  if (apq == 0) return;
  double tau = (A->m[q][q] - A->m[p][p]) / (2 * apq);
  double t = copysign(1.0, tau) / (fabs(tau) + sqrt(1 + tau * tau));
  double c = 1 / sqrt(1 + t * t), s = t * c;
  carom_mat3 G = cm_identity3();
  G.m[p][p] = G.m[q][q] = c;
  G.m[p][q] = s;
  G.m[q][p] = -s;
  *A = cm_mmul(cm_transpose(G), cm_mmul(*A, G));
  A->m[p][q] = A->m[q][p] = 0;
  *V = cm_mmul(*V, G);
}

static void swap_columns(carom_mat3 *V, double d[3], int i, int j) {
  double value = d[i];
  d[i] = d[j], d[j] = value;
  for (int k = 0; k < 3; k++) {
    double entry = V->m[k][i];
    V->m[k][i] = V->m[k][j], V->m[k][j] = -entry;  // the sign keeps the frame right-handed
  }
}

void cm_eigen3(carom_mat3 A, carom_vec3 *values, carom_mat3 *vectors) {
  carom_mat3 V = cm_identity3();
  double negligible = 0x1p-60 * largest_entry(&A);
  for (int sweep = 0; sweep < 30; sweep++) {
    double off = fmax(fabs(A.m[0][1]), fmax(fabs(A.m[0][2]), fabs(A.m[1][2])));
    if (!(off > negligible)) break;
    jacobi_rotate(&A, &V, 0, 1);
    jacobi_rotate(&A, &V, 0, 2);
    jacobi_rotate(&A, &V, 1, 2);
  }
  double d[3] = {A.m[0][0], A.m[1][1], A.m[2][2]};
  if (d[1] < d[0]) swap_columns(&V, d, 0, 1);
  if (d[2] < d[1]) swap_columns(&V, d, 1, 2);
  if (d[1] < d[0]) swap_columns(&V, d, 0, 1);
  *values = cm_vec3(d[0], d[1], d[2]);
  *vectors = V;
}
