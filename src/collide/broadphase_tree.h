// An incremental binary tree of boxes over numbered items.
#ifndef CAROM_SRC_COLLIDE_BROADPHASE_TREE_H
#define CAROM_SRC_COLLIDE_BROADPHASE_TREE_H

#include "carom/collide.h"

// 64 bytes: one cache line.
typedef struct carom_tree_node {
  carom_aabb box;
  int parent;    // -1 at the root; in a free node the next free one
  int child[2];  // of a leaf: the item and -1
  int height;    // 0: leaf
} carom_tree_node;

typedef struct carom_tree {
  carom_tree_node *nodes;  // (2 capacity)
  carom_tree_node *spare;  // (2 capacity) room to put the nodes in order
  int *leaf;               // (capacity) node of each item, -1: not in the tree
  int *stack;              // (capacity) of a query: the height is less than the number of leaves
  int capacity;            // items
  int root, free_node, count;
  int64_t disorder;  // items inserted since the nodes were put in order
} carom_tree;

void carom_tree_init(carom_tree *tree);
void carom_tree_release(carom_tree *tree, const carom_allocator *allocator);
// Room for items 0 .. capacity-1; false when out of memory, with the tree as it was. Nothing else allocates.
bool carom_tree_reserve(carom_tree *tree, const carom_allocator *allocator, int capacity);

// The box must be finite and its surface must not overflow.
void carom_tree_insert(carom_tree *tree, int item, const carom_aabb *box);
void carom_tree_remove(carom_tree *tree, int item);  // one that is in the tree
// Puts the nodes in the order in which queries meet them, once enough items came to new places. What is found, and in
// which order, stays the same.
void carom_tree_tidy(carom_tree *tree);
// Writes the items whose boxes overlap `box` to hits (room for all) and returns how many there are.
int carom_tree_query(carom_tree *tree, const carom_aabb *box, int *hits);

#endif
