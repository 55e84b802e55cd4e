// Boxes around placed shapes.
#include <float.h>
#include <math.h>

#include "carom/collide.h"
#include "collide/broadphase_box.h"
#include "geometry/polytope.h"

// Up to this many vertices looking at each is quicker than six climbs.
enum { SCAN_VERTICES = 48 };

static carom_aabb uniform_box(double low, double high) {
  carom_aabb box = {cm_vec3(low, low, low), cm_vec3(high, high, high)};
  return box;
}

static carom_vec3 row(const carom_mat3 *R, int i) { return cm_vec3(R->m[i][0], R->m[i][1], R->m[i][2]); }

// Of numbers that are none of them NaN; fmin and fmax are calls.
static double lesser(double a, double b) { return a < b ? a : b; }
static double greater(double a, double b) { return a > b ? a : b; }

static carom_aabb scan(const carom_polytope *polytope, const carom_mat3 *R) {
  carom_aabb box = uniform_box(INFINITY, -INFINITY);
  for (int i = 0; i < polytope->vertex_count; i++) {
    carom_vec3 r = cm_mulv(*R, polytope->vertices[i]);
    box.low = cm_vec3(lesser(box.low.x, r.x), lesser(box.low.y, r.y), lesser(box.low.z, r.z));
    box.high = cm_vec3(greater(box.high.x, r.x), greater(box.high.y, r.y), greater(box.high.z, r.z));
  }
  return box;
}

// The support along a world axis e is that of the body along R' e, a row of R. Round-off may end a climb one vertex
// early where several are equally high, which costs a rounding error of the height and no more.
static void climb(const carom_polytope *polytope, carom_vec3 direction, int *from, double *low, double *high) {
  *from = carom_polytope_climb(polytope, direction, *from);
  *high = cm_dot(direction, polytope->vertices[*from]);
  int lowest = carom_polytope_climb(polytope, cm_neg(direction), *from);
  *low = cm_dot(direction, polytope->vertices[lowest]);
}

static carom_aabb polytope_box(const carom_polytope *polytope, const carom_mat3 *R) {
  if (polytope->vertex_count <= SCAN_VERTICES) return scan(polytope, R);
  carom_aabb box;
  int from = 0;
  climb(polytope, row(R, 0), &from, &box.low.x, &box.high.x);
  climb(polytope, row(R, 1), &from, &box.low.y, &box.high.y);
  climb(polytope, row(R, 2), &from, &box.low.z, &box.high.z);
  return box;
}

static carom_aabb symmetric_box(carom_vec3 half) {
  carom_aabb box = {cm_neg(half), half};
  return box;
}

static carom_aabb widen(carom_aabb box, double radius) {
  carom_vec3 by = cm_vec3(radius, radius, radius);
  carom_aabb wide = {cm_sub(box.low, by), cm_add(box.high, by)};
  return wide;
}

// A segment along the third column of R.
static carom_aabb segment_box(double half_length, const carom_mat3 *R) {
  return symmetric_box(cm_scale(half_length, cm_vec3(fabs(R->m[0][2]), fabs(R->m[1][2]), fabs(R->m[2][2]))));
}

// The support of an ellipsoid with half axes a along e is |diag(a) R' e|.
static carom_aabb ellipsoid_box(carom_vec3 half_axes, const carom_mat3 *R) {
  return symmetric_box(cm_vec3(cm_norm(cm_mul_diag(half_axes, row(R, 0))), cm_norm(cm_mul_diag(half_axes, row(R, 1))),
                               cm_norm(cm_mul_diag(half_axes, row(R, 2)))));
}

// A disc about the third column of R is an ellipsoid without a third axis; a cylinder is that disc along a segment.
static carom_aabb cylinder_box(carom_vec3 half_axes, const carom_mat3 *R) {
  carom_aabb disc = ellipsoid_box(cm_vec3(half_axes.x, half_axes.y, 0), R), axis = segment_box(half_axes.z, R);
  carom_aabb box = {cm_add(disc.low, axis.low), cm_add(disc.high, axis.high)};
  return box;
}

// The hull of the apex and the base.
static carom_aabb cone_box(carom_vec3 half_axes, const carom_mat3 *R) {
  carom_aabb disc = ellipsoid_box(cm_vec3(half_axes.x, half_axes.y, 0), R);
  carom_vec3 axis = cm_vec3(R->m[0][2], R->m[1][2], R->m[2][2]);
  carom_vec3 apex = cm_scale(1.5 * half_axes.z, axis), base = cm_scale(-0.5 * half_axes.z, axis);
  carom_aabb point = {apex, apex}, foot = {cm_add(base, disc.low), cm_add(base, disc.high)};
  return carom_box_union(&point, &foot);
}

// Below n.r = 0 with n the third column of R. The box is bounded only when n is a coordinate axis, up to what a
// quarter turn written as a quaternion leaves of round-off (2 eps here; 8 allowed).
static carom_aabb halfspace_box(const carom_mat3 *R) {
  const double tiny = 8 * DBL_EPSILON;
  double nx = R->m[0][2], ny = R->m[1][2], nz = R->m[2][2];
  carom_aabb box = uniform_box(-INFINITY, INFINITY);
  if (fabs(ny) <= tiny && fabs(nz) <= tiny) *(nx > 0 ? &box.high.x : &box.low.x) = 0;
  if (fabs(nx) <= tiny && fabs(nz) <= tiny) *(ny > 0 ? &box.high.y : &box.low.y) = 0;
  if (fabs(nx) <= tiny && fabs(ny) <= tiny) *(nz > 0 ? &box.high.z : &box.low.z) = 0;
  return box;
}

// Of the core, without the ball that fattens it.
static carom_aabb core_box(const carom_shape *shape, const carom_mat3 *R) {
  switch (carom_shape_get_kind(shape)) {
    case CAROM_SHAPE_POLYTOPE:
      return polytope_box(carom_shape_polytope(shape), R);
    case CAROM_SHAPE_SPHERE:
      return uniform_box(0, 0);
    case CAROM_SHAPE_CAPSULE:
      return segment_box(carom_shape_half_length(shape), R);
    case CAROM_SHAPE_HALFSPACE:
      return halfspace_box(R);
    case CAROM_SHAPE_ELLIPSOID:
      return ellipsoid_box(carom_shape_half_axes(shape), R);
    case CAROM_SHAPE_CYLINDER:
      return cylinder_box(carom_shape_half_axes(shape), R);
    case CAROM_SHAPE_CONE:
      return cone_box(carom_shape_half_axes(shape), R);
  }
  return uniform_box(NAN, NAN);
}

carom_aabb carom_aabb_of(const carom_placed *placed) {
  carom_vec3 p = placed->pose.p;
  carom_quat q = placed->pose.q;
  // fmin, fmax and comparisons would hide a NaN here and there; the broad phase must see it.
  if (!cm_finite(p) || !isfinite(cm_qdot(q, q))) return uniform_box(NAN, NAN);
  carom_mat3 R = cm_rotation(q);
  carom_aabb box = widen(core_box(placed->shape, &R), carom_shape_radius(placed->shape));
  box.low = cm_add(box.low, p);
  box.high = cm_add(box.high, p);
  return box;
}
