// Parts on oil, two probes, and a slot to bring the part into, in any unit of length. For one source file of a test.
#ifndef CAROM_TESTS_PEGS_H
#define CAROM_TESTS_PEGS_H

#include "carom/push_plan.h"
#include "fixtures.h"

enum { PEG_BODY = 0, PEG_PROBES = 1, PEG_WALLS = 3 };

typedef enum peg_kind { PEG_RECTANGLE, PEG_ELL, PEG_TRIANGLE } peg_kind;

// Lengths in units; the slot opens towards -x at x = 0, and the part comes to `deep` less than its end.
typedef struct peg_scene {
  peg_kind kind;
  double unit;  // m
  double clearance, deep, short_of;
  double mu_probe, mu_wall, damping, radius, speed, step;
  bool slot;
  double goal[3];            // of the body frame
  double distance, degrees;  // of the goal
} peg_scene;

// 1.6 x 0.8 mm, a slot with 40 um of clearance and 0.8 mm deep, probes of 25 um at 50 um/s.
static inline peg_scene peg_default(void) {
  return (peg_scene){.kind = PEG_RECTANGLE,
                     .unit = 1e-3,
                     .clearance = 0.04,
                     .deep = 0.8,
                     .short_of = 0.02,
                     .mu_probe = 0.3,
                     .mu_wall = 0.2,
                     .damping = 1e-3,
                     .radius = 0.0125,
                     .speed = 0.05,
                     .step = 0.02,
                     .slot = true,
                     .goal = {-0.02, 0, 0},
                     .distance = 0.01,
                     .degrees = 0.5};
}

static inline int peg_material(carom_builder *b, const char *name) {
  carom_material_def m = carom_material_default();
  m.name = name;
  return carom_builder_add_material(b, &m);
}

static inline void peg_wall(carom_builder *b, double unit, double x0, double y0, double x1, double y1) {
  const carom_shape *box = NULL;
  carom_shape_create_box(cm_vec3((x1 - x0) * unit, (y1 - y0) * unit, 0.2 * unit), NULL, &box, NULL);
  carom_body_def def = fixed_body(cm_vec3(0.5 * (x0 + x1) * unit, 0.5 * (y0 + y1) * unit, 0), cm_pose_identity().q);
  def.material = 2;
  CHECK(put_shape(b, def, box) >= 0);
}

static inline carom_part peg_box(double unit, double x0, double y0, double x1, double y1) {
  carom_part part = {.pose = cm_pose_identity()};
  part.pose.p = cm_vec3(0.5 * (x0 + x1) * unit, 0.5 * (y0 + y1) * unit, 0);
  carom_shape_create_box(cm_vec3((x1 - x0) * unit, (y1 - y0) * unit, 0.2 * unit), NULL, &part.shape, NULL);
  return part;
}

static inline carom_part peg_triangle(double unit) {
  const double at[3][2] = {{-0.6, -0.5}, {0.9, -0.3}, {-0.2, 0.8}};
  carom_vec3 corner[6];
  for (int i = 0; i < 6; i++) corner[i] = cm_scale(unit, cm_vec3(at[i % 3][0], at[i % 3][1], i < 3 ? -0.1 : 0.1));
  carom_part part = {.pose = cm_pose_identity()};
  carom_shape_create_hull(corner, 6, NULL, &part.shape, NULL);
  return part;
}

static inline void peg_part(carom_builder *b, const peg_scene *s) {
  carom_part parts[2];
  int count = 1;
  switch (s->kind) {
    case PEG_RECTANGLE:
      parts[0] = peg_box(s->unit, -0.8, -0.4, 0.8, 0.4);
      break;
    case PEG_TRIANGLE:
      parts[0] = peg_triangle(s->unit);
      break;
    default:
      parts[0] = peg_box(s->unit, -0.8, -0.4, 0.8, 0.1), parts[1] = peg_box(s->unit, -0.8, 0.1, -0.3, 0.7);
      count = 2;
  }
  carom_body_def def = carom_body_default();
  def.name = "part", def.parts = parts, def.part_count = count, def.material = 0;
  CHECK(carom_builder_add_body(b, &def) == PEG_BODY);
  for (int i = 0; i < count; i++) carom_shape_release(parts[i].shape);
  carom_support_def oil = carom_support_default();
  oil.body = PEG_BODY, oil.damping = s->damping;
  carom_builder_add_support(b, &oil);
}

static inline void peg_probes(carom_builder *b, const peg_scene *s) {
  for (int i = 0; i < 2; i++) {
    const carom_shape *tip = NULL;
    carom_shape_create_cylinder(s->radius * s->unit, 0.2 * s->unit, NULL, &tip, NULL);
    carom_body_def def = fixed_body(cm_vec3(0, (20 + i) * s->unit, 0), cm_pose_identity().q);
    def.material = 1;
    CHECK(put_shape(b, def, tip) >= 0);
  }
}

static inline world peg_world(const peg_scene *s) {
  carom_builder *b = new_builder();
  carom_builder_set_planar(b, true);
  peg_material(b, "part"), peg_material(b, "tungsten"), peg_material(b, "glass");
  carom_builder_set_surface(b, 0, 1, 0, s->mu_probe);
  carom_builder_set_surface(b, 0, 2, 0, s->mu_wall);
  peg_part(b, s);
  peg_probes(b, s);
  if (s->slot) {
    double half = 0.5 * (0.8 + s->clearance);
    peg_wall(b, s->unit, 0, half, s->deep, 1.1), peg_wall(b, s->unit, 0, -1.1, s->deep, -half);
    peg_wall(b, s->unit, s->deep, -1.1, s->deep + 0.2, 1.1);
  }
  return finish_world(b);
}

static inline carom_push_plan_def peg_plan(const peg_scene *s, const world *w) {
  carom_push_plan_def def = carom_push_plan_default();
  def.pusher.model = w->model, def.start = w->state, def.pusher.step = s->step;
  def.pusher.probe_count = 2, def.pusher.probes[0] = PEG_PROBES, def.pusher.probes[1] = PEG_PROBES + 1;
  def.pusher.goal = (carom_push_goal){.body = PEG_BODY,
                                      .position = cm_scale(s->unit, cm_vec3(s->goal[0], s->goal[1], 0)),
                                      .angle = s->goal[2],
                                      .distance = s->distance * s->unit,
                                      .turn = s->degrees * acos(-1) / 180};
  def.box = (carom_push_box){PEG_BODY, {0.02 * s->unit, 0.02 * s->unit, acos(-1) / 180}, 0.2};
  def.speed = s->speed * s->unit;
  def.threads = 1;
  return def;
}

static inline void peg_put(const peg_scene *s, world *w, double x, double y, double angle) {
  const double pose[3] = {x * s->unit, y * s->unit, angle};
  carom_push_set_pose(w->model, w->state, PEG_BODY, pose);
}

#endif
