// Which contacts enter the program, the program, and the check that none was left out.
//
// A contact is taken in when the free velocities would close it within the step, or nearly so. After the solve every
// pair within reach is looked at again: those that the new velocities would make overlap are taken in as well, and the
// program is solved on from where it stood. Bodies that were struck harder than their reach allowed for get a wider
// one. So nothing passes through anything, however fast it comes.
#include <math.h>
#include <string.h>

#include "step/cone.h"

enum { FIRST_SWEEPS = 30, JOINT_SWEEPS = 400, MOST_PASSES = 12, MOST_SEARCHES = 16 };
static const double TAKE_IN = 0.1;  // of the bodies' radii: gap at the end of the step that is no longer "near"
static const double CALM = 5e-4;    // residual aimed at, in radii per step
static const double HELD = 1e-7;    // the same where joints are in the program
static const double ALLOWED_OVERLAP = 7e-3;   // of the smallest radius, asked of every step
static const double HOPELESS_OVERLAP = 0.25;  // of the smallest radius, after all passes

// ---- velocities ---------------------------------------------------------------------------------------------------

carom_vec3 carom_cone_drift_velocity(const carom_cone *cone, int body, double h) {
  if (cone->touches[body] || cone->model->bodies[body].fixed) return cone->v[body];
  return cm_axpy(cone->v[body], -0.5 * h, cone->model->gravity);
}

static carom_vec3 point_velocity(carom_vec3 v, carom_vec3 w, carom_vec3 arm) { return cm_add(v, cm_cross(w, arm)); }

// Gap at the end of the step, to first order; for balls the true one is never less.
static double coming_gap(const carom_cone *cone, const carom_near *near, double h) {
  carom_vec3 u = point_velocity(carom_cone_drift_velocity(cone, near->a, h), cone->w[near->a], near->arm_a);
  if (near->b != CAROM_WORLD)
    u = cm_sub(u, point_velocity(carom_cone_drift_velocity(cone, near->b, h), cone->w[near->b], near->arm_b));
  return near->gap + h * cm_dot(near->normal, u);
}

// ---- the active set -----------------------------------------------------------------------------------------------

static double take_in_gap(const carom_cone *cone, const carom_near *near) {
  bool both = near->b != CAROM_WORLD && !cone->model->bodies[near->b].fixed;
  return TAKE_IN * (cone->radius[near->a] + (both ? cone->radius[near->b] : 0));
}

static void note_touch(carom_cone *cone, const carom_near *near) {
  cone->touches[near->a] = true;
  if (near->b != CAROM_WORLD) cone->touches[near->b] = true;
}

// By the velocities at hand. Those that `carry` an impulse in them stay, whatever they are about to do.
static void choose(carom_cone *cone, double h, bool carry) {
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < cone->near_count; i++) {
    const carom_near *near = &cone->near[i];
    carom_vec3 impulse = carom_cone_recall(&cone->memory, near);
    bool chosen =
        near->gap <= 0 || (carry && cm_norm2(impulse) > 0) || coming_gap(cone, near, h) <= take_in_gap(cone, near);
    cone->impulses[i] = chosen ? impulse : cm_zero3();
    cone->chosen[i] = chosen;
  }
}

static int list_active(carom_cone *cone, const carom_state *state) {
  cone->active_count = 0;
  memset(cone->touches, 0, (size_t)cone->model->body_count * sizeof *cone->touches);
  for (int i = 0; i < cone->near_count; i++) {
    if (!cone->chosen[i]) continue;
    cone->active[cone->active_count++] = i;
    note_touch(cone, &cone->near[i]);
  }
  carom_cone_joints_touch(cone, state);
  return cone->active_count;
}

static carom_status make_room(carom_cone *cone, carom_error *error) {
  int n = cone->near_count;
  if (carom_cone_room(&cone->allocator, (void **)&cone->active, &cone->active_capacity, n, sizeof *cone->active) &&
      carom_cone_room(&cone->allocator, (void **)&cone->program_contacts, &cone->contact_capacity, n,
                      sizeof *cone->program_contacts) &&
      carom_cone_room(&cone->allocator, (void **)&cone->program_impulses, &cone->program_impulse_capacity, n,
                      sizeof *cone->program_impulses))
    return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a program of %d contacts", n);
}

// ---- the program --------------------------------------------------------------------------------------------------

static void inverse_inertia(const carom_body *body, carom_quat q, double out[6]) {
  carom_vec3 J = body->inverse_inertia;
  bool round = J.x == J.y && J.y == J.z;
  carom_mat3 R = cm_rotation(q), A = cm_diag3(J.x, J.y, J.z);
  if (!round) A = cm_mmul(cm_mmul(R, A), cm_transpose(R));
  const double entries[6] = {A.m[0][0], A.m[1][1], A.m[2][2], A.m[0][1], A.m[0][2], A.m[1][2]};
  memcpy(out, entries, sizeof entries);
}

static void program_bodies(carom_cone *cone, const carom_state *state) {
  const carom_model *m = cone->model;
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < m->moving_count; i++) {
    int body = cone->mover[i];
    carom_qp_body *b = &cone->program_bodies[cone->rank[body]];
    b->inverse_mass = m->bodies[body].inverse_mass;
    inverse_inertia(&m->bodies[body], state->q[body], b->inverse_inertia);
    b->velocity = cone->v_free[body];
    b->spin = cone->w_free[body];
  }
  for (int i = 0; i < m->drive_count; i++) {
    int body = m->drives[i].body;
    cone->program_bodies[m->moving_count + i] =
        (carom_qp_body){.velocity = cone->v_free[body], .spin = cone->w_free[body]};
  }
}

static void program_contacts(carom_cone *cone, double h) {
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < cone->active_count; i++) {
    const carom_near *near = &cone->near[cone->active[i]];
    cone->program_contacts[i] = (carom_qp_contact){.a = cone->rank[near->a],
                                                   .b = near->b == CAROM_WORLD ? CAROM_QP_WORLD : cone->rank[near->b],
                                                   .friction = near->friction,
                                                   .bias = near->gap / h,
                                                   .normal = near->normal,
                                                   .arm_a = near->arm_a,
                                                   .arm_b = near->arm_b};
    cone->program_impulses[i] = cone->impulses[cone->active[i]];
  }
}

static void take_solution(carom_cone *cone) {
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < cone->model->moving_count; i++) {
    int body = cone->mover[i];
    cone->v[body] = cone->program_velocities[cone->rank[body]];
    cone->w[body] = cone->program_spins[cone->rank[body]];
  }
  for (int i = 0; i < cone->active_count; i++) cone->impulses[cone->active[i]] = cone->program_impulses[i];
}

static carom_status solve_by_sweeps(carom_cone *cone, double h, int doubled, carom_cone_outcome *outcome,
                                    carom_error *error) {
  double scale = cone->size / h, residual;
  int most = cone->options.max_iterations > 0 ? cone->options.max_iterations : FIRST_SWEEPS;
  carom_status status = carom_cone_sweep(cone, h, most << (doubled < 3 ? doubled : 3), CALM * scale,
                                         &outcome->iterations, &residual, error);
  if (status == CAROM_OK) outcome->residual = residual / scale;
  return status;
}

static carom_status solve_program(carom_cone *cone, double h, int doubled, carom_cone_outcome *outcome,
                                  carom_error *error) {
  if (cone->swept) return solve_by_sweeps(cone, h, doubled, outcome, error);
  const carom_model *m = cone->model;
  carom_qp_problem problem = {.body_count = m->moving_count + m->drive_count,
                              .contact_count = cone->active_count,
                              .row_count = cone->joints.count,
                              .bodies = cone->program_bodies,
                              .contacts = cone->program_contacts,
                              .rows = cone->joints.rows};
  carom_qp_solution solution = {.impulses = cone->program_impulses,
                                .multipliers = cone->joints.multipliers,
                                .velocities = cone->program_velocities,
                                .spins = cone->program_spins};
  carom_qp_options o = cone->options;
  if (!cone->exacting) {
    o.velocity_scale = cone->size / h;
    o.tolerance = CALM;
    if (cone->joints.count > 0) o.tolerance = HELD;
    if (o.max_iterations == 0) o.max_iterations = cone->joints.count > 0 ? JOINT_SWEEPS : FIRST_SWEEPS;
    o.max_iterations <<= doubled < 3 ? doubled : 3;
  }
  carom_qp_info info;
  program_contacts(cone, h);
  carom_status status = carom_qp_solve(cone->solver, &problem, &o, &solution, &info, error);
  if (status != CAROM_OK) return status;
  take_solution(cone);
  outcome->iterations += info.iterations;
  outcome->residual = info.velocity_scale > 0 ? info.residual / info.velocity_scale : 0;
  outcome->gap = info.relative_gap;
  return CAROM_OK;
}

// ---- the check ----------------------------------------------------------------------------------------------------

// Takes in what would overlap. The deepest overlap of all, and of those that are in the program already.
static double check_gaps(carom_cone *cone, double h, double allowed, double *within) {
  double worst = 0, solved = 0;
#pragma omp parallel for num_threads(cone->threads) schedule(static) reduction(max \
                                                                               : worst, solved) if (cone->threads > 1)
  for (int i = 0; i < cone->near_count; i++) {
    double overlap = -coming_gap(cone, &cone->near[i], h);
    worst = overlap > worst ? overlap : worst;
    if (cone->chosen[i]) {
      solved = overlap > solved ? overlap : solved;
    } else if (overlap > 0.25 * allowed) {
      cone->chosen[i] = true;
    }
  }
  *within = solved;
  return worst;
}

// Bodies that go farther than the search looked; their reach grows.
static int outrun(carom_cone *cone, double h) {
  int count = 0;
#pragma omp parallel for num_threads(cone->threads) schedule(static) reduction(+ : count) if (cone->threads > 1)
  for (int i = 0; i < cone->model->moving_count; i++) {
    int body = cone->mover[i];
    double way = h * (cm_norm(cone->v[body]) + (cone->grains ? 0 : cm_norm(cone->w[body]) * cone->radius[body]));
    if (way <= cone->reach[body]) continue;
    cone->reach[body] = 1.25 * way;
    count++;
  }
  return count;
}

// ---- the solve ----------------------------------------------------------------------------------------------------

static carom_status overfull(const carom_cone *cone, const carom_state *state, double h, double violation,
                             carom_error *error) {
  int worst = 0;
  double least = INFINITY;
  for (int i = 0; i < cone->near_count; i++) {
    double gap = coming_gap(cone, &cone->near[i], h);
    if (gap < least) least = gap, worst = i;
  }
  const carom_near *near = &cone->near[worst];
  const char *other = near->b == CAROM_WORLD ? "a boundary" : cone->model->bodies[near->b].name;
  return carom_fail(
      error, CAROM_NOT_CONVERGED,
      "bodies '%s' and '%s' overlap by %.2g m at t = %.6g s and cannot be parted: too many bodies for the "
      "room they have (or a step that is too long)",
      cone->model->bodies[near->a].name, other, violation, state->time);
}

// Solves for the candidates at hand until overlaps are as small as they should be. Sweeps are doubled only where those
// before did not part what was in the program.
static carom_status solve_here(carom_cone *cone, const carom_state *state, double h, bool fresh,
                               carom_cone_outcome *outcome, carom_error *error) {
  double allowed = ALLOWED_OVERLAP * cone->size;
  carom_status status = make_room(cone, error);
  bool solve = fresh;
  int doubled = 0;
  for (int pass = 0; pass < MOST_PASSES && status == CAROM_OK; pass++) {
    list_active(cone, state);
    if (solve) status = solve_program(cone, h, doubled, outcome, error);
    if (status != CAROM_OK) break;
    double within;
    outcome->violation = check_gaps(cone, h, allowed, &within);
    if (outcome->violation <= allowed) return CAROM_OK;
    doubled += within > allowed;
    solve = true;
  }
  if (status == CAROM_OK && outcome->violation > HOPELESS_OVERLAP * cone->size)
    status = overfull(cone, state, h, outcome->violation, error);
  return status;
}

carom_status carom_cone_solve_on(carom_cone *cone, const carom_state *state, double h, carom_cone_outcome *outcome,
                                 carom_error *error) {
  carom_status status = solve_here(cone, state, h, true, outcome, error);
  return status == CAROM_OK ? carom_cone_remember(cone, error) : status;
}

static double deepest(const carom_cone *cone) {
  double worst = 0;
#pragma omp parallel for num_threads(cone->threads) schedule(static) reduction(max : worst) if (cone->threads > 1)
  for (int i = 0; i < cone->near_count; i++) worst = -cone->near[i].gap > worst ? -cone->near[i].gap : worst;
  return worst;
}

carom_status carom_cone_solve(carom_cone *cone, const carom_state *state, double h, carom_cone_outcome *outcome,
                              carom_error *error) {
  size_t bytes = (size_t)cone->model->body_count * sizeof *cone->v;
  memcpy(cone->v, cone->v_free, bytes);
  memcpy(cone->w, cone->w_free, bytes);
  memset(cone->touches, 0, (size_t)cone->model->body_count * sizeof *cone->touches);
  *outcome = (carom_cone_outcome){0};
  carom_cone_set_reach(cone, h);
  for (int k = 0; k < MOST_SEARCHES; k++) {
    carom_status status = carom_cone_search(cone, state, error);
    if (status != CAROM_OK) return status;
    if (k == 0 && !cone->swept) program_bodies(cone, state);
    if (k == 0) outcome->overlap = deepest(cone);
    choose(cone, h, k > 0);
    status = solve_here(cone, state, h, k == 0, outcome, error);
    if (status == CAROM_OK) status = carom_cone_remember(cone, error);
    if (status != CAROM_OK || outrun(cone, h) == 0) return status;
  }
  return CAROM_OK;
}
