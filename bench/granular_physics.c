// Laws of granular matter in figures: Janssen's silo, Beverloo's outlet, the angle of repose. Table to stdout, JSON to
// the file named by the second argument. First argument: janssen, beverloo, repose or all.
#include <string.h>

#include "granular_physics.h"

static void janssen(FILE *json) {
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
  if (json) fprintf(json, "\"janssen\": {\"saturation_kg\": %.6g, \"deviation\": %.6g}", saturation, worst);
}

static void beverloo(FILE *json, double h) {
  const double ratios[] = {5, 6, 7, 8, 9};
  enum { POINTS = sizeof ratios / sizeof *ratios };
  double D[POINTS], W[POINTS];
  gp_outlet o = {.count = 3000, .r = 0.02, .R = 0.32, .mu = 0.3, .h = h, .begin = 0.8, .end = 2.8, .seed = 4};
  for (int i = 0; i < POINTS; i++) {
    o.D = D[i] = ratios[i] * 2 * o.r;
    W[i] = gp_discharge(&o);
    printf("beverloo: h = %g ms, D/d = %g: %.1f grains a second, C = %.3f\n", 1e3 * h, ratios[i], W[i],
           W[i] * 4 / 3 * GP_PI * pow(o.r, 3) / (0.6 * sqrt(GP_G) * pow(D[i] - 2.8 * o.r, 2.5)));
    fflush(stdout);
  }
  for (double k = 0.8; k < 2.1; k += 0.2)
    printf("beverloo: exponent %.3f with k = %.1f\n", gp_beverloo_exponent(D, W, POINTS, k * 2 * o.r), k);
  if (json) fprintf(json, "\"beverloo\": {\"exponent\": %.6g}", gp_beverloo_exponent(D, W, POINTS, 2.8 * o.r));
}

static void repose(FILE *json) {
  const double mu[] = {0.1, 0.2, 0.3, 0.5, 0.8};
  gp_drum d = gp_large_drum();
  for (int i = 0; i < 5; i++) {
    d.mu = mu[i];
    gp_repose angle = gp_tumble(&d);
    printf("repose: mu = %.1f: %.1f degrees by the bed, %.1f by the torque\n", d.mu, angle.surface, angle.torque);
    fflush(stdout);
    if (json)
      fprintf(json, "%s{\"mu\": %g, \"degrees\": %.6g}%s", i ? ", " : "\"repose\": [", mu[i], angle.surface,
              i == 4 ? "]" : "");
  }
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "all";
  bool all = strcmp(what, "all") == 0;
  FILE *json = argc > 2 ? fopen(argv[2], "w") : NULL;
  if (json) fprintf(json, "{");
  if (all || strcmp(what, "janssen") == 0) janssen(json);
  if (json && all) fprintf(json, ", ");
  if (all || strcmp(what, "beverloo") == 0) beverloo(json, 0.001);
  if (json && all) fprintf(json, ", ");
  if (all || strcmp(what, "repose") == 0) repose(json);
  if (json) fprintf(json, "}\n"), fclose(json);
  return 0;
}
