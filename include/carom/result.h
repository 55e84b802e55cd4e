/// carom/result.h: result files: what a run or a plan came to, kept so that it can be read, replayed and continued.
#ifndef CAROM_RESULT_H
#define CAROM_RESULT_H

#include "carom/gait.h"
#include "carom/loop.h"
#include "carom/scene.h"
#include "carom/track.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- writing ----------------------------------------------------------------------------------------

/// How a result file is made, and what it tells about its making. All zero is the default.
typedef struct carom_recorder_options {
  bool overwrite;                 ///< over an older file of that name; default false: an older one is refused
  const char *command;            ///< the command line, or null
  const char *host;               ///< or null
  carom_log log;                  ///< is told when the file is moved or removed while it is written; default: nobody
  const carom_channel *channels;  ///< (channel_count) that carom_recorder_channels will tell of; copied
  int channel_count;              ///< default 0: none
} carom_recorder_options;

/// A result file that is being written.
typedef struct carom_recorder carom_recorder;

/// Creates the HDF5 file with everything but the frames; null options mean defaults. The
/// scene must outlive the recorder. A mutex stands around our calls of HDF5, so several recorders and
/// results may be used at once; a host that calls HDF5 itself must not do so at the same time. CAROM_ERR_IO when the
/// file is there already (unless options->overwrite) or cannot be written.
CAROM_API carom_status carom_recorder_open(const char *path, const carom_scene *scene,
                                           const carom_recorder_options *options, const carom_allocator *allocator,
                                           carom_recorder **recorder, carom_error *error);
/// Adds one frame. Frames are gathered and written in bursts; after a burst the file is readable up
/// to there even if the process is killed. A file that was removed meanwhile, with its folder or without, is written
/// anew, whole, by the next burst, under its name if that is free (options->log hears of it). A write error (disk full)
/// leaves the earlier bursts intact and makes all further calls fail with the same message. CAROM_ERR_NUMBER for a
/// state that carom_state_check refuses; then nothing is added. `audit` may be null. Stresses and energies of solids
/// are measured here. Only HDF5 allocates, in a burst.
CAROM_API carom_status carom_recorder_frame(carom_recorder *recorder, const carom_state *state,
                                            const carom_audit_sample *audit, carom_error *error);
/// Tells what carom_stepper_contact_moments gave (body_count; N m), for the next frame. Allocates nothing. Only runs by
/// `cone` have a place for it in the file; else it is passed over.
CAROM_API carom_status carom_recorder_moments(carom_recorder *recorder, const carom_mat3 *moments, carom_error *error);
/// Tells the channels for the next frame: (channel_count), in the order of options->channels, as carom_loop_values
/// gives them; what is told again before the frame takes its place. Frames that nothing was told of get NaN. Allocates
/// nothing.
CAROM_API carom_status carom_recorder_channels(carom_recorder *recorder, const double *values, carom_error *error);
/// Adds contact events, in order of time. They are written with the next burst, which comes at once
/// when 4096 wait; only HDF5 allocates then.
CAROM_API carom_status carom_recorder_events(carom_recorder *recorder, const carom_contact_event *events, int count,
                                             carom_error *error);
/// Writes down all that a run needs to be continued bit for bit: the state and what carom_stepper_memory gave. Two
/// places are written in turn, so that a run that is killed meanwhile keeps the one before. The frames that wait are
/// written when their burst is due, as ever. CAROM_ERR_NUMBER as carom_state_check says. Allocates.
CAROM_API carom_status carom_recorder_checkpoint(carom_recorder *recorder, const carom_state *state, const void *memory,
                                                 size_t size, carom_error *error);
/// Writes a burst now, so that the file is readable up to here.
CAROM_API carom_status carom_recorder_flush(carom_recorder *recorder, carom_error *error);
/// Writes what is left, the verdict (may be null) and how the run ended ("complete", "interrupted", "failed: ...").
/// Nothing more can be recorded afterwards.
CAROM_API carom_status carom_recorder_finish(carom_recorder *recorder, const carom_verdict *verdict, const char *ending,
                                             carom_error *error);
/// Writes frames that wait, closes the file and frees the recorder; null is fine. A file that was not finished reads as
/// one of a run that was killed.
CAROM_API void carom_recorder_close(carom_recorder *recorder);

// ---- reading ---------------------------------------------------------------------------------

/// A body of a result.
typedef struct carom_result_body {
  char *name;                  ///< never null
  bool fixed;                  ///< it does not move, or moves as it is told
  double mass;                 ///< kg; infinite when fixed
  carom_vec3 center;           ///< centre of mass in the body frame, m
  carom_mat3 inertia;          ///< about the centre of mass, along the axes of the body frame; kg m2
  uint32_t color;              ///< 0xRRGGBB
  int part_start, part_count;  ///< into carom_result.parts
} carom_result_body;

/// A part of a body.
typedef struct carom_result_part {
  int shape;        ///< into carom_result.shapes
  carom_pose pose;  ///< in the user's body frame
} carom_result_part;

/// A wall of revolution (carom_boundary): the polyline (rho, z) turned about the z axis of its pose.
typedef struct carom_result_wall {
  int body;                      ///< that carries it, or CAROM_WORLD
  carom_pose pose;               ///< in the body frame or in the world
  int point_start, point_count;  ///< into carom_result.wall_points
} carom_result_wall;

enum { CAROM_RESULT_SPRING = CAROM_JOINT_DISTANCE + 1 };  ///< a kind of carom_result_joint that is none of the model's
/// A joint, a rigid link or a spring.
typedef struct carom_result_joint {
  const char *name;     ///< empty for springs
  int kind;             ///< carom_joint_kind, or CAROM_RESULT_SPRING
  int body[2];          ///< or CAROM_WORLD
  carom_pose frame[2];  ///< of the joint in the body frames; z is its axis
  bool latch;           ///< gained when the bodies collide
} carom_result_joint;

/// A solid that deforms. Nodes, tetrahedra and triangles of all solids are counted together.
typedef struct carom_result_solid {
  char *name;                           ///< never null
  uint32_t color;                       ///< 0xRRGGBB
  int law;                              ///< carom_elastic_law
  double density, lambda, mu, damping;  ///< as in carom_elastic_material
  double mass;                          ///< kg
  int node_start, node_count;           ///< into carom_result.rest and the nodes of frames
  int tet_start, tet_count;             ///< into carom_result.tets and the stresses of frames
  int triangle_start, triangle_count;   ///< into carom_result.skin
} carom_result_solid;

#define CAROM_AUDIT_COLUMNS 21  ///< how many series the audit has
/// One column of the audit series: key, label, unit and group of a plot.
typedef struct carom_audit_column {
  const char *key, *label, *unit, *group;
} carom_audit_column;
/// The columns of the audit series, in the order of the file: (CAROM_AUDIT_COLUMNS), constant.
CAROM_API const carom_audit_column *carom_audit_columns(void);

/// A result file in memory, except its poses, which are read frame by frame. Texts are never null.
typedef struct carom_result {
  char *title, *description;                ///< of the scene
  char *version;                            ///< of the library that wrote it
  char *command, *host;                     ///< as carom_recorder_options told
  char *created;                            ///< when, UTC, as 2026-01-31T12:00:00Z
  char *integrator;                         ///< its name
  char *choice;                             ///< why `auto` took it; null when the scene named it
  char *ending;                             ///< as carom_recorder_finish told; "unfinished" when it did not
  char *scene_source, *scene_resolved;      ///< as in carom_scene
  uint64_t seed;                            ///< of the scene
  bool planar;                              ///< all in the plane z = 0
  double step, duration;                    ///< s; as asked for
  int frame_count;                          ///< how many can be read
  int body_count, part_count, shape_count;  ///< how many of each
  double *times;                            ///< (frame_count) s
  double *audit;                            ///< (CAROM_AUDIT_COLUMNS x frame_count), column after column
  carom_result_body *bodies;                ///< (body_count)
  carom_result_part *parts;                 ///< (part_count)
  const carom_shape **shapes;               ///< (shape_count)
  carom_result_wall *walls;                 ///< (wall_count)
  carom_profile_point *wall_points;         ///< of all walls
  int wall_count;                           ///< how many
  carom_result_joint *joints;               ///< (joint_count) joints and springs
  int joint_count;                          ///< how many
  carom_channel *channels;                  ///< (channel_count) sensed in the run; carom_result_read_channels
  int channel_count;                        ///< how many; 0 in older files
  carom_result_solid *solids;               ///< (solid_count) that deform; null in files without
  int solid_count;                          ///< how many
  int node_count, tet_count;                ///< of all solids
  int triangle_count;                       ///< of the surfaces of all solids
  carom_vec3 *rest;                         ///< (node_count) in the world, free of stress, m
  double *node_masses;                      ///< (node_count) kg
  int (*tets)[4];                           ///< (tet_count) nodes
  int (*skin)[3];                           ///< (triangle_count) nodes, counter-clockwise seen from outside
  double *elastic_energies;                 ///< (frame_count x solid_count) J, frame after frame
  double *least_J;                          ///< (frame_count x solid_count) least det F of a tetrahedron
  struct carom_result_plan *plan;           ///< what a plan's file holds besides the motion; null in others
  carom_contact_event *events;              ///< (event_count) in order of time
  int event_count;                          ///< how many
  carom_verdict verdict;                    ///< count 0 when the run did not finish
  carom_camera camera;                      ///< of the scene
  bool complete;                            ///< false: killed or interrupted; what is here is sound
  struct carom_result_file *file;           ///< the open file; the library's own
  carom_allocator allocator;                ///< of all this
} carom_result;

/// The name of a body or, for CAROM_SOLID(i), of a solid; "the world" for CAROM_WORLD. Never null.
CAROM_API const char *carom_result_name(const carom_result *result, int body);

/// The last checkpoint: fills `state` (of the model that was run) and points *memory to *size bytes for
/// carom_stepper_recall, valid until the result is closed. CAROM_ERR_FORMAT when the file has none, or one of another
/// model.
CAROM_API carom_status carom_result_checkpoint(struct carom_result *result, carom_state *state, const void **memory,
                                               size_t *size, carom_error *error);

/// One frame: (body_count) each, unless said otherwise. A value, made ready by carom_frame_init.
typedef struct carom_frame {
  double time;                     ///< s
  carom_pose *poses;               ///< of the user's body frame
  carom_vec3 *velocities;          ///< of the centre of mass, world frame, m/s
  carom_vec3 *angular_velocities;  ///< world frame, rad/s
  carom_mat3 *contact_moments;  ///< N m; see carom_stepper_contact_moments; NaN where not told, null in files without
  double *channels;             ///< (channel_count) in their units; NaN where not told, null in files without
  carom_vec3 *nodes;            ///< (node_count) of solids, m; null in files without
  carom_vec3 *node_velocities;  ///< (node_count) m/s; null in files without
  float *stresses;  ///< (tet_count) von Mises' of Cauchy's stress, that of damping included, Pa; null in files without
  carom_allocator allocator;  ///< of the arrays
} carom_frame;

/// Opens a result file and reads all but its frames. A file that is still written, or whose run was killed, is read as
/// far as it goes. CAROM_ERR_IO when it cannot be read, CAROM_ERR_FORMAT when it is not a result of this version.
CAROM_API carom_status carom_result_open(const char *path, const carom_allocator *allocator, carom_result **result,
                                         carom_error *error);
CAROM_API void carom_result_close(carom_result *result);  ///< null is fine
/// Makes room for frames of this result. The frame may outlive it.
CAROM_API carom_status carom_frame_init(const carom_result *result, carom_frame *frame, carom_error *error);
CAROM_API void carom_frame_release(carom_frame *frame);  ///< frees the arrays and zeroes *frame
/// Fills a frame that carom_frame_init made for this result. CAROM_ERR_ARGUMENT for an index that is not there,
/// CAROM_ERR_FORMAT or CAROM_ERR_IO when the file is damaged. Only HDF5 allocates, for compressed files.
CAROM_API carom_status carom_result_read_frame(carom_result *result, int index, carom_frame *frame, carom_error *error);

/// The number of a channel by its name, or -1.
CAROM_API int carom_result_find_channel(const carom_result *result, const char *name);
/// Channels first, first + 1, ... over all frames, channel after channel: (count x frame_count), NaN where not told.
/// Many at once cost as little as one. CAROM_ERR_ARGUMENT for channels that are not there; otherwise as
/// carom_result_read_frame. Allocates about 1 MB for the while.
CAROM_API carom_status carom_result_read_channels(carom_result *result, int first, int count, double *values,
                                                  carom_error *error);

/// The motion of a body in a result, to be followed (carom/track.h): through its frames, with the velocities on either
/// side of contacts that have a frame of their own, as those of plans do. Meant for results of `carom plan`, and of
/// runs without impacts. CAROM_ERR_ARGUMENT for a body that does not move, or fewer than two frames; otherwise as
/// carom_result_read_frame.
CAROM_API carom_status carom_trajectory_create_result(carom_result *result, int body, const carom_allocator *allocator,
                                                      carom_trajectory **trajectory, carom_error *error);
/// The same out of a file, of the body with that name.
CAROM_API carom_status carom_trajectory_read(const char *path, const char *body, const carom_allocator *allocator,
                                             carom_trajectory **trajectory, carom_error *error);
/// The motion of all bodies of a model out of a plan's result file, with the torques of its motors: a period of a gait
/// (carom/gait.h). Bodies and motors are found by the names of bodies. CAROM_ERR_ARGUMENT when a body that moves is
/// not in the file, or the file holds no plan; otherwise as carom_result_open and carom_result_read_frame.
CAROM_API carom_status carom_gait_motion_read(const char *path, const carom_model *model,
                                              const carom_allocator *allocator, carom_gait_motion **motion,
                                              carom_error *error);

#ifdef __cplusplus
}
#endif
#endif
