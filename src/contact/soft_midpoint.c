// Contacts at the middle of an implicit step.
#include <math.h>
#include <string.h>

#include "contact/potential.h"
#include "contact/soft.h"

static bool is_solid(const carom_soft_end *end) { return end->body < CAROM_WORLD; }

// A discrete gradient of V = C/2 min(gap, 0)^2 between the gaps at both ends of the step: minus its change over that of
// the gap, so that no energy comes of a contact that opens or closes on the way (Gonzalez 1996). While it lasts that is
// the force at the middle. *slope: how the force falls with the gap at the middle, 0 to C.
static double force_of(const carom_soft *s, const carom_soft_contact *c, double *slope) {
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

// The matrix of a contact is C j j', j with the weights times the normal at its nodes. Against it stands the one with
// the sums of sizes of its rows on the diagonal, which is no less: weights sum to 1 on each side that has nodes.
static void add_blocks(const carom_soft_contact *c, double slope, carom_mat3 *K) {
  double sides = (double)is_solid(&c->end[0]) + (double)is_solid(&c->end[1]);
  carom_mat3 nn = cm_outer(c->normal, c->normal);
  for (int e = 0; e < 2; e++)
    for (int k = 0; k < 3 && is_solid(&c->end[e]); k++) {
      carom_mat3 *block = &K[c->end[e].node[k]];
      *block = cm_madd(*block, cm_mscale(sides * slope * fabs(c->end[e].weight[k]), nn));
    }
}

carom_status carom_soft_forces(carom_soft *s, const carom_state *state, const carom_vec3 *nodes,
                               const carom_vec3 *rates, carom_vec3 *f, carom_mat3 *K) {
  carom_error ignored;
  s->trial = true;
  s->rates = rates;
  carom_status status = carom_soft_find(s, state, nodes, &ignored);
  s->trial = false;
  for (int i = 0; i < s->count && status == CAROM_OK; i++) {
    const carom_soft_contact *c = &s->contacts[i];
    double slope, force = force_of(s, c, &slope);
    for (int e = 0; e < 2; e++)
      for (int k = 0; k < 3 && is_solid(&c->end[e]); k++) {
        double share = (e == 0 ? 1 : -1) * c->end[e].weight[k] * force;
        f[c->end[e].node[k]] = cm_axpy(f[c->end[e].node[k]], share, c->normal);
      }
    if (K) add_blocks(c, slope, K);
  }
  return status;
}

void carom_soft_stiffness_times(const carom_soft *s, const carom_vec3 *u, carom_vec3 *y) {
  for (int i = 0; i < s->count; i++) {
    const carom_soft_contact *c = &s->contacts[i];
    double along = 0, slope;
    force_of(s, c, &slope);
    for (int e = 0; e < 2; e++)
      for (int k = 0; k < 3 && is_solid(&c->end[e]); k++)
        along += (e == 0 ? 1 : -1) * c->end[e].weight[k] * cm_dot(c->normal, u[c->end[e].node[k]]);
    for (int e = 0; e < 2; e++)
      for (int k = 0; k < 3 && is_solid(&c->end[e]); k++) {
        double share = (e == 0 ? 1 : -1) * c->end[e].weight[k] * slope * along;
        y[c->end[e].node[k]] = cm_axpy(y[c->end[e].node[k]], share, c->normal);
      }
  }
}

// ---- after the solve ------------------------------------------------------------------------------------------------

// Nodes have got theirs, which their own books took for something from outside.
static void pass_on(const carom_soft *s, carom_state *state, carom_soft_contact *c, double h, carom_ledger *ledger) {
  double slope;
  c->impulse = cm_scale(h * force_of(s, c, &slope), c->normal);
  for (int e = 0; e < 2; e++) {
    carom_vec3 impulse = e == 0 ? c->impulse : cm_neg(c->impulse);
    if (is_solid(&c->end[e]))
      carom_ledger_outside_at(ledger, cm_neg(impulse), c->end[e].point);
    else
      carom_soft_push_body(s, state, &c->end[e], impulse, ledger);
  }
}

// By the midpoint rule a node whose velocity changes has moved by half of that times h.
static void drag(const carom_soft *s, carom_state *state, carom_soft_contact *c, carom_ledger *ledger) {
  double rate = cm_dot(c->normal, carom_soft_slip(s, state, c)), h = s->span;
  if (c->gap >= 0) return;
  double mass = carom_soft_felt_mass(s, state, c, c->normal);
  carom_spring_impulse spring = carom_soft_spring(c->stiffness, mass, c->restitution, c->gap, rate, h);
  double most = -0.5 * mass * rate;  // no more than stops them
  double impulse = isfinite(mass) ? fmax(spring.drag, most) : 0;
  if (!(impulse < 0)) return;
  carom_soft_push(s, state, c, cm_scale(impulse, c->normal), ledger);
  double after = cm_dot(c->normal, carom_soft_slip(s, state, c));
  carom_ledger_loss(ledger, -0.5 * impulse * (rate + after), 0);
}

static carom_status no_room(const carom_soft *s, carom_error *error) {
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "solids are pressed %.3g m into each other or into a body at t = %.9g s, more than contact between "
                    "such tetrahedra can hold: use smaller steps, a stiffer material or a coarser mesh",
                    s->depth, s->time);
}

carom_status carom_soft_finish(carom_soft *s, carom_state *state, double h, carom_ledger *ledger, carom_error *error) {
  for (int i = 0; i < s->count; i++)
    if (s->contacts[i].gap < -0.9 * s->contacts[i].deep) return no_room(s, error);
  memcpy(s->kept, state->node_velocities, (size_t)state->node_count * sizeof *s->kept);
  for (int i = 0; i < s->count; i++) pass_on(s, state, &s->contacts[i], h, ledger);
  for (int i = 0; i < s->count; i++) drag(s, state, &s->contacts[i], ledger);
  for (int i = 0; i < s->count; i++) carom_soft_rub(s, state, &s->contacts[i], 1, ledger);
  for (int i = 0; i < state->node_count; i++)
    state->nodes[i] = cm_axpy(state->nodes[i], 0.5 * h, cm_sub(state->node_velocities[i], s->kept[i]));
  return carom_soft_tell(s, ledger, error);
}
