// N free boxes that turn, in several engines: time per body and step, and what became of energy and momentum.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "carom/carom.h"

enum { MOST_SIZES = 8 };

typedef struct options {
  const char *json;    // results file
  const char *engine;  // only engines whose name contains this
  int sizes[MOST_SIZES], size_count;
  int repetitions;
  double seconds;  // per repetition
  bool gravity;
} options;

typedef struct peer {
  const bench_engine *engine;  // null: not installed
  const char *name;
} peer;

static const peer PEERS[] = {
    {&bench_carom, "Carom"},
#ifdef BENCH_BULLET
    {&bench_bullet_dbvt, "Bullet"}, {&bench_bullet_bare, "Bullet"},
#else
    {NULL, "Bullet"},
#endif
#ifdef BENCH_ODE
    {&bench_ode_quick, "ODE"},      {&bench_ode_step, "ODE"},
#else
    {NULL, "ODE"},
#endif
#ifdef BENCH_MUJOCO
    {&bench_mujoco, "MuJoCo"},
#else
    {NULL, "MuJoCo"},
#endif
};
enum { PEER_COUNT = sizeof PEERS / sizeof *PEERS };

// ---- the job -------------------------------------------------------------------------------------------------------

static const double SIDES[3] = {0.2, 0.3, 0.4};

static bench_job new_job(int count, bool gravity) {
  bench_job job = {.count = count, .mass = 24, .dt = 1e-3, .threads = 1};  // 1000 kg/m3
  for (int i = 0; i < 3; i++) {
    double b = SIDES[(i + 1) % 3], c = SIDES[(i + 2) % 3];
    job.size[i] = SIDES[i];
    job.inertia[i] = job.mass / 12 * (b * b + c * c);
  }
  job.gravity[2] = gravity ? -9.81 : 0;
  return job;
}

// A cubic grid with 2 m between neighbours; random orientation; angular velocity normal with deviation 1 rad/s.
static bench_start *random_starts(int count) {
  bench_start *start = malloc((size_t)count * sizeof *start);
  int side = (int)ceil(cbrt(count));
  carom_random r = carom_random_make(2024, 0);
  for (int i = 0; start && i < count; i++) {
    bench_start *s = &start[i];
    double norm = 0;
    s->x[0] = 2.0 * (i % side), s->x[1] = 2.0 * (i / side % side), s->x[2] = 2.0 * (i / side / side);
    for (int k = 0; k < 4; k++) s->q[k] = carom_random_normal(&r), norm += s->q[k] * s->q[k];
    for (int k = 0; k < 4; k++) s->q[k] /= sqrt(norm);
    for (int k = 0; k < 3; k++) s->w[k] = carom_random_normal(&r);
  }
  return start;
}

// ---- time ----------------------------------------------------------------------------------------------------------

static double nanoseconds(const bench_timing *t, int count) { return t->seconds / count * 1e9; }

static void log_timing(bench_log *log, const bench_engine *engine, const bench_job *job, const bench_timing *t) {
  bench_log_begin(log, "time");
  bench_log_text(log, "engine", engine->name);
  bench_log_text(log, "version", engine->version ? engine->version : carom_version());
  bench_log_text(log, "precision", engine->precision);
  bench_log_number(log, "bodies", job->count);
  bench_log_number(log, "threads", job->threads);
  bench_log_number(log, "gravity", job->gravity[2]);
  bench_log_number(log, "ns_per_body_step", nanoseconds(t, job->count));
  bench_log_number(log, "fastest_ns_per_body_step", t->fastest / job->count * 1e9);
  bench_log_number(log, "spread", t->spread);
  bench_log_number(log, "steps", t->steps);
  bench_log_number(log, "repetitions", t->repetitions);
  bench_log_number(log, "heap_calls_per_step", t->heap_per_step);
  bench_log_end(log);
}

// Seconds are NaN when the engine could not do it, with a line that says why.
static bench_timing measure(const bench_engine *engine, bench_job *job, const options *o, bench_log *log) {
  bench_timing t = {.seconds = NAN, .fastest = NAN, .heap_per_step = NAN};
  if (job->count > engine->largest) return t;
  bench_start *start = random_starts(job->count);
  char message[BENCH_MESSAGE] = "out of memory";
  job->start = start;
  void *world = start ? engine->create(job, message) : NULL;
  if (world) {
    t = bench_time(engine, world, o->repetitions, o->seconds);
    engine->destroy(world);
    log_timing(log, engine, job, &t);
  } else {
    printf("%s, %d bodies: %s\n", engine->name, job->count, message);
  }
  free(start);
  return t;
}

// ---- quality -------------------------------------------------------------------------------------------------------

typedef struct quality {
  double energy, momentum;  // largest relative change
} quality;

// l = R J R' w in world axes, and w.l/2.
static double balance(const bench_job *job, const double q[4], const double w[3], carom_vec3 *l) {
  carom_quat a = cm_quat(q[0], q[1], q[2], q[3]);
  carom_vec3 omega = cm_vec3(w[0], w[1], w[2]), J = cm_vec3(job->inertia[0], job->inertia[1], job->inertia[2]);
  *l = cm_rotate(a, cm_mul_diag(J, cm_unrotate(a, omega)));
  return 0.5 * cm_dot(omega, *l);
}

// One box that tumbles about its middle axis at 5 rad/s for 1e4 steps of 1 ms, looked at every 10 steps.
static quality judge(const bench_engine *engine, bench_log *log) {
  bench_job job = new_job(1, false);
  bench_start start = {.q = {1, 0, 0, 0}, .w = {0.05, 5, 0.05}};
  job.start = &start;
  char message[BENCH_MESSAGE] = "";
  quality worst = {0, 0};
  void *world = engine->create(&job, message);
  if (!world) return (quality){NAN, NAN};
  carom_vec3 l0, l;
  double e0 = balance(&job, start.q, start.w, &l0);
  for (int i = 0; i < 1000; i++) {
    double q[4], w[3];
    engine->step(world, 10);
    engine->read(world, 0, q, w);
    double e = balance(&job, q, w, &l);
    worst.energy = fmax(worst.energy, fabs(e - e0) / e0);
    worst.momentum = fmax(worst.momentum, cm_norm(cm_sub(l, l0)) / cm_norm(l0));
  }
  engine->destroy(world);
  bench_log_begin(log, "quality");
  bench_log_text(log, "engine", engine->name);
  bench_log_number(log, "energy", worst.energy);
  bench_log_number(log, "angular_momentum", worst.momentum);
  bench_log_end(log);
  return worst;
}

// ---- tables --------------------------------------------------------------------------------------------------------

static void print_header(const options *o) {
  char cpu[128];
  bench_cpu_model(cpu);
  printf("Free boxes, 1 ms steps, %s gravity, one thread: ns per body and step (times Carom's)\n",
         o->gravity ? "with" : "no");
  printf("%s; %s; Carom %s; median of %d runs of %g s\n\n", cpu, bench_compiler(), carom_version(), o->repetitions,
         o->seconds);
  printf("%-23s %-7s %-7s", "engine", "version", "numbers");
  for (int k = 0; k < o->size_count; k++) printf("  N = %-12d", o->sizes[k]);
  printf("  %-9s %-9s %s\n", "energy", "momentum", "heap calls/step");
}

static void print_row(const peer *p, const options *o, bench_log *log, double *carom_ns) {
  const bench_engine *e = p->engine;
  double heap = NAN;
  printf("%-23s %-7s %-7s", e->name, e->version ? e->version : carom_version(), e->precision);
  fflush(stdout);
  for (int k = 0; k < o->size_count; k++) {
    bench_job job = new_job(o->sizes[k], o->gravity);
    bench_timing t = measure(e, &job, o, log);
    double ns = nanoseconds(&t, job.count);
    if (e == &bench_carom) carom_ns[k] = ns;
    char text[32] = "-";
    if (isfinite(ns)) snprintf(text, sizeof text, "%.1f (%.1fx)", ns, ns / carom_ns[k]);
    printf("  %-16s", text);
    fflush(stdout);
    if (isfinite(t.heap_per_step)) heap = t.heap_per_step;
  }
  quality q = judge(e, log);
  printf("  %-9.1e %-9.1e %g\n", q.energy, q.momentum, heap);
}

static void print_limits(const options *o) {
  for (int i = 0; i < PEER_COUNT; i++) {
    const bench_engine *e = PEERS[i].engine;
    if (!e)
      printf("%s: not installed\n", PEERS[i].name);
    else if (e->limit && o->sizes[o->size_count - 1] > e->largest)
      printf("%s: not run above %d bodies: %s\n", e->name, e->largest, e->limit);
  }
  printf("energy, momentum: largest relative change over 1e4 steps of one box tumbling about its middle axis\n");
}

static void print_scaling(const options *o, bench_log *log, const double *carom_ns) {
  double n[MOST_SIZES], t[MOST_SIZES];
  for (int k = 0; k < o->size_count; k++) n[k] = o->sizes[k], t[k] = carom_ns[k] * o->sizes[k];
  if (o->size_count > 1) {
    double exponent = bench_fit_exponent(o->size_count, n, t);
    printf("\nCarom: time per step grows as N^%.3f from N = %d to %d\n", exponent, o->sizes[0],
           o->sizes[o->size_count - 1]);
    bench_log_begin(log, "scaling");
    bench_log_number(log, "exponent", exponent);
    bench_log_end(log);
  }
  printf("Carom, two threads:");
  for (int k = 0; k < o->size_count; k++) {
    bench_job job = new_job(o->sizes[k], o->gravity);
    job.threads = 2;
    bench_timing two = measure(&bench_carom, &job, o, log);
    printf("  N = %d: %.2f times as fast", job.count, carom_ns[k] / nanoseconds(&two, job.count));
    fflush(stdout);
  }
  printf("\n");
}

// ---- command line --------------------------------------------------------------------------------------------------

static int usage(const char *program) {
  printf("usage: %s [--json FILE] [--sizes 100,1000,...] [--repetitions N] [--seconds T] [--engine TEXT] [--gravity]\n",
         program);
  return 2;
}

static bool parse(options *o, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *key = argv[i];
    if (strcmp(key, "--gravity") == 0) {
      o->gravity = true;
      continue;
    }
    const char *value = i + 1 < argc ? argv[++i] : NULL;
    if (!value) return false;
    if (strcmp(key, "--json") == 0)
      o->json = value;
    else if (strcmp(key, "--engine") == 0)
      o->engine = value;
    else if (strcmp(key, "--repetitions") == 0)
      o->repetitions = atoi(value);
    else if (strcmp(key, "--seconds") == 0)
      o->seconds = atof(value);
    else if (strcmp(key, "--sizes") != 0 || !bench_parse_sizes(value, 1000000, MOST_SIZES, o->sizes, &o->size_count))
      return false;
  }
  return o->repetitions > 0 && o->seconds > 0;
}

int main(int argc, char **argv) {
  options o = {.json = "bench-results.jsonl", .sizes = {100, 1000, 10000, 100000}, .size_count = 4};
  o.repetitions = 7, o.seconds = 0.2;
  if (!parse(&o, argc, argv)) return usage(argv[0]);
  bench_log log;
  if (!bench_log_open(&log, o.json, "free_bodies")) fprintf(stderr, "%s cannot be written\n", o.json);
  double carom_ns[MOST_SIZES];
  print_header(&o);
  for (int i = 0; i < PEER_COUNT; i++) {
    const bench_engine *e = PEERS[i].engine;
    if (e && (e == &bench_carom || !o.engine || strstr(e->name, o.engine))) print_row(&PEERS[i], &o, &log, carom_ns);
  }
  print_limits(&o);
  print_scaling(&o, &log, carom_ns);
  bench_log_close(&log);
  return 0;
}
