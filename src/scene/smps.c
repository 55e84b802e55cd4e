#include "scene/smps.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/read_file.h"
#include "scene/smps_reader.h"

static const int64_t MOST_BYTES = (int64_t)256 << 20;

// ---- files ----------------------------------------------------------------------------------------------------------

// "problem.cor" to "problem.tim".
static const char *beside(carom_smps *s, const char *core, const char *ending) {
  const char *dot = strrchr(core, '.');
  size_t length = dot ? (size_t)(dot - core) : strlen(core);
  char *path = carom_pool_get(&s->pool, length + strlen(ending) + 1);
  if (path) memcpy(path, core, length), strcpy(path + length, ending);
  return path;
}

static bool open_file(carom_smps *s, const char *path, bool fixed) {
  carom_error why;
  size_t size;
  s->lines = (carom_smps_lines){.path = path, .fixed = fixed};
  if (!path) return false;
  char *text = carom_read_file(path, MOST_BYTES, &s->file->allocator, &size, &why);
  if (!text && why.status == CAROM_ERR_MEMORY) return s->reporter.out_of_memory = true, false;
  if (!text) return carom_smps_wrong(s, -1, NULL, "cannot read the file: %s", why.message);
  s->lines.rest = carom_pool_text(&s->pool, text, size);
  carom_release(&s->file->allocator, text);
  return s->lines.rest && carom_saa_note_file(s->file, path);
}

// ---- entries --------------------------------------------------------------------------------------------------------

static const carom_smps_location *location_of(const carom_smps *s, int row, int column) {
  for (int k = s->rows[row].random; k >= 0; k = s->locations[k].next)
    if (s->locations[k].column == column) return &s->locations[k];
  return NULL;
}

static bool put(carom_smps *s, carom_saa_part part, int row, int column, double value, int random) {
  return carom_saa_add_entry(s->file, (carom_saa_entry){part, row, column, value, random});
}

// scale * variable + shift, as a random number.
static int random_of(carom_smps *s, int variable, double scale, double shift) {
  const carom_formula_step steps[] = {{.op = CAROM_OP_SLOT, .index = variable},
                                      {.op = CAROM_OP_NUMBER, .number = scale},
                                      {.op = CAROM_OP_MULTIPLY},
                                      {.op = CAROM_OP_NUMBER, .number = shift},
                                      {.op = CAROM_OP_ADD}};
  bool plain = !(scale < 1) && !(scale > 1) && !(shift < 0) && !(shift > 0);
  return carom_saa_add_random(s->file, steps, plain ? 1 : 5);
}

static bool is_second(const carom_smps *s, int column) { return column >= s->second_column; }

// A number at (row, column), random or not. Costs to be maximised change their sign.
static bool put_number(carom_smps *s, int row, int column, double value, const carom_smps_location *l) {
  bool y = is_second(s, column), cost = row == s->objective, first = !cost && row < s->second_row;
  double sign = cost && s->file->maximize ? -1 : 1;
  int at = y ? column - s->second_column : column, random = l ? random_of(s, l->variable, sign, 0) : -1;
  if (l && random < 0) return false;
  if (cost) return put(s, y ? CAROM_SAA_Y_COST : CAROM_SAA_X_COST, at, 0, sign * value, random);
  if (first) return put(s, CAROM_SAA_FIRST_X, s->rows[row].at, at, value, -1);
  return put(s, y ? CAROM_SAA_ROW_Y : CAROM_SAA_ROW_X, s->rows[row].at, at, value, random);
}

static bool put_elements(carom_smps *s) {
  for (int k = 0; k < s->element_count; k++) {
    const carom_smps_element *e = &s->elements[k];
    if (s->rows[e->row].type == 'N' && e->row != s->objective) continue;
    if (!location_of(s, e->row, e->column) && !put_number(s, e->row, e->column, e->value, NULL)) return false;
  }
  for (int k = 0; k < s->location_count; k++) {
    const carom_smps_location *l = &s->locations[k];
    if (l->column >= 0 && !put_number(s, l->row, l->column, l->core < 0 || l->core > 0 ? l->core : 1, l)) return false;
  }
  return true;
}

// How far the sides of a row are from its RHS.
static void find_sides(const carom_smps_row *r, double side[2]) {
  double size = fabs(r->range);
  side[0] = r->type == 'L' ? -INFINITY : 0;
  side[1] = r->type == 'G' ? INFINITY : 0;
  if (!r->ranged) return;
  if (r->type == 'L' || (r->type == 'E' && r->range < 0)) side[0] = -size;
  if (r->type == 'G' || (r->type == 'E' && r->range > 0)) side[1] = size;
}

static bool put_sides(carom_smps *s, int row) {
  const carom_smps_row *r = &s->rows[row];
  const carom_smps_location *l = location_of(s, row, -1);
  bool first = row < s->second_row;
  double side[2];
  find_sides(r, side);
  for (int k = 0; k < 2; k++) {
    if (isinf(side[k])) continue;
    int random = l ? random_of(s, l->variable, 1, side[k]) : -1;
    if (l && random < 0) return false;
    carom_saa_part part = first ? (k == 0 ? CAROM_SAA_FIRST_LOW : CAROM_SAA_FIRST_HIGH)
                                : (k == 0 ? CAROM_SAA_ROW_LOW : CAROM_SAA_ROW_HIGH);
    if (!put(s, part, r->at, 0, r->side + side[k], random)) return false;
  }
  return true;
}

static bool put_bounds(carom_smps *s) {
  for (int k = 0; k < s->column_count; k++) {
    bool y = is_second(s, k);
    int at = y ? k - s->second_column : k;
    if (isfinite(s->columns[k].low) && !put(s, y ? CAROM_SAA_Y_LOW : CAROM_SAA_X_LOW, at, 0, s->columns[k].low, -1))
      return false;
    if (isfinite(s->columns[k].high) && !put(s, y ? CAROM_SAA_Y_HIGH : CAROM_SAA_X_HIGH, at, 0, s->columns[k].high, -1))
      return false;
  }
  return true;
}

static bool put_squares(carom_smps *s) {
  double sign = s->file->maximize ? -1 : 1;
  for (int k = 0; k < s->square_count; k++) {
    int i = s->squares[k].row, j = s->squares[k].column, low = i < j ? i : j, high = i < j ? j : i;
    bool a = is_second(s, low), b = is_second(s, high);
    carom_saa_part part = a ? CAROM_SAA_YY : b ? CAROM_SAA_YX : CAROM_SAA_XX;
    if (!put(s, part, b ? high - s->second_column : high, a ? low - s->second_column : low, sign * s->squares[k].value,
             -1))
      return false;
  }
  return true;
}

static bool check_stages(carom_smps *s) {
  for (int k = 0; k < s->element_count; k++) {
    const carom_smps_element *e = &s->elements[k];
    if (s->rows[e->row].type != 'N' && e->row < s->second_row && is_second(s, e->column))
      return carom_smps_wrong(s, -1, "the first stage knows nothing of the second",
                              "row '%.80s' of the first stage has column '%.80s' of the second", s->rows[e->row].name,
                              s->columns[e->column].name);
  }
  return true;
}

// ---- names ----------------------------------------------------------------------------------------------------------

static bool number_rows(carom_smps *s) {
  carom_saa_problem *p = &s->file->model.problem;
  carom_pool *pool = &s->file->tables->pool;
  const char **columns = CAROM_POOL_ARRAY(pool, const char *, s->column_count + 1),
             **first = CAROM_POOL_ARRAY(pool, const char *, s->row_count + 1),
             **rows = CAROM_POOL_ARRAY(pool, const char *, s->row_count + 1);
  if (!columns || !first || !rows) return false;
  for (int k = 0; k < s->column_count; k++) columns[k] = s->columns[k].name;
  for (int k = 0; k < s->row_count; k++) {
    if (s->rows[k].type == 'N') continue;
    if (k < s->second_row)
      first[s->rows[k].at = p->first_rows++] = s->rows[k].name;
    else
      rows[s->rows[k].at = p->rows++] = s->rows[k].name;
  }
  p->n = s->second_column, p->m = s->column_count - s->second_column;
  p->x_names = columns, p->y_names = columns + p->n;
  p->first_names = first, p->row_names = rows;
  return true;
}

static bool put_all(carom_smps *s) {
  double constant = s->file->maximize ? -s->constant : s->constant;
  if (!number_rows(s) || !put_elements(s) || !put_bounds(s) || !put_squares(s)) return false;
  for (int k = 0; k < s->row_count; k++)
    if (s->rows[k].type != 'N' && !put_sides(s, k)) return false;
  return put(s, CAROM_SAA_CONSTANT, 0, 0, constant, -1);
}

// ---- all three ------------------------------------------------------------------------------------------------------

static void begin(carom_smps *s, carom_saa_file *file, carom_diagnostics *diagnostics) {
  *s = (carom_smps){.file = file, .objective = -1};
  carom_pool_create(&s->pool, &file->allocator);
  carom_reporter_begin(&s->reporter, diagnostics, &file->allocator);
  carom_allocator heap = carom_pool_allocator(&s->pool);
  carom_names_create(&s->row_names, &heap);
  carom_names_create(&s->column_names, &heap);
}

static bool read_all(carom_smps *s, const char *core, bool fixed) {
  bool good = open_file(s, core, fixed) && carom_smps_read_core(s) && open_file(s, beside(s, core, ".tim"), fixed) &&
              carom_smps_read_time(s) && check_stages(s) && open_file(s, beside(s, core, ".sto"), fixed) &&
              carom_smps_read_stoch(s) && put_all(s);
  return good && carom_saa_file_finish(s->file);
}

// One reading, in words or in columns.
static carom_status read_once(const char *core, bool fixed, const carom_allocator *a, carom_saa_file **file,
                              carom_diagnostics *diagnostics) {
  carom_smps s;
  *file = carom_saa_file_new("smps", a);
  if (!*file) return CAROM_ERR_MEMORY;
  begin(&s, *file, diagnostics);
  // The pool's address is in the tables of names, so that `s` must stay where it is.
  bool good = read_all(&s, core, fixed);
  bool memory = !s.pool.failed && !s.reporter.out_of_memory && !(*file)->tables->pool.failed;
  carom_pool_destroy(&s.pool);
  if (good) return CAROM_OK;
  return memory && diagnostics->error_count > 0 ? CAROM_ERR_SCENE : CAROM_ERR_MEMORY;
}

carom_status carom_smps_read(const char *core, const carom_allocator *allocator, carom_saa_file **file,
                             carom_diagnostics *diagnostics) {
  carom_status status = read_once(core, false, allocator, file, diagnostics);
  if (status != CAROM_ERR_SCENE) return status;
  // Names with spaces make no sense in words: perhaps it does in columns.
  carom_diagnostics found = {0};
  carom_saa_file *second = NULL;
  status = read_once(core, true, allocator, &second, &found);
  if (status == CAROM_OK) {
    carom_saa_file_destroy(*file);
    carom_diagnostics_release(diagnostics);
    *file = second, *diagnostics = found;
    return CAROM_OK;
  }
  carom_saa_file_destroy(second);
  carom_diagnostics_release(&found);
  return status == CAROM_ERR_MEMORY ? status : CAROM_ERR_SCENE;
}
