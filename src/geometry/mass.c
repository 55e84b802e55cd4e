// Mass properties by exact integration. A solid with flat faces is the signed sum of the tetrahedra that join a fixed
// point o to the triangles of its surface; over such a tetrahedron with corners o, o+a, o+b, o+c and d = a.(b x c)
//   volume = d/6,   int r dV = d/24 (a+b+c),   int r r' dV = d/120 (s s' + a a' + b b' + c c'),  s = a+b+c
// and likewise with a fourth corner in place of o (Tonon 2004, "Explicit exact formulas for the 3-D tetrahedron inertia
// tensor"; r counted from o). With o amid the vertices the terms have hardly any cancellation however far the solid is
// from the origin, and extended precision leaves the last bit of the result to the final rounding.
#include <math.h>

#include "base/memory.h"
#include "geometry/integrals.h"
#include "geometry/mesh.h"
#include "geometry/shape.h"
#include "geometry/weld.h"

typedef carom_real real;
typedef carom_integrals integrals;

static const real pi = 3.14159265358979323846264338327950288L;

static void load(real *to, carom_vec3 v, carom_vec3 o) {
  to[0] = (real)v.x - (real)o.x;
  to[1] = (real)v.y - (real)o.y;
  to[2] = (real)v.z - (real)o.z;
}

void carom_integrate_tetrahedron(integrals *s, carom_vec3 o, const carom_vec3 corners[4]) {
  real p[4][3], a[3], b[3], c[3], sum[3];
  for (int i = 0; i < 4; i++) load(p[i], corners[i], o);
  for (int i = 0; i < 3; i++) {
    a[i] = p[1][i] - p[0][i];
    b[i] = p[2][i] - p[0][i];
    c[i] = p[3][i] - p[0][i];
  }
  real d = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
  s->volume += d / 6;
  for (int i = 0; i < 3; i++) {
    sum[i] = p[0][i] + p[1][i] + p[2][i] + p[3][i];
    s->first[i] += d / 24 * sum[i];
  }
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++)
      s->second[i][j] +=
          d / 120 * (sum[i] * sum[j] + p[0][i] * p[0][j] + p[1][i] * p[1][j] + p[2][i] * p[2][j] + p[3][i] * p[3][j]);
}

static void add_tetrahedron(integrals *s, carom_vec3 o, carom_vec3 a, carom_vec3 b, carom_vec3 c) {
  carom_integrate_tetrahedron(s, o, (const carom_vec3[4]){o, a, b, c});
}

// inertia = density (tr(S) 1 - S) with S the second moments about the centre.
carom_mass carom_mass_of_integrals(const integrals *s, carom_vec3 o, double density) {
  real c[3], S[3][3];
  for (int i = 0; i < 3; i++) c[i] = s->first[i] / s->volume;
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) S[i][j] = S[j][i] = s->second[i][j] - s->volume * c[i] * c[j];
  carom_mass mass;
  mass.mass = (double)((real)density * s->volume);
  mass.center = cm_vec3((double)((real)o.x + c[0]), (double)((real)o.y + c[1]), (double)((real)o.z + c[2]));
  for (int i = 0; i < 3; i++) {
    mass.inertia.m[i][i] = (double)((real)density * (S[(i + 1) % 3][(i + 1) % 3] + S[(i + 2) % 3][(i + 2) % 3]));
    for (int j = 0; j < 3; j++)
      if (i != j) mass.inertia.m[i][j] = (double)((real)-density * S[i][j]);
  }
  return mass;
}

carom_vec3 carom_mean_point(const carom_vec3 *vertices, int count) {
  carom_vec3 sum = cm_zero3();
  for (int i = 0; i < count; i++) sum = cm_add(sum, cm_sub(vertices[i], vertices[0]));
  return cm_axpy(vertices[0], 1.0 / count, sum);
}

static carom_mass polytope_mass(const carom_polytope *p, double radius, double density) {
  integrals s = {0};
  carom_vec3 o = carom_mean_point(p->vertices, p->vertex_count);
  for (int f = 0; f < p->face_count; f++) {
    const int *c = p->face_vertices + p->face_start[f];
    for (int i = 1; i + 1 < p->face_start[f + 1] - p->face_start[f]; i++)
      add_tetrahedron(&s, o, p->vertices[c[0]], p->vertices[c[i]], p->vertices[c[i + 1]]);
  }
  if (radius > 0) carom_integrate_coat(&s, p, o, radius);
  return carom_mass_of_integrals(&s, o, density);
}

// A cylinder of length 2h and two half-balls whose own centres lie 3/8 r beyond its ends: about the middle,
//   I_z = m_c r^2/2 + m_b 2/5 r^2,   I_x = m_c (r^2/4 + h^2/3) + m_b (2/5 r^2 + h^2 + 3/4 h r)
// with m_b the mass of both halves together. h = 0 is the sphere.
static carom_mass capsule_mass(double radius, double half_length, double density) {
  real r = radius, h = half_length;
  real ball = density * pi * r * r * r * 4 / 3, cylinder = density * pi * r * r * 2 * h;
  real across = cylinder * (r * r / 4 + h * h / 3) + ball * (r * r * 2 / 5 + h * h + h * r * 3 / 4);
  real along = cylinder * r * r / 2 + ball * r * r * 2 / 5;
  carom_mass mass = {(double)(ball + cylinder), cm_zero3(), cm_diag3((double)across, (double)across, (double)along)};
  return mass;
}

// With the half axes a, b, c (of cylinder and cone: a = b the radius, 2c the height) about the centre of mass:
//   ellipsoid  m = 4/3 pi abc    I_z = m (a^2 + b^2)/5,   I_x = m (b^2 + c^2)/5
//   cylinder   m = 2 pi a^2 c    I_z = m a^2/2,           I_x = m (a^2/4 + c^2/3)
//   cone       m = 2/3 pi a^2 c  I_z = 3/10 m a^2,        I_x = 3/20 m (a^2 + c^2)
// as second moments S_x, S_y, S_z per mass, of which I_x = m (S_y + S_z).
static carom_mass smooth_mass(const carom_shape *shape, double density) {
  real a = shape->half_axes.x, b = shape->half_axes.y, c = shape->half_axes.z;
  real volume = 4 * pi / 3, across = 1 / 5.0L, along = 1 / 5.0L;
  if (shape->kind == CAROM_SHAPE_CYLINDER) volume = 2 * pi, across = 1 / 4.0L, along = 1 / 3.0L;
  if (shape->kind == CAROM_SHAPE_CONE) volume = 2 * pi / 3, across = 3 / 20.0L, along = 3 / 20.0L;
  real m = density * volume * a * b * c, x = m * across * a * a, y = m * across * b * b, z = m * along * c * c;
  carom_mass mass = {(double)m, cm_zero3(), cm_diag3((double)(y + z), (double)(z + x), (double)(x + y))};
  return mass;
}

static carom_mass solid_mass(const carom_shape *shape, double density) {
  switch (shape->kind) {
    case CAROM_SHAPE_POLYTOPE:
      return polytope_mass(&shape->polytope, shape->radius, density);
    case CAROM_SHAPE_ELLIPSOID:
    case CAROM_SHAPE_CYLINDER:
    case CAROM_SHAPE_CONE:
      return smooth_mass(shape, density);
    default:
      return capsule_mass(shape->radius, shape->half_length, density);
  }
}

carom_status carom_check_density(double density, carom_error *error) {
  if (isfinite(density) && density > 0) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_ARGUMENT, "the density is %g; expected a positive number of kg/m3", density);
}

// Sizes and densities are legal one by one, but r^5 may still leave the range of numbers.
carom_status carom_check_mass(const carom_mass *m, carom_error *error) {
  double values[4] = {m->mass, m->inertia.m[0][0], m->inertia.m[1][1], m->inertia.m[2][2]};
  for (int i = 0; i < 4; i++)
    if (!isfinite(values[i]) || values[i] <= 0)
      return carom_fail(error, CAROM_ERR_NUMBER,
                        "the mass (%g kg) or a moment of inertia (%g, %g, %g kg m2) is out of range; check the size, "
                        "the scale and the density",
                        values[0], values[1], values[2], values[3]);
  return CAROM_OK;
}

carom_status carom_shape_mass(const carom_shape *shape, double density, carom_mass *mass, carom_error *error) {
  carom_status status = carom_check_density(density, error);
  if (status) return status;
  if (shape->kind == CAROM_SHAPE_HALFSPACE)
    return carom_fail(error, CAROM_ERR_GEOMETRY, "a half-space has no finite mass; use it for a fixed body");
  carom_mass m = solid_mass(shape, density);
  status = carom_check_mass(&m, error);
  if (!status) *mass = m;
  return status;
}

carom_status carom_mesh_mass(const carom_mesh *mesh, double density, carom_mass *mass, carom_error *error) {
  carom_status status = carom_check_density(density, error);
  if (!status) status = carom_mesh_check(mesh, error);
  carom_allocator allocator = carom_mesh_allocator(mesh);
  if (!status) status = carom_mesh_check_closed(mesh, &allocator, error);
  if (status) return status;
  integrals s = {0};
  carom_vec3 o = carom_mean_point(mesh->vertices, mesh->vertex_count);
  for (int t = 0; t < mesh->triangle_count; t++) {
    const int *c = mesh->triangles + 3 * t;
    add_tetrahedron(&s, o, mesh->vertices[c[0]], mesh->vertices[c[1]], mesh->vertices[c[2]]);
  }
  real extent = carom_bounds_of(mesh->vertices, mesh->vertex_count).extent, none = 1e-15L * extent * extent * extent;
  if (fabsl(s.volume) <= none)
    return carom_fail(error, CAROM_ERR_GEOMETRY, "the mesh encloses no volume (%.3Lg m3 at an extent of %.3Lg m)",
                      s.volume, extent);
  if (s.volume < 0)
    return carom_fail(error, CAROM_ERR_GEOMETRY,
                      "the mesh is inside out (it encloses %.3Lg m3): its triangles are clockwise seen from outside; "
                      "reverse their order",
                      s.volume);
  carom_mass m = carom_mass_of_integrals(&s, o, density);
  status = carom_check_mass(&m, error);
  if (!status) *mass = m;
  return status;
}
