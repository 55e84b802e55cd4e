// Whole files into memory.
#ifndef CAROM_SRC_BASE_READ_FILE_H
#define CAROM_SRC_BASE_READ_FILE_H

#include "carom/base.h"

// All of a regular file of at most `limit` bytes, with a zero after the last; null after *why was filled with the
// reason alone. Pipes and devices are refused: they might keep us waiting, or never end. The block is the allocator's.
char *carom_read_file(const char *path, int64_t limit, const carom_allocator *allocator, size_t *size,
                      carom_error *why);

#endif
