// From facets to faces. Facets grow into regions: from the largest on, each region takes in neighbours whose corners
// lie within the tolerance of its first facet's plane. A vertex where fewer than three regions meet lies inside a face
// or an edge and is not needed; nor is a corner that is reflex in its region, or nearly on the line between its
// neighbours. The caller finds the hull of what is left and comes back, so that the faces are always those of a hull
// of the remaining vertices and not the outcome of surgery.
#include <stdlib.h>

#include "base/memory.h"
#include "geometry/hull.h"

typedef struct plane {
  carom_vec3 normal;
  double offset;
} plane;

typedef struct sized {
  double area;
  int facet;
} sized;

typedef struct merger {
  const carom_vec3 *points;
  int point_count;
  carom_faces facets;
  carom_halfedges edges;
  double tolerance;
  double rounding;  // of the points for qhull's purposes
  int region_count;
  int *region;    // (facets) or -1
  int *stack;     // (facets)
  sized *order;   // (facets) largest first
  plane *planes;  // (facets) of each facet
  int *first;     // (regions, at most facets) a half-edge on the region's boundary
  int *stamp;     // (points) last region whose boundary passed here
  int *meet;      // (points) regions that meet here
  int *loop;      // (half-edges) scratch
} merger;

static void merger_destroy(merger *m, const carom_allocator *allocator) {
  carom_halfedges_destroy(&m->edges, allocator);
  CAROM_RELEASE_ALL(allocator, m->region, m->stack, m->order, m->planes, m->first, m->stamp, m->meet, m->loop);
}

static bool merger_allocate(merger *m, const carom_allocator *allocator) {
  size_t f = (size_t)m->facets.count, v = (size_t)m->point_count;
  return CAROM_NEW_ALL(allocator, CAROM_ROOM(m->region, f), CAROM_ROOM(m->stack, f), CAROM_ROOM(m->order, f),
                       CAROM_ROOM(m->planes, f), CAROM_ROOM(m->first, f), CAROM_ROOM(m->stamp, v),
                       CAROM_ROOM(m->meet, v), CAROM_ROOM(m->loop, m->edges.count));
}

// ---- regions ----------------------------------------------------------------------------------

static int larger_first(const void *a, const void *b) {
  const sized *x = a, *y = b;
  if (x->area != y->area) return x->area > y->area ? -1 : 1;
  return (x->facet > y->facet) - (x->facet < y->facet);
}

static void measure_facets(merger *m) {
  for (int f = 0; f < m->facets.count; f++) {
    const int *corners = m->facets.corners + m->facets.start[f];
    int count = m->facets.start[f + 1] - m->facets.start[f];
    carom_vec3 twice = carom_newell(m->points, corners, count);
    plane p = {cm_unit(twice), 0};
    for (int i = 0; i < count; i++) p.offset += cm_dot(p.normal, m->points[corners[i]]) / count;
    m->planes[f] = p;
    m->order[f] = (sized){cm_norm(twice) / 2, f};
  }
  qsort(m->order, (size_t)m->facets.count, sizeof *m->order, larger_first);
}

// Twice the area over the longest side: the height of a triangle, something alike for a polygon.
static double width_of(const merger *m, int facet) {
  const int *corners = m->facets.corners + m->facets.start[facet];
  int count = m->facets.start[facet + 1] - m->facets.start[facet];
  double longest = 0;
  for (int i = 0; i < count; i++)
    longest = fmax(longest, cm_norm(cm_sub(m->points[corners[(i + 1) % count]], m->points[corners[i]])));
  return longest > 0 ? cm_norm(carom_newell(m->points, corners, count)) / longest : 0;
}

// A facet no wider than the tolerance has no normal to speak of.
static bool is_sliver(const merger *m, int facet) { return width_of(m, facet) <= 4 * m->tolerance; }

static bool lies_in(const merger *m, int facet, plane p, double tolerance) {
  for (int h = m->facets.start[facet]; h < m->facets.start[facet + 1]; h++)
    if (fabs(cm_dot(p.normal, m->points[m->facets.corners[h]]) - p.offset) > tolerance) return false;
  return cm_dot(p.normal, m->planes[facet].normal) > 0 || is_sliver(m, facet);
}

// qhull may return facets that are far from flat or convex, where vertices are nearly coincident. Slivers are judged
// by their neighbours, and the plane of a narrow facet is known only so well a unit length away.
static bool facets_convex(const merger *m) {
  for (int f = 0; f < m->facets.count; f++) {
    if (is_sliver(m, f)) continue;
    plane p = m->planes[f];
    double allowed = m->tolerance + m->rounding / width_of(m, f);
    for (int h = m->facets.start[f]; h < m->facets.start[f + 1]; h++) {
      int g = m->edges.face[m->edges.twin[h]];
      for (int k = m->facets.start[g]; k < m->facets.start[g + 1]; k++)
        if (cm_dot(p.normal, m->points[m->facets.corners[k]]) - p.offset > allowed) return false;
    }
  }
  return true;
}

static void grow_region(merger *m, int seed, double tolerance) {
  int r = m->region_count++, depth = 0;
  m->region[seed] = r;
  m->stack[depth++] = seed;
  while (depth > 0) {
    int f = m->stack[--depth];
    for (int h = m->facets.start[f]; h < m->facets.start[f + 1]; h++) {
      int g = m->edges.face[m->edges.twin[h]];
      if (m->region[g] >= 0 || !lies_in(m, g, m->planes[seed], tolerance)) continue;
      m->region[g] = r;
      m->stack[depth++] = g;
    }
  }
}

static void grow_regions(merger *m, double tolerance) {
  m->region_count = 0;
  for (int f = 0; f < m->facets.count; f++) m->region[f] = -1;
  for (int i = 0; i < m->facets.count; i++)
    if (m->region[m->order[i].facet] < 0) grow_region(m, m->order[i].facet, tolerance);
}

// ---- boundaries -------------------------------------------------------------------------------

static int region_of(const merger *m, int h) { return m->region[m->edges.face[h]]; }
static bool on_boundary(const merger *m, int h) { return region_of(m, h) != region_of(m, m->edges.twin[h]); }

// The half-edge after h along the boundary of h's region: turn about the corner until the region ends.
static int next_on_boundary(const merger *m, int h) {
  int g = m->edges.next[h];
  while (!on_boundary(m, g)) g = m->edges.next[m->edges.twin[g]];
  return g;
}

// Every region must be a disc: one boundary loop, passing no vertex twice.
static bool regions_are_discs(merger *m) {
  int boundary = 0, walked = 0;
  for (int r = 0; r < m->region_count; r++) m->first[r] = -1;
  for (int v = 0; v < m->point_count; v++) m->stamp[v] = -1, m->meet[v] = 0;
  for (int h = 0; h < m->edges.count; h++) {
    if (!on_boundary(m, h)) continue;
    boundary++;
    if (m->first[region_of(m, h)] < 0) m->first[region_of(m, h)] = h;
  }
  for (int r = 0; r < m->region_count; r++) {
    int h = m->first[r];
    if (h < 0) return false;
    do {
      int v = m->facets.corners[h];
      if (m->stamp[v] == r) return false;
      m->stamp[v] = r;
      m->meet[v]++;
      walked++;
      h = next_on_boundary(m, h);
    } while (h != m->first[r]);
  }
  return walked == boundary;
}

// ---- vertices that are none -------------------------------------------------------------------

static int walk(const merger *m, int r, const bool *keep) {
  int count = 0, h = m->first[r];
  do {
    int v = m->facets.corners[h];
    if (keep[v]) m->loop[count++] = v;
    h = next_on_boundary(m, h);
  } while (h != m->first[r]);
  return count;
}

static double distance_to_segment(carom_vec3 p, carom_vec3 a, carom_vec3 b) {
  carom_vec3 ab = cm_sub(b, a), ap = cm_sub(p, a);
  double length2 = cm_norm2(ab), t = length2 > 0 ? cm_dot(ap, ab) / length2 : 0;
  return cm_norm(cm_axpy(ap, -fmin(fmax(t, 0), 1), ab));
}

// Corners of one region, numbered in m->loop. Next-door corners are never dropped in the same round: on a finely
// faceted curve each of them is near the line between its neighbours, but not all of them may go.
static int drop_flat_corners(const merger *m, int count, bool *keep) {
  int dropped = 0;
  carom_vec3 normal = carom_newell(m->points, m->loop, count);
  for (int i = 0; i < count; i++) {
    int u = m->loop[(i + count - 1) % count], v = m->loop[i], w = m->loop[(i + 1) % count];
    if (!keep[u] || !keep[v] || !keep[w]) continue;
    carom_vec3 a = m->points[u], b = m->points[v], c = m->points[w];
    bool reflex = cm_dot(cm_cross(cm_sub(c, a), cm_sub(b, a)), normal) >= 0;
    if (!reflex && distance_to_segment(b, a, c) > m->tolerance) continue;
    keep[v] = false;
    dropped++;
  }
  return dropped;
}

static int drop_vertices(const merger *m, bool *keep) {
  int dropped = 0;
  for (int v = 0; v < m->point_count; v++)
    if (m->meet[v] < 3) keep[v] = false, dropped++;
  for (int r = 0; r < m->region_count; r++) {
    int count = walk(m, r, keep);
    if (count >= 3) dropped += drop_flat_corners(m, count, keep);
  }
  return dropped;
}

static carom_status output(const merger *m, const bool *keep, const carom_allocator *allocator, carom_cells *merged) {
  int corners = 0;
  for (int v = 0; v < m->point_count; v++) corners += m->meet[v];
  carom_status status = carom_cells_allocate(merged, m->region_count, corners, allocator);
  if (status) return status;
  int at = 0;
  for (int r = 0; r < m->region_count; r++) {
    merged->start[r] = at;
    int count = walk(m, r, keep);
    for (int i = 0; i < count; i++) merged->corners[at++] = m->loop[i];
  }
  merged->start[m->region_count] = at;
  return CAROM_OK;
}

static carom_status merge(merger *m, const carom_allocator *allocator, bool *keep, int *dropped, carom_cells *merged,
                          carom_error *error) {
  measure_facets(m);
  if (!facets_convex(m)) return carom_fail(error, CAROM_ERR_GEOMETRY, "the facets of the hull are not convex");
  // A bump hardly higher than the tolerance can leave a region with a hole in it. Then a smaller tolerance decides;
  // at zero every facet is its own region unless it is coplanar to the last bit.
  double tolerance = m->tolerance;
  grow_regions(m, tolerance);
  while (!regions_are_discs(m)) {
    if (tolerance < 0)
      return carom_fail(error, CAROM_ERR_GEOMETRY, "the facets of the hull do not fit together into faces");
    tolerance = tolerance > 1e-18 ? tolerance / 8 : -1;
    grow_regions(m, tolerance);
  }
  *dropped = drop_vertices(m, keep);
  return *dropped ? CAROM_OK : output(m, keep, allocator, merged);
}

carom_status carom_hull_merge(carom_hull_points *points, const carom_cells *facets, const carom_allocator *allocator,
                              carom_cells *merged, carom_error *error) {
  merger m = {.points = points->points,
              .point_count = points->count,
              .facets = carom_cells_view(facets),
              .tolerance = points->tolerance,
              .rounding = points->rounding};
  carom_edge_fault fault;
  carom_status status = carom_halfedges_create(&m.facets, points->count, allocator, &m.edges, &fault);
  if (status == CAROM_ERR_GEOMETRY)
    return carom_fail(error, status, "the facets of the hull do not close at the edge between points %d and %d",
                      fault.v[0], fault.v[1]);
  if (!status && !merger_allocate(&m, allocator)) status = CAROM_ERR_MEMORY;
  if (!status) status = merge(&m, allocator, points->keep, &points->dropped, merged, error);
  if (status == CAROM_ERR_MEMORY) carom_fail(error, status, "out of memory for the faces of a hull");
  merger_destroy(&m, allocator);
  return status;
}
