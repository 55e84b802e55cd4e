// Reading a problem: text -> tree -> scene, plan and options.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "scene/plan_reader.h"
#include "scene/problem.h"

// ---- shared by the readers -----------------------------------------------------------------------------------------

bool carom_plan_fields(carom_plan_reader *p, const carom_node *node, const char *const *keys, const char *label,
                       const carom_node **slots) {
  return carom_problem_fields(&p->r, node, keys, label, slots);
}

int carom_plan_read_body(carom_plan_reader *p, const carom_node *node) {
  return carom_problem_body(&p->r, p->file->scene->model, node);
}

bool carom_plan_read_bodies(carom_plan_reader *p, const carom_node *node, int body[2]) {
  if (!node || node->kind != CAROM_NODE_LIST || node->count != 2) {
    if (node) carom_report(&p->r.reporter, node->place, NULL, "expected the names of two bodies, [a, b]");
    return false;
  }
  body[0] = carom_plan_read_body(p, node->first);
  body[1] = carom_plan_read_body(p, node->first->next);
  return body[0] >= 0 && body[1] >= 0;
}

bool carom_plan_read_pose(carom_plan_reader *p, const carom_node *position, const carom_node *rotation,
                          carom_pose *pose) {
  bool good = carom_read_vector(&p->r, position, CAROM_LENGTH, &pose->p);
  return carom_read_rotation(&p->r, rotation, &pose->q) && good;
}

bool carom_plan_read_node(carom_plan_reader *p, const carom_node *node, int *number) {
  if (node && carom_node_is(node, "last")) {
    *number = CAROM_LAST_NODE;
    return true;
  }
  return carom_read_int(&p->r, node, 0, p->def.intervals, number);
}

void carom_plan_check_at(carom_plan_reader *p, const carom_node *node) {
  carom_error error;
  if (carom_plan_check(p->file->plan, &error) == CAROM_OK || p->r.doomed) return;
  p->r.doomed = true;  // the plan keeps its first mistake only
  carom_report(&p->r.reporter, node->place, NULL, "%s", error.message);
}

// ---- the top level -------------------------------------------------------------------------------------------------

static const char *const top_keys[] = {"carom-plan", "title",    "description", "constants", "scene",
                                       "horizon",    "joints",   "actuators",   "start",     "conditions",
                                       "costs",      "contacts", "avoid",       "guess",     "solver",
                                       "events",     "periodic", "clearances",  NULL};
enum {
  TOP_VERSION,
  TOP_TITLE,
  TOP_DESCRIPTION,
  TOP_CONSTANTS,
  TOP_SCENE,
  TOP_HORIZON,
  TOP_JOINTS,
  TOP_ACTUATORS,
  TOP_START,
  TOP_CONDITIONS,
  TOP_COSTS,
  TOP_CONTACTS,
  TOP_AVOID,
  TOP_GUESS,
  TOP_SOLVER,
  TOP_EVENTS,
  TOP_PERIODIC,
  TOP_CLEARANCES
};

static void read_horizon(carom_plan_reader *p, const carom_node *node) {
  static const char *const keys[] = {"intervals", "step", "duration", "free", "shortest", "longest", "scale", NULL};
  const carom_node *f[CAROM_PLAN_MOST_KEYS];
  carom_plan_def *d = &p->def;
  double duration = 0, scale[2];
  if (!node || !carom_plan_fields(p, node, keys, "horizon", f)) return;
  carom_read_int(&p->r, f[0], 0, 100000, &d->intervals);  // a horizon of zero is told by the plan
  carom_read_number(&p->r, f[1], CAROM_TIME, CAROM_NOT_NEGATIVE, &d->step);
  carom_exclusive(&p->r, f[1], f[2], "step and duration", "horizon");
  if (f[2] && carom_read_number(&p->r, f[2], CAROM_TIME, CAROM_NOT_NEGATIVE, &duration))
    d->step = d->intervals > 0 ? duration / d->intervals : 0;
  carom_read_bool(&p->r, f[3], &d->free_time);
  carom_read_number(&p->r, f[4], CAROM_TIME, CAROM_NOT_NEGATIVE, &d->shortest);
  carom_read_number(&p->r, f[5], CAROM_TIME, CAROM_NOT_NEGATIVE, &d->longest);
  if (f[6] && carom_read_numbers(&p->r, f[6], "scale", CAROM_NUMBER, 2, scale))
    d->scale_low = scale[0], d->scale_high = scale[1];
}

// The method and margin of avoidance are needed before the plan exists.
static void read_avoidance_settings(carom_plan_reader *p, const carom_node *node) {
  static const char *const methods[] = {"lifted", "nested", NULL};
  int method = 0;
  if (!node || node->kind != CAROM_NODE_MAP) return;
  if (carom_read_choice(&p->r, carom_node_find(node, "method", 6), methods, &method))
    p->def.avoidance = method == 1 ? CAROM_AVOID_NESTED : CAROM_AVOID_LIFTED;
  carom_read_number(&p->r, carom_node_find(node, "margin", 6), CAROM_LENGTH, CAROM_NOT_NEGATIVE, &p->def.margin);
}

static void read_solver(carom_plan_reader *p, const carom_node *node) {
  static const char *const keys[] = {"max_iterations", "tolerance", "refinements", "sweep",   "max_sweeps",
                                     "seed",           "barrier",   "starts",      "threads", NULL};
  const carom_node *f[CAROM_PLAN_MOST_KEYS];
  carom_plan_options *o = &p->file->options;
  double seed = 1;
  if (!node || !carom_plan_fields(p, node, keys, "solver", f)) return;
  carom_read_int(&p->r, f[0], 0, 1000000, &o->max_iterations);
  carom_read_number(&p->r, f[1], CAROM_NUMBER, CAROM_POSITIVE, &o->tolerance);
  carom_read_int(&p->r, f[2], 0, 8, &o->refinements);
  carom_read_bool(&p->r, f[3], &o->sweep);
  carom_read_int(&p->r, f[4], 0, 20, &o->max_sweeps);
  carom_read_number(&p->r, f[6], CAROM_NUMBER, CAROM_POSITIVE, &o->barrier);
  carom_read_int(&p->r, f[7], 1, 10000, &o->starts);
  carom_read_int(&p->r, f[8], 0, 1024, &o->threads);
  if (carom_read_integer(&p->r, f[5], 0, 9007199254740992.0, &seed)) o->seed = (uint64_t)seed;
}

static bool read_scene(carom_plan_reader *p, const carom_node *node) {
  carom_scene_options options = carom_scene_default_options();
  options.bodies_only = true;
  const char *path = carom_problem_scene_path(&p->r, node);
  return path && carom_problem_scene(&p->r, path, &options, &p->file->scene);
}

static bool make_plan(carom_plan_reader *p, const carom_node *at) {
  carom_error error;
  carom_status status =
      carom_plan_create(p->file->scene->model, p->file->scene->state, &p->def, &p->r.allocator, &p->file->plan, &error);
  if (status == CAROM_ERR_MEMORY) p->r.reporter.out_of_memory = true;
  if (status != CAROM_OK) carom_report(&p->r.reporter, at->place, NULL, "%s", error.message);
  p->no_time = status == CAROM_ERR_NUMBER;
  return status == CAROM_OK;
}

static bool read_title(carom_plan_reader *p, const carom_node *node) {
  const char *title = NULL;
  carom_read_text(&p->r, node, &title);
  p->file->title = carom_copy_text(&p->r.allocator, title ? title : p->file->scene->title);
  return p->file->title != NULL;
}

static bool read_problem(carom_plan_reader *p) {
  const carom_node *f[CAROM_PLAN_MOST_KEYS];
  if (!carom_plan_fields(p, p->r.root, top_keys, "the problem", f)) return true;
  carom_problem_version(&p->r, f[TOP_VERSION], "carom-plan");
  p->r.top[KEY_SCENE_CONSTANTS] = f[TOP_CONSTANTS];
  carom_read_constants(&p->r);
  if (!read_scene(p, f[TOP_SCENE])) return !p->r.reporter.out_of_memory;
  if (!read_title(p, f[TOP_TITLE])) return false;
  read_horizon(p, f[TOP_HORIZON]);
  read_avoidance_settings(p, f[TOP_AVOID]);
  if (!make_plan(p, f[TOP_HORIZON] ? f[TOP_HORIZON] : p->r.root)) return !p->r.reporter.out_of_memory;
  carom_plan_read_joints(p, f[TOP_JOINTS]);
  carom_plan_read_actuators(p, f[TOP_ACTUATORS]);
  carom_plan_read_starts(p, f[TOP_START]);
  carom_plan_read_events(p, f[TOP_EVENTS]);
  carom_plan_read_periodic(p, f[TOP_PERIODIC]);
  carom_plan_read_clearances(p, f[TOP_CLEARANCES]);
  carom_plan_read_conditions(p, f[TOP_CONDITIONS]);
  carom_plan_read_costs(p, f[TOP_COSTS]);
  carom_plan_read_contacts(p, f[TOP_CONTACTS]);
  carom_plan_read_avoidance(p, f[TOP_AVOID]);
  carom_plan_read_guess(p, f[TOP_GUESS]);
  read_solver(p, f[TOP_SOLVER]);
  if (p->r.reporter.list->error_count == 0) carom_check_constants(&p->r);
  return true;
}

// ---- beginning and end ---------------------------------------------------------------------------------------------

static void begin(carom_plan_reader *p, const char *path, const carom_scene_options *options,
                  const carom_allocator *allocator, carom_diagnostics *diagnostics) {
  *p = (carom_plan_reader){.def = carom_plan_default()};
  carom_problem_begin(&p->r, path, options, allocator, diagnostics);
  carom_allocator heap = carom_pool_allocator(&p->r.pool);
  carom_names_create(&p->joint_names, &heap);
  carom_names_create(&p->actuator_names, &heap);
}

carom_status carom_plan_read(const char *path, const carom_scene_options *options, const carom_allocator *allocator,
                             carom_plan_file **file, carom_diagnostics *diagnostics) {
  carom_plan_reader p;
  *file = NULL;
  begin(&p, path, options, allocator, diagnostics);
  carom_reader *r = &p.r;
  p.file = CAROM_NEW(&r->allocator, carom_plan_file, 1);
  bool memory = p.file != NULL;
  if (p.file) {
    p.file->allocator = r->allocator;
    p.file->options = carom_plan_default_options();
  }
  carom_problem_load(r);
  if (r->root && memory) memory = read_problem(&p);
  carom_status status = carom_problem_end(r, memory);
  if (status == CAROM_ERR_SCENE && p.no_time && diagnostics->error_count == 1) status = CAROM_ERR_NUMBER;
  if (status == CAROM_OK)
    *file = p.file;
  else
    carom_plan_file_destroy(p.file);
  return status;
}

void carom_plan_file_destroy(carom_plan_file *file) {
  if (!file) return;
  carom_allocator a = file->allocator;
  carom_plan_destroy(file->plan);
  carom_scene_destroy(file->scene);
  CAROM_RELEASE_ALL(&a, file->title, file->guess, file);
}
