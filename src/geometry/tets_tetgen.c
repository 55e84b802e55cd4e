// TetGen's pairs of text files (Si 2015, "TetGen, a Delaunay-based quality tetrahedral mesh generator"; its manual,
// "File formats"): a first line of counts, then a line for each node or element, counted from 0 or 1. '#' begins a
// comment.
#include <limits.h>
#include <math.h>

#include "geometry/tets.h"

// The next word of this line that is no comment; empty at its end.
static carom_word next_word(carom_text *t) {
  carom_word word = carom_text_word(t);
  if (word.length > 0 && word.start[0] == '#') {
    t->at = word.start;
    word.length = 0;
  }
  return word;
}

static carom_status read_count(carom_text *t, const char *what, bool first, int64_t *value, carom_error *error) {
  carom_word word = first ? carom_text_word_past_comments(t) : next_word(t);
  *value = 0;
  if (word.length == 0 && !first) return CAROM_OK;  // counts that are left out are 0
  carom_status status = carom_text_whole(t, word, what, value, error);
  return status ? status : carom_tet_check_room(t, what, *value, 2, error);
}

// ---- nodes --------------------------------------------------------------------------------------

static carom_status check_number(const carom_text *t, const char *what, int64_t found, int64_t expected,
                                 carom_error *error) {
  if (found == expected) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_FORMAT, "%s:%d: expected %s %lld, found %lld; they must be in order", t->name,
                    t->line, what, (long long)expected, (long long)found);
}

// Attributes and markers after the coordinates are passed over.
static carom_status read_node(carom_text *t, carom_tet_soup *soup, carom_error *error) {
  carom_tet_node node = {0};
  double x[3] = {0};
  carom_status status = carom_text_whole(t, carom_text_word_past_comments(t), "a node's number", &node.tag, error);
  int64_t first = soup->node_count > 0 ? soup->nodes[0].tag : node.tag;
  if (!status && soup->node_count == 0 && node.tag != 0 && node.tag != 1)
    status = carom_fail(error, CAROM_ERR_FORMAT, "%s:%d: the first node has the number %lld; expected 0 or 1", t->name,
                        t->line, (long long)node.tag);
  if (!status) status = check_number(t, "node", node.tag, first + soup->node_count, error);
  for (int k = 0; k < 3 && !status; k++) status = carom_text_number(t, next_word(t), &x[k], error);
  if (status) return status;
  node.at = cm_vec3(x[0], x[1], x[2]);
  node.line = t->line;
  carom_text_skip_line(t);
  return carom_tet_soup_add_node(soup, &node, error);
}

carom_status carom_tetgen_parse_nodes(carom_text text, carom_tet_soup *soup, carom_error *error) {
  carom_text *t = &text;
  int64_t count, dimension;
  carom_status status = read_count(t, "the number of nodes", true, &count, error);
  if (!status) status = read_count(t, "the dimension", false, &dimension, error);
  if (!status && dimension != 3)
    status = carom_fail(error, CAROM_ERR_FORMAT, "%s:%d: the dimension of the nodes is %lld; expected 3", t->name,
                        t->line, (long long)dimension);
  if (!status && count == 0)
    status = carom_fail(error, CAROM_ERR_FORMAT,
                        "%s:%d: no nodes; expected the .node file that TetGen wrote with the .ele", t->name, t->line);
  if (!status) carom_text_skip_line(t);
  for (int64_t i = 0; i < count && !status; i++) status = read_node(t, soup, error);
  return status;
}

// ---- elements -----------------------------------------------------------------------------------

static carom_status read_corner(carom_text *t, const carom_tet_soup *soup, int64_t tet, int *v, carom_error *error) {
  int64_t tag, first = soup->nodes[0].tag;
  carom_status status = carom_text_whole(t, next_word(t), "a node's number", &tag, error);
  if (!status && (tag < first || tag - first >= soup->node_count))
    status = carom_fail(error, CAROM_ERR_FORMAT,
                        "%s:%d: tetrahedron %lld refers to node %lld; the nodes are %lld to %lld", t->name, t->line,
                        (long long)tet, (long long)tag, (long long)first, (long long)(first + soup->node_count - 1));
  if (!status) *v = (int)(tag - first);
  return status;
}

// The first attribute is the region.
static carom_status read_region(carom_text *t, int *group, carom_error *error) {
  double region = 0;
  carom_word word = next_word(t);
  carom_status status = carom_text_number(t, word, &region, error);
  if (!status && (region != floor(region) || fabs(region) > INT_MAX))
    return carom_text_expected(t, "a whole number as the attribute: its region", word, error);
  *group = (int)region;
  return status;
}

static carom_status read_tet(carom_text *t, int64_t attributes, carom_tet_soup *soup, carom_error *error) {
  carom_tet tet = {{0}, 0, 0, 0};
  carom_status status =
      carom_text_whole(t, carom_text_word_past_comments(t), "a tetrahedron's number", &tet.tag, error);
  int64_t first = soup->tet_count > 0 ? soup->tets[0].tag : tet.tag;
  if (!status) status = check_number(t, "tetrahedron", tet.tag, first + soup->tet_count, error);
  for (int k = 0; k < 4 && !status; k++) status = read_corner(t, soup, tet.tag, &tet.v[k], error);
  if (!status && attributes > 0) status = read_region(t, &tet.group, error);
  if (status) return status;
  tet.line = t->line;
  carom_text_skip_line(t);
  return carom_tet_soup_add_tet(soup, &tet, error);
}

carom_status carom_tetgen_parse_tets(carom_text text, carom_tet_soup *soup, carom_error *error) {
  carom_text *t = &text;
  int64_t count, corners, attributes;
  carom_status status = read_count(t, "the number of tetrahedra", true, &count, error);
  if (!status) status = read_count(t, "the number of nodes of a tetrahedron", false, &corners, error);
  if (!status) status = read_count(t, "the number of attributes", false, &attributes, error);
  if (!status && corners != 4)
    status = carom_fail(error, CAROM_ERR_UNSUPPORTED,
                        "%s:%d: tetrahedra of %lld nodes; expected those of 4: run tetgen without -o2", t->name,
                        t->line, (long long)corners);
  if (!status) carom_text_skip_line(t);
  for (int64_t i = 0; i < count && !status; i++) status = read_tet(t, attributes, soup, error);
  return status;
}
