// Contacts side by side, each solved exactly. Before this is included CAROM_LANES, CAROM_LANE_TYPE and CAROM_LANE_MASK
// say how many there are, and of what: 32 bytes together. Every function that takes or returns vectors is inlined, so
// that no call depends on how they are passed.
#ifndef CAROM_SRC_CONTACT_SOLVE_LANES_H
#define CAROM_SRC_CONTACT_SOLVE_LANES_H

#include <math.h>
#include <stdbool.h>

#include "base/simd.h"

#pragma GCC diagnostic ignored "-Wpsabi"

typedef CAROM_LANE_TYPE lanes __attribute__((vector_size(32)));
typedef CAROM_LANE_MASK lane_mask __attribute__((vector_size(32)));
typedef struct lanes3 {
  lanes x, y, z;
} lanes3;

#define INLINE static inline __attribute__((always_inline))
#define SHUFFLE __builtin_shufflevector

INLINE lanes splat(CAROM_LANE_TYPE a) { return a - (lanes){0}; }
INLINE lanes load(const CAROM_LANE_TYPE *p) { return *(const lanes *)p; }
INLINE void store(CAROM_LANE_TYPE *p, lanes a) { *(lanes *)p = a; }
INLINE lanes3 load3(CAROM_LANE_TYPE p[3][CAROM_LANES]) { return (lanes3){load(p[0]), load(p[1]), load(p[2])}; }
INLINE void store3(CAROM_LANE_TYPE p[3][CAROM_LANES], lanes3 a) {
  store(p[0], a.x), store(p[1], a.y), store(p[2], a.z);
}
INLINE lanes choose(lane_mask mask, lanes yes, lanes no) {
  return (lanes)((mask & (lane_mask)yes) | (~mask & (lane_mask)no));
}
INLINE lanes larger(lanes a, lanes b) { return choose(a > b, a, b); }
INLINE lanes dot(lanes3 a, lanes3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE lanes3 sub(lanes3 a, lanes3 b) { return (lanes3){a.x - b.x, a.y - b.y, a.z - b.z}; }
INLINE lanes3 axpy(lanes3 a, lanes s, lanes3 b) { return (lanes3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
INLINE lanes3 scale(lanes s, lanes3 a) { return (lanes3){s * a.x, s * a.y, s * a.z}; }
INLINE lanes3 cross(lanes3 a, lanes3 b) {
  return (lanes3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
INLINE lanes root(lanes a) {
  lanes r;
  for (int k = 0; k < CAROM_LANES; k++) r[k] = _Generic(a[k], float : sqrtf, double : sqrt)(a[k]);
  return r;
}

typedef struct lane_contacts {
  lanes along, across, mu, bias;
  lanes3 n;
} lane_contacts;

// The new impulse from the old one, g, and the velocity u, where the local matrix is diag(along, across, across). Over
// the circular cone there are three solutions: the impulse that stops the contact if it is in the cone; else the one on
// the cone's surface along the same tangent; else, if that would pull, zero. By Coulomb's law, which does not let the
// tangents press on the normal, the normal impulse is that which stops the normal or zero, and the tangential one is
// cut back to the disc.
INLINE lanes3 local_solution(const lane_contacts *c, bool coulomb, lanes3 g, lanes3 u) {
  lanes zero = {0}, un = dot(c->n, u), gn = dot(c->n, g), wanted = gn - (un + c->bias) / c->along;
  lanes3 t = axpy(axpy(g, -gn, c->n), -1 / c->across, axpy(u, -un, c->n));
  lanes size = root(dot(t, t));
  lanes edge = (c->along * wanted + c->mu * c->across * size) / (c->along + c->mu * c->mu * c->across);
  edge = larger(coulomb ? wanted : edge, zero);
  lane_mask sticks = (size <= c->mu * wanted) & (wanted >= 0);
  lanes ratio = choose(size > 0, c->mu * edge / choose(size > 0, size, zero + 1), zero);
  return axpy(scale(choose(sticks, wanted, edge), c->n), choose(sticks, zero + 1, ratio), t);
}

#endif
