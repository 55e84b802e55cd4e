// What is asked about files before long work begins, so that nothing is lost and nothing is done in vain.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

static bool same_file(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

FILE *cli_open_input(const char *path) {
  struct stat about;
  int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return NULL;
  bool regular = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
  FILE *in = regular ? fdopen(file, "rb") : NULL;
  if (!regular) errno = EINVAL;
  if (!in) close(file);
  return in;
}

bool cli_keep_input(const char *verb, const char *output, const char *input) {
  if (!output || !input || !same_file(output, input)) return true;
  return cli_error("%s: '%s' is read, so it cannot be written as well; give another name for the output", verb, output);
}

// Opening for writing, without a change to what is there, is the only sure way to know.
bool cli_can_write(const char *verb, const char *output) {
  struct stat about;
  if (!output) return true;
  bool there = stat(output, &about) == 0;
  if (there && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) return true;  // a pipe might make us wait
  int file = open(output, O_WRONLY | O_CREAT, 0666);
  if (file < 0) return cli_error("%s: cannot write '%s': %s; nothing was done yet", verb, output, strerror(errno));
  close(file);
  if (!there) unlink(output);
  return true;
}

bool cli_may_create(const char *verb, const char *output, bool overwrite) {
  struct stat about;
  if (output && !overwrite && stat(output, &about) == 0 && S_ISREG(about.st_mode))
    return cli_error("%s: '%s' exists already; choose another name or overwrite it with --force", verb, output);
  return cli_can_write(verb, output);
}

bool cli_may_replace(const char *path, const char *command) {
  struct stat about;
  carom_result *older = NULL;
  carom_error error = {0};
  if (stat(path, &about) != 0 || about.st_size == 0) return true;
  bool own = carom_result_open(path, NULL, &older, &error) == CAROM_OK &&
             strncmp(older->command, command, strlen(command)) == 0;
  carom_result_close(older);
  if (!own) cli_error("'%s' exists already and is not a result of '%s'; move it away first", path, command);
  return own;
}
