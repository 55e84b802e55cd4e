// The stiffness as a matrix of 3 x 3 blocks, and its factors.
#ifndef CAROM_SRC_SOLID_MATRIX_H
#define CAROM_SRC_SOLID_MATRIX_H

#include "solid/solid.h"

struct carom_elastic_matrix {
  carom_elastic *elastic;
  carom_allocator allocator;
  int *start, *column;      // (node_count + 1), (start[node_count])
  int *diagonal;            // (node_count) where a row's own block is
  int *part_start, *parts;  // pieces of every block: 2 (10 tet + pair) + whether it is to be transposed
  double *elements;         // (block_count x CAROM_SOLID_ELEMENT)
  carom_mat3 *blocks;       // (start[node_count])
};

// As carom_elastic_matrix_fill, damping included where it is asked for.
void carom_solid_matrix_fill(carom_elastic_matrix *matrix, const carom_solid_request *request);

// Where the block (row, column) is, or -1.
int carom_solid_matrix_find(const carom_elastic_matrix *matrix, int row, int column);

// Factors of such a matrix with rows and columns of some nodes replaced by those of the identity: the order and the
// structure are found once. Fronts take blocks of six (solve/front_factor.h), so nodes go in pairs of neighbours.
typedef struct carom_solid_factor carom_solid_factor;

carom_status carom_solid_factor_create(const carom_elastic_matrix *matrix, const carom_allocator *allocator,
                                       carom_solid_factor **factor, carom_error *error);
void carom_solid_factor_destroy(carom_solid_factor *factor);  // null is fine
// CAROM_ERR_SINGULAR unless positive definite.
carom_status carom_solid_factor_compute(carom_solid_factor *factor, const bool *pinned);
void carom_solid_factor_solve(carom_solid_factor *factor, carom_vec3 *b);  // (node_count) overwritten

#endif
