// Collecting findings: every mistake in one go, each with its place.
#ifndef CAROM_SRC_SCENE_DIAGNOSTICS_H
#define CAROM_SRC_SCENE_DIAGNOSTICS_H

#include "carom/scene.h"

// Where something stands. `line` 0 means that there is no line (an override, a file that cannot be opened).
typedef struct carom_place {
  const char *file;
  int line, column;
} carom_place;

typedef struct carom_reporter {
  carom_diagnostics *list;
  int capacity;
  bool out_of_memory;
} carom_reporter;

enum { CAROM_MAX_DIAGNOSTICS = 100 };  // the last one kept says that there are more

void carom_reporter_begin(carom_reporter *reporter, carom_diagnostics *list, const carom_allocator *allocator);
// An error. The hint may be null. Control characters in the text become '?'; a repetition is dropped. Always false.
bool carom_report(carom_reporter *reporter, carom_place place, const char *hint, const char *format, ...)
    CAROM_PRINTF(4, 5);
// A warning; always true: what is read is good enough to go on.
bool carom_warn(carom_reporter *reporter, carom_place place, const char *hint, const char *format, ...)
    CAROM_PRINTF(4, 5);
// Takes back the findings from number `from` on, but for the last `kept`.
void carom_reporter_take_back(carom_reporter *reporter, int from, int kept);
// By place, file after file, so that a user can go through a file from top to bottom.
void carom_reporter_sort(carom_reporter *reporter);
// True when no more can be kept: reading on would only cost time.
bool carom_reporter_full(const carom_reporter *reporter);

#endif
