// The time file: where the second stage begins. The stoch file: what is random.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scene/smps_reader.h"

// ---- time -----------------------------------------------------------------------------------------------------------

static const char two_stages[] = "carom saa solves problems of two stages";

static bool read_period(carom_smps *s, int number) {
  carom_smps_lines *l = &s->lines;
  bool blank = l->count == 4 && !*l->words[2];  // the name stands in the fifth field
  if (l->count != 3 && !blank)
    return carom_smps_wrong(s, -1, NULL, "a period is a column, a row and a name, got %d words", l->count);
  const char *name = l->words[l->count - 1];
  if (number >= 2)
    return carom_smps_wrong(s, -1, two_stages, "a third period, '%.60s': the problem has more than two stages", name);
  int column = carom_smps_column_of(s, 0), row = column >= 0 ? carom_smps_row_of(s, 1) : -1;
  if (row < 0) return false;
  s->periods[number] = carom_pool_text(&s->pool, name, strlen(name));
  if (number == 1) s->second_column = column, s->second_row = row;
  if (number == 0 && column != 0)
    return carom_smps_wrong(s, 0, NULL, "the first period must begin with the first column, '%.80s'",
                            s->columns[0].name);
  return s->periods[number] != NULL;
}

bool carom_smps_read_time(carom_smps *s) {
  int periods = 0;
  bool within = false, ended = false;
  while (!ended && carom_smps_next(s)) {
    if (!s->lines.section) {
      if (!within) return carom_smps_wrong(s, -1, NULL, "a line of data outside of PERIODS");
      if (!read_period(s, periods++)) return false;
      continue;
    }
    ended = carom_smps_is(s, 0, "ENDATA");
    within = carom_smps_is(s, 0, "PERIODS");
    if (within && carom_smps_is(s, 1, "EXPLICIT"))
      return carom_smps_wrong(s, 1, "order rows and columns by period, and write PERIODS IMPLICIT",
                              "explicit periods are not read");
    if (!ended && !within && !carom_smps_is(s, 0, "TIME"))
      return carom_smps_wrong(s, 0, NULL, "there is no section '%.40s' in a time file", s->lines.words[0]);
  }
  if (!ended) return carom_smps_wrong(s, -1, NULL, "the file ends before ENDATA");
  if (periods < 2)
    return carom_smps_wrong(s, -1, two_stages, "%d period%s: there is no second stage", periods,
                            periods == 1 ? "" : "s");
  return true;
}

// ---- locations ------------------------------------------------------------------------------------------------------

static double core_value(const carom_smps *s, int row, int column) {
  double value = 0;
  if (column < 0) return s->rows[row].side;
  for (int k = 0; k < s->element_count; k++)
    if (s->elements[k].row == row && s->elements[k].column == column) value += s->elements[k].value;
  return value;
}

static bool check_location(carom_smps *s, int row, int column) {
  bool first_row = row < s->second_row && row != s->objective;
  if (s->rows[row].type == 'N' && (row != s->objective || column < 0))
    return carom_smps_wrong(s, 1, NULL, "row '%.80s' is of type N: it has no side to be random", s->rows[row].name);
  if (first_row)
    return carom_smps_wrong(s, 1, NULL, "row '%.80s' belongs to the first stage and cannot be random",
                            s->rows[row].name);
  return true;
}

static int new_location(carom_smps *s, int row, int column) {
  char name[160];
  if (!check_location(s, row, column)) return -1;
  if (s->file->tables->variable_count >= CAROM_SAA_MOST_VARIABLES)
    return carom_smps_wrong(s, -1, NULL, "more than %d random numbers", CAROM_SAA_MOST_VARIABLES), -1;
  if (!carom_pool_grow(&s->pool, (void **)&s->locations, s->location_count, &s->location_capacity,
                       sizeof *s->locations))
    return -1;
  int length =
      snprintf(name, sizeof name, "%.60s of %.60s", column < 0 ? "side" : s->columns[column].name, s->rows[row].name);
  const char *kept = carom_pool_text(&s->file->tables->pool, name, (size_t)length);
  int variable = kept ? carom_saa_add_variable(s->file, kept) : -1;
  if (variable < 0) return -1;
  s->locations[s->location_count] =
      (carom_smps_location){row, column, variable, s->rows[row].random, core_value(s, row, column)};
  s->rows[row].random = s->location_count;
  return s->location_count++;
}

// The location that words `at` (column or the name of the sides) and `at` + 1 (row) tell; -1 after a report. *fresh
// tells whether it is new.
static int find_location(carom_smps *s, int at, bool *fresh) {
  bool side = carom_smps_is(s, at, "RHS") || (s->side_name && carom_smps_is(s, at, s->side_name));
  int column = side && carom_names_find(&s->column_names, s->lines.words[at]) < 0 ? -1 : carom_smps_column_of(s, at);
  if (column < 0 && !side) return -1;
  int row = carom_smps_row_of(s, at + 1);
  if (row < 0) return -1;
  *fresh = false;
  for (int k = s->rows[row].random; k >= 0; k = s->locations[k].next)
    if (s->locations[k].column == column) return k;
  *fresh = true;
  return new_location(s, row, column);
}

// ---- what is read of a section --------------------------------------------------------------------------------------

typedef enum change { REPLACE, ADD, MULTIPLY } change;
typedef enum section { NOTHING, INDEP, BLOCKS, SCENARIOS } section;

// A value of a realisation, or of one of an independent number.
typedef struct value {
  int realisation, location;
  double number;
} value;

typedef struct realisation {
  const char *name, *block;
  double probability;
  int parent;  // of scenarios; -1: the core
} realisation;

typedef struct stoch {
  carom_smps *s;
  section section;
  carom_saa_kind kind;
  change change;
  value *values;  // of the group at hand
  realisation *realisations;
  int value_count, value_capacity, realisation_count, realisation_capacity, first_location;
  const char *block;  // at hand
} stoch;

static double changed(const stoch *t, int location, double number) {
  double core = t->s->locations[location].core;
  return t->change == ADD ? core + number : t->change == MULTIPLY ? core * number : number;
}

static bool add_value(stoch *t, int of, int location, double number) {
  if (!carom_pool_grow(&t->s->pool, (void **)&t->values, t->value_count, &t->value_capacity, sizeof *t->values))
    return false;
  t->values[t->value_count++] = (value){of, location, changed(t, location, number)};
  return true;
}

static bool add_realisation(stoch *t, const char *name, double probability, int parent) {
  carom_smps *s = t->s;
  if (!(probability > 0) || probability > 1 + 1e-9)
    return carom_smps_wrong(s, -1, NULL, "a probability must be greater than 0 and at most 1, got %g", probability);
  const char *kept = carom_pool_text(&s->file->tables->pool, name, strlen(name));
  if (!kept || !carom_pool_grow(&s->pool, (void **)&t->realisations, t->realisation_count, &t->realisation_capacity,
                                sizeof *t->realisations))
    return false;
  t->realisations[t->realisation_count++] = (realisation){kept, t->block, probability, parent};
  return true;
}

// What a realisation begins from: the core, its parent scenario, or the first realisation of its block.
static void begin_row(const stoch *t, int width, double *values, int number) {
  double *row = values + (size_t)number * (size_t)width;
  int parent = t->section == SCENARIOS ? t->realisations[number].parent : number > 0 ? 0 : -1;
  for (int k = 0; k < width; k++)
    row[k] =
        parent >= 0 ? values[(size_t)parent * (size_t)width + (size_t)k] : t->s->locations[t->first_location + k].core;
}

static bool fill_probability(stoch *t, double *probability) {
  double sum = 0;
  for (int k = 0; k < t->realisation_count; k++) sum += t->realisations[k].probability;
  if (fabs(sum - 1) > 1e-3)
    return carom_smps_wrong(t->s, -1, NULL, "probabilities of '%.60s' add up to %g, not 1",
                            t->block                  ? t->block
                            : t->section == SCENARIOS ? "the scenarios"
                                                      : t->realisations[0].name,
                            sum);
  for (int k = 0; k < t->realisation_count; k++) probability[k] = t->realisations[k].probability / sum;
  return true;
}

// Values, realisations and locations since the last group become one.
static bool close_group(stoch *t) {
  carom_smps *s = t->s;
  carom_pool *pool = &s->file->tables->pool;
  int width = s->location_count - t->first_location, count = t->realisation_count;
  if (count == 0) return true;
  if (width == 0) return carom_smps_wrong(s, -1, NULL, "'%.60s' changes nothing", t->realisations[0].name);
  if ((double)width * count > 5e7)
    return carom_smps_wrong(s, -1, NULL, "%d realisations of %d numbers are too many", count, width);
  double *values = CAROM_POOL_ARRAY(pool, double, (size_t)width *(size_t)count),
         *probability = CAROM_POOL_ARRAY(pool, double, count);
  const char **names = t->section == SCENARIOS ? CAROM_POOL_ARRAY(pool, const char *, count) : NULL;
  if (!values || !probability || (t->section == SCENARIOS && !names)) return false;
  for (int i = 0, k = 0; i < count; i++) {
    begin_row(t, width, values, i);
    for (; k < t->value_count && t->values[k].realisation == i; k++)
      values[(size_t)i * (size_t)width + (size_t)(t->values[k].location - t->first_location)] = t->values[k].number;
    if (names) names[i] = t->realisations[i].name;
  }
  carom_saa_group g = {.kind = CAROM_SAA_DISCRETE,
                       .first = s->locations[t->first_location].variable,
                       .width = width,
                       .count = count,
                       .values = values,
                       .probability = probability,
                       .names = names};
  if (!fill_probability(t, probability) || !carom_saa_add_group(s->file, g)) return false;
  t->value_count = t->realisation_count = 0;
  t->first_location = s->location_count;
  t->block = NULL;
  return true;
}

// ---- independent numbers --------------------------------------------------------------------------------------------

static bool add_continuous(stoch *t, int location, double first, double second) {
  carom_saa_group g = {.kind = t->kind, .first = t->s->locations[location].variable, .width = 1};
  g.a = changed(t, location, first);
  g.b = t->kind == CAROM_SAA_UNIFORM ? changed(t, location, second) : sqrt(second);
  if (t->kind == CAROM_SAA_NORMAL && !(second >= 0))
    return carom_smps_wrong(t->s, -1, NULL, "a variance must be 0 or more, got %g", second);
  if (t->kind == CAROM_SAA_NORMAL && t->change == MULTIPLY) g.b *= fabs(t->s->locations[location].core);
  if (t->kind == CAROM_SAA_UNIFORM && g.a > g.b) {
    double swap = g.a;
    g.a = g.b, g.b = swap;
  }
  t->first_location = t->s->location_count;
  return carom_saa_add_group(t->s->file, g) != NULL;
}

// "column row number [period] number"
static bool read_indep(stoch *t) {
  carom_smps *s = t->s;
  int count = s->lines.count, last = count - 1;
  bool fresh;
  double first, second;
  if (count != 4 && count != 5)
    return carom_smps_wrong(s, -1, NULL, "expected a column, a row, a number, a period and a number, got %d words",
                            count);
  int before = s->location_count, open = before > t->first_location ? t->first_location : -1;
  int location = find_location(s, 0, &fresh);
  if (location < 0 || !carom_smps_number(s, 2, &first) || !carom_smps_number(s, last, &second)) return false;
  if (!fresh && (t->kind != CAROM_SAA_DISCRETE || location != open))
    return carom_smps_wrong(s, 0, "lines of one number must stand together", "'%.80s' in row '%.80s' was given already",
                            s->lines.words[0], s->lines.words[1]);
  if (t->kind != CAROM_SAA_DISCRETE) return add_continuous(t, location, first, second);
  if (fresh && open >= 0) {  // the group before ends with the location before
    s->location_count = before;
    bool closed = close_group(t);
    s->location_count = before + 1;
    if (!closed) return false;
  }
  return add_realisation(t, s->file->tables->variables[s->locations[location].variable], second, -1) &&
         add_value(t, t->realisation_count - 1, location, first);
}

// ---- blocks and scenarios -------------------------------------------------------------------------------------------

// "BL name period probability"
static bool open_block(stoch *t) {
  carom_smps *s = t->s;
  double probability;
  if (s->lines.count != 4)
    return carom_smps_wrong(s, -1, NULL, "expected BL, a name, a period and a probability, got %d words",
                            s->lines.count);
  if (!carom_smps_number(s, 3, &probability)) return false;
  if (t->block && strcmp(t->block, s->lines.words[1]) != 0 && !close_group(t)) return false;
  if (!t->block) t->block = carom_pool_text(&s->pool, s->lines.words[1], strlen(s->lines.words[1]));
  return t->block && add_realisation(t, t->block, probability, -1);
}

static int find_scenario(const stoch *t, const char *name) {
  for (int k = 0; k < t->realisation_count; k++)
    if (strcmp(t->realisations[k].name, name) == 0) return k;
  return -1;
}

// "SC name parent probability period"
static bool open_scenario(stoch *t) {
  carom_smps *s = t->s;
  double probability;
  if (s->lines.count != 4 && s->lines.count != 5)
    return carom_smps_wrong(s, -1, NULL, "expected SC, a name, a parent, a probability and a period, got %d words",
                            s->lines.count);
  bool root = carom_smps_is(s, 2, "ROOT") || carom_smps_is(s, 2, "'ROOT'");
  int parent = root ? -1 : find_scenario(t, s->lines.words[2]);
  if (!root && parent < 0)
    return carom_smps_wrong(s, 2, NULL, "there is no scenario '%.60s' before this one", s->lines.words[2]);
  if (find_scenario(t, s->lines.words[1]) >= 0)
    return carom_smps_wrong(s, 1, NULL, "there are two scenarios '%.60s'", s->lines.words[1]);
  return carom_smps_number(s, 3, &probability) && add_realisation(t, s->lines.words[1], probability, parent);
}

// "column row number [row number]"
static bool read_change(stoch *t) {
  carom_smps *s = t->s;
  double number;
  bool fresh;
  if (t->realisation_count == 0) return carom_smps_wrong(s, -1, NULL, "a number before the first BL or SC");
  if (s->lines.count != 3 && s->lines.count != 5)
    return carom_smps_wrong(s, -1, NULL, "expected a column, and one or two rows with numbers, got %d words",
                            s->lines.count);
  for (int k = 1; k < s->lines.count; k += 2) {
    if (k == 3) s->lines.words[2] = s->lines.words[0], s->lines.columns[2] = s->lines.columns[0];
    int location = find_location(s, k - 1, &fresh);
    if (location < 0) return false;
    if (!fresh && location < t->first_location)
      return carom_smps_wrong(s, k, NULL, "this number of row '%.80s' is in another block already", s->lines.words[k]);
    if (!carom_smps_number(s, k + 1, &number) || !add_value(t, t->realisation_count - 1, location, number))
      return false;
  }
  return true;
}

// ---- the file -------------------------------------------------------------------------------------------------------

static bool read_header(stoch *t) {
  carom_smps *s = t->s;
  t->section = carom_smps_is(s, 0, "INDEP")                                      ? INDEP
               : carom_smps_is(s, 0, "BLOCKS")                                   ? BLOCKS
               : carom_smps_is(s, 0, "SCENARIOS") || carom_smps_is(s, 0, "SCEN") ? SCENARIOS
                                                                                 : NOTHING;
  if (t->section == NOTHING)
    return carom_smps_is(s, 0, "STOCH") ||
           carom_smps_wrong(s, 0, "INDEP, BLOCKS and SCENARIOS are read", "there is no section '%.40s' in a stoch file",
                            s->lines.words[0]);
  t->kind = CAROM_SAA_DISCRETE, t->change = REPLACE;
  for (int k = 1; k < s->lines.count; k++) {
    if (carom_smps_is(s, k, "UNIFORM"))
      t->kind = CAROM_SAA_UNIFORM;
    else if (carom_smps_is(s, k, "NORMAL"))
      t->kind = CAROM_SAA_NORMAL;
    else if (carom_smps_is(s, k, "ADD"))
      t->change = ADD;
    else if (carom_smps_is(s, k, "MULTIPLY"))
      t->change = MULTIPLY;
    else if (!carom_smps_is(s, k, "DISCRETE") && !carom_smps_is(s, k, "REPLACE"))
      return carom_smps_wrong(s, k, "DISCRETE, UNIFORM and NORMAL are read, with REPLACE, ADD or MULTIPLY",
                              "'%.40s' is not read here", s->lines.words[k]);
  }
  if (t->section != INDEP && t->kind != CAROM_SAA_DISCRETE)
    return carom_smps_wrong(s, 0, NULL, "only DISCRETE is read of %s", t->section == BLOCKS ? "BLOCKS" : "SCENARIOS");
  return true;
}

static bool read_data(stoch *t) {
  if (t->section == INDEP) return read_indep(t);
  if (t->section == BLOCKS && carom_smps_is(t->s, 0, "BL")) return open_block(t);
  if (t->section == SCENARIOS && carom_smps_is(t->s, 0, "SC")) return open_scenario(t);
  return t->section == NOTHING ? carom_smps_wrong(t->s, -1, NULL, "a line of data outside of any section")
                               : read_change(t);
}

bool carom_smps_read_stoch(carom_smps *s) {
  stoch t = {.s = s};
  bool ended = false;
  while (!ended && carom_smps_next(s)) {
    if (!s->lines.section) {
      if (!read_data(&t)) return false;
      continue;
    }
    if (!close_group(&t)) return false;
    ended = carom_smps_is(s, 0, "ENDATA");
    if (!ended && !read_header(&t)) return false;
  }
  return ended || carom_smps_wrong(s, -1, NULL, "the file ends before ENDATA");
}
