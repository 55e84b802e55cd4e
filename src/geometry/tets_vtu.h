// The numbers of XML files of VTK: a DataArray in any of its encodings.
#ifndef CAROM_SRC_GEOMETRY_TETS_VTU_H
#define CAROM_SRC_GEOMETRY_TETS_VTU_H

#include "geometry/tets.h"

// What the file says of its binary parts.
typedef struct carom_vtu_file {
  const char *name;
  const char *appended, *appended_end;  // behind the underscore; null when there are none
  bool appended_base64;
  int header;       // bytes of the numbers that go before a block: 4 or 8
  bool swapped;     // of the other byte order
  bool compressed;  // by zlib
  const carom_allocator *allocator;
  carom_error *error;
} carom_vtu_file;

typedef struct carom_vtu_array {
  carom_word type, format, name;  // as the attributes have them
  int64_t offset;                 // of appended data
  carom_text content;             // of inline data
} carom_vtu_array;

typedef struct carom_vtu_values {
  double *values;  // (count) the caller's to release
  int64_t count;
} carom_vtu_values;

carom_status carom_vtu_read_values(const carom_vtu_file *file, const carom_vtu_array *array, carom_vtu_values *values);

#endif
