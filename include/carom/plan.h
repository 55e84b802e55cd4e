/// carom/plan.h: optimal control problems in files. A problem file (docs/planning.md) names a scene and says what is to
/// be planned in it; the answer goes into a result file like that of any run.
#ifndef CAROM_PLAN_H
#define CAROM_PLAN_H

#include "carom/control.h"
#include "carom/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A problem file, read and built.
typedef struct carom_plan_file {
  char *title;                 ///< never null
  carom_scene *scene;          ///< that the problem names; belongs to the file
  carom_plan *plan;            ///< on the scene's model; belongs to the file
  carom_plan_options options;  ///< for carom_plan_solve
  char *guess;                 ///< the file of an earlier answer that the plan begins from; null: none
  int most_contacts;           ///< > 0: search for up to this many contacts instead of given ones
  carom_allocator allocator;   ///< of all this
} carom_plan_file;

/// Reads a problem and the scene it names. All mistakes of both files are collected in *diagnostics, which the caller
/// releases; with at least one error the status is CAROM_ERR_SCENE and *file is null; CAROM_ERR_NUMBER if the only one
/// is a horizon of zero, a problem that is well written but has no answer. Overrides apply to the problem
/// ("horizon.intervals=60"); null options mean defaults.
CAROM_API carom_status carom_plan_read(const char *path, const carom_scene_options *options,
                                       const carom_allocator *allocator, carom_plan_file **file,
                                       carom_diagnostics *diagnostics);
CAROM_API void carom_plan_file_destroy(carom_plan_file *file);  ///< with its scene and plan; null is fine

/// Begins the plan from the answer in the result file of an earlier one (carom_plan_set_motion), which may have had
/// another grid, other times and other values in its scene, but must have moved the bodies of this model. Forces and
/// joint reactions are taken over where actuators and joints agree. CAROM_ERR_IO or CAROM_ERR_FORMAT when it cannot be
/// read, CAROM_ERR_ARGUMENT when it is no plan, or one of other bodies. carom_plan_read calls it for problems that name
/// a file to begin from, if its options have it as `read_guess`.
CAROM_API carom_status carom_plan_warm(carom_plan *plan, const char *path, carom_error *error);

/// The plan's verdict: feasibility, momentum, overlap, and the replay if there was one (null otherwise). Never
/// allocates.
CAROM_API carom_verdict carom_plan_judge(const carom_plan_report *report, const carom_replay_report *replay);
/// Writes the nodes of a solved plan as frames of a result file that `carom view` and `carom export` read. Fails as
/// carom_recorder_open does; null options mean defaults.
CAROM_API carom_status carom_plan_record(const carom_plan_file *file, const carom_plan_report *report,
                                         const carom_verdict *verdict, const char *path,
                                         const carom_recorder_options *options, carom_error *error);
/// Writes a table of comma-separated values, a line an interval: interval, time (s), step (s), then the components of
/// all actuators (N, N m). Whole or not at all. CAROM_ERR_IO when it cannot be written.
CAROM_API carom_status carom_plan_export_forces(const carom_plan *plan, const char *path, carom_error *error);

#ifdef __cplusplus
}
#endif
#endif
