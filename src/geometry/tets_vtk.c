// Legacy VTK files ("VTK File Formats", Kitware): unstructured grids in text or big-endian binary, with cells as
// counted lists (up to version 4.2) or as offsets and connectivity (5.1). Data on points and cells come last and are
// passed over.
#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "geometry/tets.h"

typedef struct vtk {
  carom_text text;
  bool binary;
  carom_tet_soup *soup;
  int64_t *types;    // (cell_count) of cells
  int64_t *lists;    // (list_count) counted lists, or connectivity
  int64_t *offsets;  // (offset_count) version 5; else null
  int *lines;        // (list_count) where each number stands; null in binary files
  int64_t type_count, list_count, offset_count, cell_count;
  carom_error *error;
} vtk;

// ---- cells --------------------------------------------------------------------------------------

// By type of VTK; null: no volume.
static const char *solid_name(int64_t type) {
  static const struct {
    int type;
    const char *name;
  } solids[] = {{11, "voxel"},
                {12, "hexahedron"},
                {13, "wedge"},
                {14, "pyramid"},
                {15, "pentagonal prism"},
                {16, "hexagonal prism"},
                {24, "quadratic tetrahedron"},
                {25, "quadratic hexahedron"},
                {26, "quadratic wedge"},
                {27, "quadratic pyramid"},
                {29, "hexahedron of 27 nodes"},
                {31, "wedge of 12 nodes"},
                {32, "wedge of 18 nodes"},
                {33, "hexahedron of 24 nodes"},
                {37, "pyramid of 19 nodes"},
                {41, "convex point set"},
                {42, "polyhedron"}};
  for (size_t i = 0; i < sizeof solids / sizeof solids[0]; i++)
    if (solids[i].type == type) return solids[i].name;
  return "cell of another kind";
}

static bool is_flat(int64_t type) {
  static const int flat[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 21, 22, 23, 28, 30, 34, 35, 36};
  for (size_t i = 0; i < sizeof flat / sizeof flat[0]; i++)
    if (flat[i] == type) return true;
  return false;
}

carom_status carom_vtk_check_cell(const carom_tet_soup *soup, const carom_vtk_cell *cell, carom_cell_kind *kind,
                                  carom_error *error) {
  enum { TETRAHEDRON = 10 };
  carom_place place = carom_tet_place(soup, cell->line);
  *kind = cell->type == TETRAHEDRON ? CAROM_CELL_TET : is_flat(cell->type) ? CAROM_CELL_FLAT : CAROM_CELL_SOLID;
  if (*kind == CAROM_CELL_SOLID)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                      "%scell %lld is a %s (type %lld); expected tetrahedra of 4 nodes (type 10): mesh with those",
                      place.text, (long long)cell->tag, solid_name(cell->type), (long long)cell->type);
  if (*kind == CAROM_CELL_FLAT || cell->count == 4) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_FORMAT, "%scell %lld is a tetrahedron of %lld nodes; expected 4", place.text,
                    (long long)cell->tag, (long long)cell->count);
}

// ---- numbers ------------------------------------------------------------------------------------

static const struct number_type {
  const char *name;
  int bytes;
  bool real;
} number_types[] = {{"double", 8, true},          {"float", 4, true},         {"int", 4, false},
                    {"vtktypeint64", 8, false},   {"vtktypeint32", 4, false}, {"long", 8, false},
                    {"unsigned_char", 1, false},  {"char", 1, false},         {"short", 2, false},
                    {"unsigned_short", 2, false}, {"unsigned_int", 4, false}, {"unsigned_long", 8, false},
                    {"vtktypeuint64", 8, false},  {"vtkidtype", 4, false}};

static carom_status read_number_type(vtk *v, const struct number_type **type) {
  carom_word word = carom_text_word(&v->text);
  for (size_t i = 0; i < sizeof number_types / sizeof number_types[0]; i++) {
    *type = &number_types[i];
    if (carom_word_is(word, number_types[i].name)) return CAROM_OK;
  }
  return carom_text_expected(&v->text, "a type of numbers (double, float, int, vtktypeint64)", word, v->error);
}

static uint64_t take_big_endian(carom_text *t, int bytes) {
  uint64_t bits = 0;
  for (int i = 0; i < bytes; i++) bits = bits << 8 | (unsigned char)t->at[i];
  t->at += bytes;
  return bits;
}

// What follows in a binary file was found to be long enough before.
static double take_real(carom_text *t, int bytes) {
  uint64_t bits = take_big_endian(t, bytes);
  double wide;
  memcpy(&wide, &bits, 8);
  if (bytes == 8) return wide;
  uint32_t half = (uint32_t)bits;
  float narrow;
  memcpy(&narrow, &half, 4);
  return (double)narrow;
}

static int64_t take_whole(carom_text *t, int bytes) {
  uint64_t bits = take_big_endian(t, bytes);
  return bytes == 8 ? (int64_t)bits : (int64_t)(int32_t)(uint32_t)bits;
}

static carom_status read_count(vtk *v, const char *what, int64_t *count) {
  carom_status status = carom_text_whole(&v->text, carom_text_word(&v->text), what, count, v->error);
  return status ? status : carom_tet_check_room(&v->text, what, *count, 1, v->error);
}

// Ends the line of a header; behind it there are so many numbers in binary files.
static carom_status begin_numbers(vtk *v, const char *what, int64_t count, int bytes) {
  carom_text_skip_line(&v->text);
  if (!v->binary || count <= (v->text.end - v->text.at) / bytes) return CAROM_OK;
  return carom_fail(v->error, CAROM_ERR_FORMAT,
                    "%s: %s are %lld numbers of %d bytes, but only %lld bytes follow; is the file cut short?",
                    v->text.name, what, (long long)count, bytes, (long long)(v->text.end - v->text.at));
}

typedef struct list {
  const char *what;
  int64_t count;
  int bytes;
  int64_t **numbers;
  int **lines;  // may be null
} list;

static carom_status read_list(vtk *v, const list *l) {
  const carom_allocator *a = &v->soup->allocator;
  carom_status status = begin_numbers(v, l->what, l->count, l->bytes);
  if (status) return status;
  if (*l->numbers)
    return carom_fail(v->error, CAROM_ERR_FORMAT, "%s:%d: a second list of %s; expected one", v->text.name,
                      v->text.line, l->what);
  *l->numbers = CAROM_NEW(a, int64_t, l->count);
  bool lines = l->lines && !v->binary;
  if (lines) *l->lines = CAROM_NEW(a, int, l->count);
  if (!*l->numbers || (lines && !*l->lines))
    return carom_fail(v->error, CAROM_ERR_MEMORY, "out of memory for %lld numbers", (long long)l->count);
  for (int64_t i = 0; i < l->count && !status; i++) {
    if (v->binary)
      (*l->numbers)[i] = take_whole(&v->text, l->bytes);
    else
      status =
          carom_text_whole(&v->text, carom_text_word_anywhere(&v->text), "a whole number", &(*l->numbers)[i], v->error);
    if (lines) (*l->lines)[i] = v->text.line;
  }
  return status;
}

// ---- sections -----------------------------------------------------------------------------------

static carom_status read_point(vtk *v, const struct number_type *type) {
  double x[3] = {0};
  carom_tet_node node = {.tag = v->soup->node_count};
  for (int k = 0; k < 3; k++) {
    carom_status status = CAROM_OK;
    if (v->binary)
      x[k] = take_real(&v->text, type->bytes);
    else
      status = carom_text_number(&v->text, carom_text_word_anywhere(&v->text), &x[k], v->error);
    if (status) return status;
  }
  node.at = cm_vec3(x[0], x[1], x[2]);
  node.line = v->binary ? 0 : v->text.line;
  return carom_tet_soup_add_node(v->soup, &node, v->error);
}

static carom_status read_points(vtk *v) {
  const struct number_type *type;
  int64_t count;
  carom_status status = read_count(v, "the number of points", &count);
  if (!status) status = read_number_type(v, &type);
  if (!status && !type->real)
    status = carom_fail(v->error, CAROM_ERR_FORMAT, "%s:%d: points of type %s; expected double or float", v->text.name,
                        v->text.line, type->name);
  if (!status) status = begin_numbers(v, "the points", 3 * count, type->bytes);
  for (int64_t i = 0; i < count && !status; i++) status = read_point(v, type);
  return status;
}

// OFFSETS or CONNECTIVITY, then the type of the numbers.
static carom_status read_array(vtk *v, const char *keyword, const char *name, const list *l) {
  const struct number_type *type;
  carom_word word = carom_text_word_anywhere(&v->text);
  if (!carom_word_is(word, keyword)) return carom_text_expected(&v->text, name, word, v->error);
  carom_status status = read_number_type(v, &type);
  if (status) return status;
  list typed = *l;
  typed.bytes = type->bytes;
  return read_list(v, &typed);
}

static bool offsets_follow(const vtk *v) {
  carom_text ahead = v->text;
  carom_text_skip_line(&ahead);
  return carom_word_is(carom_text_word(&ahead), "offsets");
}

static carom_status read_cells(vtk *v) {
  enum { INT = 4 };
  int64_t first, second;
  carom_status status = read_count(v, "the number of cells", &first);
  if (!status) status = read_count(v, "the length of the list of cells", &second);
  if (status) return status;
  v->list_count = second;
  if (!offsets_follow(v)) {
    v->cell_count = first;
    return read_list(v, &(list){"cells", second, INT, &v->lists, &v->lines});
  }
  v->cell_count = first - 1;
  v->offset_count = first;
  carom_text_skip_line(&v->text);
  status = read_array(v, "offsets", "OFFSETS", &(list){"offsets", first, 0, &v->offsets, NULL});
  if (!status)
    status = read_array(v, "connectivity", "CONNECTIVITY", &(list){"nodes", second, 0, &v->lists, &v->lines});
  return status;
}

static carom_status read_cell_types(vtk *v) {
  enum { INT = 4 };
  carom_status status = read_count(v, "the number of types of cells", &v->type_count);
  return status ? status : read_list(v, &(list){"types of cells", v->type_count, INT, &v->types, NULL});
}

// Numbers that nobody asked for.
static carom_status skip_numbers(vtk *v, int64_t count, int bytes) {
  carom_status status = begin_numbers(v, "the data", count, bytes);
  if (!status && v->binary) v->text.at += count * bytes;
  if (!v->binary)
    for (int64_t i = 0; i < count && v->text.at < v->text.end; i++) carom_text_word_anywhere(&v->text);
  return status;
}

// FIELD name n, then n arrays, each with a header "name components tuples type".
static carom_status skip_field(vtk *v) {
  int64_t arrays, components, tuples;
  const struct number_type *type;
  carom_text_word(&v->text);
  carom_status status = read_count(v, "the number of arrays", &arrays);
  for (int64_t i = 0; i < arrays && !status; i++) {
    carom_text_word_anywhere(&v->text);
    status = read_count(v, "the number of components", &components);
    if (!status) status = read_count(v, "the number of tuples", &tuples);
    if (!status) status = read_number_type(v, &type);
    if (!status) status = skip_numbers(v, components * tuples, type->bytes);
  }
  return status;
}

// Metadata end with an empty line.
static carom_status skip_metadata(vtk *v) {
  do carom_text_skip_line(&v->text);
  while (v->text.at < v->text.end && carom_text_word(&v->text).length > 0);
  return CAROM_OK;
}

// Whether data on points or cells begin.
static bool is_data(carom_word word) { return carom_word_is(word, "point_data") || carom_word_is(word, "cell_data"); }

static carom_status read_section(vtk *v, carom_word word) {
  if (carom_word_is(word, "points")) return read_points(v);
  if (carom_word_is(word, "cells")) return read_cells(v);
  if (carom_word_is(word, "cell_types")) return read_cell_types(v);
  if (carom_word_is(word, "field")) return skip_field(v);
  if (carom_word_is(word, "metadata")) return skip_metadata(v);
  return carom_text_expected(&v->text, "POINTS, CELLS, CELL_TYPES or data", word, v->error);
}

// ---- putting together ---------------------------------------------------------------------------

static carom_status refuse_lists(const vtk *v, int64_t cell) {
  return carom_fail(v->error, CAROM_ERR_FORMAT, "%s: the list of cells ends within cell %lld; is the file cut short?",
                    v->text.name, (long long)cell);
}

// Where the nodes of a cell begin, and how many there are.
static carom_status find_cell(const vtk *v, int64_t i, int64_t *at, int64_t *count) {
  int64_t end;
  if (v->offsets) {
    *at = v->offsets[i];
    end = v->offsets[i + 1];
  } else {
    if (*at >= v->list_count) return refuse_lists(v, i);
    int64_t length = v->lists[(*at)++];
    end = length <= v->list_count ? *at + length : -1;
  }
  if (*at < 0 || end < *at || end > v->list_count) return refuse_lists(v, i);
  *count = end - *at;
  return CAROM_OK;
}

static carom_status add_cell(vtk *v, int64_t i, int64_t at, int64_t count) {
  carom_cell_kind kind;
  carom_vtk_cell cell = {v->types[i], count, i, v->lines && at < v->list_count ? v->lines[at] : 0};
  carom_status status = carom_vtk_check_cell(v->soup, &cell, &kind, v->error);
  if (status) return status;
  if (kind == CAROM_CELL_FLAT) {
    v->soup->passed_over++;
    return CAROM_OK;
  }
  carom_tet tet = {.line = cell.line, .tag = i};
  for (int k = 0; k < 4; k++) {
    int64_t node = v->lists[at + k];
    if (node < 0 || node >= v->soup->node_count)
      return carom_fail(v->error, CAROM_ERR_FORMAT, "%scell %lld refers to point %lld; expected 0 to %d",
                        carom_tet_place(v->soup, cell.line).text, (long long)i, (long long)node,
                        v->soup->node_count - 1);
    tet.v[k] = (int)node;
  }
  return carom_tet_soup_add_tet(v->soup, &tet, v->error);
}

static carom_status add_cells(vtk *v) {
  if (!v->lists || !v->types || v->type_count != v->cell_count)
    return carom_fail(
        v->error, CAROM_ERR_FORMAT,
        "%s: %lld cells and %lld types of cells; expected POINTS, CELLS and as many CELL_TYPES; is the file "
        "cut short?",
        v->text.name, (long long)v->cell_count, (long long)v->type_count);
  carom_status status = CAROM_OK;
  for (int64_t i = 0, at = 0, count = 0; i < v->cell_count && !status; i++, at += count) {
    status = find_cell(v, i, &at, &count);
    if (status) return status;
    status = add_cell(v, i, at, count);
  }
  return status;
}

static carom_status read_header(vtk *v) {
  carom_text_skip_line(&v->text);
  carom_text_skip_line(&v->text);
  carom_word word = carom_text_word_anywhere(&v->text);
  v->binary = carom_word_is(word, "binary");
  if (!v->binary && !carom_word_is(word, "ascii"))
    return carom_text_expected(&v->text, "ASCII or BINARY", word, v->error);
  word = carom_text_word_anywhere(&v->text);
  if (!carom_word_is(word, "dataset")) return carom_text_expected(&v->text, "DATASET", word, v->error);
  word = carom_text_word(&v->text);
  if (carom_word_is(word, "unstructured_grid")) return CAROM_OK;
  return carom_text_expected(&v->text, "UNSTRUCTURED_GRID", word, v->error);
}

carom_status carom_vtk_parse(carom_text text, carom_tet_soup *soup, carom_error *error) {
  vtk v = {.text = text, .soup = soup, .error = error};
  carom_status status = read_header(&v);
  while (!status) {
    carom_word word = carom_text_word_anywhere(&v.text);
    if (word.length == 0 || is_data(word)) break;
    status = read_section(&v, word);
  }
  if (!status) status = add_cells(&v);
  CAROM_RELEASE_ALL(&soup->allocator, v.types, v.lists, v.offsets, v.lines);
  return status;
}
