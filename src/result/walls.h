// Reading the walls of a result file.
#ifndef CAROM_SRC_RESULT_WALLS_H
#define CAROM_SRC_RESULT_WALLS_H

#include "result/file.h"

void carom_result_read_walls(carom_h5_file *file, carom_result *result);

#endif
