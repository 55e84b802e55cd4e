// Running out of memory at every single allocation, several threads at once, and no allocation while recording.
#include <pthread.h>

#include "export/export.h"
#include "result_fixture.h"

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
  carom_verdict verdict = fixture_verdict();
  fixture_create(&f);
  carom_status status =
      carom_recorder_open(path, &f.scene, &(carom_recorder_options){.overwrite = true}, allocator, &recorder, error);
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

TEST(recording_does_not_allocate) {
  const char *path = fixture_path("calm.h5");
  limited l = {.fail_at = -1};
  carom_allocator allocator = limited_allocator(&l);
  fixture f;
  carom_recorder *recorder = NULL;
  fixture_create(&f);
  REQUIRE(carom_recorder_open(path, &f.scene, &(carom_recorder_options){.overwrite = true}, &allocator, &recorder,
                              NULL) == CAROM_OK);
  l.calls = 0;
  l.fail_at = 0;  // from here on every allocation would fail
  for (int i = 0; i < 20000; i++) CHECK(fixture_record(&f, recorder, i, NULL) == CAROM_OK);
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
