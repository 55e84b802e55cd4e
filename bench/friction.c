// Problems of Coulomb friction, side by side: files given on the command line, or piles made to order; each solver runs
// in a process of its own, since some crash or come to no end.
// usage: carom_bench_friction [--piles N] [--largest CONTACTS] [--limit S] [--repeat N] [--json FILE] [FILE ...]
#include "friction.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "carom/carom.h"
#include "friction_samples.h"

static const double GOAL = 1e-9;  // of the natural map over the largest |q|

typedef struct options {
  int piles, largest, repeat;
  double limit;  // s, for all tolerances of a solver
  const char *json;
} options;

// ---- Carom ----------------------------------------------------------------------------------------------------------

static void *carom_create(const carom_friction_problem *problem) { return (void *)(uintptr_t)problem; }

static void carom_solve(void *work, double tolerance, double *r) {
  const carom_friction_problem *p = work;
  carom_friction_options o = carom_friction_default_options();
  o.tolerance = tolerance;
  double *u = malloc((size_t)(p->dimension * p->contact_count) * sizeof *u);
  if (carom_friction_solve(p, &o, &(carom_friction_solution){r, u, NULL}, NULL, NULL, NULL) != CAROM_OK) exit(1);
  free(u);
}

static void carom_destroy(void *work) { (void)work; }

static const bench_friction_solver bench_friction_carom = {"Carom", NULL, 12, carom_create, carom_solve, carom_destroy};

static const bench_friction_solver *const solvers[] = {
    &bench_friction_carom,
#ifdef BENCH_SICONOS
    &bench_siconos_nsgs,   &bench_siconos_nsn_ac, &bench_siconos_admm, &bench_siconos_plane,
#endif
};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

// ---- the judge ------------------------------------------------------------------------------------------------------

static double judge(const carom_friction_problem *p, const double *r) {
  int d = p->dimension, size = d * p->contact_count;
  double *u = malloc((size_t)size * sizeof *u), scale = 0;
  for (int i = 0; i < size; i++) u[i] = p->q[i], scale = fmax(scale, fabs(p->q[i]));
  for (int i = 0; i < p->contact_count; i++)
    for (int k = p->start[i]; k < p->start[i + 1]; k++)
      for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++) u[d * i + a] += p->W[d * d * k + a + d * b] * r[d * p->column[k] + b];
  double residual = carom_friction_residual(p, r, u, NULL);
  free(u);
  return scale > 0 ? residual / scale : residual;
}

// All solve the symmetric part of W.
static void make_symmetric(carom_friction_problem *p, double *W) {
  int d = p->dimension;
  for (int i = 0; i < p->contact_count; i++)
    for (int k = p->start[i]; k < p->start[i + 1]; k++)
      for (int l = p->start[p->column[k]]; l < p->start[p->column[k] + 1]; l++)
        if (p->column[l] == i)
          for (int a = 0; a < d; a++)
            for (int b = 0; b < d; b++)
              W[d * d * k + a + d * b] = 0.5 * (p->W[d * d * k + a + d * b] + p->W[d * d * l + b + d * a]);
  p->W = W;
}

// ---- measuring ------------------------------------------------------------------------------------------------------

typedef struct figure {
  double seconds, residual;  // of the first tolerance that reached the goal; else of the best
  bool solved;
} figure;

static figure measure(const bench_friction_solver *solver, const carom_friction_problem *p, int repeat) {
  double *r = calloc((size_t)(p->dimension * p->contact_count) + 1, sizeof *r);
  void *work = solver->create(p);
  figure best = {INFINITY, INFINITY, false};
  for (double tolerance = GOAL; tolerance > 5e-15 && !best.solved; tolerance *= 0.1) {
    figure f = {INFINITY, INFINITY, false};
    for (int i = 0; i < repeat; i++) {
      double begin = carom_clock();
      solver->solve(work, tolerance, r);
      f.seconds = fmin(f.seconds, carom_clock() - begin);
    }
    f.residual = judge(p, r);
    f.solved = f.residual <= GOAL;
    if (f.solved || f.residual < best.residual || !isfinite(best.residual)) best = f;
  }
  solver->destroy(work);
  free(r);
  return best;
}

static figure measure_apart(const bench_friction_solver *solver, const carom_friction_problem *p, const options *o) {
  figure f = {INFINITY, INFINITY, false};
  int ends[2], status;
  fflush(stdout);
  if (pipe(ends) != 0) exit(1);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    f = measure(solver, p, o->repeat);
    _exit(write(ends[1], &f, sizeof f) == sizeof f ? 0 : 1);
  }
  close(ends[1]);
  struct pollfd wait = {ends[0], POLLIN, 0};
  if (poll(&wait, 1, (int)(1e3 * o->limit)) <= 0) kill(child, SIGKILL);
  if (read(ends[0], &f, sizeof f) != sizeof f) f = (figure){INFINITY, INFINITY, false};
  close(ends[0]);
  waitpid(child, &status, 0);
  return f;
}

static void record(bench_log *log, const char *name, const carom_friction_problem *p,
                   const bench_friction_solver *solver, const figure *f) {
  bench_log_begin(log, "friction");
  bench_log_text(log, "problem", name);
  bench_log_number(log, "contacts", p->contact_count);
  bench_log_text(log, "solver", solver->name);
  bench_log_text(log, "version", solver->version ? solver->version : carom_version());
  bench_log_number(log, "seconds", f->seconds);
  bench_log_number(log, "residual", f->residual);
  bench_log_number(log, "solved", f->solved);
  bench_log_end(log);
}

typedef struct tally {
  int problems, solved, ahead, within_twice, unmatched;
} tally;

static void compare(const char *name, carom_friction_problem p, const options *o, bench_log *log, tally *t) {
  double *W = malloc((size_t)(p.dimension * p.dimension) * (size_t)(p.start[p.contact_count] + 1) * sizeof *W);
  double ours = INFINITY, theirs = INFINITY;
  make_symmetric(&p, W);
  printf("%-34.34s %5d", name, p.contact_count);
  for (int k = 0; k < SOLVERS; k++) {
    if (!(solvers[k]->dimensions >> p.dimension & 1)) continue;
    figure f = measure_apart(solvers[k], &p, o);
    printf("  %s %9.3f ms %.0e%s", k ? strchr(solvers[k]->name, ' ') + 1 : "Carom", 1e3 * f.seconds, f.residual,
           f.solved ? "" : " (not solved)");
    fflush(stdout);
    record(log, name, &p, solvers[k], &f);
    double *best = k ? &theirs : &ours;
    if (f.solved) *best = fmin(*best, f.seconds);
  }
  printf("  ratio %.2f\n", theirs / ours);
  t->problems++, t->solved += isfinite(ours), t->ahead += ours < theirs, t->within_twice += ours < 2 * theirs;
  t->unmatched += isfinite(ours) && !isfinite(theirs);
  free(W);
}

// ---- the problems ---------------------------------------------------------------------------------------------------

static bool file(const char *path, const options *o, bench_log *log, tally *t) {
  carom_friction_file *file;
  carom_error error;
  if (carom_friction_file_read(path, NULL, &file, &error) != CAROM_OK) {
    fprintf(stderr, "carom_bench_friction: %s\n", error.message);
    return false;
  }
  const char *slash = strrchr(path, '/');
  compare(slash ? slash + 1 : path, carom_friction_file_problem(file), o, log, t);
  carom_friction_file_destroy(file);
  return true;
}

static void piles(const options *o, bench_log *log, tally *t) {
  for (int i = 0; i < o->piles; i++) {
    char name[40];
    friction_pile pile = friction_pile_of_series(i, o->largest);
    friction_sample s = friction_sample_pile(&pile);
    snprintf(name, sizeof name, "pile %d", i);
    compare(name, s.problem, o, log, t);
    friction_sample_free(&s);
  }
}

static bool option(int argc, char **argv, int *i, const char *name, const char **value) {
  if (strcmp(argv[*i], name) != 0 || *i + 1 >= argc) return false;
  *value = argv[++*i];
  return true;
}

int main(int argc, char **argv) {
  options o = {.piles = 20, .largest = 600, .repeat = 3, .limit = 20};
  const char *files[100], *text = NULL;
  int count = 0;
  for (int i = 1; i < argc; i++) {
    if (option(argc, argv, &i, "--piles", &text))
      o.piles = atoi(text);
    else if (option(argc, argv, &i, "--largest", &text))
      o.largest = atoi(text);
    else if (option(argc, argv, &i, "--repeat", &text))
      o.repeat = atoi(text) < 1 ? 1 : atoi(text);
    else if (option(argc, argv, &i, "--limit", &text))
      o.limit = atof(text);
    else if (option(argc, argv, &i, "--json", &o.json))
      continue;
    else if (count < 100)
      files[count++] = argv[i];
  }
  bench_log log;
  tally t = {0};
  if (!bench_log_open(&log, o.json ? o.json : "bench-results.jsonl", "friction")) return 1;
  if (SOLVERS == 1) printf("(Siconos is not here: install libsiconos-numerics-dev to compare)\n");
  bool good = true;
  for (int i = 0; i < count; i++) good &= file(files[i], &o, &log, &t);
  if (count == 0) piles(&o, &log, &t);
  printf("%d problems: Carom solves %d to %.0e, %d of them alone; ahead of the best peer on %d, within twice on %d\n",
         t.problems, t.solved, GOAL, t.unmatched, t.ahead, t.within_twice);
  bench_log_close(&log);
  return good ? 0 : 1;
}
