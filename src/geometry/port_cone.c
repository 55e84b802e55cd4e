// Cones with a stem and a round nose.
#include <math.h>

#include "geometry/polygon.h"
#include "geometry/port.h"

carom_cone_def carom_cone_default(void) { return (carom_cone_def){.balls = 3, .sides = 8}; }

static double base_of(const carom_cone_def *def) { return def->tip + def->length * tan(def->half_angle); }

double carom_cone_reach(const carom_cone_def *def) { return def->stem + def->length + 2 * def->nose; }

static void check_balls(carom_port_maker *maker, const carom_cone_def *def) {
  static const double SQRT3 = 1.73205080756887729353;
  carom_port_check_positive(maker, "the spread of the nose", def->spread);
  if (def->balls != 2 && def->balls != 3)
    carom_port_refuse(maker, "the nose of the cone has %d balls; expected 2 or 3", def->balls);
  if (maker->status == CAROM_OK && SQRT3 * def->spread < 2 * def->nose)
    carom_port_refuse(maker, "the balls of the nose would meet: their spread is %g m, expected at least %g m",
                      def->spread, 2 / SQRT3 * def->nose);
}

static void check(carom_port_maker *maker, const carom_cone_def *def) {
  carom_port_check_angle(maker, "the half angle of the cone", def->half_angle);
  carom_port_check_positive(maker, "the length of the cone", def->length);
  carom_port_check_not_negative(maker, "the tip of the cone", def->tip);
  carom_port_check_not_negative(maker, "the stem of the cone", def->stem);
  carom_port_check_not_negative(maker, "the nose of the cone", def->nose);
  carom_port_check_not_negative(maker, "the height of the cone", def->height);
  carom_port_check_sides(maker, "cone", def->sides);
  if (def->nose > 0 && !(def->height > 0)) check_balls(maker, def);
  if (maker->status == CAROM_OK) carom_port_check_positive(maker, "the radius of the cone at its begin", base_of(def));
}

static void add_ball(carom_port_maker *maker, const carom_cone_def *def, carom_vec3 place) {
  const carom_shape *shape = NULL;
  if (maker->status != CAROM_OK) return;
  carom_status status = carom_shape_create_sphere(def->nose, maker->allocator, &shape, maker->error);
  carom_port_add_shape(maker, status, shape, place);
}

// One ball on the axis, or those of three around it; of two, the one on +y is left out.
static void add_nose(carom_port_maker *maker, const carom_cone_def *def) {
  double x = def->stem + def->length + def->nose;
  if (def->height > 0) add_ball(maker, def, cm_vec3(x, 0, 0));
  for (int k = 3 - def->balls; k < 3 && !(def->height > 0); k++) {
    carom_vec3 c = carom_polygon_corner(k, 3);
    add_ball(maker, def, cm_vec3(x, def->spread * c.x, def->spread * c.y));
  }
}

carom_status carom_port_init_cone(const carom_cone_def *def, const carom_allocator *allocator, carom_port *port,
                                  carom_error *error) {
  carom_port_maker maker = carom_port_begin(allocator, port, error);
  check(&maker, def);
  double base = base_of(def), end = def->stem + def->length;
  const carom_profile_corner stem[] = {{0, base}, {def->stem, base}}, cone[] = {{def->stem, base}, {end, def->tip}};
  if (def->stem > 0) carom_port_add_turned(&maker, stem, 2, def->sides, def->height);
  carom_port_add_turned(&maker, cone, 2, def->sides, def->height);
  if (def->nose > 0) add_nose(&maker, def);
  return carom_port_end(&maker);
}
