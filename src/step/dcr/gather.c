// From the state and what touches to the contact problem: velocities, contacts, limits, joints, first guesses, groups.
#include <math.h>

#include "base/memory.h"
#include "contact/solve/problem.h"
#include "step/dcr/dcr.h"

// Velocities of the state, with the kick to come.
static void load_velocities(carom_stepper *stepper, const carom_state *state, double kick) {
  carom_dcr *w = stepper->work;
  const carom_model *model = stepper->model;
  carom_gathering_begin(w->gathering, state->q);
  for (int i = 0; i < state->body_count; i++) {
    if (model->bodies[i].fixed) continue;
    carom_vec3 v = cm_axpy(carom_state_velocity(model, state, i), kick, w->free.a[i]);
    carom_vec3 spin = cm_axpy(carom_state_angular_velocity(model, state, i), kick, w->free.alpha[i]);
    carom_gathering_set_velocity(w->gathering, i, v, spin);
  }
  for (int i = 0; i < model->drive_count; i++) {
    int driven = model->drives[i].body;
    carom_vec3 v, spin;
    carom_model_motion(model, driven, w->free.time, w->free.span, &v, &spin);
    carom_gathering_set_velocity(w->gathering, driven, v, spin);
  }
}

// ---- contacts -----------------------------------------------------------------------------------------------------

static bool latch_waits(const carom_stepper *stepper, const carom_state *state, const carom_contact *c) {
  return carom_joints_find_latch(stepper->model, state, c->body_a, c->body_b, c->point_a) >= 0;
}

// Bodies that move together do not hit each other, whatever round-off says of their velocities.
static double round_off(const carom_dcr *w, const carom_contact *c) {
  const carom_vec3 *v = w->gathering->solution.velocities;
  return 1e-12 * fmax(cm_norm(v[c->body_a]), cm_norm(v[c->body_b]));
}

static bool hangs(const carom_dcr *w, const carom_state *state, const carom_contact *c) {
  double way = fmax(carom_dcr_moved(w, state, c->body_a), carom_dcr_moved(w, state, c->body_b));
  return c->gap <= CAROM_DCR_TOUCH * w->size + CAROM_DCR_HANG * way;
}

// Of the approach that still bounces: bodies that come down faster have an impact, though they stay. What rests comes
// down by what forces make in half a step, a quarter of it.
static const double LANDING = 0.5;

// In `rest` a contact that is not yet closed may close within the step, but no further; one that is being hit is not at
// rest. At the impact it parts by its restitution.
static carom_status take_contact(carom_stepper *stepper, const carom_state *state, const carom_dcr_solve *solve, int i,
                                 carom_error *error) {
  carom_dcr *w = stepper->work;
  const carom_contact *contact = &solve->contacts[i];
  double slow = fmax(carom_dcr_rest_speed(stepper, contact), round_off(w, contact));
  bool rest = solve->half == CAROM_DCR_REST;
  if (carom_joints_hold(stepper->model, state, contact->body_a, contact->body_b)) return CAROM_OK;
  if (rest && (contact->gap > slow * solve->dt || latch_waits(stepper, state, contact))) return CAROM_OK;
  if (!rest && !hangs(w, state, contact)) return CAROM_OK;
  carom_contact_point *c = carom_gathering_add_contact(w->gathering, contact, state->x);
  if (!c) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", solve->count);
  carom_vec3 before = carom_contact_slip(c, w->gathering->solution.velocities, w->gathering->solution.spins);
  double approach = cm_dot(before, c->normal);
  bool hit = approach < -slow;
  w->touches[w->gathering->contact_count - 1] = (carom_dcr_touch){.contact = i, .before = before, .slow = slow};
  c->bias = rest ? fmax(0, contact->gap) / solve->dt : hit ? contact->restitution * approach : 0;
  if (rest && hit) carom_gathering_drop_contact(w->gathering);
  if (approach < -LANDING * slow) carom_dcr_pair_of(w, contact->pair)->impact = true;
  return CAROM_OK;
}

// ---- limits and joints --------------------------------------------------------------------------------------------

// As carom_dcr_rest_speed, in the unit of the row: what the forces make of the velocity along it.
static double limit_rest_speed(const carom_stepper *stepper, const carom_joint_limit *limit) {
  const carom_dcr *w = stepper->work;
  double rate = 0;
  if (limit->restitution >= 1) return 0;
  for (int end = 0; end < 2; end++) {
    int body = limit->row.body[end];
    if (!carom_body_moves(stepper->model, body)) continue;
    carom_vec3 J = stepper->model->bodies[body].inertia;
    double gyration = sqrt(fmax(J.x, fmax(J.y, J.z)) / stepper->model->bodies[body].mass);
    double turning = gyration > 0 ? cm_norm(limit->row.angular[end]) / gyration : 0;
    rate += (cm_norm(limit->row.linear[end]) + turning) * w->free.unrest[body];
  }
  return stepper->options.step * rate;
}

static carom_status take_limit(carom_stepper *stepper, const carom_dcr_solve *solve, int i, carom_ledger *ledger,
                               carom_error *error) {
  carom_dcr *w = stepper->work;
  const carom_joint_limit *limit = &w->limits[i];
  double slow = limit_rest_speed(stepper, limit);
  bool rest = solve->half == CAROM_DCR_REST;
  if (rest && limit->gap > slow * solve->dt) return CAROM_OK;
  carom_contact_row *row = carom_gathering_add_limit(w->gathering, w->limits, i);
  if (!row) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the limits of joints");
  double before = carom_contact_rate(row, w->gathering->solution.velocities, w->gathering->solution.spins);
  bool hit = before < -slow;
  w->bars[w->gathering->row_count - 1] = (carom_dcr_bar){.before = before, .slow = slow};
  row->bias = rest ? fmax(0, limit->gap) / solve->dt : hit ? limit->restitution * before : 0;
  if (rest && hit) carom_gathering_drop_limit(w->gathering);
  if (!rest && hit) carom_ledger_collision(ledger);
  return CAROM_OK;
}

static carom_status take_limits(carom_stepper *stepper, const carom_state *state, const carom_dcr_solve *solve,
                                carom_ledger *ledger, carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_status status = CAROM_OK;
  if (w->limit_capacity == 0) return CAROM_OK;
  double reach = solve->half == CAROM_DCR_REST ? INFINITY : CAROM_DCR_TOUCH * w->size;
  int count = carom_joints_limits(stepper->model, state, reach, w->limits);
  for (int i = 0; i < count && status == CAROM_OK; i++) status = take_limit(stepper, solve, i, ledger, error);
  return status;
}

// Joints hold all bodies, but matter here only where something touches.
static carom_status take_joints(carom_stepper *stepper, const carom_state *state, carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_gathering *p = w->gathering;
  int first = p->row_count;
  if (p->contact_count + p->row_count == 0) return CAROM_OK;
  carom_status status = carom_gathering_add_joints(p, state, false, error);
  for (int i = first; i < p->row_count && status == CAROM_OK; i++)
    w->bars[i] = (carom_dcr_bar){.before = carom_contact_rate(&p->rows[i], p->solution.velocities, p->solution.spins)};
  return status;
}

// ---- first guesses ------------------------------------------------------------------------------------------------

static carom_vec3 local_point(const carom_state *state, const carom_contact *c) {
  return cm_unrotate(state->q[c->body_a], cm_sub(c->point_a, state->x[c->body_a]));
}

static int64_t key_of(const carom_stepper *stepper, const carom_contact *c) {
  return carom_memory_parts(stepper->model, c->part_a, c->part_b);
}

static double *force_along(const carom_dcr *w, int row) {
  const carom_row_source *s = &w->gathering->sources[row];
  if (s->kind == CAROM_ROW_JOINT) return carom_memory_joint_row(w->memory, s->joint, s->number);
  return carom_memory_stop(w->memory, s->joint, w->limits[s->number].turn, w->limits[s->number].upper);
}

// What lasts carries the same force in both halves; what joints carry of it, the smooth motion has settled by the
// second.
static void recall(carom_stepper *stepper, const carom_state *state, const carom_dcr_solve *solve) {
  carom_dcr *w = stepper->work;
  double time = 0.5 * solve->dt;
  for (int i = 0; i < w->gathering->contact_count; i++) {
    const carom_contact *c = &solve->contacts[w->touches[i].contact];
    carom_vec3 force;
    if (carom_memory_find(w->memory, c->body_a, key_of(stepper, c), local_point(state, c), &force))
      w->gathering->solution.impulses[i] = cm_scale(time, force);
  }
  for (int i = 0; i < w->gathering->row_count && solve->half == CAROM_DCR_REST; i++)
    w->gathering->solution.multipliers[i] = time * *force_along(w, i);
}

carom_status carom_dcr_keep(carom_stepper *stepper, const carom_state *state, const carom_dcr_solve *solve,
                            carom_error *error) {
  carom_dcr *w = stepper->work;
  double rate = 2 / solve->dt;
  carom_status status = CAROM_OK;
  carom_memory_begin(w->memory);
  for (int i = 0; i < w->gathering->contact_count && status == CAROM_OK; i++) {
    const carom_contact *c = &solve->contacts[w->touches[i].contact];
    carom_memory_record record = {key_of(stepper, c), local_point(state, c),
                                  cm_scale(rate, w->gathering->solution.impulses[i])};
    status = carom_memory_note(w->memory, c->body_a, &record, error);
  }
  if (status == CAROM_OK) status = carom_memory_end(w->memory, error);
  for (int i = 0; i < w->gathering->row_count; i++) *force_along(w, i) = rate * w->gathering->solution.multipliers[i];
  return status;
}

// ---- the problem --------------------------------------------------------------------------------------------------

static carom_status make_room(carom_stepper *stepper, int contacts, carom_error *error) {
  carom_dcr *w = stepper->work;
  int rows = w->limit_capacity + stepper->model->joint_count * CAROM_JOINT_ROWS;
  if (!carom_reserve(&w->allocator, (void **)&w->touches, &w->touch_capacity, contacts, sizeof *w->touches) ||
      !carom_reserve(&w->allocator, (void **)&w->bars, &w->bar_capacity, rows, sizeof *w->bars))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", contacts);
  return CAROM_OK;
}

// In `rest` velocities have the first half kick, which the state has not yet.
static void begin_books(carom_dcr *w, double kick) {
  for (int i = 0; i < w->gathering->contact_count; i++) {
    carom_vec3 rate = carom_contact_slip(&w->gathering->contacts[i], w->free.a, w->free.alpha);
    w->touches[i].from = cm_axpy(w->touches[i].before, -kick, rate);
  }
  for (int i = 0; i < w->gathering->row_count; i++) {
    double rate = carom_contact_rate(&w->gathering->rows[i], w->free.a, w->free.alpha);
    w->bars[i].from = w->bars[i].before - kick * rate;
  }
}

carom_status carom_dcr_gather(carom_stepper *stepper, const carom_state *state, const carom_dcr_solve *solve,
                              carom_ledger *ledger, carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_status status = make_room(stepper, solve->count, error);
  double kick = solve->half == CAROM_DCR_REST ? 0.5 * solve->dt : 0;
  load_velocities(stepper, state, kick);
  for (int i = 0; i < solve->count && status == CAROM_OK; i++) status = take_contact(stepper, state, solve, i, error);
  if (status == CAROM_OK) status = take_limits(stepper, state, solve, ledger, error);
  if (status == CAROM_OK) status = take_joints(stepper, state, error);
  if (status != CAROM_OK) return status;
  recall(stepper, state, solve);
  carom_contact_problem problem = carom_gathering_problem(w->gathering);
  status = carom_groups_split(w->groups, &problem, &w->gathering->solution, error);
  if (status == CAROM_OK) begin_books(w, kick);
  return status;
}
