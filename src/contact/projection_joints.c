// Joints as rows of the contact solver: bilateral, and solved together with the contacts.
#include "contact/projection.h"
#include "model/joints.h"

// The world is one more body, which does not move.
static int index_of(const carom_model *model, int body) { return body == CAROM_WORLD ? model->body_count : body; }

static bool add_rows(carom_sweeps *s, const carom_model *model, const carom_state *state, int joint, bool positions) {
  double g[CAROM_JOINT_ROWS], rates[CAROM_JOINT_ROWS];
  carom_row rows[CAROM_JOINT_ROWS];
  const carom_joint *j = &model->joints[joint];
  int count = carom_joint_row_count(j);
  carom_joint_equations(model, j, &state->joints[joint], state, state->time, g, rows);
  carom_joint_rates(model, j, state->time, rates);
  for (int i = 0; i < count; i++) {
    const carom_row *r = &rows[i];
    carom_sweep_joint *added = carom_sweeps_add_joint(s, index_of(model, r->body[0]), index_of(model, r->body[1]),
                                                      r->linear[0], r->angular[0], cm_neg(r->angular[1]));
    if (!added) return false;
    added->target = positions ? -g[i] : rates[i];
  }
  return true;
}

carom_sweep_contact *carom_sweeps_add_joint_limit(carom_sweeps *s, const carom_model *model,
                                                  const carom_joint_limit *limit) {
  const carom_row *r = &limit->row;
  return carom_sweeps_add_limit(s, index_of(model, r->body[0]), index_of(model, r->body[1]), r->linear[0],
                                r->angular[0], cm_neg(r->angular[1]));
}

carom_status carom_sweeps_add_joints(carom_sweeps *s, const carom_model *model, const carom_state *state,
                                     bool positions, carom_error *error) {
  for (int i = 0; i < model->joint_count; i++)
    if (carom_joint_acts(model, state, i) && !add_rows(s, model, state, i, positions))
      return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d joints", model->joint_count);
  return CAROM_OK;
}
