// Springs, dampers and force motors along the free coordinates of joints, in redundant coordinates (see fields.h).
#ifndef CAROM_SRC_MODEL_JOINT_FIELDS_H
#define CAROM_SRC_MODEL_JOINT_FIELDS_H

#include "model/fields.h"

bool carom_joint_fields_present(const carom_model *model);
bool carom_joint_fields_damped(const carom_model *model);
bool carom_joint_fields_driven(const carom_model *model);  // by force motors and inputs
// Adds to the loads; the joints' records are those of the configuration.
void carom_joint_fields_add(const carom_model *model, const carom_configuration *c, carom_loads *loads);
// What springs, dampers, motors by force and inputs do along the coordinates of an active joint; any kind of joint.
void carom_joint_fields_along(const carom_model *model, const carom_configuration *c, int joint, double *slide,
                              double *turn);
double carom_joint_fields_power(const carom_model *model, const carom_configuration *c);  // of dampers and motors
double carom_joint_fields_energy(const carom_model *model, const carom_state *state);     // of springs

#endif
