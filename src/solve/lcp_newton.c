// Semismooth Newton methods: the problem as a system Phi(z) = 0 with
//
//     Phi_i = sqrt(z_i^2 + w_i^2) - z_i - w_i   (Fischer 1992)      or      Phi_i = min(z_i, w_i),
//
// whose generalised Jacobian is J = diag(a) + diag(b) M. Line search on |Phi|^2 / 2 and steepest descent where Newton's
// direction fails, after De Luca, Facchinei and Kanzow (1996).
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "solve/lcp_kernels.h"
#include "solve/lcp_problem.h"
#include "solve/lcp_work.h"

enum { STEPS = 200, HALVINGS = 40 };
static const double ARMIJO = 1e-4;
static const double DESCENT = 1e-9;  // a direction must fall at least so much, over its length and the gradient's

// The scaled problem, seen by Newton's method. a and b share memory that Lemke's method does not need meanwhile.
typedef struct newton {
  const carom_lcp_call *call;
  carom_lcp_lemke *lemke;
  carom_lcp_method method;
  int n;
  double *z, *w, *phi, *gradient, *step, *a, *b, *trial, *J;
  int *pivots;
} newton;

static void evaluate(const newton *s, const double *z, double *w) {
  const carom_lcp_matrix *matrix = &s->lemke->matrix;
  int list = 0;
  memcpy(w, s->lemke->q, sizeof(double) * (size_t)s->n);
  for (; list < s->n; list++)
    if (z[list] != 0) carom_lcp_matrix_combine(matrix, 1, &list, z + list, w);
}

static double merit(const newton *s, const double *z, double *w) {
  double sum = 0;
  evaluate(s, z, w);
  for (int i = 0; i < s->n; i++) {
    double phi = s->method == CAROM_LCP_NEWTON_FB ? hypot(z[i], w[i]) - z[i] - w[i] : fmin(z[i], w[i]);
    s->phi[i] = phi;
    sum += phi * phi;
  }
  return sum / 2;
}

// One element of the generalised Jacobian: for Fischer-Burmeister a = z/r - 1, b = w/r - 1 with r = |(z, w)|, and any
// unit vector in place of (z, w)/r at the kink.
static void linearize(const newton *s) {
  for (int i = 0; i < s->n; i++) {
    if (s->method == CAROM_LCP_NEWTON_FB) {
      double r = hypot(s->z[i], s->w[i]);
      s->a[i] = (r > 0 ? s->z[i] / r : M_SQRT1_2) - 1;
      s->b[i] = (r > 0 ? s->w[i] / r : M_SQRT1_2) - 1;
    } else {
      s->a[i] = s->z[i] <= s->w[i];
      s->b[i] = 1 - s->a[i];
    }
  }
}

static void fill_jacobian(const newton *s) {
  const double one = 1;
  memset(s->J, 0, sizeof(double) * (size_t)s->n * (size_t)s->n);
  for (int j = 0; j < s->n; j++) {
    double *column = s->J + (size_t)j * (size_t)s->n;
    carom_lcp_matrix_combine(&s->lemke->matrix, 1, &j, &one, column);
    for (int i = 0; i < s->n; i++) column[i] *= s->b[i];
    column[j] += s->a[j];
  }
}

// Newton's direction, or steepest descent where that does not fall. Returns the slope of the merit along it.
static double find_step(const newton *s) {
  double slope = 0, gradient = 0, length = 0;
  fill_jacobian(s);
  carom_lcp_dots(s->n, s->n, s->J, s->n, s->phi, s->gradient);
  for (int i = 0; i < s->n; i++) s->step[i] = -s->phi[i];
  carom_status status = carom_dense_lu(s->n, s->J, s->n, s->pivots);
  if (status == CAROM_OK) status = carom_dense_lu_solve(s->n, s->J, s->n, s->pivots, s->step);
  bool good = status == CAROM_OK;
  if (status == CAROM_ERR_MEMORY) s->call->work->starved = true;
  for (int i = 0; i < s->n; i++) {
    slope += s->gradient[i] * s->step[i];
    gradient += s->gradient[i] * s->gradient[i], length += s->step[i] * s->step[i];
  }
  if (good && slope <= -DESCENT * sqrt(gradient * length)) return slope;
  for (int i = 0; i < s->n; i++) s->step[i] = -s->gradient[i];
  return -gradient;
}

static bool search_line(const newton *s, double slope, double *value) {
  double t = 1;
  for (int halving = 0; halving < HALVINGS; halving++, t /= 2) {
    for (int i = 0; i < s->n; i++) s->trial[i] = s->z[i] + t * s->step[i];
    double next = merit(s, s->trial, s->w);
    if (!(next <= *value + ARMIJO * t * slope)) continue;
    memcpy(s->z, s->trial, sizeof(double) * (size_t)s->n);
    *value = next;
    return true;
  }
  return false;
}

// To the problem as given: z >= 0, unscaled.
static double read_answer(const newton *s) {
  carom_lcp_work *work = s->call->work;
  for (int i = 0; i < s->n; i++) {
    work->basis[i] = s->z[i] > s->w[i];
    work->z[i] = fmax(s->z[i], 0) * s->lemke->size * s->lemke->matrix.scale[i];
  }
  carom_lcp_evaluate(s->call->problem, work->z, work->w);
  return carom_lcp_min_norm(s->n, work->z, work->w);
}

static carom_lcp_attempt iterate(newton *s, carom_lcp_best *best) {
  const carom_lcp_options *o = &s->call->options;
  int limit = o->max_iterations ? o->max_iterations : STEPS;
  carom_lcp_attempt a = {CAROM_LCP_STALLED, 0, INFINITY};
  double value = merit(s, s->z, s->w);
  for (;; a.iterations++) {
    a.residual = read_answer(s);
    carom_lcp_best_note(best, a.residual);
    if (a.residual <= s->call->tolerance) return a.outcome = CAROM_LCP_SOLVED, a;
    if (!isfinite(a.residual)) return a;
    if (a.iterations >= limit) return a.outcome = CAROM_LCP_LIMIT, a;
    if (carom_clock() > s->call->deadline) return a.outcome = CAROM_LCP_TIME, a;
    linearize(s);
    double slope = find_step(s);
    if (s->call->work->starved || !search_line(s, slope, &value)) return a;
  }
}

carom_lcp_attempt carom_lcp_newton(const carom_lcp_call *call, carom_lcp_method method) {
  carom_lcp_work *work = call->work;
  carom_lcp_lemke *lemke = &work->lemke;
  newton s = {call,           lemke,      method,    call->problem->n, lemke->xc, lemke->xw,      work->phi,
              work->gradient, work->step, lemke->pw, lemke->pc,        lemke->dc, lemke->basis.N, lemke->basis.swaps};
  for (int i = 0; i < s.n; i++) s.z[i] = work->z[i] / (lemke->size * lemke->matrix.scale[i]);
  carom_lcp_best best = carom_lcp_best_begin(call, lemke->z);
  carom_lcp_attempt a = iterate(&s, &best);
  a.residual = carom_lcp_best_recall(&best);
  return a;
}
