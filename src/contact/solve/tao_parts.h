// How a contact problem is shared out among MPI ranks, and a rank's part of the product with N. No MPI in here.
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
  int *local;     // (bodies) number among those that own items touch, -1 for others
  int *touched;   // (touched_count) these bodies
  int touched_count;
  double *wrench;  // (6 x touched_count) wrenches, then velocities
} carom_parts;

// All memory in one block from `memory` (carom_parts_bytes, zeroed).
size_t carom_parts_bytes(const carom_contact_system *s, int ranks);
void carom_parts_make(carom_parts *parts, const carom_contact_system *s, int rank, int ranks, void *memory);

int carom_parts_owner(const carom_parts *parts, int item);  // rank
int carom_parts_width(const carom_parts *parts, int item);  // unknowns of an item
// D x of own items into wrench; M^-1 of the own stretch of bodies, in place; D' v from wrench (holding velocities).
void carom_parts_push(carom_parts *parts, const double *x);
void carom_parts_mobility(const carom_parts *parts, double *wrenches);
void carom_parts_read(const carom_parts *parts, double *y);

#endif
