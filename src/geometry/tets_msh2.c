// Version 2 of Gmsh's format: nodes one by one; elements with tags of their own, in binary files in runs of one type.
#include <limits.h>

#include "geometry/tets_msh.h"

carom_status carom_msh2_nodes(carom_msh *m) {
  enum { BYTES = 28 };
  int64_t count, tag;
  // The count is text in binary files, too.
  carom_status status =
      carom_text_whole(&m->text, carom_text_word_anywhere(&m->text), "the number of nodes", &count, m->error);
  if (!status) status = carom_msh_check_room(m, "the number of nodes", count, BYTES);
  if (m->binary) carom_text_skip_line(&m->text);
  for (int64_t i = 0; i < count && !status; i++) {
    status = carom_msh_whole(m, 4, "a node's number", &tag);
    if (!status) status = carom_msh_add_node(m, tag, carom_msh_line(m));
  }
  return status ? status : carom_msh_end_nodes(m);
}

typedef struct element {
  int64_t type, tag, tag_count;
} element;

// What follows type, number and number of tags. The first tag is the physical group.
static carom_status read_element(carom_msh *m, const element *e) {
  int64_t group = 0;
  int nodes;
  bool tetrahedron;
  carom_tet tet = {.tag = e->tag, .line = carom_msh_line(m)};
  carom_status status = carom_msh_element(m, e->type, e->tag, &nodes, &tetrahedron);
  if (!status && e->tag_count < 0)
    status = carom_msh_refuse(m, CAROM_ERR_FORMAT, "expected 0 or more tags, found", e->tag_count);
  if (!status && e->tag_count > 0) status = carom_msh_whole(m, 4, "a physical group", &group);
  if (!status) status = carom_msh_skip(m, 4, e->tag_count - 1);
  if (!status && (group > INT_MAX || group < INT_MIN))
    status = carom_msh_refuse(m, CAROM_ERR_FORMAT, "a number of a physical group is out of range:", group);
  if (status) return status;
  tet.group = (int)group;
  if (tetrahedron) return carom_msh_add_tet(m, 4, tet);
  m->soup->passed_over++;
  return carom_msh_skip(m, 4, nodes);
}

static carom_status read_text_element(carom_msh *m) {
  element e = {0};
  carom_status status = carom_msh_whole(m, 4, "an element's number", &e.tag);
  if (!status) status = carom_msh_whole(m, 4, "a type of element", &e.type);
  if (!status) status = carom_msh_whole(m, 4, "a number of tags", &e.tag_count);
  return status ? status : read_element(m, &e);
}

// A run of elements of one type; `left` are still to come in all.
static carom_status read_run(carom_msh *m, int64_t *left) {
  element e = {0};
  int64_t count = 0;
  carom_status status = carom_msh_whole(m, 4, "a type of element", &e.type);
  if (!status) status = carom_msh_whole(m, 4, "a number of elements", &count);
  if (!status) status = carom_msh_whole(m, 4, "a number of tags", &e.tag_count);
  if (!status && (count < 1 || count > *left))
    status = carom_msh_refuse(m, CAROM_ERR_FORMAT, "a run of elements has the length", count);
  for (int64_t i = 0; i < count && !status; i++) {
    status = carom_msh_whole(m, 4, "an element's number", &e.tag);
    if (!status) status = read_element(m, &e);
  }
  *left -= status ? 0 : count;
  return status;
}

carom_status carom_msh2_elements(carom_msh *m) {
  int64_t left;
  carom_status status =
      carom_text_whole(&m->text, carom_text_word_anywhere(&m->text), "the number of elements", &left, m->error);
  if (!status) status = carom_msh_check_room(m, "the number of elements", left, 8);
  if (m->binary) carom_text_skip_line(&m->text);
  while (left > 0 && !status) {
    status = m->binary ? read_run(m, &left) : read_text_element(m);
    if (!m->binary) left--;
  }
  return status;
}
