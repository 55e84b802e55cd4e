// Joints as impulses: what they do to given momenta, what they carry, how far they have drifted, how they are gained
// and lost, and their limits as one-sided rows.
//
//     joints_project(j, state, p, l)     momenta -> momenta that the joints allow (linear: Q p of Johnson 2012, 3.9)
//     joints_limits(model, state, ...)   limits within reach, to be treated as frictionless contacts
//     joints_gain(model, state, ...)     a latch takes hold; then project the momenta: a plastic impact
//
// With M_c^-1 = M^-1 Q, a contact impulse r on a jointed system changes momenta by Q r: put r into p, l (zero
// elsewhere) and project. The factorisation is kept as long as the configuration and the active joints stay the same,
// so that many projections at one configuration cost little more than one; its cost is linear in the number of bodies
// for chains and trees of any shape, and cubic in the number of closed loops.
#ifndef CAROM_SRC_MODEL_JOINTS_H
#define CAROM_SRC_MODEL_JOINTS_H

#include "model/joint_rows.h"

typedef struct carom_joints carom_joints;

// All scratch for the joints of a model; nothing allocates after this. The model must outlive it. Works for a model
// without joints, too: everything below then does nothing.
carom_status carom_joints_create(const carom_model *model, const carom_allocator *allocator, carom_joints **joints,
                                 carom_error *error);
void carom_joints_destroy(carom_joints *joints);  // null is fine

// Adds joint impulses to the momenta p, l (body_count; need not be the state's own) at the state's configuration, so
// that G M^-1 (p, l) = 0 for all active joints and prescribed motors. Linear in (p, l). `impulses` (joint_count *
// CAROM_JOINT_ROWS, may be null) receives the multipliers, row by row; rows that a joint does not have are 0.
carom_status carom_joints_project(carom_joints *joints, const carom_state *state, carom_vec3 *p, carom_vec3 *l,
                                  double *impulses, carom_error *error);
// The same to the momenta of the state itself, with the rates that motors prescribe at `time` on the right-hand side.
carom_status carom_joints_impose(carom_joints *joints, carom_state *state, double time, double *impulses,
                                 carom_error *error);

// ---- what the multipliers mean -------------------------------------------------------------------------------------

typedef struct carom_joint_impulse {
  carom_vec3 linear, angular;  // kg m/s, kg m2/s
} carom_joint_impulse;

// On body[1] of a joint: the impulse, and its moment about the joint's point on body[1].
carom_joint_impulse carom_joints_reaction(const carom_model *model, const carom_state *state, int joint,
                                          const double *impulses);
// What the world and fixed bodies did to the moving ones through all joints; the moment is about the world origin.
carom_joint_impulse carom_joints_external(const carom_model *model, const carom_state *state, const double *impulses);
// Work of prescribed motors: impulses times the rates prescribed at `time`.
double carom_joints_motor_work(const carom_model *model, const carom_state *state, double time, const double *impulses);

// ---- drift ---------------------------------------------------------------------------------------------------------

// Worst violation of an active joint at state->time, m; angles count times the size of the smaller body.
double carom_joints_drift(const carom_model *model, const carom_state *state);
// The same where a motor should be at another time, as within a step.
double carom_joints_drift_at(const carom_model *model, const carom_state *state, double time);
bool carom_joints_any(const carom_model *model, const carom_state *state);  // an active joint on a moving body

// ---- gained and lost -----------------------------------------------------------------------------------------------

// Whether the bodies of a latch are where it may close; see carom_seat.
bool carom_joints_seated(const carom_model *model, const carom_state *state, int joint);
// The latch that a collision of these bodies at `point` (world) closes: of those that are not active and whose bodies
// are seated the one whose own point on body[1] is nearest; -1 when there is none.
int carom_joints_find_latch(const carom_model *model, const carom_state *state, int body_a, int body_b,
                            carom_vec3 point);
// Closes a latch: spherical and revolute ones are anchored at `point` (world), the revolute axis is that of body[0]'s
// frame; fixed ones hold the present pose. Drops the joint that it releases. Momenta are left to the caller: project
// them (a plastic impact).
void carom_joints_gain(const carom_model *model, carom_state *state, int joint, carom_vec3 point);
void carom_joints_drop(carom_state *state, int joint);
// True when an active joint that is not marked `collide` connects the bodies, so that contacts between them are void.
bool carom_joints_hold(const carom_model *model, const carom_state *state, int body_a, int body_b);

// ---- limits --------------------------------------------------------------------------------------------------------

// A limit of a free coordinate as a one-sided row: gap >= 0, and d gap/dt = sum over both ends of linear.v + angular.w.
// The impulse r >= 0 that keeps it changes p by r linear and l by r angular; ends at the world have body CAROM_WORLD.
typedef struct carom_joint_limit {
  int joint;
  bool turn, upper;  // which coordinate, which end
  double gap;        // m or rad
  double restitution;
  carom_row row;
} carom_joint_limit;

enum { CAROM_JOINT_LIMITS = 4 };  // that a joint may have

// Tells limits apart: 0 to CAROM_JOINT_LIMITS * joint_count - 1, whichever of them are near.
static inline int carom_limit_number(const carom_joint_limit *limit) {
  return CAROM_JOINT_LIMITS * limit->joint + 2 * limit->turn + limit->upper;
}

int carom_joints_limit_capacity(const carom_model *model);  // the most there can be
// Those of active joints whose gap is below `reach` (m or rad); returns how many were written, in order of joints.
int carom_joints_limits(const carom_model *model, const carom_state *state, double reach, carom_joint_limit *limits);

#endif
