// The integrator `newmark` (Johnson 2012, 3.2.1, with beta = 0 and gamma = 1/2), for comparison: explicit central
// differences of velocities, with the same contact potential as `potential`. Rotations by the angular velocity and
// acceleration in body axes (Simo and Wong 1991; Krysl and Endres 2005),
//
//     R' = R exp(h W + h^2/2 A),   J A = T - W x J W,   l' = l + h/2 (t + t'),   J W = R^T l,
//
// in the form that keeps momenta: what is carried from step to step is the angular momentum l in world axes, which
// torques t = R T alone change; the angular velocity follows from it. All of it is explicit. Translations are those of
// Stoermer and Verlet.
#include "base/tape.h"
#include "model/fields.h"
#include "model/model.h"
#include "step/potential/potential.h"
#include "step/solids.h"

// In a step, rad: beyond, the series in h that the rotation is the start of says nothing.
static const double LARGEST_TURN = 1;

typedef struct newmark {
  carom_contact_potential *contact;
  bool fields;
  carom_solids solids;
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
  carom_solids_push(&w->solids, arena, stepper->model);
  w->v = CAROM_PUSH(arena, carom_vec3, n);
  w->spins = CAROM_PUSH(arena, carom_vec3, n);
  w->d = CAROM_PUSH(arena, carom_mat3, n);
  w->d_rate = CAROM_PUSH(arena, carom_mat3, n);
}

static carom_status prepare(carom_stepper *stepper, carom_error *error) {
  const carom_model *model = stepper->model;
  newmark *w = stepper->work;
  w->fields = carom_fields_present(model);
  carom_status status = carom_solids_prepare(stepper, &w->solids, error);
  if (status != CAROM_OK) return status;
  return carom_contact_potential_create(model, &stepper->allocator, &w->contact, error);
}

static carom_status begin(carom_stepper *stepper, const carom_state *state, carom_error *error) {
  newmark *w = stepper->work;
  return carom_potential_tune(stepper, w->contact, state, stepper->options.step / stepper->parts, error);
}

static void release(carom_stepper *stepper) {
  newmark *w = stepper->work;
  if (!w) return;
  carom_contact_potential_destroy(w->contact);
  carom_solids_free(&w->solids);
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
    carom_configuration c = {
        .time = time, .x = state->x, .d = w->d, .v = w->v, .dv = w->d_rate, .inputs = state->inputs};
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

// x' = x + h v_half; R' = R exp(h W_half), where J W_half has half a step of the torque, which the momentum has
// already, and of the gyroscopic acceleration at the start, W. Returns how far it turns, rad.
static double move(const carom_body *body, carom_state *state, int i, carom_vec3 W, double h) {
  if (body->fixed) return 0;
  carom_vec3 L = cm_unrotate(state->q[i], state->l[i]);
  carom_vec3 L_half = cm_axpy(L, -0.5 * h, cm_cross(W, cm_mul_diag(body->inertia, W)));
  carom_vec3 turn = cm_scale(h, cm_mul_diag(body->inverse_inertia, L_half));
  state->x[i] = cm_axpy(state->x[i], h * body->inverse_mass, state->p[i]);
  state->q[i] = cm_qunit(cm_qmul(state->q[i], cm_exp(turn)));
  return cm_norm(turn);
}

static carom_status drift(const carom_stepper *stepper, carom_state *state, const carom_vec3 *W, double h,
                          carom_error *error) {
  for (int i = 0; i < state->body_count; i++) {
    const carom_body *body = &stepper->model->bodies[i];
    double turn = move(body, state, i, W[i], h);
    if (turn <= LARGEST_TURN) continue;
    return carom_fail(error, CAROM_NOT_CONVERGED,
                      "body '%s' turns by %.3g rad in one step at t = %.9g s: use a step below %.2g s", body->name,
                      turn, state->time, LARGEST_TURN * h / turn);
  }
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
  if (status == CAROM_OK) status = carom_solids_learn(&w->solids, contact->soft, state, h, error);
  if (status == CAROM_OK) status = carom_contact_potential_kick(contact, state, 0.5 * h, ledger, error);
  if (status == CAROM_OK && contact->soft) status = carom_soft_begin(contact->soft, state, 0.5 * h, ledger, error);
  if (status != CAROM_OK) return status;
  kick(stepper, state, state->time, 0.5 * h, ledger);
  status = drift(stepper, state, w->spins, h, error);
  carom_drives_place(stepper->model, state, end);
  if (status == CAROM_OK) status = carom_solids_advance(&w->solids, contact->soft, state, h, ledger, error);
  if (status == CAROM_OK && contact->soft) status = carom_soft_end_step(contact->soft, state, 0.5 * h, ledger, error);
  if (status != CAROM_OK) return status;
  status = carom_contact_potential_kick(contact, state, 0.5 * h, ledger, error);
  if (status != CAROM_OK) return status;
  kick(stepper, state, end, 0.5 * h, ledger);
  carom_ledger_stored(ledger, contact->energy + (contact->soft ? carom_soft_stored(contact->soft) : 0));
  return carom_contact_potential_note(contact, ledger, error);
}

static bool remember(carom_stepper *stepper, carom_tape *tape) {
  newmark *w = stepper->work;
  return carom_contact_potential_remember(w->contact, tape) && carom_solids_remember(&w->solids, tape);
}

const carom_integrator carom_integrator_newmark = {
    .name = "newmark",
    .summary = "explicit Newmark (beta 0, gamma 1/2) with the contact potential, for comparison",
    .honours = &carom_honours_newmark,
    CAROM_STATIC_LIFE,
    .begin = begin,
    .advance = advance,
};
