// The discrete energy condition (Johnson 2012, eqs. 3.69c, 3.70): instead of the Hamiltonian at the contact, the
// discrete energy of the interval before the impact is kept in the one after,
//
//     E_d(q-, q_c, a) = E_d(q_c, q+, b) + loss,     E_d(q, q', h) = |q' - q|^2_M / (2 h^2) + (V(q) + V(q')) / 2,
//
// where |.|_M is the norm of the masses in positions and directors: -d/dh of the discrete Lagrangian with the potential
// at the ends. The momenta jump along what the law says, by s times as much; s is close to 1 and found by Newton's
// method.
#include <math.h>

#include "step/exact/exact.h"

enum { MAX_ROUNDS = 8 };

// Kinetic energy of one body's way from one pose to another.
static double kinetic(const carom_body *body, carom_vec3 x, carom_quat q, carom_vec3 x_end, carom_quat q_end,
                      double h) {
  carom_mat3 D = cm_msub(cm_rotation(q_end), cm_rotation(q));
  carom_vec3 J = body->inertia;
  double E[3] = {0.5 * (J.y + J.z - J.x), 0.5 * (J.z + J.x - J.y), 0.5 * (J.x + J.y - J.z)}, sum = 0;
  for (int i = 0; i < 3; i++) sum += E[i] * (D.m[0][i] * D.m[0][i] + D.m[1][i] * D.m[1][i] + D.m[2][i] * D.m[2][i]);
  sum += body->mass * cm_norm2(cm_sub(x_end, x));
  return 0.5 * sum / (h * h);
}

static double discrete_energy(const carom_exact *e, const carom_exact_group *g, const carom_state *from,
                              const carom_state *to, double h) {
  double sum = 0.5 * (carom_potential_energy(e->model, from) + carom_potential_energy(e->model, to));
  for (int i = 0; i < g->count; i++) {
    int b = g->bodies[i];
    sum += kinetic(&e->model->bodies[b], from->x[b], from->q[b], to->x[b], to->q[b], h);
  }
  return sum;
}

void carom_exact_note_leap(carom_exact *e, const carom_state *state, const carom_exact_group *g) {
  carom_exact_leap *l = &e->leap;
  l->energy = l->time > 0 ? discrete_energy(e, g, l->before, state, l->time) : NAN;
  carom_state_copy(l->before, state);
}

static void jump(carom_exact *e, carom_state *state, const carom_exact_group *g, double s) {
  const carom_exact_leap *l = &e->leap;
  for (int i = 0; i < g->count; i++) {
    int b = g->bodies[i];
    state->p[b] = cm_axpy(l->before->p[b], s, l->jump_p[b]);
    state->l[b] = cm_axpy(l->before->l[b], s, l->jump_l[b]);
  }
  e->trial.from = NULL;  // the path has changed
}

// Discrete energy of the next interval, and how it grows with s.
static double energy_after(carom_stepper *stepper, carom_state *state, const carom_exact_group *g, double time,
                           double *slope) {
  carom_exact *e = stepper->work;
  if (!e->whole) carom_state_copy(e->trial.state, state);
  *slope = 0;
  for (int i = 0; i < g->count; i++) {
    int b = g->bodies[i];
    carom_pose pose = carom_exact_pose(stepper, state, b, time);
    if (!e->whole) e->trial.state->x[b] = pose.p, e->trial.state->q[b] = pose.q;
    *slope += cm_dot(e->leap.jump_p[b], carom_state_velocity(e->model, state, b));
    *slope += cm_dot(e->leap.jump_l[b], carom_state_angular_velocity(e->model, state, b));
  }
  return discrete_energy(e, g, state, e->trial.state, time);
}

void carom_exact_keep_discrete_energy(carom_stepper *stepper, carom_state *state, const carom_exact_group *g,
                                      const carom_ledger_mark *mark, carom_ledger *ledger) {
  carom_exact *e = stepper->work;
  double rest = g->duration - g->time, time = rest > 1e-6 * g->duration ? rest : g->duration, s = 1;
  const carom_step_report *now = &ledger->report, *before = &mark->report;
  double loss = now->restitution_loss - before->restitution_loss + now->friction_loss - before->friction_loss;
  double goal = e->leap.energy - loss;
  if (!isfinite(goal)) return;
  for (int i = 0; i < g->count; i++) {
    int b = g->bodies[i];
    e->leap.jump_p[b] = cm_sub(state->p[b], e->leap.before->p[b]);
    e->leap.jump_l[b] = cm_sub(state->l[b], e->leap.before->l[b]);
  }
  for (int round = 0; round < MAX_ROUNDS; round++) {
    double slope, off = energy_after(stepper, state, g, time, &slope) - goal, step = slope > 0 ? off / slope : 0;
    if (!(fabs(step) < 0.1)) break;  // a plastic impact has nothing to scale
    s -= step;
    jump(e, state, g, s);
    if (fabs(step) < 1e-15) break;
  }
  carom_vec3 p = cm_sub(now->impulse, before->impulse), l = cm_sub(now->angular_impulse, before->angular_impulse);
  carom_ledger_outside(ledger, cm_scale(s - 1, p), cm_scale(s - 1, l));
}
