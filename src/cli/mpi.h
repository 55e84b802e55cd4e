// Runs under mpirun, for `carom run`, `carom sweep` and `carom saa`.
#ifndef CAROM_SRC_CLI_MPI_H
#define CAROM_SRC_CLI_MPI_H

#include "cli/cli.h"

bool cli_launched(void);  // whether mpirun or the like started this process
// Finds out which rank this is; 0 of 1 when no launcher started the program, and then MPI is not needed either. Ranks
// but the first lose their stdout. False after a message.
bool cli_ranks_find(cli_ranks *ranks);
// The same by messages alone (carom/sweep.h), which need no PETSc; stdout stays.
bool cli_ranks_greet(cli_ranks *ranks);
// Rank 0 alone knows of its files: it tells the others, by messages, whether there is anything to do. The exit code to
// go on with.
int cli_ranks_follow(const cli_ranks *ranks, int code);
// Ranks but the first are silent on stderr, or speak again: all would say the same of a scene.
void cli_ranks_quieten(const cli_ranks *ranks, bool quiet);
// Says so when the scene's solver makes nothing of several ranks.
void cli_ranks_advise(const cli_ranks *ranks, const carom_scene *scene);
// All go on or stop together: the worst outcome of any rank, on every rank. All must call.
carom_status cli_ranks_agree(const cli_ranks *ranks, carom_status status, carom_error *error);

// From here on, when the launcher ends this rank (since another one died, or on request) within a step that does not
// end, `close_books` is called by a thread of its own, and the process ends. It is never called outside of enter_step
// and leave_step, so that what these enclose must not touch what it uses.
carom_status cli_ranks_watch(const cli_ranks *ranks, void (*close_books)(void *context), void *context,
                             carom_error *error);
void cli_ranks_enter_step(const cli_ranks *ranks);
void cli_ranks_leave_step(const cli_ranks *ranks);

#endif
