// Files of images and flows: all kinds that are read, what is written, and what is wrong with others.
#include <unistd.h>

#include "failing_allocator.h"
#include "flow_images.h"

static carom_status parse(const char *name, const void *data, size_t size, carom_image *image, carom_error *error) {
  return carom_image_parse(&(carom_bytes){name, data, size}, NULL, image, error);
}

static void check_image(const char *text, size_t size, int width, int height, const double *grey) {
  carom_image image;
  carom_error error = {0};
  if (parse("x", text, size, &image, &error) != CAROM_OK) {
    test_fail(__FILE__, __LINE__, "%s", error.message);
    return;
  }
  CHECK(image.width == width && image.height == height);
  for (int i = 0; i < width * height; i++) CHECK_NEAR(image.grey[i], grey[i], 1e-15);
  carom_image_release(&image);
}
#define CHECK_IMAGE(text, width, height, ...) \
  check_image(text, sizeof(text) - 1, width, height, (const double[]){__VA_ARGS__})

TEST(portable_maps_of_every_kind_are_read) {
  CHECK_IMAGE("P2\n3 2\n4\n0 1 2\n3 4 0\n", 3, 2, 0, 0.25, 0.5, 0.75, 1, 0);
  CHECK_IMAGE("P2 # a comment\n#another\n2 1 # here\n65535\n65535 0", 2, 1, 1, 0);
  CHECK_IMAGE("P5\n2 2\n255\n\0\377\063\146", 2, 2, 0, 1, 0.2, 0.4);
  CHECK_IMAGE("P5 2 1 65535\n\377\377\063\063", 2, 1, 1, 0.2);
  CHECK_IMAGE("P3 1 2 10 10 0 0 0 10 0", 1, 2, 0.299, 0.587);
  CHECK_IMAGE("P6 2 1 255 \0\0\377\377\377\377", 2, 1, 0.114, 1);
  CHECK_IMAGE("P5\t1\r\n1 100\n2 and what comes behind is passed over", 1, 1, 0.5);
}

static void check_refused(const char *data, size_t size, carom_status status, const char *message) {
  carom_image image;
  carom_error error = {0};
  CHECK(parse("x", data, size, &image, &error) == status);
  CHECK_TEXT(error.message, message);
  CHECK(!image.grey);
}
#define CHECK_REFUSED(text, status, message) check_refused(text, sizeof(text) - 1, status, message)

TEST(portable_maps_that_are_none_are_refused) {
  CHECK_REFUSED("", CAROM_ERR_FORMAT, "x: neither PNG nor PGM or PPM; convert it to one of these");
  CHECK_REFUSED("P1 2 2 0 1 0 1", CAROM_ERR_FORMAT, "x: neither PNG nor PGM or PPM; convert it to one of these");
  CHECK_REFUSED("P2 3 x", CAROM_ERR_FORMAT, "x: width, height and largest value must follow P2 as numbers");
  CHECK_REFUSED("P5 3 3", CAROM_ERR_FORMAT, "x: width, height and largest value must follow P5 as numbers");
  CHECK_REFUSED("P5 0 3 255\n", CAROM_ERR_FORMAT, "x: an image of 0 x 3 pixels is none");
  CHECK_REFUSED("P5 2 2 0\n1234", CAROM_ERR_FORMAT, "x: the largest value is 0; it must be 1 to 65535");
  CHECK_REFUSED("P5 2 2 70000\n1234", CAROM_ERR_FORMAT, "x: the largest value is 70000; it must be 1 to 65535");
  CHECK_REFUSED("P5 2 2 255\n123", CAROM_ERR_FORMAT,
                "x: truncated: 2 x 2 pixels take 4 bytes or more after the head, and there are 3");
  CHECK_REFUSED("P2 2 2 9\n1 2 3", CAROM_ERR_FORMAT,
                "x: truncated: 2 x 2 pixels take 7 bytes or more after the head, and there are 6");
  CHECK_REFUSED("P2 2 2 9\n1 2 3 10", CAROM_ERR_FORMAT, "x: pixel 1 of row 1 is no number from 0 to 9");
  CHECK_REFUSED("P2 2 2 9\n1 2 -3 4", CAROM_ERR_FORMAT, "x: pixel 0 of row 1 is no number from 0 to 9");
  CHECK_REFUSED("P5 100000 2 255\n", CAROM_ERR_LIMIT,
                "x: 100000 x 2 pixels are too many (at most 16384 a side and 16777216 in all)");
  CHECK_REFUSED("P5 16000 16000 255\n", CAROM_ERR_LIMIT,
                "x: 16000 x 16000 pixels are too many (at most 16384 a side and 16777216 in all)");
  CHECK_REFUSED("P5 99999999999999999999 2 255\n", CAROM_ERR_FORMAT,
                "x: width, height and largest value must follow P5 as numbers");
}

// ---- PNG ------------------------------------------------------------------------------------------------------------

static char *slurp(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *data = calloc(1, 1 << 20);
  *size = file && data ? fread(data, 1, 1 << 20, file) : 0;
  if (file) fclose(file);
  return data;
}

TEST(what_is_written_is_read_again) {
  pair p = pair_make(37, 23, shifted, 2);
  carom_image again;
  REQUIRE(carom_image_write(&p.A, "a.png", NULL) == CAROM_OK);
  REQUIRE(carom_image_read("a.png", NULL, &again, NULL) == CAROM_OK);
  CHECK(again.width == 37 && again.height == 23);
  for (int i = 0; i < 37 * 23; i++) CHECK_NEAR(again.grey[i], fmin(fmax(p.A.grey[i], 0), 1), 0.51 / 65535);
  carom_image_release(&again);
  pair_release(&p);
}

// Kinds that libpng alone would not write for us are in examples, made once by other programs: see tests/python.
TEST(png_that_is_damaged_is_refused) {
  pair p = pair_make(40, 30, shifted, 2);
  size_t size;
  carom_image image;
  carom_error error = {0};
  REQUIRE(carom_image_write(&p.A, "a.png", NULL) == CAROM_OK);
  char *data = slurp("a.png", &size);
  REQUIRE(size > 200);
  for (size_t cut = 8; cut < size; cut += 7) {
    CHECK(parse("x", data, cut, &image, &error) == CAROM_ERR_FORMAT && !image.grey);
    CHECK_CONTAINS(error.message, "x: damaged PNG: ");
  }
  int told = 0;
  for (size_t at = 16; at < size; at += 3) {
    data[at] ^= 0x55;
    carom_status status = parse("x", data, size, &image, &error);
    CHECK(status == CAROM_OK || status == CAROM_ERR_FORMAT || status == CAROM_ERR_LIMIT);
    told += status != CAROM_OK;
    carom_image_release(&image);
    data[at] ^= 0x55;
  }
  CHECK(told > 50);
  memcpy(data + 16, "\0\1\0\0\0\1\0\0", 8);  // 65536 x 65536
  CHECK(parse("x", data, size, &image, &error) == CAROM_ERR_LIMIT);
  CHECK_TEXT(error.message, "x: 65536 x 65536 pixels are too many (at most 16384 a side and 16777216 in all)");
  free(data);
  pair_release(&p);
}

TEST(refused_requests_of_memory_are_told) {
  pair p = pair_make(20, 20, shifted, 2);
  size_t size;
  REQUIRE(carom_image_write(&p.A, "a.png", NULL) == CAROM_OK);
  char *data = slurp("a.png", &size);
  for (int allowed = 0;; allowed++) {
    failing_allocator failing = {.allowed = allowed};
    carom_allocator allocator = failing_allocator_of(&failing);
    carom_image image;
    carom_error error = {0};
    carom_status status = carom_image_parse(&(carom_bytes){"x", data, size}, &allocator, &image, &error);
    carom_image_release(&image);
    CHECK(failing.live == 0);
    if (status == CAROM_OK) break;
    CHECK(status == CAROM_ERR_MEMORY);
    CHECK_CONTAINS(error.message, "out of memory");
    REQUIRE(allowed < 200);
  }
  free(data);
  pair_release(&p);
}

TEST(files_that_are_not_there_are_told) {
  carom_image image;
  carom_flow_field field;
  carom_error error = {0};
  CHECK(carom_image_read("nowhere.png", NULL, &image, &error) == CAROM_ERR_IO);
  CHECK_TEXT(error.message, "cannot read image 'nowhere.png': No such file or directory");
  CHECK(carom_flow_field_read("nowhere.flo", NULL, &field, &error) == CAROM_ERR_IO);
  CHECK_TEXT(error.message, "cannot read flow 'nowhere.flo': No such file or directory");
}

// ---- .flo -----------------------------------------------------------------------------------------------------------

TEST(flows_are_written_as_middlebury_has_them) {
  static const unsigned char expected[] = {'P',  'I',  'E',  'H',  2,    0,    0,    0,    1, 0, 0, 0,  // 2 x 1
                                           0,    0,    0xc0, 0x3f, 0,    0,    0,    0xc0,              // 1.5, -2
                                           0xf9, 0x02, 0x15, 0x50, 0xf9, 0x02, 0x15, 0x50};             // 1e10: unknown
  carom_flow_field field, again;
  REQUIRE(carom_flow_field_init(2, 1, NULL, &field, NULL) == CAROM_OK);
  field.u[0] = 1.5, field.v[0] = -2, field.u[1] = 1, field.v[1] = NAN;
  REQUIRE(carom_flow_field_write(&field, "two.flo", NULL) == CAROM_OK);
  size_t size;
  char *data = slurp("two.flo", &size);
  CHECK(size == sizeof expected && memcmp(data, expected, size) == 0);
  REQUIRE(carom_flow_field_read("two.flo", NULL, &again, NULL) == CAROM_OK);
  CHECK(again.u[0] == 1.5 && again.v[0] == -2 && isnan(again.u[1]) && isnan(again.v[1]));
  carom_flow_field_release(&field), carom_flow_field_release(&again);
  free(data);
}

static void check_flow_refused(const char *data, size_t size, carom_status status, const char *message) {
  carom_flow_field field;
  carom_error error = {0};
  CHECK(carom_flow_field_parse(&(carom_bytes){"x", data, size}, NULL, &field, &error) == status);
  CHECK_TEXT(error.message, message);
}

TEST(flows_that_are_none_are_refused) {
  check_flow_refused("PIEH", 4, CAROM_ERR_FORMAT, "x: no .flo file, which begins with PIEH and its width and height");
  check_flow_refused("HEIP\1\0\0\0\1\0\0\0", 12, CAROM_ERR_FORMAT,
                     "x: no .flo file, which begins with PIEH and its width and height");
  check_flow_refused("PIEH\1\0\0\0\1\0\0\0", 12, CAROM_ERR_FORMAT,
                     "x: 1 x 1 motions take 20 bytes, but the file has 12");
  check_flow_refused("PIEH\377\377\377\377\1\0\0\0", 12, CAROM_ERR_FORMAT, "x: an image of -1 x 1 pixels is none");
  check_flow_refused("PIEH\0\0\0\1\1\0\0\0", 12, CAROM_ERR_LIMIT,
                     "x: 16777216 x 1 pixels are too many (at most 16384 a side and 16777216 in all)");
}

// ---- distances and colours ------------------------------------------------------------------------------------------

TEST(distances_are_those_of_barron_and_baker) {
  carom_flow_field a, b;
  carom_flow_error e;
  carom_error error = {0};
  REQUIRE(carom_flow_field_init(3, 1, NULL, &a, NULL) == CAROM_OK);
  REQUIRE(carom_flow_field_init(3, 1, NULL, &b, NULL) == CAROM_OK);
  a.u[0] = 3, a.v[1] = 1, b.u[2] = NAN;
  b.v[0] = 4;
  REQUIRE(carom_flow_compare(&a, &b, &e, NULL) == CAROM_OK);
  double first = acos(1 / sqrt(10.0 * 17.0)), second = acos(1 / sqrt(2.0));
  CHECK(e.pixels == 2);
  CHECK_NEAR(e.end_point, 3, 1e-14);
  CHECK_NEAR(e.end_point_most, 5, 1e-14);
  CHECK_NEAR(e.angular, (first + second) / 2 * 180 / acos(-1), 1e-12);
  b.u[0] = b.u[1] = NAN;
  CHECK(carom_flow_compare(&a, &b, &e, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "no pixel's motion is known in both flows that are compared");
  carom_flow_field_release(&b);
  REQUIRE(carom_flow_field_init(1, 3, NULL, &b, NULL) == CAROM_OK);
  CHECK(carom_flow_compare(&a, &b, &e, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "the flow has 3 x 1 pixels, and the one it is compared with 1 x 3");
  carom_flow_field_release(&a), carom_flow_field_release(&b);
}

// White at rest, red to the right, and no jump between neighbours all around.
TEST(colours_go_round) {
  unsigned char c[3], before[3];
  carom_flow_color(0, 0, 1, c);
  CHECK(c[0] == 255 && c[1] == 255 && c[2] == 255);
  carom_flow_color(1, 0, 1, c);
  CHECK(c[0] == 255 && c[1] <= 1 && c[2] <= 1);
  carom_flow_color(NAN, 0, 1, c);
  CHECK(c[0] == 0 && c[1] == 0 && c[2] == 0);
  for (int k = 0; k <= 1000; k++) {
    double turn = 2 * acos(-1) * k / 1000;
    carom_flow_color(cos(turn), sin(turn), 1, c);
    for (int i = 0; k > 0 && i < 3; i++) CHECK(abs(c[i] - before[i]) < 5);
    memcpy(before, c, 3);
  }
}

TEST(pictures_show_motions) {
  carom_flow_field field;
  carom_image picture;
  REQUIRE(carom_flow_field_init(2, 2, NULL, &field, NULL) == CAROM_OK);
  field.u[0] = 2;
  REQUIRE(carom_flow_field_draw(&field, 0, "f.png", NULL) == CAROM_OK);
  REQUIRE(carom_image_read("f.png", NULL, &picture, NULL) == CAROM_OK);
  CHECK_NEAR(picture.grey[0], 0.299, 0.005);  // red
  CHECK_NEAR(picture.grey[3], 1, 1e-9);       // at rest
  carom_image_release(&picture);
  carom_error error = {0};
  CHECK(carom_flow_field_draw(&field, 0, "no/such/folder/f.png", &error) == CAROM_ERR_IO);
  carom_flow_field_release(&field);
}
