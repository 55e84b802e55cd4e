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

// All that moves are balls: these touch in one place, whichever way they turn.
static bool is_central(const carom_audit *audit, const carom_contact_event *e) {
  const carom_model *m = audit->model;
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    if (carom_body_moves(m, b) && !carom_body_is_ball(m, &m->bodies[b])) return false;
  }
  return true;
}

static double weight_leeway(const carom_audit *audit) { return fabs(audit->dt) * cm_norm(audit->model->gravity); }

// Where a ball touches: known from the normal, however far it moved in the step.
static carom_vec3 touch_of_ball(const carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                                int end) {
  int b = end == 0 ? e->body_a : e->body_b;
  return cm_axpy(state->x[b], (end == 0 ? -1 : 1) * audit->model->bodies[b].bounding_radius, e->normal);
}

static carom_vec3 slip_of_balls(const carom_audit *audit, const carom_state *state, const carom_contact_event *e) {
  bool moves[2] = {carom_body_moves(audit->model, e->body_a), carom_body_moves(audit->model, e->body_b)};
  carom_vec3 a = touch_of_ball(audit, state, e, moves[0] ? 0 : 1), b = touch_of_ball(audit, state, e, moves[1] ? 1 : 0);
  return cm_sub(carom_audit_velocity_at(audit, state, e->body_a, a),
                carom_audit_velocity_at(audit, state, e->body_b, b));
}

// Velocities at both ends of the step where the bodies touch.
static carom_met met_where_they_touch(const carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                                      const carom_met *met) {
  carom_met touch = *met;
  if (!is_central(audit, e)) return touch;
  touch.before = slip_of_balls(audit, audit->before, e);
  touch.after = slip_of_balls(audit, state, e);
  return touch;
}

// Where a ball touches it does not move along the normal by turning.
double carom_audit_normal_speed(const carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                                const carom_met *met) {
  carom_met touch = met_where_they_touch(audit, state, e, met);
  double speed = fmax(fabs(cm_dot(touch.before, e->normal)), fabs(cm_dot(touch.after, e->normal)));
  return is_central(audit, e) ? speed : fmax(0, speed - carom_audit_swerve(audit, state, e));
}

// What is known of the slip: where it is, and how far it may have changed within the step.
typedef struct slipping {
  carom_vec3 before, after;
  double leeway, turn;
} slipping;

static slipping slipping_of(const carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                            const carom_met *met) {
  carom_met touch = met_where_they_touch(audit, state, e, met);
  slipping s = {touch.before, touch.after, 0, met->turn};
  if (is_central(audit, e)) {
    if (e->kind == CAROM_EVENT_IMPACT) s.turn = 0;  // there is but one normal
  } else {
    s.leeway = fmax(carom_audit_slip_leeway(audit, state, e), carom_audit_slip_leeway(audit, audit->before, e)) +
               carom_audit_swerve(audit, state, e);
  }
  s.leeway += (1 + met->surface.friction) * weight_leeway(audit) + 1e-6 * cm_norm(met->before);
  return s;
}

static carom_vec3 across(carom_vec3 v, carom_vec3 normal) { return cm_axpy(v, -cm_dot(v, normal), normal); }

// Coulomb: while bodies slide on each other, friction is as large as it can be, against the slip. Told where the slip
// goes on over the whole patch and the whole step. Other than in the plane a blow may turn it, one way and no further
// than it ends (the rate of the angle depends on the angle alone): friction is against what lies between.
static void judge_sliding(carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                          const carom_met *met) {
  double mu = met->surface.friction;
  if (mu == 0) return;
  slipping s = slipping_of(audit, state, e, met);
  carom_vec3 first = across(s.before, e->normal), last = across(s.after, e->normal);
  double speed = cm_norm(first);
  if (speed <= 2 * s.leeway || cm_dot(last, first) <= 2 * s.leeway * speed) return;
  double slowest = fmin(speed, cm_dot(last, first) / speed);
  carom_vec3 from = cm_unit(first), to = cm_unit(last), way = cm_unit(cm_add(from, to));
  double angle = atan2(cm_norm(cm_cross(to, way)), cm_dot(to, way)) + 1.5 * s.leeway / slowest;
  double missing = mu * cm_dot(e->impulse, e->normal) + cm_dot(e->impulse, way);
  double value = missing / cm_norm(e->impulse) - (1 + mu) * s.turn - mu * (1 - cos(angle));
  carom_finding_note(&audit->law, value, e->time, e->body_a, e->body_b);
}

// By how much velocities at the event's place are uncertain, since bodies turn and since they were elsewhere within the
// step.
static double turning_leeway(const carom_audit *audit, const carom_state *state, const carom_contact_event *e) {
  double sum = carom_audit_swerve(audit, state, e);
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    if (!carom_body_moves(audit->model, b)) continue;
    double moved = cm_norm(cm_sub(state->x[b], audit->before->x[b]));
    sum += moved * fmax(cm_norm(carom_state_angular_velocity(audit->model, state, b)),
                        cm_norm(carom_state_angular_velocity(audit->model, audit->before, b)));
  }
  return sum;
}

// Newton: bodies part e times as fast as they met. Where friction turns them as well, other laws of restitution say
// otherwise; where balls meet, or nothing rubs, all agree. Bodies that stay together may: a law can be plastic, and
// those that meet slowly come to rest. Where contacts yield, it takes several steps to turn bodies round.
static void judge_rebound(carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                          const carom_met *met) {
  bool single = audit->step[e->body_a].events <= 1 && audit->step[e->body_b].events <= 1,
       central = is_central(audit, e);
  if (e->kind != CAROM_EVENT_IMPACT || !single || audit->yields || (met->surface.friction > 0 && !central)) return;
  carom_met touch = met_where_they_touch(audit, state, e, met);
  double e_n = met->surface.restitution, met_at = -cm_dot(touch.before, e->normal),
         part = cm_dot(touch.after, e->normal);
  double leeway = weight_leeway(audit) + (central ? 0 : turning_leeway(audit, state, e));
  leeway *= 1 + e_n;
  if (met_at <= 4 * leeway || fabs(part) <= leeway) return;
  carom_finding_note(&audit->law, (fabs(part - e_n * met_at) - leeway) / met_at, e->time, e->body_a, e->body_b);
}

void carom_audit_judge_alone(carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                             const carom_met *met) {
  if (!are_alone(audit, e)) return;
  judge_sliding(audit, state, e, met);
  judge_rebound(audit, state, e, met);
}
