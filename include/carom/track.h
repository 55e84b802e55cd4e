/// carom/track.h: motions that are followed. A feedback law on SO(3) x R^3 that brings a rigid body to a moving
/// reference (Johnson 2012, 4.5), and where references come from: a pose to hold, waypoints, a planned motion, or
/// the field lines of a virtual dipole that lead to a docking port.
///
/// All of it is plain values and pure functions: what a law remembers between calls is a struct of the caller's, which
/// can be saved with a checkpoint and put back when a step is taken again. Positions are those of the centre of mass,
/// rotations those of the user's body frame; names that end in _body are in the body's axes, or the reference's own.
#ifndef CAROM_TRACK_H
#define CAROM_TRACK_H

#include "carom/base.h"
#include "carom/control.h"
#include "carom/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- the law --------------------------------------------------------------------------------------------------------

/// How a rigid body stands and moves.
typedef struct carom_rigid_motion {
  carom_vec3 position;               ///< of the centre of mass, world, m
  carom_quat rotation;               ///< of the body frame, unit
  carom_vec3 velocity;               ///< of the centre of mass, world axes, m/s
  carom_vec3 angular_velocity_body;  ///< body axes, rad/s
} carom_rigid_motion;

/// How it should stand and move.
typedef struct carom_reference {
  carom_vec3 position;                   ///< of the centre of mass, world, m
  carom_quat rotation;                   ///< R_d: of the body frame, unit
  carom_vec3 velocity;                   ///< world axes, m/s
  carom_vec3 acceleration;               ///< world axes, m/s2
  carom_vec3 angular_velocity_body;      ///< w_d: axes of R_d, rad/s
  carom_vec3 angular_acceleration_body;  ///< w_d': axes of R_d, rad/s2
} carom_reference;

/// What is moved.
typedef struct carom_plant {
  double mass;                      ///< kg
  carom_mat3 inertia;               ///< about the centre of mass, body axes, kg m2
  carom_vec3 external_force;        ///< known force that acts besides the law's, world axes, N; it is cancelled
  carom_vec3 external_torque_body;  ///< likewise about the centre of mass, body axes, N m
} carom_plant;

/// How an error of rotation becomes a vector.
typedef enum carom_track_map {
  CAROM_TRACK_EXPONENTIAL,  ///< the rotation vector: angle times axis
  CAROM_TRACK_CAYLEY,       ///< 2 tan(angle/2) times axis
} carom_track_map;

/// Gains, all > 0. Begin with carom_track_default_gains().
typedef struct carom_track_gains {
  carom_track_map map;  ///< default exponential
  double rotation;      ///< k_R, N m; default 1.0
  double spin;          ///< k_w, N m s; default 0.3
  double position;      ///< k_x, N/m; default 1.2
  double velocity;      ///< k_v, N s/m; default 9.6
  double cayley_limit;  ///< rad, below pi: errors beyond it pull as hard as one of it; default pi/2, 4 k_R
  double hysteresis;  ///< rad: an error that grows past a half-turn is turned back the way it came until it exceeds pi
                      ///< by this; default 0.1
} carom_track_gains;

/// What the law remembers: which way round the last error was. All zero at the start.
typedef struct carom_track_memory {
  carom_quat error;  ///< R'R_d, by the quaternion whose angle is taken; zero: none yet
} carom_track_memory;

/// What the law says.
typedef struct carom_track_answer {
  carom_vec3 force;           ///< on the centre of mass, world axes, N
  carom_vec3 torque_body;     ///< body axes, N m
  carom_vec3 position_error;  ///< e_x = x - x_d, m
  carom_vec3 velocity_error;  ///< e_v, m/s
  carom_vec3 rotation_error;  ///< e_R, body axes; by the map
  carom_vec3 spin_error;      ///< e_w = w - R_e w_d, body axes, rad/s
  double angle;               ///< of the error of rotation, rad; in [0, pi + hysteresis]
  double lyapunov;            ///< V, J: energy of the errors; never grows but by what disturbs the plant
  double lyapunov_rate;       ///< V' = -k_w |e_w|^2 - k_v |e_v|^2, W
} carom_track_answer;

/// The gains of Johnson's CubeSat (4.5.6), as named above.
CAROM_API carom_track_gains carom_track_default_gains(void);
/// CAROM_ERR_NUMBER, with the name of the gain, mass or moment, for what is not finite and positive.
CAROM_API carom_status carom_track_check(const carom_plant *plant, const carom_track_gains *gains, carom_error *error);
/// The law (Johnson 2012, eq. 4.40):
///
///     torque = k_R e_R + G(e_R) - k_w e_w - Jw x w - external + J d/dt(R_e w_d)
///     force  = -k_x e_x - k_v e_v - external + M a_d
///
/// The short way round is taken always, so that nothing unwinds. Never allocates, never fails.
CAROM_API carom_track_answer carom_track(const carom_plant *plant, const carom_rigid_motion *motion,
                                         const carom_reference *reference, const carom_track_gains *gains,
                                         carom_track_memory *memory);

/// A body of a model as a plant on which nothing else acts.
CAROM_API carom_plant carom_plant_of(const carom_model *model, int body);
/// How a body of a model stands and moves.
CAROM_API carom_rigid_motion carom_state_motion(const carom_model *model, const carom_state *state, int body);

/// A reference at rest.
CAROM_API carom_reference carom_reference_rest(carom_pose pose);
/// The motion of another point of the body that the reference moves: `offset` in its axes, m. From a reference for the
/// origin of a body frame to one for the centre of mass, offset is the centre's place in the body frame.
CAROM_API carom_reference carom_reference_at(const carom_reference *reference, carom_vec3 offset);
/// CAROM_ERR_NUMBER for what is not finite, and for a rotation that is not a unit quaternion (to 1e-6).
CAROM_API carom_status carom_reference_check(const carom_reference *reference, carom_error *error);

// ---- trajectories: references as functions of time
// ---------------------------------------------------------------------------

/// A smooth motion through given poses: twice continuously differentiable in R^3 and SO(3), with exact derivatives.
/// At rest at its first pose before it begins, and at its last when it has ended.
typedef struct carom_trajectory carom_trajectory;

/// Through `poses` (count >= 2) at `times` (ascending, s), beginning and ending at rest; rotations go the short way.
/// Velocities and accelerations at a waypoint are those of the parabola through it and its neighbours.
/// CAROM_ERR_ARGUMENT and CAROM_ERR_NUMBER, with the waypoint's number, for what is no trajectory.
CAROM_API carom_status carom_trajectory_create_waypoints(int count, const double *times, const carom_pose *poses,
                                                         const carom_allocator *allocator,
                                                         carom_trajectory **trajectory, carom_error *error);
/// As a solved plan moves a body (see carom_plan_state), which need not be at rest at either end; velocities jump at
/// planned contacts. CAROM_ERR_ARGUMENT before a solve, and for a body that does not move.
CAROM_API carom_status carom_trajectory_create_plan(const carom_plan *plan, int body, const carom_allocator *allocator,
                                                    carom_trajectory **trajectory, carom_error *error);
CAROM_API void carom_trajectory_destroy(carom_trajectory *trajectory);        ///< null is fine
CAROM_API double carom_trajectory_start(const carom_trajectory *trajectory);  ///< s
CAROM_API double carom_trajectory_end(const carom_trajectory *trajectory);    ///< s
/// The reference at a time. Never allocates.
CAROM_API carom_reference carom_trajectory_at(const carom_trajectory *trajectory, double time);

// ---- approach curves: field lines of a virtual dipole
// ----------------------------------------------------------------- With d from the dipole to the craft, c0 the port's
// axis (out of the port, towards the craft) and b = 3 (c0.d) d/|d|^2
// - c0, the craft moves at -eta b and points its x axis along it (Johnson 2012, eq. 4.41 and 4.30).

/// How the reference goes on along the line.
typedef enum carom_field_line_mode {
  CAROM_FIELD_LINE_INTEGRATE,  ///< x_d' = v_d(x_d); from where the craft is again when it has strayed beyond `limit`
  CAROM_FIELD_LINE_REBASE,     ///< always from where the craft is: x_d = x + ahead v_d(x)
} carom_field_line_mode;

/// A dipole at a port. Begin with carom_field_line_default().
typedef struct carom_field_line {
  carom_vec3 center;  ///< of the dipole: the receiver's centre, world, m
  carom_quat docked;  ///< rotation of the craft when docked; its x axis is -c0
  double speed;       ///< eta, m/s: the craft goes at 1 to 2 times it; default 0.05
  double stop;        ///< m from the dipole: from there on the reference rests on the axis; default 0.01
  double reach;       ///< m: from behind, fly round if the line stays within this of the dipole; default 0: refuse
  carom_field_line_mode mode;  ///< default integrate
  double limit;                ///< integrate: m; default 0.1
  double ahead;                ///< rebase: s; default 1e-3
} carom_field_line;

/// What is remembered along a line. All zero at the start.
typedef struct carom_field_line_memory {
  carom_vec3 position;  ///< x_d
  double time;          ///< s, for which that is
  int64_t axis;         ///< 2 or 3: which axis of the craft is aligned with the port's; 0 before the start
  int64_t rebased;      ///< how often the craft strayed beyond the limit
} carom_field_line_memory;

CAROM_API carom_field_line carom_field_line_default(void);  ///< the defaults named above, a port at the origin along -x
/// Whether a craft may start here. CAROM_ERR_NUMBER for a line that is badly given, CAROM_ERR_ARGUMENT for a start
/// behind the dipole (field lines lead away from it there) or within `stop` of it.
CAROM_API carom_status carom_field_line_check(const carom_field_line *line, carom_vec3 start, carom_error *error);
/// Which axis, 2 or 3, to align: the one that lies more across the plane of the line. Its part across the path is then
/// at least 0.7 all along the line, where that of the other may vanish.
CAROM_API int carom_field_line_axis(const carom_field_line *line, carom_vec3 position);
/// The reference at a place of a line, with velocities and accelerations of one who follows it from there, exactly.
CAROM_API carom_reference carom_field_line_at(const carom_field_line *line, carom_vec3 position, int axis);
/// The reference at a time for a craft that is at `position`. The first call checks and begins the line; later ones go
/// on from the memory. CAROM_ERR_ARGUMENT when time runs backwards: put the memory back with the state.
CAROM_API carom_status carom_field_line_follow(const carom_field_line *line, double time, carom_vec3 position,
                                               carom_field_line_memory *memory, carom_reference *reference,
                                               carom_error *error);

// ---- one door to all references
// ---------------------------------------------------------------------------------------

/// Where a reference comes from: the first of these that is not null.
typedef struct carom_guide {
  const carom_trajectory *trajectory;  ///< waypoints, or a plan
  const carom_field_line *line;        ///< a port to dock at
  carom_pose pose;                     ///< else: to be held
  carom_vec3 offset;  ///< from the point that trajectory and pose speak of to the centre of mass, body axes, m
} carom_guide;

/// What a guide remembers. All zero at the start.
typedef struct carom_guide_memory {
  carom_field_line_memory line;  ///< of field lines
} carom_guide_memory;

/// The reference at a time for a craft whose centre of mass is at `position`. Never allocates. Fails as
/// carom_field_line_follow does.
CAROM_API carom_status carom_guide_at(const carom_guide *guide, double time, carom_vec3 position,
                                      carom_guide_memory *memory, carom_reference *reference, carom_error *error);

#ifdef __cplusplus
}
#endif
#endif
