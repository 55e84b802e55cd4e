// Analysis: order, elimination tree, groups of columns and their fronts.
#include "solve/front_factor.h"

#include <cholmod.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "solve/front.h"

enum { NARROW = 24 };  // fronts with no more columns take zeros for width

// ---- order ----------------------------------------------------------------------------------------------------------

// Minimum degree or nested dissection on the graph of blocks, the elimination tree in postorder; and how many blocks
// each column of L has.
static bool find_order(carom_factor *f, const carom_block_pattern *pattern, int *count) {
  const int *start = pattern->start, *neighbor = pattern->neighbor;
  cholmod_common c;
  cholmod_start(&c);
  c.supernodal = CHOLMOD_SIMPLICIAL;  // the supernodal module is GPL, and unused
  c.print = 0;
  c.error_handler = NULL;
  c.nmethods =
      f->quick ? 1 : 2;  // the better one; nested dissection needs METIS, and is passed over where that is not there
  c.method[0].ordering = CHOLMOD_AMD;
  c.method[1].ordering = CHOLMOD_NESDIS;
  c.method[1].nd_small = 20;
  cholmod_sparse graph = {.nrow = (size_t)f->blocks,
                          .ncol = (size_t)f->blocks,
                          .nzmax = (size_t)start[f->blocks],
                          .p = (void *)start,
                          .i = (void *)neighbor,
                          .stype = -1,
                          .itype = CHOLMOD_INT,
                          .xtype = CHOLMOD_PATTERN,
                          .dtype = CHOLMOD_DOUBLE,
                          .sorted = 1,
                          .packed = 1};
  cholmod_factor *L = cholmod_analyze(&graph, &c);
  for (int i = 0; L && i < f->blocks; i++) {
    f->order[i] = ((const int *)L->Perm)[i];
    f->place[f->order[i]] = i;
    count[i] = ((const int *)L->ColCount)[i];
  }
  bool found = L != NULL;
  cholmod_free_factor(&L, &c);
  cholmod_finish(&c);
  return found;
}

// Entries of A by column of the new order. Blocks that end up above the diagonal are taken transposed.
static void sort_entries(carom_factor *f, const int *start, const int *neighbor) {
  memset(f->entry_start, 0, (size_t)(f->blocks + 1) * sizeof *f->entry_start);
  for (int pass = 0; pass < 2; pass++) {
    for (int b = 0; b < f->blocks; b++)
      for (int k = start[b]; k < start[b + 1]; k++) {
        int p = f->place[b], q = f->place[neighbor[k]], column = p < q ? p : q;
        if (pass == 0)
          f->entry_start[column + 1]++;
        else
          f->entries[f->entry_start[column]++] = (carom_front_entry){p < q ? q : p, b, k - start[b], p > q};
      }
    for (int j = 0; pass == 0 && j < f->blocks; j++) f->entry_start[j + 1] += f->entry_start[j];
  }
  memmove(f->entry_start + 1, f->entry_start, (size_t)f->blocks * sizeof *f->entry_start);
  f->entry_start[0] = 0;
}

// ---- structure ------------------------------------------------------------------------------------------------------

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

// Scratch of the analysis: the structure of every column, that of its children among it.
typedef struct columns {
  int *count;            // (blocks) with the diagonal, as counted by the ordering
  int *first;            // (blocks + 1) where a column's blocks below the diagonal begin in `row`
  int *row;              // ascending
  int *child, *sibling;  // (blocks) trees as lists; -1 ends them
  int *mark;             // (blocks)
} columns;

static void take_row(columns *c, int j, int row, int *filled) {
  if (row <= j || c->mark[row] == j) return;
  c->mark[row] = j;
  c->row[(*filled)++] = row;
}

// The blocks of column j of L: those of A and those of its children (Liu 1990). Its parent is the first of them.
static void column_structure(const carom_factor *f, columns *c, int j) {
  int filled = c->first[j];
  for (int k = f->entry_start[j]; k < f->entry_start[j + 1]; k++) take_row(c, j, f->entries[k].row, &filled);
  for (int i = c->child[j]; i >= 0; i = c->sibling[i])
    for (int k = c->first[i]; k < c->first[i + 1]; k++) take_row(c, j, c->row[k], &filled);
  c->first[j + 1] = filled;
  int size = filled - c->first[j];
  qsort(c->row + c->first[j], (size_t)size, sizeof *c->row, ascending);
  if (size == 0) return;
  int parent = c->row[c->first[j]];
  c->sibling[j] = c->child[parent];
  c->child[parent] = j;
}

// Whether column j + 1 may stand in one front with those from `first` to j: it must be the parent of j, and the blocks
// of zeros that this stores must be few, or the front small.
static bool joins(const carom_factor *f, const columns *c, int first, int j, int zeros) {
  int below = c->first[j + 1] - c->first[j];
  if (below == 0 || c->row[c->first[j]] != j + 1) return false;
  int next = c->first[j + 2] - c->first[j + 1], extra = (j + 1 - first) * (next + 1 - below);
  int width = j + 2 - first, all = width * (width + 1) / 2 + width * next;
  return extra == 0 || zeros + extra <= (width * f->block <= NARROW ? all / 2 : all / 8);
}

static void make_fronts(carom_factor *f, const columns *c) {
  int zeros = 0, first = 0;
  f->front_count = 0;
  for (int j = 0; j < f->blocks; j++) {
    f->front_of[j] = f->front_count;
    if (j + 1 < f->blocks && joins(f, c, first, j, zeros)) {
      zeros += (j + 1 - first) * (c->first[j + 2] - c->first[j + 1] + 1 - (c->first[j + 1] - c->first[j]));
      continue;
    }
    f->fronts[f->front_count++] = (carom_front){.first = first, .width = j + 1 - first};
    first = j + 1, zeros = 0;
  }
}

// Rows that their fronts have in common stand once.
static size_t rows_of_fronts(const carom_factor *f, const columns *c) {
  size_t rows = 0;
  for (int s = 0; s < f->front_count; s++) {
    int last = f->fronts[s].first + f->fronts[s].width - 1;
    rows += (size_t)(c->first[last + 1] - c->first[last]);
  }
  return rows;
}

static size_t update_size(const carom_factor *f, const carom_front *front) {
  size_t below = (size_t)f->block * (size_t)front->below;
  return below * below;
}

// Rows, places in memory, parents.
static void lay_out(carom_factor *f, const columns *c) {
  for (int s = 0; s < f->front_count; s++) {
    carom_front *front = &f->fronts[s];
    int last = front->first + front->width - 1, below = c->first[last + 1] - c->first[last];
    front->below = below, front->rows = f->row_count, front->panel = f->panel_size, front->right = f->right_size;
    front->parent = below > 0 ? f->front_of[c->row[c->first[last]]] : -1;
    if (below > 0) f->fronts[front->parent].child_count++;
    memcpy(f->rows + f->row_count, c->row + c->first[last], (size_t)below * sizeof *f->rows);
    double w = (double)f->block * front->width, r = (double)f->block * below;
    f->row_count += (size_t)below;
    f->panel_size += (size_t)(w * (w + r));
    f->right_size += (size_t)(w * r);
    if ((size_t)(w * (w + r + CAROM_FRONT_TALL)) > f->largest_panel)
      f->largest_panel = (size_t)(w * (w + r + CAROM_FRONT_TALL));
    f->flops += w * w * w / 3 + w * w * r + w * r * r;
    if (front->width + below > f->largest) f->largest = front->width + below;
  }
}

// How high updates pile up: that of a front is begun while those of its children still lie there.
static void measure_stack(carom_factor *f) {
  size_t height = 0;
  int waiting = 0;
  for (int s = 0; s < f->front_count; s++) {
    size_t own = update_size(f, &f->fronts[s]);
    if (height + own > f->stack_size) f->stack_size = height + own;
    for (int k = 0; k < f->fronts[s].child_count; k++) height -= update_size(f, &f->fronts[f->waiting[--waiting]]);
    height += own;
    if (f->fronts[s].below > 0) f->waiting[waiting++] = s;
  }
}

// ---- memory ---------------------------------------------------------------------------------------------------------

static bool make_unsymmetric(carom_factor *f) {
  return CAROM_NEW_ALL(&f->allocator, CAROM_ROOM(f->rights, f->right_size + 1),
                       CAROM_ROOM(f->swap, (size_t)f->block * (size_t)f->blocks + 1),
                       CAROM_ROOM(f->packed_right, f->largest_panel + 1), CAROM_ROOM(f->corner, f->largest_panel + 1),
                       CAROM_ROOM(f->pattern_start, f->blocks + 1));
}

static bool analyse(carom_factor *f, columns *c) {
  long long total = 0;
  for (int j = 0; j < f->blocks; j++) total += c->count[j];
  if (total > INT_MAX / 2) return false;
  if (!(c->row = CAROM_NEW(&f->allocator, int, total + 1))) return false;
  for (int j = 0; j < f->blocks; j++) c->child[j] = c->sibling[j] = c->mark[j] = -1;
  c->first[0] = 0;
  for (int j = 0; j < f->blocks; j++) column_structure(f, c, j);
  make_fronts(f, c);
  if (!(f->rows = CAROM_NEW(&f->allocator, int, rows_of_fronts(f, c) + 1))) return false;
  lay_out(f, c);
  measure_stack(f);
  return CAROM_NEW_ALL(&f->allocator, CAROM_ROOM(f->panels, f->panel_size + 1), CAROM_ROOM(f->stack, f->stack_size + 1),
                       CAROM_ROOM(f->gathered, (size_t)f->block * (size_t)f->largest + 1),
                       CAROM_ROOM(f->packed, f->largest_panel + 1)) &&
         (!f->unsymmetric || make_unsymmetric(f));
}

static bool make_columns(const carom_factor *f, columns *c) {
  size_t n = (size_t)f->blocks + 1;
  int **arrays[] = {&c->count, &c->first, &c->child, &c->sibling, &c->mark};
  bool there = true;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    there = (*arrays[i] = CAROM_NEW(&f->allocator, int, n)) != NULL && there;
  return there;
}

static void free_columns(const carom_factor *f, const columns *c) {
  CAROM_RELEASE_ALL(&f->allocator, c->count, c->first, c->row, c->child, c->sibling, c->mark);
}

static bool make_arrays(carom_factor *f, int edges) {
  size_t n = (size_t)f->blocks + 1;
  int **arrays[] = {&f->order, &f->place, &f->entry_start, &f->front_of, &f->waiting, &f->position};
  bool there = CAROM_NEW_ALL(&f->allocator, CAROM_ROOM(f->entries, edges + 1), CAROM_ROOM(f->fronts, n),
                             CAROM_ROOM(f->x, (size_t)f->block * n));
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    there = (*arrays[i] = CAROM_NEW(&f->allocator, int, n)) != NULL && there;
  return there;
}

static carom_status create(const carom_block_pattern *pattern, const carom_factor *kind,
                           const carom_allocator *allocator, carom_factor **factor) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_factor *f = CAROM_NEW(&a, carom_factor, 1);
  columns c = {0};
  bool done = false;
  if (f) {
    f->allocator = a, f->block = pattern->block, f->blocks = pattern->blocks, f->threads = 1;
    f->unsymmetric = kind->unsymmetric, f->quick = kind->quick;
    done = make_arrays(f, pattern->start[f->blocks]) && make_columns(f, &c) && find_order(f, pattern, c.count);
    if (done) sort_entries(f, pattern->start, pattern->neighbor);
    done = done && analyse(f, &c);
    if (done && f->unsymmetric)
      memcpy(f->pattern_start, pattern->start, ((size_t)f->blocks + 1) * sizeof *f->pattern_start);
    free_columns(f, &c);
  }
  *factor = done ? f : NULL;
  if (done) return CAROM_OK;
  carom_factor_destroy(f);
  return CAROM_ERR_MEMORY;
}

carom_status carom_factor_create(const carom_block_pattern *pattern, const carom_allocator *allocator,
                                 carom_factor **factor) {
  return create(pattern, &(carom_factor){.unsymmetric = false}, allocator, factor);
}

carom_status carom_factor_create_lu(const carom_block_pattern *pattern, bool quick, const carom_allocator *allocator,
                                    carom_factor **factor) {
  return create(pattern, &(carom_factor){.unsymmetric = true, .quick = quick}, allocator, factor);
}

void carom_factor_share(carom_factor *f, int threads) { f->threads = threads; }

void carom_factor_destroy(carom_factor *f) {
  if (!f) return;
  CAROM_RELEASE_ALL(&f->allocator, f->order, f->place, f->entry_start, f->entries, f->fronts, f->front_of, f->rows,
                    f->panels, f->rights, f->swap, f->stack, f->waiting, f->position, f->x, f->gathered, f->packed,
                    f->packed_right, f->corner, f->pattern_start);
  carom_allocator allocator = f->allocator;
  carom_release(&allocator, f);
}

double carom_factor_flops(const carom_factor *f) { return f->flops; }

double carom_factor_entries(const carom_factor *f) { return (double)f->panel_size; }
