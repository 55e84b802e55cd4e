#include "contact/solve/friction_infeasible.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "contact/solve/newton.h"

// The least 1/2 c' (W_nn + SOFT w) c + q_n . c over c >= 0, w the mean response, is near 1 / SOFT where there is a
// proof, and in its direction.
static const double SOFT = 1e-11;
static const double FAR = 1e6;  // over the impulses that stop the largest velocity

typedef struct search {
  const carom_assembled *a;
  carom_assembled normals;
  carom_block_rows W;
  carom_block *blocks;
  double *value, *q, *u, *r, *moved;
  double response, scale;
} search;

static bool make(search *s, const carom_allocator *allocator) {
  const carom_block_rows *w = s->a->sparse;
  size_t n = (size_t)s->a->count + 1, blocks = (size_t)w->start[s->a->count] + 1, rows = (size_t)s->a->rows + 1;
  if (!CAROM_NEW_ALL(allocator, CAROM_ROOM(s->blocks, n), CAROM_ROOM(s->value, blocks), CAROM_ROOM(s->q, n),
                     CAROM_ROOM(s->u, n), CAROM_ROOM(s->r, rows), CAROM_ROOM(s->moved, rows)))
    return false;
  for (int i = 0; i < s->a->count; i++) {
    s->blocks[i] = (carom_block){.first = i, .width = 1};
    s->q[i] = s->a->u0[w->size * i];
    s->response += carom_block_response(s->a, &s->a->blocks[i]) / s->a->count;
  }
  for (size_t k = 0; k + 1 < blocks; k++) s->value[k] = w->value[(size_t)(w->size * w->size) * k];
  for (int i = 0; i < s->a->count; i++) s->value[w->own[i]] += SOFT * s->response;
  s->W = (carom_block_rows){1, w->start, w->column, s->value, w->own};
  s->normals =
      (carom_assembled){.count = s->a->count, .rows = s->a->count, .blocks = s->blocks, .sparse = &s->W, .u0 = s->q};
  return true;
}

static carom_status minimise(search *s, const carom_allocator *allocator, double *c) {
  carom_newton *newton;
  carom_newton_goal goal = {1e-14 * s->scale, 1e-13 * s->scale, 1e-12 * s->scale, 300, .last_digit = true};
  int steps = 0;
  carom_status status = carom_newton_create_blocks(&s->normals, allocator, &newton, NULL);
  if (status == CAROM_OK) carom_newton_solve(newton, &s->normals, &goal, c, s->u, &steps);
  carom_newton_destroy_blocks(newton);
  return status;
}

// sum of c u_n = q_n . c + (W c) . r < 0 as long as |r| stays below -q_n . c / |W c|, in the largest and in the sum.
static bool proves(search *s, double *c) {
  int B = s->a->sparse->size;
  double most = 0, along = 0, moved = 0;
  for (int i = 0; i < s->a->count; i++) most = fmax(most, c[i]);
  if (!(most > 0) || !isfinite(most)) return false;
  for (int i = 0; i < s->a->count; i++) {
    c[i] = fmax(c[i] / most, 0);
    s->r[B * i] = c[i], along += c[i] * s->q[i];
  }
  carom_assembled_add(s->a, s->r, s->moved);
  for (int k = 0; k < s->a->rows; k++) moved += fabs(s->moved[k]);
  return along < -1e-6 * s->scale && -along > FAR * moved * s->scale / s->response;
}

carom_status carom_friction_infeasible(const carom_assembled *a, const carom_allocator *allocator, double *c,
                                       bool *proven) {
  search s = {.a = a, .scale = carom_assembled_scale(a)};
  carom_status status = make(&s, allocator) ? CAROM_OK : CAROM_ERR_MEMORY;
  if (status == CAROM_OK) status = minimise(&s, allocator, c);
  *proven = status == CAROM_OK && proves(&s, c);
  if (!*proven) memset(c, 0, (size_t)a->count * sizeof *c);
  CAROM_RELEASE_ALL(allocator, s.blocks, s.value, s.q, s.u, s.r, s.moved);
  return status;
}
