// Where balls and corners meet what does not move by itself: boundaries, and parts of fixed and driven bodies.
#include "contact/boundary.h"
#include "model/model.h"
#include "step/cone/cone.h"

// Keys: other balls by their number, then parts of fixed bodies, then segments of boundaries (up to this many each).
enum { FEATURES = 1024 };

static int64_t part_key(const carom_model *m, int part) { return (int64_t)m->body_count + part; }

static int64_t boundary_key(const carom_model *m, int boundary, int feature) {
  return (int64_t)m->body_count + m->part_count + (int64_t)boundary * FEATURES + feature;
}

void carom_cone_place_walls(carom_cone *cone, const carom_state *state) {
  const carom_model *m = cone->model;
  carom_cone_walls *w = &cone->walls;
  for (int i = 0; i < w->part_count; i++) {
    carom_placed part = carom_contacts_place(cone->search.parts, w->parts[i], state);
    w->boxes[i] = carom_aabb_of(&part);
  }
  for (int i = 0; i < m->boundary_count; i++) {
    w->frames[i] = carom_boundary_frame(&m->boundaries[i], state->x, state->q);
    w->upward[i] = cm_rotate(w->frames[i].q, cm_vec3(0, 0, 1));
  }
}

// Room for one more; null when they are only counted.
static carom_near *next_of(carom_near_list *list) {
  return list->count++ < list->room ? &list->near[list->count - 1] : NULL;
}

// ---- boundaries ---------------------------------------------------------------------------------------------------

static carom_near near_boundary(const carom_cone *cone, const carom_state *state, int body, const carom_grain *ball,
                                int boundary, const carom_touch *touch) {
  const carom_model *m = cone->model;
  const carom_boundary *b = &m->boundaries[boundary];
  carom_near near = {.a = body, .b = b->body, .gap = touch->gap, .normal = touch->normal};
  near.key = boundary_key(m, boundary, touch->feature);
  carom_near_set_surface(&near, carom_materials_surface(m, m->bodies[body].material, b->material));
  carom_vec3 point = cm_axpy(ball->x, -ball->radius, near.normal);
  near.arm_a = cm_sub(point, state->x[body]);
  if (b->body != CAROM_WORLD) near.arm_b = cm_sub(cm_axpy(point, -near.gap, near.normal), state->x[b->body]);
  return near;
}

void carom_cone_touch_boundaries(const carom_cone *cone, const carom_state *state, int body, const carom_grain *ball,
                                 carom_near_list *list) {
  const carom_cone_walls *w = &cone->walls;
  for (int i = 0; i < cone->model->boundary_count; i++) {
    const carom_boundary *b = &cone->model->boundaries[i];
    carom_touch touches[CAROM_TOUCH_MAX];
    carom_grain wide = *ball;
    if (b->body != CAROM_WORLD) wide.reach += cone->search.reach[b->body];
    bool plane = b->kind == CAROM_BOUNDARY_PLANE;  // most balls are far from them
    if (plane && cm_dot(w->upward[i], cm_sub(ball->x, w->frames[i].p)) > ball->radius + wide.reach) continue;
    int found = carom_boundary_touch(cone->model, b, w->frames[i], &wide, touches);
    for (int k = 0; k < found; k++) {
      carom_near *near = next_of(list);
      if (near) *near = near_boundary(cone, state, body, ball, i, &touches[k]);
    }
  }
}

// ---- fixed bodies -------------------------------------------------------------------------------------------------

static bool box_near(const carom_aabb *box, carom_vec3 x, double d) {
  return x.x >= box->low.x - d && x.x <= box->high.x + d && x.y >= box->low.y - d && x.y <= box->high.y + d &&
         x.z >= box->low.z - d && x.z <= box->high.z + d;
}

// The half-space, by far the most usual, in closed form.
static bool touch_part(const carom_placed *part, const carom_shape *shape, const carom_grain *ball, double *gap,
                       carom_vec3 *normal) {
  if (carom_shape_get_kind(part->shape) == CAROM_SHAPE_HALFSPACE) {
    *normal = cm_rotate(part->pose.q, cm_vec3(0, 0, 1));
    *gap = cm_dot(*normal, cm_sub(ball->x, part->pose.p)) - ball->radius;
    return true;
  }
  carom_placed a = {shape, cm_pose(ball->x, cm_qidentity())};
  carom_distance_result d;
  if (carom_distance(&a, part, NULL, &d) != CAROM_OK) return false;
  *gap = d.distance;
  *normal = d.normal;
  return true;
}

void carom_cone_touch_fixed(const carom_cone *cone, const carom_state *state, int body, const carom_grain *ball,
                            carom_near_list *list) {
  const carom_model *m = cone->model;
  for (int i = 0; i < cone->walls.part_count; i++) {
    int part = cone->walls.parts[i], other = cone->search.parts->body_of_part[part];
    double reach = ball->reach + cone->search.reach[other];
    if (!box_near(&cone->walls.boxes[i], ball->x, ball->radius + reach)) continue;
    const carom_shape *shape = m->parts[m->bodies[body].part_start].shape;
    carom_placed placed = carom_contacts_place(cone->search.parts, part, state);
    carom_near n = {.a = body, .b = other, .key = part_key(m, part)}, *near;
    if (!touch_part(&placed, shape, ball, &n.gap, &n.normal) || n.gap > reach || !(near = next_of(list))) continue;
    carom_near_set_surface(&n, carom_model_surface(m, body, other));
    n.arm_a = cm_scale(-ball->radius, n.normal);
    n.arm_b = cm_sub(cm_axpy(ball->x, -ball->radius - n.gap, n.normal), state->x[other]);
    *near = n;
  }
}
