// The step of `moreau`, its collisions and its books. In the order in which it happens:
//
//     begin          q*, masses, forces, joints: v_free
//     gather         contacts and limits that the step may meet
//     solve          impulses, by complementarity, with gap/h on the right: no drift into each other, ever
//     move           velocities and positions
//     first hit      bodies that bounce and have met in between: back to that moment, collide there, go on
#include "step/moreau/moreau.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"

// Of touch_of: gaps within are round-off. Left in, they would ask of redundant contacts what no motion can do.
static const double NO_GAP = 1e-5;

enum { HITS_MAX = 200, CORRECTIONS_MAX = 20, ROUNDS_MAX = 30 };

// ---- books ----------------------------------------------------------------------------------------------------------

static void book_forces(carom_moreau *m, double time, carom_step_report *report) {
  carom_vec3 g = m->model->gravity;
  for (int i = 0; i < m->model->body_count; i++) {
    const carom_body *body = &m->model->bodies[i];
    if (body->fixed) continue;
    carom_vec3 weight = cm_scale(m->h * body->mass, g);
    report->impulse = cm_add(report->impulse, weight);
    report->angular_impulse = cm_add(report->angular_impulse, cm_cross(m->star->x[i], weight));
  }
  if (!m->loads_present) return;
  carom_moreau_mean_rates(m);
  carom_configuration c = {time + m->alpha * m->h, m->star->x, m->d, m->rate, m->d_rate, m->star->joints};
  carom_resultant r = carom_fields_resultant(m->model, &c, &m->loads);
  report->impulse = cm_axpy(report->impulse, m->h, r.force);
  report->angular_impulse = cm_axpy(report->angular_impulse, m->h, r.moment);
  report->work += m->h * r.power;
}

static void book_joints(carom_moreau *m, double time, carom_step_report *report) {
  if (!m->joints) return;
  const carom_joint_vectors *j = carom_joint_system_vectors(m->joints);
  for (int joint = 0; joint < m->model->joint_count; joint++)
    if (carom_joint_acts(m->model, m->star, joint))
      carom_joint_add_external(m->model, &m->model->joints[joint], j->right + joint * CAROM_JOINT_ROWS,
                               m->joint_impulse + joint * CAROM_JOINT_ROWS, m->star->x, &report->impulse,
                               &report->angular_impulse);
  report->work += carom_joints_motor_work(m->model, m->star, time, m->joint_impulse);
}

static carom_vec3 impulse_vector(const carom_moreau_item *item) {
  carom_vec3 sum = cm_zero3();
  for (int k = 0; k <= item->tangents; k++) sum = cm_axpy(sum, item->impulse[k], item->row[k].linear[0]);
  return sum;
}

static bool note_event(carom_moreau *m, const carom_moreau_item *item, carom_event_kind kind, double time) {
  if (!carom_grow(&m->allocator, (void **)&m->events, m->event_count, &m->event_capacity, sizeof *m->events))
    return false;
  m->events[m->event_count++] = (carom_contact_event){.kind = kind,
                                                      .time = time,
                                                      .body_a = item->body_a,
                                                      .body_b = item->body_b,
                                                      .point = item->point,
                                                      .normal = item->normal,
                                                      .impulse = impulse_vector(item)};
  return true;
}

// What an impulse does to the kinetic energy is impulse times the mean of the velocities before and after, exactly.
// Friction takes impulse times sliding, which complementarity keeps from being negative; the rest is restitution's,
// or a gain where bodies that overlapped were pushed apart.
static void book_energy(const carom_moreau *m, const carom_moreau_item *item, carom_step_report *report) {
  double loss = 0, friction = 0;
  for (int k = 0; k <= item->tangents; k++) {
    double after = carom_moreau_rate(m->model, &item->row[k], m->v_new) - item->surface[k];
    double before = item->before[k] - item->surface[k];
    loss -= item->impulse[k] * 0.5 * (before + after);
    if (k > 0) friction -= item->impulse[k] * (m->alpha * after + (1 - m->alpha) * before);
    report->work += item->impulse[k] * item->surface[k];
  }
  report->friction_loss += friction;
  if (loss >= friction)
    report->restitution_loss += loss - friction;
  else
    report->projection_energy += friction - loss;
}

static carom_status book_items(carom_moreau *m, carom_event_kind kind, double time, carom_step_report *report,
                               carom_error *error) {
  for (int i = 0; i < m->item_count; i++) {
    const carom_moreau_item *item = &m->items[i];
    if (!(item->impulse[0] > 0)) continue;
    book_energy(m, item, report);
    carom_vec3 sum = impulse_vector(item);
    if (item->body_a == CAROM_WORLD) {  // a limit: its row may act on a fixed body or the world
      for (int end = 0; end < 2; end++) {
        int body = item->row[0].body[end], other = item->row[0].body[1 - end];
        bool ground = other == CAROM_WORLD || m->model->bodies[other].fixed;
        if (!ground || body == CAROM_WORLD || m->model->bodies[body].fixed) continue;
        carom_vec3 p = cm_scale(item->impulse[0], item->row[0].linear[end]);
        carom_vec3 l = cm_scale(item->impulse[0], item->row[0].angular[end]);
        report->impulse = cm_add(report->impulse, p);
        report->angular_impulse = cm_add(report->angular_impulse, cm_add(l, cm_cross(m->star->x[body], p)));
      }
      continue;
    }
    if (m->model->bodies[item->body_b].fixed) {
      report->impulse = cm_add(report->impulse, sum);
      report->angular_impulse = cm_add(report->angular_impulse, cm_cross(item->point, sum));
    }
    if (kind == CAROM_EVENT_IMPACT) report->collisions++;
    if (!note_event(m, item, kind, time)) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for events");
  }
  return CAROM_OK;
}

// ---- one smooth step ------------------------------------------------------------------------------------------------

static double touch_of(const carom_moreau *m) {
  double least = INFINITY;
  for (int i = 0; i < m->model->body_count; i++)
    if (!m->model->bodies[i].fixed && m->model->bodies[i].bounding_radius > 0)
      least = fmin(least, m->model->bodies[i].bounding_radius);
  return isfinite(least) ? 1e-6 * least : 1e-9;
}

// From `origin` to `state` in h; nothing is booked.
static carom_status try_step(carom_moreau *m, carom_state *state, double h, double time, carom_step_report *report,
                             carom_error *error) {
  carom_status status = carom_moreau_begin(m, m->origin, h, m->options->alpha, time, error);
  if (status == CAROM_OK && !m->contact_free) status = carom_moreau_candidates(m, m->origin, h, error);
  if (status == CAROM_OK) status = carom_moreau_gather(m, CAROM_MOREAU_STEP, touch_of(m), error);
  if (status == CAROM_OK) status = carom_moreau_reserve(m, error);
  if (status != CAROM_OK) return status;
  double *bias = carom_moreau_bias(m), none = NO_GAP * touch_of(m);
  for (int i = 0; i < m->item_count; i++) bias[i] = fabs(m->items[i].gap) <= none ? 0 : m->items[i].gap / h;
  status = carom_moreau_solve(m, bias, time + h, report, error);
  if (status != CAROM_OK) return status;
  carom_moreau_apply(m);
  carom_moreau_move(m, m->origin, state);
  return CAROM_OK;
}

static carom_status accept(carom_moreau *m, carom_state *state, double time, carom_step_report *report,
                           carom_error *error) {
  book_forces(m, time, report);
  book_joints(m, time + m->h, report);
  carom_joints_note_turns(m->model, state);
  return book_items(m, CAROM_EVENT_CONTACT, time + m->h, report, error);
}

// ---- collisions -----------------------------------------------------------------------------------------------------

// Newton: u+ >= -e u-. Slow contacts do not bounce: else resting bodies would hop for ever.
static void newton_bias(carom_moreau *m, double slow, double *bias) {
  for (int i = 0; i < m->item_count; i++) {
    double approach = m->items[i].before[0] - m->items[i].surface[0];
    bias[i] = approach < -slow ? m->items[i].e * approach : 0;
  }
}

// Poisson: after the impulses of a plastic collision (compression) e times the normal ones are given back, and
// further impulses keep bodies from entering each other again (2.1.12-2.1.22).
static carom_status decompress(carom_moreau *m, double slow, double time, carom_step_report *report,
                               carom_error *error) {
  double *bias = carom_moreau_bias(m);
  for (int i = 0; i < m->item_count; i++) {
    carom_moreau_item *item = &m->items[i];
    double e = item->before[0] - item->surface[0] < -slow ? item->e : 0;
    memcpy(item->kept, item->impulse, sizeof item->kept);
    item->kept[0] += e * item->impulse[0];
    for (int k = 0; k <= item->tangents; k++) carom_moreau_push(m->model, &item->row[k], item->kept[k], m->b_free);
    bias[i] = 0;
  }
  carom_moreau_free_velocity(m);
  carom_status status = carom_moreau_solve(m, bias, time, report, error);
  if (status != CAROM_OK) return status;
  carom_moreau_apply(m);
  for (int i = 0; i < m->item_count; i++)
    for (int k = 0; k < 3; k++) m->items[i].impulse[k] += m->items[i].kept[k];
  return CAROM_OK;
}

static bool anything_approaches(const carom_moreau *m, double slow) {
  for (int i = 0; i < m->item_count; i++)
    if (m->items[i].before[0] - m->items[i].surface[0] < -slow) return true;
  return false;
}

// What touches now collides; what may be met in the rest of the step, `left`, is found on the way.
static carom_status collide(carom_moreau *m, carom_state *state, double time, double left, double h,
                            carom_step_report *report, carom_error *error) {
  carom_status status = carom_moreau_begin(m, state, 0, 1, time, error);
  if (status == CAROM_OK) status = carom_moreau_candidates(m, state, left, error);
  double slow = carom_moreau_slow(m, h);
  if (status == CAROM_OK) status = carom_moreau_gather(m, CAROM_MOREAU_TOUCHING, 2 * touch_of(m), error);
  if (status == CAROM_OK) status = carom_moreau_reserve(m, error);
  if (status != CAROM_OK || !anything_approaches(m, slow)) return status;
  double *bias = carom_moreau_bias(m);
  newton_bias(m, slow, bias);
  for (int i = 0; i < m->item_count && m->options->poisson; i++) bias[i] = 0;
  status = carom_moreau_solve(m, bias, time, report, error);
  if (status == CAROM_OK) carom_moreau_apply(m);
  if (status == CAROM_OK && m->options->poisson) status = decompress(m, slow, time, report, error);
  if (status != CAROM_OK) return status;
  carom_moreau_move(m, state, state);
  book_joints(m, time, report);
  return book_items(m, CAROM_EVENT_IMPACT, time, report, error);
}

// ---- the step -------------------------------------------------------------------------------------------------------

// Index 3: positions at the end satisfy the joints, by Newton's method on the residuals of the start (Gavrea 2006,
// 1.3).
static carom_status correct_positions(carom_moreau *m, carom_state *state, double time, carom_step_report *report,
                                      carom_error *error) {
  double worst = INFINITY;
  for (int i = 0; i < CORRECTIONS_MAX; i++) {
    double before = worst;
    worst = carom_moreau_correct(m, state, time + m->h);
    if (worst <= 1e-13 || worst >= 0.5 * before) break;
    carom_moreau_free_velocity(m);
    carom_moreau_apply(m);
    carom_moreau_move(m, m->origin, state);
    if (i + 1 > report->iterations) report->iterations = i + 1;
  }
  if (worst <= 1e-9) return CAROM_OK;
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "the joints were not met at t = %.9g s (off by %.2g): use a smaller step", time + m->h, worst);
}

static carom_status advance_joints_alone(carom_stepper *stepper, carom_state *state, double h, bool positions,
                                         carom_step_report *report, carom_error *error) {
  carom_moreau *m = stepper->work;
  double time = state->time;
  m->unstabilized = !positions;
  carom_state_copy(m->origin, state);
  carom_status status = try_step(m, state, h, time, report, error);
  if (status == CAROM_OK && positions && m->joints) status = correct_positions(m, state, time, report, error);
  if (status == CAROM_OK) status = accept(m, state, time, report, error);
  report->constraint = fmax(report->constraint, carom_joints_drift_at(m->model, state, time + h));
  return status;
}

// One smooth piece of the step: as much of `left` as passes without a bounce; *done is its length.
static carom_status advance_piece(carom_moreau *m, carom_state *state, double left, double time, double *done,
                                  carom_step_report *report, carom_error *error) {
  double share = 2, deepest = 0, h = left;
  carom_state_copy(m->origin, state);
  for (int round = 0; share <= 1 || round == 0; round++) {
    if (round == ROUNDS_MAX)
      return carom_fail(error, CAROM_NOT_CONVERGED,
                        "no moment of collision was found at t = %.9g s: use a smaller step", time);
    if (round > 0) h *= fmax(share, 1e-6);
    carom_status status = try_step(m, state, h, time, report, error);
    if (status == CAROM_OK) status = carom_moreau_first_hit(m, state, h, touch_of(m), &share, &deepest, error);
    if (status != CAROM_OK) return status;
  }
  *done = h;
  report->penetration = fmax(report->penetration, deepest);
  return accept(m, state, time, report, error);
}

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  carom_step_report *report = &ledger->report;
  carom_moreau *m = stepper->work;
  double start = state->time, gone = 0;
  m->event_count = 0;
  carom_status status = CAROM_OK;
  for (int hits = 0; gone < h && hits < HITS_MAX && status == CAROM_OK; hits++) {
    double done = 0, now = start + gone;
    state->time = now;
    if (m->restitution) status = collide(m, state, now, h - gone, h, report, error);
    if (status == CAROM_OK) status = advance_piece(m, state, h - gone, now, &done, report, error);
    gone = h - gone - done <= 1e-12 * h ? h : gone + done;
  }
  state->time = start;
  report->constraint = fmax(report->constraint, m->joints ? carom_joints_drift_at(m->model, state, end) : 0);
  report->events = m->events;
  report->event_count = m->event_count;
  if (status == CAROM_OK && gone < h)
    return carom_fail(error, CAROM_NOT_CONVERGED,
                      "more than %d collisions in one step at t = %.9g s: use a smaller step", HITS_MAX, start);
  return status;
}

static carom_status advance_index2(carom_stepper *stepper, carom_state *state, double h, double end,
                                   carom_ledger *ledger, carom_error *error) {
  carom_step_report *report = &ledger->report;
  (void)end;
  return advance_joints_alone(stepper, state, h, false, report, error);
}

static carom_status advance_index3(carom_stepper *stepper, carom_state *state, double h, double end,
                                   carom_ledger *ledger, carom_error *error) {
  carom_step_report *report = &ledger->report;
  (void)end;
  return advance_joints_alone(stepper, state, h, true, report, error);
}

// ---- set-up ---------------------------------------------------------------------------------------------------------

// The impulses of the last step, how large problems may get before their scratch is made anew (which changes the
// order of some sums), and the bases of the separations.
static bool remember(carom_stepper *stepper, carom_tape *tape) {
  carom_moreau *m = stepper->work;
  int count = m->last_count, capacity = m->n_capacity;
  if (!carom_tape_pass_count(tape, &count, sizeof *m->last) || !carom_tape_pass(tape, &capacity, sizeof capacity) ||
      !carom_tape_pass(tape, &m->last_h, sizeof m->last_h))
    return false;
  if (capacity < 0 || capacity > 1000000) return false;
  if (capacity != m->n_capacity && !carom_moreau_reserve_pairs(m, capacity)) return false;
  if (!carom_reserve(&m->allocator, (void **)&m->last, &m->last_capacity, count, sizeof *m->last)) return false;
  m->last_count = count;
  if (!carom_tape_pass(tape, m->last, (size_t)count * sizeof *m->last)) return false;
  return !m->contacts || carom_contacts_remember(m->contacts, tape);
}

static void push_arrays(carom_moreau *m, carom_arena *arena) {
  int n = m->model->body_count, rows = m->model->joint_count * CAROM_JOINT_ROWS;
  m->loads.f = CAROM_PUSH(arena, carom_vec3, n + 1);
  m->loads.torque = CAROM_PUSH(arena, carom_vec3, n + 1);
  m->rate = CAROM_PUSH(arena, carom_vec3, n + 1);
  m->loads.g = CAROM_PUSH(arena, carom_mat3, n + 1);
  m->d = CAROM_PUSH(arena, carom_mat3, n + 1);
  m->d_rate = CAROM_PUSH(arena, carom_mat3, n + 1);
  m->inverse_turning = CAROM_PUSH(arena, carom_mat3, n + 1);
  m->mass = CAROM_PUSH(arena, carom_joint_mass, n + 1);
  double **six[] = {&m->v, &m->v_free, &m->v_new, &m->b, &m->b_free, &m->y};
  for (size_t i = 0; i < sizeof six / sizeof *six; i++) *six[i] = CAROM_PUSH(arena, double, 6 * (n + 1));
  m->theta = CAROM_PUSH(arena, double, rows);
  m->joint_impulse = CAROM_PUSH(arena, double, rows);
  m->reach = CAROM_PUSH(arena, double, n + 1);
  m->at_body = CAROM_PUSH(arena, int, n + 2);
  m->loads.charge_point = CAROM_PUSH(arena, carom_vec3, m->model->charge_count);
  m->loads.charge_force = CAROM_PUSH(arena, carom_vec3, m->model->charge_count);
  m->limits = CAROM_PUSH(arena, carom_joint_limit, carom_joints_limit_capacity(m->model));
}

static void push(carom_stepper *stepper, carom_arena *arena) {
  carom_moreau counted = {0}, *own = CAROM_PUSH(arena, carom_moreau, 1), *m = own ? own : &counted;
  stepper->work = own;
  m->model = stepper->model;
  push_arrays(m, arena);
}

static bool bounces(const carom_model *model) {
  for (int i = 0; i < model->surface_count; i++)
    if (model->surfaces[i].surface.restitution > 0) return true;
  for (int i = 0; i < model->material_count; i++)
    if (model->materials[i].restitution > 0) return true;
  return carom_model_uses(model, CAROM_TRAIT_BOUNCING_LIMITS) >= 0;
}

static carom_status prepare_parts(carom_stepper *stepper, bool contact_free, carom_error *error) {
  const carom_model *model = stepper->model;
  carom_moreau *m = stepper->work;
  m->options = &stepper->options;
  m->allocator = stepper->allocator;
  m->contact_free = contact_free;
  m->loads_present = carom_fields_present(model);
  m->restitution = !contact_free && (bounces(model) || stepper->options.alpha < 1);
  int bodies = model->body_count, joints = model->joint_count;
  carom_status status = carom_state_create(bodies, joints, &stepper->allocator, &m->star, error);
  if (status == CAROM_OK) status = carom_state_create(bodies, joints, &stepper->allocator, &m->origin, error);
  if (status == CAROM_OK && !contact_free)
    status = carom_contacts_create(model, &stepper->allocator, &m->contacts, error);
  if (status == CAROM_OK && joints > 0)
    status = carom_joint_system_create(model, &stepper->allocator, &m->joints, error);
  return status;
}

static carom_status prepare(carom_stepper *stepper, carom_error *error) { return prepare_parts(stepper, false, error); }

static carom_status prepare_joints_alone(carom_stepper *stepper, carom_error *error) {
  return prepare_parts(stepper, true, error);
}

static void release(carom_stepper *stepper) {
  carom_moreau *m = stepper->work;
  if (!m) return;
  carom_state_destroy(m->star);
  carom_state_destroy(m->origin);
  carom_contacts_destroy(m->contacts);
  carom_joint_system_destroy(m->joints);
  carom_lcp_work_destroy(m->work);
  carom_moreau_newton *s = &m->newton;
  void *blocks[] = {m->items,     m->W,      m->A,    m->q,         m->z,           m->w,          m->g,     m->basis,
                    m->row_start, m->events, m->u0,   m->u,         m->P,           m->pair_start, m->last,  m->at_item,
                    s->K,         s->r,      s->x,    s->best,      s->P0,          s->column,     s->panel, s->swaps,
                    s->test,      s->phase,  s->side, s->generator, s->unknown_item};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) carom_release(&m->allocator, blocks[i]);
}

const carom_integrator carom_integrator_moreau = {
    .name = "moreau",
    .summary =
        "complementarity: the linearly implicit alpha-family with "
        "friction, joints, restitution; rests for ever",
    .honours = &carom_honours_moreau,
    .push = push,
    .prepare = prepare,
    .advance = advance,
    .release = release,
    .remember = remember,
};

const carom_integrator carom_integrator_index2 = {
    .name = "index2",
    .summary =
        "joints by their velocities (index-2 DAE), alpha-family; "
        "contacts are not seen",
    .honours = &carom_honours_index2,
    .push = push,
    .prepare = prepare_joints_alone,
    .advance = advance_index2,
    .release = release,
    .remember = remember,
};

const carom_integrator carom_integrator_index3 = {
    .name = "index3",
    .summary =
        "joints by their positions (index-3 DAE), alpha-family; "
        "contacts are not seen",
    .honours = &carom_honours_index3,
    .push = push,
    .prepare = prepare_joints_alone,
    .advance = advance_index3,
    .release = release,
    .remember = remember,
};
