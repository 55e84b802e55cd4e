// A chain of N links: time per step and link, whatever N; and what became of the joints and the energy.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "carom/carom.h"

enum { MOST_SIZES = 8, STEPS_JUDGED = 500 };

typedef struct options {
  const char *json;
  int sizes[MOST_SIZES], size_count;
  int repetitions;
  double seconds;  // per repetition
  double step;     // s
} options;

// ---- the job -------------------------------------------------------------------------------------------------------

// Boxes of 0.4 m x 0.1 m x 0.1 m in a row, joined at their ends, the first one to the world; let go from the
// horizontal. Hinges with axes along y and z by turns, or ball joints.
typedef struct chain {
  carom_model *model;
  carom_state *state;
  carom_stepper *stepper;
} chain;

static void add_link(carom_builder *builder, int i, carom_joint_kind kind) {
  double mass = 4, a = 0.4, b = 0.1;
  carom_body_def body = carom_body_default();
  body.mass = mass;
  body.has_inertia = true;
  body.inertia = cm_diag3(mass / 12 * 2 * b * b, mass / 12 * (a * a + b * b), mass / 12 * (a * a + b * b));
  body.pose.p = cm_vec3(a * (i + 0.5), 0, 0);
  int index = carom_builder_add_body(builder, &body);
  carom_joint_def joint = carom_joint_default();
  joint.kind = kind;
  joint.body[0] = i == 0 ? CAROM_WORLD : index - 1;
  joint.body[1] = index;
  joint.at_start = true;
  joint.point[0] = cm_vec3(a * i, 0, 0);
  joint.axis[0] = i % 2 ? cm_vec3(0, 0, 1) : cm_vec3(0, 1, 0);
  carom_builder_add_joint(builder, &joint);
}

static void free_chain(chain *c) {
  carom_stepper_destroy(c->stepper);
  carom_state_destroy(c->state);
  carom_model_destroy(c->model);
}

static bool make_chain(chain *c, int links, carom_joint_kind kind, double h) {
  carom_builder *builder = NULL;
  carom_error error = {0};
  *c = (chain){0};
  carom_step_options step = carom_step_default_options();
  step.integrator = "variational";
  step.step = h;
  carom_status status = carom_builder_create(NULL, &builder, &error);
  if (status == CAROM_OK) {
    carom_builder_set_gravity(builder, cm_vec3(0, 0, -9.81));
    for (int i = 0; i < links; i++) add_link(builder, i, kind);
    status = carom_builder_finish(builder, &c->model, &c->state, &error);
  }
  if (status == CAROM_OK) status = carom_stepper_create(c->model, &step, NULL, &c->stepper, &error);
  if (status != CAROM_OK) fprintf(stderr, "%d links: %s\n", links, error.message);
  carom_builder_destroy(builder);
  if (status != CAROM_OK) free_chain(c);
  return status == CAROM_OK;
}

static void step_chain(void *world, int steps) {
  chain *c = world;
  carom_error error = {0};
  for (int i = 0; i < steps; i++)
    if (carom_stepper_step(c->stepper, c->state, NULL, &error) != CAROM_OK) fprintf(stderr, "%s\n", error.message);
}

// ---- quality -------------------------------------------------------------------------------------------------------

typedef struct quality {
  double energy;  // largest error over the energy exchanged
  double drift;   // m
  int iterations;
} quality;

static quality judge(int links, carom_joint_kind kind, double h) {
  chain c;
  carom_audit *audit = NULL;
  carom_error error = {0};
  quality worst = {0, 0, 0};
  if (!make_chain(&c, links, kind, h)) return (quality){NAN, NAN, 0};
  if (carom_audit_create(c.model, c.state, NULL, &audit, &error) == CAROM_OK)
    for (int i = 0; i < STEPS_JUDGED; i++) {
      carom_step_report report;
      if (carom_stepper_step(c.stepper, c.state, &report, &error) != CAROM_OK) break;
      carom_audit_step(audit, c.state, &report);
      worst.drift = fmax(worst.drift, report.constraint);
      worst.iterations = report.iterations > worst.iterations ? report.iterations : worst.iterations;
      worst.energy = fmax(worst.energy, fabs(carom_audit_latest(audit).energy_error));
    }
  carom_audit_destroy(audit);
  free_chain(&c);
  return worst;
}

// ---- the table -----------------------------------------------------------------------------------------------------

static void log_size(bench_log *log, const char *kind, int links, double h, const bench_timing *t, const quality *q) {
  bench_log_begin(log, "time");
  bench_log_text(log, "joints", kind);
  bench_log_number(log, "links", links);
  bench_log_number(log, "step", h);
  bench_log_number(log, "us_per_step", 1e6 * t->seconds);
  bench_log_number(log, "fastest_us_per_step", 1e6 * t->fastest);
  bench_log_number(log, "spread", t->spread);
  bench_log_number(log, "heap_calls_per_step", t->heap_per_step);
  bench_log_number(log, "energy_error", q->energy);
  bench_log_number(log, "joint_drift_m", q->drift);
  bench_log_number(log, "most_iterations", q->iterations);
  bench_log_end(log);
}

static void run_kind(const char *name, carom_joint_kind kind, const options *o, bench_log *log) {
  static const bench_engine stepping = {.name = "Carom", .precision = "double", .step = step_chain};
  double sizes[MOST_SIZES], times[MOST_SIZES];
  int count = 0;
  for (int i = 0; i < o->size_count; i++) {
    chain c;
    if (!make_chain(&c, o->sizes[i], kind, o->step)) continue;
    bench_timing t = bench_time(&stepping, &c, o->repetitions, o->seconds);
    free_chain(&c);
    quality q = judge(o->sizes[i], kind, o->step);
    printf("%-10s %6d %11.2f %11.3f %8.0f%% %10.1e %10.1e %11d %11.0f\n", name, o->sizes[i], 1e6 * t.fastest,
           1e6 * t.fastest / o->sizes[i], 100 * t.spread, q.energy, q.drift, q.iterations, t.heap_per_step);
    log_size(log, name, o->sizes[i], o->step, &t, &q);
    sizes[count] = o->sizes[i], times[count++] = t.fastest;
  }
  if (count > 1) printf("%-10s time grows as links^%.2f\n", name, bench_fit_exponent(count, sizes, times));
}

static bool parse(options *o, int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *key = argv[i], *value = argv[i + 1];
    if (strcmp(key, "--json") == 0)
      o->json = value;
    else if (strcmp(key, "--repetitions") == 0)
      o->repetitions = atoi(value);
    else if (strcmp(key, "--seconds") == 0)
      o->seconds = atof(value);
    else if (strcmp(key, "--step") == 0)
      o->step = atof(value);
    else if (strcmp(key, "--sizes") != 0 || !bench_parse_sizes(value, 1000000, MOST_SIZES, o->sizes, &o->size_count))
      return false;
  }
  return argc % 2 == 1 && o->repetitions > 0 && o->seconds > 0 && o->step > 0;
}

int main(int argc, char **argv) {
  options o = {.json = "bench-results.jsonl", .sizes = {50, 100, 200, 400}, .size_count = 4};
  o.repetitions = 5, o.seconds = 0.1, o.step = 1e-3;
  if (!parse(&o, argc, argv)) {
    printf("usage: %s [--json FILE] [--sizes 50,100,...] [--repetitions N] [--seconds T] [--step H]\n", argv[0]);
    return 2;
  }
  bench_log log;
  if (!bench_log_open(&log, o.json, "chain")) fprintf(stderr, "%s cannot be written\n", o.json);
  char cpu[128];
  bench_cpu_model(cpu);
  printf("A chain of boxes let go from the horizontal, h = %g s, one thread; quality over %d steps\n", o.step,
         STEPS_JUDGED);
  printf("%s; %s; Carom %s; fastest of %d runs of %g s\n\n", cpu, bench_compiler(), carom_version(), o.repetitions,
         o.seconds);
  printf("%-10s %6s %11s %11s %9s %10s %10s %11s %11s\n", "joints", "links", "us/step", "us/link", "spread", "energy",
         "drift m", "iterations", "heap calls");
  run_kind("revolute", CAROM_JOINT_REVOLUTE, &o, &log);
  run_kind("spherical", CAROM_JOINT_SPHERICAL, &o, &log);
  bench_log_close(&log);
  return 0;
}
