// Reading the contact events of a result file.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "result/file.h"

typedef struct event_columns {
  int *kind, *body, *mode;  // mode null: from before there were modes
  double *point, *normal, *impulse, *time;
} event_columns;

static void *read_column(carom_h5_file *file, carom_result_field_id id, hid_t type, size_t size, hsize_t width,
                         hsize_t *shortest) {
  hsize_t sizes[2] = {CAROM_H5_ANY, width};
  void *values = carom_h5_read(file, carom_result_fields[id].path, type, size, width > 1 ? 2 : 1, sizes);
  if (values && sizes[0] < *shortest) *shortest = sizes[0];
  return values;
}

static double *read_doubles(carom_h5_file *file, carom_result_field_id id, hsize_t width, hsize_t *shortest) {
  return read_column(file, id, H5T_NATIVE_DOUBLE, sizeof(double), width, shortest);
}

static int *read_ints(carom_h5_file *file, carom_result_field_id id, hsize_t width, hsize_t *shortest) {
  return read_column(file, id, H5T_NATIVE_INT, sizeof(int), width, shortest);
}

static bool is_body(const carom_result *result, int body) {
  return body >= 0 ? body < result->body_count : body < CAROM_WORLD && CAROM_SOLID(body) < result->solid_count;
}

static bool fill_event(const event_columns *c, size_t i, const carom_result *result, carom_contact_event *event) {
  const int *body = c->body + 2 * i;
  bool sound = c->kind[i] >= 0 && c->kind[i] <= CAROM_EVENT_RECIRCULATED && isfinite(c->time[i]);
  sound = sound && is_body(result, body[0]) && (body[1] == CAROM_WORLD || is_body(result, body[1]));
  if (!sound) return false;
  *event = (carom_contact_event){
      .kind = (carom_event_kind)c->kind[i], .time = c->time[i], .body_a = body[0], .body_b = body[1]};
  if (c->mode && c->mode[i] >= 0 && c->mode[i] <= CAROM_MODE_BACKWARD) event->mode = (carom_contact_mode)c->mode[i];
  memcpy(&event->point, c->point + 3 * i, sizeof event->point);
  memcpy(&event->normal, c->normal + 3 * i, sizeof event->normal);
  memcpy(&event->impulse, c->impulse + 3 * i, sizeof event->impulse);
  return true;
}

static void fill_events(carom_h5_file *file, carom_result *result, const event_columns *c, hsize_t count) {
  result->events = CAROM_NEW(&file->allocator, carom_contact_event, count);
  if (!result->events) {
    carom_h5_fail_memory(file, "/events");
    return;
  }
  for (size_t i = 0; i < count && !isnan(c->time[i]); i++) {  // NaN: room was made, but the burst was cut off
    if (!fill_event(c, i, result, &result->events[i])) {
      carom_h5_fail_format(file, "/events", "has an event of unknown kind, of no body or at no time");
      return;
    }
    result->event_count++;
  }
}

void carom_result_read_events(carom_h5_file *file, carom_result *result) {
  if (file->status != CAROM_OK) return;
  if (!carom_h5_has(file, "/events")) return;  // from before there were contacts
  hsize_t count = INT_MAX;
  event_columns c = {
      .kind = read_ints(file, CAROM_FIELD_EVENT_KIND, 1, &count),
      .body = read_ints(file, CAROM_FIELD_EVENT_BODY, 2, &count),
      .point = read_doubles(file, CAROM_FIELD_EVENT_POINT, 3, &count),
      .normal = read_doubles(file, CAROM_FIELD_EVENT_NORMAL, 3, &count),
      .impulse = read_doubles(file, CAROM_FIELD_EVENT_IMPULSE, 3, &count),
      .time = read_doubles(file, CAROM_FIELD_EVENT_TIME, 1, &count),
  };
  if (carom_h5_has(file, carom_result_fields[CAROM_FIELD_EVENT_MODE].path))
    c.mode = read_ints(file, CAROM_FIELD_EVENT_MODE, 1, &count);
  if (file->status == CAROM_OK) fill_events(file, result, &c, count);
  CAROM_RELEASE_ALL(&file->allocator, c.kind, c.body, c.point, c.normal, c.impulse, c.time, c.mode);
}
