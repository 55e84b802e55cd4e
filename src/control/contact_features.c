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
  int number;
  double alignment;  // with the direction asked for
} face;

// The face whose outward normal is closest to `direction` (world).
static face best_face(const carom_placed *placed, carom_vec3 direction) {
  carom_vec3 d = cm_unrotate(placed->pose.q, direction);
  if (carom_shape_get_kind(placed->shape) == CAROM_SHAPE_HALFSPACE)
    return (face){.normal = {0, 0, 1}, .offset = 0, .number = -1, .alignment = d.z};
  const carom_polytope *p = carom_shape_polytope(placed->shape);
  face best = {.number = -1, .alignment = -2};
  for (int i = 0; p && i < p->face_count; i++) {
    double a = cm_dot(p->face_normals[i], d);
    if (a > best.alignment) best = (face){p->face_normals[i], p->face_offsets[i], i, a};
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

// ---- faces ---------------------------------------------------------------------------------------------------------

// A face with its corners; a half-space has one without.
static face face_of_shape(const carom_placed *placed, int number) {
  const carom_polytope *p = carom_shape_polytope(placed->shape);
  if (!p) return (face){.normal = {0, 0, 1}, .number = -1};
  return (face){p->face_normals[number], p->face_offsets[number], number, 0};
}

static int face_count(const carom_placed *placed) {
  const carom_polytope *p = carom_shape_polytope(placed->shape);
  return p ? p->face_count : carom_shape_get_kind(placed->shape) == CAROM_SHAPE_HALFSPACE;
}

// How far the corners of a face are from lying on the other one: the mean height, and how far they are beside it.
static double misses(const carom_placed *mine, const face *f, const carom_placed *other, const face *g) {
  const carom_polytope *p = carom_shape_polytope(mine->shape), *q = carom_shape_polytope(other->shape);
  if (!p) return INFINITY;
  int start = p->face_start[f->number], end = p->face_start[f->number + 1];
  double height = 0, beside = 0;
  for (int i = start; i < end; i++) {
    carom_vec3 at = cm_transform(mine->pose, p->vertices[p->face_vertices[i]]);
    carom_vec3 r = cm_transform(cm_pose_inverse(other->pose), at);
    double h = cm_dot(g->normal, r) - g->offset;
    height += h / (end - start), r = cm_axpy(r, -h, g->normal);
    for (int j = 0; q && j < q->face_count; j++)
      if (j != g->number) beside = fmax(beside, cm_dot(q->face_normals[j], r) - q->face_offsets[j]);
  }
  return fabs(height) + beside;
}

// Two faces that may meet: how far they are from it, and which body brings the corners.
typedef struct match {
  closest c;
  face faces[2];
  int side;
  double score;
} match;

static void try_match(const closest *c, const face faces[2], double size, match *best) {
  double lean =
      cm_norm(cm_add(cm_rotate(c->placed[0].pose.q, faces[0].normal), cm_rotate(c->placed[1].pose.q, faces[1].normal)));
  double a = misses(&c->placed[0], &faces[0], &c->placed[1], &faces[1]);
  double b = misses(&c->placed[1], &faces[1], &c->placed[0], &faces[0]), score = size * lean + fmin(a, b);
  if (score < best->score) *best = (match){*c, {faces[0], faces[1]}, a <= b + 1e-9 * size ? 0 : 1, score};
}

// The faces that are nearest to lying on each other. The oracle is not asked: bodies on a hinge touch there all the
// time.
static bool match_faces(const carom_plan *plan, const carom_pose pose[2], const int body[2], match *best) {
  const carom_model *model = plan->model;
  const carom_body *A = &model->bodies[body[0]], *B = &model->bodies[body[1]];
  best->score = INFINITY;
  for (int i = A->part_start; i < A->part_start + A->part_count; i++)
    for (int j = B->part_start; j < B->part_start + B->part_count; j++) {
      closest c = {.part = {i, j}};
      c.placed[0] = (carom_placed){model->parts[i].shape, cm_compose(pose[0], model->parts[i].pose)};
      c.placed[1] = (carom_placed){model->parts[j].shape, cm_compose(pose[1], model->parts[j].pose)};
      for (int k = 0; k < face_count(&c.placed[0]); k++)
        for (int l = 0; l < face_count(&c.placed[1]); l++)
          try_match(&c, (face[2]){face_of_shape(&c.placed[0], k), face_of_shape(&c.placed[1], l)}, plan->length_scale,
                    best);
    }
  return isfinite(best->score);
}

typedef struct flat {
  const carom_plan *plan;
  const int *body;
  const carom_pose *pose;
  carom_vec3 middle, normal;
  double size;
  int node;
} flat;

// What a joint between the two bodies forbids, as rows on the twist of the first relative to the second, about
// `origin`.
static int joint_rows(const flat *w, double (*rows)[6]) {
  const int *body = w->body;
  int count = 0;
  for (int i = 0; i < w->plan->joint_count && count <= 10; i++) {
    const carom_plan_joint *j = &w->plan->joints[i];
    int first = j->body[0] == body[0] && j->body[1] == body[1] ? 0 : j->body[0] == body[1] && j->body[1] == body[0];
    if (j->body[first] != body[0] || j->body[1 - first] != body[1] || !carom_joint_holds(w->plan, j, w->node)) continue;
    carom_vec3 r = cm_sub(cm_transform(w->pose[0], first == 0 ? j->found : j->point[1]), w->middle);
    for (int k = 0; k < 3; k++) {
      carom_vec3 e = cm_vec3(k == 0, k == 1, k == 2), t = cm_cross(r, e);
      memcpy(rows[count++], (double[6]){CAROM_XYZ(e), CAROM_XYZ(t)}, sizeof *rows);
    }
    for (int k = 0; k < j->rows - 3; k++) {
      carom_vec3 axis = cm_rotate(w->pose[first].q, j->axis), cross = cm_rotate(w->pose[1 - first].q, j->cross[k]);
      carom_vec3 t = cm_cross(cross, axis);
      memcpy(rows[count++], (double[6]){0, 0, 0, CAROM_XYZ(t)}, sizeof *rows);
    }
  }
  return count;
}

static double size_of(const double *v) {
  double sum = 0;
  for (int i = 0; i < 6; i++) sum += v[i] * v[i];
  return sqrt(sum);
}

// Takes from v what lies along the unit vectors.
static void reduce(int count, double (*basis)[6], double *v) {
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < count; i++) {
      double dot = 0;
      for (int k = 0; k < 6; k++) dot += basis[i][k] * v[k];
      for (int k = 0; k < 6; k++) v[k] -= dot * basis[i][k];
    }
}

static bool add_to_basis(int *count, double (*basis)[6], const double *v, double least) {
  double rest[6];
  memcpy(rest, v, sizeof rest);
  reduce(*count, basis, rest);
  double size = size_of(rest);
  if (size <= least || *count == 6) return false;
  for (int k = 0; k < 6; k++) basis[*count][k] = rest[k] / size;
  ++*count;
  return true;
}

// How fast a corner approaches with the twists that are left to the bodies; lengths relative to the face's size. False
// when the joints keep the corner where it is: then it is theirs to push it.
static bool corner_gradient(int joints, double (*basis)[6], carom_vec3 r, carom_vec3 n, double size, double *out) {
  carom_vec3 t = cm_scale(1 / size, cm_cross(r, n));
  double v[6] = {CAROM_XYZ(n), CAROM_XYZ(t)};
  reduce(joints, basis, v);
  memcpy(out, v, sizeof v);
  return size_of(v) > 1e-6;
}

static void gather_corners(const flat *w, int side, int count, const carom_vec3 *corners, carom_contact_features *f) {
  double rows[16][6], basis[6][6];
  int joints = 0, forbidden = joint_rows(w, rows);
  for (int i = 0; i < forbidden; i++) {
    for (int k = 3; k < 6; k++) rows[i][k] /= w->size;
    add_to_basis(&joints, basis, rows[i], 1e-9);
  }
  for (int i = 0; i < count; i++) {
    carom_vec3 r = cm_sub(cm_transform(w->pose[side], corners[i]), w->middle);
    if (corner_gradient(joints, basis, r, w->normal, w->size, f->gradients[f->corner_count]))
      f->corners[f->corner_count++] = corners[i];
  }
}

static carom_status find_faces(const carom_plan *plan, carom_plan_contact *contact, const carom_pose pose[2],
                               carom_error *error) {
  const int *body = contact->def.body;
  match m = {0};
  bool found = match_faces(plan, pose, body, &m);
  int side = m.side;
  const carom_placed *carrier = &m.c.placed[side];
  const carom_polytope *p = found ? carom_shape_polytope(carrier->shape) : NULL;
  int start = p ? p->face_start[m.faces[side].number] : 0;
  int count = p ? p->face_start[m.faces[side].number + 1] - start : 0;
  bool round = p && carom_shape_radius(m.c.placed[0].shape) + carom_shape_radius(m.c.placed[1].shape) > 0;
  if (!p || round || count > CAROM_FLAT_CORNERS)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                      "a flat contact of '%s' and '%s' cannot be planned: both need faces, not rounded, one of them of "
                      "at most %d corners",
                      carom_body_name(plan->model, body[0]), carom_body_name(plan->model, body[1]), CAROM_FLAT_CORNERS);
  carom_contact_features f = {.part = {m.c.part[0], m.c.part[1]}, .sign = 1, .vertex = m.faces[side].number};
  f.form = side == 0 ? CAROM_FORM_VERTEX_A : CAROM_FORM_VERTEX_B;
  face_of(plan, m.c.part[1 - side], &m.faces[1 - side], &f);
  flat w = {plan, body, pose, cm_zero3(), cm_rotate(pose[1 - side].q, f.normal), plan->length_scale, contact->def.node};
  carom_vec3 corners[CAROM_FLAT_CORNERS];
  for (int i = 0; i < count; i++) {
    corners[i] = cm_transform(plan->model->parts[m.c.part[side]].pose, p->vertices[p->face_vertices[start + i]]);
    w.middle = cm_axpy(w.middle, 1.0 / count, cm_transform(pose[side], corners[i]));
  }
  gather_corners(&w, side, count, corners, &f);
  if (f.corner_count == 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a flat contact of '%s' and '%s', which their joints do not let move",
                      carom_body_name(plan->model, body[0]), carom_body_name(plan->model, body[1]));
  contact->features = f;
  return CAROM_OK;
}

void carom_complement_thin(carom_plan_contact *contact) {
  double basis[6][6];
  int count = 0;
  for (int i = 0; i < contact->features.corner_count; i++) {
    carom_complement *p = &contact->corners[i];
    p->follows =
        p->decision == CAROM_SECOND_IS_ZERO && !add_to_basis(&count, basis, contact->features.gradients[i], 1e-6);
  }
}

// ---- all of it -----------------------------------------------------------------------------------------------------

// A face and a vertex where a face looks along the normal; otherwise two edges.
static const double along = 1 - 1e-6;

carom_status carom_contact_features_at(const carom_plan *plan, carom_plan_contact *contact, const carom_pose pose[2],
                                       carom_error *error) {
  const int *body = contact->def.body;
  closest c;
  if (contact->def.flat) return find_faces(plan, contact, pose, error);
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
