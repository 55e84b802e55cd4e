// What the files of `carom saa` share.
#ifndef CAROM_SRC_CLI_SAA_H
#define CAROM_SRC_CLI_SAA_H

#include "cli/cli.h"

typedef struct cli_saa_run {
  const char *path, *page;  // page: null for none
  const char *command;
  carom_saa_file *file;
  carom_saa_sampling sampling;
  bool sampled;              // scenarios are drawn; else all of them are solved for
  carom_saa_answer *answer;  // of all of them
  carom_saa_report *report;  // of draws
  cli_ranks ranks;
  cli_progress progress;
} cli_saa_run;

// The solve that decides, its outcome, and where there is none, why.
const carom_saa_answer *cli_saa_decision(const cli_saa_run *r);
carom_saa_outcome cli_saa_outcome(const cli_saa_run *r);
// Costs of scenarios, as the page and the report show them: gains where the problem is to be maximised.
const double *cli_saa_costs(const cli_saa_run *r, int *count);
static inline double cli_saa_sign(const cli_saa_run *r) { return r->file->maximize ? -1 : 1; }
static inline const char *cli_saa_word(const cli_saa_run *r) { return r->file->maximize ? "gain" : "cost"; }

void cli_saa_print(const cli_saa_run *r);
void cli_saa_print_json(const cli_saa_run *r);
int cli_saa_write_page(const cli_saa_run *r);  // an exit code

// saa_ranks.c: scenarios shared out over ranks. Null context in the result: a process by itself.
carom_saa_ranks cli_saa_ranks(const cli_ranks *ranks);

#endif
