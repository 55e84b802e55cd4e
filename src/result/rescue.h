// A file that was removed while it is written: its bytes live on behind the descriptor, and can get a name again.
#ifndef CAROM_SRC_RESULT_RESCUE_H
#define CAROM_SRC_RESULT_RESCUE_H

#include "carom/base.h"

typedef enum carom_whereabouts {
  CAROM_FILE_IN_PLACE,
  CAROM_FILE_MOVED,    // it has a name, but not this one
  CAROM_FILE_REMOVED,  // it has none
} carom_whereabouts;

carom_whereabouts carom_file_whereabouts(const char *path, int descriptor);

// Copies what is behind the descriptor to a new file of that name, making its folder anew where that went as well, and
// points the descriptor at the copy. A file that others have put there meanwhile stays, and `path` (of `size` bytes)
// becomes another name beside it; where nothing can be
// written there any more, it becomes a name in the current folder.
carom_status carom_file_rescue(char *path, size_t size, int descriptor, const carom_allocator *allocator,
                               carom_error *error);

#endif
