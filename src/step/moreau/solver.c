#include "step/moreau/solver.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/lcp_inverse.h"
#include "solve/lcp_kernels.h"

static const double pi = 3.14159265358979323846;

// ---- room -----------------------------------------------------------------------------------------------------------

int carom_moreau_directions(const carom_moreau_solver *s, int block) {
  int tangents = carom_moreau_tangents(s, block);
  if (tangents < 2) return 2 * tangents;
  int asked = s->options->friction_directions;
  return asked <= 0 ? 4 : asked;
}

static bool resize(carom_moreau_solver *s, void **block, size_t count, size_t size) {
  carom_release(&s->allocator, *block);
  *block = carom_allocate(&s->allocator, count > 0 ? count : 1, size);
  return *block != NULL;
}

static carom_status no_memory(const carom_moreau_solver *s, carom_error *error) {
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a contact problem of %d contacts", s->count);
}

carom_status carom_moreau_solver_reserve_blocks(carom_moreau_solver *s, int count, carom_error *error) {
  s->count = count;
  if (count + 1 > s->count_capacity) {
    s->count_capacity = 0;
    size_t wanted = 2 * (size_t)(count + 1);
    if (!resize(s, (void **)&s->start, wanted, sizeof *s->start) ||
        !resize(s, (void **)&s->pairs.start, wanted, sizeof *s->pairs.start) ||
        !resize(s, (void **)&s->mu, wanted, sizeof *s->mu) ||
        !resize(s, (void **)&s->heading, wanted, sizeof *s->heading))
      return no_memory(s, error);
    s->count_capacity = (int)wanted;
  }
  memset(s->heading, 0, (size_t)count * sizeof *s->heading);
  return CAROM_OK;
}

static void count_up(carom_moreau_solver *s) {
  s->rows = s->start[s->count];
  s->pairs.n = 0;
  for (int i = 0; i < s->count; i++) {
    int directions = carom_moreau_directions(s, i);
    s->pairs.start[i] = s->pairs.n;
    s->pairs.n += directions > 0 ? directions + 2 : 1;
  }
  s->pairs.start[s->count] = s->pairs.n;
}

bool carom_moreau_reserve_pairs(carom_moreau_solver *s, int capacity) {
  carom_moreau_pairs *p = &s->pairs;
  size_t n = (size_t)capacity;
  p->capacity = 0;
  double **const vectors[] = {&p->q, &p->z, &p->w};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    if (!resize(s, (void **)vectors[i], n, sizeof(double))) return false;
  if (!resize(s, (void **)&p->A, n * n, sizeof(double)) || !resize(s, (void **)&p->g, 2 * n, sizeof(double)) ||
      !resize(s, (void **)&p->basis, n, 1))
    return false;
  p->capacity = capacity;
  return true;
}

static bool reserve_newton(carom_moreau_solver *s, size_t r) {
  carom_moreau_newton *n = &s->newton;
  double **const vectors[] = {&s->u0, &s->u, &s->P, &n->r, &n->x, &n->column, &n->best, &n->P0};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    if (!resize(s, (void **)vectors[i], r, sizeof(double))) return false;
  return resize(s, (void **)&n->K, r * r, sizeof(double)) &&
         resize(s, (void **)&n->panel, CAROM_LCP_INVERSE_PANEL * r, sizeof(double)) &&
         resize(s, (void **)&n->swaps, r, sizeof(int)) && resize(s, (void **)&n->unknown_block, r, sizeof(int)) &&
         resize(s, (void **)&n->generator, r, sizeof *n->generator) &&
         resize(s, (void **)&n->test, r, sizeof *n->test) && resize(s, (void **)&n->phase, r, sizeof *n->phase) &&
         resize(s, (void **)&n->side, r, sizeof *n->side);
}

static bool reserve_matrices(carom_moreau_solver *s) {
  if (s->rows > s->row_capacity) {
    s->row_capacity = 0;
    size_t r = (size_t)s->rows + (size_t)s->rows / 2;
    if (!resize(s, (void **)&s->W, r * r, sizeof(double)) || !reserve_newton(s, r)) return false;
    s->row_capacity = (int)r;
  }
  return s->pairs.n <= s->pairs.capacity || carom_moreau_reserve_pairs(s, s->pairs.n + s->pairs.n / 2);
}

carom_status carom_moreau_solver_reserve_rows(carom_moreau_solver *s, carom_error *error) {
  carom_moreau_pairs *p = &s->pairs;
  count_up(s);
  if (!reserve_matrices(s)) return no_memory(s, error);
  memset(s->P, 0, (size_t)s->rows * sizeof *s->P);
  if (p->capacity == p->work_size) return CAROM_OK;
  carom_lcp_work_destroy(p->work);
  p->work = NULL;
  p->work_size = 0;
  carom_status status = carom_lcp_work_create(p->capacity, &s->allocator, &p->work, error);
  if (status == CAROM_OK) p->work_size = p->capacity;
  return status;
}

void carom_moreau_solver_release(carom_moreau_solver *s) {
  carom_moreau_newton *n = &s->newton;
  carom_moreau_pairs *p = &s->pairs;
  carom_lcp_work_destroy(p->work);
  void *blocks[] = {s->start, s->mu, s->heading, s->W,     s->u0,    s->u,     s->P,    p->start,     p->A,
                    p->q,     p->z,  p->w,       p->g,     p->basis, n->K,     n->r,    n->x,         n->column,
                    n->best,  n->P0, n->panel,   n->swaps, n->test,  n->phase, n->side, n->generator, n->unknown_block};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) carom_release(&s->allocator, blocks[i]);
}

// ---- u = u0 + W P ---------------------------------------------------------------------------------------------------

double carom_moreau_scale(const carom_moreau_solver *s) { return carom_lcp_largest(s->rows, s->u0); }

void carom_moreau_evaluate(carom_moreau_solver *s) {
  memcpy(s->u, s->u0, (size_t)s->rows * sizeof *s->u);
  carom_lcp_combine(s->rows, s->rows, s->W, s->rows, NULL, s->P, s->u);
}

// ---- friction directions --------------------------------------------------------------------------------------------

void carom_moreau_direction(const carom_moreau_solver *s, int block, int a, double d[2]) {
  bool planar = carom_moreau_tangents(s, block) == 1;
  double angle = s->heading[block] + 2 * pi * a / carom_moreau_directions(s, block);
  d[0] = planar ? (a == 0 ? 1 : -1) : cos(angle);
  d[1] = planar ? 0 : sin(angle);
}

// beta of a friction impulse: it lies between two neighbouring directions.
static void spread_friction(const carom_moreau_solver *s, int block, const double *t, double *beta) {
  int d = carom_moreau_directions(s, block);
  memset(beta, 0, (size_t)d * sizeof *beta);
  if (carom_moreau_tangents(s, block) == 1) {
    beta[t[0] < 0] = fabs(t[0]);
    return;
  }
  if (t[0] == 0 && t[1] == 0) return;
  double step = 2 * pi / d, angle = atan2(t[1], t[0]) - s->heading[block], size = hypot(t[0], t[1]);
  angle -= 2 * pi * floor(angle / (2 * pi));
  int a = (int)floor(angle / step) % d;
  double into = angle - a * step;
  beta[a] = size * fmax(sin(step - into), 0) / sin(step);
  beta[(a + 1) % d] = size * fmax(sin(into), 0) / sin(step);
}

static double residual_of(carom_moreau_solver *s, int block) {
  const double *P = s->P + s->start[block], *u = s->u + s->start[block];
  double *z = s->pairs.z + s->pairs.start[block], worst = fabs(fmin(P[0], u[0])), lambda = 0, sum = 0;
  const double *g = s->pairs.g + 2 * s->pairs.start[block];
  int d = carom_moreau_directions(s, block);
  z[0] = P[0];
  if (d == 0) return worst;
  double t[2] = {u[1], carom_moreau_tangents(s, block) == 2 ? u[2] : 0};
  spread_friction(s, block, P + 1, z + 1);
  for (int a = 1; a <= d; a++) lambda = fmax(lambda, -(g[2 * a] * t[0] + g[2 * a + 1] * t[1]));
  for (int a = 1; a <= d; a++) {
    worst = fmax(worst, fabs(fmin(z[a], g[2 * a] * t[0] + g[2 * a + 1] * t[1] + lambda)));
    sum += z[a];
  }
  z[d + 1] = lambda;
  return fmax(worst, fabs(fmin(lambda, s->mu[block] * P[0] - sum)));
}

double carom_moreau_residual(carom_moreau_solver *s, int *worst_block) {
  double worst = -1;
  int which = 0;
  for (int i = 0; i < s->count; i++) {
    double own = residual_of(s, i);
    if (!(own <= worst)) worst = own, which = i;
    if (isnan(own)) break;
  }
  if (worst_block) *worst_block = which;
  return isfinite(worst) ? fmax(worst, 0) : INFINITY;
}
