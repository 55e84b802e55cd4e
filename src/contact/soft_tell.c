// Events: what two surfaces did to each other in a kick, as one force where that has the same moment, else as two.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "contact/soft.h"

// What A got, about the mean of the places where it got it.
typedef struct wrench {
  carom_vec3 impulse, moment, center, normal;
  double spread;  // of the places, m
} wrench;

static bool is_pair(const carom_soft_contact *c, const carom_soft_pair *pair) {
  return c->end[0].body == pair->body[0] && c->end[1].body == pair->body[1];
}

static carom_vec3 place_of(const carom_soft_contact *c) { return cm_lerp(c->end[0].point, c->end[1].point, 0.5); }

static carom_vec3 moment_at(carom_vec3 center, carom_vec3 point, carom_vec3 impulse) {
  return cm_cross(cm_sub(point, center), impulse);
}

// Of what A got from one contact: pressure, friction where it grips, and the shift of pressure that goes with it.
static carom_vec3 moment_of(const carom_soft *s, const carom_soft_contact *c, carom_vec3 center) {
  carom_vec3 pressed = cm_scale(cm_dot(c->impulse, c->normal), c->normal), grip = cm_sub(c->impulse, pressed);
  carom_vec3 moment =
      cm_add(moment_at(center, c->end[0].point, pressed), moment_at(center, carom_soft_grip_point(c, 0), grip));
  double shares[3];
  carom_soft_counter(s, c, 0, grip, shares);
  for (int k = 0; k < 3; k++)
    if (shares[k] != 0)
      moment = cm_add(moment, moment_at(center, s->nodes[c->end[0].node[k]], cm_scale(shares[k], c->normal)));
  return moment;
}

static wrench gather(const carom_soft *s, const carom_soft_pair *pair) {
  wrench w = {.impulse = cm_zero3()};
  double pushed = 0;
  for (int i = 0; i < s->count; i++) {
    const carom_soft_contact *c = &s->contacts[i];
    if (!is_pair(c, pair)) continue;
    double normal = cm_dot(c->normal, c->impulse);
    pushed += normal;
    w.impulse = cm_add(w.impulse, c->impulse);
    w.center = cm_axpy(w.center, normal, place_of(c));
    w.normal = cm_add(w.normal, cm_axpy(c->across, c->pressed, c->normal));  // all but friction
  }
  w.center = pushed > 0 ? cm_scale(1 / pushed, w.center) : w.center;
  for (int i = 0; i < s->count; i++) {
    if (!is_pair(&s->contacts[i], pair)) continue;
    w.moment = cm_add(w.moment, moment_of(s, &s->contacts[i], w.center));
    w.spread = fmax(w.spread, cm_norm(cm_sub(s->contacts[i].end[0].point, w.center)));
  }
  return w;
}

static bool lasted(const carom_soft *s, const carom_soft_pair *pair) {
  for (int i = 0; i < s->before_count; i++)
    if (memcmp(&s->before[i], pair, sizeof *pair) == 0) return true;
  return false;
}

static carom_contact_event event_of(const carom_soft *s, const carom_soft_pair *pair, const wrench *w) {
  return (carom_contact_event){.kind = lasted(s, pair) ? CAROM_EVENT_CONTACT : CAROM_EVENT_IMPACT,
                               .time = s->time + s->span,
                               .body_a = pair->body[0],
                               .body_b = pair->body[1],
                               .normal = cm_unit(w->normal),
                               .impulse = w->impulse};
}

// A force through the central axis has all of the moment but what lies along it. That is left to two halves of the
// force, held apart across it, with a couple between them.
static const double TWISTED = 1e-12;  // over the spread: less is round-off

static carom_status tell_pair(const carom_soft *s, const carom_soft_pair *pair, carom_ledger *ledger,
                              carom_error *error) {
  wrench w = gather(s, pair);
  double square = cm_norm2(w.impulse);
  if (!(square > 0)) return CAROM_OK;
  carom_contact_event e = event_of(s, pair, &w);
  e.point = cm_axpy(w.center, 1 / square, cm_cross(w.impulse, w.moment));
  double twist = cm_dot(w.moment, w.impulse) / square;  // the couple is twist times the impulse
  if (fabs(twist) <= TWISTED * w.spread) return carom_ledger_event(ledger, &e, error);
  carom_vec3 along, across, impulse = e.impulse, middle = e.point;
  cm_frame(cm_unit(impulse), &along, &across);  // along x across = the impulse's direction
  double reach = w.spread;
  carom_vec3 part = cm_scale(0.5 * twist / reach * sqrt(square), across);
  e.point = cm_axpy(middle, reach, along), e.impulse = cm_add(cm_scale(0.5, impulse), part);
  carom_status status = carom_ledger_event(ledger, &e, error);
  if (e.kind == CAROM_EVENT_IMPACT) e.kind = CAROM_EVENT_CONTACT;  // one impact, not two
  e.point = cm_axpy(middle, -reach, along), e.impulse = cm_sub(cm_scale(0.5, impulse), part);
  return status == CAROM_OK ? carom_ledger_event(ledger, &e, error) : status;
}

static carom_status note_pair(carom_soft *s, const carom_soft_contact *c, carom_error *error) {
  for (int i = 0; i < s->met_count; i++)
    if (is_pair(c, &s->met[i])) return CAROM_OK;
  if (!carom_grow(&s->arena.allocator, (void **)&s->met, s->met_count, &s->met_capacity, sizeof *s->met))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contacts of solids");
  s->met[s->met_count++] = (carom_soft_pair){{c->end[0].body, c->end[1].body}};
  return CAROM_OK;
}

carom_status carom_soft_tell(carom_soft *s, carom_ledger *ledger, carom_error *error) {
  carom_status status = CAROM_OK;
  s->met_count = 0;
  for (int i = 0; i < s->count && status == CAROM_OK; i++) status = note_pair(s, &s->contacts[i], error);
  for (int i = 0; i < s->met_count && status == CAROM_OK; i++) status = tell_pair(s, &s->met[i], ledger, error);
  return status;
}
