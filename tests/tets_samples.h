// Meshes of tetrahedra for tests: random ones from qhull, and a writer of every format that the readers take.
#ifndef CAROM_TESTS_TETS_SAMPLES_H
#define CAROM_TESTS_TETS_SAMPLES_H

#include <libqhull_r/qhull_ra.h>
#include <zlib.h>

#include "carom/tets.h"
#include "test.h"

// ---- Delaunay -----------------------------------------------------------------------------------

// The tetrahedra of a Delaunay triangulation of random points in a cube of that side; slivers on the hull are left out.
// Every tetrahedron is kept with the given chance. As a mesh that was made by hand: its
// arrays are malloc's.
static inline carom_tets delaunay(carom_random *r, int count, double side, double chance) {
  carom_tets m = {.node_count = count, .nodes = calloc((size_t)count, sizeof *m.nodes)};
  coordT *points = calloc(3 * (size_t)count, sizeof *points);
  for (int i = 0; i < count; i++) {
    double x = carom_random_between(r, 0, side), y = carom_random_between(r, 0, side);
    m.nodes[i] = cm_vec3(x, y, carom_random_between(r, 0, side));
    memcpy(points + 3 * i, &m.nodes[i], 3 * sizeof(double));
  }
  qhT memory, *qh = &memory;
  facetT *facet;
  vertexT *vertex, **vertexp;
  qh_zero(qh, stderr);
  if (qh_new_qhull(qh, 3, count, points, False, (char[]){"qhull d QJ Pp"}, NULL, stderr)) abort();
  m.tets = calloc((size_t)qh->num_facets + 1, sizeof *m.tets);
  FORALLfacets {
    int v[4], k = 0;
    if (facet->upperdelaunay) continue;
    FOREACHvertex_(facet->vertices) v[k++] = qh_pointid(qh, vertex->point);
    carom_vec3 a = m.nodes[v[0]], b = cm_sub(m.nodes[v[1]], a), c = cm_sub(m.nodes[v[2]], a),
               d = cm_sub(m.nodes[v[3]], a);
    double volume = cm_dot(cm_cross(b, c), d) / 6;
    if (fabs(volume) < 1e-9 * side * side * side || carom_random_uniform(r) > chance) continue;
    int *t = m.tets[m.tet_count++];
    t[0] = v[0], t[1] = v[1], t[2] = volume > 0 ? v[2] : v[3], t[3] = volume > 0 ? v[3] : v[2];
  }
  int curlong, totlong;
  qh_freeqhull(qh, !qh_ALL);
  qh_memfreeshort(qh, &curlong, &totlong);
  free(points);
  return m;
}

// The same without loose nodes; empty where no tetrahedron was kept.
static inline carom_tets sound_delaunay(carom_random *r, int count, double side, double chance) {
  carom_tets raw = delaunay(r, count, side, chance), m = {0};
  carom_tets_options options = {.scale = 1, .drop_loose = true};
  carom_error error = {0};
  if (raw.tet_count > 0 && carom_tets_init(&raw, &options, NULL, &m, &error))
    test_fail(__FILE__, __LINE__, "%s", error.message);
  free(raw.nodes);
  free(raw.tets);
  return m;
}

// ---- comparing ----------------------------------------------------------------------------------

static inline bool same_tets(const carom_tets *a, const carom_tets *b) {
  return a->node_count == b->node_count && a->tet_count == b->tet_count &&
         memcmp(a->nodes, b->nodes, (size_t)a->node_count * sizeof *a->nodes) == 0 &&
         memcmp(a->tets, b->tets, (size_t)a->tet_count * sizeof *a->tets) == 0;
}

static inline bool same_groups(const carom_tets *a, const carom_tets *b) {
  if (!a->groups || !b->groups) return a->groups == b->groups;
  return memcmp(a->groups, b->groups, (size_t)a->tet_count * sizeof(int)) == 0;
}

// What the header promises of every mesh.
static inline bool is_sound(const carom_tets *m) {
  char *used = calloc((size_t)m->node_count, 1);
  bool sound = m->node_count >= 4 && m->tet_count >= 1;
  for (int t = 0; t < m->tet_count; t++) {
    const int *v = m->tets[t];
    for (int k = 0; k < 4; k++) {
      if (v[k] < 0 || v[k] >= m->node_count) return false;
      used[v[k]] = 1;
    }
    carom_vec3 a = m->nodes[v[0]];
    sound =
        sound && cm_dot(cm_cross(cm_sub(m->nodes[v[1]], a), cm_sub(m->nodes[v[2]], a)), cm_sub(m->nodes[v[3]], a)) > 0;
  }
  for (int i = 0; i < m->node_count; i++) sound = sound && used[i] && cm_finite(m->nodes[i]);
  free(used);
  return sound;
}

// ---- writing ------------------------------------------------------------------------------------

typedef struct sample {
  const char *name;
  char *data;
  size_t size;
} sample;

static inline void put_swapped(FILE *f, const void *data, size_t size, bool swapped) {
  const char *bytes = data;
  for (size_t i = 0; i < size; i++) fputc(bytes[swapped ? size - 1 - i : i], f);
}
static inline void put_int(FILE *f, int value, bool swapped) { put_swapped(f, &value, 4, swapped); }
static inline void put_long(FILE *f, int64_t value, bool swapped) { put_swapped(f, &value, 8, swapped); }
static inline void put_real(FILE *f, double value, bool swapped) { put_swapped(f, &value, 8, swapped); }
static inline void put_node(FILE *f, carom_vec3 p, bool swapped) {
  put_real(f, p.x, swapped), put_real(f, p.y, swapped), put_real(f, p.z, swapped);
}

// Gmsh 2.2; with a triangle among the elements, and node numbers with gaps.
static inline void write_msh2(FILE *f, const carom_tets *m, bool binary, bool swapped) {
  fprintf(f, "$MeshFormat\n2.2 %d 8\n", binary);
  if (binary) put_int(f, 1, swapped), fputc('\n', f);
  fprintf(f, "$EndMeshFormat\n$Comment\nfree text\n$EndComment\n$Nodes\n%d\n", m->node_count);
  for (int i = 0; i < m->node_count; i++) {
    carom_vec3 p = m->nodes[i];
    if (binary)
      put_int(f, 3 * i + 7, swapped), put_node(f, p, swapped);
    else
      fprintf(f, "%d %.17g %.17g %.17g\n", 3 * i + 7, p.x, p.y, p.z);
  }
  fprintf(f, "%s$EndNodes\n$Elements\n%d\n", binary ? "\n" : "", m->tet_count + 1);
  if (binary) {
    const int triangle[] = {2, 1, 2, 1, 0, 1, 7, 10, 13}, run[] = {4, m->tet_count, 2};
    for (int i = 0; i < 9; i++) put_int(f, triangle[i], swapped);
    for (int i = 0; i < 3; i++) put_int(f, run[i], swapped);
  } else {
    fprintf(f, "1 2 2 0 1 7 10 13\n");
  }
  for (int t = 0; t < m->tet_count; t++) {
    int group = m->groups ? m->groups[t] : 0, line[7] = {t + 2, group, 1};
    for (int k = 0; k < 4; k++) line[3 + k] = 3 * m->tets[t][k] + 7;
    if (!binary) fprintf(f, "%d 4 2 ", line[0]);
    for (int k = 0; k < 7; k++) {
      if (binary)
        put_int(f, line[k], swapped);
      else if (k > 0)
        fprintf(f, "%d%c", line[k], k < 6 ? ' ' : '\n');
    }
  }
  fprintf(f, "%s$EndElements\n", binary ? "\n" : "");
}

static inline void write_msh4_binary(FILE *f, const carom_tets *m) {
  fprintf(f, "$MeshFormat\n4.1 1 8\n");
  put_int(f, 1, false);
  fprintf(f, "\n$EndMeshFormat\n$Entities\n");
  // A point with a physical group, a curve, no surface, a volume.
  for (int i = 0; i < 4; i++) put_long(f, i != 2, false);
  put_int(f, 5, false), put_node(f, m->nodes[0], false), put_long(f, 1, false), put_int(f, 77, false);
  put_int(f, 6, false), put_node(f, m->nodes[0], false), put_node(f, m->nodes[0], false), put_long(f, 0, false);
  put_long(f, 2, false), put_int(f, 5, false), put_int(f, -5, false);
  put_int(f, 9, false), put_node(f, m->nodes[0], false), put_node(f, m->nodes[0], false), put_long(f, 2, false);
  put_int(f, 42, false), put_int(f, 43, false), put_long(f, 0, false);
  fprintf(f, "\n$EndEntities\n$Nodes\n");
  put_long(f, 1, false), put_long(f, m->node_count, false), put_long(f, 1, false), put_long(f, m->node_count, false);
  put_int(f, 3, false), put_int(f, 9, false), put_int(f, 0, false), put_long(f, m->node_count, false);
  for (int i = 0; i < m->node_count; i++) put_long(f, i + 1, false);
  for (int i = 0; i < m->node_count; i++) put_node(f, m->nodes[i], false);
  fprintf(f, "\n$EndNodes\n$Elements\n");
  put_long(f, 1, false), put_long(f, m->tet_count, false), put_long(f, 1, false), put_long(f, m->tet_count, false);
  put_int(f, 3, false), put_int(f, 9, false), put_int(f, 4, false), put_long(f, m->tet_count, false);
  for (int t = 0; t < m->tet_count; t++) {
    put_long(f, t + 1, false);
    for (int k = 0; k < 4; k++) put_long(f, m->tets[t][k] + 1, false);
  }
  fprintf(f, "\n$EndElements\n");
}

// Parametric nodes, and several blocks.
static inline void write_msh4_text(FILE *f, const carom_tets *m) {
  fprintf(f,
          "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"not a volume\"\n3 42 \"a name\"\n"
          "$EndPhysicalNames\n$Entities\n0 0 0 1\n9 0 0 0 1 1 1 2 42 43 0\n$EndEntities\n");
  int half = m->node_count / 2;
  fprintf(f, "$Nodes\n2 %d 1 %d\n2 1 1 %d\n", m->node_count, m->node_count, half);
  for (int i = 0; i < half; i++) fprintf(f, "%d\n", i + 1);
  for (int i = 0; i < half; i++)
    fprintf(f, "%.17g %.17g %.17g 0.5 0.25\n", m->nodes[i].x, m->nodes[i].y, m->nodes[i].z);
  fprintf(f, "3 9 0 %d\n", m->node_count - half);
  for (int i = half; i < m->node_count; i++) fprintf(f, "%d\n", i + 1);
  for (int i = half; i < m->node_count; i++)
    fprintf(f, "%.17g %.17g %.17g\n", m->nodes[i].x, m->nodes[i].y, m->nodes[i].z);
  fprintf(f, "$EndNodes\n$Elements\n2 %d 1 %d\n2 1 2 1\n%d 1 2 3\n3 9 4 %d\n", m->tet_count + 1, m->tet_count + 1,
          m->tet_count + 1, m->tet_count);
  for (int t = 0; t < m->tet_count; t++)
    fprintf(f, "%d %d %d %d %d\n", t + 1, m->tets[t][0] + 1, m->tets[t][1] + 1, m->tets[t][2] + 1, m->tets[t][3] + 1);
  fprintf(f, "$EndElements\n");
}

static inline void put_big(FILE *f, int value, bool text) {
  if (text)
    fprintf(f, "%d ", value);
  else
    put_int(f, value, true);
}

static inline void write_vtk(FILE *f, const carom_tets *m, bool text, bool new_cells) {
  fprintf(f, "# vtk DataFile Version %s\na title\n%s\nDATASET UNSTRUCTURED_GRID\n", new_cells ? "5.1" : "3.0",
          text ? "ASCII" : "BINARY");
  fprintf(f, "FIELD FieldData 1\nTIME 1 1 double\n");
  if (text)
    fprintf(f, "0.5\n");
  else
    put_real(f, 0.5, true), fputc('\n', f);
  fprintf(f, "POINTS %d double\n", m->node_count);
  for (int i = 0; i < m->node_count; i++) {
    if (text)
      fprintf(f, "%.17g %.17g %.17g\n", m->nodes[i].x, m->nodes[i].y, m->nodes[i].z);
    else
      put_node(f, m->nodes[i], true);
  }
  int n = m->tet_count;
  if (new_cells) {
    fprintf(f, "\nMETADATA\nINFORMATION 0\n\nCELLS %d %d\nOFFSETS vtktypeint64\n", n + 2, 4 * n + 3);
    for (int t = 0; t < n + 2; t++) {
      int offset = t <= n ? 4 * t : 4 * n + 3;
      if (text)
        fprintf(f, "%d ", offset);
      else
        put_long(f, offset, true);
    }
    fprintf(f, "\nCONNECTIVITY vtktypeint64\n");
    for (int i = 0; i < 4 * n + 3; i++) {
      int node = i < 4 * n ? m->tets[i / 4][i % 4] : i - 4 * n;
      if (text)
        fprintf(f, "%d ", node);
      else
        put_long(f, node, true);
    }
  } else {
    fprintf(f, "\nCELLS %d %d\n", n + 1, 5 * n + 4);
    for (int t = 0; t < n; t++) {
      put_big(f, 4, text);
      for (int k = 0; k < 4; k++) put_big(f, m->tets[t][k], text);
      if (text) fputc('\n', f);
    }
    for (int k = 0; k < 4; k++) put_big(f, k == 0 ? 3 : k - 1, text);
  }
  fprintf(f, "\nCELL_TYPES %d\n", n + 1);
  for (int t = 0; t <= n; t++) put_big(f, t < n ? 10 : 5, text);
  fprintf(f, "\nCELL_DATA %d\nSCALARS anything float 1\nLOOKUP_TABLE default\n", n + 1);
}

// How a DataArray of a .vtu is written.
typedef enum vtu_kind { VTU_TEXT = 0, VTU_INLINE = 1, VTU_APPENDED_RAW = 2, VTU_APPENDED_BASE64 = 3 } vtu_kind;
typedef struct vtu_writer {
  vtu_kind kind;
  bool packed, wide, apart;  // compressed by zlib; headers of 8 bytes; header and data padded apart
  FILE *file, *appended;
} vtu_writer;

static inline void put_base64(FILE *f, const void *data, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *b = data;
  for (size_t i = 0; i < size; i += 3) {
    unsigned v = (unsigned)b[i] << 16 | (i + 1 < size ? (unsigned)b[i + 1] << 8 : 0u) | (i + 2 < size ? b[i + 2] : 0u);
    fputc(digits[v >> 18], f), fputc(digits[v >> 12 & 63], f);
    fputc(i + 1 < size ? digits[v >> 6 & 63] : '=', f), fputc(i + 2 < size ? digits[v & 63] : '=', f);
  }
}

// The block with its header, as bytes; *head is how long the header is.
static inline sample vtu_block(const vtu_writer *w, const void *data, size_t size, size_t *head) {
  enum { BLOCK = 1000 };
  sample s = {0};
  FILE *f = open_memstream(&s.data, &s.size), *body;
  uint64_t header[1000] = {size};
  int count = 1;
  char *packed = NULL;
  size_t packed_size = 0;
  body = open_memstream(&packed, &packed_size);
  if (w->packed) {
    header[0] = (size + BLOCK - 1) / BLOCK, header[1] = BLOCK, header[2] = size % BLOCK;
    for (count = 3; (size_t)(count - 3) * BLOCK < size; count++) {
      size_t at = (size_t)(count - 3) * BLOCK, part = size - at < BLOCK ? size - at : BLOCK;
      unsigned char out[2 * BLOCK];
      uLongf length = sizeof out;
      if (compress(out, &length, (const unsigned char *)data + at, part) != Z_OK) abort();
      fwrite(out, 1, length, body);
      header[count] = length;
    }
  } else {
    fwrite(data, 1, size, body);
  }
  fclose(body);
  for (int i = 0; i < count; i++) {
    uint32_t narrow = (uint32_t)header[i];
    if (w->wide)
      fwrite(&header[i], 1, 8, f);
    else
      fwrite(&narrow, 1, 4, f);
  }
  *head = (size_t)count * (w->wide ? 8 : 4);
  fwrite(packed, 1, packed_size, f);
  fclose(f);
  free(packed);
  return s;
}

static inline void put_array(vtu_writer *w, const char *attributes, const void *data, size_t size) {
  size_t head;
  sample block = vtu_block(w, data, size, &head);
  if (w->kind == VTU_INLINE) {
    fprintf(w->file, "<DataArray %s format=\"binary\">\n  ", attributes);
    if (!w->apart) head = 0;
    put_base64(w->file, block.data, head);
    put_base64(w->file, block.data + head, block.size - head);
    fprintf(w->file, "\n</DataArray>\n");
  } else {
    fflush(w->appended);
    fprintf(w->file, "<DataArray %s format='appended' offset=\"%ld\"/>\n", attributes, ftell(w->appended));
    if (w->kind == VTU_APPENDED_RAW) fwrite(block.data, 1, block.size, w->appended);
    if (w->kind == VTU_APPENDED_BASE64) {
      if (!w->apart) head = 0;
      put_base64(w->appended, block.data, head);
      put_base64(w->appended, block.data + head, block.size - head);
    }
  }
  free(block.data);
}

static inline void write_vtu_text(FILE *f, const carom_tets *m) {
  fprintf(f,
          "<?xml version=\"1.0\"?>\n<!-- a > b -->\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" "
          "byte_order=\"LittleEndian\">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n"
          "<PointData><DataArray type=\"Float32\" Name=\"group\" format=\"ascii\">oh</DataArray></PointData>\n"
          "<Points>\n<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">\n",
          m->node_count, m->tet_count + 1);
  for (int i = 0; i < m->node_count; i++)
    fprintf(f, "%.17g %.17g %.17g\n", m->nodes[i].x, m->nodes[i].y, m->nodes[i].z);
  fprintf(
      f,
      "</DataArray>\n</Points>\n<Cells>\n<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">\n0 1 2\n");
  for (int t = 0; t < m->tet_count; t++)
    fprintf(f, "%d %d %d %d\n", m->tets[t][0], m->tets[t][1], m->tets[t][2], m->tets[t][3]);
  fprintf(f, "</DataArray>\n<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n3\n");
  for (int t = 0; t < m->tet_count; t++) fprintf(f, "%d\n", 4 * t + 7);
  fprintf(f, "</DataArray>\n<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">\n5\n");
  for (int t = 0; t < m->tet_count; t++) fprintf(f, "10 ");
  fprintf(f, "</DataArray>\n</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
}

static inline void write_vtu(FILE *f, const carom_tets *m, vtu_writer w) {
  char *appended = NULL;
  size_t size = 0, n = (size_t)m->tet_count;
  w.file = f;
  w.appended = open_memstream(&appended, &size);
  fprintf(f, "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"%s\"%s>\n",
          w.wide ? "UInt64" : "UInt32", w.packed ? " compressor=\"vtkZLibDataCompressor\"" : "");
  fprintf(f, "<UnstructuredGrid>\n<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n<Points>\n", m->node_count,
          m->tet_count);
  put_array(&w, "type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"", m->nodes, (size_t)m->node_count * 24);
  fprintf(f, "</Points>\n<Cells>\n");
  int64_t *wide = calloc(5 * n, 8);
  for (int i = 0; i < 4 * m->tet_count; i++) wide[i] = m->tets[i / 4][i % 4];
  for (size_t i = 0; i < n; i++) wide[4 * n + i] = 4 * ((int64_t)i + 1);
  put_array(&w, "type=\"Int64\" Name=\"connectivity\"", wide, 32 * n);
  put_array(&w, "type=\"Int64\" Name=\"offsets\"", wide + 4 * n, 8 * n);
  memset(wide, 10, n);
  put_array(&w, "type=\"UInt8\" Name=\"types\"", wide, n);
  free(wide);
  fprintf(f, "</Cells>\n");
  if (m->groups) {
    fprintf(f, "<CellData>\n");
    put_array(&w, "type=\"Int32\" Name=\"group\"", m->groups, 4 * n);
    fprintf(f, "</CellData>\n");
  }
  fprintf(f, "</Piece>\n</UnstructuredGrid>\n");
  fclose(w.appended);
  if (w.kind != VTU_INLINE) {
    fprintf(f, "<AppendedData encoding=\"%s\">\n_", w.kind == VTU_APPENDED_RAW ? "raw" : "base64");
    fwrite(appended, 1, size, f);
    fprintf(f, "\n</AppendedData>\n");
  }
  fprintf(f, "</VTKFile>\n");
  free(appended);
}

static inline void write_sample(FILE *f, const carom_tets *m, int format) {
  static const vtu_writer vtu[] = {
      {.kind = VTU_INLINE, .wide = true},
      {.kind = VTU_INLINE, .apart = true},
      {.kind = VTU_INLINE, .packed = true, .apart = true},
      {.kind = VTU_INLINE, .packed = true, .wide = true},
      {.kind = VTU_APPENDED_RAW, .wide = true},
      {.kind = VTU_APPENDED_RAW, .packed = true},
      {.kind = VTU_APPENDED_BASE64},
      {.kind = VTU_APPENDED_BASE64, .packed = true, .apart = true, .wide = true},
  };
  if (format < 3) write_msh2(f, m, format > 0, format == 2);
  if (format == 3) write_msh4_text(f, m);
  if (format == 4) write_msh4_binary(f, m);
  if (format >= 5 && format < 9) write_vtk(f, m, format % 2, format >= 7);
  if (format == 9) write_vtu_text(f, m);
  if (format >= 10 && format < 18) write_vtu(f, m, vtu[format - 10]);
}

enum { SAMPLES = 18 };

static inline sample make_sample(const carom_tets *m, int format) {
  sample s = {format < 5 ? "a.msh" : format < 9 ? "a.vtk" : "a.vtu", NULL, 0};
  FILE *f = open_memstream(&s.data, &s.size);
  write_sample(f, m, format);
  fclose(f);
  return s;
}

// TetGen's two files, numbered from `first`.
static inline void make_tetgen(const carom_tets *m, int first, sample pair[2]) {
  for (int i = 0; i < 2; i++) {
    pair[i] = (sample){i ? "a.ele" : "a.node", NULL, 0};
    FILE *f = open_memstream(&pair[i].data, &pair[i].size);
    fprintf(f, i ? "# a comment\n%d 4 %d\n" : "%d 3 1 1\n", i ? m->tet_count : m->node_count, m->groups != NULL);
    for (int k = 0; i == 0 && k < m->node_count; k++)
      fprintf(f, "%d %.17g %.17g %.17g 0.5 1 # marker\n", k + first, m->nodes[k].x, m->nodes[k].y, m->nodes[k].z);
    for (int t = 0; i == 1 && t < m->tet_count; t++) {
      const int *v = m->tets[t];
      fprintf(f, "  %d  %d %d %d %d", t + first, v[0] + first, v[1] + first, v[2] + first, v[3] + first);
      if (m->groups) fprintf(f, " %d", m->groups[t]);
      fputc('\n', f);
    }
    fclose(f);
  }
}

#endif
