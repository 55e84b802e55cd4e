// Ctrl-C and the other signals that end a run, and the progress bar.
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static volatile sig_atomic_t interrupted;

// The first Ctrl-C asks for an orderly stop; the second one gets the system's own answer.
static void on_interrupt(int number) {
  interrupted = 1;
  signal(number, SIG_DFL);
}

void cli_catch_interrupts(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
#ifdef SIGXCPU
  sigaction(SIGXCPU, &action, NULL);
#endif
  struct sigaction before;
  if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)  // nohup
    sigaction(SIGHUP, &action, NULL);
}

void cli_hear_of_full_disks(void) {
#ifdef SIGXFSZ
  signal(SIGXFSZ, SIG_IGN);  // a file-size limit then shows up as a write error with a message
#endif
}

bool cli_interrupted(void) { return interrupted != 0; }

cli_progress cli_progress_begin(const char *label, bool quiet) {
  return (cli_progress){.label = label, .start = carom_clock(), .terminal = !quiet && isatty(STDERR_FILENO)};
}

static void format_duration(double seconds, char *text, size_t size) {
  long s = seconds < 0 ? 0 : (long)(seconds + 0.5);
  if (s < 3600)
    snprintf(text, size, "%ld:%02ld", s / 60, s % 60);
  else
    snprintf(text, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
}

void cli_progress_show(cli_progress *progress, double done, double total, const char *detail) {
  double now = carom_clock();
  if (!progress->terminal || now - progress->last_drawn < 0.1 || now - progress->start < 0.3) return;
  progress->last_drawn = now;
  progress->drawn = true;
  enum { WIDTH = 30 };
  double share = total > 0 ? done / total : 0;
  int filled = (int)(share * WIDTH);
  char bar[WIDTH + 1], eta[32];
  memset(bar, '-', WIDTH);
  memset(bar, '#', (size_t)(filled < 0 ? 0 : filled > WIDTH ? WIDTH : filled));
  bar[WIDTH] = '\0';
  format_duration(share > 0 ? (now - progress->start) * (1 - share) / share : 0, eta, sizeof eta);
  cli_print(stderr, "\r%s [%s] %3.0f%%  %s  ETA %s \033[K", progress->label, bar, 100 * share, detail ? detail : "",
            eta);
  fflush(stderr);
}

void cli_progress_end(cli_progress *progress) {
  if (progress->drawn) fputs("\r\033[K", stderr);
  progress->drawn = false;
}

static bool report(void *context, double done, double total) {
  cli_progress_show(context, done, total, NULL);
  return !cli_interrupted();
}

carom_progress cli_progress_callback(cli_progress *progress) { return (carom_progress){progress, report}; }
