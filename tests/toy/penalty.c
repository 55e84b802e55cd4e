// The toy of docs/add-an-integrator.md. Where two parts overlap, a spring and a dashpot act along the normal,
//
//     f = -k gap - c rate >= 0,   c = 2 zeta sqrt(k m),   m the mass that the contact feels,
//
// in steps of symplectic Euler: momenta by the forces at the start of the step, then positions by those momenta. It
// knows no restitution, no friction and no joints; its table says so.
#include <math.h>

#include "contact/memory.h"
#include "contact/pairs.h"
#include "contact/reach.h"
#include "step/step.h"

static const double STIFFNESS = 1e5;     // k, N/m, unless the options have another
static const double DAMPING = 0.2;       // zeta
static const double LONGEST_STEP = 0.5;  // times the frequency of a contact; from 2 on the method explodes

const carom_honours carom_honours_penalty = {
    .options = {CAROM_TAKES_STEPS, [CAROM_OPTION_STIFFNESS] = CAROM_ABOVE(0, INFINITY)},
    .traits = {[CAROM_TRAIT_CONTACTS] = true, [CAROM_TRAIT_GRAVITY] = true},
};

typedef struct penalty {
  carom_contacts *pairs;
  carom_memory *memory;           // of what touched in the last step
  const carom_contact *contacts;  // (count) that overlap
  int count;
  double stiffness, stored;  // stored: in the springs, J
  double h, end;             // of this step
  carom_vec3 *v, *w;         // (body_count)
  double *reach;             // (body_count)
} penalty;

// ---- set-up and memory

static void push(carom_stepper *stepper, carom_arena *arena) {
  int n = stepper->model->body_count;
  penalty counted = {0}, *own = CAROM_PUSH(arena, penalty, 1), *w = own ? own : &counted;
  stepper->work = own;
  w->v = CAROM_PUSH(arena, carom_vec3, n);
  w->w = CAROM_PUSH(arena, carom_vec3, n);
  w->reach = CAROM_PUSH(arena, double, n);
}

static carom_status prepare(carom_stepper *stepper, carom_error *error) {
  penalty *w = stepper->work;
  w->stiffness = stepper->options.stiffness > 0 ? stepper->options.stiffness : STIFFNESS;
  carom_status status = carom_contacts_create(stepper->model, &stepper->allocator, &w->pairs, error);
  return status == CAROM_OK ? carom_memory_create(stepper->model, &stepper->allocator, &w->memory, error) : status;
}

static void release(carom_stepper *stepper) {
  penalty *w = stepper->work;
  if (!w) return;
  carom_contacts_destroy(w->pairs);
  carom_memory_destroy(w->memory);
}

static bool remember(carom_stepper *stepper, carom_tape *tape) {
  penalty *w = stepper->work;
  return carom_contacts_remember(w->pairs, tape) && carom_memory_remember(w->memory, tape);
}

// ---- find

// Pairs of parts that may touch before the step ends.
static carom_status find_pairs(const carom_stepper *stepper, const carom_state *state, carom_error *error) {
  penalty *w = stepper->work;
  for (int i = 0; i < state->body_count; i++) {
    w->v[i] = carom_state_velocity(stepper->model, state, i);
    w->w[i] = carom_state_angular_velocity(stepper->model, state, i);
  }
  carom_reach(stepper->model, &(carom_moving){.v = w->v, .w = w->w, .time = state->time, .h = w->h}, 0, w->reach);
  return carom_contacts_update(w->pairs, state, w->reach, error);
}

// Those that overlap now.
static carom_status find_contacts(penalty *w, const carom_state *state, carom_ledger *ledger, carom_error *error) {
  carom_contact_query query = {.detail = CAROM_CONTACT_NEAREST, .reach = 0};
  carom_status status = carom_contacts_find(w->pairs, state, &query, &w->contacts, &w->count, error);
  w->stored = 0;
  for (int i = 0; i < w->count && status == CAROM_OK; i++) {
    w->stored += 0.5 * w->stiffness * w->contacts[i].gap * w->contacts[i].gap;
    carom_ledger_note_overlap(ledger, -w->contacts[i].gap);
  }
  return status;
}

// ---- push and book

// The dashpot feels the mean of the rates before and after the push, so that it never makes energy:
// dashpot = -c h (rate + (spring + dashpot) / 2m).
static double impulse_of(const penalty *w, double spring, double rate, double mass) {
  double ch = 2 * DAMPING * sqrt(w->stiffness * mass) * w->h;
  double dashpot = -ch * (rate + spring / (2 * mass)) / (1 + ch / (2 * mass));
  return fmax(0, spring + dashpot);
}

// A contact that the memory does not know has just begun.
static carom_status note(const penalty *w, const carom_contact *c, double impulse, carom_ledger *ledger,
                         carom_error *error) {
  carom_vec3 on_a = cm_scale(impulse, c->normal), before;
  carom_memory_record record = {.key = carom_memory_parts(ledger->model, c->part_a, c->part_b),
                                .force = cm_scale(1 / w->h, on_a)};
  bool lasts = carom_memory_find(w->memory, c->body_a, record.key, record.point, &before);
  carom_event_kind kind = lasts ? CAROM_EVENT_CONTACT : CAROM_EVENT_IMPACT;
  carom_contact_event event = {.kind = kind,
                               .time = w->end,
                               .body_a = c->body_a,
                               .body_b = c->body_b,
                               .point = c->point_b,
                               .normal = c->normal,
                               .impulse = on_a};
  carom_status status = carom_ledger_event(ledger, &event, error);
  return status == CAROM_OK ? carom_memory_note(w->memory, c->body_a, &record, error) : status;
}

static carom_status push_apart(const carom_stepper *stepper, carom_state *state, const carom_contact *c,
                               carom_ledger *ledger, carom_error *error) {
  const carom_model *model = stepper->model;
  const penalty *w = stepper->work;
  carom_row row = carom_row_at(c->body_a, c->body_b, c->normal, c->point_b, state->x);
  double mass = 1 / carom_row_answer(model, &row, state->q), rate = carom_row_state_rate(model, &row, state);
  if (w->h * sqrt(w->stiffness / mass) > LONGEST_STEP)
    return carom_fail(error, CAROM_NOT_CONVERGED,
                      "bodies '%s' and '%s' touch too stiffly for the step at t = %.9g s: use one below %.2g s",
                      model->bodies[c->body_a].name, model->bodies[c->body_b].name, state->time,
                      LONGEST_STEP * sqrt(mass / w->stiffness));
  double spring = -w->stiffness * c->gap * w->h, impulse = impulse_of(w, spring, rate, mass);
  carom_row_push(model, &row, impulse, state->p, state->l);
  double mean_rate = 0.5 * (rate + carom_row_state_rate(model, &row, state));
  carom_ledger_row(ledger, &row, impulse, state->x);
  carom_ledger_loss(ledger, (spring - impulse) * mean_rate, 0);
  return note(w, c, impulse, ledger, error);
}

static carom_status push_all(const carom_stepper *stepper, carom_state *state, carom_ledger *ledger,
                             carom_error *error) {
  const penalty *w = stepper->work;
  carom_status status = CAROM_OK;
  carom_memory_begin(w->memory);
  for (int i = 0; i < w->count && status == CAROM_OK; i++)
    status = push_apart(stepper, state, &w->contacts[i], ledger, error);
  return status == CAROM_OK ? carom_memory_end(w->memory, error) : status;
}

// ---- move

static void kick(const carom_model *model, carom_state *state, double dt, carom_ledger *ledger) {
  carom_ledger_weight(ledger, state->x, dt);
  for (int i = 0; i < state->body_count; i++)
    if (!model->bodies[i].fixed) state->p[i] = cm_axpy(state->p[i], dt * model->bodies[i].mass, model->gravity);
}

static void drift(const carom_model *model, carom_state *state, double h) {
  for (int i = 0; i < state->body_count; i++) {
    carom_vec3 turn = cm_scale(h, carom_state_angular_velocity(model, state, i));
    state->x[i] = cm_axpy(state->x[i], h, carom_state_velocity(model, state, i));
    state->q[i] = cm_qunit(cm_qmul(cm_exp(turn), state->q[i]));
  }
}

// Half of the weight acts before the contacts and half after, so that at rest the mean rate is zero, and the dashpot
// does nothing.
static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  penalty *w = stepper->work;
  w->h = h, w->end = end;
  carom_status status = find_pairs(stepper, state, error);
  if (status == CAROM_OK) status = find_contacts(w, state, ledger, error);
  if (status != CAROM_OK) return status;
  kick(stepper->model, state, 0.5 * h, ledger);
  status = push_all(stepper, state, ledger, error);
  kick(stepper->model, state, 0.5 * h, ledger);
  drift(stepper->model, state, h);
  if (status == CAROM_OK) status = find_contacts(w, state, ledger, error);
  carom_ledger_stored(ledger, w->stored);
  return status;
}

const carom_integrator carom_integrator_penalty = {
    .name = "penalty",
    .summary = "a toy: springs and dashpots where bodies overlap, explicit",
    .honours = &carom_honours_penalty,
    .push = push,
    .prepare = prepare,
    .advance = advance,
    .release = release,
    .remember = remember,
};
