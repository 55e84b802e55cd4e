#include "contact/solve/solver.h"

#include <math.h>
#include <string.h>

#include "base/groups.h"
#include "base/memory.h"

enum { MANY_ROWS = 60, HEADINGS_MAX = 30, SWEEPS_MAX = 20000, PIVOTS_PER_PAIR = 4, POLYGON = 4 };

// Residuals over the largest velocity.
static const double SAME = 1e-12;      // impulses that are this good are left alone
static const double WANTED = 1e-11;    // no further steps are made
static const double ACCEPTED = 1e-10;  // no great effort is made
static const double BACKWARD = 1e-12;  // of the velocities that impulses alone would make
static const double LEAST = 5e-7;      // and no worse than this
static const double SOLVED = 1e-9;     // what counts as a solution, unless asked otherwise

// ---- memory ---------------------------------------------------------------------------------------------------------

static void push_system(carom_system *s, carom_arena *arena) {
  size_t rows = (size_t)s->rows;
  s->blocks = CAROM_PUSH(arena, carom_block, s->count);
  s->W = CAROM_PUSH(arena, double, rows *rows);
  s->u0 = CAROM_PUSH(arena, double, rows);
  s->P = CAROM_PUSH(arena, double, rows);
  s->u = CAROM_PUSH(arena, double, rows);
  s->before = CAROM_PUSH(arena, double, 2 * rows);
  s->levers = CAROM_PUSH(arena, carom_lever, s->bodies > 0 ? rows : 0);
  s->V = CAROM_PUSH(arena, double, 6 * s->bodies);
}

static void lay_out(void *owner, carom_arena *arena) {
  carom_solver *s = owner;
  push_system(&s->whole, arena);
  push_system(&s->part, arena);
  s->polygonal = CAROM_PUSH(arena, carom_block, s->whole.count);
  s->group = CAROM_PUSH(arena, int, s->whole.count);
  s->member = CAROM_PUSH(arena, int, s->whole.count);
  s->newton = carom_newton_push(s->whole.rows, 0, arena);
  s->by_bodies = s->whole.bodies > 0 ? carom_newton_push(s->whole.rows, s->whole.bodies, arena) : NULL;
  s->place = CAROM_PUSH(arena, int, s->whole.bodies);
}

carom_status carom_solver_create(const carom_allocator *allocator, carom_solver **solver, carom_error *error) {
  carom_solver *s = carom_object_create(&(carom_solver){0}, sizeof *s, lay_out, allocator, error);
  carom_status status = s ? carom_pivot_create(allocator, &s->pivot, error) : CAROM_ERR_MEMORY;
  if (status != CAROM_OK)
    carom_solver_destroy(s);
  else
    *solver = s;
  return status;
}

void carom_solver_destroy(carom_solver *s) {
  if (!s) return;
  carom_pivot_destroy(s->pivot);
  carom_object_destroy(s);
}

// Most steps have as many contacts as the one before: then everything lies where it lay.
carom_status carom_solver_reserve(carom_solver *s, int count, int rows, int bodies, carom_error *error) {
  bool same = s->whole.count == count && s->whole.rows == rows && s->whole.bodies == bodies;
  s->whole.bodies = s->part.bodies = bodies;
  s->whole.count = s->part.count = count;
  s->whole.rows = s->part.rows = rows;
  carom_status status = same ? CAROM_OK : carom_arena_lay_out(&s->arena, lay_out, s, error);
  if (status == CAROM_OK)
    memset(s->whole.P, 0, (size_t)rows * sizeof *s->whole.P);
  else
    s->whole.count = -1;  // nothing is laid out for so many
  return status;
}

// ---- the solvers ----------------------------------------------------------------------------------------------------

// A problem being solved.
typedef struct attempt {
  carom_system *system;
  carom_assembled problem;  // a view of it
  const carom_solver_choice *choice;
  double scale;             // the largest velocity
  double accepted, solved;  // residuals at which no great effort is made any more, and no further attempt
  double residual;          // of P
  int iterations;
} attempt;

// With many contacts on few bodies there is less to solve for by body.
static carom_assembled by_body(const carom_system *s) {
  return (carom_assembled){.count = s->count,
                           .rows = s->rows,
                           .blocks = s->blocks,
                           .u0 = s->u0,
                           .bodies = s->bodies,
                           .levers = s->levers,
                           .V = s->V};
}

static void solve_by_bodies(carom_solver *s, attempt *a) {
  carom_assembled bodies = by_body(a->system);
  carom_newton_goal goal = {SAME * a->scale, a->accepted, a->solved, 0, false};
  a->residual = carom_newton_solve(s->by_bodies, &bodies, &goal, a->system->P, a->system->u, &a->iterations);
}

// Where many rows couple few bodies by body, to as many digits as pay.
static carom_status by_newton(carom_solver *s, attempt *a, carom_error *error) {
  carom_newton_goal goal = {SAME * a->scale, fmin(WANTED * a->scale, a->accepted), a->accepted, 0, false};
  bool many = a->system->bodies > 0 && a->system->rows >= MANY_ROWS;
  (void)error;
  if (many) solve_by_bodies(s, a);
  if (many && a->residual <= a->solved) return CAROM_OK;
  a->residual = carom_newton_solve(s->newton, &a->problem, &goal, a->system->P, a->system->u, &a->iterations);
  return CAROM_OK;
}

static carom_status by_sweeps(carom_solver *s, attempt *a, carom_error *error) {
  int most = a->choice->iterations > 0 ? a->choice->iterations : SWEEPS_MAX;
  carom_iterate x = {a->system->P, a->system->u, a->system->before, a->system->before + a->system->rows};
  (void)s, (void)error;
  a->residual = carom_assembled_sweep(&a->problem, &x, a->accepted, most, &a->iterations);
  return CAROM_OK;
}

static carom_assembled view(const carom_system *s) {
  return (carom_assembled){.count = s->count, .rows = s->rows, .blocks = s->blocks, .W = s->W, .u0 = s->u0};
}

static carom_assembled with_polygons(carom_solver *s, const carom_system *system) {
  carom_assembled a = view(system);
  for (int i = 0; i < a.count; i++) {
    carom_block *b = &s->polygonal[i];
    *b = a.blocks[i];
    if (b->width == 3 && b->corners == 0) b->corners = POLYGON, b->angle = 0;
  }
  a.blocks = s->polygonal;
  return a;
}

// Turns polygons that stand for discs towards the friction impulses, or against the sliding where there is any, which
// tells better than an impulse that leans towards corners; how far, at most. When a corner lies there, the polygon is
// as good as the disc.
static double turn_polygons(carom_solver *s, const carom_system *system) {
  double most = 0;
  for (int i = 0; i < system->count; i++) {
    carom_block *b = &s->polygonal[i];
    const double *P = system->P + b->first, *u = system->u + b->first;
    bool disc = b->width == 3 && system->blocks[i].corners == 0;
    if (!disc || P[0] <= 0 || hypot(P[1], P[2]) <= 1e-12 * P[0]) continue;
    bool slides = hypot(P[1], P[2]) > 0.7 * b->mu * P[0] && hypot(u[1], u[2]) > 1e-10;
    double angle = slides ? atan2(-u[2], -u[1]) : atan2(P[2], P[1]);
    double change = remainder(angle - b->angle, acos(-1) / 2);
    b->angle += change;
    most = fmax(most, fabs(change));
  }
  return most;
}

// From the basis near to the impulses at hand. The last digits are Newton's: Lemke's bases of redundant contacts are
// nearly singular.
static carom_status by_pivots(carom_solver *s, attempt *a, carom_error *error) {
  carom_system *q = a->system;
  carom_assembled polygons = with_polygons(s, q);
  int limit = a->choice->iterations, polishing = 0;
  carom_newton_goal goal = {SAME * a->scale, INFINITY, INFINITY, 0, false};
  if (limit == 0 && !a->choice->name) limit = PIVOTS_PER_PAIR * 6 * q->count + 100;
  for (int round = 0; round < HEADINGS_MAX; round++) {
    carom_status status = carom_pivot_solve(s->pivot, &polygons, limit, q->P, &a->iterations, error);
    if (status != CAROM_OK) return status;
    carom_newton_solve(s->newton, &polygons, &goal, q->P, q->u, &polishing);
    if (turn_polygons(s, q) <= 1e-11) break;
  }
  a->residual = carom_newton_solve(s->newton, &a->problem, &goal, q->P, q->u, &polishing);
  return CAROM_OK;
}

static const struct {
  const char *name;
  carom_status (*solve)(carom_solver *s, attempt *a, carom_error *error);
} table[] = {{"newton", by_newton}, {"pgs", by_sweeps}, {"lemke", by_pivots}};
enum { SOLVERS = sizeof table / sizeof *table };

// Between heavy bodies a light one shows the last digits of impulses as velocities: those that are good to as many
// digits as there are (BACKWARD) cannot be better.
static bool is_solved(const attempt *a) {
  double most = 0;
  if (a->residual <= a->solved || a->choice->tolerance > 0) return a->residual <= a->solved;
  for (int i = 0; i < a->system->count; i++) {
    const carom_block *b = &a->system->blocks[i];
    most = fmax(most, carom_block_response(&a->problem, b) * fabs(a->system->P[b->first]));
  }
  return a->residual <= fmin(BACKWARD * most, LEAST * a->scale);
}

// The one that was asked for; or all that converge by themselves, until one succeeds.
static carom_status ask(carom_solver *s, attempt *a, const char **method, carom_error *error) {
  carom_status status = CAROM_OK;
  const char *name = a->choice->name;
  for (int i = 0; i < SOLVERS && status == CAROM_OK; i++) {
    bool wanted = name ? strcmp(name, table[i].name) == 0 : table[i].solve != by_sweeps;
    if (!wanted || is_solved(a)) continue;
    *method = table[i].name;
    status = table[i].solve(s, a, error);
  }
  return status;
}

static carom_status show(carom_solver *s, const carom_solver_choice *choice, carom_error *error) {
  carom_lcp_problem problem;
  if (!choice->sink) return CAROM_OK;
  carom_assembled polygons = with_polygons(s, &s->whole);
  carom_status status = carom_pivot_problem(s->pivot, &polygons, &problem, error);
  carom_shown_friction friction = {0};
  if (status == CAROM_OK) status = carom_shown_friction_make(&s->whole, &s->arena.allocator, &friction, error);
  if (status == CAROM_OK)
    choice->sink(choice->sink_context, &problem, friction.problem.dimension ? &friction.problem : NULL);
  carom_shown_friction_release(&s->arena.allocator, &friction);
  return status;
}

static int worst_block(const carom_system *s) {
  carom_assembled a = view(s);
  double most = -1;
  int worst = 0;
  for (int i = 0; i < a.count; i++) {
    double own = carom_block_residual(&a, &a.blocks[i], s->P, s->u);
    if (!(own <= most)) most = own, worst = i;
  }
  return worst;
}

// One part; *worst is its block that is off most, when it is the worst part so far.
static carom_status solve_part(carom_solver *s, carom_system *part, const carom_solver_choice *choice,
                               carom_solver_outcome *outcome, carom_error *error) {
  attempt a = {.system = part, .problem = view(part), .choice = choice, .residual = INFINITY};
  const char *method = "newton";
  a.scale = carom_assembled_scale(&a.problem);
  a.accepted = (choice->tolerance > 0 ? choice->tolerance : ACCEPTED) * a.scale;
  a.solved = (choice->tolerance > 0 ? choice->tolerance : SOLVED) * a.scale;
  if (a.scale <= choice->still) {
    memset(part->P, 0, (size_t)part->rows * sizeof *part->P);
    memcpy(part->u, part->u0, (size_t)part->rows * sizeof *part->u);
    return CAROM_OK;
  }
  carom_status status = ask(s, &a, &method, error);
  double residual = a.scale > 0 ? a.residual / a.scale : a.residual;
  outcome->solved = outcome->solved && is_solved(&a);
  if (a.iterations > outcome->iterations) outcome->iterations = a.iterations;
  if (!(residual <= outcome->residual))
    outcome->residual = residual, outcome->method = method, outcome->worst = worst_block(part);
  return status;
}

// ---- parts ----------------------------------------------------------------------------------------------------------

static bool coupled(const carom_system *s, const carom_block *a, const carom_block *b) {
  for (int j = b->first; j < b->first + b->width; j++)
    for (int i = a->first; i < a->first + a->width; i++)
      if (s->W[(size_t)i + (size_t)j * (size_t)s->rows] != 0) return true;
  return false;
}

// Labels every block by the smallest one of its part; says whether there is one part only.
static bool find_parts(carom_solver *s) {
  const carom_system *w = &s->whole;
  for (int i = 0; i < w->count; i++) s->group[i] = i;
  for (int j = 1; j < w->count; j++)
    for (int i = 0; i < j; i++)
      if (carom_group_root(s->group, i) != carom_group_root(s->group, j) && coupled(w, &w->blocks[i], &w->blocks[j]))
        carom_group_unite(s->group, i, j);
  bool one = true;
  for (int i = 0; i < w->count; i++) s->group[i] = carom_group_root(s->group, i), one = one && s->group[i] == 0;
  return one;
}

static void copy_rows(const carom_system *from, const carom_block *a, carom_system *to, const carom_block *b) {
  memcpy(to->u0 + b->first, from->u0 + a->first, (size_t)a->width * sizeof *to->u0);
  memcpy(to->P + b->first, from->P + a->first, (size_t)a->width * sizeof *to->P);
}

// The part whose smallest block is `root`.
static void take_part(carom_solver *s, int root) {
  const carom_system *w = &s->whole;
  carom_system *p = &s->part;
  p->count = p->rows = 0;
  for (int i = root; i < w->count; i++) {
    if (s->group[i] != root) continue;
    carom_block *b = &p->blocks[p->count];
    *b = w->blocks[i];
    b->first = p->rows;
    p->rows += b->width;
    s->member[p->count++] = i;
    copy_rows(w, &w->blocks[i], p, b);
  }
  for (int j = 0; j < p->count; j++)
    for (int c = 0; c < p->blocks[j].width; c++) {
      const double *from = w->W + (size_t)(w->blocks[s->member[j]].first + c) * (size_t)w->rows;
      double *to = p->W + (size_t)(p->blocks[j].first + c) * (size_t)p->rows;
      for (int i = 0; i < p->count; i++)
        memcpy(to + p->blocks[i].first, from + w->blocks[s->member[i]].first, (size_t)p->blocks[i].width * sizeof *to);
    }
}

// The levers of the part, its bodies numbered in the order in which they come.
static void take_levers(carom_solver *s) {
  const carom_system *w = &s->whole;
  carom_system *p = &s->part;
  memset(s->place, 0, (size_t)w->bodies * sizeof *s->place);
  p->bodies = 0;
  for (int i = 0; i < p->count; i++)
    for (int r = 0; r < p->blocks[i].width; r++) {
      carom_lever *lever = &p->levers[p->blocks[i].first + r];
      *lever = w->levers[w->blocks[s->member[i]].first + r];
      for (int end = 0; end < 2; end++) {
        if (lever->body[end] < 0) continue;
        int *place = &s->place[lever->body[end]];
        if (*place == 0) *place = ++p->bodies;
        lever->body[end] = *place - 1;
      }
    }
}

static void put_part_back(carom_solver *s) {
  for (int i = 0; i < s->part.count; i++) {
    const carom_block *from = &s->part.blocks[i], *to = &s->whole.blocks[s->member[i]];
    memcpy(s->whole.P + to->first, s->part.P + from->first, (size_t)to->width * sizeof(double));
    memcpy(s->whole.u + to->first, s->part.u + from->first, (size_t)to->width * sizeof(double));
  }
}

carom_status carom_solver_run(carom_solver *s, const carom_solver_choice *choice, carom_solver_outcome *outcome,
                              carom_error *error) {
  *outcome = (carom_solver_outcome){.solved = true, .method = "newton"};
  carom_status status = show(s, choice, error);
  if (status == CAROM_OK && find_parts(s)) return solve_part(s, &s->whole, choice, outcome, error);
  for (int i = 0; i < s->whole.count && status == CAROM_OK; i++) {
    double before = outcome->residual;
    if (s->group[i] != i) continue;
    take_part(s, i);
    if (s->whole.bodies > 0) take_levers(s);
    status = solve_part(s, &s->part, choice, outcome, error);
    if (outcome->residual > before) outcome->worst = s->member[outcome->worst];
    put_part_back(s);
  }
  return status;
}
