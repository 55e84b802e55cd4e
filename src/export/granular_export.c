// Fields of granular matter as a table and as image data for ParaView.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "export/export.h"
#include "export/granular_fields.h"

enum { DIGITS = 12, FLUSH_SIZE = 1 << 16, MOST_CELLS = 20000000 };

static const char *const header =
    "time (s),x (m),y (m),z (m),packing fraction,vx (m/s),vy (m/s),vz (m/s),grains,coordination,residence (s),"
    "sxx (Pa),sxy (Pa),sxz (Pa),syx (Pa),syy (Pa),syz (Pa),szx (Pa),szy (Pa),szz (Pa)\r\n";

// The same values as arrays of an image.
static const struct {
  const char *name;
  int first, count;
} arrays[] = {{"packing_fraction", 0, 1}, {"velocity", 1, 3},       {"grains", 4, 1},
              {"coordination", 5, 1},     {"residence_time", 6, 1}, {"stress", 7, 9}};
enum { ARRAY_COUNT = sizeof arrays / sizeof *arrays };

typedef struct granular_export {
  carom_result *result;
  carom_granular_options options;
  carom_granular fields;
  int first, last;  // frames of the window
  carom_atomic_file table;
  carom_text_buffer text;
} granular_export;

carom_granular_options carom_granular_default_options(void) {
  carom_granular_options options = {.from = -INFINITY, .until = INFINITY, .contact_gap = 0.01};
  return options;
}

// ---- window and grid -----------------------------------------------------------------------------------------------

static carom_status check(const carom_granular_options *o, carom_error *error) {
  for (int i = 0; i < 3; i++)
    if (o->cells[i] < 0) return carom_fail(error, CAROM_ERR_ARGUMENT, "fields: %d cells; give 1 or more", o->cells[i]);
  bool box = o->low.x <= o->high.x && o->low.y <= o->high.y && o->low.z <= o->high.z;
  if (!box) return carom_fail(error, CAROM_ERR_ARGUMENT, "fields: the box is turned inside out; low before high");
  if (!(o->contact_gap >= 0 && isfinite(o->contact_gap)))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "fields: contact_gap must be a number >= 0, as 0.01");
  return CAROM_OK;
}

static carom_status find_window(granular_export *x, carom_error *error) {
  const carom_result *result = x->result;
  x->first = 0, x->last = result->frame_count - 1;
  while (x->first <= x->last && result->times[x->first] < x->options.from) x->first++;
  while (x->last >= x->first && result->times[x->last] > x->options.until) x->last--;
  if (x->first <= x->last) return CAROM_OK;
  if (result->frame_count == 0) return carom_fail(error, CAROM_ERR_ARGUMENT, "fields: the result holds no frame");
  return carom_fail(error, CAROM_ERR_ARGUMENT, "fields: no frame from %g s to %g s; the result has %g s to %g s",
                    x->options.from, x->options.until, result->times[0], result->times[result->frame_count - 1]);
}

static carom_aabb grow(carom_aabb box, carom_aabb by) {
  box.low = cm_vec3(fmin(box.low.x, by.low.x), fmin(box.low.y, by.low.y), fmin(box.low.z, by.low.z));
  box.high = cm_vec3(fmax(box.high.x, by.high.x), fmax(box.high.y, by.high.y), fmax(box.high.z, by.high.z));
  return box;
}

// Around all that moves in one frame; returns how many parts that is and adds their radii.
static int surround(const carom_result *result, const carom_frame *frame, carom_aabb *box, double *radii) {
  int count = 0;
  for (int b = 0; b < result->body_count; b++)
    for (int k = 0; !result->bodies[b].fixed && k < result->bodies[b].part_count; k++) {
      const carom_result_part *part = &result->parts[result->bodies[b].part_start + k];
      carom_placed placed = {result->shapes[part->shape], cm_compose(frame->poses[b], part->pose)};
      *box = grow(*box, carom_aabb_of(&placed));
      *radii += carom_shape_bounding_radius(placed.shape);
      count++;
    }
  return count;
}

// The box that was asked for, or the one around the grains; cells three grains wide where no number was given.
static carom_status divide(const carom_granular_options *o, carom_aabb box, double radius, carom_granular_grid *grid,
                           carom_error *error) {
  bool given = o->low.x < o->high.x || o->low.y < o->high.y || o->low.z < o->high.z;
  if (given) box = (carom_aabb){o->low, o->high};
  double count = 1;
  grid->low = box.low;
  for (int i = 0; i < 3; i++) {
    double side = (&box.high.x)[i] - (&box.low.x)[i];
    if (!(side > 0 && isfinite(side)))
      return carom_fail(error, CAROM_ERR_ARGUMENT, "fields: the box has no extent along %c; give low and high",
                        'x' + i);
    double n = o->cells[i] > 0 ? o->cells[i] : fmax(1, round(side / (6 * radius)));
    count *= n;
    if (count > MOST_CELLS)
      return carom_fail(error, CAROM_ERR_ARGUMENT, "fields: more than %d cells; give fewer, or a smaller box",
                        MOST_CELLS);
    grid->n[i] = (int)n;
    (&grid->size.x)[i] = side / n;
  }
  grid->count = (int)count;
  return CAROM_OK;
}

static carom_status make_grid(granular_export *x, carom_frame *frame, carom_granular_grid *grid, carom_error *error) {
  carom_aabb box = {cm_vec3(INFINITY, INFINITY, INFINITY), cm_vec3(-INFINITY, -INFINITY, -INFINITY)};
  double radii = 0, parts = 0;
  for (int f = x->first; f <= x->last; f++) {
    carom_status status = carom_result_read_frame(x->result, f, frame, error);
    if (status != CAROM_OK) return status;
    parts += surround(x->result, frame, &box, &radii);
  }
  if (parts == 0) return carom_fail(error, CAROM_ERR_ARGUMENT, "fields: nothing in this result moves and has a shape");
  return divide(&x->options, box, radii / parts, grid, error);
}

// ---- the table -----------------------------------------------------------------------------------------------------

static carom_status flush(granular_export *x, size_t unless_below, carom_error *error) {
  if (x->text.failed) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for '%.700s'", x->table.path);
  if (x->text.length < unless_below) return CAROM_OK;
  carom_status status = carom_atomic_file_write(&x->table, x->text.data, x->text.length, error);
  carom_text_buffer_clear(&x->text);
  return status;
}

// What is not known stays empty.
static void add_number(carom_text_buffer *text, double value) {
  carom_text_buffer_add(text, ",");
  if (isfinite(value)) carom_text_buffer_number(text, value, DIGITS);
}

static carom_status add_lines(granular_export *x, double time, carom_error *error) {
  carom_status status = CAROM_OK;
  for (int c = 0; c < x->fields.grid.count && status == CAROM_OK; c++) {
    double values[CAROM_GRANULAR_VALUES];
    carom_vec3 center = carom_granular_cell_center(&x->fields.grid, c);
    carom_granular_values(&x->fields, c, values);
    carom_text_buffer_number(&x->text, time, DIGITS);
    for (int i = 0; i < 3; i++) add_number(&x->text, (&center.x)[i]);
    for (int i = 0; i < CAROM_GRANULAR_VALUES; i++) add_number(&x->text, values[i]);
    carom_text_buffer_add(&x->text, "\r\n");
    status = flush(x, FLUSH_SIZE, error);
  }
  return status;
}

// Frames before the window are not read: when grains came back is told by events, not by poses.
static carom_status add_frames(granular_export *x, carom_frame *frame, const carom_progress *progress,
                               carom_error *error) {
  carom_status status = CAROM_OK;
  carom_text_buffer_add(&x->text, header);
  for (int f = x->first; f <= x->last && status == CAROM_OK; f++) {
    status = carom_export_progress(progress, f - x->first, x->last - x->first + 1, error);
    if (status == CAROM_OK) status = carom_result_read_frame(x->result, f, frame, error);
    if (status == CAROM_OK) status = carom_granular_add(&x->fields, frame, error);
    if (status != CAROM_OK || !x->options.every_frame) continue;
    status = add_lines(x, frame->time, error);
    carom_granular_clear(&x->fields);
  }
  double middle = 0.5 * (x->result->times[x->first] + x->result->times[x->last]);
  if (status == CAROM_OK && !x->options.every_frame) status = add_lines(x, middle, error);
  return status == CAROM_OK ? flush(x, 0, error) : status;
}

// ---- the image -----------------------------------------------------------------------------------------------------

static const char *byte_order(void) {
  const uint16_t probe = 1;
  unsigned char first;
  memcpy(&first, &probe, 1);
  return first ? "LittleEndian" : "BigEndian";
}

static void add_head(granular_export *x) {
  const carom_granular_grid *g = &x->fields.grid;
  const double numbers[] = {g->low.x, g->low.y, g->low.z, g->size.x, g->size.y, g->size.z};
  carom_text_buffer_print(
      &x->text,
      "<?xml version=\"1.0\"?>\n<!-- made by carom -->\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"%s\" "
      "header_type=\"UInt64\">\n<ImageData WholeExtent=\"0 %d 0 %d 0 %d\" Origin=\"",
      byte_order(), g->n[0], g->n[1], g->n[2]);
  for (int i = 0; i < 6; i++) {
    carom_text_buffer_number(&x->text, numbers[i], 17);
    carom_text_buffer_add(&x->text, i == 2 ? "\" Spacing=\"" : i == 5 ? "\">\n" : " ");
  }
  carom_text_buffer_print(&x->text, "<Piece Extent=\"0 %d 0 %d 0 %d\">\n<CellData>\n", g->n[0], g->n[1], g->n[2]);
}

// In base64 with the size in front, as 64 bits: the room of one double.
static void add_array(granular_export *x, int a, double *block) {
  double values[CAROM_GRANULAR_VALUES];
  size_t n = (size_t)arrays[a].count;
  uint64_t size = n * (size_t)x->fields.grid.count * sizeof *block;
  memcpy(block, &size, sizeof size);
  for (int c = 0; c < x->fields.grid.count; c++) {
    carom_granular_values(&x->fields, c, values);
    memcpy(block + 1 + (size_t)c * n, values + arrays[a].first, n * sizeof *block);
  }
  carom_text_buffer_print(&x->text,
                          "<DataArray type=\"Float64\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"binary\">\n",
                          arrays[a].name, arrays[a].count);
  carom_text_buffer_base64(&x->text, block, sizeof size + (size_t)size);
  carom_text_buffer_add(&x->text, "\n</DataArray>\n");
}

static carom_status write_image(granular_export *x, const char *path, carom_error *error) {
  const carom_allocator *allocator = &x->result->allocator;
  double *block = CAROM_NEW(allocator, double, 1 + 9 * (size_t)x->fields.grid.count);
  carom_atomic_file file = {.descriptor = -1};
  carom_text_buffer_clear(&x->text);
  add_head(x);
  for (int a = 0; a < ARRAY_COUNT && block; a++) add_array(x, a, block);
  carom_text_buffer_add(&x->text, "</CellData>\n</Piece>\n</ImageData>\n</VTKFile>\n");
  carom_release(allocator, block);
  if (!block || x->text.failed) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for '%.700s'", path);
  carom_status status = carom_atomic_file_open(&file, path, allocator, error);
  if (status == CAROM_OK) status = carom_atomic_file_write(&file, x->text.data, x->text.length, error);
  if (status == CAROM_OK) status = carom_atomic_file_commit(&file, error);
  carom_atomic_file_abandon(&file);
  return status;
}

// "name.csv" has its image in "name.vti".
static carom_status export_image(granular_export *x, const char *path, carom_error *error) {
  size_t length = strlen(path), size = length + sizeof ".vti";
  if (length >= 4 && strcmp(path + length - 4, ".csv") == 0) length -= 4;
  char *name = CAROM_NEW(&x->result->allocator, char, size);
  if (!name) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for '%.700s'", path);
  snprintf(name, size, "%.*s.vti", (int)length, path);
  carom_status status = write_image(x, name, error);
  carom_release(&x->result->allocator, name);
  return status;
}

// ---- all of it -----------------------------------------------------------------------------------------------------

static carom_status write_all(granular_export *x, const char *path, carom_frame *frame, const carom_progress *progress,
                              carom_error *error) {
  carom_granular_grid grid = {0};
  carom_status status = make_grid(x, frame, &grid, error);
  if (status == CAROM_OK) status = carom_granular_create(&x->fields, x->result, &grid, x->options.contact_gap, error);
  if (status == CAROM_OK) status = carom_atomic_file_open(&x->table, path, &x->result->allocator, error);
  if (status == CAROM_OK) status = add_frames(x, frame, progress, error);
  bool image = status == CAROM_OK && !x->options.every_frame && x->table.temporary;  // not beside a pipe or device
  if (image) status = export_image(x, path, error);
  if (status == CAROM_OK) status = carom_atomic_file_commit(&x->table, error);
  carom_atomic_file_abandon(&x->table);
  carom_granular_destroy(&x->fields);
  return status;
}

carom_status carom_export_granular(carom_result *result, const char *path, const carom_granular_options *options,
                                   const carom_progress *progress, carom_error *error) {
  granular_export x = {.result = result, .table = {.descriptor = -1}};
  x.options = options ? *options : carom_granular_default_options();
  x.text = carom_text_buffer_make(&result->allocator);
  carom_status status = check(&x.options, error);
  if (status == CAROM_OK) status = find_window(&x, error);
  if (status != CAROM_OK) return status;
  carom_frame frame;
  status = carom_frame_init(result, &frame, error);
  if (status == CAROM_OK) status = write_all(&x, path, &frame, progress, error);
  carom_frame_release(&frame);
  carom_text_buffer_release(&x.text);
  return status;
}
