#include "test.h"

test_case *test_first;
int test_failures;

enum { SKIPPED = 77 };  // CTest's SKIP_RETURN_CODE

void test_fail(const char *file, int line, const char *format, ...) {
  const char *base = strrchr(file, '/');
  fprintf(stderr, "%s:%d: ", base ? base + 1 : file, line);
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  if (++test_failures >= 20) {
    fprintf(stderr, "too many failures\n");
    exit(1);
  }
}

_Noreturn void test_skip(const char *reason) {
  printf("skipped: %s\n", reason);
  exit(SKIPPED);
}

static bool is_wanted(const test_case *t, int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], t->name) == 0) return true;
  return argc == 1;
}

// All cases, or those that are named.
int main(int argc, char **argv) {
  int run = 0;
  for (test_case *t = test_first; t; t = t->next) {
    if (!is_wanted(t, argc, argv)) continue;
    run++;
    t->run();
  }
  if (run == 0 || (argc > 1 && run != argc - 1)) {
    fprintf(stderr, "no such test\n");
    return 2;
  }
  if (argc != 2) printf("%d cases, %d failures\n", run, test_failures);
  return test_failures ? 1 : 0;
}
