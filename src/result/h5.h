// What result files need of HDF5: a guard around every use of the library, messages from its error stack, and
// datasets with units.
//
// Debian's HDF5 is not thread-safe: it keeps global tables without locks. One process-wide mutex therefore
// stands around all our calls, so that recorders and readers may be used from several threads. A host program that
// calls HDF5 itself, from another thread and at the same time, must not overlap with ours.
#ifndef CAROM_SRC_RESULT_H5_H
#define CAROM_SRC_RESULT_H5_H

#include <hdf5.h>

#include "carom/base.h"

// ---- the guard -----------------------------------------------------------------------------------------------------

// Holds the mutex, and keeps HDF5 from printing to stderr; the host's own printing comes back afterwards.
typedef struct carom_h5_guard {
  H5E_auto2_t report;
  void *data;
} carom_h5_guard;

void carom_h5_enter(carom_h5_guard *guard);
void carom_h5_leave(const carom_h5_guard *guard);

// ---- one file, with the first failure kept -------------------------------------------------------------------------
// Functions below do nothing once `status` is not CAROM_OK, so that a list of datasets reads as a list.

typedef struct carom_h5_file {
  hid_t id;
  const char *path;  // for messages
  const char *verb;  // "read" or "write"
  carom_status status;
  carom_error *error;
  carom_allocator allocator;
} carom_h5_file;

// Notes the failure of the HDF5 call just made: errno's text and a remedy if the system refused something, HDF5's own
// words otherwise. `what` names the dataset or the action.
void carom_h5_fail(carom_h5_file *file, const char *what);
void carom_h5_fail_memory(carom_h5_file *file, const char *what);
void carom_h5_fail_format(carom_h5_file *file, const char *what, const char *problem);

// File access for result files: newest format (needed for readers beside a writer), locks only where they work.
hid_t carom_h5_access(void);

// ---- files in memory ----------------------------------------------------------------------------------------------

typedef struct carom_h5_image {
  unsigned char *bytes;
  size_t size;
} carom_h5_image;

// A file that is never written to disk; negative on failure. Its bytes are in `image` after it was closed.
hid_t carom_h5_open_in_memory(const void *bytes, size_t size);  // of a copy; negative on failure
hid_t carom_h5_create_in_memory(const char *name, carom_h5_image *image);
bool carom_h5_close_in_memory(hid_t file, carom_h5_image *image);
void carom_h5_release_image(carom_h5_image *image);

// ---- writing -------------------------------------------------------------------------------------------------------

hid_t carom_h5_text_type(size_t size);  // fixed-length UTF-8 padded with zeros; at least one byte
void carom_h5_write_text_attribute(carom_h5_file *file, hid_t object, const char *name, const char *text);
void carom_h5_write_attribute(carom_h5_file *file, const char *name, hid_t file_type, hid_t memory_type, int count,
                              const void *value);  // of the root; count 0 makes a scalar

typedef struct carom_h5_array {
  const char *path, *unit, *description;
  hid_t file_type, memory_type;
  int rank;
  hsize_t size[3];
  hsize_t chunk[3];  // 0 in front: not chunked, not compressed
  bool extendible;   // the first dimension has no limit
  const void *fill;  // of memory_type, or null
  bool plain;        // not compressed: what is written again keeps its place
} carom_h5_array;

// Creates a dataset with its attributes and writes `data` (if not null). Returns its id, or -1.
hid_t carom_h5_create(carom_h5_file *file, const carom_h5_array *array, const void *data);
void carom_h5_write(carom_h5_file *file, const carom_h5_array *array, const void *data);  // the same, and closes it
// Makes an extendible dataset `from + count` rows long and writes the last `count`; the rows have the size of `array`.
void carom_h5_append(carom_h5_file *file, hid_t dataset, const carom_h5_array *array, hsize_t from, hsize_t count,
                     const void *rows);

// ---- reading -------------------------------------------------------------------------------------------------------

// Whether there is such a link; links into other files lead nowhere.
bool carom_h5_has(const carom_h5_file *file, const char *path);

char *carom_h5_read_text_attribute(carom_h5_file *file, const char *name);  // of the root
// False (and *value untouched) when the attribute is not there or of another size.
bool carom_h5_read_attribute(carom_h5_file *file, const char *name, hid_t memory_type, int count, void *value);
// The whole of a dataset whose shape is `rank` dimensions with the given sizes (CAROM_H5_ANY is filled in). The block
// is the caller's to release.
#define CAROM_H5_ANY ((hsize_t)-1)
void *carom_h5_read(carom_h5_file *file, const char *path, hid_t memory_type, size_t element_size, int rank,
                    hsize_t *size);
char *carom_h5_read_text(carom_h5_file *file, const char *path);
// `*count` texts (CAROM_H5_ANY is filled in) of at most *stride - 1 bytes, one after the other, each terminated.
char *carom_h5_read_texts(carom_h5_file *file, const char *path, hsize_t *count, size_t *stride);
hid_t carom_h5_open_dataset(carom_h5_file *file, const char *path, int rank, hsize_t *size);  // sizes as above
// The first `count` numbers of an open dataset of one dimension.
void carom_h5_read_numbers(carom_h5_file *file, hid_t dataset, const char *path, hsize_t count, double *numbers);

#endif
