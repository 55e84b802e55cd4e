// A smooth gap between sets of points (avoid_gap.h). All that is asked of the corners are their moments under the
// weights pi_i = exp(-y_i / eps) / sum: of order zero, one and two, set by set.
#include "control/avoid_gap.h"

#include <string.h>

#include "control/rotation.h"

enum { SET = 7, MOST_STEPS = 30 };

// ---- the sets at one configuration ---------------------------------------------------------------------------------

typedef struct place {
  carom_vec3 x, column[3];  // R v = column[0] v.x + ...; R need not be orthogonal
} place;

typedef struct moments {
  double mass;
  carom_vec3 first;
  double second[3][3];
} moments;

typedef struct view {
  const carom_smooth_gap *gap;
  const double *z;  // (SET each) where the sets are
  place places[CAROM_GAP_SETS];
  moments m[CAROM_GAP_SETS];
  carom_vec3 mean[2];  // of the points of either side
  double eps;
} view;

static carom_vec3 combine(const carom_vec3 c[3], carom_vec3 v) {
  return cm_axpy(cm_axpy(cm_scale(v.x, c[0]), v.y, c[1]), v.z, c[2]);
}

static view look(const carom_smooth_gap *gap, const double *z, double eps) {
  view w = {.gap = gap, .z = z, .eps = eps};
  carom_vec3 unused[4];
  for (int s = 0; s < gap->set_count; s++) {
    const double *at = z + SET * s;
    w.places[s].x = cm_vec3(at[0], at[1], at[2]);
    for (int i = 0; i < 3; i++) w.places[s].column[i] = carom_rotated(at + 3, carom_axis_vector(i), unused);
  }
  return w;
}

static int side_of(const carom_gap_set *set) { return set->sign > 0 ? 0 : 1; }

// y = sign alpha . (x + R v) of one set: a constant and a covector on v.
static double on_points(const view *w, int s, carom_vec3 alpha, carom_vec3 *covector) {
  const place *p = &w->places[s];
  double sign = w->gap->sets[s].sign;
  *covector =
      cm_scale(sign, cm_vec3(cm_dot(alpha, p->column[0]), cm_dot(alpha, p->column[1]), cm_dot(alpha, p->column[2])));
  return sign * cm_dot(alpha, p->x);
}

static double least(const view *w, int side, carom_vec3 alpha) {
  double low = INFINITY;
  for (int s = 0; s < w->gap->set_count; s++) {
    const carom_gap_set *set = &w->gap->sets[s];
    carom_vec3 covector;
    if (side_of(set) != side) continue;
    double base = on_points(w, s, alpha, &covector);
    for (int i = 0; i < set->count; i++) low = fmin(low, base + cm_dot(covector, set->points[i]));
  }
  return low;
}

static void add_moments(moments *m, double weight, carom_vec3 v) {
  double c[3] = {v.x, v.y, v.z};
  m->mass += weight;
  m->first = cm_axpy(m->first, weight, v);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j <= i; j++) m->second[i][j] += weight * c[i] * c[j];
}

static void scale_moments(moments *m, double factor) {
  m->mass *= factor;
  m->first = cm_scale(factor, m->first);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j <= i; j++) m->second[j][i] = m->second[i][j] *= factor;
}

// Fills the moments of one side; its part of psi.
static double weigh(view *w, int side, carom_vec3 alpha) {
  double low = least(w, side, alpha), sum = 0;
  carom_vec3 mean = cm_zero3();
  for (int s = 0; s < w->gap->set_count; s++) {
    const carom_gap_set *set = &w->gap->sets[s];
    carom_vec3 covector;
    if (side_of(set) != side) continue;
    double base = on_points(w, s, alpha, &covector) - low;
    w->m[s] = (moments){0};
    for (int i = 0; i < set->count; i++)
      add_moments(&w->m[s], exp(-(base + cm_dot(covector, set->points[i])) / w->eps), set->points[i]);
    sum += w->m[s].mass;
  }
  for (int s = 0; s < w->gap->set_count; s++) {
    if (side_of(&w->gap->sets[s]) != side) continue;
    scale_moments(&w->m[s], 1 / sum);
    mean = cm_add(mean, cm_axpy(combine(w->places[s].column, w->m[s].first), w->m[s].mass, w->places[s].x));
  }
  w->mean[side] = mean;
  return low - w->eps * log(sum);
}

// ---- the best plane ------------------------------------------------------------------------------------------------

static double psi_at(view *w, carom_vec3 alpha) { return weigh(w, 0, alpha) + weigh(w, 1, alpha) - w->gap->rho; }

// R (second moment) R' along two directions: sum of pi (a . p)(b . p).
static double along(const view *w, int s, carom_vec3 a, carom_vec3 b) {
  const place *p = &w->places[s];
  const moments *m = &w->m[s];
  double ca[3], cb[3], first_a = 0, first_b = 0, sum = 0;
  double first[3] = {m->first.x, m->first.y, m->first.z};
  for (int i = 0; i < 3; i++) ca[i] = cm_dot(a, p->column[i]), cb[i] = cm_dot(b, p->column[i]);
  for (int i = 0; i < 3; i++) {
    first_a += ca[i] * first[i], first_b += cb[i] * first[i];
    for (int j = 0; j < 3; j++) sum += ca[i] * m->second[i][j] * cb[j];
  }
  double xa = cm_dot(a, p->x), xb = cm_dot(b, p->x);
  return m->mass * xa * xb + xa * first_b + xb * first_a + sum;
}

// On the sphere about alpha, in two directions t normal to it.
typedef struct slope {
  carom_vec3 t[2];
  double g[2];
  double h[3];  // 00, 01, 11
} slope;

// At the weights of the last psi_at: g = t . (difference of the means), h = -t' Cov t / eps - (alpha . difference) I,
// the latter for the curvature of the sphere.
static slope slope_at(const view *w, carom_vec3 alpha) {
  slope d;
  carom_vec3 apart = cm_sub(w->mean[0], w->mean[1]);
  cm_frame(alpha, &d.t[0], &d.t[1]);
  for (int i = 0; i < 2; i++) d.g[i] = cm_dot(d.t[i], apart);
  for (int k = 0; k < 3; k++) {
    carom_vec3 a = d.t[k == 2], b = d.t[k > 0];
    double spread = 0;
    for (int s = 0; s < w->gap->set_count; s++) spread += along(w, s, a, b);
    for (int i = 0; i < 2; i++) spread -= cm_dot(a, w->mean[i]) * cm_dot(b, w->mean[i]);
    d.h[k] = -spread / w->eps - (k == 1 ? 0 : cm_dot(alpha, apart));
  }
  return d;
}

// Shifts h until it is negative definite: beside a maximum it is, and the shift nothing.
static void bend_down(slope *d, double least_bend) {
  double mean = 0.5 * (d->h[0] + d->h[2]), half = 0.5 * (d->h[0] - d->h[2]);
  double top = mean + sqrt(half * half + d->h[1] * d->h[1]);  // the larger eigenvalue
  if (top < -least_bend) return;
  d->h[0] -= top + least_bend, d->h[2] -= top + least_bend;
}

static void newton_step(const slope *d, double step[2]) {
  double det = d->h[0] * d->h[2] - d->h[1] * d->h[1];
  step[0] = -(d->h[2] * d->g[0] - d->h[1] * d->g[1]) / det;
  step[1] = -(d->h[0] * d->g[1] - d->h[1] * d->g[0]) / det;
  double length = hypot(step[0], step[1]), limit = 0.5;
  if (length > limit) step[0] *= limit / length, step[1] *= limit / length;
}

static carom_vec3 turned(carom_vec3 alpha, const slope *d, double a, double b) {
  return cm_unit(cm_axpy(cm_axpy(alpha, a, d->t[0]), b, d->t[1]));
}

// Newton's method with halving. True once steps no longer matter.
static bool climb(view *w, carom_vec3 *alpha, double *value) {
  *value = psi_at(w, *alpha);
  for (int i = 0; i < MOST_STEPS; i++) {
    slope d = slope_at(w, *alpha);
    double step[2], t = 1, now = *value;
    bend_down(&d, 1e-3 * w->eps);
    newton_step(&d, step);
    double rise = d.g[0] * step[0] + d.g[1] * step[1];
    // Beyond this, rises drown in the rounding of psi: what is left is for Newton's method alone.
    bool last = hypot(step[0], step[1]) < 1e-9 || rise < 1e-12 * w->eps, better = last;
    carom_vec3 next = *alpha;
    for (int halving = 0; halving < 20 && (halving == 0 || !better); halving++, t *= 0.5) {
      next = turned(*alpha, &d, t * step[0], t * step[1]);
      *value = psi_at(w, next);
      better = better || *value >= now + 0.1 * t * rise;
    }
    *alpha = next;
    if (last || !better) return last;
  }
  return false;
}

// From blunt to sharp when the last place is no good start.
static bool climb_from_afar(view *w, carom_vec3 *alpha, double *value) {
  double eps = w->eps, largest = 0;
  for (int s = 0; s < w->gap->set_count; s++)
    for (int i = 0; i < w->gap->sets[s].count; i++) largest = fmax(largest, cm_norm(w->gap->sets[s].points[i]));
  for (w->eps = fmax(0.1 * largest, eps); w->eps > eps; w->eps *= 0.25) climb(w, alpha, value);
  w->eps = eps;
  return climb(w, alpha, value);
}

static bool find_plane(carom_smooth_gap *gap, view *w, double *value) {
  carom_vec3 alpha = gap->alpha;
  bool found = climb(w, &alpha, value);
  if (!found) found = climb_from_afar(w, &alpha, value);
  gap->alpha = alpha;
  return found;
}

// ---- derivatives ---------------------------------------------------------------------------------------------------

// Of one set, with y = sign alpha . (x + R(q) v): dy = D (1, v), D 7 x 4.
typedef struct set_slope {
  carom_vec3 alpha;    // sign alpha: the rows of x act on the mass alone
  carom_vec3 turn[4];  // row j of q acts on v: sign alpha . dR/dq_j v
} set_slope;

static set_slope slope_of(double sign, carom_vec3 alpha, const double *q) {
  set_slope d = {.alpha = cm_scale(sign, alpha)};
  carom_vec3 g[3][4];
  for (int i = 0; i < 3; i++) carom_rotated(q, carom_axis_vector(i), g[i]);
  for (int j = 0; j < 4; j++)
    d.turn[j] = cm_scale(sign, cm_vec3(cm_dot(alpha, g[0][j]), cm_dot(alpha, g[1][j]), cm_dot(alpha, g[2][j])));
  return d;
}

static void set_gradient(const set_slope *d, const moments *m, double *g) {
  g[0] = m->mass * d->alpha.x, g[1] = m->mass * d->alpha.y, g[2] = m->mass * d->alpha.z;
  for (int j = 0; j < 4; j++) g[3 + j] = cm_dot(d->turn[j], m->first);
}

static carom_vec3 times_second(const moments *m, carom_vec3 a) {
  return cm_vec3(m->second[0][0] * a.x + m->second[0][1] * a.y + m->second[0][2] * a.z,
                 m->second[1][0] * a.x + m->second[1][1] * a.y + m->second[1][2] * a.z,
                 m->second[2][0] * a.x + m->second[2][1] * a.y + m->second[2][2] * a.z);
}

// sum of pi (dy)(dy)' over one set, times `factor`, onto the lower triangle.
static void add_spread(const set_slope *d, const moments *m, double factor, double *H, int n, int at) {
  double a[3] = {d->alpha.x, d->alpha.y, d->alpha.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j <= i; j++) H[(at + i) * n + at + j] += factor * m->mass * a[i] * a[j];
  for (int i = 0; i < 4; i++) {
    double *row = H + (at + 3 + i) * n + at, first = cm_dot(d->turn[i], m->first);
    carom_vec3 s = times_second(m, d->turn[i]);
    for (int j = 0; j < 3; j++) row[j] += factor * first * a[j];
    for (int j = 0; j <= i; j++) row[3 + j] += factor * cm_dot(d->turn[j], s);
  }
}

// d/dz of d psi/du_k = sign t_k . (mean of the side): what moves the mean, and what shifts the weights.
static void mixed_row(const view *w, int s, const set_slope *d, carom_vec3 t, const double *g, double *row) {
  double g_side = cm_dot(t, w->mean[side_of(&w->gap->sets[s])]);
  const moments *m = &w->m[s];
  const place *p = &w->places[s];
  double sign = w->gap->sets[s].sign, tx = cm_dot(t, p->x);
  carom_vec3 c = cm_vec3(cm_dot(t, p->column[0]), cm_dot(t, p->column[1]), cm_dot(t, p->column[2])), dv[4];
  carom_rotated(w->z + SET * s + 3, m->first, dv);
  double mean = tx * m->mass + cm_dot(c, m->first);  // sum of pi t . p over the set
  carom_vec3 second = cm_axpy(times_second(m, c), tx, m->first);
  double tj[3] = {t.x, t.y, t.z}, aj[3] = {d->alpha.x, d->alpha.y, d->alpha.z};
  for (int j = 0; j < 3; j++) row[j] = sign * (m->mass * tj[j] - (mean * aj[j] - g_side * g[j]) / w->eps);
  for (int j = 0; j < 4; j++)
    row[3 + j] = sign * (cm_dot(t, dv[j]) - (cm_dot(d->turn[j], second) - g_side * g[3 + j]) / w->eps);
}

// psi_zz - psi_zu psi_uu^-1 psi_uz.
static void second_derivative(const view *w, carom_vec3 alpha, const set_slope *d, const double *g, double *H) {
  const carom_smooth_gap *gap = w->gap;
  int n = SET * gap->set_count;
  double mixed[2][CAROM_GAP_VARIABLES];
  slope u = slope_at(w, alpha);
  memset(H, 0, (size_t)(n * n) * sizeof *H);
  for (int s = 0; s < gap->set_count; s++) {
    const carom_gap_set *set = &gap->sets[s];
    add_spread(&d[s], &w->m[s], -1 / w->eps, H, n, SET * s);
    carom_rotated_hessian(w->m[s].first, cm_scale(set->sign, alpha), H, n, SET * s + 3);
    for (int k = 0; k < 2; k++) mixed_row(w, s, &d[s], u.t[k], g + SET * s, mixed[k] + SET * s);
    for (int r = 0; r <= s; r++) {  // the weights of a side shift together
      if (side_of(set) != side_of(&gap->sets[r])) continue;
      for (int i = SET * s; i < SET * (s + 1); i++)
        for (int j = SET * r; j < SET * (r + 1) && j <= i; j++) H[i * n + j] += g[i] * g[j] / w->eps;
    }
  }
  bend_down(&u, 1e-3 * w->eps);
  double det = u.h[0] * u.h[2] - u.h[1] * u.h[1], inverse[3] = {u.h[2] / det, -u.h[1] / det, u.h[0] / det};
  for (int i = 0; i < n; i++) {
    double a = inverse[0] * mixed[0][i] + inverse[1] * mixed[1][i];
    double b = inverse[1] * mixed[0][i] + inverse[2] * mixed[1][i];
    for (int j = 0; j <= i; j++) H[i * n + j] -= a * mixed[0][j] + b * mixed[1][j];
  }
}

bool carom_smooth_gap_evaluate(carom_smooth_gap *gap, const double *z, double *value, double *gradient,
                               double *hessian) {
  view w = look(gap, z, gap->eps);
  if (!find_plane(gap, &w, value)) return false;
  if (!gradient && !hessian) return true;
  carom_vec3 alpha = gap->alpha;
  set_slope d[CAROM_GAP_SETS];
  double g[CAROM_GAP_VARIABLES];
  for (int s = 0; s < gap->set_count; s++) {
    d[s] = slope_of(gap->sets[s].sign, alpha, z + SET * s + 3);
    set_gradient(&d[s], &w.m[s], g + SET * s);
  }
  if (gradient) memcpy(gradient, g, (size_t)(SET * gap->set_count) * sizeof *g);
  if (hessian) second_derivative(&w, alpha, d, g, hessian);
  return true;
}

void carom_smooth_gap_plane(carom_smooth_gap *gap, const double *z, double plane[4]) {
  view w = look(gap, z, gap->eps);
  double value;
  find_plane(gap, &w, &value);
  plane[0] = gap->alpha.x, plane[1] = gap->alpha.y, plane[2] = gap->alpha.z;
  plane[3] = 0.5 * (least(&w, 0, gap->alpha) - least(&w, 1, gap->alpha));
}
