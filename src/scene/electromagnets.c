// Pairs of electromagnets: {on: {body, point, axis}, from: {...}, strength}.
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
