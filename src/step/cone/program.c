// Which contacts enter the program, the program, and the check that none was left out.
//
// A contact is taken in when the free velocities would close it within the step, or nearly so. After the solve every
// pair within reach is looked at again: those that the new velocities would make overlap are taken in as well, and the
// program is solved on from where it stood.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "step/cone/cone.h"

enum { BALL_SWEEPS = 20, FIRST_SWEEPS = 30, JOINT_SWEEPS = 400, MOST_PASSES = 12, MOST_DOUBLED = 3 };
static const double TAKE_IN = 0.1;    // of the bodies' radii: gap at the end of the step that is no longer "near"
static const double TOUCHING = 1e-6;  // of the thinnest body: gap of bodies that go by Coulomb's law and touch
static const double SLIGHT = 1e-9;    // the same: overlap for which they are not taken in
static const double UNEQUAL = 2e-8;   // relative residual where light bodies bear what is many times heavier
static const double CALM = 5e-4;      // residual aimed at, in radii per step
static const double ROUGH = 3e-2;     // the same: what sweeps of balls may leave where nothing overlaps
static const double JOINTED = 1e-7;   // the same where joints are in the program
static const double ALLOWED_OVERLAP = 7e-3;   // of the smallest radius, asked of every step
static const double HOPELESS_OVERLAP = 0.25;  // of the smallest radius, after all passes

// ---- who is in it -------------------------------------------------------------------------------------------------

// Velocity with which a body is moved over the step.
static inline carom_vec3 drift_velocity(const carom_cone *cone, int body) {
  carom_vec3 v = cone->bodies.after.v[body];
  if (cone->bodies.touches[body] || !carom_cone_moves(cone, body)) return v;
  return cm_axpy(v, -0.5 * cone->h, cone->model->gravity);
}

// Of the point of contact; the arms of balls lie along the normal, and turning does not count along it.
static inline carom_vec3 approach_velocity(const carom_cone *cone, int body, carom_vec3 arm) {
  carom_vec3 v = drift_velocity(cone, body);
  if (cone->bodies.balls && carom_cone_moves(cone, body)) return v;
  return cm_add(v, cm_cross(cone->bodies.after.w[body], arm));
}

// Gap at the end of the step, to first order; for balls the true one is never less.
static inline double coming_gap(const carom_cone *cone, const carom_near *near) {
  carom_vec3 u = approach_velocity(cone, near->a, near->arm_a);
  if (near->b != CAROM_WORLD) u = cm_sub(u, approach_velocity(cone, near->b, near->arm_b));
  return near->gap + cone->h * cm_dot(near->normal, u);
}

static double take_in_gap(const carom_cone *cone, const carom_near *near) {
  if (cone->program.lawful) return near->gap <= TOUCHING * cone->bodies.smallest ? INFINITY : 0;
  bool both = carom_cone_moves(cone, near->b);
  return TAKE_IN * (cone->bodies.radius[near->a] + (both ? cone->bodies.radius[near->b] : 0));
}

// Bodies that bounce when they meet: the program does not stop them before.
static bool is_awaited(const carom_cone *cone, int near) {
  return cone->program.impacts && carom_cone_is_impact(cone, near);
}

static void choose(carom_cone *cone, const carom_state *state, bool carry) {
  carom_cone_program *p = &cone->program;
  CAROM_PARALLEL_FOR(
      cone->threads, schedule(static), for (int i = 0; i < cone->search.near_count; i++) {
        const carom_near *near = &cone->search.near[i];
        carom_vec3 impulse = carom_cone_recall(cone, state, near);
        bool near_enough =
            near->gap <= 0 || (carry && cm_norm2(impulse) > 0) || coming_gap(cone, near) <= take_in_gap(cone, near);
        p->chosen[i] = near_enough && !is_awaited(cone, i);
        p->impulses[i] = p->chosen[i] ? impulse : cm_zero3();
      });
}

// Several threads may note the same body.
static void note_touch(carom_cone *cone, const carom_near *near) {
#pragma omp atomic write
  cone->bodies.touches[near->a] = true;
  if (near->b == CAROM_WORLD) return;
#pragma omp atomic write
  cone->bodies.touches[near->b] = true;
}

static void list_active(carom_cone *cone, const carom_state *state) {
  carom_cone_program *p = &cone->program;
  p->active_count = 0;
  for (int i = 0; i < cone->search.near_count; i++)
    if (p->chosen[i]) p->active[p->active_count++] = i;
  memset(cone->bodies.touches, 0, (size_t)cone->model->body_count * sizeof *cone->bodies.touches);
  CAROM_PARALLEL_FOR(cone->threads, schedule(static),
                     for (int i = 0; i < p->active_count; i++) note_touch(cone, &cone->search.near[p->active[i]]));
  carom_cone_joints_touch(cone, state);
}

// ---- the program --------------------------------------------------------------------------------------------------

static carom_status make_room(carom_cone *cone, carom_error *error) {
  carom_cone_program *p = &cone->program;
  int count = cone->search.near_count, larger = p->capacity;
  const struct {
    void **array;
    size_t size;
  } arrays[] = {
      {(void **)&p->chosen, sizeof *p->chosen},     {(void **)&p->impulses, sizeof *p->impulses},
      {(void **)&p->rebound, sizeof *p->rebound},   {(void **)&p->active, sizeof *p->active},
      {(void **)&p->contacts, sizeof *p->contacts}, {(void **)&p->solution, sizeof *p->solution},
  };
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    int capacity = p->capacity;
    if (!carom_reserve(&cone->allocator, arrays[i].array, &capacity, count, arrays[i].size))
      return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a program of %d contacts", count);
    larger = capacity;
  }
  p->capacity = larger;
  return CAROM_OK;
}

static void inverse_inertia(const carom_body *body, carom_quat q, double out[6]) {
  carom_vec3 J = body->inverse_inertia;
  carom_mat3 A = cm_diag3(J.x, J.y, J.z);
  if (!(J.x == J.y && J.y == J.z)) {
    carom_mat3 R = cm_rotation(q);
    A = cm_mmul(cm_mmul(R, A), cm_transpose(R));
  }
  const double entries[6] = {A.m[0][0], A.m[1][1], A.m[2][2], A.m[0][1], A.m[0][2], A.m[1][2]};
  memcpy(out, entries, sizeof entries);
}

// The search may have put the bodies in another order.
static void program_bodies(carom_cone *cone, const carom_state *state) {
  const carom_model *m = cone->model;
  const carom_velocities *free = &cone->bodies.free;
  CAROM_PARALLEL_FOR(
      cone->threads, schedule(static), for (int i = 0; i < m->moving_count; i++) {
        int body = cone->bodies.mover[i];
        carom_contact_body *b = &cone->program.bodies[cone->bodies.rank[body]];
        b->inverse_mass = m->bodies[body].inverse_mass;
        inverse_inertia(&m->bodies[body], state->q[body], b->inverse_inertia);
        b->velocity = free->v[body];
        b->spin = free->w[body];
      });
  for (int i = 0; i < m->drive_count; i++) {
    int body = m->drives[i].body;
    cone->program.bodies[m->moving_count + i] = (carom_contact_body){.velocity = free->v[body], .spin = free->w[body]};
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

static void program_contacts(carom_cone *cone) {
  carom_cone_program *p = &cone->program;
  const int *rank = cone->bodies.rank;
  CAROM_PARALLEL_FOR(
      cone->threads, schedule(static), for (int i = 0; i < p->active_count; i++) {
        int k = p->active[i];
        const carom_near *near = &cone->search.near[k];
        p->contacts[i] =
            (carom_contact_point){.a = rank[near->a],
                                  .b = near->b == CAROM_WORLD ? CAROM_CONTACT_WORLD : rank[near->b],
                                  .friction = near->friction,
                                  .bias = carom_cone_is_impact(cone, k) ? -p->rebound[k] : near->gap / cone->h,
                                  .normal = near->normal,
                                  .tangent = first_direction(near),
                                  .arm_a = near->arm_a,
                                  .arm_b = near->arm_b};
        p->solution[i] = p->impulses[k];
      });
}

carom_status carom_cone_begin_program(carom_cone *cone, const carom_state *state, bool carry, carom_error *error) {
  carom_status status = make_room(cone, error);
  if (status != CAROM_OK) return status;
  program_bodies(cone, state);
  if (cone->program.bounces) carom_cone_set_rebounds(cone);
  choose(cone, state, carry);
  return CAROM_OK;
}

// ---- the solve ----------------------------------------------------------------------------------------------------

static void take_solution(carom_cone *cone) {
  carom_cone_program *p = &cone->program;
  CAROM_PARALLEL_FOR(
      cone->threads, schedule(static), for (int i = 0; i < cone->model->moving_count; i++) {
        int body = cone->bodies.mover[i], rank = cone->bodies.rank[body];
        cone->bodies.after.v[body] = p->velocities[rank];
        cone->bodies.after.w[body] = p->spins[rank];
      });
  CAROM_PARALLEL_FOR(cone->threads, schedule(static),
                     for (int i = 0; i < p->active_count; i++) p->impulses[p->active[i]] = p->solution[i]);
}

// Where the first sweeps left too deep an overlap, many more are allowed, the more the more often they were `doubled`.
static carom_contact_options options_of(const carom_cone *cone, int doubled) {
  const carom_cone_program *p = &cone->program;
  carom_contact_options o = p->options;
  if (p->exacting) return o;
  bool joints = cone->joints.count > 0;
  int shift = doubled + (p->swept && doubled > 0);
  o.velocity_scale = cone->bodies.smallest / cone->h;
  o.tolerance = joints ? JOINTED : CALM;
  if (o.max_iterations == 0) o.max_iterations = joints ? JOINT_SWEEPS : p->swept ? BALL_SWEEPS : FIRST_SWEEPS;
  o.max_iterations <<= shift < MOST_DOUBLED ? shift : MOST_DOUBLED;
  return o;
}

// Impulses of balls that are still far from their laws, though nothing overlaps: many that fall onto each other at
// once.
static bool is_rough(const carom_cone *cone) { return cone->program.swept && cone->outcome.residual > ROUGH; }

// Then that overlap tells when to stop. A sweep sees each contact just before it is solved, while later ones may push
// it back in: if it stopped too early, less is enough.
static double enough(const carom_cone *cone, int doubled) {
  return doubled > 0 && !is_rough(cone) ? 0.8 * ALLOWED_OVERLAP * cone->bodies.smallest / cone->h / (1 << (doubled - 1))
                                        : -1;
}

// The convex program parts what slides by mu times its slip; by Coulomb's law nothing does. It is the fixed point of
// convex programs with mu times the slip taken off the bias (Acary, Cadoux, Lemarechal and Malick 2011).
static carom_status solve_groups(carom_cone *cone, const carom_contact_problem *problem,
                                 carom_contact_solution *solution, carom_error *error) {
  carom_cone_program *p = &cone->program;
  carom_groups_options options = carom_groups_default_options(0, p->options.max_iterations);
  if (p->unequal) options.acceptable = UNEQUAL;
  for (int i = 0; i < problem->body_count; i++)
    solution->velocities[i] = problem->bodies[i].velocity, solution->spins[i] = problem->bodies[i].spin;
  carom_status status = carom_groups_split(p->groups, problem, solution, error);
  if (status == CAROM_OK) status = carom_groups_solve(p->groups, &options, error);
  if (status != CAROM_OK) return status;
  carom_groups_join(p->groups, solution);
  take_solution(cone);
  for (int i = 0; i < p->groups->count; i++) cone->outcome.iterations += p->groups->groups[i].sweeps;
  cone->outcome.residual = carom_groups_residual(p->groups);
  return CAROM_OK;
}

static carom_status solve_program(carom_cone *cone, int doubled, carom_error *error) {
  carom_cone_program *p = &cone->program;
  carom_contact_problem problem = {.body_count = cone->model->moving_count + cone->model->drive_count,
                                   .contact_count = p->active_count,
                                   .row_count = cone->joints.count,
                                   .bodies = p->bodies,
                                   .contacts = p->contacts,
                                   .rows = cone->joints.rows};
  carom_contact_solution solution = {
      .impulses = p->solution, .multipliers = cone->joints.multipliers, .velocities = p->velocities, .spins = p->spins};
  carom_contact_options options = options_of(cone, doubled);
  carom_contact_info info;
  program_contacts(cone);
  if (p->lawful) return solve_groups(cone, &problem, &solution, error);
  p->balls.enough = enough(cone, doubled);
  carom_status status = p->swept ? carom_balls_solve(&p->balls, &problem, &options, &solution, &info, error)
                                 : carom_contact_solve(p->solver, &problem, &options, &solution, &info, error);
  if (status != CAROM_OK) return status;
  take_solution(cone);
  cone->outcome.iterations += info.iterations;
  cone->outcome.residual = info.velocity_scale > 0 ? info.residual / info.velocity_scale : 0;
  cone->outcome.gap = info.relative_gap;
  return CAROM_OK;
}

// ---- the check ----------------------------------------------------------------------------------------------------

// Takes in what would overlap by more than `slight`. The deepest overlap of all, and of those that are in the program
// already.
static double check_gaps(carom_cone *cone, double slight, double *within, bool *taken) {
  bool *chosen = cone->program.chosen;
  double worst = 0, solved = 0;
  bool more = false;
  CAROM_PARALLEL_FOR(
      cone->threads,
      schedule(static) reduction(max
                                 : worst, solved) reduction(||
                                                            : more),
      for (int i = 0; i < cone->search.near_count; i++) {
        if (is_awaited(cone, i)) continue;
        double overlap = -coming_gap(cone, &cone->search.near[i]);
        worst = overlap > worst ? overlap : worst;
        if (chosen[i]) {
          solved = overlap > solved ? overlap : solved;
        } else if (overlap > slight) {
          chosen[i] = more = true;
        }
      });
  *within = solved;
  *taken = more;
  return worst;
}

static carom_status overfull(const carom_cone *cone, const carom_state *state, carom_error *error) {
  const carom_near *worst = &cone->search.near[0];
  double least = INFINITY;
  for (int i = 0; i < cone->search.near_count; i++) {
    double gap = is_awaited(cone, i) ? INFINITY : coming_gap(cone, &cone->search.near[i]);
    if (gap < least) least = gap, worst = &cone->search.near[i];
  }
  const char *other = worst->b == CAROM_WORLD ? "a boundary" : cone->model->bodies[worst->b].name;
  return carom_fail(
      error, CAROM_NOT_CONVERGED,
      "bodies '%s' and '%s' overlap by %.2g m at t = %.6g s and cannot be parted: too many bodies for the "
      "room they have (or a step that is too long)",
      cone->model->bodies[worst->a].name, other, cone->outcome.violation, state->time);
}

// Sweeps are doubled only where those before did not part what was in the program, or left it rough. Where a tolerance
// was asked for, whatever would overlap is taken in: the program then is the same one whoever solves it, and so is the
// motion.
carom_status carom_cone_solve(carom_cone *cone, const carom_state *state, bool fresh, carom_error *error) {
  const carom_cone_program *p = &cone->program;
  double allowed = ALLOWED_OVERLAP * cone->bodies.smallest, slight = 0.25 * allowed;
  if (p->lawful) slight = SLIGHT * cone->bodies.smallest;
  if (p->exacting) slight = fmin(slight, p->options.tolerance * cone->bodies.smallest);
  int doubled = 0;
  for (int pass = 0; pass < MOST_PASSES; pass++) {
    list_active(cone, state);
    carom_status status = fresh || pass > 0 ? solve_program(cone, doubled, error) : CAROM_OK;
    if (status != CAROM_OK) return status;
    double within;
    bool taken;
    cone->outcome.violation = check_gaps(cone, slight, &within, &taken);
    bool rough = is_rough(cone) && doubled < MOST_DOUBLED;
    if (cone->outcome.violation <= allowed && !rough && !((p->exacting || p->lawful) && taken)) return CAROM_OK;
    if (p->lawful && !taken) break;
    doubled += within > allowed || rough;
  }
  bool hopeless = cone->outcome.violation > HOPELESS_OVERLAP * cone->bodies.smallest;
  return hopeless ? overfull(cone, state, error) : CAROM_OK;
}

// ---- who is pushed --------------------------------------------------------------------------------------------------

static void spread_in_groups(carom_cone *cone) {
  const int *group = cone->program.groups->of_body;
  const carom_cone_bodies *b = &cone->bodies;
  int *any = cone->search.first;  // free at this time
  for (int i = 0; i < cone->program.groups->count; i++) any[i] = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < cone->model->moving_count; i++) {
      int body = b->mover[i], g = group[b->rank[body]];
      if (g < 0) continue;
      if (pass == 0) any[g] = any[g] || b->pushed[body];
      b->pushed[body] = any[g];
    }
}

// Who is pushed by a contact, itself or, by Coulomb's law, through others of its group: what joints do alone is not
// lost to contacts, nor what falls past others.
void carom_cone_note_pushed(carom_cone *cone) {
  const carom_cone_program *p = &cone->program;
  carom_cone_bodies *b = &cone->bodies;
  memset(b->pushed, 0, (size_t)cone->model->body_count * sizeof *b->pushed);
  for (int i = 0; i < p->active_count; i++) {
    const carom_near *near = &cone->search.near[p->active[i]];
    if (cm_norm2(p->impulses[p->active[i]]) == 0) continue;
    b->pushed[near->a] = true;
    if (near->b != CAROM_WORLD) b->pushed[near->b] = true;
  }
  if (p->lawful && cone->model->joint_count > 0) spread_in_groups(cone);
}
