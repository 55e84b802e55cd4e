// The variational integrator of free and jointed rigid bodies under force fields. One step, with both quadratures of
// the potential:
//
//   endpoint:  kick h/2 (forces at q_k)  ->  drift h  ->  kick h/2 (forces at q_k+1)
//   midpoint:  kick h/2 (forces at (q_k + q_k+1)/2)  ->  drift h  ->  kick h/2 (the same forces), iterated
//
// The drift is the discrete Moser-Veselov step (dmv.h) and x += h p/m; a kick changes momenta only. In redundant
// coordinates both kicks of the midpoint rule have the same force on the directors, g, but each takes the torque of g
// about the directors at its own end, because d(q_k + q_k+1)/2 is half of d q_k and half of d q_k+1. Joints add their
// impulses at both ends (constrained.h).
#include <math.h>
#include <string.h>

#include "base/tape.h"
#include "base/threads.h"
#include "model/fields.h"
#include "model/model.h"
#include "step/solids.h"
#include "step/step.h"
#include "step/variational/composition.h"
#include "step/variational/constrained.h"
#include "step/variational/dmv.h"

typedef struct variational {
  carom_dmv_bodies bodies;
  bool fields, damped, velocities;
  void *dmv_memory;          // of `bodies`
  carom_constrained joints;  // without a system when there are none
  carom_loads loads;         // endpoint: at the state of `known`; midpoint: of the last step, the first guess
  carom_loads fresh;         // of the newest iterate
  carom_mat3 *d, *d_start;   // directors now and at the start of the step
  carom_mat3 *d_mean, *d_rate;
  carom_vec3 *x_mean, *v;
  carom_vec3 *p_half, *l_half;  // after the first kick
  carom_solids solids;          // which move beside bodies: only contacts know both
  carom_state known;            // where `loads` were taken; storage below, time NaN when nothing is known
} variational;

// ---- memory --------------------------------------------------------------------------------------------------

static void clear_loads(carom_loads *loads, int n) {
  memset(loads->f, 0, (size_t)(n + 1) * sizeof *loads->f);
  memset(loads->g, 0, (size_t)(n + 1) * sizeof *loads->g);
  memset(loads->torque, 0, (size_t)(n + 1) * sizeof *loads->torque);
}

static void push_fields(variational *w, carom_arena *arena, const carom_model *model) {
  int n = model->body_count;
  carom_loads_push(&w->loads, arena, model);
  carom_loads_push(&w->fresh, arena, model);
  w->d = CAROM_PUSH(arena, carom_mat3, n);
  w->d_start = CAROM_PUSH(arena, carom_mat3, n);
  w->d_mean = CAROM_PUSH(arena, carom_mat3, n);
  w->d_rate = CAROM_PUSH(arena, carom_mat3, n);
  w->x_mean = CAROM_PUSH(arena, carom_vec3, n);
  w->v = CAROM_PUSH(arena, carom_vec3, n);
  w->p_half = CAROM_PUSH(arena, carom_vec3, n);
  w->l_half = CAROM_PUSH(arena, carom_vec3, n);
  w->known.x = CAROM_PUSH(arena, carom_vec3, n);
  w->known.q = CAROM_PUSH(arena, carom_quat, n);
  w->known.p = CAROM_PUSH(arena, carom_vec3, n);
  w->known.l = CAROM_PUSH(arena, carom_vec3, n);
  w->known.joints = CAROM_PUSH(arena, carom_joint_state, model->joint_count);
  w->known.inputs = CAROM_PUSH(arena, double, model->input_size);
}

static void push(carom_stepper *stepper, carom_arena *arena) {
  const carom_model *model = stepper->model;
  variational counted = {0}, *own = CAROM_PUSH(arena, variational, 1), *w = own ? own : &counted;
  stepper->flow = own;
  carom_solids_push(&w->solids, arena, model);
  w->dmv_memory = carom_arena_push(arena, carom_dmv_bodies_cost(model->body_count));
  if (carom_fields_present(model)) push_fields(w, arena, model);
  if (model->joint_count > 0) carom_constrained_push(&w->joints, arena, model);
}

static carom_status prepare(carom_stepper *stepper, carom_error *error) {
  const carom_model *model = stepper->model;
  variational *w = stepper->flow;
  w->fields = carom_fields_present(model);
  w->damped = carom_fields_damped(model);
  w->velocities = carom_fields_need_velocity(model);
  w->known.time = NAN;
  w->known.body_count = model->body_count;
  w->known.joint_count = model->joint_count;
  w->known.input_size = model->input_size;
  carom_dmv_bodies_fill(&w->bodies, model, w->dmv_memory);
  carom_status status = carom_solids_prepare(stepper, &w->solids, error);
  if (status != CAROM_OK || model->joint_count == 0) return status;
  return carom_joint_system_create(model, &stepper->allocator, &w->joints.system, error);
}

static void release(carom_stepper *stepper) {
  variational *w = stepper->flow;
  if (!w) return;
  carom_joint_system_destroy(w->joints.system);
  carom_solids_free(&w->solids);
}

static bool may_fail(const carom_stepper *stepper, const carom_state *state, double h) {
  const variational *w = stepper->flow;
  return w->fields || w->joints.system || state->node_count > 0 || !(carom_dmv_largest_turn(&w->bodies, state, h) < CAROM_DMV_SAFE_TURN);
}

// ---- kick and drift --------------------------------------------------------------------------------------------

static carom_vec3 torque_of(const carom_loads *loads, const carom_mat3 *d, int i) {
  return cm_add(carom_director_torque(loads->g[i], d[i]), loads->torque[i]);
}

// p += dt m g.
static void kick_weight(const carom_stepper *stepper, carom_state *state, double dt) {
  const variational *w = stepper->flow;
  carom_vec3 g = stepper->model->gravity;
  if (cm_norm2(g) == 0) return;
  CAROM_PARALLEL_FOR(
      stepper->threads, schedule(static),
      for (int i = 0; i < state->body_count; i++) state->p[i] = cm_axpy(state->p[i], dt * w->bodies.mass[i], g));
}

// p += dt (m g + f),  l += dt (torque of g about the directors d + couple).
static void kick(const carom_stepper *stepper, carom_state *state, const carom_loads *loads, const carom_mat3 *d,
                 double dt) {
  kick_weight(stepper, state, dt);
  for (int i = 0; i < state->body_count; i++) {
    if (stepper->model->bodies[i].fixed) continue;
    state->p[i] = cm_axpy(state->p[i], dt, loads->f[i]);
    state->l[i] = cm_axpy(state->l[i], dt, torque_of(loads, d, i));
  }
}

static carom_status report_failed_turn(const carom_stepper *stepper, const carom_state *state, int body, double h,
                                       carom_error *error) {
  const carom_body *b = &stepper->model->bodies[body];
  if (!cm_finite(state->x[body]) || !cm_finite(state->l[body]))
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "body '%s' is no longer finite at t = %.9g s: check its start state and the forces on it",
                      b->name, state->time);
  double turn = h * cm_norm(carom_state_angular_velocity(stepper->model, state, body));
  if (!(turn < 1e12))
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "body '%s' turns by %.3g rad in one step at t = %.9g s, more than any step can follow: check its "
                      "start state and the torques on it",
                      b->name, turn, state->time);
  int halvings = carom_dmv_halvings(stepper->options.max_halvings);
  return carom_fail(
      error, CAROM_ERR_NUMBER,
      "body '%s' turns by %.3g rad in one step at t = %.9g s, more than %d halvings can follow: use a step "
      "below %.2g s",
      b->name, turn, state->time, halvings, ldexp(0.5 * h / turn, halvings));
}

static carom_status drift(const carom_leg *leg, carom_state *state, carom_error *error) {
  const carom_stepper *stepper = leg->stepper;
  const variational *w = stepper->flow;
  int iterations = 0, failed = -1;
  double residual = 0;
  CAROM_PARALLEL_FOR(
      stepper->threads,
      schedule(static) reduction(max
                                 : iterations, failed, residual),
      for (int first = 0; first < state->body_count; first += CAROM_DMV_LANES) {
        carom_dmv_info info = {.failed = -1};
        carom_dmv_drift(&w->bodies, first, leg->h, carom_dmv_halvings(stepper->options.max_halvings), state, &info);
        iterations = info.iterations > iterations ? info.iterations : iterations;
        failed = info.failed > failed ? info.failed : failed;
        residual = info.residual > residual ? info.residual : residual;
      });
  carom_ledger_note_solve(leg->ledger, iterations, residual);
  return failed < 0 ? CAROM_OK : report_failed_turn(stepper, state, failed, leg->h, error);
}

// The drift, with the joints' impulses at its start when there are any.
static carom_status move(const carom_leg *leg, carom_state *state, carom_error *error) {
  variational *w = leg->stepper->flow;
  if (!w->joints.system) return drift(leg, state, error);
  return carom_constrained_drift(&w->joints, leg, drift, state, error);
}

static carom_status settle(const carom_leg *leg, carom_state *state, carom_error *error) {
  variational *w = leg->stepper->flow;
  return w->joints.system ? carom_constrained_settle(&w->joints, leg, state, error) : CAROM_OK;
}

static void book_drift(const carom_leg *leg, const carom_state *state) {
  variational *w = leg->stepper->flow;
  if (w->joints.system) carom_constrained_book_drift(&w->joints, leg, state);
}

static void book_settling(const carom_leg *leg, const carom_state *state) {
  variational *w = leg->stepper->flow;
  if (w->joints.system) carom_constrained_book_settling(&w->joints, leg, state);
}

const carom_constrained *carom_variational_joints(const carom_stepper *stepper) {
  const variational *w = stepper->flow;
  return w->joints.system ? &w->joints : NULL;
}

// ---- configurations --------------------------------------------------------------------------------------------

static void directors_of(const carom_state *state, carom_mat3 *d) {
  for (int i = 0; i < state->body_count; i++) d[i] = cm_rotation(state->q[i]);
}

// The configuration of a state: rotations as directors, velocities from momenta when something asks for them.
static carom_configuration configuration_of(const carom_stepper *stepper, const carom_state *state, double time) {
  variational *w = stepper->flow;
  for (int i = 0; i < state->body_count && w->velocities; i++) {
    w->v[i] = carom_state_velocity(stepper->model, state, i);
    w->d_rate[i] = cm_mmul(cm_hat(carom_state_angular_velocity(stepper->model, state, i)), w->d[i]);
  }
  bool v = w->velocities;
  return (carom_configuration){time,          state->x,      w->d, v ? w->v : NULL, v ? w->d_rate : NULL,
                               state->joints, state->inputs, false};
}

double carom_variational_power(const carom_stepper *stepper, const carom_state *state, double time) {
  variational *w = stepper->flow;
  if (!w->velocities) return 0;
  directors_of(state, w->d);
  carom_configuration c = configuration_of(stepper, state, time);
  return carom_fields_resultant(stepper->model, &c, &w->loads).power;
}

// The mean of the configurations at both ends of a leg, and the rate between them.
static carom_configuration mean_configuration(const carom_leg *leg, const carom_vec3 *x_start,
                                              const carom_state *state) {
  variational *w = leg->stepper->flow;
  for (int i = 0; i < state->body_count; i++) {
    w->x_mean[i] = cm_scale(0.5, cm_add(x_start[i], state->x[i]));
    w->d_mean[i] = cm_mscale(0.5, cm_madd(w->d_start[i], w->d[i]));
    w->v[i] = cm_scale(1 / leg->h, cm_sub(state->x[i], x_start[i]));
    w->d_rate[i] = cm_mscale(1 / leg->h, cm_msub(w->d[i], w->d_start[i]));
  }
  return (carom_configuration){
      leg->start + 0.5 * leg->h, w->x_mean, w->d_mean, w->v, w->d_rate, state->joints, state->inputs, false};
}

// ---- implicit iterations -----------------------------------------------------------------------------------------

// Change between two sets of loads over the momenta in play, root of sums of squares: what the next iterate would move.
// Sums, not maxima, so that a NaN is not lost.
static double relative_change(const carom_stepper *stepper, const carom_state *state, const carom_loads *a,
                              const carom_loads *b, const carom_mat3 *d, double dt) {
  double dp = 0, dl = 0, p = 0, l = 0;
  for (int i = 0; i < state->body_count; i++) {
    if (stepper->model->bodies[i].fixed) continue;
    carom_vec3 ta = torque_of(a, d, i), tb = torque_of(b, d, i);
    p += cm_norm2(state->p[i]) + dt * dt * (cm_norm2(a->f[i]) + cm_norm2(b->f[i]));
    l += cm_norm2(state->l[i]) + dt * dt * (cm_norm2(ta) + cm_norm2(tb));
    dp += dt * dt * cm_norm2(cm_sub(a->f[i], b->f[i]));
    dl += dt * dt * cm_norm2(cm_sub(ta, tb));
  }
  double change2 = (p > 0 ? dp / p : dp) + (l > 0 ? dl / l : dl);
  return sqrt(change2);
}

// Round-off ends the progress of an iteration a little above the tolerance; that is as good as it gets.
static bool settled(const carom_stepper *stepper, double change, double previous) {
  double tolerance = stepper->options.tolerance;
  return change <= tolerance || (change >= 0.5 * previous && change <= 100 * tolerance);
}

static carom_status not_converged(const carom_leg *leg, double change, carom_error *error) {
  return carom_fail(
      error, CAROM_NOT_CONVERGED,
      "the forces did not settle within %d iterations at t = %.9g s (relative change %.2g, h = %.3g s): use "
      "a smaller step, or raise max_iterations",
      leg->stepper->options.max_iterations, leg->start, change, leg->h);
}

static void swap_loads(variational *w) {
  carom_loads old = w->loads;
  w->loads = w->fresh;
  w->fresh = old;
}

// ---- endpoint quadrature -----------------------------------------------------------------------------------------

static bool loads_known(const variational *w, const carom_state *state) {
  size_t n = (size_t)state->body_count;
  const carom_state *k = &w->known;
  return k->time == state->time && !memcmp(k->x, state->x, n * sizeof *k->x) &&
         !memcmp(k->q, state->q, n * sizeof *k->q) && !memcmp(k->p, state->p, n * sizeof *k->p) &&
         !memcmp(k->l, state->l, n * sizeof *k->l) &&
         (state->joint_count == 0 ||
          !memcmp(k->joints, state->joints, (size_t)state->joint_count * sizeof *k->joints)) &&
         (state->input_size == 0 || !memcmp(k->inputs, state->inputs, (size_t)state->input_size * sizeof *k->inputs));
}

static void note_known(variational *w, const carom_state *state, double time) {
  carom_state_copy(&w->known, state);
  w->known.time = time;
}

// The second kick when forces depend on velocities: p_k+1 = p_half + h/2 f(q_k+1, p_k+1), the adjoint of the first
// kick, so that the step stays symmetric and of second order.
static carom_status kick_damped(const carom_leg *leg, carom_state *state, carom_error *error) {
  const carom_stepper *stepper = leg->stepper;
  variational *w = stepper->flow;
  size_t bytes = (size_t)state->body_count * sizeof(carom_vec3);
  memcpy(w->p_half, state->p, bytes);
  memcpy(w->l_half, state->l, bytes);
  double change = INFINITY;
  for (int iteration = 1; iteration <= stepper->options.max_iterations; iteration++) {
    carom_configuration c = configuration_of(stepper, state, leg->end);
    carom_fields_evaluate(stepper->model, &c, &w->fresh);
    double previous = change;
    change = iteration == 1 ? INFINITY : relative_change(stepper, state, &w->fresh, &w->loads, w->d, 0.5 * leg->h);
    swap_loads(w);
    memcpy(state->p, w->p_half, bytes);
    memcpy(state->l, w->l_half, bytes);
    kick(stepper, state, &w->loads, w->d, 0.5 * leg->h);
    carom_status status = settle(leg, state, error);
    if (status != CAROM_OK) return status;
    if (!settled(stepper, change, previous)) continue;
    carom_ledger_note_solve(leg->ledger, iteration, change);
    return CAROM_OK;
  }
  return not_converged(leg, change, error);
}

static carom_status kick_at_end(const carom_leg *leg, carom_state *state, carom_error *error) {
  const carom_stepper *stepper = leg->stepper;
  variational *w = stepper->flow;
  directors_of(state, w->d);
  if (w->damped) return kick_damped(leg, state, error);
  carom_configuration c = configuration_of(stepper, state, leg->end);
  carom_fields_evaluate(stepper->model, &c, &w->loads);
  kick(stepper, state, &w->loads, w->d, 0.5 * leg->h);
  return settle(leg, state, error);
}

// The forces of half a leg, at one of its ends.
static void book_endpoint(const carom_leg *leg, const carom_state *state, double time) {
  const variational *w = leg->stepper->flow;
  carom_configuration c = configuration_of(leg->stepper, state, time);
  carom_resultant r = carom_fields_resultant(leg->stepper->model, &c, &w->loads);
  carom_ledger_weight(leg->ledger, state->x, 0.5 * leg->h);
  carom_ledger_fields(leg->ledger, &r, 0.5 * leg->h);
}

// Without fields there are no loads and no directors: only weight, or nothing at all.
static carom_status advance_weighted(const carom_leg *leg, carom_state *state, carom_error *error) {
  carom_ledger_weight(leg->ledger, state->x, 0.5 * leg->h);
  kick_weight(leg->stepper, state, 0.5 * leg->h);
  carom_status status = move(leg, state, error);
  if (status != CAROM_OK) return status;
  book_drift(leg, state);
  kick_weight(leg->stepper, state, 0.5 * leg->h);
  status = settle(leg, state, error);
  if (status != CAROM_OK) return status;
  book_settling(leg, state);
  carom_ledger_weight(leg->ledger, state->x, 0.5 * leg->h);
  return CAROM_OK;
}

static carom_status advance_endpoint(const carom_leg *leg, carom_state *state, carom_error *error) {
  const carom_stepper *stepper = leg->stepper;
  variational *w = stepper->flow;
  directors_of(state, w->d);
  if (!loads_known(w, state)) {
    carom_configuration c = configuration_of(stepper, state, leg->start);
    carom_fields_evaluate(stepper->model, &c, &w->loads);
  }
  book_endpoint(leg, state, leg->start);
  kick(stepper, state, &w->loads, w->d, 0.5 * leg->h);
  carom_status status = move(leg, state, error);
  if (status != CAROM_OK) return status;
  book_drift(leg, state);
  status = kick_at_end(leg, state, error);
  if (status != CAROM_OK) return status;
  book_settling(leg, state);
  note_known(w, state, leg->end);
  book_endpoint(leg, state, leg->end);
  return CAROM_OK;
}

// ---- midpoint quadrature -------------------------------------------------------------------------------------------

// From the start of the leg to its end with the loads that are known so far.
static carom_status try_loads(const carom_leg *leg, const carom_state *begin, carom_state *state, carom_error *error) {
  variational *w = leg->stepper->flow;
  carom_state_copy(state, begin);
  kick(leg->stepper, state, &w->loads, w->d_start, 0.5 * leg->h);
  carom_status status = move(leg, state, error);
  directors_of(state, w->d);
  return status;
}

// The newest loads are closer to the fixed point than the ones that were just tried, by another factor (h omega)^2; one
// more pass with them costs no forces and keeps angular momentum to round-off.
static carom_status finish_midpoint(const carom_leg *leg, const carom_state *begin, carom_state *state,
                                    carom_error *error) {
  variational *w = leg->stepper->flow;
  carom_status status = try_loads(leg, begin, state, error);
  if (status != CAROM_OK) return status;
  book_drift(leg, state);
  kick(leg->stepper, state, &w->loads, w->d, 0.5 * leg->h);
  carom_configuration c = mean_configuration(leg, begin->x, state);
  carom_resultant r = carom_fields_resultant(leg->stepper->model, &c, &w->loads);
  carom_ledger_weight(leg->ledger, c.x, leg->h);
  carom_ledger_fields(leg->ledger, &r, leg->h);
  status = settle(leg, state, error);
  if (status == CAROM_OK) book_settling(leg, state);
  return status;
}

static carom_status advance_midpoint(const carom_leg *leg, carom_state *state, carom_error *error) {
  const carom_stepper *stepper = leg->stepper;
  variational *w = stepper->flow;
  carom_state *begin = &w->known;
  carom_state_copy(begin, state);
  directors_of(begin, w->d_start);
  double change = INFINITY;
  for (int iteration = 1; iteration <= stepper->options.max_iterations; iteration++) {
    carom_status status = try_loads(leg, begin, state, error);
    if (status != CAROM_OK && iteration > 1) break;  // the iterates ran away
    if (status != CAROM_OK) return status;
    carom_configuration c = mean_configuration(leg, begin->x, state);
    carom_fields_evaluate(stepper->model, &c, &w->fresh);
    double previous = change;
    change = relative_change(stepper, state, &w->fresh, &w->loads, w->d, 0.5 * leg->h);
    swap_loads(w);
    if (!settled(stepper, change, previous)) continue;
    carom_ledger_note_solve(leg->ledger, iteration, change);
    return finish_midpoint(leg, begin, state, error);
  }
  clear_loads(&w->loads, state->body_count);  // a guess that ran away is worse than none
  return not_converged(leg, change, error);
}

// ---- the step ------------------------------------------------------------------------------------------------------

static carom_status advance_leg(const carom_leg *leg, carom_state *state, carom_error *error) {
  const variational *w = leg->stepper->flow;
  if (!w->fields) return advance_weighted(leg, state, error);  // both quadratures agree on it
  if (leg->stepper->options.quadrature == CAROM_QUADRATURE_MIDPOINT) return advance_midpoint(leg, state, error);
  return advance_endpoint(leg, state, error);
}

// Both quadratures are symmetric, with joints, too, so that they may be composed.
static carom_status advance_smoothly(const carom_leg *way, carom_state *state, carom_error *error) {
  const carom_composition *c = carom_composition_of(way->stepper->options.order);
  double share = 0;
  carom_status status = CAROM_OK;
  for (int i = 0; i < c->stages && status == CAROM_OK; i++) {
    share += c->weights[i];
    double part_end = i + 1 == c->stages ? way->end : way->start + share * way->h;
    carom_leg leg = {way->stepper, way->ledger, c->weights[i] * way->h, state->time, part_end};
    status = advance_leg(&leg, state, error);
    state->time = part_end;
  }
  return status;
}

// From kink to kink of the motors by position.
carom_status carom_variational_bodies(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  variational *w = stepper->flow;
  double start = state->time, done = 0;
  carom_status status = CAROM_OK;
  while (done < h && status == CAROM_OK) {
    double kink = w->joints.system ? carom_motors_next_kink(stepper->model, state->time) : INFINITY;
    bool last = !(kink < end - 1e-9 * h);
    carom_leg way = {stepper, ledger, last ? h - done : kink - state->time, state->time, last ? end : kink};
    if (w->joints.system) status = carom_constrained_pass_kink(&w->joints, &way, state, error);
    if (status == CAROM_OK) status = advance_smoothly(&way, state, error);
    done = last ? h : done + way.h;
  }
  state->time = start;  // the clock is the caller's
  return status;
}

carom_solids *carom_variational_solids(const carom_stepper *stepper) {
  variational *w = stepper->flow;
  return &w->solids;
}

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  carom_solids *solids = carom_variational_solids(stepper);
  carom_status status = carom_solids_learn(solids, NULL, state, h, error);
  if (status == CAROM_OK) status = carom_variational_bodies(stepper, state, h, end, ledger, error);
  return status == CAROM_OK ? carom_solids_advance(solids, NULL, state, h, ledger, error) : status;
}

// ---- for checkpoints -----------------------------------------------------------------------------------------------

// The loads that the next step begins from, as a guess or as what is known, and where they were taken. Without fields
// every step begins anew.
static bool remember(carom_stepper *stepper, carom_tape *tape) {
  variational *w = stepper->flow;
  carom_state *k = &w->known;
  size_t n = (size_t)stepper->model->body_count, joints = (size_t)k->joint_count;
  if (!carom_solids_remember(&w->solids, tape)) return false;
  if (!w->fields) return true;
  return carom_tape_pass_numbers(tape, w->loads.f, n * (sizeof *w->loads.f / sizeof(double))) &&
         carom_tape_pass_numbers(tape, w->loads.g, n * (sizeof *w->loads.g / sizeof(double))) &&
         carom_tape_pass_numbers(tape, w->loads.torque, n * (sizeof *w->loads.torque / sizeof(double))) &&
         carom_tape_pass(tape, &k->time, sizeof k->time) && carom_tape_pass(tape, k->x, n * sizeof *k->x) &&
         carom_tape_pass(tape, k->q, n * sizeof *k->q) && carom_tape_pass(tape, k->p, n * sizeof *k->p) &&
         carom_tape_pass(tape, k->l, n * sizeof *k->l) &&
         carom_tape_pass(tape, k->joints, joints * sizeof *k->joints) &&
         carom_tape_pass(tape, k->inputs, (size_t)k->input_size * sizeof *k->inputs);
}

const carom_integrator carom_integrator_variational = {
    .name = "variational",
    .summary =
        "free and jointed bodies: discrete Moser-Veselov rotation, endpoint or midpoint potential; contacts are not "
        "seen",
    .honours = &carom_honours_variational,
    CAROM_STATIC_LIFE,
    .may_fail = may_fail,
    .advance = advance,
};
