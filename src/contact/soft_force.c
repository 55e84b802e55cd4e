// Forces of contacts at one place and time: at the ends of explicit steps, and at the middle of implicit ones.
#include <math.h>
#include <string.h>

#include "contact/potential.h"
#include "contact/soft.h"

// Of what would stop the slip in an explicit step: bristles alone would swing for ever.
static const double DAMPING = 0.2;

// ---- one contact ----------------------------------------------------------------------------------------------------

// A discrete gradient of V = C/2 min(gap, 0)^2 between the gaps at both ends of an implicit step: minus its change over
// that of the gap, so that no energy comes of a contact that opens or closes on the way (Gonzalez 1996). While it lasts
// that is the force at the middle. *slope: how the force falls with the gap at the middle, 0 to C.
static double press(const carom_soft *s, const carom_soft_contact *c, double *slope) {
  double C = c->stiffness, half = s->solved ? 0.5 * s->span * c->rate : 0, from = c->gap - half, to = c->gap + half;
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

// Of the velocity of a node, in an explicit step: a drag that takes more takes it every other step.
static const double STEADY = 0.7;

// Surfaces that part are held back, never more than they are pushed. What is damped is the swing of nodes on the
// contact: all contacts of a node together have its frequency, and so their drags add up.
static double hold_back(const carom_soft *s, const carom_soft_contact *c, double pressed, double *slope) {
  if (!(c->rate > 0) || c->restitution >= 1 || pressed == 0) return 0;
  double resistance = 2 * c->drag / c->frequency;
  if (!s->solved) resistance = fmin(resistance, STEADY / (s->span * c->frequency * c->frequency));
  resistance *= c->stiffness;
  if (resistance * c->rate >= pressed) {
    *slope = 0;
    return pressed;
  }
  *slope += 2 / s->span * resistance;
  return resistance * c->rate;
}

static carom_vec3 across_normal(const carom_soft_contact *c, carom_vec3 v) {
  return cm_axpy(v, -cm_dot(c->normal, v), c->normal);
}

// What keeps bristles of explicit steps from swinging.
static carom_vec3 damping_of(const carom_soft *s, const carom_state *state, const carom_soft_contact *c, carom_vec3 u) {
  if (s->solved || cm_norm2(u) == 0) return cm_zero3();
  double mass = carom_soft_felt_mass(s, state, c, cm_unit(u));
  return isfinite(mass) ? cm_scale(-DAMPING * mass / s->span, u) : cm_zero3();
}

// Bristles (soft_bend.c) as they are then, as far as friction holds them.
static carom_vec3 grip(const carom_soft *s, const carom_state *state, carom_soft_contact *c, double pressed) {
  carom_vec3 u = across_normal(c, carom_soft_slip(s, state, s->rates, c));
  carom_vec3 way = s->solved ? cm_scale(0.5 * s->span, u) : across_normal(c, carom_soft_way(s, state, c));
  carom_vec3 bent = cm_add(carom_soft_bent(s, c), way);
  c->bent = carom_soft_held(c, s->solved ? cm_add(bent, way) : bent, pressed);
  carom_vec3 pull = cm_add(cm_scale(-c->stiffness, bent), damping_of(s, state, c, u));
  double size = cm_norm(pull), most = c->friction * pressed;
  c->slips = size > most;
  c->hold = c->slips ? c->stiffness * most / size : c->stiffness;
  c->along = size > 0 ? cm_scale(1 / size, pull) : cm_zero3();
  return c->slips ? cm_scale(most, c->along) : pull;
}

// Fills what A feels, N, and how that answers to displacements.
static void find_force(const carom_soft *s, const carom_state *state, carom_soft_contact *c) {
  double pressed = press(s, c, &c->slope);
  c->dragged = hold_back(s, c, pressed, &c->slope);
  c->pressed = pressed - c->dragged;
  c->grip = c->bent = cm_zero3();
  c->hold = 0;
  c->across = cm_scale(-0.5 * c->gap * fmin(c->gap, 0), c->rim);
  if (c->friction > 0 && c->pressed > 0) c->grip = grip(s, state, c, c->pressed);
}

// ---- all of them ----------------------------------------------------------------------------------------------------

// The matrix of a contact is W' D W, W with the weights of its nodes and D along and across the normal. Against it
// stands the one with the sums of sizes of its rows on the diagonal, which is no less: weights sum to 1 on each side.
static void add_blocks(const carom_soft_contact *c, carom_mat3 *K) {
  double sides = (double)carom_soft_is_solid(&c->end[0]) + (double)carom_soft_is_solid(&c->end[1]);
  carom_mat3 D =
      cm_madd(cm_mscale(c->slope - c->hold, cm_outer(c->normal, c->normal)), cm_diag3(c->hold, c->hold, c->hold));
  for (int e = 0; e < 2; e++)
    for (int k = 0; k < 3 && carom_soft_is_solid(&c->end[e]); k++) {
      carom_mat3 *block = &K[c->end[e].node[k]];
      *block = cm_madd(*block, cm_mscale(sides * fabs(c->end[e].weight[k]), D));
    }
}

static void spread(const carom_soft_contact *c, carom_vec3 force, carom_vec3 *f) {
  for (int e = 0; e < 2; e++)
    for (int k = 0; k < 3 && carom_soft_is_solid(&c->end[e]); k++) {
      carom_vec3 *at = &f[c->end[e].node[k]];
      *at = cm_axpy(*at, (e == 0 ? 1 : -1) * c->end[e].weight[k], force);
    }
}

static void counter(const carom_soft *s, const carom_soft_contact *c, carom_vec3 *f) {
  double shares[3];
  for (int e = 0; e < 2; e++) {
    carom_soft_counter(s, c, e, cm_add(c->grip, c->across), shares);
    for (int k = 0; k < 3; k++)
      if (shares[k] != 0) f[c->end[e].node[k]] = cm_axpy(f[c->end[e].node[k]], shares[k], c->normal);
  }
}

carom_status carom_soft_forces(carom_soft *s, const carom_state *state, const carom_vec3 *nodes,
                               const carom_vec3 *rates, carom_vec3 *f, carom_mat3 *K) {
  s->trial = s->solved;
  s->rates = rates;
  carom_status status = carom_soft_find(s, state, nodes, &s->failure);
  s->trial = false;
  for (int i = 0; i < s->count && status == CAROM_OK; i++) {
    carom_soft_contact *c = &s->contacts[i];
    find_force(s, state, c);
    spread(c, cm_axpy(cm_add(c->grip, c->across), c->pressed, c->normal), f);
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
      for (int k = 0; k < 3 && carom_soft_is_solid(&c->end[e]); k++)
        d = cm_axpy(d, (e == 0 ? 1 : -1) * c->end[e].weight[k], u[c->end[e].node[k]]);
    carom_vec3 across = across_normal(c, d);
    if (c->slips) across = cm_axpy(across, -cm_dot(c->along, across), c->along);
    spread(c, cm_axpy(cm_scale(c->hold, across), c->slope * cm_dot(c->normal, d), c->normal), y);
  }
}
