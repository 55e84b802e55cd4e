// The job of the docking benchmark, as the main program and its judge see it.
#ifndef CAROM_BENCH_DOCKING_JOB_H
#define CAROM_BENCH_DOCKING_JOB_H

#include "carom/carom.h"
#include "docking.h"

// From a scene of two moving craft with equal masses and explicit inertia; false when it cannot be read.
bool docking_job_read(const char *path, docking_job *job);
carom_pose docking_pose(const docking_body *body);

#endif
