// Gaits that a sensor tells of: a plan's result file, and when its period begins anew.
#include "control/loop.h"
#include "model/builder.h"
#include "scene/reader.h"

static bool read_pair(carom_reader *r, const carom_node *node, const char *key, int pair[2]) {
  if (node->kind != CAROM_NODE_LIST || node->count != 2)
    return carom_report(&r->reporter, node->place, NULL, "'%s' expects two bodies: [a, b]", key);
  bool good = carom_find_body(r, node->first, &pair[0]);
  return carom_find_body(r, node->last, &pair[1]) && good;
}

static bool read_swap(carom_reader *r, const carom_node *list, carom_gait *gait) {
  bool good = true;
  if (!list) return true;
  if (!carom_read_list(r, list, "pairs of bodies")) return false;
  int(*swap)[2] = (int(*)[2])CAROM_POOL_ARRAY(&r->pool, int, 2 * list->count);
  if (!swap) return false;
  for (const carom_node *c = list->first; c; c = c->next)
    good = read_pair(r, c, "swap", swap[gait->swap_count++]) && good;
  gait->swap = (const int(*)[2])swap;
  return good;
}

static bool read_strike(carom_reader *r, const carom_node *node, carom_gait *gait) {
  int pair[2];
  if (!node) return true;
  if (!read_pair(r, node, "strike", pair)) return false;
  gait->foot = pair[0], gait->ground = pair[1];
  return true;
}

static bool read_phase(carom_reader *r, const carom_node *node, carom_gait *gait) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!node) return true;
  if (!carom_read_fields(r, node, CAROM_SECTION_GAIT_PHASE, "phase", f)) return false;
  bool good = carom_require(r, node, f[KEY_GAIT_PHASE_BODY], "body", "phase");
  good = carom_require(r, node, f[KEY_GAIT_PHASE_FROM], "from", "phase") && good;
  good = good && carom_find_body(r, f[KEY_GAIT_PHASE_BODY], &gait->body);
  good = good && carom_find_body(r, f[KEY_GAIT_PHASE_FROM], &gait->from);
  good = carom_read_vector(r, f[KEY_GAIT_PHASE_POINT], CAROM_LENGTH, &gait->point) && good;
  good = carom_read_vector(r, f[KEY_GAIT_PHASE_ORIGIN], CAROM_LENGTH, &gait->origin) && good;
  gait->by_length = true;
  return carom_read_vector(r, f[KEY_GAIT_PHASE_ALONG], CAROM_NUMBER, &gait->along) && good;
}

// What is known of the model while it is built: bodies and joints.
static carom_model model_so_far(const carom_reader *r) {
  carom_model model = r->builder->model->view;
  model.bodies = r->builder->model->bodies;
  model.joints = r->builder->model->joints;
  return model;
}

static bool read_motion(carom_reader *r, const carom_node *node, carom_gait *gait) {
  const char *file = NULL;
  if (!carom_read_text(r, node, &file)) return false;
  if (r->options.self_contained || !r->options.read_motion)
    return carom_report(&r->reporter, node->place, NULL, "plans of other files cannot be followed here");
  const char *path = carom_join_path(&r->pool, r->folder, file);
  if (!path || !carom_note_file(r, path)) return false;
  carom_model model = model_so_far(r);
  carom_gait_motion *motion = NULL;
  carom_error error;
  if (r->options.read_motion(path, &model, &r->allocator, &motion, &error) != CAROM_OK)
    return carom_report(&r->reporter, node->place, "make it by 'carom plan PROBLEM.yaml -o FILE.h5'", "%s",
                        error.message);
  if (!carom_loop_def_keep_motion(r->scene->loop, motion)) {
    r->pool.failed = true;
    return false;
  }
  gait->motion = motion;
  return true;
}

bool carom_read_gait(carom_reader *r, const carom_node *node, const carom_gait **gait) {
  const carom_node *f[CAROM_MOST_KEYS];
  carom_gait *g = CAROM_POOL_ARRAY(&r->pool, carom_gait, 1);
  if (!g || !carom_read_fields(r, node, CAROM_SECTION_GAIT, "gait", f)) return false;
  *g = carom_gait_default();
  *gait = g;
  bool good = carom_require(r, node, f[KEY_GAIT_FILE], "file", "gait");
  good = read_swap(r, f[KEY_GAIT_SWAP], g) && good;
  good = read_strike(r, f[KEY_GAIT_STRIKE], g) && good;
  good = carom_read_number(r, f[KEY_GAIT_AFTER], CAROM_NUMBER, CAROM_NOT_NEGATIVE, &g->after) && good;
  good = read_phase(r, f[KEY_GAIT_PHASE], g) && good;
  return good && carom_reader_building(r) && read_motion(r, f[KEY_GAIT_FILE], g);
}
