// Broken problem files: every NAME.yaml of a folder must give exactly the lines of NAME.expected beside it.
#ifndef CAROM_TESTS_BAD_FILES_H
#define CAROM_TESTS_BAD_FILES_H

#include <dirent.h>

#include "carom/scene.h"
#include "test.h"

// Reads a file, whose object it destroys; true when it was read.
typedef bool bad_file_reader(const char *path, carom_diagnostics *found);

static inline void bad_read_text(const char *path, char *text, size_t size) {
  FILE *f = fopen(path, "rb");
  text[f ? fread(text, 1, size - 1, f) : 0] = '\0';
  if (f) fclose(f);
}

// All findings, one a line, without the folder of the test data.
static inline void bad_format_all(const carom_diagnostics *d, const char *folder, char *text, size_t size) {
  text[0] = '\0';
  for (int i = 0; i < d->count; i++) {
    char line[2000];
    carom_diagnostic_format(&d->items[i], line, sizeof line);
    for (char *at; (at = strstr(line, folder));) memmove(at, at + strlen(folder), strlen(at + strlen(folder)) + 1);
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%s\n", line);
  }
}

static inline void bad_check_file(const char *folder, const char *name, bad_file_reader *read) {
  char path[4000], expected[8000], got[8000];
  snprintf(path, sizeof path, "%s%.*s.expected", folder, (int)(strlen(name) - 5), name);
  bad_read_text(path, expected, sizeof expected);
  snprintf(path, sizeof path, "%s%s", folder, name);
  carom_diagnostics found = {0};
  if (read(path, &found)) test_fail(__FILE__, __LINE__, "%s was read", name);
  bad_format_all(&found, folder, got, sizeof got);
  if (strcmp(got, expected) != 0) test_fail(__FILE__, __LINE__, "%s gave\n%sexpected\n%s", name, got, expected);
  carom_diagnostics_release(&found);
}

// The folder ends with a slash. Returns how many files there were.
static inline int bad_check_folder(const char *folder, bad_file_reader *read) {
  DIR *files = opendir(folder);
  int count = 0;
  for (struct dirent *e; files && (e = readdir(files));) {
    size_t n = strlen(e->d_name);
    if (n < 6 || strcmp(e->d_name + n - 5, ".yaml") != 0) continue;
    bad_check_file(folder, e->d_name, read);
    count++;
  }
  if (files) closedir(files);
  return count;
}

#endif
