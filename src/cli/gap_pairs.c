// carom gap --pairs: how fast and how exact the queries are on a file of pairs whose distances are known.
#include <math.h>
#include <stdlib.h>

#include "cli/gap.h"

typedef struct regime_report {
  int pairs;
  double lp_cold, lp_warm, distance_cold, distance_warm;  // s per query; warm: with the cache of the pair before
  double lp_error;        // how far the bounds that the program proves miss the reference
  double distance_error;  // |distance - reference|
  double normal_error;    // |normal - reference|
  double duality_gap;     // of the program
  double pivots;          // mean, cold
  int most_pivots, resets, limits;
} regime_report;

typedef carom_status (*query)(const carom_placed *a, const carom_placed *b, carom_ssh_cache *cache);

static carom_status ask_program(const carom_placed *a, const carom_placed *b, carom_ssh_cache *cache) {
  carom_ssh_result r;
  return carom_ssh(a, b, NULL, cache, &r);
}

static carom_status ask_distance(const carom_placed *a, const carom_placed *b, carom_ssh_cache *cache) {
  carom_distance_result r;
  return carom_distance(a, b, cache, &r);
}

static carom_placed place_a(const cli_pair_file *f, const cli_pair *p) {
  return (carom_placed){f->bodies[p->a], p->pose_a};
}
static carom_placed place_b(const cli_pair_file *f, const cli_pair *p) {
  return (carom_placed){f->bodies[p->b], p->pose_b};
}

// Seconds per query: the best of several passes over all pairs.
static double time_query(const cli_pair_file *f, const cli_pair *pairs, query ask, bool warm) {
  enum { PASSES = 5 };
  double best = INFINITY;
  for (int pass = 0; pass < PASSES && !cli_interrupted(); pass++) {
    carom_ssh_cache cache = {0};
    double start = carom_clock();
    for (int i = 0; i < f->pair_count; i++) {
      carom_placed a = place_a(f, &pairs[i]), b = place_b(f, &pairs[i]);
      if (!warm || i % f->sequence_length == 0) cache.count = 0;
      ask(&a, &b, &cache);
    }
    best = fmin(best, (carom_clock() - start) / f->pair_count);
  }
  return best;
}

// What a separating plane and a difference t beta prove: apart, s <= distance <= gap; overlapping, both are below it.
static double broken_bound(const carom_ssh_result *r, double reference) {
  double s = r->gap * cm_dot(r->beta, r->normal);
  return fmax(fmax(0, s - reference), reference > 0 ? reference - r->gap : r->gap - reference);
}

static bool compare(const cli_pair_file *f, const cli_pair *pairs, regime_report *report) {
  for (int i = 0; i < f->pair_count; i++) {
    const cli_pair *p = &pairs[i];
    carom_placed a = place_a(f, p), b = place_b(f, p);
    carom_ssh_result r;
    carom_distance_result d;
    if (carom_ssh(&a, &b, NULL, NULL, &r) != CAROM_OK || carom_distance(&a, &b, NULL, &d) != CAROM_OK) return false;
    report->lp_error = fmax(report->lp_error, broken_bound(&r, p->distance));
    report->distance_error = fmax(report->distance_error, fabs(d.distance - p->distance));
    report->normal_error = fmax(report->normal_error, cm_norm(cm_sub(d.normal, p->normal)));
    report->duality_gap = fmax(report->duality_gap, r.duality_gap);
    report->pivots += (double)r.pivots / f->pair_count;
    report->most_pivots = r.pivots > report->most_pivots ? r.pivots : report->most_pivots;
    report->resets += r.outcome == CAROM_SSH_RESET;
    report->limits += r.outcome == CAROM_SSH_LIMIT;
  }
  return true;
}

static bool measure(const cli_pair_file *f, int regime, regime_report *r) {
  const cli_pair *pairs = &f->pairs[(size_t)regime * (size_t)f->pair_count];
  *r = (regime_report){.pairs = f->pair_count, .lp_warm = NAN, .distance_warm = NAN};
  r->lp_cold = time_query(f, pairs, ask_program, false);
  r->distance_cold = time_query(f, pairs, ask_distance, false);
  if (f->sequence_length > 1) {
    r->lp_warm = time_query(f, pairs, ask_program, true);
    r->distance_warm = time_query(f, pairs, ask_distance, true);
  }
  return compare(f, pairs, r);
}

static const char *regime_name(const cli_pair_file *f, int regime, char *text, size_t size) {
  static const char *const usual[] = {"separated", "near", "overlap"};
  if (f->regime_count == 3) return usual[regime];
  snprintf(text, size, "regime %d", regime);
  return text;
}

// ---- reports -------------------------------------------------------------------------------------------------------

static const char *in_ns(double seconds, char text[16]) {
  snprintf(text, 16, isnan(seconds) ? "-" : "%.0f", seconds * 1e9);
  return text;
}

static void print_table(const char *path, const cli_pair_file *f, const regime_report *reports) {
  cli_print(stdout, "%s: %d bodies of %d vertices, %d pairs a regime", path, f->body_count, f->vertex_count,
            f->pair_count);
  cli_print(stdout, f->sequence_length > 1 ? ", in sequences of %d\n\n" : "\n\n", f->sequence_length);
  cli_print(stdout, "  %-10s %19s %19s %8s %31s\n", "", "program, ns", "distance, ns", "pivots", "worst error");
  cli_print(stdout, "  %-10s %9s %9s %9s %9s %8s %10s %10s %9s\n", "regime", "cold", "cached", "cold", "cached", "mean",
            "bounds", "distance", "normal");
  for (int i = 0; i < f->regime_count; i++) {
    const regime_report *r = &reports[i];
    char t[4][16], name[40];
    cli_print(stdout, "  %-10s %9s %9s %9s %9s %8.2f %10.1e %10.1e %9.1e\n", regime_name(f, i, name, sizeof name),
              in_ns(r->lp_cold, t[0]), in_ns(r->lp_warm, t[1]), in_ns(r->distance_cold, t[2]),
              in_ns(r->distance_warm, t[3]), r->pivots, r->lp_error, r->distance_error, r->normal_error);
  }
}

static void print_json(const char *path, const cli_pair_file *f, const regime_report *reports) {
  cli_json json = cli_json_begin(stdout);
  CLI_MEMBERS(&json, CLI_T("file", path), CLI_I("bodies", f->body_count), CLI_I("vertices", f->vertex_count),
              CLI_I("sequence_length", f->sequence_length));
  cli_json_open(&json, "regimes", '[');
  for (int i = 0; i < f->regime_count; i++) {
    const regime_report *r = &reports[i];
    char name[40];
    cli_json_open(&json, NULL, '{');
    CLI_MEMBERS(&json, CLI_T("name", regime_name(f, i, name, sizeof name)), CLI_I("pairs", r->pairs),
                CLI_N("program_cold", r->lp_cold), CLI_N("program_cached", r->lp_warm),
                CLI_N("distance_cold", r->distance_cold), CLI_N("distance_cached", r->distance_warm),
                CLI_N("bound_error", r->lp_error), CLI_N("distance_error", r->distance_error),
                CLI_N("normal_error", r->normal_error), CLI_N("duality_gap", r->duality_gap),
                CLI_N("pivots", r->pivots), CLI_I("most_pivots", r->most_pivots), CLI_I("resets", r->resets),
                CLI_I("limits", r->limits));
    cli_json_close(&json, '}');
  }
  cli_json_close(&json, ']');
  cli_json_end(&json);
}

int cli_gap_pairs(const char *path, bool json) {
  cli_pair_file file;
  carom_error error = {0};
  if (!cli_pair_file_read(path, &file, &error)) return cli_fail(&error);
  regime_report *reports = calloc((size_t)file.regime_count, sizeof *reports);
  bool good = reports != NULL;
  cli_catch_interrupts();
  for (int i = 0; good && i < file.regime_count && !cli_interrupted(); i++) good = measure(&file, i, &reports[i]);
  int code = cli_interrupted() ? EXIT_INTERRUPTED : good ? EXIT_GOOD : EXIT_FAILED;
  if (!good) cli_error(reports ? "gap: %s: a query failed" : "gap: %s: out of memory", path);
  if (code == EXIT_GOOD && json) print_json(path, &file, reports);
  if (code == EXIT_GOOD && !json) print_table(path, &file, reports);
  free(reports);
  cli_pair_file_release(&file);
  return code;
}
