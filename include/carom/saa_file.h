/// carom/saa_file.h: two-stage stochastic programs in files: YAML with expressions, and SMPS. docs/stochastic.md has
/// both formats.
#ifndef CAROM_SAA_FILE_H
#define CAROM_SAA_FILE_H

#include "carom/saa.h"
#include "carom/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CAROM_SAA_MOST_LISTED = 100000 };  ///< scenarios that are solved for as they are, and not drawn

/// A problem that was read. Never changes.
typedef struct carom_saa_file {
  char *title;                      ///< may be empty
  char *description;                ///< likewise
  const char *format;               ///< "yaml" or "smps"
  bool maximize;                    ///< costs in `model` are gains with the opposite sign
  carom_saa_model model;            ///< the problem, and how its scenarios are drawn
  carom_saa_set scenarios;          ///< all there are; count is 0 where they are too many, or not to be counted
  double combinations;              ///< how many there are; infinite where something is continuous
  int file_count;                   ///< files that were read,
  const char *const *files;         ///< (file_count) by the names they were opened with
  struct carom_saa_tables *tables;  ///< what all this points into
  carom_allocator allocator;        ///< of all this
} carom_saa_file;

/// Reads a problem: a core file (.cor, .core or .mps) with the .tim and .sto files of that name beside it, or YAML.
/// All mistakes of YAML are collected in *diagnostics, and the first one of SMPS, each with its place; the caller
/// releases them. CAROM_ERR_SCENE when there are any, CAROM_ERR_MEMORY is the only other failure. Of `options`, which
/// may be null, YAML takes the overrides.
CAROM_API carom_status carom_saa_read(const char *path, const carom_scene_options *options,
                                      const carom_allocator *allocator, carom_saa_file **file,
                                      carom_diagnostics *diagnostics);
CAROM_API void carom_saa_file_destroy(carom_saa_file *file);  ///< null is fine

#ifdef __cplusplus
}
#endif
#endif
