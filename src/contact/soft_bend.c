// Friction that holds: where surfaces touch, bristles of stiffness C stand between them. They bend as far as surfaces
// slip, and once they pull more than friction holds they slide (Cundall and Strack 1979), so that what rests does not
// creep. The corners in which facets meet come and go; nodes stay: it is their bristles, and a contact has those of the
// nodes of one of its ends, by their weights.
#include <math.h>
#include <string.h>

#include "contact/soft.h"

// The end whose nodes carry the bristles.
static const carom_soft_end *owner_of(const carom_soft_contact *c) { return &c->end[c->end[0].body >= CAROM_WORLD]; }

carom_vec3 carom_soft_bent(const carom_soft *s, const carom_soft_contact *c) {
  const carom_soft_end *own = owner_of(c);
  carom_vec3 bent = cm_zero3();
  for (int k = 0; k < 3; k++) bent = cm_axpy(bent, own->weight[k], s->bristles[own->node[k]]);
  if (own != &c->end[0]) bent = cm_neg(bent);  // as seen from A
  return cm_axpy(bent, -cm_dot(c->normal, bent), c->normal);
}

carom_vec3 carom_soft_held(const carom_soft_contact *c, carom_vec3 bent, double pressed) {
  double pull = c->stiffness * cm_norm(bent), most = c->friction * pressed;
  return pull > most ? cm_scale(most / pull, bent) : bent;
}

// Means over the contacts of each node, and none where there are no contacts.
static void hand_back(carom_soft *s) {
  size_t n = (size_t)s->model->node_count;
  memset(s->bristles, 0, n * sizeof *s->bristles);
  memset(s->bristle_share, 0, n * sizeof *s->bristle_share);
  for (int i = 0; i < s->count; i++) {
    const carom_soft_contact *c = &s->contacts[i];
    const carom_soft_end *own = owner_of(c);
    double sign = own == &c->end[0] ? 1 : -1;
    for (int k = 0; k < 3; k++) {
      double share = c->stiffness * fabs(own->weight[k]);
      s->bristles[own->node[k]] = cm_axpy(s->bristles[own->node[k]], sign * share, c->bent);
      s->bristle_share[own->node[k]] += share;
    }
  }
  for (size_t i = 0; i < n; i++)
    if (s->bristle_share[i] > 0) s->bristles[i] = cm_scale(1 / s->bristle_share[i], s->bristles[i]);
}

void carom_soft_bend(carom_soft *s, double work, carom_ledger *ledger) {
  double stored = 0;
  for (int i = 0; i < s->count; i++)
    if (s->contacts[i].gap < 0) stored += 0.5 * s->contacts[i].stiffness * cm_norm2(s->contacts[i].bent);
  hand_back(s);
  carom_ledger_loss(ledger, 0, -work - (stored - s->bristle_energy));
  s->bristle_energy = stored;
}

// ---- where friction acts --------------------------------------------------------------------------------------------

carom_vec3 carom_soft_grip_point(const carom_soft_contact *c, int end) {
  return c->end[carom_soft_is_solid(&c->end[end]) ? end : 1 - end].point;
}

// The couple of both is gap n x F. A shift r = gap F/N of the normal force N n on A has the opposite one, r x N n; it
// takes N grad w . r from node to node, w being their weights in the plane across n. Each of the two takes half.
void carom_soft_counter(const carom_soft *s, const carom_soft_contact *c, int end, carom_vec3 friction,
                        double shares[3]) {
  const carom_soft_end *a = &c->end[end];
  memset(shares, 0, 3 * sizeof *shares);
  if (!carom_soft_is_solid(a) || !carom_soft_is_solid(&c->end[1 - end])) return;
  const carom_vec3 x[3] = {s->nodes[a->node[0]], s->nodes[a->node[1]], s->nodes[a->node[2]]};
  double twice = cm_dot(c->normal, cm_cross(cm_sub(x[1], x[0]), cm_sub(x[2], x[0])));
  for (int k = 0; k < 3; k++) {
    carom_vec3 side = cm_sub(x[(k + 2) % 3], x[(k + 1) % 3]);
    shares[k] = 0.5 * c->gap / twice * cm_dot(cm_cross(c->normal, side), friction);
  }
}
