// Reading a scene: text -> tree -> checked values -> model and start state.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/read_file.h"
#include "scene/reader.h"

enum { MOST_BYTES = 64 << 20, MOST_FILES = 200, MOST_NODES = 8000000, MOST_ALIAS_NODES = 200000 };

carom_scene_options carom_scene_default_options(void) { return (carom_scene_options){.max_bodies = 2000000}; }

// ---- beginning and end -------------------------------------------------------------------------------

static void begin(carom_reader *r, const char *path, const carom_scene_options *options,
                  const carom_allocator *allocator, carom_diagnostics *diagnostics) {
  *r = (carom_reader){.allocator = carom_allocator_or_default(allocator), .path = path};
  r->options = options ? *options : carom_scene_default_options();
  if (r->options.max_bodies <= 0 || r->options.max_bodies > INT32_MAX / 4)
    r->options.max_bodies = carom_scene_default_options().max_bodies;
  r->limits = (carom_yaml_limits){.nodes = MOST_NODES, .alias_nodes = MOST_ALIAS_NODES};
  r->bytes_left = MOST_BYTES;
  r->files_left = MOST_FILES;
  r->vertices_left = 4 * r->options.max_bodies + 1000000;
  r->pieces_left = 16 * r->options.max_bodies;
  r->tets_left = 2 * r->options.max_bodies;
  carom_pool_create(&r->pool, &r->allocator);
  carom_reporter_begin(&r->reporter, diagnostics, &r->allocator);
  carom_names *tables[] = {&r->constant_names,   &r->material_names, &r->shape_names, &r->body_names,
                           &r->charge_set_names, &r->joint_names,    &r->input_names, &r->solid_names};
  carom_allocator heap = carom_pool_allocator(&r->pool);
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) carom_names_create(tables[i], &heap);
}

static void end(carom_reader *r) {
  for (int i = 0; i < r->shape_count; i++) carom_shape_release(r->shapes[i]);
  carom_builder_destroy(r->builder);
  carom_scene_destroy(r->scene);
  carom_pool_destroy(&r->pool);
}

void carom_scene_destroy(carom_scene *scene) {
  if (!scene) return;
  carom_allocator a = scene->allocator;
  carom_model_destroy(scene->model);
  carom_state_destroy(scene->state);
  carom_loop_def_destroy(scene->loop);
  char *texts[] = {scene->path, scene->title, scene->description, scene->source, scene->resolved, scene->choice};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) carom_release(&a, texts[i]);
  for (int i = 0; i < scene->file_count; i++) carom_release(&a, scene->files[i]);
  CAROM_RELEASE_ALL(&a, scene->files, scene);
}

static bool make_scene(carom_reader *r, const char *text, size_t size) {
  carom_scene *s = CAROM_NEW(&r->allocator, carom_scene, 1);
  r->scene = s;
  if (!s) return false;
  s->allocator = r->allocator;
  s->step = carom_step_default_options();
  s->path = carom_copy_text(&r->allocator, r->path);
  s->source = carom_copy_text_n(&r->allocator, text, size);
  return s->path && s->source && carom_loop_def_create(&r->allocator, &s->loop, NULL) == CAROM_OK &&
         carom_builder_create(&r->allocator, &r->builder, NULL) == CAROM_OK;
}

// ---- the top level -----------------------------------------------------------------------------------

static void check_version(carom_reader *r) {
  const carom_node *node = r->top[KEY_SCENE_CAROM];
  if (!node)
    carom_report(&r->reporter, r->root->place, "a scene begins with 'carom: 1'", "missing key 'carom'");
  else if (!carom_node_is(node, "1")) {
    char got[80];
    carom_report(&r->reporter, node->place, NULL, "this library reads scenes of version 1, got %s",
                 carom_describe(node, got, sizeof got));
  }
}

// "scenes/top.yaml" -> "top"
static char *title_from_path(const carom_reader *r) {
  const char *slash = strrchr(r->path, '/'), *name = slash ? slash + 1 : r->path;
  const char *dot = strrchr(name, '.');
  return carom_copy_text_n(&r->allocator, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static bool read_texts(carom_reader *r) {
  const carom_node *description = r->top[KEY_SCENE_DESCRIPTION];
  const char *title = NULL, *text = NULL;
  double seed = 0;
  carom_read_text(r, r->top[KEY_SCENE_TITLE], &title);
  if (description && !carom_node_is_null(description)) carom_read_text(r, description, &text);
  carom_read_integer(r, r->top[KEY_SCENE_SEED], 0, 9007199254740992.0, &seed);
  r->seed = r->scene->seed = (uint64_t)seed;
  r->scene->title = title ? carom_copy_text(&r->allocator, title) : title_from_path(r);
  r->scene->description = carom_copy_text(&r->allocator, text ? text : "");
  return r->scene->title && r->scene->description;
}

static bool read_sections(carom_reader *r) {
  if (!carom_read_fields(r, r->root, CAROM_SECTION_SCENE, "the scene", r->top)) return false;
  check_version(r);
  carom_read_constants(r);
  if (!read_texts(r)) return false;
  static void (*const readers[])(carom_reader *) = {
      carom_read_planar,      carom_read_materials, carom_read_named_shapes, carom_read_defaults,
      carom_read_charge_sets, carom_read_bodies,    carom_read_solids,       carom_read_forces,
      carom_read_joints,      carom_read_granular,  carom_read_control,      carom_read_run,
  };
  for (size_t i = 0; i < sizeof readers / sizeof *readers && !carom_reader_failed(r); i++) readers[i](r);
  if (r->reporter.list->error_count == 0) carom_check_constants(r);
  return true;
}

static bool keep_files(carom_reader *r) {
  carom_scene *s = r->scene;
  s->files = CAROM_NEW(&r->allocator, char *, r->file_count);
  while (s->files && s->file_count < r->file_count) {
    char *path = carom_copy_text(&r->allocator, r->files[s->file_count]);
    if (!path) return false;
    s->files[s->file_count++] = path;
  }
  return s->files != NULL;
}

static bool finish(carom_reader *r) {
  carom_error error;
  carom_scene *s = r->scene;
  if (r->doomed || r->reporter.list->error_count > 0) return true;
  carom_status status = carom_builder_finish(r->builder, &s->model, &s->state, &error);
  if (status == CAROM_ERR_MEMORY) return false;
  if (status != CAROM_OK) carom_report(&r->reporter, r->root->place, NULL, "%s", error.message);
  if (status == CAROM_OK && !r->options.bodies_only) {
    carom_check_start(r);
    carom_check_electromagnets(r);
    carom_check_control(r);
    carom_check_integrator(r);
  }
  if (!s->choice) s->choice = carom_copy_text(&r->allocator, "");
  s->resolved = carom_yaml_emit(r->root, &r->allocator);
  return s->resolved && s->choice && keep_files(r);
}

// False when out of memory; mistakes in the scene are in the list.
static bool read_scene(carom_reader *r, const char *text, size_t size) {
  if (!make_scene(r, text, size)) return false;
  if (size > MOST_BYTES) {
    carom_report(&r->reporter, (carom_place){r->path, 0, 0}, NULL, "the scene is too large (%.1f MB)",
                 (double)size / 1e6);
    return true;
  }
  r->bytes_left -= (int64_t)size;
  r->root = carom_load_tree(r, text, size);
  if (!r->root) return !r->pool.failed;
  return read_sections(r) && !r->pool.failed && finish(r);
}

carom_status carom_scene_parse(const carom_bytes *bytes, const carom_scene_options *options,
                               const carom_allocator *allocator, carom_scene **scene, carom_diagnostics *diagnostics) {
  carom_reader r;
  *scene = NULL;
  begin(&r, bytes->name, options, allocator, diagnostics);
  bool complete = read_scene(&r, bytes->data, bytes->size) && !r.pool.failed && !r.reporter.out_of_memory;
  carom_status status = !complete ? CAROM_ERR_MEMORY : diagnostics->error_count > 0 ? CAROM_ERR_SCENE : CAROM_OK;
  if (status == CAROM_OK) {
    *scene = r.scene;
    r.scene = NULL;
  }
  carom_reporter_sort(&r.reporter);
  end(&r);
  return status;
}

carom_status carom_scene_read(const char *path, const carom_scene_options *options, const carom_allocator *allocator,
                              carom_scene **scene, carom_diagnostics *diagnostics) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_error why;
  size_t size;
  *scene = NULL;
  char *text = carom_read_file(path, MOST_BYTES, &a, &size, &why);
  if (!text) {
    carom_reporter reporter;
    carom_reporter_begin(&reporter, diagnostics, &a);
    carom_report(&reporter, (carom_place){path, 0, 0}, NULL, "cannot read the scene: %s", why.message);
    return reporter.out_of_memory || why.status == CAROM_ERR_MEMORY ? CAROM_ERR_MEMORY : CAROM_ERR_SCENE;
  }
  carom_status status = carom_scene_parse(&(carom_bytes){path, text, size}, options, &a, scene, diagnostics);
  carom_release(&a, text);
  return status;
}
