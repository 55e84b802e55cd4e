// Projected Gauss-Seidel and SOR, by blocks: each block's own small problem is solved for its unknowns with all others
// held, in turn (Cottle, Pang and Stone 1992, section 5.2). Frictional contacts need blocks: one unknown at a time
// would meet the zero diagonal of the slack.
#include <math.h>
#include <string.h>

#include "solve/lcp_kernels.h"
#include "solve/lcp_problem.h"
#include "solve/lcp_work.h"

enum { SWEEPS = 10000, PATIENCE = 50 };

// A block row: its unknowns, its diagonal block, and q with the rest of the unknowns put in.
typedef struct block {
  int first, size;
  const double *diagonal;  // (size x size, leading dimension lda), null when it is not stored
  int lda;
  double q[CAROM_LCP_BLOCK_MAX];
} block;

static int block_count(const carom_lcp_call *call) {
  if (call->problem->blocks) return call->problem->blocks->block_count;
  return (call->problem->n + call->options.block_size - 1) / call->options.block_size;
}

// w (the whole of it) is kept up to date for a dense matrix, since its columns are at hand and its rows are not.
static void read_dense(const carom_lcp_call *call, int I, block *b) {
  int n = call->problem->n;
  b->first = I * call->options.block_size;
  b->size = n - b->first < call->options.block_size ? n - b->first : call->options.block_size;
  b->diagonal = call->problem->M + (size_t)b->first + (size_t)b->first * (size_t)n;
  b->lda = n;
  memcpy(b->q, call->work->w + b->first, sizeof(double) * (size_t)b->size);
}

// Block rows come in order: `value` walks along.
static void read_blocks(const carom_lcp_call *call, int I, const double **value, block *b) {
  const carom_lcp_blocks *s = call->problem->blocks;
  b->first = s->start[I], b->size = s->start[I + 1] - b->first;
  b->diagonal = NULL, b->lda = b->size;
  memcpy(b->q, call->problem->q + b->first, sizeof(double) * (size_t)b->size);
  for (int p = s->row_start[I]; p < s->row_start[I + 1]; p++) {
    int j = s->start[s->column[p]], width = s->start[s->column[p] + 1] - j;
    if (s->column[p] == I) b->diagonal = *value;
    carom_lcp_combine(b->size, width, *value, b->size, NULL, call->work->z + j, b->q);
    *value += (size_t)b->size * (size_t)width;
  }
}

// q of the block's own problem: what w would be with the block's unknowns at zero.
static void take_out_own(block *b, const double *z) {
  double minus[CAROM_LCP_BLOCK_MAX];
  for (int i = 0; i < b->size; i++) minus[i] = -z[b->first + i];
  carom_lcp_combine(b->size, b->size, b->diagonal, b->lda, NULL, minus, b->q);
}

static bool solve_block(const carom_lcp_call *call, const block *b, double *z) {
  carom_lcp_work *work = call->work;
  unsigned char basis[CAROM_LCP_BLOCK_MAX];
  if (b->size == 1) {
    if (!(b->diagonal[0] > 0)) return b->q[0] >= 0 && (z[0] = 0, true);
    z[0] = fmax(0, -b->q[0] / b->diagonal[0]);
    return true;
  }
  for (int j = 0; j < b->size; j++)
    memcpy(work->block_matrix + j * b->size, b->diagonal + (size_t)j * (size_t)b->lda,
           sizeof(double) * (size_t)b->size);
  carom_lcp_problem own = {.n = b->size, .M = work->block_matrix, .q = b->q};
  carom_lcp_lemke_run run = {.max_pivots = 50 * b->size, .deadline = INFINITY, .tolerance = call->tolerance};
  carom_lcp_lemke_load(&work->block, &own);
  carom_lcp_lemke_solve(&work->block, &own, &run, z, basis);
  return run.outcome == CAROM_LCP_SOLVED;
}

static void spread_change(const carom_lcp_call *call, const block *b, const double *change) {
  int n = call->problem->n;
  if (!call->problem->M) return;
  carom_lcp_combine(n, b->size, call->problem->M + (size_t)b->first * (size_t)n, n, NULL, change, call->work->w);
}

static bool sweep(const carom_lcp_call *call) {
  const double *value = call->problem->blocks ? call->problem->blocks->value : NULL;
  double *z = call->work->z, own[CAROM_LCP_BLOCK_MAX], change[CAROM_LCP_BLOCK_MAX];
  for (int I = 0; I < block_count(call); I++) {
    block b;
    if (call->problem->M)
      read_dense(call, I, &b);
    else
      read_blocks(call, I, &value, &b);
    if (!b.diagonal) return false;
    take_out_own(&b, z);
    if (!solve_block(call, &b, own)) return false;
    for (int i = 0; i < b.size; i++) {
      double next = fmax(0, z[b.first + i] + call->options.relaxation * (own[i] - z[b.first + i]));
      change[i] = next - z[b.first + i], z[b.first + i] = next;
    }
    spread_change(call, &b, change);
  }
  return true;
}

static bool blocks_fit(const carom_lcp_call *call) {
  const carom_lcp_blocks *b = call->problem->blocks;
  if (!b) return call->options.block_size <= CAROM_LCP_BLOCK_MAX;
  for (int I = 0; I < b->block_count; I++)
    if (b->start[I + 1] - b->start[I] > CAROM_LCP_BLOCK_MAX) return false;
  return true;
}

carom_lcp_attempt carom_lcp_pgs(const carom_lcp_call *call) {
  carom_lcp_work *work = call->work;
  int limit = call->options.max_iterations ? call->options.max_iterations : SWEEPS;
  carom_lcp_attempt a = {CAROM_LCP_STALLED, 0, INFINITY};
  carom_lcp_best best = carom_lcp_best_begin(call, work->step);
  bool going = blocks_fit(call);
  for (;; a.iterations++) {
    carom_lcp_evaluate(call->problem, work->z, work->w);
    a.residual = carom_lcp_min_norm(call->problem->n, work->z, work->w);
    carom_lcp_best_note(&best, a.residual);
    if (a.residual <= call->tolerance) a.outcome = CAROM_LCP_SOLVED;
    if (a.residual <= call->tolerance || !going || !isfinite(a.residual)) break;
    if (a.iterations >= limit) a.outcome = CAROM_LCP_LIMIT;
    if (a.iterations < limit && carom_clock() > call->deadline) a.outcome = CAROM_LCP_TIME;
    if (a.outcome != CAROM_LCP_STALLED) break;
    going = sweep(call);
  }
  a.residual = carom_lcp_best_recall(&best);
  return a;
}
