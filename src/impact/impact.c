// Impacts: the law along the normals, friction, and what every law owes: no approach afterwards, no energy from
// nowhere.
//
// A law is split into plastic impulses, which end the approach, and restitution, which the law adds to them. Without
// friction bodies get P + s R, with P the plastic impulses and R the restitution. s is 1 unless energy would rise,
// which laws for single contacts may do when contacts are many; s = 0, plastic contact, never gains energy. Where the
// law keeps energy, s is the root near 1 of the quadratic that says so, which removes the round-off of the solves.
//
// Friction acts as long as the bodies are pressed together, in compression and in restitution: the law tells how fast
// contacts part, and Coulomb's law holds between the whole impulses, normal and tangential, and the slip that is left
// (Moreau 1988; Jean 1999). Bodies get (1 - s) P + s F, with P the plastic impulses with friction and F those of the
// law. Both lie in the cone and leave no approach, and so does their mean. Again s is 1 unless energy would rise, as it
// may where friction couples with the normals (Kane and Levinson 1985).
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "contact/solve/plastic.h"
#include "impact/work.h"

enum { MAX_SWEEPS = 1000 };

// A normal impulse that changes velocities by less, relative to the fastest before the impact, is none.
static const double PUSHED = 1e-12;

static const char *const law_names[CAROM_IMPACT_LAW_COUNT] = {"generalized", "sum",     "decomposition",
                                                              "newton",      "poisson", "plastic"};

const char *carom_impact_law_name(int law) { return law >= 0 && law < CAROM_IMPACT_LAW_COUNT ? law_names[law] : NULL; }

// ---- scratch -----------------------------------------------------------------------------------------------------

static void push(void *owner, carom_arena *arena) {
  carom_impact_work *k = owner;
  size_t n = (size_t)k->capacity;
  double **vectors[] = {&k->u, &k->plastic, &k->law, &k->extra, &k->now, &k->sub_b, &k->sub_P, &k->even_b, &k->unit};
  double **triples[] = {&k->P, &k->v, &k->base, &k->full, &k->b};
  k->N = CAROM_PUSH(arena, double, n *n);
  k->sub_N = CAROM_PUSH(arena, double, n *n);
  k->even_N = CAROM_PUSH(arena, double, n *n);
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = CAROM_PUSH(arena, double, n);
  for (size_t i = 0; i < sizeof triples / sizeof *triples; i++) *triples[i] = CAROM_PUSH(arena, double, 3 * n);
  k->list = CAROM_PUSH(arena, int, n);
  carom_plastic_work_push(&k->friction, k->capacity, arena);
}

carom_status carom_impact_work_create(int max_count, const carom_allocator *allocator, carom_impact_work **work,
                                      carom_error *error) {
  *work = NULL;
  if (max_count < 0) return carom_fail(error, CAROM_ERR_ARGUMENT, "an impact of %d contacts", max_count);
  const carom_impact_work initial = {.capacity = max_count};
  *work = carom_object_create(&initial, sizeof initial, push, allocator, error);
  return *work ? CAROM_OK : CAROM_ERR_MEMORY;
}

void carom_impact_work_destroy(carom_impact_work *work) {
  if (work) carom_object_destroy(work);
}

int carom_impact_work_capacity(const carom_impact_work *work) { return work->capacity; }

// ---- energy ------------------------------------------------------------------------------------------------------

// v = u + W P.
static void velocity_after(const carom_impact_problem *q, const double *P, double *v) {
  int m = 3 * q->count;
  memcpy(v, q->velocity, (size_t)m * sizeof *v);
  carom_impact_add_product(m, q->W, P, v);
}

// Work of the normal and of the tangential impulses: impulse times mean velocity (Thomson and Tait 1867, 309).
static void work_of(const carom_impact_problem *q, const double *P, const double *v, double *normal, double *tangent) {
  *normal = *tangent = 0;
  for (int i = 0; i < 3 * q->count; i++) *(i % 3 == 0 ? normal : tangent) += 0.5 * P[i] * (q->velocity[i] + v[i]);
}

static double gain_of(const carom_impact_problem *q, const double *P, double *v) {
  double normal, tangent;
  velocity_after(q, P, v);
  work_of(q, P, v, &normal, &tangent);
  return normal + tangent;
}

static double fastest_approach(int n, const double *v) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, -v[3 * i]);
  return most;
}

// ---- the parts of an impact --------------------------------------------------------------------------------------

static void take_normals(carom_impact_work *k, const carom_impact_problem *q) {
  int n = q->count, m = 3 * n;
  for (int j = 0; j < n; j++) {
    k->u[j] = q->velocity[3 * j];
    for (int i = 0; i < n; i++) k->N[i + j * n] = q->W[3 * i + 3 * j * m];
  }
}

static bool has_friction(const carom_impact_problem *q) {
  for (int i = 0; i < q->count; i++)
    if (q->friction[i] > 0) return true;
  return false;
}

// Plastic impulses without friction in `plastic`, with it in `base`.
static bool compress(carom_impact_work *k, const carom_impact_problem *q, int *sweeps) {
  int n = q->count;
  bool solved = carom_impact_compress(k, n, k->N, k->u, k->plastic);
  memset(k->base, 0, 3 * (size_t)n * sizeof *k->base);
  for (int i = 0; i < n; i++) k->base[3 * i] = k->plastic[i];
  *sweeps = 0;
  if (!has_friction(q)) return solved;
  carom_plastic_info f =
      carom_plastic_solve(&k->friction, &(carom_plastic_problem){n, q->W, q->velocity, q->friction, 0}, k->base, k->v);
  *sweeps = f.sweeps;
  return solved && (f.converged || f.change <= 1e-9);
}

static bool is_elastic(const carom_impact_problem *q) {
  for (int i = 0; i < q->count; i++)
    if (q->restitution[i] != 1) return false;
  return true;
}

// What the law adds to the plastic impulses. Generalised reflections know e = 1 only; in between, the mean of both is
// taken, since both leave no approach (Smith et al. 2012, section 6).
static bool restitute(carom_impact_work *k, const carom_impact_problem *q, carom_impact_law law, int *iterations) {
  int n = q->count;
  bool solved = true, blend = law == CAROM_IMPACT_GENERALIZED;
  memcpy(k->law, k->plastic, (size_t)n * sizeof *k->law);
  bool single = law == CAROM_IMPACT_NEWTON || law == CAROM_IMPACT_POISSON, elastic = single && is_elastic(q);
  if (blend || elastic) solved = carom_impact_reflect(k, n, elastic, iterations);
  if (law == CAROM_IMPACT_SUM) solved = carom_impact_sum(k, n, q->restitution, iterations);
  if (law == CAROM_IMPACT_NEWTON && !elastic) solved = carom_impact_newton(k, n, q->restitution, iterations);
  if (law == CAROM_IMPACT_POISSON && !elastic) solved = carom_impact_poisson(k, n, q->restitution, iterations);
  for (int i = 0; i < n; i++) k->extra[i] = (blend ? q->restitution[i] : 1) * (k->law[i] - k->plastic[i]);
  if (!solved) memset(k->extra, 0, (size_t)n * sizeof *k->extra);
  return solved;
}

// How fast contacts part by the law, friction aside, in `now`. Those that it does not push need not part at all.
static void parting_speeds(carom_impact_work *k, int n, double size) {
  memcpy(k->now, k->u, (size_t)n * sizeof *k->now);
  for (int i = 0; i < n; i++) k->law[i] = k->plastic[i] + k->extra[i];
  carom_impact_add_product(n, k->N, k->law, k->now);
  for (int i = 0; i < n; i++) {
    bool pushed = k->law[i] * k->N[i + i * n] > PUSHED * size;
    k->now[i] = pushed ? fmax(0, k->now[i]) : 0;
  }
}

// Impulses in `full`, beginning from those that are there, by which contacts part with the speeds in `now`, and
// Coulomb's law holds for the whole of them.
static bool part_rubbing(carom_impact_work *k, const carom_impact_problem *q, int *sweeps) {
  int n = q->count;
  memcpy(k->b, q->velocity, 3 * (size_t)n * sizeof *k->b);
  for (int i = 0; i < n; i++) k->b[3 * i] -= k->now[i];
  carom_plastic_info f =
      carom_plastic_solve(&k->friction, &(carom_plastic_problem){n, q->W, k->b, q->friction, 0}, k->full, k->v);
  *sweeps += f.sweeps;
  return f.converged || f.change <= 1e-9;
}

// Restitution along the normals alone in `full`, friction kept in its cone where it takes pressure away.
static void part_smoothly(carom_impact_work *k, const carom_impact_problem *q) {
  memcpy(k->full, k->base, 3 * (size_t)q->count * sizeof *k->full);
  for (int i = 0; i < q->count; i++) {
    double *P = k->full + 3 * i, t = hypot(P[1], P[2]);
    P[0] = fmax(0, P[0] + k->extra[i]);
    double most = q->friction[i] * P[0];
    for (int r = 1; r < 3 && t > most; r++) P[r] *= most / t;
  }
}

// Fills `full`: the law, with friction where there is any. Contacts that friction wedges may have no impulses by which
// all of them part (those of the plastic problem always exist): then they rub in compression only.
static void add_restitution(carom_impact_work *k, const carom_impact_problem *q, double size, int *sweeps) {
  bool parts = false;
  for (int i = 0; i < q->count; i++) parts = parts || k->extra[i] != 0;
  part_smoothly(k, q);
  if (!parts || !has_friction(q)) return;
  parting_speeds(k, q->count, size);
  if (part_rubbing(k, q, sweeps)) return;
  memcpy(k->full, k->base, 3 * (size_t)q->count * sizeof *k->full);
  if (!part_rubbing(k, q, sweeps)) part_smoothly(k, q);
}

// P = (1 - s) base + s full.
static void combine(const carom_impact_work *k, const carom_impact_problem *q, double s, double *P) {
  for (int i = 0; i < 3 * q->count; i++) P[i] = (1 - s) * k->base[i] + s * k->full[i];
  for (int i = 0; i < q->count; i++) P[3 * i] = fmax(0, P[3 * i]);
}

static bool keeps_energy(const carom_impact_problem *q, carom_impact_law law) {
  return law != CAROM_IMPACT_PLASTIC && is_elastic(q) && !has_friction(q);
}

// The s near 1 at which base + s extra keeps the energy: a Newton step or two on the gain.
static double conserving_share(carom_impact_work *k, const carom_impact_problem *q) {
  double s = 1;
  for (int i = 0; i < 3; i++) {
    combine(k, q, s, k->P);
    double gain = gain_of(q, k->P, k->v), slope = 0;
    for (int c = 0; c < q->count; c++) slope += (k->full[3 * c] - k->base[3 * c]) * k->v[3 * c];
    double step = slope > 0 ? gain / slope : 0;
    if (!(fabs(step) < 1e-2)) return s;
    s -= step;
  }
  return s;
}

// The largest s in [0, 1] at which energy does not rise.
static double passive_share(carom_impact_work *k, const carom_impact_problem *q) {
  double lo = 0, hi = 1;
  combine(k, q, 1, k->P);
  if (gain_of(q, k->P, k->v) <= 0) return 1;
  for (int i = 0; i < 60; i++) {
    double s = 0.5 * (lo + hi);
    combine(k, q, s, k->P);
    if (gain_of(q, k->P, k->v) <= 0)
      lo = s;
    else
      hi = s;
  }
  return lo;
}

// Contacts that approach still are stopped: more pressure, less energy.
static bool stop_approach(carom_impact_work *k, const carom_impact_problem *q, double threshold) {
  int n = q->count;
  velocity_after(q, k->P, k->v);
  if (!(fastest_approach(n, k->v) > threshold)) return true;
  for (int i = 0; i < n; i++) k->now[i] = k->v[3 * i];
  bool solved = carom_impact_compress(k, n, k->N, k->now, k->law);
  for (int i = 0; i < n; i++) k->P[3 * i] += k->law[i];
  return solved;
}

// ---- the published decomposition ---------------------------------------------------------------------------------

// Contact i alone (Johnson 2012, eqs. 3.103-3.119): the part of the momentum that its impulses can change splits into a
// normal one, p_norm = n u_n / W_nn, and a sliding one, p_slide = W^-1 u - p_norm, orthogonal to it in the norm of
// kinetic energy. The first is reflected with e, the second taken away, at most up to mu times the length of the first.
static void decompose(const double *A, int lda, const double u[3], double e, double mu, double I[3]) {
  double nn = A[0], a = A[1] / nn, b = A[2] / nn;
  double s[2] = {u[1] - a * u[0], u[2] - b * u[0]};  // sliding velocity
  double S[3] = {A[1 + lda] - a * A[1], A[2 + lda] - a * A[2], A[2 + 2 * lda] - b * A[2]};
  double det = S[0] * S[2] - S[1] * S[1], t[2] = {0, 0};
  I[0] = -(1 + e) * u[0] / nn, I[1] = I[2] = 0;
  if (!(mu > 0) || !(det > 0)) return;
  t[0] = -(S[2] * s[0] - S[1] * s[1]) / det, t[1] = -(S[0] * s[1] - S[1] * s[0]) / det;
  double slide = sqrt(fmax(0, -(t[0] * s[0] + t[1] * s[1]))), norm = fabs(u[0]) / sqrt(nn);
  double part = slide > mu * norm ? mu * norm / slide : 1;
  I[1] = part * t[0], I[2] = part * t[1];
  I[0] -= a * I[1] + b * I[2];  // so that the normal velocity is what e says
}

static bool solve_decomposition(carom_impact_work *k, const carom_impact_problem *q, double threshold, int *sweeps) {
  int n = q->count, m = 3 * n;
  memset(k->P, 0, (size_t)m * sizeof *k->P);
  memcpy(k->v, q->velocity, (size_t)m * sizeof *k->v);
  bool approaching = true;
  for (*sweeps = 0; *sweeps < MAX_SWEEPS && approaching; ++*sweeps) {
    approaching = false;
    for (int i = 0; i < n; i++) {
      const double *A = q->W + 3 * i + 3 * i * m;
      if (!(k->v[3 * i] < -threshold) || !(A[0] > 0)) continue;
      approaching = true;
      double I[3];
      decompose(A, m, k->v + 3 * i, q->restitution[i], q->friction[i], I);
      for (int r = 0; r < 3; r++) {
        k->P[3 * i + r] += I[r];
        for (int j = 0; j < m; j++) k->v[j] += I[r] * q->W[j + (3 * i + r) * m];
      }
    }
  }
  return !approaching;
}

// ---- the problem -------------------------------------------------------------------------------------------------

static carom_status check(const carom_impact_work *work, const carom_impact_problem *q, carom_error *error) {
  if (q->count < 0 || q->count > work->capacity)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "an impact of %d contacts; there is room for %d", q->count,
                      work->capacity);
  for (int i = 0; i < 3 * q->count; i++) {
    double sum = q->velocity[i];
    for (int k = 0; k < 3 * q->count; k++) sum += q->W[3 * q->count * i + k];
    if (!isfinite(sum))
      return carom_fail(
          error, CAROM_ERR_NUMBER,
          "the velocity at contact %d, or the masses of what meets there, are not finite: check the start "
          "state, the masses and the forces",
          i / 3);
  }
  for (int i = 0; i < q->count; i++)
    if (!(q->restitution[i] >= 0 && q->restitution[i] <= 1) || !(q->friction[i] >= 0) || isinf(q->friction[i]))
      return carom_fail(error, CAROM_ERR_ARGUMENT, "contact %d has restitution %g and friction %g", i,
                        q->restitution[i], q->friction[i]);
  return CAROM_OK;
}

static double largest(int n, const double *v) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
  return most;
}

// Losses that coupling makes negative are taken from the other kind; elastic contacts lose by friction alone.
static void book(const carom_impact_problem *q, const double *P, const double *v, double size,
                 carom_impact_info *info) {
  double normal, tangent;
  work_of(q, P, v, &normal, &tangent);
  info->restitution_loss = -normal, info->friction_loss = -tangent;
  if (tangent > 0) info->friction_loss = 0, info->restitution_loss = -(normal + tangent);
  if ((normal > 0 && tangent <= 0) || (is_elastic(q) && has_friction(q)))
    info->restitution_loss = 0, info->friction_loss = -(normal + tangent);
  info->approach = size > 0 ? fastest_approach(q->count, v) / size : 0;
}

static carom_status deliver(carom_impact_work *k, const carom_impact_problem *q, double size,
                            carom_impact_solution *solution, carom_impact_info *info) {
  size_t bytes = 3 * (size_t)q->count * sizeof(double);
  velocity_after(q, k->P, k->v);
  book(q, k->P, k->v, size, info);
  memcpy(solution->impulse, k->P, bytes);
  if (solution->velocity) memcpy(solution->velocity, k->v, bytes);
  return CAROM_OK;
}

// Coulomb's law at contact i: how far the tangential impulse is from the disc's nearest to where sliding would take it.
static double rubbing_residual(const carom_impact_problem *q, int i, const double *P, const double *v) {
  int m = 3 * q->count, t = 3 * i + 1;
  double weight = fmax(q->W[t + t * m], q->W[t + 1 + (t + 1) * m]), most = q->friction[i] * P[3 * i];
  if (!(weight > 0)) return 0;
  double x = P[t] - v[t] / weight, y = P[t + 1] - v[t + 1] / weight, length = hypot(x, y);
  double part = length > most ? most / length : 1;
  return weight * hypot(P[t] - part * x, P[t + 1] - part * y);
}

// Natural residual of Newton's law with Coulomb's: 0 <= P_n, u+ + e u- >= 0, complementary. Where energy would have
// risen, and where contacts were reflected again, the law does not hold, and this says by how much.
static double newton_residual(const carom_impact_problem *q, const double *P, const double *v) {
  double worst = 0;
  int m = 3 * q->count;
  for (int i = 0; i < q->count; i++) {
    double excess = v[3 * i] + q->restitution[i] * q->velocity[3 * i], weight = q->W[3 * i + 3 * i * m] * P[3 * i];
    worst = fmax(worst, fmax(fabs(fmin(excess, weight)), rubbing_residual(q, i, P, v)));
  }
  return worst;
}

carom_status carom_impact_solve(carom_impact_work *work, const carom_impact_problem *problem, carom_impact_law law,
                                carom_impact_solution *solution, carom_impact_info *info, carom_error *error) {
  carom_impact_info own;
  if (!info) info = &own;
  *info = (carom_impact_info){.converged = true};
  carom_status status = check(work, problem, error);
  if (status != CAROM_OK) return status;
  carom_impact_work *k = work;
  int n = problem->count, sweeps = 0;
  double size = largest(3 * n, problem->velocity), threshold = 8 * DBL_EPSILON * size;
  memset(k->P, 0, 3 * (size_t)n * sizeof *k->P);
  if (!(fastest_approach(n, problem->velocity) > threshold)) return deliver(k, problem, size, solution, info);
  take_normals(k, problem);
  if (law == CAROM_IMPACT_DECOMPOSITION) {
    info->converged = solve_decomposition(k, problem, 1e-13 * size, &info->iterations);
  } else {
    info->converged = compress(k, problem, &sweeps);
    info->converged = restitute(k, problem, law, &info->iterations) && info->converged;
    add_restitution(k, problem, size, &sweeps);
    if (sweeps > info->iterations) info->iterations = sweeps;
    double s = keeps_energy(problem, law) ? conserving_share(k, problem) : passive_share(k, problem);
    combine(k, problem, s, k->P);
  }
  info->converged = stop_approach(k, problem, threshold) && info->converged;
  status = deliver(k, problem, size, solution, info);
  if (law == CAROM_IMPACT_NEWTON) info->complementarity = newton_residual(problem, k->P, k->v) / size;
  return status;
}

// ---- contacts that last ------------------------------------------------------------------------------------------

static double rest_residual(const carom_impact_problem *q, const double *target, const double *P, const double *v) {
  double worst = 0;
  int m = 3 * q->count;
  for (int i = 0; i < q->count; i++) {
    double excess = v[3 * i] - (target ? target[3 * i] : 0), weight = q->W[3 * i + 3 * i * m] * P[3 * i];
    worst = fmax(worst, fabs(fmin(excess, weight)));
  }
  return worst;
}

carom_status carom_impact_rest(carom_impact_work *work, const carom_impact_problem *problem,
                               const carom_impact_aim *aim, carom_impact_solution *solution, carom_impact_info *info,
                               carom_error *error) {
  carom_impact_info own;
  if (!info) info = &own;
  *info = (carom_impact_info){.converged = true};
  carom_status status = check(work, problem, error);
  if (status != CAROM_OK) return status;
  carom_impact_work *k = work;
  const double *target = aim ? aim->target : NULL, *guess = solution->impulse;
  double noise = aim ? aim->noise : 0;
  int n = problem->count, m = 3 * n;
  for (int i = 0; i < m; i++) k->b[i] = problem->velocity[i] - (target ? target[i] : 0);
  double size = largest(m, k->b);
  take_normals(k, problem);
  for (int i = 0; i < n; i++) k->u[i] = k->b[3 * i];
  if (has_friction(problem)) {
    memcpy(k->P, guess, (size_t)m * sizeof *k->P);
    if (largest(m, guess) == 0) {
      carom_impact_compress(k, n, k->N, k->u, k->plastic);
      for (int i = 0; i < n; i++) k->P[3 * i] = k->plastic[i];
    }
    carom_plastic_info f = carom_plastic_solve(
        &k->friction, &(carom_plastic_problem){n, problem->W, k->b, problem->friction, noise}, k->P, k->v);
    info->converged = f.converged || f.change <= 1e-9;
    info->iterations = f.sweeps;
  } else {
    info->converged = carom_impact_compress(k, n, k->N, k->u, k->plastic);
    memset(k->P, 0, (size_t)m * sizeof *k->P);
    for (int i = 0; i < n; i++) k->P[3 * i] = k->plastic[i];
  }
  deliver(k, problem, size, solution, info);
  info->complementarity = size > 0 ? rest_residual(problem, target, k->P, k->v) / size : 0;
  return CAROM_OK;
}
