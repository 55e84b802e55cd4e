// Limits of joints, which are collision functions of their own: phi(q) = gap >= 0 of a free coordinate. The first time
// at which one is reached is searched on the discrete flow, like that of bodies that touch, by steps that a bound on
// phi'' makes safe; the impact is one more row of the impact problem (mechanics/impact_system.h), and a limit whose
// bounces are spent is kept as a resting one.
#include <math.h>
#include <string.h>

#include "base/tape.h"
#include "step/exact/exact.h"

enum { MAX_STEPS = 100 };

static const double WITHIN = 4e-12;  // m or rad: so near is reached; less than CAROM_LIMIT_TOUCH

// d gap / dt by the state's momenta.
static double rate_of(const carom_exact *e, const carom_state *state, const carom_joint_limit *limit) {
  double rate = 0;
  for (int end = 0; end < 2; end++) {
    int body = limit->row.body[end];
    if (body == CAROM_WORLD || e->model->bodies[body].fixed) continue;
    rate += cm_dot(limit->row.linear[end], carom_state_velocity(e->model, state, body));
    rate += cm_dot(limit->row.angular[end], carom_state_angular_velocity(e->model, state, body));
  }
  return rate;
}

// ---- memory ------------------------------------------------------------------------------------------------------

static size_t numbers(const carom_model *model) { return 4 * (size_t)model->joint_count; }

void carom_exact_limits_push(carom_exact *e, carom_arena *arena) {
  size_t count = numbers(e->model);
  e->limit_capacity = carom_joints_limit_capacity(e->model);
  e->limits = CAROM_PUSH(arena, carom_joint_limit, e->limit_capacity);
  e->limits_then = CAROM_PUSH(arena, carom_joint_limit, e->limit_capacity);
  e->held_limits = CAROM_PUSH(arena, carom_joint_limit, e->limit_capacity);
  e->limit_rests = CAROM_PUSH(arena, bool, count);
  e->limit_rests_saved = CAROM_PUSH(arena, bool, count);
  e->limit_bend = CAROM_PUSH(arena, double, count);
}

void carom_exact_save_limits(carom_exact *e) {
  size_t bytes = numbers(e->model) * sizeof *e->limit_rests;
  if (bytes > 0) memcpy(e->limit_rests_saved, e->limit_rests, bytes);
}

void carom_exact_restore_limits(carom_exact *e) {
  size_t bytes = numbers(e->model) * sizeof *e->limit_rests;
  if (bytes > 0) memcpy(e->limit_rests, e->limit_rests_saved, bytes);
}

bool carom_exact_remember_limits(carom_exact *e, carom_tape *tape) {
  for (size_t i = 0; i < numbers(e->model); i++) {
    unsigned char rests = e->limit_rests[i];
    if (!carom_tape_pass(tape, &rests, 1)) return false;
    e->limit_rests[i] = rests != 0;
  }
  return true;
}

// ---- search ------------------------------------------------------------------------------------------------------

// The limit of this number at another state; false when its joint is no longer there.
static bool limit_at(const carom_exact *e, const carom_state *state, int number, carom_joint_limit *limit) {
  int count = carom_joints_limits(e->model, state, INFINITY, e->limits_then);
  for (int i = 0; i < count; i++) {
    if (carom_limit_number(&e->limits_then[i]) != number) continue;
    *limit = e->limits_then[i];
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

static carom_status search_limit(carom_stepper *stepper, const carom_state *state, carom_joint_limit limit, double *end,
                                 bool *found, carom_error *error) {
  const carom_exact *e = stepper->work;
  int number = carom_limit_number(&limit);
  const carom_state *now = state;
  double time = 0;
  for (int k = 0; k < MAX_STEPS; k++) {
    double rate = rate_of(e, now, &limit);
    if (limit.gap <= WITHIN && rate <= 0) {
      *end = time;
      *found = true;
      return CAROM_OK;
    }
    time += safe_time(limit.gap - 0.5 * WITHIN, rate, e->limit_bend[number]);
    if (!(time < *end)) return CAROM_OK;
    now = carom_exact_trial(stepper, state, time);
    if (e->trial_status != CAROM_OK) return e->trial_status;
    if (!limit_at(e, now, number, &limit)) return CAROM_OK;
  }
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "no time at which joint '%s' reaches its limit near t = %.9g s: use a smaller step",
                    e->model->joints[limit.joint].name, state->time);
}

carom_status carom_exact_search_limits(carom_stepper *stepper, const carom_state *state, double *time, bool *found,
                                       carom_error *error) {
  carom_exact *e = stepper->work;
  if (e->limit_capacity == 0) return CAROM_OK;
  int count = carom_joints_limits(e->model, state, INFINITY, e->limits);
  const carom_state *later = carom_exact_trial(stepper, state, *time);
  for (int i = 0; i < count && e->trial_status == CAROM_OK; i++)
    e->limit_bend[carom_limit_number(&e->limits[i])] = bend_of(e, state, &e->limits[i], later, *time);
  for (int i = 0; i < count && e->trial_status == CAROM_OK; i++) {
    if (e->limit_rests[carom_limit_number(&e->limits[i])]) continue;
    carom_status status = search_limit(stepper, state, e->limits[i], time, found, error);
    if (status != CAROM_OK) return status;
  }
  return e->trial_status;
}

// ---- rest --------------------------------------------------------------------------------------------------------

double carom_exact_fastest_limit(const carom_exact *e, const carom_state *state) {
  double most = 0;
  int count = e->limit_capacity > 0 ? carom_joints_limits(e->model, state, CAROM_LIMIT_TOUCH, e->limits_then) : 0;
  for (int i = 0; i < count; i++) most = fmax(most, fabs(rate_of(e, state, &e->limits_then[i])));
  return most;
}

void carom_exact_rest_limits(carom_exact *e, const carom_state *state, bool all, double before, double duration) {
  int count = e->limit_capacity > 0 ? carom_joints_limits(e->model, state, CAROM_LIMIT_TOUCH, e->limits_then) : 0;
  for (int i = 0; i < count; i++) {
    const carom_joint_limit *limit = &e->limits_then[i];
    double speed = rate_of(e, state, limit), bend = e->limit_bend[carom_limit_number(limit)];
    if (all || carom_exact_bounces_spent(speed, before, limit->restitution, bend, WITHIN, duration))
      e->limit_rests[carom_limit_number(limit)] = true;
  }
}

void carom_exact_release_limits(carom_exact *e, const carom_state *state) {
  for (int k = 0; k < 4 * e->model->joint_count; k++) {
    carom_joint_limit limit;
    if (e->limit_rests[k]) e->limit_rests[k] = limit_at(e, state, k, &limit) && limit.gap <= CAROM_EXACT_RELEASE;
  }
}

void carom_exact_take_limits(carom_exact *e, const carom_state *state, double reach) {
  e->held_limit_count = 0;
  int count = e->limit_capacity > 0 ? carom_joints_limits(e->model, state, reach, e->limits_then) : 0;
  for (int i = 0; i < count; i++)
    if (e->limit_rests[carom_limit_number(&e->limits_then[i])])
      e->held_limits[e->held_limit_count++] = e->limits_then[i];
}

double carom_exact_limit_gap(carom_stepper *stepper, const carom_state *state, const carom_joint_limit *limit,
                             double time) {
  const carom_exact *e = stepper->work;
  carom_joint_limit then;
  return limit_at(e, carom_exact_trial(stepper, state, time), carom_limit_number(limit), &then) ? then.gap : limit->gap;
}

void carom_exact_spread_limit(carom_exact *e, const carom_joint_limit *limit, double force) {
  for (int end = 0; end < 2; end++) {
    int body = limit->row.body[end];
    if (body == CAROM_WORLD || e->model->bodies[body].fixed) continue;
    e->bodies[body].contact_f = cm_axpy(e->bodies[body].contact_f, force, limit->row.linear[end]);
    e->bodies[body].contact_n = cm_axpy(e->bodies[body].contact_n, force, limit->row.angular[end]);
  }
}
