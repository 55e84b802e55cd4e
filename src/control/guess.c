// First guesses along a path: waypoints or straight lines, and the forces that such a path asks for.
#include <string.h>

#include "base/memory.h"
#include "control/forces.h"
#include "control/plan.h"
#include "math/dense.h"

// ---- where bodies are to go ----------------------------------------------------------------------------------------

static bool final_condition(const carom_plan *plan, const carom_condition_def *c, int body) {
  return c->body == body && (c->node == CAROM_LAST_NODE || c->node == plan->def.intervals);
}

static double clamp_open(double value, double low, double high) { return fmin(fmax(value, low), high); }

bool carom_guess_target(const carom_plan *plan, int body, carom_pose *pose) {
  bool found = plan->periodic.set;
  int partner = plan->partner[body];
  if (found) *pose = carom_periodic_pose(plan, body, cm_pose(plan->start->x[partner], plan->start->q[partner]));
  for (int i = 0; i < plan->condition_count; i++) {
    const carom_condition_def *c = &plan->conditions[i];
    if (!final_condition(plan, c, body)) continue;
    carom_pose given = carom_principal_pose(plan->model, body, c->pose);
    if (c->kind == CAROM_CONDITION_POSE) *pose = given, found = true;
    if (c->kind == CAROM_CONDITION_ROTATION) pose->q = given.q, found = true;
    if (c->kind == CAROM_CONDITION_POSITION) {
      pose->p = cm_vec3(clamp_open(pose->p.x, c->low.x, c->high.x), clamp_open(pose->p.y, c->low.y, c->high.y),
                        clamp_open(pose->p.z, c->low.z, c->high.z));
      found = true;
    }
    carom_pose base;
    if (c->kind == CAROM_CONDITION_RELATIVE_POSE && c->other >= 0) {
      base = cm_pose(plan->start->x[c->other], plan->start->q[c->other]);
      carom_guess_target(plan, c->other, &base);
      carom_pose user = cm_compose(cm_compose(base, plan->model->bodies[c->other].frame), c->pose);
      *pose = carom_principal_pose(plan->model, body, user), found = true;
    }
  }
  return found;
}

// ---- paths ---------------------------------------------------------------------------------------------------------

carom_pose carom_guess_between(carom_pose a, carom_pose b, double t) {
  carom_quat turn = cm_qmul(cm_qconj(a.q), b.q);
  if (turn.w < 0) turn = cm_quat(-turn.w, -turn.x, -turn.y, -turn.z);
  return cm_pose(cm_lerp(a.p, b.p, t), cm_qmul(a.q, cm_exp(cm_scale(t, cm_log(turn)))));
}

static carom_pose along(const carom_waypoints *w, double time) {
  if (time <= w->times[0]) return w->poses[0];
  for (int i = 1; i < w->count; i++)
    if (time <= w->times[i])
      return carom_guess_between(w->poses[i - 1], w->poses[i],
                                 (time - w->times[i - 1]) / (w->times[i] - w->times[i - 1]));
  return w->poses[w->count - 1];
}

static void lay_body(carom_plan *plan, int body) {
  carom_path *path = &plan->path;
  const carom_waypoints *w = &plan->waypoints[body];
  carom_pose from = cm_pose(plan->start->x[body], plan->start->q[body]), to = from;
  bool moves = !plan->model->bodies[body].fixed && carom_guess_target(plan, body, &to);
  double total = 0, time = 0;
  for (int k = 0; k < path->K; k++) total += carom_plan_step(plan, k);
  for (int k = 0; k <= path->K; k++) {
    size_t at = (size_t)k * (size_t)plan->model->body_count + (size_t)body;
    carom_pose pose = w->count ? along(w, time) : moves ? carom_guess_between(from, to, time / total) : from;
    path->x[at] = pose.p, path->q[at] = pose.q;
    if (k < path->K) time += carom_plan_step(plan, k);
  }
}

static carom_status begin_path(carom_plan *plan, carom_error *error) {
  carom_path_destroy(plan, &plan->path);
  carom_status status = carom_path_create(plan, plan->def.intervals, &plan->path, error);
  for (int k = 0; status == CAROM_OK && k < plan->path.K; k++) plan->path.h[k] = plan->def.step;
  return status;
}

// ---- inverse dynamics ----------------------------------------------------------------------------------------------

typedef struct inverse {
  carom_plan *plan;
  int n, rows, unknowns;  // moving bodies; 6 n; components and multipliers
  double *A, *b;          // (rows x unknowns) and max of both
  double *tau;            // (components)
  carom_vec3 *p, *l;      // (bodies)
} inverse;

static void put_momenta(const inverse *w, double *column, double factor) {
  for (int i = 0; i < w->plan->model->body_count; i++) {
    if (w->plan->model->bodies[i].fixed) continue;
    double *c = column + 6 * w->plan->slot[i];
    c[0] = factor * w->p[i].x, c[1] = factor * w->p[i].y, c[2] = factor * w->p[i].z;
    c[3] = factor * w->l[i].x, c[4] = factor * w->l[i].y, c[5] = factor * w->l[i].z;
  }
}

static void clear_momenta(const inverse *w) {
  memset(w->p, 0, (size_t)w->plan->model->body_count * sizeof *w->p);
  memset(w->l, 0, (size_t)w->plan->model->body_count * sizeof *w->l);
}

// Columns: what a unit of each component does in half a step, less the weight, which is no unknown.
static void actuator_columns(const inverse *w, int k, double dt) {
  const carom_path *path = &w->plan->path;
  size_t at = (size_t)k * (size_t)w->plan->model->body_count;
  int components = carom_plan_components(w->plan);
  for (int c = 0; c < components; c++) {
    memset(w->tau, 0, (size_t)components * sizeof *w->tau);
    clear_momenta(w);
    carom_plan_kick(w->plan, w->tau, -dt, &(carom_kicked){path->x + at, path->q + at, w->p, w->l});
    w->tau[c] = 1;
    carom_plan_kick(w->plan, w->tau, dt, &(carom_kicked){path->x + at, path->q + at, w->p, w->l});
    put_momenta(w, w->A + (size_t)c * (size_t)w->rows, 1);
  }
}

static void joint_column(const inverse *w, const carom_plan_joint *j, int k, int row, double *column) {
  size_t at = (size_t)k * (size_t)w->plan->model->body_count;
  const carom_quat *q = w->plan->path.q + at;
  int a = j->body[0], b = j->body[1];
  clear_momenta(w);
  if (row < 3) {
    carom_vec3 f = cm_vec3(row == 0, row == 1, row == 2);
    w->p[b] = f, w->p[a] = cm_neg(f);
    w->l[b] = cm_cross(cm_rotate(q[b], j->point[1]), f);
    w->l[a] = cm_cross(f, cm_rotate(q[a], j->point[0]));
  } else {
    carom_vec3 t = cm_cross(cm_rotate(q[b], j->cross[row - 3]), cm_rotate(q[a], j->axis));
    w->l[b] = t, w->l[a] = cm_neg(t);
  }
  put_momenta(w, column, 1);
}

static void joint_columns(const inverse *w, int k) {
  int column = carom_plan_components(w->plan);
  for (int i = 0; i < w->plan->joint_count; i++)
    for (int row = 0; row < w->plan->joints[i].rows; row++, column++)
      if (carom_joint_holds(w->plan, &w->plan->joints[i], k))
        joint_column(w, &w->plan->joints[i], k, row, w->A + (size_t)column * (size_t)w->rows);
}

// What is missing at node k: drift after - drift before - kicks known so far.
static void right_side(const inverse *w, int k, const double *tau_before) {
  const carom_plan *plan = w->plan;
  const carom_path *path = &plan->path;
  size_t at = (size_t)k * (size_t)plan->model->body_count;
  double dt = 0.5 * carom_plan_step(plan, k - 1), half = 0.5 * carom_plan_step(plan, k);
  clear_momenta(w);
  memset(w->tau, 0, (size_t)carom_plan_components(plan) * sizeof *w->tau);
  carom_plan_kick(plan, tau_before, -dt, &(carom_kicked){path->x + at, path->q + at, w->p, w->l});
  carom_plan_kick(plan, w->tau, -half, &(carom_kicked){path->x + at, path->q + at, w->p, w->l});
  for (int i = 0; i < plan->model->body_count; i++) {
    if (plan->model->bodies[i].fixed) continue;
    carom_vec3 p0, l0, p1, l1;
    carom_path_momentum(plan, path, k - 1, i, &p0, &l0);
    carom_path_momentum(plan, path, k, i, &p1, &l1);
    w->p[i] = cm_add(w->p[i], cm_sub(p1, p0));
    w->l[i] = cm_add(w->l[i], cm_sub(l1, l0));
  }
  put_momenta(w, w->b, 1);
}

// False without memory. Where there is no balance, there are no forces to begin with.
static bool solve_node(const inverse *w, int k) {
  carom_path *path = &w->plan->path;
  size_t c = (size_t)carom_plan_components(w->plan);
  int rank;
  memset(w->A, 0, (size_t)w->rows * (size_t)w->unknowns * sizeof *w->A);
  actuator_columns(w, k, 0.5 * carom_plan_step(w->plan, k));
  joint_columns(w, k);
  right_side(w, k, path->tau + (size_t)(k - 1) * c);
  carom_status status = carom_dense_least_squares(w->rows, w->unknowns, w->A, w->b, 1e-10, &rank);
  bool solved = status == CAROM_OK;
  for (size_t i = 0; i < c; i++) path->tau[(size_t)k * c + i] = solved && isfinite(w->b[i]) ? w->b[i] : 0;
  size_t m = (size_t)carom_plan_multipliers(w->plan);
  for (size_t i = 0; i < m; i++) path->lambda[(size_t)k * m + i] = solved && isfinite(w->b[c + i]) ? w->b[c + i] : 0;
  return status != CAROM_ERR_MEMORY;
}

// tau_0 = 0, and tau_k from the balance at node k (Johnson 2012, eq. 4.22).
carom_status carom_guess_forces(carom_plan *plan, carom_error *error) {
  const carom_allocator *a = &plan->allocator;
  inverse w = {.plan = plan, .n = plan->model->moving_count, .rows = 6 * plan->model->moving_count};
  w.unknowns = carom_plan_components(plan) + carom_plan_multipliers(plan);
  memset(plan->path.tau, 0, (size_t)plan->path.K * (size_t)carom_plan_components(plan) * sizeof *plan->path.tau);
  if (w.unknowns == 0) return CAROM_OK;
  int most = w.rows > w.unknowns ? w.rows : w.unknowns;
  bool good = CAROM_NEW_ALL(a, CAROM_ROOM(w.A, (size_t)w.rows * (size_t)w.unknowns), CAROM_ROOM(w.b, most),
                            CAROM_ROOM(w.tau, w.unknowns), CAROM_ROOM(w.p, plan->model->body_count),
                            CAROM_ROOM(w.l, plan->model->body_count));
  bool room = true;
  for (int k = 1; good && room && k < plan->path.K; k++) room = solve_node(&w, k);
  CAROM_RELEASE_ALL(a, w.A, w.b, w.tau, w.p, w.l);
  if (!room) return carom_dense_fail_room(error, "inverse dynamics");
  return good ? CAROM_OK : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for inverse dynamics");
}

// ---- all of it -----------------------------------------------------------------------------------------------------

static bool has_waypoints(const carom_plan *plan) {
  for (int i = 0; i < plan->model->body_count; i++)
    if (plan->waypoints[i].count) return true;
  return false;
}

static void lay_path(carom_plan *plan) {
  for (int i = 0; i < plan->model->body_count; i++) lay_body(plan, i);
}

// ---- bodies on joints ----------------------------------------------------------------------------------------------

// Bodies go where the joints put them, from the fixed ones outwards; how they stand is left as it is.
static void chain_node(carom_plan *plan, int k) {
  size_t n = (size_t)plan->model->body_count;
  carom_vec3 *x = plan->path.x + (size_t)k * n;
  const carom_quat *q = plan->path.q + (size_t)k * n;
  int interval = k > 0 ? k - 1 : 0;
  for (size_t i = 0; i < n; i++) plan->placed[i] = plan->model->bodies[i].fixed;
  for (bool again = true; again;) {
    again = false;
    for (int i = 0; i < plan->joint_count; i++) {
      const carom_plan_joint *j = &plan->joints[i];
      int known = plan->placed[j->body[0]] ? 0 : 1, body = j->body[1 - known];
      if (!carom_joint_holds(plan, j, interval) || !plan->placed[j->body[known]] || plan->placed[body]) continue;
      carom_vec3 rho[2] = {j->found, j->point[1]};
      carom_vec3 at = cm_add(x[j->body[known]], cm_rotate(q[j->body[known]], rho[known]));
      x[body] = cm_sub(at, cm_rotate(q[body], rho[1 - known]));
      plan->placed[body] = again = true;
    }
  }
}

// Only motions in phases hang on the ground all the time.
static void chain_path(carom_plan *plan) {
  if (!plan->event_count && !plan->periodic.set) return;
  for (int k = 0; k <= plan->path.K; k++) chain_node(plan, k);
}

// A way that is blocked between the nodes or at them.
static carom_status is_blocked(const carom_plan *plan, bool *blocked, carom_error *error) {
  double node_gap, swept_gap;
  int count = 0;
  carom_status status = carom_plan_sweep(plan, &node_gap, &swept_gap, NULL, &count, error);
  *blocked = swept_gap < -1e-9 * plan->length_scale;
  return status;
}

carom_status carom_guess_make(carom_plan *plan, carom_guess_kind *kind, uint64_t seed, carom_error *error) {
  carom_status status = begin_path(plan, error);
  if (status != CAROM_OK) return status;
  bool watched = false;
  if (*kind == CAROM_GUESS_MOTION)
    status = carom_warm_lay(plan, &watched, error);
  else
    lay_path(plan);
  bool search = *kind == CAROM_GUESS_SEARCH, found = false;
  bool may_search = *kind == CAROM_GUESS_PATH && plan->avoided_count && !plan->contact_count;
  if (*kind == CAROM_GUESS_FORWARD) status = carom_guess_forward(plan, seed, error);
  if (may_search && !has_waypoints(plan)) status = is_blocked(plan, &search, error);
  if (may_search && plan->variation % 2 == 1) search = true;  // every other start tries a sampled way
  if (status == CAROM_OK && search) status = carom_guess_search(plan, seed, &found, error);
  if (found) *kind = CAROM_GUESS_SEARCH;
  if (plan->variation && !found && *kind != CAROM_GUESS_FORWARD) carom_guess_bend(plan, seed);
  if (status != CAROM_OK) return status;
  if (*kind != CAROM_GUESS_FORWARD && *kind != CAROM_GUESS_MOTION) chain_path(plan);
  carom_path_align(plan, &plan->path);
  if (!watched || plan->variation) carom_watch_near_pairs(plan);
  return status;
}
