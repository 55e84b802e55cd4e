// The table as an HDF5 file: /cases/number, class and reason, /inputs, /outcomes and /run with a dataset for each
// column, /classes with the names of the classes.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "carom/sweep.h"
#include "result/h5.h"

#define FORMAT "carom-sweep"
enum { VERSION = 1, PATH_SIZE = 120, REASON_SIZE = 400, LARGE = 4096 };

static void column_path(const carom_sweep *sweep, int column, char path[PATH_SIZE]) {
  int axes = sweep->sampling.axis_count;
  const char *group = column < axes ? "inputs" : column < axes + sweep->outcome_count ? "outcomes" : "run";
  snprintf(path, PATH_SIZE, "/%s/%.80s", group, sweep->columns[column]);
}

static carom_h5_array describe(const char *path, const char *unit, const char *about, hid_t types[2], int64_t count) {
  carom_h5_array a = {.path = path, .unit = unit[0] ? unit : "1", .description = about, .rank = 1};
  a.file_type = types[0];
  a.memory_type = types[1];
  a.size[0] = (hsize_t)count;
  if (count > LARGE) a.chunk[0] = LARGE;
  return a;
}

// ---- writing --------------------------------------------------------------------------------------------------------

static void write_root(carom_h5_file *file, const carom_sweep *sweep) {
  int version = VERSION, axes = sweep->sampling.axis_count;
  carom_h5_write_text_attribute(file, file->id, "format", FORMAT);
  carom_h5_write_attribute(file, "format_version", H5T_STD_I32LE, H5T_NATIVE_INT, 0, &version);
  carom_h5_write_text_attribute(file, file->id, "title", sweep->title);
  carom_h5_write_text_attribute(file, file->id, "carom_version", carom_version());
  carom_h5_write_text_attribute(file, file->id, "design", carom_design_name(sweep->sampling.design));
  carom_h5_write_attribute(file, "seed", H5T_STD_U64LE, H5T_NATIVE_UINT64, 0, &sweep->sampling.seed);
  carom_h5_write_attribute(file, "digest", H5T_STD_U64LE, H5T_NATIVE_UINT64, 0, &sweep->digest);
  carom_h5_write_attribute(file, "axes", H5T_STD_I32LE, H5T_NATIVE_INT, 0, &axes);
}

// Made here and not on the way to datasets, so that nothing of them tells the time.
static void make_groups(carom_h5_file *file) {
  static const char *const groups[] = {"/cases", "/inputs", "/outcomes", "/run"};
  hid_t creation = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_obj_track_times(creation, false);
  for (size_t i = 0; i < sizeof groups / sizeof *groups && file->status == CAROM_OK; i++) {
    hid_t group = H5Gcreate2(file->id, groups[i], H5P_DEFAULT, creation, H5P_DEFAULT);
    if (group < 0) carom_h5_fail(file, groups[i]);
    if (group >= 0) H5Gclose(group);
  }
  H5Pclose(creation);
}

static void write_texts(carom_h5_file *file, const char *path, const char *about, char *const *texts, int64_t count) {
  size_t longest = 1;
  for (int64_t i = 0; i < count; i++)
    if (texts[i] && strlen(texts[i]) > longest) longest = strlen(texts[i]);
  char *packed = CAROM_NEW(&file->allocator, char, longest *(size_t)(count > 0 ? count : 1));
  if (!packed) {
    carom_h5_fail_memory(file, path);
    return;
  }
  for (int64_t i = 0; i < count; i++)
    if (texts[i]) memcpy(packed + longest * (size_t)i, texts[i], strlen(texts[i]));
  hid_t type = carom_h5_text_type(longest);
  carom_h5_array array = describe(path, "", about, (hid_t[]){type, type}, count);
  carom_h5_write(file, &array, packed);
  H5Tclose(type);
  carom_release(&file->allocator, packed);
}

static void write_columns(carom_h5_file *file, const carom_sweep *sweep, const carom_cases *cases) {
  hid_t types[2] = {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
  double *column = CAROM_NEW(&file->allocator, double, cases->count);
  if (!column) carom_h5_fail_memory(file, "/inputs");
  for (int k = 0; column && k < cases->column_count; k++) {
    char path[PATH_SIZE];
    column_path(sweep, k, path);
    for (int64_t i = 0; i < cases->count; i++) column[i] = carom_cases_get(cases, i).values[k];
    carom_h5_array array = describe(path, sweep->units[k], "a number for each case", types, cases->count);
    carom_h5_write(file, &array, column);
  }
  carom_release(&file->allocator, column);
}

static void write_all(carom_h5_file *file, const carom_sweep *sweep, const carom_cases *cases) {
  hid_t types[2] = {H5T_STD_I32LE, H5T_NATIVE_INT};
  carom_h5_array classes =
      describe("/cases/class", "", "class of each case, an index into /classes (-1: not run)", types, cases->count);
  write_root(file, sweep);
  make_groups(file);
  write_texts(file, "/classes", "names of the classes", sweep->classes, sweep->class_count);
  carom_h5_write(file, &classes, cases->classes);
  write_texts(file, "/cases/reason", "why a case failed; else empty", cases->reasons, cases->count);
  write_columns(file, sweep, cases);
}

carom_status carom_cases_write(const carom_cases *cases, const carom_sweep *sweep, const char *path,
                               carom_error *error) {
  carom_h5_guard guard;
  carom_h5_image image = {0};
  carom_h5_file file = {.path = path, .verb = "write", .error = error, .allocator = cases->allocator};
  carom_h5_enter(&guard);
  file.id = carom_h5_create_in_memory(path, &image);
  if (file.id < 0) carom_h5_fail_memory(&file, "the table");
  if (file.id >= 0) write_all(&file, sweep, cases);
  if (file.id >= 0 && !carom_h5_close_in_memory(file.id, &image)) carom_h5_fail_memory(&file, "the table");
  carom_h5_leave(&guard);
  if (file.status == CAROM_OK) file.status = carom_write_file(&(carom_bytes){path, image.bytes, image.size}, error);
  carom_h5_release_image(&image);
  return file.status;
}

// ---- reading --------------------------------------------------------------------------------------------------------

static void check_root(carom_h5_file *file, const carom_sweep *sweep) {
  uint64_t digest = 0;
  char *format = H5Aexists(file->id, "format") > 0 ? carom_h5_read_text_attribute(file, "format") : NULL;
  bool ours = format && strcmp(format, FORMAT) == 0;
  carom_release(&file->allocator, format);
  if (file->status != CAROM_OK) return;
  if (!ours)
    file->status = carom_fail(file->error, CAROM_ERR_FORMAT, "'%.700s' is not the table of a sweep", file->path);
  else if (!carom_h5_read_attribute(file, "digest", H5T_NATIVE_UINT64, 0, &digest) || digest != sweep->digest)
    file->status =
        carom_fail(file->error, CAROM_ERR_ARGUMENT,
                   "'%.600s' is of another problem, or the problem or its scene was changed since", file->path);
}

static void read_classes(carom_h5_file *file, const carom_sweep *sweep, carom_cases *cases) {
  hsize_t count = (hsize_t)cases->count;
  int *classes = carom_h5_read(file, "/cases/class", H5T_NATIVE_INT, sizeof(int), 1, &count);
  for (int64_t i = 0; classes && i < cases->count; i++) {
    bool known = classes[i] >= -1 && classes[i] < sweep->class_count;
    if (!known) carom_h5_fail_format(file, "/cases/class", "has a class that is not there");
    cases->classes[i] = known ? classes[i] : -1;
  }
  carom_release(&file->allocator, classes);
}

static void read_reasons(carom_h5_file *file, carom_cases *cases) {
  hsize_t count = (hsize_t)cases->count;
  size_t stride = 0;
  char *texts = file->status == CAROM_OK ? carom_h5_read_texts(file, "/cases/reason", &count, &stride) : NULL;
  for (int64_t i = 0; texts && i < cases->count; i++) {
    const char *text = texts + stride * (size_t)i;
    if (text[0] && !(cases->reasons[i] = carom_copy_text(&cases->allocator, text)))
      carom_h5_fail_memory(file, "/cases/reason");
  }
  carom_release(&file->allocator, texts);
}

static void read_columns(carom_h5_file *file, const carom_sweep *sweep, carom_cases *cases) {
  for (int k = 0; k < cases->column_count && file->status == CAROM_OK; k++) {
    char path[PATH_SIZE];
    hsize_t count = (hsize_t)cases->count;
    column_path(sweep, k, path);
    double *column = carom_h5_read(file, path, H5T_NATIVE_DOUBLE, sizeof(double), 1, &count);
    for (int64_t i = 0; column && i < cases->count; i++) carom_cases_get(cases, i).values[k] = column[i];
    carom_release(&file->allocator, column);
  }
}

static int64_t count_rows(carom_h5_file *file) {
  hsize_t size = CAROM_H5_ANY;
  hid_t dataset = carom_h5_open_dataset(file, "/cases/class", 1, &size);
  if (dataset >= 0) H5Dclose(dataset);
  return dataset >= 0 ? (int64_t)size : 0;
}

static void read_all(carom_h5_file *file, const carom_sweep *sweep, carom_cases **cases) {
  check_root(file, sweep);
  if (file->status != CAROM_OK) return;
  int64_t count = count_rows(file);
  if (file->status == CAROM_OK) file->status = carom_cases_create(sweep, count, &file->allocator, cases, file->error);
  if (file->status != CAROM_OK) return;
  read_classes(file, sweep, *cases);
  read_reasons(file, *cases);
  read_columns(file, sweep, *cases);
}

carom_status carom_cases_read(const carom_sweep *sweep, const char *path, const carom_allocator *allocator,
                              carom_cases **cases, carom_error *error) {
  carom_h5_guard guard;
  carom_error ignored;
  carom_h5_file file = {.path = path, .verb = "read", .error = error ? error : &ignored};
  file.allocator = carom_allocator_or_default(allocator);
  *cases = NULL;
  carom_h5_enter(&guard);
  hid_t access = carom_h5_access();
  file.id = H5Fopen(path, H5F_ACC_RDONLY, access);
  if (file.id < 0) carom_h5_fail(&file, "opening");
  if (file.id >= 0) read_all(&file, sweep, cases);
  if (file.id >= 0) H5Fclose(file.id);
  H5Pclose(access);
  carom_h5_leave(&guard);
  if (file.status == CAROM_OK) return CAROM_OK;
  carom_cases_destroy(*cases);
  *cases = NULL;
  return file.status;
}
