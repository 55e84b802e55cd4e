// Gaps between bodies that are no balls are linear in the step, and what that leaves of overlaps grows with its square.
// They are parted by the closest-point projection (contact/projection.h), which moves bodies and leaves their momenta.
#include "mechanics/balance.h"
#include "step/cone/cone.h"

static const double LEFT = 1e-9;  // of the thinnest body: overlap that may stay

carom_status carom_cone_project(carom_cone *cone, carom_state *state, carom_ledger *ledger, carom_error *error) {
  carom_state *before = cone->program.before;
  carom_projection_info info;
  carom_state_copy(before, state);
  carom_status status = carom_contacts_extend(cone->search.parts, state, error);
  if (status == CAROM_OK)
    status = carom_projection_run(cone->program.projection, state, LEFT * cone->bodies.smallest, &info, error);
  if (status != CAROM_OK) return status;
  cone->outcome.overlap = cone->outcome.violation = info.overlap;
  if (info.iterations == 0) return CAROM_OK;
  carom_balance old = carom_balance_of(cone->model, before), now = carom_balance_of(cone->model, state);
  cone->owed += now.potential - old.potential + now.kinetic - old.kinetic;
  carom_ledger_projection(ledger, 0, cm_sub(now.momentum, old.momentum),
                          cm_sub(now.angular_momentum, old.angular_momentum));
  return CAROM_OK;
}
