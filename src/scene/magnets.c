// Magnets of a body: pairs of opposite charges.
#include <stdio.h>

#include "scene/reader.h"

int carom_find_charge_set(carom_reader *r, const carom_node *at, const carom_node *node) {
  const char *name = NULL;
  if (node) {
    if (!carom_read_text(r, node, &name)) return -1;
    int set = carom_names_find(&r->charge_set_names, name);
    if (set < 0) carom_unknown_name(r, node, "charge set", &r->charge_set_names);
    return set;
  }
  if (r->charge_set_count > 0) return 0;
  carom_report(&r->reporter, at->place, "add one under 'forces: charges'", "there is no set of charges to belong to");
  return -1;
}

// The charge of its poles, or its moment: charge times thickness.
static bool read_strength(carom_reader *r, const carom_node *node, const carom_node *const *f, const char *label,
                          carom_magnet_def *def) {
  static const carom_dimension moment_dimension = {1, 0, 0, 0, 1};
  const carom_node *charge = f[KEY_MAGNET_CHARGE], *moment = f[KEY_MAGNET_MOMENT];
  double product = 0;
  bool good = carom_one_of(r, node, charge, moment, "charge and moment", label);
  good = carom_read_number(r, charge, CAROM_CHARGE, CAROM_ANY, &def->charge) && good;
  good = carom_read_number(r, moment, moment_dimension, CAROM_ANY, &product) && good;
  if (good && moment) def->charge = product / def->thickness;
  return good;
}

static bool read_magnet(carom_reader *r, const carom_node *node, const char *body_label, int body) {
  const carom_node *f[CAROM_MOST_KEYS];
  char label[130];
  snprintf(label, sizeof label, "magnet of %s", body_label);
  carom_magnet_def def = carom_magnet_default();
  if (!carom_read_fields(r, node, CAROM_SECTION_MAGNET, label, f)) return false;
  bool good = carom_require(r, node, f[KEY_MAGNET_THICKNESS], "thickness", label);
  good = carom_read_vector(r, f[KEY_MAGNET_POSITION], CAROM_LENGTH, &def.position) && good;
  good = carom_read_vector(r, f[KEY_MAGNET_AXIS], CAROM_NUMBER, &def.axis) && good;
  good = carom_read_number(r, f[KEY_MAGNET_THICKNESS], CAROM_LENGTH, CAROM_POSITIVE, &def.thickness) && good;
  good = carom_read_number(r, f[KEY_MAGNET_RECESS], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &def.recess) && good;
  good = read_strength(r, node, f, label, &def) && good;
  int set = carom_find_charge_set(r, node, f[KEY_MAGNET_SET]);
  if (!good || set < 0) return false;
  if (body >= 0 && carom_builder_add_magnet(r->builder, set, body, &def) < 0) carom_check_builder(r, node);
  return true;
}

bool carom_read_magnets(carom_reader *r, const carom_node *list, const char *label, int body) {
  bool good = true;
  for (const carom_node *c = list ? list->first : NULL; c && !carom_reader_failed(r); c = c->next)
    good = read_magnet(r, c, label, body) && good;
  return good;
}
