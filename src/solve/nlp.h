// Nonlinear programs with sparse exact derivatives, and the one door to Ipopt (Waechter and Biegler 2006):
//
//     min f(x)   with   g_low <= g(x) <= g_high,   x_low <= x <= x_high.
//
// Knows no physics. Equal bounds fix a variable or make an equation; infinite ones leave a side open.
#ifndef CAROM_SRC_SOLVE_NLP_H
#define CAROM_SRC_SOLVE_NLP_H

#include "carom/base.h"

// What is reported after every iteration. False from the callback asks for a stop.
typedef struct carom_nlp_iterate {
  int iteration;
  double objective;      // unscaled
  double infeasibility;  // largest violation of scaled constraints
} carom_nlp_iterate;

// A problem as callbacks on `context`. Sparse matrices are triplets; entries of one place add up. The Hessian is the
// lower triangle of that of  factor f + lambda . g. A callback returns false where it is not defined.
typedef struct carom_nlp {
  int n, m;
  const double *x_low, *x_high;  // (n)
  const double *g_low, *g_high;  // (m)
  const double *x_scale;         // (n) typical sizes; null means 1
  const double *g_scale;         // (m)
  double f_scale;                // typical size of f; 0 means 1
  int jacobian_count, hessian_count;
  const int *jacobian_row, *jacobian_column;  // (jacobian_count)
  const int *hessian_row, *hessian_column;    // (hessian_count)
  void *context;
  bool (*objective)(void *context, const double *x, double *f);
  bool (*gradient)(void *context, const double *x, double *df);
  bool (*constraints)(void *context, const double *x, double *g);
  bool (*jacobian)(void *context, const double *x, double *values);
  bool (*hessian)(void *context, const double *x, double factor, const double *lambda, double *values);
  void *iterate_context;
  bool (*iterate)(void *iterate_context, const carom_nlp_iterate *iterate);  // may be null
} carom_nlp;

// Multipliers of the bounds of x (n) and of the constraints (m), as the solver leaves them, and as it takes them when
// `given`.
typedef struct carom_nlp_duals {
  double *z_low, *z_high, *y;
  bool given;
} carom_nlp_duals;

typedef struct carom_nlp_options {
  int max_iterations;      // default 500
  double tolerance;        // on the scaled optimality conditions; default 1e-9
  double start_mu;         // barrier parameter to begin with; default 0.1, smaller for warm starts
  bool warm;               // x is all but an answer: it is hardly moved off its bounds; default false
  carom_nlp_duals *duals;  // may be null
  const char *log_path;    // the solver's own log goes there; null for none
} carom_nlp_options;

typedef enum carom_nlp_outcome {
  CAROM_NLP_SOLVED,
  CAROM_NLP_ACCEPTABLE,  // to less than was asked for
  CAROM_NLP_INFEASIBLE,  // a local minimum of the violation that is not zero
  CAROM_NLP_LIMIT,       // of iterations
  CAROM_NLP_STOPPED,     // by the callback
  CAROM_NLP_FAILED,      // numerical trouble
} carom_nlp_outcome;

typedef struct carom_nlp_info {
  carom_nlp_outcome outcome;
  int iterations;
  double objective;
  int solver_code;  // the solver's own, for messages
} carom_nlp_info;

bool carom_nlp_available(void);
carom_nlp_options carom_nlp_default_options(void);
// From x (n) to the answer in x.
// Calls from several threads take turns. CAROM_ERR_UNSUPPORTED in a build without Ipopt. How the mathematics ended is
// in *info, and no failure.
carom_status carom_nlp_solve(const carom_nlp *nlp, const carom_nlp_options *options, const carom_allocator *allocator,
                             double *x, carom_nlp_info *info, carom_error *error);

#endif
