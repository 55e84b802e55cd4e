// Compensated summation (Neumaier 1974): the error does not grow with the number of terms, so that the books of a run
// of 1e6 steps balance to round-off.
#ifndef CAROM_SRC_MATH_SUM_H
#define CAROM_SRC_MATH_SUM_H

#include "carom/vec.h"

typedef struct carom_sum {
  double sum, lost;
} carom_sum;

static inline void carom_sum_add(carom_sum *s, double term) {
  double t = s->sum + term;
  s->lost += fabs(s->sum) >= fabs(term) ? (s->sum - t) + term : (term - t) + s->sum;
  s->sum = t;
}

static inline double carom_sum_value(const carom_sum *s) { return s->sum + s->lost; }

typedef struct carom_sum3 {
  carom_sum x, y, z;
} carom_sum3;

static inline void carom_sum3_add(carom_sum3 *s, carom_vec3 term) {
  carom_sum_add(&s->x, term.x);
  carom_sum_add(&s->y, term.y);
  carom_sum_add(&s->z, term.z);
}

static inline carom_vec3 carom_sum3_value(const carom_sum3 *s) {
  return cm_vec3(carom_sum_value(&s->x), carom_sum_value(&s->y), carom_sum_value(&s->z));
}

#endif
