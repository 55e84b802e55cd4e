// VTK's XML files with unstructured grids (.vtu; "VTK XML file formats", Kitware): the few elements that matter are
// picked out of the text. Several pieces are joined.
#define _GNU_SOURCE  // memmem
#include "geometry/tets_vtu.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

typedef struct tag {
  carom_word name;        // "Piece", "/Piece"
  carom_text attributes;  // between the name and the end
  bool empty;             // ends by itself: "/>"
} tag;

enum { CONNECTIVITY, OFFSETS, TYPES, GROUPS, POINTS, ARRAYS };

typedef struct vtu {
  carom_text text;  // as far as the appended data
  carom_vtu_file file;
  carom_tet_soup *soup;
  carom_word parent;  // Points, Cells, CellData, PointData: what the last of them was
  int64_t points, cells;
  carom_vtu_values arrays[ARRAYS];  // of the piece
  bool grid;                        // whether an UnstructuredGrid was met
  carom_error *error;
} vtu;

// ---- tags ---------------------------------------------------------------------------------------

static void step_to(carom_text *t, const char *to) {
  for (const char *newline; (newline = memchr(t->at, '\n', (size_t)(to - t->at)));) {
    t->at = newline + 1;
    t->line++;
  }
  t->at = to;
}

static const char *find(const carom_text *t, const char *what) {
  return memmem(t->at, (size_t)(t->end - t->at), what, strlen(what));
}

static bool skip_behind(carom_text *t, const char *what) {
  const char *at = find(t, what);
  step_to(t, at ? at + strlen(what) : t->end);
  return at != NULL;
}

static bool starts(const carom_text *t, const char *what) {
  size_t length = strlen(what);
  return (size_t)(t->end - t->at) >= length && memcmp(t->at, what, length) == 0;
}

// The end of a tag; what stands in quotation marks is no end.
static const char *find_tag_end(const carom_text *t) {
  char quote = 0;
  for (const char *c = t->at; c < t->end; c++) {
    if (quote) {
      if (*c == quote) quote = 0;
    } else if (*c == '"' || *c == '\'') {
      quote = *c;
    } else if (*c == '>') {
      return c;
    }
  }
  return NULL;
}

static bool is_name(char c) { return c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != '>' && c != '='; }

static bool skip_to_tag(carom_text *t) {
  for (const char *open; (open = find(t, "<"));) {
    step_to(t, open);
    if (starts(t, "<!--"))
      skip_behind(t, "-->");
    else if (starts(t, "<?"))
      skip_behind(t, "?>");
    else
      return true;
  }
  return false;
}

// False at the end of the text or where a tag has no end. The text then stands behind the tag.
static bool next_tag(carom_text *t, tag *found) {
  if (!skip_to_tag(t)) return false;
  t->at++;
  const char *end = find_tag_end(t);
  if (!end) return false;
  found->name = (carom_word){t->at, 0};
  while (t->at < end && is_name(*t->at) && (*t->at != '/' || t->at == found->name.start)) t->at++;
  found->name.length = (size_t)(t->at - found->name.start);
  found->attributes = (carom_text){t->name, t->at, end, t->line};
  found->empty = end > t->at && end[-1] == '/';
  step_to(t, end + 1);
  return true;
}

// An empty word when there is no such attribute.
static carom_word attribute(const tag *g, const char *name) {
  carom_text t = g->attributes;
  while (t.at < t.end) {
    while (t.at < t.end && !is_name(*t.at)) t.at++;
    carom_word key = {t.at, 0};
    while (t.at < t.end && is_name(*t.at)) t.at++;
    key.length = (size_t)(t.at - key.start);
    while (t.at < t.end && *t.at != '"' && *t.at != '\'') t.at++;
    if (t.at == t.end) break;
    const char *close = memchr(t.at + 1, *t.at, (size_t)(t.end - t.at - 1));
    if (!close) break;
    if (carom_word_is(key, name)) return (carom_word){t.at + 1, (size_t)(close - t.at - 1)};
    t.at = close + 1;
  }
  return (carom_word){t.end, 0};
}

static carom_status whole_attribute(const vtu *v, const tag *g, const char *name, const char *expected,
                                    int64_t *value) {
  return carom_text_whole(&g->attributes, attribute(g, name), expected, value, v->error);
}

// ---- arrays -------------------------------------------------------------------------------------

// Which of the arrays it is, or -1.
static int place_of(const vtu *v, carom_word name) {
  static const char *const names[] = {"connectivity", "offsets", "types"};
  if (carom_word_is(v->parent, "points")) return POINTS;
  if (carom_word_is(v->parent, "celldata") && carom_word_is(name, "group")) return GROUPS;
  if (!carom_word_is(v->parent, "cells")) return -1;
  for (int i = CONNECTIVITY; i <= TYPES; i++)
    if (carom_word_is(name, names[i])) return i;
  return -1;
}

static carom_status read_array(vtu *v, const tag *g) {
  carom_vtu_array a = {attribute(g, "type"), attribute(g, "format"), attribute(g, "name"), 0, v->text};
  int place = place_of(v, a.name);
  if (place < 0) return CAROM_OK;
  const char *end = find(&v->text, "<");
  a.content.end = g->empty ? v->text.at : end ? end : v->text.end;
  if (a.format.length == 0) a.format = (carom_word){"ascii", 5};
  carom_status status = CAROM_OK;
  if (carom_word_is(a.format, "appended")) status = whole_attribute(v, g, "offset", "an offset", &a.offset);
  return status ? status : carom_vtu_read_values(&v->file, &a, &v->arrays[place]);
}

// ---- pieces -------------------------------------------------------------------------------------

static carom_status begin_piece(vtu *v, const tag *g) {
  carom_status status = whole_attribute(v, g, "numberofpoints", "NumberOfPoints", &v->points);
  return status ? status : whole_attribute(v, g, "numberofcells", "NumberOfCells", &v->cells);
}

static carom_status check_length(const vtu *v, int array, int64_t expected, const char *what) {
  int64_t count = v->arrays[array].count;
  if (count == expected) return CAROM_OK;
  return carom_fail(v->error, CAROM_ERR_FORMAT,
                    "%s: the piece has %lld numbers for %s; expected %lld; is the file cut short?", v->text.name,
                    (long long)count, what, (long long)expected);
}

static carom_status add_points(vtu *v) {
  const double *x = v->arrays[POINTS].values;
  carom_status status = CAROM_OK;
  for (int64_t i = 0; i < v->points && !status; i++) {
    carom_tet_node node = {cm_vec3(x[3 * i], x[3 * i + 1], x[3 * i + 2]), v->soup->node_count, 0};
    status = carom_tet_soup_add_node(v->soup, &node, v->error);
  }
  return status;
}

// A whole number between limits; false for anything else, NaN among it.
static bool is_whole(double value, double low, double high) {
  return value >= low && value <= high && value == floor(value);
}

static carom_status add_tet(vtu *v, int64_t cell, int64_t at, int base) {
  carom_tet tet = {.tag = cell};
  const double *groups = v->arrays[GROUPS].values;
  for (int k = 0; k < 4; k++) {
    double node = v->arrays[CONNECTIVITY].values[at + k];
    if (!is_whole(node, 0, (double)v->points - 1))
      return carom_fail(v->error, CAROM_ERR_FORMAT, "%s: cell %lld refers to point %g; expected 0 to %lld",
                        v->text.name, (long long)cell, node, (long long)v->points - 1);
    tet.v[k] = base + (int)node;
  }
  if (groups && !is_whole(groups[cell], INT_MIN, INT_MAX))
    return carom_fail(v->error, CAROM_ERR_FORMAT, "%s: cell %lld has the group %g; expected a whole number",
                      v->text.name, (long long)cell, groups[cell]);
  if (groups) tet.group = (int)groups[cell];
  return carom_tet_soup_add_tet(v->soup, &tet, v->error);
}

static carom_status add_cells(vtu *v, int base) {
  double before = 0;
  carom_status status = CAROM_OK;
  for (int64_t i = 0; i < v->cells && !status; i++) {
    double type = v->arrays[TYPES].values[i], end = v->arrays[OFFSETS].values[i];
    carom_cell_kind kind;
    if (!is_whole(end, before, (double)v->arrays[CONNECTIVITY].count) || !is_whole(type, 0, INT_MAX))
      return carom_fail(v->error, CAROM_ERR_FORMAT, "%s: cell %lld of type %g ends at %g of %lld numbers", v->text.name,
                        (long long)i, type, end, (long long)v->arrays[CONNECTIVITY].count);
    carom_vtk_cell cell = {(int64_t)type, (int64_t)(end - before), i, 0};
    status = carom_vtk_check_cell(v->soup, &cell, &kind, v->error);
    if (!status && kind == CAROM_CELL_TET) status = add_tet(v, i, (int64_t)before, base);
    if (kind == CAROM_CELL_FLAT) v->soup->passed_over++;
    before = end;
  }
  return status;
}

static carom_status end_piece(vtu *v) {
  int base = v->soup->node_count;
  carom_status status = check_length(v, POINTS, 3 * v->points, "points");
  if (!status) status = check_length(v, OFFSETS, v->cells, "the ends of cells");
  if (!status) status = check_length(v, TYPES, v->cells, "types of cells");
  if (!status && v->arrays[GROUPS].values) status = check_length(v, GROUPS, v->cells, "groups");
  if (!status) status = add_points(v);
  if (!status) status = add_cells(v, base);
  for (int i = 0; i < ARRAYS; i++) {
    carom_release(v->file.allocator, v->arrays[i].values);
    v->arrays[i] = (carom_vtu_values){0};
  }
  return status;
}

// ---- the file -----------------------------------------------------------------------------------

static carom_status read_head(vtu *v, const tag *g) {
  const uint16_t probe = 1;
  unsigned char first;
  memcpy(&first, &probe, 1);
  carom_word order = attribute(g, "byte_order"), header = attribute(g, "header_type"),
             packer = attribute(g, "compressor");
  carom_word type = attribute(g, "type");
  if (!carom_word_is(type, "unstructuredgrid"))
    return carom_text_expected(&g->attributes, "a file of type UnstructuredGrid", type, v->error);
  v->file.swapped = carom_word_is(order, first ? "bigendian" : "littleendian");
  v->file.header = carom_word_is(header, "uint64") ? 8 : 4;
  v->file.compressed = packer.length > 0;
  if (packer.length == 0 || carom_word_is(packer, "vtkzlibdatacompressor")) return CAROM_OK;
  return carom_text_expected(&g->attributes, "no compressor or vtkZLibDataCompressor", packer, v->error);
}

static carom_status use_tag(vtu *v, const tag *g) {
  static const char *const parents[] = {"points", "cells", "celldata", "pointdata", "fielddata"};
  for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++)
    if (carom_word_is(g->name, parents[i])) v->parent = g->empty ? (carom_word){0} : g->name;
  if (g->name.length > 0 && g->name.start[0] == '/' && !carom_word_is(g->name, "/dataarray")) v->parent.length = 0;
  if (carom_word_is(g->name, "vtkfile")) return read_head(v, g);
  if (carom_word_is(g->name, "unstructuredgrid")) v->grid = true;
  if (carom_word_is(g->name, "piece")) {
    carom_status status = begin_piece(v, g);
    return status || !g->empty ? status : end_piece(v);
  }
  if (carom_word_is(g->name, "/piece")) return end_piece(v);
  return carom_word_is(g->name, "dataarray") ? read_array(v, g) : CAROM_OK;
}

// Appended data may hold any bytes, so they are cut off first.
static carom_status find_appended(vtu *v) {
  carom_text t = v->text;
  tag g = {.empty = false};
  const char *begin = find(&t, "<AppendedData");
  if (!begin) return CAROM_OK;
  v->text.end = begin;
  step_to(&t, begin);
  if (!next_tag(&t, &g)) t.at = t.end;
  const char *mark = memchr(t.at, '_', (size_t)(t.end - t.at));
  carom_word encoding = attribute(&g, "encoding");
  v->file.appended_base64 = carom_word_is(encoding, "base64");
  if (!mark || (!v->file.appended_base64 && !carom_word_is(encoding, "raw")))
    return carom_fail(v->error, CAROM_ERR_FORMAT,
                      "%s:%d: appended data without an encoding (raw, base64) or the mark '_'; is the file cut short?",
                      v->text.name, t.line);
  v->file.appended = mark + 1;
  v->file.appended_end = t.end;
  if (v->file.appended_base64) {
    const char *end = memchr(mark, '<', (size_t)(t.end - mark));
    if (end) v->file.appended_end = end;
  }
  return CAROM_OK;
}

static carom_status check_end(const vtu *v, bool ended) {
  if (!v->grid)
    return carom_fail(v->error, CAROM_ERR_FORMAT, "%s: no UnstructuredGrid in it; expected a .vtu file of VTK",
                      v->text.name);
  if (ended) return CAROM_OK;
  return carom_fail(v->error, CAROM_ERR_FORMAT,
                    "%s:%d: the grid has no end (</UnstructuredGrid>); is the file cut short?", v->text.name,
                    v->text.line);
}

carom_status carom_vtu_parse(carom_text text, carom_tet_soup *soup, carom_error *error) {
  vtu v = {.text = text, .soup = soup, .error = error};
  v.file = (carom_vtu_file){.name = text.name, .header = 4, .allocator = &soup->allocator, .error = error};
  tag g;
  bool ended = false;
  carom_status status = find_appended(&v);
  while (!status && !ended && next_tag(&v.text, &g)) {
    ended = carom_word_is(g.name, "/unstructuredgrid");
    status = use_tag(&v, &g);
  }
  if (!status) status = check_end(&v, ended);
  for (int i = 0; i < ARRAYS; i++) carom_release(&soup->allocator, v.arrays[i].values);
  return status;
}
