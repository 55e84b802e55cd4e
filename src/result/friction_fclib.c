// FCLIB's HDF5 files (Acary et al., https://frictionalcontactlibrary.github.io): read and written.
#include <string.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "result/friction_file.h"
#include "result/h5.h"

#define LOCAL "/fclib_local/"
enum { BY_COLUMNS = -1, BY_ROWS = -2 };

// ---- reading --------------------------------------------------------------------------------------------------------

static int read_whole(carom_h5_file *h, const char *path) {
  hsize_t size = 1;
  int *value = carom_h5_read(h, path, H5T_NATIVE_INT, sizeof *value, 1, &size), found = value ? *value : 0;
  carom_release(&h->allocator, value);
  return found;
}

// Compressed or triplets, as it stands in the file.
typedef struct matrix {
  int size, nz;
  hsize_t count, starts;
  int *p, *i;
  double *x;
} matrix;

static void read_matrix(carom_h5_file *h, matrix *m) {
  m->size = read_whole(h, LOCAL "W/m");
  if (h->status == CAROM_OK && read_whole(h, LOCAL "W/n") != m->size)
    carom_h5_fail_format(h, "W", "has another number of columns than of rows");
  m->nz = read_whole(h, LOCAL "W/nz");
  if (h->status == CAROM_OK && (m->size < 0 || m->nz < BY_ROWS)) carom_h5_fail_format(h, "W", "has sizes out of range");
  m->count = m->nz >= 0 ? (hsize_t)m->nz : CAROM_H5_ANY;
  m->starts = m->nz >= 0 ? m->count : (hsize_t)m->size + 1;
  m->x = carom_h5_read(h, LOCAL "W/x", H5T_NATIVE_DOUBLE, sizeof *m->x, 1, &m->count);
  m->i = carom_h5_read(h, LOCAL "W/i", H5T_NATIVE_INT, sizeof *m->i, 1, &m->count);
  m->p = carom_h5_read(h, LOCAL "W/p", H5T_NATIVE_INT, sizeof *m->p, 1, &m->starts);
}

// p of compressed storage becomes an index per entry, which says how many there are (there may be room for more).
static int *expand(carom_h5_file *h, const matrix *m, int64_t *count) {
  bool fits = m->p[0] == 0 && m->p[m->size] >= 0 && (hsize_t)m->p[m->size] <= m->count;
  for (int j = 0; fits && j < m->size; j++) fits = m->p[j] <= m->p[j + 1];
  if (!fits) {
    carom_h5_fail_format(h, "W/p", "does not ascend from 0");
    return NULL;
  }
  *count = m->p[m->size];
  int *index = CAROM_NEW(&h->allocator, int, *count + 1);
  if (!index) carom_h5_fail_memory(h, "W");
  for (int j = 0; index && j < m->size; j++)
    for (int k = m->p[j]; k < m->p[j + 1]; k++) index[k] = j;
  return index;
}

static bool in_range(const int *index, int64_t count, int size) {
  for (int64_t k = 0; k < count; k++)
    if (index[k] < 0 || index[k] >= size) return false;
  return true;
}

static void take_matrix(carom_h5_file *h, carom_friction_file *f, const matrix *m) {
  int64_t count = (int64_t)m->count;
  int *expanded = m->nz < 0 ? expand(h, m, &count) : NULL;
  const int *other = m->nz < 0 ? expanded : m->p;
  if (h->status == CAROM_OK && !(in_range(m->i, count, m->size) && in_range(other, count, m->size)))
    carom_h5_fail_format(h, "W", "has an index out of range");
  carom_friction_entries e = {count, m->nz == BY_COLUMNS ? m->i : other, m->nz == BY_COLUMNS ? other : m->i, m->x};
  if (h->status == CAROM_OK) h->status = carom_friction_file_gather(f, &e, h->path, h->error);
  carom_release(&h->allocator, expanded);
}

static double *read_vector(carom_h5_file *h, const char *path, int count) {
  hsize_t size = (hsize_t)count;
  return carom_h5_read(h, path, H5T_NATIVE_DOUBLE, sizeof(double), 1, &size);
}

static void refuse_others(carom_h5_file *h) {
  if (!carom_h5_has(h, "/fclib_local"))
    carom_h5_fail_format(h, "/fclib_local",
                         carom_h5_has(h, "/fclib_global")
                             ? "is missing: the problem is a global one (M, H), which is not read; eliminate velocities"
                             : "is missing");
  if (carom_h5_has(h, LOCAL "V"))
    carom_h5_fail_format(h, "V", "is there: problems with equality constraints are not read; eliminate them");
}

static void read_sizes(carom_h5_file *h, carom_friction_file *f, const matrix *m) {
  f->dimension = read_whole(h, LOCAL "spacedim");
  if (h->status == CAROM_OK && f->dimension != 2 && f->dimension != 3)
    carom_h5_fail_format(h, "spacedim", "is neither 2 nor 3");
  if (h->status != CAROM_OK) return;
  if (m->size % f->dimension != 0 || m->size / f->dimension > CAROM_FRICTION_FILE_MOST)
    carom_h5_fail_format(h, "W", "has a number of rows that is no multiple of spacedim, or too many");
  f->count = m->size / f->dimension;
}

static void read_all(carom_h5_file *h, carom_friction_file *f) {
  static const char *const guesses[] = {"/solution/r", "/guesses/1/r"};
  matrix m = {0};
  refuse_others(h);
  read_matrix(h, &m);
  read_sizes(h, f, &m);
  if (h->status == CAROM_OK) take_matrix(h, f, &m);
  f->q = read_vector(h, LOCAL "vectors/q", m.size);
  f->mu = read_vector(h, LOCAL "vectors/mu", f->count);
  for (int i = 0; i < 2 && !f->guess; i++)
    if (carom_h5_has(h, i == 0 ? "/solution" : "/guesses") && (i == 0 || carom_h5_has(h, "/guesses/1")) &&
        carom_h5_has(h, guesses[i]))
      f->guess = read_vector(h, guesses[i], m.size);
  CAROM_RELEASE_ALL(&h->allocator, m.p, m.i, m.x);
}

carom_status carom_friction_read_fclib(carom_friction_file *f, const carom_bytes *bytes, carom_error *error) {
  carom_h5_guard guard;
  carom_h5_enter(&guard);
  carom_h5_file h = {-1, bytes->name, "read", CAROM_OK, error, f->allocator};
  f->format = "fclib";
  h.id = carom_h5_open_in_memory(bytes->data, bytes->size);
  if (h.id < 0) carom_h5_fail_format(&h, "it", "cannot be opened by HDF5");
  read_all(&h, f);
  if (h.id >= 0) H5Fclose(h.id);
  carom_h5_leave(&guard);
  return h.status;
}

// ---- writing --------------------------------------------------------------------------------------------------------

static void write_wholes(carom_h5_file *h, const char *path, const int *values, size_t count, const char *about) {
  carom_h5_array array = {path, "1", about, H5T_STD_I32LE, H5T_NATIVE_INT, .rank = 1, .size = {count}};
  carom_h5_write(h, &array, values);
}

static void write_numbers(carom_h5_file *h, const char *path, const char *unit, const double *values, size_t count,
                          const char *about) {
  carom_h5_array array = {path, unit, about, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, .rank = 1, .size = {count}};
  carom_h5_write(h, &array, values);
}

static void write_text(carom_h5_file *h, const char *path, const char *text) {
  hid_t type = carom_h5_text_type(strlen(text) + 1);
  carom_h5_array array = {path, "", "", type, type, .rank = 0};
  carom_h5_write(h, &array, text);
  H5Tclose(type);
}

// W by rows, all entries of its blocks.
typedef struct rows {
  int *start, *column;
  double *value;
} rows;

static void fill_rows(const carom_friction_problem *p, const rows *w) {
  int d = p->dimension, count = 0;
  for (int i = 0; i < p->contact_count; i++)
    for (int r = 0; r < d; r++) {
      for (int k = p->start[i]; k < p->start[i + 1]; k++)
        for (int c = 0; c < d; c++, count++) {
          w->column[count] = d * p->column[k] + c;
          w->value[count] = p->W[(size_t)(d * d) * (size_t)k + (size_t)(r + c * d)];
        }
      w->start[d * i + r + 1] = count;
    }
}

static void write_matrix(carom_h5_file *h, const carom_friction_problem *p) {
  int size = p->dimension * p->contact_count, by_rows = BY_ROWS;
  size_t entries = (size_t)(p->dimension * p->dimension) * (size_t)(p->contact_count ? p->start[p->contact_count] : 0);
  rows w = {0};
  if (!CAROM_NEW_ALL(&h->allocator, CAROM_ROOM(w.start, size + 1), CAROM_ROOM(w.column, entries + 1),
                     CAROM_ROOM(w.value, entries + 1)))
    carom_h5_fail_memory(h, "W");
  else
    fill_rows(p, &w);
  int count = (int)entries;
  write_wholes(h, LOCAL "W/m", &size, 1, "rows");
  write_wholes(h, LOCAL "W/n", &size, 1, "columns");
  write_wholes(h, LOCAL "W/nz", &by_rows, 1, "-2: compressed by rows");
  write_wholes(h, LOCAL "W/nzmax", &count, 1, "entries");
  write_wholes(h, LOCAL "W/p", w.start, (size_t)size + 1, "where rows begin");
  write_wholes(h, LOCAL "W/i", w.column, entries, "columns");
  write_numbers(h, LOCAL "W/x", "1/kg", w.value, entries, "entries");
  CAROM_RELEASE_ALL(&h->allocator, w.start, w.column, w.value);
}

static void write_problem(carom_h5_file *h, const carom_friction_problem *p, const char *title) {
  size_t n = (size_t)p->contact_count, size = n * (size_t)p->dimension;
  write_wholes(h, LOCAL "spacedim", &p->dimension, 1, "of a contact: 2 or 3");
  write_matrix(h, p);
  write_numbers(h, LOCAL "vectors/q", "m/s", p->q, size, "velocities without impulses, normal first");
  write_numbers(h, LOCAL "vectors/mu", "1", p->mu, n, "coefficients of friction");
  write_text(h, LOCAL "info/title", title);
  write_text(h, LOCAL "info/description", "A problem of Coulomb friction, written by carom");
  write_text(h, LOCAL "info/math_info", "unknown");
}

static void write_solution(carom_h5_file *h, const carom_friction_solution *s, size_t size) {
  write_numbers(h, "/solution/r", "N s", s->r, size, "impulses, normal first");
  write_numbers(h, "/solution/u", "m/s", s->u, size, "velocities");
}

static carom_status save(const carom_h5_image *image, const char *path, const carom_allocator *allocator,
                         carom_error *error) {
  carom_atomic_file file = {0};
  carom_status status = carom_atomic_file_open(&file, path, allocator, error);
  if (status == CAROM_OK) file.quick = true, status = carom_atomic_file_write(&file, image->bytes, image->size, error);
  if (status == CAROM_OK) status = carom_atomic_file_commit(&file, error);
  carom_atomic_file_abandon(&file);
  return status;
}

carom_status carom_friction_file_write(const carom_friction_problem *problem, const carom_friction_solution *solution,
                                       const char *title, const char *path, const carom_allocator *allocator,
                                       carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_h5_image image = {0};
  carom_h5_guard guard;
  carom_h5_enter(&guard);
  carom_h5_file h = {-1, path, "write", CAROM_OK, error, a};
  h.id = carom_h5_create_in_memory(path, &image);
  if (h.id < 0) carom_h5_fail(&h, "making");
  write_problem(&h, problem, title);
  if (solution) write_solution(&h, solution, (size_t)problem->dimension * (size_t)problem->contact_count);
  if (h.id >= 0 && !carom_h5_close_in_memory(h.id, &image)) carom_h5_fail(&h, "closing");
  carom_h5_leave(&guard);
  carom_status status = h.status == CAROM_OK ? save(&image, path, &a, error) : h.status;
  carom_h5_release_image(&image);
  return status;
}
