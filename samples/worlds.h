// Small worlds, made in a few lines; what cannot be made ends the program.
#ifndef CAROM_SAMPLES_WORLDS_H
#define CAROM_SAMPLES_WORLDS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "carom/carom.h"
#include "shapes.h"

typedef struct world {
  carom_model *model;
  carom_state *state;
} world;

static inline carom_vec3 random_vector(carom_random *r, double size) {
  double x = carom_random_between(r, -size, size), y = carom_random_between(r, -size, size);
  return cm_vec3(x, y, carom_random_between(r, -size, size));
}

static inline carom_quat random_rotation(carom_random *r) {
  double w = carom_random_normal(r), x = carom_random_normal(r), y = carom_random_normal(r);
  return cm_qunit(cm_quat(w, x, y, carom_random_normal(r)));
}

// Moments of a real body: those of an ellipsoid with random half-axes.
static inline carom_vec3 random_moments(carom_random *r) {
  double a = carom_random_between(r, 0.2, 2), b = carom_random_between(r, 0.2, 2), c = carom_random_between(r, 0.2, 2);
  return cm_vec3(b * b + c * c, a * a + c * c, a * a + b * b);
}

// A body without a shape: mass and principal moments only.
static inline carom_body_def inert_body(double mass, carom_vec3 moments) {
  carom_body_def def = carom_body_default();
  def.mass = mass;
  def.has_inertia = true;
  def.inertia = cm_diag3(moments.x, moments.y, moments.z);
  return def;
}

// Adds a body that consists of one shape, which is given away by this.
static inline int put_shape(carom_builder *builder, carom_body_def def, const carom_shape *shape) {
  carom_part part = {.shape = shape, .pose = cm_pose_identity()};
  def.parts = &part;
  def.part_count = 1;
  int index = carom_builder_add_body(builder, &def);
  carom_shape_release(shape);
  return index;
}

static inline carom_body_def fixed_body(carom_vec3 position, carom_quat turn) {
  carom_body_def def = carom_body_default();
  def.pose = cm_pose(position, turn);
  def.fixed = true;
  return def;
}

static inline int put_box(carom_builder *builder, carom_vec3 size, carom_pose pose, bool fixed) {
  carom_body_def def = carom_body_default();
  def.pose = pose;
  def.fixed = fixed;
  return put_shape(builder, def, box_shape(size.x, size.y, size.z));
}

// A ball at each of these places.
static inline void put_balls(carom_builder *builder, double radius, const carom_vec3 *x, int count) {
  const carom_shape *ball = sphere_shape(radius);
  for (int i = 0; i < count; i++) {
    carom_body_def def = carom_body_default();
    def.pose.p = x[i];
    put_shape(builder, def, carom_shape_retain(ball));
  }
  carom_shape_release(ball);
}

static inline int put_material(carom_builder *builder, double restitution, double friction) {
  carom_material_def def = carom_material_default();
  def.restitution = restitution;
  def.friction = friction;
  return carom_builder_add_material(builder, &def);
}

static inline carom_builder *new_builder(void) {
  carom_builder *builder = NULL;
  carom_error error = {0};
  if (carom_builder_create(NULL, &builder, &error) != CAROM_OK) abort();
  return builder;
}

static inline world finish_world(carom_builder *builder) {
  world w = {0};
  carom_error error = {0};
  if (carom_builder_finish(builder, &w.model, &w.state, &error) != CAROM_OK) {
    fprintf(stderr, "world: %s\n", error.message);
    exit(1);
  }
  carom_builder_destroy(builder);
  return w;
}

static inline void free_world(world *w) {
  carom_state_destroy(w->state);
  carom_model_destroy(w->model);
}

static inline carom_stepper *stepper_by(const world *w, const carom_step_options *options) {
  carom_stepper *stepper = NULL;
  carom_error error = {0};
  if (carom_stepper_create(w->model, options, NULL, &stepper, &error) != CAROM_OK) {
    fprintf(stderr, "stepper: %s\n", error.message);
    exit(1);
  }
  return stepper;
}

static inline carom_stepper *new_stepper(const world *w, double h, carom_quadrature quadrature) {
  carom_step_options options = carom_step_default_options();
  options.step = h;
  options.quadrature = quadrature;
  return stepper_by(w, &options);
}

static inline void run_steps(carom_stepper *stepper, carom_state *state, int steps) {
  carom_error error = {0};
  for (int i = 0; i < steps; i++)
    if (carom_stepper_step(stepper, state, NULL, &error) != CAROM_OK) {
      fprintf(stderr, "step: %s\n", error.message);
      exit(1);
    }
}

// n bodies with random inertia, pose and velocity, and nothing between them.
static inline world random_cloud(int n, uint64_t seed) {
  carom_random r = carom_random_make(seed, 0);
  carom_builder *builder = new_builder();
  for (int i = 0; i < n; i++) {
    carom_body_def def = inert_body(carom_random_between(&r, 0.5, 2), random_moments(&r));
    def.pose = cm_pose(random_vector(&r, 5), random_rotation(&r));
    def.velocity = random_vector(&r, 1);
    def.angular_velocity = random_vector(&r, 3);
    carom_builder_add_body(builder, &def);
  }
  return finish_world(builder);
}

#endif
