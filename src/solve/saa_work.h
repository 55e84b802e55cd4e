// The inside of carom/saa.h: one solve of a two-stage problem.
//
// A scenario's unknowns are u = (y, w) with w minus the multipliers of its rows; those of the root (x, w0), where w0
// has first-stage rows, then expectation rows. All that is linear in the optimality conditions is then one symmetric
// matrix M a scenario, bordered by the few unknowns of the root that it touches (Gavrea, 3.1.7, with multipliers of
// scenarios divided by p_i, so that no number grows or shrinks with how many there are):
//
//     K_i = [Y + D, W'; W, -1/D_s],   B_i = [Z, T'; V, 0],   C = K_0 - sum_i p_i B_i' K_i^-1 B_i.
//
// Every unknown y and every row's activity s is a "box" with sides low and high, slacks tl, tu and their multipliers
// zl, zu. All of this is in scaled units (saa_layout.c).
#ifndef CAROM_SRC_SOLVE_SAA_WORK_H
#define CAROM_SRC_SOLVE_SAA_WORK_H

#include "carom/saa.h"

// An entry off or on the diagonal of M, at (i, j) in u and then the border; data[source] is its value.
typedef struct carom_saa_element {
  int i, j, source;
  bool cost;  // of the cost, and not of a row
} carom_saa_element;

// Where an entry of the problem goes in the data of a scenario or of the root.
typedef struct carom_saa_target {
  int at;        // in the data
  int random;    // -1: part of the base
  double scale;  // from the problem's units to ours
  bool set;      // sides are set, all else adds up
} carom_saa_target;

// What all scenarios share.
typedef struct carom_saa_layout {
  int n, m, first_rows, mean_rows, rows;
  int boxes, size;  // m + rows of a scenario: its boxes, and unknowns of its system
  int root_boxes;   // n + first_rows + mean_rows, likewise
  int border;       // unknowns of the root that scenarios touch
  int *border_at;   // (border) which
  int *border_of;   // (root_boxes) place in the border; -1: none
  int random_count;
  double *x_scale, *y_scale, *first_scale, *mean_scale, *row_scale, cost_scale;
  // data of a scenario: q (m), low and high (boxes), values of elements
  int data_size, element_count, target_count;
  double *base;                 // (data_size) what is not random
  carom_saa_element *elements;  // (element_count)
  carom_saa_target *targets;    // (target_count) of random entries
  // data of the root: c (n), low and high (root_boxes), the constant, and a matrix of root_boxes columns
  size_t root_size;
  double *root_base;             // (root_size)
  carom_saa_target *root_means;  // (root_mean_count) entries that stand for their means
  int root_mean_count;
  // the order of elimination, and L by columns with the border's rows last
  int *place;                              // (size + border) new number by old
  int *row_start, *row_column, *row_from;  // elements by row of the new order: column, and number of the element
  int *reach_start, *reach, *reach_at;     // columns of L that have a row, and where it stands in them
  int *column_start, *column_row;          // L
  int factor_size;
  double *sign;  // (size) +1 for y, -1 for rows, in the new order
} carom_saa_layout;

// Boxes of a scenario or of the root, and the system for a change of them.
typedef struct carom_saa_boxes {
  double *v, *tl, *tu, *zl, *zu;  // (boxes)
  double *cl, *cu;                // products of the predictor's changes
  double *dv;
  double *w, *side;          // (rows) minus multipliers; what gives ds
  double *diagonal;          // (size) of the system, beside M
  double *right, *solution;  // (size)
  double *error;             // (size) of the solution
} carom_saa_boxes;

// A thread's own.
typedef struct carom_saa_scratch {
  double *data;   // (data_size)
  double *u, *g;  // (size + border) M u = g
  double *t;      // (size + border) in the new order
  bool *masked;   // (size + border) takes no part in the system
  double *schur;  // (border x border)
} carom_saa_scratch;

// Where an iterate stands.
typedef struct carom_saa_state {
  double product, count;        // of slacks and multipliers, weighted by probability, and how many
  double primal, dual;          // objectives, without the constant
  double primal_off, dual_off;  // largest residuals
  double open;                  // largest of min(slack, multiplier)
} carom_saa_state;

typedef struct carom_saa_work {
  carom_allocator allocator;
  const carom_saa_problem *problem;
  const carom_saa_set *set;
  carom_saa_options options;
  carom_saa_layout layout;
  int threads;
  int count, first, held;  // scenarios: all, and this rank's
  int chunks, chunk_first, chunk_end;
  double *probability;  // (count)
  double *random;       // (held x random_count)
  double *state;        // (held x stride)
  size_t stride;
  double *factors;             // (held x (factor_size + size)) L, then D
  carom_saa_scratch *scratch;  // (threads)
  double *sums;                // (chunks x widest) by chunk, then
  double *total;               // (widest) over all
  int widest;
  size_t *exchange_start;  // (ranks + 1)
  // the root
  double *root;           // (root_size) its data
  carom_saa_boxes boxes;  // of it
  double *root_memory;
  double *matrix;  // (root_boxes^2) K0, then C, factored
  double *z;       // (root_boxes) solution of the root's system
  bool *masked;    // (root_boxes)
  bool quadratic;
  bool rows_off;    // only the cost counts: the test of its convexity
  bool predicting;  // the step at hand is the predictor's
  bool adding;      // solutions are corrections of those before
  double *forward;  // (border) what the predictor's right sides mean for the root
  double target;    // sigma mu of the step at hand
  double alpha_primal, alpha_dual;
  carom_saa_state now;
  int wrong;  // scenario whose pivots have the wrong sign; -1: none, -2: the root
} carom_saa_work;

// ---- saa_layout.c
carom_status carom_saa_layout_create(carom_saa_layout *l, const carom_saa_problem *p, const carom_allocator *a,
                                     carom_error *error);
void carom_saa_layout_destroy(carom_saa_layout *l, const carom_allocator *a);
// ---- saa_symbolic.c: the order and the structure of L, part of that
bool carom_saa_analyse(carom_saa_layout *l, const carom_allocator *a);

// ---- saa_pass.c: loops over scenarios
typedef void carom_saa_kernel(carom_saa_work *w, int i, carom_saa_scratch *s, double *sums, double *maxima);
// Runs the kernel for every scenario of every rank; w->total has `sums` sums and then `maxima` maxima (of what is not
// negative). The bits do not depend on threads or ranks.
carom_status carom_saa_pass(carom_saa_work *w, carom_saa_kernel *kernel, int sums, int maxima, carom_error *error);
carom_saa_boxes carom_saa_boxes_of(const carom_saa_work *w, int i);  // of held scenario i
void carom_saa_load(const carom_saa_work *w, int i, carom_saa_scratch *s);
static inline const double *carom_saa_low(const carom_saa_layout *l, const double *data) { return data + l->m; }
static inline const double *carom_saa_high(const carom_saa_layout *l, const double *data) {
  return data + l->m + l->boxes;
}
// Boxes of unknowns and then of rows, with their sides and how much they weigh.
typedef struct carom_saa_span {
  int unknowns, rows;
  const double *low, *high;
  double weight;
} carom_saa_span;
static inline carom_saa_span carom_saa_span_of(const carom_saa_work *w, int i, const carom_saa_scratch *s) {
  const carom_saa_layout *l = &w->layout;
  return (carom_saa_span){l->m, l->rows, carom_saa_low(l, s->data), carom_saa_high(l, s->data),
                          w->probability[w->first + i]};
}
static inline carom_saa_span carom_saa_root_span(const carom_saa_work *w) {
  const carom_saa_layout *l = &w->layout;
  return (carom_saa_span){l->n, l->first_rows + l->mean_rows, w->root + l->n, w->root + l->n + l->root_boxes, 1};
}
// Sides that leave nothing to decide.
static inline bool carom_saa_is_pinned(double low, double high) { return low >= high; }

// ---- saa_factor.c: one scenario's system, and the root's
void carom_saa_product(const carom_saa_layout *l, carom_saa_scratch *s, bool system);  // g = M u
// Whether all pivots have the right sign. Adds p_i times the Schur complement (lower triangle by rows) to sums.
bool carom_saa_factor(carom_saa_work *w, int i, carom_saa_scratch *s, const double *diagonal, double *sums);
// t = L^-1 right; adds p_i times what it means for the root to sums (border). t is left in `x`.
void carom_saa_forward(carom_saa_work *w, int i, carom_saa_scratch *s, const double *right, double *x, double *sums);
// From that to the solution, given w->z: into `x`, or added to it, from `t`.
void carom_saa_backward(carom_saa_work *w, int i, carom_saa_scratch *s, double *t, double *x, bool add);
bool carom_saa_root_factor(carom_saa_work *w, const double *diagonal);  // of w->matrix
void carom_saa_root_solve(const carom_saa_work *w, double *b);
void carom_saa_root_product(const carom_saa_work *w, const double *u, double *g, bool system);

// ---- saa_newton.c: the arrow system
carom_status carom_saa_refresh(carom_saa_work *w, carom_error *error);  // residuals, matrices and the predictor's right
carom_status carom_saa_newton(carom_saa_work *w, bool corrector, carom_error *error);  // solutions
enum { CAROM_SAA_SUMS = 6, CAROM_SAA_MAXIMA = 6 };

// ---- saa_interior.c
carom_status carom_saa_interior(carom_saa_work *w, carom_saa_answer *answer, carom_error *error);

// ---- saa_certificate.c
carom_status carom_saa_explain(const carom_saa_problem *problem, const carom_saa_set *set,
                               const carom_saa_options *options, const carom_allocator *allocator,
                               carom_saa_answer *answer, carom_error *error);
// Of a scenario, or with -2 - box, of the root.
void carom_saa_tell_crossed(const carom_saa_work *w, int crossed, carom_saa_reason *reason);

#endif
