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
#include "geometry/shape.h"
#include "step/exact/exact.h"

enum { MAX_ROUNDS = 8 };

// Gaps that further rounds need not improve when they no longer do, relative to coordinates.
static const double GOOD_ENOUGH = 1e-11;
// Leaps shorter than this share of the step are made without impulses: they would make velocities of round-off.
static const double NO_TIME = 1e-4;
static const double TOLERABLE = 1e-8;  // likewise, after all rounds
static const double MET = 1e-14;       // m or rad: nothing left to improve
// Overlaps are not pushed out at once, since the velocity would be that of an explosion: so much stays after a step.
static const double OVERLAP_STAYS = 0.9;

// ---- what is held ------------------------------------------------------------------------------------------------

// The numbers need not survive.
static carom_status reserve(carom_exact *e, int count, carom_error *error) {
  carom_exact_held *h = &e->held;
  if (count <= h->capacity) return CAROM_OK;
  int wanted = count + count / 2 + 2 * CAROM_MANIFOLD_MAX, contacts = h->capacity, points = h->capacity;
  double *numbers = CAROM_NEW(&e->allocator, double, 12 * wanted);
  if (!numbers || !carom_reserve(&e->allocator, (void **)&h->contacts, &contacts, wanted, sizeof *h->contacts) ||
      !carom_reserve(&e->allocator, (void **)&h->points, &points, wanted, sizeof *h->points)) {
    carom_release(&e->allocator, numbers);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d resting contacts", count);
  }
  carom_release(&e->allocator, h->numbers);
  h->numbers = h->impulse = numbers;
  h->drive = numbers + 3 * wanted;
  h->target = numbers + 6 * wanted;
  h->velocity = numbers + 9 * wanted;
  h->capacity = wanted;
  return CAROM_OK;
}

// The edge of a part that is nearest, in the frame of its body; that of a capsule is its axis.
static bool edge_of(const carom_part *part, int columns, const int *vertex, carom_vec3 *edge) {
  *edge = cm_rotate(part->pose.q, cm_vec3(0, 0, 1));
  if (part->shape->kind != CAROM_SHAPE_POLYTOPE) return part->shape->kind == CAROM_SHAPE_CAPSULE;
  const carom_vec3 *vertices = part->shape->polytope.vertices;
  for (int i = 1; i < columns; i++) {
    if (vertex[i] == vertex[0]) continue;
    *edge = cm_rotate(part->pose.q, cm_unit(cm_sub(vertices[vertex[i]], vertices[vertex[0]])));
    return true;
  }
  return false;
}

// Tells whether the point is one where two edges cross: their common normal is that of the contact.
static void note_crossing(const carom_exact *e, const carom_state *state, carom_exact_point *p) {
  const carom_contact *c = &p->start;
  const carom_distance_result *d = &e->near[c->pair];
  const carom_part *parts = e->model->parts;
  if (d->feature_a == CAROM_FEATURE_FACE || d->feature_b == CAROM_FEATURE_FACE) return;
  if (!edge_of(&parts[c->part_a], d->column_count, d->vertex_a, &p->edge_a)) return;
  if (!edge_of(&parts[c->part_b], d->column_count, d->vertex_b, &p->edge_b)) return;
  carom_vec3 m = cm_cross(cm_rotate(state->q[c->body_a], p->edge_a), cm_rotate(state->q[c->body_b], p->edge_b));
  double along = cm_dot(m, c->normal);
  p->crossing = fabs(along) > 1e-2 && fabs(along) > (1 - 1e-9) * cm_norm(m);
  if (along < 0) p->edge_a = cm_neg(p->edge_a);
}

// Points are carried along by their bodies; the normal by the body whose face it belongs to.
static carom_exact_point point_of(const carom_exact *e, const carom_state *state, const carom_contact *c) {
  const carom_distance_result *d = &e->near[c->pair];
  const carom_shape *a = e->model->parts[c->part_a].shape, *b = e->model->parts[c->part_b].shape;
  carom_pose A = cm_pose(state->x[c->body_a], state->q[c->body_a]);
  carom_pose B = cm_pose(state->x[c->body_b], state->q[c->body_b]);
  bool round_b = d->feature_b == CAROM_FEATURE_SMOOTH && b->kind != CAROM_SHAPE_HALFSPACE;
  bool face_a = (d->feature_a == CAROM_FEATURE_FACE && d->feature_b != CAROM_FEATURE_FACE) || round_b;
  carom_exact_point p = {.start = *c,
                         .a = cm_untransform(A, c->point_a),
                         .b = cm_untransform(B, c->point_b),
                         .core_a = cm_untransform(A, cm_axpy(c->point_a, a->radius, c->normal)),
                         .core_b = cm_untransform(B, cm_axpy(c->point_b, -b->radius, c->normal)),
                         .balls = a->radius + b->radius,
                         .host = face_a ? c->body_a : c->body_b};
  note_crossing(e, state, &p);
  return p;
}

// Points of a resting pair that have not opened. A pair that has none rests no longer.
static carom_status take_pair(carom_exact *e, const carom_state *state, int index, carom_error *error) {
  carom_exact_held *h = &e->held;
  const carom_part_pair *pair = &e->contacts->pairs[index];
  double closed = carom_exact_closed(e, state, pair);
  carom_contact_query query = {CAROM_CONTACT_POLYGON, closed, closed};
  carom_status status = carom_contacts_distance(e->contacts, index, state, &e->near[index]);
  if (status == CAROM_OK) status = reserve(e, h->count + CAROM_MANIFOLD_MAX, error);
  if (status != CAROM_OK) return status;
  carom_contact *points = h->contacts + h->count;
  int count = carom_contacts_of_pair(e->contacts, index, state, &e->near[index], &query, points), left = 0;
  for (int i = 0; i < count; i++)
    if (points[i].gap <= closed) points[left++] = points[i];
  for (int i = 0; i < left; i++) h->points[h->count + i] = point_of(e, state, &points[i]);
  h->count += left;
  if (left == 0) carom_exact_drop_resting(e, pair);
  return CAROM_OK;
}

// The group's resting contacts and limits.
static carom_status take_held(carom_exact *e, const carom_state *state, const carom_exact_group *g, double reach,
                              carom_error *error) {
  e->held.count = 0;
  for (int i = 0; i < e->contacts->pair_count && e->resting.count > 0; i++) {
    if (e->groups.of_pair[i] != g->root || !carom_exact_is_resting(e, &e->contacts->pairs[i])) continue;
    carom_status status = take_pair(e, state, i, error);
    if (status != CAROM_OK) return status;
  }
  carom_exact_take_limits(e, state, reach);
  return reserve(e, carom_exact_held_count(e), error);
}

static carom_status load(carom_exact *e, const carom_state *state, carom_impact_problem *problem, carom_error *error) {
  carom_touching touching = {e->held.contacts, e->held.count, e->held.limits, e->held.limit_count};
  return carom_impact_system_load(e->impacts, state, &touching, problem, error);
}

// ---- points ------------------------------------------------------------------------------------------------------

// Gap of a point, its bodies being at A and B.
static double gap_of(const carom_exact_point *p, carom_pose A, carom_pose B) {
  carom_vec3 normal = cm_rotate(p->host == p->start.body_a ? A.q : B.q, p->axes[0]);
  if (p->crossing) normal = cm_unit(cm_cross(cm_rotate(A.q, p->edge_a), cm_rotate(B.q, p->edge_b)));
  return cm_dot(normal, cm_sub(cm_transform(A, p->core_a), cm_transform(B, p->core_b))) - p->balls;
}

// Gap and slip (along the axes as the host turns them) of a point at the end of the path.
static void follow_point(const carom_exact_point *p, const carom_state *end, double moved[3]) {
  int a = p->start.body_a, b = p->start.body_b;
  carom_pose A = cm_pose(end->x[a], end->q[a]), B = cm_pose(end->x[b], end->q[b]);
  carom_vec3 apart = cm_sub(cm_transform(A, p->a), cm_transform(B, p->b));
  moved[0] = gap_of(p, A, B);
  for (int r = 1; r < 3; r++) moved[r] = cm_dot(cm_rotate(end->q[p->host], p->axes[r]), apart);
}

// The end of the points from `first` on that are of one pair with it.
static int end_of_pair(const carom_exact_held *h, int first) {
  int last = first + 1;
  while (last < h->count && h->contacts[last].pair == h->contacts[first].pair) last++;
  return last;
}

// Surfaces that are curved but not fattened turn other points to each other: the points do not tell their gaps well.
static bool is_curved(const carom_exact *e, int part) {
  carom_shape_kind kind = e->model->parts[part].shape->kind;
  return kind == CAROM_SHAPE_ELLIPSOID || kind == CAROM_SHAPE_CYLINDER || kind == CAROM_SHAPE_CONE;
}

// The gaps of a pair are shifted so that the least is the true one. Only curved parts may be nearer than their points
// tell: others touch at other points then, which is an impact.
static carom_status follow_pairs(carom_exact *e, const carom_state *end, carom_error *error) {
  carom_exact_held *h = &e->held;
  for (int first = 0, last; first < h->count; first = last) {
    const carom_contact *c = &h->contacts[first];
    double least = INFINITY;
    carom_distance_result d;
    last = end_of_pair(h, first);
    for (int i = first; i < last; i++) {
      follow_point(&h->points[i], end, h->drive + 3 * i);
      least = fmin(least, h->drive[3 * i]);
    }
    carom_status status = carom_contacts_distance(e->contacts, c->pair, end, &d);
    if (status != CAROM_OK) return carom_contacts_no_separation(e->contacts, c->pair, end, status, error);
    double shift = d.distance - least, most = 4 * carom_exact_bend(e, &e->contacts->pairs[c->pair]) * h->time * h->time;
    if (is_curved(e, c->part_a) || is_curved(e, c->part_b))
      shift = fmin(fmax(shift, -most), most);  // distances are found by iteration: what is more is not of the path
    else
      shift = fmax(shift, 0);
    for (int i = first; i < last; i++) h->drive[3 * i] += shift;
  }
  return CAROM_OK;
}

// ---- impacts at other points ---------------------------------------------------------------------------------------

// How much nearer the parts of a pair are after `time` than their points first .. last - 1 tell.
static carom_status find_excess(carom_stepper *stepper, const carom_state *state, int first, double time,
                                double *excess, carom_error *error) {
  carom_exact *e = stepper->work;
  const carom_exact_held *h = &e->held;
  const carom_contact *c = &h->contacts[first];
  carom_pose A = carom_exact_pose(stepper, state, c->body_a, time),
             B = carom_exact_pose(stepper, state, c->body_b, time);
  const carom_state *then = time > 0 ? e->trial.state : state;
  if (!e->whole && time > 0) {
    e->trial.state->x[c->body_a] = A.p, e->trial.state->q[c->body_a] = A.q;
    e->trial.state->x[c->body_b] = B.p, e->trial.state->q[c->body_b] = B.q;
  }
  carom_distance_result d;
  carom_status status = carom_contacts_distance(e->contacts, c->pair, then, &d);
  if (status != CAROM_OK) return carom_contacts_no_separation(e->contacts, c->pair, then, status, error);
  double least = INFINITY;
  for (int i = first; i < end_of_pair(h, first); i++) least = fmin(least, gap_of(&h->points[i], A, B));
  *excess = least - d.distance;
  return CAROM_OK;
}

// The time before landing->time at which other points of the pair touch: where the excess goes through `level`.
static carom_status search_other(carom_stepper *stepper, const carom_state *state, int first,
                                 carom_exact_landing *landing, carom_error *error) {
  enum { MOST = 100 };
  const carom_exact *e = stepper->work;
  const carom_contact *c = &e->held.contacts[first];
  double closed = carom_exact_closed(e, state, &e->contacts->pairs[c->pair]), level = 0.5 * closed;
  if (is_curved(e, c->part_a) || is_curved(e, c->part_b)) level *= 1e3;
  double lo = 0, hi = landing->time, f_lo, f_hi, f;
  carom_status status = find_excess(stepper, state, first, 0, &f_lo, error);
  if (status == CAROM_OK) status = find_excess(stepper, state, first, hi, &f_hi, error);
  level += fmax(f_lo, 0);
  if (status != CAROM_OK || !(f_hi > level)) return status;
  f_lo -= level, f_hi -= level;
  for (int i = 0; i < MOST && hi - lo > 4 * DBL_EPSILON * hi; i++) {
    double t = i % 3 == 2 ? 0.5 * (lo + hi) : (lo * f_hi - hi * f_lo) / (f_hi - f_lo);
    if (!(t > lo && t < hi)) t = 0.5 * (lo + hi);
    status = find_excess(stepper, state, first, t, &f, error);
    if (status != CAROM_OK) return status;
    f -= level;
    if (f > 0)
      hi = t, f_hi = f, f_lo *= 0.5;
    else
      lo = t, f_lo = f, f_hi *= 0.5;
    if (f <= 0 && f > -0.25 * closed) break;
  }
  landing->time = lo, landing->impact = true;
  return CAROM_OK;
}

carom_status carom_exact_search_held(carom_stepper *stepper, const carom_state *state, carom_exact_landing *landing,
                                     carom_error *error) {
  const carom_exact *e = stepper->work;
  carom_status status = CAROM_OK;
  for (int first = 0; first < e->held.count && status == CAROM_OK; first = end_of_pair(&e->held, first))
    status = search_other(stepper, state, first, landing, error);
  return status;
}

// ---- position ----------------------------------------------------------------------------------------------------

// The forces that the impulses amount to, on the bodies of the group.
static void act_on_bodies(carom_exact *e, const carom_exact_group *g, double duration) {
  carom_exact_held *h = &e->held;
  for (int i = 0; i < g->count; i++) h->force[g->bodies[i]] = h->torque[g->bodies[i]] = cm_zero3();
  for (int i = 0; i < 3 * carom_exact_held_count(e); i++)
    carom_row_push(e->model, carom_impact_system_row(e->impacts, i), h->impulse[i] / duration, h->force, h->torque);
  e->trial.from = NULL;  // the path has changed
}

// How far a member is from its law, m or rad: pressed ones are to be where they are aimed at, others not below.
static double miss(const carom_exact_held *h, int i, double gap, double duration) {
  double lowest = h->target[3 * i] * duration;
  return h->impulse[3 * i] > 0 ? fabs(gap - lowest) : lowest - gap;
}

// Velocities that the linear problem begins from: what the path would do without the impulses, over T. *worst is how
// far the laws are from being met by the present impulses, m.
static carom_status follow_path(carom_stepper *stepper, const carom_state *state, const carom_exact_group *g,
                                const carom_impact_problem *q, double *worst, carom_error *error) {
  carom_exact *e = stepper->work;
  carom_exact_held *h = &e->held;
  int count = carom_exact_held_count(e), m = 3 * count;
  carom_status status = follow_pairs(e, carom_exact_end(stepper, state, g, h->time), error);
  *worst = 0;
  for (int i = 0; i < count; i++) {
    double *moved = h->drive + 3 * i;
    if (i >= h->count)
      moved[0] = carom_exact_limit_gap(stepper, state, &h->limits[i - h->count], h->time), moved[1] = moved[2] = 0;
    *worst = fmax(*worst, miss(h, i, moved[0], h->time));
    for (int r = 0; r < 3; r++) moved[r] /= h->time;
  }
  for (int j = 0; j < m; j++)
    for (int i = 0; i < m && h->impulse[j] != 0; i++) h->drive[i] -= q->W[i + j * m] * h->impulse[j];
  return status == CAROM_OK ? e->trial.status : status;
}

static void set_targets(carom_exact *e, double duration, double step) {
  carom_exact_held *h = &e->held;
  double stays = 1 - (1 - OVERLAP_STAYS) * duration / step;
  for (int i = 0; i < carom_exact_held_count(e); i++) {
    double gap = i < h->count ? h->contacts[i].gap : h->limits[i - h->count].gap;
    h->target[3 * i] = gap < 0 ? stays * gap / duration : 0;
    h->target[3 * i + 1] = h->target[3 * i + 2] = 0;
  }
}

// The largest coordinate that positions of contacts are differences of; angles of limits count by radians.
static double farthest(const carom_exact_held *h, const carom_state *state) {
  double most = h->limit_count > 0 ? 1 : 0;
  for (int i = 0; i < h->count; i++) {
    const carom_contact *c = &h->contacts[i];
    most = fmax(most, cm_norm(c->point_a) + cm_norm(state->x[c->body_a]) + cm_norm(state->x[c->body_b]));
  }
  return most;
}

// Rounds of the linear problem, until the gaps on the path are what they should be.
static carom_status solve_positions(carom_stepper *stepper, const carom_state *state, const carom_exact_group *g,
                                    carom_impact_problem *problem, carom_error *error) {
  carom_exact *e = stepper->work;
  carom_exact_held *h = &e->held;
  double T = h->time, extent = farthest(h, state), noise = 64 * DBL_EPSILON * extent / T, before = INFINITY, off = 0;
  double first = INFINITY;
  problem->velocity = h->drive;
  if (T < NO_TIME * g->duration) return CAROM_OK;
  for (int round = 0; round < MAX_ROUNDS; round++) {
    carom_status status = follow_path(stepper, state, g, problem, &off, error);
    if (status != CAROM_OK) return status;
    if (round == 0) first = off;
    if (round > 0 && off <= MET) return CAROM_OK;
    if (off <= GOOD_ENOUGH * extent && off > 0.5 * before) return CAROM_OK;  // as near as the solver gets
    before = off;
    status = carom_impact_rest(carom_impact_system_work(e->impacts), problem, &(carom_impact_aim){h->target, noise},
                               &(carom_impact_solution){h->impulse, h->velocity}, NULL, error);
    if (status != CAROM_OK) return status;
    act_on_bodies(e, g, T);
  }
  if (off <= TOLERABLE * extent && off <= first) return CAROM_OK;
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "resting contacts could not be held at t = %.9g s (%.2g m off): use a smaller step", e->now, off);
}

carom_status carom_exact_press(carom_stepper *stepper, const carom_state *state, const carom_exact_group *g,
                               double duration, carom_error *error) {
  carom_exact *e = stepper->work;
  carom_exact_held *h = &e->held;
  carom_impact_problem problem;
  carom_status status = take_held(e, state, g, INFINITY, error);
  int count = carom_exact_held_count(e);
  h->time = duration;
  if (status == CAROM_OK && count > 0) status = load(e, state, &problem, error);
  if (status != CAROM_OK) return status;
  for (int i = 0; i < 3 * h->count; i++) {
    carom_exact_point *p = &h->points[i / 3];
    p->axes[i % 3] = cm_unrotate(state->q[p->host], carom_impact_system_row(e->impacts, i)->linear[0]);
  }
  if (count > 0) memset(h->impulse, 0, 3 * (size_t)count * sizeof *h->impulse);
  act_on_bodies(e, g, duration);
  if (count == 0) return CAROM_OK;
  set_targets(e, duration, g->duration);
  status = carom_exact_bound(stepper, state, g, duration);  // curved parts are corrected by no more than paths bend
  if (status != CAROM_OK) return status;
  return solve_positions(stepper, state, g, &problem, error);
}

carom_status carom_exact_push_held(carom_exact *e, carom_state *state, double time, carom_ledger *ledger,
                                   carom_error *error) {
  carom_exact_held *h = &e->held;
  int m = 3 * carom_exact_held_count(e);
  if (m == 0) return CAROM_OK;
  for (int i = 0; i < m; i++) h->velocity[i] = time / h->time * h->impulse[i];
  carom_impact_system_work_along(e->impacts, e->now, time);
  return carom_impact_system_apply(e->impacts, state, h->velocity, CAROM_EVENT_CONTACT, ledger, error);
}

// ---- velocity ----------------------------------------------------------------------------------------------------

// Friction at the points of the leap takes their impulses along the way that they slipped. The impulses are those of
// its start, about half of what acts in it; twice as much again leaves room for what they become on the way.
static void note_rubbing(carom_exact *e, const carom_state *end, double time) {
  enum { ROOM = 4 };
  carom_exact_held *h = &e->held;
  h->rubbed = 0;
  for (int i = 0; i < h->count && time > 0; i++) {
    const double *P = h->velocity + 3 * i;  // as they were put in
    double moved[3];
    follow_point(&h->points[i], end, moved);
    h->rubbed += ROOM * h->contacts[i].friction * P[0] * hypot(moved[1], moved[2]) / time;
  }
}

carom_status carom_exact_settle(carom_exact *e, carom_state *state, const carom_exact_group *g, double time,
                                carom_ledger *ledger, carom_error *error) {
  carom_exact_held *h = &e->held;
  carom_impact_problem problem;
  carom_impact_info info;
  if (carom_exact_held_count(e) == 0) return CAROM_OK;
  note_rubbing(e, state, time);
  carom_status status = take_held(e, state, g, CAROM_EXACT_RELEASE, error);
  if (status != CAROM_OK || carom_exact_held_count(e) == 0) return status;
  status = load(e, state, &problem, error);
  memset(h->impulse, 0, 3 * (size_t)carom_exact_held_count(e) * sizeof *h->impulse);
  if (status == CAROM_OK)
    status = carom_impact_rest(carom_impact_system_work(e->impacts), &problem, NULL,
                               &(carom_impact_solution){h->impulse, h->velocity}, &info, error);
  if (status != CAROM_OK) return status;
  double size = 0;  // what is left is seen against what forces do in a step, not against the round-off of rest
  for (int i = 0; i < 3 * carom_exact_held_count(e); i++) size = fmax(size, fabs(problem.velocity[i]));
  double scale = fmax(size, g->duration * cm_norm(e->model->gravity));
  carom_ledger_note_complementarity(ledger, scale > 0 ? info.complementarity * size / scale : 0, 0);
  carom_impact_system_work_along(e->impacts, e->now - time, time);
  return carom_impact_system_apply(e->impacts, state, h->impulse, CAROM_EVENT_CONTACT, ledger, error);
}

// The loss is the energy that is missing at the end of a leap: kicks of gravity and of the contacts cancel in the
// middle of it without any loss, so that the impulses themselves do not tell. The work of driven bodies is known to the
// square of the leap only; what is missing by that is no loss. So on them no more is one than friction can have taken,
// unless other points may have hit at the end.
void carom_exact_book_loss(const carom_exact *e, double missing, bool hit, carom_ledger *ledger) {
  bool rough = false, driven = e->model->drive_count > 0;
  for (int i = 0; i < e->held.count; i++) rough = rough || e->held.contacts[i].friction > 0;
  double loss = fmax(0, driven && !hit ? fmin(missing, e->held.rubbed) : missing);
  carom_ledger_loss(ledger, rough ? 0 : loss, rough ? loss : 0);
}
