// Joints, motors and stops as rows of the program.
//
// A joint's equations g(x, t) = 0 are asked of the end of the step: row.V = -g(x, t + h) / h to first order, with the
// bodies where they are at the start. What the turning of the bodies within the step leaves of g at its end is put on
// the right-hand side and the program is solved on (as in SHAKE, Ryckaert et al. 1977), so that joints do not drift.
// Prescribed motors are among the equations; stops are rows with gap / h and multipliers >= 0.
#include <math.h>
#include <string.h>

#include "model/joints.h"
#include "step/cone/cone.h"

enum { ROWS = CAROM_JOINT_ROWS };

void carom_cone_joints_push(carom_cone *cone, carom_arena *arena) {
  carom_cone_joints *j = &cone->joints;
  int stops = carom_joints_limit_capacity(cone->model), rows = cone->model->joint_count * ROWS;
  j->equations = CAROM_PUSH(arena, carom_row, rows);
  j->stops = CAROM_PUSH(arena, carom_joint_limit, stops);
  j->rows = CAROM_PUSH(arena, carom_contact_row, rows + stops);
  j->multipliers = CAROM_PUSH(arena, double, rows + stops);
}

// ---- rows -----------------------------------------------------------------------------------------------------------

static int program_body(const carom_cone *cone, int body) {
  return body == CAROM_WORLD || cone->bodies.rank[body] < 0 ? CAROM_CONTACT_WORLD : cone->bodies.rank[body];
}

static void put_jacobian(const carom_row *row, int end, double out[6]) {
  carom_vec3 f = row->linear[end], t = row->angular[end];
  const double entries[6] = {f.x, f.y, f.z, t.x, t.y, t.z};
  memcpy(out, entries, sizeof entries);
}

// `force` is what it carried in the last step.
static void add_row(carom_cone *cone, const carom_row *row, double bias, double lower, double force) {
  carom_cone_joints *j = &cone->joints;
  carom_contact_row *r = &j->rows[j->count];
  *r = (carom_contact_row){.a = program_body(cone, row->body[0]),
                           .b = program_body(cone, row->body[1]),
                           .bias = bias,
                           .lower = lower,
                           .upper = INFINITY};
  put_jacobian(row, 0, r->jacobian_a);
  put_jacobian(row, 1, r->jacobian_b);
  j->multipliers[j->count++] = cone->h * force;
}

static void add_equations(carom_cone *cone, const carom_state *state, int joint, double end) {
  const carom_joint *def = &cone->model->joints[joint];
  double left[ROWS];  // of the equations, at the start
  carom_row *rows = cone->joints.equations + joint * ROWS;
  carom_joint_equations(cone->model, state, joint, end, left, rows);
  for (int i = 0; i < carom_joint_row_count(def); i++)
    add_row(cone, &rows[i], left[i] / cone->h, -INFINITY, *carom_memory_joint_row(cone->memory, joint, i));
}

static double *stop_force(const carom_cone *cone, const carom_joint_limit *stop) {
  return carom_memory_stop(cone->memory, stop->joint, stop->turn, stop->upper);
}

static void add_stops(carom_cone *cone, const carom_state *state) {
  carom_cone_joints *j = &cone->joints;
  j->stop_count = carom_joints_limits(cone->model, state, INFINITY, j->stops);
  for (int i = 0; i < j->stop_count; i++)
    add_row(cone, &j->stops[i].row, j->stops[i].gap / cone->h, 0, *stop_force(cone, &j->stops[i]));
}

void carom_cone_joints_begin(carom_cone *cone, const carom_state *state, double end) {
  cone->joints.count = 0;
  for (int i = 0; i < cone->model->joint_count; i++)
    if (carom_joint_acts(cone->model, state, i)) add_equations(cone, state, i, end);
  cone->joints.equation_count = cone->joints.count;
  if (cone->model->joint_count > 0) add_stops(cone, state);
}

void carom_cone_joints_touch(carom_cone *cone, const carom_state *state) {
  for (int i = 0; i < cone->model->joint_count; i++) {
    if (!carom_joint_acts(cone->model, state, i)) continue;
    const int *body = cone->model->joints[i].body;
    for (int end = 0; end < 2; end++)
      if (body[end] != CAROM_WORLD) cone->bodies.touches[body[end]] = true;
  }
}

double carom_cone_joints_correct(carom_cone *cone, double end) {
  carom_cone_joints *j = &cone->joints;
  int row = 0;
  for (int i = 0; i < cone->model->joint_count; i++) {
    if (!carom_joint_acts(cone->model, cone->trial, i)) continue;
    double g[ROWS];
    const carom_joint *def = &cone->model->joints[i];
    carom_joint_equations(cone->model, cone->trial, i, end, g, NULL);
    for (int k = 0; k < carom_joint_row_count(def); k++) j->rows[row++].bias += g[k] / cone->h;
  }
  return carom_joints_drift_at(cone->model, cone->trial, end);
}

// ---- books ----------------------------------------------------------------------------------------------------------

// The mean rate over the step that the ends that move give a row,
static double mean_rate(const carom_cone *cone, const carom_row *row) {
  const carom_cone_bodies *b = &cone->bodies;
  return 0.5 * (carom_row_rate(cone->model, row, b->start.v, b->start.w) +
                carom_row_rate(cone->model, row, b->after.v, b->after.w));
}

// and that of driven ends, whose velocities are the same throughout.
static double driven_rate(const carom_cone *cone, const carom_row *row) {
  const carom_velocities *V = &cone->bodies.free;
  double rate = 0;
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (body == CAROM_WORLD || carom_body_moves(cone->model, body)) continue;
    rate += cm_dot(row->linear[end], V->v[body]) + cm_dot(row->angular[end], V->w[body]);
  }
  return rate;
}

static bool is_motor(const carom_joint *joint, int row) {
  int motors = carom_motor_prescribes(joint->slide.motor) + carom_motor_prescribes(joint->turn.motor);
  return row >= carom_joint_row_count(joint) - motors;
}

// The impulse gives the movers lambda x their mean rate. Of motors all of that is work, and of others what driven
// bodies do; the rest of an equation goes to or comes from where the bodies were brought back to the joint, that of a
// stop is lost.
static void book_joint(carom_cone *cone, const carom_state *state, int joint, int row, carom_ledger *ledger) {
  const carom_joint *def = &cone->model->joints[joint];
  for (int i = 0; i < carom_joint_row_count(def); i++) {
    const carom_row *equation = &cone->joints.equations[joint * ROWS + i];
    double lambda = cone->joints.multipliers[row + i], given = lambda * mean_rate(cone, equation);
    double asked = is_motor(def, i) ? given : -lambda * driven_rate(cone, equation);
    carom_ledger_work(ledger, asked);
    carom_ledger_projection(ledger, given - asked, cm_zero3(), cm_zero3());
    carom_ledger_row(ledger, equation, lambda, state->x);
    *carom_memory_joint_row(cone->memory, joint, i) = lambda / cone->h;
  }
}

static void book_stop(carom_cone *cone, const carom_state *state, const carom_joint_limit *stop, double lambda,
                      carom_ledger *ledger) {
  double asked = -lambda * driven_rate(cone, &stop->row);
  carom_ledger_work(ledger, asked);
  carom_ledger_loss(ledger, asked - lambda * mean_rate(cone, &stop->row), 0);
  carom_ledger_row(ledger, &stop->row, lambda, state->x);
  *stop_force(cone, stop) = lambda / cone->h;
}

void carom_cone_joints_book(carom_cone *cone, const carom_state *state, carom_ledger *ledger) {
  carom_cone_joints *j = &cone->joints;
  int row = 0;
  for (int i = 0; i < cone->model->joint_count; i++) {
    memset(carom_memory_joint_row(cone->memory, i, 0), 0, CAROM_MEMORY_JOINT * sizeof(double));
    if (!carom_joint_acts(cone->model, state, i)) continue;
    book_joint(cone, state, i, row, ledger);
    row += carom_joint_row_count(&cone->model->joints[i]);
  }
  for (int i = 0; i < j->stop_count; i++) book_stop(cone, state, &j->stops[i], j->multipliers[row + i], ledger);
}
