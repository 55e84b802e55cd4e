// Mass properties that are known already: moved, joined, turned to principal axes.
#include <math.h>

#include "carom/geometry.h"

// Off-diagonal parts below this share of the trace are rounding: turning the frame for their sake would only replace
// the user's axes by arbitrary ones, as for a prism whose two transverse moments are equal.
#define DIAGONAL 1e-14

static carom_mat3 symmetric_part(carom_mat3 A) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++) A.m[i][j] = A.m[j][i] = (A.m[i][j] + A.m[j][i]) / 2;
  return A;
}

carom_mass carom_mass_transform(carom_mass mass, carom_pose pose) {
  carom_mat3 R = cm_rotation(pose.q);
  mass.center = cm_transform(pose, mass.center);
  mass.inertia = symmetric_part(cm_mmul(R, cm_mmul(mass.inertia, cm_transpose(R))));
  return mass;
}

// I = I_a + I_b + m_a m_b / (m_a + m_b) (|d|^2 1 - d d'),  d from centre to centre (Steiner's theorem, twice).
carom_mass carom_mass_add(carom_mass a, carom_mass b) {
  double total = a.mass + b.mass;
  if (!(total > 0)) return a;
  carom_vec3 d = cm_sub(b.center, a.center);
  double reduced = a.mass * (b.mass / total), d2 = cm_norm2(d);
  carom_mat3 steiner = cm_msub(cm_diag3(d2, d2, d2), cm_outer(d, d));
  carom_mass sum = {total, cm_axpy(a.center, b.mass / total, d),
                    cm_madd(cm_madd(a.inertia, b.inertia), cm_mscale(reduced, steiner))};
  return sum;
}

void carom_mass_principal(carom_mass mass, carom_vec3 *moments, carom_pose *frame) {
  carom_mat3 I = symmetric_part(mass.inertia);
  double off = fmax(fabs(I.m[0][1]), fmax(fabs(I.m[0][2]), fabs(I.m[1][2])));
  if (off <= DIAGONAL * cm_trace(I)) {
    *moments = cm_vec3(I.m[0][0], I.m[1][1], I.m[2][2]);
    *frame = cm_pose(mass.center, cm_qidentity());
    return;
  }
  carom_mat3 axes;
  cm_eigen3(I, moments, &axes);
  *frame = cm_pose(mass.center, cm_quat_of(axes));
}
