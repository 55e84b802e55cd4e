// `carom run --dump-contact-problems`: every contact problem of a run as files that `carom lcp` and
// `carom friction` solve.
#ifndef CAROM_SRC_CLI_DUMP_H
#define CAROM_SRC_CLI_DUMP_H

#include "cli/cli.h"

typedef struct cli_dump {
  const char *folder;  // null: nothing is written
  int64_t count;
  carom_error error;  // the first failure; nothing more is written after it
} cli_dump;

int cli_dump_open(cli_dump *dump, carom_scene *scene,
                  bool force);  // an exit code, after a message unless it is EXIT_GOOD
int cli_dump_close(const cli_dump *dump, int code, bool quiet);

#endif
