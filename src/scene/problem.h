// What files that name a scene have in common: planning problems and sweeps. Text -> tree -> (overrides), and the
// scene.
#ifndef CAROM_SRC_SCENE_PROBLEM_H
#define CAROM_SRC_SCENE_PROBLEM_H

#include "scene/reader.h"

// Readies a reader for such a file, to be ended by carom_problem_end. Null options mean defaults.
void carom_problem_begin(carom_reader *r, const char *path, const carom_scene_options *options,
                         const carom_allocator *allocator, carom_diagnostics *diagnostics);
// Reads the file and parses it, with the overrides of the options put in: r->root and r->folder, null after a report.
// Overrides "scene.path=value" are for the scene: carom_problem_scene puts them in there.
void carom_problem_load(carom_reader *r);
// Sorts the diagnostics, gives back what only reading needed, and tells what it came to. `memory`: all that was asked
// for so far was there.
carom_status carom_problem_end(carom_reader *r, bool memory);
// The path of the scene that a node names; null after a report. `slot` may be null: then the key is missing.
const char *carom_problem_scene_path(carom_reader *r, const carom_node *slot);
// Reads that scene, of whose text nothing is told if it is none; its findings go to the report. False after an error.
bool carom_problem_scene(carom_reader *r, const char *path, const carom_scene_options *options, carom_scene **scene);
// Reports what was found in another file.
void carom_problem_findings(carom_reader *r, const carom_diagnostics *found);
// Says that a file must begin with "key: 1", unless it does.
void carom_problem_version(carom_reader *r, const carom_node *node, const char *key);
// Sorts the children of a map by `keys` (ends with null) into slots, and reports unknown ones.
bool carom_problem_fields(carom_reader *r, const carom_node *node, const char *const *keys, const char *label,
                          const carom_node **slots);
// The body of a scene that a node names; -1 for none, and after a report with the nearest name.
int carom_problem_body(carom_reader *r, const carom_model *model, const carom_node *node);

#endif
