// How stiff the contact potential is. From the energy balance C/2 d^2 = 1/2 m v^2 with d the overlap aimed at, and no
// less than what carries all that may rest on one contact at that overlap, C d = sum of m g. Explicit kicks follow an
// oscillation of frequency sqrt(C/m) only while h^2 C/m < 4; beyond 1 they are too coarse to be trusted.
#include <math.h>

#include "model/size.h"
#include "step/potential/potential.h"

// The largest speed to expect: what bodies have, and what they may gain by falling through the scene.
static double expected_speed2(const carom_model *model, const carom_state *state) {
  double fastest = 0, low = INFINITY, high = -INFINITY, g = cm_norm(model->gravity);
  carom_vec3 up = cm_neg(cm_unit(model->gravity));
  for (int i = 0; i < model->body_count; i++) {
    double height = cm_dot(up, state->x[i]), radius = model->bodies[i].fixed ? 0 : model->bodies[i].bounding_radius;
    low = fmin(low, height);
    high = fmax(high, height);
    double v = cm_norm(carom_state_velocity(model, state, i));
    double w = cm_norm(carom_state_angular_velocity(model, state, i)) * radius;
    fastest = fmax(fastest, v * v + w * w);
  }
  return fastest + 2 * g * fmax(0, high - low);
}

// What overlaps are measured by: the thinnest part, or the smallest body if that is less.
static double least_width(const carom_model *model) {
  double least = carom_model_smallest(model);
  for (int i = 0; i < model->part_count; i++) {
    double depth = carom_shape_half_depth(model->parts[i].shape);
    if (depth > 0) least = fmin(least, 2 * depth);
  }
  return least;
}

static double total_mass(const carom_model *model) {
  double mass = 0;
  for (int i = 0; i < model->body_count; i++)
    if (!model->bodies[i].fixed) mass += model->bodies[i].mass;
  return mass;
}

static double chosen_stiffness(const carom_stepper *stepper, const carom_state *state, double h, double *target) {
  const carom_model *model = stepper->model;
  double d = stepper->options.penetration > 0 ? stepper->options.penetration : 1e-3 * least_width(model);
  double m = carom_model_heaviest(model), C = m * expected_speed2(model, state) / (d * d);
  *target = d;
  C = fmax(C, total_mass(model) * cm_norm(model->gravity) / d);
  if (C > 0) return C;
  return 0.1 * fmin(m, carom_contact_least_mass(model)) / (h * h);  // nothing moves yet: as stiff as is safe
}

static const double SHORTEST = 1e-12;  // s; shorter steps are no remedy

static carom_status refuse_for_good(const carom_model *model, const carom_state *state, double h, carom_error *error) {
  int light = -1, heavy = -1;
  for (int i = 0; i < model->body_count; i++) {
    if (model->bodies[i].fixed) continue;
    if (light < 0 || model->bodies[i].mass < model->bodies[light].mass) light = i;
    if (heavy < 0 || model->bodies[i].mass > model->bodies[heavy].mass) heavy = i;
  }
  carom_fail(error, CAROM_ERR_NUMBER,
             "no step is short enough for the contacts at t = %.9g s: masses go from %.3g kg ('%.60s') to %.3g kg "
             "('%.60s'), and gravity is %.3g m/s2; check them, or use 'moreau'",
             state->time, light < 0 ? 0 : model->bodies[light].mass, light < 0 ? "" : model->bodies[light].name,
             heavy < 0 ? 0 : model->bodies[heavy].mass, heavy < 0 ? "" : model->bodies[heavy].name,
             cm_norm(model->gravity));
  carom_step_tell(model, state, h, error);
  return CAROM_ERR_NUMBER;
}

static const double YIELDING = 20;  // times the overlap aimed at

// Beside solids that deform, whose surfaces overlap by as much anyway, bodies may be softer than they would be by
// themselves, where nothing was asked for: as stiff as the step allows.
static bool yields(const carom_stepper *stepper, double d, double C, double limit) {
  const carom_step_options *o = &stepper->options;
  return stepper->model->solid_count > 0 && d > 0 && o->penetration == 0 && o->stiffness == 0 &&
         sqrt(C / limit) < YIELDING;
}

static carom_status tune_contacts(const carom_stepper *stepper, carom_contact_potential *contact,
                                  const carom_state *state, double h, carom_error *error) {
  bool idle = carom_find_touching(stepper->model) < 0;  // one body alone, say
  if (contact->stiffness > 0 || (idle && carom_model_uses(stepper->model, CAROM_TRAIT_LIMITS) < 0)) return CAROM_OK;
  bool given = stepper->options.stiffness > 0;
  double d = 0, C = given ? stepper->options.stiffness : chosen_stiffness(stepper, state, h, &d);
  double m = carom_contact_least_mass(stepper->model), limit = m / (h * h);
  if (C > limit && !(sqrt(m / C) > SHORTEST)) return refuse_for_good(stepper->model, state, h, error);
  if (C > limit && yields(stepper, d, C, limit)) C = limit;
  if (C > limit && given)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "a contact stiffness of %.3g N/m is too much for a step of %.3g s: use a step below %.2g s, or a "
                      "stiffness below %.2g N/m",
                      C, h, sqrt(m / C), limit);
  if (C > limit)
    return carom_fail(
        error, CAROM_ERR_ARGUMENT,
        "an overlap of %.3g m needs a contact stiffness of %.3g N/m, too much for a step of %.3g s: use a "
        "step below %.2g s, set `penetration` above %.2g m, or `stiffness` below %.2g N/m",
        d, C, h, sqrt(m / C), d * sqrt(C / limit), limit);
  contact->stiffness = C;
  return CAROM_OK;
}

carom_status carom_potential_tune(const carom_stepper *stepper, carom_contact_potential *contact,
                                  const carom_state *state, double h, carom_error *error) {
  carom_status status = tune_contacts(stepper, contact, state, h, error);
  return status == CAROM_OK ? carom_soft_limits_tune(contact, state, h, error) : status;
}
