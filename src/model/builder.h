// The builder while it collects, for the files that add to it: builder.c (materials, bodies, force fields),
// builder_contacts.c (who may touch whom, and how), builder_joints.c, builder_drives.c, builder_inputs.c,
// builder_magnets.c, builder_solids.c, builder_supports.c.
#ifndef CAROM_SRC_MODEL_BUILDER_H
#define CAROM_SRC_MODEL_BUILDER_H

#include "base/memory.h"
#include "model/body.h"
#include "model/model.h"

struct carom_builder {
  carom_model_full *model;
  carom_names material_names;
  carom_pose *poses;  // of principal frames, beside model->bodies
  carom_vec3 *velocities, *angular_velocities;
  int body_capacity, pose_capacity, velocity_capacity, angular_capacity, part_capacity, material_capacity;
  int set_capacity, charge_capacity, spring_capacity, force_capacity, knot_capacity, apart_capacity, surface_capacity;
  int joint_capacity, input_capacity, electromagnet_capacity, support_capacity;
  int drive_capacity, boundary_capacity, profile_capacity, recirculation_capacity;
  carom_vec3 *node_velocities;  // beside model->rest
  int solid_capacity, pin_capacity, pressure_capacity;
  int node_room, mass_room, node_velocity_room, tet_room, pressed_room;
  carom_mass_cache mass_cache;
  carom_error error;  // the first mistake
  carom_allocator allocator;
};

#define CAROM_BUILDER_GROW(builder, array, count, capacity) \
  carom_grow(&(builder)->allocator, (void **)&(array), (count), &(capacity), sizeof *(array))

// No mistake so far, and not finished.
bool carom_builder_sound(const carom_builder *builder);
// Notes the failure; returns -1, as adders do.
int carom_builder_out_of_memory(carom_builder *builder);
// `what` begins the message.
bool carom_builder_knows_body(carom_builder *builder, int body, bool world_allowed, const char *what);
// A point or pose of the user's body frame (or of the world) as seen from the principal frame.
carom_vec3 carom_builder_point(const carom_builder *builder, int body, carom_vec3 point);
// builder_joints.c: what carom_builder_finish asks for: start coordinates, joint states, and velocities that fit.
carom_status carom_builder_finish_joints(carom_builder *builder, carom_state *state, carom_error *error);
// builder_magnets.c: refuses electromagnets out of the plane.
carom_status carom_builder_check_electromagnets(const carom_builder *builder, carom_error *error);
// builder_supports.c: room for all bodies, and checks once more: the plane may have been told late.
carom_status carom_builder_finish_supports(carom_builder *builder, carom_error *error);
// builder_solids.c: refuses pins of bodies that move, and solids in planar scenes; makes the solids' elastic selves.
carom_status carom_builder_finish_solids(carom_builder *builder, carom_error *error);
void carom_builder_place_nodes(const carom_builder *builder, carom_state *state);
void carom_solids_release(carom_model_full *model);
// builder.c: colours that stay apart for colour-blind eyes.
uint32_t carom_palette(int index);
// Adds a default material to a model that has none.
bool carom_builder_ensure_material(carom_builder *builder);
// In a planar scene: refuses velocities out of the plane and notes how bodies stand in it.
carom_status carom_builder_lay_flat(carom_builder *builder, const carom_state *start, carom_error *error);
bool carom_builder_append_knots(carom_builder *builder, const carom_knot *knots, int count);

#endif
