#include "cli/plan_starts.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// A start at work, or one that waits to hear whether it is the best. Scores come up one pipe; one byte down the other
// means "go on", its end means "give up".
typedef struct runner {
  int number;
  pid_t process;  // 0: none
  int up, down;
  bool waits;
  cli_score score;
} runner;

static bool is_better(const runner *a, const runner *b) {
  if (a->score.rank != b->score.rank) return a->score.rank < b->score.rank;
  if (a->score.value != b->score.value) return a->score.value < b->score.value;
  return a->number < b->number;
}

// In the new process: true when this is the best one. The others never return.
static bool work(cli_race *race, int number, int up, int down) {
  char word;
  cli_score score = race->run(race->context, number);
  ssize_t sent = write(up, &score, sizeof score), heard;
  close(up);
  do heard = sent == (ssize_t)sizeof score ? read(down, &word, 1) : 0;
  while (heard < 0 && errno == EINTR);
  close(down);
  if (heard != 1) _exit(EXIT_GOOD);
  return true;
}

static void close_all(const runner *runners, int count) {
  for (int i = 0; i < count; i++)
    if (runners[i].process) close(runners[i].up), close(runners[i].down);
}

// 1 in the new process if it wins, 0 in the old one, -1 when there is no process to be had.
static int begin(cli_race *race, runner *runners, int room, runner *r, int number) {
  int up[2], down[2];
  if (pipe(up) != 0) return -1;
  if (pipe(down) != 0) {
    close(up[0]), close(up[1]);
    return -1;
  }
  fflush(NULL);
  pid_t process = fork();
  if (process == 0) {
    close(up[0]), close(down[1]);
    close_all(runners, room);
    return work(race, number, up[1], down[0]) ? 1 : 0;
  }
  close(up[1]), close(down[0]);
  if (process < 0) {
    close(up[0]), close(down[1]);
    return -1;
  }
  *r = (runner){.number = number, .process = process, .up = up[0], .down = down[1]};
  return 0;
}

static void dismiss(runner *r) {
  close(r->up);
  close(r->down);
  while (waitpid(r->process, NULL, 0) < 0 && errno == EINTR) continue;
  *r = (runner){0};
}

static int crown(runner *r) {
  int status = 0;
  bool told = write(r->down, "y", 1) == 1;
  close(r->down);
  close(r->up);
  while (waitpid(r->process, &status, 0) < 0 && errno == EINTR) continue;
  return told && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

// A score came, or the process died. Of those that wait only the best stays.
static void hear(cli_race *race, runner *runners, int room, runner *r) {
  ssize_t size = read(r->up, &r->score, sizeof r->score);
  if (size < 0 && errno == EINTR) return;
  char detail[64];
  snprintf(detail, sizeof detail, "start %d of %d", ++race->done, race->count);
  cli_progress_show(race->progress, race->done, race->count, detail);
  if (size != (ssize_t)sizeof r->score) {
    dismiss(r);
    return;
  }
  r->waits = true;
  for (int i = 0; i < room; i++)
    if (&runners[i] != r && runners[i].process && runners[i].waits) {
      dismiss(is_better(r, &runners[i]) ? &runners[i] : r);
      return;
    }
}

static int count_busy(const runner *runners, int room) {
  int busy = 0;
  for (int i = 0; i < room; i++) busy += runners[i].process && !runners[i].waits;
  return busy;
}

// Sleeps until something comes up a pipe.
static void wait_for_news(cli_race *race, runner *runners, int room, struct pollfd *fds) {
  for (int i = 0; i < room; i++) {
    bool busy = runners[i].process && !runners[i].waits;
    fds[i] = (struct pollfd){.fd = busy ? runners[i].up : -1, .events = POLLIN};
  }
  if (poll(fds, (nfds_t)room, -1) < 0) {
    if (cli_interrupted())  // a signal may have come to this process alone
      for (int i = 0; i < room; i++)
        if (runners[i].process && !runners[i].waits) kill(runners[i].process, SIGINT);
    return;
  }
  for (int i = 0; i < room; i++)
    if (fds[i].revents) hear(race, runners, room, &runners[i]);
}

static runner *free_place(runner *runners) {
  while (runners->process) runners++;
  return runners;
}

// True when this process is that of the best start.
static bool go(cli_race *race, runner *runners, int room, struct pollfd *fds) {
  int next = 0;
  for (;;) {
    while (next < race->count && !cli_interrupted() && count_busy(runners, room) < room - 1) {
      int side = begin(race, runners, room, free_place(runners), next);
      if (side == 1) return true;
      if (side < 0 && count_busy(runners, room) == 0) return false;
      if (side < 0) break;
      next++;
    }
    if (count_busy(runners, room) == 0) return false;
    wait_for_news(race, runners, room, fds);
  }
}

bool cli_race_run(cli_race *race, int *exit_code) {
  int room = (race->at_once < race->count ? race->at_once : race->count) + 1;  // one place for the best so far
  runner *runners = calloc((size_t)room, sizeof *runners);
  struct pollfd *fds = calloc((size_t)room, sizeof *fds);
  bool chosen = runners && fds && go(race, runners, room, fds);
  *exit_code = EXIT_FAILED;
  if (!chosen && runners && fds) {
    cli_progress_end(race->progress);
    runner *best = runners;
    for (int i = 1; i < room; i++)
      if (runners[i].process) best = &runners[i];
    if (best->process)
      *exit_code = crown(best);
    else
      cli_error("no start came to an end: processes could not be started, or all of them died");
  }
  free(runners);
  free(fds);
  return chosen;
}
