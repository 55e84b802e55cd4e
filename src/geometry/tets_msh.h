// What the two generations of Gmsh's format have in common: one set of words for text and binary, tags, element types.
#ifndef CAROM_SRC_GEOMETRY_TETS_MSH_H
#define CAROM_SRC_GEOMETRY_TETS_MSH_H

#include "geometry/tets.h"

// Pairs (key, value), to be looked up by key once sorted.
typedef struct carom_tag {
  int64_t key;
  int value;
} carom_tag;

typedef struct carom_tags {
  carom_tag *items;
  int count, capacity;
} carom_tags;

typedef struct carom_msh {
  carom_text text;
  bool binary, swapped;  // swapped: of the other byte order
  const char *begin;     // of the file: messages on binary parts count bytes from here
  carom_tet_soup *soup;
  carom_tags nodes;    // index of each node by tag
  carom_tags volumes;  // physical group of each volume by tag (version 4)
  carom_error *error;
} carom_msh;

// Each returns a status and has filled the error then. Whole numbers in binary files have 4 or 8 bytes.
carom_status carom_msh_whole(carom_msh *m, int bytes, const char *expected, int64_t *value);
carom_status carom_msh_real(carom_msh *m, double *value);
// The number of things, each of at least so many bytes in a binary file, that a section announces.
carom_status carom_msh_count(carom_msh *m, int bytes, const char *what, int64_t each, int64_t *value);
// Refuses a number of things that the rest of the file has no room for; in text each takes two bytes or more.
carom_status carom_msh_check_room(const carom_msh *m, const char *what, int64_t count, int64_t each);
int carom_msh_line(const carom_msh *m);  // 0 in binary files
carom_status carom_msh_refuse(const carom_msh *m, carom_status status, const char *what, long long number);

carom_status carom_msh_add_tag(carom_msh *m, carom_tags *tags, carom_tag tag);
// Sorts by key; returns the index of the first that has the key of one before it, or -1.
int carom_msh_sort_tags(carom_tags *tags);
const carom_tag *carom_msh_find_tag(const carom_tags *tags, int64_t key);

// Node tag and position follow; more coordinates (of parametric nodes) are the caller's to skip.
carom_status carom_msh_add_node(carom_msh *m, int64_t tag, int line);
carom_status carom_msh_end_nodes(carom_msh *m);

// Nodes of an element of this type, and whether it is a tetrahedron, flat, or refused with its name.
carom_status carom_msh_element(carom_msh *m, int64_t type, int64_t tag, int *nodes, bool *tetrahedron);
// Reads the four nodes of a tetrahedron and adds it.
carom_status carom_msh_add_tet(carom_msh *m, int bytes, carom_tet tet);
// Passes over whole numbers.
carom_status carom_msh_skip(carom_msh *m, int bytes, int64_t count);

carom_status carom_msh2_nodes(carom_msh *m);
carom_status carom_msh2_elements(carom_msh *m);
carom_status carom_msh4_entities(carom_msh *m);
carom_status carom_msh4_nodes(carom_msh *m);
carom_status carom_msh4_elements(carom_msh *m);

#endif
