// Broken problems of motion planning: tests/data/bad_plans/NAME.yaml must give exactly the lines of NAME.expected.
#include <dirent.h>

#include "carom/plan.h"
#include "test.h"

#define FOLDER CAROM_TEST_DATA "/bad_plans/"

static void read_text(const char *path, char *text, size_t size) {
  FILE *f = fopen(path, "rb");
  text[f ? fread(text, 1, size - 1, f) : 0] = '\0';
  if (f) fclose(f);
}

// All findings, one a line, without the folder of the test data.
static void format_all(const carom_diagnostics *d, char *text, size_t size) {
  text[0] = '\0';
  for (int i = 0; i < d->count; i++) {
    char line[2000];
    carom_diagnostic_format(&d->items[i], line, sizeof line);
    for (char *at; (at = strstr(line, FOLDER));) memmove(at, at + strlen(FOLDER), strlen(at + strlen(FOLDER)) + 1);
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%s\n", line);
  }
}

static void check_problem(const char *name) {
  char path[4000], expected[8000], got[8000];
  snprintf(path, sizeof path, FOLDER "%.*s.expected", (int)(strlen(name) - 5), name);
  read_text(path, expected, sizeof expected);
  snprintf(path, sizeof path, FOLDER "%s", name);
  carom_plan_file *file = NULL;
  carom_diagnostics found = {0};
  carom_status status = carom_plan_read(path, NULL, NULL, &file, &found);
  format_all(&found, got, sizeof got);
  if (status == CAROM_OK || file) test_fail(__FILE__, __LINE__, "%s was read", name);
  if (strcmp(got, expected) != 0) test_fail(__FILE__, __LINE__, "%s gave\n%sexpected\n%s", name, got, expected);
  carom_plan_file_destroy(file);
  carom_diagnostics_release(&found);
}

TEST(all_broken_problems) {
  DIR *folder = opendir(FOLDER);
  REQUIRE(folder);
  int count = 0;
  for (struct dirent *e; (e = readdir(folder));) {
    size_t n = strlen(e->d_name);
    if (n < 6 || strcmp(e->d_name + n - 5, ".yaml") != 0) continue;
    check_problem(e->d_name);
    count++;
  }
  closedir(folder);
  CHECK(count >= 20);
}
