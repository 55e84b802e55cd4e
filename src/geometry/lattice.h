// Closed surfaces as polygons over numbered vertices, and who meets whom across their edges.
#ifndef CAROM_SRC_GEOMETRY_LATTICE_H
#define CAROM_SRC_GEOMETRY_LATTICE_H

#include "carom/geometry.h"

// A borrowed view. Half-edge h starts at corners[h] and ends at the next corner of its face.
typedef struct carom_faces {
  int count;
  const int *start;    // (count + 1) offsets into corners
  const int *corners;  // (start[count]) counter-clockwise seen from outside
} carom_faces;

typedef struct carom_halfedges {
  int count;
  int *face;    // (count) whose boundary it is on
  int *next;    // (count) the one after it along that face
  int *twin;    // (count) the same edge seen from the other face
  int *sorted;  // (count) by lower, then higher vertex: pairs of twins, the one from lower to higher first
} carom_halfedges;

// The first edge at which a surface is not closed.
typedef struct carom_edge_fault {
  int v[2];
  int face;     // one of the faces there
  int forward;  // half-edges that run from v[0] to v[1]
  int backward;
} carom_edge_fault;

// Pairs the half-edges. CAROM_ERR_GEOMETRY and *fault when an edge is not met by exactly two faces in opposite
// directions; CAROM_ERR_MEMORY. Nothing is left allocated on failure.
carom_status carom_halfedges_create(const carom_faces *faces, int vertex_count, const carom_allocator *allocator,
                                    carom_halfedges *edges, carom_edge_fault *fault);
void carom_halfedges_destroy(carom_halfedges *edges, const carom_allocator *allocator);

// Stable counting sort: writes the items from[0 .. count-1] to `to`, ascending by key[item], which is in 0 ..
// key_count-1. Passes of it, the least important key first, order items by several keys in linear time and always in
// the same way. scratch: slot (key_count + 1)
void carom_sort_by(const int *key, int key_count, const int *from, int *to, int count, int *slot);

// Twice the area of a polygon along its normal (Newell's sum, taken about a corner to avoid cancellation).
carom_vec3 carom_newell(const carom_vec3 *vertices, const int *corners, int count);

#endif
