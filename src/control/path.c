// Motions on the grid.
#include <string.h>

#include "base/memory.h"
#include "control/plan.h"

static size_t event_multipliers(const carom_plan *plan) {
  return (size_t)plan->event_count * (size_t)carom_plan_multipliers(plan);
}
static size_t event_momenta(const carom_plan *plan) {
  return 4 * ((size_t)plan->event_count + 1) * (size_t)plan->model->body_count;
}

carom_vec3 *carom_path_block(const carom_plan *plan, const carom_path *path, int event, int which) {
  size_t block = which < 0 ? (size_t)(2 * plan->event_count + 2 + which) : (size_t)(2 * event + which);
  return path->P + 2 * block * (size_t)plan->model->body_count;
}

// What belongs to contacts and events, however many nodes there are.
static void copy_breaks(const carom_plan *plan, const carom_path *from, carom_path *to) {
  memcpy(to->sigma, from->sigma, (size_t)carom_plan_segments(plan) * sizeof *to->sigma);
  memcpy(to->hold, from->hold, event_multipliers(plan) * sizeof *to->hold);
  memcpy(to->impulse, from->impulse, event_multipliers(plan) * sizeof *to->impulse);
  memcpy(to->P, from->P, event_momenta(plan) * sizeof *to->P);
  to->known = from->known;
}

carom_status carom_path_create(const carom_plan *plan, int K, carom_path *path, carom_error *error) {
  const carom_allocator *a = &plan->allocator;
  size_t poses = (size_t)(K + 1) * (size_t)plan->model->body_count;
  *path = (carom_path){.K = K};
  if (!CAROM_NEW_ALL(
          a, CAROM_ROOM(path->h, K), CAROM_ROOM(path->x, poses), CAROM_ROOM(path->q, poses),
          CAROM_ROOM(path->tau, (size_t)K * (size_t)carom_plan_components(plan) + 1),
          CAROM_ROOM(path->sigma, carom_plan_segments(plan)), CAROM_ROOM(path->hold, event_multipliers(plan) + 1),
          CAROM_ROOM(path->impulse, event_multipliers(plan) + 1), CAROM_ROOM(path->P, event_momenta(plan) + 1),
          CAROM_ROOM(path->lambda, (size_t)(K + 1) * (size_t)carom_plan_multipliers(plan) + 1),
          CAROM_ROOM(path->watched, (size_t)K * (size_t)carom_plan_part_pairs(plan) + 1),
          CAROM_ROOM(path->added, K + 1))) {
    carom_path_destroy(plan, path);
    (void)carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan of %d intervals", K);
    return CAROM_ERR_MEMORY;  // said out loud for analysers that look for null pointers afterwards
  }
  for (int i = 0; i < carom_plan_segments(plan); i++) path->sigma[i] = 1;
  return CAROM_OK;
}

void carom_path_destroy(const carom_plan *plan, carom_path *path) {
  CAROM_RELEASE_ALL(&plan->allocator, path->h, path->x, path->q, path->tau, path->sigma, path->watched, path->lambda,
                    path->hold, path->impulse, path->P, path->added);
  *path = (carom_path){0};
}

carom_status carom_path_copy(const carom_plan *plan, const carom_path *from, carom_path *to, carom_error *error) {
  carom_path_destroy(plan, to);
  carom_status status = carom_path_create(plan, from->K, to, error);
  if (status != CAROM_OK) return status;
  size_t K = (size_t)from->K, n = (size_t)plan->model->body_count;
  memcpy(to->h, from->h, K * sizeof *to->h);
  memcpy(to->x, from->x, (K + 1) * n * sizeof *to->x);
  memcpy(to->q, from->q, (K + 1) * n * sizeof *to->q);
  memcpy(to->tau, from->tau, K * (size_t)carom_plan_components(plan) * sizeof *to->tau);
  copy_breaks(plan, from, to);
  memcpy(to->lambda, from->lambda, (K + 1) * (size_t)carom_plan_multipliers(plan) * sizeof *to->lambda);
  memcpy(to->watched, from->watched, K * (size_t)carom_plan_part_pairs(plan) * sizeof *to->watched);
  memcpy(to->added, from->added, (K + 1) * sizeof *to->added);
  return CAROM_OK;
}

// p = m dx / h,  h hat(l) = R1 E R0' - R0 E R1' (step/dmv.h).
void carom_path_momentum(const carom_plan *plan, const carom_path *path, int k, int body, carom_vec3 *p,
                         carom_vec3 *l) {
  const carom_body *b = &plan->model->bodies[body];
  size_t n = (size_t)plan->model->body_count, at = (size_t)k * n + (size_t)body;
  double h = path->h[k] * path->sigma[carom_plan_segment(plan, k)];
  carom_vec3 J = b->inertia;
  double half = 0.5 * (J.x + J.y + J.z);
  carom_mat3 R0 = cm_rotation(path->q[at]), R1 = cm_rotation(path->q[at + n]);
  carom_mat3 E = cm_diag3(half - J.x, half - J.y, half - J.z);
  *p = cm_scale(b->mass / h, cm_sub(path->x[at + n], path->x[at]));
  *l = cm_scale(1 / h, cm_axial(cm_mmul(cm_mmul(R1, E), cm_transpose(R0))));
}

void carom_path_align(const carom_plan *plan, carom_path *path) {
  size_t n = (size_t)plan->model->body_count;
  for (size_t i = n; i < (size_t)(path->K + 1) * n; i++) {
    carom_quat *q = &path->q[i];
    if (cm_qdot(*q, path->q[i - n]) < 0) *q = cm_quat(-q->w, -q->x, -q->y, -q->z);
  }
}

// The rotation half way.
static carom_quat middle(carom_quat a, carom_quat b) {
  double s = cm_qdot(a, b) < 0 ? -1 : 1;
  return cm_qunit(cm_quat(a.w + s * b.w, a.x + s * b.x, a.y + s * b.y, a.z + s * b.z));
}

static void copy_node(const carom_plan *plan, const carom_path *from, int k, carom_path *to, int j) {
  size_t n = (size_t)plan->model->body_count;
  memcpy(to->x + (size_t)j * n, from->x + (size_t)k * n, n * sizeof *to->x);
  memcpy(to->q + (size_t)j * n, from->q + (size_t)k * n, n * sizeof *to->q);
  to->added[j] = from->added[k];
  size_t m = (size_t)carom_plan_multipliers(plan);
  memcpy(to->lambda + (size_t)j * m, from->lambda + (size_t)k * m, m * sizeof *to->lambda);
}

static void put_middle(const carom_plan *plan, const carom_path *from, int k, carom_path *to, int j) {
  size_t n = (size_t)plan->model->body_count;
  const carom_vec3 *x = from->x + (size_t)k * n;
  to->added[j] = true;
  const carom_quat *q = from->q + (size_t)k * n;
  for (size_t i = 0; i < n; i++) {
    to->x[(size_t)j * n + i] = cm_lerp(x[i], x[n + i], 0.5);
    to->q[(size_t)j * n + i] = middle(q[i], q[n + i]);
  }
}

static void copy_interval(const carom_plan *plan, const carom_path *from, int k, carom_path *to, int j, double h) {
  size_t c = (size_t)carom_plan_components(plan), w = (size_t)carom_plan_part_pairs(plan);
  to->h[j] = h;
  memcpy(to->watched + (size_t)j * w, from->watched + (size_t)k * w, w * sizeof *to->watched);
  memcpy(to->tau + (size_t)j * c, from->tau + (size_t)k * c, c * sizeof *to->tau);
}

static void move_nodes(carom_plan *plan, int k, int by) {
  for (int i = 0; i < plan->contact_count; i++)
    if (plan->contacts[i].def.node == k) plan->contacts[i].def.node = -(k + by) - 1;  // marked as moved
  for (int i = 0; i < plan->event_count; i++)
    if (plan->events[i].node == k) plan->events[i].node = -(k + by) - 1;
  for (int i = 0; i < plan->condition_count; i++)
    if (plan->conditions[i].node == k) plan->conditions[i].node = -(k + by) - 2;
  for (int i = 0; i < plan->clearance_count; i++) {
    if (plan->clearances[i].from == k) plan->clearances[i].from = -(k + by) - 2;
    if (plan->clearances[i].until == k) plan->clearances[i].until = -(k + by) - 2;
  }
}

static void settle_nodes(carom_plan *plan) {
  for (int i = 0; i < plan->contact_count; i++)
    if (plan->contacts[i].def.node < 0) plan->contacts[i].def.node = -plan->contacts[i].def.node - 1;
  for (int i = 0; i < plan->event_count; i++)
    if (plan->events[i].node < 0) plan->events[i].node = -plan->events[i].node - 1;
  for (int i = 0; i < plan->clearance_count; i++) {
    carom_clearance_def *c = &plan->clearances[i];
    if (c->from < CAROM_LAST_NODE) c->from = -c->from - 2;
    if (c->until < CAROM_LAST_NODE) c->until = -c->until - 2;
  }
  for (int i = 0; i < plan->condition_count; i++)
    if (plan->conditions[i].node < CAROM_LAST_NODE) plan->conditions[i].node = -plan->conditions[i].node - 2;
}

carom_status carom_path_split(carom_plan *plan, const bool *marked, carom_error *error) {
  carom_path *from = &plan->path, to;
  int added = 0;
  for (int k = 0; k < from->K; k++) added += marked[k];
  carom_status status = carom_path_create(plan, from->K + added, &to, error);
  if (status != CAROM_OK) return status;
  copy_breaks(plan, from, &to);
  int j = 0;
  for (int k = 0; k < from->K; k++) {
    copy_node(plan, from, k, &to, j);
    move_nodes(plan, k, j - k);
    double h = marked[k] ? 0.5 * from->h[k] : from->h[k];
    copy_interval(plan, from, k, &to, j++, h);
    if (!marked[k]) continue;
    put_middle(plan, from, k, &to, j);
    copy_interval(plan, from, k, &to, j++, h);
  }
  copy_node(plan, from, from->K, &to, j);
  move_nodes(plan, from->K, added);
  settle_nodes(plan);
  carom_path_destroy(plan, from);
  *from = to;
  return CAROM_OK;
}
