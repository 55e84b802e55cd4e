// The coordinates are s = n.d with n = D0 N, and theta = atan2(S, C) with S = v.u1, C = u.u1, where u, v, n turn with
// the directors D0 of body 0 and u1 with those of body 1. Both are unchanged when all directors and positions turn
// together, so their forces keep angular momentum even at the mean of two configurations.
#include "model/joint_fields.h"

#include "model/joint_rows.h"

static bool pulls(const carom_coordinate *c) {
  return c->stiffness > 0 || c->damping > 0 || c->motor == CAROM_MOTOR_FORCE || c->input >= 0;
}

bool carom_joint_fields_present(const carom_model *model) {
  for (int i = 0; i < model->joint_count; i++)
    if (pulls(&model->joints[i].slide) || pulls(&model->joints[i].turn)) return true;
  return false;
}

bool carom_joint_fields_damped(const carom_model *model) {
  for (int i = 0; i < model->joint_count; i++)
    if (model->joints[i].slide.damping > 0 || model->joints[i].turn.damping > 0) return true;
  return false;
}

static bool is_driven(const carom_coordinate *c) { return c->motor == CAROM_MOTOR_FORCE || c->input >= 0; }

bool carom_joint_fields_driven(const carom_model *model) {
  for (int i = 0; i < model->joint_count; i++)
    if (is_driven(&model->joints[i].slide) || is_driven(&model->joints[i].turn)) return true;
  return false;
}

// ---- a joint at a configuration ------------------------------------------------------------------------------------

typedef struct joint_at {
  carom_vec3 U[2], V[2], N;  // axes in the bodies
  carom_vec3 u, v, n, u1, d;
  carom_vec3 u_rate, v_rate, n_rate, u1_rate, d_rate;  // 0 when the configuration has no velocities
} joint_at;

static carom_vec3 direction_at(const carom_configuration *c, int body, carom_vec3 a) {
  return body == CAROM_WORLD ? a : cm_mulv(c->d[body], a);
}

static carom_vec3 direction_rate(const carom_configuration *c, int body, carom_vec3 a) {
  return body == CAROM_WORLD || !c->dv ? cm_zero3() : cm_mulv(c->dv[body], a);
}

static carom_vec3 point_at(const carom_configuration *c, int body, carom_vec3 rho) {
  return body == CAROM_WORLD ? rho : cm_add(c->x[body], cm_mulv(c->d[body], rho));
}

static carom_vec3 point_rate(const carom_configuration *c, int body, carom_vec3 rho) {
  return body == CAROM_WORLD || !c->v ? cm_zero3() : cm_add(c->v[body], cm_mulv(c->dv[body], rho));
}

static joint_at joint_at_configuration(const carom_configuration *c, const carom_joint *joint,
                                       const carom_joint_state *record) {
  joint_at j;
  const int *body = joint->body;
  for (int end = 0; end < 2; end++) {
    j.U[end] = cm_rotate(record->frame[end].q, cm_vec3(1, 0, 0));
    j.V[end] = cm_rotate(record->frame[end].q, cm_vec3(0, 1, 0));
  }
  j.N = cm_rotate(record->frame[0].q, cm_vec3(0, 0, 1));
  j.u = direction_at(c, body[0], j.U[0]), j.v = direction_at(c, body[0], j.V[0]), j.n = direction_at(c, body[0], j.N);
  j.u1 = direction_at(c, body[1], j.U[1]);
  j.d = cm_sub(point_at(c, body[1], record->frame[1].p), point_at(c, body[0], record->frame[0].p));
  j.u_rate = direction_rate(c, body[0], j.U[0]), j.v_rate = direction_rate(c, body[0], j.V[0]);
  j.n_rate = direction_rate(c, body[0], j.N), j.u1_rate = direction_rate(c, body[1], j.U[1]);
  j.d_rate = cm_sub(point_rate(c, body[1], record->frame[1].p), point_rate(c, body[0], record->frame[0].p));
  return j;
}

static double slide_rate(const joint_at *j) { return cm_dot(j->n, j->d_rate) + cm_dot(j->n_rate, j->d); }

static double turn_rate(const joint_at *j) {
  double S = cm_dot(j->v, j->u1), C = cm_dot(j->u, j->u1);
  double S_rate = cm_dot(j->v_rate, j->u1) + cm_dot(j->v, j->u1_rate);
  double C_rate = cm_dot(j->u_rate, j->u1) + cm_dot(j->u, j->u1_rate);
  return (C * S_rate - S * C_rate) / (S * S + C * C);
}

static double turn_of(const joint_at *j, double near) {
  carom_joint_place place = {.u = j->u, .v = j->v, .u1 = j->u1};
  return carom_joint_turn(&place, near);
}

// ---- forces --------------------------------------------------------------------------------------------------------

// What a motor by force and an input push along a coordinate.
static double motor_force(const carom_model *model, const carom_coordinate *k, const carom_configuration *c) {
  double input = k->input >= 0 && c->inputs ? c->inputs[k->input] : 0;
  if (k->motor != CAROM_MOTOR_FORCE) return input;
  const carom_knot *knots = k->knot_count > 0 ? model->knots + k->knot_start : NULL;
  return k->motor_value * carom_schedule_value(knots, k->knot_count, c->time) + input;
}

static double force_along(const carom_model *model, const carom_coordinate *k, const carom_configuration *c,
                          double value, double rate) {
  return motor_force(model, k, c) - k->stiffness * (value - k->rest) - k->damping * rate;
}

static int slot_of(const carom_model *model, int body) { return body == CAROM_WORLD ? model->body_count : body; }

static void pull_directors(const carom_model *model, carom_loads *loads, int body, carom_mat3 g) {
  int slot = slot_of(model, body);
  loads->g[slot] = cm_madd(loads->g[slot], g);
}

static void pull_point(const carom_model *model, carom_loads *loads, int body, carom_vec3 rho, carom_vec3 force) {
  int slot = slot_of(model, body);
  loads->f[slot] = cm_add(loads->f[slot], force);
  loads->g[slot] = cm_madd(loads->g[slot], cm_outer(force, rho));
}

// f ds = f n.(dr1 - dr0) + f d.(dD0 N)
static void pull_slide(const carom_model *model, const carom_joint *joint, const carom_joint_state *record,
                       const joint_at *j, double f, carom_loads *loads) {
  pull_point(model, loads, joint->body[1], record->frame[1].p, cm_scale(f, j->n));
  pull_point(model, loads, joint->body[0], record->frame[0].p, cm_scale(-f, j->n));
  pull_directors(model, loads, joint->body[0], cm_mscale(f, cm_outer(j->d, j->N)));
}

// f dtheta = f (C dS - S dC)/(S^2 + C^2)
static void pull_turn(const carom_model *model, const carom_joint *joint, const joint_at *j, double f,
                      carom_loads *loads) {
  double S = cm_dot(j->v, j->u1), C = cm_dot(j->u, j->u1), over = f / (S * S + C * C);
  carom_vec3 a = cm_sub(cm_scale(C, j->v), cm_scale(S, j->u)), A = cm_sub(cm_scale(C, j->V[0]), cm_scale(S, j->U[0]));
  pull_directors(model, loads, joint->body[1], cm_mscale(over, cm_outer(a, j->U[1])));
  pull_directors(model, loads, joint->body[0], cm_mscale(over, cm_outer(j->u1, A)));
}

void carom_joint_fields_add(const carom_model *model, const carom_configuration *c, carom_loads *loads) {
  for (int i = 0; i < model->joint_count && c->joints; i++) {
    const carom_joint *joint = &model->joints[i];
    const carom_joint_state *record = &c->joints[i];
    if (!record->active || !(pulls(&joint->slide) || pulls(&joint->turn))) continue;
    joint_at j = joint_at_configuration(c, joint, record);
    if (pulls(&joint->slide))
      pull_slide(model, joint, record, &j, force_along(model, &joint->slide, c, cm_dot(j.n, j.d), slide_rate(&j)),
                 loads);
    if (pulls(&joint->turn))
      pull_turn(model, joint, &j, force_along(model, &joint->turn, c, turn_of(&j, record->turn), turn_rate(&j)), loads);
  }
}

void carom_joint_fields_along(const carom_model *model, const carom_configuration *c, int joint, double *slide,
                              double *turn) {
  const carom_joint *def = &model->joints[joint];
  const carom_joint_state *record = &c->joints[joint];
  joint_at j = joint_at_configuration(c, def, record);
  *slide = pulls(&def->slide) ? force_along(model, &def->slide, c, cm_dot(j.n, j.d), slide_rate(&j)) : 0;
  *turn = pulls(&def->turn) ? force_along(model, &def->turn, c, turn_of(&j, record->turn), turn_rate(&j)) : 0;
}

static double power_along(const carom_model *model, const carom_coordinate *k, const carom_configuration *c,
                          double rate) {
  return motor_force(model, k, c) * rate - k->damping * rate * rate;
}

double carom_joint_fields_power(const carom_model *model, const carom_configuration *c) {
  double power = 0;
  for (int i = 0; i < model->joint_count && c->joints && c->v; i++) {
    const carom_joint *joint = &model->joints[i];
    if (!c->joints[i].active || !(pulls(&joint->slide) || pulls(&joint->turn))) continue;
    joint_at j = joint_at_configuration(c, joint, &c->joints[i]);
    if (pulls(&joint->slide)) power += power_along(model, &joint->slide, c, slide_rate(&j));
    if (pulls(&joint->turn)) power += power_along(model, &joint->turn, c, turn_rate(&j));
  }
  return power;
}

double carom_joint_fields_energy(const carom_model *model, const carom_state *state) {
  double energy = 0;
  for (int i = 0; i < model->joint_count; i++) {
    const carom_joint *joint = &model->joints[i];
    const carom_joint_state *record = &state->joints[i];
    if (!record->active || !(joint->slide.stiffness > 0 || joint->turn.stiffness > 0)) continue;
    carom_joint_place place = carom_joint_placed(joint, record, state);
    double slide = carom_joint_slide(&place) - joint->slide.rest;
    double turn = carom_joint_turn(&place, record->turn) - joint->turn.rest;
    energy += 0.5 * joint->slide.stiffness * slide * slide + 0.5 * joint->turn.stiffness * turn * turn;
  }
  return energy;
}
