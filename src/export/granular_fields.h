// Fields of granular matter on a regular grid, frame by frame: what the exporter writes.
//
// Volumes are found by points spread evenly over each shape, once; a part carries its exact volume, and a part that
// lies in one cell gives it all to that. Stress is that of Irving and Kirkwood (1950): a contact's force times its
// branch vector, spread along the branch; or, where contacts are too many to be told one by one, the sum of both halves
// of the branches of each grain, spread over the grain.
#ifndef CAROM_SRC_EXPORT_GRANULAR_FIELDS_H
#define CAROM_SRC_EXPORT_GRANULAR_FIELDS_H

#include "carom/collide.h"
#include "carom/export.h"

// Sums over the frames of a window.
typedef struct carom_granular_cell {
  double volume;                       // m3 of grains
  carom_vec3 flux;                     // volume times velocity of the matter
  double grains, contacts, residence;  // of the grains whose centre lies here
  carom_mat3 stress;                   // Pa, compression positive; index as sigma_ij = sum f_i l_j / V
} carom_granular_cell;

typedef struct carom_granular_grid {
  carom_vec3 low, size;  // size of a cell
  int n[3], count;
} carom_granular_grid;

typedef struct carom_granular_samples {
  carom_vec3 *points;  // in the shape's frame
  int count;
  double volume;  // of the shape, m3; 0 for half-spaces, which are no grains
} carom_granular_samples;

typedef struct carom_granular {
  const carom_result *result;
  carom_granular_grid grid;
  double contact_gap;               // over the smaller bounding radius
  carom_granular_samples *samples;  // (shape_count)
  carom_granular_cell *cells;       // (grid.count)
  int frames, stress_frames;        // summed so far
  int *coordination;                // (body_count)
  double *returned;                 // (body_count) s, when the grain last began its way
  int next_event;                   // of those that restart a grain's time
  int *proxy_part;                  // (part_count) of each proxy
  int *part_body;                   // (part_count)
  carom_broadphase *broadphase;
  int64_t *touching;  // pairs of bodies that touch, for compounds that touch in several places
  int touching_capacity;
} carom_granular;

// Allocates all but the cells' grid, which `grid` gives. On failure everything is released.
carom_status carom_granular_create(carom_granular *g, const carom_result *result, const carom_granular_grid *grid,
                                   double contact_gap, carom_error *error);
void carom_granular_destroy(carom_granular *g);  // a zeroed one is fine
void carom_granular_clear(carom_granular *g);    // sums back to zero; the clock of the grains goes on
// Adds a frame; frames come in order of time.
carom_status carom_granular_add(carom_granular *g, const carom_frame *frame, carom_error *error);

// The means of a cell. What nothing is known of is NaN: velocity and residence of an empty cell, stress where the run
// recorded no contacts.
enum { CAROM_GRANULAR_VALUES = 16 };
void carom_granular_values(const carom_granular *g, int cell, double out[CAROM_GRANULAR_VALUES]);

carom_vec3 carom_granular_cell_center(const carom_granular_grid *grid, int cell);

#endif
