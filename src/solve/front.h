// What analysis and elimination of front_factor.h share.
#ifndef CAROM_SRC_SOLVE_FRONT_H
#define CAROM_SRC_SOLVE_FRONT_H

#include "carom/base.h"

// A block of A in a column of the new order: block (neighbor `number` of `column`, `column`) of the old one.
typedef struct carom_front_entry {
  int row, column, number;
  bool transposed;
} carom_front_entry;

// Columns `first` to first + width - 1 and the `below` rows that they have in common, all in blocks.
typedef struct carom_front {
  int first, width, below;
  int parent, child_count;  // parent is -1 for roots
  size_t rows;              // where the rows below begin in `rows`
  size_t panel;             // where the columns of L begin in `panels`: (width + below) x width blocks
  size_t right;             // where the rows of U begin in `rights`, as columns: below x width blocks
} carom_front;

// Without symmetry updates are stored whole.
struct carom_factor {
  carom_allocator allocator;
  int block, blocks;           // rows of a block, and how many blocks
  int threads;                 // for large fronts
  int front_count, largest;    // largest: blocks of the tallest front
  int *order, *place;          // (blocks) old number by new, new by old
  int *entry_start;            // (blocks + 1)
  carom_front_entry *entries;  // off the diagonal, by column of the new order
  carom_front *fronts;         // (front_count) in postorder
  int *front_of;               // (blocks)
  int *rows;                   // ascending within a front
  double *panels;              // L; without symmetry also U where it meets the columns of the front
  double *rights;              // U beyond them, transposed; without symmetry only
  int *swap;                   // (block blocks) rows that took each other's place within a front; likewise
  double *stack;               // updates that wait for their parents
  int *waiting;                // (front_count) whose they are
  int *position;               // (blocks) of a row in the front at hand
  double *packed;              // the largest panel, twelve rows together
  double *packed_right;        // without symmetry: another
  double *corner;              // a strip of U, transposed; likewise
  int *pattern_start;          // (blocks + 1) of the pattern; likewise
  double *x, *gathered;        // (block blocks), (block largest)
  size_t row_count, panel_size, right_size, stack_size, largest_panel;
  bool unsymmetric, quick;
  double flops;
};

enum { CAROM_FRONT_TALL = 12 };

// ---- front_kernel.c: dense pieces, column-major
// Cholesky of the first `width` columns of a trapezoid with `height` rows; false unless positive definite.
bool carom_front_strip(double *A, size_t stride, size_t height, size_t width);
// Copies rows x depth numbers so that twelve rows stand together, zeros after the last ones.
void carom_front_pack(const double *A, size_t stride, size_t rows, size_t depth, double *packed);
// Lower trapezoid of C (rows x columns) minus P P', where P was packed. May spoil what is above the diagonal.
void carom_front_subtract(double *C, size_t stride, size_t rows, size_t columns, const double *packed, size_t depth);
// C (rows x columns) minus P Q', both packed.
void carom_front_subtract_product(double *C, size_t stride, size_t rows, size_t columns, const double *P,
                                  const double *Q, size_t depth);
void carom_front_subtract_multiple(double *y, double a, const double *x, size_t n);  // y -= a x
// A (rows x columns) -= x y', with y in steps of so many numbers.
void carom_front_subtract_outer(double *A, size_t stride, size_t rows, size_t columns, const double *x, const double *y,
                                size_t step);
double carom_front_dot(const double *a, const double *b, size_t n);

#endif
