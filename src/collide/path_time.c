// As long as one direction n(t), which may turn with the bodies, keeps them on either side of a plane they are apart:
//
//     F(t) = min over x in A, y in B of  n(t) . (x(t) - y(t))  -  target |n(t)|  > 0.
//
// For fixed x and y the function under the minimum bends by at most K, so that between two times p and q it lies above
// its chord less K/2 (t - p)(q - t); the chords lie above the chord of F; hence so does F. F itself costs one support
// query on each body. Each round takes the plane of the nearest points, lets it stand still, turn with A, with B, or
// with an edge of each, and goes on to the latest time up to which one of them is proven to part the bodies. The one
// that turns with the features that will meet is short of the impact by the square of the time that was left, so that
// rounds converge quadratically. Where a corner passes an edge or a corner the plane of the nearest points turns fast;
// there the plane that the bodies would meet in if they went straight on, which a linear program finds (eq. 2.29 of
// Johnson 2012 with beta along the motion), leads on.
#include "collide/path_time.h"

#include <float.h>

#include "collide/difference.h"
#include "collide/guide.h"
#include "collide/support.h"

enum { MAX_ROUNDS = 1000, MAX_PROBES = 60 };

typedef struct chase {
  const carom_path_duel *duel;
  double found;   // level of separation at which an impact is found
  double target;  // planes are followed down to this one, below it
  int queries;
} chase;

static bool is_halfspace(const carom_shape *shape) { return shape->kind == CAROM_SHAPE_HALFSPACE; }

// Least n . x over the shape; a half-space is only ever asked along its own normal.
static double lowest(const carom_shape *shape, const carom_pose *pose, carom_vec3 n) {
  if (is_halfspace(shape)) return cm_dot(n, pose->p);
  carom_placed placed = {shape, *pose};
  carom_supporter supporter;
  int vertex;
  carom_supporter_place(&supporter, &placed);
  return cm_dot(n, cm_add(pose->p, carom_support_lowest(&supporter, n, &vertex)));
}

// F at a time.
static double clearance(const chase *c, const carom_guide *g, double t) {
  const carom_path_duel *d = c->duel;
  carom_pose a, b;
  d->poses(d->context, t, &a, &b);
  carom_vec3 m = carom_guide_direction(g, a.q, b.q);
  return lowest(d->a, &a, m) + lowest(d->b, &b, cm_neg(m)) - c->target * cm_norm(m);
}

// The latest time up to which the plane is proven to part the bodies.
static double follow(const chase *c, const carom_guide *g, double t) {
  const carom_path_duel *d = c->duel;
  double f = clearance(c, g, t), h = d->end - t, enough = 0.5 * (c->found - c->target);
  if (!(f > 0)) return t;
  if (g->bend > 0) h = fmin(h, 2 * sqrt(f / g->bend));
  for (int i = 0; i < MAX_PROBES && t < d->end; i++) {
    double q = t + h >= d->end ? d->end : t + h, next = clearance(c, g, q);
    double length = carom_safe_length(f, next, q - t, g->bend), fall = (f - next) / (q - t);
    double safe = length >= q - t ? q : t + length;
    if (!(safe > t)) return t;
    f = safe == q ? next : clearance(c, g, safe);
    t = safe;
    if (f <= enough) return t;
    h = fall > 0 ? 2 * f / fall : 4 * length;
    if (g->bend > 0) h = fmin(h, fmax(2 * sqrt(f / g->bend), fall < 0 ? -fall / g->bend : 0));
    h = fmax(h, 4 * DBL_EPSILON * d->end);
  }
  return t;
}

// The nearest points at a time.
typedef struct view {
  carom_vec3 n, point_a, point_b;
  double gap;
  int columns, vertex_a[3], vertex_b[3];  // that carry them; none in the plane
} view;

static view view_of(const carom_distance_result *r) {
  view v = {.n = r->normal, .point_a = r->point_a, .point_b = r->point_b, .gap = r->distance};
  v.columns = r->column_count;
  for (int i = 0; i < r->column_count; i++) v.vertex_a[i] = r->vertex_a[i], v.vertex_b[i] = r->vertex_b[i];
  return v;
}

// In a planar scene bodies of different heights may be nearest along z; the program in the plane then decides.
static carom_status look(chase *c, double t, carom_ssh_cache *cache, view *v) {
  const carom_path_duel *d = c->duel;
  carom_placed a = {.shape = d->a}, b = {.shape = d->b};
  carom_distance_result r;
  d->poses(d->context, t, &a.pose, &b.pose);
  c->queries++;
  carom_status status = carom_distance(&a, &b, cache, &r);
  if (status != CAROM_OK) return status;
  *v = view_of(&r);
  if (!d->planar || fabs(r.normal.z) <= 1e-6) return CAROM_OK;
  carom_ssh_options options = carom_ssh_default_options();
  carom_ssh_result plane;
  options.planar = true;
  status = carom_ssh(&a, &b, &options, NULL, &plane);
  if (status == CAROM_OK)
    *v = (view){plane.normal, plane.point_a, plane.point_b, plane.gap / cm_norm(plane.alpha), .columns = 0};
  return status;
}

// Distances of curved bodies are found by iteration, from above; how far they are apart along their normal is known to
// round-off, and is what planes are followed by.
static void trust_normal(const chase *c, double t, view *v) {
  enum { NOISE = 64 };  // in terms of `within`: what is more is not of the iteration
  const carom_path_duel *d = c->duel;
  if (carom_core_count(d->a) > 0 && carom_core_count(d->b) > 0) return;
  double along = clearance(c, &(carom_guide){.turns = CAROM_STILL, .n = v->n}, t) + c->target;
  if (along < v->gap && along > v->gap - NOISE * d->within) v->gap = along;
}

// The plane in which the bodies meet if they go on as now: that of the program with beta against the motion of A's
// nearest point relative to B's. False when they would pass by each other.
static bool look_ahead(chase *c, double t, const view *v, carom_vec3 *n) {
  const carom_path_duel *d = c->duel;
  double soon = fmin(d->end, t + fmax(1e-6 * d->end, 1e-3 * (d->end - t)));
  carom_placed a = {.shape = d->a}, b = {.shape = d->b};
  carom_pose a_soon, b_soon;
  d->poses(d->context, t, &a.pose, &b.pose);
  d->poses(d->context, soon, &a_soon, &b_soon);
  carom_vec3 on_a = cm_untransform(a.pose, v->point_a), on_b = cm_untransform(b.pose, v->point_b);
  carom_vec3 moved_a = cm_sub(cm_transform(a_soon, on_a), v->point_a);
  carom_vec3 moved_b = cm_sub(cm_transform(b_soon, on_b), v->point_b);
  carom_ssh_options options = carom_ssh_default_options();
  carom_ssh_result r;
  options.given_beta = true;
  options.planar = d->planar;
  options.beta = cm_sub(moved_b, moved_a);
  if (!(cm_norm2(options.beta) > 0)) return false;
  c->queries++;
  if (carom_ssh(&a, &b, &options, NULL, &r) != CAROM_OK || r.outcome != CAROM_SSH_SOLVED) return false;
  *n = r.normal;
  return true;
}

// Bodies that touch at the start: an impact is what brings them nearer still.
static void set_levels(chase *c, double gap) {
  double within = c->duel->within;
  c->found = within, c->target = 0.5 * within;
  if (gap > within) return;
  c->found = gap - within / 16, c->target = gap - within / 8;
}

// ---- planes to follow --------------------------------------------------------------------------------------------

enum { MOST_EDGES = 3 };

// Directions of edges between the vertices of the nearest feature; the only one of a capsule is its axis.
static int edges_of(const carom_shape *shape, int columns, const int *vertex, carom_vec3 *edges) {
  int count = 0;
  if (shape->kind == CAROM_SHAPE_CAPSULE) edges[count++] = cm_vec3(0, 0, 1);
  if (shape->kind != CAROM_SHAPE_POLYTOPE) return count;
  for (int i = 0; i < columns; i++)
    for (int j = i + 1; j < columns; j++)
      if (vertex[i] != vertex[j])
        edges[count++] = cm_unit(cm_sub(shape->polytope.vertices[vertex[j]], shape->polytope.vertices[vertex[i]]));
  return count;
}

// (n . (x - y))'' = n''.(x - y) + 2 n'.(x - y)' + n.(x - y)''.
static double turning_bend(const carom_path_duel *d, double rate, double second) {
  return d->bend + 2 * rate * d->speed + second * d->reach;
}

// The two edges whose plane is nearest to that of the nearest points.
static bool edge_guide(const carom_path_duel *d, const view *v, const carom_pose *a, const carom_pose *b,
                       carom_guide *g) {
  double rate = d->rate[0] + d->rate[1], second = d->turning[0] + d->turning[1] + 2 * d->rate[0] * d->rate[1];
  carom_vec3 on_a[MOST_EDGES], on_b[MOST_EDGES];
  int count_a = edges_of(d->a, v->columns, v->vertex_a, on_a), count_b = edges_of(d->b, v->columns, v->vertex_b, on_b);
  double best = 0.99;
  *g = (carom_guide){.turns = CAROM_WITH_EDGES, .bend = turning_bend(d, rate, second)};
  for (int i = 0; i < count_a * count_b; i++) {
    carom_guide trial = {.turns = CAROM_WITH_EDGES, .ea = on_a[i / count_b], .eb = on_b[i % count_b]};
    carom_vec3 m = carom_guide_direction(&trial, a->q, b->q);
    double along = cm_dot(m, v->n), length = cm_norm(m);
    if (!(fabs(along) > best * length) || !(length > 1e-2)) continue;  // parallel edges tell nothing of the plane
    best = fabs(along) / length;
    g->ea = along < 0 ? cm_neg(trial.ea) : trial.ea, g->eb = trial.eb;
  }
  return best > 0.99;
}

// As far as any plane leads from t. A half-space has but one, which stands still.
static double advance(chase *c, const view *v, double t, int round) {
  const carom_path_duel *d = c->duel;
  carom_guide still = {.turns = CAROM_STILL, .n = v->n, .bend = d->bend}, g;
  double next = follow(c, &still, t);
  bool turns = d->rate[0] > 0 || d->rate[1] > 0;
  if (round < 1 || next >= d->end || is_halfspace(d->a) || is_halfspace(d->b)) return next;
  carom_pose a, b;
  d->poses(d->context, t, &a, &b);
  if (turns) {
    g = (carom_guide){
        .turns = CAROM_WITH_A, .n = cm_unrotate(a.q, v->n), .bend = turning_bend(d, d->rate[0], d->turning[0])};
    next = fmax(next, follow(c, &g, t));
    g = (carom_guide){
        .turns = CAROM_WITH_B, .n = cm_unrotate(b.q, v->n), .bend = turning_bend(d, d->rate[1], d->turning[1])};
    next = fmax(next, follow(c, &g, t));
    if (edge_guide(d, v, &a, &b, &g)) next = fmax(next, follow(c, &g, t));
  }
  if (round >= 3 && look_ahead(c, t, v, &still.n)) next = fmax(next, follow(c, &still, t));
  return next;
}

carom_status carom_path_impact_time(const carom_path_duel *duel, const carom_distance_result *start,
                                    carom_ssh_cache *cache, carom_path_impact *impact) {
  chase c = {.duel = duel};
  view v;
  double t = 0;
  carom_status status = CAROM_OK;
  if (start)
    v = view_of(start);
  else
    status = look(&c, 0, cache, &v);
  if (status != CAROM_OK) return status;
  trust_normal(&c, t, &v);
  set_levels(&c, v.gap);
  for (int round = 0; round < MAX_ROUNDS; round++) {
    *impact = (carom_path_impact){false, t, v.gap, c.queries};
    if (t >= duel->end) return CAROM_OK;
    double next = advance(&c, &v, t, round);
    status = look(&c, next, cache, &v);
    if (status != CAROM_OK) return status;
    trust_normal(&c, next, &v);
    *impact = (carom_path_impact){v.gap <= c.found, next, v.gap, c.queries};
    if (impact->found) return CAROM_OK;
    if (!(next > t)) return CAROM_NOT_CONVERGED;
    t = next;
  }
  return CAROM_NOT_CONVERGED;
}
