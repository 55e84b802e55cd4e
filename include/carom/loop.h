/// carom/loop.h: control in the loop. Sensors make named channels of a run: poses, velocities, joint angles and
/// reactions, contact forces, gaps. Controllers make inputs of the model (carom/model.h) out of channels and time.
///
/// A loop is asked by the stepper before every step and holds the inputs for its length:
///
///     carom_loop_create(&def, model, NULL, &loop, &error);
///     carom_loop_begin(loop, state, &error);           // the channels at the start
///     carom_loop_attach(loop, stepper);                // controllers act from now on
///     carom_stepper_step(stepper, state, &report, &error);
///     carom_loop_sense(loop, state, &report, &error);  // the channels after the step
///
/// What controllers remember (held samples, delays, sides of half-turns, places on field lines) goes into the
/// stepper's memory, and so into checkpoints, and is put back when a step fails.
#ifndef CAROM_LOOP_H
#define CAROM_LOOP_H

#include "carom/base.h"
#include "carom/model.h"
#include "carom/step.h"
#include "carom/track.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- channels -------------------------------------------------------------------------------------------------------

/// A named number that changes in a run.
typedef struct carom_channel {
  const char *name;  ///< "hinge.angle": what it is of, and what of it
  const char *unit;  ///< "rad", "N"; "" for numbers
} carom_channel;

// ---- sensors --------------------------------------------------------------------------------------------------------

/// What a sensor tells, and the channels that it makes (after its name and a dot).
typedef enum carom_sensor_kind {
  CAROM_SENSOR_POSE,      ///< of the body frame: x y z (m), qw qx qy qz, angle (rad, of the whole rotation)
  CAROM_SENSOR_VELOCITY,  ///< of a point of the body: vx vy vz, speed (m/s), wx wy wz, spin (rad/s)
  CAROM_SENSOR_JOINT,     ///< angle (rad) and rate (rad/s) of kinds that turn, slide (m) and speed (m/s) of those that
                          ///< slide
  CAROM_SENSOR_REACTION,  ///< what a joint carried in the last step, mean over it, on body 1: fx fy fz, force (N), mx
                          ///< my mz, moment (N m) about its point; motors, springs and inputs along it included; world
  CAROM_SENSOR_CONTACT,   ///< what contacts did to a body in the last step, mean over it: fx fy fz, force (N), touches
                          ///< (how many); of all bodies, or of `other` alone
  CAROM_SENSOR_GAP,       ///< gap (m): the separation of two bodies, < 0 where they overlap
} carom_sensor_kind;

/// A sensor. Begin with carom_sensor_default().
typedef struct carom_sensor_def {
  const char *name;        ///< unique among sensors and joints; copied
  carom_sensor_kind kind;  ///< default the pose
  int body;                ///< of which; not of joints
  int joint;               ///< joint, reaction: of which
  int other;  ///< pose, velocity: as seen from this body, in its axes; contact: with it alone; gap: to it. Default
              ///< CAROM_WORLD: in world axes; with any body
  carom_vec3 point;  ///< pose, velocity: the point of the body that is meant, body frame, m; default its origin
} carom_sensor_def;

CAROM_API carom_sensor_def carom_sensor_default(void);  ///< the pose of body 0 in the world; give it a name

// ---- the loop -------------------------------------------------------------------------------------------------------

/// What a loop is made of: sensors and controllers in the making. Controllers act in the order in which they are added.
typedef struct carom_loop_def carom_loop_def;
/// Sensors and controllers at work in one run.
typedef struct carom_loop carom_loop;

/// Makes a loop for a model, which must outlive it, as must the definition. Joints have sensors of their own (angle,
/// slide and reaction under the joint's name) without being asked. Nothing below allocates after this.
CAROM_API carom_status carom_loop_create(const carom_loop_def *def, const carom_model *model,
                                         const carom_allocator *allocator, carom_loop **loop, carom_error *error);
CAROM_API void carom_loop_destroy(carom_loop *loop);  ///< null is fine; the stepper that it was attached to goes first
/// Senses a state that no step led to: reactions and contact forces are zero.
CAROM_API carom_status carom_loop_begin(carom_loop *loop, const carom_state *state, carom_error *error);
/// Lets the stepper ask the controllers before every step. One loop, one stepper; its model has to be the loop's.
CAROM_API void carom_loop_attach(carom_loop *loop, carom_stepper *stepper);
/// Senses the state after a step that the report tells of.
CAROM_API carom_status carom_loop_sense(carom_loop *loop, const carom_state *state, const carom_step_report *report,
                                        carom_error *error);
CAROM_API int carom_loop_channel_count(const carom_loop *loop);  ///< of sensors, joints and inputs together
/// A channel by its number; null past the last. First "t" (s), then sensors, joints and inputs.
CAROM_API const carom_channel *carom_loop_channel(const carom_loop *loop, int index);
/// The number of a channel by its name, or -1.
CAROM_API int carom_loop_find_channel(const carom_loop *loop, const char *name);
/// The channels as last sensed (channel_count).
CAROM_API const double *carom_loop_values(const carom_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
