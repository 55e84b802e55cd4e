#include "carom/model.h"

carom_material_def carom_material_default(void) {
  return (carom_material_def){.density = 1000, .restitution = 0.5, .friction = 0.5, .color = CAROM_COLOR_AUTO};
}

carom_body_def carom_body_default(void) {
  return (carom_body_def){.pose = cm_pose_identity(), .color = CAROM_COLOR_AUTO};
}

carom_spring_def carom_spring_default(void) {
  return (carom_spring_def){.body = {CAROM_WORLD, CAROM_WORLD}, .rest_length = -1};
}

carom_force_def carom_force_default(void) { return (carom_force_def){.body = CAROM_WORLD}; }

carom_magnet_def carom_magnet_default(void) { return (carom_magnet_def){.axis = {1, 0, 0}}; }

carom_electromagnet_def carom_electromagnet_default(void) {
  return (carom_electromagnet_def){.body = {CAROM_WORLD, CAROM_WORLD}, .axis = {{1, 0, 0}, {-1, 0, 0}}, .strength = 1};
}

carom_coordinate_def carom_coordinate_default(void) {
  return (carom_coordinate_def){.lower = -INFINITY, .upper = INFINITY};
}

carom_joint_def carom_joint_default(void) {
  carom_coordinate_def free = carom_coordinate_default();
  return (carom_joint_def){.body = {CAROM_WORLD, CAROM_WORLD},
                           .axis = {{0, 0, 1}, {0, 0, 0}},
                           .length = -1,
                           .slide = free,
                           .turn = free,
                           .seat = {.pose = {.q = {1, 0, 0, 0}}, .angle = INFINITY, .speed = INFINITY},
                           .releases = -1};
}

carom_solid_def carom_solid_default(void) {
  return (carom_solid_def){.pose = cm_pose_identity(), .color = CAROM_COLOR_AUTO};
}

carom_pressure_def carom_pressure_default(void) { return (carom_pressure_def){.pressure = 0}; }
