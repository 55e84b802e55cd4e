// From the entries of a two-stage problem to arrays: scaling, the data of a scenario and of the root, the elements of
// M.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/saa_work.h"

// ---- what an entry may be -------------------------------------------------------------------------------------------

typedef enum range { NONE, X, Y, FIRST, MEAN, ROW } range;  // what an index counts

// Parts as tables: what row and column count, whether scenarios hold it, whether it may be random, whether it is a
// side.
typedef struct part {
  const char *name;
  range row, column;
  bool scenario, fixed, low, high;
} part;

static const part parts[CAROM_SAA_PARTS] = {
    [CAROM_SAA_CONSTANT] = {.name = "constant"},
    [CAROM_SAA_X_COST] = {.name = "cost of x", .row = X},
    [CAROM_SAA_XX] = {.name = "quadratic cost of x", .row = X, .column = X},
    [CAROM_SAA_X_LOW] = {"lower bound of x", X, NONE, .fixed = true, .low = true},
    [CAROM_SAA_X_HIGH] = {"upper bound of x", X, NONE, .fixed = true, .high = true},
    [CAROM_SAA_FIRST_X] = {"first-stage row", FIRST, X, .fixed = true},
    [CAROM_SAA_FIRST_LOW] = {"lower side of a first-stage row", FIRST, NONE, .fixed = true, .low = true},
    [CAROM_SAA_FIRST_HIGH] = {"upper side of a first-stage row", FIRST, NONE, .fixed = true, .high = true},
    [CAROM_SAA_MEAN_X] = {.name = "expectation row", .row = MEAN, .column = X},
    [CAROM_SAA_MEAN_Y] = {"expectation row", MEAN, Y, .scenario = true},
    [CAROM_SAA_MEAN_LOW] = {"lower side of an expectation row", MEAN, NONE, .low = true},
    [CAROM_SAA_MEAN_HIGH] = {"upper side of an expectation row", MEAN, NONE, .high = true},
    [CAROM_SAA_Y_COST] = {"cost of y", Y, NONE, .scenario = true},
    [CAROM_SAA_YY] = {"quadratic cost of y", Y, Y, .scenario = true},
    [CAROM_SAA_YX] = {"quadratic cost of y and x", Y, X, .scenario = true},
    [CAROM_SAA_Y_LOW] = {"lower bound of y", Y, NONE, .scenario = true, .low = true},
    [CAROM_SAA_Y_HIGH] = {"upper bound of y", Y, NONE, .scenario = true, .high = true},
    [CAROM_SAA_ROW_X] = {"row of a scenario", ROW, X, .scenario = true},
    [CAROM_SAA_ROW_Y] = {"row of a scenario", ROW, Y, .scenario = true},
    [CAROM_SAA_ROW_LOW] = {"lower side of a row", ROW, NONE, .scenario = true, .low = true},
    [CAROM_SAA_ROW_HIGH] = {"upper side of a row", ROW, NONE, .scenario = true, .high = true},
};

static int range_size(const carom_saa_problem *p, range r) {
  const int sizes[] = {1, p->n, p->m, p->first_rows, p->mean_rows, p->rows};
  return sizes[r];
}

static bool is_side(const carom_saa_entry *e) { return parts[e->part].low || parts[e->part].high; }
static bool is_cost(carom_saa_part p) {
  return p == CAROM_SAA_CONSTANT || p == CAROM_SAA_X_COST || p == CAROM_SAA_XX || p == CAROM_SAA_Y_COST ||
         p == CAROM_SAA_YY || p == CAROM_SAA_YX;
}

static carom_status check_entry(const carom_saa_problem *p, int number, carom_error *error) {
  const carom_saa_entry *e = &p->entries[number];
  if ((int)e->part < 0 || e->part >= CAROM_SAA_PARTS)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "saa: entry %d has no such part (%d)", number, (int)e->part);
  const part *kind = &parts[e->part];
  if (e->row < 0 || e->row >= range_size(p, kind->row) || e->column < 0 || e->column >= range_size(p, kind->column))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "saa: entry %d (%s) is at (%d, %d), outside of the problem", number,
                      kind->name, e->row, e->column);
  if (e->random < -1 || e->random >= p->random_count || (e->random >= 0 && kind->fixed))
    return carom_fail(
        error, CAROM_ERR_ARGUMENT,
        kind->fixed ? "saa: entry %d (%s) cannot be random (number %d)" : "saa: entry %d (%s) has no random number %d",
        number, kind->name, e->random);
  bool open = (kind->low && e->value == -INFINITY) || (kind->high && e->value == INFINITY);
  if (!isfinite(e->value) && !open)
    return carom_fail(error, CAROM_ERR_NUMBER, "saa: entry %d (%s) is %g", number, kind->name, e->value);
  return CAROM_OK;
}

static carom_status check(const carom_saa_problem *p, carom_error *error) {
  if (p->n < 0 || p->m < 0 || p->first_rows < 0 || p->mean_rows < 0 || p->rows < 0 || p->random_count < 0 ||
      p->entry_count < 0 || p->n + p->m < 1)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "saa: sizes must not be negative, and there must be an unknown");
  if ((int64_t)p->n + p->first_rows + p->mean_rows > 20000)
    return carom_fail(error, CAROM_ERR_LIMIT,
                      "saa: %d unknowns and %d rows in the first stage and the expectations; 20000 are the most", p->n,
                      p->first_rows + p->mean_rows);
  if ((int64_t)p->m + p->rows > 1000000)
    return carom_fail(error, CAROM_ERR_LIMIT, "saa: %d unknowns and %d rows in a scenario; 1000000 are the most", p->m,
                      p->rows);
  for (int k = 0; k < p->entry_count; k++) {
    carom_status status = check_entry(p, k, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

// ---- scaling --------------------------------------------------------------------------------------------------------

static double *scale_of(carom_saa_layout *l, range r) {
  double *const scales[] = {NULL, l->x_scale, l->y_scale, l->first_scale, l->mean_scale, l->row_scale};
  return scales[r];
}

// Largest entries of every row and column of the whole matrix near 1, costs among them (Ruiz 2001).
static void equilibrate(carom_saa_layout *l, const carom_saa_problem *p, double *largest[6]) {
  for (int k = 0; k < p->entry_count; k++) {
    const carom_saa_entry *e = &p->entries[k];
    const part *kind = &parts[e->part];
    if (kind->column == NONE) continue;
    double *row = scale_of(l, kind->row), *column = scale_of(l, kind->column);
    double size = fabs(e->value) * row[e->row] * column[e->column];
    largest[kind->row][e->row] = fmax(largest[kind->row][e->row], size);
    largest[kind->column][e->column] = fmax(largest[kind->column][e->column], size);
  }
  for (range r = X; r <= ROW; r++)
    for (int i = 0; i < range_size(p, r); i++) {
      if (largest[r][i] > 0) scale_of(l, r)[i] /= sqrt(largest[r][i]);
      largest[r][i] = 0;
    }
}

// How large the sides are in the units so far: unknowns are measured in this, so that they are near 1.
static double typical_side(carom_saa_layout *l, const carom_saa_problem *p) {
  double largest = 0;
  for (int k = 0; k < p->entry_count; k++) {
    const carom_saa_entry *e = &p->entries[k];
    range r = parts[e->part].row;
    if (!is_side(e) || !isfinite(e->value)) continue;
    double size = r == X || r == Y ? fabs(e->value) / scale_of(l, r)[e->row] : fabs(e->value) * scale_of(l, r)[e->row];
    if (size < 1e9) largest = fmax(largest, size);  // larger ones stand for none
  }
  return largest > 0 ? fmax(largest, 1e-6) : 1;
}

static double entry_scale(carom_saa_layout *l, const carom_saa_entry *e) {
  const part *kind = &parts[e->part];
  double *row = scale_of(l, kind->row), *column = scale_of(l, kind->column);
  double scale = (row ? row[e->row] : 1) * (column ? column[e->column] : 1);
  if (is_side(e) && (kind->row == X || kind->row == Y)) scale = 1 / scale;
  return is_cost(e->part) ? scale * l->cost_scale : scale;
}

static void choose_scales(carom_saa_layout *l, const carom_saa_problem *p, double *largest[6]) {
  for (range r = X; r <= ROW; r++)
    for (int i = 0; i < range_size(p, r); i++) scale_of(l, r)[i] = 1;
  for (int sweep = 0; sweep < 8; sweep++) equilibrate(l, p, largest);
  double typical = typical_side(l, p), cost = 0;
  for (range r = X; r <= ROW; r++)
    for (int i = 0; i < range_size(p, r); i++) scale_of(l, r)[i] *= r == X || r == Y ? typical : 1 / typical;
  l->cost_scale = 1;
  for (int k = 0; k < p->entry_count; k++)
    if (is_cost(p->entries[k].part) && p->entries[k].part != CAROM_SAA_CONSTANT)
      cost = fmax(cost, fabs(p->entries[k].value) * entry_scale(l, &p->entries[k]));
  if (cost > 0) l->cost_scale = 1 / cost;
}

// ---- data -----------------------------------------------------------------------------------------------------------

static int box_of(const carom_saa_layout *l, const carom_saa_entry *e) {
  switch (parts[e->part].row) {
    case Y:
      return e->row;
    case ROW:
      return l->m + e->row;
    case X:
      return e->row;
    case FIRST:
      return l->n + e->row;
    default:
      return l->n + l->first_rows + e->row;
  }
}

static size_t root_place(const carom_saa_layout *l, const carom_saa_entry *e) {
  size_t n0 = (size_t)l->root_boxes, box = (size_t)box_of(l, e), column = (size_t)e->column;
  size_t low = (size_t)l->n, high = low + n0, constant = high + n0, matrix = constant + 1;
  if (e->part == CAROM_SAA_CONSTANT) return constant;
  if (e->part == CAROM_SAA_X_COST) return box;
  if (parts[e->part].low) return low + box;
  if (parts[e->part].high) return high + box;
  size_t i = box > column ? box : column, j = box > column ? column : box;
  return matrix + i + j * n0;  // the lower triangle
}

static void fill_root(carom_saa_layout *l, const carom_saa_problem *p) {
  for (size_t i = 0; i < (size_t)l->root_boxes; i++)
    l->root_base[(size_t)l->n + i] = -INFINITY, l->root_base[(size_t)l->n + (size_t)l->root_boxes + i] = INFINITY;
  for (int k = 0; k < p->entry_count; k++) {
    const carom_saa_entry *e = &p->entries[k];
    if (parts[e->part].scenario) continue;
    double scale = entry_scale(l, e), *at = &l->root_base[root_place(l, e)];
    if (e->random >= 0) {
      l->root_means[l->root_mean_count++] = (carom_saa_target){(int)root_place(l, e), e->random, scale, is_side(e)};
      if (is_side(e)) *at = 0;
    } else {
      *at = is_side(e) ? e->value * scale : *at + e->value * scale;
    }
  }
}

static int border_place(const carom_saa_layout *l, const carom_saa_entry *e) {
  return l->size + l->border_of[e->part == CAROM_SAA_MEAN_Y ? l->n + l->first_rows + e->row : e->column];
}

static carom_saa_element element_of(const carom_saa_layout *l, const carom_saa_entry *e, int source) {
  switch (e->part) {
    case CAROM_SAA_YY:
      return (carom_saa_element){e->row, e->column, source, true};
    case CAROM_SAA_YX:
      return (carom_saa_element){border_place(l, e), e->row, source, true};
    case CAROM_SAA_ROW_X:
      return (carom_saa_element){border_place(l, e), l->m + e->row, source, false};
    case CAROM_SAA_ROW_Y:
      return (carom_saa_element){l->m + e->row, e->column, source, false};
    default:
      return (carom_saa_element){border_place(l, e), e->column, source, false};  // MEAN_Y
  }
}

// Elements of one place become one.
static int find_element(const carom_saa_layout *l, const carom_saa_element *e, int *last) {
  for (int k = last[e->j]; k >= 0; k = l->elements[k].source)
    if (l->elements[k].i == e->i && l->elements[k].cost == e->cost) return k;
  return -1;
}

static int scenario_place(carom_saa_layout *l, const carom_saa_entry *e, int *last) {
  int sides = l->m, values = l->m + 2 * l->boxes;
  if (e->part == CAROM_SAA_Y_COST) return e->row;
  if (parts[e->part].low) return sides + box_of(l, e);
  if (parts[e->part].high) return sides + l->boxes + box_of(l, e);
  carom_saa_element element = element_of(l, e, 0);
  if (element.i < element.j) element = (carom_saa_element){element.j, element.i, 0, element.cost};
  int k = find_element(l, &element, last);
  if (k < 0) {
    k = l->element_count++;
    element.source = last[element.j];  // a chain by column, until all are there
    l->elements[k] = element;
    last[element.j] = k;
  }
  return values + k;
}

static void fill_scenario(carom_saa_layout *l, const carom_saa_problem *p, int *last) {
  int sides = l->m, values = l->m + 2 * l->boxes;
  for (int i = 0; i < l->size; i++) last[i] = -1;
  for (int i = 0; i < l->boxes; i++) l->base[sides + i] = -INFINITY, l->base[sides + l->boxes + i] = INFINITY;
  for (int k = 0; k < p->entry_count; k++) {
    const carom_saa_entry *e = &p->entries[k];
    if (!parts[e->part].scenario) continue;
    int at = scenario_place(l, e, last);
    double scale = entry_scale(l, e);
    if (e->random >= 0)
      l->targets[l->target_count++] = (carom_saa_target){at, e->random, scale, is_side(e)};
    else
      l->base[at] = is_side(e) ? e->value * scale : l->base[at] + e->value * scale;
  }
  for (int k = 0; k < l->element_count; k++) l->elements[k].source = values + k;
  l->data_size = values + l->element_count;
}

static void find_border(carom_saa_layout *l, const carom_saa_problem *p) {
  for (int i = 0; i < l->root_boxes; i++) l->border_of[i] = -1;
  for (int k = 0; k < p->entry_count; k++) {
    const carom_saa_entry *e = &p->entries[k];
    if (e->part == CAROM_SAA_YX || e->part == CAROM_SAA_ROW_X) l->border_of[e->column] = 0;
    if (e->part == CAROM_SAA_MEAN_Y) l->border_of[l->n + l->first_rows + e->row] = 0;
  }
  for (int i = 0; i < l->root_boxes; i++)
    if (l->border_of[i] == 0) l->border_of[i] = l->border, l->border_at[l->border++] = i;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static bool make_room(carom_saa_layout *l, const carom_saa_problem *p, const carom_allocator *a) {
  size_t n0 = (size_t)l->root_boxes, entries = (size_t)p->entry_count;
  l->root_size = (size_t)l->n + 2 * n0 + 1 + n0 * n0;
  return CAROM_NEW_ALL(a, CAROM_ROOM(l->border_at, n0), CAROM_ROOM(l->border_of, n0), CAROM_ROOM(l->x_scale, l->n),
                       CAROM_ROOM(l->y_scale, l->m), CAROM_ROOM(l->first_scale, l->first_rows),
                       CAROM_ROOM(l->mean_scale, l->mean_rows), CAROM_ROOM(l->row_scale, l->rows),
                       CAROM_ROOM(l->base, (size_t)l->m + 2 * (size_t)l->boxes + entries),
                       CAROM_ROOM(l->elements, entries), CAROM_ROOM(l->targets, entries),
                       CAROM_ROOM(l->root_base, l->root_size), CAROM_ROOM(l->root_means, entries));
}

static bool fill(carom_saa_layout *l, const carom_saa_problem *p, const carom_allocator *a) {
  double *largest[6] = {0};
  int *last = NULL;
  bool room = CAROM_NEW_ALL(a, CAROM_ROOM(last, l->size), CAROM_ROOM(largest[X], l->n), CAROM_ROOM(largest[Y], l->m),
                            CAROM_ROOM(largest[FIRST], l->first_rows), CAROM_ROOM(largest[MEAN], l->mean_rows),
                            CAROM_ROOM(largest[ROW], l->rows));
  if (room) {
    choose_scales(l, p, largest);
    find_border(l, p);
    fill_root(l, p);
    fill_scenario(l, p, last);
  }
  CAROM_RELEASE_ALL(a, last, largest[X], largest[Y], largest[FIRST], largest[MEAN], largest[ROW]);
  return room;
}

carom_status carom_saa_layout_create(carom_saa_layout *l, const carom_saa_problem *p, const carom_allocator *a,
                                     carom_error *error) {
  *l = (carom_saa_layout){0};
  carom_status status = check(p, error);
  if (status != CAROM_OK) return status;
  l->n = p->n, l->m = p->m, l->first_rows = p->first_rows, l->mean_rows = p->mean_rows, l->rows = p->rows;
  l->boxes = l->size = p->m + p->rows;
  l->root_boxes = p->n + p->first_rows + p->mean_rows;
  l->random_count = p->random_count;
  if (make_room(l, p, a) && fill(l, p, a) && carom_saa_analyse(l, a)) return CAROM_OK;
  carom_saa_layout_destroy(l, a);
  return carom_fail(error, CAROM_ERR_MEMORY, "saa: out of memory for a problem of %d + %d unknowns", p->n, p->m);
}

void carom_saa_layout_destroy(carom_saa_layout *l, const carom_allocator *a) {
  CAROM_RELEASE_ALL(a, l->border_at, l->border_of, l->x_scale, l->y_scale, l->first_scale, l->mean_scale, l->row_scale,
                    l->base, l->elements, l->targets, l->root_base, l->root_means);
  CAROM_RELEASE_ALL(a, l->place, l->row_start, l->row_column, l->row_from, l->reach_start, l->reach, l->reach_at,
                    l->column_start, l->column_row, l->sign);
  *l = (carom_saa_layout){0};
}
