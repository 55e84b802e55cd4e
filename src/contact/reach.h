// How far to look for contacts: one rule, given what moves how far.
#ifndef CAROM_SRC_CONTACT_REACH_H
#define CAROM_SRC_CONTACT_REACH_H

#include "carom/model.h"

// How bodies may move in the time h: at v and w (body_count), sped up by `acceleration` (m/s2; of any point of a body),
// which may be null for none but gravity's.
typedef struct carom_moving {
  const carom_vec3 *v, *w;
  const double *acceleration;
  double time, h;
} carom_moving;

// Fills reach (body_count) with how far any point of a body may get in h, half as far again by its speed for what
// contacts do to it on the way, and `spare` times its radius. Driven bodies move as they are driven; others that are
// fixed do not.
void carom_reach(const carom_model *model, const carom_moving *moving, double spare, double *reach);

#endif
