// Ports in the making: convex pieces that are added one by one, and what is refused.
#ifndef CAROM_SRC_GEOMETRY_PORT_H
#define CAROM_SRC_GEOMETRY_PORT_H

#include "carom/port.h"

// Where the pieces of a port go. After the first failure nothing is added any more.
typedef struct carom_port_maker {
  const carom_allocator *allocator;
  carom_port *port;
  carom_error *error;
  carom_status status;
} carom_port_maker;

carom_port_maker carom_port_begin(const carom_allocator *allocator, carom_port *port, carom_error *error);
// Releases all after a failure; returns the status.
carom_status carom_port_end(carom_port_maker *maker);

// A point of the profile: along the axis, and the distance from it.
typedef struct carom_profile_corner {
  double x, radius;
} carom_profile_corner;

// The profile as a prism of this height along z, on the side +y or -y of the axis (`side` 1 or -1).
void carom_port_add_slab(carom_port_maker *maker, const carom_profile_corner *profile, int count, int side,
                         double height);
// The profile swept about the axis: the hull of this and its mirror image (planar), or of all corners (spatial).
void carom_port_add_turned(carom_port_maker *maker, const carom_profile_corner *profile, int count, int sides,
                           double height);
// The piece of the profile between two planes through the axis: that on side k of a spatial port.
void carom_port_add_sector(carom_port_maker *maker, const carom_profile_corner *profile, int count, int k, int sides);
void carom_port_add_hull(carom_port_maker *maker, const carom_vec3 *points, int count);
// Takes over a shape that was made, or the failure to make it; `place` is that of its origin.
void carom_port_add_shape(carom_port_maker *maker, carom_status status, const carom_shape *shape, carom_vec3 place);

// Refuse with a message that names the thing ("the wall of the cup").
void carom_port_check_positive(carom_port_maker *maker, const char *what, double length);
void carom_port_check_not_negative(carom_port_maker *maker, const char *what, double length);
void carom_port_check_angle(carom_port_maker *maker, const char *what, double angle);  // in (0, pi/2)
void carom_port_check_sides(carom_port_maker *maker, const char *what, int sides);
void carom_port_refuse(carom_port_maker *maker, const char *format, ...) CAROM_PRINTF(2, 3);

#endif
