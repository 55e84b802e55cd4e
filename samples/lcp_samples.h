// Complementarity problems made to order, for tests and benchmarks: random classes and stacks of boxes.
#ifndef CAROM_SAMPLES_LCP_SAMPLES_H
#define CAROM_SAMPLES_LCP_SAMPLES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/base.h"

typedef struct lcp_sample {
  int n;
  double *M, *q;  // n x n column-major; n
} lcp_sample;

static inline lcp_sample lcp_sample_new(int n) {
  size_t size = (size_t)(n > 0 ? n : 1);
  return (lcp_sample){n, (double *)calloc(size * size, sizeof(double)), (double *)calloc(size, sizeof(double))};
}

static inline void lcp_sample_free(lcp_sample *s) { free(s->M), free(s->q); }

static inline double *lcp_sample_at(const lcp_sample *s, int i, int j) {
  return s->M + (size_t)i + (size_t)j * (size_t)s->n;
}

// ---- random classes ------------------------------------------------------------------------------------------------

// M = A A' / n + (B - B') with A n x rank: positive (semi)definite, strongly nonsymmetric with `skew`.
static inline lcp_sample lcp_sample_definite(int n, int rank, double shift, double skew, uint64_t seed) {
  lcp_sample s = lcp_sample_new(n);
  carom_random random = carom_random_make(seed, 1);
  double *A = (double *)calloc((size_t)n * (size_t)rank, sizeof(double));
  for (int i = 0; i < n * rank; i++) A[i] = carom_random_normal(&random);
  for (int j = 0; j < n; j++)
    for (int l = 0; l < rank; l++)
      for (int i = 0; i < n; i++) *lcp_sample_at(&s, i, j) += A[i + l * n] * A[j + l * n] / n;
  for (int j = 0; j < n; j++) {
    *lcp_sample_at(&s, j, j) += shift;
    for (int i = 0; i < j; i++) {
      double b = skew * carom_random_normal(&random);
      *lcp_sample_at(&s, i, j) += b, *lcp_sample_at(&s, j, i) -= b;
    }
  }
  for (int i = 0; i < n; i++) s.q[i] = carom_random_normal(&random);
  if (shift == 0 && skew == 0) {  // a solution must exist: q = w - M z with z and w complementary
    double *z = (double *)calloc((size_t)n, sizeof(double));
    for (int i = 0; i < n; i++) {
      double size = fabs(s.q[i]);
      s.q[i] = 0;
      if (carom_random_uniform(&random) < 0.5)
        z[i] = size;
      else
        s.q[i] = size;
    }
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) s.q[i] -= *lcp_sample_at(&s, i, j) * z[j];
    free(z);
  }
  free(A);
  return s;
}

// ---- stacks --------------------------------------------------------------------------------------------------------

// The velocity problem of Stewart and Trinkle (1996) for boxes one upon the other: four contacts an interface, K
// friction directions; unknowns are normal impulses (nc), friction impulses (nc K), slacks (nc):
//
//     [ Wn'M^-1 Wn  Wn'M^-1 Wf  0 ]        [ Wn'u ]
//     [ Wf'M^-1 Wn  Wf'M^-1 Wf  E ],   q = [ Wf'u ],   u = v + h M^-1 f.
//     [ mu          -E'         0 ]        [  0   ]
//
// Four contacts carry six unknown components of force and torque redundantly: the matrix is singular.
typedef struct lcp_stack {
  int boxes, directions;
  double mu, h;
  double
      spread;  // of offsets, masses and velocities: 1 as in the benchmark, 0 for equal boxes at rest, exactly aligned
  uint64_t seed;
} lcp_stack;

typedef struct lcp_stack_box {
  double half[3], center[3], mass, inertia[3], u[6];  // u: linear, angular velocity without contacts
} lcp_stack_box;

static inline lcp_stack_box lcp_stack_make_box(carom_random *r, double bottom, lcp_stack spec) {
  lcp_stack_box b = {.mass = exp(spec.spread * carom_random_between(r, -0.7, 0.7))};
  for (int a = 0; a < 3; a++) b.half[a] = a < 2 ? 0.5 : 0.25;
  for (int a = 0; a < 2; a++) b.center[a] = spec.spread * carom_random_between(r, -0.1, 0.1);
  b.center[2] = bottom + b.half[2];
  for (int a = 0; a < 3; a++) {
    double s = b.half[(a + 1) % 3], t = b.half[(a + 2) % 3];
    b.inertia[a] = b.mass / 3 * (s * s + t * t);
  }
  for (int a = 0; a < 6; a++) b.u[a] = spec.spread * carom_random_between(r, -0.1, 0.1);
  b.u[2] -= spec.h * 9.81;
  return b;
}

// The row of J for a force along `d` at `point`, on one body: (d, (point - center) x d).
static inline void lcp_stack_wrench(const lcp_stack_box *b, const double point[3], const double d[3], double sign,
                                    double row[6]) {
  double r[3];
  for (int a = 0; a < 3; a++) r[a] = point[a] - b->center[a], row[a] = sign * d[a];
  for (int a = 0; a < 3; a++) {
    int s = (a + 1) % 3, t = (a + 2) % 3;
    row[3 + a] = sign * (r[s] * d[t] - r[t] * d[s]);
  }
}

typedef struct lcp_stack_row {
  double upper[6], lower[6];  // on the box above and the box below (none for the ground)
  int box;                    // the one above
} lcp_stack_row;

static inline double lcp_stack_product(const lcp_stack_box *b, const double *x, const double *y) {
  double s = 0;
  for (int a = 0; a < 6; a++) s += x[a] * y[a] / (a < 3 ? b->mass : b->inertia[a - 3]);
  return s;
}

static inline double lcp_stack_entry(const lcp_stack_box *boxes, const lcp_stack_row *x, const lcp_stack_row *y) {
  double s = 0;
  if (x->box == y->box) {
    s += lcp_stack_product(boxes + x->box, x->upper, y->upper);
    if (x->box > 0) s += lcp_stack_product(boxes + x->box - 1, x->lower, y->lower);
  }
  if (x->box == y->box - 1) s += lcp_stack_product(boxes + x->box, x->upper, y->lower);
  if (x->box == y->box + 1) s += lcp_stack_product(boxes + y->box, x->lower, y->upper);
  return s;
}

static inline void lcp_stack_fill_row(const lcp_stack_box *boxes, int box, int corner, double angle,
                                      lcp_stack_row *row) {
  const lcp_stack_box *b = boxes + box;
  double point[3], up[3] = {0, 0, 1}, along[3] = {cos(angle), sin(angle), 0};
  for (int a = 0; a < 2; a++) {  // corner of the overlap with the box below
    double low = b->center[a] - b->half[a], high = b->center[a] + b->half[a];
    if (box > 0) low = fmax(low, b[-1].center[a] - b[-1].half[a]), high = fmin(high, b[-1].center[a] + b[-1].half[a]);
    point[a] = corner >> a & 1 ? high : low;
  }
  point[2] = b->center[2] - b->half[2];
  const double *d = angle < 0 ? up : along;
  row->box = box;
  lcp_stack_wrench(b, point, d, 1, row->upper);
  if (box > 0) lcp_stack_wrench(b - 1, point, d, -1, row->lower);
}

static inline lcp_sample lcp_sample_stack(lcp_stack spec) {
  int B = spec.boxes, K = spec.directions, nc = 4 * B, m = nc * (1 + K);
  lcp_sample s = lcp_sample_new(nc * (K + 2));
  carom_random random = carom_random_make(spec.seed, 2);
  lcp_stack_box *boxes = (lcp_stack_box *)calloc((size_t)B, sizeof *boxes);
  lcp_stack_row *rows = (lcp_stack_row *)calloc((size_t)m, sizeof *rows);
  for (int b = 0; b < B; b++) boxes[b] = lcp_stack_make_box(&random, b ? boxes[b - 1].center[2] + 0.25 : 0, spec);
  for (int c = 0; c < nc; c++) {
    lcp_stack_fill_row(boxes, c / 4, c % 4, -1, rows + c);
    for (int k = 0; k < K; k++)
      lcp_stack_fill_row(boxes, c / 4, c % 4, 2 * 3.14159265358979323846 * k / K, rows + nc + c * K + k);
  }
  for (int i = 0; i < m; i++) {
    const lcp_stack_row *r = rows + i;
    for (int j = 0; j < m; j++) *lcp_sample_at(&s, i, j) = lcp_stack_entry(boxes, r, rows + j);
    for (int a = 0; a < 6; a++)
      s.q[i] += r->upper[a] * boxes[r->box].u[a] + (r->box > 0 ? r->lower[a] * boxes[r->box - 1].u[a] : 0);
  }
  for (int c = 0; c < nc; c++) {
    *lcp_sample_at(&s, m + c, c) = spec.mu;
    for (int k = 0; k < K; k++)
      *lcp_sample_at(&s, nc + c * K + k, m + c) = 1, *lcp_sample_at(&s, m + c, nc + c * K + k) = -1;
  }
  free(boxes), free(rows);
  return s;
}

#endif
