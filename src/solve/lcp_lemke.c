// Lemke's method (Lemke 1965; Cottle, Pang and Stone 1992, algorithm 4.4.5) for  w - M z - d z0 = q:  z0 enters and
// makes w feasible, then the complement of what left enters, until z0 leaves (a solution) or nothing does (a ray).
//
// Against cycling, ties in the ratio test are broken as if q were q + eps p with an infinitesimal eps: the
// lexicographic rule for the columns [q, p]. With p = B^-1 of unit vectors in turn, as in textbooks, one needs rows of
// B^-1; a single generic p does the same, since no two rows of a nonsingular matrix give proportional values. Nothing
// is perturbed.
#include "solve/lcp_lemke.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/lcp_kernels.h"
#include "solve/lcp_problem.h"

// All for entries of M and q of order one.
static const double PIVOT = 1e-9;             // smallest pivot, over the largest entry of the direction
static const double FEASIBLE = 1e-12;         // what a basic variable may fall below zero, over the largest of them
static const double NOISE = 10;               // and over the error of the direction
static const double DOUBTFUL = 1e-5;          // pivots below this, likewise, are looked at twice
static const double TABLEAU_RESIDUAL = 1e-3;  // over the tolerance: the tableau's answers are taken as they are
static const double ALREADY = 1e-9;  // a start with nothing further below zero, likewise, may be a solution: try
static const double NEARLY = 1e-10;  // see ray_proves_none
static const double DEFECT = 1e-9;   // digits lost by the inverse that call for a fresh one soon
static const double WORN = 30;       // or so many times what it had lost when it was fresh
static const double SPOILT = 1e-6;   // at once: refinement of a direction may fail
enum { REFACTOR_EVERY = 200, REFACTOR_AT_SOONEST = 4, CLOCK_EVERY = 16, REFINEMENTS = 3 };

carom_status carom_lcp_lemke_create(carom_lcp_lemke *lemke, int n_max, const carom_allocator *allocator) {
  *lemke = (carom_lcp_lemke){0};
  double **const vectors[] = {&lemke->q,  &lemke->p,  &lemke->xw, &lemke->xc, &lemke->pw,
                              &lemke->pc, &lemke->dw, &lemke->dc, &lemke->z,  &lemke->w};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    *vectors[i] = CAROM_NEW(allocator, double, (size_t)n_max + 1);
    if (!*vectors[i]) return CAROM_ERR_MEMORY;
  }
  carom_status status = carom_lcp_matrix_create(&lemke->matrix, n_max, allocator);
  return status == CAROM_OK ? carom_lcp_basis_create(&lemke->basis, n_max, allocator) : status;
}

void carom_lcp_lemke_destroy(carom_lcp_lemke *lemke, const carom_allocator *allocator) {
  double *const vectors[] = {lemke->q,  lemke->p,  lemke->xw, lemke->xc, lemke->pw,
                             lemke->pc, lemke->dw, lemke->dc, lemke->z,  lemke->w};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) carom_release(allocator, vectors[i]);
  carom_lcp_matrix_destroy(&lemke->matrix, allocator);
  carom_lcp_basis_destroy(&lemke->basis, allocator);
}

void carom_lcp_lemke_load(carom_lcp_lemke *lemke, const carom_lcp_problem *problem) {
  carom_lcp_matrix_load(&lemke->matrix, problem);
  for (int i = 0; i < problem->n; i++) lemke->q[i] = lemke->matrix.scale[i] * problem->q[i];
  lemke->size = carom_lcp_largest(problem->n, lemke->q);
  if (lemke->size == 0) lemke->size = 1;
  for (int i = 0; i < problem->n; i++) lemke->q[i] /= lemke->size;
}

// ---- the start -----------------------------------------------------------------------------------------------------

static void recompute(carom_lcp_lemke *lemke) {
  carom_lcp_basis_solve(&lemke->basis, lemke->q, lemke->xw, lemke->xc);
  carom_lcp_basis_solve(&lemke->basis, lemke->p, lemke->pw, lemke->pc);
}

// Generic numbers in [1, 2): multiples of the golden ratio, modulo one (Weyl). Any will do that are not related to M.
static double generic(unsigned seed, int i) {
  double x = (i + 1) * 0.61803398874989485 + seed * 0.41421356237309505;
  return 1 + (x - floor(x));
}

static void choose_cover(carom_lcp_lemke *lemke, const carom_lcp_lemke_run *run) {
  carom_lcp_matrix *matrix = &lemke->matrix;
  carom_random random = carom_random_make(run->seed, 0);
  for (int i = 0; i < matrix->n; i++) {
    lemke->p[i] = generic(run->seed, i);
    matrix->cover[i] = run->seed ? carom_random_between(&random, 0.5, 2) : 1;
    if (run->covering) matrix->cover[i] = matrix->scale[i] * run->covering[i];
  }
}

static void place_start(carom_lcp_lemke *lemke, const carom_lcp_lemke_run *run) {
  carom_lcp_matrix *matrix = &lemke->matrix;
  if (!run->start || carom_lcp_basis_choose(&lemke->basis, matrix, run->start) != CAROM_OK) {
    carom_lcp_basis_reset(&lemke->basis, matrix);
    return;
  }
  // A vector inside the complementary cone of the start makes every basic variable rise with z0 (Kremers and Talman
  // 1994): d = B e = sum of e_i over basic w minus sum of M(:, j) over basic z.
  for (int i = 0; i < matrix->n; i++) matrix->cover[i] = lemke->basis.row_at[i] < 0 ? 1 : 0;
  for (int l = 0; l < lemke->basis.k; l++) lemke->dc[l] = -1;
  carom_lcp_matrix_combine(matrix, lemke->basis.k, lemke->basis.columns, lemke->dc, matrix->cover);
}

// ---- the ratio test ------------------------------------------------------------------------------------------------

typedef struct candidates {
  double smallest;  // pivots from here on count
  double bound;     // the largest step that leaves nothing below -FEASIBLE (Harris 1973)
  double tie;       // smallest ratio of p among those within the bound
  int leaving;      // the variable that has it, or -1
} candidates;

static bool consider(candidates *c, double x, double d, double p) {
  if (d <= c->smallest || x > c->bound * d) return false;
  if (c->leaving >= 0 && p / d >= c->tie) return false;
  c->tie = p / d;
  return true;
}

static double largest_of(const carom_lcp_lemke *lemke, const double *w, const double *c) {
  return fmax(1, fmax(carom_lcp_largest(lemke->basis.n, w), carom_lcp_largest(lemke->basis.k, c)));
}

// The leaving variable, or -1 on a ray. z0 goes first: that ends the search.
static int choose_leaving(const carom_lcp_lemke *lemke, double smallest) {
  const carom_lcp_basis *basis = &lemke->basis;
  int n = basis->n, k = basis->k, z0 = basis->column_at[n];
  double slack = FEASIBLE * largest_of(lemke, lemke->xw, lemke->xc);
  candidates c = {smallest, INFINITY, INFINITY, -1};
  c.bound = fmin(carom_lcp_smallest_ratio(n, lemke->xw, lemke->dw, smallest, slack),
                 carom_lcp_smallest_ratio(k, lemke->xc, lemke->dc, smallest, slack));
  if (z0 >= 0 && consider(&c, lemke->xc[z0], lemke->dc[z0], 0)) return 2 * n;
  for (int i = 0; i < n; i++)
    if (consider(&c, lemke->xw[i], lemke->dw[i], lemke->pw[i])) c.leaving = i;
  for (int l = 0; l < k; l++)
    if (consider(&c, lemke->xc[l], lemke->dc[l], lemke->pc[l])) c.leaving = n + basis->columns[l];
  return c.leaving;
}

// ---- one pivot -----------------------------------------------------------------------------------------------------

typedef struct place {
  double *x, *p, *d;
} place;

static place place_of(const carom_lcp_lemke *lemke, int variable) {
  const carom_lcp_basis *basis = &lemke->basis;
  if (variable < basis->n) return (place){lemke->xw + variable, lemke->pw + variable, lemke->dw + variable};
  int c = basis->column_at[variable - basis->n];
  return (place){lemke->xc + c, lemke->pc + c, lemke->dc + c};
}

static void advance(double *x, double step, const double *d, int count) {
  for (int i = 0; i < count; i++) x[i] -= step * d[i];
}

static void pivot(carom_lcp_lemke *lemke, int entering, int leaving) {
  carom_lcp_basis *basis = &lemke->basis;
  int n = basis->n;
  place out = place_of(lemke, leaving);
  double step = *out.x / *out.d, tie_step = *out.p / *out.d;
  advance(lemke->xw, step, lemke->dw, n), advance(lemke->xc, step, lemke->dc, basis->k);
  advance(lemke->pw, tie_step, lemke->dw, n), advance(lemke->pc, tie_step, lemke->dc, basis->k);
  carom_lcp_basis_exchange(basis, entering, leaving, lemke->dw, lemke->dc);
  *out.x = *out.p = 0;
  if (leaving >= n && entering < n) *out.x = lemke->xc[basis->k], *out.p = lemke->pc[basis->k];  // the last moved here
  place in = place_of(lemke, entering);
  *in.x = step, *in.p = tie_step;
}

static int complement(const carom_lcp_lemke *lemke, int variable) {
  int n = lemke->basis.n;
  return variable < n ? variable + n : variable - n;
}

// z0 enters; what it lifts last leaves. The direction is the same in all basic variables' eyes: down is -B^-1 d.
static int first_leaving(const carom_lcp_lemke *lemke) {
  const carom_lcp_basis *basis = &lemke->basis;
  int leaving = -1;
  double least = 0, tie = 0;
  for (int l = 0; l < basis->n + basis->k; l++) {
    bool is_w = l < basis->n;
    if (is_w && basis->row_at[l] >= 0) continue;
    int v = is_w ? l : basis->n + basis->columns[l - basis->n];
    place at = place_of(lemke, v);
    double ratio = *at.x / -*at.d, tie_ratio = *at.p / -*at.d;
    if (leaving >= 0 && (ratio > least || (ratio == least && tie_ratio >= tie))) continue;
    least = ratio, tie = tie_ratio, leaving = v;
  }
  return leaving;
}

static bool above(int count, const double *x, double bound) {
  for (int i = 0; i < count; i++)
    if (x[i] < bound) return false;
  return true;
}

// ---- the search ----------------------------------------------------------------------------------------------------

// How far an inverse has been used.
typedef struct inverse_wear {
  int age;       // exchanges since it was computed
  double fresh;  // the digits that it had lost then: an ill-conditioned basis has none better
} inverse_wear;

static carom_status refresh(carom_lcp_lemke *lemke, inverse_wear *wear) {
  wear->age = 0;
  if (carom_lcp_basis_refactor(&lemke->basis) != CAROM_OK) return CAROM_ERR_SINGULAR;
  recompute(lemke);
  return CAROM_OK;
}

static bool is_good(const inverse_wear *wear, double defect) { return defect <= fmax(DEFECT, WORN * wear->fresh); }

static bool is_worn(const inverse_wear *wear, double defect) {
  if (wear->age == 0) return false;
  return wear->age >= REFACTOR_EVERY || defect > SPOILT || (wear->age >= REFACTOR_AT_SOONEST && !is_good(wear, defect));
}

// A ray is believed only with a fresh inverse, a small pivot only with one that is as good: directions are refined, so
// that the pivot has the digits that its basis allows, and another inverse would not give it more.
static bool is_believed(const carom_lcp_lemke *lemke, int leaving, double reach, const inverse_wear *wear,
                        double defect) {
  if (wear->age == 0) return true;
  return leaving >= 0 && (*place_of(lemke, leaving).d > DOUBTFUL * reach || is_good(wear, defect));
}

// What leaves for `entering`, -1 on a ray.
static carom_status find_leaving(carom_lcp_lemke *lemke, int entering, int *leaving, inverse_wear *wear) {
  for (;;) {
    double defect, noise = carom_lcp_basis_direction(&lemke->basis, entering, lemke->dw, lemke->dc, &defect);
    if (wear->age == 0) wear->fresh = defect;
    if (!is_worn(wear, defect)) {
      double reach = largest_of(lemke, lemke->dw, lemke->dc);
      *leaving = choose_leaving(lemke, fmax(PIVOT * reach, NOISE * noise));
      if (*leaving < 0 && wear->age == 0) *leaving = choose_leaving(lemke, fmin(PIVOT * reach, NOISE * noise));
      if (is_believed(lemke, *leaving, reach, wear, defect)) return CAROM_OK;
    }
    if (refresh(lemke, wear) != CAROM_OK) return CAROM_ERR_SINGULAR;
  }
}

static void read_ray(const carom_lcp_lemke *lemke, int entering, double *y) {
  const carom_lcp_basis *basis = &lemke->basis;
  memset(y, 0, sizeof(double) * (size_t)basis->n);
  if (entering >= basis->n) y[entering - basis->n] = 1;
  for (int l = 0; l < basis->k; l++)
    if (basis->columns[l] < basis->n) y[basis->columns[l]] = fmax(-lemke->dc[l], 0);
}

// The z of a ray, y >= 0, proves that there is no solution when M'y <= 0 and q'y < 0: w = M z + q >= 0 asks for
// y'w >= 0, but y'w = z'M'y + q'y < 0 for every z >= 0. With M'y at most NEARLY |q'y| a solution would have to be as
// large as 1 / NEARLY where M and q are of order one. On rays of positive semidefinite M this always holds.
static bool ray_proves_none(carom_lcp_lemke *lemke, int entering) {
  int n = lemke->basis.n;
  double *y = lemke->z, fall, height;
  read_ray(lemke, entering, y);
  double largest = carom_lcp_largest(n, y);
  if (!(largest > 0) || !isfinite(largest)) return false;
  for (int i = 0; i < n; i++) y[i] /= largest;
  carom_lcp_dots(n, 1, lemke->q, n, y, &fall);
  for (int j = 0; j < n; j++) {
    carom_lcp_matrix_dot(&lemke->matrix, j, y, &height);
    if (!(height <= -NEARLY * fall)) return false;
  }
  return fall < 0;
}

static carom_lcp_outcome search(carom_lcp_lemke *lemke, carom_lcp_lemke_run *run) {
  int n = lemke->basis.n, z0 = 2 * n;
  inverse_wear wear = {0};
  carom_lcp_basis_direction(&lemke->basis, z0, lemke->dw, lemke->dc, NULL);
  int leaving = first_leaving(lemke);
  pivot(lemke, z0, leaving);
  for (run->pivots = 1; leaving != z0; run->pivots++, wear.age++) {
    int entering = complement(lemke, leaving);
    if (run->pivots >= run->max_pivots) return CAROM_LCP_LIMIT;
    if (run->pivots % CLOCK_EVERY == 0 && carom_clock() > run->deadline) return CAROM_LCP_TIME;
    if (find_leaving(lemke, entering, &leaving, &wear) != CAROM_OK) return CAROM_LCP_STALLED;
    if (leaving < 0) return ray_proves_none(lemke, entering) ? CAROM_LCP_NONE : CAROM_LCP_RAY;
    pivot(lemke, entering, leaving);
  }
  return CAROM_LCP_SOLVED;
}

// ---- the end -------------------------------------------------------------------------------------------------------

static void read_solution(const carom_lcp_lemke *lemke, double *z) {
  const carom_lcp_basis *basis = &lemke->basis;
  memset(z, 0, sizeof(double) * (size_t)basis->n);
  for (int l = 0; l < basis->k; l++)
    if (basis->columns[l] < basis->n) z[basis->columns[l]] = fmax(lemke->xc[l], 0);
}

static void unscale(const carom_lcp_lemke *lemke, double *z) {
  for (int i = 0; i < lemke->matrix.n; i++) z[i] *= lemke->size * lemke->matrix.scale[i];
}

static double residual_of(const carom_lcp_problem *problem, const double *z, double *w) {
  carom_lcp_evaluate(problem, z, w);
  return carom_lcp_min_norm(problem->n, z, w);
}

// Iterative refinement of z on the basis, with residuals of the problem as given.
static void refine(carom_lcp_lemke *lemke, const carom_lcp_problem *problem, carom_lcp_lemke_run *run, double *z) {
  const carom_lcp_basis *basis = &lemke->basis;
  double best = residual_of(problem, z, lemke->w);
  for (int round = 0; round < REFINEMENTS && best > 0; round++) {
    for (int l = 0; l < basis->k; l++) {
      int i = basis->rows[l];
      lemke->dw[i] = lemke->w[i] * lemke->matrix.scale[i] / lemke->size;
    }
    for (int i = 0; i < basis->n; i++)
      if (basis->row_at[i] < 0) lemke->dw[i] = 0;
    carom_lcp_basis_solve(basis, lemke->dw, lemke->pw, lemke->dc);
    memcpy(lemke->z, z, sizeof(double) * (size_t)basis->n);
    for (int l = 0; l < basis->k; l++) {
      int j = basis->columns[l];
      lemke->z[j] = fmax(lemke->z[j] + lemke->dc[l] * lemke->size * lemke->matrix.scale[j], 0);
    }
    double residual = residual_of(problem, lemke->z, lemke->w);
    if (!(residual < best)) break;
    best = residual;
    memcpy(z, lemke->z, sizeof(double) * (size_t)basis->n);
  }
  run->residual = best;
}

static void finish(carom_lcp_lemke *lemke, const carom_lcp_problem *problem, carom_lcp_lemke_run *run, double *z) {
  for (int attempt = 0; attempt < 2; attempt++) {
    carom_lcp_basis_solve(&lemke->basis, lemke->q, lemke->xw, lemke->xc);
    read_solution(lemke, z);
    unscale(lemke, z);
    refine(lemke, problem, run, z);
    if (run->residual <= run->tolerance) return;
    if (attempt == 0 && carom_lcp_basis_refactor(&lemke->basis) != CAROM_OK) break;
  }
  run->outcome = CAROM_LCP_STALLED;
}

// Whether the start is a solution already.
static bool start_solves(carom_lcp_lemke *lemke, const carom_lcp_problem *problem, carom_lcp_lemke_run *run,
                         double *z) {
  double bound = -ALREADY * largest_of(lemke, lemke->xw, lemke->xc);
  if (!above(lemke->basis.n, lemke->xw, bound) || !above(lemke->basis.k, lemke->xc, bound)) return false;
  run->outcome = CAROM_LCP_SOLVED;
  finish(lemke, problem, run, z);
  return run->outcome == CAROM_LCP_SOLVED;
}

static void solve_with_inverse(carom_lcp_lemke *lemke, const carom_lcp_problem *problem, carom_lcp_lemke_run *run,
                               double *z, unsigned char *basis) {
  run->pivots = 0;
  place_start(lemke, run);
  recompute(lemke);
  if (!start_solves(lemke, problem, run, z)) {
    recompute(lemke);
    run->outcome = search(lemke, run);
    if (run->outcome == CAROM_LCP_SOLVED) {
      finish(lemke, problem, run, z);
    } else {
      read_solution(lemke, z);
      unscale(lemke, z);
      run->residual = residual_of(problem, z, lemke->w);
    }
  }
  for (int i = 0; i < problem->n; i++) basis[i] = lemke->basis.column_at[i] >= 0;
}

// True when that was good enough. An answer short of digits is left in `basis`, to begin with.
static bool solve_with_tableau(carom_lcp_lemke *lemke, const carom_lcp_problem *problem, carom_lcp_lemke_run *run,
                               double *z, unsigned char *basis) {
  carom_lcp_tableau_run small = {lemke->q, lemke->p, run->max_pivots, 0};
  run->outcome = carom_lcp_tableau_solve(&lemke->tableau, &lemke->matrix, &small, z, basis);
  run->pivots = small.pivots;
  if (run->outcome != CAROM_LCP_SOLVED) return false;
  unscale(lemke, z);
  run->residual = residual_of(problem, z, lemke->w);
  run->start = basis;
  return run->residual <= TABLEAU_RESIDUAL * run->tolerance;
}

void carom_lcp_lemke_solve(carom_lcp_lemke *lemke, const carom_lcp_problem *problem, carom_lcp_lemke_run *run,
                           double *z, unsigned char *basis) {
  int pivots = run->pivots = 0;
  choose_cover(lemke, run);
  if (problem->n <= CAROM_LCP_TABLEAU_MAX && !run->start && problem->n > 0) {
    if (solve_with_tableau(lemke, problem, run, z, basis)) return;
    pivots = run->pivots;
  }
  solve_with_inverse(lemke, problem, run, z, basis);
  run->pivots += pivots;
}
