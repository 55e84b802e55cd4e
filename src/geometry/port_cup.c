// Cups: walls around a floor.
#include <math.h>

#include "geometry/port.h"

carom_cup_def carom_cup_default(void) { return (carom_cup_def){.base = -1, .sides = 8}; }

static void check(carom_port_maker *maker, const carom_cup_def *def) {
  carom_port_check_positive(maker, "the depth of the cup", def->depth);
  carom_port_check_positive(maker, "the mouth of the cup", def->mouth);
  if (!(def->base < 0)) carom_port_check_not_negative(maker, "the base of the cup", def->base);
  carom_port_check_positive(maker, "the wall of the cup", def->wall);
  carom_port_check_not_negative(maker, "the floor of the cup", def->floor);
  carom_port_check_not_negative(maker, "the height of the cup", def->height);
  carom_port_check_sides(maker, "cup", def->sides);
}

static void add_walls(carom_port_maker *maker, const carom_cup_def *def, double base, double outer) {
  const carom_profile_corner wall[] = {{0, base}, {0, outer}, {def->depth, outer}, {def->depth, def->mouth}};
  bool planar = def->height > 0;
  for (int side = 1; side >= -1 && planar; side -= 2) carom_port_add_slab(maker, wall, 4, side, def->height);
  for (int k = 0; k < def->sides && !planar; k++) carom_port_add_sector(maker, wall, 4, k, def->sides);
}

carom_status carom_port_init_cup(const carom_cup_def *def, const carom_allocator *allocator, carom_port *port,
                                 carom_error *error) {
  carom_port_maker maker = carom_port_begin(allocator, port, error);
  check(&maker, def);
  double base = def->base < 0 ? def->mouth : def->base, outer = fmax(base, def->mouth) + def->wall;
  if (maker.status == CAROM_OK) add_walls(&maker, def, base, outer);
  const carom_profile_corner floor[] = {{-def->floor, outer}, {0, outer}};
  if (def->floor > 0 && maker.status == CAROM_OK) carom_port_add_turned(&maker, floor, 2, def->sides, def->height);
  return carom_port_end(&maker);
}
