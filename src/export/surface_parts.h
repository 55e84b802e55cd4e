// What the files that make surfaces share.
#ifndef CAROM_SRC_EXPORT_SURFACE_PARTS_H
#define CAROM_SRC_EXPORT_SURFACE_PARTS_H

#include "export/surface.h"

// Room for so many; with `normals`, for those too. False when out of memory, with nothing left allocated.
bool carom_surface_allocate(carom_surface *surface, int vertices, int faces, int corners, bool normals,
                            const carom_allocator *allocator);
// Appends the face number *face, a triangle when d < 0.
void carom_surface_add_face(carom_surface *surface, int *face, int a, int b, int c, int d);

// A polytope fattened by its radius.
bool carom_surface_of_rounded(carom_surface *surface, const carom_shape *shape, int detail,
                              const carom_allocator *allocator);

#endif
