// Writes one file of every kind into the folder given, for tests/python/check_*.py to look into.
#include <signal.h>
#include <sys/wait.h>

#include "solids_fixture.h"

enum { FRAMES = 120 };

void test_fail(const char *file, int line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s:%d: ", file, line);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  exit(1);
}

// A run that is killed after its second burst, with frames still in memory.
static void write_killed(const char *path) {
  pid_t child = fork();
  if (child == 0) {
    fixture f;
    carom_recorder *recorder = NULL;
    carom_recorder_options options = fixture_options();
    fixture_create(&f);
    if (carom_recorder_open(path, &f.scene, &options, NULL, &recorder, NULL) != CAROM_OK) _exit(1);
    for (int i = 0; i < 50; i++) {
      fixture_record(&f, recorder, i, NULL);
      if (i == 19 || i == 39) carom_recorder_flush(recorder, NULL);
    }
    raise(SIGKILL);
  }
  int status;
  waitpid(child, &status, 0);
}

static void check(carom_status status, const carom_error *error) {
  if (status == CAROM_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 2 || chdir(argv[1]) != 0) {
    fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  carom_error error = {CAROM_OK, ""};
  fixture_write("complete.h5", FRAMES);
  write_killed("killed.h5");
  carom_result *result = fixture_open("complete.h5");
  if (!result) return 1;
  check(carom_export_csv(result, "motion.csv", NULL, &error), &error);
  check(carom_export_vtk(result, "motion.pvd", NULL, &error), &error);
  check(carom_export_glb(result, "motion.glb", NULL, &error), &error);
  carom_result_close(result);
  soft_write("soft.h5", FRAMES);
  if (!(result = fixture_open("soft.h5"))) return 1;
  check(carom_export_vtk(result, "soft.pvd", NULL, &error), &error);
  carom_result_close(result);
  return 0;
}
