// How deep solids are in each other, in rigid parts and in boundaries, by an independent look: corners of one inside
// the other, and how far they are from its surface. Edges that cross where no corner is inside are not seen.
#ifndef CAROM_SRC_MECHANICS_SOFT_OVERLAP_H
#define CAROM_SRC_MECHANICS_SOFT_OVERLAP_H

#include "mechanics/overlap.h"

typedef struct carom_soft_overlaps {
  carom_overlaps *rigid;
  const carom_model *model;
  carom_allocator allocator;
  double *thin, *size;  // (solid_count) least width and radius about the centre of mass, at rest, m
  double least;         // of all of them, m
  bool *chosen;         // (solid_count) which to look at
  carom_aabb *boxes;    // (solid_count) at the state that is looked at
  carom_vec3 *points;   // (point_count) that may be inside,
  int *next;            // and the next one in the same cell of
  int *head;            // a grid over where two boxes meet; -1: none
  int point_count;
} carom_soft_overlaps;

// `rigid` must outlive it.
carom_status carom_soft_overlaps_create(carom_overlaps *rigid, carom_soft_overlaps **soft, carom_error *error);
void carom_soft_overlaps_destroy(carom_soft_overlaps *soft);  // null is fine

// Depth over the least width of the thinner of two, of all pairs with a chosen solid or one of `bodies` (body_count;
// null: all). Solids are not asked about bodies that they are pinned to, nor about themselves. Allocates nothing.
void carom_soft_overlaps_measure(carom_soft_overlaps *soft, const carom_state *state, const bool *bodies,
                                 carom_finding *finding);

// Whether nothing was nearer to a solid than `reach` at either of two states, as far as boxes tell.
bool carom_soft_overlaps_alone(const carom_soft_overlaps *soft, const carom_state *before, const carom_state *state,
                               int solid, double reach);
// Whether a body may have come that near to a solid.
bool carom_soft_overlaps_near_body(const carom_soft_overlaps *soft, const carom_state *before, const carom_state *state,
                                   int body, double reach);

// Whether a solid and another, a body or a boundary of the world may touch, as far as boxes tell.
bool carom_soft_overlaps_meet(const carom_soft_overlaps *soft, const carom_state *state, int solid, int other,
                              double reach);

#endif
