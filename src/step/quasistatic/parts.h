// What the files of the kernel share.
#ifndef CAROM_SRC_STEP_QUASISTATIC_PARTS_H
#define CAROM_SRC_STEP_QUASISTATIC_PARTS_H

#include "step/quasistatic/quasistatic.h"

// Tangents of a row, whether they carry or not.
static inline int carom_quasi_across(const carom_quasi *s) { return s->model->planar ? 1 : 2; }

// ---- gather.c
// Items within `reach` of the state at hand.
carom_status carom_quasi_collect(carom_quasi *quasi, carom_error *error);
// The twist that a load makes of a body that moves: E^-1 (p, l).
void carom_quasi_answer(const carom_quasi *quasi, int body, carom_vec3 p, carom_vec3 l, carom_vec3 *v, carom_vec3 *w);
// How fast a body's fastest point is at most, m/s.
double carom_quasi_speed(const carom_quasi *quasi, const carom_twists *twists, int body);

// ---- disc.c
void carom_quasi_push_shadows(carom_quasi *quasi, carom_arena *arena);
void carom_quasi_fill_shadows(carom_quasi *quasi);
// A body's frame in the plane: turned by the angle with this cosine and sine.
typedef struct carom_quasi_plane {
  carom_flat p;
  double c, s;
} carom_quasi_plane;
carom_quasi_plane carom_quasi_plane_of(const carom_quasi *quasi, int body);
static inline carom_flat carom_quasi_turned(const carom_quasi_plane *f, carom_flat v) {
  return (carom_flat){f->c * v.u - f->s * v.v, f->s * v.u + f->c * v.v};
}
// The contact of a disc with a disc or a prism, in the plane; false where the parts of a pair are none.
bool carom_quasi_disc_contact(const carom_quasi *quasi, int pair, carom_contact *contact);

// ---- prism.c
// How many contacts two prisms have, in the plane: 0 beyond the reach, -1 where the parts of a pair are none. Of
// features within `slop` of the nearest ones, as carom_contacts_of_pair.
int carom_quasi_prism_contacts(const carom_quasi *quasi, int pair, const carom_contact_query *query,
                               carom_contact contacts[3]);

// ---- solve.c
// Fills blocks, W and u0 for the items at hand.
carom_status carom_quasi_assemble(carom_quasi *quasi, carom_error *error);
// Impulses, rates, modes and twists from the forces P along all rows; `lawful`: friction no larger than it may be.
void carom_quasi_apply(carom_quasi *quasi, const double *P, bool lawful);
// What the velocity along the normal may fall short of, m/s: gap/h.
double carom_quasi_bias(const carom_quasi *quasi, const carom_quasi_item *item);
// Whether some body got farther than contacts were looked for; it is looked farther then.
bool carom_quasi_escaped(carom_quasi *quasi);

// ---- dry.c
bool carom_quasi_has_dry(const carom_quasi *quasi);
double carom_quasi_first_strain(const carom_quasi *quasi, int body, double speed);
// Goes on to other strains after the pass of that number (from 0); *off is by how much the worst was off, relatively:
// where that is at most `met`, they are those of the twists found. Fails where forces are more than a support can hold.
carom_status carom_quasi_strain(carom_quasi *quasi, int pass, double met, double *off, carom_error *error);

// Room for so many numbers.
carom_status carom_quasi_room(carom_quasi *quasi, int numbers, int choices, carom_error *error);

#endif
