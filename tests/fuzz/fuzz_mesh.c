// Mesh files from strangers, through everything that is done with them. Run with -timeout and -max_len as for any
// libFuzzer target; tests/data/meshes is a good corpus to begin with.
#include "carom/geometry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const char *name, const uint8_t *data, size_t size, const carom_mesh_options *options) {
  carom_mesh mesh;
  carom_error error;
  if (carom_mesh_parse(&(carom_bytes){name, data, size}, options, NULL, &mesh, &error) != CAROM_OK) return;
  for (int hull = 0; hull < 2; hull++) {
    carom_mesh_options o = *options;
    const carom_shape *shape = NULL;
    carom_mass mass;
    o.hull = hull;
    if (carom_shape_create_mesh(&mesh, &o, NULL, &shape, &error) != CAROM_OK) continue;
    const carom_polytope *p = carom_shape_polytope(shape);
    if (p->vertex_count - p->edge_count + p->face_count != 2) __builtin_trap();
    if (carom_shape_mass(shape, 1000, &mass, &error) == CAROM_OK && !(mass.mass > 0)) __builtin_trap();
    carom_shape_release(shape);
  }
  carom_mass mass;
  if (carom_mesh_mass(&mesh, 1000, &mass, &error) == CAROM_OK && !(mass.mass > 0)) __builtin_trap();
  carom_mesh_release(&mesh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  carom_mesh_options options = carom_mesh_default_options();
  use("x.obj", data, size, &options);
  use("x.stl", data, size, &options);
  options.weld_tolerance = 0;
  use("x", data, size, &options);
  return 0;
}
