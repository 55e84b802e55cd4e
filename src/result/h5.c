#include "result/h5.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/memory.h"

// ---- the guard -----------------------------------------------------------------------------------------------------

// The only mutable global of the library, and it is HDF5's need, not ours: see h5.h.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void carom_h5_enter(carom_h5_guard *guard) {
  pthread_mutex_lock(&mutex);
  guard->report = NULL;
  guard->data = NULL;
  H5Eget_auto2(H5E_DEFAULT, &guard->report, &guard->data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void carom_h5_leave(const carom_h5_guard *guard) {
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, guard->report, guard->data);
  pthread_mutex_unlock(&mutex);
}

// ---- failures ------------------------------------------------------------------------------------------------------

typedef struct cause {
  char text[300];  // of the innermost error, the one that started it
  int number;      // errno, or 0
  bool lock;
} cause;

static herr_t find_cause(unsigned n, const H5E_error2_t *entry, void *data) {
  (void)n;
  cause *c = data;
  const char *text = entry->desc ? entry->desc : "";
  snprintf(c->text, sizeof c->text, "%s", text);
  const char *number = strstr(text, "errno = ");
  if (number) c->number = atoi(number + strlen("errno = "));
  if (strstr(text, "unable to lock file")) c->lock = true;
  return 0;
}

void carom_h5_fail(carom_h5_file *file, const char *what) {
  if (file->status != CAROM_OK) return;
  cause c = {.text = "no details"};
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, find_cause, &c);
  if (c.lock) {
    file->status = carom_fail(file->error, CAROM_ERR_IO,
                              "cannot %s '%.600s': it is locked. Close the other program that has it open, or, if its "
                              "file system has no locks, set HDF5_USE_FILE_LOCKING=FALSE in the environment",
                              file->verb, file->path);
  } else if (c.number > 0) {
    file->status = carom_fail_file(file->error, file->verb, file->path, c.number);
  } else {
    file->status =
        carom_fail(file->error, CAROM_ERR_IO, "cannot %s '%.500s' (%.60s): %s", file->verb, file->path, what, c.text);
  }
}

void carom_h5_fail_memory(carom_h5_file *file, const char *what) {
  if (file->status != CAROM_OK) return;
  file->status = carom_fail(file->error, CAROM_ERR_MEMORY, "out of memory with %.60s of '%.700s'", what, file->path);
}

void carom_h5_fail_format(carom_h5_file *file, const char *what, const char *problem) {
  if (file->status != CAROM_OK) return;
  file->status =
      carom_fail(file->error, CAROM_ERR_FORMAT, "'%.700s' is damaged or not of the kind that is read here: %.60s %s",
                 file->path, what, problem);
}

hid_t carom_h5_access(void) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access < 0) return access;
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access, true, true);  // carry on where the file system has no locks
#endif
  // Beside a writer, metadata that looks torn is read again after 1, 2, 4, ... ns. The default of 100 attempts would
  // keep a damaged file waiting forever; these take 34 ms in all.
  H5Pset_metadata_read_attempts(access, 25);
  return access;
}

// ---- files in memory ----------------------------------------------------------------------------------------------

// HDF5's image callbacks: what it would free when the file is closed, with everything flushed and checksummed, is kept.
// The memory is malloc's, as all of HDF5's: it cannot even close a file cleanly once an allocation has failed.
static void *image_allocate(size_t size, H5FD_file_image_op_t operation, void *context) {
  carom_h5_image *image = context;
  (void)operation;
  image->bytes = malloc(size);
  image->size = image->bytes ? size : 0;
  return image->bytes;
}

static void *image_resize(void *block, size_t size, H5FD_file_image_op_t operation, void *context) {
  carom_h5_image *image = context;
  (void)operation;
  void *moved = realloc(block, size);
  if (!moved) return NULL;
  image->bytes = moved;
  image->size = size;
  return moved;
}

static herr_t image_keep(void *block, H5FD_file_image_op_t operation, void *context) {
  (void)block;
  (void)operation;
  (void)context;
  return 0;
}

static void *share_context(void *context) { return context; }

static herr_t keep_context(void *context) {
  (void)context;
  return 0;
}

hid_t carom_h5_open_in_memory(const void *bytes, size_t size) {
  enum { INCREMENT = 1 << 16 };
  hid_t access = carom_h5_access(), file = -1;
  // HDF5 takes a copy, and does not write to what it copies from. There must be no file of that name.
  if (access >= 0 && H5Pset_fapl_core(access, INCREMENT, false) >= 0 &&
      H5Pset_file_image(access, (void *)(uintptr_t)bytes, size) >= 0)
    file = H5Fopen("/carom/in memory", H5F_ACC_RDONLY, access);
  if (access >= 0) H5Pclose(access);
  return file;
}

hid_t carom_h5_create_in_memory(const char *name, carom_h5_image *image) {
  enum { INCREMENT = 1 << 16 };
  H5FD_file_image_callbacks_t callbacks = {image_allocate, NULL,         image_resize, image_keep,
                                           share_context,  keep_context, image};
  hid_t access = carom_h5_access(), creation = H5Pcreate(H5P_FILE_CREATE);
  hid_t file = -1;
  if (creation >= 0) H5Pset_obj_track_times(creation, false);
  if (access >= 0 && creation >= 0 && H5Pset_fapl_core(access, INCREMENT, false) >= 0 &&
      H5Pset_file_image_callbacks(access, &callbacks) >= 0)
    file = H5Fcreate(name, H5F_ACC_TRUNC, creation, access);
  if (access >= 0) H5Pclose(access);
  if (creation >= 0) H5Pclose(creation);
  return file;
}

bool carom_h5_close_in_memory(hid_t file, carom_h5_image *image) {
  bool flushed = H5Fflush(file, H5F_SCOPE_LOCAL) >= 0;
  ssize_t used = H5Fget_file_image(file, NULL, 0);  // the memory itself grows in larger steps
  bool closed = H5Fclose(file) >= 0;
  if (used > 0 && (size_t)used < image->size) image->size = (size_t)used;
  return flushed && used > 0 && closed;
}

void carom_h5_release_image(carom_h5_image *image) {
  free(image->bytes);
  *image = (carom_h5_image){0};
}

// ---- writing -------------------------------------------------------------------------------------------------------

hid_t carom_h5_text_type(size_t size) {
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type < 0) return type;
  H5Tset_size(type, size > 0 ? size : 1);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

typedef struct attribute_place {
  hid_t object;
  const char *name;
  hid_t file_type, memory_type, space;
} attribute_place;

static void write_attribute(carom_h5_file *file, const attribute_place *a, const void *value) {
  hid_t made = H5Acreate2(a->object, a->name, a->file_type, a->space, H5P_DEFAULT, H5P_DEFAULT);
  if (made < 0 || H5Awrite(made, a->memory_type, value) < 0) carom_h5_fail(file, a->name);
  if (made >= 0) H5Aclose(made);
}

void carom_h5_write_text_attribute(carom_h5_file *file, hid_t object, const char *name, const char *text) {
  if (file->status != CAROM_OK) return;
  hid_t type = carom_h5_text_type(strlen(text)), space = H5Screate(H5S_SCALAR);
  write_attribute(file, &(attribute_place){object, name, type, type, space}, text);
  H5Sclose(space);
  H5Tclose(type);
}

void carom_h5_write_attribute(carom_h5_file *file, const char *name, hid_t file_type, hid_t memory_type, int count,
                              const void *value) {
  if (file->status != CAROM_OK) return;
  hsize_t size = (hsize_t)count;
  hid_t space = count > 0 ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_SCALAR);
  write_attribute(file, &(attribute_place){file->id, name, file_type, memory_type, space}, value);
  H5Sclose(space);
}

// How a dataset is stored. Raw data gets its place in the file at once where it is not chunked: nothing may be
// allocated outside chunks when readers are beside the writer.
static hid_t storage_of(const carom_h5_array *array) {
  enum { COMPRESSION = 4 };
  hid_t storage = H5Pcreate(H5P_DATASET_CREATE);
  if (storage < 0) return storage;
  H5Pset_obj_track_times(storage, false);  // the same contents are the same bytes
  if (array->fill) H5Pset_fill_value(storage, array->memory_type, array->fill);
  if (array->chunk[0] > 0) {
    H5Pset_chunk(storage, array->rank, array->chunk);
    if (!array->plain) H5Pset_shuffle(storage), H5Pset_deflate(storage, COMPRESSION);
  } else {
    H5Pset_alloc_time(storage, H5D_ALLOC_TIME_EARLY);
  }
  return storage;
}

static hid_t space_of(const carom_h5_array *array) {
  if (array->rank == 0) return H5Screate(H5S_SCALAR);
  hsize_t limit[3];
  memcpy(limit, array->size, sizeof limit);
  if (array->extendible) limit[0] = H5S_UNLIMITED;
  return H5Screate_simple(array->rank, array->size, limit);
}

hid_t carom_h5_create(carom_h5_file *file, const carom_h5_array *array, const void *data) {
  if (file->status != CAROM_OK) return -1;
  hid_t links = H5Pcreate(H5P_LINK_CREATE), storage = storage_of(array), space = space_of(array);
  H5Pset_create_intermediate_group(links, 1);
  hid_t dataset = H5Dcreate2(file->id, array->path, array->file_type, space, links, storage, H5P_DEFAULT);
  if (dataset < 0 || (data && H5Dwrite(dataset, array->memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0))
    carom_h5_fail(file, array->path);
  H5Sclose(space);
  H5Pclose(storage);
  H5Pclose(links);
  carom_h5_write_text_attribute(file, dataset, "units", array->unit);
  carom_h5_write_text_attribute(file, dataset, "description", array->description);
  if (file->status != CAROM_OK && dataset >= 0) {
    H5Dclose(dataset);
    dataset = -1;
  }
  return dataset;
}

void carom_h5_write(carom_h5_file *file, const carom_h5_array *array, const void *data) {
  hid_t dataset = carom_h5_create(file, array, data);
  if (dataset >= 0 && H5Dclose(dataset) < 0) carom_h5_fail(file, array->path);
}

void carom_h5_append(carom_h5_file *file, hid_t dataset, const carom_h5_array *array, hsize_t from, hsize_t count,
                     const void *rows) {
  if (file->status != CAROM_OK || count == 0) return;
  hsize_t size[3], start[3] = {from, 0, 0}, block[3];
  memcpy(size, array->size, sizeof size);
  memcpy(block, array->size, sizeof block);
  size[0] = from + count;
  block[0] = count;
  if (H5Dset_extent(dataset, size) < 0) {
    carom_h5_fail(file, array->path);
    return;
  }
  hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(array->rank, block, NULL);
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, block, NULL) < 0 ||
      H5Dwrite(dataset, array->memory_type, memory, space, H5P_DEFAULT, rows) < 0 || H5Dflush(dataset) < 0)
    carom_h5_fail(file, array->path);
  H5Sclose(memory);
  H5Sclose(space);
}

// ---- reading -------------------------------------------------------------------------------------------------------

// A text of fixed length, terminated. `read` fills it.
static char *text_block(carom_h5_file *file, hid_t type, const char *what) {
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0) {
    carom_h5_fail_format(file, what, "is not a text of fixed length");
    return NULL;
  }
  char *text = CAROM_NEW(&file->allocator, char, H5Tget_size(type) + 1);
  if (!text) carom_h5_fail_memory(file, what);
  return text;
}

char *carom_h5_read_text_attribute(carom_h5_file *file, const char *name) {
  if (file->status != CAROM_OK) return NULL;
  hid_t attribute = H5Aopen(file->id, name, H5P_DEFAULT);
  if (attribute < 0) {
    carom_h5_fail_format(file, name, "is missing");
    return NULL;
  }
  hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  char *text = NULL;
  if (H5Sget_simple_extent_npoints(space) == 1)
    text = text_block(file, type, name);
  else
    carom_h5_fail_format(file, name, "is not one text");
  if (text && H5Aread(attribute, type, text) < 0) carom_h5_fail(file, name);
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
  return text;
}

bool carom_h5_read_attribute(carom_h5_file *file, const char *name, hid_t memory_type, int count, void *value) {
  if (file->status != CAROM_OK || H5Aexists(file->id, name) <= 0) return false;
  hid_t attribute = H5Aopen(file->id, name, H5P_DEFAULT);
  if (attribute < 0) return false;
  hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
  H5T_class_t class = H5Tget_class(type);
  bool fits = H5Sget_simple_extent_npoints(space) == (count > 0 ? count : 1) && class == H5Tget_class(memory_type);
  bool read = fits && H5Aread(attribute, memory_type, value) >= 0;
  H5Tclose(type);
  H5Sclose(space);
  H5Aclose(attribute);
  return read;
}

// A result is one file: links into others are not followed, since those may be anything, a pipe that waits for ever
// too.
static herr_t refuse_link(const char *parent, const char *group, const char *file, const char *object, unsigned *flags,
                          hid_t access, void *context) {
  (void)parent, (void)group, (void)file, (void)object, (void)flags, (void)access, (void)context;
  return -1;
}

static hid_t own_links(hid_t class) {
  hid_t access = H5Pcreate(class);
  if (access >= 0) H5Pset_elink_cb(access, refuse_link, NULL);
  return access;
}

bool carom_h5_has(const carom_h5_file *file, const char *path) {
  if (file->status != CAROM_OK) return false;
  hid_t access = own_links(H5P_LINK_ACCESS);
  bool there = H5Lexists(file->id, path, access) > 0;
  H5Pclose(access);
  return there;
}

static bool stored_here(hid_t dataset) {
  hid_t storage = H5Dget_create_plist(dataset);
  bool here = storage >= 0 && H5Pget_external_count(storage) == 0 && H5Pget_layout(storage) != H5D_VIRTUAL;
  if (storage >= 0) H5Pclose(storage);
  return here;
}

// A few bytes can declare rows by the billion. Deflate makes data smaller by 1032 at the most; the last burst of a
// killed run may have made room for rows that were not written.
static bool is_backed(hid_t dataset) {
  static const double deflate_most = 1032, room_most = 1 << 24;
  hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  double declared = (double)H5Sget_simple_extent_npoints(space) * (double)H5Tget_size(type);
  H5Tclose(type);
  H5Sclose(space);
  // HDF5 walks through all of an index to know the size, and the length of an index can be made up as well.
  return declared <= room_most || declared <= deflate_most * (double)H5Dget_storage_size(dataset) + room_most;
}

static bool shape_fits(hid_t dataset, int rank, hsize_t *size) {
  hsize_t found[3];
  hid_t space = H5Dget_space(dataset);
  bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == rank && rank <= 3 &&
              H5Sget_simple_extent_dims(space, found, NULL) == rank;
  for (int i = 0; fits && i < rank; i++) {
    if (size[i] == CAROM_H5_ANY) size[i] = found[i];
    fits = size[i] == found[i] && found[i] <= INT32_MAX;
  }
  if (space >= 0) H5Sclose(space);
  return fits;
}

hid_t carom_h5_open_dataset(carom_h5_file *file, const char *path, int rank, hsize_t *size) {
  if (file->status != CAROM_OK) return -1;
  hid_t access = own_links(H5P_DATASET_ACCESS), dataset = H5Dopen2(file->id, path, access);
  H5Pclose(access);
  if (dataset < 0)
    carom_h5_fail_format(file, path, "is missing or unreadable");
  else if (!stored_here(dataset))
    carom_h5_fail_format(file, path, "keeps its data in other files");
  else if (!shape_fits(dataset, rank, size))
    carom_h5_fail_format(file, path, "has an unexpected shape");
  else if (!is_backed(dataset))
    carom_h5_fail_format(file, path, "declares more than the file holds");
  if (file->status == CAROM_OK || dataset < 0) return dataset;
  H5Dclose(dataset);
  return -1;
}

static bool same_class(hid_t dataset, hid_t memory_type) {
  hid_t type = H5Dget_type(dataset);
  bool same = type >= 0 && H5Tget_class(type) == H5Tget_class(memory_type);
  if (type >= 0) H5Tclose(type);
  return same;
}

void *carom_h5_read(carom_h5_file *file, const char *path, hid_t memory_type, size_t element_size, int rank,
                    hsize_t *size) {
  hid_t dataset = carom_h5_open_dataset(file, path, rank, size);
  if (dataset < 0) return NULL;
  size_t count = 1;
  for (int i = 0; i < rank; i++) count = count > SIZE_MAX / 2 / (size[i] + 1) ? SIZE_MAX : count * size[i];
  void *block = NULL;
  if (!same_class(dataset, memory_type))
    carom_h5_fail_format(file, path, "has an unexpected type");
  else if (!(block = carom_allocate(&file->allocator, count, element_size)))
    carom_h5_fail_memory(file, path);
  else if (H5Dread(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, block) < 0)
    carom_h5_fail(file, path);
  H5Dclose(dataset);
  if (file->status == CAROM_OK) return block;
  carom_release(&file->allocator, block);
  return NULL;
}

char *carom_h5_read_text(carom_h5_file *file, const char *path) {
  hid_t dataset = carom_h5_open_dataset(file, path, 0, NULL);
  if (dataset < 0) return NULL;
  hid_t type = H5Dget_type(dataset);
  char *text = text_block(file, type, path);
  if (text && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
    carom_h5_fail(file, path);
    carom_release(&file->allocator, text);
    text = NULL;
  }
  H5Tclose(type);
  H5Dclose(dataset);
  return text;
}

char *carom_h5_read_texts(carom_h5_file *file, const char *path, hsize_t *count, size_t *stride) {
  hid_t dataset = carom_h5_open_dataset(file, path, 1, count);
  if (dataset < 0) return NULL;
  hid_t type = H5Dget_type(dataset);
  H5Dclose(dataset);
  bool fixed = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) <= 0;
  *stride = H5Tget_size(type) + 1;
  H5Tclose(type);
  if (!fixed) {
    carom_h5_fail_format(file, path, "does not hold texts of fixed length");
    return NULL;
  }
  hid_t longer = carom_h5_text_type(*stride);  // one more byte than in the file: always terminated
  char *texts = carom_h5_read(file, path, longer, *stride, 1, count);
  H5Tclose(longer);
  return texts;
}

void carom_h5_read_numbers(carom_h5_file *file, hid_t dataset, const char *path, hsize_t count, double *numbers) {
  if (file->status != CAROM_OK || count == 0) return;
  hsize_t start = 0;
  hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(1, &count, NULL);
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL) < 0 ||
      H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, numbers) < 0)
    carom_h5_fail(file, path);
  H5Sclose(memory);
  H5Sclose(space);
}
