// Accelerated projected gradient (Nesterov 1983) with adaptive step and restart, after Mazhar et al. (2015, algorithm
// 1), in the metric of rho: unknowns of light and heavy contacts take steps of their own. Since N y is affine in y, one
// product with N per step is enough where the published form takes two.
#include <math.h>
#include <string.h>

#include "contact/solve/problem.h"
#include "contact/solve/sweeps.h"

typedef struct apgd {
  carom_contact_system *s;
  double *x, *w;          // the iterate and N x + r
  double *x_old, *w_old;  // the one before
  double *z, *w_new;      // the next
  double *best;
  carom_momentum m;  // y = x + beta (x - x_old)
  double L;          // bound on N in the metric of rho
} apgd;

enum { VECTORS = 7 };

size_t carom_contact_apgd_bytes(const carom_contact_system *s) { return carom_contact_vector_bytes(s, VECTORS); }

// z = P_K(y - w_y / (L rho)), with y and w_y held where z and w_new will be.
static void step_pass(void *context, int first, int last, carom_contact_totals *totals) {
  const apgd *m = context;
  (void)totals;
  double *y = m->z, *wy = m->w_new;
  for (size_t k = carom_contact_offset(m->s, first); k < carom_contact_offset(m->s, last); k++) {
    y[k] = m->x[k] + m->m.beta * (m->x[k] - m->x_old[k]);
    wy[k] = m->w[k] + m->m.beta * (m->w[k] - m->w_old[k]);
  }
  carom_contact_project(m->s, 1 / m->L, y, wy, m->z, first, last);
}

// With d = z - y: sums d'N d, d' rho d, w_y'(z - x); maximum the residual at z.
static void test_pass(void *context, int first, int last, carom_contact_totals *totals) {
  const apgd *m = context;
  const carom_contact_system *s = m->s;
  for (int i = first; i < last; i++) {
    double rho = s->rho[i];
    for (size_t k = carom_contact_offset(s, i); k < carom_contact_offset(s, i + 1); k++) {
      m->w_new[k] += s->r[k];
      double wy = m->w[k] + m->m.beta * (m->w[k] - m->w_old[k]);
      double d = m->z[k] - (m->x[k] + m->m.beta * (m->x[k] - m->x_old[k]));
      if (!(rho > 0)) d = 0;
      totals->sum[0] += d * (m->w_new[k] - wy);
      totals->sum[1] += rho * d * d;
      totals->sum[2] += wy * (m->z[k] - m->x[k]);
    }
  }
  totals->max = carom_contact_residual_range(s, m->z, m->w_new, first, last);
}

// One step, with L doubled until it bounds the curvature along the step. Returns the sums of the test.
static carom_contact_totals advance(apgd *m, carom_contact_info *info) {
  for (;;) {
    carom_contact_run_pass(m->s, step_pass, m);
    carom_contact_apply(m->s, m->z, m->w_new);
    info->products++;
    carom_contact_totals t = carom_contact_run_pass(m->s, test_pass, m);
    if (!(t.sum[0] > m->L * t.sum[1] * (1 + 1e-12)) || m->L > 1e8) return t;
    m->L *= 2;
  }
}

static void shift(apgd *m) {
  double *x = m->x_old, *w = m->w_old;
  m->x_old = m->x, m->w_old = m->w;
  m->x = m->z, m->w = m->w_new;
  m->z = x, m->w_new = w;
}

static void start(apgd *m, carom_contact_info *info) {
  const carom_contact_system *s = m->s;
  size_t bytes = (size_t)s->n * sizeof(double);
  memcpy(m->x, s->x, bytes);
  carom_contact_apply(m->s, m->x, m->w);
  info->products++;
  for (int i = 0; i < s->n; i++) m->w[i] += s->r[i];
  memcpy(m->x_old, m->x, bytes);
  memcpy(m->w_old, m->w, bytes);
  memcpy(m->best, m->x, bytes);
  m->L = 2;
}

carom_status carom_contact_apgd(carom_contact_system *s, carom_arena *arena, carom_contact_info *info,
                                carom_error *error) {
  (void)error;
  apgd m = {.s = s, .m.theta = 1};
  carom_contact_taker taker = {.arena = arena};
  double **const vectors[VECTORS] = {&m.x, &m.w, &m.x_old, &m.w_old, &m.z, &m.w_new, &m.best};
  carom_contact_take_vectors(&taker, s, vectors, VECTORS);
  start(&m, info);
  double best = carom_contact_residual_of(s, m.x, m.w);
  info->outcome = CAROM_CONTACT_LIMIT;
  bool finished = carom_contact_done(s, m.x, m.w, best, info);
  while (!finished && info->iterations < s->options.max_iterations) {
    carom_contact_totals t = advance(&m, info);
    info->iterations++;
    shift(&m);
    carom_momentum_next(&m.m, t.sum[2] > 0);  // uphill: afresh (O'Donoghue and Candes 2015, gradient scheme)
    m.L *= 0.97;
    finished = carom_contact_done(s, m.x, m.w, t.max, info);
    if (t.max < best || finished) memcpy(m.best, m.x, (size_t)s->n * sizeof(double));
    best = fmin(best, t.max);
  }
  if (finished) info->outcome = CAROM_CONTACT_SOLVED;
  memcpy(s->x, m.best, (size_t)s->n * sizeof(double));
  return CAROM_OK;
}
