// Vectors of three in one register. The last answer again (again.h) is so short a computation that its number of
// instructions counts, and here a vector costs as many as a number does. A file that defines CAROM_QUAD_AVX2 before it
// includes this is compiled for AVX2 as a whole; in others a quad is a carom_vec3. The operations and their order are
// those of carom/vec.h in both cases, so that the bits are the same.
#ifndef CAROM_SRC_COLLIDE_QUAD_H
#define CAROM_SRC_COLLIDE_QUAD_H

#include "carom/vec.h"

#define CQ_INLINE static inline __attribute__((always_inline))
#define CQ_APART static __attribute__((noinline))  // so that the usual case need not save registers for the others

#ifdef CAROM_QUAD_AVX2
#include <immintrin.h>
typedef __m256d carom_quad;

CQ_INLINE carom_quad cq_of(const carom_vec3 *a) {
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(&a->x)), _mm_load_sd(&a->z), 1);
}
CQ_INLINE void cq_store(carom_vec3 *to, carom_quad a) {
  _mm_storeu_pd(&to->x, _mm256_castpd256_pd128(a));
  _mm_store_sd(&to->z, _mm256_extractf128_pd(a, 1));
}
CQ_INLINE carom_quad cq_add(carom_quad a, carom_quad b) { return _mm256_add_pd(a, b); }
CQ_INLINE carom_quad cq_sub(carom_quad a, carom_quad b) { return _mm256_sub_pd(a, b); }
CQ_INLINE carom_quad cq_neg(carom_quad a) { return _mm256_xor_pd(a, _mm256_set1_pd(-0.0)); }
CQ_INLINE carom_quad cq_flip(carom_quad a, double s) {
  return _mm256_xor_pd(a, _mm256_and_pd(_mm256_set1_pd(s), _mm256_set1_pd(-0.0)));
}
CQ_INLINE carom_quad cq_scale(double s, carom_quad a) { return _mm256_mul_pd(_mm256_set1_pd(s), a); }
CQ_INLINE double cq_dot(carom_quad a, carom_quad b) {
  carom_quad m = _mm256_mul_pd(a, b);
  __m128d low = _mm256_castpd256_pd128(m), sum = _mm_add_sd(low, _mm_unpackhi_pd(low, low));
  return _mm_cvtsd_f64(_mm_add_sd(sum, _mm256_extractf128_pd(m, 1)));
}
CQ_INLINE carom_quad cq_turn(carom_quad a) { return _mm256_permute4x64_pd(a, 0xC9); }  // y z x
// The difference holds z x y; one more turn puts them in order.
CQ_INLINE carom_quad cq_cross(carom_quad a, carom_quad b) {
  return cq_turn(_mm256_sub_pd(_mm256_mul_pd(a, cq_turn(b)), _mm256_mul_pd(cq_turn(a), b)));
}

typedef struct carom_quad3 {
  carom_quad c[3];  // columns
} carom_quad3;

// A column from rows that hold a number for each of two matrices.
CQ_INLINE void cq_part(__m128d x, __m128d y, __m128d z, carom_quad *a, carom_quad *b) {
  *a = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_unpacklo_pd(x, y)), z, 1);
  *b = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_unpackhi_pd(x, y)), _mm_unpackhi_pd(z, z), 1);
}
// cm_rotation of two quaternions side by side.
CQ_INLINE void cq_rotations(const carom_quat *p, const carom_quat *q, carom_quad3 *P, carom_quad3 *Q) {
  __m128d w = _mm_set_pd(q->w, p->w), x = _mm_set_pd(q->x, p->x), y = _mm_set_pd(q->y, p->y),
          z = _mm_set_pd(q->z, p->z);
  __m128d xx = x * x, yy = y * y, zz = z * z, xy = x * y, xz = x * z, yz = y * z, wx = w * x, wy = w * y, wz = w * z;
  cq_part(1 - 2 * (yy + zz), 2 * (xy + wz), 2 * (xz - wy), &P->c[0], &Q->c[0]);
  cq_part(2 * (xy - wz), 1 - 2 * (xx + zz), 2 * (yz + wx), &P->c[1], &Q->c[1]);
  cq_part(2 * (xz + wy), 2 * (yz - wx), 1 - 2 * (xx + yy), &P->c[2], &Q->c[2]);
}
CQ_INLINE carom_quad cq_mulv(const carom_quad3 *A, const carom_vec3 *x) {
  carom_quad s = _mm256_mul_pd(A->c[0], _mm256_broadcast_sd(&x->x));
  s = _mm256_add_pd(s, _mm256_mul_pd(A->c[1], _mm256_broadcast_sd(&x->y)));
  return _mm256_add_pd(s, _mm256_mul_pd(A->c[2], _mm256_broadcast_sd(&x->z)));
}
// A' x: the first two rows side by side.
CQ_INLINE carom_vec3 cq_tmulv(const carom_quad3 *A, carom_quad x) {
  carom_quad p = _mm256_mul_pd(A->c[0], x), q = _mm256_mul_pd(A->c[1], x), low = _mm256_unpacklo_pd(p, q);
  __m128d xy = _mm256_castpd256_pd128(_mm256_add_pd(low, _mm256_unpackhi_pd(p, q)));
  xy = _mm_add_pd(xy, _mm256_extractf128_pd(low, 1));
  return (carom_vec3){_mm_cvtsd_f64(xy), _mm_cvtsd_f64(_mm_unpackhi_pd(xy, xy)), cq_dot(A->c[2], x)};
}

#else
typedef carom_vec3 carom_quad;

CQ_INLINE carom_quad cq_of(const carom_vec3 *a) { return *a; }
CQ_INLINE void cq_store(carom_vec3 *to, carom_quad a) { *to = a; }
CQ_INLINE carom_quad cq_add(carom_quad a, carom_quad b) { return cm_add(a, b); }
CQ_INLINE carom_quad cq_sub(carom_quad a, carom_quad b) { return cm_sub(a, b); }
CQ_INLINE carom_quad cq_neg(carom_quad a) { return cm_neg(a); }
CQ_INLINE carom_quad cq_flip(carom_quad a, double s) { return signbit(s) ? cm_neg(a) : a; }  // a times the sign of s
CQ_INLINE carom_quad cq_scale(double s, carom_quad a) { return cm_scale(s, a); }
CQ_INLINE double cq_dot(carom_quad a, carom_quad b) { return cm_dot(a, b); }
CQ_INLINE carom_quad cq_cross(carom_quad a, carom_quad b) { return cm_cross(a, b); }

typedef carom_mat3 carom_quad3;

CQ_INLINE void cq_rotations(const carom_quat *p, const carom_quat *q, carom_quad3 *P, carom_quad3 *Q) {
  *P = cm_rotation(*p), *Q = cm_rotation(*q);
}
CQ_INLINE carom_quad cq_mulv(const carom_quad3 *A, const carom_vec3 *x) { return cm_mulv(*A, *x); }
CQ_INLINE carom_vec3 cq_tmulv(const carom_quad3 *A, carom_quad x) { return cm_tmulv(*A, x); }
#endif

CQ_INLINE carom_quad cq_axpy(carom_quad a, double s, carom_quad b) { return cq_add(a, cq_scale(s, b)); }

#endif
