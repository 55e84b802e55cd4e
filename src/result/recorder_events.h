// Contact events on their way into a result file: gathered, and written with the bursts of frames.
#ifndef CAROM_SRC_RESULT_RECORDER_EVENTS_H
#define CAROM_SRC_RESULT_RECORDER_EVENTS_H

#include "carom/mechanics.h"
#include "result/h5.h"

enum { CAROM_EVENT_COLUMNS = 7, CAROM_EVENT_BUFFER = 4096 };

typedef struct carom_event_log {
  hid_t datasets[CAROM_EVENT_COLUMNS];  // time last: its length is what makes events visible; -1: the file has none
  int64_t written;
  int pending;
  unsigned char kind[CAROM_EVENT_BUFFER], mode[CAROM_EVENT_BUFFER];
  int body[CAROM_EVENT_BUFFER][2];
  double point[CAROM_EVENT_BUFFER][3], normal[CAROM_EVENT_BUFFER][3], impulse[CAROM_EVENT_BUFFER][3];
  double time[CAROM_EVENT_BUFFER];
} carom_event_log;

void carom_event_log_clear(carom_event_log *log);
void carom_event_log_create(carom_h5_file *file);  // the empty datasets
void carom_event_log_open(carom_event_log *log, carom_h5_file *file);
void carom_event_log_close(carom_event_log *log);
bool carom_event_log_full(const carom_event_log *log);
void carom_event_log_add(carom_event_log *log, const carom_contact_event *event);  // there must be room
void carom_event_log_write(carom_event_log *log, carom_h5_file *file);

#endif
