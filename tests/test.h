// A small test runner: TEST(name) { ... } in any tests/test_*.c. CMake reads the names out of the sources and runs
// each case in a process of its own; `test_foo` alone runs all cases of the file, `test_foo name` runs one.
#ifndef CAROM_TEST_H
#define CAROM_TEST_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct test_case {
  const char *name;
  void (*run)(void);
  struct test_case *next;
} test_case;

extern test_case *test_first;
extern int test_failures;

__attribute__((format(printf, 3, 4))) void test_fail(const char *file, int line, const char *format, ...);
_Noreturn void test_skip(const char *reason);  // ends the process; CTest counts the case as skipped

#define TEST(name)                                                      \
  static void test_run_##name(void);                                    \
  static test_case test_case_##name = {#name, test_run_##name, NULL};   \
  __attribute__((constructor)) static void test_register_##name(void) { \
    test_case_##name.next = test_first;                                 \
    test_first = &test_case_##name;                                     \
  }                                                                     \
  static void test_run_##name(void)

#define CHECK(condition)                                               \
  do {                                                                 \
    if (!(condition)) test_fail(__FILE__, __LINE__, "%s", #condition); \
  } while (0)
// Ends the case at once: for what later lines rest on.
#define REQUIRE(condition)                             \
  do {                                                 \
    if (!(condition)) {                                \
      test_fail(__FILE__, __LINE__, "%s", #condition); \
      return;                                          \
    }                                                  \
  } while (0)
#define CHECK_NEAR(value, expected, tolerance)                                                                         \
  do {                                                                                                                 \
    double v_ = (value), e_ = (expected), t_ = (tolerance);                                                            \
    if (!(fabs(v_ - e_) <= t_))                                                                                        \
      test_fail(__FILE__, __LINE__, "%s = %.17g, expected %.17g within %g, off by %.3g", #value, v_, e_, t_, v_ - e_); \
  } while (0)
#define CHECK_AT_MOST(value, bound)                                                                    \
  do {                                                                                                 \
    double v_ = (value), b_ = (bound);                                                                 \
    if (!(v_ <= b_)) test_fail(__FILE__, __LINE__, "%s = %.17g, expected at most %g", #value, v_, b_); \
  } while (0)
#define CHECK_TEXT(value, expected)                                                                  \
  do {                                                                                               \
    const char *v_ = (value), *e_ = (expected);                                                      \
    if (!v_ || strcmp(v_, e_) != 0)                                                                  \
      test_fail(__FILE__, __LINE__, "%s = \"%s\", expected \"%s\"", #value, v_ ? v_ : "(null)", e_); \
  } while (0)
#define CHECK_CONTAINS(value, part)                                                              \
  do {                                                                                           \
    const char *v_ = (value), *p_ = (part);                                                      \
    if (!v_ || !strstr(v_, p_))                                                                  \
      test_fail(__FILE__, __LINE__, "%s = \"%s\" lacks \"%s\"", #value, v_ ? v_ : "(null)", p_); \
  } while (0)

#endif
