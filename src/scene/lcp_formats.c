// The text, Siconos and binary layouts of complementarity problems.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "scene/lcp_file.h"

static carom_status out_of_memory(const carom_text *text, carom_error *error) {
  return carom_fail(error, CAROM_ERR_MEMORY, "%s: out of memory", text->name);
}

// The next word that is not a remark.
static carom_word next_word(carom_text *text) {
  carom_word word = carom_text_word_anywhere(text);
  while (word.length > 0 && word.start[0] == '#') {
    carom_text_skip_line(text);
    word = carom_text_word_anywhere(text);
  }
  return word;
}

static carom_status next_number(carom_text *text, bool infinite, double *value, carom_error *error) {
  return carom_lcp_number(text, next_word(text), infinite, value, error);
}

static carom_status next_integer(carom_text *text, int least, int most, const char *what, int *value,
                                 carom_error *error) {
  double number;
  carom_status status = next_number(text, false, &number, error);
  if (status != CAROM_OK) return status;
  if (!(number >= least && number <= most && number == floor(number)))
    return carom_fail(error, CAROM_ERR_FORMAT, "%s:%d: %s is %g, expected a whole number from %d to %d", text->name,
                      text->line, what, number, least, most);
  *value = (int)number;
  return CAROM_OK;
}

static carom_status next_numbers(carom_text *text, bool infinite, double *x, size_t count, size_t stride,
                                 carom_error *error) {
  for (size_t i = 0; i < count; i++) {
    carom_status status = next_number(text, infinite, x + i * stride, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

// rows x columns numbers, row by row, into a column-major block.
static carom_status next_rows(carom_text *text, double *A, size_t rows, size_t columns, size_t lda,
                              carom_error *error) {
  for (size_t i = 0; i < rows; i++) {
    carom_status status = next_numbers(text, false, A + i, columns, lda, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

// ---- our own text --------------------------------------------------------------------------------------------------

static carom_status read_section(carom_lcp_set *set, carom_lcp_record *r, carom_text *text, carom_word word,
                                 carom_error *error) {
  size_t n = (size_t)r->n;
  bool matrix = carom_word_is(word, "m"), bounds = carom_word_is(word, "lower") || carom_word_is(word, "upper");
  double **array = matrix                         ? &r->M
                   : carom_word_is(word, "q")     ? &r->q
                   : carom_word_is(word, "lower") ? &r->lower
                   : carom_word_is(word, "upper") ? &r->upper
                                                  : NULL;
  if (!array || *array) return carom_text_expected(text, "each of M, q, lower and upper at most once", word, error);
  carom_status status = carom_lcp_reserve(set, text, array, matrix ? n * n : n, error);
  if (status != CAROM_OK) return status;
  return matrix ? next_rows(text, r->M, n, n, n, error) : next_numbers(text, bounds, *array, n, 1, error);
}

carom_status carom_lcp_read_text(carom_lcp_set *set, carom_text *text, carom_error *error) {
  int version;
  set->format = "text";
  carom_status status = next_integer(text, 1, 1, "the version of carom-lcp", &version, error);
  if (status != CAROM_OK) return status;
  carom_lcp_record *r = carom_lcp_set_add(set);
  if (!r) return out_of_memory(text, error);
  carom_word word = next_word(text);
  if (!carom_word_is(word, "n")) return carom_text_expected(text, "'n' and the number of unknowns", word, error);
  status = next_integer(text, 0, CAROM_LCP_FILE_MOST, "n", &r->n, error);
  while (status == CAROM_OK) {
    word = next_word(text);
    if (word.length == 0) break;
    status = read_section(set, r, text, word, error);
  }
  if (status != CAROM_OK) return status;
  if (r->n > 0 && (!r->M || !r->q)) return carom_text_expected(text, "both M and q", word, error);
  return CAROM_OK;
}

// ---- the Siconos collection ----------------------------------------------------------------------------------------

static carom_status check_square(const carom_lcp_record *r, const carom_text *text, const int size[2],
                                 carom_error *error) {
  if (size[0] == r->n && size[1] == r->n) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_FORMAT,
                    "%s:%d: the matrix has %d rows and %d columns, but the problem has %d unknowns; problems with more "
                    "or fewer equations than unknowns are not solved here: leave out equations, or add unknowns",
                    text->name, text->line, size[0], size[1], r->n);
}

// `rows cols rows cols` and the values in column-major order.
static carom_status read_dense(carom_lcp_set *set, carom_lcp_record *r, carom_text *text, carom_error *error) {
  int size[4];
  size_t n = (size_t)r->n;
  carom_status status = CAROM_OK;
  for (int i = 0; i < 4 && status == CAROM_OK; i++) {
    status = next_integer(text, 0, CAROM_LCP_FILE_MOST, "the size of the matrix", size + i, error);
    if (status == CAROM_OK && i % 2) status = check_square(r, text, size + i - 1, error);
  }
  if (status == CAROM_OK) status = carom_lcp_reserve(set, text, &r->M, n * n, error);
  return status == CAROM_OK ? next_numbers(text, false, r->M, n * n, 1, error) : status;
}

// A sparse-block matrix as it is read: where blocks end, and which are there. One array holds them all.
typedef struct block_layout {
  int blocks, rows, columns;  // how many
  int *row_end, *column_end;  // (rows), (columns) in unknowns
  int starts, *row_start;     // (starts) where each block row begins in `column`; the last entry is `blocks`
  int *column;                // (blocks)
  double *held;               // what the arrays lie in
} block_layout;

static carom_status next_rising(carom_text *text, int *x, int count, int least, int most, const char *what,
                                carom_error *error) {
  carom_status status = CAROM_OK;
  for (int i = 0; i < count && status == CAROM_OK; i++)
    status = next_integer(text, i > 0 ? x[i - 1] : least, most, what, x + i, error);
  return status;
}

static carom_status expect(const carom_text *text, bool good, const char *what, carom_error *error) {
  if (good) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_FORMAT, "%s:%d: %s", text->name, text->line, what);
}

// `blocks brows bcols`, row ends, column ends, `starts blocks`, row starts, block columns.
static carom_status read_layout(carom_lcp_set *set, const carom_lcp_record *r, carom_text *text, block_layout *b,
                                carom_error *error) {
  int n = r->n, again = 0;
  carom_status status = next_integer(text, 0, INT_MAX, "the number of blocks", &b->blocks, error);
  if (status == CAROM_OK) status = next_integer(text, 0, n, "the number of block rows", &b->rows, error);
  if (status == CAROM_OK) status = next_integer(text, 0, n, "the number of block columns", &b->columns, error);
  size_t count = (size_t)b->blocks + 2 * (size_t)b->rows + (size_t)b->columns + 1;
  if (status == CAROM_OK) status = carom_lcp_reserve(set, text, &b->held, count, error);  // of doubles: room to spare
  if (status != CAROM_OK) return status;
  b->row_end = (int *)b->held, b->column_end = b->row_end + b->rows, b->row_start = b->column_end + b->columns;
  b->column = b->row_start + b->rows + 1;
  status = next_rising(text, b->row_end, b->rows, 1, n, "where a block row ends", error);
  if (status == CAROM_OK)
    status = next_rising(text, b->column_end, b->columns, 1, n, "where a block column ends", error);
  if (status == CAROM_OK)
    status = next_integer(text, b->rows + 1, b->rows + 1, "block rows and one", &b->starts, error);
  if (status == CAROM_OK) status = next_integer(text, b->blocks, b->blocks, "blocks once more", &again, error);
  if (status == CAROM_OK)
    status = next_rising(text, b->row_start, b->starts, 0, b->blocks, "a block row's start", error);
  for (int i = 0; i < b->blocks && status == CAROM_OK; i++)
    status = next_integer(text, 0, b->columns - 1, "a block's column", b->column + i, error);
  if (status != CAROM_OK) return status;
  bool whole = b->rows > 0 && b->columns > 0 && b->row_end[b->rows - 1] == n && b->column_end[b->columns - 1] == n;
  if (!whole) return expect(text, n == 0, "the blocks do not end with the matrix", error);
  return expect(text, b->row_start[0] == 0 && b->row_start[b->rows] == b->blocks,
                "the rows' starts must go from 0 to the number of blocks", error);
}

// Each block is its number and its values, column by column.
static carom_status read_block_values(const carom_lcp_record *r, const block_layout *b, carom_text *text,
                                      carom_error *error) {
  size_t lda = (size_t)r->n;
  carom_status status = CAROM_OK;
  for (int I = 0; I < b->rows; I++) {
    int top = I > 0 ? b->row_end[I - 1] : 0;
    for (int p = b->row_start[I]; p < b->row_start[I + 1] && status == CAROM_OK; p++) {
      int J = b->column[p], left = J > 0 ? b->column_end[J - 1] : 0, number;
      status = next_integer(text, 0, INT_MAX, "the number of a block", &number, error);
      for (int j = left; j < b->column_end[J] && status == CAROM_OK; j++)
        status =
            next_numbers(text, false, r->M + (size_t)top + (size_t)j * lda, (size_t)(b->row_end[I] - top), 1, error);
    }
  }
  return status;
}

// `rows cols` and the blocks.
static carom_status read_blocks(carom_lcp_set *set, carom_lcp_record *r, carom_text *text, carom_error *error) {
  int size[2];
  block_layout b = {0};
  size_t n = (size_t)r->n;
  carom_status status = next_integer(text, 0, CAROM_LCP_FILE_MOST, "the number of rows", size, error);
  if (status == CAROM_OK) status = next_integer(text, 0, CAROM_LCP_FILE_MOST, "the number of columns", size + 1, error);
  if (status == CAROM_OK) status = check_square(r, text, size, error);
  if (status == CAROM_OK) status = read_layout(set, r, text, &b, error);
  if (status == CAROM_OK && !(r->M = CAROM_NEW(&set->allocator, double, n *n))) status = out_of_memory(text, error);
  if (status == CAROM_OK) status = read_block_values(r, &b, text, error);
  carom_release(&set->allocator, b.held);
  return status;
}

static carom_status read_matrix(carom_lcp_set *set, carom_lcp_record *r, carom_text *text, carom_error *error) {
  int storage;
  carom_status status = next_integer(text, 0, 2, "the storage of the matrix (0: dense, 1: blocks)", &storage, error);
  if (status != CAROM_OK) return status;
  if (storage == 2)
    return carom_fail(error, CAROM_ERR_FORMAT,
                      "%s:%d: the matrix is stored by compressed columns (2), which is not read; store it dense (0) or "
                      "in blocks (1)",
                      text->name, text->line);
  return storage ? read_blocks(set, r, text, error) : read_dense(set, r, text, error);
}

static carom_status read_vector(carom_lcp_set *set, carom_lcp_record *r, carom_text *text, carom_error *error) {
  carom_status status = carom_lcp_reserve(set, text, &r->q, (size_t)r->n, error);
  return status == CAROM_OK ? next_numbers(text, false, r->q, (size_t)r->n, 1, error) : status;
}

// Block start rows up to n, then one flag a block: 0 equations, whose unknowns are free, 1 complementarity.
static carom_status read_kinds(carom_lcp_record *r, carom_text *text, carom_error *error) {
  int start, flag;
  carom_text starts = *text;
  carom_status status = next_integer(text, 0, 0, "the first block's start", &start, error);
  while (status == CAROM_OK && start < r->n)
    status = next_integer(text, start + 1, r->n, "a block's start", &start, error);
  if (status == CAROM_OK) status = next_integer(&starts, 0, 0, "the first block's start", &start, error);
  while (status == CAROM_OK && start < r->n) {  // a second cursor goes through the starts as the first does the flags
    int from = start;
    status = next_integer(&starts, start + 1, r->n, "a block's start", &start, error);
    if (status == CAROM_OK) status = next_integer(text, 0, 1, "a block's kind", &flag, error);
    for (int i = from; status == CAROM_OK && i < start; i++) r->lower[i] = flag ? 0 : -INFINITY;
  }
  return status;
}

// A (n x n), B (m x m), C (n x m), D (m x n), row by row, then a, b:  0 = A u + C v + a,  w = D u + B v + b.
static carom_status read_parts(carom_lcp_set *set, carom_lcp_record *r, carom_text *text, int n, int m,
                               carom_error *error) {
  size_t lda = (size_t)r->n, first = (size_t)n, second = (size_t)m;
  for (int i = 0; i < r->n; i++) r->lower[i] = i < n ? -INFINITY : 0;
  carom_status status = carom_lcp_reserve(set, text, &r->M, lda * lda, error);
  if (status == CAROM_OK) status = next_rows(text, r->M, first, first, lda, error);
  if (status == CAROM_OK) status = next_rows(text, r->M + first + first * lda, second, second, lda, error);
  if (status == CAROM_OK) status = next_rows(text, r->M + first * lda, first, second, lda, error);
  if (status == CAROM_OK) status = next_rows(text, r->M + first, second, first, lda, error);
  return status == CAROM_OK ? read_vector(set, r, text, error) : status;
}

static carom_status read_mixed(carom_lcp_set *set, carom_lcp_record *r, carom_text *text, carom_error *error) {
  int whole, parts, n = 0, m = 0;
  carom_status status = next_integer(text, 0, 1, "the first storage flag", &whole, error);
  if (status == CAROM_OK) status = next_integer(text, 0, 1, "the second storage flag", &parts, error);
  if (status == CAROM_OK) status = next_integer(text, 0, CAROM_LCP_FILE_MOST / 2, "the number of equations", &n, error);
  if (status == CAROM_OK) status = next_integer(text, 0, CAROM_LCP_FILE_MOST / 2, "the number of pairs", &m, error);
  if (status != CAROM_OK) return status;
  if (!whole && !parts)
    return carom_fail(error, CAROM_ERR_FORMAT, "%s: both storage flags are 0: there is no matrix", text->name);
  r->n = n + m;
  status = carom_lcp_reserve(set, text, &r->lower, (size_t)r->n, error);
  if (status != CAROM_OK) return status;
  if (!whole) return read_parts(set, r, text, n, m, error);
  status = read_kinds(r, text, error);
  if (status == CAROM_OK) status = read_matrix(set, r, text, error);
  return status == CAROM_OK ? read_vector(set, r, text, error) : status;
}

// Linear: n, then the storage of the matrix, its sizes, and in the fifth place a size or a number of blocks. Mixed: two
// flags, and if the first is set a 0 in the fifth place, where the first block starts.
static bool looks_linear(carom_text text) {
  double x[5] = {0};
  for (int i = 0; i < 5; i++)
    if (carom_lcp_number(&text, next_word(&text), false, x + i, NULL) != CAROM_OK) return x[0] > 1;
  bool flags = (x[0] == 0 || x[0] == 1) && (x[1] == 0 || x[1] == 1);
  return !flags || (x[0] == 1 && x[4] != 0);
}

carom_status carom_lcp_read_siconos(carom_lcp_set *set, carom_text *text, carom_error *error) {
  set->format = "siconos";
  carom_lcp_record *r = carom_lcp_set_add(set);
  if (!r) return out_of_memory(text, error);
  if (!looks_linear(*text)) return read_mixed(set, r, text, error);
  carom_status status = next_integer(text, 1, CAROM_LCP_FILE_MOST, "n", &r->n, error);
  if (status == CAROM_OK) status = read_matrix(set, r, text, error);
  return status == CAROM_OK ? read_vector(set, r, text, error) : status;
}

// ---- LCPFILE1 ------------------------------------------------------------------------------------------------------

static uint64_t little_endian(const char *bytes, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; i++) value |= (uint64_t)(unsigned char)bytes[i] << 8 * i;
  return value;
}

static double *take_doubles(carom_lcp_set *set, carom_text *text, size_t count) {
  double *x = CAROM_NEW(&set->allocator, double, count);
  for (size_t i = 0; x && i < count; i++, text->at += 8) {
    uint64_t bits = little_endian(text->at, 8);
    memcpy(x + i, &bits, sizeof bits);
  }
  return x;
}

carom_status carom_lcp_read_binary(carom_lcp_set *set, carom_text *text, carom_error *error) {
  size_t left = (size_t)(text->end - text->at);
  set->format = "binary";
  if (left < 16) return carom_fail(error, CAROM_ERR_FORMAT, "%s: the file ends within its head", text->name);
  uint64_t n = little_endian(text->at + 8, 4), count = little_endian(text->at + 12, 4);
  text->at += 16, left -= 16;
  if (n < 1 || n > CAROM_LCP_FILE_MOST || count < 1 || count > left / (8 * (n * n + n)))
    return carom_fail(error, CAROM_ERR_FORMAT, "%s: %llu problems of %llu pairs do not fit in a file of %zu bytes",
                      text->name, (unsigned long long)count, (unsigned long long)n, left + 16);
  for (uint64_t i = 0; i < count; i++) {
    carom_lcp_record *r = carom_lcp_set_add(set);
    if (!r) return out_of_memory(text, error);
    r->n = (int)n;
    r->M = take_doubles(set, text, n * n);
    r->q = r->M ? take_doubles(set, text, n) : NULL;
    if (!r->q) return out_of_memory(text, error);
  }
  return CAROM_OK;
}
