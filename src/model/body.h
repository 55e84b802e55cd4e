// From a body definition to the constants of a body.
#ifndef CAROM_SRC_MODEL_BODY_H
#define CAROM_SRC_MODEL_BODY_H

#include "carom/model.h"

// Checks everything in the definition that needs no other body. `name` is used in messages.
carom_status carom_body_check(const carom_body_def *def, const char *name, carom_error *error);

// The last shape whose mass was integrated, at density 1: replicas share shapes, and integrals of large meshes are
// dear.
typedef struct carom_mass_cache {
  const carom_shape *shape;
  carom_mass unit;
} carom_mass_cache;

// Mass, principal moments, frame and bounding radius of `body`; *principal is the pose of the principal frame in the
// user's body frame; the density of `def` is that of its parts which have none. Inertia of a body without parts may be
// zero: such a body does not turn.
carom_status carom_body_constants(const carom_body_def *def, const char *name, carom_mass_cache *cache,
                                  carom_body *body, carom_pose *principal, carom_error *error);

#endif
