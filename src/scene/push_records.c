// Pushes that were recorded: a table of samples (push, time, x, y, angle and, where it was measured, force), a line
// each. A push is that of the same number in the problem; its line at time 0 tells where the part began.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/memory.h"
#include "base/read_file.h"
#include "scene/push_reader.h"

enum { PUSH, TIME, X, Y, ANGLE, FORCE, COLUMNS, NEEDED = FORCE, MOST_FIELDS = 64, MOST_BYTES = 64 << 20 };
static const char *const names[COLUMNS] = {"push", "time", "x", "y", "angle", "force"};

typedef struct table {
  carom_push_reader *p;
  const char *path;
  int line, column[COLUMNS];
  double unit[COLUMNS];
  char *fields[MOST_FIELDS], *begin, *rest;  // of the line, where it begins, and what comes after it
  int field_count;
  double v[COLUMNS];  // of the line
  int *counts;        // (push_count) samples of each push
  bool *begun;        // (push_count) it has its line at time 0
  double *last;       // (push_count) time of the last sample
} table;

static bool wrong(const table *t, const char *hint, const char *message) {
  return carom_report(&t->p->r.reporter, (carom_place){t->path, t->line, 1}, hint, "%s", message);
}

static bool wrong_field(const table *t, int column, const char *message) {
  int place = (int)(t->fields[t->column[column]] - t->begin) + 1;
  return carom_report(&t->p->r.reporter, (carom_place){t->path, t->line, place}, NULL, "%s", message);
}

static bool next_line(table *t) {
  while (t->rest) {
    char *line = t->rest, *end = strchr(line, '\n');
    t->rest = end ? end + 1 : NULL;
    if (end) *end = 0;
    t->line++;
    if (carom_csv_is_idle(line)) continue;
    t->begin = line;
    t->field_count = carom_csv_split(line, t->fields, MOST_FIELDS);
    return true;
  }
  return false;
}

// "x (um)": how many metres that is.
static bool read_unit(table *t, int column, carom_dimension dimension) {
  char message[200];
  const char *field = t->fields[t->column[column]], *open = strchr(field, '('),
             *close = open ? strchr(open, ')') : NULL;
  t->unit[column] = 1;
  if (!close) return true;
  const carom_unit *unit = carom_unit_find(open + 1, (size_t)(close - open - 1));
  if (unit && carom_dimension_equal(unit->dimension, dimension)) return t->unit[column] = unit->factor, true;
  snprintf(message, sizeof message, "column '%.40s': '%.*s' is no unit of it", names[column], (int)(close - open - 1),
           open + 1);
  return wrong_field(t, column, message);
}

static bool is_alone(table *t, int column) {
  char message[200];
  if (carom_csv_column(t->fields, t->column[column], names[column]) < 0) return true;
  snprintf(message, sizeof message, "column '%s' is there twice", names[column]);
  return wrong_field(t, column, message);
}

static bool read_header(table *t) {
  const carom_dimension dimensions[COLUMNS] = {CAROM_NUMBER, CAROM_TIME,  CAROM_LENGTH,
                                               CAROM_LENGTH, CAROM_ANGLE, CAROM_FORCE};
  char message[200];
  bool good = true;
  if (!next_line(t)) return wrong(t, NULL, "the table is empty; its first line must name the columns");
  for (int c = 0; c < COLUMNS; c++) {
    t->column[c] = carom_csv_column(t->fields, t->field_count, names[c]);
    snprintf(message, sizeof message, "no column '%s'; needed are push, time, x, y, angle", names[c]);
    if (t->column[c] >= 0)
      good = is_alone(t, c) && read_unit(t, c, dimensions[c]) && good;
    else if (c < NEEDED)
      good = wrong(t, NULL, message);
  }
  return good;
}

static bool read_field(table *t, int c) {
  char message[200], *end;
  t->v[c] = NAN;
  if (t->column[c] < 0) return true;
  if (t->column[c] >= t->field_count) {
    snprintf(message, sizeof message, "the line ends before column '%s'", names[c]);
    return wrong(t, NULL, message);
  }
  const char *text = t->fields[t->column[c]];
  t->v[c] = t->unit[c] * strtod(text, &end);
  if (end != text && !*end && isfinite(t->v[c])) return true;
  if (c == FORCE && !*text) return t->v[c] = NAN, true;
  snprintf(message, sizeof message, "'%.40s' is not a number (column '%s')", text, names[c]);
  return wrong_field(t, c, message);
}

// The push of a line, from 0; -1 after a report.
static int push_of(const table *t) {
  char message[200];
  int count = t->p->file->push_count;
  double number = t->v[PUSH];
  if (number == floor(number) && number >= 1 && number <= count) return (int)number - 1;
  snprintf(message, sizeof message, "there is no push %g; the problem has %d", number, count);
  return wrong(t, "the first push is 1", message), -1;
}

static bool check_time(table *t, int push) {
  char message[200];
  double time = t->v[TIME], most = t->p->file->pushes[push].duration;
  if (time < 0 || time > most * (1 + 1e-9)) {
    snprintf(message, sizeof message, "time %g s is not within push %d, which lasts %g s", time, push + 1, most);
    return wrong(t, NULL, message);
  }
  if (t->begun[push] && !(time > t->last[push])) {
    snprintf(message, sizeof message, "time %g s of push %d comes after %g s", time, push + 1, t->last[push]);
    return wrong(t, "samples of a push stand in order of time", message);
  }
  if (!t->begun[push] && time != 0) {
    snprintf(message, sizeof message, "push %d has no line at time 0: where does the part begin?", push + 1);
    return wrong(t, NULL, message);
  }
  t->begun[push] = true;
  t->last[push] = time;
  return true;
}

// Twice through the table: to count, and to take.
static bool read_lines(table *t, carom_push_record *records, carom_push_sample **samples) {
  bool good = true;
  while (next_line(t) && !carom_reporter_full(&t->p->r.reporter)) {
    bool read = true;
    for (int c = 0; c < COLUMNS; c++) read = read_field(t, c) && read;
    int push = read ? push_of(t) : -1;
    if (push < 0 || (!records && !check_time(t, push))) {
      good = false;
      continue;
    }
    if (!records) {
      t->counts[push] += t->v[TIME] > 0;
    } else if (t->v[TIME] == 0) {
      memcpy(records[push].start, &t->v[X], 3 * sizeof(double));
    } else {
      carom_push_sample *s = samples[push]++;
      *s = (carom_push_sample){.time = t->v[TIME], .pose = {t->v[X], t->v[Y], t->v[ANGLE]}, .force = t->v[FORCE]};
    }
  }
  return good;
}

static bool make_records(table *t, carom_push_record **records, carom_push_sample ***samples) {
  const carom_push_file *file = t->p->file;
  carom_pool *pool = &file->tables->pool;
  char name[40];
  *records = CAROM_POOL_ARRAY(pool, carom_push_record, file->push_count + 1);
  *samples = CAROM_POOL_ARRAY(&t->p->r.pool, carom_push_sample *, file->push_count + 1);
  for (int i = 0; *records && *samples && i < file->push_count; i++) {
    carom_push_record *r = &(*records)[i];
    carom_push_sample *room = CAROM_POOL_ARRAY(pool, carom_push_sample, t->counts[i] + 1);
    snprintf(name, sizeof name, "push %d", i + 1);
    r->name = carom_pool_text(pool, name, strlen(name));
    r->push = file->pushes[i];
    r->samples = (*samples)[i] = room;
    r->sample_count = t->counts[i];
    if (!room) return false;
  }
  return *records && *samples;
}

// Pushes without samples are none that were recorded.
static void keep(carom_push_file *file, carom_push_record *records) {
  file->fit.records = records;
  for (int i = 0; i < file->push_count; i++)
    if (records[i].sample_count > 0) records[file->fit.record_count++] = records[i];
}

// Spreadsheets begin their tables with a mark of the encoding.
static const char *skip_mark(const char *text, size_t *size) {
  bool marked = *size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
  if (marked) *size -= 3;
  return marked ? text + 3 : text;
}

static void read_table(table *t, const char *text, size_t size, const carom_node *node) {
  carom_push_file *file = t->p->file;
  carom_push_record *records;
  carom_push_sample **samples;
  carom_pool *pool = &t->p->r.pool;
  t->counts = CAROM_POOL_ARRAY(pool, int, file->push_count + 1);
  t->begun = CAROM_POOL_ARRAY(pool, bool, file->push_count + 1);
  t->last = CAROM_POOL_ARRAY(pool, double, file->push_count + 1);
  char *first = carom_pool_text(pool, text, size), *second = carom_pool_text(pool, text, size);
  if (!t->counts || !t->begun || !t->last || !first || !second) return;
  t->rest = first;
  if (!read_header(t) || !read_lines(t, NULL, NULL) || !make_records(t, &records, &samples)) return;
  t->rest = second, t->line = 0;
  next_line(t);
  read_lines(t, records, samples);
  keep(file, records);
  if (file->fit.record_count == 0)
    carom_report(&t->p->r.reporter, node->place, NULL, "'%.100s' has no samples after time 0", node->text);
}

void carom_push_read_records(carom_push_reader *p, const carom_node *node) {
  const char *name = NULL;
  carom_error error;
  size_t size;
  if (!carom_read_text(&p->r, node, &name)) return;
  const char *path = carom_join_path(&p->r.pool, p->r.folder, name);
  if (!path || carom_push_has_errors(p)) return;
  p->file->records = carom_pool_text(&p->file->tables->pool, path, strlen(path));
  char *text = carom_read_file(path, MOST_BYTES, &p->r.allocator, &size, &error);
  if (text) {
    table t = {.p = p, .path = path};
    const char *lines = skip_mark(text, &size);
    read_table(&t, lines, size, node);
  } else if (error.status == CAROM_ERR_MEMORY) {
    p->r.reporter.out_of_memory = true;
  } else {
    carom_report(&p->r.reporter, node->place, NULL, "cannot read the records in '%.200s': %s", name, error.message);
  }
  carom_release(&p->r.allocator, text);
}
