// Insertion by the surface area heuristic (Goldsmith and Salmon 1987): the chance that a query meets a node grows with
// the node's surface, so a tree is good when the surfaces of its inner nodes add up to little. The search for the best
// sibling is the greedy form of the branch and bound of Bittner, Hapala and Havran (2015); rotations on the way back
// up are those of Kopta et al. (2012).
#include "collide/broadphase_tree.h"

#include "collide/broadphase_box.h"
#include "collide/broadphase_memory.h"

void carom_tree_init(carom_tree *tree) {
  carom_tree empty = {.root = -1, .free_node = -1};
  *tree = empty;
}

void carom_tree_release(carom_tree *tree, const carom_allocator *allocator) {
  CAROM_RELEASE_ALL(allocator, tree->nodes, tree->spare, tree->leaf, tree->stack);
  carom_tree_init(tree);
}

bool carom_tree_reserve(carom_tree *tree, const carom_allocator *allocator, int capacity) {
  if (capacity <= tree->capacity) return true;
  if (capacity > INT32_MAX / 2) return false;
  if (!CAROM_RESIZE(allocator, tree->nodes, 2 * capacity) || !CAROM_RESIZE(allocator, tree->spare, 2 * capacity) ||
      !CAROM_RESIZE(allocator, tree->leaf, capacity) || !CAROM_RESIZE(allocator, tree->stack, capacity))
    return false;
  for (int i = tree->capacity; i < capacity; i++) tree->leaf[i] = -1;
  for (int i = 2 * capacity - 1; i >= 2 * tree->capacity; i--) {
    tree->nodes[i].parent = tree->free_node;
    tree->free_node = i;
  }
  tree->capacity = capacity;
  return true;
}

static int take_node(carom_tree *tree) {
  int index = tree->free_node;
  tree->free_node = tree->nodes[index].parent;
  return index;
}

static void free_node(carom_tree *tree, int index) {
  tree->nodes[index].parent = tree->free_node;
  tree->nodes[index].height = -1;
  tree->free_node = index;
}

// ---- insertion -----------------------------------------------------------------------------------------------------

static double center_distance(const carom_aabb *a, const carom_aabb *b) {
  return cm_norm2(cm_sub(cm_add(a->low, a->high), cm_add(b->low, b->high)));
}

// What a descent into a child promises: the growth of the child and, at least, a new parent as large as the leaf.
typedef struct prospect {
  double direct;  // new parent right above the child
  double growth;  // of the child, were the leaf to go below it
  double bound;   // least cost below it; infinite for a leaf
} prospect;

static prospect look(const carom_tree_node *child, const carom_aabb *box, double area, double inherited) {
  prospect p = {0, 0, INFINITY};
  double united = carom_box_union_area(&child->box, box);
  p.direct = inherited + united;
  p.growth = united - carom_box_area(&child->box);
  if (child->height > 0) p.bound = inherited + p.growth + area;
  return p;
}

// The node above which a new parent adds least surface: its own and the growth of all ancestors (`inherited`).
static int best_sibling(const carom_tree *tree, const carom_aabb *box) {
  const carom_tree_node *nodes = tree->nodes;
  double area = carom_box_area(box);
  int best = tree->root, at = tree->root;
  double least = carom_box_union_area(&nodes[at].box, box);
  double inherited = least - carom_box_area(&nodes[at].box);
  while (nodes[at].height > 0) {
    const int *child = nodes[at].child;
    prospect p[2];
    for (int k = 0; k < 2; k++) {
      p[k] = look(&nodes[child[k]], box, area, inherited);
      if (p[k].direct < least) least = p[k].direct, best = child[k];
    }
    int next = p[1].bound < p[0].bound;
    // Two children that both hold the box promise the same: take the nearer.
    if (p[1].bound == p[0].bound)
      next = center_distance(&nodes[child[1]].box, box) < center_distance(&nodes[child[0]].box, box);
    if (p[next].bound >= least) break;
    inherited += p[next].growth;
    at = child[next];
  }
  return best;
}

// Box and height from the children; false when nothing changed.
static bool refit(carom_tree *tree, int index) {
  carom_tree_node *node = &tree->nodes[index];
  const carom_tree_node *a = &tree->nodes[node->child[0]], *b = &tree->nodes[node->child[1]];
  carom_aabb box = carom_box_union(&a->box, &b->box);
  int height = 1 + (a->height > b->height ? a->height : b->height);
  if (height == node->height && carom_box_equal(&box, &node->box)) return false;
  node->box = box;
  node->height = height;
  return true;
}

// Exchanges the child `side` of `top` with the grandchild `inner` below the other child.
static void exchange(carom_tree *tree, int top, int side, int inner) {
  carom_tree_node *nodes = tree->nodes;
  int uncle = nodes[top].child[side], middle = nodes[top].child[1 - side], nephew = nodes[middle].child[inner];
  nodes[top].child[side] = nephew;
  nodes[middle].child[inner] = uncle;
  nodes[nephew].parent = top;
  nodes[uncle].parent = middle;
  refit(tree, middle);
  refit(tree, top);
}

// The exchange of a child with a grandchild that shrinks the surface between them most; false when none shrinks it.
static bool rotate(carom_tree *tree, int top) {
  const carom_tree_node *nodes = tree->nodes;
  double gain = 0;
  int side = -1, inner = -1;
  for (int s = 0; s < 2; s++) {
    const carom_tree_node *uncle = &nodes[nodes[top].child[s]], *middle = &nodes[nodes[top].child[1 - s]];
    if (middle->height == 0) continue;
    double area = carom_box_area(&middle->box);
    for (int i = 0; i < 2; i++) {
      double g = area - carom_box_union_area(&uncle->box, &nodes[middle->child[1 - i]].box);
      if (g > gain) gain = g, side = s, inner = i;
    }
  }
  if (side >= 0) exchange(tree, top, side, inner);
  return side >= 0;
}

static void replace_child(carom_tree *tree, int parent, int old, int new) {
  if (parent < 0)
    tree->root = new;
  else
    tree->nodes[parent].child[tree->nodes[parent].child[1] == old] = new;
  tree->nodes[new].parent = parent;
}

void carom_tree_insert(carom_tree *tree, int item, const carom_aabb *box) {
  int leaf = take_node(tree);
  carom_tree_node made = {*box, -1, {item, -1}, 0};
  tree->nodes[leaf] = made;
  tree->leaf[item] = leaf;
  tree->disorder++;
  if (tree->count++ == 0) {
    tree->root = leaf;
    return;
  }
  int sibling = best_sibling(tree, box), top = take_node(tree);
  replace_child(tree, tree->nodes[sibling].parent, sibling, top);
  tree->nodes[top].child[0] = sibling;
  tree->nodes[top].child[1] = leaf;
  tree->nodes[top].height = -1;
  tree->nodes[sibling].parent = tree->nodes[leaf].parent = top;
  // Above a node that neither changed nor turned, nothing changes.
  for (bool changed = true; top >= 0 && changed; top = tree->nodes[top].parent) {
    changed = refit(tree, top);
    if (rotate(tree, top)) changed = true;
  }
}

void carom_tree_remove(carom_tree *tree, int item) {
  int leaf = tree->leaf[item], parent = tree->nodes[leaf].parent;
  tree->leaf[item] = -1;
  tree->count--;
  free_node(tree, leaf);
  if (parent < 0) {
    tree->root = -1;
    return;
  }
  int sibling = tree->nodes[parent].child[tree->nodes[parent].child[0] == leaf];
  int above = tree->nodes[parent].parent;
  replace_child(tree, above, parent, sibling);
  free_node(tree, parent);
  while (above >= 0 && refit(tree, above)) above = tree->nodes[above].parent;
}

// ---- order in memory -----------------------------------------------------------------------------------------------

// Copies the node at `from` to `to`, and tells its item where it is.
static void put(carom_tree *tree, int from, int to) {
  const carom_tree_node *node = &tree->nodes[from];
  tree->spare[to] = *node;
  if (node->height == 0) tree->leaf[node->child[0]] = to;
}

// Depth first, and siblings side by side: a query looks at both boxes, and then goes down one of them. The stack holds
// nodes in their new places whose children are still to come.
static int put_in_order(carom_tree *tree) {
  int placed = 1, depth = 0;
  put(tree, tree->root, 0);
  tree->spare[0].parent = -1;
  tree->stack[depth++] = 0;
  while (depth > 0) {
    int at = tree->stack[--depth];
    carom_tree_node *node = &tree->spare[at];
    if (node->height == 0) continue;
    for (int k = 0; k < 2; k++) {
      put(tree, node->child[k], placed + k);
      tree->spare[placed + k].parent = at;
      node->child[k] = placed + k;
    }
    tree->stack[depth++] = placed + 1;
    tree->stack[depth++] = placed;
    placed += 2;
  }
  return placed;
}

void carom_tree_tidy(carom_tree *tree) {
  if (tree->count < 2 || tree->disorder < tree->count) return;
  tree->disorder = 0;
  int placed = put_in_order(tree);
  carom_tree_node *swap = tree->nodes;
  tree->nodes = tree->spare;
  tree->spare = swap;
  tree->root = 0;
  tree->free_node = -1;
  for (int i = 2 * tree->capacity - 1; i >= placed; i--) free_node(tree, i);
}

// ---- queries -------------------------------------------------------------------------------------------------------

int carom_tree_query(carom_tree *tree, const carom_aabb *box, int *hits) {
  const carom_tree_node *nodes = tree->nodes;
  int count = 0, depth = 0, at = tree->root;
  if (at < 0 || !carom_box_overlap(&nodes[at].box, box)) return 0;
  for (;;) {
    const carom_tree_node *node = &nodes[at];
    if (node->height == 0) {
      hits[count++] = node->child[0];
    } else {
      bool first = carom_box_overlap(&nodes[node->child[0]].box, box);
      bool second = carom_box_overlap(&nodes[node->child[1]].box, box);
      if (first && second) tree->stack[depth++] = node->child[1];
      if (first || second) {
        at = node->child[first ? 0 : 1];
        continue;
      }
    }
    if (depth == 0) return count;
    at = tree->stack[--depth];
  }
}
