// Eight tetrahedra side by side: formulas are written once, as for one number. Vectors never cross a call that is not
// inlined, so that how they would be passed does not matter.
#ifndef CAROM_SRC_SOLID_LANES_H
#define CAROM_SRC_SOLID_LANES_H

#include <stdint.h>

#include "base/simd.h"
#include "solid/solid.h"

typedef double eight __attribute__((vector_size(64), may_alias));
typedef int64_t eight_int __attribute__((vector_size(64), may_alias));
typedef uint64_t eight_bits __attribute__((vector_size(64), may_alias));

#define LANEWISE static inline __attribute__((always_inline))

LANEWISE eight lanes_load(const double *from) { return *(const eight *)from; }
LANEWISE void lanes_store(double *to, eight value) { *(eight *)to = value; }
LANEWISE eight lanes_choose(eight_int mask, eight yes, eight no) {
  return (eight)(((eight_int)yes & mask) | ((eight_int)no & ~mask));
}

typedef struct eight3x3 {
  eight m[3][3];
} eight3x3;

// The edges from corner 0 of some field of nodes, times B: F of positions, dF of displacements.
LANEWISE void lanes_gradient(const carom_solid_block *b, const carom_vec3 *x, eight3x3 *F) {
  _Alignas(64) double e[3][3][CAROM_SOLID_LANES];
  for (int l = 0; l < CAROM_SOLID_LANES; l++) {
    carom_vec3 origin = x[b->node[0][l]];
    for (int k = 0; k < 3; k++) {
      carom_vec3 d = cm_sub(x[b->node[k + 1][l]], origin);
      e[0][k][l] = d.x, e[1][k][l] = d.y, e[2][k][l] = d.z;
    }
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      F->m[i][j] = lanes_load(e[i][0]) * lanes_load(b->B[0][j]) + lanes_load(e[i][1]) * lanes_load(b->B[1][j]) +
                   lanes_load(e[i][2]) * lanes_load(b->B[2][j]);
}

// c = dJ/dF: its columns are products of F's: f2 x f3, f3 x f1, f1 x f2.
LANEWISE void lanes_cofactor(const eight3x3 *F, eight3x3 *c) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int p = (i + 1) % 3, q = (i + 2) % 3, r = (j + 1) % 3, s = (j + 2) % 3;
      c->m[i][j] = F->m[p][r] * F->m[q][s] - F->m[p][s] * F->m[q][r];
    }
}

LANEWISE eight lanes_determinant(const eight3x3 *F, const eight3x3 *c) {
  return F->m[0][0] * c->m[0][0] + F->m[0][1] * c->m[0][1] + F->m[0][2] * c->m[0][2];
}

// ln u and y - ln u for u = 1 + y, of which u is exact where it is small and y where u is near 1: the latter then
// without cancellation. Reduction and polynomial of fdlibm's log (Sun Microsystems 1993): u = 2^k (1 + f), s = f/(2 +
// f), ln(1 + f) = f - f^2/2 + s (f^2/2 + R), error below 1 ulp.
LANEWISE void lanes_log(eight u, eight y, eight *log, eight *rest) {
  const eight_bits half_root = (eight_bits){0} + 0x3fe6a09e667f3bcdULL, one = (eight_bits){0} + 0x3ff0000000000000ULL;
  const eight_bits magic = (eight_bits){0} + 0x4330000000000000ULL;  // 2^52
  eight_bits bits = (eight_bits)u + (one - half_root), k_bits = bits >> 52;
  eight m = (eight)((bits & 0x000fffffffffffffULL) + half_root);
  eight k = (eight)(k_bits | magic) - (4503599627370496.0 + 1023);
  eight f = lanes_choose((eight_int)(k_bits == 1023), y, m - 1), s = f / (2 + f), z = s * s, w = z * z;
  eight even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  eight odd = z * (6.666666666666735130e-01 +
                   w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  eight half_square = 0.5 * f * f, tail = s * (half_square + even + odd) + k * 1.90821492927058770002e-10;
  *log = k * 6.93147180369123816490e-01 + (f - (half_square - tail));
  *rest = (y - f - k * 6.93147180369123816490e-01) + (half_square - tail);
}

// What laws are made of: q = -2 II(E) - 4 III(E) and y = J^2 - 1 for Green's strain E. tr C - 3 = y + 2 q: by the right
// side energies of small strains keep their digits, by the left side those of large ones.
typedef struct lanes_strain {
  eight J, J2, y, q;
  eight size2;  // tr C
  eight_int small;
} lanes_strain;

LANEWISE void lanes_strain_of(const eight3x3 *F, const eight3x3 *c, lanes_strain *s) {
  eight C[3][3], E[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) {
      C[i][j] = F->m[0][i] * F->m[0][j] + F->m[1][i] * F->m[1][j] + F->m[2][i] * F->m[2][j];
      E[i][j] = 0.5 * (C[i][j] - (double)(i == j));
    }
  eight minor = E[1][1] * E[2][2] - E[1][2] * E[1][2];
  eight second = minor + E[0][0] * (E[1][1] + E[2][2]) - E[0][1] * E[0][1] - E[0][2] * E[0][2];
  eight third = E[0][0] * minor - E[0][1] * (E[0][1] * E[2][2] - E[1][2] * E[0][2]) +
                E[0][2] * (E[0][1] * E[1][2] - E[1][1] * E[0][2]);
  s->J = lanes_determinant(F, c);
  s->q = -2 * second - 4 * third;
  eight near = 2 * (E[0][0] + E[1][1] + E[2][2]) + 4 * second + 8 * third;
  s->small = (near < 0.25) & (near > -0.25);
  s->J2 = lanes_choose(s->small, 1 + near, s->J * s->J);
  s->y = lanes_choose(s->small, near, s->J2 - 1);
  s->size2 = C[0][0] + C[1][1] + C[2][2];
}

// W, and h1 = h'(J) and h2 = h''(J), where W = mu/2 (tr C - 3) + h(J).
typedef struct lanes_law {
  eight W, h1, h2;
} lanes_law;

LANEWISE void lanes_law_of(carom_elastic_law law, const carom_solid_block *b, const lanes_strain *s, lanes_law *w) {
  eight mu = lanes_load(b->matter->mu), lambda = lanes_load(b->matter->lambda), over = 1 / s->J, log, rest;
  if (law == CAROM_ELASTIC_STABLE) {
    eight d = s->J - 1;
    eight shape = lanes_choose(s->small, s->q + 0.5 * d * d, 0.5 * (s->size2 - 3) - d);
    w->W = mu * shape + 0.5 * (lambda + mu) * d * d;
    w->h1 = (lambda + mu) * d - mu;
    w->h2 = lambda + mu;
    return;
  }
  lanes_log(s->J2, s->y, &log, &rest);
  eight shape = lanes_choose(s->small, s->q + 0.5 * rest, 0.5 * (s->size2 - 3 - log));
  if (law == CAROM_ELASTIC_CIARLET) {
    w->W = mu * shape + 0.25 * lambda * rest;
    w->h1 = (0.5 * lambda * s->y - mu) * over;
    w->h2 = (mu + 0.5 * lambda) * over * over + 0.5 * lambda;
  } else {
    eight L = 0.5 * log;
    w->W = mu * shape + 0.5 * lambda * L * L;
    w->h1 = (lambda * L - mu) * over;
    w->h2 = (lambda * (1 - L) + mu) * over * over;
  }
}

// Gradients of the corners' shape functions: rows of B, and minus their sum.
LANEWISE eight lanes_corner(const carom_solid_block *b, int corner, int j) {
  if (corner > 0) return lanes_load(b->B[corner - 1][j]);
  return -(lanes_load(b->B[0][j]) + lanes_load(b->B[1][j]) + lanes_load(b->B[2][j]));
}

// What damping needs: the second Piola-Kirchhoff stress S of a rate of Green's strain D.
LANEWISE void lanes_viscous(const carom_solid_block *b, const eight3x3 *D, eight3x3 *S) {
  eight tau = lanes_load(b->matter->damping), two_mu = 2 * tau * lanes_load(b->matter->mu);
  eight volumetric = tau * lanes_load(b->matter->lambda) * (D->m[0][0] + D->m[1][1] + D->m[2][2]);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) S->m[i][j] = two_mu * D->m[i][j];
  for (int i = 0; i < 3; i++) S->m[i][i] += volumetric;
}

// sym(F' R)
LANEWISE void lanes_strain_rate(const eight3x3 *F, const eight3x3 *R, eight3x3 *D) {
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) {
      eight d = {0};
      for (int k = 0; k < 3; k++) d += 0.5 * (F->m[k][i] * R->m[k][j] + F->m[k][j] * R->m[k][i]);
      D->m[i][j] = D->m[j][i] = d;
    }
}

#endif
