// HDF5 1.10 believes the structure of a file once its checksums are right: lengths and offsets that were made up can
// make it read outside its memory, or go round for ever. So verbs that read results do so in a child process; this one
// waits, and says what happened.
#define _GNU_SOURCE
#include <errno.h>
#include <hdf5.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

enum { OPENING = 8 };  // s of processor time; files of 1e6 frames take a tenth of one

static pid_t child;

// The terminal sends Ctrl-C to both of us; what is sent to this process alone is passed on.
static void pass_on(int number, siginfo_t *info, void *context) {
  (void)context;
  if (info->si_code == SI_USER) kill(child, number);
}

static int wait_for_child(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction before;
    if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(numbers[i], &action, NULL);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

// Whether it was the file that ended the child.
static bool tell_damage(int number, const char *path) {
  bool crash = number == SIGSEGV || number == SIGBUS || number == SIGABRT || number == SIGFPE || number == SIGILL;
  if (!crash && number != SIGPROF) return false;
  cli_error("'%s' is damaged: HDF5 %s while reading it; read it with the tools of HDF5, or run the scene again", path,
            crash ? "crashes" : "comes to no end");
  return true;
}

static _Noreturn void end_as(int status, const char *path) {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  int number = WTERMSIG(status);
  if (tell_damage(number, path)) _exit(EXIT_FAILED);
  signal(number, SIG_DFL);
  raise(number);
  _exit(EXIT_FAILED);
}

static void limit_time(int seconds) {
  struct itimerval limit = {.it_value = {.tv_sec = seconds}};
  setitimer(ITIMER_PROF, &limit, NULL);
}

void cli_guard(const char *path) {
  fflush(NULL);
  pid_t parent = getpid();
  child = fork();
  if (child > 0) end_as(wait_for_child(), path);
  if (child < 0) return;  // no room for a second process: go on without
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILED);
}

bool cli_survives(const char *path, void (*attempt)(void *context), void *context) {
  fflush(NULL);
  int status = 0;
  pid_t scout = fork();
  if (scout < 0) return true;
  if (scout == 0) {
    limit_time(OPENING);
    attempt(context);
    H5close();  // as after main: HDF5 may crash as late as when it lets go of what it made of the file
    _exit(0);   // without what else is done after main, which may wait for other ranks
  }
  while (waitpid(scout, &status, 0) < 0 && errno == EINTR) continue;
  return !WIFSIGNALED(status) || !tell_damage(WTERMSIG(status), path);
}

carom_result *cli_open_result(const char *path) {
  carom_result *result = NULL;
  carom_error error = {0};
  limit_time(OPENING);
  carom_status status = carom_result_open(path, NULL, &result, &error);
  limit_time(0);
  if (status != CAROM_OK) cli_fail(&error);
  return status == CAROM_OK ? result : NULL;
}
