#include "result/recorder_events.h"

#include <math.h>
#include <string.h>

#include "result/recorder_head.h"

// In the order in which they are written.
static const carom_result_field_id fields[CAROM_EVENT_COLUMNS] = {
    CAROM_FIELD_EVENT_KIND,    CAROM_FIELD_EVENT_BODY, CAROM_FIELD_EVENT_POINT, CAROM_FIELD_EVENT_NORMAL,
    CAROM_FIELD_EVENT_IMPULSE, CAROM_FIELD_EVENT_MODE, CAROM_FIELD_EVENT_TIME,
};
static const size_t widths[CAROM_EVENT_COLUMNS] = {1, 2, 3, 3, 3, 1, 1};

static bool is_small(int column) {
  return fields[column] == CAROM_FIELD_EVENT_KIND || fields[column] == CAROM_FIELD_EVENT_MODE;
}

static const double nothing = NAN;  // a time that was never written

static carom_h5_array column_array(int column) {
  hid_t file_type = is_small(column) ? H5T_STD_U8LE : column == 1 ? H5T_STD_I32LE : H5T_IEEE_F64LE;
  hid_t memory_type = is_small(column) ? H5T_NATIVE_UCHAR : column == 1 ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE;
  int rank = widths[column] > 1 ? 2 : 1;
  carom_h5_array array =
      carom_result_array(fields[column], file_type, memory_type, rank, (hsize_t[]){0, widths[column], 0});
  array.chunk[0] = CAROM_EVENT_BUFFER / 4;
  array.chunk[1] = widths[column];
  array.extendible = true;
  if (fields[column] == CAROM_FIELD_EVENT_TIME) array.fill = &nothing;
  return array;
}

void carom_event_log_clear(carom_event_log *log) {
  log->written = log->pending = 0;
  for (int i = 0; i < CAROM_EVENT_COLUMNS; i++) log->datasets[i] = -1;
}

void carom_event_log_create(carom_h5_file *file) {
  for (int i = 0; i < CAROM_EVENT_COLUMNS; i++) {
    carom_h5_array array = column_array(i);
    carom_h5_write(file, &array, NULL);
  }
}

void carom_event_log_open(carom_event_log *log, carom_h5_file *file) {
  for (int i = 0; i < CAROM_EVENT_COLUMNS; i++) {
    hsize_t size[2] = {CAROM_H5_ANY, widths[i]};
    if (fields[i] == CAROM_FIELD_EVENT_MODE && !carom_h5_has(file, carom_result_fields[fields[i]].path))
      continue;  // a file from before there were modes goes on without
    log->datasets[i] = carom_h5_open_dataset(file, carom_result_fields[fields[i]].path, widths[i] > 1 ? 2 : 1, size);
  }
}

void carom_event_log_close(carom_event_log *log) {
  for (int i = 0; i < CAROM_EVENT_COLUMNS; i++) {
    if (log->datasets[i] >= 0) H5Dclose(log->datasets[i]);
    log->datasets[i] = -1;
  }
}

bool carom_event_log_full(const carom_event_log *log) { return log->pending == CAROM_EVENT_BUFFER; }

void carom_event_log_add(carom_event_log *log, const carom_contact_event *event) {
  int i = log->pending++;
  log->time[i] = event->time;
  log->kind[i] = (unsigned char)event->kind;
  log->mode[i] = (unsigned char)event->mode;
  log->body[i][0] = event->body_a;
  log->body[i][1] = event->body_b;
  memcpy(log->point[i], &event->point, sizeof log->point[i]);
  memcpy(log->normal[i], &event->normal, sizeof log->normal[i]);
  memcpy(log->impulse[i], &event->impulse, sizeof log->impulse[i]);
}

void carom_event_log_write(carom_event_log *log, carom_h5_file *file) {
  if (log->pending == 0) return;
  const void *columns[CAROM_EVENT_COLUMNS] = {log->kind,    log->body, log->point, log->normal,
                                              log->impulse, log->mode, log->time};
  for (int i = 0; i < CAROM_EVENT_COLUMNS; i++) {
    carom_h5_array array = column_array(i);
    if (log->datasets[i] < 0 && fields[i] == CAROM_FIELD_EVENT_MODE) continue;
    carom_h5_append(file, log->datasets[i], &array, (hsize_t)log->written, (hsize_t)log->pending, columns[i]);
  }
  if (file->status != CAROM_OK) return;
  log->written += log->pending;
  log->pending = 0;
}
