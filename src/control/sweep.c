// Whether a motion is free of overlap, at the nodes and between them.
#include "control/plan.h"

enum { SAMPLES = 12 };  // configurations looked at within an interval

double carom_plan_gap(const carom_plan *plan, int a, carom_pose A, int b, carom_pose B) {
  const carom_model *model = plan->model;
  const carom_body *ba = &model->bodies[a], *bb = &model->bodies[b];
  double least = INFINITY;
  for (int i = ba->part_start; i < ba->part_start + ba->part_count; i++)
    for (int j = bb->part_start; j < bb->part_start + bb->part_count; j++) {
      carom_placed pa = {model->parts[i].shape, cm_compose(A, model->parts[i].pose)};
      carom_placed pb = {model->parts[j].shape, cm_compose(B, model->parts[j].pose)};
      carom_ssh_result r;
      // Along the line of centres the gap overrates distances between long parts; along the normal it does not.
      if (carom_ssh(&pa, &pb, NULL, NULL, &r) == CAROM_OK) least = fmin(least, r.gap / cm_norm(r.alpha));
    }
  return least;
}

static carom_pose pose_at(const carom_plan *plan, int k, int body, double t) {
  size_t n = (size_t)plan->model->body_count, at = (size_t)k * n + (size_t)body;
  const carom_path *path = &plan->path;
  if (t == 0) return cm_pose(path->x[at], path->q[at]);
  carom_motion m = {NULL, cm_pose(path->x[at], path->q[at]), cm_pose(path->x[at + n], path->q[at + n])};
  return carom_motion_at(&m, t);
}

// Conservative advancement over the interval, for bodies that are well apart at both ends: proves that nothing happens
// between the samples. Parts away from their body's centre move on arcs, so the interval is cut into the samples'
// pieces.
static carom_status proves_clear(const carom_plan *plan, int a, int b, int k, int piece, bool *clear) {
  const carom_model *model = plan->model;
  const carom_body *ba = &model->bodies[a], *bb = &model->bodies[b];
  double t0 = (double)piece / SAMPLES, t1 = (double)(piece + 1) / SAMPLES;
  *clear = true;
  for (int i = ba->part_start; i < ba->part_start + ba->part_count && *clear; i++)
    for (int j = bb->part_start; j < bb->part_start + bb->part_count && *clear; j++) {
      const carom_part *pa = &model->parts[i], *pb = &model->parts[j];
      carom_motion ma = {pa->shape, cm_compose(pose_at(plan, k, a, t0), pa->pose),
                         cm_compose(pose_at(plan, k, a, t1), pa->pose)};
      carom_motion mb = {pb->shape, cm_compose(pose_at(plan, k, b, t0), pb->pose),
                         cm_compose(pose_at(plan, k, b, t1), pb->pose)};
      carom_impact_time impact;
      carom_status status = carom_time_of_impact(&ma, &mb, 0, NULL, &impact);
      if (status != CAROM_OK && status != CAROM_NOT_CONVERGED) return status;
      *clear = impact.outcome == CAROM_IMPACT_NONE;
    }
  return CAROM_OK;
}

static bool sticks(const carom_plan *plan, int k, int a, int b) {
  return carom_plan_meets_at(plan, k, a, b) && carom_plan_meets_at(plan, k + 1, a, b);
}

typedef struct sweep {
  const carom_plan *plan;
  double node_gap, swept_gap, tolerance;
} sweep;

// The least gap of a pair over interval k; *meets when something is in the way.
static carom_status sweep_interval(sweep *s, int k, int a, int b, bool *meets, carom_error *error) {
  double gap[SAMPLES + 1];
  for (int i = 0; i <= SAMPLES; i++) {
    double t = (double)i / SAMPLES;
    gap[i] = carom_plan_gap(s->plan, a, pose_at(s->plan, k, a, t), b, pose_at(s->plan, k, b, t));
    if (i == 0 || i == SAMPLES) s->node_gap = fmin(s->node_gap, gap[i]);
    s->swept_gap = fmin(s->swept_gap, gap[i]);
    if (gap[i] < -s->tolerance) *meets = true;
  }
  for (int i = 0; i < SAMPLES && !*meets; i++) {
    bool clear = true;
    double near = 1e-3 * s->plan->length_scale;
    if (gap[i] > near && gap[i + 1] > near) {
      carom_status status = proves_clear(s->plan, a, b, k, i, &clear);
      if (status != CAROM_OK) return carom_fail(error, status, "the swept check failed: %s", carom_status_text(status));
    }
    if (!clear) *meets = true, s->swept_gap = fmin(s->swept_gap, -s->tolerance);
  }
  return CAROM_OK;
}

carom_status carom_plan_sweep(const carom_plan *plan, double *node_gap, double *swept_gap, bool *marked, int *count,
                              carom_error *error) {
  sweep s = {plan, INFINITY, INFINITY, 1e-9 * plan->length_scale};
  carom_status status = CAROM_OK;
  *count = 0;
  for (int k = 0; k < plan->path.K && status == CAROM_OK; k++) {
    bool meets = false;
    for (int i = 0; i < plan->avoided_count && status == CAROM_OK; i++) {
      int a = plan->avoided[i].body[0], b = plan->avoided[i].body[1];
      if (!sticks(plan, k, a, b)) status = sweep_interval(&s, k, a, b, &meets, error);
    }
    if (marked) marked[k] = meets;
    *count += meets;
  }
  *node_gap = s.node_gap, *swept_gap = s.swept_gap;
  return status;
}
