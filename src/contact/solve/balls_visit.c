// The heart of a sweep: eight contacts at once, each solved exactly.
//
// With s = radius of gyration x spin and arms of l such radii, the velocity of a contact is u = v_a - v_b +
// n x (l_a s_a + l_b s_b), and an impulse f changes v by f / m and s by -k l n x f on either side. The local problem
// over the circular cone, whose matrix is diag(along, across, across), has three solutions: the impulse that stops the
// contact if it is in the cone; else the one on the cone's surface along the same tangent; else, if that would pull,
// zero.
#include <math.h>

#include "base/simd.h"
#include "contact/solve/balls.h"

// Every function that takes or returns vectors is inlined, so that no call depends on how they are passed.
#pragma GCC diagnostic ignored "-Wpsabi"

typedef float v8 __attribute__((vector_size(32)));
typedef int m8 __attribute__((vector_size(32)));
typedef long long q4 __attribute__((vector_size(32)));

#define INLINE static inline __attribute__((always_inline))
#define SHUFFLE __builtin_shufflevector

typedef struct v8x3 {
  v8 x, y, z;
} v8x3;

INLINE v8 load(const float *p) { return *(const v8 *)p; }
INLINE void store(float *p, v8 a) { *(v8 *)p = a; }
INLINE v8x3 load3(float p[3][CAROM_BALLS_LANES]) { return (v8x3){load(p[0]), load(p[1]), load(p[2])}; }
INLINE void store3(float p[3][CAROM_BALLS_LANES], v8x3 a) { store(p[0], a.x), store(p[1], a.y), store(p[2], a.z); }
INLINE v8 choose(m8 mask, v8 yes, v8 no) { return (v8)((mask & (m8)yes) | (~mask & (m8)no)); }
INLINE v8 dot(v8x3 a, v8x3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE v8x3 add(v8x3 a, v8x3 b) { return (v8x3){a.x + b.x, a.y + b.y, a.z + b.z}; }
INLINE v8x3 sub(v8x3 a, v8x3 b) { return (v8x3){a.x - b.x, a.y - b.y, a.z - b.z}; }
INLINE v8x3 axpy(v8x3 a, v8 s, v8x3 b) { return (v8x3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
INLINE v8x3 scale(v8 s, v8x3 a) { return (v8x3){s * a.x, s * a.y, s * a.z}; }
INLINE v8x3 cross(v8x3 a, v8x3 b) {
  return (v8x3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
INLINE v8 root(v8 a) {
  v8 r;
  for (int k = 0; k < CAROM_BALLS_LANES; k++) r[k] = sqrtf(a[k]);
  return r;
}

// Rows to columns.
INLINE void transpose(v8 r[8]) {
  v8 t[8], u[8];
  for (int k = 0; k < 8; k += 2) {
    t[k] = SHUFFLE(r[k], r[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[k + 1] = SHUFFLE(r[k], r[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int k = 0; k < 8; k += 4)
    for (int j = 0; j < 2; j++) {
      u[k + 2 * j] = SHUFFLE(t[k + j], t[k + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      u[k + 2 * j + 1] = SHUFFLE(t[k + j], t[k + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int k = 0; k < 4; k++) {
    r[k] = SHUFFLE(u[k], u[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[k + 4] = SHUFFLE(u[k], u[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

INLINE void gather(const carom_balls_body *bodies, const int *index, v8 B[8]) {
  for (int k = 0; k < CAROM_BALLS_LANES; k++) B[k] = load(bodies[index[k]].v);
  transpose(B);
}

// Bodies that cannot move are not written: several lanes or threads may hold the same one.
INLINE void scatter(carom_balls_body *bodies, const int *index, v8 B[8]) {
  v8 mass = B[3], zero = {0};
  q4 moves = (q4)(mass > zero);
  transpose(B);
  if ((moves[0] & moves[1] & moves[2] & moves[3]) == -1) {
    for (int k = 0; k < CAROM_BALLS_LANES; k++) store(bodies[index[k]].v, B[k]);
  } else {
    for (int k = 0; k < CAROM_BALLS_LANES; k++)
      if (mass[k] > 0) store(bodies[index[k]].v, B[k]);
  }
}

INLINE void push(v8 B[8], v8x3 f, v8x3 moment, v8 arm, v8 sign) {
  v8 m = sign * B[3], k = arm * B[7];
  B[0] += m * f.x, B[1] += m * f.y, B[2] += m * f.z;
  B[4] -= k * moment.x, B[5] -= k * moment.y, B[6] -= k * moment.z;
}

// The new impulse from the old one and the velocity; see above.
INLINE v8x3 local_solution(const carom_balls_pack *pack, v8 along, v8 across, v8x3 n, v8x3 g, v8x3 u) {
  v8 mu = load(pack->mu), zero = {0};
  v8 un = dot(n, u), gn = dot(n, g);
  v8 wanted = gn - (un + load(pack->bias)) / along;
  v8x3 ut = axpy(u, -un, n), gt = axpy(g, -gn, n);
  v8x3 t = axpy(gt, -1 / across, ut);
  v8 size = root(dot(t, t));
  v8 edge = (along * wanted + mu * across * size) / (along + mu * mu * across);
  edge = choose(edge > 0, edge, zero);
  m8 sticks = (size <= mu * wanted) & (wanted >= 0);
  v8 normal = choose(sticks, wanted, edge);
  v8 ratio = choose(size > 0, mu * edge / choose(size > 0, size, zero + 1), zero);
  return add(scale(normal, n), scale(choose(sticks, zero + 1, ratio), t));
}

CAROM_SIMD_CLONES
void carom_balls_extrapolate(carom_balls_body *bodies, carom_balls_body *before, int first, int last, float beta) {
  v8 ahead = {beta, beta, beta, beta, beta, beta, beta, beta};
  for (int i = first; i < last; i++) {  // all eight: what does not change stays
    v8 now = load(bodies[i].v);
    store(bodies[i].v, now + ahead * (now - load(before[i].v)));
    store(before[i].v, now);
  }
}

CAROM_SIMD_CLONES
carom_balls_change carom_balls_visit(carom_balls_pack *packs, int first, int last, float beta,
                                     carom_balls_body *bodies) {
  v8 squares = {0}, backward = {0}, largest = {0}, deepest = {0}, one = {1, 1, 1, 1, 1, 1, 1, 1}, ahead = one * beta;
  for (int i = first; i < last; i++) {
    carom_balls_pack *pack = &packs[i];
    v8 A[8], B[8];
    gather(bodies, pack->a, A);
    gather(bodies, pack->b, B);
    v8x3 n = load3(pack->n), old = load3(pack->g), g = axpy(old, ahead, sub(old, load3(pack->before)));
    v8 la = load(pack->arm_a), lb = load(pack->arm_b);
    v8x3 spin = cross(n, (v8x3){la * A[4] + lb * B[4], la * A[5] + lb * B[5], la * A[6] + lb * B[6]});
    v8x3 u = {A[0] - B[0] + spin.x, A[1] - B[1] + spin.y, A[2] - B[2] + spin.z};
    v8 along = A[3] + B[3], across = along + la * la * A[7] + lb * lb * B[7];
    along = choose(along > 0, along, one), across = choose(across > 0, across, one);  // padding
    v8 opening = dot(n, u) + load(pack->bias);
    v8x3 next = local_solution(pack, along, across, n, g, u), d = sub(next, g), moment = cross(n, d);
    store3(pack->before, old);
    store3(pack->g, next);
    push(A, d, moment, la, one), push(B, d, moment, lb, -one);
    scatter(bodies, pack->a, A);
    scatter(bodies, pack->b, B);
    v8 change = along * along * dot(d, d);
    squares += change;
    backward -= along * along * dot(d, sub(next, old));
    largest = choose(change > largest, change, largest);
    deepest = choose(-opening > deepest, -opening, deepest);
  }
  carom_balls_change total = {0};
  for (int k = 0; k < CAROM_BALLS_LANES; k++) {
    carom_sweep_add(&total.tally, &(carom_sweep_tally){largest[k], squares[k], backward[k]});
    total.deepest = deepest[k] > total.deepest ? deepest[k] : total.deepest;
  }
  return total;
}
