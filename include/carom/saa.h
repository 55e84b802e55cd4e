/// carom/saa.h: two-stage stochastic programs with a quadratic cost, expectation constraints and constraints in every
/// scenario (Gavrea, habilitation thesis, 3.1), and their sample averages. docs/stochastic.md has the mathematics.
///
/// Stands on base.h alone. x is decided before it is known which scenario i comes, y_i after; p_i is its probability:
///
///     min   c'x + 1/2 x'X x + sum_i p_i (q_i'y_i + 1/2 y_i'Y_i y_i + y_i'Z_i x)
///     with  a_low <= A x <= a_high                                              (first-stage rows)
///           b_low <= sum_i p_i (S_i x + T_i y_i) <= b_high                      (expectation rows)
///           d_low_i <= V_i x + W_i y_i <= d_high_i       for every i            (rows of a scenario)
///           x_low <= x <= x_high,   y_low_i <= y_i <= y_high_i.
///
/// Equal sides make an equation, infinite ones leave it open. What is random in c, X, S, b stands for its mean.
#ifndef CAROM_SAA_H
#define CAROM_SAA_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- the problem ----------------------------------------------------------------------------------------------------

/// Where a number of the problem stands.
typedef enum carom_saa_part {
  CAROM_SAA_CONSTANT,    ///< a term of the cost that decides nothing
  CAROM_SAA_X_COST,      ///< c[row]
  CAROM_SAA_XX,          ///< X[row, column], one triangle: an entry off the diagonal stands for both
  CAROM_SAA_X_LOW,       ///< of x[row]; -inf where there is no entry. Never random
  CAROM_SAA_X_HIGH,      ///< likewise; inf
  CAROM_SAA_FIRST_X,     ///< A[row, column]. Never random
  CAROM_SAA_FIRST_LOW,   ///< a_low[row]; -inf where there is no entry. Never random
  CAROM_SAA_FIRST_HIGH,  ///< likewise; inf
  CAROM_SAA_MEAN_X,      ///< S[row, column]
  CAROM_SAA_MEAN_Y,      ///< T[row, column]
  CAROM_SAA_MEAN_LOW,    ///< b_low[row]; -inf where there is no entry
  CAROM_SAA_MEAN_HIGH,   ///< likewise; inf
  CAROM_SAA_Y_COST,      ///< q[row]
  CAROM_SAA_YY,          ///< Y[row, column], one triangle
  CAROM_SAA_YX,          ///< Z[row, column], row of y and column of x
  CAROM_SAA_Y_LOW,       ///< of y[row]; -inf where there is no entry
  CAROM_SAA_Y_HIGH,      ///< likewise; inf
  CAROM_SAA_ROW_X,       ///< V[row, column]
  CAROM_SAA_ROW_Y,       ///< W[row, column]
  CAROM_SAA_ROW_LOW,     ///< d_low[row]; -inf where there is no entry
  CAROM_SAA_ROW_HIGH,    ///< likewise; inf
  CAROM_SAA_PARTS        ///< how many there are
} carom_saa_part;

/// One number. Entries of one place add up in costs and matrices; of bounds and sides there is one each.
typedef struct carom_saa_entry {
  carom_saa_part part;  ///< which array
  int row, column;      ///< where in it; column 0 in vectors
  double value;         ///< what it is, or where it is random, of which size it is (for scaling)
  int random;           ///< -1: as above; else it is that number of the scenario's random ones
} carom_saa_entry;

/// A two-stage problem. Borrowed: all holds as long as what was made from it.
typedef struct carom_saa_problem {
  int n;                           ///< unknowns of the first stage
  int m;                           ///< unknowns of the second, in each scenario
  int first_rows;                  ///< rows of A
  int mean_rows;                   ///< expectation rows
  int rows;                        ///< rows of each scenario
  int random_count;                ///< random numbers of a scenario
  const carom_saa_entry *entries;  ///< (entry_count)
  int entry_count;                 ///< how many
  const char *const *x_names;      ///< (n); null: none
  const char *const *y_names;      ///< (m); null: none
  const char *const *first_names;  ///< (first_rows); null: none
  const char *const *mean_names;   ///< (mean_rows); null: none
  const char *const *row_names;    ///< (rows); null: none
} carom_saa_problem;

/// The scenarios to solve for. Called from one thread at a time; under several ranks, each asks for its own share.
typedef struct carom_saa_set {
  int count;      ///< at least 1
  void *context;  ///< the caller's own
  /// Fills values (random_count) and the probability of scenario `number`. Probabilities are scaled to a sum of 1.
  carom_status (*scenario)(void *context, int number, double *values, double *probability, carom_error *error);
  /// Writes the name of a scenario into text (size); null: "scenario 1", ...
  void (*name)(void *context, int number, char *text, size_t size);
} carom_saa_set;

// ---- solving --------------------------------------------------------------------------------------------------------

/// Processes that share the scenarios out, each with the same problem. All call the same functions in the same order,
/// and all get the same answer.
typedef struct carom_saa_ranks {
  int rank, count;  ///< which, of how many; 0 and 0 or 1 for a process by itself
  void *context;    ///< the caller's own
  /// Completes values (start[count]): this rank has filled start[rank] to start[rank + 1], and gets those of all.
  carom_status (*exchange)(void *context, const size_t *start, double *values, carom_error *error);
} carom_saa_ranks;

/// How to solve. Begin with carom_saa_default_options(); nothing is ever written here.
typedef struct carom_saa_options {
  int max_iterations;       ///< of the interior-point method; default 200
  double tolerance;         ///< on residuals and gap, relative; default 1e-10
  int threads;              ///< 0 (default): as many as have enough to do. No bit of the answer depends on it
  carom_saa_ranks ranks;    ///< nor on these
  carom_progress progress;  ///< asked after every iteration, in iterations
  const double *x;          ///< (n) decided already: only y is asked for; null (default): nothing is
  bool skip_certificate;    ///< do not look for the reason when there is no answer
} carom_saa_options;

/// Options with the defaults named above.
CAROM_API carom_saa_options carom_saa_default_options(void);

/// How the mathematics ended.
typedef enum carom_saa_outcome {
  CAROM_SAA_SOLVED,
  CAROM_SAA_INFEASIBLE,  ///< no x, y meet all rows and bounds: proved by multipliers
  CAROM_SAA_UNBOUNDED,   ///< the cost has no lower bound: proved by a ray
  CAROM_SAA_LIMIT        ///< out of iterations, or of digits: see `residual`
} carom_saa_outcome;

/// "solved", "infeasible", "unbounded", "limit"; never null.
CAROM_API const char *carom_saa_outcome_name(carom_saa_outcome outcome);

/// Why there is no answer. Infeasible: with multipliers within [-1, 1] on rows scaled to a largest entry near 1, the
/// least sum of violations (weighted by probability) is at least `proof` > 0. Unbounded: along a ray in the unit box,
/// which no row, bound or curvature stops by more than `error`, the cost changes by -proof per unit.
typedef struct carom_saa_reason {
  int scenario;       ///< where it shows most; -1: in the first stage or the expectations
  bool alone;         ///< that scenario would do for it by itself
  char name[120];     ///< of that scenario
  char part[120];     ///< of the row (infeasible) or unknown (unbounded) where it shows most
  double proof;       ///< see above
  double error;       ///< by how much the certificate itself is off
  char message[400];  ///< all this in words
} carom_saa_reason;

/// What a solve leaves.
typedef struct carom_saa_answer {
  carom_saa_outcome outcome;  ///< solved or not, and why
  int iterations;             ///< of the interior-point method
  double objective;           ///< the least cost
  double dual_objective;      ///< a lower bound on it, up to the residual
  double residual;            ///< carom_saa_residual of what follows
  int n, m, rows;             ///< sizes
  int count;                  ///< scenarios in all
  double *x;                  ///< (n) the decision
  double *x_price;            ///< (n) multiplier of its bounds: d cost / d bound, >= 0 at x_low, <= 0 at x_high
  double *first_price;        ///< (first_rows) d cost / d side
  double *mean_price;         ///< (mean_rows) likewise
  double *cost;               ///< (count) q_i'y_i + 1/2 y_i'Y_i y_i + y_i'Z_i x + c_i'x (c_i: where c is random)
  double *probability;        ///< (count)
  int first, held;            ///< the scenarios `first` to first + held - 1 are this rank's; all, without ranks
  double *y;                  ///< (held x m) decisions in each of them
  double *price;              ///< (held x rows) d cost / d side, divided by the probability
  carom_saa_reason reason;    ///< of infeasible and unbounded problems
  carom_allocator allocator;  ///< of all this
} carom_saa_answer;

/// Solves by a primal-dual interior-point method (Mehrotra 1992) whose linear systems are block-angular: a Schur
/// complement on x and the expectation rows, scenarios in parallel. That there is no answer is an outcome, not an
/// error. CAROM_ERR_ARGUMENT names a wrong size, entry or option, or a cost that is not convex with the scenario's
/// name; CAROM_ERR_NUMBER what is not finite; CAROM_INTERRUPTED after a request to stop.
CAROM_API carom_status carom_saa_solve(const carom_saa_problem *problem, const carom_saa_set *set,
                                       const carom_saa_options *options, const carom_allocator *allocator,
                                       carom_saa_answer **answer, carom_error *error);
CAROM_API void carom_saa_answer_destroy(carom_saa_answer *answer);  ///< null is fine

/// The judge, which knows nothing of how an answer was found: the largest of stationarity (projected on the bounds),
/// violations, and complementarity as natural residuals, each relative to 1 + the largest number it is made of.
/// Takes answers of one process.
CAROM_API carom_status carom_saa_residual(const carom_saa_problem *problem, const carom_saa_set *set,
                                          const carom_saa_answer *answer, const carom_allocator *allocator,
                                          double *residual, carom_error *error);

// ---- sample averages ------------------------------------------------------------------------------------------------

/// A problem with scenarios that can be drawn. `draw` is called from several threads.
typedef struct carom_saa_model {
  carom_saa_problem problem;  ///< borrowed
  void *context;              ///< the caller's own
  /// Fills values (random_count) of one scenario from the stream.
  void (*draw)(void *context, carom_random *random, double *values);
} carom_saa_model;

/// How to approximate. Begin with carom_saa_default_sampling().
typedef struct carom_saa_sampling {
  int scenarios;            ///< the largest sample; default 1000
  int first;                ///< the smallest; they double from there to the largest. Default 0: an eighth of that
  int replications;         ///< of each size, for the bounds; default 10, at least 2
  int evaluation;           ///< scenarios that the decision is judged by in the end; default 0: ten times the largest
  uint64_t seed;            ///< default 1
  double gap;               ///< stop when the upper end of the gap's interval is at most this (default 0: never),
  bool relative;            ///< times max(1, |cost|)
  double confidence;        ///< of the intervals; default 0.95
  carom_saa_options solve;  ///< of each solve; its progress is asked with solves done
} carom_saa_sampling;

/// The defaults named above.
CAROM_API carom_saa_sampling carom_saa_default_sampling(void);

/// One sample size. v_j are the optimal costs of its replications, g_j what the candidate costs on the same sample
/// minus v_j (Mak, Morton and Wood 1999): E v_j <= v* <= E cost(candidate).
typedef struct carom_saa_size {
  int scenarios;            ///< in each sample
  int replications;         ///< that were made
  double mean, variance;    ///< of v_j: the lower bound and how it scatters
  carom_interval lower;     ///< two-sided interval of E v_j
  double upper;             ///< mean over replications of what the candidate costs
  carom_interval upper_in;  ///< its two-sided interval
  double gap;               ///< mean of g_j >= 0
  double gap_deviation;     ///< standard deviation of g_j
  double gap_high;          ///< upper end of the one-sided interval of the gap: [0, gap_high]
} carom_saa_size;

/// What an expectation row comes to over the scenarios that a decision is judged by.
typedef struct carom_saa_expectation {
  double mean;        ///< of what stands between its sides, less the side that it was closest to
  carom_interval in;  ///< its two-sided interval: it should hold 0
} carom_saa_expectation;

/// What sample averages came to.
typedef struct carom_saa_report {
  carom_saa_outcome outcome;  ///< of the last solve; anything but SOLVED ended the loop
  carom_saa_size *sizes;      ///< (size_count) from the smallest sample on
  int size_count;             ///< how many were made
  bool reached;               ///< the gap that was asked for
  carom_saa_answer *answer;   ///< the candidate of the last size; or the solve without an answer, with its reason
  double value;               ///< mean cost of its x over scenarios of their own, if `valued`
  carom_interval value_in;    ///< its two-sided interval
  bool valued;                ///< false when x has no answer in some of them: `doubt` has the reason
  carom_saa_reason doubt;     ///< see valued
  double *costs;              ///< (cost_count) of those scenarios
  int cost_count;             ///< how many
  carom_saa_expectation *expectations;  ///< (mean_count) over them, if `valued`
  int mean_count;                       ///< expectation rows of the problem
  int solves;                           ///< in all
  carom_allocator allocator;            ///< of all this
} carom_saa_report;

/// Solves for growing samples. Scenario i of replication j has stream j and begins at number i 2^20 under the seed, so
/// that larger samples contain the smaller ones and candidate and optimum meet the same scenarios (common random
/// numbers). The candidate of each size is the answer for replication 0, which enters no bound.
///
/// No decision meets the expectation rows of a sample it was not made for, so these are priced: the bounds, the gap and
/// the cost of the decision are of the problem without them whose cost has mean_price (side - row) in addition, with
/// the candidate's prices. What bounds that from below bounds the problem from below; `expectations` tells how well the
/// decision, with the y that these prices make best, meets them. Fails as carom_saa_solve does.
CAROM_API carom_status carom_saa_approximate(const carom_saa_model *model, const carom_saa_sampling *sampling,
                                             const carom_allocator *allocator, carom_saa_report **report,
                                             carom_error *error);
CAROM_API void carom_saa_report_destroy(carom_saa_report *report);  ///< null is fine

/// The point below which a share p (0 < p < 1) of Student's t distribution lies.
CAROM_API double carom_student_point(double p, int degrees);

#ifdef __cplusplus
}
#endif
#endif
