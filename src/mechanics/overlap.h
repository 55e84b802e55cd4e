// Which bodies are in each other, and which passed through each other: by the separation oracle at a state, and by
// sweeps between two. Nothing here asks an integrator.
#ifndef CAROM_SRC_MECHANICS_OVERLAP_H
#define CAROM_SRC_MECHANICS_OVERLAP_H

#include "carom/contact.h"
#include "contact/grains.h"
#include "contact/pairs.h"
#include "mechanics/finding.h"

typedef struct carom_overlaps {
  const carom_model *model;
  carom_allocator allocator;
  carom_contacts *pairs;     // near parts; of grains only what does not move is asked about
  carom_grain_grid grid;     // balls of about one size
  bool grains;               // the grid is used
  int *ball;                 // (grid.count) bodies
  double *thickness;         // (part_count) least width, m; infinite for half-spaces
  double *thin;              // (body_count) of its thinnest part
  double *reach;             // (body_count) scratch
  double least;              // of all moving bodies and parts of fixed ones
  const carom_shape *probe;  // a point
  bool blind;                // memory for looking was refused: what was found is not all
} carom_overlaps;

carom_status carom_overlaps_create(const carom_model *model, const carom_allocator *allocator,
                                   carom_overlaps **overlaps, carom_error *error);
void carom_overlaps_destroy(carom_overlaps *overlaps);  // null is fine

// Depth over the least width of the thinner of two, of all near pairs with at least one body of `chosen` (body_count;
// null: all). Allocates only when there are more pairs than ever before.
void carom_overlaps_measure(carom_overlaps *overlaps, const carom_state *state, const bool *chosen,
                            carom_finding *finding);

// What passed between two states that are a step apart: for pairs that moved more than half their least width against
// each other, the depth on the straight way, likewise. `met` tells which pairs had a contact on the way.
typedef struct carom_passage {
  const carom_state *from, *to;
  const double *travel;  // (body_count) how far any point of a body got, m
  const double *stray;   // (body_count) how far it may have been off the straight way, m
  const carom_contact_event *events;
  int event_count;
} carom_passage;
void carom_overlaps_sweep(carom_overlaps *overlaps, const carom_passage *passage, carom_finding *finding);

// How deep a ball (or, of radius 0, a point) is in the boundaries, m; -infinity where there are none.
double carom_overlaps_in_boundaries(const carom_overlaps *overlaps, const carom_state *state, carom_vec3 x,
                                    double radius);

// How far a point of the world is from the surface of a body (or, for CAROM_WORLD, the nearest boundary), m.
double carom_overlaps_to_surface(const carom_overlaps *overlaps, const carom_state *state, int body, carom_vec3 point);

#endif
