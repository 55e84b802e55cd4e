// The contact polygon. Along the normal each body shows an outline: the hull of its vertices within `slop` of its
// supporting plane. The contact polygon is what the two have in common; its corners are carried back along the normal
// to both surfaces.
#include <float.h>

#include "collide/optimal_set.h"
#include "collide/outline.h"
#include "collide/round_points.h"

typedef struct side {
  carom_stand body;
  carom_vec3 shift;       // its position minus that of A
  carom_vec3 outward;     // the normal, as the body sees it: away from its inside
  double reach;           // how far the body, or the core of a rounded one, extends along outward, from A's position
  double slop;            // how far back from there its outline looks
  double depth;           // along the normal
  carom_vec3 from, to;    // curved shapes: first and last point of the outline
  carom_outline outline;  // empty for a half-space, which has none
} side;

typedef struct view {
  carom_vec3 normal, e1, e2;
  double slop, eps;  // slop: as asked for; eps: lengths that round-off may blur
  side a, b;
} view;

// Of the depth along the normal: how far back outlines look at most, and how far apart edges that meet side by side may
// be, which would be taken for parallel where they cross if that were all the slop.
static const double DEEPEST_SLOP = 0.25, BESIDE = 5e-3;

// ---- outlines ------------------------------------------------------------------------------------------------------

static carom_flat flat_of(const view *w, carom_vec3 x) { return (carom_flat){cm_dot(w->e1, x), cm_dot(w->e2, x)}; }

static carom_vec3 vertex_of(const side *s, int i) { return cm_add(s->shift, carom_stand_vertex(&s->body, i)); }

// More vertices than there is room for: the furthest in as many directions of the plane.
static void outline_by_directions(const view *w, side *s) {
  for (int k = 0; k < CAROM_OUTLINE_MAX; k++) {
    double angle = 6.283185307179586 * k / CAROM_OUTLINE_MAX, best = -DBL_MAX;
    carom_vec3 direction = cm_add(cm_scale(cos(angle), w->e1), cm_scale(sin(angle), w->e2));
    for (int i = 0; i < s->body.shape->polytope.vertex_count; i++) {
      carom_vec3 x = vertex_of(s, i);
      if (cm_dot(s->outward, x) < s->reach - s->slop || cm_dot(direction, x) <= best) continue;
      best = cm_dot(direction, x);
      s->outline.at[k] = flat_of(w, x);
    }
  }
  s->outline.count = CAROM_OUTLINE_MAX;
}

// A slop beyond the far side of a thin body would take in that side's corners, whose hull hides the nearest ones.
static void reach_polytope(const view *w, side *s) {
  const carom_polytope *p = &s->body.shape->polytope;
  double back = DBL_MAX;
  s->reach = -DBL_MAX;
  for (int i = 0; i < p->vertex_count; i++) {
    double out = cm_dot(s->outward, vertex_of(s, i));
    s->reach = fmax(s->reach, out);
    back = fmin(back, out);
  }
  s->depth = s->reach - back + 2 * s->body.shape->radius;
  s->slop = fmin(w->slop, DEEPEST_SLOP * (s->reach - back));
}

static void outline_polytope(const view *w, side *s) {
  const carom_polytope *p = &s->body.shape->polytope;
  reach_polytope(w, s);
  int count = 0;
  for (int i = 0; i < p->vertex_count; i++) {
    carom_vec3 x = vertex_of(s, i);
    if (cm_dot(s->outward, x) < s->reach - s->slop) continue;
    if (count < CAROM_OUTLINE_MAX) s->outline.at[count] = flat_of(w, x);
    count++;
  }
  s->outline.count = count;
  if (count > CAROM_OUTLINE_MAX) outline_by_directions(w, s);
  carom_outline_hull(&s->outline, w->eps);
}

static carom_vec3 axis_of(const side *s) { return cm_vec3(s->body.R.m[0][2], s->body.R.m[1][2], s->body.R.m[2][2]); }

static void outline_curved(const view *w, side *s) {
  carom_vec3 points[CAROM_ROUND_MAX], local = cm_neg(cm_tmulv(s->body.R, s->outward));
  int count = carom_round_points(s->body.shape, local, w->slop, CAROM_RIM_MAX, points);
  s->outline.count = 0;
  s->reach = -DBL_MAX;
  s->depth = 2 * (s->body.shape->radius > 0 ? s->body.shape->radius : s->body.shape->bounding_radius);
  for (int i = 0; i < count && i < CAROM_OUTLINE_MAX; i++) {
    carom_vec3 x = cm_add(s->shift, cm_mulv(s->body.R, points[i]));
    s->reach = fmax(s->reach, cm_dot(s->outward, x));
    s->outline.at[s->outline.count++] = flat_of(w, x);
    if (i == 0) s->from = x;
    s->to = x;
  }
  carom_outline_hull(&s->outline, w->eps);
}

static void outline(const view *w, side *s) {
  s->outline.count = 0;
  if (s->body.shape->kind == CAROM_SHAPE_POLYTOPE)
    outline_polytope(w, s);
  else if (s->body.shape->kind != CAROM_SHAPE_HALFSPACE)
    outline_curved(w, s);
}

// ---- heights -------------------------------------------------------------------------------------------------------

// How far out a polytope's surface is at x, along outward: the nearest of the face planes that look that way.
static double height_polytope(const side *s, carom_vec3 x) {
  const carom_polytope *p = &s->body.shape->polytope;
  carom_vec3 local = cm_tmulv(s->body.R, cm_sub(x, s->shift)), out = cm_tmulv(s->body.R, s->outward);
  double height = DBL_MAX;
  for (int f = 0; f < p->face_count; f++) {
    double slope = cm_dot(p->face_normals[f], out);
    if (slope > 1e-6) height = fmin(height, (p->face_offsets[f] - cm_dot(p->face_normals[f], local)) / slope);
  }
  return fmin(fmax(height, s->reach - s->slop), s->reach) + s->body.shape->radius;
}

// Where the line through x along outward leaves a cylinder: through its side or its cap, whichever comes first.
static double height_cylinder(const side *s, carom_vec3 x) {
  carom_vec3 p = cm_tmulv(s->body.R, cm_sub(x, s->shift)), d = cm_tmulv(s->body.R, s->outward);
  carom_vec3 half = s->body.shape->half_axes;
  double a = d.x * d.x + d.y * d.y, b = p.x * d.x + p.y * d.y, c = p.x * p.x + p.y * p.y - half.x * half.x;
  double through_side = (sqrt(fmax(0, b * b - a * c)) - b) / a, through_cap = (copysign(half.z, d.z) - p.z) / d.z;
  return a < 1e-12 ? through_cap : fabs(d.z) < 1e-12 ? through_side : fmin(through_side, through_cap);
}

// On a face, or a strip of a side that is as good as a line, its surface; on a line, between its ends; else the lowest
// point. All that the outline shows is within the slop of the furthest point.
static double height_curved(const view *w, const side *s, carom_vec3 x, carom_flat at) {
  if (s->outline.count >= 3) {
    bool cylinder = s->body.shape->kind == CAROM_SHAPE_CYLINDER;
    double base = cm_dot(axis_of(s), cm_sub(s->from, x)) / cm_dot(axis_of(s), s->outward);
    return fmin(fmax(cylinder ? height_cylinder(s, x) : base, s->reach - w->slop), s->reach);
  }
  carom_flat from = flat_of(w, s->from), to = flat_of(w, s->to);
  double u = to.u - from.u, v = to.v - from.v, squared = u * u + v * v;
  if (!(squared > w->eps * w->eps)) return s->reach;
  double t = fmin(fmax(((at.u - from.u) * u + (at.v - from.v) * v) / squared, 0), 1);
  return cm_dot(s->outward, cm_lerp(s->from, s->to, t));
}

static double height_halfspace(const side *s, carom_vec3 x) {
  carom_vec3 n = axis_of(s);
  return cm_dot(n, cm_sub(s->shift, x)) / cm_dot(n, s->outward);
}

// The point of the body's surface over `at`, relative to the position of A.
static carom_vec3 surface(const view *w, const side *s, carom_flat at) {
  carom_vec3 x = cm_add(cm_scale(at.u, w->e1), cm_scale(at.v, w->e2));
  double h = s->body.shape->kind == CAROM_SHAPE_POLYTOPE    ? height_polytope(s, x)
             : s->body.shape->kind == CAROM_SHAPE_HALFSPACE ? height_halfspace(s, x)
                                                            : height_curved(w, s, x, at);
  return cm_axpy(x, h, s->outward);
}

// ---- the polygon ---------------------------------------------------------------------------------------------------

static void add_point(const view *w, carom_flat on_a, carom_flat on_b, carom_manifold *m) {
  carom_vec3 a = surface(w, &w->a, on_a), b = surface(w, &w->b, on_b), origin = w->a.body.p;
  m->points[m->count++] = (carom_manifold_point){cm_add(origin, a), cm_add(origin, b), cm_dot(w->normal, cm_sub(a, b))};
}

static void add_outline(const view *w, carom_outline *o, carom_manifold *m) {
  carom_outline_reduce(o, CAROM_MANIFOLD_MAX, w->eps);
  for (int i = 0; i < o->count; i++) add_point(w, o->at[i], o->at[i], m);
}

static void add_closest(const view *w, carom_manifold *m) {
  carom_flat on_a = {0, 0}, on_b = {0, 0};
  carom_outline_closest(&w->a.outline, &w->b.outline, &on_a, &on_b);
  add_point(w, on_a, on_b, m);
}

static void intersect(const view *w, carom_manifold *m) {
  const carom_outline *a = &w->a.outline, *b = &w->b.outline;
  carom_outline part = {.count = 0};
  carom_flat on_a[2], on_b[2];
  if (b->count >= 3 && (a->count < 3 || a->count <= b->count))
    carom_outline_clip(a, b, w->eps, &part);
  else if (a->count >= 3)
    carom_outline_clip(b, a, w->eps, &part);
  else if (a->count == 2 && b->count == 2) {
    double beside = fmin(w->slop, BESIDE * fmin(w->a.depth, w->b.depth));
    int count = carom_segments_meet(a, b, fmax(beside, w->eps), on_a, on_b);
    for (int k = 0; k < count; k++) add_point(w, on_a[k], on_b[k], m);
  }
  if (part.count > 0) add_outline(w, &part, m);
  if (m->count == 0) add_closest(w, m);  // outlines that pass by each other: the nearest points
}

static carom_status prepare(const carom_placed *a, const carom_placed *b, carom_vec3 normal, double slop, view *w) {
  bool half_a = a->shape->kind == CAROM_SHAPE_HALFSPACE, half_b = b->shape->kind == CAROM_SHAPE_HALFSPACE;
  bool finite = cm_finite(a->pose.p) && cm_finite(b->pose.p) && isfinite(cm_qdot(a->pose.q, a->pose.q)) &&
                isfinite(cm_qdot(b->pose.q, b->pose.q)) && cm_finite(normal) && cm_norm(normal) > 0;
  if (!finite || !(slop >= 0) || !isfinite(slop)) return CAROM_ERR_NUMBER;
  if (half_a && half_b) return CAROM_ERR_GEOMETRY;
  double size = (half_a ? 0 : a->shape->bounding_radius) + (half_b ? 0 : b->shape->bounding_radius);
  w->normal = cm_unit(normal);
  cm_frame(w->normal, &w->e1, &w->e2);
  w->eps = 1e-10 * size;
  w->slop = fmax(slop, 1e-12 * size);
  w->a.body = carom_stand_of(a), w->b.body = carom_stand_of(b);
  w->a.shift = cm_zero3(), w->b.shift = cm_sub(b->pose.p, a->pose.p);
  w->a.outward = cm_neg(w->normal), w->b.outward = w->normal;
  const side *plane = half_a ? &w->a : &w->b;
  carom_vec3 n = cm_vec3(plane->body.R.m[0][2], plane->body.R.m[1][2], plane->body.R.m[2][2]);
  return (half_a || half_b) && !(cm_dot(n, plane->outward) > 0.1) ? CAROM_ERR_GEOMETRY : CAROM_OK;
}

carom_status carom_contact_manifold(const carom_placed *a, const carom_placed *b, carom_vec3 normal, double slop,
                                    carom_manifold *manifold) {
  view w;
  carom_status status = prepare(a, b, normal, slop, &w);
  if (status != CAROM_OK) return status;
  outline(&w, &w.a);
  outline(&w, &w.b);
  manifold->normal = w.normal;
  manifold->count = 0;
  if (a->shape->kind == CAROM_SHAPE_HALFSPACE)
    add_outline(&w, &w.b.outline, manifold);
  else if (b->shape->kind == CAROM_SHAPE_HALFSPACE)
    add_outline(&w, &w.a.outline, manifold);
  else
    intersect(&w, manifold);
  return CAROM_OK;
}
