#include "cli/push_outline.h"

#include <math.h>
#include <stdlib.h>

static const double TURN = 6.283185307179586;
enum { ROUND = 48 };  // points of a circle

static void add(cli_outline *o, const carom_placed *placed, carom_vec3 local) {
  carom_vec3 p = cm_transform(placed->pose, local);
  if (o->count == CLI_OUTLINE_POINTS) return;
  o->points[o->count][0] = p.x;
  o->points[o->count++][1] = p.y;
}

// A circle in the plane about a point of the world's shadow.
static void add_circle(cli_outline *o, carom_vec3 center, double radius) {
  for (int i = 0; i < ROUND && o->count < CLI_OUTLINE_POINTS; i++) {
    o->points[o->count][0] = center.x + radius * cos(i * TURN / ROUND);
    o->points[o->count++][1] = center.y + radius * sin(i * TURN / ROUND);
  }
}

static void add_corners(cli_outline *o, const carom_placed *placed) {
  const carom_polytope *p = carom_shape_polytope(placed->shape);
  double radius = carom_shape_radius(placed->shape);
  int stride = 1 + p->vertex_count / (radius > 0 ? CLI_OUTLINE_POINTS / ROUND : CLI_OUTLINE_POINTS);
  for (int i = 0; i < p->vertex_count; i += stride) {
    if (radius > 0)
      add_circle(o, cm_transform(placed->pose, p->vertices[i]), radius);
    else
      add(o, placed, p->vertices[i]);
  }
}

static void add_rim(cli_outline *o, const carom_placed *placed, double radius, double z) {
  for (int i = 0; i < ROUND; i++)
    add(o, placed, cm_vec3(radius * cos(i * TURN / ROUND), radius * sin(i * TURN / ROUND), z));
}

static void add_ellipsoid(cli_outline *o, const carom_placed *placed) {
  carom_vec3 a = carom_shape_half_axes(placed->shape);
  for (int k = -12; k <= 12; k++) {
    double c = cos(k * TURN / 48), s = sin(k * TURN / 48);
    for (int i = 0; i < ROUND; i++)
      add(o, placed, cm_vec3(a.x * c * cos(i * TURN / ROUND), a.y * c * sin(i * TURN / ROUND), a.z * s));
  }
}

static void add_halfspace(cli_outline *o, const carom_placed *placed, double far) {
  for (int i = 0; i < 8; i++) add(o, placed, cm_vec3(i & 1 ? far : -far, i & 2 ? far : -far, i & 4 ? 0 : -far));
}

static void add_round(cli_outline *o, const carom_placed *placed, carom_shape_kind kind) {
  carom_vec3 a = carom_shape_half_axes(placed->shape);
  double radius = carom_shape_radius(placed->shape), half = carom_shape_half_length(placed->shape);
  switch (kind) {
    case CAROM_SHAPE_SPHERE:
      add_circle(o, placed->pose.p, radius);
      break;
    case CAROM_SHAPE_CAPSULE:
      add_circle(o, cm_transform(placed->pose, cm_vec3(0, 0, half)), radius);
      add_circle(o, cm_transform(placed->pose, cm_vec3(0, 0, -half)), radius);
      break;
    case CAROM_SHAPE_CYLINDER:
      add_rim(o, placed, a.x, a.z), add_rim(o, placed, a.x, -a.z);
      break;
    case CAROM_SHAPE_CONE:
      add_rim(o, placed, a.x, -a.z / 2), add(o, placed, cm_vec3(0, 0, 3 * a.z / 2));
      break;
    default:
      add_ellipsoid(o, placed);
  }
}

// ---- the hull (Andrew 1979) -----------------------------------------------------------------------------------------

static int by_place(const void *a, const void *b) {
  const double *p = a, *q = b;
  if (p[0] != q[0]) return p[0] < q[0] ? -1 : 1;
  return p[1] < q[1] ? -1 : p[1] > q[1];
}

static double area(const double *a, const double *b, const double *c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static void take_hull(cli_outline *o) {
  static const double FLAT = 1e-9;  // of the sides: corners that differ by rounding are one
  double(*p)[2] = o->points, hull[CLI_OUTLINE_POINTS + 2][2];
  int n = o->count, k = 0;
  qsort(p, (size_t)n, sizeof *p, by_place);
  for (int pass = 0, floor = 2; pass < 2; pass++, floor = k + 1) {
    for (int j = pass ? n - 2 : 0; pass ? j >= 0 : j < n; j += pass ? -1 : 1) {
      while (k >= floor) {
        double side = hypot(p[j][0] - hull[k - 2][0], p[j][1] - hull[k - 2][1]);
        if (area(hull[k - 2], hull[k - 1], p[j]) > FLAT * side * side) break;
        k--;
      }
      hull[k][0] = p[j][0], hull[k++][1] = p[j][1];
    }
  }
  o->count = k > 1 ? k - 1 : k;
  for (int i = 0; i < o->count; i++) p[i][0] = hull[i][0], p[i][1] = hull[i][1];
}

void cli_outline_of(const carom_placed *placed, double far, cli_outline *outline) {
  carom_shape_kind kind = carom_shape_get_kind(placed->shape);
  outline->count = 0;
  if (kind == CAROM_SHAPE_POLYTOPE)
    add_corners(outline, placed);
  else if (kind == CAROM_SHAPE_HALFSPACE)
    add_halfspace(outline, placed, far);
  else
    add_round(outline, placed, kind);
  take_hull(outline);
}
