// Springs and dampers by the mean of a piece: with d the line from the second end to the first and L its length at the
// start, d' and L' at the end,
//
//     force = -tension (d + d') / (L + L'),      tension = k (s + s')/2 + c (s' - s)/h,      s = L - rest length,
//
// for half of the piece on the ends where they are at the start, for the other half where they are at its end. It works
// by what the potential changes by, and the moments of the two halves add up to nothing: the energy-momentum method
// (Simo and Tarnow 1992; Gonzalez 1996), on a straight line the implicit midpoint rule, bounded however stiff springs
// are. Along the line the impulse is linear in the velocity v to be found, s' = s + h row.v + lag: M~ = M + J' coupling
// J, coupling = h/2 (k h/2 + c). The direction of the rows and `lag`, what turning ends add, are met as joints are, by
// solving again.
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "model/model.h"
#include "step/moreau/motion.h"

static const double MET = 1e-13;       // over the length: changes of the lag that are none
static const double MET_TURN = 1e-12;  // rad: changes of the direction that are none

void carom_moreau_springs_push(carom_moreau_springs *s, carom_arena *arena, const carom_model *model) {
  int n = model->spring_count <= CAROM_MOREAU_SPRINGS_MAX ? model->spring_count : 0;
  double **const lists[] = {&s->stretch, &s->lag, &s->coupling, &s->tension, &s->rate, &s->u};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) *lists[i] = CAROM_PUSH(arena, double, n);
  s->row = CAROM_PUSH(arena, carom_row, n);
  s->direction = CAROM_PUSH(arena, carom_vec3, n);
  s->LU = CAROM_PUSH(arena, double, n *n);
  s->swaps = CAROM_PUSH(arena, int, n);
  s->answer = CAROM_PUSH(arena, carom_twists, n);
  for (int i = 0; i < n; i++) {
    carom_vec3 *v = CAROM_PUSH(arena, carom_vec3, model->body_count),
               *w = CAROM_PUSH(arena, carom_vec3, model->body_count);
    if (s->answer) s->answer[i] = (carom_twists){v, w};
  }
}

// ---- the line -------------------------------------------------------------------------------------------------------

static carom_vec3 line_at(const carom_spring *spring, const carom_state *state) {
  return cm_sub(carom_state_point(state, spring->body[0], spring->point[0]),
                carom_state_point(state, spring->body[1], spring->point[1]));
}

// (d + d') / (L + L'); without a length it pulls nowhere.
static carom_vec3 mean_direction(carom_vec3 d, carom_vec3 later) {
  double length = cm_norm(d) + cm_norm(later);
  return length > 0 ? cm_scale(1 / length, cm_add(d, later)) : cm_zero3();
}

// Along a direction, on the ends where they are at q*.
static carom_row row_along(const carom_moreau_motion *m, const carom_spring *spring, carom_vec3 direction) {
  carom_row row = {.body = {spring->body[0], spring->body[1]}};
  for (int k = 0; k < 2; k++) {
    carom_vec3 end = carom_state_point(m->star, spring->body[k], spring->point[k]);
    row.linear[k] = k == 0 ? direction : cm_neg(direction);
    if (row.body[k] != CAROM_WORLD) row.angular[k] = cm_cross(cm_sub(end, m->star->x[row.body[k]]), row.linear[k]);
  }
  return row;
}

// d' as the velocities of the start have it.
static carom_vec3 line_ahead(const carom_moreau_motion *m, const carom_spring *spring, carom_vec3 d) {
  const carom_vec3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int k = 0; k < 3; k++) {
    carom_row row = row_along(m, spring, axis[k]);
    d = cm_axpy(d, m->h * carom_row_rate(m->model, &row, m->v.v, m->v.w), axis[k]);
  }
  return d;
}

// ---- the solve ------------------------------------------------------------------------------------------------------

// The tension without what the velocity to be found adds to it.
static double fixed_tension(const carom_spring *spring, double stretch, double lag, double h) {
  return spring->stiffness * (stretch + 0.5 * lag) + spring->damping * lag / h;
}

void carom_moreau_springs_begin(carom_moreau_motion *m) {
  carom_moreau_springs *s = &m->springs;
  for (int i = 0; i < s->count; i++) {
    const carom_spring *spring = &m->model->springs[i];
    carom_vec3 d = line_at(spring, m->star);
    if (m->h > 0) s->direction[i] = mean_direction(d, line_ahead(m, spring, d));
    s->row[i] = row_along(m, spring, s->direction[i]);
    s->stretch[i] = cm_norm(d) - spring->rest_length;
    s->lag[i] = 0;
    s->coupling[i] = m->kick * (0.5 * m->h * spring->stiffness + (m->h > 0 ? spring->damping : 0));
    double tension = m->h > 0 ? fixed_tension(spring, s->stretch[i], 0, m->h) : s->tension[i];
    carom_row_push(m->model, &s->row[i], -m->kick * tension, m->b_free.p, m->b_free.l);
  }
}

carom_status carom_moreau_springs_couple(carom_moreau_motion *m, carom_error *error) {
  carom_moreau_springs *s = &m->springs;
  for (int j = 0; j < s->count; j++)
    for (int i = 0; i < s->count; i++) {
      double response = carom_row_rate(m->model, &s->row[i], s->answer[j].v, s->answer[j].w);
      s->LU[i + j * s->count] = (i == j) + response * s->coupling[j];
    }
  if (carom_small_lu(s->count, s->LU, s->count, s->swaps) == CAROM_OK) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_SINGULAR, "the springs at t = %.9g s are too stiff: use a smaller step", m->time);
}

static void find_rates(carom_moreau_motion *m, const carom_twists *z) {
  carom_moreau_springs *s = &m->springs;
  for (int i = 0; i < s->count; i++) s->u[i] = carom_row_rate(m->model, &s->row[i], z->v, z->w);
  carom_small_lu_solve(s->count, s->LU, s->count, s->swaps, s->u);
}

void carom_moreau_springs_answer(carom_moreau_motion *m, const carom_twists *z) {
  const carom_moreau_springs *s = &m->springs;
  find_rates(m, z);
  for (int i = 0; i < s->count; i++)
    for (int b = 0; b < m->model->body_count && s->coupling[i] > 0; b++) {
      if (m->model->bodies[b].fixed) continue;
      z->v[b] = cm_axpy(z->v[b], -s->coupling[i] * s->u[i], s->answer[i].v[b]);
      z->w[b] = cm_axpy(z->w[b], -s->coupling[i] * s->u[i], s->answer[i].w[b]);
    }
}

void carom_moreau_springs_push_back(carom_moreau_motion *m, const carom_twists *z) {
  carom_moreau_springs *s = &m->springs;
  if (m->h == 0) return;
  find_rates(m, z);
  for (int i = 0; i < s->count; i++) {
    const carom_spring *spring = &m->model->springs[i];
    carom_row_push(m->model, &s->row[i], -s->coupling[i] * s->u[i], m->b.p, m->b.l);
    s->rate[i] = s->u[i] + s->lag[i] / m->h;
    s->tension[i] = fixed_tension(spring, s->stretch[i], s->lag[i], m->h) +
                    (0.5 * m->h * spring->stiffness + spring->damping) * s->u[i];
  }
}

// Takes the old row's share of the tension out of b_free, and puts the new one's in.
static void turn_row(carom_moreau_motion *m, int i, const carom_row *row, double lag) {
  carom_moreau_springs *s = &m->springs;
  const carom_spring *spring = &m->model->springs[i];
  double old = fixed_tension(spring, s->stretch[i], s->lag[i], m->h);
  double now = fixed_tension(spring, s->stretch[i], lag, m->h);
  carom_row_push(m->model, &s->row[i], m->kick * old, m->b_free.p, m->b_free.l);
  carom_row_push(m->model, row, -m->kick * now, m->b_free.p, m->b_free.l);
  s->row[i] = *row;
  s->direction[i] = row->linear[0];
  s->lag[i] = lag;
}

bool carom_moreau_springs_met(carom_moreau_motion *m, const carom_state *end) {
  carom_moreau_springs *s = &m->springs;
  bool met = true;
  for (int i = 0; i < s->count; i++) {
    const carom_spring *spring = &m->model->springs[i];
    carom_vec3 d = line_at(spring, m->star), later = line_at(spring, end);
    carom_row row = row_along(m, spring, mean_direction(d, later));
    double length = cm_norm(d) + cm_norm(later), grown = cm_norm(later) - cm_norm(d);
    double lag = grown - m->h * carom_row_rate(m->model, &row, m->v_new.v, m->v_new.w);
    double turn = cm_norm(cm_sub(row.linear[0], s->direction[i]));
    if (turn <= MET_TURN && fabs(lag - s->lag[i]) <= MET * length) continue;
    met = false;
    turn_row(m, i, &row, lag);
  }
  return met;
}

// ---- books ----------------------------------------------------------------------------------------------------------

// How far the end that a drive moves got along the line in the piece.
static double driven_way(const carom_moreau_motion *m, int i) {
  const carom_spring *spring = &m->model->springs[i];
  double way = 0;
  for (int end = 0; end < 2 && m->h > 0; end++) {
    int body = spring->body[end];
    carom_vec3 v, w;
    if (body == CAROM_WORLD || !m->model->bodies[body].fixed) continue;
    carom_model_motion(m->model, body, m->time, m->h, &v, &w);
    way += m->h * (cm_dot(m->springs.row[i].linear[end], v) + cm_dot(m->springs.row[i].angular[end], w));
  }
  return way;
}

// Springs have a potential; dampers take what their share of the impulse does, drives that pull at them give.
void carom_moreau_springs_book(const carom_moreau_motion *m, carom_ledger *ledger) {
  const carom_moreau_springs *s = &m->springs;
  for (int i = 0; i < s->count; i++) {
    double before = carom_row_rate(m->model, &s->row[i], m->v.v, m->v.w);
    double after = carom_row_rate(m->model, &s->row[i], m->v_new.v, m->v_new.w);
    double damping = m->kick * m->model->springs[i].damping * s->rate[i];
    carom_ledger_row(ledger, &s->row[i], -m->kick * s->tension[i], m->star->x);
    carom_ledger_work(ledger, -damping * 0.5 * (before + after));
    if (m->model->drive_count > 0) carom_ledger_work(ledger, s->tension[i] * driven_way(m, i));
  }
}
