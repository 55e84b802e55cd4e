// DataArrays of VTK's XML files: text, base64 or raw bytes; with zlib in blocks, or without. In base64 the header of
// compressed data is encoded by itself, and padded; other files pad between header and data, too. So padding may come
// anywhere: every group of four characters is decoded for itself.
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "geometry/tets_vtu.h"

static carom_status refuse(const carom_vtu_file *f, const carom_vtu_array *a, const char *what) {
  return carom_fail(f->error, CAROM_ERR_FORMAT, "%s: the array '%.*s' %s", f->name,
                    (int)(a->name.length < 40 ? a->name.length : 40), a->name.start, what);
}

static carom_status refuse_memory(const carom_vtu_file *f) {
  return carom_fail(f->error, CAROM_ERR_MEMORY, "%s: out of memory for its data", f->name);
}

// ---- bytes --------------------------------------------------------------------------------------

typedef struct stream {
  const char *at, *end;
  bool base64;
  unsigned char left[3];  // decoded and not yet taken
  int left_at, left_count;
} stream;

static int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Four characters; with one or two '=' at the end they stand for two bytes or one.
static bool decode_group(stream *s) {
  unsigned bits = 0;
  int digits = 0, padding = 0;
  while (digits + padding < 4) {
    while (s->at < s->end && is_space(*s->at)) s->at++;
    if (s->at == s->end) return false;
    int digit = digit_of(*s->at);
    if (*s->at == '=' && digits >= 2)
      padding++, bits <<= 6;
    else if (digit >= 0 && padding == 0)
      digits++, bits = bits << 6 | (unsigned)digit;
    else
      return false;
    s->at++;
  }
  for (int i = 0; i < 3; i++) s->left[i] = (unsigned char)(bits >> (16 - 8 * i));
  s->left_at = 0;
  s->left_count = digits - 1;
  return true;
}

static bool take(stream *s, void *to, size_t size) {
  unsigned char *bytes = to;
  if (!s->base64) {
    if ((size_t)(s->end - s->at) < size) return false;
    if (size > 0) memcpy(to, s->at, size);
    s->at += size;
    return true;
  }
  for (size_t i = 0; i < size; i++) {
    if (s->left_at == s->left_count && !decode_group(s)) return false;
    bytes[i] = s->left[s->left_at++];
  }
  return true;
}

// More bytes than this cannot follow.
static uint64_t most_left(const stream *s) {
  uint64_t size = (uint64_t)(s->end - s->at);
  return s->base64 ? size / 4 * 3 + 3 : size;
}

static void turn(const carom_vtu_file *f, unsigned char *bytes, int size) {
  for (int i = 0; f->swapped && i < size / 2; i++) {
    unsigned char byte = bytes[i];
    bytes[i] = bytes[size - 1 - i];
    bytes[size - 1 - i] = byte;
  }
}

static bool take_size(const carom_vtu_file *f, stream *s, uint64_t *size) {
  unsigned char bytes[8];
  if (!take(s, bytes, (size_t)f->header)) return false;
  turn(f, bytes, f->header);
  uint32_t narrow;
  if (f->header == 8)
    memcpy(size, bytes, 8);
  else
    memcpy(&narrow, bytes, 4), *size = narrow;
  return true;
}

// ---- blocks -------------------------------------------------------------------------------------

typedef struct blob {
  unsigned char *bytes;
  size_t size;
} blob;

static carom_status read_plain(const carom_vtu_file *f, const carom_vtu_array *a, stream *s, blob *b) {
  uint64_t size;
  if (!take_size(f, s, &size) || size > most_left(s)) return refuse(f, a, "is not whole; is the file cut short?");
  b->size = (size_t)size;
  b->bytes = CAROM_NEW(f->allocator, unsigned char, size);
  if (!b->bytes) return refuse_memory(f);
  return take(s, b->bytes, b->size) ? CAROM_OK : refuse(f, a, "is not whole; is the file cut short?");
}

static void *zlib_allocate(void *allocator, unsigned items, unsigned size) {
  return carom_allocate(allocator, items, size);
}

static void zlib_release(void *allocator, void *block) { carom_release(allocator, block); }

// One block of known size. zlib's own memory is the allocator's, too.
static carom_status inflate_block(const carom_vtu_file *f, const carom_vtu_array *a, blob from, blob to) {
  z_stream z = {.zalloc = zlib_allocate, .zfree = zlib_release, .opaque = (void *)(uintptr_t)f->allocator};
  z.next_in = from.bytes;
  z.avail_in = (uInt)from.size;
  z.next_out = to.bytes;
  z.avail_out = (uInt)to.size;
  if (inflateInit(&z) != Z_OK) return refuse_memory(f);
  int end = inflate(&z, Z_FINISH);
  inflateEnd(&z);
  if (end == Z_MEM_ERROR) return refuse_memory(f);
  return end == Z_STREAM_END && z.avail_out == 0 ? CAROM_OK
                                                 : refuse(f, a, "cannot be decompressed; is the file damaged?");
}

typedef struct layout {
  uint64_t count, size, last;  // of blocks: how many, how large before compression, and the last if it is not whole
  uint64_t *sizes;             // (count) compressed
} layout;

static carom_status read_blocks(const carom_vtu_file *f, const carom_vtu_array *a, stream *s, const layout *l,
                                blob *b) {
  carom_status status = CAROM_OK;
  size_t done = 0;
  for (uint64_t i = 0; i < l->count && !status; i++) {
    size_t whole = (size_t)(i + 1 == l->count && l->last > 0 ? l->last : l->size);
    if (l->sizes[i] > most_left(s)) return refuse(f, a, "is not whole; is the file cut short?");
    blob packed = {CAROM_NEW(f->allocator, unsigned char, l->sizes[i]), (size_t)l->sizes[i]};
    if (!packed.bytes) return refuse_memory(f);
    if (!take(s, packed.bytes, packed.size)) status = refuse(f, a, "is not whole; is the file cut short?");
    if (!status) status = inflate_block(f, a, packed, (blob){b->bytes + done, whole});
    carom_release(f->allocator, packed.bytes);
    done += whole;
  }
  return status;
}

static carom_status read_packed(const carom_vtu_file *f, const carom_vtu_array *a, stream *s, blob *b) {
  enum { MOST_RATIO = 1100, BLOCK_MAX = 1 << 30 };  // deflate packs a byte into 1/1032 at best
  layout l;
  bool whole = take_size(f, s, &l.count) && take_size(f, s, &l.size) && take_size(f, s, &l.last);
  uint64_t left = most_left(s);
  if (!whole || l.count > left / (uint64_t)f->header || l.size > BLOCK_MAX || l.last > l.size)
    return refuse(f, a, "is not whole; is the file cut short?");
  uint64_t size = l.count == 0 ? 0 : (l.count - 1) * l.size + (l.last > 0 ? l.last : l.size);
  if (size / MOST_RATIO > left) return refuse(f, a, "is not whole; is the file cut short?");
  b->size = (size_t)size;
  b->bytes = CAROM_NEW(f->allocator, unsigned char, size);
  l.sizes = CAROM_NEW(f->allocator, uint64_t, l.count);
  carom_status status = b->bytes && l.sizes ? CAROM_OK : refuse_memory(f);
  for (uint64_t i = 0; i < l.count && !status; i++)
    if (!take_size(f, s, &l.sizes[i])) status = refuse(f, a, "is not whole; is the file cut short?");
  if (!status) status = read_blocks(f, a, s, &l, b);
  carom_release(f->allocator, l.sizes);
  return status;
}

// ---- numbers ------------------------------------------------------------------------------------

typedef enum number_kind { SIGNED, UNSIGNED, REAL } number_kind;

typedef struct number_type {
  const char *name;
  number_kind kind;
  int bytes;
} number_type;

static const number_type *type_of(carom_word word) {
  static const number_type types[] = {{"float64", REAL, 8},    {"float32", REAL, 4},    {"int64", SIGNED, 8},
                                      {"int32", SIGNED, 4},    {"uint8", UNSIGNED, 1},  {"int8", SIGNED, 1},
                                      {"uint64", UNSIGNED, 8}, {"uint32", UNSIGNED, 4}, {"int16", SIGNED, 2},
                                      {"uint16", UNSIGNED, 2}};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (carom_word_is(word, types[i].name)) return &types[i];
  return NULL;
}

static double value_of(const carom_vtu_file *f, const number_type *type, const unsigned char *bytes) {
  unsigned char copy[8];
  memcpy(copy, bytes, (size_t)type->bytes);
  turn(f, copy, type->bytes);
#define AS(c_type)                      \
  do {                                  \
    c_type value;                       \
    memcpy(&value, copy, sizeof value); \
    return (double)value;               \
  } while (0)
  if (type->kind == REAL && type->bytes == 8) AS(double);
  if (type->kind == REAL) AS(float);
  bool sign = type->kind == SIGNED;
  switch (type->bytes) {
    case 8:
      if (sign) AS(int64_t);
      AS(uint64_t);
    case 4:
      if (sign) AS(int32_t);
      AS(uint32_t);
    case 2:
      if (sign) AS(int16_t);
      AS(uint16_t);
    default:
      if (sign) AS(int8_t);
      AS(uint8_t);
  }
#undef AS
}

static carom_status read_bytes(const carom_vtu_file *f, const carom_vtu_array *a, carom_vtu_values *v) {
  const number_type *type = type_of(a->type);
  stream s = {a->content.at, a->content.end, true, {0}, 0, 0};
  if (carom_word_is(a->format, "appended")) {
    if (!f->appended || a->offset < 0 || a->offset > f->appended_end - f->appended)
      return refuse(f, a, "begins behind the end of the appended data; is the file cut short?");
    s = (stream){f->appended + a->offset, f->appended_end, f->appended_base64, {0}, 0, 0};
  }
  blob b = {0};
  carom_status status = f->compressed ? read_packed(f, a, &s, &b) : read_plain(f, a, &s, &b);
  if (!status && b.size % (size_t)type->bytes != 0) status = refuse(f, a, "ends within a number");
  if (!status) {
    v->count = (int64_t)(b.size / (size_t)type->bytes);
    v->values = CAROM_NEW(f->allocator, double, v->count);
    if (!v->values) status = refuse_memory(f);
    for (int64_t i = 0; i < v->count && !status; i++) v->values[i] = value_of(f, type, b.bytes + i * type->bytes);
  }
  carom_release(f->allocator, b.bytes);
  return status;
}

static int64_t count_words(carom_text t) {
  int64_t count = 0;
  while (carom_text_word_anywhere(&t).length > 0) count++;
  return count;
}

static carom_status read_text(const carom_vtu_file *f, const carom_vtu_array *a, carom_vtu_values *v) {
  carom_text t = a->content;
  carom_status status = CAROM_OK;
  v->count = count_words(t);
  v->values = CAROM_NEW(f->allocator, double, v->count);
  if (!v->values) return refuse_memory(f);
  for (int64_t i = 0; i < v->count && !status; i++)
    status = carom_text_number(&t, carom_text_word_anywhere(&t), &v->values[i], f->error);
  return status;
}

carom_status carom_vtu_read_values(const carom_vtu_file *f, const carom_vtu_array *a, carom_vtu_values *v) {
  carom_status status;
  carom_release(f->allocator, v->values);
  *v = (carom_vtu_values){0};
  if (!type_of(a->type))
    status = refuse(f, a, "has an unknown type; expected Float64, Float32, Int64, Int32 or another of VTK's");
  else if (carom_word_is(a->format, "ascii"))
    status = read_text(f, a, v);
  else if (carom_word_is(a->format, "binary") || carom_word_is(a->format, "appended"))
    status = read_bytes(f, a, v);
  else
    status = refuse(f, a, "has an unknown format; expected ascii, binary or appended");
  return status;
}
