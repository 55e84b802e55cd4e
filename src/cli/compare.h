// One scene by several integrators: the runs, and the page that sets them side by side.
#ifndef CAROM_SRC_CLI_COMPARE_H
#define CAROM_SRC_CLI_COMPARE_H

#include "cli/cli.h"

enum { CLI_COMPARE_MAX = 6 };

typedef struct cli_contestant {
  char name[64];
  char path[CLI_PATH];  // of its result file
  int code;             // exit code of its run
  double wall;          // s
  carom_result *result;
  double *deviation;  // (frame_count) largest distance of a body from where the first contestant has it; null: none
} cli_contestant;

typedef struct cli_comparison {
  const char *title;
  const carom_model *model;
  cli_contestant contestants[CLI_COMPARE_MAX];
  int count;
} cli_comparison;

// The largest value that a column of the audit takes, in absolute terms; NaN when there is none.
double cli_worst(const carom_result *result, const char *column);
// A column of the audit by its key, or null.
const double *cli_column(const carom_result *result, const char *key);
// Fills the deviations from the first contestant that has a result; false when out of memory or on a read error.
bool cli_compare_motion(cli_comparison *comparison, carom_error *error);
// Writes the page; an exit code.
int cli_write_comparison(const cli_comparison *comparison, const char *path);

#endif
