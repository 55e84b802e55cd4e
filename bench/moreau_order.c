// The order of the alpha-family on a double pendulum, alone and with its tip hitting a wall, against a Runge-Kutta
// integration in minimal coordinates whose impacts are found by bisection.
#include <string.h>

#include "bench.h"
#include "double_pendulum.h"

enum { STEPS = 6 };

typedef struct row {
  const char *integrator;
  double alpha, wall, e;
  const char *what;
} row;

static void measure(const row *r, bench_log *log) {
  double h[STEPS], error[STEPS];
  printf("%-8s %5.2g  %-22s", r->integrator, r->alpha, r->what);
  for (int i = 0; i < STEPS; i++) {
    h[i] = 4e-3 / (1 << i);
    error[i] = pendulum_error(r->integrator, r->alpha, h[i], 1, r->wall, r->e);
    printf(" %9.2e", error[i]);
    bench_log_begin(log, "order");
    bench_log_text(log, "integrator", r->integrator);
    bench_log_text(log, "case", r->what);
    bench_log_number(log, "alpha", r->alpha);
    bench_log_number(log, "h", h[i]);
    bench_log_number(log, "error", error[i]);
    bench_log_end(log);
  }
  printf("   %5.2f\n", bench_fit_exponent(STEPS, h, error));
}

int main(int count, char **arguments) {
  const row rows[] = {{"moreau", 1, INFINITY, 0, "no wall"},    {"moreau", 0.5, INFINITY, 0, "no wall"},
                      {"index2", 0.5, INFINITY, 0, "no wall"},  {"index3", 0.5, INFINITY, 0, "no wall"},
                      {"moreau", 1, 0.5, 0.5, "wall, e = 0.5"}, {"moreau", 0.5, 0.5, 0.5, "wall, e = 0.5"},
                      {"moreau", 1, 0.5, 0, "wall, e = 0"},     {"moreau", 0.5, 0.5, 0, "wall, e = 0"}};
  const char *json = "bench-results.jsonl";
  if (count == 3 && strcmp(arguments[1], "--json") == 0)
    json = arguments[2];
  else if (count > 1)
    return printf("usage: %s [--json FILE]\n", arguments[0]), 2;
  bench_log log;
  if (!bench_log_open(&log, json, "moreau_order")) fprintf(stderr, "%s cannot be written\n", json);
  printf(
      "Error of the tip after 1 s, m (the wall is hit at 0.80 s), for steps of 4 ms / 1, 2, 4, ..., 32, and the order "
      "fitted to them.\n\n");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) measure(&rows[i], &log);
  bench_log_close(&log);
  return 0;
}
