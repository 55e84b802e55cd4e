// The program (2.5.6) as a free MPS file, which every solver of linear programs reads.
#include <stdlib.h>

#include "base/memory.h"
#include "base/text_buffer.h"
#include "carom/l1.h"

enum { DIGITS = 17 };

// An entry of A; MPS wants them column by column.
typedef struct entry {
  int column, row;
  double value;
} entry;

static int by_column(const void *a, const void *b) {
  const entry *x = a, *y = b;
  return x->column != y->column ? (x->column > y->column) - (x->column < y->column)
                                : (x->row > y->row) - (x->row < y->row);
}

static void sort_entries(const carom_l1_problem *p, entry *entries) {
  for (int i = 0; i < p->m; i++)
    for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++) entries[e] = (entry){p->column[e], i, p->value[e]};
  qsort(entries, (size_t)p->row_start[p->m], sizeof *entries, by_column);
}

static void put_number(carom_text_buffer *t, double value) {
  carom_text_buffer_number(t, value, DIGITS);
  carom_text_buffer_add(t, "\n");
}

// Every unknown is named once, so that it is there even where no row has it.
static void put_unknowns(carom_text_buffer *t, const carom_l1_problem *p, const entry *at) {
  const entry *end = at + p->row_start[p->m];
  for (int j = 0; j < p->n; j++) {
    carom_text_buffer_print(t, " x%d obj 0\n", j);
    for (; at < end && at->column == j; at++) {
      if (at->value == 0) continue;
      carom_text_buffer_print(t, " x%d r%d ", j, at->row);
      put_number(t, at->value);
    }
  }
}

static void put_splits(carom_text_buffer *t, const carom_l1_problem *p) {
  for (int i = 0; i < p->m; i++)
    carom_text_buffer_print(t, " p%d obj 1\n p%d r%d -1\n q%d obj 1\n q%d r%d 1\n", i, i, i, i, i, i);
}

static void put_program(carom_text_buffer *t, const carom_l1_problem *p, const entry *entries) {
  carom_text_buffer_add(t, "NAME carom FREE\nROWS\n N obj\n");
  for (int i = 0; i < p->m; i++) carom_text_buffer_print(t, " E r%d\n", i);
  carom_text_buffer_add(t, "COLUMNS\n");
  put_unknowns(t, p, entries);
  put_splits(t, p);
  carom_text_buffer_add(t, "RHS\n");
  for (int i = 0; i < p->m; i++) {
    if (p->b[i] == 0) continue;
    carom_text_buffer_print(t, " b r%d ", i);
    put_number(t, -p->b[i]);
  }
  carom_text_buffer_add(t, "BOUNDS\n");
  for (int j = 0; j < p->n; j++) carom_text_buffer_print(t, " FR bound x%d\n", j);
  carom_text_buffer_add(t, "ENDATA\n");
}

carom_status carom_l1_write_mps(const carom_l1_problem *problem, const char *path, carom_error *error) {
  carom_allocator a = carom_allocator_default();
  carom_text_buffer text = carom_text_buffer_make(&a);
  entry *entries = CAROM_NEW(&a, entry, problem->row_start[problem->m]);
  if (entries) {
    sort_entries(problem, entries);
    put_program(&text, problem, entries);
  }
  carom_status status = !entries || text.failed
                            ? carom_fail(error, CAROM_ERR_MEMORY, "cannot write '%s': out of memory", path)
                            : carom_write_file(&(carom_bytes){path, text.data, text.length}, error);
  carom_text_buffer_release(&text);
  carom_release(&a, entries);
  return status;
}
