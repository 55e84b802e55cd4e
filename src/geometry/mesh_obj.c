// Wavefront OBJ: "v x y z" and "f a b c ..." count, where a corner is v, v/vt, v//vn or v/vt/vn and a negative v counts
// back from the last vertex so far. All other statements (normals, textures, groups, materials, lines) are passed over.
#include <limits.h>

#include "geometry/mesh.h"

static carom_status read_vertex(carom_text *t, carom_soup *soup, carom_error *error) {
  double c[3];
  for (int k = 0; k < 3; k++) {
    carom_status status = carom_text_number(t, carom_text_word(t), &c[k], error);
    if (status) return status;
  }
  return carom_soup_add_vertex(soup, cm_vec3(c[0], c[1], c[2]), error);
}

// The whole number before the first slash; false when there is none or it is too long.
static bool corner_number(carom_word word, long *number) {
  size_t i = 0, digits = 0;
  bool negative = word.length > 0 && word.start[0] == '-';
  *number = 0;
  if (negative) i++;
  for (; i < word.length && word.start[i] >= '0' && word.start[i] <= '9'; i++, digits++) {
    if (digits > 10) return false;
    *number = 10 * *number + (word.start[i] - '0');
  }
  if (negative) *number = -*number;
  return digits > 0 && (i == word.length || word.start[i] == '/');
}

// `seen` vertices precede this line. Positive numbers may also point further down, as some programs write it.
static carom_status read_corner(carom_text *t, carom_word word, int seen, int total, int *index, carom_error *error) {
  long number;
  if (!corner_number(word, &number)) return carom_text_expected(t, "a vertex number", word, error);
  long at = number > 0 ? number - 1 : seen + number;
  if (number == 0 || at < 0 || at >= total)
    return carom_fail(error, CAROM_ERR_FORMAT,
                      "%s:%d: the face refers to vertex %ld, but the file has vertices 1 to %d (%d so far)", t->name,
                      t->line, number, total, seen);
  *index = (int)at;
  return CAROM_OK;
}

static carom_status read_face(carom_text *t, int seen, carom_soup *soup, carom_error *error) {
  int first = -1, last = -1, count = 0;
  carom_word word;
  while ((word = carom_text_word(t)).length > 0 && word.start[0] != '#') {
    int index = 0;
    carom_status status = read_corner(t, word, seen, soup->vertex_count, &index, error);
    if (!status && count >= 2) status = carom_soup_add_triangle(soup, first, last, index, error);
    if (status) return status;
    if (count++ == 0) first = index;
    last = index;
  }
  t->at = word.start;  // a comment is for end_statement
  if (count < 3)
    return carom_fail(error, CAROM_ERR_FORMAT, "%s:%d: a face with %d corners; expected at least 3", t->name, t->line,
                      count);
  return CAROM_OK;
}

// Comments end with their line even after a backslash: they often hold the paths of other systems.
static void end_statement(carom_text *t) {
  carom_word word;
  do word = carom_text_word(t);
  while (word.length > 0 && word.start[0] != '#');
  carom_text_skip_line(t);
}

static carom_status read_vertices(carom_text t, carom_soup *soup, carom_error *error) {
  for (carom_word word; (word = carom_text_word_past_comments(&t)).length > 0; end_statement(&t)) {
    carom_status status = carom_word_is(word, "v") ? read_vertex(&t, soup, error) : CAROM_OK;
    if (status) return status;
  }
  return CAROM_OK;
}

static carom_status read_faces(carom_text t, carom_soup *soup, carom_error *error) {
  int seen = 0;
  for (carom_word word; (word = carom_text_word_past_comments(&t)).length > 0; end_statement(&t)) {
    if (carom_word_is(word, "v")) seen++;
    if (!carom_word_is(word, "f")) continue;
    carom_status status = read_face(&t, seen, soup, error);
    if (status) return status;
  }
  return CAROM_OK;
}

// Vertices first, then faces, so that a face may name any vertex of the file.
carom_status carom_obj_parse(const char *name, const char *data, size_t size, carom_soup *soup, carom_error *error) {
  carom_text t = {name, data, data + size, 1};
  carom_status status = read_vertices(t, soup, error);
  if (!status && soup->vertex_count == 0)
    return carom_fail(error, CAROM_ERR_FORMAT, "%s: no vertices; expected lines such as 'v 0 0 1'", name);
  return status ? status : read_faces(t, soup, error);
}
