// The fit: min over p of max over pushes and samples of |q_simulated - q_measured| (Gavrea 2008, 2.4), by simplexes.
// The search begins with the mean square, which has no kinks, and goes on from its best point with the largest
// residual. Intervals are percentiles over fits to pushes drawn anew with replacement (Efron 1979).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "control/push_fit.h"
#include "model/size.h"
#include "solve/simplex_search.h"

static const double FLAT = 0.01;         // a change of the residual by less than this share is none
static const double NO_RESIDUAL = 1e-7;  // nor is one by less than this
static const double SPANS = 0.9;         // of the range: an interval that tells nothing

const char *carom_push_support_name(carom_push_support support) {
  static const char *const names[] = {"isotropic", "diagonal", "points", "given"};
  return (unsigned)support < sizeof names / sizeof *names ? names[support] : NULL;
}

carom_push_fit_def carom_push_fit_default(void) {
  return (carom_push_fit_def){.pusher = carom_pusher_default(),
                              .starts = 4,
                              .budget = 4000,
                              .replicates = 40,
                              .replicate_budget = 400,
                              .confidence = 0.9,
                              .seed = 1};
}

// ---- residuals -----------------------------------------------------------------------------------------------------

// One search: which pushes count, and what was seen on the way.
typedef struct search {
  const carom_push_fit_job *job;
  const carom_push_simulator *simulator;
  const int *weight;           // (record_count) how often each counts; null: once
  bool squares;                // the root of the mean square is sought
  carom_push_sample *samples;  // (most samples of a record)
  int worst_record, worst_sample;
  double largest, squared;  // of the last evaluation
  int count;                // of residuals, weighted
  bool out_of_memory;       // at some time: what was found does not count
} search;

static double residual_of(const carom_push_sample *simulated, const carom_push_sample *measured, double length) {
  double x = fabs(simulated->pose[0] - measured->pose[0]) / length;
  double y = fabs(simulated->pose[1] - measured->pose[1]) / length;
  return fmax(fmax(x, y), fabs(remainder(simulated->pose[2] - measured->pose[2], 2 * acos(-1))));
}

static bool add_record(search *s, int i, int weight) {
  const carom_push_record *record = &s->job->def->records[i];
  carom_status status = s->simulator->run(s->simulator->context, record, s->samples);
  if (status == CAROM_ERR_MEMORY) s->out_of_memory = true;
  if (status != CAROM_OK) return false;
  for (int k = 0; k < record->sample_count; k++) {
    double r = residual_of(&s->samples[k], &record->samples[k], s->job->length);
    if (!(r <= s->largest)) s->largest = r, s->worst_record = i, s->worst_sample = k;
    s->squared += weight * r * r, s->count += weight;
  }
  return true;
}

static double residual(void *context, const double *u) {
  search *s = context;
  carom_push_guess guess = carom_push_numbers_guess(&s->job->numbers, u);
  if (s->out_of_memory) return NAN;
  carom_status status = s->simulator->take(s->simulator->context, &guess, NULL);
  if (status == CAROM_ERR_MEMORY) s->out_of_memory = true;
  if (status != CAROM_OK) return NAN;
  s->largest = -1, s->squared = 0, s->count = 0;
  for (int i = 0; i < s->job->def->record_count; i++) {
    int weight = s->weight ? s->weight[i] : 1;
    if (weight && !add_record(s, i, weight)) return NAN;
  }
  return s->squares ? sqrt(s->squared / s->count) : s->largest;
}

// ---- searches ------------------------------------------------------------------------------------------------------

static carom_simplex simplex_of(const carom_push_fit_job *job, search *s) {
  carom_simplex simplex = carom_simplex_default();
  simplex.n = job->numbers.count, simplex.low = job->numbers.low, simplex.high = job->numbers.high;
  simplex.value = residual, simplex.context = s;
  simplex.seed = job->def->seed, simplex.tolerance = 1e-9;
  return simplex;
}

static void count_up(const carom_simplex_info *info, carom_push_fit *fit) {
  fit->evaluations += info->evaluations, fit->failures += info->failures;
  fit->within_budget = fit->within_budget && info->within;
}

// Both searches for the best numbers, from u on.
static carom_status find_best(const carom_push_fit_job *job, search *s, double *u, carom_push_fit *fit,
                              carom_error *error) {
  carom_simplex simplex = simplex_of(job, s);
  carom_simplex_info info;
  s->squares = true;
  simplex.starts = job->def->starts, simplex.budget = (job->def->budget + 1) / 2;
  fit->within_budget = true;
  carom_status status = carom_simplex_minimise(&simplex, u, &info, error);
  if (status != CAROM_OK) return status;
  count_up(&info, fit);
  if (s->out_of_memory) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a fit of pushes");
  if (isinf(info.value))
    return carom_fail(
        error, CAROM_NOT_CONVERGED,
        "fit of pushes: no support and friction that was tried (%d) brings all recorded pushes to an end; "
        "look at the poses they start from, and at where the probes begin",
        info.evaluations);
  s->squares = false;
  simplex.starts = 0, simplex.size = 0.02, simplex.budget = job->def->budget - info.evaluations + 1;
  status = carom_simplex_minimise(&simplex, u, &info, error);
  if (status == CAROM_OK) count_up(&info, fit);
  return status;
}

// What a fit is at u.
static void tell_fit(const carom_push_fit_job *job, search *s, const double *u, carom_push_fit *fit) {
  s->squares = false;
  fit->residual = residual(s, u);
  fit->rms = sqrt(s->squared / s->count);
  fit->worst_record = s->worst_record, fit->worst_sample = s->worst_sample;
  fit->length = job->length;
  carom_push_guess guess = carom_push_numbers_guess(&job->numbers, u);
  memcpy(fit->damping, guess.E, sizeof fit->damping);
  memcpy(fit->mu, guess.mu, sizeof fit->mu);
  fit->parameter_count = carom_push_numbers_told(&job->numbers);
  for (int i = 0; i < fit->parameter_count; i++) {
    carom_push_parameter *p = &fit->parameters[i];
    carom_push_numbers_name(&job->numbers, i, p);
    p->value = p->low = p->high = carom_push_numbers_value(&job->numbers, u, i);
  }
}

// ---- forces --------------------------------------------------------------------------------------------------------

// Largest difference of s f_simulated and f_measured over all samples that have a force.
typedef struct force_gap {
  double *simulated, *measured;  // (count)
  int count;
  double largest;  // measured
} force_gap;

static double gap_at(const force_gap *g, double scale) {
  double most = 0;
  for (int i = 0; i < g->count; i++) most = fmax(most, fabs(scale * g->simulated[i] - g->measured[i]));
  return most;
}

// The least of a convex function of the scale, by thirds.
static double best_scale(const force_gap *g) {
  double low = 0, high = 0;
  for (int i = 0; i < g->count; i++)
    if (g->simulated[i] > 0) high = fmax(high, 2 * g->measured[i] / g->simulated[i]);
  for (int k = 0; k < 300; k++) {
    double a = low + (high - low) / 3, b = high - (high - low) / 3;
    if (gap_at(g, a) <= gap_at(g, b))
      high = b;
    else
      low = a;
  }
  return 0.5 * (low + high);
}

static bool measured_force(const carom_push_sample *s) { return isfinite(s->force) && s->force >= 0; }

static void gather_forces(search *s, force_gap *g) {
  for (int i = 0; i < s->job->def->record_count; i++) {
    const carom_push_record *record = &s->job->def->records[i];
    if (s->simulator->run(s->simulator->context, record, s->samples) != CAROM_OK) continue;
    for (int k = 0; k < record->sample_count; k++) {
      if (!measured_force(&record->samples[k]) || record->samples[k].time <= 0) continue;
      g->simulated[g->count] = s->samples[k].force, g->measured[g->count] = record->samples[k].force;
      g->largest = fmax(g->largest, g->measured[g->count++]);
    }
  }
}

// Forces are proportional to E where it is viscous, and to the root of it where it is dry.
static void scale_damping(const carom_push_fit_job *job, double scale, carom_push_fit *fit) {
  const carom_push_fit_def *def = job->def;
  bool dry = def->pusher.model->supports && def->pusher.model->supports[def->body].kind == CAROM_SUPPORT_DRY;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) fit->damping[i][j] *= dry ? scale * scale : scale;
}

static carom_status find_scale(const carom_push_fit_job *job, search *s, const double *u, carom_push_fit *fit,
                               carom_error *error) {
  int most = 0;
  fit->force_residual = NAN;
  for (int i = 0; i < job->def->record_count; i++) most += job->def->records[i].sample_count;
  force_gap g = {0};
  bool good = CAROM_NEW_ALL(job->allocator, CAROM_ROOM(g.simulated, most), CAROM_ROOM(g.measured, most));
  if (good) {
    residual(s, u);  // takes the guess
    if (!s->out_of_memory) gather_forces(s, &g);
    fit->scale_known = g.count > 0 && g.largest > 0;
  }
  if (good && fit->scale_known) {
    double scale = best_scale(&g);
    fit->force_residual = gap_at(&g, scale) / g.largest;
    scale_damping(job, scale, fit);
  }
  CAROM_RELEASE_ALL(job->allocator, g.simulated, g.measured);
  return good ? CAROM_OK : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a fit of pushes");
}

// ---- intervals -----------------------------------------------------------------------------------------------------

static void draw_weights(const carom_push_fit_def *def, int replicate, int *weight) {
  carom_random random = carom_random_make(def->seed, 1000000 + (uint64_t)replicate);
  memset(weight, 0, (size_t)def->record_count * sizeof *weight);
  for (int i = 0; i < def->record_count; i++) weight[carom_random_below(&random, (uint32_t)def->record_count)]++;
}

typedef struct replicates {
  const carom_push_fit_job *job;
  const double *best;  // (count)
  double *u;           // (replicates x count) their numbers; not finite: failed
  int *weight;         // (threads x record_count)
  search *searches;    // (threads)
  carom_status status;
  int done;
  bool stopped;
} replicates;

static void fit_replicate(replicates *r, int replicate, int thread) {
  const carom_push_fit_job *job = r->job;
  search *s = &r->searches[thread];
  int *weight = r->weight + thread * job->def->record_count, n = job->numbers.count;
  double *u = r->u + replicate * n;
  draw_weights(job->def, replicate, weight);
  s->weight = weight;
  carom_simplex simplex = simplex_of(job, s);
  carom_simplex_info info;
  simplex.size = 0.05, simplex.tolerance = 1e-5, simplex.budget = job->def->replicate_budget, simplex.restarts = 3;
  memcpy(u, r->best, (size_t)n * sizeof *u);
  carom_status status = carom_simplex_minimise(&simplex, u, &info, NULL);
  if (status != CAROM_OK || isinf(info.value)) u[0] = NAN;
#pragma omp critical(carom_push_fit_replicates)
  {
    if (status != CAROM_OK || s->out_of_memory) r->status = CAROM_ERR_MEMORY;
    const carom_progress *progress = &job->def->progress;
    r->done++;
    if (progress->report && !progress->report(progress->context, 1 + r->done, 1 + job->def->replicates))
      r->stopped = true;
  }
}

static void maybe_fit_replicate(replicates *r, int replicate, int thread) {
  bool stopped;
#pragma omp critical(carom_push_fit_replicates)
  stopped = r->stopped;
  if (stopped)
    r->u[replicate * r->job->numbers.count] = NAN;
  else
    fit_replicate(r, replicate, thread);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Of sorted values, linear between them.
static double percentile(const double *sorted, int count, double q) {
  double at = q * (count - 1);
  int i = (int)at;
  return i + 1 < count ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[count - 1];
}

static void set_interval(const replicates *r, int i, double *values, carom_push_fit *fit) {
  const carom_push_fit_job *job = r->job;
  carom_push_parameter *p = &fit->parameters[i];
  int n = job->numbers.count, count = 0, k = carom_push_numbers_of(&job->numbers, i);
  double tail = 0.5 * (1 - job->def->confidence);
  for (int j = 0; j < job->def->replicates; j++)
    if (isfinite(r->u[j * n])) values[count++] = carom_push_numbers_value(&job->numbers, r->u + j * n, i);
  fit->replicates = count;
  if (count == 0) return;
  qsort(values, (size_t)count, sizeof *values, ascending);
  p->low = fmin(p->value, percentile(values, count, tail));
  p->high = fmax(p->value, percentile(values, count, 1 - tail));
  count = 0;  // and of the number that was searched, in its own range
  for (int j = 0; j < job->def->replicates; j++)
    if (isfinite(r->u[j * n])) values[count++] = r->u[j * n + k];
  qsort(values, (size_t)count, sizeof *values, ascending);
  double width = percentile(values, count, 1 - tail) - percentile(values, count, tail);
  if (width > SPANS * (job->numbers.high[k] - job->numbers.low[k])) p->identified = false;
}

static bool make_replicates(const carom_push_fit_job *job, const search *first, replicates *r) {
  const carom_allocator *a = job->allocator;
  int n = job->numbers.count, records = job->def->record_count, most = 0;
  bool good = CAROM_NEW_ALL(a, CAROM_ROOM(r->u, job->def->replicates * n),
                            CAROM_ROOM(r->weight, job->threads * records), CAROM_ROOM(r->searches, job->threads));
  for (int i = 0; i < records; i++)
    most = job->def->records[i].sample_count > most ? job->def->records[i].sample_count : most;
  for (int t = 0; good && t < job->threads; t++) {
    r->searches[t] = *first;
    r->searches[t].simulator = &job->simulators[t];
    r->searches[t].squares = false;
    r->searches[t].samples = CAROM_NEW(a, carom_push_sample, most);
    good = r->searches[t].samples != NULL;
  }
  return good;
}

static void drop_replicates(const carom_push_fit_job *job, replicates *r) {
  for (int t = 0; r->searches && t < job->threads; t++) carom_release(job->allocator, r->searches[t].samples);
  CAROM_RELEASE_ALL(job->allocator, r->u, r->weight, r->searches);
}

static carom_status find_intervals(const carom_push_fit_job *job, const search *first, const double *best,
                                   carom_push_fit *fit, carom_error *error) {
  const carom_push_fit_def *def = job->def;
  replicates r = {.job = job, .best = best};
  double *values = CAROM_NEW(job->allocator, double, def->replicates);
  bool good = make_replicates(job, first, &r) && values;
  if (good) {
    CAROM_PARALLEL_FOR(job->threads, schedule(dynamic, 1),
                       for (int i = 0; i < def->replicates; i++) maybe_fit_replicate(&r, i, carom_team_here().me));
    for (int i = 0; i < fit->parameter_count; i++) set_interval(&r, i, values, fit);
  }
  drop_replicates(job, &r);
  carom_release(job->allocator, values);
  if (!good || r.status == CAROM_ERR_MEMORY)
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a fit of pushes");
  if (r.stopped) return carom_fail(error, CAROM_INTERRUPTED, "fit of pushes: interrupted");
  return CAROM_OK;
}

// Numbers that may be anything: neither end of their range makes the fit worse.
static void find_free(const carom_push_fit_job *job, search *s, const double *u, carom_push_fit *fit) {
  bool free[CAROM_PUSH_FIT_MOST];
  double enough = fit->residual * (1 + FLAT) + NO_RESIDUAL, v[CAROM_PUSH_FIT_MOST];
  for (int k = 0; k < job->numbers.count; k++) {
    memcpy(v, u, sizeof v);
    v[k] = job->numbers.low[k];
    free[k] = residual(s, v) <= enough;
    v[k] = job->numbers.high[k];
    free[k] = free[k] && residual(s, v) <= enough;
  }
  for (int i = 0; i < fit->parameter_count; i++) {
    carom_push_parameter *p = &fit->parameters[i];
    if (free[carom_push_numbers_of(&job->numbers, i)]) p->identified = false;
    if (!p->identified) p->low = p->least, p->high = p->most;
  }
}

// ---- all of it -----------------------------------------------------------------------------------------------------

static carom_status search_all(const carom_push_fit_job *job, search *s, carom_push_fit *fit, carom_error *error) {
  double u[CAROM_PUSH_FIT_MOST] = {0};
  memcpy(u, job->numbers.first, sizeof u);
  carom_status status = find_best(job, s, u, fit, error);
  if (status != CAROM_OK) return status;
  tell_fit(job, s, u, fit);
  if (s->out_of_memory) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a fit of pushes");
  status = find_scale(job, s, u, fit, error);
  if (status != CAROM_OK) return status;
  const carom_progress *progress = &job->def->progress;
  if (progress->report && !progress->report(progress->context, 1, 1 + job->def->replicates))
    return carom_fail(error, CAROM_INTERRUPTED, "fit of pushes: interrupted");
  if (job->def->replicates) status = find_intervals(job, s, u, fit, error);
  find_free(job, s, u, fit);
  if (status == CAROM_OK && s->out_of_memory)
    status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a fit of pushes");
  return status;
}

carom_status carom_push_fit_search(const carom_push_fit_job *job, carom_push_fit *fit, carom_error *error) {
  int most = 0;
  for (int i = 0; i < job->def->record_count; i++)
    if (job->def->records[i].sample_count > most) most = job->def->records[i].sample_count;
  search s = {.job = job, .simulator = &job->simulators[0]};
  s.samples = CAROM_NEW(job->allocator, carom_push_sample, most);
  *fit = (carom_push_fit){0};
  carom_status status = s.samples ? search_all(job, &s, fit, error)
                                  : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a fit of pushes");
  carom_release(job->allocator, s.samples);
  return status;
}
