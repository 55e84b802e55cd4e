// Mehrotra's predictor-corrector (1992) from an infeasible start, each step by LU of
//
//     [ -S/U  E' ] [ du ]   [ rd - target/u ]
//     [  E    0  ] [ dy ] = [ rp            ],      ds = target/u - (s/u) du,
//
// with rp = e - E u, rd = c - E'y - s, and S/U = 0 for unknowns that are free.
#include "solve/dense_lp.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/dense.h"

typedef struct state {
  const carom_dense_lp *p;
  int size, *pivot;
  double *K, *step;     // (size x size), (size): du and dy
  double *u, *s, *y;    // s is 0 where u is free
  double *rd, *rp;      // (n), (rows)
  double *target, *ds;  // (n)
  double mu, residual;
  int count;  // of bounded unknowns
} state;

static bool make(state *m, const carom_allocator *a) {
  size_t n = (size_t)m->p->n, rows = (size_t)m->p->rows, size = n + rows;
  return CAROM_NEW_ALL(a, CAROM_ROOM(m->pivot, size), CAROM_ROOM(m->K, size * size), CAROM_ROOM(m->step, size),
                       CAROM_ROOM(m->u, n), CAROM_ROOM(m->s, n), CAROM_ROOM(m->y, rows), CAROM_ROOM(m->rd, n),
                       CAROM_ROOM(m->rp, rows), CAROM_ROOM(m->target, n), CAROM_ROOM(m->ds, n));
}

static void end(const state *m, const carom_allocator *a) {
  CAROM_RELEASE_ALL(a, m->pivot, m->K, m->step, m->u, m->s, m->y, m->rd, m->rp, m->target, m->ds);
}

static void start(state *m) {
  double size = 1;
  for (int i = 0; i < m->p->rows; i++) size = fmax(size, fabs(m->p->e[i]));
  for (int j = 0; j < m->p->n; j++) {
    m->u[j] = m->p->bounded[j] ? size : 0, m->s[j] = m->p->bounded[j] ? 1 : 0;
    m->count += m->p->bounded[j];
  }
}

static void measure(state *m) {
  const carom_dense_lp *p = m->p;
  m->residual = m->mu = 0;
  memcpy(m->rp, p->e, (size_t)p->rows * sizeof *m->rp);
  for (int j = 0; j < p->n; j++) {
    const double *column = p->E + (size_t)j * (size_t)p->rows;
    m->rd[j] = p->c[j] - m->s[j];
    for (int i = 0; i < p->rows; i++) m->rp[i] -= column[i] * m->u[j], m->rd[j] -= column[i] * m->y[i];
    m->residual = fmax(m->residual, fabs(m->rd[j]));
    m->mu += m->u[j] * m->s[j] / m->count;
  }
  for (int i = 0; i < p->rows; i++) m->residual = fmax(m->residual, fabs(m->rp[i]));
}

static carom_status factor(state *m) {
  static const double slight = 1e-13;  // for free unknowns that no equation determines
  const carom_dense_lp *p = m->p;
  size_t size = (size_t)m->size;
  memset(m->K, 0, size * size * sizeof *m->K);
  for (int j = 0; j < p->n; j++) {
    m->K[(size_t)j * (size + 1)] = p->bounded[j] ? -m->s[j] / m->u[j] : -slight;
    for (int i = 0; i < p->rows; i++) {
      double e = p->E[(size_t)i + (size_t)j * (size_t)p->rows];
      m->K[(size_t)(p->n + i) + (size_t)j * size] = m->K[(size_t)j + (size_t)(p->n + i) * size] = e;
    }
  }
  return carom_dense_lu(m->size, m->K, m->size, m->pivot);
}

static void find_step(state *m) {
  const carom_dense_lp *p = m->p;
  for (int j = 0; j < p->n; j++) m->step[j] = m->rd[j] - (p->bounded[j] ? m->target[j] / m->u[j] : 0);
  memcpy(m->step + p->n, m->rp, (size_t)p->rows * sizeof *m->rp);
  carom_dense_lu_solve(m->size, m->K, m->size, m->pivot, m->step);
  for (int j = 0; j < p->n; j++) m->ds[j] = p->bounded[j] ? (m->target[j] - m->s[j] * m->step[j]) / m->u[j] : 0;
}

static double longest(const state *m, const double *x, const double *dx) {
  double a = 1;
  for (int j = 0; j < m->p->n; j++)
    if (m->p->bounded[j] && dx[j] < 0) a = fmin(a, -0.995 * x[j] / dx[j]);
  return a;
}

static void aim(state *m, double target, double trust) {
  for (int j = 0; j < m->p->n; j++) m->target[j] = target - m->u[j] * m->s[j] - trust * m->step[j] * m->ds[j];
}

static carom_status iterate(state *m) {
  if (factor(m) != CAROM_OK) return CAROM_NOT_CONVERGED;
  aim(m, 0, 0);
  find_step(m);
  double a = longest(m, m->u, m->step), b = longest(m, m->s, m->ds), next = 0;
  for (int j = 0; j < m->p->n; j++) next += (m->u[j] + a * m->step[j]) * (m->s[j] + b * m->ds[j]) / m->count;
  double ratio = next / m->mu;
  aim(m, ratio * ratio * ratio * m->mu, 1);
  find_step(m);
  a = longest(m, m->u, m->step), b = longest(m, m->s, m->ds);
  for (int j = 0; j < m->p->n; j++) m->u[j] += a * m->step[j], m->s[j] += b * m->ds[j];
  for (int i = 0; i < m->p->rows; i++) m->y[i] += b * m->step[m->p->n + i];
  return isfinite(a) && isfinite(b) ? CAROM_OK : CAROM_NOT_CONVERGED;
}

static carom_status run(state *m, carom_dense_lp_answer *answer, carom_error *error) {
  enum { MOST = 200 };
  static const double enough = 1e-10;
  start(m);
  for (answer->iterations = 0; answer->iterations < MOST; answer->iterations++) {
    answer->value = 0;
    for (int j = 0; j < m->p->n; j++) answer->value += m->p->c[j] * m->u[j];
    measure(m);
    double size = 1 + fabs(answer->value);
    if (m->residual <= enough * size && m->mu * m->count <= enough * size) {
      memcpy(answer->u, m->u, (size_t)m->p->n * sizeof *m->u);
      return CAROM_OK;
    }
    if (iterate(m) != CAROM_OK) break;
  }
  return carom_fail(error, CAROM_NOT_CONVERGED, "a linear program with %d rows and %d unknowns did not converge",
                    m->p->rows, m->p->n);
}

carom_status carom_dense_lp_solve(const carom_dense_lp *program, const carom_allocator *allocator,
                                  carom_dense_lp_answer *answer, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  state m = {.p = program, .size = program->n + program->rows};
  carom_status status = make(&m, &a) && carom_dense_wake() == CAROM_OK
                            ? run(&m, answer, error)
                            : carom_dense_fail_room(error, "a dense linear program");
  end(&m, &a);
  return status;
}
