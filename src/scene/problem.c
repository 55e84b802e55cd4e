#include "scene/problem.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "base/read_file.h"

enum { MOST_BYTES = 4 << 20, MOST_NODES = 400000 };

static const char *folder_of(carom_pool *pool, const char *path) {
  const char *slash = strrchr(path, '/');
  return carom_pool_text(pool, path, slash ? (size_t)(slash - path) + 1 : 0);
}

void carom_problem_begin(carom_reader *r, const char *path, const carom_scene_options *options,
                         const carom_allocator *allocator, carom_diagnostics *diagnostics) {
  r->allocator = carom_allocator_or_default(allocator);
  r->path = path;
  r->options = options ? *options : carom_scene_default_options();
  r->limits = (carom_yaml_limits){.nodes = MOST_NODES, .alias_nodes = MOST_NODES};
  carom_pool_create(&r->pool, &r->allocator);
  carom_reporter_begin(&r->reporter, diagnostics, &r->allocator);
  carom_allocator heap = carom_pool_allocator(&r->pool);
  carom_names_create(&r->constant_names, &heap);
}

// "scene.constants.width=2": what stands behind is for the scene that the problem names; null: it is for the problem.
static const char *for_scene(const char *override) { return strncmp(override, "scene.", 6) == 0 ? override + 6 : NULL; }

static void parse(carom_reader *r, const char *text, size_t size) {
  carom_node *root = carom_yaml_parse(&r->pool, &r->reporter, &r->limits, &(carom_bytes){r->path, text, size}, true);
  for (int i = 0; root && i < r->options.override_count; i++)
    if (!for_scene(r->options.overrides[i])) carom_apply_override(r, root, r->options.overrides[i]);
  r->root = root;
  r->folder = folder_of(&r->pool, r->path);
  if (!r->folder) r->root = NULL;
}

void carom_problem_load(carom_reader *r) {
  carom_error why;
  size_t size;
  char *text = carom_read_file(r->path, MOST_BYTES, &r->allocator, &size, &why);
  if (!text && why.status == CAROM_ERR_MEMORY) r->reporter.out_of_memory = true;
  if (text)
    parse(r, text, size);
  else
    carom_report(&r->reporter, (carom_place){r->path, 0, 0}, NULL, "cannot read the problem: %s", why.message);
  carom_release(&r->allocator, text);
}

carom_status carom_problem_end(carom_reader *r, bool memory) {
  carom_reporter_sort(&r->reporter);
  memory = memory && !r->pool.failed && !r->reporter.out_of_memory;
  carom_pool_destroy(&r->pool);
  return !memory ? CAROM_ERR_MEMORY : r->reporter.list->error_count > 0 ? CAROM_ERR_SCENE : CAROM_OK;
}

void carom_problem_version(carom_reader *r, const carom_node *node, const char *key) {
  char hint[80];
  if (node && carom_node_is(node, "1")) return;
  snprintf(hint, sizeof hint, "a problem begins with '%s: 1'", key);
  if (node)
    carom_report(&r->reporter, node->place, hint, "this library reads problems of version 1");
  else
    carom_report(&r->reporter, r->root->place, hint, "missing key '%s'", key);
}

bool carom_problem_fields(carom_reader *r, const carom_node *node, const char *const *keys, const char *label,
                          const carom_node **slots) {
  int count = 0;
  while (keys[count]) count++;
  return carom_read_keyed(r, node, &(carom_section_keys){NULL, count, keys}, label, slots);
}

const char *carom_problem_scene_path(carom_reader *r, const carom_node *slot) {
  const char *name = NULL;
  if (!carom_require(r, r->root, slot, "scene", "the problem") || !carom_read_text(r, slot, &name)) return NULL;
  return carom_join_path(&r->pool, r->folder, name);
}

void carom_problem_findings(carom_reader *r, const carom_diagnostics *found) {
  for (int i = 0; i < found->count; i++) {
    const carom_diagnostic *d = &found->items[i];
    const char *file = carom_pool_text(&r->pool, d->file, strlen(d->file));
    if (!file) break;
    if (d->warning)
      carom_warn(&r->reporter, (carom_place){file, d->line, d->column}, d->hint, "%s", d->message);
    else
      carom_report(&r->reporter, (carom_place){file, d->line, d->column}, d->hint, "%s", d->message);
  }
}

// Those of `options`, then those of the problem that are for its scene.
static bool join_overrides(carom_reader *r, carom_scene_options *options) {
  const char **all = CAROM_POOL_ARRAY(&r->pool, const char *, options->override_count + r->options.override_count + 1);
  int count = options->override_count;
  if (!all) return false;
  for (int i = 0; i < count; i++) all[i] = options->overrides[i];
  for (int i = 0; i < r->options.override_count; i++)
    if (for_scene(r->options.overrides[i])) all[count++] = for_scene(r->options.overrides[i]);
  options->overrides = all;
  options->override_count = count;
  return true;
}

bool carom_problem_scene(carom_reader *r, const char *path, const carom_scene_options *options, carom_scene **scene) {
  carom_diagnostics found = {0};
  carom_scene_options discreet = *options;
  discreet.discreet = true;
  if (!join_overrides(r, &discreet)) return false;
  carom_status status = carom_scene_read(path, &discreet, &r->allocator, scene, &found);
  carom_problem_findings(r, &found);
  carom_diagnostics_release(&found);
  if (status == CAROM_ERR_MEMORY) r->reporter.out_of_memory = true;
  return status == CAROM_OK;
}

int carom_problem_body(carom_reader *r, const carom_model *model, const carom_node *node) {
  const char *name = NULL;
  if (!node || !carom_read_text(r, node, &name)) return -1;
  int body = carom_model_find_body(model, name);
  if (body >= 0) return body;
  char hint[100];
  carom_nearest nearest = carom_nearest_begin(node->text, node->length);
  for (int i = 0; i < model->body_count; i++) carom_nearest_try(&nearest, model->bodies[i].name);
  carom_nearest_hint(&nearest, hint, sizeof hint);
  carom_report(&r->reporter, node->place, hint, "the scene has no body '%.80s'", name);
  return -1;
}
