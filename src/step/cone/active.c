// Which contacts enter the program, the program, and the check that none was left out.
//
// A contact is taken in when the free velocities would close it within the step, or nearly so. After the solve every
// pair within reach is looked at again: those that the new velocities would make overlap are taken in as well, and the
// program is solved on from where it stood. Bodies that were struck harder than their reach allowed for get a wider
// one. So nothing passes through anything, however fast it comes.
#include <math.h>
#include <string.h>

#include "step/cone/cone.h"

enum {
  BALL_SWEEPS = 20,
  FIRST_SWEEPS = 30,
  JOINT_SWEEPS = 400,
  MOST_PASSES = 12,
  MOST_SEARCHES = 16,
  MOST_SOFTENINGS = 6
};
static const double TAKE_IN = 0.1;  // of the bodies' radii: gap at the end of the step that is no longer "near"
static const double CALM = 5e-4;    // residual aimed at, in radii per step
static const double HELD = 1e-7;    // the same where joints are in the program
static const double ALLOWED_OVERLAP = 7e-3;   // of the smallest radius, asked of every step
static const double HOPELESS_OVERLAP = 0.25;  // of the smallest radius, after all passes

// ---- velocities ---------------------------------------------------------------------------------------------------

carom_vec3 carom_cone_drift_velocity(const carom_cone *cone, int body, double h) {
  if (cone->touches[body] || !carom_cone_moves(cone, body)) return cone->v[body];
  return cm_axpy(cone->v[body], -0.5 * h, cone->model->gravity);
}

// Of the point of contact; the arms of balls lie along the normal, and turning does not count along it.
static carom_vec3 approach_velocity(const carom_cone *cone, int body, carom_vec3 arm, double h) {
  carom_vec3 v = carom_cone_drift_velocity(cone, body, h);
  return cone->grains && carom_cone_moves(cone, body) ? v : cm_add(v, cm_cross(cone->w[body], arm));
}

// Gap at the end of the step, to first order; for balls the true one is never less.
static double coming_gap(const carom_cone *cone, const carom_near *near, double h) {
  carom_vec3 u = approach_velocity(cone, near->a, near->arm_a, h);
  if (near->b != CAROM_WORLD) u = cm_sub(u, approach_velocity(cone, near->b, near->arm_b, h));
  return near->gap + h * cm_dot(near->normal, u);
}

// ---- the active set -----------------------------------------------------------------------------------------------

static double take_in_gap(const carom_cone *cone, const carom_near *near) {
  bool both = carom_cone_moves(cone, near->b);
  return TAKE_IN * (cone->radius[near->a] + (both ? cone->radius[near->b] : 0));
}

// Several threads may note the same body.
static void note_touch(carom_cone *cone, const carom_near *near) {
#pragma omp atomic write
  cone->touches[near->a] = true;
  if (near->b == CAROM_WORLD) return;
#pragma omp atomic write
  cone->touches[near->b] = true;
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

enum { SHARES = 64 };

// Shares of the candidates are counted, then listed one behind the other.
static int list_active(carom_cone *cone, const carom_state *state) {
  int first[SHARES + 1] = {0}, share = cone->near_count / SHARES + 1;
  memset(cone->touches, 0, (size_t)cone->model->body_count * sizeof *cone->touches);
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int k = 0; k < SHARES; k++)
    for (int i = k * share; i < (k + 1) * share && i < cone->near_count; i++) first[k + 1] += cone->chosen[i];
  for (int k = 0; k < SHARES; k++) first[k + 1] += first[k];
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int k = 0; k < SHARES; k++) {
    int count = first[k];
    for (int i = k * share; i < (k + 1) * share && i < cone->near_count; i++) {
      if (!cone->chosen[i]) continue;
      cone->active[count++] = i;
      note_touch(cone, &cone->near[i]);
    }
  }
  cone->active_count = first[SHARES];
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

// Directions of generators are counted from here: where the normal is next to this axis, and only there, they turn
// with the least of changes in it. Beds are often built in layers along the axes, where any choice that has its
// exceptions there (n.z = 0, say) would leave friction to round-off. Three generators also tell A from B, and which of
// two balls is A changes from step to step: the smaller number counts.
static carom_vec3 first_direction(const carom_near *near) {
  double sign = near->b == CAROM_WORLD || near->a < near->b ? 1 : -1;
  return cm_scale(sign, cm_vec3(0.3651, 0.5443, 0.7553));
}

static void program_contacts(carom_cone *cone, double h) {
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < cone->active_count; i++) {
    const carom_near *near = &cone->near[cone->active[i]];
    cone->program_contacts[i] = (carom_qp_contact){.a = cone->rank[near->a],
                                                   .b = near->b == CAROM_WORLD ? CAROM_QP_WORLD : cone->rank[near->b],
                                                   .friction = near->friction,
                                                   .bias = carom_cone_bias(cone, cone->active[i], h),
                                                   .normal = near->normal,
                                                   .tangent = first_direction(near),
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

// Where the first sweeps left too deep an overlap, many more are allowed, and that overlap tells when to stop. A sweep
// sees each contact just before it is solved, while later ones may push it back in: if it stopped too early, less is
// enough.
static carom_status solve_by_sweeps(carom_cone *cone, double h, int doubled, carom_cone_outcome *outcome,
                                    carom_error *error) {
  double scale = cone->size / h, residual, enough = -1;
  if (doubled > 0) enough = 0.8 * ALLOWED_OVERLAP * cone->size / (1 << (doubled - 1));
  int most = cone->options.max_iterations > 0 ? cone->options.max_iterations : BALL_SWEEPS;
  int shift = doubled == 0 ? 0 : doubled == 1 ? 2 : 3;
  carom_status status =
      carom_cone_sweep(cone, h, most << shift, CALM * scale, enough, &outcome->iterations, &residual, error);
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

// Takes in what would overlap by more than `slight`. The deepest overlap of all, and of those that are in the program
// already.
static double check_gaps(carom_cone *cone, double h, double slight, double *within, bool *taken) {
  double worst = 0, solved = 0;
  bool more = false;
#pragma omp parallel for num_threads(cone->threads) schedule(static) reduction(max              \
                                                                               : worst, solved) \
    reduction(||                                                                                \
              : more) if (cone->threads > 1)
  for (int i = 0; i < cone->near_count; i++) {
    double overlap = -coming_gap(cone, &cone->near[i], h);
    worst = overlap > worst ? overlap : worst;
    if (cone->chosen[i]) {
      solved = overlap > solved ? overlap : solved;
    } else if (overlap > slight) {
      cone->chosen[i] = more = true;
    }
  }
  *within = solved;
  *taken = more;
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
// before did not part what was in the program. Where a tolerance was asked for, whatever would overlap is taken in: the
// program then is the same one whoever solves it, and so is the motion.
static carom_status solve_here(carom_cone *cone, const carom_state *state, double h, bool fresh,
                               carom_cone_outcome *outcome, carom_error *error) {
  double allowed = ALLOWED_OVERLAP * cone->size;
  double slight = cone->exacting ? fmin(cone->options.tolerance, 0.25 * ALLOWED_OVERLAP) * cone->size : 0.25 * allowed;
  carom_status status = make_room(cone, error);
  bool solve = fresh;
  int doubled = 0;
  for (int pass = 0; pass < MOST_PASSES && status == CAROM_OK; pass++) {
    list_active(cone, state);
    if (solve) status = solve_program(cone, h, doubled, outcome, error);
    if (status != CAROM_OK) break;
    double within;
    bool taken;
    outcome->violation = check_gaps(cone, h, slight, &within, &taken);
    if (outcome->violation <= allowed && !(cone->exacting && taken)) return CAROM_OK;
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

static carom_status search_and_solve(carom_cone *cone, const carom_state *state, double h, carom_cone_outcome *outcome,
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
    if (!cone->swept) program_bodies(cone, state);  // the search may have put the bodies in another order
    if (k == 0) outcome->overlap = deepest(cone);
    choose(cone, h, k > 0);
    if (cone->bounces) carom_cone_set_rebounds(cone, h);
    status = solve_here(cone, state, h, k == 0 || cone->exacting, outcome, error);
    if (status == CAROM_OK) status = carom_cone_remember(cone, error);
    if (status != CAROM_OK || outrun(cone, h) == 0) return status;
  }
  return CAROM_OK;
}

carom_status carom_cone_solve(carom_cone *cone, const carom_state *state, double h, carom_cone_outcome *outcome,
                              carom_error *error) {
  carom_status status = search_and_solve(cone, state, h, outcome, error);
  for (int k = 1; cone->bounces && k <= MOST_SOFTENINGS && status == CAROM_OK; k++) {
    if (!carom_cone_soften(cone, k == MOST_SOFTENINGS)) break;
    status = carom_cone_solve_on(cone, state, h, outcome, error);
  }
  return status;
}
