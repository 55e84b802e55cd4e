#include "result/layout.h"

#include <stdio.h>

#include "carom/result.h"

#define FIELD(name, path, unit, description) {path, unit, description},
#define PLAIN(name, path, description) {path, "1", description},
const carom_result_field carom_result_fields[CAROM_FIELD_COUNT] = {CAROM_RESULT_FIELDS(FIELD, PLAIN)};
#undef FIELD

const char *const carom_shape_kind_names[CAROM_SHAPE_KIND_COUNT] = {"polytope",  "sphere",   "capsule", "halfspace",
                                                                    "ellipsoid", "cylinder", "cone"};

static const carom_audit_column columns[CAROM_AUDIT_COLUMNS] = {
    {"kinetic", "Kinetic energy", "J", "Energy"},
    {"potential", "Potential energy", "J", "Energy"},
    {"energy", "Total energy", "J", "Energy"},
    {"work", "Work by the outside", "J", "Energy"},
    {"energy_error", "Energy error", "1", "Errors"},
    {"momentum_x", "Momentum x", "kg m/s", "Momentum"},
    {"momentum_y", "Momentum y", "kg m/s", "Momentum"},
    {"momentum_z", "Momentum z", "kg m/s", "Momentum"},
    {"momentum_error", "Momentum error", "1", "Errors"},
    {"angular_momentum_x", "Angular momentum x", "kg m2/s", "Angular momentum"},
    {"angular_momentum_y", "Angular momentum y", "kg m2/s", "Angular momentum"},
    {"angular_momentum_z", "Angular momentum z", "kg m2/s", "Angular momentum"},
    {"angular_momentum_error", "Angular momentum error", "1", "Errors"},
    {"restitution_loss", "Lost by restitution", "J", "Losses"},
    {"friction_loss", "Lost by friction", "J", "Losses"},
    {"projection_energy", "Gained by projection", "J", "Losses"},
    {"projection_angular_momentum", "Angular momentum gained by projection", "kg m2/s", "Projection"},
    {"collisions", "Collisions so far", "1", "Collisions"},
    {"penetration", "Deepest overlap", "m", "Overlap"},
    {"complementarity", "Contact residual", "1", "Contact residual"},
    {"constraint", "Joint drift", "m", "Joint drift"},
};

const carom_audit_column *carom_audit_columns(void) { return columns; }

int carom_series_count(void) { return CAROM_SERIES_AUDIT + CAROM_AUDIT_COLUMNS + 1; }

static carom_series_info describe_field(carom_result_field_id id, int rank, int n1, int n2) {
  carom_result_field field = carom_result_fields[id];
  carom_series_info info = {.unit = field.unit, .description = field.description, .rank = rank};
  info.n1 = (size_t)n1;
  info.n2 = (size_t)n2;
  snprintf(info.path, sizeof info.path, "%s", field.path);
  return info;
}

carom_series_info carom_series_describe(int series, int body_count, int channel_count) {
  static const struct {
    carom_result_field_id id;
    int components;
  } of_bodies[CAROM_SERIES_CHANNELS] = {{CAROM_FIELD_POSITION, 3},
                                        {CAROM_FIELD_ORIENTATION, 4},
                                        {CAROM_FIELD_VELOCITY, 3},
                                        {CAROM_FIELD_ANGULAR_VELOCITY, 3},
                                        {CAROM_FIELD_CONTACT_MOMENT, 9}};
  if (series < CAROM_SERIES_CHANNELS)
    return describe_field(of_bodies[series].id, 3, body_count, of_bodies[series].components);
  if (series == CAROM_SERIES_CHANNELS) return describe_field(CAROM_FIELD_CHANNEL_VALUE, 2, channel_count, 1);
  if (series == carom_series_count() - 1) return describe_field(CAROM_FIELD_TIME, 1, 1, 1);
  const carom_audit_column *column = &columns[series - CAROM_SERIES_AUDIT];
  carom_series_info info = {.unit = column->unit, .description = column->label, .rank = 1, .n1 = 1, .n2 = 1};
  snprintf(info.path, sizeof info.path, CAROM_RESULT_AUDIT_GROUP "/%s", column->key);
  return info;
}
