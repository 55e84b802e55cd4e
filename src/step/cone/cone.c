// One step of the integrator `cone`: kick, contacts, drift.
//
//   v_free = v + h (g + f / m)                  forces at the start of the step
//   v'     = v_free + M^-1 D gamma              the program
//   x'     = x + h v',  R' = R F(h, l')         and bodies that touch nothing fall on a parabola
//
// As published (Gavrea 2.3.8) but for the parabola and for restitution (cone_restitution.c).
#include "step/cone/cone.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "contact/boundary.h"
#include "model/model.h"

// ---- memory -------------------------------------------------------------------------------------------------------

static bool is_ball(const carom_model *m, int body) {
  const carom_body *b = &m->bodies[body];
  if (b->part_count != 1) return false;
  const carom_part *part = &m->parts[b->part_start];
  carom_vec3 J = b->inertia;
  return carom_shape_get_kind(part->shape) == CAROM_SHAPE_SPHERE && cm_norm2(part->pose.p) == 0 && J.x == J.y &&
         J.y == J.z;
}

static bool all_balls(const carom_model *m) {
  for (int i = 0; i < m->body_count; i++)
    if (!m->bodies[i].fixed && !is_ball(m, i)) return false;
  return m->apart_count == 0 && m->joint_count == 0 && !m->planar;
}

static void push_bodies(carom_cone *c, carom_arena *arena) {
  const carom_model *m = c->model;
  int n = m->body_count, program = m->moving_count + m->drive_count;
  c->radius = CAROM_PUSH(arena, double, n);
  c->reach = CAROM_PUSH(arena, double, n);
  c->v = CAROM_PUSH(arena, carom_vec3, n);
  c->w = CAROM_PUSH(arena, carom_vec3, n);
  c->v_start = CAROM_PUSH(arena, carom_vec3, n);
  c->w_start = CAROM_PUSH(arena, carom_vec3, n);
  c->v_free = CAROM_PUSH(arena, carom_vec3, n);
  c->w_free = CAROM_PUSH(arena, carom_vec3, n);
  c->touches = CAROM_PUSH(arena, bool, n);
  c->mover = CAROM_PUSH(arena, int, n);
  c->rank = CAROM_PUSH(arena, int, n);
  c->wall_count = CAROM_PUSH(arena, int, n);
  c->memory.first = CAROM_PUSH(arena, int, n);
  c->memory.last = CAROM_PUSH(arena, int, n);
  c->program_bodies = CAROM_PUSH(arena, carom_qp_body, program);
  c->program_velocities = CAROM_PUSH(arena, carom_vec3, program);
  c->program_spins = CAROM_PUSH(arena, carom_vec3, program);
  c->fixed_parts = CAROM_PUSH(arena, int, m->part_count);
  c->fixed_boxes = CAROM_PUSH(arena, carom_aabb, m->part_count);
  c->frames = CAROM_PUSH(arena, carom_pose, 2 * m->boundary_count);
  c->upward = CAROM_PUSH(arena, carom_vec3, m->boundary_count);
}

static void push_fields(carom_cone *c, carom_arena *arena) {
  int n = c->model->body_count;
  c->loads.f = CAROM_PUSH(arena, carom_vec3, n + 1);
  c->loads.torque = CAROM_PUSH(arena, carom_vec3, n + 1);
  c->loads.g = CAROM_PUSH(arena, carom_mat3, n + 1);
  c->loads.charge_point = CAROM_PUSH(arena, carom_vec3, c->model->charge_count);
  c->loads.charge_force = CAROM_PUSH(arena, carom_vec3, c->model->charge_count);
  c->directors = CAROM_PUSH(arena, carom_mat3, n);
  c->director_rates = CAROM_PUSH(arena, carom_mat3, n);
}

static void number_bodies(carom_cone *c) {
  const carom_model *m = c->model;
  int movers = 0;
  c->size = INFINITY;
  for (int i = 0; i < m->body_count; i++) {
    const carom_body *b = &m->bodies[i];
    c->rank[i] = -1;
    c->radius[i] = is_ball(m, i) ? carom_shape_radius(m->parts[b->part_start].shape) : b->bounding_radius;
    if (b->fixed) continue;
    if (c->radius[i] > 0) c->size = fmin(c->size, c->radius[i]);
    c->rank[i] = movers;
    c->mover[movers++] = i;
  }
  for (int i = 0; i < m->drive_count; i++) c->rank[m->drives[i].body] = m->moving_count + i;
  if (isinf(c->size)) c->size = 1;
}

static void look_for_one_material(carom_cone *c) {
  const carom_model *m = c->model;
  c->alike = m->moving_count > 0;
  for (int i = 1; i < m->moving_count && c->alike; i++)
    c->alike = m->bodies[c->mover[i]].material == m->bodies[c->mover[0]].material;
  if (c->alike) c->surface = carom_model_surface(m, c->mover[0], c->mover[0]);
}

static void list_fixed_parts(carom_cone *c) {
  for (int i = 0; i < c->model->part_count; i++)
    if (c->model->bodies[c->parts->body_of_part[i]].fixed) c->fixed_parts[c->fixed_count++] = i;
}

// ---- options ------------------------------------------------------------------------------------------------------

static void read_options(const carom_step_options *o, int threads, carom_cone *c) {
  c->options = carom_qp_default_options();
  c->options.warm_start = true;
  c->options.threads = threads;
  c->options.max_iterations = o->solver_iterations;
  c->exacting = o->solver_tolerance > 0;
  if (c->exacting) c->options.tolerance = c->options.gap_tolerance = o->solver_tolerance;
  if (o->solver) carom_qp_method_by_name(o->solver, &c->options.method);
  bool tao = c->options.method == CAROM_QP_BLMVM || c->options.method == CAROM_QP_TRON;
  if (!tao && o->friction_directions <= 0) return;
  c->options.cone = CAROM_QP_GENERATORS;
  c->options.generators = o->friction_directions > 0 ? o->friction_directions : 3;
}

static void push(carom_stepper *stepper, carom_arena *arena) {
  carom_cone counted = {0}, *own = CAROM_PUSH(arena, carom_cone, 1), *c = own ? own : &counted;
  stepper->work = own;
  c->model = stepper->model;
  push_bodies(c, arena);
  carom_cone_joints_push(c, arena);
  if (carom_fields_present(c->model)) push_fields(c, arena);
  c->dmv_memory = carom_arena_push(arena, carom_dmv_bodies_cost(c->model->body_count));
}

static carom_status prepare(carom_stepper *stepper, carom_error *error) {
  const carom_model *m = stepper->model;
  carom_cone *c = stepper->work;
  c->allocator = stepper->allocator;
  c->threads = stepper->threads;
  c->grains = all_balls(m);
  c->fields = carom_fields_present(m);
  c->bounces = carom_cone_may_bounce(m);
  carom_dmv_bodies_fill(&c->bodies, m, c->dmv_memory);
  number_bodies(c);
  look_for_one_material(c);
  read_options(&stepper->options, stepper->threads, c);
  c->swept = c->grains && !c->exacting && !stepper->options.solver && c->options.cone == CAROM_QP_CIRCULAR;
  carom_status status = carom_contacts_create(m, &c->allocator, &c->parts, error);
  if (status == CAROM_OK) list_fixed_parts(c);
  if (status == CAROM_OK && c->grains)
    status = carom_grain_grid_create(&c->grid, m->moving_count, &c->allocator, error);
  if (status == CAROM_OK && c->swept) status = carom_sweep_create(&c->sweep, m->moving_count, &c->allocator, error);
  if (status == CAROM_OK) status = carom_qp_work_create(&c->allocator, &c->solver, error);
  if (status == CAROM_OK && m->joint_count > 0)
    status = carom_state_create(m->body_count, m->joint_count, &c->allocator, &c->trial, error);
  return status;
}

static void release(carom_stepper *stepper) {
  carom_cone *c = stepper->work;
  if (!c) return;
  carom_contacts_destroy(c->parts);
  if (c->grid.count > 0) carom_grain_grid_destroy(&c->grid);
  carom_qp_work_destroy(c->solver);
  carom_sweep_destroy(&c->sweep, &c->allocator);
  carom_state_destroy(c->trial);
  void *blocks[] = {c->near,   c->impulses,         c->chosen,           c->active,
                    c->events, c->program_contacts, c->program_impulses, c->memory.records,
                    c->rebound};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) carom_release(&c->allocator, blocks[i]);
}

enum { MOST_CORRECTIONS = 6 };
static const double HELD = 1e-6;  // of the smallest radius: how far joints may be off

// ---- the step -----------------------------------------------------------------------------------------------------

static carom_configuration configuration(const carom_cone *c, const carom_state *state) {
  return (carom_configuration){.time = state->time,
                               .x = state->x,
                               .d = c->directors,
                               .v = c->v_start,
                               .dv = c->director_rates,
                               .joints = state->joints};
}

static void evaluate_forces(carom_cone *c, const carom_state *state) {
  for (int i = 0; i < state->body_count; i++) {
    c->directors[i] = cm_rotation(state->q[i]);
    c->director_rates[i] = cm_mmul(cm_hat(c->w_start[i]), c->directors[i]);
  }
  carom_configuration at = configuration(c, state);
  carom_fields_evaluate(c->model, &at, &c->loads);
}

static void set_velocities(const carom_cone *c, const carom_state *state, carom_vec3 *v, carom_vec3 *w) {
  const carom_model *m = c->model;
#pragma omp parallel for num_threads(c->threads) schedule(static) if (c->threads > 1)
  for (int i = 0; i < m->moving_count; i++) {
    int body = c->mover[i];
    v[body] = cm_scale(c->bodies.inverse_mass[body], state->p[body]);
    w[body] =
        c->grains ? cm_scale(c->bodies.over_scale[body], state->l[body]) : carom_state_angular_velocity(m, state, body);
  }
}

// p += h f, l += h torque of all fields but gravity, at the start of the step.
static void kick_fields(carom_cone *c, carom_state *state, double h, carom_step_report *report) {
  const carom_model *m = c->model;
  evaluate_forces(c, state);
  for (int i = 0; i < m->moving_count; i++) {
    int body = c->mover[i];
    carom_vec3 torque = cm_add(carom_director_torque(c->loads.g[body], c->directors[body]), c->loads.torque[body]);
    state->p[body] = cm_axpy(state->p[body], h, c->loads.f[body]);
    state->l[body] = cm_axpy(state->l[body], h, torque);
  }
  carom_configuration at = configuration(c, state);
  carom_resultant r = carom_fields_resultant(m, &at, &c->loads);
  report->impulse = cm_axpy(report->impulse, h, r.force);
  report->angular_impulse = cm_axpy(report->angular_impulse, h, r.moment);
  report->work += h * r.power;
}

// Free velocities: of movers after all forces, of driven bodies as given.
static void kick(carom_cone *c, carom_state *state, double h, carom_step_report *report) {
  const carom_model *m = c->model;
  set_velocities(c, state, c->v_start, c->w_start);
  if (c->fields) kick_fields(c, state, h, report);
#pragma omp parallel for num_threads(c->threads) schedule(static) if (c->threads > 1)
  for (int i = 0; i < m->moving_count; i++) {
    int body = c->mover[i];
    state->p[body] = cm_axpy(state->p[body], h * c->bodies.mass[body], m->gravity);
  }
  set_velocities(c, state, c->v_free, c->w_free);
  for (int i = 0; i < m->drive_count; i++) {
    int body = m->drives[i].body;
    carom_model_motion(m, body, state->time, h, &c->v_free[body], &c->w_free[body]);
    c->v_start[body] = c->v_free[body];
    c->w_start[body] = c->w_free[body];
  }
}

enum { SHARES = 64 };

// Mass and its first moment; weight acts where the body is, or half way along its parabola.
static double weigh_share(const carom_cone *c, const carom_state *state, double h, int share, carom_vec3 *moment) {
  carom_vec3 g = c->model->gravity;
  int size = c->model->moving_count / SHARES + 1;
  double mass = 0;
  for (int i = share * size; i < (share + 1) * size && i < c->model->moving_count; i++) {
    int body = c->mover[i];
    double m = c->bodies.mass[body];
    carom_vec3 x = state->x[body];
    if (!c->touches[body]) x = cm_axpy(x, 0.5 * h, cm_axpy(c->v_free[body], -h, g));
    mass += m;
    *moment = cm_axpy(*moment, m, x);
  }
  return mass;
}

static void book_weight(const carom_cone *c, const carom_state *state, double h, carom_step_report *report) {
  carom_vec3 g = c->model->gravity, moment = cm_zero3(), moments[SHARES] = {0};
  if (cm_norm2(g) == 0) return;
  double mass = 0, masses[SHARES];
#pragma omp parallel for num_threads(c->threads) schedule(static) if (c->threads > 1)
  for (int k = 0; k < SHARES; k++) masses[k] = weigh_share(c, state, h, k, &moments[k]);
  for (int k = 0; k < SHARES; k++) mass += masses[k], moment = cm_add(moment, moments[k]);
  report->impulse = cm_axpy(report->impulse, h * mass, g);
  report->angular_impulse = cm_axpy(report->angular_impulse, h, cm_cross(moment, g));
}

// Momenta after the contacts. Bodies that touch nothing keep theirs to the last bit.
static void take_momenta(const carom_cone *c, carom_state *state) {
  const carom_model *m = c->model;
#pragma omp parallel for num_threads(c->threads) schedule(static) if (c->threads > 1)
  for (int i = 0; i < m->moving_count; i++) {
    int body = c->mover[i];
    if (!c->touches[body]) continue;
    const carom_body *b = &m->bodies[body];
    state->p[body] = cm_scale(c->bodies.mass[body], c->v[body]);
    carom_vec3 change = cm_sub(c->w[body], c->w_free[body]);
    change = c->grains ? cm_scale(b->inertia.x, change) : carom_body_spin_momentum(b, state->q[body], change);
    state->l[body] = cm_add(state->l[body], change);
  }
}

static carom_status failed_turn(const carom_cone *c, const carom_state *state, int body, double h, carom_error *error) {
  const char *name = c->model->bodies[body].name;
  if (!cm_finite(state->x[body]) || !cm_finite(state->l[body]))
    return carom_fail(error, CAROM_ERR_NUMBER, "body '%s' is no longer finite at t = %.9g s", name, state->time);
  return carom_fail(error, CAROM_NOT_CONVERGED, "body '%s' turns too fast for a step of %.3g s at t = %.9g s", name, h,
                    state->time);
}

static carom_status drift(carom_stepper *stepper, carom_state *state, double h, carom_error *error) {
  carom_cone *c = stepper->work;
  carom_vec3 fall = cm_scale(-0.5 * h * h, c->model->gravity);
  int failed = -1;
#pragma omp parallel for num_threads(c->threads) schedule(static) reduction(max : failed) if (c->threads > 1)
  for (int first = 0; first < state->body_count; first += CAROM_DMV_LANES) {
    carom_dmv_info info = {.failed = -1};
    carom_dmv_drift(&c->bodies, first, h, stepper->options.max_halvings, state, &info);
    failed = info.failed > failed ? info.failed : failed;
  }
  if (failed >= 0) return failed_turn(c, state, failed, h, error);
#pragma omp parallel for num_threads(c->threads) schedule(static) if (c->threads > 1)
  for (int i = 0; i < c->model->moving_count; i++) {
    int body = c->mover[i];
    if (!c->touches[body]) state->x[body] = cm_add(state->x[body], fall);
  }
  return CAROM_OK;
}

static void place_driven(const carom_cone *c, carom_state *state, double end) {
  for (int i = 0; i < c->model->drive_count; i++) {
    carom_pose pose = carom_drive_pose(c->model, i, end);
    state->x[c->model->drives[i].body] = pose.p;
    state->q[c->model->drives[i].body] = pose.q;
  }
}

// Solves until the joints hold at the end of the step.
static carom_status solve(carom_stepper *stepper, carom_state *state, double h, double end, carom_cone_outcome *outcome,
                          carom_error *error) {
  carom_cone *c = stepper->work;
  carom_cone_joints_begin(c, state, h, end);
  carom_status status = carom_cone_solve(c, state, h, outcome, error);
  for (int i = 0; c->joints.equation_count > 0 && i < MOST_CORRECTIONS && status == CAROM_OK; i++) {
    carom_state_copy(c->trial, state);
    take_momenta(c, c->trial);
    status = drift(stepper, c->trial, h, error);
    if (status != CAROM_OK) return status;
    place_driven(c, c->trial, end);
    if (carom_cone_joints_correct(c, c->trial, h, end) <= HELD * c->size) break;
    status = carom_cone_solve_on(c, state, h, outcome, error);
  }
  return status;
}

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  carom_step_report *report = &ledger->report;
  carom_cone *c = stepper->work;
  carom_cone_outcome outcome;
  kick(c, state, h, report);
  carom_status status = solve(stepper, state, h, end, &outcome, error);
  if (status != CAROM_OK) return status;
  book_weight(c, state, h, report);
  carom_cone_book(c, state, h, report);
  if (c->trial) carom_cone_joints_book(c, state, end, report);
  c->h = h;
  status = carom_cone_events(c, state, end, report, error);
  if (status != CAROM_OK) return status;
  take_momenta(c, state);
  status = drift(stepper, state, h, error);
  if (status != CAROM_OK) return status;
  place_driven(c, state, end);
  if (c->trial) {
    carom_joints_note_turns(c->model, state);
    report->constraint = fmax(report->constraint, carom_joints_drift_at(c->model, state, end));
  }
  if (outcome.iterations > report->iterations) report->iterations = outcome.iterations;
  report->complementarity = fmax(report->complementarity, outcome.residual);
  report->duality_gap = fmax(report->duality_gap, outcome.gap);
  report->penetration = fmax(report->penetration, fmax(outcome.violation, outcome.overlap));
  return carom_cone_recirculate(c, state, report, error);
}

const carom_integrator carom_integrator_cone = {
    .name = "cone",
    .summary = "many bodies in contact: one convex quadratic program over friction cones per step",
    .honours = &carom_honours_cone,
    .push = push,
    .prepare = prepare,
    .advance = advance,
    .release = release,
    .remember = carom_cone_remember_all,
    .contact_moments = carom_cone_contact_moments,
};
