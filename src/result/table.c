#include "result/table.h"

#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "result/recorder_head.h"

static const char *path_of(const carom_column *c) { return carom_result_fields[c->id].path; }
static bool is_text(const carom_column *c) { return c->type == CAROM_COLUMN_TEXT || c->type == CAROM_COLUMN_WORD; }
static size_t element_size(const carom_column *c) {
  return c->type == CAROM_COLUMN_DOUBLE ? sizeof(double) : c->type == CAROM_COLUMN_FLAG ? 1 : sizeof(int);
}
static hid_t memory_type(const carom_column *c) {
  return c->type == CAROM_COLUMN_DOUBLE ? H5T_NATIVE_DOUBLE
         : c->type == CAROM_COLUMN_FLAG ? H5T_NATIVE_UCHAR
                                        : H5T_NATIVE_INT;
}
static hid_t file_type(const carom_column *c) {
  const hid_t types[] = {H5T_IEEE_F64LE, H5T_STD_I32LE, H5T_STD_U32LE, H5T_STD_U8LE};
  return types[c->type];
}

// One row between the struct and the column, in either direction.
static void pass_row(const carom_column *c, char *row, char *packed, bool reading) {
  size_t pieces = c->step > 0 ? (size_t)c->n1 : 1;
  size_t size = element_size(c) * (size_t)(c->rank > 2 ? c->n2 : 1) * (c->rank > 1 ? (size_t)c->n1 : 1) / pieces;
  for (size_t i = 0; i < pieces; i++) {
    char *member = row + c->offset + i * c->step;
    if (!reading)
      memcpy(packed + i * size, member, size);
    else if (c->type == CAROM_COLUMN_FLAG)
      *(bool *)(void *)member = packed[i] != 0;
    else
      memcpy(member, packed + i * size, size);
  }
}

static size_t packed_size(const carom_column *c) {
  return element_size(c) * (size_t)(c->rank > 1 ? c->n1 : 1) * (size_t)(c->rank > 2 ? c->n2 : 1);
}

// ---- writing -------------------------------------------------------------------------------------------------------

static const char *text_of(const carom_column *c, const char *row) {
  const char *text = c->type == CAROM_COLUMN_WORD ? c->words[*(const int *)(const void *)(row + c->offset)]
                                                  : *(const char *const *)(const void *)(row + c->offset);
  return text ? text : "";
}

static size_t longest_text(const carom_column *c, const char *rows, size_t stride, size_t count) {
  size_t longest = c->n1 > 0 ? (size_t)c->n1 : 1;
  for (size_t i = 0; i < count; i++) {
    size_t length = strlen(text_of(c, rows + i * stride));
    if (length > longest) longest = length;
  }
  return longest;
}

static void write_column(carom_h5_file *file, const carom_column *c, const char *rows, size_t stride, size_t count) {
  size_t size = is_text(c) ? longest_text(c, rows, stride, count) : packed_size(c);
  char *packed = CAROM_NEW(&file->allocator, char, size *count);
  if (!packed) {
    carom_h5_fail_memory(file, path_of(c));
    return;
  }
  for (size_t i = 0; i < count; i++) {
    if (is_text(c))
      memcpy(packed + i * size, text_of(c, rows + i * stride), strlen(text_of(c, rows + i * stride)));
    else
      pass_row(c, (char *)rows + i * stride, packed + i * size, false);
  }
  hid_t text = is_text(c) ? carom_h5_text_type(size) : -1;
  carom_h5_array array = is_text(c) ? carom_result_table(c->id, text, text, 1, (hsize_t[]){count, 0, 0})
                                    : carom_result_table(c->id, file_type(c), memory_type(c), c->rank,
                                                         (hsize_t[]){count, (hsize_t)c->n1, (hsize_t)c->n2});
  carom_h5_write(file, &array, packed);
  if (is_text(c)) H5Tclose(text);
  carom_release(&file->allocator, packed);
}

void carom_table_write(carom_h5_file *file, const carom_table *table, const void *rows, size_t count) {
  for (int i = 0; i < table->column_count; i++) write_column(file, &table->columns[i], rows, table->row_size, count);
}

// ---- reading -------------------------------------------------------------------------------------------------------

static int word_of(const carom_column *c, const char *text) {
  for (int k = 0; k < c->n2; k++)
    if (strcmp(text, c->words[k]) == 0) return k;
  return -1;
}

// The whole column, `*size` bytes for each row.
static char *read_packed(carom_h5_file *file, const carom_column *c, hsize_t *count, size_t *size) {
  if (is_text(c)) return carom_h5_read_texts(file, path_of(c), count, size);
  hsize_t sizes[3] = {*count, (hsize_t)c->n1, (hsize_t)c->n2};
  char *packed = carom_h5_read(file, path_of(c), memory_type(c), element_size(c), c->rank, sizes);
  *count = sizes[0];
  *size = packed_size(c);
  return packed;
}

static void unpack_row(const carom_column *c, char *row, char *packed) {
  if (c->type == CAROM_COLUMN_TEXT)
    *(const char **)(void *)(row + c->offset) = packed;
  else if (c->type == CAROM_COLUMN_WORD)
    *(int *)(void *)(row + c->offset) = word_of(c, packed);
  else
    pass_row(c, row, packed, true);
}

void *carom_table_read(carom_h5_file *file, const carom_table *table, int *count, char **texts) {
  hsize_t n = CAROM_H5_ANY;
  char *rows = NULL;
  for (int i = 0; i < table->column_count && file->status == CAROM_OK; i++) {
    const carom_column *c = &table->columns[i];
    size_t size = 0;
    char *packed = read_packed(file, c, &n, &size);
    if (packed && !rows) rows = n < INT_MAX ? carom_allocate(&file->allocator, n, table->row_size) : NULL;
    if (packed && !rows) carom_h5_fail_memory(file, path_of(c));
    for (size_t k = 0; rows && packed && k < n; k++) unpack_row(c, rows + k * table->row_size, packed + k * size);
    if (c->type == CAROM_COLUMN_TEXT)
      *texts++ = packed;
    else
      carom_release(&file->allocator, packed);
  }
  if (file->status != CAROM_OK) {
    carom_release(&file->allocator, rows);
    rows = NULL;
  }
  *count = rows ? (int)n : 0;
  return rows;
}
