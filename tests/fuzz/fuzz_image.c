// Images and flows from anywhere: what is read must be whole, and flow between an image and itself rests.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "carom/flow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_flow(const carom_image *image) {
  carom_flow_options o = carom_flow_default_options();
  carom_flow_field field;
  carom_flow_info info;
  o.threads = 1;
  if (image->width < 2 || image->height < 2 || image->width * image->height > 100) return;
  if (carom_flow_estimate(&(carom_flow_pair){image, image}, &o, NULL, &field, &info, NULL) != CAROM_OK) abort();
  if (!(carom_flow_field_longest(&field) < 1e-6) || !(info.l1.gap <= 1e-8)) abort();
  carom_flow_field_release(&field);
}

static void use_image(const carom_bytes *file) {
  carom_image image;
  if (carom_image_parse(file, NULL, &image, NULL) != CAROM_OK) {
    if (image.grey) abort();
    return;
  }
  for (int64_t i = 0; i < (int64_t)image.width * image.height; i++)
    if (!(image.grey[i] >= 0 && image.grey[i] <= 1 + 1e-12)) abort();
  use_flow(&image);
  carom_image_release(&image);
}

static void use_field(const carom_bytes *file) {
  carom_flow_field field;
  carom_flow_error distance;
  if (carom_flow_field_parse(file, NULL, &field, NULL) != CAROM_OK) return;
  if (carom_flow_compare(&field, &field, &distance, NULL) == CAROM_OK && !(distance.end_point == 0)) abort();
  carom_flow_field_release(&field);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const carom_bytes file = {"fuzz", data, size};
  use_image(&file);
  use_field(&file);
  return 0;
}
