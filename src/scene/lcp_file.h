// Reading complementarity problems: what the formats share.
#ifndef CAROM_SRC_SCENE_LCP_FILE_H
#define CAROM_SRC_SCENE_LCP_FILE_H

#include "carom/lcp_file.h"
#include "geometry/mesh.h"

enum { CAROM_LCP_FILE_MOST = 20000 };  // unknowns

// One problem under construction; all arrays owned.
typedef struct carom_lcp_record {
  int n;
  double *M, *q, *lower, *upper;  // bounds null when there are none
} carom_lcp_record;

struct carom_lcp_set {
  carom_allocator allocator;
  const char *format;
  carom_lcp_record *records;
  int count, capacity;
};

// A new record at the end of the set, all null; null when out of memory.
carom_lcp_record *carom_lcp_set_add(carom_lcp_set *set);
// Room for `count` numbers in *array, unless the text that is left could not spell them, which saves memory from
// broken sizes.
carom_status carom_lcp_reserve(carom_lcp_set *set, const carom_text *text, double **array, size_t count,
                               carom_error *error);

// A number as C spells it, or inf and -inf where that is allowed; the thread's locale is "C".
carom_status carom_lcp_number(const carom_text *text, carom_word word, bool infinite, double *value,
                              carom_error *error);

carom_status carom_lcp_read_text(carom_lcp_set *set, carom_text *text, carom_error *error);
carom_status carom_lcp_read_json(carom_lcp_set *set, carom_text *text, carom_error *error);
carom_status carom_lcp_read_siconos(carom_lcp_set *set, carom_text *text, carom_error *error);
carom_status carom_lcp_read_binary(carom_lcp_set *set, carom_text *text, carom_error *error);
// The arrays of the cone are those of a record of the set.
carom_status carom_lcp_read_cone(carom_lcp_set *set, carom_text *text, carom_friction_cone *cone, carom_error *error);

#endif
