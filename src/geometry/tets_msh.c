// Gmsh .msh files (Geuzaine and Remacle 2009; "MSH file format" in Gmsh's manual): sections, numbers, tags.
#define _GNU_SOURCE  // memmem
#include "geometry/tets_msh.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

// ---- numbers ------------------------------------------------------------------------------------

int carom_msh_line(const carom_msh *m) { return m->binary ? 0 : m->text.line; }

carom_status carom_msh_refuse(const carom_msh *m, carom_status status, const char *what, long long number) {
  if (m->binary)
    return carom_fail(m->error, status, "%s: byte %zu: %s %lld", m->text.name, (size_t)(m->text.at - m->begin), what,
                      number);
  return carom_fail(m->error, status, "%s:%d: %s %lld", m->text.name, m->text.line, what, number);
}

static carom_status take(carom_msh *m, void *to, size_t size, const char *expected) {
  if ((size_t)(m->text.end - m->text.at) < size)
    return carom_fail(m->error, CAROM_ERR_FORMAT,
                      "%s: byte %zu: expected %s, found the end of the file; is it cut short?", m->text.name,
                      (size_t)(m->text.at - m->begin), expected);
  unsigned char *bytes = to;
  for (size_t i = 0; i < size; i++) bytes[m->swapped ? size - 1 - i : i] = (unsigned char)m->text.at[i];
  m->text.at += size;
  return CAROM_OK;
}

carom_status carom_msh_whole(carom_msh *m, int bytes, const char *expected, int64_t *value) {
  if (!m->binary) return carom_text_whole(&m->text, carom_text_word_anywhere(&m->text), expected, value, m->error);
  if (bytes == 8) return take(m, value, 8, expected);
  int32_t narrow = 0;
  carom_status status = take(m, &narrow, 4, expected);
  *value = narrow;
  return status;
}

carom_status carom_msh_real(carom_msh *m, double *value) {
  if (m->binary) return take(m, value, 8, "a coordinate");
  return carom_text_number(&m->text, carom_text_word_anywhere(&m->text), value, m->error);
}

carom_status carom_msh_check_room(const carom_msh *m, const char *what, int64_t count, int64_t each) {
  carom_text text = m->text;
  text.line = carom_msh_line(m);
  return carom_tet_check_room(&text, what, count, m->binary ? each : 2, m->error);
}

carom_status carom_msh_count(carom_msh *m, int bytes, const char *what, int64_t each, int64_t *value) {
  carom_status status = carom_msh_whole(m, bytes, what, value);
  return status ? status : carom_msh_check_room(m, what, *value, each);
}

carom_status carom_msh_skip(carom_msh *m, int bytes, int64_t count) {
  int64_t number;
  carom_status status = CAROM_OK;
  for (int64_t i = 0; i < count && !status; i++) status = carom_msh_whole(m, bytes, "a whole number", &number);
  return status;
}

// ---- tags ---------------------------------------------------------------------------------------

carom_status carom_msh_add_tag(carom_msh *m, carom_tags *tags, carom_tag tag) {
  void *array = tags->items;
  if (!carom_grow(&m->soup->allocator, &array, tags->count, &tags->capacity, sizeof tag))
    return carom_fail(m->error, CAROM_ERR_MEMORY, "out of memory after %d numbers of nodes or volumes", tags->count);
  tags->items = array;
  tags->items[tags->count++] = tag;
  return CAROM_OK;
}

static int by_key(const void *a, const void *b) {
  const carom_tag *s = a, *t = b;
  if (s->key != t->key) return s->key < t->key ? -1 : 1;
  return (s->value > t->value) - (s->value < t->value);
}

int carom_msh_sort_tags(carom_tags *tags) {
  bool sorted = true;
  for (int i = 1; i < tags->count; i++) sorted = sorted && tags->items[i - 1].key < tags->items[i].key;
  if (sorted) return -1;
  qsort(tags->items, (size_t)tags->count, sizeof *tags->items, by_key);
  for (int i = 1; i < tags->count; i++)
    if (tags->items[i - 1].key == tags->items[i].key) return i;
  return -1;
}

const carom_tag *carom_msh_find_tag(const carom_tags *tags, int64_t key) {
  if (tags->count == 0) return NULL;
  int64_t first = tags->items[0].key, last = tags->items[tags->count - 1].key;
  if (key < first || key > last) return NULL;
  if ((uint64_t)last - (uint64_t)first == (uint64_t)tags->count - 1)
    return &tags->items[key - first];  // without gaps, as mostly
  int low = 0, high = tags->count;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (tags->items[middle].key <= key)
      low = middle;
    else
      high = middle;
  }
  return tags->items[low].key == key ? &tags->items[low] : NULL;
}

// ---- nodes and elements -------------------------------------------------------------------------

carom_status carom_msh_add_node(carom_msh *m, int64_t tag, int line) {
  carom_tet_node node = {.tag = tag, .line = line};
  double x[3];
  for (int k = 0; k < 3; k++) {
    carom_status status = carom_msh_real(m, &x[k]);
    if (status) return status;
  }
  node.at = cm_vec3(x[0], x[1], x[2]);
  carom_status status = carom_msh_add_tag(m, &m->nodes, (carom_tag){tag, m->soup->node_count});
  return status ? status : carom_tet_soup_add_node(m->soup, &node, m->error);
}

carom_status carom_msh_end_nodes(carom_msh *m) {
  int twice = carom_msh_sort_tags(&m->nodes);
  if (twice < 0) return CAROM_OK;
  const carom_tag *tag = &m->nodes.items[twice];
  return carom_fail(m->error, CAROM_ERR_FORMAT, "%snode %lld is there twice; give every node a number of its own",
                    carom_node_place(m->soup, &m->soup->nodes[tag->value]).text, (long long)tag->key);
}

typedef struct element_type {
  int type, nodes;
  const char *solid;  // its name when it has a volume
} element_type;

static const element_type types[] = {
    {1, 2, NULL},
    {2, 3, NULL},
    {3, 4, NULL},
    {8, 3, NULL},
    {9, 6, NULL},
    {10, 9, NULL},
    {15, 1, NULL},
    {16, 8, NULL},
    {20, 9, NULL},
    {21, 10, NULL},
    {22, 12, NULL},
    {23, 15, NULL},
    {24, 15, NULL},
    {25, 21, NULL},
    {26, 4, NULL},
    {27, 5, NULL},
    {28, 6, NULL},
    {36, 16, NULL},
    {37, 25, NULL},
    {38, 36, NULL},
    {4, 4, "tetrahedron"},
    {5, 8, "hexahedron"},
    {6, 6, "prism"},
    {7, 5, "pyramid"},
    {11, 10, "tetrahedron of 10 nodes"},
    {12, 27, "hexahedron of 27 nodes"},
    {13, 18, "prism of 18 nodes"},
    {14, 14, "pyramid of 14 nodes"},
    {17, 20, "hexahedron of 20 nodes"},
    {18, 15, "prism of 15 nodes"},
    {19, 13, "pyramid of 13 nodes"},
    {29, 20, "tetrahedron of 20 nodes"},
    {30, 35, "tetrahedron of 35 nodes"},
    {31, 56, "tetrahedron of 56 nodes"},
};

carom_status carom_msh_element(carom_msh *m, int64_t type, int64_t tag, int *nodes, bool *tetrahedron) {
  enum { COUNT = sizeof types / sizeof types[0], TETRAHEDRON = 4 };
  int i = 0;
  while (i < COUNT && types[i].type != type) i++;
  if (i == COUNT) return carom_msh_refuse(m, CAROM_ERR_UNSUPPORTED, "unknown type of element:", type);
  *nodes = types[i].nodes;
  *tetrahedron = type == TETRAHEDRON;
  if (*tetrahedron || !types[i].solid) return CAROM_OK;
  return carom_fail(m->error, CAROM_ERR_UNSUPPORTED,
                    "%selement %lld is a %s; expected tetrahedra of 4 nodes: mesh with those (in Gmsh: -order 1, no "
                    "recombination)",
                    carom_tet_place(m->soup, carom_msh_line(m)).text, (long long)tag, types[i].solid);
}

carom_status carom_msh_add_tet(carom_msh *m, int bytes, carom_tet tet) {
  for (int k = 0; k < 4; k++) {
    int64_t tag;
    carom_status status = carom_msh_whole(m, bytes, "a node's number", &tag);
    if (status) return status;
    const carom_tag *node = carom_msh_find_tag(&m->nodes, tag);
    if (!node)
      return carom_fail(m->error, CAROM_ERR_FORMAT,
                        "%stetrahedron %lld refers to node %lld, which is not among the %d nodes of the file",
                        carom_tet_place(m->soup, tet.line).text, (long long)tet.tag, (long long)tag, m->nodes.count);
    tet.v[k] = node->value;
  }
  return carom_tet_soup_add_tet(m->soup, &tet, m->error);
}

// ---- sections -----------------------------------------------------------------------------------

typedef struct section {
  const char *name;
  carom_status (*read[2])(carom_msh *m);  // version 2, version 4; null: passed over
} section;

// "dimension tag "name"", in text in binary files, too.
static carom_status read_physical_name(carom_msh *m) {
  carom_text *t = &m->text;
  int64_t dimension, tag;
  carom_status status = carom_text_whole(t, carom_text_word_anywhere(t), "a dimension", &dimension, m->error);
  if (!status) status = carom_text_whole(t, carom_text_word(t), "a physical tag", &tag, m->error);
  if (status) return status;
  const char *open = memchr(t->at, '"', (size_t)(t->end - t->at));
  const char *line_end = memchr(t->at, '\n', (size_t)(t->end - t->at));
  const char *close = open ? memchr(open + 1, '"', (size_t)(t->end - open - 1)) : NULL;
  if (!close || (line_end && close > line_end))
    return carom_text_expected(t, "a name in quotation marks", carom_text_word(t), m->error);
  t->at = close + 1;
  if (dimension != 3 || tag < INT_MIN || tag > INT_MAX) return CAROM_OK;
  return carom_tet_soup_add_name(m->soup, (int)tag, (carom_word){open + 1, (size_t)(close - open - 1)}, m->error);
}

static carom_status read_physical_names(carom_msh *m) {
  int64_t count;
  carom_text *t = &m->text;
  carom_status status = carom_text_whole(t, carom_text_word_anywhere(t), "the number of names", &count, m->error);
  for (int64_t i = 0; i < count && !status; i++) status = read_physical_name(m);
  return status;
}

static const section sections[] = {
    {"$PhysicalNames", {read_physical_names, read_physical_names}},
    {"$Entities", {NULL, carom_msh4_entities}},
    {"$Nodes", {carom_msh2_nodes, carom_msh4_nodes}},
    {"$Elements", {carom_msh2_elements, carom_msh4_elements}},
};

static bool word_is(carom_word word, const char *expected) {
  return word.length == strlen(expected) && memcmp(word.start, expected, word.length) == 0;
}

// To the line behind that which begins with $End; whatever is left of the section is passed over.
static carom_status skip_section(carom_msh *m, carom_word name) {
  char end[64];
  carom_text *t = &m->text;
  if (name.length < 2 || name.length > sizeof end - 8 || name.start[0] != '$')
    return carom_text_expected(t, "a section such as $Nodes", name, m->error);
  int length = snprintf(end, sizeof end, "$End%.*s", (int)name.length - 1, name.start + 1);
  const char *found = memmem(t->at, (size_t)(t->end - t->at), end, (size_t)length);
  if (!found)
    return carom_fail(m->error, CAROM_ERR_FORMAT, "%s: the section %.*s has no end (%s); is the file cut short?",
                      t->name, (int)name.length, name.start, end);
  while (t->at < found && !m->binary) carom_text_skip_line(t);
  t->at = found + length;
  return CAROM_OK;
}

static carom_status end_section(carom_msh *m, const section *s) {
  char expected[64];
  snprintf(expected, sizeof expected, "$End%s", s->name + 1);
  carom_word word = carom_text_word_anywhere(&m->text);
  if (word_is(word, expected)) return CAROM_OK;
  return carom_text_expected(&m->text, expected, word, m->error);
}

// In binary files the data begin behind the line's end.
static carom_status read_section(carom_msh *m, carom_word name, int generation) {
  for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
    const section *s = &sections[i];
    if (!word_is(name, s->name) || !s->read[generation]) continue;
    carom_text_skip_line(&m->text);
    carom_status status = s->read[generation](m);
    return status ? status : end_section(m, s);
  }
  return skip_section(m, name);
}

// ---- the file -----------------------------------------------------------------------------------

static carom_status read_byte_order(carom_msh *m) {
  static const unsigned char one[2][4] = {{1, 0, 0, 0}, {0, 0, 0, 1}};
  const uint32_t probe = 1;
  carom_text_skip_line(&m->text);
  bool enough = m->text.end - m->text.at >= 4;
  for (int i = 0; i < 2 && enough; i++)
    if (memcmp(m->text.at, one[i], 4) == 0) {
      m->swapped = memcmp(&probe, one[i], 4) != 0;
      m->text.at += 4;
      return CAROM_OK;
    }
  return carom_fail(m->error, CAROM_ERR_FORMAT,
                    "%s:2: a binary file must have the number 1 after this line, in 4 bytes", m->text.name);
}

static carom_status read_format(carom_msh *m, int *generation) {
  carom_text *t = &m->text;
  carom_word word = carom_text_word_anywhere(t);
  if (!word_is(word, "$MeshFormat")) return carom_text_expected(t, "$MeshFormat", word, m->error);
  word = carom_text_word_anywhere(t);
  bool two = word_is(word, "2") || word_is(word, "2.1") || word_is(word, "2.2"), four = word_is(word, "4.1");
  if (!two && !four) return carom_text_expected(t, "version 2.2 or 4.1 (gmsh -format msh41)", word, m->error);
  *generation = four;
  int64_t binary, size;
  carom_status status = carom_text_whole(t, carom_text_word(t), "0 (text) or 1 (binary)", &binary, m->error);
  if (!status) status = carom_text_whole(t, word = carom_text_word(t), "the size of a number, 8", &size, m->error);
  if (!status && size != 8) status = carom_text_expected(t, "the size of a number, 8", word, m->error);
  if (!status && binary) status = read_byte_order(m);
  if (!status) status = end_section(m, &(section){.name = "$MeshFormat"});
  m->binary = !status && binary != 0;
  return status;
}

static carom_status read_file(carom_msh *m) {
  int generation = 0;
  carom_status status = read_format(m, &generation);
  while (!status) {
    carom_word name = carom_text_word_anywhere(&m->text);
    if (name.length == 0) return CAROM_OK;
    status = read_section(m, name, generation);
  }
  return status;
}

carom_status carom_msh_parse(carom_text text, carom_tet_soup *soup, carom_error *error) {
  carom_msh m = {.text = text, .begin = text.at, .soup = soup, .error = error};
  carom_status status = read_file(&m);
  CAROM_RELEASE_ALL(&soup->allocator, m.nodes.items, m.volumes.items);
  return status;
}
