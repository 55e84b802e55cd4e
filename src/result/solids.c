#include "result/solids.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "result/file.h"
#include "result/recorder_head.h"

static const char *const law_names[CAROM_ELASTIC_LAWS] = {"neo-hooke", "stable", "ciarlet"};

static const carom_column solid_columns[] = {
    CAROM_COLUMN(SOLID_NAME, TEXT, carom_result_solid, name, .rank = 1),
    CAROM_COLUMN(SOLID_COLOR, COLOR, carom_result_solid, color, .rank = 1),
    CAROM_COLUMN(SOLID_LAW, WORD, carom_result_solid, law, .rank = 1, .n1 = 1, .n2 = CAROM_ELASTIC_LAWS,
                 .words = law_names),
    CAROM_COLUMN(SOLID_DENSITY, DOUBLE, carom_result_solid, density, .rank = 1),
    CAROM_COLUMN(SOLID_LAMBDA, DOUBLE, carom_result_solid, lambda, .rank = 1),
    CAROM_COLUMN(SOLID_MU, DOUBLE, carom_result_solid, mu, .rank = 1),
    CAROM_COLUMN(SOLID_DAMPING, DOUBLE, carom_result_solid, damping, .rank = 1),
    CAROM_COLUMN(SOLID_MASS, DOUBLE, carom_result_solid, mass, .rank = 1),
    CAROM_COLUMN(SOLID_NODE_START, INT, carom_result_solid, node_start, .rank = 1),
    CAROM_COLUMN(SOLID_NODE_COUNT, INT, carom_result_solid, node_count, .rank = 1),
    CAROM_COLUMN(SOLID_TET_START, INT, carom_result_solid, tet_start, .rank = 1),
    CAROM_COLUMN(SOLID_TET_COUNT, INT, carom_result_solid, tet_count, .rank = 1),
    CAROM_COLUMN(SOLID_TRIANGLE_START, INT, carom_result_solid, triangle_start, .rank = 1),
    CAROM_COLUMN(SOLID_TRIANGLE_COUNT, INT, carom_result_solid, triangle_count, .rank = 1),
};
static const carom_table solid_table = CAROM_TABLE(solid_columns, carom_result_solid);

// ---- measuring -----------------------------------------------------------------------------------------------------

int carom_result_most_tets(const carom_model *model) {
  int most = 0;
  for (int s = 0; s < model->solid_count; s++)
    if (model->solids[s].tet_count > most) most = model->solids[s].tet_count;
  return most;
}

void carom_result_measure_solids(const carom_model *model, const carom_state *state, carom_mat3 *scratch,
                                 const carom_solid_rows *rows) {
  for (int s = 0; s < model->solid_count; s++) {
    const carom_solid *solid = &model->solids[s];
    const carom_vec3 *x = state->nodes + solid->node_start, *v = state->node_velocities + solid->node_start;
    rows->elastic_energy[s] = carom_elastic_energy(solid->elastic, x, &rows->least_J[s], NULL);
    carom_elastic_stress(solid->elastic, x, v, scratch, rows->von_mises + solid->tet_start);
  }
}

// ---- writing -------------------------------------------------------------------------------------------------------

static void fill_rows(const carom_model *model, carom_result_solid *rows) {
  for (int s = 0, triangles = 0; s < model->solid_count; s++) {
    const carom_solid *solid = &model->solids[s];
    rows[s] = (carom_result_solid){.name = (char *)solid->name,
                                   .color = solid->color & 0xFFFFFFu,
                                   .law = (int)solid->law,
                                   .density = solid->matter.density,
                                   .lambda = solid->matter.lambda,
                                   .mu = solid->matter.mu,
                                   .damping = solid->matter.damping,
                                   .mass = solid->mass,
                                   .node_start = solid->node_start,
                                   .node_count = solid->node_count,
                                   .tet_start = solid->tet_start,
                                   .tet_count = solid->tet_count,
                                   .triangle_start = triangles,
                                   .triangle_count = solid->skin->triangle_count};
    triangles += solid->skin->triangle_count;
  }
}

static void write_corners(carom_h5_file *file, carom_result_field_id id, size_t count, size_t width,
                          const int *corners) {
  carom_h5_array array = carom_result_table(id, H5T_STD_I32LE, H5T_NATIVE_INT, 2, (hsize_t[]){count, width, 0});
  carom_h5_write(file, &array, corners);
}

// Skins count nodes in their solids, files over all.
static void write_skins(carom_h5_file *file, const carom_model *model, int triangle_count) {
  int(*triangles)[3] = carom_allocate(&file->allocator, (size_t)triangle_count, sizeof *triangles),
  (*next)[3] = triangles;
  if (!triangles) {
    carom_h5_fail_memory(file, "/solids/skin");
    return;
  }
  for (int s = 0; s < model->solid_count; s++) {
    const carom_solid *solid = &model->solids[s];
    for (int i = 0; i < solid->skin->triangle_count; i++, next++)
      for (int k = 0; k < 3; k++) (*next)[k] = solid->node_start + solid->skin->triangles[i][k];
  }
  write_corners(file, CAROM_FIELD_SOLID_SKIN, (size_t)triangle_count, 3, &triangles[0][0]);
  carom_release(&file->allocator, triangles);
}

void carom_result_write_solids(carom_h5_file *file, const carom_model *model) {
  if (model->solid_count == 0 || file->status != CAROM_OK) return;
  size_t nodes = (size_t)model->node_count;
  carom_result_solid *rows = CAROM_NEW(&file->allocator, carom_result_solid, model->solid_count);
  if (!rows) {
    carom_h5_fail_memory(file, "/solids");
    return;
  }
  fill_rows(model, rows);
  const carom_result_solid *last = &rows[model->solid_count - 1];
  carom_table_write(file, &solid_table, rows, (size_t)model->solid_count);
  carom_result_write_doubles(file, CAROM_FIELD_SOLID_REST, 2, (hsize_t[]){nodes, 3, 0}, &model->rest->x);
  carom_result_write_doubles(file, CAROM_FIELD_SOLID_NODE_MASS, 1, (hsize_t[]){nodes, 0, 0}, model->node_masses);
  write_corners(file, CAROM_FIELD_SOLID_TETS, (size_t)model->tet_count, 4, &model->tets[0][0]);
  write_skins(file, model, last->triangle_start + last->triangle_count);
  carom_release(&file->allocator, rows);
}

// ---- reading -------------------------------------------------------------------------------------------------------

static void *read_rows(carom_h5_file *file, carom_result_field_id id, hsize_t width, int *count) {
  bool whole = id == CAROM_FIELD_SOLID_TETS || id == CAROM_FIELD_SOLID_SKIN;
  hsize_t size[2] = {CAROM_H5_ANY, width};
  void *rows = carom_h5_read(file, carom_result_fields[id].path, whole ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE,
                             whole ? sizeof(int) : sizeof(double), width > 1 ? 2 : 1, size);
  *count = rows ? (int)size[0] : 0;
  return rows;
}

static bool all_finite(const double *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

// Solid after solid, without a gap.
static bool ranges_join(const carom_result *result) {
  int nodes = 0, tets = 0, triangles = 0;
  for (int s = 0; s < result->solid_count; s++) {
    const carom_result_solid *solid = &result->solids[s];
    if (solid->node_start != nodes || solid->tet_start != tets || solid->triangle_start != triangles) return false;
    if (solid->node_count < 4 || solid->tet_count < 1 || solid->triangle_count < 4) return false;
    if (solid->node_count > result->node_count - nodes || solid->tet_count > result->tet_count - tets) return false;
    if (solid->triangle_count > result->triangle_count - triangles) return false;
    nodes += solid->node_count;
    tets += solid->tet_count;
    triangles += solid->triangle_count;
  }
  return nodes == result->node_count && tets == result->tet_count && triangles == result->triangle_count;
}

static bool corners_fit(const carom_result_solid *solid, const int *corners, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (corners[i] < solid->node_start || corners[i] >= solid->node_start + solid->node_count) return false;
  return true;
}

static bool is_sound(const carom_result *result, const carom_result_solid *solid) {
  const double numbers[5] = {solid->density, solid->lambda, solid->mu, solid->damping, solid->mass};
  return solid->law >= 0 && solid->mass > 0 && all_finite(numbers, 5) &&
         corners_fit(solid, result->tets[solid->tet_start], 4 * (size_t)solid->tet_count) &&
         corners_fit(solid, result->skin[solid->triangle_start], 3 * (size_t)solid->triangle_count);
}

static bool masses_are_sound(const carom_result *result) {
  for (int i = 0; i < result->node_count; i++)
    if (!(result->node_masses[i] > 0)) return false;
  return all_finite(result->node_masses, (size_t)result->node_count);
}

static void check_solids(carom_h5_file *file, carom_result *result, int mass_count) {
  if (file->status != CAROM_OK) return;
  if (mass_count != result->node_count)
    carom_h5_fail_format(file, "/solids/node_mass", "has another length than /solids/rest");
  else if (!ranges_join(result))
    carom_h5_fail_format(file, "/solids", "has solids whose nodes, tetrahedra or triangles do not follow each other");
  else if (!all_finite(&result->rest->x, 3 * (size_t)result->node_count) || !masses_are_sound(result))
    carom_h5_fail_format(file, "/solids", "has a node without a place or a mass");
  for (int s = 0; file->status == CAROM_OK && s < result->solid_count; s++)
    if (!is_sound(result, &result->solids[s]))
      carom_h5_fail_format(file, "/solids", "has a solid of unknown law, without constants, or with nodes of another");
}

void carom_result_read_solids(carom_h5_file *file, carom_result *result) {
  if (!carom_h5_has(file, "/solids")) return;  // none, or an older file
  int mass_count = 0;
  result->solids = carom_table_read(file, &solid_table, &result->solid_count, &result->file->solid_names);
  for (int s = 0; s < result->solid_count; s++) result->solids[s].color &= 0xFFFFFFu;
  result->rest = read_rows(file, CAROM_FIELD_SOLID_REST, 3, &result->node_count);
  result->node_masses = read_rows(file, CAROM_FIELD_SOLID_NODE_MASS, 1, &mass_count);
  result->tets = read_rows(file, CAROM_FIELD_SOLID_TETS, 4, &result->tet_count);
  result->skin = read_rows(file, CAROM_FIELD_SOLID_SKIN, 3, &result->triangle_count);
  check_solids(file, result, mass_count);
}

static double *read_series(carom_h5_file *file, const carom_result *result, const hid_t *datasets, int series) {
  hsize_t start[2] = {0, 0}, size[2] = {(hsize_t)result->frame_count, (hsize_t)result->solid_count};
  double *values = CAROM_NEW(&file->allocator, double, (size_t)result->frame_count *(size_t)result->solid_count);
  if (!values) carom_h5_fail_memory(file, "the energies of solids");
  if (!values || result->frame_count == 0) return values;
  hid_t space = H5Dget_space(datasets[series]), memory = H5Screate_simple(2, size, NULL);
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) < 0 ||
      H5Dread(datasets[series], H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) < 0)
    carom_h5_fail(file, "the energies of solids");
  H5Sclose(memory);
  H5Sclose(space);
  return values;
}

void carom_result_read_solid_series(carom_h5_file *file, carom_result *result, const hid_t *datasets) {
  if (file->status != CAROM_OK || result->solid_count == 0) return;
  result->elastic_energies = read_series(file, result, datasets, CAROM_SERIES_ELASTIC_ENERGY);
  result->least_J = read_series(file, result, datasets, CAROM_SERIES_LEAST_J);
}

const char *carom_result_name(const carom_result *result, int body) {
  if (body >= 0) return result->bodies[body].name;
  return body == CAROM_WORLD ? "the world" : result->solids[CAROM_SOLID(body)].name;
}
