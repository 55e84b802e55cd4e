// Images whose motion is known: textures that move as told, noise, and files of all kinds.
#ifndef CAROM_TESTS_FLOW_IMAGES_H
#define CAROM_TESTS_FLOW_IMAGES_H

#include "carom/flow.h"
#include "test.h"

enum { WAVES = 12 };

// A sum of waves: smooth, without a period, the same for everyone.
typedef struct texture {
  double kx[WAVES], ky[WAVES], phase[WAVES], height[WAVES];
} texture;

static inline texture texture_make(uint64_t seed) {
  carom_random r = carom_random_make(seed, 7);
  texture t;
  for (int i = 0; i < WAVES; i++) {
    t.kx[i] = 0.35 * carom_random_normal(&r), t.ky[i] = 0.35 * carom_random_normal(&r);
    t.phase[i] = carom_random_between(&r, 0, 6.3), t.height[i] = carom_random_between(&r, 0.03, 0.06);
  }
  return t;
}

static inline double texture_at(const texture *t, double x, double y) {
  double sum = 0.5;
  for (int i = 0; i < WAVES; i++) sum += t->height[i] * sin(t->kx[i] * x + t->ky[i] * y + t->phase[i]);
  return sum;
}

// Two images, and how each pixel of the second came to where it is.
typedef struct pair {
  carom_image A, B;
  carom_flow_field truth;
} pair;

typedef void (*motion)(double x, double y, int width, int height, double *u, double *v);

static inline void shifted(double x, double y, int width, int height, double *u, double *v) {
  (void)x, (void)y, (void)width, (void)height;
  *u = 0.6, *v = -0.4;
}
static inline void far_shifted(double x, double y, int width, int height, double *u, double *v) {
  (void)x, (void)y, (void)width, (void)height;
  *u = 5.3, *v = -3.6;
}
static inline void turned(double x, double y, int width, int height, double *u, double *v) {
  *u = -0.01 * (y - height / 2.0), *v = 0.01 * (x - width / 2.0);
}
static inline void square_moved(double x, double y, int width, int height, double *u, double *v) {
  bool inside = fabs(x - width / 2.0) < width / 4.0 && fabs(y - height / 2.0) < height / 4.0;
  *u = inside ? 0.8 : -0.3, *v = inside ? 0.5 : 0.1;
}

static inline pair pair_make(int width, int height, motion move, uint64_t seed) {
  pair p = {{0}, {0}, {0}};
  texture t = texture_make(seed);
  if (carom_image_init(width, height, NULL, &p.A, NULL) || carom_image_init(width, height, NULL, &p.B, NULL) ||
      carom_flow_field_init(width, height, NULL, &p.truth, NULL))
    abort();
  for (int y = 0, i = 0; y < height; y++)
    for (int x = 0; x < width; x++, i++) {
      move(x, y, width, height, &p.truth.u[i], &p.truth.v[i]);
      p.A.grey[i] = texture_at(&t, x, y);
      p.B.grey[i] = texture_at(&t, x - p.truth.u[i], y - p.truth.v[i]);
    }
  return p;
}

static inline void pair_release(pair *p) {
  carom_image_release(&p->A), carom_image_release(&p->B);
  carom_flow_field_release(&p->truth);
}

// A share of pixels becomes black or white.
static inline void add_salt_and_pepper(carom_image *image, double share, uint64_t seed) {
  carom_random r = carom_random_make(seed, 9);
  for (int i = 0; i < image->width * image->height; i++)
    if (carom_random_uniform(&r) < share) image->grey[i] = carom_random_uniform(&r) < 0.5 ? 0 : 1;
}

static inline double end_point_error(const carom_flow_field *field, const carom_flow_field *truth) {
  carom_flow_error e;
  CHECK(carom_flow_compare(field, truth, &e, NULL) == CAROM_OK);
  return e.end_point;
}

// The single program of two images, which is what the thesis has.
static inline carom_flow_options one_program(void) {
  carom_flow_options o = carom_flow_default_options();
  o.levels = o.warps = 1;
  return o;
}

#endif
