// Contacts at the middle of an implicit step.
#include <math.h>
#include <string.h>

#include "contact/potential.h"
#include "contact/soft.h"

static bool is_solid(const carom_soft_end *end) { return end->body < CAROM_WORLD; }

// ---- the force of one contact ---------------------------------------------------------------------------------------

// A discrete gradient of V = C/2 min(gap, 0)^2 between the gaps at both ends of the step: minus its change over that of
// the gap, so that no energy comes of a contact that opens or closes on the way (Gonzalez 1996). While it lasts that is
// the force at the middle. *slope: how the force falls with the gap at the middle, 0 to C.
static double press(const carom_soft *s, const carom_soft_contact *c, double *slope) {
  double C = c->stiffness, half = 0.5 * s->span * c->rate, from = c->gap - half, to = c->gap + half;
  *slope = 0;
  if (from >= 0 && to >= 0) return 0;
  if (from <= 0 && to <= 0) {
    *slope = C;
    return -C * c->gap;
  }
  double inside = fmin(from, to), way = fabs(to - from), share = -inside / way;
  *slope = from > to ? C * share * (2 - share) : C * share * share;
  return 0.5 * C * share * share * way;
}

// Surfaces that part are held back, never more than they are pushed.
static double hold_back(const carom_soft *s, const carom_state *state, const carom_soft_contact *c, double pressed,
                        double *slope) {
  if (!(c->rate > 0) || c->restitution >= 1 || pressed == 0) return 0;
  double mass = carom_soft_felt_mass(s, state, c, c->normal);
  double resistance = isfinite(mass) ? 2 * carom_drag_ratio(c->restitution) * sqrt(c->stiffness * mass) : 0;
  if (resistance * c->rate >= pressed) {
    *slope = 0;
    return pressed;
  }
  *slope += 2 / s->span * resistance;
  return resistance * c->rate;
}

// Bristles (soft_bend.c) at the middle of the step, as far as friction holds them.
static carom_vec3 grip(const carom_soft *s, const carom_state *state, carom_soft_contact *c, double pressed) {
  carom_vec3 u = carom_soft_slip(s, state, s->rates, c), across = cm_axpy(u, -cm_dot(c->normal, u), c->normal);
  carom_vec3 bent = cm_axpy(c->bent, 0.5 * s->span, across);
  double size = cm_norm(bent), most = c->friction * pressed;
  c->slips = c->stiffness * size > most;
  c->hold = c->slips ? most / size : c->stiffness;
  if (!(size > 0)) c->hold = c->friction > 0 ? c->stiffness : 0;
  c->along = size > 0 ? cm_scale(1 / size, bent) : cm_zero3();
  return cm_scale(-c->hold, bent);
}

// Fills what A feels, N, and how that answers to displacements.
static void find_force(const carom_soft *s, const carom_state *state, carom_soft_contact *c) {
  double pressed = press(s, c, &c->slope);
  c->dragged = hold_back(s, state, c, pressed, &c->slope);
  pressed -= c->dragged;
  c->pressed = pressed;
  c->force = cm_scale(pressed, c->normal);
  c->hold = 0;
  if (c->friction > 0 && pressed > 0) c->force = cm_add(c->force, grip(s, state, c, pressed));
}

// ---- all of them ----------------------------------------------------------------------------------------------------

// The matrix of a contact is W' D W, W with the weights of its nodes and D along and across the normal. Against it
// stands the one with the sums of sizes of its rows on the diagonal, which is no less: weights sum to 1 on each side.
static void add_blocks(const carom_soft_contact *c, carom_mat3 *K) {
  double sides = (double)is_solid(&c->end[0]) + (double)is_solid(&c->end[1]);
  carom_mat3 D = cm_madd(cm_mscale(c->slope - c->hold, cm_outer(c->normal, c->normal)),
                         cm_diag3(c->hold, c->hold, c->hold));
  for (int e = 0; e < 2; e++)
    for (int k = 0; k < 3 && is_solid(&c->end[e]); k++) {
      carom_mat3 *block = &K[c->end[e].node[k]];
      *block = cm_madd(*block, cm_mscale(sides * fabs(c->end[e].weight[k]), D));
    }
}

static void spread(const carom_soft_contact *c, carom_vec3 force, carom_vec3 *f) {
  for (int e = 0; e < 2; e++)
    for (int k = 0; k < 3 && is_solid(&c->end[e]); k++) {
      carom_vec3 *at = &f[c->end[e].node[k]];
      *at = cm_axpy(*at, (e == 0 ? 1 : -1) * c->end[e].weight[k], force);
    }
}

static void counter(const carom_soft *s, const carom_soft_contact *c, carom_vec3 *f) {
  double shares[3];
  carom_soft_counter(s, c, cm_axpy(c->force, -c->pressed, c->normal), shares);
  for (int k = 0; k < 3; k++)
    if (shares[k] != 0) f[c->end[0].node[k]] = cm_axpy(f[c->end[0].node[k]], shares[k], c->normal);
}

carom_status carom_soft_forces(carom_soft *s, const carom_state *state, const carom_vec3 *nodes,
                               const carom_vec3 *rates, carom_vec3 *f, carom_mat3 *K) {
  carom_error ignored;
  s->trial = true;
  s->rates = rates;
  carom_status status = carom_soft_find(s, state, nodes, &ignored);
  s->trial = false;
  for (int i = 0; i < s->count && status == CAROM_OK; i++) {
    carom_soft_contact *c = &s->contacts[i];
    c->bent = carom_soft_bent(s, c);
    find_force(s, state, c);
    spread(c, c->force, f);
    counter(s, c, f);
    if (K) add_blocks(c, K);
  }
  return status;
}

void carom_soft_stiffness_times(const carom_soft *s, const carom_vec3 *u, carom_vec3 *y) {
  for (int i = 0; i < s->count; i++) {
    const carom_soft_contact *c = &s->contacts[i];
    carom_vec3 d = cm_zero3();
    for (int e = 0; e < 2; e++)
      for (int k = 0; k < 3 && is_solid(&c->end[e]); k++)
        d = cm_axpy(d, (e == 0 ? 1 : -1) * c->end[e].weight[k], u[c->end[e].node[k]]);
    double in = cm_dot(c->normal, d);
    carom_vec3 across = cm_axpy(d, -in, c->normal);
    if (c->slips) across = cm_axpy(across, -cm_dot(c->along, across), c->along);
    spread(c, cm_axpy(cm_scale(c->hold, across), c->slope * in, c->normal), y);
  }
}

// ---- after the solve ------------------------------------------------------------------------------------------------

static void pass_end(const carom_soft *s, carom_state *state, const carom_soft_end *end, carom_vec3 impulse,
                     carom_ledger *ledger) {
  if (is_solid(end))
    carom_ledger_outside_at(ledger, cm_neg(impulse), end->point);
  else
    carom_soft_push_body(s, state, end, impulse, ledger);
}

// Nodes have got theirs, which their own books took for something from outside.
static void pass_on(const carom_soft *s, carom_state *state, carom_soft_contact *c, double h, carom_ledger *ledger) {
  carom_vec3 normal = cm_scale(h * c->pressed, c->normal);
  c->impulse = cm_scale(h, c->force);
  for (int e = 0; e < 2; e++) {
    double sign = e == 0 ? 1 : -1;
    carom_soft_end end = c->end[e];
    pass_end(s, state, &end, cm_scale(sign, normal), ledger);
    end.point = carom_soft_grip_point(c, e);
    pass_end(s, state, &end, cm_scale(sign, cm_sub(c->impulse, normal)), ledger);
  }
  double shares[3];
  carom_soft_counter(s, c, cm_sub(c->impulse, normal), shares);
  for (int k = 0; k < 3; k++)
    if (shares[k] != 0)
      carom_ledger_outside_at(ledger, cm_scale(-shares[k], c->normal), s->nodes[c->end[0].node[k]]);
}

// What bristles did, by the velocities at the middle.
static double rubbed(const carom_soft *s, const carom_state *state, const carom_soft_contact *c, double h) {
  carom_vec3 u = carom_soft_slip(s, state, s->rates, c);
  return h * cm_dot(cm_axpy(c->force, -c->pressed, c->normal), u);
}

static carom_status no_room(const carom_soft *s, const carom_soft_contact *c, carom_error *error) {
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "'%s' and '%s' are pressed %.3g m into each other at t = %.9g s, more than contact between such "
                    "tetrahedra can hold (%.3g m): use smaller steps, a stiffer material or a coarser mesh",
                    carom_model_name(s->model, c->end[0].body), carom_model_name(s->model, c->end[1].body), -c->gap,
                    s->time, c->deep);
}

carom_status carom_soft_finish(carom_soft *s, carom_state *state, double h, carom_ledger *ledger, carom_error *error) {
  double work = 0;
  for (int i = 0; i < s->count; i++) {
    carom_soft_contact *c = &s->contacts[i];
    if (c->gap < -0.9 * c->deep) return no_room(s, c, error);
    carom_ledger_loss(ledger, h * c->dragged * c->rate, 0);
    work += rubbed(s, state, c, h);
    carom_vec3 u = carom_soft_slip(s, state, s->rates, c);
    c->bent = carom_soft_held(c, cm_axpy(c->bent, h, cm_axpy(u, -cm_dot(c->normal, u), c->normal)), c->pressed);
  }
  for (int i = 0; i < s->count; i++) pass_on(s, state, &s->contacts[i], h, ledger);
  carom_soft_bend(s, work, ledger);
  return carom_soft_tell(s, ledger, error);
}
