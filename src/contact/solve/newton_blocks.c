// Steps of Newton's method by sparse blocks of W: over the blocks whose law is not open
//
//     (r + D (W + eps - r)) dP = -r F - D W dP_open,
//
// factored front by front. Fronts are analysed for the blocks that are closed, and again when others close or when many
// of them have opened; those that open meanwhile stay in the system with dP = -F.
#include <string.h>

#include "base/memory.h"
#include "contact/solve/newton_step.h"
#include "solve/front_factor.h"

static const double MOSTLY = 0.7;  // of what was analysed, that must still be closed

struct carom_newton_blocks {
  carom_allocator allocator;
  carom_arena arena;      // of the vectors
  carom_factor *factor;   // null before the first
  int count;              // blocks in it
  int *place;             // (blocks) number in the factor, or -1
  int *member;            // (blocks)
  int *start, *neighbor;  // of the pattern
  double *diagonal, *below, *above;
};

// ---- memory ---------------------------------------------------------------------------------------------------------

static bool make_arrays(carom_newton_blocks *s, const carom_assembled *a) {
  size_t count = (size_t)a->count + 1, area = (size_t)(a->sparse->size * a->sparse->size);
  size_t pairs = (size_t)a->sparse->start[a->count] / 2 + 1;
  return CAROM_NEW_ALL(&s->allocator, CAROM_ROOM(s->place, count), CAROM_ROOM(s->member, count),
                       CAROM_ROOM(s->start, count), CAROM_ROOM(s->neighbor, pairs),
                       CAROM_ROOM(s->diagonal, area * count), CAROM_ROOM(s->below, area * pairs),
                       CAROM_ROOM(s->above, area * pairs));
}

static void destroy(carom_newton_blocks *s) {
  carom_allocator allocator = s->allocator;
  carom_factor_destroy(s->factor);
  CAROM_RELEASE_ALL(&allocator, s->place, s->member, s->start, s->neighbor, s->diagonal, s->below, s->above);
  carom_arena_destroy(&s->arena);
  carom_release(&allocator, s);
}

carom_status carom_newton_create_blocks(const carom_assembled *a, const carom_allocator *allocator,
                                        carom_newton **newton, carom_error *error) {
  carom_allocator own = carom_allocator_or_default(allocator);
  carom_newton_blocks *s = CAROM_NEW(&own, carom_newton_blocks, 1);
  carom_arena counting = {0};
  *newton = NULL;
  if (!s) return carom_fail(error, CAROM_ERR_MEMORY, "friction: out of memory");
  s->allocator = own;
  carom_newton_push_vectors(a->rows, &counting);
  carom_status status = carom_arena_create(&s->arena, counting.used, &own, error);
  if (status == CAROM_OK && !make_arrays(s, a)) status = carom_fail(error, CAROM_ERR_MEMORY, "friction: out of memory");
  if (status != CAROM_OK) return destroy(s), status;
  *newton = carom_newton_push_vectors(a->rows, &s->arena);
  (*newton)->sparse = s;
  return CAROM_OK;
}

void carom_newton_destroy_blocks(carom_newton *newton) {
  if (newton) destroy(newton->sparse);
}

// ---- the pattern ----------------------------------------------------------------------------------------------------

static bool is_closed(const carom_newton *n, int block) { return n->D[block].m[0][0] != 0; }

// Whether the fronts at hand serve the blocks that are closed now.
static bool fits(const carom_newton *n, const carom_assembled *a) {
  const carom_newton_blocks *s = n->sparse;
  int closed = 0;
  if (!s->factor) return false;
  for (int i = 0; i < a->count; i++) {
    if (!is_closed(n, i)) continue;
    if (s->place[i] < 0) return false;
    closed++;
  }
  return closed >= MOSTLY * s->count;
}

static bool analyse(carom_newton *n, const carom_assembled *a) {
  carom_newton_blocks *s = n->sparse;
  const carom_block_rows *w = a->sparse;
  s->count = 0;
  for (int i = 0; i < a->count; i++) {
    s->place[i] = is_closed(n, i) ? s->count : -1;
    if (is_closed(n, i)) s->member[s->count++] = i;
  }
  int pairs = 0;
  for (int j = 0; j < s->count; j++) {
    s->start[j] = pairs;
    for (int k = w->start[s->member[j]]; k < w->start[s->member[j] + 1]; k++)
      if (s->place[w->column[k]] > j) s->neighbor[pairs++] = s->place[w->column[k]];
  }
  s->start[s->count] = pairs;
  carom_factor_destroy(s->factor);
  carom_block_pattern pattern = {w->size, s->count, s->start, s->neighbor};
  return carom_factor_create_lu(&pattern, true, &s->allocator, &s->factor) == CAROM_OK;
}

// ---- the values -----------------------------------------------------------------------------------------------------

// to (B x B) = D A, both by columns but D; of A transposed where A is that of the other half.
static inline __attribute__((always_inline)) void multiply_blocks(int B, const carom_mat3 *D, const double *A,
                                                                  bool transposed, double *to) {
  int row = transposed ? B : 1, column = transposed ? 1 : B;
  for (int j = 0; j < B; j++)
    for (int i = 0; i < B; i++) {
      double sum = 0;
      for (int k = 0; k < B; k++) sum += D->m[i][k] * A[k * row + j * column];
      to[i + j * B] = sum;
    }
}

static void multiply(int B, const carom_mat3 *D, const double *A, bool transposed, double *to) {
  if (B == 3)
    multiply_blocks(3, D, A, transposed, to);
  else
    multiply_blocks(B, D, A, transposed, to);
}

static void fill_diagonal(const carom_newton *n, const carom_assembled *a, int i, double *to) {
  int B = a->sparse->size;
  const carom_mat3 *D = &n->D[i];
  multiply(B, D, carom_block_rows_own(a->sparse, i), false, to);
  for (int j = 0; j < B; j++) {
    for (int k = 0; k < B; k++) to[k + j * B] += (n->eps[i] - n->own[i]) * D->m[k][j];
    to[j + j * B] += n->own[i] > 0 ? n->own[i] : 1;
  }
}

static void fill(const carom_newton *n, const carom_assembled *a) {
  const carom_newton_blocks *s = n->sparse;
  const carom_block_rows *w = a->sparse;
  size_t area = (size_t)(w->size * w->size);
  for (int j = 0, pair = 0; j < s->count; j++) {
    int b = s->member[j];
    fill_diagonal(n, a, b, s->diagonal + area * (size_t)j);
    for (int k = w->start[b]; k < w->start[b + 1]; k++) {
      int other = w->column[k];
      if (s->place[other] <= j) continue;
      const double *W = w->value + area * (size_t)k;  // block (b, other)
      multiply(w->size, &n->D[b], W, false, s->above + area * (size_t)pair);
      multiply(w->size, &n->D[other], W, true, s->below + area * (size_t)pair);
      pair++;
    }
  }
}

bool carom_newton_factor_blocks(carom_newton *n, const carom_assembled *a) {
  carom_newton_blocks *s = n->sparse;
  if (!fits(n, a) && !analyse(n, a)) return false;
  fill(n, a);
  return carom_factor_compute_lu(s->factor, &(carom_block_values){s->diagonal, s->below, s->above}) == CAROM_OK;
}

// ---- the step -------------------------------------------------------------------------------------------------------

void carom_newton_find_step_by_blocks(carom_newton *n, const carom_assembled *a) {
  const carom_newton_blocks *s = n->sparse;
  int B = a->sparse->size;
  for (int r = 0; r < a->rows; r++) n->x[r] = s->place[r / B] < 0 ? -n->F[r] : 0;
  memset(n->v, 0, (size_t)a->rows * sizeof *n->v);
  carom_assembled_add(a, n->x, n->v);
  for (int j = 0; j < s->count; j++) {
    int b = s->member[j];
    for (int i = 0; i < B; i++) {
      double sum = n->own[b] > 0 ? -n->own[b] * n->F[B * b + i] : 0;
      for (int k = 0; k < B; k++) sum -= n->D[b].m[i][k] * n->v[B * b + k];
      n->rhs[B * j + i] = sum;
    }
  }
  if (s->count > 0) carom_factor_solve_lu(s->factor, n->rhs);
  for (int j = 0; j < s->count; j++)
    for (int i = 0; i < B; i++) n->x[B * s->member[j] + i] = n->rhs[B * j + i];
}
