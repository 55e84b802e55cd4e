// Events that solids take part in. One event stands for a whole patch of a surface that is not flat: what can be told
// from the motion is that it pushes, at a place where both surfaces are, and how much it can take at most. Cones, slips
// and rebounds are laws of its points, which are not known.
#include "mechanics/audit.h"
#include "model/row.h"

// The fastest that a point of either may have been against the other, m/s.
static double fastest_against(const carom_audit *audit, const carom_state *state, const carom_contact_event *e) {
  double sum = 0;
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    if (b < CAROM_WORLD)
      sum += audit->solid[CAROM_SOLID(b)].fastest;
    else
      sum += fmax(cm_norm(carom_audit_velocity_at(audit, audit->before, b, e->point)),
                  cm_norm(carom_audit_velocity_at(audit, state, b, e->point)));
  }
  return sum;
}

// By how much other events may have changed that within the step.
static double pushed_between(const carom_audit *audit, const carom_contact_event *e) {
  double sum = fabs(audit->dt) * cm_norm(audit->model->gravity);
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    if (b < CAROM_WORLD)
      sum += audit->solid[CAROM_SOLID(b)].pushed / audit->model->solids[CAROM_SOLID(b)].mass;
    else if (carom_body_moves(audit->model, b))
      sum += audit->step[b].pushed * audit->model->bodies[b].inverse_mass;
  }
  return sum;
}

// By how much the normal may have turned in the step, rad.
static double turned(const carom_audit *audit, const carom_state *state, const carom_contact_event *e) {
  double sum = 0;
  for (int end = 0; end < 2; end++) {
    int b = end == 0 ? e->body_a : e->body_b;
    if (b < CAROM_WORLD)
      sum += 2 * audit->solid[CAROM_SOLID(b)].fastest / audit->soft->thin[CAROM_SOLID(b)];
    else if (carom_body_moves(audit->model, b))
      sum += fmax(cm_norm(carom_state_angular_velocity(audit->model, state, b)),
                  cm_norm(carom_state_angular_velocity(audit->model, audit->before, b)));
  }
  return sum * fabs(audit->dt);
}

void carom_audit_soft_event(carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                            carom_contact_surface surface, carom_lawful *sum) {
  double size = cm_norm(e->impulse), along = cm_dot(e->impulse, e->normal);
  double speed = fastest_against(audit, state, e) + pushed_between(audit, e);
  carom_finding_note(&audit->law, fabs(cm_norm(e->normal) - 1), e->time, e->body_a, e->body_b);
  if (size > 0) carom_finding_note(&audit->law, -along / size - turned(audit, state, e), e->time, e->body_a, e->body_b);
  double across = cm_norm(cm_axpy(e->impulse, -along, e->normal));
  double normal = surface.restitution < 1 ? size * speed : 0;
  sum->restitution += normal;
  sum->normal += normal;
  sum->friction += surface.friction > 0 ? (across + surface.friction * size) * speed : 0;
  sum->yields = sum->yields || surface.restitution < 1;
}

// How far a body may have been from where it is, within the step, m.
static double moved(const carom_audit *audit, const carom_state *state, int b) {
  double h = fabs(audit->dt), fall = h * h * cm_norm(audit->model->gravity);
  if (b == CAROM_WORLD) return 0;
  if (b < CAROM_WORLD) return 2 * h * audit->solid[CAROM_SOLID(b)].fastest + audit->solid[CAROM_SOLID(b)].travel + fall;
  return h * (carom_audit_speed(audit, state, b) + carom_audit_speed(audit, audit->before, b)) + audit->travel[b] +
         fall;
}

// An event is the wrench of a patch, whose axis may lie beside it where forces of its points are against each other. So
// its place is not asked, but whether the two can have touched at all.
void carom_audit_soft_place(carom_audit *audit, const carom_state *state, const carom_contact_event *e, double depth) {
  bool first = e->body_a < CAROM_WORLD;
  int solid = CAROM_SOLID(first ? e->body_a : e->body_b), other = first ? e->body_b : e->body_a;
  double slack = moved(audit, state, e->body_a) + moved(audit, state, e->body_b) + depth;
  if (!carom_soft_overlaps_meet(audit->soft, state, solid, other, slack + 1e-2 * audit->soft->thin[solid]))
    carom_finding_note(&audit->law, 1, e->time, e->body_a, e->body_b);
}
