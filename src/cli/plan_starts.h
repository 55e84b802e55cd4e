// Several starts of a plan, each in a process of its own: Ipopt's linear solver cannot run twice at once in one.
#ifndef CAROM_SRC_CLI_PLAN_STARTS_H
#define CAROM_SRC_CLI_PLAN_STARTS_H

#include "cli/cli.h"

// What a start came to. A lower rank wins, then a lower value, then the lower number.
typedef struct cli_score {
  int rank;
  double value;
} cli_score;

typedef struct cli_race {
  int count;    // starts
  int at_once;  // processes that work at the same time
  void *context;
  // Does the work of start `number` and tells how good it is.
  cli_score (*run)(void *context, int number);
  cli_progress *progress;
  int done;  // starts that came to an end
} cli_race;

// Runs all starts. True in the process of the best one, which goes on with its answer as if it had been alone. False in
// the process that called, once that one has ended; *exit_code is then its exit code. The others end here.
bool cli_race_run(cli_race *race, int *exit_code);

#endif
