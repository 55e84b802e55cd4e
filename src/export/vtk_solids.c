#include "export/vtk_solids.h"

#include "base/memory.h"
#include "base/vtk_block.h"

enum { CONNECTIVITY, OFFSETS, TYPES, SOLIDS };
enum { TETRAHEDRON = 10 };  // VTK_TETRA

static void fill(const carom_result *result, int *offsets, int *solid_of, unsigned char *types) {
  for (int s = 0; s < result->solid_count; s++) {
    const carom_result_solid *solid = &result->solids[s];
    for (int t = solid->tet_start; t < solid->tet_start + solid->tet_count; t++) {
      offsets[t] = 4 * (t + 1);
      solid_of[t] = s;
      types[t] = TETRAHEDRON;
    }
  }
}

static void encode(carom_vtk_solids *v, int array, const void *data, size_t size) {
  v->offset_of[array] = v->constants.length;
  carom_vtk_add_block(&v->constants, data, size);
}

carom_status carom_vtk_solids_create(carom_vtk_solids *v, const carom_result *result, carom_error *error) {
  const carom_allocator *a = &result->allocator;
  *v = (carom_vtk_solids){.result = result, .constants = carom_text_buffer_make(a)};
  if (result->solid_count == 0) return CAROM_OK;
  size_t tets = (size_t)result->tet_count;
  int *offsets, *solid_of;
  unsigned char *types;
  if (CAROM_NEW_ALL(a, CAROM_ROOM(offsets, tets), CAROM_ROOM(solid_of, tets), CAROM_ROOM(types, tets))) {
    fill(result, offsets, solid_of, types);
    encode(v, CONNECTIVITY, result->tets, tets * sizeof *result->tets);
    encode(v, OFFSETS, offsets, tets * sizeof *offsets);
    encode(v, TYPES, types, tets);
    encode(v, SOLIDS, solid_of, tets * sizeof *solid_of);
  } else {
    v->constants.failed = true;
  }
  CAROM_RELEASE_ALL(a, offsets, solid_of, types);
  if (!v->constants.failed) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d tetrahedra", result->tet_count);
}

void carom_vtk_solids_release(carom_vtk_solids *v) {
  if (v->result) carom_text_buffer_release(&v->constants);
}

static void add_array(carom_text_buffer *text, const char *type, const char *name, int components, size_t offset) {
  carom_text_buffer_print(
      text, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%zu\"/>\n", type,
      name, components, offset);
}

// Positions and velocities keep all their bits.
void carom_vtk_solids_add(const carom_vtk_solids *v, const carom_frame *frame, carom_text_buffer *t) {
  size_t nodes = 24 * (size_t)v->result->node_count, stresses = 4 * (size_t)v->result->tet_count;
  size_t velocity_at = carom_vtk_block_length(nodes), stress_at = 2 * velocity_at;
  size_t constants_at = stress_at + carom_vtk_block_length(stresses);
  carom_text_buffer_print(t,
                          "<?xml version=\"1.0\"?>\n<!-- made by carom -->\n<VTKFile type=\"UnstructuredGrid\" "
                          "version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\">\n<UnstructuredGrid>\n<FieldData>\n"
                          "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">",
                          carom_vtk_byte_order());
  carom_text_buffer_number(t, frame->time, 17);
  carom_text_buffer_print(t,
                          "</DataArray>\n</FieldData>\n<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n"
                          "<PointData Vectors=\"velocity\">\n",
                          v->result->node_count, v->result->tet_count);
  add_array(t, "Float64", "velocity", 3, velocity_at);
  carom_text_buffer_add(t, "</PointData>\n<CellData Scalars=\"von_mises\">\n");
  add_array(t, "Float32", "von_mises", 1, stress_at);
  add_array(t, "Int32", "solid", 1, constants_at + v->offset_of[SOLIDS]);
  carom_text_buffer_add(t, "</CellData>\n<Points>\n");
  add_array(t, "Float64", "points", 3, 0);
  carom_text_buffer_add(t, "</Points>\n<Cells>\n");
  add_array(t, "Int32", "connectivity", 1, constants_at + v->offset_of[CONNECTIVITY]);
  add_array(t, "Int32", "offsets", 1, constants_at + v->offset_of[OFFSETS]);
  add_array(t, "UInt8", "types", 1, constants_at + v->offset_of[TYPES]);
  carom_text_buffer_add(t, "</Cells>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"base64\">\n_");
  carom_vtk_add_block(t, frame->nodes, nodes);
  carom_vtk_add_block(t, frame->node_velocities, nodes);
  carom_vtk_add_block(t, frame->stresses, stresses);
  carom_text_buffer_add_n(t, v->constants.data, v->constants.length);
  carom_text_buffer_add(t, "\n</AppendedData>\n</VTKFile>\n");
}
