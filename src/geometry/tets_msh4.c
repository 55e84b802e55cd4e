// Version 4.1 of Gmsh's format: entities with physical groups, and nodes and elements in blocks by entity.
#include <limits.h>

#include "geometry/tets_msh.h"

enum { VOLUME = 3 };

// ---- entities -----------------------------------------------------------------------------------

static carom_status skip_reals(carom_msh *m, int count) {
  double number;
  carom_status status = CAROM_OK;
  for (int i = 0; i < count && !status; i++) status = carom_msh_real(m, &number);
  return status;
}

// The first of its physical groups counts.
static carom_status read_groups(carom_msh *m, int64_t *group) {
  int64_t count;
  *group = 0;
  carom_status status = carom_msh_count(m, 8, "the number of physical groups", 4, &count);
  if (!status && count > 0) status = carom_msh_whole(m, 4, "a physical group", group);
  return status ? status : carom_msh_skip(m, 4, count - 1);
}

static carom_status read_entity(carom_msh *m, int dimension) {
  int64_t tag, group, bounding;
  carom_status status = carom_msh_whole(m, 4, "an entity's number", &tag);
  if (!status) status = skip_reals(m, dimension == 0 ? 3 : 6);
  if (!status) status = read_groups(m, &group);
  if (!status && dimension > 0) {
    status = carom_msh_count(m, 8, "the number of bounding entities", 4, &bounding);
    if (!status) status = carom_msh_skip(m, 4, bounding);
  }
  if (status || dimension < VOLUME) return status;
  if (group > INT_MAX || group < INT_MIN)
    return carom_msh_refuse(m, CAROM_ERR_FORMAT, "a number of a physical group is out of range:", group);
  return carom_msh_add_tag(m, &m->volumes, (carom_tag){tag, (int)group});
}

carom_status carom_msh4_entities(carom_msh *m) {
  int64_t count[4];
  carom_status status = CAROM_OK;
  for (int d = 0; d <= VOLUME && !status; d++) status = carom_msh_count(m, 8, "the number of entities", 36, &count[d]);
  for (int d = 0; d <= VOLUME && !status; d++)
    for (int64_t i = 0; i < count[d] && !status; i++) status = read_entity(m, d);
  if (!status && carom_msh_sort_tags(&m->volumes) >= 0)
    status = carom_fail(m->error, CAROM_ERR_FORMAT, "%s: two volumes have the same number", m->text.name);
  return status;
}

// ---- blocks -------------------------------------------------------------------------------------

typedef struct block {
  int64_t dimension, entity, special, count;  // special: whether nodes are parametric, or the type of elements
} block;

static carom_status read_block(carom_msh *m, const char *what, int64_t each, block *b) {
  carom_status status = carom_msh_whole(m, 4, "a dimension", &b->dimension);
  if (!status && (b->dimension < 0 || b->dimension > VOLUME))
    status = carom_msh_refuse(m, CAROM_ERR_FORMAT, "expected a dimension of 0 to 3, found", b->dimension);
  if (!status) status = carom_msh_whole(m, 4, "an entity's number", &b->entity);
  if (!status) status = carom_msh_whole(m, 4, what, &b->special);
  return status ? status : carom_msh_count(m, 8, "the length of a block", each, &b->count);
}

// Number of blocks, number of things, least and largest tag: the last three follow from what comes.
static carom_status read_header(carom_msh *m, const char *what, int64_t *blocks) {
  int64_t count;
  carom_status status = carom_msh_count(m, 8, "the number of blocks", 20, blocks);
  if (!status) status = carom_msh_count(m, 8, what, 8, &count);
  return status ? status : carom_msh_skip(m, 8, 2);
}

// ---- nodes --------------------------------------------------------------------------------------

// The numbers of the nodes come first; they wait among the tags until the positions come.
static carom_status read_node_tags(carom_msh *m, const block *b) {
  carom_status status = CAROM_OK;
  for (int64_t i = 0; i < b->count && !status; i++) {
    int64_t tag;
    status = carom_msh_whole(m, 8, "a node's number", &tag);
    if (!status) status = carom_msh_add_tag(m, &m->nodes, (carom_tag){tag, m->nodes.count});
  }
  return status;
}

static carom_status read_node_block(carom_msh *m) {
  block b;
  carom_status status = read_block(m, "0 or 1 (parametric)", 32, &b);
  if (!status) status = read_node_tags(m, &b);
  int parameters = !status && b.special ? (int)b.dimension : 0, first = m->soup->node_count;
  for (int64_t i = 0; i < b.count && !status; i++) {
    double x[3] = {0};
    for (int k = 0; k < 3 && !status; k++) status = carom_msh_real(m, &x[k]);
    carom_tet_node node = {cm_vec3(x[0], x[1], x[2]), m->nodes.items[first + i].key, carom_msh_line(m)};
    if (!status) status = skip_reals(m, parameters);
    if (!status) status = carom_tet_soup_add_node(m->soup, &node, m->error);
  }
  return status;
}

carom_status carom_msh4_nodes(carom_msh *m) {
  int64_t blocks;
  carom_status status = read_header(m, "the number of nodes", &blocks);
  for (int64_t i = 0; i < blocks && !status; i++) status = read_node_block(m);
  return status ? status : carom_msh_end_nodes(m);
}

// ---- elements -----------------------------------------------------------------------------------

static carom_status read_element(carom_msh *m, const block *b, int group) {
  carom_tet tet = {.group = group};
  int nodes;
  bool tetrahedron;
  carom_status status = carom_msh_whole(m, 8, "an element's number", &tet.tag);
  if (!status) status = carom_msh_element(m, b->special, tet.tag, &nodes, &tetrahedron);
  if (status) return status;
  tet.line = carom_msh_line(m);
  if (tetrahedron) return carom_msh_add_tet(m, 8, tet);
  m->soup->passed_over++;
  return carom_msh_skip(m, 8, nodes);
}

static carom_status read_element_block(carom_msh *m) {
  block b;
  carom_status status = read_block(m, "a type of element", 16, &b);
  if (status) return status;
  const carom_tag *volume = b.dimension == VOLUME ? carom_msh_find_tag(&m->volumes, b.entity) : NULL;
  for (int64_t i = 0; i < b.count && !status; i++) status = read_element(m, &b, volume ? volume->value : 0);
  return status;
}

carom_status carom_msh4_elements(carom_msh *m) {
  int64_t blocks;
  carom_status status = read_header(m, "the number of elements", &blocks);
  for (int64_t i = 0; i < blocks && !status; i++) status = read_element_block(m);
  return status;
}
