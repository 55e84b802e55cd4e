// The core file: a linear or quadratic program in MPS.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "scene/smps_reader.h"

static const char *keep(carom_smps *s, const char *text) {
  return carom_pool_text(&s->file->tables->pool, text, strlen(text));
}

// ---- rows and columns -----------------------------------------------------------------------------------------------

static bool read_row(carom_smps *s) {
  carom_smps_lines *l = &s->lines;
  char type = l->words[0][0];
  if (l->count != 2) return carom_smps_wrong(s, -1, NULL, "a row is its type and its name, got %d words", l->count);
  if (type >= 'a') type = (char)(type - 'a' + 'A');
  if (l->words[0][1] || !strchr("NLGE", type))
    return carom_smps_wrong(s, 0, NULL, "the type of a row is N, L, G or E, got '%.40s'", l->words[0]);
  if (carom_names_find(&s->row_names, l->words[1]) >= 0)
    return carom_smps_wrong(s, 1, NULL, "there are two rows '%.80s'", l->words[1]);
  if (!carom_pool_grow(&s->pool, (void **)&s->rows, s->row_count, &s->row_capacity, sizeof *s->rows)) return false;
  carom_smps_row *row = &s->rows[s->row_count];
  *row = (carom_smps_row){.name = keep(s, l->words[1]), .type = type, .random = -1, .at = -1};
  if (type == 'N' && s->objective < 0) s->objective = s->row_count;
  return row->name && carom_names_add(&s->row_names, row->name, s->row_count++);
}

static int add_column(carom_smps *s, const char *name) {
  if (!carom_pool_grow(&s->pool, (void **)&s->columns, s->column_count, &s->column_capacity, sizeof *s->columns))
    return -1;
  carom_smps_column *column = &s->columns[s->column_count];
  *column = (carom_smps_column){.name = keep(s, name), .low = 0, .high = INFINITY};
  if (!column->name || !carom_names_add(&s->column_names, column->name, s->column_count)) return -1;
  return s->column_count++;
}

static bool add_element(carom_smps *s, int row, int column, double value) {
  if (!carom_pool_grow(&s->pool, (void **)&s->elements, s->element_count, &s->element_capacity, sizeof *s->elements))
    return false;
  s->elements[s->element_count++] = (carom_smps_element){row, column, value};
  return true;
}

static bool read_column(carom_smps *s) {
  carom_smps_lines *l = &s->lines;
  if (l->count >= 3 && carom_smps_is(s, 1, "'MARKER'"))
    return carom_smps_wrong(s, 1, NULL, "whole numbers are asked for, and carom saa has none");
  if (l->count != 3 && l->count != 5)
    return carom_smps_wrong(s, -1, NULL, "expected a column, and one or two rows with numbers, got %d words", l->count);
  int last = s->column_count - 1, column = carom_names_find(&s->column_names, l->words[0]);
  if (column >= 0 && column != last)
    return carom_smps_wrong(s, 0, NULL, "column '%.80s' comes again: its lines must stand together", l->words[0]);
  if (column < 0) column = add_column(s, l->words[0]);
  if (column < 0) return false;
  for (int k = 1; k < l->count; k += 2) {
    double value;
    int row = carom_smps_row_of(s, k);
    if (row < 0 || !carom_smps_number(s, k + 1, &value) || !add_element(s, row, column, value)) return false;
  }
  return true;
}

// ---- sides ----------------------------------------------------------------------------------------------------------

// Several sets may be in a file; the first one counts. Whether this line is of it; *from is where its pairs begin.
static bool is_of_set(carom_smps *s, const char **set, int *from) {
  carom_smps_lines *l = &s->lines;
  *from = l->count % 2;
  if (*from == 0) return true;  // without a name
  if (!*set) *set = carom_pool_text(&s->pool, l->words[0], strlen(l->words[0]));
  return !*set || strcmp(*set, l->words[0]) == 0;
}

static bool read_side(carom_smps *s) {
  int from;
  if (s->lines.count < 2) return carom_smps_wrong(s, -1, NULL, "expected rows with numbers");
  if (!is_of_set(s, &s->side_name, &from)) return true;
  for (int k = from; k < s->lines.count; k += 2) {
    double value;
    int row = carom_smps_row_of(s, k);
    if (row < 0 || !carom_smps_number(s, k + 1, &value)) return false;
    if (row == s->objective) s->constant = -value;
    s->rows[row].side = value;
  }
  return true;
}

static bool read_range(carom_smps *s) {
  int from;
  if (s->lines.count < 2) return carom_smps_wrong(s, -1, NULL, "expected rows with numbers");
  if (!is_of_set(s, &s->range_name, &from)) return true;
  for (int k = from; k < s->lines.count; k += 2) {
    int row = carom_smps_row_of(s, k);
    if (row < 0 || !carom_smps_number(s, k + 1, &s->rows[row].range)) return false;
    if (s->rows[row].type == 'N')
      return carom_smps_wrong(s, k, NULL, "row '%.80s' is of type N and has no sides", s->rows[row].name);
    s->rows[row].ranged = true;
  }
  return true;
}

// ---- bounds ---------------------------------------------------------------------------------------------------------

static bool set_bound(carom_smps *s, carom_smps_column *c, double value) {
  if (carom_smps_is(s, 0, "LO")) {
    c->low = value, c->low_given = true;
  } else if (carom_smps_is(s, 0, "UP")) {
    c->high = value;
    if (value < 0 && !c->low_given) c->low = -INFINITY;  // as most readers have it
  } else if (carom_smps_is(s, 0, "FX")) {
    c->low = c->high = value;
  } else if (carom_smps_is(s, 0, "FR")) {
    c->low = -INFINITY, c->high = INFINITY;
  } else if (carom_smps_is(s, 0, "MI")) {
    c->low = -INFINITY, c->low_given = true;
  } else if (carom_smps_is(s, 0, "PL")) {
    c->high = INFINITY;
  } else {
    bool whole = carom_smps_is(s, 0, "BV") || carom_smps_is(s, 0, "LI") || carom_smps_is(s, 0, "UI") ||
                 carom_smps_is(s, 0, "SC");
    return carom_smps_wrong(s, 0, NULL,
                            whole
                                ? "bounds of type %.8s are for whole or semi-continuous numbers, and carom saa has none"
                                : "a bound is one of LO, UP, FX, FR, MI, PL, got '%.8s'",
                            s->lines.words[0]);
  }
  return true;
}

static bool read_bound(carom_smps *s) {
  carom_smps_lines *l = &s->lines;
  bool valued = !carom_smps_is(s, 0, "FR") && !carom_smps_is(s, 0, "MI") && !carom_smps_is(s, 0, "PL") &&
                !carom_smps_is(s, 0, "BV");
  int least = valued ? 3 : 2, at = l->count > least ? 2 : 1;
  double value = 0;
  if (l->count < least || l->count > 4)
    return carom_smps_wrong(s, -1, NULL, "expected a type, a column%s, got %d words", valued ? " and a number" : "",
                            l->count);
  if (at == 2) {
    if (!s->bound_name) s->bound_name = carom_pool_text(&s->pool, l->words[1], strlen(l->words[1]));
    if (s->bound_name && strcmp(s->bound_name, l->words[1]) != 0) return true;
  }
  int column = carom_smps_column_of(s, at);
  if (column < 0 || (valued && !carom_smps_number(s, at + 1, &value))) return false;
  return set_bound(s, &s->columns[column], value);
}

// ---- quadratic terms ------------------------------------------------------------------------------------------------

static bool read_square(carom_smps *s, bool both) {
  double value;
  if (s->lines.count != 3)
    return carom_smps_wrong(s, -1, NULL, "expected two columns and a number, got %d words", s->lines.count);
  int i = carom_smps_column_of(s, 0), j = i >= 0 ? carom_smps_column_of(s, 1) : -1;
  if (j < 0 || !carom_smps_number(s, 2, &value)) return false;
  if (!carom_pool_grow(&s->pool, (void **)&s->squares, s->square_count, &s->square_capacity, sizeof *s->squares))
    return false;
  s->squares[s->square_count++] = (carom_smps_element){i, j, both && i != j ? 0.5 * value : value};
  return true;
}

// ---- sections -------------------------------------------------------------------------------------------------------

static const char *const sections[] = {"NAME",   "OBJSENSE", "ROWS",    "COLUMNS",  "RHS",    "RANGES",
                                       "BOUNDS", "QUADOBJ",  "QMATRIX", "QSECTION", "ENDATA", NULL};
enum { NAME, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, BOUNDS, QUADOBJ, QMATRIX, QSECTION, ENDATA };

static bool read_sense(carom_smps *s, int word) {
  bool most = carom_smps_is(s, word, "MAX") || carom_smps_is(s, word, "MAXIMIZE");
  if (!most && !carom_smps_is(s, word, "MIN") && !carom_smps_is(s, word, "MINIMIZE"))
    return carom_smps_wrong(s, word, NULL, "OBJSENSE is MIN or MAX, got '%.40s'", s->lines.words[word]);
  s->file->maximize = most;
  return true;
}

static bool read_line(carom_smps *s, int section) {
  switch (section) {
    case OBJSENSE:
      return read_sense(s, 0);
    case ROWS:
      return read_row(s);
    case COLUMNS:
      return read_column(s);
    case RHS:
      return read_side(s);
    case RANGES:
      return read_range(s);
    case BOUNDS:
      return read_bound(s);
    case QUADOBJ:
    case QSECTION:
      return read_square(s, false);
    case QMATRIX:
      return read_square(s, true);
    default:
      return carom_smps_wrong(s, -1, NULL, "a line of data outside of any section");
  }
}

static int find_section(carom_smps *s) {
  char hint[100];
  carom_nearest nearest = carom_nearest_begin(s->lines.words[0], strlen(s->lines.words[0]));
  for (int k = 0; sections[k]; k++) {
    if (carom_smps_is(s, 0, sections[k])) return k;
    carom_nearest_try(&nearest, sections[k]);
  }
  carom_nearest_hint(&nearest, hint, sizeof hint);
  carom_smps_wrong(s, 0, hint, "there is no section '%.40s' in a core file", s->lines.words[0]);
  return -1;
}

static bool give_title(carom_smps *s) {
  if (s->lines.count < 2) return true;
  carom_release(&s->file->allocator, s->file->title);
  s->file->title = carom_copy_text(&s->file->allocator, s->lines.words[1]);
  return s->file->title != NULL;
}

bool carom_smps_read_core(carom_smps *s) {
  int section = -1;
  s->objective = -1;
  while (section != ENDATA && carom_smps_next(s)) {
    if (!s->lines.section) {
      if (!read_line(s, section)) return false;
      continue;
    }
    section = find_section(s);
    if (section < 0 || (section == NAME && !give_title(s))) return false;
    if (section == OBJSENSE && s->lines.count > 1 && !read_sense(s, 1)) return false;
  }
  if (section != ENDATA) return carom_smps_wrong(s, -1, NULL, "the file ends before ENDATA");
  if (s->objective < 0) return carom_smps_wrong(s, -1, NULL, "there is no row of type N, the cost");
  if (s->column_count == 0) return carom_smps_wrong(s, -1, NULL, "there are no columns");
  return true;
}
