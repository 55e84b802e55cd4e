// Dense pieces of the elimination. Not by BLAS: its threads and its choice of instructions would change the bits from
// one machine to the next, and fronts are small. Wide registers are used where there are any; without fused
// multiplication, so that they change no bit either.
#include <math.h>
#include <string.h>

#include "solve/front.h"

enum { TALL = CAROM_FRONT_TALL, NARROW = 3 };

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

// C (12 x 3) -= P Q' over `depth`: nine fours of sums stay in registers.
static inline __attribute__((always_inline)) void product(const double *P, const double *Q, size_t depth, four s[9]) {
  four a0 = {0}, a1 = {0}, a2 = {0}, b0 = {0}, b1 = {0}, b2 = {0}, c0 = {0}, c1 = {0}, c2 = {0};
  for (size_t k = 0; k < depth; k++, P += TALL, Q += TALL) {
    const four *p = (const four *)P;
    double u = Q[0], v = Q[1], w = Q[2];
    a0 += p[0] * u, a1 += p[1] * u, a2 += p[2] * u;
    b0 += p[0] * v, b1 += p[1] * v, b2 += p[2] * v;
    c0 += p[0] * w, c1 += p[1] * w, c2 += p[2] * w;
  }
  s[0] = a0, s[1] = a1, s[2] = a2, s[3] = b0, s[4] = b1, s[5] = b2, s[6] = c0, s[7] = c1, s[8] = c2;
}

WIDE void carom_front_subtract(double *C, size_t stride, size_t rows, size_t columns, const double *packed,
                               size_t depth) {
  for (size_t j = 0; j < columns; j += NARROW) {
    size_t block = j / TALL * TALL;  // of rows at and below the diagonal
    size_t wide = columns - j < NARROW ? columns - j : NARROW;
    const double *Q = packed + block * depth + j % TALL;
    for (size_t i = block; i < rows; i += TALL) {
      four s[3 * NARROW];
      size_t there = rows - i < TALL ? rows - i : TALL;
      product(packed + i * depth, Q, depth, s);
      for (size_t l = 0; l < wide; l++)
        for (size_t k = 0; k < there; k++) C[i + k + (j + l) * stride] -= ((const double *)s)[TALL * l + k];
    }
  }
}

WIDE void carom_front_subtract_product(double *C, size_t stride, size_t rows, size_t columns, const double *P,
                                       const double *Q, size_t depth) {
  for (size_t j = 0; j < columns; j += NARROW) {
    size_t wide = columns - j < NARROW ? columns - j : NARROW;
    for (size_t i = 0; i < rows; i += TALL) {
      four s[3 * NARROW];
      size_t there = rows - i < TALL ? rows - i : TALL;
      product(P + i * depth, Q + j / TALL * TALL * depth + j % TALL, depth, s);
      for (size_t l = 0; l < wide; l++)
        for (size_t k = 0; k < there; k++) C[i + k + (j + l) * stride] -= ((const double *)s)[TALL * l + k];
    }
  }
}

void carom_front_pack(const double *A, size_t stride, size_t rows, size_t depth, double *packed) {
  for (size_t k = 0; k < depth; k++, A += stride)
    for (size_t i = 0; i < rows; i += TALL) {
      size_t there = rows - i < TALL ? rows - i : TALL;
      double *to = packed + i * depth + k * TALL;
      if (there == TALL) {
        memcpy(to, A + i, TALL * sizeof *to);
      } else {
        memcpy(to, A + i, there * sizeof *to);
        memset(to + there, 0, (TALL - there) * sizeof *to);
      }
    }
}

// y -= a x, of n numbers
static inline __attribute__((always_inline)) void subtract_multiple(double *y, double a, const double *x, size_t n) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) *(four *)(y + i) -= a * *(const four *)(x + i);
  for (; i < n; i++) y[i] -= a * x[i];
}

WIDE bool carom_front_strip(double *A, size_t stride, size_t height, size_t width) {
  for (size_t j = 0; j < width; j++) {
    double *column = A + j * stride;
    if (!(column[j] > 0) || !isfinite(column[j])) return false;
    double root = sqrt(column[j]), inverse = 1 / root;
    column[j] = root;
    for (size_t i = j + 1; i < height; i++) column[i] *= inverse;
    for (size_t l = j + 1; l < width; l++) subtract_multiple(A + l + l * stride, column[l], column + l, height - l);
  }
  return true;
}

WIDE void carom_front_subtract_multiple(double *y, double a, const double *x, size_t n) {
  subtract_multiple(y, a, x, n);
}

WIDE void carom_front_subtract_outer(double *A, size_t stride, size_t rows, size_t columns, const double *x,
                                     const double *y, size_t step) {
  for (size_t c = 0; c < columns; c++) subtract_multiple(A + c * stride, y[c * step], x, rows);
}

WIDE double carom_front_dot(const double *a, const double *b, size_t n) {
  four s = {0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4) s += *(const four *)(a + i) * *(const four *)(b + i);
  double sum = s[0] + s[1] + (s[2] + s[3]);
  for (; i < n; i++) sum += a[i] * b[i];
  return sum;
}
