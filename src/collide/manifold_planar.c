// The contact segment of two bodies in the plane z = 0. Of each shadow the points within `slop` of its supporting line
// make up a cap; along the line the caps cover intervals, and what these have in common is the contact. Its ends are
// carried back along the normal to both caps.
#include <float.h>

#include "collide/optimal_set.h"
#include "collide/outline.h"
#include "collide/round_points.h"
#include "collide/support.h"

// u along the supporting line, v outward from it.
typedef struct side {
  carom_stand body;
  carom_vec3 shift;    // its position minus that of A
  carom_vec3 outward;  // in the plane, away from its inside
  bool endless;        // a half-space
  double from, to;     // the interval of u
  carom_outline cap;   // empty for a half-space
} side;

typedef struct view {
  carom_vec3 normal, e;
  double slop, eps;
  side a, b;
} view;

static carom_vec3 flatten(carom_vec3 x) { return cm_vec3(x.x, x.y, 0); }

static carom_vec3 axis_of(const side *s) { return cm_vec3(s->body.R.m[0][2], s->body.R.m[1][2], s->body.R.m[2][2]); }

// ---- caps ----------------------------------------------------------------------------------------------------------

static carom_flat flat_of(const view *w, const side *s, carom_vec3 x) {
  return (carom_flat){cm_dot(w->e, x), cm_dot(s->outward, x)};
}

// A cap of more points than there is room for loses those that matter least.
static void add_to_cap(const view *w, side *s, carom_flat x) {
  if (s->cap.count == CAROM_OUTLINE_MAX) {
    carom_outline_hull(&s->cap, w->eps);
    carom_outline_reduce(&s->cap, CAROM_OUTLINE_MAX / 2, w->eps);
  }
  s->cap.at[s->cap.count++] = x;
}

static void cap_of_polytope(const view *w, side *s) {
  const carom_polytope *p = &s->body.shape->polytope;
  double reach = -DBL_MAX, radius = s->body.shape->radius;
  for (int i = 0; i < p->vertex_count; i++)
    reach = fmax(reach, cm_dot(s->outward, cm_add(s->shift, carom_stand_vertex(&s->body, i))));
  for (int i = 0; i < p->vertex_count; i++) {
    carom_flat x = flat_of(w, s, cm_add(s->shift, carom_stand_vertex(&s->body, i)));
    if (x.v >= reach - w->slop) add_to_cap(w, s, (carom_flat){x.u, x.v + radius});
  }
}

static void cap_of_curved(const view *w, side *s) {
  carom_vec3 points[CAROM_ROUND_MAX], local = cm_neg(cm_tmulv(s->body.R, s->outward));
  int count = carom_round_points(s->body.shape, local, w->slop, CAROM_RIM_MAX, points);
  for (int i = 0; i < count; i++) add_to_cap(w, s, flat_of(w, s, cm_add(s->shift, cm_mulv(s->body.R, points[i]))));
}

static void find_cap(const view *w, side *s) {
  s->cap.count = 0;
  s->from = -DBL_MAX, s->to = DBL_MAX;
  if (s->endless) return;
  if (s->body.shape->kind == CAROM_SHAPE_POLYTOPE)
    cap_of_polytope(w, s);
  else
    cap_of_curved(w, s);
  carom_outline_hull(&s->cap, w->eps);
  s->from = DBL_MAX, s->to = -DBL_MAX;
  for (int i = 0; i < s->cap.count; i++) s->from = fmin(s->from, s->cap.at[i].u), s->to = fmax(s->to, s->cap.at[i].u);
}

// ---- the segment ---------------------------------------------------------------------------------------------------

// How far out the body is at u: the highest edge of the cap over it. Both ends of the interval are corners.
static double height(const view *w, const side *s, double u) {
  carom_vec3 n = axis_of(s);
  if (s->endless) return (cm_dot(n, s->shift) - u * cm_dot(n, w->e)) / cm_dot(n, s->outward);
  double best = -DBL_MAX;
  for (int i = 0; i < s->cap.count; i++) {
    carom_flat p = s->cap.at[i], q = s->cap.at[i + 1 < s->cap.count ? i + 1 : 0];
    if (p.u == u) best = fmax(best, p.v);
    if ((p.u - u) * (q.u - u) < 0) best = fmax(best, p.v + (q.v - p.v) * ((u - p.u) / (q.u - p.u)));
  }
  return best;
}

static void add_point(const view *w, double on_a, double on_b, carom_manifold *m) {
  carom_vec3 origin = flatten(w->a.body.p);
  carom_vec3 a = cm_axpy(cm_scale(on_a, w->e), height(w, &w->a, on_a), w->a.outward);
  carom_vec3 b = cm_axpy(cm_scale(on_b, w->e), height(w, &w->b, on_b), w->b.outward);
  m->points[m->count++] = (carom_manifold_point){cm_add(origin, a), cm_add(origin, b), cm_dot(w->normal, cm_sub(a, b))};
}

// Two points where the intervals overlap, one where they only touch or pass by each other.
static void intersect(const view *w, carom_manifold *m) {
  double from = fmax(w->a.from, w->b.from), to = fmin(w->a.to, w->b.to);
  if (to - from > w->eps) {
    add_point(w, from, from, m);
    add_point(w, to, to, m);
  } else if (w->a.from > w->b.to) {
    add_point(w, w->a.from, w->b.to, m);
  } else if (w->b.from > w->a.to) {
    add_point(w, w->a.to, w->b.from, m);
  } else {
    double u = fmin(fmax(0.5 * (from + to), from), to);
    add_point(w, u, u, m);
  }
}

// A half-space has a shadow when its boundary stands upright, and a height when it faces the other body.
static bool stands(const side *s) {
  return !s->endless || (fabs(axis_of(s).z) <= 1e-9 && cm_dot(axis_of(s), s->outward) > 0.1);
}

static side side_of(const carom_placed *x, carom_vec3 shift, carom_vec3 outward) {
  side s = {.body = carom_stand_of(x), .shift = flatten(shift), .outward = outward};
  s.endless = x->shape->kind == CAROM_SHAPE_HALFSPACE;
  return s;
}

carom_status carom_contact_manifold_planar(const carom_placed *a, const carom_placed *b, carom_vec3 normal, double slop,
                                           carom_manifold *manifold) {
  view w = {.normal = flatten(normal)};
  if (!carom_pair_is_finite(a, b) || !cm_finite(normal) || !(cm_norm(w.normal) > 1e-12 * cm_norm(normal)) ||
      !(slop >= 0) || !isfinite(slop))
    return CAROM_ERR_NUMBER;
  w.normal = cm_unit(w.normal);
  w.e = cm_vec3(-w.normal.y, w.normal.x, 0);
  w.a = side_of(a, cm_zero3(), cm_neg(w.normal));
  w.b = side_of(b, cm_sub(b->pose.p, a->pose.p), w.normal);
  if ((w.a.endless && w.b.endless) || !stands(&w.a) || !stands(&w.b)) return CAROM_ERR_GEOMETRY;
  double size = (w.a.endless ? 0 : a->shape->bounding_radius) + (w.b.endless ? 0 : b->shape->bounding_radius);
  w.eps = 1e-10 * size;
  w.slop = fmax(slop, 1e-12 * size);
  find_cap(&w, &w.a);
  find_cap(&w, &w.b);
  manifold->normal = w.normal;
  manifold->count = 0;
  intersect(&w, manifold);
  return CAROM_OK;
}
