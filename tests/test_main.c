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

int main(int argc, char **argv) {
  int run = 0;
  for (test_case *t = test_first; t; t = t->next) {
    if (argc > 1 && strcmp(argv[1], t->name) != 0) continue;
    run++;
    t->run();
  }
  if (run == 0) {
    fprintf(stderr, "no such test\n");
    return 2;
  }
  if (argc == 1) printf("%d cases, %d failures\n", run, test_failures);
  return test_failures ? 1 : 0;
}
