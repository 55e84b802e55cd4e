// Meshes of tetrahedra to files: .vtu (XML, base64) and Gmsh's .msh 4.1 (text).
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vtk_block.h"
#include "geometry/tets.h"

static carom_allocator allocator_of(const carom_tets *tets) {
  return tets->allocator.allocate ? tets->allocator : carom_allocator_default();
}

// ---- VTU ----------------------------------------------------------------------------------------

typedef struct vtu_array {
  const char *type, *name;
  const void *data;
  size_t size;
  int components;
} vtu_array;

// With the indentation of none: the data are one run of base64.
static void add_array(carom_text_buffer *t, const vtu_array *a) {
  carom_text_buffer_print(t, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"binary\">\n",
                          a->type, a->name, a->components);
  carom_vtk_add_block(t, a->data, a->size);
  carom_text_buffer_add(t, "\n</DataArray>\n");
}

// Offsets and types of cells follow from their number.
static void add_cells(carom_text_buffer *t, const carom_tets *m) {
  enum { TETRAHEDRON = 10 };
  size_t n = (size_t)m->tet_count;
  int *ends = CAROM_NEW(&t->allocator, int, n);
  unsigned char *types = CAROM_NEW(&t->allocator, unsigned char, n);
  if (ends && types) {
    for (int i = 0; i < m->tet_count; i++) ends[i] = 4 * (i + 1);
    memset(types, TETRAHEDRON, n);
    carom_text_buffer_add(t, "<Cells>\n");
    add_array(t, &(vtu_array){"Int32", "connectivity", m->tets, 4 * n * sizeof(int), 1});
    add_array(t, &(vtu_array){"Int32", "offsets", ends, n * sizeof(int), 1});
    add_array(t, &(vtu_array){"UInt8", "types", types, n, 1});
    carom_text_buffer_add(t, "</Cells>\n");
  } else {
    t->failed = true;
  }
  CAROM_RELEASE_ALL(&t->allocator, ends, types);
}

static void add_vtu(carom_text_buffer *t, const carom_tets *m) {
  carom_text_buffer_print(t,
                          "<?xml version=\"1.0\"?>\n<!-- made by carom -->\n<VTKFile type=\"UnstructuredGrid\" "
                          "version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\">\n<UnstructuredGrid>\n"
                          "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n<Points>\n",
                          carom_vtk_byte_order(), m->node_count, m->tet_count);
  add_array(t, &(vtu_array){"Float64", "points", m->nodes, (size_t)m->node_count * sizeof *m->nodes, 3});
  carom_text_buffer_add(t, "</Points>\n");
  add_cells(t, m);
  if (m->groups) {
    carom_text_buffer_add(t, "<CellData>\n");
    add_array(t, &(vtu_array){"Int32", "group", m->groups, (size_t)m->tet_count * sizeof(int), 1});
    carom_text_buffer_add(t, "</CellData>\n");
  }
  carom_text_buffer_add(t, "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
}

// ---- MSH ----------------------------------------------------------------------------------------

static int ascending(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

// The groups that there are, each once; null when out of memory. Volume i + 1 of the file is that of group i.
static int *list_groups(const carom_tets *m, const carom_allocator *allocator, int *count) {
  int *groups = CAROM_NEW(allocator, int, m->groups ? m->tet_count : 1);
  *count = 1;
  if (!groups || !m->groups) return groups;
  memcpy(groups, m->groups, (size_t)m->tet_count * sizeof(int));
  qsort(groups, (size_t)m->tet_count, sizeof(int), ascending);
  for (int t = 1; t < m->tet_count; t++)
    if (groups[t] != groups[*count - 1]) groups[(*count)++] = groups[t];
  return groups;
}

static void add_names(carom_text_buffer *t, const carom_tets *m) {
  if (m->name_count == 0) return;
  carom_text_buffer_print(t, "$PhysicalNames\n%d\n", m->name_count);
  for (int i = 0; i < m->name_count; i++) {
    carom_text_buffer_print(t, "3 %d \"", m->names[i].group);
    for (const char *c = m->names[i].name; *c; c++) carom_text_buffer_add_n(t, *c == '"' || *c == '\n' ? "'" : c, 1);
    carom_text_buffer_add(t, "\"\n");
  }
  carom_text_buffer_add(t, "$EndPhysicalNames\n");
}

static void add_point(carom_text_buffer *t, carom_vec3 p, const char *end) {
  const double x[3] = {p.x, p.y, p.z};
  for (int k = 0; k < 3; k++) {
    carom_text_buffer_number(t, x[k], 17);
    carom_text_buffer_add(t, k < 2 ? " " : end);
  }
}

// A volume for each group, in a line, as Gmsh wants it; their boxes are all that of the mesh.
static void add_entities(carom_text_buffer *t, const carom_tets *m, const int *groups, int count) {
  carom_vec3 low = m->nodes[0], high = m->nodes[0];
  for (int i = 1; i < m->node_count; i++) {
    carom_vec3 p = m->nodes[i];
    low = cm_vec3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
    high = cm_vec3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
  }
  carom_text_buffer_print(t, "$Entities\n0 0 0 %d\n", count);
  for (int i = 0; i < count; i++) {
    carom_text_buffer_print(t, "%d ", i + 1);
    add_point(t, low, " ");
    add_point(t, high, " ");
    if (groups[i] != 0)
      carom_text_buffer_print(t, "1 %d 0\n", groups[i]);
    else
      carom_text_buffer_add(t, "0 0\n");
  }
  carom_text_buffer_add(t, "$EndEntities\n");
}

static void add_nodes(carom_text_buffer *t, const carom_tets *m) {
  int n = m->node_count;
  carom_text_buffer_print(t, "$Nodes\n1 %d 1 %d\n3 1 0 %d\n", n, n, n);
  for (int i = 1; i <= n; i++) carom_text_buffer_print(t, "%d\n", i);
  for (int i = 0; i < n; i++) add_point(t, m->nodes[i], "\n");
  carom_text_buffer_add(t, "$EndNodes\n");
}

static int group_of(const carom_tets *m, int tet) { return m->groups ? m->groups[tet] : 0; }

static int run_end(const carom_tets *m, int begin) {
  int end = begin + 1;
  while (end < m->tet_count && group_of(m, end) == group_of(m, begin)) end++;
  return end;
}

// A block for each run of one group, so that the order stays.
static void add_elements(carom_text_buffer *t, const carom_tets *m, const int *groups, int count) {
  int blocks = 0;
  for (int i = 0; i < m->tet_count; i = run_end(m, i)) blocks++;
  carom_text_buffer_print(t, "$Elements\n%d %d 1 %d\n", blocks, m->tet_count, m->tet_count);
  for (int i = 0, end; i < m->tet_count; i = end) {
    int group = group_of(m, i);
    end = run_end(m, i);
    const int *found = bsearch(&group, groups, (size_t)count, sizeof(int), ascending);
    carom_text_buffer_print(t, "3 %d 4 %d\n", (int)(found - groups) + 1, end - i);
    for (int k = i; k < end; k++) {
      const int *v = m->tets[k];
      carom_text_buffer_print(t, "%d %d %d %d %d\n", k + 1, v[0] + 1, v[1] + 1, v[2] + 1, v[3] + 1);
    }
  }
  carom_text_buffer_add(t, "$EndElements\n");
}

static void add_msh(carom_text_buffer *t, const carom_tets *m) {
  int count, *groups = list_groups(m, &t->allocator, &count);
  if (groups) {
    carom_text_buffer_add(t, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n");
    add_names(t, m);
    add_entities(t, m, groups, count);
    add_nodes(t, m);
    add_elements(t, m, groups, count);
  } else {
    t->failed = true;
  }
  carom_release(&t->allocator, groups);
}

// ---- files --------------------------------------------------------------------------------------

carom_status carom_tets_write(const carom_tets *tets, const char *path, carom_error *error) {
  bool vtu = carom_has_extension(path, "vtu"), msh = carom_has_extension(path, "msh");
  if (!vtu && !msh)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "%s: a mesh of tetrahedra is written as NAME.vtu or NAME.msh", path);
  carom_allocator allocator = allocator_of(tets);
  carom_text_buffer text = carom_text_buffer_make(&allocator);
  if (vtu)
    add_vtu(&text, tets);
  else
    add_msh(&text, tets);
  carom_status status = text.failed ? carom_fail(error, CAROM_ERR_MEMORY, "%s: out of memory for writing it", path)
                                    : carom_write_file(&(carom_bytes){path, text.data, text.length}, error);
  carom_text_buffer_release(&text);
  return status;
}
