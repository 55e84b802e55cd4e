// The coat of a rounded polytope, integrated exactly. The points within r of a polytope, but outside it, are those
// whose nearest point is inside a face, inside an edge or at a vertex (Schneider 2014, Convex Bodies, 4.1: the parallel
// body):
//
//   face    a slab             y + t n,     y in the face, n its normal, 0 <= t <= r
//   edge    a cylinder sector  y + t u,     y on the edge, u on the arc between its two normals
//   vertex  a spherical sector v + t u,     u in the spherical polygon W of the normals at v
//
// In each, r = y + t u with y and u independent, so that all moments follow from those of y and of u. For W, whose
// sides are the arcs of the edges at v with the outward conormals e (the unit vectors along the edges, away from v),
//
//   int 1 = 2 pi - sum of the face angles at v                         (Descartes; Gauss and Bonnet)
//   int u = -1/2 sum |arc| e
//   int u u' = 1/3 (int 1) 1 - 1/6 sum (e s' + s e'),  s = int of u along the arc
//
// by Stokes's theorem on the sphere (Arvo 1995, "Applications of irradiance tensors", eq. 10, for n = 1 and 2). The
// vertex terms are sums over edges and faces, so no vertex needs to know its neighbours in order. The volume becomes
// Steiner's V + S r + M r^2 + 4/3 pi r^3.
#include <math.h>

#include "geometry/integrals.h"

typedef carom_real real;

typedef struct vec {
  real x[3];
} vec;

static vec from(carom_vec3 v, carom_vec3 o) {
  return (vec){{(real)v.x - (real)o.x, (real)v.y - (real)o.y, (real)v.z - (real)o.z}};
}
static vec combine(real p, vec a, real q, vec b) {
  return (vec){{p * a.x[0] + q * b.x[0], p * a.x[1] + q * b.x[1], p * a.x[2] + q * b.x[2]}};
}
static real dot(vec a, vec b) { return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2]; }
static vec cross(vec a, vec b) {
  return (vec){
      {a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}
static real length(vec a) { return sqrtl(dot(a, a)); }
static vec unit(vec a) { return combine(1 / length(a), a, 0, a); }
static real angle(vec a, vec b) { return atan2l(length(cross(a, b)), dot(a, b)); }

static void add_first(carom_integrals *s, real factor, vec a) {
  for (int i = 0; i < 3; i++) s->first[i] += factor * a.x[i];
}

// factor (a b' + b a'): with b = a twice the square.
static void add_second(carom_integrals *s, real factor, vec a, vec b) {
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) s->second[i][j] += factor * (a.x[i] * b.x[j] + b.x[i] * a.x[j]);
}

// ---- faces ------------------------------------------------------------------------------------------------------

// Over a triangle of area A with corners a, b, c and s = a + b + c:
//   int y = A s/3,   int y y' = A/12 (s s' + a a' + b b' + c c').
static void add_slab(carom_integrals *s, vec a, vec b, vec c, vec n, real r) {
  vec sum = combine(1, combine(1, a, 1, b), 1, c);
  real area = dot(n, cross(combine(1, b, -1, a), combine(1, c, -1, a))) / 2;
  s->volume += area * r;
  add_first(s, area * r / 3, sum);
  add_first(s, area * r * r / 2, n);
  add_second(s, area * r / 24, sum, sum);
  add_second(s, area * r / 24, a, a);
  add_second(s, area * r / 24, b, b);
  add_second(s, area * r / 24, c, c);
  add_second(s, area * r * r / 6, sum, n);
  add_second(s, area * r * r * r / 6, n, n);
}

// ---- vertices ---------------------------------------------------------------------------------------------------

// What a solid angle `part` of directions at v adds, save for the first and second moments of the directions.
static void add_solid_angle(carom_integrals *s, vec v, real part, real r) {
  real ball = part * r * r * r / 3, isotropic = part * r * r * r * r * r / 15;
  s->volume += ball;
  add_first(s, ball, v);
  add_second(s, ball / 2, v, v);
  for (int i = 0; i < 3; i++) s->second[i][i] += isotropic;
}

static void add_face(carom_integrals *s, const carom_polytope *p, int f, carom_vec3 o, real r) {
  const int *c = p->face_vertices + p->face_start[f];
  int count = p->face_start[f + 1] - p->face_start[f];
  vec n = unit(from(p->face_normals[f], cm_zero3())), first = from(p->vertices[c[0]], o);
  for (int i = 0; i < count; i++) {
    vec v = from(p->vertices[c[i]], o), next = from(p->vertices[c[(i + 1) % count]], o);
    vec last = from(p->vertices[c[(i + count - 1) % count]], o);
    if (i > 0 && i + 1 < count) add_slab(s, first, v, next, n, r);
    add_solid_angle(s, v, -angle(combine(1, next, -1, v), combine(1, last, -1, v)), r);
  }
}

// The arc's share at the vertex v; e points along the edge away from v, arc = int of u.
static void add_arc(carom_integrals *s, vec v, vec e, real phi, vec arc, real r) {
  real r4 = r * r * r * r;
  add_first(s, -phi * r4 / 8, e);
  add_second(s, -phi * r4 / 8, v, e);
  add_second(s, -r4 * r / 30, e, arc);
}

// ---- edges ------------------------------------------------------------------------------------------------------

// u = cos(t) n + sin(t) m for 0 <= t <= phi:  int u = sin(phi) n + (1 - cos(phi)) m, and
//   int u u' = (phi + sin cos)/2 n n' + (phi - sin cos)/2 m m' + sin^2/2 (n m' + m n').
static void add_edge(carom_integrals *s, const carom_polytope *p, const carom_polytope_edge *edge, carom_vec3 o,
                     real r) {
  vec a = from(p->vertices[edge->v[0]], o), b = from(p->vertices[edge->v[1]], o);
  vec n = unit(from(p->face_normals[edge->f[0]], cm_zero3()));
  vec other = unit(from(p->face_normals[edge->f[1]], cm_zero3())), tangent = cross(n, other);
  real phi = angle(n, other), sine = sinl(phi), cosine = cosl(phi), half = sinl(phi / 2);
  if (!(length(tangent) > 0)) return;  // coplanar to the last bit: no arc
  vec m = unit(combine(1, other, -dot(other, n), n)), arc = combine(sine, n, 2 * half * half, m);
  vec along = combine(1, b, -1, a), sum = combine(1, a, 1, b), e = unit(along);
  real L = length(along), area = phi * r * r / 2;
  s->volume += L * area;
  add_first(s, L * area / 2, sum);
  add_first(s, L * r * r * r / 3, arc);
  add_second(s, L * area / 12, sum, sum);
  add_second(s, L * area / 12, a, a);
  add_second(s, L * area / 12, b, b);
  add_second(s, L * r * r * r / 6, sum, arc);
  real r4 = L * r * r * r * r / 4;
  add_second(s, r4 * (phi + sine * cosine) / 4, n, n);
  add_second(s, r4 * (phi - sine * cosine) / 4, m, m);
  add_second(s, r4 * sine * sine / 2, n, m);
  add_arc(s, a, e, phi, arc, r);
  add_arc(s, b, combine(-1, e, 0, e), phi, arc, r);
}

void carom_integrate_coat(carom_integrals *s, const carom_polytope *polytope, carom_vec3 o, double radius) {
  const real two_pi = 6.28318530717958647692528676655900577L;
  for (int f = 0; f < polytope->face_count; f++) add_face(s, polytope, f, o, radius);
  for (int e = 0; e < polytope->edge_count; e++) add_edge(s, polytope, &polytope->edges[e], o, radius);
  for (int v = 0; v < polytope->vertex_count; v++) add_solid_angle(s, from(polytope->vertices[v], o), two_pi, radius);
}
