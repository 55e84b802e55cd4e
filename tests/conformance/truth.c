// What truths are written with.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

double parameter(const cell *c, const char *name) {
  size_t length = strlen(name);
  for (const char *p = c->scene->parameters; p; p = strchr(p, ' ')) {
    while (*p == ' ') p++;
    if (strncmp(p, name, length) == 0 && p[length] == '=') return strtod(p + length + 1, NULL);
  }
  fprintf(stderr, "%s has no parameter '%s'\n", c->scene->name, name);
  exit(2);
}

int body(const cell *c, const char *name) {
  int index = carom_model_find_body(c->track->model, name);
  if (index >= 0) return index;
  fprintf(stderr, "%s has no body '%s'\n", c->scene->name, name);
  exit(2);
}

int frame_at(const cell *c, double time) {
  long frame = lround(time / c->h);
  return frame < 0 ? 0 : frame >= c->track->frames ? c->track->frames - 1 : (int)frame;
}

double duration(const cell *c) { return (c->track->frames - 1) * c->h; }

const track_point *point_at(const cell *c, const char *name, double time) {
  return track_at(c->track, frame_at(c, time), body(c, name));
}

carom_pose pose_at(const cell *c, const char *name, double time) {
  const track_point *p = point_at(c, name, time);
  return cm_compose(cm_pose(p->x, p->q), c->track->model->bodies[body(c, name)].frame);
}

static double angle_between(carom_quat a, carom_quat b) {
  carom_quat d = cm_qmul(a, cm_qconj(b));
  return 2 * atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), fabs(d.w));
}

double tilt_at(const cell *c, const char *name, double time) {
  return angle_between(point_at(c, name, time)->q, point_at(c, name, 0)->q);
}

double drift(const cell *c, double acceleration, double time, double rate) {
  double h = c->h;
  return c->accuracy.order == 1 ? acceleration * h * time * (1 + rate * time)
                                : acceleration * h * h * (rate * time) * (1 + rate * time);
}

static void note(cell *c, double ratio, const char *text) {
  c->claims++;
  if (!(ratio <= 1)) c->broken = true;
  if (isfinite(ratio) && ratio <= c->worst) return;
  c->worst = isfinite(ratio) ? ratio : INFINITY;
  snprintf(c->claim, sizeof c->claim, "%s", text);
}

void expect(cell *c, const char *what, double value, double truth, double tolerance) {
  char text[CONFORMANCE_TEXT];
  snprintf(text, sizeof text, "%s is %.9g, truth %.9g within %.2g", what, value, truth, tolerance);
  note(c, fabs(value - truth) / tolerance, text);
}

void expect_vector(cell *c, const char *what, carom_vec3 v, carom_vec3 t, double tolerance) {
  char text[CONFORMANCE_TEXT];
  snprintf(text, sizeof text, "%s is (%.7g, %.7g, %.7g), truth (%.7g, %.7g, %.7g) within %.2g", what, v.x, v.y, v.z,
           t.x, t.y, t.z, tolerance);
  note(c, cm_norm(cm_sub(v, t)) / tolerance, text);
}

void expect_at_most(cell *c, const char *what, double value, double bound) {
  char text[CONFORMANCE_TEXT];
  snprintf(text, sizeof text, "%s is %.4g, at most %.4g", what, value, bound);
  note(c, value <= 0 ? 0 : value / bound, text);
}

void expect_rest(cell *c, double tolerance) {
  const carom_model *m = c->track->model;
  for (int i = 0; i < m->body_count; i++) {
    if (m->bodies[i].fixed) continue;
    char what[120];
    for (int k = 1; k <= 4; k++) {
      int f = k * (c->track->frames - 1) / 4;
      const track_point *p = track_at(c->track, f, i), *start = track_at(c->track, 0, i);
      snprintf(what, sizeof what, "way of '%s' by t = %.3g s, m", m->bodies[i].name, f * c->h);
      expect_at_most(c, what, cm_norm(cm_sub(p->x, start->x)), tolerance);
      snprintf(what, sizeof what, "turn of '%s' by t = %.3g s, rad", m->bodies[i].name, f * c->h);
      expect_at_most(c, what, angle_between(p->q, start->q), tolerance / m->bodies[i].bounding_radius);
    }
  }
}

// ---- mathematics --------------------------------------------------------------------------------------------------

enum { MOST_STATES = 16, FINE_STEPS = 20000 };

static void one_step(rates *f, const double *p, int n, double h, double *y) {
  double k[4][MOST_STATES], z[MOST_STATES];
  static const double at[4] = {0, 0.5, 0.5, 1};
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < n; i++) z[i] = y[i] + (s ? at[s] * h * k[s - 1][i] : 0);
    f(z, p, k[s]);
  }
  for (int i = 0; i < n; i++) y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

void integrate(rates *f, const double *parameters, int n, double time, double *y) {
  for (int i = 0; i < FINE_STEPS; i++) one_step(f, parameters, n, time / FINE_STEPS, y);
}

double complete_elliptic(double k) {
  double a = 1, b = sqrt(1 - k * k);
  for (int i = 0; i < 60 && fabs(a - b) > 1e-16 * a; i++) {
    double mean = 0.5 * (a + b);
    b = sqrt(a * b), a = mean;
  }
  return 2 * atan(1) / a;
}

// By descending Landen transformations (Abramowitz and Stegun 1964, 16.4).
void jacobi(double u, double k, double *sn, double *cn, double *dn) {
  double a[20] = {1}, c[20] = {k}, b = sqrt(1 - k * k);
  int n = 0;
  while (fabs(c[n]) > 1e-16 && n < 18) {
    a[n + 1] = 0.5 * (a[n] + b), c[n + 1] = 0.5 * (a[n] - b), b = sqrt(a[n] * b);
    n++;
  }
  double phi = ldexp(a[n] * u, n), last = phi;
  for (; n > 0; n--) last = phi, phi = 0.5 * (phi + asin(c[n] / a[n] * sin(phi)));
  *sn = sin(phi), *cn = cos(phi);
  *dn = fabs(cos(last - phi)) > 1e-8 ? *cn / cos(last - phi) : sqrt(1 - k * k * *sn * *sn);
}
