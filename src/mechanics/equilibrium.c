// Bodies without inertia: what passes through them in a step must be what their supports take for the way that they
// went, and the work of what is driven must go into supports and friction. Ways are those between the states at both
// ends of the step; velocities, which such bodies change at once, are not asked.
#include "mechanics/audit.h"

#include <string.h>

#include "base/memory.h"
#include "model/row.h"
#include "model/size.h"
#include "model/support.h"

static const double NUMBERS = 1e-15;    // round-off of positions, over how far out they are
static const double SAME_PLACE = 0.05;  // over the smaller body's radius: a contact that was there before

bool carom_audit_is_massless(const carom_model *m) {
  return m->support_count > 0 && m->support_count == m->moving_count && m->solid_count == 0;
}

// What a step did to a body; twists and loads are (linear, angular), about where it was at the start.
typedef struct passed {
  double way[6], load[6], support[6];  // displacement, impulse, and what the support took
  double size;                         // of all that adds up, N s
  double noise;                        // how uncertain the support's is, N s
} passed;

static double radius_of(const carom_audit *audit, int body) {
  double r = carom_body_radius(&audit->model->bodies[body]);
  return r > 0 ? r : 1;
}

static void put(double six[6], carom_vec3 a, carom_vec3 b) {
  memcpy(six, &a, sizeof a);
  memcpy(six + 3, &b, sizeof b);
}

static double size_of(const double six[6], double length) {
  return cm_norm(cm_vec3(six[0], six[1], six[2])) + cm_norm(cm_vec3(six[3], six[4], six[5])) * length;
}

static double dot(const double a[6], const double b[6]) {
  double sum = 0;
  for (int k = 0; k < 6; k++) sum += a[k] * b[k];
  return sum;
}

// ---- the way --------------------------------------------------------------------------------------------------------

static carom_vec3 way_of(const carom_audit *audit, const carom_state *state, int body) {
  return cm_sub(state->x[body], audit->before->x[body]);
}

static carom_vec3 turn_of(const carom_audit *audit, const carom_state *state, int body) {
  return cm_log(cm_qmul(state->q[body], cm_qconj(audit->before->q[body])));
}

// How far a point of a body went with it, as far as ways are small.
static carom_vec3 went(const carom_audit *audit, const carom_state *state, int body, carom_vec3 point) {
  if (body == CAROM_WORLD) return cm_zero3();
  carom_vec3 arm = cm_sub(point, audit->before->x[body]);
  return cm_add(way_of(audit, state, body), cm_cross(turn_of(audit, state, body), arm));
}

// ---- the support ----------------------------------------------------------------------------------------------------

// E d of a viscous one; h L d / sqrt(d'L d) of a dry one.
static void take_support(const carom_audit *audit, int body, passed *p) {
  const carom_support *s = &audit->model->supports[body];
  double M[6][6], most = 0, r = radius_of(audit, body), moved = size_of(p->way, r);
  int entries[6], n = carom_twist_entries(audit->model->planar, entries);
  carom_support_turn(s->matrix, cm_rotation(audit->before->q[body]), M);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int a = entries[i], b = entries[j];
      p->support[a] += M[a][b] * p->way[b];
      most = fmax(most, fabs(M[a][b]) / ((a < 3 ? 1 : r) * (b < 3 ? 1 : r)));
    }
  double strain = s->kind == CAROM_SUPPORT_DRY ? sqrt(fmax(dot(p->way, p->support), 0)) / fabs(audit->dt) : 1;
  for (int k = 0; k < 6; k++) p->support[k] = strain > 0 ? p->support[k] / strain : 0;
  double out = cm_norm(audit->before->x[body]) + r;
  p->noise = strain > 0 ? NUMBERS * out * most / strain : 0;
  if (s->kind == CAROM_SUPPORT_DRY && moved <= 1e3 * NUMBERS * out) p->noise = INFINITY;  // it sticks
}

// ---- loads ----------------------------------------------------------------------------------------------------------

static void add_event(const carom_audit *audit, const carom_contact_event *e, int body, double sign, passed *p) {
  carom_vec3 J = cm_scale(sign, e->impulse), arm = cm_sub(e->point, audit->before->x[body]);
  double both[6];
  put(both, J, cm_cross(arm, J));
  for (int k = 0; k < 6; k++) p->load[k] += both[k];
  p->size += cm_norm(J);
}

// Forces are those in the middle of the step, at the places of its start.
static void find_forces(carom_audit *audit, const carom_state *state) {
  const carom_model *m = audit->model;
  carom_loads *loads = &audit->loads;
  memset(loads->f, 0, ((size_t)m->body_count + 1) * sizeof *loads->f);
  memset(loads->g, 0, ((size_t)m->body_count + 1) * sizeof *loads->g);
  memset(loads->torque, 0, ((size_t)m->body_count + 1) * sizeof *loads->torque);
  for (int i = 0; i < m->body_count; i++) audit->directors[i] = cm_rotation(audit->before->q[i]);
  carom_configuration c = {.time = audit->before->time + 0.5 * audit->dt,
                           .x = audit->before->x,
                           .d = audit->directors,
                           .joints = state->joints,
                           .inputs = state->inputs};
  if (carom_fields_present(m)) carom_fields_evaluate(m, &c, loads);
}

static void add_forces(const carom_audit *audit, int body, double force[6]) {
  const carom_model *m = audit->model;
  carom_vec3 f = cm_axpy(audit->loads.f[body], m->bodies[body].mass, m->gravity);
  carom_vec3 torque = carom_director_torque(audit->loads.g[body], audit->directors[body]);
  put(force, cm_scale(audit->dt, f), cm_scale(audit->dt, cm_add(torque, audit->loads.torque[body])));
  if (!m->planar) return;
  force[2] = force[3] = force[4] = 0;
}

// ---- one body -------------------------------------------------------------------------------------------------------

// Returns what forces did to it along its way.
static double add_up(carom_audit *audit, const carom_state *state, const carom_step_report *report, int body,
                     passed *p) {
  double force[6], r = radius_of(audit, body);
  *p = (passed){0};
  put(p->way, way_of(audit, state, body), turn_of(audit, state, body));
  take_support(audit, body, p);
  for (int i = 0; i < report->event_count; i++) {
    const carom_contact_event *e = &report->events[i];
    if (e->body_a == body) add_event(audit, e, body, 1, p);
    if (e->body_b == body) add_event(audit, e, body, -1, p);
  }
  add_forces(audit, body, force);
  for (int k = 0; k < 6; k++) p->load[k] += force[k];
  p->size += size_of(force, 1 / r) + size_of(p->support, 1 / r);
  return dot(force, p->way);
}

// A step that was taken in parts turned the body within it.
static double turned_within(const carom_audit *audit, const carom_step_report *report, int body, const passed *p) {
  if (report->halvings == 0) return 0;
  double r = radius_of(audit, body);
  return 2 * size_of(p->way, r) / r;
}

// What a body that sticks takes must be within its ellipsoid: d'L d <= ... is judged by f'L^-1 f alone.
static double beyond_ellipsoid(const carom_audit *audit, int body, const passed *p) {
  double M[6][6], inverse[6][6], square = 0;
  carom_support_turn(audit->model->supports[body].matrix, cm_rotation(audit->before->q[body]), M);
  if (carom_support_invert(carom_read6(M), audit->model->planar, inverse) != CAROM_OK) return INFINITY;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) square += p->load[i] * inverse[i][j] * p->load[j];
  return sqrt(square) / fabs(audit->dt) - 1;
}

static void judge_balance(carom_audit *audit, const carom_state *state, const carom_step_report *report, int body,
                          const passed *p) {
  double off[6], value = 0;
  if (isinf(p->noise)) {
    value = beyond_ellipsoid(audit, body, p);
  } else if (p->size > 0) {
    for (int k = 0; k < 6; k++) off[k] = p->support[k] - p->load[k];
    if (audit->model->planar) off[2] = off[3] = off[4] = 0;
    double error = size_of(off, 1 / radius_of(audit, body));
    value = (error - p->noise) / p->size - turned_within(audit, report, body, p);
  }
  carom_finding_note(&audit->equilibrium, value, state->time, body, CAROM_WORLD);
  audit->latest.momentum_error = fmax(audit->latest.momentum_error, value);
}

// ---- work -----------------------------------------------------------------------------------------------------------

static double place_of(const carom_audit *audit, const carom_contact_event *e) {
  double size = radius_of(audit, e->body_a);
  if (e->body_b != CAROM_WORLD) size = fmin(size, radius_of(audit, e->body_b));
  return SAME_PLACE * size + 2 * (audit->travel[e->body_a] + (e->body_b == CAROM_WORLD ? 0 : audit->travel[e->body_b]));
}

// Whether the bodies did not touch there in the step before: they met within this one.
static bool is_new(const carom_audit *audit, const carom_contact_event *e) {
  for (int i = 0; i < audit->touch_count; i++) {
    const carom_contact_event *t = &audit->touches[i];
    if (t->body_a == e->body_a && t->body_b == e->body_b && cm_norm(cm_sub(t->point, e->point)) <= place_of(audit, e))
      return false;
  }
  return true;
}

// What an event did, in a step that was taken as a whole or in parts, between which slips are not known: `given` by
// what is driven, and gained or lost between the bodies.
static double judge_work(carom_audit *audit, const carom_state *state, const carom_contact_event *e, bool whole,
                         double *given) {
  carom_vec3 b = went(audit, state, e->body_b, e->point), slip = cm_sub(went(audit, state, e->body_a, e->point), b);
  double pressed = cm_dot(e->impulse, e->normal), opened = cm_dot(slip, e->normal);
  carom_vec3 across = cm_axpy(e->impulse, -pressed, e->normal);
  double rubbed = cm_dot(across, slip), noise = NUMBERS * (cm_norm(e->point) + cm_norm(state->x[e->body_a]));
  double gain = whole ? rubbed - (noise + cm_norm(slip) * 1e-9) * cm_norm(across) : 0;
  bool moves = carom_body_moves(audit->model, e->body_b);
  *given = moves ? 0 : cm_dot(e->impulse, b);
  if (gain > 0) carom_sum_add(&audit->along_slip, gain);
  if (gain > 0 || isnan(gain)) carom_finding_note(&audit->slip, gain, e->time, e->body_a, e->body_b);
  carom_sum_add(&audit->gained, fmax(pressed * opened, 0) + fmax(gain, 0));
  double met = is_new(audit, e) ? fmin(pressed * opened, 0) : 0;
  return rubbed + met;
}

static void keep_touches(carom_audit *audit, const carom_step_report *report) {
  audit->touch_count = 0;
  for (int i = 0; i < report->event_count; i++) {
    if (!carom_grow(&audit->allocator, (void **)&audit->touches, i, &audit->touch_capacity, sizeof *audit->touches))
      return;  // then more contacts count as new
    audit->touches[audit->touch_count++] = report->events[i];
  }
}

// ---- the step -------------------------------------------------------------------------------------------------------

void carom_audit_equilibrium(carom_audit *audit, const carom_state *state, const carom_step_report *report) {
  double given;
  find_forces(audit, state);
  audit->latest.momentum_error = audit->latest.angular_momentum_error = 0;
  for (int i = 0; i < audit->model->body_count; i++) {
    passed p;
    if (!carom_body_moves(audit->model, i)) continue;
    double work = add_up(audit, state, report, i, &p), taken = dot(p.support, p.way), support = dot(p.load, p.way);
    judge_balance(audit, state, report, i, &p);
    carom_sum_add(&audit->power, work - taken);
    audit->worked += fabs(work);
    if (support < 0 && !isinf(p.noise))
      carom_sum_add(&audit->gained, fmax(0, -support - p.noise * cm_norm(way_of(audit, state, i))));
  }
  for (int i = 0; i < report->event_count; i++) {
    double lost = judge_work(audit, state, &report->events[i], report->halvings == 0, &given);
    carom_sum_add(&audit->power, given + lost);
    audit->worked += fabs(given);
  }
  keep_touches(audit, report);
  double raw = carom_sum_value(&audit->power);
  carom_finding_note(&audit->unbalanced, fabs(raw), state->time, CAROM_WORLD, CAROM_WORLD);
  audit->energy_scale = fmax(audit->energy_scale, audit->worked);
  audit->latest.energy_error = carom_relative(raw, audit->worked);
}
