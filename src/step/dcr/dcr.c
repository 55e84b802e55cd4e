#include "step/dcr/dcr.h"

#include <math.h>

#include "base/memory.h"
#include "base/tape.h"
#include "mechanics/balance.h"
#include "model/model.h"

// ---- memory --------------------------------------------------------------------------------------------------------

static void push_law(carom_dcr *w, carom_arena *arena) {
  int n = CAROM_DCR_LAW_MAX;
  w->law_W = CAROM_PUSH(arena, double, 9 * n * n);
  w->law_u = CAROM_PUSH(arena, double, 3 * n);
  w->law_P = CAROM_PUSH(arena, double, 3 * n);
  w->law_e = CAROM_PUSH(arena, double, n);
  w->law_mu = CAROM_PUSH(arena, double, n);
}

static void push_arrays(carom_dcr *w, carom_arena *arena, const carom_model *model) {
  int n = model->body_count;
  w->loads.f = CAROM_PUSH(arena, carom_vec3, n + 1);
  w->loads.g = CAROM_PUSH(arena, carom_mat3, n + 1);
  w->loads.torque = CAROM_PUSH(arena, carom_vec3, n + 1);
  w->loads.charge_point = CAROM_PUSH(arena, carom_vec3, model->charge_count);
  w->loads.charge_force = CAROM_PUSH(arena, carom_vec3, model->charge_count);
  w->d = CAROM_PUSH(arena, carom_mat3, n);
  w->d_rate = CAROM_PUSH(arena, carom_mat3, n);
  w->v = CAROM_PUSH(arena, carom_vec3, n);
  w->a = CAROM_PUSH(arena, carom_vec3, n + 1);  // one more for the world
  w->alpha = CAROM_PUSH(arena, carom_vec3, n + 1);
  w->restlessness = CAROM_PUSH(arena, double, n);
  w->reach = CAROM_PUSH(arena, double, n);
  w->rested = CAROM_PUSH(arena, bool, n);
  w->minus_mu = CAROM_PUSH(arena, double, model->joint_count *CAROM_JOINT_ROWS);
  w->thickness = CAROM_PUSH(arena, double, model->part_count);
}

// How deep a part is at least about its middle: twice this and a body could pass through it unseen.
static double thickness_of(const carom_shape *shape) {
  const carom_polytope *P = carom_shape_polytope(shape);
  if (!P) return carom_shape_radius(shape) > 0 ? carom_shape_radius(shape) : carom_shape_bounding_radius(shape);
  double least = INFINITY;
  for (int f = 0; f < P->face_count; f++) {
    double lowest = INFINITY;
    for (int v = 0; v < P->vertex_count; v++) lowest = fmin(lowest, cm_dot(P->face_normals[f], P->vertices[v]));
    least = fmin(least, 0.5 * (P->face_offsets[f] - lowest));
  }
  return least + carom_shape_radius(shape);
}

static double smallest_body(const carom_model *model) {
  double size = INFINITY;
  for (int i = 0; i < model->body_count; i++)
    if (!model->bodies[i].fixed && model->bodies[i].part_count > 0) size = fmin(size, model->bodies[i].bounding_radius);
  return isfinite(size) ? size : 1;
}

static void push(carom_stepper *stepper, carom_arena *arena) {
  carom_integrator_variational.push(stepper, arena);
  carom_dcr counted = {0}, *own = CAROM_PUSH(arena, carom_dcr, 1), *w = own ? own : &counted;
  stepper->work = own;
  push_arrays(w, arena, stepper->model);
  push_law(w, arena);
}

static carom_status prepare(carom_stepper *stepper, carom_error *error) {
  const carom_model *model = stepper->model;
  carom_dcr *w = stepper->work;
  carom_status status = carom_integrator_variational.prepare(stepper, error);
  if (status != CAROM_OK) return status;
  w->allocator = stepper->allocator;
  w->size = smallest_body(model);
  w->fields = carom_fields_present(model);
  w->velocities = carom_fields_need_velocity(model);
  for (int i = 0; i < model->part_count; i++) w->thickness[i] = thickness_of(model->parts[i].shape);
  status = carom_contacts_create(model, &w->allocator, &w->contacts, error);
  if (status == CAROM_OK) status = carom_sweeps_create(model->body_count + 1, &w->allocator, &w->sweeps, error);
  if (status == CAROM_OK)
    status = carom_projection_create(model, w->contacts, w->sweeps, &w->allocator, &w->projection, error);
  if (status == CAROM_OK) status = carom_joints_create(model, &w->allocator, &w->joints, error);
  if (status == CAROM_OK) status = carom_impact_work_create(CAROM_DCR_LAW_MAX, &w->allocator, &w->law_work, error);
  if (status == CAROM_OK && model->joint_count > 0)
    status = carom_impact_system_create(model, stepper->options.law, &w->allocator, &w->latches, error);
  if (status == CAROM_OK)
    status = carom_state_create(model->body_count, model->joint_count, &w->allocator, &w->start, error);
  if (status == CAROM_OK)
    status = carom_state_create(model->body_count, model->joint_count, &w->allocator, &w->start_of_settling, error);
  w->limit_capacity = carom_joints_limit_capacity(model);
  w->limits = CAROM_NEW(&w->allocator, carom_joint_limit, w->limit_capacity);
  if (status == CAROM_OK && !w->limits)
    status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d limits of joints", w->limit_capacity);
  return status;
}

static void release(carom_stepper *stepper) {
  carom_dcr *w = stepper->work;
  if (!w) return;
  carom_state_destroy(w->start);
  carom_state_destroy(w->start_of_settling);
  carom_joints_destroy(w->joints);
  carom_projection_destroy(w->projection);
  carom_sweeps_destroy(w->sweeps);
  carom_contacts_destroy(w->contacts);
  carom_impact_system_destroy(w->latches);
  carom_release(&w->allocator, w->limits);
  carom_release(&w->allocator, w->pairs);
  carom_release(&w->allocator, w->before);
  carom_release(&w->allocator, w->slow);
  carom_impact_work_destroy(w->law_work);
  carom_release(&w->allocator, w->memory);
  carom_release(&w->allocator, w->events);
  carom_integrator_variational.release(stepper);
}

// ---- pairs ---------------------------------------------------------------------------------------------------------

// The boxes of half-spaces are as large as can be.
static void widen_driven(carom_stepper *stepper, int body, double dt) {
  carom_dcr *w = stepper->work;
  carom_vec3 v, spin;
  double radius = stepper->model->bodies[body].bounding_radius;
  carom_model_motion(stepper->model, body, w->motion_time, w->motion_h, &v, &spin);
  w->reach[body] = 1.5 * dt * (cm_norm(v) + (isfinite(radius) ? radius * cm_norm(spin) : 0));
}

// Pairs that may meet within the cycle: boxes are widened by how far a body may move.
static carom_status find_pairs(carom_stepper *stepper, const carom_state *state, double dt, carom_error *error) {
  carom_dcr *w = stepper->work;
  for (int i = 0; i < stepper->model->drive_count; i++) widen_driven(stepper, stepper->model->drives[i].body, dt);
  for (int i = 0; i < state->body_count; i++) {
    double radius = stepper->model->bodies[i].bounding_radius;
    if (stepper->model->bodies[i].fixed) continue;
    double speed = cm_norm(carom_state_velocity(stepper->model, state, i)) +
                   cm_norm(carom_state_angular_velocity(stepper->model, state, i)) * radius;
    w->reach[i] = 1.5 * dt * (speed + 2 * dt * w->restlessness[i]);
  }
  carom_status status = carom_contacts_update(w->contacts, state, w->reach, error);
  if (status != CAROM_OK) return status;
  int count = w->contacts->pair_count;
  if (!carom_reserve(&w->allocator, (void **)&w->pairs, &w->pair_capacity, count, sizeof *w->pairs))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d pairs of bodies", count);
  for (int i = 0; i < count; i++) w->pairs[i] = (carom_dcr_pair){0};
  return CAROM_OK;
}

// ---- fast bodies ---------------------------------------------------------------------------------------------------

// How far two parts moved relative to each other, at most.
static double relative_motion(const carom_stepper *stepper, const carom_state *from, const carom_state *to,
                              const carom_part_pair *pair) {
  carom_vec3 da = cm_sub(to->x[pair->body_a], from->x[pair->body_a]);
  carom_vec3 db = cm_sub(to->x[pair->body_b], from->x[pair->body_b]);
  double motion = cm_norm(cm_sub(da, db));
  int bodies[2] = {pair->body_a, pair->body_b};
  for (int k = 0; k < 2; k++) {
    carom_quat turn = cm_qmul(to->q[bodies[k]], cm_qconj(from->q[bodies[k]]));
    const carom_body *body = &stepper->model->bodies[bodies[k]];
    bool turns = !body->fixed || (stepper->model->drive_count > 0 && isfinite(body->bounding_radius));
    if (turns) motion += cm_norm(cm_log(turn)) * body->bounding_radius;
  }
  return motion;
}

static carom_motion motion_of(const carom_contacts *set, const carom_state *from, const carom_state *to, int part) {
  carom_placed a = carom_contacts_place(set, part, from), b = carom_contacts_place(set, part, to);
  return (carom_motion){a.shape, a.pose, b.pose};
}

// The part of the cycle after which the first fast pair has just met, so that the projection finds it; 1 when none is
// so fast that it could pass through the other unseen.
static double safe_fraction(carom_stepper *stepper, const carom_state *state) {
  carom_dcr *w = stepper->work;
  double fraction = 1;
  for (int i = 0; i < w->contacts->pair_count; i++) {
    carom_part_pair *pair = &w->contacts->pairs[i];
    double motion = relative_motion(stepper, w->start, state, pair);
    double thin = fmin(w->thickness[pair->part_a], w->thickness[pair->part_b]);
    if (!(motion > 0.5 * thin)) continue;
    carom_motion a = motion_of(w->contacts, w->start, state, pair->part_a);
    carom_motion b = motion_of(w->contacts, w->start, state, pair->part_b);
    carom_impact_time impact;
    carom_status status = carom_time_of_impact(&a, &b, 1e-3 * thin, NULL, &impact);
    if (status < 0 || impact.outcome != CAROM_IMPACT_FOUND) continue;
    fraction = fmin(fraction, impact.time + 0.1 * thin / motion);
  }
  return fmin(fraction, 1);
}

// ---- one cycle -----------------------------------------------------------------------------------------------------

// The momentum lift (Johnson 2012, eqs. 3.88-3.93): p stays, l turns by dR = R R~', so that kinetic energy stays. With
// joints, what they forbid at the new configuration is taken out (eq. 3.102).
static carom_status lift(carom_stepper *stepper, carom_state *state, const carom_quat *q_before, carom_error *error) {
  const carom_dcr *w = stepper->work;
  for (int i = 0; i < state->body_count; i++) {
    carom_vec3 body = cm_unrotate(q_before[i], state->l[i]);
    state->l[i] = cm_rotate(state->q[i], body);
  }
  if (!carom_joints_any(stepper->model, state)) return CAROM_OK;
  carom_joints_note_turns(stepper->model, state);
  return carom_joints_impose(w->joints, state, state->time, state->p, state->l, NULL, error);
}

static carom_status project(carom_stepper *stepper, carom_state *state, carom_step_report *report, carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_projection_info info;
  carom_state_copy(w->start, state);
  carom_status status =
      carom_projection_run(w->projection, state, CAROM_DCR_OVERLAP * w->size, stepper->threads, &info, error);
  if (status != CAROM_OK) return status;
  report->penetration = fmax(report->penetration, info.overlap);
  if (info.iterations == 0) return CAROM_OK;
  status = lift(stepper, state, w->start->q, error);
  if (status != CAROM_OK) return status;
  carom_balance before = carom_balance_of(stepper->model, w->start), after = carom_balance_of(stepper->model, state);
  report->projection_energy += after.potential - before.potential + after.kinetic - before.kinetic;
  report->projection_momentum = cm_add(report->projection_momentum, cm_sub(after.momentum, before.momentum));
  report->projection_angular_momentum =
      cm_add(report->projection_angular_momentum, cm_sub(after.angular_momentum, before.angular_momentum));
  return CAROM_OK;
}

static carom_status smooth_motion(carom_stepper *stepper, carom_state *state, double dt, carom_ledger *ledger,
                                  carom_error *error) {
  carom_step_report *report = &ledger->report;
  carom_dcr *w = stepper->work;
  w->motion_time = state->time;
  w->motion_h = dt;
  carom_dcr_accelerate(stepper, state);
  for (int i = 0; i < state->body_count; i++) w->rested[i] = false;
  carom_status status = find_pairs(stepper, state, dt, error);
  if (status == CAROM_OK) status = carom_dcr_rest(stepper, state, dt, report, error);
  if (status == CAROM_OK)
    status = carom_integrator_variational.advance(stepper, state, dt, state->time + dt, ledger, error);
  if (status == CAROM_OK) carom_dcr_book_settling(stepper, state, report);
  carom_drives_place(stepper->model, state, state->time + dt);
  return status;
}

// Advances by dt, or by less when a fast body would pass through another; *taken says how far.
static carom_status cycle(carom_stepper *stepper, carom_state *state, double dt, double *taken, carom_ledger *ledger,
                          carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_step_report *report = &ledger->report, before = *report;
  carom_state_copy(w->start, state);
  carom_status status = smooth_motion(stepper, state, dt, ledger, error);
  if (status != CAROM_OK) return status;
  double fraction = safe_fraction(stepper, state);
  *taken = fraction * dt;
  if (fraction < 1) {
    carom_state_copy(state, w->start);
    *report = before;
    status = smooth_motion(stepper, state, *taken, ledger, error);
  }
  if (status == CAROM_OK) status = project(stepper, state, report, error);
  if (status == CAROM_OK) status = carom_dcr_impact(stepper, state, *taken, report, error);
  if (status == CAROM_OK) status = carom_dcr_emit(w, state->time + *taken, report, error);
  return status;
}

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  carom_step_report *report = &ledger->report;
  carom_dcr *w = stepper->work;
  double start = state->time, done = 0;
  if (report->event_count == 0) w->event_count = 0;
  carom_status status = CAROM_OK;
  for (int i = 0; done < h && status == CAROM_OK; i++) {
    double taken = 0;
    state->time = start + done;
    if (i == CAROM_DCR_MAX_CYCLES)
      return carom_fail(error, CAROM_NOT_CONVERGED,
                        "more than %d impacts of fast bodies in one step at t = %.9g s: use a smaller step", i, start);
    status = cycle(stepper, state, h - done, &taken, ledger, error);
    done = taken >= h - done ? h : done + taken;
  }
  (void)end;
  state->time = start;
  return status;
}

// ---- for checkpoints -----------------------------------------------------------------------------------------------

static bool remember(carom_stepper *stepper, carom_tape *tape) {
  carom_dcr *w = stepper->work;
  int count = w->memory_count;
  if (!carom_integrator_variational.remember(stepper, tape) || !carom_contacts_remember(w->contacts, tape))
    return false;
  if (!carom_tape_pass_count(tape, &count, sizeof *w->memory)) return false;
  if (!carom_reserve(&w->allocator, (void **)&w->memory, &w->memory_capacity, count, sizeof *w->memory)) return false;
  w->memory_count = count;
  return carom_tape_pass(tape, w->memory, (size_t)count * sizeof *w->memory);
}

const carom_integrator carom_integrator_dcr = {
    .name = "dcr",
    .summary = "collisions at the end of the step: closest-point projection, then the impact law; rest and friction",
    .honours = &carom_honours_dcr,
    .push = push,
    .prepare = prepare,
    .advance = advance,
    .release = release,
    .remember = remember,
};
