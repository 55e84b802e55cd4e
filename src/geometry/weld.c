#include "geometry/weld.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "geometry/shape.h"

carom_bounds carom_bounds_of(const carom_vec3 *points, int count) {
  carom_bounds b = {points[0], points[0], points[0], 0, 0};
  for (int i = 1; i < count; i++) {
    b.low = cm_vec3(fmin(b.low.x, points[i].x), fmin(b.low.y, points[i].y), fmin(b.low.z, points[i].z));
    b.high = cm_vec3(fmax(b.high.x, points[i].x), fmax(b.high.y, points[i].y), fmax(b.high.z, points[i].z));
  }
  carom_vec3 side = cm_sub(b.high, b.low);
  b.center = cm_axpy(b.low, 0.5, side);
  b.extent = fmax(side.x, fmax(side.y, side.z));
  b.largest = fmax(fmax(fabs(b.low.x), fabs(b.high.x)),
                   fmax(fmax(fabs(b.low.y), fabs(b.high.y)), fmax(fabs(b.low.z), fabs(b.high.z))));
  return b;
}

int carom_find_bad_point(const carom_vec3 *points, int count) {
  for (int i = 0; i < count; i++) {
    const double c[3] = {points[i].x, points[i].y, points[i].z};
    for (int k = 0; k < 3; k++)
      if (!(fabs(c[k]) <= CAROM_LENGTH_MAX)) return i;
  }
  return -1;
}

// A hash grid whose cells are twice the tolerance wide: all points within the tolerance of p lie in the 8 cells
// nearest to p. Kept points are further apart than the tolerance, so no cell holds more than a handful.
typedef struct grid {
  const carom_vec3 *points;
  carom_vec3 origin;
  double cell, tolerance;
  size_t mask;  // number of buckets (a power of two) - 1
  int *head;    // (mask + 1) first point of each bucket, or -1
  int *link;    // (count) next point of the same bucket, or -1
} grid;

static size_t bucket(const grid *g, const double *cell) {
  uint64_t hash = 0;
  for (int k = 0; k < 3; k++) {
    double c = cell[k] + 0.0;  // -0 becomes 0, whose bits differ
    uint64_t bits;
    memcpy(&bits, &c, sizeof bits);
    hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return (size_t)hash & g->mask;
}

static int closer_in(const grid *g, const double *cell, carom_vec3 p, int best) {
  for (int i = g->head[bucket(g, cell)]; i >= 0; i = g->link[i])
    if ((best < 0 || i < best) && cm_norm(cm_sub(g->points[i], p)) <= g->tolerance) best = i;
  return best;
}

// The lowest-numbered kept point within the tolerance of p, or -1; home receives p's own cell.
static int find(const grid *g, carom_vec3 p, double *home) {
  carom_vec3 d = cm_sub(p, g->origin);
  double at[3] = {d.x / g->cell, d.y / g->cell, d.z / g->cell}, other[3], cell[3];
  for (int k = 0; k < 3; k++) {
    home[k] = floor(at[k]);
    other[k] = at[k] - home[k] < 0.5 ? home[k] - 1 : home[k] + 1;
  }
  int best = -1;
  for (int corner = 0; corner < 8; corner++) {
    for (int k = 0; k < 3; k++) cell[k] = corner >> k & 1 ? other[k] : home[k];
    best = closer_in(g, cell, p, best);
  }
  return best;
}

bool carom_weld(const carom_vec3 *points, int count, double tolerance, const carom_allocator *allocator, int *first) {
  if (count == 0) return true;
  carom_bounds bounds = carom_bounds_of(points, count);
  grid g = {.points = points, .origin = bounds.low, .tolerance = tolerance};
  // Cells finer than the spacing of the numbers would tell nothing apart.
  g.cell = fmax(2 * tolerance, fmax(1e-15 * bounds.extent, CAROM_LENGTH_MIN * 1e-30));
  size_t buckets = 16;
  while (buckets < 2 * (size_t)count) buckets *= 2;
  g.mask = buckets - 1;
  bool ready = CAROM_NEW_ALL(allocator, CAROM_ROOM(g.head, buckets), CAROM_ROOM(g.link, count));
  if (ready) {
    for (size_t b = 0; b < buckets; b++) g.head[b] = -1;
    for (int i = 0; i < count; i++) {
      double home[3];
      int same = find(&g, points[i], home);
      first[i] = same >= 0 ? same : i;
      if (same >= 0) continue;
      size_t b = bucket(&g, home);
      g.link[i] = g.head[b];
      g.head[b] = i;
    }
  }
  CAROM_RELEASE_ALL(allocator, g.head, g.link);
  return ready;
}
