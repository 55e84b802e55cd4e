// What entries of the lists of bodies and of solids have in common: names, defaults, places of copies.
#include <stdio.h>
#include <string.h>

#include "scene/reader.h"

enum { LONGEST_NAME = 200, COPIES_PER_REPORT = 4096 };

bool carom_read_entry_name(carom_reader *r, const carom_node *node, carom_entry_name *e) {
  snprintf(e->label, sizeof e->label, "%s %d", e->what, e->number);
  const carom_node *name = node->kind == CAROM_NODE_MAP ? carom_node_find(node, "name", 4) : NULL;
  if (!name) {
    char text[40];
    int n = snprintf(text, sizeof text, "%s%d", e->what, e->fallback);
    e->name = carom_pool_text(&r->pool, text, (size_t)n);
    return e->name != NULL;
  }
  if (!carom_read_text(r, name, &e->name)) return false;
  if (name->length > LONGEST_NAME || strpbrk(name->text, "\n\t"))
    return carom_report(&r->reporter, name->place, NULL, "the name of a %s must be one line of at most %d bytes",
                        e->what, LONGEST_NAME);
  snprintf(e->label, sizeof e->label, "%s '%.60s'", e->what, e->name);
  return true;
}

const char *carom_copy_name(carom_reader *r, const carom_array *array, const char *name, int n) {
  if (array->kind == CAROM_ONCE) return name;
  char text[LONGEST_NAME + 20];
  int length = snprintf(text, sizeof text, "%s_%d", name, n);
  return carom_pool_text(&r->pool, text, (size_t)length);
}

bool carom_two_of_a_name(carom_reader *r, const carom_node *at, const carom_node *first, const char *two,
                         const char *name) {
  char hint[60] = "";
  if (first->place.line > 0) snprintf(hint, sizeof hint, "the other one stands in line %d", first->place.line);
  return carom_report(&r->reporter, at->place, hint, "%s are named '%.80s'", two, name);
}

void carom_fill_defaults(const carom_defaults *d, const carom_node **f, bool *own) {
  for (int i = 0; i < d->count; i++) own[i] = f[i] != NULL;
  for (int i = 0; i < d->count; i++) {
    bool aside = own[i];
    for (int k = 0; k < d->pair_count; k++)
      aside = aside || (i == d->pairs[k][0] && own[d->pairs[k][1]]) || (i == d->pairs[k][1] && own[d->pairs[k][0]]);
    if (!aside) f[i] = d->nodes[i];
  }
}

void carom_keep_defaults(carom_reader *r, carom_section section, const carom_node *const *given,
                         const carom_node **kept) {
  const carom_section_keys *keys = &carom_scene_sections[section];
  for (int i = 0; i < keys->count; i++) {
    bool allowed = strcmp(keys->keys[i], "name") != 0 && strcmp(keys->keys[i], "replicate") != 0;
    if (given[i] && !allowed)
      carom_report(&r->reporter, given[i]->key_at, NULL, "'%s' cannot be a default: it belongs to one %s",
                   given[i]->key, keys->name);
    else
      kept[i] = given[i];
  }
}

bool carom_read_copy_pose(carom_reader *r, const carom_node *position, const carom_node *rotation,
                          const carom_array *array, int n, carom_pose *pose) {
  bool good = carom_read_vector(r, position, CAROM_LENGTH, &pose->p);
  good = carom_read_rotation(r, rotation, &pose->q) && good;
  carom_pose offset = carom_array_pose(array, n);
  if (array->kind != CAROM_ONCE) *pose = cm_pose(cm_add(pose->p, offset.p), cm_qmul(offset.q, pose->q));
  return good;
}

bool carom_read_material_name(carom_reader *r, const carom_node *node, int *index) {
  const char *name = NULL;
  if (!node) return true;
  if (!carom_read_text(r, node, &name)) return false;
  int found = carom_names_find(&r->material_names, name);
  if (found < 0) {
    carom_unknown_name(r, node, "material", &r->material_names);
    return false;
  }
  *index = found;
  return true;
}

bool carom_may_go_on(carom_reader *r, const carom_node *node, const carom_array *array, int n) {
  const carom_progress *p = &r->options.progress;
  if (!p->report || n % COPIES_PER_REPORT || n == 0 || p->report(p->context, n, array->count)) return true;
  return carom_report(&r->reporter, node->place, NULL, "reading was stopped after %d of %.0f copies", n, array->count);
}

bool carom_check_copy_count(carom_reader *r, const carom_node *node, const carom_array *array, int before,
                            const char *what) {
  double total = (double)before + array->count;
  if (total <= (double)r->options.max_bodies) return true;
  const carom_node *at = array->node ? array->node : node;
  return carom_report(&r->reporter, at->place, NULL, "the scene has more than %.0f %s: %.0f here",
                      (double)r->options.max_bodies, what, total);
}

const carom_node *carom_thing_node(const carom_reader *r, int body) {
  return body >= 0 ? r->bodies[body].node : r->solids[CAROM_SOLID(body)];
}
