// Cases in processes. Every worker is a child with two pipes: tasks go down, records come up. A child that dies takes
// its case with it, which counts as failed; another one takes its place. Other ranks (mpirun) are workers too, by
// messages: each has one such child of its own, so that a crash does not end MPI.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "cli/sweep.h"

// Down: a case with its inputs; number -1: there are no more.
typedef struct task {
  int64_t number;
  int64_t warm;  // case whose answer it begins from; -1: none
  double inputs[CAROM_MOST_AXES];
} task;

// Up: what came of it, followed by the values.
typedef struct record {
  int64_t number;
  int class_index;
  carom_status status;  // of carom_sweep_run; the reason tells more
  char reason[sizeof((carom_case *)0)->reason];
  double values[];
} record;

// A place where cases are run: a child, or another rank.
typedef struct lane {
  pid_t process;  // 0: none
  int up, down;
  int rank;      // > 0: that rank, and no child
  int64_t busy;  // number of the case; -1: idle
} lane;

typedef struct cli_farm {
  lane *lanes;
  struct pollfd *fds;
  int lane_count;
  record *record;
  size_t record_size;
} cli_farm;

// ---- pipes ----------------------------------------------------------------------------------------------------------

static bool put_all(int file, const void *bytes, size_t size) {
  const char *at = bytes;
  while (size > 0) {
    ssize_t n = write(file, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, size -= (size_t)n;
  }
  return true;
}

static bool get_all(int file, void *bytes, size_t size) {
  char *at = bytes;
  while (size > 0) {
    ssize_t n = read(file, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, size -= (size_t)n;
  }
  return true;
}

// ---- one case -------------------------------------------------------------------------------------------------------

void cli_case_path(const cli_keep *keep, int64_t number, const char *extension, char path[CLI_CASE_PATH]) {
  snprintf(path, CLI_CASE_PATH, "%s/case-%06lld%s", keep->folder, (long long)number, extension);
}

static bool stops(void *context) {
  (void)context;
  return cli_interrupted();
}

static carom_status run_case(const carom_sweep *sweep, const cli_case_files *files, const cli_keep *keep, carom_case *c,
                             carom_error *error) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  carom_case_options options = {.result = files->result, .warm = files->warm, .stop = stops};
  options.record = (carom_recorder_options){.overwrite = keep->overwrite, .command = keep->command, .host = host};
  return carom_sweep_run(sweep, &options, c, error);
}

int cli_run_case(const carom_sweep *sweep, const cli_case_files *files, const cli_keep *keep, carom_case *c) {
  carom_error error = {0};
  carom_status status = run_case(sweep, files, keep, c, &error);
  return status == CAROM_OK ? EXIT_GOOD : status == CAROM_INTERRUPTED ? EXIT_INTERRUPTED : cli_fail(&error);
}

static carom_status write_replay(const char *result, const char *page, carom_error *error) {
  carom_result *kept = NULL;
  carom_status status = carom_result_open(result, NULL, &kept, error);
  if (status == CAROM_OK) status = carom_export_replay(kept, page, NULL, error);
  carom_result_close(kept);
  return status;
}

static carom_status run_kept_case(const cli_sweep_run *run, int64_t from, carom_case *c, carom_error *error) {
  char result[CLI_CASE_PATH], page[CLI_CASE_PATH], warm[CLI_CASE_PATH];
  const cli_keep *keep = &run->keep;
  if (keep->folder) cli_case_path(keep, c->number, ".h5", result), cli_case_path(keep, c->number, ".html", page);
  if (keep->folder) cli_case_path(keep, from, ".h5", warm);
  const cli_case_files files = {keep->folder ? result : NULL, keep->folder && from >= 0 ? warm : NULL};
  carom_status status = run_case(run->sweep, &files, keep, c, error);
  bool kept = status == CAROM_OK && keep->folder && access(result, F_OK) == 0;
  if (kept && keep->view) status = write_replay(result, page, error);
  return run->design && status == CAROM_ERR_UNSUPPORTED ? CAROM_OK : status;  // pages of designs are not asked for
}

static void fill_record(const cli_sweep_run *run, const task *t, record *r) {
  carom_error error = {0};
  carom_case c = {.number = t->number, .values = r->values};
  memcpy(r->values, t->inputs, (size_t)run->sweep->sampling.axis_count * sizeof *t->inputs);
  r->status = run_kept_case(run, t->warm, &c, &error);
  if (r->status == CAROM_ERR_MEMORY) {
    carom_case_fail(run->sweep, "out of memory", &c);
    r->status = CAROM_OK;
  }
  r->number = c.number;
  r->class_index = c.class_index;
  snprintf(r->reason, sizeof r->reason, "%.390s", r->status == CAROM_OK ? c.reason : error.message);
}

// ---- children -------------------------------------------------------------------------------------------------------

static _Noreturn void work(const cli_sweep_run *run, int down, int up) {
  cli_farm *f = run->farm;
  task t;
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // no orphans go on with a sweep that was killed
#endif
  memset(f->record, 0, f->record_size);
  while (get_all(down, &t, sizeof t) && t.number >= 0) {
    fill_record(run, &t, f->record);
    if (!put_all(up, f->record, f->record_size)) break;
  }
  _exit(EXIT_GOOD);
}

static void close_others(const cli_farm *f) {
  for (int i = 0; i < f->lane_count; i++)
    if (f->lanes[i].process > 0) close(f->lanes[i].up), close(f->lanes[i].down);
}

static bool start_child(const cli_sweep_run *run, lane *l) {
  int up[2], down[2];
  if (pipe(up) != 0) return false;
  if (pipe(down) != 0) return close(up[0]), close(up[1]), false;
  fflush(NULL);
  pid_t process = fork();
  if (process == 0) {
    close(up[0]), close(down[1]);
    close_others(run->farm);
    work(run, down[0], up[1]);
  }
  close(up[1]), close(down[0]);
  if (process < 0) return close(up[0]), close(down[1]), false;
  *l = (lane){.process = process, .up = up[0], .down = down[1], .busy = -1};
  return true;
}

static int end_child(lane *l) {
  int status = 0;
  close(l->up), close(l->down);
  while (waitpid(l->process, &status, 0) < 0 && errno == EINTR) continue;
  *l = (lane){.busy = -1};
  return status;
}

// The record of a case whose process has died.
static void tell_of_death(const cli_sweep_run *run, int status, const task *t, record *r) {
  carom_case c = {.number = t->number, .values = r->values};
  char reason[200] = "the process of this case ended by itself";
  if (WIFSIGNALED(status))
    snprintf(reason, sizeof reason, "the process of this case died: %s (signal %d)", strsignal(WTERMSIG(status)),
             WTERMSIG(status));
  memcpy(r->values, t->inputs, (size_t)run->sweep->sampling.axis_count * sizeof *t->inputs);
  carom_case_fail(run->sweep, reason, &c);
  r->number = c.number, r->class_index = c.class_index, r->status = CAROM_OK;
  snprintf(r->reason, sizeof r->reason, "%s", c.reason);
}

// ---- the farm -------------------------------------------------------------------------------------------------------

bool cli_farm_open(cli_sweep_run *run) {
  static cli_farm farm;  // one sweep a process
  int local = run->ranks.rank > 0 ? 1 : run->jobs,
      remote = run->ranks.rank == 0 && run->ranks.count > 1 ? run->ranks.count - 1 : 0;
  run->farm = &farm;
  signal(SIGPIPE, SIG_IGN);  // a child that died is seen when it is spoken to
  farm.lane_count = local + remote;
  farm.record_size = sizeof(record) + (size_t)run->sweep->column_count * sizeof(double);
  farm.lanes = calloc((size_t)farm.lane_count, sizeof *farm.lanes);
  farm.fds = calloc((size_t)farm.lane_count, sizeof *farm.fds);
  farm.record = calloc(1, farm.record_size);
  if (!farm.lanes || !farm.fds || !farm.record)
    return cli_error("%s: out of memory for %d processes", run->verb, local);
  for (int i = 0; i < farm.lane_count; i++) farm.lanes[i] = (lane){.busy = -1, .rank = i < local ? 0 : i - local + 1};
  return true;
}

void cli_farm_close(cli_sweep_run *run) {
  cli_farm *f = run->farm;
  if (!f) return;
  const task last = {.number = -1, .warm = -1};
  for (int i = 0; f->lanes && i < f->lane_count; i++) {
    if (f->lanes[i].process > 0) end_child(&f->lanes[i]);
    if (f->lanes[i].rank > 0) carom_ranks_send(f->lanes[i].rank, &last, sizeof last, NULL);
  }
  free(f->lanes);
  free(f->fds);
  free(f->record);
  *f = (cli_farm){0};
  run->farm = NULL;
}

// Of the rounds of a border, those before are known; of a design, earlier waves.
static int64_t begins_from(const cli_sweep_run *run, const carom_cases *cases, int64_t number) {
  if (run->design) return carom_design_warm_case(run->design, number);
  if (run->sweep->warm == CAROM_WARM_NONE) return -1;
  return carom_cases_neighbour(cases, run->sweep, number, run->border ? carom_border_first(run->border) : -1);
}

static task make_task(const cli_sweep_run *run, const carom_cases *cases, int64_t number) {
  task t = {.number = number, .warm = begins_from(run, cases, number)};
  carom_case c = carom_cases_get(cases, number);
  memcpy(t.inputs, c.values, (size_t)run->sweep->sampling.axis_count * sizeof *t.inputs);
  return t;
}

static bool give(const cli_sweep_run *run, lane *l, const task *t) {
  if (l->rank > 0) {
    carom_error error = {0};
    if (carom_ranks_send(l->rank, t, sizeof *t, &error) != CAROM_OK) return cli_fail(&error), false;
  } else {
    if (l->process == 0 && !start_child(run, l))
      return cli_error("%s: no process can be started: %s", run->verb, strerror(errno));
    put_all(l->down, t, sizeof *t);  // a child that is dead is found out when it is listened to
  }
  l->busy = t->number;
  return true;
}

static bool take_in(cli_sweep_run *run, carom_cases *cases, lane *l, int64_t *done) {
  const record *r = run->farm->record;
  l->busy = -1;
  if (r->status == CAROM_INTERRUPTED) return true;
  if (r->status != CAROM_OK) return cli_error("%s", r->reason);
  carom_case c = {.number = r->number, .class_index = r->class_index, .values = (double *)r->values};
  carom_error error = {0};
  memcpy(c.reason, r->reason, sizeof c.reason);
  if (carom_cases_put(cases, &c, &error) != CAROM_OK) return cli_fail(&error), false;
  *done += 1;
  return !run->journal || cli_journal_add(run->journal, &c);
}

static bool hear_child(cli_sweep_run *run, carom_cases *cases, lane *l, int64_t *done) {
  cli_farm *f = run->farm;
  task t = make_task(run, cases, l->busy);
  if (!get_all(l->up, f->record, f->record_size)) {
    int status = end_child(l);
    bool stopped = cli_interrupted() && WIFSIGNALED(status);
    tell_of_death(run, status, &t, f->record);
    if (stopped) f->record->status = CAROM_INTERRUPTED;
  }
  return take_in(run, cases, l, done);
}

static bool hear_ranks(cli_sweep_run *run, carom_cases *cases, int64_t *done) {
  cli_farm *f = run->farm;
  carom_error error = {0};
  for (;;) {
    int from = -1;
    size_t size = 0;
    if (carom_ranks_receive(false, f->record, f->record_size, &from, &size, &error) != CAROM_OK)
      return cli_fail(&error), false;
    if (from < 0) return true;
    lane *l = &f->lanes[f->lane_count - run->ranks.count + from];
    if (!take_in(run, cases, l, done)) return false;
  }
}

static int count_busy(const cli_farm *f) {
  int busy = 0;
  for (int i = 0; i < f->lane_count; i++) busy += f->lanes[i].busy >= 0;
  return busy;
}

// Sleeps until a child has something to tell; where there are ranks, not for long.
static bool hear(cli_sweep_run *run, carom_cases *cases, int64_t *done) {
  cli_farm *f = run->farm;
  bool remote = run->ranks.count > 1;
  for (int i = 0; i < f->lane_count; i++) {
    bool listen = f->lanes[i].process > 0 && f->lanes[i].busy >= 0;
    f->fds[i] = (struct pollfd){.fd = listen ? f->lanes[i].up : -1, .events = POLLIN};
  }
  if (poll(f->fds, (nfds_t)f->lane_count, remote ? 2 : -1) < 0) {
    for (int i = 0; cli_interrupted() && i < f->lane_count; i++)  // a signal may have come to this process alone
      if (f->fds[i].fd >= 0) kill(f->lanes[i].process, SIGINT);
    return errno == EINTR || cli_error("%s: %s", run->verb, strerror(errno));
  }
  bool good = true;
  for (int i = 0; i < f->lane_count && good; i++)
    if (f->fds[i].revents) good = hear_child(run, cases, &f->lanes[i], done);
  return good && (!remote || hear_ranks(run, cases, done));
}

// The next case that has no class and is not in the journal.
static int64_t next_case(const cli_sweep_run *run, carom_cases *cases, int64_t from, int64_t end) {
  for (; from < end; from++) {
    const carom_case *old = run->journal ? cli_journal_find(run->journal, from) : NULL;
    if (cases->classes[from] < 0 && old) carom_cases_put(cases, old, NULL);
    if (cases->classes[from] < 0 && (run->wave == 0 || carom_sweep_wave(run->sweep, from) + 1 == run->wave)) break;
  }
  return from;
}

static bool share_out(cli_sweep_run *run, const carom_cases *cases, int64_t *next, int64_t end) {
  cli_farm *f = run->farm;
  for (int i = 0; i < f->lane_count && *next < end; i++) {
    if (f->lanes[i].busy >= 0) continue;
    task t = make_task(run, cases, *next);
    if (!give(run, &f->lanes[i], &t)) return false;
    *next = next_case(run, (carom_cases *)cases, *next + 1, end);
  }
  return true;
}

// A design has no end that could be told, but a budget.
static void show_progress(cli_sweep_run *run, int64_t first, int64_t done, int64_t count) {
  char detail[64];
  int64_t total = run->design ? run->sweep->sampling.count : count;
  if (run->design) done += first;
  snprintf(detail, sizeof detail, run->design ? "design %lld of at most %lld" : "case %lld of %lld", (long long)done,
           (long long)total);
  cli_progress_show(&run->progress, (double)done, (double)total, detail);
}

int cli_farm_run(cli_sweep_run *run, carom_cases *cases, int64_t first, int64_t count) {
  int64_t end = first + count, next = next_case(run, cases, first, end), done = 0, known = 0;
  for (int64_t i = first; i < end; i++) known += cases->classes[i] >= 0;
  bool good = true;
  while (good && ((next < end && !cli_interrupted()) || count_busy(run->farm) > 0)) {
    int64_t so_far = known;
    if (!cli_interrupted()) good = share_out(run, cases, &next, end);
    if (good) good = hear(run, cases, &done);
    so_far += done;
    show_progress(run, first, so_far, count);
  }
  if (!good) return EXIT_FAILED;
  return cli_interrupted() ? EXIT_INTERRUPTED : EXIT_GOOD;
}

// ---- other ranks ----------------------------------------------------------------------------------------------------

static void answer(cli_sweep_run *run, const task *t) {
  cli_farm *f = run->farm;
  lane *l = &f->lanes[0];
  bool alive = l->process > 0 || start_child(run, l);
  if (alive) put_all(l->down, t, sizeof *t);
  if (!alive || !get_all(l->up, f->record, f->record_size)) {
    int status = alive ? end_child(l) : 0;
    tell_of_death(run, status, t, f->record);
    if (cli_interrupted()) f->record->status = CAROM_INTERRUPTED;
  }
}

int cli_farm_serve(cli_sweep_run *run) {
  carom_error error = {0};
  task t;
  size_t size;
  int from;
  for (;;) {
    if (carom_ranks_receive(true, &t, sizeof t, &from, &size, &error) != CAROM_OK) return cli_fail(&error);
    if (t.number < 0) return EXIT_GOOD;
    answer(run, &t);
    if (carom_ranks_send(0, run->farm->record, run->farm->record_size, &error) != CAROM_OK) return cli_fail(&error);
  }
}
