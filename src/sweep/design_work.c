// Rounds of designs: what came of a round is told to the search in the order of the cases, whoever ran them; then it is
// asked for the next. A case is never asked for twice, and all follows from the outcomes before, so that a design can
// be resumed.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "carom/design.h"
#include "sweep/program.h"

struct carom_design_work {
  const carom_design_problem *problem;
  carom_search *search;
  carom_cases *cases;
  int64_t first;
  int64_t *warm;  // (budget) from which case each begins
  bool *again;    // (budget) planned once more
  bool *known;    // (budget) was planned again already, or is not to be
  int64_t best;
  double *points;  // (batch x variables)
  carom_allocator allocator;
};

carom_status carom_design_work_create(const carom_design_problem *problem, const carom_allocator *allocator,
                                      carom_design_work **work, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_design_work *w = CAROM_NEW(&a, carom_design_work, 1);
  size_t budget = (size_t)problem->search.budget;
  *work = NULL;
  if (!w) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a design");
  w->problem = problem, w->allocator = a, w->best = -1;
  carom_status status = carom_search_create(&problem->search, &a, &w->search, error);
  if (status == CAROM_OK &&
      !CAROM_NEW_ALL(&a, CAROM_ROOM(w->warm, budget), CAROM_ROOM(w->again, budget), CAROM_ROOM(w->known, budget),
                     CAROM_ROOM(w->points, problem->batch * problem->search.variable_count)))
    status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a design");
  if (status == CAROM_OK) status = carom_cases_create(problem->sweep, 0, &a, &w->cases, error);
  if (status == CAROM_OK)
    *work = w;
  else
    carom_design_work_destroy(w);
  return status;
}

void carom_design_work_destroy(carom_design_work *w) {
  if (!w) return;
  carom_allocator a = w->allocator;
  carom_search_destroy(w->search);
  carom_cases_destroy(w->cases);
  CAROM_RELEASE_ALL(&a, w->warm, w->again, w->known, w->points, w);
}

// ---- cases ----------------------------------------------------------------------------------------------------------

static double *values_of(const carom_design_work *w, int64_t number) {
  return w->cases->values + (size_t)number * (size_t)w->cases->column_count;
}

double carom_design_value(const carom_design_work *w, int64_t number) {
  bool good = w->cases->classes[number] == w->problem->sweep->success;
  double value = values_of(w, number)[w->problem->objective];
  return good && isfinite(value) ? value : NAN;
}

// As the search sees it: less is better.
static double merit(const carom_design_work *w, int64_t number) {
  double value = carom_design_value(w, number);
  return w->problem->maximize ? -value : value;
}

static double distance(const carom_design_work *w, int64_t a, int64_t b) {
  return carom_cases_distance(w->cases, w->problem->sweep, a, b);
}

// The nearest case of the rounds before that has an answer; of several of one design the best.
static int64_t find_warm(const carom_design_work *w, int64_t number) {
  if (w->problem->sweep->warm == CAROM_WARM_NONE) return -1;
  int64_t found = carom_cases_neighbour(w->cases, w->problem->sweep, number, w->first), best = found;
  for (int64_t i = 0; found >= 0 && i < w->first; i++)
    if (distance(w, i, found) == 0 && merit(w, i) < merit(w, best)) best = i;
  return best;
}

// ---- rounds ---------------------------------------------------------------------------------------------------------

// Tells the search of the round; true where it has a new best.
static bool take_in(carom_design_work *w) {
  int64_t before = w->best;
  for (int64_t i = w->first; i < w->cases->count; i++) {
    double value = merit(w, i);
    carom_search_tell(w->search, values_of(w, i), value, NULL);
    if (!isnan(value) && (w->best < 0 || value < merit(w, w->best))) w->best = i;
  }
  return before >= 0 && w->best != before;
}

static bool extend(carom_design_work *w, int64_t more) {
  int64_t before = w->cases->count;
  if (!carom_cases_extend(&w->cases, w->problem->sweep, more)) return false;
  w->first = before;
  return true;
}

// The design nearest to the best that may be planned again from it; -1: none.
static int64_t next_revisit(const carom_design_work *w, int64_t end) {
  int64_t found = -1;
  for (int64_t i = 0; i < end; i++) {
    bool same = distance(w, i, w->best) == 0;
    if (!w->known[i] && !same && (found < 0 || distance(w, i, w->best) < distance(w, found, w->best))) found = i;
  }
  return found;
}

static int64_t room_left(const carom_design_work *w) { return w->problem->search.budget - w->cases->count; }

// Designs around a new best once more, from its answer: they may have been caught in a worse local minimum.
static int64_t ask_again(carom_design_work *w) {
  int64_t from[100], count = 0, end = w->cases->count;
  memset(w->known, 0, (size_t)w->problem->search.budget * sizeof *w->known);
  for (int64_t i = 0; i < end; i++) w->known[i] = w->again[i];
  while (count < w->problem->revisits && count < room_left(w)) {
    int64_t i = next_revisit(w, end);
    if (i < 0) break;
    w->known[i] = true;
    from[count++] = i;
  }
  if (count == 0 || !extend(w, count)) return count == 0 ? 0 : -1;
  for (int64_t k = 0; k < count; k++) {
    int64_t number = w->first + k;
    memcpy(values_of(w, number), values_of(w, from[k]),
           (size_t)w->problem->search.variable_count * sizeof *w->cases->values);
    w->warm[number] = w->best;
    w->again[number] = true;
  }
  return count;
}

static int64_t ask(carom_design_work *w) {
  int d = w->problem->search.variable_count, batch = w->problem->batch;
  if (room_left(w) < batch) batch = (int)room_left(w);
  int count = carom_search_ask(w->search, batch, w->points);
  if (count <= 0 || !extend(w, count)) return count <= 0 ? 0 : -1;
  for (int k = 0; k < count; k++) {
    int64_t number = w->first + k;
    memcpy(values_of(w, number), w->points + k * d, (size_t)d * sizeof *w->points);
    w->warm[number] = find_warm(w, number);
  }
  return count;
}

int64_t carom_design_next(carom_design_work *w) {
  bool was_again = w->first < w->cases->count && w->again[w->first];
  bool better = take_in(w);
  w->first = w->cases->count;
  int64_t count = better && !was_again && w->problem->revisits > 0 ? ask_again(w) : 0;
  return count != 0 ? count : ask(w);
}

// ---- what is known --------------------------------------------------------------------------------------------------

int64_t carom_design_first(const carom_design_work *w) { return w->first; }
carom_cases *carom_design_cases(const carom_design_work *w) { return w->cases; }
int64_t carom_design_warm_case(const carom_design_work *w, int64_t number) { return w->warm[number]; }
bool carom_design_is_revisit(const carom_design_work *w, int64_t number) { return w->again[number]; }
int64_t carom_design_best(const carom_design_work *w) { return w->best; }
carom_search *carom_design_search(const carom_design_work *w) { return w->search; }
