// Tables after RFC 4180: a header line with units, fields quoted where needed, lines ending in CR LF, and numbers with
// 17 digits, so that reading them gives the same doubles.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "export/export.h"

enum { DIGITS = 17, FLUSH_SIZE = 1 << 16 };

typedef struct csv {
  carom_result *result;
  carom_atomic_file file;
  carom_text_buffer text;  // not yet written
} csv;

static carom_status flush(csv *out, size_t unless_below, carom_error *error) {
  if (out->text.failed) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for '%.700s'", out->file.path);
  if (out->text.length < unless_below) return CAROM_OK;
  carom_status status = carom_atomic_file_write(&out->file, out->text.data, out->text.length, error);
  carom_text_buffer_clear(&out->text);
  return status;
}

static void add_field(carom_text_buffer *text, const char *field) {
  if (!strpbrk(field, ",\"\r\n")) {
    carom_text_buffer_add(text, field);
    return;
  }
  carom_text_buffer_add(text, "\"");
  for (const char *c = field; *c; c++) {
    if (*c == '"') carom_text_buffer_add(text, "\"");
    carom_text_buffer_add_n(text, c, 1);
  }
  carom_text_buffer_add(text, "\"");
}

static void add_numbers(carom_text_buffer *text, const double *values, int count) {
  for (int i = 0; i < count; i++) {
    carom_text_buffer_add(text, ",");
    carom_text_buffer_number(text, values[i], DIGITS);
  }
}

// ---- the trajectory ------------------------------------------------------------------------------------------------

static carom_status add_frame(void *context, int i, const carom_frame *frame, carom_error *error) {
  csv *out = context;
  carom_status status = CAROM_OK;
  (void)i;
  for (int b = 0; status == CAROM_OK && b < out->result->body_count; b++) {
    carom_text_buffer_number(&out->text, frame->time, DIGITS);
    carom_text_buffer_add(&out->text, ",");
    add_field(&out->text, out->result->bodies[b].name);
    add_numbers(&out->text, &frame->poses[b].p.x, 3);
    add_numbers(&out->text, &frame->poses[b].q.w, 4);
    add_numbers(&out->text, &frame->velocities[b].x, 3);
    add_numbers(&out->text, &frame->angular_velocities[b].x, 3);
    carom_text_buffer_add(&out->text, "\r\n");
    status = flush(out, FLUSH_SIZE, error);
  }
  return status;
}

static carom_status write_trajectory(csv *out, const carom_progress *progress, carom_error *error) {
  carom_text_buffer_add(&out->text,
                        "time (s),body,x (m),y (m),z (m),qw,qx,qy,qz,vx (m/s),vy (m/s),vz (m/s),"
                        "wx (rad/s),wy (rad/s),wz (rad/s)\r\n");
  carom_selection all = {out->result->frame_count, out->result->frame_count};
  carom_status status = carom_visit_frames(&(carom_frames){out->result, all, progress, 0, 1}, add_frame, out, error);
  return status == CAROM_OK ? flush(out, 0, error) : status;
}

// ---- the audit -----------------------------------------------------------------------------------------------------

static void add_audit_header(carom_text_buffer *text) {
  const carom_audit_column *columns = carom_audit_columns();
  carom_text_buffer_add(text, "time (s)");
  for (int i = 0; i < CAROM_AUDIT_COLUMNS; i++) {
    carom_text_buffer_print(text, ",%s", columns[i].key);
    if (strcmp(columns[i].unit, "1") != 0) carom_text_buffer_print(text, " (%s)", columns[i].unit);
  }
  carom_text_buffer_add(text, "\r\n");
}

static carom_status write_audit(csv *out, carom_error *error) {
  const carom_result *result = out->result;
  carom_status status = CAROM_OK;
  add_audit_header(&out->text);
  for (int f = 0; status == CAROM_OK && f < result->frame_count; f++) {
    carom_text_buffer_number(&out->text, result->times[f], DIGITS);
    for (int i = 0; i < CAROM_AUDIT_COLUMNS; i++)
      add_numbers(&out->text, &result->audit[(size_t)i * (size_t)result->frame_count + (size_t)f], 1);
    carom_text_buffer_add(&out->text, "\r\n");
    status = flush(out, FLUSH_SIZE, error);
  }
  return status == CAROM_OK ? flush(out, 0, error) : status;
}

// ---- channels ------------------------------------------------------------------------------------------------------

// "hinge.angle (rad)", as one field.
static void add_channel_name(csv *out, carom_text_buffer *name, const carom_channel *channel) {
  carom_text_buffer_clear(name);
  carom_text_buffer_add(name, channel->name);
  if (channel->unit[0]) {
    carom_text_buffer_add(name, " (");
    carom_text_buffer_add(name, channel->unit);
    carom_text_buffer_add(name, ")");
  }
  carom_text_buffer_add_n(name, "", 1);
  carom_text_buffer_add(&out->text, ",");
  if (!name->failed) add_field(&out->text, name->data);
  out->text.failed = out->text.failed || name->failed;
}

static carom_status add_channel_row(void *context, int i, const carom_frame *frame, carom_error *error) {
  csv *out = context;
  (void)i;
  carom_text_buffer_number(&out->text, frame->time, DIGITS);
  add_numbers(&out->text, frame->channels, out->result->channel_count);
  carom_text_buffer_add(&out->text, "\r\n");
  return flush(out, FLUSH_SIZE, error);
}

static carom_status write_channels(csv *out, carom_error *error) {
  carom_result *result = out->result;
  carom_text_buffer name = carom_text_buffer_make(&result->allocator);
  carom_text_buffer_add(&out->text, "time (s)");
  for (int i = 0; i < result->channel_count; i++) add_channel_name(out, &name, &result->channels[i]);
  carom_text_buffer_add(&out->text, "\r\n");
  carom_text_buffer_release(&name);
  carom_selection all = {result->frame_count, result->frame_count};
  carom_status status = carom_visit_frames(&(carom_frames){result, all, NULL, 0, 1}, add_channel_row, out, error);
  return status == CAROM_OK ? flush(out, 0, error) : status;
}

// ---- contact events -------------------------------------------------------------------------------------------------

static const char *event_name(carom_event_kind kind) {
  static const char *const names[] = {"impact", "contact", "stick", "zeno", "recirculated"};
  return names[kind];
}

static const char *mode_name(carom_contact_mode mode) {
  static const char *const names[] = {"", "stick", "forward", "backward"};
  return names[mode];
}

static carom_status write_events(csv *out, carom_error *error) {
  const carom_result *result = out->result;
  carom_status status = CAROM_OK;
  carom_text_buffer_add(&out->text,
                        "time (s),kind,body a,body b,x (m),y (m),z (m),nx,ny,nz,jx (N s),jy (N s),jz (N s),mode\r\n");
  for (int i = 0; status == CAROM_OK && i < result->event_count; i++) {
    const carom_contact_event *e = &result->events[i];
    carom_text_buffer_number(&out->text, e->time, DIGITS);
    carom_text_buffer_print(&out->text, ",%s,", event_name(e->kind));
    add_field(&out->text, carom_result_name(result, e->body_a));
    carom_text_buffer_add(&out->text, ",");
    add_field(&out->text, e->body_b == CAROM_WORLD ? "world" : carom_result_name(result, e->body_b));
    add_numbers(&out->text, &e->point.x, 3);
    add_numbers(&out->text, &e->normal.x, 3);
    add_numbers(&out->text, &e->impulse.x, 3);
    carom_text_buffer_print(&out->text, ",%s", mode_name(e->mode));
    carom_text_buffer_add(&out->text, "\r\n");
    status = flush(out, FLUSH_SIZE, error);
  }
  return status == CAROM_OK ? flush(out, 0, error) : status;
}

// ---- solids ---------------------------------------------------------------------------------------------------------

// Of a solid in a frame: what a table tells beside the time.
typedef struct solid_row {
  carom_vec3 center, momentum, angular_momentum;
  double kinetic, elastic, least_J, stress;
} solid_row;

static solid_row measure_solid(const carom_result *result, const carom_frame *frame, int frame_index, int s) {
  const carom_result_solid *solid = &result->solids[s];
  int at = frame_index * result->solid_count + s;
  solid_row row = {.elastic = result->elastic_energies[at], .least_J = result->least_J[at]};
  for (int i = solid->node_start; i < solid->node_start + solid->node_count; i++) {
    double m = result->node_masses[i];
    carom_vec3 x = frame->nodes[i], v = frame->node_velocities[i];
    row.center = cm_axpy(row.center, m / solid->mass, x);
    row.momentum = cm_axpy(row.momentum, m, v);
    row.angular_momentum = cm_axpy(row.angular_momentum, m, cm_cross(x, v));
    row.kinetic += 0.5 * m * cm_norm2(v);
  }
  for (int t = solid->tet_start; t < solid->tet_start + solid->tet_count; t++)
    row.stress = fmax(row.stress, (double)frame->stresses[t]);
  return row;
}

static carom_status add_solid_rows(void *context, int i, const carom_frame *frame, carom_error *error) {
  csv *out = context;
  carom_status status = CAROM_OK;
  for (int s = 0; status == CAROM_OK && s < out->result->solid_count; s++) {
    solid_row row = measure_solid(out->result, frame, i, s);
    carom_text_buffer_number(&out->text, frame->time, DIGITS);
    carom_text_buffer_add(&out->text, ",");
    add_field(&out->text, out->result->solids[s].name);
    add_numbers(&out->text, &row.center.x, 3);
    add_numbers(&out->text, &row.momentum.x, 3);
    add_numbers(&out->text, &row.angular_momentum.x, 3);
    add_numbers(&out->text, (const double[]){row.kinetic, row.elastic, row.least_J, row.stress}, 4);
    carom_text_buffer_add(&out->text, "\r\n");
    status = flush(out, FLUSH_SIZE, error);
  }
  return status;
}

static carom_status write_solids(csv *out, carom_error *error) {
  carom_text_buffer_add(&out->text,
                        "time (s),solid,x (m),y (m),z (m),px (kg m/s),py (kg m/s),pz (kg m/s),lx (kg m2/s),"
                        "ly (kg m2/s),lz (kg m2/s),kinetic (J),elastic (J),least J,largest von Mises stress (Pa)\r\n");
  carom_selection all = {out->result->frame_count, out->result->frame_count};
  carom_status status = carom_visit_frames(&(carom_frames){out->result, all, NULL, 0, 1}, add_solid_rows, out, error);
  return status == CAROM_OK ? flush(out, 0, error) : status;
}

// ---- files ----------------------------------------------------------------------------------------------------------

// "name.csv" has its audit in "name.audit.csv", its contact events in "name.events.csv", its channels in
// "name.channels.csv" and its solids in "name.solids.csv"; null when out of memory.
static char *companion_path(const char *path, const char *suffix, const carom_allocator *allocator) {
  size_t length = strlen(path), size = length + strlen(suffix) + 1;
  if (length >= 4 && strcmp(path + length - 4, ".csv") == 0) length -= 4;
  char *name = CAROM_NEW(allocator, char, size);
  if (name) snprintf(name, size, "%.*s%s", (int)length, path, suffix);
  return name;
}

static carom_status open_csv(csv *out, carom_result *result, const char *path, carom_error *error) {
  *out = (csv){.result = result, .text = carom_text_buffer_make(&result->allocator)};
  return carom_atomic_file_open(&out->file, path, &result->allocator, error);
}

static void release_csv(csv *out) {
  carom_atomic_file_abandon(&out->file);
  carom_text_buffer_release(&out->text);
}

static carom_status export_companion(carom_result *result, const char *path, const char *suffix,
                                     carom_status (*write)(csv *, carom_error *), carom_error *error) {
  char *name = companion_path(path, suffix, &result->allocator);
  if (!name) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for '%.700s'", path);
  csv out;
  carom_status status = open_csv(&out, result, name, error);
  if (status == CAROM_OK) status = write(&out, error);
  if (status == CAROM_OK) status = carom_atomic_file_commit(&out.file, error);
  release_csv(&out);
  carom_release(&result->allocator, name);
  return status;
}

carom_status carom_export_csv(carom_result *result, const char *path, const carom_progress *progress,
                              carom_error *error) {
  csv out;
  carom_status status = open_csv(&out, result, path, error);
  if (status == CAROM_OK) status = write_trajectory(&out, progress, error);
  bool has_name = out.file.temporary;  // not a pipe or device
  if (status == CAROM_OK && has_name) status = export_companion(result, path, ".audit.csv", write_audit, error);
  if (status == CAROM_OK && has_name && result->event_count > 0)
    status = export_companion(result, path, ".events.csv", write_events, error);
  if (status == CAROM_OK && has_name && result->channel_count > 0)
    status = export_companion(result, path, ".channels.csv", write_channels, error);
  if (status == CAROM_OK && has_name && result->solid_count > 0)
    status = export_companion(result, path, ".solids.csv", write_solids, error);
  if (status == CAROM_OK) status = carom_atomic_file_commit(&out.file, error);
  release_csv(&out);
  return status;
}
