// The problem of a step, u = u0 + W P with forces P along the rows of all items and
//
//     W = J E^-1 J',      u0 = J E^-1 f - surface + gap/h,
//
// and the step by what was found.
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "model/row.h"
#include "model/size.h"
#include "step/quasistatic/parts.h"

enum {
  TRIES_MAX = 8,      // with rows farther away
  PASSES_MAX = 1000,  // for the strains of dry supports
};
static const double STRAINS_MET = 1e-10;
// An overlap is pushed out within a step, but no faster than what pushes, or than this share of the body's size a step.
static const double PUSH_OUT = 1e-3;
static const double ROUND_OFF = 1e-7;  // residuals that pass when everybody has tried
static const double SLIPS = 1e-9;      // over the largest velocity: slower is none

// ---- the problem ----------------------------------------------------------------------------------------------------

static double size_of(const carom_quasi *s, const carom_quasi_item *item) {
  double a = carom_body_radius(&s->model->bodies[item->contact.body_a]);
  double b = carom_body_radius(&s->model->bodies[item->contact.body_b]);
  return b > 0 && !s->model->bodies[item->contact.body_b].fixed ? fmin(a, b) : a;
}

double carom_quasi_bias(const carom_quasi *s, const carom_quasi_item *item) {
  return fmax(item->contact.gap / s->h, -fmax(s->fastest, PUSH_OUT * size_of(s, item) / s->h));
}

static void fill_u0(carom_quasi *s) {
  for (int i = 0; i < s->count; i++) {
    const carom_quasi_item *item = &s->items[i];
    double *u0 = s->solver->whole.u0 + s->solver->whole.blocks[i].first;
    for (int k = 0; k <= item->tangents; k++)
      u0[k] = carom_row_rate(s->model, &item->row[k], s->free.v, s->free.w) - item->surface[k];
    u0[0] += carom_quasi_bias(s, item);
  }
}

static double coupling(const carom_row *row, int body, carom_vec3 v, carom_vec3 w) {
  double rate = 0;
  for (int end = 0; end < 2; end++)
    if (row->body[end] == body) rate += cm_dot(row->linear[end], v) + cm_dot(row->angular[end], w);
  return rate;
}

static void fill_column(carom_quasi *s, const carom_row *by, double *column) {
  for (int end = 0; end < 2; end++) {
    carom_vec3 v, w;
    int body = by->body[end];
    if (!carom_body_moves(s->model, body)) continue;
    carom_quasi_answer(s, body, by->linear[end], by->angular[end], &v, &w);
    for (int i = 0; i < s->count; i++)
      for (int k = 0; k <= s->items[i].tangents; k++)
        column[s->solver->whole.blocks[i].first + k] += coupling(&s->items[i].row[k], body, v, w);
  }
}

static void fill_W(carom_quasi *s) {
  carom_system *q = &s->solver->whole;
  memset(q->W, 0, (size_t)q->rows * (size_t)q->rows * sizeof *q->W);
  for (int i = 0; i < s->count; i++)
    for (int k = 0; k <= s->items[i].tangents; k++)
      fill_column(s, &s->items[i].row[k], q->W + (size_t)(q->blocks[i].first + k) * (size_t)q->rows);
}

carom_status carom_quasi_assemble(carom_quasi *s, carom_error *error) {
  int rows = 0;
  for (int i = 0; i < s->count; i++) rows += 1 + s->items[i].tangents;
  carom_status status = carom_solver_reserve(s->solver, s->count, rows, 0, error);
  if (status != CAROM_OK) return status;
  for (int i = 0, first = 0; i < s->count; first += s->solver->whole.blocks[i++].width)
    s->solver->whole.blocks[i] = (carom_block){.first = first, .width = 1 + s->items[i].tangents, .mu = s->items[i].mu};
  fill_W(s);
  fill_u0(s);
  return CAROM_OK;
}

// ---- what was found -------------------------------------------------------------------------------------------------

static void push_body(const carom_quasi *s, const carom_row *row, double force, const carom_twists *to) {
  for (int end = 0; end < 2; end++) {
    carom_vec3 v, w;
    int body = row->body[end];
    if (!carom_body_moves(s->model, body) || force == 0) continue;
    carom_quasi_answer(s, body, row->linear[end], row->angular[end], &v, &w);
    to->v[body] = cm_axpy(to->v[body], force, v);
    to->w[body] = cm_axpy(to->w[body], force, w);
  }
}

// Round-off in the forces of others may leave friction where next to nothing presses.
static void keep_in_cone(carom_quasi_item *item) {
  double across = hypot(item->impulse[1], item->impulse[2]), most = item->mu * fmax(item->impulse[0], 0);
  for (int k = 1; k < 3 && across > most; k++) item->impulse[k] *= most / across;
}

// By the branch of the law that impulse and rate are on.
static carom_contact_mode mode_of(const carom_quasi *s, const carom_quasi_item *item, int index, double scale) {
  const carom_system *q = &s->solver->whole;
  const carom_block *b = &q->blocks[index];
  double own = q->W[(size_t)b->first * ((size_t)q->rows + 1)], pressed = item->impulse[0] / s->h * own;
  double opening = item->rate[0] + carom_quasi_bias(s, item);
  if (pressed <= opening || pressed <= 0) return CAROM_MODE_OPEN;
  if (item->tangents == 0) return CAROM_MODE_FORWARD;
  if (hypot(item->rate[1], item->tangents > 1 ? item->rate[2] : 0) <= SLIPS * scale) return CAROM_MODE_STICK;
  return item->tangents > 1 || item->rate[1] > 0 ? CAROM_MODE_FORWARD : CAROM_MODE_BACKWARD;
}

static double largest_rate(const carom_quasi *s) {
  double most = s->fastest;
  for (int i = 0; i < s->solver->whole.rows; i++) most = fmax(most, fabs(s->solver->whole.u0[i]));
  return most;
}

void carom_quasi_apply(carom_quasi *s, const double *P, bool lawful) {
  size_t bytes = (size_t)s->model->body_count * sizeof(carom_vec3);
  memcpy(s->found.v, s->free.v, bytes);
  memcpy(s->found.w, s->free.w, bytes);
  for (int i = 0; i < s->count; i++) {
    carom_quasi_item *item = &s->items[i];
    memset(item->impulse, 0, sizeof item->impulse);
    for (int k = 0; k <= item->tangents; k++) item->impulse[k] = s->h * P[s->solver->whole.blocks[i].first + k];
    if (lawful) keep_in_cone(item);
    for (int k = 0; k <= item->tangents; k++) push_body(s, &item->row[k], item->impulse[k] / s->h, &s->found);
  }
  double scale = largest_rate(s);
  for (int i = 0; i < s->count; i++) {
    carom_quasi_item *item = &s->items[i];
    for (int k = 0; k <= carom_quasi_across(s); k++)
      item->rate[k] = carom_row_rate(s->model, &item->row[k], s->found.v, s->found.w) - item->surface[k];
    item->mode = mode_of(s, item, i, scale);
  }
}

bool carom_quasi_escaped(carom_quasi *s) {
  bool escaped = false;
  for (int i = 0; i < s->model->body_count; i++) {
    if (s->model->bodies[i].fixed) continue;
    double way = s->h * carom_quasi_speed(s, &s->found, i);
    if (way > s->reach[i] && isfinite(way)) s->reach[i] = 1.5 * way, escaped = true;
  }
  return escaped;
}

// ---- the solve ------------------------------------------------------------------------------------------------------

// One solve of the items at hand, with the strains at hand.
static carom_status run(carom_quasi *s, carom_quasi_outcome *outcome, carom_error *error) {
  carom_solver_choice choice = {.name = NULL};
  carom_solver_outcome found = {.solved = true};
  carom_status status = carom_quasi_assemble(s, error);
  if (status == CAROM_OK && s->count > 0) status = carom_solver_run(s->solver, &choice, &found, error);
  if (status != CAROM_OK) return status;
  outcome->solved = found.solved || found.residual <= ROUND_OFF;
  outcome->residual = found.residual;
  if (found.iterations > outcome->iterations) outcome->iterations = found.iterations;
  carom_quasi_apply(s, s->solver->whole.P, true);
  return CAROM_OK;
}

// Until the strains are those of the motion.
static carom_status settle(carom_quasi *s, carom_quasi_outcome *outcome, carom_error *error) {
  double off = 0;
  for (int i = 0; i < PASSES_MAX; i++) {
    carom_status status = run(s, outcome, error);
    if (status != CAROM_OK || !outcome->solved || !carom_quasi_has_dry(s)) return status;
    status = carom_quasi_strain(s, i, STRAINS_MET, &off, error);
    if (status != CAROM_OK || off <= STRAINS_MET) return status;
  }
  outcome->solved = false;
  outcome->residual = fmax(outcome->residual, off);
  return CAROM_OK;
}

carom_status carom_quasi_solve(carom_quasi *s, carom_quasi_outcome *outcome, carom_error *error) {
  *outcome = (carom_quasi_outcome){.solved = true};
  carom_status status = settle(s, outcome, error);
  for (int i = 1; i < TRIES_MAX && status == CAROM_OK && outcome->solved && carom_quasi_escaped(s); i++) {
    status = carom_quasi_collect(s, error);
    if (status == CAROM_OK) status = settle(s, outcome, error);
  }
  return status;
}

// ---- the step -------------------------------------------------------------------------------------------------------

void carom_quasi_move(carom_quasi *s, carom_state *state) {
  for (int i = 0; i < s->model->body_count; i++) {
    const carom_body *body = &s->model->bodies[i];
    if (body->fixed) continue;
    state->x[i] = cm_axpy(state->x[i], s->h, s->found.v[i]);
    state->q[i] = cm_qunit(cm_qmul(cm_exp(cm_scale(s->h, s->found.w[i])), state->q[i]));
    state->p[i] = cm_scale(body->mass, s->found.v[i]);
    state->l[i] = carom_body_spin_momentum(body, state->q[i], s->found.w[i]);
  }
}
