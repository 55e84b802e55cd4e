// The text of Siconos' friction problems: dimension, contacts, storage of W, W, q, mu, perhaps a flag.
#include <math.h>

#include "base/memory.h"
#include "result/friction_file.h"
#include "scene/lcp_file.h"

typedef struct reader {
  carom_friction_file *file;
  carom_text *text;
  carom_error *error;
  carom_status status;  // what follows the first failure does nothing
} reader;

static double next_number(reader *r) {
  double x = 0;
  if (r->status == CAROM_OK)
    r->status = carom_lcp_number(r->text, carom_text_word_anywhere(r->text), false, &x, r->error);
  return x;
}

static int next_whole(reader *r, int least, int most, const char *what) {
  double x = next_number(r);
  if (r->status == CAROM_OK && !(x >= least && x <= most && x == floor(x)))
    r->status = carom_fail(r->error, CAROM_ERR_FORMAT, "%s:%d: %s is %g, expected a whole number from %d to %d",
                           r->text->name, r->text->line, what, x, least, most);
  return r->status == CAROM_OK ? (int)x : 0;
}

// Each number takes two characters at least: a file that is too short for `count` is told so before memory is taken.
static bool has_numbers(reader *r, double count) {
  if (r->status == CAROM_OK && 2 * count > (double)(r->text->end - r->text->at) + 2)
    r->status = carom_fail(r->error, CAROM_ERR_FORMAT, "%s:%d: %.0f numbers are announced, but the file ends before",
                           r->text->name, r->text->line, count);
  return r->status == CAROM_OK;
}

static void *room(reader *r, size_t count, size_t size) {
  if (!has_numbers(r, (double)count)) return NULL;
  void *block = carom_allocate(&r->file->allocator, count + 1, size);
  if (!block) r->status = carom_fail(r->error, CAROM_ERR_MEMORY, "%s: out of memory", r->text->name);
  return block;
}

static double *next_numbers(reader *r, size_t count) {
  double *x = room(r, count, sizeof *x);
  for (size_t i = 0; x && i < count; i++) x[i] = next_number(r);
  return x;
}

// ---- dense: `rows columns rows columns`, then column after column
// ----------------------------------------------------

static void take_dense(reader *r, const double *M) {
  carom_friction_file *f = r->file;
  int size = f->dimension * f->count;
  size_t count = (size_t)size * (size_t)size;
  int *row = CAROM_NEW(&f->allocator, int, count + 1), *column = CAROM_NEW(&f->allocator, int, count + 1);
  double *value = CAROM_NEW(&f->allocator, double, count + 1);
  carom_friction_entries e = {0, row, column, value};
  if (row && column && value) {
    for (size_t k = 0; k < count; k++)
      if (M[k] != 0)
        row[e.count] = (int)(k % (size_t)size), column[e.count] = (int)(k / (size_t)size), value[e.count++] = M[k];
    r->status = carom_friction_file_gather(f, &e, r->text->name, r->error);
  } else {
    r->status = carom_fail(r->error, CAROM_ERR_MEMORY, "%s: out of memory", r->text->name);
  }
  CAROM_RELEASE_ALL(&f->allocator, row, column, value);
}

static void read_dense(reader *r) {
  int size = r->file->dimension * r->file->count;
  r->file->format = "siconos";
  for (int i = 0; i < 4; i++)
    next_whole(r, size, size, i % 2 ? "the number of columns of W" : "the number of rows of W");
  double *M = next_numbers(r, (size_t)size * (size_t)size);
  if (r->status == CAROM_OK) take_dense(r, M);
  carom_release(&r->file->allocator, M);
}

// ---- sparse blocks --------------------------------------------------------------------------------------------------

static void read_ends(reader *r, const char *what) {
  for (int i = 0; i < r->file->count; i++)
    next_whole(r, r->file->dimension * (i + 1), r->file->dimension * (i + 1), what);
}

static void read_starts(reader *r, int starts, int blocks) {
  carom_friction_file *f = r->file;
  f->start = room(r, (size_t)f->count, sizeof *f->start);
  for (int i = 0; f->start && i < starts; i++)
    f->start[i] =
        next_whole(r, i > 0 ? f->start[i - 1] : 0, i == f->count ? blocks : INT32_MAX, "where a row of blocks begins");
  if (r->status == CAROM_OK && (f->start[0] != 0 || f->start[f->count] != blocks))
    r->status =
        carom_fail(r->error, CAROM_ERR_FORMAT, "%s:%d: rows of blocks begin at %d and end at %d, expected 0 and %d",
                   r->text->name, r->text->line, f->start[0], f->start[f->count], blocks);
}

static void read_columns(reader *r, int blocks) {
  carom_friction_file *f = r->file;
  f->column = room(r, (size_t)blocks, sizeof *f->column);
  for (int k = 0; f->column && k < blocks; k++) f->column[k] = next_whole(r, 0, f->count - 1, "the column of a block");
  for (int i = 0; r->status == CAROM_OK && i < f->count; i++)
    for (int k = f->start[i] + 1; r->status == CAROM_OK && k < f->start[i + 1]; k++)
      if (f->column[k] <= f->column[k - 1])
        r->status = carom_fail(r->error, CAROM_ERR_FORMAT, "%s:%d: columns %d and %d of block row %d are out of order",
                               r->text->name, r->text->line, f->column[k - 1], f->column[k], i);
}

static void read_values(reader *r, int blocks) {
  carom_friction_file *f = r->file;
  size_t area = (size_t)(f->dimension * f->dimension);
  f->W = room(r, (size_t)blocks * (area + 1), sizeof *f->W);
  for (int k = 0; f->W && k < blocks; k++) {
    next_whole(r, 0, INT32_MAX, "the number of a block");
    for (size_t i = 0; i < area; i++) f->W[area * (size_t)k + i] = next_number(r);
  }
}

static void read_blocks(reader *r) {
  carom_friction_file *f = r->file;
  int size = f->dimension * f->count;
  f->format = "siconos blocks";
  next_whole(r, size, size, "the number of rows of W");
  next_whole(r, size, size, "the number of columns of W");
  int blocks = next_whole(r, 0, INT32_MAX, "the number of blocks of W");
  next_whole(r, f->count, f->count, "the number of rows of blocks");
  next_whole(r, f->count, f->count, "the number of columns of blocks");
  read_ends(r, "where a row of blocks ends");
  read_ends(r, "where a column of blocks ends");
  int starts = next_whole(r, f->count + 1, f->count + 1, "the number of beginnings of rows");
  next_whole(r, blocks, blocks, "the number of columns told");
  read_starts(r, starts, blocks);
  read_columns(r, blocks);
  read_values(r, blocks);
}

// ---- the whole ------------------------------------------------------------------------------------------------------

static void read_end(reader *r) {
  carom_text rest = *r->text;
  carom_word word = carom_text_word_anywhere(&rest);
  double flag;
  if (r->status != CAROM_OK || word.length == 0) return;
  r->status = carom_lcp_number(&rest, word, false, &flag, r->error);
  if (r->status == CAROM_OK && (word = carom_text_word_anywhere(&rest)).length > 0)
    r->status = carom_text_expected(&rest, "the end of the file", word, r->error);
}

carom_status carom_friction_read_text(carom_friction_file *f, carom_text *text, carom_error *error) {
  reader r = {f, text, error, CAROM_OK};
  f->dimension = next_whole(&r, 2, 3, "the dimension of contacts");
  f->count = next_whole(&r, 0, CAROM_FRICTION_FILE_MOST, "the number of contacts");
  int storage = next_whole(&r, 0, 1, "the storage of W (0 dense, 1 sparse blocks)");
  if (r.status == CAROM_OK && has_numbers(&r, (double)f->count)) (storage == 0 ? read_dense : read_blocks)(&r);
  f->q = next_numbers(&r, (size_t)(f->dimension * f->count));
  f->mu = next_numbers(&r, (size_t)f->count);
  read_end(&r);
  return r.status;
}
