// Reading a problem of pushing: text -> tree -> scene, probes, goal and pushes.
#include <string.h>

#include "base/memory.h"
#include "scene/problem.h"
#include "scene/push_reader.h"

// ---- shared by the readers -----------------------------------------------------------------------------------------

int carom_push_read_body(carom_push_reader *p, const carom_node *node) {
  return carom_problem_body(&p->r, p->file->scene->model, node);
}

bool carom_push_read_part(carom_push_reader *p, const carom_node *at, const carom_node *node, int *body) {
  const carom_model *model = p->file->scene->model;
  if (node) {
    *body = carom_push_read_body(p, node);
    if (*body < 0 || !model->bodies[*body].fixed) return *body >= 0;
    return carom_report(&p->r.reporter, node->place, NULL, "'%.80s' is fixed: name a body that is pushed",
                        model->bodies[*body].name);
  }
  if (model->moving_count != 1)
    return carom_report(&p->r.reporter, at->place, NULL, "missing key 'body': the scene has %d bodies that move",
                        model->moving_count);
  *body = 0;
  while (model->bodies[*body].fixed) ++*body;
  return true;
}

bool carom_push_read_point(carom_push_reader *p, const carom_node *node, carom_vec3 *point) {
  return !node || carom_read_place(&p->r, node, node->key ? node->key : "the item", point);
}

bool carom_push_has_errors(const carom_push_reader *p) { return p->r.reporter.list->error_count > 0; }

// ---- the top level -------------------------------------------------------------------------------------------------

enum {
  TOP_VERSION,
  TOP_TITLE,
  TOP_DESCRIPTION,
  TOP_CONSTANTS,
  TOP_SCENE,
  TOP_PROBES,
  TOP_STEP,
  TOP_GOAL,
  TOP_PUSHES,
  TOP_ROBUST,
  TOP_FORCE_LIMIT,
  TOP_PLAN,
  TOP_FIT,
};
static const char *const top_keys[] = {"carom-push", "title",  "description", "constants",   "scene", "probes", "step",
                                       "goal",       "pushes", "robust",      "force_limit", "plan",  "fit",    NULL};

static bool read_scene(carom_push_reader *p, const carom_node *node) {
  carom_scene_options options = carom_scene_default_options();
  options.bodies_only = true;
  const char *path = carom_problem_scene_path(&p->r, node);
  if (!path || !carom_problem_scene(&p->r, path, &options, &p->file->scene)) return false;
  p->scene = node;
  p->file->def.model = p->file->scene->model;
  return true;
}

static bool read_texts(carom_push_reader *p, const carom_node *title, const carom_node *description) {
  const char *heading = p->file->scene->title, *text = p->file->scene->description;
  carom_read_text(&p->r, title, &heading);
  carom_read_text(&p->r, description, &text);
  p->file->title = carom_copy_text(&p->r.allocator, heading);
  p->file->description = carom_copy_text(&p->r.allocator, text);
  return p->file->title && p->file->description;
}

static bool read_problem(carom_push_reader *p) {
  const carom_node *f[CAROM_PUSH_MOST_KEYS];
  if (!carom_problem_fields(&p->r, p->r.root, top_keys, "the problem", f)) return true;
  carom_problem_version(&p->r, f[TOP_VERSION], "carom-push");
  p->r.top[KEY_SCENE_CONSTANTS] = f[TOP_CONSTANTS];
  carom_read_constants(&p->r);
  if (!read_scene(p, f[TOP_SCENE])) return !p->r.reporter.out_of_memory;
  if (!read_texts(p, f[TOP_TITLE], f[TOP_DESCRIPTION])) return false;
  carom_push_check_scene(p);
  if (carom_require(&p->r, p->r.root, f[TOP_PROBES], "probes", "the problem")) carom_push_read_probes(p, f[TOP_PROBES]);
  carom_read_number(&p->r, f[TOP_STEP], CAROM_TIME, CAROM_POSITIVE, &p->file->def.step);
  carom_read_number(&p->r, f[TOP_FORCE_LIMIT], CAROM_FORCE, CAROM_POSITIVE, &p->file->def.force_limit);
  carom_push_read_goal(p, f[TOP_GOAL]);
  carom_push_read_robust(p, f[TOP_ROBUST]);
  carom_push_read_pushes(p, f[TOP_PUSHES]);
  carom_push_read_plan(p, f[TOP_PLAN]);
  carom_push_read_fit(p, f[TOP_FIT]);
  if (!carom_push_has_errors(p)) carom_push_check_places(p);
  if (!carom_push_has_errors(p)) carom_check_constants(&p->r);
  return true;
}

// ---- beginning and end ---------------------------------------------------------------------------------------------

static bool begin_file(carom_push_file *file, const carom_allocator *allocator) {
  file->allocator = *allocator;
  file->def = carom_pusher_default();
  file->plan = carom_push_plan_default();
  file->fit = carom_push_fit_default();
  file->tables = CAROM_NEW(allocator, struct carom_push_tables, 1);
  if (file->tables) carom_pool_create(&file->tables->pool, allocator);
  return file->tables != NULL;
}

carom_status carom_push_read(const char *path, const carom_scene_options *options, const carom_allocator *allocator,
                             carom_push_file **file, carom_diagnostics *diagnostics) {
  carom_push_reader p = {0};
  carom_reader *r = &p.r;
  *file = NULL;
  carom_problem_begin(r, path, options, allocator, diagnostics);
  p.file = CAROM_NEW(&r->allocator, carom_push_file, 1);
  bool memory = p.file && begin_file(p.file, &r->allocator);
  carom_problem_load(r);
  if (r->root && memory) memory = read_problem(&p);
  carom_status status = carom_problem_end(r, memory && !p.file->tables->pool.failed);
  if (status == CAROM_OK)
    *file = p.file;
  else
    carom_push_file_destroy(p.file);
  return status;
}

void carom_push_file_destroy(carom_push_file *file) {
  if (!file) return;
  carom_allocator a = file->allocator;
  carom_scene_destroy(file->scene);
  if (file->tables) carom_pool_destroy(&file->tables->pool);
  CAROM_RELEASE_ALL(&a, file->title, file->description, file->pushes, file->places, file->tables, file);
}
