// Grey images, and the portable any-maps: P2, P3 (decimal), P5, P6 (binary, 8 or 16 bits).
#include <string.h>

#include "base/memory.h"
#include "base/read_file.h"
#include "flow/image.h"

carom_status carom_image_check_size(const char *name, int64_t width, int64_t height, carom_error *error) {
  if (width < 1 || height < 1)
    return carom_fail(error, CAROM_ERR_FORMAT, "%s: an image of %lld x %lld pixels is none", name, (long long)width,
                      (long long)height);
  if (width <= CAROM_IMAGE_SIDE && height <= CAROM_IMAGE_SIDE && width * height <= CAROM_IMAGE_PIXELS) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_LIMIT, "%s: %lld x %lld pixels are too many (at most %d a side and %d in all)",
                    name, (long long)width, (long long)height, CAROM_IMAGE_SIDE, CAROM_IMAGE_PIXELS);
}

carom_status carom_image_init(int width, int height, const carom_allocator *allocator, carom_image *image,
                              carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *image = (carom_image){0};
  carom_status status = carom_image_check_size("image", width, height, error);
  if (status != CAROM_OK) return status;
  double *grey = CAROM_NEW(&a, double, (size_t)width *(size_t)height);
  if (!grey) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for an image of %d x %d pixels", width, height);
  *image = (carom_image){width, height, grey, a};
  return CAROM_OK;
}

void carom_image_release(carom_image *image) {
  if (image->grey) carom_release(&image->allocator, image->grey);
  *image = (carom_image){0};
}

// ---- any-maps -------------------------------------------------------------------------------------------------------

typedef struct reader {
  const char *name;
  const unsigned char *at, *end;
  carom_error *error;
} reader;

static bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void skip_space(reader *r) {
  for (; r->at < r->end; r->at++) {
    if (*r->at == '#')
      while (r->at < r->end && *r->at != '\n') r->at++;
    else if (!is_space(*r->at))
      return;
    if (r->at == r->end) return;
  }
}

// -1 where there is none.
static int64_t read_number(reader *r) {
  int64_t value = -1;
  skip_space(r);
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
    value = (value < 0 ? 0 : value) * 10 + (*r->at - '0');
    if (value > INT32_MAX) return -1;
  }
  return value;
}

typedef struct anymap {
  bool binary;
  int channels, bytes;  // of a pixel, of a sample
  int64_t width, height, most;
} anymap;

static carom_status read_head(reader *r, anymap *map) {
  int kind = r->at[1] - '0';
  r->at += 2;
  map->binary = kind >= 5;
  map->channels = kind == 3 || kind == 6 ? 3 : 1;
  map->width = read_number(r), map->height = read_number(r), map->most = read_number(r);
  if (map->width < 0 || map->height < 0 || map->most < 0)
    return carom_fail(r->error, CAROM_ERR_FORMAT, "%s: width, height and largest value must follow P%d as numbers",
                      r->name, kind);
  if (map->most < 1 || map->most > 65535)
    return carom_fail(r->error, CAROM_ERR_FORMAT, "%s: the largest value is %lld; it must be 1 to 65535", r->name,
                      (long long)map->most);
  map->bytes = map->most > 255 ? 2 : 1;
  return carom_image_check_size(r->name, map->width, map->height, r->error);
}

// Binary samples begin after a single space.
static carom_status check_length(reader *r, const anymap *map) {
  int64_t samples = map->width * map->height * map->channels, least = samples * map->bytes;
  if (map->binary && r->at < r->end) r->at++;
  if (!map->binary) least = 2 * samples - 1;
  if (r->end - r->at >= least) return CAROM_OK;
  return carom_fail(r->error, CAROM_ERR_FORMAT,
                    "%s: truncated: %lld x %lld pixels take %lld bytes or more after the head, and there are %lld",
                    r->name, (long long)map->width, (long long)map->height, (long long)least,
                    (long long)(r->end - r->at));
}

static int64_t read_sample(reader *r, const anymap *map) {
  if (!map->binary) return read_number(r);
  int64_t value = *r->at++;
  return map->bytes == 2 ? 256 * value + *r->at++ : value;
}

static carom_status read_pixels(reader *r, const anymap *map, double *grey) {
  for (int64_t i = 0; i < map->width * map->height; i++) {
    double sample[3] = {0};
    for (int k = 0; k < map->channels; k++) {
      int64_t value = read_sample(r, map);
      if (value < 0 || value > map->most)
        return carom_fail(r->error, CAROM_ERR_FORMAT, "%s: pixel %lld of row %lld is no number from 0 to %lld", r->name,
                          (long long)(i % map->width), (long long)(i / map->width), (long long)map->most);
      sample[k] = (double)value / (double)map->most;
    }
    grey[i] = map->channels == 3 ? carom_grey(sample[0], sample[1], sample[2]) : sample[0];
  }
  return CAROM_OK;
}

static carom_status parse_anymap(const carom_bytes *file, const carom_allocator *allocator, carom_image *image,
                                 carom_error *error) {
  const unsigned char *data = file->data;
  reader r = {file->name, data, data + file->size, error};
  anymap map = {0};
  carom_status status = read_head(&r, &map);
  if (status == CAROM_OK) status = check_length(&r, &map);
  if (status == CAROM_OK) status = carom_image_init((int)map.width, (int)map.height, allocator, image, error);
  if (status == CAROM_OK) status = read_pixels(&r, &map, image->grey);
  if (status != CAROM_OK) carom_image_release(image);
  return status;
}

// ---- any file -------------------------------------------------------------------------------------------------------

carom_status carom_image_parse(const carom_bytes *file, const carom_allocator *allocator, carom_image *image,
                               carom_error *error) {
  const unsigned char *data = file->data;
  *image = (carom_image){0};
  if (file->size >= 8 && memcmp(data, "\x89PNG\r\n\x1a\n", 8) == 0)
    return carom_image_parse_png(file, allocator, image, error);
  if (file->size >= 3 && data[0] == 'P' && strchr("2356", data[1]) && data[1] && (is_space(data[2]) || data[2] == '#'))
    return parse_anymap(file, allocator, image, error);
  return carom_fail(error, CAROM_ERR_FORMAT, "%s: neither PNG nor PGM or PPM; convert it to one of these", file->name);
}

carom_status carom_image_read(const char *path, const carom_allocator *allocator, carom_image *image,
                              carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_error why;
  size_t size;
  *image = (carom_image){0};
  char *data = carom_read_file(path, (int64_t)16 * CAROM_IMAGE_PIXELS, &a, &size, &why);
  if (!data) return carom_fail(error, why.status, "cannot read image '%s': %s", path, why.message);
  carom_status status = carom_image_parse(&(carom_bytes){path, data, size}, &a, image, error);
  carom_release(&a, data);
  return status;
}
