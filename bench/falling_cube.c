// A cube falls on a floor from 23 tilted poses, elastic and without friction: what becomes of its energy, and how deep
// it sinks in, in several engines. 2 s in steps of 1 ms.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "carom/carom.h"
#include "falling.h"

enum { POSES = 23, STEPS = 2000 };

typedef struct peer {
  const falling_engine *engine;  // null: not installed
  const char *name, *package;
} peer;

static const peer PEERS[] = {
    {&falling_carom_exact, "Carom", ""},          {&falling_carom_dcr, "Carom", ""},
#ifdef BENCH_ODE
    {&falling_ode, "ODE", "libode-dev"},
#else
    {NULL, "ODE", "libode-dev"},
#endif
#ifdef BENCH_DART
    {&falling_dart, "DART", "libdart-dev"},
#else
    {NULL, "DART", "libdart-dev"},
#endif
#ifdef BENCH_BULLET
    {&falling_bullet, "Bullet", "libbullet-dev"},
#else
    {NULL, "Bullet", "libbullet-dev"},
#endif
#ifdef BENCH_MUJOCO
    {&falling_mujoco, "MuJoCo", "libmujoco-dev"}, {&falling_mujoco_hard, "MuJoCo", "libmujoco-dev"},
#else
    {NULL, "MuJoCo", "libmujoco-dev"},
#endif
};
enum { PEER_COUNT = sizeof PEERS / sizeof *PEERS };

// ---- one fall ------------------------------------------------------------------------------------------------------

typedef struct fall {
  double drift;  // |energy at the end / energy at the start - 1|
  double depth;  // deepest corner under the floor over all steps, m
  double seconds;
} fall;

static falling_job new_job(int pose) {
  double side = 0.2, mass = 270 * side * side * side;
  falling_job job = {side, mass, mass * side * side / 6, 0.8, {0}, 9.81, 1e-3, 0, 0, 0};
  carom_random r = carom_random_make(2012, 0);
  for (int i = 0; i <= pose; i++) {
    double norm = 0;
    for (int k = 0; k < 4; k++) job.q[k] = carom_random_normal(&r), norm += job.q[k] * job.q[k];
    for (int k = 0; k < 4; k++) job.q[k] /= sqrt(norm);
  }
  return job;
}

static double energy_of(const falling_job *job, const falling_body *b) {
  double v2 = 0, w2 = 0;
  for (int i = 0; i < 3; i++) v2 += b->v[i] * b->v[i], w2 += b->w[i] * b->w[i];
  return 0.5 * job->mass * v2 + 0.5 * job->inertia * w2 + job->mass * job->gravity * b->x[2];
}

static double depth_of(const falling_job *job, const falling_body *b) {
  carom_quat q = cm_quat(b->q[0], b->q[1], b->q[2], b->q[3]);
  carom_mat3 R = cm_rotation(cm_qunit(q));
  double low = b->x[2] - 0.5 * job->side * (fabs(R.m[2][0]) + fabs(R.m[2][1]) + fabs(R.m[2][2]));
  return fmax(0, -low);
}

static bool run(const falling_engine *engine, int pose, fall *f) {
  falling_job job = new_job(pose);
  falling_body b;
  void *world = engine->create(&job);
  if (!world) return false;
  *f = (fall){0};
  double start = job.mass * job.gravity * job.height, clock = 0;
  for (int i = 0; i < STEPS; i++) {
    double t = carom_clock();
    engine->step(world);
    clock += carom_clock() - t;
    engine->read(world, &b);
    f->depth = fmax(f->depth, depth_of(&job, &b));
  }
  f->drift = fabs(energy_of(&job, &b) / start - 1);
  f->seconds = clock / STEPS;
  engine->destroy(world);
  return true;
}

// ---- the table -----------------------------------------------------------------------------------------------------

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_row(const falling_engine *e, bench_log *log) {
  double drift[POSES], depth[POSES], seconds = 0;
  const char *version = e->version ? e->version : carom_version();
  for (int pose = 0; pose < POSES; pose++) {
    fall f;
    if (!run(e, pose, &f)) {
      printf("%-23s could not be set up\n", e->name);
      return;
    }
    drift[pose] = f.drift, depth[pose] = f.depth, seconds += f.seconds / POSES;
  }
  qsort(drift, POSES, sizeof *drift, ascending);
  qsort(depth, POSES, sizeof *depth, ascending);
  printf("%-23s %-8s %-7s  %-9.2g %-9.2g  %-9.2g %-9.2g  %.2g\n", e->name, version, e->precision, drift[POSES / 2],
         drift[POSES - 1], depth[POSES / 2], depth[POSES - 1], seconds * 1e6);
  fflush(stdout);
  bench_log_begin(log, "falling_cube");
  bench_log_text(log, "engine", e->name);
  bench_log_text(log, "version", version);
  bench_log_text(log, "precision", e->precision);
  bench_log_number(log, "energy_drift_median", drift[POSES / 2]);
  bench_log_number(log, "energy_drift_worst", drift[POSES - 1]);
  bench_log_number(log, "penetration_median", depth[POSES / 2]);
  bench_log_number(log, "penetration_worst", depth[POSES - 1]);
  bench_log_number(log, "us_per_step", seconds * 1e6);
  bench_log_end(log);
}

// ---- motions for `carom audit` -------------------------------------------------------------------------------------

// A line for every tenth step: what examples/audit-elsewhere holds.
static void write_motion(const falling_engine *engine, const falling_job *job, const char *path, int steps) {
  void *world = engine->create(job);
  FILE *out = world ? fopen(path, "w") : NULL;
  if (!out) {
    fprintf(stderr, "%s cannot be written\n", path);
    exit(1);
  }
  fputs("time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n", out);
  for (int i = 0; i <= steps; i++) {
    falling_body b;
    engine->read(world, &b);
    if (i % 10 == 0)
      fprintf(out, "%.10g,block,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g\n",
              i * job->dt, b.x[0], b.x[1], b.x[2], b.q[0], b.q[1], b.q[2], b.q[3], b.v[0], b.v[1], b.v[2], b.w[0],
              b.w[1], b.w[2]);
    engine->step(world);
  }
  fclose(out);
  engine->destroy(world);
}

// The cube falls for a second; the block slides down a slope of 15 degrees with mu = 0.5, stops and should stay.
static int write_motions(const char *folder) {
  falling_job cube = new_job(3), block = {.side = cube.side, .mass = cube.mass, .inertia = cube.inertia};
  block.height = block.side / 2, block.q[0] = 1, block.gravity = 9.81, block.dt = 1e-3;
  block.friction = 0.5, block.slope = 0.2617993877991494, block.velocity = 1;
  for (int i = 0; i < PEER_COUNT; i++) {
    const char *name = PEERS[i].engine ? PEERS[i].engine->name : "";
    bool mujoco = strcmp(name, "MuJoCo, as it comes") == 0, bullet = strcmp(name, "Bullet") == 0;
    char path[1000];
    if (!mujoco && !bullet) continue;
    snprintf(path, sizeof path, "%s/cube-%s.csv", folder, mujoco ? "mujoco" : "bullet");
    write_motion(PEERS[i].engine, &cube, path, 1000);
    snprintf(path, sizeof path, "%s/block-%s.csv", folder, mujoco ? "mujoco" : "bullet");
    write_motion(PEERS[i].engine, &block, path, 3000);
  }
  return 0;
}

int main(int argc, char **argv) {
  const char *json = "bench-results.jsonl";
  if (argc == 3 && strcmp(argv[1], "--motions") == 0) return write_motions(argv[2]);
  if (argc == 3 && strcmp(argv[1], "--json") == 0)
    json = argv[2];
  else if (argc > 1)
    return printf("usage: %s [--json FILE | --motions FOLDER]\n", argv[0]), 2;
  bench_log log;
  if (!bench_log_open(&log, json, "falling_cube")) fprintf(stderr, "%s cannot be written\n", json);
  printf("An elastic cube of 0.2 m falls from 0.8 m in %d poses; 2 s, steps of 1 ms\n\n", POSES);
  printf("%-23s %-8s %-7s  %-19s  %-19s  %s\n", "", "", "", "energy drift", "penetration, m", "us per");
  printf("%-23s %-8s %-7s  %-9s %-9s  %-9s %-9s  %s\n", "engine", "version", "numbers", "median", "worst", "median",
         "worst", "step");
  for (int i = 0; i < PEER_COUNT; i++) {
    if (PEERS[i].engine)
      print_row(PEERS[i].engine, &log);
    else
      printf("%s: not installed (%s)\n", PEERS[i].name, PEERS[i].package);
  }
  bench_log_close(&log);
  return 0;
}
