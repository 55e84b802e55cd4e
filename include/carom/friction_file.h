/// carom/friction_file.h: problems of Coulomb friction in files: read in the formats of Siconos and FCLIB, written in
/// FCLIB's.
#ifndef CAROM_FRICTION_FILE_H
#define CAROM_FRICTION_FILE_H

#include "carom/friction.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A problem from a file. Formats, told apart by their first bytes:
/// - the text of Siconos: dimension, number of contacts, storage of W (0 dense, 1 sparse blocks), W, q, mu;
/// - FCLIB's HDF5 with a group `fclib_local`: W compressed by columns or rows or as triplets, `vectors/q`,
/// `vectors/mu`,
///   and impulses to begin from in `solution/r` or else `guesses/1/r`, where there are any.
/// See docs/friction.md.
typedef struct carom_friction_file carom_friction_file;

/// Reads a file. CAROM_ERR_IO when it cannot be read, CAROM_ERR_FORMAT with the place that is wrong, CAROM_ERR_LIMIT
/// beyond 4 GiB.
CAROM_API carom_status carom_friction_file_read(const char *path, const carom_allocator *allocator,
                                                carom_friction_file **file, carom_error *error);
/// The same from memory.
CAROM_API carom_status carom_friction_file_parse(const carom_bytes *bytes, const carom_allocator *allocator,
                                                 carom_friction_file **file, carom_error *error);
CAROM_API void carom_friction_file_destroy(carom_friction_file *file);  ///< null is fine
/// Valid as long as the file.
CAROM_API carom_friction_problem carom_friction_file_problem(const carom_friction_file *file);
/// "siconos", "siconos blocks" or "fclib".
CAROM_API const char *carom_friction_file_format(const carom_friction_file *file);
/// Impulses to begin from (dimension * contact_count); null where the file has none.
CAROM_API const double *carom_friction_file_guess(const carom_friction_file *file);

/// Writes FCLIB's HDF5, with the answer as `solution` unless that is null, whole or not at all, over an older file of
/// that name. `title` says what it is. CAROM_ERR_IO when it cannot be written.
CAROM_API carom_status carom_friction_file_write(const carom_friction_problem *problem,
                                                 const carom_friction_solution *solution, const char *title,
                                                 const char *path, const carom_allocator *allocator,
                                                 carom_error *error);

#ifdef __cplusplus
}
#endif
#endif
