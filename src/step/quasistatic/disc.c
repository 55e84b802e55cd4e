// Discs against prisms and discs in the plane, in closed form: probes against parts, which is most of what a push asks.
// The separation oracle gives the same distance, in some thirty times the time.
#include <math.h>

#include "model/size.h"
#include "step/quasistatic/parts.h"

static const double SAME = 1e-12;  // of a shape's size: corners above each other

// ---- what parts show in the plane -----------------------------------------------------------------------------------

// A part's frame as its body stands at the start: planar bodies turn about z from there.
static carom_pose stand(const carom_model *m, int body, int part) {
  carom_quat q = m->bodies[body].upright;
  return cm_compose(cm_pose(cm_zero3(), q), m->parts[part].pose);
}

static bool has_mirror(const carom_polytope *p, carom_pose at, int vertex, double size) {
  carom_vec3 v = cm_transform(at, p->vertices[vertex]);
  for (int i = 0; i < p->vertex_count; i++) {
    carom_vec3 w = cm_transform(at, p->vertices[i]);
    if (hypot(v.x - w.x, v.y - w.y) <= SAME * size && fabs(v.z + w.z) <= SAME * size && v.z * w.z < 0) return true;
  }
  return false;
}

// Corners below each other, at equal heights: its shadow is its section.
static bool is_prism(const carom_polytope *p, carom_pose at, double size) {
  if (p->vertex_count > CAROM_OUTLINE_MAX) return false;
  for (int i = 0; i < p->vertex_count; i++)
    if (!has_mirror(p, at, i, size)) return false;
  return true;
}

static void fill_prism(const carom_polytope *p, carom_pose at, double size, carom_quasi_shadow *shadow) {
  carom_outline o = {.count = 0};
  for (int i = 0; i < p->vertex_count; i++) {
    carom_vec3 v = cm_transform(at, p->vertices[i]);
    if (v.z > 0) o.at[o.count++] = (carom_flat){v.x, v.y};
  }
  carom_outline_hull(&o, SAME * size);
  if (o.count < 3) return;
  shadow->kind = CAROM_QUASI_PRISM;
  shadow->count = o.count;
  for (int i = 0; i < o.count; i++) shadow->at[i] = o.at[i];
}

static void fill_shadow(const carom_model *m, int body, int part, carom_quasi_shadow *shadow) {
  const carom_shape *shape = m->parts[part].shape;
  carom_shape_kind kind = carom_shape_get_kind(shape);
  const carom_polytope *p = carom_shape_polytope(shape);
  carom_pose at = stand(m, body, part);
  double size = carom_shape_bounding_radius(shape);
  bool upright = fabs(cm_rotate(at.q, cm_vec3(0, 0, 1)).z) > 1 - SAME;
  shadow->center = (carom_flat){at.p.x, at.p.y};
  bool level = fabs(at.p.z) <= SAME * size;
  if (level && (kind == CAROM_SHAPE_SPHERE || (kind == CAROM_SHAPE_CYLINDER && upright))) {
    shadow->kind = CAROM_QUASI_DISC;
    shadow->radius = kind == CAROM_SHAPE_SPHERE ? carom_shape_radius(shape) : carom_shape_half_axes(shape).x;
  } else if (kind == CAROM_SHAPE_POLYTOPE && p && carom_shape_radius(shape) == 0 && is_prism(p, at, size)) {
    fill_prism(p, at, size, shadow);
  }
}

void carom_quasi_push_shadows(carom_quasi *s, carom_arena *arena) {
  const carom_model *m = s->model;
  s->shadows = CAROM_PUSH(arena, carom_quasi_shadow, m->part_count);
  for (int i = 0; i < m->part_count && m->planar; i++) {
    const carom_polytope *p = carom_shape_polytope(m->parts[i].shape);
    carom_flat *at = CAROM_PUSH(arena, carom_flat, p ? p->vertex_count : 0);
    if (s->shadows) s->shadows[i].at = at;
  }
}

void carom_quasi_fill_shadows(carom_quasi *s) {
  const carom_model *m = s->model;
  for (int b = 0; b < m->body_count && m->planar; b++)
    for (int i = 0; i < m->bodies[b].part_count; i++)
      fill_shadow(m, b, m->bodies[b].part_start + i, &s->shadows[m->bodies[b].part_start + i]);
}

// ---- where they are -------------------------------------------------------------------------------------------------

carom_quasi_plane carom_quasi_plane_of(const carom_quasi *s, int body) {
  carom_quat turn = cm_qmul(s->at->q[body], cm_qconj(s->model->bodies[body].upright));
  double n = turn.w * turn.w + turn.z * turn.z;
  return (carom_quasi_plane){
      {s->at->x[body].x, s->at->x[body].y}, (turn.w * turn.w - turn.z * turn.z) / n, 2 * turn.w * turn.z / n};
}

static carom_flat turned_back(const carom_quasi_plane *f, carom_flat v) {
  return (carom_flat){f->c * v.u + f->s * v.v, f->c * v.v - f->s * v.u};
}

// ---- a point and a polygon ------------------------------------------------------------------------------------------

// The nearest place of a figure to a point: how far, < 0 inside, and the way out there (unit).
typedef struct nearest {
  double distance;
  carom_flat at, out;
} nearest;

static nearest from_point(carom_flat from, carom_flat to) {
  carom_flat d = {to.u - from.u, to.v - from.v};
  double length = hypot(d.u, d.v);
  carom_flat out = length > 0 ? (carom_flat){d.u / length, d.v / length} : (carom_flat){1, 0};
  return (nearest){length, from, out};
}

// Side k against the point: its line if the point is beside it, else the nearer end.
static nearest from_side(const carom_quasi_shadow *f, int k, carom_flat to) {
  carom_flat a = f->at[k], b = f->at[k + 1 < f->count ? k + 1 : 0], e = {b.u - a.u, b.v - a.v};
  double length = hypot(e.u, e.v), along = ((to.u - a.u) * e.u + (to.v - a.v) * e.v) / (length * length);
  carom_flat out = {e.v / length, -e.u / length};
  if (along < 0) return from_point(a, to);
  if (along > 1) return from_point(b, to);
  return (nearest){(to.u - a.u) * out.u + (to.v - a.v) * out.v, {a.u + along * e.u, a.v + along * e.v}, out};
}

// Inside it is the side that is nearest, outside the nearest place of all sides that the point is beyond.
static nearest from_polygon(const carom_quasi_shadow *f, carom_flat to) {
  nearest inside = {.distance = -INFINITY}, outside = {.distance = INFINITY};
  for (int k = 0; k < f->count; k++) {
    carom_flat a = f->at[k], b = f->at[k + 1 < f->count ? k + 1 : 0];
    bool beyond = (b.u - a.u) * (to.v - a.v) - (b.v - a.v) * (to.u - a.u) < 0;
    nearest side = from_side(f, k, to);
    if (beyond && side.distance < outside.distance) outside = side;
    if (!beyond && side.distance <= 0 && side.distance > inside.distance) inside = side;
  }
  return isfinite(outside.distance) ? outside : inside;
}

static nearest from_shadow(const carom_quasi_shadow *f, carom_flat to) {
  if (f->kind == CAROM_QUASI_PRISM) return from_polygon(f, to);
  nearest n = from_point(f->center, to);
  n.distance -= f->radius;
  n.at.u += f->radius * n.out.u, n.at.v += f->radius * n.out.v;
  return n;
}

// ---- contacts -------------------------------------------------------------------------------------------------------

// Of a disc with another figure: the places on both, and the way from the figure to the disc.
typedef struct meeting {
  double gap;
  carom_flat on_disc, on_other, out;
} meeting;

static meeting meet(const carom_quasi *s, const int part[2], const int body[2]) {
  const carom_quasi_shadow *disc = &s->shadows[part[0]], *other = &s->shadows[part[1]];
  carom_quasi_plane f = carom_quasi_plane_of(s, body[0]), g = carom_quasi_plane_of(s, body[1]);
  carom_flat c = carom_quasi_turned(&f, disc->center), seen = {f.p.u + c.u - g.p.u, f.p.v + c.v - g.p.v};
  nearest n = from_shadow(other, turned_back(&g, seen));
  carom_flat out = carom_quasi_turned(&g, n.out), at = carom_quasi_turned(&g, n.at);
  carom_flat center = {f.p.u + c.u, f.p.v + c.v};
  return (meeting){n.distance - disc->radius,
                   {center.u - disc->radius * out.u, center.v - disc->radius * out.v},
                   {g.p.u + at.u, g.p.v + at.v},
                   out};
}

bool carom_quasi_disc_contact(const carom_quasi *s, int index, carom_contact *c) {
  const carom_part_pair *pair = &s->contacts->pairs[index];
  carom_quasi_shadow_kind a = s->shadows[pair->part_a].kind, b = s->shadows[pair->part_b].kind;
  if (a == CAROM_QUASI_OTHER || b == CAROM_QUASI_OTHER) return false;
  if (a != CAROM_QUASI_DISC && b != CAROM_QUASI_DISC) return false;
  bool swap = a != CAROM_QUASI_DISC;
  meeting m = meet(s, (int[2]){swap ? pair->part_b : pair->part_a, swap ? pair->part_a : pair->part_b},
                   (int[2]){swap ? pair->body_b : pair->body_a, swap ? pair->body_a : pair->body_b});
  carom_vec3 disc = cm_vec3(m.on_disc.u, m.on_disc.v, 0), other = cm_vec3(m.on_other.u, m.on_other.v, 0);
  *c = carom_contacts_blank(s->contacts, index);
  c->gap = m.gap;
  c->normal = cm_scale(swap ? -1 : 1, cm_vec3(m.out.u, m.out.v, 0));
  c->point_a = swap ? other : disc, c->point_b = swap ? disc : other;
  return true;
}
