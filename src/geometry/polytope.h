// A shape from vertices and faces that are known already.
#ifndef CAROM_SRC_GEOMETRY_POLYTOPE_H
#define CAROM_SRC_GEOMETRY_POLYTOPE_H

#include "geometry/lattice.h"

// Copies all it needs. The faces must bound a convex polytope, which is checked as far as the lattice goes (closed,
// Euler); planes are computed from the vertices.
carom_status carom_polytope_create(const carom_vec3 *vertices, int vertex_count, const carom_faces *faces,
                                   const carom_allocator *allocator, const carom_shape **shape, carom_error *error);

// The vertex furthest along `direction`, found by climbing the vertex graph from `start`.
int carom_polytope_climb(const carom_polytope *polytope, carom_vec3 direction, int start);

// How far the polytope reaches behind a face, m. *near is any vertex before and the one furthest behind after: faces
// that are asked in turn find theirs close to the last.
double carom_polytope_width(const carom_polytope *polytope, int face, int *near);

#endif
