#include "contact/skins.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "collide/broadphase_box.h"
#include "model/size.h"

static const double DEEP = 0.5;   // of the height of the tetrahedron behind a facet
static const double SPEED = 1.5;  // what contacts may add on the way

static carom_aabb box_of(carom_vec3 x, carom_vec3 y, carom_vec3 z, double reach) {
  carom_aabb box = {x, x}, second = {y, y}, third = {z, z};
  box = carom_box_union(&box, &second);
  box = carom_box_union(&box, &third);
  carom_vec3 spare = cm_vec3(reach, reach, reach);
  return (carom_aabb){cm_sub(box.low, spare), cm_add(box.high, spare)};
}

// Height of the tetrahedron over its facet, at rest.
static double height_of(const carom_model *model, const carom_solid *solid, int triangle) {
  const int *tet = model->tets[solid->tet_start + solid->skin->triangle_tets[triangle]];
  const int *n = solid->skin->triangles[triangle];
  const carom_vec3 *x = model->rest, *own = model->rest + solid->node_start;
  carom_vec3 a = x[tet[0]];
  double volume = cm_dot(cm_cross(cm_sub(x[tet[1]], a), cm_sub(x[tet[2]], a)), cm_sub(x[tet[3]], a)) / 6;
  double twice = cm_norm(cm_cross(cm_sub(own[n[1]], own[n[0]]), cm_sub(own[n[2]], own[n[0]])));
  return 6 * volume / twice;
}

// ---- neighbours -----------------------------------------------------------------------------------------------------

typedef struct side_of {
  int low, high, triangle, side;
} side_of;

static int by_nodes(const void *a, const void *b) {
  const side_of *p = a, *q = b;
  if (p->low != q->low) return p->low < q->low ? -1 : 1;
  if (p->high != q->high) return p->high < q->high ? -1 : 1;
  return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

// Across which triangle every side leads; where more than two meet at a side, some have none.
static bool find_neighbors(const int (*triangles)[3], int count, const carom_allocator *a, int (*neighbors)[3]) {
  side_of *sides = CAROM_NEW(a, side_of, 3 * count);
  if (!sides) return false;
  for (int i = 0; i < 3 * count; i++) {
    int p = triangles[i / 3][i % 3], q = triangles[i / 3][(i + 1) % 3];
    sides[i] = (side_of){p < q ? p : q, p < q ? q : p, i / 3, i % 3};
    neighbors[i / 3][i % 3] = -1;
  }
  qsort(sides, (size_t)(3 * count), sizeof *sides, by_nodes);
  for (int i = 0; i + 1 < 3 * count; i++) {
    if (sides[i].low != sides[i + 1].low || sides[i].high != sides[i + 1].high) continue;
    neighbors[sides[i].triangle][sides[i].side] = sides[i + 1].triangle;
    neighbors[sides[i + 1].triangle][sides[i + 1].side] = sides[i].triangle;
    i++;
  }
  carom_release(a, sides);
  return true;
}

static double bend(const carom_facet *f, const carom_facet *neighbor) {
  double behind = 0;
  for (int k = 0; k < 3; k++) behind = fmin(behind, cm_dot(f->normal, cm_sub(neighbor->x[k], f->x[0])));
  double bent = 1 - cm_dot(f->normal, neighbor->normal);
  return behind < 0 ? bent : 0;
}

// The mean over the triangles around a corner, by their areas.
static void smooth(carom_facet *facets, const int (*triangles)[3], int count, carom_vec3 *normals, int corners) {
  for (int i = 0; i < corners; i++) normals[i] = cm_zero3();
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 3; k++)
      normals[triangles[i][k]] = cm_axpy(normals[triangles[i][k]], facets[i].area, facets[i].normal);
  for (int i = 0; i < corners; i++) normals[i] = cm_unit(normals[i]);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) facets[i].at[k] = normals[triangles[i][k]];
}

static void sharpen(carom_facet *facets, const int (*neighbors)[3], int count) {
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 3; k++)
      facets[i].sharp[k] = neighbors[i][k] < 0 ? 0 : bend(&facets[i], &facets[neighbors[i][k]]);
}

// ---- skins of solids ------------------------------------------------------------------------------------------------

static double area_of(const int *n, const carom_vec3 *x) {
  return 0.5 * cm_norm(cm_cross(cm_sub(x[n[1]], x[n[0]]), cm_sub(x[n[2]], x[n[0]])));
}

static void put_facets(carom_skin *skin, const carom_vec3 *x) {
  for (int i = 0; i < skin->count; i++) {
    const int *n = skin->triangles[i];
    skin->facets[i] = carom_facet_of(x[n[0]], x[n[1]], x[n[2]]);
    skin->facets[i].shrunk = skin->area[i] / skin->facets[i].area;
  }
  sharpen(skin->facets, (const int(*)[3])skin->neighbors, skin->count);
  smooth(skin->facets, skin->triangles, skin->count, skin->normals, skin->node_count);
}

void carom_skin_place(carom_skin *skin, const carom_vec3 *nodes) { put_facets(skin, nodes + skin->node_start); }

carom_status carom_skin_init(const carom_model *model, int solid, const carom_allocator *allocator, carom_skin *skin,
                             carom_error *error) {
  const carom_solid *s = &model->solids[solid];
  int n = s->skin->triangle_count;
  *skin = (carom_skin){.solid = solid, .count = n, .node_start = s->node_start, .node_count = s->node_count};
  skin->triangles = (const int(*)[3])s->skin->triangles;
  bool room =
      CAROM_NEW_ALL(allocator, CAROM_ROOM(skin->facets, n), CAROM_ROOM(skin->boxes, n), CAROM_ROOM(skin->area, n),
                    CAROM_ROOM(skin->normals, s->node_count), CAROM_ROOM(skin->deep, n));
  skin->neighbors = carom_allocate(allocator, (size_t)n, sizeof *skin->neighbors);
  room = room && skin->neighbors && find_neighbors(skin->triangles, n, allocator, skin->neighbors);
  for (int i = 0; i < n && room; i++) skin->area[i] = area_of(skin->triangles[i], model->rest + s->node_start);
  if (room) put_facets(skin, model->rest + s->node_start);
  for (int i = 0; i < n && room; i++) {
    skin->boxes[i] = box_of(skin->facets[i].x[0], skin->facets[i].x[1], skin->facets[i].x[2], 0);
    skin->deep[i] = DEEP * height_of(model, s, i);
    skin->mean_area += skin->area[i] / n;
  }
  if (room && carom_box_tree_init(&skin->tree, skin->boxes, n, allocator)) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the surface of solid '%s'", s->name);
}

void carom_skin_release(carom_skin *skin, const carom_allocator *allocator) {
  carom_box_tree_release(&skin->tree);
  CAROM_RELEASE_ALL(allocator, skin->neighbors, skin->normals, skin->facets, skin->boxes, skin->area, skin->deep);
}

void carom_skin_fit(carom_skin *skin, const carom_state *state, double h) {
  const carom_vec3 *x = state->nodes + skin->node_start, *v = state->node_velocities + skin->node_start;
  for (int i = 0; i < skin->count; i++) {
    const int *n = skin->triangles[i];
    double fastest = cm_norm2(v[n[0]]);
    for (int k = 1; k < 3; k++) fastest = cm_norm2(v[n[k]]) > fastest ? cm_norm2(v[n[k]]) : fastest;
    skin->boxes[i] = box_of(x[n[0]], x[n[1]], x[n[2]], SPEED * h * sqrt(fastest) + 0.5 * skin->deep[i]);
  }
  carom_box_tree_fit(&skin->tree, skin->boxes);
}

// ---- hulls of rigid parts -------------------------------------------------------------------------------------------

static const carom_polytope *sharp_polytope(const carom_shape *shape) {
  return carom_shape_radius(shape) > 0 ? NULL : carom_shape_polytope(shape);
}

// Fans of the faces.
static void cut_faces(const carom_polytope *p, int (*triangles)[3]) {
  int next = 0;
  for (int f = 0; f < p->face_count; f++) {
    const int *v = p->face_vertices + p->face_start[f];
    for (int k = 1; k + 1 < p->face_start[f + 1] - p->face_start[f]; k++, next++)
      triangles[next][0] = v[0], triangles[next][1] = v[k], triangles[next][2] = v[k + 1];
  }
}

carom_status carom_hull_init(const carom_model *model, int part, int body, const carom_allocator *allocator,
                             carom_hull *hull, carom_error *error) {
  const carom_shape *shape = model->parts[part].shape;
  const carom_polytope *p = sharp_polytope(shape);
  *hull = (carom_hull){.part = part, .body = body, .count = p ? 2 * p->vertex_count - 4 : 0};
  hull->deep = carom_shape_half_depth(shape);
  if (!p) return CAROM_OK;
  hull->triangles = carom_allocate(allocator, (size_t)hull->count, sizeof *hull->triangles);
  bool room =
      CAROM_NEW_ALL(allocator, CAROM_ROOM(hull->vertices, p->vertex_count), CAROM_ROOM(hull->normals, p->vertex_count),
                    CAROM_ROOM(hull->facets, hull->count), CAROM_ROOM(hull->boxes, hull->count));
  if (!room || !hull->triangles)
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the surface of body '%s'", model->bodies[body].name);
  cut_faces(p, hull->triangles);
  hull->neighbors = carom_allocate(allocator, (size_t)hull->count, sizeof *hull->neighbors);
  if (hull->neighbors && find_neighbors((const int(*)[3])hull->triangles, hull->count, allocator, hull->neighbors))
    return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the edges of body '%s'", model->bodies[body].name);
}

void carom_hull_release(carom_hull *hull, const carom_allocator *allocator) {
  CAROM_RELEASE_ALL(allocator, hull->triangles, hull->neighbors, hull->normals, hull->vertices, hull->facets,
                    hull->boxes);
}

void carom_hull_fit(carom_hull *hull, const carom_model *model, const carom_state *state, double reach) {
  const carom_part *part = &model->parts[hull->part];
  reach += fmin(0.5 * hull->deep, carom_shape_bounding_radius(part->shape));
  const carom_polytope *p = sharp_polytope(part->shape);
  carom_vec3 spare = cm_vec3(reach, reach, reach);
  hull->placed =
      (carom_placed){part->shape, cm_compose(cm_pose(state->x[hull->body], state->q[hull->body]), part->pose)};
  carom_aabb box = carom_aabb_of(&hull->placed);
  hull->box = (carom_aabb){cm_sub(box.low, spare), cm_add(box.high, spare)};
  for (int i = 0; p && i < p->vertex_count; i++) hull->vertices[i] = cm_transform(hull->placed.pose, p->vertices[i]);
  for (int i = 0; i < hull->count; i++) {
    const int *t = hull->triangles[i];
    hull->facets[i] = carom_facet_of(hull->vertices[t[0]], hull->vertices[t[1]], hull->vertices[t[2]]);
    hull->boxes[i] = box_of(hull->facets[i].x[0], hull->facets[i].x[1], hull->facets[i].x[2], reach);
  }
  sharpen(hull->facets, (const int(*)[3])hull->neighbors, hull->count);
  if (p) smooth(hull->facets, (const int(*)[3])hull->triangles, hull->count, hull->normals, p->vertex_count);
}
