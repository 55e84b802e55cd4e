// What the tests of ties, contact polygons and derivatives share: placed solids, and solids that tie on purpose.
#ifndef CAROM_TEST_COLLIDE_H
#define CAROM_TEST_COLLIDE_H

#include "carom/collide.h"
#include "test_geometry.h"

static inline const carom_shape *hull_of(const carom_vec3 *points, int count) {
  const carom_shape *shape = NULL;
  carom_error error = {0};
  if (carom_shape_create_hull(points, count, NULL, &shape, &error)) test_fail(__FILE__, __LINE__, "%s", error.message);
  return shape;
}

static inline const carom_shape *box_of(double x, double y, double z) {
  const carom_shape *shape = NULL;
  if (carom_shape_create_box(cm_vec3(x, y, z), NULL, &shape, NULL)) test_fail(__FILE__, __LINE__, "box");
  return shape;
}

static inline carom_placed placed_at(const carom_shape *shape, carom_vec3 p, carom_quat q) {
  return (carom_placed){shape, cm_pose(p, q)};
}

static inline carom_placed placed_plain(const carom_shape *shape, double x, double y, double z) {
  return placed_at(shape, cm_vec3(x, y, z), cm_qidentity());
}

// Both bodies carried along by one rigid motion: answers must follow.
static inline void carry(carom_placed *a, carom_placed *b, carom_pose by) {
  a->pose = cm_compose(by, a->pose);
  b->pose = cm_compose(by, b->pose);
}

static inline carom_pose random_pose(carom_random *r, double size) {
  carom_vec3 p = cm_scale(size, random_vec(r));
  return cm_pose(p, random_rotation(r));
}

static inline carom_ssh_result solved(const carom_placed *a, const carom_placed *b, const carom_ssh_options *options) {
  carom_ssh_result r = {0};
  carom_status status = carom_ssh(a, b, options, NULL, &r);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "carom_ssh: %s", carom_status_text(status));
  return r;
}

static inline carom_ssh_options along(double x, double y, double z) {
  carom_ssh_options o = carom_ssh_default_options();
  o.given_beta = true;
  o.beta = cm_vec3(x, y, z);
  return o;
}

static inline carom_vec3 world_vertex(const carom_placed *s, int i) {
  return cm_transform(s->pose, carom_shape_polytope(s->shape)->vertices[i]);
}

// Corners on the points of a small grid: parallel edges and faces, and corners above corners, are common.
static inline const carom_shape *grid_polytope(carom_random *r) {
  for (;;) {
    carom_vec3 points[10];
    int count = 4 + (int)carom_random_below(r, 7);
    for (int i = 0; i < count; i++) {
      double x = carom_random_below(r, 3), y = carom_random_below(r, 3);
      points[i] = cm_vec3(x, y, carom_random_below(r, 3));
    }
    const carom_shape *shape = NULL;
    if (carom_shape_create_hull(points, count, NULL, &shape, NULL) == CAROM_OK) return shape;
  }
}

#endif
