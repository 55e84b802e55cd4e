// How a scene begins: bodies in one another are refused, or moved apart.
#include <stdio.h>

#include "base/memory.h"
#include "scene/reader.h"
#include "step/step.h"

enum { TOLD = 10 };  // findings, of however many there are

void carom_read_start(carom_reader *r) {
  static const char *const words[] = {"refuse", "separate", NULL};
  const carom_node *f[CAROM_MOST_KEYS], *node = r->top[KEY_SCENE_START];
  int choice = 0;
  if (!node || !carom_read_fields(r, node, CAROM_SECTION_START, "start", f)) return;
  if (carom_read_choice(r, f[KEY_START_OVERLAP], words, &choice)) r->separates = choice == 1;
}

// ---- a state that another run came to -------------------------------------------------------------------------------

static void place_body(carom_reader *r, const carom_node *node) {
  const carom_node *f[CAROM_MOST_KEYS];
  const carom_model *model = r->scene->model;
  carom_state *state = r->scene->state;
  int body = carom_model_find_body(model, node->key);
  if (body < 0 && carom_model_find_solid(model, node->key) >= 0)
    carom_report(&r->reporter, node->key_at, "give a 'position' to the solid itself",
                 "'%.80s' is a solid that deforms; a start places rigid bodies", node->key);
  else if (body < 0)
    carom_report(&r->reporter, node->key_at, NULL, "no body is named '%.80s'", node->key);
  if (body < 0 || !carom_read_fields(r, node, CAROM_SECTION_PLACED, node->key, f)) return;
  carom_pose pose = carom_state_pose(model, state, body);
  carom_vec3 v = carom_state_velocity(model, state, body), w = carom_state_angular_velocity(model, state, body);
  bool good = carom_read_vector(r, f[KEY_PLACED_POSITION], CAROM_LENGTH, &pose.p);
  good = (!f[KEY_PLACED_ROTATION] || carom_read_rotation(r, f[KEY_PLACED_ROTATION], &pose.q)) && good;
  good = carom_read_vector(r, f[KEY_PLACED_VELOCITY], CAROM_VELOCITY, &v) && good;
  good = carom_read_vector(r, f[KEY_PLACED_ANGULAR_VELOCITY], CAROM_ANGULAR_VELOCITY, &w) && good;
  if (!good) return;
  carom_state_set_pose(model, state, body, pose);
  carom_state_set_velocity(model, state, body, v, w);
}

static void set_turn(carom_reader *r, const carom_node *node) {
  int joint = carom_model_find_joint(r->scene->model, node->key);
  if (joint < 0)
    carom_report(&r->reporter, node->key_at, NULL, "no joint is named '%.80s'", node->key);
  else
    carom_read_number(r, node, CAROM_ANGLE, CAROM_ANY, &r->scene->state->joints[joint].turn);
}

// True when the start names a state.
static bool place_all(carom_reader *r) {
  const carom_node *f[CAROM_MOST_KEYS], *node = r->top[KEY_SCENE_START];
  if (!node || node->kind != CAROM_NODE_MAP || !carom_read_fields(r, node, CAROM_SECTION_START, "start", f))
    return false;
  const carom_node *bodies = f[KEY_START_BODIES], *turns = f[KEY_START_TURNS];
  carom_read_number(r, f[KEY_START_TIME], CAROM_TIME, CAROM_NOT_NEGATIVE, &r->scene->state->time);
  for (const carom_node *c = bodies && bodies->kind == CAROM_NODE_MAP ? bodies->first : NULL; c; c = c->next)
    place_body(r, c);
  for (const carom_node *c = turns && turns->kind == CAROM_NODE_MAP ? turns->first : NULL; c; c = c->next)
    set_turn(r, c);
  carom_drives_place(r->scene->model, r->scene->state, r->scene->state->time);
  return bodies != NULL;
}

// ---- overlaps -------------------------------------------------------------------------------------------------------

// What another run came to is only warned of: it may be the very thing to look at.
static void tell(carom_reader *r, bool placed, carom_place place, const char *remedy, const char *what) {
  if (placed)
    carom_warn(&r->reporter, place, remedy, "%s", what);
  else
    carom_report(&r->reporter, place, remedy, "%s", what);
}

static void refuse(carom_reader *r, const carom_overlap *overlaps, int count, bool placed) {
  static const char remedy[] =
      "move them apart, name bodies that never touch in 'apart', or add 'start: {overlap: separate}' (--separate)";
  static const char remedy_of_solids[] = "move them apart; 'start: {overlap: separate}' moves rigid bodies alone";
  char what[400];
  for (int i = 0; i < count && i < TOLD; i++) {
    bool solid = overlaps[i].body_a < CAROM_WORLD;
    carom_overlap_format(r->scene->model, &overlaps[i], what, sizeof what);
    tell(r, placed, carom_thing_node(r, overlaps[i].body_a)->place, solid ? remedy_of_solids : remedy, what);
  }
  if (count > TOLD) snprintf(what, sizeof what, "%d more pairs overlap at the start", count - TOLD);
  if (count > TOLD) tell(r, placed, r->root->place, NULL, what);
}

static void tell_moves(carom_reader *r, const double *moved) {
  const carom_model *model = r->scene->model;
  double smallest = 1e-9;  // of the body: less is round-off
  int told = 0, more = 0;
  for (int i = 0; i < model->body_count; i++) {
    if (!(moved[i] > smallest * model->bodies[i].bounding_radius)) continue;
    if (told++ < TOLD)
      carom_warn(&r->reporter, r->bodies[i].node->place, NULL, "'%s' was moved by %.3g m, so that nothing overlaps",
                 model->bodies[i].name, moved[i]);
    else
      more++;
  }
  if (more > 0) carom_warn(&r->reporter, r->root->place, NULL, "%d more bodies were moved", more);
}

// No memory is no fault of the scene.
static void tell_failure(carom_reader *r, const carom_node *node, const carom_error *error) {
  if (error->status == CAROM_ERR_MEMORY) r->reporter.out_of_memory = true;
  carom_report(&r->reporter, node->place, NULL, "%s", error->message);
}

static void separate(carom_reader *r) {
  carom_scene *s = r->scene;
  carom_error error;
  double *moved = CAROM_POOL_ARRAY(&r->pool, double, s->model->body_count);
  if (!moved) return;
  if (carom_start_separate(s->model, s->state, moved, &error) == CAROM_OK)
    tell_moves(r, moved);
  else
    tell_failure(r, r->top[KEY_SCENE_START], &error);
}

// True when it is known what overlaps.
static bool find_overlaps(carom_reader *r, carom_overlap *overlaps, int *count) {
  carom_error error;
  bool good = carom_start_overlaps(r->scene->model, r->scene->state, TOLD, overlaps, count, &error) == CAROM_OK;
  if (!good) tell_failure(r, r->root, &error);
  return good;
}

void carom_check_start(carom_reader *r) {
  carom_overlap overlaps[TOLD];
  int count;
  bool placed = place_all(r);
  if (!find_overlaps(r, overlaps, &count) || count == 0) return;
  if (r->separates) separate(r);
  bool left = !r->separates ||
              (r->scene->model->solid_count > 0 && carom_reader_building(r) && find_overlaps(r, overlaps, &count));
  if (left) refuse(r, overlaps, count, placed);
}
