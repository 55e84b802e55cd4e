// Files of convex pairs with their distances. Little endian, ints of 32 bits, reals of 64:
//
//     char magic[8] = "SSHPAIR1"; int V, bodies, pairs, regimes, sequence length, 0
//     bodies          x { int triangles, 0; double vertex[V][3]; int corner[triangles][3]; int 0 if that is odd }
//     regimes x pairs x { int a, b; double qa[4], pa[3], qb[4], pb[3], distance, normal[3] }
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/gap.h"

enum { PAIR_SIZE = 152, MOST_VERTICES = 1 << 20 };

// The bytes of the file and how far they were read. Reading beyond the end gives zeros and sets `short_of`.
typedef struct cursor {
  const unsigned char *bytes;
  size_t size, at;
  bool short_of;
} cursor;

static uint64_t take(cursor *c, size_t width) {
  uint64_t value = 0;
  if (c->size - c->at < width) {
    c->short_of = true;
    c->at = c->size;
    return 0;
  }
  for (size_t i = 0; i < width; i++) value |= (uint64_t)c->bytes[c->at++] << (8 * i);
  return value;
}

static int32_t take_int(cursor *c) {
  uint32_t bits = (uint32_t)take(c, 4);
  int32_t value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double take_real(cursor *c) {
  uint64_t bits = take(c, 8);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static carom_vec3 take_vector(cursor *c) {
  double x = take_real(c), y = take_real(c);
  return cm_vec3(x, y, take_real(c));
}

static carom_pose take_pose(cursor *c) {
  double w = take_real(c);
  carom_vec3 v = take_vector(c);
  return cm_pose(take_vector(c), cm_quat(w, v.x, v.y, v.z));
}

static bool malformed(carom_error *error, const char *path, const char *what) {
  carom_fail(error, CAROM_ERR_FORMAT, "%s: %s", path, what);
  return false;
}

// Counts are believed only as far as the file is long enough for them.
static bool read_header(cursor *c, const char *path, cli_pair_file *f, carom_error *error) {
  if (c->size < 8 || memcmp(c->bytes, "SSHPAIR1", 8) != 0)
    return malformed(error, path, "not a pair file (it does not begin with SSHPAIR1)");
  c->at = 8;
  f->vertex_count = take_int(c), f->body_count = take_int(c), f->pair_count = take_int(c);
  f->regime_count = take_int(c), f->sequence_length = take_int(c), take_int(c);
  if (c->short_of) return malformed(error, path, "the file ends within its header");
  if (f->vertex_count < 4 || f->vertex_count > MOST_VERTICES || f->body_count < 1 || f->pair_count < 1 ||
      f->regime_count < 1 || f->sequence_length < 0)
    return malformed(error, path, "a count in the header makes no sense");
  uint64_t body_size = 8 + 24 * (uint64_t)f->vertex_count;
  uint64_t cases = (uint64_t)f->pair_count * (uint64_t)f->regime_count;
  if ((uint64_t)f->body_count > c->size / body_size || cases > c->size / PAIR_SIZE)
    return malformed(error, path, "the file is shorter than its header says");
  return true;
}

static bool skip_triangles(cursor *c, int count) {
  uint64_t bytes = 12 * (uint64_t)count + (count % 2 ? 4 : 0);
  if (count < 0 || bytes > c->size - c->at) return false;
  c->at += bytes;
  return true;
}

static bool read_body(cursor *c, const char *path, int index, cli_pair_file *f, carom_vec3 *vertices,
                      carom_error *error) {
  char what[1200];
  int triangles = take_int(c);
  take_int(c);
  for (int i = 0; i < f->vertex_count; i++) vertices[i] = take_vector(c);
  if (c->short_of || !skip_triangles(c, triangles)) {
    snprintf(what, sizeof what, "the file ends within body %d", index);
    return malformed(error, path, what);
  }
  carom_error reason = {0};
  if (carom_shape_create_hull(vertices, f->vertex_count, NULL, &f->bodies[index], &reason) == CAROM_OK) return true;
  snprintf(what, sizeof what, "body %d: %s", index, reason.message);
  return malformed(error, path, what);
}

static bool read_pair(cursor *c, const char *path, int index, const cli_pair_file *f, cli_pair *p, carom_error *error) {
  char what[120];
  p->a = take_int(c), p->b = take_int(c);
  p->pose_a = take_pose(c), p->pose_b = take_pose(c);
  p->distance = take_real(c);
  p->normal = take_vector(c);
  snprintf(what, sizeof what, "the file ends within pair %d", index);
  if (c->short_of) return malformed(error, path, what);
  snprintf(what, sizeof what, "pair %d names body %d of %d", index, p->a < 0 || p->a >= f->body_count ? p->a : p->b,
           f->body_count);
  if (p->a < 0 || p->b < 0 || p->a >= f->body_count || p->b >= f->body_count) return malformed(error, path, what);
  snprintf(what, sizeof what, "pair %d has a number that is not finite", index);
  bool finite = cm_finite(p->pose_a.p) && cm_finite(p->pose_b.p) && isfinite(cm_qdot(p->pose_a.q, p->pose_a.q)) &&
                isfinite(cm_qdot(p->pose_b.q, p->pose_b.q)) && isfinite(p->distance) && cm_finite(p->normal);
  return finite || malformed(error, path, what);
}

static bool read_contents(cursor *c, const char *path, cli_pair_file *f, carom_error *error) {
  if (!read_header(c, path, f, error)) return false;
  size_t cases = (size_t)f->pair_count * (size_t)f->regime_count;
  f->bodies = calloc((size_t)f->body_count, sizeof *f->bodies);
  f->pairs = calloc(cases, sizeof *f->pairs);
  carom_vec3 *vertices = malloc((size_t)f->vertex_count * sizeof *vertices);
  bool good = f->bodies && f->pairs && vertices;
  if (!good) carom_fail(error, CAROM_ERR_MEMORY, "%s: out of memory", path);
  for (int i = 0; good && i < f->body_count; i++) good = read_body(c, path, i, f, vertices, error);
  for (size_t i = 0; good && i < cases; i++) good = read_pair(c, path, (int)i, f, &f->pairs[i], error);
  free(vertices);
  return good;
}

static unsigned char *read_bytes(const char *path, size_t *size, carom_error *error) {
  FILE *in = cli_open_input(path);
  unsigned char *bytes = NULL;
  size_t room = 0;
  *size = 0;
  bool good = in != NULL;
  while (good && !feof(in)) {
    if (*size == room) {
      room = room ? 2 * room : 1 << 16;
      unsigned char *larger = realloc(bytes, room);
      good = larger != NULL;
      if (good) bytes = larger;
    }
    if (good) *size += fread(bytes + *size, 1, room - *size, in);
    good = good && !ferror(in);
  }
  if (!good)
    carom_fail(error, CAROM_ERR_IO, "cannot read %s: %s", path,
               errno == EINVAL ? "it is not a regular file" : strerror(errno));
  if (in) fclose(in);
  if (!good) free(bytes);
  return good ? bytes : NULL;
}

bool cli_pair_file_read(const char *path, cli_pair_file *file, carom_error *error) {
  *file = (cli_pair_file){0};
  cursor c = {0};
  unsigned char *bytes = read_bytes(path, &c.size, error);
  if (!bytes) return false;
  c.bytes = bytes;
  bool good = read_contents(&c, path, file, error);
  free(bytes);
  if (!good) cli_pair_file_release(file);
  return good;
}

void cli_pair_file_release(cli_pair_file *file) {
  for (int i = 0; file->bodies && i < file->body_count; i++) carom_shape_release(file->bodies[i]);
  free(file->bodies);
  free(file->pairs);
  *file = (cli_pair_file){0};
}
