// A run that is killed, or whose disk is full, leaves a file that is sound up to its last burst.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "result_fixture.h"

enum { ROUNDS = 40, MANY = 1 << 20 };

// Records forever, in bursts of one to four frames, and tells through the pipe how many frames a burst has made safe.
static _Noreturn void record_until_killed(const char *path, int pipe_end, uint64_t seed) {
  fixture f;
  carom_recorder *recorder = NULL;
  carom_random random = carom_random_make(seed, 1);
  fixture_create(&f);
  if (carom_recorder_open(path, &f.scene, &(carom_recorder_options){.overwrite = true}, NULL, &recorder, NULL) !=
      CAROM_OK)
    _exit(1);
  int safe = 0;
  (void)!write(pipe_end, &safe, sizeof safe);
  for (int i = 0; i < MANY;) {
    int burst = 1 + (int)carom_random_below(&random, 4);
    for (int k = 0; k < burst; k++, i++)
      if (fixture_record(&f, recorder, i, NULL) != CAROM_OK) _exit(1);
    if (carom_recorder_flush(recorder, NULL) != CAROM_OK) _exit(1);
    (void)!write(pipe_end, &i, sizeof i);
  }
  _exit(0);
}

// How many frames the child said were safe before it died.
static int read_safe(int pipe_end) {
  int safe = -1, value;
  while (read(pipe_end, &value, sizeof value) == (ssize_t)sizeof value) safe = value;
  return safe;
}

static void wait_nanoseconds(long nanoseconds) {
  struct timespec time = {0, nanoseconds};
  nanosleep(&time, NULL);
}

static void check_result(const char *path, int safe, int *most) {
  carom_result *result = fixture_open(path);
  REQUIRE(result);
  // The child may have died between the end of a burst and the message about it.
  CHECK(result->frame_count >= safe && result->frame_count <= safe + 4);
  CHECK(!result->complete && result->verdict.count == 0);
  CHECK_TEXT(result->ending, "unfinished");
  carom_frame frame;
  REQUIRE(carom_frame_init(result, &frame, NULL) == CAROM_OK);
  for (int i = 0; i < result->frame_count; i++) CHECK(fixture_frame_is_right(result, i, &frame));
  CHECK(result->event_count >= 2 * safe && result->event_count % 2 == 0);
  for (int i = 0; i < result->event_count; i++) CHECK(fixture_event_is_right(result, i));
  if (result->frame_count > *most) *most = result->frame_count;
  carom_frame_release(&frame);
  carom_result_close(result);
}

static void kill_one(const char *path, uint64_t seed, long delay, int *most) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) record_until_killed(path, ends[1], seed);
  close(ends[1]);
  int zero;
  REQUIRE(read(ends[0], &zero, sizeof zero) == (ssize_t)sizeof zero);  // the file has its name now
  wait_nanoseconds(delay);
  kill(child, SIGKILL);
  int status;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  int safe = read_safe(ends[0]);
  close(ends[0]);
  check_result(path, safe < 0 ? 0 : safe, most);
}

TEST(killed_at_random_moments) {
  const char *path = fixture_path("killed.h5");
  carom_random random = carom_random_make(20240501, 0);
  int most = 0;
  for (int round = 0; round < ROUNDS && test_failures == 0; round++)
    kill_one(path, (uint64_t)round, 1000 + (long)carom_random_below(&random, 150000000), &most);
  CHECK(most > 20);  // else nothing was tested
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

// ---- a full disk
// ------------------------------------------------------------------------------------------------------

// In a child whose files may not grow beyond `limit`: 0 when the recorder failed as it should, frames written in *safe.
static int record_on_full_disk(const char *path, rlim_t limit, int pipe_end) {
  fixture f;
  carom_recorder *recorder = NULL;
  carom_error error = {CAROM_OK, ""};
  struct rlimit size = {limit, limit};
  fixture_create(&f);
  signal(SIGXFSZ, SIG_IGN);
  if (carom_recorder_open(path, &f.scene, NULL, NULL, &recorder, &error) != CAROM_OK) return 1;
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
      carom_status result = carom_recorder_open(path, &f.scene, NULL, NULL, &recorder, &error);
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
