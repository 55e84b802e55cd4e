// What readers and writers of images share.
#ifndef CAROM_SRC_FLOW_IMAGE_H
#define CAROM_SRC_FLOW_IMAGE_H

#include "carom/flow.h"

// Brightness by ITU-R BT.601.
static inline double carom_grey(double red, double green, double blue) {
  return 0.299 * red + 0.587 * green + 0.114 * blue;
}

// Of an image or a field, which may be the caller's own with none.
static inline carom_allocator carom_flow_allocator(const carom_allocator *of) {
  return of->allocate ? *of : carom_allocator_default();
}

carom_status carom_image_check_size(const char *name, int64_t width, int64_t height, carom_error *error);
carom_status carom_image_parse_png(const carom_bytes *file, const carom_allocator *allocator, carom_image *image,
                                   carom_error *error);

// Rows of samples as PNG files have them: 16-bit grey (big-endian) or 8-bit red, green, blue.
typedef struct carom_png_rows {
  int width, height;
  bool color;
  const unsigned char *bytes;
  carom_allocator allocator;
} carom_png_rows;
carom_status carom_png_write(const carom_png_rows *rows, const char *path, carom_error *error);

#endif
