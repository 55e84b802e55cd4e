/// carom/scene.h: scene files in. Every finding in a file has its place and a remedy.
#ifndef CAROM_SCENE_H
#define CAROM_SCENE_H

#include "carom/base.h"
#include "carom/loop.h"
#include "carom/mechanics.h"
#include "carom/model.h"
#include "carom/step.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- diagnostics ----------------------------------------------------------------------------------

/// One finding in a scene file. `hint` may be empty.
typedef struct carom_diagnostic {
  bool warning;      ///< false: an error
  char *file;        ///< as the user wrote it, or "--set path=value" for an override
  int line, column;  ///< from 1; 0 when the finding has no place
  char *message;     ///< what is wrong and what was expected
  char *hint;        ///< the nearest known key, or a remedy
} carom_diagnostic;

/// All findings in a scene file, by place. A value: a reader fills it, whatever was in it, and the caller releases it.
typedef struct carom_diagnostics {
  int count;                  ///< errors and warnings
  int error_count;            ///< errors alone
  carom_diagnostic *items;    ///< (count)
  carom_allocator allocator;  ///< of the items
} carom_diagnostics;

/// Frees the items and zeroes *diagnostics; null is fine.
CAROM_API void carom_diagnostics_release(carom_diagnostics *diagnostics);
/// Writes "file:line:column: error: message (hint)" into text (size), as snprintf does: cut where it would be longer,
/// always with a zero at the end; returns the whole length.
CAROM_API int carom_diagnostic_format(const carom_diagnostic *diagnostic, char *text, size_t size);

// ---- scenes -----------------------------------------------------------------------------------------

/// Where the replay is looked at from.
typedef struct carom_camera {
  bool given;                   ///< false: the replay chooses
  carom_vec3 position, target;  ///< world, m
} carom_camera;

/// A scene file, read and built.
typedef struct carom_scene {
  char *path;                 ///< as given
  char *title;                ///< never null
  char *description;          ///< never null
  uint64_t seed;              ///< of arrays of bodies and all else that is drawn
  double duration;            ///< s
  double frame_interval;      ///< s between recorded frames
  carom_step_options step;    ///< which integrator, and how
  char *choice;               ///< why `auto` took the integrator of `step`; empty when the scene names it
  carom_audit_bounds bounds;  ///< what counts as a pass
  carom_camera camera;        ///< of the replay
  carom_loop_def *loop;       ///< sensors and controllers; belongs to the scene; never null
  carom_model *model;         ///< belongs to the scene
  carom_state *state;         ///< at the start; belongs to the scene: clone it for a run
  char *source;               ///< the text of the file itself, for the record
  char *resolved;             ///< the whole scene as one YAML text: includes and overrides put in
  char **files;               ///< (file_count) paths of all that was opened for it: the scene, what it includes, meshes
  int file_count;             ///< at least 1 after carom_scene_read; what was parsed from memory counts too
  carom_allocator allocator;  ///< of all this
} carom_scene;

/// Reads the motion of a body out of a file.
typedef carom_status carom_trajectory_reader(const char *path, const char *body, const carom_allocator *allocator,
                                             carom_trajectory **trajectory, carom_error *error);

/// Reads the motion of all bodies of a model out of a file.
typedef carom_status carom_gait_motion_reader(const char *path, const carom_model *model,
                                              const carom_allocator *allocator, carom_gait_motion **motion,
                                              carom_error *error);

struct carom_plan;
/// Sets the first guess of a plan out of a file.
typedef carom_status carom_guess_reader(struct carom_plan *plan, const char *path, carom_error *error);

/// How a scene is read. Begin with carom_scene_default_options().
typedef struct carom_scene_options {
  const char *const *overrides;  ///< (override_count) "path.to.key=value", applied in order before anything is read
  int override_count;            ///< default 0
  int64_t max_bodies;            ///< refuse scenes that grow beyond; default 2 000 000
  bool self_contained;  ///< refuse to open any other file (include, mesh): for scenes from strangers; default false
  bool discreet;        ///< tell nothing of what stands in the file if it is not a scene: for names out of a stranger's
                        ///< file, as those of includes always are; default false
  bool bodies_only;     ///< nothing will be stepped, as in a plan: the integrator need not honour all that there is
  /// Reads the motion of a body (its name, or null: of the same name) out of a plan's result file, for controllers that
  /// follow it: carom_trajectory_read (carom/result.h) does. Null: scenes that name one are refused.
  carom_trajectory_reader *read_trajectory;
  /// Likewise for gaits: carom_gait_motion_read (carom/result.h) does.
  carom_gait_motion_reader *read_motion;
  /// For problems that begin from the answer of an earlier one: carom_plan_warm (carom/plan.h) does. Null: those are
  /// refused.
  carom_guess_reader *read_guess;
  /// Told now and then how many copies of a replicated body have been made, of how many; false from it refuses the
  /// scene.
  carom_progress progress;
} carom_scene_options;

/// Options with the defaults named above.
CAROM_API carom_scene_options carom_scene_default_options(void);
/// Reads and builds a scene. All mistakes are collected in *diagnostics (which the caller releases,
/// success or not); with at least one error the status is CAROM_ERR_SCENE and *scene is null. A file
/// that cannot be opened is a diagnostic too. Null options mean defaults. CAROM_ERR_MEMORY is the only other failure.
CAROM_API carom_status carom_scene_read(const char *path, const carom_scene_options *options,
                                        const carom_allocator *allocator, carom_scene **scene,
                                        carom_diagnostics *diagnostics);
/// The same from text in memory; includes start from the folder of its name.
CAROM_API carom_status carom_scene_parse(const carom_bytes *bytes, const carom_scene_options *options,
                                         const carom_allocator *allocator, carom_scene **scene,
                                         carom_diagnostics *diagnostics);
CAROM_API void carom_scene_destroy(carom_scene *scene);  ///< with its model and state; null is fine

#ifdef __cplusplus
}
#endif
#endif
