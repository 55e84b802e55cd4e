// Fields of motion: .flo files, comparison with a known motion, and pictures.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/read_file.h"
#include "carom/vec.h"
#include "flow/image.h"
#include "math/sum.h"

static const double unknown_beyond = 1e9;  // in .flo files

carom_status carom_flow_field_init(int width, int height, const carom_allocator *allocator, carom_flow_field *field,
                                   carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *field = (carom_flow_field){0};
  carom_status status = carom_image_check_size("flow", width, height, error);
  if (status != CAROM_OK) return status;
  size_t count = (size_t)width * (size_t)height;
  carom_flow_field f = {.width = width, .height = height, .allocator = a};
  if (CAROM_NEW_ALL(&a, CAROM_ROOM(f.u, count), CAROM_ROOM(f.v, count))) return *field = f, CAROM_OK;
  carom_flow_field_release(&f);
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a flow of %d x %d pixels", width, height);
}

void carom_flow_field_release(carom_flow_field *field) {
  if (field->u) carom_release(&field->allocator, field->u);
  if (field->v) carom_release(&field->allocator, field->v);
  *field = (carom_flow_field){0};
}

static size_t pixels_of(const carom_flow_field *f) { return (size_t)f->width * (size_t)f->height; }

static bool is_known(const carom_flow_field *f, size_t i) { return isfinite(f->u[i]) && isfinite(f->v[i]); }

// ---- .flo -----------------------------------------------------------------------------------------------------------

enum { HEAD = 12 };  // "PIEH" (202021.25 in single precision), width, height; all little-endian

static uint32_t get_word(const unsigned char *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put_word(unsigned char *at, uint32_t word) {
  for (int k = 0; k < 4; k++) at[k] = (unsigned char)(word >> 8 * k);
}

static double get_component(const unsigned char *at) {
  uint32_t word = get_word(at);
  float value;
  memcpy(&value, &word, sizeof value);
  return fabsf(value) <= (float)unknown_beyond ? (double)value : (double)NAN;
}

static void put_component(unsigned char *at, double component) {
  float value = isfinite(component) ? (float)component : 1e10f;
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  put_word(at, word);
}

carom_status carom_flow_field_parse(const carom_bytes *file, const carom_allocator *allocator, carom_flow_field *field,
                                    carom_error *error) {
  const unsigned char *at = file->data;
  *field = (carom_flow_field){0};
  if (file->size < HEAD || memcmp(at, "PIEH", 4) != 0)
    return carom_fail(error, CAROM_ERR_FORMAT, "%s: no .flo file, which begins with PIEH and its width and height",
                      file->name);
  int64_t width = (int32_t)get_word(at + 4), height = (int32_t)get_word(at + 8);
  carom_status status = carom_image_check_size(file->name, width, height, error);
  if (status != CAROM_OK) return status;
  int64_t size = HEAD + 8 * width * height;
  if ((int64_t)file->size != size)
    return carom_fail(error, CAROM_ERR_FORMAT, "%s: %lld x %lld motions take %lld bytes, but the file has %lld",
                      file->name, (long long)width, (long long)height, (long long)size, (long long)file->size);
  status = carom_flow_field_init((int)width, (int)height, allocator, field, error);
  if (status != CAROM_OK) return status;
  at += HEAD;
  for (size_t i = 0; i < pixels_of(field); i++, at += 8) {
    field->u[i] = get_component(at), field->v[i] = get_component(at + 4);
    if (!is_known(field, i)) field->u[i] = field->v[i] = NAN;
  }
  return CAROM_OK;
}

carom_status carom_flow_field_read(const char *path, const carom_allocator *allocator, carom_flow_field *field,
                                   carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_error why;
  size_t size;
  *field = (carom_flow_field){0};
  char *data = carom_read_file(path, HEAD + (int64_t)8 * CAROM_IMAGE_PIXELS, &a, &size, &why);
  if (!data) return carom_fail(error, why.status, "cannot read flow '%s': %s", path, why.message);
  carom_status status = carom_flow_field_parse(&(carom_bytes){path, data, size}, &a, field, error);
  carom_release(&a, data);
  return status;
}

carom_status carom_flow_field_write(const carom_flow_field *field, const char *path, carom_error *error) {
  carom_allocator a = carom_flow_allocator(&field->allocator);
  size_t count = pixels_of(field), size = HEAD + 8 * count;
  unsigned char *data = carom_allocate(&a, size, 1);
  if (!data) return carom_fail(error, CAROM_ERR_MEMORY, "cannot write '%s': out of memory", path);
  memcpy(data, "PIEH", 4);
  put_word(data + 4, (uint32_t)field->width), put_word(data + 8, (uint32_t)field->height);
  for (size_t i = 0; i < count; i++) {
    put_component(data + HEAD + 8 * i, is_known(field, i) ? field->u[i] : (double)NAN);
    put_component(data + HEAD + 8 * i + 4, is_known(field, i) ? field->v[i] : (double)NAN);
  }
  carom_status status = carom_write_file(&(carom_bytes){path, data, size}, error);
  carom_release(&a, data);
  return status;
}

// ---- comparison -----------------------------------------------------------------------------------------------------

// Between (u, v, 1) and (u', v', 1); by atan2, which keeps small angles.
static double angle_between(double u, double v, double u1, double v1) {
  double x = v - v1, y = u1 - u, z = u * v1 - v * u1;
  return atan2(sqrt(x * x + y * y + z * z), u * u1 + v * v1 + 1) * 180 / 3.14159265358979323846;
}

carom_status carom_flow_compare(const carom_flow_field *field, const carom_flow_field *truth,
                                carom_flow_error *distance, carom_error *error) {
  carom_sum end_point = {0, 0}, angular = {0, 0};
  *distance = (carom_flow_error){0};
  if (field->width != truth->width || field->height != truth->height)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the flow has %d x %d pixels, and the one it is compared with %d x %d",
                      field->width, field->height, truth->width, truth->height);
  for (size_t i = 0; i < pixels_of(field); i++) {
    if (!is_known(field, i) || !is_known(truth, i)) continue;
    double away = hypot(field->u[i] - truth->u[i], field->v[i] - truth->v[i]);
    distance->pixels++;
    distance->end_point_most = fmax(distance->end_point_most, away);
    carom_sum_add(&end_point, away);
    carom_sum_add(&angular, angle_between(field->u[i], field->v[i], truth->u[i], truth->v[i]));
  }
  if (distance->pixels == 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "no pixel's motion is known in both flows that are compared");
  distance->end_point = carom_sum_value(&end_point) / (double)distance->pixels;
  distance->angular = carom_sum_value(&angular) / (double)distance->pixels;
  return CAROM_OK;
}

// ---- pictures -------------------------------------------------------------------------------------------------------

double carom_flow_field_longest(const carom_flow_field *field) {
  double longest = 0;
  for (size_t i = 0; i < pixels_of(field); i++)
    if (is_known(field, i)) longest = fmax(longest, hypot(field->u[i], field->v[i]));
  return longest;
}

// The wheel: six arcs from hue to hue, as long as the eye tells hues apart there (Baker et al. 2011).
static void hue_of(double turn, double rgb[3]) {
  static const double hues[7][3] = {{1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 1}, {1, 0, 1}, {1, 0, 0}};
  static const double arcs[6] = {15, 6, 4, 11, 13, 6};
  double at = turn * 55;
  int k = 0;
  while (k < 5 && at > arcs[k]) at -= arcs[k++];
  double t = fmin(at / arcs[k], 1);
  for (int c = 0; c < 3; c++) rgb[c] = (1 - t) * hues[k][c] + t * hues[k + 1][c];
}

void carom_flow_color(double u, double v, double longest, unsigned char rgb[3]) {
  double hue[3], length = longest > 0 ? hypot(u, v) / longest : 0;
  memset(rgb, 0, 3);
  if (!isfinite(u) || !isfinite(v)) return;
  double turn = atan2(-v, -u) / (2 * 3.14159265358979323846) + 0.5;
  hue_of(turn, hue);
  for (int c = 0; c < 3; c++) {
    double light = length <= 1 + 1e-9 ? 1 - length * (1 - hue[c]) : 0.75 * hue[c];
    rgb[c] = (unsigned char)lround(255 * fmin(fmax(light, 0), 1));
  }
}

carom_status carom_flow_field_draw(const carom_flow_field *field, double longest, const char *path,
                                   carom_error *error) {
  carom_png_rows rows = {field->width, field->height, true, NULL, carom_flow_allocator(&field->allocator)};
  size_t count = pixels_of(field);
  unsigned char *bytes = carom_allocate(&rows.allocator, count, 3);
  if (!bytes) return carom_fail(error, CAROM_ERR_MEMORY, "cannot write '%s': out of memory", path);
  double full = longest > 0 ? longest : carom_flow_field_longest(field);
  for (size_t i = 0; i < count; i++) carom_flow_color(field->u[i], field->v[i], full, bytes + 3 * i);
  rows.bytes = bytes;
  carom_status status = carom_png_write(&rows, path, error);
  carom_release(&rows.allocator, bytes);
  return status;
}
