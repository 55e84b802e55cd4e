// Scene text as a tree of nodes. libfyaml turns text into events; everything else (places, limits, aliases,
// duplicate keys, merging, writing) is done here on a tree of our own. scene_yaml.c alone sees libfyaml.
#ifndef CAROM_SRC_SCENE_YAML_H
#define CAROM_SRC_SCENE_YAML_H

#include "scene/diagnostics.h"
#include "scene/pool.h"

typedef enum carom_node_kind { CAROM_NODE_SCALAR, CAROM_NODE_LIST, CAROM_NODE_MAP } carom_node_kind;

typedef struct carom_node carom_node;
struct carom_node {
  carom_node_kind kind;
  bool quoted;         // a scalar in quotes or a block: never null, true or a name of something else
  bool single_line;    // a scalar whose text stands in the file as it is: offsets are columns
  bool added;          // by an override: the file has no such key
  int count;           // children
  int height;          // 0 for a scalar, 1 + that of the highest child
  const char *text;    // of a scalar, zero-terminated
  size_t length;       //
  const char *key;     // null for the items of a list
  carom_place place;   // of the value
  carom_place key_at;  // of the key
  carom_node *first, *last, *next;
};

// What is left of the allowance for one scene, over all its files.
typedef struct carom_yaml_limits {
  int64_t nodes, alias_nodes;
} carom_yaml_limits;

enum { CAROM_YAML_DEPTH = 48 };  // of nesting; the format itself needs about ten

// Null after a reported error or when out of memory. The name of the bytes and the pool must outlive the tree. Without
// `lines` (an override) places have no line.
carom_node *carom_yaml_parse(carom_pool *pool, carom_reporter *reporter, carom_yaml_limits *limits,
                             const carom_bytes *bytes, bool lines);

// ---- the tree (scene_tree.c) ----------------------------------------------------------------------

carom_node *carom_node_new(carom_pool *pool, carom_node_kind kind, carom_place place);
void carom_node_append(carom_node *parent, carom_node *child);
// The child of a map with this key, or null.
carom_node *carom_node_find(const carom_node *map, const char *key, size_t length);
bool carom_node_is_null(const carom_node *node);               // ~, null or nothing, not in quotes
bool carom_node_is(const carom_node *node, const char *text);  // a scalar with this text
// Deep copy with a fresh place for the top; null when out of memory or when *allowance would be exceeded.
carom_node *carom_node_copy(carom_pool *pool, const carom_node *node, int64_t *allowance);
// Merges `from` over `into`: maps deeply, lists by appending, other values by replacing. `from` is used up.
// False when out of memory.
bool carom_node_merge(carom_pool *pool, carom_node *into, carom_node *from);
// Removes and returns the child with this key, or null.
carom_node *carom_node_take(carom_node *map, const char *key);

// ---- writing (scene_emit.c) -----------------------------------------------------------------------

// One YAML text in the allocator's memory, the same for the same tree; null when out of memory.
char *carom_yaml_emit(const carom_node *root, const carom_allocator *allocator);

#endif
