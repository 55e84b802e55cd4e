// How a contact problem is shared out among MPI ranks. No MPI in here.
#ifndef CAROM_SRC_CONTACT_SOLVE_TAO_PARTS_H
#define CAROM_SRC_CONTACT_SOLVE_TAO_PARTS_H

#include "contact/solve/problem.h"

typedef struct carom_parts {
  const carom_contact_system *s;
  int rank, ranks;
  int *position;  // (bodies) place in the walk over movable bodies, -1 for others
  int *walk;      // (movable) bodies in that order; ranks own successive stretches of it
  int *stretch;   // (ranks + 1)
  int *items;     // own contacts and rows, ascending
  int item_count;
  int *unknowns;  // (ranks) numbers of unknowns
} carom_parts;

// All memory in one block from `memory` (carom_parts_bytes, zeroed).
size_t carom_parts_bytes(const carom_contact_system *s, int ranks);
void carom_parts_make(carom_parts *parts, const carom_contact_system *s, int rank, int ranks, void *memory);

int carom_parts_owner(const carom_parts *parts, int item);  // rank
int carom_parts_width(const carom_parts *parts, int item);  // unknowns of an item
// M^-1 of the wrenches of the own stretch of bodies, in place.
void carom_parts_mobility(const carom_parts *parts, double *wrenches);

#endif
