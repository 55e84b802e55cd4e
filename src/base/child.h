// Another program, run and waited for. Without a shell: arguments go to it as they are.
#ifndef CAROM_SRC_BASE_CHILD_H
#define CAROM_SRC_BASE_CHILD_H

#include "carom/base.h"

typedef struct carom_child {
  char *const *arguments;  // ends with null; the first is the program: a path, or a name to be looked for in PATH
  const char *output;      // the file that takes all it prints
  double seconds;          // after so long it is killed
} carom_child;

typedef enum carom_child_end {
  CAROM_CHILD_EXITED,     // *code is its exit code
  CAROM_CHILD_KILLED,     // *code is the signal
  CAROM_CHILD_TIMED_OUT,  // and killed
  CAROM_CHILD_MISSING,    // there is no such program
  CAROM_CHILD_FAILED,     // it could not be started: *code is an errno value
} carom_child_end;

// Its input is empty. The caller must not ignore SIGCHLD.
carom_child_end carom_child_run(const carom_child *child, int *code);

#endif
