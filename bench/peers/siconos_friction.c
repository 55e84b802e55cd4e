// Siconos numerics: Gauss-Seidel (NSGS), semismooth Newton on Alart and Curnier's function (NSN-AC) and ADMM, each as
// its authors set it up, on W by sparse blocks.
#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "friction.h"

typedef struct work {
  FrictionContactProblem *problem;
  double *u;
  int size, solver, iterations;
  int saved[2];  // standard output and error, silenced from creation to destruction
} work;

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

static NumericsMatrix *by_blocks(const carom_friction_problem *p) {
  int n = p->contact_count, d = p->dimension;
  NumericsMatrix *M = NM_create(NM_SPARSE_BLOCK, d * n, d * n);
  SparseBlockStructuredMatrix *B = M->matrix1;
  size_t blocks = (size_t)p->start[n], area = (size_t)(d * d);
  B->nbblocks = (unsigned)blocks;
  B->blocknumber0 = B->blocknumber1 = (unsigned)n;
  B->blocksize0 = malloc((size_t)n * sizeof(unsigned)), B->blocksize1 = malloc((size_t)n * sizeof(unsigned));
  for (int i = 0; i < n; i++) B->blocksize0[i] = B->blocksize1[i] = (unsigned)(d * (i + 1));
  B->filled1 = (size_t)n + 1, B->filled2 = blocks;
  B->index1_data = malloc(((size_t)n + 1) * sizeof(size_t)), B->index2_data = malloc(blocks * sizeof(size_t));
  B->block = malloc(blocks * sizeof(double *));
  for (int i = 0; i <= n; i++) B->index1_data[i] = (size_t)p->start[i];
  for (size_t k = 0; k < blocks; k++) {
    B->index2_data[k] = (size_t)p->column[k];
    B->block[k] = malloc(area * sizeof(double));
    memcpy(B->block[k], p->W + area * k, area * sizeof(double));
  }
  return M;
}

static void *create(const carom_friction_problem *p, int solver, int iterations) {
  work *w = calloc(1, sizeof *w);
  w->size = p->dimension * p->contact_count, w->solver = solver, w->iterations = iterations;
  double *q = malloc((size_t)w->size * sizeof *q), *mu = malloc((size_t)p->contact_count * sizeof *mu);
  memcpy(q, p->q, (size_t)w->size * sizeof *q), memcpy(mu, p->mu, (size_t)p->contact_count * sizeof *mu);
  w->problem = frictionContactProblem_new_with_data(p->dimension, p->contact_count, by_blocks(p), q, mu);
  w->u = calloc((size_t)w->size, sizeof *w->u);
  mute(w->saved);
  return w;
}

static void *create_nsgs(const carom_friction_problem *p) { return create(p, SICONOS_FRICTION_3D_NSGS, 100000); }
static void *create_nsn_ac(const carom_friction_problem *p) { return create(p, SICONOS_FRICTION_3D_NSN_AC, 1000); }
static void *create_admm(const carom_friction_problem *p) { return create(p, SICONOS_FRICTION_3D_ADMM, 20000); }
static void *create_plane(const carom_friction_problem *p) { return create(p, SICONOS_FRICTION_2D_NSGS, 100000); }

static void solve(void *context, double tolerance, double *r) {
  work *w = context;
  SolverOptions *options = solver_options_create(w->solver);
  options->iparam[SICONOS_IPARAM_MAX_ITER] = w->iterations;
  options->dparam[SICONOS_DPARAM_TOL] = tolerance;
  memset(r, 0, (size_t)w->size * sizeof *r), memset(w->u, 0, (size_t)w->size * sizeof *w->u);
  if (w->problem->dimension == 2)
    fc2d_driver(w->problem, r, w->u, options);
  else
    fc3d_driver(w->problem, r, w->u, options);
  solver_options_delete(options);
  free(options);
}

static void destroy(void *context) {
  work *w = context;
  unmute(w->saved);
  frictionContactProblem_free(w->problem);
  free(w->u);
  free(w);
}

const bench_friction_solver bench_siconos_nsgs = {"Siconos NSGS", BENCH_SICONOS, 8, create_nsgs, solve, destroy};
const bench_friction_solver bench_siconos_nsn_ac = {"Siconos NSN-AC", BENCH_SICONOS, 8, create_nsn_ac, solve, destroy};
const bench_friction_solver bench_siconos_admm = {"Siconos ADMM", BENCH_SICONOS, 8, create_admm, solve, destroy};
const bench_friction_solver bench_siconos_plane = {"Siconos NSGS 2D", BENCH_SICONOS, 4, create_plane, solve, destroy};
