// Reading the contact events of a result file.
#ifndef CAROM_SRC_RESULT_EVENTS_H
#define CAROM_SRC_RESULT_EVENTS_H

#include "result/file.h"

// Fills result->events. A burst that was cut off left columns of different lengths: the shortest counts.
void carom_result_read_events(carom_h5_file *file, carom_result *result);

#endif
