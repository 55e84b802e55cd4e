// The facet of a difference D = A - B nearest to the origin, found by looking at all of them. Needs no room, whatever
// the number of facets: where all are nearly as near, an expanding polytope would have to hold all of D.
#ifndef CAROM_SRC_COLLIDE_SURVEY_H
#define CAROM_SRC_COLLIDE_SURVEY_H

#include "collide/epa.h"

// Whether D has vertices, edges and faces to look at: the cores of both bodies have vertices, and one is a polytope.
bool carom_survey_can(const carom_difference *D);
// As carom_epa, for a D that can be surveyed.
void carom_survey(carom_difference *D, carom_facet *facet);

// For curved bodies, which have no facets to look at: from the facet's normal downhill to where D reaches least far, at
// least nearby. The depth is then D's reach there, along which the bodies surely part; `lower` stays.
void carom_descend(carom_difference *D, carom_facet *facet);

#endif
