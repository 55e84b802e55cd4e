// The integrator `newmark` (Johnson 2012, 3.2.1, with beta = 0 and gamma = 1/2), for comparison: explicit central
// differences of velocities, with the same contact potential as `potential`. Rotations in the manner of Krysl and
// Endres (2005), by the angular velocity and acceleration in body axes,
//
//     R' = R exp(h W + h^2/2 A),   W' = W + h/2 (A + A'),   J A = T - W x J W,
//
// the last one implicit in W'. Translations are those of Stoermer and Verlet; angular momentum is kept to second order
// only, unlike by the variational integrator.
#include <math.h>

#include "base/tape.h"
#include "model/fields.h"
#include "model/model.h"
#include "step/potential/potential.h"

typedef struct newmark {
  carom_contact_potential *contact;
  bool fields;
  carom_loads loads;
  carom_mat3 *d, *d_rate;
  carom_vec3 *v;
  carom_vec3 *spins;  // (body_count) angular velocities in body axes at the start of the step
} newmark;

static void push(carom_stepper *stepper, carom_arena *arena) {
  int n = stepper->model->body_count;
  newmark counted = {0}, *own = CAROM_PUSH(arena, newmark, 1), *w = own ? own : &counted;
  stepper->work = own;
  carom_loads_push(&w->loads, arena, stepper->model);
  w->v = CAROM_PUSH(arena, carom_vec3, n);
  w->spins = CAROM_PUSH(arena, carom_vec3, n);
  w->d = CAROM_PUSH(arena, carom_mat3, n);
  w->d_rate = CAROM_PUSH(arena, carom_mat3, n);
}

static carom_status prepare(carom_stepper *stepper, carom_error *error) {
  const carom_model *model = stepper->model;
  newmark *w = stepper->work;
  w->fields = carom_fields_present(model);
  return carom_contact_potential_create(model, &stepper->allocator, &w->contact, error);
}

static carom_status begin(carom_stepper *stepper, const carom_state *state, carom_error *error) {
  newmark *w = stepper->work;
  return carom_potential_tune(stepper, w->contact, state, stepper->options.step, error);
}

static void release(carom_stepper *stepper) {
  newmark *w = stepper->work;
  if (w) carom_contact_potential_destroy(w->contact);
}

// ---- forces --------------------------------------------------------------------------------------------------------

// Gravity and fields for a time dt.
static void kick(carom_stepper *stepper, carom_state *state, double time, double dt, carom_ledger *ledger) {
  newmark *w = stepper->work;
  carom_resultant outside = {0};
  for (int i = 0; i < state->body_count && w->fields; i++) {
    w->d[i] = cm_rotation(state->q[i]);
    w->v[i] = carom_state_velocity(stepper->model, state, i);
    w->d_rate[i] = cm_mmul(cm_hat(carom_state_angular_velocity(stepper->model, state, i)), w->d[i]);
  }
  if (w->fields) {
    carom_configuration c = {.time = time, .x = state->x, .d = w->d, .v = w->v, .dv = w->d_rate};
    carom_fields_evaluate(stepper->model, &c, &w->loads);
    outside = carom_fields_resultant(stepper->model, &c, &w->loads);
  }
  for (int i = 0; i < state->body_count; i++) {
    const carom_body *body = &stepper->model->bodies[i];
    if (body->fixed) continue;
    state->p[i] = cm_axpy(state->p[i], dt * body->mass, stepper->model->gravity);
    if (!w->fields) continue;
    carom_vec3 torque = cm_add(carom_director_torque(w->loads.g[i], w->d[i]), w->loads.torque[i]);
    state->p[i] = cm_axpy(state->p[i], dt, w->loads.f[i]);
    state->l[i] = cm_axpy(state->l[i], dt, torque);
  }
  carom_ledger_weight(ledger, state->x, dt);
  carom_ledger_fields(ledger, &outside, dt);
}

// ---- motion --------------------------------------------------------------------------------------------------------

// x' = x + h v_half; R' = R exp(h W_half), where W_half also has half a step of the gyroscopic acceleration at the
// start, W. The momentum in body axes is carried along.
static void move(const carom_body *body, carom_state *state, int i, carom_vec3 W, double h) {
  if (body->fixed) return;
  carom_vec3 L = cm_unrotate(state->q[i], state->l[i]);
  carom_vec3 L_half = cm_axpy(L, -0.5 * h, cm_cross(W, cm_mul_diag(body->inertia, W)));
  carom_vec3 turn = cm_scale(h, cm_mul_diag(body->inverse_inertia, L_half));
  state->x[i] = cm_axpy(state->x[i], h * body->inverse_mass, state->p[i]);
  state->q[i] = cm_qunit(cm_qmul(state->q[i], cm_exp(turn)));
  state->l[i] = cm_rotate(state->q[i], L_half);
}

// Solves J W + h/2 W x J W = L by fixed-point iteration; false when it does not converge.
static bool finish_turn(const carom_stepper *stepper, carom_state *state, int i, double h, carom_ledger *ledger) {
  const carom_body *body = &stepper->model->bodies[i];
  if (body->fixed) return true;
  carom_vec3 L = cm_unrotate(state->q[i], state->l[i]), now = L;
  double change = INFINITY;
  for (int k = 1; k <= stepper->options.max_iterations; k++) {
    carom_vec3 next = cm_axpy(L, -0.5 * h, cm_cross(cm_mul_diag(body->inverse_inertia, now), now));
    change = cm_norm(cm_sub(next, now));
    now = next;
    carom_ledger_note_solve(ledger, k, 0);
    if (change <= stepper->options.tolerance * cm_norm(L)) break;
  }
  state->l[i] = cm_rotate(state->q[i], now);
  return change <= 100 * stepper->options.tolerance * cm_norm(L);
}

static void drift(carom_stepper *stepper, carom_state *state, const carom_vec3 *W, double h) {
  for (int i = 0; i < state->body_count; i++) move(&stepper->model->bodies[i], state, i, W[i], h);
}

static carom_status finish(carom_stepper *stepper, carom_state *state, double h, carom_ledger *ledger,
                           carom_error *error) {
  for (int i = 0; i < state->body_count; i++)
    if (!finish_turn(stepper, state, i, h, ledger))
      return carom_fail(error, CAROM_NOT_CONVERGED,
                        "body '%s' turns too fast for the step at t = %.9g s: use a smaller step",
                        stepper->model->bodies[i].name, state->time);
  return CAROM_OK;
}

// Angular velocities in body axes before anything acts.
static void note_spins(const carom_stepper *stepper, const carom_state *state, carom_vec3 *W) {
  for (int i = 0; i < state->body_count; i++)
    W[i] = cm_mul_diag(stepper->model->bodies[i].inverse_inertia, cm_unrotate(state->q[i], state->l[i]));
}

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  newmark *w = stepper->work;
  carom_contact_potential *contact = w->contact;
  note_spins(stepper, state, w->spins);
  carom_status status = carom_potential_tune(stepper, contact, state, h, error);
  if (status == CAROM_OK) status = carom_contact_potential_update(contact, state, h, error);
  if (status == CAROM_OK) status = carom_contact_potential_kick(contact, state, 0.5 * h, ledger, error);
  if (status != CAROM_OK) return status;
  kick(stepper, state, state->time, 0.5 * h, ledger);
  drift(stepper, state, w->spins, h);
  carom_drives_place(stepper->model, state, end);
  status = carom_contact_potential_kick(contact, state, 0.5 * h, ledger, error);
  if (status != CAROM_OK) return status;
  kick(stepper, state, end, 0.5 * h, ledger);
  status = finish(stepper, state, h, ledger, error);
  if (status != CAROM_OK) return status;
  carom_ledger_stored(ledger, contact->energy);
  return carom_contact_potential_note(contact, ledger, error);
}

static bool remember(carom_stepper *stepper, carom_tape *tape) {
  newmark *w = stepper->work;
  return carom_contact_potential_remember(w->contact, tape);
}

const carom_integrator carom_integrator_newmark = {
    .name = "newmark",
    .summary = "explicit Newmark (beta 0, gamma 1/2) with the contact potential, for comparison",
    .honours = &carom_honours_newmark,
    CAROM_STATIC_LIFE,
    .begin = begin,
    .advance = advance,
};
