// Prisms against prisms in the plane, in closed form: parts against walls. The least separation of two convex polygons
// is that along a side of one of them where they overlap or a corner faces a side, else the distance of two corners.
// Contacts are the ends of the stretch that the sides facing each other share, each with its own gap.
#include <math.h>

#include "step/quasistatic/parts.h"

enum { CORNERS_MOST = 32 };        // of prisms that are taken; others are left to the oracle
static const double BLUR = 1e-8;   // of a figure: the nearest place is a contact of its own if it is nearer by more
static const double TIE = 1e-12;   // of both: corners as near as each other
static const double POINT = 1e-9;  // of a figure: a shorter stretch is a point

typedef struct figure {
  int count;
  carom_flat at[CORNERS_MOST];
  double size;
} figure;

// From B to A, with the places that are nearest.
typedef struct gap {
  double distance;
  carom_flat normal, on_a, on_b;
  bool faces;  // a side faces the other figure there
} gap;

static carom_flat sub(carom_flat a, carom_flat b) { return (carom_flat){a.u - b.u, a.v - b.v}; }
static carom_flat axpy(carom_flat a, double s, carom_flat b) { return (carom_flat){a.u + s * b.u, a.v + s * b.v}; }
static double dot(carom_flat a, carom_flat b) { return a.u * b.u + a.v * b.v; }

// Around a point, so that figures far away lose no digits.
static void place(const carom_quasi *s, int part, int body, carom_flat around, figure *f) {
  const carom_quasi_shadow *shadow = &s->shadows[part];
  carom_quasi_plane at = carom_quasi_plane_of(s, body);
  carom_flat off = sub(at.p, around);
  f->count = shadow->count;
  f->size = 0;
  for (int i = 0; i < f->count; i++) {
    carom_flat v = carom_quasi_turned(&at, shadow->at[i]);
    f->size = fmax(f->size, fabs(v.u) + fabs(v.v));
    f->at[i] = (carom_flat){v.u + off.u, v.v + off.v};
  }
}

// ---- the least separation -------------------------------------------------------------------------------------------

// Side k of f seen from another figure: how far that is beyond it, and where its nearest corners stand along the side.
typedef struct side_view {
  carom_flat start, out, along;
  double length, least;  // of the side; of the other's corners beyond it
  double low, high;      // the stretch of those that are as near, along the side
} side_view;

static side_view view(const figure *f, int k, const figure *to) {
  carom_flat a = f->at[k], e = sub(f->at[k + 1 < f->count ? k + 1 : 0], a);
  double length = sqrt(dot(e, e)), tie = TIE * (f->size + to->size);
  side_view v = {a, {e.v / length, -e.u / length}, {e.u / length, e.v / length}, length, INFINITY, INFINITY, -INFINITY};
  for (int i = 0; i < to->count; i++) v.least = fmin(v.least, dot(v.out, sub(to->at[i], a)));
  for (int i = 0; i < to->count; i++) {
    carom_flat d = sub(to->at[i], a);
    if (dot(v.out, d) > v.least + tie) continue;
    v.low = fmin(v.low, dot(v.along, d)), v.high = fmax(v.high, dot(v.along, d));
  }
  return v;
}

// Along the sides of f, whose outward normal is that of the gap if `sign` is 1 (f is B).
static void along_sides(const figure *f, const figure *to, double sign, gap *best) {
  for (int k = 0; k < f->count; k++) {
    side_view v = view(f, k, to);
    if (v.least <= best->distance) continue;
    double low = fmax(v.low, 0), high = fmin(v.high, v.length), at = low <= high ? 0.5 * (low + high) : v.low;
    carom_flat foot = axpy(v.start, at, v.along), c = axpy(foot, v.least, v.out);
    *best = (gap){v.least, {sign * v.out.u, sign * v.out.v}, sign > 0 ? c : foot, sign > 0 ? foot : c, low <= high};
  }
}

// Two corners, where no side faces the other figure.
static gap between_corners(const figure *a, const figure *b, const gap *sides) {
  gap best = *sides;
  best.distance = INFINITY;
  for (int i = 0; i < a->count; i++)
    for (int j = 0; j < b->count; j++) {
      carom_flat d = sub(a->at[i], b->at[j]);
      double length = sqrt(dot(d, d));
      if (length >= best.distance) continue;
      best = (gap){length, sides->normal, a->at[i], b->at[j], true};
      if (length > TIE * (a->size + b->size)) best.normal = (carom_flat){d.u / length, d.v / length};
    }
  return best;
}

static gap separation(const figure *a, const figure *b) {
  gap best = {.distance = -INFINITY};
  along_sides(b, a, 1, &best);
  along_sides(a, b, -1, &best);
  return best.distance <= 0 || best.faces ? best : between_corners(a, b, &best);
}

// ---- where they touch -----------------------------------------------------------------------------------------------

// What a figure shows the other: its boundary within `slop` of its lowest (sign 1) or highest (-1) corner along n.
typedef struct stretch {
  double low, high;  // along the tangent
} stretch;

static stretch shown(const figure *f, carom_flat n, double sign, double slop) {
  carom_flat t = {-n.v, n.u};
  stretch s = {INFINITY, -INFINITY};
  double lowest = INFINITY;
  for (int i = 0; i < f->count; i++) lowest = fmin(lowest, sign * dot(n, f->at[i]));
  for (int i = 0; i < f->count; i++) {
    if (sign * dot(n, f->at[i]) > lowest + slop) continue;
    double along = dot(t, f->at[i]);
    s.low = fmin(s.low, along), s.high = fmax(s.high, along);
  }
  return s;
}

// The boundary's height along n at a place along the tangent: the lowest (sign 1) or the highest there.
static carom_flat boundary(const figure *f, carom_flat n, double sign, double along) {
  carom_flat t = {-n.v, n.u}, found = f->at[0];
  double least = INFINITY;
  for (int k = 0; k < f->count; k++) {
    carom_flat a = f->at[k], b = f->at[k + 1 < f->count ? k + 1 : 0];
    double ta = dot(t, a), tb = dot(t, b), slack = 1e-12 * f->size;
    if (along < fmin(ta, tb) - slack || along > fmax(ta, tb) + slack) continue;
    double share = fabs(tb - ta) > slack ? fmin(fmax((along - ta) / (tb - ta), 0), 1) : 0;
    carom_flat p = axpy(a, share, sub(b, a));
    if (sign * dot(n, p) < least) least = sign * dot(n, p), found = p;
    if (fabs(tb - ta) <= slack && sign * dot(n, b) < least) least = sign * dot(n, b), found = b;
  }
  return found;
}

static gap at_place(const figure *a, const figure *b, carom_flat n, double along) {
  carom_flat pa = boundary(a, n, 1, along), pb = boundary(b, n, -1, along);
  double d = dot(n, sub(pa, pb));
  return (gap){d, n, axpy(pb, d, n), pb, true};
}

// The ends of the stretch that both show, and the nearest place if that is within it, as the tip of a corner is.
static int touching(const figure *a, const figure *b, const gap *nearest, double slop, gap *found) {
  carom_flat n = nearest->normal;
  stretch sa = shown(a, n, 1, slop), sb = shown(b, n, -1, slop);
  double low = fmax(sa.low, sb.low), high = fmin(sa.high, sb.high), size = fmin(a->size, b->size);
  found[0] = *nearest;
  if (!(high - low > POINT * size)) return 1;
  found[0] = at_place(a, b, n, low), found[1] = at_place(a, b, n, high);
  if (fmin(found[0].distance, found[1].distance) <= nearest->distance + BLUR * size) return 2;
  found[2] = *nearest;
  return 3;
}

static carom_contact contact_of(const carom_quasi *s, int index, const gap *g, carom_flat around) {
  carom_contact c = carom_contacts_blank(s->contacts, index);
  c.gap = g->distance;
  c.normal = cm_vec3(g->normal.u, g->normal.v, 0);
  c.point_a = cm_vec3(g->on_a.u + around.u, g->on_a.v + around.v, 0);
  c.point_b = cm_vec3(g->on_b.u + around.u, g->on_b.v + around.v, 0);
  return c;
}

int carom_quasi_prism_contacts(const carom_quasi *s, int index, const carom_contact_query *query,
                               carom_contact contacts[3]) {
  const carom_part_pair *pair = &s->contacts->pairs[index];
  const carom_quasi_shadow *one = &s->shadows[pair->part_a], *two = &s->shadows[pair->part_b];
  bool prisms = one->kind == CAROM_QUASI_PRISM && two->kind == CAROM_QUASI_PRISM;
  if (!prisms || one->count > CORNERS_MOST || two->count > CORNERS_MOST) return -1;
  figure a, b;
  gap found[3];
  carom_flat around = {s->at->x[pair->body_a].x, s->at->x[pair->body_a].y};
  place(s, pair->part_a, pair->body_a, around, &a);
  place(s, pair->part_b, pair->body_b, around, &b);
  gap nearest = separation(&a, &b);
  if (nearest.distance > query->reach) return 0;
  int count = touching(&a, &b, &nearest, query->slop, found);
  for (int i = 0; i < count; i++) contacts[i] = contact_of(s, index, &found[i], around);
  return count;
}
