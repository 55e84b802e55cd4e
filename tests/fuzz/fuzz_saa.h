// What both fuzzers of stochastic programs do with a file.
#ifndef CAROM_TESTS_FUZZ_SAA_H
#define CAROM_TESTS_FUZZ_SAA_H

#include <math.h>

#include "carom/saa_file.h"
#include "fuzz_files.h"

// Where a line "---" stands, from `from` on; `size` for none.
static inline size_t fuzz_mark(const uint8_t *data, size_t size, size_t from) {
  for (size_t i = from; i + 5 <= size; i++)
    if (memcmp(data + i, "\n---\n", 5) == 0) return i;
  return size;
}

static inline void fuzz_solve(const carom_saa_file *file) {
  const carom_saa_problem *p = &file->model.problem;
  carom_saa_options options = carom_saa_default_options();
  carom_saa_answer *answer = NULL;
  carom_saa_set set = file->scenarios;
  options.threads = 1, options.max_iterations = 30;
  if (set.count > 5) set.count = 5;
  if (set.count < 1 || p->n > 50 || p->m > 50 || p->rows > 50 || p->first_rows > 50 || p->mean_rows > 50) return;
  carom_status status = carom_saa_solve(p, &set, &options, NULL, &answer, NULL);
  if ((status == CAROM_OK) != (answer != NULL)) abort();
  if (answer && answer->outcome == CAROM_SAA_SOLVED && !(answer->residual < 1e-3)) abort();
  carom_saa_answer_destroy(answer);
}

static inline void fuzz_read_saa(const char *path) {
  carom_saa_file *file = NULL;
  carom_diagnostics diagnostics = {0};
  carom_status status = carom_saa_read(path, NULL, NULL, &file, &diagnostics);
  if ((status == CAROM_OK) != (file != NULL) || (status == CAROM_ERR_SCENE && diagnostics.error_count == 0)) abort();
  if (file) {
    double *values = calloc((size_t)file->model.problem.random_count + 1, sizeof *values);
    carom_random random = carom_random_make(1, 1);
    for (int i = 0; values && i < 3; i++) file->model.draw(file->model.context, &random, values);
    free(values);
    fuzz_solve(file);
  }
  carom_saa_file_destroy(file);
  carom_diagnostics_release(&diagnostics);
}

#endif
