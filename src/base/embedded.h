// Files that the build turned into data (cmake/embed.c): a table that ends with a null name.
#ifndef CAROM_SRC_BASE_EMBEDDED_H
#define CAROM_SRC_BASE_EMBEDDED_H

#include <stddef.h>

typedef struct carom_embedded {
  const char *name;
  const unsigned char *bytes;  // followed by a zero byte that does not count
  size_t size;
} carom_embedded;

extern const carom_embedded carom_viewer_files[];  // "replay.html", or nothing when built without the viewer

#endif
