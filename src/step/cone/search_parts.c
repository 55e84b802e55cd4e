// Contacts of bodies of any shape: the broad phase and the separation oracle of contact/pairs.h, and corners against
// boundaries.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "contact/boundary.h"
#include "geometry/shape.h"
#include "step/cone/cone.h"

static const double SLOP = 0.05;      // of the smallest body: how far behind the nearest features points are taken
static const double NEIGHBOUR = 0.5;  // of the smallest body: how far off a place stands for where bodies overlap
static const double STANDING = 0.05;  // sine of the angle of axis and normal, to which a cylinder is about to stand
static const double LOWEST = 1e-6;    // of its radius: how far beside its lowest point a point is that point
static const double LEVEL = 1e-4;     // of the smallest body: points as near as the nearest
static const int64_t PAIRS = (int64_t)1 << 40;  // keys of pairs of parts lie above those of boundaries

static carom_status make_room(carom_cone *cone, int more, carom_error *error) {
  carom_cone_search *s = &cone->search;
  int count = s->near_count + more;
  if (carom_reserve(&cone->allocator, (void **)&s->unsorted, &s->unsorted_capacity, count, sizeof *s->unsorted))
    return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", count);
}

// ---- pairs of parts -----------------------------------------------------------------------------------------------

static carom_near near_of(const carom_cone *cone, const carom_state *state, const carom_contact *c) {
  carom_vec3 middle = cm_scale(0.5, cm_add(c->point_a, c->point_b));
  return (carom_near){.a = c->body_a,
                      .b = c->body_b,
                      .key = PAIRS + carom_memory_parts(cone->model, c->part_a, c->part_b),
                      .restitution = (float)c->restitution,
                      .gap = c->gap,
                      .friction = c->friction,
                      .normal = c->normal,
                      .arm_a = cm_sub(middle, state->x[c->body_a]),
                      .arm_b = cm_sub(middle, state->x[c->body_b])};
}

bool carom_cone_widen(carom_cone *cone, const carom_state *state, int pair, const carom_distance_result *d) {
  const carom_part_pair *p = &cone->search.parts->pairs[pair];
  const carom_state *end = cone->trial;
  int64_t key = PAIRS + carom_memory_parts(cone->model, p->part_a, p->part_b);
  double near = NEIGHBOUR * cone->bodies.smallest - d->distance;
  bool any = false;
  for (int i = 0; i < cone->search.near_count; i++) {
    carom_near *n = &cone->search.near[i];
    if (n->key != key || n->a != p->body_a || carom_cone_is_impact(cone, i)) continue;
    carom_vec3 arm = cm_rotate(end->q[n->a], cm_unrotate(state->q[n->a], n->arm_a));
    if (cm_norm(cm_sub(cm_add(end->x[n->a], arm), d->point_a)) > near) continue;
    n->gap += d->distance;
    any = true;
  }
  return any;
}

// A cylinder that lies on its side, or stands on its rim, touches with the lowest points of its circles: those ahead of
// them turn away as it rolls, which gaps linear in the step do not know. One that is about to stand shows its whole
// rim.
static bool rolls_away(const carom_cone *cone, const carom_state *state, int part, carom_vec3 normal,
                       carom_vec3 point) {
  carom_placed placed = carom_contacts_place(cone->search.parts, part, state);
  carom_shape_kind kind = carom_shape_get_kind(placed.shape);
  if (kind != CAROM_SHAPE_CYLINDER && kind != CAROM_SHAPE_CONE) return false;
  carom_vec3 across = cm_cross(cm_rotate(placed.pose.q, cm_vec3(0, 0, 1)), normal);
  double steep = cm_norm(across), radius = carom_shape_half_axes(placed.shape).x;
  return steep > STANDING && fabs(cm_dot(across, cm_sub(point, placed.pose.p))) > LOWEST * radius * steep;
}

// The nearest of its pair never does, whatever its place.
static bool is_ahead(const carom_cone *cone, const carom_state *state, const carom_contact *contacts, int count,
                     int i) {
  const carom_contact *c = &contacts[i];
  double nearest = c->gap;
  for (int k = i - 1; k >= 0 && contacts[k].pair == c->pair; k--) nearest = fmin(nearest, contacts[k].gap);
  for (int k = i + 1; k < count && contacts[k].pair == c->pair; k++) nearest = fmin(nearest, contacts[k].gap);
  if (!cone->program.lawful || c->gap <= nearest + LEVEL * cone->bodies.smallest) return false;
  return rolls_away(cone, state, c->part_a, c->normal, c->point_a) ||
         rolls_away(cone, state, c->part_b, c->normal, c->point_b);
}

static double farthest_reach(const carom_cone *cone) {
  double reach = 0;
  for (int i = 0; i < cone->model->body_count; i++) reach = fmax(reach, 2 * cone->search.reach[i]);
  return reach;
}

carom_status carom_cone_find_contacts(carom_cone *cone, const carom_state *state, const carom_contact **contacts,
                                      int *count, carom_error *error) {
  double slop = SLOP * cone->bodies.smallest, reach = farthest_reach(cone);
  carom_contact_query query = {CAROM_CONTACT_POLYGON, reach, cone->program.lawful ? fmax(reach, slop) : slop};
  return carom_contacts_find(cone->search.parts, state, &query, contacts, count, error);
}

static carom_status add_pairs(carom_cone *cone, const carom_state *state, carom_error *error) {
  carom_cone_search *s = &cone->search;
  const carom_contact *contacts;
  double slop = SLOP * cone->bodies.smallest;
  int count = 0;
  carom_status status = carom_contacts_update(s->parts, state, s->reach, error);
  if (status == CAROM_OK) status = carom_cone_find_contacts(cone, state, &contacts, &count, error);
  if (status == CAROM_OK) status = make_room(cone, count, error);
  for (int i = 0; i < count && status == CAROM_OK; i++) {
    const carom_contact *c = &contacts[i];
    if (c->gap > s->reach[c->body_a] + s->reach[c->body_b] + slop) continue;
    if (carom_joints_hold(cone->model, state, c->body_a, c->body_b)) continue;
    if (is_ahead(cone, state, contacts, count, i)) continue;
    s->unsorted[s->near_count++] = near_of(cone, state, c);
  }
  return status;
}

// ---- corners and boundaries ---------------------------------------------------------------------------------------

static carom_status add_corner(carom_cone *cone, const carom_state *state, int body, const carom_grain *corner,
                               carom_error *error) {
  carom_cone_search *s = &cone->search;
  int most = CAROM_TOUCH_MAX * cone->model->boundary_count;
  carom_status status = make_room(cone, most, error);
  if (status != CAROM_OK) return status;
  carom_near_list list = {.near = s->unsorted + s->near_count, .room = most};
  carom_cone_touch_boundaries(cone, state, body, corner, &list);
  s->near_count += list.count;
  return CAROM_OK;
}

// Corners of polytopes, and the balls at the ends of capsules; other round shapes are not for boundaries.
static carom_status add_part_corners(carom_cone *cone, const carom_state *state, int part, carom_error *error) {
  const carom_shape *shape = cone->model->parts[part].shape;
  int body = cone->search.parts->body_of_part[part];
  carom_pose pose = carom_contacts_place(cone->search.parts, part, state).pose;
  bool polytope = shape->kind == CAROM_SHAPE_POLYTOPE;
  int count = polytope ? shape->polytope.vertex_count : shape->kind == CAROM_SHAPE_CAPSULE ? 2 : 1;
  carom_status status = CAROM_OK;
  for (int i = 0; i < count && status == CAROM_OK; i++) {
    carom_vec3 end = cm_vec3(0, 0, i == 0 ? shape->half_length : -shape->half_length);
    carom_vec3 point = cm_transform(pose, polytope ? shape->polytope.vertices[i] : end);
    carom_grain corner = {point, shape->radius, cone->search.reach[body]};
    status = add_corner(cone, state, body, &corner, error);
  }
  return status;
}

// ---- both ---------------------------------------------------------------------------------------------------------

// Contacts of one body side by side, else as they were found: the order in which they are solved and remembered.
static carom_status sort_by_body(carom_cone *cone, carom_error *error) {
  carom_cone_search *s = &cone->search;
  int bodies = cone->model->body_count, *first = s->first;
  if (!carom_reserve(&cone->allocator, (void **)&s->near, &s->near_capacity, s->near_count, sizeof *s->near))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", s->near_count);
  memset(first, 0, ((size_t)bodies + 1) * sizeof *first);
  for (int i = 0; i < s->near_count; i++) first[s->unsorted[i].a + 1]++;
  for (int b = 0; b < bodies; b++) first[b + 1] += first[b];
  for (int i = 0; i < s->near_count; i++) s->near[first[s->unsorted[i].a]++] = s->unsorted[i];
  return CAROM_OK;
}

carom_status carom_cone_search_parts(carom_cone *cone, const carom_state *state, carom_error *error) {
  const carom_model *m = cone->model;
  cone->search.near_count = 0;
  carom_status status = add_pairs(cone, state, error);
  for (int i = 0; i < m->part_count && m->boundary_count > 0 && status == CAROM_OK; i++)
    if (!m->bodies[cone->search.parts->body_of_part[i]].fixed) status = add_part_corners(cone, state, i, error);
  return status == CAROM_OK ? sort_by_body(cone, error) : status;
}
