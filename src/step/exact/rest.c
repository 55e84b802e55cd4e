// Contacts that last. Over a leap of time T the bodies get contact impulses P at its start, such that no contact point
// sinks in by its end: with g the gap at the end and W = J M^-1 J',
//
//     0 <= P_n  _|_  g(P) >= 0,      g(P + dP) = g(P) + T W dP + higher order,
//
// and Coulomb friction against the slip over T. Gaps and slips are measured on the path itself, so that a few rounds of
// the linear problem meet them exactly whatever else acts on the bodies. At the end of the leap the velocities are made
// to leave the contacts (P' with u+ >= 0). Position first, velocity after: the pattern of RATTLE (Andersen 1983), one-
// sided. A body at rest stays at rest to the last bit or two, since all velocities are solved to zero.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/tape.h"
#include "geometry/shape.h"
#include "model/joints.h"
#include "step/exact/exact.h"

enum { MAX_ROUNDS = 8 };

// Gaps that further rounds need not improve when they no longer do, relative to coordinates.
static const double GOOD_ENOUGH = 1e-11;

// ---- which pairs -------------------------------------------------------------------------------------------------

static int find(const carom_exact *e, const carom_part_pair *pair) {
  for (int i = 0; i < e->resting_count; i++)
    if (e->resting[i].part_a == pair->part_a && e->resting[i].part_b == pair->part_b) return i;
  return -1;
}

bool carom_exact_is_resting(const carom_exact *e, const carom_part_pair *pair) {
  return e->resting_count > 0 && find(e, pair) >= 0;
}

bool carom_exact_add_resting(carom_exact *e, const carom_part_pair *pair) {
  if (!carom_grow(&e->allocator, (void **)&e->resting, e->resting_count, &e->resting_capacity, sizeof *e->resting))
    return false;
  e->resting[e->resting_count++] = (carom_exact_rest){pair->part_a, pair->part_b};
  return true;
}

bool carom_exact_save_resting(carom_exact *e) {
  while (e->saved_capacity < e->resting_count)
    if (!carom_grow(&e->allocator, (void **)&e->resting_saved, e->saved_capacity, &e->saved_capacity,
                    sizeof *e->resting_saved))
      return false;
  e->saved_count = e->resting_count;
  carom_exact_save_limits(e);
  for (int i = 0; i < e->resting_count; i++) e->resting_saved[i] = e->resting[i];
  return true;
}

void carom_exact_restore_resting(carom_exact *e) {
  e->resting_count = e->saved_count;
  carom_exact_restore_limits(e);
  for (int i = 0; i < e->saved_count; i++) e->resting[i] = e->resting_saved[i];
}

bool carom_exact_remember_resting(carom_exact *e, carom_tape *tape) {
  int count = e->resting_count, parts = e->model->part_count;
  if (!carom_tape_pass_count(tape, &count, sizeof *e->resting)) return false;
  if (!carom_reserve(&e->allocator, (void **)&e->resting, &e->resting_capacity, count, sizeof *e->resting))
    return false;
  e->resting_count = count;
  if (!carom_tape_pass(tape, e->resting, (size_t)count * sizeof *e->resting)) return false;
  for (int i = 0; i < count; i++) {
    const carom_exact_rest *r = &e->resting[i];
    if (r->part_a < 0 || r->part_a >= parts || r->part_b < 0 || r->part_b >= parts) return false;
  }
  return carom_exact_remember_limits(e, tape);
}

static double extent_of(const carom_exact *e, int part) {
  double r = e->model->parts[part].shape->bounding_radius;
  return isinf(r) ? 0 : r;
}

// Pairs that have come apart may collide again.
void carom_exact_release_opened(carom_exact *e, const carom_state *state) {
  int kept = 0;
  for (int i = 0; i < e->resting_count; i++) {
    int a = e->resting[i].part_a, b = e->resting[i].part_b;
    // A latch that closed holds the bodies from now on.
    if (carom_joints_hold(e->model, state, e->contacts->body_of_part[a], e->contacts->body_of_part[b])) continue;
    carom_placed pa = carom_contacts_place(e->contacts, a, state);
    carom_placed pb = carom_contacts_place(e->contacts, b, state);
    carom_distance_result d;
    carom_status status = carom_distance(&pa, &pb, NULL, &d);
    double open = CAROM_EXACT_RELEASE * (extent_of(e, a) + extent_of(e, b));
    if (status == CAROM_OK && d.distance <= open) e->resting[kept++] = e->resting[i];
  }
  e->resting_count = kept;
  carom_exact_release_limits(e, state);
}

// ---- points ------------------------------------------------------------------------------------------------------

static carom_status reserve(carom_exact *e, int count, carom_error *error) {
  if (count <= e->held_capacity) return CAROM_OK;
  int wanted = count + count / 2 + 2 * CAROM_MANIFOLD_MAX;
  carom_contact *held = CAROM_NEW(&e->allocator, carom_contact, wanted);
  carom_exact_point *points = CAROM_NEW(&e->allocator, carom_exact_point, wanted);
  double *numbers = CAROM_NEW(&e->allocator, double, 12 * wanted);
  if (!held || !points || !numbers) {
    carom_release(&e->allocator, held);
    carom_release(&e->allocator, points);
    carom_release(&e->allocator, numbers);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d resting contacts", count);
  }
  if (e->held_capacity > 0) {
    memcpy(held, e->held, (size_t)e->held_capacity * sizeof *held);
    memcpy(points, e->points, (size_t)e->held_capacity * sizeof *points);
  }
  carom_release(&e->allocator, e->held);
  carom_release(&e->allocator, e->points);
  carom_release(&e->allocator, e->numbers);
  e->held = held, e->points = points, e->numbers = numbers;
  e->impulse = numbers, e->drive = numbers + 3 * wanted;
  e->target = numbers + 6 * wanted, e->velocity = numbers + 9 * wanted;
  e->held_capacity = wanted;
  return CAROM_OK;
}

// Contact points of the group's resting pairs that are nearer than `slop` to touching, and resting limits.
static carom_status take_held(carom_exact *e, const carom_state *state, const carom_exact_group *g, double duration,
                              carom_error *error) {
  e->held_count = 0;
  for (int i = 0; i < e->contacts->pair_count && e->resting_count > 0; i++) {
    const carom_part_pair *pair = &e->contacts->pairs[i];
    if (e->pair_group[i] != g->root || !carom_exact_is_resting(e, pair)) continue;
    carom_status status = carom_contacts_distance(e->contacts, i, state, &e->near[i]);
    if (status == CAROM_OK) status = reserve(e, e->held_count + CAROM_MANIFOLD_MAX, error);
    if (status != CAROM_OK) return status;
    const carom_exact_body *a = &e->bodies[pair->body_a], *b = &e->bodies[pair->body_b];
    double slop = 8 * carom_exact_within(e, state, pair);
    if (duration > 0) slop += 2 * (a->allowed + b->allowed);
    carom_contact_query query = {CAROM_CONTACT_POLYGON, slop, slop};
    e->held_count += carom_contacts_of_pair(e->contacts, i, state, &e->near[i], &query, e->held + e->held_count);
  }
  carom_exact_take_limits(e, state, duration > 0 ? INFINITY : CAROM_EXACT_RELEASE);
  return reserve(e, carom_exact_held(e), error);
}

// Points are carried along by their bodies; the normal by the body whose face it belongs to.
static void mark_point(const carom_exact *e, const carom_state *state, int i) {
  const carom_contact *c = &e->held[i];
  carom_exact_point *p = &e->points[i];
  bool face_a = e->near[c->pair].feature_a == CAROM_FEATURE_FACE && e->near[c->pair].feature_b != CAROM_FEATURE_FACE;
  carom_vec3 s, t;
  cm_frame(c->normal, &s, &t);
  if (e->model->planar) s = cm_cross(cm_vec3(0, 0, 1), c->normal), t = cm_vec3(0, 0, 1);
  p->body_a = c->body_a, p->body_b = c->body_b;
  p->host = face_a ? c->body_a : c->body_b;
  p->a = cm_unrotate(state->q[c->body_a], cm_sub(c->point_a, state->x[c->body_a]));
  p->b = cm_unrotate(state->q[c->body_b], cm_sub(c->point_b, state->x[c->body_b]));
  p->n = cm_unrotate(state->q[p->host], c->normal);
  p->s = cm_unrotate(state->q[p->host], s), p->t = cm_unrotate(state->q[p->host], t);
  p->pair = c->pair;
  p->gap = c->gap;
  p->speed = carom_contact_normal_velocity(e->impacts, state, c);
  p->restitution = c->restitution;
}

// Gap and slip (world tangents of the start) of a point after `time` on the path.
static void follow_point(carom_stepper *stepper, const carom_state *state, const carom_exact_point *p, double time,
                         double moved[3]) {
  carom_pose A = carom_exact_pose(stepper, state, p->body_a, time);
  carom_pose B = carom_exact_pose(stepper, state, p->body_b, time);
  carom_quat host = p->host == p->body_a ? A.q : B.q;
  carom_vec3 apart = cm_sub(cm_transform(A, p->a), cm_transform(B, p->b));
  moved[0] = cm_dot(cm_rotate(host, p->n), apart);
  moved[1] = cm_dot(cm_rotate(host, p->s), apart);
  moved[2] = cm_dot(cm_rotate(host, p->t), apart);
}

static carom_status load(carom_exact *e, const carom_state *state, carom_impact_problem *problem, carom_error *error) {
  carom_touching touching = {e->held, e->held_count, e->held_limits, e->held_limit_count};
  return carom_impact_system_load(e->impacts, state, &touching, problem, error);
}

// ---- position ----------------------------------------------------------------------------------------------------

// The forces that the impulses amount to, on the bodies of the group.
static void spread(carom_exact *e, const carom_state *state, const carom_exact_group *g, double duration) {
  for (int i = 0; i < g->count; i++) {
    e->bodies[g->bodies[i]].contact_f = cm_zero3();
    e->bodies[g->bodies[i]].contact_n = cm_zero3();
  }
  for (int i = 0; i < e->held_count; i++) {
    const carom_contact *c = &e->held[i];
    const carom_exact_point *p = &e->points[i];
    carom_quat host = state->q[p->host];
    const double *P = e->impulse + 3 * i;
    carom_vec3 f = cm_axpy(cm_axpy(cm_scale(P[0], p->n), P[1], p->s), P[2], p->t);
    f = cm_scale(1 / duration, cm_rotate(host, f));
    carom_vec3 point = cm_lerp(c->point_a, c->point_b, 0.5);
    carom_exact_body *a = &e->bodies[c->body_a], *b = &e->bodies[c->body_b];
    a->contact_f = cm_add(a->contact_f, f);
    a->contact_n = cm_add(a->contact_n, cm_cross(cm_sub(point, state->x[c->body_a]), f));
    if (e->model->bodies[c->body_b].fixed) continue;
    b->contact_f = cm_sub(b->contact_f, f);
    b->contact_n = cm_sub(b->contact_n, cm_cross(cm_sub(point, state->x[c->body_b]), f));
  }
  for (int i = 0; i < e->held_limit_count; i++)
    carom_exact_spread_limit(e, &e->held_limits[i], e->impulse[3 * (e->held_count + i)] / duration);
  e->base = NULL;  // the path has changed
}

// How far a member is from its law, m or rad: pressed ones are to be where they are aimed at, others not below.
static double miss(const carom_exact *e, int i, double gap, double duration) {
  double lowest = e->target[3 * i] * duration;
  return e->impulse[3 * i] > 0 ? fabs(gap - lowest) : lowest - gap;
}

// Velocities that the linear problem begins from: what the path would do without the impulses, over T. Returns how far
// the laws are from being met by the present impulses, m.
static double measure(carom_stepper *stepper, const carom_state *state, const carom_impact_problem *q,
                      double duration) {
  carom_exact *e = stepper->work;
  int m = 3 * carom_exact_held(e);
  double worst = 0;
  for (int i = 0; i < e->held_count; i++) {
    double moved[3];
    follow_point(stepper, state, &e->points[i], duration, moved);
    for (int r = 0; r < 3; r++) e->drive[3 * i + r] = moved[r] / duration;
    worst = fmax(worst, miss(e, i, moved[0], duration));
  }
  for (int i = e->held_count; i < carom_exact_held(e); i++) {
    double gap = carom_exact_limit_gap(stepper, state, &e->held_limits[i - e->held_count], duration);
    e->drive[3 * i] = gap / duration;
    e->drive[3 * i + 1] = e->drive[3 * i + 2] = 0;
    worst = fmax(worst, miss(e, i, gap, duration));
  }
  for (int j = 0; j < m; j++)
    for (int i = 0; i < m && e->impulse[j] != 0; i++) e->drive[i] -= q->W[i + j * m] * e->impulse[j];
  return worst;
}

// Overlaps are not pushed out at once: the velocity would be that of an explosion.
static void set_targets(carom_exact *e, double duration) {
  for (int i = 0; i < carom_exact_held(e); i++) {
    double gap = i < e->held_count ? e->points[i].gap : e->held_limits[i - e->held_count].gap;
    e->target[3 * i] = gap < 0 ? 0.9 * gap / duration : 0;
    e->target[3 * i + 1] = e->target[3 * i + 2] = 0;
  }
}

// The largest coordinate that positions of contacts are differences of; angles of limits count by radians.
static double spread_of(const carom_exact *e, const carom_state *state) {
  double most = e->held_limit_count > 0 ? 1 : 0;
  for (int i = 0; i < e->held_count; i++) {
    const carom_contact *c = &e->held[i];
    most = fmax(most, cm_norm(c->point_a) + cm_norm(state->x[c->body_a]) + cm_norm(state->x[c->body_b]));
  }
  return most;
}

carom_status carom_exact_press(carom_stepper *stepper, carom_state *state, const carom_exact_group *g, double duration,
                               carom_error *error) {
  carom_exact *e = stepper->work;
  carom_impact_problem problem;
  carom_status status = take_held(e, state, g, duration, error);
  e->held_time = duration;
  if (status == CAROM_OK && carom_exact_held(e) > 0) status = load(e, state, &problem, error);
  if (status != CAROM_OK) return status;
  for (int i = 0; i < e->held_count; i++) mark_point(e, state, i);
  if (carom_exact_held(e) > 0) memset(e->impulse, 0, 3 * (size_t)carom_exact_held(e) * sizeof *e->impulse);
  spread(e, state, g, duration);
  if (carom_exact_held(e) == 0) return CAROM_OK;
  set_targets(e, duration);
  problem.velocity = e->drive;
  double noise = 64 * DBL_EPSILON * spread_of(e, state) / duration;
  double before = INFINITY;
  for (int round = 0; round < MAX_ROUNDS; round++) {
    double off = measure(stepper, state, &problem, duration);
    if (round > 0 && off <= 1e-14) break;
    if (off <= GOOD_ENOUGH * spread_of(e, state) && off > 0.5 * before) break;  // as near as the solver gets
    before = off;
    status = carom_impact_rest(carom_impact_system_work(e->impacts), &problem, &(carom_impact_aim){e->target, noise},
                               &(carom_impact_solution){e->impulse, e->velocity}, NULL, error);
    if (status != CAROM_OK) return status;
    spread(e, state, g, duration);
  }
  return CAROM_OK;
}

carom_status carom_exact_push(carom_stepper *stepper, carom_state *state, double time, carom_ledger *ledger,
                              carom_error *error) {
  carom_exact *e = stepper->work;
  carom_impact_problem problem;
  if (carom_exact_held(e) == 0) return CAROM_OK;
  for (int i = 0; i < 3 * carom_exact_held(e); i++) e->velocity[i] = time / e->held_time * e->impulse[i];
  carom_status status = load(e, state, &problem, error);
  if (status == CAROM_OK)
    status = carom_impact_system_apply(e->impacts, state, e->velocity, CAROM_EVENT_CONTACT, ledger, error);
  return status;
}

// ---- velocity ----------------------------------------------------------------------------------------------------

// A point that was open when the leap began and is pressed now has hit. It parts with e times its speed, unless that is
// no more than forces alone make in the time. Writes the targets; the points of the leap's start are still at hand.
static void set_rebounds(carom_exact *e, const carom_state *state, int before) {
  memset(e->target, 0, 3 * (size_t)carom_exact_held(e) * sizeof *e->target);
  for (int k = 0; k < before; k++) {
    const carom_exact_point *p = &e->points[k];
    const carom_part_pair *pair = &e->contacts->pairs[p->pair];
    double size = extent_of(e, pair->part_a) + extent_of(e, pair->part_b);
    double slow = 2 * carom_exact_bend(e, pair) * e->held_time;
    if (p->gap <= CAROM_EXACT_RELEASE * size || !(-p->speed > slow)) continue;
    carom_vec3 place = cm_add(state->x[p->body_a], cm_rotate(state->q[p->body_a], p->a));
    for (int i = 0; i < e->held_count; i++)
      if (e->held[i].pair == p->pair && cm_norm(cm_sub(e->held[i].point_a, place)) < 1e-6 * size)
        e->target[3 * i] = -p->restitution * p->speed;
  }
}

static void keep_touching(carom_exact *e) {
  int kept = 0;
  for (int i = 0; i < e->held_count; i++) {
    double touch = CAROM_EXACT_RELEASE * (extent_of(e, e->held[i].part_a) + extent_of(e, e->held[i].part_b));
    if (e->held[i].gap <= touch) e->held[kept++] = e->held[i];
  }
  e->held_count = kept;
}

carom_status carom_exact_settle(carom_stepper *stepper, carom_state *state, const carom_exact_group *g,
                                carom_ledger *ledger, carom_error *error) {
  carom_exact *e = stepper->work;
  carom_impact_problem problem;
  carom_impact_info info;
  int before = e->held_count;
  if (carom_exact_held(e) == 0) return CAROM_OK;
  carom_status status = take_held(e, state, g, 0, error);
  if (status != CAROM_OK) return status;
  keep_touching(e);
  if (carom_exact_held(e) == 0) return CAROM_OK;
  set_rebounds(e, state, before);
  status = load(e, state, &problem, error);
  memset(e->impulse, 0, 3 * (size_t)carom_exact_held(e) * sizeof *e->impulse);
  if (status == CAROM_OK)
    status = carom_impact_rest(carom_impact_system_work(e->impacts), &problem, &(carom_impact_aim){e->target, 0},
                               &(carom_impact_solution){e->impulse, e->velocity}, &info, error);
  if (status != CAROM_OK) return status;
  carom_ledger_note_complementarity(ledger, info.complementarity, 0);
  return carom_impact_system_apply(e->impacts, state, e->impulse, CAROM_EVENT_CONTACT, ledger, error);
}

// ---- losses ------------------------------------------------------------------------------------------------------

double carom_exact_energy(const carom_exact *e, const carom_state *state) {
  return carom_kinetic_energy(e->model, state) + carom_potential_energy(e->model, state);
}

// What resting contacts took in a leap: the energy that is missing at its end. Kicks of gravity and of the contacts
// cancel in the middle of a leap without any loss, so that the impulses themselves do not tell. What the discrete flow
// gains for a while is not a loss.
void carom_exact_book_loss(const carom_exact *e, double loss, carom_ledger *ledger) {
  bool rough = false;
  for (int i = 0; i < e->held_count; i++) rough = rough || e->held[i].friction > 0;
  if (!(loss > 0)) return;
  carom_ledger_loss(ledger, rough ? 0 : loss, rough ? loss : 0);
}
