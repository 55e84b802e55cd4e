// SMPS: stochastic linear and quadratic programs in three files (Birge, Dempster, Gassmann and others 1987; Gassmann
// and Schweitzer 2001).
#ifndef CAROM_SRC_SCENE_SMPS_H
#define CAROM_SRC_SCENE_SMPS_H

#include "carom/saa_file.h"

// Reads `core`, and the .tim and .sto files of that name. As carom_saa_read; *file is to be destroyed in any case.
carom_status carom_smps_read(const char *core, const carom_allocator *allocator, carom_saa_file **file,
                             carom_diagnostics *diagnostics);

#endif
