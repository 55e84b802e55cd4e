// Where to look next. Two reasons compete: where the surrogate is least (polish), and where it knows so little that
// much better values are to be expected (explore, by the expected improvement).
#include <math.h>
#include <string.h>

#include "solve/surrogate.h"

// docs/design.md tells how these were chosen.
#define CANDIDATES 64         // a variable
#define DESCENTS 4            // from the best of them
#define EXPLORE_RATIO 1000.0  // explore when that promises so many times what polishing does
#define EXPLORE_LEAST 1e-4    // improvement worth a look, in parts of the spread
#define NOISE 1e-6            // nugget above which values are not taken at their word
#define GOLDEN 0.3819660112501051
#define OUT_STEP 0.6    // of the way to a bound, where values fall towards it
#define OUT_LEAST 0.15  // all the way from nearer

// ---- a minimum of something cheap -----------------------------------------------------------------------------------

// Point k of an additive recurrence with the generalised golden ratio (Roberts 2018): evenly spread for every count.
static void spread_point(const carom_search *s, double shift, int k, double *u) {
  int d = s->region.d;
  double g = 1.5, a = 1;
  for (int i = 0; i < 60; i++) g = pow(1 + g, 1.0 / (d + 1));
  for (int i = 0; i < d; i++) {
    double whole;
    a /= g;
    u[i] = modf(shift + k * a, &whole);
  }
}

typedef struct descent {
  double u[CAROM_SEARCH_DIM], value;
} descent;

static void keep_best(descent *best, const double *u, double value, int d) {
  int at = DESCENTS;
  while (at > 0 && value < best[at - 1].value) at--;
  if (at == DESCENTS) return;
  for (int i = DESCENTS - 1; i > at; i--) best[i] = best[i - 1];
  memcpy(best[at].u, u, (size_t)d * sizeof *u);
  best[at].value = value;
}

static bool try_step(carom_search *s, carom_merit *merit, descent *at, const double *from, const double *move) {
  double u[CAROM_SEARCH_DIM];
  for (int i = 0; i < s->region.d; i++) u[i] = from[i] + move[i];
  if (!carom_region_project(&s->region, u)) return false;
  double value = merit(s, u);
  if (!(value < at->value)) return false;
  memcpy(at->u, u, sizeof u);
  at->value = value;
  return true;
}

// Hooke and Jeeves (1961), every trial moved to where it is allowed.
static void descend(carom_search *s, carom_merit *merit, descent *at) {
  int d = s->region.d, left = 400 * d;
  double step = 0.1, move[CAROM_SEARCH_DIM], base[CAROM_SEARCH_DIM];
  while (step > 1e-7 && left > 0) {
    memcpy(base, at->u, sizeof base);
    bool better = false;
    for (int i = 0; i < 2 * d; i++, left--) {
      memset(move, 0, sizeof move);
      move[i / 2] = i % 2 ? -step : step;
      better = try_step(s, merit, at, at->u, move) || better;
    }
    if (!better) {
      step /= 3;
      continue;
    }
    for (int i = 0; i < d; i++) move[i] = at->u[i] - base[i];
    while (left-- > 0 && try_step(s, merit, at, at->u, move)) continue;
  }
}

double carom_search_minimise(carom_search *s, carom_merit *merit, double *u) {
  int d = s->region.d, count = CANDIDATES * (d < 8 ? d : 8);
  carom_random random = carom_random_make(s->def.seed, (uint64_t)s->count);
  double shift = carom_random_uniform(&random);
  descent best[DESCENTS];
  for (int i = 0; i < DESCENTS; i++) best[i].value = INFINITY;
  for (int k = 0; k < count; k++) {
    spread_point(s, shift, k, u);
    if (carom_region_project(&s->region, u)) keep_best(best, u, merit(s, u), d);
  }
  for (int k = 0; k < s->count; k++)
    if (s->state[k] == CAROM_SAMPLE_GOOD) keep_best(best, s->u + k * d, merit(s, s->u + k * d), d);
  int least = 0;
  for (int i = 0; i < DESCENTS && isfinite(best[i].value); i++) {
    descend(s, merit, &best[i]);
    if (best[i].value < best[least].value) least = i;
  }
  memcpy(u, best[least].u, (size_t)d * sizeof *u);
  return best[least].value;
}

// ---- merits ---------------------------------------------------------------------------------------------------------

static double far_merit(carom_search *s, const double *u) {
  return -carom_search_apart(s, u) * carom_search_chance(s, u);
}

static double mean_at(carom_search *s, const double *u) {
  double mean, deviation;
  carom_kriging_predict(s->kriging, u, &mean, &deviation);
  return mean;
}

static double mean_merit(carom_search *s, const double *u) {
  return carom_search_chance(s, u) >= 0.5 ? mean_at(s, u) : INFINITY;
}

static double noise_of(const carom_search *s) { return carom_kriging_describe(s->kriging).nugget; }

// The best value so far as the surrogate sees it, which need not go through the values to the last digit.
static double reference(carom_search *s) {
  double least = INFINITY;
  int d = s->region.d;
  for (int k = 0; k < s->count; k++)
    if (s->state[k] == CAROM_SAMPLE_GOOD) least = fmin(least, mean_at(s, s->u + k * d));
  return least;
}

static double improvement_merit(carom_search *s, const double *u) {
  double mean, deviation;
  if (carom_search_apart(s, u) < s->def.resolution) return INFINITY;
  carom_kriging_predict(s->kriging, u, &mean, &deviation);
  return -carom_log_improvement(mean, deviation, s->reference) - log(carom_search_chance(s, u));
}

// ---- polish ---------------------------------------------------------------------------------------------------------

// How far to go towards a bound that is so far away: not all the way at once, for extrapolated splines run wild.
static double way_out(double room) { return room > OUT_LEAST ? OUT_STEP * room : room; }

// In one variable without noise: the spline's minimum next to the best sample, in units of the surrogate.
static double polish_spline(carom_search *s, double *u) {
  int best = 0;
  if (!carom_search_spline(s)) return 0;
  for (int i = 1; i < s->knots; i++)
    if (s->knot_y[i] < s->knot_y[best]) best = i;
  const carom_spline spline = {s->knots, s->knot_x, s->knot_y, s->second};
  double at = s->knot_x[best], low = best > 0 ? s->knot_x[best - 1] : at - way_out(at);
  double high = best < s->knots - 1 ? s->knot_x[best + 1] : at + way_out(1 - at);
  double value = carom_spline_least(&spline, low, high, u);
  return carom_search_chance(s, u) >= 0.5
             ? carom_search_to_surrogate(s, s->knot_y[best]) - carom_search_to_surrogate(s, value)
             : 0;
}

// What the surrogate's minimum promises; 0: nothing new.
static double polish(carom_search *s, double *u) {
  double gain;
  if (s->region.d == 1 && s->def.method == CAROM_SEARCH_AUTO && noise_of(s) <= NOISE)
    gain = polish_spline(s, u);
  else
    gain = s->reference - carom_search_minimise(s, mean_merit, u);
  return carom_search_apart(s, u) >= s->def.resolution && isfinite(gain) ? gain : 0;
}

// ---- by method ------------------------------------------------------------------------------------------------------

static bool is_pending(const carom_search *s) {
  for (int k = 0; k < s->count; k++)
    if (s->state[k] == CAROM_SAMPLE_ASKED) return true;
  return false;
}

static double surrogate_spread(const carom_search *s) {
  double least = carom_search_least(s), most = least + carom_search_spread(s);
  return carom_search_to_surrogate(s, most) - carom_search_to_surrogate(s, least);
}

static bool propose_kriging(carom_search *s, double *u) {
  double other[CAROM_SEARCH_DIM], spread = surrogate_spread(s);
  s->reference = reference(s);
  double gain = is_pending(s) ? 0 : polish(s, u);
  double expected = exp(-carom_search_minimise(s, improvement_merit, other));
  bool settled = s->best_before - carom_search_least(s) <= s->def.tolerance * carom_search_spread(s);
  if (!is_pending(s) && settled && gain <= s->def.tolerance * spread && expected <= EXPLORE_LEAST * spread)
    return false;
  if (gain > s->def.tolerance * spread && expected <= EXPLORE_RATIO * gain) return true;
  memcpy(u, other, sizeof other);
  return isfinite(expected) && carom_search_apart(s, u) >= s->def.resolution;
}

// Between a sample that failed and the nearest one that did not.
static void retreat(const carom_search *s, double *u) {
  double bad = *u, apart = INFINITY;
  for (int k = 0; k < s->count; k++)
    if (s->state[k] == CAROM_SAMPLE_FAILED && fabs(s->u[k] - *u) < apart) bad = s->u[k], apart = fabs(bad - *u);
  apart = INFINITY;
  for (int k = 0; k < s->count; k++)
    if (s->state[k] == CAROM_SAMPLE_GOOD && fabs(s->u[k] - bad) < apart)
      apart = fabs(s->u[k] - bad), *u = 0.5 * (bad + s->u[k]);
}

// The strawman (Pekarek 2010, 5.3): the spline's minimum between the bounds, whatever it is.
static bool propose_spline(carom_search *s, double *u) {
  double least = carom_search_least(s), small = s->def.tolerance * fabs(least);
  const carom_spline spline = {s->knots, s->knot_x, s->knot_y, s->second};
  double gain = least - carom_spline_least(&spline, 0, 1, u);
  if (carom_search_chance(s, u) < 0.5) {
    retreat(s, u);
    return carom_search_apart(s, u) >= s->def.resolution;
  }
  if (gain <= small && s->best_before - least <= small) return false;
  return carom_search_apart(s, u) >= s->def.resolution;
}

static bool propose_far(carom_search *s, double *u) {
  carom_search_minimise(s, far_merit, u);
  return carom_search_apart(s, u) >= s->def.resolution;
}

// Of the points that `auto` begins with in one variable the third goes on beside the better of the first two.
static bool takes_golden_section(const carom_search *s) {
  return s->golden && s->started == 3 && s->state[0] == CAROM_SAMPLE_GOOD && s->state[1] == CAROM_SAMPLE_GOOD;
}

// The next start that is not there yet.
static bool propose_start(carom_search *s, double *u) {
  int d = s->region.d;
  while (s->started < s->start_count) {
    memcpy(u, s->starts + s->started++ * d, (size_t)d * sizeof *u);
    if (takes_golden_section(s)) *u = s->value[0] < s->value[1] ? GOLDEN * s->u[1] : 1 - GOLDEN * s->u[1];
    if (carom_region_project(&s->region, u) && carom_search_apart(s, u) >= s->def.resolution) return true;
  }
  return false;
}

void carom_search_spread_starts(carom_search *s) {
  static const double one[3][3] = {{GOLDEN, 1 - GOLDEN, 0.5}, {0.3, 0.7}, {0.2, 0.5, 0.8}};  // by method
  s->golden = s->region.d == 1 && s->def.method == CAROM_SEARCH_AUTO;
  for (int k = 0; k < s->start_count; k++) {
    double *u = s->starts + k * s->region.d;
    if (s->region.d == 1 && k < 2 + (s->def.method != CAROM_SEARCH_SPLINE))
      *u = one[s->def.method][k];
    else
      spread_point(s, 0.5, k, u);
  }
}

bool carom_search_propose(carom_search *s, double *u) {
  if (propose_start(s, u)) return true;
  if (s->def.method == CAROM_SEARCH_SPLINE) return carom_search_spline(s) ? propose_spline(s, u) : propose_far(s, u);
  if (carom_search_model(s) != CAROM_OK || s->fitted == 0) return propose_far(s, u);
  return propose_kriging(s, u);
}
