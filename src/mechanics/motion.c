// A motion of unknown origin: frames without events. Where nothing touches, bodies fly freely; what contacts did to a
// body that touches one other is what is left of its momentum, and Coulomb's law can be held against that.
#include "mechanics/audit.h"
#include "model/joints.h"
#include "model/row.h"

// The one pair that touches a body; several, and forces cannot be told apart.
typedef struct touching {
  int other, count;
  carom_vec3 normal, point;  // the normal points to the body
} touching;

static const double TOUCHING = 1e-2;    // nearer than this over the least width counts as touching
static const double SLACK_CONE = 0.05;  // sliding friction may miss its cone by this much and still be sliding

static touching touch_of(carom_audit *audit, const carom_state *state, int body) {
  const carom_overlaps *o = audit->overlaps;
  touching t = {.other = CAROM_WORLD};
  for (int i = 0; i < o->pairs->pair_count; i++) {
    const carom_part_pair *p = &o->pairs->pairs[i];
    carom_distance_result d;
    if (p->body_a != body && p->body_b != body) continue;
    if (carom_contacts_distance(o->pairs, i, state, &d) != CAROM_OK) continue;
    double thin = fmin(o->thickness[p->part_a], o->thickness[p->part_b]);
    if (d.distance > TOUCHING * thin) continue;
    bool is_a = p->body_a == body;
    t = (touching){is_a ? p->body_b : p->body_a, t.count + 1, is_a ? d.normal : cm_neg(d.normal), d.point_a};
  }
  return t;
}

// Bodies that something may reach between two frames.
static bool is_near(carom_audit *audit, const carom_state *state, int body) {
  const carom_overlaps *o = audit->overlaps;
  for (int i = 0; i < o->pairs->pair_count; i++) {
    const carom_part_pair *p = &o->pairs->pairs[i];
    carom_distance_result d;
    if (p->body_a != body && p->body_b != body) continue;
    double reach = audit->travel[p->body_a] + audit->travel[p->body_b];
    double thin = fmin(o->thickness[p->part_a], o->thickness[p->part_b]);
    if (carom_contacts_distance(o->pairs, i, state, &d) != CAROM_OK || d.distance <= reach + TOUCHING * thin)
      return true;
  }
  return false;
}

static bool is_near_solid(const carom_audit *audit, const carom_state *state, int body) {
  return audit->soft && carom_soft_overlaps_near_body(audit->soft, audit->before, state, body, audit->travel[body]);
}

static carom_vec3 slip_of(const carom_audit *audit, const carom_state *state, int body, const touching *t) {
  carom_contact_event e = {.body_a = body, .body_b = t->other, .point = t->point};
  carom_vec3 u = carom_audit_relative_velocity(audit, state, &e);
  return cm_axpy(u, -cm_dot(u, t->normal), t->normal);
}

// A body that touches the same one at both ends of an interval and hardly turns: the impulse that it got is dp - m g
// dt. Coulomb's law lets it slip only with friction at the rim of its cone; what it slips inside the cone is creep.
static void judge_creep(carom_audit *audit, const carom_state *state, int body, const touching *before) {
  const carom_model *m = audit->model;
  touching after = touch_of(audit, state, body);
  if (before->count != 1 || after.count != 1 || before->other != after.other || audit->tied[body]) return;
  if (carom_body_moves(m, after.other) || cm_dot(before->normal, after.normal) < 0.999) return;
  carom_vec3 weight = cm_scale(m->bodies[body].mass * audit->dt, m->gravity);
  carom_vec3 J = cm_sub(cm_sub(state->p[body], audit->before->p[body]), weight);
  double along = cm_dot(J, after.normal), across = cm_norm(cm_axpy(J, -along, after.normal));
  double mu = carom_model_surface(m, body, after.other).friction, size = cm_norm(J);
  if (!(along > 0.1 * cm_norm(weight))) return;
  carom_finding_note(&audit->law, (across - mu * along) / size - SLACK_CONE, state->time, body, after.other);
  double slip = 0.5 * audit->dt *
                (cm_norm(slip_of(audit, audit->before, body, before)) + cm_norm(slip_of(audit, state, body, &after)));
  if (across < (1 - SLACK_CONE) * mu * along) {
    audit->crept[body] += slip;
    carom_finding_note(&audit->creep, audit->crept[body] / audit->overlaps->thin[body], state->time, body, after.other);
  }
}

static void judge_energy(carom_audit *audit, const carom_state *state) {
  carom_balance now = carom_balance_with(audit->model, state, audit->solid_now);
  carom_audit_note_balance(audit, state, &now);
}

// How far a body may have got, and by how much contacts that nobody told of may have changed its momentum meanwhile.
static void reach_out(carom_audit *audit, const carom_state *state) {
  double g = cm_norm(audit->model->gravity), dt = fabs(audit->dt);
  for (int i = 0; i < audit->model->body_count; i++) {
    if (audit->model->bodies[i].fixed) continue;
    double speed = carom_audit_speed(audit, audit->before, i) + carom_audit_speed(audit, state, i) + g * dt;
    audit->travel[i] = dt * speed + cm_norm(cm_sub(state->x[i], audit->before->x[i]));
    audit->step[i].pushed = 2 * audit->model->bodies[i].mass * speed;
    audit->pushed += audit->step[i].pushed;
  }
}

static void judge_bodies(carom_audit *audit, const carom_state *state) {
  carom_error ignored;
  const carom_model *m = audit->model;
  bool alone = m->ignores_contacts || audit->overlaps->grains;
  reach_out(audit, state);
  if (!alone && carom_contacts_update(audit->overlaps->pairs, state, audit->travel, &ignored) != CAROM_OK) return;
  for (int i = 0; i < m->body_count; i++) {
    if (m->bodies[i].fixed || audit->overlaps->grains || audit->massless) continue;
    if (!m->ignores_contacts && is_near_solid(audit, state, i)) continue;
    touching before = touch_of(audit, audit->before, i);
    if (!alone) judge_creep(audit, state, i, &before);
    if (!alone && (is_near(audit, state, i) || is_near(audit, audit->before, i))) continue;
    audit->step[i].pushed = 0;
    if (!audit->tied[i]) carom_audit_free_flight(audit, state, i);
  }
  carom_audit_flight(audit, state, audit->dt, false);
}

void carom_audit_motion(carom_audit *audit, const carom_state *state) {
  const carom_step_report nothing = {.step = state->time - audit->before->time};
  audit->frames_only = true;
  audit->dt = nothing.step;
  audit->pushed = 0;
  for (int i = 0; i < audit->model->body_count; i++) audit->step[i] = (carom_body_step){0};
  if (!(audit->dt > 0)) carom_finding_note(&audit->position, INFINITY, state->time, CAROM_WORLD, CAROM_WORLD);
  carom_audit_solids_clear(audit);
  carom_audit_measure_solids(audit, state);
  judge_bodies(audit, state);
  carom_audit_nodes(audit, state, false);
  judge_energy(audit, state);
  carom_audit_look(audit, state, &nothing);
  carom_state_copy(audit->before, state);
  carom_audit_solids_keep(audit);
  audit->steps++;
  carom_audit_frame(audit);
}
