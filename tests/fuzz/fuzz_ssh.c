// Raw numbers as two bodies: hulls of any points at any poses, through the separation queries and the time of impact.
// Never a crash or a hang; moderate numbers give finite answers that agree with each other.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/collide.h"

enum { MOST_POINTS = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand_at(bool condition, const char *what, int line) {
  if (condition) return;
  fprintf(stderr, "line %d: %s\n", line, what);
  abort();
}
#define DEMAND(condition) demand_at(condition, #condition, __LINE__)

// ---- numbers from bytes --------------------------------------------------------------------------------------------

typedef struct source {
  const uint8_t *data;
  size_t size;
  bool moderate;  // so far no number was huge, tiny or not finite
} source;

static int take_byte(source *s) {
  if (s->size == 0) return 0;
  s->size--;
  return *s->data++;
}

// Three in four numbers are small multiples of 1/16, which make ties and flat faces; the rest are any bits.
static double take(source *s) {
  int kind = take_byte(s);
  if (kind % 4 != 0) return (take_byte(s) - 128) / 16.0;
  uint64_t bits = 0;
  for (int i = 0; i < 8; i++) bits = bits << 8 | (uint64_t)take_byte(s);
  double x;
  memcpy(&x, &bits, sizeof x);
  if (!(x == 0 || (fabs(x) > 1e-3 && fabs(x) < 1e3))) s->moderate = false;
  return x;
}

static carom_vec3 take_vector(source *s) {
  double x = take(s), y = take(s);
  return cm_vec3(x, y, take(s));
}

static carom_pose take_pose(source *s) {
  double w = take(s);
  carom_vec3 v = take_vector(s);
  carom_quat q = cm_qunit(cm_quat(w, v.x, v.y, v.z));  // NaN and overflow stay what they are
  if (!(fabs(cm_qdot(q, q) - 1) < 1e-9)) s->moderate = false;
  return cm_pose(take_vector(s), q);
}

static const carom_shape *take_hull(source *s, int count) {
  carom_vec3 points[MOST_POINTS];
  const carom_shape *shape = NULL;
  for (int i = 0; i < count; i++) points[i] = take_vector(s);
  carom_shape_create_hull(points, count, NULL, &shape, NULL);
  return shape;
}

// Null when the library refuses it.
static const carom_shape *take_shape(source *s) {
  int kind = take_byte(s) % 16, count = 4 + take_byte(s) % (MOST_POINTS - 3);
  carom_vec3 size = kind < 7 ? take_vector(s) : cm_zero3();
  const carom_shape *shape = NULL, *sharp = kind < 6 ? NULL : take_hull(s, count);
  if (kind == 0) carom_shape_create_sphere(size.x, NULL, &shape, NULL);
  if (kind == 1) carom_shape_create_capsule(size.x, size.y, NULL, &shape, NULL);
  if (kind == 2) carom_shape_create_halfspace(NULL, &shape, NULL);
  if (kind == 3) carom_shape_create_ellipsoid(size, NULL, &shape, NULL);
  if (kind == 4) carom_shape_create_cylinder(size.x, size.y, NULL, &shape, NULL);
  if (kind == 5) carom_shape_create_cone(size.x, size.y, NULL, &shape, NULL);
  if (kind == 6 && sharp) carom_shape_create_rounded(sharp, size.x, NULL, &shape, NULL);
  if (kind > 6) return sharp;
  carom_shape_release(sharp);
  return shape;
}

// ---- demands -------------------------------------------------------------------------------------------------------

// Thin bodies make steep planes: answers are judged only where a body is not thinner than this part of its size.
static bool is_stout(const carom_shape *shape) {
  const carom_polytope *p = carom_shape_polytope(shape);
  if (!p) return true;
  for (int f = 0; f < p->face_count; f++) {
    double deepest = 0;
    for (int v = 0; v < p->vertex_count; v++)
      deepest = fmax(deepest, p->face_offsets[f] - cm_dot(p->face_normals[f], p->vertices[v]));
    if (deepest < 1e-3 * carom_shape_bounding_radius(shape)) return false;
  }
  return true;
}

static double extent(const carom_placed *a, const carom_placed *b) {
  double ra = carom_shape_bounding_radius(a->shape), rb = carom_shape_bounding_radius(b->shape);
  return (isfinite(ra) ? ra : 0) + (isfinite(rb) ? rb : 0) + cm_norm(cm_sub(a->pose.p, b->pose.p));
}

static void check_program(const carom_ssh_result *r, int limit) {
  DEMAND(r->pivots <= limit + 3);
  DEMAND(isfinite(r->gap) && cm_finite(r->alpha) && cm_finite(r->point_a) && cm_finite(r->point_b));
  DEMAND(fabs(cm_norm(r->normal) - 1) < 1e-9 && fabs(cm_norm(r->beta) - 1) < 1e-9);
  DEMAND(r->column_count >= 1 && r->column_count <= 3);
  double sum = 0;
  for (int i = 0; i < r->column_count; i++) {
    DEMAND(r->weight[i] >= 0);
    sum += r->weight[i];
  }
  DEMAND(fabs(sum - 1) < 1e-9);
  DEMAND(r->duality_gap >= 0);
}

static void use_program(const carom_placed *a, const carom_placed *b, carom_vec3 beta, bool judged) {
  carom_ssh_options options = carom_ssh_default_options();
  carom_ssh_cache cache = {0};
  carom_ssh_result cold, warm, given;
  carom_status status = carom_ssh(a, b, &options, &cache, &cold);
  DEMAND(carom_ssh(a, b, &options, &cache, &warm) == status);
  options.given_beta = true;
  options.beta = beta;
  carom_status with_beta = carom_ssh(a, b, &options, NULL, &given);
  if (!judged || status != CAROM_OK) return;
  double size = extent(a, b);
  check_program(&cold, options.max_pivots);
  check_program(&warm, options.max_pivots);
  DEMAND(fabs(warm.gap - cold.gap) <= 1e-6 * size * cm_norm(cold.alpha));
  if (with_beta == CAROM_OK) check_program(&given, options.max_pivots);
}

#ifndef CAROM_FUZZ_NO_DISTANCE
// The plane's separation is a lower bound of the distance; the witness points' distance an upper one.
static void use_distance(const carom_placed *a, const carom_placed *b, bool judged) {
  carom_ssh_cache cache = {0};
  carom_distance_result cold, warm;
  carom_ssh_result program;
  carom_status status = carom_distance(a, b, &cache, &cold);
  DEMAND(carom_distance(a, b, &cache, &warm) == status);
  if (!judged || status != CAROM_OK || carom_ssh(a, b, NULL, NULL, &program) != CAROM_OK) return;
  double slack = 1e-6 * extent(a, b), s = program.gap * cm_dot(program.beta, program.normal);
  DEMAND(isfinite(cold.distance) && cm_finite(cold.normal) && cm_finite(cold.point_a) && cm_finite(cold.point_b));
  DEMAND(fabs(cold.distance - warm.distance) <= slack);
  DEMAND(s <= cold.distance + slack);
  if (program.gap > slack) DEMAND(cold.distance <= program.gap + slack);
}
#endif

static void use_impact(const carom_motion *a, const carom_motion *b, bool judged) {
  carom_impact_time cold, warm;
  carom_ssh_cache cache = {0};
  carom_status status = carom_time_of_impact(a, b, 0, &cache, &cold);
  carom_status again = carom_time_of_impact(a, b, 0, &cache, &warm);
  if (!judged || (status != CAROM_OK && status != CAROM_NOT_CONVERGED)) return;
  DEMAND(status == CAROM_OK && again == CAROM_OK);
  DEMAND(cold.time >= 0 && cold.time <= 1 && isfinite(cold.gap) && cm_finite(cold.normal));
  if (cold.outcome == CAROM_IMPACT_AT_START) return;
  DEMAND(cold.gap > 0);
  for (int i = 0; i < 8; i++) {  // apart all the way there
    double t = cold.time * i / 8;
    carom_placed pa = {a->shape, carom_motion_at(a, t)}, pb = {b->shape, carom_motion_at(b, t)};
    carom_ssh_result r;
    DEMAND(carom_ssh(&pa, &pb, NULL, NULL, &r) == CAROM_OK);
    DEMAND(r.gap > -1e-9 * extent(&pa, &pb) * fmax(1, cm_norm(r.alpha)));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  source s = {data, size, true};
  const carom_shape *a = take_shape(&s), *b = take_shape(&s);
  carom_motion ma = {a, cm_pose_identity(), cm_pose_identity()}, mb = ma;
  ma.from = take_pose(&s), ma.to = take_pose(&s);
  mb.shape = b, mb.from = take_pose(&s), mb.to = take_pose(&s);
  carom_vec3 beta = take_vector(&s);
  if (a && b) {
    carom_placed pa = {a, ma.from}, pb = {b, mb.from};
    bool judged = s.moderate && is_stout(a) && is_stout(b);
    use_program(&pa, &pb, beta, judged);
#ifndef CAROM_FUZZ_NO_DISTANCE
    use_distance(&pa, &pb, judged);
#endif
    use_impact(&ma, &mb, judged);
  }
  carom_shape_release(a);
  carom_shape_release(b);
  return 0;
}
