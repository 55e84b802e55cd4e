// Cones with a stem and a round nose.
#include <math.h>

#include "geometry/polygon.h"
#include "geometry/port.h"

// The three balls of a spatial nose are the corners of a plate that is fattened; half its thickness over their radius.
static const double PLATE = 0.25;

carom_cone_def carom_cone_default(void) { return (carom_cone_def){.sides = 8}; }

static double base_of(const carom_cone_def *def) { return def->tip + def->length * tan(def->half_angle); }

// Of the last ball's centre from the end of the cone.
static double nose_offset(const carom_cone_def *def) { return (def->height > 0 ? 1 : 1 + 2 * PLATE) * def->nose; }

double carom_cone_reach(const carom_cone_def *def) {
  return def->stem + def->length + (def->nose > 0 ? nose_offset(def) + def->nose : 0);
}

static void check(carom_port_maker *maker, const carom_cone_def *def) {
  carom_port_check_angle(maker, "the half angle of the cone", def->half_angle);
  carom_port_check_positive(maker, "the length of the cone", def->length);
  carom_port_check_not_negative(maker, "the tip of the cone", def->tip);
  carom_port_check_not_negative(maker, "the stem of the cone", def->stem);
  carom_port_check_not_negative(maker, "the nose of the cone", def->nose);
  carom_port_check_not_negative(maker, "the height of the cone", def->height);
  carom_port_check_sides(maker, "cone", def->sides);
  if (def->nose > 0 && !(def->height > 0)) carom_port_check_positive(maker, "the spread of the nose", def->spread);
  if (maker->status == CAROM_OK) carom_port_check_positive(maker, "the radius of the cone at its begin", base_of(def));
}

static void add_ball(carom_port_maker *maker, const carom_cone_def *def, double x) {
  const carom_shape *shape = NULL;
  if (maker->status != CAROM_OK) return;
  carom_status status = carom_shape_create_sphere(def->nose, maker->allocator, &shape, maker->error);
  carom_port_add_shape(maker, status, shape, x + def->nose);
}

// The hull of three balls: a thin triangular plate, fattened.
static void add_three_balls(carom_port_maker *maker, const carom_cone_def *def, double x) {
  carom_vec3 corners[6];
  const carom_shape *plate = NULL, *shape = NULL;
  double half = PLATE * def->nose;
  if (maker->status != CAROM_OK) return;
  for (int i = 0; i < 6; i++) {
    carom_vec3 c = carom_polygon_corner(i / 2, 3);
    corners[i] = cm_vec3(i & 1 ? half : -half, def->spread * c.x, def->spread * c.y);
  }
  carom_status status = carom_shape_create_hull(corners, 6, maker->allocator, &plate, maker->error);
  if (status == CAROM_OK) status = carom_shape_create_rounded(plate, def->nose, maker->allocator, &shape, maker->error);
  carom_shape_release(plate);
  carom_port_add_shape(maker, status, shape, x + half + def->nose);
}

carom_status carom_port_init_cone(const carom_cone_def *def, const carom_allocator *allocator, carom_port *port,
                                  carom_error *error) {
  carom_port_maker maker = carom_port_begin(allocator, port, error);
  check(&maker, def);
  double base = base_of(def), end = def->stem + def->length;
  const carom_profile_corner stem[] = {{0, base}, {def->stem, base}}, cone[] = {{def->stem, base}, {end, def->tip}};
  if (def->stem > 0) carom_port_add_turned(&maker, stem, 2, def->sides, def->height);
  carom_port_add_turned(&maker, cone, 2, def->sides, def->height);
  if (def->nose > 0 && def->height > 0) add_ball(&maker, def, end);
  if (def->nose > 0 && !(def->height > 0)) add_three_balls(&maker, def, end);
  return carom_port_end(&maker);
}
