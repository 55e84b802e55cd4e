// Time of impact by conservative advancement on separating planes (Mirtich 1996; Zhang, Lee and Kim 2006).
//
// As long as one direction m(t), which may turn with time, keeps the bodies on either side of a plane, they are apart:
//
//     F(t) = min over x in A, y in B of  m(t) . (x(t) - y(t))  -  target |m(t)|  > 0.
//
// Each round asks the separation oracle for a plane at time t, lets it turn in one of several ways (still; with A; with
// B; with an edge of each), finds the first zero of F for each way and advances to the latest of them. A plane that
// turns with the features that will meet stays optimal up to the contact, so that two or three rounds do.
//
// The zero is never passed. For fixed x and y the function under the minimum has a second derivative of at most K, so
// it lies above its chord over [p, q] less K/2 (t - p)(q - t); the chords lie above the chord of F; hence so does F:
//
//     F(t) >= F(p) + (F(q) - F(p)) (t - p)/(q - p) - K/2 (t - p)(q - t).                                           (1)
//
// F itself is exact at any time: one support query on each body.
#include <float.h>

#include "collide/guide.h"
#include "collide/support.h"

enum { MAX_ROUNDS = 500, MAX_PROBES = 60, FEW_PROBES = 12 };

static const double ROUGHLY = 1.0 / 8;  // how far the clearance falls while planes are compared

// A body under way.
typedef struct mover {
  const carom_shape *shape;
  carom_pose from, to;
  carom_vec3 v, w;  // per unit of time
  double rate;      // |w|
  double core;      // radius about the origin of what turns: a ball looks the same from all sides
  double swing;     // the same, from the axis of rotation
} mover;

typedef struct duel {
  mover a, b;
  carom_vec3 delta, velocity;  // position of A minus position of B, and its rate
  double size;
  double within, target;  // an impact is found within `within`; planes are followed down to `target`, half of it
} duel;

// ---- motion --------------------------------------------------------------------------------------------------------

static mover mover_make(const carom_motion *m) {
  mover s = {.shape = m->shape};
  s.from = cm_pose(m->from.p, cm_qunit(m->from.q));
  s.to = cm_pose(m->to.p, cm_qunit(m->to.q));
  s.v = cm_sub(m->to.p, m->from.p);
  s.w = cm_log(cm_qmul(s.to.q, cm_qconj(s.from.q)));
  s.rate = cm_norm(s.w);
  return s;
}

static mover mover_of_twist(const carom_twisting *m) {
  mover s = {.shape = m->shape, .v = m->linear, .w = m->angular, .rate = cm_norm(m->angular)};
  s.from = cm_pose(m->from.p, cm_qunit(m->from.q));
  s.to = cm_pose(cm_add(m->from.p, m->linear), cm_qunit(cm_qmul(cm_exp(m->angular), s.from.q)));
  return s;
}

static carom_quat attitude(const mover *m, double t) {
  return t <= 0 ? m->from.q : t >= 1 ? m->to.q : cm_qunit(cm_qmul(cm_exp(cm_scale(t, m->w)), m->from.q));
}

static carom_vec3 position(const mover *m, double t) {
  return t <= 0 ? m->from.p : t >= 1 ? m->to.p : cm_axpy(m->from.p, t, m->v);
}

carom_pose carom_motion_at(const carom_motion *motion, double time) {
  mover m = mover_make(motion);
  return cm_pose(position(&m, time), attitude(&m, time));
}

carom_pose carom_twisting_at(const carom_twisting *twisting, double time) {
  mover m = mover_of_twist(twisting);
  return cm_pose(position(&m, time), attitude(&m, time));
}

// Radii of the turning core: the vertices, the segment of a capsule, the mere centre of a sphere; else the whole body.
static void measure(mover *m) {
  const carom_shape *shape = m->shape;
  carom_vec3 axis = cm_unit(cm_unrotate(m->from.q, m->w));
  switch (shape->kind) {
    case CAROM_SHAPE_SPHERE:
    case CAROM_SHAPE_HALFSPACE:
      return;
    case CAROM_SHAPE_CAPSULE:
      m->core = shape->half_length;
      m->swing = shape->half_length * sqrt(axis.x * axis.x + axis.y * axis.y);
      return;
    case CAROM_SHAPE_POLYTOPE:
      m->core = shape->bounding_radius;
      for (int i = 0; i < shape->polytope.vertex_count; i++)
        m->swing = fmax(m->swing, cm_norm(cm_cross(axis, shape->polytope.vertices[i])));
      return;
    default:
      m->core = m->swing = shape->bounding_radius;
  }
}

static bool is_halfspace(const mover *m) { return m->shape->kind == CAROM_SHAPE_HALFSPACE; }

static double size_of(const mover *m) { return is_halfspace(m) ? 0 : m->shape->bounding_radius; }

static double ball_of(const mover *m) { return is_halfspace(m) ? 0 : m->shape->radius; }

static carom_vec3 offset_at(const duel *d, double t) { return cm_axpy(d->delta, t, d->velocity); }

// ---- the separation along a direction ------------------------------------------------------------------------------

// Both bodies at one time.
typedef struct moment {
  double t;
  carom_quat a, b;
} moment;

static moment moment_at(const duel *d, double t) { return (moment){t, attitude(&d->a, t), attitude(&d->b, t)}; }

static carom_vec3 direction_at(const carom_guide *g, const moment *at) {
  return carom_guide_direction(g, at->a, at->b);
}

// Least m . x over the body, from its position; a half-space is only ever asked along its own normal.
static double lowest(const mover *body, carom_quat q, carom_vec3 m) {
  if (is_halfspace(body)) return 0;
  carom_placed placed = {body->shape, cm_pose(cm_zero3(), q)};
  carom_supporter supporter;
  carom_supporter_place(&supporter, &placed);
  int vertex;
  return cm_dot(m, carom_support_lowest(&supporter, m, &vertex));
}

static double separation(const duel *d, carom_vec3 m, const moment *at) {
  return cm_dot(m, offset_at(d, at->t)) + lowest(&d->a, at->a, m) + lowest(&d->b, at->b, cm_neg(m));
}

static double clearance(const duel *d, const carom_guide *g, double t) {
  moment at = moment_at(d, t);
  carom_vec3 m = direction_at(g, &at);
  return separation(d, m, &at) - d->target * cm_norm(m);
}

// ---- how fast the separation may bend ------------------------------------------------------------------------------

// (m . x)'' with x turning at w about an axis: (w x m) . (w x x).
static double bend_still(const mover *body, carom_vec3 n) {
  return body->rate * cm_norm(cm_cross(body->w, n)) * body->swing;
}

// n turns with `host` at c = |w x n|: n'' . offset + 2 n' . velocity, and for points y of the other body
// (n . y)'' = (W x (w x n)) . y + (W x n) . (w_other x y) with W the difference of the rates.
static double bend_hosted(const duel *d, const mover *host, const mover *other, carom_vec3 n, double reach) {
  double c = cm_norm(cm_cross(host->w, n)), W = cm_norm(cm_sub(host->w, other->w));
  return c * (host->rate * reach + 2 * cm_norm(d->velocity)) + W * (c + other->rate) * other->core;
}

// m = ea x eb of unit vectors: |m'| <= w, |m''| <= w^2 with w the sum of the rates; (m.x)'' = m''.x + 2 m'.x' + m.x''.
static double bend_edges(const duel *d, double reach) {
  const mover *a = &d->a, *b = &d->b;
  double w = a->rate + b->rate, speed = cm_norm(d->velocity) + a->rate * a->swing + b->rate * b->swing;
  double far = reach + a->core + b->core + ball_of(a) + ball_of(b) + d->target;
  return w * w * far + 2 * w * speed + a->rate * a->rate * a->swing + b->rate * b->rate * b->swing;
}

// ---- guides --------------------------------------------------------------------------------------------------------

static double reach_from(const duel *d, double t) {  // a norm along a line is largest at an end
  return fmax(cm_norm(offset_at(d, t)), cm_norm(offset_at(d, 1)));
}

static carom_guide guide_still(const duel *d, carom_vec3 n) {
  return (carom_guide){.turns = CAROM_STILL, .n = n, .bend = bend_still(&d->a, n) + bend_still(&d->b, n)};
}

static carom_guide guide_hosted(const duel *d, carom_turning with, carom_vec3 n, double t) {
  const mover *host = with == CAROM_WITH_A ? &d->a : &d->b, *other = with == CAROM_WITH_A ? &d->b : &d->a;
  return (carom_guide){
      .turns = with, .n = cm_unrotate(attitude(host, t), n), .bend = bend_hosted(d, host, other, n, reach_from(d, t))};
}

static bool is_vertex(const carom_polytope *p, int i) { return i >= 0 && i < p->vertex_count; }

// An edge that lies in the supporting plane: of two vertices of the basis, or the axis of a capsule or a cylinder.
static bool edge_of(const mover *body, const int basis[3], carom_vec3 *edge) {
  *edge = cm_vec3(0, 0, 1);
  if (body->shape->kind == CAROM_SHAPE_CYLINDER) return true;
  if (body->shape->kind == CAROM_SHAPE_CAPSULE) return body->shape->half_length > 0;
  if (body->shape->kind != CAROM_SHAPE_POLYTOPE) return false;
  const carom_polytope *p = &body->shape->polytope;
  for (int i = 1; i < 3; i++) {
    if (basis[i] == basis[0] || !is_vertex(p, basis[0]) || !is_vertex(p, basis[i])) continue;
    *edge = cm_unit(cm_sub(p->vertices[basis[i]], p->vertices[basis[0]]));
    return true;
  }
  return false;
}

static bool guide_edges(const duel *d, const carom_ssh_cache *basis, carom_vec3 n, double t, carom_guide *g) {
  *g = (carom_guide){.turns = CAROM_WITH_EDGES, .bend = bend_edges(d, reach_from(d, t))};
  if (!edge_of(&d->a, basis->a, &g->ea) || !edge_of(&d->b, basis->b, &g->eb)) return false;
  moment at = moment_at(d, t);
  double along = cm_dot(direction_at(g, &at), n);
  if (along < 0) g->ea = cm_neg(g->ea);
  return fabs(along) > 1e-3;  // nearly parallel edges tell nothing of the plane
}

// ---- following one plane -------------------------------------------------------------------------------------------

// The latest time up to which the plane is proven to separate. The next interval ends about as far behind the zero
// expected by the last chord as it begins before it, so that the zero is met quadratically. Ends when the clearance has
// fallen to a `part` of what it was, or to nothing.
static double follow(const duel *d, const carom_guide *g, double t, double part, int probes) {
  double f = clearance(d, g, t), h = 1 - t, enough = fmax(d->target / 2, part * f);
  if (!(f > 0)) return t;
  if (g->bend > 0) h = fmin(h, 2 * sqrt(f / g->bend));
  for (int i = 0; i < probes && t < 1; i++) {
    double end = t + h >= 1 ? 1 : t + h;
    double next = clearance(d, g, end), length = carom_safe_length(f, next, end - t, g->bend);
    double fall = (f - next) / (end - t), safe = length >= end - t ? end : t + length;
    if (!(safe > t)) return t;
    f = safe == end ? next : clearance(d, g, safe);
    t = safe;
    if (f <= enough) return t;
    h = fall > 0 ? 2 * f / fall : 2 * length;
    if (g->bend > 0) h = fmin(h, 2 * sqrt(f / g->bend));
    h = fmax(h, 4 * DBL_EPSILON);
  }
  return t;
}

// ---- rounds --------------------------------------------------------------------------------------------------------

// A plane at one time: its normal, the separation, and the points that say so.
typedef struct view {
  carom_vec3 n, point_a, point_b;
  double separation;
} view;

// A core with a coat: the distance of the cores says all. Of other curved bodies the normal of the program is good to
// half the digits.
static bool is_coated(const mover *m) { return ball_of(m) > 0; }
static bool is_smooth(const mover *m) { return m->shape->kind > CAROM_SHAPE_HALFSPACE; }

static carom_status look_distance(const duel *d, const carom_placed *a, const carom_placed *b, const moment *at,
                                  carom_ssh_cache *cache, view *v) {
  carom_distance_result r;
  carom_status status = carom_distance(a, b, cache, &r);
  if (status != CAROM_OK) return status;
  for (int i = cache->count; i < 3; i++) cache->a[i] = cache->a[0], cache->b[i] = cache->b[0];
  double s = separation(d, r.normal, at);
  if (s > v->separation) *v = (view){r.normal, r.point_a, r.point_b, s};
  return CAROM_OK;
}

// Facets, which the linear program finds, are the planes to follow. Where corner meets corner the true distance is
// larger and decides; on curved surfaces it is the better one.
static carom_status look(const duel *d, double t, carom_ssh_cache *cache, view *v) {
  moment at = moment_at(d, t);
  carom_placed a = {d->a.shape, cm_pose(position(&d->a, t), at.a)}, b = {d->b.shape, cm_pose(position(&d->b, t), at.b)};
  bool plane = is_halfspace(&d->a) || is_halfspace(&d->b), smooth = is_smooth(&d->a) || is_smooth(&d->b);
  *v = (view){.separation = -DBL_MAX};
  if (!plane && !smooth && (is_coated(&d->a) || is_coated(&d->b))) return look_distance(d, &a, &b, &at, cache, v);
  carom_ssh_result r;
  carom_status status = carom_ssh(&a, &b, NULL, cache, &r);
  if (status != CAROM_OK) return status;
  *v = (view){r.normal, r.point_a, r.point_b, separation(d, r.normal, &at)};
  if (plane || v->separation > d->within || !(smooth || r.gap > d->within)) return CAROM_OK;
  return look_distance(d, &a, &b, &at, cache, v);
}

// How far the best plane so far has led.
typedef struct lead {
  double time;
  carom_guide plane;
} lead;

static void try_guide(const duel *d, const carom_guide *g, double t, lead *best) {
  double time = follow(d, g, t, ROUGHLY, FEW_PROBES);
  if (time > best->time) *best = (lead){time, *g};
}

static lead best_guide(const duel *d, const view *v, const carom_ssh_cache *basis, double t) {
  bool plane_a = is_halfspace(&d->a), plane_b = is_halfspace(&d->b);
  carom_guide g =
      plane_a || plane_b ? guide_hosted(d, plane_a ? CAROM_WITH_A : CAROM_WITH_B, v->n, t) : guide_still(d, v->n);
  lead best = {t, g};
  try_guide(d, &g, t, &best);
  bool turning_bodies = d->a.rate > 0 || d->b.rate > 0;
  if (plane_a || plane_b || !turning_bodies) return best;
  if (best.time < 1 && d->a.rate > 0) g = guide_hosted(d, CAROM_WITH_A, v->n, t), try_guide(d, &g, t, &best);
  if (best.time < 1 && d->b.rate > 0) g = guide_hosted(d, CAROM_WITH_B, v->n, t), try_guide(d, &g, t, &best);
  if (best.time < 1 && guide_edges(d, basis, v->n, t, &g)) try_guide(d, &g, t, &best);
  return best;
}

// All planes are followed some way, the best to its end.
static lead advance(const duel *d, const view *v, const carom_ssh_cache *basis, double t) {
  lead best = best_guide(d, v, basis, t);
  best.time = follow(d, &best.plane, best.time, 0, MAX_PROBES);
  return best;
}

// The plane that led here proves that the bodies are apart, whatever the oracle made of it.
static void recall(const duel *d, const lead *from, view *v) {
  moment at = moment_at(d, from->time);
  carom_vec3 n = cm_unit(direction_at(&from->plane, &at));
  double s = separation(d, n, &at);
  if (s > v->separation) v->n = n, v->separation = s;
}

static carom_status report(carom_impact_outcome outcome, const view *v, double t, int rounds, carom_impact_time *out) {
  *out = (carom_impact_time){outcome, t, v->n, v->point_a, v->point_b, v->separation, rounds};
  return CAROM_OK;
}

static carom_status run(const duel *d, carom_ssh_cache *cache, carom_impact_time *impact) {
  lead at = {.time = 0};
  view v;
  for (int round = 1; round <= MAX_ROUNDS; round++) {
    carom_status status = look(d, at.time, cache, &v);
    if (status != CAROM_OK) return status;
    if (at.time > 0) recall(d, &at, &v);
    if (v.separation <= d->within)
      return report(at.time > 0 ? CAROM_IMPACT_FOUND : CAROM_IMPACT_AT_START, &v, at.time, round, impact);
    if (at.time >= 1) return report(CAROM_IMPACT_NONE, &v, 1, round, impact);
    report(CAROM_IMPACT_FOUND, &v, at.time, round, impact);
    lead next = advance(d, &v, cache, at.time);
    if (next.time <= at.time) return CAROM_NOT_CONVERGED;
    at = next;
  }
  return CAROM_NOT_CONVERGED;
}

// ---- the query -----------------------------------------------------------------------------------------------------

static bool finite_pose(carom_pose X) { return cm_finite(X.p) && isfinite(cm_qdot(X.q, X.q)); }

// Separations are sums of terms of these sizes, at times that are multiples of an ulp: no tolerance below is sensible.
static double resolution(const duel *d) {
  double speed = cm_norm(d->velocity) + d->a.rate * d->a.swing + d->b.rate * d->b.swing;
  return 16 * DBL_EPSILON * (d->size + cm_norm(d->delta) + speed);
}

static carom_status prepare(const mover *a, const mover *b, double tolerance, duel *d) {
  *d = (duel){.a = *a, .b = *b};
  measure(&d->a);
  measure(&d->b);
  d->delta = cm_sub(d->a.from.p, d->b.from.p);
  d->velocity = cm_sub(d->a.v, d->b.v);
  d->size = size_of(&d->a) + size_of(&d->b);
  d->within = fmax(tolerance > 0 ? tolerance : 1e-12 * d->size, resolution(d));
  d->target = d->within / 2;
  return isfinite(bend_edges(d, reach_from(d, 0))) ? CAROM_OK : CAROM_ERR_NUMBER;
}

static carom_status find(const mover *a, const mover *b, double tolerance, carom_ssh_cache *cache,
                         carom_impact_time *impact) {
  carom_ssh_cache own = {0};
  duel d;
  bool finite = finite_pose(a->from) && finite_pose(a->to) && finite_pose(b->from) && finite_pose(b->to);
  if (!finite || !isfinite(tolerance)) return CAROM_ERR_NUMBER;
  carom_status status = prepare(a, b, tolerance, &d);
  return status == CAROM_OK ? run(&d, cache ? cache : &own, impact) : status;
}

static bool finite_motion(const carom_motion *m) { return finite_pose(m->from) && finite_pose(m->to); }

static bool finite_twisting(const carom_twisting *m) {
  return finite_pose(m->from) && cm_finite(m->linear) && cm_finite(m->angular);
}

carom_status carom_time_of_impact(const carom_motion *a, const carom_motion *b, double tolerance,
                                  carom_ssh_cache *cache, carom_impact_time *impact) {
  if (!finite_motion(a) || !finite_motion(b)) return CAROM_ERR_NUMBER;
  mover x = mover_make(a), y = mover_make(b);
  return find(&x, &y, tolerance, cache, impact);
}

carom_status carom_time_of_impact_by_twists(const carom_twisting *a, const carom_twisting *b, double tolerance,
                                            carom_ssh_cache *cache, carom_impact_time *impact) {
  if (!finite_twisting(a) || !finite_twisting(b)) return CAROM_ERR_NUMBER;
  mover x = mover_of_twist(a), y = mover_of_twist(b);
  return find(&x, &y, tolerance, cache, impact);
}
