// Magnets: permanent ones are two charges, pairs of electromagnets a law of their own.
#include <math.h>

#include "model/builder.h"

// ---- permanent magnets -------------------------------------------------------------------------------

static carom_status check_magnet(const carom_magnet_def *def, carom_error *error) {
  if (!cm_finite(def->position) || !cm_finite(def->axis) || !isfinite(def->charge))
    return carom_fail(error, CAROM_ERR_NUMBER, "magnet: position, axis and charge must be finite");
  if (cm_norm(def->axis) == 0) return carom_fail(error, CAROM_ERR_ARGUMENT, "magnet: the axis is zero");
  if (!(def->thickness > 0) || isinf(def->thickness))
    return carom_fail(error, CAROM_ERR_NUMBER, "magnet: the thickness is %g m, expected more than 0", def->thickness);
  if (!(def->recess >= 0) || isinf(def->recess))
    return carom_fail(error, CAROM_ERR_NUMBER, "magnet: the recess is %g m, expected 0 or more", def->recess);
  return CAROM_OK;
}

int carom_builder_add_magnet(carom_builder *builder, int set, int body, const carom_magnet_def *def) {
  if (!carom_builder_sound(builder) || !carom_builder_knows_body(builder, body, false, "magnet") ||
      check_magnet(def, &builder->error) != CAROM_OK)
    return -1;
  carom_vec3 axis = cm_unit(def->axis), front = cm_axpy(def->position, -def->recess, axis);
  int first = carom_builder_add_charge(builder, set, body, front, def->charge);
  carom_vec3 back = cm_axpy(def->position, -(def->recess + def->thickness), axis);
  return carom_builder_add_charge(builder, set, body, back, -def->charge) < 0 ? -1 : first;
}

// ---- electromagnets ----------------------------------------------------------------------------------

static carom_status check_pair(const carom_electromagnet_def *def, int index, carom_error *error) {
  if (def->body[0] == def->body[1])
    return carom_fail(error, CAROM_ERR_ARGUMENT, "electromagnets %d: both are on one body", index);
  if (!isfinite(def->strength))
    return carom_fail(error, CAROM_ERR_NUMBER, "electromagnets %d: the strength must be finite", index);
  for (int end = 0; end < 2; end++) {
    if (!cm_finite(def->point[end]) || !cm_finite(def->axis[end]))
      return carom_fail(error, CAROM_ERR_NUMBER, "electromagnets %d: points and axes must be finite", index);
    if (cm_norm(def->axis[end]) == 0)
      return carom_fail(error, CAROM_ERR_ARGUMENT, "electromagnets %d: axis %d is zero", index, end);
  }
  return CAROM_OK;
}

int carom_builder_add_electromagnets(carom_builder *builder, const carom_electromagnet_def *def) {
  carom_model *m = carom_builder_sound(builder) ? &builder->model->view : NULL;
  if (!m || !carom_builder_knows_body(builder, def->body[0], false, "electromagnets") ||
      !carom_builder_knows_body(builder, def->body[1], true, "electromagnets") ||
      check_pair(def, m->electromagnet_count, &builder->error) != CAROM_OK)
    return -1;
  if (!CAROM_BUILDER_GROW(builder, builder->model->electromagnets, m->electromagnet_count,
                          builder->electromagnet_capacity))
    return carom_builder_out_of_memory(builder);
  carom_electromagnet pair = {.strength = def->strength};
  for (int end = 0; end < 2; end++) {
    int body = def->body[end];
    carom_vec3 axis = cm_unit(def->axis[end]);
    pair.body[end] = body;
    pair.point[end] = carom_builder_point(builder, body, def->point[end]);
    pair.axis[end] = body == CAROM_WORLD ? axis : cm_rotate(builder->model->bodies[body].frame.q, axis);
  }
  builder->model->electromagnets[m->electromagnet_count] = pair;
  return m->electromagnet_count++;
}

// The law was fitted in a plane.
static carom_status check_plane(const carom_builder *builder, int index, carom_error *error) {
  static const double FLAT = 1e-9;
  const carom_electromagnet *pair = &builder->model->electromagnets[index];
  for (int end = 0; end < 2; end++) {
    int body = pair->body[end];
    carom_pose place = body == CAROM_WORLD ? cm_pose_identity() : builder->poses[body];
    if (fabs(cm_rotate(place.q, pair->axis[end]).z) <= FLAT) continue;
    return carom_fail(error, CAROM_ERR_ARGUMENT, "electromagnets %d: axis %d points out of the plane", index, end);
  }
  return CAROM_OK;
}

carom_status carom_builder_check_electromagnets(const carom_builder *builder, carom_error *error) {
  const carom_model *m = &builder->model->view;
  carom_status status = CAROM_OK;
  if (m->electromagnet_count > 0 && !m->planar)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                      "electromagnets have a law for planar scenes only: add 'planar: true', or take magnets instead");
  for (int i = 0; i < m->electromagnet_count && status == CAROM_OK; i++) status = check_plane(builder, i, error);
  return status;
}
