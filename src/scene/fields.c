// Maps against the table of keys, lists, names, and constants.
#include <stdio.h>
#include <string.h>

#include "scene/reader.h"

bool carom_reader_failed(const carom_reader *r) {
  return r->pool.failed || r->reporter.out_of_memory || carom_reporter_full(&r->reporter);
}

// ---- maps --------------------------------------------------------------------------------------------

static int find_key(const carom_section_keys *keys, const char *key) {
  for (int i = 0; i < keys->count; i++)
    if (strcmp(keys->keys[i], key) == 0) return i;
  return -1;
}

static void unknown_key(carom_reader *r, const carom_node *node, const carom_section_keys *keys, const char *label) {
  if (carom_reporter_full(&r->reporter)) return;
  carom_nearest nearest = carom_nearest_begin(node->key, strlen(node->key));
  for (int i = 0; i < keys->count; i++) carom_nearest_try(&nearest, keys->keys[i]);
  char hint[400];
  carom_nearest_hint(&nearest, hint, sizeof hint);
  if (!hint[0] && keys->name) {  // of a section of scenes
    size_t n = (size_t)snprintf(hint, sizeof hint, "known:");
    for (int i = 0; i < keys->count && n < sizeof hint; i++)
      n += (size_t)snprintf(hint + n, sizeof hint - n, "%s %s", i ? "," : "", keys->keys[i]);
  }
  carom_report(&r->reporter, node->key_at, hint, "unknown key '%.80s' in %s", node->key, label);
}

bool carom_read_fields(carom_reader *r, const carom_node *node, carom_section section, const char *label,
                       const carom_node **slots) {
  return carom_read_keyed(r, node, &carom_scene_sections[section], label, slots);
}

bool carom_read_keyed(carom_reader *r, const carom_node *node, const carom_section_keys *keys, const char *label,
                      const carom_node **slots) {
  for (int i = 0; i < keys->count; i++) slots[i] = NULL;
  if (carom_node_is_null(node)) return true;
  if (node->kind != CAROM_NODE_MAP) {
    return carom_refuse(r, node, NULL, "%s must be a mapping", label);
  }
  for (const carom_node *c = node->first; c; c = c->next) {
    int key = find_key(keys, c->key);
    if (key >= 0)
      slots[key] = c;
    else
      unknown_key(r, c, keys, label);
  }
  return true;
}

bool carom_read_list(carom_reader *r, const carom_node *node, const char *what) {
  if (!node || carom_node_is_null(node)) return true;
  if (node->kind == CAROM_NODE_LIST) return true;
  return carom_refuse(r, node, NULL, "'%s' must be a list of %s", node->key, what);
}

bool carom_require(carom_reader *r, const carom_node *at, const carom_node *slot, const char *key, const char *label) {
  if (slot) return true;
  return carom_report(&r->reporter, at->place, NULL, "missing key '%s' in %s", key, label);
}

bool carom_exclusive(carom_reader *r, const carom_node *a, const carom_node *b, const char *keys, const char *label) {
  if (!a || !b) return true;
  return carom_report(&r->reporter, b->key_at, NULL, "%s takes one of %s, not both", label, keys);
}

bool carom_one_of(carom_reader *r, const carom_node *at, const carom_node *a, const carom_node *b, const char *keys,
                  const char *label) {
  if (a || b) return carom_exclusive(r, a, b, keys, label);
  return carom_report(&r->reporter, at->place, NULL, "%s needs one of %s", label, keys);
}

void carom_unknown_name(carom_reader *r, const carom_node *node, const char *what, const carom_names *names) {
  if (carom_reporter_full(&r->reporter)) return;
  carom_nearest nearest = carom_nearest_begin(node->text, node->length);
  carom_nearest_try_all(&nearest, names);
  char hint[100];
  carom_nearest_hint(&nearest, hint, sizeof hint);
  carom_report(&r->reporter, node->place, hint, "there is no %s '%.80s'", what, node->text);
}

// ---- constants ---------------------------------------------------------------------------------------

enum { MAX_CONSTANT_DEPTH = 32, LONGEST_NAME = 60 };

static bool find_index(carom_reader *r, const char *name, size_t length, carom_quantity *value) {
  static const char *const names[] = {"i", "j", "k", "n", "count"};
  carom_indices *x = &r->indices;
  const double values[] = {x->i, x->j, x->k, x->n, x->count};
  for (int i = 0; x->active && i < 5; i++) {
    if (strlen(names[i]) != length || memcmp(names[i], name, length) != 0) continue;
    x->used = true;
    *value = (carom_quantity){.value = values[i], .plain = true};
    return true;
  }
  return false;
}

static bool evaluate_constant(carom_reader *r, carom_constant *c) {
  if (c->node->kind != CAROM_NODE_SCALAR || carom_node_is_null(c->node))
    return carom_refuse(r, c->node, NULL, "constant '%s' must be a number", c->node->key);
  carom_indices outside = r->indices;
  r->indices.active = false;  // a constant is the same for every copy of a body
  carom_scope scope = carom_reader_scope(r);
  carom_expression_error error;
  bool good = carom_expression_evaluate(c->node->text, c->node->length, &scope, &c->value, &error);
  r->indices = outside;
  if (!good && !error.reported)
    carom_report(&r->reporter, carom_value_place(c->node, error.offset), error.hint, "constant '%s': %s", c->node->key,
                 error.message);
  return good;
}

// Constants are evaluated when first asked for, so that they may stand in any order.
static int resolve_constant(carom_reader *r, carom_constant *c) {
  if (c->state == CAROM_CONSTANT_BUSY || r->constant_depth >= MAX_CONSTANT_DEPTH) {
    carom_report(&r->reporter, c->node->place, NULL,
                 c->state == CAROM_CONSTANT_BUSY ? "constant '%s' depends on itself"
                                                 : "constant '%s' depends on too long a chain of others",
                 c->node->key);
    c->state = CAROM_CONSTANT_BAD;
  }
  if (c->state == CAROM_CONSTANT_NEW) {
    c->state = CAROM_CONSTANT_BUSY;
    r->constant_depth++;
    bool good = evaluate_constant(r, c);
    r->constant_depth--;
    c->state = good ? CAROM_CONSTANT_READY : CAROM_CONSTANT_BAD;
  }
  return c->state == CAROM_CONSTANT_READY ? 1 : -1;
}

static int find_name(void *context, const char *name, size_t length, carom_quantity *value) {
  carom_reader *r = context;
  if (find_index(r, name, length, value)) return 1;
  char text[LONGEST_NAME + 1];
  if (length > LONGEST_NAME) return 0;
  memcpy(text, name, length);
  text[length] = '\0';
  int index = carom_names_find(&r->constant_names, text);
  if (index < 0) return 0;
  r->constants[index].used = true;
  int found = resolve_constant(r, &r->constants[index]);
  if (found > 0) *value = r->constants[index].value;
  return found;
}

static void suggest_names(void *context, carom_nearest *nearest) {
  carom_nearest_try_all(nearest, &((carom_reader *)context)->constant_names);
}

carom_scope carom_reader_scope(carom_reader *r) {
  return (carom_scope){.context = r, .find = find_name, .suggest = suggest_names};
}

static bool check_constant_name(carom_reader *r, const carom_node *node) {
  const char *s = node->key;
  size_t n = strlen(s);
  bool good = n <= LONGEST_NAME && !(s[0] >= '0' && s[0] <= '9');
  for (size_t i = 0; i < n; i++)
    good = good && ((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || (s[i] >= '0' && s[i] <= '9') ||
                    s[i] == '_');
  if (!good)
    carom_report(&r->reporter, node->key_at, NULL,
                 "'%.80s' cannot be the name of a constant: letters, digits and '_', at most %d, no digit first", s,
                 LONGEST_NAME);
  else if (carom_expression_reserved(s, n))
    carom_report(&r->reporter, node->key_at, "choose another name",
                 carom_unit_find(s, n) ? "'%s' is a unit and cannot be the name of a constant"
                                       : "'%s' has a meaning of its own and cannot be the name of a constant",
                 s);
  else
    return true;
  return false;
}

void carom_read_constants(carom_reader *r) {
  const carom_node *map = r->top[KEY_SCENE_CONSTANTS];
  if (!map || carom_node_is_null(map)) return;
  if (map->kind != CAROM_NODE_MAP) {
    char got[80];
    carom_report(&r->reporter, map->place, NULL, "'constants' must be a mapping from names to numbers, got %s",
                 carom_describe(map, got, sizeof got));
    return;
  }
  r->constants = CAROM_POOL_ARRAY(&r->pool, carom_constant, map->count);
  if (!r->constants) return;
  int n = 0;
  for (const carom_node *c = map->first; c; c = c->next) {
    if (!check_constant_name(r, c)) continue;
    r->constants[n].node = c;
    if (!carom_names_add(&r->constant_names, c->key, n++)) r->pool.failed = true;
  }
  for (int i = 0; i < n && !carom_reader_failed(r); i++)
    if (r->constants[i].state == CAROM_CONSTANT_NEW) resolve_constant(r, &r->constants[i]);
}

void carom_check_constants(carom_reader *r) {
  for (int i = 0; i < r->constant_names.count && r->constants; i++) {
    const carom_constant *c = &r->constants[i];
    if (c->used || c->state != CAROM_CONSTANT_READY || !c->node->added) continue;
    carom_nearest nearest = carom_nearest_begin(c->node->key, strlen(c->node->key));
    for (int k = 0; k < r->constant_names.count; k++)
      if (k != i) carom_nearest_try(&nearest, r->constants[k].node->key);
    char hint[100];
    carom_nearest_hint(&nearest, hint, sizeof hint);
    carom_report(&r->reporter, c->node->key_at, hint,
                 "no expression uses the constant '%.80s', so that it does nothing", c->node->key);
  }
}
