// What forces of contacts do in a time, besides to the nodes, which take them with all others: bodies get the opposite,
// and the books are kept.
#include <math.h>
#include <string.h>

#include "contact/soft.h"
#include "model/row.h"

// ---- how ends move and answer ---------------------------------------------------------------------------------------

carom_vec3 carom_soft_velocity(const carom_soft *s, const carom_state *state, const carom_vec3 *rates,
                               const carom_soft_end *end) {
  carom_vec3 v = cm_zero3(), w = cm_zero3();
  if (carom_soft_is_solid(end)) {
    for (int k = 0; k < 3; k++) v = cm_axpy(v, end->weight[k], rates[end->node[k]]);
    return v;
  }
  if (!s->model->bodies[end->body].fixed) {
    v = carom_state_velocity(s->model, state, end->body);
    w = carom_state_angular_velocity(s->model, state, end->body);
  } else if (s->model->drive_count > 0) {
    carom_model_motion(s->model, end->body, s->time, s->span, &v, &w);
  }
  return cm_add(v, cm_cross(w, cm_sub(end->point, state->x[end->body])));
}

carom_vec3 carom_soft_slip(const carom_soft *s, const carom_state *state, const carom_vec3 *rates,
                           const carom_soft_contact *c) {
  return cm_sub(carom_soft_velocity(s, state, rates, &c->end[0]), carom_soft_velocity(s, state, rates, &c->end[1]));
}

static carom_vec3 way_of(const carom_soft *s, const carom_state *state, const carom_soft_end *end) {
  carom_vec3 way = cm_zero3();
  if (!carom_soft_is_solid(end)) return cm_scale(s->span, carom_soft_velocity(s, state, s->rates, end));
  for (int k = 0; k < 3; k++) {
    int node = end->node[k];
    way = cm_axpy(way, end->weight[k], cm_sub(s->nodes[node], s->was[node]));
  }
  return way;
}

carom_vec3 carom_soft_way(const carom_soft *s, const carom_state *state, const carom_soft_contact *c) {
  if (!s->moved) return cm_zero3();
  return cm_sub(way_of(s, state, &c->end[0]), way_of(s, state, &c->end[1]));
}

static double answer_of(const carom_soft *s, const carom_state *state, const carom_soft_end *end,
                        carom_vec3 direction) {
  double answer = 0;
  if (carom_soft_is_solid(end)) {
    for (int k = 0; k < 3; k++) answer += end->weight[k] * end->weight[k] * s->inverse_mass[end->node[k]];
    return answer;
  }
  if (s->model->bodies[end->body].fixed) return 0;
  carom_row row = carom_row_at(end->body, CAROM_WORLD, direction, end->point, state->x);
  return carom_row_answer(s->model, &row, state->q);
}

double carom_soft_felt_mass(const carom_soft *s, const carom_state *state, const carom_soft_contact *c,
                            carom_vec3 along) {
  return 1 / (answer_of(s, state, &c->end[0], along) + answer_of(s, state, &c->end[1], along));
}

// ---- a kick ---------------------------------------------------------------------------------------------------------

static void push_body(const carom_soft *s, carom_state *state, const carom_soft_end *end, carom_vec3 impulse,
                      carom_ledger *ledger) {
  int b = end->body;
  if (s->model->bodies[b].fixed) {
    carom_ledger_outside_at(ledger, cm_neg(impulse), end->point);
    carom_ledger_work(ledger, -cm_dot(impulse, carom_soft_velocity(s, state, s->rates, end)));
    return;
  }
  state->p[b] = cm_add(state->p[b], impulse);
  state->l[b] = cm_add(state->l[b], cm_cross(cm_sub(end->point, state->x[b]), impulse));
}

// Nodes have theirs, which their own books take for something from outside; here that is taken back.
static void pass_end(const carom_soft *s, carom_state *state, const carom_soft_end *end, carom_vec3 impulse,
                     carom_ledger *ledger) {
  if (carom_soft_is_solid(end))
    carom_ledger_outside_at(ledger, cm_neg(impulse), end->point);
  else
    push_body(s, state, end, impulse, ledger);
}

static void pass_on(const carom_soft *s, carom_state *state, carom_soft_contact *c, double dt, carom_ledger *ledger) {
  carom_vec3 pressed = cm_scale(dt * c->pressed, c->normal), grip = cm_scale(dt, cm_add(c->grip, c->across));
  double shares[3];
  for (int e = 0; e < 2; e++) {
    double sign = e == 0 ? 1 : -1;
    carom_soft_end end = c->end[e];
    pass_end(s, state, &end, cm_scale(sign, pressed), ledger);
    end.point = carom_soft_grip_point(c, e);
    pass_end(s, state, &end, cm_scale(sign, grip), ledger);
  }
  for (int e = 0; e < 2; e++) {
    carom_soft_counter(s, c, e, grip, shares);
    for (int k = 0; k < 3; k++)
      if (shares[k] != 0) carom_ledger_outside_at(ledger, cm_scale(-shares[k], c->normal), s->nodes[c->end[e].node[k]]);
  }
  c->impulse = cm_add(pressed, grip);
}

// What drag took, and what friction did, by velocities then.
static void book(carom_soft *s, const carom_state *state, double dt, carom_ledger *ledger) {
  for (int i = 0; i < s->count; i++) {
    const carom_soft_contact *c = &s->contacts[i];
    if (c->dragged == 0 && c->friction == 0) continue;
    carom_vec3 u = carom_soft_slip(s, state, s->rates, c);
    carom_ledger_loss(ledger, dt * c->dragged * cm_dot(c->normal, u), 0);
    s->rubbed += dt * cm_dot(c->grip, u);
  }
}

// `first`: at the start of a step. Between the two kicks bodies have the velocities by which forces of explicit steps
// do their work.
static carom_status kick(carom_soft *s, carom_state *state, bool first, double dt, carom_ledger *ledger,
                         carom_error *error) {
  if (!s->solved) s->rates = state->node_velocities;
  if (!s->solved) s->nodes = state->nodes;
  if (first || s->solved) book(s, state, dt, ledger);
  for (int i = 0; i < s->count; i++) pass_on(s, state, &s->contacts[i], dt, ledger);
  if (!first && !s->solved) book(s, state, dt, ledger);
  carom_ledger_note_overlap(ledger, s->depth);
  return carom_soft_tell(s, ledger, error);
}

// ---- a step ---------------------------------------------------------------------------------------------------------

carom_status carom_soft_begin(carom_soft *s, carom_state *state, double dt, carom_ledger *ledger, carom_error *error) {
  memcpy(s->was, state->nodes, (size_t)state->node_count * sizeof *s->was);
  s->rubbed = 0;
  s->moved = true;
  return dt > 0 ? kick(s, state, true, dt, ledger, error) : CAROM_OK;
}

static carom_status no_room(const carom_soft *s, const carom_soft_contact *c, carom_error *error) {
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "'%s' and '%s' are pressed %.3g m into each other at t = %.9g s, more than contact between such "
                    "tetrahedra can hold (%.3g m): use smaller steps, a stiffer material or a coarser mesh",
                    carom_model_name(s->model, c->end[0].body), carom_model_name(s->model, c->end[1].body), -c->gap,
                    s->time, c->deep);
}

carom_status carom_soft_end_step(carom_soft *s, carom_state *state, double dt, carom_ledger *ledger,
                                 carom_error *error) {
  for (int i = 0; i < s->count; i++)
    if (s->contacts[i].gap < -0.9 * s->contacts[i].deep) return no_room(s, &s->contacts[i], error);
  carom_status status = kick(s, state, false, dt, ledger, error);
  carom_soft_bend(s, s->rubbed, ledger);
  return status;
}

carom_status carom_soft_look(carom_soft *s, const carom_state *state, carom_error *error) {
  s->rates = state->node_velocities;
  return carom_soft_find(s, state, state->nodes, error);
}

double carom_soft_stored(const carom_soft *s) { return s->energy + s->bristle_energy; }

void carom_soft_stand(carom_soft *s, const carom_state *state) {
  size_t n = (size_t)state->body_count;
  memcpy(s->body_x, state->x, n * sizeof *s->body_x);
  memcpy(s->body_q, state->q, n * sizeof *s->body_q);
}

bool carom_soft_stands(const carom_soft *s, const carom_state *state) {
  size_t n = (size_t)state->body_count;
  return !memcmp(s->body_x, state->x, n * sizeof *s->body_x) && !memcmp(s->body_q, state->q, n * sizeof *s->body_q);
}
