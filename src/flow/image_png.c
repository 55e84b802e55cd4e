// The one door to libpng. It jumps out of its calls when something is wrong (setjmp), so that what has to be given back
// lives outside of the functions that it leaves.
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "base/memory.h"
#include "flow/image.h"

typedef struct session {
  carom_allocator allocator;
  const unsigned char *data;  // read
  size_t size, at;
  unsigned char *out;  // written
  size_t capacity;
  png_structp png;
  png_infop info;
  unsigned char *pixels;
  carom_image image;
  bool no_room;
  char why[200];
} session;

static png_voidp give(png_structp png, png_alloc_size_t size) {
  session *s = png_get_mem_ptr(png);
  void *block = s->allocator.allocate(s->allocator.context, size);
  if (!block) s->no_room = true;
  return block;
}

static void take_back(png_structp png, png_voidp block) {
  session *s = png_get_mem_ptr(png);
  if (block) s->allocator.release(s->allocator.context, block);
}

static void fail_here(png_structp png, png_const_charp text) {
  session *s = png_get_error_ptr(png);
  snprintf(s->why, sizeof s->why, "%s", text);
  png_longjmp(png, 1);
}

static void pass_over(png_structp png, png_const_charp text) { (void)png, (void)text; }

static void close_session(session *s, bool writing) {
  if (writing)
    png_destroy_write_struct(&s->png, &s->info);
  else
    png_destroy_read_struct(&s->png, &s->info, NULL);
  if (s->pixels) carom_release(&s->allocator, s->pixels);
  s->pixels = NULL;
}

// ---- reading --------------------------------------------------------------------------------------------------------

static void read_bytes(png_structp png, png_bytep to, size_t count) {
  session *s = png_get_io_ptr(png);
  if (s->size - s->at < count) png_error(png, "truncated");
  memcpy(to, s->data + s->at, count);
  s->at += count;
}

// Everything becomes 16-bit red, green, blue and opacity, or grey and opacity.
static void ask_for_samples(session *s) {
  png_set_expand_16(s->png);
  png_set_tRNS_to_alpha(s->png);
  png_set_add_alpha(s->png, 0xffff, PNG_FILLER_AFTER);
  png_set_interlace_handling(s->png);
  png_read_update_info(s->png, s->info);
}

static double sample(const unsigned char *at) { return (256 * at[0] + at[1]) / 65535.0; }

static void take_grey(session *s, int channels) {
  const unsigned char *at = s->pixels;
  int64_t count = (int64_t)s->image.width * s->image.height;
  for (int64_t i = 0; i < count; i++, at += 2 * channels) {
    double grey = channels == 2 ? sample(at) : carom_grey(sample(at), sample(at + 2), sample(at + 4));
    s->image.grey[i] = grey * sample(at + 2 * (channels - 1));
  }
}

static carom_status read_pixels(session *s, const carom_bytes *file, carom_error *error) {
  int width = (int)png_get_image_width(s->png, s->info), height = (int)png_get_image_height(s->png, s->info);
  carom_status status = carom_image_check_size(file->name, width, height, error);
  if (status == CAROM_OK) status = carom_image_init(width, height, &s->allocator, &s->image, error);
  if (status != CAROM_OK) return status;
  ask_for_samples(s);
  size_t stride = png_get_rowbytes(s->png, s->info);
  int channels = png_get_channels(s->png, s->info), passes = png_set_interlace_handling(s->png);
  if (stride != 2 * (size_t)channels * (size_t)width || (channels != 2 && channels != 4))
    png_error(s->png, "samples of an unknown kind");
  s->pixels = carom_allocate(&s->allocator, (size_t)height, stride);
  if (!s->pixels) return carom_fail(error, CAROM_ERR_MEMORY, "%s: out of memory for its pixels", file->name);
  for (int pass = 0; pass < passes; pass++)
    for (int j = 0; j < height; j++) png_read_row(s->png, s->pixels + (size_t)j * stride, NULL);
  png_read_end(s->png, NULL);
  take_grey(s, channels);
  return CAROM_OK;
}

static carom_status read_session(session *s, const carom_bytes *file, carom_error *error) {
  if (setjmp(png_jmpbuf(s->png)))
    return s->no_room ? carom_fail(error, CAROM_ERR_MEMORY, "%s: out of memory for its pixels", file->name)
                      : carom_fail(error, CAROM_ERR_FORMAT, "%s: damaged PNG: %s", file->name, s->why);
  png_set_user_limits(s->png, CAROM_IMAGE_SIDE, CAROM_IMAGE_SIDE);
  png_set_chunk_cache_max(s->png, 100);
  png_set_chunk_malloc_max(s->png, 1 << 20);
  png_set_read_fn(s->png, s, read_bytes);
  png_read_info(s->png, s->info);
  return read_pixels(s, file, error);
}

// libpng has its own words for sizes beyond the limits, and looks at them after checksums.
static carom_status check_declared_size(const carom_bytes *file, carom_error *error) {
  const unsigned char *d = file->data;
  if (file->size < 33) return carom_fail(error, CAROM_ERR_FORMAT, "%s: damaged PNG: truncated", file->name);
  return carom_image_check_size(file->name, png_get_uint_32(d + 16), png_get_uint_32(d + 20), error);
}

carom_status carom_image_parse_png(const carom_bytes *file, const carom_allocator *allocator, carom_image *image,
                                   carom_error *error) {
  session s = {.allocator = carom_allocator_or_default(allocator), .data = file->data, .size = file->size};
  carom_status status = check_declared_size(file, error);
  if (status != CAROM_OK) return status;
  s.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &s, fail_here, pass_over, &s, give, take_back);
  s.info = s.png ? png_create_info_struct(s.png) : NULL;
  status = s.info ? read_session(&s, file, error)
                  : carom_fail(error, CAROM_ERR_MEMORY, "%s: out of memory for its pixels", file->name);
  close_session(&s, false);
  if (status == CAROM_OK)
    *image = s.image;
  else
    carom_image_release(&s.image);
  return status;
}

// ---- writing --------------------------------------------------------------------------------------------------------

static void write_bytes(png_structp png, png_bytep from, size_t count) {
  session *s = png_get_io_ptr(png);
  while (s->capacity - s->at < count) {
    size_t wider = 2 * s->capacity + 65536;
    unsigned char *moved = s->out ? s->allocator.resize(s->allocator.context, s->out, wider)
                                  : s->allocator.allocate(s->allocator.context, wider);
    s->no_room = !moved;
    if (!moved) png_error(png, "out of memory");
    s->out = moved, s->capacity = wider;
  }
  memcpy(s->out + s->at, from, count);
  s->at += count;
}

static void flush_nothing(png_structp png) { (void)png; }

static carom_status write_session(session *s, const carom_png_rows *rows, const char *path, carom_error *error) {
  if (setjmp(png_jmpbuf(s->png)))
    return carom_fail(error, s->no_room ? CAROM_ERR_MEMORY : CAROM_ERR_IO, "cannot write '%s': %s", path,
                      s->no_room ? "out of memory" : s->why);
  size_t stride = (size_t)rows->width * (rows->color ? 3 : 2);
  png_set_write_fn(s->png, s, write_bytes, flush_nothing);
  png_set_IHDR(s->png, s->info, (png_uint_32)rows->width, (png_uint_32)rows->height, rows->color ? 8 : 16,
               rows->color ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_text mark = {.compression = PNG_TEXT_COMPRESSION_NONE, .key = "Software", .text = "carom"};
  png_set_text(s->png, s->info, &mark, 1);
  png_write_info(s->png, s->info);
  for (int j = 0; j < rows->height; j++) png_write_row(s->png, rows->bytes + (size_t)j * stride);
  png_write_end(s->png, NULL);
  return CAROM_OK;
}

carom_status carom_png_write(const carom_png_rows *rows, const char *path, carom_error *error) {
  session s = {.allocator = rows->allocator};
  s.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &s, fail_here, pass_over, &s, give, take_back);
  s.info = s.png ? png_create_info_struct(s.png) : NULL;
  carom_status status = s.info ? write_session(&s, rows, path, error)
                               : carom_fail(error, CAROM_ERR_MEMORY, "cannot write '%s': out of memory", path);
  if (status == CAROM_OK) status = carom_write_file(&(carom_bytes){path, s.out, s.at}, error);
  close_session(&s, true);
  if (s.out) carom_release(&s.allocator, s.out);
  return status;
}

carom_status carom_image_write(const carom_image *image, const char *path, carom_error *error) {
  carom_png_rows rows = {image->width, image->height, false, NULL, carom_flow_allocator(&image->allocator)};
  size_t count = (size_t)image->width * (size_t)image->height;
  unsigned char *bytes = carom_allocate(&rows.allocator, count, 2);
  if (!bytes) return carom_fail(error, CAROM_ERR_MEMORY, "cannot write '%s': out of memory", path);
  for (size_t i = 0; i < count; i++) {
    int value = (int)lround(65535 * fmin(fmax(image->grey[i], 0), 1));
    bytes[2 * i] = (unsigned char)(value >> 8), bytes[2 * i + 1] = (unsigned char)(value & 255);
  }
  rows.bytes = bytes;
  carom_status status = carom_png_write(&rows, path, error);
  carom_release(&rows.allocator, bytes);
  return status;
}
