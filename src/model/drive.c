// Where driven bodies are. A pose is a function of time alone, so that any integrator can ask for any moment.
#include <math.h>

#include "model/joint_rows.h"
#include "model/model.h"

static const double TWO_PI = 6.283185307179586476925;

carom_pose carom_drive_pose(const carom_model *model, int drive, double time) {
  const carom_drive *d = &model->drives[drive];
  const carom_knot *knots = d->knot_count > 0 ? model->knots + d->knot_start : NULL;
  double S = carom_schedule_integral(knots, d->knot_count, time);
  double swing =
      carom_schedule_value(knots, d->knot_count, time) * (sin(TWO_PI * d->frequency * time + d->phase) - sin(d->phase));
  carom_vec3 shift = cm_axpy(cm_scale(S, d->velocity), swing, d->amplitude);
  carom_quat turn = cm_axis_angle(d->axis, S * d->angular_velocity);
  carom_vec3 arm = cm_sub(d->start.p, d->point);
  return cm_pose(cm_add(cm_add(d->point, shift), cm_rotate(turn, arm)), cm_qunit(cm_qmul(turn, d->start.q)));
}

int carom_model_drive(const carom_model *model, int body) {
  for (int i = 0; i < model->drive_count; i++)
    if (model->drives[i].body == body) return i;
  return -1;
}

void carom_model_motion(const carom_model *model, int body, double time, double h, carom_vec3 *velocity,
                        carom_vec3 *angular_velocity) {
  int drive = carom_model_drive(model, body);
  *velocity = *angular_velocity = cm_zero3();
  if (drive < 0) return;
  carom_pose a = carom_drive_pose(model, drive, time), b = carom_drive_pose(model, drive, time + h);
  *velocity = cm_scale(1 / h, cm_sub(b.p, a.p));
  *angular_velocity = cm_scale(1 / h, cm_log(cm_qmul(b.q, cm_qconj(a.q))));
}
