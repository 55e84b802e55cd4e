// What the actuators of a plan do, as text and as JSON.
#ifndef CAROM_SRC_CLI_PLAN_WORK_H
#define CAROM_SRC_CLI_PLAN_WORK_H

#include "carom/control.h"
#include "cli/cli.h"

// Nothing for plans without events and periods.
void cli_print_work(const carom_plan *plan);
void cli_json_work(cli_json *json, const carom_plan *plan);

enum { CLI_MULTIPLIERS = 512 };

typedef struct cli_multipliers {
  int count;  // 0: not asked for
  double real[CLI_MULTIPLIERS], imaginary[CLI_MULTIPLIERS];
} cli_multipliers;

void cli_print_multipliers(const cli_multipliers *m);
void cli_json_multipliers(cli_json *json, const cli_multipliers *m);

#endif
