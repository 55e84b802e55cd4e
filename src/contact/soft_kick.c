// Forces of contacts in a kick: a spring with a drag along the normal, Coulomb's friction across it, one contact after
// the other. Each takes at most what brings its surfaces to rest, so that friction never drives.
#include <math.h>
#include <string.h>

#include "contact/potential.h"
#include "contact/soft.h"
#include "model/row.h"

static bool is_solid(const carom_soft_end *end) { return end->body < CAROM_WORLD; }

carom_vec3 carom_soft_velocity(const carom_soft *s, const carom_state *state, const carom_vec3 *rates,
                               const carom_soft_end *end) {
  carom_vec3 v = cm_zero3(), w;
  if (is_solid(end)) {
    for (int k = 0; k < 3; k++) v = cm_axpy(v, end->weight[k], rates[end->node[k]]);
    return v;
  }
  if (s->model->bodies[end->body].fixed) {
    if (s->model->drive_count == 0) return v;
    carom_model_motion(s->model, end->body, s->time, s->span, &v, &w);
  } else {
    v = carom_state_velocity(s->model, state, end->body);
    w = carom_state_angular_velocity(s->model, state, end->body);
  }
  return cm_add(v, cm_cross(w, cm_sub(end->point, state->x[end->body])));
}

double carom_soft_answer(const carom_soft *s, const carom_state *state, const carom_soft_end *end,
                         carom_vec3 direction) {
  double answer = 0;
  if (is_solid(end)) {
    for (int k = 0; k < 3; k++) answer += end->weight[k] * end->weight[k] * s->inverse_mass[end->node[k]];
    return answer;
  }
  if (s->model->bodies[end->body].fixed) return 0;
  carom_row row = carom_row_at(end->body, CAROM_WORLD, direction, end->point, state->x);
  return carom_row_answer(s->model, &row, state->q);
}

// ---- pushing --------------------------------------------------------------------------------------------------------

// What is pinned passes its share on to the outside, which does the work of holding it on its way.
static void push_node(const carom_soft *s, carom_state *state, int node, carom_vec3 impulse, carom_ledger *ledger) {
  carom_vec3 *v = &state->node_velocities[node];
  if (s->inverse_mass[node] > 0) {
    *v = cm_axpy(*v, s->inverse_mass[node], impulse);
    return;
  }
  carom_ledger_outside_at(ledger, cm_neg(impulse), state->nodes[node]);
  carom_ledger_work(ledger, -cm_dot(impulse, *v));
}

void carom_soft_push_body(const carom_soft *s, carom_state *state, const carom_soft_end *end, carom_vec3 impulse,
                          carom_ledger *ledger) {
  int b = end->body;
  if (s->model->bodies[b].fixed) {
    carom_ledger_outside_at(ledger, cm_neg(impulse), end->point);
    carom_ledger_work(ledger, -cm_dot(impulse, carom_soft_velocity(s, state, state->node_velocities, end)));
    return;
  }
  state->p[b] = cm_add(state->p[b], impulse);
  state->l[b] = cm_add(state->l[b], cm_cross(cm_sub(end->point, state->x[b]), impulse));
}

static void push_end(const carom_soft *s, carom_state *state, const carom_soft_end *end, carom_vec3 impulse,
                     carom_ledger *ledger) {
  if (!is_solid(end)) {
    carom_soft_push_body(s, state, end, impulse, ledger);
    return;
  }
  for (int k = 0; k < 3; k++)
    if (end->weight[k] != 0) push_node(s, state, end->node[k], cm_scale(end->weight[k], impulse), ledger);
}

void carom_soft_push(const carom_soft *s, carom_state *state, carom_soft_contact *c, carom_vec3 impulse,
                     carom_ledger *ledger) {
  push_end(s, state, &c->end[0], impulse, ledger);
  push_end(s, state, &c->end[1], cm_neg(impulse), ledger);
  c->impulse = cm_add(c->impulse, impulse);
}

void carom_soft_push_friction(const carom_soft *s, carom_state *state, carom_soft_contact *c, carom_vec3 impulse,
                              carom_ledger *ledger) {
  double shares[3];
  carom_soft_counter(s, c, impulse, shares);
  for (int e = 0; e < 2; e++) {
    carom_soft_end end = c->end[e];
    end.point = carom_soft_grip_point(c, e);
    push_end(s, state, &end, e == 0 ? impulse : cm_neg(impulse), ledger);
  }
  for (int k = 0; k < 3; k++)
    if (shares[k] != 0) push_node(s, state, c->end[0].node[k], cm_scale(shares[k], c->normal), ledger);
  c->impulse = cm_add(c->impulse, impulse);
}

// ---- one contact ----------------------------------------------------------------------------------------------------

carom_vec3 carom_soft_slip(const carom_soft *s, const carom_state *state, const carom_vec3 *rates,
                           const carom_soft_contact *c) {
  return cm_sub(carom_soft_velocity(s, state, rates, &c->end[0]), carom_soft_velocity(s, state, rates, &c->end[1]));
}

static carom_vec3 slip_now(const carom_soft *s, const carom_state *state, const carom_soft_contact *c) {
  return carom_soft_slip(s, state, state->node_velocities, c);
}

double carom_soft_felt_mass(const carom_soft *s, const carom_state *state, const carom_soft_contact *c,
                            carom_vec3 along) {
  return 1 / (carom_soft_answer(s, state, &c->end[0], along) + carom_soft_answer(s, state, &c->end[1], along));
}

static void kick_along(const carom_soft *s, carom_state *state, carom_soft_contact *c, double dt,
                       carom_ledger *ledger) {
  double rate = cm_dot(c->normal, slip_now(s, state, c));
  carom_spring_impulse spring =
      carom_soft_spring(c->stiffness, carom_soft_felt_mass(s, state, c, c->normal), c->restitution, c->gap, rate, dt);
  carom_soft_push(s, state, c, cm_scale(spring.whole, c->normal), ledger);
  if (spring.drag == 0) return;
  double after = cm_dot(c->normal, slip_now(s, state, c));
  carom_ledger_loss(ledger, -0.5 * spring.drag * (rate + after), 0);
}

// How far A has slipped on B since the kick at the start of the step.
static carom_vec3 way_of(const carom_soft *s, const carom_state *state, const carom_soft_contact *c) {
  carom_vec3 way = cm_zero3();
  for (int e = 0; e < 2; e++) {
    double sign = e == 0 ? 1 : -1;
    for (int k = 0; k < 3 && is_solid(&c->end[e]); k++) {
      int node = c->end[e].node[k];
      way = cm_axpy(way, sign * c->end[e].weight[k], cm_sub(state->nodes[node], s->was[node]));
    }
    if (!is_solid(&c->end[e]))
      way = cm_axpy(way, sign * s->span, carom_soft_velocity(s, state, state->node_velocities, &c->end[e]));
  }
  return cm_axpy(way, -cm_dot(c->normal, way), c->normal);
}

// Of what would stop the slip, in a kick: bristles alone would swing for ever.
static const double DAMPING = 0.1;

// The bristles' pull and a little damping, no more than friction holds. Returns the work that is done.
static double rub(const carom_soft *s, carom_state *state, carom_soft_contact *c, double dt, carom_ledger *ledger) {
  double pressed = cm_dot(c->normal, c->impulse);
  carom_vec3 u = slip_now(s, state, c), across = cm_axpy(u, -cm_dot(c->normal, u), c->normal);
  double mass = carom_soft_felt_mass(s, state, c, cm_unit(across));
  c->bent = carom_soft_held(c, c->bent, pressed / dt);
  carom_vec3 pull = cm_scale(-c->stiffness * dt, c->bent);
  if (isfinite(mass)) pull = cm_axpy(pull, -DAMPING * mass, across);
  double size = cm_norm(pull), most = c->friction * pressed;
  if (!(size > 0) || !(most > 0)) return 0;
  if (size > most) pull = cm_scale(most / size, pull);
  carom_soft_push_friction(s, state, c, pull, ledger);
  return 0.5 * cm_dot(pull, cm_add(u, slip_now(s, state, c)));
}

// Friction of all contacts. In the kick at the end of a step bristles have been bent on the way.
static void rub_all(carom_soft *s, carom_state *state, double dt, carom_ledger *ledger) {
  double work = 0;
  for (int i = 0; i < s->count; i++) {
    carom_soft_contact *c = &s->contacts[i];
    c->bent = cm_zero3();
    if (c->friction == 0) continue;
    c->bent = carom_soft_bent(s, c);
    if (s->moved) c->bent = cm_add(c->bent, way_of(s, state, c));
    work += rub(s, state, c, dt, ledger);
  }
  carom_soft_bend(s, work, ledger);
  memcpy(s->was, state->nodes, (size_t)state->node_count * sizeof *s->was);
  s->moved = true;
}

carom_status carom_soft_kick(carom_soft *s, carom_state *state, double dt, carom_ledger *ledger, carom_error *error) {
  carom_status status = carom_soft_find(s, state, state->nodes, error);
  if (status != CAROM_OK) return status;
  carom_ledger_note_overlap(ledger, s->depth);
  for (int i = 0; i < s->count; i++) kick_along(s, state, &s->contacts[i], dt, ledger);
  rub_all(s, state, dt, ledger);
  return carom_soft_tell(s, ledger, error);
}
