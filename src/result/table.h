// Tables of a result file that are arrays of structs in memory: what a column holds of each row is said once, for
// writing and reading alike.
#ifndef CAROM_SRC_RESULT_TABLE_H
#define CAROM_SRC_RESULT_TABLE_H

#include "result/h5.h"
#include "result/layout.h"

typedef enum carom_column_type {
  CAROM_COLUMN_DOUBLE,
  CAROM_COLUMN_INT,
  CAROM_COLUMN_COLOR,  // uint32_t
  CAROM_COLUMN_FLAG,   // bool, a byte in the file
  CAROM_COLUMN_TEXT,   // const char *; null is written as an empty one
  CAROM_COLUMN_WORD,   // int, one of `words` in the file; -1 when it is none of them
} carom_column_type;

typedef struct carom_column {
  carom_result_field_id id;
  carom_column_type type;
  size_t offset;  // of the member
  int rank;       // of the dataset, rows and all
  int n1, n2;     // its further sizes; of a word: n1 bytes at least, and n2 words
  size_t step;    // from one of the n1 to the next, bytes; 0: they stand together
  const char *const *words;
} carom_column;

typedef struct carom_table {
  const carom_column *columns;  // (column_count) the first one says how many rows there are
  int column_count;
  size_t row_size;
} carom_table;

// CAROM_COLUMN(BODY_MASS, DOUBLE, carom_result_body, mass, .rank = 1)
#define CAROM_COLUMN(field, kind, row, member, ...) \
  { .id = CAROM_FIELD_##field, .type = CAROM_COLUMN_##kind, .offset = offsetof(row, member), __VA_ARGS__ }
#define CAROM_TABLE(columns, row) \
  { columns, (int)(sizeof(columns) / sizeof *(columns)), sizeof(row) }

void carom_table_write(carom_h5_file *file, const carom_table *table, const void *rows, size_t count);
// The rows and how many; null after a failure. Texts point into blocks that go to `texts`, one for each column of texts
// (null when there is none), also after a failure. All are the caller's to release.
void *carom_table_read(carom_h5_file *file, const carom_table *table, int *count, char **texts);

#endif
