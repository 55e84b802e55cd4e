// The Euclidean signed distance (Johnson 2012, eq. 2.28): with D = A - B and unit vectors n,
//
//     distance = max over n of  min over d in D of  n . d.
//
// Apart, that is the length of D's point of least norm (gjk.c); overlapping, minus the depth of the origin below the
// nearest facet of D (epa.c). Radii of spheres, capsules and rounded polytopes lower the minimum by the same amount for
// every n, so that they are subtracted from the distance of the cores, whatever its sign.
#include <float.h>

#include "base/simd.h"
#include "collide/again.h"
#include "collide/epa.h"

static double radius_of(const carom_shape *shape) { return carom_core_count(shape) > 0 ? shape->radius : 0; }

static bool is_thin(const carom_shape *shape) {
  return shape->kind == CAROM_SHAPE_SPHERE || shape->kind == CAROM_SHAPE_CAPSULE;
}

// ---- half-spaces ---------------------------------------------------------------------------------------------------

// A half-space leaves one direction: that of its normal.
static void halfspace_distance(const carom_placed *a, const carom_placed *b, carom_distance_result *r) {
  bool plane_is_a = a->shape->kind == CAROM_SHAPE_HALFSPACE;
  const carom_placed *plane = plane_is_a ? a : b;
  carom_supporter body;
  carom_supporter_place(&body, plane_is_a ? b : a);
  carom_vec3 up = cm_rotate(plane->pose.q, cm_vec3(0, 0, 1));
  int vertex;
  carom_vec3 x = carom_support_lowest(&body, up, &vertex), from_plane = cm_add(cm_sub(body.p, plane->pose.p), x);
  double height = cm_dot(up, from_plane);
  carom_vec3 point = cm_add(body.p, x), foot = cm_axpy(point, -height, up);
  *r = (carom_distance_result){.distance = height, .normal = plane_is_a ? cm_neg(up) : up, .iterations = 1};
  r->point_a = plane_is_a ? foot : point, r->point_b = plane_is_a ? point : foot;
  r->column_count = 1;
  r->vertex_a[0] = plane_is_a ? -1 : vertex, r->vertex_b[0] = plane_is_a ? vertex : -1;
  r->weight[0] = 1;
  r->feature_a = carom_feature_of(a->shape, r->vertex_a, 1), r->feature_b = carom_feature_of(b->shape, r->vertex_b, 1);
}

// ---- the answer ----------------------------------------------------------------------------------------------------

// Points, features and weights from columns; `core` is the signed distance of the cores.
static void fill(const carom_difference *D, double core, carom_vec3 normal, const carom_column *c, const double *w,
                 int count, carom_distance_result *r) {
  const carom_shape *a = D->a.shape, *b = D->b.shape;
  double radius_a = radius_of(a), radius_b = radius_of(b);
  *r = (carom_distance_result){.distance = core - radius_a - radius_b, .normal = normal, .iterations = D->queries};
  carom_vec3 xa = cm_scale(-radius_a, normal), xb = cm_scale(radius_b, normal);
  for (int i = 0; i < count; i++) {
    xa = cm_axpy(xa, w[i], carom_column_a(D, &c[i]));
    xb = cm_axpy(xb, w[i], carom_column_b(D, &c[i]));
    if (w[i] <= 16 * DBL_EPSILON) continue;
    int k = r->column_count++;
    r->vertex_a[k] = c[i].a, r->vertex_b[k] = c[i].b;
    r->weight[k] = w[i];
  }
  r->point_a = cm_add(D->a.p, xa), r->point_b = cm_add(D->b.p, xb);
  r->feature_a = carom_feature_of(a, r->vertex_a, r->column_count);
  r->feature_b = carom_feature_of(b, r->vertex_b, r->column_count);
  for (int k = 0; k < r->column_count; k++) {
    if (a->kind != CAROM_SHAPE_POLYTOPE) r->vertex_a[k] = -1;
    if (b->kind != CAROM_SHAPE_POLYTOPE) r->vertex_b[k] = -1;
  }
}

static void fill_apart(const carom_difference *D, const carom_simplex *s, carom_distance_result *r) {
  double norm = sqrt(s->norm2);
  fill(D, norm, cm_scale(1 / norm, s->p), s->c, s->w, s->count, r);
  r->duality_gap = fmax(0, norm - s->lowest / norm) / D->size;
}

static void fill_facet(const carom_difference *D, const carom_facet *f, carom_distance_result *r) {
  fill(D, -f->depth, cm_neg(f->normal), f->c, f->w, f->count, r);
  r->duality_gap = fmax(0, f->upper - f->lower) / D->size;
}

static carom_vec3 axis_of(const carom_supporter *s) {
  return s->shape->kind == CAROM_SHAPE_CAPSULE && s->shape->half_length > 0
             ? cm_vec3(s->R.m[0][2], s->R.m[1][2], s->R.m[2][2])
             : cm_zero3();
}

// Two points or segments that meet: D is flat, and the way out is normal to it.
static void fill_flat(const carom_difference *D, const carom_simplex *s, carom_distance_result *r) {
  carom_vec3 a = axis_of(&D->a), b = axis_of(&D->b), n = cm_cross(a, b), u, v;
  if (cm_norm(n) < 1e-8) {
    carom_vec3 axis = cm_norm2(a) > 0 ? a : cm_norm2(b) > 0 ? b : cm_vec3(1, 0, 0);
    cm_frame(cm_unit(axis), &u, &v);
    n = v;
  }
  int count = s->count > 3 ? 3 : s->count;
  fill(D, 0, cm_unit(n), s->c, s->w, count, r);
}

// ---- the query -----------------------------------------------------------------------------------------------------

// The columns of the last query that fit these bodies.
static void recall_simplex(carom_difference *D, const carom_ssh_cache *cache, carom_simplex *s) {
  int na = carom_core_count(D->a.shape), nb = carom_core_count(D->b.shape);
  for (int i = 0; cache && i < cache->count && i < 3; i++) {
    int a = cache->a[i], b = cache->b[i];
    if (a < 0 || b < 0 || a >= na || b >= nb) continue;
    s->c[s->count++] = carom_difference_column(D, a, b);
    D->a.last = a, D->b.last = b;
  }
}

// The column that lies lowest along the line from B's centre to A's.
static void look_between_centers(carom_difference *D, carom_simplex *s) {
  carom_vec3 line = carom_difference_center(D);
  carom_difference_spread(D);
  carom_difference_aim(D, line);
  s->c[s->count++] = carom_difference_lowest(D, line);
}

static bool is_large(const carom_shape *shape) {
  return shape->kind == CAROM_SHAPE_POLYTOPE && shape->radius == 0 && shape->lane_count > CAROM_SCAN_LIMIT;
}

// The first directions of GJK swing wildly when the bodies all but touch, and on large bodies every swing is a long
// climb. The linear program looks along the line of centres only, and its facet is near the nearest one: then it pays
// to begin there (Johnson 2012 does likewise, 2.5). Returns whether the bodies are proven to overlap.
static bool begin_from_program(carom_difference *D, const carom_placed *a, const carom_placed *b,
                               const carom_ssh_cache *cache, carom_simplex *s) {
  carom_ssh_result r;
  carom_ssh_cache basis = {0};
  if (cache) basis = *cache;
  bool near = is_large(a->shape) && is_large(b->shape) && cm_norm2(D->delta) < 1.3 * D->size * D->size;
  if (!near || carom_ssh(a, b, NULL, &basis, &r) != CAROM_OK || r.outcome != CAROM_SSH_SOLVED) return false;
  s->count = r.column_count;
  for (int i = 0; i < s->count; i++) s->c[i] = carom_difference_column(D, r.vertex_a[i], r.vertex_b[i]);
  carom_difference_begin_at(D, &s->c[0]);
  D->queries = r.pivots;
  return r.gap < -1e-9 * D->size * cm_norm(r.alpha);
}

static void keep_columns(const carom_column *c, int count, carom_ssh_cache *cache) {
  if (!cache) return;
  cache->count = count;
  for (int i = 0; i < count; i++) cache->a[i] = c[i].a, cache->b[i] = c[i].b;
}

static void found_overlap(carom_difference *D, const carom_simplex *s, carom_ssh_cache *cache,
                          carom_distance_result *result) {
  carom_facet facet;
  carom_epa(D, s, &facet, cache);
  fill_facet(D, &facet, result);
  keep_columns(facet.c, facet.count, cache);
}

static bool same_polytope(carom_difference *D, carom_ssh_cache *cache, carom_distance_result *result) {
  carom_facet facet;
  if (!cache || !carom_epa_again(D, &facet, cache)) return false;
  fill_facet(D, &facet, result);
  keep_columns(facet.c, facet.count, cache);
  return true;
}

// Where bodies touch, the way between them is round-off, and its direction any: bodies then reach past each other along
// it. The facet of D that the origin lies on has a normal of its own.
static bool is_spoilt(const carom_difference *D, const carom_simplex *s) {
  double norm = sqrt(s->norm2);
  return norm < 1e-6 * D->size && norm - s->lowest / norm > 1e-10 * D->size;
}

static void bounded_distance(carom_difference *D, const carom_placed *a, const carom_placed *b, carom_ssh_cache *cache,
                             carom_distance_result *result) {
  carom_simplex s;
  if (same_polytope(D, cache, result)) return;
  if (cache) cache->points = cache->faces = 0;
  s.count = 0;
  if (begin_from_program(D, a, b, cache, &s)) {
    found_overlap(D, &s, cache, result);
    return;
  }
  if (s.count == 0) recall_simplex(D, cache, &s);
  if (s.count == 0) look_between_centers(D, &s);
  carom_gjk_outcome outcome = carom_gjk(D, &s);
  if (outcome == CAROM_GJK_APART && !is_spoilt(D, &s)) {
    carom_simplex_polish(&s);
    fill_apart(D, &s, result);
    keep_columns(s.c, s.count, cache);
  } else if (is_thin(D->a.shape) && is_thin(D->b.shape)) {
    fill_flat(D, &s, result);
    keep_columns(s.c, s.count > 3 ? 3 : s.count, cache);
  } else {
    found_overlap(D, &s, cache, result);
  }
}

// Where curved bodies all but touch, distances of some 1e-12 of the size pin the normal down to no more than 1e-6, and
// along it the bodies reach past each other. The linear program along it finds the plane itself.
static void sharpen(const carom_difference *D, const carom_placed *a, const carom_placed *b, carom_distance_result *r) {
  bool near = fabs(r->distance) < 1e-6 * D->size;
  if (!near || !carom_difference_is_curved(D) || !(r->duality_gap > 4 * DBL_EPSILON)) return;
  carom_ssh_options options = carom_ssh_default_options();
  carom_ssh_result plane;
  options.given_beta = true, options.beta = r->normal;
  if (carom_ssh(a, b, &options, NULL, &plane) != CAROM_OK || plane.outcome != CAROM_SSH_SOLVED) return;
  double left = fmax(0, r->distance - plane.gap / cm_norm(plane.alpha)) / D->size;
  r->iterations += plane.pivots;
  if (left < r->duality_gap) r->normal = plane.normal, r->duality_gap = left;
}

CQ_APART carom_status find(const carom_placed *a, const carom_placed *b, carom_ssh_cache *cache,
                           carom_distance_result *result) {
  if (!carom_pair_is_finite(a, b)) return CAROM_ERR_NUMBER;
  bool plane_a = a->shape->kind == CAROM_SHAPE_HALFSPACE, plane_b = b->shape->kind == CAROM_SHAPE_HALFSPACE;
  if (plane_a && plane_b) return CAROM_ERR_GEOMETRY;
  if (plane_a || plane_b) {
    halfspace_distance(a, b, result);
    return CAROM_OK;
  }
  carom_difference D;
  carom_difference_place(&D, a, b);
  bounded_distance(&D, a, b, cache, result);
  sharpen(&D, a, b, result);
  return CAROM_OK;
}

carom_status carom_distance(const carom_placed *a, const carom_placed *b, carom_ssh_cache *cache,
                            carom_distance_result *result) {
  if (cache && carom_distance_again(a, b, cache, result)) return CAROM_OK;
  return find(a, b, cache, result);
}
