// Contact potentials of a plan: in the transcription, and as forces for the forward march.
#include "control/penalty.h"

#include "base/memory.h"
#include "control/plan.h"

static carom_penalty_pair pair_of(const carom_plan *plan, const carom_plan_penalty *p, int part_a, int part_b) {
  const carom_part *parts = plan->model->parts;
  return (carom_penalty_pair){.shape = {parts[part_a].shape, parts[part_b].shape},
                              .offset = {parts[part_a].pose, parts[part_b].pose},
                              .stiffness = p->stiffness,
                              .width = p->width};
}

#define EACH_PART_PAIR(i, j, A, B)                                          \
  for (int i = (A)->part_start; i < (A)->part_start + (A)->part_count; i++) \
    for (int j = (B)->part_start; j < (B)->part_start + (B)->part_count; j++)

// ---- forces --------------------------------------------------------------------------------------------------------

double carom_plan_penalty_kick(const carom_plan *plan, const carom_vec3 *x, const carom_quat *q, double dt,
                               carom_vec3 *p, carom_vec3 *l) {
  double deepest = 0;
  for (int n = 0; n < plan->penalty_count; n++) {
    const carom_plan_penalty *c = &plan->penalties[n];
    int a = c->body[0], b = c->body[1];
    const carom_body *A = &plan->model->bodies[a], *B = &plan->model->bodies[b];
    EACH_PART_PAIR(i, j, A, B) {
      carom_penalty_pair pair = pair_of(plan, c, i, j);
      carom_vec3 f, t[2];
      double gap = 0;
      if (!carom_penalty_force(&pair, cm_pose(x[a], q[a]), cm_pose(x[b], q[b]), &gap, &f, t)) continue;
      deepest = fmax(deepest, -gap);
      if (!A->fixed && p) p[a] = cm_axpy(p[a], dt, f), l[a] = cm_axpy(l[a], dt, t[0]);
      if (!B->fixed && p) p[b] = cm_axpy(p[b], -dt, f), l[b] = cm_axpy(l[b], dt, t[1]);
    }
  }
  return deepest;
}

double carom_plan_overlap(const carom_plan *plan, int node) {
  size_t at = (size_t)node * (size_t)plan->model->body_count;
  return carom_plan_penalty_kick(plan, plan->path.x + at, plan->path.q + at, 0, NULL, NULL);
}

// ---- transcription -------------------------------------------------------------------------------------------------

// The impulse sigma h f at a node, with h of one side of it, in the rows that begin at `row`.
typedef struct kick {
  int node, row, interval;
  double h;
} kick;

static void add_impulse(carom_plan *plan, const carom_plan_penalty *c, carom_penalty_pair *pair, kick at) {
  carom_program *P = &plan->program;
  carom_program_element(P, &carom_kind_penalty, pair);
  for (int i = 0; i < 2; i++) carom_element_variables(P, carom_variable_x(plan, at.node, c->body[i]), 7);
  carom_element_variables(P, plan->layout.sigma + carom_plan_segment(plan, at.interval), 1);
  for (int i = 0; i < 2; i++) carom_element_rows(P, carom_body_row(plan, at.row, c->body[i]), 6);
  carom_element_constants(P, &at.h, 1);
}

// Half a step of each interval at its node, as all forces act (Johnson 2012, eq. 4.5); as one where they can be.
static void add_node(carom_plan *plan, const carom_plan_penalty *c, carom_penalty_pair *pair, int k) {
  const carom_layout *L = &plan->layout;
  const double *h = plan->path.h;
  int K = plan->path.K;
  bool both = k > 0 && k < K, same = both && L->in[k] == L->out[k];
  if (same && carom_plan_segment(plan, k - 1) == carom_plan_segment(plan, k)) {
    add_impulse(plan, c, pair, (kick){k, L->in[k], k, 0.5 * (h[k - 1] + h[k])});
    return;
  }
  if (k > 0) add_impulse(plan, c, pair, (kick){k, L->in[k], k - 1, 0.5 * h[k - 1]});
  if (k < K) add_impulse(plan, c, pair, (kick){k, L->out[k], k, 0.5 * h[k]});
}

carom_status carom_transcribe_penalties(carom_plan *plan, carom_error *error) {
  int pairs = 0, next = 0, nodes = plan->path.K + 1;
  const carom_body *bodies = plan->model->bodies;
  carom_release(&plan->allocator, plan->potentials);
  plan->potentials = NULL;
  for (int n = 0; n < plan->penalty_count; n++) {
    const int *body = plan->penalties[n].body;
    pairs += bodies[body[0]].part_count * bodies[body[1]].part_count;
  }
  if (pairs == 0) return CAROM_OK;
  plan->potentials = CAROM_NEW(&plan->allocator, carom_penalty_pair, pairs * nodes);
  if (!plan->potentials) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for contact potentials");
  for (int n = 0; n < plan->penalty_count; n++) {
    const carom_plan_penalty *c = &plan->penalties[n];
    EACH_PART_PAIR(i, j, &bodies[c->body[0]], &bodies[c->body[1]])
    for (int k = 0; k < nodes; k++) {
      plan->potentials[next] = pair_of(plan, c, i, j);
      add_node(plan, c, &plan->potentials[next++], k);
    }
  }
  return CAROM_OK;
}
