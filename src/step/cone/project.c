// Gaps between bodies that are no balls are linear in the step, and what that leaves of overlaps grows with its square.
// They are parted by the closest-point projection (contact/projection.h), which moves bodies and leaves momentum and
// angular momentum.
#include <math.h>

#include "mechanics/balance.h"
#include "step/cone/cone.h"

static const double LEFT = 1e-9;       // of the thinnest body: overlap that the projection may leave
static const double SLIGHT = 1e-6;     // overlap at the end of the step that velocities need not foresee
static const double VISIBLE = 1.5e-4;  // and that they may leave

carom_status carom_cone_foresee(carom_cone *cone, const carom_state *state, bool *any, carom_error *error) {
  carom_contacts *parts = cone->search.parts;
  const carom_state *end = cone->trial;
  carom_status status = carom_contacts_extend(parts, end, error);
  *any = false;
  cone->outcome.foreseen = 0;
  for (int i = 0; i < parts->pair_count && status == CAROM_OK; i++) {
    carom_distance_result d;
    if (carom_joints_hold(cone->model, end, parts->pairs[i].body_a, parts->pairs[i].body_b)) continue;
    if (carom_contacts_distance(parts, i, end, &d) != CAROM_OK) continue;
    cone->outcome.foreseen = fmax(cone->outcome.foreseen, -d.distance);
    d.distance += cone->outcome.overlap;  // that there was at the start is parted in time
    if (d.distance >= -SLIGHT * cone->bodies.smallest) continue;
    *any = carom_cone_widen(cone, state, i, &d) || *any;
  }
  return status;
}

static double deepest(carom_cone *cone, const carom_state *state) {
  carom_contacts *parts = cone->search.parts;
  double overlap = 0;
  for (int i = 0; i < parts->pair_count; i++) {
    carom_distance_result d;
    if (carom_joints_hold(cone->model, state, parts->pairs[i].body_a, parts->pairs[i].body_b)) continue;
    if (carom_contacts_distance(parts, i, state, &d) == CAROM_OK) overlap = fmax(overlap, -d.distance);
  }
  return overlap;
}

carom_status carom_cone_project(carom_cone *cone, carom_state *state, carom_error *error) {
  carom_state *before = cone->program.before;
  carom_projection_info info;
  carom_state_copy(before, state);
  carom_status status = carom_contacts_extend(cone->search.parts, state, error);
  if (status != CAROM_OK) return status;
  cone->outcome.overlap = cone->outcome.violation = deepest(cone, state);
  if (cone->outcome.overlap <= VISIBLE * cone->bodies.smallest) return CAROM_OK;
  status = carom_projection_run(cone->program.projection, state, LEFT * cone->bodies.smallest, &info, error);
  if (status != CAROM_OK) return status;
  cone->outcome.overlap = cone->outcome.violation = info.overlap;
  if (info.iterations == 0) return CAROM_OK;
  // A body that was somewhere else has the angular momentum that it had.
  for (int i = 0; i < state->body_count; i++)
    state->l[i] = cm_sub(state->l[i], cm_cross(cm_sub(state->x[i], before->x[i]), state->p[i]));
  carom_balance old = carom_balance_of(cone->model, before), now = carom_balance_of(cone->model, state);
  cone->owed += now.potential - old.potential + now.kinetic - old.kinetic;
  return CAROM_OK;
}
