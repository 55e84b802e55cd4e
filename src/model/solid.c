// What is asked of the solids of a model.
#include "model/joint_rows.h"
#include "model/model.h"
#include "model/row.h"

int carom_model_find_solid(const carom_model *model, const char *name) {
  return carom_names_find(&((const carom_model_full *)model)->solid_names, name);
}

int carom_model_solid_of(const carom_model *model, int node) {
  int low = 0, high = model->solid_count - 1;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (model->solids[middle].node_start <= node)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

const char *carom_model_name(const carom_model *model, int body) {
  if (body == CAROM_WORLD) return "the world";
  return body < CAROM_WORLD ? model->solids[CAROM_SOLID(body)].name : model->bodies[body].name;
}

int carom_model_material(const carom_model *model, int body) {
  if (body == CAROM_WORLD) return -1;
  return body < CAROM_WORLD ? model->solids[CAROM_SOLID(body)].material : model->bodies[body].material;
}

// The twist of a driven body at an instant comes from a motion over so short a time that nothing bends, s.
static const double INSTANT = 1e-7;

void carom_pin_motion(const carom_model *model, int pin, double time, carom_vec3 *x, carom_vec3 *v) {
  const carom_pin *p = &model->pins[pin];
  int drive = carom_model_drive(model, p->body);
  *x = model->rest[p->node];
  *v = cm_zero3();
  if (drive < 0) return;
  carom_pose pose = carom_drive_pose(model, drive, time);
  carom_vec3 spin;
  *x = cm_transform(pose, p->point);
  carom_model_motion(model, p->body, time - 0.5 * INSTANT, INSTANT, v, &spin);
  *v = cm_add(*v, cm_cross(spin, cm_sub(*x, pose.p)));
}

double carom_pressure_at(const carom_model *model, int pressure, double time) {
  const carom_pressure *p = &model->pressures[pressure];
  return p->pressure * carom_schedule_value(&model->knots[p->knot_start], p->knot_count, time);
}
