// The search from outside: ask, tell, best. What it asks for is a function of what it was told, and in which order.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/surrogate.h"

const char *carom_search_method_name(carom_search_method method) {
  static const char *const names[] = {"auto", "spline", "kriging"};
  return (unsigned)method < sizeof names / sizeof *names ? names[method] : NULL;
}

carom_search_def carom_search_default(void) {
  return (carom_search_def){.budget = 50, .tolerance = 1e-7, .resolution = 1e-5, .seed = 1};
}

// ---- the definition -------------------------------------------------------------------------------------------------

static carom_status check_numbers(const carom_search_def *def, carom_error *error) {
  if (def->variable_count < 1 || def->variable_count > CAROM_KRIGING_MOST_VARIABLES)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a search has 1 to %d variables, got %d", CAROM_KRIGING_MOST_VARIABLES,
                      def->variable_count);
  if (def->budget < 1)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the budget must be at least 1 evaluation, got %d", def->budget);
  if (!(def->tolerance >= 0) || !(def->resolution > 0 && def->resolution < 0.1))
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "a search needs a tolerance of at least 0 and a resolution above 0, below 0.1; got %g and %g",
                      def->tolerance, def->resolution);
  if (!carom_search_method_name(def->method))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "there is no search method %d", (int)def->method);
  if (def->method == CAROM_SEARCH_SPLINE && def->variable_count > 1)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a spline is for one variable, got %d; use kriging",
                      def->variable_count);
  return CAROM_OK;
}

static carom_status set_bounds(const carom_search_def *def, carom_region *r, carom_error *error) {
  r->d = def->variable_count;
  for (int i = 0; i < r->d; i++) {
    double low = r->low[i] = def->low[i], high = r->high[i] = def->high[i];
    r->logarithmic[i] = def->logarithmic && def->logarithmic[i];
    if (!(isfinite(low) && isfinite(high) && low < high))
      return carom_fail(error, CAROM_ERR_ARGUMENT, "the bounds of variable %d cross: %g and %g", i, low, high);
    if (r->logarithmic[i] && !(low > 0))
      return carom_fail(error, CAROM_ERR_ARGUMENT, "the bounds of variable %d, which is logarithmic, must be above 0",
                        i);
  }
  return CAROM_OK;
}

// rows x <= most becomes rows' v <= most' with rows' of length 1.
static carom_status set_constraints(const carom_search_def *def, carom_region *r, carom_error *error) {
  r->count = def->constraint_count;
  for (int c = 0; c < r->count; c++) {
    double length = 0, most = def->most[c];
    for (int i = 0; i < r->d; i++) {
      double a = def->rows[c * r->d + i];
      most -= a * r->low[i];
      r->rows[c * r->d + i] = a * (r->high[i] - r->low[i]);
      length += r->rows[c * r->d + i] * r->rows[c * r->d + i];
    }
    length = sqrt(length);
    if (!(length > 0) || !isfinite(length) || !isfinite(most))
      return carom_fail(error, CAROM_ERR_ARGUMENT, "constraint %d has no variable in it, or is not finite", c);
    for (int i = 0; i < r->d; i++) r->rows[c * r->d + i] /= length;
    r->most[c] = most / length;
  }
  return CAROM_OK;
}

static carom_status check_room(const carom_region *r, carom_error *error) {
  double u[CAROM_SEARCH_DIM];
  for (int i = 0; i < r->d; i++) u[i] = 0.5;
  if (carom_region_project(r, u)) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_ARGUMENT,
                    "the linear constraints leave nothing between the bounds; loosen a constraint or a bound");
}

// ---- beginning and end ----------------------------------------------------------------------------------------------

static bool make_room(carom_search *s, int constraints) {
  size_t d = (size_t)s->region.d, n = (size_t)s->room;
  return CAROM_NEW_ALL(
      &s->allocator, CAROM_ROOM(s->x, n * d), CAROM_ROOM(s->u, n * d), CAROM_ROOM(s->value, n), CAROM_ROOM(s->state, n),
      CAROM_ROOM(s->fit_u, n * d), CAROM_ROOM(s->fit_y, n), CAROM_ROOM(s->knot_x, n), CAROM_ROOM(s->knot_y, n),
      CAROM_ROOM(s->second, n), CAROM_ROOM(s->work, 2 * n), CAROM_ROOM(s->starts, (size_t)s->start_count * d),
      CAROM_ROOM(s->region.rows, (size_t)constraints * d), CAROM_ROOM(s->region.most, (size_t)constraints));
}

static carom_status outside(const carom_search *s, int i, double x, const char *what, carom_error *error) {
  return carom_fail(error, CAROM_ERR_ARGUMENT, "%s: variable %d is %g, outside its bounds %g to %g", what, i, x,
                    s->region.low[i], s->region.high[i]);
}

// Points that are told or begun with: inside the bounds, but for rounding.
static carom_status take_point(const carom_search *s, const double *x, const char *what, double *u,
                               carom_error *error) {
  const carom_region *r = &s->region;
  for (int i = 0; i < r->d; i++) {
    double slack = 1e-9 * (r->high[i] - r->low[i]);
    if (!(x[i] >= r->low[i] - slack && x[i] <= r->high[i] + slack)) return outside(s, i, x[i], what, error);
    u[i] = fmin(fmax(carom_region_to_unit(r, i, fmin(fmax(x[i], r->low[i]), r->high[i])), 0), 1);
  }
  return CAROM_OK;
}

static carom_status set_starts(carom_search *s, carom_error *error) {
  carom_status status = CAROM_OK;
  int d = s->region.d;
  if (!s->def.starts) carom_search_spread_starts(s);
  for (int k = 0; s->def.starts && k < s->start_count && status == CAROM_OK; k++)
    status = take_point(s, s->def.starts + k * d, "a start", s->starts + k * d, error);
  s->def.starts = NULL;
  return status;
}

static int default_starts(const carom_search_def *def) {
  if (def->start_count > 0) return def->start_count;
  if (def->method == CAROM_SEARCH_SPLINE) return 2;
  return def->variable_count + 2;
}

static carom_status set_up(carom_search *s, const carom_search_def *def, carom_error *error) {
  carom_status status = set_bounds(def, &s->region, error);
  s->start_count = default_starts(def);
  s->room = 4 * def->budget + 16;
  if (status == CAROM_OK && !make_room(s, def->constraint_count))
    status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a search of %d evaluations", def->budget);
  if (status == CAROM_OK) status = set_constraints(def, &s->region, error);
  if (status == CAROM_OK) status = carom_region_prepare(&s->region, &s->allocator, error);
  if (status == CAROM_OK) status = check_room(&s->region, error);
  if (status == CAROM_OK) status = set_starts(s, error);
  if (status == CAROM_OK)
    status = carom_kriging_create(s->region.d, s->room, CAROM_TREND_CONSTANT, &s->allocator, &s->kriging, error);
  return status;
}

carom_status carom_search_create(const carom_search_def *def, const carom_allocator *allocator, carom_search **search,
                                 carom_error *error) {
  *search = NULL;
  carom_status status = check_numbers(def, error);
  if (status != CAROM_OK) return status;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_search *s = CAROM_NEW(&a, carom_search, 1);
  if (!s) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a search");
  s->allocator = a;
  s->def = *def;
  s->best_before = INFINITY;
  status = set_up(s, def, error);
  s->def.low = s->def.high = s->def.rows = s->def.most = NULL, s->def.logarithmic = NULL;
  if (status == CAROM_OK)
    *search = s;
  else
    carom_search_destroy(s);
  return status;
}

void carom_search_destroy(carom_search *s) {
  if (!s) return;
  carom_allocator a = s->allocator;
  carom_kriging_destroy(s->kriging);
  carom_region_release(&s->region, &a);
  CAROM_RELEASE_ALL(&a, s->x, s->u, s->value, s->state, s->fit_u, s->fit_y, s->knot_x, s->knot_y, s->second, s->work,
                    s->starts, s);
}

// ---- ask and tell ---------------------------------------------------------------------------------------------------

static void add(carom_search *s, const double *u, const double *x) {
  int d = s->region.d;
  memcpy(s->u + s->count * d, u, (size_t)d * sizeof *u);
  memcpy(s->x + s->count * d, x, (size_t)d * sizeof *x);
  s->value[s->count] = NAN;
  s->state[s->count++] = CAROM_SAMPLE_ASKED;
}

int carom_search_ask(carom_search *s, int most, double *points) {
  int d = s->region.d, given = 0;
  double u[CAROM_SEARCH_DIM] = {0};
  if (s->def.method == CAROM_SEARCH_SPLINE && s->started >= s->start_count && most > 1) most = 1;
  while (given < most && s->asked < s->def.budget && s->count < s->room) {
    if (!carom_search_propose(s, u)) break;
    double *x = points + given * d;
    for (int i = 0; i < d; i++) x[i] = carom_region_from_unit(&s->region, i, u[i]);
    add(s, u, x);
    s->asked++, given++;
  }
  s->best_before = carom_search_least(s);
  s->ending = given > 0                   ? CAROM_SEARCH_GOES_ON
              : s->asked >= s->def.budget ? CAROM_SEARCH_SPENT
                                          : CAROM_SEARCH_CONVERGED;
  return given;
}

static int find(const carom_search *s, const double *x) {
  int d = s->region.d;
  for (int k = 0; k < s->count; k++)
    if (memcmp(s->x + k * d, x, (size_t)d * sizeof *x) == 0) return k;
  return -1;
}

carom_status carom_search_tell(carom_search *s, const double *point, double value, carom_error *error) {
  double u[CAROM_SEARCH_DIM] = {0};
  carom_status status = take_point(s, point, "a sample", u, error);
  if (status != CAROM_OK) return status;
  int k = find(s, point);
  if (k < 0 && s->count == s->room)
    return carom_fail(error, CAROM_ERR_LIMIT, "this search has room for %d samples; give it a larger budget", s->room);
  if (k < 0) k = s->count, add(s, u, point);
  bool better = s->state[k] == CAROM_SAMPLE_ASKED || (isfinite(value) && !(s->value[k] <= value));
  if (!better) return CAROM_OK;
  s->state[k] = isfinite(value) ? CAROM_SAMPLE_GOOD : CAROM_SAMPLE_FAILED;
  s->value[k] = isfinite(value) ? value : INFINITY;
  s->fresh = false;
  return CAROM_OK;
}

int carom_search_best(const carom_search *s) {
  int best = -1;
  for (int k = 0; k < s->count; k++)
    if (s->state[k] == CAROM_SAMPLE_GOOD && (best < 0 || s->value[k] < s->value[best])) best = k;
  return best;
}

carom_search_end carom_search_ending(const carom_search *s) { return s->ending; }
int carom_search_count(const carom_search *s) { return s->count; }

carom_search_sample carom_search_at(const carom_search *s, int index) {
  return (carom_search_sample){s->x + index * s->region.d, s->value[index]};
}

void carom_search_predict(carom_search *s, const double *point, double *mean, double *deviation) {
  double u[CAROM_SEARCH_DIM] = {0};
  *mean = *deviation = NAN;
  if (take_point(s, point, "a point", u, NULL) != CAROM_OK) return;
  if (s->def.method == CAROM_SEARCH_SPLINE) {
    if (!carom_search_spline(s)) return;
    const carom_spline spline = {s->knots, s->knot_x, s->knot_y, s->second};
    *mean = carom_spline_value(&spline, *u, NULL);
    return;
  }
  if (!s->fresh || s->fitted == 0) carom_search_model(s);
  if (s->fitted == 0) return;
  double y, dy;
  carom_kriging_predict(s->kriging, u, &y, &dy);
  *mean = carom_search_from_surrogate(s, y);
  *deviation = (carom_search_from_surrogate(s, y + dy) - carom_search_from_surrogate(s, y - dy)) / 2;
}
