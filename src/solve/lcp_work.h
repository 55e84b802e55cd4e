// What the methods share: the scratch, and one call with its limits.
#ifndef CAROM_SRC_SOLVE_LCP_WORK_H
#define CAROM_SRC_SOLVE_LCP_WORK_H

#include "solve/lcp_lemke.h"

// How the scratch of every solver begins.
typedef struct carom_work_head {
  carom_allocator allocator;
  int n_max;
} carom_work_head;

// One kind of scratch: what it takes to make it.
typedef struct carom_work_kind {
  const char *call, *unit;  // for messages
  int most;
  size_t size;
  bool (*fill)(void *work, carom_error *error);  // what the struct points to; false when out of memory
  void (*destroy)(void *work);
} carom_work_kind;

// The struct, with its head and all that it points to, in *work; null after a failure.
carom_status carom_work_create(const carom_work_kind *kind, int n_max, const carom_allocator *allocator, void **work,
                               carom_error *error);

struct carom_lcp_work {
  carom_work_head head;
  carom_lcp_lemke lemke;
  carom_lcp_lemke block;   // for one block of Gauss-Seidel, up to CAROM_LCP_BLOCK_MAX unknowns
  double *z, *w;           // (n_max) the candidate of the method at work
  unsigned char *basis;    // (n_max)
  double *phi, *gradient;  // (n_max) of Newton's method: the function and the gradient of its square
  double *step;            // (n_max)
  double *block_matrix;    // (CAROM_LCP_BLOCK_MAX^2)
  bool starved;            // the linear algebra found no memory in this call
};

enum { CAROM_LCP_BLOCK_MAX = CAROM_LCP_DENSE_UP_TO };

// One call, with all that can be null filled in and limits made concrete.
typedef struct carom_lcp_call {
  carom_lcp_work *work;
  const carom_lcp_problem *problem;
  carom_lcp_options options;
  double tolerance;  // absolute, on the natural residual
  double deadline;   // on carom_clock; infinity for none
} carom_lcp_call;

// What one attempt with one method came to; its answer is in work->z and work->basis.
typedef struct carom_lcp_attempt {
  carom_lcp_outcome outcome;
  int iterations;
  double residual;
} carom_lcp_attempt;

// The best z that a method came by, kept where the caller says (n).
typedef struct carom_lcp_best {
  const carom_lcp_call *call;
  double *z;
  double residual;
} carom_lcp_best;

// Begins with z = 0.
carom_lcp_best carom_lcp_best_begin(const carom_lcp_call *call, double *z);
// Takes work->z, whose residual is given, if it is better.
void carom_lcp_best_note(carom_lcp_best *best, double residual);
// Puts the best into work->z and work->w, and the basis that it suggests into work->basis. Returns its residual.
double carom_lcp_best_recall(const carom_lcp_best *best);

// Each begins at work->z, and leaves the best that it came by. Newton's method and enumeration expect the problem in
// work->lemke (carom_lcp_lemke_load).
carom_lcp_attempt carom_lcp_pgs(const carom_lcp_call *call);
carom_lcp_attempt carom_lcp_newton(const carom_lcp_call *call, carom_lcp_method method);
carom_lcp_attempt carom_lcp_enumerate(const carom_lcp_call *call);

#endif
