// The heart of a Gauss-Seidel sweep: four contacts at once, each solved exactly.
//
// With u the relative velocity, q = u + bias n - N_cc gamma and N_cc = diag(a, b, b), the local problem
// min 1/2 gamma' N_cc gamma + q' gamma over the circular cone has three solutions: the impulse that stops the contact,
// gamma = -(q_n / a, q_t / b), if it is in the cone; else, against q_t on the cone's surface,
// gamma_n = (mu |q_t| - q_n) / (a + mu^2 b); else, if that is negative, zero. By Coulomb's law, which does not let the
// tangents press on the normal, gamma_n = -q_n / a or zero, and gamma_t = -q_t / b is cut back to the disc.
// Vectors are handed about between static functions of this file alone, so that their calling convention is ours.
#pragma GCC diagnostic ignored "-Wpsabi"

#include <math.h>

#include "base/simd.h"
#include "contact/solve/pgs.h"

typedef double v4 __attribute__((vector_size(32)));
typedef long long m4 __attribute__((vector_size(32)));
typedef struct v4x3 {
  v4 x, y, z;
} v4x3;

#define INLINE static inline __attribute__((always_inline))
#define SHUFFLE __builtin_shufflevector

INLINE v4 splat(double a) { return (v4){a, a, a, a}; }
INLINE v4 choose(m4 mask, v4 yes, v4 no) { return (v4)((mask & (m4)yes) | (~mask & (m4)no)); }
INLINE v4 larger(v4 a, v4 b) { return choose(a > b, a, b); }
INLINE v4 root(v4 a) { return (v4){sqrt(a[0]), sqrt(a[1]), sqrt(a[2]), sqrt(a[3])}; }
INLINE v4 load(const double *p) { return *(const v4 *)p; }
INLINE v4x3 load3(double p[3][CAROM_CONTACT_LANES]) { return (v4x3){load(p[0]), load(p[1]), load(p[2])}; }
INLINE void store3(double p[3][CAROM_CONTACT_LANES], v4x3 a) {
  *(v4 *)p[0] = a.x, *(v4 *)p[1] = a.y, *(v4 *)p[2] = a.z;
}
INLINE v4 dot(v4x3 a, v4x3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE v4x3 axpy(v4x3 a, v4 s, v4x3 b) { return (v4x3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
INLINE v4x3 sub(v4x3 a, v4x3 b) { return (v4x3){a.x - b.x, a.y - b.y, a.z - b.z}; }
INLINE v4x3 cross(v4x3 a, v4x3 b) {
  return (v4x3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

INLINE void transpose(v4 r[4]) {
  v4 t0 = SHUFFLE(r[0], r[1], 0, 4, 2, 6), t1 = SHUFFLE(r[0], r[1], 1, 5, 3, 7);
  v4 t2 = SHUFFLE(r[2], r[3], 0, 4, 2, 6), t3 = SHUFFLE(r[2], r[3], 1, 5, 3, 7);
  r[0] = SHUFFLE(t0, t2, 0, 1, 4, 5), r[1] = SHUFFLE(t1, t3, 0, 1, 4, 5);
  r[2] = SHUFFLE(t0, t2, 2, 3, 6, 7), r[3] = SHUFFLE(t1, t3, 2, 3, 6, 7);
}

// Four bodies with one number per vector: V[0..2] velocity, V[3..5] spin, V[6] inverse mass, V[7] inverse inertia.
INLINE void gather(const double *V, const int body[4], v4 out[8]) {
  for (int k = 0; k < 4; k++) {
    const double *B = V + CAROM_CONTACT_STATE * (size_t)body[k];
    out[k] = load(B), out[4 + k] = load(B + 4);
  }
  transpose(out), transpose(out + 4);
}

// Bodies that cannot move are not written: several lanes or threads may hold the same one.
INLINE void scatter(double *V, const int body[4], v4 in[8]) {
  v4 moves = in[6] + in[7];
  transpose(in), transpose(in + 4);
  for (int k = 0; k < 4; k++) {
    double *B = V + CAROM_CONTACT_STATE * (size_t)body[k];
    if (moves[k] > 0) *(v4 *)B = in[k], *(v4 *)(B + 4) = in[4 + k];
  }
}

INLINE v4x3 point_velocity(const v4 B[8], v4x3 arm) {
  v4x3 turn = cross((v4x3){B[3], B[4], B[5]}, arm);
  return (v4x3){B[0] + turn.x, B[1] + turn.y, B[2] + turn.z};
}

// Adds the impulse d at the arm's end.
INLINE void push(v4 B[8], v4x3 arm, v4x3 d) {
  v4x3 l = cross(arm, d);
  B[0] += B[6] * d.x, B[1] += B[6] * d.y, B[2] += B[6] * d.z;
  B[3] += B[7] * l.x, B[4] += B[7] * l.y, B[5] += B[7] * l.z;
}

// The new impulse from the old one, g, and the velocity u; see above.
INLINE v4x3 local_solution(const carom_contact_pack *pack, bool coulomb, v4x3 n, v4x3 g, v4x3 u) {
  v4 a = load(pack->along), b = load(pack->across), mu = load(pack->mu), zero = splat(0);
  v4 un = dot(n, u), gn = dot(n, g);
  v4x3 ut = axpy(u, -un, n), gt = axpy(g, -gn, n), qt = axpy(ut, -b, gt);
  v4 qn = un + load(pack->bias) - a * gn, t = root(dot(qt, qt));
  v4 stick_n = -qn / a, slide_n = larger(coulomb ? stick_n : (mu * t - qn) / (a + mu * mu * b), zero);
  m4 sticks = (stick_n >= zero) & (b * mu * stick_n >= t);
  v4 new_n = choose(sticks, stick_n, slide_n);
  v4 per_q = choose(sticks, splat(1) / b, mu * slide_n / larger(t, splat(1e-300)));
  v4x3 along = {new_n * n.x, new_n * n.y, new_n * n.z};
  return axpy(along, -per_q, qt);
}

typedef struct tally4 {
  v4 most, energy, turn;
} tally4;

INLINE void visit(carom_contact_pack *pack, bool coulomb, v4 beta, double *V, tally4 *tally) {
  v4 A[8], B[8];
  gather(V, pack->a, A), gather(V, pack->b, B);
  v4x3 n = load3(pack->n), arm_a = load3(pack->arm_a), arm_b = load3(pack->arm_b);
  v4x3 x = load3(pack->impulse), y = axpy(x, beta, sub(x, load3(pack->before)));
  v4x3 u = sub(point_velocity(A, arm_a), point_velocity(B, arm_b));
  v4x3 now = local_solution(pack, coulomb, n, y, u), d = sub(now, y);
  store3(pack->before, x), store3(pack->impulse, now);
  push(A, arm_a, d), push(B, arm_b, (v4x3){-d.x, -d.y, -d.z});
  v4 rho = (load(pack->along) + splat(2) * load(pack->across)) * splat(1.0 / 3), dd = dot(d, d);
  tally->most = larger(rho * rho * dd, tally->most);
  tally->energy += rho * dd;
  tally->turn -= rho * dot(d, sub(now, x));
  scatter(V, pack->a, A), scatter(V, pack->b, B);
}

INLINE double total(v4 a) { return (a[0] + a[1]) + (a[2] + a[3]); }

INLINE void visit_all(carom_contact_pack *packs, bool coulomb, const int range[2], double beta, double *V,
                      carom_sweep_tally *tally) {
  tally4 sums = {splat(0), splat(0), splat(0)};
  for (int i = range[0]; i < range[1]; i++) visit(&packs[i], coulomb, splat(beta), V, &sums);
  double most = 0;
  for (int k = 0; k < 4; k++) most = sums.most[k] > most ? sums.most[k] : most;
  *tally = (carom_sweep_tally){most, total(sums.energy), total(sums.turn)};
}

CAROM_SIMD_CLONES void carom_contact_visit_packs(carom_contact_pack *packs, int first, int last, double beta, double *V,
                                                 carom_sweep_tally *tally) {
  visit_all(packs, false, (const int[2]){first, last}, beta, V, tally);
}

CAROM_SIMD_CLONES void carom_contact_visit_coulomb_packs(carom_contact_pack *packs, int first, int last, double beta,
                                                         double *V, carom_sweep_tally *tally) {
  visit_all(packs, true, (const int[2]){first, last}, beta, V, tally);
}
