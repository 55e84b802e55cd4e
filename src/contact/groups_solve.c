// One body alone is for Newton's method. A larger group is solved by few sweeps first, which is all that most need;
// then by Newton's method, to the full accuracy in small groups. In larger ones it is dear: there it comes after more
// sweeps, for those alone that are still not acceptable (rings of bodies wedged by friction, on which sweeps wander
// about). Where Newton's method gets stuck between two laws, more sweeps lead it elsewhere.
#include <limits.h>
#include <math.h>

#include "base/threads.h"
#include "contact/groups.h"
#include "contact/solve/problem.h"

enum { FEW_SWEEPS = 30, MOST_ROUNDS = 5 };   // of more sweeps and Newton's method in turns
enum { FEW_BODIES = 12, MOST_BODIES = 40 };  // that move: for Newton's method at once, and at all; its matrix is dense

static const double ROUND_OFF = 1e-13;   // of velocities that contacts have in common, over the largest
static const double MOST_BROUGHT = 100;  // times the velocities without contacts: what these bring about, at most
static const double ACCEPTABLE = 5e-7;   // half of what the audit allows

carom_groups_options carom_groups_default_options(double tolerance, int max_sweeps) {
  return (carom_groups_options){.tolerance = tolerance > 0 ? tolerance : 1e-11,
                                .max_sweeps = max_sweeps > 0 ? max_sweeps : 200,
                                .acceptable = ACCEPTABLE,
                                .max_updates = 1e5,
                                .thorough = true};
}

// ---- how good is good enough --------------------------------------------------------------------------------------

// What doing nothing would leave, and how fast things move.
static void measure(carom_group *g) {
  const carom_contact_problem *p = &g->problem;
  carom_vec3 *v = g->solution.velocities, *w = g->solution.spins;
  for (int i = 0; i < p->body_count; i++) v[i] = p->bodies[i].velocity, w[i] = p->bodies[i].spin;
  g->scale = g->speed = 0;
  for (int i = 0; i < p->contact_count; i++) {
    carom_vec3 u = carom_contact_slip(&p->contacts[i], v, w);
    g->scale = fmax(g->scale, -cm_dot(u, p->contacts[i].normal) - p->contacts[i].bias);
    g->speed = fmax(g->speed, cm_norm(u));
  }
  for (int i = 0; i < p->row_count; i++) {
    double rate = carom_contact_rate(&p->rows[i], v, w) + p->rows[i].bias;
    if ((rate > 0 && p->rows[i].lower < 0) || (rate < 0 && p->rows[i].upper > 0)) g->scale = fmax(g->scale, fabs(rate));
  }
}

// What an impulse of 1 along the normal does to the velocity there, through one body.
static double yield_of(const carom_contact_problem *p, int body, carom_vec3 arm, carom_vec3 n) {
  carom_vec3 l = cm_cross(arm, n);
  const double wrench[6] = {n.x, n.y, n.z, l.x, l.y, l.z};
  double twist[6];
  carom_contact_mobility(p, body, wrench, twist);
  return carom_contact_dot6(wrench, twist);
}

// Velocities that the contacts bring about count, too: a group that rests on a good guess is not at fault. But not what
// a light body would do if the load of heavy ones were on it alone.
static void note_scale(carom_group *g) {
  const carom_contact_problem *p = &g->problem;
  double without = fmax(g->scale, g->speed), brought = 0;
  for (int i = 0; i < p->contact_count; i++) {
    const carom_contact_point *c = &p->contacts[i];
    double yield = yield_of(p, c->a, c->arm_a, c->normal) + yield_of(p, c->b, c->arm_b, c->normal);
    brought = fmax(brought, yield * cm_dot(g->solution.impulses[i], c->normal));
  }
  g->scale = fmax(g->scale, without > 0 ? fmin(brought, MOST_BROUGHT * without) : brought);
}

static double enough_for(const carom_group *g, const carom_groups_options *o) {
  return fmax(fmax(o->tolerance * g->scale, o->floor), ROUND_OFF * g->speed);
}

static bool is_settled(const carom_group *g, const carom_groups_options *o) { return g->residual <= enough_for(g, o); }

static bool is_acceptable(const carom_group *g, const carom_groups_options *o) {
  return is_settled(g, o) || g->residual <= o->acceptable * g->scale;
}

static int sweep_limit(const carom_group *g, const carom_groups_options *o) {
  int items = g->problem.contact_count + g->problem.row_count;
  double budget = o->max_updates / (items > 0 ? items : 1);
  return budget < o->max_sweeps ? (int)budget : o->max_sweeps;
}

// ---- one group ----------------------------------------------------------------------------------------------------

static carom_contact_options solver(carom_contact_method method, double enough) {
  carom_contact_options o = carom_contact_default_options();
  o.method = method;
  o.law = CAROM_CONTACT_COULOMB;
  o.tolerance = enough;
  o.velocity_scale = 1;
  o.warm_start = true;
  return o;
}

typedef struct job {
  carom_group *group;
  const carom_groups_options *options;
  carom_contact_work *work;
  carom_status status;  // only memory can fail, which is reserved
} job;

static void run(job *j, const carom_contact_options *o) {
  carom_contact_info info;
  if (j->status == CAROM_OK)
    j->status = carom_contact_solve(j->work, &j->group->problem, o, &j->group->solution, &info, NULL);
  if (j->status != CAROM_OK) return;
  j->group->residual = info.residual;
  if (o->method == CAROM_CONTACT_PGS) j->group->sweeps += info.iterations;
}

static void sweep(job *j, int count) {
  carom_contact_options o = solver(CAROM_CONTACT_PGS, enough_for(j->group, j->options));
  o.max_iterations = count;
  if (count > 0) run(j, &o);
}

// To the full accuracy in small groups, where it is cheap.
static void solve_by_newton(job *j) {
  const carom_groups_options *options = j->options;
  double acceptable = options->acceptable * j->group->scale;
  carom_contact_options o =
      solver(CAROM_CONTACT_NEWTON, j->group->moving <= FEW_BODIES ? enough_for(j->group, options) : acceptable);
  o.acceptable = acceptable;
  run(j, &o);
}

static carom_status settle(job *j) {
  carom_group *g = j->group;
  const carom_groups_options *o = j->options;
  bool small = g->moving <= FEW_BODIES, by_newton = small || (o->thorough && g->moving <= MOST_BODIES);
  g->sweeps = 0;
  measure(g);
  note_scale(g);
  if (g->moving == 1) solve_by_newton(j);  // shares the load of redundant contacts out alike, whatever their order
  if (g->moving != 1 || !is_settled(g, o)) sweep(j, FEW_SWEEPS);
  note_scale(g);
  if (small && !is_settled(g, o)) solve_by_newton(j);
  for (int k = 0; k < (by_newton ? MOST_ROUNDS : 1) && !is_acceptable(g, o) && j->status == CAROM_OK; k++) {
    sweep(j, sweep_limit(g, o) - FEW_SWEEPS);
    if (by_newton && !is_acceptable(g, o)) solve_by_newton(j);
  }
  g->state = CAROM_GROUP_SETTLED;
  return j->status;
}

// ---- all groups ---------------------------------------------------------------------------------------------------

static int larger(int a, int b) { return a > b ? a : b; }

static void enlarge(carom_contact_problem *size, const carom_contact_problem *p) {
  size->body_count = larger(size->body_count, p->body_count);
  size->contact_count = larger(size->contact_count, p->contact_count);
  size->row_count = larger(size->row_count, p->row_count);
}

// Room for the largest group in every thread, whichever will get it.
static carom_status reserve_for(carom_groups *g, carom_contact_method method, int most_bodies, carom_error *error) {
  carom_contact_problem *has = &g->reserved[method == CAROM_CONTACT_NEWTON], most = *has;
  for (int i = 0; i < g->count; i++)
    if (g->groups[i].moving <= most_bodies) enlarge(&most, &g->groups[i].problem);
  if (most.body_count == has->body_count && most.contact_count == has->contact_count &&
      most.row_count == has->row_count)
    return CAROM_OK;
  *has = (carom_contact_problem){.body_count = most.body_count + most.body_count / 2,
                                 .contact_count = most.contact_count + most.contact_count / 2,
                                 .row_count = most.row_count + most.row_count / 2};
  carom_contact_options o = solver(method, 0);
  carom_status status = CAROM_OK;
  for (int i = 0; i < g->threads && status == CAROM_OK; i++)
    status = carom_contact_work_reserve(g->works[i], has->body_count, has->contact_count, has->row_count, &o, error);
  return status;
}

static carom_status reserve(carom_groups *g, carom_error *error) {
  carom_status status = reserve_for(g, CAROM_CONTACT_PGS, INT_MAX, error);
  return status == CAROM_OK ? reserve_for(g, CAROM_CONTACT_NEWTON, MOST_BODIES, error) : status;
}

static carom_status outcome(int worst, carom_error *error) {
  if (worst == CAROM_OK) return CAROM_OK;
  return carom_fail(error, (carom_status)worst, "the contact solver ran out of memory for a group of contacts");
}

carom_status carom_groups_solve(carom_groups *g, const carom_groups_options *options, carom_error *error) {
  carom_status status = reserve(g, error);
  int worst = CAROM_OK, threads = g->count < 2 ? 1 : g->threads;
  if (status != CAROM_OK) return status;
  CAROM_PARALLEL_FOR(
      threads,
      schedule(dynamic, 1) reduction(min
                                     : worst),
      for (int i = 0; i < g->count; i++) {
        job j = {&g->groups[i], options, g->works[threads > 1 ? carom_team_here().me : 0], CAROM_OK};
        if (g->groups[i].state == CAROM_GROUP_OPEN && settle(&j) != CAROM_OK) worst = j.status;
      });
  return outcome(worst, error);
}

// Of bodies that move together relative velocities are round-off, and so is what a solve leaves of them.
static double blur(const carom_group *g) {
  double fastest = 0;
  for (int i = 0; i < g->problem.body_count; i++) fastest = fmax(fastest, cm_norm(g->problem.bodies[i].velocity));
  return 10 * ROUND_OFF * fastest;
}

double carom_groups_residual(const carom_groups *groups) {
  double worst = 0;
  for (int i = 0; i < groups->count; i++) {
    const carom_group *g = &groups->groups[i];
    if (g->state == CAROM_GROUP_SETTLED && g->residual > blur(g))
      worst = fmax(worst, g->residual / fmax(g->scale, g->speed));
  }
  return worst;
}

carom_status carom_groups_solve_one(carom_groups *g, carom_group *group, const carom_groups_options *options,
                                    carom_error *error) {
  job j = {group, options, g->works[0], CAROM_OK};
  return outcome(settle(&j), error);
}
