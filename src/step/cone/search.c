// Which balls may meet each other, walls and boundaries within the step.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "contact/boundary.h"
#include "step/cone/cone.h"

// Keys: bodies by their number, then parts of fixed bodies, then segments of boundaries (up to this many each).
enum { FEATURES = 1024 };
static int64_t part_key(const carom_model *m, int part) { return (int64_t)m->body_count + part; }
static int64_t boundary_key(const carom_model *m, int boundary) {
  return (int64_t)m->body_count + m->part_count + (int64_t)boundary * FEATURES;
}

static void set_surface(carom_near *near, carom_contact_surface surface) {
  near->friction = surface.friction;
  near->restitution = (float)surface.restitution;
}

bool carom_cone_room(const carom_allocator *allocator, void **array, int *capacity, int count, size_t size) {
  if (count <= *capacity) return true;
  int wanted = count + count / 4 + 64;
  void *block = carom_allocate(allocator, (size_t)wanted, size);
  if (!block) return false;
  carom_release(allocator, *array);
  *array = block;
  *capacity = wanted;
  return true;
}

// ---- walls --------------------------------------------------------------------------------------------------------

static carom_contact_surface mixed_surface(const carom_model *m, int body, int material) {
  int a = m->bodies[body].material;
  for (int i = m->surface_count - 1; i >= 0; i--) {
    const int *pair = m->surfaces[i].material;
    if ((pair[0] == a && pair[1] == material) || (pair[0] == material && pair[1] == a)) return m->surfaces[i].surface;
  }
  const carom_material *p = &m->materials[a], *q = &m->materials[material];
  return (carom_contact_surface){sqrt(p->restitution * q->restitution), sqrt(p->friction * q->friction)};
}

int carom_cone_touch_boundaries(const carom_cone *cone, int body, carom_vec3 center, carom_vec3 arm, double radius,
                                double reach, int64_t key, carom_near *near, int room) {
  const carom_model *m = cone->model;
  int count = 0;
  for (int i = 0; i < m->boundary_count; i++) {
    const carom_boundary *b = &m->boundaries[i];
    carom_touch touches[CAROM_TOUCH_MAX];
    double far = reach + (b->body == CAROM_WORLD ? 0 : cone->reach[b->body]);
    bool plane = b->kind == CAROM_BOUNDARY_PLANE;  // most balls are far from them
    if (plane && cm_dot(cone->upward[i], cm_sub(center, cone->frames[i].p)) > radius + far) continue;
    int found = carom_boundary_touch(m, b, cone->frames[i], center, radius, far, touches);
    for (int k = 0; k < found; k++, count++) {
      if (count >= room) continue;
      carom_near n = {.a = body, .b = b->body, .gap = touches[k].gap, .normal = touches[k].normal};
      n.key = key + boundary_key(m, i) + touches[k].feature;
      set_surface(&n, mixed_surface(m, body, b->material));
      n.arm_a = cm_axpy(arm, -radius, n.normal);
      carom_vec3 point = cm_sub(cm_axpy(center, -radius, n.normal), cm_scale(n.gap, n.normal));
      n.arm_b = b->body == CAROM_WORLD ? cm_zero3() : cm_sub(point, cone->frames[m->boundary_count + i].p);
      near[count] = n;
    }
  }
  return count;
}

static bool box_near(const carom_aabb *box, carom_vec3 x, double d) {
  return x.x >= box->low.x - d && x.x <= box->high.x + d && x.y >= box->low.y - d && x.y <= box->high.y + d &&
         x.z >= box->low.z - d && x.z <= box->high.z + d;
}

// A ball and a part of a fixed body; the half-space, by far the most usual, in closed form.
static bool touch_part(const carom_placed *part, const carom_shape *ball, carom_vec3 x, double radius, double *gap,
                       carom_vec3 *normal) {
  if (carom_shape_get_kind(part->shape) == CAROM_SHAPE_HALFSPACE) {
    *normal = cm_rotate(part->pose.q, cm_vec3(0, 0, 1));
    *gap = cm_dot(*normal, cm_sub(x, part->pose.p)) - radius;
    return true;
  }
  carom_placed a = {ball, cm_pose(x, cm_qidentity())};
  carom_distance_result d;
  if (carom_distance(&a, part, NULL, &d) != CAROM_OK) return false;
  *gap = d.distance;
  *normal = d.normal;
  return true;
}

static int touch_fixed(const carom_cone *cone, const carom_state *state, int body, carom_vec3 x, double radius,
                       double reach, carom_near *near, int room) {
  const carom_model *m = cone->model;
  int count = 0;
  for (int i = 0; i < cone->fixed_count; i++) {
    int other = cone->parts->body_of_part[cone->fixed_parts[i]];
    if (!box_near(&cone->fixed_boxes[i], x, radius + reach + cone->reach[other])) continue;
    carom_placed part = carom_contacts_place(cone->parts, cone->fixed_parts[i], state);
    carom_near n = {.a = body, .b = other, .key = part_key(m, cone->fixed_parts[i])};
    const carom_shape *ball = m->parts[m->bodies[body].part_start].shape;
    if (!touch_part(&part, ball, x, radius, &n.gap, &n.normal) || n.gap > reach + cone->reach[other]) continue;
    if (count++ >= room) continue;
    set_surface(&n, carom_model_surface(m, body, other));
    n.arm_a = cm_scale(-radius, n.normal);
    n.arm_b = cm_sub(cm_axpy(x, -radius - n.gap, n.normal), state->x[other]);
    near[count - 1] = n;
  }
  return count;
}

static int touch_walls(const carom_cone *cone, const carom_state *state, int place, carom_near *near, int room) {
  const carom_grain *g = &cone->grid.grains[place];
  int body = cone->mover[cone->grid.order[place]];
  int count = touch_fixed(cone, state, body, g->x, g->radius, g->reach, near, room);
  int left = room > count ? room - count : 0;
  return count + carom_cone_touch_boundaries(cone, body, g->x, cm_zero3(), g->radius, g->reach, 0, near + count, left);
}

static void place_walls(carom_cone *cone, const carom_state *state) {
  const carom_model *m = cone->model;
  for (int i = 0; i < cone->fixed_count; i++) {
    carom_placed part = carom_contacts_place(cone->parts, cone->fixed_parts[i], state);
    cone->fixed_boxes[i] = carom_aabb_of(&part);
  }
  for (int i = 0; i < m->boundary_count; i++) {
    int body = m->boundaries[i].body;
    cone->frames[i] = carom_boundary_frame(&m->boundaries[i], state->x, state->q);
    cone->upward[i] = cm_rotate(cone->frames[i].q, cm_vec3(0, 0, 1));
    cone->frames[m->boundary_count + i] =
        body == CAROM_WORLD ? cm_pose_identity() : cm_pose(state->x[body], state->q[body]);
  }
}

// ---- balls --------------------------------------------------------------------------------------------------------

static int up_axis(carom_vec3 g) {
  double x = fabs(g.x), y = fabs(g.y), z = fabs(g.z);
  return x > y && x > z ? 0 : y > z ? 1 : 2;
}

static void fill_balls(carom_cone *cone, const carom_state *state) {
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < cone->grid.count; i++) {
    int body = cone->mover[i];
    cone->grid.balls[i] = (carom_grain){state->x[body], cone->radius[body], cone->v[body], cone->reach[body]};
  }
}

// Both arms lead to one point, half way, so that angular momentum is kept to the last bit.
static void pair_near(const carom_cone *cone, int place, int other, carom_near *near) {
  const carom_grain *a = &cone->grid.grains[place], *b = &cone->grid.grains[other];
  carom_vec3 d = cm_sub(a->x, b->x);
  double length = cm_norm(d);
  near->a = cone->mover[cone->grid.order[place]];
  near->b = cone->mover[cone->grid.order[other]];
  near->key = near->b;
  near->mirrored = true;
  near->gap = length - a->radius - b->radius;
  near->normal = length > 0 ? cm_scale(1 / length, d) : cm_vec3(0, 0, 1);
  set_surface(near, cone->alike ? cone->surface : carom_model_surface(cone->model, near->a, near->b));
  near->arm_a = cm_scale(-(a->radius + 0.5 * near->gap), near->normal);
  near->arm_b = cm_scale(b->radius + 0.5 * near->gap, near->normal);
}

// First contact of each ball in near; the total in return.
static int count_near(carom_cone *cone, const carom_state *state) {
  bool walls = cone->fixed_count > 0 || cone->model->boundary_count > 0;
  int total = 0;
#pragma omp parallel for num_threads(cone->threads) schedule(static) reduction(+ : total) if (cone->threads > 1)
  for (int i = 0; i < cone->grid.count; i++) {
    cone->wall_count[i] = walls ? touch_walls(cone, state, i, NULL, 0) : 0;
    cone->rank[cone->mover[cone->grid.order[i]]] = i;
    total += cone->wall_count[i] + cone->grid.partner_count[i];
  }
  return total;
}

static void fill_near(carom_cone *cone, const carom_state *state) {
  int start = 0;
  for (int i = 0; i < cone->grid.count; i++) {  // counts to starts
    int own = cone->wall_count[i];
    cone->grid.order_scratch[i] = start;
    start += own + cone->grid.partner_count[i];
  }
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < cone->grid.count; i++) {
    carom_near *near = cone->near + cone->grid.order_scratch[i];
    const int *partners = cone->grid.partners + (size_t)i * (size_t)cone->grid.slots;
    if (cone->wall_count[i] > 0) touch_walls(cone, state, i, near, cone->wall_count[i]);
    for (int k = 0; k < cone->grid.partner_count[i]; k++)
      pair_near(cone, i, partners[k], &near[cone->wall_count[i] + k]);
  }
}

static carom_status search_grains(carom_cone *cone, const carom_state *state, carom_error *error) {
  fill_balls(cone, state);
  carom_grain_grid_sort(&cone->grid, up_axis(cone->model->gravity), cone->threads);
  carom_status status = carom_grain_grid_pair(&cone->grid, cone->threads, error);
  if (status != CAROM_OK) return status;
  cone->near_count = count_near(cone, state);
  if (!carom_cone_room(&cone->allocator, (void **)&cone->near, &cone->near_capacity, cone->near_count,
                       sizeof *cone->near))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", cone->near_count);
  fill_near(cone, state);
  return CAROM_OK;
}

// ---- both ---------------------------------------------------------------------------------------------------------

// What a body can do in h at its free speed, and a tenth of its size for what the others may do to it.
void carom_cone_set_reach(carom_cone *cone, double h) {
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < cone->model->body_count; i++) {
    const carom_body *body = &cone->model->bodies[i];
    double turn = cm_norm(cone->w_free[i]), speed = cm_norm(cone->v_free[i]);
    if (turn > 0 && !(cone->grains && !body->fixed)) speed += turn * fmin(cone->radius[i], 1e3);
    cone->reach[i] = h * speed + (body->fixed ? 0 : 0.1 * cone->radius[i]);
  }
}

carom_status carom_cone_search(carom_cone *cone, const carom_state *state, carom_error *error) {
  place_walls(cone, state);
  carom_status status = cone->grains ? search_grains(cone, state, error) : carom_cone_search_parts(cone, state, error);
  if (status != CAROM_OK) return status;
  if (carom_cone_room(&cone->allocator, (void **)&cone->impulses, &cone->impulse_capacity, cone->near_count,
                      sizeof *cone->impulses) &&
      carom_cone_room(&cone->allocator, (void **)&cone->chosen, &cone->chosen_capacity, cone->near_count,
                      sizeof *cone->chosen) &&
      (!cone->bounces || carom_cone_room(&cone->allocator, (void **)&cone->rebound, &cone->rebound_capacity,
                                         cone->near_count, sizeof *cone->rebound)))
    return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", cone->near_count);
}
