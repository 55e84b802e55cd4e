// Two bodies that touch each other and nothing else in a step, free of joints, springs and forces: there the velocities
// at both ends of the step say what the laws of the surface would have done.
#include "mechanics/audit.h"
#include "model/row.h"
#include "model/size.h"

static bool is_alone(const carom_audit *audit, int body) {
  if (!carom_body_moves(audit->model, body)) return true;
  return !audit->step[body].crowded && !audit->tied[body];
}

static bool are_alone(const carom_audit *audit, const carom_contact_event *e) {
  bool one_surface = e->body_b != CAROM_WORLD && audit->model->boundary_count == 0;
  return one_surface && is_alone(audit, e->body_a) && is_alone(audit, e->body_b);
}

static double weight_leeway(const carom_audit *audit) { return fabs(audit->dt) * cm_norm(audit->model->gravity); }

// Coulomb: while bodies slide on each other, friction is as large as it can be, against the slip. Told where the slip
// goes one way over the whole patch and the whole step.
static void judge_sliding(carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                          const carom_met *met) {
  double mu = met->surface.friction, along = cm_dot(e->impulse, e->normal);
  carom_vec3 slip = cm_axpy(met->before, -cm_dot(met->before, e->normal), e->normal);
  double speed = cm_norm(slip);
  if (mu == 0 || speed == 0) return;
  carom_vec3 way = cm_scale(1 / speed, slip);
  double slowest = fmin(speed, cm_dot(met->after, way));
  double leeway = fmax(carom_audit_slip_leeway(audit, state, e), carom_audit_slip_leeway(audit, audit->before, e)) +
                  carom_audit_swerve(audit, state, e) + (1 + mu) * weight_leeway(audit);
  if (slowest <= 2 * leeway) return;
  double angle = leeway / slowest, missing = mu * along + cm_dot(e->impulse, way);
  double value = missing / cm_norm(e->impulse) - (1 + mu) * met->turn - mu * angle * angle;
  carom_finding_note(&audit->law, value, e->time, e->body_a, e->body_b);
}

static bool is_central(const carom_audit *audit, const carom_contact_event *e) {
  const carom_model *m = audit->model;
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    if (carom_body_moves(m, b) && !carom_body_is_ball(m, &m->bodies[b])) return false;
  }
  return true;
}

// Newton: bodies part e times as fast as they met. Where friction turns them as well, other laws of restitution say
// otherwise; where balls meet, or nothing rubs, all agree. Slower is a loss, which is judged as such.
static void judge_rebound(carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                          const carom_met *met) {
  double e_n = met->surface.restitution, met_at = -cm_dot(met->before, e->normal), part = cm_dot(met->after, e->normal);
  bool single = audit->step[e->body_a].events <= 1 && audit->step[e->body_b].events <= 1;
  if (e->kind != CAROM_EVENT_IMPACT || !single || (met->surface.friction > 0 && !is_central(audit, e))) return;
  double leeway = (1 + e_n) * (weight_leeway(audit) + carom_audit_swerve(audit, state, e));
  if (met_at <= 4 * leeway) return;
  carom_finding_note(&audit->law, (part - e_n * met_at - leeway) / met_at, e->time, e->body_a, e->body_b);
}

void carom_audit_judge_alone(carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                             const carom_met *met) {
  if (!are_alone(audit, e)) return;
  judge_sliding(audit, state, e, met);
  judge_rebound(audit, state, e, met);
}
