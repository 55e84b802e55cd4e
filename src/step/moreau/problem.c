// The contact problem of a step along the rows of all items, with velocities and joints eliminated:
//
//     u = u0 + W P,      W = alpha J S J',      u0 = alpha J v_free + (1 - alpha) J v - surface + bias,
//
// and the forces of the last step to begin from: what rests has the same ones for ever.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "step/moreau/moreau.h"

// ---- W = alpha J S J' -----------------------------------------------------------------------------------------------

static carom_status answer(void *context, const carom_vec3 *p, const carom_vec3 *l, carom_twists *twists,
                           carom_error *error) {
  (void)error;
  carom_moreau_respond(context, p, l, NULL, twists);
  return CAROM_OK;
}

static carom_status fill_W(carom_moreau *m, carom_error *error) {
  carom_system *s = &m->solver->whole;
  carom_response response = {&m->motion, answer};
  for (int i = 0; i < m->items.count; i++)
    memcpy(m->items.rows + s->blocks[i].first, m->items.list[i].row, (size_t)s->blocks[i].width * sizeof(carom_row));
  carom_status status =
      m->motion.joints.system || m->motion.springs.count > 0
          ? carom_assemble_by(m->assembly, m->items.rows, s->rows, &response, s->W, error)
          : carom_assemble(m->assembly, m->items.rows, s->rows, m->motion.inverse_rotation, s->W, error);
  for (size_t k = 0; k < (size_t)s->rows * (size_t)s->rows && m->motion.alpha != 1; k++) s->W[k] *= m->motion.alpha;
  return status;
}

static carom_lever lever_of(const carom_moreau *m, const carom_row *row) {
  carom_lever lever = {.body = {-1, -1}};
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (!carom_body_moves(m->model, body)) continue;
    carom_vec3 v = cm_scale(m->motion.alpha * m->model->bodies[body].inverse_mass, row->linear[end]);
    carom_vec3 w = cm_scale(m->motion.alpha, cm_mulv(m->motion.inverse_rotation[body], row->angular[end]));
    lever.body[end] = m->number[body];
    lever.own += cm_dot(v, row->linear[end]) + cm_dot(w, row->angular[end]);
    memcpy(lever.J[end], &row->linear[end], sizeof row->linear[end]);
    memcpy(lever.J[end] + 3, &row->angular[end], sizeof row->angular[end]);
    memcpy(lever.SJ[end], &v, sizeof v);
    memcpy(lever.SJ[end] + 3, &w, sizeof w);
  }
  return lever;
}

static void fill_levers(carom_moreau *m) {
  carom_system *s = &m->solver->whole;
  for (int r = 0; r < s->rows && s->bodies > 0; r++) s->levers[r] = lever_of(m, &m->items.rows[r]);
}

static void fill_u0(carom_moreau *m) {
  const carom_moreau_motion *motion = &m->motion;
  for (int i = 0; i < m->items.count; i++) {
    const carom_moreau_item *item = &m->items.list[i];
    double *u0 = m->solver->whole.u0 + m->solver->whole.blocks[i].first;
    for (int k = 0; k <= item->tangents; k++) {
      double free = carom_row_rate(m->model, &item->row[k], motion->v_free.v, motion->v_free.w);
      u0[k] = motion->alpha * free + (1 - motion->alpha) * item->before[k] - item->surface[k];
    }
    u0[0] += item->bias;
  }
}

// ---- from one step to the next --------------------------------------------------------------------------------------

static carom_vec3 seen_from_a(const carom_moreau *m, const carom_moreau_item *item) {
  int a = item->row[0].body[0];
  return cm_unrotate(m->motion.star->q[a], cm_sub(item->contact.point, m->motion.star->x[a]));
}

static double *force_of_limit(const carom_moreau *m, const carom_moreau_item *item) {
  return carom_memory_stop(m->memory, item->limit.joint, item->limit.turn, item->limit.upper);
}

// A problem that is solved again begins from its last solution.
static void guess(carom_moreau *m) {
  double kick = m->motion.kick;
  for (int i = 0; i < m->items.count; i++) {
    const carom_moreau_item *item = &m->items.list[i];
    double *P = m->solver->whole.P + m->solver->whole.blocks[i].first;
    carom_vec3 force = cm_zero3();
    if (item->solved) memcpy(P, item->impulse, (size_t)(1 + item->tangents) * sizeof *P);
    if (item->solved || kick == 0) continue;
    if (item->kind == CAROM_MOREAU_LIMIT) {
      P[0] = kick * *force_of_limit(m, item);
      continue;
    }
    int64_t key = carom_memory_parts(m->model, item->contact.part_a, item->contact.part_b);
    carom_memory_find(m->memory, item->row[0].body[0], key, seen_from_a(m, item), &force);
    for (int k = 0; k <= item->tangents; k++) P[k] = kick * cm_dot(item->row[k].linear[0], force);
  }
}

static carom_status note_contact(carom_moreau *m, const carom_moreau_item *item, carom_error *error) {
  carom_memory_record record = {.key = carom_memory_parts(m->model, item->contact.part_a, item->contact.part_b),
                                .point = seen_from_a(m, item)};
  for (int k = 0; k <= item->tangents; k++)
    record.force = cm_axpy(record.force, item->impulse[k] / m->motion.kick, item->row[k].linear[0]);
  return carom_memory_note(m->memory, item->row[0].body[0], &record, error);
}

carom_status carom_moreau_note_forces(carom_moreau *m, carom_error *error) {
  carom_status status = CAROM_OK;
  carom_memory_clear(m->memory);
  carom_memory_begin(m->memory);
  for (int i = 0; i < m->items.count && status == CAROM_OK; i++) {
    const carom_moreau_item *item = &m->items.list[i];
    if (item->kind == CAROM_MOREAU_LIMIT)
      *force_of_limit(m, item) = item->impulse[0] / m->motion.kick;
    else
      status = note_contact(m, item, error);
  }
  return status == CAROM_OK ? carom_memory_end(m->memory, error) : status;
}

// ---- the solve ------------------------------------------------------------------------------------------------------

// Without a wish friction is in Coulomb's cone; where that is not solved, in a polygon of this many corners.
enum { MANY_CORNERS = 8 };

// Numbers the bodies of all items in their own order, so that neighbours stay so; how many. None where joints or
// springs couple them.
static int number_bodies(carom_moreau *m) {
  int count = 0;
  if (m->motion.joints.system || m->motion.springs.count > 0) return 0;
  memset(m->number, 0, (size_t)m->model->body_count * sizeof *m->number);
  for (int i = 0; i < 2 * m->items.count; i++) {
    int body = m->items.list[i / 2].row[0].body[i % 2];
    if (carom_body_moves(m->model, body)) m->number[body] = 1;
  }
  for (int i = 0; i < m->model->body_count; i++) m->number[i] = m->number[i] ? count++ : -1;
  return count;
}

static carom_status reserve(carom_moreau *m, carom_error *error) {
  carom_moreau_items *items = &m->items;
  int rows = 0, o = m->options->friction_directions;
  for (int i = 0; i < items->count; i++) rows += 1 + items->list[i].tangents;
  if (!carom_reserve(&m->allocator, (void **)&items->rows, &items->row_capacity, rows, sizeof *items->rows))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the %d contacts of a step", items->count);
  carom_status status = carom_solver_reserve(m->solver, items->count, rows, number_bodies(m), error);
  for (int i = 0, first = 0; i < items->count && status == CAROM_OK; first += m->solver->whole.blocks[i++].width)
    m->solver->whole.blocks[i] = (carom_block){
        .first = first, .width = 1 + items->list[i].tangents, .mu = items->list[i].mu, .corners = o > 0 ? o : 0};
  return status;
}

// Who could not agree: bodies, or the joint whose limit it is.
static carom_status not_solved(const carom_moreau *m, const carom_solver_outcome *o, carom_error *error) {
  const carom_moreau_item *item = &m->items.list[o->worst];
  bool limit = item->kind == CAROM_MOREAU_LIMIT;
  const char *first =
      limit ? m->model->joints[item->limit.joint].name : carom_body_name(m->model, item->row[0].body[0]);
  const char *second = limit ? "its limit" : carom_body_name(m->model, item->row[0].body[1]);
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "the contact problem of %d contacts at t = %.9g s was not solved (relative residual %.2g after %d "
                    "iterations of %s, the worst between '%s' and '%s'): use a smaller step or another solver",
                    m->items.count, m->motion.time + m->motion.h, o->residual, o->iterations, o->method, first, second);
}

// Round-off in the impulses of others may leave friction where next to nothing presses.
static void keep_in_cone(carom_moreau_item *item) {
  double across = hypot(item->impulse[1], item->tangents > 1 ? item->impulse[2] : 0),
         most = item->mu * item->impulse[0];
  for (int k = 1; k <= item->tangents && across > most; k++) item->impulse[k] *= fmax(most, 0) / across;
}

// v' with the impulses of all items.
static void apply(carom_moreau *m) {
  carom_moreau_motion *motion = &m->motion;
  for (int i = 0; i < m->items.count; i++) {
    carom_moreau_item *item = &m->items.list[i];
    const double *P = m->solver->whole.P + m->solver->whole.blocks[i].first;
    item->solved = true;
    memcpy(item->impulse, P, (size_t)(1 + item->tangents) * sizeof *P);
    if (item->tangents > 0) keep_in_cone(item);
    for (int k = 0; k <= item->tangents; k++)
      carom_row_push(m->model, &item->row[k], item->impulse[k], motion->b.p, motion->b.l);
  }
  carom_moreau_new_velocity(motion);
}

static void show(void *context, const carom_lcp_problem *linear, const carom_friction_problem *friction) {
  const carom_moreau *m = context;
  double time = m->motion.time + m->motion.h;
  m->options->problem_sink(m->options->sink_context, &(carom_shown_problem){time, linear, friction});
}

static carom_solver_choice choice_of(const carom_moreau *m, double still) {
  const carom_step_options *o = m->options;
  return (carom_solver_choice){.name = o->solver,
                               .tolerance = o->solver_tolerance,
                               .iterations = o->solver_iterations,
                               .still = still,
                               .sink = o->problem_sink ? show : NULL,
                               .sink_context = (void *)(uintptr_t)m};
}

// Round-off in problems with large mass ratios is no reason to give up: such residuals pass when everybody has
// tried and nobody was asked for by name, and are reported.
static const double ROUND_OFF = 1e-7;

static carom_status run(carom_moreau *m, double still, carom_solver_outcome *outcome, carom_error *error) {
  carom_solver_choice choice = choice_of(m, still);
  carom_status status = fill_W(m, error);
  if (status != CAROM_OK) return status;
  fill_levers(m);
  fill_u0(m);
  guess(m);
  status = carom_solver_run(m->solver, &choice, outcome, error);
  bool asked = m->options->solver || m->options->solver_tolerance > 0;
  double enough = asked ? 0 : ROUND_OFF;
  outcome->solved = outcome->solved || outcome->residual <= enough;
  if (status != CAROM_OK || outcome->solved || m->options->friction_directions >= 0) return status;
  for (int i = 0; i < m->items.count; i++) m->solver->whole.blocks[i].corners = MANY_CORNERS;
  guess(m);
  status = carom_solver_run(m->solver, &choice, outcome, error);
  outcome->solved = outcome->solved || outcome->residual <= enough;
  return status;
}

carom_status carom_moreau_solve(carom_moreau *m, double still, carom_ledger *ledger, carom_error *error) {
  carom_solver_outcome outcome = {.solved = true};
  carom_status status = reserve(m, error);
  if (status == CAROM_OK && m->items.count > 0) status = run(m, still, &outcome, error);
  if (status != CAROM_OK) return status;
  carom_ledger_note_solve(ledger, outcome.iterations, 0);
  carom_ledger_note_complementarity(ledger, outcome.residual, 0);
  if (!outcome.solved) return not_solved(m, &outcome, error);
  apply(m);
  return CAROM_OK;
}
