// The variational midpoint rule (Johnson 2012, eq. 3.4 with gamma = 1/2). With m = (q + q+)/2 its discrete
// Euler-Lagrange equations in momentum form are
//
//     4/h^2 M (m - q - h/2 v) = f(m, 2 (m - q)/h),   v+ = v + h M^-1 f,   q+ = q + h/2 (v + v+),
//
// so that total forces and torques of zero at m keep both momenta, whatever the solve left.
#include <string.h>

#include "solid/stepper.h"

static void prepare(carom_elastic_stepper *s, const carom_elastic_loads *loads, double h,
                    const carom_elastic_state *state) {
  for (int i = 0; i < state->node_count; i++) {
    s->x1[i] = s->middle[i] = state->x[i], s->v1[i] = state->v[i];
    s->target[i] = cm_axpy(state->x[i], 0.5 * h, state->v[i]);
  }
  for (int k = 0; k < loads->pin_count; k++) {
    int i = loads->pins[k];
    carom_vec3 x = state->x[i], v;
    carom_solid_pin(loads, state->t + h, k, &x, &v);
    s->target[i] = cm_lerp(state->x[i], x, 0.5);
  }
}

// The forces at the middle, in s->f, without inertia; those of the solid itself in s->own.
static carom_status find_forces(carom_elastic_stepper *s, const carom_solid_newton *n, double *power) {
  carom_elastic *e = s->elastic;
  carom_solid_evaluate(e, s->middle, s->rate, true);
  carom_solid_gather(e, s->f);
  memcpy(s->own, s->f, (size_t)e->node_count * sizeof *s->f);
  *power = carom_solid_power(e);
  return carom_solid_add_loads(e, &n->at, s->middle, s->rate, s->f, s->extra, NULL);
}

static void advance(carom_elastic_stepper *s, const carom_elastic_loads *loads, double h, carom_elastic_state *state) {
  for (int i = 0; i < state->node_count; i++) {
    state->a[i] = cm_scale(1 / s->elastic->mass[i], s->f[i]);
    state->v[i] = cm_axpy(s->v1[i], h, state->a[i]);
    state->x[i] = cm_axpy(s->x1[i], 0.5 * h, cm_add(s->v1[i], state->v[i]));
  }
  for (int k = 0; k < loads->pin_count; k++) {
    int i = loads->pins[k];
    state->x[i] = s->x1[i];
    carom_solid_pin(loads, state->t + h, k, &state->x[i], &state->v[i]);
  }
  state->t += h;
  state->a_known = false;  // those are of the middle
}

static void book(carom_elastic_stepper *s, const carom_elastic_loads *loads, double h, const carom_elastic_state *state,
                 carom_elastic_report *r) {
  const carom_elastic *e = s->elastic;
  const carom_vec3 *d = s->direction;
  carom_solid_works works = carom_solid_work(e, loads, s->middle, d);
  r->gravity_work += works.gravity, r->pressure_work += works.pressure, r->force_work += works.force;
  if (loads->extra) r->extra_work += carom_solid_dot(e->node_count, s->extra, d);
  for (int k = 0; k < loads->pin_count; k++) {
    int i = loads->pins[k];
    carom_vec3 change = cm_scale(e->mass[i], cm_sub(state->v[i], s->v1[i]));
    carom_vec3 turned = cm_sub(cm_cross(state->x[i], state->v[i]), cm_cross(s->x1[i], s->v1[i]));
    carom_vec3 moment = cm_axpy(cm_scale(e->mass[i], turned), -h, cm_cross(s->middle[i], s->f[i]));
    carom_solid_book_pin(r, cm_axpy(change, -h, s->f[i]), moment);
    r->pin_work += 0.5 * cm_dot(change, cm_add(state->v[i], s->v1[i])) - cm_dot(s->f[i], d[i]);
  }
  carom_solid_moment at = {.loads = loads, .share = 1};
  carom_solid_book_loads(e, &at, h, s->middle, s->extra, r);
}

static void note_least(carom_elastic_report *r, double J, int tet) {
  if (J < r->least_J) r->least_J = J, r->least_tet = tet;
}

carom_solid_failure carom_solid_midpoint(carom_elastic_stepper *s, const carom_elastic_loads *loads, double h,
                                         carom_elastic_state *state, carom_elastic_report *report) {
  double power;
  carom_solid_newton n = {.s = s,
                          .at = {.loads = loads, .t = state->t + 0.5 * h, .share = 1},
                          .inertia = 4 / (h * h),
                          .before = s->x1,
                          .h = h};
  carom_solid_balance balance = {.stored_before = carom_solid_evaluate(s->elastic, state->x, NULL, false).energy};
  prepare(s, loads, h, state);
  carom_solid_failure failure = carom_solid_newton_solve(&n);
  if (failure.kind || failure.stopped) return failure;
  failure.stopped = find_forces(s, &n, &power);
  if (failure.stopped) return failure;
  advance(s, loads, h, state);
  for (int i = 0; i < state->node_count; i++) {
    s->direction[i] = cm_sub(state->x[i], s->x1[i]);
    balance.way = fmax(balance.way, cm_norm(s->direction[i]));
  }
  carom_solid_sum end = carom_solid_evaluate(s->elastic, state->x, NULL, false);
  balance.work = carom_solid_dot(state->node_count, s->own, s->direction);
  balance.stored = end.energy, balance.dissipated = h * power;
  if (!carom_solid_sound(s->elastic, &end))
    failure.kind = CAROM_SOLID_INVERTED;
  else if (!carom_solid_plausible(s, &balance))
    failure.kind = CAROM_SOLID_ASTRAY;
  failure.tet = end.least_tet, failure.J = end.least_J;
  if (failure.kind) return failure;
  if (!report) return failure;
  report->iterations += n.iterations;
  report->residual = fmax(report->residual, n.residual);
  report->dissipated += h * power;
  note_least(report, n.least_J, n.least_tet);
  note_least(report, end.least_J, end.least_tet);
  book(s, loads, h, state, report);
  return failure;
}
