// Bytes written one after the other and read back in the same order: what objects remember beside the state. One
// function passes all that an object remembers over a tape; the tape says whether that counts, writes or reads, so that
// saving and recalling cannot disagree:
//
//     static bool remember(thing *t, carom_tape *tape) {
//       return carom_tape_pass(tape, &t->clock, sizeof t->clock) && ...;
//     }
//
//     carom_tape tape = {0};                             counting: tape.at is the size in the end
//     carom_tape tape = {.bytes = bytes};                writing
//     carom_tape tape = {.from = bytes, .size = size};   reading; false when the bytes are cut off or not sound
#ifndef CAROM_SRC_BASE_TAPE_H
#define CAROM_SRC_BASE_TAPE_H

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct carom_tape {
  unsigned char *bytes;       // written to; may be null
  const unsigned char *from;  // read from
  size_t at, size;
} carom_tape;

static inline bool carom_tape_reads(const carom_tape *tape) { return tape->from != NULL; }

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

// Reads into `data`, or writes from it.
static inline bool carom_tape_pass(carom_tape *tape, void *data, size_t size) {
  if (carom_tape_reads(tape)) return carom_tape_get(tape, data, size);
  carom_tape_put(tape, data, size);
  return true;
}

// Read, they are finite: what is not a number must not reach a solver, least of all from a file.
static inline bool carom_tape_pass_numbers(carom_tape *tape, void *numbers, size_t count) {
  if (!carom_tape_pass(tape, numbers, count * sizeof(double))) return false;
  for (size_t i = 0; i < count && carom_tape_reads(tape); i++)
    if (!isfinite(((const double *)numbers)[i])) return false;
  return true;
}

// How many elements of `size` bytes follow. Read, it is not negative and no more than there are bytes for.
static inline bool carom_tape_pass_count(carom_tape *tape, int *count, size_t size) {
  if (!carom_tape_pass(tape, count, sizeof *count)) return false;
  if (!carom_tape_reads(tape)) return true;
  return *count >= 0 && (size_t)*count <= (tape->size - tape->at) / (size > 0 ? size : 1);
}

static inline bool carom_tape_ended(const carom_tape *tape) { return tape->at == tape->size; }

#endif
