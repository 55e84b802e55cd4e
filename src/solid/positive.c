// The eigenvalues of A = d2W/dF2 = mu + h' d2J/dF2 + h'' c c' in closed form (Smith, de Goes, Kim 2019, section 4).
// With F = U diag(s) V' and directions U D V', A acts on the diagonal of D by
//
//     H_ii = mu + h'' (s_j s_k)^2,  H_ij = h'' s_j s_k s_i s_k + h' s_k,
//
// and on the pair (D_ij, D_ji) by [mu, -h' s_k; -h' s_k, mu]: eigenvalues mu -+ h' s_k.
#include "solid/solid.h"

enum { LANES = CAROM_SOLID_LANES };

typedef struct frame {
  carom_vec3 u[3], v[3];
  double s[3];
} frame;

static carom_vec3 column(const carom_mat3 *A, int j) { return cm_vec3(A->m[0][j], A->m[1][j], A->m[2][j]); }

// Singular values with the sign of J on the least. That squares lose half the digits of small ones does no harm here.
static frame frame_of(const carom_solid_point *point) {
  carom_mat3 F, V;
  carom_vec3 squares;
  frame f;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) F.m[i][j] = point->F[i][j];
  cm_eigen3(cm_mmul(cm_transpose(F), F), &squares, &V);
  for (int i = 0; i < 3; i++) f.v[i] = column(&V, i);
  carom_vec3 image = cm_mulv(F, f.v[2]), next = cm_mulv(F, f.v[1]);
  f.s[2] = cm_norm(image), f.u[2] = cm_unit(image);
  next = cm_axpy(next, -cm_dot(next, f.u[2]), f.u[2]);
  if (cm_norm(next) > 1e-12 * f.s[2]) {
    f.u[1] = cm_unit(next), f.u[0] = cm_cross(f.u[1], f.u[2]);
  } else {
    cm_frame(f.u[2], &f.u[0], &f.u[1]);
  }
  for (int i = 0; i < 2; i++) f.s[i] = cm_dot(f.u[i], cm_mulv(F, f.v[i]));
  return f;
}

// K_ab += weight (Q g_a) (Q g_b)', Q = sum of coefficient[i][j] u_i v_j'.
static void add_direction(const carom_solid_point *p, const frame *f, const double coefficient[3][3], double weight,
                          double (*K)[LANES]) {
  carom_vec3 t[4];
  for (int a = 0; a < 4; a++) {
    carom_vec3 g = cm_vec3(p->g[a][0], p->g[a][1], p->g[a][2]);
    t[a] = cm_zero3();
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        if (coefficient[i][j] != 0) t[a] = cm_axpy(t[a], coefficient[i][j] * cm_dot(f->v[j], g), f->u[i]);
  }
  for (int a = 0, pair = 0; a < 4; a++)
    for (int b = 0; b <= a; b++, pair++) {
      carom_mat3 block = cm_outer(t[a], t[b]);
      for (int i = 0; i < 9; i++) K[9 * pair + i][0] += weight * block.m[i / 3][i % 3];
    }
}

static void lift_diagonal(const carom_solid_point *p, const frame *f, double (*K)[LANES]) {
  const double *s = f->s;
  carom_mat3 H, vectors;
  carom_vec3 values;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    H.m[i][i] = p->mu + p->h2 * s[j] * s[j] * s[k] * s[k];
    H.m[i][j] = H.m[j][i] = p->h2 * s[j] * s[k] * s[i] * s[k] + p->h1 * s[k];
  }
  cm_eigen3(H, &values, &vectors);
  double value[3] = {values.x, values.y, values.z};
  for (int n = 0; n < 3; n++) {
    if (!(value[n] < 0)) continue;
    double coefficient[3][3] = {{0}};
    for (int i = 0; i < 3; i++) coefficient[i][i] = vectors.m[i][n];
    add_direction(p, f, (const double(*)[3])coefficient, -value[n] * p->volume, K);
  }
}

void carom_solid_make_positive(const carom_solid_point *point, double (*K)[LANES]) {
  frame f = frame_of(point);
  lift_diagonal(point, &f, K);
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    for (int sign = -1; sign <= 1; sign += 2) {
      double value = point->mu - sign * point->h1 * f.s[k];
      if (!(value < 0)) continue;
      double coefficient[3][3] = {{0}};
      coefficient[i][j] = sqrt(0.5), coefficient[j][i] = sign * sqrt(0.5);
      add_direction(point, &f, (const double(*)[3])coefficient, -value * point->volume, K);
    }
  }
}
