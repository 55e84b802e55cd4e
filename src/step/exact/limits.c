// Limits of joints, which are collision functions of their own: phi(q) = gap >= 0 of a free coordinate. The first time
// at which one is reached is searched on the discrete flow, like that of bodies that touch, by steps that a bound on
// phi'' makes safe; the impact is one more row of the impact problem (impact/system.h), and a limit whose
// bounces are spent is kept as a resting one.
#include <math.h>

#include "step/exact/exact.h"

enum { MAX_STEPS = 100 };

static const double WITHIN = 4e-12;  // m or rad: so near is reached; less than CAROM_LIMIT_TOUCH

static double rate_of(const carom_exact *e, const carom_state *state, const carom_joint_limit *limit) {
  return carom_row_state_rate(e->model, &limit->row, state);
}

void carom_exact_lay_out_limits(carom_exact *e, carom_arena *arena) {
  size_t numbers = CAROM_JOINT_LIMITS * (size_t)e->model->joint_count;
  e->limits.capacity = carom_joints_limit_capacity(e->model);
  e->limits.now = CAROM_PUSH(arena, carom_joint_limit, e->limits.capacity);
  e->limits.then = CAROM_PUSH(arena, carom_joint_limit, e->limits.capacity);
  e->limits.bend = CAROM_PUSH(arena, double, numbers);
  e->held.limits = CAROM_PUSH(arena, carom_joint_limit, e->limits.capacity);
  e->resting.limits = CAROM_PUSH(arena, bool, numbers);
  e->resting_begin.limits = CAROM_PUSH(arena, bool, numbers);
}

// ---- search ------------------------------------------------------------------------------------------------------

// The limit of this number at another state; false when its joint is no longer there.
static bool limit_at(const carom_exact *e, const carom_state *state, int number, carom_joint_limit *limit) {
  int count = carom_joints_limits(e->model, state, INFINITY, e->limits.then);
  for (int i = 0; i < count; i++) {
    if (carom_limit_number(&e->limits.then[i]) != number) continue;
    *limit = e->limits.then[i];
    return true;
  }
  return false;
}

// Bounds phi'' from where the path leads, trebled, as for bodies.
static double bend_of(const carom_exact *e, const carom_state *state, const carom_joint_limit *limit,
                      const carom_state *later, double T) {
  carom_joint_limit then;
  double rate = rate_of(e, state, limit);
  if (!limit_at(e, later, carom_limit_number(limit), &then)) return 0;
  double by_gap = 2 * fabs(then.gap - limit->gap - rate * T) / (T * T),
         by_rate = fabs(rate_of(e, later, &then) - rate) / T;
  return 3 * fmax(by_gap, by_rate) + 1e-6 * fabs(rate) / T;
}

// The longest time in which phi stays positive for sure: the root of g + r t - B/2 t^2.
static double safe_time(double g, double r, double B) {
  g = fmax(g, 0);
  double root = sqrt(r * r + 2 * B * g);
  if (r < 0) return 2 * g / (root - r);
  return B > 0 ? (r + root) / B : INFINITY;
}

static carom_status search_limit(carom_stepper *stepper, const carom_state *state, carom_joint_limit limit,
                                 carom_exact_landing *landing, carom_error *error) {
  const carom_exact *e = stepper->work;
  int number = carom_limit_number(&limit);
  const carom_state *now = state;
  double time = 0;
  for (int k = 0; k < MAX_STEPS; k++) {
    double rate = rate_of(e, now, &limit);
    if (limit.gap <= WITHIN && rate <= 0) {
      landing->time = time;
      landing->impact = true;
      return CAROM_OK;
    }
    time += safe_time(limit.gap - 0.5 * WITHIN, rate, e->limits.bend[number]);
    if (!(time < landing->time)) return CAROM_OK;
    now = carom_exact_try(stepper, state, time);
    if (e->trial.status != CAROM_OK) return e->trial.status;
    if (!limit_at(e, now, number, &limit)) return CAROM_OK;
  }
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "no time at which joint '%s' reaches its limit near t = %.9g s: use a smaller step",
                    e->model->joints[limit.joint].name, state->time);
}

carom_status carom_exact_search_limits(carom_stepper *stepper, const carom_state *state, carom_exact_landing *landing,
                                       carom_error *error) {
  carom_exact *e = stepper->work;
  if (e->limits.capacity == 0) return CAROM_OK;
  int count = carom_joints_limits(e->model, state, INFINITY, e->limits.now);
  const carom_state *later = carom_exact_try(stepper, state, landing->time);
  for (int i = 0; i < count && e->trial.status == CAROM_OK; i++)
    e->limits.bend[carom_limit_number(&e->limits.now[i])] = bend_of(e, state, &e->limits.now[i], later, landing->time);
  for (int i = 0; i < count && e->trial.status == CAROM_OK; i++) {
    if (e->resting.limits[carom_limit_number(&e->limits.now[i])]) continue;
    carom_status status = search_limit(stepper, state, e->limits.now[i], landing, error);
    if (status != CAROM_OK) return status;
  }
  return e->trial.status;
}

// ---- rest --------------------------------------------------------------------------------------------------------

double carom_exact_fastest_limit(const carom_exact *e, const carom_state *state) {
  double most = 0;
  int count = e->limits.capacity > 0 ? carom_joints_limits(e->model, state, CAROM_LIMIT_TOUCH, e->limits.then) : 0;
  for (int i = 0; i < count; i++) most = fmax(most, fabs(rate_of(e, state, &e->limits.then[i])));
  return most;
}

void carom_exact_rest_limits(carom_exact *e, const carom_state *state, bool all, double before, double duration) {
  int count = e->limits.capacity > 0 ? carom_joints_limits(e->model, state, CAROM_LIMIT_TOUCH, e->limits.then) : 0;
  for (int i = 0; i < count; i++) {
    const carom_joint_limit *limit = &e->limits.then[i];
    carom_exact_bounce bounce = {rate_of(e, state, limit), limit->restitution,
                                 e->limits.bend[carom_limit_number(limit)], WITHIN};
    if (all || carom_exact_bounces_spent(&bounce, before, duration))
      e->resting.limits[carom_limit_number(limit)] = true;
  }
}

void carom_exact_release_limits(carom_exact *e, const carom_state *state) {
  for (int k = 0; k < CAROM_JOINT_LIMITS * e->model->joint_count; k++) {
    carom_joint_limit limit;
    if (e->resting.limits[k]) e->resting.limits[k] = limit_at(e, state, k, &limit) && limit.gap <= CAROM_EXACT_RELEASE;
  }
}

void carom_exact_take_limits(carom_exact *e, const carom_state *state, double reach) {
  e->held.limit_count = 0;
  int count = e->limits.capacity > 0 ? carom_joints_limits(e->model, state, reach, e->limits.then) : 0;
  for (int i = 0; i < count; i++)
    if (e->resting.limits[carom_limit_number(&e->limits.then[i])])
      e->held.limits[e->held.limit_count++] = e->limits.then[i];
}

double carom_exact_limit_gap(carom_stepper *stepper, const carom_state *state, const carom_joint_limit *limit,
                             double time) {
  const carom_exact *e = stepper->work;
  carom_joint_limit then;
  return limit_at(e, carom_exact_try(stepper, state, time), carom_limit_number(limit), &then) ? then.gap : limit->gap;
}
