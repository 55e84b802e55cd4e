#include "model/body.h"

#include <math.h>

static bool matrix_finite(const carom_mat3 *A) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (!isfinite(A->m[i][j])) return false;
  return true;
}

static carom_status check_parts(const carom_body_def *def, const char *name, carom_error *error) {
  if (def->part_count < 0 || (def->part_count > 0 && !def->parts))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "body '%s': %d parts, but no array of them", name, def->part_count);
  for (int i = 0; i < def->part_count; i++) {
    const carom_part *part = &def->parts[i];
    if (!part->shape) return carom_fail(error, CAROM_ERR_ARGUMENT, "body '%s': part %d has no shape", name, i);
    if (!cm_finite(part->pose.p) || !isfinite(cm_qdot(part->pose.q, part->pose.q)))
      return carom_fail(error, CAROM_ERR_NUMBER, "body '%s': the pose of part %d is not finite", name, i);
    if (cm_qdot(part->pose.q, part->pose.q) < 1e-24)
      return carom_fail(error, CAROM_ERR_NUMBER, "body '%s': the rotation of part %d is a zero quaternion", name, i);
    if (!(part->density >= 0) || isinf(part->density))
      return carom_fail(error, CAROM_ERR_NUMBER, "body '%s': the density of part %d is %g, expected 0 or more", name, i,
                        part->density);
    if (!def->fixed && carom_shape_get_kind(part->shape) == CAROM_SHAPE_HALFSPACE)
      return carom_fail(error, CAROM_ERR_GEOMETRY, "body '%s': a half-space has no mass, so its body must be fixed",
                        name);
  }
  return CAROM_OK;
}

carom_status carom_body_check(const carom_body_def *def, const char *name, carom_error *error) {
  if (!cm_finite(def->pose.p) || !isfinite(cm_qdot(def->pose.q, def->pose.q)))
    return carom_fail(error, CAROM_ERR_NUMBER, "body '%s': the pose is not finite", name);
  if (cm_qdot(def->pose.q, def->pose.q) < 1e-24)
    return carom_fail(error, CAROM_ERR_NUMBER, "body '%s': the orientation is a zero quaternion", name);
  if (!cm_finite(def->velocity) || !cm_finite(def->angular_velocity))
    return carom_fail(error, CAROM_ERR_NUMBER, "body '%s': the velocity is not finite", name);
  if (def->fixed && (cm_norm2(def->velocity) > 0 || cm_norm2(def->angular_velocity) > 0))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "body '%s' is fixed and cannot have a velocity", name);
  if (!(def->mass >= 0) || isinf(def->mass))
    return carom_fail(error, CAROM_ERR_NUMBER, "body '%s': the mass is %g kg, expected more than 0", name, def->mass);
  if (!(def->density >= 0) || isinf(def->density))
    return carom_fail(error, CAROM_ERR_NUMBER, "body '%s': the density is %g, expected more than 0", name,
                      def->density);
  if (!def->fixed && def->part_count == 0 && def->mass == 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "body '%s' has neither a shape nor a mass", name);
  if (def->has_inertia && def->mass == 0 && !def->fixed)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "body '%s': an inertia needs a mass beside it", name);
  if (def->has_inertia && (!matrix_finite(&def->inertia) || !cm_finite(def->center)))
    return carom_fail(error, CAROM_ERR_NUMBER, "body '%s': the inertia is not finite", name);
  return check_parts(def, name, error);
}

static carom_status part_mass(const carom_part *part, double density, carom_mass_cache *cache, carom_mass *mass,
                              carom_error *error) {
  if (cache->shape != part->shape) {
    carom_status status = carom_shape_mass(part->shape, 1, &cache->unit, error);
    if (status != CAROM_OK) return status;
    cache->shape = part->shape;
  }
  *mass = cache->unit;
  mass->mass *= density;
  mass->inertia = cm_mscale(density, mass->inertia);
  *mass = carom_mass_transform(*mass, cm_pose(part->pose.p, cm_qunit(part->pose.q)));
  return CAROM_OK;
}

static carom_status mass_of_parts(const carom_body_def *def, carom_mass_cache *cache, carom_mass *sum,
                                  carom_error *error) {
  for (int i = 0; i < def->part_count; i++) {
    carom_mass mass;
    double own = def->parts[i].density > 0 ? def->parts[i].density : def->density;
    carom_status status = part_mass(&def->parts[i], own, cache, &mass, error);
    if (status != CAROM_OK) return status;
    *sum = i == 0 ? mass : carom_mass_add(*sum, mass);
  }
  return CAROM_OK;
}

static carom_status body_mass(const carom_body_def *def, carom_mass_cache *cache, carom_mass *mass,
                              carom_error *error) {
  *mass = (carom_mass){.mass = def->mass, .center = def->center};
  if (def->has_inertia) mass->inertia = def->inertia;
  if (def->has_inertia || def->part_count == 0) return CAROM_OK;
  carom_status status = mass_of_parts(def, cache, mass, error);
  if (status != CAROM_OK || def->mass == 0) return status;
  mass->inertia = cm_mscale(def->mass / mass->mass, mass->inertia);
  mass->mass = def->mass;
  return CAROM_OK;
}

// A real body obeys J1 <= J2 + J3 and its permutations; a little slack for rounded input.
static carom_status check_moments(carom_vec3 J, const char *name, carom_error *error) {
  double sum = J.x + J.y + J.z, largest = fmax(J.x, fmax(J.y, J.z)), smallest = fmin(J.x, fmin(J.y, J.z));
  if (!(smallest > 0) || !isfinite(sum))
    return carom_fail(error, CAROM_ERR_NUMBER, "body '%s': the moments of inertia (%g, %g, %g) must be positive", name,
                      J.x, J.y, J.z);
  if (largest > (sum - largest) * (1 + 1e-6))
    return carom_fail(
        error, CAROM_ERR_NUMBER,
        "body '%s': no mass distribution has the moments of inertia (%g, %g, %g): the largest exceeds the "
        "sum of the others",
        name, J.x, J.y, J.z);
  return CAROM_OK;
}

static double bounding_radius(const carom_body_def *def, carom_vec3 center) {
  double radius = 0;
  for (int i = 0; i < def->part_count; i++) {
    double reach = cm_norm(cm_sub(def->parts[i].pose.p, center)) + carom_shape_bounding_radius(def->parts[i].shape);
    radius = fmax(radius, reach);
  }
  return radius;
}

static void make_immovable(carom_body *body) {
  body->mass = INFINITY;
  body->inertia = cm_vec3(INFINITY, INFINITY, INFINITY);
  body->frame = cm_pose_identity();
}

static carom_vec3 reciprocal(carom_vec3 J) { return cm_vec3(1 / J.x, 1 / J.y, 1 / J.z); }

carom_status carom_body_constants(const carom_body_def *def, const char *name, carom_mass_cache *cache,
                                  carom_body *body, carom_pose *principal, carom_error *error) {
  body->fixed = def->fixed;
  *principal = cm_pose_identity();
  body->bounding_radius = bounding_radius(def, cm_zero3());
  if (def->fixed) {
    make_immovable(body);
    return CAROM_OK;
  }
  carom_mass mass;
  carom_status status = body_mass(def, cache, &mass, error);
  if (status != CAROM_OK) return status;
  carom_mass_principal(mass, &body->inertia, principal);
  bool turns = def->part_count > 0 || def->has_inertia;
  if (turns && (status = check_moments(body->inertia, name, error)) != CAROM_OK) return status;
  body->mass = mass.mass;
  body->inverse_mass = 1 / mass.mass;
  body->inverse_inertia = turns ? reciprocal(body->inertia) : cm_zero3();
  body->frame = cm_pose_inverse(*principal);
  body->bounding_radius = bounding_radius(def, mass.center);
  return CAROM_OK;
}
