// The head of a result file: everything but the frames.
#ifndef CAROM_SRC_RESULT_RECORDER_HEAD_H
#define CAROM_SRC_RESULT_RECORDER_HEAD_H

#include "carom/result.h"
#include "result/h5.h"
#include "result/layout.h"
#include "result/table.h"

// A dataset of the layout, neither chunked nor extendible.
carom_h5_array carom_result_array(carom_result_field_id id, hid_t file_type, hid_t memory_type, int rank,
                                  const hsize_t size[3]);

// The same, compressed when it is large.
carom_h5_array carom_result_table(carom_result_field_id id, hid_t file_type, hid_t memory_type, int rank,
                                  const hsize_t size[3]);
void carom_result_write_doubles(carom_h5_file *file, carom_result_field_id id, int rank, const hsize_t size[3],
                                const double *values);
void carom_result_write_ints(carom_h5_file *file, carom_result_field_id id, size_t n, const int *values);

extern const carom_table carom_body_table, carom_part_table;  // of carom_result_body and carom_result_part

// What a file holds besides what its scene tells: a plan has joints of its own, and groups.
typedef struct carom_head_extra {
  const carom_result_joint *joints;  // (joint_count)
  int joint_count;
  void (*write)(carom_h5_file *file, const void *context);  // may be null
  const void *context;
} carom_head_extra;

// Attributes of the root, /scene, /bodies, /parts, /shapes, /walls, /joints and /solids; `options` and `extra` may be
// null.
void carom_result_write_head(carom_h5_file *file, const carom_scene *scene, const carom_recorder_options *options,
                             const carom_head_extra *extra);

// What is recorded, and where.
typedef struct carom_recording {
  const char *path;
  const carom_scene *scene;
  const carom_recorder_options *options;  // may be null
  const carom_head_extra *extra;          // may be null
} carom_recording;

// carom_recorder_open with more in the head.
carom_status carom_recorder_open_with(const carom_recording *what, const carom_allocator *allocator,
                                      carom_recorder **recorder, carom_error *error);

#endif
