// Pairs that must stay apart, part by part. One plane per interval parts the bodies at both of its ends, so that they
// cannot pass through each other in between either: vertices move straight from node to node but for the sagitta of
// their turn, which the margin has to cover (solve.c). Lifted: the plane is a variable. Nested: the plane is looked for
// whenever the gap is asked for, and the gap smoothed (avoid_gap.h). Shapes without corners have the gap of the oracle
// at every node instead.
#include <string.h>

#include "base/memory.h"
#include "control/kinds.h"
#include "control/plan.h"

#define SMOOTHING 1e-3  // of length_scale: how far nested gaps are rounded off
#define NEAR 1.2        // of length_scale: parts that are as near as this are watched
#define CLOSE 0.1       // and once the motion is all but known, these

// One pair of parts at one node.
typedef struct spot {
  carom_plan *plan;
  int node, body[2], part[2];
  int number;  // of the pair of parts
} spot;

static carom_row_label label_of(const spot *s) {
  return (carom_row_label){CAROM_ROW_AVOIDANCE, s->node, s->body[0], s->body[1]};
}

static bool is_fixed(const carom_plan *plan, int node, int body) {
  int first = carom_variable_x(plan, node, body);
  for (int i = first; i < first + 7; i++)
    if (plan->program.x_low[i] != plan->program.x_high[i]) return false;
  return true;
}

static carom_placed placed(const spot *s, int side) {
  const carom_part *part = &s->plan->model->parts[s->part[side]];
  size_t at = (size_t)s->node * (size_t)s->plan->model->body_count + (size_t)s->body[side];
  return (carom_placed){part->shape, cm_compose(cm_pose(s->plan->path.x[at], s->plan->path.q[at]), part->pose)};
}

// The extra margin grows from nothing at both ends, where bodies may be given in touch.
static double margin_at(const spot *s) {
  int from_end = s->node < s->plan->path.K - s->node ? s->node : s->plan->path.K - s->node;
  return s->plan->def.margin + s->plan->extra_margin * fmin(1, from_end / 3.0);
}

// ---- the oracle's gap ----------------------------------------------------------------------------------------------

static void add_nested(const spot *s) {
  carom_plan *plan = s->plan;
  const carom_part *a = &plan->model->parts[s->part[0]], *b = &plan->model->parts[s->part[1]];
  carom_nested_pair *pair = &plan->avoidance.pairs[plan->avoidance.pair_count++];
  *pair = (carom_nested_pair){.a = a->shape, .b = b->shape, .offset_a = a->pose, .offset_b = b->pose};
  int row = carom_program_rows(&plan->program, 1, margin_at(s), INFINITY, plan->length_scale, label_of(s));
  carom_program_element(&plan->program, &carom_kind_nested, pair);
  for (int i = 0; i < 2; i++) carom_element_variables(&plan->program, carom_variable_x(plan, s->node, s->body[i]), 7);
  carom_element_rows(&plan->program, row, 1);
}

// ---- corners -------------------------------------------------------------------------------------------------------

int carom_core_points(const carom_shape *shape, carom_vec3 ends[2], const carom_vec3 **points) {
  const carom_polytope *p = carom_shape_polytope(shape);
  *points = p ? p->vertices : ends;
  switch (carom_shape_get_kind(shape)) {
    case CAROM_SHAPE_POLYTOPE:
      return p->vertex_count;
    case CAROM_SHAPE_SPHERE:
      ends[0] = cm_zero3();
      return 1;
    case CAROM_SHAPE_CAPSULE:
      ends[0] = cm_vec3(0, 0, -carom_shape_half_length(shape));
      ends[1] = cm_neg(ends[0]);
      return 2;
    default:
      return 0;
  }
}

static bool gather_corners(carom_plan *plan) {
  const carom_model *model = plan->model;
  carom_avoidance_room *room = &plan->avoidance;
  carom_vec3 ends[2];
  const carom_vec3 *points;
  int total = 0;
  for (int i = 0; i < model->part_count; i++) total += carom_core_points(model->parts[i].shape, ends, &points);
  if (!CAROM_NEW_ALL(&plan->allocator, CAROM_ROOM(room->corners, total + 1),
                     CAROM_ROOM(room->corner_start, model->part_count + 1)))
    return false;
  total = 0;
  for (int i = 0; i < model->part_count; i++) {
    int count = carom_core_points(model->parts[i].shape, ends, &points);
    for (int j = 0; j < count; j++) room->corners[total++] = cm_transform(model->parts[i].pose, points[j]);
    room->corner_start[i + 1] = total;
  }
  return true;
}

static int corners_of(const carom_plan *plan, int part, const carom_vec3 **corners) {
  const carom_avoidance_room *room = &plan->avoidance;
  *corners = room->corners + room->corner_start[part];
  return room->corner_start[part + 1] - room->corner_start[part];
}

// ---- lifted --------------------------------------------------------------------------------------------------------

// The vertices of one body at the spot's node are on its side of the plane.
static void add_side(const spot *s, int plane, int side, double distance) {
  carom_program *P = &s->plan->program;
  const carom_part *part = &s->plan->model->parts[s->part[side]];
  const carom_vec3 *corners;
  int count = corners_of(s->plan, s->part[side], &corners);
  for (int first = 0; first < count; first += CAROM_ELEMENT_ROWS) {
    int rows = count - first < CAROM_ELEMENT_ROWS ? count - first : CAROM_ELEMENT_ROWS;
    int row = carom_program_rows(P, rows, distance + carom_shape_radius(part->shape), INFINITY, s->plan->length_scale,
                                 label_of(s));
    carom_program_element(P, &carom_kind_plane_side, NULL);
    carom_element_variables(P, plane, 4);
    carom_element_variables(P, carom_variable_x(s->plan, s->node, s->body[side]), 7);
    carom_element_rows(P, row, rows);
    carom_element_constants(P, (double[]){side == 0 ? 1 : -1, rows}, 2);
    for (int i = first; i < first + rows; i++) carom_element_constant3(P, corners[i]);
  }
}

// The plane of a half-space is no variable.
static void fix_plane(const spot *s, int plane, int side) {
  carom_program *P = &s->plan->program;
  carom_placed half = placed(s, side);
  carom_vec3 n = cm_rotate(half.pose.q, cm_vec3(0, 0, side == 1 ? 1 : -1));
  double z[4] = {n.x, n.y, n.z, cm_dot(n, half.pose.p)};
  for (int i = 0; i < 4; i++) carom_program_fix(P, plane + i, z[i]);
}

static int half_space_of(const spot *s) {
  for (int i = 0; i < 2; i++)
    if (carom_shape_get_kind(s->plan->model->parts[s->part[i]].shape) == CAROM_SHAPE_HALFSPACE) return i;
  return -1;
}

static int add_plane(carom_program *P, double length) {
  int plane = carom_program_variables(P, 3, -INFINITY, INFINITY, 1);
  carom_program_variables(P, 1, -INFINITY, INFINITY, length);
  return plane;
}

// A half-space is convex on its outside too: it is enough to stay above it at the nodes.
static void add_above_half_space(const spot *s, int half) {
  int plane = add_plane(&s->plan->program, s->plan->length_scale);
  fix_plane(s, plane, half);
  add_side(s, plane, 1 - half, margin_at(s));
}

// Bodies that are given in touch are left alone.
static bool is_free(const spot *s) {
  const carom_plan *plan = s->plan;
  if (carom_plan_meets_at(plan, s->node, s->body[0], s->body[1])) return false;
  if (!is_fixed(plan, s->node, s->body[0]) || !is_fixed(plan, s->node, s->body[1])) return true;
  carom_placed a = placed(s, 0), b = placed(s, 1);
  carom_ssh_result r;
  return carom_ssh(&a, &b, NULL, NULL, &r) == CAROM_OK && r.gap > 1e-3 * plan->length_scale;
}

static double gap_at(const spot *s) {
  carom_placed a = placed(s, 0), b = placed(s, 1);
  carom_ssh_result r;
  return carom_ssh(&a, &b, NULL, NULL, &r) == CAROM_OK ? r.gap / cm_norm(r.alpha) : 0;
}

// Planes between parts that are far from each other are idle, and idle variables slow the solver. Parts that are near
// on the path are watched, and stay so; the swept check finds those that should have been.
static bool *watched(const spot *s) {
  return &s->plan->path.watched[s->node * carom_plan_part_pairs(s->plan) + s->number];
}

static bool is_near(const spot *s) {
  spot end = *s;
  end.node++;
  if (s->plan->def.avoidance == CAROM_AVOID_NESTED && !s->plan->sharp) return true;  // rows are cheap
  double near = (s->plan->sharp ? CLOSE : NEAR) * s->plan->length_scale;
  return gap_at(s) < near || gap_at(&end) < near;
}

// The interval that begins at the spot's node; ends at which the bodies are given in touch are left out.
typedef struct stretch {
  spot ends[2];
  bool free[2];
} stretch;

// A fixed body is at both ends the same: once will do.
static bool counts(const stretch *t, int side, int end) {
  bool still = t->ends[0].plan->model->bodies[t->ends[0].body[side]].fixed;
  return t->free[end] && !(still && end == 1 && t->free[0]);
}

static double radii(const spot *s) {
  const carom_part *parts = s->plan->model->parts;
  return carom_shape_radius(parts[s->part[0]].shape) + carom_shape_radius(parts[s->part[1]].shape);
}

static void add_set(const spot *end, int side, carom_smooth_gap *gap, double *z) {
  carom_gap_set *set = &gap->sets[gap->set_count];
  size_t at = (size_t)end->node * (size_t)end->plan->model->body_count + (size_t)end->body[side];
  carom_vec3 x = end->plan->path.x[at];
  carom_quat q = end->plan->path.q[at];
  memcpy(z + 7 * gap->set_count++, (double[]){x.x, x.y, x.z, q.w, q.x, q.y, q.z}, 7 * sizeof *z);
  set->sign = side == 0 ? 1 : -1;
  set->count = corners_of(end->plan, end->part[side], &set->points);
}

// The corners of both parts at the ends of the interval, and where they are on the path.
static carom_smooth_gap gap_over(const stretch *t, double *z) {
  const carom_plan *plan = t->ends[0].plan;
  carom_smooth_gap gap = {.eps = SMOOTHING * plan->length_scale, .rho = radii(&t->ends[0])};
  gap.rho += fmax(t->free[0] ? margin_at(&t->ends[0]) : 0, t->free[1] ? margin_at(&t->ends[1]) : 0);
  for (int side = 0; side < 2; side++)
    for (int e = 0; e < 2; e++)
      if (counts(t, side, e)) add_set(&t->ends[e], side, &gap, z);
  const spot *s = &t->ends[t->free[1]];
  carom_placed a = placed(s, 0), b = placed(s, 1);
  carom_ssh_result r;
  bool good = carom_ssh(&a, &b, NULL, NULL, &r) == CAROM_OK;
  gap.alpha = good ? r.normal : cm_unit(cm_sub(a.pose.p, b.pose.p));
  return gap;
}

static void add_lifted(const stretch *t) {
  const spot *s = &t->ends[0];
  carom_program *P = &s->plan->program;
  int plane = add_plane(P, s->plan->length_scale);
  double z[CAROM_GAP_VARIABLES];
  carom_smooth_gap gap = gap_over(t, z);
  if (!P->out_of_memory) carom_smooth_gap_plane(&gap, z, P->x + plane);
  for (int side = 0; side < 2; side++)
    for (int e = 0; e < 2; e++)
      if (counts(t, side, e)) add_side(&t->ends[e], plane, side, 0.5 * margin_at(&t->ends[e]));
  int row = carom_program_rows(P, 1, 1, 1, 1, label_of(s));
  carom_program_add(P, &carom_kind_plane_length, CAROM_OF({plane, 3}), CAROM_INTO({row, 1}), CAROM_PLAIN);
}

static void add_smooth(const stretch *t) {
  carom_plan *plan = t->ends[0].plan;
  carom_program *P = &plan->program;
  carom_smooth_gap *gap = &plan->avoidance.gaps[plan->avoidance.gap_count++];
  double z[CAROM_GAP_VARIABLES];
  *gap = gap_over(t, z);
  int row = carom_program_rows(P, 1, 0, INFINITY, plan->length_scale, label_of(&t->ends[0]));
  carom_program_element(P, &carom_kind_smooth_gap, gap);
  for (int side = 0; side < 2; side++)
    for (int e = 0; e < 2; e++)
      if (counts(t, side, e))
        carom_element_variables(P, carom_variable_x(plan, t->ends[e].node, t->ends[e].body[side]), 7);
  carom_element_rows(P, row, 1);
}

static void add_interval(const spot *s) {
  stretch t = {.ends = {*s, *s}};
  t.ends[1].node++;
  for (int e = 0; e < 2; e++) t.free[e] = is_free(&t.ends[e]);
  if ((!t.free[0] && !t.free[1]) || !*watched(s)) return;
  if (s->plan->def.avoidance == CAROM_AVOID_LIFTED || s->plan->sharp)
    add_lifted(&t);
  else
    add_smooth(&t);
}

// ---- all of it -----------------------------------------------------------------------------------------------------

static bool has_corners(const spot *s, int side) {
  const carom_vec3 *corners;
  return side == half_space_of(s) || corners_of(s->plan, s->part[side], &corners) > 0;
}

static void add_spot(const spot *s) {
  const carom_plan *plan = s->plan;
  int half = half_space_of(s);
  bool corners = has_corners(s, 0) && has_corners(s, 1);
  if (corners && half < 0) {
    if (s->node < plan->path.K) add_interval(s);
    return;
  }
  bool settled = is_fixed(plan, s->node, s->body[0]) && is_fixed(plan, s->node, s->body[1]);
  if (settled || carom_plan_meets_at(plan, s->node, s->body[0], s->body[1])) return;
  if (corners)
    add_above_half_space(s, half);
  else
    add_nested(s);
}

static void add_pair(carom_plan *plan, const carom_avoided_pair *pair, int node, int *number) {
  const carom_body *a = &plan->model->bodies[pair->body[0]], *b = &plan->model->bodies[pair->body[1]];
  for (int i = a->part_start; i < a->part_start + a->part_count; i++)
    for (int j = b->part_start; j < b->part_start + b->part_count; j++) {
      spot s = {plan, node, {pair->body[0], pair->body[1]}, {i, j}, (*number)++};
      add_spot(&s);
    }
}

int carom_watch_near_pairs(carom_plan *plan) {
  int fresh = 0;
  for (int k = 0; k < plan->path.K; k++) {
    int number = 0;
    for (int p = 0; p < plan->avoided_count; p++) {
      const int *body = plan->avoided[p].body;
      const carom_body *a = &plan->model->bodies[body[0]], *b = &plan->model->bodies[body[1]];
      for (int i = a->part_start; i < a->part_start + a->part_count; i++)
        for (int j = b->part_start; j < b->part_start + b->part_count; j++) {
          spot s = {plan, k, {body[0], body[1]}, {i, j}, number++};
          if (*watched(&s) || !is_near(&s)) continue;
          *watched(&s) = true;
          fresh++;
        }
    }
  }
  return fresh;
}

void carom_avoidance_release(carom_plan *plan) {
  carom_avoidance_room *room = &plan->avoidance;
  CAROM_RELEASE_ALL(&plan->allocator, room->pairs, room->gaps, room->corners, room->corner_start);
  *room = (carom_avoidance_room){0};
}

carom_status carom_transcribe_avoidance(carom_plan *plan, carom_error *error) {
  carom_avoidance_room *room = &plan->avoidance;
  int most = carom_plan_part_pairs(plan) * (plan->path.K + 1) + 1;
  carom_avoidance_release(plan);
  if (!CAROM_NEW_ALL(&plan->allocator, CAROM_ROOM(room->pairs, most), CAROM_ROOM(room->gaps, most)) ||
      !gather_corners(plan) || plan->program.out_of_memory)
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan");
  for (int k = 0; k <= plan->path.K; k++) {
    int number = 0;
    for (int i = 0; i < plan->avoided_count; i++) add_pair(plan, &plan->avoided[i], k, &number);
  }
  return CAROM_OK;
}
