// Which features touch at a planned contact: asked of the separation oracle at the path's configuration of that node.
// The features are then held during a solve, and looked at again after it.
#include <string.h>

#include "control/plan.h"
#include "geometry/shape.h"

static carom_pose body_pose(const carom_plan *plan, int node, int body) {
  size_t at = (size_t)node * (size_t)plan->model->body_count + (size_t)body;
  return cm_pose(plan->path.x[at], plan->path.q[at]);
}

typedef struct closest {
  carom_ssh_result result;
  int part[2];
  carom_placed placed[2];
} closest;

// The two parts that are nearest to each other.
static bool find_closest(const carom_plan *plan, const carom_pose pose[2], const int body[2], closest *best) {
  const carom_model *model = plan->model;
  const carom_body *A = &model->bodies[body[0]], *B = &model->bodies[body[1]];
  best->result.gap = INFINITY;
  for (int i = A->part_start; i < A->part_start + A->part_count; i++)
    for (int j = B->part_start; j < B->part_start + B->part_count; j++) {
      closest c = {.part = {i, j}};
      c.placed[0] = (carom_placed){model->parts[i].shape, cm_compose(pose[0], model->parts[i].pose)};
      c.placed[1] = (carom_placed){model->parts[j].shape, cm_compose(pose[1], model->parts[j].pose)};
      if (carom_ssh(&c.placed[0], &c.placed[1], NULL, NULL, &c.result) != CAROM_OK) continue;
      if (c.result.gap < best->result.gap) *best = c;
    }
  return isfinite(best->result.gap);
}

typedef struct face {
  carom_vec3 normal;  // outward, shape frame
  double offset;
  double alignment;  // with the direction asked for
} face;

// The face whose outward normal is closest to `direction` (world).
static face best_face(const carom_placed *placed, carom_vec3 direction) {
  carom_vec3 d = cm_unrotate(placed->pose.q, direction);
  if (carom_shape_get_kind(placed->shape) == CAROM_SHAPE_HALFSPACE)
    return (face){.normal = {0, 0, 1}, .offset = 0, .alignment = d.z};
  const carom_polytope *p = carom_shape_polytope(placed->shape);
  face best = {.alignment = -2};
  for (int i = 0; p && i < p->face_count; i++) {
    double a = cm_dot(p->face_normals[i], d);
    if (a > best.alignment) best = (face){p->face_normals[i], p->face_offsets[i], a};
  }
  return best;
}

// The vertex that reaches furthest along `direction` (world).
static int best_vertex(const carom_placed *placed, carom_vec3 direction) {
  carom_vec3 d = cm_unrotate(placed->pose.q, direction), ends[2];
  const carom_vec3 *v;
  int best = 0, count = carom_core_points(placed->shape, ends, &v);
  for (int i = 1; i < count; i++)
    if (cm_dot(v[i], d) > cm_dot(v[best], d)) best = i;
  return best;
}

// The edge at the furthest vertex that is most nearly normal to `direction`.
static void best_edge(const carom_placed *placed, carom_vec3 direction, carom_vec3 *origin, carom_vec3 *edge) {
  carom_vec3 d = cm_unrotate(placed->pose.q, direction);
  const carom_polytope *p = carom_shape_polytope(placed->shape);
  int v = best_vertex(placed, direction), best = p->neighbors[p->neighbor_start[v]];
  for (int i = p->neighbor_start[v]; i < p->neighbor_start[v + 1]; i++)
    if (cm_dot(p->vertices[p->neighbors[i]], d) > cm_dot(p->vertices[best], d)) best = p->neighbors[i];
  *origin = p->vertices[v];
  *edge = cm_sub(p->vertices[best], p->vertices[v]);
}

static bool has_core(const carom_placed *placed) {
  carom_vec3 ends[2];
  const carom_vec3 *points;
  return carom_core_points(placed->shape, ends, &points) > 0;
}

static bool is_plannable(const carom_placed *placed) {
  return has_core(placed) || carom_shape_get_kind(placed->shape) == CAROM_SHAPE_HALFSPACE;
}

static void face_of(const carom_plan *plan, int part, const face *f, carom_contact_features *out) {
  carom_pose pose = plan->model->parts[part].pose;
  out->normal = cm_rotate(pose.q, f->normal);
  out->offset = f->offset + cm_dot(out->normal, pose.p) + carom_shape_radius(plan->model->parts[part].shape);
}

static void vertex_of(const carom_plan *plan, const closest *c, int side, carom_vec3 direction,
                      carom_contact_features *out) {
  carom_vec3 ends[2];
  const carom_vec3 *points;
  carom_core_points(c->placed[side].shape, ends, &points);
  out->vertex = best_vertex(&c->placed[side], direction);
  out->point = cm_transform(plan->model->parts[c->part[side]].pose, points[out->vertex]);
  out->radius = carom_shape_radius(c->placed[side].shape);
}

static void edges_of(const carom_plan *plan, const closest *c, carom_vec3 n, carom_contact_features *out) {
  for (int i = 0; i < 2; i++) {
    carom_vec3 origin, edge;
    carom_pose pose = plan->model->parts[c->part[i]].pose;
    best_edge(&c->placed[i], cm_scale(i == 0 ? -1 : 1, n), &origin, &edge);
    out->origin[i] = cm_transform(pose, origin);
    out->edge[i] = cm_rotate(pose.q, edge);
  }
}

// A face and a vertex where a face looks along the normal; otherwise two edges.
static const double along = 1 - 1e-6;

carom_status carom_contact_features_at(const carom_plan *plan, carom_plan_contact *contact, const carom_pose pose[2],
                                       carom_error *error) {
  const int *body = contact->def.body;
  closest c;
  if (contact->def.flat) return carom_contact_find_faces(plan, contact, pose, error);
  if (!find_closest(plan, pose, body, &c) || !is_plannable(&c.placed[0]) || !is_plannable(&c.placed[1]))
    return carom_fail(
        error, CAROM_ERR_UNSUPPORTED,
        "a contact of '%s' and '%s' cannot be planned: both need polytopes, balls, capsules or half-spaces "
        "as parts",
        carom_body_name(plan->model, body[0]), carom_body_name(plan->model, body[1]));
  carom_contact_features f = {.part = {c.part[0], c.part[1]}, .sign = 1};
  carom_vec3 n = c.result.normal;
  face of_a = has_core(&c.placed[0]) ? best_face(&c.placed[0], cm_neg(n)) : (face){.alignment = -2};
  face of_b = best_face(&c.placed[1], n);
  if (of_b.alignment > along || of_b.alignment >= of_a.alignment) {
    f.form = of_b.alignment > along ? CAROM_FORM_VERTEX_A : CAROM_FORM_EDGES;
    face_of(plan, c.part[1], &of_b, &f);
    vertex_of(plan, &c, 0, cm_neg(n), &f);
  } else {
    f.form = of_a.alignment > along ? CAROM_FORM_VERTEX_B : CAROM_FORM_EDGES;
    face_of(plan, c.part[0], &of_a, &f);
    vertex_of(plan, &c, 1, n, &f);
  }
  if (f.form == CAROM_FORM_EDGES && carom_shape_radius(c.placed[0].shape) + carom_shape_radius(c.placed[1].shape) > 0)
    return carom_fail(
        error, CAROM_ERR_UNSUPPORTED,
        "a contact of '%s' and '%s' cannot be planned: a round body must meet a face, and the first guess "
        "brings it to an edge, a corner or a round one",
        carom_body_name(plan->model, body[0]), carom_body_name(plan->model, body[1]));
  if (f.form == CAROM_FORM_EDGES) {
    edges_of(plan, &c, n, &f);
    carom_vec3 ea = cm_rotate(pose[0].q, f.edge[0]), eb = cm_rotate(pose[1].q, f.edge[1]);
    f.sign = cm_dot(cm_cross(ea, eb), n) < 0 ? -1 : 1;
  }
  contact->features = f;
  return CAROM_OK;
}

carom_status carom_contact_find_features(carom_plan *plan, carom_plan_contact *contact, carom_error *error) {
  const int *body = contact->def.body;
  carom_pose pose[2] = {body_pose(plan, contact->def.node, body[0]), body_pose(plan, contact->def.node, body[1])};
  return carom_contact_features_at(plan, contact, pose, error);
}

bool carom_contact_same_features(const carom_contact_features *a, const carom_contact_features *b) {
  if (a->corner_count != b->corner_count || a->form != b->form || a->part[0] != b->part[0] || a->part[1] != b->part[1])
    return false;
  if (a->form == CAROM_FORM_EDGES)
    return cm_norm(cm_sub(a->edge[0], b->edge[0])) == 0 && cm_norm(cm_sub(a->edge[1], b->edge[1])) == 0;
  return a->vertex == b->vertex && cm_norm(cm_sub(a->normal, b->normal)) < 1e-12;
}
