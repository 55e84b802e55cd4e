// How the cost of a query grows with the number of vertices, from 32 to 8192: bodies are hulls of random points on the
// unit sphere, brought to the wanted distance along the line between their centres.
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "carom/carom.h"
#include "separation.h"

enum { BODIES = 6, PAIRS = 60, SIZES = 9, METHODS = 4 };

static const char *const METHOD_NAMES[METHODS] = {"program", "program, cached", "distance", "distance, cached"};

typedef struct growth_case {
  carom_placed a, b;
} growth_case;

typedef struct growth {
  const carom_shape *bodies[BODIES];
  growth_case pairs[PAIR_REGIMES][PAIRS];
  double worst;  // largest duality gap met
} growth;

static carom_vec3 random_axis(carom_random *r) {
  double x = carom_random_normal(r), y = carom_random_normal(r);
  return cm_unit(cm_vec3(x, y, carom_random_normal(r)));
}

static const carom_shape *random_body(carom_random *r, int vertices) {
  carom_vec3 *v = malloc((size_t)vertices * sizeof *v);
  const carom_shape *shape = NULL;
  for (int i = 0; v && i < vertices; i++) v[i] = random_axis(r);
  if (!v || carom_shape_create_hull(v, vertices, NULL, &shape, NULL) != CAROM_OK) abort();
  free(v);
  return shape;
}

// Newton steps on the true distance, whose derivative along the line is normal . line.
static growth_case pair_at_distance(carom_random *r, const carom_shape *a, const carom_shape *b, double wanted) {
  carom_vec3 line = random_axis(r);
  double w = carom_random_normal(r), x = carom_random_normal(r), y = carom_random_normal(r), t = 2 + wanted;
  growth_case c = {{a, cm_pose(cm_zero3(), cm_qunit(cm_quat(w, x, y, carom_random_normal(r))))},
                   {b, cm_pose_identity()}};
  for (int i = 0; i < 6; i++) {
    c.a.pose.p = cm_scale(t, line);
    carom_distance_result d;
    if (carom_distance(&c.a, &c.b, NULL, &d) != CAROM_OK) abort();
    t += (wanted - d.distance) / cm_dot(d.normal, line);
  }
  return c;
}

static void create(growth *g, int vertices) {
  static const double wanted[PAIR_REGIMES] = {1, 1e-3, -0.05};
  carom_random r = carom_random_make(2012, (uint64_t)vertices);
  for (int i = 0; i < BODIES; i++) g->bodies[i] = random_body(&r, vertices);
  for (int k = 0; k < PAIR_REGIMES; k++)
    for (int i = 0; i < PAIRS; i++)
      g->pairs[k][i] = pair_at_distance(&r, g->bodies[i % BODIES], g->bodies[(i / BODIES + i + 1) % BODIES], wanted[k]);
  g->worst = 0;
}

static void destroy(growth *g) {
  for (int i = 0; i < BODIES; i++) carom_shape_release(g->bodies[i]);
}

// With a cache: ten steps of 0.01 rad around A from every pair, of which the first is not counted as cached.
static double time_cached(growth *g, int regime, bool distance) {
  enum { STEPS = 10 };
  double total = 0;
  for (int i = 0; i < PAIRS; i++) {
    growth_case c = g->pairs[regime][i];
    carom_ssh_cache cache = {0};
    carom_quat turn = cm_axis_angle(cm_vec3(1, 2, 3), 0.01);
    for (int k = 0; k <= STEPS; k++) {
      double begin = carom_clock();
      carom_distance_result d;
      carom_ssh_result s;
      if ((distance ? carom_distance(&c.a, &c.b, &cache, &d) : carom_ssh(&c.a, &c.b, NULL, &cache, &s)) != CAROM_OK)
        abort();
      if (k > 0) total += carom_clock() - begin;
      g->worst = fmax(g->worst, distance ? d.duality_gap : s.duality_gap);
      c.a.pose = cm_pose(cm_rotate(turn, c.a.pose.p), cm_qmul(turn, c.a.pose.q));
    }
  }
  return total / (PAIRS * STEPS);
}

static double time_cold(growth *g, int regime, bool distance) {
  double begin = carom_clock();
  for (int i = 0; i < PAIRS; i++) {
    const growth_case *c = &g->pairs[regime][i];
    carom_distance_result d;
    carom_ssh_result s;
    if ((distance ? carom_distance(&c->a, &c->b, NULL, &d) : carom_ssh(&c->a, &c->b, NULL, NULL, &s)) != CAROM_OK)
      abort();
    g->worst = fmax(g->worst, distance ? d.duality_gap : s.duality_gap);
  }
  return (carom_clock() - begin) / PAIRS;
}

static double fastest(growth *g, int regime, int method, double seconds) {
  double best = INFINITY, spent = 0;
  for (int i = 0; i < 5 || (spent < seconds && i < 1000); i++) {
    double begin = carom_clock();
    double t = method % 2 ? time_cached(g, regime, method > 1) : time_cold(g, regime, method > 1);
    best = fmin(best, t);
    spent += carom_clock() - begin;
  }
  return best;
}

static void log_line(bench_log *log, int method, int regime, double vertices, double seconds, double exponent) {
  bench_log_begin(log, "separation_growth");
  bench_log_text(log, "query", METHOD_NAMES[method]);
  bench_log_text(log, "regime", pair_regime_names[regime]);
  bench_log_number(log, "vertices", vertices);
  bench_log_number(log, "fastest_us_per_query", 1e6 * seconds);
  bench_log_number(log, "exponent", exponent);
  bench_log_end(log);
}

void separation_growth(double seconds, bench_log *log) {
  double sizes[SIZES], times[METHODS][PAIR_REGIMES][SIZES], worst = 0;
  for (int s = 0; s < SIZES; s++) {
    growth g;
    sizes[s] = 32 << s;
    create(&g, 32 << s);
    for (int m = 0; m < METHODS; m++)
      for (int k = 0; k < PAIR_REGIMES; k++) times[m][k][s] = fastest(&g, k, m, seconds);
    worst = fmax(worst, g.worst);
    destroy(&g);
  }
  printf("\nGrowth with the number of vertices: fastest microseconds per query, and the exponent of V\n%-28s", "V");
  for (int s = 0; s < SIZES; s++) printf(" %7.0f", sizes[s]);
  printf("  exponent\n");
  for (int m = 0; m < METHODS; m++)
    for (int k = 0; k < PAIR_REGIMES; k++) {
      double exponent = bench_fit_exponent(SIZES, sizes, times[m][k]);
      printf("%-17s %-10s", METHOD_NAMES[m], pair_regime_names[k]);
      for (int s = 0; s < SIZES; s++) printf(" %7.3f", 1e6 * times[m][k][s]);
      printf("  %8.2f\n", exponent);
      for (int s = 0; s < SIZES; s++) log_line(log, m, k, sizes[s], times[m][k][s], exponent);
    }
  printf("largest duality gap %.0e of the bodies' size\n", worst);
}
