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
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/lcp_problem.h"

typedef struct program {
  const carom_friction_cone *cone;
  int edges, n;                           // edges of the cone; unknowns: rows, 1, edges, joints
  double *G;                              // rows x edges
  double *M, *q, *lower, *upper, *z, *w;  // the mixed problem
} program;

static const double FLAT = 1e-9;  // margins below this are none

static int edges_per_contact(const carom_friction_cone *c, int contact) {
  return c->directions > 0 && c->mu[contact] > 0 ? c->directions : 1;
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

static bool allocate(program *p, const carom_allocator *a) {
  size_t n = (size_t)p->n;
  return CAROM_NEW_ALL(a, CAROM_ROOM(p->G, p->cone->rows * p->edges), CAROM_ROOM(p->M, n * n), CAROM_ROOM(p->q, n),
                       CAROM_ROOM(p->lower, n), CAROM_ROOM(p->upper, n), CAROM_ROOM(p->z, n), CAROM_ROOM(p->w, n));
}

static void release(program *p, const carom_allocator *a) {
  double *const blocks[] = {p->G, p->M, p->q, p->lower, p->upper, p->z, p->w};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) carom_release(a, blocks[i]);
}

// Edges of unit length, so that the margin is a rate per unit impulse. Returns the length of edge k of a contact.
static double edge(const carom_friction_cone *c, int contact, int k, double *g) {
  double length = 0;
  bool slides = c->directions > 0 && c->mu[contact] > 0;
  for (int i = 0; i < c->rows; i++) {
    g[i] = c->N[i + contact * c->rows];
    if (slides) g[i] += c->mu[contact] * c->D[i + (contact * c->directions + k) * c->rows];
    length += g[i] * g[i];
  }
  length = sqrt(length);
  for (int i = 0; length > 0 && i < c->rows; i++) g[i] /= length;
  return length > 0 ? length : 1;
}

static void set_pair(program *p, int i, int j, double value) {
  p->M[(size_t)i + (size_t)j * (size_t)p->n] = value;
  p->M[(size_t)j + (size_t)i * (size_t)p->n] = -value;
}

static void fill(program *p) {
  const carom_friction_cone *c = p->cone;
  int t = c->rows, x = t + 1, joint = x + p->edges, e = 0;
  for (int contact = 0; contact < c->contacts; contact++)
    for (int k = 0; k < edges_per_contact(c, contact); k++, e++) {
      double *g = p->G + e * c->rows;
      edge(c, contact, k, g);
      for (int i = 0; i < c->rows; i++) set_pair(p, x + e, i, g[i]);
      set_pair(p, t, x + e, 1);
    }
  for (int j = 0; j < c->joints; j++)
    for (int i = 0; i < c->rows; i++) set_pair(p, joint + j, i, c->F[i + j * c->rows]);
  for (int i = 0; i < p->n; i++) {
    p->q[i] = i == t ? -1 : 0;
    p->lower[i] = i < t ? -1 : i >= x && i < joint ? 0 : -INFINITY;
    p->upper[i] = i <= t ? 1 : INFINITY;
  }
}

static carom_status solve(program *p, const carom_allocator *a, carom_error *error) {
  carom_mlcp_problem problem = {.n = p->n, .M = p->M, .q = p->q, .lower = p->lower, .upper = p->upper};
  carom_mlcp_work *work;
  carom_lcp_info info;
  carom_status status = carom_mlcp_work_create(p->n, a, &work, error);
  if (status == CAROM_OK)
    status = carom_mlcp_solve(work, &problem, NULL, &(carom_mlcp_solution){p->z, p->w, NULL}, &info, error);
  carom_mlcp_work_destroy(work);
  if (status != CAROM_OK || info.outcome == CAROM_LCP_SOLVED) return status;
  return carom_fail(error, CAROM_NOT_CONVERGED, "friction cone: the linear program was not solved (%s, residual %g)",
                    carom_lcp_outcome_name(info.outcome), info.residual);
}

// From weights of edges to impulses: c, beta, p, with the c summing to 1.
static void read_impulse(const program *p, double *impulse) {
  const carom_friction_cone *c = p->cone;
  int e = c->rows + 1, betas = c->contacts * c->directions;
  double sum = 0, *g = p->G;
  memset(impulse, 0, sizeof(double) * (size_t)(c->contacts + betas + c->joints));
  for (int contact = 0; contact < c->contacts; contact++)
    for (int k = 0; k < edges_per_contact(c, contact); k++, e++) {
      double weight = p->z[e] / edge(c, contact, k, g);
      impulse[contact] += weight, sum += weight;
      if (c->directions > 0 && c->mu[contact] > 0)
        impulse[c->contacts + contact * c->directions + k] = c->mu[contact] * weight;
    }
  memcpy(impulse + c->contacts + betas, p->z + e, sizeof(double) * (size_t)c->joints);
  for (int i = 0; sum > 0 && i < c->contacts + betas + c->joints; i++) impulse[i] /= sum;
}

carom_status carom_friction_cone_pointed(const carom_friction_cone *cone, const carom_allocator *allocator,
                                         carom_friction_cone_answer *answer, carom_error *error) {
  carom_status status = check(cone, error);
  if (status != CAROM_OK) return status;
  carom_allocator a = carom_allocator_or_default(allocator);
  program p = {.cone = cone};
  for (int j = 0; j < cone->contacts; j++) p.edges += edges_per_contact(cone, j);
  p.n = cone->rows + 1 + p.edges + cone->joints;
  status = allocate(&p, &a) ? CAROM_OK : carom_fail(error, CAROM_ERR_MEMORY, "friction cone: out of memory");
  if (status == CAROM_OK) fill(&p), status = solve(&p, &a, error);
  if (status == CAROM_OK) {
    answer->pointed = p.z[cone->rows] > FLAT;
    answer->margin = answer->pointed ? p.z[cone->rows] : 0;
    if (answer->pointed && answer->velocity) memcpy(answer->velocity, p.z, sizeof(double) * (size_t)cone->rows);
    if (!answer->pointed && answer->impulse) read_impulse(&p, answer->impulse);
  }
  release(&p, &a);
  return status;
}
