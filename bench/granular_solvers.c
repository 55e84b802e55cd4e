// One kinetic-energy curve: a pebble bed is filled and comes to rest, its contacts solved by every method in turn.
// Tells how far the curves are apart while the pebbles move, and the worst duality gap of any step.
#include "bench.h"
#include "pebbles.h"

enum { MOST_STEPS = 4 };

typedef struct options {
  const char *json, *solver;
  double step[MOST_STEPS], seconds, tolerance, limit;
  int step_count, pebbles;
} options;

static const double SHARES[] = {0.5, 0.1, 0.01};  // of the peak
enum { SHARE_COUNT = sizeof SHARES / sizeof *SHARES };

static void print_row(const char *solver, const pebble_run *run, const pebble_run *base, double h, int steps) {
  printf("%-10s %8.2f %10d %10.2e %10.2e", solver, run->seconds, run->iterations, run->residual, run->gap);
  for (int k = 0; k < SHARE_COUNT; k++) printf(" %9.2e", pebbles_difference(run, base, SHARES[k]));
  printf(" %10.4g %10.3g", pebbles_peak(run), run->energy[run->steps - 1]);
  if (run->steps < steps) printf("  (ended by the limit at t = %g s)", run->steps * h);
  printf("\n");
  fflush(stdout);
}

static void log_row(bench_log *log, const options *o, double h, const char *solver, const pebble_run *run,
                    const pebble_run *base) {
  bench_log_begin(log, "pebbles");
  bench_log_text(log, "solver", solver);
  bench_log_number(log, "pebbles", o->pebbles);
  bench_log_number(log, "step", h);
  bench_log_number(log, "tolerance", o->tolerance);
  bench_log_number(log, "seconds", run->seconds);
  bench_log_number(log, "iterations", run->iterations);
  bench_log_number(log, "residual", run->residual);
  bench_log_number(log, "duality_gap", run->gap);
  bench_log_number(log, "difference_above_half", pebbles_difference(run, base, 0.5));
  bench_log_number(log, "difference_above_tenth", pebbles_difference(run, base, 0.1));
  bench_log_number(log, "difference_above_hundredth", pebbles_difference(run, base, 0.01));
  bench_log_number(log, "steps", run->steps);
  bench_log_number(log, "kinetic_peak", pebbles_peak(run));
  bench_log_number(log, "kinetic_end", run->energy[run->steps - 1]);
  bench_log_end(log);
}

// Kinetic energies side by side, about twenty times.
static void print_curves(const pebble_run *runs, const char *const *names, int count, double h) {
  printf("\n%8s", "t (s)");
  for (int k = 0; k < count; k++) printf(" %11s", names[k]);
  printf("   kinetic energy (J)\n");
  int steps = runs[0].steps, stride = steps > 20 ? steps / 20 : 1;
  for (int i = stride - 1; i < steps; i += stride) {
    printf("%8.3f", (i + 1) * h);
    for (int k = 0; k < count; k++) printf(" %11.5g", i < runs[k].steps ? runs[k].energy[i] : (double)NAN);
    printf("\n");
  }
}

static bool run_step(const options *o, double h, bench_log *log) {
  pebble_run runs[PEBBLE_SOLVERS] = {{0}};
  const char *names[PEBBLE_SOLVERS];
  int count = 0, steps = (int)round(o->seconds / h);
  bool good = true;
  printf("\n%d pebbles, h = %g s, %d steps, tolerance %g (residual and relative duality gap)\n\n", o->pebbles, h, steps,
         o->tolerance);
  printf("%-10s %8s %10s %10s %10s %9s %9s %9s %10s %10s\n", "solver", "time (s)", "iterations", "residual", "gap",
         "E > 1/2", "E > 1/10", "E > 1/100", "peak (J)", "end (J)");
  for (int k = 0; k < PEBBLE_SOLVERS; k++) {
    if (o->solver && !strstr(o->solver, pebble_solvers[k])) continue;
    pebble_job job = {o->pebbles, steps, pebble_solvers[k], o->tolerance, h, o->limit};
    bool ran = pebbles_fall(&job, &runs[count]);
    if (!ran || runs[count].steps == 0) {
      printf("%-10s %s\n", pebble_solvers[k], ran ? "no step within the limit" : runs[count].message);
      free(runs[count].energy);
      continue;
    }
    names[count] = pebble_solvers[k];
    print_row(names[count], &runs[count], &runs[0], h, steps);
    log_row(log, o, h, names[count], &runs[count], &runs[0]);
    good = good && runs[count].gap <= o->tolerance;
    count++;
  }
  if (count > 0) printf("\nLess than 1/100 of the peak is left from t = %g s\n", pebbles_stop(&runs[0], h, 0.01));
  if (count > 0) print_curves(runs, names, count, h);
  for (int k = 0; k < count; k++) free(runs[k].energy);
  return good;
}

static bool parse_steps(options *o, const char *text) {
  o->step_count = 0;
  for (char *end; *text && o->step_count < MOST_STEPS; text = *end == ',' ? end + 1 : end) {
    double h = strtod(text, &end);
    if (end == text || !(h > 0)) return false;
    o->step[o->step_count++] = h;
  }
  return o->step_count > 0;
}

static bool parse(options *o, int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *key = argv[i], *value = argv[i + 1];
    if (strcmp(key, "--json") == 0)
      o->json = value;
    else if (strcmp(key, "--solver") == 0)
      o->solver = value;
    else if (strcmp(key, "--seconds") == 0)
      o->seconds = atof(value);
    else if (strcmp(key, "--pebbles") == 0)
      o->pebbles = atoi(value);
    else if (strcmp(key, "--tolerance") == 0)
      o->tolerance = atof(value);
    else if (strcmp(key, "--limit") == 0)
      o->limit = atof(value);
    else if (strcmp(key, "--steps") != 0 || !parse_steps(o, value))
      return false;
  }
  return argc % 2 == 1 && o->seconds > 0 && o->pebbles > 0 && o->tolerance > 0 && o->limit > 0;
}

int main(int argc, char **argv) {
  options o = {.json = "bench-results.jsonl", .step = {0.01, 0.05}, .step_count = 2, .pebbles = 800};
  o.seconds = 0.5, o.tolerance = 1e-4, o.limit = 120;
  if (!parse(&o, argc, argv)) {
    printf(
        "usage: %s [--json FILE] [--pebbles N] [--steps H,...] [--seconds T] [--tolerance E] [--limit S] "
        "[--solver NAME,...]\n",
        argv[0]);
    return 2;
  }
  bench_log log;
  if (!bench_log_open(&log, o.json, "granular_solvers")) fprintf(stderr, "%s cannot be written\n", o.json);
  char cpu[128];
  bench_cpu_model(cpu);
  printf("A pebble bed comes to rest, by several contact solvers; %s; %s\n", cpu, bench_compiler());
  bool good = true;
  for (int k = 0; k < o.step_count; k++) good = run_step(&o, o.step[k], &log) && good;
  printf(
      "\nE > 1/10: largest |E - E_first| / E_first over the steps at which more than a tenth of the peak kinetic "
      "energy "
      "is left.\nDuality gap at every step: %s\n",
      good ? "within the tolerance" : "ABOVE THE TOLERANCE");
  bench_log_close(&log);
  return good ? 0 : 1;
}
