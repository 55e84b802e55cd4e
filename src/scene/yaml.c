#include "scene/yaml.h"

#include <libfyaml.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"

typedef struct builder {
  carom_pool *pool;
  carom_reporter *reporter;
  carom_yaml_limits *limits;
  const char *file;
  bool lines;
  bool stopped;  // an error was reported, or memory ran out
  carom_node *root;
  carom_node *open[CAROM_YAML_DEPTH];  // the lists and maps around the current place
  int depth;
  const char *key;  // read, its value not yet
  carom_place key_at;
  carom_place last;  // of the event before: where an empty value is missing
  carom_names anchor_names;
  carom_node **anchors;
  int anchor_count, anchor_capacity;
  int documents;
} builder;

static carom_place no_line(const builder *b, int line, int column) {
  return b->lines ? (carom_place){b->file, line, column} : (carom_place){b->file, 0, 0};
}

static carom_place token_place(builder *b, struct fy_token *token) {
  const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;
  if (mark) b->last = no_line(b, mark->line + 1, mark->column + 1);
  return b->last;
}

static bool stop(builder *b) {
  b->stopped = true;
  return false;
}

// ---- putting nodes into place ------------------------------------------------------------------------

static carom_node *new_node(builder *b, carom_node_kind kind, carom_place place) {
  if (--b->limits->nodes < 0) {
    carom_report(b->reporter, place, NULL, "the scene holds too many values");
    return NULL;
  }
  return carom_node_new(b->pool, kind, place);
}

// Heights change until a node is closed, so a parent takes note of its child's again at that time.
static bool attach(builder *b, carom_node *node) {
  if (b->depth == 0) {
    b->root = node;
    return true;
  }
  carom_node *parent = b->open[b->depth - 1];
  if (parent->kind == CAROM_NODE_MAP) {
    node->key = b->key;
    node->key_at = b->key_at;
    b->key = NULL;
  } else {
    node->key = NULL;
    node->key_at = node->place;
  }
  carom_node_append(parent, node);
  return true;
}

static bool keep_anchor(builder *b, struct fy_token *token, carom_node *node) {
  if (!token) return true;
  size_t length = 0;
  const char *text = fy_token_get_text(token, &length);
  char *name = text ? carom_pool_text(b->pool, text, length) : NULL;
  if (!name) return stop(b);
  void *anchors = b->anchors;
  if (!carom_pool_grow(b->pool, &anchors, b->anchor_count, &b->anchor_capacity, sizeof *b->anchors)) return stop(b);
  b->anchors = anchors;
  int known = carom_names_find(&b->anchor_names, name);  // an anchor may be given again: the latest counts
  b->anchors[known >= 0 ? known : b->anchor_count] = node;
  return known >= 0 || carom_names_add(&b->anchor_names, name, b->anchor_count++) || stop(b);
}

static bool refuse_tag(builder *b, struct fy_token *tag) {
  if (!tag) return true;
  carom_report(b->reporter, token_place(b, tag), NULL, "tags are not part of scene files");
  return stop(b);
}

// ---- scalars -----------------------------------------------------------------------------------------

static bool has_control(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t') || text[i] == 0x7f) return true;
  return false;
}

static carom_place scalar_place(builder *b, struct fy_token *token, bool quoted) {
  carom_place place = token_place(b, token);
  if (quoted && place.column > 1) place.column--;  // libfyaml points behind the quotation mark
  return place;
}

static const char *scalar_text(builder *b, struct fy_token *token, carom_place place, size_t *length) {
  const char *text = token ? fy_token_get_text(token, length) : "";
  if (!token) *length = 0;
  if (!text) {
    carom_report(b->reporter, place, NULL, "the text cannot be read");
    return NULL;
  }
  if (has_control(text, *length)) {
    carom_report(b->reporter, place, NULL, "the text holds a control character");
    return NULL;
  }
  return carom_pool_text(b->pool, text, *length);
}

static bool take_key(builder *b, const char *text, size_t length, carom_place place) {
  if (length == 0) {
    carom_report(b->reporter, place, NULL, "a key is missing before ':'");
    return stop(b);
  }
  if (strcmp(text, "<<") == 0) {
    carom_report(b->reporter, place, "use 'defaults', 'shapes' or 'include'", "merge keys are not part of scene files");
    return stop(b);
  }
  b->key = text;
  b->key_at = place;
  return true;
}

static bool expects_key(const builder *b) {
  return b->depth > 0 && b->open[b->depth - 1]->kind == CAROM_NODE_MAP && !b->key;
}

static bool take_scalar(builder *b, struct fy_event *e) {
  struct fy_token *token = e->scalar.value;
  enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
  bool in_quotes = style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
  carom_place place = scalar_place(b, token, in_quotes);
  size_t length;
  const char *text = scalar_text(b, token, place, &length);
  if (!text || !refuse_tag(b, e->scalar.tag)) return stop(b);
  if (expects_key(b)) return take_key(b, text, length, place);
  // A value that is not there stands where its key does.
  if (length == 0 && style == FYSS_PLAIN && b->key) place = b->key_at;
  carom_node *node = new_node(b, CAROM_NODE_SCALAR, place);
  if (!node) return stop(b);
  node->quoted = style != FYSS_PLAIN;
  node->single_line = style == FYSS_PLAIN || in_quotes;
  node->text = text;
  node->length = length;
  return attach(b, node) && keep_anchor(b, e->scalar.anchor, node);
}

// ---- collections -------------------------------------------------------------------------------------

static bool open_node(builder *b, carom_node_kind kind, struct fy_token *token, struct fy_token *tag,
                      struct fy_token *anchor) {
  carom_place place = token_place(b, token);
  if (!refuse_tag(b, tag)) return false;
  if (expects_key(b)) {
    carom_report(b->reporter, place, NULL, "a key must be a word, not a list or mapping");
    return stop(b);
  }
  if (b->depth == CAROM_YAML_DEPTH) {
    carom_report(b->reporter, place, NULL, "nested more than %d deep", CAROM_YAML_DEPTH);
    return stop(b);
  }
  carom_node *node = new_node(b, kind, place);
  if (!node || !attach(b, node)) return stop(b);
  b->open[b->depth++] = node;
  return keep_anchor(b, anchor, node);
}

static bool report_duplicate(builder *b, const carom_node *second, const carom_node *first) {
  char hint[60] = "";
  if (first->key_at.line > 0) snprintf(hint, sizeof hint, "first given in line %d", first->key_at.line);
  carom_report(b->reporter, second->key_at, hint, "duplicate key '%s'", second->key);
  return true;
}

static bool check_duplicates(builder *b, const carom_node *map) {
  if (map->count <= 16) {
    for (const carom_node *c = map->first; c; c = c->next)
      for (const carom_node *d = map->first; d != c; d = d->next)
        if (strcmp(c->key, d->key) == 0 && report_duplicate(b, c, d)) break;
    return true;
  }
  carom_names names;
  carom_allocator heap = carom_pool_allocator(b->pool);
  carom_names_create(&names, &heap);
  carom_node **nodes = CAROM_POOL_ARRAY(b->pool, carom_node *, map->count);
  if (!nodes) return stop(b);
  int n = 0;
  for (carom_node *c = map->first; c; c = c->next) {
    int known = carom_names_find(&names, c->key);
    if (known >= 0) report_duplicate(b, c, nodes[known]);
    nodes[n] = c;
    if (!carom_names_add(&names, c->key, n++)) return stop(b);
  }
  return true;
}

static bool close_node(builder *b) {
  carom_node *node = b->open[--b->depth];
  if (b->depth > 0 && b->open[b->depth - 1]->height < node->height + 1)
    b->open[b->depth - 1]->height = node->height + 1;
  return node->kind != CAROM_NODE_MAP || check_duplicates(b, node);
}

static bool is_open(const builder *b, const carom_node *node) {
  for (int i = 0; i < b->depth; i++)
    if (b->open[i] == node) return true;
  return false;
}

static bool refuse_alias(builder *b, carom_place place, const char *why) {
  carom_report(b->reporter, place, NULL, "%s", why);
  return stop(b);
}

// Aliases are copied out, since merging and overrides change the tree. The allowance stops "billion laughs".
static bool take_alias(builder *b, struct fy_event *e) {
  const char *name = fy_token_get_text0(e->alias.anchor);
  carom_place place = token_place(b, e->alias.anchor);
  if (b->lines && place.column > 1) place.column--;  // the star
  if (expects_key(b)) return refuse_alias(b, place, "a key must be a word, not an alias");
  int known = name ? carom_names_find(&b->anchor_names, name) : -1;
  if (known < 0) return refuse_alias(b, place, "the alias names no anchor before it");
  const carom_node *node = b->anchors[known];
  if (is_open(b, node)) return refuse_alias(b, place, "the alias names what it stands in");
  if (b->depth + node->height > CAROM_YAML_DEPTH) return refuse_alias(b, place, "the alias nests too deep");
  carom_node *copy = carom_node_copy(b->pool, node, &b->limits->alias_nodes);
  if (!copy && b->limits->alias_nodes < 0) return refuse_alias(b, place, "the aliases grow the scene too much");
  if (!copy) return stop(b);
  copy->place = place;
  return attach(b, copy);
}

// ---- events ------------------------------------------------------------------------------------------

static bool take_event(builder *b, struct fy_event *e) {
  switch (e->type) {
    case FYET_DOCUMENT_START:
      if (++b->documents == 1) return true;
      carom_report(b->reporter, token_place(b, e->document_start.document_start), NULL,
                   "a second document begins here; a scene file holds one");
      return stop(b);
    case FYET_MAPPING_START:
      return open_node(b, CAROM_NODE_MAP, e->mapping_start.mapping_start, e->mapping_start.tag,
                       e->mapping_start.anchor);
    case FYET_SEQUENCE_START:
      return open_node(b, CAROM_NODE_LIST, e->sequence_start.sequence_start, e->sequence_start.tag,
                       e->sequence_start.anchor);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
      return b->depth > 0 ? close_node(b) : stop(b);
    case FYET_SCALAR:
      return take_scalar(b, e);
    case FYET_ALIAS:
      return take_alias(b, e);
    default:
      return true;
  }
}

static void report_syntax(builder *b, struct fy_diag *diag) {
  void *at = NULL;
  const struct fy_diag_error *e = fy_diag_errors_iterate(diag, &at);
  if (!e || !e->msg) {
    carom_report(b->reporter, b->last, NULL, "not valid YAML");
    return;
  }
  char hint[100] = "";
  if (strstr(e->msg, "without a closing") && b->depth > 0 && b->lines) {
    carom_place open = b->open[b->depth - 1]->place;
    snprintf(hint, sizeof hint, "what is open there began in line %d, column %d", open.line, open.column);
  } else if (strstr(e->msg, "tab character")) {
    snprintf(hint, sizeof hint, "indent with spaces");
  } else if (strstr(e->msg, "multiline plain key")) {
    snprintf(hint, sizeof hint, "check the indentation of the following line");
  }
  carom_report(b->reporter, no_line(b, e->line, e->column), hint, "%s", e->msg);
}

static struct fy_diag *quiet_diag(void) {
  struct fy_diag_cfg config;
  fy_diag_cfg_default(&config);
  config.fp = NULL;
  config.output_fn = NULL;
  config.level = FYET_ERROR;
  config.colorize = false;
  struct fy_diag *diag = fy_diag_create(&config);
  if (diag) fy_diag_set_collect_errors(diag, true);
  return diag;
}

static void run_parser(builder *b, struct fy_parser *parser, struct fy_diag *diag, const char *text, size_t size) {
  if (fy_parser_set_string(parser, text, size) != 0) {
    carom_report(b->reporter, no_line(b, 1, 1), NULL, "the YAML parser cannot be started");
    b->stopped = true;
  }
  struct fy_event *e;
  while (!b->stopped && (e = fy_parser_parse(parser))) {
    take_event(b, e);
    fy_parser_event_free(parser, e);
  }
  if (!b->stopped && fy_parser_get_stream_error(parser)) {
    report_syntax(b, diag);
    b->stopped = true;
  }
}

// ---- characters --------------------------------------------------------------------------------------

// Length of the UTF-8 character at s (RFC 3629: no overlong forms, no surrogates), 0 when it is none.
static size_t utf8_length(const unsigned char *s, size_t left) {
  if (s[0] < 0x80) return s[0] == 0 ? 0 : 1;
  size_t n = s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : s[0] >= 0xE0 && s[0] < 0xF0 ? 3 : s[0] >= 0xF0 && s[0] < 0xF5 ? 4 : 0;
  if (n == 0 || n > left) return 0;
  for (size_t i = 1; i < n; i++)
    if ((s[i] & 0xC0) != 0x80) return 0;
  if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F)) return 0;
  if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F)) return 0;
  return n;
}

// libfyaml scans a whole nest of brackets before its first event, at some 350 bytes each: 64 MB of them would take
// more memory than there is. Counting them, blind to quotes, stops that long before and no sensible text ever.
enum { MOST_OPEN_BRACKETS = 1000 };

static int count_brackets(int open, char c) {
  if (c == '[' || c == '{') return open + 1;
  return (c == ']' || c == '}') && open > 0 ? open - 1 : open;
}

static bool check_characters(builder *b, const char *text, size_t size) {
  int line = 1, column = 1, open = 0;
  for (size_t i = 0; i < size;) {
    size_t n = utf8_length((const unsigned char *)text + i, size - i);
    if (n == 0) {
      carom_report(b->reporter, no_line(b, line, column), "save the file as UTF-8 text",
                   text[i] ? "byte 0x%02x is not UTF-8 text" : "byte 0x%02x is not text", (unsigned char)text[i]);
      return stop(b);
    }
    if ((open = count_brackets(open, text[i])) > MOST_OPEN_BRACKETS) {
      carom_report(b->reporter, no_line(b, line, column), NULL, "too many brackets are open");
      return stop(b);
    }
    column++;
    if (text[i] == '\n') {
      line++;
      column = 1;
    }
    i += n;
  }
  return true;
}

carom_node *carom_yaml_parse(carom_pool *pool, carom_reporter *reporter, carom_yaml_limits *limits,
                             const carom_bytes *bytes, bool lines) {
  const char *text = bytes->data;
  size_t size = bytes->size;
  builder b = {.pool = pool, .reporter = reporter, .limits = limits, .file = bytes->name, .lines = lines};
  b.last = no_line(&b, 1, 1);
  carom_allocator heap = carom_pool_allocator(pool);
  carom_names_create(&b.anchor_names, &heap);
  if (!check_characters(&b, text, size)) return NULL;
  struct fy_diag *diag = quiet_diag();
  struct fy_parse_cfg config = {.search_path = "", .diag = diag};
  config.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE;
  struct fy_parser *parser = diag ? fy_parser_create(&config) : NULL;
  if (parser)
    run_parser(&b, parser, diag, text, size);
  else
    pool->failed = b.stopped = true;
  if (parser) fy_parser_destroy(parser);
  if (diag) fy_diag_destroy(diag);
  if (b.stopped) return NULL;
  if (!b.root) b.root = carom_node_new(pool, CAROM_NODE_SCALAR, no_line(&b, 1, 1));
  return b.root;
}
