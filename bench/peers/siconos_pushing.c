// Siconos numerics: lexicographic Lemke, with the equations of the mixed problem eliminated first. (We did not
// get its drivers of mixed problems to run: SICONOS_MLCP_LCP_LEMKE ended with a segmentation fault, PGS and enumeration
// refused the storage; whether our calls or 4.4.0 are at fault is not known.)
#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <lcp_cst.h>
#include <stdlib.h>
#include <string.h>

#include "pushing.h"

typedef struct work {
  SolverOptions *options;
  double *w, *B;
} work;

static void *create(int equations, int pairs) {
  (void)equations;
  work *s = calloc(1, sizeof *s);
  s->options = solver_options_create(SICONOS_LCP_LEMKE);
  s->options->iparam[SICONOS_IPARAM_MAX_ITER] = 1000;
  s->options->dparam[SICONOS_DPARAM_TOL] = 1e-10;
  s->w = calloc((size_t)pairs, sizeof(double));
  s->B = calloc((size_t)pairs * (size_t)pairs, sizeof(double));
  return s;
}

// E is diagonal here, so that its inverse costs nothing.
static void solve(void *context, int equations, int pairs, double *M, double *q, double *z) {
  work *s = context;
  int n = equations + pairs, info = 0;
  for (int j = 0; j < pairs; j++)
    for (int i = 0; i < pairs; i++) {
      double sum = M[equations + i + (equations + j) * n];
      for (int k = 0; k < equations; k++) sum -= M[equations + i + k * n] * M[k + (equations + j) * n] / M[k + k * n];
      s->B[i + j * pairs] = sum;
    }
  NumericsMatrix matrix;
  NM_null(&matrix);
  NM_fill(&matrix, NM_DENSE, pairs, pairs, s->B);
  LinearComplementarityProblem p = {pairs, &matrix, q + equations};
  memset(s->w, 0, sizeof(double) * (size_t)pairs);
  lcp_lexicolemke(&p, z + equations, s->w, &info, s->options);
  for (int k = 0; k < equations; k++) {
    z[k] = 0;
    for (int j = 0; j < pairs; j++) z[k] -= M[k + (equations + j) * n] * z[equations + j] / M[k + k * n];
  }
}

static void destroy(void *context) {
  work *s = context;
  solver_options_delete(s->options);
  free(s->options);
  free(s->w), free(s->B), free(s);
}

const pushing_solver pushing_siconos_lemke = {"Siconos Lemke", BENCH_SICONOS, create, solve, destroy};
