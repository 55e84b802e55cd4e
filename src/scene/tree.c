#include <string.h>

#include "base/names.h"
#include "scene/yaml.h"

carom_node *carom_node_new(carom_pool *pool, carom_node_kind kind, carom_place place) {
  carom_node *node = CAROM_POOL_NEW(pool, carom_node);
  if (!node) return NULL;
  node->kind = kind;
  node->text = "";
  node->place = node->key_at = place;
  return node;
}

void carom_node_append(carom_node *parent, carom_node *child) {
  child->next = NULL;
  if (parent->last)
    parent->last->next = child;
  else
    parent->first = child;
  parent->last = child;
  parent->count++;
  if (parent->height < child->height + 1) parent->height = child->height + 1;
}

carom_node *carom_node_find(const carom_node *map, const char *key, size_t length) {
  for (carom_node *c = map->first; c; c = c->next)
    if (c->key && strncmp(c->key, key, length) == 0 && c->key[length] == '\0') return c;
  return NULL;
}

bool carom_node_is(const carom_node *node, const char *text) {
  return node->kind == CAROM_NODE_SCALAR && strcmp(node->text, text) == 0;
}

bool carom_node_is_null(const carom_node *node) {
  return node->kind == CAROM_NODE_SCALAR && !node->quoted &&
         (node->length == 0 || carom_node_is(node, "~") || carom_node_is(node, "null"));
}

carom_node *carom_node_copy(carom_pool *pool, const carom_node *node, int64_t *allowance) {
  if (--*allowance < 0) return NULL;
  carom_node *copy = carom_node_new(pool, node->kind, node->place);
  if (!copy) return NULL;
  *copy = *node;
  copy->first = copy->last = copy->next = NULL;
  copy->count = 0;
  for (const carom_node *c = node->first; c; c = c->next) {
    carom_node *child = carom_node_copy(pool, c, allowance);
    if (!child) return NULL;
    carom_node_append(copy, child);
  }
  return copy;
}

carom_node *carom_node_take(carom_node *map, const char *key) {
  carom_node *before = NULL;
  for (carom_node *c = map->first; c; before = c, c = c->next) {
    if (!c->key || strcmp(c->key, key) != 0) continue;
    if (before)
      before->next = c->next;
    else
      map->first = c->next;
    if (map->last == c) map->last = before;
    map->count--;
    return c;
  }
  return NULL;
}

static void replace(carom_node *node, const carom_node *by) {
  carom_node *next = node->next;
  *node = *by;
  node->next = next;
}

static bool merge_value(carom_pool *pool, carom_node *into, carom_node *from) {
  if (carom_node_is_null(from)) return true;  // an empty section takes nothing away
  if (from->kind == into->kind && into->kind != CAROM_NODE_SCALAR) return carom_node_merge(pool, into, from);
  replace(into, from);
  return true;
}

// Through a table, since a hostile file may hold very large maps.
static bool merge_maps(carom_pool *pool, carom_node *into, carom_node *from) {
  carom_names names;
  carom_allocator heap = carom_pool_allocator(pool);
  carom_names_create(&names, &heap);
  carom_node **children = CAROM_POOL_ARRAY(pool, carom_node *, into->count);
  if (!children) return false;
  int n = 0;
  for (carom_node *c = into->first; c; c = c->next) {
    children[n] = c;
    if (!carom_names_add(&names, c->key, n++)) return false;
  }
  for (carom_node *c = from->first, *next; c; c = next) {
    next = c->next;
    int known = carom_names_find(&names, c->key);
    if (known < 0)
      carom_node_append(into, c);
    else if (!merge_value(pool, children[known], c))
      return false;
  }
  return true;
}

bool carom_node_merge(carom_pool *pool, carom_node *into, carom_node *from) {
  if (into->kind == CAROM_NODE_MAP) return merge_maps(pool, into, from);
  for (carom_node *c = from->first, *next; c; c = next) {
    next = c->next;
    carom_node_append(into, c);
  }
  return true;
}
