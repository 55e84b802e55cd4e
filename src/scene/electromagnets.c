// Pairs of electromagnets: {on: {body, point, axis}, from: {...}, strength}.
#include <string.h>

#include "scene/reader.h"

static bool read_core(carom_reader *r, const carom_node *node, int end, carom_electromagnet_def *def) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!node || !carom_read_fields(r, node, CAROM_SECTION_CORE, "electromagnet", f)) return false;
  bool good = carom_require(r, node, f[KEY_CORE_BODY], "body", "electromagnet");
  if (f[KEY_CORE_BODY]) good = carom_find_body(r, f[KEY_CORE_BODY], &def->body[end]) && good;
  good = carom_read_vector(r, f[KEY_CORE_POINT], CAROM_LENGTH, &def->point[end]) && good;
  return carom_read_vector(r, f[KEY_CORE_AXIS], CAROM_NUMBER, &def->axis[end]) && good;
}

static void read_pair(carom_reader *r, const carom_node *node) {
  const carom_node *f[CAROM_MOST_KEYS];
  carom_electromagnet_def def = carom_electromagnet_default();
  if (!carom_read_fields(r, node, CAROM_SECTION_ELECTROMAGNETS, "electromagnets", f)) return;
  bool good = carom_require(r, node, f[KEY_ELECTROMAGNETS_ON], "on", "electromagnets");
  good = carom_require(r, node, f[KEY_ELECTROMAGNETS_FROM], "from", "electromagnets") && good;
  good = read_core(r, f[KEY_ELECTROMAGNETS_ON], 0, &def) && good;
  good = read_core(r, f[KEY_ELECTROMAGNETS_FROM], 1, &def) && good;
  good = carom_read_number(r, f[KEY_ELECTROMAGNETS_STRENGTH], CAROM_NUMBER, CAROM_ANY, &def.strength) && good;
  if (good && carom_reader_building(r) && carom_builder_add_electromagnets(r->builder, &def) < 0)
    carom_check_builder(r, node);
}

void carom_read_electromagnets(carom_reader *r, const carom_node *list) {
  if (!list || !carom_read_list(r, list, "electromagnets")) return;
  for (const carom_node *c = list->first; c && !carom_reader_failed(r); c = c->next) read_pair(r, c);
}

// Pairs are numbered as their items, since nothing is built after an error.
static const carom_node *item_of(const carom_reader *r, int pair) {
  const carom_node *forces = r->top[KEY_SCENE_FORCES];
  const char *key = carom_scene_sections[CAROM_SECTION_FORCES].keys[KEY_FORCES_ELECTROMAGNETS];
  const carom_node *item = carom_node_find(forces, key, strlen(key))->first;
  while (pair-- > 0) item = item->next;
  return item;
}

void carom_check_electromagnets(carom_reader *r) {
  static const double DEGREE = 0.01745329251994329577;
  const carom_scene *s = r->scene;
  for (int i = 0; i < s->model->electromagnet_count; i++) {
    double distance, bearing, attitude;
    if (carom_electromagnet_range(s->model, s->state, i, &distance, &bearing, &attitude)) continue;
    carom_warn(&r->reporter, item_of(r, i)->place, "angles and short distances are taken from the border",
               "the electromagnets begin outside the range of their law, 0.1 to 0.55 m and 36 degrees: %.3g m apart, "
               "bearing %.3g and attitude %.3g degrees",
               distance, bearing / DEGREE, attitude / DEGREE);
  }
}
