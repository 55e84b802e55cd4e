// Motions from files, frame by frame, and the page of what was found.
#ifndef CAROM_SRC_CLI_AUDIT_H
#define CAROM_SRC_CLI_AUDIT_H

#include "cli/cli.h"

typedef void cli_frame_sink(void *context, const carom_state *state);

// Frames of a table, with time, body, x y z, qw qx qy qz, vx vy vz, wx wy wz; false after a message with its line.
bool cli_read_motion(const char *path, const carom_model *model, carom_state *state, cli_frame_sink *sink,
                     void *context);

// How a law's worst grew with time.
typedef struct cli_history {
  const carom_verdict *verdict;
  const char *title;
  const double *times;   // (frames)
  const double *values;  // (frames x CAROM_VERDICT_MAX)
  int frames;
} cli_history;
int cli_write_audit_page(const char *path, const cli_history *history);  // an exit code

#endif
