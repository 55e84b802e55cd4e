// Runs under mpirun: every rank takes the same steps on the same state, the solvers of PETSc/TAO share their solves
// out, and rank 0 alone writes. MPI is asked for only where a launcher started the program.
#include "cli/mpi.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// ---- who we are -------------------------------------------------------------------------------------------------

// Set by Open MPI, by MPICH and Intel MPI, and by Slurm's srun with PMIx.
bool cli_launched(void) {
  static const char *const signs[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (getenv(signs[i])) return true;
  return false;
}

static void silence(int descriptor) {
  int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere < 0) return;
  dup2(nowhere, descriptor);
  close(nowhere);
}

bool cli_ranks_find(cli_ranks *ranks) {
  *ranks = (cli_ranks){0, 1};
  carom_error error = {0};
  if (!cli_launched()) return true;
  if (carom_contact_ranks(&ranks->rank, &ranks->count, &error) != CAROM_OK) {
    cli_fail(&error);
    return false;
  }
  if (ranks->rank > 0) silence(STDOUT_FILENO);
  return true;
}

void cli_ranks_quieten(const cli_ranks *ranks, bool quiet) {
  static int kept = -1;
  if (ranks->rank == 0) return;
  fflush(stderr);
  if (quiet) {
    kept = dup(STDERR_FILENO);
    silence(STDERR_FILENO);
  } else if (kept >= 0) {
    dup2(kept, STDERR_FILENO);
    close(kept);
    kept = -1;
  }
}

void cli_ranks_advise(const cli_ranks *ranks, const carom_scene *scene) {
  bool shared = scene->step.solver && strncmp(scene->step.solver, "tao-", 4) == 0;
  if (ranks->count > 1 && ranks->rank == 0 && !shared)
    cli_print(stderr, "note: only the solvers tao-blmvm and tao-tron are shared out; %d ranks do the same work\n",
              ranks->count);
}

// ---- by messages ------------------------------------------------------------------------------------------------

bool cli_ranks_greet(cli_ranks *ranks) {
  carom_error error = {0};
  *ranks = (cli_ranks){0, 1};
  if (!cli_launched()) return true;
  if (carom_ranks_begin(&ranks->rank, &ranks->count, &error) != CAROM_OK) return cli_fail(&error), false;
  return true;
}

int cli_ranks_follow(const cli_ranks *ranks, int code) {
  carom_error error = {0};
  for (int i = 1; ranks->rank == 0 && i < ranks->count; i++)
    if (carom_ranks_send(i, &code, sizeof code, &error) != CAROM_OK) return cli_fail(&error);
  if (ranks->rank == 0) return code;
  int from, told = EXIT_FAILED;
  size_t size;
  if (carom_ranks_receive(true, &told, sizeof told, &from, &size, &error) != CAROM_OK) return cli_fail(&error);
  return code != EXIT_GOOD ? code : told;
}

// ---- together ---------------------------------------------------------------------------------------------------

enum { GOES_ON, IS_STOPPED, HAS_FAILED };

carom_status cli_ranks_agree(const cli_ranks *ranks, carom_status status, carom_error *error) {
  if (ranks->count <= 1) return status;
  int own = status == CAROM_OK ? GOES_ON : status == CAROM_INTERRUPTED ? IS_STOPPED : HAS_FAILED, worst = own;
  carom_error trouble = {0};
  carom_status asked = carom_contact_ranks_largest(&worst, &trouble);
  if (own == HAS_FAILED || (asked == CAROM_OK && worst == own)) return status;
  if (asked == CAROM_OK && worst == IS_STOPPED) return CAROM_INTERRUPTED;
  *error = trouble;
  if (asked != CAROM_OK) return asked;
  error->status = CAROM_ERR_IO;
  snprintf(error->message, sizeof error->message, "rank %d stops since another rank has failed", ranks->rank);
  return error->status;
}

// ---- a rank that dies -------------------------------------------------------------------------------------------
// The others wait for it inside MPI, for ever. The launcher sends them SIGTERM and kills them a second later. In that
// second a thread of ours closes the result file, unless the run stops by itself.

static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;

typedef struct watch {
  void (*close)(void *context);
  void *context;
} watch;

static void pause_for(double seconds) {
  const struct timespec time = {.tv_nsec = (long)(1e9 * seconds)};
  nanosleep(&time, NULL);
}

static void *wait_for_stop(void *context) {
  watch w = *(watch *)context;
  free(context);
  while (!cli_interrupted()) pause_for(0.05);
  pause_for(0.3);
  pthread_mutex_lock(&books);  // for good: we are inside a step that will not end
  w.close(w.context);
  _exit(EXIT_FAILED);
}

carom_status cli_ranks_watch(const cli_ranks *ranks, void (*close_books)(void *context), void *context,
                             carom_error *error) {
  if (ranks->count <= 1) return CAROM_OK;
  pthread_t thread;
  watch *w = malloc(sizeof *w);
  if (w) *w = (watch){close_books, context};
  pthread_mutex_lock(&books);
  if (w && pthread_create(&thread, NULL, wait_for_stop, w) == 0) {
    pthread_detach(thread);
    return CAROM_OK;
  }
  free(w);
  error->status = CAROM_ERR_MEMORY;
  snprintf(error->message, sizeof error->message, "out of memory or threads to watch %d ranks", ranks->count);
  return error->status;
}

void cli_ranks_enter_step(const cli_ranks *ranks) {
  if (ranks->count > 1) pthread_mutex_unlock(&books);
}

void cli_ranks_leave_step(const cli_ranks *ranks) {
  if (ranks->count > 1) pthread_mutex_lock(&books);
}
