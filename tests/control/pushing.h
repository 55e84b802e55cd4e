// A part of 1.6 x 0.8 on oil, walls and probes, in any unit of length. For one source file of a test.
#ifndef CAROM_TESTS_PUSHING_H
#define CAROM_TESTS_PUSHING_H

#include "fixtures.h"

#include "carom/push.h"

enum { WALLS_MOST = 4, PART = 0 };

typedef struct push_scene {
  double unit;  // m: all lengths below are in it
  double mu_probe, mu_wall;
  double radius;  // of probes
  int probes, walls;
  double wall[WALLS_MOST][4];  // low and high corners: x0 y0 x1 y1
  double step, settle;
} push_scene;

static inline push_scene push_scene_default(void) {
  return (push_scene){.unit = 1e-3, .mu_probe = 0.3, .mu_wall = 0.2, .radius = 0.0125, .probes = 1, .step = 0.02};
}

typedef struct push_bench {
  world w;
  carom_pusher *pusher;
  double unit;
} push_bench;

static inline int push_material(carom_builder *b, const char *name) {
  carom_material_def m = carom_material_default();
  m.name = name;
  return carom_builder_add_material(b, &m);
}

static inline void push_put(carom_builder *b, carom_body_def def, const carom_shape *shape, int material,
                            const char *name) {
  def.material = material;
  def.name = name;
  CHECK(shape && put_shape(b, def, shape) >= 0);
}

static inline void push_put_wall(carom_builder *b, const push_scene *s, const double wall[4], const char *name) {
  const carom_shape *box = NULL;
  carom_vec3 size = cm_vec3((wall[2] - wall[0]) * s->unit, (wall[3] - wall[1]) * s->unit, 0.2 * s->unit);
  carom_vec3 at = cm_vec3(0.5 * (wall[0] + wall[2]) * s->unit, 0.5 * (wall[1] + wall[3]) * s->unit, 0);
  carom_shape_create_box(size, NULL, &box, NULL);
  push_put(b, fixed_body(at, cm_pose_identity().q), box, 2, name);
}

static inline world push_world_of(const push_scene *s) {
  static const char *const probe[] = {"probe", "second", "third", "fourth"};
  static const char *const wall[] = {"wall", "left", "right", "top"};
  carom_builder *b = new_builder();
  const carom_shape *shape = NULL;
  carom_body_def part = carom_body_default();
  carom_support_def oil = carom_support_default();
  carom_builder_set_planar(b, true);
  push_material(b, "part"), push_material(b, "tungsten"), push_material(b, "glass");
  carom_builder_set_surface(b, 0, 1, 0, s->mu_probe);
  carom_builder_set_surface(b, 0, 2, 0, s->mu_wall);
  carom_shape_create_box(cm_vec3(1.6 * s->unit, 0.8 * s->unit, 0.2 * s->unit), NULL, &shape, NULL);
  push_put(b, part, shape, 0, "part");
  oil.body = PART, oil.damping = 1e-3;
  carom_builder_add_support(b, &oil);
  for (int i = 0; i < s->probes; i++) {
    carom_shape_create_cylinder(s->radius * s->unit, 0.2 * s->unit, NULL, &shape, NULL);
    push_put(b, fixed_body(cm_vec3(0, (10 + i) * s->unit, 0), cm_pose_identity().q), shape, 1, probe[i]);
  }
  for (int i = 0; i < s->walls; i++) push_put_wall(b, s, s->wall[i], wall[i]);
  return finish_world(b);
}

static inline push_bench push_bench_make(const push_scene *s) {
  push_bench b = {.w = push_world_of(s), .unit = s->unit};
  carom_pusher_def def = carom_pusher_default();
  carom_error error;
  def.model = b.w.model, def.probe_count = s->probes, def.step = s->step, def.settle = s->settle;
  for (int i = 0; i < s->probes; i++) def.probes[i] = 1 + i;
  if (carom_pusher_create(&def, NULL, &b.pusher, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return b;
}

static inline void push_bench_end(push_bench *b) {
  carom_pusher_destroy(b->pusher);
  free_world(&b->w);
}

// A probe's way, lengths in units.
static inline carom_push_probe push_way(const push_bench *b, double x, double y, double heading, double speed) {
  return (carom_push_probe){cm_vec3(x * b->unit, y * b->unit, 0), heading, speed * b->unit};
}

static inline void push_place(const push_bench *b, carom_state *state, double x, double y, double angle) {
  double pose[3] = {x * b->unit, y * b->unit, angle};
  carom_push_set_pose(b->w.model, state, PART, pose);
}

static inline carom_push_result push_run(push_bench *b, const carom_push *push, carom_state *state, bool check) {
  carom_push_result r = {0};
  carom_error error;
  carom_status status = check ? carom_pusher_check(b->pusher, push, state, &r, &error)
                              : carom_pusher_run(b->pusher, push, state, &r, &error);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  return r;
}

#endif
