// The linear programs (2.5.5), (2.5.6) and (2.5.7) of Gavrea's habilitation thesis, written out and solved as they
// stand, to be held against the structured solve.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "flow/program.h"
#include "math/dense.h"
#include "solve/dense_lp.h"

// A program under construction: E (rows x n), column-major.
typedef struct dense {
  carom_allocator allocator;
  int rows, n;
  double *E, *e, *c, *u;
  bool *bounded;
} dense;

static bool make(dense *d, const carom_allocator *allocator, int rows, int n) {
  *d = (dense){.allocator = *allocator, .rows = rows, .n = n};
  return CAROM_NEW_ALL(allocator, CAROM_ROOM(d->E, (size_t)rows * (size_t)n), CAROM_ROOM(d->e, rows),
                       CAROM_ROOM(d->c, n), CAROM_ROOM(d->u, n), CAROM_ROOM(d->bounded, n));
}

static void end(const dense *d) { CAROM_RELEASE_ALL(&d->allocator, d->E, d->e, d->c, d->u, d->bounded); }

static double *at(const dense *d, int row, int column) { return d->E + row + (size_t)column * (size_t)d->rows; }

// B u + b = 0 with u = (x, w+, w-) and B = (A, -I, I), in the first m rows; costs 1 for both w.
static void put_equations(dense *d, const carom_l1_problem *p) {
  for (int i = 0; i < p->m; i++) {
    for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++) *at(d, i, p->column[k]) = p->value[k];
    *at(d, i, p->n + i) = -1, *at(d, i, p->n + p->m + i) = 1;
    d->e[i] = -p->b[i];
    d->c[p->n + i] = d->c[p->n + p->m + i] = 1;
  }
}

// (2.5.5): all of u is free, and D u >= 0 are constraints, D = (0, I): D u - z = 0 with z >= 0.
static bool make_constrained(dense *d, const carom_l1_problem *p, const carom_allocator *a) {
  int m = p->m, w = 2 * m;
  if (!make(d, a, m + w, p->n + w + w)) return false;
  put_equations(d, p);
  for (int k = 0; k < w; k++) {
    *at(d, m + k, p->n + k) = 1, *at(d, m + k, p->n + w + k) = -1;
    d->bounded[p->n + w + k] = true;
  }
  return true;
}

// (2.5.6): u in Omega, which bounds w+ and w-.
static bool make_bounded(dense *d, const carom_l1_problem *p, const carom_allocator *a) {
  if (!make(d, a, p->m, p->n + 2 * p->m)) return false;
  put_equations(d, p);
  for (int k = 0; k < 2 * p->m; k++) d->bounded[p->n + k] = true;
  return true;
}

// A basis of the null space of A' (m x count) into `basis` (m x m room).
static bool find_basis(const carom_l1_problem *p, const carom_allocator *a, double *basis, int *count) {
  double *At = CAROM_NEW(a, double, (size_t)p->n *(size_t)p->m);
  for (int i = 0; At && i < p->m; i++)
    for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
      At[(size_t)p->column[k] + (size_t)i * (size_t)p->n] = p->value[k];
  bool found = At && carom_dense_null_space(p->n, p->m, At, 1e-12, basis, count) == CAROM_OK;
  carom_release(a, At);
  return found;
}

// (2.5.7): with the columns of P spanning the null space of A', (P', -P') v = P' b and v = (w+, w-) >= 0.
static bool make_eliminated(dense *d, const carom_l1_problem *p, const carom_allocator *a) {
  int m = p->m, count = 0;
  size_t stride = (size_t)m;
  double *P = CAROM_NEW(a, double, stride *stride);
  bool made = P && find_basis(p, a, P, &count) && make(d, a, count, 2 * m);
  for (int k = 0; made && k < count; k++)
    for (int i = 0; i < m; i++) {
      double value = P[(size_t)i + (size_t)k * stride];
      *at(d, k, i) = value, *at(d, k, m + i) = -value;
      d->e[k] += value * p->b[i];
    }
  for (int i = 0; made && i < 2 * m; i++) d->c[i] = 1, d->bounded[i] = true;
  carom_release(a, P);
  return made;
}

static carom_status solve_dense(const dense *d, double *value, int *iterations, carom_error *error) {
  const carom_dense_lp lp = {d->rows, d->n, d->E, d->e, d->c, d->bounded};
  carom_dense_lp_answer answer = {.u = d->u};
  carom_status status = carom_dense_lp_solve(&lp, &d->allocator, &answer, error);
  *value = answer.value, *iterations = answer.iterations;
  return status;
}

static carom_status solve_structured(const carom_l1_problem *p, const carom_flow_options *o, const carom_allocator *a,
                                     carom_flow_forms *forms, carom_error *error) {
  carom_l1_work *work;
  carom_l1_info info = {0};
  carom_l1_options options = carom_l1_default_options();
  options.max_iterations = o->max_iterations, options.tolerance = o->tolerance, options.threads = o->threads;
  carom_status status = carom_l1_work_create(p, a, &work, error);
  if (status != CAROM_OK) return status;
  double *x = CAROM_NEW(a, double, p->n);
  status = x ? carom_l1_solve(work, p, &options, &(carom_l1_solution){x, NULL}, &info, error)
             : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for an l1 program");
  carom_release(a, x);
  carom_l1_work_destroy(work);
  forms->structured = info.primal, forms->iterations[0] = info.iterations;
  return status;
}

typedef bool (*maker)(dense *d, const carom_l1_problem *p, const carom_allocator *a);

static carom_status solve_all(const carom_l1_problem *p, const carom_flow_options *o, const carom_allocator *a,
                              carom_flow_forms *forms, carom_error *error) {
  static const maker makers[] = {make_constrained, make_bounded, make_eliminated};
  double *values[] = {&forms->constrained, &forms->bounded, &forms->eliminated};
  carom_status status = solve_structured(p, o, a, forms, error);
  for (int k = 0; k < 3 && status == CAROM_OK; k++) {
    dense d = {0};
    status = makers[k](&d, p, a) ? solve_dense(&d, values[k], &forms->iterations[k + 1], error)
                                 : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a dense linear program");
    if (d.allocator.release) end(&d);
  }
  return status;
}

carom_status carom_flow_solve_forms(const carom_flow_pair *images, const carom_flow_options *options,
                                    const carom_allocator *allocator, carom_flow_forms *forms, carom_error *error) {
  const carom_image *A = images->A;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_flow_options o = options ? *options : carom_flow_default_options();
  carom_flow_program *program;
  *forms = (carom_flow_forms){0};
  if ((int64_t)A->width * A->height > CAROM_FLOW_FORMS_PIXELS)
    return carom_fail(error, CAROM_ERR_LIMIT,
                      "images of %d x %d pixels are too large for dense programs (at most %d pixels)", A->width,
                      A->height, CAROM_FLOW_FORMS_PIXELS);
  o.norm = CAROM_FLOW_L1;
  carom_status status = carom_flow_program_create(images, NULL, &o, &a, &program, error);
  if (status != CAROM_OK) return status;
  carom_l1_problem p = carom_flow_program_problem(program);
  status = solve_all(&p, &o, &a, forms, error);
  carom_flow_program_destroy(program);
  return status;
}
