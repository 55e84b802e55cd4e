// The contact problem of carom/contact.h as it is gathered from a model: its bodies at a configuration, contacts and
// rows one by one, each with a first guess, and the solution in the same order. What a row came from is asked once,
// here.
//
//     carom_gathering_begin(gathering, q)                    bodies with their masses, at rest; no contacts, no rows
//     carom_gathering_set_velocity(gathering, body, v, w)    their free velocities
//     carom_gathering_add_contact(gathering, &contact, x)    then its bias; and its impulse, which is 0, as a first
//     guess carom_gathering_add_limit, carom_gathering_add_joints
#ifndef CAROM_SRC_CONTACT_GATHERING_H
#define CAROM_SRC_CONTACT_GATHERING_H

#include "base/arena.h"
#include "carom/contact.h"
#include "contact/pairs.h"
#include "model/joints.h"

typedef enum carom_row_kind { CAROM_ROW_JOINT, CAROM_ROW_LIMIT } carom_row_kind;

// Where a row came from: an equation of a joint, or a limit from the caller's list.
typedef struct carom_row_source {
  carom_row_kind kind;
  int joint;
  int number;  // of the equation in its joint, or of the limit in the list
} carom_row_source;

typedef struct carom_gathering {
  carom_arena arena;
  const carom_model *model;
  carom_contact_body *bodies;       // (body_count)
  carom_contact_point *contacts;    // (contact_count)
  carom_contact_row *rows;          // (row_count)
  carom_row_source *sources;        // (row_count)
  carom_contact_solution solution;  // free velocities and guesses, until it is solved
  int contact_count, contact_capacity, impulse_capacity;
  int row_count, row_capacity, source_capacity, multiplier_capacity;
} carom_gathering;

carom_status carom_gathering_create(const carom_model *model, const carom_allocator *allocator,
                                    carom_gathering **gathering, carom_error *error);
void carom_gathering_destroy(carom_gathering *gathering);  // null is fine

void carom_gathering_begin(carom_gathering *gathering, const carom_quat *q);
void carom_gathering_set_velocity(carom_gathering *gathering, int body, carom_vec3 v, carom_vec3 w);

// Both bodies, whose centres are at x, feel the impulse at one point, so that angular momentum does not change by it.
// Bias is 0. Null when out of memory.
carom_contact_point *carom_gathering_add_contact(carom_gathering *gathering, const carom_contact *contact,
                                                 const carom_vec3 *x);
// One-sided: its rate plus a bias, which is 0 until set, stays >= 0.
carom_contact_row *carom_gathering_add_limit(carom_gathering *gathering, const carom_joint_limit *limits, int number);
// The equations of all joints that act: for velocities (what motors prescribe is the rate), or for displacements (which
// bring the joints' residuals to zero).
carom_status carom_gathering_add_joints(carom_gathering *gathering, const carom_state *state, bool displacements,
                                        carom_error *error);
// Takes the contact or the limit back that was added last.
void carom_gathering_drop_contact(carom_gathering *gathering);
void carom_gathering_drop_limit(carom_gathering *gathering);

carom_contact_problem carom_gathering_problem(const carom_gathering *gathering);  // a view
carom_row carom_gathering_row(const carom_gathering *gathering, int row);

#endif
