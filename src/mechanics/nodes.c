// Solids that deform between two states: nodes move as their velocities say, held ones are where they are held, no
// tetrahedron is inverted, and the momentum of a solid changes by weight and by the impulses of its events alone.
#include "base/memory.h"
#include "mechanics/audit.h"

// ---- making ---------------------------------------------------------------------------------------------------------

static bool is_held(const carom_model *m, int solid) {
  bool held = m->solids[solid].pin_count > 0;
  for (int i = 0; i < m->pressure_count; i++) held = held || m->pressures[i].solid == solid;
  return held;
}

static void find_what_works(carom_audit *audit) {
  const carom_model *m = audit->model;
  audit->works = audit->works || m->pressure_count > 0;
  for (int k = 0; k < m->solid_count; k++) {
    audit->solid[k].held = is_held(m, k);
    audit->works = audit->works || m->solids[k].matter.damping > 0;
  }
}

carom_status carom_audit_solids_create(carom_audit *audit, carom_error *error) {
  const carom_model *m = audit->model;
  if (m->solid_count == 0) return CAROM_OK;
  if (!CAROM_NEW_ALL(&audit->allocator, CAROM_ROOM(audit->solid, m->solid_count),
                     CAROM_ROOM(audit->solid_before, m->solid_count), CAROM_ROOM(audit->solid_now, m->solid_count),
                     CAROM_ROOM(audit->node_kick2, m->node_count)))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the audit of %d nodes", m->node_count);
  find_what_works(audit);
  return carom_soft_overlaps_create(audit->overlaps, &audit->soft, error);
}

void carom_audit_solids_destroy(carom_audit *audit) {
  carom_soft_overlaps_destroy(audit->soft);
  CAROM_RELEASE_ALL(&audit->allocator, audit->solid, audit->solid_before, audit->solid_now, audit->node_kick2);
}

// ---- inversion ------------------------------------------------------------------------------------------------------

// Flat counts as inverted, and so does what is no number.
static double inversion_of(double J) { return J > 0 || isnan(J) ? 1 - J : fmax(1 - J, nextafter(1, 2)); }

static void judge_inversion(carom_audit *audit, int solid, double time) {
  const carom_solid_sample *s = &audit->solid_now[solid].of;
  carom_finding_note_at(&audit->inversion, inversion_of(s->least_J), time, solid, "tetrahedron", s->least_tet);
}

void carom_audit_solids_begin(carom_audit *audit) {
  for (int k = 0; k < audit->model->solid_count; k++) {
    audit->solid_now[k] = carom_solid_balance_of(audit->model, audit->before, k);
    judge_inversion(audit, k, audit->before->time);
  }
  carom_audit_solids_keep(audit);
}

void carom_audit_solids_keep(carom_audit *audit) {
  for (int k = 0; k < audit->model->solid_count; k++) audit->solid_before[k] = audit->solid_now[k];
}

void carom_audit_solids_clear(carom_audit *audit) {
  for (int k = 0; k < audit->model->solid_count; k++) {
    carom_solid_step *s = &audit->solid[k];
    s->impulse = s->angular_impulse = cm_zero3(), s->pushed = 0, s->events = 0;
  }
}

void carom_audit_push_solid(carom_audit *audit, int solid, carom_vec3 point, carom_vec3 impulse) {
  carom_solid_step *s = &audit->solid[solid];
  s->impulse = cm_add(s->impulse, impulse);
  s->angular_impulse = cm_add(s->angular_impulse, cm_cross(point, impulse));
  s->pushed += cm_norm(impulse);
  s->events++;
}

// ---- how nodes move -------------------------------------------------------------------------------------------------

// Explicit steps up to this share of the critical one see every vibration four times a period: a phase of 90 degrees
// in a step. Longer ones are taken in parts.
static const double RESOLVED = 0.70710678118654752;

static double parts_of(const carom_audit *audit, int solid) {
  return fmax(1, ceil(fabs(audit->dt) / (RESOLVED * audit->model->solids[solid].critical_step)));
}

// What is left of a jump of a node after all that forces may have done to its way. With accelerations a at both ends
// dx - h/2 (v0 + v1) = h2/4 (a0 - a1), against kicks h/2 (a0 + a1) of this step and of the one before: where a
// vibration turns round in one of them it does not in the other.
static double jump_of(const carom_audit *audit, const carom_state *state, int node, double kick2, double hidden) {
  const carom_state *before = audit->before;
  double h = fabs(audit->dt);
  carom_vec3 dx = cm_sub(state->nodes[node], before->nodes[node]);
  carom_vec3 mean = cm_add(before->node_velocities[node], state->node_velocities[node]);
  double off = cm_norm(cm_axpy(dx, -0.5 * audit->dt, mean));
  double kicks = sqrt(kick2) + sqrt(audit->node_kick2[node]) + h * cm_norm(audit->model->gravity);
  double rounding = 4e-16 * (cm_norm(state->nodes[node]) + cm_norm(dx));
  return off - h * kicks - hidden - rounding;
}

// How far vibrations may have led a node besides, m. The change of a is at most h w2 v for the fastest vibration, w = 2
// over the critical step, so that h2/4 of it are h v (h / critical)2; of longer steps, and where contacts are stiffer
// than the solid, nothing is known but v, that of the fastest node so far.
static double hidden_way(const carom_audit *audit, int solid) {
  const carom_solid_step *s = &audit->solid[solid];
  double h = fabs(audit->dt), share = h / audit->model->solids[solid].critical_step;
  if (audit->frames_only && s->pushed > 0) return 2 * h * s->fastest;  // something may have been in between
  return h * s->shaking * (s->events > 0 ? 1 : fmin(1, share * share));
}

static void measure_speeds(carom_audit *audit, const carom_state *state, int solid) {
  const carom_solid *s = &audit->model->solids[solid];
  carom_vec3 mean = cm_scale(1 / s->mass, audit->solid_now[solid].of.momentum);
  double fastest = 0, shaking = 0, travel = 0;
  for (int i = s->node_start; i < s->node_start + s->node_count; i++) {
    carom_vec3 v0 = audit->before->node_velocities[i], v1 = state->node_velocities[i];
    fastest = fmax(fastest, fmax(cm_norm2(v0), cm_norm2(v1)));
    shaking = fmax(shaking, cm_norm2(cm_sub(v1, mean)));
    travel = fmax(travel, cm_norm2(cm_sub(state->nodes[i], audit->before->nodes[i])));
  }
  audit->solid[solid].fastest = sqrt(fastest);
  audit->solid[solid].travel = sqrt(travel);
  audit->solid[solid].shaking = fmax(audit->solid[solid].shaking, sqrt(shaking));
}

void carom_audit_measure_solids(carom_audit *audit, const carom_state *state) {
  for (int k = 0; k < audit->model->solid_count; k++) {
    audit->solid_now[k] = carom_solid_balance_of(audit->model, state, k);
    measure_speeds(audit, state, k);
  }
}

static void judge_jumps(carom_audit *audit, const carom_state *state, int solid) {
  const carom_solid *s = &audit->model->solids[solid];
  double hidden = hidden_way(audit, solid), thin = audit->soft->thin[solid];
  for (int i = s->node_start; i < s->node_start + s->node_count; i++) {
    double kick2 = cm_norm2(cm_sub(state->node_velocities[i], audit->before->node_velocities[i]));
    double jump = jump_of(audit, state, i, kick2, hidden);
    audit->node_kick2[i] = kick2;
    if (!(jump <= 0))
      carom_finding_note_at(&audit->position, jump / thin, state->time, solid, "node", i - s->node_start);
  }
}

// Newmark's method keeps, of a mode of angular frequency w, v2 + w2 x2 (1 - (h w / 2)2): the energy is a constant and
// h2/8 sum m |a|2, and h a / 2 is what the velocity differs by from the mean one of the step. Steps that are taken in
// parts swing by the square of these, but vibrations within are not seen: with (h w)2 at most 2, and 1 over an even
// spectrum, they swing by an eighth of the elastic energy.
static double sway_of(const carom_audit *audit, const carom_state *state, const carom_state *at,
                      const carom_solid_balance *solids) {
  const carom_model *m = audit->model;
  double all = 0;
  for (int k = 0; k < m->solid_count; k++) {
    const carom_solid *s = &m->solids[k];
    double sum = 0, parts = parts_of(audit, k);
    for (int i = s->node_start; i < s->node_start + s->node_count; i++) {
      carom_vec3 way = cm_sub(state->nodes[i], audit->before->nodes[i]);
      sum += m->node_masses[i] * cm_norm2(cm_axpy(at->node_velocities[i], -1 / audit->dt, way));
    }
    all += 0.5 * sum / (parts * parts) + (parts > 1 ? 0.125 * solids[k].of.elastic : 0);
  }
  return all;
}

// ---- pins -----------------------------------------------------------------------------------------------------------

static void judge_pins(carom_audit *audit, const carom_state *state, int solid) {
  const carom_solid *s = &audit->model->solids[solid];
  for (int i = s->pin_start; i < s->pin_start + s->pin_count; i++) {
    int node = audit->model->pins[i].node;
    carom_vec3 x, v;
    carom_pin_motion(audit->model, i, state->time, &x, &v);
    double off = cm_norm(cm_sub(state->nodes[node], x));
    if (!(off <= 1e-12 * cm_norm(x)))
      carom_finding_note_at(&audit->pins, off / audit->soft->thin[solid], state->time, solid, "node",
                            node - s->node_start);
  }
}

// ---- momenta --------------------------------------------------------------------------------------------------------

// Moments are those about the world origin, of weight at the mean of both centres, from which the way within the step
// differs by no more than its kicks lead it off.
static double untold_moment(const carom_audit *audit, int k) {
  const carom_solid_sample *was = &audit->solid_before[k].of, *is = &audit->solid_now[k].of;
  const carom_solid_step *s = &audit->solid[k];
  double h = audit->dt, weight = audit->model->solids[k].mass * cm_norm(audit->model->gravity) * fabs(h);
  carom_vec3 fall = cm_scale(audit->model->solids[k].mass * h, audit->model->gravity);
  carom_vec3 moment = cm_add(s->angular_impulse, cm_cross(cm_lerp(was->center, is->center, 0.5), fall));
  carom_vec3 dl = cm_sub(cm_sub(is->angular_momentum, was->angular_momentum), moment);
  return cm_norm(dl) - weight * fabs(h) * s->pushed / audit->model->solids[k].mass;
}

// Of solids that nothing holds.
static void judge_momentum(carom_audit *audit, const carom_state *state, int k) {
  const carom_solid_balance *was = &audit->solid_before[k], *is = &audit->solid_now[k];
  const carom_solid_step *s = &audit->solid[k];
  carom_vec3 weight = cm_scale(audit->model->solids[k].mass * audit->dt, audit->model->gravity);
  carom_vec3 dp = cm_sub(cm_sub(is->of.momentum, was->of.momentum), cm_add(weight, s->impulse));
  double scale = fmax(is->momentum_scale, was->momentum_scale) + cm_norm(weight) + s->pushed;
  double arm = audit->soft->size[k] + cm_norm(is->of.center), twist = untold_moment(audit, k);
  if (cm_norm(dp) != 0)
    carom_finding_note(&audit->flight, cm_norm(dp) / scale, state->time, CAROM_SOLID(k), CAROM_WORLD);
  if (!(twist <= 0))
    carom_finding_note(&audit->flight, twist / (arm * scale), state->time, CAROM_SOLID(k), CAROM_WORLD);
}

// ---- the step -------------------------------------------------------------------------------------------------------

// Of frames alone: what something may have touched in between is not known.
static void suspect_contacts(carom_audit *audit, const carom_state *state) {
  for (int k = 0; k < audit->model->solid_count; k++)
    if (!carom_audit_solid_is_alone(audit, state, k)) audit->solid[k].pushed = INFINITY, audit->solids_met = true;
}

void carom_audit_nodes(carom_audit *audit, const carom_state *state, bool told) {
  const carom_model *m = audit->model;
  if (m->solid_count == 0) return;
  for (int k = 0; k < m->solid_count; k++) {
    judge_inversion(audit, k, state->time);
    judge_pins(audit, state, k);
  }
  if (audit->frames_only) suspect_contacts(audit, state);
  for (int k = 0; k < m->solid_count; k++) {
    judge_jumps(audit, state, k);
    bool known = audit->frames_only ? audit->solid[k].pushed == 0 : told;
    if (known && !audit->solid[k].held) judge_momentum(audit, state, k);
  }
  if (audit->steps == 0) audit->sway_start = sway_of(audit, state, audit->before, audit->solid_before);
  audit->sway = sway_of(audit, state, state, audit->solid_now);
}

// ---- overlaps -------------------------------------------------------------------------------------------------------

bool carom_audit_choose_solids(carom_audit *audit) {
  bool any = false;
  for (int k = 0; k < audit->model->solid_count; k++) {
    carom_solid_step *s = &audit->solid[k];
    s->path += s->travel;
    s->chosen = s->path > 0.25 * fmin(audit->soft->least, audit->overlaps->least);
    if (s->chosen) s->path = 0;
    any = any || s->chosen;
  }
  return any;
}

void carom_audit_look_at_solids(carom_audit *audit, const carom_state *state, bool all) {
  if (!audit->soft) return;
  for (int k = 0; k < audit->model->solid_count; k++) {
    audit->soft->chosen[k] = all || audit->solid[k].chosen;
    if (all) audit->solid[k].path = 0;
  }
  carom_soft_overlaps_measure(audit->soft, state, all ? NULL : audit->chosen, &audit->solid_overlap);
}

bool carom_audit_solid_is_alone(const carom_audit *audit, const carom_state *state, int solid) {
  double reach = 2 * fabs(audit->dt) * audit->solid[solid].fastest +
                 audit->dt * audit->dt * cm_norm(audit->model->gravity) + audit->solid[solid].travel;
  return audit->model->ignores_contacts || carom_soft_overlaps_alone(audit->soft, audit->before, state, solid, reach);
}
