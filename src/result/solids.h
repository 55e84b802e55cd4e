// Solids in result files: the tables of /solids, and what is told of them in every frame.
#ifndef CAROM_SRC_RESULT_SOLIDS_H
#define CAROM_SRC_RESULT_SOLIDS_H

#include "carom/result.h"
#include "result/h5.h"

void carom_result_write_solids(carom_h5_file *file, const carom_model *model);  // nothing when there are none
void carom_result_read_solids(carom_h5_file *file, carom_result *result);
// Energies and least J of all frames, from the open datasets of the series.
void carom_result_read_solid_series(carom_h5_file *file, carom_result *result, const hid_t *datasets);

int carom_result_most_tets(const carom_model *model);  // of one solid
// A frame of the series that are measured.
typedef struct carom_solid_rows {
  double *von_mises;                 // (tet_count)
  double *elastic_energy, *least_J;  // (solid_count)
} carom_solid_rows;
// `scratch` holds the tetrahedra of the largest solid.
void carom_result_measure_solids(const carom_model *model, const carom_state *state, carom_mat3 *scratch,
                                 const carom_solid_rows *rows);

#endif
