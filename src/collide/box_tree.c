#include "collide/box_tree.h"

#include <stdlib.h>

#include "base/memory.h"
#include "collide/broadphase_box.h"

enum { LEAF = 4, STACK = 256 };  // items of a leaf; nodes that wait: depths add up, and halving keeps them small

// ---- making ---------------------------------------------------------------------------------------------------------

typedef struct maker {
  carom_box_tree *tree;
  const carom_aabb *boxes;
  int axis;
} maker;

static carom_vec3 center_of(const carom_aabb *box) { return cm_lerp(box->low, box->high, 0.5); }

static double along(const maker *m, int item) {
  carom_vec3 c = center_of(&m->boxes[item]);
  return m->axis == 0 ? c.x : m->axis == 1 ? c.y : c.z;
}

static bool comes_before(const maker *m, int a, int b) {
  double x = along(m, a), y = along(m, b);
  return x < y || (x == y && a < b);
}

// The items from `first` on in such an order that none of the first `half` comes after the others (Hoare's selection).
static void split(const maker *m, int *items, int count, int half) {
  int low = 0, high = count - 1;
  while (low < high) {
    int pivot = items[low + (high - low) / 2], i = low, j = high;
    while (i <= j) {
      while (comes_before(m, items[i], pivot)) i++;
      while (comes_before(m, pivot, items[j])) j--;
      if (i > j) break;
      int other = items[i];
      items[i++] = items[j], items[j--] = other;
    }
    if (half <= j)
      high = j;
    else if (half >= i)
      low = i;
    else
      return;
  }
}

static int longest_axis(const maker *m, const int *items, int count) {
  carom_vec3 first = center_of(&m->boxes[items[0]]);
  carom_aabb all = {first, first};
  for (int i = 1; i < count; i++) {
    carom_vec3 c = center_of(&m->boxes[items[i]]);
    carom_aabb point = {c, c};
    all = carom_box_union(&all, &point);
  }
  carom_vec3 d = cm_sub(all.high, all.low);
  return d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
}

// Halves the items until few are left; the depth is the logarithm of their number.
static void grow(maker *m, int first, int count) {
  carom_box_tree *t = m->tree;
  int number = t->node_count++;
  t->nodes[number] = (carom_box_node){.first = first, .count = count};
  if (count <= LEAF) return;
  m->axis = longest_axis(m, t->items + first, count);
  int half = count / 2;
  split(m, t->items + first, count, half);
  grow(m, first, half);
  t->nodes[number].right = t->node_count;
  grow(m, first + half, count - half);
}

bool carom_box_tree_init(carom_box_tree *tree, const carom_aabb *boxes, int count, const carom_allocator *allocator) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *tree = (carom_box_tree){.item_count = count, .allocator = a};
  if (!CAROM_NEW_ALL(&a, CAROM_ROOM(tree->nodes, 2 * (size_t)count), CAROM_ROOM(tree->items, count))) {
    carom_box_tree_release(tree);
    return false;
  }
  for (int i = 0; i < count; i++) tree->items[i] = i;
  grow(&(maker){tree, boxes, 0}, 0, count);
  carom_box_tree_fit(tree, boxes);
  return true;
}

void carom_box_tree_release(carom_box_tree *tree) {
  if (tree->allocator.release) CAROM_RELEASE_ALL(&tree->allocator, tree->nodes, tree->items);
  *tree = (carom_box_tree){0};
}

// ---- fitting --------------------------------------------------------------------------------------------------------

// Children come after their parents.
void carom_box_tree_fit(carom_box_tree *tree, const carom_aabb *boxes) {
  for (int i = tree->node_count - 1; i >= 0; i--) {
    carom_box_node *n = &tree->nodes[i];
    if (n->right > 0) {
      n->box = carom_box_union(&n[1].box, &tree->nodes[n->right].box);
      continue;
    }
    n->box = boxes[tree->items[n->first]];
    for (int k = 1; k < n->count; k++) n->box = carom_box_union(&n->box, &boxes[tree->items[n->first + k]]);
  }
}

// ---- searching ------------------------------------------------------------------------------------------------------

typedef struct search {
  const carom_box_tree *a, *b;
  const carom_aabb *boxes_a, *boxes_b;
  carom_box_pair_look *look;
  void *context;
} search;

static bool show(const search *s, int item_a, int item_b) {
  if (s->a == s->b && item_a >= item_b) return true;
  return !carom_box_overlap(&s->boxes_a[item_a], &s->boxes_b[item_b]) || s->look(s->context, item_a, item_b);
}

static bool show_leaves(const search *s, const carom_box_node *p, const carom_box_node *q) {
  for (int i = 0; i < p->count; i++)
    for (int j = 0; j < q->count; j++)
      if (!show(s, s->a->items[p->first + i], s->b->items[q->first + j])) return false;
  return true;
}

bool carom_box_tree_pairs(const carom_box_tree *a, const carom_aabb *boxes_a, const carom_box_tree *b,
                          const carom_aabb *boxes_b, carom_box_pair_look *look, void *context) {
  const search s = {a, b, boxes_a, boxes_b, look, context};
  int stack[STACK][2] = {{0, 0}}, waiting = 1;
  while (waiting > 0) {
    int i = stack[--waiting][0], j = stack[waiting][1];
    const carom_box_node *p = &a->nodes[i], *q = &b->nodes[j];
    if (!carom_box_overlap(&p->box, &q->box)) continue;
    if (p->right == 0 && q->right == 0) {
      if (!show_leaves(&s, p, q)) return false;
      continue;
    }
    bool first = q->right == 0 || (p->right > 0 && p->count >= q->count);
    int children[2] = {first ? i + 1 : j + 1, first ? p->right : q->right};
    for (int k = 1; k >= 0; k--) {
      stack[waiting][0] = first ? children[k] : i;
      stack[waiting++][1] = first ? j : children[k];
    }
  }
  return true;
}

bool carom_box_tree_query(const carom_box_tree *tree, const carom_aabb *boxes, const carom_aabb *box,
                          carom_box_item_look *look, void *context) {
  int stack[STACK] = {0}, waiting = 1;
  while (waiting > 0) {
    int i = stack[--waiting];
    const carom_box_node *n = &tree->nodes[i];
    if (!carom_box_overlap(&n->box, box)) continue;
    if (n->right > 0) {
      stack[waiting++] = n->right;
      stack[waiting++] = i + 1;
      continue;
    }
    for (int k = 0; k < n->count; k++) {
      int item = tree->items[n->first + k];
      if (carom_box_overlap(&boxes[item], box) && !look(context, item)) return false;
    }
  }
  return true;
}
