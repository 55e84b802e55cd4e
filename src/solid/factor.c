// Nodes in pairs, and the matrix as fronts want it: lower triangle by columns of six.
#include <limits.h>

#include "base/memory.h"
#include "solid/matrix.h"
#include "solve/front_factor.h"

enum { B = CAROM_FRONT_BLOCK };

struct carom_solid_factor {
  const carom_elastic_matrix *matrix;
  carom_allocator allocator;
  int pairs;
  int *place;             // (node_count) 2 pair + half
  int *start, *neighbor;  // graph of pairs below the diagonal
  int *column_start;      // (6 pairs + 1)
  double *value, *x;      // (column_start[6 pairs]), (6 pairs)
  carom_factor *factor;
};

// ---- pairs ----------------------------------------------------------------------------------------------------------

// The free neighbour that shares most tetrahedra with a node, or -1.
static int partner_of(const carom_solid_factor *f, int node) {
  const carom_elastic_matrix *m = f->matrix;
  int best = -1, most = 0;
  for (int at = m->start[node]; at < m->start[node + 1]; at++) {
    int other = m->column[at], shared = m->part_start[at + 1] - m->part_start[at];
    if (other != node && f->place[other] < 0 && shared > most) best = other, most = shared;
  }
  return best;
}

static void make_pairs(carom_solid_factor *f) {
  int n = f->matrix->elastic->node_count;
  for (int i = 0; i < n; i++) f->place[i] = -1;
  for (int i = 0; i < n; i++) {
    if (f->place[i] >= 0) continue;
    f->place[i] = 2 * f->pairs;
    int partner = partner_of(f, i);
    if (partner >= 0) f->place[partner] = 2 * f->pairs + 1;
    f->pairs++;
  }
}

// ---- the graph of pairs ---------------------------------------------------------------------------------------------

typedef struct pair_members {
  int *first, *second;  // (pairs) nodes; second -1 where there is none
  int *mark;            // (pairs)
} pair_members;

static void list_members(const carom_solid_factor *f, pair_members *p) {
  for (int k = 0; k < f->pairs; k++) p->second[k] = p->mark[k] = -1;
  for (int i = 0; i < f->matrix->elastic->node_count; i++)
    *(f->place[i] % 2 ? &p->second[f->place[i] / 2] : &p->first[f->place[i] / 2]) = i;
}

// Pairs below `pair` that have a block with it; null `list` only counts.
static int below(const carom_solid_factor *f, pair_members *p, int pair, int *list) {
  const carom_elastic_matrix *m = f->matrix;
  int nodes[2] = {p->first[pair], p->second[pair]}, count = 0, stamp = 2 * pair + (list ? 1 : 0);
  for (int k = 0; k < 2 && nodes[k] >= 0; k++)
    for (int at = m->start[nodes[k]]; at < m->start[nodes[k] + 1]; at++) {
      int other = f->place[m->column[at]] / 2;
      if (other <= pair || p->mark[other] == stamp) continue;
      p->mark[other] = stamp;
      int i = count++;
      if (!list) continue;
      for (; i > 0 && list[i - 1] > other; i--) list[i] = list[i - 1];  // ascending
      list[i] = other;
    }
  return count;
}

static bool make_graph(carom_solid_factor *f) {
  const carom_allocator *a = &f->allocator;
  pair_members p = {0};
  bool made = CAROM_NEW_ALL(a, CAROM_ROOM(p.first, f->pairs), CAROM_ROOM(p.second, f->pairs),
                            CAROM_ROOM(p.mark, f->pairs), CAROM_ROOM(f->start, f->pairs + 1));
  if (made) {
    list_members(f, &p);
    for (int k = 0; k < f->pairs; k++) f->start[k + 1] = f->start[k] + below(f, &p, k, NULL);
    f->neighbor = CAROM_NEW(a, int, f->start[f->pairs] + 1);
    made = f->neighbor != NULL;
  }
  for (int k = 0; made && k < f->pairs; k++) below(f, &p, k, f->neighbor + f->start[k]);
  CAROM_RELEASE_ALL(a, p.first, p.second, p.mark);
  return made;
}

// ---- making ---------------------------------------------------------------------------------------------------------

static bool make_columns(carom_solid_factor *f) {
  long long entries = (long long)f->pairs * (B * (B + 1) / 2) + (long long)f->start[f->pairs] * B * B;
  if (entries > INT_MAX) return false;
  if (!CAROM_NEW_ALL(&f->allocator, CAROM_ROOM(f->column_start, B * f->pairs + 1), CAROM_ROOM(f->value, entries),
                     CAROM_ROOM(f->x, B * f->pairs)))
    return false;
  for (int c = 0; c < B * f->pairs; c++)
    f->column_start[c + 1] = f->column_start[c] + B - c % B + B * (f->start[c / B + 1] - f->start[c / B]);
  return true;
}

static bool make(carom_solid_factor *f) {
  f->place = CAROM_NEW(&f->allocator, int, f->matrix->elastic->node_count);
  if (!f->place) return false;
  make_pairs(f);
  return make_graph(f) && make_columns(f) &&
         carom_factor_create(f->pairs, f->start, f->neighbor, &f->allocator, &f->factor, NULL) == CAROM_OK;
}

carom_status carom_solid_factor_create(const carom_elastic_matrix *matrix, const carom_allocator *allocator,
                                       carom_solid_factor **factor, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *factor = NULL;
  carom_solid_factor *f = CAROM_NEW(&a, carom_solid_factor, 1);
  if (f) *f = (carom_solid_factor){.matrix = matrix, .allocator = a};
  if (f && make(f)) {
    *factor = f;
    return CAROM_OK;
  }
  carom_solid_factor_destroy(f);
  return carom_fail(error, CAROM_ERR_MEMORY,
                    "out of memory for the factors of %d nodes; take a coarser mesh or the explicit method",
                    matrix->elastic->node_count);
}

void carom_solid_factor_destroy(carom_solid_factor *f) {
  if (!f) return;
  carom_allocator a = f->allocator;
  carom_factor_destroy(f->factor);
  CAROM_RELEASE_ALL(&a, f->place, f->start, f->neighbor, f->column_start, f->value, f->x);
  carom_release(&a, f);
}

// ---- values ---------------------------------------------------------------------------------------------------------

static int number_of(const carom_solid_factor *f, int pair, int other) {
  int low = f->start[pair], high = f->start[pair + 1];
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (f->neighbor[middle] < other)
      low = middle + 1;
    else
      high = middle;
  }
  return low - f->start[pair];
}

// The entry (i, j) of the block (row, column) of pairs, row >= column; null above the diagonal.
static double *entry_of(const carom_solid_factor *f, int number, int column, int i, int j) {
  if (number < 0 && i < j) return NULL;
  return f->value + f->column_start[B * column + j] + (number < 0 ? i - j : B - j + B * number + i);
}

static void put(carom_solid_factor *f, int row, int column, const carom_mat3 *block) {
  int p = f->place[row] / 2, q = f->place[column] / 2, i0 = 3 * (f->place[row] % 2), j0 = 3 * (f->place[column] % 2);
  if (p < q) return;
  int number = p == q ? -1 : number_of(f, q, p);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double *to = entry_of(f, number, q, i0 + i, j0 + j);
      if (to) *to = block->m[i][j];
    }
}

static void fill(carom_solid_factor *f, const bool *pinned) {
  const carom_elastic_matrix *m = f->matrix;
  for (int k = 0; k < f->column_start[B * f->pairs]; k++) f->value[k] = 0;
  for (int c = 0; c < B * f->pairs; c++) f->value[f->column_start[c]] = 1;  // nodes that are not there, and pins
  for (int row = 0; row < m->elastic->node_count; row++)
    for (int at = m->start[row]; at < m->start[row + 1] && !pinned[row]; at++)
      if (!pinned[m->column[at]]) put(f, row, m->column[at], &m->blocks[at]);
}

carom_status carom_solid_factor_compute(carom_solid_factor *f, const bool *pinned) {
  fill(f, pinned);
  carom_sparse A = {.n = B * f->pairs, .column_start = f->column_start, .value = f->value};
  return carom_factor_compute(f->factor, &A);
}

void carom_solid_factor_solve(carom_solid_factor *f, carom_vec3 *b) {
  int n = f->matrix->elastic->node_count;
  for (int i = 0; i < B * f->pairs; i++) f->x[i] = 0;
  for (int i = 0; i < n; i++) {
    double *x = f->x + 3 * f->place[i];
    x[0] = b[i].x, x[1] = b[i].y, x[2] = b[i].z;
  }
  carom_factor_solve(f->factor, f->x);
  for (int i = 0; i < n; i++) {
    const double *x = f->x + 3 * f->place[i];
    b[i] = cm_vec3(x[0], x[1], x[2]);
  }
}
