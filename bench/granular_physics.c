// Laws of granular matter in figures: Janssen's silo, Beverloo's outlet, the angle of repose.
#include "granular_physics.h"

#include <string.h>

#include "bench.h"

static void janssen(bench_log *log) {
  const int counts[] = {150, 300, 600, 1000, 1500, 2000};
  enum { POINTS = sizeof counts / sizeof *counts };
  double M[POINTS], m[POINTS], worst = 0;
  gp_silo s = {.r = 0.02, .R = 0.16, .mu = 0.5, .h = 0.002, .speed = 0.02, .settle = 1.2, .measure = 1.5, .seed = 3};
  double grain = GP_DENSITY * 4 / 3 * GP_PI * s.r * s.r * s.r;
  for (int i = 0; i < POINTS; i++) {
    s.count = counts[i], M[i] = grain * s.count, m[i] = gp_weigh(&s);
    printf("janssen: filled %7.2f kg, on the bottom %7.2f kg\n", M[i], m[i]);
    fflush(stdout);
  }
  double saturation = gp_silo_fit(gp_janssen, M, m, POINTS, &worst);
  double lambda = saturation / (GP_DENSITY * 0.6 * GP_PI * s.R * s.R);
  printf("janssen: saturation %.2f kg, K = %.2f, largest deviation from the law %.1f %%\n", saturation,
         s.R / (2 * s.mu * lambda), 100 * worst);
  bench_log_begin(log, "janssen");
  bench_log_number(log, "saturation_kg", saturation);
  bench_log_number(log, "deviation", worst);
  bench_log_end(log);
}

static void beverloo(bench_log *log) {
  const double ratios[] = {5, 6, 7, 8, 9};
  enum { POINTS = sizeof ratios / sizeof *ratios };
  double D[POINTS], W[POINTS];
  gp_outlet o = {.count = 3000, .r = 0.02, .R = 0.32, .mu = 0.3, .h = 0.001, .begin = 0.8, .end = 2.8, .seed = 4};
  for (int i = 0; i < POINTS; i++) {
    o.D = D[i] = ratios[i] * 2 * o.r;
    W[i] = gp_discharge(&o);
    printf("beverloo: D/d = %g: %.1f grains a second, C = %.3f\n", ratios[i], W[i],
           W[i] * 4 / 3 * GP_PI * pow(o.r, 3) / (0.6 * sqrt(GP_G) * pow(D[i] - 2.8 * o.r, 2.5)));
    fflush(stdout);
  }
  for (double k = 0.8; k < 2.1; k += 0.2)
    printf("beverloo: exponent %.3f with k = %.1f\n", gp_beverloo_exponent(D, W, POINTS, k * 2 * o.r), k);
  bench_log_begin(log, "beverloo");
  bench_log_number(log, "exponent", gp_beverloo_exponent(D, W, POINTS, 2.8 * o.r));
  bench_log_end(log);
}

static void repose(bench_log *log) {
  const double mu[] = {0.1, 0.2, 0.3, 0.5, 0.8};
  gp_drum d = gp_large_drum();
  for (int i = 0; i < 5; i++) {
    d.mu = mu[i];
    gp_repose angle = gp_tumble(&d);
    printf("repose: mu = %.1f: %.1f degrees by the bed, %.1f by the torque\n", d.mu, angle.surface, angle.torque);
    fflush(stdout);
    bench_log_begin(log, "repose");
    bench_log_number(log, "mu", mu[i]);
    bench_log_number(log, "degrees", angle.surface);
    bench_log_number(log, "degrees_by_torque", angle.torque);
    bench_log_end(log);
  }
}

static const struct {
  const char *name;
  void (*run)(bench_log *log);
} LAWS[] = {{"janssen", janssen}, {"beverloo", beverloo}, {"repose", repose}};

int main(int argc, char **argv) {
  const char *json = "bench-results.jsonl", *only = "";
  bool good = argc % 2 == 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--json") == 0)
      json = argv[i + 1];
    else if (strcmp(argv[i], "--only") == 0)
      only = argv[i + 1];
    else
      good = false;
  }
  if (!good) return printf("usage: %s [--only janssen|beverloo|repose] [--json FILE]\n", argv[0]), 2;
  bench_log log;
  if (!bench_log_open(&log, json, "granular_physics")) fprintf(stderr, "%s cannot be written\n", json);
  for (size_t i = 0; i < sizeof LAWS / sizeof *LAWS; i++)
    if (strstr(LAWS[i].name, only)) LAWS[i].run(&log);
  bench_log_close(&log);
  return 0;
}
