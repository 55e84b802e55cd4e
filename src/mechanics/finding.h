// The worst that was found against one law, and where.
#ifndef CAROM_SRC_MECHANICS_FINDING_H
#define CAROM_SRC_MECHANICS_FINDING_H

#include <math.h>

#include "carom/model.h"

typedef struct carom_finding {
  double worst;      // >= 0, in the unit of its law; NaN sticks
  double time;       // s
  int body[2];       // CAROM_WORLD where there is none; CAROM_SOLID(i) for solids
  const char *what;  // of body[0], "node" or "tetrahedron"; null: none is named
  int number;        // which
} carom_finding;

static inline carom_finding carom_finding_none(void) {
  return (carom_finding){.time = NAN, .body = {CAROM_WORLD, CAROM_WORLD}};
}

// Written so that a NaN comes in and sticks.
static inline void carom_finding_note(carom_finding *f, double value, double time, int a, int b) {
  if (value > f->worst || (isnan(value) && !isnan(f->worst)))
    *f = (carom_finding){.worst = value, .time = time, .body = {a, b}};
}

// At a node or a tetrahedron of a solid, counted from 0 there.
static inline void carom_finding_note_at(carom_finding *f, double value, double time, int solid, const char *what,
                                         int number) {
  if (value > f->worst || (isnan(value) && !isnan(f->worst)))
    *f = (carom_finding){value, time, {CAROM_SOLID(solid), CAROM_WORLD}, what, number};
}

// 0/0 is a system at rest that stays at rest: no error.
static inline double carom_relative(double error, double scale) { return error == 0 ? 0 : error / scale; }

#endif
