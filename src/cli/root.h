// What the files of `carom root` share.
#ifndef CAROM_SRC_CLI_ROOT_H
#define CAROM_SRC_CLI_ROOT_H

#include "cli/cli.h"

typedef struct cli_root_run {
  const char *expressions[CAROM_ROOT_MOST];
  int count;
  carom_root_text text;
  const char *names[CAROM_ROOT_MOST];  // of text.variables, where they are given,
  char room[2048];                     // and where they stand
  double starts[CLI_MAX_LIST * CAROM_ROOT_MOST];
  carom_root_equations *equations;
  carom_root_problem problem;
  carom_root_options options;
  carom_root_runs runs;
  carom_root_set *set;
  const char *page;  // null: no picture
  double window[4];  // of the picture: from and to of x, then of y; zeros: chosen by starts and roots
  int size;          // of the picture, in starts a side
} cli_root_run;

// "x", or "re z" and "im z" in the complex plane.
const char *cli_root_axis(const cli_root_run *r, int i, char *text, size_t size);

void cli_root_print(const cli_root_run *r);
void cli_root_print_json(const cli_root_run *r);
// One run, step by step; an exit code.
int cli_root_trace(const cli_root_run *r, int64_t number, bool json);
// The page with the picture; an exit code. Null, or nothing is left of it.
int cli_root_write_page(const cli_root_run *r);

#endif
