// How a contact problem is shared out among MPI ranks, and a rank's part of the product with N. No MPI in here.
#ifndef CAROM_SRC_CONTACT_SOLVE_TAO_PARTS_H
#define CAROM_SRC_CONTACT_SOLVE_TAO_PARTS_H

#include "contact/solve/problem.h"

typedef struct carom_contact_parts {
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
} carom_contact_parts;

// All memory in one block from `memory` (carom_contact_parts_bytes, zeroed).
size_t carom_contact_parts_bytes(const carom_contact_system *s, int ranks);
void carom_contact_parts_make(carom_contact_parts *parts, const carom_contact_system *s, int rank, int ranks,
                              void *memory);

int carom_contact_parts_owner(const carom_contact_parts *parts, int item);  // rank
int carom_contact_parts_width(const carom_contact_parts *parts, int item);  // unknowns of an item
// D x of own items into wrench; M^-1 of the own stretch of bodies, in place; D' v from wrench (holding velocities).
void carom_contact_parts_push(carom_contact_parts *parts, const double *x);
void carom_contact_parts_mobility(const carom_contact_parts *parts, double *wrenches);
void carom_contact_parts_read(const carom_contact_parts *parts, double *y);

#endif
