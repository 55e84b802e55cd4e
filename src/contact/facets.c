#include "contact/facets.h"

#include <math.h>

static const double ALIKE = 0.94;   // cosine: normals within 20 degrees of opposite
static const double SMOOTH = 1e-3;  // what sharpness is measured by: two that bend less count as equal
// The same of the triangles' own normals: what is seen from the side has no area to speak of.
static const double EDGE_ON = 0.25, OPEN = 0.5;
static const double SNAP = 1e-6;      // of a side's length: nearer to its line is on it
static const double NOTHING = 1e-14;  // of the smaller triangle: polygons below this are round-off
// Between the one's normal and the other's opposite: faces at right angles do not press on each other.
static const double SQUARE = 0.1, OPPOSITE = 0.4;
// Cosines between beta and the surfaces where they meet: below the one they do not press, beyond the other they do.
static const double ASKEW = 0.25, UPRIGHT = 0.5;

carom_facet carom_facet_of(carom_vec3 x, carom_vec3 y, carom_vec3 z) {
  carom_vec3 twice = cm_cross(cm_sub(y, x), cm_sub(z, x)), n = cm_unit(twice);
  return (carom_facet){.x = {x, y, z}, .normal = n, .at = {n, n, n}, .area = 0.5 * cm_norm(twice), .shrunk = 1};
}

// ---- the polygon, in the plane across beta --------------------------------------------------------------------------

typedef struct flat {
  double u, v;
} flat;

static double cross2(flat a, flat b) { return a.u * b.v - a.v * b.u; }
static flat minus2(flat a, flat b) { return (flat){a.u - b.u, a.v - b.v}; }

// Whose side the one from a corner to the next is: where sides lie on each other, of both.
typedef enum side_of { OF_A = 1, OF_B = 2, OF_BOTH = 3 } side_of;

typedef struct polygon {
  int count;
  flat corner[CAROM_FACET_POINTS];
  side_of side[CAROM_FACET_POINTS];
} polygon;

static void append(polygon *p, flat corner, side_of side) {
  if (p->count >= CAROM_FACET_POINTS) return;
  p->corner[p->count] = corner;
  p->side[p->count++] = side;
}

static flat crossing_of(flat a, flat b, double da, double db) {
  double t = da / (da - db);
  return (flat){a.u + t * (b.u - a.u), a.v + t * (b.v - a.v)};
}

// What of the polygon lies left of a side (Sutherland and Hodgman 1974). What is on its line but for round-off stays
// as it is: sides that lie on each other, as those of meshes alike do, would cross just anywhere.
static polygon clip(const polygon *p, flat from, flat to) {
  polygon kept = {.count = 0};
  flat along = minus2(to, from);
  double on = SNAP * (along.u * along.u + along.v * along.v);
  for (int i = 0; i < p->count; i++) {
    flat a = p->corner[i], b = p->corner[(i + 1) % p->count];
    double da = cross2(along, minus2(a, from)), db = cross2(along, minus2(b, from));
    bool along_it = fabs(da) <= on && fabs(db) <= on;
    if (da >= -on) append(&kept, a, da <= on && db < -on ? OF_B : along_it ? OF_BOTH : p->side[i]);
    if (da > on && db < -on) append(&kept, crossing_of(a, b, da, db), OF_B);
    if (da < -on && db > on) append(&kept, crossing_of(a, b, da, db), p->side[i]);
  }
  return kept;
}

typedef struct meeting {
  const carom_facet *a, *b;
  carom_vec3 beta, e1, e2, origin;
  flat fa[3], fb[3];  // corners in the plane
  double scale;       // areas at rest over those in the plane
  double share;       // how much of them is measured on A
} meeting;

static flat flatten(const meeting *m, carom_vec3 x) {
  carom_vec3 r = cm_sub(x, m->origin);
  return (flat){cm_dot(m->e1, r), cm_dot(m->e2, r)};
}

// Seen against beta B runs counter-clockwise, and A clockwise.
static polygon cover(const meeting *m) {
  polygon p = {.count = 0};
  append(&p, m->fa[0], OF_A);
  append(&p, m->fa[2], OF_A);
  append(&p, m->fa[1], OF_A);
  for (int i = 0; i < 3 && p.count > 0; i++) p = clip(&p, m->fb[i], m->fb[(i + 1) % 3]);
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

static double ramp(double value, double from, double to) { return fmax(0, fmin(1, (value - from) / (to - from))); }

static carom_vec3 normal_at(const carom_facet *f, const double weight[3]) {
  return cm_axpy(cm_axpy(cm_scale(weight[0], f->at[0]), weight[1], f->at[1]), weight[2], f->at[2]);
}

// Surfaces that are at right angles to beta where they meet do not press along it.
static double upright(const meeting *m, const carom_facet_point *p) {
  double a = -cm_dot(normal_at(m->a, p->weight_a), m->beta), b = cm_dot(normal_at(m->b, p->weight_b), m->beta);
  return ramp(fmin(a, b), ASKEW, UPRIGHT);
}

// Half of each side at either end, outwards; those of B count the other way. Measured on A at rest the area changes by
// B's sides alone, and on B by those of A.
static void go_round(const meeting *m, const polygon *p, carom_facet_point *points) {
  for (int i = 0; i < p->count; i++) points[i].rim = cm_zero3();
  for (int i = 0; i < p->count; i++) {
    int next = (i + 1) % p->count;
    flat side = minus2(p->corner[next], p->corner[i]);
    double share = 0.5 * ((p->side[i] & OF_A ? 1 - m->share : 0) - (p->side[i] & OF_B ? m->share : 0));
    carom_vec3 out = cm_axpy(cm_scale(share * side.v, m->e1), -share * side.u, m->e2);
    points[i].rim = cm_add(points[i].rim, out);
    points[next].rim = cm_add(points[next].rim, out);
  }
}

static void put_corner(const meeting *m, flat corner, carom_facet_point *p) {
  weigh(m->fa, corner, p->weight_a);
  weigh(m->fb, corner, p->weight_b);
  p->point_a = weighted(m->a, p->weight_a);
  p->point_b = weighted(m->b, p->weight_b);
  p->normal = m->beta;
  p->gap = cm_dot(m->beta, cm_sub(p->point_a, p->point_b));
  double weight = m->scale * upright(m, p);
  p->area *= weight;
  p->rim = cm_scale(weight, p->rim);
}

// ---- the pair -------------------------------------------------------------------------------------------------------

static double sharpness_of(const carom_facet *f) { return SMOOTH + fmax(f->sharp[0], fmax(f->sharp[1], f->sharp[2])); }

static double area_of(const flat corner[3]) {
  return 0.5 * fabs(cross2(minus2(corner[1], corner[0]), minus2(corner[2], corner[0])));
}

// Between the normals, nearer to that of the smoother surface.
static carom_vec3 between(const carom_facet *a, const carom_facet *b) {
  double sa = sharpness_of(a), sb = sharpness_of(b), share = sa / (sa + sb);
  return cm_unit(cm_axpy(cm_scale(share, b->normal), share - 1, a->normal));
}

// How much larger the triangles are at rest than they look along beta. The one that leans presses on the other.
static void find_scale(meeting *m) {
  double a = -cm_dot(m->a->normal, m->beta), b = cm_dot(m->b->normal, m->beta);
  double facing = -cm_dot(m->a->normal, m->b->normal);
  double open = ramp(fmin(a, b), EDGE_ON, OPEN) * ramp(facing, SQUARE, OPPOSITE), on_a = m->a->shrunk / fmax(a, EDGE_ON);
  m->share = (SMOOTH + 1 - a) / (2 * SMOOTH + 2 - a - b);
  m->scale = open * (m->share * on_a + (1 - m->share) * m->b->shrunk / fmax(b, EDGE_ON));
}

static meeting look(const carom_facet *a, const carom_facet *b, const carom_vec3 *beta) {
  meeting m = {.a = a, .b = b, .origin = a->x[0]};
  m.beta = between(a, b);
  if (carom_facets_face(a, b) == CAROM_FACING_ASKEW) m.beta = *beta;
  find_scale(&m);
  cm_frame(m.beta, &m.e1, &m.e2);
  for (int i = 0; i < 3; i++) m.fa[i] = flatten(&m, a->x[i]), m.fb[i] = flatten(&m, b->x[i]);
  return m;
}

carom_facing carom_facets_face(const carom_facet *a, const carom_facet *b) {
  double facing = -cm_dot(a->normal, b->normal);
  return facing > ALIKE ? CAROM_FACING_FLAT : facing > SQUARE ? CAROM_FACING_ASKEW : CAROM_FACING_AWAY;
}

int carom_facets_meet(const carom_facet *a, const carom_facet *b, const carom_vec3 *beta, carom_facet_point *points) {
  double area;
  meeting m = look(a, b, beta);
  if (!(m.scale > 0)) return 0;
  polygon p = cover(&m);
  if (p.count < 3) return 0;
  flat center = centroid_of(&p, &area);
  if (!(0.5 * area > NOTHING * fmin(area_of(m.fa), area_of(m.fb)))) return 0;
  share_out(&p, center, points);
  go_round(&m, &p, points);
  for (int i = 0; i < p.count; i++) put_corner(&m, p.corner[i], &points[i]);
  return p.count;
}
