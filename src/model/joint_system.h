// The linear system of the joints, solved along the tree that they span (Baraff 1996; as the articulated-body method,
// but in the coordinates of all bodies):
//
//     M z - R' lambda = b        one block of 6 per moving body
//     L z             = c        one block per active joint
//
// With L = R = G and M the masses it projects momenta; with L at q_k+1 and R at q_k it is a Newton step of the discrete
// Euler-Lagrange equations. Bodies and joints are eliminated from the leaves to the roots without fill, so that chains
// and trees cost time in proportion to their size. Joints that close loops are added by a dense Schur complement, whose
// factorisation tells its rank: redundant equations, as those of a planar four-bar in space, are survived.
#ifndef CAROM_SRC_MODEL_JOINT_SYSTEM_H
#define CAROM_SRC_MODEL_JOINT_SYSTEM_H

#include "model/joint_rows.h"

// One body's mass block: m z_linear, and the 3x3 block of rotation.
typedef struct carom_joint_mass {
  double mass;
  carom_mat3 rotation;
} carom_joint_mass;

typedef struct carom_joint_system carom_joint_system;

carom_status carom_joint_system_create(const carom_model *model, const carom_allocator *allocator,
                                       carom_joint_system **system, carom_error *error);
int carom_joint_system_most_loop_rows(const carom_joint_system *system);  // what model->loop_rows should be
void carom_joint_system_destroy(carom_joint_system *system);              // null is fine

// Arrays that belong to the system, for its callers to fill or read.
typedef struct carom_joint_vectors {
  carom_row *left, *right;  // (joint_count * CAROM_JOINT_ROWS)
  carom_joint_mass *mass;   // (body_count) of moving bodies
  double *b, *z;            // (6 body_count) linear, angular
  double *c, *lambda;       // (joint_count * CAROM_JOINT_ROWS)
} carom_joint_vectors;
carom_joint_vectors *carom_joint_system_vectors(carom_joint_system *system);

// Orders bodies and joints by the joints that act in this state; does nothing when they are the same as before.
void carom_joint_system_order(carom_joint_system *system, const carom_state *state);
// Fills left = right = rows at the state's configuration and mass = the bodies' masses.
void carom_joint_system_fill(carom_joint_system *system, const carom_state *state);
// Factors what `left`, `right` and `mass` hold. CAROM_ERR_SINGULAR when a tree joint's own equations are dependent.
carom_status carom_joint_system_factor(carom_joint_system *system);
// The message after that failed with `status`, which is returned: which joint, and what to look at.
carom_status carom_joint_system_blame(const carom_joint_system *system, carom_status status, double time,
                                      carom_error *error);
// From b and c to z and lambda.
void carom_joint_system_solve(carom_joint_system *system);
// p, l += R' lambda on moving bodies.
void carom_joint_system_push(const carom_joint_system *system, const double *lambda, carom_vec3 *p, carom_vec3 *l);
// Order, fill and factor at the state's configuration, unless that was the last thing done here.
carom_status carom_joint_system_prepare(carom_joint_system *system, const carom_state *state, carom_error *error);
// What was filled or factored last is no longer prepare's: to be called by whoever fills the arrays by other means.
void carom_joint_system_forget(carom_joint_system *system);
// After prepare: adds impulses to p, l (body_count) so that dg/dt = rates (joint_count * CAROM_JOINT_ROWS; null: 0).
// `impulses` (as long; may be null) receives them.
void carom_joint_system_project(carom_joint_system *system, const carom_state *state, const double *rates,
                                carom_vec3 *p, carom_vec3 *l, double *impulses);
// The joint whose rates these momenta miss by most, and by how much, m/s or rad/s; -1 and 0 when none acts.
int carom_joint_system_missed(carom_joint_system *system, const carom_state *state, const double *rates, double *most);
// Fewer than the rows of the loops when those are redundant; and the rows.
int carom_joint_system_loop_rank(const carom_joint_system *system);
int carom_joint_system_loop_rows(const carom_joint_system *system);

// The tree, for those who walk it: bodies in order from the roots on, with the joint towards the root.
typedef struct carom_joint_node {  // a moving body that a joint acts on
  int body;
  int joint;   // towards the root, or -1
  int end;     // which end of the joint this body is
  int parent;  // body at its other end when that moves, otherwise -1
} carom_joint_node;
// The joints that act, in order.
int carom_joint_system_acting_count(const carom_joint_system *system);
const int *carom_joint_system_acting(const carom_joint_system *system);
const carom_joint_node *carom_joint_system_nodes(const carom_joint_system *system, int *count);

#endif
