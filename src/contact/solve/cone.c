// The feasible sets and the one judge of all methods. The natural residual rho |x - P_K(x - w / rho)| is zero exactly
// at solutions, is a velocity, and does not change when a body's mass does.
#include <math.h>

#include "contact/solve/disc.h"
#include "contact/solve/problem.h"

static double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

static void project_contact(const carom_contact_system *s, int c, double step, const double *x, const double *w,
                            double *z) {
  double t = s->rho[c] > 0 ? step / s->rho[c] : 0;
  if (s->options.cone == CAROM_CONTACT_GENERATORS) {
    for (int k = 0; k < s->width; k++) z[k] = t > 0 ? fmax(0, x[k] - t * w[k]) : 0;
    return;
  }
  const carom_contact_point *contact = &s->problem.contacts[c];
  carom_vec3 f = cm_vec3(x[0] - t * w[0], x[1] - t * w[1], x[2] - t * w[2]);
  f = t > 0 ? carom_contact_project_circular(f, contact->normal, contact->friction) : cm_zero3();
  z[0] = f.x, z[1] = f.y, z[2] = f.z;
}

static double project_row(const carom_contact_system *s, int row, double step, double x, double w) {
  double rho = s->rho[s->problem.contact_count + row];
  const carom_contact_row *R = &s->problem.rows[row];
  return rho > 0 ? clamp(x - step * w / rho, R->lower, R->upper) : 0;
}

void carom_contact_project(const carom_contact_system *s, double length, const carom_contact_step *step, int first,
                           int last) {
  int contacts = s->problem.contact_count;
  for (int i = first; i < last; i++) {
    size_t k = carom_contact_offset(s, i);
    if (i < contacts)
      project_contact(s, i, length, step->x + k, step->w + k, step->z + k);
    else
      step->z[k] = project_row(s, i - contacts, length, step->x[k], step->w[k]);
  }
}

// Where y = x - w / rho is not moved by the projection, x - y would lose w to the round-off of a large x.
static double circular_residual(const carom_contact_point *c, double rho, const double *x, const double *w) {
  carom_vec3 f = cm_vec3(x[0], x[1], x[2]), u = cm_vec3(w[0], w[1], w[2]), y = cm_axpy(f, -1 / rho, u);
  double n = cm_dot(y, c->normal), t = cm_norm(cm_axpy(y, -n, c->normal));
  if (t <= c->friction * n) return cm_norm(u);
  return rho * cm_norm(cm_sub(f, carom_contact_project_circular(y, c->normal, c->friction)));
}

// What solving the normal alone, and then the tangents alone under the normal impulse there is, would change. A NaN
// comes through.
static double coulomb_residual(const carom_contact_problem *p, const carom_contact_point *c, const double *x,
                               const double *w) {
  carom_vec3 f = cm_vec3(x[0], x[1], x[2]), u = cm_vec3(w[0], w[1], w[2]);
  double fn = cm_dot(f, c->normal), un = cm_dot(u, c->normal);
  if (!(fn > 0)) return un >= 0 ? 0 : fabs(un);
  carom_contact_local k = carom_contact_local_of(p, c);
  double worst = fabs(fn * k.nn < un ? fn * k.nn : un);
  if (c->friction == 0) return worst;
  carom_vec3 g = carom_contact_to_axes(&k, f), v = carom_contact_to_axes(&k, u);
  double slip[2] = {v.y - k.tt[0] * g.y, v.z - k.tt[1] * g.z}, t[2];
  carom_disc_minimum_in_axes(k.tt, slip, c->friction * fn, t);
  double e = fmax(fabs(t[0] - g.y) * k.tt[0], fabs(t[1] - g.z) * k.tt[1]);
  return e > worst ? e : worst;
}

static double contact_residual(const carom_contact_system *s, int c, const double *x, const double *w) {
  double rho = s->rho[c], sum = 0;
  if (!(rho > 0)) return 0;
  if (s->options.law == CAROM_CONTACT_COULOMB) return coulomb_residual(&s->problem, &s->problem.contacts[c], x, w);
  if (s->options.cone == CAROM_CONTACT_CIRCULAR) return circular_residual(&s->problem.contacts[c], rho, x, w);
  for (int k = 0; k < s->width; k++) {
    double e = fmin(rho * x[k], w[k]);
    sum += e * e;
  }
  return sqrt(sum);
}

static double row_residual(const carom_contact_system *s, int row, double x, double w) {
  double rho = s->rho[s->problem.contact_count + row], y = rho > 0 ? x - w / rho : 0;
  const carom_contact_row *R = &s->problem.rows[row];
  if (!(rho > 0)) return 0;
  return y < R->lower ? rho * (x - R->lower) : y > R->upper ? rho * (R->upper - x) : fabs(w);
}

double carom_contact_residual_range(const carom_contact_system *s, const double *x, const double *w, int first,
                                    int last) {
  int contacts = s->problem.contact_count;
  double worst = 0;
  for (int i = first; i < last; i++) {
    size_t k = carom_contact_offset(s, i);
    double e = i < contacts ? contact_residual(s, i, x + k, w + k) : row_residual(s, i - contacts, x[k], w[k]);
    if (!(e <= worst)) worst = e;
  }
  return worst;
}

typedef struct judged {
  const carom_contact_system *s;
  const double *x, *w;
} judged;

static void residual_pass(void *context, int first, int last, carom_contact_totals *totals) {
  const judged *j = context;
  totals->max = carom_contact_residual_range(j->s, j->x, j->w, first, last);
}

double carom_contact_residual_of(const carom_contact_system *s, const double *x, const double *w) {
  judged j = {s, x, w};
  return carom_contact_run_pass(s, residual_pass, &j).max;
}

// ---- infeasibility, objectives, gap -----------------------------------------------------------

// The least shift of a contact's normal row that puts w into the dual cone, and gamma . (w + shift n).
static double contact_shift(const carom_contact_system *s, int c, const double *x, const double *w, double *gap) {
  const carom_contact_point *contact = &s->problem.contacts[c];
  double mu = contact->friction, shift = 0;
  *gap = 0;
  if (s->options.cone == CAROM_CONTACT_CIRCULAR) {
    carom_vec3 f = cm_vec3(x[0], x[1], x[2]), u = cm_vec3(w[0], w[1], w[2]);
    double un = cm_dot(u, contact->normal);
    if (s->options.law == CAROM_CONTACT_COULOMB) {
      shift = fmax(0, -un);
      *gap = cm_dot(f, contact->normal) * (un + shift);
      return shift;
    }
    shift = fmax(0, mu * cm_norm(cm_axpy(u, -un, contact->normal)) - un);  // K*: w_n >= mu |w_t|
    *gap = cm_dot(f, cm_axpy(u, shift, contact->normal));
    return shift;
  }
  double unit = sqrt(1 + mu * mu);
  for (int k = 0; k < s->width; k++) shift = fmax(shift, -w[k] * unit);
  for (int k = 0; k < s->width; k++) *gap += x[k] * (w[k] + shift / unit);
  return shift;
}

// A row's multiplier in [l, u] adds max(-l w, -u w) to the primal objective; an infinite bound asks for w = 0 on its
// side.
static double row_shift(const carom_contact_row *row, double x, double w, double *gap, double *support) {
  double bound = w > 0 ? row->lower : row->upper;
  *support = *gap = 0;
  if (isinf(bound)) return fabs(w);
  *support = w == 0 ? 0 : -bound * w;
  *gap = x * w + *support;
  return 0;
}

// sums: x'(w - r), x'r, gap, support; maximum: shift
static void gap_pass(void *context, int first, int last, carom_contact_totals *totals) {
  const judged *j = context;
  const carom_contact_system *s = j->s;
  int contacts = s->problem.contact_count;
  for (int i = first; i < last; i++) {
    int count = i < contacts ? s->width : 1;
    size_t k = carom_contact_offset(s, i);
    if (!(s->rho[i] > 0)) continue;
    double gap, support = 0;
    double shift = i < contacts ? contact_shift(s, i, j->x + k, j->w + k, &gap)
                                : row_shift(&s->problem.rows[i - contacts], j->x[k], j->w[k], &gap, &support);
    totals->sum[2] += gap;
    totals->sum[3] += support;
    if (!(shift <= totals->max)) totals->max = shift;
    for (int q = 0; q < count; q++) {
      totals->sum[0] += j->x[k + (size_t)q] * (j->w[k + (size_t)q] - s->r[k + (size_t)q]);
      totals->sum[1] += j->x[k + (size_t)q] * s->r[k + (size_t)q];
    }
  }
}

void carom_contact_judge(const carom_contact_system *s, const double *x, const double *w, carom_contact_info *info) {
  judged j = {s, x, w};
  info->residual = carom_contact_residual_of(s, x, w);
  carom_contact_totals t = carom_contact_run_pass(s, gap_pass, &j);
  info->infeasibility = t.max;
  info->gap = fmax(0, t.sum[2]);
  if (s->options.law == CAROM_CONTACT_COULOMB) return;  // solves no program
  info->primal = t.sum[0] / 2 + t.sum[3];
  info->dual = -t.sum[0] / 2 - t.sum[1];
  double size = fmax(fabs(info->primal), fabs(info->dual));
  info->relative_gap = size > 0 ? info->gap / size : 0;
}

bool carom_contact_good_enough(const carom_contact_system *s, const carom_contact_info *info) {
  double most = s->options.tolerance * s->scale;
  return info->residual <= most && (s->options.gap_tolerance == 0 || info->relative_gap <= s->options.gap_tolerance);
}

bool carom_contact_done(const carom_contact_system *s, const double *x, const double *w, double residual,
                        carom_contact_info *info) {
  if (!(residual <= s->options.tolerance * s->scale)) return false;
  if (s->options.gap_tolerance == 0) return true;
  carom_contact_judge(s, x, w, info);
  return carom_contact_good_enough(s, info);
}

void carom_contact_refresh(carom_contact_system *s, carom_contact_info *info) {
  carom_contact_apply(s, s->x, s->w);
  for (int i = 0; i < s->n; i++) s->w[i] += s->r[i];
  carom_contact_judge(s, s->x, s->w, info);
  s->fresh = true;
}
