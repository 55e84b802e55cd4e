// Random clouds: bounding spheres put down one after another where they fit (random sequential addition), and a hash
// grid that finds the neighbours.
#include <string.h>

#include "scene/reader.h"

// Random sequential addition of equal spheres jams near 38 % of the volume (Torquato, Uche, Stillinger 2006); these
// many tries come close to it and bound the time of a hopeless request.
enum { TRIES_PER_BODY = 4000, MEAN_TRIES = 100, MOST_CLOUDS = 1000 };

typedef struct grid {
  double cell;    // side of a cell, at least the largest distance at which two spheres may touch
  int *head;      // (bucket_count) first sphere of a bucket, -1 for none
  int *next;      // (capacity) the following sphere of the same bucket
  uint32_t mask;  // bucket_count - 1
} grid;

static uint32_t bucket(const grid *g, double x, double y, double z) {
  uint64_t h = (uint64_t)(int64_t)x * 0x9E3779B97F4A7C15u;
  h = (h ^ (uint64_t)(int64_t)y) * 0xC2B2AE3D27D4EB4Fu;
  h = (h ^ (uint64_t)(int64_t)z) * 0x165667B19E3779F9u;
  return (uint32_t)(h >> 32) & g->mask;
}

// Cells are counted in doubles and clamped: hostile boxes may be larger than any integer.
static double cell_of(const grid *g, double x) {
  double c = floor(x / g->cell);
  return c < -1e15 ? -1e15 : c > 1e15 ? 1e15 : c;
}

static void insert(carom_reader *r, grid *g, int index) {
  carom_vec3 c = r->cloud[index].center;
  uint32_t b = bucket(g, cell_of(g, c.x), cell_of(g, c.y), cell_of(g, c.z));
  g->next[index] = g->head[b];
  g->head[b] = index;
}

static bool touches(const carom_reader *r, const grid *g, uint32_t b, carom_vec3 p, double reach) {
  for (int s = g->head[b]; s >= 0; s = g->next[s]) {
    double apart = reach + r->cloud[s].radius;
    if (cm_norm2(cm_sub(p, r->cloud[s].center)) < apart * apart) return true;
  }
  return false;
}

static bool is_free(const carom_reader *r, const grid *g, carom_vec3 p, double reach) {
  double x = cell_of(g, p.x), y = cell_of(g, p.y), z = cell_of(g, p.z);
  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++)
      for (int k = -1; k <= 1; k++)
        if (touches(r, g, bucket(g, x + i, y + j, z + k), p, reach)) return false;
  return true;
}

static bool make_grid(carom_reader *r, const carom_array *a, const carom_cloud_sphere *bodies, grid *g) {
  int total = r->cloud_count + (int)a->count;
  double largest = 0;
  for (int i = 0; i < (int)a->count; i++) largest = fmax(largest, bodies[i].radius);
  for (int i = 0; i < r->cloud_count; i++) largest = fmax(largest, r->cloud[i].radius);
  uint32_t buckets = 64;
  while (buckets < (uint32_t)total) buckets *= 2;
  g->mask = buckets - 1;
  g->cell = fmax(2 * largest + a->clearance, 1e-9);
  g->head = CAROM_POOL_ARRAY(&r->pool, int, buckets);
  g->next = CAROM_POOL_ARRAY(&r->pool, int, total);
  if (!g->head || !g->next) return false;
  memset(g->head, 0xFF, sizeof(int) * buckets);
  for (int i = 0; i < r->cloud_count; i++) insert(r, g, i);
  return true;
}

static bool reserve(carom_reader *r, int total) {
  if (total <= r->cloud_capacity) return true;
  int capacity = total > 2 * r->cloud_capacity ? total : 2 * r->cloud_capacity;
  carom_cloud_sphere *spheres = CAROM_POOL_ARRAY(&r->pool, carom_cloud_sphere, capacity);
  if (!spheres) return false;
  if (r->cloud_count > 0) memcpy(spheres, r->cloud, sizeof *spheres * (size_t)r->cloud_count);
  r->cloud = spheres;
  r->cloud_capacity = capacity;
  return true;
}

// Uniform over all rotations (Shoemake 1992).
static carom_quat random_rotation(carom_random *random) {
  double u = carom_random_uniform(random), a = 2 * 3.14159265358979323846 * carom_random_uniform(random);
  double b = 2 * 3.14159265358979323846 * carom_random_uniform(random);
  double s = sqrt(1 - u), t = sqrt(u);
  return cm_quat(t * cos(b), s * sin(a), s * cos(a), t * sin(b));
}

static carom_vec3 random_point(carom_random *random, const carom_array *a) {
  double x = carom_random_between(random, a->low.x, a->high.x), y = carom_random_between(random, a->low.y, a->high.y);
  return cm_vec3(x, y, carom_random_between(random, a->low.z, a->high.z));
}

// Chances that are left.
typedef struct luck {
  carom_random random;
  int64_t tries;
} luck;

static bool place_one(carom_reader *r, grid *g, luck *l, const carom_array *a, carom_cloud_sphere body,
                      carom_vec3 *offset) {
  for (int i = 0; i < TRIES_PER_BODY && l->tries > 0; i++, l->tries--) {
    *offset = random_point(&l->random, a);
    carom_vec3 p = cm_add(body.center, *offset);
    if (!is_free(r, g, p, body.radius + a->clearance)) continue;
    r->cloud[r->cloud_count] = (carom_cloud_sphere){p, body.radius};
    insert(r, g, r->cloud_count++);
    return true;
  }
  return false;
}

bool carom_place_cloud(carom_reader *r, carom_array *a, const carom_cloud_sphere *bodies) {
  int count = (int)a->count;
  grid g = {.cell = 1};
  if (r->cloud_number >= MOST_CLOUDS)
    return carom_report(&r->reporter, a->node->place, NULL, "a scene may have %d clouds", MOST_CLOUDS);
  carom_pose *placed = CAROM_POOL_ARRAY(&r->pool, carom_pose, count);
  if (!placed || !reserve(r, r->cloud_count + count) || !make_grid(r, a, bodies, &g)) return false;
  luck l = {carom_random_make(r->seed, r->cloud_number++), (int64_t)count * MEAN_TRIES + 10 * TRIES_PER_BODY};
  for (int i = 0; i < count; i++) {
    if (!place_one(r, &g, &l, a, bodies[i], &placed[i].p))
      return carom_report(&r->reporter, a->node->place, "enlarge the box, or lower count or clearance",
                          "only %d of %d bodies fitted into the cloud", i, count);
    placed[i].q = a->rotate ? random_rotation(&l.random) : cm_qidentity();
  }
  a->placed = placed;
  return true;
}
