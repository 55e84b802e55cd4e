// Bytes written one after the other and read back in the same order: what objects remember beside the state.
//
//     carom_tape tape = {.bytes = bytes};          writing; with null bytes only counting
//     carom_tape_put(&tape, &head, sizeof head);
//     return tape.at;
//
//     carom_tape tape = {.from = bytes, .size = size};   reading
//     if (!carom_tape_get(&tape, &head, sizeof head)) return false;
//     return carom_tape_ended(&tape);
#ifndef CAROM_SRC_BASE_TAPE_H
#define CAROM_SRC_BASE_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct carom_tape {
  unsigned char *bytes;       // written to; may be null
  const unsigned char *from;  // read from
  size_t at, size;
} carom_tape;

static inline void carom_tape_put(carom_tape *tape, const void *data, size_t size) {
  if (tape->bytes && size > 0) memcpy(tape->bytes + tape->at, data, size);
  tape->at += size;
}

// Where `size` bytes are to be written by someone else; null when only counting.
static inline void *carom_tape_room(carom_tape *tape, size_t size) {
  void *room = tape->bytes ? tape->bytes + tape->at : NULL;
  tape->at += size;
  return room;
}

// The next `size` bytes where they are; null when there are fewer.
static inline const void *carom_tape_take(carom_tape *tape, size_t size) {
  if (size > tape->size - tape->at) return NULL;
  const void *data = tape->from + tape->at;
  tape->at += size;
  return data;
}

static inline bool carom_tape_get(carom_tape *tape, void *data, size_t size) {
  const void *from = carom_tape_take(tape, size);
  if (from && size > 0) memcpy(data, from, size);
  return from != NULL;
}

static inline bool carom_tape_ended(const carom_tape *tape) { return tape->at == tape->size; }

#endif
