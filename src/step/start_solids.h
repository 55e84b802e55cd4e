// Solids that deform, in one another or in rigid bodies at the start.
#ifndef CAROM_SRC_STEP_START_SOLIDS_H
#define CAROM_SRC_STEP_START_SOLIDS_H

#include "carom/step.h"
#include "contact/pairs.h"

// Is told of every pair of tetrahedra, or of a node and a part, that overlap by more than `typed` of the thinner one.
typedef struct carom_overlap_sink {
  void *context;
  void (*note)(void *context, const carom_overlap *overlap);
  double typed;
} carom_overlap_sink;

// Two solids overlap where tetrahedra of them do; a solid and a part where a node of the solid is in the part, or a
// corner or the centre of the part in a tetrahedron. Nodes may be in the body that holds them.
carom_status carom_start_look_at_solids(const carom_contacts *contacts, const carom_state *state,
                                        const carom_overlap_sink *sink, carom_error *error);

#endif
