// What the projection of a cycle did that no velocity and no law explains, in the measures of the audit
// (docs/audit.md): positions that jump, momenta that turn, energy that is owed, joints that are left open.
#include <math.h>

#include "mechanics/balance.h"
#include "mechanics/finding.h"
#include "model/size.h"
#include "step/dcr/dcr.h"

// A fifth of what the audit allows in a step, which may have several such cycles.
static const double JUMP = 2e-3;        // over the least depth of a body
static const double TWIST = 5e-3;       // over what passes through a body
static const double TURNED = 1e-4;      // angular momentum of all, which adds up from step to step
static const double UNBALANCED = 5e-4;  // energy, over the largest so far
static const double OPEN = 1e-9;        // joints, over the largest body

static const double UNSOLVED = 8e-7;  // residual of the contact solves
enum { FEW_BODIES = 40, FEW_CUTS = 8 };

// How far a body is from where the velocities at both ends of the cycle lead, beyond what impulses on the way explain.
static double shift_of(const carom_stepper *stepper, const carom_state *state, int i, double dt) {
  const carom_dcr *w = stepper->work;
  const carom_model *m = stepper->model;
  carom_vec3 v0 = carom_state_velocity(m, w->start, i), v1 = carom_state_velocity(m, state, i);
  double pushed = w->pushed[i] * m->bodies[i].inverse_mass + dt * cm_norm(m->gravity);
  double slack = 0.5 * dt * (cm_norm(cm_sub(v1, v0)) + pushed);
  return cm_norm(cm_axpy(cm_sub(state->x[i], w->start->x[i]), -0.5 * dt, cm_add(v0, v1))) - slack;
}

// The same for its turn. Of a body that is not round the axis wanders meanwhile.
static double turn_of(const carom_stepper *stepper, const carom_state *state, int i, double dt) {
  const carom_dcr *w = stepper->work;
  const carom_body *body = &stepper->model->bodies[i];
  carom_vec3 w0 = carom_state_angular_velocity(stepper->model, w->start, i);
  carom_vec3 w1 = carom_state_angular_velocity(stepper->model, state, i);
  double swing = dt * fmax(cm_norm(w0), cm_norm(w1)), I = carom_least3(body->inertia);
  double odd = I > 0 ? fmin(carom_largest3(body->inertia) / I - 1, 1) : 0;
  double pushed = I > 0 ? carom_body_radius(body) * w->pushed[i] / I : 0;
  double slack = 0.5 * dt * (cm_norm(cm_sub(w1, w0)) + pushed) + swing * (swing * (odd + 0.25 * swing) + dt * pushed);
  carom_vec3 theta = cm_log(cm_qmul(state->q[i], cm_qconj(w->start->q[i])));
  return cm_norm(cm_axpy(theta, -0.5 * dt, cm_add(w0, w1))) - slack;
}

static double jump_of(const carom_stepper *stepper, const carom_state *state, int i, double dt) {
  const carom_dcr *w = stepper->work;
  double r = carom_body_radius(&stepper->model->bodies[i]), thin = isfinite(w->thin[i]) ? w->thin[i] : r > 0 ? r : 1;
  return fmax(shift_of(stepper, state, i, dt), r * turn_of(stepper, state, i, dt)) / thin;
}

// The momentum lift turns l. Impulses have a place in the cycle, too, that is known as far as the body moved.
static double twist_of(const carom_stepper *stepper, const carom_state *state, int i, double dt) {
  const carom_dcr *w = stepper->work;
  const carom_body *body = &stepper->model->bodies[i];
  double angle = cm_norm(cm_log(cm_qmul(state->q[i], cm_qconj(w->free_end->q[i])))), l = cm_norm(w->free_end->l[i]);
  double push = cm_norm(w->free_end->p[i]) + body->mass * dt * cm_norm(stepper->model->gravity) + w->pushed[i];
  double lifted = fmin(angle, 2) * l - w->pushed[i] * cm_norm(cm_sub(state->x[i], w->start->x[i]));
  return carom_relative(fmax(0, lifted), l + carom_body_radius(body) * push);
}

static double turned(const carom_stepper *stepper, const carom_state *state, double scale) {
  const carom_dcr *w = stepper->work;
  carom_vec3 sum = cm_zero3();
  for (int i = 0; i < state->body_count; i++) {
    if (stepper->model->bodies[i].fixed) continue;
    carom_vec3 l = w->free_end->l[i], lifted = cm_rotate(state->q[i], cm_unrotate(w->free_end->q[i], l));
    sum = cm_add(sum, cm_cross(cm_sub(state->x[i], w->free_end->x[i]), w->free_end->p[i]));
    sum = cm_add(sum, cm_sub(lifted, l));
  }
  return carom_relative(cm_norm(sum), scale);
}

static double least_scale(const carom_stepper *stepper) {
  const carom_dcr *w = stepper->work;
  double lift = 0;
  for (int i = 0; i < stepper->model->body_count; i++)
    if (!stepper->model->bodies[i].fixed && isfinite(w->thin[i])) lift += stepper->model->bodies[i].mass * w->thin[i];
  return 0.1 * lift * cm_norm(stepper->model->gravity);
}

static double raw_energy(const carom_balance *b, const carom_ledger *ledger) {
  const carom_step_report *r = &ledger->report;
  return b->kinetic + b->potential - r->work + r->restitution_loss + r->friction_loss;
}

void carom_dcr_begin_cycle(carom_stepper *stepper, const carom_state *state, const carom_ledger *ledger) {
  carom_dcr *w = stepper->work;
  carom_balance now = carom_balance_of(stepper->model, state);
  w->residual_before = ledger->report.complementarity;
  w->energy_before = raw_energy(&now, ledger);
  w->energy_scale = fmax(w->energy_scale, now.kinetic);
}

// Energy that was made or is missing, over the largest kinetic energy or a small lift of all bodies.
static double unbalanced(const carom_stepper *stepper, const carom_balance *now, const carom_ledger *ledger) {
  const carom_dcr *w = stepper->work;
  double scale = fmax(least_scale(stepper), fmax(w->energy_scale, now->kinetic));
  return carom_relative(fabs(raw_energy(now, ledger) - w->energy_before), scale);
}

static double largest_of(const carom_model *m) {
  double largest = 0;
  for (int i = 0; i < m->body_count; i++)
    if (!m->bodies[i].fixed) largest = fmax(largest, m->bodies[i].bounding_radius);
  return largest > 0 ? largest : 1;
}

// Contacts that were not solved are another problem after half the time. Large groups are never solved to the end.
static double unsolved(const carom_stepper *stepper, const carom_ledger *ledger) {
  const carom_dcr *w = stepper->work;
  double residual = ledger->report.complementarity;
  return stepper->model->body_count <= FEW_BODIES && residual > w->residual_before ? residual : 0;
}

static void raise_to(carom_dcr_defect *worst, double value, double tolerated, int body) {
  if (!(value <= tolerated * worst->size)) *worst = (carom_dcr_defect){value / tolerated, body};
}

carom_dcr_defect carom_dcr_judge(const carom_stepper *stepper, const carom_state *state, double dt, int cuts,
                                 const carom_ledger *ledger) {
  const carom_dcr *w = stepper->work;
  const carom_model *m = stepper->model;
  carom_balance now = carom_balance_of(m, state);
  carom_dcr_defect worst = {0, CAROM_WORLD};
  for (int i = 0; i < state->body_count; i++) {
    if (m->bodies[i].fixed) continue;
    if (w->projected || w->tied[i]) raise_to(&worst, jump_of(stepper, state, i, dt), JUMP, i);
    if (w->projected) raise_to(&worst, twist_of(stepper, state, i, dt), TWIST, i);
  }
  if (w->projected) raise_to(&worst, turned(stepper, state, now.angular_momentum_scale), TURNED, CAROM_WORLD);
  if (m->joint_count > 0) raise_to(&worst, carom_joints_drift(m, state) / largest_of(m), OPEN, CAROM_WORLD);
  if (cuts < FEW_CUTS) raise_to(&worst, unsolved(stepper, ledger), UNSOLVED, CAROM_WORLD);
  raise_to(&worst, unbalanced(stepper, &now, ledger), UNBALANCED, CAROM_WORLD);
  return worst;
}
