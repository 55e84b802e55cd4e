// What contacts and joints carried when a step was last solved, to begin the next solve from. It is kept as forces, so
// that a step of another length begins right; contacts are told apart by the parts they belong to and, within those, by
// the nearest point as seen from A, since the points of a face come in any order.
//
//     carom_memory_begin(memory)                                 then for every contact that was solved
//     carom_memory_note(memory, body, &(carom_memory_record){key, point, force})
//     carom_memory_end(memory)                                   from here on they are recalled
//     if (carom_memory_find(memory, body, key, point, &force)) ...
#ifndef CAROM_SRC_CONTACT_MEMORY_H
#define CAROM_SRC_CONTACT_MEMORY_H

#include "base/arena.h"
#include "base/tape.h"
#include "model/joint_rows.h"

enum { CAROM_MEMORY_STOPS = 4, CAROM_MEMORY_JOINT = CAROM_JOINT_ROWS + CAROM_MEMORY_STOPS };

typedef struct carom_memory_record {
  int64_t key;       // tells the contacts of body A apart
  carom_vec3 point;  // in A's principal frame; zero where a key has one contact only
  carom_vec3 force;  // on A, world axes, N
} carom_memory_record;

typedef struct carom_memory {
  carom_arena arena;
  const carom_model *model;
  carom_memory_record *records;  // those of a body side by side
  int *first, *last;             // (body_count) where they are
  int count, capacity;
  // while they are noted
  carom_memory_record *noted;
  int *noted_body;
  int noted_count, noted_capacity, body_capacity;
  double *joints;  // (joint_count x CAROM_MEMORY_JOINT) N or N m: along the rows of each joint, then along its stops
} carom_memory;

carom_status carom_memory_create(const carom_model *model, const carom_allocator *allocator, carom_memory **memory,
                                 carom_error *error);
void carom_memory_destroy(carom_memory *memory);  // null is fine

void carom_memory_begin(carom_memory *memory);
carom_status carom_memory_note(carom_memory *memory, int body, const carom_memory_record *record, carom_error *error);
carom_status carom_memory_end(carom_memory *memory, carom_error *error);

// For many at once, in several threads: room for `count` records, which the caller writes into memory->records, those
// of a body side by side, with first and last of the bodies that have any. All bodies have none before.
carom_status carom_memory_reserve(carom_memory *memory, int count, carom_error *error);

bool carom_memory_find(const carom_memory *memory, int body, int64_t key, carom_vec3 point, carom_vec3 *force);
void carom_memory_forget(carom_memory *memory, int body);  // its contacts
void carom_memory_clear(carom_memory *memory);             // all contacts and joints

// The key of two parts.
static inline int64_t carom_memory_parts(const carom_model *model, int part_a, int part_b) {
  return (int64_t)part_a * model->part_count + part_b;
}

// Where the force along row `row` of a joint is kept, and that along a stop.
static inline double *carom_memory_joint_row(const carom_memory *memory, int joint, int row) {
  return &memory->joints[joint * CAROM_MEMORY_JOINT + row];
}
static inline double *carom_memory_stop(const carom_memory *memory, int joint, bool turn, bool upper) {
  return &memory->joints[joint * CAROM_MEMORY_JOINT + CAROM_JOINT_ROWS + 2 * turn + upper];
}

// Passes all of it over a tape; false for bytes that are not of such a memory, which then is empty.
bool carom_memory_remember(carom_memory *memory, carom_tape *tape);

#endif
