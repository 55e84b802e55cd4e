// The solver of carom/friction.h: sweeps with momentum as long as they pay, Newton's method by sparse blocks where they
// do not, in turns, judged by the natural map.
#include "carom/friction.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "carom/vec.h"
#include "contact/solve/friction_infeasible.h"
#include "contact/solve/friction_interior.h"
#include "contact/solve/newton.h"
#include "contact/solve/plastic.h"

typedef struct portfolio {
  const carom_friction_problem *problem;
  carom_friction_options options;
  carom_allocator allocator;
  carom_friction_info *info;
  int rows;
  // the problem made ready
  carom_block *blocks;
  int *start, *column, *own;
  double *value;
  carom_block_rows W;
  carom_assembled a;
  carom_newton *newton;
  // iterates
  double *P, *u, *P_before, *u_before, *best;
  double least;  // natural map of `best`
  bool proven;   // that there is no solution
} portfolio;

carom_friction_options carom_friction_default_options(void) {
  return (carom_friction_options){.method = CAROM_FRICTION_AUTO, .tolerance = 1e-9};
}

static const char *const METHODS[CAROM_FRICTION_METHOD_COUNT] = {"auto", "sweeps", "newton", "interior"};

const char *carom_friction_method_name(carom_friction_method method) {
  return method >= 0 && method < CAROM_FRICTION_METHOD_COUNT ? METHODS[method] : NULL;
}

const char *carom_friction_outcome_name(carom_friction_outcome outcome) {
  static const char *const names[] = {"solved", "limit", "infeasible"};
  return outcome >= 0 && outcome <= CAROM_FRICTION_INFEASIBLE ? names[outcome] : NULL;
}

// ---- the judge ------------------------------------------------------------------------------------------------------

static const double *own_block(const carom_friction_problem *p, int contact) {
  for (int k = p->start[contact]; k < p->start[contact + 1]; k++)
    if (p->column[k] == contact) return p->W + (size_t)(p->dimension * p->dimension) * (size_t)k;
  return NULL;
}

static double response(const carom_friction_problem *p, int contact) {
  const double *own = own_block(p, contact);
  double sum = 0;
  for (int k = 0; own && k < p->dimension; k++) sum += own[k * (p->dimension + 1)];
  return sum / p->dimension;
}

static double tangential(int dimension, const double *x) { return dimension == 3 ? hypot(x[1], x[2]) : fabs(x[1]); }

// |w (r - P_K(r - v / w))| with v = u + mu |u_t| e_n. Inside the cone that is |v|, without the round-off of a large r.
static double natural_map(int dimension, double mu, double w, const double *r, const double *u) {
  double z[3] = {0}, v[3] = {0}, sum = 0;
  if (!(w > 0)) return 0;
  for (int k = 0; k < dimension; k++) v[k] = u[k];
  v[0] += mu * tangential(dimension, u);
  for (int k = 0; k < dimension; k++) z[k] = r[k] - v[k] / w;
  double n = z[0], t = tangential(dimension, z), p[3] = {0};
  if (t <= mu * n) {
    for (int k = 0; k < dimension; k++) sum += v[k] * v[k];
    return sqrt(sum);
  }
  if (mu * t > -n) {
    p[0] = (n + mu * t) / (1 + mu * mu);
    for (int k = 1; k < dimension; k++) p[k] = t > 0 ? mu * p[0] * z[k] / t : 0;
  }
  for (int k = 0; k < dimension; k++) sum += (r[k] - p[k]) * (r[k] - p[k]);
  return w * sqrt(sum);
}

double carom_friction_residual(const carom_friction_problem *p, const double *r, const double *u, int *worst) {
  double most = 0;
  int at = 0, d = p->dimension;
  for (int i = 0; i < p->contact_count; i++) {
    double own = natural_map(d, p->mu[i], response(p, i), r + d * i, u + d * i);
    if (!(own <= most)) most = own, at = i;
  }
  if (worst) *worst = at;
  return isfinite(most) ? most : INFINITY;
}

// ---- making ready ---------------------------------------------------------------------------------------------------

static carom_status check_contact(const carom_friction_problem *p, int i, carom_error *error) {
  const double *own = own_block(p, i);
  for (int k = p->start[i]; k < p->start[i + 1]; k++)
    if (p->column[k] < 0 || p->column[k] >= p->contact_count || (k > p->start[i] && p->column[k] <= p->column[k - 1]))
      return carom_fail(error, CAROM_ERR_ARGUMENT,
                        "friction: blocks of contact %d: column %d is out of order; give each once, ascending", i,
                        p->column[k]);
  for (int k = 0; own && k < p->dimension; k++)
    if (own[k * (p->dimension + 1)] < 0)
      return carom_fail(error, CAROM_ERR_ARGUMENT,
                        "friction: W has %g on the diagonal at contact %d; it must be positive semidefinite",
                        own[k * (p->dimension + 1)], i);
  if (!(p->mu[i] >= 0 && isfinite(p->mu[i])))
    return carom_fail(error, CAROM_ERR_NUMBER, "friction: mu of contact %d is %g; it must be finite and not negative",
                      i, p->mu[i]);
  return CAROM_OK;
}

static bool all_finite(const double *x, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

static carom_status check(const carom_friction_problem *p, const carom_friction_options *o, carom_error *error) {
  if (p->dimension != 2 && p->dimension != 3)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "friction: contacts of dimension %d; 2 and 3 are known", p->dimension);
  if (p->contact_count < 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "friction: %d contacts; there cannot be fewer than none",
                      p->contact_count);
  if (!(o->tolerance >= 0) || o->max_sweeps < 0 || o->max_steps < 0 || o->method < 0 ||
      o->method >= CAROM_FRICTION_METHOD_COUNT)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "friction: an option is out of range");
  size_t d = (size_t)p->dimension, n = (size_t)p->contact_count;
  for (int i = 0; i < p->contact_count; i++)
    if (p->start[i + 1] < p->start[i])
      return carom_fail(error, CAROM_ERR_ARGUMENT, "friction: the blocks of contact %d end before they begin", i);
  if (!all_finite(p->q, d * n))
    return carom_fail(error, CAROM_ERR_NUMBER, "friction: q has a number that is not finite");
  if (!all_finite(p->W, n > 0 ? d * d * (size_t)p->start[n] : 0))
    return carom_fail(error, CAROM_ERR_NUMBER, "friction: W has a number that is not finite");
  for (int i = 0; i < p->contact_count; i++) {
    carom_status status = check_contact(p, i, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

// Blocks by column: whose row they stand in, and their numbers. Rows ascend.
typedef struct by_column {
  int *start, *row, *number;
} by_column;

static void sort_by_column(const carom_friction_problem *p, const by_column *c) {
  int n = p->contact_count;
  memset(c->start, 0, ((size_t)n + 1) * sizeof *c->start);
  for (int k = 0; k < p->start[n]; k++) c->start[p->column[k] + 1]++;
  for (int j = 0; j < n; j++) c->start[j + 1] += c->start[j];
  for (int i = 0; i < n; i++)
    for (int k = p->start[i]; k < p->start[i + 1]; k++) {
      int to = c->start[p->column[k]]++;
      c->row[to] = i, c->number[to] = k;
    }
  memmove(c->start + 1, c->start, (size_t)n * sizeof *c->start);
  c->start[0] = 0;
}

// A block of the symmetric part: half of A and half of the transposed of B, either of which may be missing.
static void take_block(portfolio *s, const double *A, const double *B, double *to) {
  int d = s->problem->dimension;
  for (int j = 0; j < d; j++)
    for (int i = 0; i < d; i++) {
      double a = A ? A[i + j * d] : 0, b = B ? B[j + i * d] : 0;
      to[i + j * d] = a + 0.5 * (b - a);
      s->info->asymmetry = fmax(s->info->asymmetry, fabs(b - a));
    }
}

// Row i of the symmetric part: columns that either half has, and the one on the diagonal in any case.
static int merge_row(portfolio *s, const by_column *c, int i, int filled) {
  const carom_friction_problem *p = s->problem;
  size_t area = (size_t)(p->dimension * p->dimension);
  int k = p->start[i], l = c->start[i];
  bool had_own = false;
  while (k < p->start[i + 1] || l < c->start[i + 1] || !had_own) {
    int a = k < p->start[i + 1] ? p->column[k] : p->contact_count;
    int b = l < c->start[i + 1] ? c->row[l] : p->contact_count;
    int next = a < b ? a : b;
    if (!had_own && next >= i) next = i, had_own = true, s->own[i] = filled;
    s->column[filled] = next;
    take_block(s, a == next ? p->W + area * (size_t)k : NULL, b == next ? p->W + area * (size_t)c->number[l] : NULL,
               s->value + area * (size_t)filled++);
    k += a == next, l += b == next;
  }
  return filled;
}

static void merge_halves(portfolio *s, const by_column *c) {
  int n = s->problem->contact_count, filled = 0;
  double most = 0;
  sort_by_column(s->problem, c);
  for (int i = 0; i < n; i++) {
    s->start[i] = filled;
    filled = merge_row(s, c, i, filled);
  }
  s->start[n] = filled;
  for (size_t k = 0; k < (size_t)(filled * s->W.size * s->W.size); k++) most = fmax(most, fabs(s->value[k]));
  if (most > 0) s->info->asymmetry /= most;
}

static bool make_arrays(portfolio *s, by_column *c) {
  size_t n = (size_t)s->problem->contact_count, rows = (size_t)s->rows + 1, blocks = (size_t)s->problem->start[n];
  size_t most = 2 * blocks + n + 1, area = (size_t)(s->problem->dimension * s->problem->dimension);
  return CAROM_NEW_ALL(&s->allocator, CAROM_ROOM(s->blocks, n + 1), CAROM_ROOM(s->start, n + 1),
                       CAROM_ROOM(s->own, n + 1), CAROM_ROOM(s->column, most), CAROM_ROOM(s->value, area * most),
                       CAROM_ROOM(s->P, rows), CAROM_ROOM(s->u, rows), CAROM_ROOM(s->P_before, rows),
                       CAROM_ROOM(s->u_before, rows), CAROM_ROOM(s->best, rows), CAROM_ROOM(c->start, n + 1),
                       CAROM_ROOM(c->row, blocks + 1), CAROM_ROOM(c->number, blocks + 1));
}

static carom_status make_ready(portfolio *s, carom_error *error) {
  const carom_friction_problem *p = s->problem;
  by_column c = {0};
  bool made = make_arrays(s, &c);
  s->W = (carom_block_rows){p->dimension, s->start, s->column, s->value, s->own};
  s->a =
      (carom_assembled){.count = p->contact_count, .rows = s->rows, .blocks = s->blocks, .sparse = &s->W, .u0 = p->q};
  if (made) merge_halves(s, &c);
  CAROM_RELEASE_ALL(&s->allocator, c.start, c.row, c.number);
  if (!made) return carom_fail(error, CAROM_ERR_MEMORY, "friction: no memory for %d contacts", p->contact_count);
  for (int i = 0; i < p->contact_count; i++)
    s->blocks[i] = (carom_block){.first = p->dimension * i, .width = p->dimension, .mu = p->mu[i]};
  return CAROM_OK;
}

static void release(portfolio *s) {
  carom_newton_destroy_blocks(s->newton);
  CAROM_RELEASE_ALL(&s->allocator, s->blocks, s->start, s->own, s->column, s->value, s->P, s->u, s->P_before,
                    s->u_before, s->best);
}

// ---- the methods in turns -------------------------------------------------------------------------------------------

// Of P, whose velocities are brought up to date; keeps the best.
static double judge(portfolio *s) {
  carom_assembled_velocity(&s->a, s->P, s->u);
  double residual = carom_friction_residual(s->problem, s->P, s->u, NULL);
  if (residual < s->least) {
    s->least = residual;
    memcpy(s->best, s->P, (size_t)s->rows * sizeof *s->P);
  }
  return residual;
}

static double goal_of(const portfolio *s) { return s->options.tolerance * s->info->velocity_scale; }
static bool is_solved(const portfolio *s) { return s->least <= goal_of(s); }

static void sweep(portfolio *s, int most) {
  carom_iterate x = {s->P, s->u, s->P_before, s->u_before};
  carom_assembled_sweep(&s->a, &x, 0.1 * goal_of(s), most, &s->info->sweeps);
  judge(s);
}

static int left(int most, int limit, int done) {
  int rest = limit > 0 ? limit - done : most;
  return rest < most ? rest : most;
}

// A contact that slides along -d, |d| = 1: P = N (1, mu d) with N from u_n = 0, and the slip v under it. False when no
// N ends the approach.
static bool slide(const double *A, const double b[3], double mu, const double d[2], double P[3], double v[2],
                  double *normal) {
  *normal = A[0] + mu * (A[3] * d[0] + A[6] * d[1]);
  P[0] = -b[0] / *normal;
  for (int r = 0; r < 2; r++) {
    P[1 + r] = mu * P[0] * d[r];
    v[r] = b[1 + r] + P[0] * (A[1 + r] + mu * (A[4 + r] * d[0] + A[7 + r] * d[1]));
  }
  return *normal > 0;
}

// The angle of d at which v is against d, by Newton's method on v x d.
static bool find_slide(const double *A, const double b[3], double mu, double d[2], double P[3]) {
  double v[2], normal;
  for (int step = 0; step < 20; step++) {
    if (!slide(A, b, mu, d, P, v, &normal)) return false;
    double across[2] = {-d[1], d[0]}, off = v[0] * d[1] - v[1] * d[0], along = v[0] * d[0] + v[1] * d[1];
    double rise = -P[0] * mu * (A[3] * across[0] + A[6] * across[1]) / normal, w[2];
    for (int r = 0; r < 2; r++)
      w[r] = rise * (v[r] - b[1 + r]) / P[0] + P[0] * mu * (A[4 + r] * across[0] + A[7 + r] * across[1]);
    double turn = -off / (w[0] * d[1] - w[1] * d[0] + along);
    if (!(fabs(turn) < 1)) return false;
    double c = cos(turn), s = sin(turn), e[2] = {c * d[0] - s * d[1], s * d[0] + c * d[1]};
    memcpy(d, e, sizeof e);
    if (fabs(turn) < 1e-15) return along < 0;
  }
  return false;
}

// One contact: open, sticking, or sliding where Newton's method finds how at once; false where it does not.
static bool solve_quickly(const double *A, const double b[3], double mu, double P[3]) {
  carom_mat3 W = {{{A[0], A[3], A[6]}, {A[1], A[4], A[7]}, {A[2], A[5], A[8]}}}, inverse;
  memset(P, 0, 3 * sizeof *P);
  if (b[0] >= 0) return true;
  if (!cm_inverse3(W, &inverse)) return false;
  carom_vec3 stick = cm_mulv(inverse, cm_vec3(-b[0], -b[1], -b[2]));
  double t = hypot(stick.y, stick.z), d[2] = {stick.y / t, stick.z / t};
  P[0] = stick.x, P[1] = stick.y, P[2] = stick.z;
  if (stick.x > 0 && t <= mu * stick.x) return true;
  return t > 0 && find_slide(A, b, mu, d, P);
}

// Contact i alone, under what the others do now.
static void solve_contact(portfolio *s, int i) {
  const carom_block_rows *w = &s->W;
  double b[3];
  memcpy(b, s->problem->q + 3 * i, sizeof b);
  for (int k = w->start[i]; k < w->start[i + 1]; k++) {
    const double *A = w->value + 9 * k, *P = s->P + 3 * w->column[k];
    for (int r = 0; r < 3 && w->column[k] != i; r++) b[r] += A[r] * P[0] + A[3 + r] * P[1] + A[6 + r] * P[2];
  }
  const double *own = carom_block_rows_own(w, i);
  if (!solve_quickly(own, b, s->problem->mu[i], s->P + 3 * i))
    carom_plastic_contact(own, 3, b, s->problem->mu[i], s->P + 3 * i);
}

// One contact has a closed form (plastic.h); a few, each solved exactly in its turn, mostly need few turns.
enum { FEW = 8, TURNS = 10 };
static bool is_few(const portfolio *s) {
  return s->problem->dimension == 3 && s->problem->contact_count <= FEW && s->options.method == CAROM_FRICTION_AUTO;
}

static void solve_few(portfolio *s) {
  s->info->method = CAROM_FRICTION_SWEEPS;
  int most = left(TURNS, s->options.max_sweeps, 0);
  for (int turn = 0; turn < most && !is_solved(s); turn++) {
    for (int i = 0; i < s->problem->contact_count; i++) solve_contact(s, i);
    s->info->sweeps++;
    judge(s);
  }
}

// From P. The two residuals weigh friction differently.
static carom_status newton(portfolio *s, int most) {
  double goal = goal_of(s);
  carom_status status = s->newton ? CAROM_OK : carom_newton_create_blocks(&s->a, &s->allocator, &s->newton, NULL);
  if (status != CAROM_OK) return status;
  carom_newton_goal wanted = {0.01 * goal, 0.1 * goal, 0.5 * goal, most, .half_way = true, .last_digit = true};
  carom_newton_solve(s->newton, &s->a, &wanted, s->P, s->u, &s->info->steps);
  judge(s);
  return CAROM_OK;
}

static carom_status go_through_inside(portfolio *s, double slope, int most) {
  carom_friction_path path = {slope, 0.1 * s->options.tolerance, most};
  carom_status status = carom_friction_interior(&s->a, &path, &s->allocator, s->P, &s->info->steps);
  judge(s);
  return status;
}

// Asked once, before the long attempts: whether there is no solution at all.
static carom_status look_for_proof(portfolio *s, double *certificate) {
  if (s->proven || !certificate) return CAROM_OK;
  return carom_friction_infeasible(&s->a, &s->allocator, certificate, &s->proven);
}

// Cheap methods first; what fails is tried again along other ways. From the best so far, but after an interior method,
// which begins from nothing and whose end the next Newton steps are for.
typedef struct attempt {
  carom_friction_method method;
  int most;  // sweeps or linear systems
  double slope;
} attempt;

static const attempt ATTEMPTS[] = {
    {CAROM_FRICTION_SWEEPS, 100, 0},     {CAROM_FRICTION_NEWTON, 30, 0},      {CAROM_FRICTION_INTERIOR, 80, 1},
    {CAROM_FRICTION_NEWTON, 60, 0},      {CAROM_FRICTION_INTERIOR, 150, 0.5}, {CAROM_FRICTION_NEWTON, 100, 0},
    {CAROM_FRICTION_INTERIOR, 150, 0.8}, {CAROM_FRICTION_NEWTON, 100, 0},     {CAROM_FRICTION_SWEEPS, 2000, 0},
    {CAROM_FRICTION_NEWTON, 200, 0},     {CAROM_FRICTION_INTERIOR, 300, 0.2}, {CAROM_FRICTION_NEWTON, 200, 0},
    {CAROM_FRICTION_SWEEPS, 20000, 0},   {CAROM_FRICTION_NEWTON, 300, 0},
};
enum { ATTEMPTS_COUNT = sizeof ATTEMPTS / sizeof *ATTEMPTS, CHEAP = 4 };

static carom_status try(portfolio *s, const attempt *a, bool from_best) {
  carom_status status = CAROM_OK;
  bool sweeps = a->method == CAROM_FRICTION_SWEEPS;
  int most = sweeps ? left(a->most, s->options.max_sweeps, s->info->sweeps)
                    : left(a->most, s->options.max_steps, s->info->steps);
  if (most <= 0) return CAROM_OK;
  if (from_best) memcpy(s->P, s->best, (size_t)s->rows * sizeof *s->P);
  s->info->method = a->method;
  if (sweeps)
    sweep(s, most);
  else if (a->method == CAROM_FRICTION_NEWTON)
    status = newton(s, most);
  else
    status = go_through_inside(s, a->slope, most);
  return status;
}

static carom_status solve_in_turns(portfolio *s, double *certificate) {
  carom_friction_method only = s->options.method;
  carom_status status = CAROM_OK;
  bool inside = false;
  judge(s);
  if (is_few(s)) solve_few(s);
  for (int i = is_few(s); i < ATTEMPTS_COUNT && status == CAROM_OK && !is_solved(s); i++) {
    carom_friction_method method = ATTEMPTS[i].method;
    if (i == CHEAP) status = look_for_proof(s, certificate);
    if (s->proven || status != CAROM_OK) break;
    if (only != CAROM_FRICTION_AUTO && method != only) continue;
    status = try(s, &ATTEMPTS[i], !inside);
    inside = method == CAROM_FRICTION_INTERIOR;
  }
  return status;
}

static carom_status solve(portfolio *s, const carom_friction_solution *solution) {
  size_t bytes = (size_t)s->rows * sizeof *s->P;
  s->least = INFINITY;
  if (solution->certificate)
    memset(solution->certificate, 0, (size_t)s->problem->contact_count * sizeof *solution->certificate);
  if (s->options.warm_start) memcpy(s->P, solution->r, bytes);
  s->info->velocity_scale = carom_assembled_scale(&s->a);
  carom_status status = solve_in_turns(s, solution->certificate);
  memcpy(solution->r, s->best, bytes);
  carom_assembled_velocity(&s->a, solution->r, solution->u);
  carom_friction_info *info = s->info;
  info->residual = carom_friction_residual(s->problem, solution->r, solution->u, &info->worst);
  info->relative = info->velocity_scale > 0 ? info->residual / info->velocity_scale : 0;
  info->outcome = is_solved(s) ? CAROM_FRICTION_SOLVED : s->proven ? CAROM_FRICTION_INFEASIBLE : CAROM_FRICTION_LIMIT;
  return status;
}

carom_status carom_friction_solve(const carom_friction_problem *problem, const carom_friction_options *options,
                                  const carom_friction_solution *solution, const carom_allocator *allocator,
                                  carom_friction_info *info, carom_error *error) {
  double began = carom_clock();
  carom_friction_info none;
  portfolio s = {.problem = problem,
                 .options = options ? *options : carom_friction_default_options(),
                 .allocator = carom_allocator_or_default(allocator),
                 .info = info ? info : &none};
  *s.info = (carom_friction_info){.method = s.options.method};
  carom_status status = check(problem, &s.options, error);
  if (status != CAROM_OK) return status;
  s.rows = problem->dimension * problem->contact_count;
  status = make_ready(&s, error);
  if (status == CAROM_OK) status = solve(&s, solution);
  release(&s);
  s.info->seconds = carom_clock() - began;
  return status;
}
