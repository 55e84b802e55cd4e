// The surface of a shape as polygons, for the exporters.
#ifndef CAROM_SRC_EXPORT_SURFACE_H
#define CAROM_SRC_EXPORT_SURFACE_H

#include "carom/geometry.h"

// Faces are convex and counter-clockwise seen from outside. Round shapes carry the true normals at their vertices.
typedef struct carom_surface {
  int vertex_count, face_count, corner_count;
  carom_vec3 *vertices;  // (vertex_count) in the shape's frame
  carom_vec3 *normals;   // (vertex_count), or null for flat faces
  int *face_start;       // (face_count + 1)
  int *face_vertices;    // (corner_count)
} carom_surface;

// How finely: a half-space becomes a square with half sides `reach`, a sphere gets 4 `detail` facets around its axis.
typedef struct carom_surface_options {
  double reach;
  int detail;
} carom_surface_options;

bool carom_surface_create(carom_surface *surface, const carom_shape *shape, const carom_surface_options *options,
                          const carom_allocator *allocator);
void carom_surface_release(carom_surface *surface, const carom_allocator *allocator);

#endif
