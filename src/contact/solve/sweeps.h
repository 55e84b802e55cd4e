// Contacts and joint rows between rigid bodies, solved by sweeps (block Gauss-Seidel), without a matrix. Two problems
// of DCR have this one form: the closest-point projection, where the unknowns are displacements and gaps bound them
// (Johnson 2012, eq. 3.81), and the momentum update, where they are velocities:
//
//     u = u_free + W gamma,    0 <= u_n - target  complementary to  gamma_n >= 0,
//     |gamma_t| <= mu gamma_n, gamma_t opposite to u_t when sliding     (Coulomb, the exact cone)
//     J V = target for every row.
//
// Contacts are split into groups that share no movable body; groups are independent, so that they may be solved in any
// order or thread with the same result.
#ifndef CAROM_SRC_CONTACT_SOLVE_SWEEPS_H
#define CAROM_SRC_CONTACT_SOLVE_SWEEPS_H

#include "carom/base.h"
#include "carom/vec.h"

typedef struct carom_sweep_body {
  double inverse_mass;         // 0 when it cannot move
  carom_mat3 inverse_inertia;  // world axes
  carom_vec3 v, w;             // velocity, or displacement and rotation vector; changed as impulses act
} carom_sweep_body;

// One direction of a contact or one joint row: u = d.(v_a - v_b) + ra.w_a - rb.w_b.
typedef struct carom_sweep_row {
  carom_vec3 d;       // on A; the opposite on B
  carom_vec3 ra, rb;  // arms x d
  carom_vec3 wa, wb;  // inverse inertias times those
  double W;           // d's own response
} carom_sweep_row;

typedef struct carom_sweep_contact {
  int a, b;                          // bodies
  int source;                        // the caller's number
  double friction;                   // mu
  double target;                     // lower bound of u_n
  carom_sweep_row row[3];            // normal (from B to A) and two tangents
  double W_ts;                       // between the tangents
  double gamma[3];                   // impulse along the rows; in: first guess
  double old[3], way[3];             // the solver's: before the last sweep, and the direction of its acceleration
  double kept[3], kept_velocity[3];  // the caller's: impulse and velocity of another solution
} carom_sweep_contact;

typedef struct carom_sweep_joint {
  int a, b;
  carom_sweep_row row;
  double target;
  double lambda;
  double before;    // the caller's: speed before the solve
  double old, way;  // as of contacts
  double kept;      // the caller's: lambda of another solution
} carom_sweep_joint;

typedef struct carom_sweep_group {
  int first, count;              // contacts
  int joint_first, joint_count;  // rows
  bool skip;                     // the caller's: leave it alone
  int sweeps;
  double residual;  // worst natural residual, in the unit of the velocities
  double scale;     // largest |u_n - target| that zero impulses would leave
  double speed;     // largest relative velocity at a contact before the solve
} carom_sweep_group;

typedef struct carom_sweeps {
  carom_allocator allocator;
  int body_count;
  carom_sweep_body *bodies;       // (body_count)
  carom_sweep_contact *contacts;  // (contact_count) sorted by group after carom_sweeps_group, else as added
  carom_sweep_joint *joints;      // (joint_count) likewise
  carom_sweep_group *groups;      // (group_count)
  carom_sweep_contact *unsorted;  // scratch of the sort
  carom_sweep_joint *unsorted_joints;
  int *group_of_body;  // (body_count) -1: in no group
  int *root;           // (body_count) scratch: disjoint sets
  int contact_count, contact_capacity, joint_count, joint_capacity, group_count, group_capacity;
  int unsorted_capacity, unsorted_joint_capacity;
  struct carom_sweep_newton *newton;  // for groups that sweeps alone do not settle
} carom_sweeps;

typedef struct carom_sweep_options {
  double tolerance;    // on the change of velocities in a sweep, relative to the group's scale
  double floor;        // the same, absolute: smaller changes do not matter
  int max_sweeps;      // of a group of any size
  double acceptable;   // residual relative to the scale below which a group is not worked on any longer
  double max_updates;  // contacts times sweeps of one group: keeps large groups affordable
  bool thorough;       // for laws of friction: accelerated sweeps, and Newton's method for larger groups as well
  int threads;
} carom_sweep_options;

carom_status carom_sweeps_create(int body_count, const carom_allocator *allocator, carom_sweeps **sweeps,
                                 carom_error *error);
void carom_sweeps_destroy(carom_sweeps *sweeps);  // null is fine

void carom_sweeps_clear(carom_sweeps *s);  // no contacts, no rows; bodies as they are
// Adds a contact of bodies a and b at `point` (its arms are taken from the centres xa and xb). Null when out of memory.
carom_sweep_contact *carom_sweeps_add(carom_sweeps *s, int a, int b, carom_vec3 normal, carom_vec3 point, carom_vec3 xa,
                                      carom_vec3 xb);
// Adds a one-sided row without friction, u >= target: a contact without tangents. Jacobians as below.
carom_sweep_contact *carom_sweeps_add_limit(carom_sweeps *s, int a, int b, carom_vec3 d, carom_vec3 ra, carom_vec3 rb);
// Adds a bilateral row with the given Jacobians: linear part d on A and -d on B, angular parts ra and -rb.
carom_sweep_joint *carom_sweeps_add_joint(carom_sweeps *s, int a, int b, carom_vec3 d, carom_vec3 ra, carom_vec3 rb);
// Sorts contacts and rows into groups.
carom_status carom_sweeps_group(carom_sweeps *s, carom_error *error);
// Adds what the group's impulses do to its bodies.
void carom_sweep_apply(carom_sweeps *s, const carom_sweep_group *g);
// Takes the group's impulses back: its bodies move as before them.
void carom_sweep_withdraw(carom_sweeps *s, carom_sweep_group *g);
// Solves all groups that are not skipped: bodies' v and w and the impulses are those after the contact.
void carom_sweeps_solve(carom_sweeps *s, const carom_sweep_options *options);

double carom_sweep_speed(const carom_sweeps *s, int a, int b, const carom_sweep_row *row);
// Worst natural residual of a group: what one more update of a contact or row alone would change.
double carom_sweep_group_residual(const carom_sweeps *s, const carom_sweep_group *g);
// The three components of the relative velocity of a contact.
void carom_sweep_velocity(const carom_sweeps *s, const carom_sweep_contact *c, double u[3]);
// The impulse on A as a world vector.
carom_vec3 carom_sweep_impulse(const carom_sweep_contact *c);

#endif
