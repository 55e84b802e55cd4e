// Solids for tests and benchmarks: boxes cut into cells of five or six tetrahedra.
#ifndef CAROM_SAMPLES_SOLID_SAMPLES_H
#define CAROM_SAMPLES_SOLID_SAMPLES_H

#include <stdlib.h>

#include "carom/elastic.h"

typedef struct solid_mesh {
  int node_count, tet_count, skin_count;
  carom_vec3 *nodes;
  int (*tets)[4];
  int (*skin)[3];  // outward
} solid_mesh;

typedef struct solid_box {
  int cells[3];
  carom_vec3 size;  // from the origin
  bool six;         // six tetrahedra a cell about a diagonal; else five, mirrored from cell to cell
  double disorder;  // of inner nodes, over the size of a cell
  uint64_t seed;
} solid_box;

static inline int solid_box_node(const solid_box *b, int i, int j, int k) {
  return i + (b->cells[0] + 1) * (j + (b->cells[1] + 1) * k);
}

static inline void solid_box_add_nodes(const solid_box *b, solid_mesh *m) {
  const int *n = b->cells;
  carom_random random = carom_random_make(b->seed, 0);
  for (int k = 0; k <= n[2]; k++)
    for (int j = 0; j <= n[1]; j++)
      for (int i = 0; i <= n[0]; i++) {
        bool inner = i > 0 && i < n[0] && j > 0 && j < n[1] && k > 0 && k < n[2];
        double d[3];
        for (int c = 0; c < 3; c++) d[c] = inner ? b->disorder * carom_random_between(&random, -1, 1) : 0;
        m->nodes[m->node_count++] =
            cm_vec3(b->size.x * (i + d[0]) / n[0], b->size.y * (j + d[1]) / n[1], b->size.z * (k + d[2]) / n[2]);
      }
}

static inline double solid_volume6(const solid_mesh *m, const int *t) {
  carom_vec3 a = m->nodes[t[0]];
  return cm_dot(cm_cross(cm_sub(m->nodes[t[1]], a), cm_sub(m->nodes[t[2]], a)), cm_sub(m->nodes[t[3]], a));
}

// The corner of a cell with bits 1, 2, 4 for x, y, z; mirrored where the cell is odd.
static inline void solid_box_add_cell(const solid_box *b, const int at[3], solid_mesh *m) {
  static const int FIVE[5][4] = {{0, 1, 2, 4}, {3, 1, 2, 7}, {5, 1, 4, 7}, {6, 2, 4, 7}, {1, 2, 4, 7}};
  static const int SIX[6][4] = {{0, 1, 3, 7}, {0, 1, 5, 7}, {0, 2, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 6, 7}};
  for (int t = 0; t < (b->six ? 6 : 5); t++) {
    int *tet = m->tets[m->tet_count++];
    for (int a = 0; a < 4; a++) {
      int corner = b->six ? SIX[t][a] : FIVE[t][a];
      if (!b->six) corner ^= (at[0] & 1) | (at[1] & 1) << 1 | (at[2] & 1) << 2;
      tet[a] = solid_box_node(b, at[0] + (corner & 1), at[1] + (corner >> 1 & 1), at[2] + (corner >> 2 & 1));
    }
    if (solid_volume6(m, tet) < 0) {
      int swap = tet[2];
      tet[2] = tet[3], tet[3] = swap;
    }
  }
}

// Whether three nodes lie on one of the six faces.
static inline bool solid_box_on_face(const solid_box *b, const int *nodes) {
  for (int c = 0; c < 3; c++)
    for (int side = 0; side < 2; side++) {
      bool all = true;
      for (int k = 0; k < 3; k++) {
        int n = nodes[k], nx = b->cells[0] + 1, ny = b->cells[1] + 1;
        int index[3] = {n % nx, n / nx % ny, n / nx / ny};
        all = all && index[c] == (side ? b->cells[c] : 0);
      }
      if (all) return true;
    }
  return false;
}

static inline void solid_box_add_skin(const solid_box *b, solid_mesh *m) {
  static const int FACE[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  for (int t = 0; t < m->tet_count; t++)
    for (int f = 0; f < 4; f++) {
      int *to = m->skin[m->skin_count];
      for (int k = 0; k < 3; k++) to[k] = m->tets[t][FACE[f][k]];
      if (solid_box_on_face(b, to)) m->skin_count++;
    }
}

static inline solid_mesh solid_box_make(const solid_box *b) {
  const int *n = b->cells;
  size_t cells = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
  solid_mesh m = {0};
  m.nodes = malloc((size_t)(n[0] + 1) * (size_t)(n[1] + 1) * (size_t)(n[2] + 1) * sizeof *m.nodes);
  m.tets = malloc((b->six ? 6 : 5) * cells * sizeof *m.tets);
  m.skin = malloc((4 * (size_t)(n[0] * n[1] + n[1] * n[2] + n[2] * n[0]) + 1) * sizeof *m.skin);
  solid_box_add_nodes(b, &m);
  for (int k = 0; k < n[2]; k++)
    for (int j = 0; j < n[1]; j++)
      for (int i = 0; i < n[0]; i++) solid_box_add_cell(b, (const int[]){i, j, k}, &m);
  solid_box_add_skin(b, &m);
  return m;
}

static inline void solid_mesh_free(solid_mesh *m) {
  free(m->nodes);
  free(m->tets);
  free(m->skin);
  *m = (solid_mesh){0};
}

static inline carom_elastic_def solid_def(const solid_mesh *m, const carom_elastic_material *material) {
  carom_elastic_def def = carom_elastic_default_def();
  def.node_count = m->node_count, def.nodes = m->nodes;
  def.tet_count = m->tet_count, def.tets = (const int(*)[4])m->tets;
  def.material_count = 1, def.materials = material;
  return def;
}

#endif
