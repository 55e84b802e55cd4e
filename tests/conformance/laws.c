// Laws that hold whatever the scene: bodies do not overlap, and what is left alone gains no energy.
#include <math.h>
#include <stdio.h>

#include "conformance.h"

static const double OVERLAP = 1e-3;  // of the thinnest side
static const double ENERGY = 1e-2;   // of what is exchanged: the audit's own bound

double thinnest_side(const carom_shape *shape) {
  if (carom_shape_get_kind(shape) == CAROM_SHAPE_HALFSPACE) return INFINITY;
  carom_aabb box = carom_aabb_of(&(carom_placed){shape, cm_pose_identity()});
  carom_vec3 side = cm_sub(box.high, box.low);
  double least = fmin(side.x, fmin(side.y, side.z));
  const carom_polytope *p = carom_shape_polytope(shape);
  for (int f = 0; p && f < p->face_count; f++) {
    double low = 0;
    for (int v = 0; v < p->vertex_count; v++)
      low = fmin(low, cm_dot(p->face_normals[f], p->vertices[v]) - p->face_offsets[f]);
    least = fmin(least, -low + 2 * carom_shape_radius(shape));
  }
  return least;
}

bool is_box(const carom_shape *shape, carom_vec3 *half) {
  const carom_polytope *p = carom_shape_polytope(shape);
  if (!p || p->vertex_count != 8 || carom_shape_radius(shape) > 0) return false;
  *half = carom_aabb_of(&(carom_placed){shape, cm_pose_identity()}).high;
  for (int i = 0; i < 8; i++) {
    carom_vec3 v = p->vertices[i], off = cm_vec3(fabs(v.x) - half->x, fabs(v.y) - half->y, fabs(v.z) - half->z);
    if (cm_norm(off) > 1e-9 * cm_norm(*half)) return false;
  }
  return true;
}

static carom_placed placed(const track *t, int frame, int part_body, int part) {
  const track_point *p = track_at(t, frame, part_body);
  const carom_part *of = &t->model->parts[part];
  return (carom_placed){of->shape, cm_compose(cm_pose(p->x, p->q), of->pose)};
}

static bool may_touch(const carom_model *m, int a, int b) {
  if (m->bodies[a].fixed && m->bodies[b].fixed) return false;
  for (int i = 0; i < m->apart_count; i++) {
    const carom_apart *x = &m->aparts[i];
    if ((x->body[0] == a && x->body[1] == b) || (x->body[0] == b && x->body[1] == a)) return false;
  }
  for (int i = 0; i < m->joint_count; i++) {
    const carom_joint *j = &m->joints[i];
    bool joined = (j->body[0] == a && j->body[1] == b) || (j->body[0] == b && j->body[1] == a);
    if (joined && !j->collide && !j->latch) return false;
  }
  return true;
}

static bool near(const track *t, int frame, int a, int b) {
  const carom_body *p = &t->model->bodies[a], *q = &t->model->bodies[b];
  double reach = p->bounding_radius + q->bounding_radius;
  return !(cm_norm(cm_sub(track_at(t, frame, a)->x, track_at(t, frame, b)->x)) > reach);
}

typedef struct deepest {
  double ratio, depth;
  int a, b, frame;
} deepest;

static void try_parts(const track *t, int frame, int a, int b, deepest *worst) {
  const carom_body *p = &t->model->bodies[a], *q = &t->model->bodies[b];
  for (int i = p->part_start; i < p->part_start + p->part_count; i++)
    for (int j = q->part_start; j < q->part_start + q->part_count; j++) {
      carom_placed one = placed(t, frame, a, i), two = placed(t, frame, b, j);
      carom_distance_result r = {0};
      if (carom_distance(&one, &two, NULL, &r) != CAROM_OK) continue;
      double side = fmin(thinnest_side(one.shape), thinnest_side(two.shape)), ratio = -r.distance / side;
      if (ratio > worst->ratio) *worst = (deepest){ratio, -r.distance, a, b, frame};
    }
}

static void expect_apart(cell *c) {
  const track *t = c->track;
  deepest worst = {0};
  int looks = c->scene->flags & SCENE_RANDOM ? 400 : 40, stride = t->frames > looks ? t->frames / looks : 1;
  for (int f = t->frames - 1; f >= 0; f -= stride)
    for (int a = 0; a < t->model->body_count; a++)
      for (int b = a + 1; b < t->model->body_count; b++)
        if (may_touch(t->model, a, b) && near(t, f, a, b)) try_parts(t, f, a, b, &worst);
  if (worst.ratio <= 0) return;
  char what[200];
  snprintf(what, sizeof what, "overlap of '%s' and '%s' at t = %.4g s, m", t->model->bodies[worst.a].name,
           t->model->bodies[worst.b].name, worst.frame * c->h);
  expect_at_most(c, what, worst.depth, fmax(OVERLAP * worst.depth / worst.ratio, c->accuracy.depth));
}

// The weight of all that moves, N.
static double weight(const carom_model *m) {
  double mass = 0;
  for (int i = 0; i < m->body_count; i++) mass += m->bodies[i].fixed ? 0 : m->bodies[i].mass;
  return mass * cm_norm(m->gravity);
}

static double kinetic(const track *t, int frame) {
  double sum = 0;
  for (int i = 0; i < t->model->body_count; i++) {
    const carom_body *b = &t->model->bodies[i];
    const track_point *p = track_at(t, frame, i);
    carom_vec3 own = cm_unrotate(p->q, p->w);
    if (!b->fixed) sum += 0.5 * (b->mass * cm_norm2(p->v) + cm_dot(own, cm_mul_diag(b->inertia, own)));
  }
  return sum;
}

// Relative to the largest kinetic energy that the start can account for: what grows without reason is no scale.
static void expect_no_gain(cell *c) {
  const track *t = c->track;
  double start = track_energy(t, 0), least = start, scale = kinetic(t, 0), floor = start, gain = 0;
  for (int f = 1; f < t->frames; f++) {
    double energy = track_energy(t, f), moving = kinetic(t, f), stored = energy - moving;
    gain = isnan(energy) ? INFINITY : fmax(gain, energy - floor);
    if (c->scene->flags & SCENE_RANDOM) floor = fmin(floor, energy);  // what was lost does not come back
    least = fmin(least, stored);
    scale = fmax(scale, fmin(moving, start - least));
  }
  double g = cm_norm(t->model->gravity), heavy = weight(t->model);
  // A first-order method is off by drift in height, and any by what gravity gives in a step.
  double tolerance = ENERGY * scale + heavy * (drift(c, g, duration(c), 0) + g * c->h * c->h);
  expect_at_most(c, "energy gained, J", gain, tolerance + 1e-9 * scale);
}

void expect_laws(cell *c) {
  expect_apart(c);
  if (!(c->scene->flags & SCENE_DRIVEN)) expect_no_gain(c);
}
