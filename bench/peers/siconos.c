// Siconos numerics: its lexicographic Lemke and its Newton-min method with line search on Fischer-Burmeister's
// function.
#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <fcntl.h>
#include <lcp_cst.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lcp.h"

typedef struct work {
  SolverOptions *options;
  double *w;
  int saved[2];  // standard output and error, silenced from creation to destruction
} work;

// It reports every singular matrix on standard output; with thousands of lines those would be timed as well.
static void mute(int saved[2]) {
  int nowhere = open("/dev/null", O_WRONLY);
  fflush(stdout);
  for (int i = 0; i < 2; i++) saved[i] = dup(i + 1), dup2(nowhere, i + 1);
  close(nowhere);
}

static void unmute(const int saved[2]) {
  fflush(stdout);
  for (int i = 0; i < 2; i++) dup2(saved[i], i + 1), close(saved[i]);
}

static void *create(int n, int solver, int iterations) {
  work *s = calloc(1, sizeof *s);
  mute(s->saved);
  s->options = solver_options_create(solver);
  s->options->iparam[SICONOS_IPARAM_MAX_ITER] = iterations;
  s->options->dparam[SICONOS_DPARAM_TOL] = 1e-10;
  s->w = calloc((size_t)n, sizeof(double));
  return s;
}

static void *create_lemke(int n) { return create(n, SICONOS_LCP_LEMKE, 50 * n); }
static void *create_newton(int n) { return create(n, SICONOS_LCP_NEWTON_MIN_FBLSA, 200); }

static void destroy(void *context) {
  work *s = context;
  unmute(s->saved);
  solver_options_delete(s->options);
  free(s->options);
  free(s->w);
  free(s);
}

static void solve(void *context, int n, double *M, double *q, double *z, int *iterations,
                  void (*method)(LinearComplementarityProblem *, double *, double *, int *, SolverOptions *)) {
  work *s = context;
  int info = 0;
  NumericsMatrix matrix;
  NM_null(&matrix);
  NM_fill(&matrix, NM_DENSE, n, n, M);
  LinearComplementarityProblem problem = {n, &matrix, q};
  memset(z, 0, sizeof(double) * (size_t)n);
  memset(s->w, 0, sizeof(double) * (size_t)n);
  method(&problem, z, s->w, &info, s->options);
  *iterations = s->options->iparam[SICONOS_IPARAM_ITER_DONE];
}

static void solve_lemke(void *work_, int n, double *M, double *q, double *z, int *iterations) {
  solve(work_, n, M, q, z, iterations, lcp_lexicolemke);
}

static void solve_newton(void *work_, int n, double *M, double *q, double *z, int *iterations) {
  solve(work_, n, M, q, z, iterations, lcp_newton_minFB);
}

const bench_lcp_solver bench_siconos_lemke = {"Siconos Lemke", BENCH_SICONOS, 480,    "minutes beyond that",
                                              create_lemke,    solve_lemke,   destroy};
const bench_lcp_solver bench_siconos_newton = {"Siconos Newton-min", BENCH_SICONOS, 480,    "minutes beyond that",
                                               create_newton,        solve_newton,  destroy};
