// "bodies.top.mass=2": one value of the tree replaced or added before anything is read.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/reader.h"

enum { MAX_STEPS = 32 };

// One step of the path.
typedef struct word {
  const char *text;
  size_t length;
} word;

static bool is_index(word w, long *index) {
  if (w.length == 0 || w.length > 9) return false;
  *index = 0;
  for (size_t i = 0; i < w.length; i++) {
    if (w.text[i] < '0' || w.text[i] > '9') return false;
    *index = 10 * *index + (w.text[i] - '0');
  }
  return true;
}

static const carom_node *name_of(const carom_node *item) {
  const carom_node *name = item->kind == CAROM_NODE_MAP ? carom_node_find(item, "name", 4) : NULL;
  return name && name->kind == CAROM_NODE_SCALAR ? name : NULL;
}

static carom_node *find_item(carom_reader *r, const carom_node *list, word w, carom_place place) {
  long index;
  if (is_index(w, &index)) {
    carom_node *item = list->first;
    for (long i = 0; item && i < index; i++) item = item->next;
    if (!item) carom_report(&r->reporter, place, NULL, "there is no item %ld in a list of %d", index, list->count);
    return item;
  }
  carom_nearest nearest = carom_nearest_begin(w.text, w.length);
  for (carom_node *item = list->first; item; item = item->next) {
    const carom_node *name = name_of(item);
    if (!name) continue;
    if (name->length == w.length && memcmp(name->text, w.text, w.length) == 0) return item;
    carom_nearest_try(&nearest, name->text);
  }
  char hint[100];
  carom_nearest_hint(&nearest, hint, sizeof hint);
  carom_report(&r->reporter, place, hint, "no item of '%s' is named '%.*s'", list->key ? list->key : "the list",
               (int)(w.length > 60 ? 60 : w.length), w.text);
  return NULL;
}

// The child of a map, made when it is not there: an unknown key is found out later, when the map is read.
static carom_node *find_or_add(carom_reader *r, carom_node *map, word w, carom_place place) {
  carom_node *child = carom_node_find(map, w.text, w.length);
  if (child) return child;
  child = carom_node_new(&r->pool, CAROM_NODE_MAP, place);
  if (!child || !(child->key = carom_pool_text(&r->pool, w.text, w.length))) return NULL;
  child->added = true;
  carom_node_append(map, child);
  return child;
}

static carom_node *step_into(carom_reader *r, carom_node *node, word w, carom_place place) {
  if (carom_node_is_null(node)) node->kind = CAROM_NODE_MAP;
  if (node->kind == CAROM_NODE_LIST) return find_item(r, node, w, place);
  if (node->kind == CAROM_NODE_MAP) return find_or_add(r, node, w, place);
  carom_report(&r->reporter, place, NULL, "'%s' is a value and has no '%.*s' in it", node->key ? node->key : "it",
               (int)(w.length > 60 ? 60 : w.length), w.text);
  return NULL;
}

static void put_value(carom_node *at, const carom_node *value, carom_place place) {
  carom_node *next = at->next;
  const char *key = at->key;
  bool added = at->added;
  *at = *value;
  at->added = added;
  at->next = next;
  at->key = key;
  at->key_at = place;
}

static bool split(const char *path, size_t length, word *words, int *count) {
  *count = 0;
  for (size_t start = 0; start <= length; *count += 1) {
    size_t end = start;
    while (end < length && path[end] != '.') end++;
    if (end == start || *count == MAX_STEPS) return false;
    words[*count] = (word){path + start, end - start};
    start = end + 1;
  }
  return true;
}

void carom_apply_override(carom_reader *r, carom_node *root, const char *text) {
  size_t size = strlen(text) + 7;
  char *file = carom_pool_get(&r->pool, size);
  if (!file) return;
  snprintf(file, size, "--set %s", text);
  carom_place place = {file, 0, 0};
  const char *equals = strchr(text, '=');
  word words[MAX_STEPS];
  int count;
  if (!equals || !split(text, (size_t)(equals - text), words, &count)) {
    carom_report(&r->reporter, place, NULL, "expected 'path.to.key=value'");
    return;
  }
  if (words[0].length == 7 && memcmp(words[0].text, "include", 7) == 0) {
    carom_report(&r->reporter, place, NULL, "'include' cannot be set");
    return;
  }
  carom_node *value =
      carom_yaml_parse(&r->pool, &r->reporter, &r->limits, &(carom_bytes){file, equals + 1, strlen(equals + 1)}, false);
  if (!value) return;
  carom_node *node = root;
  for (int i = 0; node && i < count; i++) node = step_into(r, node, words[i], place);
  if (node && node != root) put_value(node, value, place);
}
