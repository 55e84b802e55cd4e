// Files that appear whole or not at all: written under a temporary name in the same folder, then renamed.
#ifndef CAROM_SRC_BASE_ATOMIC_FILE_H
#define CAROM_SRC_BASE_ATOMIC_FILE_H

#include "carom/base.h"

typedef struct carom_atomic_file {
  char *path;       // as the caller gave it, for messages
  char *target;     // where the file goes: `path` with symbolic links followed
  char *temporary;  // null once the file is in place, and for devices
  int descriptor;   // -1 when closed
  bool quick;       // set after opening: no waiting for the disk, for files that are many and can be made again
  carom_allocator allocator;
} carom_atomic_file;

// Opens a temporary file beside `path`. A device or pipe (/dev/stdout) is written directly, as there is nothing to
// rename onto. On failure nothing is left, neither in memory nor on disk.
carom_status carom_atomic_file_open(carom_atomic_file *file, const char *path, const carom_allocator *allocator,
                                    carom_error *error);
carom_status carom_atomic_file_write(carom_atomic_file *file, const void *data, size_t size, carom_error *error);
// Syncs, closes and renames. The file is released on success and on failure (then the temporary file is removed).
carom_status carom_atomic_file_commit(carom_atomic_file *file, carom_error *error);
// Removes the temporary file and releases everything; fine after open failed, after commit, and on a zeroed struct.
void carom_atomic_file_abandon(carom_atomic_file *file);

// The pieces, for a writer that opens the temporary name by itself. `replace` false refuses to go over an existing
// file even if that appeared a moment ago.
void carom_atomic_file_close(carom_atomic_file *file);
carom_status carom_atomic_file_publish(carom_atomic_file *file, bool replace, carom_error *error);

// Asks the disk to keep the folder entry; a failure is harmless and ignored.
void carom_sync_folder(const char *path);
// "cannot <verb> '<path>': <reason>; <remedy>" for an errno value; always CAROM_ERR_IO.
carom_status carom_fail_file(carom_error *error, const char *verb, const char *path, int number);

#endif
