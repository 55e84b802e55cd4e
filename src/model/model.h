// The model as it is while it is being built: the public struct, whose pointers are const, and what only we may see.
#ifndef CAROM_SRC_MODEL_MODEL_H
#define CAROM_SRC_MODEL_MODEL_H

#include "base/names.h"
#include "carom/model.h"

typedef struct carom_model_full {
  carom_model view;  // first, so that a carom_model * is a carom_model_full *
  carom_names body_names;
  carom_body *bodies;
  carom_part *parts;
  carom_material *materials;
  carom_charge_set *charge_sets;
  carom_charge *charges;
  carom_spring *springs;
  carom_force *forces;
  carom_knot *knots;
  carom_apart *aparts;
  carom_surface_pair *surfaces;
  // ---- joints
  carom_names joint_names;
  carom_names input_names;
  carom_joint *joints;
  carom_drive *drives;
  carom_boundary *boundaries;
  carom_profile_point *profiles;
  carom_recirculation_def *recirculations;
  carom_electromagnet *electromagnets;
  carom_input *inputs;
  carom_support *supports;
  // ---- solids
  carom_names solid_names;
  carom_solid *solids;
  carom_vec3 *rest;
  double *node_masses;
  int (*tets)[4];
  carom_pin *pins;
  carom_pressure *pressures;
  int (*pressed)[3];
} carom_model_full;

// Position of a point that is fixed to a body (principal frame) or to the world.
carom_vec3 carom_state_point(const carom_state *state, int body, carom_vec3 point);

// Only how many bodies, joints, inputs and nodes there are is asked of the model.
carom_status carom_state_create(const carom_model *model, const carom_allocator *allocator, carom_state **state,
                                carom_error *error);

// The drive of a body, or -1; of CAROM_WORLD too.
int carom_model_drive(const carom_model *model, int body);

// What holds between two materials.
carom_contact_surface carom_materials_surface(const carom_model *model, int material_a, int material_b);

// Spatial inertia times angular velocity: R J R' w.
carom_vec3 carom_body_spin_momentum(const carom_body *body, carom_quat q, carom_vec3 angular_velocity);

#endif
