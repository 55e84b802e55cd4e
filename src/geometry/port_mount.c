// Kinematic mounts: grooves whose flanks a ball touches in one point each. Across the groove, with the ball of radius r
// at height s over the floor and flanks at angle a to the middle plane, a flank is the line
//
//     |y| = r/cos a + (x - s) tan a,
//
// at distance r from the ball's centre (s, 0). It reaches from the floor (x = 0) to the height of the centre.
#include <math.h>

#include "geometry/polygon.h"
#include "geometry/port.h"

carom_mount_def carom_mount_default(void) {
  return (carom_mount_def){.angle = 0.78539816339744830962, .seat = -1, .width = -1, .length = -1};
}

// Lengths that were left out.
static carom_mount_def filled(const carom_mount_def *given) {
  carom_mount_def def = *given;
  if (def.seat < 0) def.seat = 1.2 * def.nose;
  if (def.width < 0) def.width = def.nose;
  if (def.length < 0) def.length = 2 * def.nose;
  return def;
}

static double half_width(const carom_mount_def *def, double x) {
  return def->nose / cos(def->angle) + (x - def->seat) * tan(def->angle);
}

static double outer(const carom_mount_def *def) { return half_width(def, def->seat) + def->width; }

// ---- what is refused --------------------------------------------------------------------------

static void check_seat(carom_port_maker *maker, const carom_mount_def *def) {
  if (maker->status != CAROM_OK) return;
  if (def->seat < def->nose)
    carom_port_refuse(maker, "the seat of the mount is %g m over the floor; a nose of %g m would touch the floor",
                      def->seat, def->nose);
  if (half_width(def, 0) < -1e-12 * def->nose)
    carom_port_refuse(maker,
                      "the flanks of the mount would meet above the floor: the seat is %g m over it, expected "
                      "at most %g m",
                      def->seat, def->nose / sin(def->angle));
}

// Neighbouring grooves are 120 degrees apart, so each has 60 degrees on either side.
static void check_grooves(carom_port_maker *maker, const carom_mount_def *def) {
  static const double SQRT3 = 1.73205080756887729353;
  carom_port_check_positive(maker, "the spread of the mount", def->spread);
  carom_port_check_positive(maker, "the length of the grooves", def->length);
  carom_port_check_not_negative(maker, "the stop of the grooves", def->stop);
  if (maker->status != CAROM_OK) return;
  double least = outer(def) / SQRT3 + def->length / 2 + def->stop;
  if (def->spread < least)
    carom_port_refuse(maker,
                      "the grooves of the mount would meet at the axis: the spread is %g m, expected at least "
                      "%g m",
                      def->spread, least);
}

static void check(carom_port_maker *maker, const carom_mount_def *def) {
  carom_port_check_positive(maker, "the nose of the mount", def->nose);
  carom_port_check_angle(maker, "the angle of the mount", def->angle);
  carom_port_check_positive(maker, "the seat of the mount", def->seat);
  carom_port_check_positive(maker, "the width of the flanks", def->width);
  carom_port_check_not_negative(maker, "the height of the mount", def->height);
  check_seat(maker, def);
  if (!(def->height > 0)) check_grooves(maker, def);
}

// ---- pieces -----------------------------------------------------------------------------------

// Corners of a flank across the groove: (x, |y|).
static void flank_profile(const carom_mount_def *def, carom_profile_corner *profile) {
  profile[0] = (carom_profile_corner){0, fmax(0, half_width(def, 0))};
  profile[1] = (carom_profile_corner){0, outer(def)};
  profile[2] = (carom_profile_corner){def->seat, outer(def)};
  profile[3] = (carom_profile_corner){def->seat, half_width(def, def->seat)};
}

// A point of groove k: x, along the groove from the axis, and across it.
static carom_vec3 groove_point(int k, double x, double along, double across) {
  carom_vec3 c = carom_polygon_corner(k, 3);
  return cm_vec3(x, along * c.x - across * c.y, along * c.y + across * c.x);
}

static void add_flank(carom_port_maker *maker, const carom_mount_def *def, int k, int side) {
  carom_profile_corner profile[4];
  carom_vec3 points[8];
  flank_profile(def, profile);
  for (int i = 0; i < 8; i++) {
    double along = def->spread + (i & 1 ? def->length / 2 : -def->length / 2);
    points[i] = groove_point(k, profile[i / 2].x, along, side * profile[i / 2].radius);
  }
  carom_port_add_hull(maker, points, 8);
}

// At the inner (-1) or outer (1) end.
static void add_stop(carom_port_maker *maker, const carom_mount_def *def, int k, int end) {
  carom_vec3 points[8];
  double face = def->spread + end * def->length / 2, back = face + end * def->stop;
  for (int i = 0; i < 8; i++)
    points[i] = groove_point(k, i & 1 ? def->seat : 0, i & 2 ? back : face, i & 4 ? outer(def) : -outer(def));
  carom_port_add_hull(maker, points, 8);
}

static void add_groove(carom_port_maker *maker, const carom_mount_def *def, int k) {
  for (int side = 1; side >= -1; side -= 2) add_flank(maker, def, k, side);
  for (int end = -1; end <= 1 && def->stop > 0; end += 2) add_stop(maker, def, k, end);
}

static void add_planar(carom_port_maker *maker, const carom_mount_def *def) {
  carom_profile_corner profile[4];
  flank_profile(def, profile);
  for (int side = 1; side >= -1; side -= 2) carom_port_add_slab(maker, profile, 4, side, def->height);
}

carom_status carom_port_init_mount(const carom_mount_def *given, const carom_allocator *allocator, carom_port *port,
                                   carom_error *error) {
  carom_port_maker maker = carom_port_begin(allocator, port, error);
  carom_mount_def def = filled(given);
  check(&maker, &def);
  if (maker.status == CAROM_OK && def.height > 0) add_planar(&maker, &def);
  for (int k = 0; k < 3 && maker.status == CAROM_OK && !(def.height > 0); k++) add_groove(&maker, &def, k);
  return carom_port_end(&maker);
}

double carom_mount_distance(const carom_mount_def *mount, const carom_cone_def *cone) {
  return carom_cone_reach(cone) - cone->nose + filled(mount).seat;
}
