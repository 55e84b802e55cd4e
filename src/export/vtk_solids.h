// Solids in exports for ParaView: an unstructured grid of all tetrahedra for each frame, a .vtu file beside the
// surfaces of rigid bodies.
#ifndef CAROM_SRC_EXPORT_VTK_SOLIDS_H
#define CAROM_SRC_EXPORT_VTK_SOLIDS_H

#include "base/text_buffer.h"
#include "carom/export.h"

enum { CAROM_VTK_SOLID_ARRAYS = 4 };  // connectivity, offsets, types, solids

typedef struct carom_vtk_solids {
  const carom_result *result;
  carom_text_buffer constants;  // what does not change from frame to frame, encoded
  size_t offset_of[CAROM_VTK_SOLID_ARRAYS];
} carom_vtk_solids;

// CAROM_ERR_MEMORY. Does nothing for results without solids.
carom_status carom_vtk_solids_create(carom_vtk_solids *solids, const carom_result *result, carom_error *error);
void carom_vtk_solids_release(carom_vtk_solids *solids);
// The whole file of a frame.
void carom_vtk_solids_add(const carom_vtk_solids *solids, const carom_frame *frame, carom_text_buffer *text);

#endif
