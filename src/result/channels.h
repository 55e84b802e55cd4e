// Channels in a result file: names and units in the head, a column for each among the series.
#ifndef CAROM_SRC_RESULT_CHANNELS_H
#define CAROM_SRC_RESULT_CHANNELS_H

#include "carom/result.h"
#include "result/h5.h"

// No group when there are none.
void carom_result_write_channels(carom_h5_file *file, const carom_channel *channels, int count);
void carom_result_read_channel_names(carom_h5_file *file, carom_result *result);

#endif
