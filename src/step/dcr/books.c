// From the solution to state and ledger: impulses act, and what they did is booked.
#include <math.h>

#include "contact/solve/problem.h"
#include "step/dcr/dcr.h"
#include "step/variational/constrained.h"

// ---- energy -------------------------------------------------------------------------------------------------------

// Work of an impulse, along the normal and across it: its product with the mean of the velocities before and after; and
// its share in the kick of the forces that lasting contacts take up.
typedef struct account {
  double rise[2];      // of the state's energy
  double taken_up[2];  // half the product of the impulse with the kick
} account;

static account account_contact(const carom_dcr *w, int i, double kick) {
  const carom_contact_solution *s = &w->gathering->solution;
  const carom_contact_point *c = &w->gathering->contacts[i];
  carom_vec3 P = s->impulses[i], n = c->normal;
  carom_vec3 mean = cm_scale(0.5, cm_add(w->touches[i].before, carom_contact_slip(c, s->velocities, s->spins)));
  carom_vec3 half_kick = cm_scale(0.5 * kick, carom_contact_slip(c, w->free.a, w->free.alpha));
  double Pn = cm_dot(P, n), along = Pn * cm_dot(n, mean), kicked = Pn * cm_dot(n, half_kick);
  return (account){{along, cm_dot(P, mean) - along}, {kicked, cm_dot(P, half_kick) - kicked}};
}

static account account_limit(const carom_dcr *w, int row, double kick) {
  const carom_contact_solution *s = &w->gathering->solution;
  const carom_contact_row *r = &w->gathering->rows[row];
  double mean = 0.5 * (w->bars[row].before + carom_contact_rate(r, s->velocities, s->spins));
  return (account){{s->multipliers[row] * mean, 0},
                   {s->multipliers[row] * 0.5 * kick * carom_contact_rate(r, w->free.a, w->free.alpha), 0}};
}

static void book_impact(const account *a, carom_ledger *ledger) { carom_ledger_loss(ledger, -a->rise[0], -a->rise[1]); }

// A contact that lasts takes up a kick of the forces; what it dissipates is measured from before that kick, so that a
// body at rest loses nothing. The state, though, sees the impulse alone: the difference, which the two halves of a step
// give and take, is booked with the projection.
static void book_lasting(const account *a, carom_dcr_half half, carom_ledger *ledger) {
  double lost[2], exchanged = 0;
  for (int k = 0; k < 2; k++) {
    lost[k] = fmax(0, a->taken_up[k] - a->rise[k]);
    exchanged += a->rise[k] - (half == CAROM_DCR_REST ? 2 * a->taken_up[k] : 0);
  }
  carom_ledger_loss(ledger, lost[0], lost[1]);
  carom_ledger_projection(ledger, exchanged + lost[0] + lost[1], cm_zero3(), cm_zero3());
}

// A joint does no work; what its impulse changes in the state's energy belongs to the half kick that it takes up. What
// a motor asks for is work.
static void book_joint(const carom_dcr *w, int row, const carom_dcr_solve *solve, carom_ledger *ledger) {
  const carom_contact_row *r = &w->gathering->rows[row];
  double lambda = w->gathering->solution.multipliers[row], asked = -lambda * r->bias;
  account a = account_limit(w, row, 0.5 * solve->dt);
  double taken_up = solve->half == CAROM_DCR_REST ? 2 * a.taken_up[0] : 0;
  carom_ledger_projection(ledger, a.rise[0] - taken_up - asked, cm_zero3(), cm_zero3());
  carom_ledger_work(ledger, asked);
}

// Losses are those of relative velocities; what a driven B does besides is work.
static double work_of_drive(const carom_dcr *w, int i) {
  const carom_contact_point *c = &w->gathering->contacts[i];
  const carom_contact_solution *s = &w->gathering->solution;
  if (w->gathering->bodies[c->b].inverse_mass > 0) return 0;
  return cm_dot(s->impulses[i], cm_add(s->velocities[c->b], cm_cross(s->spins[c->b], c->arm_b)));
}

// ---- impulses -----------------------------------------------------------------------------------------------------

static void act(carom_stepper *stepper, carom_state *state, const carom_row *row, double impulse,
                carom_ledger *ledger) {
  carom_row_push(stepper->model, row, impulse, state->p, state->l);
  carom_ledger_row(ledger, row, impulse, state->x);
}

static void note_pair(carom_dcr_pair *pair, carom_vec3 P, const carom_contact *c) {
  double size = cm_norm(P);
  pair->impulse = cm_add(pair->impulse, P);
  pair->moment = cm_axpy(pair->moment, size, cm_lerp(c->point_a, c->point_b, 0.5));
  pair->weight += size;
  pair->normal = c->normal;
}

static void book_contact(carom_stepper *stepper, carom_state *state, const carom_dcr_solve *solve, int i,
                         carom_ledger *ledger) {
  carom_dcr *w = stepper->work;
  const carom_contact *c = &solve->contacts[w->touches[i].contact];
  carom_vec3 P = w->gathering->solution.impulses[i];
  if (cm_norm2(P) == 0) return;
  carom_dcr_pair *pair = carom_dcr_pair_of(w, c->pair);
  account a = account_contact(w, i, 0.5 * solve->dt);
  pair->rested = pair->rested || solve->half == CAROM_DCR_REST;
  if (pair->rested && !pair->impact)
    book_lasting(&a, solve->half, ledger);
  else
    book_impact(&a, ledger);
  carom_row row = carom_row_at(c->body_a, c->body_b, P, cm_lerp(c->point_a, c->point_b, 0.5), state->x);
  act(stepper, state, &row, 1, ledger);
  if (stepper->model->drive_count > 0) carom_ledger_work(ledger, work_of_drive(w, i));
  note_pair(pair, P, c);
}

static void book_row(carom_stepper *stepper, carom_state *state, const carom_dcr_solve *solve, int i,
                     carom_ledger *ledger) {
  carom_dcr *w = stepper->work;
  double lambda = w->gathering->solution.multipliers[i];
  if (lambda == 0) return;
  if (w->gathering->sources[i].kind == CAROM_ROW_JOINT) {
    book_joint(w, i, solve, ledger);
  } else {
    account a = account_limit(w, i, 0.5 * solve->dt);
    if (solve->half == CAROM_DCR_REST || w->bars[i].before >= -w->bars[i].slow)
      book_lasting(&a, solve->half, ledger);
    else
      book_impact(&a, ledger);
  }
  carom_row row = carom_gathering_row(w->gathering, i);
  act(stepper, state, &row, lambda, ledger);
}

void carom_dcr_book(carom_stepper *stepper, carom_state *state, const carom_dcr_solve *solve, carom_ledger *ledger) {
  carom_dcr *w = stepper->work;
  for (int i = 0; i < w->gathering->contact_count; i++) book_contact(stepper, state, solve, i, ledger);
  for (int i = 0; i < w->gathering->row_count; i++) book_row(stepper, state, solve, i, ledger);
}

// ---- joints of bodies at rest -------------------------------------------------------------------------------------

void carom_dcr_note_rested(carom_stepper *stepper) {
  carom_dcr *w = stepper->work;
  for (int i = 0; i < w->gathering->row_count; i++) {
    int body[2] = {w->gathering->rows[i].a, w->gathering->rows[i].b};
    for (int k = 0; k < 2; k++)
      if (carom_body_moves(stepper->model, body[k]))
        w->rested.body[body[k]] = w->groups->groups[w->groups->of_body[body[k]]].state != CAROM_GROUP_IDLE;
  }
}

// Kinetic energy that impulses of joints, mu, gave to the bodies that rested.
static double given_by(carom_stepper *stepper, const carom_state *state, const carom_constrained *joints) {
  carom_dcr_rested *r = &((carom_dcr *)stepper->work)->rested;
  const carom_model *model = stepper->model;
  double given = 0;
  carom_state_copy(r->before, state);
  for (int i = 0; i < model->joint_count * CAROM_JOINT_ROWS; i++) r->minus_mu[i] = -joints->mu[i];
  carom_joint_system_push(joints->system, r->minus_mu, r->before->p, r->before->l);
  for (int i = 0; i < state->body_count; i++) {
    if (!r->body[i]) continue;
    carom_vec3 v = cm_add(carom_state_velocity(model, state, i), carom_state_velocity(model, r->before, i));
    carom_vec3 spin =
        cm_add(carom_state_angular_velocity(model, state, i), carom_state_angular_velocity(model, r->before, i));
    given += 0.5 * cm_dot(v, cm_sub(state->p[i], r->before->p[i])) +
             0.5 * cm_dot(spin, cm_sub(state->l[i], r->before->l[i]));
  }
  return given;
}

// Joints that took up the first half kick in `rest` take up the second when the smooth motion is settled: both halves
// are booked alike.
void carom_dcr_book_settling(carom_stepper *stepper, const carom_state *state, carom_ledger *ledger) {
  const carom_dcr *w = stepper->work;
  const carom_constrained *joints = carom_variational_joints(stepper);
  bool any = false;
  for (int i = 0; i < state->body_count; i++) any = any || w->rested.body[i];
  if (joints && any) carom_ledger_projection(ledger, given_by(stepper, state, joints), cm_zero3(), cm_zero3());
}

// ---- events -------------------------------------------------------------------------------------------------------

carom_status carom_dcr_book_events(carom_stepper *stepper, double time, carom_ledger *ledger, carom_error *error) {
  const carom_dcr *w = stepper->work;
  carom_status status = CAROM_OK;
  for (int i = 0; i < w->contacts->pair_count && status == CAROM_OK; i++) {
    const carom_dcr_pair *pair = carom_dcr_pair_of(w, i);
    if (pair->weight == 0) continue;
    carom_contact_event event = {.kind = pair->impact ? CAROM_EVENT_IMPACT : CAROM_EVENT_CONTACT,
                                 .time = time,
                                 .body_a = w->contacts->pairs[i].body_a,
                                 .body_b = w->contacts->pairs[i].body_b,
                                 .point = cm_scale(1 / pair->weight, pair->moment),
                                 .normal = pair->normal,
                                 .impulse = pair->impulse};
    status = carom_ledger_event(ledger, &event, error);
  }
  return status;
}
