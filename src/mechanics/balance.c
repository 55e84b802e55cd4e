#include "mechanics/balance.h"

#include "math/sum.h"
#include "model/fields.h"

// 1/2 p.p/m + 1/2 L.J^-1 L with L = R' l.
static double body_kinetic(const carom_body *body, const carom_state *state, int i) {
  carom_vec3 L = cm_unrotate(state->q[i], state->l[i]);
  return 0.5 * (body->inverse_mass * cm_norm2(state->p[i]) + cm_dot(L, cm_mul_diag(body->inverse_inertia, L)));
}

// ---- solids ---------------------------------------------------------------------------------------------------------

// What the nodes of a solid add up to.
typedef struct node_sums {
  carom_sum kinetic;
  carom_sum3 moved, p, l;  // of m x, m v and x cross m v
} node_sums;

static void add_node(node_sums *sums, double mass, carom_vec3 x, carom_vec3 v, carom_solid_balance *b) {
  carom_vec3 p = cm_scale(mass, v);
  double square = cm_norm2(v), size = mass * sqrt(square);
  carom_sum_add(&sums->kinetic, 0.5 * mass * square);
  carom_sum3_add(&sums->moved, cm_scale(mass, x));
  carom_sum3_add(&sums->p, p);
  carom_sum3_add(&sums->l, cm_cross(x, p));
  b->momentum_scale += size;
  b->angular_momentum_scale += cm_norm(x) * size;
}

carom_solid_balance carom_solid_balance_of(const carom_model *model, const carom_state *state, int solid) {
  const carom_solid *s = &model->solids[solid];
  carom_solid_balance b = {0};
  node_sums sums = {0};
  for (int i = s->node_start; i < s->node_start + s->node_count; i++)
    add_node(&sums, model->node_masses[i], state->nodes[i], state->node_velocities[i], &b);
  carom_vec3 moved = carom_sum3_value(&sums.moved);
  b.of = (carom_solid_sample){.kinetic = carom_sum_value(&sums.kinetic),
                              .weight = -cm_dot(model->gravity, moved),
                              .center = cm_scale(1 / s->mass, moved),
                              .momentum = carom_sum3_value(&sums.p),
                              .angular_momentum = carom_sum3_value(&sums.l)};
  b.of.elastic = carom_elastic_energy(s->elastic, state->nodes + s->node_start, &b.of.least_J, &b.of.least_tet);
  return b;
}

carom_solid_sample carom_solid_sample_of(const carom_model *model, const carom_state *state, int solid) {
  return carom_solid_balance_of(model, state, solid).of;
}

// ---- all together ---------------------------------------------------------------------------------------------------

typedef struct sums {
  carom_sum kinetic, weight;
  carom_sum3 p, l;
  double elastic;  // may be infinite, which a compensated sum is not
} sums;

static void add_body(sums *s, const carom_model *model, const carom_state *state, int i, carom_balance *b) {
  const carom_body *body = &model->bodies[i];
  carom_sum_add(&s->kinetic, body_kinetic(body, state, i));
  carom_sum_add(&s->weight, -body->mass * cm_dot(model->gravity, state->x[i]));
  carom_sum3_add(&s->p, state->p[i]);
  carom_sum3_add(&s->l, cm_cross(state->x[i], state->p[i]));
  carom_sum3_add(&s->l, state->l[i]);
  b->momentum_scale += cm_norm(state->p[i]);
  b->angular_momentum_scale += cm_norm(state->x[i]) * cm_norm(state->p[i]) + cm_norm(state->l[i]);
}

static void add_solid(sums *s, const carom_solid_balance *solid, carom_balance *b) {
  carom_sum_add(&s->kinetic, solid->of.kinetic);
  carom_sum_add(&s->weight, solid->of.weight);
  s->elastic += solid->of.elastic;
  carom_sum3_add(&s->p, solid->of.momentum);
  carom_sum3_add(&s->l, solid->of.angular_momentum);
  b->momentum_scale += solid->momentum_scale;
  b->angular_momentum_scale += solid->angular_momentum_scale;
}

carom_balance carom_balance_with(const carom_model *model, const carom_state *state,
                                 const carom_solid_balance *solids) {
  sums s = {0};
  carom_balance b = {0};
  for (int i = 0; i < model->body_count; i++)
    if (!model->bodies[i].fixed) add_body(&s, model, state, i, &b);
  for (int k = 0; k < model->solid_count; k++) {
    carom_solid_balance own;
    if (!solids) own = carom_solid_balance_of(model, state, k);
    add_solid(&s, solids ? &solids[k] : &own, &b);
  }
  b.kinetic = carom_sum_value(&s.kinetic);
  b.potential = carom_sum_value(&s.weight) + s.elastic + carom_fields_potential(model, state);
  b.momentum = carom_sum3_value(&s.p);
  b.angular_momentum = carom_sum3_value(&s.l);
  return b;
}

carom_balance carom_balance_of(const carom_model *model, const carom_state *state) {
  return carom_balance_with(model, state, NULL);
}

double carom_kinetic_energy(const carom_model *model, const carom_state *state) {
  return carom_balance_of(model, state).kinetic;
}

double carom_potential_energy(const carom_model *model, const carom_state *state) {
  return carom_balance_of(model, state).potential;
}

carom_vec3 carom_linear_momentum(const carom_model *model, const carom_state *state) {
  return carom_balance_of(model, state).momentum;
}

carom_vec3 carom_angular_momentum(const carom_model *model, const carom_state *state) {
  return carom_balance_of(model, state).angular_momentum;
}
