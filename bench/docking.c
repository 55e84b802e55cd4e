// Two craft of several convex parts, pulled together by magnets until they are docked: runs per second, how deep they
// sink into each other, and how much energy comes from nowhere, in several engines. The scenes are those of examples/.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "docking_job.h"

enum { LOOK = 20 };  // steps from one look at overlap and energy to the next

typedef struct peer {
  const docking_engine *engine;  // null: not installed
  const char *name, *package;
} peer;

static const peer PEERS[] = {
    {&docking_carom, "Carom", ""},
#ifdef BENCH_BOX2D
    {&docking_box2d, "Box2D", "libbox2d-dev"},
#else
    {NULL, "Box2D", "libbox2d-dev"},
#endif
#ifdef BENCH_CHIPMUNK
    {&docking_chipmunk, "Chipmunk", "chipmunk-dev"},
#else
    {NULL, "Chipmunk", "chipmunk-dev"},
#endif
#ifdef BENCH_MUJOCO
    {&docking_mujoco, "MuJoCo", "libmujoco-dev"},
#else
    {NULL, "MuJoCo", "libmujoco-dev"},
#endif
};
enum { PEER_COUNT = sizeof PEERS / sizeof *PEERS };

// A scene, how far apart the centres are when docked, and how long it takes.
typedef struct task {
  const char *name, *scene;
  double seat, duration;
} task;

static const task TASKS[] = {{"plane", CAROM_EXAMPLES "/docking-improved/scene.yaml", 0.1255, 15},
                             {"space", CAROM_EXAMPLES "/docking-offset/scene.yaml", 0.1113, 20}};

// ---- the judge -----------------------------------------------------------------------------------------------------

typedef struct verdict {
  double docked;   // since when it is seated, s; infinite: not at the end
  double overlap;  // deepest, m
  double made;     // energy that was made, over the largest kinetic energy
  double us_step;  // over the whole duration, at rest too
  double seconds;  // for a run that ends once it was docked for a second, with its setting up
  // ---- while it runs
  double least, most_made, most_kinetic;
} verdict;

// The shapes of the job, as Carom has them.
static const carom_shape *shapes[DOCKING_PIECES];

static bool make_shapes(const docking_job *job) {
  for (int i = 0; i < job->piece_count; i++) {
    const docking_piece *p = &job->pieces[i];
    carom_vec3 corners[DOCKING_CORNERS];
    for (int k = 0; k < p->corner_count; k++)
      corners[k] = cm_vec3(p->corners[k][0], p->corners[k][1], p->corners[k][2]);
    carom_status status = p->radius > 0 ? carom_shape_create_sphere(p->radius, NULL, &shapes[i], NULL)
                                        : carom_shape_create_hull(corners, p->corner_count, NULL, &shapes[i], NULL);
    if (status != CAROM_OK) return false;
  }
  return true;
}

static void free_shapes(const docking_job *job) {
  for (int i = 0; i < job->piece_count; i++) carom_shape_release(shapes[i]), shapes[i] = NULL;
}

static carom_placed placed(const docking_job *job, const carom_pose pose[2], int i) {
  const docking_piece *p = &job->pieces[i];
  carom_vec3 c = p->radius > 0 ? cm_vec3(p->center[0], p->center[1], p->center[2]) : cm_zero3();
  return (carom_placed){shapes[i], cm_compose(pose[p->body], cm_pose(c, cm_qidentity()))};
}

static double overlap_of(const docking_job *job, const docking_body bodies[2]) {
  carom_pose pose[2] = {docking_pose(&bodies[0]), docking_pose(&bodies[1])};
  double deepest = 0;
  for (int i = 0; i < job->piece_count; i++)
    for (int k = i + 1; k < job->piece_count; k++) {
      carom_placed a = placed(job, pose, i), b = placed(job, pose, k);
      carom_distance_result result;
      if (job->pieces[i].body == job->pieces[k].body) continue;
      if (carom_distance(&a, &b, NULL, &result) == CAROM_OK) deepest = fmax(deepest, -result.distance);
    }
  return deepest;
}

static double kinetic_of(const docking_job *job, const docking_body *b) {
  carom_quat q = docking_pose(b).q;
  carom_vec3 w = cm_unrotate(q, cm_vec3(b->w[0], b->w[1], b->w[2]));
  double v2 = b->v[0] * b->v[0] + b->v[1] * b->v[1] + b->v[2] * b->v[2];
  return 0.5 *
         (job->mass * v2 + job->inertia[0] * w.x * w.x + job->inertia[1] * w.y * w.y + job->inertia[2] * w.z * w.z);
}

static bool is_seated(const docking_body bodies[2], double seat) {
  carom_pose seen = cm_compose(cm_pose_inverse(docking_pose(&bodies[0])), docking_pose(&bodies[1]));
  double angle = 2 * atan2(cm_norm(cm_vec3(seen.q.x, seen.q.y, seen.q.z)), fabs(seen.q.w));
  return cm_norm(cm_sub(seen.p, cm_vec3(seat, 0, 0))) < 1e-3 && angle < 0.0174532925;
}

static void look(const docking_job *job, const task *t, const docking_body bodies[2], double time, verdict *v) {
  double force[2][3], torque[2][3], kinetic = kinetic_of(job, &bodies[0]) + kinetic_of(job, &bodies[1]);
  double energy = kinetic + docking_forces(job, bodies, force, torque);
  v->least = fmin(v->least, energy);
  v->most_made = fmax(v->most_made, energy - v->least);
  v->most_kinetic = fmax(v->most_kinetic, kinetic);
  v->overlap = fmax(v->overlap, overlap_of(job, bodies));
  if (!is_seated(bodies, t->seat))
    v->docked = INFINITY;
  else if (isinf(v->docked))
    v->docked = time;
}

static bool judge(const docking_engine *engine, const docking_job *job, const task *t, verdict *v) {
  docking_body bodies[2];
  *v = (verdict){.docked = INFINITY, .least = INFINITY};
  void *world = engine->create(job);
  if (!world) return false;
  int looks = (int)(t->duration / job->dt / LOOK + 0.5);
  double spent = 0;
  for (int i = 0; i < looks; i++) {
    double start = carom_clock();
    for (int k = 0; k < LOOK; k++) engine->step(world);
    spent += carom_clock() - start;
    engine->read(world, bodies);
    look(job, t, bodies, (i + 1) * LOOK * job->dt, v);
  }
  engine->destroy(world);
  v->us_step = spent / (looks * LOOK) * 1e6;
  v->made = v->most_made / v->most_kinetic;
  return true;
}

// As a map of starts runs it: until it was docked for a second.
static void run_until_docked(const docking_engine *engine, const docking_job *job, const task *t) {
  void *world = engine->create(job);
  docking_body bodies[2];
  double docked = 0, span = LOOK * job->dt;
  for (double time = 0; time < t->duration && docked < 1; time += span) {
    for (int k = 0; k < LOOK; k++) engine->step(world);
    engine->read(world, bodies);
    docked = is_seated(bodies, t->seat) ? docked + span : 0;
  }
  engine->destroy(world);
}

static double time_runs(const docking_engine *engine, const docking_job *job, const task *t, double seconds) {
  double start = carom_clock(), spent = 0;
  int runs = 0;
  for (; spent < seconds || runs < 3; runs++, spent = carom_clock() - start) run_until_docked(engine, job, t);
  return spent / runs;
}

// ---- the table -----------------------------------------------------------------------------------------------------

static void print_row(const docking_engine *e, const docking_job *job, const task *t, bench_log *log) {
  verdict v;
  const char *version = e->version ? e->version : carom_version();
  if (!judge(e, job, t, &v)) {
    printf("%-12s could not be set up\n", e->name);
    return;
  }
  v.seconds = time_runs(e, job, t, 2);
  char docked[20];
  snprintf(docked, sizeof docked, isinf(v.docked) ? "no" : "%.2f s", v.docked);
  printf("%-12s %-7s %-7s  %-9.3g %-9.3g  %-9s %-9.2g %.2g\n", e->name, version, e->precision, 1 / v.seconds, v.us_step,
         docked, v.overlap, v.made);
  fflush(stdout);
  bench_log_begin(log, "docking");
  bench_log_text(log, "task", t->name);
  bench_log_text(log, "engine", e->name);
  bench_log_text(log, "version", version);
  bench_log_text(log, "precision", e->precision);
  bench_log_number(log, "runs_per_second", 1 / v.seconds);
  bench_log_number(log, "us_per_step", v.us_step);
  bench_log_number(log, "docked_s", v.docked);
  bench_log_number(log, "overlap_m", v.overlap);
  bench_log_number(log, "energy_made", v.made);
  bench_log_end(log);
}

static void print_task(const task *t, bench_log *log) {
  static docking_job job;
  if (!docking_job_read(t->scene, &job) || !make_shapes(&job)) {
    printf("%s cannot be read\n", t->scene);
    return;
  }
  printf("Docking in the %s: %d convex parts, %d charges; %g s in steps of %g ms\n", t->name, job.piece_count,
         job.charge_count, t->duration, job.dt * 1e3);
  printf("%-12s %-7s %-7s  %-9s %-9s  %-9s %-9s %s\n", "engine", "version", "numbers", "runs/s", "us/step", "docked",
         "overlap m", "energy made");
  for (int i = 0; i < PEER_COUNT; i++) {
    const docking_engine *e = PEERS[i].engine;
    if (!e)
      printf("%s: not installed (%s)\n", PEERS[i].name, PEERS[i].package);
    else if (job.planar ? e->planar : e->spatial)
      print_row(e, &job, t, log);
  }
  printf("\n");
  free_shapes(&job);
}

int main(int argc, char **argv) {
  const char *json = "bench-results.jsonl";
  if (argc == 3 && strcmp(argv[1], "--json") == 0)
    json = argv[2];
  else if (argc > 1)
    return printf("usage: %s [--json FILE]\n", argv[0]), 2;
  bench_log log;
  if (!bench_log_open(&log, json, "docking")) fprintf(stderr, "%s cannot be written\n", json);
  for (size_t i = 0; i < sizeof TASKS / sizeof *TASKS; i++) print_task(&TASKS[i], &log);
  bench_log_close(&log);
  return 0;
}
