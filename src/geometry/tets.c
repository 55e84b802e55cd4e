// Meshes of tetrahedra as values: collected from files or makers, handed over, released.
#include "geometry/tets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/read_file.h"
#include "geometry/shape.h"

#define FILE_MAX ((int64_t)1 << 31)

carom_tets_options carom_tets_default_options(void) { return (carom_tets_options){.scale = 1}; }

void carom_tets_release(carom_tets *tets) {
  if (!tets) return;
  carom_allocator allocator = tets->allocator.allocate ? tets->allocator : carom_allocator_default();
  for (int i = 0; i < tets->name_count; i++) carom_release(&allocator, tets->names[i].name);
  CAROM_RELEASE_ALL(&allocator, tets->nodes, tets->tets, tets->groups, tets->names);
  *tets = (carom_tets){0};
}

carom_status carom_tets_check_options(const carom_tets_options *o, carom_error *error) {
  if (isfinite(o->scale) && o->scale > 0) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_ARGUMENT, "the scale of a mesh is %g; expected a positive number", o->scale);
}

carom_place carom_tet_place(const carom_tet_soup *soup, int line) {
  carom_place place = {""};
  if (soup->name && line > 0) snprintf(place.text, sizeof place.text, "%.500s:%d: ", soup->name, line);
  if (soup->name && line <= 0) snprintf(place.text, sizeof place.text, "%.500s: ", soup->name);
  return place;
}

carom_place carom_node_place(const carom_tet_soup *soup, const carom_tet_node *node) {
  return carom_tet_place(&(carom_tet_soup){.name = soup->node_name}, node->line);
}

carom_status carom_tet_check_room(const carom_text *t, const char *what, int64_t count, int64_t bytes_each,
                                  carom_error *error) {
  int64_t left = t->end - t->at;
  if (count >= 0 && count <= left / bytes_each + 1) return CAROM_OK;
  carom_place place = carom_tet_place(&(carom_tet_soup){.name = t->name}, t->line);
  if (count < 0)
    return carom_fail(error, CAROM_ERR_FORMAT, "%s%s is %lld; expected 0 or more", place.text, what, (long long)count);
  return carom_fail(error, CAROM_ERR_FORMAT, "%s%s is %lld, but only %lld bytes follow in the file; is it cut short?",
                    place.text, what, (long long)count, (long long)left);
}

// ---- collecting -------------------------------------------------------------------------------

carom_status carom_tet_soup_add_node(carom_tet_soup *soup, const carom_tet_node *node, carom_error *error) {
  void *array = soup->nodes;
  if (soup->node_count >= CAROM_TETS_NODES_MAX)
    return carom_fail(error, CAROM_ERR_LIMIT, "%smore than %d nodes", carom_tet_place(soup, 0).text,
                      CAROM_TETS_NODES_MAX);
  if (!carom_grow(&soup->allocator, &array, soup->node_count, &soup->node_capacity, sizeof *node))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory after %d nodes", soup->node_count);
  soup->nodes = array;
  soup->nodes[soup->node_count++] = *node;
  return CAROM_OK;
}

carom_status carom_tet_soup_add_tet(carom_tet_soup *soup, const carom_tet *tet, carom_error *error) {
  void *array = soup->tets;
  if (soup->tet_count >= CAROM_TETS_MAX)
    return carom_fail(error, CAROM_ERR_LIMIT, "%smore than %d tetrahedra", carom_tet_place(soup, 0).text,
                      CAROM_TETS_MAX);
  if (!carom_grow(&soup->allocator, &array, soup->tet_count, &soup->tet_capacity, sizeof *tet))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory after %d tetrahedra", soup->tet_count);
  soup->tets = array;
  soup->tets[soup->tet_count++] = *tet;
  return CAROM_OK;
}

carom_status carom_tet_soup_add_name(carom_tet_soup *soup, int group, carom_word name, carom_error *error) {
  void *array = soup->names;
  char *copy = NULL;
  if (carom_grow(&soup->allocator, &array, soup->name_count, &soup->name_capacity, sizeof *soup->names)) {
    soup->names = array;
    copy = carom_copy_text_n(&soup->allocator, name.start, name.length);
  }
  if (!copy) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the names of groups");
  soup->names[soup->name_count++] = (carom_tets_name){group, copy};
  return CAROM_OK;
}

void carom_tet_soup_release(carom_tet_soup *soup) {
  for (int i = 0; i < soup->name_count; i++) carom_release(&soup->allocator, soup->names[i].name);
  CAROM_RELEASE_ALL(&soup->allocator, soup->nodes, soup->tets, soup->names);
  soup->nodes = NULL;
  soup->tets = NULL;
  soup->names = NULL;
  soup->node_count = soup->tet_count = soup->name_count = 0;
}

// ---- by hand ----------------------------------------------------------------------------------

static carom_status add_all(const carom_tets *from, carom_tet_soup *soup, carom_error *error) {
  carom_status status = CAROM_OK;
  for (int i = 0; i < from->node_count && !status; i++)
    status = carom_tet_soup_add_node(soup, &(carom_tet_node){from->nodes[i], i, 0}, error);
  for (int t = 0; t < from->tet_count && !status; t++) {
    const int *v = from->tets[t];
    for (int k = 0; k < 4; k++)
      if (v[k] < 0 || v[k] >= from->node_count)
        return carom_fail(error, CAROM_ERR_ARGUMENT, "tetrahedron %d refers to node %d; expected 0 to %d", t, v[k],
                          from->node_count - 1);
    carom_tet tet = {{v[0], v[1], v[2], v[3]}, from->groups ? from->groups[t] : 0, 0, t};
    status = carom_tet_soup_add_tet(soup, &tet, error);
  }
  for (int i = 0; i < from->name_count && !status; i++) {
    carom_word name = {from->names[i].name, strlen(from->names[i].name)};
    status = carom_tet_soup_add_name(soup, from->names[i].group, name, error);
  }
  return status;
}

carom_status carom_tets_init(const carom_tets *from, const carom_tets_options *options,
                             const carom_allocator *allocator, carom_tets *tets, carom_error *error) {
  carom_tets_options o = options ? *options : carom_tets_default_options();
  carom_tet_soup soup = {.allocator = carom_allocator_or_default(allocator)};
  carom_status status = carom_tets_check_options(&o, error);
  if (!status && (from->node_count < 0 || from->tet_count < 0 || from->name_count < 0))
    status = carom_fail(error, CAROM_ERR_ARGUMENT, "a mesh of %d nodes and %d tetrahedra; expected some of each",
                        from->node_count, from->tet_count);
  if (!status) status = add_all(from, &soup, error);
  if (!status) return carom_tet_soup_finish(&soup, &o, tets, error);
  carom_tet_soup_release(&soup);
  return status;
}

// ---- reading ----------------------------------------------------------------------------------

static bool begins_with(const carom_bytes *bytes, const char *start) {
  size_t length = strlen(start);
  return bytes->size >= length && memcmp(bytes->data, start, length) == 0;
}

typedef carom_status parser(carom_text text, carom_tet_soup *soup, carom_error *error);

static parser *parser_of(const carom_bytes *bytes, const char *name) {
  static const char byte_order_mark[] = "\xEF\xBB\xBF";
  if (begins_with(bytes, "$")) return carom_msh_parse;
  if (begins_with(bytes, "# vtk")) return carom_vtk_parse;
  if (begins_with(bytes, "<?xml") || begins_with(bytes, "<VTKFile") || begins_with(bytes, byte_order_mark))
    return carom_vtu_parse;
  if (carom_has_extension(name, "msh")) return carom_msh_parse;
  if (carom_has_extension(name, "vtk")) return carom_vtk_parse;
  return carom_has_extension(name, "vtu") ? carom_vtu_parse : NULL;
}

static carom_status refuse_kind(const char *name, carom_error *error) {
  return carom_fail(error, CAROM_ERR_FORMAT,
                    "%s: not a mesh of tetrahedra that can be read; expected Gmsh (.msh), VTK (.vtk, .vtu) or TetGen "
                    "(.node and .ele)",
                    name);
}

typedef struct source {
  const carom_bytes *bytes;
  parser *parse;
} source;

static carom_status parse_one(const source *s, carom_tet_soup *soup, carom_error *error) {
  soup->name = s->bytes->name ? s->bytes->name : "mesh";
  if (!soup->node_name) soup->node_name = soup->name;
  if (!s->bytes->data || s->bytes->size == 0)
    return carom_fail(error, CAROM_ERR_FORMAT, "%s: the file is empty", soup->name);
  parser *parse = s->parse ? s->parse : parser_of(s->bytes, soup->name);
  const char *data = s->bytes->data;
  return parse ? parse((carom_text){soup->name, data, data + s->bytes->size, 1}, soup, error)
               : refuse_kind(soup->name, error);
}

static carom_status parse_all(const source *sources, int count, carom_tet_soup *soup, carom_error *error) {
  carom_plain_locale locale;
  if (!carom_plain_locale_begin(&locale)) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a locale");
  carom_status status = CAROM_OK;
  for (int i = 0; i < count && !status; i++) status = parse_one(&sources[i], soup, error);
  carom_plain_locale_end(&locale);
  return status;
}

typedef struct reading {
  const carom_tets_options *options;
  const carom_allocator *allocator;
  carom_tets *tets;
  carom_error *error;
} reading;

static carom_status read_sources(const reading *r, const source *sources, int count) {
  carom_tets_options o = r->options ? *r->options : carom_tets_default_options();
  carom_tet_soup soup = {.allocator = carom_allocator_or_default(r->allocator)};
  carom_status status = carom_tets_check_options(&o, r->error);
  if (!status) status = parse_all(sources, count, &soup, r->error);
  if (!status) return carom_tet_soup_finish(&soup, &o, r->tets, r->error);
  carom_tet_soup_release(&soup);
  return status;
}

carom_status carom_tets_parse(const carom_bytes *bytes, const carom_tets_options *options,
                              const carom_allocator *allocator, carom_tets *tets, carom_error *error) {
  return read_sources(&(reading){options, allocator, tets, error}, &(source){bytes, NULL}, 1);
}

carom_status carom_tets_parse_tetgen(const carom_bytes *files, const carom_tets_options *options,
                                     const carom_allocator *allocator, carom_tets *tets, carom_error *error) {
  const source sources[2] = {{&files[0], carom_tetgen_parse_nodes}, {&files[1], carom_tetgen_parse_tets}};
  return read_sources(&(reading){options, allocator, tets, error}, sources, 2);
}

// ---- files ------------------------------------------------------------------------------------

static carom_status load(const char *path, const carom_allocator *heap, carom_bytes *bytes, carom_error *error) {
  carom_error why;
  bytes->name = path;
  bytes->data = carom_read_file(path, FILE_MAX, heap, &bytes->size, &why);
  return bytes->data ? CAROM_OK : carom_fail(error, why.status, "%s: cannot be read: %s", path, why.message);
}

static void unload(const carom_allocator *heap, const carom_bytes *bytes) {
  carom_release(heap, (void *)(uintptr_t)bytes->data);
}

// paths: NAME.node, NAME.ele
static carom_status read_pair(const reading *r, char *const paths[2]) {
  carom_allocator heap = carom_allocator_or_default(r->allocator);
  carom_bytes files[2] = {{0}};
  carom_status status = load(paths[0], &heap, &files[0], r->error);
  if (!status) status = load(paths[1], &heap, &files[1], r->error);
  if (!status) status = carom_tets_parse_tetgen(files, r->options, r->allocator, r->tets, r->error);
  for (int i = 0; i < 2; i++) unload(&heap, &files[i]);
  return status;
}

static carom_status read_tetgen(const reading *r, const char *path) {
  static const char *const endings[2] = {".node", ".ele"};
  carom_allocator heap = carom_allocator_or_default(r->allocator);
  size_t stem = (size_t)(strrchr(path, '.') - path), room = stem + sizeof ".node";
  char *paths[2] = {CAROM_NEW(&heap, char, room), CAROM_NEW(&heap, char, room)};
  carom_status status = CAROM_ERR_MEMORY;
  if (paths[0] && paths[1]) {
    for (int i = 0; i < 2; i++) snprintf(paths[i], room, "%.*s%s", (int)stem, path, endings[i]);
    status = read_pair(r, paths);
  } else {
    carom_fail(r->error, status, "%s: out of memory", path);
  }
  CAROM_RELEASE_ALL(&heap, paths[0], paths[1]);
  return status;
}

carom_status carom_tets_read(const char *path, const carom_tets_options *options, const carom_allocator *allocator,
                             carom_tets *tets, carom_error *error) {
  const reading r = {options, allocator, tets, error};
  if (carom_has_extension(path, "node") || carom_has_extension(path, "ele")) return read_tetgen(&r, path);
  carom_allocator heap = carom_allocator_or_default(allocator);
  carom_bytes bytes;
  carom_status status = load(path, &heap, &bytes, error);
  if (status) return status;
  status = carom_tets_parse(&bytes, options, allocator, tets, error);
  unload(&heap, &bytes);
  return status;
}
