// Contacts of bodies of any shape: the broad phase and the separation oracle of mechanics/contacts.h, and corners
// against boundaries.
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "geometry/shape.h"
#include "step/cone/cone.h"

enum { POINTS = 64 };             // of a pair: more than a contact polygon has
static const double SLOP = 0.05;  // of the smaller body: how far behind the nearest features points are taken
static const int64_t CORNERS = (int64_t)1 << 40;  // keys of corners lie above those of pairs

static bool room(carom_cone *cone, int count) {
  while (cone->near_capacity < count)
    if (!carom_grow(&cone->allocator, (void **)&cone->near, cone->near_capacity, &cone->near_capacity,
                    sizeof *cone->near))
      return false;
  return true;
}

static void near_of(const carom_cone *cone, const carom_state *state, const carom_contact *c, int point,
                    carom_near *near) {
  carom_vec3 middle = cm_scale(0.5, cm_add(c->point_a, c->point_b));
  *near = (carom_near){.a = c->body_a, .b = c->body_b, .gap = c->gap, .friction = c->friction, .normal = c->normal};
  near->restitution = (float)c->restitution;
  near->key = ((int64_t)c->part_a * cone->model->part_count + c->part_b) * POINTS + point;
  near->arm_a = cm_sub(middle, state->x[c->body_a]);
  near->arm_b = cm_sub(middle, state->x[c->body_b]);
}

static double pair_reach(const carom_cone *cone, const carom_contact *c) {
  return cone->reach[c->body_a] + cone->reach[c->body_b];
}

static carom_status add_pairs(carom_cone *cone, const carom_state *state, carom_error *error) {
  const carom_contact *contacts;
  int count, point = 0;
  double reach = 0;
  for (int i = 0; i < cone->model->body_count; i++) reach = fmax(reach, 2 * cone->reach[i]);
  carom_status status = carom_contacts_update(cone->parts, state, cone->reach, error);
  if (status != CAROM_OK) return status;
  carom_contact_query query = {CAROM_CONTACT_POLYGON, reach, SLOP * cone->size};
  status = carom_contacts_find(cone->parts, state, &query, &contacts, &count, error);
  if (status != CAROM_OK) return status;
  if (!room(cone, count)) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", count);
  for (int i = 0; i < count; i++) {
    point = i > 0 && contacts[i].pair == contacts[i - 1].pair ? point + 1 : 0;
    if (contacts[i].gap > pair_reach(cone, &contacts[i]) + SLOP * cone->size) continue;
    if (carom_joints_hold(cone->model, state, contacts[i].body_a, contacts[i].body_b)) continue;
    near_of(cone, state, &contacts[i], point, &cone->near[cone->near_count++]);
  }
  return CAROM_OK;
}

// ---- corners and boundaries ---------------------------------------------------------------------------------------

static carom_status add_corner(carom_cone *cone, const carom_state *state, int body, carom_vec3 center, double radius,
                               int64_t key, carom_error *error) {
  int most = CAROM_MANIFOLD_MAX * cone->model->boundary_count;
  if (!room(cone, cone->near_count + most)) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for contacts");
  cone->near_count += carom_cone_touch_boundaries(cone, body, center, cm_sub(center, state->x[body]), radius,
                                                  cone->reach[body], key, cone->near + cone->near_count, most);
  return CAROM_OK;
}

// Corners of polytopes, and the balls at the ends of capsules; other round shapes are not for boundaries.
static carom_status add_part_corners(carom_cone *cone, const carom_state *state, int part, carom_error *error) {
  const carom_shape *shape = cone->model->parts[part].shape;
  int body = cone->parts->body_of_part[part];
  carom_pose pose = carom_contacts_place(cone->parts, part, state).pose;
  int count = shape->kind == CAROM_SHAPE_POLYTOPE  ? shape->polytope.vertex_count
              : shape->kind == CAROM_SHAPE_CAPSULE ? 2
                                                   : 1;
  carom_status status = CAROM_OK;
  for (int i = 0; i < count && status == CAROM_OK; i++) {
    carom_vec3 point = shape->kind == CAROM_SHAPE_POLYTOPE
                           ? shape->polytope.vertices[i]
                           : cm_vec3(0, 0, i == 0 ? shape->half_length : -shape->half_length);
    int64_t key = CORNERS + ((int64_t)part * 4096 + i) * ((int64_t)1 << 24);
    status = add_corner(cone, state, body, cm_transform(pose, point), shape->radius, key, error);
  }
  return status;
}

// Contacts of one body side by side, by key: the order in which they are solved and remembered.
static int by_body(const void *a, const void *b) {
  const carom_near *p = a, *q = b;
  if (p->a != q->a) return p->a < q->a ? -1 : 1;
  return p->key < q->key ? -1 : p->key > q->key;
}

carom_status carom_cone_search_parts(carom_cone *cone, const carom_state *state, carom_error *error) {
  cone->near_count = 0;
  carom_status status = add_pairs(cone, state, error);
  for (int i = 0; i < cone->model->part_count && cone->model->boundary_count > 0 && status == CAROM_OK; i++)
    if (!cone->model->bodies[cone->parts->body_of_part[i]].fixed) status = add_part_corners(cone, state, i, error);
  if (cone->near_count > 0) qsort(cone->near, (size_t)cone->near_count, sizeof *cone->near, by_body);
  return status;
}
