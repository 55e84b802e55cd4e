#include "contact/boundary.h"

#include <math.h>

carom_pose carom_boundary_frame(const carom_boundary *boundary, const carom_vec3 *x, const carom_quat *q) {
  if (boundary->body == CAROM_WORLD) return boundary->pose;
  return cm_compose(cm_pose(x[boundary->body], q[boundary->body]), boundary->pose);
}

static int touch_plane(carom_pose frame, const carom_grain *ball, carom_touch *touch) {
  carom_vec3 n = cm_rotate(frame.q, cm_vec3(0, 0, 1));
  *touch = (carom_touch){.gap = cm_dot(n, cm_sub(ball->x, frame.p)) - ball->radius, .normal = n};
  return touch->gap <= ball->reach ? 1 : 0;
}

// The point of segment i that is nearest to (rho, z), as a fraction of the segment.
static double nearest_fraction(const carom_profile_point *a, double rho, double z) {
  double dr = a[1].rho - a[0].rho, dz = a[1].z - a[0].z;
  double t = ((rho - a[0].rho) * dr + (z - a[0].z) * dz) / (dr * dr + dz * dz);
  return t < 0 ? 0 : t > 1 ? 1 : t;
}

static double to_segment(const carom_profile_point *a, double t, double rho, double z) {
  double r = rho - (a[0].rho + t * (a[1].rho - a[0].rho)), s = z - (a[0].z + t * (a[1].z - a[0].z));
  return sqrt(r * r + s * s);
}

double carom_boundary_distance(const carom_model *model, const carom_boundary *boundary, carom_pose frame,
                               carom_vec3 point) {
  const carom_profile_point *profile = model->profiles + boundary->profile_start;
  carom_vec3 local = cm_untransform(frame, point);
  double rho = sqrt(local.x * local.x + local.y * local.y), nearest = INFINITY;
  if (boundary->kind == CAROM_BOUNDARY_PLANE) return fabs(local.z);
  for (int i = 0; i + 1 < boundary->profile_count; i++)
    nearest = fmin(nearest, to_segment(profile + i, nearest_fraction(profile + i, rho, local.z), rho, local.z));
  return nearest;
}

// A corner belongs to the segment that ends there: the one that begins there leaves it out.
static bool touch_segment(const carom_profile_point *a, bool first, double rho, double z, double *distance,
                          carom_profile_point *normal) {
  double t = nearest_fraction(a, rho, z);
  if (t == 0 && !first) return false;
  double r = rho - (a[0].rho + t * (a[1].rho - a[0].rho)), s = z - (a[0].z + t * (a[1].z - a[0].z));
  double d = sqrt(r * r + s * s);
  if (d == 0) return false;  // on the sheet itself: no side to be pushed to
  *distance = d;
  *normal = (carom_profile_point){.rho = r / d, .z = s / d};
  return true;
}

static int touch_revolution(const carom_profile_point *profile, int count, carom_pose frame, const carom_grain *ball,
                            carom_touch *touches) {
  carom_vec3 local = cm_untransform(frame, ball->x);
  double rho = sqrt(local.x * local.x + local.y * local.y);  // lengths of this world: hypot only costs time
  double c = rho > 0 ? local.x / rho : 1, s = rho > 0 ? local.y / rho : 0;
  int found = 0;
  for (int i = 0; i + 1 < count && found < CAROM_TOUCH_MAX; i++) {
    carom_touch touch = {.feature = i};
    carom_profile_point n;
    if (!touch_segment(profile + i, i == 0, rho, local.z, &touch.gap, &n)) continue;
    touch.gap -= ball->radius;
    if (touch.gap > ball->reach) continue;
    touch.normal = cm_rotate(frame.q, cm_vec3(n.rho * c, n.rho * s, n.z));
    touches[found++] = touch;
  }
  return found;
}

int carom_boundary_touch(const carom_model *model, const carom_boundary *boundary, carom_pose frame,
                         const carom_grain *ball, carom_touch *touches) {
  if (boundary->kind == CAROM_BOUNDARY_PLANE) return touch_plane(frame, ball, touches);
  return touch_revolution(model->profiles + boundary->profile_start, boundary->profile_count, frame, ball, touches);
}
