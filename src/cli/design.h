// carom design: what the verb, its report and its page share.
#ifndef CAROM_SRC_CLI_DESIGN_H
#define CAROM_SRC_CLI_DESIGN_H

#include "cli/sweep.h"

typedef struct cli_design_run {
  carom_design_problem *problem;
  cli_sweep_run run;       // the farm's; its design is the work
  const char *outputs[3];  // table, CSV, page
  const char *replays;     // folder of the results, seen from the page
} cli_design_run;

const char *cli_design_ending(const cli_design_run *design);  // why there are no more designs
// Why a case of the design has no value; null if it has one.
const char *cli_design_fault(const cli_design_run *design, int64_t number, const carom_case *c);
void cli_design_print(const cli_design_run *design);
void cli_design_print_json(const cli_design_run *design);
int cli_design_write_page(const cli_design_run *design, const char *path);  // an exit code

#endif
