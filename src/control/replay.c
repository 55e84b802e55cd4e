// The planned forces alone, from the first state on: where do the bodies go?
#include "control/march.h"

static double angle_between(carom_quat a, carom_quat b) {
  carom_quat d = cm_qmul(cm_qconj(a), b);
  return 2 * atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), fabs(d.w));
}

static void compare(const carom_plan *plan, const carom_state *s, int node, carom_replay_report *r) {
  for (int i = 0; i < plan->model->body_count; i++) {
    size_t at = (size_t)node * (size_t)plan->model->body_count + (size_t)i;
    double d = cm_norm(cm_sub(s->x[i], plan->path.x[at])), a = angle_between(s->q[i], plan->path.q[at]);
    if (d > r->position) r->position = d, r->body = i, r->node = node;
    if (a > r->rotation) r->rotation = a, r->body = i, r->node = node;
  }
}

static carom_status take_breaks(carom_march *m, int node, carom_error *error) {
  const carom_plan *plan = m->plan;
  carom_status status = CAROM_OK;
  for (int i = 0; i < plan->contact_count && status == CAROM_OK; i++)
    if (plan->contacts[i].def.node == node) status = carom_march_impact(m, i, error);
  for (int i = 0; i < plan->event_count && status == CAROM_OK; i++)
    if (carom_plan_event_node(plan, i) == node) status = carom_march_event(m, i, error);
  return status;
}

// From the march's state through all intervals of the plan.
static carom_status march_through(carom_march *m, carom_replay_report *report, carom_error *error) {
  const carom_plan *plan = m->plan;
  size_t components = (size_t)carom_plan_components(plan);
  carom_status status = CAROM_OK;
  *report = (carom_replay_report){0};
  for (int k = 0; k < plan->path.K && status == CAROM_OK; k++) {
    status = take_breaks(m, k, error);
    if (status == CAROM_OK)
      status = carom_march_step(m, plan->path.tau + (size_t)k * components, carom_plan_step(plan, k), error);
    if (status == CAROM_OK) compare(plan, m->state, k + 1, report);
  }
  if (status == CAROM_OK) status = take_breaks(m, plan->path.K, error);
  carom_state *last = plan->scratch;
  carom_plan_state(plan, plan->path.K, false, last);
  for (int i = 0; i < plan->model->body_count && status == CAROM_OK && plan->joint_count == 0; i++)
    report->momentum = fmax(report->momentum, cm_norm(cm_sub(m->state->p[i], last->p[i])));
  return status;
}

static carom_status begin(const carom_plan *plan, carom_march *m, carom_error *error) {
  if (plan->path.K == 0) return carom_fail(error, CAROM_ERR_ARGUMENT, "there is no plan to replay: solve it first");
  carom_status status = carom_march_create(plan, m, error);
  if (status == CAROM_OK) carom_plan_state(plan, 0, true, m->state);
  return status;
}

carom_status carom_plan_replay(const carom_plan *plan, carom_replay_report *report, carom_error *error) {
  carom_march m;
  *report = (carom_replay_report){0};
  carom_status status = begin(plan, &m, error);
  if (status != CAROM_OK) return status;
  status = march_through(&m, report, error);
  carom_march_destroy(&m);
  return status;
}

// ---- chains --------------------------------------------------------------------------------------------------------

// The plan's own last state, where the next one would begin, against its first.
static carom_status check_chain(const carom_plan *plan, carom_march *m, carom_error *error) {
  carom_replay_report seam = {0};
  carom_plan_state(plan, plan->path.K, true, m->state);
  carom_plan_wrap(plan, m->state);
  compare(plan, m->state, 0, &seam);
  carom_plan_state(plan, 0, true, m->state);
  if (seam.position <= 1e-6 * plan->length_scale && seam.rotation <= 1e-6) return CAROM_OK;
  return carom_fail(
      error, CAROM_ERR_ARGUMENT,
      "the plan cannot be chained: body '%s' ends %.3g m and %.3g rad from where the next one begins; ask "
      "for a periodic motion",
      plan->model->bodies[seam.body].name, seam.position, seam.rotation);
}

// Back to the first interval, at the state that the periodic map makes of the present one.
static carom_status join(carom_march *m, carom_replay_report *report, carom_error *error) {
  carom_state *now = NULL;
  carom_plan_wrap(m->plan, m->state);
  compare(m->plan, m->state, 0, report);
  carom_status status = carom_state_clone(m->state, &m->plan->allocator, &now, error);
  if (status != CAROM_OK) return status;
  carom_march_reset(m);
  carom_state_copy(m->state, now);
  carom_state_destroy(now);
  return CAROM_OK;
}

carom_status carom_plan_replay_chain(const carom_plan *plan, int count, bool anchored, carom_replay_report *reports,
                                     carom_error *error) {
  carom_march m;
  carom_status status = begin(plan, &m, error);
  if (status != CAROM_OK) return status;
  status = check_chain(plan, &m, error);
  for (int i = 0; i < count; i++)
    reports[i] = (carom_replay_report){.position = INFINITY, .rotation = INFINITY, .momentum = INFINITY};
  for (int i = 0; i < count && status == CAROM_OK; i++) {
    carom_replay_report report;
    status = march_through(&m, &report, error);
    bool strayed = i > 0 && !anchored && (status == CAROM_NOT_CONVERGED || status == CAROM_ERR_NUMBER);
    if (strayed) {  // too far for a step to be taken at all
      status = CAROM_OK;
      break;
    }
    if (status == CAROM_OK) status = join(&m, &report, error);
    if (status == CAROM_OK) reports[i] = report;
    if (status == CAROM_OK && anchored) carom_plan_state(plan, 0, true, m.state);
  }
  carom_march_destroy(&m);
  return status;
}
