#include "mechanics/soft_overlap.h"

#include "base/memory.h"
#include "mechanics/soft_surface.h"

enum { SIDE = 16, CELLS = SIDE * SIDE * SIDE };  // of the grid

// ---- making ---------------------------------------------------------------------------------------------------------

static int most_points(const carom_model *m) {
  int most = 1;
  for (int k = 0; k < m->solid_count; k++)
    if (m->solids[k].skin->node_count > most) most = m->solids[k].skin->node_count;
  for (int k = 0; k < m->part_count; k++) {
    const carom_polytope *P = carom_shape_polytope(m->parts[k].shape);
    if (P && P->vertex_count > most) most = P->vertex_count;
  }
  return most;
}

static double radius_at_rest(const carom_model *m, const carom_solid *s) {
  carom_vec3 center = cm_zero3();
  double most = 0;
  for (int i = s->node_start; i < s->node_start + s->node_count; i++)
    center = cm_axpy(center, m->node_masses[i] / s->mass, m->rest[i]);
  for (int i = s->node_start; i < s->node_start + s->node_count; i++)
    most = fmax(most, cm_norm2(cm_sub(m->rest[i], center)));
  return sqrt(most);
}

static bool make_room(carom_soft_overlaps *o) {
  int n = o->model->solid_count, most = most_points(o->model);
  return CAROM_NEW_ALL(&o->allocator, CAROM_ROOM(o->thin, n), CAROM_ROOM(o->size, n), CAROM_ROOM(o->chosen, n),
                       CAROM_ROOM(o->boxes, n), CAROM_ROOM(o->points, most), CAROM_ROOM(o->next, most),
                       CAROM_ROOM(o->head, CELLS));
}

carom_status carom_soft_overlaps_create(carom_overlaps *rigid, carom_soft_overlaps **soft, carom_error *error) {
  const carom_model *m = rigid->model;
  carom_soft_overlaps *o = CAROM_NEW(&rigid->allocator, carom_soft_overlaps, 1);
  *soft = NULL;
  if (o) *o = (carom_soft_overlaps){.rigid = rigid, .model = m, .allocator = rigid->allocator, .least = INFINITY};
  if (!o || !make_room(o)) {
    carom_soft_overlaps_destroy(o);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the audit of %d solids", m->solid_count);
  }
  for (int k = 0; k < m->solid_count; k++) {
    const carom_solid *s = &m->solids[k];
    o->thin[k] = carom_soft_width(s, m->rest + s->node_start);
    o->size[k] = radius_at_rest(m, s);
    o->least = fmin(o->least, o->thin[k]);
  }
  *soft = o;
  return CAROM_OK;
}

void carom_soft_overlaps_destroy(carom_soft_overlaps *o) {
  if (!o) return;
  carom_allocator a = o->allocator;
  CAROM_RELEASE_ALL(&a, o->thin, o->size, o->chosen, o->boxes, o->points, o->next, o->head, o);
}

// ---- points in a solid ----------------------------------------------------------------------------------------------

static const carom_vec3 *nodes_of(const carom_soft_overlaps *o, const carom_state *state, int solid) {
  return state->nodes + o->model->solids[solid].node_start;
}

static bool is_in(const carom_aabb *box, carom_vec3 x) {
  return x.x >= box->low.x && x.x <= box->high.x && x.y >= box->low.y && x.y <= box->high.y && x.z >= box->low.z &&
         x.z <= box->high.z;
}

static void take_point(carom_soft_overlaps *o, const carom_aabb *region, carom_vec3 x) {
  if (is_in(region, x)) o->points[o->point_count++] = x;
}

static int cell_along(double x, double low, double high) {
  double width = high - low, at = width > 0 ? SIDE * ((x - low) / width) : 0;
  return at >= SIDE - 1 ? SIDE - 1 : at > 0 ? (int)at : 0;
}

static void cells_of(const carom_aabb *region, carom_vec3 x, int cell[3]) {
  cell[0] = cell_along(x.x, region->low.x, region->high.x);
  cell[1] = cell_along(x.y, region->low.y, region->high.y);
  cell[2] = cell_along(x.z, region->low.z, region->high.z);
}

static void sort_points(carom_soft_overlaps *o, const carom_aabb *region) {
  for (int i = 0; i < CELLS; i++) o->head[i] = -1;
  for (int i = 0; i < o->point_count; i++) {
    int c[3];
    cells_of(region, o->points[i], c);
    int *head = &o->head[(c[0] * SIDE + c[1]) * SIDE + c[2]];
    o->next[i] = *head;
    *head = i;
  }
}

typedef struct corners {
  carom_vec3 a, b, c, d;
} corners;

static double volume6(carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 d) {
  return cm_dot(cm_cross(cm_sub(b, a), cm_sub(c, a)), cm_sub(d, a));
}

static bool contains(const corners *t, carom_vec3 x) {
  return volume6(t->a, t->b, t->c, x) >= 0 && volume6(t->a, t->c, t->d, x) >= 0 && volume6(t->a, t->d, t->b, x) >= 0 &&
         volume6(t->b, t->d, t->c, x) >= 0;
}

static carom_aabb box_of(const corners *t) {
  return (carom_aabb){
      cm_vec3(fmin(fmin(t->a.x, t->b.x), fmin(t->c.x, t->d.x)), fmin(fmin(t->a.y, t->b.y), fmin(t->c.y, t->d.y)),
              fmin(fmin(t->a.z, t->b.z), fmin(t->c.z, t->d.z))),
      cm_vec3(fmax(fmax(t->a.x, t->b.x), fmax(t->c.x, t->d.x)), fmax(fmax(t->a.y, t->b.y), fmax(t->c.y, t->d.y)),
              fmax(fmax(t->a.z, t->b.z), fmax(t->c.z, t->d.z)))};
}

// A solid that points are asked about.
typedef struct host {
  const carom_solid *solid;
  const carom_vec3 *x;
  carom_aabb region;
} host;

static double deepest_in_tet(const carom_soft_overlaps *o, const host *h, const corners *t, int tet, double known) {
  carom_aabb box = box_of(t);
  int from[3], to[3];
  if (!carom_boxes_meet(&box, &h->region, 0) || !(volume6(t->a, t->b, t->c, t->d) > 0)) return known;
  cells_of(&h->region, box.low, from);
  cells_of(&h->region, box.high, to);
  for (int i = from[0]; i <= to[0]; i++)
    for (int j = from[1]; j <= to[1]; j++)
      for (int k = from[2]; k <= to[2]; k++)
        for (int p = o->head[(i * SIDE + j) * SIDE + k]; p >= 0; p = o->next[p])
          if (contains(t, o->points[p]))
            known = fmax(known, carom_soft_distance(h->solid, h->x, o->points[p], tet, known));
  return known;
}

// How deep the deepest of the points is in a solid, m, if deeper than what is known.
static double deepest_in(carom_soft_overlaps *o, const host *h, double known) {
  if (o->point_count == 0) return known;
  sort_points(o, &h->region);
  for (int k = 0; k < h->solid->tet_count; k++) {
    const int *n = o->model->tets[h->solid->tet_start + k];
    const carom_vec3 *x = h->x - h->solid->node_start;
    corners t = {x[n[0]], x[n[1]], x[n[2]], x[n[3]]};
    known = deepest_in_tet(o, h, &t, k, known);
  }
  return known;
}

// ---- a solid in another ---------------------------------------------------------------------------------------------

static carom_aabb shared(const carom_aabb *a, const carom_aabb *b) {
  return (carom_aabb){cm_vec3(fmax(a->low.x, b->low.x), fmax(a->low.y, b->low.y), fmax(a->low.z, b->low.z)),
                      cm_vec3(fmin(a->high.x, b->high.x), fmin(a->high.y, b->high.y), fmin(a->high.z, b->high.z))};
}

static void note(double depth, double thin, double time, int a, int b, carom_finding *f) {
  if (!(depth <= 0)) carom_finding_note(f, depth / thin, time, a, b);
}

// What would not be worse than what was found need not be known sharply.
static double known_depth(const carom_finding *f, double thin) { return isfinite(f->worst) ? f->worst * thin : 0; }

static void measure_solid_in_solid(carom_soft_overlaps *o, const carom_state *state, int a, int b, carom_finding *f) {
  const carom_solid *guest = &o->model->solids[a];
  const carom_vec3 *x = nodes_of(o, state, a);
  host h = {&o->model->solids[b], nodes_of(o, state, b), shared(&o->boxes[a], &o->boxes[b])};
  double thin = fmin(o->thin[a], o->thin[b]);
  o->point_count = 0;
  for (int i = 0; i < guest->skin->node_count; i++) take_point(o, &h.region, x[guest->skin->nodes[i]]);
  note(deepest_in(o, &h, known_depth(f, thin)), thin, state->time, CAROM_SOLID(a), CAROM_SOLID(b), f);
}

// ---- solids and rigid parts -----------------------------------------------------------------------------------------

static bool is_pinned_to(const carom_model *m, int solid, int body) {
  const carom_solid *s = &m->solids[solid];
  for (int i = s->pin_start; i < s->pin_start + s->pin_count; i++)
    if (m->pins[i].body == body) return true;
  return false;
}

static double nodes_in_part(const carom_soft_overlaps *o, const carom_state *state, int solid, const carom_placed *part,
                            const carom_aabb *box) {
  const carom_tets_skin *skin = o->model->solids[solid].skin;
  const carom_vec3 *x = nodes_of(o, state, solid);
  double depth = 0;
  for (int i = 0; i < skin->node_count; i++) {
    carom_placed probe = {o->rigid->probe, cm_pose(x[skin->nodes[i]], cm_qidentity())};
    carom_distance_result d = {.distance = NAN};
    if (!is_in(box, probe.pose.p)) continue;
    if (carom_distance(&probe, part, NULL, &d) != CAROM_OK) return NAN;
    depth = fmax(depth, -d.distance);
  }
  return depth;
}

static double ball_in_solid(const host *h, carom_vec3 center, double radius, bool inside) {
  double off = carom_soft_distance(h->solid, h->x, center, -1, 0);
  return inside ? radius + off : radius - off;
}

static double part_in_solid(carom_soft_overlaps *o, const host *h, const carom_placed *part) {
  const carom_polytope *P = carom_shape_polytope(part->shape);
  bool ball = carom_shape_get_kind(part->shape) == CAROM_SHAPE_SPHERE;
  o->point_count = 0;
  if (ball) take_point(o, &h->region, part->pose.p);
  for (int v = 0; P && v < P->vertex_count; v++) take_point(o, &h->region, cm_transform(part->pose, P->vertices[v]));
  double depth = deepest_in(o, h, 0);
  return ball ? ball_in_solid(h, part->pose.p, carom_shape_radius(part->shape), depth > 0) : depth;
}

static void measure_part(carom_soft_overlaps *o, const carom_state *state, int solid, int part, carom_finding *f) {
  int body = o->rigid->pairs->body_of_part[part];
  carom_placed placed = carom_contacts_place(o->rigid->pairs, part, state);
  carom_aabb box = carom_aabb_of(&placed);
  double thin = fmin(o->thin[solid], o->rigid->thickness[part]);
  if (!carom_boxes_meet(&o->boxes[solid], &box, 0) || is_pinned_to(o->model, solid, body)) return;
  host h = {&o->model->solids[solid], nodes_of(o, state, solid), shared(&o->boxes[solid], &box)};
  note(nodes_in_part(o, state, solid, &placed, &box), thin, state->time, CAROM_SOLID(solid), body, f);
  note(part_in_solid(o, &h, &placed), thin, state->time, CAROM_SOLID(solid), body, f);
}

static void measure_boundaries(const carom_soft_overlaps *o, const carom_state *state, int solid, carom_finding *f) {
  const carom_tets_skin *skin = o->model->solids[solid].skin;
  double depth = 0;
  for (int i = 0; i < skin->node_count; i++)
    depth = fmax(depth, carom_overlaps_in_boundaries(o->rigid, state, nodes_of(o, state, solid)[skin->nodes[i]], 0));
  note(depth, o->thin[solid], state->time, CAROM_SOLID(solid), CAROM_WORLD, f);
}

// ---- all ------------------------------------------------------------------------------------------------------------

void carom_soft_overlaps_measure(carom_soft_overlaps *o, const carom_state *state, const bool *bodies,
                                 carom_finding *f) {
  const carom_model *m = o->model;
  for (int k = 0; k < m->solid_count; k++) o->boxes[k] = carom_soft_box(&m->solids[k], nodes_of(o, state, k));
  for (int a = 0; a < m->solid_count; a++) {
    for (int b = 0; b < m->solid_count; b++)
      if (a != b && (o->chosen[a] || o->chosen[b]) && carom_boxes_meet(&o->boxes[a], &o->boxes[b], 0))
        measure_solid_in_solid(o, state, a, b, f);
    for (int part = 0; part < m->part_count; part++)
      if (o->chosen[a] || !bodies || bodies[o->rigid->pairs->body_of_part[part]]) measure_part(o, state, a, part, f);
    if (m->boundary_count > 0 && o->chosen[a]) measure_boundaries(o, state, a, f);
  }
}

// ---- who is near ----------------------------------------------------------------------------------------------------

static bool are_near(const carom_soft_overlaps *o, const carom_state *state, int solid, int part, double reach) {
  carom_placed placed = carom_contacts_place(o->rigid->pairs, part, state);
  carom_aabb box = carom_aabb_of(&placed), own = carom_soft_box(&o->model->solids[solid], nodes_of(o, state, solid));
  return carom_boxes_meet(&box, &own, reach);
}

static bool is_alone_at(const carom_soft_overlaps *o, const carom_state *state, int solid, double reach) {
  const carom_model *m = o->model;
  carom_aabb own = carom_soft_box(&m->solids[solid], nodes_of(o, state, solid));
  for (int k = 0; k < m->solid_count; k++) {
    carom_aabb box = carom_soft_box(&m->solids[k], nodes_of(o, state, k));
    if (k != solid && carom_boxes_meet(&own, &box, reach)) return false;
  }
  for (int part = 0; part < m->part_count; part++)
    if (are_near(o, state, solid, part, reach)) return false;
  return m->boundary_count == 0;
}

bool carom_soft_overlaps_alone(const carom_soft_overlaps *o, const carom_state *before, const carom_state *state,
                               int solid, double reach) {
  return is_alone_at(o, before, solid, reach) && is_alone_at(o, state, solid, reach);
}

bool carom_soft_overlaps_near_body(const carom_soft_overlaps *o, const carom_state *before, const carom_state *state,
                                   int body, double reach) {
  const carom_body *b = &o->model->bodies[body];
  for (int k = 0; k < o->model->solid_count; k++)
    for (int part = b->part_start; part < b->part_start + b->part_count; part++)
      if (are_near(o, before, k, part, reach) || are_near(o, state, k, part, reach)) return true;
  return false;
}

static bool has_boundary(const carom_model *m, int body) {
  for (int i = 0; i < m->boundary_count; i++)
    if (m->boundaries[i].body == body) return true;
  return false;
}

bool carom_soft_overlaps_meet(const carom_soft_overlaps *o, const carom_state *state, int solid, int other,
                              double reach) {
  const carom_model *m = o->model;
  if (other < CAROM_WORLD) {
    carom_aabb own = carom_soft_box(&m->solids[solid], nodes_of(o, state, solid));
    carom_aabb box = carom_soft_box(&m->solids[CAROM_SOLID(other)], nodes_of(o, state, CAROM_SOLID(other)));
    return carom_boxes_meet(&own, &box, reach);
  }
  bool meet = has_boundary(m, other);
  for (int k = 0; other > CAROM_WORLD && k < m->bodies[other].part_count; k++)
    meet = meet || are_near(o, state, solid, m->bodies[other].part_start + k, reach);
  return meet;
}
