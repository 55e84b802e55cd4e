// Writing a tree as YAML: maps and lists of them in block style, lists of plain values in one line.
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/memory.h"
#include "base/text_buffer.h"
#include "scene/yaml.h"

typedef struct writer {
  const carom_allocator *allocator;
  char *data;
  size_t size, capacity;
  bool failed;
} writer;

static void put_n(writer *w, const char *text, size_t n) {
  if (w->failed) return;
  if (w->capacity - w->size < n + 1) {
    size_t capacity = 2 * w->capacity + n + 256;
    char *larger = w->data ? w->allocator->resize(w->allocator->context, w->data, capacity)
                           : w->allocator->allocate(w->allocator->context, capacity);
    if (!larger) {
      w->failed = true;
      return;
    }
    w->data = larger;
    w->capacity = capacity;
  }
  memcpy(w->data + w->size, text, n);
  w->size += n;
  w->data[w->size] = '\0';
}

static void put(writer *w, const char *text) { put_n(w, text, strlen(text)); }

static void put_indent(writer *w, int indent) {
  for (int i = 0; i < indent; i++) put(w, "  ");
}

static bool safe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_+*/^(). -", c);
}

// Text that any YAML reader takes as the same plain scalar, in block and flow style.
static bool is_plain(const char *text, size_t n) {
  if (n == 0 || text[0] == ' ' || text[n - 1] == ' ' || text[0] == '*') return false;
  if (text[0] == '-' && (n == 1 || text[1] == ' ' || text[1] == '-')) return false;
  for (size_t i = 0; i < n; i++)
    if (text[i] == '\0' || !safe(text[i])) return false;
  return strcmp(text, "...") != 0;
}

// What would steer a terminal is escaped, so that the text can be shown and reads back as it was.
static void put_quoted(writer *w, const char *text, size_t n) {
  put(w, "\"");
  for (size_t i = 0; i < n;) {
    char escape[8] = "";
    int length = carom_utf8_length(text + i);
    unsigned code = length > 0 ? carom_utf8_code(text + i, length) : 0xFFFD;
    if (code == '"' || code == '\\')
      snprintf(escape, sizeof escape, "\\%c", (char)code);
    else if (code == '\n' || code == '\t')
      snprintf(escape, sizeof escape, "\\%c", code == '\n' ? 'n' : 't');
    else if (length == 0 || carom_steers(code))
      snprintf(escape, sizeof escape, "\\u%04x", code);
    if (escape[0])
      put(w, escape);
    else
      put_n(w, text + i, (size_t)length);
    i += length > 0 ? (size_t)length : 1;
  }
  put(w, "\"");
}

static void put_scalar(writer *w, const carom_node *node) {
  if (carom_node_is_null(node))
    put(w, "null");
  else if (!node->quoted && is_plain(node->text, node->length))
    put_n(w, node->text, node->length);
  else
    put_quoted(w, node->text, node->length);
}

static void put_key(writer *w, const carom_node *node) {
  size_t n = strlen(node->key);
  if (is_plain(node->key, n))
    put_n(w, node->key, n);
  else
    put_quoted(w, node->key, n);
  put(w, ":");
}

static bool is_flat(const carom_node *list) {
  for (const carom_node *c = list->first; c; c = c->next)
    if (c->kind != CAROM_NODE_SCALAR) return false;
  return true;
}

static void put_block(writer *w, const carom_node *node, int indent, bool first_inline);

// What may follow "key:" or "-" in one line: a scalar, a list of scalars, an empty map.
static bool is_short(const carom_node *node) {
  return node->kind == CAROM_NODE_SCALAR || (node->kind == CAROM_NODE_MAP ? node->count == 0 : is_flat(node));
}

static void put_short(writer *w, const carom_node *node) {
  if (node->kind == CAROM_NODE_SCALAR) {
    put_scalar(w, node);
    return;
  }
  put(w, node->kind == CAROM_NODE_MAP ? "{" : "[");
  for (const carom_node *c = node->first; c; c = c->next) {
    if (c != node->first) put(w, ", ");
    put_scalar(w, c);
  }
  put(w, node->kind == CAROM_NODE_MAP ? "}" : "]");
}

static void put_child(writer *w, const carom_node *c, int indent, bool in_list) {
  if (in_list)
    put(w, "-");
  else
    put_key(w, c);
  if (is_short(c)) {
    put(w, " ");
    put_short(w, c);
    put(w, "\n");
  } else if (in_list) {
    put(w, " ");
    put_block(w, c, indent + 1, true);
  } else {
    put(w, "\n");
    put_block(w, c, indent + 1, false);
  }
}

static void put_block(writer *w, const carom_node *node, int indent, bool first_inline) {
  for (const carom_node *c = node->first; c; c = c->next) {
    if (c != node->first || !first_inline) put_indent(w, indent);
    put_child(w, c, indent, node->kind == CAROM_NODE_LIST);
  }
}

char *carom_yaml_emit(const carom_node *root, const carom_allocator *allocator) {
  writer w = {.allocator = allocator};
  put(&w, "");
  if (is_short(root)) {
    put_short(&w, root);
    put(&w, "\n");
  } else {
    put_block(&w, root, 0, false);
  }
  if (!w.failed) return w.data;
  if (w.data) carom_release(allocator, w.data);
  return NULL;
}
