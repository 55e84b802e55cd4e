// Steps without inertia: a part of 1.6 x 0.8 mm is pushed along a wall. Times of whole steps against MuJoCo, which has
// a light part with joint dampers; and of the mixed linear complementarity problem of each step (Gavrea 2008, 2.4.16)
// against Siconos' solvers. usage: carom_bench_pushing [--json FILE]
#include "pushing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "pushes.h"

enum { STEPS = 400, CONTACTS = 8, EQUATIONS = 3, MOST = EQUATIONS + 4 * CONTACTS, REPEATS = 50 };

// With its face along the wall nearly from the start, and turned against it at the end.
static const double walls[] = {0.42, 0.5};
static pushing_job job = {1.6, 0.8, 1, 0.3, 0.0125, -0.8125, -0.2, 0.05, 0.005, 0, 0.02};

// ---- Carom ----------------------------------------------------------------------------------------------------------

typedef struct carom_run {
  world w;
  carom_stepper *stepper;
  carom_step_report report;
} carom_run;

static void *carom_create(const pushing_job *j) {
  push_world p = push_world_default();
  carom_run *r = calloc(1, sizeof *r);
  if (!r) abort();
  p.mu = j->friction, p.c = 1e-3 * j->damping, p.probes = 1, p.radius = j->radius;
  p.x[0] = j->x, p.y[0] = j->y, p.u[0] = j->u, p.v[0] = j->v;
  carom_builder *b = push_builder(&p);
  double unit = p.unit;
  put_damping(b, put_part(b, &p, cm_pose_identity()), p.c);
  put_probes(b, &p);
  put_box(b, cm_vec3(6 * unit, unit, 0.2 * unit), cm_pose(cm_vec3(0, (j->wall + 0.5) * unit, 0), cm_qidentity()), true);
  r->w = finish_world(b);
  carom_step_options o = carom_step_default_options();
  o.integrator = "quasistatic", o.step = j->dt;
  r->stepper = stepper_by(&r->w, &o);
  return r;
}

static void carom_step(void *run) {
  carom_run *r = run;
  carom_error error = {0};
  if (carom_stepper_step(r->stepper, r->w.state, &r->report, &error) == CAROM_OK) return;
  fprintf(stderr, "Carom: %s\n", error.message);
  exit(1);
}

static void carom_read(void *run, double pose[3]) {
  const carom_state *s = ((carom_run *)run)->w.state;
  pose[0] = s->x[0].x * 1e3, pose[1] = s->x[0].y * 1e3, pose[2] = cm_log(s->q[0]).z;
}

static void carom_destroy(void *run) {
  carom_run *r = run;
  carom_stepper_destroy(r->stepper);
  free_world(&r->w);
  free(r);
}

static const pushing_engine pushing_carom = {"Carom quasistatic", NULL,       carom_create,
                                             carom_step,          carom_read, carom_destroy};

static const pushing_engine *const engines[] = {
    &pushing_carom,
#ifdef BENCH_MUJOCO
    &pushing_mujoco,
#endif
};

// ---- the problems ---------------------------------------------------------------------------------------------------

typedef struct problem {
  int pairs;
  double M[MOST * MOST], q[MOST];
} problem;

// Of the contacts that a step of Carom told, with the part at `pose` before it.
static void make_problem(const pushing_job *j, const carom_step_report *r, const double pose[3], problem *p) {
  int k = r->event_count < CONTACTS ? r->event_count : CONTACTS, n = EQUATIONS + 4 * k;
  double E[3] = {j->damping, j->damping, j->damping * (j->a * j->a + j->b * j->b) / 12};
  *p = (problem){.pairs = 4 * k};
  for (int i = 0; i < 3; i++) p->M[i + i * n] = E[i];
  for (int c = 0; c < k; c++) {
    const carom_contact_event *e = &r->events[c];
    double normal[2] = {e->normal.x, e->normal.y}, axis[3][2] = {{normal[0], normal[1]}, {-normal[1], normal[0]}, {0}};
    double arm[2] = {e->point.x * 1e3 - pose[0], e->point.y * 1e3 - pose[1]};
    bool probe = e->body_b == 1;
    axis[2][0] = -axis[1][0], axis[2][1] = -axis[1][1];
    int at[3] = {EQUATIONS + c, EQUATIONS + k + 2 * c, EQUATIONS + k + 2 * c + 1}, sigma = EQUATIONS + 3 * k + c;
    for (int a = 0; a < 3; a++) {
      double W[3] = {axis[a][0], axis[a][1], arm[0] * axis[a][1] - arm[1] * axis[a][0]};
      for (int i = 0; i < 3; i++) p->M[i + at[a] * n] = -W[i], p->M[at[a] + i * n] = W[i];
      p->q[at[a]] = probe ? -(axis[a][0] * j->u + axis[a][1] * j->v) : 0;
      if (a > 0) p->M[at[a] + sigma * n] = 1, p->M[sigma + at[a] * n] = -1;
    }
    p->M[sigma + at[0] * n] = j->friction;
  }
}

// ---- solvers --------------------------------------------------------------------------------------------------------

static void *mlcp_create(int equations, int pairs) {
  carom_mlcp_work *work = NULL;
  if (carom_mlcp_work_create(equations + pairs, NULL, &work, NULL) != CAROM_OK) exit(1);
  return work;
}

static void mlcp_solve(void *work, int equations, int pairs, double *M, double *q, double *z) {
  double lower[MOST], w[MOST];
  carom_lcp_options o = carom_lcp_default_options();
  carom_lcp_info info;
  for (int i = 0; i < equations + pairs; i++) lower[i] = i < equations ? -INFINITY : 0;
  carom_mlcp_problem p = {.n = equations + pairs, .M = M, .q = q, .lower = lower};
  carom_mlcp_solve(work, &p, &o, &(carom_mlcp_solution){z, w, NULL}, &info, NULL);
}

static void mlcp_destroy(void *work) { carom_mlcp_work_destroy(work); }

static const pushing_solver pushing_carom_mlcp = {"Carom mixed Lemke", NULL, mlcp_create, mlcp_solve, mlcp_destroy};

static const pushing_solver *const solvers[] = {
    &pushing_carom_mlcp,
#ifdef BENCH_SICONOS
    &pushing_siconos_lemke,
#endif
};

static double residual(const problem *p, const double *z) {
  double lower[MOST];
  int n = EQUATIONS + p->pairs;
  for (int i = 0; i < n; i++) lower[i] = i < EQUATIONS ? -INFINITY : 0;
  return carom_mlcp_residual(&(carom_mlcp_problem){.n = n, .M = p->M, .q = p->q, .lower = lower}, z);
}

// ---- measuring ------------------------------------------------------------------------------------------------------

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure_solver(const pushing_solver *s, const problem *problems, int count, bench_log *log) {
  static double times[STEPS];
  double worst = 0;
  int solved = 0;
  for (int i = 0; i < count; i++) {
    static double M[MOST * MOST], q[MOST], z[MOST];
    void *work = s->create(EQUATIONS, problems[i].pairs);
    double best = INFINITY;
    for (int k = 0; k < REPEATS; k++) {
      memcpy(M, problems[i].M, sizeof M), memcpy(q, problems[i].q, sizeof q), memset(z, 0, sizeof z);
      double start = carom_clock();
      s->solve(work, EQUATIONS, problems[i].pairs, M, q, z);
      best = fmin(best, carom_clock() - start);
    }
    double off = residual(&problems[i], z);
    solved += off < 1e-9, worst = fmax(worst, off);
    times[i] = best;
    s->destroy(work);
  }
  qsort(times, (size_t)count, sizeof *times, by_value);
  printf("%-24s %-12s %10.2f us  %4d of %d solved\n", s->name, s->version ? s->version : "", times[count / 2] * 1e6,
         solved, count);
  bench_log_begin(log, "pushing_solver");
  bench_log_text(log, "name", s->name);
  bench_log_number(log, "microseconds", times[count / 2] * 1e6);
  bench_log_number(log, "solved", solved);
  bench_log_number(log, "problems", count);
  bench_log_end(log);
}

static double run_engine(const pushing_engine *e, const pushing_job *j, double duration, double pose[3]) {
  void *w = e->create(j);
  int steps = (int)lround(duration / j->dt);
  if (!w) return NAN;
  double start = carom_clock();
  for (int i = 0; i < steps; i++) e->step(w);
  double seconds = (carom_clock() - start) / steps;
  e->read(w, pose);
  e->destroy(w);
  return seconds;
}

static void measure_engine(const pushing_engine *e, double dt, const double truth[3], bench_log *log) {
  pushing_job j = job;
  double best = INFINITY, pose[3];
  j.dt = dt;
  for (int k = 0; k < 5; k++) best = fmin(best, run_engine(e, &j, STEPS * job.dt, pose));
  double off = hypot(pose[0] - truth[0], pose[1] - truth[1]);
  printf("%-24s %-12s %10.2f us a step of %g ms, off by %.3g um, %.2g mrad after %g s\n", e->name,
         e->version ? e->version : "", best * 1e6, dt * 1e3, off * 1e3, fabs(pose[2] - truth[2]) * 1e3, STEPS * job.dt);
  bench_log_begin(log, "pushing_engine");
  bench_log_text(log, "name", e->name);
  bench_log_number(log, "dt", dt);
  bench_log_number(log, "microseconds", best * 1e6);
  bench_log_number(log, "off_um", off * 1e3);
  bench_log_end(log);
}

static int gather_problems(problem *problems) {
  carom_run *r = carom_create(&job);
  int count = 0;
  for (int i = 0; i < STEPS; i++) {
    double pose[3];
    carom_read(r, pose);
    carom_step(r);
    if (r->report.event_count > 0) make_problem(&job, &r->report, pose, &problems[count++]);
  }
  carom_destroy(r);
  return count;
}

static void measure_all(bench_log *log) {
  static problem problems[STEPS];
  double truth[3];
  pushing_job fine = job;
  fine.dt = job.dt / 64;
  run_engine(&pushing_carom, &fine, STEPS * job.dt, truth);
  printf("wall %g mm away\n", job.wall - job.b / 2);
  for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
    measure_engine(engines[i], job.dt, truth, log);
    measure_engine(engines[i], job.dt / 10, truth, log);
  }
  int count = gather_problems(problems);
  for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) measure_solver(solvers[i], problems, count, log);
}

int main(int argc, char **argv) {
  bench_log log = {0};
  if (argc > 2 && strcmp(argv[1], "--json") == 0 && !bench_log_open(&log, argv[2], "pushing")) return 1;
  for (size_t i = 0; i < sizeof walls / sizeof *walls; i++) {
    job.wall = walls[i];
    measure_all(&log);
  }
  if (log.file) bench_log_close(&log);
  return 0;
}
