// Spectral projected gradient (Birgin, Martinez and Raydan 2000) in the metric of rho, with the Barzilai-Borwein steps
// taken in turn and a nonmonotone acceptance test, falling back on the exact minimum along the step, which a quadratic
// has in closed form (Dai and Fletcher 2005).
#include <math.h>
#include <string.h>

#include "contact/solve/problem.h"

enum { MEMORY = 10 };  // objective values that the nonmonotone test looks back on

typedef struct spg {
  carom_contact_system *s;
  double *x, *g;   // the iterate and its gradient N x + r
  double *d, *Nd;  // the step and its image
  double *best;
  double alpha, lambda;
  double f[MEMORY];  // objective values, relative to the first
} spg;

enum { VECTORS = 5 };

size_t carom_contact_spg_bytes(const carom_contact_system *s) { return carom_contact_vector_bytes(s, VECTORS); }

// d = P_K(x - alpha g / rho) - x
static void direction_pass(void *context, int first, int last, carom_contact_totals *totals) {
  const spg *m = context;
  (void)totals;
  carom_contact_project(m->s, m->alpha, m->x, m->g, m->d, first, last);
  for (size_t k = carom_contact_offset(m->s, first); k < carom_contact_offset(m->s, last); k++) m->d[k] -= m->x[k];
}

// sums: g'd, d'Nd, d' rho d, Nd' rho^-1 Nd
static void curvature_pass(void *context, int first, int last, carom_contact_totals *totals) {
  const spg *m = context;
  for (int i = first; i < last; i++) {
    double rho = m->s->rho[i];
    if (!(rho > 0)) continue;
    for (size_t k = carom_contact_offset(m->s, i); k < carom_contact_offset(m->s, i + 1); k++) {
      totals->sum[0] += m->g[k] * m->d[k];
      totals->sum[1] += m->d[k] * m->Nd[k];
      totals->sum[2] += rho * m->d[k] * m->d[k];
      totals->sum[3] += m->Nd[k] * m->Nd[k] / rho;
    }
  }
}

static void move_pass(void *context, int first, int last, carom_contact_totals *totals) {
  const spg *m = context;
  for (size_t k = carom_contact_offset(m->s, first); k < carom_contact_offset(m->s, last); k++) {
    m->x[k] += m->lambda * m->d[k];
    m->g[k] += m->lambda * m->Nd[k];
  }
  totals->max = carom_contact_residual_range(m->s, m->x, m->g, first, last);
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

// One step; returns the residual at its end, or a negative number when there is nowhere to go.
static double advance(spg *m, carom_contact_info *info) {
  int i = info->iterations++;
  carom_contact_run_pass(m->s, direction_pass, m);
  carom_contact_apply(m->s, m->d, m->Nd);
  info->products++;
  carom_contact_totals t = carom_contact_run_pass(m->s, curvature_pass, m);
  if (!(t.sum[2] > 0)) return -1;
  m->lambda = step_length(m, t.sum[0], t.sum[1], i);
  m->f[(i + 1) % MEMORY] = m->f[i % MEMORY] + m->lambda * (t.sum[0] + m->lambda * t.sum[1] / 2);
  m->alpha = next_alpha(&t, i);
  return carom_contact_run_pass(m->s, move_pass, m).max;
}

static void start(spg *m, carom_contact_info *info) {
  const carom_contact_system *s = m->s;
  memcpy(m->x, s->x, (size_t)s->n * sizeof(double));
  carom_contact_apply(m->s, m->x, m->g);
  info->products++;
  for (int i = 0; i < s->n; i++) m->g[i] += s->r[i];
  memcpy(m->best, m->x, (size_t)s->n * sizeof(double));
  m->alpha = 0.5;
}

carom_status carom_contact_spg(carom_contact_system *s, carom_arena *arena, carom_contact_info *info,
                               carom_error *error) {
  (void)error;
  spg m = {.s = s};
  carom_contact_taker taker = {.arena = arena};
  double **const vectors[VECTORS] = {&m.x, &m.g, &m.d, &m.Nd, &m.best};
  carom_contact_take_vectors(&taker, s, vectors, VECTORS);
  start(&m, info);
  double best = carom_contact_residual_of(s, m.x, m.g);
  info->outcome = CAROM_CONTACT_LIMIT;
  bool finished = carom_contact_done(s, m.x, m.g, best, info);
  while (!finished && info->iterations < s->options.max_iterations) {
    double residual = advance(&m, info);
    if (residual < 0) {
      info->outcome = CAROM_CONTACT_STALLED;
      break;
    }
    finished = carom_contact_done(s, m.x, m.g, residual, info);
    if (residual < best || finished) memcpy(m.best, m.x, (size_t)s->n * sizeof(double));
    best = fmin(best, residual);
  }
  if (finished) info->outcome = CAROM_CONTACT_SOLVED;
  memcpy(s->x, m.best, (size_t)s->n * sizeof(double));
  return CAROM_OK;
}
