// Whether the broad phase's tree, grid and lists agree with each other.
#ifndef CAROM_TESTS_BROADPHASE_SOUND_H
#define CAROM_TESTS_BROADPHASE_SOUND_H

#include "collide/broadphase.h"
#include "collide/broadphase_box.h"

static const char *inner_fault(const carom_tree *tree, int index) {
  const carom_tree_node *node = &tree->nodes[index];
  const carom_tree_node *a = &tree->nodes[node->child[0]], *b = &tree->nodes[node->child[1]];
  carom_aabb box = carom_box_union(&a->box, &b->box);
  if (a->parent != index || b->parent != index) return "a child does not know its parent";
  if (node->height != 1 + (a->height > b->height ? a->height : b->height)) return "a height is wrong";
  if (!carom_box_equal(&box, &node->box)) return "a box is not the union of the children's";
  return NULL;
}

static const char *tree_fault(const carom_tree *tree) {
  int leaves = 0, inner = 0, unused = 0;
  if (tree->root >= 0 && tree->nodes[tree->root].parent != -1) return "the root has a parent";
  if ((tree->root < 0) != (tree->count == 0)) return "root and count disagree";
  // From each leaf up: every step must be a parent that knows the child, and the walk must end at the root.
  for (int item = 0; item < tree->capacity; item++) {
    int at = tree->leaf[item], steps = 0;
    if (at < 0) continue;
    leaves++;
    if (tree->nodes[at].height != 0 || tree->nodes[at].child[0] != item) return "a leaf does not know its item";
    for (; at != tree->root && steps <= tree->count; steps++) {
      int up = tree->nodes[at].parent;
      if (up < 0 || (tree->nodes[up].child[0] != at && tree->nodes[up].child[1] != at)) return "a node hangs loose";
      at = up;
    }
    if (at != tree->root) return "a leaf does not lead to the root";
  }
  for (int i = tree->free_node; i >= 0 && unused <= 2 * tree->capacity; i = tree->nodes[i].parent) unused++;
  int stack_size = 0;
  if (tree->root >= 0) tree->stack[stack_size++] = tree->root;
  while (stack_size > 0) {
    int at = tree->stack[--stack_size];
    if (tree->nodes[at].height == 0) continue;
    const char *fault = inner_fault(tree, at);
    if (fault) return fault;
    inner++;
    tree->stack[stack_size++] = tree->nodes[at].child[0];
    tree->stack[stack_size++] = tree->nodes[at].child[1];
  }
  if (leaves != tree->count) return "the number of leaves is wrong";
  if (leaves + inner + unused != 2 * tree->capacity) return "nodes were lost";
  return NULL;
}

static const char *grid_fault(const carom_grid *grid) {
  int listed = 0, present = 0;
  for (int i = 0; i < grid->capacity; i++) present += grid->entries[i].last != CAROM_GRID_ABSENT;
  for (int b = 0; b < grid->buckets; b++) {
    int before = -1;
    for (int i = grid->head[b]; i >= 0; before = i, i = grid->entries[i].next) {
      const carom_grid_entry *e = &grid->entries[i];
      if (++listed > present) return "a bucket runs in circles or holds an absent item";
      if (e->last != before) return "an item does not know its predecessor";
      if (e->cell[0] != carom_grid_cell(grid, e->box.low.x, 0) ||
          e->cell[1] != carom_grid_cell(grid, e->box.low.y, 0) || e->cell[2] != carom_grid_cell(grid, e->box.low.z, 0))
        return "an item carries the wrong cell";
      if (carom_grid_bucket(grid, e->cell[0], e->cell[1], e->cell[2]) != b) return "an item is in the wrong bucket";
      if (!carom_grid_fits(grid, &e->box)) return "an item is too large for the cells";
    }
  }
  return listed == present ? NULL : "an item is in no bucket";
}

static const carom_aabb *kept_box(const carom_broadphase *b, int proxy) {
  if (b->options.uniform_grid) {
    const carom_grid_entry *e = &b->grid.entries[proxy];
    return e->last == CAROM_GRID_ABSENT ? NULL : &e->box;
  }
  return b->tree.leaf[proxy] < 0 ? NULL : &b->tree.nodes[b->tree.leaf[proxy]].box;
}

static const char *proxy_fault(const carom_broadphase *b, int proxy) {
  uint8_t flags = b->flags[proxy];
  const carom_aabb *box = kept_box(b, proxy);
  if (flags & (CAROM_PROXY_TOUCHED | CAROM_PROXY_FRESH)) return "a proxy is not settled";
  if ((box != NULL) != ((flags & CAROM_PROXY_INDEXED) != 0)) return "a proxy does not know where it is";
  if (!(flags & CAROM_PROXY_ALIVE)) return flags ? "a dead proxy has flags" : NULL;
  if (((flags & CAROM_PROXY_INDEXED) != 0) == ((flags & CAROM_PROXY_APART) != 0)) return "a proxy is in two places";
  if (flags & CAROM_PROXY_APART && b->apart[b->proxies[proxy].apart] != proxy) return "an exception is lost";
  if (box && !carom_box_equal(box, &b->fat[proxy])) return "a box is out of date";
  return NULL;
}

// What is wrong right after an update, or null.
static const char *broadphase_fault(const carom_broadphase *broadphase) {
  const carom_broadphase *b = broadphase;
  if (b->options.uniform_grid && b->grid_stale) return NULL;
  const char *fault = b->options.uniform_grid ? grid_fault(&b->grid) : tree_fault(&b->tree);
  for (int i = 0; i < b->used && !fault; i++) fault = proxy_fault(b, i);
  for (int i = 1; i < b->pairs.count && !fault; i++) {
    const carom_pair *p = &b->pairs.list[i - 1], *q = &b->pairs.list[i];
    if (p->a > q->a || (p->a == q->a && p->b >= q->b)) fault = "pairs are not sorted";
  }
  return fault;
}

#endif
