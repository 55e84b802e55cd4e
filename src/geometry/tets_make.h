// Making meshes of tetrahedra: positive volumes by construction, limits, prisms between levels.
#ifndef CAROM_SRC_GEOMETRY_TETS_MAKE_H
#define CAROM_SRC_GEOMETRY_TETS_MAKE_H

#include "geometry/tets.h"

// A maker stops at its first failure.
typedef struct carom_tets_maker {
  carom_tet_soup soup;
  carom_status status;
  carom_error *error;
} carom_tets_maker;

carom_tets_maker carom_tets_maker_make(const carom_allocator *allocator, carom_error *error);
// Hands over or gives up; nodes that no tetrahedron has are left out.
carom_status carom_tets_maker_finish(carom_tets_maker *maker, carom_tets *tets);
void carom_tets_maker_refuse(carom_tets_maker *maker, const char *format, ...) CAROM_PRINTF(2, 3);
void carom_tets_maker_no_memory(carom_tets_maker *maker);
void carom_tets_check_positive(carom_tets_maker *maker, const char *what, double length);
void carom_tets_check_count(carom_tets_maker *maker, const char *what, int count, int least);
// Refuses a mesh of more tetrahedra than an int can count the faces and edges of.
void carom_tets_check_size(carom_tets_maker *maker, double tets);

int carom_tets_maker_add_node(carom_tets_maker *maker, carom_vec3 at);
// Turned so that its volume is positive; nothing when it has a node twice.
void carom_tets_maker_add(carom_tets_maker *maker, int a, int b, int c, int d);

// Triangles over columns, and the node of each column at each level (level * column_count + column). Every prism
// between levels is cut into three tetrahedra along a staircase over its columns in ascending order, so that neighbours
// agree; columns whose nodes coincide make pyramids and tetrahedra of them.
typedef struct carom_tets_stack {
  const int (*triangles)[3];
  const int *nodes;
  int triangle_count, column_count, level_count;
} carom_tets_stack;
void carom_tets_maker_add_stack(carom_tets_maker *maker, const carom_tets_stack *stack);

// The half-section of a solid of revolution, cut into triangles.
typedef struct carom_section {
  int point_count, point_capacity, triangle_count, triangle_capacity;
  carom_vec3 *points;  // (point_count) r, 0, z
  int (*triangles)[3];
  carom_allocator allocator;
} carom_section;
void carom_section_create(carom_tets_maker *maker, const carom_tets_revolved *def, carom_section *section);
void carom_section_destroy(carom_section *section);

#endif
