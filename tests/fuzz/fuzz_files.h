// Inputs for readers that want files: in a folder of the process's own, which is the working directory.
#ifndef CAROM_TESTS_FUZZ_FILES_H
#define CAROM_TESTS_FUZZ_FILES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void fuzz_folder(void) {
  static char name[] = "/tmp/carom-fuzz-XXXXXX";
  static int made;
  if (made++) return;
  if (!mkdtemp(name) || chdir(name) != 0) abort();
}

static inline void fuzz_put(const char *name, const void *data, size_t size) {
  FILE *out = fopen(name, "wb");
  if (!out || fwrite(data, 1, size, out) != size || fclose(out) != 0) abort();
}

static inline void fuzz_put_text(const char *name, const char *text) { fuzz_put(name, text, strlen(text)); }

#endif
