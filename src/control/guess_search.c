// A collision-free way when nobody gave one: two trees of sampled configurations grow towards each other (RRT-Connect,
// Kuffner and LaValle 2000), with the separation oracle as the judge; the way is then shortened at random.
#include <string.h>

#include "base/memory.h"
#include "control/plan.h"

enum { MOST_NODES = 3000, MOST_TRIES = 6000, SUBSTEPS = 6, SHORTCUTS = 150 };

typedef struct tree {
  carom_pose *poses;  // (MOST_NODES x bodies)
  int *parent;
  int count;
} tree;

typedef struct planner {
  carom_plan *plan;
  size_t n;       // bodies
  bool *travels;  // (bodies)
  tree trees[2];
  carom_pose *sample, *next, *middle;  // (bodies)
  carom_pose *way;                     // (2 MOST_NODES x bodies)
  int way_count;
  carom_random random;
  double step, scale;
  carom_vec3 low, high;
} planner;

static carom_pose *node_of(const planner *p, const tree *t, int i) { return t->poses + (size_t)i * p->n; }

static double angle_of(carom_quat a, carom_quat b) { return 2 * acos(fmin(1, fabs(cm_qdot(a, b)))); }

// Lengths, with a turn by one radian as far as the size of the bodies.
static double distance(const planner *p, const carom_pose *a, const carom_pose *b) {
  double sum = 0;
  for (size_t i = 0; i < p->n; i++) {
    if (!p->travels[i]) continue;
    double d = cm_norm(cm_sub(a[i].p, b[i].p)), turn = p->scale * angle_of(a[i].q, b[i].q);
    sum += d * d + turn * turn;
  }
  return sqrt(sum);
}

static void blend(const planner *p, const carom_pose *a, const carom_pose *b, double t, carom_pose *out) {
  for (size_t i = 0; i < p->n; i++) out[i] = p->travels[i] ? carom_guess_between(a[i], b[i], t) : a[i];
}

static bool is_clear(const planner *p, const carom_pose *c) {
  const carom_plan *plan = p->plan;
  for (int i = 0; i < plan->avoided_count; i++) {
    int a = plan->avoided[i].body[0], b = plan->avoided[i].body[1];
    if (carom_plan_gap(plan, a, c[a], b, c[b]) < plan->def.margin - 1e-9 * p->scale) return false;
  }
  return true;
}

static bool edge_is_clear(const planner *p, const carom_pose *a, const carom_pose *b) {
  int pieces = 1 + (int)(distance(p, a, b) / p->step * SUBSTEPS);
  for (int i = 1; i <= pieces; i++) {
    blend(p, a, b, (double)i / pieces, p->middle);
    if (!is_clear(p, p->middle)) return false;
  }
  return true;
}

static int nearest(const planner *p, const tree *t, const carom_pose *c) {
  int best = 0;
  double least = INFINITY;
  for (int i = 0; i < t->count; i++) {
    double d = distance(p, node_of(p, t, i), c);
    if (d < least) least = d, best = i;
  }
  return best;
}

// One step towards `aim`; the new node, or -1 when the way is blocked or the tree is full. *reached when it is there.
static int extend(planner *p, tree *t, const carom_pose *aim, bool *reached) {
  int from = nearest(p, t, aim);
  double d = distance(p, node_of(p, t, from), aim);
  *reached = false;
  if (t->count == MOST_NODES) return -1;
  blend(p, node_of(p, t, from), aim, d > p->step ? p->step / d : 1, p->next);
  if (!edge_is_clear(p, node_of(p, t, from), p->next)) return -1;
  memcpy(node_of(p, t, t->count), p->next, p->n * sizeof *p->next);
  t->parent[t->count] = from;
  *reached = d <= p->step;
  return t->count++;
}

static carom_quat random_rotation(planner *p) {
  carom_random *r = &p->random;
  return cm_qunit(
      cm_quat(carom_random_normal(r), carom_random_normal(r), carom_random_normal(r), carom_random_normal(r)));
}

static void draw(planner *p) {
  carom_random *r = &p->random;
  const carom_pose *start = node_of(p, &p->trees[0], 0), *goal = node_of(p, &p->trees[1], 0);
  for (size_t i = 0; i < p->n; i++) {
    p->sample[i] = start[i];
    if (!p->travels[i]) continue;
    p->sample[i] = carom_guess_between(start[i], goal[i], carom_random_uniform(r));
    if (carom_random_uniform(r) < 0.3) p->sample[i].q = random_rotation(p);
    p->sample[i].p = cm_vec3(carom_random_between(r, p->low.x, p->high.x), carom_random_between(r, p->low.y, p->high.y),
                             carom_random_between(r, p->low.z, p->high.z));
  }
}

// Writes the way from the roots to the meeting nodes, the second tree's part backwards.
static void write_way(planner *p, const int met[2]) {
  p->way_count = 0;
  for (int i = met[0]; i >= 0; i = p->trees[0].parent[i]) p->way_count++;
  int at = p->way_count;
  for (int i = met[0]; i >= 0; i = p->trees[0].parent[i])
    memcpy(p->way + (size_t)--at * p->n, node_of(p, &p->trees[0], i), p->n * sizeof *p->way);
  for (int i = met[1]; i >= 0; i = p->trees[1].parent[i])
    memcpy(p->way + (size_t)p->way_count++ * p->n, node_of(p, &p->trees[1], i), p->n * sizeof *p->way);
}

static bool grow(planner *p) {
  for (int attempt = 0; attempt < MOST_TRIES; attempt++) {
    int side = attempt & 1, met[2];
    bool reached;
    draw(p);
    met[side] = extend(p, &p->trees[side], p->sample, &reached);
    if (met[side] < 0) continue;
    const carom_pose *aim = node_of(p, &p->trees[side], met[side]);
    do met[1 - side] = extend(p, &p->trees[1 - side], aim, &reached);
    while (met[1 - side] >= 0 && !reached);
    if (met[1 - side] < 0) continue;
    write_way(p, met);
    return true;
  }
  return false;
}

static void shorten(planner *p) {
  for (int i = 0; i < SHORTCUTS && p->way_count > 2; i++) {
    int a = (int)carom_random_below(&p->random, (uint32_t)p->way_count - 2);
    int b = a + 2 + (int)carom_random_below(&p->random, (uint32_t)(p->way_count - a - 2));
    if (!edge_is_clear(p, p->way + (size_t)a * p->n, p->way + (size_t)b * p->n)) continue;
    memmove(p->way + (size_t)(a + 1) * p->n, p->way + (size_t)b * p->n,
            (size_t)(p->way_count - b) * p->n * sizeof *p->way);
    p->way_count -= b - a - 1;
  }
}

// The nodes of the path at equal distances along the way.
static void lay(const planner *p) {
  carom_path *path = &p->plan->path;
  double total = 0, gone = 0;
  for (int i = 1; i < p->way_count; i++)
    total += distance(p, p->way + (size_t)(i - 1) * p->n, p->way + (size_t)i * p->n);
  int leg = 1;
  for (int k = 0; k <= path->K; k++) {
    double s = total * k / path->K, length = 0;
    while (leg < p->way_count) {
      length = distance(p, p->way + (size_t)(leg - 1) * p->n, p->way + (size_t)leg * p->n);
      if (gone + length >= s || leg == p->way_count - 1) break;
      gone += length, leg++;
    }
    blend(p, p->way + (size_t)(leg - 1) * p->n, p->way + (size_t)leg * p->n,
          length > 0 ? fmin(1, (s - gone) / length) : 1, p->middle);
    for (size_t i = 0; i < p->n; i++)
      path->x[(size_t)k * p->n + i] = p->middle[i].p, path->q[(size_t)k * p->n + i] = p->middle[i].q;
  }
}

// ---- set-up --------------------------------------------------------------------------------------------------------

static bool allocate(planner *p) {
  const carom_allocator *a = &p->plan->allocator;
  bool good = true;
  for (int i = 0; i < 2; i++) {
    bool enough =
        CAROM_NEW_ALL(a, CAROM_ROOM(p->trees[i].poses, MOST_NODES * p->n), CAROM_ROOM(p->trees[i].parent, MOST_NODES));
    good = enough && good;
  }
  return CAROM_NEW_ALL(a, CAROM_ROOM(p->travels, p->n), CAROM_ROOM(p->sample, p->n), CAROM_ROOM(p->next, p->n),
                       CAROM_ROOM(p->middle, p->n), CAROM_ROOM(p->way, 2 * MOST_NODES * p->n)) &&
         good;
}

static void release(planner *p) {
  CAROM_RELEASE_ALL(&p->plan->allocator, p->trees[0].poses, p->trees[0].parent, p->trees[1].poses, p->trees[1].parent,
                    p->travels, p->sample, p->next, p->middle, p->way);
}

static carom_vec3 least(carom_vec3 a, carom_vec3 b) { return cm_vec3(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)); }
static carom_vec3 most(carom_vec3 a, carom_vec3 b) { return cm_vec3(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)); }

static void plant(planner *p) {
  const carom_plan *plan = p->plan;
  p->low = cm_vec3(INFINITY, INFINITY, INFINITY), p->high = cm_neg(p->low);
  for (size_t i = 0; i < p->n; i++) {
    carom_pose start = cm_pose(plan->start->x[i], plan->start->q[i]), goal = start;
    p->travels[i] = !plan->model->bodies[i].fixed && carom_guess_target(plan, (int)i, &goal);
    p->trees[0].poses[i] = start, p->trees[1].poses[i] = goal;
    if (plan->model->bodies[i].fixed) continue;
    p->low = least(p->low, least(start.p, goal.p)), p->high = most(p->high, most(start.p, goal.p));
  }
  carom_vec3 reach = cm_scale(2.5 * p->scale, cm_vec3(1, 1, 1));
  p->low = cm_sub(p->low, reach), p->high = cm_add(p->high, reach);
  for (int i = 0; i < 2; i++) p->trees[i].count = 1, p->trees[i].parent[0] = -1;
}

carom_status carom_guess_search(carom_plan *plan, uint64_t seed, bool *found, carom_error *error) {
  planner p = {.plan = plan, .n = (size_t)plan->model->body_count, .random = carom_guess_random(plan, seed)};
  p.scale = plan->length_scale;
  p.step = 0.3 * p.scale;
  *found = false;
  bool good = allocate(&p);
  if (good) {
    plant(&p);
    *found = grow(&p);
    if (*found) shorten(&p), lay(&p);
  }
  release(&p);
  return good ? CAROM_OK : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a sampling planner");
}
