// Friction problems as text from anywhere: whatever is read must also be solved, refused or given up within the
// solver's own limits of work. (HDF5 itself is looked at by fuzz_result.)
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "carom/friction_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void solve(const carom_friction_problem *p) {
  size_t n = (size_t)p->contact_count + 1, rows = n * (size_t)p->dimension;
  double *r = calloc(rows, sizeof *r), *u = calloc(rows, sizeof *u), *c = calloc(n, sizeof *c);
  carom_friction_options options = carom_friction_default_options();
  carom_friction_info info;
  options.max_sweeps = 200, options.max_steps = 60;
  if (carom_friction_solve(p, &options, &(carom_friction_solution){r, u, c}, NULL, &info, NULL) == CAROM_OK &&
      info.outcome == CAROM_FRICTION_SOLVED && !(info.residual <= options.tolerance * info.velocity_scale))
    abort();  // "solved" must mean it
  free(r), free(u), free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  carom_friction_file *file;
  if (size > 0 && data[0] == 0x89) return 0;
  if (carom_friction_file_parse(&(carom_bytes){"fuzz", data, size}, NULL, &file, NULL) != CAROM_OK) return 0;
  carom_friction_problem p = carom_friction_file_problem(file);
  if (p.contact_count <= 60) solve(&p);
  carom_friction_file_destroy(file);
  return 0;
}
