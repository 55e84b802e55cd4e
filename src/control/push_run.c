// A push, step by step. In the order in which it happens:
//
//     place      probes where they are, with the velocity that they keep
//     gather     contacts near; the step in which the first probe would touch ends when it does
//     solve      forces and modes (push_robust.c), or the push ends here (push_verdict.c)
//     book       forces, work, overlap
//     move       parts by what was found, probes by what they do
//
// A probe that touches within a step has pushed for a part of it along the normal, but moved all of it along the
// tangent: contacts would slip that stick. That is why the first touch ends its step.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "control/push.h"
#include "model/size.h"

static const double NO_TIME = 1e-9;  // share of a step
static const double TOUCHES = 1e-6;  // share of a step in which a gap closes: it touches
static const double SHORTEST = 0.1;  // share of a step: what is left of one is added to the next if it is shorter
static const double INSIDE = 1e-3;   // of a probe's half width: overlap at the start beyond this is none of touching
static const double FAR = 4;         // how far probes that take no part are put, over how far anything may get

// ---- is it a push ---------------------------------------------------------------------------------------------------

static const char *probe_name(const carom_pusher *p, int probe) {
  return p->def.model->bodies[p->def.probes[probe]].name;
}

carom_status carom_push_verify(const carom_pusher *p, const carom_push *push, carom_error *error) {
  if (!isfinite(push->duration))
    return carom_fail(error, CAROM_ERR_NUMBER, "push: its duration is %g s", push->duration);
  if (!(push->duration > 0))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "push: its duration is %g s, expected more than 0", push->duration);
  if (push->duration > CAROM_PUSH_STEPS * p->def.step)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "push: %g s take more than ten million steps of %g s; make it shorter, or the step longer",
                      push->duration, p->def.step);
  if (push->probe_count < 1 || push->probe_count > p->def.probe_count)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "push: by %d probes, expected 1 to %d, which there are",
                      push->probe_count, p->def.probe_count);
  for (int i = 0; i < push->probe_count; i++) {
    const carom_push_probe *probe = &push->probe[i];
    if (!isfinite(probe->at.x) || !isfinite(probe->at.y) || !isfinite(probe->heading) || !isfinite(probe->speed))
      return carom_fail(error, CAROM_ERR_NUMBER, "push: place, heading or speed of probe '%s' is not finite",
                        probe_name(p, i));
    if (probe->speed < 0)
      return carom_fail(error, CAROM_ERR_ARGUMENT,
                        "push: probe '%s' has the speed %g m/s; turn its heading by 180 degrees instead",
                        probe_name(p, i), probe->speed);
  }
  return CAROM_OK;
}

static carom_vec3 direction(const carom_push_probe *probe) {
  return cm_vec3(cos(probe->heading), sin(probe->heading), 0);
}

// Where a probe of the push is at a time, at the height that it has.
static carom_vec3 place_of(const carom_push_probe *probe, double t, double height) {
  carom_vec3 at = cm_vec3(probe->at.x, probe->at.y, height);
  return cm_axpy(at, t * probe->speed, direction(probe));
}

// Of a body at the start of a push.
static carom_pose start_of(const carom_pusher *p, const carom_push *push, const carom_state *state, int body) {
  carom_pose pose = {state->x[body], state->q[body]};
  for (int i = 0; i < push->probe_count; i++)
    if (p->def.probes[i] == body) pose.p = place_of(&push->probe[i], 0, pose.p.z);
  return pose;
}

static bool takes_part(const carom_pusher *p, const carom_push *push, int body) {
  for (int i = 0; i < push->probe_count; i++)
    if (p->def.probes[i] == body) return true;
  return !carom_push_is_probe(p, body);
}

static bool never_touch(const carom_model *m, int a, int b) {
  for (int i = 0; i < m->apart_count; i++) {
    const int *body = m->aparts[i].body;
    if ((body[0] == a && body[1] == b) || (body[0] == b && body[1] == a)) return true;
  }
  return a == b;
}

static bool parts_overlap(const carom_placed *a, const carom_placed *b) {
  double reach = carom_shape_bounding_radius(a->shape) + carom_shape_bounding_radius(b->shape);
  carom_distance_result d;
  if (isfinite(reach) && cm_norm(cm_sub(a->pose.p, b->pose.p)) > reach) return false;
  return carom_distance(a, b, NULL, &d) == CAROM_OK && d.distance < -INSIDE * carom_shape_half_depth(a->shape);
}

static bool bodies_overlap(const carom_model *m, const carom_pose *at, const int body[2]) {
  const carom_body *a = &m->bodies[body[0]], *b = &m->bodies[body[1]];
  for (int i = a->part_start; i < a->part_start + a->part_count; i++)
    for (int j = b->part_start; j < b->part_start + b->part_count; j++) {
      carom_placed one = {m->parts[i].shape, cm_compose(at[0], m->parts[i].pose)};
      carom_placed two = {m->parts[j].shape, cm_compose(at[1], m->parts[j].pose)};
      if (parts_overlap(&one, &two)) return true;
    }
  return false;
}

carom_status carom_push_clear(const carom_pusher *p, const carom_push *push, const carom_state *state,
                              carom_error *error) {
  const carom_model *m = p->def.model;
  for (int i = 0; i < push->probe_count; i++)
    for (int other = 0; other < m->body_count; other++) {
      int body[2] = {p->def.probes[i], other};
      if (!takes_part(p, push, other) || never_touch(m, body[0], other)) continue;
      carom_pose at[2] = {start_of(p, push, state, body[0]), start_of(p, push, state, other)};
      if (bodies_overlap(m, at, body))
        return carom_fail(error, CAROM_ERR_GEOMETRY,
                          "push: probe '%s' begins inside body '%s'; begin outside of it, at a distance",
                          m->bodies[body[0]].name, m->bodies[other].name);
    }
  return CAROM_OK;
}

// ---- probes ---------------------------------------------------------------------------------------------------------

static void place_probes(carom_push_way *way) {
  const carom_pusher *p = way->pusher;
  for (int i = 0; i < way->push->probe_count; i++) {
    carom_vec3 *x = &way->state->x[p->def.probes[i]];
    *x = place_of(&way->push->probe[i], way->t, x->z);
  }
}

// How far from the origin anything may get that takes part.
static double extent(const carom_push_way *way) {
  const carom_pusher *p = way->pusher;
  double most = 0;
  for (int i = 0; i < p->def.model->body_count; i++) {
    carom_vec3 x = start_of(p, way->push, way->state, i).p;
    if (takes_part(p, way->push, i))
      most = fmax(most, hypot(x.x, x.y) + 2 * carom_body_radius(&p->def.model->bodies[i]));
  }
  return most + way->push->duration * way->fastest;
}

static void park_others(carom_push_way *way) {
  const carom_pusher *p = way->pusher;
  double far = FAR * extent(way);
  for (int i = way->push->probe_count; i < p->def.probe_count; i++) {
    carom_vec3 *x = &way->state->x[p->def.probes[i]];
    *x = cm_vec3(-(1 + i) * far, -far, x->z);
  }
}

static void set_velocities(carom_push_way *way) {
  carom_pusher *p = way->pusher;
  memset(p->driven.v, 0, sizeof(carom_vec3) * (size_t)p->def.model->body_count);
  way->fastest = 0;
  for (int i = 0; i < way->push->probe_count; i++) {
    const carom_push_probe *probe = &way->push->probe[i];
    p->driven.v[p->def.probes[i]] = cm_scale(probe->speed, direction(probe));
    way->fastest = fmax(way->fastest, probe->speed);
  }
}

// ---- what contacts were ---------------------------------------------------------------------------------------------

// What kernel and pairs remember of other pushes would change the last digits of this one.
static void forget(carom_pusher *p) {
  carom_quasi *q = p->quasi;
  q->count = q->before_count = 0;
  p->before.count = 0;
  for (int i = 0; i < q->contacts->pair_count; i++) q->contacts->pairs[i].cache = (carom_ssh_cache){0};
  for (int i = 0; i < p->def.model->part_count; i++) q->contacts->boxes[i] = (carom_aabb){{0, 0, 0}, {0, 0, 0}};
}

bool carom_push_note(carom_pusher *p, carom_push_traces *traces, const carom_quasi_item *item) {
  const carom_contact *c = &item->contact;
  if (!carom_grow(&p->arena.allocator, (void **)&traces->list, traces->count, &traces->capacity, sizeof *traces->list))
    return false;
  traces->list[traces->count++] = (carom_push_trace){.part_a = c->part_a,
                                                     .part_b = c->part_b,
                                                     .body_a = c->body_a,
                                                     .body_b = c->body_b,
                                                     .along = c->normal.x * c->point_b.y - c->normal.y * c->point_b.x,
                                                     .point = cm_lerp(c->point_a, c->point_b, 0.5),
                                                     .mode = item->mode};
  return true;
}

// ---- the step -------------------------------------------------------------------------------------------------------

// The next moment of the grid of steps, or the end.
static double next_stop(const carom_push_way *way) {
  double h = way->pusher->def.step, T = way->push->duration;
  double stop = h * (floor(way->t / h + SHORTEST) + 1);
  while (stop - way->t < SHORTEST * h) stop += h;
  return stop >= T - NO_TIME * h || T - stop < SHORTEST * h ? T : stop;
}

static carom_status gather(carom_push_way *way, carom_error *error) {
  carom_pusher *p = way->pusher;
  return carom_quasi_gather(p->quasi, way->state, way->h, &p->driven, error);
}

// When the first probe that moves touches what rests, from now on, s.
static double first_touch(const carom_push_way *way) {
  const carom_quasi *q = way->pusher->quasi;
  double first = INFINITY;
  for (int i = 0; i < q->count; i++) {
    const carom_quasi_item *item = &q->items[i];
    double closing = item->surface[0], gap = item->contact.gap;
    if (closing > 0 && gap < closing * way->h) first = fmin(first, fmax(gap, 0) / closing);
  }
  return first;
}

// Cuts the step where a probe touches.
static carom_status approach(carom_push_way *way, carom_error *error) {
  double touch = first_touch(way);
  if (!(touch > TOUCHES * way->pusher->def.step && touch < way->h)) return CAROM_OK;
  way->h = touch;
  way->approaches = true;
  way->pusher->quasi->count = 0;  // nothing carries yet, and what was gathered is to be forgotten
  return gather(way, error);
}

static double force_of(const carom_quasi *q, const carom_quasi_item *item) {
  return sqrt(item->impulse[0] * item->impulse[0] + item->impulse[1] * item->impulse[1]) / q->h;
}

// E V . V h of all that moves.
static double damped(const carom_quasi *q) {
  double sum = 0;
  for (int b = 0; b < q->model->body_count; b++) {
    if (q->model->bodies[b].fixed) continue;
    const carom_vec3 *v = &q->found.v[b], *w = &q->found.w[b];
    double V[6] = {v->x, v->y, v->z, w->x, w->y, w->z}, power = 0;
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) power += V[i] * q->matrix[b][i][j] * V[j];
    sum += power / q->strain[b] * q->h;
  }
  return sum;
}

static void book(carom_push_way *way) {
  const carom_quasi *q = way->pusher->quasi;
  carom_push_result *r = way->result;
  for (int i = 0; i < q->count; i++) {
    const carom_quasi_item *item = &q->items[i];
    r->overlap = fmax(r->overlap, -item->contact.gap);
    r->largest_force = fmax(r->largest_force, force_of(q, item));
    for (int k = 0; k <= item->tangents; k++) {
      r->work += item->impulse[k] * item->surface[k];
      r->friction -= item->impulse[k] * item->rate[k];
    }
  }
  r->damping += damped(q);
  r->steps++;
}

// All contacts and their modes for the next step: by their index they are known again.
static carom_status remember(carom_push_way *way, carom_error *error) {
  carom_pusher *p = way->pusher;
  p->before.count = 0;
  for (int i = 0; i < p->quasi->count; i++)
    if (!carom_push_note(p, &p->before, &p->quasi->items[i]))
      return carom_fail(error, CAROM_ERR_MEMORY, "push: out of memory for %d contacts", p->quasi->count);
  return CAROM_OK;
}

static void move(carom_push_way *way, double stop) {
  carom_quasi_move(way->pusher->quasi, way->state);
  double end = way->h < stop - way->t ? way->t + way->h : stop;
  way->state->time += end - way->t;
  way->state->step++;
  way->t = end;
  place_probes(way);
}

static carom_push_contact contact_of(const carom_quasi *q, const carom_quasi_item *item) {
  const carom_contact *c = &item->contact;
  carom_vec3 force = cm_scale(item->impulse[0], c->normal);
  for (int k = 1; k <= item->tangents; k++) force = cm_axpy(force, item->impulse[k], item->row[k].linear[0]);
  return (carom_push_contact){.body_a = c->body_a,
                              .body_b = c->body_b,
                              .point = cm_lerp(c->point_a, c->point_b, 0.5),
                              .normal = c->normal,
                              .force = cm_scale(1 / q->h, force),
                              .gap = c->gap,
                              .mode = item->mode};
}

static carom_status tell(carom_push_way *way, carom_error *error) {
  carom_pusher *p = way->pusher;
  const carom_quasi *q = p->quasi;
  if (!p->listener.step) return CAROM_OK;
  if (!carom_reserve(&p->arena.allocator, (void **)&p->told, &p->told_capacity, q->count, sizeof *p->told))
    return carom_fail(error, CAROM_ERR_MEMORY, "push: out of memory for %d contacts", q->count);
  for (int i = 0; i < q->count; i++) p->told[i] = contact_of(q, &q->items[i]);
  carom_push_step step = {.state = way->state,
                          .time = way->t,
                          .step = way->h,
                          .margin = way->solved ? NAN : way->margin.least,
                          .solved = way->solved,
                          .contact_count = q->count,
                          .contacts = p->told};
  return p->listener.step(p->listener.context, &step, error);
}

static carom_status advance(carom_push_way *way, carom_error *error) {
  double stop = next_stop(way);
  way->h = stop - way->t;
  way->approaches = false;
  carom_status status = gather(way, error);
  if (status == CAROM_OK && isinf(way->result->touch)) status = approach(way, error);
  if (status == CAROM_OK) status = carom_push_solve(way, error);
  if (status != CAROM_OK || way->over) return status;
  book(way);
  status = remember(way, error);
  if (status != CAROM_OK) return status;
  move(way, stop);
  return tell(way, error);
}

// ---- the push -------------------------------------------------------------------------------------------------------

static void begin(carom_push_way *way, double friction) {
  *way->result = (carom_push_result){.touch = INFINITY, .settled = INFINITY, .margin = INFINITY};
  way->t = 0, way->over = way->counts = false;
  way->pusher->quasi->friction_scale = way->pusher->friction * friction;
  forget(way->pusher);
  set_velocities(way);
  place_probes(way);
  park_others(way);
}

carom_status carom_push_go(carom_push_way *way, double friction, carom_error *error) {
  carom_status status = CAROM_OK;
  const carom_pusher_def *def = &way->pusher->def;
  begin(way, friction);
  while (status == CAROM_OK && !way->over && way->t < way->push->duration) status = advance(way, error);
  way->result->time = way->t;
  if (status == CAROM_OK && !way->over && carom_push_goal_met(def->model, way->state, &def->goal))
    way->result->ending = CAROM_PUSH_GOAL;
  return status;
}

carom_status carom_pusher_run(carom_pusher *pusher, const carom_push *push, carom_state *state,
                              carom_push_result *result, carom_error *error) {
  carom_status status = carom_push_verify(pusher, push, error);
  if (status == CAROM_OK) status = carom_push_clear(pusher, push, state, error);
  if (status != CAROM_OK) return status;
  carom_push_way way = {.pusher = pusher, .push = push, .state = state, .result = result, .full = true};
  way.settle = pusher->def.settle * push->duration;
  return carom_push_go(&way, 1, error);
}
