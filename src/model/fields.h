// Force fields in redundant coordinates: a body is a position x and a matrix d of directors, and every point of it is
// x + d rho. The directors need not be orthonormal, so that fields can be evaluated at the mean of two configurations
// as the midpoint discrete Lagrangian asks (Johnson 2012, 3.2.3). Gravity is uniform and handled apart.
#ifndef CAROM_SRC_MODEL_FIELDS_H
#define CAROM_SRC_MODEL_FIELDS_H

#include "base/arena.h"
#include "carom/model.h"

typedef struct carom_configuration {
  double time;
  const carom_vec3 *x;              // (body_count)
  const carom_mat3 *d;              // (body_count)
  const carom_vec3 *v;              // (body_count) rate of x; null when nothing depends on velocities
  const carom_mat3 *dv;             // (body_count) rate of d
  const carom_joint_state *joints;  // (joint_count) which joints act; null when there are none
  const double *inputs;             // (input_size) what inputs do; null when there are none
  bool spares_springs;              // they are somebody else's to reckon with; those of joints are not
} carom_configuration;

// Loads that the fields exert; the last entry, at body_count, is what the world receives.
typedef struct carom_loads {
  carom_vec3 *f;                            // (body_count + 1) force
  carom_mat3 *g;                            // (body_count + 1) sum of f rho': the force on the directors
  carom_vec3 *torque;                       // (body_count + 1) couples of applied forces
  carom_vec3 *charge_point, *charge_force;  // (charge_count) scratch
} carom_loads;

void carom_loads_push(carom_loads *loads, carom_arena *arena, const carom_model *model);

// What the outside does to the moving bodies, gravity aside; the moment is about the world origin.
typedef struct carom_resultant {
  carom_vec3 force, moment;
  double power;  // of applied forces and dampers
} carom_resultant;

bool carom_fields_present(const carom_model *model);        // anything but gravity
bool carom_fields_need_velocity(const carom_model *model);  // dampers, or applied forces whose power is booked
bool carom_fields_damped(const carom_model *model);         // forces that depend on velocities

// Overwrites the loads by those of charges, springs, dampers, applied forces and along joints.
void carom_fields_evaluate(const carom_model *model, const carom_configuration *c, carom_loads *loads);
carom_resultant carom_fields_resultant(const carom_model *model, const carom_configuration *c,
                                       const carom_loads *loads);

// The torque that a force on the directors has on a body whose directors are now R.
static inline carom_vec3 carom_director_torque(carom_mat3 g, carom_mat3 R) {
  return cm_axial(cm_mmul(g, cm_transpose(R)));
}

// Energy of charges and springs, those of joints included, at a state (no scratch needed), and of gravity.
double carom_fields_potential(const carom_model *model, const carom_state *state);

#endif
