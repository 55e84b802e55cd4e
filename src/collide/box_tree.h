// A binary tree of boxes over items that keep their neighbours, as the facets of a surface do while it deforms: made
// once, then only fitted to where the items are. Whatever the boxes, the same pairs come in the same order.
#ifndef CAROM_SRC_COLLIDE_BOX_TREE_H
#define CAROM_SRC_COLLIDE_BOX_TREE_H

#include "carom/collide.h"

// In preorder: the left child follows its parent.
typedef struct carom_box_node {
  carom_aabb box;
  int right;         // the other child; 0 in a leaf
  int first, count;  // of its items
} carom_box_node;

typedef struct carom_box_tree {
  int item_count, node_count;
  carom_box_node *nodes;  // (node_count)
  int *items;             // (item_count) leaf by leaf
  carom_allocator allocator;
} carom_box_tree;

// Makes the tree over the boxes (count, at least 1). False when out of memory.
bool carom_box_tree_init(carom_box_tree *tree, const carom_aabb *boxes, int count, const carom_allocator *allocator);
void carom_box_tree_release(carom_box_tree *tree);  // a zeroed one is fine
// Fits it to boxes (item_count) that have moved. Allocates nothing.
void carom_box_tree_fit(carom_box_tree *tree, const carom_aabb *boxes);

// Is shown items whose boxes overlap; false ends the search.
typedef bool carom_box_pair_look(void *context, int item_a, int item_b);
typedef bool carom_box_item_look(void *context, int item);
// All pairs of an item of a and one of b. Of one tree with itself each pair once, item_a < item_b. `boxes` as last
// fitted. Returns false when a look did.
bool carom_box_tree_pairs(const carom_box_tree *a, const carom_aabb *boxes_a, const carom_box_tree *b,
                          const carom_aabb *boxes_b, carom_box_pair_look *look, void *context);
// All items whose boxes overlap one.
bool carom_box_tree_query(const carom_box_tree *tree, const carom_aabb *boxes, const carom_aabb *box,
                          carom_box_item_look *look, void *context);

#endif
