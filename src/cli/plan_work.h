// What the actuators of a plan do, as text and as JSON.
#ifndef CAROM_SRC_CLI_PLAN_WORK_H
#define CAROM_SRC_CLI_PLAN_WORK_H

#include "carom/control.h"
#include "cli/cli.h"

// Nothing for plans without events and periods.
void cli_print_work(const carom_plan *plan);
void cli_json_work(cli_json *json, const carom_plan *plan);

#endif
