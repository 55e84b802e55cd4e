// The inside of a mechanism: the tree as links from the roots on, each with what its joint leaves free, placed in the
// world. The motion of a link is that of its parent and
//
//     W = sum nu w,  V = sum nu v    of body 1 of the joint against body 0: angular velocity, velocity of the point r
//
// which the link adds when it is body 1 (sign 1), and takes away when it is body 0. A free body moves so against the
// world, with its centre of mass for r. Bodies without inertia do not turn: they go with r, and pass on no moments.
#ifndef CAROM_SRC_MODEL_MECHANISM_H
#define CAROM_SRC_MODEL_MECHANISM_H

#include "base/arena.h"
#include "model/fields.h"
#include "model/joint_order.h"

typedef struct carom_freedom {
  carom_vec3 w, v;
} carom_freedom;

typedef struct carom_link {
  int body, joint;   // joint -1: a free body
  int parent;        // a link, or -1
  int first, count;  // freedoms
  bool turns;
  double sign;
  carom_vec3 r;  // the joint's point on body 1
  carom_vec3 d;  // distance joints: from point 0 to point 1
  carom_freedom f[6];
} carom_link;

typedef struct carom_twist {
  carom_vec3 v, w;  // of the centre of mass, world axes; or their rates
} carom_twist;

// A tree of bodies as if it were one.
typedef struct carom_composite {
  double mass;
  carom_vec3 center;
  carom_mat3 inertia;  // about the centre
} carom_composite;

struct carom_mechanism {
  carom_arena arena;  // first
  const carom_model *model;
  carom_joint_order order;
  int link_count, freedoms;
  carom_link *links;           // (moving_count) from the roots on
  int *link_of;                // (body_count) or -1
  int *link_of_joint;          // (joint_count) or -1
  carom_vec3 *x;               // (body_count)
  carom_quat *q;               // (body_count)
  carom_twist *motion;         // (body_count) zero for fixed bodies
  carom_twist *rate;           // (body_count)
  carom_joint_load *load;      // (moving_count) on the link from its parent, about r
  carom_composite *composite;  // (moving_count)
  carom_joint_state *joints;   // (joint_count)
  double *matrix;              // (matrix_room) of forward dynamics; made when first asked for
  int matrix_room;
  double time;
  carom_loads fields;
  carom_mat3 *d, *dv;      // (body_count) directors and their rates, for the fields
  carom_vec3 *velocities;  // (body_count)
};

// What joints carry when the bodies ask for so much at their centres of mass (body_count): as the last update left
// them.
void carom_mechanism_carry(carom_mechanism *mechanism, const carom_joint_load *demands, carom_joint_load *loads);

// Sums over the freedoms of a link, in the joint's own sense.
carom_freedom carom_link_sum(const carom_link *link, const double *nu);
// How a link moves against its parent (the world), in the joint's own sense.
carom_freedom carom_link_motion(const carom_mechanism *m, const carom_link *link);

// A column of a Jacobian.
static inline void carom_put_twist(double *column, carom_vec3 velocity, carom_vec3 angular_velocity) {
  column[0] = velocity.x, column[1] = velocity.y, column[2] = velocity.z;
  column[3] = angular_velocity.x, column[4] = angular_velocity.y, column[5] = angular_velocity.z;
}

#endif
