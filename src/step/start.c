// How a state begins: bodies in one another, and what parts them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "contact/boundary.h"
#include "contact/projection.h"
#include "geometry/shape.h"
#include "model/joints.h"
#include "model/size.h"
#include "step/start_solids.h"
#include "step/step.h"

static const double TYPED = 5e-4;  // overlap, of the thinnest part, that numbers typed with few digits make
static const double LEFT = 1e-10;  // overlap, of the smallest body, that parting leaves
static const double ANGLE = 5e-4;  // rad beyond a limit, likewise
enum { MOST_ROUNDS = 40 };         // of parting: from boundaries and from each other

typedef struct start {
  const carom_model *model;
  carom_contacts *contacts;
  carom_joint_limit *limits;  // (carom_joints_limit_capacity)
  double *reach;              // (body_count)
  carom_allocator allocator;
} start;

static void close_start(start *s) {
  carom_contacts_destroy(s->contacts);
  carom_release(&s->allocator, s->limits);
  carom_release(&s->allocator, s->reach);
}

static carom_status open_start(const carom_model *model, start *s, carom_error *error) {
  *s = (start){.model = model, .allocator = carom_allocator_or_default(&model->allocator)};
  carom_status status = carom_contacts_create(model, &s->allocator, &s->contacts, error);
  if (status != CAROM_OK) return status;
  s->limits = CAROM_NEW(&s->allocator, carom_joint_limit, carom_joints_limit_capacity(model));
  s->reach = CAROM_NEW(&s->allocator, double, model->body_count);
  if (s->limits && s->reach) return CAROM_OK;
  close_start(s);
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the start of %d bodies", model->body_count);
}

// ---- what overlaps --------------------------------------------------------------------------------------------------

// The deepest come first; one entry for two bodies, however many parts they have.
typedef struct finding {
  carom_overlap *overlaps;  // (capacity)
  int capacity, kept, count;
} finding;

static double severity(const carom_overlap *o) { return o->depth / o->thinnest; }

static void note(finding *f, carom_overlap o) {
  int at = f->kept;
  for (int i = 0; i < f->kept; i++) {
    const carom_overlap *p = &f->overlaps[i];
    if (p->body_a != o.body_a || p->body_b != o.body_b || p->boundary != o.boundary || p->joint != o.joint) continue;
    if (severity(p) >= severity(&o)) return;
    at = i, f->count--;
    break;
  }
  f->count++;
  if (at == f->capacity && (at == 0 || severity(&f->overlaps[--at]) >= severity(&o))) return;
  if (at == f->kept) f->kept++;
  for (; at > 0 && severity(&f->overlaps[at - 1]) < severity(&o); at--) f->overlaps[at] = f->overlaps[at - 1];
  f->overlaps[at] = o;
}

typedef struct pair_search {
  start *start;
  finding *finding;
} pair_search;

static carom_status look_at_pair(void *context, const carom_state *state, carom_error *error) {
  const pair_search *search = context;
  const carom_model *model = search->start->model;
  carom_contacts *set = search->start->contacts;
  const carom_part_pair *p = &set->pairs[0];
  carom_distance_result d;
  if (carom_joints_hold(model, state, p->body_a, p->body_b)) return CAROM_OK;
  if (carom_contacts_distance(set, 0, state, &d) != CAROM_OK)
    return carom_contacts_no_separation(set, 0, state, CAROM_ERR_NUMBER, error);
  double thinnest = 2 * fmin(carom_shape_half_depth(model->parts[p->part_a].shape),
                             carom_shape_half_depth(model->parts[p->part_b].shape));
  if (-d.distance > TYPED * thinnest)
    note(search->finding, (carom_overlap){p->body_a, p->body_b, -1, -1, -d.distance, thinnest});
  return CAROM_OK;
}

static carom_status find_pairs(start *s, const carom_state *state, finding *f, carom_error *error) {
  return carom_contacts_sweep(s->contacts, state, look_at_pair, &(pair_search){s, f}, error);
}

// Corners of polytopes, the ends of capsules, and balls: what boundaries are touched by.
static int corners_of(const carom_shape *shape) {
  return shape->kind == CAROM_SHAPE_POLYTOPE  ? shape->polytope.vertex_count
         : shape->kind == CAROM_SHAPE_CAPSULE ? 2
                                              : 1;
}

static carom_grain corner_at(const start *s, const carom_state *state, int part, int corner) {
  const carom_shape *shape = s->model->parts[part].shape;
  carom_vec3 end = cm_vec3(0, 0, corner == 0 ? shape->half_length : -shape->half_length);
  carom_vec3 point = shape->kind == CAROM_SHAPE_POLYTOPE ? shape->polytope.vertices[corner] : end;
  return (carom_grain){cm_transform(carom_contacts_place(s->contacts, part, state).pose, point), shape->radius, 0};
}

// The deepest corner of a part in a boundary.
static carom_touch deepest_touch(const start *s, const carom_state *state, int part, int boundary) {
  const carom_boundary *wall = &s->model->boundaries[boundary];
  carom_pose frame = carom_boundary_frame(wall, state->x, state->q);
  carom_touch deepest = {.gap = 0}, touches[CAROM_TOUCH_MAX];
  for (int k = 0; k < corners_of(s->model->parts[part].shape); k++) {
    carom_grain corner = corner_at(s, state, part, k);
    int count = carom_boundary_touch(s->model, wall, frame, &corner, touches);
    for (int i = 0; i < count; i++)
      if (touches[i].gap < deepest.gap) deepest = touches[i];
  }
  return deepest;
}

static void find_walls(const start *s, const carom_state *state, finding *f) {
  for (int part = 0; part < s->model->part_count; part++) {
    int body = s->contacts->body_of_part[part];
    if (s->model->bodies[body].fixed) continue;
    double thinnest = 2 * carom_shape_half_depth(s->model->parts[part].shape);
    for (int b = 0; b < s->model->boundary_count; b++) {
      double depth = -deepest_touch(s, state, part, b).gap;
      if (depth > TYPED * thinnest) note(f, (carom_overlap){body, CAROM_WORLD, b, -1, depth, thinnest});
    }
  }
}

static void find_limits(const start *s, const carom_state *state, finding *f) {
  int count = carom_joints_limits(s->model, state, 0, s->limits);
  for (int i = 0; i < count; i++) {
    const carom_joint *joint = &s->model->joints[s->limits[i].joint];
    double size = s->limits[i].turn ? 1 : s->model->bodies[joint->body[1]].bounding_radius;
    if (-s->limits[i].gap > ANGLE * size)
      note(f, (carom_overlap){joint->body[1], joint->body[0], -1, s->limits[i].joint, -s->limits[i].gap, size});
  }
}

static carom_status find_all(start *s, const carom_state *state, finding *f, carom_error *error) {
  carom_status status = find_pairs(s, state, f, error);
  if (status == CAROM_OK && !s->model->ignores_contacts) find_walls(s, state, f);
  if (status == CAROM_OK) find_limits(s, state, f);
  return status;
}

static void note_solid(void *context, const carom_overlap *overlap) { note(context, *overlap); }

carom_status carom_start_overlaps(const carom_model *model, const carom_state *state, int capacity,
                                  carom_overlap *overlaps, int *count, carom_error *error) {
  start s;
  finding f = {.overlaps = overlaps, .capacity = capacity};
  *count = 0;
  carom_status status = open_start(model, &s, error);
  if (status != CAROM_OK) return status;
  status = find_all(&s, state, &f, error);
  if (status == CAROM_OK)
    status = carom_start_look_at_solids(s.contacts, state, &(carom_overlap_sink){&f, note_solid, TYPED}, error);
  close_start(&s);
  *count = f.count;
  return status;
}

int carom_overlap_format(const carom_model *model, const carom_overlap *o, char *text, size_t size) {
  const char *a = carom_model_name(model, o->body_a), *where = "at the start";
  if (o->joint >= 0)
    return snprintf(text, size, "joint '%.100s' is %.3g beyond its limit %s", model->joints[o->joint].name, o->depth,
                    where);
  const char *kind = o->boundary >= 0 ? "boundary " : "";
  const char *b = o->boundary >= 0 ? model->boundaries[o->boundary].name : carom_model_name(model, o->body_b);
  return snprintf(text, size, "'%.100s' and %s'%.100s' overlap by %.3g m %s, %.2g of the thinner one", a, kind, b,
                  o->depth, where, o->depth / o->thinnest);
}

// ---- parting --------------------------------------------------------------------------------------------------------

static void leave_walls(const start *s, carom_state *state) {
  for (int part = 0; part < s->model->part_count; part++) {
    int body = s->contacts->body_of_part[part];
    for (int b = 0; b < s->model->boundary_count && !s->model->bodies[body].fixed; b++) {
      carom_touch t = deepest_touch(s, state, part, b);
      state->x[body] = cm_axpy(state->x[body], -t.gap, t.normal);
    }
  }
}

// Velocities stay as they were given, as far as joints allow.
static carom_status keep_velocities(const carom_model *model, const carom_state *before, carom_state *state,
                                    carom_error *error) {
  carom_joints *joints = NULL;
  for (int i = 0; i < state->body_count; i++)
    carom_state_set_velocity(model, state, i, carom_state_velocity(model, before, i),
                             carom_state_angular_velocity(model, before, i));
  carom_status status = carom_joints_create(model, &model->allocator, &joints, error);
  if (status == CAROM_OK && model->joint_count > 0)
    status = carom_joints_impose(joints, state, state->time, NULL, error);
  carom_joints_destroy(joints);
  return status;
}

static void tell_moves(const carom_model *model, const carom_state *before, const carom_state *state, double *moved) {
  for (int i = 0; i < state->body_count; i++) {
    double turn = cm_norm(cm_log(cm_qmul(state->q[i], cm_qconj(before->q[i]))));
    double arm = isfinite(model->bodies[i].bounding_radius) ? model->bodies[i].bounding_radius : 0;
    moved[i] = cm_norm(cm_sub(state->x[i], before->x[i])) + arm * turn;
  }
}

// One round: out of the boundaries, then the closest configuration in which nothing overlaps.
static carom_status part_once(start *s, carom_projection *projection, carom_state *state, carom_overlap *worst,
                              carom_error *error) {
  finding f = {.overlaps = worst, .capacity = 1};
  carom_projection_info info;
  leave_walls(s, state);
  *worst = (carom_overlap){0};
  carom_status status = find_all(s, state, &f, error);
  for (int i = 0; i < s->model->body_count; i++) s->reach[i] = 4 * worst->depth;
  if (status == CAROM_OK) status = carom_contacts_update(s->contacts, state, s->reach, error);
  if (status == CAROM_OK)
    status = carom_projection_run(projection, state, LEFT * carom_model_smallest(s->model), &info, error);
  *worst = (carom_overlap){0};
  f = (finding){.overlaps = worst, .capacity = 1};
  return status == CAROM_OK ? find_all(s, state, &f, error) : status;
}

static carom_status part_all(start *s, carom_state *state, carom_error *error) {
  carom_gathering *gathering = NULL;
  carom_groups *groups = NULL;
  carom_projection *projection = NULL;
  carom_overlap worst = {0};
  carom_status status = carom_gathering_create(s->model, &s->allocator, &gathering, error);
  if (status == CAROM_OK) status = carom_groups_create(s->model->body_count, 1, &s->allocator, &groups, error);
  if (status == CAROM_OK) status = carom_projection_create(s->contacts, gathering, groups, &projection, error);
  for (int i = 0; i < MOST_ROUNDS && status == CAROM_OK && (i == 0 || worst.depth > 0); i++)
    status = part_once(s, projection, state, &worst, error);
  carom_projection_destroy(projection);
  carom_groups_destroy(groups);
  carom_gathering_destroy(gathering);
  char what[300];
  if (status != CAROM_OK || worst.depth == 0) return status;
  carom_overlap_format(s->model, &worst, what, sizeof what);
  return carom_fail(error, CAROM_NOT_CONVERGED, "there is no way apart: %s; move one of them by hand", what);
}

carom_status carom_start_separate(const carom_model *model, carom_state *state, double *moved, carom_error *error) {
  start s;
  carom_state *before = NULL;
  carom_status status = open_start(model, &s, error);
  if (status != CAROM_OK) return status;
  status = carom_state_clone(state, &s.allocator, &before, error);
  if (status == CAROM_OK) status = part_all(&s, state, error);
  if (status == CAROM_OK) status = keep_velocities(model, before, state, error);
  if (status == CAROM_OK && moved) tell_moves(model, before, state, moved);
  if (status != CAROM_OK && before) carom_state_copy(state, before);
  carom_state_destroy(before);
  close_start(&s);
  return status;
}
