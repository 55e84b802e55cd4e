// Joints, motors and stops as rows of the program.
//
// A joint's equations g(x, t) = 0 are asked of the end of the step: row.V = -g(x, t + h) / h to first order, with the
// bodies where they are at the start. What the turning of the bodies within the step leaves of g at its end is put on
// the right-hand side and the program is solved on (as in SHAKE, Ryckaert et al. 1977), so that joints do not drift.
// Prescribed motors are among the equations; stops are rows with gap / h and multipliers >= 0.
#include <math.h>
#include <string.h>

#include "base/tape.h"
#include "model/joints.h"
#include "step/cone/cone.h"

enum { ROWS = CAROM_JOINT_ROWS, STOPS = 4 };  // stops of a joint: both ends of slide and turn

void carom_cone_joints_push(carom_cone *cone, carom_arena *arena) {
  carom_cone_joints *j = &cone->joints;
  int joints = cone->model->joint_count, stops = carom_joints_limit_capacity(cone->model), rows = joints * ROWS;
  j->theta = CAROM_PUSH(arena, double, rows);
  j->equations = CAROM_PUSH(arena, carom_row, rows);
  j->kept = CAROM_PUSH(arena, double, joints *(ROWS + STOPS));
  j->stops = CAROM_PUSH(arena, carom_joint_limit, stops);
  j->rows = CAROM_PUSH(arena, carom_qp_row, rows + stops);
  j->multipliers = CAROM_PUSH(arena, double, rows + stops);
  j->place = CAROM_PUSH(arena, int, rows + stops);
}

// ---- rows -----------------------------------------------------------------------------------------------------------

static int program_body(const carom_cone *cone, int body) {
  return body == CAROM_WORLD || cone->rank[body] < 0 ? CAROM_QP_WORLD : cone->rank[body];
}

static void put_jacobian(const carom_row *row, int end, double out[6]) {
  carom_vec3 f = row->linear[end], t = row->angular[end];
  const double entries[6] = {f.x, f.y, f.z, t.x, t.y, t.z};
  memcpy(out, entries, sizeof entries);
}

// `place` says where the multiplier is kept between steps.
static void add_row(carom_cone *cone, const carom_row *row, double bias, double lower, int place) {
  carom_cone_joints *j = &cone->joints;
  carom_qp_row *r = &j->rows[j->count];
  *r = (carom_qp_row){.a = program_body(cone, row->body[0]),
                      .b = program_body(cone, row->body[1]),
                      .bias = bias,
                      .lower = lower,
                      .upper = INFINITY};
  put_jacobian(row, 0, r->jacobian_a);
  put_jacobian(row, 1, r->jacobian_b);
  j->multipliers[j->count] = j->kept[place];
  j->place[j->count++] = place;
}

static void touch(carom_cone *cone, const carom_joint *joint) {
  for (int end = 0; end < 2; end++)
    if (joint->body[end] != CAROM_WORLD) cone->touches[joint->body[end]] = true;
}

static void add_equations(carom_cone *cone, const carom_state *state, int joint, double h, double end) {
  const carom_joint *def = &cone->model->joints[joint];
  carom_cone_joints *j = &cone->joints;
  double *theta = j->theta + joint * ROWS;
  carom_row *rows = j->equations + joint * ROWS;
  carom_joint_equations(cone->model, def, &state->joints[joint], state, end, theta, rows);
  for (int i = 0; i < carom_joint_row_count(def); i++)
    add_row(cone, &rows[i], theta[i] / h, -INFINITY, joint * (ROWS + STOPS) + i);
}

static void add_stops(carom_cone *cone, const carom_state *state, double h) {
  carom_cone_joints *j = &cone->joints;
  j->stop_count = carom_joints_limits(cone->model, state, INFINITY, j->stops);
  for (int i = 0; i < j->stop_count; i++) {
    const carom_joint_limit *stop = &j->stops[i];
    int place = stop->joint * (ROWS + STOPS) + ROWS + 2 * stop->turn + stop->upper;
    add_row(cone, &stop->row, stop->gap / h, 0, place);
  }
}

void carom_cone_joints_begin(carom_cone *cone, const carom_state *state, double h, double end) {
  cone->joints.count = 0;
  for (int i = 0; i < cone->model->joint_count; i++)
    if (carom_joint_acts(cone->model, state, i)) add_equations(cone, state, i, h, end);
  cone->joints.equation_count = cone->joints.count;
  if (cone->model->joint_count > 0) add_stops(cone, state, h);
}

void carom_cone_joints_touch(carom_cone *cone, const carom_state *state) {
  for (int i = 0; i < cone->model->joint_count; i++)
    if (carom_joint_acts(cone->model, state, i)) touch(cone, &cone->model->joints[i]);
}

double carom_cone_joints_correct(carom_cone *cone, const carom_state *trial, double h, double end) {
  carom_cone_joints *j = &cone->joints;
  double worst = carom_joints_drift_at(cone->model, trial, end);
  int row = 0;
  for (int i = 0; i < cone->model->joint_count; i++) {
    if (!carom_joint_acts(cone->model, trial, i)) continue;
    double g[ROWS];
    const carom_joint *def = &cone->model->joints[i];
    carom_joint_equations(cone->model, def, &trial->joints[i], trial, end, g, NULL);
    for (int k = 0; k < carom_joint_row_count(def); k++) j->rows[row++].bias += g[k] / h;
  }
  return worst;
}

// ---- books ----------------------------------------------------------------------------------------------------------

static double rate_of(const carom_cone *cone, const carom_row *row, bool moving) {
  double sum = 0;
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (body == CAROM_WORLD || cone->model->bodies[body].fixed == moving) continue;
    sum += 0.5 * cm_dot(row->linear[end], cm_add(cone->v_start[body], cone->v[body]));
    sum += 0.5 * cm_dot(row->angular[end], cm_add(cone->w_start[body], cone->w[body]));
  }
  return sum;
}

static void add_outside(const carom_cone *cone, const carom_state *state, const carom_row *row, double lambda,
                        carom_step_report *report) {
  bool moves[2];
  for (int end = 0; end < 2; end++)
    moves[end] = row->body[end] != CAROM_WORLD && !cone->model->bodies[row->body[end]].fixed;
  if (moves[0] == moves[1]) return;
  carom_vec3 f = cm_scale(lambda, row->linear[moves[1]]), t = cm_scale(lambda, row->angular[moves[1]]);
  report->impulse = cm_add(report->impulse, f);
  carom_vec3 moment = cm_add(t, cm_cross(state->x[row->body[moves[1]]], f));
  report->angular_impulse = cm_add(report->angular_impulse, moment);
}

// The impulse gives the movers lambda x their mean rate. Of this, what motors and driven bodies ask for is work; the
// rest of an equation goes to or comes from where the bodies were brought back to the joint, that of a stop is lost.
static void book_joint(carom_cone *cone, const carom_state *state, int joint, double end, int *row,
                       carom_step_report *report) {
  const carom_joint *def = &cone->model->joints[joint];
  carom_cone_joints *j = &cone->joints;
  double rates[ROWS] = {0};
  carom_joint_rates(cone->model, def, end, rates);
  for (int i = 0; i < carom_joint_row_count(def); i++, ++*row) {
    const carom_row *equation = &j->equations[joint * ROWS + i];
    double lambda = j->multipliers[*row], given = lambda * rate_of(cone, equation, true);
    double asked = lambda * (rates[i] - rate_of(cone, equation, false));
    report->work += asked;
    report->projection_energy += given - asked;
    add_outside(cone, state, equation, lambda, report);
  }
}

void carom_cone_joints_book(carom_cone *cone, const carom_state *state, double end, carom_step_report *report) {
  carom_cone_joints *j = &cone->joints;
  int row = 0;
  for (int i = 0; i < cone->model->joint_count; i++)
    if (carom_joint_acts(cone->model, state, i)) book_joint(cone, state, i, end, &row, report);
  for (int i = 0; i < j->stop_count; i++, row++) {
    const carom_row *stop = &j->stops[i].row;
    double asked = -j->multipliers[row] * rate_of(cone, stop, false);
    report->work += asked;
    report->restitution_loss -= j->multipliers[row] * rate_of(cone, stop, true) - asked;
    add_outside(cone, state, stop, j->multipliers[row], report);
  }
  memset(j->kept, 0, (size_t)cone->model->joint_count * (ROWS + STOPS) * sizeof *j->kept);
  for (int i = 0; i < j->count; i++) j->kept[j->place[i]] = j->multipliers[i];
}
