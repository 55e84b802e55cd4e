#include "control/march.h"

#include <string.h>

#include "base/memory.h"
#include "carom/impact.h"
#include "control/forces.h"
#include "math/dense.h"

// ---- set-up --------------------------------------------------------------------------------------------------------

carom_status carom_march_create(const carom_plan *plan, carom_march *m, carom_error *error) {
  *m = (carom_march){.plan = plan};
  int rows = carom_plan_multipliers(plan) + 3 * plan->contact_count, n = plan->contact_count + 1;
  m->most_rows = rows;
  size_t r = (size_t)rows + 1;
  size_t need = carom_arena_cost(carom_dmv_bodies_cost(plan->model->body_count)) +
                carom_arena_cost((size_t)(carom_plan_components(plan) + 1) * sizeof(double)) +
                carom_arena_cost((size_t)n * sizeof(bool)) + carom_arena_cost((size_t)n * sizeof *m->grip) +
                carom_arena_cost(r * r * sizeof(double)) + 2 * carom_arena_cost(r * sizeof(double)) +
                carom_arena_cost(r * sizeof(int));
  carom_status status = carom_arena_create(&m->arena, need, &plan->allocator, error);
  if (status == CAROM_OK) status = carom_state_clone(plan->start, &plan->allocator, &m->state, error);
  if (status == CAROM_OK) status = carom_state_clone(plan->start, &plan->allocator, &m->trial, error);
  if (status != CAROM_OK) {
    carom_march_destroy(m);
    return status;
  }
  carom_dmv_bodies_fill(&m->bodies, plan->model,
                        carom_arena_push(&m->arena, carom_dmv_bodies_cost(plan->model->body_count)));
  m->tau = CAROM_PUSH(&m->arena, double, carom_plan_components(plan) + 1);
  memset(m->tau, 0, (size_t)(carom_plan_components(plan) + 1) * sizeof(double));
  m->stuck = CAROM_PUSH(&m->arena, bool, n);
  m->grip = carom_arena_push(&m->arena, (size_t)n * sizeof *m->grip);
  m->S = CAROM_PUSH(&m->arena, double, r *r);
  m->residual = CAROM_PUSH(&m->arena, double, r);
  m->lambda = CAROM_PUSH(&m->arena, double, r);
  m->pivot = CAROM_PUSH(&m->arena, int, r);
  carom_march_reset(m);
  return CAROM_OK;
}

void carom_march_reset(carom_march *m) {
  carom_state_copy(m->state, m->plan->start);
  m->interval = 0;
  memset(m->stuck, 0, (size_t)(m->plan->contact_count + 1) * sizeof(bool));
}

void carom_march_destroy(carom_march *m) {
  carom_state_destroy(m->state);
  carom_state_destroy(m->trial);
  if (m->arena.memory) carom_arena_destroy(&m->arena);
  *m = (carom_march){0};
}

// ---- drift ---------------------------------------------------------------------------------------------------------

static carom_status drift(carom_march *m, carom_state *state, double h, carom_error *error) {
  carom_dmv_info info = {.failed = -1};
  for (int first = 0; first < m->bodies.count; first += CAROM_DMV_LANES)
    carom_dmv_drift(&m->bodies, first, h, 6, state, &info);
  if (info.failed < 0) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_NUMBER, "body '%s' turns too far in one interval of %g s: use more intervals",
                    m->plan->model->bodies[info.failed].name, h);
}

// ---- joints: G' lambda at the start such that g = 0 at the end -----------------------------------------------------

// One scalar constraint: how it changes with the twists of up to two bodies at a configuration.
typedef struct row {
  int body[2];
  carom_vec3 linear[2], angular[2];
  double value;
} row;

static int pin_rows(const carom_state *s, const int body[2], const carom_vec3 rho[2], row *out) {
  int a = body[0], b = body[1];
  carom_vec3 ra = cm_rotate(s->q[a], rho[0]), rb = cm_rotate(s->q[b], rho[1]);
  carom_vec3 apart = cm_sub(cm_add(s->x[b], rb), cm_add(s->x[a], ra));
  double value[3] = {apart.x, apart.y, apart.z};
  for (int i = 0; i < 3; i++) {
    carom_vec3 e = cm_vec3(i == 0, i == 1, i == 2);
    out[i] = (row){{a, b}, {cm_neg(e), e}, {cm_cross(e, ra), cm_cross(rb, e)}, value[i]};
  }
  return 3;
}

static int hinge_rows(const carom_state *s, const carom_plan_joint *j, row *out) {
  carom_vec3 n = cm_rotate(s->q[j->body[0]], j->axis);
  for (int i = 0; i < 2; i++) {
    carom_vec3 b = cm_rotate(s->q[j->body[1]], j->cross[i]), t = cm_cross(b, n);
    out[i] = (row){{j->body[0], j->body[1]}, {cm_zero3(), cm_zero3()}, {cm_neg(t), t}, cm_dot(n, b)};
  }
  return 2;
}

enum { MOST_ROWS = 256, MOST_BLOW = 3 * CAROM_FLAT_CORNERS };

static int all_rows(const carom_march *m, const carom_state *s, row *out) {
  int count = 0;
  const carom_plan *plan = m->plan;
  for (int i = 0; i < plan->joint_count && count < MOST_ROWS - 5; i++) {
    const carom_plan_joint *j = &plan->joints[i];
    if (!carom_joint_holds(plan, j, m->interval)) continue;
    count += pin_rows(s, j->body, (carom_vec3[2]){j->found, j->point[1]}, out + count);
    if (j->kind == CAROM_PLAN_REVOLUTE) count += hinge_rows(s, j, out + count);
  }
  for (int i = 0; i < plan->contact_count && count < MOST_ROWS - 5; i++)
    if (m->stuck[i]) count += pin_rows(s, plan->contacts[i].def.body, m->grip[i], out + count);
  return count;
}

static bool moves(const carom_march *m, int body) { return body >= 0 && !m->plan->model->bodies[body].fixed; }

static carom_vec3 inverse_inertia(const carom_march *m, const carom_state *s, int body, carom_vec3 t) {
  return cm_rotate(s->q[body], cm_mul_diag(m->plan->model->bodies[body].inverse_inertia, cm_unrotate(s->q[body], t)));
}

// (row) M^-1 (other row)'
static double couple(const carom_march *m, const carom_state *s, const row *r, const row *other) {
  double sum = 0;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      int body = r->body[i];
      if (!moves(m, body) || other->body[j] != body) continue;
      sum += m->plan->model->bodies[body].inverse_mass * cm_dot(r->linear[i], other->linear[j]);
      sum += cm_dot(r->angular[i], inverse_inertia(m, s, body, other->angular[j]));
    }
  return sum;
}

static double speed_along(const carom_march *m, const row *r) {
  double sum = 0;
  const carom_state *s = m->state;
  for (int i = 0; i < 2; i++) {
    int body = r->body[i];
    if (!moves(m, body)) continue;
    sum += m->plan->model->bodies[body].inverse_mass * cm_dot(r->linear[i], s->p[body]);
    sum += cm_dot(r->angular[i], inverse_inertia(m, s, body, s->l[body]));
  }
  return sum;
}

static void push(const carom_march *m, const row *r, double lambda, carom_state *s) {
  for (int i = 0; i < 2; i++)
    if (moves(m, r->body[i])) {
      s->p[r->body[i]] = cm_axpy(s->p[r->body[i]], lambda, r->linear[i]);
      s->l[r->body[i]] = cm_axpy(s->l[r->body[i]], lambda, r->angular[i]);
    }
}

static double worst(int n, const row *rows) {
  double w = 0;
  for (int i = 0; i < n; i++) w = fmax(w, fabs(rows[i].value));
  return w;
}

// Where the joints are left by the impulses lambda at the start.
static carom_status try_impulses(carom_march *m, const row *start, int n, double h, row *end, carom_error *error) {
  carom_state_copy(m->trial, m->state);
  for (int i = 0; i < n; i++) push(m, &start[i], m->lambda[i], m->trial);
  carom_status status = drift(m, m->trial, h, error);
  if (status == CAROM_OK) all_rows(m, m->trial, end);
  return status;
}

// The change of the end with each impulse, by differences: exact enough for Newton's method to end at round-off.
static carom_status differentiate(carom_march *m, const row *start, const row *end, int n, double h,
                                  carom_error *error) {
  row moved[MOST_ROWS];
  for (int j = 0; j < n; j++) {
    double keep = m->lambda[j], size = fabs(h) * couple(m, m->state, &start[j], &start[j]);
    double change = 1e-6 * m->plan->length_scale / fmax(size, 1e-300);
    m->lambda[j] = keep + change;
    carom_status status = try_impulses(m, start, n, h, moved, error);
    m->lambda[j] = keep;
    if (status != CAROM_OK) return status;
    for (int i = 0; i < n; i++) m->S[i + j * n] = (moved[i].value - end[i].value) / change;
  }
  carom_status status = carom_small_lu(n, m->S, n, m->pivot);
  return status == CAROM_OK ? CAROM_OK : carom_fail(error, status, "the joints contradict or repeat each other");
}

// Impulses that make the momenta agree with the joints at the start: G M^-1 (p + G' lambda) = 0. Without them thin
// bodies would begin with absurd spins.
static carom_status project(carom_march *m, const row *start, int n, carom_error *error) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) m->S[i + j * n] = couple(m, m->state, &start[i], &start[j]);
    m->lambda[i] = -speed_along(m, &start[i]);
  }
  carom_status status = carom_small_lu(n, m->S, n, m->pivot);
  if (status != CAROM_OK) return carom_fail(error, status, "the joints contradict or repeat each other");
  carom_small_lu_solve(n, m->S, n, m->pivot, m->lambda);
  return CAROM_OK;
}

static carom_status drift_jointed(carom_march *m, double h, carom_error *error) {
  enum { PASSES = 60 };
  row start[MOST_ROWS], end[MOST_ROWS];
  int n = all_rows(m, m->state, start);
  double left = INFINITY, before, L = m->plan->length_scale;
  carom_status status = project(m, start, n, error);
  for (int pass = 0; pass < PASSES && status == CAROM_OK; pass++) {
    status = try_impulses(m, start, n, h, end, error);
    if (status != CAROM_OK) return status;
    before = left, left = worst(n, end);
    if (left < 1e-15 * L || (left < 1e-12 * L && left >= before)) break;
    if (pass == 0 || left > 0.05 * before) status = differentiate(m, start, end, n, h, error);
    if (status != CAROM_OK) return status;
    for (int i = 0; i < n; i++) m->residual[i] = -end[i].value;
    carom_small_lu_solve(n, m->S, n, m->pivot, m->residual);
    for (int i = 0; i < n; i++) m->lambda[i] += m->residual[i];
  }
  if (status != CAROM_OK) return status;
  if (!(left < 1e-9 * L))
    return carom_fail(error, CAROM_NOT_CONVERGED, "the joints are missed by %g m: use more intervals", left);
  carom_state_copy(m->state, m->trial);
  return CAROM_OK;
}

static bool held(const carom_march *m) {
  for (int i = 0; i < m->plan->contact_count; i++)
    if (m->stuck[i]) return true;
  for (int i = 0; i < m->plan->joint_count; i++)
    if (carom_joint_holds(m->plan, &m->plan->joints[i], m->interval)) return true;
  return false;
}

carom_status carom_march_step(carom_march *m, const double *tau, double h, carom_error *error) {
  carom_state *s = m->state;
  if (!tau) tau = m->tau;
  carom_plan_kick(m->plan, tau, 0.5 * h, &(carom_kicked){s->x, s->q, s->p, s->l});
  carom_status status = held(m) ? drift_jointed(m, h, error) : drift(m, s, h, error);
  if (status != CAROM_OK) return status;
  carom_plan_kick(m->plan, tau, 0.5 * h, &(carom_kicked){s->x, s->q, s->p, s->l});
  s->time += h;
  s->step++;
  m->interval++;
  return CAROM_OK;
}

// ---- impacts -------------------------------------------------------------------------------------------------------

typedef struct touch {
  carom_placed a, b;
  carom_ssh_result result;
  double gap;
} touch;

static bool nearest_parts(const carom_march *m, int a, int b, touch *best) {
  const carom_model *model = m->plan->model;
  const carom_body *A = &model->bodies[a], *B = &model->bodies[b];
  best->gap = INFINITY;
  for (int i = A->part_start; i < A->part_start + A->part_count; i++)
    for (int j = B->part_start; j < B->part_start + B->part_count; j++) {
      touch t = {.gap = INFINITY};
      t.a = (carom_placed){model->parts[i].shape,
                           cm_compose(cm_pose(m->state->x[a], m->state->q[a]), model->parts[i].pose)};
      t.b = (carom_placed){model->parts[j].shape,
                           cm_compose(cm_pose(m->state->x[b], m->state->q[b]), model->parts[j].pose)};
      if (carom_ssh(&t.a, &t.b, NULL, NULL, &t.result) != CAROM_OK) continue;
      t.gap = t.result.gap;
      if (t.gap < best->gap) *best = t;
    }
  return isfinite(best->gap);
}

static void point_rows(const carom_march *m, int a, int b, carom_vec3 at, row rows[3]) {
  carom_vec3 ra = cm_sub(at, m->state->x[a]), rb = cm_sub(at, m->state->x[b]);
  for (int i = 0; i < 3; i++) {
    carom_vec3 e = cm_vec3(i == 0, i == 1, i == 2);
    rows[i] = (row){{a, b}, {e, cm_neg(e)}, {cm_cross(ra, e), cm_neg(cm_cross(rb, e))}, 0};
  }
}

static carom_vec3 point_speed(const carom_march *m, const row rows[3]) {
  return cm_vec3(speed_along(m, &rows[0]), speed_along(m, &rows[1]), speed_along(m, &rows[2]));
}

static void push3(const carom_march *m, const row rows[3], carom_vec3 f) {
  double v[3] = {f.x, f.y, f.z};
  for (int i = 0; i < 3; i++) push(m, &rows[i], v[i], m->state);
}

// Impulses of the joints, and of what sticks, that make the momenta agree with them: G M^-1 p = 0.
static carom_status make_consistent(carom_march *m, carom_error *error) {
  row rows[MOST_ROWS];
  int n = all_rows(m, m->state, rows);
  if (n == 0) return CAROM_OK;
  carom_status status = project(m, rows, n, error);
  for (int i = 0; status == CAROM_OK && i < n; i++) push(m, &rows[i], m->lambda[i], m->state);
  return status;
}

carom_status carom_march_event(carom_march *m, int event, carom_error *error) {
  int node = carom_event_node(m->plan, &m->plan->events[event]);
  m->interval = node - 1;
  carom_status status = make_consistent(m, error);
  m->interval = node;
  return status == CAROM_OK ? make_consistent(m, error) : status;
}

// Perfectly plastic: the points are joined, and the momenta must agree with that.
static carom_status stick(carom_march *m, int contact, carom_vec3 at, carom_error *error) {
  const int *body = m->plan->contacts[contact].def.body;
  m->stuck[contact] = true;
  for (int i = 0; i < 2; i++) m->grip[contact][i] = cm_unrotate(m->state->q[body[i]], cm_sub(at, m->state->x[body[i]]));
  return make_consistent(m, error);
}

// An impulse, passed on by the joints.
static carom_status blow(carom_march *m, const row rows[3], carom_vec3 f, carom_error *error) {
  push3(m, rows, f);
  return make_consistent(m, error);
}

// An impulse along f such that the normal speed u is reflected; what a unit of it does is linear, so it is tried first.
static carom_status reflect(carom_march *m, const row rows[3], carom_vec3 n, carom_vec3 f, double restitution,
                            carom_error *error) {
  double before = cm_dot(point_speed(m, rows), n);
  carom_status status = blow(m, rows, f, error);
  if (status != CAROM_OK) return status;
  double gain = cm_dot(point_speed(m, rows), n) - before;
  return blow(m, rows, cm_scale(-(1 + restitution) * before / gain - 1, f), error);
}

// ---- Newton's and Coulomb's laws, by the impact laws ----------------------------------------------------------------

// What unit impulses along the rows do to the velocities along them, joints and all: W, column by column. The momenta
// are as before afterwards.
static carom_status respond(carom_march *m, const row *rows, int n, double *W, carom_error *error) {
  double unit = m->plan->mass_scale * m->plan->length_scale / m->plan->time_scale, before[MOST_BLOW];
  for (int i = 0; i < n; i++) before[i] = speed_along(m, &rows[i]);
  carom_state_copy(m->trial, m->state);
  carom_status status = CAROM_OK;
  for (int j = 0; j < n && status == CAROM_OK; j++) {
    push(m, &rows[j], unit, m->state);
    status = make_consistent(m, error);
    for (int i = 0; i < n; i++) W[i * n + j] = (speed_along(m, &rows[i]) - before[i]) / unit;
    carom_state_copy(m->state, m->trial);
  }
  return status;
}

static row turned(const row rows[3], carom_vec3 e) {
  row r = rows[0];
  for (int i = 0; i < 2; i++) {
    r.linear[i] = cm_axpy(cm_axpy(cm_scale(e.x, rows[0].linear[i]), e.y, rows[1].linear[i]), e.z, rows[2].linear[i]);
    r.angular[i] =
        cm_axpy(cm_axpy(cm_scale(e.x, rows[0].angular[i]), e.y, rows[1].angular[i]), e.z, rows[2].angular[i]);
  }
  return r;
}

// Points of one contact: W (3 count x 3 count), velocities before, and the impulses to be found.
typedef struct strokes {
  int count;
  double *W, *u, *impulse;
} strokes;

// Newton's law with Coulomb's.
static carom_status lawful_impulses(const carom_march *m, const carom_planned_contact_def *def, const strokes *s,
                                    carom_error *error) {
  carom_impact_work *work;
  double e[CAROM_FLAT_CORNERS], mu[CAROM_FLAT_CORNERS];
  for (int i = 0; i < s->count; i++) e[i] = def->restitution, mu[i] = def->friction;
  carom_status status = carom_impact_work_create(s->count, &m->plan->allocator, &work, error);
  if (status != CAROM_OK) return status;
  carom_impact_problem problem = {s->count, s->W, s->u, e, mu};
  status =
      carom_impact_solve(work, &problem, CAROM_IMPACT_NEWTON, &(carom_impact_solution){s->impulse, NULL}, NULL, error);
  carom_impact_work_destroy(work);
  return status;
}

// The point stops: W P = (-(1 + e) u_n, -u_t).
static carom_status stopping_impulse(double e, const strokes *s, carom_error *error) {
  int pivot[3];
  carom_status status = carom_small_lu(3, s->W, 3, pivot);
  if (status != CAROM_OK) return carom_fail(error, status, "the joints leave a planned contact no way to move");
  for (int i = 0; i < 3; i++) s->impulse[i] = i == 0 ? -(1 + e) * s->u[0] : -s->u[i];
  carom_small_lu_solve(3, s->W, 3, pivot, s->impulse);
  return CAROM_OK;
}

static carom_status strike(carom_march *m, const carom_planned_contact_def *def, const row points[3], carom_vec3 n,
                           carom_error *error) {
  carom_vec3 t[2];
  double W[9], u[3], impulse[3] = {0};
  cm_frame(n, &t[0], &t[1]);
  row rows[3] = {turned(points, n), turned(points, t[0]), turned(points, t[1])};
  for (int i = 0; i < 3; i++) u[i] = speed_along(m, &rows[i]);
  carom_status status = respond(m, rows, 3, W, error);
  if (status != CAROM_OK) return status;
  strokes s = {1, W, u, impulse};
  status = def->friction_mode == CAROM_FRICTION_STOP ? stopping_impulse(def->restitution, &s, error)
                                                     : lawful_impulses(m, def, &s, error);
  if (status != CAROM_OK) return status;
  for (int i = 0; i < 3; i++) push(m, &rows[i], impulse[i], m->state);
  return make_consistent(m, error);
}

// All corners of a face at once.
static carom_status strike_flat(carom_march *m, int contact, carom_error *error) {
  carom_plan_contact c = m->plan->contacts[contact];
  carom_pose pose[2];
  for (int i = 0; i < 2; i++) pose[i] = cm_pose(m->state->x[c.def.body[i]], m->state->q[c.def.body[i]]);
  carom_status status = carom_contact_features_at(m->plan, &c, pose, error);
  if (status != CAROM_OK) return status;
  int side = c.features.form == CAROM_FORM_VERTEX_A ? 0 : 1, count = c.features.corner_count;
  carom_vec3 n = cm_rotate(pose[1 - side].q, c.features.normal), t[2];
  double W[MOST_BLOW * MOST_BLOW], u[MOST_BLOW], impulse[MOST_BLOW] = {0};
  row rows[MOST_BLOW], points[3];
  cm_frame(n, &t[0], &t[1]);
  for (int i = 0; i < count; i++) {
    point_rows(m, c.def.body[side], c.def.body[1 - side], cm_transform(pose[side], c.features.corners[i]), points);
    rows[3 * i] = turned(points, n), rows[3 * i + 1] = turned(points, t[0]), rows[3 * i + 2] = turned(points, t[1]);
  }
  for (int i = 0; i < 3 * count; i++) u[i] = speed_along(m, &rows[i]);
  status = respond(m, rows, 3 * count, W, error);
  if (status == CAROM_OK) status = lawful_impulses(m, &c.def, &(strokes){count, W, u, impulse}, error);
  for (int i = 0; i < 3 * count && status == CAROM_OK; i++) push(m, &rows[i], impulse[i], m->state);
  return status == CAROM_OK ? make_consistent(m, error) : status;
}

carom_status carom_march_impact(carom_march *m, int contact, carom_error *error) {
  const carom_plan_contact *c = &m->plan->contacts[contact];
  int a = c->def.body[0], b = c->def.body[1];
  touch t = {0};
  row points[3];
  if (!nearest_parts(m, a, b, &t))
    return carom_fail(error, CAROM_ERR_GEOMETRY, "the oracle has no answer for '%s' and '%s'",
                      carom_body_name(m->plan->model, a), carom_body_name(m->plan->model, b));
  if (c->def.flat) {
    carom_status flat = make_consistent(m, error);
    return flat == CAROM_OK ? strike_flat(m, contact, error) : flat;
  }
  point_rows(m, a, b, t.result.point_a, points);
  if (c->def.impact == CAROM_PLANNED_STICK) return stick(m, contact, t.result.point_a, error);
  carom_status status = make_consistent(m, error);
  if (status != CAROM_OK) return status;
  if (c->def.friction > 0 && c->def.friction_mode != CAROM_FRICTION_SLIDE)
    return strike(m, &c->def, points, t.result.normal, error);
  // With friction the impulse leans against the sliding.
  carom_vec3 n = t.result.normal, u = point_speed(m, points), slide = cm_axpy(u, -cm_dot(u, n), n);
  carom_vec3 f = cm_axpy(n, -c->def.friction / sqrt(cm_norm2(slide) + 1e-16), slide);
  return reflect(m, points, n, f, c->def.restitution, error);
}
