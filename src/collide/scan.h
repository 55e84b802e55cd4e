// The lowest of a few vertices along a direction, looking at all of them. On x86-64 with AVX2 four at a time, elsewhere
// one lane after the other; contraction is off, so both add up the same bits and give the same vertex.
#ifndef CAROM_SRC_COLLIDE_SCAN_H
#define CAROM_SRC_COLLIDE_SCAN_H

#include "carom/vec.h"

// Up to this many vertices all are looked at; above, climbing the vertex graph from the last answer is faster.
enum { CAROM_SCAN_LIMIT = 64 };

// Coordinates by axis; count is a multiple of CAROM_SHAPE_LANES. The lowest number wins among equals.
int carom_scan_lowest(const double *x, const double *y, const double *z, int count, carom_vec3 direction);

// Lowest of A along the direction and highest of B, as differences want it; the three axes of each lie
// CAROM_SCAN_LIMIT apart.
void carom_scan_both(const double *a, int count_a, const double *b, int count_b, carom_vec3 direction, int found[2]);

// to = R from, for arrays like the above.
void carom_scan_rotate(const carom_mat3 *R, const double *const from[3], int count, double *const to[3]);

#endif
