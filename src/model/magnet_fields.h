// Pairs of electromagnets as a force field: the law of Johnson 2012, appendix B, on one body, its opposite on the
// other.
#ifndef CAROM_SRC_MODEL_MAGNET_FIELDS_H
#define CAROM_SRC_MODEL_MAGNET_FIELDS_H

#include "model/fields.h"

// Adds the loads of all pairs.
void carom_magnet_fields_add(const carom_model *model, const carom_configuration *c, carom_loads *loads);
// Adds their power, and the opposite of the couples that fixed bodies and the world receive; what forces do there is
// in the loads.
void carom_magnet_fields_resultant(const carom_model *model, const carom_configuration *c, carom_resultant *r);

#endif
