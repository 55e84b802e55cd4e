// Dry supports: f = -L V / sqrt(V'L V), an ellipsoid of forces (Goyal, Ruina and Papadopoulos 1991; Howe and Cutkosky
// 1996). With the strain s = sqrt(V'L V) given it is a viscous support, E = L/s; s is found by repeated solves. What
// probes alone push moves the same whatever s is, so that one pass tells it and all forces follow.
//
// Where dry supports push each other, or viscous ones, y = log s is a fixed point y = g(y) that plain passes come to
// slowly (a body that is about to stick) or not at all (two strains in turns, where more speed presses less). So after
// the first passes y goes to where the last ones say that g(y) - y vanishes: a secant in as many directions (Anderson
// 1965, Iterative procedures for nonlinear integral equations, section 4). Bodies that stick have no such y: they
// become slower by the same factor in each pass. What secants did not find is found by half the plain way, pass after
// pass.
#include <math.h>
#include <string.h>

#include "model/row.h"
#include "model/size.h"
#include "step/quasistatic/parts.h"

// Of the strain at the speed of what pushes: below it a support sticks.
static const double STICKS = 1e-9;
// Of the body's size in a step, where nothing is driven.
static const double SLOWEST = 1e-3;
// Over the strain that a body has at the speed of what pushes it: forces that move it faster than that without being
// driven are more than the support can hold.
static const double RUNS_AWAY = 1e6;
enum {
  PLAIN = 2,                        // passes before secants: the first ones find which bodies stick
  SECANTS = 40,                     // passes up to which they are tried
  HALVES = 300,                     // passes up to which half the way is
  DEPTH = CAROM_QUASI_STRAIN_DEPTH  // directions
};
static const double ALIKE = 1e-6;                    // what is left of a direction that others tell already
static const double LONGEST = 3;                     // way of an entry of y that is more than plain
static const double SHARE = 0.5, SMALL_SHARE = 0.1;  // of the plain way, after secants, and after that
static const double CREEPS = 1e-3;  // of the first strain: what becomes slower below it is tried at rest, once

static bool is_dry(const carom_quasi *s, int body) {
  return s->supports[body].kind == CAROM_SUPPORT_DRY && !s->model->bodies[body].fixed;
}

bool carom_quasi_has_dry(const carom_quasi *s) {
  for (int i = 0; i < s->model->body_count; i++)
    if (is_dry(s, i)) return true;
  return false;
}

double carom_quasi_first_strain(const carom_quasi *s, int body, double speed) {
  double size = carom_body_radius(&s->model->bodies[body]);
  if (!(speed > 0)) speed = SLOWEST * (size > 0 ? size : 1) / s->h;
  return speed * sqrt((s->matrix[body][0][0] + s->matrix[body][1][1]) / 2);
}

static double strain_of(const carom_quasi *s, int body) {
  const carom_vec3 *v = &s->found.v[body], *w = &s->found.w[body];
  double V[6] = {v->x, v->y, v->z, w->x, w->y, w->z}, square = 0;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) square += V[i] * s->matrix[body][i][j] * V[j];
  return sqrt(fmax(square, 0));
}

static double driven_speed(const carom_quasi *s) {
  double speed = 0;
  for (int i = 0; i < s->model->body_count; i++)
    if (s->model->bodies[i].fixed) speed = fmax(speed, carom_quasi_speed(s, &s->driven, i));
  return speed;
}

static double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static void add(double *to, double factor, const double *v, int n) {
  for (int i = 0; i < n; i++) to[i] += factor * v[i];
}

static void forget_oldest(carom_quasi_strains *k, int n) {
  size_t kept = sizeof(double) * (size_t)((DEPTH - 1) * n);
  memmove(k->change_off, k->change_off + n, kept);
  memmove(k->change_g, k->change_g + n, kept);
  k->count--;
}

// What changed since the pass before: `off` = g(y) - y, and g(y).
static void note_pass(carom_quasi_strains *k, int pass, const double *off, const double *g, int n) {
  if (pass == 0) k->count = 0;
  if (k->count == DEPTH) forget_oldest(k, n);
  if (pass > 0) {
    int first = k->count++ * n;
    for (int i = 0; i < n; i++) k->change_off[first + i] = off[i] - k->off[i], k->change_g[first + i] = g[i] - k->g[i];
  }
  memcpy(k->off, off, sizeof(double) * (size_t)n);
  memcpy(k->g, g, sizeof(double) * (size_t)n);
}

// Where secants put y, the newest first, each without what newer ones tell.
static void follow_secants(carom_quasi_strains *k, double *y, int n) {
  int found = 0;
  memcpy(y, k->g, sizeof(double) * (size_t)n);
  for (int j = k->count - 1; j >= 0; j--) {
    double *q = k->basis + found * n, *w = k->image + found * n;
    memcpy(q, k->change_off + j * n, sizeof(double) * (size_t)n);
    memcpy(w, k->change_g + j * n, sizeof(double) * (size_t)n);
    double all = sqrt(dot(q, q, n));
    for (int i = 0; i < found; i++) {
      double c = dot(k->basis + i * n, q, n);
      add(q, -c, k->basis + i * n, n), add(w, -c, k->image + i * n, n);
    }
    double left = sqrt(dot(q, q, n));
    if (!(left > ALIKE * all)) continue;
    for (int i = 0; i < n; i++) q[i] /= left, w[i] /= left;
    add(y, -dot(q, k->off, n), w, n);
    found++;
  }
}

static carom_status find_strains(const carom_quasi *s, double *strain, double *off, carom_error *error) {
  double driven = driven_speed(s);
  *off = 0;
  for (int i = 0; i < s->model->body_count; i++) {
    if (!is_dry(s, i)) continue;
    double first = carom_quasi_first_strain(s, i, driven);
    strain[i] = fmax(strain_of(s, i), STICKS * first);
    if (!(strain[i] <= RUNS_AWAY * first))
      return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                        "body '%s' would run away: forces on it are more than its dry support can hold at t = %.9g s; "
                        "make them smaller, the support stronger, or give the body inertia",
                        s->model->bodies[i].name, s->at->time);
    *off = fmax(*off, fabs(strain[i] - s->strain[i]) / strain[i]);
  }
  return CAROM_OK;
}

// The strain that a pass goes on with; the plain one is not rounded.
static double next_strain(carom_quasi *s, int pass, int body) {
  carom_quasi_strains *k = &s->strains;
  double strain = s->strain[body], found = k->found[body], way = k->y[body] - log(strain);
  double first = carom_quasi_first_strain(s, body, driven_speed(s));
  if (pass < PLAIN) return found;
  if (pass < SECANTS) return fabs(way) > LONGEST ? found : strain * exp(way);
  if (found < strain && found < CREEPS * first && !k->rested[body]) {
    k->rested[body] = true;
    return STICKS * first;
  }
  return strain * exp((pass < HALVES ? SHARE : SMALL_SHARE) * k->off[body]);
}

static void take_strains(carom_quasi *s, int pass, bool met) {
  carom_quasi_strains *k = &s->strains;
  int n = s->model->body_count;
  for (int i = 0; i < n; i++) {
    if (pass == 0) k->rested[i] = false;
    k->y[i] = is_dry(s, i) ? log(k->found[i]) : 0;
    k->way[i] = is_dry(s, i) ? log(k->found[i] / s->strain[i]) : 0;
  }
  note_pass(k, pass, k->way, k->y, n);
  if (pass >= PLAIN && pass < SECANTS) follow_secants(k, k->y, n);
  for (int i = 0; i < n; i++) {
    if (!is_dry(s, i)) continue;
    s->strain[i] = met ? k->found[i] : next_strain(s, pass, i);
    carom_quasi_answer(s, i, s->force[i], s->moment[i], &s->free.v[i], &s->free.w[i]);
  }
}

carom_status carom_quasi_strain(carom_quasi *s, int pass, double met, double *off, carom_error *error) {
  carom_status status = find_strains(s, s->strains.found, off, error);
  if (status == CAROM_OK) take_strains(s, pass, *off <= met);
  return status;
}
