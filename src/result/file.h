// What a carom_result keeps open behind the public struct.
#ifndef CAROM_SRC_RESULT_FILE_H
#define CAROM_SRC_RESULT_FILE_H

#include "carom/result.h"
#include "result/h5.h"
#include "result/layout.h"

struct carom_result_file {
  char *path;
  hid_t id;
  hid_t series[CAROM_SERIES_AUDIT];          // position ... channels
  char *verdict_texts[CAROM_VERDICT_TEXTS];  // what the rows of carom_result.verdict point into
  unsigned char *checkpoint;                 // bytes of the last one, once asked for
  char *names;                               // what carom_result_body.name points into
  char *joint_names;                         // what carom_result_joint.name points into
  char *solid_names;                         // what carom_result_solid.name points into
  char *channel_texts[2];                    // what names and units of carom_result.channels point into
};

// events.c, walls.c: fill result->events and result->walls. A burst that was cut off left columns of events of
// different lengths: the shortest counts.
void carom_result_read_events(carom_h5_file *file, carom_result *result);
void carom_result_read_walls(carom_h5_file *file, carom_result *result);

#endif
