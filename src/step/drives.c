// Driven bodies: fixed ones whose pose is a function of time.
#include "step/step.h"

void carom_drives_place(const carom_model *model, carom_state *state, double time) {
  for (int i = 0; i < model->drive_count; i++) {
    carom_pose pose = carom_drive_pose(model, i, time);
    state->x[model->drives[i].body] = pose.p;
    state->q[model->drives[i].body] = pose.q;
  }
}
