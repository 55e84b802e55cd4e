// Projected Gauss-Seidel: the plan of a sweep. Contacts and blocks of rows are coloured so that no two of one colour
// touch the same movable body; colours are taken in turn and the members of one in any order, with the same bits.
#ifndef CAROM_SRC_CONTACT_SOLVE_PGS_H
#define CAROM_SRC_CONTACT_SOLVE_PGS_H

#include "contact/solve/problem.h"
#include "contact/solve/sweeps.h"

// One bit of a word per colour; what finds no free bit comes last, swept by one thread in order.
enum { CAROM_CONTACT_UNCOLORED = 64, CAROM_CONTACT_COLORS = CAROM_CONTACT_UNCOLORED + 1, CAROM_CONTACT_LANES = 4 };

// Members of a colour are taken in shares of so many packs, singles or joints: the unit of work and of summation.
enum { CAROM_CONTACT_SHARE = 32 };
#define CAROM_CONTACT_SHARES(contacts, rows) \
  ((contacts) / CAROM_CONTACT_SHARE + (rows) / CAROM_CONTACT_SHARE + 3 * CAROM_CONTACT_COLORS)

// Four contacts of one colour side by side, for those whose block of N is diag(along, across, across) in the contact
// frame, as between spheres. Twenty vectors of four.
typedef struct carom_contact_pack {
  double n[3][CAROM_CONTACT_LANES], arm_a[3][CAROM_CONTACT_LANES], arm_b[3][CAROM_CONTACT_LANES];
  double impulse[3][CAROM_CONTACT_LANES], before[3][CAROM_CONTACT_LANES];  // after the last two sweeps
  double bias[CAROM_CONTACT_LANES], mu[CAROM_CONTACT_LANES];
  double along[CAROM_CONTACT_LANES], across[CAROM_CONTACT_LANES];
  int a[CAROM_CONTACT_LANES], b[CAROM_CONTACT_LANES];  // the world's index is the number of bodies
} carom_contact_pack;

// One axis of a contact: u = axis . (v_a - v_b) + lever[0] . w_a - lever[1] . w_b.
typedef struct carom_contact_axis {
  carom_vec3 axis;
  carom_vec3 lever[2];  // arms x axis
  carom_vec3 turn[2];   // inverse inertias times those
} carom_contact_axis;

// Any other contact, with all that a visit needs side by side. Impulses are along its axes.
typedef struct carom_contact_single {
  int contact;
  int body[2];    // the world's index is the number of bodies
  bool moves[2];  // bodies that do not are not written
  double inverse_mass[2];
  double friction, bias, rho;
  double nn, nt[2], tt[2];      // as in carom_contact_local
  carom_vec3 impulse, before;   // after the last two sweeps; circular cones only
  carom_contact_axis along[3];  // without friction the first alone
} carom_contact_single;

// Up to six rows between the same two bodies.
typedef struct carom_contact_joint {
  int first, count;
  bool free;        // no row is bounded
  double A[6 * 6];  // block of N, column-major
  double L[6 * 6];  // its Cholesky factor, slightly regularised
} carom_contact_joint;

// What a plan consists of.
enum { CAROM_CONTACT_PACKS, CAROM_CONTACT_SINGLES, CAROM_CONTACT_JOINTS, CAROM_CONTACT_KINDS };

typedef struct carom_contact_plan {
  int colors;                                                // up to the last that has members
  int start[CAROM_CONTACT_KINDS][CAROM_CONTACT_COLORS + 1];  // members of each colour
  carom_contact_pack *packs;                                 // (contacts / 4 + colours)
  int *lane;                                                 // (4 x packs): contact of every lane, -1 for padding
  carom_contact_single *singles;                             // (contacts)
  carom_contact_joint *joints;                               // (rows)
  double *V, *V_before;        // (bodies + 1) x CAROM_CONTACT_STATE: velocities now and after the sweep before
  double *x_before;            // (n) likewise for unknowns that are not in packs
  carom_sweep_tally *tallies;  // (shares)
  // while planning
  uint64_t *used;        // (bodies) colours of a body's members so far
  unsigned char *color;  // (contacts + rows); rows: of the block that begins here
} carom_contact_plan;

void carom_contact_plan_push(carom_contact_plan *plan, const carom_contact_system *s, carom_arena *arena);
void carom_contact_plan_make(carom_contact_plan *plan, const carom_contact_system *s);  // impulses from s->x

// Visits begin at y = x + beta (x - x_before), which the velocities V belong to already.
carom_sweep_tally carom_contact_visit_packs(const carom_contact_plan *plan, carom_contact_law law, int first, int last,
                                            double beta);
void carom_contact_visit_single(const carom_contact_system *s, const carom_contact_plan *plan,
                                carom_contact_single *contact, double beta, carom_sweep_tally *tally);
void carom_contact_visit_joint(const carom_contact_system *s, const carom_contact_plan *plan,
                               const carom_contact_joint *joint, double beta, carom_sweep_tally *tally);

#endif
