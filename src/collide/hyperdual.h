// Numbers with two infinitesimals: v + a e1 + b e2 + ab e1 e2, e1^2 = e2^2 = 0 (Fike and Alonso 2011). A formula that
// is evaluated in them yields its exact mixed second derivative in the last part.
#ifndef CAROM_SRC_COLLIDE_HYPERDUAL_H
#define CAROM_SRC_COLLIDE_HYPERDUAL_H

#include <math.h>

#include "carom/vec.h"

typedef struct carom_hyper {
  double v, a, b, ab;
} carom_hyper;

typedef struct carom_hyper3 {
  carom_vec3 v, a, b, ab;
} carom_hyper3;

static inline carom_hyper ch_sub(carom_hyper x, carom_hyper y) {
  return (carom_hyper){x.v - y.v, x.a - y.a, x.b - y.b, x.ab - y.ab};
}
static inline carom_hyper ch_scale(double s, carom_hyper x) {
  return (carom_hyper){s * x.v, s * x.a, s * x.b, s * x.ab};
}
static inline carom_hyper ch_mul(carom_hyper x, carom_hyper y) {
  return (carom_hyper){x.v * y.v, x.v * y.a + x.a * y.v, x.v * y.b + x.b * y.v,
                       x.v * y.ab + x.a * y.b + x.b * y.a + x.ab * y.v};
}
// f(x) from f, f' and f'' at x.v
static inline carom_hyper ch_apply(carom_hyper x, double f, double df, double ddf) {
  return (carom_hyper){f, df * x.a, df * x.b, df * x.ab + ddf * x.a * x.b};
}
static inline carom_hyper ch_inverse(carom_hyper x) {
  double f = 1 / x.v;
  return ch_apply(x, f, -f * f, 2 * f * f * f);
}
static inline carom_hyper ch_sqrt(carom_hyper x) {
  double f = sqrt(x.v);
  return ch_apply(x, f, 0.5 / f, -0.25 / (f * x.v));
}

static inline carom_hyper3 ch_sub3(carom_hyper3 x, carom_hyper3 y) {
  return (carom_hyper3){cm_sub(x.v, y.v), cm_sub(x.a, y.a), cm_sub(x.b, y.b), cm_sub(x.ab, y.ab)};
}
static inline carom_hyper3 ch_scale3(carom_hyper s, carom_hyper3 x) {
  carom_hyper3 y = {cm_scale(s.v, x.v), cm_axpy(cm_scale(s.a, x.v), s.v, x.a), cm_axpy(cm_scale(s.b, x.v), s.v, x.b),
                    cm_axpy(cm_scale(s.ab, x.v), s.v, x.ab)};
  y.ab = cm_axpy(cm_axpy(y.ab, s.a, x.b), s.b, x.a);
  return y;
}
static inline carom_hyper ch_dot(carom_hyper3 x, carom_hyper3 y) {
  return (carom_hyper){cm_dot(x.v, y.v), cm_dot(x.v, y.a) + cm_dot(x.a, y.v), cm_dot(x.v, y.b) + cm_dot(x.b, y.v),
                       cm_dot(x.v, y.ab) + cm_dot(x.a, y.b) + cm_dot(x.b, y.a) + cm_dot(x.ab, y.v)};
}
static inline carom_hyper3 ch_cross(carom_hyper3 x, carom_hyper3 y) {
  return (carom_hyper3){
      cm_cross(x.v, y.v), cm_add(cm_cross(x.v, y.a), cm_cross(x.a, y.v)),
      cm_add(cm_cross(x.v, y.b), cm_cross(x.b, y.v)),
      cm_add(cm_add(cm_cross(x.v, y.ab), cm_cross(x.ab, y.v)), cm_add(cm_cross(x.a, y.b), cm_cross(x.b, y.a)))};
}

#endif
