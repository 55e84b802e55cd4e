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

// The series before those of the audit: what a row is made of.
static const struct {
  carom_result_field_id id;
  carom_series_of of;
  int rank, components;
  bool single;
} told[CAROM_SERIES_AUDIT] = {
    [CAROM_SERIES_POSITION] = {CAROM_FIELD_POSITION, CAROM_OF_BODIES, 3, 3, false},
    [CAROM_SERIES_ORIENTATION] = {CAROM_FIELD_ORIENTATION, CAROM_OF_BODIES, 3, 4, false},
    [CAROM_SERIES_VELOCITY] = {CAROM_FIELD_VELOCITY, CAROM_OF_BODIES, 3, 3, false},
    [CAROM_SERIES_ANGULAR_VELOCITY] = {CAROM_FIELD_ANGULAR_VELOCITY, CAROM_OF_BODIES, 3, 3, false},
    [CAROM_SERIES_CONTACT_MOMENT] = {CAROM_FIELD_CONTACT_MOMENT, CAROM_OF_BODIES, 3, 9, false},
    [CAROM_SERIES_NODE_POSITION] = {CAROM_FIELD_NODE_POSITION, CAROM_OF_NODES, 3, 3, false},
    [CAROM_SERIES_NODE_VELOCITY] = {CAROM_FIELD_NODE_VELOCITY, CAROM_OF_NODES, 3, 3, false},
    [CAROM_SERIES_VON_MISES] = {CAROM_FIELD_VON_MISES, CAROM_OF_TETS, 2, 1, true},
    [CAROM_SERIES_ELASTIC_ENERGY] = {CAROM_FIELD_ELASTIC_ENERGY, CAROM_OF_SOLIDS, 2, 1, false},
    [CAROM_SERIES_LEAST_J] = {CAROM_FIELD_LEAST_J, CAROM_OF_SOLIDS, 2, 1, false},
    [CAROM_SERIES_CHANNELS] = {CAROM_FIELD_CHANNEL_VALUE, CAROM_OF_CHANNELS, 2, 1, false},
};

carom_series_of carom_series_kind(int series) { return told[series].of; }

static carom_series_info describe_field(carom_result_field_id id, int rank, int n1, int n2) {
  carom_result_field field = carom_result_fields[id];
  carom_series_info info = {.unit = field.unit, .description = field.description, .rank = rank};
  info.n1 = (size_t)n1;
  info.n2 = (size_t)n2;
  snprintf(info.path, sizeof info.path, "%s", field.path);
  return info;
}

carom_series_info carom_series_describe(int series, const carom_series_counts *counts) {
  if (series < CAROM_SERIES_AUDIT) {
    carom_series_info info =
        describe_field(told[series].id, told[series].rank, counts->of[told[series].of], told[series].components);
    info.single = told[series].single;
    return info;
  }
  if (series == carom_series_count() - 1) return describe_field(CAROM_FIELD_TIME, 1, 1, 1);
  const carom_audit_column *column = &columns[series - CAROM_SERIES_AUDIT];
  carom_series_info info = {.unit = column->unit, .description = column->label, .rank = 1, .n1 = 1, .n2 = 1};
  snprintf(info.path, sizeof info.path, CAROM_RESULT_AUDIT_GROUP "/%s", column->key);
  return info;
}
