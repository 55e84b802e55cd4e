// Events against the laws of contact: unilateral (impulses push, at a place where both bodies are, between bodies that
// approach) and Coulomb's (within the cone, against the slip). And how much such contacts may take out of the motion.
#include "mechanics/audit.h"
#include "model/joints.h"
#include "model/model.h"
#include "model/row.h"
#include "model/size.h"

enum { CLOSE_LOOKS = 64 };  // events a step whose place is looked at: all in small scenes, in turn in large ones

carom_vec3 carom_audit_velocity_at(const carom_audit *audit, const carom_state *state, int body, carom_vec3 point) {
  const carom_model *m = audit->model;
  carom_vec3 v = cm_zero3(), w = cm_zero3(), arm = cm_zero3();
  if (body > CAROM_WORLD) arm = cm_sub(point, state->x[body]);
  if (carom_body_moves(m, body)) {
    v = carom_state_velocity(m, state, body);
    w = carom_state_angular_velocity(m, state, body);
  } else if (m->drive_count > 0) {
    carom_model_motion(m, body, audit->before->time, audit->dt, &v, &w);
  }
  return cm_add(v, cm_cross(w, arm));
}

carom_vec3 carom_audit_relative_velocity(const carom_audit *audit, const carom_state *state,
                                         const carom_contact_event *e) {
  return cm_sub(carom_audit_velocity_at(audit, state, e->body_a, e->point),
                carom_audit_velocity_at(audit, state, e->body_b, e->point));
}

// Walls of the world are of several materials: the one that allows most.
static carom_contact_surface surface_of(const carom_audit *audit, const carom_contact_event *e) {
  const carom_model *m = audit->model;
  if (e->body_b != CAROM_WORLD && m->boundary_count == 0) return carom_model_surface(m, e->body_a, e->body_b);
  carom_contact_surface most = {1, 0};
  if (e->body_b != CAROM_WORLD) most = carom_model_surface(m, e->body_a, e->body_b);
  for (int i = 0; i < m->boundary_count; i++) {
    if (m->boundaries[i].body != e->body_b) continue;
    carom_contact_surface s = carom_materials_surface(m, carom_model_material(m, e->body_a), m->boundaries[i].material);
    most.restitution = fmin(most.restitution, s.restitution);
    most.friction = fmax(most.friction, s.friction);
  }
  return most;
}

static bool is_known(const carom_model *m, int body) {
  return body >= CAROM_SOLID(m->solid_count - 1) && body < m->body_count;
}

static bool moves(const carom_model *m, int body) { return body < CAROM_WORLD || carom_body_moves(m, body); }

static bool is_sound(const carom_audit *audit, const carom_contact_event *e) {
  const carom_model *m = audit->model;
  bool known = is_known(m, e->body_a) && is_known(m, e->body_b) && e->body_a != CAROM_WORLD;
  bool itself = e->body_a == e->body_b && !(e->body_a < CAROM_WORLD && m->solids[CAROM_SOLID(e->body_a)].self_contact);
  return known && !itself && cm_finite(e->point) && cm_finite(e->normal) && cm_finite(e->impulse) &&
         (moves(m, e->body_a) || moves(m, e->body_b));
}

// ---- what events do to bodies --------------------------------------------------------------------------------------

// A patch of a solid is not flat, so that normal forces twist about its place, too.
static double soft_twist_of(const carom_audit *audit, const carom_contact_event *e) {
  double size = INFINITY;
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    if (b < CAROM_WORLD) size = fmin(size, audit->soft->size[CAROM_SOLID(b)]);
    if (b > CAROM_WORLD) size = fmin(size, audit->model->bodies[b].bounding_radius);
  }
  return cm_norm(e->impulse) * size;
}

// One event may stand for a whole patch: its place is that of the pressure, and friction may twist about it by as much
// as the cone allows at the rim of the smaller body; not so where a ball touches. Where the body was within the step is
// known as far as it moved.
static double twist_of(const carom_audit *audit, const carom_contact_event *e) {
  const carom_body *bodies = audit->model->bodies;
  double size = INFINITY, mu = surface_of(audit, e).friction;
  if (carom_is_soft(e)) return soft_twist_of(audit, e);
  if (mu == 0) return 0;
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    if (b == CAROM_WORLD) continue;
    if (carom_body_is_ball(audit->model, &bodies[b])) return 0;
    size = fmin(size, bodies[b].bounding_radius);
  }
  return mu * fabs(cm_dot(e->impulse, e->normal)) * size;
}

static void push(carom_audit *audit, const carom_state *state, const carom_contact_event *e, int end) {
  int i = end == 0 ? e->body_a : e->body_b, partner = end == 0 ? e->body_b : e->body_a;
  carom_vec3 J = end == 0 ? e->impulse : cm_neg(e->impulse);
  if (i < CAROM_WORLD) carom_audit_push_solid(audit, CAROM_SOLID(i), e->point, J);
  if (!carom_body_moves(audit->model, i)) return;
  carom_vec3 from = audit->before->x[i];
  carom_vec3 arm = cm_sub(e->point, cm_lerp(from, state->x[i], 0.5));
  double size = cm_norm(J), moved = cm_norm(cm_sub(state->x[i], from));
  carom_body_step *s = &audit->step[i];
  s->crowded = s->crowded || (s->events > 0 && s->partner != partner);
  s->partner = partner;
  s->shocked = s->shocked || e->kind == CAROM_EVENT_IMPACT || e->kind == CAROM_EVENT_STICK;
  s->impulse = cm_add(s->impulse, J);
  s->moment = cm_add(s->moment, cm_cross(arm, J));
  double radius = (end == 0 ? -1 : 1) * audit->model->bodies[i].bounding_radius;
  s->rolled = cm_add(s->rolled, cm_cross(cm_scale(radius, e->normal), J));
  s->pushed += size;
  s->twisted += size * (moved + 1e-9 * cm_norm(arm)) + twist_of(audit, e);
  s->events++;
}

// Bodies are put elsewhere only where the model says so.
static bool is_inlet(const carom_model *m, carom_vec3 x) {
  for (int i = 0; i < m->recirculation_count; i++) {
    carom_vec3 low = m->recirculations[i].inlet_low, high = m->recirculations[i].inlet_high;
    if (x.x >= low.x && x.x <= high.x && x.y >= low.y && x.y <= high.y && x.z >= low.z && x.z <= high.z) return true;
  }
  return false;
}

static bool tell_bodies(carom_audit *audit, const carom_state *state, const carom_contact_event *e) {
  if (!is_sound(audit, e)) {
    carom_finding_note(&audit->law, INFINITY, e->time, CAROM_WORLD, CAROM_WORLD);
    return false;
  }
  if (e->kind == CAROM_EVENT_STICK && (!audit->latches || carom_is_soft(e)))
    carom_finding_note(&audit->law, INFINITY, e->time, e->body_a, e->body_b);
  if (e->kind == CAROM_EVENT_RECIRCULATED && e->body_a < CAROM_WORLD) {
    carom_finding_note(&audit->law, INFINITY, e->time, e->body_a, CAROM_WORLD);
    return false;
  }
  if (e->kind == CAROM_EVENT_RECIRCULATED) {
    if (!is_inlet(audit->model, state->x[e->body_a]))
      carom_finding_note(&audit->law, INFINITY, e->time, e->body_a, CAROM_WORLD);
    audit->step[e->body_a].moved = true;
    audit->path[e->body_a] = 0;
    return false;
  }
  if (e->kind == CAROM_EVENT_ZENO) return false;
  push(audit, state, e, 0);
  push(audit, state, e, 1);
  audit->pushed += cm_norm(e->impulse);
  return true;
}

// A stop of a joint has no surface.
static bool is_stop(const carom_audit *audit, const carom_contact_event *e) {
  if (carom_is_soft(e) || !audit->limited[e->body_a]) return false;
  for (int i = 0; i < audit->model->joint_count; i++) {
    const int *b = audit->model->joints[i].body;
    if ((b[0] == e->body_a && b[1] == e->body_b) || (b[0] == e->body_b && b[1] == e->body_a)) return true;
  }
  return false;
}

static bool is_contact(const carom_audit *audit, const carom_contact_event *e) {
  bool kind = e->kind == CAROM_EVENT_IMPACT || e->kind == CAROM_EVENT_CONTACT;
  return kind && is_sound(audit, e) && !is_stop(audit, e);
}

// ---- the laws ------------------------------------------------------------------------------------------------------

// The fastest that a body turns at either end of the step, rad/s.
static double spin_of(const carom_audit *audit, const carom_state *state, int body) {
  if (!carom_body_moves(audit->model, body)) return 0;
  return fmax(cm_norm(carom_state_angular_velocity(audit->model, state, body)),
              cm_norm(carom_state_angular_velocity(audit->model, audit->before, body)));
}

// The normal of an event may be that of the beginning of the step or of its end, and its impulse of both.
static double turn_in_step(const carom_audit *audit, const carom_state *state, const carom_contact_event *e) {
  return (spin_of(audit, state, e->body_a) + spin_of(audit, state, e->body_b)) * fabs(audit->dt);
}

// Momenta of the lighter body, with what weight adds in the step: impulses that are round-off of it have no direction.
static double momenta_of(const carom_audit *audit, const carom_state *state, const carom_contact_event *e) {
  double least = INFINITY;
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    if (!carom_body_moves(audit->model, b)) continue;
    double weight = audit->model->bodies[b].mass * cm_norm(audit->model->gravity) * fabs(audit->dt);
    least = fmin(least, cm_norm(state->p[b]) + cm_norm(audit->before->p[b]) + weight);
  }
  return isfinite(least) ? least : 0;
}

static void judge_cone(carom_audit *audit, const carom_contact_event *e, double mu, double turn) {
  double size = cm_norm(e->impulse), along = cm_dot(e->impulse, e->normal);
  double across = cm_norm(cm_axpy(e->impulse, -along, e->normal)), length = cm_norm(e->normal);
  carom_finding_note(&audit->law, fabs(length - 1), e->time, e->body_a, e->body_b);
  if (size == 0) return;
  carom_finding_note(&audit->law, -along / size - turn, e->time, e->body_a, e->body_b);
  carom_finding_note(&audit->law, (across - mu * fmax(along, 0)) / size - (1 + mu) * turn, e->time, e->body_a,
                     e->body_b);
}

// The place of an event must be on both bodies, as far as they may have moved since or will.
static void judge_place(carom_audit *audit, const carom_state *state, const carom_contact_event *e, double depth) {
  const carom_overlaps *o = audit->overlaps;
  double dt = audit->dt, slack = 0, size = INFINITY;
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    if (b == CAROM_WORLD) continue;
    slack += dt * (carom_audit_speed(audit, state, b) + carom_audit_speed(audit, audit->before, b)) + audit->travel[b] +
             dt * dt * cm_norm(audit->model->gravity);
    size = fmin(size, o->thin[b]);
  }
  if (!isfinite(size)) return;  // points have no surface
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    if (b != CAROM_WORLD && audit->model->bodies[b].part_count == 0) continue;
    double off = carom_overlaps_to_surface(o, state, b, e->point) - slack - fmin(depth, 0.5 * size);
    if (!(off <= 1e-2 * size)) carom_finding_note(&audit->law, off / size, e->time, e->body_a, e->body_b);
  }
}

// How much the velocity at the place of an event may change in the step as bodies turn.
double carom_audit_swerve(const carom_audit *audit, const carom_state *state, const carom_contact_event *e) {
  double change = 0;
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    double w = spin_of(audit, state, b);
    if (w > 0) change += w * fmin(2, w * fabs(audit->dt)) * audit->model->bodies[b].bounding_radius;
  }
  return change;
}

// An impact between bodies that part already, when nothing else happened to either.
static void judge_approach(carom_audit *audit, const carom_state *state, const carom_contact_event *e) {
  bool lone = audit->step[e->body_a].events == 1 && !audit->tied[e->body_a];
  if (carom_body_moves(audit->model, e->body_b))
    lone = lone && audit->step[e->body_b].events == 1 && !audit->tied[e->body_b];
  if (!lone) return;
  carom_vec3 u = carom_audit_relative_velocity(audit, audit->before, e),
             after = carom_audit_relative_velocity(audit, state, e);
  double n = cm_dot(u, e->normal);
  double leeway = audit->dt * cm_norm(audit->model->gravity) + 0.1 * cm_norm(u) + carom_audit_swerve(audit, state, e);
  if (n > leeway && cm_dot(after, e->normal) > n)
    carom_finding_note(&audit->law, n / cm_norm(u), e->time, e->body_a, e->body_b);
}

// How the slip may differ between the place of an event and where its patch touched: turning, over the size of the
// smaller body. A ball touches in one place, which is known as far as the ball moves.
double carom_audit_slip_leeway(const carom_audit *audit, const carom_state *state, const carom_contact_event *e) {
  const carom_model *m = audit->model;
  carom_vec3 w = cm_zero3();
  double size = INFINITY;
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    if (b == CAROM_WORLD) continue;
    if (carom_body_moves(m, b)) w = cm_axpy(w, end == 0 ? 1 : -1, carom_state_angular_velocity(m, state, b));
    bool ball = carom_body_is_ball(m, &m->bodies[b]);
    size = fmin(size, ball ? cm_norm(cm_sub(state->x[b], audit->before->x[b])) : m->bodies[b].bounding_radius);
  }
  return isfinite(size) ? size * cm_norm(w) : 0;
}

// How much the other events of the step may have changed the slip at this one's place; joints pass on what others get.
static double slip_by_others(const carom_audit *audit, const carom_contact_event *e) {
  double change = 0;
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    if (!carom_body_moves(audit->model, b)) continue;
    const carom_body *body = &audit->model->bodies[b];
    double all = audit->tied[b] ? audit->pushed : audit->step[b].pushed, r = body->bounding_radius;
    carom_vec3 over_J = body->inverse_inertia;
    double yield = body->inverse_mass + r * r * fmax(over_J.x, fmax(over_J.y, over_J.z));
    change += fmax(0, all - cm_norm(e->impulse)) * yield;
  }
  return change;
}

// Friction that pushes along the slip at both ends of the step, and so in between as far as bodies did not turn.
static void judge_slip(carom_audit *audit, const carom_state *state, const carom_contact_event *e, carom_vec3 before,
                       carom_vec3 after) {
  carom_vec3 J = cm_axpy(e->impulse, -cm_dot(e->impulse, e->normal), e->normal);
  double leeway = fmax(carom_audit_slip_leeway(audit, state, e), carom_audit_slip_leeway(audit, audit->before, e)) +
                  slip_by_others(audit, e) + carom_audit_swerve(audit, state, e);
  double gain = fmin(cm_dot(J, before), cm_dot(J, after)) - cm_norm(J) * leeway;
  if (gain > 0) carom_sum_add(&audit->along_slip, gain);
  if (gain > 0 || isnan(gain)) carom_finding_note(&audit->slip, gain, e->time, e->body_a, e->body_b);
}

// Impacts pass on what they do, from body to body and through joints.
static void spread_shocks(carom_audit *audit, const carom_step_report *report) {
  bool spread = true, tied = false;
  for (int sweep = 0; spread && sweep < report->event_count; sweep++) {
    spread = false;
    for (int i = 0; i < audit->model->body_count; i++) tied = tied || (audit->tied[i] && audit->step[i].shocked);
    for (int i = 0; i < report->event_count; i++) {
      const carom_contact_event *e = &report->events[i];
      if (!is_contact(audit, e)) continue;
      bool shocked = false;
      for (int end = 0; end < 2; end++) {
        int b = end == 0 ? e->body_a : e->body_b;
        shocked =
            shocked || (carom_body_moves(audit->model, b) && (audit->step[b].shocked || (tied && audit->tied[b])));
      }
      for (int end = 0; end < 2 && shocked; end++) {
        int b = end == 0 ? e->body_a : e->body_b;
        if (!carom_body_moves(audit->model, b) || audit->step[b].shocked) continue;
        audit->step[b].shocked = spread = true;
      }
    }
  }
}

static bool is_shocked(const carom_audit *audit, const carom_contact_event *e) {
  return audit->step[e->body_a].shocked || (e->body_b != CAROM_WORLD && audit->step[e->body_b].shocked);
}

// Where nothing hits anything, a force along the normal does no work: what is lost there is the integrator's own.
// Bodies that come to rest on each other are still moving towards each other a little, and those that yield away again.
static double normal_loss(const carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                          const carom_met *met) {
  return fabs(cm_dot(e->impulse, e->normal)) * carom_audit_normal_speed(audit, state, e, met);
}

// The most that a contact could take: its impulse against the fastest that the bodies were at its place.
static carom_lawful lawful_of(const carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                              const carom_met *met) {
  carom_vec3 before = met->before, after = met->after;
  carom_contact_surface s = met->surface;
  double along = fabs(cm_dot(e->impulse, e->normal)), pushed = 0;
  double across = cm_norm(cm_axpy(e->impulse, -cm_dot(e->impulse, e->normal), e->normal));
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    if (carom_body_moves(audit->model, b)) pushed += audit->step[b].pushed * audit->model->bodies[b].inverse_mass;
  }
  double speed = fmax(cm_norm(before), cm_norm(after)) + pushed + audit->dt * cm_norm(audit->model->gravity);
  carom_lawful most = {s.restitution < 1 ? along * speed : 0, s.friction > 0 ? across * speed : 0, 0, false};
  most.normal = is_shocked(audit, e) ? most.restitution : fmin(most.restitution, normal_loss(audit, state, e, met));
  return most;
}

static void judge_event(carom_audit *audit, const carom_state *state, const carom_contact_event *e, carom_lawful *sum) {
  if (carom_is_soft(e)) {
    carom_audit_soft_event(audit, state, e, surface_of(audit, e), sum);
    return;
  }
  carom_met met = {surface_of(audit, e), carom_audit_relative_velocity(audit, audit->before, e),
                   carom_audit_relative_velocity(audit, state, e), turn_in_step(audit, state, e)};
  carom_contact_surface s = met.surface;
  carom_lawful most = lawful_of(audit, state, e, &met);
  double momenta = audit->massless ? 0 : momenta_of(audit, state, e), size = cm_norm(e->impulse);
  if (size > 1e-13 * momenta) judge_cone(audit, e, s.friction, met.turn);
  if (size > 1e-9 * momenta) carom_audit_judge_alone(audit, state, e, &met);
  if (!audit->massless) judge_slip(audit, state, e, met.before, met.after);
  if (e->kind == CAROM_EVENT_IMPACT) judge_approach(audit, state, e);
  sum->restitution += most.restitution;
  sum->normal += most.normal;
  sum->friction += most.friction;
  sum->yields = sum->yields || s.restitution < 1;
}

// Of solids one event a step: boxes of all their nodes are asked.
static void look_closely(carom_audit *audit, const carom_state *state, const carom_step_report *report) {
  int count = report->event_count, looks = 0, next = audit->next_event, soft = 0;
  for (; looks < count && looks < CLOSE_LOOKS && soft < 1; looks++) {
    const carom_contact_event *e = &report->events[(next + looks) % count];
    if (!is_contact(audit, e)) continue;
    if (!carom_is_soft(e)) {
      judge_place(audit, state, e, report->penetration);
      continue;
    }
    carom_audit_soft_place(audit, state, e, report->penetration);
    soft++;
  }
  audit->next_event = count > looks ? (next + looks) % count : 0;
}

carom_lawful carom_audit_events(carom_audit *audit, const carom_state *state, const carom_step_report *report) {
  carom_lawful sum = {0};
  double leeway = 1e-9 * fabs(audit->dt);
  for (int i = 0; i < report->event_count; i++) {
    const carom_contact_event *e = &report->events[i];
    if (!tell_bodies(audit, state, e)) continue;
    if (!(e->time >= audit->before->time - leeway && e->time <= state->time + leeway))
      carom_finding_note(&audit->law, INFINITY, e->time, e->body_a, e->body_b);
  }
  audit->yields = audit->stored > 0 || (report->stored > 0 && report->penetration > 0);
  spread_shocks(audit, report);
  for (int i = 0; i < report->event_count; i++) {
    const carom_contact_event *e = &report->events[i];
    if (is_contact(audit, e)) judge_event(audit, state, e, &sum);
  }
  look_closely(audit, state, report);
  return sum;
}
