// The stages of the convex hull: qhull finds facets, merging turns them into maximal faces and finds vertices that
// are none, and hull.c repeats both until every vertex counts.
#ifndef CAROM_SRC_GEOMETRY_HULL_H
#define CAROM_SRC_GEOMETRY_HULL_H

#include "geometry/lattice.h"

// Of the extent: points nearer than this to a face are on it, as the public header states.
#define CAROM_HULL_TOLERANCE 1e-10

// Polygons that own their arrays.
typedef struct carom_cells {
  int count;
  int *start;    // (count + 1)
  int *corners;  // (start[count])
} carom_cells;

carom_status carom_cells_allocate(carom_cells *cells, int count, int corner_count, const carom_allocator *allocator);
void carom_cells_destroy(carom_cells *cells, const carom_allocator *allocator);
static inline carom_faces carom_cells_view(const carom_cells *cells) {
  carom_faces faces = {cells->count, cells->start, cells->corners};
  return faces;
}

// The facets of the hull of `count` points of unit size about the origin, as polygons all of the same orientation.
// `joggled` asks qhull to perturb its copy of the points instead of merging facets, which always ends in triangles.
// CAROM_ERR_GEOMETRY carries qhull's own message.
carom_status carom_qhull_facets(const carom_vec3 *points, int count, bool joggled, const carom_allocator *allocator,
                                carom_cells *cells, carom_error *error);

// Points whose facets are to be joined, and which of them are needed.
typedef struct carom_hull_points {
  const carom_vec3 *points;
  int count;
  double tolerance;
  double rounding;  // what the planes of the facets may have suffered
  bool *keep;       // (count) all true before
  int dropped;      // how many are not true any more
} carom_hull_points;

// Joins facets that lie in one plane within the tolerance and marks the vertices that are not needed: those inside a
// face or an edge, or within the tolerance of the line between their neighbours. Without such vertices *merged holds
// the faces; otherwise it is empty. Facets that are not convex are refused.
carom_status carom_hull_merge(carom_hull_points *points, const carom_cells *facets, const carom_allocator *allocator,
                              carom_cells *merged, carom_error *error);

#endif
