// From files to one tree: reading, includes, merging, overrides.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/read_file.h"
#include "scene/reader.h"

enum { MAX_INCLUDE_DEPTH = 16 };

const char *carom_join_path(carom_pool *pool, const char *folder, const char *path) {
  size_t n = path[0] == '/' ? 0 : strlen(folder), m = strlen(path);
  char *joined = carom_pool_get(pool, n + m + 1);
  if (!joined) return NULL;
  memcpy(joined, folder, n);
  memcpy(joined + n, path, m);
  return joined;
}

bool carom_note_file(carom_reader *r, const char *path) {
  for (int i = 0; i < r->file_count; i++)
    if (strcmp(r->files[i], path) == 0) return true;
  void *files = (void *)r->files;
  bool room = carom_pool_grow(&r->pool, &files, r->file_count, &r->file_capacity, sizeof *r->files);
  r->files = files;
  if (room) r->files[r->file_count++] = path;
  return room;
}

static const char *folder_of(carom_pool *pool, const char *path) {
  const char *slash = strrchr(path, '/');
  return carom_pool_text(pool, path, slash ? (size_t)(slash - path) + 1 : 0);
}

// ---- includes ----------------------------------------------------------------------------------------

// A file on the way from the scene file to the include at hand.
typedef struct chain {
  const struct chain *parent;
  const char *folder;  // seen from the folder of the scene file
  dev_t device;
  ino_t inode;
  bool identified;
  int depth;
} chain;

static carom_node *load(carom_reader *r, const chain *self, const char *file, const char *text, size_t size);

static void identify(chain *self, const char *path) {
  struct stat info;
  if (stat(path, &info) != 0) return;
  self->device = info.st_dev;
  self->inode = info.st_ino;
  self->identified = true;
}

static bool includes_itself(const chain *self) {
  for (const chain *p = self->parent; p && self->identified; p = p->parent)
    if (p->identified && p->device == self->device && p->inode == self->inode) return true;
  return false;
}

static bool adjust_path(carom_reader *r, carom_node *file, const char *folder) {
  if (!file || file->kind != CAROM_NODE_SCALAR || file->length == 0) return true;
  file->text = carom_join_path(&r->pool, folder, file->text);
  if (!file->text) return false;
  file->length = strlen(file->text);
  return true;
}

// Paths of meshes are relative to the file that names them; in the merged tree they must be to the scene file. Done
// before what a file includes is merged into it: that has been through it.
static bool adjust_mesh_paths(carom_reader *r, carom_node *node, const char *folder) {
  if (folder[0] == '\0') return true;
  for (carom_node *c = node->first; c; c = c->next) {
    bool mesh = c->key && strcmp(c->key, "mesh") == 0 && c->kind == CAROM_NODE_MAP;
    if (mesh && !(adjust_path(r, carom_node_find(c, "file", 4), folder) &&
                  adjust_path(r, carom_node_find(c, "surface", 7), folder)))
      return false;
    if (!adjust_mesh_paths(r, c, folder)) return false;
  }
  return true;
}

static carom_node *include_file(carom_reader *r, const chain *parent, const carom_node *node, const char *name) {
  if (r->options.self_contained) {
    carom_report(&r->reporter, node->place, NULL, "this scene may not open other files");
    return NULL;
  }
  const char *relative = carom_join_path(&r->pool, parent->folder, name);
  const char *path = relative ? carom_join_path(&r->pool, r->folder, relative) : NULL;
  const char *folder = path ? folder_of(&r->pool, relative) : NULL;
  if (!folder || !carom_note_file(r, path)) return NULL;
  chain self = {.parent = parent, .folder = folder, .depth = parent->depth + 1};
  identify(&self, path);
  if (includes_itself(&self)) {
    carom_report(&r->reporter, node->place, NULL, "'%s' includes itself", name);
    return NULL;
  }
  if (self.depth > MAX_INCLUDE_DEPTH || --r->files_left < 0) {
    carom_report(&r->reporter, node->place, NULL, "too many includes");
    return NULL;
  }
  carom_error why;
  size_t size;
  char *text = carom_read_file(path, r->bytes_left, &r->allocator, &size, &why);
  if (!text) {
    if (why.status == CAROM_ERR_MEMORY) r->reporter.out_of_memory = true;
    carom_report(&r->reporter, node->place, NULL, "cannot include '%s': %s", name, why.message);
    return NULL;
  }
  r->bytes_left -= (int64_t)size;
  carom_node *root = load(r, &self, path, text, size);
  carom_release(&r->allocator, text);
  return root;
}

static carom_node *include_item(carom_reader *r, const chain *parent, const carom_node *item) {
  const carom_node *slots[CAROM_MOST_KEYS] = {item};
  if (item->kind != CAROM_NODE_SCALAR) {
    if (!carom_read_fields(r, item, CAROM_SECTION_INCLUDE, "include", slots)) return NULL;
    if (!carom_require(r, item, slots[KEY_INCLUDE_FILE], "file", "include")) return NULL;
  }
  const char *name = NULL;
  return carom_read_text(r, slots[KEY_INCLUDE_FILE], &name) ? include_file(r, parent, item, name) : NULL;
}

// All includes in their order, then the file itself over them.
static carom_node *merge_includes(carom_reader *r, const chain *self, carom_node *root) {
  carom_node *include = carom_node_take(root, "include");
  if (!include || carom_node_is_null(include)) return root;
  carom_node single = *include;
  single.next = NULL;
  const carom_node *item = include->kind == CAROM_NODE_LIST ? include->first : &single;
  carom_node *merged = carom_node_new(&r->pool, CAROM_NODE_MAP, root->place);
  for (; merged && item; item = item->next) {
    carom_node *part = include_item(r, self, item);
    if (part && !carom_node_merge(&r->pool, merged, part)) return NULL;
  }
  return merged && carom_node_merge(&r->pool, merged, root) ? merged : NULL;
}

// At least one key is one of a scene's.
static bool looks_like_scene(const carom_node *root) {
  const carom_section_keys *keys = &carom_scene_sections[CAROM_SECTION_SCENE];
  if (root->kind != CAROM_NODE_MAP) return false;
  for (int i = 0; i < keys->count; i++)
    if (carom_node_find(root, keys->keys[i], strlen(keys->keys[i]))) return true;
  return false;
}

// A file that another file names may be anybody's: of one that is no scene nothing is told but that.
static bool refuse_strangers(carom_reader *r, const carom_node *root, const char *file, int findings) {
  if (!root) {
    if (r->reporter.list->count > findings) carom_reporter_take_back(&r->reporter, findings, 1);  // where it broke off
    return true;
  }
  if (carom_node_is_null(root) || looks_like_scene(root)) return false;
  carom_reporter_take_back(&r->reporter, findings, 0);
  carom_report(&r->reporter, (carom_place){file, 0, 0}, "scenes, and parts of them, have keys such as 'bodies'",
               "this is not a scene");
  return true;
}

static carom_node *load(carom_reader *r, const chain *self, const char *file, const char *text, size_t size) {
  int findings = r->reporter.list->count;
  carom_node *root = carom_yaml_parse(&r->pool, &r->reporter, &r->limits, &(carom_bytes){file, text, size}, true);
  if ((self->parent || r->options.discreet) && refuse_strangers(r, root, file, findings)) return NULL;
  if (!root) return NULL;
  if (carom_node_is_null(root)) {
    carom_report(&r->reporter, root->place, "a scene begins with 'carom: 1'", "the file is empty");
    return NULL;
  }
  if (root->kind != CAROM_NODE_MAP) {
    char got[80];
    carom_report(&r->reporter, root->place, "a scene begins with 'carom: 1'",
                 "expected a mapping at the top level, got %s", carom_describe(root, got, sizeof got));
    return NULL;
  }
  return adjust_mesh_paths(r, root, self->folder) ? merge_includes(r, self, root) : NULL;
}

// The sections in the order of the reference, so that the resolved text does not depend on who said what first.
static void put_in_order(carom_node *root) {
  const carom_section_keys *keys = &carom_scene_sections[CAROM_SECTION_SCENE];
  carom_node rest = *root;
  root->first = root->last = NULL;
  root->count = 0;
  for (int i = 0; i < keys->count; i++) {
    carom_node *section = carom_node_take(&rest, keys->keys[i]);
    if (section) carom_node_append(root, section);
  }
  for (carom_node *c = rest.first, *next; c; c = next) {
    next = c->next;
    carom_node_append(root, c);
  }
}

carom_node *carom_load_tree(carom_reader *r, const char *text, size_t size) {
  chain self = {.folder = ""};
  r->folder = folder_of(&r->pool, r->path);
  if (!r->folder || !carom_note_file(r, r->path)) return NULL;
  if (!r->options.self_contained) identify(&self, r->path);
  carom_node *root = load(r, &self, r->path, text, size);
  for (int i = 0; root && i < r->options.override_count; i++) carom_apply_override(r, root, r->options.overrides[i]);
  if (root) put_in_order(root);
  return root;
}
