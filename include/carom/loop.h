/// carom/loop.h: control in the loop. Sensors make named channels of a run: poses, velocities, joint angles and
/// reactions, contact forces, gaps. Controllers make inputs of the model (carom/model.h) out of channels and time.
///
/// A loop is asked by the stepper before every step and holds the inputs for its length:
///
///     carom_loop_create(def, model, h, NULL, &loop, &error);
///     carom_loop_begin(loop, state, &error);            // the channels at the start
///     carom_loop_attach(loop, stepper, &error);         // controllers act from now on
///     carom_stepper_step(stepper, state, &report, &error);
///     carom_loop_sense(loop, state, &report, &error);   // the channels after the step
///
/// What controllers remember (held samples, delays, sides of half-turns, places on field lines) and the channels go
/// into the stepper's memory, and so into checkpoints, and are put back when a step fails.
#ifndef CAROM_LOOP_H
#define CAROM_LOOP_H

#include "carom/base.h"
#include "carom/gait.h"
#include "carom/model.h"
#include "carom/step.h"
#include "carom/track.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- sensors --------------------------------------------------------------------------------------------------------

/// What a sensor tells, and the channels that it makes (after its name and a dot).
typedef enum carom_sensor_kind {
  CAROM_SENSOR_POSE,      ///< of the body frame: x y z (m), qw qx qy qz, angle (of the whole rotation, rad), heading
                          ///< (about z, rad)
  CAROM_SENSOR_VELOCITY,  ///< of a point of the body: vx vy vz, speed (m/s), wx wy wz, spin (rad/s)
  CAROM_SENSOR_JOINT,  ///< angle (rad) and rate (rad/s) of kinds that turn about an axis, slide (m) and speed (m/s) of
                       ///< those that slide
  CAROM_SENSOR_REACTION,  ///< what a joint carried in the last step, mean over it, on body 1: fx fy fz, force (N), mx
                          ///< my mz, moment (N m) about its point; see carom_reactions_find. World axes
  CAROM_SENSOR_CONTACT,   ///< what contacts did to a body in the last step, mean over it: fx fy fz, force (N), touches
                          ///< (how many). World axes; NaN where a flow has too many contacts to tell
  CAROM_SENSOR_GAP,       ///< gap (m): Euclidean separation of two bodies, < 0 where they overlap
  CAROM_SENSOR_GAIT,  ///< what a gait (carom/gait.h) asks for: step (periods so far), phase (0 to 1), time (s, into the
                      ///< plan), began (s, when this period did), and of every joint that turns JOINT.angle (rad),
                      ///< JOINT.rate (rad/s), JOINT.torque (N m, as planned)
} carom_sensor_kind;

/// A sensor. Begin with carom_sensor_default().
typedef struct carom_sensor_def {
  const char *name;        ///< unique among sensors and joints
  carom_sensor_kind kind;  ///< default the pose
  int body;                ///< of which; not of joints
  int joint;               ///< joint, reaction: of which
  int other;  ///< pose, velocity: as seen from this body, in its axes; contact: with it alone; gap: to it. Default
              ///< CAROM_WORLD: in world axes; with any body
  carom_vec3 point;        ///< pose, velocity: which point of the body is meant, body frame, m; default its origin
  const carom_gait *gait;  ///< gait: which; copied, but for its motion
} carom_sensor_def;

CAROM_API carom_sensor_def carom_sensor_default(void);  ///< the pose of body 0 in the world; give it a name

// ---- controllers ----------------------------------------------------------------------------------------------------
// Formulas are texts over channels, "t" (s) and constants of the definition: "-k*(hinge.angle - 0.3*sin(2*t)) -
// d*hinge.rate". They have the functions of scenes, comparisons, and, or, not and if(condition, a, b); numbers are in
// SI units.

/// What a controller goes by.
typedef enum carom_controller_kind {
  CAROM_CONTROLLER_FORMULA,  ///< every number of an input is a formula
  CAROM_CONTROLLER_SERVO,    ///< a joint: -stiffness (q - target) - damping (q' - target'), and with feed_forward the
                             ///< force that inverse dynamics asks for at the target's accelerations
  CAROM_CONTROLLER_TRACK,    ///< a free body: the tracking law of carom/track.h on a reference
} carom_controller_kind;

/// A controller of one input; several on one input add up. Begin with carom_controller_default().
typedef struct carom_controller_def {
  const char *name;            ///< unique among controllers
  carom_controller_kind kind;  ///< default formulas
  int input;  ///< of the model. A servo needs one along a joint, the tracking law a wrench at the centre of
              ///< mass in world axes
  const char *formula[6];  ///< formula: one for each number of the input; null: 0. Servo: the target, rad or m, whose
                           ///< derivatives in t are taken exactly, channels being held
  double stiffness, damping;  ///< servo: N m/rad and N m s/rad, or N/m and N s/m; >= 0
  bool feed_forward;          ///< servo: default false
  carom_track_gains gains;    ///< track: default carom_track_default_gains()
  carom_guide guide;          ///< track: where to; what it points to must outlive the loop
  bool cancel_weight;         ///< track: hold against gravity; default false
  double force_limit;         ///< largest size of the force, N (of a slide: too); default infinite
  double torque_limit;        ///< largest size of the torque, N m; default infinite
  double sample;              ///< s: acts anew only so often; default 0: at every step
  double delay;               ///< s: from sensing to acting; default 0
  const carom_knot *knots;    ///< (knot_count) schedule by which the output is multiplied; ascending times
  int knot_count;             ///< 0 means factor 1 always
} carom_controller_def;

CAROM_API carom_controller_def carom_controller_default(void);  ///< formulas, all 0, for input 0; give it a name

// ---- the definition -------------------------------------------------------------------------------------------------
// Adders return the index of what they added, or -1 when there is no memory; texts, knots and constants are copied. All
// else is checked by carom_loop_create.

/// Sensors and controllers in the making. Controllers act in the order in which they are added.
typedef struct carom_loop_def carom_loop_def;

/// Begins a definition without anything in it.
CAROM_API carom_status carom_loop_def_create(const carom_allocator *allocator, carom_loop_def **def,
                                             carom_error *error);
CAROM_API void carom_loop_def_destroy(carom_loop_def *def);                                            ///< null is fine
CAROM_API int carom_loop_add_sensor(carom_loop_def *def, const carom_sensor_def *sensor);              ///< see above
CAROM_API int carom_loop_add_controller(carom_loop_def *def, const carom_controller_def *controller);  ///< see above
/// A name for a number in formulas; channels of that name go before it.
CAROM_API int carom_loop_add_constant(carom_loop_def *def, const char *name, double value);
CAROM_API int carom_loop_sensor_count(const carom_loop_def *def);      ///< how many were added
CAROM_API int carom_loop_controller_count(const carom_loop_def *def);  ///< how many were added

// ---- the loop -------------------------------------------------------------------------------------------------------

/// A named number that changes in a run.
typedef struct carom_channel {
  const char *name;  ///< "hinge.angle": what it is of, and what of it
  const char *unit;  ///< "rad", "N"; "" for numbers
} carom_channel;

/// Sensors and controllers at work in one run.
typedef struct carom_loop carom_loop;

/// Makes a loop for runs of a model by steps of so many seconds; the model and the definition must outlive it. Joints
/// have sensors of their own (angle and rate, slide and speed, reaction, under the joint's name) without being asked.
/// Nothing below allocates after this. CAROM_ERR_ARGUMENT and CAROM_ERR_NUMBER, with the name of the sensor or
/// controller, for what makes no sense: unknown names in formulas, inputs that do not fit, gains that are not positive.
CAROM_API carom_status carom_loop_create(const carom_loop_def *def, const carom_model *model, double step,
                                         const carom_allocator *allocator, carom_loop **loop, carom_error *error);
CAROM_API void carom_loop_destroy(carom_loop *loop);  ///< null is fine; the stepper that it was attached to goes first
/// Senses a state that no step led to: reactions and contact forces are zero.
CAROM_API carom_status carom_loop_begin(carom_loop *loop, const carom_state *state, carom_error *error);
/// Lets the stepper ask the controllers before every step. One loop, one stepper, of the same model.
CAROM_API carom_status carom_loop_attach(carom_loop *loop, carom_stepper *stepper, carom_error *error);
/// Senses the state after a step that the report tells of.
CAROM_API carom_status carom_loop_sense(carom_loop *loop, const carom_state *state, const carom_step_report *report,
                                        carom_error *error);
CAROM_API int carom_loop_channel_count(const carom_loop *loop);  ///< time, and those of sensors, joints and inputs
/// Channels in their order: "t" (s), then those of sensors, of joints, and of inputs (thrust and torque, as they acted
/// in the last step).
CAROM_API const carom_channel *carom_loop_channels(const carom_loop *loop);
/// The number of a channel by its name, or -1.
CAROM_API int carom_loop_find_channel(const carom_loop *loop, const char *name);
/// The channels as last sensed (channel_count).
CAROM_API const double *carom_loop_values(const carom_loop *loop);
/// What the tracking law of a controller last said: errors and the Lyapunov function; false for other kinds, and before
/// it first acted.
CAROM_API bool carom_loop_tracked(const carom_loop *loop, int controller, carom_track_answer *answer);

#ifdef __cplusplus
}
#endif
#endif
