// Which faces meet at a planned contact that is flat, and with which corners.
#include <string.h>

#include "control/plan.h"

typedef struct face {
  carom_vec3 normal;  // outward, shape frame
  double offset;
  int number;  // -1: that of a half-space, which has no corners
} face;

static face face_of_shape(const carom_placed *placed, int number) {
  const carom_polytope *p = carom_shape_polytope(placed->shape);
  if (!p) return (face){.normal = {0, 0, 1}, .number = -1};
  return (face){p->face_normals[number], p->face_offsets[number], number};
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
  int part[2];
  carom_placed placed[2];
  face faces[2];
  int side;
  double score;
} match;

static void try_match(match *c, double size, match *best) {
  const face *faces = c->faces;
  double lean =
      cm_norm(cm_add(cm_rotate(c->placed[0].pose.q, faces[0].normal), cm_rotate(c->placed[1].pose.q, faces[1].normal)));
  double a = misses(&c->placed[0], &faces[0], &c->placed[1], &faces[1]);
  double b = misses(&c->placed[1], &faces[1], &c->placed[0], &faces[0]), score = size * lean + fmin(a, b);
  c->side = a <= b + 1e-9 * size ? 0 : 1, c->score = score;
  if (score < best->score) *best = *c;
}

// The faces that are nearest to lying on each other. The oracle is not asked: bodies on a hinge touch there all the
// time.
static bool match_faces(const carom_plan *plan, const carom_pose pose[2], const int body[2], match *best) {
  const carom_model *model = plan->model;
  const carom_body *A = &model->bodies[body[0]], *B = &model->bodies[body[1]];
  best->score = INFINITY;
  for (int i = A->part_start; i < A->part_start + A->part_count; i++)
    for (int j = B->part_start; j < B->part_start + B->part_count; j++) {
      match c = {.part = {i, j}};
      c.placed[0] = (carom_placed){model->parts[i].shape, cm_compose(pose[0], model->parts[i].pose)};
      c.placed[1] = (carom_placed){model->parts[j].shape, cm_compose(pose[1], model->parts[j].pose)};
      for (int k = 0; k < face_count(&c.placed[0]); k++)
        for (int l = 0; l < face_count(&c.placed[1]); l++) {
          c.faces[0] = face_of_shape(&c.placed[0], k), c.faces[1] = face_of_shape(&c.placed[1], l);
          try_match(&c, plan->length_scale, best);
        }
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

carom_status carom_contact_find_faces(const carom_plan *plan, carom_plan_contact *contact, const carom_pose pose[2],
                                      carom_error *error) {
  const int *body = contact->def.body;
  match m = {0};
  bool found = match_faces(plan, pose, body, &m);
  int side = m.side;
  const carom_placed *carrier = &m.placed[side];
  const carom_polytope *p = found ? carom_shape_polytope(carrier->shape) : NULL;
  int start = p ? p->face_start[m.faces[side].number] : 0;
  int count = p ? p->face_start[m.faces[side].number + 1] - start : 0;
  bool round = p && carom_shape_radius(m.placed[0].shape) + carom_shape_radius(m.placed[1].shape) > 0;
  if (!p || round || count > CAROM_FLAT_CORNERS)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                      "a flat contact of '%s' and '%s' cannot be planned: both need faces, not rounded, one of them of "
                      "at most %d corners",
                      carom_body_name(plan->model, body[0]), carom_body_name(plan->model, body[1]), CAROM_FLAT_CORNERS);
  carom_contact_features f = {.part = {m.part[0], m.part[1]}, .sign = 1, .vertex = m.faces[side].number};
  f.form = side == 0 ? CAROM_FORM_VERTEX_A : CAROM_FORM_VERTEX_B;
  carom_pose on = plan->model->parts[m.part[1 - side]].pose;
  f.normal = cm_rotate(on.q, m.faces[1 - side].normal), f.offset = m.faces[1 - side].offset + cm_dot(f.normal, on.p);
  flat w = {plan, body, pose, cm_zero3(), cm_rotate(pose[1 - side].q, f.normal), plan->length_scale, contact->def.node};
  carom_vec3 corners[CAROM_FLAT_CORNERS];
  for (int i = 0; i < count; i++) {
    corners[i] = cm_transform(plan->model->parts[m.part[side]].pose, p->vertices[p->face_vertices[start + i]]);
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
