// carom push: what its verbs share: reading a problem, pushing through it while taking notes, and what is told of it.
#ifndef CAROM_SRC_CLI_PUSH_H
#define CAROM_SRC_CLI_PUSH_H

#include "carom/push_file.h"
#include "cli/cli.h"

// ---- notes (push_notes.c) -------------------------------------------------------------------------------------------

// The beginning of a step, and what happened at its contacts; last, the end of the push with the contacts of the step
// before.
typedef struct cli_push_moment {
  double time;                          // since the first push, s
  double probes[CAROM_PUSH_PROBES][2];  // m; (probe_count of the push)
  int contact_start, contact_count;     // into the contacts of the notes
} cli_push_moment;

// Of one push.
typedef struct cli_push_notes {
  int part_count, count, capacity;
  cli_push_moment *moments;  // (count)
  double *poses;             // (count x part_count x 3) as carom_push_pose tells them
  carom_push_contact *contacts;
  int contact_count, contact_capacity, pose_capacity;
} cli_push_notes;

// What became of a push: as it was run, and as it was checked.
typedef struct cli_push_fate {
  carom_push_result run, check;
  carom_push_verdict verdict;  // where the problem has a box: as checked from all its corners
  int corner;                  // the first from which the push breaks off; -1: none
  carom_push_ending ending;    // from there
  bool blocked;                // from there a probe would begin inside a body
  cli_push_notes notes;
} cli_push_fate;

typedef struct cli_push_run {
  const char *verb;     // "push check"
  const char *problem;  // its file
  carom_push_file *file;
  carom_pusher *pusher;
  int part_count, *parts;          // bodies that are pushed
  int count;                       // pushes that were run: those after one that jams are not
  cli_push_fate *fates;            // (push_count)
  const carom_push *pushes;        // (push_count) that are run
  const carom_push_place *places;  // (push_count) where they begin; null: where the one before ended
  int push_count;                  // how many
  carom_push_starts starts;        // the corners of the box, carried from push to push
  bool lost[CAROM_PUSH_STARTS];    // a push broke off from there
  int reached;                     // corners from which the goal is reached
  const char *outputs[4];          // result, page, pushes, samples; null: none
  bool json, quiet, force, strict;
  // while pushes are run
  carom_state *state;
  cli_push_notes *notes;
  const carom_push *push;
  double begun;  // of the push, s
} cli_push_run;

// Runs and checks all pushes, one after the other; an exit code, after a message where it is not good.
int cli_push_all(cli_push_run *run);
// Whether a push did what it should: it neither jams nor changes its modes, also from the box.
bool cli_push_is_good(const cli_push_run *run, int number);
// Whether the pushes come through from all corners of the box, into the goal if there is one.
bool cli_push_box_holds(const cli_push_run *run);
bool cli_push_reaches_goal(const cli_push_run *run);
void cli_push_release(cli_push_run *run);

// ---- shared by the verbs (push.c) -----------------------------------------------------------------------------------

carom_push_file *cli_push_read(const char *verb, const char *path, const cli_list *overrides);
int cli_push_check(int argc, char **argv);
int cli_push_plan(int argc, char **argv);
int cli_push_fit(int argc, char **argv);

// ---- what is told (push_report.c, push_page.c) ----------------------------------------------------------------------

void cli_push_print(const cli_push_run *run);
void cli_push_json(cli_json *json, const cli_push_run *run);  // members
// Where a change, "0.42 s: peg - wall from sticks to open"; empty where there was none.
void cli_push_tell_change(const carom_model *model, const carom_push_change *change, char *text, size_t size);
const char *cli_push_why_lost(const cli_push_fate *fate);  // "jam", ...
const char *cli_push_mode(carom_contact_mode mode);
int cli_push_write_page(const cli_push_run *run, const char *path);                  // exit codes
int cli_push_write(const cli_push_run *run, const char *path, const char *command);  // the pushes as a problem
int cli_push_write_samples(const cli_push_run *run, const char *path);
int cli_push_write_result(cli_push_run *run, const char *path, const char *command);

#endif
