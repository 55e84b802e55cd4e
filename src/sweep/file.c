// Reading a problem: text -> tree -> axes, scene, formulas. docs/sweep.md has the format.
#include "sweep/file.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/read_file.h"
#include "carom/plan.h"

enum {
  TOP_VERSION,
  TOP_TITLE,
  TOP_DESCRIPTION,
  TOP_CONSTANTS,
  TOP_SCENE,
  TOP_PLAN,
  TOP_STARTS,
  TOP_WARM,
  TOP_RESULTS,
  TOP_SET,
  TOP_AXES,
  TOP_DESIGN,
  TOP_COUNT,
  TOP_SEED,
  TOP_OUTCOMES,
  TOP_CLASSES,
  TOP_UNTIL,
  TOP_KEYS
};
static const char *const top_keys[] = {"carom-sweep", "title", "description", "constants", "scene", "plan",
                                       "starts",      "warm",  "results",     "set",       "axes",  "design",
                                       "count",       "seed",  "outcomes",    "classes",   "until", NULL};

// ---- the scene ------------------------------------------------------------------------------------------------------

enum { MOST_FILE_BYTES = 1 << 28 };

static bool is_plan(const char *text) {
  const char *key = strstr(text, "carom-plan:");
  return key && (key == text || key[-1] == '\n');
}

// Plans look like scenes to a reader of YAML; here they are told apart before the scene reader finds fault with all.
static bool refuse_plan(carom_sweep_reader *s, const carom_node *node, const char *path) {
  size_t size;
  carom_error why;
  char *text = carom_read_file(path, MOST_FILE_BYTES, &s->r.allocator, &size, &why);
  bool plan = text && is_plan(text);
  carom_release(&s->r.allocator, text);
  if (plan)
    carom_report(&s->r.reporter, node->place, "write 'plan:' in place of 'scene:'", "'%.200s' is a planning problem",
                 path);
  return plan;
}

static bool read_scene(carom_sweep_reader *s, const carom_node *node) {
  carom_overrides fixed;
  const char *path = carom_problem_scene_path(&s->r, node);
  if (!path || refuse_plan(s, node, path) || !carom_sweep_fixed_overrides(s, &fixed)) return false;
  carom_scene_options options = s->sweep->program->scene_options;
  options.overrides = (const char *const *)fixed.items;
  options.override_count = fixed.count;
  bool good = carom_problem_scene(&s->r, path, &options, &s->sweep->scene);
  carom_overrides_release(&fixed);
  return good;
}

// The plan itself is read for each case; of this one the scene stays, for names.
static bool read_plan(carom_sweep_reader *s, const carom_node *node) {
  carom_overrides fixed;
  const char *name = NULL, *path;
  if (!carom_plan_available())
    return carom_report(&s->r.reporter, node->place, NULL, "this build cannot plan: it was made without Ipopt");
  if (!carom_read_text(&s->r, node, &name) || !(path = carom_join_path(&s->r.pool, s->r.folder, name))) return false;
  if (!(s->sweep->plan = carom_copy_text(&s->r.allocator, path))) return s->r.reporter.out_of_memory = true, false;
  if (!carom_sweep_fixed_overrides(s, &fixed)) return false;
  carom_scene_options options = s->sweep->program->scene_options;
  options.overrides = (const char *const *)fixed.items;
  options.override_count = fixed.count;
  carom_diagnostics found = {0};
  carom_plan_file *file = NULL;
  carom_status status = carom_plan_read(path, &options, &s->r.allocator, &file, &found);
  carom_problem_findings(&s->r, &found);
  if (status == CAROM_OK) s->sweep->scene = file->scene, file->scene = NULL;
  carom_plan_file_destroy(file);
  carom_diagnostics_release(&found);
  carom_overrides_release(&fixed);
  if (status == CAROM_ERR_MEMORY) s->r.reporter.out_of_memory = true;
  return status == CAROM_OK;
}

static bool make_loop(carom_sweep_reader *s) {
  const carom_scene *scene = s->sweep->scene;
  carom_error error;
  carom_status status =
      carom_loop_create(scene->loop, scene->model, scene->step.step, &s->r.allocator, &s->loop, &error);
  if (status == CAROM_ERR_MEMORY) s->r.reporter.out_of_memory = true;
  if (status == CAROM_OK) return true;
  return carom_report(&s->r.reporter, (carom_place){scene->path, 0, 0}, NULL, "%s", error.message);
}

bool carom_sweep_read_inner(carom_sweep_reader *s, const carom_node *scene, const carom_node *plan) {
  carom_exclusive(&s->r, scene, plan, "scene and plan", "the problem");
  if (plan) return read_plan(s, plan);
  return read_scene(s, scene) && make_loop(s);
}

static uint64_t hash_file(carom_sweep_reader *s, uint64_t hash, const char *path) {
  size_t size = 0;
  carom_error why;
  char *bytes = carom_read_file(path, MOST_FILE_BYTES, &s->r.allocator, &size, &why);
  if (bytes) hash = carom_hash_bytes(hash, bytes, size);
  carom_release(&s->r.allocator, bytes);
  return hash;
}

// Of the problem as it stands after its overrides, and of all that the scene is made of.
static uint64_t make_digest(carom_sweep_reader *s) {
  uint64_t hash = CAROM_HASH_START;
  char *text = carom_yaml_emit(s->r.root, &s->r.allocator);
  if (text) hash = carom_hash_bytes(hash, text, strlen(text));
  carom_release(&s->r.allocator, text);
  if (s->sweep->plan) hash = hash_file(s, hash, s->sweep->plan);
  for (int i = 0; i < s->sweep->scene->file_count; i++) hash = hash_file(s, hash, s->sweep->scene->files[i]);
  return hash;
}

// ---- columns --------------------------------------------------------------------------------------------------------

static const struct {
  const char *name, *unit;
} run_columns[] = {{"time", "s"}, {"steps", ""}, {"collisions", ""}, {"energy_error", ""}, {"passed", ""}},
  plan_columns[] = {{"time", "s"}, {"nodes", ""}, {"iterations", ""}, {"violation", ""}, {"passed", ""}};
enum { RUN_COLUMNS = sizeof run_columns / sizeof *run_columns };
_Static_assert(sizeof run_columns == sizeof plan_columns, "runs and plans tell as many numbers");

static bool add_column(carom_sweep *sweep, const char *name, const char *unit) {
  int i = sweep->column_count++;
  sweep->columns[i] = carom_copy_text(&sweep->allocator, name);
  sweep->units[i] = carom_copy_text(&sweep->allocator, unit);
  return sweep->columns[i] && sweep->units[i];
}

static bool name_columns(carom_sweep *sweep) {
  int n = sweep->sampling.axis_count, all = n + sweep->outcome_count + RUN_COLUMNS;
  bool good = CAROM_NEW_ALL(&sweep->allocator, CAROM_ROOM(sweep->columns, all), CAROM_ROOM(sweep->units, all));
  for (int i = 0; good && i < n; i++) good = add_column(sweep, sweep->axes[i].name, sweep->axes[i].unit);
  for (int i = 0; good && i < sweep->outcome_count; i++) good = add_column(sweep, sweep->outcomes[i], "");
  for (int i = 0; good && i < RUN_COLUMNS; i++)
    good = sweep->plan ? add_column(sweep, plan_columns[i].name, plan_columns[i].unit)
                       : add_column(sweep, run_columns[i].name, run_columns[i].unit);
  return good;
}

// ---- the whole ------------------------------------------------------------------------------------------------------

bool carom_sweep_read_title(carom_sweep_reader *s, const carom_node *node) {
  const char *title = NULL;
  carom_read_text(&s->r, node, &title);
  s->sweep->title = carom_copy_text(&s->r.allocator, title ? title : s->sweep->scene->title);
  return s->sweep->title != NULL;
}

bool carom_sweep_has_errors(const carom_sweep_reader *s) { return s->r.reporter.list->error_count > 0; }

bool carom_sweep_complete(carom_sweep_reader *s) {
  if (carom_sweep_has_errors(s)) return true;
  s->sweep->digest = make_digest(s);
  return name_columns(s->sweep);
}

static void read_formulas(carom_sweep_reader *s, const carom_node *const *f) {
  if (s->plans) {
    carom_sweep_read_plan_formulas(s, f[TOP_OUTCOMES], f[TOP_CLASSES]);
    if (f[TOP_UNTIL])
      carom_report(&s->r.reporter, f[TOP_UNTIL]->key_at, NULL, "'until' ends runs; a plan has its horizon");
    s->sweep->program->until = -1;
    return;
  }
  carom_sweep_read_outcomes(s, f[TOP_OUTCOMES]);
  carom_sweep_read_classes(s, f[TOP_CLASSES]);
  carom_sweep_read_until(s, f[TOP_UNTIL]);
  if (!f[TOP_OUTCOMES] && !f[TOP_CLASSES])
    carom_report(&s->r.reporter, s->r.root->place, NULL, "a sweep needs 'outcomes' or 'classes', or it tells nothing");
}

void carom_sweep_read_warm(carom_sweep_reader *s, const carom_node *node, carom_sweep_warm tacit) {
  static const char *const kinds[] = {"none", "neighbour", "best", NULL};
  int kind = (int)tacit;
  carom_read_choice(&s->r, node, kinds, &kind);
  s->sweep->warm = (carom_sweep_warm)kind;
}

static void read_plan_keys(carom_sweep_reader *s, const carom_node *const *f) {
  static const int plans_only[] = {TOP_WARM, TOP_RESULTS, TOP_STARTS};
  const char *folder = NULL;
  for (size_t i = 0; i < sizeof plans_only / sizeof *plans_only; i++)
    if (f[plans_only[i]] && !s->plans)
      carom_report(&s->r.reporter, f[plans_only[i]]->key_at, NULL, "'%s' is for sweeps of plans",
                   top_keys[plans_only[i]]);
  carom_sweep_read_warm(s, f[TOP_WARM], CAROM_WARM_NONE);
  if (!f[TOP_RESULTS] || !carom_read_text(&s->r, f[TOP_RESULTS], &folder)) return;
  s->sweep->results = carom_copy_text(&s->r.allocator, folder);
  if (!s->sweep->results) s->r.reporter.out_of_memory = true;
}

// False when out of memory.
static bool read_problem(carom_sweep_reader *s, void *context) {
  const carom_node *f[TOP_KEYS];
  carom_reader *r = &s->r;
  (void)context;
  if (!carom_problem_fields(r, r->root, top_keys, "the problem", f)) return true;
  carom_problem_version(r, f[TOP_VERSION], "carom-sweep");
  r->top[KEY_SCENE_CONSTANTS] = f[TOP_CONSTANTS];
  carom_read_constants(r);
  s->plans = f[TOP_PLAN] != NULL;
  carom_sweep_read_axes(s, f[TOP_AXES]);
  carom_sweep_read_settings(s, f[TOP_SET], -1);
  carom_sweep_read_design(s, f[TOP_DESIGN], f[TOP_COUNT], f[TOP_SEED]);
  carom_read_int(r, f[TOP_STARTS], 1, 10000, &s->sweep->program->starts);
  read_plan_keys(s, f);
  bool sound = !carom_sweep_has_errors(s);
  if (r->reporter.out_of_memory || !carom_sweep_read_inner(s, f[TOP_SCENE], f[TOP_PLAN])) return true;
  if (!carom_sweep_read_title(s, f[TOP_TITLE])) return false;
  read_formulas(s, f);
  if (sound && !r->reporter.out_of_memory) carom_sweep_try_settings(s);
  return carom_sweep_complete(s);
}

static carom_sweep *new_sweep(const char *path, const carom_allocator *a) {
  carom_sweep *sweep = CAROM_NEW(a, carom_sweep, 1);
  if (!sweep) return NULL;
  sweep->allocator = *a;
  sweep->sampling.seed = 1;
  sweep->sampling.delta = 0.02;
  sweep->path = carom_copy_text(a, path);
  sweep->program = CAROM_NEW(a, carom_program, 1);
  if (sweep->program) sweep->program->allocator = *a;
  if (sweep->path && sweep->program) return sweep;
  CAROM_RELEASE_ALL(a, sweep->path, sweep->program, sweep);
  return NULL;
}

// What the caller allows is allowed to every case; overrides and progress are of the problem.
static void limit_scenes(carom_sweep_reader *s) {
  carom_scene_options *o = &s->sweep->program->scene_options;
  *o = carom_scene_default_options();
  o->max_bodies = s->r.options.max_bodies;
  o->self_contained = s->r.options.self_contained;
  o->read_guess = s->r.options.read_guess;
}

// What `set` is for cannot be done from outside: cases read the scene by themselves.
static void refuse_scene_overrides(carom_sweep_reader *s) {
  for (int i = 0; i < s->r.options.override_count; i++)
    if (strncmp(s->r.options.overrides[i], "scene.", 6) == 0)
      carom_report(&s->r.reporter, (carom_place){s->r.path, 0, 0}, "write it under 'set' of the problem",
                   "'%.100s' is a value of the scene", s->r.options.overrides[i]);
}

carom_status carom_sweep_read(const char *path, const carom_scene_options *options, const carom_allocator *allocator,
                              carom_sweep **sweep, carom_diagnostics *diagnostics) {
  const carom_sweep_input input = {path, options, allocator, false};
  return carom_sweep_read_by(&input, read_problem, NULL, sweep, diagnostics);
}

carom_status carom_sweep_read_by(const carom_sweep_input *input, carom_sweep_body *read_body, void *context,
                                 carom_sweep **sweep, carom_diagnostics *diagnostics) {
  carom_sweep_reader s = {.designs = input->designs, .words = {"axes", "an axis"}};
  if (input->designs) s.words[0] = "variables", s.words[1] = "a variable";
  *sweep = NULL;
  carom_problem_begin(&s.r, input->path, input->options, input->allocator, diagnostics);
  s.sweep = new_sweep(input->path, &s.r.allocator);
  bool memory = s.sweep != NULL;
  if (memory) limit_scenes(&s);
  if (memory) carom_problem_load(&s.r);
  if (memory) refuse_scene_overrides(&s);
  if (memory && s.r.root) memory = read_body(&s, context);
  carom_reporter_sort(&s.r.reporter);
  memory = memory && !s.r.pool.failed && !s.r.reporter.out_of_memory;
  carom_status status = !memory ? CAROM_ERR_MEMORY : diagnostics->error_count > 0 ? CAROM_ERR_SCENE : CAROM_OK;
  carom_loop_destroy(s.loop);
  carom_pool_destroy(&s.r.pool);
  if (status == CAROM_OK)
    *sweep = s.sweep;
  else
    carom_sweep_destroy(s.sweep);
  return status;
}

static void release_texts(const carom_allocator *a, char **texts, int count) {
  for (int i = 0; texts && i < count; i++) carom_release(a, texts[i]);
  carom_release(a, texts);
}

void carom_sweep_destroy(carom_sweep *sweep) {
  if (!sweep) return;
  carom_allocator a = sweep->allocator;
  for (int i = 0; sweep->axes && i < sweep->sampling.axis_count; i++)
    CAROM_RELEASE_ALL(&a, sweep->axes[i].name, sweep->axes[i].unit, (void *)sweep->axes[i].values);
  release_texts(&a, sweep->outcomes, sweep->outcome_count);
  release_texts(&a, sweep->classes, sweep->class_count);
  release_texts(&a, sweep->columns, sweep->column_count);
  release_texts(&a, sweep->units, sweep->column_count);
  carom_program_release(sweep->program);
  carom_scene_destroy(sweep->scene);
  CAROM_RELEASE_ALL(&a, sweep->axes, sweep->path, sweep->plan, sweep->results, sweep->title, sweep->program, sweep);
}

carom_status carom_sweep_redesign(carom_sweep *sweep, carom_design design, int64_t points, carom_error *error) {
  carom_sampling *s = &sweep->sampling;
  if (design == CAROM_DESIGN_SOBOL && s->axis_count > CAROM_MOST_SOBOL_AXES)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "Sobol indices are for at most %d axes; there are %d",
                      CAROM_MOST_SOBOL_AXES, s->axis_count);
  int64_t size = carom_sampling_size(design, s->axes, s->axis_count, points);
  if (size < 1) return carom_fail(error, CAROM_ERR_ARGUMENT, "so many cases cannot be run: 1 to 1e9");
  s->design = design;
  s->count = size;
  return CAROM_OK;
}
