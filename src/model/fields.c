#include "model/fields.h"

#include <string.h>

#include "model/joint_fields.h"
#include "model/joint_rows.h"
#include "model/magnet_fields.h"
#include "model/model.h"

bool carom_fields_present(const carom_model *model) {
  return model->charge_count > 0 || model->spring_count > 0 || model->force_count > 0 || model->input_count > 0 ||
         model->electromagnet_count > 0 || carom_joint_fields_present(model);
}

bool carom_fields_damped(const carom_model *model) {
  for (int i = 0; i < model->spring_count; i++)
    if (model->springs[i].damping > 0) return true;
  return carom_joint_fields_damped(model);
}

bool carom_fields_need_velocity(const carom_model *model) {
  return model->force_count > 0 || model->input_count > 0 || model->electromagnet_count > 0 ||
         carom_fields_damped(model) || carom_joint_fields_driven(model);
}

void carom_loads_push(carom_loads *loads, carom_arena *arena, const carom_model *model) {
  loads->f = CAROM_PUSH(arena, carom_vec3, model->body_count + 1);
  loads->g = CAROM_PUSH(arena, carom_mat3, model->body_count + 1);
  loads->torque = CAROM_PUSH(arena, carom_vec3, model->body_count + 1);
  loads->charge_point = CAROM_PUSH(arena, carom_vec3, model->charge_count);
  loads->charge_force = CAROM_PUSH(arena, carom_vec3, model->charge_count);
}

static carom_vec3 point_at(const carom_configuration *c, int body, carom_vec3 rho) {
  return body == CAROM_WORLD ? rho : cm_add(c->x[body], cm_mulv(c->d[body], rho));
}

static carom_vec3 point_velocity(const carom_configuration *c, int body, carom_vec3 rho) {
  return body == CAROM_WORLD ? cm_zero3() : cm_add(c->v[body], cm_mulv(c->dv[body], rho));
}

static void push(const carom_model *model, carom_loads *loads, int body, carom_vec3 rho, carom_vec3 force) {
  int slot = body == CAROM_WORLD ? model->body_count : body;
  loads->f[slot] = cm_add(loads->f[slot], force);
  loads->g[slot] = cm_madd(loads->g[slot], cm_outer(force, rho));
}

// ---- charges: V = K c1 c2 / sqrt(d.d + s^2)  (Johnson 2012, eq. 3.51) ---------------------------------------

// Force on the first charge over the difference r1 - r2: -dV/dr1 = K c1 c2 d / (d.d + s^2)^(3/2).
static carom_vec3 charge_force(const carom_charge_set *set, double c1c2, carom_vec3 d) {
  double r2 = cm_norm2(d) + set->softening * set->softening;
  return cm_scale(set->constant * c1c2 / (r2 * sqrt(r2)), d);
}

// Points are placed once and forces pushed to the bodies once per charge; only the pair loop is quadratic.
static void add_charges(const carom_model *model, const carom_charge_set *set, const carom_configuration *c,
                        carom_loads *loads) {
  const carom_charge *charge = model->charges + set->charge_start;
  carom_vec3 *r = loads->charge_point, *f = loads->charge_force;
  int n = set->charge_count;
  for (int i = 0; i < n; i++) r[i] = point_at(c, charge[i].body, charge[i].point), f[i] = cm_zero3();
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      if (charge[i].body == charge[j].body) continue;
      carom_vec3 force = charge_force(set, charge[i].charge * charge[j].charge, cm_sub(r[i], r[j]));
      f[i] = cm_add(f[i], force);
      f[j] = cm_sub(f[j], force);
    }
  for (int i = 0; i < n; i++) push(model, loads, charge[i].body, charge[i].point, f[i]);
}

static double charge_energy(const carom_model *model, const carom_charge_set *set, const carom_state *state) {
  const carom_charge *charge = model->charges + set->charge_start;
  double energy = 0;
  for (int i = 0; i < set->charge_count; i++) {
    carom_vec3 ri = carom_state_point(state, charge[i].body, charge[i].point);
    for (int j = i + 1; j < set->charge_count; j++) {
      if (charge[i].body == charge[j].body) continue;
      carom_vec3 d = cm_sub(ri, carom_state_point(state, charge[j].body, charge[j].point));
      energy +=
          set->constant * charge[i].charge * charge[j].charge / sqrt(cm_norm2(d) + set->softening * set->softening);
    }
  }
  return energy;
}

// ---- springs and dampers ------------------------------------------------------------------------------------

// Force on end 0 over d = r0 - r1: along -d, k times the stretch plus c times its rate. A spring of no length has no
// direction and pushes nowhere.
static carom_vec3 spring_force(const carom_spring *s, const carom_configuration *c, carom_vec3 d, double *power) {
  double length = cm_norm(d);
  if (length == 0) return cm_zero3();
  carom_vec3 n = cm_scale(1 / length, d);
  double tension = s->stiffness * (length - s->rest_length);
  if (s->damping > 0 && c->v) {
    carom_vec3 relative =
        cm_sub(point_velocity(c, s->body[0], s->point[0]), point_velocity(c, s->body[1], s->point[1]));
    double rate = cm_dot(n, relative);
    tension += s->damping * rate;
    *power -= s->damping * rate * rate;
  }
  return cm_scale(-tension, n);
}

static void add_spring(const carom_model *model, const carom_spring *s, const carom_configuration *c,
                       carom_loads *loads) {
  double power = 0;
  carom_vec3 d = cm_sub(point_at(c, s->body[0], s->point[0]), point_at(c, s->body[1], s->point[1]));
  carom_vec3 f = spring_force(s, c, d, &power);
  push(model, loads, s->body[0], s->point[0], f);
  push(model, loads, s->body[1], s->point[1], cm_neg(f));
}

static double spring_energy(const carom_spring *s, const carom_state *state) {
  carom_vec3 a = carom_state_point(state, s->body[0], s->point[0]);
  double stretch = cm_norm(cm_sub(a, carom_state_point(state, s->body[1], s->point[1]))) - s->rest_length;
  return 0.5 * s->stiffness * stretch * stretch;
}

// ---- applied forces -----------------------------------------------------------------------------------------

static const double two_pi = 6.283185307179586476925;

typedef struct applied_load {
  carom_vec3 force, torque;
} applied_load;

static applied_load applied_at(const carom_model *model, const carom_force *a, const carom_configuration *c) {
  const carom_knot *knots = a->knot_count > 0 ? model->knots + a->knot_start : NULL;
  double factor = carom_schedule_value(knots, a->knot_count, c->time) * cos(two_pi * a->frequency * c->time + a->phase);
  applied_load load = {cm_scale(factor, a->force), cm_scale(factor, a->torque)};
  if (a->body_axes) {
    load.force = cm_mulv(c->d[a->body], load.force);
    load.torque = cm_mulv(c->d[a->body], load.torque);
  }
  return load;
}

static void add_load(const carom_model *model, int body, carom_vec3 point, applied_load load, carom_loads *loads) {
  push(model, loads, body, point, load.force);
  loads->torque[body] = cm_add(loads->torque[body], load.torque);
}

static void add_applied(const carom_model *model, const carom_force *a, const carom_configuration *c,
                        carom_loads *loads) {
  if (model->bodies[a->body].fixed) return;
  add_load(model, a->body, a->point, applied_at(model, a, c), loads);
}

// ---- inputs -------------------------------------------------------------------------------------------------

// Numbers of body axes are along the user's frame, which turns with the directors.
static applied_load input_at(const carom_model *model, const carom_input *input, const carom_configuration *c) {
  const double *u = c->inputs + input->first;
  applied_load load = {cm_vec3(u[0], u[1], u[2]), cm_vec3(u[3], u[4], u[5])};
  if (input->body_axes) {
    carom_quat frame = model->bodies[input->body].frame.q;
    load.force = cm_mulv(c->d[input->body], cm_rotate(frame, load.force));
    load.torque = cm_mulv(c->d[input->body], cm_rotate(frame, load.torque));
  }
  return load;
}

// Those along joints are added with what else acts there.
static void add_inputs(const carom_model *model, const carom_configuration *c, carom_loads *loads) {
  for (int i = 0; i < model->input_count && c->inputs; i++) {
    const carom_input *input = &model->inputs[i];
    if (input->kind == CAROM_INPUT_WRENCH) add_load(model, input->body, input->point, input_at(model, input, c), loads);
  }
}

// ---- together -----------------------------------------------------------------------------------------------

void carom_fields_evaluate(const carom_model *model, const carom_configuration *c, carom_loads *loads) {
  size_t n = (size_t)model->body_count + 1;
  memset(loads->f, 0, n * sizeof *loads->f);
  memset(loads->g, 0, n * sizeof *loads->g);
  memset(loads->torque, 0, n * sizeof *loads->torque);
  for (int i = 0; i < model->charge_set_count; i++) add_charges(model, &model->charge_sets[i], c, loads);
  for (int i = 0; i < model->spring_count && !c->spares_springs; i++) add_spring(model, &model->springs[i], c, loads);
  for (int i = 0; i < model->force_count; i++) add_applied(model, &model->forces[i], c, loads);
  carom_magnet_fields_add(model, c, loads);
  add_inputs(model, c, loads);
  carom_joint_fields_add(model, c, loads);
}

// Angular velocity from directors and their rate: exact for a rotation, second order for a midpoint pair.
static carom_vec3 configuration_spin(const carom_configuration *c, int body) {
  return cm_scale(0.5, cm_axial(cm_mmul(c->dv[body], cm_transpose(c->d[body]))));
}

static void add_load_resultant(const carom_configuration *c, int body, carom_vec3 point, applied_load load,
                               carom_resultant *r) {
  r->force = cm_add(r->force, load.force);
  r->moment = cm_add(r->moment, cm_add(load.torque, cm_cross(point_at(c, body, point), load.force)));
  r->power += cm_dot(load.force, point_velocity(c, body, point));
  r->power += cm_dot(load.torque, configuration_spin(c, body));
}

static void add_applied_resultants(const carom_model *model, const carom_configuration *c, carom_resultant *r) {
  for (int i = 0; i < model->force_count; i++) {
    const carom_force *a = &model->forces[i];
    if (!model->bodies[a->body].fixed) add_load_resultant(c, a->body, a->point, applied_at(model, a, c), r);
  }
  for (int i = 0; i < model->input_count && c->inputs; i++) {
    const carom_input *input = &model->inputs[i];
    if (input->kind == CAROM_INPUT_WRENCH)
      add_load_resultant(c, input->body, input->point, input_at(model, input, c), r);
  }
}

// Forces between bodies are internal and must cancel, so they are left out here, and the audit would notice if they did
// not. Only what fixed bodies and the world receive comes back, with the opposite sign.
static void add_reactions(const carom_model *model, const carom_configuration *c, const carom_loads *loads,
                          carom_resultant *r) {
  for (int i = 0; i <= model->body_count; i++) {
    bool world = i == model->body_count;
    if (!world && !model->bodies[i].fixed) continue;
    carom_vec3 moment = world ? cm_axial(loads->g[i])
                              : cm_add(cm_cross(c->x[i], loads->f[i]), carom_director_torque(loads->g[i], c->d[i]));
    r->force = cm_sub(r->force, loads->f[i]);
    r->moment = cm_sub(r->moment, moment);
  }
}

carom_resultant carom_fields_resultant(const carom_model *model, const carom_configuration *c,
                                       const carom_loads *loads) {
  carom_resultant r = {cm_zero3(), cm_zero3(), 0};
  add_reactions(model, c, loads, &r);
  add_applied_resultants(model, c, &r);
  carom_magnet_fields_resultant(model, c, &r);
  for (int i = 0; i < model->spring_count && c->v && !c->spares_springs; i++) {
    const carom_spring *s = &model->springs[i];
    carom_vec3 d = cm_sub(point_at(c, s->body[0], s->point[0]), point_at(c, s->body[1], s->point[1]));
    spring_force(s, c, d, &r.power);
  }
  r.power += carom_joint_fields_power(model, c);
  return r;
}

double carom_fields_potential(const carom_model *model, const carom_state *state) {
  double energy = 0;
  for (int i = 0; i < model->charge_set_count; i++) energy += charge_energy(model, &model->charge_sets[i], state);
  for (int i = 0; i < model->spring_count; i++) energy += spring_energy(&model->springs[i], state);
  return energy + carom_joint_fields_energy(model, state);
}
