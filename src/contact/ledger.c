#include "contact/ledger.h"

#include <math.h>

#include "base/memory.h"

void carom_ledger_open(carom_ledger *ledger, const carom_model *model, const carom_allocator *allocator) {
  *ledger = (carom_ledger){.model = model, .allocator = carom_allocator_or_default(allocator)};
}

void carom_ledger_close(carom_ledger *ledger) {
  if (ledger->model) carom_release(&ledger->allocator, ledger->events);
  *ledger = (carom_ledger){0};
}

void carom_ledger_begin(carom_ledger *ledger, double h) { ledger->report = (carom_step_report){.step = h}; }

carom_ledger_mark carom_ledger_get_mark(const carom_ledger *ledger) { return (carom_ledger_mark){ledger->report}; }

void carom_ledger_roll_back(carom_ledger *ledger, const carom_ledger_mark *mark) { ledger->report = mark->report; }

carom_step_report carom_ledger_report(const carom_ledger *ledger) {
  carom_step_report report = ledger->report;
  if (!report.events) report.events = ledger->events;  // until every integrator books its events here
  return report;
}

// ---- the worst of a step: written so that a NaN comes in and sticks

static void raise_to(double *worst, double value) {
  if (!(value <= *worst)) *worst = value;
}

void carom_ledger_note_solve(carom_ledger *ledger, int iterations, double residual) {
  if (iterations > ledger->report.iterations) ledger->report.iterations = iterations;
  raise_to(&ledger->report.residual, residual);
}

void carom_ledger_note_complementarity(carom_ledger *ledger, double residual, double duality_gap) {
  raise_to(&ledger->report.complementarity, residual);
  raise_to(&ledger->report.duality_gap, duality_gap);
}

void carom_ledger_note_overlap(carom_ledger *ledger, double depth) { raise_to(&ledger->report.penetration, depth); }

void carom_ledger_note_constraint(carom_ledger *ledger, double drift) { raise_to(&ledger->report.constraint, drift); }

// ---- sums

void carom_ledger_outside(carom_ledger *ledger, carom_vec3 impulse, carom_vec3 moment) {
  ledger->report.impulse = cm_add(ledger->report.impulse, impulse);
  ledger->report.angular_impulse = cm_add(ledger->report.angular_impulse, moment);
}

void carom_ledger_outside_at(carom_ledger *ledger, carom_vec3 impulse, carom_vec3 point) {
  carom_ledger_outside(ledger, impulse, cm_cross(point, impulse));
}

void carom_ledger_weight(carom_ledger *ledger, const carom_vec3 *x, double dt) {
  carom_vec3 g = ledger->model->gravity, moment = cm_zero3();
  if (cm_norm2(g) == 0) return;
  double mass = 0;
  for (int i = 0; i < ledger->model->body_count; i++) {
    const carom_body *body = &ledger->model->bodies[i];
    if (body->fixed) continue;
    mass += body->mass;
    moment = cm_axpy(moment, body->mass, x[i]);
  }
  carom_ledger_outside(ledger, cm_scale(dt * mass, g), cm_scale(dt, cm_cross(moment, g)));
}

void carom_ledger_fields(carom_ledger *ledger, const carom_resultant *r, double dt) {
  carom_ledger_outside(ledger, cm_scale(dt, r->force), cm_scale(dt, r->moment));
  carom_ledger_work(ledger, dt * r->power);
}

void carom_ledger_row(carom_ledger *ledger, const carom_row *row, double impulse, const carom_vec3 *x) {
  bool moves[2] = {carom_body_moves(ledger->model, row->body[0]), carom_body_moves(ledger->model, row->body[1])};
  if (moves[0] == moves[1] || impulse == 0) return;
  int end = moves[1];
  carom_vec3 p = cm_scale(impulse, row->linear[end]), l = cm_scale(impulse, row->angular[end]);
  carom_ledger_outside(ledger, p, cm_add(l, cm_cross(x[row->body[end]], p)));
}

void carom_ledger_joints(carom_ledger *ledger, const carom_state *state, double time, const double *impulses) {
  carom_joint_impulse ground = carom_joints_external(ledger->model, state, impulses);
  carom_ledger_outside(ledger, ground.linear, ground.angular);
  carom_ledger_work(ledger, carom_joints_motor_work(ledger->model, state, time, impulses));
}

void carom_ledger_work(carom_ledger *ledger, double work) { ledger->report.work += work; }

void carom_ledger_stored(carom_ledger *ledger, double energy) { ledger->report.stored = energy; }

void carom_ledger_loss(carom_ledger *ledger, double restitution, double friction) {
  ledger->report.restitution_loss += restitution;
  ledger->report.friction_loss += friction;
}

void carom_ledger_projection(carom_ledger *ledger, double energy, carom_vec3 momentum, carom_vec3 angular_momentum) {
  carom_step_report *r = &ledger->report;
  r->projection_energy += energy;
  r->projection_momentum = cm_add(r->projection_momentum, momentum);
  r->projection_angular_momentum = cm_add(r->projection_angular_momentum, angular_momentum);
}

void carom_ledger_add(carom_ledger *ledger, const carom_ledger *part) {
  const carom_step_report *r = &part->report;
  carom_ledger_outside(ledger, r->impulse, r->angular_impulse);
  carom_ledger_work(ledger, r->work);
  carom_ledger_loss(ledger, r->restitution_loss, r->friction_loss);
  carom_ledger_projection(ledger, r->projection_energy, r->projection_momentum, r->projection_angular_momentum);
  carom_ledger_note_solve(ledger, r->iterations, r->residual);
  carom_ledger_note_complementarity(ledger, r->complementarity, r->duality_gap);
  carom_ledger_note_overlap(ledger, r->penetration);
  carom_ledger_note_constraint(ledger, r->constraint);
  ledger->report.collisions += r->collisions;
}

// ---- events

void carom_ledger_collision(carom_ledger *ledger) { ledger->report.collisions++; }

carom_status carom_ledger_event(carom_ledger *ledger, const carom_contact_event *event, carom_error *error) {
  int *count = &ledger->report.event_count;
  if (!carom_grow(&ledger->allocator, (void **)&ledger->events, *count, &ledger->event_capacity,
                  sizeof *ledger->events))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the %d events of a step", *count + 1);
  ledger->events[(*count)++] = *event;
  if (event->kind == CAROM_EVENT_IMPACT || event->kind == CAROM_EVENT_STICK) carom_ledger_collision(ledger);
  return CAROM_OK;
}

static const double ALIKE = 1e-9;       // between normals whose impulses are told as one
static const double SAME_PLACE = 0.05;  // over the smaller body's radius

// How far apart points of one place may be, m.
static double place_of(const carom_model *model, const carom_contact_event *e) {
  double size = model->bodies[e->body_a].bounding_radius;
  if (e->body_b != CAROM_WORLD) size = fmin(size, model->bodies[e->body_b].bounding_radius);
  return SAME_PLACE * size;
}

static bool is_alike(const carom_model *model, const carom_contact_event *a, const carom_contact_event *b) {
  return a->kind == CAROM_EVENT_CONTACT && b->kind == CAROM_EVENT_CONTACT && a->body_a == b->body_a &&
         a->body_b == b->body_b && cm_norm(cm_sub(a->normal, b->normal)) <= ALIKE &&
         cm_norm(cm_sub(a->point, b->point)) <= place_of(model, a);
}

// At the centre of pressure, where parallel impulses have the same moment.
static void merge_event(carom_contact_event *to, const carom_contact_event *e) {
  double pressure = cm_dot(to->impulse, to->normal), more = cm_dot(e->impulse, e->normal);
  double share = pressure + more > 0 ? more / (pressure + more) : 0;
  to->point = cm_lerp(to->point, e->point, share);
  to->impulse = cm_add(to->impulse, e->impulse);
}

void carom_ledger_merge(carom_ledger *ledger, int first) {
  carom_contact_event *events = ledger->events;
  int count = first;
  for (int i = first; i < ledger->report.event_count; i++) {
    int k = first;
    while (k < count && !is_alike(ledger->model, &events[k], &events[i])) k++;
    if (k < count)
      merge_event(&events[k], &events[i]);
    else
      events[count++] = events[i];
  }
  ledger->report.event_count = count;
}

void carom_ledger_sort(carom_ledger *ledger, int first) {
  carom_contact_event *events = ledger->events;
  for (int i = first + 1; i < ledger->report.event_count; i++) {
    carom_contact_event event = events[i];
    int k = i;
    for (; k > first && events[k - 1].time > event.time; k--) events[k] = events[k - 1];
    events[k] = event;
  }
}
