// Volume and moments of a solid while they are summed up.
#ifndef CAROM_SRC_GEOMETRY_INTEGRALS_H
#define CAROM_SRC_GEOMETRY_INTEGRALS_H

#include "carom/geometry.h"

typedef long double carom_real;

// Over r counted from a point amid the solid. Of the second moments only second[i][j] with i <= j is kept.
typedef struct carom_integrals {
  carom_real volume, first[3], second[3][3];
} carom_integrals;

// Adds the tetrahedron a, b, c, d, whose volume is positive when ((b-a) x (c-a)).(d-a) is; r is counted from o.
void carom_integrate_tetrahedron(carom_integrals *s, carom_vec3 o, const carom_vec3 corners[4]);
// What a solid of that density weighs; r was counted from o.
carom_mass carom_mass_of_integrals(const carom_integrals *s, carom_vec3 o, double density);
// Refuses a density that is not positive, and a mass or moment of inertia out of range.
carom_status carom_check_density(double density, carom_error *error);
carom_status carom_check_mass(const carom_mass *mass, carom_error *error);
// A point amid the vertices.
carom_vec3 carom_mean_point(const carom_vec3 *vertices, int count);

// Adds what a ball of the given radius, rolled over the polytope, covers outside it; r is counted from o.
void carom_integrate_coat(carom_integrals *s, const carom_polytope *polytope, carom_vec3 o, double radius);

#endif
