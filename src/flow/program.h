// The pieces between images and programs.
#ifndef CAROM_SRC_FLOW_PROGRAM_H
#define CAROM_SRC_FLOW_PROGRAM_H

#include "carom/flow.h"

struct carom_flow_program {
  carom_allocator allocator;
  int width, height;
  carom_l1_problem problem;  // views of the following
  int *row_start, *column;
  double *value, *b;
};

// A derivative as a sum over pixels `offset` steps away.
typedef struct carom_flow_taps {
  int count, offset[4];
  double weight[4];
} carom_flow_taps;

// Of an image at `position` along a line of `length` pixels: exact for parabolas, at its ends too.
carom_flow_taps carom_flow_image_taps(carom_flow_stencil stencil, int position, int length);
// Of the flow; no taps where there is no difference to take.
carom_flow_taps carom_flow_smooth_taps(carom_flow_stencil stencil, int position, int length);
double carom_flow_slope(const carom_image *image, carom_flow_stencil stencil, int x, int y, bool down);

// Sizes, numbers and options of an estimate.
carom_status carom_flow_check(const carom_image *A, const carom_image *B, const carom_flow_options *o,
                              carom_error *error);

// B as seen from A when pixels move by `around`: cubic (Keys 1981). Pixels that come to lie outside become NaN.
void carom_flow_warp(const carom_image *B, const carom_flow_field *around, carom_image *warped);
// Fills a program that was created for images of this size.
carom_status carom_flow_program_fill(carom_flow_program *program, const carom_image *A, const carom_image *B,
                                     const carom_flow_field *around, const carom_flow_options *o, carom_error *error);

// ---- pyramid.c
// Half as wide, blurred before: an odd last row or column stays.
carom_status carom_flow_halve(const carom_image *from, carom_image *to, carom_error *error);
// A field of a coarser level, stretched to the size of `to`, motions too.
void carom_flow_stretch(const carom_flow_field *from, carom_flow_field *to);
// Pixels that differ by more than `most` from the median of the 3 x 3 about them become that median.
void carom_flow_calm(const carom_image *from, double most, carom_image *to);
// Medians over windows of side x side pixels into `to`.
void carom_flow_median(const carom_flow_field *from, int side, carom_flow_field *to);

#endif
