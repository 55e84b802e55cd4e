// Cages: convex polygons, fattened, and discs.
#include <math.h>
#include <string.h>

#include "control/navigate.h"

static const double LEAST = 1e-6, MOST = 1e6;  // m: of cages
static const double STRAIGHT = 1e-9;           // sine of a corner that is none
enum { TALL = 16 };                            // times as tall as wide: so that cages part sideways

// ---- what is wrong with them ----------------------------------------------------------------------------------------

static double side(const carom_cage *c, int i, double d[2]) {
  const double *p = c->corners[i], *q = c->corners[(i + 1) % c->count];
  d[0] = q[0] - p[0], d[1] = q[1] - p[1];
  return hypot(d[0], d[1]);
}

static carom_status check_corner(const carom_cage *c, int i, const char *name, double *turned, carom_error *error) {
  double d[2], e[2], length = side(c, i, d), next = side(c, (i + 1) % c->count, e);
  if (!(length >= LEAST))
    return carom_fail(error, CAROM_ERR_NUMBER, "%s: corners %d and %d of its cage are at the same place", name, i + 1,
                      (i + 1) % c->count + 1);
  double sine = (d[0] * e[1] - d[1] * e[0]) / (length * next), cosine = (d[0] * e[0] + d[1] * e[1]) / (length * next);
  if (!(sine > STRAIGHT))
    return carom_fail(error, CAROM_ERR_NOT_CONVEX,
                      "%s: its cage is not convex, or not counter-clockwise, at corner %d (%g, %g)", name,
                      (i + 1) % c->count + 1, c->corners[(i + 1) % c->count][0], c->corners[(i + 1) % c->count][1]);
  *turned += atan2(sine, cosine);
  return CAROM_OK;
}

carom_status carom_cage_check(const carom_cage *c, const char *name, carom_error *error) {
  double turned = 0;
  if (c->count != 0 && (c->count < 3 || c->count > CAROM_CAGE_CORNERS))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "%s: a cage has 3 to %d corners, or none for a disc, got %d", name,
                      CAROM_CAGE_CORNERS, c->count);
  if (!(c->radius >= (c->count > 0 ? 0 : LEAST) && c->radius <= MOST))
    return carom_fail(error, CAROM_ERR_NUMBER, "%s: the radius of its cage must be %s and at most %g m, got %g m", name,
                      c->count > 0 ? "0 or more" : "positive", MOST, c->radius);
  for (int i = 0; i < c->count; i++)
    if (!(fabs(c->corners[i][0]) <= MOST && fabs(c->corners[i][1]) <= MOST))
      return carom_fail(error, CAROM_ERR_NUMBER, "%s: corner %d of its cage is not finite, or farther than %g m off",
                        name, i + 1, MOST);
  for (int i = 0; i < c->count; i++) {
    carom_status status = check_corner(c, i, name, &turned, error);
    if (status != CAROM_OK) return status;
  }
  if (turned > 7)  // a star goes around twice
    return carom_fail(error, CAROM_ERR_NOT_CONVEX, "%s: its cage is not convex: its sides cross", name);
  return CAROM_OK;
}

// ---- shapes ---------------------------------------------------------------------------------------------------------

double carom_cage_reach(const carom_cage *c) {
  double far = 0;
  for (int i = 0; i < c->count; i++) far = fmax(far, hypot(c->corners[i][0], c->corners[i][1]));
  return far + c->radius;
}

carom_status carom_nav_shape(const carom_cage *c, const carom_allocator *allocator, const carom_shape **shape,
                             carom_error *error) {
  carom_vec3 points[2 * CAROM_CAGE_CORNERS];
  if (c->count == 0) return carom_shape_create_sphere(c->radius, allocator, shape, error);
  double height = TALL * carom_cage_reach(c);
  for (int i = 0; i < c->count; i++) {
    points[2 * i] = cm_vec3(c->corners[i][0], c->corners[i][1], -height);
    points[2 * i + 1] = cm_vec3(c->corners[i][0], c->corners[i][1], height);
  }
  const carom_shape *prism = NULL;
  carom_status status = carom_shape_create_hull(points, 2 * c->count, allocator, &prism, error);
  if (status != CAROM_OK || c->radius == 0) return *shape = prism, status;
  status = carom_shape_create_rounded(prism, c->radius, allocator, shape, error);
  carom_shape_release(prism);
  return status;
}

// ---- turning --------------------------------------------------------------------------------------------------------

// The corner r goes along an arc: how far it reaches along the direction, at most.
static double corner_swept(const double r[2], double angle, double turn, const double direction[2]) {
  double length = hypot(r[0], r[1]);
  double from = carom_nav_wrap(atan2(r[1], r[0]) + angle - atan2(direction[1], direction[0])), to = from + turn;
  double low = fmin(from, to), high = fmax(from, to), whole = 2 * acos(-1.0);
  bool passes = ceil(low / whole) * whole <= high;  // the direction itself
  return length * (passes ? 1 : fmax(cos(low), cos(high)));
}

double carom_nav_swept(const carom_cage *c, double angle, double turn, const double direction[2]) {
  double first = -INFINITY, most = -INFINITY;
  if (c->count == 0 || turn == 0) return 0;
  for (int i = 0; i < c->count; i++) {
    first = fmax(first, corner_swept(c->corners[i], angle, 0, direction));
    most = fmax(most, corner_swept(c->corners[i], angle, turn, direction));
  }
  return fmax(most - first, 0);
}

// ---- how far apart --------------------------------------------------------------------------------------------------

static carom_placed placed(const carom_nav_item *item, const double place[3]) {
  carom_quat q = item->cage.count == 0 ? cm_qidentity() : cm_quat(cos(0.5 * place[2]), 0, 0, sin(0.5 * place[2]));
  return (carom_placed){item->shape, cm_pose(cm_vec3(place[0], place[1], 0), q)};
}

static void discs_apart(const carom_nav_item *a, const double pa[3], const carom_nav_item *b, const double pb[3],
                        carom_nav_pair *pair) {
  double dx = pa[0] - pb[0], dy = pa[1] - pb[1], d = hypot(dx, dy);
  pair->gap = d - a->cage.radius - b->cage.radius;
  pair->normal[0] = d > 0 ? dx / d : 1, pair->normal[1] = d > 0 ? dy / d : 0;
  for (int k = 0; k < 2; k++) pair->at[k] = pb[k] + (b->cage.radius + 0.5 * pair->gap) * pair->normal[k];
}

// How far a cage at a place reaches along a unit direction.
static double support(const carom_cage *c, const double place[3], const double d[2]) {
  double cosine = cos(place[2]), sine = sin(place[2]), most = c->count > 0 ? -INFINITY : 0;
  double dx = cosine * d[0] + sine * d[1], dy = cosine * d[1] - sine * d[0];
  for (int i = 0; i < c->count; i++) most = fmax(most, dx * c->corners[i][0] + dy * c->corners[i][1]);
  return place[0] * d[0] + place[1] * d[1] + most + c->radius;
}

// The gap is that of the cages along the normal found, so that the plane parts them however well the oracle did.
void carom_nav_apart(const carom_nav_item *a, const double pa[3], const carom_nav_item *b, const double pb[3],
                     carom_nav_pair *pair) {
  if (a->cage.count == 0 && b->cage.count == 0) {
    discs_apart(a, pa, b, pb, pair);
    return;
  }
  carom_placed A = placed(a, pa), B = placed(b, pb);
  carom_distance_result r;
  if (carom_distance(&A, &B, NULL, &r) != CAROM_OK) r = (carom_distance_result){.normal = cm_vec3(1, 0, 0)};
  double length = hypot(r.normal.x, r.normal.y);
  pair->normal[0] = length > 0 ? r.normal.x / length : 1, pair->normal[1] = length > 0 ? r.normal.y / length : 0;
  const double back[2] = {-pair->normal[0], -pair->normal[1]};
  pair->gap = -support(&a->cage, pa, back) - support(&b->cage, pb, pair->normal);
  pair->at[0] = 0.5 * (r.point_a.x + r.point_b.x), pair->at[1] = 0.5 * (r.point_a.y + r.point_b.y);
}
