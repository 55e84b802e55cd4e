#include "step/start_solids.h"

#include <math.h>

#include "base/memory.h"
#include "collide/box_tree.h"
#include "geometry/shape.h"
#include "model/size.h"

enum { FACES = 4, EDGES = 6 };

static const int face_of[FACES][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
static const int edge_of[EDGES][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

// ---- two tetrahedra -------------------------------------------------------------------------------------------------

typedef struct tet {
  carom_vec3 x[4];
} tet;

static tet tet_at(const carom_model *m, const carom_state *state, int index) {
  tet t;
  for (int k = 0; k < 4; k++) t.x[k] = state->nodes[m->tets[index][k]];
  return t;
}

static carom_aabb box_of(const tet *t) {
  carom_aabb box = {t->x[0], t->x[0]};
  for (int k = 1; k < 4; k++) {
    box.low = cm_vec3(fmin(box.low.x, t->x[k].x), fmin(box.low.y, t->x[k].y), fmin(box.low.z, t->x[k].z));
    box.high = cm_vec3(fmax(box.high.x, t->x[k].x), fmax(box.high.y, t->x[k].y), fmax(box.high.z, t->x[k].z));
  }
  return box;
}

// Unit, outwards.
static carom_vec3 normal_of(const tet *t, int face) {
  carom_vec3 a = t->x[face_of[face][0]], b = t->x[face_of[face][1]], c = t->x[face_of[face][2]];
  return cm_unit(cm_cross(cm_sub(b, a), cm_sub(c, a)));
}

typedef struct span {
  double low, high;
} span;

static span along(const tet *t, carom_vec3 axis) {
  span s = {INFINITY, -INFINITY};
  for (int k = 0; k < 4; k++) {
    double d = cm_dot(axis, t->x[k]);
    s.low = fmin(s.low, d), s.high = fmax(s.high, d);
  }
  return s;
}

static double thickness(const tet *t) {
  double least = INFINITY;
  for (int f = 0; f < FACES; f++) {
    span s = along(t, normal_of(t, f));
    least = fmin(least, s.high - s.low);
  }
  return least;
}

// How far they must be moved along an axis to be apart; 0 or less when they are.
static double overlap_along(const tet *a, const tet *b, carom_vec3 axis) {
  span s = along(a, axis), t = along(b, axis);
  return fmin(s.high - t.low, t.high - s.low);
}

// The least of it over the axes that can separate: normals of faces, and what stands on two edges.
static double depth_of(const tet *a, const tet *b) {
  double depth = INFINITY;
  for (int f = 0; f < FACES && depth > 0; f++)
    depth = fmin(depth, fmin(overlap_along(a, b, normal_of(a, f)), overlap_along(a, b, normal_of(b, f))));
  for (int i = 0; i < EDGES * EDGES && depth > 0; i++) {
    carom_vec3 p = cm_sub(a->x[edge_of[i / EDGES][1]], a->x[edge_of[i / EDGES][0]]);
    carom_vec3 q = cm_sub(b->x[edge_of[i % EDGES][1]], b->x[edge_of[i % EDGES][0]]), n = cm_cross(p, q);
    if (cm_norm(n) > 1e-6 * cm_norm(p) * cm_norm(q)) depth = fmin(depth, overlap_along(a, b, cm_unit(n)));
  }
  return depth;
}

// How deep a point is inside, by the face that is nearest; negative outside.
static double depth_in(const tet *t, carom_vec3 x) {
  double depth = INFINITY;
  for (int f = 0; f < FACES; f++) depth = fmin(depth, cm_dot(normal_of(t, f), cm_sub(t->x[face_of[f][0]], x)));
  return depth;
}

// ---- the search -----------------------------------------------------------------------------------------------------

typedef struct search {
  const carom_contacts *contacts;
  const carom_model *model;
  const carom_state *state;
  const carom_overlap_sink *sink;
  carom_aabb *boxes;      // (tet_count)
  carom_box_tree *trees;  // (solid_count)
  int *holder;            // (node_count) the body that a node is pinned to; CAROM_WORLD: none
  int *seen;              // (node_count) 1 + the part that a node was held against last
  const carom_shape *point;
  int a, b;  // solids at hand; of a part, b is the body
  int part;
  carom_placed placed;
  carom_status status;
} search;

static void tell(const search *s, carom_overlap o) {
  if (o.depth > s->sink->typed * o.thinnest) s->sink->note(s->sink->context, &o);
}

static bool look_at_tets(void *context, int i, int j) {
  const search *s = context;
  tet a = tet_at(s->model, s->state, s->model->solids[s->a].tet_start + i);
  tet b = tet_at(s->model, s->state, s->model->solids[s->b].tet_start + j);
  tell(s, (carom_overlap){CAROM_SOLID(s->a), CAROM_SOLID(s->b), -1, -1, depth_of(&a, &b),
                          fmin(thickness(&a), thickness(&b))});
  return true;
}

static carom_overlap with_part(const search *s, double depth, double thinnest) {
  return (carom_overlap){CAROM_SOLID(s->a), s->b, -1, -1, depth, thinnest};
}

static void look_at_node(search *s, int node, double thinnest) {
  if (s->seen[node] == s->part + 1 || s->holder[node] == s->b) return;
  s->seen[node] = s->part + 1;
  carom_placed point = {s->point, cm_pose(s->state->nodes[node], cm_qidentity())};
  carom_distance_result d;
  s->status = carom_distance(&point, &s->placed, NULL, &d);
  if (s->status == CAROM_OK) tell(s, with_part(s, -d.distance, thinnest));
}

// What of the part is looked for in a tetrahedron.
static int corners_of(const carom_shape *shape) {
  if (!isfinite(carom_shape_bounding_radius(shape))) return 0;
  return shape->kind == CAROM_SHAPE_POLYTOPE ? shape->polytope.vertex_count : 1;
}

static bool look_at_part(void *context, int i) {
  search *s = context;
  int index = s->model->solids[s->a].tet_start + i;
  const carom_shape *shape = s->placed.shape;
  tet t = tet_at(s->model, s->state, index);
  double thin = thickness(&t);
  for (int k = 0; k < 4 && s->status == CAROM_OK; k++)
    look_at_node(s, s->model->tets[index][k], fmin(thin, 2 * carom_shape_half_depth(shape)));
  bool held = s->holder[s->model->tets[index][0]] == s->b;
  for (int k = 0; k < corners_of(shape) && !held; k++) {
    carom_vec3 corner = shape->kind == CAROM_SHAPE_POLYTOPE ? shape->polytope.vertices[k] : cm_zero3();
    tell(s, with_part(s, depth_in(&t, cm_transform(s->placed.pose, corner)), thin));
  }
  return s->status == CAROM_OK;
}

static void look_at_all(search *s) {
  const carom_model *m = s->model;
  for (s->a = 0; s->a < m->solid_count; s->a++) {
    const carom_aabb *own = s->boxes + m->solids[s->a].tet_start;
    for (s->b = s->a + 1; s->b < m->solid_count; s->b++)
      carom_box_tree_pairs(&s->trees[s->a], own, &s->trees[s->b], s->boxes + m->solids[s->b].tet_start, look_at_tets,
                           s);
    for (s->part = 0; s->part < m->part_count; s->part++) {
      s->b = s->contacts->body_of_part[s->part];
      s->placed = carom_contacts_place(s->contacts, s->part, s->state);
      carom_aabb box = carom_aabb_of(&s->placed);
      if (!carom_box_tree_query(&s->trees[s->a], own, &box, look_at_part, s)) return;
    }
  }
}

static bool set_up(search *s, const carom_allocator *a) {
  const carom_model *m = s->model;
  if (!CAROM_NEW_ALL(a, CAROM_ROOM(s->boxes, m->tet_count), CAROM_ROOM(s->trees, m->solid_count),
                     CAROM_ROOM(s->holder, m->node_count), CAROM_ROOM(s->seen, m->node_count)))
    return false;
  for (int i = 0; i < m->tet_count; i++) {
    tet t = tet_at(m, s->state, i);
    s->boxes[i] = box_of(&t);
  }
  for (int i = 0; i < m->node_count; i++) s->holder[i] = CAROM_WORLD;
  for (int i = 0; i < m->pin_count; i++) s->holder[m->pins[i].node] = m->pins[i].body;
  bool good = true;
  for (int i = 0; i < m->solid_count && good; i++)
    good = carom_box_tree_init(&s->trees[i], s->boxes + m->solids[i].tet_start, m->solids[i].tet_count, a);
  return good && carom_shape_create_sphere(1e-90, a, &s->point, NULL) == CAROM_OK;
}

carom_status carom_start_look_at_solids(const carom_contacts *contacts, const carom_state *state,
                                        const carom_overlap_sink *sink, carom_error *error) {
  const carom_model *m = contacts->model;
  search s = {.contacts = contacts, .model = m, .state = state, .sink = sink};
  carom_allocator a = carom_allocator_or_default(&m->allocator);
  if (m->solid_count == 0 || m->ignores_contacts) return CAROM_OK;
  bool ready = set_up(&s, &a);
  if (ready) look_at_all(&s);
  for (int i = 0; s.trees && i < m->solid_count; i++) carom_box_tree_release(&s.trees[i]);
  carom_shape_release(s.point);
  CAROM_RELEASE_ALL(&a, s.boxes, s.trees, s.holder, s.seen);
  if (!ready) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the start of %d solids", m->solid_count);
  if (s.status == CAROM_OK) return CAROM_OK;
  return carom_fail(error, s.status, "a node of '%s' has no distance to '%s' at the start",
                    carom_model_name(m, CAROM_SOLID(s.a)), carom_model_name(m, s.b));
}
