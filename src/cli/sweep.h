// carom sweep and carom design: cases in processes of their own, a journal that survives kills, the report and the
// page.
#ifndef CAROM_SRC_CLI_SWEEP_H
#define CAROM_SRC_CLI_SWEEP_H

#include "cli/cli.h"

// ---- what is done ---------------------------------------------------------------------------------------------------

typedef enum cli_sweep_mode {
  CLI_SWEEP_DESIGN,
  CLI_SWEEP_BORDER,
  CLI_SWEEP_SENSITIVITY,
  CLI_SWEEP_SOBOL,
  CLI_SWEEP_SEARCH  // by carom design
} cli_sweep_mode;

// Result files that are kept of each case.
typedef struct cli_keep {
  const char *folder;  // null: none are kept
  bool view;           // with a replay page
  bool overwrite;
  const char *command;
} cli_keep;

// Of one case; null: none.
typedef struct cli_case_files {
  const char *result, *warm;  // written; to begin from
} cli_case_files;

enum { CLI_CASE_PATH = CLI_PATH + 40 };
// "FOLDER/case-000017" with the extension.
void cli_case_path(const cli_keep *keep, int64_t number, const char *extension, char path[CLI_CASE_PATH]);

// A sweep at work, and what there is of it.
typedef struct cli_sweep_run {
  const char *verb;   // for messages: sweep, design
  const char *again;  // the option that goes on with what was stopped
  carom_sweep *sweep;
  cli_sweep_mode mode;
  int axis;          // of the border
  double tolerance;  // of the border
  carom_cases *cases;
  carom_border *border;       // null: none
  carom_design_work *design;  // null: none
  cli_keep keep;
  int wave;  // that is run now, from 1, of plans that begin from others; 0: all cases
  int jobs;
  cli_ranks ranks;
  bool quiet, json;
  const char *options;  // of the command line, which a command for one case needs as well; " --set axes.0.count=5"
  double wall;
  struct cli_journal *journal;
  struct cli_farm *farm;
  cli_progress progress;
} cli_sweep_run;

// ---- shared by sweep.c and design.c (sweep.c) -----------------------------------------------------------------------

// A whole number in a range, of an option; false after a message.
bool cli_read_whole(const char *verb, const char *text, const char *option, const double range[2], int64_t *value);
bool cli_read_jobs(const char *text, cli_sweep_run *run);  // null: one per processor; false after a message
bool cli_make_folder(const cli_sweep_run *run);            // of the results that are kept; false after a message
int cli_write_tables(const cli_sweep_run *run, const char *table, const char *csv);  // an exit code

// ---- journal (sweep_journal.c) --------------------------------------------------------------------------------------
// A line a case, in the order in which they end, with a sum at its end: what a kill cut off is seen and left out.

typedef struct cli_journal {
  FILE *out;
  const char *verb;
  const char *path;
  const carom_sweep *sweep;
  char head[400];   // what must be the same to go on: problem, mode
  carom_case *old;  // (old_count) that were there
  int64_t old_count, old_capacity;
  int64_t *index;  // by number; -1: none
  int64_t index_count;
} cli_journal;

// Begins a journal, or takes up the one that is there. False after a message.
bool cli_journal_open(cli_journal *journal, const cli_sweep_run *run, const char *path, bool resume, bool force);
bool cli_journal_add(cli_journal *journal, const carom_case *c);  // false after a message
// The case, if it was run before.
const carom_case *cli_journal_find(const cli_journal *journal, int64_t number);
void cli_journal_close(cli_journal *journal, bool remove);  // remove: the sweep is done

// ---- processes (sweep_farm.c) ---------------------------------------------------------------------------------------

// Runs the cases first .. first + count - 1 of a table that have no class yet, in as many processes as there are jobs,
// and on the other ranks. A process that dies takes its case with it, nothing else. An exit code.
int cli_farm_run(cli_sweep_run *run, carom_cases *cases, int64_t first, int64_t count);
bool cli_farm_open(cli_sweep_run *run);   // false after a message
void cli_farm_close(cli_sweep_run *run);  // ends all processes; null is fine
// What the ranks but the first do: cases that they are sent, until there are no more.
int cli_farm_serve(cli_sweep_run *run);
// One case in this process; an exit code.
int cli_run_case(const carom_sweep *sweep, const cli_case_files *files, const cli_keep *keep, carom_case *c);

// ---- what is told (sweep_report.c, sweep_page.c) --------------------------------------------------------------------

void cli_sweep_print(const cli_sweep_run *run, const char *const outputs[3]);
void cli_sweep_print_json(const cli_sweep_run *run, const char *const outputs[3]);
int cli_sweep_write_page(const cli_sweep_run *run, const char *path);  // an exit code

#endif
