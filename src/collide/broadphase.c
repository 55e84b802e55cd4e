// Pairs are found incrementally: only proxies whose fat box changed are looked up. Two facts make this simple. After
// an update the pairs are exactly the overlaps of the fat boxes seen then (less those filtered out), so a pair is new
// if and only if the seen boxes did not overlap. And nothing is written before all memory is there, so an update
// that ran out of it can be repeated.
#include "collide/broadphase.h"

#include <math.h>
#include <string.h>

#include "collide/broadphase_box.h"
#include "collide/broadphase_memory.h"
#include "collide/broadphase_sort.h"

// Margin over the longest side when none is given.
#define RELATIVE_MARGIN 0.05
// Boxes that reach further are kept out of tree and grid: they are infinite, or their surface would overflow.
#define FURTHEST 1e100

carom_broadphase_options carom_broadphase_default_options(void) {
  carom_broadphase_options options = {.margin = 0, .uniform_grid = false};
  return options;
}

carom_proxy_def carom_proxy_default(void) {
  carom_proxy_def def = {.body = -1, .group = 1, .mask = UINT32_MAX};
  return def;
}

// ---- creation ------------------------------------------------------------------------------------------------------

carom_status carom_broadphase_create(const carom_broadphase_options *options, const carom_allocator *allocator,
                                     carom_broadphase **broadphase, carom_error *error) {
  *broadphase = NULL;
  carom_broadphase_options o = options ? *options : carom_broadphase_default_options();
  if (!(o.margin >= 0 && o.margin <= FURTHEST))
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "broad phase: the margin is %g; give a length >= 0 (0: 5 percent of each box)", o.margin);
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_broadphase *b = CAROM_NEW(&a, carom_broadphase, 1);
  if (!b) return carom_fail(error, CAROM_ERR_MEMORY, "broad phase: out of memory");
  b->allocator = a;
  b->options = o;
  b->free_number = b->misused = -1;
  b->grid_stale = true;
  carom_tree_init(&b->tree);
  carom_grid_init(&b->grid);
  *broadphase = b;
  return CAROM_OK;
}

void carom_broadphase_destroy(carom_broadphase *broadphase) {
  if (!broadphase) return;
  carom_allocator a = broadphase->allocator;
  carom_tree_release(&broadphase->tree, &a);
  carom_grid_release(&broadphase->grid, &a);
  carom_pairs_release(&broadphase->pairs, &a);
  carom_exclusions_release(&broadphase->excluded, &a);
  CAROM_RELEASE_ALL(&a, broadphase->proxies, broadphase->fat, broadphase->seen, broadphase->flags, broadphase->touched,
                    broadphase->keys, broadphase->scratch, broadphase->hits, broadphase->apart, broadphase);
}

static bool reserve(carom_broadphase *b) {
  if (b->free_number >= 0 || b->used < b->capacity) return true;
  if (b->capacity > INT32_MAX / 4) return false;
  int larger = b->capacity ? 2 * b->capacity : 16;
  const carom_allocator *a = &b->allocator;
  bool indexed = b->options.uniform_grid ? carom_grid_reserve(&b->grid, a, larger, &b->grid_stale)
                                         : carom_tree_reserve(&b->tree, a, larger);
  if (!indexed || !CAROM_RESIZE(a, b->proxies, larger) || !CAROM_RESIZE(a, b->flags, larger) ||
      !CAROM_RESIZE(a, b->fat, larger) || !CAROM_RESIZE(a, b->seen, larger) || !CAROM_RESIZE(a, b->touched, larger) ||
      !CAROM_RESIZE(a, b->hits, larger) || !CAROM_RESIZE(a, b->apart, larger) || !CAROM_RESIZE(a, b->keys, larger) ||
      !CAROM_RESIZE(a, b->scratch, larger))
    return false;
  b->capacity = larger;
  return true;
}

// ---- boxes ---------------------------------------------------------------------------------------------------------

static bool box_is_vast(const carom_aabb *box) {
  carom_aabb world = {{-FURTHEST, -FURTHEST, -FURTHEST}, {FURTHEST, FURTHEST, FURTHEST}};
  return !carom_box_contains(&world, box);
}

static double longest_finite_side(const carom_aabb *box) {
  carom_vec3 d = cm_sub(box->high, box->low);
  double x = isfinite(d.x) ? d.x : 0, y = isfinite(d.y) ? d.y : 0, z = isfinite(d.z) ? d.z : 0;
  return carom_higher(x, carom_higher(y, z));
}

static carom_aabb fatten(const carom_broadphase *b, const carom_aabb *box) {
  double m = b->options.margin > 0 ? b->options.margin : RELATIVE_MARGIN * longest_finite_side(box);
  carom_vec3 by = cm_vec3(m, m, m);
  carom_aabb fat = {cm_sub(box->low, by), cm_add(box->high, by)};
  return fat;
}

// ---- proxies -------------------------------------------------------------------------------------------------------

static void touch(carom_broadphase *b, int proxy) {
  if (b->flags[proxy] & CAROM_PROXY_TOUCHED) return;
  b->flags[proxy] |= CAROM_PROXY_TOUCHED;
  b->touched[b->touched_count++] = proxy;
}

// Functions without a status leave a note; the first one counts.
static void note_misuse(carom_broadphase *b, carom_status status, int proxy) {
  if (b->misuse != CAROM_OK) return;
  b->misuse = status;
  b->misused = proxy;
}

static bool is_alive(const carom_broadphase *b, int proxy) {
  return proxy >= 0 && proxy < b->used && b->flags[proxy] & CAROM_PROXY_ALIVE;
}

static int take_number(carom_broadphase *b) {
  int proxy = b->free_number;
  if (proxy < 0) {
    proxy = b->used++;
    b->flags[proxy] = 0;
  } else {
    b->free_number = b->proxies[proxy].next_free;
  }
  return proxy;
}

carom_status carom_broadphase_add(carom_broadphase *broadphase, const carom_proxy_def *def, int *proxy,
                                  carom_error *error) {
  carom_broadphase *b = broadphase;
  if (!carom_box_is_sound(&def->box))
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "broad phase: the box of a proxy of body %d, (%g, %g, %g) to (%g, %g, %g), is not a number or is "
                      "turned inside out; check the pose of the body",
                      def->body, def->box.low.x, def->box.low.y, def->box.low.z, def->box.high.x, def->box.high.y,
                      def->box.high.z);
  if (def->body < -1)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "broad phase: there is no body %d; give -1 for none", def->body);
  if (!reserve(b)) return carom_fail(error, CAROM_ERR_MEMORY, "broad phase: out of memory for another proxy");
  int number = take_number(b);
  carom_proxy made = {.body = def->body, .group = def->group, .mask = def->mask, .apart = -1, .next_free = -1};
  b->proxies[number] = made;
  b->fat[number] = fatten(b, &def->box);
  touch(b, number);
  b->flags[number] = CAROM_PROXY_ALIVE | CAROM_PROXY_FRESH | CAROM_PROXY_TOUCHED;
  if (def->fixed) b->flags[number] |= CAROM_PROXY_FIXED;
  b->grid_changes++;
  *proxy = number;
  return CAROM_OK;
}

void carom_broadphase_move(carom_broadphase *broadphase, int proxy, carom_aabb box) {
  carom_broadphase *b = broadphase;
  if (!is_alive(b, proxy)) {
    note_misuse(b, CAROM_ERR_ARGUMENT, proxy);
  } else if (!carom_box_is_sound(&box)) {
    note_misuse(b, CAROM_ERR_NUMBER, proxy);
  } else if (!carom_box_contains(&b->fat[proxy], &box)) {
    b->fat[proxy] = fatten(b, &box);
    touch(b, proxy);
  }
}

carom_status carom_broadphase_exclude(carom_broadphase *broadphase, int body_a, int body_b, carom_error *error) {
  if (body_a < 0 || body_b < 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "broad phase: bodies %d and %d cannot be excluded; give numbers >= 0",
                      body_a, body_b);
  if (!carom_exclusions_add(&broadphase->excluded, &broadphase->allocator, body_a, body_b))
    return carom_fail(error, CAROM_ERR_MEMORY, "broad phase: no memory to exclude bodies %d and %d", body_a, body_b);
  broadphase->refilter = true;
  return CAROM_OK;
}

// ---- where proxies are kept ----------------------------------------------------------------------------------------

static void leave_place(carom_broadphase *b, int proxy) {
  if (b->flags[proxy] & CAROM_PROXY_INDEXED) {
    if (b->options.uniform_grid)
      carom_grid_remove(&b->grid, proxy);
    else
      carom_tree_remove(&b->tree, proxy);
  } else if (b->flags[proxy] & CAROM_PROXY_APART) {
    int at = b->proxies[proxy].apart, last = b->apart[--b->apart_count];
    b->apart[at] = last;
    b->proxies[last].apart = at;
  }
  b->flags[proxy] &= (uint8_t) ~(CAROM_PROXY_INDEXED | CAROM_PROXY_APART);
}

static void take_place(carom_broadphase *b, int proxy) {
  const carom_aabb *box = &b->fat[proxy];
  if (box_is_vast(box) || (b->options.uniform_grid && !carom_grid_fits(&b->grid, box))) {
    b->flags[proxy] |= CAROM_PROXY_APART;
    b->proxies[proxy].apart = b->apart_count;
    b->apart[b->apart_count++] = proxy;
    return;
  }
  b->flags[proxy] |= CAROM_PROXY_INDEXED;
  if (b->options.uniform_grid)
    carom_grid_insert(&b->grid, proxy, box);
  else
    carom_tree_insert(&b->tree, proxy, box);
}

static void fill_grid(carom_broadphase *b) {
  carom_sides sides;
  memset(&sides, 0, sizeof sides);
  for (int i = 0; i < b->used; i++)
    if (b->flags[i] & CAROM_PROXY_ALIVE && !box_is_vast(&b->fat[i]))
      carom_sides_add(&sides, carom_box_largest_side(&b->fat[i]));
  carom_grid_clear(&b->grid, &sides);
  b->apart_count = 0;
  for (int i = 0; i < b->used; i++) {
    b->flags[i] &= (uint8_t) ~(CAROM_PROXY_INDEXED | CAROM_PROXY_APART);
    if (b->flags[i] & CAROM_PROXY_ALIVE) take_place(b, i);
  }
  b->grid_stale = false;
  b->grid_changes = 0;
  b->grid_patience = sides.count + 16;
  b->grid_apart = 2 * b->apart_count + 8;
}

// Along a curve through space, so that one look-up finds the memory warm from the last, and tree nodes that are near
// in space lie near in memory. What is found does not depend on the order.
static void sort_touched(carom_broadphase *b) {
  carom_aabb world = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (int i = 0; i < b->touched_count; i++) {
    const carom_aabb *box = &b->fat[b->touched[i]];
    if (!box_is_vast(box)) world = carom_box_union(&world, box);
  }
  for (int i = 0; i < b->touched_count; i++) {
    int proxy = b->touched[i];
    const carom_aabb *box = &b->fat[proxy];
    uint64_t place = box_is_vast(box) ? 0 : carom_curve_place(&world, box->low);
    b->keys[i] = place << 32 | (uint32_t)proxy;
  }
  carom_sort_keys(&b->keys, &b->scratch, b->touched_count);
  for (int i = 0; i < b->touched_count; i++) b->touched[i] = (int)(b->keys[i] & 0xFFFFFFFFu);
}

static void place_touched(carom_broadphase *b) {
  // The cells suit the proxies that were there when they were chosen; by now most may be others.
  if (b->options.uniform_grid && (b->grid_stale || b->grid_changes > b->grid_patience)) {
    fill_grid(b);
    return;
  }
  for (int i = 0; i < b->touched_count; i++) {
    int proxy = b->touched[i];
    if (!(b->flags[proxy] & CAROM_PROXY_ALIVE)) continue;
    leave_place(b, proxy);
    take_place(b, proxy);
  }
  if (!b->options.uniform_grid) carom_tree_tidy(&b->tree);
  if (b->options.uniform_grid && b->apart_count > b->grid_apart) fill_grid(b);
}

void carom_broadphase_remove(carom_broadphase *broadphase, int proxy) {
  carom_broadphase *b = broadphase;
  if (!is_alive(b, proxy)) {
    note_misuse(b, CAROM_ERR_ARGUMENT, proxy);
    return;
  }
  // A stale grid has no order left to remove from; filling it forgets the dead.
  if (!(b->options.uniform_grid && b->grid_stale)) leave_place(b, proxy);
  touch(b, proxy);
  b->flags[proxy] &= CAROM_PROXY_TOUCHED;
  b->proxies[proxy].next_free = b->free_number;
  b->free_number = proxy;
}

// ---- pairs ---------------------------------------------------------------------------------------------------------

static bool may_meet(const carom_broadphase *b, int i, int j) {
  const carom_proxy *p = &b->proxies[i], *q = &b->proxies[j];
  if (b->flags[i] & b->flags[j] & CAROM_PROXY_FIXED) return false;
  if (!(p->group & q->mask) || !(q->group & p->mask)) return false;
  if (p->body < 0 || q->body < 0) return true;
  return p->body != q->body && !carom_exclusions_have(&b->excluded, p->body, q->body);
}

// All that overlap the fat box of a proxy, itself among them.
static int find_hits(carom_broadphase *b, int proxy) {
  const carom_aabb *box = &b->fat[proxy];
  int count = 0;
  if (b->flags[proxy] & CAROM_PROXY_APART) {
    for (int i = 0; i < b->used; i++)
      if (b->flags[i] & CAROM_PROXY_ALIVE && carom_box_overlap(&b->fat[i], box)) b->hits[count++] = i;
    return count;
  }
  count = b->options.uniform_grid ? carom_grid_query(&b->grid, box, b->hits) : carom_tree_query(&b->tree, box, b->hits);
  for (int i = 0; i < b->apart_count; i++)
    if (carom_box_overlap(&b->fat[b->apart[i]], box)) b->hits[count++] = b->apart[i];
  return count;
}

static bool is_pair_already(const carom_broadphase *b, int i, int j) {
  return !((b->flags[i] | b->flags[j]) & CAROM_PROXY_FRESH) && carom_box_overlap(&b->seen[i], &b->seen[j]);
}

static bool find_new_pairs(carom_broadphase *b, int proxy) {
  int count = find_hits(b, proxy);
  for (int k = 0; k < count; k++) {
    int other = b->hits[k];
    // Of two touched proxies the lower one reports the pair.
    if (other == proxy || (other < proxy && b->flags[other] & CAROM_PROXY_TOUCHED)) continue;
    if (is_pair_already(b, proxy, other) || !may_meet(b, proxy, other)) continue;
    if (!carom_pairs_add(&b->pairs, &b->allocator, proxy, other)) return false;
  }
  return true;
}

static bool pair_holds(const carom_broadphase *b, const carom_pair *pair) {
  uint8_t fa = b->flags[pair->a], fb = b->flags[pair->b];
  if (!(fa & fb & CAROM_PROXY_ALIVE) || (fa | fb) & CAROM_PROXY_FRESH) return false;
  if ((fa | fb) & CAROM_PROXY_TOUCHED && !carom_box_overlap(&b->fat[pair->a], &b->fat[pair->b])) return false;
  return !b->refilter || may_meet(b, pair->a, pair->b);
}

// Room for the pairs that stay and the new ones, counted exactly only when in doubt.
static bool reserve_pairs(carom_broadphase *b) {
  carom_pairs *pairs = &b->pairs;
  if (pairs->fresh_count <= pairs->capacity - pairs->count) return true;
  int64_t needed = pairs->fresh_count;
  for (int i = 0; i < pairs->count; i++) needed += pair_holds(b, &pairs->list[i]);
  return needed <= INT32_MAX && carom_pairs_reserve(pairs, &b->allocator, (int)needed);
}

static void drop_pairs(carom_broadphase *b) {
  int kept = 0;
  for (int i = 0; i < b->pairs.count; i++)
    if (pair_holds(b, &b->pairs.list[i])) b->pairs.list[kept++] = b->pairs.list[i];
  b->pairs.count = kept;
}

static void settle(carom_broadphase *b) {
  for (int i = 0; i < b->touched_count; i++) {
    int proxy = b->touched[i];
    b->seen[proxy] = b->fat[proxy];
    b->flags[proxy] &= (uint8_t) ~(CAROM_PROXY_FRESH | CAROM_PROXY_TOUCHED);
  }
  b->touched_count = 0;
  b->refilter = false;
}

static carom_status tell_misuse(carom_broadphase *b, carom_error *error) {
  carom_status status = b->misuse;
  b->misuse = CAROM_OK;
  if (status == CAROM_ERR_NUMBER)
    return carom_fail(error, status,
                      "broad phase: proxy %d was moved to a box that is not a number or is turned inside out; it keeps "
                      "its old box. Check the pose of its body",
                      b->misused);
  if (status != CAROM_OK)
    return carom_fail(error, status, "broad phase: there is no proxy %d to move or remove; was it removed before?",
                      b->misused);
  return CAROM_OK;
}

static bool refresh_pairs(carom_broadphase *b) {
  sort_touched(b);
  place_touched(b);
  b->pairs.fresh_count = 0;
  for (int i = 0; i < b->touched_count; i++)
    if (b->flags[b->touched[i]] & CAROM_PROXY_ALIVE && !find_new_pairs(b, b->touched[i])) return false;
  if (!reserve_pairs(b)) return false;
  drop_pairs(b);
  carom_pairs_merge(&b->pairs);
  settle(b);
  return true;
}

carom_status carom_broadphase_update(carom_broadphase *broadphase, const carom_pair **pairs, int *count,
                                     carom_error *error) {
  carom_broadphase *b = broadphase;
  carom_status status = tell_misuse(b, error);
  if (status != CAROM_OK) return status;
  if ((b->touched_count > 0 || b->refilter) && !refresh_pairs(b))
    return carom_fail(error, CAROM_ERR_MEMORY, "broad phase: out of memory for the pairs of %d proxies", b->used);
  *pairs = b->pairs.list;
  *count = b->pairs.count;
  return CAROM_OK;
}
