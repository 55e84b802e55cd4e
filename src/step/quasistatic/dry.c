// Dry supports: f = -L V / sqrt(V'L V), an ellipsoid of forces (Goyal, Ruina and Papadopoulos 1991; Howe and Cutkosky
// 1996). With the strain s = sqrt(V'L V) given it is a viscous support, E = L/s; s is found by repeated solves. What
// probes alone push moves the same whatever s is, so that one pass tells it and all forces follow.
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

bool carom_quasi_has_dry(const carom_quasi *s) {
  for (int i = 0; i < s->model->body_count; i++)
    if (s->supports[i].kind == CAROM_SUPPORT_DRY && !s->model->bodies[i].fixed) return true;
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

carom_status carom_quasi_strain(carom_quasi *s, double *off, carom_error *error) {
  double driven = driven_speed(s);
  *off = 0;
  for (int i = 0; i < s->model->body_count; i++) {
    if (!carom_body_moves(s->model, i) || s->supports[i].kind != CAROM_SUPPORT_DRY) continue;
    double first = carom_quasi_first_strain(s, i, driven), before = s->strain[i];
    double strain = fmax(strain_of(s, i), STICKS * first);
    if (!(strain <= RUNS_AWAY * first))
      return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                        "body '%s' would run away: forces on it are more than its dry support can hold at t = %.9g s; "
                        "make them smaller, the support stronger, or give the body inertia",
                        s->model->bodies[i].name, s->at->time);
    *off = fmax(*off, fabs(strain - before) / strain);
    s->strain[i] = strain;
    carom_quasi_answer(s, i, s->force[i], s->moment[i], &s->free.v[i], &s->free.w[i]);
  }
  return CAROM_OK;
}
