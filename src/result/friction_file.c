// Problems of friction in files: which format, and W from its entries.
#include "result/friction_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/read_file.h"

static const int64_t FILE_MOST = (int64_t)4 << 30;

void carom_friction_file_destroy(carom_friction_file *f) {
  if (!f) return;
  carom_allocator a = f->allocator;
  CAROM_RELEASE_ALL(&a, f->start, f->column, f->W, f->q, f->mu, f->guess, f);
}

carom_friction_problem carom_friction_file_problem(const carom_friction_file *f) {
  return (carom_friction_problem){f->dimension, f->count, f->start, f->column, f->W, f->q, f->mu};
}

const char *carom_friction_file_format(const carom_friction_file *f) { return f->format; }
const double *carom_friction_file_guess(const carom_friction_file *f) { return f->guess; }

// ---- W from its entries ---------------------------------------------------------------------------------------------

// Entries by row of contacts, and where the blocks of the row at hand stand.
typedef struct gathering {
  carom_friction_file *file;
  const carom_friction_entries *entries;
  int64_t *first, *order;  // (count + 1), (entries)
  int *place;              // (count) number of the block of the row in this column, or -1
  int *columns;            // (count) of the row
} gathering;

static void sort_by_row(const gathering *g) {
  const carom_friction_entries *e = g->entries;
  int d = g->file->dimension, n = g->file->count;
  for (int64_t k = 0; k < e->count; k++) g->first[e->row[k] / d + 1]++;
  for (int i = 0; i < n; i++) g->first[i + 1] += g->first[i];
  for (int64_t k = 0; k < e->count; k++) g->order[g->first[e->row[k] / d]++] = k;
  memmove(g->first + 1, g->first, (size_t)n * sizeof *g->first);
  g->first[0] = 0;
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

// The columns of a row's blocks, in place order.
static int find_columns(const gathering *g, int row) {
  int count = 0;
  for (int64_t k = g->first[row]; k < g->first[row + 1]; k++) {
    int column = g->entries->column[g->order[k]] / g->file->dimension;
    if (g->place[column] >= 0) continue;
    g->place[column] = 0;
    g->columns[count++] = column;
  }
  qsort(g->columns, (size_t)count, sizeof *g->columns, ascending);
  return count;
}

static void fill_row(const gathering *g, int row, int count) {
  carom_friction_file *f = g->file;
  int d = f->dimension;
  for (int k = 0; k < count; k++) {
    g->place[g->columns[k]] = f->start[row] + k;
    f->column[f->start[row] + k] = g->columns[k];
  }
  for (int64_t k = g->first[row]; k < g->first[row + 1]; k++) {
    int64_t e = g->order[k];
    int r = g->entries->row[e], c = g->entries->column[e];
    f->W[(size_t)(d * d) * (size_t)g->place[c / d] + (size_t)(r % d + c % d * d)] += g->entries->value[e];
  }
}

static void forget_columns(const gathering *g, int count) {
  for (int k = 0; k < count; k++) g->place[g->columns[k]] = -1;
}

static bool gather(gathering *g) {
  carom_friction_file *f = g->file;
  size_t n = (size_t)f->count, d = (size_t)f->dimension;
  bool made = CAROM_NEW_ALL(&f->allocator, CAROM_ROOM(f->start, n + 1), CAROM_ROOM(g->first, n + 1),
                            CAROM_ROOM(g->order, g->entries->count + 1), CAROM_ROOM(g->place, n + 1),
                            CAROM_ROOM(g->columns, n + 1));
  if (!made) return false;
  sort_by_row(g);
  for (int i = 0; i < f->count; i++) g->place[i] = -1;
  for (int i = 0; i < f->count; i++) {
    int count = find_columns(g, i);
    f->start[i + 1] = f->start[i] + count;
    forget_columns(g, count);
  }
  size_t blocks = (size_t)f->start[n];
  if (!CAROM_NEW_ALL(&f->allocator, CAROM_ROOM(f->column, blocks + 1), CAROM_ROOM(f->W, d * d * blocks + 1)))
    return false;
  for (int i = 0; i < f->count; i++) {
    int count = find_columns(g, i);
    fill_row(g, i, count);
    forget_columns(g, count);
  }
  return true;
}

carom_status carom_friction_file_gather(carom_friction_file *file, const carom_friction_entries *entries,
                                        const char *name, carom_error *error) {
  gathering g = {.file = file, .entries = entries};
  bool gathered = gather(&g);
  CAROM_RELEASE_ALL(&file->allocator, g.first, g.order, g.place, g.columns);
  return gathered ? CAROM_OK : carom_fail(error, CAROM_ERR_MEMORY, "%s: no memory for W", name);
}

// ---- reading --------------------------------------------------------------------------------------------------------

static carom_status read_any(carom_friction_file *file, const carom_bytes *bytes, carom_error *error) {
  const char *data = bytes->data;
  if (bytes->size >= 8 && memcmp(data, "\x89HDF\r\n\x1a\n", 8) == 0)
    return carom_friction_read_fclib(file, bytes, error);
  carom_text text = {bytes->name, data, data + bytes->size, 1};
  carom_plain_locale locale;
  if (!carom_plain_locale_begin(&locale)) return carom_fail(error, CAROM_ERR_MEMORY, "%s: out of memory", bytes->name);
  carom_status status = carom_friction_read_text(file, &text, error);
  carom_plain_locale_end(&locale);
  return status;
}

carom_status carom_friction_file_parse(const carom_bytes *bytes, const carom_allocator *allocator,
                                       carom_friction_file **file, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *file = CAROM_NEW(&a, carom_friction_file, 1);
  if (!*file) return carom_fail(error, CAROM_ERR_MEMORY, "%s: out of memory", bytes->name);
  (*file)->allocator = a;
  carom_status status = read_any(*file, bytes, error);
  if (status == CAROM_OK) return CAROM_OK;
  carom_friction_file_destroy(*file);
  *file = NULL;
  return status;
}

carom_status carom_friction_file_read(const char *path, const carom_allocator *allocator, carom_friction_file **file,
                                      carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_error why;
  size_t size;
  *file = NULL;
  char *data = carom_read_file(path, FILE_MOST, &a, &size, &why);
  if (!data) return carom_fail(error, why.status, "cannot read '%.700s': %s; correct the path", path, why.message);
  carom_status status = carom_friction_file_parse(&(carom_bytes){path, data, size}, allocator, file, error);
  carom_release(&a, data);
  return status;
}
