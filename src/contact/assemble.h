// W = J S J' for rows between bodies: what an impulse along one row does to the velocity along another. S is M^-1 for
// bodies that are free, or whatever makes velocities of impulses where joints or stiff forces have been solved for.
#ifndef CAROM_SRC_CONTACT_ASSEMBLE_H
#define CAROM_SRC_CONTACT_ASSEMBLE_H

#include "base/arena.h"
#include "model/row.h"

// The answer of a coupled system: the velocities v, w that momenta p, l (body_count each) amount to. Those of bodies
// that do not move are not read.
typedef struct carom_twists {
  carom_vec3 *v, *w;
} carom_twists;

typedef struct carom_response {
  void *context;
  carom_status (*answer)(void *context, const carom_vec3 *p, const carom_vec3 *l, carom_twists *twists,
                         carom_error *error);
} carom_response;

typedef struct carom_assembly {
  carom_arena arena;
  const carom_model *model;
  int *row_start;       // (body_count + 2) where the rows of a body begin
  int *ends;            // (2 rows) 2 row + end
  carom_vec3 *p, *l;    // (body_count) an impulse along a row,
  carom_twists twists;  // and what it does
  int end_capacity;
} carom_assembly;

carom_status carom_assembly_create(const carom_model *model, const carom_allocator *allocator,
                                   carom_assembly **assembly, carom_error *error);
void carom_assembly_destroy(carom_assembly *assembly);  // null is fine

// Fills W (count x count, column-major) for free bodies with these inverse inertias (body_count; world axes, they need
// not be symmetric). Allocates only when there are more rows than ever before.
carom_status carom_assemble(carom_assembly *assembly, const carom_row *rows, int count,
                            const carom_mat3 *inverse_inertia, double *W, carom_error *error);
// The same through a response, one for each row.
carom_status carom_assemble_by(carom_assembly *assembly, const carom_row *rows, int count,
                               const carom_response *response, double *W, carom_error *error);

#endif
