// The nearest known word, for "did you mean".
#ifndef CAROM_SRC_BASE_NEAREST_H
#define CAROM_SRC_BASE_NEAREST_H

#include "base/names.h"

typedef struct carom_nearest {
  const char *word, *best;
  size_t length;
  int distance, tried;
} carom_nearest;

carom_nearest carom_nearest_begin(const char *word, size_t length);
void carom_nearest_try(carom_nearest *nearest, const char *candidate);
void carom_nearest_try_all(carom_nearest *nearest, const carom_names *names);
// Writes "did you mean 'x'?" into hint when something close enough was tried, else "".
void carom_nearest_hint(const carom_nearest *nearest, char *hint, size_t size);

#endif
