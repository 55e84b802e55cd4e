// Balls poured into a box, in several engines: CPU time per second of motion, deepest overlap at any moment, and the
// kinetic energy that is left. Overlaps are measured here, from the positions that the engines report.
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "carom/carom.h"
#include "granular.h"

enum { MOST_SIZES = 8, MOST_SEEDS = 25 };

typedef struct options {
  const char *json, *engine;
  int sizes[MOST_SIZES], size_count;
  double seconds, dt;
  int threads, seeds;
  bool peers, bed;
} options;

static const grains_engine *const ENGINES[] = {
    &grains_carom,
#ifdef BENCH_ODE
    &grains_ode,
#endif
#ifdef BENCH_BULLET
    &grains_bullet,
#endif
#ifdef BENCH_MUJOCO
    &grains_mujoco,
#endif
};
enum { ENGINE_COUNT = sizeof ENGINES / sizeof *ENGINES };

// ---- the job -------------------------------------------------------------------------------------------------------

// A lattice 2.2 radii wide and 3 high, a little disordered, over a floor as wide as the lattice; for a bed, 2.05 radii
// wide and 2.02 high, where nothing falls far and all sizes are alike.
static grains_job new_job(int count, int seed, const options *o) {
  grains_job job = {.count = count, .radius = 0.05, .density = 1000, .friction = 0.5, .gravity = 9.81, .dt = o->dt};
  int side = (int)round(cbrt(count));
  double r = job.radius, pitch = (o->bed ? 2.05 : 2.2) * r, rise = (o->bed ? 2.02 : 3) * r;
  double disorder = (o->bed ? 0.02 : 0.09) * r;
  double(*x)[3] = malloc((size_t)count * sizeof *x);
  carom_random random = carom_random_make(7 + (uint64_t)seed, 0);
  job.width = side * pitch;
  job.threads = o->threads;
  for (int i = 0; x && i < count; i++) {
    x[i][0] = -0.5 * job.width + (i % side + 0.5) * pitch, x[i][1] = -0.5 * job.width + (i / side % side + 0.5) * pitch;
    x[i][2] = (o->bed ? 1.02 : 2) * r + i / side / side * rise;
    for (int k = 0; k < (o->bed ? 2 : 3); k++) x[i][k] += carom_random_between(&random, -disorder, disorder);
  }
  job.start = (const double(*)[3])x;
  return job;
}

// ---- what came of it -----------------------------------------------------------------------------------------------

typedef struct figures {
  double cpu, wall;        // s per second of motion
  double overlap, at_end;  // deepest at any moment and at the end, in radii
  double kinetic;          // at the end, J
  double height;           // of the centre of mass at the end, m
} figures;

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }
static double wall_seconds(void) {
  struct timespec now;
  return timespec_get(&now, TIME_UTC) ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec : 0;
}

static int by_height(const void *a, const void *b) {
  const double *p = a, *q = b;
  return p[2] < q[2] ? -1 : p[2] > q[2];
}

// Sweeps the balls from the lowest up; walls and floor as well.
static double overlap_of(const grains_job *job, double (*x)[3]) {
  double worst = 0, d = 2 * job->radius;
  qsort(x, (size_t)job->count, sizeof *x, by_height);
  for (int i = 0; i < job->count; i++) {
    worst = fmax(worst, job->radius - x[i][2]);
    for (int k = 0; k < 2; k++) worst = fmax(worst, fabs(x[i][k]) + job->radius - 0.5 * job->width);
    for (int j = i + 1; j < job->count && x[j][2] - x[i][2] < d; j++) {
      double a = x[j][0] - x[i][0], b = x[j][1] - x[i][1], c = x[j][2] - x[i][2];
      if (a < d && a > -d && a * a + b * b + c * c < d * d) worst = fmax(worst, d - sqrt(a * a + b * b + c * c));
    }
  }
  return worst;
}

static void look(const grains_engine *e, void *world, const grains_job *job, double (*x)[3], figures *f) {
  double mass = job->density * 4 / 3 * 3.141592653589793 * pow(job->radius, 3), J = 0.4 * mass * pow(job->radius, 2);
  f->kinetic = f->height = 0;
  for (int i = 0; i < job->count; i++) {
    double v[3], w[3];
    e->read(world, i, x[i], v, w);
    for (int k = 0; k < 3; k++) f->kinetic += 0.5 * (mass * v[k] * v[k] + J * w[k] * w[k]);
    f->height += x[i][2] / job->count;
  }
  f->at_end = overlap_of(job, x) / job->radius;
  f->overlap = fmax(f->overlap, f->at_end);
}

// Beds are looked at in the end only: what is asked of them is time.
static bool pour(const grains_engine *e, const grains_job *job, const options *o, figures *f) {
  char message[BENCH_MESSAGE] = "";
  *f = (figures){NAN, NAN, NAN, NAN, NAN, NAN};
  if (job->count > e->largest) return false;
  double(*x)[3] = malloc((size_t)job->count * sizeof *x);
  void *world = x ? e->create(job, message) : NULL;
  if (!world) {
    printf("%s, %d balls: %s\n", e->name, job->count, message);
    free(x);
    return false;
  }
  *f = (figures){0};
  int steps = (int)round(o->seconds / job->dt);
  bool fine = true;
  for (int i = 0; i < steps && fine; i++) {
    double begin = cpu_seconds(), clock_begin = wall_seconds();
    fine = e->step(world);
    f->cpu += cpu_seconds() - begin;
    f->wall += wall_seconds() - clock_begin;
    if (!o->bed || i + 1 == steps) look(e, world, job, x, f);
  }
  f->cpu /= o->seconds;
  f->wall /= o->seconds;
  e->destroy(world);
  free(x);
  return fine;
}

// ---- tables --------------------------------------------------------------------------------------------------------

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double median(const figures *f, int count, size_t offset) {
  double values[MOST_SEEDS];
  for (int i = 0; i < count; i++) values[i] = *(const double *)((const char *)&f[i] + offset);
  qsort(values, (size_t)count, sizeof *values, ascending);
  return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

// A heap is chaotic: what it comes to is told by the median over several starts, its overlap by the worst of them.
static bool pour_often(const grains_engine *e, int count, const options *o, figures *result) {
  figures f[MOST_SEEDS];
  double worst = 0;
  for (int i = 0; i < o->seeds; i++) {
    grains_job job = new_job(count, i, o);
    bool fine = pour(e, &job, o, &f[i]);
    free((void *)job.start);
    if (!fine) return false;
    worst = fmax(worst, f[i].overlap);
  }
  *result = (figures){.cpu = median(f, o->seeds, offsetof(figures, cpu)),
                      .wall = median(f, o->seeds, offsetof(figures, wall)),
                      .overlap = worst,
                      .at_end = median(f, o->seeds, offsetof(figures, at_end)),
                      .kinetic = median(f, o->seeds, offsetof(figures, kinetic)),
                      .height = median(f, o->seeds, offsetof(figures, height))};
  return true;
}

static void log_figures(bench_log *log, const grains_engine *e, int count, const options *o, const figures *f) {
  bench_log_begin(log, o->bed ? "bed" : "pour");
  bench_log_text(log, "engine", e->name);
  bench_log_text(log, "version", e->version ? e->version : carom_version());
  bench_log_number(log, "balls", count);
  bench_log_number(log, "threads", o->threads);
  bench_log_number(log, "seeds", o->seeds);
  bench_log_number(log, "dt", o->dt);
  bench_log_number(log, "cpu_per_second", f->cpu);
  bench_log_number(log, "wall_per_second", f->wall);
  bench_log_number(log, "overlap", f->overlap);
  bench_log_number(log, "overlap_at_end", f->at_end);
  bench_log_number(log, "kinetic", f->kinetic);
  bench_log_end(log);
}

static void run_size(int count, const options *o, bench_log *log) {
  figures own = {0};
  for (int i = 0; i < ENGINE_COUNT; i++) {
    const grains_engine *e = ENGINES[i];
    figures f;
    if ((!o->peers && i > 0) || (o->engine && !strstr(e->name, o->engine)) || !pour_often(e, count, o, &f)) continue;
    if (i == 0) own = f;
    log_figures(log, e, count, o, &f);
    printf("%-8d %-22s %-7s %9.3f %9.3f %7.2f %9.2f %11.5f %11.5f %12.3g %9.4f\n", count, e->name,
           e->version ? e->version : carom_version(), f.cpu, f.wall, f.cpu / own.cpu, 1e6 * f.cpu * o->dt / count,
           f.overlap, f.at_end, f.kinetic, f.height);
    fflush(stdout);
  }
}

// ---- command line --------------------------------------------------------------------------------------------------

static bool parse(options *o, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *key = argv[i];
    if (strcmp(key, "--alone") == 0 || strcmp(key, "--bed") == 0) {
      *(key[2] == 'a' ? &o->peers : &o->bed) = key[2] != 'a';
      continue;
    }
    const char *value = i + 1 < argc ? argv[++i] : NULL;
    if (!value) return false;
    if (strcmp(key, "--json") == 0)
      o->json = value;
    else if (strcmp(key, "--engine") == 0)
      o->engine = value;
    else if (strcmp(key, "--seconds") == 0)
      o->seconds = atof(value);
    else if (strcmp(key, "--step") == 0)
      o->dt = atof(value);
    else if (strcmp(key, "--threads") == 0)
      o->threads = atoi(value);
    else if (strcmp(key, "--seeds") == 0)
      o->seeds = atoi(value);
    else if (strcmp(key, "--sizes") != 0 || !bench_parse_sizes(value, 10000000, MOST_SIZES, o->sizes, &o->size_count))
      return false;
  }
  return o->seconds > 0 && o->dt > 0 && o->threads > 0 && o->seeds > 0 && o->seeds <= MOST_SEEDS;
}

int main(int argc, char **argv) {
  options o = {.json = "bench-results.jsonl", .sizes = {800, 3200, 10000}, .size_count = 3, .peers = true};
  o.seconds = 2, o.dt = 0.01, o.threads = 1, o.seeds = 5;
  if (!parse(&o, argc, argv)) {
    printf(
        "usage: %s [--json FILE] [--sizes 800,...] [--seconds T] [--step H] [--threads N] [--seeds N] "
        "[--engine TEXT] [--alone] [--bed]\n",
        argv[0]);
    return 2;
  }
  bench_log log;
  if (!bench_log_open(&log, o.json, "granular")) fprintf(stderr, "%s cannot be written\n", o.json);
  char cpu[128];
  bench_cpu_model(cpu);
  printf("Balls of r = 0.05 m %s a box, mu = 0.5, inelastic, dt = %g s, %g s; %s; %s\n\n",
         o.bed ? "stacked loosely in" : "poured into", o.dt, o.seconds, cpu, bench_compiler());
  printf("%-8s %-22s %-7s %9s %9s %7s %9s %11s %11s %12s %9s\n", "balls", "engine", "version", "CPU s/s", "wall s/s",
         "ratio", "us/ball", "overlap/r", "at end", "kinetic (J)", "height");
  for (int k = 0; k < o.size_count; k++) run_size(o.sizes[k], &o, &log);
  printf(
      "\nus/ball: CPU time per step and ball; overlap/r: deepest at any step, over the radius; at end, kinetic, "
      "height\n"
      "(of the centre of mass): at %g s;\n"
      "medians of %d starts, but the deepest overlap of all\n",
      o.seconds, o.seeds);
  bench_log_close(&log);
  return 0;
}
