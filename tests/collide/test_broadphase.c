// The broad phase against brute force. The judge below keeps its own fat boxes, its own filters and its own record of
// who met whom, and finds overlaps by trying all pairs or by sort and sweep.
#include "broadphase_sound.h"
#include "carom/collide.h"
#include "collide/broadphase.h"
#include "failing_allocator.h"
#include "test.h"

// ---- the judge -----------------------------------------------------------------------------------------------------

enum { TREE, GRID, KINDS };
enum { BODIES = 40 };

typedef struct twin {
  bool alive, fixed;
  int body, birth;
  uint32_t group, mask;
  carom_aabb fat;
} twin;

typedef struct meeting {
  int a, b, birth_a, birth_b;
  int64_t id;
} meeting;

typedef struct judge {
  double margin;
  twin *twins;
  int capacity, births;
  bool excluded[BODIES][BODIES];
  meeting *known;  // of the last update, sorted
  int known_count;
  int64_t ids;  // handed out so far
  int *active, *order;
  meeting *found;
  int found_count, found_capacity;
} judge;

static void *need(void *block) {
  if (!block) exit(1);
  return block;
}

static judge new_judge(double margin, int capacity) {
  judge j = {.margin = margin, .capacity = capacity};
  j.twins = need(calloc((size_t)capacity, sizeof *j.twins));
  j.active = need(calloc((size_t)capacity, sizeof *j.active));
  j.order = need(calloc((size_t)capacity, sizeof *j.order));
  return j;
}

static void free_judge(judge *j) { free(j->twins), free(j->active), free(j->order), free(j->known), free(j->found); }

static double component(carom_vec3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

static carom_aabb judge_fatten(const judge *j, carom_aabb box) {
  double m = j->margin, side = 0;
  for (int k = 0; k < 3; k++) {
    double d = component(box.high, k) - component(box.low, k);
    if (isfinite(d) && d > side) side = d;
  }
  if (m == 0) m = 0.05 * side;
  carom_aabb fat = {{box.low.x - m, box.low.y - m, box.low.z - m}, {box.high.x + m, box.high.y + m, box.high.z + m}};
  return fat;
}

static void judge_add(judge *j, int proxy, const carom_proxy_def *def) {
  twin made = {true, def->fixed, def->body, j->births++, def->group, def->mask, judge_fatten(j, def->box)};
  j->twins[proxy] = made;
}

static void judge_move(judge *j, int proxy, carom_aabb box) {
  carom_aabb *fat = &j->twins[proxy].fat;
  bool inside = true;
  for (int k = 0; k < 3; k++) {
    if (component(box.low, k) < component(fat->low, k)) inside = false;
    if (component(box.high, k) > component(fat->high, k)) inside = false;
  }
  if (!inside) *fat = judge_fatten(j, box);
}

static bool apart_along(const twin *a, const twin *b, int k) {
  return component(a->fat.high, k) < component(b->fat.low, k) || component(b->fat.high, k) < component(a->fat.low, k);
}

static bool meet(const judge *j, const twin *a, const twin *b) {
  if (!a->alive || !b->alive || (a->fixed && b->fixed)) return false;
  if (a->body >= 0 && a->body == b->body) return false;
  if ((a->group & b->mask) == 0 || (b->group & a->mask) == 0) return false;
  if (a->body >= 0 && b->body >= 0 && a->body < BODIES && b->body < BODIES && j->excluded[a->body][b->body])
    return false;
  return !apart_along(a, b, 0) && !apart_along(a, b, 1) && !apart_along(a, b, 2);
}

static void judge_found(judge *j, int a, int b) {
  if (j->found_count == j->found_capacity) {
    j->found_capacity = 2 * j->found_capacity + 100;
    j->found = need(realloc(j->found, (size_t)j->found_capacity * sizeof *j->found));
  }
  if (a > b) {
    int swap = a;
    a = b, b = swap;
  }
  meeting m = {a, b, j->twins[a].birth, j->twins[b].birth, -1};
  j->found[j->found_count++] = m;
}

static int by_numbers(const void *x, const void *y) {
  const meeting *p = x, *q = y;
  return p->a != q->a ? (p->a > q->a) - (p->a < q->a) : (p->b > q->b) - (p->b < q->b);
}

static void try_all(judge *j) {
  j->found_count = 0;
  for (int a = 0; a < j->capacity; a++)
    for (int b = a + 1; b < j->capacity; b++)
      if (meet(j, &j->twins[a], &j->twins[b])) judge_found(j, a, b);
}

static const twin *sorting;
static int by_low_x(const void *x, const void *y) {
  double a = sorting[*(const int *)x].fat.low.x, b = sorting[*(const int *)y].fat.low.x;
  return (a > b) - (a < b);
}

static void sort_and_sweep(judge *j) {
  int active = 0;
  for (int i = 0; i < j->capacity; i++) j->order[i] = i;
  sorting = j->twins;
  qsort(j->order, (size_t)j->capacity, sizeof *j->order, by_low_x);
  j->found_count = 0;
  for (int i = 0; i < j->capacity; i++) {
    int now = j->order[i], kept = 0;
    for (int k = 0; k < active; k++) {
      int then = j->active[k];
      if (j->twins[then].fat.high.x < j->twins[now].fat.low.x) continue;
      j->active[kept++] = then;
      if (meet(j, &j->twins[then], &j->twins[now])) judge_found(j, then, now);
    }
    active = kept;
    j->active[active++] = now;
  }
  if (j->found_count > 0) qsort(j->found, (size_t)j->found_count, sizeof *j->found, by_numbers);
}

// Ids: those that met before keep theirs, the others are numbered on in the order of (a, b).
static void number_found(judge *j) {
  int k = 0;
  for (int i = 0; i < j->found_count; i++) {
    meeting *m = &j->found[i];
    while (k < j->known_count && by_numbers(&j->known[k], m) < 0) k++;
    const meeting *old = k < j->known_count ? &j->known[k] : NULL;
    bool same = old && by_numbers(old, m) == 0 && old->birth_a == m->birth_a && old->birth_b == m->birth_b;
    m->id = same ? old->id : j->ids++;
  }
  j->known = need(realloc(j->known, (size_t)(j->found_count + 1) * sizeof *j->known));
  if (j->found_count > 0) memcpy(j->known, j->found, (size_t)j->found_count * sizeof *j->known);
  j->known_count = j->found_count;
}

static bool agree(const judge *j, const carom_pair *pairs, int count) {
  if (count != j->known_count) {
    test_fail(__FILE__, __LINE__, "%d pairs, expected %d", count, j->known_count);
    return false;
  }
  for (int i = 0; i < count; i++) {
    const meeting *m = &j->known[i];
    if (pairs[i].a == m->a && pairs[i].b == m->b && pairs[i].id == m->id) continue;
    test_fail(__FILE__, __LINE__, "pair %d is (%d, %d) id %lld, expected (%d, %d) id %lld", i, pairs[i].a, pairs[i].b,
              (long long)pairs[i].id, m->a, m->b, (long long)m->id);
    return false;
  }
  return true;
}

// ---- a tree and a grid that get the same calls --------------------------------------------------------------------

typedef struct rig {
  carom_broadphase *phase[KINDS];
  failing_allocator heap[KINDS];
  int most[KINDS];  // pairs ever
  judge judge;
} rig;

static carom_broadphase *new_phase(bool grid, double margin, failing_allocator *heap) {
  carom_broadphase_options o = carom_broadphase_default_options();
  o.margin = margin;
  o.uniform_grid = grid;
  carom_allocator a = heap ? failing_allocator_of(heap) : carom_allocator_default();
  carom_broadphase *b = NULL;
  if (carom_broadphase_create(&o, &a, &b, NULL) != CAROM_OK) exit(1);
  return b;
}

static rig *new_rig(double margin, int capacity) {
  rig *r = need(calloc(1, sizeof *r));
  r->judge = new_judge(margin, capacity);
  for (int k = 0; k < KINDS; k++) {
    r->heap[k].allowed = -1;
    r->phase[k] = new_phase(k == GRID, margin, &r->heap[k]);
  }
  return r;
}

static void free_rig(rig *r) {
  for (int k = 0; k < KINDS; k++) {
    carom_broadphase_destroy(r->phase[k]);
    CHECK(r->heap[k].live == 0);
  }
  free_judge(&r->judge);
  free(r);
}

static int rig_add(rig *r, const carom_proxy_def *def) {
  int proxy[KINDS] = {-1, -1};
  for (int k = 0; k < KINDS; k++) CHECK(carom_broadphase_add(r->phase[k], def, &proxy[k], NULL) == CAROM_OK);
  CHECK(proxy[TREE] == proxy[GRID]);
  CHECK(proxy[0] >= 0 && proxy[0] < r->judge.capacity && !r->judge.twins[proxy[0]].alive);
  judge_add(&r->judge, proxy[0], def);
  return proxy[0];
}

static void rig_move(rig *r, int proxy, carom_aabb box) {
  for (int k = 0; k < KINDS; k++) carom_broadphase_move(r->phase[k], proxy, box);
  judge_move(&r->judge, proxy, box);
}

static void rig_remove(rig *r, int proxy) {
  for (int k = 0; k < KINDS; k++) carom_broadphase_remove(r->phase[k], proxy);
  r->judge.twins[proxy].alive = false;
}

static void rig_exclude(rig *r, int a, int b) {
  for (int k = 0; k < KINDS; k++) CHECK(carom_broadphase_exclude(r->phase[k], a, b, NULL) == CAROM_OK);
  r->judge.excluded[a][b] = r->judge.excluded[b][a] = true;
}

// Also holds the header to its word: an update allocates only when there are more pairs than ever.
static bool rig_update(rig *r, bool sweep) {
  bool good = true;
  if (sweep)
    sort_and_sweep(&r->judge);
  else
    try_all(&r->judge);
  number_found(&r->judge);
  for (int k = 0; k < KINDS; k++) {
    const carom_pair *pairs = NULL;
    int count = -1, calls = r->heap[k].calls;
    CHECK(carom_broadphase_update(r->phase[k], &pairs, &count, NULL) == CAROM_OK);
    good = agree(&r->judge, pairs, count) && good;
    if (count <= r->most[k]) CHECK(r->heap[k].calls == calls);
    if (count > r->most[k]) r->most[k] = count;
    const char *fault = broadphase_fault(r->phase[k]);
    if (fault) test_fail(__FILE__, __LINE__, "%s: %s", k == GRID ? "grid" : "tree", fault);
    good = good && !fault;
  }
  return good;
}

static carom_aabb box_at(carom_vec3 center, carom_vec3 half) {
  carom_aabb box = {cm_sub(center, half), cm_add(center, half)};
  return box;
}

static carom_vec3 random_point(carom_random *r, double x, double y, double z) {
  double a = carom_random_between(r, 0, x), b = carom_random_between(r, 0, y);
  return cm_vec3(a, b, carom_random_between(r, 0, z));
}

// ---- random calls -------------------------------------------------------------------------------------------------

typedef struct population {
  carom_vec3 center[200], half[200];
  double size, spread;  // of boxes and of their sizes: half-sides lie in size e^(+-spread)
} population;

static carom_aabb random_box(population *p, int i, carom_random *r) {
  p->half[i].x = p->size * exp(carom_random_between(r, -p->spread, p->spread));
  p->half[i].y = p->size * exp(carom_random_between(r, -p->spread, p->spread));
  p->half[i].z = p->size * exp(carom_random_between(r, -p->spread, p->spread));
  carom_aabb box = box_at(p->center[i], p->half[i]);
  if (carom_random_below(r, 40) == 0) box.low.z = -INFINITY;  // a floor
  if (carom_random_below(r, 80) == 0) box.low.x = -INFINITY, box.high.x = INFINITY;
  return box;
}

static void random_add(rig *r, population *p, carom_random *random) {
  carom_vec3 center = random_point(random, 10, 10, 10);
  p->center[199] = center;
  carom_proxy_def def = carom_proxy_default();
  def.box = random_box(p, 199, random);
  def.body = (int)carom_random_below(random, BODIES + 1) - 1;
  def.group = 1u << carom_random_below(random, 4);
  def.mask = carom_random_below(random, 3) ? UINT32_MAX : carom_random_below(random, 16);
  def.fixed = carom_random_below(random, 5) == 0;
  int i = rig_add(r, &def);
  p->center[i] = center;
  p->half[i] = p->half[199];
}

static void random_move(rig *r, population *p, int i, carom_random *random) {
  bool jump = carom_random_below(random, 50) == 0;
  if (jump) {
    p->center[i] = random_point(random, 10, 10, 10);
    rig_move(r, i, random_box(p, i, random));
    return;
  }
  double far = carom_random_below(random, 4) ? 0.02 : 0.3;
  carom_vec3 d = random_point(random, 2 * far, 2 * far, 2 * far);
  p->center[i] = cm_add(p->center[i], cm_sub(d, cm_vec3(far, far, far)));
  rig_move(r, i, box_at(p->center[i], p->half[i]));
}

static void random_calls(double margin, double size, double spread, int updates, uint64_t seed) {
  enum { MOST = 150 };
  rig *r = new_rig(margin, MOST + 1);
  population *p = need(calloc(1, sizeof *p));
  p->size = size, p->spread = spread;
  carom_random random = carom_random_make(seed, 0);
  int alive = 0, goal = MOST / 2;
  for (int step = 0; step < updates && rig_update(r, false); step++) {
    if (carom_random_below(&random, 50) == 0) goal = (int)carom_random_below(&random, MOST);
    while (alive < goal && carom_random_below(&random, 3)) random_add(r, p, &random), alive++;
    for (int i = 0; i < MOST; i++) {
      if (!r->judge.twins[i].alive) continue;
      if (alive > goal && carom_random_below(&random, 20) == 0)
        rig_remove(r, i), alive--;
      else if (carom_random_below(&random, 3))
        random_move(r, p, i, &random);
    }
    if (carom_random_below(&random, 40) == 0)
      rig_exclude(r, (int)carom_random_below(&random, BODIES), (int)carom_random_below(&random, BODIES));
  }
  CHECK(r->judge.ids > 1000);  // or nothing was tested
  free(p);
  free_rig(r);
}

TEST(random_calls_equal_boxes) { random_calls(0, 0.6, 0, 3000, 1); }
TEST(random_calls_mixed_boxes) { random_calls(0, 0.3, 1.5, 3000, 2); }
TEST(random_calls_fixed_margin) { random_calls(0.05, 0.5, 0.5, 3000, 3); }
TEST(random_calls_wild_sizes) { random_calls(0, 0.1, 6, 1000, 4); }

// ---- many bodies --------------------------------------------------------------------------------------------------

// Spheres on a jittered lattice that fills half the room, in a long channel so that the judge's sweep stays short.
static void moving_spheres(int count, int updates, int judged) {
  rig *r = new_rig(0, count);
  carom_vec3 *site = need(calloc((size_t)count, sizeof *site));
  carom_random random = carom_random_make(7, 0);
  int side = (int)ceil(cbrt(count / 16.0));
  double radius = 0.5, pitch = 2.031 * radius;
  carom_vec3 half = cm_vec3(radius, radius, radius);
  for (int i = 0; i < count; i++) {
    carom_vec3 at = cm_vec3(i / side / side, i / side % side, i % side);
    site[i] = cm_add(cm_scale(pitch, at), random_point(&random, 0.3, 0.3, 0.3));
    carom_proxy_def def = carom_proxy_default();
    def.box = box_at(site[i], half);
    def.body = i;
    rig_add(r, &def);
  }
  for (int step = 0; step < updates; step++) {
    for (int i = 0; i < count; i++) {
      double phase = 0.05 * step + 0.1 * (i % 60), size = 0.3;
      carom_vec3 d = cm_vec3(size * cos(phase), size * sin(phase), size * sin(2 * phase + 1));
      rig_move(r, i, box_at(cm_add(site[i], d), half));
    }
    // Several moves may come between two updates.
    if (step % judged == 0 && !rig_update(r, true)) break;
  }
  CHECK(r->judge.known_count > 2 * count);
  free(site);
  free_rig(r);
}

TEST(spheres_1e5_moving) { moving_spheres(100000, 3, 1); }
TEST(spheres_1e4_moving) { moving_spheres(10000, 30, 2); }

static const carom_shape *random_hull(carom_random *r, int points) {
  carom_vec3 p[64];
  for (int i = 0; i < points; i++) p[i] = cm_sub(random_point(r, 1, 1, 1), cm_vec3(0.5, 0.5, 0.5));
  const carom_shape *shape = NULL;
  if (carom_shape_create_hull(p, points, NULL, &shape, NULL) != CAROM_OK) exit(1);
  return shape;
}

static carom_quat random_turn(carom_random *r) {
  double w = carom_random_normal(r), x = carom_random_normal(r), y = carom_random_normal(r);
  return cm_qunit(cm_quat(w, x, y, carom_random_normal(r)));
}

TEST(polytopes_1e4_moving) {
  enum { COUNT = 10000, SHAPES = 20 };
  rig *r = new_rig(0, COUNT + 1);
  carom_placed *placed = need(calloc(COUNT, sizeof *placed));
  carom_vec3 *spin = need(calloc(COUNT, sizeof *spin));
  const carom_shape *shapes[SHAPES], *ground = NULL;
  carom_random random = carom_random_make(9, 0);
  for (int i = 0; i < SHAPES; i++) shapes[i] = random_hull(&random, 10 + i);
  REQUIRE(carom_shape_create_halfspace(NULL, &ground, NULL) == CAROM_OK);
  carom_placed floor = {ground, cm_pose(cm_vec3(0, 0, 1), cm_qidentity())};
  carom_proxy_def def = carom_proxy_default();
  def.box = carom_aabb_of(&floor);
  def.fixed = true;
  rig_add(r, &def);
  def.fixed = false;
  for (int i = 0; i < COUNT; i++) {
    placed[i].shape = shapes[i % SHAPES];
    placed[i].pose = cm_pose(random_point(&random, 150, 10, 10), random_turn(&random));
    spin[i] = random_point(&random, 0.2, 0.2, 0.2);
    def.box = carom_aabb_of(&placed[i]);
    def.body = i;
    rig_add(r, &def);
  }
  for (int step = 0; step < 10 && rig_update(r, true); step++)
    for (int i = 0; i < COUNT; i++) {
      placed[i].pose.q = cm_qmul(cm_exp(spin[i]), placed[i].pose.q);
      placed[i].pose.p = cm_axpy(placed[i].pose.p, 0.2, spin[i]);
      rig_move(r, i + 1, carom_aabb_of(&placed[i]));
    }
  CHECK(r->judge.known_count > COUNT);
  for (int i = 0; i < SHAPES; i++) carom_shape_release(shapes[i]);
  carom_shape_release(ground);
  free(placed), free(spin);
  free_rig(r);
}

// ---- hard geometry ------------------------------------------------------------------------------------------------

static int rig_add_box(rig *r, carom_aabb box) {
  carom_proxy_def def = carom_proxy_default();
  def.box = box;
  return rig_add(r, &def);
}

// Unit cubes that fill space without margin: each touches 26 others, exactly on the borders of cells. Inside a block
// of n cubes a side, neighbours k steps apart along an axis are n^3 (k = 0) or n^2 (n - 1) (each sign of k = 1), so
// there are ((3n - 2)^3 - n^3) / 2 pairs.
TEST(touching_cubes_all_meet) {
  enum { N = 9 };
  for (int place = 0; place < 3; place++) {
    double at = place == 0 ? 0 : place == 1 ? -1e6 : 1e12;
    rig *r = new_rig(1e-300, N * N * N);
    for (int i = 0; i < N * N * N; i++) {
      carom_vec3 low = cm_vec3(at + i % N, at + i / N % N, at + i / N / N);
      carom_aabb box = {low, cm_add(low, cm_vec3(1, 1, 1))};
      rig_add_box(r, box);
    }
    CHECK(rig_update(r, false));
    CHECK(r->judge.known_count == ((3 * N - 2) * (3 * N - 2) * (3 * N - 2) - N * N * N) / 2);
    free_rig(r);
  }
}

// The same with cubes whose side is no binary fraction: ends and beginnings are rounded alike, so they still touch.
TEST(touching_cubes_of_a_third) {
  enum { N = 9 };
  rig *r = new_rig(1e-300, N * N * N);
  for (int i = 0; i < N * N * N; i++) {
    int x = i % N, y = i / N % N, z = i / N / N;
    carom_aabb box = {{x / 3.0, y / 3.0, z / 3.0}, {(x + 1) / 3.0, (y + 1) / 3.0, (z + 1) / 3.0}};
    rig_add_box(r, box);
  }
  CHECK(rig_update(r, false));
  CHECK(r->judge.known_count == ((3 * N - 2) * (3 * N - 2) * (3 * N - 2) - N * N * N) / 2);
  free_rig(r);
}

TEST(nested_equal_and_point_boxes) {
  rig *r = new_rig(0, 300);
  for (int i = 0; i < 100; i++) {  // nested: the best tree is a chain
    double h = pow(1.3, i - 50);
    rig_add_box(r, box_at(cm_zero3(), cm_vec3(h, h, h)));
  }
  CHECK(rig_update(r, false));
  CHECK(r->judge.known_count == 4950);
  for (int i = 0; i < 60; i++) rig_add_box(r, box_at(cm_vec3(5, 5, 5), cm_vec3(1, 1, 1)));
  CHECK(rig_update(r, false));
  for (int i = 0; i < 60; i++) rig_add_box(r, box_at(cm_vec3(i % 7, i % 3, 0), cm_zero3()));
  CHECK(rig_update(r, false));
  for (int i = 0; i < 100; i += 3) rig_move(r, i, box_at(cm_vec3(i, i, i), cm_vec3(1, 2, 3)));
  CHECK(rig_update(r, false));
  for (int i = 0; i < 220; i += 2) rig_remove(r, i);
  CHECK(rig_update(r, false));
  free_rig(r);
}

TEST(vast_and_far_boxes) {
  rig *r = new_rig(0, 60);
  double far[] = {0, 1e6, -1e9, 1e15, -1e30, 1e99, 1e120, -1e300};
  for (int i = 0; i < 24; i++) rig_add_box(r, box_at(cm_vec3(far[i / 3], i % 3, -far[i / 3]), cm_vec3(0.6, 0.6, 0.6)));
  carom_aabb all = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
  carom_aabb below = all, left = all;
  below.high.z = 0, left.high.x = -5;
  rig_add_box(r, below);
  rig_add_box(r, left);
  int everywhere = rig_add_box(r, all);
  CHECK(rig_update(r, false));
  CHECK(r->judge.known_count >= 26);
  rig_move(r, everywhere, box_at(cm_zero3(), cm_vec3(0.6, 0.6, 0.6)));  // inside: nothing changes
  CHECK(rig_update(r, false));
  rig_remove(r, everywhere);
  int again = rig_add_box(r, box_at(cm_zero3(), cm_vec3(0.6, 0.6, 0.6)));
  CHECK(again == everywhere);
  rig_move(r, 0, all);  // into the list of exceptions
  CHECK(rig_update(r, false));
  free_rig(r);
}

// One floor and a few boulders among pebbles; then the pebbles go and boulders come.
TEST(grid_with_exceptions) {
  rig *r = new_rig(0, 700);
  carom_random random = carom_random_make(11, 0);
  for (int i = 0; i < 300; i++) rig_add_box(r, box_at(random_point(&random, 3, 3, 3), cm_vec3(0.1, 0.1, 0.1)));
  for (int i = 0; i < 5; i++) rig_add_box(r, box_at(random_point(&random, 3, 3, 3), cm_vec3(2, 2, 2)));
  rig_add_box(r, box_at(cm_zero3(), cm_vec3(1e3, 1e3, 0.5)));
  CHECK(rig_update(r, false));
  CHECK(r->phase[GRID]->apart_count == 6);
  for (int i = 0; i < 300; i++) rig_remove(r, i);
  for (int i = 0; i < 350; i++) rig_add_box(r, box_at(random_point(&random, 60, 60, 60), cm_vec3(2, 2, 2)));
  CHECK(rig_update(r, false));
  CHECK(r->phase[GRID]->apart_count == 1);
  free_rig(r);
}

// Pebbles that swell tenfold: the cells must follow, or all become exceptions and each meets each.
TEST(grid_follows_growth) {
  rig *r = new_rig(0, 300);
  carom_random random = carom_random_make(12, 0);
  carom_vec3 center[300];
  for (int i = 0; i < 300; i++) {
    center[i] = random_point(&random, 8, 8, 8);
    rig_add_box(r, box_at(center[i], cm_vec3(0.1, 0.1, 0.1)));
  }
  CHECK(rig_update(r, false));
  for (int i = 0; i < 300; i++) rig_move(r, i, box_at(center[i], cm_vec3(1, 1, 1)));
  CHECK(rig_update(r, false));
  CHECK(r->phase[GRID]->apart_count == 0);
  free_rig(r);
}

static double stepped(double x, int ulps) {
  for (; ulps > 0; ulps--) x = nextafter(x, INFINITY);
  for (; ulps < 0; ulps++) x = nextafter(x, -INFINITY);
  return x;
}

// Boxes exactly as long as the cells allow, that begin within a few roundings of the border of a cell and end exactly
// where the box of the query begins: low - limit is rounded, and the cell before must still be looked at.
TEST(grid_rounds_to_the_safe_side) {
  carom_allocator heap = carom_allocator_default();
  carom_grid grid;
  carom_sides *sides = need(calloc(1, sizeof *sides));
  bool stale = false;
  int tried = 0, hits[4];
  carom_grid_init(&grid);
  REQUIRE(carom_grid_reserve(&grid, &heap, 4, &stale) && stale);
  carom_sides_add(sides, 0.56);
  carom_grid_clear(&grid, sides);
  for (int n = -3000; n < 3000; n++)
    for (int k = 0; k < 49; k++) {
      double low = stepped(n / grid.cells_per_metre, k % 7 - 3), high = stepped(low + grid.limit, k / 7 - 3);
      carom_aabb q = {{low, 0, 0}, {high, 0.1, 0.1}}, p = {{high, 0, 0}, {high + 0.1, 0.1, 0.1}};
      if (!carom_grid_fits(&grid, &q)) continue;
      carom_grid_insert(&grid, 2, &q);
      CHECK(carom_grid_query(&grid, &p, hits) == 1 && hits[0] == 2);
      carom_grid_remove(&grid, 2);
      tried++;
    }
  CHECK(tried > 100000);
  carom_grid_release(&grid, &heap);
  free(sides);
}

// ---- filters and ids ----------------------------------------------------------------------------------------------

static int count_pairs(carom_broadphase *b) {
  const carom_pair *pairs;
  int count = -1;
  CHECK(carom_broadphase_update(b, &pairs, &count, NULL) == CAROM_OK);
  return count;
}

static int pairs_of_two(carom_proxy_def a, carom_proxy_def b) {
  int proxy, count[KINDS];
  for (int k = 0; k < KINDS; k++) {
    carom_broadphase *phase = new_phase(k == GRID, 0, NULL);
    CHECK(carom_broadphase_add(phase, &a, &proxy, NULL) == CAROM_OK);
    CHECK(carom_broadphase_add(phase, &b, &proxy, NULL) == CAROM_OK);
    count[k] = count_pairs(phase);
    carom_broadphase_destroy(phase);
  }
  CHECK(count[TREE] == count[GRID]);
  return count[TREE];
}

TEST(filters_one_by_one) {
  carom_proxy_def a = carom_proxy_default(), b;
  CHECK(a.body == -1 && a.group == 1 && a.mask == UINT32_MAX && !a.fixed);
  a.box = box_at(cm_zero3(), cm_vec3(1, 1, 1));
  b = a;
  CHECK(pairs_of_two(a, b) == 1);  // of no body: not the same body
  a.body = b.body = 3;
  CHECK(pairs_of_two(a, b) == 0);
  b.body = 4;
  CHECK(pairs_of_two(a, b) == 1);
  a.fixed = true;
  CHECK(pairs_of_two(a, b) == 1);
  b.fixed = true;
  CHECK(pairs_of_two(a, b) == 0);
  b.fixed = false;
  a.group = 2, b.mask = ~2u;  // b does not want a
  CHECK(pairs_of_two(a, b) == 0);
  CHECK(pairs_of_two(b, a) == 0);
  b.mask = 2, b.group = 4, a.mask = 4;
  CHECK(pairs_of_two(a, b) == 1);
}

TEST(ids_and_exclusions) {
  for (int k = 0; k < KINDS; k++) {
    carom_broadphase *b = new_phase(k == GRID, 0.1, NULL);
    carom_proxy_def def = carom_proxy_default();
    const carom_pair *pairs;
    int count, proxy[3];
    for (int i = 0; i < 3; i++) {
      def.box = box_at(cm_vec3(0.9 * i, 0, 0), cm_vec3(0.5, 0.5, 0.5));
      def.body = 10 * i;
      CHECK(carom_broadphase_add(b, &def, &proxy[i], NULL) == CAROM_OK);
    }
    REQUIRE(carom_broadphase_update(b, &pairs, &count, NULL) == CAROM_OK && count == 2);
    CHECK(pairs[0].a == 0 && pairs[0].b == 1 && pairs[0].id == 0);
    CHECK(pairs[1].a == 1 && pairs[1].b == 2 && pairs[1].id == 1);
    // Apart by 0.15, less than both margins: the pair stays.
    carom_broadphase_move(b, 0, box_at(cm_vec3(-0.25, 0, 0), cm_vec3(0.5, 0.5, 0.5)));
    REQUIRE(carom_broadphase_update(b, &pairs, &count, NULL) == CAROM_OK && count == 2);
    CHECK(pairs[0].id == 0);
    carom_broadphase_move(b, 0, box_at(cm_vec3(-2, 0, 0), cm_vec3(0.5, 0.5, 0.5)));
    REQUIRE(carom_broadphase_update(b, &pairs, &count, NULL) == CAROM_OK && count == 1);
    CHECK(pairs[0].a == 1 && pairs[0].id == 1);
    carom_broadphase_move(b, 0, box_at(cm_zero3(), cm_vec3(0.5, 0.5, 0.5)));
    REQUIRE(carom_broadphase_update(b, &pairs, &count, NULL) == CAROM_OK && count == 2);
    CHECK(pairs[0].id == 2 && pairs[1].id == 1);
    // A number used again is somebody else.
    carom_broadphase_remove(b, 1);
    def.box = box_at(cm_vec3(0.9, 0, 0), cm_vec3(0.5, 0.5, 0.5));
    def.body = 10;
    CHECK(carom_broadphase_add(b, &def, &proxy[1], NULL) == CAROM_OK && proxy[1] == 1);
    REQUIRE(carom_broadphase_update(b, &pairs, &count, NULL) == CAROM_OK && count == 2);
    CHECK(pairs[0].id == 3 && pairs[1].id == 4);
    CHECK(carom_broadphase_exclude(b, 10, 0, NULL) == CAROM_OK);
    REQUIRE(carom_broadphase_update(b, &pairs, &count, NULL) == CAROM_OK && count == 1);
    CHECK(pairs[0].a == 1 && pairs[0].b == 2 && pairs[0].id == 4);
    carom_broadphase_destroy(b);
  }
}

TEST(many_exclusions) {
  carom_broadphase *b = new_phase(false, 0, NULL);
  carom_proxy_def def = carom_proxy_default();
  def.box = box_at(cm_zero3(), cm_vec3(1, 1, 1));
  enum { N = 150 };
  int proxy, expected = 0;
  for (def.body = 0; def.body < N; def.body++) CHECK(carom_broadphase_add(b, &def, &proxy, NULL) == CAROM_OK);
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      bool out = (i * 7 + j * 13) % 3 == 0;
      if (out) CHECK(carom_broadphase_exclude(b, i % 2 ? i : j, i % 2 ? j : i, NULL) == CAROM_OK);
      expected += !out && i != j;
    }
  CHECK(count_pairs(b) == expected);
  carom_error error;
  CHECK(carom_broadphase_exclude(b, -1, 3, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "-1");
  carom_broadphase_destroy(b);
}

// ---- what can go wrong --------------------------------------------------------------------------------------------

TEST(bad_numbers) {
  carom_error error;
  carom_broadphase_options o = carom_broadphase_default_options();
  carom_broadphase *b = NULL;
  double bad[] = {NAN, -1, INFINITY};
  for (int i = 0; i < 3; i++) {
    o.margin = bad[i];
    CHECK(carom_broadphase_create(&o, NULL, &b, &error) == CAROM_ERR_NUMBER && !b);
  }
  for (int k = 0; k < KINDS; k++) {
    b = new_phase(k == GRID, 0, NULL);
    carom_proxy_def def = carom_proxy_default();
    int proxy = -7, count;
    const carom_pair *pairs;
    carom_aabb sound = box_at(cm_zero3(), cm_vec3(1, 1, 1)), broken[4] = {sound, sound, sound, sound};
    broken[0].low.y = NAN, broken[1].high.z = NAN, broken[2].low.x = 2;
    broken[3].low.x = broken[3].high.x = INFINITY;
    for (int i = 0; i < 4; i++) {
      def.box = broken[i];
      def.body = 17;
      CHECK(carom_broadphase_add(b, &def, &proxy, &error) == CAROM_ERR_NUMBER && proxy == -7);
      CHECK_CONTAINS(error.message, "body 17");
    }
    def.box = sound, def.body = -2;
    CHECK(carom_broadphase_add(b, &def, &proxy, &error) == CAROM_ERR_ARGUMENT && proxy == -7);
    def.body = -1;
    for (int i = 0; i < 3; i++) CHECK(carom_broadphase_add(b, &def, &proxy, NULL) == CAROM_OK);
    CHECK(count_pairs(b) == 3);
    for (int i = 0; i < 4; i++) {
      carom_broadphase_move(b, 2, broken[i]);
      CHECK(carom_broadphase_update(b, &pairs, &count, &error) == CAROM_ERR_NUMBER);
      CHECK_CONTAINS(error.message, "proxy 2");
      CHECK(count_pairs(b) == 3);  // told once; the old box is kept
    }
    carom_broadphase_move(b, 5, sound);
    CHECK(carom_broadphase_update(b, &pairs, &count, &error) == CAROM_ERR_ARGUMENT);
    CHECK_CONTAINS(error.message, "proxy 5");
    carom_broadphase_remove(b, 1);
    CHECK(count_pairs(b) == 1);
    carom_broadphase_remove(b, 1);
    CHECK(carom_broadphase_update(b, &pairs, &count, &error) == CAROM_ERR_ARGUMENT);
    CHECK(count_pairs(b) == 1);
    CHECK(!broadphase_fault(b));
    carom_broadphase_destroy(b);
  }
  carom_broadphase_destroy(NULL);
}

// When memory runs out at call n, the caller frees some and calls again: the end must be as if nothing had happened.
static carom_status again(carom_status status, failing_allocator *heap, bool *failed) {
  if (status == CAROM_ERR_MEMORY) heap->allowed = -1, *failed = true;
  return status;
}

static bool story(bool grid, failing_allocator *heap, int *pair_count, int64_t *last_id) {
  bool failed = false;
  carom_broadphase_options o = carom_broadphase_default_options();
  o.uniform_grid = grid;
  carom_allocator a = failing_allocator_of(heap);
  carom_broadphase *b = NULL;
  while (again(carom_broadphase_create(&o, &a, &b, NULL), heap, &failed) != CAROM_OK) CHECK(!b);
  const carom_pair *pairs = NULL;
  for (int i = 0; i < 60; i++) {
    carom_proxy_def def = carom_proxy_default();
    def.box = box_at(cm_vec3(0.37 * i, 0.2 * (i % 5), 0), cm_vec3(1, 1, 1));
    def.body = i;
    int proxy = -1;
    while (again(carom_broadphase_add(b, &def, &proxy, NULL), heap, &failed) != CAROM_OK) CHECK(proxy == -1);
    CHECK(proxy == i);
    while (i % 3 == 0 && again(carom_broadphase_exclude(b, i, i + 1, NULL), heap, &failed) != CAROM_OK) continue;
    if (i % 7 == 6) {
      carom_broadphase_move(b, i / 2, box_at(cm_vec3(0.1 * i, 0, 0), cm_vec3(1, 1, 1)));
      while (again(carom_broadphase_update(b, &pairs, pair_count, NULL), heap, &failed) != CAROM_OK) continue;
      CHECK(!broadphase_fault(b));
    }
  }
  *last_id = -1;
  for (int i = 0; i < *pair_count; i++)
    if (pairs[i].id > *last_id) *last_id = pairs[i].id;
  carom_broadphase_destroy(b);
  CHECK(heap->live == 0);
  return failed;
}

TEST(memory_runs_out) {
  for (int k = 0; k < KINDS; k++) {
    failing_allocator heap = {.allowed = -1};
    int expected = 0, calls;
    int64_t expected_id = 0;
    CHECK(!story(k == GRID, &heap, &expected, &expected_id));
    CHECK(expected > 100);
    calls = heap.calls;
    for (int n = 0; n < calls; n++) {
      failing_allocator poor = {.allowed = n};
      int count = 0;
      int64_t id = 0;
      CHECK(story(k == GRID, &poor, &count, &id));
      CHECK(count == expected && id == expected_id);
    }
    CHECK(calls > 10);
  }
}

// Two periods of a motion that comes back: in the second nothing is allocated.
TEST(second_period_allocates_nothing) {
  for (int k = 0; k < KINDS; k++) {
    failing_allocator heap = {.allowed = -1};
    carom_broadphase *b = new_phase(k == GRID, 0, &heap);
    carom_random random = carom_random_make(5, 0);
    carom_vec3 center[400];
    carom_proxy_def def = carom_proxy_default();
    int proxy, calls = 0, first = 0, second = 0;
    for (int i = 0; i < 400; i++) {
      center[i] = random_point(&random, 8, 8, 8);
      def.box = box_at(center[i], cm_vec3(0.5, 0.5, 0.5));
      CHECK(carom_broadphase_add(b, &def, &proxy, NULL) == CAROM_OK);
    }
    for (int step = 0; step < 200; step++) {
      if (step == 100) calls = heap.calls;
      double phase = 2 * 3.14159265358979 * (step % 100) / 100;
      for (int i = 0; i < 400; i++) {
        carom_vec3 d = cm_vec3(cos(phase + i), sin(phase + 2 * i), 0.5 * sin(2 * phase));
        carom_broadphase_move(b, i, box_at(cm_add(center[i], d), cm_vec3(0.5, 0.5, 0.5)));
      }
      *(step < 100 ? &first : &second) += count_pairs(b);
    }
    CHECK(heap.calls == calls && calls > 0);
    CHECK(first > 100 * 400 && second > 100 * 400);
    carom_broadphase_destroy(b);
  }
}

// ---- boxes of shapes ----------------------------------------------------------------------------------------------

static void check_vertices(const carom_shape *shape, carom_random *r) {
  const carom_polytope *p = carom_shape_polytope(shape);
  for (int trial = 0; trial < 200; trial++) {
    carom_placed placed = {shape, cm_pose(random_point(r, 5, 5, 5), random_turn(r))};
    carom_aabb box = carom_aabb_of(&placed);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < p->vertex_count; i++)
      for (int k = 0; k < 3; k++) {
        double x = component(cm_transform(placed.pose, p->vertices[i]), k);
        low[k] = fmin(low[k], x), high[k] = fmax(high[k], x);
      }
    for (int k = 0; k < 3; k++) {
      CHECK_NEAR(component(box.low, k), low[k], 1e-14);
      CHECK_NEAR(component(box.high, k), high[k], 1e-14);
    }
  }
}

TEST(boxes_of_polytopes) {
  carom_random r = carom_random_make(21, 0);
  const carom_shape *shape = NULL;
  REQUIRE(carom_shape_create_box(cm_vec3(0.2, 1, 3), NULL, &shape, NULL) == CAROM_OK);
  check_vertices(shape, &r);
  carom_shape_release(shape);
  REQUIRE(carom_shape_create_prism(64, 0.7, 0.5, NULL, &shape, NULL) == CAROM_OK);
  check_vertices(shape, &r);
  carom_shape_release(shape);
  carom_vec3 points[300];
  for (int i = 0; i < 300; i++) points[i] = cm_rotate(random_turn(&r), cm_vec3(0, 0, 1));
  REQUIRE(carom_shape_create_hull(points, 300, NULL, &shape, NULL) == CAROM_OK);
  CHECK(carom_shape_polytope(shape)->vertex_count > 200);
  check_vertices(shape, &r);
  carom_shape_release(shape);
}

static void check_box(carom_aabb box, carom_vec3 low, carom_vec3 high, double tolerance) {
  for (int k = 0; k < 3; k++) {
    CHECK_NEAR(component(box.low, k), component(low, k), tolerance);
    CHECK_NEAR(component(box.high, k), component(high, k), tolerance);
  }
}

// A capsule is the hull of two spheres.
TEST(boxes_of_round_shapes) {
  carom_random r = carom_random_make(22, 0);
  const carom_shape *sphere = NULL, *capsule = NULL;
  REQUIRE(carom_shape_create_sphere(0.3, NULL, &sphere, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_capsule(0.25, 1.5, NULL, &capsule, NULL) == CAROM_OK);
  for (int trial = 0; trial < 100; trial++) {
    carom_pose pose = cm_pose(random_point(&r, 5, 5, 5), random_turn(&r));
    carom_placed ball = {sphere, pose}, rod = {capsule, pose};
    carom_vec3 h = cm_vec3(0.3, 0.3, 0.3), e = cm_vec3(0.25, 0.25, 0.25);
    check_box(carom_aabb_of(&ball), cm_sub(pose.p, h), cm_add(pose.p, h), 0);
    carom_vec3 a = cm_transform(pose, cm_vec3(0, 0, 0.75)), b = cm_transform(pose, cm_vec3(0, 0, -0.75));
    carom_vec3 low = cm_vec3(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z));
    carom_vec3 high = cm_vec3(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z));
    check_box(carom_aabb_of(&rod), cm_sub(low, e), cm_add(high, e), 1e-14);
  }
  carom_shape_release(sphere), carom_shape_release(capsule);
}

// A curved body lies within its box and touches all six sides: many points of its surface say so, from inside.
static carom_vec3 surface_point(carom_shape_kind kind, carom_vec3 h, double u, double angle) {
  double c = cos(angle), s = sin(angle), ring = sqrt(fmax(0, 1 - u * u));
  if (kind == CAROM_SHAPE_ELLIPSOID) return cm_vec3(h.x * ring * c, h.y * ring * s, h.z * u);
  if (kind == CAROM_SHAPE_CYLINDER) return cm_vec3(h.x * c, h.x * s, u > 0 ? h.z : -h.z);
  return u > 0.9 ? cm_vec3(0, 0, 1.5 * h.z) : cm_vec3(h.x * c, h.x * s, -0.5 * h.z);  // apex and rim of a cone
}

static void check_curved(const carom_shape *shape, carom_vec3 h, carom_random *r) {
  carom_shape_kind kind = carom_shape_get_kind(shape);
  for (int trial = 0; trial < 10; trial++) {
    carom_placed placed = {shape, cm_pose(random_point(r, 5, 5, 5), random_turn(r))};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < 200 * 400; i++) {
      carom_vec3 p = surface_point(kind, h, i / 400 / 99.5 - 1, 6.283185307179586 * (i % 400) / 400);
      p = cm_transform(placed.pose, p);
      for (int k = 0; k < 3; k++) low[k] = fmin(low[k], component(p, k)), high[k] = fmax(high[k], component(p, k));
    }
    carom_aabb box = carom_aabb_of(&placed);
    for (int k = 0; k < 3; k++) {
      double below = low[k] - component(box.low, k), above = component(box.high, k) - high[k];
      CHECK(below > -1e-14 && above > -1e-14);
      CHECK_AT_MOST(fmax(below, above), 3e-4);  // the samples are 0.016 rad apart
    }
  }
}

TEST(boxes_of_curved_shapes) {
  carom_random r = carom_random_make(23, 0);
  const carom_shape *shape = NULL;
  REQUIRE(carom_shape_create_ellipsoid(cm_vec3(0.3, 0.7, 1.1), NULL, &shape, NULL) == CAROM_OK);
  check_curved(shape, cm_vec3(0.3, 0.7, 1.1), &r);
  carom_shape_release(shape);
  REQUIRE(carom_shape_create_cylinder(0.4, 1.8, NULL, &shape, NULL) == CAROM_OK);
  check_curved(shape, cm_vec3(0.4, 0.4, 0.9), &r);
  carom_shape_release(shape);
  REQUIRE(carom_shape_create_cone(0.6, 1.2, NULL, &shape, NULL) == CAROM_OK);
  check_curved(shape, cm_vec3(0.6, 0.6, 0.6), &r);
  carom_shape_release(shape);
}

TEST(boxes_of_rounded_polytopes) {
  carom_random r = carom_random_make(24, 0);
  const carom_shape *core = NULL, *shape = NULL;
  REQUIRE(carom_shape_create_box(cm_vec3(0.2, 1, 3), NULL, &core, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_rounded(core, 0.125, NULL, &shape, NULL) == CAROM_OK);
  for (int trial = 0; trial < 100; trial++) {
    carom_pose pose = cm_pose(random_point(&r, 5, 5, 5), random_turn(&r));
    carom_placed sharp = {core, pose}, round = {shape, pose};
    carom_aabb a = carom_aabb_of(&sharp);
    carom_vec3 by = cm_vec3(0.125, 0.125, 0.125);
    check_box(carom_aabb_of(&round), cm_sub(a.low, by), cm_add(a.high, by), 1e-14);
  }
  carom_shape_release(shape), carom_shape_release(core);
}

static int infinite_sides(carom_aabb b) {
  int n = 0;
  for (int k = 0; k < 3; k++) n += component(b.low, k) == -INFINITY, n += component(b.high, k) == INFINITY;
  return n;
}

TEST(boxes_of_halfspaces) {
  const carom_shape *ground = NULL;
  REQUIRE(carom_shape_create_halfspace(NULL, &ground, NULL) == CAROM_OK);
  const double quarter = 1.5707963267948966;
  carom_placed at = {ground, cm_pose(cm_vec3(1, 2, 3), cm_qidentity())};
  carom_aabb b = carom_aabb_of(&at);
  CHECK(b.high.z == 3 && infinite_sides(b) == 5);
  at.pose.q = cm_axis_angle(cm_vec3(1, 0, 0), 2 * quarter);  // normal -z
  b = carom_aabb_of(&at);
  CHECK(b.low.z == 3 && infinite_sides(b) == 5);
  at.pose.q = cm_axis_angle(cm_vec3(0, 1, 0), quarter);  // normal +x
  b = carom_aabb_of(&at);
  CHECK(b.high.x == 1 && infinite_sides(b) == 5);
  at.pose.q = cm_axis_angle(cm_vec3(1, 0, 0), quarter);  // normal -y
  b = carom_aabb_of(&at);
  CHECK(b.low.y == 2 && infinite_sides(b) == 5);
  at.pose.q = cm_axis_angle(cm_vec3(1, 0, 0), 1e-6);  // all but level
  CHECK(infinite_sides(carom_aabb_of(&at)) == 6);
  at.pose.q.w = NAN;
  CHECK(isnan(carom_aabb_of(&at).low.x) && isnan(carom_aabb_of(&at).high.z));
  carom_shape_release(ground);
}
