// Whether a friction cone is pointed, as a linear program (Gavrea 2008, 2.4.1; the alternative is Gordan's).
//
// With the cone's edges G (N itself where there is no friction, else N + mu D), the program
//
//     maximise t   over   |y_i| <= 1, t <= 1,   G'y >= t e,   F'y = 0
//
// has t > 0 if some velocity y leaves all contacts at once, and t = 0 with multipliers x >= 0, p such that
// G x + F p = 0 and e'x = 1 if not. Its optimality conditions are a mixed complementarity problem with a skew matrix:
//
//     y:  -G x - F p      t:  e'x - 1      x:  G'y - t e      p:  F'y.
//
// Rows have units (forces, moments), and being pointed does not depend on them: each row is first divided by its
// largest entry, so that a cone in micrometres is the same as one in metres. The velocity is scaled back, and its
// margin measured.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/lcp_kernels.h"
#include "solve/lcp_problem.h"
#include "solve/lcp_work.h"

struct carom_cone_work {
  carom_work_head head;
  carom_mlcp_work *mixed;
  double *G;                              // (n_max^2 / 4) rows x edges: sizes of rows taken out, columns of length 1
  double *weigh;                          // (n_max) of an edge: what one unit of N is in it
  double *size;                           // (n_max) of rows
  double *M, *q, *lower, *upper, *z, *w;  // the mixed problem
};

typedef struct program {
  const carom_friction_cone *cone;
  carom_cone_work *work;
  int edges, n;  // edges of the cone; unknowns: rows, 1, edges, joints
} program;

// Margins below this are none. Between unit edges they are exact to some 1e-15.
static const double FLAT = 1e-12;

// ---- the scratch ---------------------------------------------------------------------------------------------------

static bool fill_work(void *scratch, carom_error *error) {
  carom_cone_work *work = scratch;
  const carom_allocator *a = &work->head.allocator;
  size_t n = (size_t)work->head.n_max;
  return CAROM_NEW_ALL(a, CAROM_ROOM(work->G, n * n / 4), CAROM_ROOM(work->weigh, n), CAROM_ROOM(work->size, n),
                       CAROM_ROOM(work->M, n * n), CAROM_ROOM(work->q, n), CAROM_ROOM(work->lower, n),
                       CAROM_ROOM(work->upper, n), CAROM_ROOM(work->z, n), CAROM_ROOM(work->w, n)) &&
         carom_mlcp_work_create(work->head.n_max, a, &work->mixed, error) == CAROM_OK;
}

static void destroy_work(void *work) { carom_cone_work_destroy(work); }
static const carom_work_kind kind = {"carom_cone_work_create", "unknowns", 10000,
                                     sizeof(carom_cone_work),  fill_work,  destroy_work};

carom_status carom_cone_work_create(int n_max, const carom_allocator *allocator, carom_cone_work **work,
                                    carom_error *error) {
  return carom_work_create(&kind, n_max, allocator, (void **)work, error);
}

void carom_cone_work_destroy(carom_cone_work *work) {
  if (!work) return;
  carom_allocator a = work->head.allocator;
  carom_mlcp_work_destroy(work->mixed);
  CAROM_RELEASE_ALL(&a, work->G, work->weigh, work->size, work->M, work->q, work->lower, work->upper, work->z, work->w,
                    work);
}

// ---- the program ---------------------------------------------------------------------------------------------------

static bool slides(const carom_friction_cone *c, int contact) { return c->directions > 0 && c->mu[contact] > 0; }
static int edges_per_contact(const carom_friction_cone *c, int contact) {
  return slides(c, contact) ? c->directions : 1;
}

static carom_status check(const carom_friction_cone *c, carom_error *error) {
  bool sizes = c->rows > 0 && c->contacts > 0 && c->directions >= 0 && c->joints >= 0 && c->N &&
               (c->mu || c->directions == 0) && (c->D || c->directions == 0) && (c->F || c->joints == 0);
  if (!sizes || c->rows > 2000 || c->joints > 2000 || (long)c->contacts * (1 + c->directions) > 4000)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "friction cone: %d rows, %d contacts, %d directions, %d joints; expected at least a row and a "
                      "contact, at most 2000 rows and 4000 edges, and matrices for all",
                      c->rows, c->contacts, c->directions, c->joints);
  for (int j = 0; c->directions > 0 && j < c->contacts; j++)
    if (!(c->mu[j] >= 0 && isfinite(c->mu[j])))
      return carom_fail(error, CAROM_ERR_NUMBER, "friction cone: mu[%d] is %g", j, c->mu[j]);
  return CAROM_OK;
}

static double row_size(const carom_friction_cone *c, int row) {
  double size = 0;
  for (int j = 0; j < c->contacts; j++) size = fmax(size, fabs(c->N[row + j * c->rows]));
  for (int j = 0; j < c->contacts * c->directions; j++)
    if (c->mu[j / c->directions] > 0) size = fmax(size, fabs(c->D[row + j * c->rows]));
  return size > 0 ? size : 1;
}

// Row i of edge k of a contact.
static double edge_entry(const carom_friction_cone *c, int contact, int k, int i) {
  double n = c->N[i + contact * c->rows];
  return slides(c, contact) ? n + c->mu[contact] * c->D[i + (contact * c->directions + k) * c->rows] : n;
}

static void fill_edge(const program *p, int contact, int k, int e) {
  const carom_friction_cone *c = p->cone;
  double *g = p->work->G + e * c->rows, length = 0;
  for (int i = 0; i < c->rows; i++) {
    g[i] = edge_entry(c, contact, k, i) / p->work->size[i];
    length += g[i] * g[i];
  }
  length = length > 0 ? sqrt(length) : 1;
  for (int i = 0; i < c->rows; i++) g[i] /= length;
  p->work->weigh[e] = 1 / length;
}

static void set_pair(program *p, int i, int j, double value) {
  p->work->M[(size_t)i + (size_t)j * (size_t)p->n] = value;
  p->work->M[(size_t)j + (size_t)i * (size_t)p->n] = -value;
}

static void fill(program *p) {
  const carom_friction_cone *c = p->cone;
  carom_cone_work *work = p->work;
  int t = c->rows, x = t + 1, joint = x + p->edges, e = 0;
  memset(work->M, 0, sizeof(double) * (size_t)p->n * (size_t)p->n);
  for (int i = 0; i < c->rows; i++) work->size[i] = row_size(c, i);
  for (int contact = 0; contact < c->contacts; contact++)
    for (int k = 0; k < edges_per_contact(c, contact); k++, e++) {
      fill_edge(p, contact, k, e);
      for (int i = 0; i < c->rows; i++) set_pair(p, x + e, i, work->G[i + e * c->rows]);
      set_pair(p, t, x + e, 1);
    }
  for (int j = 0; j < c->joints; j++)
    for (int i = 0; i < c->rows; i++) set_pair(p, joint + j, i, c->F[i + j * c->rows] / work->size[i]);
  for (int i = 0; i < p->n; i++) {
    work->q[i] = i == t ? -1 : 0;
    work->lower[i] = i < t ? -1 : i >= x && i < joint ? 0 : -INFINITY;
    work->upper[i] = i <= t ? 1 : INFINITY;
  }
}

static carom_status solve(program *p, carom_error *error) {
  carom_cone_work *work = p->work;
  carom_mlcp_problem problem = {.n = p->n, .M = work->M, .q = work->q, .lower = work->lower, .upper = work->upper};
  carom_lcp_info info;
  carom_mlcp_solution solution = {work->z, work->w, NULL};
  carom_status status = carom_mlcp_solve(work->mixed, &problem, NULL, &solution, &info, error);
  if (status != CAROM_OK || info.outcome == CAROM_LCP_SOLVED) return status;
  return carom_fail(error, CAROM_NOT_CONVERGED, "friction cone: the linear program was not solved (%s, residual %g)",
                    carom_lcp_outcome_name(info.outcome), info.residual);
}

// ---- the answer ----------------------------------------------------------------------------------------------------

// From weights of edges to impulses: c, beta, p, with the c summing to 1.
static void read_impulse(const program *p, double *impulse) {
  const carom_friction_cone *c = p->cone;
  int e = 0, betas = c->contacts * c->directions;
  double sum = 0, *x = p->work->z + c->rows + 1;
  memset(impulse, 0, sizeof(double) * (size_t)(c->contacts + betas + c->joints));
  for (int contact = 0; contact < c->contacts; contact++)
    for (int k = 0; k < edges_per_contact(c, contact); k++, e++) {
      double weight = x[e] * p->work->weigh[e];
      impulse[contact] += weight, sum += weight;
      if (slides(c, contact)) impulse[c->contacts + contact * c->directions + k] = c->mu[contact] * weight;
    }
  memcpy(impulse + c->contacts + betas, x + e, sizeof(double) * (size_t)c->joints);
  for (int i = 0; sum > 0 && i < c->contacts + betas + c->joints; i++) impulse[i] /= sum;
}

// The least rate of an edge of length 1, in the caller's units, along y.
static double least_rate(const carom_friction_cone *c, const double *y) {
  double least = INFINITY;
  for (int contact = 0; contact < c->contacts; contact++)
    for (int k = 0; k < edges_per_contact(c, contact); k++) {
      double rate = 0, length = 0;
      for (int i = 0; i < c->rows; i++) {
        double g = edge_entry(c, contact, k, i);
        rate += g * y[i], length += g * g;
      }
      least = fmin(least, length > 0 ? rate / sqrt(length) : 0);
    }
  return least;
}

// The velocity back in the caller's units, in place of that of the program.
static double read_velocity(const program *p) {
  double *y = p->work->z, most = 0;
  for (int i = 0; i < p->cone->rows; i++) y[i] /= p->work->size[i], most = fmax(most, fabs(y[i]));
  for (int i = 0; most > 0 && i < p->cone->rows; i++) y[i] /= most;
  return least_rate(p->cone, y);
}

carom_status carom_cone_work_pointed(carom_cone_work *work, const carom_friction_cone *cone,
                                     carom_friction_cone_answer *answer, carom_error *error) {
  carom_status status = check(cone, error);
  if (status != CAROM_OK) return status;
  program p = {.cone = cone, .work = work};
  for (int j = 0; j < cone->contacts; j++) p.edges += edges_per_contact(cone, j);
  p.n = cone->rows + 1 + p.edges + cone->joints;
  if (p.n > work->head.n_max)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "friction cone: %d unknowns, but the work was made for up to %d", p.n,
                      work->head.n_max);
  fill(&p);
  status = solve(&p, error);
  if (status != CAROM_OK) return status;
  answer->pointed = work->z[cone->rows] > FLAT;
  answer->margin = answer->pointed ? read_velocity(&p) : 0;
  if (answer->pointed && answer->velocity) memcpy(answer->velocity, work->z, sizeof(double) * (size_t)cone->rows);
  if (!answer->pointed && answer->impulse) read_impulse(&p, answer->impulse);
  return CAROM_OK;
}

carom_status carom_friction_cone_pointed(const carom_friction_cone *cone, const carom_allocator *allocator,
                                         carom_friction_cone_answer *answer, carom_error *error) {
  carom_status status = check(cone, error);
  if (status != CAROM_OK) return status;
  carom_cone_work *work;
  int edges = cone->contacts * (cone->directions > 1 ? cone->directions : 1);
  status = carom_cone_work_create(cone->rows + 1 + edges + cone->joints, allocator, &work, error);
  if (status != CAROM_OK) return status;
  status = carom_cone_work_pointed(work, cone, answer, error);
  carom_cone_work_destroy(work);
  return status;
}
