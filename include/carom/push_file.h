/// carom/push_file.h: problems of pushing in files. A problem file (docs/pushing.md) names a planar scene and the fixed
/// bodies that are its probes, and says which pushes there are, where a part shall be, and what is asked: whether the
/// pushes are robust, which pushes lead to the goal, which friction and support explain pushes that were recorded.
#ifndef CAROM_PUSH_FILE_H
#define CAROM_PUSH_FILE_H

#include "carom/push.h"
#include "carom/push_fit.h"
#include "carom/push_plan.h"
#include "carom/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where a part is when a push begins.
typedef struct carom_push_place {
  bool given;      ///< false: where the push before left it, or the scene has it
  int body;        ///< which part
  double pose[3];  ///< as carom_push_pose tells it
} carom_push_place;

/// A problem file, read and checked.
typedef struct carom_push_file {
  char *title;                       ///< never null
  char *description;                 ///< never null
  carom_scene *scene;                ///< that the problem names; belongs to the file
  carom_pusher_def def;              ///< on the scene's model
  int push_count;                    ///< how many pushes
  carom_push *pushes;                ///< (push_count)
  carom_push_place *places;          ///< (push_count) where they begin
  bool boxed;                        ///< pushes shall be robust from all of `box`
  carom_push_box box;                ///< how well the part is known
  bool plans, fits;                  ///< whether the problem says how pushes are planned, and what is fitted
  carom_push_plan_def plan;          ///< how pushes are planned: all but `progress`
  carom_push_fit_def fit;            ///< what is fitted, likewise; without records where the problem names none
  const char *records;               ///< the file of recorded pushes; null: none
  struct carom_push_tables *tables;  ///< what the definitions point into; the file's own
  carom_allocator allocator;         ///< of all this
} carom_push_file;

/// Reads a problem and the scene it names. All mistakes of both files are collected in *diagnostics, which the caller
/// releases; with at least one error the status is CAROM_ERR_SCENE and *file is null. Overrides apply to the problem
/// ("pushes.0.duration=2 s", "scene.constants.gap=1 um"); null options mean defaults.
CAROM_API carom_status carom_push_read(const char *path, const carom_scene_options *options,
                                       const carom_allocator *allocator, carom_push_file **file,
                                       carom_diagnostics *diagnostics);
CAROM_API void carom_push_file_destroy(carom_push_file *file);  ///< with its scene; null is fine

#ifdef __cplusplus
}
#endif
#endif
