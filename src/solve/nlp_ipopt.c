// Ipopt behind nlp.h. All of Ipopt that the library sees is in this file.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // RTLD_DEFAULT
#endif
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "math/dense.h"
#include "solve/nlp.h"

carom_nlp_options carom_nlp_default_options(void) {
  return (carom_nlp_options){.max_iterations = 500, .tolerance = 1e-9, .start_mu = 0.1};
}

#ifndef CAROM_HAVE_IPOPT

bool carom_nlp_available(void) { return false; }

carom_status carom_nlp_solve(const carom_nlp *nlp, const carom_nlp_options *options, const carom_allocator *allocator,
                             double *x, carom_nlp_info *info, carom_error *error) {
  (void)nlp, (void)options, (void)allocator, (void)x, (void)info;
  return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                    "this build has no solver for nonlinear programs: install Ipopt (Debian: coinor-libipopt-dev) and "
                    "build again");
}

#else

#include <IpStdCInterface.h>

bool carom_nlp_available(void) { return true; }

// ---- callbacks -----------------------------------------------------------------------------------------------------

typedef struct watch {
  const carom_nlp *nlp;
  int iterations;
} watch;

static Bool objective(Index n, Number *x, Bool new_x, Number *f, UserDataPtr data) {
  (void)n, (void)new_x;
  const carom_nlp *nlp = ((watch *)data)->nlp;
  return nlp->objective(nlp->context, x, f) ? TRUE : FALSE;
}

static Bool gradient(Index n, Number *x, Bool new_x, Number *df, UserDataPtr data) {
  (void)n, (void)new_x;
  const carom_nlp *nlp = ((watch *)data)->nlp;
  return nlp->gradient(nlp->context, x, df) ? TRUE : FALSE;
}

static Bool constraints(Index n, Number *x, Bool new_x, Index m, Number *g, UserDataPtr data) {
  (void)n, (void)new_x, (void)m;
  const carom_nlp *nlp = ((watch *)data)->nlp;
  return nlp->constraints(nlp->context, x, g) ? TRUE : FALSE;
}

static Bool jacobian(Index n, Number *x, Bool new_x, Index m, Index count, Index *row, Index *column, Number *values,
                     UserDataPtr data) {
  (void)n, (void)new_x, (void)m;
  const carom_nlp *nlp = ((watch *)data)->nlp;
  if (values) return nlp->jacobian(nlp->context, x, values) ? TRUE : FALSE;
  memcpy(row, nlp->jacobian_row, (size_t)count * sizeof *row);
  memcpy(column, nlp->jacobian_column, (size_t)count * sizeof *column);
  return TRUE;
}

static Bool hessian(Index n, Number *x, Bool new_x, Number factor, Index m, Number *lambda, Bool new_lambda,
                    Index count, Index *row, Index *column, Number *values, UserDataPtr data) {
  (void)n, (void)new_x, (void)m, (void)new_lambda;
  const carom_nlp *nlp = ((watch *)data)->nlp;
  if (values) return nlp->hessian(nlp->context, x, factor, lambda, values) ? TRUE : FALSE;
  memcpy(row, nlp->hessian_row, (size_t)count * sizeof *row);
  memcpy(column, nlp->hessian_column, (size_t)count * sizeof *column);
  return TRUE;
}

// The count of iterations is not in Ipopt's answer; it is read off the reports.
static Bool intermediate(Index mode, Index iteration, Number f, Number inf_pr, Number inf_du, Number mu, Number d_norm,
                         Number regularization, Number alpha_du, Number alpha_pr, Index trials, UserDataPtr data) {
  (void)mode, (void)inf_du, (void)mu, (void)d_norm, (void)regularization, (void)alpha_du, (void)alpha_pr, (void)trials;
  watch *w = data;
  w->iterations = iteration;
  carom_nlp_iterate it = {.iteration = iteration, .objective = f, .infeasibility = inf_pr};
  return !w->nlp->iterate || w->nlp->iterate(w->nlp->iterate_context, &it) ? TRUE : FALSE;
}

// ---- set-up --------------------------------------------------------------------------------------------------------

static bool set_text(IpoptProblem p, char *key, char *value) { return AddIpoptStrOption(p, key, value) == TRUE; }
static bool set_number(IpoptProblem p, char *key, double value) { return AddIpoptNumOption(p, key, value) == TRUE; }

// An answer lies within start_mu / z of its active bounds; pushed further off, it would be none any more. Multipliers
// that are not given are start_mu over the distance from the bound, as on the central path, and least squares.
static bool set_warm(IpoptProblem p, const carom_nlp_options *o) {
  static char *const pushes[] = {"bound_push", "bound_frac", "slack_bound_push", "slack_bound_frac"};
  static char *const warm_pushes[] = {"warm_start_bound_push", "warm_start_bound_frac", "warm_start_slack_bound_push",
                                      "warm_start_slack_bound_frac"};
  double push = fmin(0.1 * o->start_mu, 1e-6);
  bool good = set_text(p, "bound_mult_init_method", "mu-based");
  for (size_t i = 0; i < sizeof pushes / sizeof *pushes; i++) good = good && set_number(p, pushes[i], push);
  if (!o->duals || !o->duals->given) return good;
  good = good && set_text(p, "warm_start_init_point", "yes") && set_number(p, "warm_start_mult_bound_push", 1e-14);
  for (size_t i = 0; i < sizeof warm_pushes / sizeof *warm_pushes; i++)
    good = good && set_number(p, warm_pushes[i], push);
  return good;
}

// Bounds are kept exactly: a plan that overlaps by a relaxed bound is no plan. Rows that depend on each other (a body
// at a given pose whose quaternion is also unit) are met by the solver's own regularisation.
static bool set_options(IpoptProblem p, const carom_nlp_options *o) {
  bool good = AddIpoptIntOption(p, "print_level", 0) == TRUE && set_text(p, "sb", "yes");
  good = good && AddIpoptIntOption(p, "max_iter", o->max_iterations) == TRUE;
  good = good && set_number(p, "tol", o->tolerance) && set_number(p, "constr_viol_tol", 1e-10);
  good = good && set_number(p, "bound_relax_factor", 0) && set_number(p, "mu_init", o->start_mu);
  // MUMPS: its default orderings differ from run to run, and with its default scaling steps of square problems (motions in
  // which nothing is left to choose) are noise. Minimum degree repeats, and rows and columns are scaled together.
  good = good && AddIpoptIntOption(p, "mumps_pivot_order", 0) == TRUE;
  good = good && AddIpoptIntOption(p, "mumps_scaling", 7) == TRUE;
  if (o->warm)
    good = good && set_warm(p, o);
  else if (o->start_mu < 0.01)
    good = good && set_number(p, "bound_push", 1e-6) && set_number(p, "bound_frac", 1e-6);
  if (o->log_path) {
    good = good && AddIpoptIntOption(p, "file_print_level", 5) == TRUE;
    char *path = (char *)(uintptr_t)o->log_path;  // Ipopt's interface of 2013 knows no const, and does not write
    good = good && set_text(p, "output_file", path);
  }
  return good;
}

static bool set_scaling(IpoptProblem p, const carom_nlp *nlp, double *x_factor, double *g_factor) {
  if (!nlp->x_scale && !nlp->g_scale && nlp->f_scale == 0) return true;
  for (int i = 0; i < nlp->n; i++) x_factor[i] = nlp->x_scale ? 1 / nlp->x_scale[i] : 1;
  for (int i = 0; i < nlp->m; i++) g_factor[i] = nlp->g_scale ? 1 / nlp->g_scale[i] : 1;
  double f_factor = nlp->f_scale > 0 ? 1 / nlp->f_scale : 1;
  return set_text(p, "nlp_scaling_method", "user-scaling") &&
         SetIpoptProblemScaling(p, f_factor, x_factor, g_factor) == TRUE;
}

static carom_nlp_outcome outcome_of(int code) {
  switch (code) {
    case Solve_Succeeded:
      return CAROM_NLP_SOLVED;
    case Solved_To_Acceptable_Level:
    case Feasible_Point_Found:
      return CAROM_NLP_ACCEPTABLE;
    case Infeasible_Problem_Detected:
      return CAROM_NLP_INFEASIBLE;
    case Maximum_Iterations_Exceeded:
    case Maximum_CpuTime_Exceeded:
      return CAROM_NLP_LIMIT;
    case User_Requested_Stop:
      return CAROM_NLP_STOPPED;
    default:
      return CAROM_NLP_FAILED;
  }
}

// The fronts of these programs are small: threads in BLAS wait for each other longer than they work (and far longer on
// a busy machine). OpenBLAS is asked for one while the solver runs, if it is OpenBLAS that was linked.
static int set_blas_threads(int count) {
  int (*get)(void) = NULL;
  void (*set)(int) = NULL;
  void *getter = dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
  void *setter = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
  if (!getter || !setter) return 0;
  memcpy(&get, &getter, sizeof get);  // ISO C has no cast from an object's to a function's address
  memcpy(&set, &setter, sizeof set);
  int before = get();
  if (count > 0 && count != before) set(count);
  return before;
}

typedef struct room {
  double *x_low, *x_high, *g_low, *g_high, *x_factor, *g_factor, *g, *lambda;
} room;

// One block for all copies that Ipopt wants to be writable.
static double *make_room(const carom_nlp *nlp, const carom_allocator *a, room *r) {
  size_t n = (size_t)nlp->n, m = (size_t)nlp->m;
  double *block = CAROM_NEW(a, double, 3 * n + 5 * m + 1);
  if (!block) return NULL;
  *r = (room){.x_low = block, .x_high = block + n, .x_factor = block + 2 * n, .g_low = block + 3 * n};
  r->g_high = r->g_low + m, r->g_factor = r->g_high + m, r->g = r->g_factor + m, r->lambda = r->g + m;
  memcpy(r->x_low, nlp->x_low, n * sizeof(double));
  memcpy(r->x_high, nlp->x_high, n * sizeof(double));
  memcpy(r->g_low, nlp->g_low, m * sizeof(double));
  memcpy(r->g_high, nlp->g_high, m * sizeof(double));
  for (size_t i = 0; i < n; i++) r->x_low[i] = fmax(r->x_low[i], -1e20), r->x_high[i] = fmin(r->x_high[i], 1e20);
  for (size_t i = 0; i < m; i++) r->g_low[i] = fmax(r->g_low[i], -1e20), r->g_high[i] = fmin(r->g_high[i], 1e20);
  return block;
}

// One solve at a time in a process: MUMPS 5.5 keeps the state of a factorisation in module variables (dmumps_load,
// dmumps_buf), and Ipopt 3.11 numbers its objects with a plain counter. Two at once would spoil each other.
static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

static carom_status solve_alone(const carom_nlp *nlp, const carom_nlp_options *options,
                                const carom_allocator *allocator, double *x, carom_nlp_info *info, carom_error *error) {
  carom_nlp_options o = options ? *options : carom_nlp_default_options();
  carom_allocator a = carom_allocator_or_default(allocator);
  watch w = {.nlp = nlp};
  room r;
  if (carom_dense_wake() != CAROM_OK) return carom_dense_fail_room(error, "a nonlinear program");
  double *block = make_room(nlp, &a, &r);
  IpoptProblem p = block
                       ? CreateIpoptProblem(nlp->n, r.x_low, r.x_high, nlp->m, r.g_low, r.g_high, nlp->jacobian_count,
                                            nlp->hessian_count, 0, objective, constraints, gradient, jacobian, hessian)
                       : NULL;
  if (!p) {
    carom_release(&a, block);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a nonlinear program of %d variables", nlp->n);
  }
  carom_status status = CAROM_OK;
  if (!set_options(p, &o) || !set_scaling(p, nlp, r.x_factor, r.g_factor) ||
      SetIntermediateCallback(p, intermediate) != TRUE)
    status = carom_fail(error, CAROM_ERR_UNSUPPORTED, "this Ipopt does not know an option that the planner sets%s%s",
                        o.log_path ? ", or cannot write its log to " : "", o.log_path ? o.log_path : "");
  if (status == CAROM_OK) {
    *info = (carom_nlp_info){0};
    int threads = set_blas_threads(1);
    double *y = o.duals ? o.duals->y : r.lambda;
    info->solver_code = IpoptSolve(p, x, r.g, &info->objective, y, o.duals ? o.duals->z_low : NULL,
                                   o.duals ? o.duals->z_high : NULL, &w);
    set_blas_threads(threads);
    info->outcome = outcome_of(info->solver_code);
    info->iterations = w.iterations;
  }
  FreeIpoptProblem(p);
  carom_release(&a, block);
  return status;
}

carom_status carom_nlp_solve(const carom_nlp *nlp, const carom_nlp_options *options, const carom_allocator *allocator,
                             double *x, carom_nlp_info *info, carom_error *error) {
  pthread_mutex_lock(&alone);
  carom_status status = solve_alone(nlp, options, allocator, x, info, error);
  pthread_mutex_unlock(&alone);
  return status;
}

#endif
