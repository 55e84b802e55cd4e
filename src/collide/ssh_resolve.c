// Ties of the SSH program, resolved by the answer of least norm (Johnson 2012, 2.7.5). Two departures from the text:
//
// - Weights: the pseudo-inverse (eq. 2.70) may be negative; weights are pushes, so the program keeps them >= 0.
// - Planes: the norm of (alpha, a1, a2) (eq. 2.71) depends on where the origin of the world is. With the origin halfway
//   between the witness points a1 = gap/2 and a2 = -gap/2 on all of X*, and what is left is the norm of alpha. The
//   projection of 0 on the affine hull of X* may cut into a body; the one on X* itself never does.
#include "collide/optimal_set.h"

static carom_vec3 mean_point(const carom_optimal_side *side) {
  carom_vec3 sum = cm_zero3();
  for (int i = 0; i < side->count; i++) sum = cm_axpy(sum, side->weight[i], side->point[i]);
  return sum;
}

// Of a side in the plane, seen along beta: vertices over each other are one corner.
static double width_of(const carom_optimal_set *set, const carom_optimal_side *side) {
  double width = 0;
  for (int i = 1; i < side->count; i++)
    width = fmax(width, fabs(cm_dot(set->e1, cm_sub(side->point[i], side->point[0]))));
  return width;
}

// A half-space, like a curved surface, has points without a number: SMOOTH, as carom_ssh says.
static carom_feature feature_of(const carom_optimal_set *set, const carom_optimal_side *side) {
  if (side->body.shape->kind != CAROM_SHAPE_POLYTOPE) return CAROM_FEATURE_SMOOTH;
  if (set->planar) return width_of(set, side) > set->tolerance ? CAROM_FEATURE_EDGE : CAROM_FEATURE_VERTEX;
  return side->count == 1 ? CAROM_FEATURE_VERTEX : side->count == 2 ? CAROM_FEATURE_EDGE : CAROM_FEATURE_FACE;
}

static void copy_side(const carom_optimal_side *side, int *count, int *vertex, double *weight) {
  *count = side->count;
  for (int i = 0; i < side->count; i++) vertex[i] = side->vertex[i], weight[i] = side->weight[i];
}

carom_status carom_ssh_resolve(const carom_placed *a, const carom_placed *b, const carom_ssh_result *result,
                               double tolerance, carom_ssh_optimum *optimum) {
  carom_optimal_set set;
  carom_status status = carom_optimal_set_find(a, b, result, tolerance, &set);
  if (status != CAROM_OK) return status;
  *optimum = (carom_ssh_optimum){.alpha = set.alpha};
  copy_side(&set.a, &optimum->count_a, optimum->vertex_a, optimum->weight_a);
  copy_side(&set.b, &optimum->count_b, optimum->vertex_b, optimum->weight_b);
  optimum->point_a = cm_add(a->pose.p, mean_point(&set.a));
  optimum->point_b = cm_add(b->pose.p, mean_point(&set.b));
  carom_vec3 apart = cm_scale(result->gap, result->beta);
  if (a->shape->kind == CAROM_SHAPE_HALFSPACE) optimum->point_a = cm_add(optimum->point_b, apart);
  if (b->shape->kind == CAROM_SHAPE_HALFSPACE) optimum->point_b = cm_sub(optimum->point_a, apart);
  optimum->a1 = cm_dot(set.alpha, optimum->point_a), optimum->a2 = cm_dot(set.alpha, optimum->point_b);
  if (set.planar) optimum->point_a.z = optimum->point_b.z = 0;
  optimum->feature_a = feature_of(&set, &set.a), optimum->feature_b = feature_of(&set, &set.b);
  optimum->primal_degenerate = set.weight_freedom > 0;
  optimum->dual_degenerate = set.plane_freedom > 0;
  return CAROM_OK;
}
