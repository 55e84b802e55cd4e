// Meshes of tetrahedra: how they are put together by readers and makers, and how they are checked.
#ifndef CAROM_SRC_GEOMETRY_TETS_H
#define CAROM_SRC_GEOMETRY_TETS_H

#include "carom/tets.h"
#include "geometry/mesh.h"

#define CAROM_TETS_MAX (INT32_MAX / 6)  // an int counts their edges
#define CAROM_TETS_NODES_MAX (INT32_MAX / 3)

// ---- as they are read ---------------------------------------------------------------------------

typedef struct carom_tet_node {
  carom_vec3 at;
  int64_t tag;  // its number in the file
  int line;     // where it stands in the file; 0 where there are no lines
} carom_tet_node;

typedef struct carom_tet {
  int v[4];  // nodes, counted as they came
  int group;
  int line;
  int64_t tag;
} carom_tet;

typedef struct carom_tet_soup {
  const char *name;       // of the file, for messages; null for meshes that are made
  const char *node_name;  // of the file with the nodes
  carom_tet_node *nodes;
  carom_tet *tets;
  carom_tets_name *names;
  int node_count, node_capacity, tet_count, tet_capacity, name_count, name_capacity;
  int64_t passed_over;  // elements without a volume
  carom_allocator allocator;
} carom_tet_soup;

carom_status carom_tet_soup_add_node(carom_tet_soup *soup, const carom_tet_node *node, carom_error *error);
carom_status carom_tet_soup_add_tet(carom_tet_soup *soup, const carom_tet *tet, carom_error *error);
carom_status carom_tet_soup_add_name(carom_tet_soup *soup, int group, carom_word name, carom_error *error);
void carom_tet_soup_release(carom_tet_soup *soup);
// Scales, turns round, checks and hands over; releases the soup whatever comes of it.
carom_status carom_tet_soup_finish(carom_tet_soup *soup, const carom_tets_options *options, carom_tets *tets,
                                   carom_error *error);
carom_status carom_tets_check_options(const carom_tets_options *options, carom_error *error);

// "name:line: ", "name: " or nothing.
typedef struct carom_place {
  char text[600];
} carom_place;
carom_place carom_tet_place(const carom_tet_soup *soup, int line);
carom_place carom_node_place(const carom_tet_soup *soup, const carom_tet_node *node);

// The readers. The text's name is that of the soup.
carom_status carom_msh_parse(carom_text text, carom_tet_soup *soup, carom_error *error);
carom_status carom_vtk_parse(carom_text text, carom_tet_soup *soup, carom_error *error);
carom_status carom_vtu_parse(carom_text text, carom_tet_soup *soup, carom_error *error);
carom_status carom_tetgen_parse_nodes(carom_text text, carom_tet_soup *soup, carom_error *error);
carom_status carom_tetgen_parse_tets(carom_text text, carom_tet_soup *soup, carom_error *error);

// What a reader needs to know of a cell of VTK.
typedef enum carom_cell_kind { CAROM_CELL_TET, CAROM_CELL_FLAT, CAROM_CELL_SOLID } carom_cell_kind;
// A cell of that type (of VTK), refused when it has a volume and is no tetrahedron of four nodes.
typedef struct carom_vtk_cell {
  int64_t type, count, tag;
  int line;
} carom_vtk_cell;
carom_status carom_vtk_check_cell(const carom_tet_soup *soup, const carom_vtk_cell *cell, carom_cell_kind *kind,
                                  carom_error *error);
// Refuses a count that needs more bytes than the text has left.
carom_status carom_tet_check_room(const carom_text *text, const char *what, int64_t count, int64_t bytes_each,
                                  carom_error *error);

// ---- faces --------------------------------------------------------------------------------------

// Corners of the face opposite each corner, counter-clockwise seen from outside.
extern const int carom_tet_face[4][3];
extern const int carom_tet_edge[6][2];

// Face 4 t + k lies opposite corner k of tetrahedron t. They are sorted by their nodes: equal ones are neighbours.
typedef struct carom_tet_faces {
  int count;
  int *order;     // (count) faces
  int *nodes[3];  // (count) of each face, ascending
} carom_tet_faces;

bool carom_tet_faces_create(const carom_tets *tets, const carom_allocator *allocator, carom_tet_faces *faces);
void carom_tet_faces_destroy(carom_tet_faces *faces, const carom_allocator *allocator);
// Behind the faces that are equal to that at order[i].
int carom_tet_faces_run(const carom_tet_faces *faces, int i);

// Six times the volume.
static inline double carom_tet_determinant(carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 d) {
  return cm_dot(cm_cross(cm_sub(b, a), cm_sub(c, a)), cm_sub(d, a));
}

#endif
