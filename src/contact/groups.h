// Groups of contacts and rows that share no body that moves: each is a contact problem of its own, with bodies of its
// own numbering, and is solved by itself to its own accuracy, in any thread with the same bits.
//
//     carom_groups_split(groups, &problem, &guess, error)    all groups are open
//     groups->groups[i].state = CAROM_GROUP_IDLE             those that are to stay as they are
//     carom_groups_solve(groups, &options, error)            those that are open, by Coulomb's law
//     carom_groups_join(groups, &solution)                   impulses, in the order of the whole problem
#ifndef CAROM_SRC_CONTACT_GROUPS_H
#define CAROM_SRC_CONTACT_GROUPS_H

#include "base/arena.h"
#include "carom/contact.h"

typedef enum carom_group_state {
  CAROM_GROUP_OPEN,     // to be solved
  CAROM_GROUP_IDLE,     // has no impulses
  CAROM_GROUP_GIVEN,    // has its impulses and velocities from elsewhere
  CAROM_GROUP_SETTLED,  // has them from the solver
} carom_group_state;

typedef struct carom_group {
  carom_group_state state;
  carom_contact_problem problem;    // bodies that move first, then those whose motion is prescribed; others are world
  carom_contact_solution solution;  // the guess, then the answer
  carom_contact_solution kept;      // room for another one: the caller's
  carom_contact_point *contacts;    // those of the problem, to be edited
  carom_contact_row *rows;
  const int *contact, *row, *body;  // numbers in the whole problem
  int moving;                       // bodies
  int sweeps;                       // made so far
  double residual;                  // of carom/contact.h, in the unit of the velocities
  double scale;                     // what impulses change of velocities there: the residual's measure
  double speed;                     // largest relative velocity at a contact before the solve
} carom_group;

typedef struct carom_groups {
  carom_arena arena;
  carom_group *groups;  // (count)
  int count;
  int *of_body;                 // (body_count) group of a body that moves; -1: in none
  carom_arena split;            // all that a split lays out
  carom_contact_problem whole;  // its sizes
  int *root, *local;            // (body_count) scratch: disjoint sets; number of a body in its group
  int *seen_in;                 // (body_count) scratch: the last group that a body of prescribed motion was seen in
  int *contact, *row;           // (contacts, rows) numbers in the whole problem, group by group
  int *body;                    // (room_for_bodies) likewise
  carom_contact_body *bodies;
  carom_contact_point *contacts;
  carom_contact_row *rows;
  carom_contact_solution solution, kept;
  carom_contact_work **works;  // (threads)
  int threads;
  carom_contact_problem reserved[2];  // sizes that every thread has room for: by sweeps, by Newton's method
} carom_groups;

typedef struct carom_groups_options {
  double tolerance;    // on the residual, relative to the group's scale
  double floor;        // the same, absolute: less does not matter
  double acceptable;   // relative residual below which a group is not worked on any longer
  int max_sweeps;      // of a group of any size
  double max_updates;  // contacts times sweeps of one group: keeps large groups affordable
  bool thorough;       // Newton's method for larger groups as well
} carom_groups_options;

// What rigid bodies take: to round-off in small groups, up to 200 sweeps in others, or so many as are asked for (> 0).
carom_groups_options carom_groups_default_options(double tolerance, int max_sweeps);

carom_status carom_groups_create(int body_count, int threads, const carom_allocator *allocator, carom_groups **groups,
                                 carom_error *error);
void carom_groups_destroy(carom_groups *groups);  // null is fine

// Allocates only when there is more than ever before.
carom_status carom_groups_split(carom_groups *groups, const carom_contact_problem *problem,
                                const carom_contact_solution *guess, carom_error *error);
carom_status carom_groups_solve(carom_groups *groups, const carom_groups_options *options, carom_error *error);
// One group alone, whatever its state.
carom_status carom_groups_solve_one(carom_groups *groups, carom_group *group, const carom_groups_options *options,
                                    carom_error *error);
// Adds what an impulse at a contact does to the velocities and spins of the group's solution.
void carom_group_push(carom_group *group, int contact, carom_vec3 impulse);
// Velocities and spins of a group that belong to its impulses, which then are given.
void carom_group_take_up(carom_group *group);
// Impulses and multipliers of idle groups are set to 0, and velocities there are left as they are.
void carom_groups_join(const carom_groups *groups, carom_contact_solution *solution);
// The worst residual of those that the solver settled, relative to the velocities in play.
double carom_groups_residual(const carom_groups *groups);

#endif
