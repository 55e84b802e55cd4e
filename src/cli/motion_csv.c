// A motion as a table: one line for each body at each time, columns by the names in the header.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "cli/audit.h"

enum { TIME, BODY, X, Y, Z, QW, QX, QY, QZ, VX, VY, VZ, WX, WY, WZ, COLUMNS, MOST_FIELDS = 64, LINE = 4096 };
static const char *const names[COLUMNS] = {"time", "body", "x",  "y",  "z",  "qw", "qx", "qy",
                                           "qz",   "vx",   "vy", "vz", "wx", "wy", "wz"};

typedef struct table {
  const char *path;
  FILE *file;
  int line, column[COLUMNS];  // where each is in a line
  char text[LINE], *fields[MOST_FIELDS];
  int field_count;
} table;

#define STOP(...) (cli_error(__VA_ARGS__), false)

static bool next_line(table *t) {
  do {
    if (!fgets(t->text, sizeof t->text, t->file)) return false;
    t->line++;
  } while (carom_csv_is_idle(t->text));
  t->field_count = carom_csv_split(t->text, t->fields, MOST_FIELDS);
  return true;
}

static bool read_header(table *t) {
  if (!next_line(t)) return STOP("%s: the table is empty; its first line must name the columns", t->path);
  for (int c = 0; c < COLUMNS; c++) {
    t->column[c] = carom_csv_column(t->fields, t->field_count, names[c]);
    if (t->column[c] < 0)
      return STOP("%s:%d: no column '%s'; needed are time, body, x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz",
                  t->path, t->line, names[c]);
  }
  return true;
}

static bool read_number(const table *t, int column, double *value) {
  if (t->column[column] >= t->field_count)
    return STOP("%s:%d: the line ends before column '%s'", t->path, t->line, names[column]);
  const char *text = t->fields[t->column[column]];
  char *end;
  *value = strtod(text, &end);
  if (end == text || *end)
    return STOP("%s:%d: '%s' is not a number (column '%s')", t->path, t->line, text, names[column]);
  return true;
}

typedef struct row {
  int body;
  double v[COLUMNS];
} row;

static bool read_row(const table *t, const carom_model *model, row *r) {
  if (t->column[BODY] >= t->field_count) return STOP("%s:%d: the line ends before column 'body'", t->path, t->line);
  const char *name = t->fields[t->column[BODY]];
  r->body = carom_model_find_body(model, name);
  if (r->body < 0) return STOP("%s:%d: the scene has no body '%s'", t->path, t->line, name);
  for (int c = 0; c < COLUMNS; c++)
    if (c != BODY && !read_number(t, c, &r->v[c])) return false;
  double length = sqrt(r->v[QW] * r->v[QW] + r->v[QX] * r->v[QX] + r->v[QY] * r->v[QY] + r->v[QZ] * r->v[QZ]);
  if (!(fabs(length - 1) < 1e-3)) return STOP("%s:%d: the quaternion has length %g, not 1", t->path, t->line, length);
  return true;
}

static void place(const carom_model *model, carom_state *state, const row *r) {
  const double *v = r->v;
  carom_pose pose = {cm_vec3(v[X], v[Y], v[Z]), cm_qunit(cm_quat(v[QW], v[QX], v[QY], v[QZ]))};
  carom_state_set_pose(model, state, r->body, pose);
  carom_state_set_velocity(model, state, r->body, cm_vec3(v[VX], v[VY], v[VZ]), cm_vec3(v[WX], v[WY], v[WZ]));
}

// Lines of one time make a frame; all moving bodies must be in it.
static bool close_frame(const table *t, const carom_model *model, const bool *told, double time) {
  for (int i = 0; i < model->body_count; i++)
    if (!model->bodies[i].fixed && !told[i])
      return STOP("%s:%d: body '%s' is missing at time %g", t->path, t->line, model->bodies[i].name, time);
  return true;
}

static bool read_frames(table *t, const carom_model *model, carom_state *state, bool *told, cli_frame_sink *sink,
                        void *context) {
  bool any = false;
  row r;
  while (next_line(t)) {
    if (!read_row(t, model, &r)) return false;
    if (any && r.v[TIME] != state->time) {
      if (!close_frame(t, model, told, state->time)) return false;
      sink(context, state);
      memset(told, 0, (size_t)model->body_count * sizeof *told);
      if (!(r.v[TIME] > state->time)) return STOP("%s:%d: time goes back to %g", t->path, t->line, r.v[TIME]);
    }
    if (told[r.body])
      return STOP("%s:%d: body '%s' again at the same time", t->path, t->line, model->bodies[r.body].name);
    state->time = r.v[TIME];
    told[r.body] = any = true;
    place(model, state, &r);
  }
  if (!any) return STOP("%s: the table has no lines after its header", t->path);
  if (!close_frame(t, model, told, state->time)) return false;
  sink(context, state);
  return true;
}

bool cli_read_motion(const char *path, const carom_model *model, carom_state *state, cli_frame_sink *sink,
                     void *context) {
  table t = {.path = path, .file = cli_open_input(path)};
  if (!t.file)
    return STOP("cannot read '%s': %s", path, errno == EINVAL ? "it is not a regular file" : strerror(errno));
  bool *told = calloc((size_t)model->body_count + 1, sizeof *told);
  if (!told) cli_error("out of memory for reading '%s'", path);
  bool good = told && read_header(&t) && read_frames(&t, model, state, told, sink, context);
  free(told);
  fclose(t.file);
  return good;
}
