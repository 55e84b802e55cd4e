/// carom/gait.h: planned steps that are followed joint by joint, one after the other. A gait is one period of a motion
/// of all bodies; when the period is over, bodies take each other's places (legs are swapped) and it begins anew. How
/// far it is goes by time, or by a measured length that ascends through the period (a virtual constraint: Westervelt,
/// Grizzle and Koditschek 2003); it begins anew when a foot strikes. The sensor CAROM_SENSOR_GAIT (carom/loop.h) tells
/// what joints should do.
#ifndef CAROM_GAIT_H
#define CAROM_GAIT_H

#include "carom/base.h"
#include "carom/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A motion of all bodies of a model, with torques in its joints.
typedef struct carom_gait_motion_def {
  int nodes;                ///< two or more
  const double *times;      ///< (nodes) ascending, s
  const carom_pose *poses;  ///< (nodes x bodies) of the user's body frames, fixed ones too
  const double *torques;    ///< (nodes - 1 x joints) between nodes, N m, on the joint's second body; null: none
} carom_gait_motion_def;

/// Such a motion, checked and kept.
typedef struct carom_gait_motion carom_gait_motion;

/// Copies a motion. CAROM_ERR_ARGUMENT for fewer than two nodes and times that do not ascend, CAROM_ERR_NUMBER for what
/// is not finite.
CAROM_API carom_status carom_gait_motion_create(const carom_gait_motion_def *def, const carom_model *model,
                                                const carom_allocator *allocator, carom_gait_motion **motion,
                                                carom_error *error);
CAROM_API void carom_gait_motion_destroy(carom_gait_motion *motion);  ///< null is fine

/// How a motion becomes a gait. Begin with carom_gait_default().
typedef struct carom_gait {
  const carom_gait_motion *motion;  ///< one period; must outlive the loop
  int swap_count;                   ///< pairs of bodies that take each other's places after every period
  const int (*swap)[2];             ///< (swap_count); copied
  int foot;                  ///< strikes at the end of the first period; default -1: periods follow by themselves
  int ground;                ///< what it strikes
  double after;              ///< of the phase: earlier strikes are scuffs and do not count; default 0.5
  bool by_length;            ///< false: the phase is the time since the period began
  int body, from;            ///< by_length: bodies of the first period
  carom_vec3 point, origin;  ///< by_length: a point of `body` and one of `from`, their frames, m
  carom_vec3 along;          ///< by_length: direction in the world in which the one moves away from the other
} carom_gait;

CAROM_API carom_gait carom_gait_default(void);  ///< by time, nobody swapped, without a foot; give it a motion

#ifdef __cplusplus
}
#endif
#endif
