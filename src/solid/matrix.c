// The pattern of the stiffness, made once, and its values: those of the tetrahedra first, then every block of the
// matrix sums its pieces in a fixed order.
#include "solid/matrix.h"

#include <limits.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"

enum { LANES = CAROM_SOLID_LANES, PAIRS = CAROM_SOLID_PAIRS, CHUNK = 16, FEW_BLOCKS = 256, FEW_NODES = 1024 };

static int node_of(const carom_elastic *e, int tet, int corner) {
  return e->blocks[tet / LANES].node[corner][tet % LANES];
}

// ---- the pattern ----------------------------------------------------------------------------------------------------

static int ascending(const void *a, const void *b) {
  int p = *(const int *)a, q = *(const int *)b;
  return (p > q) - (p < q);
}

// All nodes of the tetrahedra about a node, each once, ascending; `nodes` has room for four a corner.
static int neighbors_of(const carom_elastic *e, int node, int *nodes) {
  int count = 0, unique = 0;
  for (int k = e->slot_start[node]; k < e->slot_start[node + 1]; k++) {
    int slot = e->slots[k], tet = slot / CAROM_SOLID_CORNERS * LANES + slot % LANES;
    for (int a = 0; a < 4; a++) nodes[count++] = node_of(e, tet, a);
  }
  qsort(nodes, (size_t)count, sizeof *nodes, ascending);
  for (int i = 0; i < count; i++)
    if (i == 0 || nodes[i] != nodes[unique - 1]) nodes[unique++] = nodes[i];
  return unique;
}

static int most_corners(const carom_elastic *e) {
  int most = 0;
  for (int i = 0; i < e->node_count; i++)
    if (e->slot_start[i + 1] - e->slot_start[i] > most) most = e->slot_start[i + 1] - e->slot_start[i];
  return most;
}

static void count_columns(carom_elastic_matrix *m, int *nodes) {
  for (int i = 0; i < m->elastic->node_count; i++) m->start[i + 1] = m->start[i] + neighbors_of(m->elastic, i, nodes);
}

static void fill_columns(carom_elastic_matrix *m, int *nodes) {
  for (int i = 0; i < m->elastic->node_count; i++) {
    int count = neighbors_of(m->elastic, i, nodes);
    for (int k = 0; k < count; k++) {
      m->column[m->start[i] + k] = nodes[k];
      if (nodes[k] == i) m->diagonal[i] = m->start[i] + k;
    }
  }
}

int carom_solid_matrix_find(const carom_elastic_matrix *m, int row, int column) {
  int low = m->start[row], high = m->start[row + 1];
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (m->column[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low < m->start[row + 1] && m->column[low] == column ? low : -1;
}

static int part_of(int tet, int a, int b) {
  bool transposed = a < b;
  int row = transposed ? b : a, column = transposed ? a : b;
  return 2 * (PAIRS * tet + row * (row + 1) / 2 + column) + (transposed ? 1 : 0);
}

static void fill_parts(carom_elastic_matrix *m) {
  const carom_elastic *e = m->elastic;
  int count = m->start[e->node_count];
  for (int pass = 0; pass < 2; pass++) {
    for (int tet = 0; tet < e->tet_count; tet++)
      for (int k = 0; k < 16; k++) {
        int at = carom_solid_matrix_find(m, node_of(e, tet, k / 4), node_of(e, tet, k % 4));
        if (pass == 0)
          m->part_start[at + 1]++;
        else
          m->parts[m->part_start[at]++] = part_of(tet, k / 4, k % 4);
      }
    for (int i = 0; pass == 0 && i < count; i++) m->part_start[i + 1] += m->part_start[i];
  }
  for (int i = count; i > 0; i--) m->part_start[i] = m->part_start[i - 1];
  m->part_start[0] = 0;
}

static bool make(carom_elastic_matrix *m) {
  const carom_elastic *e = m->elastic;
  const carom_allocator *a = &m->allocator;
  int *nodes = CAROM_NEW(a, int, 4 * (size_t)most_corners(e));
  bool made =
      nodes && CAROM_NEW_ALL(a, CAROM_ROOM(m->start, e->node_count + 1), CAROM_ROOM(m->diagonal, e->node_count));
  if (made) {
    count_columns(m, nodes);
    size_t count = (size_t)m->start[e->node_count];
    made = CAROM_NEW_ALL(a, CAROM_ROOM(m->column, count), CAROM_ROOM(m->blocks, count),
                         CAROM_ROOM(m->part_start, count + 1), CAROM_ROOM(m->parts, 16 * (size_t)e->tet_count));
  }
  // 64-byte alignment for vectors: one block of room more, and the pointer moved up where it is used.
  made = made && CAROM_NEW_ALL(a, CAROM_ROOM(m->elements, (size_t)e->block_count * CAROM_SOLID_ELEMENT + 8));
  if (made) {
    fill_columns(m, nodes);
    fill_parts(m);
  }
  carom_release(a, nodes);
  return made;
}

static double *elements_of(const carom_elastic_matrix *m) {
  return (double *)(((uintptr_t)m->elements + 63) & ~(uintptr_t)63);
}

carom_status carom_elastic_matrix_create(carom_elastic *elastic, const carom_allocator *allocator,
                                         carom_elastic_matrix **matrix, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *matrix = NULL;
  carom_elastic_matrix *m = CAROM_NEW(&a, carom_elastic_matrix, 1);
  if (m) *m = (carom_elastic_matrix){.elastic = elastic, .allocator = a};
  if (m && make(m)) {
    *matrix = m;
    return CAROM_OK;
  }
  carom_elastic_matrix_destroy(m);
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the stiffness of %d tetrahedra", elastic->tet_count);
}

void carom_elastic_matrix_destroy(carom_elastic_matrix *m) {
  if (!m) return;
  carom_allocator a = m->allocator;
  CAROM_RELEASE_ALL(&a, m->start, m->column, m->diagonal, m->part_start, m->parts, m->elements, m->blocks);
  carom_release(&a, m);
}

// ---- values ---------------------------------------------------------------------------------------------------------

static inline carom_mat3 block_sum(const carom_elastic_matrix *m, const double *elements, int at) {
  carom_mat3 sum = {{{0}}};
  for (int k = m->part_start[at]; k < m->part_start[at + 1]; k++) {
    int part = m->parts[k] / 2, tet = part / PAIRS, pair = part % PAIRS;
    const double *from =
        elements + (size_t)(tet / LANES) * CAROM_SOLID_ELEMENT + (size_t)(9 * pair * LANES + tet % LANES);
    if (m->parts[k] % 2)
      for (int i = 0; i < 9; i++) sum.m[i % 3][i / 3] += from[i * LANES];
    else
      for (int i = 0; i < 9; i++) sum.m[i / 3][i % 3] += from[i * LANES];
  }
  return sum;
}

static inline void row_sum(carom_elastic_matrix *m, const double *elements, int row) {
  for (int at = m->start[row]; at < m->start[row + 1]; at++) m->blocks[at] = block_sum(m, elements, at);
}

static inline int least(int a, int b) { return a < b ? a : b; }

void carom_solid_matrix_fill(carom_elastic_matrix *m, const carom_solid_request *request) {
  const carom_elastic *e = m->elastic;
  double *elements = elements_of(m);
  int threads = carom_solid_threads(e, e->block_count, FEW_BLOCKS);
  CAROM_PARALLEL_FOR(threads, schedule(static),
                     for (int i = 0; i < e->block_count; i += CHUNK)
                         carom_solid_elements(e, request, i, least(i + CHUNK, e->block_count), elements));
  threads = carom_solid_threads(e, e->node_count, FEW_NODES);
  CAROM_PARALLEL_FOR(threads, schedule(static), for (int i = 0; i < e->node_count; i++) row_sum(m, elements, i));
}

void carom_elastic_matrix_fill(carom_elastic_matrix *m, const carom_vec3 *x, carom_elastic_stiffness which) {
  carom_solid_request request = {.x = x, .which = which};
  carom_solid_matrix_fill(m, &request);
}

static inline carom_vec3 row_times(const carom_elastic_matrix *m, int row, const carom_vec3 *u) {
  carom_vec3 sum = {0, 0, 0};
  for (int at = m->start[row]; at < m->start[row + 1]; at++)
    sum = cm_add(sum, cm_mulv(m->blocks[at], u[m->column[at]]));
  return sum;
}

void carom_elastic_matrix_times(const carom_elastic_matrix *m, const carom_vec3 *u, carom_vec3 *y) {
  const carom_elastic *e = m->elastic;
  int threads = carom_solid_threads(e, e->node_count, FEW_NODES);
  CAROM_PARALLEL_FOR(threads, schedule(static), for (int i = 0; i < e->node_count; i++) y[i] = row_times(m, i, u));
}

carom_elastic_blocks carom_elastic_matrix_blocks(const carom_elastic_matrix *m) {
  return (carom_elastic_blocks){m->elastic->node_count, m->start, m->column, m->blocks};
}
