#include "collide/round_points.h"

#include <float.h>

// Over its radius: a circle whose highest point is no higher above its lowest lies flat, and no point of it is the
// lowest.
static const double LEVEL = 0.01;

typedef struct gathering {
  carom_vec3 direction;
  double reach;
  int rim, count;
  carom_vec3 *points;
} gathering;

static void add(gathering *g, carom_vec3 point) { g->points[g->count++] = point; }

// A circle about the z axis: its lowest point, and points all around it of which those too high fall away later. Where
// these are so far apart that only chance would leave one, the lowest is all there is: a cylinder that rolls has no
// corners.
static void add_circle(gathering *g, double radius, double z) {
  double slope = hypot(g->direction.x, g->direction.y);
  bool flat = 2 * radius * slope <= fmin(g->reach, LEVEL * radius);
  if (!flat) add(g, cm_vec3(-radius * g->direction.x / slope, -radius * g->direction.y / slope, z));
  if (radius * slope * (1 - cos(6.283185307179586 / g->rim)) > g->reach) return;
  for (int k = 0; k < g->rim; k++) {
    double angle = 6.283185307179586 * k / g->rim;
    add(g, cm_vec3(radius * cos(angle), radius * sin(angle), z));
  }
}

static void drop_high(gathering *g) {
  double lowest = DBL_MAX;
  for (int i = 0; i < g->count; i++) lowest = fmin(lowest, cm_dot(g->direction, g->points[i]));
  int kept = 0;
  for (int i = 0; i < g->count; i++)
    if (cm_dot(g->direction, g->points[i]) <= lowest + g->reach) g->points[kept++] = g->points[i];
  g->count = kept;
}

int carom_round_points(const carom_shape *shape, carom_vec3 direction, double reach, int rim, carom_vec3 *points) {
  gathering g = {direction, reach, rim < CAROM_RIM_MAX ? rim : CAROM_RIM_MAX, 0, points};
  carom_vec3 round = cm_scale(-shape->radius, direction), half = shape->half_axes;
  switch (shape->kind) {
    case CAROM_SHAPE_CAPSULE:
      add(&g, cm_add(round, cm_vec3(0, 0, -shape->half_length)));
      if (shape->half_length > 0) add(&g, cm_add(round, cm_vec3(0, 0, shape->half_length)));
      break;
    case CAROM_SHAPE_ELLIPSOID:
      add(&g, carom_smooth_lowest(shape, direction));
      break;
    case CAROM_SHAPE_CYLINDER:
      add_circle(&g, half.x, -half.z);
      add_circle(&g, half.x, half.z);
      break;
    case CAROM_SHAPE_CONE:
      add_circle(&g, half.x, -half.z / 2);
      add(&g, cm_vec3(0, 0, 1.5 * half.z));
      break;
    default:
      add(&g, round);
  }
  drop_high(&g);
  return g.count;
}
