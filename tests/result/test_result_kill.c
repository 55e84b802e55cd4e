// A run that is killed, or whose disk is full, leaves a file that is sound up to its last burst. Moments are counted in
// bursts and in writes to the file, not in seconds: they come early and late on any machine, however busy it is.
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "result_fixture.h"

enum { ROUNDS = 40, BURSTS = 40, BURST_FRAMES = 4, MANY = 1 << 20 };

// In place of the library's clock: time stands, so that the recorder writes when it is told to and at no other moment.
double carom_clock(void) { return 0; }

// ---- killed --------------------------------------------------------------------------------------------------------

static int writes_to_live = INT_MAX;

// In place of the C library's: HDF5 writes its file through here. The process is killed in place of the last write.
__attribute__((visibility("default"))) ssize_t pwrite(int file, const void *data, size_t size, off_t place) {
  if (writes_to_live-- == 0) raise(SIGKILL);
  return lseek(file, place, SEEK_SET) < 0 ? -1 : write(file, data, size);
}

// Records bursts of one to four frames, one for each byte that comes, and tells how many frames are safe after each.
// Killed before a given write, or when no more bytes come.
static _Noreturn void record_until_killed(const char *path, int orders, int reports, uint64_t seed, int writes) {
  fixture f;
  carom_recorder *recorder = NULL;
  carom_recorder_options options = fixture_options();
  carom_random random = carom_random_make(seed, 1);
  fixture_create(&f);
  if (carom_recorder_open(path, &f.scene, &options, NULL, &recorder, NULL) != CAROM_OK) _exit(1);
  writes_to_live = writes;
  char order;
  for (int i = 0; read(orders, &order, 1) == 1;) {
    int burst = 1 + (int)carom_random_below(&random, BURST_FRAMES);
    for (int k = 0; k < burst; k++, i++)
      if (fixture_record(&f, recorder, i, NULL) != CAROM_OK) _exit(1);
    if (carom_recorder_flush(recorder, NULL) != CAROM_OK) _exit(1);
    if (write(reports, &i, sizeof i) != (ssize_t)sizeof i) _exit(1);
  }
  raise(SIGKILL);
  _exit(1);
}

typedef struct recording {
  pid_t child;
  int orders, reports;  // ends of pipes
} recording;

static recording start_recording(const char *path, uint64_t seed, int writes) {
  int orders[2], reports[2];
  recording r = {-1, -1, -1};
  if (pipe(orders) != 0 || pipe(reports) != 0) return r;
  r = (recording){fork(), orders[1], reports[0]};
  if (r.child == 0) {
    close(orders[1]);
    record_until_killed(path, orders[0], reports[1], seed, writes);
  }
  close(orders[0]);
  close(reports[1]);
  return r;
}

// How many frames the child said were safe before it died.
static int await_death(const recording *r) {
  int status = 0, safe = 0, value;
  close(r->orders);
  waitpid(r->child, &status, 0);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  while (read(r->reports, &value, sizeof value) == (ssize_t)sizeof value) safe = value;
  close(r->reports);
  return safe;
}

static void check_result(const char *path, int safe, int *most) {
  carom_result *result = fixture_open(path);
  REQUIRE(result);
  // The child may have died between the end of a burst and the message about it.
  CHECK(result->frame_count >= safe && result->frame_count <= safe + BURST_FRAMES);
  CHECK(!result->complete && result->verdict.count == 0);
  CHECK_TEXT(result->ending, "unfinished");
  carom_frame frame;
  REQUIRE(carom_frame_init(result, &frame, NULL) == CAROM_OK);
  for (int i = 0; i < result->frame_count; i++) CHECK(fixture_frame_is_right(result, i, &frame));
  CHECK(result->channel_count == FIXTURE_CHANNELS || safe == 0);
  CHECK(result->event_count >= 2 * safe && result->event_count % 2 == 0);
  for (int i = 0; i < result->event_count; i++) CHECK(fixture_event_is_right(result, i));
  if (result->frame_count > *most) *most = result->frame_count;
  carom_frame_release(&frame);
  carom_result_close(result);
}

// Killed from outside, wherever it is in the burst after `bursts` others.
static void kill_after_bursts(const char *path, uint64_t seed, int bursts, int *most) {
  static const char orders[BURSTS + 1];
  recording r = start_recording(path, seed, INT_MAX);
  REQUIRE(r.child > 0 && write(r.orders, orders, (size_t)bursts + 1) == bursts + 1);
  int before = 0;
  for (int i = 0; i < bursts; i++) REQUIRE(read(r.reports, &before, sizeof before) == (ssize_t)sizeof before);
  kill(r.child, SIGKILL);
  int safe = await_death(&r);
  check_result(path, safe > before ? safe : before, most);
}

TEST(killed_at_random_moments) {
  const char *path = fixture_path("killed.h5");
  carom_random random = carom_random_make(20240501, 0);
  int most = 0;
  for (int round = 0; round < ROUNDS && test_failures == 0; round++)
    kill_after_bursts(path, (uint64_t)round, 1 + (int)carom_random_below(&random, BURSTS), &most);
  CHECK(most > 2 * BURSTS);  // else not all moments were tested
  unlink(path);
}

// Killed between two writes to the file, of which a burst makes about a hundred.
TEST(killed_between_any_two_writes) {
  const char *path = fixture_path("writes.h5");
  static const char orders[BURSTS];
  carom_random random = carom_random_make(20240502, 0);
  int most = 0, early = 0;
  for (int round = 0; round < ROUNDS && test_failures == 0; round++) {
    recording r = start_recording(path, (uint64_t)round, (int)carom_random_below(&random, 100 * BURSTS));
    REQUIRE(r.child > 0 && write(r.orders, orders, sizeof orders) == (ssize_t)sizeof orders);
    int safe = await_death(&r);
    check_result(path, safe, &most);
    early += safe < BURSTS;
  }
  CHECK(most > 2 * BURSTS && early > ROUNDS / 4);  // else not all moments were tested
  unlink(path);
}

TEST(killed_before_the_first_burst) {
  const char *path = fixture_path("early.h5");
  pid_t child = fork();
  if (child == 0) {
    fixture f;
    carom_recorder *recorder = NULL;
    fixture_create(&f);
    if (carom_recorder_open(path, &f.scene, NULL, NULL, &recorder, NULL) != CAROM_OK) _exit(1);
    fixture_record(&f, recorder, 0, NULL);
    raise(SIGKILL);
  }
  int status, most = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  check_result(path, 0, &most);
  CHECK(most == 0);
  unlink(path);
}

// ---- a full disk ---------------------------------------------------------------------------------------------------

// In a child whose files may not grow beyond `limit`: 0 when the recorder failed as it should, frames written in *safe.
static int record_on_full_disk(const char *path, rlim_t limit, int pipe_end) {
  fixture f;
  carom_recorder *recorder = NULL;
  carom_error error = {CAROM_OK, ""};
  struct rlimit size = {limit, limit};
  carom_recorder_options options = fixture_options();
  fixture_create(&f);
  signal(SIGXFSZ, SIG_IGN);
  if (carom_recorder_open(path, &f.scene, &options, NULL, &recorder, &error) != CAROM_OK) return 1;
  setrlimit(RLIMIT_FSIZE, &size);
  carom_status status = CAROM_OK;
  int safe = 0;
  for (int i = 0; status == CAROM_OK && i < MANY; i++) {
    status = fixture_record(&f, recorder, i, &error);
    if (status == CAROM_OK && i % 10 == 9) {
      status = carom_recorder_flush(recorder, &error);
      if (status == CAROM_OK) safe = i + 1;
    }
  }
  (void)!write(pipe_end, &safe, sizeof safe);
  if (status != CAROM_ERR_IO || !strstr(error.message, "File too large") || !strstr(error.message, path) ||
      !strstr(error.message, "ulimit"))
    return 2;
  carom_error again = {CAROM_OK, ""};
  if (fixture_record(&f, recorder, safe, &again) != CAROM_ERR_IO || strcmp(again.message, error.message) != 0) return 3;
  if (carom_recorder_flush(recorder, NULL) != CAROM_ERR_IO) return 4;
  if (carom_recorder_finish(recorder, NULL, "complete", NULL) != CAROM_ERR_IO) return 5;
  carom_recorder_close(recorder);
  fixture_destroy(&f);
  return 0;
}

TEST(full_disk_keeps_earlier_bursts) {
  for (rlim_t limit = 60000; limit < 400000; limit = limit * 5 / 4 + 777) {
    const char *path = fixture_path("full.h5");
    int ends[2], status, safe = -1, most = 0;
    REQUIRE(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) exit(record_on_full_disk(path, limit, ends[1]));  // exit: HDF5's own end must be quiet too
    close(ends[1]);
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    REQUIRE(read(ends[0], &safe, sizeof safe) == (ssize_t)sizeof safe);
    close(ends[0]);
    struct stat info;
    CHECK(stat(path, &info) == 0 && (rlim_t)info.st_size <= limit);
    carom_result *result = fixture_open(path);
    REQUIRE(result);
    CHECK(result->frame_count == safe);
    carom_result_close(result);
    check_result(path, safe, &most);
    unlink(path);
  }
}

// No room even for the head: nothing is left behind, not under the temporary name either.
TEST(full_disk_at_the_start) {
  const char *folder = fixture_path("full");
  REQUIRE(mkdir(folder, 0777) == 0);
  for (rlim_t limit = 0; limit < 40000; limit = limit * 3 / 2 + 500) {
    pid_t child = fork();
    if (child == 0) {
      char path[300];
      snprintf(path, sizeof path, "%s/x.h5", folder);
      fixture f;
      fixture_create(&f);
      signal(SIGXFSZ, SIG_IGN);
      struct rlimit size = {limit, limit};
      setrlimit(RLIMIT_FSIZE, &size);
      carom_recorder *recorder = NULL;
      carom_error error = {CAROM_OK, ""};
      carom_recorder_options options = fixture_options();
      carom_status result = carom_recorder_open(path, &f.scene, &options, NULL, &recorder, &error);
      carom_recorder_close(recorder);
      fixture_destroy(&f);
      if (result == CAROM_OK) unlink(path);
      exit(result == CAROM_OK ? 0 : result == CAROM_ERR_IO && strstr(error.message, "File too large") ? 0 : 2);
    }
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(rmdir(folder) == 0 && mkdir(folder, 0777) == 0);  // works on an empty folder only
  }
  rmdir(folder);
}
