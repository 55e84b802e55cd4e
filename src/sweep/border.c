// Borders of success by bisection: first a scan of every line, then the middle of every bracket whose ends differ. A
// case is never asked for twice, and its number follows from the outcomes before it, so that a search can be resumed.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "sweep/program.h"

enum { SCAN = 9 };  // points along an axis that has no count of its own

struct carom_border {
  const carom_sweep *sweep;
  int axis, scan, round, rounds;
  int64_t lines, first;
  carom_cases *cases;
  carom_border_crossing *crossings;
  int count, capacity;
  carom_allocator allocator;
};

static int points_of(const carom_sweep *sweep, int axis) {
  return sweep->axes[axis].count > 0 ? sweep->axes[axis].count : 1;
}

static int64_t count_lines(const carom_sweep *sweep, int axis) {
  int64_t lines = 1;
  for (int i = 0; i < sweep->sampling.axis_count; i++) {
    if (i == axis) continue;
    if (lines > 10000000 / points_of(sweep, i)) return -1;
    lines *= points_of(sweep, i);
  }
  return lines;
}

carom_status carom_border_create(const carom_sweep *sweep, int axis, double tolerance, const carom_allocator *allocator,
                                 carom_border **border, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  const carom_axis *along = &sweep->axes[axis];
  int64_t lines = count_lines(sweep, axis);
  *border = NULL;
  if (along->values)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the axis '%s' is given by values: a border needs 'from' and 'to'",
                      along->name);
  if (!(tolerance > 0 && tolerance < 1))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the tolerance must be between 0 and 1, got %g", tolerance);
  if (lines < 0) return carom_fail(error, CAROM_ERR_ARGUMENT, "the other axes have more than 1e7 combinations");
  carom_border *b = *border = CAROM_NEW(&a, carom_border, 1);
  if (!b) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a border");
  *b = (carom_border){.sweep = sweep, .axis = axis, .lines = lines, .allocator = a};
  b->scan = along->count > 1 ? along->count : SCAN;
  double halvings = ceil(log2(1 / (tolerance * (b->scan - 1))));
  b->rounds = halvings > 0 ? (int)halvings : 0;
  return CAROM_OK;
}

void carom_border_destroy(carom_border *border) {
  if (!border) return;
  carom_allocator a = border->allocator;
  carom_cases_destroy(border->cases);
  CAROM_RELEASE_ALL(&a, border->crossings, border);
}

// ---- rounds ---------------------------------------------------------------------------------------------------------

// The points of the other axes on a line, as a grid has them; the middle of an axis without a count.
static void line_inputs(const carom_border *b, int64_t line, double *inputs) {
  for (int i = b->sweep->sampling.axis_count - 1; i >= 0; i--) {
    if (i == b->axis) continue;
    const carom_axis *a = &b->sweep->axes[i];
    int n = points_of(b->sweep, i), k = (int)(line % n);
    line /= n;
    const carom_sampling grid = {.design = CAROM_DESIGN_GRID, .axes = a, .axis_count = 1, .count = n};
    if (a->count > 0)
      carom_sampling_inputs(&grid, k, &inputs[i]);
    else
      inputs[i] = carom_axis_value(a, 0.5);
  }
}

static double *values_of(const carom_border *b, int64_t number) {
  return b->cases->values + (size_t)number * (size_t)b->cases->column_count;
}

// Makes room for `more` cases after those that are there.
static bool extend(carom_border *b, int64_t more) {
  int64_t before = b->cases ? b->cases->count : 0;
  if (!b->cases && carom_cases_create(b->sweep, 0, &b->allocator, &b->cases, NULL) != CAROM_OK) return false;
  if (!carom_cases_extend(&b->cases, b->sweep, more)) return false;
  b->first = before;
  return true;
}

static int64_t begin_scan(carom_border *b) {
  if (!extend(b, b->lines * b->scan)) return -1;
  for (int64_t line = 0; line < b->lines; line++)
    for (int i = 0; i < b->scan; i++) {
      double *inputs = values_of(b, line * b->scan + i);
      line_inputs(b, line, inputs);
      inputs[b->axis] = carom_axis_value(&b->sweep->axes[b->axis], i / (b->scan - 1.0));
    }
  return b->cases->count;
}

static bool succeeds(const carom_border *b, int64_t number) { return b->cases->classes[number] == b->sweep->success; }

static void set_ends(carom_border *b, carom_border_crossing *x, int64_t below, int64_t above) {
  x->below = below, x->above = above;
  x->low = values_of(b, below)[b->axis], x->high = values_of(b, above)[b->axis];
  x->enters = succeeds(b, above);
}

static bool find_brackets(carom_border *b) {
  for (int64_t line = 0; line < b->lines; line++)
    for (int64_t i = line * b->scan; i + 1 < (line + 1) * b->scan; i++) {
      if (succeeds(b, i) == succeeds(b, i + 1)) continue;
      if (!carom_grow(&b->allocator, (void **)&b->crossings, b->count, &b->capacity, sizeof *b->crossings))
        return false;
      carom_border_crossing *x = &b->crossings[b->count++];
      x->line = line;
      set_ends(b, x, i, i + 1);
    }
  return true;
}

// Case k of the last round lies in the middle of crossing k.
static void halve(carom_border *b) {
  for (int k = 0; k < b->count; k++) {
    carom_border_crossing *x = &b->crossings[k];
    int64_t middle = b->first + k;
    bool lower = succeeds(b, middle) == succeeds(b, x->below);
    set_ends(b, x, lower ? middle : x->below, lower ? x->above : middle);
  }
}

static int64_t ask_for_middles(carom_border *b) {
  bool logarithmic = b->sweep->axes[b->axis].logarithmic;
  if (!extend(b, b->count)) return -1;
  for (int k = 0; k < b->count; k++) {
    const carom_border_crossing *x = &b->crossings[k];
    double *inputs = values_of(b, b->first + k);
    line_inputs(b, x->line, inputs);
    inputs[b->axis] = logarithmic ? sqrt(x->low * x->high) : 0.5 * (x->low + x->high);
  }
  return b->count;
}

int64_t carom_border_next(carom_border *b) {
  int round = b->round++;
  if (round == 0) return begin_scan(b);
  if (round == 1 && !find_brackets(b)) return -1;
  if (round > 1) halve(b);
  return round > b->rounds || b->count == 0 ? 0 : ask_for_middles(b);
}

int64_t carom_border_first(const carom_border *border) { return border->first; }
carom_cases *carom_border_cases(const carom_border *border) { return border->cases; }
int carom_border_count(const carom_border *border) { return border->count; }

const carom_border_crossing *carom_border_at(const carom_border *border, int index) {
  return index >= 0 && index < border->count ? &border->crossings[index] : NULL;
}
