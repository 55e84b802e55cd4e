// The head of a result file: everything but the frames.
#ifndef CAROM_SRC_IO_RECORDER_HEAD_H
#define CAROM_SRC_IO_RECORDER_HEAD_H

#include "carom/io.h"
#include "io/h5.h"
#include "io/result_layout.h"

// A dataset of the layout, neither chunked nor extendible.
carom_h5_array carom_result_array(carom_result_field_id id, hid_t file_type, hid_t memory_type, int rank, size_t n0,
                                  size_t n1, size_t n2);
// Attributes of the root, /scene, /bodies, /parts and /shapes.
void carom_result_write_head(carom_h5_file *file, const carom_scene *scene, const carom_provenance *provenance);

#endif
