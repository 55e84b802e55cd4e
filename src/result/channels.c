#include "result/channels.h"

#include <string.h>

#include "base/memory.h"
#include "result/file.h"
#include "result/table.h"

static const carom_column channel_columns[] = {
    CAROM_COLUMN(CHANNEL_NAME, TEXT, carom_channel, name, .rank = 1),
    CAROM_COLUMN(CHANNEL_UNIT, TEXT, carom_channel, unit, .rank = 1),
};
static const carom_table channel_table = CAROM_TABLE(channel_columns, carom_channel);

void carom_result_write_channels(carom_h5_file *file, const carom_channel *channels, int count) {
  if (count > 0 && file->status == CAROM_OK) carom_table_write(file, &channel_table, channels, (size_t)count);
}

void carom_result_read_channel_names(carom_h5_file *file, carom_result *result) {
  if (!carom_h5_has(file, "/channels")) return;  // none, or an older file
  result->channels = carom_table_read(file, &channel_table, &result->channel_count, result->file->channel_texts);
}

int carom_result_find_channel(const carom_result *result, const char *name) {
  for (int i = 0; name && i < result->channel_count; i++)
    if (strcmp(result->channels[i].name, name) == 0) return i;
  return -1;
}

// ---- columns -------------------------------------------------------------------------------------------------------

// Some frames of some channels, frame after frame.
typedef struct block {
  size_t first_frame, frames, first_channel, channels;
} block;

static void read_block(carom_h5_file *file, hid_t dataset, const block *b, double *rows) {
  if (file->status != CAROM_OK) return;
  hsize_t start[2] = {b->first_frame, b->first_channel}, size[2] = {b->frames, b->channels};
  hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(2, size, NULL);
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) < 0 ||
      H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, rows) < 0)
    carom_h5_fail(file, carom_result_fields[CAROM_FIELD_CHANNEL_VALUE].path);
  H5Sclose(memory);
  H5Sclose(space);
}

// Column c of the block goes to values[c * stride ...].
static void turn_block(const block *b, const double *rows, size_t stride, double *values) {
  for (size_t f = 0; f < b->frames; f++)
    for (size_t c = 0; c < b->channels; c++) values[c * stride + b->first_frame + f] = rows[f * b->channels + c];
}

// The file has them frame after frame: so many frames at a time that each part of it is unpacked once.
static void read_columns(carom_h5_file *file, const carom_result *result, block b, double *values) {
  enum { AT_A_TIME = 1 << 17 };
  size_t total = (size_t)result->frame_count, most = AT_A_TIME / b.channels > 0 ? AT_A_TIME / b.channels : 1;
  if (most > total) most = total;
  double *rows = CAROM_NEW(&file->allocator, double, most *b.channels);
  if (!rows) carom_h5_fail_memory(file, "the channels");
  for (; rows && b.first_frame < total && file->status == CAROM_OK; b.first_frame += b.frames) {
    b.frames = total - b.first_frame < most ? total - b.first_frame : most;
    read_block(file, result->file->series[CAROM_SERIES_CHANNELS], &b, rows);
    turn_block(&b, rows, total, values);
  }
  carom_release(&file->allocator, rows);
}

carom_status carom_result_read_channels(carom_result *result, int first, int count, double *values,
                                        carom_error *error) {
  if (first < 0 || count < 0 || first > result->channel_count - count)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "'%.600s' has %d channels; there are not %d of them from %d on",
                      result->file->path, result->channel_count, count, first);
  if (count == 0 || result->frame_count == 0) return CAROM_OK;
  carom_h5_guard guard;
  carom_h5_enter(&guard);
  carom_h5_file file = {result->file->id, result->file->path, "read", CAROM_OK, error, result->allocator};
  read_columns(&file, result, (block){.first_channel = (size_t)first, .channels = (size_t)count}, values);
  carom_h5_leave(&guard);
  return file.status;
}
