// How a scene begins: bodies in one another are refused, or moved apart.
#include "base/memory.h"
#include "scene/reader.h"

enum { TOLD = 10 };  // findings, of however many there are

void carom_read_start(carom_reader *r) {
  static const char *const words[] = {"refuse", "separate", NULL};
  const carom_node *f[CAROM_MOST_KEYS], *node = r->top[KEY_SCENE_START];
  int choice = 0;
  if (!node || !carom_read_fields(r, node, CAROM_SECTION_START, "start", f)) return;
  if (carom_read_choice(r, f[KEY_START_OVERLAP], words, &choice)) r->separates = choice == 1;
}

static void refuse(carom_reader *r, const carom_overlap *overlaps, int count) {
  static const char remedy[] =
      "move them apart, name bodies that never touch in 'apart', or add 'start: {overlap: separate}' (--separate)";
  for (int i = 0; i < count && i < TOLD; i++) {
    char what[400];
    carom_overlap_format(r->scene->model, &overlaps[i], what, sizeof what);
    carom_report(&r->reporter, r->bodies[overlaps[i].body_a].node->place, remedy, "%s", what);
  }
  if (count > TOLD)
    carom_report(&r->reporter, r->root->place, NULL, "%d more pairs overlap at the start", count - TOLD);
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

static void separate(carom_reader *r) {
  carom_scene *s = r->scene;
  carom_error error;
  double *moved = CAROM_POOL_ARRAY(&r->pool, double, s->model->body_count);
  if (!moved) return;
  if (carom_start_separate(s->model, s->state, moved, &error) == CAROM_OK)
    tell_moves(r, moved);
  else
    carom_report(&r->reporter, r->top[KEY_SCENE_START]->place, NULL, "%s", error.message);
}

void carom_check_start(carom_reader *r) {
  carom_overlap overlaps[TOLD];
  carom_error error;
  int count;
  if (carom_start_overlaps(r->scene->model, r->scene->state, TOLD, overlaps, &count, &error) != CAROM_OK)
    carom_report(&r->reporter, r->root->place, NULL, "%s", error.message);
  else if (count > 0 && r->separates)
    separate(r);
  else
    refuse(r, overlaps, count);
}
