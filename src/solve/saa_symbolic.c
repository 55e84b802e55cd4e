// The order in which a scenario's system is eliminated, and where L has entries: the same for all scenarios.
#include <cholmod.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "solve/saa_work.h"

// Elements within the scenario's own matrix, lower triangle by columns, for the ordering.
typedef struct graph {
  int *start, *row, *order;
} graph;

static bool is_inner(const carom_saa_layout *l, const carom_saa_element *e) { return e->i < l->size && e->i != e->j; }

static void fill_graph(const carom_saa_layout *l, graph *g) {
  memset(g->start, 0, (size_t)(l->size + 1) * sizeof *g->start);
  for (int k = 0; k < l->element_count; k++)
    if (is_inner(l, &l->elements[k])) g->start[l->elements[k].j + 1]++;
  for (int j = 0; j < l->size; j++) g->start[j + 1] += g->start[j];
  for (int k = 0; k < l->element_count; k++)
    if (is_inner(l, &l->elements[k])) g->row[g->start[l->elements[k].j]++] = l->elements[k].i;
  memmove(g->start + 1, g->start, (size_t)l->size * sizeof *g->start);
  g->start[0] = 0;
}

// Approximate minimum degree.
static bool find_order(const carom_saa_layout *l, graph *g) {
  cholmod_common c;
  cholmod_start(&c);
  c.print = 0;
  c.error_handler = NULL;
  cholmod_sparse matrix = {.nrow = (size_t)l->size,
                           .ncol = (size_t)l->size,
                           .nzmax = (size_t)g->start[l->size],
                           .p = g->start,
                           .i = g->row,
                           .stype = -1,
                           .itype = CHOLMOD_INT,
                           .xtype = CHOLMOD_PATTERN,
                           .dtype = CHOLMOD_DOUBLE,
                           .sorted = 0,
                           .packed = 1};
  bool found = l->size == 0 || cholmod_amd(&matrix, NULL, 0, g->order, &c);
  cholmod_finish(&c);
  return found;
}

static bool choose_order(carom_saa_layout *l, const carom_allocator *a) {
  graph g = {0};
  bool good = CAROM_NEW_ALL(a, CAROM_ROOM(g.start, l->size + 1), CAROM_ROOM(g.row, l->element_count),
                            CAROM_ROOM(g.order, l->size));
  if (good) fill_graph(l, &g);
  good = good && find_order(l, &g);
  for (int i = 0; good && i < l->size; i++) {
    l->place[g.order[i]] = i;
    l->sign[i] = g.order[i] < l->m ? 1 : -1;
  }
  for (int b = 0; b < l->border; b++) l->place[l->size + b] = l->size + b;
  CAROM_RELEASE_ALL(a, g.start, g.row, g.order);
  return good;
}

// Elements by row of the new order; those on the diagonal have its own column.
static void sort_elements(carom_saa_layout *l) {
  int rows = l->size + l->border;
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < l->element_count; k++) {
      int i = l->place[l->elements[k].i], j = l->place[l->elements[k].j], row = i > j ? i : j, column = i > j ? j : i;
      if (pass == 0)
        l->row_start[row + 1]++;
      else
        l->row_column[l->row_start[row]] = column, l->row_from[l->row_start[row]++] = k;
    }
    for (int i = 0; pass == 0 && i < rows; i++) l->row_start[i + 1] += l->row_start[i];
  }
  memmove(l->row_start + 1, l->row_start, (size_t)rows * sizeof *l->row_start);
  l->row_start[0] = 0;
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

// Columns of L that have row i: paths of the elimination tree from the row's elements (Gilbert, Liu). Border rows come
// after all that is eliminated, and start no path.
static int find_reach(const carom_saa_layout *l, int i, int *parent, int *seen, int *reach) {
  int count = 0;
  seen[i] = i;
  for (int e = l->row_start[i]; e < l->row_start[i + 1]; e++)
    for (int k = l->row_column[e]; k < l->size && seen[k] != i; k = parent[k]) {
      seen[k] = i;
      if (k == i) break;
      reach[count++] = k;
      if (parent[k] < 0) parent[k] = i < l->size ? i : l->size;
      if (parent[k] >= l->size) break;
    }
  qsort(reach, (size_t)count, sizeof *reach, ascending);
  return count;
}

typedef struct room {
  int *parent, *seen, *row, *count;
} room;

// Twice: to count, and to fill.
static void trace(carom_saa_layout *l, room *r, bool fill) {
  int rows = l->size + l->border, total = 0;
  for (int i = 0; i < rows; i++) r->seen[i] = r->parent[i] = -1;
  memset(r->count, 0, (size_t)l->size * sizeof *r->count);
  for (int i = 0; i < rows; i++) {
    int count = find_reach(l, i, r->parent, r->seen, r->row);
    for (int k = 0; k < count; k++) {
      int column = r->row[k], at = fill ? l->column_start[column] + r->count[column] : 0;
      if (fill) l->reach[total + k] = column, l->reach_at[total + k] = at, l->column_row[at] = i;
      r->count[column]++;
    }
    total += count;
    l->reach_start[i + 1] = total;
  }
  l->factor_size = total;
  for (int k = 0; !fill && k < l->size; k++) l->column_start[k + 1] = l->column_start[k] + r->count[k];
}

bool carom_saa_analyse(carom_saa_layout *l, const carom_allocator *a) {
  int rows = l->size + l->border;
  room r = {0};
  bool good = CAROM_NEW_ALL(a, CAROM_ROOM(l->place, rows), CAROM_ROOM(l->row_start, rows + 1),
                            CAROM_ROOM(l->row_column, l->element_count), CAROM_ROOM(l->row_from, l->element_count),
                            CAROM_ROOM(l->reach_start, rows + 1), CAROM_ROOM(l->column_start, l->size + 1),
                            CAROM_ROOM(l->sign, l->size), CAROM_ROOM(r.parent, rows), CAROM_ROOM(r.seen, rows),
                            CAROM_ROOM(r.row, rows), CAROM_ROOM(r.count, l->size)) &&
              choose_order(l, a);
  if (good) {
    sort_elements(l);
    trace(l, &r, false);
  }
  good = good && CAROM_NEW_ALL(a, CAROM_ROOM(l->reach, l->factor_size), CAROM_ROOM(l->reach_at, l->factor_size),
                               CAROM_ROOM(l->column_row, l->factor_size));
  if (good) trace(l, &r, true);
  CAROM_RELEASE_ALL(a, r.parent, r.seen, r.row, r.count);
  return good;
}
