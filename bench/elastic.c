// Solids that deform: tetrahedra per second of whole time steps, and what became of energy and momentum.
#include "elastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solid_samples.h"

enum { MOST_SIZES = 8, ENGINES = 5 };

typedef struct options {
  const char *json;
  int sizes[MOST_SIZES], size_count;
  double seconds;  // per repetition
  int repetitions;
} options;

// A cube of 0.2 m at 1000 kg/m3 in cells of five tetrahedra, thrown, spun and strained smoothly.
typedef struct sample {
  solid_mesh mesh;
  carom_elastic *elastic;
  carom_vec3 *v;
  elastic_job job;
} sample;

static const carom_elastic_material RUBBER = {.density = 1000, .lambda = 1.5e5, .mu = 1e5};

static void set_velocities(sample *s) {
  for (int i = 0; i < s->mesh.node_count; i++) {
    carom_vec3 x = cm_sub(s->mesh.nodes[i], cm_vec3(0.1, 0.1, 0.1));
    s->v[i] = cm_add(cm_cross(cm_vec3(1, -2, 3), x), cm_vec3(1 + 3 * x.x, 2 * sin(15 * x.x), -3 * x.z));
  }
}

static void sample_free(sample *s) {
  carom_elastic_destroy(s->elastic);
  solid_mesh_free(&s->mesh);
  free(s->v);
}

static bool sample_make(sample *s, int tets) {
  int cells = (int)ceil(cbrt(tets / 5.0) - 1e-9);
  solid_box box = {.cells = {cells, cells, cells}, .size = {0.2, 0.2, 0.2}, .disorder = 0.1, .seed = 1};
  carom_error error = {0};
  carom_elastic_limit limit;
  carom_elastic_stepper *stepper = NULL;
  *s = (sample){.mesh = solid_box_make(&box)};
  carom_elastic_def def = solid_def(&s->mesh, &RUBBER);
  if (carom_elastic_create(&def, NULL, &s->elastic, &error) ||
      carom_elastic_stepper_create(s->elastic, NULL, NULL, &stepper, &error)) {
    fprintf(stderr, "%s\n", error.message);
    return false;
  }
  carom_elastic_critical_step(stepper, s->mesh.nodes, &limit);
  carom_elastic_stepper_destroy(stepper);
  s->v = calloc((size_t)s->mesh.node_count, sizeof *s->v);
  set_velocities(s);
  s->job = (elastic_job){.node_count = s->mesh.node_count,
                         .tet_count = s->mesh.tet_count,
                         .nodes = &s->mesh.nodes[0].x,
                         .velocity = &s->v[0].x,
                         .tets = &s->mesh.tets[0][0],
                         .mass = carom_elastic_masses(s->elastic),
                         .lambda = RUBBER.lambda,
                         .mu = RUBBER.mu,
                         .dt = 0.4 * limit.sharp,
                         .threads = 1};
  return true;
}

// ---- measuring ------------------------------------------------------------------------------------------------------

static int ascending(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

typedef struct timing {
  double median, fastest;  // s per step
} timing;

static timing time_steps(const elastic_engine *engine, void *world, const options *o) {
  double times[64] = {0};
  int runs = o->repetitions < 64 ? o->repetitions : 64, steps = 1;
  for (double t = 0; t < o->seconds && steps < 1 << 20; steps *= 2) {
    double begin = carom_clock();
    engine->step(world, steps);
    t = 2 * (carom_clock() - begin);
    if (t >= o->seconds) break;
  }
  for (int r = 0; r < runs; r++) {
    double begin = carom_clock();
    engine->step(world, steps);
    times[r] = (carom_clock() - begin) / steps;
  }
  qsort(times, (size_t)runs, sizeof *times, ascending);
  return (timing){times[runs / 2], times[0]};
}

typedef struct quality {
  double energy, momentum, spin;
} quality;

static void measure(const sample *s, const elastic_engine *engine, void *world, quality *q, carom_vec3 *p,
                    carom_vec3 *l) {
  size_t n = (size_t)s->mesh.node_count;
  carom_vec3 *x = calloc(n, sizeof *x), *v = calloc(n, sizeof *v);
  carom_elastic_sample measured;
  for (size_t i = 0; i < n; i++) engine->read(world, (int)i, &x[i].x, &v[i].x);
  carom_elastic_measure(s->elastic, x, NULL, &measured);
  q->energy = measured.energy + carom_elastic_kinetic_energy(s->elastic, v);
  *p = carom_elastic_linear_momentum(s->elastic, v), *l = carom_elastic_angular_momentum(s->elastic, x, v);
  free(x), free(v);
}

// Relative changes over `time` seconds.
static quality judge(const sample *s, const elastic_engine *engine, double time) {
  char message[BENCH_MESSAGE];
  quality before = {0}, after = {0};
  carom_vec3 p, l, p1, l1;
  void *world = engine->create(&s->job, message);
  if (!world) return (quality){NAN, NAN, NAN};
  measure(s, engine, world, &before, &p, &l);
  engine->step(world, (int)(time / s->job.dt));
  measure(s, engine, world, &after, &p1, &l1);
  engine->destroy(world);
  return (quality){after.energy / before.energy - 1, cm_norm(cm_sub(p1, p)) / cm_norm(p),
                   cm_norm(cm_sub(l1, l)) / cm_norm(l)};
}

// ---- the table ------------------------------------------------------------------------------------------------------

static void log_row(bench_log *log, const elastic_engine *engine, const elastic_job *job, const timing *t,
                    const quality *q) {
  bench_log_begin(log, "elastic");
  bench_log_text(log, "engine", engine->name);
  bench_log_text(log, "version", engine->version ? engine->version : carom_version());
  bench_log_text(log, "precision", engine->precision);
  bench_log_number(log, "tets", job->tet_count);
  bench_log_number(log, "threads", job->threads);
  bench_log_number(log, "ns_per_tet_step", 1e9 * t->median / job->tet_count);
  bench_log_number(log, "fastest_ns_per_tet_step", 1e9 * t->fastest / job->tet_count);
  bench_log_number(log, "energy_change", q->energy);
  bench_log_number(log, "momentum_change", q->momentum);
  bench_log_number(log, "spin_change", q->spin);
  bench_log_end(log);
}

static double run_engine(const elastic_engine *engine, sample *s, int threads, const options *o, bench_log *log,
                         double carom) {
  char message[BENCH_MESSAGE] = "";
  s->job.threads = threads;
  void *world = engine->create(&s->job, message);
  if (!world) {
    printf("%-18s %s\n", engine->name, message);
    return NAN;
  }
  timing t = time_steps(engine, world, o);
  quality end;
  carom_vec3 p, l;
  measure(s, engine, world, &end, &p, &l);
  engine->destroy(world);
  bool small = s->mesh.tet_count < 2000;
  quality q = small ? judge(s, engine, 0.25) : (quality){NAN, NAN, NAN};
  double ns = 1e9 * t.fastest / s->mesh.tet_count;  // ratios by the fastest: the machine may not be quiet
  printf("%-18s %-9s %-7s %8d %8d %10.2f %10.2f %8.2f", engine->name, engine->version ? engine->version : "",
         engine->precision, s->mesh.tet_count, threads, 1e9 * t.median / s->mesh.tet_count, ns,
         carom > 0 ? ns / carom : 1.0);
  if (small) printf(" %10.1e %10.1e %10.1e", q.energy, q.momentum, q.spin);
  puts(isfinite(end.energy) ? "" : " (inverted at the end)");
  log_row(log, engine, &s->job, &t, &q);
  return ns;
}

static void run_size(int tets, const options *o, bench_log *log, double *size, double *seconds) {
  static const elastic_engine *const ENGINES_OF[] = {&elastic_naive, &elastic_midpoint,
#ifdef BENCH_BULLET
                                                     &elastic_bullet,
#endif
                                                     NULL};
  sample s;
  if (!sample_make(&s, tets)) return;
  double carom = run_engine(&elastic_carom, &s, 1, o, log, 0);
  *size = s.mesh.tet_count, *seconds = 1e-9 * carom * s.mesh.tet_count;
  run_engine(&elastic_carom, &s, 2, o, log, carom);
  for (int i = 0; ENGINES_OF[i]; i++)
    if (s.mesh.tet_count <= ENGINES_OF[i]->largest) run_engine(ENGINES_OF[i], &s, 1, o, log, carom);
  putchar('\n');
  sample_free(&s);
}

static bool parse(options *o, int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *key = argv[i], *value = argv[i + 1];
    if (strcmp(key, "--json") == 0)
      o->json = value;
    else if (strcmp(key, "--seconds") == 0)
      o->seconds = atof(value);
    else if (strcmp(key, "--repetitions") == 0)
      o->repetitions = atoi(value);
    else if (strcmp(key, "--sizes") != 0 || !bench_parse_sizes(value, 2000000, MOST_SIZES, o->sizes, &o->size_count))
      return false;
  }
  return argc % 2 == 1 && o->seconds > 0 && o->repetitions > 0;
}

int main(int argc, char **argv) {
  options o = {.json = "bench-results.jsonl",
               .sizes = {1000, 10000, 100000},
               .size_count = 3,
               .seconds = 0.01,
               .repetitions = 40};
  if (!parse(&o, argc, argv)) {
    printf("usage: %s [--json FILE] [--sizes 1000,10000,...] [--repetitions N] [--seconds T]\n", argv[0]);
    return 2;
  }
  bench_log log;
  if (!bench_log_open(&log, o.json, "elastic")) fprintf(stderr, "%s cannot be written\n", o.json);
  char cpu[128];
  bench_cpu_model(cpu);
  printf(
      "A block of rubber that rings, in steps of 0.4 of the critical one\n%s; %s; Carom %s; median of %d runs of %g "
      "s\n\n",
      cpu, bench_compiler(), carom_version(), o.repetitions, o.seconds);
  printf("%-18s %-9s %-7s %8s %8s %10s %10s %8s %10s %10s %10s\n", "engine", "version", "numbers", "tets", "threads",
         "ns/tet", "fastest", "times", "energy", "momentum", "spin");
  double sizes[MOST_SIZES], seconds[MOST_SIZES];
  for (int i = 0; i < o.size_count; i++) run_size(o.sizes[i], &o, &log, &sizes[i], &seconds[i]);
  if (o.size_count > 1)
    printf("exponent of newmark's time over the number of tetrahedra: %.3f (1 is linear)\n",
           bench_fit_exponent(o.size_count, sizes, seconds));
  bench_log_close(&log);
  return 0;
}
