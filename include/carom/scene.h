/// carom/scene.h: scene files in. Every finding in a file has its place and a remedy.
#ifndef CAROM_SCENE_H
#define CAROM_SCENE_H

#include "carom/base.h"
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

typedef struct carom_diagnostics {
  int count, error_count;
  carom_diagnostic *items;
  carom_allocator allocator;
} carom_diagnostics;

CAROM_API void carom_diagnostics_release(carom_diagnostics *diagnostics);  ///< frees the items, zeroes the struct
/// Writes "file:line:column: error: message (hint)" into text, as snprintf does.
CAROM_API int carom_diagnostic_format(const carom_diagnostic *diagnostic, char *text, size_t size);

// ---- scenes -----------------------------------------------------------------------------------------

typedef struct carom_camera {
  bool given;
  carom_vec3 position, target;
} carom_camera;

/// A scene file, read and built.
typedef struct carom_scene {
  char *path;         ///< as given
  char *title;        ///< never null
  char *description;  ///< never null
  uint64_t seed;
  double duration;        ///< s
  double frame_interval;  ///< s between recorded frames
  carom_step_options step;
  carom_audit_bounds bounds;
  carom_camera camera;
  carom_model *model;
  carom_state *state;  ///< at the start
  char *source;        ///< the text of the file itself, for the record
  char *resolved;      ///< the whole scene as one YAML text: includes and overrides put in
  carom_allocator allocator;
} carom_scene;

typedef struct carom_scene_options {
  const char *const *overrides;  ///< "path.to.key=value", applied in order before anything is read
  int override_count;
  int64_t max_bodies;   ///< refuse scenes that grow beyond; default 2 000 000
  bool self_contained;  ///< refuse to open any other file (include, mesh): for scenes from strangers; default false
  bool bodies_only;     ///< nothing will be stepped, as in a plan: the integrator need not honour all that there is
} carom_scene_options;

CAROM_API carom_scene_options carom_scene_default_options(void);
/// Reads and builds a scene. All mistakes are collected in *diagnostics (which the caller releases,
/// success or not); with at least one error the status is CAROM_ERR_SCENE and *scene is null. A file
/// that cannot be opened is a diagnostic too. Null options mean defaults. CAROM_ERR_MEMORY is the only other failure.
CAROM_API carom_status carom_scene_read(const char *path, const carom_scene_options *options,
                                        const carom_allocator *allocator, carom_scene **scene,
                                        carom_diagnostics *diagnostics);
/// The same from text in memory; `path` names it in messages and is where includes start from.
CAROM_API carom_status carom_scene_parse(const char *path, const char *text, size_t size,
                                         const carom_scene_options *options, const carom_allocator *allocator,
                                         carom_scene **scene, carom_diagnostics *diagnostics);
CAROM_API void carom_scene_destroy(carom_scene *scene);  ///< null is fine

#ifdef __cplusplus
}
#endif
#endif
