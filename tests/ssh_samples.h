// Bodies and poses for the tests of separation: well-behaved ones, and the kinds that break such algorithms.
#ifndef CAROM_TESTS_SSH_SAMPLES_H
#define CAROM_TESTS_SSH_SAMPLES_H

#include "carom/collide.h"
#include "test.h"

// About one metre large, whatever the kind.
typedef enum sample_kind {
  SAMPLE_BOX,
  SAMPLE_PRISM,
  SAMPLE_PYRAMID,
  SAMPLE_TETRAHEDRON,
  SAMPLE_OCTAHEDRON,
  SAMPLE_CYLINDER,
  SAMPLE_CONE,
  SAMPLE_HULL,
  SAMPLE_PLATE,   // 1 x 1 x 1e-3
  SAMPLE_NEEDLE,  // 1 x 1e-3 x 1e-3
  SAMPLE_SLIVER,  // 1 x 0.03 x 1e-3
  SAMPLE_GRID,    // hull of integer points: exact ties
  SAMPLE_KINDS
} sample_kind;

static const char *const sample_names[SAMPLE_KINDS] = {"box",        "prism",    "pyramid", "tetrahedron",
                                                       "octahedron", "cylinder", "cone",    "hull",
                                                       "plate",      "needle",   "sliver",  "grid"};

static inline carom_vec3 sample_direction(carom_random *r) {
  double x = carom_random_normal(r), y = carom_random_normal(r);
  return cm_unit(cm_vec3(x, y, carom_random_normal(r)));
}

static inline carom_quat sample_turn(carom_random *r) {
  double w = carom_random_normal(r), x = carom_random_normal(r), y = carom_random_normal(r);
  return cm_qunit(cm_quat(w, x, y, carom_random_normal(r)));
}

// One of the 24 turns of the cube, without round-off.
static inline carom_quat sample_square_turn(carom_random *r) {
  static const double h = 0.5;
  carom_quat q = cm_qidentity();
  int thirds = (int)carom_random_below(r, 3), halves = (int)carom_random_below(r, 4);
  for (int i = 0; i < thirds; i++) q = cm_qmul(cm_quat(h, h, h, h), q);
  if (halves == 1) q = cm_qmul(cm_quat(0, 1, 0, 0), q);
  if (halves == 2) q = cm_qmul(cm_quat(0, 0, 1, 0), q);
  if (halves == 3) q = cm_qmul(cm_quat(0, 0, 0, 1), q);
  return q;
}

static inline const carom_shape *sample_hull(carom_random *r, int count, carom_vec3 stretch, double scale) {
  carom_vec3 points[64];
  for (int i = 0; i < count; i++) points[i] = cm_scale(scale, cm_mul_diag(stretch, sample_direction(r)));
  const carom_shape *shape = NULL;
  carom_error error = {0};
  if (carom_shape_create_hull(points, count, NULL, &shape, &error) != CAROM_OK) {
    fprintf(stderr, "sample: %s\n", error.message);
    abort();
  }
  return shape;
}

// Points of a 3 x 3 x 3 grid with spacing 1/2; the corners of a tetrahedron among them so that it has a volume.
static inline const carom_shape *sample_grid(carom_random *r, double scale) {
  carom_vec3 points[64];
  int count = 0;
  for (int i = 0; i < 27; i++) {
    bool corner = i == 0 || i == 8 || i == 20 || i == 24;
    if (!corner && carom_random_uniform(r) < 0.5) continue;
    points[count++] = cm_scale(scale, cm_vec3(0.5 * (i % 3 - 1), 0.5 * (i / 3 % 3 - 1), 0.5 * (i / 9 - 1)));
  }
  const carom_shape *shape = NULL;
  if (carom_shape_create_hull(points, count, NULL, &shape, NULL) != CAROM_OK) abort();
  return shape;
}

static inline const carom_shape *sample_shape(carom_random *r, sample_kind kind, double scale) {
  const carom_shape *shape = NULL;
  double s = scale, u = carom_random_between(r, 0.3, 1), v = carom_random_between(r, 0.3, 1);
  int sides = 3 + (int)carom_random_below(r, 6), count = 4 + (int)carom_random_below(r, 40);
  carom_status status = CAROM_OK;
  switch (kind) {
    case SAMPLE_BOX:
      status = carom_shape_create_box(cm_vec3(s, u * s, v * s), NULL, &shape, NULL);
      break;
    case SAMPLE_PRISM:
      status = carom_shape_create_prism(sides, u * s, v * s, NULL, &shape, NULL);
      break;
    case SAMPLE_PYRAMID:
      status = carom_shape_create_pyramid(sides, u * s, v * s, NULL, &shape, NULL);
      break;
    case SAMPLE_TETRAHEDRON:
      status = carom_shape_create_tetrahedron(s, NULL, &shape, NULL);
      break;
    case SAMPLE_OCTAHEDRON:
      status = carom_shape_create_octahedron(s, NULL, &shape, NULL);
      break;
    case SAMPLE_CYLINDER:
      status = carom_shape_create_prism(32, u * s, v * s, NULL, &shape, NULL);
      break;
    case SAMPLE_CONE:
      status = carom_shape_create_pyramid(24, u * s, v * s, NULL, &shape, NULL);
      break;
    case SAMPLE_PLATE:
      shape = sample_hull(r, count, cm_vec3(1, 1, 1e-3), s);
      break;
    case SAMPLE_NEEDLE:
      shape = sample_hull(r, count, cm_vec3(1, 1e-3, 1e-3), s);
      break;
    case SAMPLE_SLIVER:
      shape = sample_hull(r, count, cm_vec3(1, 0.03, 1e-3), s);
      break;
    case SAMPLE_GRID:
      shape = sample_grid(r, s);
      break;
    default:
      shape = sample_hull(r, count, cm_vec3(1, 1, 1), s);
      break;
  }
  if (status != CAROM_OK || !shape) abort();
  return shape;
}

// A at a random place around B, from deep inside to two sizes away.
static inline void sample_poses(carom_random *r, double scale, carom_placed *a, carom_placed *b) {
  double distance = scale * carom_random_between(r, 0, 3);
  b->pose = cm_pose(cm_scale(scale, sample_direction(r)), sample_turn(r));
  a->pose = cm_pose(cm_axpy(b->pose.p, distance, sample_direction(r)), sample_turn(r));
}

// On the grid of eighths, square to each other: faces, edges and corners meet exactly.
static inline void sample_square_poses(carom_random *r, double scale, carom_placed *a, carom_placed *b) {
  double x[3];
  for (int i = 0; i < 3; i++) x[i] = scale * 0.25 * ((int)carom_random_below(r, 13) - 6);
  b->pose = cm_pose(cm_zero3(), sample_square_turn(r));
  a->pose = cm_pose(cm_vec3(x[0], x[1], x[2]), sample_square_turn(r));
}

static inline double sample_radius(const carom_polytope *p) {
  carom_vec3 m = cm_zero3();
  double radius = 0;
  for (int i = 0; i < p->vertex_count; i++) m = cm_axpy(m, 1.0 / p->vertex_count, p->vertices[i]);
  for (int i = 0; i < p->vertex_count; i++) radius = fmax(radius, cm_norm(cm_sub(p->vertices[i], m)));
  return radius;
}

static inline double sample_size(const carom_placed *a, const carom_placed *b) {
  return sample_radius(carom_shape_polytope(a->shape)) + sample_radius(carom_shape_polytope(b->shape));
}

// The input in full, so that a failure can be replayed.
static inline void sample_print(const carom_placed *a, const carom_placed *b) {
  const carom_placed *both[] = {a, b};
  for (int k = 0; k < 2; k++) {
    const carom_pose *X = &both[k]->pose;
    fprintf(stderr, "  %c: p %.17g %.17g %.17g q %.17g %.17g %.17g %.17g, %d vertices\n", 'A' + k, X->p.x, X->p.y,
            X->p.z, X->q.w, X->q.x, X->q.y, X->q.z, carom_shape_polytope(both[k]->shape)->vertex_count);
  }
}

#endif
