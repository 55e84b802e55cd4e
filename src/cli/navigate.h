// carom navigate: what its files share.
#ifndef CAROM_SRC_CLI_NAVIGATE_H
#define CAROM_SRC_CLI_NAVIGATE_H

#include "carom/navigate_file.h"
#include "cli/cli.h"

typedef struct cli_navigate_run {
  const char *scene, *page, *csv;  // files; null: none
  carom_navigate_file *file;
  carom_navigate_motion *motion;
  carom_navigate_plan *plan;  // null: none was asked for
  bool plans, json, quiet, force, strict;
} cli_navigate_run;

// "car 3"; for numbers from vehicle_count on the obstacle.
const char *cli_navigate_name(const cli_navigate_run *run, int number);
bool cli_navigate_is_clear(const cli_navigate_run *run);  // no cages overlapped
void cli_navigate_print(const cli_navigate_run *run);
void cli_navigate_json(const cli_navigate_run *run);
int cli_navigate_write_page(const cli_navigate_run *run);  // exit codes
int cli_navigate_write_csv(const cli_navigate_run *run);

#endif
