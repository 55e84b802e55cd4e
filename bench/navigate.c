// Navigation: random scenes of discs among obstacles against RVO2 (of npm's package rvo2, its C++ compiled here), the
// swap on a circle, crowds of up to 500; and scenes of all kinds of cages, by Carom alone: whether all arrive, the
// least gap, how long the ways are, and the time for each vehicle and step. usage: carom_bench_navigate [--json FILE]
// [--count N]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "navigation.h"
#include "navigation_scenes.h"

typedef struct tally {
  const char *name;
  int scenes, done, overlaps;
  double least_gap, seconds, length, other_length;  // lengths of scenes that both went through
  long agent_steps;
} tally;

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The same steps again, with nothing recorded.
static double time_steps(const carom_navigate_def *def, int steps) {
  carom_navigate *s = NULL;
  if (carom_navigate_create(def, NULL, &s, NULL) != CAROM_OK) exit(1);
  double begun = processor_time();
  for (int i = 0; i < steps; i++)
    if (carom_navigate_step(s, NULL) != CAROM_OK) exit(1);
  double seconds = processor_time() - begun;
  carom_navigate_destroy(s);
  return seconds;
}

static navigation_result by_carom(const carom_navigate_def *def) {
  carom_navigate_motion *m = NULL;
  carom_error error;
  navigation_result r = {.least_gap = INFINITY};
  if (carom_navigate_run(def, NULL, &m, &error) != CAROM_OK) {
    fprintf(stderr, "Carom: %s\n", error.message);
    exit(1);
  }
  r = (navigation_result){m->verdict.done,
                          m->verdict.least_gap,
                          m->verdict.length,
                          m->verdict.time,
                          time_steps(def, m->verdict.steps),
                          (long)m->verdict.steps * def->vehicle_count};
  carom_navigate_motion_destroy(m);
  return r;
}

static void add(tally *t, const navigation_result *r, const navigation_result *other) {
  t->scenes++;
  t->done += r->done;
  t->overlaps += r->least_gap < -1e-6;
  t->least_gap = fmin(t->least_gap, r->least_gap);
  t->seconds += r->seconds, t->agent_steps += r->agent_steps;
  if (other && r->done && other->done) t->length += r->length, t->other_length += other->length;
}

static void tell(bench_log *log, const char *kind, const tally *t) {
  double us = 1e6 * t->seconds / (double)t->agent_steps;
  printf("  %-22s %-22s %5d %7.1f %% %9d %12.2e %9.2f %9.3f\n", kind, t->name, t->scenes, 100.0 * t->done / t->scenes,
         t->overlaps, t->least_gap, us, t->other_length > 0 ? t->length / t->other_length : NAN);
  bench_log_begin(log, "navigate");
  bench_log_text(log, "kind", kind);
  bench_log_text(log, "engine", t->name);
  bench_log_number(log, "scenes", t->scenes);
  bench_log_number(log, "done", t->done);
  bench_log_number(log, "overlaps", t->overlaps);
  bench_log_number(log, "least_gap", t->least_gap);
  bench_log_number(log, "us_per_agent_step", us);
  bench_log_number(log, "length_over_rvo2", t->other_length > 0 ? t->length / t->other_length : NAN);
  bench_log_end(log);
}

// The same scene by all who take it.
static void compare(const carom_navigate_def *def, tally *carom, tally *plain, tally *rvo2) {
  carom_navigate_def straight = *def;
  straight.routes = false;
  navigation_result a = by_carom(def), b = by_carom(&straight), *other = NULL;
#ifdef BENCH_RVO2
  navigation_result c = navigation_rvo2(def);
  add(rvo2, &c, NULL);
  other = &c;
#else
  (void)rvo2;
#endif
  add(carom, &a, other);
  add(plain, &b, other);
}

static void tell_all(bench_log *log, const char *kind, const tally *carom, const tally *plain, const tally *rvo2) {
  tell(log, kind, carom);
  if (plain) tell(log, kind, plain);
  if (rvo2->scenes > 0) tell(log, kind, rvo2);
}

static const tally none = {.least_gap = INFINITY};

static tally named(const char *name) {
  tally t = none;
  t.name = name;
  return t;
}

static void random_discs(bench_log *log, int count, bool obstacles) {
  static nav_scene s;
  tally carom = named("Carom"), plain = named("Carom, no routes"), rvo2 = named("RVO2");
  const nav_kind kind = {false, false, 50};
  for (int i = 0; i < count; i++) {
    nav_random_scene(&s, (uint64_t)i, &kind);
    if (!obstacles) s.def.obstacle_count = 0;
    compare(&s.def, &carom, &plain, &rvo2);
  }
  tell_all(log, obstacles ? "discs, obstacles" : "discs", &carom, obstacles ? &plain : NULL, &rvo2);
}

static void random_cages(bench_log *log, int count) {
  static nav_scene s;
  const nav_kind kinds[] = {{true, false, 30}, {true, true, 20}};
  const char *const names[] = {"all cages, unicycles", "and moving obstacles"};
  for (int k = 0; k < 2; k++) {
    tally carom = named("Carom");
    for (int i = 0; i < count; i++) {
      nav_random_scene(&s, (uint64_t)(100000 + i), &kinds[k]);
      navigation_result r = by_carom(&s.def);
      add(&carom, &r, NULL);
    }
    tell(log, names[k], &carom);
  }
}

static void circles(bench_log *log) {
  static const int counts[] = {2, 10, 20, 40, 60};
  static nav_scene s;
  char kind[40];
  for (int i = 0; i < 5; i++) {
    tally carom = named("Carom"), plain = named("Carom, no routes"), rvo2 = named("RVO2");
    nav_circle(&s, counts[i], fmax(8, 0.4 * counts[i]), 0.5);
    s.def.duration = 300;
    compare(&s.def, &carom, &plain, &rvo2);
    snprintf(kind, sizeof kind, "circle of %d", counts[i]);
    tell_all(log, kind, &carom, NULL, &rvo2);
  }
}

// Discs on a grid, each of which goes to the place of another one.
static void crowd(bench_log *log, int side) {
  int n = side * side;
  carom_navigate_vehicle *v = calloc((size_t)n, sizeof *v);
  carom_navigate_def def = carom_navigate_default();
  carom_random random = carom_random_make(9, 0);
  tally carom = named("Carom"), plain = named("Carom, no routes"), rvo2 = named("RVO2");
  char kind[40];
  for (int i = 0; v && i < n; i++) {
    v[i] = carom_navigate_vehicle_default();
    v[i].cage = nav_disc(0.3);
    v[i].start[0] = v[i].goal[0] = 2.2 * (i % side), v[i].start[1] = v[i].goal[1] = 2.2 * (double)(i / side);
  }
  for (int i = n - 1; v && i > 0; i--) {
    int k = (int)carom_random_below(&random, (uint32_t)i + 1);
    for (int d = 0; d < 2; d++) {
      double swap = v[i].goal[d];
      v[i].goal[d] = v[k].goal[d], v[k].goal[d] = swap;
    }
  }
  def.vehicles = v, def.vehicle_count = n, def.duration = 300, def.threads = 1;
  compare(&def, &carom, &plain, &rvo2);
  snprintf(kind, sizeof kind, "crowd of %d", n);
  tell_all(log, kind, &carom, NULL, &rvo2);
  free(v);
}

int main(int argc, char **argv) {
  const char *json = NULL;
  int count = 200;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--json") == 0) json = argv[i + 1];
    if (strcmp(argv[i], "--count") == 0) count = atoi(argv[i + 1]);
  }
  bench_log log;
  if (count < 1 || !bench_log_open(&log, json, "navigate")) return 2;
  printf(
      "Navigation, steps of 0.1 s, one thread, microseconds of the processor for each vehicle and step. Overlaps: "
      "scenes with cages more than 1e-6 m in each other; ways over "
      "those of\n"
      "RVO2 where all arrive by both.\n"
      "  %-22s %-22s %5s %9s %9s %12s %9s %9s\n",
      "scenes", "engine", "count", "arrive", "overlaps", "least gap m", "us/step", "ways");
  random_discs(&log, count, false);
  random_discs(&log, count, true);
  random_cages(&log, count);
  circles(&log);
  for (int side = 5; side <= 22; side = side < 10 ? 10 : side + 12) crowd(&log, side);
  bench_log_close(&log);
  return 0;
}
