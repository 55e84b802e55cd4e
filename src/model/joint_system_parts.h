// The inside of a joint system, for joint_system.c (factor, solve) and joint_project.c (momenta).
#ifndef CAROM_SRC_MODEL_JOINT_SYSTEM_PARTS_H
#define CAROM_SRC_MODEL_JOINT_SYSTEM_PARTS_H

#include "model/joint_loops.h"
#include "model/joint_order.h"

// What elimination leaves at a node. Matrices are column-major 6 x 6, the smaller ones in their corner. The inverses
// are kept, not the factors: products are several times faster than substitutions at this size, blocks are small and
// well scaled, and what round-off they add is taken out by the callers' iterations.
typedef struct carom_node_factor {
  double M[36];  // inverse of the body's mass with all that hangs on it; the mass itself until then
  double W[36];  // M^-1 R', 6 x rows
  double S[36];  // (L M^-1 R')^-1, rows x rows
} carom_node_factor;

struct carom_joint_system {
  const carom_model *model;
  carom_allocator allocator;
  carom_joint_vectors v;
  carom_joint_order order;
  carom_node_factor *factors;  // (nodes)
  carom_joint_loops loops;
  double *b_loop;                   // (6 body_count) b with the loops' impulses
  double *total;                    // (joint_count * CAROM_JOINT_ROWS) impulses of a projection
  carom_vec3 *known_x;              // (body_count) where prepare was last
  carom_quat *known_q;              // (body_count)
  carom_joint_state *known_joints;  // (joint_count)
  int singular;                     // the joint at which the last factorisation broke off, or -1
  bool prepared;
};

#endif
