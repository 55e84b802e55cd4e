// From the solution to state and ledger: impulses act, and what they did is booked.
#include <math.h>

#include "contact/solve/problem.h"
#include "step/dcr/dcr.h"

// ---- energy -------------------------------------------------------------------------------------------------------
// What contacts and projections do to a body's energy is noted as its debt. `rest` lends what the impact then takes
// back, as long as a contact lasts; a projection lifts bodies, which impacts pay for (impact.c). At the end of a cycle
// groups that own less than they did book the difference as a loss; others go on owing it.

static void owe(carom_stepper *stepper, int a, int b, double energy) {
  carom_dcr *w = stepper->work;
  bool both = carom_body_moves(stepper->model, b);
  w->debt[a] += both ? 0.5 * energy : energy;
  if (both) w->debt[b] += 0.5 * energy;
}

static void owe_contact(carom_stepper *stepper, int i, carom_ledger *ledger) {
  const carom_dcr *w = stepper->work;
  const carom_contact_point *c = &w->gathering->contacts[i];
  carom_vec3 P = w->gathering->solution.impulses[i], after = carom_contact_slip(c, w->free.v, w->free.w);
  carom_vec3 mean = cm_scale(0.5, cm_add(w->touches[i].from, after));
  double gain = cm_dot(P, mean), friction = cm_dot(P, c->normal) * cm_dot(c->normal, mean) - gain;
  owe(stepper, c->a, c->b, gain);
  carom_ledger_loss(ledger, -friction, friction);  // of the whole loss, which is booked at the end as restitution
}

static void owe_limit(carom_stepper *stepper, int row) {
  const carom_dcr *w = stepper->work;
  const carom_contact_row *r = &w->gathering->rows[row];
  double after = carom_contact_rate(r, w->free.v, w->free.w);
  bool a = carom_body_moves(stepper->model, r->a);
  owe(stepper, a ? r->a : r->b, a ? r->b : CAROM_WORLD,
      0.5 * w->gathering->solution.multipliers[row] * (w->bars[row].from + after));
}

// Joints do no work, and motors what they ask for.
static void owe_all(carom_stepper *stepper, const carom_state *state, carom_ledger *ledger) {
  carom_dcr *w = stepper->work;
  const carom_contact_solution *s = &w->gathering->solution;
  for (int i = 0; i < state->body_count; i++) {
    bool fixed = stepper->model->bodies[i].fixed;  // perhaps driven
    w->free.v[i] = fixed ? s->velocities[i] : carom_state_velocity(stepper->model, state, i);
    w->free.w[i] = fixed ? s->spins[i] : carom_state_angular_velocity(stepper->model, state, i);
  }
  for (int i = 0; i < w->gathering->contact_count; i++) owe_contact(stepper, i, ledger);
  for (int i = 0; i < w->gathering->row_count; i++)
    if (w->gathering->sources[i].kind == CAROM_ROW_LIMIT) owe_limit(stepper, i);
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

static const double ALIKE = 1e-7;  // 1 - cos of the angle between normals whose impulses may be told as one

static carom_status tell_pair(const carom_dcr *w, int i, double time, carom_ledger *ledger, carom_error *error) {
  carom_dcr_pair *pair = carom_dcr_pair_of(w, i);
  if (!(pair->weight > 0)) return CAROM_OK;
  carom_contact_event event = {.kind = pair->impact ? CAROM_EVENT_IMPACT : CAROM_EVENT_CONTACT,
                               .time = time,
                               .body_a = w->contacts->pairs[i].body_a,
                               .body_b = w->contacts->pairs[i].body_b,
                               .point = cm_scale(1 / pair->weight, pair->moment),
                               .normal = cm_unit(pair->normal),
                               .impulse = pair->impulse};
  w->pushed[event.body_a] += cm_norm(event.impulse);
  w->pushed[event.body_b] += cm_norm(event.impulse);
  pair->impulse = pair->moment = pair->normal = cm_zero3();
  pair->weight = 0;
  return carom_ledger_event(ledger, &event, error);
}

static void note_pair(carom_dcr_pair *pair, carom_vec3 P, const carom_contact *c) {
  double size = cm_dot(P, c->normal);
  pair->impulse = cm_add(pair->impulse, P);
  pair->moment = cm_axpy(pair->moment, size, cm_lerp(c->point_a, c->point_b, 0.5));
  pair->weight += size;
  pair->normal = cm_axpy(pair->normal, size, c->normal);
}

// A pair may turn between the halves of a cycle, from face to edge: the impulses then have cones of their own.
static carom_status book_contact(carom_stepper *stepper, carom_state *state, const carom_dcr_solve *solve, int i,
                                 carom_ledger *ledger, carom_error *error) {
  carom_dcr *w = stepper->work;
  const carom_contact *c = &solve->contacts[w->touches[i].contact];
  carom_vec3 P = w->gathering->solution.impulses[i];
  if (cm_norm2(P) == 0) return CAROM_OK;
  carom_dcr_pair *pair = carom_dcr_pair_of(w, c->pair);
  carom_status status = CAROM_OK;
  if (pair->weight > 0 && cm_dot(pair->normal, c->normal) < (1 - ALIKE) * pair->weight)
    status = tell_pair(w, c->pair, state->time, ledger, error);
  pair->rested = pair->rested || solve->half == CAROM_DCR_REST;
  carom_row row = carom_row_at(c->body_a, c->body_b, P, cm_lerp(c->point_a, c->point_b, 0.5), state->x);
  act(stepper, state, &row, 1, ledger);
  if (stepper->model->drive_count > 0) carom_ledger_work(ledger, work_of_drive(w, i));
  note_pair(pair, P, c);
  return status;
}

static void book_row(carom_stepper *stepper, carom_state *state, int i, carom_ledger *ledger) {
  carom_dcr *w = stepper->work;
  double lambda = w->gathering->solution.multipliers[i];
  if (lambda == 0) return;
  if (w->gathering->sources[i].kind == CAROM_ROW_JOINT) carom_ledger_work(ledger, -lambda * w->gathering->rows[i].bias);
  carom_row row = carom_gathering_row(w->gathering, i);
  act(stepper, state, &row, lambda, ledger);
}

// What joints do about the kick, the smooth motion does itself; here only what they do about the contacts that rest.
static carom_status impose_joints(carom_stepper *stepper, carom_state *state, carom_ledger *ledger,
                                  carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_status status = carom_joints_impose(w->joints, state, state->time, w->joint_impulses, error);
  if (status == CAROM_OK) carom_ledger_joints(ledger, state, state->time, w->joint_impulses);
  return status;
}

carom_status carom_dcr_book(carom_stepper *stepper, carom_state *state, const carom_dcr_solve *solve,
                            carom_ledger *ledger, carom_error *error) {
  carom_dcr *w = stepper->work;
  bool rest = solve->half == CAROM_DCR_REST, joints = false;
  carom_status status = CAROM_OK;
  for (int i = 0; i < w->gathering->contact_count && status == CAROM_OK; i++)
    status = book_contact(stepper, state, solve, i, ledger, error);
  for (int i = 0; i < w->gathering->row_count; i++) {
    bool joint = w->gathering->sources[i].kind == CAROM_ROW_JOINT;
    joints = joints || joint;
    if (!rest || !joint) book_row(stepper, state, i, ledger);
  }
  if (rest && joints && status == CAROM_OK) status = impose_joints(stepper, state, ledger, error);
  if (status == CAROM_OK) owe_all(stepper, state, ledger);
  return status;
}

// ---- losses -------------------------------------------------------------------------------------------------------

double carom_dcr_debt_of(const carom_dcr *w, const carom_group *g) {
  double debt = 0;
  for (int i = 0; i < g->moving; i++) debt += w->debt[g->body[i]];
  return debt;
}

static double take_loss(double *debt) {
  double lost = fmax(0, -*debt);
  *debt = fmax(0, *debt);
  return lost;
}

void carom_dcr_book_losses(carom_stepper *stepper, carom_ledger *ledger) {
  carom_dcr *w = stepper->work;
  double lost = 0;
  for (int i = 0; i < w->groups->count; i++) {
    const carom_group *g = &w->groups->groups[i];
    double debt = carom_dcr_debt_of(w, g);
    lost += take_loss(&debt);
    for (int k = 0; k < g->moving; k++) w->debt[g->body[k]] = debt / g->moving;
  }
  for (int i = 0; i < stepper->model->body_count; i++) lost += take_loss(&w->debt[i]);
  carom_ledger_loss(ledger, lost, 0);
}

// ---- events -------------------------------------------------------------------------------------------------------

carom_status carom_dcr_book_events(carom_stepper *stepper, double time, carom_ledger *ledger, carom_error *error) {
  const carom_dcr *w = stepper->work;
  carom_status status = CAROM_OK;
  for (int i = 0; i < w->contacts->pair_count && status == CAROM_OK; i++) status = tell_pair(w, i, time, ledger, error);
  return status;
}
