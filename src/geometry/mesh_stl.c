// STL, ASCII and binary. A binary file is 80 bytes of anything, a count n and n records of 50 bytes (normal, three
// corners, two spare bytes), little-endian. Since the 80 bytes may well begin with "solid", the size decides.
#include <limits.h>
#include <string.h>

#include "geometry/mesh.h"
#include "geometry/shape.h"

enum { HEADER = 84, RECORD = 50 };

static uint32_t little_endian(const char *bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; i--) value = value << 8 | (unsigned char)bytes[i];
  return value;
}

static bool has_binary_size(const char *data, size_t size) {
  return size >= HEADER && (uint64_t)size == HEADER + RECORD * (uint64_t)little_endian(data + 80);
}

static bool begins_as_text(const char *data, size_t size) {
  carom_text t = {"", data, data + size, 1};
  bool solid = carom_word_is(carom_text_word_anywhere(&t), "solid");
  return solid && !memchr(data, 0, size < 512 ? size : 512);
}

bool carom_stl_recognize(const char *data, size_t size) {
  return has_binary_size(data, size) || begins_as_text(data, size);
}

// ---- binary -----------------------------------------------------------------------------------

static carom_status add_last_triangle(carom_soup *soup, carom_error *error) {
  int n = soup->vertex_count;
  return carom_soup_add_triangle(soup, n - 3, n - 2, n - 1, error);
}

static carom_status read_corner(const char *name, const char *bytes, uint32_t triangle, carom_soup *soup,
                                carom_error *error) {
  double c[3];
  for (int k = 0; k < 3; k++) {
    uint32_t bits = little_endian(bytes + 4 * k);
    float value;
    memcpy(&value, &bits, sizeof value);
    c[k] = (double)value;
    if (!isfinite(c[k]))
      return carom_fail(error, CAROM_ERR_NUMBER,
                        "%s: triangle %u (byte %llu): a coordinate is %g; expected a finite number", name, triangle,
                        HEADER + RECORD * (unsigned long long)triangle, c[k]);
  }
  return carom_soup_add_vertex(soup, cm_vec3(c[0], c[1], c[2]), error);
}

static carom_status parse_binary(const char *name, const char *data, carom_soup *soup, carom_error *error) {
  uint32_t count = little_endian(data + 80);
  for (uint32_t i = 0; i < count; i++) {
    const char *record = data + HEADER + RECORD * (size_t)i;
    carom_status status = CAROM_OK;
    for (int k = 0; k < 3 && !status; k++) status = read_corner(name, record + 12 + 12 * k, i, soup, error);
    if (!status) status = add_last_triangle(soup, error);
    if (status) return status;
  }
  return CAROM_OK;
}

static carom_status refuse_binary(const char *name, const char *data, size_t size, carom_error *error) {
  if (size < HEADER)
    return carom_fail(error, CAROM_ERR_FORMAT,
                      "%s: %zu bytes is too short; expected ASCII STL ('solid ...') or binary STL (at least %d bytes)",
                      name, size, HEADER);
  uint32_t count = little_endian(data + 80);
  return carom_fail(
      error, CAROM_ERR_FORMAT,
      "%s: neither ASCII STL (no leading 'solid') nor binary STL: bytes 80 to 83 announce %u triangles, so "
      "%llu bytes were expected but the file has %zu; is it cut short?",
      name, count, HEADER + RECORD * (unsigned long long)count, size);
}

// ---- ASCII ------------------------------------------------------------------------------------

static carom_status expect(carom_text *t, const char *keyword, carom_error *error) {
  carom_word word = carom_text_word_anywhere(t);
  if (carom_word_is(word, keyword)) return CAROM_OK;
  char quoted[16] = "'";
  return carom_text_expected(t, strcat(strcat(quoted, keyword), "'"), word, error);
}

static carom_status read_vertex(carom_text *t, carom_soup *soup, carom_error *error) {
  double c[3];
  carom_status status = expect(t, "vertex", error);
  for (int k = 0; k < 3 && !status; k++) status = carom_text_number(t, carom_text_word_anywhere(t), &c[k], error);
  return status ? status : carom_soup_add_vertex(soup, cm_vec3(c[0], c[1], c[2]), error);
}

// The normal follows from the corners and is often wrong in files, even "nan": passed over unread.
static carom_status read_facet(carom_text *t, carom_soup *soup, carom_error *error) {
  carom_status status = expect(t, "normal", error);
  for (int k = 0; k < 3; k++) carom_text_word_anywhere(t);
  if (!status) status = expect(t, "outer", error);
  if (!status) status = expect(t, "loop", error);
  for (int k = 0; k < 3 && !status; k++) status = read_vertex(t, soup, error);
  if (!status) status = expect(t, "endloop", error);
  if (!status) status = expect(t, "endfacet", error);
  return status ? status : add_last_triangle(soup, error);
}

// One solid after another; the rest of a "solid" or "endsolid" line is its name.
static carom_status parse_text(const char *name, const char *data, size_t size, carom_soup *soup, carom_error *error) {
  carom_text t = {name, data, data + size, 1};
  carom_status status = expect(&t, "solid", error);
  bool open = true;
  carom_text_skip_line(&t);
  while (!status) {
    carom_word word = carom_text_word_anywhere(&t);
    if (word.length == 0 && !open) return CAROM_OK;
    if (open && carom_word_is(word, "facet")) {
      status = read_facet(&t, soup, error);
    } else if (carom_word_is(word, open ? "endsolid" : "solid")) {
      carom_text_skip_line(&t);
      open = !open;
    } else {
      status = carom_text_expected(&t, open ? "'facet' or 'endsolid'" : "'solid' or the end of the file", word, error);
    }
  }
  return status;
}

carom_status carom_stl_parse(const char *name, const char *data, size_t size, carom_soup *soup, carom_error *error) {
  carom_status status;
  if (has_binary_size(data, size))
    status = parse_binary(name, data, soup, error);
  else if (begins_as_text(data, size))
    status = parse_text(name, data, size, soup, error);
  else
    status = refuse_binary(name, data, size, error);
  if (!status && soup->triangle_count == 0) status = carom_fail(error, CAROM_ERR_FORMAT, "%s: no triangles", name);
  return status;
}
