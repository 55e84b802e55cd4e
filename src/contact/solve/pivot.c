#include "contact/solve/pivot.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"

struct carom_pivot {
  carom_arena arena;
  int n, capacity, start_capacity;  // pairs
  int *start;                       // (count + 1) first pair of each block
  double *A, *q, *z, *w;            // A (n x n)
  double (*direction)[2];           // (n) friction direction of each pair; 0 for those that have none
  unsigned char *basis;
  carom_lcp_work *work;
};

static const double PI = 3.14159265358979323846;

// ---- memory ---------------------------------------------------------------------------------------------------------

static void lay_out(void *owner, carom_arena *arena) {
  carom_pivot *p = owner;
  size_t n = (size_t)p->n;
  p->A = CAROM_PUSH(arena, double, n *n);
  p->q = CAROM_PUSH(arena, double, n);
  p->z = CAROM_PUSH(arena, double, n);
  p->w = CAROM_PUSH(arena, double, n);
  p->direction = carom_arena_push(arena, n * sizeof *p->direction);
  p->basis = CAROM_PUSH(arena, unsigned char, n);
}

carom_status carom_pivot_create(const carom_allocator *allocator, carom_pivot **pivot, carom_error *error) {
  *pivot = carom_object_create(&(carom_pivot){0}, sizeof **pivot, lay_out, allocator, error);
  return *pivot ? CAROM_OK : CAROM_ERR_MEMORY;
}

void carom_pivot_destroy(carom_pivot *p) {
  if (!p) return;
  carom_lcp_work_destroy(p->work);
  carom_release(&p->arena.allocator, p->start);
  carom_object_destroy(p);
}

static carom_status make_room(carom_pivot *p, carom_error *error) {
  carom_status status = carom_arena_lay_out(&p->arena, lay_out, p, error);
  if (status != CAROM_OK || p->n <= p->capacity) return status;
  carom_lcp_work_destroy(p->work);
  p->work = NULL, p->capacity = 0;
  status = carom_lcp_work_create(p->n + p->n / 2, &p->arena.allocator, &p->work, error);
  if (status == CAROM_OK) p->capacity = p->n + p->n / 2;
  return status;
}

// ---- the problem ----------------------------------------------------------------------------------------------------

// Directions of friction: both ways of one tangent, or the corners of the polygon.
static int directions_of(const carom_block *b) { return b->width == 1 ? 0 : b->width == 2 ? 2 : b->corners; }

static carom_status count_pairs(carom_pivot *p, const carom_assembled *a, carom_error *error) {
  if (!carom_reserve(&p->arena.allocator, (void **)&p->start, &p->start_capacity, a->count + 1, sizeof *p->start))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", a->count);
  p->n = 0;
  for (int i = 0; i < a->count; i++) {
    const carom_block *b = &a->blocks[i];
    if (b->kind == CAROM_BLOCK_FREE || (b->width == 3 && b->corners == 0))
      return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                        "the complementarity form is for friction within polygons: ask for 3 or more directions");
    p->start[i] = p->n;
    p->n += b->width > 1 ? directions_of(b) + 2 : 1;
  }
  p->start[a->count] = p->n;
  return make_room(p, error);
}

static void fill_directions(carom_pivot *p, const carom_assembled *a) {
  memset(p->direction, 0, (size_t)p->n * sizeof *p->direction);
  for (int i = 0; i < a->count; i++) {
    double(*d)[2] = p->direction + p->start[i] + 1;
    if (a->blocks[i].width == 2) d[0][0] = 1, d[1][0] = -1;
    for (int k = 0; k < directions_of(&a->blocks[i]) && a->blocks[i].width == 3; k++)
      carom_block_corner(&a->blocks[i], k, d[k]);
  }
}

static bool coupled(const double *W, size_t lda, int rows, int columns) {
  for (int l = 0; l < columns; l++)
    for (int k = 0; k < rows; k++)
      if (W[(size_t)k + (size_t)l * lda] != 0) return true;
  return false;
}

static void fill_block(carom_pivot *p, const carom_assembled *a, int i, int j) {
  const carom_block *A = &a->blocks[i], *B = &a->blocks[j];
  const double *W = a->W + (size_t)A->first + (size_t)B->first * (size_t)a->rows;
  if (!coupled(W, (size_t)a->rows, A->width, B->width)) return;
  for (int q = 0; q <= directions_of(B); q++) {
    const double *g = p->direction[p->start[j] + q];
    double along[3] = {q == 0, g[0], g[1]}, Wg[3] = {0};
    for (int l = 0; l < B->width; l++)
      for (int k = 0; k < A->width; k++) Wg[k] += W[(size_t)k + (size_t)l * (size_t)a->rows] * along[l];
    double *column = p->A + (size_t)p->start[i] + (size_t)(p->start[j] + q) * (size_t)p->n;
    column[0] = Wg[0];
    for (int r = 1; r <= directions_of(A); r++) {
      const double *d = p->direction[p->start[i] + r];
      column[r] = d[0] * Wg[1] + d[1] * Wg[2];
    }
  }
}

static void fill_cone(carom_pivot *p, const carom_block *b, int first) {
  int d = directions_of(b), last = first + d + 1;
  size_t n = (size_t)p->n;
  if (d == 0) return;
  p->A[(size_t)last + (size_t)first * n] = b->mu;
  for (int k = first + 1; k < last; k++)
    p->A[(size_t)k + (size_t)last * n] = 1, p->A[(size_t)last + (size_t)k * n] = -1;
}

carom_status carom_pivot_problem(carom_pivot *p, const carom_assembled *a, carom_lcp_problem *problem,
                                 carom_error *error) {
  carom_status status = count_pairs(p, a, error);
  if (status != CAROM_OK) return status;
  fill_directions(p, a);
  memset(p->A, 0, (size_t)p->n * (size_t)p->n * sizeof *p->A);
  memset(p->q, 0, (size_t)p->n * sizeof *p->q);
  for (int j = 0; j < a->count; j++) {
    const carom_block *b = &a->blocks[j];
    const double *u = a->u0 + b->first;
    for (int i = 0; i < a->count; i++) fill_block(p, a, i, j);
    fill_cone(p, b, p->start[j]);
    p->q[p->start[j]] = u[0];
    for (int k = 1; k <= directions_of(b); k++) {
      const double *d = p->direction[p->start[j] + k];
      p->q[p->start[j] + k] = d[0] * u[1] + (b->width == 3 ? d[1] * u[2] : 0);
    }
  }
  *problem = (carom_lcp_problem){.n = p->n, .M = p->A, .q = p->q};
  return CAROM_OK;
}

// ---- impulses and pairs ---------------------------------------------------------------------------------------------

// beta of a friction impulse: it lies between two neighbouring corners.
static void spread_friction(const carom_block *b, const double *t, double *beta) {
  int d = directions_of(b);
  memset(beta, 0, (size_t)d * sizeof *beta);
  if (b->width == 2) {
    beta[t[0] < 0] = fabs(t[0]);
    return;
  }
  if (!isfinite(t[0]) || !isfinite(t[1]) || (t[0] == 0 && t[1] == 0)) return;
  double step = 2 * PI / d, angle = atan2(t[1], t[0]) - b->angle, size = hypot(t[0], t[1]);
  angle -= 2 * PI * floor(angle / (2 * PI));
  int k = (int)floor(angle / step) % d;
  double into = angle - k * step;
  beta[k] = size * fmax(sin(step - into), 0) / sin(step);
  beta[(k + 1) % d] = size * fmax(sin(into), 0) / sin(step);
}

static void pairs_of(carom_pivot *p, const carom_assembled *a, const double *P) {
  carom_assembled_velocity(a, P, p->w);  // n is never less than the rows
  for (int i = 0; i < a->count; i++) {
    const carom_block *b = &a->blocks[i];
    const double *u = p->w + b->first;
    double *z = p->z + p->start[i], lambda = 0;
    int d = directions_of(b);
    z[0] = P[b->first];
    if (d == 0) continue;
    spread_friction(b, P + b->first + 1, z + 1);
    for (int k = 1; k <= d; k++) {
      const double *g = p->direction[p->start[i] + k];
      lambda = fmax(lambda, -(g[0] * u[1] + (b->width == 3 ? g[1] * u[2] : 0)));
    }
    z[d + 1] = lambda;
  }
}

static void impulses_of(const carom_pivot *p, const carom_assembled *a, double *P) {
  for (int i = 0; i < a->count; i++) {
    const carom_block *b = &a->blocks[i];
    const double *z = p->z + p->start[i];
    P[b->first] = z[0];
    for (int r = 1; r < b->width; r++) {
      P[b->first + r] = 0;
      for (int k = 1; k <= directions_of(b); k++) P[b->first + r] += p->direction[p->start[i] + k][r - 1] * z[k];
    }
  }
}

carom_status carom_pivot_solve(carom_pivot *p, const carom_assembled *a, int limit, double *P, int *pivots,
                               carom_error *error) {
  carom_lcp_problem problem;
  carom_lcp_options options = carom_lcp_default_options();
  carom_lcp_info info;
  carom_status status = carom_pivot_problem(p, a, &problem, error);
  if (status != CAROM_OK) return status;
  pairs_of(p, a, P);
  options.method = CAROM_LCP_LEMKE;
  options.start = CAROM_LCP_START_Z;
  options.max_iterations = limit;
  status = carom_lcp_solve(p->work, &problem, &options, &(carom_lcp_solution){p->z, p->w, p->basis}, &info, error);
  if (status != CAROM_OK) return status;
  *pivots += info.iterations;
  impulses_of(p, a, P);
  return CAROM_OK;
}
