/// carom/lcp_file.h: complementarity problems in files: read in several formats, written in one.
#ifndef CAROM_LCP_FILE_H
#define CAROM_LCP_FILE_H

#include "carom/lcp.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One or several problems from a file. Formats, told apart by their first bytes:
/// - Carom's own text: `carom-lcp 1`, then `n 3`, `M` and n*n numbers row by row, `q` and n numbers, and if there are
///   bounds `lower` and `upper` with n numbers each (`inf` and `-inf` allowed); `#` begins a remark;
/// - JSON: an object with "M" (rows), "q" and perhaps "lower" and "upper" (null for none), or an array of such;
/// - the text layouts of the Siconos collection, linear and mixed, dense and in sparse blocks;
/// - `LCPFILE1`: int32 n and count, then for each M (column-major) and q as doubles, little-endian.
/// See docs/complementarity.md.
typedef struct carom_lcp_set carom_lcp_set;

/// Reads a file. CAROM_ERR_IO when it cannot be read, CAROM_ERR_FORMAT with the place that is wrong, CAROM_ERR_LIMIT
/// beyond 4 GiB.
CAROM_API carom_status carom_lcp_set_read(const char *path, const carom_allocator *allocator, carom_lcp_set **set,
                                          carom_error *error);
/// The same from memory.
CAROM_API carom_status carom_lcp_set_parse(const carom_bytes *bytes, const carom_allocator *allocator,
                                           carom_lcp_set **set, carom_error *error);
CAROM_API void carom_lcp_set_destroy(carom_lcp_set *set);              ///< null is fine
CAROM_API int carom_lcp_set_count(const carom_lcp_set *set);           ///< how many problems; at least 1
CAROM_API const char *carom_lcp_set_format(const carom_lcp_set *set);  ///< "text", "json", "siconos" or "binary"
/// Problem i (from 0) as a mixed one, valid as long as the set; both bounds are null when it is linear.
CAROM_API carom_mlcp_problem carom_lcp_set_problem(const carom_lcp_set *set, int i);

/// A friction cone from a file.
typedef struct carom_cone_file carom_cone_file;

/// Reads JSON: an object with "N" (an array of one column for each contact), "mu" (one number for each), and where
/// there are any "D" (the columns of friction directions, contact by contact) and "F" (a column for each joint). Fails
/// as carom_lcp_set_read does.
CAROM_API carom_status carom_cone_file_read(const char *path, const carom_allocator *allocator, carom_cone_file **file,
                                            carom_error *error);
CAROM_API void carom_cone_file_destroy(carom_cone_file *file);  ///< null is fine
/// The cone, valid as long as the file.
CAROM_API carom_friction_cone carom_cone_file_cone(const carom_cone_file *file);

/// Writes a problem in Carom's own text, with all digits, whole or not at all, over an older file of that
/// name. `remark` (may be null) goes on top. CAROM_ERR_IO when it cannot be written.
CAROM_API carom_status carom_lcp_write(const carom_mlcp_problem *problem, const char *path, const char *remark,
                                       const carom_allocator *allocator, carom_error *error);

#ifdef __cplusplus
}
#endif
#endif
