// The distinct shapes of a model, and their tables as a result file keeps them.
#ifndef CAROM_SRC_RESULT_SHAPE_SET_H
#define CAROM_SRC_RESULT_SHAPE_SET_H

#include "carom/model.h"
#include "result/table.h"

// Shapes that several parts share (the same object) are counted once, in the order of first use.
typedef struct carom_shape_set {
  int count;
  const carom_shape **shapes;  // (count) borrowed from the model
  int *of_part;                // (part_count) index into shapes
} carom_shape_set;

bool carom_shape_set_create(carom_shape_set *set, const carom_model *model, const carom_allocator *allocator);
void carom_shape_set_release(carom_shape_set *set, const carom_allocator *allocator);

typedef struct carom_shape_row {
  int kind;
  double radius, half_length;
  carom_vec3 half_axes;
} carom_shape_row;
extern const carom_table carom_shape_table;  // half_axes last: files from before shapes that need it do not have it

// Flat tables, since thousands of small groups and datasets would be slow to write and to read.
typedef struct carom_shape_tables {
  size_t shape_count, vertex_count, face_count, corner_count;
  carom_shape_row *rows;           // (shape_count)
  int *vertex_start, *face_start;  // (shape_count + 1)
  carom_vec3 *vertices;            // (vertex_count)
  int *face_vertex_start;          // (face_count + 1)
  int *face_vertices;              // (corner_count)
} carom_shape_tables;

bool carom_shape_tables_create(carom_shape_tables *tables, const carom_shape_set *set,
                               const carom_allocator *allocator);
void carom_shape_tables_release(carom_shape_tables *tables, const carom_allocator *allocator);

#endif
