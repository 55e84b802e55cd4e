// Separating planes of a solved plan, read off its program: the elements say which variables are planes, and which
// vertices they keep on their side.
#include <math.h>

#include "base/memory.h"
#include "control/kinds.h"
#include "control/plan.h"
#include "result/plan_results.h"

typedef struct gathering {
  const carom_plan *plan;
  carom_result_plane *planes;
  int count;
  int *of_variable;       // (n) the plane that begins at a variable, or -1
  carom_vec3 (*mean)[2];  // (planes) weighted sums of the vertices on either side
  double (*weight)[2];
} gathering;

static const int *indices_of(const carom_plan *plan, const carom_element *e) {
  return plan->program.indices + e->variable_start;
}

static const carom_row_label *label_of(const carom_plan *plan, const carom_element *e) {
  return &plan->program.labels[plan->program.indices[e->row_start]];
}

static carom_pose pose_at(const carom_plan *plan, int node, int body) {
  size_t at = (size_t)node * (size_t)plan->model->body_count + (size_t)body;
  return cm_pose(plan->path.x[at], plan->path.q[at]);
}

static void add_lifted(gathering *g, const carom_element *e) {
  const carom_plan *plan = g->plan;
  const carom_row_label *label = label_of(plan, e);
  int first = indices_of(plan, e)[0];
  const double *z = plan->program.x + first;
  g->of_variable[first] = g->count;
  g->planes[g->count++] = (carom_result_plane){.node = label->node,
                                               .body = {label->a, label->b},
                                               .span = true,
                                               .normal = cm_vec3(z[0], z[1], z[2]),
                                               .point = cm_scale(z[3], cm_vec3(z[0], z[1], z[2]))};
}

static void add_nested(gathering *g, const carom_element *e) {
  const carom_plan *plan = g->plan;
  const carom_row_label *label = label_of(plan, e);
  const carom_nested_pair *pair = e->object;
  carom_placed a = {pair->a, cm_compose(pose_at(plan, label->node, label->a), pair->offset_a)};
  carom_placed b = {pair->b, cm_compose(pose_at(plan, label->node, label->b), pair->offset_b)};
  carom_ssh_result r;
  if (carom_ssh(&a, &b, NULL, NULL, &r) != CAROM_OK || !isfinite(r.gap)) return;
  g->planes[g->count++] = (carom_result_plane){.node = label->node,
                                               .body = {label->a, label->b},
                                               .normal = r.normal,
                                               .point = cm_scale(0.5, cm_add(r.point_a, r.point_b))};
}

// The vertices nearest to the plane tell where between the bodies it does its work; a smooth weight has no favourite
// among those of a face that lies along it.
static void weigh_side(gathering *g, const carom_element *e) {
  const carom_plan *plan = g->plan;
  const carom_row_label *label = label_of(plan, e);
  int number = g->of_variable[indices_of(plan, e)[0]];
  if (number < 0) return;
  const double *c = plan->program.constants + e->constant_start;
  int side = c[0] > 0 ? 0 : 1, count = (int)c[1];
  const carom_result_plane *plane = &g->planes[number];
  carom_pose pose = pose_at(plan, label->node, plane->body[side]);
  for (int i = 0; i < count; i++) {
    const double *v = c + 2 + 3 * (size_t)i;
    carom_vec3 r = cm_transform(pose, cm_vec3(v[0], v[1], v[2]));
    double distance = c[0] * cm_dot(plane->normal, cm_sub(r, plane->point));
    double w = exp(-fmin(fmax(distance, 0) / (0.05 * plan->length_scale), 600));
    g->mean[number][side] = cm_axpy(g->mean[number][side], w, r);
    g->weight[number][side] += w;
  }
}

static void place(const gathering *g, int number) {
  carom_result_plane *plane = &g->planes[number];
  carom_vec3 sum = cm_zero3();
  int sides = 0;
  for (int i = 0; i < 2; i++)
    if (g->weight[number][i] > 0) sum = cm_axpy(sum, 1 / g->weight[number][i], g->mean[number][i]), sides++;
  if (sides == 0) return;
  carom_vec3 middle = cm_scale(1.0 / sides, sum);
  plane->point = cm_axpy(middle, -cm_dot(plane->normal, cm_sub(middle, plane->point)), plane->normal);
}

static void gather(gathering *g) {
  const carom_program *P = &g->plan->program;
  for (int i = 0; i < P->n; i++) g->of_variable[i] = -1;
  for (int i = 0; i < P->element_count; i++) {
    if (P->elements[i].kind == &carom_kind_plane_length) add_lifted(g, &P->elements[i]);
    if (P->elements[i].kind == &carom_kind_nested) add_nested(g, &P->elements[i]);
  }
  for (int i = 0; i < P->element_count; i++)
    if (P->elements[i].kind == &carom_kind_plane_side) weigh_side(g, &P->elements[i]);
  for (int i = 0; i < g->count; i++)
    if (g->planes[i].span) place(g, i);
}

static int most_planes(const carom_plan *plan) {
  int count = 0;
  for (int i = 0; i < plan->program.element_count; i++) {
    const carom_element_kind *kind = plan->program.elements[i].kind;
    count += kind == &carom_kind_plane_length || kind == &carom_kind_nested;
  }
  return count;
}

carom_status carom_plan_collect_planes(const carom_plan *plan, const carom_allocator *allocator,
                                       carom_result_plane **planes, int *count, carom_error *error) {
  int most = plan->history_count > 0 ? most_planes(plan) : 0;  // a program that was never solved says nothing
  gathering g = {.plan = plan};
  bool good = CAROM_NEW_ALL(allocator, CAROM_ROOM(g.planes, most), CAROM_ROOM(g.of_variable, plan->program.n),
                            CAROM_ROOM(g.mean, (size_t)most), CAROM_ROOM(g.weight, (size_t)most));
  if (good && most > 0) gather(&g);
  CAROM_RELEASE_ALL(allocator, g.of_variable, g.mean, g.weight);
  if (!good) {
    carom_release(allocator, g.planes);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the planes of a plan");
  }
  *planes = g.planes;
  *count = g.count;
  return CAROM_OK;
}
