// Convex hulls. Points are moved and scaled to unit size first, so that hulls of micrometres and of megametres, near
// the origin and far from it, take the same path; the vertices that come out are the caller's own numbers.
#include "geometry/hull.h"

#include <stdlib.h>

#include "base/memory.h"
#include "geometry/polytope.h"
#include "geometry/shape.h"
#include "geometry/weld.h"

#define ROUNDING 4 * 0x1p-52         // of the largest coordinate: what the caller's own rounding may have done
#define QHULL_ROUNDING 32 * 0x1p-52  // of unit points; joggled facets get no allowance, being the less certain
#define FLAT 10                      // solids thinner than this many tolerances are flat
enum { POINTS_MAX = 100000000, ROUNDS_MAX = 100, JOGGLED_FROM = 2000 };

typedef struct hull {
  const carom_vec3 *points;  // the caller's
  carom_bounds bounds;
  double tolerance;  // of the extent
  int count;         // points still in play
  carom_vec3 *unit;  // (count) about the origin, extent 1
  int *id;           // (count) their numbers in `points`, ascending
  bool *keep;        // (count) scratch
  int *map;          // (count) scratch
  carom_allocator allocator;
} hull;

static void hull_destroy(hull *h) { CAROM_RELEASE_ALL(&h->allocator, h->unit, h->id, h->keep, h->map); }

// Leaves only the points marked in keep, in order; map tells where each went.
static void compact(hull *h) {
  int kept = 0;
  for (int i = 0; i < h->count; i++) {
    h->map[i] = kept;
    if (!h->keep[i]) continue;
    h->unit[kept] = h->unit[i];
    h->id[kept++] = h->id[i];
  }
  h->count = kept;
}

static carom_status hull_prepare(hull *h, int count, carom_error *error) {
  if (!CAROM_NEW_ALL(&h->allocator, CAROM_ROOM(h->unit, count), CAROM_ROOM(h->id, count), CAROM_ROOM(h->keep, count),
                     CAROM_ROOM(h->map, count)))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the hull of %d points", count);
  for (int i = 0; i < count; i++) {
    carom_vec3 d = cm_sub(h->points[i], h->bounds.center);
    h->unit[i] = cm_vec3(d.x / h->bounds.extent, d.y / h->bounds.extent, d.z / h->bounds.extent);
    h->id[i] = i;
  }
  h->count = count;
  if (!carom_weld(h->unit, count, h->tolerance, &h->allocator, h->map))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the hull of %d points", count);
  for (int i = 0; i < count; i++) h->keep[i] = h->map[i] == i;
  compact(h);
  return CAROM_OK;
}

// ---- flat inputs ------------------------------------------------------------------------------

static int furthest_point(const hull *h, carom_vec3 from, double *distance) {
  int best = 0;
  *distance = -1;
  for (int i = 0; i < h->count; i++) {
    double d = cm_norm(cm_sub(h->unit[i], from));
    if (d > *distance) *distance = d, best = i;
  }
  return best;
}

static int furthest_from_line(const hull *h, carom_vec3 a, carom_vec3 direction, double *distance) {
  int best = 0;
  *distance = -1;
  for (int i = 0; i < h->count; i++) {
    double d = cm_norm(cm_cross(direction, cm_sub(h->unit[i], a)));
    if (d > *distance) *distance = d, best = i;
  }
  return best;
}

static double thickness_along(const hull *h, carom_vec3 a, carom_vec3 normal) {
  double low = 0, high = 0;
  for (int i = 0; i < h->count; i++) {
    double d = cm_dot(normal, cm_sub(h->unit[i], a));
    low = fmin(low, d);
    high = fmax(high, d);
  }
  return high - low;
}

// Spans a line by two points far apart, a plane by a third far from it, and asks how far the rest is from that.
static carom_status check_solid(const hull *h, int count, carom_error *error) {
  double extent = h->bounds.extent, flat = FLAT * h->tolerance, ignored, width;
  carom_vec3 a = h->unit[furthest_point(h, cm_zero3(), &ignored)];
  carom_vec3 b = h->unit[furthest_point(h, a, &ignored)];
  carom_vec3 ab = cm_unit(cm_sub(b, a));
  carom_vec3 c = h->unit[furthest_from_line(h, a, ab, &width)];
  if (width <= flat)
    return carom_fail(error, CAROM_ERR_GEOMETRY,
                      "the %d points lie on one line (width %.3g m of extent %.3g m); a solid needs at least four "
                      "points that are not in one plane",
                      count, width * extent, extent);
  double thickness = thickness_along(h, a, cm_unit(cm_cross(ab, cm_sub(c, a))));
  if (thickness <= flat)
    return carom_fail(error, CAROM_ERR_GEOMETRY,
                      "the %d points lie in one plane (thickness %.3g m of extent %.3g m); add points outside that "
                      "plane or give the plate a thickness above %.3g m",
                      count, thickness * extent, extent, flat * extent);
  return CAROM_OK;
}

// ---- one round --------------------------------------------------------------------------------

static void renumber(hull *h, carom_cells *cells) {
  int corners = cells->start[cells->count];
  for (int i = 0; i < h->count; i++) h->keep[i] = false;
  for (int k = 0; k < corners; k++) h->keep[cells->corners[k]] = true;
  compact(h);
  for (int k = 0; k < corners; k++) cells->corners[k] = h->map[cells->corners[k]];
}

// qhull's facets all turn the same way, but which way is its secret: the volume they enclose tells. (One facet's
// normal might not: a sliver's has no sure sign.)
static void turn_outward(const hull *h, carom_cells *cells) {
  double volume = 0;
  for (int f = 0; f < cells->count; f++) {
    const int *c = cells->corners + cells->start[f];
    volume += cm_dot(h->unit[c[0]], carom_newell(h->unit, c, cells->start[f + 1] - cells->start[f]));
  }
  if (volume >= 0) return;
  for (int f = 0; f < cells->count; f++)
    for (int i = cells->start[f], j = cells->start[f + 1] - 1; i < j; i++, j--) {
      int corner = cells->corners[i];
      cells->corners[i] = cells->corners[j];
      cells->corners[j] = corner;
    }
}

static carom_status one_round(hull *h, bool joggled, int *dropped, carom_cells *faces, carom_error *error) {
  carom_cells facets;
  carom_status status = carom_qhull_facets(h->unit, h->count, joggled, &h->allocator, &facets, error);
  if (status) return status;
  renumber(h, &facets);
  turn_outward(h, &facets);
  for (int i = 0; i < h->count; i++) h->keep[i] = true;
  carom_hull_points points = {h->unit, h->count, h->tolerance, joggled ? 0 : QHULL_ROUNDING, h->keep, 0};
  status = carom_hull_merge(&points, &facets, &h->allocator, faces, error);
  *dropped = points.dropped;
  carom_cells_destroy(&facets, &h->allocator);
  if (!status && *dropped) compact(h);
  return status;
}

// qhull's merged facets are the more exact, but it takes quadratic time for a facet with very many corners; joggled
// ones are all triangles. Either may fail where the other succeeds, and the outcome is judged in the same way.
// The loop ends because every round but the last drops a vertex; in practice after one or two.
static carom_status find_faces(hull *h, int count, carom_cells *faces, carom_error *error) {
  for (int round = 0; round < ROUNDS_MAX; round++) {
    int dropped = 0;
    bool joggled = h->count > JOGGLED_FROM;
    carom_status status = one_round(h, joggled, &dropped, faces, error);
    if (status == CAROM_ERR_GEOMETRY) status = one_round(h, !joggled, &dropped, faces, error);
    if (status || !dropped) return status;
    if (h->count < 4)
      return carom_fail(
          error, CAROM_ERR_GEOMETRY,
          "the %d points cannot be told from flat within %.3g m (extent %.3g m); give the solid a thickness", count,
          h->tolerance * h->bounds.extent, h->bounds.extent);
    status = check_solid(h, count, error);
    if (status) return status;
  }
  return carom_fail(
      error, CAROM_ERR_GEOMETRY,
      "the hull of %d points has more nearly coincident faces than can be told apart; thin out the points", count);
}

// ---- output -----------------------------------------------------------------------------------

typedef struct face_key {
  int first, second;  // no two faces share a directed edge, so these tell them apart
  int face;
} face_key;

static int by_corners(const void *a, const void *b) {
  const face_key *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->second > y->second) - (x->second < y->second);
}

// Starts every face at its lowest vertex and sorts the faces, so that the result does not depend on the order in
// which qhull happened to find them.
static carom_status put_in_order(const carom_cells *from, carom_cells *to, const carom_allocator *allocator) {
  face_key *keys = CAROM_NEW(allocator, face_key, from->count);
  carom_status status =
      keys ? carom_cells_allocate(to, from->count, from->start[from->count], allocator) : CAROM_ERR_MEMORY;
  int *lead = status ? NULL : CAROM_NEW(allocator, int, from->count);
  if (lead) {
    for (int f = 0; f < from->count; f++) {
      const int *c = from->corners + from->start[f];
      int n = from->start[f + 1] - from->start[f];
      for (int i = 1; i < n; i++)
        if (c[i] < c[lead[f]]) lead[f] = i;
      keys[f] = (face_key){c[lead[f]], c[(lead[f] + 1) % n], f};
    }
    qsort(keys, (size_t)from->count, sizeof *keys, by_corners);
    for (int f = 0, at = 0; f < from->count; f++) {
      int source = keys[f].face, n = from->start[source + 1] - from->start[source];
      for (int i = 0; i < n; i++) to->corners[at++] = from->corners[from->start[source] + (lead[source] + i) % n];
      to->start[f + 1] = at;
    }
  } else if (!status) {
    carom_cells_destroy(to, allocator);
    status = CAROM_ERR_MEMORY;
  }
  CAROM_RELEASE_ALL(allocator, lead, keys);
  return status;
}

static carom_status hull_output(const hull *h, const carom_cells *faces, const carom_shape **shape,
                                carom_error *error) {
  carom_cells ordered = {0};
  carom_vec3 *vertices = CAROM_NEW(&h->allocator, carom_vec3, h->count);
  carom_status status = vertices ? put_in_order(faces, &ordered, &h->allocator) : CAROM_ERR_MEMORY;
  if (!status) {
    for (int i = 0; i < h->count; i++) vertices[i] = h->points[h->id[i]];
    carom_faces view = carom_cells_view(&ordered);
    status = carom_polytope_create(vertices, h->count, &view, &h->allocator, shape, error);
  } else {
    carom_fail(error, status, "out of memory for a hull of %d vertices", h->count);
  }
  carom_cells_destroy(&ordered, &h->allocator);
  carom_release(&h->allocator, vertices);
  return status;
}

static carom_status check_points(const carom_vec3 *points, int count, carom_error *error) {
  if (count < 4 || !points)
    return carom_fail(error, CAROM_ERR_GEOMETRY, "a hull of %d points; a solid needs at least four", count);
  if (count > POINTS_MAX)
    return carom_fail(error, CAROM_ERR_LIMIT, "a hull of %d points; the limit is %d", count, POINTS_MAX);
  int bad = carom_find_bad_point(points, count);
  if (bad >= 0)
    return carom_fail(error, CAROM_ERR_NUMBER, "point %d is (%g, %g, %g); expected finite coordinates below %g m", bad,
                      points[bad].x, points[bad].y, points[bad].z, CAROM_LENGTH_MAX);
  return CAROM_OK;
}

carom_status carom_shape_create_hull(const carom_vec3 *points, int count, const carom_allocator *allocator,
                                     const carom_shape **shape, carom_error *error) {
  *shape = NULL;
  carom_status status = check_points(points, count, error);
  if (status) return status;
  hull h = {
      .points = points, .bounds = carom_bounds_of(points, count), .allocator = carom_allocator_or_default(allocator)};
  if (h.bounds.extent < CAROM_LENGTH_MIN)
    return carom_fail(error, CAROM_ERR_GEOMETRY, "the %d points coincide (extent %.3g m); a solid needs an extent",
                      count, h.bounds.extent);
  h.tolerance = CAROM_HULL_TOLERANCE + ROUNDING * h.bounds.largest / h.bounds.extent;
  carom_cells faces = {0};
  status = hull_prepare(&h, count, error);
  if (!status) status = check_solid(&h, count, error);
  if (!status) status = find_faces(&h, count, &faces, error);
  if (!status) status = hull_output(&h, &faces, shape, error);
  carom_cells_destroy(&faces, &h.allocator);
  hull_destroy(&h);
  return status;
}
