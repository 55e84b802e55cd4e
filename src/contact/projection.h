// The closest-point projection of DCR (Johnson 2012, 3.5.3, eqs. 3.81-3.82): bodies that overlap are moved to the
// nearest configuration, in the metric of their inertia, in which they only touch,
//
//     min 1/2 (q - q~)' M (q - q~)   with   gap_i(q) >= 0,
//
// by sequential quadratic programming: gaps of the contact polygons are linearised in the bodies' translations and
// rotations, the program is solved group by group (groups.h), gaps are measured anew. Bodies that are nearer to
// each other than the buffer d_b, three times the deepest overlap, form a collision group and are kept apart as well.
// Limits of joints are gaps like the others (m or rad).
#ifndef CAROM_SRC_CONTACT_PROJECTION_H
#define CAROM_SRC_CONTACT_PROJECTION_H

#include "carom/contact.h"
#include "contact/gathering.h"
#include "contact/groups.h"

typedef struct carom_projection {
  carom_arena arena;
  carom_contacts *contacts;  // borrowed, as are the next two
  carom_gathering *gathering;
  carom_groups *groups;
  carom_vec3 *x_start;  // (body_count) q~
  carom_quat *q_start;
  carom_joint_limit *limits;  // (carom_joints_limit_capacity)
  carom_vec3 *d, *r;          // (body_count) displacement and rotation vector so far
} carom_projection;

typedef struct carom_projection_info {
  int iterations;         // quadratic programs solved; 0: nothing overlapped
  double overlap_before;  // deepest, m
  double overlap;         // left over, m
} carom_projection_info;

carom_status carom_projection_create(carom_contacts *contacts, carom_gathering *gathering, carom_groups *groups,
                                     carom_projection **projection, carom_error *error);
void carom_projection_destroy(carom_projection *projection);  // null is fine

// Projects the state's x and q; joints hold on the way. The candidate pairs of the contacts must be up to date; those
// that bodies are pushed into are found on the way. `tolerance` (m) is the overlap that may stay. Allocates only when
// there are more contacts than ever before.
carom_status carom_projection_run(carom_projection *projection, carom_state *state, double tolerance,
                                  carom_projection_info *info, carom_error *error);

#endif
