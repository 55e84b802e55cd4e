// The projected gradient methods, in the metric of rho, so that unknowns of light and heavy contacts take steps of
// their own:
//
//     apgd    accelerated (Nesterov 1983) with adaptive step and restart, after Mazhar et al. (2015, algorithm 1).
//     Since
//             N y is affine in y, one product with N per step is enough where the published form takes two
//     spg     spectral (Birgin, Martinez and Raydan 2000), with the Barzilai-Borwein steps taken in turn and a
//             nonmonotone acceptance test, falling back on the exact minimum along the step, which a quadratic has in
//             closed form (Dai and Fletcher 2005)
#include <math.h>
#include <string.h>

#include "contact/solve/problem.h"
#include "contact/solve/sweeps.h"

// An iterate, its gradient N x + r, and the best one so far.
typedef struct descent {
  carom_contact_system *s;
  double *x, *w, *best;
} descent;

static void copy(const carom_contact_system *s, double *to, const double *from) {
  memcpy(to, from, (size_t)s->n * sizeof *to);
}

static void start(descent *m, carom_contact_info *info) {
  copy(m->s, m->x, m->s->x);
  copy(m->s, m->best, m->x);
  carom_contact_apply(m->s, m->x, m->w);
  info->products++;
  for (int i = 0; i < m->s->n; i++) m->w[i] += m->s->r[i];
}

// A step leads to the next iterate and returns its residual, or a negative number when there is nowhere to go.
static void descend(descent *m, double (*step)(descent *m, carom_contact_info *info), carom_contact_info *info) {
  carom_contact_system *s = m->s;
  double least = carom_contact_residual_of(s, m->x, m->w);
  info->outcome = CAROM_CONTACT_LIMIT;
  bool finished = carom_contact_done(s, m->x, m->w, least, info);
  while (!finished && info->iterations < s->options.max_iterations) {
    double residual = step(m, info);
    info->iterations++;
    if (residual < 0) {
      info->outcome = CAROM_CONTACT_STALLED;
      break;
    }
    finished = carom_contact_done(s, m->x, m->w, residual, info);
    if (residual < least || finished) copy(s, m->best, m->x);
    least = fmin(least, residual);
  }
  if (finished) info->outcome = CAROM_CONTACT_SOLVED;
  copy(s, s->x, m->best);
}

// ---- accelerated --------------------------------------------------------------------------------

typedef struct apgd {
  descent d;
  double *x_old, *w_old;  // the iterate before
  double *z, *w_new;      // the next
  carom_momentum m;       // y = x + beta (x - x_old)
  double L;               // bound on N in the metric of rho
} apgd;

// z = P_K(y - w_y / (L rho)), with y and w_y held where z and w_new will be.
static void step_pass(void *context, int first, int last, carom_contact_totals *totals) {
  const apgd *m = context;
  const carom_contact_system *s = m->d.s;
  (void)totals;
  double *y = m->z, *wy = m->w_new;
  for (size_t k = carom_contact_offset(s, first); k < carom_contact_offset(s, last); k++) {
    y[k] = m->d.x[k] + m->m.beta * (m->d.x[k] - m->x_old[k]);
    wy[k] = m->d.w[k] + m->m.beta * (m->d.w[k] - m->w_old[k]);
  }
  carom_contact_project(s, 1 / m->L, &(carom_contact_step){y, wy, m->z}, first, last);
}

// With d = z - y: sums d'N d, d' rho d, w_y'(z - x); maximum the residual at z.
static void test_pass(void *context, int first, int last, carom_contact_totals *totals) {
  const apgd *m = context;
  const carom_contact_system *s = m->d.s;
  for (int i = first; i < last; i++) {
    double rho = s->rho[i];
    for (size_t k = carom_contact_offset(s, i); k < carom_contact_offset(s, i + 1); k++) {
      m->w_new[k] += s->r[k];
      double wy = m->d.w[k] + m->m.beta * (m->d.w[k] - m->w_old[k]);
      double d = m->z[k] - (m->d.x[k] + m->m.beta * (m->d.x[k] - m->x_old[k]));
      if (!(rho > 0)) d = 0;
      totals->sum[0] += d * (m->w_new[k] - wy);
      totals->sum[1] += rho * d * d;
      totals->sum[2] += wy * (m->z[k] - m->d.x[k]);
    }
  }
  totals->max = carom_contact_residual_range(s, m->z, m->w_new, first, last);
}

static void shift(apgd *m) {
  double *x = m->x_old, *w = m->w_old;
  m->x_old = m->d.x, m->w_old = m->d.w;
  m->d.x = m->z, m->d.w = m->w_new;
  m->z = x, m->w_new = w;
}

// One step, with L doubled until it bounds the curvature along the step. Where the momentum points uphill it begins
// afresh (O'Donoghue and Candes 2015, gradient scheme).
static double accelerated_step(descent *d, carom_contact_info *info) {
  apgd *m = (apgd *)d;
  carom_contact_totals t;
  for (;; m->L *= 2) {
    carom_contact_run_pass(d->s, step_pass, m);
    carom_contact_apply(d->s, m->z, m->w_new);
    info->products++;
    t = carom_contact_run_pass(d->s, test_pass, m);
    if (!(t.sum[0] > m->L * t.sum[1] * (1 + 1e-12)) || m->L > 1e8) break;
  }
  shift(m);
  carom_momentum_next(&m->m, t.sum[2] > 0);
  m->L *= 0.97;
  return t.max;
}

carom_status carom_contact_apgd(carom_contact_system *s, carom_arena *arena, carom_contact_info *info,
                                carom_error *error) {
  (void)error;
  apgd m = {.d.s = s, .m.theta = 1, .L = 2};
  double **const vectors[] = {&m.d.x, &m.d.w, &m.d.best, &m.x_old, &m.w_old, &m.z, &m.w_new};
  carom_contact_push_vectors(arena, s, vectors, sizeof vectors / sizeof *vectors);
  if (!arena->memory) return CAROM_OK;
  start(&m.d, info);
  copy(s, m.x_old, m.d.x);
  copy(s, m.w_old, m.d.w);
  descend(&m.d, accelerated_step, info);
  return CAROM_OK;
}

// ---- spectral -----------------------------------------------------------------------------------

enum { MEMORY = 10 };  // objective values that the nonmonotone test looks back on

typedef struct spg {
  descent d;
  double *step, *image;  // the step and N times it
  double alpha, lambda;
  double f[MEMORY];  // objective values, relative to the first
} spg;

// step = P_K(x - alpha w / rho) - x
static void direction_pass(void *context, int first, int last, carom_contact_totals *totals) {
  const spg *m = context;
  const carom_contact_system *s = m->d.s;
  (void)totals;
  carom_contact_project(s, m->alpha, &(carom_contact_step){m->d.x, m->d.w, m->step}, first, last);
  for (size_t k = carom_contact_offset(s, first); k < carom_contact_offset(s, last); k++) m->step[k] -= m->d.x[k];
}

// With d the step, sums: w'd, d'Nd, d' rho d, Nd' rho^-1 Nd
static void curvature_pass(void *context, int first, int last, carom_contact_totals *totals) {
  const spg *m = context;
  const carom_contact_system *s = m->d.s;
  for (int i = first; i < last; i++) {
    double rho = s->rho[i];
    if (!(rho > 0)) continue;
    for (size_t k = carom_contact_offset(s, i); k < carom_contact_offset(s, i + 1); k++) {
      totals->sum[0] += m->d.w[k] * m->step[k];
      totals->sum[1] += m->step[k] * m->image[k];
      totals->sum[2] += rho * m->step[k] * m->step[k];
      totals->sum[3] += m->image[k] * m->image[k] / rho;
    }
  }
}

static void move_pass(void *context, int first, int last, carom_contact_totals *totals) {
  const spg *m = context;
  const carom_contact_system *s = m->d.s;
  for (size_t k = carom_contact_offset(s, first); k < carom_contact_offset(s, last); k++) {
    m->d.x[k] += m->lambda * m->step[k];
    m->d.w[k] += m->lambda * m->image[k];
  }
  totals->max = carom_contact_residual_range(s, m->d.x, m->d.w, first, last);
}

// A step that is not downhill comes from an x that round-off has put outside the cones: taken whole, it leads back.
static double step_length(const spg *m, double gd, double dNd, int iteration) {
  if (!(gd < 0)) return 1;
  double highest = m->f[0];
  for (int i = 1; i < MEMORY && i <= iteration; i++) highest = fmax(highest, m->f[i]);
  double now = m->f[iteration % MEMORY];
  if (now + gd + dNd / 2 <= highest + 1e-4 * gd) return 1;
  return dNd > 0 ? fmin(1, -gd / dNd) : 1;
}

// Both Barzilai-Borwein lengths, in turn; kept within bounds that no well-scaled problem reaches.
static double next_alpha(const carom_contact_totals *t, int iteration) {
  double alpha = iteration % 2 ? t->sum[1] / t->sum[3] : t->sum[2] / t->sum[1];
  return t->sum[1] > 0 && isfinite(alpha) ? fmin(fmax(alpha, 1e-10), 1e10) : 1;
}

static double spectral_step(descent *d, carom_contact_info *info) {
  spg *m = (spg *)d;
  int i = info->iterations;
  carom_contact_run_pass(d->s, direction_pass, m);
  carom_contact_apply(d->s, m->step, m->image);
  info->products++;
  carom_contact_totals t = carom_contact_run_pass(d->s, curvature_pass, m);
  if (!(t.sum[2] > 0)) return -1;
  m->lambda = step_length(m, t.sum[0], t.sum[1], i);
  m->f[(i + 1) % MEMORY] = m->f[i % MEMORY] + m->lambda * (t.sum[0] + m->lambda * t.sum[1] / 2);
  m->alpha = next_alpha(&t, i);
  return carom_contact_run_pass(d->s, move_pass, m).max;
}

carom_status carom_contact_spg(carom_contact_system *s, carom_arena *arena, carom_contact_info *info,
                               carom_error *error) {
  (void)error;
  spg m = {.d.s = s, .alpha = 0.5};
  double **const vectors[] = {&m.d.x, &m.d.w, &m.d.best, &m.step, &m.image};
  carom_contact_push_vectors(arena, s, vectors, sizeof vectors / sizeof *vectors);
  if (!arena->memory) return CAROM_OK;
  start(&m.d, info);
  descend(&m.d, spectral_step, info);
  return CAROM_OK;
}
