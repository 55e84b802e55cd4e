// Problem files from anywhere: whatever is read must also be solved or refused, within the solvers' own limits of work.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "carom/lcp_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void solve(const carom_mlcp_problem *p, carom_lcp_method method) {
  double *z = calloc((size_t)p->n + 1, sizeof(double)), *w = calloc((size_t)p->n + 1, sizeof(double));
  carom_lcp_options options = carom_lcp_default_options();
  carom_lcp_info info;
  carom_mlcp_work *work;
  options.method = method;
  if (carom_mlcp_work_create(p->n, NULL, &work, NULL) == CAROM_OK &&
      carom_mlcp_solve(work, p, &options, &(carom_mlcp_solution){z, w, NULL}, &info, NULL) == CAROM_OK &&
      info.outcome == CAROM_LCP_SOLVED) {
    double most = 1;
    for (int i = 0; i < p->n; i++) most = fmax(most, fabs(p->q[i]));
    if (!(info.residual <= 1e-10 * most)) abort();  // "solved" must mean it
  }
  carom_mlcp_work_destroy(work);
  free(z), free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  carom_lcp_set *set;
  if (carom_lcp_set_parse(&(carom_bytes){"fuzz", data, size}, NULL, &set, NULL) != CAROM_OK) return 0;
  for (int i = 0; i < carom_lcp_set_count(set) && i < 3; i++) {
    carom_mlcp_problem p = carom_lcp_set_problem(set, i);
    if (p.n > 100) continue;
    solve(&p, CAROM_LCP_AUTO);
    solve(&p, CAROM_LCP_PGS);
  }
  carom_lcp_set_destroy(set);
  return 0;
}
