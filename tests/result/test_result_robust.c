// Running out of memory at every single allocation, several threads at once, and no allocation while recording.
#include <pthread.h>
#include <sys/stat.h>

#include "export/export.h"
#include "result_fixture.h"
#include "solids_fixture.h"

// An allocator that fails from a given call on, or counts.
typedef struct limited {
  long calls, fail_at;  // fail_at < 0: never
  long live;
} limited;

static void *limited_allocate(void *context, size_t size) {
  limited *l = context;
  if (l->fail_at >= 0 && l->calls++ >= l->fail_at) return NULL;
  void *block = malloc(size);
  l->live += block != NULL;
  return block;
}
static void *limited_resize(void *context, void *block, size_t size) {
  limited *l = context;
  if (l->fail_at >= 0 && l->calls++ >= l->fail_at) return NULL;
  void *moved = realloc(block, size);
  l->live += moved && !block;
  return moved;
}
static void limited_release(void *context, void *block) {
  limited *l = context;
  l->live -= block != NULL;
  free(block);
}
static carom_allocator limited_allocator(limited *l) {
  carom_allocator allocator = {l, limited_allocate, limited_resize, limited_release};
  return allocator;
}

static carom_status record_all(const char *path, const carom_allocator *allocator, carom_error *error) {
  fixture f;
  carom_recorder *recorder = NULL;
  carom_recorder_options options = fixture_options();
  carom_verdict verdict = fixture_verdict();
  fixture_create(&f);
  carom_status status = carom_recorder_open(path, &f.scene, &options, allocator, &recorder, error);
  for (int i = 0; status == CAROM_OK && i < 3; i++) status = fixture_record(&f, recorder, i, error);
  if (status == CAROM_OK) status = carom_recorder_finish(recorder, &verdict, "complete", error);
  carom_recorder_close(recorder);
  fixture_destroy(&f);
  return status;
}

static carom_status read_all(const char *path, const carom_allocator *allocator, carom_error *error) {
  carom_result *result = NULL;
  carom_frame frame = {0};
  carom_status status = carom_result_open(path, allocator, &result, error);
  if (status != CAROM_OK) return status;
  status = carom_frame_init(result, &frame, error);
  if (status == CAROM_OK) status = carom_result_read_frame(result, 1, &frame, error);
  double values[3 * FIXTURE_CHANNELS];
  if (status == CAROM_OK) status = carom_result_read_channels(result, 0, FIXTURE_CHANNELS, values, error);
  carom_frame_release(&frame);
  carom_result_close(result);
  return status;
}

typedef carom_status attempt(const char *path, const carom_allocator *allocator, carom_error *error);

static void fail_at_every_call(attempt *run, const char *path) {
  carom_status status = CAROM_ERR_MEMORY;
  long n = 0;
  for (; status != CAROM_OK && n < 3000 && test_failures == 0; n++) {
    limited l = {.fail_at = n};
    carom_allocator allocator = limited_allocator(&l);
    carom_error error = {CAROM_OK, ""};
    status = run(path, &allocator, &error);
    CHECK(l.live == 0);
    CHECK(status == CAROM_OK || (status == CAROM_ERR_MEMORY && error.status == status && *error.message));
  }
  CHECK(status == CAROM_OK && n > 5);
}

TEST(recorder_without_memory) {
  const char *path = fixture_path("memory.h5");
  fail_at_every_call(record_all, path);
  CHECK(access(path, F_OK) == 0);
  unlink(path);
}

static carom_status record_solids(const char *path, const carom_allocator *allocator, carom_error *error) {
  fixture f;
  carom_recorder *recorder = NULL;
  carom_recorder_options options = {.overwrite = true};
  soft_create(&f);
  carom_status status = carom_recorder_open(path, &f.scene, &options, allocator, &recorder, error);
  if (status == CAROM_OK) status = soft_record(&f, recorder, 0, error);
  if (status == CAROM_OK) status = carom_recorder_finish(recorder, NULL, "complete", error);
  carom_recorder_close(recorder);
  fixture_destroy(&f);
  return status;
}

static carom_status read_solids(const char *path, const carom_allocator *allocator, carom_error *error) {
  carom_result *result = NULL;
  carom_frame frame = {0};
  carom_status status = carom_result_open(path, allocator, &result, error);
  if (status != CAROM_OK) return status;
  status = carom_frame_init(result, &frame, error);
  if (status == CAROM_OK) status = carom_result_read_frame(result, 0, &frame, error);
  carom_frame_release(&frame);
  carom_result_close(result);
  return status;
}

TEST(solids_without_memory) {
  const char *path = fixture_path("memory-solids.h5");
  fail_at_every_call(record_solids, path);
  soft_write(path, 1);
  fail_at_every_call(read_solids, path);
  unlink(path);
}

TEST(reader_without_memory) {
  const char *path = fixture_path("memory.h5");
  fixture_write(path, 3);
  fail_at_every_call(read_all, path);
  unlink(path);
}

// The export allocates through the result's allocator; the result is opened with plenty, then its allocator limited.
static const char *exported_result;
static carom_status export_to(const carom_allocator *allocator, carom_error *error, const char *name,
                              carom_status (*run)(carom_result *, const char *, const carom_progress *,
                                                  carom_error *)) {
  limited *l = allocator->context;
  long fail_at = l->fail_at;
  carom_result *result = NULL;
  l->fail_at = -1;
  carom_status status = carom_result_open(exported_result, allocator, &result, error);
  l->fail_at = fail_at;
  l->calls = 0;
  if (status == CAROM_OK) status = run(result, name, NULL, error);
  carom_result_close(result);
  return status;
}

static carom_status export_elements(carom_result *result, const char *path, const carom_progress *progress,
                                    carom_error *error) {
  static const char page[] = "<html><!--CAROM-REPLAY--></html>";
  return carom_replay_page(result, path, page, strlen(page), progress, error);
}
static carom_status try_csv(const char *path, const carom_allocator *allocator, carom_error *error) {
  return export_to(allocator, error, path, carom_export_csv);
}
static carom_status try_vtk(const char *path, const carom_allocator *allocator, carom_error *error) {
  return export_to(allocator, error, path, carom_export_vtk);
}
static carom_status try_glb(const char *path, const carom_allocator *allocator, carom_error *error) {
  return export_to(allocator, error, path, carom_export_glb);
}
static carom_status try_replay(const char *path, const carom_allocator *allocator, carom_error *error) {
  return export_to(allocator, error, path, export_elements);
}

TEST(exports_without_memory) {
  char file[300], folder[300];
  const char *path = fixture_path("memory.h5");
  fixture_write(path, 2);
  exported_result = path;
  snprintf(file, sizeof file, "%s.csv", path);
  fail_at_every_call(try_csv, file);
  CHECK(unlink(file) == 0);
  snprintf(file, sizeof file, "%s.audit.csv", path);
  CHECK(unlink(file) == 0);
  snprintf(file, sizeof file, "%s.events.csv", path);
  CHECK(unlink(file) == 0);
  snprintf(file, sizeof file, "%s.channels.csv", path);
  CHECK(unlink(file) == 0);
  snprintf(file, sizeof file, "%s.glb", path);
  fail_at_every_call(try_glb, file);
  CHECK(unlink(file) == 0);
  snprintf(file, sizeof file, "%s.html", path);
  fail_at_every_call(try_replay, file);
  CHECK(unlink(file) == 0);
  snprintf(file, sizeof file, "%s.pvd", path);
  fail_at_every_call(try_vtk, file);
  CHECK(unlink(file) == 0);
  for (int i = 0; i < 2; i++) {
    snprintf(folder, sizeof folder, "%s_frames/frame_%06d.vtp", path, i);
    CHECK(unlink(folder) == 0);
  }
  snprintf(folder, sizeof folder, "%s_frames", path);
  CHECK(rmdir(folder) == 0);
  unlink(path);
}

TEST(exports_of_solids_without_memory) {
  char file[300];
  const char *path = fixture_path("memory-soft.h5");
  static const char *const left[] = {
      ".csv",  ".csv.audit.csv", ".csv.events.csv",          ".csv.solids.csv",         ".glb",
      ".html", ".pvd",           "_frames/frame_000000.vtp", "_frames/frame_000000.vtu"};
  soft_write(path, 1);
  exported_result = path;
  snprintf(file, sizeof file, "%s.csv", path);
  fail_at_every_call(try_csv, file);
  snprintf(file, sizeof file, "%s.glb", path);
  fail_at_every_call(try_glb, file);
  snprintf(file, sizeof file, "%s.html", path);
  fail_at_every_call(try_replay, file);
  snprintf(file, sizeof file, "%s.pvd", path);
  fail_at_every_call(try_vtk, file);
  for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
    snprintf(file, sizeof file, "%s%s", path, left[i]);
    unlink(file);
  }
  snprintf(file, sizeof file, "%s_frames", path);
  CHECK(rmdir(file) == 0);
  unlink(path);
}

TEST(recording_does_not_allocate) {
  const char *path = fixture_path("calm.h5");
  limited l = {.fail_at = -1};
  carom_allocator allocator = limited_allocator(&l);
  fixture f;
  carom_recorder *recorder = NULL;
  carom_recorder_options options = fixture_options();
  fixture_create(&f);
  REQUIRE(carom_recorder_open(path, &f.scene, &options, &allocator, &recorder, NULL) == CAROM_OK);
  l.calls = 0;
  l.fail_at = 0;  // from here on every allocation would fail
  for (int i = 0; i < 20000; i++) CHECK(fixture_record(&f, recorder, i, NULL) == CAROM_OK);
  CHECK(carom_recorder_finish(recorder, NULL, "complete", NULL) == CAROM_OK);
  CHECK(l.calls == 0);
  carom_recorder_close(recorder);
  unlink(path);
  fixture_destroy(&f);
}

TEST(recording_solids_does_not_allocate) {
  const char *path = fixture_path("calm-solids.h5");
  limited l = {.fail_at = -1};
  carom_allocator allocator = limited_allocator(&l);
  fixture f;
  carom_recorder *recorder = NULL;
  soft_create(&f);
  REQUIRE(carom_recorder_open(path, &f.scene, NULL, &allocator, &recorder, NULL) == CAROM_OK);
  l.calls = 0;
  l.fail_at = 0;
  for (int i = 0; i < 1500; i++) CHECK(soft_record(&f, recorder, i, NULL) == CAROM_OK);
  CHECK(carom_recorder_finish(recorder, NULL, "complete", NULL) == CAROM_OK);
  CHECK(l.calls == 0);
  carom_recorder_close(recorder);
  unlink(path);
  fixture_destroy(&f);
}

static void *record_in_thread(void *argument) {
  char path[300];
  snprintf(path, sizeof path, "result-test-%ld-thread-%d.h5", (long)getpid(), *(int *)argument);
  bool right = true;
  for (int round = 0; round < 3; round++) {
    carom_error error = {CAROM_OK, ""};
    right = right && record_all(path, NULL, &error) == CAROM_OK && read_all(path, NULL, &error) == CAROM_OK;
  }
  unlink(path);
  *(int *)argument = right;
  return NULL;
}

TEST(several_threads) {
  enum { THREADS = 6 };
  pthread_t threads[THREADS];
  int arguments[THREADS];
  for (int i = 0; i < THREADS; i++) {
    arguments[i] = i;
    REQUIRE(pthread_create(&threads[i], NULL, record_in_thread, &arguments[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    CHECK(arguments[i] == 1);
  }
}

// ---- files that go away --------------------------------------------------------------------------------------------

static void count_messages(void *context, carom_log_level level, const char *message) {
  (void)level, (void)message;
  ++*(int *)context;
}

typedef struct recording {
  fixture f;
  carom_recorder *recorder;
  int messages;
} recording;

static void record_some(recording *r, const char *path, int frames) {
  carom_error error = {0};
  carom_recorder_options options = fixture_options();
  options.log = (carom_log){&r->messages, count_messages};
  fixture_create(&r->f);
  REQUIRE(carom_recorder_open(path, &r->f.scene, &options, NULL, &r->recorder, &error) == CAROM_OK);
  for (int i = 0; i < frames; i++) CHECK(fixture_record(&r->f, r->recorder, i, &error) == CAROM_OK);
  CHECK(carom_recorder_flush(r->recorder, &error) == CAROM_OK);
}

static void end_recording(recording *r, const char *path, int begin, int frames) {
  carom_error error = {0};
  carom_frame frame = {0};
  for (int i = begin; i < frames; i++) CHECK(fixture_record(&r->f, r->recorder, i, &error) == CAROM_OK);
  carom_status status = carom_recorder_finish(r->recorder, NULL, "complete", &error);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  carom_recorder_close(r->recorder);
  fixture_destroy(&r->f);
  carom_result *result = fixture_open(path);
  REQUIRE(result && carom_frame_init(result, &frame, NULL) == CAROM_OK);
  CHECK(result->complete && result->frame_count == frames);
  for (int i = 0; i < result->frame_count; i++) CHECK(fixture_frame_is_right(result, i, &frame));
  carom_frame_release(&frame);
  carom_result_close(result);
}

// Removed before the last burst, before a checkpoint, and twice: nothing of it is lost.
TEST(a_removed_file_comes_back) {
  const char *path = fixture_path("removed.h5");
  recording r = {.messages = 0};
  record_some(&r, path, 5);
  unlink(path);
  CHECK(carom_recorder_checkpoint(r.recorder, r.f.state, "memory", 6, NULL) == CAROM_OK && r.messages == 1);
  CHECK(access(path, F_OK) == 0);
  unlink(path);
  end_recording(&r, path, 5, 9);
  CHECK(r.messages == 2);
  unlink(path);
}

TEST(a_removed_folder_comes_back) {
  char path[400];
  const char *folder = fixture_path("folder");
  snprintf(path, sizeof path, "%s/a/r.h5", folder);
  mkdir(folder, 0777);
  snprintf(path, sizeof path, "%s/a", folder);
  mkdir(path, 0777);
  snprintf(path, sizeof path, "%s/a/r.h5", folder);
  recording r = {.messages = 0};
  record_some(&r, path, 3);
  unlink(path);
  *strrchr(path, '/') = 0;
  rmdir(path);
  rmdir(folder);
  path[strlen(path)] = '/';
  end_recording(&r, path, 3, 6);
  CHECK(r.messages == 1);
  unlink(path);
  *strrchr(path, '/') = 0;
  CHECK(rmdir(path) == 0 && rmdir(folder) == 0);  // and no litter
}

// Nothing can be written there any more: the current folder keeps it.
TEST(a_folder_that_became_a_file_does_not_lose_the_run) {
  char path[400];
  const char *folder = fixture_path("lost"), *name = fixture_path("kept.h5");
  mkdir(folder, 0777);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  recording r = {.messages = 0};
  record_some(&r, path, 3);
  unlink(path);
  rmdir(folder);
  CHECK(carom_write_file(&(carom_bytes){folder, "a file", 6}, NULL) == CAROM_OK);
  end_recording(&r, name, 3, 6);
  CHECK(r.messages == 1);
  unlink(name);
  unlink(folder);
}

// What others put there meanwhile stays; the record goes beside it.
TEST(a_replaced_file_is_not_lost) {
  char beside[400];
  const char *path = fixture_path("replaced.h5");
  recording r = {.messages = 0};
  record_some(&r, path, 3);
  unlink(path);
  CHECK(carom_write_file(&(carom_bytes){path, "mine", 4}, NULL) == CAROM_OK);
  snprintf(beside, sizeof beside, "%s.rescued-1", path);
  end_recording(&r, beside, 3, 6);
  char text[8] = "";
  FILE *in = fopen(path, "rb");
  CHECK(in && fread(text, 1, sizeof text, in) == 4 && memcmp(text, "mine", 4) == 0);
  if (in) fclose(in);
  unlink(path);
  unlink(beside);
}

TEST(a_moved_file_goes_on) {
  char elsewhere[400];
  const char *path = fixture_path("moved.h5");
  recording r = {.messages = 0};
  record_some(&r, path, 3);
  snprintf(elsewhere, sizeof elsewhere, "%s.moved", path);
  CHECK(rename(path, elsewhere) == 0);
  end_recording(&r, elsewhere, 3, 6);
  CHECK(r.messages == 1);
  unlink(elsewhere);
}

TEST(a_file_cut_short_is_told) {
  const char *path = fixture_path("cut.h5");
  carom_error error = {0};
  recording r = {.messages = 0};
  record_some(&r, path, 3);
  CHECK(truncate(path, 100) == 0);
  CHECK(fixture_record(&r.f, r.recorder, 3, &error) == CAROM_OK);
  CHECK(carom_recorder_flush(r.recorder, &error) == CAROM_ERR_IO);
  CHECK_CONTAINS(error.message, "cut short");
  carom_recorder_close(r.recorder);
  fixture_destroy(&r.f);
  unlink(path);
}

// Written every second of a run for days: the places must stay where they are.
TEST(checkpoints_do_not_let_the_file_grow) {
  const char *path = fixture_path("checkpoints.h5");
  struct stat early, late;
  static char memory[5000];
  recording r = {.messages = 0};
  record_some(&r, path, 3);
  for (int i = 0; i < 10; i++)
    CHECK(carom_recorder_checkpoint(r.recorder, r.f.state, memory, sizeof memory, NULL) == CAROM_OK);
  CHECK(stat(path, &early) == 0);
  for (int i = 0; i < 200; i++) {
    for (size_t k = 0; k < sizeof memory; k++) memory[k] = (char)(i * 31 + (int)(k * k % 251));
    size_t size = sizeof memory - (size_t)(i % 7) * 600;
    CHECK(carom_recorder_checkpoint(r.recorder, r.f.state, memory, size, NULL) == CAROM_OK);
  }
  CHECK(stat(path, &late) == 0 && late.st_size == early.st_size);
  end_recording(&r, path, 3, 4);
  unlink(path);
}

TEST(states_that_are_not_finite_are_not_recorded) {
  const char *path = fixture_path("nan.h5");
  carom_error error = {0};
  recording r = {.messages = 0};
  record_some(&r, path, 2);
  double time = r.f.state->time;
  r.f.state->time = NAN;
  CHECK(carom_recorder_frame(r.recorder, r.f.state, NULL, &error) == CAROM_ERR_NUMBER);
  CHECK(carom_recorder_checkpoint(r.recorder, r.f.state, "", 0, &error) == CAROM_ERR_NUMBER);
  r.f.state->time = time;
  end_recording(&r, path, 2, 4);  // and the record goes on
  unlink(path);
}
