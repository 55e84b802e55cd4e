// A tetrahedron as a shape whose corners move: for solids that deform, which ask the separation oracle about one
// tetrahedron after the other. It belongs to one thread, and only the oracle may be asked: its planes are not kept.
#ifndef CAROM_SRC_GEOMETRY_TET_SHAPE_H
#define CAROM_SRC_GEOMETRY_TET_SHAPE_H

#include "geometry/shape.h"

carom_status carom_tet_shape_create(const carom_allocator *allocator, carom_shape **shape, carom_error *error);
// Puts the corners; returns where the shape then has to be placed.
carom_pose carom_tet_shape_put(carom_shape *shape, carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 d);

#endif
