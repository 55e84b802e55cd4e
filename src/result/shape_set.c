#include "result/shape_set.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"

// ---- distinct shapes -----------------------------------------------------------------------------------------------

// Open addressing with linear probing in a table at most half full; slots hold index + 1.
static int find_or_add(carom_shape_set *set, int *slots, size_t mask, const carom_shape *shape) {
  // Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4): the low bits of an address carry nothing.
  size_t slot = (size_t)(((uint64_t)(uintptr_t)shape * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;
  while (slots[slot] != 0) {
    if (set->shapes[slots[slot] - 1] == shape) return slots[slot] - 1;
    slot = (slot + 1) & mask;
  }
  set->shapes[set->count] = shape;
  slots[slot] = ++set->count;
  return set->count - 1;
}

bool carom_shape_set_create(carom_shape_set *set, const carom_model *model, const carom_allocator *allocator) {
  size_t parts = (size_t)model->part_count, size = 16;
  while (size < 2 * parts) size *= 2;
  *set = (carom_shape_set){0};
  int *slots = CAROM_NEW(allocator, int, size);
  bool enough = CAROM_NEW_ALL(allocator, CAROM_ROOM(set->shapes, parts), CAROM_ROOM(set->of_part, parts)) && slots;
  if (enough) {
    for (size_t p = 0; p < parts; p++) set->of_part[p] = find_or_add(set, slots, size - 1, model->parts[p].shape);
  } else {
    carom_shape_set_release(set, allocator);
  }
  carom_release(allocator, slots);
  return enough;
}

void carom_shape_set_release(carom_shape_set *set, const carom_allocator *allocator) {
  CAROM_RELEASE_ALL(allocator, (void *)set->shapes, set->of_part);
  *set = (carom_shape_set){0};
}

static const carom_column shape_columns[] = {
    CAROM_COLUMN(SHAPE_KIND, WORD, carom_shape_row, kind, .rank = 1, .n1 = CAROM_SHAPE_KIND_NAME_SIZE,
                 .n2 = CAROM_SHAPE_KIND_COUNT, .words = carom_shape_kind_names),
    CAROM_COLUMN(SHAPE_RADIUS, DOUBLE, carom_shape_row, radius, .rank = 1),
    CAROM_COLUMN(SHAPE_HALF_LENGTH, DOUBLE, carom_shape_row, half_length, .rank = 1),
    CAROM_COLUMN(SHAPE_HALF_AXES, DOUBLE, carom_shape_row, half_axes, .rank = 2, .n1 = 3),
};
const carom_table carom_shape_table = CAROM_TABLE(shape_columns, carom_shape_row);

// ---- tables --------------------------------------------------------------------------------------------------------

static void count_all(carom_shape_tables *tables, const carom_shape_set *set) {
  tables->shape_count = (size_t)set->count;
  for (int s = 0; s < set->count; s++) {
    const carom_polytope *polytope = carom_shape_polytope(set->shapes[s]);
    if (!polytope) continue;
    tables->vertex_count += (size_t)polytope->vertex_count;
    tables->face_count += (size_t)polytope->face_count;
    tables->corner_count += (size_t)polytope->face_start[polytope->face_count];
  }
}

static bool allocate_all(carom_shape_tables *tables, const carom_allocator *allocator) {
  size_t shapes = tables->shape_count;
  return CAROM_NEW_ALL(allocator, CAROM_ROOM(tables->rows, shapes), CAROM_ROOM(tables->vertex_start, shapes + 1),
                       CAROM_ROOM(tables->face_start, shapes + 1), CAROM_ROOM(tables->vertices, tables->vertex_count),
                       CAROM_ROOM(tables->face_vertex_start, tables->face_count + 1),
                       CAROM_ROOM(tables->face_vertices, tables->corner_count));
}

static void append_polytope(carom_shape_tables *tables, const carom_polytope *polytope, int *vertex, int *face) {
  int corner = tables->face_vertex_start[*face];
  memcpy(tables->vertices + *vertex, polytope->vertices, (size_t)polytope->vertex_count * sizeof(carom_vec3));
  *vertex += polytope->vertex_count;
  memcpy(tables->face_vertices + corner, polytope->face_vertices,
         (size_t)polytope->face_start[polytope->face_count] * sizeof(int));
  for (int f = 0; f < polytope->face_count; f++)
    tables->face_vertex_start[++*face] = corner + polytope->face_start[f + 1];
}

bool carom_shape_tables_create(carom_shape_tables *tables, const carom_shape_set *set,
                               const carom_allocator *allocator) {
  *tables = (carom_shape_tables){0};
  count_all(tables, set);
  if (!allocate_all(tables, allocator)) {
    carom_shape_tables_release(tables, allocator);
    return false;
  }
  int vertex = 0, face = 0;
  for (int s = 0; s < set->count; s++) {
    const carom_shape *shape = set->shapes[s];
    tables->rows[s] = (carom_shape_row){(int)carom_shape_get_kind(shape), carom_shape_radius(shape),
                                        carom_shape_half_length(shape), carom_shape_half_axes(shape)};
    if (carom_shape_polytope(shape)) append_polytope(tables, carom_shape_polytope(shape), &vertex, &face);
    tables->vertex_start[s + 1] = vertex;
    tables->face_start[s + 1] = face;
  }
  return true;
}

void carom_shape_tables_release(carom_shape_tables *tables, const carom_allocator *allocator) {
  CAROM_RELEASE_ALL(allocator, tables->rows, tables->vertex_start, tables->face_start, tables->vertices,
                    tables->face_vertex_start, tables->face_vertices);
  *tables = (carom_shape_tables){0};
}
