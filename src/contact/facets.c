#include "contact/facets.h"

#include <math.h>

static const double ALIKE = 0.94;    // cosine: normals within 20 degrees of opposite count as faces that lie on each other
static const double ASKEW = 0.05;     // cosine from which on surfaces begin to press on each other; at 0.5 they all do
static const double CROSSING = 1e-3;  // sine: edges that cross at less are measured along beta
static const double NOTHING = 1e-14;  // of the smaller triangle: polygons below this are round-off

carom_facet carom_facet_of(carom_vec3 x, carom_vec3 y, carom_vec3 z) {
  return (carom_facet){{x, y, z}, cm_unit(cm_cross(cm_sub(y, x), cm_sub(z, x)))};
}

// ---- the polygon, in the plane across beta --------------------------------------------------------------------------

typedef struct flat {
  double u, v;
} flat;

static double cross2(flat a, flat b) { return a.u * b.v - a.v * b.u; }
static flat minus2(flat a, flat b) { return (flat){a.u - b.u, a.v - b.v}; }

// Sides 0 to 2 are those of A (side i from corner i to i + 1), 3 to 5 those of B. A corner lies between the side before
// it and the side after it.
typedef struct polygon {
  int count;
  flat corner[CAROM_FACET_POINTS];
  int side[CAROM_FACET_POINTS];  // that leads from this corner to the next
} polygon;

static void append(polygon *p, flat corner, int side) {
  if (p->count >= CAROM_FACET_POINTS) return;
  p->corner[p->count] = corner;
  p->side[p->count++] = side;
}

static flat crossing_of(flat a, flat b, double da, double db) {
  double t = da / (da - db);
  return (flat){a.u + t * (b.u - a.u), a.v + t * (b.v - a.v)};
}

// What of the polygon lies left of a side (Sutherland and Hodgman 1974).
static polygon clip(const polygon *p, flat from, flat to, int side) {
  polygon kept = {.count = 0};
  flat along = minus2(to, from);
  for (int i = 0; i < p->count; i++) {
    flat a = p->corner[i], b = p->corner[(i + 1) % p->count];
    double da = cross2(along, minus2(a, from)), db = cross2(along, minus2(b, from));
    if (da >= 0) append(&kept, a, p->side[i]);
    if (da > 0 && db < 0) append(&kept, crossing_of(a, b, da, db), side);
    if (da == 0 && db < 0) kept.side[kept.count - 1] = side;
    if (da < 0 && db > 0) append(&kept, crossing_of(a, b, da, db), p->side[i]);
  }
  return kept;
}

typedef struct meeting {
  const carom_facet *a, *b;
  carom_vec3 beta, e1, e2, origin;
  flat fa[3], fb[3];  // corners in the plane
  bool alike;
} meeting;

static flat flatten(const meeting *m, carom_vec3 x) {
  carom_vec3 r = cm_sub(x, m->origin);
  return (flat){cm_dot(m->e1, r), cm_dot(m->e2, r)};
}

// Seen against beta B runs counter-clockwise, and A clockwise.
static polygon cover(const meeting *m) {
  polygon p = {.count = 0};
  append(&p, m->fa[0], 2);
  append(&p, m->fa[2], 1);
  append(&p, m->fa[1], 0);
  for (int i = 0; i < 3 && p.count > 0; i++) p = clip(&p, m->fb[i], m->fb[(i + 1) % 3], 3 + i);
  return p;
}

// ---- shares ---------------------------------------------------------------------------------------------------------

static flat centroid_of(const polygon *p, double *area) {
  flat sum = {0, 0};
  *area = 0;
  for (int i = 1; i + 1 < p->count; i++) {
    double twice = cross2(minus2(p->corner[i], p->corner[0]), minus2(p->corner[i + 1], p->corner[0]));
    sum.u += twice * (p->corner[0].u + p->corner[i].u + p->corner[i + 1].u) / 3;
    sum.v += twice * (p->corner[0].v + p->corner[i].v + p->corner[i + 1].v) / 3;
    *area += twice;
  }
  return *area > 0 ? (flat){sum.u / *area, sum.v / *area} : p->corner[0];
}

// Half of the triangles that a corner's two sides make with the centroid.
static void share_out(const polygon *p, flat center, carom_facet_point *points) {
  for (int i = 0; i < p->count; i++) points[i].area = 0;
  for (int i = 0; i < p->count; i++) {
    int next = (i + 1) % p->count;
    double quarter = 0.25 * fabs(cross2(minus2(p->corner[i], center), minus2(p->corner[next], center)));
    points[i].area += quarter;
    points[next].area += quarter;
  }
}

// ---- a corner in space ----------------------------------------------------------------------------------------------

// Weights of a point of the plane in a triangle of it.
static void weigh(const flat corner[3], flat x, double weight[3]) {
  double whole = cross2(minus2(corner[1], corner[0]), minus2(corner[2], corner[0]));
  weight[1] = cross2(minus2(x, corner[0]), minus2(corner[2], corner[0])) / whole;
  weight[2] = cross2(minus2(corner[1], corner[0]), minus2(x, corner[0])) / whole;
  weight[0] = 1 - weight[1] - weight[2];
}

static carom_vec3 weighted(const carom_facet *f, const double weight[3]) {
  return cm_axpy(cm_axpy(cm_scale(weight[0], f->x[0]), weight[1], f->x[1]), weight[2], f->x[2]);
}

static void measure_along(carom_facet_point *p, carom_vec3 normal) {
  p->normal = normal;
  p->gap = cm_dot(normal, cm_sub(p->point_a, p->point_b));
}

static void put_along_beta(const meeting *m, flat corner, carom_facet_point *p) {
  weigh(m->fa, corner, p->weight_a);
  weigh(m->fb, corner, p->weight_b);
  p->point_a = weighted(m->a, p->weight_a);
  p->point_b = weighted(m->b, p->weight_b);
  measure_along(p, m->beta);
}

// The weights of a point in the plane of a triangle in space.
static void weigh_in_space(const carom_facet *f, carom_vec3 x, double weight[3]) {
  carom_vec3 p = cm_sub(f->x[1], f->x[0]), q = cm_sub(f->x[2], f->x[0]), r = cm_sub(x, f->x[0]);
  carom_vec3 twice = cm_cross(p, q);
  double whole = cm_norm2(twice);
  weight[1] = cm_dot(twice, cm_cross(r, q)) / whole;
  weight[2] = cm_dot(twice, cm_cross(p, r)) / whole;
  weight[0] = 1 - weight[1] - weight[2];
}

static void take_corner(double weight[3], int corner) {
  for (int i = 0; i < 3; i++) weight[i] = i == corner;
}

// A corner of A over the face of B, or the other way round.
static void put_corner_of_a(const meeting *m, int corner, carom_facet_point *p) {
  take_corner(p->weight_a, corner);
  p->point_a = m->a->x[corner];
  p->gap = cm_dot(m->b->normal, cm_sub(p->point_a, m->b->x[0]));
  p->normal = m->b->normal;
  p->point_b = cm_axpy(p->point_a, -p->gap, p->normal);
  weigh_in_space(m->b, p->point_b, p->weight_b);
}

static void put_corner_of_b(const meeting *m, int corner, carom_facet_point *p) {
  take_corner(p->weight_b, corner);
  p->point_b = m->b->x[corner];
  p->gap = cm_dot(m->a->normal, cm_sub(p->point_b, m->a->x[0]));
  p->normal = cm_neg(m->a->normal);
  p->point_a = cm_axpy(p->point_b, -p->gap, m->a->normal);
  weigh_in_space(m->a, p->point_a, p->weight_a);
}

static void take_side(double weight[3], int side, double t) {
  weight[side] = 1 - t;
  weight[(side + 1) % 3] = t;
  weight[(side + 2) % 3] = 0;
}

// The nearest points of two lines. False when they hardly cross.
static bool put_edges(const meeting *m, int i, int j, carom_facet_point *p) {
  const carom_vec3 *a = m->a->x, *b = m->b->x;
  carom_vec3 d = cm_sub(a[(i + 1) % 3], a[i]), e = cm_sub(b[(j + 1) % 3], b[j]), r = cm_sub(b[j], a[i]);
  carom_vec3 across = cm_cross(d, e);
  double whole = cm_norm2(across);
  if (whole < CROSSING * CROSSING * cm_norm2(d) * cm_norm2(e)) return false;
  double s = cm_dot(cm_cross(r, e), across) / whole, t = cm_dot(cm_cross(r, d), across) / whole;
  take_side(p->weight_a, i, s);
  take_side(p->weight_b, j, t);
  p->point_a = weighted(m->a, p->weight_a);
  p->point_b = weighted(m->b, p->weight_b);
  carom_vec3 normal = cm_scale(1 / sqrt(whole), across);
  measure_along(p, cm_dot(normal, m->beta) < 0 ? cm_neg(normal) : normal);
  return true;
}

// Corner i lies between sides `before` and `after`; sides of A run backwards in the polygon.
static void put_corner(const meeting *m, flat corner, int before, int after, carom_facet_point *p) {
  if (m->alike) {
    put_along_beta(m, corner, p);
  } else if (before < 3 && after < 3) {
    put_corner_of_a(m, before, p);
  } else if (before >= 3 && after >= 3) {
    put_corner_of_b(m, after - 3, p);
  } else {
    int i = before < 3 ? before : after, j = before < 3 ? after - 3 : before - 3;
    if (!put_edges(m, i, j, p)) put_along_beta(m, corner, p);
  }
}

static double area_of(const flat corner[3]) {
  return 0.5 * fabs(cross2(minus2(corner[1], corner[0]), minus2(corner[2], corner[0])));
}

static meeting look_along_beta(const carom_facet *a, const carom_facet *b) {
  meeting m = {.a = a, .b = b, .beta = cm_unit(cm_sub(b->normal, a->normal)), .origin = a->x[0]};
  carom_vec3 side = cm_unit(cm_sub(b->x[1], b->x[0]));
  m.e1 = cm_unit(cm_axpy(side, -cm_dot(side, m.beta), m.beta));
  m.e2 = cm_cross(m.beta, m.e1);
  for (int i = 0; i < 3; i++) m.fa[i] = flatten(&m, a->x[i]), m.fb[i] = flatten(&m, b->x[i]);
  return m;
}

int carom_facets_meet(const carom_facet *a, const carom_facet *b, carom_facet_point *points) {
  double facing = -cm_dot(a->normal, b->normal), area, smaller;
  double weight = fmin(1, (facing - ASKEW) / (0.5 - ASKEW));  // surfaces at right angles do not press on each other
  if (!(weight > 0)) return 0;
  meeting m = look_along_beta(a, b);
  m.alike = facing > ALIKE;
  smaller = fmin(area_of(m.fa), area_of(m.fb));
  polygon p = cover(&m);
  if (p.count < 3) return 0;
  flat center = centroid_of(&p, &area);
  if (!(0.5 * area > NOTHING * smaller)) return 0;
  share_out(&p, center, points);
  for (int i = 0; i < p.count; i++) {
    put_corner(&m, p.corner[i], p.side[(i + p.count - 1) % p.count], p.side[i], &points[i]);
    points[i].area *= weight;
  }
  return p.count;
}
