#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int start(const carom_child *child, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  int failure = posix_spawn_file_actions_init(&actions);
  if (failure) return failure;
  failure = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (!failure)
    failure = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, child->output, O_WRONLY | O_CREAT | O_TRUNC,
                                               S_IRUSR | S_IWUSR);
  if (!failure) failure = posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  if (!failure) failure = posix_spawnp(pid, child->arguments[0], &actions, NULL, child->arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

// Short naps at first, up to a twentieth of a second.
static void nap(double *length) {
  struct timespec time = {0, (long)(*length * 1e9)};
  nanosleep(&time, NULL);
  *length = fmin(2 * *length, 0.05);
}

static pid_t look(pid_t pid, int *status, int how) {
  pid_t seen;
  do seen = waitpid(pid, status, how);
  while (seen < 0 && errno == EINTR);
  return seen;
}

carom_child_end carom_child_run(const carom_child *child, int *code) {
  pid_t pid, seen;
  int status = 0;
  double length = 1e-3, begin = carom_clock();
  *code = start(child, &pid);
  if (*code == ENOENT) return CAROM_CHILD_MISSING;
  if (*code) return CAROM_CHILD_FAILED;
  while ((seen = look(pid, &status, WNOHANG)) == 0 && carom_clock() - begin < child->seconds) nap(&length);
  if (seen == 0) {
    kill(pid, SIGKILL);
    look(pid, &status, 0);
    return CAROM_CHILD_TIMED_OUT;
  }
  if (seen < 0) *code = errno;
  if (seen < 0) return CAROM_CHILD_FAILED;
  *code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  return WIFEXITED(status) ? CAROM_CHILD_EXITED : CAROM_CHILD_KILLED;
}
