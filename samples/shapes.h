// Shapes that are there, or the program ends. The caller releases them.
#ifndef CAROM_SAMPLES_SHAPES_H
#define CAROM_SAMPLES_SHAPES_H

#include <stdio.h>
#include <stdlib.h>

#include "carom/geometry.h"

static inline const carom_shape *made(carom_status status, const carom_shape *const *shape, const carom_error *error) {
  if (status == CAROM_OK) return *shape;
  fprintf(stderr, "shape: %s\n", error->message);
  exit(1);
}

static inline const carom_shape *box_shape(double x, double y, double z) {
  const carom_shape *shape = NULL;
  carom_error error = {0};
  return made(carom_shape_create_box(cm_vec3(x, y, z), NULL, &shape, &error), &shape, &error);
}

// Its flat parts are x by y by z.
static inline const carom_shape *rounded_box_shape(double x, double y, double z, double radius) {
  const carom_shape *core = box_shape(x, y, z), *shape = NULL;
  carom_error error = {0};
  made(carom_shape_create_rounded(core, radius, NULL, &shape, &error), &shape, &error);
  carom_shape_release(core);
  return shape;
}

static inline const carom_shape *sphere_shape(double radius) {
  const carom_shape *shape = NULL;
  carom_error error = {0};
  return made(carom_shape_create_sphere(radius, NULL, &shape, &error), &shape, &error);
}

static inline const carom_shape *capsule_shape(double radius, double length) {
  const carom_shape *shape = NULL;
  carom_error error = {0};
  return made(carom_shape_create_capsule(radius, length, NULL, &shape, &error), &shape, &error);
}

static inline const carom_shape *prism_shape(int sides, double radius, double height) {
  const carom_shape *shape = NULL;
  carom_error error = {0};
  return made(carom_shape_create_prism(sides, radius, height, NULL, &shape, &error), &shape, &error);
}

static inline const carom_shape *pyramid_shape(int sides, double radius, double height) {
  const carom_shape *shape = NULL;
  carom_error error = {0};
  return made(carom_shape_create_pyramid(sides, radius, height, NULL, &shape, &error), &shape, &error);
}

// The half-space z <= 0.
static inline const carom_shape *floor_shape(void) {
  const carom_shape *shape = NULL;
  carom_error error = {0};
  return made(carom_shape_create_halfspace(NULL, &shape, &error), &shape, &error);
}

static inline const carom_shape *hull_shape(const carom_vec3 *points, int count) {
  const carom_shape *shape = NULL;
  carom_error error = {0};
  return made(carom_shape_create_hull(points, count, NULL, &shape, &error), &shape, &error);
}

#endif
