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
static const double LEVEL = 1e-9;     // of the smallest body: points as near as the nearest
static const double BESIDE = 0.1;     // of its radius: how far from its lowest point a point stands for that
static const double RECOVERY = 0.05;  // of an overlap, in a step: velocities that part bodies at once make energy
static const int64_t PAIRS = (int64_t)1 << 40;  // keys of pairs of parts lie above those of boundaries

static carom_status make_room(carom_cone *cone, int more, carom_error *error) {
  carom_cone_search *s = &cone->search;
  int count = s->near_count + more;
  if (carom_reserve(&cone->allocator, (void **)&s->unsorted, &s->unsorted_capacity, count, sizeof *s->unsorted))
    return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", count);
}

// ---- pairs of parts -----------------------------------------------------------------------------------------------

// A rim that turns about its axis stays where it is, though its points go down ahead of where it touches: what the turn
// brings them nearer by in the step.
static double turned_in(const carom_cone *cone, const carom_state *state, int part, carom_vec3 normal,
                        carom_vec3 point) {
  int body = cone->search.parts->body_of_part[part];
  carom_shape_kind kind = carom_shape_get_kind(cone->model->parts[part].shape);
  if ((kind != CAROM_SHAPE_CYLINDER && kind != CAROM_SHAPE_CONE) || !carom_cone_moves(cone, body)) return 0;
  carom_pose pose = carom_contacts_place(cone->search.parts, part, state).pose;
  carom_vec3 axis = cm_rotate(pose.q, cm_vec3(0, 0, 1));
  carom_vec3 spin = cm_scale(cm_dot(cone->bodies.start.w[body], axis), axis);
  return -cone->h * cm_dot(normal, cm_cross(spin, cm_sub(point, pose.p)));
}

static double gap_of(const carom_cone *cone, const carom_state *state, const carom_contact *c) {
  if (!cone->program.projection) return c->gap;
  double gap = c->gap >= 0 ? c->gap : RECOVERY * c->gap * cone->h / cone->whole;
  return gap + turned_in(cone, state, c->part_a, c->normal, c->point_a) +
         turned_in(cone, state, c->part_b, cm_neg(c->normal), c->point_b);
}

static carom_near near_of(const carom_cone *cone, const carom_state *state, const carom_contact *c) {
  carom_vec3 middle = cm_scale(0.5, cm_add(c->point_a, c->point_b));
  return (carom_near){.a = c->body_a,
                      .b = c->body_b,
                      .key = PAIRS + carom_memory_parts(cone->model, c->part_a, c->part_b),
                      .restitution = (float)c->restitution,
                      .gap = gap_of(cone, state, c),
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

// A cylinder that lies on its side, or stands on its rim, touches with the lowest points of its circles: those beside
// them turn away as it rolls. One that is about to stand shows its whole rim.
static bool rolls_away(const carom_cone *cone, const carom_state *state, int part, carom_vec3 normal,
                       carom_vec3 point) {
  carom_shape_kind kind = carom_shape_get_kind(cone->model->parts[part].shape);
  if (kind != CAROM_SHAPE_CYLINDER && kind != CAROM_SHAPE_CONE) return false;
  carom_placed placed = carom_contacts_place(cone->search.parts, part, state);
  carom_vec3 across = cm_cross(cm_rotate(placed.pose.q, cm_vec3(0, 0, 1)), normal);
  double steep = cm_norm(across), radius = carom_shape_half_axes(placed.shape).x;
  return steep > STANDING && fabs(cm_dot(across, cm_sub(point, placed.pose.p))) > LOWEST * radius * steep;
}

static bool is_far_end(const carom_cone *cone, const carom_state *state, int part, carom_vec3 point) {
  carom_pose pose = carom_contacts_place(cone->search.parts, part, state).pose;
  return cm_dot(cm_rotate(pose.q, cm_vec3(0, 0, 1)), cm_sub(point, pose.p)) > 0;
}

static bool are_of_one_rim(const carom_cone *cone, const carom_state *state, const carom_contact *a,
                           const carom_contact *b) {
  return is_far_end(cone, state, a->part_a, a->point_a) == is_far_end(cone, state, b->part_a, b->point_a) &&
         is_far_end(cone, state, a->part_b, a->point_b) == is_far_end(cone, state, b->part_b, b->point_b);
}

// The nearest of its rim never does, whatever its place.
static bool is_beside(const carom_cone *cone, const carom_state *state, const carom_contact *contacts, int count,
                      int i) {
  const carom_contact *c = &contacts[i];
  if (!cone->program.lawful || !(rolls_away(cone, state, c->part_a, c->normal, c->point_a) ||
                                 rolls_away(cone, state, c->part_b, c->normal, c->point_b)))
    return false;
  int first = i, last = i;
  while (first > 0 && contacts[first - 1].pair == c->pair) first--;
  while (last + 1 < count && contacts[last + 1].pair == c->pair) last++;
  for (int k = first; k <= last; k++)
    if (contacts[k].gap < c->gap - LEVEL * cone->bodies.smallest && are_of_one_rim(cone, state, c, &contacts[k]))
      return true;
  return false;
}

// The polygon of contact may have been left a point of the rim next to its lowest one: that one stands for it.
static carom_contact lowest_of_rim(const carom_cone *cone, const carom_state *state, carom_contact c) {
  carom_placed placed = carom_contacts_place(cone->search.parts, c.part_a, state);
  if (!cone->program.lawful || carom_shape_get_kind(placed.shape) != CAROM_SHAPE_CYLINDER) return c;
  carom_vec3 axis = cm_rotate(placed.pose.q, cm_vec3(0, 0, 1)), half = carom_shape_half_axes(placed.shape);
  carom_vec3 down = cm_axpy(cm_neg(c.normal), cm_dot(c.normal, axis), axis);
  double steep = cm_norm(down), end = is_far_end(cone, state, c.part_a, c.point_a) ? half.z : -half.z;
  if (steep <= STANDING) return c;
  carom_vec3 lowest = cm_axpy(cm_axpy(placed.pose.p, end, axis), half.x / steep, down), way = cm_sub(lowest, c.point_a);
  if (cm_norm(way) > BESIDE * half.x) return c;
  carom_vec3 along = cm_axpy(way, -cm_dot(c.normal, way), c.normal);
  c.gap += cm_dot(c.normal, way);
  c.point_a = lowest;
  c.point_b = cm_add(c.point_b, along);
  return c;
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
    if (is_beside(cone, state, contacts, count, i)) continue;
    carom_contact lowest = lowest_of_rim(cone, state, *c);
    s->deepest = fmax(s->deepest, -lowest.gap);
    s->unsorted[s->near_count++] = near_of(cone, state, &lowest);
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
  cone->search.deepest = 0;
  carom_status status = add_pairs(cone, state, error);
  for (int i = 0; i < m->part_count && m->boundary_count > 0 && status == CAROM_OK; i++)
    if (!m->bodies[cone->search.parts->body_of_part[i]].fixed) status = add_part_corners(cone, state, i, error);
  return status == CAROM_OK ? sort_by_body(cone, error) : status;
}
