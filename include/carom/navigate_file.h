/// carom/navigate_file.h: scenes of navigation in files (docs/navigation.md): vehicles, obstacles, walls and rails,
/// with expressions, copies in rings and grids, and random clouds.
#ifndef CAROM_NAVIGATE_FILE_H
#define CAROM_NAVIGATE_FILE_H

#include "carom/navigate.h"
#include "carom/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A scene of navigation, read and checked.
typedef struct carom_navigate_file {
  char *title;                           ///< never null
  char *description;                     ///< never null
  carom_navigate_def def;                ///< all but `threads` and `progress`; walls are among the obstacles
  carom_navigate_plan_def plan;          ///< likewise: how segments are planned
  struct carom_navigate_tables *tables;  ///< what the definitions point into; the file's own
  carom_allocator allocator;             ///< of all this
} carom_navigate_file;

/// Reads a scene. All mistakes are collected in *diagnostics, which the caller releases; with at least one error the
/// status is CAROM_ERR_SCENE and *file is null. Overrides apply ("vehicles.0.speed=2 m/s"); null options mean defaults.
CAROM_API carom_status carom_navigate_read(const char *path, const carom_scene_options *options,
                                           const carom_allocator *allocator, carom_navigate_file **file,
                                           carom_diagnostics *diagnostics);
CAROM_API void carom_navigate_file_destroy(carom_navigate_file *file);  ///< null is fine

#ifdef __cplusplus
}
#endif
#endif
