#include "mechanics/overlap.h"

#include "base/memory.h"
#include "contact/boundary.h"
#include "geometry/polytope.h"
#include "model/joints.h"
#include "model/model.h"
#include "model/row.h"
#include "model/size.h"

enum { GRAINS = 200 };               // balls, from which on they are found on the grid
enum { LOOKS = 8 };                  // at the depth on the way after a sweep found a touch
static const double SIZE_RATIO = 4;  // of balls that are about one size
static const double PROBE = 1e-9;    // radius of a point, over the size of the smallest body

// ---- how thin things are -------------------------------------------------------------------------------------------

// In a plane the height of prisms is not among their widths.
static double planar_width(const carom_model *model, const carom_body *body, const carom_part *part) {
  const carom_polytope *P = carom_shape_polytope(part->shape);
  if (!P) return 2 * carom_shape_half_depth(part->shape);
  double least = INFINITY;
  int near = 0;
  carom_quat q = cm_qmul(body->fixed ? cm_qidentity() : body->upright, part->pose.q);
  for (int f = 0; f < P->face_count; f++) {
    if (model->planar && fabs(cm_rotate(q, P->face_normals[f]).z) > 0.5) continue;
    least = fmin(least, carom_polytope_width(P, f, &near));
  }
  return least + 2 * carom_shape_radius(part->shape);
}

static double width(const carom_model *model, const carom_body *body, const carom_part *part) {
  return model->planar ? planar_width(model, body, part) : 2 * carom_shape_half_depth(part->shape);
}

static void measure_widths(carom_overlaps *o) {
  const carom_model *m = o->model;
  o->least = INFINITY;
  for (int b = 0; b < m->body_count; b++) {
    const carom_body *body = &m->bodies[b];
    o->thin[b] = INFINITY;
    for (int k = body->part_start; k < body->part_start + body->part_count; k++) {
      o->thickness[k] = width(m, body, &m->parts[k]);
      o->thin[b] = fmin(o->thin[b], o->thickness[k]);
    }
    o->least = fmin(o->least, o->thin[b]);
  }
}

// ---- making ---------------------------------------------------------------------------------------------------------

static int count_balls(const carom_model *m) {
  double least = INFINITY, most = 0;
  int count = 0;
  for (int b = 0; b < m->body_count; b++) {
    if (m->bodies[b].fixed) continue;
    if (!carom_body_is_ball(m, &m->bodies[b])) return 0;
    least = fmin(least, m->bodies[b].bounding_radius);
    most = fmax(most, m->bodies[b].bounding_radius);
    count++;
  }
  return count >= GRAINS && most <= SIZE_RATIO * least && m->apart_count == 0 && m->joint_count == 0 ? count : 0;
}

static carom_status make_grid(carom_overlaps *o, int count, carom_error *error) {
  carom_status status = carom_grain_grid_create(&o->grid, count, &o->allocator, error);
  if (status != CAROM_OK) return status;
  o->grains = true;
  o->ball = CAROM_NEW(&o->allocator, int, count);
  if (!o->ball) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the audit of %d grains", count);
  for (int b = 0, k = 0; b < o->model->body_count; b++)
    if (!o->model->bodies[b].fixed) o->ball[k++] = b;
  return CAROM_OK;
}

static carom_status fill(carom_overlaps *o, carom_error *error) {
  const carom_model *m = o->model;
  int balls = count_balls(m);
  o->thickness = CAROM_NEW(&o->allocator, double, m->part_count);
  o->thin = CAROM_NEW(&o->allocator, double, m->body_count);
  o->reach = CAROM_NEW(&o->allocator, double, m->body_count);
  if (!o->thickness || !o->thin || !o->reach)
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the audit of %d bodies", m->body_count);
  measure_widths(o);
  carom_status status = carom_contacts_create(m, &o->allocator, &o->pairs, error);
  if (status == CAROM_OK && balls > 0) status = make_grid(o, balls, error);
  if (status == CAROM_OK)
    status = carom_shape_create_sphere(PROBE * carom_model_smallest(m), &o->allocator, &o->probe, error);
  return status;
}

carom_status carom_overlaps_create(const carom_model *model, const carom_allocator *allocator,
                                   carom_overlaps **overlaps, carom_error *error) {
  carom_overlaps *o = CAROM_NEW(allocator, carom_overlaps, 1);
  *overlaps = NULL;
  if (!o) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the audit");
  *o = (carom_overlaps){.model = model, .allocator = *allocator};
  carom_status status = fill(o, error);
  if (status == CAROM_OK)
    *overlaps = o;
  else
    carom_overlaps_destroy(o);
  return status;
}

void carom_overlaps_destroy(carom_overlaps *o) {
  if (!o) return;
  carom_allocator a = o->allocator;
  carom_contacts_destroy(o->pairs);
  if (o->grains) carom_grain_grid_destroy(&o->grid);
  carom_shape_release(o->probe);
  CAROM_RELEASE_ALL(&a, o->ball, o->thickness, o->thin, o->reach, o);
}

// ---- overlap at a state ---------------------------------------------------------------------------------------------

static bool is_chosen(const bool *chosen, int a, int b) {
  return !chosen || chosen[a] || (b != CAROM_WORLD && chosen[b]);
}

static void note_depth(const carom_state *state, double depth, double thickness, const int *body, carom_finding *f) {
  if (!(depth <= 0)) carom_finding_note(f, depth / thickness, state->time, body[0], body[1]);
}

// What could not be looked at for want of memory says nothing about the motion; anything else that fails does.
static void note_unseen(carom_overlaps *o, carom_status status, double time, carom_finding *finding) {
  if (status == CAROM_ERR_MEMORY)
    o->blind = true;
  else
    carom_finding_note(finding, NAN, time, CAROM_WORLD, CAROM_WORLD);
}

static void measure_pairs(carom_overlaps *o, const carom_state *state, const bool *chosen, carom_finding *finding) {
  carom_error ignored;
  carom_status status = carom_contacts_update(o->pairs, state, NULL, &ignored);
  if (status != CAROM_OK) {
    note_unseen(o, status, state->time, finding);
    return;
  }
  for (int i = 0; i < o->pairs->pair_count; i++) {
    const carom_part_pair *p = &o->pairs->pairs[i];
    carom_distance_result d = {.distance = NAN};
    if (!is_chosen(chosen, p->body_a, p->body_b) || carom_joints_hold(o->model, state, p->body_a, p->body_b)) continue;
    if (carom_contacts_distance(o->pairs, i, state, &d) != CAROM_OK) d.distance = NAN;
    note_depth(state, -d.distance, fmin(o->thickness[p->part_a], o->thickness[p->part_b]),
               (int[]){p->body_a, p->body_b}, finding);
  }
}

// What stands still around a ball or a corner at x.
double carom_overlaps_in_boundaries(const carom_overlaps *o, const carom_state *state, carom_vec3 x, double radius) {
  double depth = -INFINITY;
  const carom_grain ball = {.x = x, .radius = radius, .reach = 0};
  for (int i = 0; i < o->model->boundary_count; i++) {
    carom_touch touches[CAROM_TOUCH_MAX];
    carom_pose frame = carom_boundary_frame(&o->model->boundaries[i], state->x, state->q);
    int found = carom_boundary_touch(o->model, &o->model->boundaries[i], frame, &ball, touches);
    for (int k = 0; k < found; k++) depth = fmax(depth, -touches[k].gap);
  }
  return depth;
}

static double part_in_boundaries(const carom_overlaps *o, const carom_state *state, int part) {
  carom_placed placed = carom_contacts_place(o->pairs, part, state);
  const carom_polytope *P = carom_shape_polytope(placed.shape);
  double depth = -INFINITY, radius = carom_shape_radius(placed.shape);
  if (!P && carom_shape_get_kind(placed.shape) != CAROM_SHAPE_SPHERE) return depth;
  if (!P) return carom_overlaps_in_boundaries(o, state, placed.pose.p, radius);
  for (int v = 0; v < P->vertex_count; v++)
    depth = fmax(depth, carom_overlaps_in_boundaries(o, state, cm_transform(placed.pose, P->vertices[v]), radius));
  return depth;
}

// Corners on a thin sheet know no depth: it has none. Planes do.
static void measure_boundaries(carom_overlaps *o, const carom_state *state, const bool *chosen, carom_finding *f) {
  if (o->model->boundary_count == 0) return;
  for (int part = 0; part < o->model->part_count; part++) {
    int body = o->pairs->body_of_part[part];
    if (o->model->bodies[body].fixed || !is_chosen(chosen, body, CAROM_WORLD)) continue;
    note_depth(state, part_in_boundaries(o, state, part), o->thickness[part], (int[]){body, CAROM_WORLD}, f);
  }
}

// ---- grains ---------------------------------------------------------------------------------------------------------

// Along z, unless gravity says otherwise: the order of layers matters for speed alone.
static carom_status find_partners(carom_overlaps *o, const carom_state *state, const double *reach) {
  carom_error ignored;
  for (int k = 0; k < o->grid.count; k++) {
    int b = o->ball[k];
    o->grid.balls[k] = (carom_grain){state->x[b], o->model->bodies[b].bounding_radius, reach ? reach[b] : 0};
    if (!cm_finite(state->x[b])) return CAROM_ERR_NUMBER;
  }
  carom_grain_grid_sort(&o->grid, 2, 1);
  return carom_grain_grid_pair(&o->grid, 1, &ignored);
}

static bool boxes_meet(const carom_aabb *box, carom_vec3 x, double r) {
  return x.x + r >= box->low.x && x.x - r <= box->high.x && x.y + r >= box->low.y && x.y - r <= box->high.y &&
         x.z + r >= box->low.z && x.z - r <= box->high.z;
}

static void measure_walls(carom_overlaps *o, const carom_state *state, const bool *chosen, carom_finding *finding) {
  for (int part = 0; part < o->model->part_count; part++) {
    int wall = o->pairs->body_of_part[part];
    if (!o->model->bodies[wall].fixed) continue;
    carom_placed placed = carom_contacts_place(o->pairs, part, state);
    carom_aabb box = carom_aabb_of(&placed);
    for (int k = 0; k < o->grid.count; k++) {
      int b = o->ball[k], ball = o->model->bodies[b].part_start;
      carom_distance_result d = {.distance = NAN};
      if (!is_chosen(chosen, b, wall) || !boxes_meet(&box, state->x[b], o->grid.balls[k].radius)) continue;
      carom_placed grain = carom_contacts_place(o->pairs, ball, state);
      if (carom_distance(&grain, &placed, NULL, &d) != CAROM_OK) d.distance = NAN;
      note_depth(state, -d.distance, fmin(o->thickness[ball], o->thickness[part]), (int[]){b, wall}, finding);
    }
  }
}

static void measure_grains_in(carom_overlaps *o, const carom_state *state, const carom_boundary *boundary,
                              const bool *chosen, carom_finding *finding) {
  carom_pose frame = carom_boundary_frame(boundary, state->x, state->q);
  for (int k = 0; k < o->grid.count; k++) {
    carom_touch touches[CAROM_TOUCH_MAX];
    int b = o->ball[k];
    if (!is_chosen(chosen, b, CAROM_WORLD)) continue;
    const carom_grain ball = {.x = state->x[b], .radius = o->model->bodies[b].bounding_radius};
    int found = carom_boundary_touch(o->model, boundary, frame, &ball, touches);
    for (int i = 0; i < found; i++)
      note_depth(state, -touches[i].gap, 2 * ball.radius, (int[]){b, CAROM_WORLD}, finding);
  }
}

static void measure_grains(carom_overlaps *o, const carom_state *state, const bool *chosen, carom_finding *finding) {
  const carom_grain_grid *g = &o->grid;
  carom_status status = find_partners(o, state, NULL);
  if (status != CAROM_OK) {
    note_unseen(o, status, state->time, finding);
    return;
  }
  for (int i = 0; i < g->count; i++)
    for (int k = 0; k < g->partner_count[i]; k++) {
      int j = g->partners[(size_t)i * (size_t)g->slots + (size_t)k];
      int pair[2] = {o->ball[g->order[i]], o->ball[g->order[j]]};
      const carom_grain *a = &g->grains[i], *b = &g->grains[j];
      double reach = a->radius + b->radius;
      if (cm_norm2(cm_sub(a->x, b->x)) >= reach * reach || !is_chosen(chosen, pair[0], pair[1])) continue;
      note_depth(state, a->radius + b->radius - cm_norm(cm_sub(a->x, b->x)), 2 * fmin(a->radius, b->radius), pair,
                 finding);
    }
  measure_walls(o, state, chosen, finding);
  for (int i = 0; i < o->model->boundary_count; i++)
    measure_grains_in(o, state, &o->model->boundaries[i], chosen, finding);
}

void carom_overlaps_measure(carom_overlaps *o, const carom_state *state, const bool *chosen, carom_finding *finding) {
  if (o->grains) {
    measure_grains(o, state, chosen, finding);
    return;
  }
  measure_pairs(o, state, chosen, finding);
  measure_boundaries(o, state, chosen, finding);
}

// ---- passages between two states -----------------------------------------------------------------------------------

static bool met(const carom_passage *p, int a, int b) {
  for (int i = 0; i < p->event_count; i++) {
    const carom_contact_event *e = &p->events[i];
    if ((e->body_a == a && e->body_b == b) || (e->body_a == b && e->body_b == a)) return true;
  }
  return false;
}

static carom_motion motion_of(const carom_overlaps *o, int part, const carom_passage *p) {
  carom_placed from = carom_contacts_place(o->pairs, part, p->from), to = carom_contacts_place(o->pairs, part, p->to);
  return (carom_motion){from.shape, from.pose, to.pose};
}

// Deepest on the straight way from the first touch on, in looks that are `stride` of it apart.
static double depth_on_the_way(const carom_motion *a, const carom_motion *b, double first, double stride) {
  double depth = 0;
  for (int i = 1; i <= LOOKS; i++) {
    double t = fmin(first + stride * i, 1);
    carom_placed at[2] = {{a->shape, carom_motion_at(a, t)}, {b->shape, carom_motion_at(b, t)}};
    carom_distance_result d;
    if (carom_distance(&at[0], &at[1], NULL, &d) == CAROM_OK) depth = fmax(depth, -d.distance);
  }
  return depth;
}

// A body that hit another and came back took no straight way. It passed only when it is on the other side now.
static bool changed_sides(const carom_motion *a, const carom_motion *b) {
  carom_placed from[2] = {{a->shape, a->from}, {b->shape, b->from}}, to[2] = {{a->shape, a->to}, {b->shape, b->to}};
  carom_distance_result before, after;
  return carom_distance(&from[0], &from[1], NULL, &before) == CAROM_OK &&
         carom_distance(&to[0], &to[1], NULL, &after) == CAROM_OK && cm_dot(before.normal, after.normal) < -0.5;
}

static void sweep_parts(const carom_overlaps *o, const carom_passage *p, const int *part, carom_finding *finding) {
  int a = o->pairs->body_of_part[part[0]], b = o->pairs->body_of_part[part[1]];
  double thin = fmin(o->thickness[part[0]], o->thickness[part[1]]);
  if (!(p->travel[a] + p->travel[b] > 0.5 * thin) || carom_joints_hold(o->model, p->to, a, b)) return;
  carom_motion A = motion_of(o, part[0], p), B = motion_of(o, part[1], p);
  carom_impact_time impact;
  carom_status status = carom_time_of_impact(&A, &B, 1e-3 * thin, NULL, &impact);
  if (status < 0) carom_finding_note(finding, NAN, p->to->time, a, b);
  if (status != CAROM_OK || impact.outcome != CAROM_IMPACT_FOUND) return;
  if (met(p, a, b) && !changed_sides(&A, &B)) return;
  double stride = 0.25 * thin / (p->travel[a] + p->travel[b]);
  double depth = depth_on_the_way(&A, &B, impact.time, stride);
  carom_finding_note(finding, (depth - p->stray[a] - p->stray[b]) / thin, p->to->time, a, b);
}

static void sweep_pairs(carom_overlaps *o, const carom_passage *p, carom_finding *finding) {
  carom_error ignored;
  carom_status status = carom_contacts_update(o->pairs, p->to, p->travel, &ignored);
  if (status != CAROM_OK) {
    note_unseen(o, status, p->to->time, finding);
    return;
  }
  for (int i = 0; i < o->pairs->pair_count; i++)
    sweep_parts(o, p, (int[]){o->pairs->pairs[i].part_a, o->pairs->pairs[i].part_b}, finding);
}

// Two balls that pass through each other go on as they came; those that met do not.
static void sweep_balls(const carom_overlaps *o, const carom_passage *p, int a, int b, carom_finding *finding) {
  double ra = o->model->bodies[a].bounding_radius, rb = o->model->bodies[b].bounding_radius, thin = 2 * fmin(ra, rb);
  if (!(p->travel[a] + p->travel[b] > 0.5 * thin)) return;
  carom_vec3 from = cm_sub(p->from->x[a], p->from->x[b]), way = cm_sub(cm_sub(p->to->x[a], p->to->x[b]), from);
  double along = -cm_dot(from, way) / cm_norm2(way);
  if (!(along > 0 && along < 1)) return;
  carom_vec3 v = cm_sub(carom_state_velocity(o->model, p->to, a), carom_state_velocity(o->model, p->to, b));
  double depth = ra + rb - cm_norm(cm_axpy(from, along, way));
  if (depth > 0 && cm_dot(v, way) > 0.9 * cm_norm(v) * cm_norm(way) && !met(p, a, b))
    carom_finding_note(finding, depth / thin, p->to->time, a, b);
}

static void sweep_grains(carom_overlaps *o, const carom_passage *p, carom_finding *finding) {
  const carom_grain_grid *g = &o->grid;
  carom_status status = find_partners(o, p->to, p->travel);
  if (status == CAROM_ERR_MEMORY) o->blind = true;
  if (status != CAROM_OK) return;  // NaN: said elsewhere
  for (int i = 0; i < g->count; i++)
    for (int k = 0; k < g->partner_count[i]; k++)
      sweep_balls(o, p, o->ball[g->order[i]], o->ball[g->order[g->partners[(size_t)i * (size_t)g->slots + (size_t)k]]],
                  finding);
  for (int part = 0; part < o->model->part_count; part++) {
    if (!o->model->bodies[o->pairs->body_of_part[part]].fixed) continue;
    for (int k = 0; k < g->count; k++)
      sweep_parts(o, p, (int[]){o->model->bodies[o->ball[k]].part_start, part}, finding);
  }
}

void carom_overlaps_sweep(carom_overlaps *o, const carom_passage *passage, carom_finding *finding) {
  if (o->grains)
    sweep_grains(o, passage, finding);
  else
    sweep_pairs(o, passage, finding);
}

// ---- points and surfaces -------------------------------------------------------------------------------------------

static double to_boundaries(const carom_overlaps *o, const carom_state *state, int body, carom_vec3 point) {
  double nearest = INFINITY;
  for (int i = 0; i < o->model->boundary_count; i++) {
    const carom_boundary *b = &o->model->boundaries[i];
    if (b->body != body) continue;
    carom_pose frame = carom_boundary_frame(b, state->x, state->q);
    nearest = fmin(nearest, carom_boundary_distance(o->model, b, frame, point));
  }
  return nearest;
}

double carom_overlaps_to_surface(const carom_overlaps *o, const carom_state *state, int body, carom_vec3 point) {
  double nearest = INFINITY;
  if (body == CAROM_WORLD) return to_boundaries(o, state, body, point);
  carom_placed probe = {o->probe, cm_pose(point, cm_qidentity())};
  const carom_body *b = &o->model->bodies[body];
  for (int k = b->part_start; k < b->part_start + b->part_count; k++) {
    carom_placed part = carom_contacts_place(o->pairs, k, state);
    carom_distance_result d;
    if (carom_distance(&probe, &part, NULL, &d) != CAROM_OK) return NAN;
    nearest = fmin(nearest, fabs(d.distance));
  }
  return fmin(nearest, to_boundaries(o, state, body, point));
}
