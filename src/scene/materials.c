#include <stdio.h>
#include <string.h>

#include "scene/reader.h"

// What the builder refused is reported at `node`. A fresh builder then goes on checking, so that one mistake does not
// hide the others; the scene is lost anyway.
void carom_check_builder(carom_reader *r, const carom_node *node) {
  carom_error error;
  carom_status status = carom_builder_status(r->builder, &error);
  if (status == CAROM_OK) return;
  carom_builder_destroy(r->builder);
  r->builder = NULL;
  if (status == CAROM_ERR_MEMORY)
    r->pool.failed = true;
  else
    carom_report(&r->reporter, node->place, NULL, "%s", error.message);
  r->doomed = true;
  if (carom_builder_create(&r->allocator, &r->builder, NULL) != CAROM_OK)
    r->pool.failed = true;
  else
    carom_builder_set_planar(r->builder, r->planar);
}

static bool check_range(carom_reader *r, const carom_node *node, double value) {
  if (!node || value <= 1) return true;
  return carom_report(&r->reporter, node->place, NULL, "'%s' must be from 0 to 1, got %g", node->key, value);
}

// What solids may take from a material is checked here, once; each solid that takes it reads it again.
static bool read_matter(carom_reader *r, const carom_node *const *f, const char *label, carom_matter_nodes *matter) {
  *matter = (carom_matter_nodes){f[KEY_MATERIAL_YOUNG],
                                 f[KEY_MATERIAL_POISSON],
                                 f[KEY_MATERIAL_LAMBDA],
                                 f[KEY_MATERIAL_MU],
                                 f[KEY_MATERIAL_DAMPING],
                                 f[KEY_MATERIAL_LAW],
                                 false};
  carom_solid_def ignored = carom_solid_default();
  return carom_read_matter(r, matter, label, &ignored);
}

static bool read_material(carom_reader *r, const carom_node *node, carom_material_def *def,
                          carom_matter_nodes *matter) {
  const carom_node *f[CAROM_MOST_KEYS];
  char label[100];
  snprintf(label, sizeof label, "material '%.60s'", node->key);
  if (!carom_read_fields(r, node, CAROM_SECTION_MATERIAL, label, f)) return false;
  bool good = carom_read_number(r, f[KEY_MATERIAL_DENSITY], CAROM_DENSITY, CAROM_POSITIVE, &def->density);
  good = carom_read_number(r, f[KEY_MATERIAL_RESTITUTION], CAROM_NUMBER, CAROM_NOT_NEGATIVE, &def->restitution) && good;
  good = check_range(r, f[KEY_MATERIAL_RESTITUTION], def->restitution) && good;
  good = carom_read_number(r, f[KEY_MATERIAL_FRICTION], CAROM_NUMBER, CAROM_NOT_NEGATIVE, &def->friction) && good;
  good = read_matter(r, f, label, matter) && good;
  return carom_read_color(r, f[KEY_MATERIAL_COLOR], &def->color) && good;
}

static void keep_matter(carom_reader *r, carom_matter_nodes matter) {
  void *kept = r->matter;
  if (!carom_pool_grow(&r->pool, &kept, r->matter_count, &r->matter_capacity, sizeof *r->matter)) return;
  r->matter = kept;
  r->matter[r->matter_count++] = matter;
}

static void add_material(carom_reader *r, const carom_node *node, const char *name, int index) {
  carom_material_def def = carom_material_default();
  carom_matter_nodes matter = {0};
  def.name = name;
  bool good = !node || read_material(r, node, &def, &matter);
  matter.bad = !good;
  keep_matter(r, matter);
  if (good && carom_builder_add_material(r->builder, &def) < 0) carom_check_builder(r, node ? node : r->root);
  if (!good) r->doomed = true;  // indices are off from here on
  if (!carom_names_add(&r->material_names, name, index)) r->pool.failed = true;
}

// The material "default" is number 0 whether or not the scene says anything of it.
void carom_read_materials(carom_reader *r) {
  const carom_node *map = r->top[KEY_SCENE_MATERIALS];
  if (map && carom_node_is_null(map)) map = NULL;
  if (map && map->kind != CAROM_NODE_MAP) {
    char got[80];
    carom_report(&r->reporter, map->place, NULL, "'materials' must be a mapping from names to properties, got %s",
                 carom_describe(map, got, sizeof got));
    map = NULL;
  }
  add_material(r, map ? carom_node_find(map, "default", 7) : NULL, "default", 0);
  int index = 1;
  for (const carom_node *c = map ? map->first : NULL; c && !carom_reader_failed(r); c = c->next)
    if (strcmp(c->key, "default") != 0) add_material(r, c, c->key, index++);
}
