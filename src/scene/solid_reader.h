// What the files that read solids share.
#ifndef CAROM_SRC_SCENE_SOLID_READER_H
#define CAROM_SRC_SCENE_SOLID_READER_H

#include "base/formula.h"
#include "carom/tets.h"
#include "scene/reader.h"

// Room for choosing nodes and triangles of a mesh.
typedef struct carom_solid_scratch {
  bool *in_place, *mark;  // (node_count)
  bool *in_group;         // (tet_count)
  int *nodes, *holders;   // (node_count)
  int (*triangles)[3];    // (triangle_count of the skin)
} carom_solid_scratch;

// A solid while it is read.
typedef struct carom_solid_place {
  const char *label;       // "solid 'cube'"
  const carom_tets *mesh;  // at rest, in its own frame
  const carom_tets_skin *skin;
  const carom_vec3 *nodes;  // (mesh->node_count) in the world, at the start, m
  carom_solid_scratch scratch;
  int solid;  // of the builder; -1: only checks
} carom_solid_place;

// tets_source.c: a mesh out of its section, which the caller releases; false after an error.
bool carom_read_tets(carom_reader *r, const carom_node *node, carom_tets *tets);
// Whether so many more tetrahedra will do; reports if not.
bool carom_tets_in_budget(carom_reader *r, const carom_node *at, double tets);

// place_formula.c: a formula in x, y and z, the place in the world at the start; it belongs to r->allocator.
bool carom_read_place_formula(carom_reader *r, const carom_node *node, const char *label, carom_formula **formula);
double carom_place_formula_value(const carom_formula *formula, carom_vec3 at);

// solid_holds.c: adds pins and pressures.
bool carom_read_pins(carom_reader *r, const carom_node *list, const carom_solid_place *solid);
bool carom_read_pressures(carom_reader *r, const carom_node *list, const carom_solid_place *solid);

#endif
