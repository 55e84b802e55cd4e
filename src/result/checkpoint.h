// A checkpoint as bytes, and its two places in a result file.
#ifndef CAROM_SRC_RESULT_CHECKPOINT_H
#define CAROM_SRC_RESULT_CHECKPOINT_H

#include "carom/result.h"
#include "result/h5.h"

enum { CAROM_CHECKPOINT_SLOTS = 2, CAROM_CHECKPOINT_META = 3 };  // meta: number, bytes, hash

typedef struct carom_checkpoint_log {
  hid_t meta, slots[CAROM_CHECKPOINT_SLOTS];
  int64_t written;
  unsigned char *bytes;  // scratch
  size_t capacity;
  size_t longest[CAROM_CHECKPOINT_SLOTS];
} carom_checkpoint_log;

void carom_checkpoint_clear(carom_checkpoint_log *log);
// The empty datasets.
void carom_checkpoint_create(carom_h5_file *file, size_t body_count, size_t node_count);
void carom_checkpoint_open(carom_checkpoint_log *log, carom_h5_file *file);
void carom_checkpoint_close(carom_checkpoint_log *log);
void carom_checkpoint_write(carom_checkpoint_log *log, carom_h5_file *file, const carom_state *state,
                            const void *memory, size_t size);

// The bytes of the newest sound checkpoint of a file; null when there is none. The block is the caller's.
unsigned char *carom_checkpoint_read(carom_h5_file *file, size_t *size);
// Takes a checkpoint apart; false when it is not of such a state.
bool carom_checkpoint_unpack(const unsigned char *bytes, size_t size, carom_state *state, const void **memory,
                             size_t *memory_size);

#endif
