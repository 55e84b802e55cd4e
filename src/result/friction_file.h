// Problems of friction in files: what the formats share.
#ifndef CAROM_SRC_RESULT_FRICTION_FILE_H
#define CAROM_SRC_RESULT_FRICTION_FILE_H

#include "carom/friction_file.h"
#include "geometry/mesh.h"

enum { CAROM_FRICTION_FILE_MOST = 1000000 };  // contacts

struct carom_friction_file {
  carom_allocator allocator;
  const char *format;
  int dimension, count;
  int *start, *column;
  double *W, *q, *mu;
  double *guess;  // or null
};

// W entry by entry, in any order; entries of one place add up.
typedef struct carom_friction_entries {
  int64_t count;
  const int *row, *column;
  const double *value;
} carom_friction_entries;

// Fills start, column and W, for dimension and count; all of them must be in range.
carom_status carom_friction_file_gather(carom_friction_file *file, const carom_friction_entries *entries,
                                        const char *name, carom_error *error);

carom_status carom_friction_read_text(carom_friction_file *file, carom_text *text, carom_error *error);
carom_status carom_friction_read_fclib(carom_friction_file *file, const carom_bytes *bytes, carom_error *error);

#endif
