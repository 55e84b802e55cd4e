// Newmark's method with beta = 0 and gamma = 1/2 (Johnson 2012, eq. 3.3):
//
//     x+ = x + h v + h^2/2 a,  a+ = M^-1 f(x+),  v+ = v + h/2 (a + a+).
//
// Damping sees the velocity v + h a at x+, which keeps the second order. At pins `a` is what forces alone would give,
// so that what holds them can be told.
#include <float.h>
#include <string.h>

#include "solid/stepper.h"

static carom_solid_failure not_sound(const carom_solid_sum *sum) {
  return (carom_solid_failure){.kind = CAROM_SOLID_INVERTED, .tet = sum->least_tet, .J = sum->least_J};
}

// s->f at x and velocities v, and what is known by it.
static carom_solid_failure find_forces(carom_elastic_stepper *s, const carom_solid_moment *at, const carom_vec3 *x,
                                       const carom_vec3 *v, carom_solid_sum *sum) {
  carom_elastic *e = s->elastic;
  *sum = carom_solid_evaluate(e, x, v, false);
  if (!carom_solid_sound(e, sum)) return not_sound(sum);
  carom_solid_gather(e, s->f);
  memcpy(s->own, s->f, (size_t)e->node_count * sizeof *s->f);
  s->now2 = sum->stiffest, s->stiffest_tet = sum->stiffest_tet;
  s->t = at->t, s->known = true;
  return (carom_solid_failure){.stopped = carom_solid_add_loads(e, at, x, v, s->f, s->extra, NULL)};
}

carom_solid_failure carom_solid_learn(carom_elastic_stepper *s, const carom_elastic_loads *loads,
                                      carom_elastic_state *state) {
  if (s->known && state->a_known && s->t == state->t) return (carom_solid_failure){.kind = CAROM_SOLID_FINE};
  carom_solid_moment at = {.loads = loads, .t = state->t, .share = 1};
  carom_solid_sum sum;
  carom_solid_failure failure = find_forces(s, &at, state->x, state->v, &sum);
  if (failure.kind || failure.stopped) return failure;
  s->stored = sum.energy, s->power = sum.power;
  for (int i = 0; !state->a_known && i < state->node_count; i++)
    state->a[i] = cm_scale(1 / s->elastic->mass[i], s->f[i]);
  state->a_known = true;
  return failure;
}

// ---- what cannot be -------------------------------------------------------------------------------------------------

static const double ROUGHLY = 0.05;  // of the energies at play

// Energy and work that positions leave open that are rounded, J: of a stiff solid that falls there is nothing else.
static const double STILL = 1e-9;  // of the size: motion that is none

static double rounding(const carom_elastic_stepper *s, double way) {
  double most = 0;
  for (int i = 0; i < s->elastic->node_count; i++) most = fmax(most, cm_norm2(s->x1[i]));
  double slack = 4 * DBL_EPSILON * sqrt(most), still = STILL * sqrt(most);
  return (slack * way + still * still) * s->elastic->stiffest * s->elastic->node_count;
}

bool carom_solid_plausible(const carom_elastic_stepper *s, const carom_solid_balance *b) {
  double off = fabs(b->stored - b->stored_before + b->work + b->dissipated);
  if (off <= ROUGHLY * fmax(b->stored_before, b->stored)) return true;
  double before = b->stored_before + carom_elastic_kinetic_energy(s->elastic, s->v1);
  return off <= ROUGHLY * fmax(before, b->stored) + rounding(s, b->way);
}

static bool is_plausible(carom_elastic_stepper *s, const carom_solid_sum *sum, double h,
                         const carom_elastic_state *state) {
  carom_solid_balance b = {.stored_before = s->stored, .stored = sum->energy};
  b.dissipated = 0.5 * h * (s->power + sum->power);
  for (int i = 0; i < state->node_count; i++) b.way = fmax(b.way, cm_norm(cm_sub(state->x[i], s->x1[i])));
  for (int i = 0; i < state->node_count; i++)
    b.work += 0.5 * cm_dot(cm_add(s->own1[i], s->own[i]), cm_sub(state->x[i], s->x1[i]));
  return carom_solid_plausible(s, &b);
}

// ---- books ----------------------------------------------------------------------------------------------------------

// Forces are the means of both ends, displacements d = h/2 (v + v+): so the work of all forces is the change of the
// kinetic energy exactly.
static void book(carom_elastic_stepper *s, const carom_elastic_loads *loads, double h, const carom_elastic_state *state,
                 carom_elastic_report *r) {
  const carom_elastic *e = s->elastic;
  int n = e->node_count;
  carom_vec3 *d = s->direction;
  for (int i = 0; i < n; i++) d[i] = cm_scale(0.5 * h, cm_add(s->v1[i], state->v[i]));
  carom_solid_works before = carom_solid_work(e, loads, s->x1, d), after = carom_solid_work(e, loads, state->x, d);
  r->gravity_work += after.gravity, r->force_work += after.force;
  r->pressure_work += 0.5 * (before.pressure + after.pressure);
  if (loads->extra) r->extra_work += 0.5 * (carom_solid_dot(n, s->extra1, d) + carom_solid_dot(n, s->extra, d));
  for (int k = 0; k < loads->pin_count; k++) {
    int i = loads->pins[k];
    carom_vec3 forces = cm_scale(0.5 * h * e->mass[i], cm_add(s->trial[i], state->a[i]));
    carom_vec3 held = cm_sub(cm_scale(e->mass[i], cm_sub(state->v[i], s->v1[i])), forces);
    carom_vec3 turned = cm_sub(cm_cross(state->x[i], state->v[i]), cm_cross(s->x1[i], s->v1[i]));
    carom_vec3 torque = cm_add(cm_cross(s->x1[i], s->trial[i]), cm_cross(state->x[i], state->a[i]));
    carom_solid_book_pin(r, held, cm_scale(e->mass[i], cm_axpy(turned, -0.5 * h, torque)));
    r->pin_work += cm_dot(held, d[i]) / h;
  }
  carom_solid_moment at = {.loads = loads, .share = 1};
  carom_solid_book_loads(e, &at, 0.5 * h, s->x1, s->extra1, r);
  carom_solid_book_loads(e, &at, 0.5 * h, state->x, s->extra, r);
}

// ---- the step -------------------------------------------------------------------------------------------------------

static void predict(carom_elastic_stepper *s, const carom_elastic_loads *loads, double h, carom_elastic_state *state) {
  for (int i = 0; i < state->node_count; i++) {
    s->x1[i] = state->x[i], s->v1[i] = state->v[i];
    s->trial[i] = state->a[i];
    carom_vec3 half = cm_axpy(state->v[i], 0.5 * h, state->a[i]);
    s->rate[i] = cm_axpy(state->v[i], h, state->a[i]);
    state->x[i] = cm_axpy(state->x[i], h, half);
    state->v[i] = half;
  }
  for (int k = 0; k < loads->pin_count; k++) {
    int i = loads->pins[k];
    state->x[i] = s->x1[i];
    carom_solid_pin(loads, state->t + h, k, &state->x[i], &state->v[i]);
    s->rate[i] = state->v[i];
  }
  carom_vec3 *own = s->own;
  s->own = s->own1, s->own1 = own;
  if (loads->extra) memcpy(s->extra1, s->extra, (size_t)state->node_count * sizeof *s->extra);
}

static void correct(carom_elastic_stepper *s, double h, carom_elastic_state *state) {
  for (int i = 0; i < state->node_count; i++) {
    state->a[i] = cm_scale(1 / s->elastic->mass[i], s->f[i]);
    if (!s->pinned[i]) state->v[i] = cm_axpy(state->v[i], 0.5 * h, state->a[i]);
  }
  state->t += h;
}

carom_solid_failure carom_solid_newmark(carom_elastic_stepper *s, const carom_elastic_loads *loads, double h,
                                        carom_elastic_state *state, carom_elastic_report *report) {
  carom_solid_sum sum;
  carom_solid_moment at = {.loads = loads, .t = state->t + h, .share = 1};
  predict(s, loads, h, state);
  carom_solid_failure failure = find_forces(s, &at, state->x, s->rate, &sum);
  if (failure.kind || failure.stopped) return failure;
  correct(s, h, state);
  if (s->options.max_halvings >= 0 && !is_plausible(s, &sum, h, state))
    return (carom_solid_failure){.kind = CAROM_SOLID_ASTRAY, .tet = sum.least_tet, .J = sum.least_J};
  double power = s->power;
  s->stored = sum.energy, s->power = sum.power;
  if (!report) return failure;
  report->dissipated += 0.5 * h * (power + s->power);
  if (sum.least_J < report->least_J) report->least_J = sum.least_J, report->least_tet = sum.least_tet;
  book(s, loads, h, state, report);
  return failure;
}
