#include "mechanics/balance.h"

#include "math/sum.h"
#include "model/fields.h"

// 1/2 p.p/m + 1/2 L.J^-1 L with L = R' l.
static double body_kinetic(const carom_body *body, const carom_state *state, int i) {
  carom_vec3 L = cm_unrotate(state->q[i], state->l[i]);
  return 0.5 * (body->inverse_mass * cm_norm2(state->p[i]) + cm_dot(L, cm_mul_diag(body->inverse_inertia, L)));
}

carom_balance carom_balance_of(const carom_model *model, const carom_state *state) {
  carom_sum kinetic = {0}, weight = {0};
  carom_sum3 p = {0}, l = {0};
  carom_balance b = {0};
  for (int i = 0; i < model->body_count; i++) {
    const carom_body *body = &model->bodies[i];
    if (body->fixed) continue;
    carom_vec3 orbital = cm_cross(state->x[i], state->p[i]);
    carom_sum_add(&kinetic, body_kinetic(body, state, i));
    carom_sum_add(&weight, -body->mass * cm_dot(model->gravity, state->x[i]));
    carom_sum3_add(&p, state->p[i]);
    carom_sum3_add(&l, orbital);
    carom_sum3_add(&l, state->l[i]);
    b.momentum_scale += cm_norm(state->p[i]);
    b.angular_momentum_scale += cm_norm(state->x[i]) * cm_norm(state->p[i]) + cm_norm(state->l[i]);
  }
  b.kinetic = carom_sum_value(&kinetic);
  b.potential = carom_sum_value(&weight) + carom_fields_potential(model, state);
  b.momentum = carom_sum3_value(&p);
  b.angular_momentum = carom_sum3_value(&l);
  return b;
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
