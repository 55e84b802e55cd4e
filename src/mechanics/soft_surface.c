#include "mechanics/soft_surface.h"

carom_aabb carom_soft_box(const carom_solid *solid, const carom_vec3 *x) {
  carom_aabb box = {cm_vec3(INFINITY, INFINITY, INFINITY), cm_vec3(-INFINITY, -INFINITY, -INFINITY)};
  for (int i = 0; i < solid->skin->node_count; i++) {
    carom_vec3 p = x[solid->skin->nodes[i]];
    box.low = cm_vec3(fmin(box.low.x, p.x), fmin(box.low.y, p.y), fmin(box.low.z, p.z));
    box.high = cm_vec3(fmax(box.high.x, p.x), fmax(box.high.y, p.y), fmax(box.high.z, p.z));
  }
  return box;
}

// ---- distance -------------------------------------------------------------------------------------------------------

static double to_segment2(carom_vec3 p, carom_vec3 a, carom_vec3 b) {
  carom_vec3 way = cm_sub(b, a), from = cm_sub(p, a);
  double length2 = cm_norm2(way), s = length2 > 0 ? fmin(fmax(cm_dot(from, way) / length2, 0), 1) : 0;
  return cm_norm2(cm_axpy(from, -s, way));
}

// Over the triangle it is the distance from its plane, else that of the nearest edge.
static double to_triangle2(carom_vec3 p, carom_vec3 a, carom_vec3 b, carom_vec3 c) {
  carom_vec3 n = cm_cross(cm_sub(b, a), cm_sub(c, a));
  double out_ab = cm_dot(cm_cross(cm_sub(b, a), cm_sub(p, a)), n),
         out_bc = cm_dot(cm_cross(cm_sub(c, b), cm_sub(p, b)), n),
         out_ca = cm_dot(cm_cross(cm_sub(a, c), cm_sub(p, c)), n), size2 = cm_norm2(n);
  if (out_ab >= 0 && out_bc >= 0 && out_ca >= 0 && size2 > 0) {
    double along = cm_dot(cm_sub(p, a), n);
    return along * along / size2;
  }
  return fmin(to_segment2(p, a, b), fmin(to_segment2(p, b, c), to_segment2(p, c, a)));
}

static double to_face2(const carom_solid *solid, const carom_vec3 *x, carom_vec3 point, int face) {
  const int *nodes = solid->skin->triangles[face];
  return to_triangle2(point, x[nodes[0]], x[nodes[1]], x[nodes[2]]);
}

// The first triangle that belongs to a tetrahedron, or would.
static int first_of(const carom_tets_skin *skin, int tet) {
  int low = 0, high = skin->triangle_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (skin->triangle_tets[middle] < tet)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

double carom_soft_distance(const carom_solid *solid, const carom_vec3 *x, carom_vec3 point, int tet, double enough) {
  const carom_tets_skin *skin = solid->skin;
  double nearest2 = INFINITY, enough2 = enough * enough;
  for (int f = tet < 0 ? skin->triangle_count : first_of(skin, tet);
       f < skin->triangle_count && skin->triangle_tets[f] == tet; f++)
    nearest2 = fmin(nearest2, to_face2(solid, x, point, f));
  for (int f = 0; f < skin->triangle_count && nearest2 > enough2; f++)
    nearest2 = fmin(nearest2, to_face2(solid, x, point, f));
  return sqrt(nearest2);
}

// ---- width ----------------------------------------------------------------------------------------------------------

static double extent(const carom_solid *solid, const carom_vec3 *rest, carom_vec3 n) {
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < solid->skin->node_count; i++) {
    double along = cm_dot(rest[solid->skin->nodes[i]], n);
    low = fmin(low, along), high = fmax(high, along);
  }
  return high - low;
}

double carom_soft_width(const carom_solid *solid, const carom_vec3 *rest) {
  enum { MOST = 256 };
  const carom_tets_skin *skin = solid->skin;
  int stride = 1 + (skin->triangle_count - 1) / MOST;
  double surface = 0, least = INFINITY;
  for (int i = 0; i < skin->node_count; i++) surface += skin->areas[i];
  for (int f = 0; f < skin->triangle_count; f += stride) {
    const int *t = skin->triangles[f];
    carom_vec3 a = rest[t[0]], n = cm_cross(cm_sub(rest[t[1]], a), cm_sub(rest[t[2]], a));
    least = fmin(least, extent(solid, rest, cm_unit(n)));
  }
  return fmin(least, 6 * solid->mass / (solid->matter.density * surface));
}
