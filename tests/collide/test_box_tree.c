// The tree of boxes that move, against brute force.
#include <limits.h>

#include "carom/base.h"
#include "collide/box_tree.h"
#include "failing_allocator.h"
#include "test.h"

// ---- clouds of boxes ------------------------------------------------------------------------------------------------

typedef enum cloud_kind { SPREAD, FLAT, NESTED, COINCIDENT, LINE, TOUCHING, KINDS } cloud_kind;

typedef struct cloud {
  int count;
  carom_aabb *boxes;
} cloud;

static carom_vec3 anywhere(carom_random *r, double size) {
  double x = carom_random_between(r, -size, size), y = carom_random_between(r, -size, size);
  return cm_vec3(x, y, carom_random_between(r, -size, size));
}

static carom_aabb box_around(carom_vec3 x, carom_vec3 half) { return (carom_aabb){cm_sub(x, half), cm_add(x, half)}; }

// About as many neighbours each, however many there are.
static carom_aabb make_box(carom_random *r, cloud_kind kind, int i, double side) {
  carom_vec3 half =
      cm_vec3(side * carom_random_uniform(r), side * carom_random_uniform(r), side * carom_random_uniform(r));
  carom_vec3 x = anywhere(r, 1);
  switch (kind) {
    case FLAT:
      return box_around(cm_vec3(x.x, x.y, 0), cm_vec3(half.x, half.y, 0));
    case NESTED:
      return box_around(cm_vec3(0, 0, 0), cm_vec3(1 + i, 1 + i, 1 + i));
    case COINCIDENT:
      return box_around(cm_vec3(0, 0, 0), cm_vec3(1, 1, 1));
    case LINE:
      return box_around(cm_vec3(x.x, 0, 0), cm_vec3(0.1 * half.x, 0, 0));
    case TOUCHING:
      return (carom_aabb){cm_vec3(i, 0, 0), cm_vec3(i + 1, 1, 1)};
    default:
      return box_around(x, half);
  }
}

static cloud make_cloud(carom_random *r, cloud_kind kind, int count) {
  cloud c = {count, calloc((size_t)count, sizeof(carom_aabb))};
  for (int i = 0; i < count; i++) c.boxes[i] = make_box(r, kind, i, 1 / cbrt(count));
  return c;
}

static void move_cloud(carom_random *r, cloud *c) {
  for (int i = 0; i < c->count; i++) {
    carom_vec3 d = anywhere(r, 0.5);
    c->boxes[i] = (carom_aabb){cm_add(c->boxes[i].low, d), cm_add(c->boxes[i].high, d)};
  }
}

static carom_box_tree tree_of(const cloud *c) {
  carom_box_tree tree;
  if (!carom_box_tree_init(&tree, c->boxes, c->count, NULL)) test_skip("no memory");
  return tree;
}

// ---- the judge ------------------------------------------------------------------------------------------------------

static bool overlap(const carom_aabb *a, const carom_aabb *b) {
  const double *p = &a->low.x, *q = &a->high.x, *s = &b->low.x, *t = &b->high.x;
  for (int k = 0; k < 3; k++)
    if (q[k] < s[k] || t[k] < p[k]) return false;
  return true;
}

typedef struct found {
  int count, most;
  int *a, *b;
  unsigned char *seen;  // (count of a x count of b)
  int stride;
  int stop_after;
} found;

static found found_make(int a, int b) {
  size_t most = (size_t)a * (size_t)b;
  return (found){.most = (int)most,
                 .a = calloc(most, sizeof(int)),
                 .b = calloc(most, sizeof(int)),
                 .seen = calloc(most, 1),
                 .stride = b,
                 .stop_after = INT_MAX};
}

static void found_free(found *f) { free(f->a), free(f->b), free(f->seen); }

static bool note_pair(void *context, int a, int b) {
  found *f = context;
  unsigned char *seen = &f->seen[(size_t)a * (size_t)f->stride + (size_t)b];
  if (*seen || f->count == f->most) {
    test_fail(__FILE__, __LINE__, "%d and %d come twice", a, b);
    return false;
  }
  *seen = 1;
  f->a[f->count] = a, f->b[f->count++] = b;
  return f->count < f->stop_after;
}

static void check_pairs(const carom_box_tree *s, const cloud *a, const carom_box_tree *t, const cloud *b) {
  found f = found_make(a->count, b->count);
  bool own = s == t;
  int expected = 0, missing = 0;
  CHECK(carom_box_tree_pairs(s, a->boxes, t, b->boxes, note_pair, &f));
  for (int i = 0; i < a->count; i++)
    for (int j = own ? i + 1 : 0; j < b->count; j++) {
      if (!overlap(&a->boxes[i], &b->boxes[j])) continue;
      expected++;
      missing += !f.seen[(size_t)i * (size_t)f.stride + (size_t)j];
    }
  if (missing > 0 || f.count != expected)
    test_fail(__FILE__, __LINE__, "%d and %d boxes: %d pairs found, %d of %d missing", a->count, b->count, f.count,
              missing, expected);
  found_free(&f);
}

// ---- cases ----------------------------------------------------------------------------------------------------------

static const int COUNTS[] = {1, 2, 3, 4, 5, 6, 7, 9, 17, 64, 65, 300, 2000};
enum { COUNTED = sizeof COUNTS / sizeof *COUNTS };

TEST(pairs_of_two_trees) {
  carom_random r = carom_random_make(1, 0);
  for (int kind = 0; kind < KINDS; kind++)
    for (int k = 0; k < COUNTED; k++) {
      if ((kind == NESTED || kind == COINCIDENT) && COUNTS[k] > 300) continue;
      cloud a = make_cloud(&r, (cloud_kind)kind, COUNTS[k]), b = make_cloud(&r, SPREAD, COUNTS[(5 * k + 3) % COUNTED]);
      carom_box_tree s = tree_of(&a), t = tree_of(&b);
      check_pairs(&s, &a, &t, &b);
      check_pairs(&t, &b, &s, &a);
      carom_box_tree_release(&s), carom_box_tree_release(&t);
      free(a.boxes), free(b.boxes);
    }
}

TEST(pairs_of_a_tree_with_itself) {
  carom_random r = carom_random_make(2, 0);
  for (int kind = 0; kind < KINDS; kind++)
    for (int k = 0; k < COUNTED; k++) {
      cloud a = make_cloud(&r, (cloud_kind)kind, COUNTS[k]);
      carom_box_tree s = tree_of(&a);
      check_pairs(&s, &a, &s, &a);
      carom_box_tree_release(&s);
      free(a.boxes);
    }
}

TEST(fitted_again_after_motion) {
  carom_random r = carom_random_make(3, 0);
  for (int k = 0; k < COUNTED; k++) {
    cloud a = make_cloud(&r, SPREAD, COUNTS[k]), b = make_cloud(&r, FLAT, 200);
    carom_box_tree s = tree_of(&a), t = tree_of(&b);
    for (int step = 0; step < 4; step++) {
      move_cloud(&r, &a), move_cloud(&r, &b);
      carom_box_tree_fit(&s, a.boxes), carom_box_tree_fit(&t, b.boxes);
      check_pairs(&s, &a, &t, &b);
      check_pairs(&s, &a, &s, &a);
    }
    carom_box_tree_release(&s), carom_box_tree_release(&t);
    free(a.boxes), free(b.boxes);
  }
}

typedef struct answers {
  int count, stop_after;
  unsigned char *seen;
} answers;

static bool note_item(void *context, int item) {
  answers *q = context;
  if (q->seen[item]) test_fail(__FILE__, __LINE__, "item %d comes twice", item);
  q->seen[item] = 1;
  return ++q->count < q->stop_after;
}

TEST(queries) {
  carom_random r = carom_random_make(4, 0);
  for (int kind = 0; kind < KINDS; kind++)
    for (int k = 0; k < COUNTED; k++) {
      cloud a = make_cloud(&r, (cloud_kind)kind, COUNTS[k]);
      carom_box_tree s = tree_of(&a);
      for (int i = 0; i < 40; i++) {
        answers q = {.stop_after = INT_MAX, .seen = calloc((size_t)a.count, 1)};
        carom_aabb box = make_box(&r, SPREAD, i, 0.3);
        CHECK(carom_box_tree_query(&s, a.boxes, &box, note_item, &q));
        for (int j = 0; j < a.count; j++) CHECK(q.seen[j] == overlap(&a.boxes[j], &box));
        free(q.seen);
      }
      carom_box_tree_release(&s);
      free(a.boxes);
    }
}

// Where all boxes lie on each other all pairs are found, and that is the order in which some of them are found later.
TEST(order_does_not_depend_on_where_boxes_are) {
  carom_random r = carom_random_make(5, 0);
  enum { COUNT = 150 };
  cloud a = make_cloud(&r, SPREAD, COUNT), all = make_cloud(&r, COINCIDENT, COUNT);
  carom_box_tree s = tree_of(&a);
  found order = found_make(COUNT, COUNT);
  int *rank = calloc((size_t)COUNT * COUNT, sizeof *rank);
  carom_box_tree_fit(&s, all.boxes);
  CHECK(carom_box_tree_pairs(&s, all.boxes, &s, all.boxes, note_pair, &order));
  REQUIRE(order.count == COUNT * (COUNT - 1) / 2);
  for (int i = 0; i < order.count; i++) rank[order.a[i] * COUNT + order.b[i]] = i;
  for (int step = 0; step < 20; step++) {
    found f = found_make(COUNT, COUNT);
    move_cloud(&r, &a);
    carom_box_tree_fit(&s, a.boxes);
    CHECK(carom_box_tree_pairs(&s, a.boxes, &s, a.boxes, note_pair, &f));
    CHECK(f.count > 0);
    for (int i = 0; i + 1 < f.count; i++) CHECK(rank[f.a[i] * COUNT + f.b[i]] < rank[f.a[i + 1] * COUNT + f.b[i + 1]]);
    found_free(&f);
  }
  found_free(&order);
  carom_box_tree_release(&s);
  free(rank), free(a.boxes), free(all.boxes);
}

TEST(a_look_ends_the_search) {
  carom_random r = carom_random_make(6, 0);
  cloud a = make_cloud(&r, COINCIDENT, 50);
  carom_box_tree s = tree_of(&a);
  for (int most = 1; most < 100; most += 7) {
    found f = found_make(a.count, a.count);
    answers q = {.stop_after = most < 40 ? most : 40, .seen = calloc((size_t)a.count, 1)};
    f.stop_after = most;
    CHECK(!carom_box_tree_pairs(&s, a.boxes, &s, a.boxes, note_pair, &f) && f.count == most);
    CHECK(!carom_box_tree_query(&s, a.boxes, &a.boxes[0], note_item, &q) && q.count == q.stop_after);
    found_free(&f), free(q.seen);
  }
  carom_box_tree_release(&s);
  free(a.boxes);
}

// Its box is theirs, and halves are halves: searches are as short as they can be.
TEST(a_node_holds_its_items_and_no_more) {
  carom_random r = carom_random_make(7, 0);
  cloud a = make_cloud(&r, SPREAD, 1000);
  carom_box_tree s = tree_of(&a);
  int times[1000] = {0};
  for (int i = 0; i < s.node_count; i++) {
    const carom_box_node *n = &s.nodes[i];
    carom_aabb box = a.boxes[s.items[n->first]];
    for (int k = n->first; k < n->first + n->count; k++) {
      const carom_aabb *b = &a.boxes[s.items[k]];
      box.low = cm_vec3(fmin(box.low.x, b->low.x), fmin(box.low.y, b->low.y), fmin(box.low.z, b->low.z));
      box.high = cm_vec3(fmax(box.high.x, b->high.x), fmax(box.high.y, b->high.y), fmax(box.high.z, b->high.z));
      times[s.items[k]] += n->right == 0;
    }
    CHECK(memcmp(&box, &n->box, sizeof box) == 0);
    if (n->right > 0) CHECK(n[1].count + s.nodes[n->right].count == n->count && abs(n[1].count - n->count / 2) <= 1);
  }
  for (int i = 0; i < 1000; i++) CHECK(times[i] == 1);
  carom_box_tree_release(&s);
  free(a.boxes);
}

TEST(out_of_memory) {
  carom_random r = carom_random_make(8, 0);
  cloud a = make_cloud(&r, SPREAD, 100);
  carom_box_tree s;
  int left = 0;
  for (;; left++) {
    failing_allocator f = {.allowed = left};
    carom_allocator allocator = failing_allocator_of(&f);
    bool made = carom_box_tree_init(&s, a.boxes, a.count, &allocator);
    if (made) carom_box_tree_release(&s);
    CHECK(f.live == 0);
    if (made) break;
  }
  CHECK(left > 0);
  carom_box_tree_release(&(carom_box_tree){0});
  free(a.boxes);
}
