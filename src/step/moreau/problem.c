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

// Along row r of the problem; the unit impulses are zero before and after.
static void fill_column(carom_moreau *m, const carom_row *row, double *column) {
  carom_moreau_solver *s = &m->solver;
  carom_row_push(m->model, row, 1, m->unit.p, m->unit.l);
  carom_moreau_respond(&m->motion, &m->unit, &m->response);
  carom_row_push(m->model, row, -1, m->unit.p, m->unit.l);
  for (int i = 0; i < s->count; i++)
    for (int k = 0; k <= m->items.list[i].tangents; k++)
      column[s->start[i] + k] =
          m->motion.alpha * carom_row_rate(m->model, &m->items.list[i].row[k], m->response.v, m->response.w);
}

static void fill_W_with_joints(carom_moreau *m) {
  carom_moreau_solver *s = &m->solver;
  for (int j = 0; j < s->count; j++)
    for (int k = 0; k <= m->items.list[j].tangents; k++)
      fill_column(m, &m->items.list[j].row[k], s->W + (size_t)(s->start[j] + k) * (size_t)s->rows);
}

static void sort_by_body(carom_moreau *m) {
  carom_moreau_items *items = &m->items;
  int bodies = m->model->body_count;
  memset(items->at_body, 0, (size_t)(bodies + 2) * sizeof *items->at_body);
  for (int i = 0; i < items->count; i++)
    for (int end = 0; end < 2; end++) {
      int body = items->list[i].row[0].body[end];
      if (carom_body_moves(m->model, body)) items->at_body[body + 2]++;
    }
  for (int i = 0; i < bodies; i++) items->at_body[i + 2] += items->at_body[i + 1];
  for (int i = 0; i < items->count; i++)
    for (int end = 0; end < 2; end++) {
      int body = items->list[i].row[0].body[end];
      if (carom_body_moves(m->model, body)) items->at_item[items->at_body[body + 1]++] = i;
    }
}

// What impulses of 1 along the rows of an item do to one of its bodies, times alpha.
typedef struct kick {
  int body, item;
  carom_vec3 v[3], w[3];
} kick;

// W(i, kick's item) += rows of item i, which acts on the body by its end, times the kick.
static void add_block(carom_moreau *m, int i, int end, const kick *by) {
  carom_moreau_solver *s = &m->solver;
  const carom_moreau_item *a = &m->items.list[i];
  for (int l = 0; l <= m->items.list[by->item].tangents; l++) {
    double *column = s->W + (size_t)s->start[i] + (size_t)(s->start[by->item] + l) * (size_t)s->rows;
    for (int k = 0; k <= a->tangents; k++)
      column[k] += cm_dot(a->row[k].linear[end], by->v[l]) + cm_dot(a->row[k].angular[end], by->w[l]);
  }
}

// All that item j does through an end of it.
static void add_item_at(carom_moreau *m, int j, int end) {
  const carom_moreau_item *item = &m->items.list[j];
  kick own = {.body = item->row[0].body[end], .item = j};
  if (!carom_body_moves(m->model, own.body)) return;
  for (int l = 0; l <= item->tangents; l++) {
    double alpha = m->motion.alpha;
    own.v[l] = cm_scale(alpha * m->model->bodies[own.body].inverse_mass, item->row[l].linear[end]);
    own.w[l] = cm_scale(alpha, cm_mulv(m->motion.inverse_rotation[own.body], item->row[l].angular[end]));
  }
  for (int p = m->items.at_body[own.body]; p < m->items.at_body[own.body + 1]; p++) {
    int i = m->items.at_item[p];
    for (int e = 0; e < 2; e++)
      if (m->items.list[i].row[0].body[e] == own.body) add_block(m, i, e, &own);
  }
}

static void fill_W(carom_moreau *m) {
  carom_moreau_solver *s = &m->solver;
  if (m->motion.joints.system) {
    fill_W_with_joints(m);
    return;
  }
  memset(s->W, 0, (size_t)s->rows * (size_t)s->rows * sizeof *s->W);
  sort_by_body(m);
  for (int j = 0; j < s->count; j++)
    for (int end = 0; end < 2; end++) add_item_at(m, j, end);
}

static void fill_u0(carom_moreau *m) {
  const carom_moreau_motion *motion = &m->motion;
  for (int i = 0; i < m->items.count; i++) {
    const carom_moreau_item *item = &m->items.list[i];
    double *u0 = m->solver.u0 + m->solver.start[i];
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

static void guess(carom_moreau *m) {
  double h = m->motion.h;
  for (int i = 0; i < m->items.count && h > 0; i++) {
    const carom_moreau_item *item = &m->items.list[i];
    double *P = m->solver.P + m->solver.start[i];
    carom_vec3 force = cm_zero3();
    if (item->kind == CAROM_MOREAU_LIMIT) {
      P[0] = h * *force_of_limit(m, item);
      continue;
    }
    int64_t key = carom_memory_parts(m->model, item->contact.part_a, item->contact.part_b);
    carom_memory_find(m->memory, item->row[0].body[0], key, seen_from_a(m, item), &force);
    for (int k = 0; k <= item->tangents; k++) P[k] = h * cm_dot(item->row[k].linear[0], force);
  }
}

static carom_status note_contact(carom_moreau *m, const carom_moreau_item *item, carom_error *error) {
  carom_memory_record record = {.key = carom_memory_parts(m->model, item->contact.part_a, item->contact.part_b),
                                .point = seen_from_a(m, item)};
  for (int k = 0; k <= item->tangents; k++)
    record.force = cm_axpy(record.force, item->impulse[k] / m->motion.h, item->row[k].linear[0]);
  return carom_memory_note(m->memory, item->row[0].body[0], &record, error);
}

carom_status carom_moreau_note_forces(carom_moreau *m, carom_error *error) {
  carom_status status = CAROM_OK;
  carom_memory_clear(m->memory);
  carom_memory_begin(m->memory);
  for (int i = 0; i < m->items.count && status == CAROM_OK; i++) {
    const carom_moreau_item *item = &m->items.list[i];
    if (item->kind == CAROM_MOREAU_LIMIT)
      *force_of_limit(m, item) = item->impulse[0] / m->motion.h;
    else
      status = note_contact(m, item, error);
  }
  return status == CAROM_OK ? carom_memory_end(m->memory, error) : status;
}

// ---- the solve ------------------------------------------------------------------------------------------------------

static carom_status reserve(carom_moreau *m, carom_error *error) {
  carom_moreau_solver *s = &m->solver;
  carom_moreau_items *items = &m->items;
  if (!carom_reserve(&m->allocator, (void **)&items->at_item, &items->at_capacity, 2 * items->count,
                     sizeof *items->at_item))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the %d contacts of a step", items->count);
  carom_status status = carom_moreau_solver_reserve_blocks(s, items->count, error);
  if (status != CAROM_OK) return status;
  s->start[0] = 0;
  for (int i = 0; i < items->count; i++) {
    s->mu[i] = items->list[i].mu;
    s->start[i + 1] = s->start[i] + 1 + items->list[i].tangents;
  }
  return carom_moreau_solver_reserve_rows(s, error);
}

// Who could not agree: bodies, or the joint whose limit it is.
static carom_status not_solved(const carom_moreau *m, const carom_moreau_outcome *o, carom_error *error) {
  const carom_moreau_item *item = &m->items.list[o->worst];
  bool limit = item->kind == CAROM_MOREAU_LIMIT;
  int b = item->row[0].body[1];
  const char *first = limit ? m->model->joints[item->limit.joint].name : m->model->bodies[item->row[0].body[0]].name;
  const char *second = limit ? "its limit" : b == CAROM_WORLD ? "the world" : m->model->bodies[b].name;
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "the contact problem of %d contacts at t = %.9g s was not solved (relative residual %.2g after %d "
                    "iterations of %s, the worst between '%s' and '%s'): use a smaller step or another solver",
                    m->items.count, m->motion.time + m->motion.h, o->residual, o->iterations, o->method, first, second);
}

// v' with the impulses of all items.
static void apply(carom_moreau *m) {
  carom_moreau_motion *motion = &m->motion;
  for (int i = 0; i < m->items.count; i++) {
    carom_moreau_item *item = &m->items.list[i];
    for (int k = 0; k <= item->tangents; k++) {
      item->impulse[k] = m->solver.P[m->solver.start[i] + k];
      carom_row_push(m->model, &item->row[k], item->impulse[k], motion->b.p, motion->b.l);
    }
  }
  carom_moreau_new_velocity(motion);
}

carom_status carom_moreau_solve(carom_moreau *m, carom_ledger *ledger, carom_error *error) {
  carom_moreau_outcome outcome = {.solved = true};
  carom_status status = reserve(m, error);
  if (status != CAROM_OK) return status;
  if (m->items.count > 0) {
    fill_W(m);
    fill_u0(m);
    guess(m);
    status = carom_moreau_solver_run(&m->solver, m->motion.time + m->motion.h, &outcome, error);
  }
  if (status != CAROM_OK) return status;
  carom_ledger_note_solve(ledger, outcome.iterations, 0);
  carom_ledger_note_complementarity(ledger, outcome.residual, 0);
  if (!outcome.solved) return not_solved(m, &outcome, error);
  apply(m);
  return CAROM_OK;
}
